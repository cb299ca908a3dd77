/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reception of Sends and Immediate Data on a reliable connection. If a message's receive is posted,
 * the message's segments are placed into the receive on arrival. Otherwise the segments are stored,
 * and moved into the receive once it is posted.
 */
#include "iwarp/rc_rx.h"

#include <errno.h>
#include <string.h>

#include "iwarp/assoc.h"
#include "iwarp/cq.h"
#include "iwarp/rc.h"
#include "iwarp/receipt.h"
#include "iwarp/rc_srq.h"
#include "iwarp/uc.h"
#include "iwarp/xrc.h"

/* ---- one receive ---- */

/* Fails a message that is too long for the receive with this index. */
static int fail_length(struct iw_failure *f, uint16_t error, uint32_t index,
		       const struct iw_rx_rec *rec)
{
	iw_fail_rec(f, error, rec);
	f->fault = IW_FAULT_RQ;
	f->index = index;
	f->status = IW_WC_LOC_LEN_ERR;
	return -EPROTO;
}

int iw_rc_rx_fill(struct iw_rc *rc, struct iw_recv r, uint32_t index, const struct iw_rx_rec *rec,
		  const uint8_t *payload, struct iw_failure *f)
{
	struct iw_qp *qp = &rc->base.qp;
	uint32_t length = iw_recv_wqe(qp, r)->length;
	uint32_t status;

	/* Immediate Data is not placed: the completion contains it. */
	if (!rec->len || rdmap_is_immediate(rdmap_opcode(rec->rdmap)))
		return 0;
	if ((uint64_t)rec->mo + rec->len > length)
		return fail_length(f,
				   rec->mo && rec->mo >= length ? TERM_DDP_MO : TERM_DDP_TOO_LONG,
				   index, rec);
	status = iw_recv_place(qp, r, rec->mo, payload, rec->len);
	return status ? iw_fail_local(f, IW_FAULT_RQ, index, status) : 0;
}

int iw_rc_rx_judge(struct iw_rc *rc, struct iw_recv r, uint32_t index, const struct iw_rx_rec *rec,
		   struct iw_failure *f)
{
	unsigned int opcode = rdmap_opcode(rec->rdmap);

	/*
	 * Check the length here, because iw_rc_rx_fill() does not check an empty segment, whose MO
	 * may be too high.
	 */
	if (!rdmap_is_immediate(opcode) &&
	    (uint64_t)rec->mo + rec->len > iw_recv_wqe(&rc->base.qp, r)->length)
		return fail_length(f, TERM_DDP_TOO_LONG, index, rec);
	if (rdmap_invalidates(opcode) && iw_mr_invalidate_remote(&rc->base.qp, rec->stag))
		return iw_fail_rec(f, TERM_RDMAP_INVALIDATE, rec);
	return 0;
}

int iw_rc_rx_complete(struct iw_rc *rc, struct iw_recv r, const struct iw_rx_rec *rec,
		      struct iw_failure *f)
{
	unsigned int opcode = rdmap_opcode(rec->rdmap);
	struct iw_cqe cqe = {
		.status = IW_WC_SUCCESS,
		.opcode = IW_WC_RECV,
		.byte_len = rec->mo + rec->len,
	};

	if (rdmap_is_immediate(opcode)) {
		iw_imm_complete(rec, &cqe);
	} else if (rdmap_invalidates(opcode)) {
		cqe.flags = IW_WC_WITH_INV;
		cqe.inv_stag = rec->stag;
	} else if (rdmap_is_send_imm(opcode)) {
		cqe.flags = IW_WC_WITH_IMM;
		put_be32((uint8_t *)&cqe.imm_data, rec->stag);
	}
	if (iw_recv_complete(&rc->base.qp, r, &cqe, rdmap_solicits(opcode)))
		return 0;
	return iw_fail_local(f, IW_FAULT_NONE, 0, 0);
}

/* Completes the delivered message at the head of the QP's own queue. */
static int complete_own(struct iw_rc *rc, const struct iw_rx_rec *rec, struct iw_failure *f)
{
	struct iw_recv r = iw_recv_own(rc->base.qp.rq.head);
	int err = iw_rc_rx_judge(rc, r, r.at, rec, f);

	return err ? err : iw_rc_rx_complete(rc, r, rec, f);
}

/* ---- unexpected Sends ---- */

/* Messages are delivered in order, so it suffices to check the first message without a receive. */
const struct iw_unexpected *iw_rc_rx_late(const struct iw_rc *rc)
{
	const struct iw_unexpected_table *t = &rc->rx.unexpected;
	const struct iw_unexpected *m;

	if (!t->count)
		return NULL;
	m = iw_unexpected_at(t, t->first + rc->rx.taken);
	return m->rec.control ? m : NULL;
}

void iw_rc_rx_start_timer(struct iw_session *s)
{
	if (s->rnr_retry_count < IW_RNR_FOREVER)
		iw_session_set_timer(s, s->shard->now + IW_RNR_GRACE +
						s->rnr_retry_count * IW_RNR_UNIT);
}

