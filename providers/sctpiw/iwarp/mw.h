/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory windows: binding and unbinding. Needs the shard's lock. */
#ifndef SCTPIW_IWARP_MW_H
#define SCTPIW_IWARP_MW_H

#include "iwarp/mr.h"
#include "util/list.h"

struct iw_send_wqe;

struct iw_mw {
	struct iw_mr key;      /* the window's STag and memory; invalid if not bound */
	struct iw_mr *region;  /* region that contains the memory; NULL: the window is not bound */
	struct list_node node; /* iw_qp_base.windows; linked if the window is type 2 and bound */
};

/*
 * Executes a BIND_MW. Returns 0, or -EINVAL if the WR does not name a window of the PD and a range
 * in an MR of the PD that permits the bind. Also returns -EINVAL if the new key equals the window's
 * current key, or if a type 2 window is already bound or would get length 0.
 */
int iw_mw_bind(struct iw_qp *qp, const struct iw_send_wqe *wqe);
/* Unbinds the window. No effect if the window is not bound. */
void iw_mw_unbind(struct iw_mw *mw);
/* Unbinds the QP's type 2 windows when its session ends. */
void iw_mw_unbind_all(struct iw_qp *qp);

#endif
