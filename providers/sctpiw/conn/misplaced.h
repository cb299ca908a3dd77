/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What comes to an endpoint of a group (endpoint_group.h) and is for another one. The kernel gives ICMP errors to any socket of
 * the port; and it brings packets to a socket by their addresses and UDP ports alone where that is connected to the peer
 * (net/path_socket.h), or where it merges several packets into one (UDP_GRO): those of a peer that has one UDP port for several
 * SCTP ports may be wrong there. Such things wait for the locks of all shards, which are asked for once in a while, so that
 * nobody can make all shards stand still by them.
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
	uint64_t due; /* when the locks are asked for, if it is not empty */
};

void misplaced_init(struct misplaced *m);
/*
 * Whether the packet, or the error, which came to ep, is for another endpoint of its group. That will get it, unless too many
 * wait: then it is lost.
 */
bool misplaced_packet(struct endpoint *ep, const struct path_addr *from, const uint8_t *packet,
		      size_t len);
bool misplaced_error(struct endpoint *ep, const struct carrier_error *err);
uint64_t misplaced_next_timeout(const struct conn *c);
void misplaced_timers(struct conn *c);
/* Gives everything to those whom it is for. Locks of all shards. */
void misplaced_give(struct conn *c);
/* Drops what waits of this endpoint. */
void misplaced_drop(struct endpoint *ep);

#endif
