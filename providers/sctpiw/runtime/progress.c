/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Who runs the engine when. Threads of the application that poll an empty CQ do it themselves;
 * the progress thread sleeps on the sockets and the timer. While polling goes on it parks: it
 * sleeps on its eventfd alone and looks now and then whether polling has stopped, since a thread
 * may as well go on to spin on memory without saying so. A thread that arms a CQ says so, and
 * ends the parking.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "log/log.h"
#include "runtime/private.h"
#include "sys/sys.h"

/*
 * So many empty polls since the thread last looked, and since a CQ was armed, are a polling
 * application if the last one is not older than this, ns. Fewer may be one that spins on memory
 * and asks the CQ now and then: parking would cost it a nap in each round. But one of whom a poll is
 * under way when the thread wakes up, as with long messages, has most likely taken what woke the thread; else that
 * waits for the end of a nap.
 */
#define POLLING_COUNT 8
#define POLLING_AGE 20000u
/*
 * How long a parked thread sleeps, ns: doubled each time that polling still goes on. Each look costs a
 * poller its core for some 20 us where there is none to spare; who stops polling after a long time, and
 * does not arm a CQ, pays once.
 */
#define PARK_FIRST 50000u
#define PARK_MAX 1600000u
#define PARK_BURST 200000u /* where work requests wait for the rest of their burst */
#define SLICE 100000u /* ns, the shortest that there is */
#define NICE (-10)
/* How long the thread looks for more before it sleeps; and when it has lost the processor, ns. */
#define LINGER 50000u
#define LINGER_LOST 200000u
#define NO_LINGER_MIN 10000000u
#define NO_LINGER_MAX 1280000000u
#define STACK_SIZE (1u << 20)
#define EVENTS 16
#define LOOK_AGAIN 1000 /* ms: whether the descriptors are still there */
#define CONNECTING 10000000u /* ns since the last event of the RDMA CM */

/* struct sched_attr of the kernel, which older C libraries do not know. */
struct slice_attr {
	uint32_t size;
	uint32_t sched_policy;
	uint64_t sched_flags;
	int32_t sched_nice;
	uint32_t sched_priority;
	uint64_t sched_runtime;
	uint64_t sched_deadline;
	uint64_t sched_period;
};

void progress_wake(struct engine *e)
{
	uint64_t one = 1;

	if (e->thread_started && !atomic_load_explicit(&e->dead, memory_order_relaxed))
		sys_write(e->wake_fd, &one, sizeof(one));
}

/* On one processor it only waits there, for this thread as well as for a packet. */
static bool is_poller_inside(const struct engine *e)
{
	return !e->one_cpu && atomic_load_explicit(&e->poller_inside, memory_order_relaxed);
}

static bool polled_just_now(struct engine *e)
{
	uint64_t last = atomic_load_explicit(&e->last_poll, memory_order_relaxed);

	/* The difference is signed: another thread may have read the clock later. */
	return atomic_load_explicit(&e->poller_inside, memory_order_relaxed) ||
	       (int64_t)(sys_now() - last) < (int64_t)POLLING_AGE;
}

/* since: the count when the thread last looked */
static bool polling_began(struct engine *e, uint32_t since)
{
	uint32_t polls = engine_load(&e->polls);

	return (polls - since >= POLLING_COUNT || is_poller_inside(e)) &&
	       polls - engine_load(&e->polls_at_arm) >= POLLING_COUNT && polled_just_now(e);
}

static void drain(int fd)
{
	uint64_t count;

	sys_read(fd, &count, sizeof(count));
}

/* since: the count when the thread last looked */
static bool polling_goes_on(struct engine *e, uint32_t since)
{
	return engine_load(&e->polls) - since >= POLLING_COUNT && polled_just_now(e);
}

