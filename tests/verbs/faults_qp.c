/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Faults of queue pairs, of peers and of memory (docs/faults.md), as a program sees them on both
 * sides. Each test runs in a separate process. Faults strike after connection setup, so that the
 * QPs are in RTS.
 */
#include "child.h"
#include "cm.h"
#include "faults_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WRITES 8u
/*
 * Bytes, more than may be outstanding: a Write is incomplete if a fault strikes during its
 * transfer.
 */
#define LEN ((unsigned int)SIDE_BUF)

static void post(struct side *s, const struct side *to)
{
	struct ibv_sge sge = sge_of(s->mr, s->buf, LEN);

	for (uint64_t id = 0; id < WRITES; id++)
		CHECK_EQ(post_rdma(s, IBV_WR_RDMA_WRITE, id, &sge, 1, address(to->buf),
				   to->mr->rkey, IBV_SEND_SIGNALED),
			 0);
}

/*
 * Checks the completions of all Writes: success, then the one with the error (if any), then flushed
 * ones.
 */
static void expect_writes(struct side *s, enum ibv_wc_status blamed, bool must_end)
{
	bool over = false;
	struct ibv_wc wc;

	for (uint64_t id = 0; id < WRITES; id++) {
		wait_wc(s->send_cq, &wc);
		CHECK_EQ(wc.wr_id, id);
		if (over || (wc.status != IBV_WC_SUCCESS && blamed == IBV_WC_WR_FLUSH_ERR))
			CHECK_EQ(wc.status, IBV_WC_WR_FLUSH_ERR);
		else if (wc.status != IBV_WC_SUCCESS)
			CHECK_EQ(wc.status, blamed);
		over |= wc.status != IBV_WC_SUCCESS;
	}
	CHECK(over || !must_end);
	expect_qp_state(s->qp, IBV_QPS_ERR);
}

static void expect_end(struct side *s, enum ibv_wc_status blamed)
{
	expect_writes(s, blamed, true);
}

/*
 * Adds a rule at run time, with the port of b in it. b also sends DATA, which a rule without a port
 * would match at a.
 */
static void add_rule(const struct pair *p, const char *text)
{
	char rule[128];

	snprintf(rule, sizeof(rule), text, ntohs(rdma_get_src_port(p->listener)));
	ask_faults(rule, NULL);
}

/* text: a rule with a place for the port of b. */
static void open_for(struct pair *p, const char *text)
{
	CHECK_EQ(setenv("SCTPIW_FAULT_SEED", "1", 1), 0);
	pair_open(p, NULL);
	add_rule(p, text);
	for (uint64_t id = 0; id < 3; id++) {
		struct ibv_sge sge = sge_of(p->a.mr, p->a.buf, 64);

		CHECK_EQ(post_recv(&p->a, id, &sge, 1), 0);
	}
	post(&p->a, &p->b);
}

static void expect_flushed(struct side *s)
{
	struct ibv_wc wc;

	for (uint64_t id = 0; id < 3; id++) {
		expect_wc(s->recv_cq, IBV_WC_WR_FLUSH_ERR, &wc);
		CHECK_EQ(wc.wr_id, id);
	}
}

/* The sender's QP fails: all is flushed, and the events of both sides report the end of the QPs. */
static void test_fail(void)
{
	struct pair p;

	open_for(&p, "packets out peer-port %u chunk data, after 100 kB: fail qp, once");
	expect_end(&p.a, IBV_WC_WR_FLUSH_ERR);
	expect_flushed(&p.a);
	EXPECT_ASYNC(p.a.id->verbs, { IBV_EVENT_QP_FATAL, p.a.qp }, { IBV_EVENT_QP_FATAL, p.b.qp });
	expect_qp_state(p.b.qp, IBV_QPS_ERR);
	pair_close(&p);
}

/* The same at a completion, which the program gets unchanged. */
static void test_fail_at_completion(void)
{
	struct pair p;

	open_for(&p, "after 3 writes: fail qp, once");
	expect_writes(&p.a, IBV_WC_WR_FLUSH_ERR, false); /* they may have completed already */
	expect_flushed(&p.a);
	EXPECT_ASYNC(p.a.id->verbs, { IBV_EVENT_QP_FATAL, p.a.qp }, { IBV_EVENT_QP_FATAL, p.b.qp });
	expect_qp_state(p.b.qp, IBV_QPS_ERR);
	pair_close(&p);
}

static void test_lost_at_completion(void)
{
	struct pair p;

	open_for(&p, "after 3 writes: lose session, once");
	expect_writes(&p.a, IBV_WC_RETRY_EXC_ERR, false); /* they may have completed already */
	expect_flushed(&p.a);
	expect_cm_event(p.a.cm_channel, RDMA_CM_EVENT_DISCONNECTED);
	pair_close(&p);
}

/* A packet raises an event on the queue pair of its association, and on no other. */
static void test_raised_at_packet(void)
{
	struct pair p, other;

	pair_open(&other, NULL);
	open_for(&p, "packets out peer-port %u chunk data, after 100 kB: raise qp_fatal, once");
	expect_end(&p.a, IBV_WC_WR_FLUSH_ERR);
	expect_flushed(&p.a);
	EXPECT_ASYNC(p.a.id->verbs, { IBV_EVENT_QP_FATAL, p.a.qp });
	expect_qp_state(other.a.qp, IBV_QPS_RTS);
	expect_qp_state(other.b.qp, IBV_QPS_RTS);
	pair_close(&p);
	pair_close(&other);
}

