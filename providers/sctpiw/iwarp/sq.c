/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The send queue of any QP type: posting, gathering and completion. */
#include "iwarp/sq.h"

#include <string.h>

#include "iwarp/cq.h"
#include "iwarp/iw_wr.h"
#include "iwarp/qp.h"
#include "iwarp/terminate.h"
#include "util/trace.h"

uint32_t iw_sq_copy_inline(struct iw_qp *qp, const struct iw_send_wqe *wqe, uint8_t *to, uint32_t n)
{
	uint32_t offset = iw_qp_base(qp)->send.offset;

	if (offset + (uint64_t)n > qp->max_inline)
		return IW_WC_LOC_LEN_ERR;
	memcpy(to, (const uint8_t *)wqe->sge + offset, n);
	return IW_WC_SUCCESS;
}

static inline bool push(struct iw_qp *qp, const struct iw_send_wqe *wqe, uint32_t head,
			uint32_t status, uint16_t vendor_err)
{
	struct iw_cqe cqe = {
		.wr_id = wqe->wr_id,
		.status = status,
		.opcode = iw_wr_info(wqe->opcode)->wc_opcode,
		.byte_len = status ? 0 : wqe->length,
		.qp_num = qp->num,
		.vendor_err = vendor_err,
		.polled = { .at = &qp->sq.polled, .to = head + 1 },
	};

	qp->sq.head = head + 1;
	return iw_cq_push(qp->send_cq, qp->shard, &cqe, status != IW_WC_SUCCESS);
}

bool iw_sq_complete(struct iw_qp *qp)
{
	struct iw_qp_base *base = iw_qp_base(qp);
	uint32_t head = qp->sq.head;
	bool lost = false;

	while (head != base->send.next && !lost) {
		struct iw_send_wqe *wqe = iw_sq_at(qp, head);

		if (wqe->progress != IW_WQE_DONE)
			break;
		TRACE(wqe_completed, qp->shard->now, .qp = qp->num, .wr_id = wqe->wr_id);
		if (qp->sq_sig_all || (wqe->flags & IW_SEND_SIGNALED))
			lost = !push(qp, wqe, head, IW_WC_SUCCESS, 0);
		head++;
	}
	qp->sq.head = head;
	if (!lost && base->notify_drained)
		iw_qp_notify_drained(qp);
	return !lost;
}

/* Makes the WQE at this index the next WQE. iw_sq_peek() will look for new WQEs from there on. */
static void skip_to(struct iw_qp *qp, uint32_t index)
{
	struct iw_sq *sq = &iw_qp_base(qp)->send;

	sq->next = sq->tail = index;
}

void iw_sq_flush(struct iw_qp *qp, const struct iw_failure *f)
{
	uint32_t head = qp->sq.head;
	uint32_t tail = iw_ring_tail(&qp->sq);

	for (; head != tail; head++) {
		const struct iw_failure *fault = iw_failure_of(f, IW_FAULT_SQ, head);
		const struct iw_send_wqe *wqe = iw_sq_at(qp, head);
		uint32_t status = fault ? fault->status : IW_WC_WR_FLUSH_ERR;

		TRACE(wqe_completed, qp->shard->now, .qp = qp->num, .wr_id = wqe->wr_id,
		      .status = status);
		push(qp, wqe, head, status, fault ? fault->term.error : 0);
	}
	skip_to(qp, head);
}

void iw_sq_reset(struct iw_qp *qp)
{
	uint32_t tail = iw_ring_tail(&qp->sq);

	skip_to(qp, tail);
	qp->sq.head = tail;
}
