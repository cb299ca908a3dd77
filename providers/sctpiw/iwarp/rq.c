/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The receive queue. The MSN of a Send names the receive it goes into, whenever it arrives; a Send
 * whose receive is not posted yet is held in copies, within a budget of the QP, and moves in when the
 * receive comes (RFC 5041 7.1: DDP may get over a missing buffer).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "iwarp/private.h"
#include "util/alloc.h"

#define UNEXPECTED_MIN 16

uint32_t iw_scatter(struct iw_qp *qp, const struct iw_sge *sges, uint32_t n, uint64_t offset,
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
		to = iw_mr_local(qp, sge->lkey, sge->addr + offset, part, IW_ACCESS_LOCAL_WRITE);
		if (!to || (data && qp->rnic->ops.copy(to, data, part)))
			return IW_WC_LOC_PROT_ERR;
		if (data)
			data += part;
		len -= part;
		offset = 0;
	}
	return len ? IW_WC_LOC_LEN_ERR : IW_WC_SUCCESS;
}

int iw_rq_place_at(struct iw_qp *qp, const struct iw_recv_wqe *wqe, uint32_t index,
		   const struct iw_rx_rec *rec, const uint8_t *payload, struct iw_failure *f)
{
	uint32_t mo = rec->b;
	uint32_t status;

	/* Immediate Data goes into the completion. */
	if (!rec->len || rdmap_is_immediate(rdmap_opcode(rec->rdmap)))
		return 0;
	if ((uint64_t)mo + rec->len > wqe->length) {
		iw_fail_rec(f, mo && mo >= wqe->length ? TERM_DDP_MO : TERM_DDP_TOO_LONG, rec);
		f->fault = IW_FAULT_RQ;
		f->index = index;
		f->status = IW_WC_LOC_LEN_ERR;
		return -EPROTO;
	}
	status = iw_scatter(qp, wqe->sge,
			    wqe->num_sge < qp->max_recv_sge ? wqe->num_sge : qp->max_recv_sge, mo,
			    payload, rec->len);
	return status ? iw_fail_local(f, IW_FAULT_RQ, index, status) : 0;
}

bool iw_rq_push(struct iw_qp *qp, uint64_t wr_id, uint32_t status, const struct iw_rx_rec *rec,
		uint16_t vendor_err)
{
	struct iw_cqe cqe = {
		.wr_id = wr_id,
		.status = status,
		.opcode = IW_WC_RECV,
		.qp_num = qp->num,
		.vendor_err = vendor_err,
	};
	bool solicited = status != IW_WC_SUCCESS;

	if (rec) {
		cqe.byte_len = rec->b + rec->len;
		if (rdmap_is_immediate(rdmap_opcode(rec->rdmap))) {
			iw_imm_complete(rec, &cqe);
		} else if (rdmap_invalidates(rdmap_opcode(rec->rdmap))) {
			cqe.flags = IW_WC_WITH_INV;
			cqe.inv_stag = rec->stag;
		}
		solicited |= rdmap_solicits(rdmap_opcode(rec->rdmap));
	}
	return iw_cq_push(qp->recv_cq, &cqe, solicited);
}

/* The receive at head is over. Its slot is free before the CQE tells of it. */
static bool push(struct iw_qp *qp, uint32_t head, uint32_t status, const struct iw_rx_rec *rec,
		 uint16_t vendor_err)
{
	uint64_t wr_id = iw_rq_at(qp, head)->wr_id;

	iw_ring_release(&qp->rq, head + 1);
	return iw_rq_push(qp, wr_id, status, rec, vendor_err);
}

int iw_rq_judge(struct iw_qp *qp, const struct iw_recv_wqe *wqe, uint32_t index,
		const struct iw_rx_rec *rec, struct iw_failure *f)
{
	if ((uint64_t)rec->b + rec->len > wqe->length && /* an empty segment at a high MO */
	    !rdmap_is_immediate(rdmap_opcode(rec->rdmap))) {
		iw_fail_rec(f, TERM_DDP_TOO_LONG, rec);
		f->fault = IW_FAULT_RQ;
		f->index = index;
		f->status = IW_WC_LOC_LEN_ERR;
		return -EPROTO;
	}
	if (rdmap_invalidates(rdmap_opcode(rec->rdmap)) && iw_mr_invalidate_remote(qp, rec->stag))
		return iw_fail_rec(f, TERM_RDMAP_INVALIDATE, rec);
	return 0;
}

/* The Send at the head of the RQ is whole and its turn has come. */
static int complete(struct iw_qp *qp, const struct iw_rx_rec *rec, struct iw_failure *f)
{
	uint32_t head = iw_ring_head(&qp->rq);
	int err = iw_rq_judge(qp, iw_rq_at(qp, head), head, rec, f);
	bool lost;

	if (err)
		return err;
	lost = !push(qp, head, IW_WC_SUCCESS, rec, 0);
	return lost ? iw_fail_local(f, IW_FAULT_NONE, 0, 0) : 0;
}

