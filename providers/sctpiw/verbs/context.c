/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "verbs/context.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "iwarp/iw_cq.h"
#include "iwarp/iw_mr.h"
#include "iwarp/iw_srq.h"
#include "log/log.h"
#include "verbs/ah.h"
#include "verbs/cq.h"
#include "verbs/dm.h"
#include "verbs/domain.h"
#include "verbs/faults_cq.h"
#include "verbs/faults_verbs.h"
#include "verbs/mcast.h"
#include "verbs/mr.h"
#include "verbs/mw.h"
#include "verbs/poll.h"
#include "verbs/post.h"
#include "verbs/qp.h"
#include "verbs/qp_modify.h"
#include "verbs/query.h"
#include "verbs/srq.h"
#include "verbs/xrc.h"

uint32_t sctpiw_generation;

/* In a child of the process that opened the device: guards the objects that are memory alone. */
static pthread_mutex_t orphans_lock = PTHREAD_MUTEX_INITIALIZER;

static void before_fork(void)
{
	pthread_mutex_lock(&orphans_lock);
}

static void after_fork_parent(void)
{
	pthread_mutex_unlock(&orphans_lock);
}

static void after_fork_child(void)
{
	sctpiw_generation++;
	faults_verbs_forget();
	pthread_mutex_unlock(&orphans_lock);
}

