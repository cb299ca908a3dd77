/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Results of the kernel's routing. Nothing is sent. No lock. */
#ifndef SCTPIW_NET_ROUTE_H
#define SCTPIW_NET_ROUTE_H

#include <stdint.h>
#include <sys/socket.h>

#include "util/addr.h"

/*
 * Looks up the route from src (NULL, of family 0, or the wildcard: any) to dst. Sets *source to the
 * source address with port 0, and *mtu to the path MTU in bytes. Both may be NULL. Returns 0, or
 * -errno of socket(), bind() or connect().
 */
int route_lookup(const struct sockaddr *src, const struct sockaddr *dst,
		 struct sockaddr_storage *source, uint32_t *mtu);
/*
 * Two sockets, for IPv4 and IPv6, that serve many look-ups: to open one takes longer than all else.
 * Between look-ups they are not connected, and have no port. -1: not opened yet. Shard lock.
 */
struct route_probe {
	int v4, v6;
};

void route_probe_init(struct route_probe *p);
/* Also for a child of fork(), which must not use its parent's sockets. */
void route_probe_close(struct route_probe *p);
/* As route_lookup() from any address, without the MTU. */
int route_source(struct route_probe *p, const struct sockaddr *dst,
		 struct sockaddr_storage *source);
/* Checks if the host has a route to an IPv6 group by this interface. Returns 0 or -errno. */
int route_to_group(const struct ip_addr *group, unsigned int ifindex);

/*
 * Returns the MTU of the route to an address in bytes, as far as this host itself knows it, or
 * 1280. MTUs that the kernel has learnt from ICMP do not count.
 */
uint32_t route_mtu(const struct path_addr *to);

#endif
