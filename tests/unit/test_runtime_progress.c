/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/* WRAP: clock_gettime sched_yield sys_ppoll sys_epoll_wait sys_timerfd_set sys_write */
/* WRAP: conn_receive conn_events conn_output conn_timers conn_next_timeout conn_reap */
/* WRAP: conn_doorbell iw_set_now iw_next_notify sys_eventfd sys_timerfd sys_epoll_create */
/* WRAP: sys_epoll_ctl sys_keep sys_close sys_read pthread_create sched_getaffinity */
/* WRAP: setpriority port_watch_fd port_refresh */
/* VALGRIND: yes */
/*
 * The progress thread. It runs in the test's own thread: pthread_create() only writes down what to
 * run, and each sleep of it is a step of the test, which ends by sleeping for the last time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fixture/fake_shard.h"
#include "runtime/tuning.h"

enum { SET_FD = 1010, PORT_FD }; /* a second epoll set; the port's descriptor */

static struct shard *const s = &fake.shard;
static struct transport transport;
static void *(*thread)(void *);
static int create_error, cpus, port_fd, epoll_fds;
static unsigned int refreshes, wake_reads, timer_reads;

/* ---- what the thread calls ---- */

int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *),
			  void *arg);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	assert_ptr_equal(arg, s);
	thread = run;
	return create_error;
}

int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set);
int __wrap_sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	CPU_ZERO(set);
	for (int i = 0; i < cpus; i++)
		CPU_SET(i, set);
	return 0;
}

/* The nice value of the test stays. */
int __wrap_setpriority(int which, unsigned int who, int nice);
int __wrap_setpriority(int which, unsigned int who, int nice)
{
	assert_int_equal(nice, TUNING_NICE);
	return 0;
}

int __wrap_port_watch_fd(void);
int __wrap_port_watch_fd(void)
{
	return port_fd;
}

void __wrap_port_refresh(void);
void __wrap_port_refresh(void)
{
	refreshes++;
}

int __wrap_sys_eventfd(void);
int __wrap_sys_eventfd(void)
{
	return FAKE_WAKE_FD;
}

int __wrap_sys_timerfd(void);
int __wrap_sys_timerfd(void)
{
	return FAKE_TIMER_FD;
}

int __wrap_sys_epoll_create(void);
int __wrap_sys_epoll_create(void)
{
	return epoll_fds++ ? SET_FD : FAKE_EPOLL_FD;
}

int __wrap_sys_keep(int fd);
int __wrap_sys_keep(int fd)
{
	return fd;
}

static const char *name(int fd)
{
	static const char *const names[] = {
		[FAKE_WAKE_FD - FAKE_WAKE_FD] = "wake",	  [FAKE_TIMER_FD - FAKE_WAKE_FD] = "timer",
		[FAKE_EPOLL_FD - FAKE_WAKE_FD] = "epoll", [SET_FD - FAKE_WAKE_FD] = "set",
		[PORT_FD - FAKE_WAKE_FD] = "port",
	};

	return fd < FAKE_WAKE_FD ? "none" : names[fd - FAKE_WAKE_FD];
}

int __wrap_sys_epoll_ctl(int epfd, int op, int fd, struct epoll_event *ev);
int __wrap_sys_epoll_ctl(int epfd, int op, int fd, struct epoll_event *ev)
{
	fake_shard_note("%s%c%s", name(epfd), op == EPOLL_CTL_ADD ? '+' : '-', name(fd));
	return 0;
}

void __wrap_sys_close(int fd);
void __wrap_sys_close(int fd)
{
	fake_shard_note("close:%s", name(fd));
}

ssize_t __wrap_sys_read(int fd, void *buf, size_t len);
ssize_t __wrap_sys_read(int fd, void *buf, size_t len)
{
	wake_reads += fd == FAKE_WAKE_FD;
	timer_reads += fd == FAKE_TIMER_FD;
	return (ssize_t)len;
}

/* ---- fixtures ---- */

static int setup(void **state)
{
	fake_shard_reset();
	transport = (struct transport){ .edges = false };
	s->conn.transport = &transport;
	create_error = epoll_fds = 0;
	cpus = 2;
	port_fd = -1;
	refreshes = wake_reads = timer_reads = 0;
	return 0;
}

static void start(void)
{
	shard_enter(s);
	assert_int_equal(progress_init(s), 0);
	assert_int_equal(progress_start(s), 0);
	shard_leave(s);
	/* It sleeps for long at first, and no CM event is recent. */
	fake.now += SEC;
	fake_shard_forget();
}

