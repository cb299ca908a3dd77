/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Shared receive queues.
 *
 * The first segment of a Send takes a receive. If the queue is empty, the Send takes the next
 * receive that is posted; waiting QPs are served in turn. UC QPs do not wait: they drop the Send.
 *
 * A QP takes receives in message order: if a message overtakes others, the overtaken messages get
 * their receives first. So every taken receive can complete. Messages that wait for an earlier one
 * without a receive cannot hold all receives.
 *
 * If a QP's next message already has a receive, the QP may take more only while it holds fewer than
 * the queue has left. Until then these messages are kept as unexpected ones. So no peer can take
 * all receives with many unfinished messages (RFC 5042 6.4.3.1).
 *
 * A slot belongs to the application (freed), to the queue (posted), or to a QP (taken). The QP
 * returns the slot when the receive completes. The receive is outstanding until its completion is
 * polled. SRQs only count polled completions, because the order of slots does not matter. When the
 * QP enters the error state, receives of started messages are flushed and the others return to the
 * front of the queue. When the QP is reset or freed, all return there.
 *
 * QPs of all shards may use one SRQ. With several shards, the SRQ's own lock protects the queue.
 * Each shard has its own list of waiting QPs, and its own doorbell to wake them.
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
	uint32_t *posted, *freed;		   /* rings of slot numbers */
	uint32_t mask;				   /* of both rings */
	_Alignas(64) _Atomic uint32_t posted_tail; /* this and the next: written by the producer */
	uint32_t freed_head;
	_Atomic uint32_t polled;	  /* polled completions; written by the CQs' consumers */
	_Alignas(64) uint32_t freed_tail; /* this and all below: written by the RNIC */
	_Atomic uint32_t posted_head;
	uint32_t limit;		  /* raise IW_EVENT_SRQ_LIMIT if fewer are left; 0: not armed */
	uint32_t refs;		  /* QPs */
	bool shared;		  /* the RNIC has several shards */
	_Atomic bool locked;	  /* by a shard, if shared */
	_Atomic uint32_t awaited; /* shards in which Sends wait for receives: 1 << index */
	struct iw_pd *pd;
	void *ctx;    /* belongs to the verbs layer */
	uint32_t nth; /* SRQ's number in the program, from 1; for the verbs layer */
	/* For an XRC SRQ; else NULL and 0. See iw_xrc.h. */
	struct iw_xrcd *xrcd;
	struct iw_cq *cq; /* CQ for its receives */
	uint32_t num;	  /* 16-bit number in messages, not 0 */
};

/*
 * Creates an SRQ; ctx belongs to the verbs layer. Returns 0 or: -EINVAL if max_wr is 0, or a limit
 * is exceeded; -ENOMEM.
 */
int iw_srq_new(struct iw_pd *pd, uint32_t max_wr, uint32_t max_sge, void *ctx, struct iw_srq **srq);
/* Returns 0, or -EBUSY if a QP uses the SRQ. */
int iw_srq_free(struct iw_srq *srq);
/*
 * Resizes the queue. Needs the producer's lock as well. Returns 0 or: -EINVAL if max_wr is 0, above
 * the limit, below the number of outstanding receives, or below the armed limit; -ENOMEM.
 */
int iw_srq_resize(struct iw_srq *srq, uint32_t max_wr);
/*
 * Requests one IW_EVENT_SRQ_LIMIT, when a taken receive leaves fewer than limit, or when a Send
 * finds none. 0: no event. Returns 0, or -EINVAL if limit exceeds max_wr.
 */
int iw_srq_arm(struct iw_srq *srq, uint32_t limit);

/*
 * Returns the number of posted receives without a polled completion. Acquire: pairs with the store
 * in iw_polled_free().
 */
static inline uint32_t iw_srq_outstanding(const struct iw_srq *srq)
{
	return atomic_load_explicit(&srq->posted_tail, memory_order_relaxed) -
	       atomic_load_explicit(&srq->polled, memory_order_acquire);
}

/*
 * (producer) Returns the next free slot, or NULL if the queue is full. Fill it, then publish.
 * Before each polled completion, the RNIC finished reading a slot and returned that slot.
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
	 * Release: pairs with the load in iw_srq_left(), which then sees the number and the slot.
	 */
	atomic_store_explicit(&srq->posted_tail, tail + 1, memory_order_release);
}

/*
 * (producer, after publishing) Returns the shards whose doorbells must be rung: 1 << index of each.
 * The other shards check for receives when a Send arrives. For the fence see iw_rq_is_awaited().
 */
static inline uint32_t iw_srq_awaited(const struct iw_srq *srq)
{
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(&srq->awaited, memory_order_relaxed);
}

/* (producer) Returns the doorbell of the shard with this index. */
struct iw_doorbell *iw_srq_doorbell(struct iw_srq *srq, unsigned int shard);

#endif