void iw_rq_flush(struct iw_qp *qp, const struct iw_failure *f)
{
	uint32_t head = iw_ring_head(&qp->rq);
	uint32_t tail = iw_ring_tail(&qp->rq);

	for (; head != tail; head++) {
		bool fault = f && f->fault == IW_FAULT_RQ && f->index == head;

		push(qp, head, fault ? f->status : IW_WC_WR_FLUSH_ERR, NULL,
		     fault ? f->term.error : 0);
	}
}

/* ---- held Sends ---- */

static bool is_unexpected(const struct iw_unexpected *h)
{
	return h->first || h->delivered;
}

void iw_unexpected_free(const struct iw_unexpected *h)
{
	struct iw_unexpected_segment *seg, *next;

	for (seg = h->first; seg; seg = next) {
		next = seg->next;
		free(seg);
	}
}

void iw_unexpected_clear(struct iw_qp_private *p)
{
	for (uint32_t i = 0; i < p->unexpected_size; i++)
		iw_unexpected_free(&p->unexpected[i]);
	free(p->unexpected);
	p->unexpected = NULL;
	p->unexpected_size = p->unexpected_count = p->held_delivered = 0;
	p->unexpected_bytes = 0;
}

struct iw_unexpected *iw_unexpected_entry(struct iw_qp_private *p, uint32_t index)
{
	uint32_t n = index - p->rq_tail + 1;
	struct iw_unexpected *unexpected;

	if (n > p->unexpected_size) {
		unexpected = alloc_grown(p->unexpected, &p->unexpected_size, sizeof(*unexpected), p->rq_tail,
				   n < UNEXPECTED_MIN ? UNEXPECTED_MIN : n);
		if (!unexpected)
			return NULL;
		p->unexpected = unexpected;
	}
	return iw_unexpected_at(p, index);
}

void iw_rnr_start(struct iw_session *s)
{
	if (s->rnr_retry_count < IW_RNR_FOREVER)
		iw_session_set_timer(s, s->rnic->now + s->rnr_retry_count * IW_RNR_UNIT);
}

int iw_unexpected_keep(struct iw_session *s, uint32_t index, const struct iw_rx_rec *rec, uint16_t ssn,
	    const uint8_t *payload, struct iw_failure *f)
{
	struct iw_qp_private *p = s->qp->priv;
	size_t cost = IW_UNEXPECTED_COST + rec->len;
	struct iw_unexpected_segment *seg;
	struct iw_unexpected *h;

	s->rnic->stats.unexpected++;
	if (p->unexpected_bytes + cost > s->rnic->config.unexpected_bytes_per_qp)
		return iw_fail_rec(f, TERM_DDP_NO_BUFFER, rec);
	h = iw_unexpected_entry(p, index);
	seg = h ? malloc(sizeof(*seg) + rec->len) : NULL;
	if (!seg)
		return iw_fail_local(f, IW_FAULT_NONE, 0, 0);
	seg->next = NULL;
	seg->rec = *rec;
	seg->ssn = ssn;
	memcpy(seg->data, payload, rec->len);
	if (!is_unexpected(h))
		p->unexpected_count++;
	if (h->last)
		h->last->next = seg;
	else
		h->first = seg;
	h->last = seg;
	p->unexpected_bytes += cost;
	return 0;
}

int iw_unexpected_move(struct iw_qp *qp, const struct iw_unexpected *h, const struct iw_recv_wqe *wqe,
		 uint32_t index, uint16_t *ssn, struct iw_failure *f)
{
	int err = 0;

	for (struct iw_unexpected_segment *seg = h->first; seg; seg = seg->next) {
		qp->priv->unexpected_bytes -= IW_UNEXPECTED_COST + seg->rec.len;
		*ssn = seg->ssn;
		if (!err)
			err = iw_rq_place_at(qp, wqe, index, &seg->rec, seg->data, f);
	}
	iw_unexpected_free(h);
	return err;
}

/* One more receive is there, at rq_tail: what is held for it moves in. */
static int move_in(struct iw_session *s, uint16_t *ssn, struct iw_failure *f)
{
	struct iw_qp *qp = s->qp;
	struct iw_qp_private *p = qp->priv;
	uint32_t index = p->rq_tail;
	struct iw_unexpected h = { 0 };
	int err;

	if (p->unexpected_size) {
		h = *iw_unexpected_at(p, index);
		memset(iw_unexpected_at(p, index), 0, sizeof(h));
	}
	p->rq_tail++;
	if (!is_unexpected(&h))
		return 0;
	p->unexpected_count--;
	p->held_delivered -= h.delivered;
	err = iw_unexpected_move(qp, &h, iw_rq_at(qp, index), index, ssn, f);
	if (!err && h.delivered)
		err = complete(qp, &h.rec, f);
	return err;
}