/* The thread finds this when it wakes up, and ends. */
static int last_sleep(struct epoll_event *ev, int timeout)
{
	fake_shard_note("end");
	s->dead = true;
	ev->data.ptr = &s->progress.wake;
	return 1;
}

static void run(void)
{
	assert_null(thread(s));
}

/* ---- start and end ---- */

static void test_start(void **state)
{
	shard_enter(s);
	assert_int_equal(progress_init(s), 0);
	progress_set_deadline(s, 5);
	assert_int_equal(fake.timer_sets, 0);
	assert_int_equal(progress_start(s), 0);
	/* The thread's descriptors are in the set of the sockets. */
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
	fake_shard_expect("close:wake close:timer close:epoll");
	assert_false(s->progress.started);
	progress_wake(s);
	assert_int_equal(fake.wakes, 1);
	shard_leave(s);
}

static void test_start_with_edges(void **state)
{
	transport.edges = true;
	shard_enter(s);
	assert_int_equal(progress_init(s), 0);
	assert_int_equal(progress_start(s), 0);
	fake_shard_expect("set+epoll set+wake set+timer");
	progress_fini(s);
	fake_shard_expect("close:wake close:timer close:epoll close:set");
	shard_leave(s);
}

static void test_start_on_one_processor(void **state)
{
	cpus = 1;
	shard_enter(s);
	assert_int_equal(progress_init(s), 0);
	assert_int_equal(progress_start(s), 0);
	assert_true(s->progress.one_cpu);
	/* A poller that naps must not be woken by what is the thread's. */
	fake_shard_expect("set+epoll set+wake set+timer");
	shard_leave(s);
}

static void test_start_fails(void **state)
{
	transport.edges = true;
	create_error = EAGAIN;
	shard_enter(s);
	assert_int_equal(progress_init(s), 0);
	assert_int_equal(progress_start(s), -EAGAIN);
	fake_shard_expect("set+epoll set+wake set+timer set-wake set-timer set-none close:set");
	assert_false(s->progress.started);
	/* The next one that needs the thread tries again. */
	create_error = 0;
	assert_int_equal(progress_start(s), 0);
	assert_true(s->progress.started);
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
	start();
	thorough_pass = 0;
	fake.on_receive = note_depth;
	fake.receives[0] = fake.receives[1] = fake.receives[2] = fake.receives[3] = CONN_MORE;
	fake.on_epoll_wait = last_sleep;
	run();
	/* It passes until nothing is left. */
	fake_shard_expect(
		"receive events output receive events output receive events output receive events "
		"output events reap receive end");
	assert_int_equal(thorough_pass, 5);
	assert_int_equal(wake_reads, 1);
	assert_int_equal(timer_reads, 0);
}

static int wake_of_timer_and_port(struct epoll_event *ev, int timeout)
{
	assert_int_equal(timeout, TUNING_LOOK_AGAIN);
	fake_shard_note("sleep");
	fake.now += SEC;
	ev[0].data.ptr = &s->progress.timer;
	ev[1].data.ptr = &s->progress.port;
	ev[2].data.ptr = &s->conn; /* a socket */
	fake.on_epoll_wait = last_sleep;
	return 3;
}

static void test_what_woke_it(void **state)
{
	start();
	port_fd = PORT_FD;
	fake.on_epoll_wait = wake_of_timer_and_port;
	run();
	/* The port's descriptor is watched once it is there. */
	fake_shard_expect("receive epoll+port sleep receive end");
	assert_int_equal(timer_reads, 1);
	assert_int_equal(refreshes, 1);
	assert_int_equal(s->progress.port_fd, PORT_FD);
}

static int signal_came(struct epoll_event *ev, int timeout)
{
	fake.on_epoll_wait = last_sleep;
	return -EINTR;
}

static void test_signal(void **state)
{
	start();
	fake.on_epoll_wait = signal_came;
	run();
	fake_shard_expect("receive receive end");
	assert_false(s->conn.closed);
}

static int expect_wait_in_ppoll(struct pollfd *fds, unsigned int n, uint64_t timeout)
{
	assert_int_equal(n, 1);
	assert_int_equal(fds->fd, FAKE_EPOLL_FD);
	assert_int_equal(timeout, TUNING_CONNECTING);
	fake_shard_note("ppoll");
	return 1;
}

