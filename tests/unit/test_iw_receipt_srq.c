/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* Receipts of QPs with an SRQ (iwarp/receipt.c, iwarp/rc_srq.c). */
#include "fixture/iw_receipts.h"
#include "fixture/iw_srq.h"

/*
 * The next message is a receipt of end i: Sends from msn on have no receive. 0: all Sends have a
 * receive.
 */
static void expect_waiting(struct sx *t, unsigned int i, uint32_t msn)
{
	struct rdmap_receipt r;

	assert_true(receipts_owed(&t->x));
	r = receipts_out(&t->x);
	assert_int_equal(t->x.msg.sid, t->end[i].sid);
	receipts_check(&r, false, 0, msn);
}

static void expect_final(struct sx *t, unsigned int i, uint16_t ssn, uint32_t msn)
{
	struct rdmap_receipt r;

	assert_true(receipts_owed(&t->x));
	r = receipts_out(&t->x);
	assert_int_equal(t->x.msg.sid, t->end[i].sid);
	receipts_check(&r, true, ssn, msn);
}

static void expect_nothing(struct sx *t)
{
	assert_false(receipts_owed(&t->x));
	assert_false(fx_pull(&t->x));
}

static void nothing_owed(void **state)
{
	struct sx t;

	start_receipts(&t, 8, 2, 7);
	iw_srq_post(&t, 3);
	send_one(&t, 0, 1);
	send_one(&t, 1, 1);
	send_one(&t, 0, 2);
	expect_nothing(&t);
	iw_srq_stop(&t);
}

/* Receives go to the QPs in turn, and each peer gets a receipt about its own. */
static void in_turn(void **state)
{
	struct sx t;

	start_receipts(&t, 8, 2, 7);
	send_one(&t, 0, 1);
	expect_waiting(&t, 0, 1);
	send_one(&t, 1, 1);
	expect_waiting(&t, 1, 1);
	send_one(&t, 0, 2);
	expect_nothing(&t);
	iw_srq_post(&t, 1);
	expect_waiting(&t, 0, 2);
	expect_nothing(&t);
	iw_srq_post(&t, 1);
	expect_waiting(&t, 1, 0);
	expect_nothing(&t);
	iw_srq_post(&t, 1);
	expect_waiting(&t, 0, 0);
	expect_nothing(&t);
	iw_srq_expect(&t, 0, 0, 1);
	iw_srq_expect(&t, 1, 1, 1);
	iw_srq_expect(&t, 0, 2, 2);
	iw_srq_stop(&t);
}

/*
 * A later message came first, so a receive is reserved for a missing message. Receipts do not wait
 * for the missing message.
 */
static void taken_for_an_earlier_one(void **state)
{
	struct sx t;

	start_receipts(&t, 8, 1, 7);
	iw_srq_segment(&t, 0, 2, 0, true, 2, 20, 1);
	expect_waiting(&t, 0, 1);
	iw_srq_post(&t, 1);
	expect_waiting(&t, 0, 2);
	send_one(&t, 0, 1);
	iw_srq_expect(&t, 0, 0, 1);
	expect_nothing(&t);
	t.end[0].ssn++;
	iw_srq_post(&t, 1);
	expect_waiting(&t, 0, 0);
	iw_srq_expect(&t, 0, 1, 2);
	/* Two receives at once: both are taken, and the receipt includes the second one. */
	iw_srq_segment(&t, 0, 5, 0, true, 5, 20, 2);
	expect_waiting(&t, 0, 3);
	iw_srq_post(&t, 2);
	expect_waiting(&t, 0, 5);
	send_one(&t, 0, 3);
	send_one(&t, 0, 4);
	expect_nothing(&t);
	iw_srq_expect(&t, 0, 2, 3);
	iw_srq_expect(&t, 0, 3, 4);
	iw_srq_stop(&t);
}

/*
 * Many messages, of which the first are incomplete. No QP gets all receives, and each keeps those
 * that it gets.
 */
static void unfinished(void **state)
{
	struct sx t;

	start_receipts(&t, 8, 2, 7);
	iw_srq_post(&t, 4);
	for (uint32_t msn = 1; msn <= 4; msn++)
		iw_srq_segment(&t, 0, msn, 0, msn > 1, (uint8_t)msn, msn > 1 ? 20 : 10,
			       (uint16_t)(msn - 1));
	expect_waiting(&t, 0, 3); /* the QP has two, and two are left */
	expect_nothing(&t);
	no_cqe(&t);
	iw_srq_segment(&t, 0, 1, 10, true, 1, 10, 0);
	for (uint32_t msn = 1; msn <= 4; msn++)
		iw_srq_expect(&t, 0, msn - 1, msn);
	expect_waiting(&t, 0, 0);
	expect_nothing(&t);
	iw_srq_stop(&t);
}

