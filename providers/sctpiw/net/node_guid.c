/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/node_guid.h"

#include <endian.h>
#include <fcntl.h>
#include <string.h>

#include "net/netdev.h"
#include "sys/sys.h"
#include "util/bytes.h"
#include "util/crc32c.h"

uint64_t node_guid_of_mac(const struct netdev_reading *r)
{
	const struct rtnl_link *best = NULL;
	uint8_t b[8];
	uint64_t guid;

	for (unsigned int i = 0; i < r->n_links; i++) {
		const struct rtnl_link *link = &r->links[i].link;

		if (link->has_mac && (!best || link->ifindex < best->ifindex))
			best = link;
	}
	if (!best)
		return 0;
	memcpy(b, best->mac, 3);
	b[0] ^= 2;
	b[3] = 0xff;
	b[4] = 0xfe;
	memcpy(b + 5, best->mac + 3, 3);
	memcpy(&guid, b, sizeof(guid));
	return guid;
}

uint64_t node_guid_of_boot(void)
{
	uint8_t id[36] = { 0 }, b[8];
	uint64_t guid;
	int fd = sys_open("/proc/sys/kernel/random/boot_id", O_RDONLY);

	if (fd >= 0) {
		sys_read(fd, id, sizeof(id));
		sys_close(fd);
	}
	put_be32(b, crc32c(id, sizeof(id)));
	put_be32(b + 4, crc32c(id, sizeof(id) / 2));
	b[0] = (uint8_t)((b[0] & ~1) | 2);
	memcpy(&guid, b, sizeof(guid));
	return guid;
}

/* Changes the middle bytes, which are constant (ff:fe) in an EUI-64 made from a MAC address. */
uint64_t node_guid_of_child(uint64_t guid, uint32_t forks)
{
	return guid ^ htobe64((uint64_t)(forks & 0xffff) << 24);
}
