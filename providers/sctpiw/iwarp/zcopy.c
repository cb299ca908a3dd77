/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The payload of a long segment need not be copied to the LLP: it may be referenced, which means that the LLP reads
 * it where it is. A WQE is complete then when the peer has acknowledged it, and so the application leaves the
 * memory alone for as long as it is read. It would see its completion later, which must not slow it down: a WQE references
 * only while the application has posted more than one window behind it.
 *
 * A Read Response has no completion: its memory may change while it is referenced, as it may while it is copied, and
 * the peer learns one or the other. Only the right to read it must not end before: see iw_zcopy_copy_out().
 */
#include "iwarp/private.h"

#define LOOK_BEHIND 8u /* WQEs */

/* How many bytes are in flight until the LLP gives so much back; 0: it is to be copied. */
static uint32_t zcopy_window(const struct iw_qp *qp, uint32_t len)
{
	return len < qp->rnic->config.zcopy_min ? 0 : qp->priv->session->assoc->msg->zcopy_window;
}

static bool reference(struct iw_qp *qp, const uint8_t *from, uint32_t len)
{
	struct iw_qp_private *p = qp->priv;
	struct iw_assoc *assoc = p->session->assoc;

	if (qp->rnic->ops.probe(from, len))
		return false;
	assoc->msg->ref = from;
	assoc->msg->ref_len = len;
	p->zcopy_seq = assoc->pulled;
	if (list_empty(&assoc->zcopy_qps)) /* nobody has asked since there were any */
		assoc->acked = assoc->ops.acked(assoc->llp);
	if (!list_linked(&p->zcopy_node)) {
		list_add_tail(&assoc->zcopy_qps, &p->zcopy_node);
		qp->rnic->zcopy_qps++;
	}
	return true;
}

bool iw_zcopy_reference(struct iw_qp *qp, const uint8_t *from, uint32_t len)
{
	return zcopy_window(qp, len) && reference(qp, from, len);
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

bool iw_zcopy_reference_wqe(struct iw_qp *qp, const uint8_t *from, uint32_t len)
{
	struct iw_qp_private *p = qp->priv;
	uint32_t window = zcopy_window(qp, len);

	if (!window || iw_qp_state(qp) != IW_QPS_RTS)
		return false;
	p->sq_tail = iw_ring_tail(&qp->sq);
	if (posted_behind(qp) < window || !reference(qp, from, len))
		return false;
	p->references = true;
	return true;
}

bool iw_zcopy_is_released(const struct iw_qp *qp, const struct iw_send_wqe *wqe)
{
	return wqe->progress == IW_WQE_REFERENCED &&
	       (int32_t)(qp->priv->session->assoc->acked - wqe->zcopy_seq) > 0;
}

/* The QP references nothing any more. What had referenced is as far as what was copied. */
static void unlist(struct iw_qp *qp)
{
	list_del(&qp->priv->zcopy_node);
	qp->rnic->zcopy_qps--;
	for (uint32_t i = iw_ring_head(&qp->sq); i != qp->priv->sq_next; i++)
		if (iw_sq_at(qp, i)->progress == IW_WQE_REFERENCED)
			iw_sq_at(qp, i)->progress = IW_WQE_DONE;
}

void iw_assoc_acked(struct iw_assoc *assoc)
{
	uint32_t acked;

	if (list_empty(&assoc->zcopy_qps))
		return;
	acked = assoc->ops.acked(assoc->llp);
	if (acked == assoc->acked)
		return;
	assoc->acked = acked;
	/* No other QP's session ends with this one's. */
	list_for_each_safe(node, &assoc->zcopy_qps) {
		struct iw_qp_private *p = list_entry(node, struct iw_qp_private, zcopy_node);
		struct iw_qp *qp = &list_entry(p, struct iw_qp_full, priv)->qp;

		if ((int32_t)(acked - p->zcopy_seq) > 0)
			unlist(qp);
		iw_sq_complete(qp);
	}
}

void iw_zcopy_release(struct iw_qp *qp, const struct iw_failure *f)
{
	struct iw_qp_private *p = qp->priv;
	struct iw_assoc *assoc = p->session->assoc;
	uint32_t head = iw_ring_head(&qp->sq);

	if (!list_linked(&p->zcopy_node))
		return;
	assoc->ops.copy_out(assoc->llp, p->session->sid);
	unlist(qp);
	/* Also where it was copied, and only waits behind one that referenced. It may be over since f was filled. */
	if (f && f->fault == IW_FAULT_SQ && f->index - head < p->sq_next - head)
		iw_sq_at(qp, f->index)->progress = IW_WQE_STARTED;
	if (iw_qp_state(qp) != IW_QPS_RESET)
		iw_sq_complete(qp);
}

void iw_zcopy_copy_out(struct iw_rnic *rnic)
{
	if (!rnic->zcopy_qps)
		return;
	list_for_each(node, &rnic->assocs) {
		struct iw_assoc *assoc = list_entry(node, struct iw_assoc, all);

		if (!list_empty(&assoc->zcopy_qps))
			assoc->ops.copy_out(assoc->llp, -1);
	}
}

void iw_poison(uint8_t *message)
{
	ddp_put_invalid(message + SESSION_SSN_LEN);
}
