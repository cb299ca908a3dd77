/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* Completions of Writes that come with the peer's answer (iwarp/answer.c). */
#include "fixture/iw_fixture.h"

#include "iwarp/mr.h"
#include "wire/session.h"

#define LEARNT 8 /* rounds */

static void start(struct fx *x)
{
	fx_passive(x, 4, 4, 7);
	x->cq->unnotified = true;
}

static bool waits(struct fx *x)
{
	return atomic_load(&x->cq->answer_due) != 0;
}

/*
 * The application polls until the completion has waited long enough, and then takes it without an
 * answer.
 */
static void give_up(struct fx *x)
{
	assert_true(waits(x));
	atomic_store(&x->cq->answer_due, 0);
	assert_int_equal(fx_cqe(x).opcode, IW_WC_RDMA_WRITE);
}

static void post_write(struct fx *x)
{
	fx_post(x, 1, IW_WR_RDMA_WRITE, x->base, 8, 0x1234, 0, 0);
}

static void write_out(struct fx *x)
{
	post_write(x);
	assert_true(fx_pull(x));
}

/* The completion is there at once. */
static void write_and_take(struct fx *x)
{
	write_out(x);
	assert_false(waits(x));
	assert_int_equal(fx_cqe(x).opcode, IW_WC_RDMA_WRITE);
}

static void answer(struct fx *x)
{
	fx_write(x, x->stag, x->base + 64, "answered", 8);
}

/* Each side takes its completion, and then watches its memory until the answer is there. */
static void in_turn(struct fx *x, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		write_out(x);
		if (!waits(x))
			assert_int_equal(fx_cqe(x).opcode, IW_WC_RDMA_WRITE);
		answer(x);
		assert_false(waits(x));
		if (!iw_cq_is_empty(x->cq))
			assert_int_equal(fx_cqe(x).opcode, IW_WC_RDMA_WRITE);
	}
}

static void start_learnt(struct fx *x)
{
	start(x);
	in_turn(x, 2 * LEARNT);
}

static void waits_for_the_answer(void **state)
{
	struct fx x;

	start(&x);
	for (int i = 0; i < LEARNT; i++) {
		write_and_take(&x);
		answer(&x);
	}
	for (int i = 0; i < 40; i++) {
		uint8_t part[64];

		iw_set_now(x.rnic, x.now += 1000);
		write_out(&x);
		assert_int_equal(atomic_load(&x.cq->answer_due), x.now + 50000 + 2 * 8);
		assert_int_equal(iw_cq_count(x.cq), 1);
		fx_feed(&x, 16, x.ssn++, part,
			fx_make_tagged(part, 0x81, 0x40, x.stag, x.base + 56, "the rest", 8));
		assert_true(waits(&x)); /* of a longer one */
		answer(&x);
		assert_false(waits(&x));
		assert_int_equal(fx_cqe(&x).status, IW_WC_SUCCESS);
	}
	fx_stop(&x);
}

/*
 * A Write that takes long, in many segments, has an answer that is as long; but the wait ends after
 * half a millisecond.
 */
static void waits_longer_for_a_long_answer(void **state)
{
	const struct {
		uint32_t len;
		uint64_t time;
	} cases[] = { { 0, 50000 },
		      { 6000, 62000 },
		      { 262144, 574288 },
		      { 262145, 574288 },
		      { 1 << 20, 574288 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct iw_send_wqe *w;
		struct iw_mr *zeros;
		struct fx x;

		start_learnt(&x);
		assert_int_equal(iw_mr_new_null(x.pd, NULL, &zeros), 0);
		w = fx_begin(&x, 1, IW_WR_RDMA_WRITE, 0, cases[i].len, 0x1234, 0, 0);
		w->sge[0].lkey = iw_mr_stag(zeros);
		fx_publish(&x);
		while (fx_pull(&x))
			;
		assert_int_equal(atomic_load(&x.cq->answer_due), x.now + cases[i].time);
		iw_mr_free(zeros);
		fx_stop(&x);
	}
}

static void not_where_events_tell_of_it(void **state)
{
	struct fx x;

	start(&x);
	x.cq->unnotified = false;
	in_turn(&x, 3 * LEARNT);
	write_out(&x);
	assert_false(waits(&x));
	fx_stop(&x);
}

/*
 * A completion may not wait if it is one Write of a burst, or if another completion is in the
 * queue.
 */
static void not_beside_others(void **state)
{
	struct fx x;

	start_learnt(&x);
	post_write(&x);
	post_write(&x);
	assert_true(fx_pull(&x));
	assert_false(waits(&x)); /* one is still to be sent */
	while (fx_pull(&x))
		;
	assert_false(waits(&x)); /* two entries */
	assert_int_equal(fx_cqe(&x).status, IW_WC_SUCCESS);
	assert_int_equal(fx_cqe(&x).status, IW_WC_SUCCESS);
	fx_stop(&x);

	start_learnt(&x);
	write_out(&x);
	assert_true(waits(&x));
	fx_post_recv(&x, 7, x.base, 64, x.stag);
	fx_send(&x, 1, "ahead", 5);
	assert_false(waits(&x)); /* what comes behind it must not wait */
	assert_int_equal(fx_cqe(&x).opcode, IW_WC_RDMA_WRITE);
	assert_int_equal(fx_cqe(&x).opcode, IW_WC_RECV);
	fx_stop(&x);
}

/* The completion of a Send does not wait, and none waits for long behind a failure. */
static void only_success(void **state)
{
	struct fx x;

	start_learnt(&x);
	fx_post(&x, 1, IW_WR_SEND, x.base, 8, 0, 0, 0);
	assert_true(fx_pull(&x));
	assert_false(waits(&x));
	fx_cqe(&x);
	post_write(&x);
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_ERR), 0);
	assert_false(waits(&x));
	assert_int_equal(fx_cqe(&x).status, IW_WC_WR_FLUSH_ERR);
	fx_stop(&x);

	start_learnt(&x);
	write_out(&x);
	assert_true(waits(&x));
	post_write(&x);
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_ERR), 0);
	assert_false(waits(&x));
	assert_int_equal(fx_cqe(&x).status, IW_WC_SUCCESS);
	assert_int_equal(fx_cqe(&x).status, IW_WC_WR_FLUSH_ERR);
	fx_stop(&x);
}

