/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The send queue: which WQE next, cut into segments, completed in posting order. */
#include <errno.h>
#include <string.h>

#include "iwarp/private.h"

static const uint32_t wc_opcode[] = {
	[IW_WR_RDMA_WRITE] = IW_WC_RDMA_WRITE,
	[IW_WR_RDMA_WRITE_WITH_IMM] = IW_WC_RDMA_WRITE,
	[IW_WR_SEND] = IW_WC_SEND,
	[IW_WR_SEND_WITH_IMM] = IW_WC_SEND,
	[IW_WR_RDMA_READ] = IW_WC_RDMA_READ,
	[IW_WR_ATOMIC_CMP_AND_SWP] = IW_WC_COMP_SWAP,
	[IW_WR_ATOMIC_FETCH_AND_ADD] = IW_WC_FETCH_ADD,
	[IW_WR_LOCAL_INV] = IW_WC_LOCAL_INV,
	[IW_WR_SEND_WITH_INV] = IW_WC_SEND,
	[IW_WR_BIND_MW] = IW_WC_BIND_MW,
};

/* The WQE at head is over. Its slot is free before the CQE tells the application to post again. */
static bool push(struct iw_qp *qp, uint32_t head, uint32_t status, uint16_t vendor_err)
{
	const struct iw_send_wqe *wqe = iw_sq_at(qp, head);
	struct iw_cqe cqe = {
		.wr_id = wqe->wr_id,
		.status = status,
		.opcode = wqe->opcode <= IW_WR_SEND_WITH_INV ? wc_opcode[wqe->opcode] : IW_WC_SEND,
		.byte_len = status ? 0 : wqe->length,
		.qp_num = qp->num,
		.vendor_err = vendor_err,
	};

	iw_ring_release(&qp->sq, head + 1);
	if (!iw_cq_push(qp->send_cq, &cqe, status != IW_WC_SUCCESS))
		return false;
	if (cqe.opcode == IW_WC_RDMA_WRITE && !status)
		iw_answer_expect(qp, cqe.byte_len);
	return true;
}

void iw_sq_complete(struct iw_qp *qp)
{
	struct iw_qp_private *p = qp->priv;
	uint32_t head = iw_ring_head(&qp->sq);
	uint32_t first = head;
	bool lost = false;

	while (head != p->sq_next && !lost) {
		struct iw_send_wqe *wqe = iw_sq_at(qp, head);

		if (wqe->progress != IW_WQE_DONE && !iw_zcopy_is_released(qp, wqe))
			break;
		if (qp->sq_sig_all || (wqe->flags & IW_SEND_SIGNALED))
			lost = !push(qp, head, IW_WC_SUCCESS, 0);
		head++;
	}
	if (head != first)
		iw_ring_release(&qp->sq, head);
	if (lost)
		iw_qp_overflow(qp);
	else if (p->notify_drained)
		iw_qp_notify_drained(qp);
}

void iw_sq_flush(struct iw_qp *qp, const struct iw_failure *f)
{
	uint32_t head = iw_ring_head(&qp->sq);
	uint32_t tail = iw_ring_tail(&qp->sq);

	for (; head != tail; head++) {
		bool fault = f && f->fault == IW_FAULT_SQ && f->index == head;

		push(qp, head, fault ? f->status : IW_WC_WR_FLUSH_ERR, fault ? f->term.error : 0);
	}
	qp->priv->sq_next = head;
}

/* Which of them are answered, and wait for a slot (ORD) that reads and atomics share. */
static bool is_request(const struct iw_send_wqe *wqe)
{
	return wqe->opcode == IW_WR_RDMA_READ || wqe->opcode == IW_WR_ATOMIC_CMP_AND_SWP ||
	       wqe->opcode == IW_WR_ATOMIC_FETCH_AND_ADD;
}

/*
 * Once there was no slot for a long read, what is to come waits for a quarter of them: one packet asks for
 * several then, and what answers them is one stream of full packets.
 */
