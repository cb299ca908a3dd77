/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * State that all sockets of a shard share: the epoll set, the sockets for route look-ups, the
 * receive buffers and the files that record packets. conn.net points to this state. The shard lock
 * protects it.
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
 * The first member of each object that the epoll set watches: the epoll entry points to this
 * member. The set may also hold descriptors of the progress thread, which have no handler here.
 */
struct net_watch {
	/*
	 * Handles the events (EPOLLIN and the like) that epoll reports for a socket. NULL if the
	 * descriptor belongs to the progress thread.
	 */
	enum conn_received (*ready)(struct net_watch *watch, uint32_t events);
};

struct net {
	int epoll_fd;
	struct route_probe routes;
	struct capture *capture;    /* NULL: capture is off, or has ended */
	struct trace_file *trace;   /* NULL: no trace file */
	uint8_t *rx_memory;	    /* receive buffers of the carriers (carrier_port.c) */
	struct path_sockets *paths; /* carriers udp and dtls; NULL with others */
	struct dtls_carrier *dtls;  /* carrier dtls; NULL with others */
};

#endif
