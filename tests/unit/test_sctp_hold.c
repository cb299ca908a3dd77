/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * The meaning of SACKs for the user (sctp/receipts.c), in both directions. An error here is a false
 * completion, or one that never comes.
 */
#include "fixture/sctp_paths.h"
#include "fixture/sctp_receipts_user.h"
#include "fixture/sctp_script.h"
#include "sctp/tx_build.h"

/* ---- local receipts: HOLD chunks with SACKs ---- */

#define SACK(n) "03 00 0010 P+" #n " ???????? 0000 0000"
#define HOLD(tsn) " / be 00 0008 " tsn
#define UNSENT " / be 01 0008 ????????"
#define OUT(tsn, fill) " / 00 ?? 0074 " tsn " 0003 0000 00000010 " fill "*100"

static void test_no_hold(void **state)
{
	script("> Dtag" PEER_DATA(0), "< Ptag / " SACK(0), "-");
	receipts_user_say(1, 0);
	script("< Ptag" OUT("D+0", "70"), "-", "> Dtag" PEER_DATA(1) PEER_DATA(2));
	receipts_user_say(1, 0);
	script("< Ptag / " SACK(2) OUT("D+1", "70"), "-");
}

/* A HOLD goes with the receipt, and with every SACK until the receipt has arrived. */
static void test_hold(void **state)
{
	script("> Dtag" PEER_DATA(0));
	drop_all();
	script("> Dtag" PEER_DATA(1));
	receipts_user_say(0, 1);
	script("< Ptag / " SACK(1) HOLD("D+0") OUT("D+0", "72"), "-");
	script("> Dtag" PEER_DATA(2), "> Dtag" PEER_DATA(3), "< Ptag / " SACK(3) HOLD("D+0"), "-");
	receipts_user_say(1, 0);
	script("< Ptag / " SACK(3) HOLD("D+0") OUT("D+1", "70"), "-");
	receipts_user_say(0, 1); /* the last receipt counts */
	script("< Ptag / " SACK(3) HOLD("D+2") OUT("D+2", "72"), "-");
	script("> Dtag / 03 00 0010 D+1 00100000 0000 0000", "> Dtag" PEER_DATA(4),
	       "> Dtag" PEER_DATA(5), "< Ptag / " SACK(5) HOLD("D+2"), "-");
	script("> Dtag / 03 00 0010 D+2 00100000 0000 0000", "> Dtag" PEER_DATA(6),
	       "> Dtag" PEER_DATA(7), "< Ptag / " SACK(7), "-");
	receipts_user_say(1, 0);
	script("< Ptag" OUT("D+3", "70"), "-");
}

/* While the receipt has no TSN, SACKs prove no placement. */
static void test_unsent(void **state)
{
	receipts_user.due = true;
	script("> Dtag" PEER_DATA(0), "< Ptag / " SACK(0) UNSENT, "-");
	script("> Dtag" PEER_DATA(1), "> Dtag" PEER_DATA(2), "< Ptag / " SACK(2) UNSENT, "-");
	receipts_user_say(1, 0);
	script("< Ptag / " SACK(2) UNSENT OUT("D+0", "70"), "-");
	receipts_user_say(0, 1);
	script("< Ptag / " SACK(2) HOLD("D+1") OUT("D+1", "72"), "-");
}

/* The receipt waits for the peer's window. Once the receipt leaves, a SACK goes with it. */
static void test_unsent_for_want_of_window(void **state)
{
	receipts_user_say(1, 0);
	script("drop", "> Dtag / 03 00 0010 D+0 00000000 0000 0000");
	receipts_user_say(0, 1);
	script("-", "> Dtag" PEER_DATA(0), "< Ptag / " SACK(0) UNSENT, "-");
	script("> Dtag / 03 00 0010 D+0 00010000 0000 0000",
	       "< Ptag / " SACK(0) HOLD("D+1") OUT("D+1", "72"), "-");
}

/*
 * Other messages fill the first packet, whose SACK proves nothing; the receipt is in the second
 * packet. Another SACK must follow, since the peer may never send DATA again.
 */
