/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/* WRAP: clock_gettime sched_yield sys_ppoll sys_epoll_wait sys_timerfd_set sys_write */
/* WRAP: conn_receive conn_events conn_output conn_in_flight conn_timers conn_next_timeout conn_reap */
/* WRAP: conn_doorbell datagram_is_pending iw_set_now iw_next_notify pthread_mutex_unlock */
/* VALGRIND: yes */
/* The order of one turn, the list of doorbells, and the shard's lock. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "fixture/fake_shard.h"
#include "runtime/channel.h"
#include "runtime/loop.h"
#include "runtime/object.h"
#include "sys/sys.h"

static struct shard *const s = &fake.rnic.shard;

static void (*before_unlock)(void);

int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	if (before_unlock)
		before_unlock();
	return __real_pthread_mutex_unlock(mutex);
}

static int setup(void **state)
{
	fake_shard_reset();
	/* Not NULL, so that datagram_is_pending() is called. The pointer is never dereferenced. */
	s->conn.datagrams.out = (struct datagram_out *)&fake;
	before_unlock = NULL;
	return 0;
}

static bool ring(unsigned int n)
{
	return doorbell_ring(&s->doorbells, fake_doorbell(n));
}

/* ---- doorbells ---- */

static void test_doorbell_order(void **state)
{
	assert_false(doorbell_is_rung(&s->doorbells));
	assert_false(doorbell_serve(&s->doorbells, &s->conn));
	for (unsigned int i = 0; i < 4; i++)
		assert_true(ring(i));
	assert_true(doorbell_is_rung(&s->doorbells));
	/* A doorbell on the list keeps its place. */
	assert_false(ring(1));
	assert_true(doorbell_serve(&s->doorbells, &s->conn));
	fake_shard_expect("doorbell:0 doorbell:1 doorbell:2 doorbell:3");
	assert_false(doorbell_is_rung(&s->doorbells));
	assert_true(ring(1));
}

/* Each doorbell rings itself again when it is first served, and also rings 5. */
static void ring_again(struct iw_doorbell *doorbell)
{
	fake.on_doorbell = NULL;
	assert_true(doorbell_ring(&s->doorbells, doorbell));
	assert_true(ring(5));
	/* Doorbell 1 was not served yet. */
	assert_false(ring(1));
}

static void test_doorbell_rung_while_served(void **state)
{
	ring(0);
	ring(1);
	fake.on_doorbell = ring_again;
	assert_true(doorbell_serve(&s->doorbells, &s->conn));
	fake_shard_expect("doorbell:0 doorbell:1");
	assert_true(doorbell_serve(&s->doorbells, &s->conn));
	fake_shard_expect("doorbell:0 doorbell:5");
}

#define ROUNDS 20000

static _Atomic unsigned int posted[4];
static unsigned int seen[4];

static void take(struct iw_doorbell *doorbell)
{
	unsigned int n = (unsigned int)(doorbell - fake_doorbell(0));

	seen[n] = atomic_load_explicit(&posted[n], memory_order_relaxed);
	fake_shard_forget();
}

static void *post(void *arg)
{
	unsigned int n = *(unsigned int *)arg;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		atomic_fetch_add_explicit(&posted[n], 1, memory_order_relaxed);
		ring(n);
		atomic_fetch_add_explicit(&posted[n + 2], 1, memory_order_relaxed);
		ring(n + 2);
	}
	return NULL;
}

/*
 * A doorbell's server sees everything published before the ring: nothing remains once both threads
 * are done.
 */
static void test_doorbell_threads(void **state)
{
	unsigned int names[2] = { 0, 1 };
	pthread_t threads[2];

	memset(posted, 0, sizeof(posted));
	fake.on_doorbell = take;
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, post, &names[i]), 0);
	while (seen[0] < ROUNDS || seen[1] < ROUNDS)
		doorbell_serve(&s->doorbells, &s->conn);
	for (unsigned int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	doorbell_serve(&s->doorbells, &s->conn);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(seen[i], ROUNDS);
}

/* ---- one turn ---- */

static void test_pass_of_nothing(void **state)
{
	shard_enter(s);
	s->next_due = s->conn.now + 1;
	assert_false(loop_pass(s, CONN_QUICK));
	fake_shard_expect("receive");
	assert_int_equal(s->progress.received, 0);
	shard_leave(s);
}

