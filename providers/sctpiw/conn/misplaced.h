/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Packets and errors that reach the wrong endpoint of a group (endpoint_group.h). The kernel
 * delivers ICMP errors to any socket of the port. It ignores SCTP ports if a socket is connected to
 * the peer (net/path_socket.h), or if it merges several packets into one (UDP_GRO). Then packets
 * may reach the wrong endpoint if the peer has one UDP port for several SCTP ports. Such packets
 * and errors wait for the locks of all shards. These are requested at intervals, so that nobody can
 * stall all shards.
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
	uint64_t due; /* time to request the locks, if the list is not empty */
};

void misplaced_init(struct misplaced *m);
/*
 * True if the packet or error, received by ep, is for another endpoint of its group. That endpoint
 * will get it. If too many wait, it is lost.
 */
bool misplaced_packet(struct endpoint *ep, const struct path_addr *from, const uint8_t *packet,
		      size_t len);
bool misplaced_error(struct endpoint *ep, const struct carrier_error *err);
uint64_t misplaced_next_timeout(const struct conn *c);
void misplaced_timers(struct conn *c);
/* Delivers everything to the right endpoints. Locks of all shards. */
void misplaced_give(struct conn *c);
/* Drops all that the endpoint received for others. */
void misplaced_drop(struct endpoint *ep);

#endif