static bool is_full(struct iw_qp_private *p, uint32_t outstanding)
{
	if (outstanding >= p->ord)
		p->reads_gather = iw_read_at(p, p->reads_tail - 1)->length >= IW_LONG_READ;
	else if (outstanding <= p->ord - p->ord / 4)
		p->reads_gather = false;
	return outstanding >= p->ord || p->reads_gather;
}

/* Requests of the application wait for a slot; the others for requests before them, where fenced. */
static bool is_blocked(const struct iw_qp *qp, const struct iw_send_wqe *wqe)
{
	struct iw_qp_private *p = qp->priv;
	uint32_t outstanding = iw_reads_outstanding(p);

	if (!outstanding)
		return false;
	/* Invalidating the sink of a read that is under way would break it. */
	if ((wqe->flags & IW_SEND_FENCE) || wqe->opcode == IW_WR_LOCAL_INV)
		return true;
	if (!is_request(wqe))
		return false;
	/* Without memory for one more it goes on with the room that there is. */
	return is_full(p, outstanding) ||
	       (outstanding == p->reads_size && iw_reads_reserve(p, outstanding + 1));
}

static struct iw_send_wqe *next_wqe(struct iw_qp *qp)
{
	struct iw_qp_private *p = qp->priv;
	struct iw_send_wqe *wqe;

	if (p->sq_next == p->sq_tail) {
		p->sq_tail = iw_ring_tail(&qp->sq);
		if (p->sq_next == p->sq_tail)
			return NULL;
	}
	if (iw_qp_state(qp) > IW_QPS_RTS)
		return NULL; /* SQD: nothing new is begun */
	wqe = iw_sq_at(qp, p->sq_next);
	return is_blocked(qp, wqe) ? NULL : wqe;
}

bool iw_sq_has_work(struct iw_qp *qp)
{
	return qp->priv->current != IW_TX_NONE || next_wqe(qp) || iw_response_ready(qp);
}

static void fail_wqe(struct iw_session *s, uint32_t status)
{
	struct iw_failure f;

	iw_fail_local(&f, IW_FAULT_SQ, s->qp->priv->sq_next, status);
	iw_session_fail(s, &f);
}

/* The WQE is with DDP altogether. */
static void finish(struct iw_qp *qp, struct iw_send_wqe *wqe, enum iw_wqe_progress progress)
{
	struct iw_qp_private *p = qp->priv;

	if (p->references && list_linked(&p->zcopy_node)) {
		progress = IW_WQE_REFERENCED;
		wqe->zcopy_seq = p->zcopy_seq;
	}
	wqe->progress = (uint8_t)progress;
	p->sq_next++;
	p->current = IW_TX_NONE;
	if (progress == IW_WQE_DONE)
		iw_sq_complete(qp);
}

/* Copies the next n bytes of the message, or references the last of them. Returns 0 or a completion status. */
static uint32_t gather(struct iw_qp *qp, const struct iw_send_wqe *wqe, uint8_t *to, uint32_t n)
{
	struct iw_qp_private *p = qp->priv;

	if (wqe->flags & IW_SEND_INLINE) {
		if (p->offset + (uint64_t)n > qp->max_inline)
			return IW_WC_LOC_LEN_ERR;
		memcpy(to, (const uint8_t *)wqe->sge + p->offset, n);
		return IW_WC_SUCCESS;
	}
	while (n) {
		const struct iw_sge *sge = &wqe->sge[p->sge];
		const uint8_t *from;
		uint32_t part;

		if (p->sge >= wqe->num_sge || p->sge >= qp->max_send_sge)
			return IW_WC_LOC_LEN_ERR;
		part = sge->length - p->sge_offset;
		if (part > n)
			part = n;
		if (part) {
			from = iw_mr_local(qp, sge->lkey, sge->addr + p->sge_offset, part, 0);
			if (!from || (!(part == n && iw_zcopy_reference_wqe(qp, from, part)) &&
				      qp->rnic->ops.copy(to, from, part)))
				return IW_WC_LOC_PROT_ERR;
			to += part;
			n -= part;
			p->sge_offset += part;
		}
		if (p->sge_offset == sge->length) {
			p->sge++;
			p->sge_offset = 0;
		}
	}
	return IW_WC_SUCCESS;
}

