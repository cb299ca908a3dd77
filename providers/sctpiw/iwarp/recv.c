/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/recv.h"

#include "iwarp/cq.h"
#include "iwarp/mr.h"
#include "iwarp/sq.h"
#include "iwarp/srq.h"
#include "iwarp/terminate.h"

uint32_t iw_scatter(const struct iw_pd *pd, const struct iw_sge *sges, uint32_t n, uint64_t offset,
		    const uint8_t *data, uint32_t len)
{
	for (uint32_t i = 0; len && i < n; i++) {
		const struct iw_sge *sge = &sges[i];
		uint32_t part;
		uint8_t *to;

		if (offset >= sge->length) {
			offset -= sge->length;
			continue;
		}
		part = sge->length - (uint32_t)offset;
		if (part > len)
			part = len;
		to = iw_mr_of_pd(pd, sge->lkey, sge->addr + offset, part, IW_ACCESS_LOCAL_WRITE);
		if (!to || (data && pd->rnic->ops.place(to, data, part)))
			return IW_WC_LOC_PROT_ERR;
		if (data)
			data += part;
		len -= part;
		offset = 0;
	}
	return len ? IW_WC_LOC_LEN_ERR : IW_WC_SUCCESS;
}

bool iw_recv_take(const struct iw_qp *qp, struct iw_srq *srq, uint32_t taken, struct iw_recv *r)
{
	uint32_t at = iw_srq_take(srq, qp->shard, taken);

	if (!at)
		return false;
	*r = (struct iw_recv){ .srq = srq, .at = at };
	return true;
}

void iw_recv_return(struct iw_recv r)
{
	iw_srq_repost(r.srq, r.at);
}

uint32_t iw_recv_place(struct iw_qp *qp, struct iw_recv r, uint64_t offset, const uint8_t *data,
		       uint32_t len)
{
	const struct iw_recv_wqe *wqe = iw_recv_wqe(qp, r);
	uint32_t n = wqe->num_sge < qp->max_recv_sge ? wqe->num_sge : qp->max_recv_sge;

	if (offset + len > wqe->length)
		return IW_WC_LOC_LEN_ERR;
	return iw_scatter(r.srq && r.srq->xrcd ? r.srq->pd : qp->pd, wqe->sge, n, offset, data,
			  len);
}

bool iw_recv_complete(struct iw_qp *qp, struct iw_recv r, struct iw_cqe *cqe, bool solicited)
{
	struct iw_cq *cq = qp->recv_cq;

	cqe->wr_id = iw_recv_wqe(qp, r)->wr_id;
	cqe->qp_num = qp->num;
	if (r.srq) {
		if (r.srq->cq)
			cq = r.srq->cq;
		/*
		 * Free the slot before the entry is pushed: once the application has polled the
		 * entry, it may post to the slot.
		 */
		iw_srq_give_back(r.srq, r.at);
		cqe->polled = (struct iw_polled){ .at = &r.srq->polled, .counts = true };
	} else {
		qp->rq.head = r.at + 1;
		cqe->polled = (struct iw_polled){ .at = &qp->rq.polled, .to = r.at + 1 };
	}
	return iw_cq_push(cq, qp->shard, cqe, solicited);
}

void iw_recv_flush(struct iw_qp *qp, struct iw_recv r, uint32_t index, const struct iw_failure *f)
{
	const struct iw_failure *fault = iw_failure_of(f, IW_FAULT_RQ, index);
	struct iw_cqe cqe = {
		.status = fault ? fault->status : IW_WC_WR_FLUSH_ERR,
		.opcode = IW_WC_RECV,
		.vendor_err = fault ? fault->term.error : 0,
	};

	iw_recv_complete(qp, r, &cqe, true);
}

void iw_recv_flush_queue(struct iw_qp *qp, const struct iw_failure *f)
{
	uint32_t head = qp->rq.head;
	uint32_t tail = iw_ring_tail(&qp->rq);

	for (; head != tail; head++)
		iw_recv_flush(qp, iw_recv_own(head), head, f);
}
