/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A shard is the part of the RNIC that one lock guards: sockets, SCTP associations, sessions and
 * their timers. A shard owns all objects of conn/ and net/. Objects of the whole RNIC (MRs, PDs,
 * settings, the table of rdma_cm ids) are in struct rnic (rnic.h). The setting `engines` sets the
 * number of shards of a process.
 *
 * A thread that polls an empty CQ runs the shard itself if the lock is free (poller.h). The
 * progress thread runs the shard when no thread polls (progress.h). A poster that finds the lock
 * taken leaves its QP on the list of doorbells (doorbell.h), and the holder of the lock serves this
 * list before it releases the lock.
 *
 * The following fields are read and written without the lock. All are atomic, with relaxed order,
 * unless the line names a fence (A to D below). Each line has the form "writers; readers: effect of
 * an old or lost value". All effects are harmless.
 *
 *	lock.owner		holder; anyone: a thread only compares its own id
 *	lock.waiters		waiters; pollers, holder: one more pass before the waiter's turn
 *	dead			holder; anyone: exact under the lock, else a needless wake-up
 *	doorbells.head [A B C]	posters, holder; anyone: made safe by the fences
 *	burst.gathered, gathered_bytes, gap_shift, last_served
 *				posters, pollers; posters: a burst leaves a little earlier or later
 *	burst.in_flight		holder; posters: a batch leaves at once, or waits for its burst
 *	burst.looks, last_look	posters; pollers, thread: as poller.polls
 *	poller.polls, last_poll	pollers; pollers, thread: the thread parks, or looks again, a nap or
 *				64 polls later
 *	poller.busy_polls	pollers; pollers: a yield earlier or later
 *	poller.inside		pollers, posters; thread: as poller.polls. Of two threads inside,
 *				one of which naps, the first to leave clears it
 *	poller.arms [D]		threads that arm; thread: made safe by the fence
 *	poller.active_at_arm	threads that arm; pollers, thread: the thread parks for one nap
 *				too early
 *	progress.parked [C D]	thread; anyone: made safe by the fences
 *	progress.nap_until, parked_since
 *				thread, pollers, posters; pollers, posters: a needless look
 *				or timer, or a nap at most 6.4 ms too long
 *	progress.doorbell_wake [B]
 *				posters, thread; posters: made safe by the fence
 *	progress.started	holder; posters: a poster sends at once
 *	progress.last_cm_event	holder; thread: it sleeps in the other way once
 *	object.shard		holder of all shards' locks; posters: the doorbell is passed on
 *				(doorbell.c); pollers, threads that arm: as object.others
 *	object.others		holder of all shards' locks; pollers, threads that arm: the next
 *				poll, or the progress thread, runs a shard of the CQ
 *
 * A counter that two threads increment without the lock may lose a count. This is harmless, since
 * readers only check if the counter has changed.
 *
 * Fences. Each fence is one of a pair, and all pairs have the same form. One side writes X and then
 * reads Y; the other side writes Y and then reads X. Both have a sequentially consistent fence
 * between the two steps, so that at least one side sees the write of the other side.
 *
 *	A  burst.c send_all()    rings, then tries the lock
 *	   shard_leave()         releases the lock, then reads the list of rings
 *	B  burst.c tell_thread() rings, then sets doorbell_wake; the thread that sets it wakes the
 *	                         progress thread
 *	   progress.c serve()    clears doorbell_wake, then serves the rings
 *	C  burst.c tell_thread() rings, then reads parked; if it is set, the thread will serve
 *	   progress.c park()     clears parked, then serve() serves the rings
 *	D  poller_armed()        counts the arm, then reads parked; if it is set, wakes the thread
 *	   progress.c park()     sets parked, then reads the count of arms before each nap
 *
 * No fence publishes data. A poster publishes its work requests by the exchange of
 * iw_doorbell.pending (doorbell.c). Completions are published by the head and tail of their queue
 * (iwarp/iw_cq.h).
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

