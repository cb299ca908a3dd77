/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/* DATA and SACKs of an association, against a scripted peer (RFC 9260 3.3, 6, 7). */
#include "conformance/rows.h"
#include "fixture/sctp_peer.h"

/* Delivers the first TSNs, and takes their SACK. Returns the next TSN. */
static uint32_t begin_with_sack(void)
{
	uint32_t t = f.tsn;

	establish();
	begin();
	add_data(t++);
	add_data_flags(t++, 0xff, 3, 1);
	sendp();
	assert_int_equal(sack_in(take(), 0).cum, t - 1);
	nothing();
	return t;
}

/* TSN wrap and gaps (1.6, 3.3.4). */
static void test_sack_gaps(void **state)
{
	struct wire_sctp_sack s;
	uint32_t t = f.tsn;

	ROWS("9260-1.6-01 9260-3.3.4-01 9260-3.3.4-02");
	establish();
	begin(); /* only the second TSN so far */
	add_data(t + 1);
	sendp();
	s = sack_in(take(), 0);
	assert_int_equal(s.cum, t - 1);
	assert_int_equal(s.gaps, 1);
	assert_int_equal(wire_sctp_sack_gap(&s, 0).start, 2);
	begin();
	add_data(t);
	add_data(t + 2);
	add_data(t + 4);
	add_data(t + 5);
	add_data(t + 7);
	sendp();
	assert_int_equal(f.rx.count, 5);
	s = sack_in(take(), 0);
	assert_int_equal(s.cum, t + 2);
	assert_int_equal(s.gaps, 2);
	assert_int_equal(wire_sctp_sack_gap(&s, 0).start, 2);
	assert_int_equal(wire_sctp_sack_gap(&s, 0).end, 3);
	assert_int_equal(wire_sctp_sack_gap(&s, 1).start, 5);
	assert_int_equal(wire_sctp_sack_gap(&s, 1).end, 5);
	begin();
	add_data(t + 3);
	add_data(t + 6);
	sendp();
	assert_int_equal(f.rx.count, 2);
	assert_int_equal(f.rx.data[0].sid, 1);
	wait_ns(10 * MSEC);
	s = sack_in(take(), 0);
	assert_int_equal(s.cum, t + 7);
	assert_int_equal(s.gaps, 0);
}

/* Two copies of an old chunk are reported as duplicates, and not delivered again (6.2). */
static void test_sack_duplicates(void **state)
{
	struct wire_sctp_sack s;
	uint32_t t;

	ROWS("9260-6.2-08");
	t = begin_with_sack();
	begin();
	add_data(t - 1);
	add_data(t - 1);
	sendp();
	assert_int_equal(f.rx.count, 0);
	s = sack_in(take(), 0);
	assert_int_equal(s.cum, t - 1);
	assert_int_equal(s.dups, 2);
	assert_int_equal(wire_sctp_sack_dup(&s, 1), t - 1);
	/* The duplicates are reported once. */
	begin();
	add_data_flags(t, 0xff, 3, 1);
	sendp();
	assert_int_equal(sack_in(take(), 0).dups, 0);
}

/* A SACK for one packet is delayed; for two, or one with the I bit, it is immediate (6.2). */
static void test_sack_delay(void **state)
{
	uint32_t t;

	ROWS("9260-6.2-03 9260-6.2-07");
	t = begin_with_sack();
	begin();
	add_data(t);
	sendp();
	nothing();
	wait_ns(9 * MSEC);
	nothing();
	wait_ns(1 * MSEC);
	assert_int_equal(sack_in(take(), 0).cum, t);
	begin();
	add_data(t + 1);
	sendp();
	nothing();
	begin();
	add_data(t + 2);
	sendp();
	assert_int_equal(sack_in(take(), 0).cum, t + 2);
	wait_ns(SEC);
	nothing();
	begin();
	add_data_flags(t + 3, 0xff, 3, 1);
	sendp();
	assert_int_equal(sack_in(take(), 0).cum, t + 3);
}

/* A SACK that is not due yet is bundled with local DATA (6.1). */
static void test_sack_with_data(void **state)
{
	uint32_t t;

	ROWS("9260-6.1-07");
	t = begin_with_sack();
	begin();
	add_data(t);
	sendp();
	nothing();
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	collect();
	assert_int_equal(sack_in(take(), 0).cum, t);
}

