/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Queue pairs: making, changing and destroying them. Posting is in post.c. */
#include "util/sockaddr.h"
#include "verbs/sctpiw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/log.h"

_Static_assert((int)OBJECT_ASYNC_COMM_EST == IBV_EVENT_COMM_EST, "");

static int check_type(enum ibv_qp_type type)
{
	switch (type) {
	case IBV_QPT_RC:
		return 0;
	case IBV_QPT_UC:
	case IBV_QPT_UD:
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
		return EIO;
	err = check_type(attr->qp_type);
	if (err)
		return err;
	if (!attr->send_cq || !attr->recv_cq ||
	    attr->send_cq->context != &ctx->vctx.context ||
	    attr->recv_cq->context != &ctx->vctx.context)
		return EINVAL;
	if (cap->max_send_wr > IW_MAX_QP_WR || cap->max_send_sge > IW_MAX_SGE ||
	    cap->max_inline_data > IW_MAX_INLINE)
		return EINVAL;
	if (attr->srq) /* what is asked of the receive queue is not looked at */
		return attr->srq->context == &ctx->vctx.context ? 0 : EINVAL;
	if (cap->max_recv_wr > IW_MAX_QP_WR || cap->max_recv_sge > IW_MAX_SGE)
		return EINVAL;
	/* One queue may be empty, a QP without any is of no use. */
	if (!cap->max_send_wr && !cap->max_recv_wr)
		return EINVAL;
	return 0;
}

static int new_iw_qp(struct sctpiw_context *ctx, struct sctpiw_pd *pd, struct sctpiw_qp *qp,
		     const struct ibv_qp_init_attr *attr)
{
	struct iw_qp_attr iw_attr = {
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

/* libibverbs leaves all of struct ibv_qp to the provider, the mutex and the condition too. */
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

/* send_ops: NULL, or for which operations of ibv_wr_* (IBV_QP_EX_WITH_*). */
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

/* Beyond a PD and operations of ibv_wr_* it takes nothing that ibv_create_qp() would not. */
static int check_init_attr_ex(struct ibv_context *context, const struct ibv_qp_init_attr_ex *attr)
{
	const uint32_t known = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
			       IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;

	if (attr->comp_mask & ~known) {
		log_debug("create_qp_ex: comp_mask 0x%x has what is not offered", attr->comp_mask);
		return EOPNOTSUPP;
	}
	if ((attr->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) && attr->create_flags) {
		log_debug("create_qp_ex: no create_flags are offered, not 0x%x", attr->create_flags);
		return EOPNOTSUPP;
	}
	if (!(attr->comp_mask & IBV_QP_INIT_ATTR_PD) || !attr->pd || attr->pd->context != context)
		return EINVAL;
	return 0;
}

struct ibv_qp *sctpiw_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	bool with_ops = attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	int err = check_init_attr_ex(context, attr);

	if (err) {
		errno = err;
		return NULL;
	}
	/* The two structs begin alike; libibverbs relies on it too. */
	return create_qp(attr->pd, (struct ibv_qp_init_attr *)attr,
			 with_ops ? &attr->send_ops_flags : NULL);
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
		return EIO;
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

/* Of what this side receives, so of RDMA Reads what it asked for. 1 is also the bit for whole messages. */
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

/* No OUI is assigned to us: a locally administered one, 02-'i'-'w'. */
#define ECE_VENDOR_ID 0x026977

int sctpiw_query_ece(struct ibv_qp *ibqp, struct ibv_ece *ece)
{
	if (to_qp(ibqp)->generation != sctpiw_generation)
		return EIO;
	*ece = (struct ibv_ece){ .vendor_id = ECE_VENDOR_ID };
	return 0;
}

int sctpiw_set_ece(struct ibv_qp *ibqp, struct ibv_ece *ece)
{
	if (to_qp(ibqp)->generation != sctpiw_generation)
		return EIO;
	if (ece->comp_mask || ece->vendor_id != ECE_VENDOR_ID) {
		log_debug("QP %u: no ECE of vendor 0x%x, comp_mask 0x%x", ibqp->qp_num,
			  ece->vendor_id, ece->comp_mask);
		return EINVAL;
	}
	ece->options = 0;
	return 0;
}

/* 4.096 us x 2^timeout, for each try: what InfiniBand waits at least before it gives a WR up. */
#define TIMEOUT_UNIT 4096ull
/* But processes start one after the other, and no packet was lost for that. */
#define LIMIT_MIN (5 * 1000000000ull)

/* And a peer that said that it ends needs no more tries. */
#define GONE_MAX (500 * 1000000ull)

static uint64_t tries(const struct ibv_qp_attr *attr)
{
	return (TIMEOUT_UNIT << attr->timeout) * (attr->retry_cnt + 1u);
}

static uint64_t patience(const struct ibv_qp_attr *attr, bool timeout_is_set)
{
	if (!attr->timeout && timeout_is_set)
		return 0;
	return tries(attr) > LIMIT_MIN ? tries(attr) : LIMIT_MIN;
}

static uint64_t patience_behind(const struct ibv_qp_attr *attr)
{
	return attr->timeout && tries(attr) < GONE_MAX ? tries(attr) : GONE_MAX;
}

/* What changes for the peer of a QP connected out of band, once all of attr is merged. */
static void set_oob(struct sctpiw_qp *qp)
{
	bool in_rtr = atomic_load_explicit(&qp->iw->state, memory_order_relaxed) == IW_QPS_RTR;
	struct oob_attr oob = {
		.ord = qp->attr.max_rd_atomic,
		.rnr_retry = in_rtr ? 7 : qp->attr.rnr_retry, /* not said yet: for ever */
		.limit = patience(&qp->attr, !in_rtr),
		.gone = patience_behind(&qp->attr),
	};

	if (qp->iw->oob)
		oob_set_attr(qp->iw, &oob);
}

static int connect_oob(struct sctpiw_qp *qp, const struct ibv_qp_attr *attr)
{
	const struct ibv_global_route *grh = &attr->ah_attr.grh;
	struct oob_peer peer = {
		.dest_qp_num = attr->dest_qp_num,
		.ird = attr->max_dest_rd_atomic,
	};
	struct port_gid gid;

	if (port_gid(grh->sgid_index, &gid)) {
		log_debug("QP 0x%06x: there is no GID %u", qp->iw->num, grh->sgid_index);
		return EINVAL;
	}
	peer.local = sockaddr_ip((const struct sockaddr *)&gid.addr);
	peer.ifindex = gid.ifindex;
	memcpy(peer.remote.b, grh->dgid.raw, sizeof(peer.remote.b));
	return -oob_connect(&qp->shard->conn, qp->iw, &peer);
}

/* To another state, which the checks have found to be allowed. */
static int enter(struct sctpiw_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	bool was_rts = atomic_load_explicit(&qp->iw->state, memory_order_relaxed) == IW_QPS_RTS;
	int err;

	if (attr->qp_state == IBV_QPS_RTR && mask & IBV_QP_AV)
		return connect_oob(qp, attr);
	err = iw_qp_modify(qp->iw, (enum iw_qp_state)attr->qp_state);
	if (err)
		return -err;
	if (attr->qp_state == IBV_QPS_RESET) {
		oob_disconnect(qp->iw);
		qp->iw->by_cm = false;
		qp->by_cm = false;
		qp->attr = (struct ibv_qp_attr){ .port_num = 1 };
	} else if (attr->qp_state == IBV_QPS_INIT || attr->qp_state == IBV_QPS_RTR) {
		qp->by_cm = sctpiw_is_cm_mask(mask);
	} else if (attr->qp_state == IBV_QPS_SQD && was_rts && (mask & IBV_QP_EN_SQD_ASYNC_NOTIFY) &&
		   attr->en_sqd_async_notify) {
		iw_qp_notify_drained(qp->iw);
	}
	return 0;
}

/* Under the shard lock; all of it, or nothing. */
static int modify_locked(struct sctpiw_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	enum ibv_qp_state cur = atomic_load_explicit(&qp->iw->state, memory_order_relaxed);
	bool by_cm = qp->by_cm || qp->iw->by_cm;
	int err;

	err = sctpiw_check_qp_attr(cur, by_cm, attr, mask);
	if (err)
		return err;
	if ((mask & IBV_QP_STATE) && !sctpiw_is_behind(cur, by_cm, attr->qp_state)) {
		err = enter(qp, attr, mask);
		if (err)
			return err;
	}
	if (mask & IBV_QP_ACCESS_FLAGS)
		iw_qp_set_access(qp->iw, attr->qp_access_flags & IW_ACCESS_REMOTE);
	sctpiw_merge_qp_attr(&qp->attr, attr, mask);
	set_oob(qp);
	return 0;
}

static bool is_without_gid(const struct ibv_qp_attr *attr, int mask)
{
	return mask & IBV_QP_AV && !attr->ah_attr.is_global;
}

int sctpiw_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask)
{
	struct sctpiw_qp *qp = to_qp(ibqp);
	int err;

	if (qp->generation != sctpiw_generation)
		return EIO;
	shard_lock(qp->shard);
	err = modify_locked(qp, attr, attr_mask);
	if (err)
		log_debug("QP 0x%06x: modify from state %u%s with mask 0x%x refused, errno %d",
			  qp->iw->num, atomic_load_explicit(&qp->iw->state, memory_order_relaxed),
			  is_without_gid(attr, attr_mask) ? ", no GID of the peer," : "", attr_mask,
			  err);
	shard_unlock(qp->shard);
	return err;
}

void sctpiw_qp_free_iw(struct sctpiw_qp *qp)
{
	uint32_t num = qp->iw->num;

	list_del(&qp->node);
	iw_qp_modify(qp->iw, IW_QPS_RESET);
	oob_disconnect(qp->iw);
	iw_qp_free(qp->iw);
	qp_num_put(&qp->shard->conn, num);
}

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
		 * To RESET first: no completion can come any more, and the number is not
		 * given to another QP before the old one's completions are gone.
		 */
		shard_lock(qp->shard);
		err = iw_qp_modify(qp->iw, IW_QPS_RESET);
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
		sctpiw_wait_for_acks(&qp->obj.async, &ibqp->events_completed, &ibqp->mutex,
				     &ibqp->cond);
	}
	sctpiw_qp_release(qp);
	return 0;
}
