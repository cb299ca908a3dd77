/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
#include "conformance/rows.h"
#include "fixture/iw_fixture.h"

#include <pthread.h>

#include "iwarp/cq.h"

static bool push_from(struct iw_shard *shard, struct iw_cq *cq, uint64_t wr_id, uint32_t qp_num,
		      bool solicited)
{
	struct iw_cqe cqe = { .wr_id = wr_id, .qp_num = qp_num, .polled = fx_no_slot() };

	return iw_cq_push(cq, shard, &cqe, solicited);
}

static bool push(struct iw_cq *cq, uint64_t wr_id, uint32_t qp_num, bool solicited)
{
	return push_from(cq->shard, cq, wr_id, qp_num, solicited);
}

static void poll_in_order_and_overflow(void **state)
{
	struct iw_cqe out[8];
	struct iw_cq *cq;
	struct fx x;

	fx_start(&x, false);
	cq = iw_cq_new(x.iw, 5, NULL);
	for (unsigned int round = 0; round < 10; round++) {
		for (unsigned int i = 0; i < 5; i++)
			assert_true(push(cq, round * 5 + i, 1, false));
		assert_int_equal(iw_cq_poll(cq, 3, out), 3);
		assert_int_equal(iw_cq_poll(cq, 8, out + 3), 2);
		for (unsigned int i = 0; i < 5; i++)
			assert_int_equal(out[i].wr_id, round * 5 + i);
		assert_true(iw_cq_is_empty(cq));
	}
	for (unsigned int i = 0; i < 5; i++)
		assert_true(push(cq, i, 1, false));
	fx_no_event(&x);
	assert_false(push(cq, 5, 1, false));
	assert_false(push(cq, 6, 1, false));
	assert_ptr_equal(fx_event(&x, IW_EVENT_CQ_ERROR).cq, cq);
	fx_no_event(&x); /* once */
	assert_int_equal(iw_cq_poll(cq, 8, out), 5);
	assert_int_equal(iw_cq_free(cq), 0);
	assert_null(iw_cq_new(x.iw, 0, NULL));
	assert_null(iw_cq_new(x.iw, IW_MAX_CQE + 1, NULL));
	fx_stop(&x);
}

static void resize_and_purge(void **state)
{
	struct iw_cqe out[32];
	struct fx x;

	fx_start(&x, false);
	for (unsigned int i = 0; i < 20; i++)
		assert_true(push(x.cq, i, i % 3, false));
	assert_int_equal(iw_cq_resize(x.cq, 19), -EINVAL);
	assert_int_equal(iw_cq_resize(x.cq, 20), 0);
	assert_int_equal(x.cq->limit, 20);
	iw_cq_purge(x.cq, &(struct iw_qp){ .num = 1 });
	assert_int_equal(iw_cq_resize(x.cq, 1000), 0);
	for (unsigned int i = 20; i < 25; i++)
		assert_true(push(x.cq, i, 0, false));
	assert_int_equal(iw_cq_poll(x.cq, 32, out), 18);
	for (unsigned int i = 0, id = 0; i < 18; i++, id++) {
		while (id < 20 && id % 3 == 1)
			id++;
		assert_int_equal(out[i].wr_id, id);
	}
	fx_stop(&x);
}

static void arming(void **state)
{
	ROWS("5040-5.3-06");
	struct iw_cq *cq;
	struct fx x;

	fx_start(&x, false);
	cq = x.cq;
	push(cq, 1, 1, true);
	assert_null(iw_next_notify(x.iw)); /* not armed */
	iw_cq_arm(cq, false);
	assert_null(iw_next_notify(x.iw)); /* nothing new */
	push(cq, 2, 1, false);
	push(cq, 3, 1, false);
	assert_ptr_equal(iw_next_notify(x.iw), cq);
	assert_null(iw_next_notify(x.iw));
	push(cq, 4, 1, false);
	assert_null(iw_next_notify(x.iw)); /* one arm, one notification */

	iw_cq_arm(cq, true);
	push(cq, 5, 1, false);
	assert_null(iw_next_notify(x.iw));
	push(cq, 6, 1, true);
	assert_ptr_equal(iw_next_notify(x.iw), cq);

	iw_cq_arm(cq, false);
	iw_cq_arm(cq, true); /* does not cancel the wider request */
	push(cq, 7, 1, false);
	assert_ptr_equal(iw_next_notify(x.iw), cq);
	fx_stop(&x);
}

