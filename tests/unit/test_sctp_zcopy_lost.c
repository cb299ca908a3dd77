/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * Messages with a referenced end: acknowledged, lost and retransmitted, and the end of the
 * association.
 */
#define _GNU_SOURCE
#include "fixture/sctp_zcopy_user.h"

/*
 * Once a message is acknowledged without a gap, its memory returns to the user, and no other
 * memory.
 */
static void test_acked(void **state)
{
	establish_and_reference(4);
	expect_range(0, 4, 0);
	assert_int_equal(f.a->inflight.referenced, 4);
	sack(1, 0, 0);
	assert_int_equal(f.a->inflight.referenced, 3);
	assert_int_equal(sctp_assoc_acked(f.a), 1);
	forbid(0);
	/* A SHUTDOWN acknowledges as well, and reneges on the rest of the packet. */
	begin();
	put_be32(add(WIRE_SCTP_SHUTDOWN, 0, 4), f.their_tsn + 1);
	sendp();
	assert_int_equal(f.a->inflight.referenced, 2);
	forbid(1);
	sctp_assoc_copy_out(f.a);
	assert_int_equal(u.fills, 2);
	assert_int_equal(u.filled[0] + u.filled[1], 0);
	forbid_all();
	wait_ns(1100 * MSEC);
	drop();
	begin();
	put_be32(add(WIRE_SCTP_SHUTDOWN, 0, 4), f.their_tsn + 3);
	sendp();
	assert_int_equal(f.a->inflight.referenced, 0);
	assert_true(sctp_assoc_is_drained(f.a));
}

/* Memory returns once, even for two acknowledgements. A retransmitted chunk holds no memory. */
static void test_acked_once(void **state)
{
	establish_and_reference(5);
	drop();
	lose(0, 1);
	assert_int_equal(f.a->inflight.referenced, 5);
	collect();
	assert_int_equal(f.a->inflight.referenced, 4);
	sack(1, 0, 0);
	assert_int_equal(f.a->inflight.referenced, 4);
	sack(5, 0, 0);
	assert_int_equal(f.a->inflight.referenced, 0);
	sack(5, 0, 0);
	assert_int_equal(f.a->inflight.referenced, 0);
}

/* The peer may renege on a gap block (6.2.1): until then, the memory may have to be read. */
static void test_renege(void **state)
{
	establish_and_reference(8);
	expect_range(0, 8, 0);
	f.now += 10 * MSEC;
	sack(1, 1, 2); /* 2 and 3 */
	assert_int_equal(f.a->inflight.referenced, 7);
	/* 2 is missing again, and 1 still is. */
	sack(1, 2, 3);
	expect_no_more();
	assert_int_equal(f.a->inflight.referenced, 7);
	assert_int_equal(u.fills, 0);
	change(2, 1);
	sack(1, 2, 4);
	expect(1, 0);
	assert_int_equal(f.a->inflight.referenced, 6);
	forbid(1);
	/* Lost as well: the memory is read for the retransmission, and never after. */
	script_sack(1, 2, 5);
	receive();
	assert_int_equal(f.a->inflight.lost, 1);
	assert_int_equal(u.fills, 1);
	collect();
	expect(2, 1);
	assert_int_equal(u.fills, 2);
	assert_int_equal(f.a->inflight.referenced, 5);
	forbid(2);
	expect_no_more();
	sack(8, 0, 0);
	assert_int_equal(f.a->inflight.referenced, 0);
	assert_int_equal(u.fills, 2);
}

/* The first chunk of all is in a gap block. A timeout counts it as reneged. */
static void test_renege_head(void **state)
{
	establish_and_reference(1);
	expect(0, 0);
	begin();
	add_sack(f.their_tsn - 1, 100000, &(struct wire_sctp_gap){ 1, 1 }, 1);
	sendp();
	assert_int_equal(f.a->inflight.referenced, 1);
	change(0, 1);
	expire(SCTP_TIMER_T3);
	collect();
	expect(0, 1);
	assert_int_equal(u.fills, 1);
	assert_int_equal(f.a->inflight.referenced, 0);
}

/* All retransmissions have the bytes of the first retransmission. */
static void test_lost(void **state)
{
	establish_and_reference(5);
	expect_range(0, 5, 0);
	lose(0, 1);
	assert_int_equal(u.fills, 0);
	assert_int_equal(f.a->inflight.referenced, 5);
	change(0, 1);
	collect();
	expect(0, 1);
	assert_int_equal(f.a->inflight.referenced, 4);
	forbid(0);
	expect_no_more();
	/* Again, after probes with the last chunk. */
	change(4, 1);
	for (unsigned int i = 0; i < 3; i++)
		while (f.a->path->recovery.now.timeouts <= i)
			wait_ns(MSEC);
	assert_int_equal(u.filled[0], 1);
	assert_int_equal(u.filled[4], 1);
	assert_int_equal(f.a->inflight.referenced, 3);
	expect(4, 1);
	drop();
	sack(4, 0, 0);
	assert_int_equal(f.a->inflight.referenced, 0);
	expect(4, 1);
	expect_no_more();
	assert_int_equal(u.fills, 2);
}