/* A TSN far beyond the window is dropped, and answered by an immediate SACK. */
static void test_sack_far_tsn(void **state)
{
	struct wire_sctp_sack s;
	uint32_t t = begin_with_sack();

	begin();
	add_data(t - 1 + SCTP_RXMAP_RANGE);
	sendp();
	assert_int_equal(f.rx.count, 0);
	s = sack_in(take(), 0);
	assert_int_equal(s.cum, t - 1);
	assert_int_equal(s.gaps, 0);
}

static void test_many_gaps(void **state)
{
	struct wire_sctp_sack s;
	uint32_t i, last = 0;
	struct packet *p;

	ROWS("9260-6.2-06");
	establish();
	for (i = 0; i < 2000; i++) {
		begin();
		add_data(f.tsn + 1 + 2 * i);
		sendp();
		p = take();
		s = sack_in(p, 0);
		assert_true(p->len <= 1472);
		if (i % 100 == 99)
			for (last = 0; last < s.gaps; last++)
				assert_int_equal(wire_sctp_sack_gap(&s, last).start, 2 + 2 * last);
	}
	assert_true(last > 300);
}

/*
 * Fragments (6.9) of several messages come in any order, even of ordered messages. Memory is
 * limited.
 */
static void test_fragments(void **state)
{
	const uint8_t u = WIRE_SCTP_DATA_U, b = WIRE_SCTP_DATA_B, e = WIRE_SCTP_DATA_E;
	uint32_t t = f.tsn, rwnd, i;

	ROWS("9260-6.9-01 9260-6-03 9260-6.2-09");
	establish();
	rwnd = sctp_assoc_rwnd(f.a);
	begin();
	add_data_flags(t + 5, u | e, 50, 6);
	add_data_flags(t + 4, u, 40, 5);
	add_data_flags(t + 1, u, 20, 2);
	add_data_flags(t + 2, u | e, 30, 3);
	sendp();
	assert_int_equal(f.rx.count, 0);
	assert_int_equal(sctp_assoc_rwnd(f.a), rwnd - 140);
	begin();
	add_data_flags(t, u | b, 10, 1);
	add_data_flags(t + 3, u | b, 35, 4);
	sendp();
	assert_int_equal(f.rx.count, 2);
	assert_int_equal(f.rx.data[0].len, 60);
	assert_int_equal(f.rx.data[0].data[0], 1);
	assert_int_equal(f.rx.data[0].data[59], 3);
	assert_int_equal(f.rx.data[1].len, 125);
	assert_int_equal(sctp_assoc_rwnd(f.a), rwnd);
	begin();
	add_data_flags(t + 6, b, 10, 1);
	add_data_flags(t + 7, e, 10, 2);
	sendp();
	assert_int_equal(f.rx.count, 1);
	/* A message without an end is not stored: the association is aborted. */
	drop_all();
	for (i = 0; f.a && i < 10000; i++) {
		begin();
		add_data_flags(t + 8 + i, i ? u : u | b, 1000, 1);
		sendp();
		drop_all();
		assert_true(!f.a || f.a->rx.reasm.bytes <= SCTP_REASM_MESSAGE);
	}
	assert_null(f.a);
	assert_int_equal(f.error, -EPROTO);
}

/* If the budget is full, fragments after a gap are dropped. The gap can still be filled. */
static void test_fragment_budget(void **state)
{
	const uint8_t u = WIRE_SCTP_DATA_U, b = WIRE_SCTP_DATA_B, e = WIRE_SCTP_DATA_E;
	uint32_t t = f.tsn, i;

	establish();
	for (i = 1; i < 1000; i++) {
		begin();
		add_data_flags(t + 2 * i, u | b, 600, 1);
		sendp();
		drop_all();
		assert_true(f.a->rx.reasm.bytes <= SCTP_REASM_BYTES);
		assert_true(f.a->rx.reasm.count <= SCTP_REASM_FRAGMENTS);
	}
	begin();
	add_data_flags(t, u | b | e, 600, 9);
	add_data_flags(t + 1, u | b | e, 600, 9);
	sendp();
	assert_int_equal(f.rx.count, 2);
	begin();
	add_data_flags(t + 3, u | e, 600, 9);
	sendp();
	assert_int_equal(f.rx.count, 1);
	assert_int_equal(f.rx.data[0].len, 1200);
}