static void several_cqs_and_free(void **state)
{
	struct iw_cq *a, *b;
	struct fx x;

	fx_start(&x, false);
	a = iw_cq_new(x.iw, 4, NULL);
	b = iw_cq_new(x.iw, 4, NULL);
	iw_cq_arm(a, false);
	iw_cq_arm(b, false);
	iw_cq_arm(x.cq, false);
	push(a, 1, 1, false);
	push(b, 1, 1, false);
	push(x.cq, 1, 1, false);
	iw_cq_free(b);
	assert_ptr_equal(iw_next_notify(x.iw), a);
	assert_ptr_equal(iw_next_notify(x.iw), x.cq);
	assert_null(iw_next_notify(x.iw));
	push(a, 1, 1, false);
	iw_cq_free(a);
	push(x.cq, 1, 1, false);
	assert_null(iw_next_notify(x.iw));
	fx_stop(&x);
}

/*
 * Moderation: an event that is due waits for the set number of completions, or the end of the
 * period.
 */
static void moderation(void **state)
{
	struct iw_cq *cq;
	struct fx x;

	fx_start(&x, false);
	cq = x.cq;
	assert_int_equal(iw_cq_moderate(cq, 3, 1000), 0);
	push(cq, 0, 1, false); /* before arming: not counted */
	assert_null(iw_next_notify(x.iw));
	iw_cq_arm(cq, false);
	push(cq, 1, 1, false);
	push(cq, 2, 1, false);
	assert_null(iw_next_notify(x.iw));
	assert_int_equal(iw_next_timeout(x.iw), x.now + 1000);
	push(cq, 3, 1, false);
	assert_ptr_equal(iw_next_notify(x.iw), cq);
	assert_int_equal(iw_next_timeout(x.iw), UINT64_MAX);

	/* The period starts with the first completion for which an event is due. */
	for (int solicited = 0; solicited < 2; solicited++) {
		uint64_t due;

		iw_cq_arm(cq, solicited);
		push(cq, 4, 1, solicited);
		assert_null(iw_next_notify(x.iw));
		due = x.now + 1000;
		iw_set_now(x.iw, x.now += 600);
		push(cq, 5, 1, false);
		assert_null(iw_next_notify(x.iw));
		iw_timers(x.iw, due - 1);
		assert_null(iw_next_notify(x.iw));
		iw_timers(x.iw, x.now = due);
		assert_ptr_equal(iw_next_notify(x.iw), cq);
		assert_null(iw_next_notify(x.iw));
	}

	/* Switching moderation off delivers the waiting event. */
	iw_cq_arm(cq, false);
	push(cq, 6, 1, false);
	assert_null(iw_next_notify(x.iw));
	assert_int_equal(iw_cq_moderate(cq, 3, 0), 0);
	assert_ptr_equal(iw_next_notify(x.iw), cq);
	iw_cq_arm(cq, false);
	push(cq, 7, 1, false);
	assert_ptr_equal(iw_next_notify(x.iw), cq);

	/* A CQ may be freed while its event waits. */
	cq = iw_cq_new(x.iw, 4, NULL);
	assert_int_equal(iw_cq_moderate(cq, 2, 1000), 0);
	iw_cq_arm(cq, false);
	push(cq, 8, 1, false);
	assert_null(iw_next_notify(x.iw));
	assert_int_equal(iw_cq_free(cq), 0);
	iw_timers(x.iw, x.now + 5000);
	assert_null(iw_next_notify(x.iw));
	fx_stop(&x);
}

/* Time stamps stay with their entries while the ring is resized or purged. */
static void time_stamps(void **state)
{
	struct iw_cqe cqe;
	struct fx x;

	fx_start(&x, false);
	assert_int_equal(iw_cq_stamp(x.cq), 0);
	for (unsigned int i = 0; i < 200; i++) {
		iw_set_now(x.iw, 5000 + i);
		assert_true(push(x.cq, i, i % 3, false));
	}
	iw_cq_purge(x.cq, &(struct iw_qp){ .num = 1 });
	assert_int_equal(iw_cq_resize(x.cq, 1000), 0);
	for (unsigned int i = 0; i < 200; i++) {
		uint32_t head = atomic_load(&x.cq->head);

		if (i % 3 == 1)
			continue;
		assert_int_equal(x.cq->stamps[head & x.cq->mask], 5000 + i);
		assert_int_equal(iw_cq_poll(x.cq, 1, &cqe), 1);
		assert_int_equal(cqe.wr_id, i);
	}
	fx_stop(&x);
}

