/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Receives: a message takes one from a queue, places its bytes into it, and completes it. Nothing
 * here knows of MSNs, segments or the type of the QP. A receive comes from the QP's own queue or
 * from an SRQ; that is chosen for each message. Needs the shard's lock.
 */
#ifndef SCTPIW_IWARP_RECV_H
#define SCTPIW_IWARP_RECV_H

#include "iwarp/iw_qp.h"

struct iw_failure;

/* Names a receive that was taken. */
struct iw_recv {
	struct iw_srq *srq; /* where it comes from; NULL: the QP's own queue */
	uint32_t at;	    /* own queue: ring index; SRQ: slot, counted from 1, or 0: no receive */
};

static inline struct iw_recv iw_recv_own(uint32_t index)
{
	return (struct iw_recv){ .at = index };
}

static inline struct iw_recv_wqe *iw_recv_wqe(const struct iw_qp *qp, struct iw_recv r)
{
	if (r.srq)
		return (void *)(r.srq->slots + (size_t)(r.at - 1) * r.srq->stride);
	return (void *)(qp->rq.slots + (size_t)(r.at & qp->rq.mask) * qp->rq.stride);
}

/*
 * Takes the first posted receive of an SRQ for the QP. taken: receives of this SRQ that it holds already.
 * False, and *r is as it was, if there is none, or none for a QP that holds so many (iw_srq.h). The
 * receives of the QP's own queue need no call: posted ones, from the head of the ring on, are taken in
 * order.
 */
bool iw_recv_take(const struct iw_qp *qp, struct iw_srq *srq, uint32_t taken, struct iw_recv *r);
/* Puts a receive that was taken from an SRQ back in front of what is posted. */
void iw_recv_return(struct iw_recv r);
/*
 * Places len bytes at an offset of the receive. 0, or the enum iw_wc_status of the receive:
 * IW_WC_LOC_LEN_ERR: they do not fit; IW_WC_LOC_PROT_ERR: lkey, rights, bounds, or no memory there.
 */
uint32_t iw_recv_place(struct iw_qp *qp, struct iw_recv r, uint64_t offset, const uint8_t *data,
		       uint32_t len);
/*
 * The receive is over: *cqe is appended to the receive CQ; wr_id, qp_num and polled are filled in
 * here. Receives of the QP's own queue complete in order. solicited: see
 * iw_cq_push(). false: the entry is lost (CQ overflow).
 */
bool iw_recv_complete(struct iw_qp *qp, struct iw_recv r, struct iw_cqe *cqe, bool solicited);
/*
 * Completes the receive as flushed; or, if f blames the receive with this index, with f's status. f
 * may be NULL.
 */
void iw_recv_flush(struct iw_qp *qp, struct iw_recv r, uint32_t index, const struct iw_failure *f);
/* The same for all that is posted to the QP's own queue; the index is the ring's. */
void iw_recv_flush_queue(struct iw_qp *qp, const struct iw_failure *f);
/*
 * Moves bytes to the SGEs of a receive, a read or an atomic, at an offset of all of them; pd is that of the queue
 * that it was posted to. data NULL: only checks whether that is allowed. 0 or an enum iw_wc_status, as iw_recv_place().
 */
uint32_t iw_scatter(const struct iw_pd *pd, const struct iw_sge *sges, uint32_t n, uint64_t offset,
		    const uint8_t *data, uint32_t len);

#endif
