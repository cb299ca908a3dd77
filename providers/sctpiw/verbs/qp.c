/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "verbs/qp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "iwarp/iw_qp.h"
#include "log/log.h"
#include "verbs/context.h"
#include "verbs/cq.h"
#include "verbs/domain.h"
#include "verbs/qp_attr.h"
#include "verbs/query.h"
#include "verbs/srq.h"
#include "verbs/wr.h"

_Static_assert((int)OBJECT_ASYNC_COMM_EST == IBV_EVENT_COMM_EST, "");

static int check_type(struct sctpiw_context *ctx, enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
		return 0;
	case IBV_QPT_UD:
		if (ctx->shard->conn.transport->watch)
			return 0;
		log_error("llp = kernel has no UD queue pairs: take llp = udp or ip");
		return EOPNOTSUPP;
	case IBV_QPT_UC:
	case IBV_QPT_RAW_PACKET:
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
	case IBV_QPT_DRIVER:
		return EOPNOTSUPP;
	default:
		return EINVAL;
	}
}

static int check_init_attr(struct sctpiw_context *ctx, const struct ibv_qp_init_attr *attr)
{
	const struct ibv_qp_cap *cap = &attr->cap;
	int err;

	if (!sctpiw_alive(ctx))
		return sctpiw_inherited();
	err = check_type(ctx, attr->qp_type);
	if (err)
		return err;
	if (!attr->send_cq || !attr->recv_cq || attr->send_cq->context != &ctx->vctx.context ||
	    attr->recv_cq->context != &ctx->vctx.context)
		return EINVAL;
	if (cap->max_send_wr > IW_MAX_QP_WR || cap->max_send_sge > IW_MAX_SGE ||
	    cap->max_inline_data > IW_MAX_INLINE)
		return EINVAL;
	if (attr->srq) /* then it does not matter what is asked of the receive queue */
		return attr->srq->context == &ctx->vctx.context ? 0 : EINVAL;
	if (cap->max_recv_wr > IW_MAX_QP_WR || cap->max_recv_sge > IW_MAX_SGE)
		return EINVAL;
	/* One of the two queues may be empty; a QP without any is of no use. */
	if (!cap->max_send_wr && !cap->max_recv_wr)
		return EINVAL;
	return 0;
}

static int new_iw_qp(struct sctpiw_context *ctx, struct sctpiw_pd *pd, struct sctpiw_qp *qp,
		     const struct ibv_qp_init_attr *attr)
{
	struct iw_qp_attr iw_attr = {
		.type = attr->qp_type == IBV_QPT_UD ? IW_QPT_UD : IW_QPT_RC,
		.pd = pd->iw,
		.send_cq = to_cq(attr->send_cq)->iw,
		.recv_cq = to_cq(attr->recv_cq)->iw,
		.srq = attr->srq ? to_srq(attr->srq)->iw : NULL,
		.max_send_wr = attr->cap.max_send_wr,
		.max_recv_wr = attr->cap.max_recv_wr,
		.max_send_sge = attr->cap.max_send_sge,
		.max_recv_sge = attr->cap.max_recv_sge,
		.max_inline = attr->cap.max_inline_data,
		.sq_sig_all = attr->sq_sig_all,
		.ctx = &qp->obj,
	};
	int err;

	shard_lock(ctx->shard);
	err = qp_num_get(&ctx->shard->conn, &iw_attr.num);
	if (!err) {
		err = iw_qp_new(ctx->shard->rnic->iw, &iw_attr, &qp->iw);
		if (err)
			qp_num_put(&ctx->shard->conn, iw_attr.num);
	}
	if (!err) {
		sctpiw_pd_hold(pd);
		list_add_tail(&ctx->qps, &qp->node);
	}
	shard_unlock(ctx->shard);
	return -err;
}

/* libibverbs leaves it to the provider to fill struct ibv_qp. */
static void init_ibv_qp(struct ibv_qp *ibqp, struct ibv_pd *pd, const struct ibv_qp_init_attr *attr,
			uint32_t qp_num)
{
	ibqp->context = pd->context;
	ibqp->qp_context = attr->qp_context;
	ibqp->pd = pd;
	ibqp->send_cq = attr->send_cq;
	ibqp->recv_cq = attr->recv_cq;
	ibqp->srq = attr->srq;
	ibqp->handle = sctpiw_new_handle();
	ibqp->qp_num = qp_num;
	ibqp->state = IBV_QPS_RESET;
	ibqp->qp_type = attr->qp_type;
}