/* How much payload of rest goes out now behind header bytes; UINT32_MAX: wait for more room. */
static uint32_t cut(uint32_t rest, size_t header, size_t limit)
{
	if (header + rest <= limit)
		return rest;
	if (limit < IW_MIN_CUT)
		return UINT32_MAX;
	return (uint32_t)((limit - header) & ~(size_t)3); /* chunks are padded to 4 bytes */
}

static size_t pull_tagged(struct iw_session *s, struct iw_send_wqe *wqe, uint8_t *buf,
			  size_t limit)
{
	const size_t header = SESSION_SSN_LEN + DDP_TAGGED_LEN;
	struct iw_qp *qp = s->qp;
	struct iw_qp_private *p = qp->priv;
	uint32_t rest = wqe->length - p->offset;
	uint32_t n = cut(rest, header, limit);
	uint32_t status;

	if (n == UINT32_MAX)
		return 0;
	status = gather(qp, wqe, buf + header, n);
	if (status) {
		fail_wqe(s, status);
		return 0;
	}
	ddp_put_tagged(buf + SESSION_SSN_LEN, n == rest, rdmap_octet(RDMAP_WRITE), wqe->rkey,
		       wqe->remote_to + p->offset);
	p->offset += n;
	if (n == rest) {
		p->imm_due = wqe->opcode == IW_WR_RDMA_WRITE_WITH_IMM;
		if (!p->imm_due)
			finish(qp, wqe, IW_WQE_DONE);
	}
	return header + n;
}

/* Behind its Write nothing comes in between: the WQE stays the current one. */
static size_t pull_immediate(struct iw_session *s, struct iw_send_wqe *wqe, uint8_t *buf,
			     size_t limit)
{
	if (limit < SESSION_SSN_LEN + DDP_UNTAGGED_LEN + RDMAP_IMMEDIATE_LEN)
		return 0;
	iw_imm_put(wqe, buf + SESSION_SSN_LEN);
	finish(s->qp, wqe, IW_WQE_DONE);
	return SESSION_SSN_LEN + DDP_UNTAGGED_LEN + RDMAP_IMMEDIATE_LEN;
}

static enum rdmap_opcode send_opcode(const struct iw_send_wqe *wqe)
{
	bool se = wqe->flags & IW_SEND_SOLICITED;

	if (wqe->opcode == IW_WR_SEND_WITH_INV)
		return se ? RDMAP_SEND_SE_INV : RDMAP_SEND_INV;
	return se ? RDMAP_SEND_SE : RDMAP_SEND;
}

static size_t pull_untagged(struct iw_session *s, struct iw_send_wqe *wqe, uint8_t *buf,
			    size_t limit)
{
	const size_t header = SESSION_SSN_LEN + DDP_UNTAGGED_LEN;
	struct iw_qp *qp = s->qp;
	struct iw_qp_private *p = qp->priv;
	uint32_t rest = wqe->length - p->offset;
	uint32_t n = cut(rest, header, limit);
	uint32_t inv = wqe->opcode == IW_WR_SEND_WITH_INV ? wqe->inv_stag : 0;
	uint32_t status;

	if (n == UINT32_MAX)
		return 0;
	status = gather(qp, wqe, buf + header, n);
	if (status) {
		fail_wqe(s, status);
		return 0;
	}
	ddp_put_untagged(buf + SESSION_SSN_LEN, n == rest, rdmap_octet(send_opcode(wqe)), inv,
			 RDMAP_QN_SEND, wqe->msn, p->offset);
	p->offset += n;
	if (n == rest)
		finish(qp, wqe, IW_WQE_DONE);
	return header + n;
}

