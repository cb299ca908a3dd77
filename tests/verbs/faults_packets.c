/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Faults of packets (docs/faults.md) below a program: its data is right in the end. The device's
 * counters, or the duration, show the fault. Each test runs in a separate process, which has both
 * ends.
 */
#include "child.h"
#include "cm.h"
#include "faults_steps.h"
#include "ud_steps.h"

#include <string.h>

#define WRITES 8u
/* Bytes, more than any packet has. */
#define WRITE_LEN ((unsigned int)SIDE_BUF)

static void post(struct pair *p, unsigned int n)
{
	struct ibv_sge sge = sge_of(p->a.mr, p->a.buf, WRITE_LEN);

	for (uint64_t id = 0; id < n; id++)
		CHECK_EQ(post_rdma(&p->a, IBV_WR_RDMA_WRITE, id, &sge, 1, address(p->b.buf),
				   p->b.mr->rkey, IBV_SEND_SIGNALED),
			 0);
}

/* Makes Writes under the rules. All of the data is right. Returns the duration in seconds. */
static double writes_under(const char *text)
{
	double begin;
	struct ibv_wc wc;
	struct pair p;

	rules(text);
	pair_open(&p, NULL);
	fill(p.a.buf, WRITE_LEN, 7);
	begin = now_seconds();
	post(&p, WRITES);
	for (uint64_t id = 0; id < WRITES; id++) {
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, id);
	}
	CHECK(filled(p.b.buf, WRITE_LEN, 7));
	begin = now_seconds() - begin;
	CHECK(fired(1) > 0);
	pair_close(&p);
	return begin;
}

static void test_drop(void)
{
	writes_under("packets out chunk data: drop, every 10");
	CHECK(counter("sctp_retransmissions") + counter("sctp_probes") > 0);
}

/* Each packet is delayed on departure and on arrival: a Write's DATA, and their SACK. */
static void test_delay(void)
{
	CHECK(writes_under("packets: delay 20 ms jitter 1 ms") >= 0.08);
}

static void test_reorder(void)
{
	writes_under("packets out chunk data: reorder behind 4, every 10");
}

static void test_duplicate(void)
{
	writes_under("packets out chunk data: duplicate times 2, every 10, at most 4 times");
	CHECK_EQ(fired(1), 4);
	CHECK(counter("sctp_duplicates") >= 8);
}

/* The receiver detects each damaged packet, and drops it. */
static void test_corrupt(void)
{
	writes_under("packets out chunk data: corrupt bytes 3, every 10, at most 4 times");
	CHECK_EQ(fired(1), 4);
	CHECK_EQ(counter("sctp_bad_packets"), 4);
}

/* Only the program detects the damage, unless a header is invalid. */
static void test_corrupt_before_checksum(void)
{
	struct ibv_wc wc;
	struct pair p;

	rules("packets out chunk data, after 100 kB: corrupt before checksum bytes 8, at most 3 times");
	pair_open(&p, NULL);
	fill(p.a.buf, WRITE_LEN, 7);
	post(&p, 1);
	wait_wc(p.a.send_cq, &wc);
	CHECK(wc.status != IBV_WC_SUCCESS || !filled(p.b.buf, WRITE_LEN, 7));
	CHECK_EQ(counter("sctp_bad_packets"), 0);
	pair_close(&p);
}

/* 8 MiB take 0.67 s at that rate. */
static void test_limit_rate(void)
{
	CHECK(writes_under("packets out chunk data: limit rate to 100 Mbit/s queue 256 KiB") >=
	      0.5);
}

static void test_limit_size(void)
{
	writes_under("packets out: limit size to 1300 B");
}

/*
 * Sends four datagrams, each in a packet, of 4, 8, 12 and 16 bytes. expected: the lengths of those
 * that arrive, in words.
 */
static void datagrams_under(const char *text, const char *expected)
{
	struct side a, b;
	struct ibv_ah *ah;
	struct ibv_wc wc;

	rules(text);
	oob_open();
	ud_pair(&a, &b);
	ah = ah_to(&a, &b);
	for (uint64_t id = 0; id < 6; id++)
		ud_recv(&b, id, GRH + 64);
	for (uint32_t words = 1; words <= 4; words++) {
		CHECK_EQ(ud_send(&a, ah, b.qp->qp_num, QKEY, 4 * words, IBV_WR_SEND, 0), 0);
		expect_wc(a.send_cq, IBV_WC_SUCCESS, &wc);
	}
	for (const char *at = expected; *at; at++) {
		expect_wc(b.recv_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.byte_len - GRH, 4 * (*at - '0'));
	}
	expect_no_wc(b.recv_cq, 100);
	CHECK_EQ(fired(1), 1);
	CHECK_EQ(ibv_destroy_ah(ah), 0);
	close_pair(&a, &b);
}

static void test_datagram_drop(void)
{
	datagrams_under("2nd packet out chunk datagram: drop", "134");
}

static void test_datagram_delay(void)
{
	datagrams_under("2nd packet in chunk datagram: delay 300 ms", "1342");
}

static void test_datagram_reorder(void)
{
	datagrams_under("1st packet out chunk datagram: reorder behind 2", "2314");
}

static void test_datagram_duplicate(void)
{
	datagrams_under("3rd packet in chunk datagram: duplicate", "12334");
}

static void test_datagram_corrupt(void)
{
	datagrams_under("4th packet out chunk datagram: corrupt", "123");
	CHECK_EQ(counter("ud_malformed"), 1);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "drop", test_drop },
		{ "delay", test_delay },
		{ "reorder", test_reorder },
		{ "duplicate", test_duplicate },
		{ "corrupt", test_corrupt },
		{ "corrupt_before_checksum", test_corrupt_before_checksum },
		{ "limit_rate", test_limit_rate },
		{ "limit_size", test_limit_size },
		{ "datagram_drop", test_datagram_drop },
		{ "datagram_delay", test_datagram_delay },
		{ "datagram_reorder", test_datagram_reorder },
		{ "datagram_duplicate", test_datagram_duplicate },
		{ "datagram_corrupt", test_datagram_corrupt },
	};

	return run_tests_apart(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
