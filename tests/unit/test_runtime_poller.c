/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/* WRAP: clock_gettime sched_yield sys_ppoll sys_epoll_wait sys_timerfd_set sys_write */
/* WRAP: conn_receive conn_events conn_output conn_in_flight conn_timers conn_next_timeout conn_reap */
/* WRAP: conn_doorbell iw_set_now iw_next_notify */
/* VALGRIND: yes */
/* Work of application threads for a shard: they post in bursts, poll empty CQs and arm them. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fixture/fake_shard.h"
#include "runtime/tuning.h"

#define SENT_ALL "events output events reap"

static struct shard *const s = &fake.rnic.shard;

static int setup(void **state)
{
	fake_shard_reset();
	s->progress.started = true;
	return 0;
}

static void post(unsigned int n, uint64_t bytes)
{
	burst_post(s, fake_doorbell(n), bytes, false);
}

/* ---- another thread has the lock ---- */

static void *call(void *arg)
{
	void (*act)(void);

	*(void **)&act = arg;
	act();
	return NULL;
}

/* Runs act in another thread while this thread holds the lock. */
static void while_locked(void (*act)(void))
{
	pthread_t thread;

	shard_enter(s);
	assert_int_equal(pthread_create(&thread, NULL, call, *(void **)&act), 0);
	pthread_join(thread, NULL);
}

/* ---- bursts ---- */

static void test_alone_at_once(void **state)
{
	fake.tick = 100;
	post(0, 64);
	fake_shard_expect("doorbell:0 " SENT_ALL);
	assert_int_equal(s->burst.gathered, 0);
	assert_int_equal(fake.wakes, 0);
	/*
	 * The gap starts once all is sent: the clock is read for the decision, and after the
	 * output.
	 */
	assert_int_equal(fake.readings, 2);
	assert_int_equal(s->burst.last_served, SEC + 100);
	assert_false(shard_is_dead(s));
	assert_true(shard_try_enter(s));
	shard_leave(s);
}

static void test_rest_waits(void **state)
{
	s->burst.last_served = fake.now;
	fake.now += 2999;
	post(0, 64);
	fake_shard_expect("");
	assert_true(doorbell_is_rung(&s->doorbells));
	assert_int_equal(s->burst.gathered, 1);
	assert_int_equal(s->burst.gathered_bytes, 64);
	/* The thread is woken once for several doorbells. */
	assert_int_equal(fake.wakes, 1);
	post(0, 100);
	post(1, 36);
	assert_int_equal(s->burst.gathered, 3);
	assert_int_equal(s->burst.gathered_bytes, 200);
	assert_int_equal(fake.wakes, 1);
	/*
	 * Once the thread has run, another doorbell wakes it again. A doorbell that it left on the
	 * list does not.
	 */
	s->progress.doorbell_wake = false;
	post(0, 1);
	assert_int_equal(fake.wakes, 1);
	post(2, 1);
	assert_int_equal(fake.wakes, 2);
	/* A parked thread needs no wake. */
	s->progress.doorbell_wake = false;
	s->progress.parked = true;
	post(3, 1);
	assert_int_equal(fake.wakes, 2);
	assert_int_equal(fake.nap_sets, 0);
	fake_shard_expect("");
}

/*
 * Waiting work requests shorten a parked thread's long nap. While they wait, pollers put the nap
 * off only by little.
 */
static void test_rest_waits_for_nap(void **state)
{
	s->progress.parked = true;
	s->progress.parked_since = 0;
	s->progress.nap_until = fake.now + TUNING_PARK_LONG;
	s->burst.last_served = fake.now;
	post(0, 64);
	assert_int_equal(fake.nap_sets, 0);
	s->progress.nap_until++;
	post(1, 64);
	assert_int_equal(fake.nap_sets, 1);
	assert_int_equal(fake.nap_until, fake.now + TUNING_PARK_LONG);
	assert_int_equal(s->progress.nap_until, fake.nap_until);
	fake.now = fake.nap_until - 1;
	poller_progress(s);
	assert_int_equal(fake.nap_until, fake.now + TUNING_PARK_LONG);
	fake.now = fake.nap_until - 1;
	poller_progress(s);
	assert_int_equal(fake.nap_until, fake.now + TUNING_PARK_MAX);
	assert_int_equal(fake.nap_sets, 3);
}

