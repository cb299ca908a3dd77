/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The host's network interfaces and addresses, read at one moment, as the RDMA device needs them. No lock. */
#ifndef SCTPIW_NET_NETDEV_H
#define SCTPIW_NET_NETDEV_H

#include <stdbool.h>
#include <stdint.h>

#include "net/gid.h"
#include "net/rtnl.h"

struct netdev_link {
	struct rtnl_link link;
	bool counted; /* in mtu, mbps and active below */
};

struct netdev_reading {
	struct netdev_link *links;
	struct gid_entry *gids; /* the addresses that can be used */
	unsigned int n_links, n_gids;
	bool active;	   /* an interface that is up has an address */
	unsigned int mtu;  /* the largest of such interfaces, bytes; 0: there are none */
	unsigned int mbps; /* the rate of the fastest; 0: none says */
	bool failed;	   /* out of memory meanwhile */
	int ioctl_fd;
};

/* Reads the host. 0, or -errno; then *r is no good. netdev_free() in any case. */
int netdev_read(struct netdev_reading *r);
void netdev_free(struct netdev_reading *r);
/* The name of an interface of the reading; "": it has none of that number. */
void netdev_name(const struct netdev_reading *r, unsigned int ifindex, char name[16]);

#endif
