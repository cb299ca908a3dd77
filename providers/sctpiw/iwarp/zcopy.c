/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The payload of a long segment need not be copied for the LLP: the message may reference it, and
 * the LLP reads it where it is. Such a WQE is complete when the peer has acknowledged it, so that
 * the application leaves the memory alone for as long as it is read. The application would see its
 * completion later, which must not slow it down; so a WQE references only if the application has
 * posted more than one window behind it.
 *
 * A Read Response has no completion. Its memory may change while it is referenced, as it may while
 * it is copied, and the peer learns one or the other. Only the right to read it must not end
 * before: see iw_zcopy_copy_out().
 */
#include "iwarp/zcopy.h"

#include "iwarp/assoc.h"
#include "iwarp/rc.h"

#define LOOK_BEHIND 8u /* WQEs behind the current one whose lengths are looked at */

/* iw_msg.zcopy_window of the message that is being pulled; 0: len bytes are to be copied. */
static uint32_t window_of(const struct iw_rc *rc, uint32_t len)
{
	return len < rc->base.qp.rnic->config.zcopy_min ? 0 : rc->session->assoc->msg->zcopy_window;
}

static bool reference(struct iw_rc *rc, const uint8_t *from, uint32_t len)
{
	struct iw_rnic *rnic = rc->base.qp.rnic;
	struct iw_assoc *assoc = rc->session->assoc;

	if (rnic->ops.probe(from, len))
		return false;
	assoc->msg->ref = from;
	assoc->msg->ref_len = len;
	rc->zcopy.seq = assoc->pulled;
	if (list_empty(&assoc->zcopy_qps)) /* iw_assoc_acked() does not keep it up to date then */
		assoc->acked = assoc->ops.acked(assoc->llp);
	if (!list_linked(&rc->zcopy.node)) {
		list_add_tail(&assoc->zcopy_qps, &rc->zcopy.node);
		rnic->shard.zcopy_qps++;
	}
	return true;
}

bool iw_zcopy_reference(struct iw_rc *rc, const uint8_t *from, uint32_t len)
{
	return window_of(rc, len) && reference(rc, from, len);
}

/* Bytes that are posted behind the current WQE, estimated from the first few WQEs. */
static uint64_t posted_behind(const struct iw_rc *rc)
{
	const struct iw_sq *sq = &rc->base.send;
	uint32_t n = sq->tail - sq->next - 1;
	uint32_t seen = n < LOOK_BEHIND ? n : LOOK_BEHIND;
	uint64_t bytes = 0;

	for (uint32_t i = 1; i <= seen; i++) {
		const struct iw_send_wqe *wqe = iw_sq_at(&rc->base.qp, sq->next + i);

		if (wqe->flags & IW_SEND_FENCE)
			return bytes;
		if (wqe->opcode != IW_WR_RDMA_READ)
			bytes += wqe->length;
	}
	return seen ? bytes * n / seen : 0;
}

bool iw_zcopy_reference_wqe(struct iw_rc *rc, const uint8_t *from, uint32_t len)
{
	struct iw_qp *qp = &rc->base.qp;
	uint32_t window = window_of(rc, len);

	if (!window || iw_qp_state(qp) != IW_QPS_RTS)
		return false;
	rc->base.send.tail = iw_ring_tail(&qp->sq);
	if (posted_behind(rc) < window || !reference(rc, from, len))
		return false;
	rc->zcopy.current = true;
	return true;
}

/* WQEs whose last message that references is before seq have their memory back. */
static void release_before(struct iw_rc *rc, uint32_t seq)
{
	struct iw_qp *qp = &rc->base.qp;

	for (uint32_t i = iw_ring_head(&qp->sq); i != rc->base.send.next; i++) {
		struct iw_send_wqe *wqe = iw_sq_at(qp, i);

		if (wqe->progress != IW_WQE_REFERENCED)
			continue;
		if ((int32_t)(seq - wqe->zcopy_seq) <= 0)
			return;
		wqe->progress = IW_WQE_DONE;
	}
}

/* No message of the QP references anything any more. */
static void release_all(struct iw_rc *rc)
{
	list_del(&rc->zcopy.node);
	rc->base.qp.rnic->shard.zcopy_qps--;
	release_before(rc, rc->zcopy.seq + 1);
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
	/* One session may end here, but not the one of the next QP. */
	list_for_each_safe(node, &assoc->zcopy_qps) {
		struct iw_rc *rc =
			list_entry(list_entry(node, struct iw_zcopy, node), struct iw_rc, zcopy);

		if ((int32_t)(acked - rc->zcopy.seq) > 0)
			release_all(rc);
		else
			release_before(rc, acked);
		iw_rc_complete_sends(rc);
	}
}

void iw_zcopy_release(struct iw_rc *rc, const struct iw_failure *f)
{
	struct iw_assoc *assoc = rc->session->assoc;
	struct iw_qp *qp = &rc->base.qp;
	uint32_t head = iw_ring_head(&qp->sq);

	if (!list_linked(&rc->zcopy.node))
		return;
	assoc->ops.copy_out(assoc->llp, rc->session->sid);
	release_all(rc);
	/*
	 * The WQE that f blames must not complete here, also if it was copied and only waits behind
	 * one that referenced. It may have completed since f was filled.
	 */
	if (f && f->fault == IW_FAULT_SQ && f->index - head < rc->base.send.next - head)
		iw_sq_at(qp, f->index)->progress = IW_WQE_STARTED;
	if (iw_qp_state(qp) != IW_QPS_RESET)
		iw_rc_complete_sends(rc);
}

void iw_zcopy_copy_out(struct iw_rnic *rnic)
{
	if (!rnic->shard.zcopy_qps)
		return;
	list_for_each(node, &rnic->shard.assocs) {
		struct iw_assoc *assoc = list_entry(node, struct iw_assoc, all);

		if (!list_empty(&assoc->zcopy_qps))
			assoc->ops.copy_out(assoc->llp, -1);
	}
}

void iw_poison(uint8_t *message)
{
	ddp_put_invalid(message + SESSION_SSN_LEN);
}
