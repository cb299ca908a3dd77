/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * Void messages (sctp/void.c). Retransmissions keep their TSN and stream, but none of their bytes.
 * Nothing reads the referenced memory. The counts in flight, and of the peer's window, return to
 * zero.
 */
#define _GNU_SOURCE
#include "fixture/sctp_zcopy_user.h"
#include "sctp/void.h"

#define FULL (WIRE_SCTP_DATA_LEN + WHOLE) /* length of a chunk of establish_voidable() */

static void make_voidable(unsigned int from, unsigned int to)
{
	for (; from < to; from++)
		u.m[from].voidable = true;
}

/* Like establish_and_reference(), with voidable messages. */
static void establish_voidable(unsigned int n)
{
	establish_wide();
	say(n, 3, WHOLE, REFERENCED);
	make_voidable(0, n);
	send_said();
}

static void expect_accounts(uint32_t flight, unsigned int packets)
{
	assert_int_equal(f.a->path->flight, flight);
	assert_int_equal(f.a->window.rwnd_outstanding, flight + packets * SCTP_PACKET_OVERHEAD);
}

/* Checks that nothing is outstanding, and that all counts are zero. */
static void expect_even(void)
{
	assert_true(sctp_assoc_is_drained(f.a));
	assert_int_equal(f.a->inflight.referenced, 0);
	expect_accounts(0, 0);
	expect_no_more();
	assert_int_equal(u.fills, 0);
}

/*
 * A message in flight that becomes void still counts with its length. The retransmission has none
 * of its bytes. The memory is free for the application at once.
 */
static void test_in_flight(void **state)
{
	establish_voidable(5);
	expect_range(0, 5, 0);
	expect_accounts(5 * FULL, 5);
	sctp_assoc_void(f.a, 3);
	assert_int_equal(f.a->inflight.referenced, 0);
	forbid_all();
	expect_accounts(5 * FULL, 5);
	lose(0, 1);
	expect_accounts(FULL, 1);
	collect();
	expect_void(0);
	expect_accounts(FULL + SCTP_VOID_CHUNK_LEN, 2);
	expect_no_more();
	/* Lost again. */
	expire(SCTP_TIMER_T3);
	collect();
	expect_void(0);
	expect_void(4);
	expect_accounts(2 * SCTP_VOID_CHUNK_LEN, 1);
	sack(5, 0, 0);
	expect_even();
}

/* A message that is lost already becomes void: the retransmission omits its bytes. */
static void test_lost(void **state)
{
	establish_voidable(8);
	drop();
	f.now += 10 * MSEC;
	sack(0, 2, 3);
	sack(0, 2, 5);
	script_sack(0, 2, 7);
	receive();
	assert_int_equal(f.a->inflight.lost, 2);
	sctp_assoc_void(f.a, 3);
	forbid_all();
	expect_accounts(0, 0);
	collect();
	expect_void(0);
	expect_void(1); /* in one packet */
	expect_accounts(2 * SCTP_VOID_CHUNK_LEN, 1);
	sack(8, 0, 0);
	expect_even();
}

/* Other streams, messages that are not voidable, and later messages are retransmitted unchanged. */
static void test_others(void **state)
{
	establish_wide();
	say(3, 3, WHOLE, 0);
	say(1, 4, WHOLE, 0);
	say(1, 3, WHOLE, 0);
	make_voidable(0, 2);
	make_voidable(3, 5);
	send_said();
	drop();
	sctp_assoc_void(f.a, 3);
	sctp_assoc_void(f.a, 3);
	say(1, 3, 300, 0);
	make_voidable(5, 6);
	send_said();
	drop();
	expire(SCTP_TIMER_T3);
	collect();
	expect_void(0);
	expect_void(1);
	sack(2, 0, 0);
	expect(2, 0);
	sack(3, 0, 0);
	expect(3, 0);
	sack(4, 0, 0);
	expect_void(4);
	expect(5, 0);
	sack(6, 0, 0);
	expect_even();
}

