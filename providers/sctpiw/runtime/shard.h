/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A shard: one lock, and under it the sockets, SCTP, the sessions and their timers, with the
 * threads that move them on. A shard owns everything of conn/ and net/; what belongs to the RNIC as
 * a whole (MRs, PDs, settings, the table of rdma_cm ids) is in struct rnic (rnic.h). A process has
 * as many shards as the setting engines says.
 *
 * A thread that polls a CQ and finds it empty runs the shard itself if the lock is free (poller.h).
 * The progress thread does when nobody polls (progress.h). A poster that finds the lock taken
 * leaves its QP on the list of doorbells (doorbell.h), and the holder of the lock serves the list
 * before it lets go.
 *
 * What is read and written without the lock. All of it is atomic, and relaxed unless a fence is
 * named (A to D below). Each line says who writes, who reads, and why an old or lost value is
 * harmless:
 *
 *	lock.owner		holder; anyone: a thread looks for its own id only
 *	lock.waiters		waiters; pollers, holder: one pass more before the waiter's turn
 *	dead			holder; anyone: exact under the lock, else a wake-up for nobody
 *	doorbells.head [A B C]	posters, holder; anyone: the fences see to it
 *	burst.gathered, gathered_bytes, gap_shift, last_served
 *				posters, pollers; posters: a burst leaves a little earlier or later
 *	burst.in_flight		holder; posters: a batch leaves at once, or waits for the rest of its burst
 *	burst.looks, last_look	posters; pollers, thread: as poller.polls
 *	poller.polls, last_poll	pollers; pollers, thread: the thread parks, or looks again, a nap or
 *				64 polls later
 *	poller.busy_polls	pollers; pollers: a yield earlier or later
 *	poller.inside		pollers, posters; thread: as poller.polls. If there are two, one of
 *				which naps, the first to leave clears it
 *	poller.arms [D]		threads that arm; thread: the fence sees to it
 *	poller.active_at_arm	threads that arm; pollers, thread: the thread parks for one nap
 *				too early
 *	progress.parked [C D]	thread; anyone: the fences see to it
 *	progress.nap_until, parked_since
 *				thread, pollers, posters; pollers, posters: the thread looks once more, or the
 *				timer is set for nothing, or a nap ends later than it should, 6.4 ms at most
 *	progress.doorbell_wake [B]
 *				posters, thread; posters: the fence sees to it
 *	progress.started	holder; posters: a poster sends at once
 *	progress.last_cm_event	holder; thread: it sleeps in the other way once
 *	object.shard		whoever has the locks of all shards; posters: the doorbell is passed on (doorbell.c);
 *				pollers, threads that arm: as of object.others
 *	object.others		whoever has the locks of all shards; pollers, threads that arm: a shard of the CQ is
 *				looked at by the next poll, or by its thread
 *
 * What two threads count without the lock may lose a count: such counters only have to move.
 *
 * Fences. Each pair is of the same kind: one side writes X and then reads Y, the other writes Y and
 * then reads X, both with a sequentially consistent fence in between, so that at least one of them
 * sees the other.
 *
 *	A  burst.c send_all()    rings, then tries the lock
 *	   shard_leave()         releases the lock, then looks for rings
 *	B  burst.c tell_thread() rings, then sets doorbell_wake; whoever sets it wakes the thread
 *	   progress.c serve()    clears doorbell_wake, then serves the rings
 *	C  burst.c tell_thread() rings, then reads parked; if it is set, the thread comes by itself
 *	   progress.c park()     clears parked, then serve() serves the rings
 *	D  poller_armed()        counts the arm, then reads parked; if it is set, wakes the thread
 *	   progress.c park()     sets parked, then reads the count of arms before each nap
 *
 * No fence publishes data. What a ring publishes goes by the exchange of iw_doorbell.pending
 * (doorbell.c), and completions by the head and tail of their ring (iwarp/iw_cq.h).
 */
