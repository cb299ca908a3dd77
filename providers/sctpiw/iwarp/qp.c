/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The life of a QP. Its two queues are in sq.c and rq.c. */
#include <errno.h>
#include <stdlib.h>

#include "iwarp/private.h"
#include "util/alloc.h"

#define READ_STAGS_STEP 0x9e3779b9u /* 2^32 by the golden ratio: the largest gaps, however many steps */

static int ring_init(struct iw_ring *r, uint32_t limit, size_t stride)
{
	uint32_t size = 1;

	while (size < limit)
		size *= 2;
	r->stride = (uint32_t)alloc_line_up(stride);
	r->mask = size - 1;
	r->limit = limit;
	r->slots = alloc_lines((size_t)size * r->stride);
	return r->slots ? 0 : -ENOMEM;
}

static bool attr_ok(const struct iw_qp_attr *a)
{
	if (!a->pd || !a->send_cq || !a->recv_cq || a->max_send_wr > IW_MAX_QP_WR ||
	    a->max_send_sge > IW_MAX_SGE || a->max_inline > IW_MAX_INLINE)
		return false;
	if (a->srq)
		return a->srq->pd == a->pd;
	return a->max_recv_wr <= IW_MAX_QP_WR && a->max_recv_sge <= IW_MAX_SGE;
}

static uint32_t new_num(struct iw_rnic *rnic)
{
	uint32_t num;

	do /* 0 and 1 mean something to some programs */
		num = rnic->next_qp_num++ & 0xffffff;
	while (num < 2 || iw_table_find(&rnic->qps, num));
	return num;
}

static int init_rings(struct iw_qp *qp, const struct iw_qp_attr *attr)
{
	size_t payload = attr->max_send_sge * sizeof(struct iw_sge);
	int err;

	if (payload < attr->max_inline)
		payload = attr->max_inline;
	err = ring_init(&qp->sq, attr->max_send_wr, sizeof(struct iw_send_wqe) + payload);
	if (err)
		return err;
	/* What the slot has room for anyway: there are programs that count on a little of it. */
	payload = qp->sq.stride - sizeof(struct iw_send_wqe);
	qp->max_inline = payload < IW_MAX_INLINE ? (uint32_t)payload : IW_MAX_INLINE;
	if (qp->srq)
		return 0;
	return ring_init(&qp->rq, attr->max_recv_wr,
			 sizeof(struct iw_recv_wqe) + attr->max_recv_sge * sizeof(struct iw_sge));
}

int iw_qp_new(struct iw_rnic *rnic, const struct iw_qp_attr *attr, struct iw_qp **out)
{
	struct iw_qp_full *full;
	struct iw_qp *qp;
	int err;

	if (!attr_ok(attr) || (attr->num && iw_table_find(&rnic->qps, attr->num)))
		return -EINVAL;
	if (rnic->qps.count >= IW_MAX_QP)
		return -ENOMEM;
	full = alloc_lines(sizeof(*full));
	if (!full)
		return -ENOMEM;
	qp = &full->qp;
	qp->priv = &full->priv;
	qp->num = attr->num ? attr->num : new_num(rnic);
	qp->max_send_sge = attr->max_send_sge;
	qp->max_recv_sge = attr->srq ? attr->srq->max_sge : attr->max_recv_sge;
	qp->sq_sig_all = attr->sq_sig_all;
	qp->rnic = rnic;
	qp->pd = attr->pd;
	qp->send_cq = attr->send_cq;
	qp->recv_cq = attr->recv_cq;
	qp->srq = attr->srq;
	qp->ctx = attr->ctx;
	qp->access = IW_ACCESS_REMOTE;
	iw_event_init(&full->priv.event, IW_OWNER_QP);
	list_init(&full->priv.windows);
	list_init(&full->priv.waiting);
	list_init(&full->priv.zcopy_node);

	err = init_rings(qp, attr);
	if (!err)
		err = iw_table_insert(&rnic->qps, qp->num, qp);
	if (err) {
		free(qp->sq.slots);
		free(qp->rq.slots);
		free(full);
		return err;
	}
	qp->pd->refs++;
	qp->pd->qps++;
	qp->send_cq->refs++;
	qp->recv_cq->refs++;
	if (qp->srq)
		qp->srq->refs++;
	*out = qp;
	return 0;
}