static void test_finish_order(void **state)
{
	shard_enter(s);
	ring(0);
	fake.events = 2;
	loop_finish(s);
	/*
	 * Events until there are none; once more after the output, which may complete work
	 * requests.
	 */
	fake_shard_expect("doorbell:0 events events events output events reap");
	shard_leave(s);
}

static void test_finish_without_output(void **state)
{
	shard_enter(s);
	fake.nothing_ready = true;
	loop_finish(s);
	fake_shard_expect("events output reap");
	shard_leave(s);
}

static void ring_once(void)
{
	fake.on_output = NULL;
	ring(3);
}

static void test_finish_until_no_doorbell(void **state)
{
	shard_enter(s);
	fake.on_output = ring_once;
	loop_finish(s);
	fake_shard_expect("events output events doorbell:3 events output events reap");
	shard_leave(s);
}

/* Another thread posts after each output. */
static void ring_always(void)
{
	ring(3);
}

/* The holder of the lock returns to its own work. The progress thread continues. */
static void test_finish_beside_a_poster(void **state)
{
	shard_enter(s);
	s->progress.started = true;
	fake.on_output = ring_always;
	assert_true(loop_finish(s));
	fake_shard_expect(
		"events output events doorbell:3 events output events doorbell:3 events output events "
		"doorbell:3 events output events reap");
	assert_true(doorbell_is_rung(&s->doorbells));
	assert_int_equal(fake.wakes, 1);
	shard_leave(s);
	assert_true(doorbell_is_rung(&s->doorbells));
	assert_int_equal(fake.wakes, 2);
	assert_int_equal(s->lock.owner, 0);
	/* The next holder finds the rest. */
	fake.on_output = NULL;
	fake_shard_forget();
	shard_enter(s);
	assert_false(loop_finish(s));
	fake_shard_expect("doorbell:3 events output events reap");
	assert_int_equal(fake.wakes, 2);
	shard_leave(s);
}

static unsigned int outputs;

static void output_eight_times(void)
{
	fake.pending = ++outputs < 8;
}

/* Without a progress thread, the holder must serve everything. */
static void test_finish_without_thread(void **state)
{
	outputs = 0;
	shard_enter(s);
	fake.on_output = output_eight_times;
	assert_false(loop_finish(s));
	assert_int_equal(outputs, 8);
	shard_leave(s);
}

/* Output that remains pending causes another turn, without received packets or doorbells. */
static void test_pass_of_the_rest(void **state)
{
	outputs = 0;
	shard_enter(s);
	s->progress.started = true;
	fake.on_output = output_eight_times;
	fake.pending = true;
	assert_false(loop_pass(s, CONN_QUICK));
	assert_int_equal(outputs, 4);
	assert_int_equal(fake.wakes, 1);
	assert_false(loop_pass(s, CONN_QUICK));
	assert_int_equal(outputs, 8);
	fake_shard_forget();
	assert_false(loop_pass(s, CONN_QUICK));
	fake_shard_expect("receive");
	assert_int_equal(fake.wakes, 1);
	shard_leave(s);
}

static void test_settle_order(void **state)
{
	shard_enter(s);
	loop_settle(s);
	fake_shard_expect("events");
	/* Earlier posts are sent before the caller's next action. */
	ring(2);
	loop_settle(s);
	fake_shard_expect("doorbell:2 output events");
	shard_leave(s);
}

static void test_pass_of_something(void **state)
{
	shard_enter(s);
	fake.receives[0] = CONN_SOME;
	assert_false(loop_pass(s, CONN_QUICK));
	fake_shard_expect("receive events output events reap");
	assert_int_equal(s->progress.received, 1);
	/* A receive call may change something, although no packet came. */
	fake.receives_done = 0;
	fake.receives[0] = CONN_STIRRED;
	assert_false(loop_pass(s, CONN_QUICK));
	fake_shard_expect("receive events output events reap");
	assert_int_equal(s->progress.received, 1);
	/* A doorbell alone causes a turn. */
	ring(0);
	assert_false(loop_pass(s, CONN_QUICK));
	fake_shard_expect("receive doorbell:0 events output events reap");
	shard_leave(s);
}

