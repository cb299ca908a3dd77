/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
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
#include "runtime/rnic.h"
#include "runtime/tuning.h"
#include "sys/sys.h"
#include "util/trace.h"

#define STACK_SIZE (1u << 20)
#define EVENTS 16

/* The kernel's struct sched_attr, which glibc defines only since version 2.41. */
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

	control_init(&s->control);
	p->timer_set = TIME_NEVER;
	p->wait_fd = -1;
	atomic_init(&p->port_fd, -1);
	route_probe_init(&s->net.routes);
	p->wake_fd = sys_keep(sys_eventfd());
	p->timer_fd = sys_keep(sys_timerfd());
	p->nap_fd = sys_keep(sys_timerfd());
	s->net.epoll_fd = sys_keep(sys_epoll_create());
	if (p->wake_fd < 0)
		return p->wake_fd;
	if (p->timer_fd < 0)
		return p->timer_fd;
	if (p->nap_fd < 0)
		return p->nap_fd;
	return s->net.epoll_fd < 0 ? s->net.epoll_fd : 0;
}

void progress_fini(struct shard *s)
{
	struct progress *p = &s->progress;

	sys_close(p->wake_fd);
	sys_close(p->timer_fd);
	sys_close(p->nap_fd);
	route_probe_close(&s->net.routes);
	sys_close(s->net.epoll_fd);
	if (p->wait_fd != s->net.epoll_fd)
		sys_close(p->wait_fd);
	p->wake_fd = p->timer_fd = p->nap_fd = p->wait_fd = s->net.epoll_fd = -1;
	p->port_fd = -1;
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

static void drain(int fd)
{
	uint64_t count;

	sys_read(fd, &count, sizeof(count));
}

/* ---- parking ---- */

/* since: result of poller_activity() when the thread last looked. now is in ns. */
static struct tuning_app observe(const struct shard *s, uint32_t since, uint64_t now)
{
	uint32_t activity = poller_activity(s);

	return (struct tuning_app){
		.active = activity - since,
		.since_arm = activity - poller_load(&s->poller.active_at_arm),
		/* The age is negative if another thread has read the clock later. */
		.age = (int64_t)(now - poller_last_active(s)),
		.inside = atomic_load_explicit(&s->poller.inside, memory_order_relaxed),
		.one_cpu = s->progress.one_cpu,
	};
}

/* True if acknowledgements wait for the application's posts. */
static bool sacks_wait(const struct shard *s)
{
	return atomic_load_explicit(&s->conn.sacks_asked, memory_order_relaxed);
}

static int watch_control(struct shard *s)
{
	struct pollfd wanted = control_wanted(&s->control);
	struct epoll_event ev = {
		.events = wanted.events == POLLOUT ? EPOLLOUT : EPOLLIN,
		.data.ptr = &s->control.watch,
	};

	return wanted.fd < 0 ? 0 :
			       sys_epoll_ctl(s->progress.wait_fd, EPOLL_CTL_ADD, wanted.fd, &ev);
}

/*
 * Serves the client of the control socket, or drops an idle client. Then adds the descriptor that
 * the thread must wait for next to the epoll set.
 */
static void serve_control(struct shard *s, bool ready)
{
	struct pollfd wanted = control_wanted(&s->control);

	sys_epoll_ctl(s->progress.wait_fd, EPOLL_CTL_DEL, wanted.fd, NULL);
	control_serve(s, ready, sys_now());
	watch_control(s);
}

static void end_nap_at(struct progress *p, uint64_t until)
{
	atomic_store_explicit(&p->nap_until, until, memory_order_relaxed);
	sys_timerfd_set(p->nap_fd, until);
}

void progress_put_nap_off(struct shard *s, uint64_t now)
{
	struct progress *p = &s->progress;
	uint32_t looks = poller_load(&s->burst.looks);
	uint64_t parked;

	if (!tuning_puts_nap_off(atomic_load_explicit(&p->nap_until, memory_order_relaxed), now))
		return;
	parked = now - atomic_load_explicit(&p->parked_since, memory_order_relaxed);
	/* A look shows that a work request has begun to wait for its burst. */
	end_nap_at(p, now + tuning_put_off(parked, looks != p->looks_before));
	p->looks_before = looks;
}

void progress_shorten_nap(struct shard *s, uint64_t now)
{
	struct progress *p = &s->progress;

	if (tuning_shortens_nap(atomic_load_explicit(&p->nap_until, memory_order_relaxed), now))
		end_nap_at(p, now + TUNING_PARK_LONG);
}

/*
 * Reads changes of the local addresses, and wakes the threads of the other shards: only one thread
 * can read a change from the descriptor.
 */
static void refresh_port(struct shard *s)
{
	uint32_t before = port_ways_changes();

	port_refresh();
	if (port_ways_changes() == before)
		return;
	for (unsigned int i = 0; i < s->rnic->n_shards; i++)
		if (i != s->index)
			progress_wake(rnic_shard(s->rnic, i));
}

/*
 * Makes a parked thread nap for `length` ns or longer. Returns false if it was woken, or if the
 * local addresses changed.
 */
static bool nap(struct shard *s, uint64_t length)
{
	struct pollfd pfd[] = {
		{ .fd = s->progress.wake_fd, .events = POLLIN },
		{ .fd = port_watch_fd(), .events = POLLIN },
		control_wanted(&s->control),
		{ .fd = s->progress.nap_fd, .events = POLLIN },
	};
	uint64_t until = sys_now() + length;

	/* Set the timer before pollers may put the nap off: this call would undo their change. */
	sys_timerfd_set(s->progress.nap_fd, until);
	if (length == TUNING_PARK_LONG)
		atomic_store_explicit(&s->progress.nap_until, until, memory_order_relaxed);
	sys_ppoll(pfd, 4, TIME_NEVER);
	atomic_store_explicit(&s->progress.nap_until, 0, memory_order_relaxed);
	if (pfd[1].revents)
		refresh_port(s);
	if (pfd[2].revents || control_is_busy(&s->control))
		serve_control(s, pfd[2].revents);
	if (pfd[0].revents)
		drain(s->progress.wake_fd);
	/* A closed timer ends the nap at once. are_closed() then checks the others. */
	return !pfd[0].revents && !(pfd[3].revents & POLLNVAL) &&
	       s->progress.ways_changes == port_ways_changes();
}

/*
 * Parks the thread, which then sleeps without waiting for the sockets. It sometimes checks if
 * polling has stopped: an application may stop without notice, to spin on memory. An application
 * that arms a CQ wakes the thread. Returns once polling has stopped, or the thread was woken.
 */
static void park(struct shard *s)
{
	uint32_t arms = poller_load(&s->poller.arms), since;
	uint64_t length = TUNING_PARK_FIRST;
	struct tuning_app app;

	/* A poller that read nap_until during the last nap may have written it after that nap. */
	atomic_store_explicit(&s->progress.nap_until, 0, memory_order_relaxed);
	atomic_store_explicit(&s->progress.parked_since, sys_now(), memory_order_relaxed);
	atomic_store_explicit(&s->progress.parked, true, memory_order_relaxed);
	do {
		since = poller_activity(s);
		/* Pairs with the fence of poller_armed(). */
		atomic_thread_fence(memory_order_seq_cst);
		if (poller_load(&s->poller.arms) != arms || !nap(s, length))
			break;
		app = observe(s, since, sys_now());
		length = tuning_park_nap(&app, length,
					 doorbell_is_rung(&s->doorbells) || sacks_wait(s));
	} while (length);
	atomic_store_explicit(&s->progress.parked, false, memory_order_relaxed);
	/*
	 * Pairs with the fence of burst.c. If a poster still read `parked` as true, the next
	 * serve() finds the poster's doorbell.
	 */
	atomic_thread_fence(memory_order_seq_cst);
}

/* ---- serving and lingering ---- */

/*
 * Sets the timer to next_due. Most deadlines move later with each packet. To save a system call per
 * packet, the timer then stays, unless it has already expired.
 */
static void reset_timer(struct shard *s)
{
	uint64_t next = s->next_due;

	if (next < s->progress.timer_set ||
	    (next != s->progress.timer_set && s->progress.timer_set <= s->conn.now)) {
		s->progress.timer_set = next;
		sys_timerfd_set(s->progress.timer_fd, next);
	}
}

/*
 * Notifies the associations if local addresses, or the state of their interfaces, have changed.
 * Needs the shard lock.
 */
static void readdress(struct shard *s)
{
	uint32_t changes = port_ways_changes();

	if (changes == s->progress.ways_changes)
		return;
	s->progress.ways_changes = changes;
	conn_readdress(&s->conn);
	/* Send the announcements to peers now: no packet or timer may cause another turn soon. */
	loop_finish(s);
}

/* Runs the shard until nothing is received. Sets *received. Returns false if the shard is dead. */
static bool serve(struct shard *s, uint64_t *received)
{
	bool more, dead;

	/* A thread that rings after this store reads false, and wakes this thread again. */
	atomic_store_explicit(&s->progress.doorbell_wake, false, memory_order_seq_cst);
	/* Pairs with the fence of burst.c. The list of doorbells is read after the fence. */
	atomic_thread_fence(memory_order_seq_cst);
	shard_enter(s);
	dead = shard_is_dead(s);
	if (!dead)
		readdress(s);
	do {
		more = !dead && loop_pass(s, CONN_THOROUGH);
		if (more)
			shard_read_clock(s);
	} while (more && !shard_is_awaited(s));
	if (!dead)
		reset_timer(s);
	*received = s->progress.received;
	s->progress.low = s->conn.datagrams.low;
	shard_leave(s);
	return !dead;
}

/*
 * Runs one pass. Sets *now to its time, ns, and *received to progress.received. Returns false if
 * another thread has the lock.
 */
static bool look(struct shard *s, uint64_t *now, uint64_t *received)
{
	if (shard_is_awaited(s) || !shard_try_enter(s))
		return false;
	*now = s->conn.now;
	if (!shard_is_dead(s))
		loop_pass(s, CONN_QUICK);
	*received = s->progress.received;
	s->progress.low = s->conn.datagrams.low;
	shard_leave(s);
	return true;
}

/*
 * Yields the processor between two passes. *since is the time, ns, of the last yield, or of the
 * start of lingering. Returns false if the thread must not linger for some time.
 */
static bool yield(struct progress *p, uint64_t *since)
{
	uint64_t left = sys_now(), back;

	sched_yield();
	back = sys_now();
	p->lingered += left - *since;
	*since = back;
	if (back - left <= TUNING_LINGER_LOST) {
		p->lingered += back - left;
		return true;
	}
	p->no_linger = tuning_no_linger(&(struct tuning_lost){
		.away = back - left,
		.lingered = p->lingered,
		.last = p->no_linger,
	});
	p->no_linger_until = back + p->no_linger;
	p->lingered = 0;
	return !p->no_linger;
}

/*
 * Runs passes until tuning_lingered() returns TUNING_IDLE_SLEEP, the processor is lost, the
 * application polls, or another thread needs the lock. since: result of poller_activity() before
 * the thread's run.
 */
static void linger(struct shard *s, uint32_t since, uint64_t received, uint64_t start)
{
	uint64_t now = start, last = start, before = received;
	bool goes_on = true;

	/*
	 * Check after the yield if the application polls: another pass would keep it from the lock,
	 * and slow RDMA Write with events down by a quarter. A check before the yield finds
	 * nothing: polls that find the lock taken do not count.
	 */
	while (tuning_looks_once_more(poller_activity(s) - since) && look(s, &now, &received)) {
		if (received != before)
			start = now;
		before = received;
		if (s->progress.low || !goes_on)
			return;
		if (tuning_lingered(now - start) == TUNING_IDLE_SLEEP)
			return;
		goes_on = yield(&s->progress, &last);
	}
}

/* Sends the acknowledgements that wait for the application's posts, before the thread sleeps. */
static void flush_sacks(struct shard *s)
{
	if (!sacks_wait(s))
		return;
	shard_enter(s);
	if (!shard_is_dead(s) && conn_flush_sacks(&s->conn))
		loop_finish(s);
	shard_leave(s);
}

/* ---- the scheduler ---- */

/*
 * A program may spin on memory that only this thread can change. The thread then needs the
 * processor at once, for a short time. Since Linux 6.12, the scheduler prefers a thread with short
 * slices to a computing thread, until the former has had its share. A lower nice value increases
 * the share, if the process may set one (see wait_for_events()). Both only affect speed.
 */
static void ask_for_slices(struct progress *p)
{
	struct slice_attr attr = { .size = sizeof(attr) };

	if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) ||
	    attr.sched_policy != SCHED_OTHER)
		return;
	attr.sched_runtime = TUNING_SLICE;
	syscall(SYS_sched_setattr, 0, &attr, 0);
	p->nice = p->own_nice = attr.sched_nice;
	p->first_nice = attr.sched_nice < TUNING_NICE ? attr.sched_nice : TUNING_NICE;
}

