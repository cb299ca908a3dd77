/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shared receive queues.
 *
 * When the first segment of a Send arrives, the Send takes a receive from the queue. If the queue
 * is empty, the Send takes a receive that is posted later. If Sends of several QPs wait, the QPs
 * take receives in turn. A UC QP does not wait, but drops the Send.
 *
 * A QP takes receives in message order: if a message overtakes others, the overtaken messages get
 * their receives first. So every taken receive can complete: otherwise, messages could hold all
 * receives while they wait for an earlier message that has no receive.
 *
 * If a QP's next message in order already has a receive, the QP may take further receives only
 * while the QP holds fewer receives than the queue has left. Messages that may not take a receive
 * are stored as unexpected messages (unexpected.h). So no peer can take all receives with many
 * unfinished messages (RFC 5042 6.4.3.1).
 *
 * A slot is free, posted or taken. A free slot belongs to the application, a posted slot to the
 * queue, and a taken slot to a QP. The QP frees the slot when the receive completes, but the
 * receive is outstanding until its completion is polled. An SRQ only counts the polled completions,
 * because the order of free slots does not matter. When the QP enters the error state, the receives
 * of started messages are flushed, and the QP's other receives return to the front of the queue.
 * When the QP is reset or freed, all of the QP's receives return to the front of the queue.
 *
 * QPs of all shards may use one SRQ. With several shards, the SRQ's own lock (iw_srq.locked)
 * protects the queue. For each shard, the SRQ has a list of waiting QPs, and a doorbell to wake
 * them.
 *
 * Functions marked "(producer)" need no shard's lock, as in iw_ring.h; all others need the locks of
 * all shards.
 */
#ifndef SCTPIW_IWARP_IW_SRQ_H
#define SCTPIW_IWARP_IW_SRQ_H

#include "iwarp/iw_ring.h"

struct iw_cq;
struct iw_pd;
struct iw_xrcd;

struct iw_srq {
	uint8_t *slots;
	uint32_t stride; /* bytes from slot to slot */
	uint32_t size;	 /* number of slots */
	uint32_t max_wr; /* maximum outstanding receives, including taken ones */
	uint32_t max_sge;
	uint32_t *posted, *freed; /* rings of slot numbers: posted and free slots */
	uint32_t mask;		  /* size of posted, and of freed, minus 1 */
	_Alignas(64) _Atomic uint32_t posted_tail; /* written by the producer, as freed_head */
	uint32_t freed_head;
	_Atomic uint32_t polled;	  /* polled completions; written by the CQs' consumers */
	_Alignas(64) uint32_t freed_tail; /* this field and all below are written by the RNIC */
	_Atomic uint32_t posted_head;
	uint32_t limit;		  /* IW_EVENT_SRQ_LIMIT if fewer receives are left; 0: not armed */
	uint32_t refs;		  /* number of QPs that use the SRQ */
	bool shared;		  /* the RNIC has several shards */
	_Atomic bool locked;	  /* the SRQ's own lock, used if shared */
	_Atomic uint32_t awaited; /* shards with Sends that wait: bits (1 << shard index) */
	struct iw_pd *pd;
	void *ctx;    /* belongs to the verbs layer */
	uint32_t nth; /* number of the SRQ in the program, counted from 1; for the verbs layer */
	/* Set for an XRC SRQ (iw_xrc.h); otherwise NULL and 0. */
	struct iw_xrcd *xrcd;
	struct iw_cq *cq; /* CQ on which the SRQ's receives complete */
	uint32_t num;	  /* number of the SRQ in messages: 16 bits, not 0 */
};

/*
 * Creates an SRQ. ctx belongs to the verbs layer. Returns 0 or: -EINVAL if max_wr is 0 or a limit
 * is exceeded; -ENOMEM.
 */
int iw_srq_new(struct iw_pd *pd, uint32_t max_wr, uint32_t max_sge, void *ctx, struct iw_srq **srq);
/* Returns 0, or -EBUSY if a QP uses the SRQ. */
int iw_srq_free(struct iw_srq *srq);
/*
 * Resizes the queue. Needs the producer's lock as well. Returns 0 or: -EINVAL if max_wr is 0, above
 * the limit, below iw_srq_outstanding(), or below the limit of iw_srq_arm(); -ENOMEM.
 */
int iw_srq_resize(struct iw_srq *srq, uint32_t max_wr);
/*
 * Requests one IW_EVENT_SRQ_LIMIT. The event is raised when a Send takes a receive so that fewer
 * than limit receives remain, or when a Send finds no receive. limit 0 cancels the request. Returns
 * 0, or -EINVAL if limit exceeds max_wr.
 */
int iw_srq_arm(struct iw_srq *srq, uint32_t limit);

/*
 * Returns the number of receives that were posted and whose completions were not polled. The
 * acquire load pairs with the store in iw_polled_free().
 */
static inline uint32_t iw_srq_outstanding(const struct iw_srq *srq)
{
	return atomic_load_explicit(&srq->posted_tail, memory_order_relaxed) -
	       atomic_load_explicit(&srq->polled, memory_order_acquire);
}

/*
 * (producer) Returns the next free slot, or NULL if the queue is full. Fill the slot, then call
 * iw_srq_publish(). The slot is safe to fill: for each polled completion, the RNIC has finished
 * reading a slot and freed it.
 */
static inline struct iw_recv_wqe *iw_srq_slot(struct iw_srq *srq)
{
	if (iw_srq_outstanding(srq) >= srq->max_wr)
		return NULL;
	return (void *)(srq->slots + (size_t)srq->freed[srq->freed_head & srq->mask] * srq->stride);
}

/* (producer) Passes the filled slot to the RNIC. */
static inline void iw_srq_publish(struct iw_srq *srq)
{
	uint32_t tail = atomic_load_explicit(&srq->posted_tail, memory_order_relaxed);

	srq->posted[tail & srq->mask] = srq->freed[srq->freed_head++ & srq->mask];
	/*
	 * The release store pairs with the load in iw_srq_left(), whose thread then sees the slot
	 * and its number.
	 */
	atomic_store_explicit(&srq->posted_tail, tail + 1, memory_order_release);
}

/*
 * (producer) Call after iw_srq_publish(). Returns the shards whose doorbells must be rung, as bits
 * (1 << shard index). The other shards need no doorbell, because they look for receives whenever a
 * Send arrives. For the fence see iw_rq_is_awaited().
 */
static inline uint32_t iw_srq_awaited(const struct iw_srq *srq)
{
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(&srq->awaited, memory_order_relaxed);
}

/* (producer) Returns the doorbell of the shard with this index. */
struct iw_doorbell *iw_srq_doorbell(struct iw_srq *srq, unsigned int shard);

#endif
