/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/route.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "util/sockaddr.h"
#include "sys/sys.h"

#define MTU_UNKNOWN 1280
#define DISCARD_PORT 9 /* nothing is sent there, so any port would do */

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
	return mtu;
}
