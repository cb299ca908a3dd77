/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Attaches queue pairs to multicast groups (man ibv_attach_mcast). The MGID is the address of the
 * group. The MLID is ignored.
 */
#ifndef SCTPIW_VERBS_MCAST_H
#define SCTPIW_VERBS_MCAST_H

#include "verbs/pabi.h"

/*
 * Attaches a UD QP to a group, unless it is attached already. Errors: EINVAL for a QP of another
 * type, or a GID that is not a group's address; ENOMEM at a limit of ibv_query_device(); EOPNOTSUPP
 * if the carrier has no multicast; EIO; or the error of multicast_attach().
 */
int sctpiw_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);
/* Errors: EINVAL if the QP is not attached to the group; EIO. */
int sctpiw_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);

#endif
