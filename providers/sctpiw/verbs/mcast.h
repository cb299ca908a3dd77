/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Queue pairs in multicast groups (man ibv_attach_mcast). The MGID is the group's address. The MLID
 * is ignored.
 */
#ifndef SCTPIW_VERBS_MCAST_H
#define SCTPIW_VERBS_MCAST_H

#include "verbs/pabi.h"

/*
 * Attaches a UD QP, unless it is attached already. EINVAL for another QP, or a GID of no group;
 * ENOMEM at a limit of ibv_query_device(); EOPNOTSUPP if the carrier has no multicast; EIO, or the
 * error of multicast_attach().
 */
int sctpiw_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);
/* EINVAL if the QP is not attached; EIO. */
int sctpiw_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);

#endif