/*
 * While the thread is parked, a poller that received packets leaves the deadlines to the next turn,
 * but only once.
 */
static void test_concluded_later(void **state)
{
	shard_enter(s);
	atomic_store(&s->progress.parked, true);
	s->next_due = TIME_NEVER;
	fake.next_timeout = s->conn.now + 5 * MSEC;
	for (int i = 0; i < 4; i++)
		fake.receives[i] = CONN_SOME;
	loop_pass(s, CONN_QUICK);
	fake_shard_expect("receive events output events");
	assert_true(s->next_due == TIME_NEVER);
	loop_pass(s, CONN_QUICK);
	fake_shard_expect("receive events output events reap");
	assert_true(s->next_due == fake.next_timeout);
	/*
	 * A pass without packets updates the deadlines, and runs timers that the previous pass
	 * started.
	 */
	s->next_due = TIME_NEVER;
	loop_pass(s, CONN_QUICK);
	fake_shard_expect("receive events output events");
	fake.receives[3] = CONN_NOTHING;
	fake.next_timeout = s->conn.now;
	loop_pass(s, CONN_QUICK);
	fake_shard_expect("receive timers events output events reap");
	/* loop_finish() updates the deadlines as well. The thread's own passes postpone nothing. */
	s->next_due = fake.next_timeout = s->conn.now + 5 * MSEC;
	for (int i = 4; i < 6; i++)
		fake.receives[i] = CONN_SOME;
	loop_pass(s, CONN_QUICK);
	fake_shard_expect("receive events output events");
	loop_finish(s);
	fake_shard_expect("events output events reap");
	loop_pass(s, CONN_THOROUGH);
	fake_shard_expect("receive events output events reap");
	loop_pass(s, CONN_QUICK);
	fake_shard_expect("receive");
	shard_leave(s);
}

static void flush(struct conn *c)
{
	fake_shard_note("flush");
}

/* Posted work requests are sent with the owed acknowledgements, before the sockets are read. */
static void test_pass_that_owes(void **state)
{
	static const struct transport transport = { .flush_sacks = flush };

	shard_enter(s);
	s->conn.transport = &transport;
	atomic_store(&s->conn.sacks_asked, true);
	ring(3);
	assert_false(loop_pass(s, CONN_QUICK));
	fake_shard_expect("flush doorbell:3 output receive events output events reap");
	assert_false(atomic_load(&s->conn.sacks_asked));
	shard_leave(s);
}

static void test_pass_of_much(void **state)
{
	shard_enter(s);
	for (int i = 0; i < 8; i++)
		fake.receives[i] = CONN_MORE;
	ring(4);
	/* At most four receive calls, with acknowledgements in between. */
	assert_true(loop_pass(s, CONN_THOROUGH));
	fake_shard_expect("receive doorbell:4 events output receive events output "
			  "receive events output receive "
			  "events output events reap");
	/* The pass ends early if another thread waits for the lock. */
	shard_wait_begin(s);
	assert_true(loop_pass(s, CONN_THOROUGH));
	fake_shard_expect("receive events output events output events reap");
	shard_wait_end(s);
	shard_leave(s);
}

static void test_timers(void **state)
{
	shard_enter(s);
	s->next_due = s->conn.now;
	fake.next_timeout = s->conn.now + 5 * MSEC;
	assert_false(loop_pass(s, CONN_QUICK));
	/*
	 * Timers run after received packets, which may have cancelled them, and before the output.
	 */
	fake_shard_expect("receive timers events output events reap");
	assert_int_equal(s->next_due, fake.next_timeout);
	/* The timers are no longer due. */
	assert_false(loop_pass(s, CONN_QUICK));
	fake_shard_expect("receive");
	/* Received packets do not run timers early. */
	fake.receives[fake.receives_done] = CONN_SOME;
	assert_false(loop_pass(s, CONN_QUICK));
	fake_shard_expect("receive events output events reap");
	shard_leave(s);
}