#ifndef SCTPIW_RUNTIME_SHARD_H
#define SCTPIW_RUNTIME_SHARD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "conn/conn.h"
#include "net/net.h"
#include "runtime/burst.h"
#include "runtime/control.h"
#include "runtime/doorbell.h"
#include "runtime/poller.h"
#include "runtime/progress.h"
#include "util/random.h"

struct rnic;

/* The lock, and who has it. */
struct shard_lock {
	pthread_mutex_t mutex;
	_Atomic int owner; /* thread id of the holder, for shard_assert_locked(); 0: nobody */
	_Atomic unsigned int waiters; /* threads that wait for it and are preferred to pollers */
};

struct shard {
	struct rnic *rnic;
	unsigned int index; /* rnic_shard() */
	struct random_source random;
	struct shard_lock lock;
	/*
	 * The sockets are gone. Set once, under the lock: in the child of a fork(), at exit, or by
	 * the thread.
	 */
	_Atomic bool dead;
	/*
	 * conn_next_timeout() of the last turn that was concluded: no deadline is earlier, but for what has been set since
	 * then. unconcluded: one turn has passed since then, of a poller (loop.c).
	 */
	uint64_t next_due;
	bool unconcluded;
	struct conn conn;
	struct net net;
	/* How the event of a CQ that was armed goes to its channel: channel_post(), unless faults stand in front. */
	int (*post_notification)(struct event_source *src, const void *event, size_t len);
	/* Posters write these without the lock: on a line of their own. */
	_Alignas(64) struct doorbell_list doorbells;
	struct burst burst;
	struct poller poller;
	struct progress progress;
	struct control control; /* the progress thread's alone */
};

/*
 * Takes and releases the lock for control operations: everything of iwarp.h and conn/ that is not a
 * producer's or consumer's end of a queue. Waiters are preferred to pollers. shard_lock() serves
 * the doorbells that were rung before, so that what was posted first goes out first, and reports
 * events. shard_unlock() sends what became ready. conn.now is the time at which the lock was taken.
 */
void shard_lock(struct shard *s);
void shard_unlock(struct shard *s);
/* Whether the calling thread holds the lock. */
bool shard_is_mine(const struct shard *s);
/* Traps unless the calling thread holds the lock. */
void shard_assert_locked(const struct shard *s);

/* Whether the sockets are gone. Exact under the lock; without it, the answer may be old. */
static inline bool shard_is_dead(const struct shard *s)
{
	return atomic_load_explicit(&s->dead, memory_order_relaxed);
}

/* ---- for runtime/ ---- */

/*
 * Takes the lock and reads the clock. The caller is not counted as a waiter, so that pollers
 * compete with it.
 */
void shard_enter(struct shard *s);
/* The same if the lock is free; false: it is not. Never waits. */
bool shard_try_enter(struct shard *s);
/* The same, for a caller that has just read the clock: now, ns. conn.now becomes that, unless it is later already. */
bool shard_try_enter_at(struct shard *s, uint64_t now);
/* What shard_enter() does behind taking the lock, for a caller that has taken lock.mutex itself. */
void shard_entered(struct shard *s);
/* Sets conn.now anew, for a caller that holds the lock for long. */
void shard_read_clock(struct shard *s);
/*
 * Releases the lock, and serves every doorbell that was rung meanwhile, or wakes the progress thread
 * for it: none is left behind. What waits for the locks of all shards is served then (rnic_serve_all()), so the caller
 * has none of them.
 */
void shard_leave(struct shard *s);
/* The same for a caller that has further shards, and sees to the latter itself: whether there is anything of the kind. */
bool shard_leave_alone(struct shard *s);
/* Counts the caller as a waiter; takes nothing. */
void shard_wait_begin(struct shard *s);
void shard_wait_end(struct shard *s);
/* Whether somebody waits for the lock. */
static inline bool shard_is_awaited(struct shard *s)
{
	return atomic_load_explicit(&s->lock.waiters, memory_order_relaxed);
}

#endif
