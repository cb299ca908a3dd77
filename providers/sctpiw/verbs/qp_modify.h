/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Changes of the state and the attributes of a QP (man ibv_modify_qp). */
#ifndef SCTPIW_VERBS_QP_MODIFY_H
#define SCTPIW_VERBS_QP_MODIFY_H

#include <stdbool.h>

#include "verbs/pabi.h"

struct sctpiw_qp;
struct shard;

/*
 * Changes all attributes that attr_mask (IBV_QP_*) names, or none of them. If the attributes
 * include the peer's address and number (IBV_QP_AV, IBV_QP_DEST_QPN), connects the QP out of band.
 * Errors: as sctpiw_check_qp_attr(); EIO; or the errors of oob_connect() and iw_qp_modify().
 */
int sctpiw_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);

/*
 * True if QPs can have second paths (IBV_DEVICE_AUTO_PATH_MIG). They cannot with the personality
 * iwarp, or with the kernel's SCTP.
 */
bool sctpiw_has_second_paths(const struct shard *s);
/* Updates the QP's attributes if the QP has moved to its second path. Needs the shard lock. */
void sctpiw_settle_paths(struct sctpiw_qp *qp);

#endif
