/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Shared receive queues from the RNIC's side: slots and the limit. Needs a shard's lock. */
#ifndef SCTPIW_IWARP_SRQ_H
#define SCTPIW_IWARP_SRQ_H

#include "iwarp/event.h"
#include "iwarp/iw_srq.h"
#include "iwarp/shard.h"
#include "util/list.h"

/* What an SRQ has for one shard, whose lock guards it. */
struct iw_srq_part {
	_Alignas(64) struct iw_srq *srq;
	struct iw_shard *shard;
	struct iw_doorbell doorbell;
	struct iw_event_node event;
	struct list_node
		waiting; /* iw_rc_rx.waiting: QPs with Sends that wait for a receive, in turn */
	struct list_node due; /* iw_shard.srqs_due: see iw_srq_serve_later() */
};

/* An SRQ with what only this room sees of it. */
struct iw_srq_full {
	struct iw_srq srq;
	struct iw_srq_part parts[]; /* by the index of the shard */
};

/* What the SRQ has for this shard. */
static inline struct iw_srq_part *iw_srq_part(struct iw_srq *srq, const struct iw_shard *shard)
{
	return &list_entry(srq, struct iw_srq_full, srq)->parts[shard->index];
}

/*
 * Takes the next posted receive out of the queue, for a QP of this shard: its slot, counted from 1; 0: there is none, or
 * not for a QP that has taken so many.
 */
uint32_t iw_srq_take(struct iw_srq *srq, struct iw_shard *shard, uint32_t taken);
/*
 * Gives the slot of a finished receive to the application, for use after its completion is polled.
 */
void iw_srq_give_back(struct iw_srq *srq, uint32_t slot);
/* Puts a receive that was taken back in front of what is posted. */
void iw_srq_repost(struct iw_srq *srq, uint32_t slot);
/* Says whether the application rings the shard's doorbell for each receive that it posts. */
void iw_srq_await(struct iw_srq_part *part, bool awaited);
/* The shard's QPs that wait get receives by the next iw_next_event(): for where sessions must not end. */
void iw_srq_serve_later(struct iw_srq_part *part);
/* QPs that wait may have receives now that they could not have before: those of other shards, too. */
void iw_srq_serve_all_later(struct iw_srq_part *part);

/*
 * How many receives are posted and not taken; other shards may take some meanwhile. Acquire: the tail pairs with the store of
 * iw_srq_publish(); the head with that of whoever took, so that the tail, which is read behind it, is not older.
 */
static inline uint32_t iw_srq_left(const struct iw_srq *srq)
{
	uint32_t head = atomic_load_explicit(&srq->posted_head, memory_order_acquire);

	return atomic_load_explicit(&srq->posted_tail, memory_order_acquire) - head;
}

#endif
