/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The progress thread. It sleeps on the sockets and the timer, and runs the shard when no thread
 * polls. While an application polls, the thread parks: it sleeps without waiting for the sockets,
 * and sometimes checks if polling has stopped. After a run it may linger, which means that it runs
 * further passes before it sleeps. tuning.h has these decisions.
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
	/* The process may use only one processor. Set before the first CQ exists. */
	bool one_cpu;

	/*
	 * The epoll set on which the thread sleeps. It contains the thread's own descriptors and
	 * the shard's sockets. Normally it is net.epoll_fd itself, since a single set saves time in
	 * each wake-up. In two cases, it is a second set that contains net.epoll_fd. First, if
	 * epoll reports events only once, as edges, since pollers would lose such events. Second,
	 * if pollers sleep on net.epoll_fd, since the thread's own descriptors must not wake them.
	 */
	int wait_fd;
	int wake_fd; /* eventfd that progress_wake() writes */
	/* the timer set to timer_set; it may have expired earlier, and be unread */
	int timer_fd;
	int nap_fd;	     /* the timer that ends a parked thread's nap */
	_Atomic int port_fd; /* last result of port_watch_fd(); -1: not in the epoll set */
	/* They identify the thread's own descriptors, and net.epoll_fd, in the epoll set. */
	struct net_watch wake, timer, port, sockets;
	uint64_t timer_set; /* expiry of timer_fd, ns, or TIME_NEVER. Guarded by the shard lock */

	_Atomic bool parked; /* the thread is parked, and serves the doorbells after its nap */
	_Atomic uint64_t parked_since; /* time of parking, ns; valid while the thread is parked */
	/* end of a long nap, which pollers put off, ns; 0: no long nap */
	_Atomic uint64_t nap_until;
	/* burst.looks when a poller last put a nap off; guarded by the shard lock */
	uint32_t looks_before;
	/* a poster woke the thread for the rest of a burst, and the thread has not run yet */
	_Atomic bool doorbell_wake;
	_Atomic uint64_t last_cm_event; /* time of the last event of RDMA CM, ns */
	/* number of passes that received something; guarded by the shard lock */
	uint64_t received;
	/* The following fields are for the thread alone: */
	bool low;		  /* datagrams.low after the thread's last pass */
	uint32_t unasked;	  /* wake-ups by ppoll() since the last query of the set */
	uint32_t ways_changes;	  /* port_ways_changes() when the associations were last notified */
	uint64_t no_linger_until; /* the thread must not linger before this time, ns */
	/* result of tuning_no_linger() after the last loss of the processor, ns */
	uint64_t no_linger;
	uint64_t lingered; /* time lingered since that loss, ns */
	int nice;	   /* the thread's current nice value */
	/* the thread's original nice value, which it has while connections are made */
	int own_nice;
	int first_nice; /* the thread's nice value at other times */
};

/*
 * Makes the thread's descriptors and net.epoll_fd. Returns 0, or -errno of eventfd(),
 * timerfd_create() or epoll_create1(). The caller calls progress_fini() in any case.
 */
int progress_init(struct shard *s);
/* Closes all these descriptors. The thread must not run any more, as in the child of a fork(). */
void progress_fini(struct shard *s);
/*
 * Starts the thread, unless it runs already. Returns 0, or -errno of epoll_create1(), epoll_ctl()
 * or pthread_create(). Logs a failure; a later call tries again. Needs the shard lock.
 */
int progress_start(struct shard *s);
/* True if the thread runs. Other threads may then leave work to it. */
static inline bool progress_is_started(const struct progress *p)
{
	return atomic_load_explicit(&p->started, memory_order_relaxed);
}

/* Records the time of the last event of RDMA CM, ns. Needs the shard lock. */
static inline void progress_note_cm_event(struct progress *p, uint64_t when)
{
	/* Other threads read this cache line often, so write to it only after a change. */
	if (atomic_load_explicit(&p->last_cm_event, memory_order_relaxed) != when)
		atomic_store_explicit(&p->last_cm_event, when, memory_order_relaxed);
}

/* Makes the thread's sleep end at the time `when`, ns, or earlier. Needs the shard lock. */
void progress_set_deadline(struct shard *s, uint64_t when);
/*
 * Puts off the end of a parked thread's nap, because the application polls at `now`, ns. Otherwise
 * the thread would take a processor only to notice the poll. Needs the shard lock.
 */
void progress_put_nap_off(struct shard *s, uint64_t now);
/*
 * Limits the nap of a parked thread to 0.8 ms from `now`, ns, because work requests have begun to
 * wait. The caller does not hold the lock.
 */
void progress_shorten_nap(struct shard *s, uint64_t now);
/* Ends the thread's sleep or nap, if it runs. The caller does not hold the lock. Never blocks. */
void progress_wake(struct shard *s);
/* At exit: removes the thread's own descriptors from the epoll set, so that only sockets remain. */
void progress_unwatch(struct shard *s);

#endif
