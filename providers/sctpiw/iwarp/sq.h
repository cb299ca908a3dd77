/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The send queue of all QP types: the RNIC's position in the ring, the payload of the current WQE,
 * and completion in posting order. The code of each QP type builds the messages (rc_tx.c, ud.c).
 * Needs the shard's lock.
 */
#ifndef SCTPIW_IWARP_SQ_H
#define SCTPIW_IWARP_SQ_H

#include "iwarp/iw_qp.h"
#include "iwarp/mr.h"

struct iw_failure;

/* Progress of a started WQE. */
enum iw_wqe_progress {
	IW_WQE_STARTED,
	IW_WQE_READING, /* the request was sent; the response is outstanding */
	/* the LLP has pulled all messages; some may not be placed at the peer: unplaced.h */
	IW_WQE_SENT,
	IW_WQE_DONE,
};

/*
 * The WQEs before `next` are sent or done. The WQE at `next` is sent now or next. The WQEs from
 * iw_qp.sq.head on are not complete.
 */
struct iw_sq {
	uint32_t next; /* ring index */
	uint32_t tail; /* last seen tail of the ring */
	bool begun;    /* the WQE at `next` is the current WQE; parts may have been sent */
	/* Of the current WQE: */
	uint32_t offset;     /* sent bytes of its message */
	uint32_t sge;	     /* the next SGE */
	uint32_t sge_offset; /* sent bytes of that SGE */
};

static inline struct iw_send_wqe *iw_sq_at(const struct iw_qp *qp, uint32_t index)
{
	return (void *)(qp->sq.slots + (size_t)(index & qp->sq.mask) * qp->sq.stride);
}

/*
 * Returns the ring's tail. The acquire load pairs with the store in iw_ring_publish(), so the slots
 * before the tail are filled.
 */
static inline uint32_t iw_ring_tail(const struct iw_ring *r)
{
	return atomic_load_explicit(&r->tail, memory_order_acquire);
}

/* Returns the current or next WQE in any QP state; NULL: none. sq: the QP's send queue. */
static inline struct iw_send_wqe *iw_sq_peek(struct iw_qp *qp, struct iw_sq *sq)
{
	if (sq->next == sq->tail) {
		sq->tail = iw_ring_tail(&qp->sq);
		if (sq->next == sq->tail)
			return NULL;
	}
	return iw_sq_at(qp, sq->next);
}
/* Copies the next n bytes of inline data of the current WQE. Returns 0 or an enum iw_wc_status. */
uint32_t iw_sq_copy_inline(struct iw_qp *qp, const struct iw_send_wqe *wqe, uint8_t *to,
			   uint32_t n);
/*
 * Finds the next contiguous bytes of the current WQE, at most n > 0 bytes, and counts them as sent.
 * Sets *from and *len > 0. sq: the QP's send queue. Returns 0, or an enum iw_wc_status if no bytes
 * remain or access is denied.
 */
static inline uint32_t iw_sq_next_part(struct iw_qp *qp, struct iw_sq *sq,
				       const struct iw_send_wqe *wqe, uint32_t n,
				       const uint8_t **from, uint32_t *len)
{
	const struct iw_sge *sge;
	uint32_t part;

	for (;; sq->sge++, sq->sge_offset = 0) {
		if (sq->sge >= wqe->num_sge || sq->sge >= qp->max_send_sge)
			return IW_WC_LOC_LEN_ERR;
		sge = &wqe->sge[sq->sge];
		if (sq->sge_offset < sge->length)
			break;
	}
	part = sge->length - sq->sge_offset;
	*len = part < n ? part : n;
	*from = iw_mr_local(qp, sge->lkey, sge->addr + sq->sge_offset, *len, 0);
	if (!*from)
		return IW_WC_LOC_PROT_ERR;
	sq->sge_offset += *len;
	return IW_WC_SUCCESS;
}
/*
 * Completes the WQEs at the head of the queue that are IW_WQE_DONE. Returns false if a completion
 * was lost (CQ overflow); the caller must then move the QP to the error state.
 */
bool iw_sq_complete(struct iw_qp *qp);
/* Completes all WQEs as flushed, except the one that f names, with f's status. f may be NULL. */
void iw_sq_flush(struct iw_qp *qp, const struct iw_failure *f);
/* Removes all WQEs without a completion. */
void iw_sq_reset(struct iw_qp *qp);

#endif