/* The receiver terminates: the sender's oldest Write has the status of this error. */
static void terminate(const char *text, enum ibv_wc_status status, enum ibv_event_type type)
{
	struct pair p;

	open_for(&p, text);
	expect_end(&p.a, status);
	expect_flushed(&p.a);
	EXPECT_ASYNC(p.a.id->verbs, { type, p.b.qp });
	expect_qp_state(p.b.qp, IBV_QPS_ERR);
	pair_close(&p);
}

static void test_access(void)
{
	terminate(
		"packets in port %u chunk data, after 100 kB: terminate layer 0 type 1 code 2, once",
		IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
}

static void test_operation(void)
{
	terminate(
		"packets in port %u chunk data, after 100 kB: terminate layer 0 type 0 code 0, once",
		IBV_WC_REM_OP_ERR, IBV_EVENT_QP_FATAL);
}

static void test_rnr(void)
{
	terminate("packets in port %u chunk data, after 100 kB: rnr, once",
		  IBV_WC_RNR_RETRY_EXC_ERR, IBV_EVENT_QP_REQ_ERR);
}

/*
 * The sender's session is lost silently. The sender gets the error at once, the peer only after an
 * answer.
 */
static void test_lost_session(void)
{
	struct pair p;

	open_for(&p, "packets out peer-port %u chunk data, after 100 kB: lose session, once");
	expect_end(&p.a, IBV_WC_RETRY_EXC_ERR);
	expect_flushed(&p.a);
	expect_cm_event(p.a.cm_channel, RDMA_CM_EVENT_DISCONNECTED);
	pair_close(&p);
}

/* The sender gets the end of the peer's process, and the peer gets an ABORT. */
static void test_killed_peer(void)
{
	struct pair p;

	open_for(&p, "packets out peer-port %u chunk data, after 100 kB: kill peer, once");
	expect_end(&p.a, IBV_WC_RETRY_EXC_ERR);
	expect_flushed(&p.a);
	expect_cm_event(p.a.cm_channel, RDMA_CM_EVENT_DISCONNECTED);
	expect_cm_event(p.b.cm_channel, RDMA_CM_EVENT_DISCONNECTED);
	expect_qp_state(p.b.qp, IBV_QPS_ERR);
	pair_close(&p);
}

/* All completes, though nothing moves for a while. */
static void late(const char *text)
{
	double begin = now_seconds();
	struct ibv_wc wc;
	struct pair p;

	open_for(&p, text);
	for (uint64_t id = 0; id < WRITES; id++)
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK(now_seconds() - begin >= 0.3);
	expect_qp_state(p.a.qp, IBV_QPS_RTS);
	pair_close(&p);
}

static void test_frozen(void)
{
	late("packets out peer-port %u chunk data, after 100 kB: freeze qp for 300 ms, once");
}

static void test_frozen_peer(void)
{
	late("packets out peer-port %u chunk data, after 100 kB: freeze peer for 300 ms, once");
}

/*
 * A thread that polls memory sees the last byte of a message before the first word. At the Write's
 * completion, all is in memory.
 */
static void placed(const char *text, size_t early, size_t late_at)
{
	volatile uint8_t *first, *last;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	rules(text);
	pair_open(&p, NULL);
	memset(p.a.buf, 1, LEN);
	memset(p.b.buf, 0, LEN);
	first = p.b.buf + late_at;
	last = p.b.buf + early;
	sge = sge_of(p.a.mr, p.a.buf, 256);
	CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_WRITE, 1, &sge, 1, address(p.b.buf), p.b.mr->rkey,
			   IBV_SEND_SIGNALED),
		 0);
	/* No thread polls a CQ: the progress thread places the data, and waits in between. */
	while (!*last)
		;
	CHECK_EQ(*first, 0);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	for (unsigned int i = 0; i < 256; i++)
		CHECK_EQ(p.b.buf[i], 1);
	pair_close(&p);
}

static void test_last_byte_first(void)
{
	placed("placements: last byte first for 500 ms", 255, 0);
}

static void test_torn(void)
{
	placed("placements: tear for 500 ms", 3, 4);
}

/* The order is invisible here, but all data is right. */
static void test_reverse(void)
{
	struct ibv_wc wc;
	struct pair p;

	rules("placements: reverse");
	pair_open(&p, NULL);
	for (unsigned int i = 0; i < LEN; i++)
		p.a.buf[i] = (uint8_t)(i * 7 + i / 256);
	post(&p.a, &p.b);
	for (uint64_t id = 0; id < WRITES; id++)
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK(!memcmp(p.a.buf, p.b.buf, LEN));
	pair_close(&p);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "fail", test_fail },
		{ "raised_at_packet", test_raised_at_packet },
		{ "access", test_access },
		{ "operation", test_operation },
		{ "rnr", test_rnr },
		{ "lost_session", test_lost_session },
		{ "fail_at_completion", test_fail_at_completion },
		{ "lost_at_completion", test_lost_at_completion },
		{ "killed_peer", test_killed_peer },
		{ "frozen", test_frozen },
		{ "frozen_peer", test_frozen_peer },
		{ "last_byte_first", test_last_byte_first },
		{ "torn", test_torn },
		{ "reverse", test_reverse },
	};

	return run_tests_apart(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
