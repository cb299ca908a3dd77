/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory windows (man ibv_alloc_mw, ibv_bind_mw), which iwarp/mw.c implements. */
#ifndef SCTPIW_VERBS_MW_H
#define SCTPIW_VERBS_MW_H

#include "util/list.h"
#include "verbs/pabi.h"

struct iw_mw;
struct iw_send_wqe;

struct sctpiw_mw {
	struct ibv_mw ibv;
	struct iw_mw *iw;
	struct list_node node; /* node of sctpiw_context.mws; guarded by sctpiw_lock() */
};

static inline struct sctpiw_mw *to_mw(struct ibv_mw *mw)
{
	return list_entry(mw, struct sctpiw_mw, ibv);
}

/* Errors: EINVAL for an unknown type; ENOMEM. */
struct ibv_mw *sctpiw_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
int sctpiw_dealloc_mw(struct ibv_mw *mw);

/* Posts a bind of a window of type 1, with a new rkey. Errors: as sctpiw_post_send(). */
int sctpiw_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *mw_bind);

/*
 * Fills a send WQE for IBV_WR_BIND_MW. rkey: the window's new rkey. Errors: EINVAL; EOPNOTSUPP for
 * an MR that allows no windows (a null MR, or device memory). On failure, the caller must not
 * publish the WQE.
 */
int sctpiw_put_bind(struct iw_send_wqe *wqe, const struct ibv_mw *mw, uint32_t rkey,
		    const struct ibv_mw_bind_info *info);

#endif
