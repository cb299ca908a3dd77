/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "verbs/srq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "iwarp/iw_srq.h"
#include "iwarp/iw_xrc.h"
#include "log/log.h"
#include "util/alloc.h"
#include "verbs/context.h"
#include "verbs/cq.h"
#include "verbs/domain.h"
#include "verbs/xrc.h"

_Static_assert((int)OBJECT_ASYNC_SRQ_LIMIT_REACHED == IBV_EVENT_SRQ_LIMIT_REACHED, "");
_Static_assert((int)OBJECT_ASYNC_QP_LAST_WQE_REACHED == IBV_EVENT_QP_LAST_WQE_REACHED, "");

/* Makes the RNIC's part of an SRQ. xrcd and cq are those of an XRC SRQ; otherwise both are NULL. */
static int new_iw_srq(struct sctpiw_context *ctx, struct sctpiw_pd *pd, struct sctpiw_srq *srq,
		      const struct ibv_srq_attr *attr, struct ibv_cq *cq)
{
	static uint32_t made; /* guarded by the locks of all shards */
	int err;

	rnic_lock(ctx->shard->rnic);
	if (srq->xrcd)
		err = iw_xrc_srq_new(srq->xrcd->domain->iw, pd->iw, to_cq(cq)->iw, attr->max_wr,
				     attr->max_sge, &srq->obj, &srq->iw);
	else
		err = iw_srq_new(pd->iw, attr->max_wr, attr->max_sge, &srq->obj, &srq->iw);
	if (!err) {
		for (unsigned int i = 0; srq->xrcd && i < ctx->shard->rnic->n_shards; i++)
			rnic_completes_on(rnic_shard(ctx->shard->rnic, i), srq->iw->cq);
		srq->iw->nth = ++made;
		sctpiw_pd_hold(pd);
		if (srq->xrcd)
			sctpiw_xrcd_hold(srq->xrcd);
		list_add_tail(&ctx->srqs, &srq->node);
	}
	rnic_unlock(ctx->shard->rnic);
	return err;
}

static struct ibv_srq *create_srq(struct ibv_pd *ibpd, struct ibv_srq_attr *attr,
				  struct sctpiw_xrcd *xrcd, struct ibv_cq *cq)
{
	struct sctpiw_context *ctx = to_ctx(ibpd->context);
	struct sctpiw_pd *pd = to_pd(ibpd);
	struct sctpiw_srq *srq;
	int err = ENOMEM;

	if (!sctpiw_alive(ctx)) {
		err = sctpiw_inherited();
		goto fail;
	}
	srq = alloc_lines(sizeof(*srq));
	if (!srq)
		goto fail;
	srq->obj.user_handle = (uintptr_t)&srq->ibv;
	srq->obj.async.chan = sctpiw_async_channel(ctx);
	object_set_shard(&srq->obj, ctx->shard);
	srq->generation = ctx->generation;
	srq->single_threaded = pd->td;
	srq->xrcd = xrcd;
	sctpiw_lock_init(&srq->lock);
	err = new_iw_srq(ctx, pd, srq, attr, cq);
	if (err) {
		log_debug("create_srq: max_wr %u, max_sge %u: %s", attr->max_wr, attr->max_sge,
			  strerror(-err));
		sctpiw_srq_release(srq);
		errno = -err;
		return NULL;
	}
	srq->ibv.handle = sctpiw_new_handle();
	attr->max_wr = srq->iw->max_wr;
	attr->max_sge = srq->iw->max_sge;
	return &srq->ibv;
fail:
	errno = err;
	return NULL;
}

struct ibv_srq *sctpiw_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	return create_srq(pd, &attr->attr, NULL, NULL);
}

static int check_srq_attr_ex(const struct ibv_context *context,
			     const struct ibv_srq_init_attr_ex *attr)
{
	const uint32_t known = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			       IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;

	if (attr->comp_mask & ~known ||
	    (attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE && attr->srq_type != IBV_SRQT_BASIC &&
	     attr->srq_type != IBV_SRQT_XRC))
		return EOPNOTSUPP;
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) || !attr->pd || attr->pd->context != context)
		return EINVAL;
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) || attr->srq_type == IBV_SRQT_BASIC)
		return 0;
	if (!(attr->comp_mask & IBV_SRQ_INIT_ATTR_XRCD) || !attr->xrcd ||
	    attr->xrcd->context != context || !(attr->comp_mask & IBV_SRQ_INIT_ATTR_CQ) ||
	    !attr->cq || attr->cq->context != context)
		return EINVAL;
	return 0;
}

