/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory windows: binding and unbinding. Needs the shard's lock. */
#ifndef SCTPIW_IWARP_MW_H
#define SCTPIW_IWARP_MW_H

#include "iwarp/mr.h"
#include "util/list.h"

struct iw_send_wqe;

struct iw_mw {
	struct iw_mr key;      /* memory of the window's STag; invalid if not bound */
	struct iw_mr *region;  /* NULL: not bound */
	struct list_node node; /* iw_qp_base.windows, if type 2 and bound */
};

/*
 * Executes a BIND_MW. Returns -EINVAL if the WR names no window of the PD, no part of an MR of the
 * PD that permits the bind, or the window's current key. Returns -EINVAL for a type 2 window, too,
 * if it is bound or would get length 0.
 */
int iw_mw_bind(struct iw_qp *qp, const struct iw_send_wqe *wqe);
/* Unbinds a window, bound or not. */
void iw_mw_unbind(struct iw_mw *mw);
/* Unbinds the QP's type 2 windows when its session ends. */
void iw_mw_unbind_all(struct iw_qp *qp);

#endif