/* A batch is sent when it is complete, unless much was in flight at the end of the last turn. */
static void test_batch(void **state)
{
	s->burst.last_served = fake.now;
	post(0, 64);
	fake_shard_expect("");
	fake.in_flight = 65536;
	burst_post(s, fake_doorbell(0), 64, true);
	fake_shard_expect("doorbell:0 " SENT_ALL);
	assert_int_equal(s->burst.gathered, 0);

	burst_post(s, fake_doorbell(0), 64, true);
	fake_shard_expect("");
	assert_int_equal(s->burst.gathered, 1);
	fake.in_flight = 65535;
	poller_progress(s);
	fake_shard_forget();
	burst_post(s, fake_doorbell(0), 64, true);
	fake_shard_expect("doorbell:0 " SENT_ALL);
	assert_int_equal(s->burst.gathered, 0);
}

/* No application waits for a peer's reaction to a datagram. */
static void test_batch_of_datagrams(void **state)
{
	s->burst.last_served = fake.now;
	s->progress.parked = true;
	fake_doorbell(0)->is_ud = true;
	burst_post(s, fake_doorbell(0), 64, true);
	fake_shard_expect("");
	assert_int_equal(s->burst.gathered, 1);
}

/*
 * A datagram waits for the rest of its burst only while the thread is parked. The 16th that could
 * have waited wakes the thread, which then parks.
 */
static void test_datagrams_wait_beside_parked_thread(void **state)
{
	fake_doorbell(0)->is_ud = true;
	for (int i = 0; i < 15; i++) {
		s->burst.last_served = fake.now;
		post(0, 64);
		fake_shard_expect("doorbell:0 " SENT_ALL);
	}
	assert_int_equal(fake.wakes, 0);
	assert_int_equal(poller_activity(s), 15);
	post(0, 64);
	fake_shard_expect("doorbell:0 " SENT_ALL);
	assert_int_equal(fake.wakes, 1);
	s->progress.parked = true;
	post(0, 64);
	fake_shard_expect("");
	assert_int_equal(s->burst.gathered, 1);
	assert_int_equal(fake.wakes, 1);
}

static void expect_at_work(void)
{
	assert_true(s->poller.inside);
}

/* A poster that sends is active, so the thread stays parked. */
static void test_poster_is_inside(void **state)
{
	fake.on_output = expect_at_work;
	post(0, 64);
	fake_shard_expect("doorbell:0 " SENT_ALL);
	assert_false(s->poller.inside);
}

static void test_nobody_would_come(void **state)
{
	s->progress.started = false;
	s->burst.last_served = fake.now;
	post(0, 64);
	fake_shard_expect("doorbell:0 " SENT_ALL);
}

/* A look at the clock is no poll, but counts as activity for the thread. */
static void test_looks_are_no_polls(void **state)
{
	s->burst.last_served = fake.now - 1000;
	post(0, 1);
	assert_int_equal(fake.readings, 1);
	post(0, 1);
	post(0, 1);
	post(0, 1);
	assert_int_equal(fake.readings, 1);
	assert_int_equal(s->burst.looks, 1);
	post(0, 1);
	assert_int_equal(fake.readings, 2);
	assert_int_equal(s->burst.looks, 2);
	assert_int_equal(s->burst.last_look, fake.now);
	assert_int_equal(s->poller.polls, 0);
	assert_int_equal(s->poller.last_poll, 0);
	assert_int_equal(poller_activity(s), 2);
	assert_int_equal(poller_last_active(s), fake.now);
	s->poller.polls = 5;
	s->poller.last_poll = fake.now + 1;
	assert_int_equal(poller_activity(s), 7);
	assert_int_equal(poller_last_active(s), fake.now + 1);
}

static void test_ended_by_gap(void **state)
{
	s->burst.last_served = fake.now;
	for (int i = 0; i < 4; i++)
		post(0, 64);
	fake.now += 3000;
	/* The fifth post reads the clock, and sends the waiting ones as well. */
	post(0, 64);
	fake_shard_expect("doorbell:0 " SENT_ALL);
	assert_int_equal(s->burst.gathered, 0);
	assert_int_equal(s->burst.gathered_bytes, 0);
	assert_int_equal(s->burst.last_served, fake.now);
	/* A post without a look at the clock is not counted. */
	assert_int_equal(s->burst.looks, 1);
}

static void test_ended_by_bytes(void **state)
{
	s->burst.last_served = fake.now;
	post(0, TUNING_BURST_BYTES - 1);
	post(1, 1);
	fake_shard_expect("");
	post(1, 1);
	fake_shard_expect("doorbell:0 doorbell:1 " SENT_ALL);
	assert_int_equal(s->burst.gathered_bytes, 0);
	post(0, 1);
	post(2, BURST_AT_ONCE);
	fake_shard_expect("doorbell:0 doorbell:2 " SENT_ALL);
}

