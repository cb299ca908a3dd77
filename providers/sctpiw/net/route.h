/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Queries the kernel's routing table. No packet is sent. No lock. */
#ifndef SCTPIW_NET_ROUTE_H
#define SCTPIW_NET_ROUTE_H

#include <stdint.h>
#include <sys/socket.h>

#include "util/addr.h"

/*
 * Looks up the route from src to dst. Any source address will do if src is NULL, has family 0, or
 * is the wildcard address. Sets *source to the source address with port 0, and *mtu to the path MTU
 * in bytes. source and mtu may be NULL. Returns 0, or -errno of socket(), bind() or connect().
 */
int route_lookup(const struct sockaddr *src, const struct sockaddr *dst,
		 struct sockaddr_storage *source, uint32_t *mtu);
/*
 * Two sockets, for IPv4 and IPv6, for many look-ups, since opening a socket takes longer than the
 * look-up. Between look-ups the sockets are not connected and have no port. -1: not opened yet.
 * Shard lock.
 */
struct route_probe {
	int v4, v6;
};

void route_probe_init(struct route_probe *p);
/* A child of fork() also calls this, since it must not use its parent's sockets. */
void route_probe_close(struct route_probe *p);
/* Like route_lookup() from any source address, but without the MTU. */
int route_source(struct route_probe *p, const struct sockaddr *dst,
		 struct sockaddr_storage *source);
/* Returns 0 if the host has a route to this IPv6 group on this interface, or -errno. */
int route_to_group(const struct ip_addr *group, unsigned int ifindex);

/*
 * Returns the MTU in bytes of the route to an address, or 1280 if the MTU is unknown. Ignores MTUs
 * that the kernel has learnt from ICMP.
 */
uint32_t route_mtu(const struct path_addr *to);

#endif