/* After a loss, this number of messages is copied, and twice this number after the next loss. */
static void test_copies(void **state)
{
	const uint32_t len = 276, ref = 200; /* five per packet */
	unsigned int first;

	establish_wide();
	say(10, 3, len, ref);
	for (unsigned int copies = 1024; copies <= 2048; copies *= 2) {
		say(10, 3, len, ref);
		send_said();
		drop();
		assert_int_equal(f.a->zcopy.copies, 0);
		/* Five at once are one loss. */
		first = u.said - 20;
		lose(first, 5);
		assert_int_equal(f.a->zcopy.copies, copies);
		collect();
		expect_range(first, first + 5, 0);
		assert_int_equal(f.a->zcopy.copies, copies);
		wide();
		sack(u.said, 0, 0);
		assert_int_equal(f.a->inflight.referenced, 0);
		first = u.said;
		say(copies + 10, 3, len, ref);
		send_said();
		for (unsigned int k = first; k < u.said; k++)
			assert_int_equal(u.m[k].may_reference, k - first >= copies);
		assert_int_equal(f.a->inflight.referenced, 10);
		expect_range(first, u.said, 0);
	}
}

/* After many losses, messages are neither copied forever, nor referenced again after each loss. */
static void test_most_copies(void **state)
{
	establish_wide();
	for (uint32_t i = 0, copies = 1024; i < 24; i++) {
		say(5, 3, WHOLE, REFERENCED);
		send_said();
		drop();
		lose(u.said - 5, 1);
		assert_int_equal(f.a->zcopy.copies, copies);
		collect();
		drop();
		wide();
		sack(u.said, 0, 0);
		f.a->zcopy.copies = 0;
		if (copies < 1u << 20)
			copies *= 2;
	}
}

/*
 * Sends n references without a loss. Once there are as many as copies_next, that number is halved.
 */
static void reference_one_by_one(unsigned int n)
{
	while (n--) {
		say(1, 3, 276, 200);
		send_said();
		sack(u.said, 0, 0);
		drop();
	}
}

static void test_fewer_copies(void **state)
{
	establish_wide();
	for (unsigned int round = 0; round < 2; round++) {
		say(20, 3, 276, 200);
		send_said();
		drop();
		lose(u.said - 20, 5);
		collect();
		wide();
		sack(u.said, 0, 0);
		drop();
		f.a->zcopy.copies = 0;
	}
	for (unsigned int next = 4096; next > 1024; next /= 2) {
		reference_one_by_one(next - 1);
		assert_int_equal(f.a->zcopy.copies_next, next);
		reference_one_by_one(1);
		assert_int_equal(f.a->zcopy.copies_next, next / 2);
	}
	reference_one_by_one(1024);
	assert_int_equal(f.a->zcopy.copies_next, 1024);
}

/*
 * The loss of a copied message shows nothing about changing memory: later messages are still
 * referenced.
 */
static void test_copy_lost(void **state)
{
	establish_wide();
	say(1, 3, 300, 0);
	say(4, 3, WHOLE, REFERENCED);
	send_said();
	drop();
	lose(0, 1);
	say(3, 5, 350, 333);
	sctp_assoc_doorbell(f.a);
	assert_int_equal(f.a->zcopy.copies, 0);
	assert_int_equal(f.a->inflight.referenced, 4);
	collect();
	expect(0, 0);
	expect_range(5, 8, 0);
	expect_no_more();
	assert_int_equal(u.fills, 0);
	assert_int_equal(f.a->inflight.referenced, 7);
	assert_int_equal(f.gaps, 7);
}

/*
 * A lost tail that a probe repairs is a loss: only this detects memory that changes all the time.
 */
static void test_probe(void **state)
{
	establish_and_reference(2);
	expect_range(0, 2, 0);
	change(1, 1);
	expire(SCTP_TIMER_TLP);
	collect();
	expect(1, 1);
	assert_int_equal(u.fills, 1);
	assert_int_equal(u.filled[1], 1);
	assert_int_equal(f.a->inflight.referenced, 1);
	change(1, 2);
	forbid(1);
	assert_int_equal(f.a->zcopy.copies, 1024);
	/* The next probe sends the same bytes. */
	expire(SCTP_TIMER_TLP);
	collect();
	expect(1, 1);
	expect_no_more();
	assert_int_equal(u.fills, 1);
}

