/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A queue of timers, as a binary heap. The nodes are members of their owners. The key may be any
 * increasing number, not only a time. timerq_set() and timerq_remove() take O(log n),
 * timerq_first() takes O(1). A zeroed struct timerq is an empty queue. A zeroed node is not in a
 * queue. Guarded by the owner's lock.
 */
#ifndef SCTPIW_UTIL_TIMERQ_H
#define SCTPIW_UTIL_TIMERQ_H

#include <stddef.h>
#include <stdint.h>

struct timerq_node {
	uint64_t when; /* the key, in any unit; valid while the node is queued */
	size_t index;  /* position in the heap + 1; 0: not queued */
};

struct timerq {
	struct timerq_node **heap;
	size_t count;
	size_t capacity;
};

/* Allocates room for n nodes, so that timerq_set() cannot fail. Returns 0, or -ENOMEM. */
int timerq_reserve(struct timerq *q, size_t n);
/* Frees the queue's memory, but not the nodes. */
void timerq_fini(struct timerq *q);
/* Queues the node, or moves it to another time. timerq_reserve() must have made room. */
void timerq_set(struct timerq *q, struct timerq_node *n, uint64_t when);
/* Removes the node if it is queued. */
void timerq_remove(struct timerq *q, struct timerq_node *n);

/* Returns the node with the smallest time, or NULL if the queue is empty. */
static inline struct timerq_node *timerq_first(const struct timerq *q)
{
	return q->count ? q->heap[0] : NULL;
}

#endif
