/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "verbs/qp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conn/oob_second.h"
#include "iwarp/iw_qp.h"
#include "log/log.h"
#include "util/alloc.h"
#include "verbs/context.h"
#include "verbs/cq.h"
#include "verbs/domain.h"
#include "verbs/faults_cq.h"
#include "verbs/qp_attr.h"
#include "verbs/qp_modify.h"
#include "verbs/query.h"
#include "verbs/srq.h"
#include "verbs/wr.h"
#include "verbs/xrc.h"

_Static_assert((int)OBJECT_ASYNC_COMM_EST == IBV_EVENT_COMM_EST, "");
_Static_assert((int)OBJECT_ASYNC_PATH_MIG == IBV_EVENT_PATH_MIG, "");

static int check_type(struct sctpiw_context *ctx, enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
	case IBV_QPT_UC:
	case IBV_QPT_XRC_SEND:
	case IBV_QPT_XRC_RECV:
		return 0;
	case IBV_QPT_UD:
		if (ctx->shard->conn.transport->watch)
			return 0;
		log_error("llp = kernel has no UD queue pairs: take llp = udp or ip");
		return EOPNOTSUPP;
	case IBV_QPT_RAW_PACKET:
	case IBV_QPT_DRIVER:
		return EOPNOTSUPP;
	default:
		return EINVAL;
	}
}

static bool is_own_cq(const struct sctpiw_context *ctx, const struct ibv_cq *cq)
{
	return cq && cq->context == &ctx->vctx.context;
}

static int check_init_attr(struct sctpiw_context *ctx, const struct ibv_qp_init_attr *attr,
			   const struct sctpiw_xrcd *xrcd)
{
	const struct ibv_qp_cap *cap = &attr->cap;
	int err;

	if (!sctpiw_alive(ctx))
		return sctpiw_inherited();
	err = check_type(ctx, attr->qp_type);
	if (err)
		return err;
	if (attr->qp_type == IBV_QPT_XRC_RECV) /* an XRC_RECV QP has no queues */
		return xrcd ? 0 : EINVAL;
	if (!is_own_cq(ctx, attr->send_cq))
		return EINVAL;
	/* An XRC_SEND QP has no receive queue, so attributes of a receive queue are ignored. */
	if (attr->qp_type == IBV_QPT_XRC_SEND)
		return attr->srq || !cap->max_send_wr || cap->max_send_wr > IW_MAX_QP_WR ||
				       cap->max_send_sge > IW_MAX_SGE ||
				       cap->max_inline_data > IW_MAX_INLINE ?
			       EINVAL :
			       0;
	if (!is_own_cq(ctx, attr->recv_cq))
		return EINVAL;
	if (cap->max_send_wr > IW_MAX_QP_WR || cap->max_send_sge > IW_MAX_SGE ||
	    cap->max_inline_data > IW_MAX_INLINE)
		return EINVAL;
	if (attr->srq) /* the SRQ replaces the receive queue, so its attributes are ignored */
		return attr->srq->context == &ctx->vctx.context && !to_srq(attr->srq)->xrcd ?
			       0 :
			       EINVAL;
	if (cap->max_recv_wr > IW_MAX_QP_WR || cap->max_recv_sge > IW_MAX_SGE)
		return EINVAL;
	/* One of the two queues may be empty, but a QP without any queue is useless. */
	if (!cap->max_send_wr && !cap->max_recv_wr)
		return EINVAL;
	return 0;
}

/* Makes the QP hold its XRC domain, or its PD. */
static void hold(struct sctpiw_qp *qp, struct sctpiw_pd *pd)
{
	if (pd) {
		sctpiw_pd_hold(pd);
		return;
	}
	qp->domain = qp->xrcd->domain;
	sctpiw_xrcd_hold(qp->xrcd);
	sctpiw_xrc_domain_hold(qp->domain);
}

static enum iw_qp_type type_of(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_UC:
		return IW_QPT_UC;
	case IBV_QPT_UD:
		return IW_QPT_UD;
	case IBV_QPT_XRC_SEND:
		return IW_QPT_XRC_SEND;
	case IBV_QPT_XRC_RECV:
		return IW_QPT_XRC_RECV;
	default:
		return IW_QPT_RC;
	}
}

/* Returns the attributes of a QP for the RNIC. The QP is not an XRC_RECV. */
static struct iw_qp_attr iw_attr_of(struct sctpiw_pd *pd, const struct ibv_qp_init_attr *attr)
{
	bool receives = attr->qp_type != IBV_QPT_XRC_SEND;

