/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/* WRAP: clock_gettime sched_yield sys_ppoll sys_epoll_wait sys_timerfd_set sys_write */
/* WRAP: conn_receive conn_events conn_output conn_in_flight conn_timers conn_next_timeout conn_reap */
/* WRAP: conn_doorbell iw_set_now iw_next_notify sys_eventfd sys_timerfd sys_epoll_create */
/* WRAP: sys_epoll_ctl sys_keep sys_close sys_read pthread_create sched_getaffinity */
/* WRAP: setpriority port_watch_fd port_refresh control_socket_open control_socket_accept */
/* VALGRIND: yes */
/* The progress thread: its start and end, sleep and timer, and closed descriptors. */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/resource.h>

#include "fixture/fake_progress.h"

static struct shard *const s = &fake.rnic.shard;

/* ---- start and end ---- */

static void test_start(void **state)
{
	shard_enter(s);
	assert_int_equal(progress_init(s), 0);
	progress_set_deadline(s, 5);
	assert_int_equal(fake.timer_sets, 0);
	assert_int_equal(progress_start(s), 0);
	/* The thread's descriptors are in the same set as the sockets. */
	fake_shard_expect("epoll+wake epoll+timer");
	assert_true(s->progress.started);
	assert_false(s->progress.one_cpu);
	assert_int_equal(progress_start(s), 0);
	fake_shard_expect("");
	progress_set_deadline(s, 5);
	assert_int_equal(fake.timer, 5);
	progress_wake(s);
	assert_int_equal(fake.wakes, 1);
	progress_unwatch(s);
	fake_shard_expect("epoll-wake epoll-timer epoll-none");
	progress_fini(s);
	fake_shard_expect("close:wake close:timer close:nap close:epoll");
	assert_false(s->progress.started);
	progress_wake(s);
	assert_int_equal(fake.wakes, 1);
	shard_leave(s);
}

static void test_start_with_edges(void **state)
{
	fake_progress.transport.edges = true;
	shard_enter(s);
	assert_int_equal(progress_init(s), 0);
	assert_int_equal(progress_start(s), 0);
	fake_shard_expect("set+epoll set+wake set+timer");
	progress_fini(s);
	fake_shard_expect("close:wake close:timer close:nap close:epoll close:set");
	shard_leave(s);
}

static void test_start_on_one_processor(void **state)
{
	fake_progress.cpus = 1;
	shard_enter(s);
	assert_int_equal(progress_init(s), 0);
	assert_int_equal(progress_start(s), 0);
	assert_true(s->progress.one_cpu);
	/* The thread's descriptors must not wake a poller that naps. */
	fake_shard_expect("set+epoll set+wake set+timer");
	shard_leave(s);
}

static void test_start_fails(void **state)
{
	fake_progress.transport.edges = true;
	fake_progress.create_error = EAGAIN;
	shard_enter(s);
	assert_int_equal(progress_init(s), 0);
	assert_int_equal(progress_start(s), -EAGAIN);
	fake_shard_expect("set+epoll set+wake set+timer set-wake set-timer set-none close:set");
	assert_false(s->progress.started);
	/* The next caller that needs the thread tries again. */
	fake_progress.create_error = 0;
	assert_int_equal(progress_start(s), 0);
	assert_true(s->progress.started);
	shard_leave(s);
}

static void test_start_with_control(void **state)
{
	fake_progress.control_fd = FAKE_CONTROL_FD;
	shard_enter(s);
	assert_int_equal(progress_init(s), 0);
	assert_int_equal(progress_start(s), 0);
	fake_shard_expect("epoll+wake epoll+timer epoll+control");
	progress_unwatch(s);
	fake_shard_expect("epoll-wake epoll-timer epoll-none epoll-control");
	control_forget(&s->control);
	fake_shard_expect("close:control");
	shard_leave(s);
}

/* ---- sleep ---- */

static int thorough_pass;

static void note_depth(enum conn_depth depth)
{
	thorough_pass += depth == CONN_THOROUGH;
}

