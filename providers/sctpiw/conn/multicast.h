/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * IP multicast for the groups of UD queue pairs and rdma_cm ids. Each joined group has one
 * endpoint, bound to the group's address and MULTICAST_PORT, which all processes of the host share.
 * The endpoint receives on the interfaces that ids have joined, and those of attached QPs. Shard
 * lock. Errors are -errno.
 */
#ifndef SCTPIW_CONN_MULTICAST_H
#define SCTPIW_CONN_MULTICAST_H

#include <stdbool.h>

#include "util/addr.h"
#include "util/list.h"

struct conn;

/*
 * The UDP and SCTP port of datagrams to groups: qp_num_port() of the multicast QP number 0xffffff.
 */
#define MULTICAST_PORT 65535

/* Maximum of interfaces of a socket: the default of net.ipv4.igmp_max_memberships. */
#define MULTICAST_INTERFACES 20

/* Part of struct conn. */
struct multicast {
	struct list_node groups; /* struct multicast_group */
	bool told;		 /* logged that a key excludes multicast */
};

void multicast_init(struct multicast *m);
void multicast_fini(struct conn *c);

/* True if the carrier has multicast. */
bool multicast_is_served(const struct conn *c);
/*
 * As multicast_is_served(), before a join. Logs if the setting key is the reason against multicast.
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
 * Attaches the first QP to the group. If no id has joined the group, joins it on these n
 * interfaces, as far as possible. Otherwise the QPs use the interfaces of the ids, even after the
 * ids left. Returns 0, or the -errno of the last interface if none could be joined.
 */
int multicast_attach(struct conn *c, const struct ip_addr *group, const unsigned int *ifindexes,
		     unsigned int n);
/* Writes the interfaces on which ids or QPs have joined the group. Returns their number. */
unsigned int multicast_interfaces(const struct conn *c, const struct ip_addr *group,
				  unsigned int ifindexes[MULTICAST_INTERFACES]);
/* Leaves the interfaces of multicast_attach(), after the last QP detached. */
void multicast_detach(struct conn *c, const struct ip_addr *group);

#endif
