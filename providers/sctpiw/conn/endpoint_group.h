/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One port for peers on all shards: each shard has an endpoint bound to it, and what comes from a peer goes to the shard that
 * the peer's SCTP port says, its number modulo that of the shards. So a shard gets whatever concerns an association of
 * its own, from the INIT on, and nobody needs to pass anything on. A carrier that can (carrier.steer) has the kernel do it.
 *
 * The endpoints of a group keep each other: the kernel counts the sockets of a port, so none may go while one is in use.
 * Endpoints come into a group, and leave it, under the locks of all shards.
 */
#ifndef SCTPIW_CONN_ENDPOINT_GROUP_H
#define SCTPIW_CONN_ENDPOINT_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "conn/endpoint.h"

struct carrier_error;

/*
 * ICMP errors that came to endpoints of groups of this conn for others: the kernel gives them to any of the sockets. They wait
 * for the locks of all shards. Part of struct conn.
 */
struct misplaced_errors {
	struct list_node list;
	unsigned int n;
};

void misplaced_errors_init(struct misplaced_errors *m);

/*
 * Makes a group of ep, which belongs to the first shard, if there are several. An endpoint stays alone if it has
 * associations already, which may be those of any shard's peers, or if its carrier or the host does not let it. Locks of
 * all shards.
 */
void endpoint_group_make(struct endpoint *ep);
/* The group's endpoint on the shard of this index, or of ep alone; NULL: there is none. */
struct endpoint *endpoint_group_member(struct endpoint *ep, unsigned int index);
/* Which of the group's endpoints, or ep alone, a peer with this SCTP port has. */
struct endpoint *endpoint_group_for(struct endpoint *ep, uint16_t port);
/* Whether what comes from a peer with this SCTP port is for ep. */
bool endpoint_group_is_for(const struct endpoint *ep, uint16_t port);
/* Whether rdma_cm ids, of any shard, hold the port of ep. */
bool endpoint_group_has_ids(const struct endpoint *ep);
/* A reference was given back: if none of the group has another one than that of the group, conn.wants_all is set. */
void endpoint_group_check(struct endpoint *ep);
/* Whether the error is about a packet of another endpoint of the group: then that will get it, unless there are too many. */
bool endpoint_group_keeps_error(struct endpoint *ep, const struct carrier_error *err);
/* Gives the errors to those that they are for. Locks of all shards. */
void endpoint_group_give_errors(struct conn *c);
/* Ends the groups that nobody uses any more. Locks of all shards. */
void endpoint_group_end_unused(struct conn *c);
/* Ends the groups of the conn, which stops. Locks of all shards. */
void endpoint_group_end_all(struct conn *c);

#endif