static void test_ended_by_poll(void **state)
{
	s->burst.last_served = fake.now;
	post(0, 64);
	fake.now += 1000;
	fake.tick = 10;
	poller_progress(s);
	fake_shard_expect("receive doorbell:0 " SENT_ALL);
	assert_int_equal(s->burst.gathered, 0);
	/* The time after the pass, not that of the poll. */
	assert_int_equal(s->burst.last_served, SEC + 1010);
	/* Without a burst, the gap does not change. */
	poller_progress(s);
	assert_int_equal(s->burst.last_served, SEC + 1010);
}

static void test_ended_by_arm(void **state)
{
	s->burst.last_served = fake.now;
	post(0, 64);
	poller_armed(s);
	fake_shard_expect("doorbell:0 " SENT_ALL);
}

static void burst_of(unsigned int n)
{
	s->burst.last_served = fake.now;
	for (unsigned int i = 0; i < n; i++)
		post(0, 1);
	poller_progress(s);
}

static void test_gap_follows_bursts(void **state)
{
	static const uint32_t wants[] = { 1, 2, 3, 3 };

	for (int i = 0; i < 4; i++) {
		burst_of(8);
		assert_int_equal(s->burst.gap_shift, wants[i]);
	}
	/* The longer gap lets a work request wait for longer. */
	s->burst.last_served = fake.now - 23999;
	fake_shard_forget();
	post(0, 1);
	fake_shard_expect("");
	burst_of(7);
	assert_int_equal(s->burst.gap_shift, 3);
	/* A single post shortens the gap. */
	burst_of(1);
	assert_int_equal(s->burst.gap_shift, 2);
	fake.now += SEC;
	post(0, 1);
	assert_int_equal(s->burst.gap_shift, 1);
}

static void post_alone(void)
{
	post(0, 64);
}

static void test_post_while_locked(void **state)
{
	while_locked(post_alone);
	fake_shard_expect("");
	assert_true(doorbell_is_rung(&s->doorbells));
	shard_leave(s);
	fake_shard_expect("doorbell:0 " SENT_ALL);
}

/* ---- polls ---- */

static void expect_inside(enum conn_depth depth)
{
	assert_true(s->poller.inside);
	assert_int_equal(depth, CONN_QUICK);
}

static void test_poll(void **state)
{
	fake.on_receive = expect_inside;
	poller_progress(s);
	fake_shard_expect("receive");
	assert_false(s->poller.inside);
	assert_int_equal(s->poller.polls, 1);
	assert_int_equal(s->poller.busy_polls, 0);
	assert_int_equal(s->poller.last_poll, fake.now);
	/* The clock is read once, without a system call. */
	assert_int_equal(fake.readings, 1);
	assert_int_equal(fake.yields, 0);
	assert_int_equal(fake.timer_sets, 0);
	assert_true(shard_try_enter(s));
	shard_leave(s);
}

static void poll_often(void)
{
	for (int i = 0; i < 33; i++)
		poller_progress(s);
}

static void test_poll_while_locked(void **state)
{
	fake.now = 7 * SEC;
	while_locked(poll_often);
	fake_shard_expect("");
	assert_int_equal(s->poller.polls, 0);
	assert_int_equal(s->poller.busy_polls, 33);
	assert_int_equal(s->poller.last_poll, 7 * SEC);
	assert_int_equal(fake.yields, 2);
	shard_leave(s);
}

static void test_poll_keeps_away_for_waiters(void **state)
{
	shard_wait_begin(s);
	poller_progress(s);
	fake_shard_expect("");
	assert_int_equal(s->poller.busy_polls, 1);
	shard_wait_end(s);
	poller_progress(s);
	fake_shard_expect("receive");
}

static void test_poll_of_the_dead(void **state)
{
	s->dead = true;
	poller_progress(s);
	fake_shard_expect("");
	assert_int_equal(s->poller.polls, 1);
}

static void polls(unsigned int n)
{
	while (n--)
		poller_progress(s);
}

static void test_poll_tells_thread(void **state)
{
	polls(63);
	assert_int_equal(fake.wakes, 0);
	polls(1);
	assert_int_equal(fake.wakes, 1);
	polls(64);
	assert_int_equal(fake.wakes, 2);
	/* A parked thread is not woken. */
	s->progress.parked = true;
	polls(64);
	assert_int_equal(fake.wakes, 2);
	/* Soon after an arm, polls may stop: no wake. */
	s->progress.parked = false;
	polls(1);
	poller_armed(s);
	polls(63);
	assert_int_equal(s->poller.polls % 64, 0);
	assert_int_equal(fake.wakes, 2);
	polls(64);
	assert_int_equal(fake.wakes, 3);
}

