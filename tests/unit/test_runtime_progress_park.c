/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/* WRAP: clock_gettime sched_yield sys_ppoll sys_epoll_wait sys_timerfd_set sys_write */
/* WRAP: conn_receive conn_events conn_output conn_in_flight conn_timers conn_next_timeout conn_reap */
/* WRAP: conn_doorbell iw_set_now iw_next_notify sys_eventfd sys_timerfd sys_epoll_create */
/* WRAP: sys_epoll_ctl sys_keep sys_close sys_read pthread_create sched_getaffinity */
/* WRAP: setpriority port_watch_fd port_refresh control_socket_open control_socket_accept */
/* VALGRIND: yes */
/* The progress thread is parked while the application polls, and naps meanwhile. */
#include "fixture/fake_progress.h"

static struct shard *const s = &fake.rnic.shard;

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
	fake.on_epoll_wait = fake_progress_last_sleep;
	return 1;
}

static int nap(struct pollfd *fds, unsigned int n, uint64_t timeout)
{
	uint64_t length = fake.nap_until - fake.now;

	assert_true(s->progress.parked);
	assert_int_equal(timeout, TIME_NEVER);
	assert_int_equal(n, 4);
	assert_int_equal(fds[0].fd, FAKE_WAKE_FD);
	assert_int_equal(fds[1].fd, fake_progress.port_fd);
	assert_int_equal(fds[2].fd, fake_progress.control_fd);
	assert_int_equal(fds[3].fd, FAKE_NAP_FD);
	fake_shard_note("nap:%u", (unsigned int)(length / 1000));
	/* Pollers may put off only long naps. */
	assert_int_equal(s->progress.nap_until, length == TUNING_PARK_LONG ? fake.nap_until : 0);
	fake.now += length;
	if (busy_naps && busy_naps--) {
		poll_much();
	} else {
		/* Too few polls. */
		s->poller.polls += 7;
		s->poller.last_poll = fake.now;
	}
	return 0;
}

static void test_park(void **state)
{
	fake_progress_start();
	busy_naps = 7;
	fake.on_epoll_wait = polling_began;
	fake.on_ppoll = nap;
	fake_progress_run();
	fake_shard_expect("receive sleep nap:50 nap:100 nap:200 nap:400 nap:800 nap:800 nap:800 "
			  "nap:800 receive end");
	assert_false(s->progress.parked);
	assert_int_equal(s->progress.nap_until, 0);
	assert_int_equal(fake.now - s->progress.parked_since, 3950000);
}

static unsigned int low_passes; /* passes that leave a UD QP with few receives */

static void run_low(enum conn_depth depth)
{
	s->conn.datagrams.low = low_passes && low_passes--;
}

/* While a program has time to post receives, the thread naps: the sockets would wake it at once. */
static void test_park_for_receives(void **state)
{
	low_passes = 2;
	fake.on_epoll_wait = fake_progress_last_sleep;
	fake.on_receive = run_low;
	fake_progress_start();
	fake.on_ppoll = nap;
	fake_progress_run();
	fake_shard_expect("receive nap:50 receive nap:50 receive end");
	assert_false(s->progress.parked);
}

static int nap_and_wake(struct pollfd *fds, unsigned int n, uint64_t timeout)
{
	poll_much();
	fake_shard_note("nap:%u", (unsigned int)((fake.nap_until - fake.now) / 1000));
	fds[0].revents = fds[1].revents = POLLIN;
	return 2;
}

static void test_unpark_by_wake(void **state)
{
	fake_progress_start();
	fake_progress.port_fd = FAKE_PORT_FD;
	fake.on_epoll_wait = polling_began;
	fake.on_ppoll = nap_and_wake;
	fake_progress_run();
	fake_shard_expect("receive epoll+port sleep nap:50 receive end");
	/* The sleep, the nap and the last sleep. */
	assert_int_equal(fake_progress.wake_reads, 3);
	assert_int_equal(fake_progress.refreshes, 1);
}

static int nap_and_be_asked(struct pollfd *fds, unsigned int n, uint64_t timeout)
{
	fake_shard_note("nap");
	poll_much();
	assert_int_equal(fds[2].fd, FAKE_CONTROL_FD);
	fds[2].revents = POLLIN;
	fake.on_ppoll = nap_and_wake;
	return 1;
}

/* A client of the control socket is served, and the thread continues its nap. */
static void test_asked_while_parked(void **state)
{
	fake_progress.control_fd = FAKE_CONTROL_FD;
	fake_progress_start();
	fake.on_epoll_wait = polling_began;
	fake.on_ppoll = nap_and_be_asked;
	fake_progress_run();
	fake_shard_expect("receive sleep nap epoll-control epoll+control nap:100 receive end");
	assert_int_equal(fake_progress.accepts, 1);
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
	fake_progress_start();
	fake.on_epoll_wait = polling_began;
	fake.on_ppoll = nap_and_arm;
	fake_progress_run();
	/* Noticed before the next nap, even if the wake was missed. */
	fake_shard_expect("receive sleep nap receive end");
}

static int nap_beside_burst(struct pollfd *fds, unsigned int n, uint64_t timeout)
{
	doorbell_ring(&s->doorbells, fake_doorbell(0));
	return nap(fds, n, timeout);
}

