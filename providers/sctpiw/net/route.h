/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the kernel's routing says. Nothing is sent to find out. No lock. */
#ifndef SCTPIW_NET_ROUTE_H
#define SCTPIW_NET_ROUTE_H

#include <stdint.h>
#include <sys/socket.h>

#include "util/addr.h"

/*
 * The route from src (NULL, of family 0, or the wildcard: any) to dst: the source address in *source, with
 * port 0, and the path MTU in *mtu, bytes. Both may be NULL. -errno of socket(), bind() or connect().
 */
int route_lookup(const struct sockaddr *src, const struct sockaddr *dst,
		 struct sockaddr_storage *source, uint32_t *mtu);
/*
 * Two sockets, for IPv4 and IPv6, that are asked for routes again and again: to make one takes longer than all else.
 * Between two questions they are not connected, and have no port. -1: not made yet. Of a shard, under its lock.
 */
struct route_probe {
	int v4, v6;
};

void route_probe_init(struct route_probe *p);
/* Also in a child of fork(), which must not use its parent's sockets. */
void route_probe_close(struct route_probe *p);
/* The same as route_lookup() from any address without the MTU. */
int route_source(struct route_probe *p, const struct sockaddr *dst,
		 struct sockaddr_storage *source);
/* Whether the host has a route to a group of IPv6 by this interface: 0 or -errno. */
int route_to_group(const struct ip_addr *group, unsigned int ifindex);

/*
 * What the route towards an address takes as far as this host itself knows, bytes; 1280 if nothing is known.
 * What the kernel has learnt from ICMP does not count.
 */
uint32_t route_mtu(const struct path_addr *to);

#endif
