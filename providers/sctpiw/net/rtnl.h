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
	bool has_mac;	    /* mac is the address of an Ethernet, and not zero */
	uint8_t mac[6];
};

struct rtnl_addr {
	struct ip_addr ip;
	unsigned int ifindex;
	uint8_t scope;	/* RT_SCOPE_* */
	uint32_t flags; /* IFA_F_* */
};

/*
 * Call each() for every interface, or every address of IPv4 and IPv6. Return 0, or -errno; -EAGAIN
 * if the answer was cut short. Two threads must not call them at once.
 */
int rtnl_links(void (*each)(const struct rtnl_link *link, void *arg), void *arg);
int rtnl_addrs(void (*each)(const struct rtnl_addr *addr, void *arg), void *arg);

/* Data of the kernel about the way to an address. */
struct rtnl_route {
	unsigned int ifindex; /* outgoing interface; 0: unknown */
	uint32_t mtu;	      /* MTU that the route has, bytes; 0: unknown */
	bool temporary;	      /* the route expires */
};

/*
 * Looks up the route from to->local (zero: from any local address) to to->remote. Returns 0, or
 * -errno of the kernel. Any thread.
 */
int rtnl_route(const struct path_addr *to, struct rtnl_route *route);

/*
 * Returns a non-blocking descriptor that is readable when interfaces or addresses may have changed,
 * or -errno. rtnl_changed() returns true if they may have changed since its last call, and makes
 * the descriptor wait again.
 */
int rtnl_watch(void);
bool rtnl_changed(int fd);

#endif
