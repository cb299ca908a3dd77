/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "verbs/cq.h"

#include <errno.h>
#include <stdlib.h>

#include "iwarp/iw_cq.h"
#include "util/alloc.h"
#include "verbs/context.h"
#include "verbs/domain.h"
#include "verbs/faults_cq.h"
#include "verbs/poll.h"

#define STAMPS (IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
#define WC_FLAGS IBV_CREATE_CQ_SUP_WC_FLAGS
#define CQ_FLAGS (IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN)

static int check_cq(struct sctpiw_context *ctx, uint32_t cqe, int comp_vector)
{
	if (!sctpiw_alive(ctx))
		return sctpiw_inherited();
	if (cqe < 1 || cqe > IW_MAX_CQE)
		return EINVAL;
	if (comp_vector < 0 || comp_vector >= ctx->vctx.context.num_comp_vectors)
		return EINVAL;
	return 0;
}

/* Makes a CQ. pd: the parent domain that the CQ must hold, or NULL. */
static struct sctpiw_cq *new_cq(struct sctpiw_context *ctx, uint32_t cqe,
				struct ibv_comp_channel *channel, int comp_vector,
				struct sctpiw_pd *pd)
{
	struct sctpiw_cq *cq = NULL;
	static uint32_t made; /* guarded by the locks of all shards */
	int err;

	err = check_cq(ctx, cqe, comp_vector);
	if (err)
		goto fail;
	err = ENOMEM;
	cq = alloc_lines(sizeof(*cq));
	if (!cq)
		goto fail;
	err = EINVAL;
	if (channel) {
		cq->obj.comp.chan = channel_get_by_fd(channel->fd);
		if (!cq->obj.comp.chan)
			goto fail;
	}
	cq->obj.async.chan = sctpiw_async_channel(ctx);
	cq->obj.user_handle = (uintptr_t)&cq->vcq.cq;
	cq->generation = ctx->generation;
	sctpiw_lock_init(&cq->lock);

	rnic_lock(ctx->shard->rnic);
	object_set_shard(&cq->obj, ctx->shard);
	cq->iw = iw_cq_new(ctx->shard->conn.iw, cqe, &cq->obj);
	if (cq->iw) {
		cq->iw->nth = ++made;
		list_add_tail(&ctx->cqs, &cq->node);
		cq->pd = pd;
		if (pd)
			sctpiw_pd_hold(pd);
	}
	rnic_unlock(ctx->shard->rnic);
	if (!cq->iw) {
		sctpiw_cq_release(cq);
		errno = ENOMEM;
		return NULL;
	}
	cq->vcq.cq.cqe = cq->iw->limit;
	cq->vcq.cq.handle = sctpiw_new_handle();
	return cq;
fail:
	free(cq);
	errno = err;
	return NULL;
}

void sctpiw_cq_release(struct sctpiw_cq *cq)
{
	channel_put(cq->obj.comp.chan);
	channel_put(cq->obj.async.chan);
	pthread_mutex_destroy(&cq->lock);
	faults_cq_forget(cq);
	free(cq);
}

struct ibv_cq *sctpiw_create_cq(struct ibv_context *context, int cqe,
				struct ibv_comp_channel *channel, int comp_vector)
{
	struct sctpiw_cq *cq =
		new_cq(to_ctx(context), cqe < 0 ? 0 : cqe, channel, comp_vector, NULL);

	return cq ? &cq->vcq.cq : NULL;
}

struct ibv_cq_ex *sctpiw_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	const uint32_t known = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;
	uint32_t flags = attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ? attr->flags : 0;
	struct sctpiw_pd *pd = NULL;
	struct sctpiw_cq *cq;

	if ((attr->comp_mask & ~known) || (attr->wc_flags & ~(uint64_t)WC_FLAGS) ||
	    (flags & ~(uint32_t)CQ_FLAGS)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD) {
		pd = attr->parent_domain ? to_pd(attr->parent_domain) : NULL;
		if (!pd || !pd->parent || pd->ibv.context != context) {
			errno = EINVAL;
			return NULL;
		}
	}
	cq = new_cq(to_ctx(context), attr->cqe, attr->channel,
		    attr->comp_vector > INT32_MAX ? -1 : (int)attr->comp_vector, pd);
	if (!cq)
		return NULL;
	/* No lock is needed, since no other thread has a pointer to this CQ yet. */
	if ((attr->wc_flags & STAMPS) && iw_cq_stamp(cq->iw)) {
		sctpiw_destroy_cq(&cq->vcq.cq);
		errno = ENOMEM;
		return NULL;
	}
	cq->iw->ignore_overrun = flags & IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
	cq->single_threaded = (flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED) || (pd && pd->td);
	sctpiw_cq_ex_init(&cq->vcq.cq_ex, attr->wc_flags);
	return &cq->vcq.cq_ex;
}

int sctpiw_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct sctpiw_cq *cq = to_cq(ibcq);
	uint32_t mask;
	int err;

	if (cq->generation != sctpiw_generation)
		return sctpiw_inherited();
	if (cqe < 1 || cqe > IW_MAX_CQE)
		return EINVAL;
	sctpiw_cq_lock(cq);
	object_lock_all(&cq->obj);
	mask = cq->iw->mask;
	err = iw_cq_resize(cq->iw, cqe);
	if (!err)
		faults_cq_resized(cq, mask);
	object_unlock_all(&cq->obj);
	if (!err)
		ibcq->cqe = cq->iw->limit;
	sctpiw_cq_unlock(cq);
	return -err;
}

#define NSEC_PER_USEC 1000u

int sctpiw_modify_cq(struct ibv_cq *ibcq, struct ibv_modify_cq_attr *attr)
{
	struct sctpiw_cq *cq = to_cq(ibcq);
	int err;

	if (cq->generation != sctpiw_generation)
		return sctpiw_inherited();
	if (!attr->attr_mask)
		return EINVAL;
	if (attr->attr_mask & ~(uint32_t)IBV_CQ_ATTR_MODERATE)
		return EOPNOTSUPP;
	object_lock_all(&cq->obj);
	err = iw_cq_moderate(cq->iw, attr->moderate.cq_count,
			     attr->moderate.cq_period * (uint64_t)NSEC_PER_USEC);
	object_unlock_all(&cq->obj);
	return -err;
}

static void wait_for_acks(struct sctpiw_cq *cq)
{
	struct ibv_cq *ibcq = &cq->vcq.cq;
	uint32_t comp = channel_purge(&cq->obj.comp);
	uint32_t async = channel_purge(&cq->obj.async);

	sctpiw_wait_for_acks(&ibcq->comp_events_completed, comp, &ibcq->mutex, &ibcq->cond);
	sctpiw_wait_for_acks(&ibcq->async_events_completed, async, &ibcq->mutex, &ibcq->cond);
}

int sctpiw_destroy_cq(struct ibv_cq *ibcq)
{
	struct sctpiw_cq *cq = to_cq(ibcq);
	int err;

	if (cq->generation == sctpiw_generation) {
		object_lock_all(&cq->obj);
		err = iw_cq_free(cq->iw);
		if (!err) {
			faults_cq_end(cq);
			list_del(&cq->node);
			if (cq->pd)
				sctpiw_pd_drop(cq->pd);
		}
		object_unlock_all(&cq->obj);
		if (err)
			return -err;
		wait_for_acks(cq);
	} else if (cq->pd) {
		sctpiw_pd_drop_inherited(cq->pd);
	}
	sctpiw_cq_release(cq);
	return 0;
}
