/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* VALGRIND: yes */
/*
 * Several QPs with one SRQ, against scripted peers: the assignment of receives, and their return.
 */
#include "conformance/rows.h"
#include "fixture/iw_fixture.h"

#include "iwarp/rc.h"
#include "iwarp/srq.h"
#include "wire/session.h"
#include "fixture/iw_srq.h"

#include <pthread.h>
#include <sched.h>

static void limits(void **state)
{
	struct iw_qp_attr attr = { .max_send_wr = 1 };
	struct iw_pd *other;
	struct iw_srq *srq;
	struct iw_qp *qp;
	struct sx t;

	iw_srq_start(&t, 5, 1);
	assert_int_equal(iw_srq_new(t.x.pd, 0, 1, NULL, &srq), -EINVAL);
	assert_int_equal(iw_srq_new(t.x.pd, IW_MAX_SRQ_WR + 1, 1, NULL, &srq), -EINVAL);
	assert_int_equal(iw_srq_new(t.x.pd, 1, IW_MAX_SGE + 1, NULL, &srq), -EINVAL);
	assert_int_equal(iw_srq_free(t.srq), -EBUSY);
	assert_int_equal(t.end[0].qp->max_recv_sge, 2);
	assert_null(iw_rq_slot(t.end[0].qp));
	other = iw_pd_new(t.x.rnic, NULL);
	attr.pd = other;
	attr.send_cq = attr.recv_cq = t.x.cq;
	attr.srq = t.srq;
	assert_int_equal(iw_qp_new(t.x.iw, &attr, &qp), -EINVAL);
	assert_int_equal(iw_srq_new(other, 1, 0, NULL, &srq), 0);
	assert_int_equal(iw_pd_free(other), -EBUSY);
	assert_int_equal(iw_srq_free(srq), 0);
	assert_int_equal(iw_pd_free(other), 0);
	/* The requested number of receives can be posted again and again. */
	for (unsigned int round = 0; round < 7; round++) {
		iw_srq_post(&t, 5);
		assert_false(post_one(&t));
		for (uint32_t i = 0; i < 5; i++) {
			send_one(&t, 0, round * 5 + i + 1);
			iw_srq_expect(&t, 0, round * 5 + i, round * 5 + i + 1);
		}
	}
	iw_srq_stop(&t);
}

/* Receives are taken in the order of posting, by whichever QP gets a message. */
static void shared(void **state)
{
	struct sx t;

	iw_srq_start(&t, 16, 3);
	iw_srq_post(&t, 9);
	for (uint32_t msn = 1; msn <= 3; msn++)
		for (unsigned int i = 0; i < 3; i++)
			send_one(&t, i, msn);
	for (uint64_t id = 0; id < 9; id++)
		iw_srq_expect(&t, id % 3, id, (uint32_t)(id / 3 + 1));
	/* A message of two segments, with a message of another QP in between. */
	iw_srq_post(&t, 2);
	iw_srq_segment(&t, 0, 4, 0, false, 4, 12, 0);
	send_one(&t, 1, 4);
	iw_srq_expect(&t, 1, 10, 4);
	no_cqe(&t);
	iw_srq_segment(&t, 0, 4, 12, true, 4, 8, 0);
	iw_srq_expect(&t, 0, 9, 4);
	no_cqe(&t);
	iw_srq_stop(&t);
}

/*
 * Sends without receives are stored. Newly posted receives go to the QPs in turn, and no Send is
 * lost.
 */
static void held_in_turn(void **state)
{
	struct sx t;

	iw_srq_start(&t, 16, 3);
	for (uint32_t msn = 1; msn <= 4; msn++)
		send_one(&t, 0, msn);
	send_one(&t, 1, 1);
	iw_srq_segment(&t, 2, 1, 0, false, 33, 12, 0); /* not complete yet */
	no_cqe(&t);
	iw_srq_post(&t, 3);
	iw_srq_expect(&t, 0, 0, 1);
	iw_srq_expect(&t, 1, 1, 1);
	no_cqe(&t);
	iw_srq_segment(&t, 2, 1, 12, true, 33, 8, 0);
	iw_srq_expect(&t, 2, 2, 1);
	assert_true(iw_srq_awaited(t.srq));
	iw_srq_post(&t, 3);
	for (uint32_t msn = 2; msn <= 4; msn++)
		iw_srq_expect(&t, 0, msn + 1, msn);
	no_cqe(&t);
	assert_false(iw_srq_awaited(t.srq));
	assert_int_equal(iw_rc_of(t.end[0].qp)->rx.unexpected.bytes, 0);
	iw_srq_post(&t, 1);
	send_one(&t, 1, 2);
	iw_srq_expect(&t, 1, 6, 2);
	iw_srq_stop(&t);
}