static void test_bad_data(void **state)
{
	struct wire_sctp_chunk c;
	struct packet *p;

	ROWS("9260-6.5-01 9260-6.10-02 9260-6.2-11");
	establish();
	/* DATA on an invalid stream is acknowledged and reported. */
	begin();
	add_data(f.tsn);
	put_be16(f.buf + 12 + 8, 20);
	sendp();
	assert_int_equal(f.rx.count, 0);
	p = take();
	c = chunk_of(p, 0, WIRE_SCTP_ERROR);
	assert_int_equal(get_be16(c.raw + 4), WIRE_SCTP_CAUSE_STREAM);
	assert_int_equal(get_be16(c.raw + 8), 20);
	assert_int_equal(sack_in(p, 1).cum, f.tsn);
	/* A chunk longer than the packet is ignored, but chunks before it count. */
	begin();
	add_data(f.tsn + 1);
	add_data(f.tsn + 2);
	put_be16(f.buf + f.len - 28 + 2, 2000);
	sendp();
	assert_int_equal(f.rx.count, 1);
	drop_all();
	/* DATA without user data aborts the association. */
	begin();
	add_data_flags(f.tsn + 2, 7, 0, 0);
	sendp();
	p = take();
	c = chunk_of(p, 0, WIRE_SCTP_ABORT);
	assert_int_equal(get_be16(c.raw + 4), WIRE_SCTP_CAUSE_NO_DATA);
	assert_int_equal(get_be32(c.raw + 8), f.tsn + 2);
	assert_int_equal(f.error, -EPROTO);
}

/*
 * Unknown chunks are handled as their upper bits demand. PAD has no effect. Many requests get one
 * packet of answers.
 */
static void test_chunks(void **state)
{
	static const uint8_t types[] = { 0x3e, 0x7e, 0xbe, 0xfe };
	uint32_t t = f.tsn;
	unsigned int i;
	struct packet *p;

	ROWS("9260-3.2-01 9260-3.2-02 9260-3.2-03 9260-3.2-04 9260-12.4-01 4820-3-01");
	establish();
	for (i = 0; i < 4; i++) {
		drop_all();
		begin();
		memset(add(types[i], 0x55, 5), 0xaa, 5);
		add_data(t);
		sendp();
		assert_int_equal(f.rx.count, types[i] & 0x80 ? 1 : 0);
		t += f.rx.count;
		wait_ns(20 * MSEC);
		p = take();
		if (types[i] & 0x40) {
			struct wire_sctp_chunk c = chunk_of(p, 0, WIRE_SCTP_ERROR);

			assert_int_equal(get_be16(c.raw + 4), WIRE_SCTP_CAUSE_CHUNK);
			assert_int_equal(c.raw[8], types[i]);
			assert_int_equal(c.len, 4 + 4 + 9);
		} else if (f.rx.count) {
			chunk_of(p, 0, WIRE_SCTP_SACK);
		} else {
			assert_null(p);
		}
	}
	drop_all();
	begin();
	memset(add(WIRE_SCTP_PAD, 0xff, 100), 0xee, 100);
	add_data(t);
	sendp();
	assert_int_equal(f.rx.count, 1);
	wait_ns(20 * MSEC);
	assert_int_equal(chunks(take()), 1);
	begin();
	for (i = 0; i < 50; i++)
		memset(add(WIRE_SCTP_HEARTBEAT, 0, 40), (int)i, 40);
	sendp();
	p = take();
	assert_true(p->len <= 1472);
	assert_int_equal(chunk_of(p, 1, WIRE_SCTP_HEARTBEAT_ACK).len, 44);
	nothing();
	/* A length below 4 ends the packet, without an endless loop. */
	begin();
	put_be16(add(0x80, 0, 0) - 2, 2);
	add_data(t + 1);
	sendp();
	assert_int_equal(f.rx.count, 0);
	/* INIT ACK and COOKIE ACK in the wrong state are ignored. */
	begin();
	add(WIRE_SCTP_COOKIE_ACK, 0, 0);
	add_data(t + 1);
	sendp();
	assert_int_equal(f.rx.count, 1);
}

