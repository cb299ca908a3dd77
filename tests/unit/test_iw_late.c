/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* VALGRIND: yes */
/*
 * The time that a Send waits for its receive (iwarp/rc_rx.c). The time starts at the first segment
 * delivered without a receive, even if the peer cannot send the rest.
 */
#include "fixture/iw_receipts.h"
#include "fixture/iw_srq.h"

#define PATIENCE (IW_RNR_GRACE + 2 * IW_RNR_UNIT) /* for an rnr_retry_count of 2 */
#define NEVER UINT64_MAX

static void pass(struct fx *x, uint64_t ns)
{
	x->now += ns;
	iw_timers(x->iw, x->now);
	iw_set_now(x->iw, x->now);
}

/* Delivers a segment with 8 bytes of Send msn, which overtakes ahead messages. */
static void part(struct fx *x, uint32_t msn, uint32_t mo, bool last, uint16_t ahead)
{
	uint8_t m[64];

	fx_feed(x, SESSION_PPID_DDP, (uint16_t)(x->ssn + ahead), m,
		fx_make_untagged(m, last ? 0x41 : 0x01, 0x43, 0, 0, msn, mo, "segment", 8));
	if (!ahead)
		x->ssn++;
}

/* Expects a Terminate to the peer: segment mo of Send msn has no receive. */
static void expect_late(struct fx *x, uint32_t msn, uint32_t mo, bool last)
{
	uint8_t m[64];
	size_t n = fx_make_untagged(m, last ? 0x41 : 0x01, 0x43, 0, 0, msn, mo, "segment", 8);

	fx_expect_terminate(x, TERM_DDP_NO_BUFFER, m, n, NULL);
	fx_event(x, IW_EVENT_QP_REQUEST);
	fx_event(x, IW_EVENT_CLOSED);
}

static void first_segment(void **state)
{
	struct fx x;

	fx_passive(&x, 2, 2, 2);
	part(&x, 1, 0, false, 0);
	assert_true(iw_next_timeout(x.iw) == x.now + PATIENCE);
	pass(&x, PATIENCE - 1);
	assert_false(fx_pull(&x));
	pass(&x, 1);
	expect_late(&x, 1, 0, false);
	fx_stop(&x);
}

/* Neither another segment of the message nor a later message restarts the time. */
static void runs_on(void **state)
{
	struct fx x;

	fx_passive(&x, 2, 2, 2);
	part(&x, 1, 0, false, 0);
	pass(&x, IW_RNR_UNIT);
	part(&x, 1, 8, false, 0);
	pass(&x, IW_RNR_UNIT);
	part(&x, 1, 16, true, 0);
	part(&x, 2, 0, false, 0);
	pass(&x, IW_RNR_GRACE - 1);
	assert_false(fx_pull(&x));
	pass(&x, 1);
	expect_late(&x, 1, 16, true);
	fx_stop(&x);
}

/* Once it has a receive, a message may take any time to complete. */
static void in_time(void **state)
{
	struct fx x;

	fx_passive(&x, 2, 2, 2);
	part(&x, 1, 0, false, 0);
	pass(&x, PATIENCE - 1);
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	assert_true(iw_next_timeout(x.iw) == NEVER);
	pass(&x, 60 * SEC);
	part(&x, 1, 8, true, 0);
	fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
	assert_memory_equal(x.mem, "segment\0segment", 16);
	assert_true(iw_next_timeout(x.iw) == NEVER);
	/* The next message has its own time. The Terminate names the segment delivered last. */
	part(&x, 2, 0, false, 0);
	part(&x, 2, 8, false, 0);
	pass(&x, PATIENCE);
	expect_late(&x, 2, 8, false);
	fx_stop(&x);
}

