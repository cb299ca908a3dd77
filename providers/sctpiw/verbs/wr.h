/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The extended posting interface (man ibv_wr_post). */
#ifndef SCTPIW_VERBS_WR_H
#define SCTPIW_VERBS_WR_H

#include "verbs/pabi.h"
#include <stdint.h>

struct sctpiw_qp;

/*
 * Gives qp the functions of ibv_wr_*, with the operations of flags (IBV_QP_EX_WITH_*). EOPNOTSUPP
 * if one of them is not offered, or if this libibverbs is not known well enough.
 */
int sctpiw_set_send_ops(struct sctpiw_qp *qp, enum ibv_qp_type type, uint64_t flags);

/* What ibv_wr_complete() calls in a QP without faults. */
int sctpiw_wr_complete(struct ibv_qp_ex *qp);

#endif
