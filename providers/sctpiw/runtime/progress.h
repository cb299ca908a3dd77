/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The progress thread: it sleeps on the sockets and the timer and runs the shard when nobody polls.
 * While an application polls, the thread parks: it sleeps on its eventfd alone and looks now and
 * then whether polling has stopped. After a run it may linger, which means that it looks for more
 * before it sleeps. tuning.h decides which of these it does.
 */
#ifndef SCTPIW_RUNTIME_PROGRESS_H
#define SCTPIW_RUNTIME_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/net.h"

struct shard;

struct progress {
	_Atomic bool started; /* the thread runs; it is never joined */
	/*
	 * There is one processor for all threads of the process. Set before the first CQ is made.
	 */
	bool one_cpu;

	/*
	 * The epoll set that the thread sleeps on: its own descriptors, and the shard's sockets. It
	 * is net.epoll_fd itself if it can be, since one set saves time in each wake-up. But events
	 * that epoll reports only once, as edges, would be lost to pollers, and a poller that naps
	 * must not wake up for the thread's own descriptors. In these cases it is a set that has
	 * net.epoll_fd in it.
	 */
	int wait_fd;
	int wake_fd;	     /* eventfd of progress_wake() */
	int timer_fd;	     /* set to timer_set, or earlier and not read yet */
	int nap_fd;	     /* timer: set to the end of a parked thread's nap */
	_Atomic int port_fd; /* port_watch_fd() when the thread last asked; -1: not known */
	/* What the entries of the thread's own descriptors, and of net.epoll_fd, point to. */
	struct net_watch wake, timer, port, sockets;
	uint64_t timer_set; /* ns, absolute; TIME_NEVER: not set. Shard lock. */

	_Atomic bool parked;	       /* the thread is parked, and looks at the doorbells itself */
	_Atomic uint64_t parked_since; /* ns; valid while it is parked */
	_Atomic uint64_t nap_until; /* ns. The end of a long nap, which pollers put off; 0: none */
	uint32_t looks_before;	    /* burst.looks when that was put off last; shard lock */
	_Atomic bool doorbell_wake; /* it was woken to send the rest of a burst, and has not run */
	_Atomic uint64_t last_cm_event; /* when an event of the RDMA CM was posted last, ns */
	uint64_t received;		/* passes that brought something; shard lock */
	/* The thread's alone: */
	bool low;		  /* datagrams.low behind its last pass */
	uint32_t unasked;	  /* times that ppoll() woke it since it last asked what is ready */
	uint32_t ways_changes;	  /* port_ways_changes() that associations know of */
	uint64_t no_linger_until; /* ns; it does not linger before that */
	uint64_t no_linger;	  /* ns. tuning_no_linger() when the processor was lost last */
	uint64_t lingered;	  /* ns, since then */
	int nice;		  /* its nice value */
	int own_nice;	/* that it was made with, which it has while connections are made */
	int first_nice; /* that it has otherwise */
};

/*
 * Makes the thread's descriptors and net.epoll_fd. -errno of eventfd(), timerfd_create() or
 * epoll_create1(); the caller calls progress_fini() in any case.
 */
int progress_init(struct shard *s);
/* Closes all of them. No thread is told: it must be gone, as in the child of a fork(). */
void progress_fini(struct shard *s);
/*
 * Starts the thread if it does not run yet. -errno of epoll_create1(), epoll_ctl() or
 * pthread_create(): a line was logged, and another call tries again. Shard lock.
 */
int progress_start(struct shard *s);
/* Whether there is a thread, so that somebody comes for what others leave. */
static inline bool progress_is_started(const struct progress *p)
{
	return atomic_load_explicit(&p->started, memory_order_relaxed);
}

/* When an event of the RDMA CM was posted last, ns. Shard lock. */
static inline void progress_note_cm_event(struct progress *p, uint64_t when)
{
	/* Other threads read from this cache line, so it is written only if something changes. */
	if (atomic_load_explicit(&p->last_cm_event, memory_order_relaxed) != when)
		atomic_store_explicit(&p->last_cm_event, when, memory_order_relaxed);
}

/* Has the timer end the thread's sleep at that time, ns, or earlier. Shard lock. */
void progress_set_deadline(struct shard *s, uint64_t when);
/*
 * Somebody polls at `now`, ns: puts the end of a parked thread's nap off, so that the thread does not take a
 * processor away only to see that. Shard lock.
 */
void progress_put_nap_off(struct shard *s, uint64_t now);
/*
 * What was posted at `now`, ns, waits for a parked thread: its nap ends 0.8 ms later at the latest. Called without the
 * lock.
 */
void progress_shorten_nap(struct shard *s, uint64_t now);
/* Ends the thread's sleep or nap, if there is a thread. Called without the lock; never blocks. */
void progress_wake(struct shard *s);
/*
 * Takes the thread's own descriptors out of the set, so that it holds the sockets alone. For the
 * end.
 */
void progress_unwatch(struct shard *s);

#endif
