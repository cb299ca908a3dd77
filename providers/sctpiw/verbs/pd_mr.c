/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Protection domains and memory regions. */
#include "verbs/sctpiw.h"

#include <errno.h>
#include <stdlib.h>

_Static_assert((int)IW_ACCESS_LOCAL_WRITE == IBV_ACCESS_LOCAL_WRITE, "");
_Static_assert((int)IW_ACCESS_REMOTE_WRITE == IBV_ACCESS_REMOTE_WRITE, "");
_Static_assert((int)IW_ACCESS_REMOTE_READ == IBV_ACCESS_REMOTE_READ, "");
_Static_assert((int)IW_ACCESS_REMOTE_ATOMIC == IBV_ACCESS_REMOTE_ATOMIC, "");
_Static_assert((int)IW_ACCESS_ZERO_BASED == IBV_ACCESS_ZERO_BASED, "");

struct ibv_pd *sctpiw_alloc_pd(struct ibv_context *context)
{
	struct sctpiw_context *ctx = to_ctx(context);
	struct sctpiw_pd *pd;

	if (!sctpiw_alive(ctx)) {
		errno = EIO;
		return NULL;
	}
	pd = calloc(1, sizeof(*pd));
	if (!pd) {
		errno = ENOMEM;
		return NULL;
	}
	engine_lock(ctx->engine);
	pd->iw = iw_pd_new(engine_rnic(ctx->engine), pd);
	if (pd->iw)
		list_add_tail(&ctx->pds, &pd->node);
	engine_unlock(ctx->engine);
	if (!pd->iw) {
		free(pd);
		errno = ENOMEM;
		return NULL;
	}
	pd->ibv.context = context;
	pd->ibv.handle = sctpiw_new_handle();
	return &pd->ibv;
}

int sctpiw_dealloc_pd(struct ibv_pd *ibpd)
{
	struct sctpiw_context *ctx = to_ctx(ibpd->context);
	struct sctpiw_pd *pd = to_pd(ibpd);
	int err;

	if (sctpiw_alive(ctx)) {
		engine_lock(ctx->engine);
		err = sctpiw_release_pd(pd);
		engine_unlock(ctx->engine);
		if (err)
			return -err;
	}
	free(pd);
	return 0;
}

/*
 * What the kernel's iWARP drivers take: unknown flags are EINVAL, paging on demand is not
 * supported, and flags of the optional range are wishes. Huge pages make no difference to us, and
 * binding windows is refused when it is tried.
 */
static int check_access(int access)
{
	const int known = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND |
			  IBV_ACCESS_ZERO_BASED | IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB |
			  IBV_ACCESS_OPTIONAL_RANGE;

	if (access & ~known)
		return EINVAL;
	if ((access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)) &&
	    !(access & IBV_ACCESS_LOCAL_WRITE))
		return EINVAL;
	if (access & IBV_ACCESS_ON_DEMAND)
		return EOPNOTSUPP;
	return 0;
}

static int new_mr(struct sctpiw_context *ctx, struct sctpiw_pd *pd, struct sctpiw_mr *mr,
		  uint64_t addr, uint64_t length, uint64_t hca_va, int access)
{
	const uint32_t rights = IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_WRITE |
				IW_ACCESS_REMOTE_READ | IW_ACCESS_REMOTE_ATOMIC |
				IW_ACCESS_ZERO_BASED;
	int err;

	err = engine_memory_guard();
	if (err)
		return -err;
	err = engine_memory_check(addr, length, access & IBV_ACCESS_LOCAL_WRITE);
	if (err)
		return -err;

	engine_lock(ctx->engine);
	err = iw_mr_new(pd->iw, addr, length, access & IBV_ACCESS_ZERO_BASED ? 0 : hca_va,
			access & rights, mr, &mr->iw);
	if (!err) {
		sctpiw_pd_hold(pd);
		mr->pd = pd;
		mr->vmr.ibv_mr.lkey = mr->vmr.ibv_mr.rkey = iw_mr_stag(mr->iw);
		list_add_tail(&ctx->mrs, &mr->node);
	}
	engine_unlock(ctx->engine);
	return -err;
}

struct ibv_mr *sctpiw_reg_mr(struct ibv_pd *ibpd, void *addr, size_t length, uint64_t hca_va,
			     int access)
{
	struct sctpiw_context *ctx = to_ctx(ibpd->context);
	struct sctpiw_mr *mr = NULL;
	int err;

	err = sctpiw_alive(ctx) ? check_access(access) : EIO;
	if (err)
		goto fail;
	err = EINVAL;
	if (!length || (uintptr_t)addr + length < (uintptr_t)addr)
		goto fail;
	err = ENOMEM;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		goto fail;
	err = new_mr(ctx, to_pd(ibpd), mr, (uintptr_t)addr, length, hca_va, access);
	if (err)
		goto fail;
	mr->vmr.access = access;
	mr->vmr.ibv_mr.handle = sctpiw_new_handle();
	return &mr->vmr.ibv_mr;
fail:
	free(mr);
	errno = err;
	return NULL;
}

int sctpiw_dereg_mr(struct verbs_mr *vmr)
{
	struct sctpiw_mr *mr = list_entry(vmr, struct sctpiw_mr, vmr);
	struct sctpiw_context *ctx = to_ctx(vmr->ibv_mr.context);
	int err;

	if (sctpiw_alive(ctx)) {
		engine_lock(ctx->engine);
		err = iw_mr_free(mr->iw);
		if (!err) {
			sctpiw_pd_drop(mr->pd);
			list_del(&mr->node);
		}
		engine_unlock(ctx->engine);
		if (err)
			return -err;
	}
	free(mr);
	return 0;
}