/* A tail-loss probe is a transmission like any other. The chunk stays in flight unchanged. */
static void test_probe(void **state)
{
	establish_voidable(2);
	drop();
	sctp_assoc_void(f.a, 3);
	forbid_all();
	expire(SCTP_TIMER_TLP);
	collect();
	assert_int_equal(f.s->stats.probes, 1);
	expect_void(1);
	assert_int_equal(reading->len, WIRE_SCTP_COMMON_LEN + SCTP_VOID_CHUNK_LEN);
	expect_accounts(2 * FULL, 2);
	sack(2, 0, 0);
	expect_even();
}

/* The peer has acknowledged it, and reneges. */
static void test_renege(void **state)
{
	establish_voidable(8);
	drop();
	f.now += 10 * MSEC;
	sack(1, 1, 2); /* 2 and 3 */
	sctp_assoc_void(f.a, 3);
	forbid_all();
	drop();
	sack(1, 3, 4);
	drop();
	sack(1, 3, 5);
	collect();
	drop();
	expire(SCTP_TIMER_T3);
	assert_int_equal(f.a->path->flight, 0);
	collect();
	for (unsigned int k = 1; k < 4; k++)
		expect_void(k);
	expect_void(7); /* 4 to 6 are acknowledged */
	sack(8, 0, 0);
	expect_even();
}

/* A built packet that still waits stays whole, as if in flight. */
static void test_batch_in_hand(void **state)
{
	struct sctp_batch b;

	establish_wide();
	say(3, 3, WHOLE, REFERENCED);
	make_voidable(0, 3);
	b = output();
	sctp_assoc_void(f.a, 3);
	assert_int_equal(f.a->inflight.referenced, 0);
	forbid_all();
	assert_int_equal(u.fills, 3);
	u.fills = 0;
	leave(&b);
	expect_range(0, 3, 0);
	expire(SCTP_TIMER_T3);
	collect();
	for (unsigned int k = 0; k < 3; k++)
		expect_void(k);
	sack(3, 0, 0);
	expect_even();
}

/* The user voids earlier messages while it is called for another message. */
static void test_within(void **state)
{
	struct sctp_batch b;

	establish_wide();
	say(6, 3, 712, 700); /* two per packet */
	make_voidable(0, 6);
	u.voids = 3;
	b = output();
	assert_int_equal(f.a->inflight.referenced, 3);
	for (unsigned int k = 0; k < 3; k++)
		forbid(k);
	u.fills = 0;
	leave(&b);
	expect_range(0, 6, 0);
	drop();
	sctp_assoc_void(f.a, 3);
	u.fills = 0;
	expire(SCTP_TIMER_T3);
	collect();
	for (unsigned int k = 0; k < 6; k++)
		expect_void(k);
	sack(6, 0, 0);
	expect_even();
}

/* The replacement of a short message is longer than the message. */
static void test_short(void **state)
{
	establish_wide();
	say(40, 3, 16, 0);
	make_voidable(0, 40);
	send_said();
	drop();
	expect_accounts(40 * 32, 1);
	expire(SCTP_TIMER_T3);
	sctp_assoc_void(f.a, 3);
	expect_accounts(0, 0);
	collect();
	expect_void(0);
	assert_true(f.a->path->flight % SCTP_VOID_CHUNK_LEN == 0);
	assert_int_equal(f.a->path->flight + WIRE_SCTP_COMMON_LEN, reading->len);
	assert_true(reading->len <= f.a->path->mtu.max_packet);
	drop();
	sack(40, 0, 0);
	expect_even();
}

/* Without outstanding messages none becomes void, and an ended association calls no user. */
static void test_nothing_outstanding(void **state)
{
	establish_voidable(3);
	sack(3, 0, 0);
	drop();
	sctp_assoc_void(f.a, 3);
	say(1, 3, WHOLE, REFERENCED);
	make_voidable(3, 4);
	send_said();
	expect(3, 0);
	sack(4, 0, 0);
	expect_even();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ZCOPY_TEST(test_in_flight),
		ZCOPY_TEST(test_lost),
		ZCOPY_TEST(test_others),
		ZCOPY_TEST(test_probe),
		ZCOPY_TEST(test_renege),
		ZCOPY_TEST(test_batch_in_hand),
		ZCOPY_TEST(test_within),
		ZCOPY_TEST(test_short),
		ZCOPY_TEST(test_nothing_outstanding),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
