/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The payload of a long segment need not be copied to the LLP: it may be lent, which means that the LLP reads
 * it where it is. A WQE is complete then when the peer has acknowledged it, and so the application leaves the
 * memory alone for as long as it is read. It would see its completion later, which must not slow it down: a WQE lends
 * only while the application has posted more than one window behind it.
 *
 * A Read Response has no completion: its memory may change while it is lent, as it may while it is copied, and
 * the peer learns one or the other. Only the right to read it must not end before: see iw_lent_recall().
 */
#include "iwarp/private.h"

#define LOOK_BEHIND 8u /* WQEs */

/* How many bytes are in flight until the LLP gives so much back; 0: it is to be copied. */
static uint32_t lend_window(const struct iw_qp *qp, uint32_t len)
{
	return len < qp->rnic->config.lend_min ? 0 : qp->priv->session->assoc->msg->lend_window;
}

static bool lend(struct iw_qp *qp, const uint8_t *from, uint32_t len)
{
	struct iw_qp_private *p = qp->priv;
	struct iw_assoc *assoc = p->session->assoc;

	if (qp->rnic->ops.probe(from, len))
		return false;
	assoc->msg->lent = from;
	assoc->msg->lent_len = len;
	p->lent_seq = assoc->pulled;
	if (list_empty(&assoc->lenders)) /* nobody has asked since there were any */
		assoc->acked = assoc->ops.acked(assoc->llp);
	if (!list_linked(&p->lender)) {
		list_add_tail(&assoc->lenders, &p->lender);
		qp->rnic->lenders++;
	}
	return true;
}

bool iw_lend(struct iw_qp *qp, const uint8_t *from, uint32_t len)
{
	return lend_window(qp, len) && lend(qp, from, len);
}

/* Bytes that are posted behind the current WQE: of the next few, and as much of each of the others as of these. */
static uint64_t posted_behind(const struct iw_qp *qp)
{
	const struct iw_qp_private *p = qp->priv;
	uint32_t n = p->sq_tail - p->sq_next - 1;
	uint32_t seen = n < LOOK_BEHIND ? n : LOOK_BEHIND;
	uint64_t bytes = 0;

	for (uint32_t i = 1; i <= seen; i++) {
		const struct iw_send_wqe *wqe = iw_sq_at(qp, p->sq_next + i);

		if (wqe->flags & IW_SEND_FENCE)
			return bytes;
		if (wqe->opcode != IW_WR_RDMA_READ)
			bytes += wqe->length;
	}
	return seen ? bytes * n / seen : 0;
}

bool iw_lend_wqe(struct iw_qp *qp, const uint8_t *from, uint32_t len)
{
	struct iw_qp_private *p = qp->priv;
	uint32_t window = lend_window(qp, len);

	if (!window || iw_qp_state(qp) != IW_QPS_RTS)
		return false;
	p->sq_tail = iw_ring_tail(&qp->sq);
	if (posted_behind(qp) < window || !lend(qp, from, len))
		return false;
	p->lends = true;
	return true;
}

bool iw_wqe_returned(const struct iw_qp *qp, const struct iw_send_wqe *wqe)
{
	return wqe->progress == IW_WQE_LENT &&
	       (int32_t)(qp->priv->session->assoc->acked - wqe->lent_seq) > 0;
}

/* The QP lends nothing any more. What had lent is as far as what was copied. */
static void unlist(struct iw_qp *qp)
{
	list_del(&qp->priv->lender);
	qp->rnic->lenders--;
	for (uint32_t i = iw_ring_head(&qp->sq); i != qp->priv->sq_next; i++)
		if (iw_sq_at(qp, i)->progress == IW_WQE_LENT)
			iw_sq_at(qp, i)->progress = IW_WQE_DONE;
}

void iw_assoc_acked(struct iw_assoc *assoc)
{
	uint32_t acked;

	if (list_empty(&assoc->lenders))
		return;
	acked = assoc->ops.acked(assoc->llp);
	if (acked == assoc->acked)
		return;
	assoc->acked = acked;
	/* No other QP's session ends with this one's. */
	list_for_each_safe(node, &assoc->lenders) {
		struct iw_qp_private *p = list_entry(node, struct iw_qp_private, lender);
		struct iw_qp *qp = &list_entry(p, struct iw_qp_full, priv)->qp;

		if ((int32_t)(acked - p->lent_seq) > 0)
			unlist(qp);
		iw_sq_complete(qp);
	}
}

void iw_lent_return(struct iw_qp *qp, const struct iw_failure *f)
{
	struct iw_qp_private *p = qp->priv;
	struct iw_assoc *assoc = p->session->assoc;
	uint32_t head = iw_ring_head(&qp->sq);

	if (!list_linked(&p->lender))
		return;
	assoc->ops.recall(assoc->llp, p->session->sid);
	unlist(qp);
	/* Also where it was copied, and only waits behind one that lent. It may be over since f was filled. */
	if (f && f->fault == IW_FAULT_SQ && f->index - head < p->sq_next - head)
		iw_sq_at(qp, f->index)->progress = IW_WQE_STARTED;
	if (iw_qp_state(qp) != IW_QPS_RESET)
		iw_sq_complete(qp);
}

void iw_lent_recall(struct iw_rnic *rnic)
{
	if (!rnic->lenders)
		return;
	list_for_each(node, &rnic->assocs) {
		struct iw_assoc *assoc = list_entry(node, struct iw_assoc, all);

		if (!list_empty(&assoc->lenders))
			assoc->ops.recall(assoc->llp, -1);
	}
}

void iw_spoil(uint8_t *message)
{
	ddp_put_invalid(message + SESSION_SSN_LEN);
}
