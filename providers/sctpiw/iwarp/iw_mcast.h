/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Multicast groups: which UD queue pairs are attached to which (man ibv_attach_mcast). A group is named by
 * its IP address, which is its MGID. Shard lock. Errors are -errno.
 */
#ifndef SCTPIW_IWARP_IW_MCAST_H
#define SCTPIW_IWARP_IW_MCAST_H

#include <stdbool.h>

#include "iwarp/iw_qp.h"
#include "util/addr.h"
#include "util/list.h"

struct wire_ud;

#define IW_MAX_MCAST_GRP 256	   /* groups of a process: each has a socket */
#define IW_MAX_MCAST_QP_ATTACH 128 /* QPs of a group: a datagram is copied to each */
#define IW_MCAST_QPN 0xffffffu	   /* the destination of a datagram to a group (IBTA 9.2.3) */

#define IW_MCAST_BUCKETS 64u

/* Part of struct iw_shard. */
struct iw_mcast_table {
	struct list_node bucket[IW_MCAST_BUCKETS]; /* iw_mcast_group.node, by address */
	unsigned int groups;
};

void iw_mcast_init(struct iw_mcast_table *t);

/*
 * Attaches the QP; once more changes nothing. *first: the group had no QP before. -EINVAL: it is no UD QP;
 * -ENOMEM: a limit, or no memory.
 */
int iw_mcast_attach(struct iw_qp *qp, const struct ip_addr *group, bool *first);
/* *last: the group has no QP any more. -EINVAL: the QP was not attached. */
int iw_mcast_detach(struct iw_qp *qp, const struct ip_addr *group, bool *last);
/* The QP, which goes away, is attached to some group: detaches it from there. false: it is attached to none. */
bool iw_mcast_detach_any(struct iw_qp *qp, struct ip_addr *group, bool *last);
/*
 * A datagram to the group came from `remote`: each QP of the group gets a copy, as if it were for it alone.
 * own: it has come from this host, so that its source may be one of our QPs.
 */
void iw_mcast_receive(struct iw_shard *shard, const struct wire_ud *u, const struct ip_addr *group,
		      const struct ip_addr *remote, bool own);

#endif