/* Returns when polling has stopped, or a CQ was armed. */
static void park(struct engine *e)
{
	struct pollfd pfd[] = {
		{.fd = e->wake_fd, .events = POLLIN},
		{.fd = netdev_watch_fd(), .events = POLLIN},
	};
	uint32_t arms = engine_load(&e->arms), polls;
	uint64_t nap = PARK_FIRST;

	atomic_store_explicit(&e->parked, true, memory_order_relaxed);
	do {
		polls = engine_load(&e->polls);
		atomic_thread_fence(memory_order_seq_cst);
		if (engine_load(&e->arms) != arms)
			break;
		sys_ppoll(pfd, 2, nap);
		if (pfd[1].revents)
			netdev_changed();
		if (pfd[0].revents) {
			drain(e->wake_fd);
			break;
		}
		/* A burst under way: its end may be left behind. */
		if (loop_has_doorbells(e))
			nap = PARK_BURST;
		else if (!polling_goes_on(e, polls))
			nap = PARK_FIRST;
		else if (nap < PARK_MAX)
			nap *= 2;
	} while (polling_goes_on(e, polls) || is_poller_inside(e));
	atomic_store_explicit(&e->parked, false, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
}

/*
 * Deadlines mostly move away, by each packet: the timer is left as it is until it has come too
 * early, or is too late.
 */
static void reset_timer(struct engine *e)
{
	uint64_t next = loop_next_timeout(e);

	if (next < e->timer_set || (next != e->timer_set && e->timer_set <= e->now)) {
		e->timer_set = next;
		sys_timerfd_set(e->timer_fd, next);
	}
}

/* received: set to engine.received. */
static bool serve(struct engine *e, uint64_t *received)
{
	bool more, dead;

	atomic_store_explicit(&e->doorbell_wake, false, memory_order_seq_cst);
	atomic_thread_fence(memory_order_seq_cst);
	loop_lock(e);
	dead = atomic_load_explicit(&e->dead, memory_order_relaxed);
	do {
		more = !dead && loop_pass(e, LOOP_THOROUGH);
		if (more)
			loop_read_clock(e);
	} while (more && !atomic_load_explicit(&e->waiters, memory_order_relaxed));
	if (!dead)
		reset_timer(e);
	*received = e->received;
	loop_unlock(e);
	return !dead;
}

/*
 * To sleep and be woken is dear, above all where an idle processor is handed back to a hypervisor.
 * When the last thing came soon after the thread had gone to sleep, it looks for the next one
 * for a while before it does so again. Whoever else wants the processor gets it, and where somebody
 * keeps it, a program that spins on memory perhaps, this is not tried again for long.
 */
static void linger(struct engine *e, uint32_t polls, uint64_t received)
{
	uint64_t start = sys_now(), left = start;

	if (e->one_cpu || start < e->no_linger_until)
		return;
	while (!atomic_load_explicit(&e->waiters, memory_order_relaxed) &&
	       engine_load(&e->polls) - polls < POLLING_COUNT && loop_trylock(e)) {
		uint64_t now = e->now;

		if (!atomic_load_explicit(&e->dead, memory_order_relaxed))
			loop_pass(e, LOOP_QUICK);
		if (e->received != received)
			start = now;
		received = e->received;
		loop_unlock(e);
		if (now - left > LINGER_LOST) {
			e->no_linger_until = now + e->no_linger;
			if (e->no_linger < NO_LINGER_MAX)
				e->no_linger *= 2;
			return;
		}
		if (now - start > LINGER)
			return;
		left = sys_now();
		sched_yield();
	}
}

/*
 * Somebody closed our descriptors by a way that the stand-in does not see. Their numbers are, or
 * will be, those of something else.
 */
static void give_up(struct engine *e)
{
	log_error("the program closed descriptors that are not its own: no RDMA any more");
	loop_lock(e);
	atomic_store(&e->dead, true);
	loop_unlock(e);
}

/*
 * A program may spin on memory, waiting for what only this thread can place there: it must get the
 * processor at once, for a moment. The scheduler (since Linux 6.12) lets who asks for short slices go
 * before who computes on and on, as long as it has had less than its share; its share is larger where
 * the process may raise it. Without either, it works all the same.
 */
static void come_first(void)
{
	struct slice_attr attr = {.size = sizeof(attr)};

	if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) || attr.sched_policy != SCHED_OTHER)
		return;
	attr.sched_runtime = SLICE;
	syscall(SYS_sched_setattr, 0, &attr, 0);
	if (attr.sched_nice > NICE)
		setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE);
}

static int watch(struct engine *e, int *fd)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = fd};

	return sys_epoll_ctl(e->wait_fd, EPOLL_CTL_ADD, *fd, &ev);
}

static int watch_all(struct engine *e)
{
	int ret = 0;

	e->wait_fd = e->epoll_fd;
	/* A poller that naps waits for sockets alone (poller.c). */
	if (e->transport->edges || e->one_cpu) {
		e->wait_fd = sys_keep(sys_epoll_create());
		ret = e->wait_fd < 0 ? e->wait_fd : watch(e, &e->epoll_fd);
	}
	if (!ret)
		ret = watch(e, &e->wake_fd);
	if (!ret)
		ret = watch(e, &e->timer_fd);
	return ret;
}

void progress_unwatch(struct engine *e)
{
	sys_epoll_ctl(e->wait_fd, EPOLL_CTL_DEL, e->wake_fd, NULL);
	sys_epoll_ctl(e->wait_fd, EPOLL_CTL_DEL, e->timer_fd, NULL);
	sys_epoll_ctl(e->wait_fd, EPOLL_CTL_DEL, e->netdev_fd, NULL);
}

