/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * IP multicast for the groups of UD queue pairs and rdma_cm ids. Each joined group has one
 * endpoint, bound to the group's address and MULTICAST_PORT. Several processes of the host may bind
 * this address and port. The endpoint receives on the interfaces on which ids joined the group, and
 * on those of attached QPs. Callers hold the shard's lock. Errors are -errno.
 */
#ifndef SCTPIW_CONN_MULTICAST_H
#define SCTPIW_CONN_MULTICAST_H

#include <stdbool.h>

#include "util/addr.h"
#include "util/list.h"

struct conn;

/*
 * The UDP and SCTP destination port of datagrams to groups. It is qp_num_port(0xffffff); 0xffffff
 * is the multicast QP number.
 */
#define MULTICAST_PORT 65535

/*
 * Maximum number of interfaces on which a socket joins a group. The limit of Linux for one socket
 * is net.ipv4.igmp_max_memberships, which is 20 by default.
 */
#define MULTICAST_INTERFACES 20

/* Part of struct conn. */
struct multicast {
	struct list_node groups; /* struct multicast_group */
	bool told;		 /* it was logged that a key excludes multicast */
};

void multicast_init(struct multicast *m);
void multicast_fini(struct conn *c);

/* True if the carrier supports multicast. */
bool multicast_is_served(const struct conn *c);
/*
 * Returns multicast_is_served(), before a join. If multicast is not supported because of the
 * setting `key` or `cert`, logs this once.
 */
bool multicast_may_join(struct conn *c);

/*
 * Counts a join of the group on an interface. Returns 0, -EOPNOTSUPP, -ENOMEM, or the -errno of
 * socket(), bind() or the join.
 */
int multicast_join(struct conn *c, const struct ip_addr *group, unsigned int ifindex);
/* Reverts one multicast_join(). */
void multicast_leave(struct conn *c, const struct ip_addr *group, unsigned int ifindex);

/*
 * Called when the first QP is attached to the group. If no id has joined the group, joins it on
 * these n interfaces; interfaces that fail are ignored. Otherwise the QPs use the interfaces of the
 * ids, even after the ids leave. Returns 0, or the -errno of the last interface if all interfaces
 * failed.
 */
int multicast_attach(struct conn *c, const struct ip_addr *group, const unsigned int *ifindexes,
		     unsigned int n);
/* Writes the interfaces on which ids or QPs have joined the group. Returns their number. */
unsigned int multicast_interfaces(const struct conn *c, const struct ip_addr *group,
				  unsigned int ifindexes[MULTICAST_INTERFACES]);
/* Called when the last QP is detached. Leaves the group on the interfaces of multicast_attach(). */
void multicast_detach(struct conn *c, const struct ip_addr *group);

#endif