static void test_pass_and_sleep(void **state)
{
	fake_progress_start();
	thorough_pass = 0;
	fake.on_receive = note_depth;
	fake.receives[0] = fake.receives[1] = fake.receives[2] = fake.receives[3] = CONN_MORE;
	fake.on_epoll_wait = fake_progress_last_sleep;
	fake_progress_run();
	/* The thread runs passes until nothing remains. */
	fake_shard_expect(
		"receive events output receive events output receive events output receive events "
		"output events reap receive end");
	assert_int_equal(thorough_pass, 5);
	assert_int_equal(fake_progress.wake_reads, 1);
	assert_int_equal(fake_progress.timer_reads, 0);
}

static int wake_of_control(struct epoll_event *ev, int timeout)
{
	ev->data.ptr = &s->control.watch;
	fake.on_epoll_wait = fake_progress_last_sleep;
	return 1;
}

static void test_asked_while_asleep(void **state)
{
	fake_progress.control_fd = FAKE_CONTROL_FD;
	fake_progress_start();
	fake.on_epoll_wait = wake_of_control;
	fake_progress_run();
	fake_shard_expect("receive epoll-control epoll+control receive end");
	assert_int_equal(fake_progress.accepts, 1);
}

static int wake_of_timer_and_port(struct epoll_event *ev, int timeout)
{
	assert_int_equal(timeout, TUNING_LOOK_AGAIN);
	fake_shard_note("sleep");
	fake.now += SEC;
	ev[0].data.ptr = &s->progress.timer;
	ev[1].data.ptr = &s->progress.port;
	ev[2].data.ptr = &s->conn; /* a socket */
	fake.on_epoll_wait = fake_progress_last_sleep;
	return 3;
}

static void test_what_woke_it(void **state)
{
	fake_progress_start();
	fake_progress.port_fd = FAKE_PORT_FD;
	fake.on_epoll_wait = wake_of_timer_and_port;
	fake_progress_run();
	/* The port's descriptor is watched once it exists. */
	fake_shard_expect("receive epoll+port sleep receive end");
	assert_int_equal(fake_progress.timer_reads, 1);
	assert_int_equal(fake_progress.refreshes, 1);
	assert_int_equal(s->progress.port_fd, FAKE_PORT_FD);
}

/* The host's addresses have changed: associations announce this, although no packet comes in. */
static void test_readdressed(void **state)
{
	fake_progress_start();
	s->progress.ways_changes++;
	fake.on_epoll_wait = fake_progress_last_sleep;
	fake_progress_run();
	fake_shard_expect("events output events reap receive end");
}

static int signal_came(struct epoll_event *ev, int timeout)
{
	fake.on_epoll_wait = fake_progress_last_sleep;
	return -EINTR;
}

static void test_signal(void **state)
{
	fake_progress_start();
	fake.on_epoll_wait = signal_came;
	fake_progress_run();
	fake_shard_expect("receive receive end");
	assert_false(s->conn.closed);
}

static int expect_wait_in_ppoll(struct pollfd *fds, unsigned int n, uint64_t timeout)
{
	assert_int_equal(n, 1);
	assert_int_equal(fds->fd, FAKE_EPOLL_FD);
	assert_int_equal(timeout, TUNING_CONNECTING);
	fake_shard_note("ppoll");
	fds->revents = POLLIN;
	return 1;
}

static int expect_no_wait(struct epoll_event *ev, int timeout)
{
	assert_int_equal(timeout, 0);
	return fake_progress_last_sleep(ev, timeout);
}

static void test_connecting(void **state)
{
	fake_progress_start();
	s->progress.last_cm_event = fake.now - 9 * MSEC;
	s->next_due = TIME_NEVER;
	fake.on_ppoll = expect_wait_in_ppoll;
	fake.on_epoll_wait = expect_no_wait;
	fake_progress_run();
	/* The pass received nothing, so the thread checks the other descriptors. */
	fake_shard_expect("receive ppoll receive end");
}

static unsigned int naps;

/* The socket that woke the thread has a datagram for the next pass. */
static int datagram_came(struct pollfd *fds, unsigned int n, uint64_t timeout)
{
	naps++;
	fake.now += MSEC;
	s->conn.cm.last_event = fake.now;
	fake.receives[0] = CONN_SOME;
	fake.receives_done = 0;
	fake_shard_forget();
	fds->revents = POLLIN;
	return 1;
}

