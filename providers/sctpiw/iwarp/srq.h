/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Shared receive queues from the RNIC's side: slots and the limit. Needs the shard's lock. */
#ifndef SCTPIW_IWARP_SRQ_H
#define SCTPIW_IWARP_SRQ_H

#include "iwarp/event.h"
#include "iwarp/iw_srq.h"
#include "util/list.h"

/* An SRQ with what only this room sees of it. */
struct iw_srq_full {
	struct iw_srq srq;
	struct iw_event_node event;
	struct list_node waiting; /* iw_rc_rx.waiting: QPs with Sends that wait for a receive */
	struct list_node due;	  /* iw_rnic.srqs_due: see iw_srq_serve_later() */
	struct list_node of_xrcd; /* iw_xrcd.srqs, if it is an XRC SRQ */
};

/*
 * Takes the next posted receive out of the queue: its slot, counted from 1; 0: there is none, or
 * not for a QP that has taken so many.
 */
uint32_t iw_srq_take(struct iw_srq *srq, uint32_t taken);
/* Gives the slot of a receive that is over to the application. */
void iw_srq_give_back(struct iw_srq *srq, uint32_t slot);
/* Puts a receive that was taken back in front of what is posted. */
void iw_srq_repost(struct iw_srq *srq, uint32_t slot);
/* Says whether the application rings the doorbell for each receive that it posts. */
void iw_srq_await(struct iw_srq *srq, bool awaited);
/* QPs that wait get receives by the next iw_next_event(): for where sessions must not end. */
void iw_srq_serve_later(struct iw_srq *srq);

/* How many receives are posted and not taken. Acquire: pairs with the store of iw_srq_publish(). */
static inline uint32_t iw_srq_left(const struct iw_srq *srq)
{
	return atomic_load_explicit(&srq->posted_tail, memory_order_acquire) - srq->posted_head;
}

/* The list of QPs that wait for receives, in turn. */
static inline struct list_node *iw_srq_waiting(struct iw_srq *srq)
{
	return &list_entry(srq, struct iw_srq_full, srq)->waiting;
}

#endif