/* The last segment of a message overtakes earlier messages: these get their receives first. */
static void overtaking(void **state)
{
	struct sx t;

	iw_srq_start(&t, 8, 1);
	iw_srq_post(&t, 2);
	iw_srq_segment(&t, 0, 3, 0, true, 3, 20, 2);
	no_cqe(&t);
	assert_int_equal(iw_rc_of(t.end[0].qp)->rx.taken, 2); /* and the third message is stored */
	send_one(&t, 0, 1);
	iw_srq_expect(&t, 0, 0, 1);
	send_one(&t, 0, 2);
	iw_srq_expect(&t, 0, 1, 2);
	t.end[0].ssn++;
	no_cqe(&t);
	iw_srq_post(&t, 1);
	iw_srq_expect(&t, 0, 2, 3);
	iw_srq_stop(&t);
}

/* A QP gets at most half of the receives for incomplete messages. Other QPs get the rest. */
static void unfinished_messages_are_bounded(void **state)
{
	ROWS("5041-8.3.2-07 5042-6.4.3.1-01 5042-6.4.3.1-02");
	struct iw_event ev;
	struct sx t;

	iw_srq_start(&t, 16, 2);
	iw_srq_post(&t, 16);
	assert_int_equal(iw_srq_arm(t.srq, 10), 0);
	for (uint32_t msn = 1; msn <= 30; msn++)
		iw_srq_segment(&t, 0, msn, 0, false, 1, 10, 0);
	assert_int_equal(iw_rc_of(t.end[0].qp)->rx.taken, 8);
	assert_int_equal(iw_rc_of(t.end[0].qp)->rx.unexpected.count, 22);
	/* The application gets the event before the receives are exhausted. */
	ev = fx_event(&t.x, IW_EVENT_SRQ_LIMIT);
	assert_ptr_equal(ev.srq, t.srq);
	fx_no_event(&t.x);
	for (uint32_t msn = 1; msn <= 8; msn++) {
		send_one(&t, 1, msn);
		iw_srq_expect(&t, 1, 7 + msn, msn);
	}
	send_one(&t, 1, 9);
	no_cqe(&t);
	/*
	 * Newly posted receives go to QPs that complete messages, not to the QP that stores many.
	 */
	iw_srq_post(&t, 1);
	iw_srq_expect(&t, 1, 16, 9);
	/* After the end of that QP all its receives return, except those of started messages. */
	assert_int_equal(iw_qp_modify(t.end[0].qp, IW_QPS_ERR), 0);
	for (uint64_t id = 0; id < 8; id++)
		expect_flushed(&t, 0, id, IW_WC_WR_FLUSH_ERR);
	no_cqe(&t);
	iw_srq_stop(&t);
}

/* The only QP of an SRQ may use all receives for its messages. */
static void alone(void **state)
{
	struct sx t;

	iw_srq_start(&t, 16, 1);
	iw_srq_post(&t, 16);
	for (uint32_t msn = 2; msn <= 16; msn++)
		iw_srq_segment(&t, 0, msn, 0, true, (uint8_t)msn, 20, (uint16_t)(msn - 1));
	assert_int_equal(iw_rc_of(t.end[0].qp)->rx.taken, 16);
	send_one(&t, 0, 1);
	for (uint32_t msn = 1; msn <= 16; msn++)
		iw_srq_expect(&t, 0, msn - 1, msn);
	iw_srq_stop(&t);
}

