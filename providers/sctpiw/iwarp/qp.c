/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Life cycle of a QP of any type. */
#include "iwarp/qp.h"

#include <errno.h>
#include <stdlib.h>

#include "iwarp/cq.h"
#include "iwarp/explain.h"
#include "iwarp/mr.h"
#include "iwarp/rc_srq.h"
#include "iwarp/recv.h"
#include "iwarp/srq.h"
#include "iwarp/xrc.h"
#include "util/alloc.h"

static const struct iw_qp_ops *type_ops(enum iw_qp_type type)
{
	switch (type) {
	case IW_QPT_RC:
		return &iw_rc_ops;
	case IW_QPT_UC:
		return &iw_uc_ops;
	case IW_QPT_UD:
		return &iw_ud_ops;
	case IW_QPT_XRC_SEND:
		return &iw_xrc_send_ops;
	case IW_QPT_XRC_RECV:
		return &iw_xrc_recv_ops;
	}
	return NULL;
}

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
		return a->srq->pd == a->pd && a->srq->xrcd == a->xrcd;
	return a->max_recv_wr <= IW_MAX_QP_WR && a->max_recv_sge <= IW_MAX_SGE;
}

static uint32_t new_num(struct iw_shard *shard)
{
	uint32_t num;

	do /* InfiniBand reserves the numbers 0 and 1; some programs treat these QPs specially */
		num = shard->rnic->next_qp_num++ & 0xffffff;
	while (num < 2 || iw_table_find(&shard->qps, num));
	return num;
}

static int init_rings(struct iw_qp *qp, const struct iw_qp_attr *attr)
{
	size_t payload = attr->max_send_sge * sizeof(struct iw_sge);
	uint32_t tail = iw_qp_base(qp)->ops->slot_tail;
	int err;

	if (payload < attr->max_inline)
		payload = attr->max_inline;
	err = ring_init(&qp->sq, attr->max_send_wr, sizeof(struct iw_send_wqe) + payload + tail);
	if (err)
		return err;
	/*
	 * Use the rest of the slot for inline data, because some programs expect a little inline
	 * data without requesting any.
	 */
	payload = qp->sq.stride - sizeof(struct iw_send_wqe) - tail;
	qp->max_inline = payload < IW_MAX_INLINE ? (uint32_t)payload : IW_MAX_INLINE;
	if (qp->srq)
		return 0;
	return ring_init(&qp->rq, attr->max_recv_wr,
			 sizeof(struct iw_recv_wqe) + attr->max_recv_sge * sizeof(struct iw_sge));
}

static void free_memory(struct iw_qp *qp)
{
	free(qp->sq.slots);
	free(qp->rq.slots);
	iw_qp_base(qp)->ops->free(qp);
}

static void init(struct iw_qp *qp, struct iw_shard *shard, const struct iw_qp_attr *attr,
		 const struct iw_qp_ops *ops)
{
	struct iw_qp_base *base = iw_qp_base(qp);

	qp->num = attr->num ? attr->num : new_num(shard);
	qp->type = attr->type;
	qp->max_msg = ops->max_msg;
	qp->wr_opcodes = ops->wr_opcodes;
	qp->to_srqs = attr->type == IW_QPT_XRC_SEND;
	qp->doorbell.is_ud = attr->type == IW_QPT_UD;
	qp->max_send_sge = attr->max_send_sge;
	qp->max_recv_sge = attr->srq ? attr->srq->max_sge : attr->max_recv_sge;
	qp->sq_sig_all = attr->sq_sig_all;
	qp->shard = shard;
	qp->pd = attr->pd;
	qp->send_cq = attr->send_cq;
	qp->recv_cq = attr->recv_cq;
	qp->srq = attr->srq;
	qp->ctx = attr->ctx;
	qp->access = IW_ACCESS_REMOTE;
	base->ops = ops;
	iw_event_init(&base->event, IW_OWNER_QP);
	list_init(&base->windows);
}

