/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/* WRAP: clock_gettime sched_yield sys_ppoll sys_epoll_wait sys_timerfd_set sys_write */
/* WRAP: conn_receive conn_events conn_output conn_in_flight conn_timers conn_next_timeout conn_reap */
/* WRAP: conn_doorbell iw_set_now iw_next_notify sys_eventfd sys_timerfd sys_epoll_create */
/* WRAP: sys_epoll_ctl sys_keep sys_close sys_read pthread_create sched_getaffinity */
/* WRAP: setpriority port_watch_fd port_refresh control_socket_open control_socket_accept */
/* VALGRIND: yes */
/* The progress thread lingers after a message, so that it is awake for a quick answer. */
#include "fixture/fake_progress.h"

static struct shard *const s = &fake.rnic.shard;

static unsigned int short_sleeps;
static uint64_t yield_takes;

/* A packet comes soon after the thread went to sleep. */
static int short_sleep(struct epoll_event *ev, int timeout)
{
	fake_shard_note("sleep");
	fake.now += 10000;
	fake.receives[fake.receives_done] = CONN_SOME;
	ev->data.ptr = &s->conn;
	if (!--short_sleeps)
		fake.on_epoll_wait = fake_progress_last_sleep;
	return 1;
}

static void yield(void)
{
	fake_shard_note("yield");
	fake.now += yield_takes;
}

#define LOOK "receive yield "
#define SERVED "receive events output events reap "

static void test_linger(void **state)
{
	fake_progress_start();
	short_sleeps = 1;
	yield_takes = 15000;
	fake.on_epoll_wait = short_sleep;
	fake.on_yield = yield;
	fake_progress_run();
	/* 50 us, and the look at their end. */
	fake_shard_expect("receive sleep " SERVED LOOK LOOK LOOK LOOK "receive end");
	assert_int_equal(s->progress.no_linger_until, 0);
}

static void something_comes(void)
{
	fake.on_yield = yield;
	fake.receives[fake.receives_done] = CONN_SOME;
	yield();
}

static void test_linger_begins_anew(void **state)
{
	fake_progress_start();
	short_sleeps = 1;
	yield_takes = 25001;
	fake.on_epoll_wait = short_sleep;
	fake.on_yield = something_comes;
	fake_progress_run();
	fake_shard_expect("receive sleep " SERVED LOOK SERVED "yield " LOOK "receive end");
}

static void run_again_from(uint64_t now, unsigned int sleeps)
{
	s->dead = false;
	fake.now = now;
	short_sleeps = sleeps;
	fake.on_epoll_wait = short_sleep;
	fake_progress_run();
}

static unsigned int comes;

static void much_comes(void)
{
	if (comes && comes--)
		fake.receives[fake.receives_done % 16] = CONN_SOME;
	yield();
}

/* Short yields that each receive something, and then a long one. */
static void lost_behind_much(void)
{
	yield_takes = comes ? 40000 : 200001;
	fake.receives_done = 0;
	fake.receives[0] = CONN_NOTHING;
	much_comes();
}

static void take_2_us(enum conn_depth depth)
{
	fake.now += 2000;
}

static void test_linger_lost(void **state)
{
	uint64_t lost;

	fake_progress_start();
	short_sleeps = 2;
	yield_takes = 200001;
	fake.on_epoll_wait = short_sleep;
	fake.on_yield = yield;
	fake_progress_run();
	/*
	 * The first yield is long: another program takes the processor, however long the thread
	 * slept before.
	 */
	fake_shard_expect("receive sleep " SERVED LOOK "receive sleep " SERVED "end");
	lost = 2 * SEC + 10000 + 200001;
	assert_int_equal(s->progress.no_linger_until, lost + TUNING_NO_LINGER_MIN);
	assert_int_equal(s->progress.no_linger, TUNING_NO_LINGER_MIN);
	/* No lingering until this time is over. */
	run_again_from(s->progress.no_linger_until, 1);
	fake_shard_expect("receive sleep " SERVED LOOK "receive end");
	assert_int_equal(s->progress.no_linger, 2 * TUNING_NO_LINGER_MIN);
	/* A long sleep makes no difference. */
	run_again_from(s->progress.no_linger_until + SEC, 1);
	assert_int_equal(s->progress.no_linger, 4 * TUNING_NO_LINGER_MIN);
	/* After much lingering, this is one loss among many yields: 1,600,008 ns at least. */
	fake.on_yield = lost_behind_much;
	comes = 39;
	run_again_from(s->progress.no_linger_until, 1);
	assert_int_equal(s->progress.no_linger, 8 * TUNING_NO_LINGER_MIN);
	comes = 41;
	run_again_from(s->progress.no_linger_until, 1);
	assert_int_equal(s->progress.no_linger, 0);
	fake_shard_forget();
	/* Looks count as lingering, too. */
	fake.on_receive = take_2_us;
	comes = 39;
	run_again_from(s->progress.no_linger_until, 1);
	assert_int_equal(s->progress.no_linger, 0);
	fake_shard_forget();
}

