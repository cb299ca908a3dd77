/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The host's network interfaces and addresses at one moment, for the RDMA device. No lock. */
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
	bool active;	   /* a running interface has an address */
	unsigned int mtu;  /* the largest of such interfaces, bytes; 0: none */
	unsigned int mbps; /* the rate of the fastest; 0: unknown */
	bool failed;	   /* out of memory */
	int ioctl_fd;
};

/* Reads the host. Returns 0, or -errno with an invalid *r. Call netdev_free() in any case. */
int netdev_read(struct netdev_reading *r);
void netdev_free(struct netdev_reading *r);
/* Gets the name of an interface of the reading, or "" if the reading lacks it. */
void netdev_name(const struct netdev_reading *r, unsigned int ifindex, char name[16]);

#endif