static void test_unsent_in_first_packet(void **state)
{
	struct packet *p;
	unsigned int holds = 0;

	script("> Dtag" PEER_DATA(0));
	drop_all();
	script("> Dtag" PEER_DATA(1));
	receipts_user.plain_first = true;
	receipts_user.plain_len = 1400;
	receipts_user_say(1, 1);
	p = take();
	assert_int_equal(sack_in(p, 0).cum, f.tsn + 1);
	assert_int_equal(chunk_of(p, 1, WIRE_SCTP_HOLD).flags, WIRE_SCTP_HOLD_UNSENT);
	while ((p = take())) {
		const uint8_t *q = p->data + WIRE_SCTP_COMMON_LEN;
		struct wire_sctp_chunk c;

		while (wire_sctp_chunk_next(&q, p->data + p->len, &c)) {
			if (c.type != WIRE_SCTP_HOLD)
				continue;
			holds++;
			assert_int_equal(c.flags, 0);
			assert_int_equal(get_be32(c.raw + 4), f.their_tsn + 1);
		}
	}
	assert_int_equal(holds, 1);
}

/* The user withdraws the receipt: the peer gets a SACK that counts. */
static void test_withdrawn(void **state)
{
	receipts_user.due = true;
	script("> Dtag" PEER_DATA(0), "< Ptag / " SACK(0) UNSENT, "-");
	receipts_user_doorbell();
	script("-");
	receipts_user.due = false;
	receipts_user_doorbell();
	script("< Ptag / " SACK(0), "-");
	receipts_user_doorbell();
	script("-");
	/* Withdrawn while a packet is built. */
	receipts_user.due = true;
	script("> Dtag" PEER_DATA(1), "> Dtag" PEER_DATA(2), "drop");
	receipts_user_say(0, 1);
	script("drop", "> Dtag / 03 00 0010 D+0 00100000 0000 0000");
	f.a->receipts.sent = false;
	assert_int_equal(sctp_receipts_hold_len(f.a), 0);
}

/* A HOLD planned for an unsent receipt, but no longer needed, has no effect. */
static void test_needless_hold(void **state)
{
	uint8_t chunk[8];

	receipts_user_say(1, 0);
	script("drop", "> Dtag / 03 00 0010 D+0 00100000 0000 0000");
	sctp_receipts_sack_sent(f.a, chunk, sizeof(chunk));
	assert_memory_equal(chunk, "\xbe\0\0\x08", 4);
	assert_int_equal(get_be32(chunk + 4), f.their_tsn); /* a TSN that the peer acknowledged */
}

/* A receipt that is retransmitted, or sent as a probe, is bundled with a SACK if there is room. */
static void test_resent_with_sack(void **state)
{
	unsigned int resent = 0;
	struct packet *p;

	script("> Dtag" PEER_DATA(0), "drop");
	receipts_user_say(0, 1);
	script("drop", "wait 3000");
	for (; (p = take()); resent++) {
		assert_int_equal(sack_in(p, 0).cum, f.tsn);
		assert_int_equal(get_be32(chunk_of(p, 1, WIRE_SCTP_HOLD).raw + 4), f.their_tsn);
		chunk_of(p, 2, WIRE_SCTP_DATA);
	}
	assert_true(resent >= 2);
	assert_true(f.s->stats.probes);
	/* A full packet is a probe without the SACK, and need not wait. */
	teardown(state);
	receipts_user_setup(state);
	script("> Dtag" PEER_DATA(0), "drop");
	receipts_user_say(0, 1);
	receipts_user.plain_len = 1444;
	receipts_user_say(1, 0);
	drop_all();
	while (!(p = take()) && f.now < 15 * SEC)
		wait_ns(10 * MSEC);
	assert_true(f.s->stats.probes && !f.s->stats.resent);
	assert_int_equal(get_be32(chunk_of(p, 0, WIRE_SCTP_DATA).raw + 4), f.their_tsn + 1);
}

/* A SACK to be bundled with DATA does not go with a HEARTBEAT, which is never bundled with DATA. */
static void test_not_with_heartbeat(void **state)
{
	struct packet *p;

	script("> Dtag" PEER_DATA(0), "drop");
	receipts_user_say(0, 1);
	drop_all();
	f.a->pending |= SCTP_PEND_HEARTBEAT;
	receipts_user_say(1, 0);
	p = take();
	chunk_of(p, 0, WIRE_SCTP_HEARTBEAT);
	assert_int_equal(chunks(p), 1);
	script("< Ptag / " SACK(0) HOLD("D+0") OUT("D+1", "70"), "-");
}