	return (struct iw_qp_attr){
		.type = type_of(attr->qp_type),
		.pd = pd->iw,
		.send_cq = to_cq(attr->send_cq)->iw,
		.recv_cq = to_cq(receives ? attr->recv_cq : attr->send_cq)->iw,
		.srq = attr->srq ? to_srq(attr->srq)->iw : NULL,
		.max_send_wr = attr->cap.max_send_wr,
		.max_recv_wr = receives ? attr->cap.max_recv_wr : 0,
		.max_send_sge = attr->cap.max_send_sge,
		.max_recv_sge = receives ? attr->cap.max_recv_sge : 0,
		.max_inline = attr->cap.max_inline_data,
		.sq_sig_all = attr->sq_sig_all,
	};
}

/* Makes the RNIC's part of a QP. pd may be NULL if qp->xrcd is not. */
static int new_iw_qp(struct sctpiw_context *ctx, struct sctpiw_pd *pd, struct sctpiw_qp *qp,
		     const struct ibv_qp_init_attr *attr)
{
	struct iw_qp_attr iw_attr = { .type = IW_QPT_XRC_RECV };
	static uint32_t made; /* guarded by the locks of all shards */
	int err;

	if (pd)
		iw_attr = iw_attr_of(pd, attr);
	else
		iw_attr.xrcd = qp->xrcd->domain->iw;
	iw_attr.ctx = &qp->obj;
	rnic_lock(ctx->shard->rnic);
	qp->home = rnic_place(ctx->shard->rnic, iw_attr.send_cq, iw_attr.recv_cq);
	object_set_shard(&qp->obj, qp->home);
	err = qp_num_get(&qp->home->conn, &iw_attr.num);
	if (!err) {
		err = iw_qp_new(qp->home->conn.iw, &iw_attr, &qp->iw);
		if (err)
			qp_num_put(&qp->home->conn, iw_attr.num);
	}
	if (!err) {
		/* A new QP of an RNIC is in the state IDLE, which programs see as INIT. */
		if (!config_is_ca(&ctx->shard->rnic->config))
			iw_qp_modify(qp->iw, IW_QPS_INIT);
		qp->iw->nth = ++made;
		rnic_qp_placed(qp->iw);
		hold(qp, pd);
		list_add_tail(&ctx->qps, &qp->node);
	}
	rnic_unlock(ctx->shard->rnic);
	return -err;
}

/* Fills struct ibv_qp, which libibverbs leaves to the provider. */
static void init_ibv_qp(struct ibv_qp *ibqp, struct ibv_pd *pd, const struct ibv_qp_init_attr *attr,
			uint32_t qp_num)
{
	ibqp->qp_context = attr->qp_context;
	ibqp->pd = pd;
	if (attr->qp_type != IBV_QPT_XRC_RECV)
		ibqp->send_cq = attr->send_cq;
	if (attr->qp_type != IBV_QPT_XRC_RECV && attr->qp_type != IBV_QPT_XRC_SEND) {
		ibqp->recv_cq = attr->recv_cq;
		ibqp->srq = attr->srq;
	}
	ibqp->handle = sctpiw_new_handle();
	ibqp->qp_num = qp_num;
	ibqp->state = IBV_QPS_RESET;
	ibqp->qp_type = attr->qp_type;
}

struct sctpiw_qp *sctpiw_qp_alloc(struct sctpiw_context *ctx, bool single_threaded)
{
	struct sctpiw_qp *qp = alloc_lines(sizeof(*qp));

	if (!qp)
		return NULL;
	qp->single_threaded = single_threaded;
	qp->obj.user_handle = (uintptr_t)&qp->vqp.qp;
	qp->obj.async.chan = sctpiw_async_channel(ctx);
	object_set_shard(&qp->obj, ctx->shard);
	qp->generation = ctx->generation;
	pthread_spin_init(&qp->sq_lock, PTHREAD_PROCESS_PRIVATE);
	pthread_spin_init(&qp->rq_lock, PTHREAD_PROCESS_PRIVATE);
	pthread_mutex_init(&qp->vqp.qp.mutex, NULL);
	pthread_cond_init(&qp->vqp.qp.cond, NULL);
	return qp;
}

/*
 * send_ops: the operations of ibv_wr_* (IBV_QP_EX_WITH_*), or NULL for a QP without ibv_wr_*. xrcd:
 * the XRC domain of an XRC_RECV, otherwise NULL. The pd of an XRC_RECV may be NULL, and is only
 * stored for the program.
 */