static size_t put_read_request(uint8_t *buf, uint32_t msn, const struct rdmap_read_request *r)
{
	ddp_put_untagged(buf + SESSION_SSN_LEN, true, rdmap_octet(RDMAP_READ_REQUEST), 0,
			 RDMAP_QN_READ_REQUEST, msn, 0);
	rdmap_put_read_request(buf + SESSION_SSN_LEN + DDP_UNTAGGED_LEN, r);
	return SESSION_SSN_LEN + DDP_UNTAGGED_LEN + RDMAP_READ_REQ_LEN;
}

/* May a read place its data there? Each SGE, before the peer is asked. */
static uint32_t check_sink(const struct iw_qp *qp, const struct iw_send_wqe *wqe)
{
	uint64_t total = 0;

	if (!qp->priv->ord || wqe->num_sge > qp->max_send_sge)
		return IW_WC_LOC_QP_OP_ERR; /* without a slot it would wait for ever */
	for (uint32_t i = 0; i < wqe->num_sge; i++) {
		const struct iw_sge *sge = &wqe->sge[i];

		if (sge->length && !iw_mr_local(qp, sge->lkey, sge->addr, sge->length,
						IW_ACCESS_LOCAL_WRITE))
			return IW_WC_LOC_PROT_ERR;
		total += sge->length;
	}
	return total == wqe->length ? IW_WC_SUCCESS : IW_WC_LOC_QP_OP_ERR;
}

static size_t pull_read(struct iw_session *s, struct iw_send_wqe *wqe, uint8_t *buf, size_t limit)
{
	struct iw_qp *qp = s->qp;
	struct iw_qp_private *p = qp->priv;
	bool scattered = wqe->num_sge > 1;
	uint32_t status;
	struct rdmap_read_request r = {
		.size = wqe->length,
		.src_stag = wqe->rkey,
		.src_to = wqe->remote_to,
	};

	if (limit < SESSION_SSN_LEN + DDP_UNTAGGED_LEN + RDMAP_READ_REQ_LEN)
		return 0;
	status = check_sink(qp, wqe);
	if (status) {
		fail_wqe(s, status);
		return 0;
	}
	if (scattered) {
		r.sink_stag = iw_mr_read_stag(qp->rnic, p->read_stag++);
	} else if (wqe->num_sge) {
		r.sink_stag = wqe->sge[0].lkey;
		r.sink_to = wqe->sge[0].addr;
	}
	*iw_read_at(p, p->reads_tail++) = (struct iw_read){
		.index = p->sq_next,
		.msn = p->read_msn,
		.stag = r.sink_stag,
		.length = r.size,
		.to = r.sink_to,
		.scattered = scattered,
	};
	finish(qp, wqe, IW_WQE_READING);
	return put_read_request(buf, p->read_msn++, &r);
}

static size_t pull_atomic(struct iw_session *s, struct iw_send_wqe *wqe, uint8_t *buf, size_t limit)
{
	struct iw_qp *qp = s->qp;
	struct iw_qp_private *p = qp->priv;

	if (limit < SESSION_SSN_LEN + DDP_UNTAGGED_LEN + RDMAP_ATOMIC_REQ_LEN)
		return 0;
	if (!p->ord) {
		fail_wqe(s, IW_WC_LOC_QP_OP_ERR);
		return 0;
	}
	/* Looked at before: what has been done over there cannot be undone. */
	if (!iw_atomic_scatter(qp, wqe, NULL)) {
		fail_wqe(s, IW_WC_LOC_PROT_ERR);
		return 0;
	}
	iw_atomic_put_request(qp, wqe, buf + SESSION_SSN_LEN);
	*iw_read_at(p, p->reads_tail++) = (struct iw_read){
		.index = p->sq_next,
		.msn = p->read_msn++,
		.atomic = true,
		.response_msn = p->atomic_msn++,
	};
	finish(qp, wqe, IW_WQE_READING);
	return SESSION_SSN_LEN + DDP_UNTAGGED_LEN + RDMAP_ATOMIC_REQ_LEN;
}