/* A stored message does not fit, or its completion is lost: it is not in a receive. */
static void does_not_fit(void **state)
{
	for (unsigned int lost = 0; lost < 2; lost++) {
		struct sx t;

		start_receipts(&t, 8, 1, 7);
		if (lost)
			t.x.cq->limit = 1;
		send_one(&t, 0, 1);
		iw_srq_segment(&t, 0, 2, 0, true, 1, lost ? 20 : SLOT + 1, 0);
		send_one(&t, 0, 3);
		expect_waiting(&t, 0, 1);
		iw_srq_post(&t, 1);
		expect_waiting(&t, 0, 2);
		iw_srq_post(&t, 2);
		expect_final(&t, 0, 4, 2);
		iw_srq_stop(&t);
	}
}

static void send_inv(struct sx *t, uint32_t msn)
{
	uint8_t m[64];

	select_end(t, 0);
	fx_feed(&t->x, SESSION_PPID_DDP, t->x.ssn++, m,
		fx_make_untagged(m, 0x41, 0x44, 0xbad, 0, msn, 0, "12345", 5));
	deselect(t, 0);
}

/* The message is complete and has its receive, but the STag to invalidate does not exist. */
static void invalidates_nothing(void **state)
{
	for (unsigned int late = 0; late < 2; late++) {
		struct sx t;

		start_receipts(&t, 8, 1, 7);
		iw_srq_post(&t, late ? 1 : 2);
		send_one(&t, 0, 1);
		send_inv(&t, 2);
		if (late) {
			expect_waiting(&t, 0, 2);
			iw_srq_post(&t, 1);
		}
		expect_final(&t, 0, late ? 3 : 2, 2);
		iw_srq_stop(&t);
	}
}

/* A session ends in any way: receives taken for its messages are free again. */
static void ends(void **state)
{
	enum { BY_CLOSE, BY_ERROR, BY_RESET, BY_FAILURE, WAYS };

	for (unsigned int way = 0; way < WAYS; way++) {
		struct sx t;

		start_receipts(&t, 8, 2, 7);
		iw_srq_post(&t, 1);
		send_one(&t, 0, 1);
		send_one(&t, 0, 2);
		send_one(&t, 1, 1);
		switch (way) {
		case BY_CLOSE:
			iw_session_close(t.end[0].session);
			break;
		case BY_ERROR:
			assert_int_equal(iw_qp_modify(t.end[0].qp, IW_QPS_ERR), 0);
			break;
		case BY_RESET:
			assert_int_equal(iw_qp_modify(t.end[0].qp, IW_QPS_RESET), 0);
			break;
		default:
			select_end(&t, 0);
			fx_write(&t.x, 0xbad, 0, "x", 1);
			deselect(&t, 0);
		}
		expect_final(&t, 0, 3, 2);
		expect_waiting(&t, 1, 1);
		t.x.acked = t.x.assoc->pulled;
		while (fx_pull(&t.x)) {
			assert_int_equal(t.x.msg.sid, t.end[0].sid);
			t.x.acked = t.x.assoc->pulled;
		}
		assert_false(receipts_owed(&t.x));
		iw_srq_post(&t, 1);
		expect_waiting(&t, 1, 0);
		expect_nothing(&t);
		iw_srq_stop(&t);
	}
}

static void no_receive_in_time(void **state)
{
	struct sx t;

	start_receipts(&t, 8, 1, 1);
	send_one(&t, 0, 1);
	expect_waiting(&t, 0, 1);
	t.x.now = iw_next_timeout(t.x.iw);
	iw_timers(t.x.iw, t.x.now);
	expect_final(&t, 0, 2, 1);
	iw_srq_stop(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_owed),
		cmocka_unit_test(in_turn),
		cmocka_unit_test(taken_for_an_earlier_one),
		cmocka_unit_test(unfinished),
		cmocka_unit_test(does_not_fit),
		cmocka_unit_test(invalidates_nothing),
		cmocka_unit_test(ends),
		cmocka_unit_test(no_receive_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
