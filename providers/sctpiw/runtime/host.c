/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "runtime/host.h"

#include <string.h>

#include "net/memory.h"
#include "net/port.h"
#include "net/route.h"
#include "runtime/channel.h"
#include "runtime/shard.h"
#include "util/list.h"

static struct shard *shard_of(struct conn *c)
{
	return list_entry(c, struct shard, conn);
}

static int start_progress(struct conn *c)
{
	return progress_start(shard_of(c));
}

static int route(struct conn *c, const struct sockaddr *src, const struct sockaddr *dst,
		 struct sockaddr_storage *source)
{
	return route_lookup(src, dst, source, NULL);
}

static uint32_t mtu(struct conn *c, const struct path_addr *to)
{
	return route_mtu(to);
}

static bool is_own_address(struct conn *c, const struct ip_addr *ip)
{
	return port_gid_find(ip->b, 0) >= 0;
}

static bool checksum(uint32_t *crc, const uint8_t *from, size_t len)
{
	return memory_crc32c(crc, from, len) == 0;
}

/* If the memory cannot be read any more, the message becomes one that the peer must refuse. */
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
	.events = {
		.post = channel_post,
		.purge = channel_purge,
		.ref = channel_ref,
		.put = channel_put,
	},
	.checksum = checksum,
	.copy_out = copy_out,
};