/* The SACK and its HOLD are sent together or not at all. */
static void test_no_room(void **state)
{
	static uint8_t packet[64];

	script("> Dtag" PEER_DATA(0), "drop");
	receipts_user.due = true;
	f.a->pending |= SCTP_PEND_SACK;
	for (size_t limit = WIRE_SCTP_COMMON_LEN; limit <= sizeof(packet); limit++) {
		struct sctp_tx tx = { .a = f.a, .path = f.a->path, .now = f.now };
		bool fits = limit >= WIRE_SCTP_COMMON_LEN + WIRE_SCTP_SACK_LEN + WIRE_SCTP_HOLD_LEN;

		assert_int_equal(sctp_tx_build(&tx, packet, limit), fits ? 36 : 0);
		assert_int_equal(!(f.a->pending & SCTP_PEND_SACK), fits);
		assert_int_equal(packet[28], fits ? WIRE_SCTP_HOLD : 0);
		f.a->pending |= SCTP_PEND_SACK;
	}
}

/* DATA from another address gets its SACK there (6.4), with its HOLD. */
static void test_other_path(void **state)
{
	const struct path_addr second = second_path();
	struct packet *p;

	receipts_user_start(1, 1);
	establish_two();
	p = to_second(10 * SEC);
	assert_non_null(p);
	answer_heartbeat(p, &second, 0);
	drop_all();
	for (unsigned int i = 0; i < 3; i++) {
		receipts_user.due = i == 1;
		begin();
		add_data(f.tsn + i);
		add_data(f.tsn + i);
		send_from(&second);
		p = take();
		assert_true(is_to(p, &second));
		assert_int_equal(sack_in(p, 0).cum, f.tsn + i);
		if (i == 1)
			assert_int_equal(chunk_of(p, 1, WIRE_SCTP_HOLD).flags,
					 WIRE_SCTP_HOLD_UNSENT);
		else
			assert_int_equal(chunks(p), 1);
		drop_all();
	}
	teardown(state);
}

/* The peer has a receipt, and then 2^31 other messages. */
static void test_long_ago(void **state)
{
	receipts_user_say(0, 1);
	script("drop", "> Dtag / 03 00 0010 D+0 00100000 0000 0000");
	receipts_user.awaited = 1;
	receipts_user_say(1, 0);
	script("drop", "> Dtag / 03 00 0010 D+1 00100000 0000 0000");
	f.a->out.cum += 0x80000100;
	f.a->out.next += 0x80000100;
	assert_int_equal(sctp_receipts_hold_len(f.a), 0);
	receipts_user_say(1, 0);
	assert_false(chunk_of(take(), 0, WIRE_SCTP_DATA).flags & WIRE_SCTP_DATA_I);
}

/* ---- receipts of the peer: SACKs on hold ---- */

#define PEER_SACK(n) "> Dtag / 03 00 0010 D+" #n " 00100000 0000 0000"
#define PEER_HOLD(n) " / be 00 0008 P+" #n

/* Ten messages were sent. */
static int setup_sent(void **state)
{
	receipts_user_setup(state);
	receipts_user_say(10, 0);
	drop_all();
	assert_int_equal(sctp_assoc_placed(f.a), 0);
	return 0;
}

#define SENT_TEST(name) cmocka_unit_test_setup_teardown(name, setup_sent, teardown)

static void expect_placed(uint32_t acked, uint32_t placed)
{
	assert_int_equal(sctp_assoc_acked(f.a), acked);
	assert_int_equal(sctp_assoc_placed(f.a), placed);
}

static void test_plain_sacks(void **state)
{
	script(PEER_SACK(0));
	expect_placed(1, 1);
	script(PEER_SACK(4));
	expect_placed(5, 5);
	script(PEER_SACK(2)); /* reordered */
	expect_placed(5, 5);
	assert_false(receipts_user_taken());
	/* Gap blocks do not count: placement has no gaps. */
	script("> Dtag / 03 00 0014 D+4 00100000 0001 0000 0002 0003");
	expect_placed(5, 5);
}