static struct ibv_qp *create_qp(struct ibv_context *context, struct ibv_pd *pd,
				struct sctpiw_xrcd *xrcd, struct ibv_qp_init_attr *attr,
				const uint64_t *send_ops)
{
	struct sctpiw_context *ctx = to_ctx(context);
	struct sctpiw_qp *qp = NULL;
	int err;

	err = check_init_attr(ctx, attr, xrcd);
	if (err)
		goto fail;
	err = ENOMEM;
	qp = sctpiw_qp_alloc(ctx, !xrcd && to_pd(pd)->td);
	if (!qp)
		goto fail;
	qp->vqp.qp.context = context;
	qp->vqp.qp.qp_type = attr->qp_type;
	qp->xrcd = xrcd;
	err = send_ops ? sctpiw_set_send_ops(qp, attr->qp_type, *send_ops) : 0;
	if (!err)
		err = new_iw_qp(ctx, xrcd ? NULL : to_pd(pd), qp, attr);
	if (err)
		goto fail;
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
	if (qp)
		sctpiw_qp_release(qp);
	errno = err;
	return NULL;
}

struct ibv_qp *sctpiw_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	return create_qp(pd->context, pd, NULL, attr, NULL);
}

static uint32_t flags_of(const struct ibv_qp_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS ? attr->create_flags : 0;
}

/*
 * Checks the attributes that ibv_create_qp() does not have. Accepts only a PD or an XRC domain, a
 * multicast flag, and operations of ibv_wr_*.
 */
static int check_init_attr_ex(struct ibv_context *context, const struct ibv_qp_init_attr_ex *attr)
{
	const uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
			       IBV_QP_INIT_ATTR_SEND_OPS_FLAGS | IBV_QP_INIT_ATTR_XRCD;

	if (attr->comp_mask & ~known) {
		log_debug("create_qp_ex: comp_mask 0x%x has unsupported bits", attr->comp_mask);
		return EOPNOTSUPP;
	}
	if (flags_of(attr) & ~IBV_QP_CREATE_BLOCK_SELF_MCAST_LB) {
		log_debug("create_qp_ex: create_flags 0x%x has unsupported bits",
			  attr->create_flags);
		return EOPNOTSUPP;
	}
	if (flags_of(attr) && attr->qp_type != IBV_QPT_UD)
		return EINVAL;
	if (attr->qp_type == IBV_QPT_XRC_RECV)
		return attr->comp_mask & IBV_QP_INIT_ATTR_XRCD && attr->xrcd &&
				       attr->xrcd->context == context ?
			       0 :
			       EINVAL;
	if (attr->comp_mask & IBV_QP_INIT_ATTR_XRCD) {
		log_debug("create_qp_ex: an XRC domain is for QPs of type XRC_RECV");
		return EOPNOTSUPP;
	}
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->pd || attr->pd->context != context)
		return EINVAL;
	return 0;
}

struct ibv_qp *sctpiw_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	bool with_ops = attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	bool is_recv = attr->qp_type == IBV_QPT_XRC_RECV;
	struct ibv_pd *pd = attr->comp_mask & IBV_QP_INIT_ATTR_PD ? attr->pd : NULL;
	int err = check_init_attr_ex(context, attr);
	struct ibv_qp *qp;

	if (err) {
		errno = err;
		return NULL;
	}
	/* Both structs begin with the same fields. libibverbs relies on this as well. */
	qp = create_qp(context, pd, is_recv ? to_xrcd(attr->xrcd) : NULL,
		       (struct ibv_qp_init_attr *)attr, with_ops ? &attr->send_ops_flags : NULL);
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
	struct sctpiw_qp *qp = real_qp(ibqp);

	if (qp->generation != sctpiw_generation)
		return sctpiw_inherited();
	object_lock(&qp->obj);
	sctpiw_settle_paths(qp);
	*attr = qp->attr;
	attr->path_mig_state = (enum ibv_mig_state)oob_second_state(qp->iw);
	attr->qp_state = atomic_load_explicit(&qp->iw->state, memory_order_relaxed);
	attr->sq_draining = iw_qp_is_draining(qp->iw);
	object_unlock(&qp->obj);
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
		return object_shard(&qp->obj)->rnic->config.in_order;
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

/* Frees the RNIC's part of a QP, and the QP's number. */
static void free_iw(struct sctpiw_qp *qp)
{
	uint32_t num = qp->iw->num;
	struct ip_addr group;
	bool last;

	while (iw_mcast_detach_any(qp->iw, &group, &last)) {
		if (last)
			multicast_detach(&object_shard(&qp->obj)->conn, &group);
	}
	iw_qp_modify(qp->iw, IW_QPS_RESET);
	oob_disconnect(qp->iw);
	iw_qp_free(qp->iw);
	qp_num_put(&qp->home->conn, num);
	if (qp->domain)
		sctpiw_xrc_domain_drop(qp->domain);
}