/* A consumer that arms, polls again, and then sleeps never misses the last completion. */
struct race {
	struct iw_cq *cq;
	unsigned int total;
	_Atomic unsigned int notifications;
	_Atomic bool failed;
};

static void *consumer(void *arg)
{
	struct race *r = arg;
	unsigned int got = 0, seen = 0, spins = 0;
	struct iw_cqe cqe[4];

	while (got < r->total) {
		unsigned int n = iw_cq_poll(r->cq, 4, cqe);

		for (unsigned int i = 0; i < n; i++)
			if (cqe[i].wr_id != got + i)
				r->failed = true;
		got += n;
		if (n)
			continue;
		iw_cq_arm(r->cq, false);
		if (!iw_cq_is_empty(r->cq))
			continue;
		for (spins = 0; r->notifications == seen; spins++) {
			sched_yield();
			if (spins > 20000000) {
				r->failed = true;
				return NULL;
			}
		}
		seen = r->notifications;
	}
	return NULL;
}

static void arm_races_with_completions(void **state)
{
	struct race r = { .total = 100000 };
	pthread_t thread;
	struct fx x;

	fx_start(&x, false);
	r.cq = x.cq;
	pthread_create(&thread, NULL, consumer, &r);
	for (unsigned int i = 0; i < r.total;) {
		uint32_t head = atomic_load_explicit(&x.cq->head, memory_order_acquire);

		if (atomic_load(&x.cq->tail) - head < x.cq->limit) {
			push(x.cq, i++, 1, false);
			while (iw_next_notify(x.iw))
				r.notifications++;
		} else {
			sched_yield();
		}
		if (r.failed)
			break;
	}
	pthread_join(thread, NULL);
	assert_false(r.failed);
	fx_stop(&x);
}

/* Two shards complete on one CQ, each in its own thread, and no completion is lost. */
struct two {
	struct iw_cq *cq;
	unsigned int total; /* completions of each shard */
	_Atomic unsigned int notifications;
	_Atomic unsigned int got;
	_Atomic bool stop;
};

struct shard_thread {
	struct two *two;
	struct iw_shard *shard;
	uint32_t qp_num;
};

static void *complete(void *arg)
{
	const struct shard_thread *t = arg;
	unsigned int done = 0;

	while (done < t->two->total && !t->two->stop) {
		/* The producer is limited, so that the ring never overruns. */
		if (2 * done > t->two->got + 64) {
			sched_yield();
			continue;
		}
		if (!push_from(t->shard, t->two->cq, done, t->qp_num, false))
			t->two->stop = true;
		done++;
		while (iw_next_notify(t->shard))
			t->two->notifications++;
	}
	return NULL;
}

/*
 * Takes completions like a program that sleeps, and checks their order per QP. False if one is
 * missing.
 */
static bool consume(struct two *two)
{
	unsigned int next[2] = { 0, 0 }, seen = 0;
	struct iw_cqe cqe[4];

	while (two->got < 2 * two->total) {
		unsigned int n = iw_cq_poll(two->cq, 4, cqe);

		for (unsigned int i = 0; i < n; i++)
			if (cqe[i].qp_num > 1 || cqe[i].wr_id != next[cqe[i].qp_num]++)
				return false;
		two->got += n;
		if (n)
			continue;
		iw_cq_arm(two->cq, false);
		if (!iw_cq_is_empty(two->cq))
			continue;
		for (unsigned int spins = 0; two->notifications == seen; spins++) {
			sched_yield();
			if (spins > 20000000 || two->stop)
				return false;
		}
		seen = two->notifications;
	}
	return true;
}

