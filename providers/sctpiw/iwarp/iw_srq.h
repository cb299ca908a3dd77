/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shared receive queues.
 *
 * A Send takes a receive when its first segment comes, or, if the queue is empty then, as soon as
 * one is posted; QPs that wait are served in turn. Those of type UC do not wait: the Send is
 * dropped. A QP takes receives in the order of its messages: when a message overtakes others on
 * its way, those get their receives before it. So every receive that was taken can complete, and
 * it cannot happen that all receives belong to messages that wait for an earlier one without a
 * receive. A QP whose next message already has a receive may take more only while it has fewer
 * than are left in the queue, so that no peer gets hold of all of them by many messages that it
 * does not finish (RFC 5042 6.4.3.1); until then these messages are kept as unexpected ones.
 *
 * A slot belongs to the application (freed), to the queue (posted), or to a QP (taken). The QP
 * gives it back when the receive completes. The receive is outstanding until its completion is
 * polled. SRQs only count polled completions, because the order of slots does not matter. When the
 * QP enters the error state, receives of messages that have begun are flushed; the others, and all
 * of them when the QP is reset or freed, go back to the front of the queue.
 *
 * QPs of all shards may use one SRQ. Where there are several, a lock of its own orders what they do
 * to the queue; the list of QPs that wait, and the doorbell that wakes them, each shard has for itself.
 *
 * Functions marked "(producer)" are called without a shard's lock, as in iw_ring.h; all others
 * need the locks of all shards.
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
	uint32_t max_wr; /* receives that may be outstanding, taken ones among them */
	uint32_t max_sge;
	uint32_t *posted, *freed;		   /* rings of slot numbers */
	uint32_t mask;				   /* of both rings */
	_Alignas(64) _Atomic uint32_t posted_tail; /* this and the next: written by the producer */
	uint32_t freed_head;
	_Atomic uint32_t polled; /* completions that were polled; written by the CQs' consumers */
	_Alignas(64) uint32_t freed_tail; /* this and what follows: written by the RNIC */
	_Atomic uint32_t posted_head;
	uint32_t limit;	     /* IW_EVENT_SRQ_LIMIT is raised when fewer are left; 0: not armed */
	uint32_t refs;	     /* QPs */
	bool shared;	     /* the RNIC has several shards */
	_Atomic bool locked; /* by a shard, if it is shared */
	_Atomic uint32_t
		awaited; /* the shards in which Sends wait for receives: 1 << their indexes */
	struct iw_pd *pd;
	void *ctx;    /* the verbs layer's */
	uint32_t nth; /* how many the program had made, with this one; the verbs layer's */
	/* Of an XRC SRQ; else NULL and 0. See iw_xrc.h. */
	struct iw_xrcd *xrcd;
	struct iw_cq *cq; /* where its receives complete */
	uint32_t num;	  /* by which messages name it: 16 bits, not 0 */
};

/* -EINVAL: max_wr is 0, or a limit is exceeded; -ENOMEM. ctx is the verbs layer's. */
int iw_srq_new(struct iw_pd *pd, uint32_t max_wr, uint32_t max_sge, void *ctx, struct iw_srq **srq);
/* -EBUSY: a QP uses it. */
int iw_srq_free(struct iw_srq *srq);
/*
 * The caller has locked the producer's side as well. -EINVAL: max_wr is 0, above the limit, below
 * the number of receives that are outstanding, or below the armed limit; -ENOMEM.
 */
int iw_srq_resize(struct iw_srq *srq, uint32_t max_wr);
/*
 * Asks for one IW_EVENT_SRQ_LIMIT, when a receive is taken that leaves fewer than limit, or when a
 * Send finds none. 0: no event. -EINVAL: limit is above max_wr.
 */
int iw_srq_arm(struct iw_srq *srq, uint32_t limit);

/*
 * Returns the number of posted receives whose completions were not polled. Acquire: pairs with the
 * store of iw_polled_free().
 */
static inline uint32_t iw_srq_outstanding(const struct iw_srq *srq)
{
	return atomic_load_explicit(&srq->posted_tail, memory_order_relaxed) -
	       atomic_load_explicit(&srq->polled, memory_order_acquire);
}

/*
 * (producer) The next free slot, or NULL if the queue is full. Fill it, then publish. For each
 * polled completion a slot was given back before, and the RNIC has finished reading that slot.
 */
static inline struct iw_recv_wqe *iw_srq_slot(struct iw_srq *srq)
{
	if (iw_srq_outstanding(srq) >= srq->max_wr)
		return NULL;
	return (void *)(srq->slots + (size_t)srq->freed[srq->freed_head & srq->mask] * srq->stride);
}

/* (producer) Hands the filled slot to the RNIC. */
static inline void iw_srq_publish(struct iw_srq *srq)
{
	uint32_t tail = atomic_load_explicit(&srq->posted_tail, memory_order_relaxed);

	srq->posted[tail & srq->mask] = srq->freed[srq->freed_head++ & srq->mask];
	/* Release: pairs with the load of iw_srq_left(), which then sees the number and the slot. */
	atomic_store_explicit(&srq->posted_tail, tail + 1, memory_order_release);
}

/*
 * (producer, after publishing) In which shards must the doorbell be rung? 1 << index of each. The others look at the
 * receives by themselves when a Send comes. For the fence see iw_rq_is_awaited().
 */
static inline uint32_t iw_srq_awaited(const struct iw_srq *srq)
{
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(&srq->awaited, memory_order_relaxed);
}

/* (producer) The doorbell of the shard with this index. */
struct iw_doorbell *iw_srq_doorbell(struct iw_srq *srq, unsigned int shard);

#endif
