/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The network interfaces, their addresses and routes, read by rtnetlink. */
#ifndef SCTPIW_NET_RTNL_H
#define SCTPIW_NET_RTNL_H

#include <stdbool.h>
#include <stdint.h>

#include "util/addr.h"

struct rtnl_link {
	unsigned int ifindex;
	unsigned int flags; /* IFF_* */
	unsigned int mtu;   /* bytes */
	char name[16];	    /* IFNAMSIZ */
	bool has_mac;	    /* mac is a non-zero Ethernet address */
	uint8_t mac[6];
};

struct rtnl_addr {
	struct ip_addr ip;
	unsigned int ifindex;
	uint8_t scope;	/* RT_SCOPE_* */
	uint32_t flags; /* IFA_F_* */
};

/*
 * Call each() for every interface, or for every IPv4 and IPv6 address. Return 0, or -errno; -EAGAIN
 * if the list changed meanwhile or was cut short. Only one thread may call these functions at a
 * time.
 */
int rtnl_links(void (*each)(const struct rtnl_link *link, void *arg), void *arg);
int rtnl_addrs(void (*each)(const struct rtnl_addr *addr, void *arg), void *arg);

/* A route as the kernel reports it. */
struct rtnl_route {
	unsigned int ifindex; /* outgoing interface; 0: unknown */
	uint32_t mtu;	      /* MTU of the route in bytes; 0: unknown */
	bool temporary;	      /* the route expires */
};

/*
 * Looks up the route from to->local to to->remote. If to->local is zero, the kernel chooses the
 * local address. Returns 0, or the kernel's -errno. Any thread.
 */
int rtnl_route(const struct path_addr *to, struct rtnl_route *route);

/*
 * rtnl_watch() returns a non-blocking descriptor, or -errno. The descriptor becomes readable when
 * interfaces or addresses may have changed. rtnl_changed() returns true if they may have changed
 * since its last call, and empties the descriptor.
 */
int rtnl_watch(void);
bool rtnl_changed(int fd);

#endif