static int expect_no_wait(struct epoll_event *ev, int timeout)
{
	assert_int_equal(timeout, 0);
	return last_sleep(ev, timeout);
}

static void test_connecting(void **state)
{
	start();
	s->progress.last_cm_event = fake.now - 9 * MSEC;
	s->next_due = TIME_NEVER;
	fake.on_ppoll = expect_wait_in_ppoll;
	fake.on_epoll_wait = expect_no_wait;
	run();
	fake_shard_expect("receive ppoll end");
}

/* ---- the timer ---- */

static int timer_was_early(struct epoll_event *ev, int timeout)
{
	fake_shard_note("sleep");
	fake.now = s->progress.timer_set + 1;
	/* The deadline has moved away meanwhile. */
	fake.next_timeout = fake.now + 5 * MSEC;
	ev->data.ptr = &s->progress.timer;
	fake.on_epoll_wait = last_sleep;
	return 1;
}

static void test_timer(void **state)
{
	uint64_t first;

	start();
	fake.next_timeout = first = fake.now + MSEC;
	s->next_due = fake.now;
	fake.on_epoll_wait = timer_was_early;
	run();
	/* Set by the first pass; set again only because it has come. */
	assert_int_equal(fake.timer_sets, 2);
	assert_int_equal(fake.timer, first + 1 + 5 * MSEC);
	assert_int_equal(s->progress.timer_set, fake.timer);
	assert_int_equal(timer_reads, 1);
}

/* A deadline from before the thread was started, when nobody slept on the timer. */
static void test_timer_from_before(void **state)
{
	start();
	fake.next_timeout = s->next_due = fake.now + MSEC;
	fake.on_epoll_wait = last_sleep;
	run();
	fake_shard_expect("receive end");
	assert_int_equal(fake.timer_sets, 1);
	assert_int_equal(fake.timer, fake.next_timeout);
}

static int deadline_moved(struct epoll_event *ev, int timeout)
{
	fake.next_timeout += MSEC;
	ev->data.ptr = &s->progress.wake;
	fake.on_epoll_wait = last_sleep;
	return 1;
}

static void test_timer_stays(void **state)
{
	start();
	fake.next_timeout = fake.now + MSEC;
	s->next_due = fake.now;
	fake.on_epoll_wait = deadline_moved;
	run();
	assert_int_equal(fake.timer_sets, 1);
}

/* ---- parking ---- */

static unsigned int busy_naps; /* naps during which the application polls */

static void poll_much(void)
{
	s->poller.polls += 8;
	s->poller.last_poll = fake.now;
}

static int polling_began(struct epoll_event *ev, int timeout)
{
	fake_shard_note("sleep");
	assert_false(s->progress.parked);
	fake.now += SEC;
	poll_much();
	ev->data.ptr = &s->progress.wake;
	fake.on_epoll_wait = last_sleep;
	return 1;
}

static int nap(struct pollfd *fds, unsigned int n, uint64_t timeout)
{
	assert_true(s->progress.parked);
	assert_int_equal(n, 2);
	assert_int_equal(fds[0].fd, FAKE_WAKE_FD);
	assert_int_equal(fds[1].fd, port_fd);
	fake_shard_note("nap:%u", (unsigned int)(timeout / 1000));
	fake.now += timeout;
	if (busy_naps && busy_naps--) {
		poll_much();
	} else {
		/* Too few. */
		s->poller.polls += 7;
		s->poller.last_poll = fake.now;
	}
	return 0;
}

static void test_park(void **state)
{
	start();
	busy_naps = 7;
	fake.on_epoll_wait = polling_began;
	fake.on_ppoll = nap;
	run();
	fake_shard_expect("receive sleep nap:50 nap:100 nap:200 nap:400 nap:800 nap:1600 "
			  "nap:1600 nap:1600 receive end");
	assert_false(s->progress.parked);
}

static int nap_and_wake(struct pollfd *fds, unsigned int n, uint64_t timeout)
{
	poll_much();
	fake_shard_note("nap:%u", (unsigned int)(timeout / 1000));
	fds[0].revents = fds[1].revents = POLLIN;
	return 2;
}

static void test_unpark_by_wake(void **state)
{
	start();
	port_fd = PORT_FD;
	fake.on_epoll_wait = polling_began;
	fake.on_ppoll = nap_and_wake;
	run();
	fake_shard_expect("receive epoll+port sleep nap:50 receive end");
	/* By the sleep, the nap and the last sleep. */
	assert_int_equal(wake_reads, 3);
	assert_int_equal(refreshes, 1);
}

