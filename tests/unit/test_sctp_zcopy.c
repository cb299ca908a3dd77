/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/* Messages with a referenced end: their transmission, and the return of the user's memory. */
#define _GNU_SOURCE
#include "fixture/sctp_zcopy_user.h"

/* The packet is complete except for the gap, which is filled only when necessary. */
static void test_gap(void **state)
{
	const uint8_t *end;
	struct sctp_batch b;

	establish_wide();
	say(1, 3, 1003, 903);
	b = output();
	assert_int_equal(b.n_refs, 1);
	assert_ptr_equal(b.refs[0].from, memory(0));
	assert_int_equal(b.refs[0].len, 903);
	assert_int_equal(b.len, WIRE_SCTP_COMMON_LEN + WIRE_SCTP_DATA_LEN + 1004);
	end = b.data + b.len - 1;
	assert_ptr_equal(b.refs[0].at, end - 903);
	for (const uint8_t *p = b.refs[0].at; p < end - SCTP_ZCOPY_MIN; p++)
		assert_int_equal(*p, GAP_BYTE);
	assert_false(wire_sctp_checksum_ok(b.data, b.len));
	leave(&b);
	expect(0, 0);
	assert_int_equal(f.a->inflight.referenced, 1);
	assert_int_equal(u.checksums, 1);
	/* The gap is filled in its place, and no other byte changes. */
	sctp_assoc_copy_out(f.a);
	assert_int_equal(u.fills, 1);
	assert_memory_equal(end - 903, memory(0), 903);
	assert_int_equal(end[-904], byte_of(0, 99, HEAD));
	assert_int_equal(*end, 0);
	expect_no_more();
}

static void test_may_reference(void **state)
{
	establish();
	say(1, 3, 200, 100);
	send_said();
	assert_true(u.m[0].may_reference);
	wide();
	say(1, 3, 200, 100);
	send_said();
	assert_true(u.m[1].may_reference);
	/* A batch has room for this number. */
	say(SCTP_BATCH_REFS + 3, 3, 200, 100);
	send_said();
	for (unsigned int i = 0; i < SCTP_BATCH_REFS + 3; i++)
		assert_int_equal(u.m[2 + i].may_reference, i < SCTP_BATCH_REFS);
	/* The next batch has room again. */
	say(1, 3, 200, 100);
	send_said();
	assert_true(u.m[u.said - 1].may_reference);
	assert_int_equal(f.a->inflight.referenced, SCTP_BATCH_REFS + 3);
	assert_int_equal(f.gaps, SCTP_BATCH_REFS + 3);
	assert_int_equal(u.checksums, SCTP_BATCH_REFS + 3);
	expect_range(0, u.said, 0);
	/* Messages without references take no room. */
	say(SCTP_BATCH_REFS, 3, 100, 0);
	say(2, 3, 200, 100);
	send_said();
	assert_int_equal(f.a->inflight.referenced, SCTP_BATCH_REFS + 5);
	expect_range(u.said - SCTP_BATCH_REFS - 2, u.said, 0);
	/* Without checksum(), nothing may be referenced. */
	f.s->ops.checksum = NULL;
	say(1, 3, 200, 100);
	send_said();
	assert_false(u.m[u.said - 1].may_reference);
	expect(u.said - 1, 0);
	expect_no_more();
	assert_int_equal(u.fills, 0);
}

/*
 * Several references in a packet, several packets in a batch, copies among them, every padding,
 * PAD, and a SACK first.
 */
