/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The extended posting interface (man ibv_wr_post). */
#ifndef SCTPIW_VERBS_WR_H
#define SCTPIW_VERBS_WR_H

#include "verbs/pabi.h"
#include <stdint.h>

struct sctpiw_qp;

/*
 * Sets those functions of ibv_wr_* in qp that flags (IBV_QP_EX_WITH_*) request. Errors: EOPNOTSUPP
 * if an operation is not supported, or if the offset of the mark in this libibverbs is unknown
 * (pabi.h).
 */
int sctpiw_set_send_ops(struct sctpiw_qp *qp, enum ibv_qp_type type, uint64_t flags);

/* ibv_wr_complete() of a QP that has no faults. */
int sctpiw_wr_complete(struct ibv_qp_ex *qp);

#endif
