/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The host's network interfaces and addresses, read at one moment. No lock. */
#ifndef SCTPIW_NET_NETDEV_H
#define SCTPIW_NET_NETDEV_H

#include <stdbool.h>
#include <stdint.h>

#include "net/gid.h"
#include "net/rtnl.h"

struct netdev_link {
	struct rtnl_link link;
	bool counted; /* counted in mtu, mbps and active below */
};

struct netdev_reading {
	struct netdev_link *links;
	struct gid_entry *gids; /* usable addresses */
	unsigned int n_links, n_gids;
	bool active;	   /* some running interface has an address */
	unsigned int mtu;  /* bytes; largest MTU of running interfaces with an address; 0: none */
	unsigned int mbps; /* largest rate of these interfaces; 0: unknown */
	bool failed;	   /* out of memory */
	int ioctl_fd;
};

/* Reads the host. Returns 0, or -errno; *r is then invalid. Call netdev_free() in both cases. */
int netdev_read(struct netdev_reading *r);
void netdev_free(struct netdev_reading *r);
/* Gets the name of an interface, or "" if *r lacks the interface. */
void netdev_name(const struct netdev_reading *r, unsigned int ifindex, char name[16]);

#endif