/* Each pass receives packets. The other descriptors are still checked in time. */
static void test_connecting_busily(void **state)
{
	fake_progress_start();
	s->progress.last_cm_event = fake.now;
	s->next_due = TIME_NEVER;
	naps = 0;
	fake.on_ppoll = datagram_came;
	fake.on_epoll_wait = expect_no_wait;
	fake_progress_run();
	assert_int_equal(naps, TUNING_UNASKED);
}

/* ---- the nice value ---- */

static int connect_next(struct epoll_event *ev, int timeout)
{
	assert_int_equal(timeout, TUNING_LOOK_AGAIN);
	assert_int_equal(fake_progress.nice, TUNING_NICE);
	s->progress.last_cm_event = fake.now;
	ev->data.ptr = &s->progress.wake;
	return 1;
}

static int connected(struct pollfd *fds, unsigned int n, uint64_t timeout)
{
	assert_int_equal(fake_progress.nice, s->progress.own_nice);
	fake.now += SEC;
	fake.on_epoll_wait = fake_progress_last_sleep;
	return 0;
}

/*
 * True if the thread can get priority: its policy is SCHED_OTHER, and its nice value is higher than
 * TUNING_NICE.
 */
static bool may_come_first(void)
{
	return sched_getscheduler(0) == SCHED_OTHER && getpriority(PRIO_PROCESS, 0) > TUNING_NICE;
}

/* The thread has priority, except while connections are made. */
static void test_nice(void **state)
{
	if (!may_come_first())
		skip();
	fake_progress_start();
	fake.on_epoll_wait = connect_next;
	fake.on_ppoll = connected;
	fake_progress_run();
	assert_int_equal(fake_progress.nice_calls, 2);
}

static unsigned int sleeps;

static int sleep_four_times(struct epoll_event *ev, int timeout)
{
	if (++sleeps == 4)
		return fake_progress_last_sleep(ev, timeout);
	ev->data.ptr = &s->progress.wake;
	return 1;
}

/* If the nice value may not be lowered, one message reports this. */
static void test_nice_refused(void **state)
{
	if (!may_come_first())
		skip();
	fake_progress_start();
	fake_progress.nice_refused = true;
	sleeps = 0;
	fake.on_epoll_wait = sleep_four_times;
	fake_progress_run();
	assert_int_equal(s->progress.nice, s->progress.own_nice);
	assert_int_equal(fake_progress.nice_calls, 1);
}

/* ---- the timer ---- */

static int timer_was_early(struct epoll_event *ev, int timeout)
{
	fake_shard_note("sleep");
	fake.now = s->progress.timer_set + 1;
	/* The deadline has moved meanwhile. */
	fake.next_timeout = fake.now + 5 * MSEC;
	ev->data.ptr = &s->progress.timer;
	fake.on_epoll_wait = fake_progress_last_sleep;
	return 1;
}

static void test_timer(void **state)
{
	uint64_t first;

	fake_progress_start();
	fake.next_timeout = first = fake.now + MSEC;
	s->next_due = fake.now;
	fake.on_epoll_wait = timer_was_early;
	fake_progress_run();
	/* The first pass sets the timer; its expiry sets it again. */
	assert_int_equal(fake.timer_sets, 2);
	assert_int_equal(fake.timer, first + 1 + 5 * MSEC);
	assert_int_equal(s->progress.timer_set, fake.timer);
	assert_int_equal(fake_progress.timer_reads, 1);
}

/* A deadline from before the start of the thread, when nobody slept on the timer. */
static void test_timer_from_before(void **state)
{
	fake_progress_start();
	fake.next_timeout = s->next_due = fake.now + MSEC;
	fake.on_epoll_wait = fake_progress_last_sleep;
	fake_progress_run();
	fake_shard_expect("receive end");
	assert_int_equal(fake.timer_sets, 1);
	assert_int_equal(fake.timer, fake.next_timeout);
}

static int deadline_moved(struct epoll_event *ev, int timeout)
{
	fake.next_timeout += MSEC;
	ev->data.ptr = &s->progress.wake;
	fake.on_epoll_wait = fake_progress_last_sleep;
	return 1;
}

