/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What all sockets of a shard share: the epoll set that they are watched by, and what their
 * packets are written to. conn.net points to it. Shard lock.
 */
#ifndef SCTPIW_NET_NET_H
#define SCTPIW_NET_NET_H

#include <stdbool.h>
#include <stdint.h>

struct capture;
struct trace_file;

/*
 * What an entry of the epoll set points to: the first member of whatever is watched. The set may hold
 * descriptors of the progress thread beside the sockets; who looks for packets passes over those.
 */
struct net_watch {
	bool is_socket;
};

struct net {
	int epoll_fd;
	struct capture *capture;  /* NULL: none, or not any more */
	struct trace_file *trace; /* NULL: none */
	uint8_t *rx_memory;	  /* of the carriers (carrier_port.c) */
};

#endif