static void test_unsent_of_peer(void **state)
{
	static const char *const useless[] = {
		PEER_SACK(0) " / be 01 0008 P-1", /* the TSN field is ignored */
		PEER_SACK(1) " / be 03 0008 P-1",
		PEER_SACK(2) " / be 00 0004",
		PEER_SACK(3) " / be 00 0006 0000 0000",
		"> Dtag / be 01 0008 P+0 / 03 00 0010 D+4 00100000 0000 0000", /* in any order */
	};

	for (uint32_t i = 0; i < 5; i++) {
		script(useless[i]);
		expect_placed(i + 1, 0);
		assert_false(receipts_user_taken());
	}
	script("> Dtag" PEER_DATA(0) PEER_DATA(1) PEER_DATA(2));
	assert_false(receipts_user_taken());
	expect_placed(5, 0);
	script(PEER_SACK(4)); /* the same SACK again, which counts */
	expect_placed(5, 5);
}

static void test_released(void **state)
{
	script(PEER_SACK(3) PEER_HOLD(1));
	expect_placed(4, 0);
	assert_false(receipts_user_taken());
	script("> Dtag" PEER_DATA(0));
	assert_false(receipts_user_taken());
	expect_placed(4, 0);
	script("> Dtag" PEER_DATA(1));
	expect_placed(4, 0); /* the user has not taken the receipt yet */
	assert_true(receipts_user_taken());
	expect_placed(4, 4);
	assert_false(receipts_user_taken());
}

/* The receipt, the SACK and its HOLD come in one packet: the receipt is delivered first. */
static void test_in_one_packet(void **state)
{
	script(PEER_SACK(3) PEER_HOLD(0) PEER_DATA(0), "got 1");
	expect_placed(4, 0);
	assert_true(receipts_user_taken());
	expect_placed(4, 4);
}

/* The receipt came earlier, and the user has it: no later packet could release the SACK. */
static void test_receipt_was_first(void **state)
{
	script("> Dtag" PEER_DATA(0) PEER_DATA(1), PEER_SACK(3) PEER_HOLD(1));
	expect_placed(4, 4);
	script(PEER_SACK(5) PEER_HOLD(0));
	expect_placed(6, 6);
	/* DATA without a message for the user (an invalid stream) also releases a SACK. */
	script(PEER_SACK(6) PEER_HOLD(2));
	expect_placed(7, 6);
	script("> Dtag / 00 07 0011 P+2 7777 0000 00000010 77 000000", "got 0");
	expect_placed(7, 7);
}

/* The receipt arrives after a gap. */
static void test_receipt_behind_a_gap(void **state)
{
	script("> Dtag" PEER_DATA(1), PEER_SACK(3) PEER_HOLD(1));
	assert_false(receipts_user_taken());
	expect_placed(4, 0);
	script("> Dtag" PEER_DATA(0));
	assert_true(receipts_user_taken());
	expect_placed(4, 4);
}

/* The oldest SACK on hold is kept for progress, and the newest one for the rest. */
static void test_several_on_hold(void **state)
{
	script(PEER_SACK(1) PEER_HOLD(0), PEER_SACK(3) PEER_HOLD(1), PEER_SACK(5) PEER_HOLD(2),
	       PEER_SACK(7) PEER_HOLD(3));
	expect_placed(8, 0);
	script("> Dtag" PEER_DATA(0));
	assert_true(receipts_user_taken());
	expect_placed(8, 2);
	script("> Dtag" PEER_DATA(1) PEER_DATA(2));
	assert_false(receipts_user_taken()); /* these two SACKs were not kept */
	expect_placed(8, 2);
	script("> Dtag" PEER_DATA(3));
	assert_true(receipts_user_taken());
	expect_placed(8, 8);
}

/* A newer SACK replaces the released one; then both are released at once. */
static void test_on_hold_one_after_the_other(void **state)
{
	script(PEER_SACK(1) PEER_HOLD(0), PEER_SACK(3) PEER_HOLD(1), "> Dtag" PEER_DATA(0));
	assert_true(receipts_user_taken());
	expect_placed(4, 2);
	script(PEER_SACK(5) PEER_HOLD(2));
	script("> Dtag" PEER_DATA(1) PEER_DATA(2));
	assert_true(receipts_user_taken());
	expect_placed(6, 6);
}