/* A process that has dropped its privileges may no longer lower the nice value. */
static void set_nice(struct progress *p, int nice)
{
	if (nice == p->nice)
		return;
	if (!setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), nice))
		p->nice = nice;
	else /* no permission to lower it: do not try again */
		p->first_nice = p->nice;
}

/* ---- descriptors ---- */

/*
 * The application has closed internal descriptors without the preload library noticing. Other files
 * use the same numbers now, or will use them. So this shard must not use any descriptor again.
 */
static void give_up(struct shard *s)
{
	log_error("the program closed descriptors that are not its own: no RDMA any more");
	shard_enter(s);
	s->conn.closed = true;
	atomic_store(&s->dead, true);
	shard_leave(s);
}

static int watch(struct shard *s, int fd, struct net_watch *what)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = what };

	return sys_epoll_ctl(s->progress.wait_fd, EPOLL_CTL_ADD, fd, &ev);
}

static int watch_all(struct shard *s)
{
	int ret = 0;

	s->progress.wait_fd = s->net.epoll_fd;
	/* If pollers read edges from net.epoll_fd, or nap on it, it must only contain sockets. */
	if (s->conn.transport->edges || s->progress.one_cpu) {
		s->progress.wait_fd = sys_keep(sys_epoll_create());
		ret = s->progress.wait_fd < 0 ? s->progress.wait_fd :
						watch(s, s->net.epoll_fd, &s->progress.sockets);
	}
	if (!ret)
		ret = watch(s, s->progress.wake_fd, &s->progress.wake);
	if (!ret)
		ret = watch(s, s->progress.timer_fd, &s->progress.timer);
	return ret ? ret : watch_control(s);
}