/*
 * send_ops: the operations that ibv_wr_* is to have (IBV_QP_EX_WITH_*), or NULL for a QP without
 * ibv_wr_*.
 */
static struct ibv_qp *create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr,
				const uint64_t *send_ops)
{
	struct sctpiw_context *ctx = to_ctx(pd->context);
	struct sctpiw_qp *qp = NULL;
	int err;

	err = check_init_attr(ctx, attr);
	if (err)
		goto fail;
	err = ENOMEM;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		goto fail;
	err = send_ops ? sctpiw_set_send_ops(qp, *send_ops) : 0;
	if (err)
		goto fail;
	qp->single_threaded = to_pd(pd)->td;
	qp->obj.user_handle = (uintptr_t)&qp->vqp.qp;
	qp->obj.async.chan = sctpiw_async_channel(ctx);
	qp->shard = ctx->shard;
	qp->generation = ctx->generation;
	pthread_spin_init(&qp->sq_lock, PTHREAD_PROCESS_PRIVATE);
	pthread_spin_init(&qp->rq_lock, PTHREAD_PROCESS_PRIVATE);
	pthread_mutex_init(&qp->vqp.qp.mutex, NULL);
	pthread_cond_init(&qp->vqp.qp.cond, NULL);
	err = new_iw_qp(ctx, to_pd(pd), qp, attr);
	if (err) {
		sctpiw_qp_release(qp);
		errno = err;
		return NULL;
	}
	init_ibv_qp(&qp->vqp.qp, pd, attr, qp->iw->num);
	if (attr->qp_type == IBV_QPT_UD)
		qp->iw->max_msg = sctpiw_active_mtu();
	qp->attr.port_num = 1;
	qp->cap.max_send_wr = qp->iw->sq.limit;
	qp->cap.max_recv_wr = qp->iw->rq.limit;
	qp->cap.max_send_sge = qp->iw->max_send_sge;
	qp->cap.max_recv_sge = attr->srq ? 0 : qp->iw->max_recv_sge;
	qp->cap.max_inline_data = qp->iw->max_inline;
	attr->cap = qp->cap;
	return &qp->vqp.qp;
fail:
	free(qp);
	errno = err;
	return NULL;
}

struct ibv_qp *sctpiw_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	return create_qp(pd, attr, NULL);
}

static uint32_t flags_of(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS ? attr->create_flags : 0;
}

/* Only a PD, a flag of multicast and operations of ibv_wr_* are taken beyond what ibv_create_qp() takes. */
static int check_init_attr_ex(struct ibv_context *context, const struct ibv_qp_init_attr_ex *attr)
{
	const uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
			       IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;

	if (attr->comp_mask & ~known) {
		log_debug("create_qp_ex: comp_mask 0x%x has what is not offered", attr->comp_mask);
		return EOPNOTSUPP;
	}
	if (flags_of(attr) & ~IBV_QP_CREATE_BLOCK_SELF_MCAST_LB) {
		log_debug("create_qp_ex: create_flags 0x%x has what is not offered",
			  attr->create_flags);
		return EOPNOTSUPP;
	}
	if (flags_of(attr) && attr->qp_type != IBV_QPT_UD)
		return EINVAL;
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->pd || attr->pd->context != context)
		return EINVAL;
	return 0;
}

struct ibv_qp *sctpiw_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	bool with_ops = attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	int err = check_init_attr_ex(context, attr);
	struct ibv_qp *qp;

	if (err) {
		errno = err;
		return NULL;
	}
	/* The two structs begin alike, as libibverbs relies on, too. */
	qp = create_qp(attr->pd, (struct ibv_qp_init_attr *)attr,
		       with_ops ? &attr->send_ops_flags : NULL);
	if (qp)
		to_qp(qp)->iw->blocks_own = flags_of(attr) & IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
	return qp;
}

_Static_assert(offsetof(struct ibv_qp_init_attr_ex, cap) == offsetof(struct ibv_qp_init_attr, cap),
	       "");
_Static_assert(offsetof(struct ibv_qp_init_attr_ex, sq_sig_all) ==
		       offsetof(struct ibv_qp_init_attr, sq_sig_all),
	       "");

int sctpiw_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask,
		    struct ibv_qp_init_attr *init_attr)
{
	struct sctpiw_qp *qp = to_qp(ibqp);

	if (qp->generation != sctpiw_generation)
		return sctpiw_inherited();
	shard_lock(qp->shard);
	*attr = qp->attr;
	attr->qp_state = atomic_load_explicit(&qp->iw->state, memory_order_relaxed);
	attr->sq_draining = iw_qp_is_draining(qp->iw);
	shard_unlock(qp->shard);
	attr->cur_qp_state = attr->qp_state;
	attr->cap = qp->cap;