void sctpiw_handle_forks(void)
{
	pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

void sctpiw_lock(struct sctpiw_context *ctx)
{
	if (sctpiw_alive(ctx))
		rnic_lock(ctx->shard->rnic);
	else
		pthread_mutex_lock(&orphans_lock);
}

void sctpiw_unlock(struct sctpiw_context *ctx)
{
	if (sctpiw_alive(ctx))
		rnic_unlock(ctx->shard->rnic);
	else
		pthread_mutex_unlock(&orphans_lock);
}

int sctpiw_inherited(void)
{
	/* the generation in which this was last logged; generation 0 inherits nothing */
	static _Atomic uint32_t said_in;

	if (atomic_exchange_explicit(&said_in, sctpiw_generation, memory_order_relaxed) !=
	    sctpiw_generation)
		log_error(
			"this process is the child of one that has opened the device: its queue "
			"pairs, completion queues and shared receive queues stay with the parent. "
			"Open the device anew");
	return EIO;
}

uint32_t sctpiw_new_handle(void)
{
	static _Atomic uint32_t last;

	return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

void sctpiw_lock_init(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

void sctpiw_wait_for_acks(const uint32_t *completed, uint32_t reported, pthread_mutex_t *mutex,
			  pthread_cond_t *cond)
{
	pthread_mutex_lock(mutex);
	while (*completed != reported)
		pthread_cond_wait(cond, mutex);
	pthread_mutex_unlock(mutex);
}

struct rnic_channel *sctpiw_async_channel(struct sctpiw_context *ctx)
{
	channel_ref(ctx->port.source.chan);
	return ctx->port.source.chan;
}

void sctpiw_complain_about_abi(void)
{
	log_error("unknown private ABI of libibverbs, so there is no sctpiw device; "
		  "rdma-core v36 to v65 are known");
}

/*
 * Destroys the objects that the application has not destroyed before it closes the device. The
 * kernel does the same when the descriptor is closed. This function ends QPs, CQs and SRQs, QPs
 * first, since they use the other objects; destroy_memory() ends the other objects. Puts QPs, CQs
 * and SRQs on the three lists. free_context() removes their events and frees them, after it has
 * released the lock. Needs the shard lock.
 */
static void destroy_queues(struct sctpiw_context *ctx, struct list_node *qps, struct list_node *cqs,
			   struct list_node *srqs)
{
	struct list_node *node;

	while (!list_empty(&ctx->qps)) {
		struct sctpiw_qp *qp = list_entry(ctx->qps.next, struct sctpiw_qp, node);

		list_del(&qp->node);
		if (sctpiw_qp_end(qp))
			list_add(qps, &qp->node);
	}
	while ((node = list_pop(&ctx->srqs))) {
		sctpiw_srq_free_iw(list_entry(node, struct sctpiw_srq, node));
		list_add(srqs, node);
	}
	while ((node = list_pop(&ctx->xrcds)))
		sctpiw_xrcd_release(list_entry(node, struct sctpiw_xrcd, node));
	while ((node = list_pop(&ctx->cqs))) {
		struct sctpiw_cq *cq = list_entry(node, struct sctpiw_cq, node);

		iw_cq_free(cq->iw);
		faults_cq_end(cq);
		list_add(cqs, node);
	}
}

/* Destroys objects that are memory alone, windows before their MRs. Needs sctpiw_lock(). */
static void destroy_memory(struct sctpiw_context *ctx)
{
	struct list_node *node;

	while ((node = list_pop(&ctx->mws))) {
		struct sctpiw_mw *mw = list_entry(node, struct sctpiw_mw, node);

		iw_mw_free(mw->iw);
		free(mw);
	}
	while ((node = list_pop(&ctx->mrs))) {
		struct sctpiw_mr *mr = list_entry(node, struct sctpiw_mr, node);

		iw_mr_free(mr->iw);
		sctpiw_forget_mr(mr);
	}
	while ((node = list_pop(&ctx->dms)))
		sctpiw_dm_release(list_entry(node, struct sctpiw_dm, node));
	while ((node = list_pop(&ctx->pds))) {
		struct sctpiw_pd *pd = list_entry(node, struct sctpiw_pd, node);

		if (!pd->parent)
			iw_pd_free(pd->iw);
		free(pd);
	}
	while ((node = list_pop(&ctx->tds)))
		free(list_entry(node, struct sctpiw_td, node));
}

/*
 * Sets async_fd. Otherwise, libibverbs would request a descriptor of asynchronous events from the
 * kernel by ioctl(), which fails here.
 */
static int open_async_channel(struct sctpiw_context *ctx)
{
	struct rnic_channel *chan;
	int fd, err;

	err = channel_create(CHANNEL_ASYNC, &chan, &fd);
	if (err)
		return err;
	channel_ref(chan);
	ctx->port.source.chan = chan;
	err = port_events_start(ctx->shard, &ctx->port);
	if (err) {
		channel_put(chan);
		close(fd);
		return err;
	}
	ctx->vctx.context.async_fd = fd;
	return 0;
}

/* Releases the channel, but leaves its descriptor open, since libibverbs closes it. */
static void close_async_channel(struct sctpiw_context *ctx)
{
	if (sctpiw_alive(ctx))
		port_events_stop(&ctx->port);
	channel_purge(&ctx->port.source);
	channel_put(ctx->port.source.chan);
}

static void free_context(struct ibv_context *context)
{
	struct sctpiw_context *ctx = to_ctx(context);
	struct list_node qps, cqs, srqs, *node;

	list_init(&qps);
	list_init(&cqs);
	list_init(&srqs);
	faults_verbs_close(ctx);
	close_async_channel(ctx);
	sctpiw_lock(ctx);
	if (sctpiw_alive(ctx))
		destroy_queues(ctx, &qps, &cqs, &srqs);
	destroy_memory(ctx);
	sctpiw_unlock(ctx);
	while ((node = list_pop(&qps))) {
		struct sctpiw_qp *qp = list_entry(node, struct sctpiw_qp, node);

		channel_purge(&qp->obj.async);
		sctpiw_qp_release(qp);
	}
	while ((node = list_pop(&cqs))) {
		struct sctpiw_cq *cq = list_entry(node, struct sctpiw_cq, node);

		channel_purge(&cq->obj.comp);
		channel_purge(&cq->obj.async);
		sctpiw_cq_release(cq);
	}
	while ((node = list_pop(&srqs))) {
		struct sctpiw_srq *srq = list_entry(node, struct sctpiw_srq, node);

		channel_purge(&srq->obj.async);
		sctpiw_srq_release(srq);
	}
	pabi_uninit_context(&ctx->vctx);
	free(ctx);
}

/*
 * With other providers, these verbs are system calls. They not only return an errno, but also set
 * errno, which programs print by perror(). This macro adds this to a verb of sctpiw.
 */
#define SETS_ERRNO(name, params, args)                                                             \
	static int name params                                                                     \
	{                                                                                          \
		int err = sctpiw_##name args;                                                      \
                                                                                                   \
		if (err > 0)                                                                       \
			errno = err;                                                               \
		return err;                                                                        \
	}

SETS_ERRNO(advise_mr,
	   (struct ibv_pd * pd, enum ibv_advise_mr_advice advice, uint32_t flags,
	    struct ibv_sge *list, uint32_t n),
	   (pd, advice, flags, list, n))
SETS_ERRNO(attach_mcast, (struct ibv_qp * qp, const union ibv_gid *gid, uint16_t lid),
	   (qp, gid, lid))
SETS_ERRNO(detach_mcast, (struct ibv_qp * qp, const union ibv_gid *gid, uint16_t lid),
	   (qp, gid, lid))
SETS_ERRNO(bind_mw, (struct ibv_qp * qp, struct ibv_mw *mw, struct ibv_mw_bind *bind),
	   (qp, mw, bind))
SETS_ERRNO(close_xrcd, (struct ibv_xrcd * xrcd), (xrcd))
SETS_ERRNO(dealloc_mw, (struct ibv_mw * mw), (mw))
SETS_ERRNO(dealloc_pd, (struct ibv_pd * pd), (pd))
SETS_ERRNO(dealloc_td, (struct ibv_td * td), (td))
SETS_ERRNO(dereg_mr, (struct verbs_mr * mr), (mr))
SETS_ERRNO(destroy_ah, (struct ibv_ah * ah), (ah))
SETS_ERRNO(destroy_cq, (struct ibv_cq * cq), (cq))
SETS_ERRNO(destroy_qp, (struct ibv_qp * qp), (qp))
SETS_ERRNO(destroy_srq, (struct ibv_srq * srq), (srq))
SETS_ERRNO(free_dm, (struct ibv_dm * dm), (dm))
SETS_ERRNO(modify_cq, (struct ibv_cq * cq, struct ibv_modify_cq_attr *attr), (cq, attr))
SETS_ERRNO(modify_qp, (struct ibv_qp * qp, struct ibv_qp_attr *attr, int mask), (qp, attr, mask))
SETS_ERRNO(modify_srq, (struct ibv_srq * srq, struct ibv_srq_attr *attr, int mask),
	   (srq, attr, mask))
SETS_ERRNO(query_port, (struct ibv_context * context, uint8_t port, struct ibv_port_attr *attr),
	   (context, port, attr))
SETS_ERRNO(query_qp,
	   (struct ibv_qp * qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init),
	   (qp, attr, mask, init))
SETS_ERRNO(query_srq, (struct ibv_srq * srq, struct ibv_srq_attr *attr), (srq, attr))
SETS_ERRNO(rereg_mr,
	   (struct verbs_mr * mr, int flags, struct ibv_pd *pd, void *addr, size_t len, int access),
	   (mr, flags, pd, addr, len, access))
SETS_ERRNO(resize_cq, (struct ibv_cq * cq, int cqe), (cq, cqe))

static const struct verbs_context_ops context_ops = {
	.advise_mr = advise_mr,
	.alloc_dm = sctpiw_alloc_dm,
	.alloc_mw = sctpiw_alloc_mw,
	.alloc_null_mr = sctpiw_alloc_null_mr,
	.alloc_parent_domain = sctpiw_alloc_parent_domain,
	.alloc_pd = sctpiw_alloc_pd,
	.alloc_td = sctpiw_alloc_td,
	.attach_mcast = attach_mcast,
	.bind_mw = bind_mw,
	.close_xrcd = close_xrcd,
	.create_ah = sctpiw_create_ah,
	.create_cq = sctpiw_create_cq,
	.create_cq_ex = sctpiw_create_cq_ex,
	.create_qp = sctpiw_create_qp,
	.create_qp_ex = sctpiw_create_qp_ex,
	.create_srq = sctpiw_create_srq,
	.create_srq_ex = sctpiw_create_srq_ex,
	.dealloc_mw = dealloc_mw,
	.dealloc_pd = dealloc_pd,
	.dealloc_td = dealloc_td,
	.dereg_mr = dereg_mr,
	.destroy_ah = destroy_ah,
	.detach_mcast = detach_mcast,
	.destroy_cq = destroy_cq,
	.destroy_qp = destroy_qp,
	.destroy_srq = destroy_srq,
	.free_context = free_context,
	.free_dm = free_dm,
	.get_srq_num = sctpiw_get_srq_num,
	.modify_cq = modify_cq,
	.modify_qp = modify_qp,
	.modify_srq = modify_srq,
	.open_qp = sctpiw_open_qp,
	.open_xrcd = sctpiw_open_xrcd,
	.poll_cq = sctpiw_poll_cq,
	.post_recv = sctpiw_post_recv,
	.post_send = sctpiw_post_send,
	.post_srq_recv = sctpiw_post_srq_recv,
	.query_device_ex = sctpiw_query_device_ex,
	.query_ece = sctpiw_query_ece,
	.query_port = query_port,
	.query_qp = query_qp,
	.query_qp_data_in_order = sctpiw_query_qp_data_in_order,
	.query_rt_values = sctpiw_query_rt_values,
	.query_srq = query_srq,
	.reg_dm_mr = sctpiw_reg_dm_mr,
	.reg_mr = sctpiw_reg_mr,
	.req_notify_cq = sctpiw_req_notify_cq,
	.rereg_mr = rereg_mr,
	.resize_cq = resize_cq,
	.set_ece = sctpiw_set_ece,
};

struct verbs_context *sctpiw_alloc_context(struct ibv_device *device, int cmd_fd,
					   void *private_data)
{
	struct rnic *rnic = rnic_get();
	struct sctpiw_context *ctx;
	int err, saved = errno;

	if (!rnic) {
		err = errno;
		close(cmd_fd);
		errno = err;
		return NULL;
	}
	ctx = pabi_alloc_context(device, cmd_fd, sizeof(*ctx));
	if (!ctx)
		return NULL;
	ctx->shard = &rnic->shard;
	ctx->generation = sctpiw_generation;
	ctx->node_guid = port_node_guid();
	list_init(&ctx->pds);
	list_init(&ctx->tds);
	list_init(&ctx->mrs);
	list_init(&ctx->mws);
	list_init(&ctx->dms);
	list_init(&ctx->cqs);
	list_init(&ctx->srqs);
	list_init(&ctx->qps);
	list_init(&ctx->xrcds);
	ctx->vctx.context.num_comp_vectors = rnic_processors();

	err = faults_verbs_open(ctx, &context_ops);
	if (err == EPROTONOSUPPORT)
		sctpiw_complain_about_abi();
	if (err)
		goto fail;
	err = -open_async_channel(ctx);
	if (err) {
		faults_verbs_close(ctx);
		goto fail;
	}
	/*
	 * While it opened the device, libibverbs made requests that failed and set errno. The
	 * program should not see these errors.
	 */
	errno = saved;
	return pabi_full_context(&ctx->vctx);
fail:
	pabi_uninit_context(&ctx->vctx);
	free(ctx);
	errno = err;
	return NULL;
}