void progress_unwatch(struct shard *s)
{
	sys_epoll_ctl(s->progress.wait_fd, EPOLL_CTL_DEL, s->progress.wake_fd, NULL);
	sys_epoll_ctl(s->progress.wait_fd, EPOLL_CTL_DEL, s->progress.timer_fd, NULL);
	sys_epoll_ctl(s->progress.wait_fd, EPOLL_CTL_DEL, s->progress.port_fd, NULL);
	if (s->control.sock.fd >= 0)
		sys_epoll_ctl(s->progress.wait_fd, EPOLL_CTL_DEL, s->control.sock.fd, NULL);
}

/* Undoes watch_all(), if the thread did not start. The next progress_start() tries again. */
static void unwatch_all(struct shard *s)
{
	progress_unwatch(s);
	if (s->progress.wait_fd != s->net.epoll_fd)
		sys_close(s->progress.wait_fd);
	s->progress.wait_fd = -1;
}

/*
 * True if a descriptor of the thread is closed. epoll does not report this: it silently drops
 * closed descriptors.
 */
static bool are_closed(const struct shard *s)
{
	struct pollfd pfd[] = {
		{ .fd = s->progress.wake_fd }, { .fd = s->progress.timer_fd },
		{ .fd = s->progress.nap_fd },  { .fd = s->net.epoll_fd },
		{ .fd = s->progress.wait_fd },
	};
	short all = 0;

	sys_ppoll(pfd, 5, 0);
	for (int i = 0; i < 5; i++)
		all |= pfd[i].revents;
	return all & POLLNVAL;
}

