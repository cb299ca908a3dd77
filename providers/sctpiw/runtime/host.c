/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "runtime/host.h"

#include <errno.h>
#include <string.h>

#include "config/config.h"
#include "net/id_port.h"
#include "net/memory.h"
#include "net/port.h"
#include "net/route.h"
#include "runtime/channel.h"
#include "runtime/shard.h"
#include "util/list.h"
#include "util/sockaddr.h"

static struct shard *shard_of(struct conn *c)
{
	return list_entry(c, struct shard, conn);
}

static int start_progress(struct conn *c)
{
	return progress_start(shard_of(c));
}

/* Most ids are not bound to a local address yet, so src may be NULL. */
static int route(struct conn *c, const struct sockaddr *src, const struct sockaddr *dst,
		 struct sockaddr_storage *source)
{
	if (src && src->sa_family && !sockaddr_is_any(src))
		return route_lookup(src, dst, source, NULL);
	return route_source(&c->net->routes, dst, source);
}

static uint32_t mtu(struct conn *c, const struct path_addr *to)
{
	return route_mtu(to);
}

static bool is_own_address(struct conn *c, const struct ip_addr *ip)
{
	return port_gid_find(ip->b, 0) >= 0;
}

/* True for an address that is valid only on one link: fe80::/10, or 169.254.0.0/16 (RFC 3927). */
static bool is_of_one_link(const struct ip_addr *ip)
{
	return ip_addr_is_link_local(ip) ||
	       (ip_addr_is_v4(ip) && ip->b[12] == 169 && ip->b[13] == 254);
}

static bool allows(const struct conn *c, const struct port_way *way)
{
	return !c->config->paths.off && !is_of_one_link(&way->ip) &&
	       config_paths_allow(&c->config->paths, &way->ip, way->interface);
}

static bool may_tell(struct conn *c, const struct ip_addr *ip)
{
	struct port_way way[PORT_WAYS_MAX];
	unsigned int ways = port_ways(way);

	for (unsigned int i = 0; i < ways; i++)
		if (ip_addr_equal(&way[i].ip, ip))
			return allows(c, &way[i]);
	return false;
}

/*
 * Returns the local addresses that are useful for more paths to a peer. For a peer on this host,
 * returns none. For a peer on another host, omits loopback and link-local addresses, which mean
 * another host there, or none. Omits addresses of the other family, which cannot be used together
 * with the current address.
 */
static unsigned int addresses(struct conn *c, const struct path_addr *to, struct ip_addr *addr,
			      unsigned int max)
{
	struct port_way way[PORT_WAYS_MAX];
	unsigned int n = 0, ways;

	if (ip_addr_is_loopback(&to->remote) || is_of_one_link(&to->remote) ||
	    is_own_address(c, &to->remote))
		return 0;
	ways = port_ways(way);
	for (unsigned int i = 0; i < ways && n < max; i++)
		if (ip_addr_is_v4(&way[i].ip) == ip_addr_is_v4(&to->remote) &&
		    !ip_addr_equal(&way[i].ip, &to->local) && allows(c, &way[i]))
			addr[n++] = way[i].ip;
	return n;
}

/* True if the error proves that there is no route. */
static bool is_no_way(int error)
{
	return error == -ENETUNREACH || error == -EHOSTUNREACH || error == -ENETDOWN ||
	       error == -EADDRNOTAVAIL || error == -EACCES || error == -EPERM || error == -EINVAL;
}

static bool source(struct conn *c, const struct ip_addr *remote, struct ip_addr *local)
{
	struct sockaddr_storage dst, src;
	struct port_way way[PORT_WAYS_MAX];
	unsigned int ways;
	int ret;

	sockaddr_make_natural(&dst, remote, 0);
	ret = route_lookup(NULL, (struct sockaddr *)&dst, &src, NULL);
	if (ret)
		return !is_no_way(ret);
	*local = sockaddr_ip((struct sockaddr *)&src);
	ways = port_ways(way);
	for (unsigned int i = 0; i < ways; i++)
		if (ip_addr_equal(&way[i].ip, local))
			return way[i].running;
	/*
	 * port_ways() omits some addresses that are usable, for example deprecated ones, and all
	 * after the first PORT_WAYS_MAX.
	 */
	return true;
}

static uint16_t take_port(struct conn *c, uint16_t port)
{
	return id_port_take(port);
}

static void give_port(struct conn *c, uint16_t port)
{
	id_port_give(port);
}

static bool port_is_taken(struct conn *c, uint16_t port)
{
	return id_port_is_taken(port);
}

static bool checksum(uint32_t *crc, const uint8_t *from, size_t len)
{
	return memory_crc32c(crc, from, len) == 0;
}

/*
 * Copies payload into the message. If the application's memory cannot be read any more, makes the
 * message invalid, so that the peer must refuse it.
 */
static void copy_out(uint8_t *msg, uint8_t *to, const uint8_t *from, size_t len)
{
	if (!memory_copy(to, from, len))
		return;
	memset(to, 0, len);
	iw_poison(msg);
}

const struct conn_ops host_conn_ops = {
	.start_progress = start_progress,
	.route = route,
	.route_mtu = mtu,
	.is_own_address = is_own_address,
	.may_tell = may_tell,
	.addresses = addresses,
	.source = source,
	.take_port = take_port,
	.give_port = give_port,
	.port_is_taken = port_is_taken,
	.events = {
		.post = channel_post,
		.purge = channel_purge,
		.ref = channel_ref,
		.put = channel_put,
	},
	.checksum = checksum,
	.copy_out = copy_out,
};