/* From now on each receive that is posted is told of (iw_rq_is_awaited()), or none. */
static void await(struct iw_qp *qp, bool awaited)
{
	if (atomic_load_explicit(&qp->rq_awaited, memory_order_relaxed) == awaited)
		return;
	atomic_store_explicit(&qp->rq_awaited, awaited, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
}

void iw_rq_refresh(struct iw_session *s)
{
	struct iw_qp *qp = s->qp;
	struct iw_qp_private *p = qp->priv;
	uint32_t tail = iw_ring_tail(&qp->rq);
	uint32_t head = iw_ring_head(&qp->rq);

	if (!p->unexpected_count) {
		p->rq_tail = tail;
		await(qp, false);
		return;
	}
	while (p->rq_tail != tail) {
		struct iw_failure f;
		uint16_t ssn = 0;

		if (!move_in(s, &ssn, &f))
			continue;
		/* A segment that came early is judged when its turn comes. */
		iw_session_wrong(s, ssn, &f);
		if (s->qp != qp)
			return;
	}
	if (!p->held_delivered)
		iw_session_set_timer(s, UINT64_MAX);
	else if (head != iw_ring_head(&qp->rq))
		iw_rnr_start(s); /* some receives came: patience starts anew */
	iw_session_wake(s);	    /* responses that stood behind a held Send */
}

void iw_rq_timeout(struct iw_session *s)
{
	struct iw_qp_private *p = s->qp->priv;
	struct iw_failure f;

	if (!p->held_delivered)
		return;
	if (s->qp->srq)
		iw_srq_serve(s->qp->srq);
	else
		iw_rq_refresh(s);
	if (!s->qp || !p->held_delivered)
		return;
	/* Delivered in order: the first of them is at rq_tail. */
	iw_fail_rec(&f, TERM_DDP_NO_BUFFER, &iw_unexpected_at(p, p->rq_tail)->rec);
	iw_session_fail(s, &f);
}

/* Is the receive of this index not posted yet? Then it is awaited. The session may have ended. */
static bool is_missing(struct iw_session *s, uint32_t index)
{
	struct iw_qp *qp = s->qp;
	struct iw_qp_private *p = qp->priv;

	do {
		iw_rq_refresh(s);
		if (s->qp != qp || index - p->rq_tail >= 0x80000000u)
			return false;
		await(qp, true);
	} while (iw_ring_tail(&qp->rq) != p->rq_tail);
	return true;
}

int iw_rq_place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f)
{
	struct iw_qp *qp = s->qp;
	struct iw_qp_private *p = qp->priv;
	uint32_t index = seg->h.msn + p->rq_delta;
	uint32_t head = iw_ring_head(&qp->rq);
	struct iw_rx_rec rec = {
		.control = seg->h.control,
		.rdmap = seg->h.rdmap,
		.len = (uint16_t)seg->payload_len,
		.stag = seg->h.stag,
		.a = seg->h.msn,
		.b = seg->h.mo,
	};

	if (rdmap_is_immediate(rdmap_opcode(seg->h.rdmap)) && iw_imm_check(seg, f))
		return -EPROTO;
	/* Delivered already, or further ahead than DDP-SSNs reach (RFC 5041 7.1). */
	if (seg->h.msn - p->deliver_msn >= 0x8000)
		return iw_fail(f, TERM_DDP_MSN, seg->raw, seg->len);
	if (index - head >= p->rq_tail - head) {
		bool missing;

		if (qp->srq)
			return iw_srq_place(s, index, &rec, seg->ssn, seg->payload, f);
		missing = is_missing(s, index);
		if (s->qp != qp)
			return iw_fail_illegal(f); /* ended meanwhile; f is not used any more */
		if (missing && index - p->rq_tail >= IW_UNEXPECTED_MSNS)
			return iw_fail_rec(f, TERM_DDP_NO_BUFFER, &rec);
		if (missing)
			return iw_unexpected_keep(s, index, &rec, seg->ssn, seg->payload, f);
	}
	return iw_rq_place_at(qp, iw_rq_at(qp, index), index, &rec, seg->payload, f);
}

int iw_rq_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f)
{
	struct iw_qp *qp = s->qp;
	struct iw_qp_private *p = qp->priv;
	uint32_t index = rec->a + p->rq_delta;
	struct iw_rx_rec imm;
	struct iw_unexpected *h;

	if (!ddp_is_last(rec->control))
		return 0;
	if (rec->a != p->deliver_msn)
		return iw_fail_rec(f, TERM_DDP_MSN, rec);
	p->deliver_msn++;
	if (rdmap_is_immediate(rdmap_opcode(rec->rdmap))) {
		imm = iw_imm_resolve(p, rec);
		rec = &imm;
	}
	p->behind_write = false;
	if (index == iw_ring_head(&qp->rq) && index != p->rq_tail)
		return complete(qp, rec, f);
	if (qp->srq)
		return iw_srq_deliver(s, index, rec, f);
	/* Held, as all before it from the head on: receives are given out in order. */
	h = iw_unexpected_at(p, index);
	h->delivered = true;
	h->rec = *rec;
	if (!p->held_delivered++)
		iw_rnr_start(s);
	return 0;
}
