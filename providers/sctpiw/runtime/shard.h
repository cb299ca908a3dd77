/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A shard: one lock, and under it the sockets, SCTP, the sessions and their timers, with the threads that
 * move them on. It owns everything of conn/ and net/; what belongs to the RNIC as a whole (MRs, PDs, settings,
 * the table of rdma_cm ids) is in struct rnic (rnic.h). A process has one shard today.
 *
 * Who makes progress: a thread that polls a CQ and finds it empty runs the shard itself if the lock is free
 * (poller.h); the progress thread does when nobody polls (progress.h). A poster that finds the lock taken
 * leaves its QP on the list of doorbells (doorbell.h); whoever holds the lock serves the list before letting
 * go.
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
#include "runtime/doorbell.h"
#include "runtime/poller.h"
#include "runtime/progress.h"

struct rnic;

/* The lock, and who has it. */
struct shard_lock {
	pthread_mutex_t mutex;
	_Atomic int owner;	      /* thread id of the holder, for the assertion; 0: nobody */
	_Atomic unsigned int waiters; /* threads in shard_lock(); pollers keep away while there are some */
};

struct shard {
	struct rnic *rnic;
	struct shard_lock lock;
	/* Set once, under the lock: after fork() in the child, or at exit. The sockets are gone. */
	_Atomic bool dead;
	uint64_t next_due; /* the earliest deadline, as the last loop_finish() found it */
	struct conn conn;
	struct net net;
	struct doorbell_list doorbells;
	struct burst burst;
	struct poller poller;
	struct progress progress;
};

/*
 * Takes and releases the lock for control operations: everything of iwarp.h and conn/ that is not a producer's
 * or consumer's end of a queue. Waiters are preferred to pollers. Taking it serves the doorbells that were rung
 * before, so that what was posted first goes out first. Releasing it sends what became ready.
 */
void shard_lock(struct shard *s);
void shard_unlock(struct shard *s);
/* Traps unless the calling thread holds the lock. */
void shard_assert_locked(const struct shard *s);

static inline bool shard_is_dead(const struct shard *s)
{
	return atomic_load_explicit(&s->dead, memory_order_relaxed);
}

/* ---- for runtime/ ---- */

/* Takes the lock and reads the clock. The first is not counted as a waiter; the second never waits. */
void shard_enter(struct shard *s);
bool shard_try_enter(struct shard *s);
/* For a caller that has taken lock.mutex itself. */
void shard_entered(struct shard *s);
/* Reads the clock again, for a caller that holds the lock for long. */
void shard_read_clock(struct shard *s);
/* Releases the lock; no doorbell that was rung meanwhile is left behind. */
void shard_leave(struct shard *s);
/* Counts the caller as one that waits for the lock, so that pollers keep away; and no more. */
void shard_wait_begin(struct shard *s);
void shard_wait_end(struct shard *s);
static inline bool shard_is_awaited(struct shard *s)
{
	return atomic_load_explicit(&s->lock.waiters, memory_order_relaxed);
}

#endif