static void test_timer_stays(void **state)
{
	fake_progress_start();
	fake.next_timeout = fake.now + MSEC;
	s->next_due = fake.now;
	fake.on_epoll_wait = deadline_moved;
	fake_progress_run();
	assert_int_equal(fake.timer_sets, 1);
}

/* ---- closed descriptors ---- */

static int nothing_came(struct epoll_event *ev, int timeout)
{
	fake_shard_note("sleep");
	return 0;
}

static int are_there(struct pollfd *fds, unsigned int n, uint64_t timeout)
{
	assert_int_equal(n, 5);
	assert_int_equal(timeout, 0);
	fake.on_epoll_wait = fake_progress_last_sleep;
	return 0;
}

static int one_is_closed(struct pollfd *fds, unsigned int n, uint64_t timeout)
{
	fds[1].revents = POLLNVAL;
	return 1;
}

static void test_nothing_came(void **state)
{
	fake_progress_start();
	fake.on_epoll_wait = nothing_came;
	fake.on_ppoll = are_there;
	fake_progress_run();
	fake_shard_expect("receive sleep receive end");
	assert_false(s->conn.closed);
}

static void test_closed(void **state)
{
	fake_progress_start();
	fake.on_epoll_wait = nothing_came;
	fake.on_ppoll = one_is_closed;
	fake_progress_run();
	fake_shard_expect("receive sleep");
	assert_true(s->conn.closed);
	assert_true(shard_is_dead(s));
	/* Nothing is written to a later file with this descriptor. */
	progress_wake(s);
	assert_int_equal(fake.wakes, 0);
}

static int set_is_closed(struct epoll_event *ev, int timeout)
{
	return -EBADF;
}

static void test_set_closed(void **state)
{
	fake_progress_start();
	fake.on_epoll_wait = set_is_closed;
	fake_progress_run();
	assert_true(s->conn.closed);
	assert_true(shard_is_dead(s));
}

static int set_broke(struct pollfd *fds, unsigned int n, uint64_t timeout)
{
	fds->revents = POLLNVAL;
	return 1;
}

static void test_set_closed_while_connecting(void **state)
{
	fake_progress_start();
	s->progress.last_cm_event = fake.now;
	fake.on_ppoll = set_broke;
	fake.on_epoll_wait = set_is_closed;
	fake_progress_run();
	assert_true(s->conn.closed);
	assert_true(shard_is_dead(s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_start, fake_progress_setup),
		cmocka_unit_test_setup(test_start_with_edges, fake_progress_setup),
		cmocka_unit_test_setup(test_start_on_one_processor, fake_progress_setup),
		cmocka_unit_test_setup(test_start_fails, fake_progress_setup),
		cmocka_unit_test_setup(test_start_with_control, fake_progress_setup),
		cmocka_unit_test_setup(test_asked_while_asleep, fake_progress_setup),
		cmocka_unit_test_setup(test_pass_and_sleep, fake_progress_setup),
		cmocka_unit_test_setup(test_what_woke_it, fake_progress_setup),
		cmocka_unit_test_setup(test_readdressed, fake_progress_setup),
		cmocka_unit_test_setup(test_signal, fake_progress_setup),
		cmocka_unit_test_setup(test_connecting, fake_progress_setup),
		cmocka_unit_test_setup(test_connecting_busily, fake_progress_setup),
		cmocka_unit_test_setup(test_nice, fake_progress_setup),
		cmocka_unit_test_setup(test_nice_refused, fake_progress_setup),
		cmocka_unit_test_setup(test_timer, fake_progress_setup),
		cmocka_unit_test_setup(test_timer_from_before, fake_progress_setup),
		cmocka_unit_test_setup(test_timer_stays, fake_progress_setup),
		cmocka_unit_test_setup(test_nothing_came, fake_progress_setup),
		cmocka_unit_test_setup(test_closed, fake_progress_setup),
		cmocka_unit_test_setup(test_set_closed, fake_progress_setup),
		cmocka_unit_test_setup(test_set_closed_while_connecting, fake_progress_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
