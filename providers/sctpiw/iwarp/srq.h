/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Shared receive queues inside the RNIC: slots and the limit. Needs a shard's lock. */
#ifndef SCTPIW_IWARP_SRQ_H
#define SCTPIW_IWARP_SRQ_H

#include "iwarp/event.h"
#include "iwarp/iw_srq.h"
#include "iwarp/shard.h"
#include "util/list.h"

/* An SRQ's data for one shard, protected by the shard's lock. */
struct iw_srq_part {
	_Alignas(64) struct iw_srq *srq;
	struct iw_shard *shard;
	struct iw_doorbell doorbell;
	struct iw_event_node event;
	struct list_node
		/* iw_rc_rx.waiting: QPs that wait for a receive, in the order of their turns */
		waiting;
	struct list_node due; /* iw_shard.srqs_due: see iw_srq_serve_later() */
};

/* An SRQ with its private data. */
struct iw_srq_full {
	struct iw_srq srq;
	struct iw_srq_part parts[]; /* one part for each shard, by shard index */
};

static inline struct iw_srq_part *iw_srq_part(struct iw_srq *srq, const struct iw_shard *shard)
{
	return &list_entry(srq, struct iw_srq_full, srq)->parts[shard->index];
}

/*
 * Takes the next posted receive for a QP of this shard that holds `taken` receives. Returns the
 * number of the slot + 1. Returns 0 if no receive is posted, or if the QP may not take more
 * receives now.
 */
uint32_t iw_srq_take(struct iw_srq *srq, struct iw_shard *shard, uint32_t taken);
/* Frees the slot of a completed receive, for reuse after the completion is polled. */
void iw_srq_give_back(struct iw_srq *srq, uint32_t slot);
/* Returns a taken receive to the front of the posted receives. */
void iw_srq_repost(struct iw_srq *srq, uint32_t slot);
/* Sets whether the application rings the shard's doorbell for each posted receive. */
void iw_srq_await(struct iw_srq_part *part, bool awaited);
/*
 * Makes the next iw_next_event() give receives to the shard's waiting QPs. For callers during whose
 * call no session may end.
 */
void iw_srq_serve_later(struct iw_srq_part *part);
/*
 * Makes the waiting QPs of all shards get receives, as iw_srq_serve_later(). Call when receives
 * have become available to waiting QPs, by a return or by a rule of iw_srq.h.
 */
void iw_srq_serve_all_later(struct iw_srq_part *part);

/*
 * Returns the number of posted receives that are not taken. Other shards may take some of them
 * meanwhile. Both loads are acquire loads. The load of posted_tail pairs with the store in
 * iw_srq_publish(). The load of posted_head pairs with the store of the last thread that took a
 * receive. posted_tail is loaded afterwards, so its value is not older than that of posted_head.
 */
static inline uint32_t iw_srq_left(const struct iw_srq *srq)
{
	uint32_t head = atomic_load_explicit(&srq->posted_head, memory_order_acquire);

	return atomic_load_explicit(&srq->posted_tail, memory_order_acquire) - head;
}

#endif