/* After packets that came during a loss, more are expected, as without a loss. */
static void test_linger_on_after_loss(void **state)
{
	fake_progress_start();
	s->progress.lingered = 8 * 200001;
	short_sleeps = 1;
	yield_takes = 200001;
	fake.on_epoll_wait = short_sleep;
	fake.on_yield = something_comes;
	fake_progress_run();
	fake_shard_expect("receive sleep " SERVED LOOK SERVED "yield receive end");
	assert_int_equal(s->progress.no_linger, TUNING_NO_LINGER_MIN);
}

/* Each yield is short: the processor was not lost. */
static void test_linger_long(void **state)
{
	fake_progress_start();
	comes = 9;
	short_sleeps = 1;
	yield_takes = 30000;
	fake.on_epoll_wait = short_sleep;
	fake.on_yield = much_comes;
	fake_progress_run();
	assert_int_equal(comes, 0);
	assert_int_equal(s->progress.no_linger_until, 0);
}

static int long_sleep(struct epoll_event *ev, int timeout)
{
	fake_shard_note("sleep");
	fake.now += TUNING_LINGER;
	ev->data.ptr = &s->conn;
	fake.receives[fake.receives_done] = CONN_SOME;
	fake.on_epoll_wait = fake_progress_last_sleep;
	return 1;
}

static int short_sleep_for_nothing(struct epoll_event *ev, int timeout)
{
	fake_shard_note("sleep");
	fake.now += 10000;
	ev->data.ptr = &s->conn;
	fake.on_epoll_wait = fake_progress_last_sleep;
	return 1;
}

static void test_no_linger(void **state)
{
	fake_progress_start();
	fake.on_yield = yield;
	fake.on_epoll_wait = long_sleep;
	fake_progress_run();
	fake_shard_expect("receive sleep " SERVED "end");
	/* Earlier packets do not count. */
	s->dead = false;
	fake.on_epoll_wait = short_sleep_for_nothing;
	fake_progress_run();
	fake_shard_expect("receive sleep receive end");
}

static void wait_for_lock(void)
{
	fake.on_yield = NULL;
	shard_wait_begin(s);
}

static void test_linger_gives_way(void **state)
{
	fake_progress_start();
	short_sleeps = 1;
	fake.on_epoll_wait = short_sleep;
	fake.on_yield = wait_for_lock;
	fake_progress_run();
	fake_shard_expect("receive sleep " SERVED "receive end");
	shard_wait_end(s);
}

static unsigned int polls, looks; /* by the application, during each yield */

static void poll_in_yield(void)
{
	s->poller.polls += polls;
	s->burst.looks += looks;
	yield();
}

/* A polling application takes the packets itself: another look would only delay it at the lock. */
static void test_linger_beside_polls(void **state)
{
	static const struct {
		unsigned int polls, looks;
	} enough[] = { { 8, 0 }, { 0, 8 }, { 3, 5 } };

	for (size_t i = 0; i < sizeof(enough) / sizeof(enough[0]); i++) {
		fake_progress_setup(state);
		fake_progress_start();
		short_sleeps = 1;
		yield_takes = 1000;
		polls = enough[i].polls;
		looks = enough[i].looks;
		fake.on_epoll_wait = short_sleep;
		fake.on_yield = poll_in_yield;
		fake_progress_run();
		fake_shard_expect("receive sleep " SERVED LOOK "end");
		assert_int_equal(s->progress.no_linger_until, 0);
	}
}

/* Polls of several yields add up: 4, and 8. */
static void test_linger_beside_few_polls(void **state)
{
	fake_progress_start();
	short_sleeps = 1;
	yield_takes = 1000;
	polls = 4;
	looks = 0;
	fake.on_epoll_wait = short_sleep;
	fake.on_yield = poll_in_yield;
	fake_progress_run();
	fake_shard_expect("receive sleep " SERVED LOOK LOOK "end");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_linger, fake_progress_setup),
		cmocka_unit_test_setup(test_linger_begins_anew, fake_progress_setup),
		cmocka_unit_test_setup(test_linger_lost, fake_progress_setup),
		cmocka_unit_test_setup(test_linger_on_after_loss, fake_progress_setup),
		cmocka_unit_test_setup(test_linger_long, fake_progress_setup),
		cmocka_unit_test_setup(test_no_linger, fake_progress_setup),
		cmocka_unit_test_setup(test_linger_gives_way, fake_progress_setup),
		cmocka_unit_test_setup(test_linger_beside_polls, fake_progress_setup),
		cmocka_unit_test_setup(test_linger_beside_few_polls, fake_progress_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