	*init_attr = (struct ibv_qp_init_attr){
		.qp_context = ibqp->qp_context,
		.send_cq = ibqp->send_cq,
		.recv_cq = ibqp->recv_cq,
		.srq = ibqp->srq,
		.cap = qp->cap,
		.qp_type = ibqp->qp_type,
		.sq_sig_all = qp->iw->sq_sig_all,
	};
	return 0;
}

int sctpiw_query_qp_data_in_order(struct ibv_qp *ibqp, enum ibv_wr_opcode op, uint32_t flags)
{
	struct sctpiw_qp *qp = to_qp(ibqp);

	if (qp->generation != sctpiw_generation)
		return 0;
	switch (op) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_SEND:
	case IBV_WR_SEND_WITH_IMM:
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_RDMA_READ:
		return qp->shard->rnic->config.in_order;
	default:
		return 0;
	}
}

int sctpiw_query_ece(struct ibv_qp *ibqp, struct ibv_ece *ece)
{
	if (to_qp(ibqp)->generation != sctpiw_generation)
		return sctpiw_inherited();
	*ece = (struct ibv_ece){ .vendor_id = SCTPIW_VENDOR_ID };
	return 0;
}

int sctpiw_set_ece(struct ibv_qp *ibqp, struct ibv_ece *ece)
{
	if (to_qp(ibqp)->generation != sctpiw_generation)
		return sctpiw_inherited();
	if (ece->comp_mask || ece->vendor_id != SCTPIW_VENDOR_ID) {
		log_debug("QP %u: no ECE of vendor 0x%x, comp_mask 0x%x", ibqp->qp_num,
			  ece->vendor_id, ece->comp_mask);
		return EINVAL;
	}
	ece->options = 0;
	return 0;
}

void sctpiw_qp_free_iw(struct sctpiw_qp *qp)
{
	uint32_t num = qp->iw->num;
	struct ip_addr group;
	bool last;

	list_del(&qp->node);
	while (iw_mcast_detach_any(qp->iw, &group, &last)) {
		if (last)
			multicast_detach(&qp->shard->conn, &group);
	}
	iw_qp_modify(qp->iw, IW_QPS_RESET);
	oob_disconnect(qp->iw);
	iw_qp_free(qp->iw);
	qp_num_put(&qp->shard->conn, num);
}

/* Takes the completions of a QP in RESET out of a CQ. */
static void purge(struct sctpiw_qp *qp, struct sctpiw_cq *cq)
{
	sctpiw_cq_lock(cq);
	shard_lock(qp->shard);
	iw_cq_purge(cq->iw, qp->iw->num);
	shard_unlock(qp->shard);
	sctpiw_cq_unlock(cq);
}

void sctpiw_qp_release(struct sctpiw_qp *qp)
{
	channel_put(qp->obj.async.chan);
	pthread_cond_destroy(&qp->vqp.qp.cond);
	pthread_mutex_destroy(&qp->vqp.qp.mutex);
	pthread_spin_destroy(&qp->sq_lock);
	pthread_spin_destroy(&qp->rq_lock);
	free(qp);
}

int sctpiw_destroy_qp(struct ibv_qp *ibqp)
{
	struct sctpiw_qp *qp = to_qp(ibqp);
	struct sctpiw_cq *send_cq = to_cq(ibqp->send_cq), *recv_cq = to_cq(ibqp->recv_cq);
	int err;

	if (qp->generation == sctpiw_generation) {
		/*
		 * In RESET no completion can come any more. The number is freed only once the
		 * completions are gone, so that they are not taken for another QP's.
		 */
		shard_lock(qp->shard);
		err = qp->iw->groups ? -EBUSY : iw_qp_modify(qp->iw, IW_QPS_RESET);
		if (!err)
			oob_disconnect(qp->iw);
		shard_unlock(qp->shard);
		if (err)
			return -err;
		purge(qp, send_cq);
		if (recv_cq != send_cq)
			purge(qp, recv_cq);
		shard_lock(qp->shard);
		sctpiw_qp_free_iw(qp);
		sctpiw_pd_drop(to_pd(ibqp->pd));
		shard_unlock(qp->shard);
		sctpiw_wait_for_acks(&ibqp->events_completed, channel_purge(&qp->obj.async),
				     &ibqp->mutex, &ibqp->cond);
	} else {
		sctpiw_pd_drop_inherited(to_pd(ibqp->pd));
	}
	sctpiw_qp_release(qp);
	return 0;
}