static void two_shards(void **state)
{
	struct two two = { .total = 100000 };
	struct shard_thread threads[2];
	pthread_t thread[2];
	bool whole;
	struct fx x;

	fx_start(&x, false);
	two.cq = iw_cq_new(x.iw, 256, NULL);
	threads[0] = (struct shard_thread){ &two, x.iw, 0 };
	threads[1] = (struct shard_thread){ &two, iw_shard_new(x.rnic, &x.random.source), 1 };
	for (int i = 0; i < 2; i++)
		iw_cq_join(two.cq, threads[i].shard);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, complete, &threads[i]);
	whole = consume(&two);
	two.stop = true;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	assert_true(whole);
	assert_int_equal(iw_cq_free(two.cq), 0);
	iw_shard_free(threads[1].shard);
	fx_stop(&x);
}

/*
 * An event that one shard delays comes with a completion of the other shard, or with the first
 * shard's timer.
 */
static void two_shards_moderate(void **state)
{
	struct iw_shard *other;
	struct iw_cq *cq;
	struct fx x;

	fx_start(&x, false);
	other = iw_shard_new(x.rnic, &x.random.source);
	cq = iw_cq_new(x.iw, 16, NULL);
	iw_cq_join(cq, x.iw);
	iw_cq_join(cq, other);
	iw_set_now(other, x.now);
	assert_int_equal(iw_cq_moderate(cq, 2, 1000), 0);
	iw_cq_arm(cq, false);
	push(cq, 1, 1, false);
	assert_null(iw_next_notify(x.iw));
	assert_int_equal(iw_next_timeout(x.iw), x.now + 1000);
	assert_true(push_from(other, cq, 2, 1, false));
	assert_ptr_equal(iw_next_notify(other), cq);
	assert_int_equal(iw_next_timeout(other), UINT64_MAX);
	/* The first shard's timer continues, but causes no event of its own. */
	iw_timers(x.iw, x.now + 500);
	iw_cq_arm(cq, false);
	iw_timers(x.iw, x.now + 1000);
	assert_null(iw_next_notify(x.iw));
	/* An event that the other shard delays comes with the other shard's timer. */
	assert_true(push_from(other, cq, 3, 1, false));
	assert_null(iw_next_notify(other));
	iw_timers(other, x.now + 1000);
	assert_ptr_equal(iw_next_notify(other), cq);
	/* Freeing a CQ also removes its timer and its list entry, in whichever shard. */
	iw_cq_arm(cq, false);
	assert_true(push_from(other, cq, 4, 1, false));
	assert_null(iw_next_notify(other));
	assert_true(push_from(other, cq, 5, 1, false));
	assert_int_equal(iw_cq_free(cq), 0);
	assert_null(iw_next_notify(other));
	assert_int_equal(iw_next_timeout(other), UINT64_MAX);
	iw_shard_free(other);
	fx_stop(&x);
}

/*
 * A CQ belongs to the shard of its first queue. A queue of a second shard makes it common to both.
 */
static void joining(void **state)
{
	struct iw_shard *other;
	struct iw_cq *cq;
	struct fx x;

	fx_start(&x, false);
	other = iw_shard_new(x.rnic, &x.random.source);
	cq = iw_cq_new(x.iw, 16, NULL);
	iw_cq_join(cq, other);
	assert_ptr_equal(cq->shard, other);
	iw_cq_join(cq, other);
	assert_false(cq->shared);
	/* The only queue of the CQ leaves. */
	cq->refs = 1;
	iw_cq_leave(cq, 1);
	iw_cq_join(cq, x.iw);
	assert_ptr_equal(cq->shard, x.iw);
	assert_false(cq->shared);
	/* One of two queues leaves. */
	cq->refs = 2;
	iw_cq_leave(cq, 1);
	iw_cq_join(cq, other);
	assert_ptr_equal(cq->shard, x.iw);
	cq->refs = 0;
	assert_true(cq->shared);
	assert_int_equal(iw_cq_free(cq), 0);
	iw_shard_free(other);
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(poll_in_order_and_overflow),
		cmocka_unit_test(resize_and_purge),
		cmocka_unit_test(arming),
		cmocka_unit_test(several_cqs_and_free),
		cmocka_unit_test(arm_races_with_completions),
		cmocka_unit_test(moderation),
		cmocka_unit_test(time_stamps),
		cmocka_unit_test(joining),
		cmocka_unit_test(two_shards),
		cmocka_unit_test(two_shards_moderate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