/* LOCAL_INV and BIND_MW make no message. false: the session ended. */
static bool do_locally(struct iw_session *s, struct iw_send_wqe *wqe)
{
	uint32_t status = IW_WC_SUCCESS;

	if (wqe->opcode == IW_WR_BIND_MW) {
		if (iw_mw_bind(s->qp, wqe))
			status = IW_WC_MW_BIND_ERR;
	} else if (iw_mr_invalidate_local(s->qp, wqe->inv_stag)) {
		status = IW_WC_LOC_QP_OP_ERR;
	}
	if (status) {
		fail_wqe(s, status);
		return false;
	}
	finish(s->qp, wqe, IW_WQE_DONE);
	return s->qp != NULL;
}

/* Takes up the next WQE that makes a message. */
static bool begin_wqe(struct iw_session *s)
{
	struct iw_qp *qp = s->qp;
	struct iw_qp_private *p = qp->priv;
	struct iw_send_wqe *wqe;

	while ((wqe = next_wqe(qp))) {
		wqe->progress = IW_WQE_STARTED;
		p->offset = p->sge = p->sge_offset = 0;
		p->imm_due = p->references = false;
		switch (wqe->opcode) {
		case IW_WR_LOCAL_INV:
		case IW_WR_BIND_MW:
			if (!do_locally(s, wqe))
				return false;
			continue;
		case IW_WR_SEND_WITH_IMM:
			if (wqe->length) { /* its message has no payload */
				fail_wqe(s, IW_WC_LOC_QP_OP_ERR);
				return false;
			}
			/* fall through */
		case IW_WR_SEND:
		case IW_WR_SEND_WITH_INV:
		case IW_WR_RDMA_WRITE_WITH_IMM:
			wqe->msn = p->send_msn++;
			break;
		case IW_WR_RDMA_READ:
		case IW_WR_RDMA_WRITE:
		case IW_WR_ATOMIC_CMP_AND_SWP:
		case IW_WR_ATOMIC_FETCH_AND_ADD:
			break;
		default:
			fail_wqe(s, IW_WC_LOC_QP_OP_ERR);
			return false;
		}
		p->current = IW_TX_WQE;
		return true;
	}
	return false;
}

/* Messages are not interleaved (RFC 5041 5.3); responses and WQEs take turns. */
static bool begin(struct iw_session *s)
{
	struct iw_qp *qp = s->qp;
	struct iw_qp_private *p = qp->priv;

	p->response_turn = !p->response_turn;
	if (p->response_turn && iw_response_ready(qp)) {
		p->current = IW_TX_RESPONSE;
		p->offset = 0;
		return true;
	}
	if (begin_wqe(s))
		return true;
	if (s->state != IW_S_ESTABLISHED || !iw_response_ready(qp))
		return false;
	p->current = IW_TX_RESPONSE;
	p->offset = 0;
	return true;
}

size_t iw_qp_pull(struct iw_session *s, uint8_t *buf, size_t limit)
{
	struct iw_qp *qp = s->qp;
	struct iw_send_wqe *wqe;

	if (qp->priv->current == IW_TX_NONE && !begin(s))
		return 0;
	if (qp->priv->current == IW_TX_RESPONSE)
		return iw_response_pull(s, buf, limit);
	wqe = iw_sq_at(qp, qp->priv->sq_next);
	switch (wqe->opcode) {
	case IW_WR_RDMA_WRITE:
		return pull_tagged(s, wqe, buf, limit);
	case IW_WR_RDMA_READ:
		return pull_read(s, wqe, buf, limit);
	case IW_WR_RDMA_WRITE_WITH_IMM:
		return qp->priv->imm_due ? pull_immediate(s, wqe, buf, limit) :
					   pull_tagged(s, wqe, buf, limit);
	case IW_WR_SEND_WITH_IMM:
		return pull_immediate(s, wqe, buf, limit);
	case IW_WR_ATOMIC_CMP_AND_SWP:
	case IW_WR_ATOMIC_FETCH_AND_ADD:
		return pull_atomic(s, wqe, buf, limit);
	default:
		return pull_untagged(s, wqe, buf, limit);
	}
}

