/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The extended posting interface (man ibv_wr_post). */
#ifndef SCTPIW_VERBS_WR_H
#define SCTPIW_VERBS_WR_H

#include "verbs/pabi.h"
#include <stdint.h>

struct sctpiw_qp;

/*
 * Sets the functions of ibv_wr_* of qp, with the operations of flags (IBV_QP_EX_WITH_*). EOPNOTSUPP
 * if one of them is unsupported, or the mark of this libibverbs is unknown (pabi.h).
 */
int sctpiw_set_send_ops(struct sctpiw_qp *qp, enum ibv_qp_type type, uint64_t flags);

/* ibv_wr_complete() of a QP without faults. */
int sctpiw_wr_complete(struct ibv_qp_ex *qp);

#endif
