/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/* DATA and SACKs of an association, against a scripted peer (RFC 9260 3.3, 6, 7). */
#include "conformance/rows.h"
#include "fixture/sctp_peer.h"

/* The peer's window is respected, and probed while closed (6.1 A). */
static void test_zero_window(void **state)
{
	unsigned int i;
	uint32_t last;

	ROWS("9260-6.1-01 9260-6.1-02 9260-6.1-03");
	establish();
	f.messages = 1000;
	f.message_len = 1000;
	sctp_assoc_doorbell(f.a);
	collect();
	last = take_data();
	begin();
	add_sack(last, 0, NULL, 0);
	sendp();
	nothing();
	for (i = 0; i < 4; i++) {
		wait_ns((SEC << i) - MSEC);
		nothing();
		wait_ns(MSEC);
		assert_int_equal(take_data(), ++last); /* one packet with one chunk */
		begin();
		add_sack(last, 0, NULL, 0);
		sendp();
		nothing();
	}
	begin();
	add_sack(last, 50, NULL, 0); /* silly window */
	sendp();
	nothing();
	begin();
	add_sack(last, 100000, NULL, 0);
	sendp();
	assert_true(take_data() > last);
	assert_false(f.events);
}

/*
 * Chunks count as lost after three miss indications, or by time; not above the last gap block.
 * Karn's rule, and reneging.
 */
static void test_loss(void **state)
{
	struct wire_sctp_gap gap = { 2, 2 };
	uint32_t last, cwnd;
	struct packet *p;
	unsigned int i;

	ROWS("9260-7.2.3-01 9260-7.2.4-01 9260-6.2.1-02");
	establish();
	f.message_len = 1444;
	f.messages = 1000;
	sctp_assoc_doorbell(f.a);
	collect();
	last = take_data();
	f.now += 10 * MSEC;
	begin();
	add_sack(last, 1000000, NULL, 0);
	sendp();
	cwnd = f.a->path->cc.cwnd;
	f.their_tsn = last + 1;
	last = take_data();
	assert_true(last >= f.their_tsn + 6);
	/* The first chunk is missing. Each SACK reports one more chunk after it. */
	f.now += 10 * MSEC;
	for (i = 0; i < 3; i++) {
		assert_int_equal(f.a->inflight.lost, 0);
		gap.end = (uint16_t)(2 + i);
		drop_all();
		begin();
		add_sack(f.their_tsn - 1, 1000000, &gap, 1);
		sendp();
	}
	p = take();
	assert_int_equal(get_be32(p->data + 16), f.their_tsn);
	/* The minimum is 4 * PMDCS. */
	assert_int_equal(f.a->path->cc.ssthresh, cwnd / 2 > 4 * 1460 ? cwnd / 2 : 4 * 1460);
	take_data();
	assert_false(f.a->path->recovery.now.measuring &&
		     f.a->path->recovery.now.measured_tsn == f.their_tsn);
	/* Chunks above the gap block do not count as lost. */
	wait_ns(5 * MSEC);
	for (i = 5; f.their_tsn + i <= last; i++)
		assert_false(sctp_outq_at(&f.a->out, f.their_tsn + i)->flags & SCTP_OUT_LOST);
	/*
	 * A chunk that was in a gap block, and is missing in a later SACK, is finally
	 * retransmitted.
	 */
	assert_true(sctp_outq_at(&f.a->out, f.their_tsn + 1)->flags & SCTP_OUT_ACKED);
	gap.start = 3;
	gap.end = 4;
	begin();
	add_sack(f.their_tsn - 1, 1000000, &gap, 1);
	sendp();
	assert_false(sctp_outq_at(&f.a->out, f.their_tsn + 1)->flags & SCTP_OUT_ACKED);
	/* An old SACK changes nothing. */
	begin();
	add_sack(f.their_tsn - 2, 0, NULL, 0);
	sendp();
	assert_int_equal(f.a->window.peer_rwnd, 1000000);
}