void iw_rc_rx_update_timer(struct iw_session *s, bool anew)
{
	if (!iw_rc_rx_late(iw_rc_of(s->qp)))
		iw_session_set_timer(s, UINT64_MAX);
	else if (anew)
		iw_rc_rx_start_timer(s);
}

/* Delivers a segment of a message without a receive. */
static void deliver_unexpected(struct iw_session *s, struct iw_unexpected *m,
			       const struct iw_rx_rec *rec)
{
	const struct iw_rc *rc = iw_rc_of(s->qp);
	bool waited = iw_rc_rx_late(rc);

	m->rec = *rec;
	if (!waited && iw_rc_rx_late(rc))
		iw_rc_rx_start_timer(s);
}

int iw_rc_rx_keep(struct iw_session *s, uint32_t index, const struct iw_rx_rec *rec, uint16_t ssn,
		  const uint8_t *payload, struct iw_failure *f)
{
	struct iw_rc *rc = iw_rc_of(s->qp);

	s->shard->stats.unexpected++;
	switch (iw_unexpected_keep(&rc->rx.unexpected, index, rec, ssn, payload,
				   s->shard->rnic->config.unexpected_bytes_per_qp)) {
	case IW_UNEXPECTED_NO_BUDGET:
		return iw_fail_rec(f, TERM_DDP_NO_BUFFER, rec);
	case IW_UNEXPECTED_NO_MEMORY:
		return iw_fail_local(f, IW_FAULT_NONE, 0, 0);
	default:
		iw_receipt_update(s);
		return 0;
	}
}

void iw_rc_rx_refuse(struct iw_rc *rc, uint32_t index)
{
	if (rc->rx.refused)
		return;
	rc->rx.refused = true;
	rc->rx.refused_index = index;
}

int iw_rc_rx_move(struct iw_rc *rc, struct iw_unexpected *m, struct iw_recv r, uint32_t index,
		  uint16_t *ssn, struct iw_failure *f)
{
	int err = 0;

	for (struct iw_unexpected_segment *seg = m->first; seg; seg = seg->next) {
		rc->rx.unexpected.bytes -= IW_UNEXPECTED_COST + seg->rec.len;
		*ssn = seg->ssn;
		if (!err)
			err = iw_rc_rx_fill(rc, r, index, &seg->rec, seg->data, f);
	}
	iw_unexpected_free(m);
	return err;
}

/* Moves stored segments into the next receive of the QP's own queue. */
static int move_in(struct iw_rc *rc, uint16_t *ssn, struct iw_failure *f)
{
	struct iw_unexpected_table *t = &rc->rx.unexpected;
	uint32_t index = t->first;
	struct iw_unexpected m = { 0 };
	int err;

	if (t->size) {
		m = *iw_unexpected_at(t, index);
		memset(iw_unexpected_at(t, index), 0, sizeof(m));
	}
	t->first++;
	if (!iw_unexpected_exists(&m))
		return 0;
	t->count--;
	t->delivered -= m.delivered;
	err = iw_rc_rx_move(rc, &m, iw_recv_own(index), index, ssn, f);
	if (!err && m.delivered)
		err = complete_own(rc, &m.rec, f);
	if (err)
		iw_rc_rx_refuse(rc, index);
	return err;
}