/*
 * While connections are made, the thread has its original nice value. The application then has more
 * work for each packet. If each packet interrupted the application, both threads would always work
 * on a single packet.
 *
 * now is in ns. received: the passes since the last sleep received something. Returns the number of
 * events, or -errno. -EINTR means that any descriptor may be ready: ppoll() does not report which
 * descriptors of the set are ready. In most cases a socket is ready, and the next pass reads it. So
 * the set is queried only after passes that received nothing.
 */
static int wait_for_events(struct shard *s, struct epoll_event *ev, uint64_t now, bool received)
{
	struct progress *p = &s->progress;
	uint64_t last = atomic_load_explicit(&p->last_cm_event, memory_order_relaxed);
	struct pollfd pfd = { .fd = p->wait_fd, .events = POLLIN };

	if (tuning_asks(p->unasked, received)) {
		int n = sys_epoll_wait(p->wait_fd, ev, EVENTS, 0);

		p->unasked = 0;
		if (n)
			return n;
	}
	if (tuning_sleep((int64_t)(now - last)) == TUNING_SLEEP_EPOLL) {
		set_nice(p, p->first_nice);
		p->unasked = 0;
		return sys_epoll_wait(p->wait_fd, ev, EVENTS, TUNING_LOOK_AGAIN);
	}
	set_nice(p, p->own_nice);
	if (sys_ppoll(&pfd, 1, TUNING_CONNECTING) != 1 || pfd.revents != POLLIN)
		return sys_epoll_wait(p->wait_fd, ev, EVENTS, 0);
	p->unasked++;
	return -EINTR;
}

