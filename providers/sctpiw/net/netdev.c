/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/netdev.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "sys/sys.h"

#define READ_TRIES 3

/* Makes room for one more element in an array of n elements. Returns false when out of memory. */
static bool grow(void **array, unsigned int n, size_t size)
{
	void *p;

	if (n & (n - 1) || n == 1)
		return true;
	p = realloc(*array, (n ? 2 * (size_t)n : 2) * size);
	if (p)
		*array = p;
	return p != NULL;
}

static void add_link(const struct rtnl_link *link, void *arg)
{
	struct netdev_reading *r = arg;

	if (!grow((void **)&r->links, r->n_links, sizeof(*r->links)))
		r->failed = true;
	else
		r->links[r->n_links++] = (struct netdev_link){ .link = *link };
}

static struct netdev_link *link_of(const struct netdev_reading *r, unsigned int ifindex)
{
	for (unsigned int i = 0; i < r->n_links; i++)
		if (r->links[i].link.ifindex == ifindex)
			return &r->links[i];
	return NULL;
}

/*
 * Returns the position of an address in the GID table; smaller ranks come first. Programs use the
 * first suitable GID, so addresses that reach furthest come first. IPv4 comes before IPv6.
 */
static unsigned int rank(const struct rtnl_addr *addr, bool running)
{
	unsigned int reach = 0;

	if (addr->scope >= RT_SCOPE_HOST)
		reach = 2;
	else if (addr->scope >= RT_SCOPE_LINK || !running || addr->flags & IFA_F_DEPRECATED)
		reach = 1;
	return 2 * reach + !ip_addr_is_v4(&addr->ip);
}

/* Returns the rate of an interface, or 0 if the kernel does not report it. */
static unsigned int link_mbps(int fd, const char *name)
{
	struct ethtool_cmd cmd = { .cmd = ETHTOOL_GSET };
	struct ifreq req = { .ifr_data = (void *)&cmd };
	uint32_t mbps;

	memcpy(req.ifr_name, name, sizeof(req.ifr_name));
	if (fd < 0 || sys_ioctl(fd, SIOCETHTOOL, &req))
		return 0;
	mbps = (uint32_t)cmd.speed_hi << 16 |
	       cmd.speed; /* ethtool_cmd_speed() would overflow an int */
	return mbps == (uint32_t)SPEED_UNKNOWN ? 0 : mbps;
}

/* Counts the interface of a usable address. Each interface is counted and queried only once. */
static void count_link(struct netdev_reading *r, struct netdev_link *known)
{
	unsigned int mbps;

	if (known->counted)
		return;
	known->counted = true;
	mbps = link_mbps(r->ioctl_fd, known->link.name);
	r->active = true;
	if (known->link.mtu > r->mtu)
		r->mtu = known->link.mtu;
	if (mbps > r->mbps)
		r->mbps = mbps;
}

/*
 * Adds an address if it is usable: its interface must be up, and the address must have passed
 * duplicate address detection or be optimistic (IFA_F_OPTIMISTIC).
 */
static void add_addr(const struct rtnl_addr *addr, void *arg)
{
	struct netdev_reading *r = arg;
	struct netdev_link *known = link_of(r, addr->ifindex);
	bool running;

	if (!known || !(known->link.flags & IFF_UP) || addr->flags & IFA_F_DADFAILED ||
	    (addr->flags & IFA_F_TENTATIVE && !(addr->flags & IFA_F_OPTIMISTIC)))
		return;
	if (!grow((void **)&r->gids, r->n_gids, sizeof(*r->gids))) {
		r->failed = true;
		return;
	}
	running = known->link.flags & IFF_RUNNING;
	r->gids[r->n_gids++] = (struct gid_entry){
		.ip = addr->ip,
		.ifindex = addr->ifindex,
		.rank = rank(addr, running),
		.far = addr->scope < RT_SCOPE_LINK && !(addr->flags & IFA_F_DEPRECATED),
		.running = running,
	};
	if (running)
		count_link(r, known);
}

/* If interfaces change while the kernel lists them, reads the lists again. */
int netdev_read(struct netdev_reading *r)
{
	int ret = -EAGAIN;

	memset(r, 0, sizeof(*r));
	r->ioctl_fd = sys_socket(AF_INET, SOCK_DGRAM, 0);
	for (int i = 0; i < READ_TRIES && ret == -EAGAIN; i++) {
		r->n_links = r->n_gids = r->mtu = r->mbps = 0;
		r->active = r->failed = false;
		ret = rtnl_links(add_link, r);
		if (!ret)
			ret = rtnl_addrs(add_addr, r);
	}
	if (r->ioctl_fd >= 0)
		sys_close(r->ioctl_fd);
	return !ret && r->failed ? -ENOMEM : ret;
}

void netdev_name(const struct netdev_reading *r, unsigned int ifindex, char name[16])
{
	const struct netdev_link *known = link_of(r, ifindex);

	memset(name, 0, sizeof(known->link.name));
	if (known)
		memcpy(name, known->link.name, sizeof(known->link.name));
}

void netdev_free(struct netdev_reading *r)
{
	free(r->links);
	free(r->gids);
}
