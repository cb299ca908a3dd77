/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What all sockets of a shard share: the epoll set that they are watched by, and what their
 * packets are written to. conn.net points to it. Shard lock.
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
 * What an entry of the epoll set points to: the first member of whatever is watched. The set may hold
 * descriptors of the progress thread beside the sockets; who looks for packets passes over those.
 */
struct net_watch {
	/* Takes what epoll has told of a socket (EPOLLIN and the like); NULL: it is none. */
	enum conn_received (*ready)(struct net_watch *watch, uint32_t events);
};

struct net {
	int epoll_fd;
	struct route_probe routes;
	struct capture *capture;    /* NULL: none, or not any more */
	struct trace_file *trace;   /* NULL: none */
	uint8_t *rx_memory;	    /* of the carriers (carrier_port.c) */
	struct path_sockets *paths; /* udp and dtls; NULL with other carriers */
	struct dtls_carrier *dtls;  /* dtls; NULL with other carriers */
};

#endif