/* Sets whether the application must ring the doorbell for each receive: iw_rq_is_awaited(). */
static void await(struct iw_qp *qp, bool awaited)
{
	if (atomic_load_explicit(&qp->rq_awaited, memory_order_relaxed) == awaited)
		return;
	atomic_store_explicit(&qp->rq_awaited, awaited, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
}

bool iw_rc_rx_refresh(struct iw_session *s)
{
	struct iw_rc *rc = iw_rc_of(s->qp);
	struct iw_unexpected_table *t = &rc->rx.unexpected;
	uint32_t tail = iw_ring_tail(&s->qp->rq);
	uint32_t head = s->qp->rq.head;

	if (!t->count) {
		t->first = tail;
		await(s->qp, false);
		return true;
	}
	while (t->first != tail) {
		struct iw_failure f;
		uint16_t ssn = 0;

		/* If the wrong segment is early, the session fails only at the segment's turn. */
		if (move_in(rc, &ssn, &f) && iw_session_wrong(s, ssn, &f))
			return false;
	}
	iw_rc_rx_update_timer(s, head != s->qp->rq.head);
	iw_receipt_update(s);
	iw_session_wake(s); /* responses may have waited for an unexpected Send */
	return true;
}

void iw_rc_rx_timeout(struct iw_session *s)
{
	const struct iw_rc *rc = iw_rc_of(s->qp);
	const struct iw_unexpected *late;
	struct iw_failure f;

	if (!iw_rc_rx_late(rc))
		return;
	if (s->qp->srq)
		iw_rc_srq_serve(rc->rx.waits_for);
	else
		iw_rc_rx_refresh(s);
	late = rc->session == s ? iw_rc_rx_late(rc) : NULL;
	if (!late)
		return;
	iw_fail_rec(&f, TERM_DDP_NO_BUFFER, &late->rec);
	iw_session_fail(s, &f);
}

/* ---- segments ---- */

enum receive { RECEIVE_POSTED, RECEIVE_MISSING, RECEIVE_SESSION_ENDED };

/*
 * Checks whether the receive with this index is posted. If not, makes the application ring the
 * doorbell for the next posted receives.
 */
static enum receive find_receive(struct iw_session *s, uint32_t index)
{
	struct iw_qp *qp = s->qp;
	const struct iw_unexpected_table *t = &iw_rc_of(qp)->rx.unexpected;

	do {
		if (!iw_rc_rx_refresh(s))
			return RECEIVE_SESSION_ENDED;
		if (index - t->first >= 0x80000000u)
			return RECEIVE_POSTED;
		await(qp, true);
	} while (iw_ring_tail(&qp->rq) != t->first);
	return RECEIVE_MISSING;
}

/* Places a segment whose receive was missing at the last check. */
static int place_unexpected(struct iw_session *s, uint32_t index, const struct iw_segment *seg,
			    const struct iw_rx_rec *rec, struct iw_failure *f)
{
	struct iw_rc *rc = iw_rc_of(s->qp);

	switch (find_receive(s, index)) {
	case RECEIVE_POSTED:
		return iw_rc_rx_fill(rc, iw_recv_own(index), index, rec, seg->payload, f);
	case RECEIVE_SESSION_ENDED:
		return iw_fail_illegal(f); /* the session has ended; the caller ignores f */
	default:
		if (index - rc->rx.unexpected.first >= IW_UNEXPECTED_MSNS || iw_is_uc(s->qp))
			return iw_fail_rec(f, TERM_DDP_NO_BUFFER, rec);
		return iw_rc_rx_keep(s, index, rec, seg->ssn, seg->payload, f);
	}
}

int iw_rc_rx_place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f)
{
	struct iw_rc *rc = iw_rc_of(s->qp);
	uint32_t index = seg->h.msn + rc->rx.delta;
	uint32_t head = s->qp->rq.head;
	struct iw_srq *srq;
	struct iw_rx_rec rec = {
		.control = seg->h.control,
		.rdmap = seg->h.rdmap,
		.len = (uint16_t)seg->payload_len,
		.stag = seg->h.stag,
		.msn = seg->h.msn,
		.mo = seg->h.mo,
	};

	if (rdmap_is_immediate(rdmap_opcode(seg->h.rdmap)) && iw_imm_check(seg, f))
		return -EPROTO;
	/* The message was delivered, or is further ahead than DDP-SSNs permit (RFC 5041 7.1). */
	if (seg->h.msn - rc->rx.deliver_msn >= 0x8000)
		return iw_fail(f, TERM_DDP_MSN, seg->raw, seg->len);
	if (s->qp->srq) {
		srq = iw_xrc_find(s->qp, seg->h.qn);
		return srq ? iw_rc_srq_place(s, srq, index, &rec, seg, f) :
			     iw_fail(f, TERM_DDP_QN, seg->raw, seg->len);
	}
	if (index - head >= rc->rx.unexpected.first - head)
		return place_unexpected(s, index, seg, &rec, f);
	return iw_rc_rx_fill(rc, iw_recv_own(index), index, &rec, seg->payload, f);
}

/* Delivers a segment that is not its message's last. If no receive exists, the timer starts. */
static void deliver_part(struct iw_session *s, const struct iw_rx_rec *rec)
{
	const struct iw_rc_rx *rx = &iw_rc_of(s->qp)->rx;
	uint32_t index = rec->msn + rx->delta;

	if (rec->msn == rx->deliver_msn && (int32_t)(index - rx->unexpected.first - rx->taken) >= 0)
		deliver_unexpected(s, iw_unexpected_at(&rx->unexpected, index), rec);
}

int iw_rc_rx_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f)
{
	struct iw_rc *rc = iw_rc_of(s->qp);
	struct iw_unexpected_table *t = &rc->rx.unexpected;
	uint32_t index = rec->msn + rc->rx.delta;
	struct iw_unexpected *m;
	struct iw_rx_rec imm;

	if (!ddp_is_last(rec->control)) {
		deliver_part(s, rec);
		return 0;
	}
	if (rec->msn != rc->rx.deliver_msn)
		return iw_fail_rec(f, TERM_DDP_MSN, rec);
	rc->rx.deliver_msn++;
	if (rdmap_is_immediate(rdmap_opcode(rec->rdmap))) {
		imm = iw_imm_resolve(&rc->peer_write, rec);
		rec = &imm;
	}
	rc->peer_write.just_before = false;
	if (s->qp->srq)
		return iw_rc_srq_deliver(s, index, rec, f);
	if (index == s->qp->rq.head && index != t->first)
		return complete_own(rc, rec, f);
	/*
	 * The message has no receive. Receives are used in order, so all messages from the head up
	 * to this one have no receive.
	 */
	m = iw_unexpected_at(t, index);
	m->delivered = true;
	t->delivered++;
	deliver_unexpected(s, m, rec);
	return 0;
}
