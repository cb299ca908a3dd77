/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The send queue, as every type of QP has it: the RNIC's place in the ring, the payload of the
 * current WQE, completion in posting order. What is sent, and when, is the type's (rc_tx.c).
 * Needs the shard's lock.
 */
#ifndef SCTPIW_IWARP_SQ_H
#define SCTPIW_IWARP_SQ_H

#include "iwarp/iw_qp.h"
#include "iwarp/mr.h"

struct iw_failure;

/* How far a WQE is that was taken up. */
enum iw_wqe_progress {
	IW_WQE_STARTED,
	IW_WQE_READING, /* its request is with DDP, the response is not here */
	IW_WQE_SENT, /* all of it is with the LLP, and the peer may not have it yet: unplaced.h */
	IW_WQE_DONE,
};

/*
 * WQEs before `next` have been handed to DDP or are done, the one at `next` comes next, or is the
 * current one; those from iw_qp.sq.head on are not complete.
 */
struct iw_sq {
	uint32_t next; /* ring index */
	uint32_t tail; /* of the ring, as last seen */
	bool begun;    /* the WQE at next is the current one: some of its message may be out */
	/* Of the current WQE: */
	uint32_t offset;     /* bytes of its message that are out */
	uint32_t sge;	     /* the SGE that comes next */
	uint32_t sge_offset; /* bytes of that SGE that are out */
};

static inline struct iw_send_wqe *iw_sq_at(const struct iw_qp *qp, uint32_t index)
{
	return (void *)(qp->sq.slots + (size_t)(index & qp->sq.mask) * qp->sq.stride);
}

/* Acquire: pairs with the store of iw_ring_publish(). What stands in the slots before it is there. */
static inline uint32_t iw_ring_tail(const struct iw_ring *r)
{
	return atomic_load_explicit(&r->tail, memory_order_acquire);
}

/*
 * The WQE that comes next, or is the current one; NULL: none is posted. Does not look at the state. sq is
 * the QP's.
 */
static inline struct iw_send_wqe *iw_sq_peek(struct iw_qp *qp, struct iw_sq *sq)
{
	if (sq->next == sq->tail) {
		sq->tail = iw_ring_tail(&qp->sq);
		if (sq->next == sq->tail)
			return NULL;
	}
	return iw_sq_at(qp, sq->next);
}
/* Copies the next n bytes of inline data of the current WQE to `to`: 0 or an enum iw_wc_status. */
uint32_t iw_sq_copy_inline(struct iw_qp *qp, const struct iw_send_wqe *wqe, uint8_t *to,
			   uint32_t n);
/*
 * The next bytes of the current WQE that lie together in memory, at most n > 0: *from and *len > 0.
 * They count as sent. sq is the QP's. 0 or an enum iw_wc_status: there are no more, or they must not be read.
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
 * Completes, in posting order, what is IW_WQE_DONE. false: a completion was lost (CQ overflow), and
 * the caller is to move the QP to the error state.
 */
bool iw_sq_complete(struct iw_qp *qp);
/* Completes all WQEs as flushed, but the one that f blames with f's status. f may be NULL. */
void iw_sq_flush(struct iw_qp *qp, const struct iw_failure *f);
/* Takes all WQEs out without a completion. */
void iw_sq_reset(struct iw_qp *qp);

#endif