/* The last other QP leaves: the receives reserved for it can be taken now. */
static void partner_leaves(void **state)
{
	struct sx t;

	iw_srq_start(&t, 8, 2);
	iw_srq_post(&t, 4);
	for (uint32_t msn = 2; msn <= 4; msn++)
		iw_srq_segment(&t, 0, msn, 0, true, (uint8_t)msn, 20, (uint16_t)(msn - 1));
	assert_int_equal(iw_rc_of(t.end[0].qp)->rx.taken, 2);
	iw_qp_free(t.end[1].qp);
	t.end[1].qp = NULL;
	fx_event(&t.x, IW_EVENT_CLOSED);
	assert_int_equal(iw_rc_of(t.end[0].qp)->rx.taken, 4);
	iw_srq_stop(&t);
}

/*
 * A QP in error state: receives of started messages are flushed. The QP's other receives go to the
 * other QPs, in order.
 */
static void error(void **state)
{
	struct iw_event ev;
	struct sx t;

	iw_srq_start(&t, 16, 2);
	iw_srq_post(&t, 9);
	iw_srq_segment(&t, 0, 1, 0, false, 1, 10, 0);
	iw_srq_segment(&t, 0, 4, 0, true, 1, 10, 2); /* 2 and 3 are in flight */
	send_one(&t, 1, 1);
	iw_srq_expect(&t, 1, 4, 1);
	iw_srq_segment(&t, 0, 1, 10, true, 1, SLOT, 0); /* too long */
	expect_flushed(&t, 0, 0, IW_WC_LOC_LEN_ERR);
	expect_flushed(&t, 0, 3, IW_WC_WR_FLUSH_ERR);
	no_cqe(&t);
	select_end(&t, 0);
	ev = fx_event(&t.x, IW_EVENT_QP_REQUEST);
	assert_ptr_equal(ev.qp, t.end[0].qp);
	ev = fx_event(&t.x, IW_EVENT_QP_LAST_WQE);
	assert_ptr_equal(ev.qp, t.end[0].qp);
	fx_event(&t.x, IW_EVENT_CLOSED);
	fx_no_event(&t.x);
	send_one(&t, 0, 5); /* nobody receives it */
	no_cqe(&t);
	for (uint32_t msn = 2; msn <= 7; msn++) {
		static const uint64_t ids[] = { 1, 2, 5, 6, 7, 8 };

		send_one(&t, 1, msn);
		iw_srq_expect(&t, 1, ids[msn - 2], msn);
	}
	/* A QP that was reset, and moved to the error state again, raises the event again. */
	assert_int_equal(iw_qp_modify(t.end[0].qp, IW_QPS_RESET), 0);
	fx_no_event(&t.x);
	assert_int_equal(iw_qp_modify(t.end[0].qp, IW_QPS_ERR), 0);
	fx_event(&t.x, IW_EVENT_QP_LAST_WQE);
	fx_no_event(&t.x);
	iw_srq_stop(&t);
}

/*
 * Receives that return from a QP in error state serve waiting QPs, although no receive is posted.
 */
static void error_serves_others(void **state)
{
	struct sx t;

	iw_srq_start(&t, 4, 2);
	iw_srq_post(&t, 2);
	iw_srq_segment(&t, 0, 2, 0, true, 1, 10, 1); /* takes a receive, for the first message */
	send_one(&t, 1, 1);
	iw_srq_expect(&t, 1, 1, 1);
	send_one(&t, 1, 2);
	no_cqe(&t);
	assert_int_equal(iw_qp_modify(t.end[0].qp, IW_QPS_ERR), 0);
	fx_event(&t.x, IW_EVENT_QP_LAST_WQE);
	iw_srq_expect(&t, 1, 0, 2);
	no_cqe(&t);
	iw_srq_stop(&t);
}

/*
 * QPs that are reset or freed leave no completions. All receives that they took return to the front
 * of the queue.
 */