/* The last missing chunk, with later ones at the peer. */
static void test_probe_below(void **state)
{
	establish_and_reference(4);
	expect_range(0, 4, 0);
	f.now += MSEC;
	begin();
	add_sack(f.their_tsn - 1, 4000000, &(struct wire_sctp_gap){ 4, 4 }, 1);
	receive();
	change(2, 1);
	f.a->path->recovery.due[SCTP_PATH_TIMER(SCTP_TIMER_TLP)] = f.now;
	sctp_recovery_probe(f.a, f.now);
	collect();
	expect(2, 1);
	assert_int_equal(u.filled[2], 1);
	assert_int_equal(u.fills, 1);
	forbid(2);
	expect_no_more();
}

static void test_timeout(void **state)
{
	establish_and_reference(3);
	expect_range(0, 3, 0);
	while (f.a->timers.at[SCTP_TIMER_TLP] < f.a->timers.at[SCTP_TIMER_T3]) {
		expire(SCTP_TIMER_TLP);
		collect();
		expect(2, 0);
	}
	assert_int_equal(u.fills, 1);
	change(0, 1);
	change(2, 1);
	expire(SCTP_TIMER_T3);
	assert_int_equal(f.a->inflight.lost, 3);
	assert_int_equal(f.a->inflight.referenced, 2);
	assert_int_equal(f.a->zcopy.copies, 1024);
	collect();
	expect(0, 1);
	assert_int_equal(u.fills, 2);
	forbid(0);
	forbid(2);
	change(1, 1);
	sack(1, 0, 0);
	expect(1, 1);
	expect(2, 0);
	assert_int_equal(u.fills, 3);
	assert_int_equal(f.a->inflight.referenced, 0);
	expect_no_more();
}

/* After the end of the association, nothing reads the user's memory. */
static void reference_some(void)
{
	establish_and_reference(5);
	drop();
	lose(0, 1);
	assert_int_equal(f.a->inflight.referenced, 5);
}

static void over(void)
{
	forbid_all();
	assert_int_equal(f.a->inflight.referenced, 0);
	sctp_assoc_void(f.a, 3);
	sctp_assoc_copy_out(f.a);
	collect();
	assert_null(f.a);
	wait_ns(40 * SEC);
	assert_int_equal(u.fills, 0);
}

static void test_peer_aborts(void **state)
{
	reference_some();
	begin();
	add(WIRE_SCTP_ABORT, 0, 0);
	receive();
	over();
}

static void test_peer_is_silent(void **state)
{
	establish_and_reference(3);
	while (!f.a->inflight.lost)
		wait_ns(MSEC);
	/* The first and the last were retransmitted. */
	assert_int_equal(f.a->inflight.referenced, 1);
	assert_int_equal(u.fills, 2);
	forbid_all();
	wait_ns(100 * SEC);
	assert_null(f.a);
	assert_int_equal(f.error, -ETIMEDOUT);
}

/* A SACK beyond all sent TSNs ends the association (12.4). */
static void test_peer_lies(void **state)
{
	reference_some();
	script_sack(100, 0, 0);
	receive();
	over();
}

static void test_abort(void **state)
{
	reference_some();
	forbid_all();
	sctp_assoc_abort(f.a);
	f.a = NULL;
	collect();
	wait_ns(40 * SEC);
	assert_int_equal(u.fills, 0);
	assert_int_equal(f.s->table.assoc_count, 0);
}

static void test_endpoint_freed(void **state)
{
	reference_some();
	forbid_all();
	sctp_endpoint_free(f.ep);
	assert_int_equal(u.fills, 0);
}

/* A shutdown waits for references, like for all other messages. */
static void test_shutdown(void **state)
{
	reference_some();
	sctp_assoc_shutdown(f.a, f.now);
	collect();
	expect(0, 0);
	expect_no_more();
	assert_int_equal(f.a->inflight.referenced, 4);
	change(4, 1);
	f.now = f.a->timers.at[SCTP_TIMER_T3];
	f.a->timers.at[SCTP_TIMER_TLP] = TIME_NEVER;
	sctp_timers(f.s, f.now);
	forbid(0);
	collect();
	expect(0, 0);
	sack(4, 0, 0);
	expect(4, 1);
	assert_int_equal(f.a->inflight.referenced, 0);
	forbid_all();
	sack(5, 0, 0);
	chunk_of(take(), 0, WIRE_SCTP_SHUTDOWN);
	begin();
	add(WIRE_SCTP_SHUTDOWN_ACK, 0, 0);
	sendp();
	assert_null(f.a);
}

