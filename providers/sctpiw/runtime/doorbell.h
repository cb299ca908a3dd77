/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The list of QPs and SRQs that have new work requests. Any thread rings, without a lock; the
 * holder of the shard's lock takes the whole list and serves it in the order of the rings. A
 * doorbell is on the list once, however often it is rung.
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
 * Puts the doorbell on the list, behind work requests that were published before. Returns false if
 * it was there already; then whoever serves it sees them, too. Lock-free.
 */
bool doorbell_ring(struct doorbell_list *list, struct iw_doorbell *doorbell);
/* Rings at a shard that the caller, who may have another one's lock, does not serve: its thread is woken. */
void doorbell_ring_at(struct shard *s, struct iw_doorbell *doorbell);
/* Calls conn_doorbell() for each that is on the list. Returns whether there was any. Shard lock. */
bool doorbell_serve(struct doorbell_list *list, struct conn *c);

/* Whether the list has any. Lock-free; the answer may be old (shard.h says who relies on what). */
static inline bool doorbell_is_rung(struct doorbell_list *list)
{
	return atomic_load_explicit(&list->head, memory_order_relaxed) != NULL;
}

#endif
