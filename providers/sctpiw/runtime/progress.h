/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The progress thread. It sleeps on the sockets and the timer, and runs the shard when no thread
 * polls. While an application polls, the thread parks: it sleeps without waiting for the sockets,
 * and sometimes checks if polling has stopped. After a run it may linger: it looks for more before
 * it sleeps. tuning.h decides.
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
	/* The process may use only one processor. Set before the first CQ is made. */
	bool one_cpu;

	/*
	 * The epoll set on which the thread sleeps: its own descriptors, and the shard's sockets.
	 * It is net.epoll_fd itself if possible, since one set saves time in each wake-up. But
	 * pollers would lose events that epoll reports only once, as edges, and a napping poller
	 * must not wake up for the thread's own descriptors. In these cases, it is a set that
	 * contains net.epoll_fd.
	 */
	int wait_fd;
	int wake_fd;	     /* eventfd of progress_wake() */
	int timer_fd;	     /* set to timer_set, or expired earlier and still unread */
	int nap_fd;	     /* timer: set to the end of a parked thread's nap */
	_Atomic int port_fd; /* the last port_watch_fd(); -1: unknown */
	/* Targets of the epoll entries of the thread's own descriptors, and of net.epoll_fd. */
	struct net_watch wake, timer, port, sockets;
	uint64_t timer_set; /* ns, absolute; TIME_NEVER: not set. Shard lock. */

	_Atomic bool parked; /* the thread is parked, and serves the doorbells after its nap */
	_Atomic uint64_t parked_since; /* ns; valid while it is parked */
	_Atomic uint64_t nap_until;    /* ns. End of a long nap, which pollers put off; 0: none */
	uint32_t looks_before;	       /* burst.looks when a nap was last put off; shard lock */
	_Atomic bool
		doorbell_wake; /* the thread was woken for the rest of a burst, and has not run */
	_Atomic uint64_t last_cm_event; /* time of the last event of RDMA CM, ns */
	uint64_t received;		/* passes that received something; shard lock */
	/* For the thread alone: */
	bool low;		  /* datagrams.low after its last pass */
	uint32_t unasked;	  /* wake-ups by ppoll() since the last query of the set */
	uint32_t ways_changes;	  /* port_ways_changes() when associations were last notified */
	uint64_t no_linger_until; /* ns; no lingering before this time */
	uint64_t no_linger;	  /* ns. tuning_no_linger() after the last loss of the processor */
	uint64_t lingered;	  /* ns, since that loss */
	int nice;		  /* its nice value */
	int own_nice;	/* its original nice value, for the time while connections are made */
	int first_nice; /* its nice value at other times */
};

/*
 * Makes the thread's descriptors and net.epoll_fd. Returns 0, or -errno of eventfd(),
 * timerfd_create() or epoll_create1(). The caller calls progress_fini() in any case.
 */
int progress_init(struct shard *s);
/* Closes all of them. The thread must have gone, as in the child of a fork(). */
void progress_fini(struct shard *s);
/*
 * Starts the thread, unless it runs. Returns 0, or -errno of epoll_create1(), epoll_ctl() or
 * pthread_create(). A failure is logged, and another call tries again. Needs the shard lock.
 */
int progress_start(struct shard *s);
/* True if the thread runs, and so will do the work that others leave. */
static inline bool progress_is_started(const struct progress *p)
{
	return atomic_load_explicit(&p->started, memory_order_relaxed);
}

/* Notes the time of the last event of RDMA CM, ns. Needs the shard lock. */
static inline void progress_note_cm_event(struct progress *p, uint64_t when)
{
	/* Other threads read from this cache line, so write it only after a change. */
	if (atomic_load_explicit(&p->last_cm_event, memory_order_relaxed) != when)
		atomic_store_explicit(&p->last_cm_event, when, memory_order_relaxed);
}

/* Ends the thread's sleep at that time, ns, or earlier. Needs the shard lock. */
void progress_set_deadline(struct shard *s, uint64_t when);
/*
 * For a poll at `now`, ns: puts off the end of a parked thread's nap, so that the thread does not
 * take a processor only to notice the poll. Needs the shard lock.
 */
void progress_put_nap_off(struct shard *s, uint64_t now);
/*
 * For work requests that wait since `now`, ns: limits the nap of a parked thread to 0.8 ms more.
 * The caller does not hold the lock.
 */
void progress_shorten_nap(struct shard *s, uint64_t now);
/* Ends the thread's sleep or nap, if it runs. The caller does not hold the lock. Never blocks. */
void progress_wake(struct shard *s);
/*
 * At exit: removes the thread's own descriptors from the set, which then contains the sockets
 * alone.
 */
void progress_unwatch(struct shard *s);

#endif