static void test_deadline(void **state)
{
	shard_enter(s);
	fake.next_timeout = s->conn.now + 5 * MSEC;
	loop_finish(s);
	/* No thread sleeps on the timer. */
	assert_int_equal(fake.timer_sets, 0);
	s->progress.started = true;
	loop_finish(s);
	assert_int_equal(fake.timer_sets, 1);
	assert_int_equal(fake.timer, fake.next_timeout);
	/* The timer is moved at once to an earlier time, but not to a later time. */
	fake.next_timeout += MSEC;
	loop_finish(s);
	assert_int_equal(fake.timer_sets, 1);
	fake.next_timeout -= 2 * MSEC;
	loop_finish(s);
	assert_int_equal(fake.timer_sets, 2);
	assert_int_equal(fake.timer, fake.next_timeout);
	/* The thread checks last_cm_event before it sleeps. */
	s->conn.cm.last_event = 77;
	loop_finish(s);
	assert_int_equal(s->progress.last_cm_event, 77);
	shard_leave(s);
}

static void test_notify(void **state)
{
	struct object obj = { .user_handle = 0x1122334455667788 };
	struct iw_cq cq = { .ctx = &obj };
	struct rnic_channel *chan;
	uint64_t handle = 0;
	int fd;

	assert_int_equal(channel_create(CHANNEL_COMP, &chan, &fd), 0);
	obj.comp.chan = chan;
	shard_enter(s);
	fake.notify = &cq;
	loop_settle(s);
	shard_leave(s);
	assert_int_equal(channel_read(chan, &handle, sizeof(handle)), sizeof(handle));
	assert_int_equal(handle, obj.user_handle);
	channel_release(chan);
	sys_close(fd);
}

/* ---- the lock ---- */

static void test_lock_is_a_turn(void **state)
{
	ring(0);
	shard_lock(s);
	fake_shard_expect("doorbell:0 output events");
	shard_assert_locked(s);
	assert_false(shard_is_awaited(s));
	ring(1);
	shard_unlock(s);
	fake_shard_expect("doorbell:1 events output events reap");
	assert_int_equal(s->lock.owner, 0);
	assert_true(shard_try_enter(s));
	shard_leave(s);
	/* Changes by the caller are sent without a doorbell. */
	shard_lock(s);
	fake_shard_forget();
	shard_unlock(s);
	fake_shard_expect("events output events reap");
}

static void test_clock_at_entry(void **state)
{
	fake.now = 5 * SEC;
	shard_enter(s);
	assert_int_equal(s->conn.now, 5 * SEC);
	fake.now = 6 * SEC;
	assert_int_equal(s->conn.now, 5 * SEC);
	shard_read_clock(s);
	assert_int_equal(s->conn.now, 6 * SEC);
	shard_leave(s);
}

static void *try_to_enter(void *arg)
{
	bool *entered = arg;

	*entered = shard_try_enter(s);
	if (*entered)
		shard_leave(s);
	return NULL;
}

static bool another_enters(void)
{
	bool entered;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, try_to_enter, &entered), 0);
	pthread_join(thread, NULL);
	return entered;
}

/* The clock never goes back, whichever thread read it last. */
static void test_try_enter_at(void **state)
{
	uint64_t now = s->conn.now;

	assert_true(shard_try_enter_at(s, now + 7));
	assert_int_equal(s->conn.now, now + 7);
	assert_false(shard_try_enter_at(s, now + 9));
	shard_leave(s);
	assert_true(shard_try_enter_at(s, now + 5));
	assert_int_equal(s->conn.now, now + 7);
	assert_int_equal(fake.readings, 0);
	shard_leave(s);
}

static void test_try_enter(void **state)
{
	shard_enter(s);
	assert_false(another_enters());
	shard_leave(s);
	assert_true(another_enters());
}

/* A poster rings while the holder leaves: the holder returns, however often. */
static unsigned int late_rings;

static void ring_late(struct iw_doorbell *doorbell)
{
	if (late_rings && late_rings--)
		ring(late_rings % 2);
}

static void test_nothing_is_left_behind(void **state)
{
	late_rings = 3;
	shard_enter(s);
	ring(1);
	fake.on_doorbell = ring_late;
	shard_leave(s);
	assert_false(doorbell_is_rung(&s->doorbells));
	fake_shard_expect("doorbell:1 events output events doorbell:0 events output events "
			  "doorbell:1 events output events doorbell:0 events output events reap");
}

