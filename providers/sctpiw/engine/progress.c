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
#include <sys/prctl.h>
#include <unistd.h>

#include "engine/log.h"
#include "engine/private.h"
#include "engine/sys.h"

/*
 * So many empty polls since the thread last looked, and since a CQ was armed, are a polling
 * application if the last one is not older than this, ns. Fewer may be one that spins on memory
 * and asks the CQ now and then: parking would cost it a nap in each round.
 */
#define POLLING_COUNT 8
#define POLLING_AGE 20000u
/* A burst: WRs that are posted within this time, ns, of the last ones that were sent. */
#define BURST_GAP 3000u
/*
 * How long a parked thread sleeps, ns: doubled each time that polling still goes on. Each look costs a
 * poller its core for some 20 us where there is none to spare; who stops polling after a long time, and
 * does not arm a CQ, pays once.
 */
#define PARK_FIRST 50000u
#define PARK_MAX 1600000u
#define ONE_CPU_NAP 50000u /* ns */
#define STACK_SIZE (1u << 20)

static uint32_t load32(const _Atomic uint32_t *v)
{
	return atomic_load_explicit(v, memory_order_relaxed);
}

/* ---- the application's threads ---- */

/* Two threads may lose a count: it only has to move. */
static void count_poll(struct engine *e)
{
	atomic_store_explicit(&e->polls, load32(&e->polls) + 1, memory_order_relaxed);
}

/*
 * Who polls on the only processor keeps it from whoever is to answer: the poller waits for a
 * socket instead, but not for long, since another thread may complete something, too.
 */
static void nap(struct engine *e)
{
	struct pollfd pfd = {.fd = e->epoll_fd, .events = POLLIN};

	if (loop_has_kicks(e))
		return;
	atomic_store_explicit(&e->poller_inside, true, memory_order_relaxed);
	sys_ppoll(&pfd, 1, ONE_CPU_NAP);
	atomic_store_explicit(&e->poller_inside, false, memory_order_relaxed);
}

void engine_progress(struct engine *e)
{
	count_poll(e);
	if (e->one_cpu)
		nap(e);
	if (atomic_load_explicit(&e->waiters, memory_order_relaxed) || !loop_trylock(e)) {
		atomic_store_explicit(&e->last_poll, sys_now(), memory_order_relaxed);
		return;
	}
	atomic_store_explicit(&e->last_poll, e->now, memory_order_relaxed);
	if (!atomic_load_explicit(&e->dead, memory_order_relaxed)) {
		atomic_store_explicit(&e->poller_inside, true, memory_order_relaxed);
		loop_pass(e, LOOP_QUICK);
		atomic_store_explicit(&e->poller_inside, false, memory_order_relaxed);
	}
	loop_unlock(e);
}

void engine_armed(struct engine *e)
{
	atomic_store_explicit(&e->polls_at_arm, load32(&e->polls), memory_order_relaxed);
	atomic_fetch_add_explicit(&e->arms, 1, memory_order_relaxed);
	/* Against park(): either it sees the count, or we see that it is parked. */
	atomic_thread_fence(memory_order_seq_cst);
	if (atomic_load_explicit(&e->parked, memory_order_relaxed))
		progress_wake(e);
	/* What a burst has left behind. */
	if (loop_has_kicks(e) && loop_trylock(e)) {
		loop_finish(e);
		loop_unlock(e);
	}
}

/*
 * A small message in a packet of its own is ten times as dear as one in a full packet. What comes
 * alone is sent at once. The rest of a burst stays on the list until BURST_GAP is over, the empty
 * CQ is polled, or the progress thread comes for it: the one that is parked at the end of its
 * nap, else it is woken, once for many WRs.
 */
static bool gather(struct engine *e, uint64_t now)
{
	if (now - atomic_load_explicit(&e->last_kick, memory_order_relaxed) >= BURST_GAP ||
	    !atomic_load_explicit(&e->thread_started, memory_order_relaxed))
		return false;
	count_poll(e);
	atomic_store_explicit(&e->last_poll, now, memory_order_relaxed);
	/* Against the thread: it sees the list after it has cleared either of these. */
	atomic_thread_fence(memory_order_seq_cst);
	if (!atomic_load_explicit(&e->parked, memory_order_relaxed) &&
	    !atomic_exchange_explicit(&e->kick_wake, true, memory_order_seq_cst))
		progress_wake(e);
	return true;
}

