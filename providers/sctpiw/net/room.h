/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Asks the kernel how full the receive buffer of a UDP socket of this network namespace is (sock_diag(7)). Any
 * user may ask for any socket. Shard lock.
 */
#ifndef SCTPIW_NET_ROOM_H
#define SCTPIW_NET_ROOM_H

#include <stdbool.h>
#include <stdint.h>

struct carrier_room;
struct path_addr;

/* The netlink socket; all zero: it is opened when it is first needed. */
struct room_diag {
	int fd; /* 0: not tried yet; negative: there is none */
	uint32_t seq;
};

/*
 * Fills *room for the socket that packets from port `from` of to->local to to->remote, port to->udp_port, are
 * received by. false: there is none, or the kernel does not tell.
 */
bool room_ask(struct room_diag *d, uint16_t from, const struct path_addr *to,
	      struct carrier_room *room);
void room_close(struct room_diag *d);

#endif
