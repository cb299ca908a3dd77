/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/route.h"

#include <errno.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <string.h>

#include "net/rtnl.h"
#include "util/sockaddr.h"
#include "sys/sys.h"

#define MTU_UNKNOWN 1280
#define DISCARD_PORT 9 /* any port would do, since nothing is sent */

static int connect_probe(int fd, const struct sockaddr *src, const struct sockaddr *dst)
{
	struct sockaddr_storage addr;
	int ret;

	if (dst->sa_family == AF_INET6)
		sys_setsockopt_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
	if (src && src->sa_family && !sockaddr_is_any(src)) {
		sockaddr_copy(&addr, src);
		sockaddr_set_port((struct sockaddr *)&addr, 0);
		ret = sys_bind(fd, (struct sockaddr *)&addr, sockaddr_len(src));
		if (ret)
			return ret;
	}
	sockaddr_copy(&addr, dst);
	sockaddr_set_port((struct sockaddr *)&addr, DISCARD_PORT);
	return sys_connect(fd, (struct sockaddr *)&addr, sockaddr_len(dst));
}

int route_lookup(const struct sockaddr *src, const struct sockaddr *dst,
		 struct sockaddr_storage *source, uint32_t *mtu)
{
	int fd, ret, val;

	fd = sys_socket(dst->sa_family, SOCK_DGRAM, IPPROTO_UDP);
	if (fd < 0)
		return fd;
	ret = connect_probe(fd, src, dst);
	if (!ret && source) {
		ret = sys_getsockname(fd, source);
		if (!ret)
			sockaddr_set_port((struct sockaddr *)source, 0);
	}
	if (!ret && mtu) {
		struct ip_addr ip = sockaddr_ip(dst);

		val = ip_addr_is_v4(&ip) ? sys_getsockopt_int(fd, IPPROTO_IP, IP_MTU) :
					   sys_getsockopt_int(fd, IPPROTO_IPV6, IPV6_MTU);
		*mtu = val > 0 ? (uint32_t)val : MTU_UNKNOWN;
	}
	sys_close(fd);
	return ret;
}

/* ---- sockets for many look-ups ---- */

void route_probe_init(struct route_probe *p)
{
	p->v4 = p->v6 = -1;
}

void route_probe_close(struct route_probe *p)
{
	sys_close(p->v4);
	sys_close(p->v6);
	route_probe_init(p);
}

/* Clears the port and source address, which a socket keeps after its first connect(). */
static void disconnect(int fd)
{
	const struct sockaddr none = { .sa_family = AF_UNSPEC };

	sys_connect(fd, &none, sizeof(none));
}

int route_source(struct route_probe *p, const struct sockaddr *dst, struct sockaddr_storage *source)
{
	int *fd = dst->sa_family == AF_INET6 ? &p->v6 : &p->v4, ret;

	if (*fd < 0)
		*fd = sys_keep(sys_socket(dst->sa_family, SOCK_DGRAM, IPPROTO_UDP));
	if (*fd < 0)
		return *fd;
	ret = connect_probe(*fd, NULL, dst);
	if (!ret)
		ret = sys_getsockname(*fd, source);
	disconnect(*fd);
	if (!ret)
		sockaddr_set_port((struct sockaddr *)source, 0);
	return ret;
}

int route_to_group(const struct ip_addr *group, unsigned int ifindex)
{
	struct sockaddr_storage dst;
	int fd = sys_socket(AF_INET6, SOCK_DGRAM, IPPROTO_UDP), ret;

	if (fd < 0)
		return fd;
	sockaddr_make(&dst, AF_INET6, group, DISCARD_PORT);
	ret = sys_setsockopt_int(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, (int)ifindex);
	if (!ret)
		ret = sys_connect(fd, (struct sockaddr *)&dst, sizeof(struct sockaddr_in6));
	sys_close(fd);
	return ret;
}

/* Returns the MTU of an interface in bytes, or 0 if it is unknown. */
static uint32_t interface_mtu(unsigned int ifindex)
{
	struct ifreq req = { .ifr_ifindex = (int)ifindex };
	int fd = sys_socket(AF_INET, SOCK_DGRAM, 0);
	bool known = fd >= 0 && !sys_ioctl(fd, SIOCGIFNAME, &req) &&
		     !sys_ioctl(fd, SIOCGIFMTU, &req) && req.ifr_mtu > 0;

	sys_close(fd);
	return known ? (uint32_t)req.ifr_mtu : 0;
}

/*
 * Returns the MTU of the interface if the kernel has learnt a smaller one from ICMP. Any host can
 * forge ICMP messages, since the kernel checks only their addresses and ports. The MTU of the
 * interface can be trusted, and SCTP then finds the path MTU itself.
 */
static uint32_t not_learnt(const struct path_addr *to, uint32_t mtu)
{
	struct rtnl_route route;
	uint32_t whole;

	if (rtnl_route(to, &route) || !route.mtu || !route.temporary)
		return mtu;
	whole = interface_mtu(route.ifindex);
	return whole > mtu ? whole : mtu;
}

uint32_t route_mtu(const struct path_addr *to)
{
	struct sockaddr_storage src, dst;
	uint32_t mtu;

	sockaddr_make_natural(&dst, &to->remote, 0);
	sockaddr_make_natural(&src, &to->local, 0);
	if (ip_addr_is_zero(&to->local))
		src.ss_family = 0;
	if (route_lookup((struct sockaddr *)&src, (struct sockaddr *)&dst, NULL, &mtu))
		return MTU_UNKNOWN;
	return not_learnt(to, mtu);
}
