/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Multicast groups and the UD queue pairs attached to these groups (man ibv_attach_mcast). The MGID
 * of a group is the group's IP address. Needs the shard's lock. Errors are -errno.
 */
#ifndef SCTPIW_IWARP_IW_MCAST_H
#define SCTPIW_IWARP_IW_MCAST_H

#include <stdbool.h>

#include "iwarp/iw_qp.h"
#include "util/addr.h"
#include "util/list.h"

struct wire_ud;

#define IW_MAX_MCAST_GRP 256	   /* groups per process; each group has a socket */
#define IW_MAX_MCAST_QP_ATTACH 128 /* QPs per group; each QP gets a copy of a datagram */
#define IW_MCAST_QPN 0xffffffu	   /* destination QP of a datagram to a group (IBTA 9.2.3) */

#define IW_MCAST_BUCKETS 64u

struct iw_mcast_table {
	struct list_node bucket[IW_MCAST_BUCKETS]; /* iw_mcast_group.node, by address */
	unsigned int groups;
};

void iw_mcast_init(struct iw_mcast_table *t);

/*
 * Attaches the QP to the group. If the QP is attached already, the call has no effect. Sets *first
 * if the QP is the group's first. Returns 0 or: -EINVAL if the QP is not UD; -ENOMEM if a limit is
 * reached, or if out of memory.
 */
int iw_mcast_attach(struct iw_qp *qp, const struct ip_addr *group, bool *first);
/*
 * Detaches the QP from the group. Sets *last if the group has no more QPs. Returns 0, or -EINVAL if
 * the QP was not attached.
 */
int iw_mcast_detach(struct iw_qp *qp, const struct ip_addr *group, bool *last);
/*
 * Detaches a QP that is being freed from one of its groups. Sets *group, and sets *last if the
 * group has no more QPs. Returns false if the QP is attached to no group.
 */
bool iw_mcast_detach_any(struct iw_qp *qp, struct ip_addr *group, bool *last);
/*
 * Gives each QP of the group a copy of a datagram from the address `remote`. own: the datagram came
 * from this host, so its sender may be a QP of this process.
 */
void iw_mcast_receive(struct iw_shard *shard, const struct wire_ud *u, const struct ip_addr *group,
		      const struct ip_addr *remote, bool own);

#endif
