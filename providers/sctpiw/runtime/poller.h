/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Work that the application's threads do for a shard when they poll or arm CQs. A thread that finds
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
 * Data about pollers, for the progress thread. No lock guards the fields (see shard.h). The fields
 * that each poll writes have a cache line of their own.
 */
struct poller {
	/* number of polls that found a CQ empty, and the lock free */
	_Alignas(64) _Atomic uint32_t polls;
	/* number of polls that found a CQ empty, and the lock taken */
	_Atomic uint32_t busy_polls;
	/* time of the last poll that `polls` or `busy_polls` counts, ns */
	_Atomic uint64_t last_poll;
	/* a poller or poster runs the shard, or a poller sleeps until a socket is ready */
	_Atomic bool inside;
	_Alignas(64) _Atomic uint32_t arms; /* number of times that a CQ was armed */
	/* result of poller_activity() when a CQ was last armed */
	_Atomic uint32_t active_at_arm;
};

/* Reads a counter that other threads write. An old value is harmless. */
static inline uint32_t poller_load(const _Atomic uint32_t *v)
{
	return atomic_load_explicit(v, memory_order_relaxed);
}

/*
 * Increments the counter, and returns the new count. If two threads call this at once, one count
 * may be lost. This is harmless: readers only check if the counter has changed.
 */
static inline uint32_t poller_count(_Atomic uint32_t *n)
{
	uint32_t count = poller_load(n) + 1;

	atomic_store_explicit(n, count, memory_order_relaxed);
	return count;
}

/*
 * Returns a counter of signs that the application's threads are active. Signs are empty polls that
 * found the lock free, and posters' looks at the clock in a burst. The counter wraps around, so
 * only differences are meaningful.
 */
uint32_t poller_activity(const struct shard *s);
/* Returns the time, ns, of the last sign, or of the last poll that found the lock taken. */
uint64_t poller_last_active(const struct shard *s);

/*
 * Runs the shard once, if the lock is free. poll_cq calls this for an empty CQ. The caller does not
 * hold the lock. Never blocks.
 */
void poller_progress(struct shard *s);
/*
 * Call this after iw_cq_arm(), without the lock. The application armed a CQ, and may sleep now, so
 * the progress thread takes over at once. Never blocks.
 */
void poller_armed(struct shard *s);

#endif