/* Reordered SACKs, and SACKs with equal TSNs and different HOLDs. */
static void test_reordered_sacks(void **state)
{
	script(PEER_SACK(3) PEER_HOLD(1), PEER_SACK(2) PEER_HOLD(0), PEER_SACK(2));
	expect_placed(4, 0);
	script(PEER_SACK(3) PEER_HOLD(2)); /* equal cum: another receipt was sent meanwhile */
	script("> Dtag" PEER_DATA(0) PEER_DATA(1));
	assert_true(receipts_user_taken());
	expect_placed(4, 4);
	/* A SACK without a HOLD proves everything, even about SACKs on hold. */
	script(PEER_SACK(5) PEER_HOLD(5), PEER_SACK(6));
	expect_placed(7, 7);
	script("> Dtag" PEER_DATA(2) PEER_DATA(3) PEER_DATA(4) PEER_DATA(5));
	assert_false(receipts_user_taken());
	expect_placed(7, 7);
}

/* A HOLD without a SACK, or with an old one, has no effect. */
static void test_hold_alone(void **state)
{
	script("> Dtag / be 00 0008 P+0", PEER_SACK(3));
	expect_placed(4, 4);
	script(PEER_SACK(1) PEER_HOLD(9), PEER_SACK(5));
	expect_placed(6, 6);
	script("-");
}

/* ---- requests for a missing SACK ---- */

#define ASK "< Ptag / be 02 0008 00000000"

static void test_ask(void **state)
{
	script(PEER_SACK(9) " / be 01 0008 P+0", "wait 20", "-", "wait 200", ASK);
	drop_all();
	script("wait 60000");
	/* The interval grows: 25 ms doubled six times is 1.6 s. */
	assert_true(f.tail - f.head >= 30 && f.tail - f.head <= 50);
	drop_all();
	script(PEER_SACK(9));
	expect_placed(10, 10);
	script("wait 60000", "-");
	/* Later requests start with the first interval again. */
	receipts_user_say(1, 0);
	script("drop", PEER_SACK(10) " / be 01 0008 P+0", "wait 200", ASK, "drop");
}

/*
 * The newer of two SACKs proved nothing: once the older one is released, another SACK is requested.
 */
static void test_ask_behind_a_hold(void **state)
{
	script(PEER_SACK(4) PEER_HOLD(0), PEER_SACK(9) " / be 01 0008 P+0", "wait 1000", "-");
	script("> Dtag" PEER_DATA(0));
	assert_true(receipts_user_taken());
	expect_placed(10, 5);
	script("drop", "wait 3000", ASK, "drop", PEER_SACK(9));
	expect_placed(10, 10);
}

/* The answer to a request is an immediate SACK, with all that accompanies a SACK. */
static void test_asked(void **state)
{
	script("> Dtag" PEER_DATA(0), "drop", "> Dtag / be 02 0008 00000000", "< Ptag / " SACK(0),
	       "-");
	receipts_user.due = true;
	script("> Dtag / be 02 0008 00000000", "< Ptag / " SACK(0) UNSENT, "-");
	receipts_user_say(0, 1);
	script("drop", "> Dtag / be 02 0008 00000000", "< Ptag / " SACK(0) HOLD("D+0"), "-");
	script("> Dtag / 03 00 0010 D+0 00100000 0000 0000", "> Dtag / be 02 0008 00000000",
	       "< Ptag / " SACK(0), "-");
}

/* ---- the time of a SACK: the I bit (RFC 7053) ---- */

/* Returns the flags of the last DATA chunk that was sent. */
static uint8_t last_flags(void)
{
	uint8_t flags = 0;
	struct packet *p;

	while ((p = take())) {
		const uint8_t *q = p->data + WIRE_SCTP_COMMON_LEN;
		struct wire_sctp_chunk c;

		while (wire_sctp_chunk_next(&q, p->data + p->len, &c))
			if (c.type == WIRE_SCTP_DATA)
				flags = c.flags;
	}
	return flags;
}

/* A single packet requests its SACK if the user waits for the completion. */
static void test_awaited(void **state)
{
	receipts_user_say(1, 0);
	assert_false(last_flags() & WIRE_SCTP_DATA_I);
	script(PEER_SACK(0));
	receipts_user.awaited = 1;
	receipts_user_say(1, 0);
	assert_true(last_flags() & WIRE_SCTP_DATA_I);
	script(PEER_SACK(1));
	receipts_user_say(1, 0);
	assert_false(last_flags() & WIRE_SCTP_DATA_I);
	script(PEER_SACK(2));
	receipts_user.awaited = 1; /* the first of two in the packet */
	receipts_user_say(2, 0);
	assert_true(last_flags() & WIRE_SCTP_DATA_I);
	receipts_user_say(1, 0); /* the first is still awaited */
	assert_true(last_flags() & WIRE_SCTP_DATA_I);
	script(PEER_SACK(5));
	receipts_user_say(1, 0);
	assert_false(last_flags() & WIRE_SCTP_DATA_I);
}