int iw_qp_new(struct iw_shard *shard, const struct iw_qp_attr *attr, struct iw_qp **out)
{
	const struct iw_qp_ops *ops = type_ops(attr->type);
	struct iw_qp_attr of_xrcd;
	struct iw_qp *qp;
	int err;

	if (attr->type == IW_QPT_XRC_RECV) {
		if (!attr->xrcd)
			return -EINVAL;
		of_xrcd = iw_xrcd_qp_attr(attr);
		attr = &of_xrcd;
	}

	if (!ops || !attr_ok(attr) || (attr->num && iw_table_find(&shard->qps, attr->num)))
		return -EINVAL;
	if (shard->qps.count >= IW_MAX_QP)
		return -ENOMEM;
	qp = ops->alloc();
	if (!qp)
		return -ENOMEM;
	init(qp, shard, attr, ops);
	err = init_rings(qp, attr);
	if (!err)
		err = iw_table_insert(&shard->qps, qp->num, qp);
	if (err) {
		free_memory(qp);
		return err;
	}
	list_add_tail(&shard->all_qps, &iw_qp_base(qp)->all);
	qp->pd->refs++;
	qp->pd->qps++;
	qp->send_cq->refs++;
	qp->recv_cq->refs++;
	iw_cq_join(qp->send_cq, shard);
	iw_cq_join(qp->recv_cq, shard);
	if (qp->srq)
		qp->srq->refs++;
	*out = qp;
	return 0;
}

/* Moves the QP to RESET. Drops all posted WRs without completions. */
static void reset(struct iw_qp *qp)
{
	struct iw_qp_base *base = iw_qp_base(qp);

	iw_qp_set_state(qp, IW_QPS_RESET);
	base->error = NULL;
	base->ops->disconnect(qp);
	base->ops->drop_receives(qp);
	iw_sq_reset(qp);
	qp->rq.head = iw_ring_tail(&qp->rq);
	iw_event_clear(&base->event);
}

int iw_qp_free(struct iw_qp *qp)
{
	reset(qp);
	iw_table_remove(&qp->shard->qps, qp->num);
	list_del(&iw_qp_base(qp)->all);
	qp->pd->refs--;
	qp->pd->qps--;
	qp->send_cq->refs--;
	qp->recv_cq->refs--;
	if (qp->srq) {
		qp->srq->refs--;
		/* With fewer QPs on the SRQ, the remaining QPs may take more receives. */
		iw_srq_serve_all_later(iw_srq_part(qp->srq, qp->shard));
	}
	free_memory(qp);
	return 0;
}

struct iw_qp *iw_qp_by_num(const struct iw_shard *shard, uint32_t num)
{
	return iw_table_find(&shard->qps, num);
}

int iw_qp_move(struct iw_qp *qp, struct iw_shard *to)
{
	struct iw_qp_base *base = iw_qp_base(qp);
	uint32_t queues = qp->send_cq == qp->recv_cq ? 2 : 1; /* queues that each CQ loses */
	int err;

	if (qp->oob || base->event.bits || !base->ops->may_leave(qp))
		return -EBUSY;
	err = iw_table_insert(&to->qps, qp->num, qp);
	if (err)
		return err;
	iw_table_remove(&qp->shard->qps, qp->num);
	list_del(&base->all);
	list_add_tail(&to->all_qps, &base->all);
	qp->shard = to;
	iw_cq_leave(qp->send_cq, queues);
	iw_cq_leave(qp->recv_cq, queues);
	iw_cq_join(qp->send_cq, to);
	iw_cq_join(qp->recv_cq, to);
	return 0;
}

void iw_qp_set_state(struct iw_qp *qp, enum iw_qp_state state)
{
	/*
	 * The release store pairs with the load in iw_sq_may_post(). Other loads may be relaxed,
	 * because they need nothing but the state.
	 */
	atomic_store_explicit(&qp->state, state, memory_order_release);
	iw_qp_base(qp)->notify_drained = false;
}