static void test_park_beside_burst(void **state)
{
	fake_progress_start();
	busy_naps = 2;
	fake.on_epoll_wait = polling_began;
	fake.on_ppoll = nap_beside_burst;
	fake_progress_run();
	/* The rest of the burst is served. */
	fake_shard_expect("receive sleep nap:50 nap:200 nap:200 receive doorbell:0 events output "
			  "events reap end");
}

static int too_few_polls(struct epoll_event *ev, int timeout)
{
	s->poller.polls += 7;
	s->poller.last_poll = fake.now;
	ev->data.ptr = &s->progress.wake;
	fake.on_epoll_wait = fake_progress_last_sleep;
	return 1;
}

static void test_no_park(void **state)
{
	fake_progress_start();
	fake.on_epoll_wait = too_few_polls;
	fake.on_ppoll = nap;
	fake_progress_run();
	fake_shard_expect("receive receive end");
	/* Shortly after an arm. */
	s->dead = false;
	s->poller.active_at_arm = s->poller.polls + 1;
	fake.on_epoll_wait = polling_began;
	fake_progress_run();
	fake_shard_expect("receive sleep receive end");
}

static int nap_without_timer(struct pollfd *fds, unsigned int n, uint64_t timeout)
{
	fake_shard_note("nap");
	poll_much();
	fds[3].revents = POLLNVAL;
	return 1;
}

/* Without the timer, no nap is possible: the thread does not spin. */
static void test_unpark_without_timer(void **state)
{
	fake_progress_start();
	fake.on_epoll_wait = polling_began;
	fake.on_ppoll = nap_without_timer;
	fake_progress_run();
	fake_shard_expect("receive sleep nap receive end");
}

/* ---- delayed acknowledgements ---- */

static unsigned int sleeps,
	polled_sleeps;	  /* sleeps with a message; the application polls in the first ones */
static unsigned int asks; /* number of the message that requests a SACK at once */

static void flush(struct conn *c)
{
	fake_shard_note("flush");
}

static void receive_asked(enum conn_depth depth)
{
	if (fake.receives_done == asks)
		atomic_store(&s->conn.sacks_asked, true);
}

/* A packet wakes the thread. The application's last poll was just recent enough. */
static int message_came(struct epoll_event *ev, int timeout)
{
	fake_shard_note("sleep");
	fake.now += SEC;
	if (polled_sleeps && polled_sleeps--)
		poll_much();
	fake.now += TUNING_ANSWER_AGE - 1;
	ev->data.ptr = &s->progress.sockets;
	if (!--sleeps)
		fake.on_epoll_wait = fake_progress_last_sleep;
	return 1;
}

static int hold(struct pollfd *fds, unsigned int n, uint64_t timeout)
{
	fake_shard_note("hold:%u", (unsigned int)(timeout / 1000));
	assert_int_equal(n, 1);
	assert_int_equal(fds[0].fd, FAKE_EPOLL_FD);
	assert_false(s->progress.parked);
	fake.now += timeout;
	return 0;
}

/* Runs n sleeps with a message each. The application polls in the first ones. */
static void run_messages(unsigned int n, unsigned int polled, unsigned int asked)
{
	sleeps = n;
	polled_sleeps = polled;
	asks = asked;
	fake_progress.transport.flush_sacks = flush;
	for (unsigned int i = 1; i <= n; i++)
		fake.receives[i] = CONN_SOME;
	fake.on_receive = receive_asked;
	fake.on_epoll_wait = message_came;
	fake.on_ppoll = hold;
	fake_progress_start();
	fake_progress_run();
}

/*
 * An application that just polled may answer: the SACK leaves with its answer, or after a short
 * sleep.
 */
static void test_answer_awaited(void **state)
{
	run_messages(1, 1, 1);
	fake_shard_expect("receive sleep receive events output events reap hold:50 "
			  "flush output receive events output events reap end");
}

/* Without polls no answer is expected: the SACK leaves before the thread sleeps. */
static void test_no_answer_awaited(void **state)
{
	run_messages(1, 0, 1);
	fake_shard_expect("receive sleep receive events output events reap "
			  "flush events output events reap end");
}

/* No poll since the previous message. */
static void test_no_answer_awaited_again(void **state)
{
	run_messages(2, 1, 2);
	fake_shard_expect(
		"receive sleep receive events output events reap "
		"sleep receive events output events reap flush events output events reap end");
}

/* No message requests an early SACK. */
static void test_nothing_held(void **state)
{
	run_messages(1, 1, 9);
	fake_shard_expect("receive sleep receive events output events reap end");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_unpark_without_timer, fake_progress_setup),
		cmocka_unit_test_setup(test_park, fake_progress_setup),
		cmocka_unit_test_setup(test_park_for_receives, fake_progress_setup),
		cmocka_unit_test_setup(test_unpark_by_wake, fake_progress_setup),
		cmocka_unit_test_setup(test_asked_while_parked, fake_progress_setup),
		cmocka_unit_test_setup(test_unpark_by_arm, fake_progress_setup),
		cmocka_unit_test_setup(test_park_beside_burst, fake_progress_setup),
		cmocka_unit_test_setup(test_no_park, fake_progress_setup),
		cmocka_unit_test_setup(test_answer_awaited, fake_progress_setup),
		cmocka_unit_test_setup(test_no_answer_awaited, fake_progress_setup),
		cmocka_unit_test_setup(test_no_answer_awaited_again, fake_progress_setup),
		cmocka_unit_test_setup(test_nothing_held, fake_progress_setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
