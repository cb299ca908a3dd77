/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * While polling goes on the thread is parked: it sleeps on its eventfd alone and looks now and then whether
 * polling has stopped, since a thread may go on to spin on memory without saying so. A thread that arms a CQ
 * says so, and ends the parking.
 */
#define _GNU_SOURCE
#include "runtime/progress.h"

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
#include "net/port.h"
#include "runtime/loop.h"
#include "runtime/shard.h"
#include "sys/sys.h"
#include "util/trace.h"

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

int progress_init(struct shard *s)
{
	struct progress *p = &s->progress;

	p->timer_set = TIME_NEVER;
	p->port_fd = p->wait_fd = -1;
	p->wake_fd = sys_keep(sys_eventfd());
	p->timer_fd = sys_keep(sys_timerfd());
	s->net.epoll_fd = sys_keep(sys_epoll_create());
	if (p->wake_fd < 0)
		return p->wake_fd;
	if (p->timer_fd < 0)
		return p->timer_fd;
	return s->net.epoll_fd < 0 ? s->net.epoll_fd : 0;
}

void progress_fini(struct shard *s)
{
	struct progress *p = &s->progress;

	sys_close(p->wake_fd);
	sys_close(p->timer_fd);
	sys_close(s->net.epoll_fd);
	if (p->wait_fd != s->net.epoll_fd)
		sys_close(p->wait_fd);
	p->wake_fd = p->timer_fd = p->port_fd = p->wait_fd = s->net.epoll_fd = -1;
	p->started = false;
}

void progress_set_deadline(struct shard *s, uint64_t when)
{
	struct progress *p = &s->progress;

	if (when >= p->timer_set || !p->started)
		return;
	p->timer_set = when;
	sys_timerfd_set(p->timer_fd, when);
}

void progress_wake(struct shard *s)
{
	uint64_t one = 1;

	if (s->progress.started && !shard_is_dead(s))
		sys_write(s->progress.wake_fd, &one, sizeof(one));
}

/* On one processor it only waits there, for this thread as well as for a packet. */
static bool is_poller_inside(const struct shard *s)
{
	return !s->progress.one_cpu && atomic_load_explicit(&s->poller.inside, memory_order_relaxed);
}

static bool polled_just_now(struct shard *s)
{
	uint64_t last = atomic_load_explicit(&s->poller.last_poll, memory_order_relaxed);

	/* The difference is signed: another thread may have read the clock later. */
	return atomic_load_explicit(&s->poller.inside, memory_order_relaxed) ||
	       (int64_t)(sys_now() - last) < (int64_t)POLLING_AGE;
}

/* since: the count when the thread last looked */
static bool polling_began(struct shard *s, uint32_t since)
{
	uint32_t polls = poller_load(&s->poller.polls);

	return (polls - since >= POLLING_COUNT || is_poller_inside(s)) &&
	       polls - poller_load(&s->poller.polls_at_arm) >= POLLING_COUNT && polled_just_now(s);
}

static void drain(int fd)
{
	uint64_t count;

	sys_read(fd, &count, sizeof(count));
}

/* since: the count when the thread last looked */
static bool polling_goes_on(struct shard *s, uint32_t since)
{
	return poller_load(&s->poller.polls) - since >= POLLING_COUNT && polled_just_now(s);
}