static int expect_nap(struct pollfd *fds, unsigned int n, uint64_t timeout)
{
	assert_int_equal(n, 1);
	assert_int_equal(fds->fd, FAKE_EPOLL_FD);
	assert_int_equal(fds->events, POLLIN);
	assert_int_equal(timeout, TUNING_ONE_CPU_NAP);
	assert_true(s->poller.inside);
	fake_shard_note("nap");
	return 0;
}

/*
 * A poller puts off the end of a long nap when little of it is left: once per nap. The new end
 * depends on how long the thread was parked.
 */
static void test_poll_puts_nap_off(void **state)
{
	poller_progress(s);
	assert_int_equal(fake.nap_sets, 0);
	s->progress.parked_since = fake.now - 16 * TUNING_PARK_LONG;
	s->progress.nap_until = fake.now + TUNING_PARK_LEFT;
	poller_progress(s);
	assert_int_equal(fake.nap_sets, 0);
	fake.now += 1;
	poller_progress(s);
	poller_progress(s);
	assert_int_equal(fake.nap_sets, 1);
	assert_int_equal(fake.nap_until, fake.now + 2 * TUNING_PARK_LONG);
	assert_int_equal(s->progress.nap_until, fake.nap_until);
}

static void test_poll_on_one_processor(void **state)
{
	fake.on_ppoll = expect_nap;
	poller_progress(s);
	fake_shard_expect("receive");
	s->progress.one_cpu = true;
	poller_progress(s);
	fake_shard_expect("nap receive");
	assert_false(s->poller.inside);
	/* There is work, so the poller does not sleep. */
	doorbell_ring(&s->doorbells, fake_doorbell(0));
	poller_progress(s);
	fake_shard_expect("receive doorbell:0 " SENT_ALL);
}

/* ---- arming ---- */

static void test_arm(void **state)
{
	s->poller.polls = 40;
	s->burst.looks = 2;
	poller_armed(s);
	assert_int_equal(s->poller.arms, 1);
	assert_int_equal(s->poller.active_at_arm, 42);
	assert_int_equal(fake.wakes, 0);
	fake_shard_expect("");
	s->progress.parked = true;
	poller_armed(s);
	assert_int_equal(s->poller.arms, 2);
	assert_int_equal(fake.wakes, 1);
}

static void arm(void)
{
	poller_armed(s);
}

static void test_arm_while_locked(void **state)
{
	doorbell_ring(&s->doorbells, fake_doorbell(0));
	while_locked(arm);
	fake_shard_expect("");
	shard_leave(s);
	fake_shard_expect("doorbell:0 " SENT_ALL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_alone_at_once, setup),
		cmocka_unit_test_setup(test_rest_waits, setup),
		cmocka_unit_test_setup(test_rest_waits_for_nap, setup),
		cmocka_unit_test_setup(test_batch, setup),
		cmocka_unit_test_setup(test_batch_of_datagrams, setup),
		cmocka_unit_test_setup(test_datagrams_wait_beside_parked_thread, setup),
		cmocka_unit_test_setup(test_poster_is_inside, setup),
		cmocka_unit_test_setup(test_nobody_would_come, setup),
		cmocka_unit_test_setup(test_looks_are_no_polls, setup),
		cmocka_unit_test_setup(test_ended_by_gap, setup),
		cmocka_unit_test_setup(test_ended_by_bytes, setup),
		cmocka_unit_test_setup(test_ended_by_poll, setup),
		cmocka_unit_test_setup(test_ended_by_arm, setup),
		cmocka_unit_test_setup(test_gap_follows_bursts, setup),
		cmocka_unit_test_setup(test_post_while_locked, setup),
		cmocka_unit_test_setup(test_poll, setup),
		cmocka_unit_test_setup(test_poll_while_locked, setup),
		cmocka_unit_test_setup(test_poll_keeps_away_for_waiters, setup),
		cmocka_unit_test_setup(test_poll_of_the_dead, setup),
		cmocka_unit_test_setup(test_poll_tells_thread, setup),
		cmocka_unit_test_setup(test_poll_puts_nap_off, setup),
		cmocka_unit_test_setup(test_poll_on_one_processor, setup),
		cmocka_unit_test_setup(test_arm, setup),
		cmocka_unit_test_setup(test_arm_while_locked, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
