/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Timers as a binary heap of nodes that live inside their owners; what is waited for may as well be
 * any other number that grows. To set and to remove one takes O(log n), to look at the first O(1). A
 * zeroed struct timerq is an empty queue, a zeroed node is not queued. Guarded by the owner's lock.
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

/* Makes room for n nodes, so that timerq_set() cannot fail. Returns 0 or -ENOMEM. */
int timerq_reserve(struct timerq *q, size_t n);
/* Frees the queue's memory; the nodes are the owners'. */
void timerq_fini(struct timerq *q);
/* Queues the node, or moves it to another time. Its room must have been reserved. */
void timerq_set(struct timerq *q, struct timerq_node *n, uint64_t when);
/* Takes the node out of the queue, if it is there. */
void timerq_remove(struct timerq *q, struct timerq_node *n);

/* The node with the smallest time, or NULL. */
static inline struct timerq_node *timerq_first(const struct timerq *q)
{
	return q->count ? q->heap[0] : NULL;
}

#endif
