/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Changing the state and the attributes of a QP (man ibv_modify_qp). */
#ifndef SCTPIW_VERBS_QP_MODIFY_H
#define SCTPIW_VERBS_QP_MODIFY_H

#include "verbs/pabi.h"

/*
 * Changes what attr_mask (IBV_QP_*) names; all of it, or nothing. A QP that gets the peer's address
 * and number (IBV_QP_AV, IBV_QP_DEST_QPN) is connected out of band. Errors as
 * sctpiw_check_qp_attr(), EIO, or what oob_connect() and iw_qp_modify() say.
 */
int sctpiw_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);

#endif
