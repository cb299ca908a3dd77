/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Queue pairs in multicast groups (man ibv_attach_mcast). The group's address is its MGID; the MLID is not looked at. */
#ifndef SCTPIW_VERBS_MCAST_H
#define SCTPIW_VERBS_MCAST_H

#include "verbs/pabi.h"

/*
 * Attaches a UD QP; one that is attached already stays so. EINVAL for another QP, or a GID that names no
 * group; ENOMEM at a limit of ibv_query_device(); EOPNOTSUPP if the carrier has no multicast; EIO, or what
 * multicast_attach() says.
 */
int sctpiw_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);
/* EINVAL: it is not attached. EIO. */
int sctpiw_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid);

#endif
