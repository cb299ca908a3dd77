/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "verbs/mw.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "iwarp/iw_mr.h"
#include "log/log.h"
#include "verbs/context.h"
#include "verbs/domain.h"
#include "verbs/mr.h"
#include "verbs/post.h"

_Static_assert((int)IW_MW_TYPE_1 == IBV_MW_TYPE_1, "");
_Static_assert((int)IW_MW_TYPE_2 == IBV_MW_TYPE_2, "");

struct ibv_mw *sctpiw_alloc_mw(struct ibv_pd *ibpd, enum ibv_mw_type type)
{
	struct sctpiw_context *ctx = to_ctx(ibpd->context);
	struct sctpiw_mw *mw;
	int err;

	mw = calloc(1, sizeof(*mw));
	if (!mw) {
		errno = ENOMEM;
		return NULL;
	}
	sctpiw_lock(ctx);
	err = iw_mw_new(to_pd(ibpd)->iw, (enum iw_mw_type)type, &mw->iw);
	if (!err) {
		sctpiw_pd_hold(to_pd(ibpd));
		list_add_tail(&ctx->mws, &mw->node);
	}
	sctpiw_unlock(ctx);
	if (err) {
		free(mw);
		errno = -err;
		return NULL;
	}
	mw->ibv.context = ibpd->context;
	mw->ibv.pd = ibpd;
	mw->ibv.type = type;
	mw->ibv.rkey = iw_mw_stag(mw->iw);
	mw->ibv.handle = sctpiw_new_handle();
	return &mw->ibv;
}

int sctpiw_dealloc_mw(struct ibv_mw *ibmw)
{
	struct sctpiw_context *ctx = to_ctx(ibmw->context);
	struct sctpiw_mw *mw = to_mw(ibmw);

	sctpiw_lock(ctx);
	iw_mw_free(mw->iw);
	sctpiw_pd_drop(to_pd(ibmw->pd));
	list_del(&mw->node);
	sctpiw_unlock(ctx);
	free(mw);
	return 0;
}

/*
 * Checks only conditions that cannot change before the bind is executed. The RNIC checks the others
 * when it executes the bind.
 */
static int check_bind(const struct ibv_mw *mw, const struct ibv_mw_bind_info *info)
{
	const struct ibv_mr *mr = info->mr;

	if (!mw || (info->mw_access_flags & ~(unsigned int)SCTPIW_KNOWN_ACCESS))
		return EINVAL;
	/* Only windows of type 2 may be zero-based, as in the kernel's drivers. */
	if (mw->type != IBV_MW_TYPE_2 && (info->mw_access_flags & IBV_ACCESS_ZERO_BASED))
		return EINVAL;
	if (!mr && (info->addr || info->length))
		return EINVAL;
	if (mr && list_entry(mr, struct verbs_mr, ibv_mr)->mr_type != VERBS_MR_ORDINARY)
		return EOPNOTSUPP;
	return 0;
}

int sctpiw_put_bind(struct iw_send_wqe *wqe, const struct ibv_mw *mw, uint32_t rkey,
		    const struct ibv_mw_bind_info *info)
{
	const struct ibv_mr *mr = info->mr;
	int err = check_bind(mw, info);

	if (err) {
		log_debug("bind of window 0x%x: address 0x%llx, length %llu, access 0x%x: %s",
			  mw ? mw->rkey : 0, (unsigned long long)info->addr,
			  (unsigned long long)info->length, info->mw_access_flags, strerror(err));
		return err;
	}
	wqe->inv_stag = mw->rkey;
	wqe->rkey = rkey;
	wqe->remote_to = info->addr;
	wqe->bind.length = info->length;
	wqe->bind.lkey = mr ? mr->lkey : 0;
	wqe->bind.access = info->mw_access_flags;
	return 0;
}

int sctpiw_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *mw_bind)
{
	struct ibv_send_wr wr = {
		.wr_id = mw_bind->wr_id,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = mw_bind->send_flags,
		.bind_mw = {
			.mw = mw,
			.rkey = ibv_inc_rkey(mw->rkey),
			.bind_info = mw_bind->bind_info,
		},
	};
	struct ibv_send_wr *bad;
	int err;

	err = sctpiw_post_send(qp, &wr, &bad);
	if (err)
		errno = err;
	else
		mw->rkey = wr.bind_mw.rkey;
	return err;
}