/* The initial window and slow start (7.2.1), with one chunk per message. */
static void test_cwnd(void **state)
{
	uint32_t bytes, last;

	ROWS("9260-7.2.1-01 9260-6.1-04");
	establish();
	f.message_len = 1444;
	f.messages = 1000;
	sctp_assoc_doorbell(f.a);
	collect();
	bytes = f.a->path->flight;
	assert_true(bytes <= 4404 + 1459);
	assert_true(bytes >= 4404);
	last = take_data();
	assert_int_equal(last, f.their_tsn + bytes / 1460 - 1);
	begin();
	add_sack(f.their_tsn + 1, 1000000, NULL, 0);
	sendp();
	/* Two packets are acknowledged: the window grows by two, and has room for two others. */
	assert_int_equal(take_data(), last + 4);
}

/* Bytes freed by a gap block are used at once. The window still counts as full, and grows once. */
static void test_cwnd_was_full(void **state)
{
	const struct wire_sctp_gap gap = { 2, 4 };
	uint32_t cwnd;

	ROWS("9260-7.2.1-02");
	establish();
	cwnd = f.a->path->cc.cwnd;
	f.message_len = 1444;
	f.messages = 5;
	sctp_assoc_doorbell(f.a);
	collect();
	assert_int_equal(take_data(), f.their_tsn + 3);
	begin();
	add_sack(f.their_tsn - 1, 1000000, &gap, 1);
	sendp();
	assert_int_equal(take_data(), f.their_tsn + 4);
	assert_int_equal(f.a->path->cc.cwnd, cwnd);
	begin();
	add_sack(f.their_tsn + 3, 1000000, NULL, 0);
	sendp();
	assert_int_equal(f.a->path->cc.cwnd, cwnd + 1460);
	begin();
	add_sack(f.their_tsn + 4, 1000000, NULL, 0);
	sendp();
	assert_int_equal(f.a->path->cc.cwnd, cwnd + 1460);
}

/* Fills a window of 100 packets. Returns the last TSN. */
static uint32_t fill_window(void)
{
	establish();
	f.a->path->cc.cwnd = 100 * 1460;
	f.a->path->cc.ssthresh = 4 * 1460; /* cwnd grows by a packet per window */
	f.a->window.peer_rwnd = 1000000;
	f.message_len = 1444;
	f.messages = 1000;
	sctp_assoc_doorbell(f.a);
	collect();
	assert_int_equal(f.a->path->flight, 100 * 1460);
	return take_data();
}

static void sack(uint32_t cum)
{
	begin();
	add_sack(cum, 1000000, NULL, 0);
	sendp();
}

/* Once full, the window admits nothing until an eighth of it is free, and then all that is free. */
static void test_defers(void **state)
{
	uint32_t last = fill_window();

	sack(f.their_tsn + 1);
	nothing();
	sack(f.their_tsn + 11);
	nothing();
	sack(f.their_tsn + 12);
	assert_int_equal(take_data(), last + 13);
	nothing();
	/* full again */
	sack(f.their_tsn + 14);
	nothing();
	/* With nothing in flight, nothing waits, since no other SACK would come. */
	sack(last + 13);
	assert_int_equal(f.a->path->cc.cwnd, 101 * 1460);
	assert_int_equal(take_data(), last + 13 + 101);
	/* After a lack of messages, not of window, sending continues at once. */
	f.messages = 0;
	sack(last + 13 + 101);
	nothing();
	f.messages = 99;
	sctp_assoc_doorbell(f.a);
	collect();
	last = take_data();
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	collect();
	assert_int_equal(take_data(), last + 1);
}