static int nap_and_arm(struct pollfd *fds, unsigned int n, uint64_t timeout)
{
	fake_shard_note("nap");
	poll_much();
	s->poller.arms++;
	return 0;
}

static void test_unpark_by_arm(void **state)
{
	start();
	fake.on_epoll_wait = polling_began;
	fake.on_ppoll = nap_and_arm;
	run();
	/* Seen before the next nap, even if the wake was missed. */
	fake_shard_expect("receive sleep nap receive end");
}

static int nap_beside_burst(struct pollfd *fds, unsigned int n, uint64_t timeout)
{
	doorbell_ring(&s->doorbells, fake_doorbell(0));
	return nap(fds, n, timeout);
}

static void test_park_beside_burst(void **state)
{
	start();
	busy_naps = 2;
	fake.on_epoll_wait = polling_began;
	fake.on_ppoll = nap_beside_burst;
	run();
	/* What the burst has left is served. */
	fake_shard_expect("receive sleep nap:50 nap:200 nap:200 receive doorbell:0 events output "
			  "events reap end");
}

static int too_few_polls(struct epoll_event *ev, int timeout)
{
	s->poller.polls += 7;
	s->poller.last_poll = fake.now;
	ev->data.ptr = &s->progress.wake;
	fake.on_epoll_wait = last_sleep;
	return 1;
}

static void test_no_park(void **state)
{
	start();
	fake.on_epoll_wait = too_few_polls;
	fake.on_ppoll = nap;
	run();
	fake_shard_expect("receive receive end");
	/* Just after an arm. */
	s->dead = false;
	s->poller.active_at_arm = s->poller.polls + 1;
	fake.on_epoll_wait = polling_began;
	run();
	fake_shard_expect("receive sleep receive end");
}

/* ---- lingering ---- */

static unsigned int short_sleeps;
static uint64_t yield_takes;

/* Something comes soon after the thread has gone to sleep. */
static int short_sleep(struct epoll_event *ev, int timeout)
{
	fake_shard_note("sleep");
	fake.now += 10000;
	fake.receives[fake.receives_done] = CONN_SOME;
	ev->data.ptr = &s->conn;
	if (!--short_sleeps)
		fake.on_epoll_wait = last_sleep;
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
	start();
	short_sleeps = 1;
	yield_takes = 15000;
	fake.on_epoll_wait = short_sleep;
	fake.on_yield = yield;
	run();
	/* 50 us, and the look that finds them over. */
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
	start();
	short_sleeps = 1;
	yield_takes = 25001;
	fake.on_epoll_wait = short_sleep;
	fake.on_yield = something_comes;
	run();
	fake_shard_expect("receive sleep " SERVED LOOK SERVED "yield " LOOK "receive end");
}

static void test_linger_lost(void **state)
{
	uint64_t lost;

	start();
	short_sleeps = 2;
	yield_takes = 200001;
	fake.on_epoll_wait = short_sleep;
	fake.on_yield = yield;
	run();
	/* Somebody keeps the processor: not again for a while. */
	fake_shard_expect("receive sleep " SERVED LOOK "receive sleep " SERVED "end");
	lost = 2 * SEC + 10000 + 200001;
	assert_int_equal(s->progress.no_linger_until, lost + TUNING_NO_LINGER_MIN);
	assert_int_equal(s->progress.no_linger, 2 * TUNING_NO_LINGER_MIN);
	/* Until then is over. */
	s->dead = false;
	fake.now = s->progress.no_linger_until;
	short_sleeps = 1;
	fake.on_epoll_wait = short_sleep;
	run();
	fake_shard_expect("receive sleep " SERVED LOOK "receive end");
	assert_int_equal(s->progress.no_linger, 4 * TUNING_NO_LINGER_MIN);
}

static unsigned int comes;

static void much_comes(void)
{
	if (comes && comes--)
		fake.receives[fake.receives_done] = CONN_SOME;
	yield();
}

/* Each yield is short: it is not the processor that takes the time. */
static void test_linger_long(void **state)
{
	start();
	comes = 9;
	short_sleeps = 1;
	yield_takes = 30000;
	fake.on_epoll_wait = short_sleep;
	fake.on_yield = much_comes;
	run();
	assert_int_equal(comes, 0);
	assert_int_equal(s->progress.no_linger_until, 0);
}