void engine_kick(struct engine *e, struct iw_qp *qp)
{
	loop_push_kick(e, qp);
	if (gather(e, sys_now()))
		return;
	atomic_thread_fence(memory_order_seq_cst);
	if (!loop_trylock(e))
		return;
	loop_finish(e);
	atomic_store_explicit(&e->last_kick, e->now, memory_order_relaxed);
	loop_unlock(e);
}

void progress_wake(struct engine *e)
{
	uint64_t one = 1;

	if (e->thread_started && !atomic_load_explicit(&e->dead, memory_order_relaxed))
		sys_write(e->wake_fd, &one, sizeof(one));
}

/* ---- the progress thread ---- */

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
	uint32_t polls = load32(&e->polls);

	return polls - since >= POLLING_COUNT &&
	       polls - load32(&e->polls_at_arm) >= POLLING_COUNT && polled_just_now(e);
}

static void drain(int fd)
{
	uint64_t count;

	sys_read(fd, &count, sizeof(count));
}

/* Returns when polling has stopped, or a CQ was armed. */
static void park(struct engine *e)
{
	struct pollfd pfd = {.fd = e->wake_fd, .events = POLLIN};
	uint32_t arms = load32(&e->arms);
	uint64_t nap = PARK_FIRST;

	atomic_store_explicit(&e->parked, true, memory_order_relaxed);
	do {
		atomic_thread_fence(memory_order_seq_cst);
		if (load32(&e->arms) != arms)
			break;
		if (sys_ppoll(&pfd, 1, nap) > 0) {
			drain(e->wake_fd);
			break;
		}
		if (loop_has_kicks(e)) {
			/* Posted, and not polled since. */
			nap = PARK_FIRST;
			if (loop_trylock(e)) {
				loop_finish(e);
				loop_unlock(e);
			}
		} else if (nap < PARK_MAX) {
			nap *= 2;
		}
	} while (polled_just_now(e));
	atomic_store_explicit(&e->parked, false, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
}

/* The timer is set once for many deadlines: it may have come too early for any. */
static void reset_timer(struct engine *e)
{
	uint64_t next = loop_next_timeout(e);

	if (next != e->timer_set) {
		e->timer_set = next;
		sys_timerfd_set(e->timer_fd, next);
	}
}

static bool serve(struct engine *e)
{
	bool more, dead;

	atomic_store_explicit(&e->kick_wake, false, memory_order_seq_cst);
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
	loop_unlock(e);
	return !dead;
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

static void *progress_main(void *arg)
{
	struct engine *e = arg;
	uint32_t polls;
	struct pollfd pfd[] = {
		{.fd = e->wake_fd, .events = POLLIN},
		{.fd = e->timer_fd, .events = POLLIN},
		{.fd = e->epoll_fd, .events = POLLIN},
	};

	/* The default slack of 50 us is as long as a nap while parked. */
	prctl(PR_SET_TIMERSLACK, 1000ul, 0ul, 0ul, 0ul);
	pthread_setname_np(pthread_self(), "sctpiw");
	while (serve(e)) {
		polls = load32(&e->polls);
		if (sys_ppoll(pfd, 3, UINT64_MAX) <= 0)
			continue;
		if ((pfd[0].revents | pfd[1].revents | pfd[2].revents) & POLLNVAL) {
			give_up(e);
			break;
		}
		if (pfd[0].revents)
			drain(e->wake_fd);
		/* Once read, so that it does not wake us for ever; serve() sets it anew. */
		if (pfd[1].revents)
			drain(e->timer_fd);
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
	/* The main thread too: one that pinned itself says nothing of the others. */
	e->one_cpu = !sched_getaffinity(0, sizeof(cpus), &cpus) && CPU_COUNT(&cpus) == 1 &&
		     !sched_getaffinity(getpid(), sizeof(cpus), &cpus) && CPU_COUNT(&cpus) == 1;
	ret = start_thread(e);
	if (ret)
		log_error("cannot start the progress thread: %s", strerror(-ret));
	else
		e->thread_started = true;
	return ret;
}