/*
 * Waits a short time for the application's answer, since its packet can carry the held
 * acknowledgements. If no answer is posted, the next run of the shard sends them. Returns -EINTR,
 * as wait_for_events() does.
 */
static int wait_for_answer(struct shard *s)
{
	struct pollfd pfd = { .fd = s->progress.wait_fd, .events = POLLIN };

	sys_ppoll(&pfd, 1, TUNING_ANSWER);
	s->progress.unasked++;
	return -EINTR;
}

/*
 * Sleeps until something happens, or may have happened. now and received: as in wait_for_events().
 * hold: acknowledgements wait for the application's answer, so the sleep must be short. Returns
 * false if the descriptors were closed.
 */
static bool sleep_on_all(struct shard *s, uint64_t now, bool received, bool hold)
{
	bool asked = false;
	struct epoll_event ev[EVENTS];
	int n, fd = port_watch_fd();

	if (fd != s->progress.port_fd) {
		s->progress.port_fd = fd;
		watch(s, fd, &s->progress.port);
	}
	n = hold ? wait_for_answer(s) : wait_for_events(s, ev, now, received);
	TRACE(woken, TRACE_NOW, .slept = sys_now() - now);
	if ((n < 0 && n != -EINTR) || (!n && are_closed(s))) {
		give_up(s);
		return false;
	}
	for (int i = 0; i < n; i++) {
		if (ev[i].data.ptr == &s->progress.wake)
			drain(s->progress.wake_fd);
		/* An unread timer would end every later sleep at once. serve() sets it again. */
		else if (ev[i].data.ptr == &s->progress.timer)
			drain(s->progress.timer_fd);
		else if (ev[i].data.ptr == &s->progress.port)
			refresh_port(s);
		else if (ev[i].data.ptr == &s->control.watch)
			asked = true;
	}
	if (asked || control_is_busy(&s->control))
		serve_control(s, asked);
	return true;
}

/* ---- the thread ---- */

static void *progress_main(void *arg)
{
	struct shard *s = arg;
	uint64_t asleep, awake, received, before = 0;
	struct tuning_served served = { .one_cpu = s->progress.one_cpu };
	struct tuning_app app;
	uint32_t since = poller_activity(s);
	bool hold;

	prctl(PR_SET_TIMERSLACK, (unsigned long)TUNING_TIMER_SLACK, 0ul, 0ul, 0ul);
	pthread_setname_np(pthread_self(), "sctpiw");
	ask_for_slices(&s->progress);
	while (serve(s, &received)) {
		served.received = received != before;
		served.now = sys_now();
		before = received;
		app = observe(s, since, served.now);
		since += app.active;
		served.no_linger_until = s->progress.no_linger_until;
		asleep = served.now;
		hold = served.received && sacks_wait(s) && tuning_may_answer(&app);
		if (!hold && !s->progress.low && tuning_served(&served) == TUNING_IDLE_LINGER) {
			linger(s, since, received, served.now);
			asleep = sys_now();
		}
		if (!hold)
			flush_sacks(s);
		/* Unread data in the sockets would end the sleep at once. */
		if (s->progress.low) {
			park(s);
			continue;
		}
		if (!sleep_on_all(s, asleep, served.received, hold))
			break;
		awake = sys_now();
		served.short_sleep = awake - asleep < TUNING_LINGER;
		app = observe(s, since, awake);
		/* Read the wake-up that a poller wrote: it would end each nap at once. */
		if (tuning_woken(&app) == TUNING_WOKEN_PARK && s->progress.unasked) {
			drain(s->progress.wake_fd);
			app = observe(s, since, awake);
		}
		if (tuning_woken(&app) == TUNING_WOKEN_PARK)
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

	/*
	 * Signals are for the application's threads. Only faults stay unblocked: a fault in a
	 * guarded copy must reach its handler (net/memory.h).
	 */
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
	/* Checks two threads: a thread may have pinned only itself to one processor. */
	s->progress.one_cpu = !sched_getaffinity(0, sizeof(cpus), &cpus) && CPU_COUNT(&cpus) == 1 &&
			      !sched_getaffinity(getpid(), sizeof(cpus), &cpus) &&
			      CPU_COUNT(&cpus) == 1;
	if (!s->index && s->control.sock.fd < 0)
		control_open(&s->control);
	ret = watch_all(s);
	if (!ret)
		ret = start_thread(s);
	if (ret) {
		log_error("cannot start the progress thread: %s", log_reason(-ret));
		unwatch_all(s);
	} else {
		s->progress.started = true;
	}
	return ret;
}
