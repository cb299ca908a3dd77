/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The list of QPs and SRQs with new work requests. Any thread may ring a doorbell, which puts it on
 * the list, without a lock. The holder of the shard's lock takes the whole list, and serves it in
 * the order in which the doorbells were rung. A doorbell is on the list at most once.
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
	/* the newest doorbell; its `next` is the doorbell that was rung before it */
	_Atomic(struct iw_doorbell *) head;
};

/*
 * Puts the doorbell on the list. Publish the new work requests before this call. Returns false if
 * the doorbell was on the list already: the thread that serves the list then handles these work
 * requests, too. Takes no lock.
 */
bool doorbell_ring(struct doorbell_list *list, struct iw_doorbell *doorbell);
/*
 * Puts the doorbell on the list of a shard that the caller does not serve, and wakes that shard's
 * progress thread. The caller may hold another shard's lock.
 */
void doorbell_ring_at(struct shard *s, struct iw_doorbell *doorbell);
/*
 * Calls conn_doorbell() for each doorbell of the list. Returns false if the list was empty. Needs
 * the shard's lock.
 */
bool doorbell_serve(struct doorbell_list *list, struct conn *c);

/* True if the list is not empty. Takes no lock, so the result may be out of date (shard.h). */
static inline bool doorbell_is_rung(struct doorbell_list *list)
{
	return atomic_load_explicit(&list->head, memory_order_relaxed) != NULL;
}

#endif