/* Lost chunks wait for the window, but not for an eighth of it. */
static void test_defers_no_loss(void **state)
{
	struct wire_sctp_gap gap = { 3, 3 };
	uint32_t last = fill_window();
	unsigned int i;

	f.now += 10 * MSEC;
	for (i = 0; i < 3; i++) {
		drop_all();
		begin();
		add_sack(f.their_tsn - 1, 1000000, &gap, 1);
		sendp();
		gap.end = i ? 55 : 4;
	}
	/*
	 * 100 packets less 53, and two retransmissions: less than an eighth of the window is free.
	 */
	assert_int_equal(f.a->path->cc.cwnd, 50 * 1460);
	assert_int_equal(f.a->path->flight, 47 * 1460);
	assert_int_equal(take_data(), f.their_tsn + 1);
	assert_int_equal(f.a->inflight.lost, 0);
	/* With two more in the gap block, an eighth is free. */
	gap.end = 60;
	begin();
	add_sack(f.their_tsn - 1, 1000000, &gap, 1);
	sendp();
	assert_int_equal(take_data(), last + 8);
}

/*
 * If no message fits the rest of a packet, PAD fills the rest, and the batch continues in the next
 * packet.
 */
static void test_padded(void **state)
{
	struct wire_sctp_chunk c;
	struct packet *p;
	unsigned int i;

	ROWS("4820-3-02");
	establish();
	f.a->path->cc.cwnd = 100000;
	f.message_len = 1350;
	f.messages = 3;
	sctp_assoc_doorbell(f.a);
	collect();
	for (i = 0; i < 3; i++) {
		p = take();
		chunk_of(p, 0, WIRE_SCTP_DATA);
		assert_int_equal(chunks(p), i < 2 ? 2 : 1); /* no PAD in the last packet */
		assert_int_equal(p->len, i < 2 ? 1472 : 12 + 1368);
		if (i == 2)
			break;
		c = chunk_of(p, 1, WIRE_SCTP_PAD);
		assert_int_equal(c.flags, 0);
		assert_int_equal(c.len, 1472 - 12 - 1368);
	}
	assert_int_equal(f.a->path->flight, 3 * 1368);
	/* A PAD fills at most an eighth of a packet. */
	f.message_len = 1200;
	f.messages = 2;
	sctp_assoc_doorbell(f.a);
	collect();
	assert_int_equal(take()->len, 12 + 1216);
	assert_int_equal(take()->len, 12 + 1216);
}

/* The last packet of a batch has no PAD, either. */
static void test_padded_batch(void **state)
{
	unsigned int i;

	ROWS("4820-3-02");
	establish();
	f.a->path->cc.cwnd = 100000;
	f.a->window.peer_rwnd = 1000000;
	f.a->path->mtu.max_packet = 996;
	f.message_len = 900;
	f.messages = 66;
	sctp_assoc_doorbell(f.a);
	collect();
	for (i = 1; i <= 66; i++) {
		bool last = i == SCTP_BATCH_PACKETS || i == 66;

		assert_int_equal(take()->len, last ? 12 + 16 + 900 : 996);
	}
	assert_null(take());
}

/*
 * Bytes in flight count for the instance, too, until they are acknowledged or the association ends.
 */
static void test_in_flight(void **state)
{
	struct sctp *s;

	fill_window();
	s = f.a->s;
	assert_int_equal(sctp_in_flight(s), 100 * (1460 + SCTP_PACKET_OVERHEAD));
	f.messages = 0;
	sack(f.their_tsn + 29);
	assert_int_equal(sctp_in_flight(s), 70 * (1460 + SCTP_PACKET_OVERHEAD));
	sctp_assoc_abort(f.a);
	assert_int_equal(sctp_in_flight(s), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PEER_TEST(test_sack_gaps),    PEER_TEST(test_sack_duplicates),
		PEER_TEST(test_sack_delay),   PEER_TEST(test_sack_with_data),
		PEER_TEST(test_sack_far_tsn), PEER_TEST(test_many_gaps),
		PEER_TEST(test_fragments),    PEER_TEST(test_fragment_budget),
		PEER_TEST(test_bad_data),     PEER_TEST(test_chunks),
		PEER_TEST(test_cwnd),	      PEER_TEST(test_cwnd_was_full),
		PEER_TEST(test_defers),	      PEER_TEST(test_defers_no_loss),
		PEER_TEST(test_padded),	      PEER_TEST(test_padded_batch),
		PEER_TEST(test_in_flight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