static void reset_and_free(void **state)
{
	for (int freed = 0; freed < 2; freed++) {
		struct sx t;

		iw_srq_start(&t, 8, 2);
		iw_srq_post(&t, 5);
		iw_srq_segment(&t, 0, 1, 0, false, 1, 10, 0);
		iw_srq_segment(&t, 0, 2, 0, false, 1, 10, 0);
		assert_int_equal(iw_rc_of(t.end[0].qp)->rx.taken, 2);
		if (freed) {
			iw_qp_free(t.end[0].qp);
			t.end[0].qp = NULL;
		} else {
			assert_int_equal(iw_qp_modify(t.end[0].qp, IW_QPS_RESET), 0);
		}
		no_cqe(&t);
		for (uint32_t msn = 1; msn <= 5; msn++) {
			send_one(&t, 1, msn);
			iw_srq_expect(&t, 1, msn - 1, msn);
		}
		no_cqe(&t);
		iw_srq_post(&t, 8);
		assert_false(post_one(&t));
		iw_srq_stop(&t);
	}
}

/* A QP that waits for receives is freed: newly posted receives go to the others. */
static void waiting_qp_goes(void **state)
{
	for (int how = 0; how < 3; how++) {
		struct sx t;

		iw_srq_start(&t, 8, 2);
		send_one(&t, 0, 1);
		send_one(&t, 1, 1);
		if (how == 0) {
			iw_qp_free(t.end[0].qp);
			t.end[0].qp = NULL;
		} else {
			iw_qp_modify(t.end[0].qp, how == 1 ? IW_QPS_RESET : IW_QPS_ERR);
		}
		iw_srq_post(&t, 1);
		iw_srq_expect(&t, 1, 0, 1);
		no_cqe(&t);
		iw_srq_stop(&t);
	}
}

/* The limit: each arming causes one event, when fewer receives are left, or a Send finds none. */
static void limit(void **state)
{
	struct sx t;

	iw_srq_start(&t, 8, 1);
	assert_int_equal(iw_srq_arm(t.srq, 9), -EINVAL);
	assert_int_equal(iw_srq_arm(t.srq, 3), 0); /* none is posted yet: no event */
	iw_srq_post(&t, 5);
	fx_no_event(&t.x);
	send_one(&t, 0, 1);
	send_one(&t, 0, 2);
	fx_no_event(&t.x); /* three are left */
	assert_int_equal(t.srq->limit, 3);
	send_one(&t, 0, 3);
	assert_ptr_equal(fx_event(&t.x, IW_EVENT_SRQ_LIMIT).srq, t.srq);
	assert_int_equal(t.srq->limit, 0);
	send_one(&t, 0, 4);
	send_one(&t, 0, 5);
	fx_no_event(&t.x); /* once */
	assert_int_equal(iw_srq_arm(t.srq, 1), 0);
	fx_no_event(&t.x);
	send_one(&t, 0, 6); /* finds none */
	fx_event(&t.x, IW_EVENT_SRQ_LIMIT);
	assert_int_equal(iw_srq_arm(t.srq, 1), 0); /* a Send waits already */
	fx_event(&t.x, IW_EVENT_SRQ_LIMIT);
	fx_no_event(&t.x);
	assert_int_equal(iw_srq_arm(t.srq, 4), 0);
	assert_int_equal(iw_srq_arm(t.srq, 0), 0); /* disarmed */
	fx_event(&t.x, IW_EVENT_SRQ_LIMIT);
	iw_srq_post(&t, 1);
	fx_no_event(&t.x);
	iw_srq_stop(&t);
}

