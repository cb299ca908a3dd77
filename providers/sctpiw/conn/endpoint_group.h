/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * One port for peers on all shards. Each shard has an endpoint bound to the port. A peer's packets
 * go to the shard whose index is the peer's SCTP port modulo the number of shards. So a shard gets
 * the packets of its associations, from the INIT on, and almost none must be passed on
 * (misplaced.h). If the carrier can (carrier.steer), the kernel distributes the packets.
 *
 * The endpoints of a group keep each other open: the kernel selects a socket of the port by index,
 * so none may close while another is in use. Endpoints join and leave a group under the locks of
 * all shards.
 */
#ifndef SCTPIW_CONN_ENDPOINT_GROUP_H
#define SCTPIW_CONN_ENDPOINT_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "conn/endpoint.h"

/*
 * Makes a group for ep, which is about to listen, if ep belongs to the first of several shards. An
 * endpoint stays alone if it already has associations, which may be to peers of any shard, or if
 * its carrier or the host does not allow a group. Locks of all shards.
 */
void endpoint_group_make(struct endpoint *ep);
/* Returns the group's endpoint on the shard with this index, or NULL. Alone, ep has index 0. */
struct endpoint *endpoint_group_member(struct endpoint *ep, unsigned int index);
/* Returns the endpoint of ep's group, or ep, for a peer with this SCTP port. */
struct endpoint *endpoint_group_for(struct endpoint *ep, uint16_t port);
/* True if rdma_cm ids, of any shard, hold the port of ep. */
bool endpoint_group_has_ids(const struct endpoint *ep);
/*
 * After the end of its listener, lets the group accept associations while it has any. Locks of all
 * shards.
 */
void endpoint_group_linger(struct endpoint *ep);
/* After the release of a reference: sets conn.wants_all if the group may have to end. */
void endpoint_group_check(struct endpoint *ep);
/* Ends the conn's unused groups. Locks of all shards. */
void endpoint_group_end_unused(struct conn *c);
/* Ends the conn's groups when it stops, as all conns do then. */
void endpoint_group_end_all(struct conn *c);

#endif
