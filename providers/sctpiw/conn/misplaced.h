/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Packets and ICMP errors that reach the wrong endpoint of a group (endpoint_group.h). The kernel
 * delivers ICMP errors to any socket of the port. For packets, it ignores the peer's SCTP port in
 * two cases: if a socket is connected to the peer (net/path_socket.h), and if it merges several
 * packets into one (UDP_GRO). Packets may then reach the wrong endpoint, if the peer uses one UDP
 * port for several SCTP ports. Such packets and errors wait until this shard has the locks of all
 * shards. The shard requests these locks only at intervals, so that no peer can stall all shards.
 */
#ifndef SCTPIW_CONN_MISPLACED_H
#define SCTPIW_CONN_MISPLACED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/addr.h"
#include "util/list.h"

struct carrier_error;
struct conn;
struct endpoint;

/* Part of struct conn. */
struct misplaced {
	struct list_node list;
	unsigned int n;
	uint64_t due; /* next time to request the locks, if the list is not empty */
};

void misplaced_init(struct misplaced *m);
/*
 * True if a packet or error that ep received is for another endpoint of its group. The packet or
 * error is then queued for that endpoint, or dropped if the queue is full.
 */
bool misplaced_packet(struct endpoint *ep, const struct path_addr *from, const uint8_t *packet,
		      size_t len);
bool misplaced_error(struct endpoint *ep, const struct carrier_error *err);
uint64_t misplaced_next_timeout(const struct conn *c);
void misplaced_timers(struct conn *c);
/*
 * Delivers all queued packets and errors to the right endpoints. The caller holds the locks of all
 * shards.
 */
void misplaced_give(struct conn *c);
/* Drops the queued packets and errors that ep received. */
void misplaced_drop(struct endpoint *ep);

#endif