/* A receive comes for the first of two Sends: the time of the second Send starts then. */
static void begins_anew(void **state)
{
	struct fx x;

	fx_passive(&x, 2, 2, 2);
	part(&x, 1, 0, true, 0);
	part(&x, 2, 0, false, 0);
	pass(&x, PATIENCE - 1);
	fx_post_recv(&x, 1, x.base, 8, x.stag);
	fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
	pass(&x, PATIENCE - 1);
	assert_false(fx_pull(&x));
	pass(&x, 1);
	expect_late(&x, 2, 0, false);
	fx_stop(&x);
}

/* The time of segments that came early starts once all earlier messages have arrived. */
static void not_before_its_turn(void **state)
{
	struct fx x;

	fx_passive(&x, 2, 2, 2);
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	part(&x, 2, 0, false, 2);
	part(&x, 2, 8, false, 3);
	part(&x, 1, 8, true, 1);
	assert_true(iw_next_timeout(x.iw) == NEVER);
	pass(&x, 60 * SEC);
	part(&x, 1, 0, false, 0);
	fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
	assert_true(iw_next_timeout(x.iw) == x.now + PATIENCE);
	x.ssn += 3;
	fx_post_recv(&x, 2, x.base, 24, x.stag);
	assert_true(iw_next_timeout(x.iw) == NEVER);
	part(&x, 2, 16, true, 0);
	fx_expect_cqe(&x, 2, IW_WC_SUCCESS);
	fx_stop(&x);
}

static void for_ever(void **state)
{
	struct fx x;

	fx_passive(&x, 2, 2, 7);
	part(&x, 1, 0, false, 0);
	assert_true(iw_next_timeout(x.iw) == NEVER);
	pass(&x, 24 * 3600 * SEC);
	assert_false(fx_pull(&x));
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	part(&x, 1, 8, true, 0);
	fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
	fx_stop(&x);
}

/* The count is set while a Send waits already. */
static void told_later(void **state)
{
	struct fx x;

	fx_passive(&x, 2, 2, 7);
	iw_session_set_rnr_retry(x.session, 2);
	assert_true(iw_next_timeout(x.iw) == NEVER);
	iw_session_set_rnr_retry(x.session, 7);
	part(&x, 1, 0, false, 0);
	iw_session_set_rnr_retry(x.session, 2);
	pass(&x, PATIENCE);
	expect_late(&x, 1, 0, false);
	fx_stop(&x);
}

/*
 * A receipt reports the missing receive from the first segment on. The final receipt ends there:
 * earlier Sends are complete, and this Send gets the status.
 */
static void receipts(void **state)
{
	struct rdmap_receipt r;
	struct fx x;

	receipts_start_rnr(&x, RECEIPTS_WINDOW, 0);
	receipts_post_recv(&x, 1, 8);
	part(&x, 1, 0, true, 0);
	fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
	part(&x, 2, 0, false, 0);
	r = receipts_out(&x);
	receipts_check(&r, false, 0, 2);
	pass(&x, IW_RNR_GRACE);
	r = receipts_out(&x);
	receipts_check(&r, true, x.ssn, 2);
	expect_late(&x, 2, 0, false);
	fx_stop(&x);
}

/* Each QP has its own time. The end of one QP does not affect the other. */
static void several_qps(void **state)
{
	struct fx x, y;

	receipts_start_rnr(&x, RECEIPTS_WINDOW, 2);
	receipts_more(&y, &x, 2); /* may wait without limit */
	part(&y, 1, 0, false, 0);
	receipts_out(&x);
	part(&x, 1, 0, false, 0);
	receipts_out(&x);
	pass(&x, PATIENCE);
	fx_event(&x, IW_EVENT_QP_REQUEST);
	assert_int_equal(iw_qp_state(x.qp), IW_QPS_ERR);
	assert_int_equal(iw_qp_state(y.qp), IW_QPS_RTS);
	fx_post_recv(&y, 7, y.base, 16, y.stag);
	part(&y, 1, 8, true, 0);
	fx_expect_cqe(&y, 7, IW_WC_SUCCESS);
	receipts_drop_events(&x);
	iw_qp_free(y.qp);
	fx_stop(&x);
}