/* Returns when polling has stopped, or a CQ was armed. */
static void park(struct shard *s)
{
	struct pollfd pfd[] = {
		{.fd = s->progress.wake_fd, .events = POLLIN},
		{.fd = port_watch_fd(), .events = POLLIN},
	};
	uint32_t arms = poller_load(&s->poller.arms), polls;
	uint64_t nap = PARK_FIRST;

	atomic_store_explicit(&s->progress.parked, true, memory_order_relaxed);
	do {
		polls = poller_load(&s->poller.polls);
		atomic_thread_fence(memory_order_seq_cst);
		if (poller_load(&s->poller.arms) != arms)
			break;
		sys_ppoll(pfd, 2, nap);
		if (pfd[1].revents)
			port_refresh();
		if (pfd[0].revents) {
			drain(s->progress.wake_fd);
			break;
		}
		/* A burst under way: its end may be left behind. */
		if (doorbell_is_rung(&s->doorbells))
			nap = PARK_BURST;
		else if (!polling_goes_on(s, polls))
			nap = PARK_FIRST;
		else if (nap < PARK_MAX)
			nap *= 2;
	} while (polling_goes_on(s, polls) || is_poller_inside(s));
	atomic_store_explicit(&s->progress.parked, false, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
}

/*
 * Deadlines mostly move away, by each packet: the timer is left as it is until it has come too
 * early, or is too late.
 */
static void reset_timer(struct shard *s)
{
	uint64_t next = conn_next_timeout(&s->conn);

	if (next < s->progress.timer_set || (next != s->progress.timer_set && s->progress.timer_set <= s->conn.now)) {
		s->progress.timer_set = next;
		sys_timerfd_set(s->progress.timer_fd, next);
	}
}

/* received: set to progress.received. */
static bool serve(struct shard *s, uint64_t *received)
{
	bool more, dead;

	atomic_store_explicit(&s->progress.doorbell_wake, false, memory_order_seq_cst);
	atomic_thread_fence(memory_order_seq_cst);
	shard_enter(s);
	dead = shard_is_dead(s);
	do {
		more = !dead && loop_pass(s, CONN_THOROUGH);
		if (more)
			shard_read_clock(s);
	} while (more && !shard_is_awaited(s));
	if (!dead)
		reset_timer(s);
	*received = s->progress.received;
	shard_leave(s);
	return !dead;
}

/*
 * To sleep and be woken is dear, above all where an idle processor is handed back to a hypervisor.
 * When the last thing came soon after the thread had gone to sleep, it looks for the next one
 * for a while before it does so again. Whoever else wants the processor gets it, and where somebody
 * keeps it, a program that spins on memory perhaps, this is not tried again for long.
 */
static void linger(struct shard *s, uint32_t polls, uint64_t received)
{
	uint64_t start = sys_now(), left = start;

	if (s->progress.one_cpu || start < s->progress.no_linger_until)
		return;
	while (!shard_is_awaited(s) &&
	       poller_load(&s->poller.polls) - polls < POLLING_COUNT && shard_try_enter(s)) {
		uint64_t now = s->conn.now;

		if (!shard_is_dead(s))
			loop_pass(s, CONN_QUICK);
		if (s->progress.received != received)
			start = now;
		received = s->progress.received;
		shard_leave(s);
		if (now - left > LINGER_LOST) {
			s->progress.no_linger_until = now + s->progress.no_linger;
			if (s->progress.no_linger < NO_LINGER_MAX)
				s->progress.no_linger *= 2;
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
static void give_up(struct shard *s)
{
	log_error("the program closed descriptors that are not its own: no RDMA any more");
	shard_enter(s);
	s->conn.closed = true;
	atomic_store(&s->dead, true);
	shard_leave(s);
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

static int watch(struct shard *s, int fd, struct net_watch *what)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = what};

	return sys_epoll_ctl(s->progress.wait_fd, EPOLL_CTL_ADD, fd, &ev);
}

static int watch_all(struct shard *s)
{
	int ret = 0;

	s->progress.wait_fd = s->net.epoll_fd;
	/* A poller that naps waits for sockets alone (poller.c). */
	if (s->conn.transport->edges || s->progress.one_cpu) {
		s->progress.wait_fd = sys_keep(sys_epoll_create());
		ret = s->progress.wait_fd < 0 ? s->progress.wait_fd : watch(s, s->net.epoll_fd, &s->progress.sockets);
	}
	if (!ret)
		ret = watch(s, s->progress.wake_fd, &s->progress.wake);
	if (!ret)
		ret = watch(s, s->progress.timer_fd, &s->progress.timer);
	return ret;
}

void progress_unwatch(struct shard *s)
{
	sys_epoll_ctl(s->progress.wait_fd, EPOLL_CTL_DEL, s->progress.wake_fd, NULL);
	sys_epoll_ctl(s->progress.wait_fd, EPOLL_CTL_DEL, s->progress.timer_fd, NULL);
	sys_epoll_ctl(s->progress.wait_fd, EPOLL_CTL_DEL, s->progress.port_fd, NULL);
}

/* There is no thread; the next one that needs it tries again. */
static void unwatch_all(struct shard *s)
{
	progress_unwatch(s);
	if (s->progress.wait_fd != s->net.epoll_fd)
		sys_close(s->progress.wait_fd);
	s->progress.wait_fd = -1;
}

/* What is closed is gone from the epoll set without a word. */
static bool are_closed(const struct shard *s)
{
	struct pollfd pfd[] = {
		{.fd = s->progress.wake_fd}, {.fd = s->progress.timer_fd}, {.fd = s->net.epoll_fd}, {.fd = s->progress.wait_fd},
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
static int wait_for_events(struct shard *s, struct epoll_event *ev, uint64_t now)
{
	uint64_t last = atomic_load_explicit(&s->progress.last_cm_event, memory_order_relaxed);
	struct pollfd pfd = {.fd = s->progress.wait_fd, .events = POLLIN};

	/* Signed: another thread may have read the clock later. */
	if ((int64_t)(now - last) >= (int64_t)CONNECTING)
		return sys_epoll_wait(s->progress.wait_fd, ev, EVENTS, LOOK_AGAIN);
	sys_ppoll(&pfd, 1, CONNECTING);
	return sys_epoll_wait(s->progress.wait_fd, ev, EVENTS, 0);
}

/* Until something happens, or may have; false: never again. */
static bool sleep_on_all(struct shard *s, uint64_t now)
{
	struct epoll_event ev[EVENTS];
	int n, fd = port_watch_fd();

	if (fd != s->progress.port_fd) {
		s->progress.port_fd = fd;
		watch(s, s->progress.port_fd, &s->progress.port);
	}
	n = wait_for_events(s, ev, now);
	TRACE(woken, TRACE_NOW, .slept = sys_now() - now);
	if ((n < 0 && n != -EINTR) || (!n && are_closed(s))) {
		give_up(s);
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (ev[i].data.ptr == &s->progress.wake)
			drain(s->progress.wake_fd);
		/* Once read, so that it does not wake us for ever; serve() sets it anew. */
		else if (ev[i].data.ptr == &s->progress.timer)
			drain(s->progress.timer_fd);
		else if (ev[i].data.ptr == &s->progress.port)
			port_refresh();
	}
	return true;
}

static void *progress_main(void *arg)
{
	struct shard *s = arg;
	uint64_t asleep, received, before = 0;
	bool soon = false;
	uint32_t polls;

	/* The default slack of 50 us is as long as a nap while parked. */
	prctl(PR_SET_TIMERSLACK, 1000ul, 0ul, 0ul, 0ul);
	pthread_setname_np(pthread_self(), "sctpiw");
	come_first();
	while (serve(s, &received)) {
		polls = poller_load(&s->poller.polls);
		if (soon && received != before)
			linger(s, polls, received);
		before = received;
		asleep = sys_now();
		if (!sleep_on_all(s, asleep))
			break;
		soon = sys_now() - asleep < LINGER;
		if (polling_began(s, polls))
			park(s);
	}
	return NULL;
}

static int start_thread(struct shard *s)
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
	ret = pthread_create(&thread, &attr, progress_main, s);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -ret;
}

int progress_start(struct shard *s)
{
	cpu_set_t cpus;
	int ret;

	if (s->progress.started)
		return 0;
	s->progress.no_linger = NO_LINGER_MIN;
	/* The main thread too: one that pinned itself says nothing of the others. */
	s->progress.one_cpu = !sched_getaffinity(0, sizeof(cpus), &cpus) && CPU_COUNT(&cpus) == 1 &&
		     !sched_getaffinity(getpid(), sizeof(cpus), &cpus) && CPU_COUNT(&cpus) == 1;
	ret = watch_all(s);
	if (!ret)
		ret = start_thread(s);
	if (ret) {
		log_error("cannot start the progress thread: %s", strerror(-ret));
		unwatch_all(s);
	} else {
		s->progress.started = true;
	}
	return ret;
}