size_t iw_rtr_pull(struct iw_session *s, uint8_t *buf, size_t limit)
{
	const struct session_enhanced *e = &s->offer;
	struct iw_qp_private *p = s->qp->priv;
	struct rdmap_read_request r = { 0 };

	if (limit < SESSION_SSN_LEN + DDP_UNTAGGED_LEN + RDMAP_READ_REQ_LEN)
		return 0;
	s->rtr = false;
	if (e->rtr_write) {
		ddp_put_tagged(buf + SESSION_SSN_LEN, true, rdmap_octet(RDMAP_WRITE), 0, 0);
		return SESSION_SSN_LEN + DDP_TAGGED_LEN;
	}
	if (!e->rtr_read) {
		ddp_put_untagged(buf + SESSION_SSN_LEN, true, rdmap_octet(RDMAP_SEND), 0,
				 RDMAP_QN_SEND, p->send_msn++, 0);
		return SESSION_SSN_LEN + DDP_UNTAGGED_LEN;
	}
	*iw_read_at(p, p->reads_tail++) = (struct iw_read){
		.msn = p->read_msn,
		.rtr = true,
	};
	return put_read_request(buf, p->read_msn++, &r);
}

/* Is the segment that the peer complains of one of this WQE? */
static bool is_about(const struct iw_send_wqe *wqe, const struct ddp_header *h)
{
	bool write = wqe->opcode == IW_WR_RDMA_WRITE || wqe->opcode == IW_WR_RDMA_WRITE_WITH_IMM;

	if (ddp_is_tagged(h->control))
		return write && rdmap_opcode(h->rdmap) == RDMAP_WRITE && h->stag == wqe->rkey &&
		       h->to - wqe->remote_to <= wqe->length;
	return h->qn == RDMAP_QN_SEND &&
	       (wqe->opcode == IW_WR_SEND || wqe->opcode == IW_WR_SEND_WITH_INV ||
		wqe->opcode == IW_WR_SEND_WITH_IMM || wqe->opcode == IW_WR_RDMA_WRITE_WITH_IMM) &&
	       wqe->msn == h->msn;
}

static uint32_t blame_status(const struct iw_send_wqe *wqe, uint16_t error)
{
	if (wqe->opcode == IW_WR_SEND_WITH_INV &&
	    (error == TERM_RDMAP_INVALIDATE || error == TERM_RDMAP_INVALIDATE_OP))
		return IW_WC_REM_INV_REQ_ERR;
	if (TERM_TYPE(error) == 1 && TERM_LAYER(error) <= 1) /* protection, tagged buffer */
		return IW_WC_REM_ACCESS_ERR;
	return IW_WC_REM_OP_ERR;
}

static void blame(const struct iw_qp *qp, uint32_t index, uint16_t error, struct iw_failure *f)
{
	f->fault = IW_FAULT_SQ;
	f->index = index;
	f->status = blame_status(iw_sq_at(qp, index), error);
}

void iw_sq_blame(struct iw_qp *qp, const struct term_message *t, struct iw_failure *f)
{
	struct iw_qp_private *p = qp->priv;
	uint32_t end = p->sq_next + (p->current == IW_TX_WQE);
	struct ddp_header h;

	if (!t->has_header || !ddp_get(&h, t->header, sizeof(t->header)))
		return;
	if (!ddp_is_tagged(h.control) && h.qn == RDMAP_QN_READ_REQUEST) {
		for (uint32_t i = p->reads_head; i != p->reads_tail; i++) {
			const struct iw_read *r = iw_read_at(p, i);

			if (r->msn == h.msn && !r->rtr)
				blame(qp, r->index, t->error, f);
		}
		return;
	}
	for (uint32_t i = iw_ring_head(&qp->sq); i != end; i++) {
		if (!is_about(iw_sq_at(qp, i), &h))
			continue;
		blame(qp, i, t->error, f);
		return;
	}
}
