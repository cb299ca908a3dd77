/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Work of the application's threads for a shard, when they poll and arm CQs: a thread that finds
 * its CQ empty runs the shard itself. No function waits for the shard's lock.
 */
#ifndef SCTPIW_RUNTIME_POLLER_H
#define SCTPIW_RUNTIME_POLLER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct iw_cq;
struct shard;

/*
 * Pollers' data for the progress thread. No lock guards the fields (see shard.h). Fields that each
 * poll writes have their own cache line.
 */
struct poller {
	_Alignas(64) _Atomic uint32_t polls; /* polls that found a CQ empty, and the lock free */
	_Atomic uint32_t busy_polls;	     /* polls that found a CQ empty, and the lock taken */
	_Atomic uint64_t last_poll;	     /* time of the last poll of either kind, ns */
	_Atomic bool inside; /* a poller or poster runs the shard, or a poller naps for it */
	_Alignas(64) _Atomic uint32_t arms; /* times that a CQ was armed */
	_Atomic uint32_t active_at_arm;	    /* poller_activity() when a CQ was last armed */
};

/* Reads a counter that other threads write; a stale value is harmless. */
static inline uint32_t poller_load(const _Atomic uint32_t *v)
{
	return atomic_load_explicit(v, memory_order_relaxed);
}

/*
 * Counts up and returns the new count. Of two threads, one may lose its count: the counter only has
 * to change.
 */
static inline uint32_t poller_count(_Atomic uint32_t *n)
{
	uint32_t count = poller_load(n) + 1;

	atomic_store_explicit(n, count, memory_order_relaxed);
	return count;
}

/*
 * Returns a count of signs that the application's threads are active: empty polls that found the
 * lock free, and posters' looks at the clock in a burst. It wraps around: only differences are
 * meaningful.
 */
uint32_t poller_activity(const struct shard *s);
/* Returns the time of the last such sign, or of the last poll that found the lock taken, ns. */
uint64_t poller_last_active(const struct shard *s);

/*
 * Called by poll_cq for an empty CQ: runs the shard once, if the lock is free. The caller does not
 * hold the lock. Never blocks.
 */
void poller_progress(struct shard *s);
/*
 * The application armed a CQ, and may sleep now. So the progress thread takes over at once. Call
 * this after iw_cq_arm(), without the lock. Never blocks.
 */
void poller_armed(struct shard *s);

#endif