/* There is no thread; the next one that needs it tries again. */
static void unwatch_all(struct engine *e)
{
	progress_unwatch(e);
	if (e->wait_fd != e->epoll_fd)
		sys_close(e->wait_fd);
	e->wait_fd = -1;
}

/* What is closed is gone from the epoll set without a word. */
static bool are_closed(const struct engine *e)
{
	struct pollfd pfd[] = {
		{.fd = e->wake_fd}, {.fd = e->timer_fd}, {.fd = e->epoll_fd}, {.fd = e->wait_fd},
	};
	short all = 0;

	sys_ppoll(pfd, 4, 0);
	for (int i = 0; i < 4; i++)
		all |= pfd[i].revents;
	return all & POLLNVAL;
}

/*
 * Who waits in epoll for a socket is woken, by kernels of 2025, on the processor of whoever sent the packet, as
 * if that one were about to sleep. So it is where messages go to and fro; but who connects goes on, and so does
 * the application here, on another processor than this thread: then the two are in each other's way for the
 * engine's lock. In ppoll() for the epoll set one wakes up where one went to sleep.
 */
static int wait_for_events(struct engine *e, struct epoll_event *ev, uint64_t now)
{
	uint64_t last = atomic_load_explicit(&e->last_cm_event, memory_order_relaxed);
	struct pollfd pfd = {.fd = e->wait_fd, .events = POLLIN};

	/* Signed: another thread may have read the clock later. */
	if ((int64_t)(now - last) >= (int64_t)CONNECTING)
		return sys_epoll_wait(e->wait_fd, ev, EVENTS, LOOK_AGAIN);
	sys_ppoll(&pfd, 1, CONNECTING);
	return sys_epoll_wait(e->wait_fd, ev, EVENTS, 0);
}

/* Until something happens, or may have; false: never again. */
static bool sleep_on_all(struct engine *e, uint64_t now)
{
	struct epoll_event ev[EVENTS];
	int n, fd = netdev_watch_fd();

	if (fd != e->netdev_fd) {
		e->netdev_fd = fd;
		watch(e, &e->netdev_fd);
	}
	n = wait_for_events(e, ev, now);
	if ((n < 0 && n != -EINTR) || (!n && are_closed(e))) {
		give_up(e);
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (ev[i].data.ptr == &e->wake_fd)
			drain(e->wake_fd);
		/* Once read, so that it does not wake us for ever; serve() sets it anew. */
		else if (ev[i].data.ptr == &e->timer_fd)
			drain(e->timer_fd);
		else if (ev[i].data.ptr == &e->netdev_fd)
			netdev_changed();
	}
	return true;
}

static void *progress_main(void *arg)
{
	struct engine *e = arg;
	uint64_t asleep, received, before = 0;
	bool soon = false;
	uint32_t polls;

	/* The default slack of 50 us is as long as a nap while parked. */
	prctl(PR_SET_TIMERSLACK, 1000ul, 0ul, 0ul, 0ul);
	pthread_setname_np(pthread_self(), "sctpiw");
	come_first();
	while (serve(e, &received)) {
		polls = engine_load(&e->polls);
		if (soon && received != before)
			linger(e, polls, received);
		before = received;
		asleep = sys_now();
		if (!sleep_on_all(e, asleep))
			break;
		soon = sys_now() - asleep < LINGER;
		if (polling_began(e, polls))
			park(e);
	}
	return NULL;
}

static int start_thread(struct engine *e)
{
	sigset_t all, old;
	pthread_attr_t attr;
	pthread_t thread;
	int ret;

	/* A fault in one of our copies must reach its handler (memory.c). */
	sigfillset(&all);
	sigdelset(&all, SIGSEGV);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	ret = pthread_create(&thread, &attr, progress_main, e);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -ret;
}

int progress_start(struct engine *e)
{
	cpu_set_t cpus;
	int ret;

	if (e->thread_started)
		return 0;
	e->no_linger = NO_LINGER_MIN;
	/* The main thread too: one that pinned itself says nothing of the others. */
	e->one_cpu = !sched_getaffinity(0, sizeof(cpus), &cpus) && CPU_COUNT(&cpus) == 1 &&
		     !sched_getaffinity(getpid(), sizeof(cpus), &cpus) && CPU_COUNT(&cpus) == 1;
	ret = watch_all(e);
	if (!ret)
		ret = start_thread(e);
	if (ret) {
		log_error("cannot start the progress thread: %s", strerror(-ret));
		unwatch_all(e);
	} else {
		e->thread_started = true;
	}
	return ret;
}

int engine_need_timers(struct engine *e)
{
	return progress_start(e);
}