struct ibv_srq *sctpiw_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	bool xrc = attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE && attr->srq_type == IBV_SRQT_XRC;
	int err = check_srq_attr_ex(context, attr);
	struct ibv_srq *srq;

	if (err) {
		log_debug("create_srq_ex: comp_mask 0x%x, type %u: %s", attr->comp_mask,
			  attr->srq_type, strerror(err));
		errno = err;
		return NULL;
	}
	srq = create_srq(attr->pd, &attr->attr, xrc ? to_xrcd(attr->xrcd) : NULL,
			 xrc ? attr->cq : NULL);
	if (!srq)
		return NULL;
	/* libibverbs sets these fields only in ibv_create_srq(), not in ibv_create_srq_ex(). */
	srq->context = context;
	srq->srq_context = attr->srq_context;
	srq->pd = attr->pd;
	pthread_mutex_init(&srq->mutex, NULL);
	pthread_cond_init(&srq->cond, NULL);
	return srq;
}

int sctpiw_get_srq_num(struct ibv_srq *ibsrq, uint32_t *num)
{
	const struct sctpiw_srq *srq = to_srq(ibsrq);

	if (srq->generation != sctpiw_generation)
		return sctpiw_inherited();
	if (!srq->xrcd)
		return EINVAL;
	*num = srq->iw->num;
	return 0;
}

/* Does the work of sctpiw_modify_srq() under the locks of all shards. Returns 0 or -errno. */
static int modify_locked(struct iw_srq *iw, const struct ibv_srq_attr *attr, int mask)
{
	uint32_t max_wr = mask & IBV_SRQ_MAX_WR ? attr->max_wr : iw->max_wr;
	int err;

	if ((mask & IBV_SRQ_LIMIT) && attr->srq_limit > max_wr)
		return -EINVAL;
	if (mask & IBV_SRQ_MAX_WR) {
		/* Ignore the old limit if this call replaces it. */
		uint32_t limit = iw->limit;

		if (mask & IBV_SRQ_LIMIT)
			iw->limit = 0;
		err = iw_srq_resize(iw, max_wr);
		iw->limit = limit;
		if (err)
			return err;
	}
	return mask & IBV_SRQ_LIMIT ? iw_srq_arm(iw, attr->srq_limit) : 0;
}

int sctpiw_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int attr_mask)
{
	struct sctpiw_srq *srq = to_srq(ibsrq);
	int err;

	if (srq->generation != sctpiw_generation)
		return sctpiw_inherited();
	if (attr_mask & ~(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT))
		return EINVAL;
	sctpiw_srq_lock(srq);
	object_lock_all(&srq->obj);
	err = modify_locked(srq->iw, attr, attr_mask);
	object_unlock_all(&srq->obj);
	sctpiw_srq_unlock(srq);
	if (err)
		log_debug("modify_srq: max_wr %u, srq_limit %u, mask 0x%x: %s", attr->max_wr,
			  attr->srq_limit, (unsigned int)attr_mask, strerror(-err));
	return -err;
}

int sctpiw_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr)
{
	struct sctpiw_srq *srq = to_srq(ibsrq);

	if (srq->generation != sctpiw_generation)
		return sctpiw_inherited();
	object_lock_all(&srq->obj);
	attr->max_wr = srq->iw->max_wr;
	attr->max_sge = srq->iw->max_sge;
	attr->srq_limit = srq->iw->limit;
	object_unlock_all(&srq->obj);
	return 0;
}

void sctpiw_srq_release(struct sctpiw_srq *srq)
{
	channel_put(srq->obj.async.chan);
	pthread_mutex_destroy(&srq->lock);
	free(srq);
}

int sctpiw_srq_free_iw(struct sctpiw_srq *srq)
{
	int err = iw_srq_free(srq->iw);

	if (!err && srq->xrcd)
		sctpiw_xrcd_drop(srq->xrcd);
	return err;
}

/* Frees the RNIC's part of an SRQ. Completions of an XRC SRQ may remain in its CQ. */
static int end_srq(struct sctpiw_srq *srq)
{
	struct sctpiw_cq *cq = srq->xrcd ? list_entry(srq->iw->cq->ctx, struct sctpiw_cq, obj) :
					   NULL;
	int err;

	if (cq)
		sctpiw_cq_lock(cq);
	object_lock_all(&srq->obj);
	err = sctpiw_srq_free_iw(srq);
	if (!err) {
		sctpiw_pd_drop(to_pd(srq->ibv.pd));
		list_del(&srq->node);
	}
	object_unlock_all(&srq->obj);
	if (cq)
		sctpiw_cq_unlock(cq);
	return err;
}

int sctpiw_destroy_srq(struct ibv_srq *ibsrq)
{
	struct sctpiw_srq *srq = to_srq(ibsrq);
	int err;

	if (srq->generation == sctpiw_generation) {
		err = end_srq(srq);
		if (err)
			return -err;
		sctpiw_wait_for_acks(&ibsrq->events_completed, channel_purge(&srq->obj.async),
				     &ibsrq->mutex, &ibsrq->cond);
	} else {
		sctpiw_pd_drop_inherited(to_pd(ibsrq->pd));
	}
	sctpiw_srq_release(srq);
	return 0;
}