/* When the peer restarts, all references end. */
static void test_restart(void **state)
{
	struct wire_sctp_init init, ack;

	reference_some();
	f.tag = 0x55667788;
	init = our_init();
	read_init_ack(init_exchange(&init), &ack);
	forbid_all();
	begin_tag(ack.tag);
	add_cookie_echo(&ack);
	receive();
	assert_true(f.rx.restart);
	assert_int_equal(f.a->inflight.referenced, 0);
	sctp_assoc_copy_out(f.a);
	assert_int_equal(u.fills, 1); /* retransmitted with the INIT ACK */
	collect();
	drop();
	setup_memory();
	f.their_tsn = ack.tsn - u.said;
	f.a->zcopy.copies = 0;
	sctp_assoc_set_mtu(f.a, 1500);
	wide();
	say(2, 3, WHOLE, REFERENCED);
	send_said();
	assert_int_equal(f.a->inflight.referenced, 2);
	expect_range(5, 7, 0);
	sctp_assoc_copy_out(f.a);
	assert_int_equal(f.a->inflight.referenced, 0);
	assert_int_equal(u.fills, 3);
}

/* A message split for a larger path is sent alone, unchanged. */
static void test_smaller_path(void **state)
{
	establish_and_reference(5);
	expect_range(0, 5, 0);
	sctp_assoc_set_mtu(f.a, 1280);
	lose(0, 1);
	change(0, 1);
	collect();
	expect(0, 1);
	forbid(0);
	assert_false(reading->df);
	assert_int_equal(chunks(reading), 1);
	expect_no_more();
	/* New messages after it are shorter. */
	f.a->zcopy.copies = 0;
	wide();
	say(2, 3, 1200, 1100);
	send_said();
	expect_range(5, 7, 0);
	assert_true(reading->df);
	assert_int_equal(f.a->inflight.referenced, 6);
}

/* The message follows a COOKIE ECHO, and perhaps is lost with it. */
static void test_cookie_echo(void **state)
{
	struct wire_sctp_init init = our_init();
	struct wire_sctp_chunk c;
	struct packet *p;

	f.a = sctp_connect(f.ep, &f.path, PEER_PORT, 1500, NULL, f.now);
	assert_non_null(f.a);
	say(2, 3, 500, 450);
	send_said();
	p = take();
	c = chunk_of(p, 0, WIRE_SCTP_INIT);
	assert_true(wire_sctp_init_get(&c, &init));
	f.their_tag = init.tag;
	f.their_tsn = init.tsn;
	init = our_init();
	begin();
	add_init(WIRE_SCTP_INIT_ACK, &init);
	f.len += wire_sctp_param_put(f.buf + f.len, WIRE_SCTP_PARAM_COOKIE, "cookie12", 8);
	put_be16(f.buf + 14, (uint16_t)(f.len - 12));
	sendp();
	assert_int_equal(f.a->inflight.referenced, 2);
	assert_int_equal(f.gaps, 2);
	expect_range(0, 2, 0);
	chunk_of(reading, 0, WIRE_SCTP_COOKIE_ECHO);
	expect_no_more();
	change(1, 1);
	expire(SCTP_TIMER_SETUP);
	collect();
	expect(0, 0);
	expect(1, 1);
	assert_int_equal(f.a->inflight.referenced, 0);
	assert_int_equal(u.fills, 2);
	chunk_of(reading, 0, WIRE_SCTP_COOKIE_ECHO);
	expect_no_more();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ZCOPY_TEST(test_acked),		 ZCOPY_TEST(test_acked_once),
		ZCOPY_TEST(test_renege),	 ZCOPY_TEST(test_renege_head),
		ZCOPY_TEST(test_lost),		 ZCOPY_TEST(test_copies),
		ZCOPY_TEST(test_most_copies),	 ZCOPY_TEST(test_fewer_copies),
		ZCOPY_TEST(test_copy_lost),	 ZCOPY_TEST(test_probe),
		ZCOPY_TEST(test_probe_below),	 ZCOPY_TEST(test_timeout),
		ZCOPY_TEST(test_peer_aborts),	 ZCOPY_TEST(test_peer_is_silent),
		ZCOPY_TEST(test_peer_lies),	 ZCOPY_TEST(test_abort),
		ZCOPY_TEST(test_endpoint_freed), ZCOPY_TEST(test_shutdown),
		ZCOPY_TEST(test_restart),	 ZCOPY_TEST(test_smaller_path),
		ZCOPY_TEST(test_cookie_echo),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
