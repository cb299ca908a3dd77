/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the application's threads do for a shard when they poll and arm CQs. */
#ifndef SCTPIW_RUNTIME_POLLER_H
#define SCTPIW_RUNTIME_POLLER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct iw_cq;
struct shard;

/* Counts that the progress thread reads without a lock; a stale value is harmless. */
struct poller {
	_Alignas(64) _Atomic uint32_t polls; /* polls that found a CQ empty, and the lock free */
	_Atomic uint32_t busy_polls;	     /* and those that found another thread inside */
	_Atomic uint64_t last_poll;	     /* when, ns */
	_Atomic bool inside;		     /* a poller runs the shard, or naps for it, just now */
	_Alignas(64) _Atomic uint32_t arms;  /* how often a CQ was armed */
	_Atomic uint32_t polls_at_arm;	     /* polls when that was done last */
};

/* Reads a counter that other threads write; a stale value is harmless. */
static inline uint32_t poller_load(const _Atomic uint32_t *v)
{
	return atomic_load_explicit(v, memory_order_relaxed);
}

/* Counts up. Two threads may lose a count: it only has to move. */
static inline void poller_count(_Atomic uint32_t *n)
{
	atomic_store_explicit(n, poller_load(n) + 1, memory_order_relaxed);
}

/* From poll_cq with an empty CQ: runs the shard once if the lock is free. Without the lock; never blocks. */
void poller_progress(struct shard *s);
/*
 * Whether the entry of a CQ, whose answer_due was found to be due, still waits for the peer's answer. Without
 * the lock.
 */
bool poller_awaits_answer(struct shard *s, struct iw_cq *cq, uint64_t due);
/* The application armed a CQ: it may go to sleep now, so the progress thread takes over at once. */
void poller_armed(struct shard *s);

#endif