/* RESET: what was posted is gone without a completion. */
static void reset(struct iw_qp *qp)
{
	struct iw_session *s = qp->priv->session;

	iw_qp_set_state(qp, IW_QPS_RESET);
	if (s)
		iw_session_end(s, -ECONNABORTED, true, NULL);
	if (qp->srq)
		iw_srq_return(qp);
	qp->priv->sq_next = iw_ring_tail(&qp->sq);
	iw_ring_release(&qp->sq, qp->priv->sq_next);
	iw_ring_release(&qp->rq, iw_ring_tail(&qp->rq));
	iw_event_clear(&qp->priv->event);
	qp->priv->peer_gone = false;
}

int iw_qp_free(struct iw_qp *qp)
{
	struct iw_qp_private *p = qp->priv;

	reset(qp);
	if (p->closed)
		p->closed->closed_qp = NULL;
	iw_table_remove(&qp->rnic->qps, qp->num);
	qp->pd->refs--;
	qp->pd->qps--;
	qp->send_cq->refs--;
	qp->recv_cq->refs--;
	if (qp->srq) {
		qp->srq->refs--;
		iw_srq_serve_later(qp->srq); /* others may take more now */
	}
	free(qp->sq.slots);
	free(qp->rq.slots);
	free(list_entry(qp, struct iw_qp_full, qp));
	return 0;
}

struct iw_qp *iw_qp_by_num(struct iw_rnic *rnic, uint32_t num)
{
	return iw_table_find(&rnic->qps, num);
}

void iw_qp_set_state(struct iw_qp *qp, enum iw_qp_state state)
{
	atomic_store_explicit(&qp->state, state, memory_order_release);
	qp->priv->notify_drained = false;
}

int iw_qp_modify(struct iw_qp *qp, enum iw_qp_state next)
{
	enum iw_qp_state now = iw_qp_state(qp);
	struct iw_session *s = qp->priv->session;

	if (next == IW_QPS_RESET) {
		reset(qp);
		return 0;
	}
	if (next == now)
		return 0;
	switch (next) {
	case IW_QPS_INIT:
		if (now != IW_QPS_RESET)
			return -EINVAL;
		break;
	case IW_QPS_RTR:
		if (now == IW_QPS_RTS && s)
			return 0; /* its session was faster than the application */
		if (now != IW_QPS_INIT)
			return -EINVAL;
		break;
	case IW_QPS_RTS:
		if (now != IW_QPS_SQD && !(now == IW_QPS_RTR && qp->oob))
			return -EINVAL;
		break;
	case IW_QPS_SQD:
		if (now != IW_QPS_RTS)
			return -EINVAL;
		break;
	case IW_QPS_ERR:
		if (s)
			iw_session_end(s, -ECONNABORTED, true, NULL);
		else
			iw_qp_enter_error(qp, NULL);
		return 0;
	default:
		return -EINVAL;
	}
	iw_qp_set_state(qp, next);
	iw_qp_doorbell(qp);
	return 0;
}

bool iw_qp_is_draining(const struct iw_qp *qp)
{
	const struct iw_qp_private *p = qp->priv;

	return iw_qp_state(qp) == IW_QPS_SQD &&
	       (p->current == IW_TX_WQE || iw_ring_head(&qp->sq) != p->sq_next);
}

void iw_qp_notify_drained(struct iw_qp *qp)
{
	struct iw_qp_private *p = qp->priv;

	p->notify_drained = iw_qp_is_draining(qp);
	if (!p->notify_drained)
		iw_event_raise(qp->rnic, &p->event, IW_EVENT_SQ_DRAINED);
}

void iw_qp_enter_error(struct iw_qp *qp, const struct iw_failure *f)
{
	if (iw_qp_state(qp) == IW_QPS_ERR)
		return;
	iw_qp_set_state(qp, IW_QPS_ERR);
	atomic_thread_fence(memory_order_seq_cst); /* see iw_rq_is_awaited() */
	iw_sq_flush(qp, f);
	if (!qp->srq) {
		iw_rq_flush(qp, f);
		return;
	}
	iw_srq_flush(qp, f);
	iw_event_raise(qp->rnic, &qp->priv->event, IW_EVENT_QP_LAST_WQE);
}