/* ---- with an SRQ ---- */

/* The receives go to one QP. A part of a Send of the other QP is late. */
static void shared(void **state)
{
	struct sx t;

	start_rnr(&t, 8, 2, 2);
	iw_srq_post(&t, 1);
	iw_srq_segment(&t, 0, 1, 0, false, 1, 10, 0); /* has a receive, and unlimited time */
	iw_srq_segment(&t, 1, 1, 0, false, 1, 10, 0);
	assert_true(iw_next_timeout(t.x.iw) == t.x.now + PATIENCE);
	pass(&t.x, PATIENCE - 1);
	fx_no_event(&t.x);
	pass(&t.x, 1);
	fx_event(&t.x, IW_EVENT_QP_REQUEST);
	fx_event(&t.x, IW_EVENT_QP_LAST_WQE);
	fx_event(&t.x, IW_EVENT_CLOSED);
	assert_int_equal(iw_qp_state(t.end[1].qp), IW_QPS_ERR);
	pass(&t.x, 60 * SEC);
	iw_srq_segment(&t, 0, 1, 10, true, 1, 10, 0);
	assert_int_equal(fx_cqe(&t.x).status, IW_WC_SUCCESS);
	no_cqe(&t);
	iw_srq_stop(&t);
}

/* A receive comes in time. The next message is late. */
static void shared_in_time(void **state)
{
	struct sx t;

	start_rnr(&t, 8, 1, 2);
	iw_srq_segment(&t, 0, 1, 0, false, 1, 10, 0);
	pass(&t.x, PATIENCE - 1);
	iw_srq_post(&t, 1);
	assert_true(iw_next_timeout(t.x.iw) == NEVER);
	pass(&t.x, 60 * SEC);
	iw_srq_segment(&t, 0, 2, 0, false, 2, 10, 1); /* early */
	assert_true(iw_next_timeout(t.x.iw) == NEVER);
	iw_srq_segment(&t, 0, 1, 10, true, 1, 10, 0);
	assert_int_equal(fx_cqe(&t.x).status, IW_WC_SUCCESS);
	assert_true(iw_next_timeout(t.x.iw) == t.x.now + PATIENCE);
	t.end[0].ssn++;
	pass(&t.x, PATIENCE - 1);
	iw_srq_segment(&t, 0, 2, 10, true, 2, 10, 0); /* complete, but still late */
	pass(&t.x, 1);
	fx_event(&t.x, IW_EVENT_QP_REQUEST);
	fx_event(&t.x, IW_EVENT_QP_LAST_WQE);
	fx_event(&t.x, IW_EVENT_CLOSED);
	iw_srq_stop(&t);
}

/* Each receive restarts the time for the next message. */
static void shared_begins_anew(void **state)
{
	struct sx t;

	start_rnr(&t, 8, 1, 2);
	send_one(&t, 0, 1);
	iw_srq_segment(&t, 0, 2, 0, false, 2, 10, 0);
	pass(&t.x, PATIENCE - 1);
	iw_srq_post(&t, 1);
	iw_srq_expect(&t, 0, 0, 1);
	assert_true(iw_next_timeout(t.x.iw) == t.x.now + PATIENCE);
	iw_srq_post(&t, 1);
	assert_true(iw_next_timeout(t.x.iw) == NEVER);
	iw_srq_segment(&t, 0, 2, 10, true, 2, 10, 0);
	iw_srq_expect(&t, 0, 1, 2);
	iw_srq_stop(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_segment),
		cmocka_unit_test(runs_on),
		cmocka_unit_test(in_time),
		cmocka_unit_test(begins_anew),
		cmocka_unit_test(not_before_its_turn),
		cmocka_unit_test(for_ever),
		cmocka_unit_test(told_later),
		cmocka_unit_test(receipts),
		cmocka_unit_test(several_qps),
		cmocka_unit_test(shared),
		cmocka_unit_test(shared_in_time),
		cmocka_unit_test(shared_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