/* Removes a handle of ibv_open_qp(). Frees the QP if it was destroyed and this is the last one. */
static void leave_real(struct sctpiw_qp *real, const struct sctpiw_qp *handle)
{
	struct object **at = &real->obj.next;

	while (*at != &handle->obj)
		at = &(*at)->next;
	*at = handle->obj.next;
	if (--real->opened || !real->gone)
		return;
	free_iw(real);
	sctpiw_qp_release(real);
}

/* Ends the events for the QP's first handle. Needs the shard lock. */
static void end_events(struct sctpiw_qp *qp)
{
	channel_purge(&qp->obj.async);
	channel_put(qp->obj.async.chan);
	qp->obj.async.chan = NULL;
}

bool sctpiw_qp_end(struct sctpiw_qp *qp)
{
	if (qp->xrcd)
		sctpiw_xrcd_drop(qp->xrcd);
	qp->xrcd = NULL;
	if (qp->real) {
		leave_real(qp->real, qp);
		return true;
	}
	if (!qp->opened) {
		free_iw(qp);
		return true;
	}
	qp->gone = true;
	end_events(qp);
	return false;
}

/* Removes the completions of a QP in state RESET from a CQ. */
static void purge(struct sctpiw_qp *qp, struct sctpiw_cq *cq)
{
	sctpiw_cq_lock(cq);
	object_lock_all(&qp->obj);
	faults_cq_purge(cq, qp->iw->num);
	iw_cq_purge(cq->iw, qp->iw);
	object_unlock_all(&qp->obj);
	sctpiw_cq_unlock(cq);
}

void sctpiw_qp_purge(struct sctpiw_qp *qp, struct ibv_cq *send_cq, struct ibv_cq *recv_cq)
{
	if (send_cq)
		purge(qp, to_cq(send_cq));
	if (recv_cq && recv_cq != send_cq)
		purge(qp, to_cq(recv_cq));
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

/*
 * Moves a QP to RESET, where it adds no more completions, and removes its completions from its CQs.
 * The QP's number is freed only later, so that no completion can belong to another QP with the same
 * number. If the QP is attached to a multicast group, changes nothing and returns EBUSY.
 */
static int empty(struct sctpiw_qp *qp, struct ibv_cq *send_cq, struct ibv_cq *recv_cq)
{
	bool attached;

	object_lock(&qp->obj);
	attached = qp->iw->groups;
	if (!attached) {
		iw_qp_modify(qp->iw, IW_QPS_RESET);
		oob_disconnect(qp->iw);
	}
	object_unlock(&qp->obj);
	if (attached)
		return EBUSY;
	sctpiw_qp_purge(qp, send_cq, recv_cq);
	return 0;
}

static void wait_for_acks(struct sctpiw_qp *qp)
{
	struct ibv_qp *ibqp = &qp->vqp.qp;

	sctpiw_wait_for_acks(&ibqp->events_completed, channel_purge(&qp->obj.async), &ibqp->mutex,
			     &ibqp->cond);
}

int sctpiw_destroy_qp(struct ibv_qp *ibqp)
{
	struct sctpiw_qp *qp = to_qp(ibqp);
	bool over;

	if (qp->generation != sctpiw_generation) {
		if (!qp->xrcd)
			sctpiw_pd_drop_inherited(to_pd(ibqp->pd));
		sctpiw_qp_release(qp);
		return 0;
	}
	if (ibqp->qp_type != IBV_QPT_XRC_RECV && empty(qp, ibqp->send_cq, ibqp->recv_cq))
		return EBUSY;
	if (ibqp->qp_type == IBV_QPT_XRC_RECV && !qp->real) {
		/*
		 * If ibv_open_qp() has made other handles, the QP is freed with the last of them.
		 * The events for this handle end now.
		 */
		object_lock_all(&qp->obj);
		end_events(qp);
		object_unlock_all(&qp->obj);
		wait_for_acks(qp);
	}
	object_lock_all(&qp->obj);
	list_del(&qp->node);
	if (!qp->xrcd)
		sctpiw_pd_drop(to_pd(ibqp->pd));
	over = sctpiw_qp_end(qp);
	object_unlock_all(&qp->obj);
	if (!over)
		return 0;
	wait_for_acks(qp);
	sctpiw_qp_release(qp);
	return 0;
}