/* A late old SACK, without the gap block, does not reset the time of a missing chunk. */
static void test_late_sack(void **state)
{
	const struct wire_sctp_gap gap = { 2, 3 };
	struct packet *p;

	ROWS("9260-6.2.1-02");
	establish();
	f.message_len = 1444;
	f.messages = 4;
	sctp_assoc_doorbell(f.a);
	collect();
	take_data();
	f.now += 2 * MSEC;
	begin();
	add_sack(f.their_tsn - 1, 1000000, &gap, 1);
	sendp();
	begin();
	add_sack(f.their_tsn - 1, 1000000, NULL, 0);
	sendp();
	nothing();
	wait_ns(5 * MSEC);
	p = take();
	assert_int_equal(get_be32(chunk_of(p, 0, WIRE_SCTP_DATA).raw + 4), f.their_tsn);
}

/*
 * If all is lost, probes leave first. One packet leaves when T3 expires after 1 s, and again after
 * 2 s.
 */
static void test_timeout(void **state)
{
	struct packet *p;
	uint32_t last;

	ROWS("9260-6.3.3-01 9260-6.3.1-03");
	establish();
	f.message_len = 1444;
	f.messages = 100;
	sctp_assoc_doorbell(f.a);
	collect();
	last = take_data();
	wait_ns(40 * MSEC);
	p = take(); /* the tail, with a request for a SACK */
	assert_int_equal(get_be32(p->data + 16), last);
	assert_true(p->data[13] & WIRE_SCTP_DATA_I);
	wait_ns(900 * MSEC);
	assert_int_equal(take_data(), last); /* and again */
	wait_ns(100 * MSEC);
	p = take();
	assert_int_equal(get_be32(p->data + 16), f.their_tsn);
	nothing();
	assert_int_equal(f.a->path->cc.cwnd, 1460);
	wait_ns(1900 * MSEC);
	nothing();
	wait_ns(100 * MSEC);
	p = take();
	assert_int_equal(get_be32(p->data + 16), f.their_tsn);
	nothing();
	/* A gap-acknowledged chunk that becomes the first outstanding one was reneged. */
	begin();
	add_sack(f.their_tsn, 1000000, NULL, 0);
	sendp();
	assert_true(f.a->path->cc.cwnd > 1460);
	last = take_data();
	assert_true(last >= f.their_tsn + 2);
}

/*
 * A probe that the peer reports as a duplicate was too early. Later probes wait longer, up to a
 * limit; this time shrinks again.
 */
static void test_probe_margin(void **state)
{
	uint64_t margin = SCTP_SACK_DELAY;
	uint32_t tsn;
	unsigned int i;

	establish();
	for (i = 0; i < 6; i++) {
		f.messages = 1;
		sctp_assoc_doorbell(f.a);
		collect();
		tsn = take_data();
		assert_int_equal(f.a->learnt.sack_delay, margin);
		wait_ns(600 * MSEC);
		assert_int_equal(take_data(), tsn);
		begin();
		f.len += wire_sctp_sack_put(f.buf + f.len, tsn, 1000000, NULL, 0, &tsn, 1);
		sendp();
		if (margin < SCTP_SACK_DELAY_MAX)
			margin *= 2;
	}
	assert_int_equal(margin, SCTP_SACK_DELAY_MAX);
	assert_int_equal(f.a->learnt.sack_delay, margin);
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	collect();
	begin();
	add_sack(take_data(), 1000000, NULL, 0);
	sendp();
	assert_int_equal(f.a->learnt.sack_delay, margin - (margin - SCTP_SACK_DELAY) / 8);
}

static void test_bad_sacks(void **state)
{
	struct wire_sctp_gap gap = { 2, 500 };
	unsigned int i;

	ROWS("9260-12.4-02");
	for (i = 0; i < 2; i++) {
		establish();
		f.messages = 10;
		sctp_assoc_doorbell(f.a);
		collect();
		take_data();
		begin();
		if (i)
			add_sack(f.their_tsn + 10, 100000, NULL, 0);
		else
			add_sack(f.their_tsn - 1, 100000, &gap, 1);
		sendp();
		chunk_of(take(), 0, WIRE_SCTP_ABORT);
		assert_int_equal(f.error, -EPROTO);
		assert_null(f.a);
		sctp_free(f.s);
		setup(NULL);
	}
	/* Inconsistent counts: the SACK is ignored. */
	establish();
	f.messages = 10;
	sctp_assoc_doorbell(f.a);
	collect();
	begin();
	add_sack(f.their_tsn + 1, 100000, &gap, 0);
	put_be16(f.buf + 12 + 12, 3);
	sendp();
	assert_int_equal(f.a->out.cum, f.their_tsn - 1);
}

