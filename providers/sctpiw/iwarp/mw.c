/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory windows: STags that work requests bind to a part of a region. */
#include "iwarp/mw.h"

#include <errno.h>
#include <stdlib.h>

#include "iwarp/qp.h"
#include "iwarp/zcopy.h"

int iw_mw_new(struct iw_pd *pd, enum iw_mw_type type, struct iw_mw **out)
{
	struct iw_rnic *rnic = pd->rnic;
	struct iw_mw *mw;
	int err;

	if (type != IW_MW_TYPE_1 && type != IW_MW_TYPE_2)
		return -EINVAL;
	if (rnic->mws >= IW_MAX_MW)
		return -ENOMEM;
	mw = calloc(1, sizeof(*mw));
	if (!mw)
		return -ENOMEM;
	list_init(&mw->node);
	mw->key.kind = type == IW_MW_TYPE_1 ? IW_MR_WINDOW_1 : IW_MR_WINDOW_2;
	mw->key.pd = pd;
	iw_mr_set_invalid(&mw->key, true);
	err = iw_mr_enter(rnic, &mw->key);
	if (err) {
		free(mw);
		return err;
	}
	list_add_tail(&rnic->all_mrs, &mw->key.all);
	rnic->mws++;
	pd->refs++;
	*out = mw;
	return 0;
}

uint32_t iw_mw_stag(const struct iw_mw *mw)
{
	return mw->key.stag;
}

/*
 * Copies the memory that Read Responses reference through the window. For a type 2 window, only
 * responses of the window's own QP can reference memory. For a type 1 window, the caller holds the
 * locks of all shards.
 */
static void copy_out(const struct iw_mr *key)
{
	if (key->kind == IW_MR_WINDOW_2)
		iw_zcopy_copy_out(((const struct iw_qp *)key->scope)->shard);
	else
		iw_zcopy_copy_out_all(key->pd->rnic);
}

void iw_mw_unbind(struct iw_mw *mw)
{
	if (mw->region) {
		if (mw->key.access & IW_ACCESS_REMOTE_READ)
			copy_out(&mw->key);
		atomic_fetch_sub_explicit(&mw->region->windows, 1, memory_order_relaxed);
	}
	mw->region = NULL;
	iw_mr_set_invalid(&mw->key, true);
	list_del(&mw->node);
}

void iw_mw_unbind_all(struct iw_qp *qp)
{
	struct list_node *windows = &iw_qp_base(qp)->windows;

	while (!list_empty(windows))
		iw_mw_unbind(list_entry(windows->next, struct iw_mw, node));
}

void iw_mw_free(struct iw_mw *mw)
{
	struct iw_rnic *rnic = mw->key.pd->rnic;

	iw_mw_unbind(mw);
	iw_table_remove(&rnic->mrs, mw->key.stag >> 8);
	list_del(&mw->key.all);
	rnic->mws--;
	mw->key.pd->refs--;
	free(mw);
}

static struct iw_mw *find_window(const struct iw_qp *qp, uint32_t stag)
{
	struct iw_mr *mr = iw_table_find(&qp->shard->rnic->mrs, stag >> 8);

	if (!mr || mr->pd != qp->pd || (mr->kind != IW_MR_WINDOW_1 && mr->kind != IW_MR_WINDOW_2))
		return NULL;
	return list_entry(mr, struct iw_mw, key);
}

/* Returns the region named by the WR, or NULL if the WR may not bind a window to it. */
static struct iw_mr *find_region(const struct iw_qp *qp, const struct iw_send_wqe *wqe)
{
	struct iw_mr *mr = iw_mr_find(qp->shard->rnic, wqe->bind.lkey);

	if (!mr || mr->pd != qp->pd)
		return NULL;
	/*
	 * Windows and null MRs lack the right IW_ACCESS_MW_BIND. A BIND_MW names a memory address,
	 * but a zero-based region is not addressed by memory addresses.
	 */
	if (!(mr->access & IW_ACCESS_MW_BIND) || (mr->access & IW_ACCESS_ZERO_BASED))
		return NULL;
	if ((wqe->bind.access & IW_ACCESS_REMOTE_CHANGE) && !(mr->access & IW_ACCESS_LOCAL_WRITE))
		return NULL;
	return iw_mr_covers(mr, wqe->remote_to, wqe->bind.length) ? mr : NULL;
}

int iw_mw_bind(struct iw_qp *qp, const struct iw_send_wqe *wqe)
{
	struct iw_mw *mw = find_window(qp, wqe->inv_stag);
	struct iw_mr *region = NULL;
	struct iw_mr *key;
	bool one_stream;

	if (!mw)
		return -EINVAL;
	key = &mw->key;
	one_stream = key->kind == IW_MR_WINDOW_2;
	/*
	 * The key must change: peers may still have the previous STag, which must become invalid.
	 */
	if (wqe->rkey >> 8 != key->stag >> 8 || wqe->rkey == key->stag)
		return -EINVAL;
	if (one_stream && (mw->region || !wqe->bind.length))
		return -EINVAL;
	if (wqe->bind.length) {
		region = find_region(qp, wqe);
		if (!region)
			return -EINVAL;
	}
	iw_mw_unbind(mw);
	key->stag = wqe->rkey;
	if (!region)
		return 0;
	key->access = wqe->bind.access & IW_ACCESS_REMOTE;
	key->scope = one_stream ? (const void *)qp : qp->pd;
	key->iova = wqe->bind.access & IW_ACCESS_ZERO_BASED ? 0 : wqe->remote_to;
	key->length = wqe->bind.length;
	key->plain = region->plain ? key->length : 0;
	key->addr = iw_mr_at(region, wqe->remote_to);
	iw_mr_set_invalid(key, false);
	mw->region = region;
	atomic_fetch_add_explicit(&region->windows, 1, memory_order_relaxed);
	if (one_stream)
		list_add_tail(&iw_qp_base(qp)->windows, &mw->node);
	return 0;
}
