/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory windows: binding and unbinding. Needs the shard's lock. */
#ifndef SCTPIW_IWARP_MW_H
#define SCTPIW_IWARP_MW_H

#include "iwarp/mr.h"
#include "util/list.h"

struct iw_send_wqe;

struct iw_mw {
	struct iw_mr key;      /* what its STag stands for; invalid if the window is not bound */
	struct iw_mr *region;  /* NULL: not bound */
	struct list_node node; /* iw_qp_base.windows, if it is of type 2 and bound */
};

/*
 * Executes a BIND_MW. -EINVAL: it names no window of the PD; or no part of an MR of the PD that may
 * be opened like that; or the key that the window has already; or a type 2 window that is bound, or
 * is to be bound to nothing.
 */
int iw_mw_bind(struct iw_qp *qp, const struct iw_send_wqe *wqe);
/* Bound or not. */
void iw_mw_unbind(struct iw_mw *mw);
/* Unbinds the type 2 windows of the QP, since its session has ended. */
void iw_mw_unbind_all(struct iw_qp *qp);

#endif