/* Answers that come late, or not at all, are waited for less and less often. */
static void unlearns(void **state)
{
	struct fx x;

	start(&x);
	for (int rounds = LEARNT; rounds <= 8 * LEARNT; rounds *= 2) {
		for (int i = 0; i < rounds; i++) {
			write_and_take(&x);
			answer(&x);
		}
		write_out(&x);
		give_up(&x);
		answer(&x); /* late */
	}
	/* After one answer in time, eight rounds are enough again. */
	in_turn(&x, 16 * LEARNT);
	write_out(&x);
	assert_true(waits(&x));
	answer(&x);
	fx_cqe(&x);
	for (int miss = 0; miss < 2; miss++) { /* who has waited well misses one */
		write_out(&x);
		give_up(&x);
	}
	write_and_take(&x);
	answer(&x);
	in_turn(&x, 2 * LEARNT - 1);
	write_out(&x);
	assert_true(waits(&x));
	fx_stop(&x);
}

/* A QP whose completions wait goes on to do so if the peer writes more than once for an answer. */
static void answers_in_two_parts(void **state)
{
	struct fx x;

	start_learnt(&x);
	for (int i = 0; i < 40; i++) {
		write_out(&x);
		assert_true(waits(&x));
		answer(&x);
		fx_cqe(&x);
		answer(&x);
	}
	fx_stop(&x);
}

/*
 * Writes of the peer that are no answers: nothing was asked, or there is more to send, or a
 * completion has not been taken.
 */
static void what_is_no_answer(void **state)
{
	struct fx x;

	start(&x);
	for (int i = 0; i < 4 * LEARNT; i++) {
		write_and_take(&x);
		answer(&x);
		answer(&x);
	}
	for (int i = 0; i < 4 * LEARNT; i++) {
		write_out(&x);
		assert_false(waits(&x));
		answer(&x); /* our completion has not been taken */
		fx_cqe(&x);
	}
	for (int i = 0; i < 4 * LEARNT; i++) {
		post_write(&x);
		post_write(&x);
		assert_true(fx_pull(&x));
		fx_cqe(&x);
		answer(&x); /* one is still to be sent */
		assert_true(fx_pull(&x));
		assert_false(waits(&x));
		fx_cqe(&x);
	}
	write_out(&x);
	assert_false(waits(&x));
	fx_stop(&x);
}

/* A QP with a new session has forgotten what it learned about the peer of the old one. */
static void begins_anew(void **state)
{
	struct fx x;
	struct iw_session_param p = { .ird = 4, .ord = 4, .rnr_retry_count = 7 };
	struct iw_event ev;

	start_learnt(&x);
	iw_session_close(x.session);
	while (iw_next_event(x.rnic, &ev))
		;
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_RESET), 0);
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_INIT), 0);
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_RTR), 0);
	x.sid += 2;
	x.ssn = 0;
	fx_control(&x, SESSION_INITIATE, NULL, 0);
	ev = fx_event(&x, IW_EVENT_INITIATE);
	assert_int_equal(iw_session_accept(ev.session, x.qp, &p), 0);
	while (fx_pull(&x))
		;
	x.acked = 1000;
	write_and_take(&x);
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_for_the_answer),
		cmocka_unit_test(waits_longer_for_a_long_answer),
		cmocka_unit_test(not_where_events_tell_of_it),
		cmocka_unit_test(not_beside_others),
		cmocka_unit_test(only_success),
		cmocka_unit_test(unlearns),
		cmocka_unit_test(answers_in_two_parts),
		cmocka_unit_test(what_is_no_answer),
		cmocka_unit_test(begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
