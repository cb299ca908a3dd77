/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Receives: a message takes a receive from the QP's own queue or an SRQ, places its bytes there,
 * and completes the receive. This code is independent of MSNs, segments and QP types. Needs the
 * shard's lock.
 */
#ifndef SCTPIW_IWARP_RECV_H
#define SCTPIW_IWARP_RECV_H

#include "iwarp/iw_qp.h"

struct iw_failure;

/* Identifies a taken receive. */
struct iw_recv {
	struct iw_srq *srq; /* the SRQ of the receive; NULL: the QP's own queue */
	uint32_t at;	    /* own queue: ring index; SRQ: slot + 1, or 0 for no receive */
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
 * Takes the first posted receive of an SRQ for the QP. taken: number of receives that the QP holds.
 * Returns false, without changing *r, if no receive is posted, or if the QP may not take more
 * receives now (iw_srq.h). Receives of the QP's own queue need no call: messages use them in order,
 * from the head of the ring.
 */
bool iw_recv_take(const struct iw_qp *qp, struct iw_srq *srq, uint32_t taken, struct iw_recv *r);
/* Returns a receive that was taken from an SRQ to the front of the SRQ's posted receives. */
void iw_recv_return(struct iw_recv r);
/*
 * Places len bytes at an offset of the receive. Returns 0, or the enum iw_wc_status of the receive:
 * IW_WC_LOC_LEN_ERR if the bytes do not fit; IW_WC_LOC_PROT_ERR if an SGE has a wrong lkey or
 * bound, lacks the right, or is not mapped.
 */
uint32_t iw_recv_place(struct iw_qp *qp, struct iw_recv r, uint64_t offset, const uint8_t *data,
		       uint32_t len);
/*
 * Completes the receive: sets wr_id, qp_num and polled of *cqe, and appends *cqe to the receive CQ.
 * Receives of the QP's own queue complete in order. solicited: see iw_cq_push(). Returns false if
 * the entry is lost (CQ overflow).
 */
bool iw_recv_complete(struct iw_qp *qp, struct iw_recv r, struct iw_cqe *cqe, bool solicited);
/* Flushes the receive, with f's status if f names the receive with this index. f may be NULL. */
void iw_recv_flush(struct iw_qp *qp, struct iw_recv r, uint32_t index, const struct iw_failure *f);
/* Completes all receives posted to the QP's own queue as flushed: see iw_recv_flush(). */
void iw_recv_flush_queue(struct iw_qp *qp, const struct iw_failure *f);
/*
 * Copies bytes to the memory of n SGEs, which belong to a receive, a read or an atomic. offset:
 * position in the sequence of all SGEs. pd: PD of the queue. data NULL: only checks access. Returns
 * as iw_recv_place().
 */
uint32_t iw_scatter(const struct iw_pd *pd, const struct iw_sge *sges, uint32_t n, uint64_t offset,
		    const uint8_t *data, uint32_t len);

#endif
