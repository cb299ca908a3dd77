/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * IP multicast below the groups of UD queue pairs and of rdma_cm ids: one endpoint for each group that this
 * process is in, bound to the group's address and MULTICAST_PORT, which all processes of the host share. It
 * hears of the group on the interfaces that ids have joined it on, and on those of attached QPs. Shard lock.
 * Errors are -errno.
 */
#ifndef SCTPIW_CONN_MULTICAST_H
#define SCTPIW_CONN_MULTICAST_H

#include <stdbool.h>

#include "util/addr.h"
#include "util/list.h"

struct conn;

/*
 * The UDP and SCTP port of datagrams to groups: what the QP number 0xffffff stands for, as qp_num_port() of
 * any other number is the port of its QP.
 */
#define MULTICAST_PORT 65535

/* One socket is on so many interfaces at most: what net.ipv4.igmp_max_memberships begins with. */
#define MULTICAST_INTERFACES 20

/* Part of struct conn. */
struct multicast {
	struct list_node groups; /* struct multicast_group */
	bool told;		 /* the user was told that there is no multicast with a key */
};

void multicast_init(struct multicast *m);
void multicast_fini(struct conn *c);

/* Whether the carrier has multicast. */
bool multicast_is_served(const struct conn *c);
/* The same for who wants to join a group; the user is told why it is not, if the setting key is the reason. */
bool multicast_may_join(struct conn *c);

/* Joins the group on an interface, once more than before. -EOPNOTSUPP, -ENOMEM, or as of socket(), bind() and joining. */
int multicast_join(struct conn *c, const struct ip_addr *group, unsigned int ifindex);
/* Takes one multicast_join() back. */
void multicast_leave(struct conn *c, const struct ip_addr *group, unsigned int ifindex);

/*
 * The first QP is attached to the group. If no id has joined it, it is joined on these n interfaces, as far as
 * they allow it; else the QPs stay in it where the ids are, also when those have left. -errno of the last one: none
 * does.
 */
int multicast_attach(struct conn *c, const struct ip_addr *group, const unsigned int *ifindexes,
		     unsigned int n);
/* The interfaces that ids or QPs have joined the group on; how many. */
unsigned int multicast_interfaces(const struct conn *c, const struct ip_addr *group,
				  unsigned int ifindexes[MULTICAST_INTERFACES]);
/* The last QP is gone: takes back what multicast_attach() has joined. */
void multicast_detach(struct conn *c, const struct ip_addr *group);

#endif