#define ASKING(n) " / 00 0f 0011 P+" #n " 0001 0000 00000010 77 000000 "

/*
 * The SACK of a single packet waits for the user's messages, for a second packet, or until it is
 * flushed.
 */
static void test_lone_packet(void **state)
{
	f.busy = true;
	script("> Dtag" PEER_DATA(0), "drop", "> Dtag" ASKING(1), "-");
	assert_true(sctp_has_asked(f.s));
	sctp_flush_sacks(f.s);
	assert_false(sctp_has_asked(f.s));
	collect();
	script("< Ptag / " SACK(1), "-");
	sctp_flush_sacks(f.s);
	script("-", "> Dtag" ASKING(2), "-");
	receipts_user_say(1, 0);
	script("< Ptag / " SACK(2) OUT("D+0", "70"), "-", PEER_SACK(0));
	assert_false(sctp_has_asked(f.s));
	script("> Dtag" ASKING(3), "-", "> Dtag" PEER_DATA(4), "< Ptag / " SACK(4), "-");
	assert_false(sctp_has_asked(f.s));
	/* A packet without a request is not flushed: its SACK waits for the timer. */
	script("> Dtag" PEER_DATA(5), "-");
	assert_false(sctp_has_asked(f.s));
	sctp_flush_sacks(f.s);
	script("-", "wait 200", "< Ptag / " SACK(5), "-");
	/* The same packet without a flush: its SACK waits for the timer. */
	script("> Dtag" ASKING(6), "-", "wait 200", "< Ptag / " SACK(6), "-");
	assert_false(sctp_has_asked(f.s));
}

/* The association ends meanwhile. */
static void test_lone_packet_at_the_end(void **state)
{
	f.busy = true;
	script("> Dtag" PEER_DATA(0), "drop", "> Dtag" ASKING(1), "-");
	assert_true(sctp_has_asked(f.s));
	script("> Dtag / 06 00 0004", "state CLOSED");
	assert_false(sctp_has_asked(f.s));
	sctp_flush_sacks(f.s);
	script("-");
}

/* A receipt that can no longer be sent must not cause endless SACKs. */
static void test_shutting_down(void **state)
{
	unsigned int n = 0;

	f.a->path->health.proof = f.now; /* the peer is no stranger */
	sctp_assoc_shutdown(f.a, f.now);
	collect();
	while (take())
		;
	receipts_user.due = true;
	receipts_user_doorbell();
	script("> Dtag" PEER_DATA(0));
	while (take())
		n++;
	assert_in_range(n, 1, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		AGREED_TEST(test_no_hold),
		AGREED_TEST(test_hold),
		AGREED_TEST(test_unsent),
		AGREED_TEST(test_unsent_for_want_of_window),
		AGREED_TEST(test_unsent_in_first_packet),
		AGREED_TEST(test_withdrawn),
		AGREED_TEST(test_needless_hold),
		AGREED_TEST(test_resent_with_sack),
		AGREED_TEST(test_not_with_heartbeat),
		AGREED_TEST(test_no_room),
		cmocka_unit_test(test_other_path),
		AGREED_TEST(test_long_ago),
		SENT_TEST(test_plain_sacks),
		SENT_TEST(test_unsent_of_peer),
		SENT_TEST(test_released),
		SENT_TEST(test_in_one_packet),
		SENT_TEST(test_receipt_was_first),
		SENT_TEST(test_receipt_behind_a_gap),
		SENT_TEST(test_several_on_hold),
		SENT_TEST(test_on_hold_one_after_the_other),
		SENT_TEST(test_reordered_sacks),
		SENT_TEST(test_hold_alone),
		SENT_TEST(test_ask),
		SENT_TEST(test_ask_behind_a_hold),
		AGREED_TEST(test_asked),
		AGREED_TEST(test_awaited),
		AGREED_TEST(test_lone_packet),
		AGREED_TEST(test_lone_packet_at_the_end),
		AGREED_TEST(test_shutting_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
