/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Multicast groups and the UD queue pairs attached to them (man ibv_attach_mcast). The IP address
 * of a group is its MGID. Needs the shard's lock. Errors are -errno.
 */
#ifndef SCTPIW_IWARP_IW_MCAST_H
#define SCTPIW_IWARP_IW_MCAST_H

#include <stdbool.h>

#include "iwarp/iw_qp.h"
#include "util/addr.h"
#include "util/list.h"

struct wire_ud;

#define IW_MAX_MCAST_GRP 256	   /* groups per process: each has a socket */
#define IW_MAX_MCAST_QP_ATTACH 128 /* QPs per group: each gets a copy of a datagram */
#define IW_MCAST_QPN 0xffffffu	   /* destination QP of a datagram to a group (IBTA 9.2.3) */

#define IW_MCAST_BUCKETS 64u

/* Part of struct iw_shard. */
struct iw_mcast_table {
	struct list_node bucket[IW_MCAST_BUCKETS]; /* iw_mcast_group.node, by address */
	unsigned int groups;
};

void iw_mcast_init(struct iw_mcast_table *t);

/*
 * Attaches the QP; a repeated call has no effect. *first: the QP is the group's first. Returns
 * -EINVAL if the QP is not UD, or -ENOMEM at a limit or without memory.
 */
int iw_mcast_attach(struct iw_qp *qp, const struct ip_addr *group, bool *first);
/* *last: the group has no more QPs. Returns -EINVAL if the QP was not attached. */
int iw_mcast_detach(struct iw_qp *qp, const struct ip_addr *group, bool *last);
/* Detaches a dying QP from one group. Returns false if it was in none. */
bool iw_mcast_detach_any(struct iw_qp *qp, struct ip_addr *group, bool *last);
/*
 * Gives each QP of the group a copy of a datagram from `remote`. own: the datagram came from this
 * host, so its source may be a local QP.
 */
void iw_mcast_receive(struct iw_shard *shard, const struct wire_ud *u, const struct ip_addr *group,
		      const struct ip_addr *remote, bool own);

#endif
