/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * State that all sockets of a shard share: the epoll set, and the memory and files for packets.
 * conn.net points to it. Shard lock.
 */
#ifndef SCTPIW_NET_NET_H
#define SCTPIW_NET_NET_H

#include <stdint.h>

#include "conn/transport.h"
#include "net/route.h"

struct capture;
struct dtls_carrier;
struct path_sockets;
struct trace_file;

/*
 * Target of an entry in the epoll set: the first member of the watched object. The set may also
 * hold descriptors of the progress thread, which a poll for packets skips.
 */
struct net_watch {
	/* Handles events of a socket from epoll (EPOLLIN and the like). NULL: no socket. */
	enum conn_received (*ready)(struct net_watch *watch, uint32_t events);
};

struct net {
	int epoll_fd;
	struct route_probe routes;
	struct capture *capture;    /* NULL: none, or ended */
	struct trace_file *trace;   /* NULL: none */
	uint8_t *rx_memory;	    /* of the carriers (carrier_port.c) */
	struct path_sockets *paths; /* udp and dtls; NULL with other carriers */
	struct dtls_carrier *dtls;  /* dtls; NULL with other carriers */
};

#endif
