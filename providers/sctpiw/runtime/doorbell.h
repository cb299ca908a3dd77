/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The list of QPs and SRQs with new work requests. Any thread rings, without a lock. The holder of
 * the shard's lock takes the whole list, and serves it in the order of the rings. A doorbell is on
 * the list at most once.
 */
#ifndef SCTPIW_RUNTIME_DOORBELL_H
#define SCTPIW_RUNTIME_DOORBELL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct conn;
struct iw_doorbell;
struct shard;

struct doorbell_list {
	_Atomic(struct iw_doorbell *) head; /* the newest; next is the one before */
};

/*
 * Puts the doorbell on the list, after its work requests were published. Returns false if it was on
 * the list already: its server then sees these work requests, too. Lock-free.
 */
bool doorbell_ring(struct doorbell_list *list, struct iw_doorbell *doorbell);
/*
 * Rings at a shard that the caller does not serve, and wakes its thread. The caller may hold
 * another shard's lock.
 */
void doorbell_ring_at(struct shard *s, struct iw_doorbell *doorbell);
/*
 * Calls conn_doorbell() for each doorbell of the list. Returns false if the list was empty. Needs
 * the shard's lock.
 */
bool doorbell_serve(struct doorbell_list *list, struct conn *c);

/* True if the list is not empty. Lock-free; the result may be stale (shard.h). */
static inline bool doorbell_is_rung(struct doorbell_list *list)
{
	return atomic_load_explicit(&list->head, memory_order_relaxed) != NULL;
}

#endif
