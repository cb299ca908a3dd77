/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the application's threads do for a shard when they poll and arm CQs: a thread that finds its
 * CQ empty runs the shard itself. Nothing here waits for the shard's lock.
 */
#ifndef SCTPIW_RUNTIME_POLLER_H
#define SCTPIW_RUNTIME_POLLER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct iw_cq;
struct shard;

/*
 * What the progress thread knows of pollers. No lock guards the fields: shard.h says why that is
 * harmless. Those that each poll writes have a cache line of their own.
 */
struct poller {
	_Alignas(64) _Atomic uint32_t polls; /* polls that found a CQ empty, and the lock free */
	_Atomic uint32_t busy_polls;	     /* polls that found a CQ empty, and the lock taken */
	_Atomic uint64_t last_poll;	     /* when one of either kind was last, ns */
	_Atomic bool inside; /* a poller or poster runs the shard, or a poller naps for it */
	_Alignas(64) _Atomic uint32_t arms; /* how often a CQ was armed */
	_Atomic uint32_t active_at_arm;	    /* poller_activity() when one was armed last */
};

/* Reads a counter that other threads write; a stale value is harmless. */
static inline uint32_t poller_load(const _Atomic uint32_t *v)
{
	return atomic_load_explicit(v, memory_order_relaxed);
}

/*
 * Counts up and returns the new count. Two threads may lose a count: the counter only has to move.
 */
static inline uint32_t poller_count(_Atomic uint32_t *n)
{
	uint32_t count = poller_load(n) + 1;

	atomic_store_explicit(n, count, memory_order_relaxed);
	return count;
}

/*
 * A count of what shows that the application's threads are active and come back by themselves:
 * empty polls that found the lock free, and looks at the clock of posters in a burst. It wraps
 * around; differences are what matters.
 */
uint32_t poller_activity(const struct shard *s);
/* When either was last, or a poll that found the lock taken, ns. */
uint64_t poller_last_active(const struct shard *s);

/*
 * Called by poll_cq with an empty CQ: runs the shard once if the lock is free. Without the lock;
 * never blocks.
 */
void poller_progress(struct shard *s);
/*
 * The application armed a CQ. It may go to sleep now, so the progress thread takes over at once.
 * Called without the lock, behind iw_cq_arm(); never blocks.
 */
void poller_armed(struct shard *s);

#endif
