/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Timers as a binary heap of nodes that live inside their owners: O(log n) to
 * set and remove, O(1) to look at the first. Guarded by the owner's lock.
 */
#ifndef SCTPIW_UTIL_TIMERQ_H
#define SCTPIW_UTIL_TIMERQ_H

#include <stddef.h>
#include <stdint.h>

struct timerq_node {
	uint64_t when; /* any unit; meaningful while queued */
	size_t index;  /* position in the heap + 1; 0: not queued */
};

struct timerq {
	struct timerq_node **heap;
	size_t count;
	size_t capacity;
};

/* A zeroed struct timerq is an empty queue, a zeroed node is not queued. */

/* Makes room for n nodes, so that timerq_set() cannot fail. 0 or -ENOMEM. */
int timerq_reserve(struct timerq *q, size_t n);
void timerq_fini(struct timerq *q);
/* Queues the node or moves it to another time. The room must have been reserved. */
void timerq_set(struct timerq *q, struct timerq_node *n, uint64_t when);
/* Idempotent. */
void timerq_remove(struct timerq *q, struct timerq_node *n);

/* The node with the smallest time, or NULL. */
static inline struct timerq_node *timerq_first(const struct timerq *q)
{
	return q->count ? q->heap[0] : NULL;
}

#endif