/* A poster finds the lock taken after the holder checked for doorbells. */
static void ring_in_between(void)
{
	before_unlock = NULL;
	ring(2);
	assert_false(another_enters());
}

static void test_rung_before_unlock(void **state)
{
	shard_enter(s);
	before_unlock = ring_in_between;
	shard_leave(s);
	fake_shard_expect("doorbell:2 events output events reap");
	assert_true(another_enters());
}

static void ring_before_unlock(void)
{
	ring(2);
}

/* A poster that always finds the lock taken does not keep the holder there forever. */
static void test_leave_beside_a_poster(void **state)
{
	shard_enter(s);
	s->progress.started = true;
	before_unlock = ring_before_unlock;
	shard_leave(s);
	assert_int_equal(fake.wakes, 1);
	assert_int_equal(s->lock.owner, 0);
	assert_true(doorbell_is_rung(&s->doorbells));
	before_unlock = NULL;
}

static void *lock_and_unlock(void *arg)
{
	shard_lock(s);
	shard_unlock(s);
	return NULL;
}

static void test_waiters_are_counted(void **state)
{
	pthread_t thread;

	shard_enter(s);
	assert_int_equal(pthread_create(&thread, NULL, lock_and_unlock, NULL), 0);
	while (!shard_is_awaited(s))
		;
	shard_leave(s);
	pthread_join(thread, NULL);
	assert_false(shard_is_awaited(s));
}

/* Two posters send if the lock is free, and otherwise leave the work to its holder. */
static void *post_and_send(void *arg)
{
	unsigned int n = *(unsigned int *)arg;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		atomic_fetch_add_explicit(&posted[n], 1, memory_order_relaxed);
		ring(n);
		atomic_thread_fence(memory_order_seq_cst);
		if (shard_try_enter(s))
			shard_leave(s);
	}
	return NULL;
}

static void test_nothing_is_left_behind_by_threads(void **state)
{
	unsigned int names[2] = { 0, 1 };
	pthread_t threads[2];

	memset(posted, 0, sizeof(posted));
	memset(seen, 0, sizeof(seen));
	fake.on_doorbell = take;
	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, post_and_send, &names[i]), 0);
	for (unsigned int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_false(doorbell_is_rung(&s->doorbells));
	assert_int_equal(seen[0], ROUNDS);
	assert_int_equal(seen[1], ROUNDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_doorbell_order, setup),
		cmocka_unit_test_setup(test_doorbell_rung_while_served, setup),
		cmocka_unit_test_setup(test_doorbell_threads, setup),
		cmocka_unit_test_setup(test_pass_of_nothing, setup),
		cmocka_unit_test_setup(test_finish_order, setup),
		cmocka_unit_test_setup(test_finish_without_output, setup),
		cmocka_unit_test_setup(test_finish_until_no_doorbell, setup),
		cmocka_unit_test_setup(test_finish_beside_a_poster, setup),
		cmocka_unit_test_setup(test_finish_without_thread, setup),
		cmocka_unit_test_setup(test_pass_of_the_rest, setup),
		cmocka_unit_test_setup(test_settle_order, setup),
		cmocka_unit_test_setup(test_pass_of_something, setup),
		cmocka_unit_test_setup(test_concluded_later, setup),
		cmocka_unit_test_setup(test_pass_that_owes, setup),
		cmocka_unit_test_setup(test_pass_of_much, setup),
		cmocka_unit_test_setup(test_timers, setup),
		cmocka_unit_test_setup(test_deadline, setup),
		cmocka_unit_test_setup(test_notify, setup),
		cmocka_unit_test_setup(test_lock_is_a_turn, setup),
		cmocka_unit_test_setup(test_clock_at_entry, setup),
		cmocka_unit_test_setup(test_try_enter_at, setup),
		cmocka_unit_test_setup(test_try_enter, setup),
		cmocka_unit_test_setup(test_nothing_is_left_behind, setup),
		cmocka_unit_test_setup(test_rung_before_unlock, setup),
		cmocka_unit_test_setup(test_leave_beside_a_poster, setup),
		cmocka_unit_test_setup(test_waiters_are_counted, setup),
		cmocka_unit_test_setup(test_nothing_is_left_behind_by_threads, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