int iw_qp_modify(struct iw_qp *qp, enum iw_qp_state next)
{
	const struct iw_qp_ops *ops = iw_qp_base(qp)->ops;

	if (next == IW_QPS_RESET) {
		reset(qp);
		return 0;
	}
	if (next == iw_qp_state(qp))
		return 0;
	if (next == IW_QPS_ERR) {
		ops->disconnect(qp);
		iw_qp_enter_error(qp, NULL);
		return 0;
	}
	switch (ops->move(qp, next)) {
	case IW_QP_REFUSED:
		return -EINVAL;
	case IW_QP_STAYS:
		return 0;
	case IW_QP_MOVES:
		break;
	}
	/* Flush all WRs that were posted in SQE. */
	if (iw_qp_state(qp) == IW_QPS_SQE) {
		iw_sq_flush(qp, NULL);
		iw_qp_base(qp)->error = NULL;
	}
	iw_qp_set_state(qp, next);
	iw_qp_doorbell(qp);
	return 0;
}

bool iw_qp_is_draining(const struct iw_qp *qp)
{
	const struct iw_sq *sq = &iw_qp_base(qp)->send;

	return iw_qp_state(qp) == IW_QPS_SQD && (sq->begun || qp->sq.head != sq->next);
}

void iw_qp_notify_drained(struct iw_qp *qp)
{
	struct iw_qp_base *base = iw_qp_base(qp);

	base->notify_drained = iw_qp_is_draining(qp);
	if (!base->notify_drained)
		iw_event_raise(qp->shard, &base->event, IW_EVENT_SQ_DRAINED);
}

void iw_qp_enter_error(struct iw_qp *qp, const struct iw_failure *f)
{
	struct iw_qp_base *base = iw_qp_base(qp);

	if (iw_qp_state(qp) == IW_QPS_ERR)
		return;
	if (f) {
		base->error = iw_explain_words(f);
		qp->shard->stats.errors++;
	}
	iw_qp_set_state(qp, IW_QPS_ERR);
	atomic_thread_fence(memory_order_seq_cst); /* see iw_rq_is_awaited() */
	iw_sq_flush(qp, f);
	if (!qp->srq) {
		iw_recv_flush_queue(qp, f);
		return;
	}
	base->ops->flush_receives(qp, f);
	iw_event_raise(qp->shard, &base->event, IW_EVENT_QP_LAST_WQE);
}

void iw_qp_enter_sq_error(struct iw_qp *qp, const struct iw_failure *f)
{
	iw_qp_base(qp)->error = iw_explain_words(f);
	qp->shard->stats.errors++;
	iw_qp_set_state(qp, IW_QPS_SQE);
	iw_sq_flush(qp, f);
}

void iw_qp_set_access(struct iw_qp *qp, uint32_t access)
{
	if (qp->access & ~access & IW_ACCESS_REMOTE_READ)
		iw_qp_base(qp)->ops->end_remote_read(qp);
	qp->access = access;
}

void iw_qp_set_ord(struct iw_qp *qp, uint32_t ord)
{
	iw_qp_base(qp)->ops->set_ord(qp, ord);
}

void iw_qp_tell_migrated(struct iw_qp *qp)
{
	iw_event_raise(qp->shard, &iw_qp_base(qp)->event, IW_EVENT_QP_PATH_MIG);
}

void iw_qp_give_up(struct iw_qp *qp)
{
	struct iw_failure f = {
		.fault = IW_FAULT_SQ,
		.index = qp->sq.head,
		.status = IW_WC_RETRY_EXC_ERR,
	};

	iw_qp_enter_error(qp, &f);
}

void iw_qp_doorbell(struct iw_qp *qp)
{
	if (iw_qp_state(qp) < IW_QPS_SQE) {
		iw_qp_base(qp)->ops->doorbell(qp);
		return;
	}
	iw_sq_flush(qp, NULL);
	if (iw_qp_state(qp) == IW_QPS_SQE)
		return;
	if (!qp->srq)
		iw_recv_flush_queue(qp, NULL);
}

void iw_doorbell_serve(struct iw_doorbell *doorbell)
{
	if (doorbell->is_srq)
		iw_rc_srq_serve(list_entry(doorbell, struct iw_srq_part, doorbell));
	else
		iw_qp_doorbell(list_entry(doorbell, struct iw_qp, doorbell));
}