static void test_many(void **state)
{
	unsigned int batches = 0, packets = 0, ref = 0;
	struct sctp_batch b;

	establish_wide();
	for (unsigned int i = 0; i < 40; i++) {
		say(1, (uint16_t)(i % 4), 70 + i, i % 3 ? SCTP_ZCOPY_MIN + i % 5 : 0);
		say(1, 3, 400 + i % 7, i % 2 ? 390 : 400 + i % 7); /* all of it */
		if (i % 4 == 3)
			say(1, 5, 1300, 1290); /* followed by PAD, or less */
	}
	begin();
	add_data(f.tsn);
	receive();
	while (u.pulled < u.said) {
		b = output();
		batches++;
		packets += (unsigned int)((b.len + b.segment - 1) / b.segment);
		ref += b.n_refs;
		assert_true(b.n_refs <= SCTP_BATCH_REFS);
		leave(&b);
	}
	assert_true(batches > 1 && packets > batches);
	assert_true(ref > packets);
	assert_int_equal(f.gaps, ref);
	assert_int_equal(f.a->inflight.referenced, ref);
	assert_int_equal(u.checksums, ref);
	assert_int_equal(u.fills, 0);
	expect_range(0, u.said, 0);
	expect_no_more();
	/* Retransmitted from their gaps; at most one message is left in each slot. */
	sack(u.said - SLOTS / 2, 0, 0);
	sctp_assoc_copy_out(f.a);
	forbid_all();
	assert_int_equal(f.a->inflight.referenced, 0);
	expire(SCTP_TIMER_T3);
	collect();
	expect(u.said - SLOTS / 2, 0);
	drop();
	sack(u.said - SLOTS / 4, 0, 0);
	expect_range(u.said - SLOTS / 4, u.said, 0);
}

/* Every length of padding, and every alignment of memory. */
static void test_padding(void **state)
{
	establish_wide();
	for (unsigned int i = 0; i < 8; i++) {
		say(1, 3, 300 + i, 100 + i / 4);
		send_said();
	}
	assert_int_equal(f.gaps, 8);
	expect_range(0, 8, 0);
	sctp_assoc_copy_out(f.a);
	forbid_all();
	while (!f.a->path->recovery.now.timeouts) {
		drop();
		wait_ns(MSEC);
	}
	expect_range(0, 4, 0); /* one packet */
	sack(4, 0, 0);
	expect_range(4, 8, 0);
}

/* The user takes its memory back, for all streams. */
static void test_copy_out(void **state)
{
	establish_wide();
	for (unsigned int i = 0; i < 4; i++) {
		say(1, 0, 300 + i, 200);
		say(1, 5, 300 + i, 250);
	}
	say(1, 0, 300, 0);
	send_said();
	expect_range(0, 9, 0);
	sack(2, 0, 0);
	assert_int_equal(f.a->inflight.referenced, 6);
	for (unsigned int k = 0; k < 8; k++)
		change(k, 1);
	for (unsigned int i = 0; i < 2; i++) {
		sctp_assoc_copy_out(f.a);
		assert_int_equal(u.fills, 6);
		assert_int_equal(f.a->inflight.referenced, 0);
	}
	forbid_all();
	assert_int_equal(f.a->zcopy.copies, 0);
	expire(SCTP_TIMER_T3);
	assert_int_equal(f.a->zcopy.copies, 0);
	collect();
	for (unsigned int k = 2; k < 6; k++)
		expect(k, 1);
	sack(6, 0, 0);
	expect(6, 1);
	expect(7, 1);
	expect(8, 0);
	expect_no_more();
}

/*
 * References in the batch being built are copied as well, in the current packet and earlier ones.
 */
static void test_copy_out_within(void **state)
{
	struct sctp_batch b;

	establish_wide();
	say(6, 3, 712, 700); /* two per packet */
	u.copy_outs = 3;
	b = output();
	assert_int_equal(u.fills, 3);
	assert_int_equal(f.a->inflight.referenced, 3);
	for (unsigned int k = 0; k < 3; k++)
		forbid(k);
	leave(&b);
	expect_range(0, 6, 0);
	expect_no_more();
}

/* Messages that the peer probably has are copied as well; nothing else about them changes. */
static void test_copy_out_acked(void **state)
{
	establish_and_reference(5);
	drop();
	f.now += 10 * MSEC;
	sack(0, 1, 2);
	sctp_assoc_copy_out(f.a);
	assert_int_equal(u.fills, 5);
	forbid_all();
	assert_int_equal(f.a->inflight.gap_acked, 2);
	assert_int_equal(f.a->path->flight, 3 * (WHOLE + WIRE_SCTP_DATA_LEN));
	expire(SCTP_TIMER_T3);
	collect();
	expect(0, 0);
	sack(3, 0, 0);
	expect(3, 0);
	expect(4, 0);
	expect_no_more();
	sack(5, 0, 0);
	assert_int_equal(f.a->path->flight, 0);
	assert_int_equal(f.a->window.rwnd_outstanding, 0);
	assert_int_equal(f.a->inflight.gap_acked, 0);
}