static int long_sleep(struct epoll_event *ev, int timeout)
{
	fake_shard_note("sleep");
	fake.now += TUNING_LINGER;
	ev->data.ptr = &s->conn;
	fake.receives[fake.receives_done] = CONN_SOME;
	fake.on_epoll_wait = last_sleep;
	return 1;
}

static int short_sleep_for_nothing(struct epoll_event *ev, int timeout)
{
	fake_shard_note("sleep");
	fake.now += 10000;
	ev->data.ptr = &s->conn;
	fake.on_epoll_wait = last_sleep;
	return 1;
}

static void test_no_linger(void **state)
{
	start();
	fake.on_yield = yield;
	fake.on_epoll_wait = long_sleep;
	run();
	fake_shard_expect("receive sleep " SERVED "end");
	/* What came before does not count. */
	s->dead = false;
	fake.on_epoll_wait = short_sleep_for_nothing;
	run();
	fake_shard_expect("receive sleep receive end");
}

static void wait_for_lock(void)
{
	fake.on_yield = NULL;
	shard_wait_begin(s);
}

static void test_linger_gives_way(void **state)
{
	start();
	short_sleeps = 1;
	fake.on_epoll_wait = short_sleep;
	fake.on_yield = wait_for_lock;
	run();
	fake_shard_expect("receive sleep " SERVED "receive end");
	shard_wait_end(s);
}

/* ---- descriptors that are gone ---- */

static int nothing_came(struct epoll_event *ev, int timeout)
{
	fake_shard_note("sleep");
	return 0;
}

static int are_there(struct pollfd *fds, unsigned int n, uint64_t timeout)
{
	assert_int_equal(n, 4);
	assert_int_equal(timeout, 0);
	fake.on_epoll_wait = last_sleep;
	return 0;
}

static int one_is_closed(struct pollfd *fds, unsigned int n, uint64_t timeout)
{
	fds[1].revents = POLLNVAL;
	return 1;
}

static void test_nothing_came(void **state)
{
	start();
	fake.on_epoll_wait = nothing_came;
	fake.on_ppoll = are_there;
	run();
	fake_shard_expect("receive sleep receive end");
	assert_false(s->conn.closed);
}

static void test_closed(void **state)
{
	start();
	fake.on_epoll_wait = nothing_came;
	fake.on_ppoll = one_is_closed;
	run();
	fake_shard_expect("receive sleep");
	assert_true(s->conn.closed);
	assert_true(shard_is_dead(s));
	/* Nothing is written to what has the number now. */
	progress_wake(s);
	assert_int_equal(fake.wakes, 0);
}

static int set_is_closed(struct epoll_event *ev, int timeout)
{
	return -EBADF;
}

static void test_set_closed(void **state)
{
	start();
	fake.on_epoll_wait = set_is_closed;
	run();
	assert_true(s->conn.closed);
	assert_true(shard_is_dead(s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_start, setup),
		cmocka_unit_test_setup(test_start_with_edges, setup),
		cmocka_unit_test_setup(test_start_on_one_processor, setup),
		cmocka_unit_test_setup(test_start_fails, setup),
		cmocka_unit_test_setup(test_pass_and_sleep, setup),
		cmocka_unit_test_setup(test_what_woke_it, setup),
		cmocka_unit_test_setup(test_signal, setup),
		cmocka_unit_test_setup(test_connecting, setup),
		cmocka_unit_test_setup(test_timer, setup),
		cmocka_unit_test_setup(test_timer_from_before, setup),
		cmocka_unit_test_setup(test_timer_stays, setup),
		cmocka_unit_test_setup(test_park, setup),
		cmocka_unit_test_setup(test_unpark_by_wake, setup),
		cmocka_unit_test_setup(test_unpark_by_arm, setup),
		cmocka_unit_test_setup(test_park_beside_burst, setup),
		cmocka_unit_test_setup(test_no_park, setup),
		cmocka_unit_test_setup(test_linger, setup),
		cmocka_unit_test_setup(test_linger_begins_anew, setup),
		cmocka_unit_test_setup(test_linger_lost, setup),
		cmocka_unit_test_setup(test_linger_long, setup),
		cmocka_unit_test_setup(test_no_linger, setup),
		cmocka_unit_test_setup(test_linger_gives_way, setup),
		cmocka_unit_test_setup(test_nothing_came, setup),
		cmocka_unit_test_setup(test_closed, setup),
		cmocka_unit_test_setup(test_set_closed, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
