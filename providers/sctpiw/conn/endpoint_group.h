/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An endpoint group is one port that all shards use. Each shard has an endpoint bound to the port.
 * A peer's packets go to the shard whose index is the peer's SCTP port modulo the number of shards.
 * The kernel distributes the packets by this rule, as carrier.steer() requests. Thus a shard
 * receives all packets of its associations, beginning with the INIT. Few packets arrive at the
 * wrong shard (misplaced.h).
 *
 * All endpoints of a group stay open while any of them is in use, since the kernel selects a socket
 * of the port by its index. Endpoints join and leave a group under the locks of all shards.
 */
#ifndef SCTPIW_CONN_ENDPOINT_GROUP_H
#define SCTPIW_CONN_ENDPOINT_GROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "conn/endpoint.h"

/*
 * Makes a group for ep, before ep listens, if ep belongs to the first of several shards. Makes none
 * if ep already has associations, since their peers' ports may belong to any shard. Makes none
 * either if the carrier or the host does not support groups. The caller holds the locks of all
 * shards.
 */
void endpoint_group_make(struct endpoint *ep);
/*
 * Returns the group's endpoint on the shard with this index, or NULL. For ep without a group, index
 * 0 returns ep.
 */
struct endpoint *endpoint_group_member(struct endpoint *ep, unsigned int index);
/*
 * Returns the endpoint of ep's group that receives from a peer with this SCTP port. Returns ep if
 * it has no group.
 */
struct endpoint *endpoint_group_for(struct endpoint *ep, uint16_t port);
/* True if rdma_cm ids of any shard use the port of ep. */
bool endpoint_group_has_ids(const struct endpoint *ep);
/*
 * After the end of the group's listener, lets the group accept associations until its last
 * association ends. The caller holds the locks of all shards.
 */
void endpoint_group_linger(struct endpoint *ep);
/*
 * Sets conn.wants_all if the group may be unused. Called after a reference to one of its endpoints
 * was released.
 */
void endpoint_group_check(struct endpoint *ep);
/* Ends the conn's unused groups. The caller holds the locks of all shards. */
void endpoint_group_end_unused(struct conn *c);
/* Ends the conn's groups when the conn stops. All conns of the RNIC stop together. */
void endpoint_group_end_all(struct conn *c);

#endif