/*
 * If the path MTU shrinks, earlier chunks are retransmitted in single packets, which IP may
 * fragment (6.9).
 */
static void test_mtu(void **state)
{
	ROWS("5041-3-02 9260-6.9-04");
	struct packet *p;
	bool seen = false;

	establish();
	f.message_len = 1444;
	f.messages = 3;
	sctp_assoc_doorbell(f.a);
	collect();
	take_data();
	sctp_assoc_set_mtu(f.a, 1000);
	assert_int_equal(sctp_assoc_max_msg(f.a), 972 - 28);
	wait_ns(2 * SEC);
	while ((p = take())) {
		assert_int_equal(chunks(p), 1);
		assert_int_equal(p->df, p->len <= 972);
		seen = seen || !p->df;
	}
	assert_true(seen);
}

/* TSNs keep a maximum distance to the cumulative one: Linux has a map of 4096. */
static void test_distance(void **state)
{
	struct wire_sctp_gap gap = { 2, 2 };
	uint32_t last;
	unsigned int i;

	ROWS("9260-6.1-09");
	establish();
	f.message_len = 1;
	f.messages = 20000;
	sctp_assoc_doorbell(f.a);
	collect();
	last = take_data();
	for (i = 0; i < 1000; i++) {
		gap.end = (uint16_t)(last - (f.their_tsn - 1));
		begin();
		add_sack(f.their_tsn - 1, 10000000, &gap, 1);
		sendp();
		take_data();
		if (f.a->out.next - 1 == last)
			break;
		last = f.a->out.next - 1;
	}
	assert_int_equal(last, f.their_tsn - 1 + 4095);
}

/*
 * The I bit is set when the window is full, or when the queue empties with other packets
 * outstanding; but not in a ping-pong.
 */
static void test_i_bit(void **state)
{
	struct packet *p, *before = NULL;

	ROWS("9260-6.1-10");
	establish();
	f.message_len = 60;
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	collect();
	p = take();
	assert_int_equal(p->data[13], 7);
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	collect();
	p = take();
	assert_int_equal(p->data[13], 15);
	begin();
	add_sack(f.their_tsn + 1, 1000000, NULL, 0);
	sendp();
	f.message_len = 1444;
	f.messages = 100;
	sctp_assoc_doorbell(f.a);
	collect();
	while ((p = take())) {
		if (before)
			assert_int_equal(before->data[13], 7);
		before = p;
	}
	assert_int_equal(before->data[13], 15);
}

/* A chunk in a gap block that later is the first missing one was reneged. */
static void test_renege_head(void **state)
{
	struct wire_sctp_gap gap = { 1, 1 };

	ROWS("9260-6.2.1-03");
	establish();
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	collect();
	assert_int_equal(take_data(), f.their_tsn);
	begin();
	add_sack(f.their_tsn - 1, 100000, &gap, 1);
	sendp();
	assert_int_equal(f.a->path->flight, 0);
	wait_ns(1100 * MSEC);
	assert_int_equal(take_data(), f.their_tsn);
}

/* Of a window of little more than a packet, the rest is too small to use. */
static void test_silly_window(void **state)
{
	struct packet *p;

	ROWS("9260-6.1-03");
	establish();
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	collect();
	drop_all();
	begin();
	add_sack(f.their_tsn, 4000, NULL, 0);
	sendp();
	f.messages = 100;
	sctp_assoc_doorbell(f.a);
	collect();
	p = take();
	assert_true(p->len > 1300);
	nothing();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PEER_TEST(test_zero_window),  PEER_TEST(test_loss),
		PEER_TEST(test_late_sack),    PEER_TEST(test_probe_margin),
		PEER_TEST(test_timeout),      PEER_TEST(test_bad_sacks),
		PEER_TEST(test_mtu),	      PEER_TEST(test_distance),
		PEER_TEST(test_i_bit),	      PEER_TEST(test_renege_head),
		PEER_TEST(test_silly_window),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
