/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The list of QPs and SRQs with new work requests: any thread rings, without a lock; the holder of the shard's
 * lock takes the list and serves it in the order of the rings.
 */
#ifndef SCTPIW_RUNTIME_DOORBELL_H
#define SCTPIW_RUNTIME_DOORBELL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct conn;
struct iw_doorbell;

struct doorbell_list {
	_Atomic(struct iw_doorbell *) head; /* the newest first */
};

/* Lock-free. Returns whether it was not on the list yet. */
bool doorbell_ring(struct doorbell_list *list, struct iw_doorbell *doorbell);
/* Serves all that is on the list (conn_doorbell()); shard lock. Returns whether there was any. */
bool doorbell_serve(struct doorbell_list *list, struct conn *c);

/* Whether somebody has rung. Lock-free. */
static inline bool doorbell_is_rung(struct doorbell_list *list)
{
	return atomic_load_explicit(&list->head, memory_order_relaxed) != NULL;
}

#endif