void iw_qp_overflow(struct iw_qp *qp)
{
	struct iw_failure f;

	iw_fail_local(&f, IW_FAULT_NONE, 0, 0);
	iw_session_fail(qp->priv->session, &f);
}

void iw_qp_give_up(struct iw_qp *qp)
{
	struct iw_failure f = {
		.fault = IW_FAULT_SQ,
		.index = iw_ring_head(&qp->sq),
		.status = IW_WC_RETRY_EXC_ERR,
	};

	iw_qp_enter_error(qp, &f);
}

void iw_qp_set_access(struct iw_qp *qp, uint32_t access)
{
	struct iw_session *s = qp->priv->session;

	if (list_linked(&qp->priv->zcopy_node) && (qp->access & ~access & IW_ACCESS_REMOTE_READ))
		s->assoc->ops.copy_out(s->assoc->llp, s->sid);
	qp->access = access;
}

void iw_qp_set_ord(struct iw_qp *qp, uint32_t ord)
{
	struct iw_qp_private *p = qp->priv;

	if (p->session)
		p->ord = ord < p->ord_max ? ord : p->ord_max;
}

/* Connected out of band it is bound when it has an address of the peer, to no more than one session. */
static bool may_bind(const struct iw_qp *qp)
{
	enum iw_qp_state state = iw_qp_state(qp);

	if (qp->priv->session)
		return false;
	if (qp->oob)
		return !qp->priv->peer_gone && state >= IW_QPS_RTR && state <= IW_QPS_SQD;
	return state == IW_QPS_INIT || state == IW_QPS_RTR;
}

int iw_qp_bind(struct iw_qp *qp, struct iw_session *s, uint32_t ird, uint32_t ord)
{
	struct iw_qp_private *p = qp->priv;

	if (!may_bind(qp))
		return -EINVAL;
	if (iw_reads_reserve(p, 1))
		return -ENOMEM;
	p->ird = ird;
	p->ord = ord;
	p->ord_max = IW_MAX_ORD;
	p->reads_gather = false;
	p->irq_head = p->irq_tail = 1;
	p->atomic_msn = p->response_msn = 1;
	/* They are of no use on another session, but begin far from those of all others. */
	p->read_stag = qp->rnic->read_stags;
	qp->rnic->read_stags += READ_STAGS_STEP;
	p->in_write = p->behind_write = false;
	iw_answer_forget(p);

	p->sq_next = p->sq_tail = iw_ring_head(&qp->sq);
	p->current = IW_TX_NONE;
	p->offset = 0;
	p->send_msn = p->read_msn = 1;

	p->deliver_msn = 1;
	p->rq_tail = iw_ring_head(&qp->rq);
	p->rq_delta = p->rq_tail - 1; /* the receive at the head takes MSN 1 */
	if (p->closed) {
		p->closed->closed_qp = NULL;
		p->closed = NULL;
	}
	p->session = s;
	s->qp = qp;
	return 0;
}

void iw_qp_unbind(struct iw_qp *qp)
{
	struct iw_qp_private *p = qp->priv;

	if (qp->srq)
		iw_srq_unbind(qp);
	else
		iw_unexpected_clear(p);
	iw_mw_unbind_all(qp);
	free(p->reads);
	free(p->irq);
	p->reads = NULL;
	p->irq = NULL;
	p->irq_size = 0;
	p->reads_size = 0;
	p->reads_head = p->reads_tail = 0;
	p->irq_head = p->irq_tail = 0;
	p->current = IW_TX_NONE;
	p->session->qp = NULL;
	p->session = NULL;
}

void iw_qp_doorbell(struct iw_qp *qp)
{
	struct iw_session *s = qp->priv->session;

	if (iw_qp_state(qp) == IW_QPS_ERR) {
		iw_sq_flush(qp, NULL);
		if (!qp->srq)
			iw_rq_flush(qp, NULL);
		return;
	}
	if (!s)
		return;
	if (atomic_load_explicit(&qp->rq_awaited, memory_order_relaxed)) /* some Send is held, or was */
		iw_rq_refresh(s);
	iw_session_wake(s); /* looks whether it still lives */
}

void iw_doorbell_serve(struct iw_doorbell *doorbell)
{
	if (doorbell->is_srq)
		iw_srq_serve(list_entry(doorbell, struct iw_srq, doorbell));
	else
		iw_qp_doorbell(list_entry(doorbell, struct iw_qp, doorbell));
}
