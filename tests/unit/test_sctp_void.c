/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * Messages that are void (sctp/void.c): what is sent again of them has their TSN and stream, and nothing of
 * their bytes; nothing reads the memory that they referenced; and the accounts of flight and of the peer's
 * window come out even.
 */
#define _GNU_SOURCE
#include "fixture/sctp_zcopy_user.h"
#include "sctp/void.h"

#define FULL (WIRE_SCTP_DATA_LEN + WHOLE) /* a chunk of establish_voidable() */

static void make_voidable(unsigned int from, unsigned int to)
{
	for (; from < to; from++)
		u.m[from].voidable = true;
}

/* As establish_and_reference(), with messages that are voidable. */
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

/* Nothing is outstanding, and the accounts say so. */
static void expect_even(void)
{
	assert_true(sctp_assoc_is_drained(f.a));
	assert_int_equal(f.a->inflight.referenced, 0);
	expect_accounts(0, 0);
	expect_no_more();
	assert_int_equal(u.fills, 0);
}

/*
 * What is in flight when it becomes void counts as what it is, and is sent again without its bytes. The
 * memory is the application's at once.
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
	/* it is lost again */
	expire(SCTP_TIMER_T3);
	collect();
	expect_void(0);
	expect_void(4);
	expect_accounts(2 * SCTP_VOID_CHUNK_LEN, 1);
	sack(5, 0, 0);
	expect_even();
}

/* One that is lost already goes without its bytes, although it was to go with them. */
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

/* Other streams, and messages that are not voidable, are sent again as they are; so is what comes later. */
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

/* A tail-loss probe is a transmission as any other; the chunk stays in flight as it was. */
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

/* The peer has it, and takes that back. */
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

/* What was built and has still to leave is whole: it is as good as in the network. */
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

/* The user finds while it is asked for a message that those before it are void. */
static void test_within(void **state)
{
	struct sctp_batch b;

	establish_wide();
	say(6, 3, 712, 700); /* two a packet */
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

/* What stands in the place of a short message is longer than that. */
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

/* Where nothing is outstanding nothing becomes void, and an association that is over asks nobody. */
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