/* The lock and its holder. */
struct shard_lock {
	pthread_mutex_t mutex;
	/* thread id of the holder, for shard_assert_locked(); 0: the lock is free */
	_Atomic int owner;
	_Atomic unsigned int
		waiters; /* number of threads that wait for the lock; pollers give way to them */
};

struct shard {
	struct rnic *rnic;
	unsigned int index; /* number of the shard, for rnic_shard() */
	struct random_source random;
	struct shard_lock lock;
	/*
	 * The sockets are closed or unusable. Set once, under the lock: in the child of a fork(),
	 * at exit, or by the progress thread.
	 */
	_Atomic bool dead;
	/*
	 * next_due: conn_next_timeout() of the last concluded turn. No deadline is earlier, except
	 * for deadlines set since that turn. unconcluded: a poller has run a turn since then,
	 * without concluding it (loop.c).
	 */
	uint64_t next_due;
	bool unconcluded;
	struct conn conn;
	struct net net;
	/* Posts the event of an armed CQ: channel_post(), unless faults replace it. */
	int (*post_notification)(struct event_source *src, const void *event, size_t len);
	/* Posters write these fields without the lock, so the fields have their own cache line. */
	_Alignas(64) struct doorbell_list doorbells;
	struct burst burst;
	struct poller poller;
	struct progress progress;
	struct control control; /* used by the progress thread alone */
};

/*
 * Takes and releases the lock for control operations. These are all functions of iwarp.h and conn/,
 * except for posting work requests and polling completions. Waiters are preferred to pollers.
 * shard_lock() serves earlier doorbells, so that earlier posts are sent first, and reports events.
 * shard_unlock() sends everything that is ready. conn.now is the time at which the lock was taken.
 */
void shard_lock(struct shard *s);
void shard_unlock(struct shard *s);
/* True if the calling thread holds the lock. */
bool shard_is_mine(const struct shard *s);
/* Traps unless the calling thread holds the lock. */
void shard_assert_locked(const struct shard *s);

/*
 * True if the sockets are closed or unusable. Exact for the holder of the lock; otherwise the
 * result may be old.
 */
static inline bool shard_is_dead(const struct shard *s)
{
	return atomic_load_explicit(&s->dead, memory_order_relaxed);
}

/* ---- for runtime/ ---- */

/*
 * Takes the lock, and reads the clock into conn.now. The caller does not count as a waiter, so
 * pollers do not give way to it.
 */
void shard_enter(struct shard *s);
/* Does the same as shard_enter() if the lock is free. Otherwise returns false. Never waits. */
bool shard_try_enter(struct shard *s);
/*
 * Does the same as shard_try_enter(), for a caller that has just read the clock. Sets conn.now to
 * now, ns, unless conn.now is later.
 */
bool shard_try_enter_at(struct shard *s, uint64_t now);
/* Does the rest of shard_enter(), for a caller that has locked lock.mutex itself. */
void shard_entered(struct shard *s);
/* Reads the clock into conn.now again, for a caller that holds the lock for a long time. */
void shard_read_clock(struct shard *s);
/*
 * Releases the lock. Serves each doorbell that was rung before the release, or wakes the progress
 * thread to serve it. Then does the work that needs the locks of all shards (rnic_serve_all()). The
 * caller must hold no other shard's lock.
 */
void shard_leave(struct shard *s);
/*
 * Does the same for a caller that holds locks of other shards, except for the work that needs all
 * locks. Returns true if there is such work, which the caller must then do.
 */
bool shard_leave_alone(struct shard *s);
/* Count the caller as a waiter, and no longer count it. Neither takes a lock. */
void shard_wait_begin(struct shard *s);
void shard_wait_end(struct shard *s);
/* True if a thread waits for the lock. */
static inline bool shard_is_awaited(struct shard *s)
{
	return atomic_load_explicit(&s->lock.waiters, memory_order_relaxed);
}

#endif