static void resize(void **state)
{
	struct sx t;

	iw_srq_start(&t, 4, 1);
	iw_srq_post(&t, 4);
	iw_srq_segment(&t, 0, 1, 0, false, 1, 12, 0); /* incomplete meanwhile */
	assert_int_equal(iw_srq_resize(t.srq, 0), -EINVAL);
	assert_int_equal(iw_srq_resize(t.srq, IW_MAX_SRQ_WR + 1), -EINVAL);
	assert_int_equal(iw_srq_resize(t.srq, 3), -EINVAL); /* four are outstanding */
	assert_int_equal(iw_srq_resize(t.srq, 11), 0);
	iw_srq_post(&t, 7);
	assert_false(post_one(&t));
	iw_srq_segment(&t, 0, 1, 12, true, 1, 8, 0);
	iw_srq_expect(&t, 0, 0, 1);
	for (uint32_t msn = 2; msn <= 9; msn++) {
		send_one(&t, 0, msn);
		iw_srq_expect(&t, 0, msn - 1, msn);
	}
	assert_int_equal(iw_srq_arm(t.srq, 3), 0);
	assert_int_equal(iw_srq_resize(t.srq, 2), -EINVAL); /* below the limit */
	assert_int_equal(iw_srq_arm(t.srq, 0), 0);
	assert_int_equal(iw_srq_resize(t.srq, 2), 0);
	assert_false(post_one(&t));
	send_one(&t, 0, 10);
	iw_srq_expect(&t, 0, 9, 10);
	iw_srq_post(&t, 1);
	assert_false(post_one(&t));
	assert_int_equal(iw_srq_resize(t.srq, 6), 0);
	iw_srq_post(&t, 4);
	assert_false(post_one(&t));
	for (uint32_t msn = 11; msn <= 16; msn++) {
		send_one(&t, 0, msn);
		iw_srq_expect(&t, 0, msn - 1, msn);
	}
	iw_srq_stop(&t);
}

/* ---- two shards take from one queue while the program posts ---- */

#define TAKES 100000u

struct taker {
	struct iw_srq *srq;
	struct iw_shard *shard;
	_Atomic uint32_t *taken; /* by all shards */
	uint8_t *seen;		 /* by wr_id: number of final takes */
};

/* Returns each third receive, like a QP that is reset, and consumes the rest. */
static void *take_all(void *arg)
{
	const struct taker *t = arg;
	unsigned int n = 0;

	while (*t->taken < TAKES) {
		uint32_t slot = iw_srq_take(t->srq, t->shard, 0);
		const struct iw_recv_wqe *wqe;

		if (!slot) {
			sched_yield();
			continue;
		}
		if (++n % 3 == 0) {
			iw_srq_repost(t->srq, slot);
			continue;
		}
		wqe = (void *)(t->srq->slots + (size_t)(slot - 1) * t->srq->stride);
		t->seen[wqe->wr_id]++;
		iw_srq_give_back(t->srq, slot);
		iw_polled_free(&(struct iw_polled){ .at = &t->srq->polled, .counts = true }, 1);
		(*t->taken)++;
	}
	return NULL;
}

static void two_shards(void **state)
{
	_Atomic uint32_t taken = 0;
	struct taker takers[2];
	pthread_t thread[2];
	struct sx t;

	memset(&t, 0, sizeof(t));
	fx_start(&t.x, false);
	takers[0].shard = t.x.iw;
	takers[1].shard = iw_shard_new(t.x.rnic, &t.x.random.source);
	assert_int_equal(iw_srq_new(t.x.pd, 16, 2, NULL, &t.srq), 0);
	for (int i = 0; i < 2; i++) {
		takers[i].srq = t.srq;
		takers[i].taken = &taken;
		takers[i].seen = calloc(TAKES, 1);
		pthread_create(&thread[i], NULL, take_all, &takers[i]);
	}
	while (t.posted < TAKES)
		if (!post_one(&t))
			sched_yield();
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	for (unsigned int id = 0; id < TAKES; id++)
		assert_int_equal(takers[0].seen[id] + takers[1].seen[id], 1);
	assert_int_equal(iw_srq_left(t.srq), 0);
	for (int i = 0; i < 2; i++)
		free(takers[i].seen);
	assert_int_equal(iw_srq_free(t.srq), 0);
	iw_shard_free(takers[1].shard);
	fx_stop(&t.x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits),
		cmocka_unit_test(shared),
		cmocka_unit_test(held_in_turn),
		cmocka_unit_test(overtaking),
		cmocka_unit_test(unfinished_messages_are_bounded),
		cmocka_unit_test(alone),
		cmocka_unit_test(partner_leaves),
		cmocka_unit_test(error),
		cmocka_unit_test(error_serves_others),
		cmocka_unit_test(reset_and_free),
		cmocka_unit_test(waiting_qp_goes),
		cmocka_unit_test(limit),
		cmocka_unit_test(resize),
		cmocka_unit_test(two_shards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
