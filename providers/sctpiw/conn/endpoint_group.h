/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One port for peers on all shards: each shard has an endpoint bound to it, and what comes from a peer goes to the shard that
 * the peer's SCTP port says, its number modulo that of the shards. So a shard gets whatever concerns an association of
 * its own, from the INIT on, and next to nothing is passed on (misplaced.h). A carrier that can (carrier.steer) has the kernel
 * do it.
 *
 * The endpoints of a group keep each other: the kernel counts the sockets of a port, so none may go while one is in use.
 * Endpoints come into a group, and leave it, under the locks of all shards.
 */
#ifndef SCTPIW_CONN_ENDPOINT_GROUP_H
#define SCTPIW_CONN_ENDPOINT_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "conn/endpoint.h"

/*
 * Makes a group of ep, which begins to listen, if it belongs to the first of several shards. An endpoint stays alone if it has
 * associations already, which may be those of any shard's peers, or if its carrier or the host does not let it. Locks of
 * all shards.
 */
void endpoint_group_make(struct endpoint *ep);
/* The group's endpoint on the shard of this index, or of ep alone; NULL: there is none. */
struct endpoint *endpoint_group_member(struct endpoint *ep, unsigned int index);
/* Which of the group's endpoints, or ep alone, a peer with this SCTP port has. */
struct endpoint *endpoint_group_for(struct endpoint *ep, uint16_t port);
/* Whether rdma_cm ids, of any shard, hold the port of ep. */
bool endpoint_group_has_ids(const struct endpoint *ep);
/* The group, whose listener has ended, takes associations as long as it has any. Locks of all shards. */
void endpoint_group_linger(struct endpoint *ep);
/* A reference was given back: if the group may have an end by that, conn.wants_all is set. */
void endpoint_group_check(struct endpoint *ep);
/* Ends the conn's groups that nobody uses any more. Locks of all shards. */
void endpoint_group_end_unused(struct conn *c);
/* Ends the groups of the conn, which stops, as all do then. */
void endpoint_group_end_all(struct conn *c);

#endif