/*
 * Memory becomes unreadable: all references are copied, and the packet is correct again. Of six
 * messages, two per packet, the n-th cannot be read.
 */
static void unreadable(unsigned int n)
{
	struct sctp_batch b;

	establish_wide();
	say(6, 3, 712, 700);
	u.fails = n + 1;
	b = output();
	assert_int_equal(b.segment, 1472);
	assert_int_equal((b.len + b.segment - 1) / b.segment, 3);
	/* This packet and earlier ones. */
	assert_int_equal(u.fills, n / 2 * 2 + 2);
	assert_int_equal(b.n_refs, 6 - u.fills);
	assert_int_equal(f.a->inflight.referenced, 6 - u.fills);
	for (unsigned int k = 0; k < u.fills; k++) {
		change(k, 1);
		forbid(k);
	}
	leave(&b);
	assert_int_equal(f.gaps, 6 - u.fills);
	expect_range(0, 6, 0);
	expect_no_more();
}

static void test_unreadable_first(void **state)
{
	unreadable(0);
}

static void test_unreadable_second(void **state)
{
	unreadable(1);
}

static void test_unreadable_behind(void **state)
{
	unreadable(2);
}

static void test_unreadable_last(void **state)
{
	unreadable(5);
}

/*
 * If the memory cannot be copied either, the user's substitute has the right checksum, and stays.
 */
static void test_poisoned(void **state)
{
	struct wire_sctp_data d = { 0 };
	const uint8_t *padding = NULL;

	establish_wide();
	say(1, 3, 714, 700);
	u.fails = 1;
	u.gone = true;
	forbid(0);
	send_said();
	for (unsigned int i = 0; i < 2; i++) {
		assert_true(next_data(&d, &padding));
		assert_int_equal(d.len, 714);
		assert_int_equal(d.data[0], byte_of(0, 0, HEAD) ^ 0xff);
		assert_int_equal(d.data[13], byte_of(0, 13, HEAD));
		for (unsigned int k = 14; k < 714; k++)
			assert_int_equal(d.data[k], 0);
		drop();
		expire(SCTP_TIMER_T3);
		collect();
	}
	assert_int_equal(u.fills, 1);
}

/* A batch that must wait keeps no gaps. */
static void test_keep(void **state)
{
	struct sctp_batch b;

	establish_and_reference(2);
	expect_range(0, 2, 0);
	say(4, 3, WHOLE, REFERENCED);
	b = output();
	assert_int_equal(b.n_refs, 4);
	sctp_batch_keep(f.a, &b);
	assert_int_equal(b.n_refs, 0);
	assert_int_equal(f.a->inflight.referenced, 2); /* references that were sent */
	for (unsigned int k = 2; k < 6; k++)
		forbid(k);
	leave(&b);
	expect_range(2, 6, 0);
	expect_no_more();
	assert_int_equal(f.gaps, 2);
	sack(2, 0, 0);
	expire(SCTP_TIMER_T3);
	collect();
	expect(2, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ZCOPY_TEST(test_gap),
		ZCOPY_TEST(test_may_reference),
		ZCOPY_TEST(test_many),
		ZCOPY_TEST(test_padding),
		ZCOPY_TEST(test_copy_out),
		ZCOPY_TEST(test_copy_out_within),
		ZCOPY_TEST(test_copy_out_acked),
		ZCOPY_TEST(test_unreadable_first),
		ZCOPY_TEST(test_unreadable_second),
		ZCOPY_TEST(test_unreadable_behind),
		ZCOPY_TEST(test_unreadable_last),
		ZCOPY_TEST(test_poisoned),
		ZCOPY_TEST(test_keep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
