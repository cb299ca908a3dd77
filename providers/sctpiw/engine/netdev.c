/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The machine's network interfaces, as the attributes of one RDMA device. */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "engine/private.h"
#include "engine/sockaddr.h"
#include "engine/sys.h"
#include "util/bytes.h"
#include "util/crc32c.h"

#define MAX_GIDS 256
#define CACHE_TIME (SYS_NSEC_PER_SEC / 10)

struct gid {
	uint8_t raw[16];
	unsigned int rank; /* smaller: earlier in the table */
	unsigned int ifindex;
};

static struct {
	pthread_mutex_t lock;
	uint64_t read_at; /* 0: never */
	struct gid gids[MAX_GIDS];
	unsigned int n_gids;
	bool active;
	unsigned int mtu;
	uint64_t guid; /* network byte order; read once: it must not change under programs */
} net = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool is_up(const struct ifaddrs *ifa)
{
	return (ifa->ifa_flags & (IFF_UP | IFF_RUNNING)) == (IFF_UP | IFF_RUNNING);
}

/* Addresses that reach furthest come first; programs take the first that they like. */
static unsigned int rank(const struct ifaddrs *ifa, const struct ip_addr *ip)
{
	if (ifa->ifa_flags & IFF_LOOPBACK)
		return 3;
	if (ip->scope_id)
		return 2;
	return ip_addr_is_v4(ip) ? 0 : 1;
}

static void add_gid(const struct ifaddrs *ifa)
{
	struct ip_addr ip = sockaddr_ip(ifa->ifa_addr);
	struct gid *gid;

	if (net.n_gids == MAX_GIDS)
		return;
	gid = &net.gids[net.n_gids++];
	memcpy(gid->raw, ip.b, sizeof(gid->raw));
	gid->rank = rank(ifa, &ip);
	gid->ifindex = if_nametoindex(ifa->ifa_name);
}

static int compare_gids(const void *x, const void *y)
{
	const struct gid *a = x, *b = y;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->ifindex != b->ifindex)
		return a->ifindex < b->ifindex ? -1 : 1;
	return memcmp(a->raw, b->raw, sizeof(a->raw));
}

static unsigned int interface_mtu(int fd, const char *name)
{
	struct ifreq req;

	memset(&req, 0, sizeof(req));
	strncpy(req.ifr_name, name, sizeof(req.ifr_name) - 1);
	return fd >= 0 && !sys_ioctl(fd, SIOCGIFMTU, &req) && req.ifr_mtu > 0 ?
		       (unsigned int)req.ifr_mtu :
		       0;
}

/* A modified EUI-64 of the first interface that has an Ethernet address. */
static uint64_t guid_of_mac(const struct ifaddrs *list)
{
	const struct sockaddr_ll *best = NULL;
	uint8_t b[8];
	uint64_t guid;

	for (const struct ifaddrs *ifa = list; ifa; ifa = ifa->ifa_next) {
		const struct sockaddr_ll *ll = (const void *)ifa->ifa_addr;
		static const uint8_t zero[6];

		if (!ll || ll->sll_family != AF_PACKET || ll->sll_halen != 6 ||
		    ifa->ifa_flags & IFF_LOOPBACK || !memcmp(ll->sll_addr, zero, 6))
			continue;
		if (!best || ll->sll_ifindex < best->sll_ifindex)
			best = ll;
	}
	if (!best)
		return 0;
	memcpy(b, best->sll_addr, 3);
	b[0] ^= 2;
	b[3] = 0xff;
	b[4] = 0xfe;
	memcpy(b + 5, best->sll_addr + 3, 3);
	memcpy(&guid, b, sizeof(guid));
	return guid;
}

/* Without an interface: of this boot, locally administered. */
static uint64_t guid_of_boot(void)
{
	uint8_t id[36] = {0}, b[8];
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

static void read_interfaces(void)
{
	struct ifaddrs *list, *ifa;
	int fd;

	net.n_gids = 0;
	net.active = false;
	net.mtu = 0;
	if (getifaddrs(&list))
		list = NULL;
	fd = sys_socket(AF_INET, SOCK_DGRAM, 0);
	for (ifa = list; ifa; ifa = ifa->ifa_next) {
		unsigned int mtu;

		if (!is_up(ifa) || !ifa->ifa_addr || sockaddr_check(ifa->ifa_addr))
			continue;
		net.active = true;
		add_gid(ifa);
		mtu = interface_mtu(fd, ifa->ifa_name);
		if (mtu > net.mtu)
			net.mtu = mtu;
	}
	sys_close(fd);
	qsort(net.gids, net.n_gids, sizeof(net.gids[0]), compare_gids);
	if (!net.guid)
		net.guid = guid_of_mac(list);
	if (!net.guid)
		net.guid = guid_of_boot();
	if (list)
		freeifaddrs(list);
}

static void lock_fresh(void)
{
	uint64_t now = sys_now();

	pthread_mutex_lock(&net.lock);
	if (!net.read_at || now - net.read_at > CACHE_TIME) {
		read_interfaces();
		net.read_at = now;
	}
}

static uint32_t forks; /* see rnic_api.h */

uint64_t engine_node_guid(struct engine *e)
{
	uint64_t guid;

	lock_fresh();
	guid = net.guid;
	pthread_mutex_unlock(&net.lock);
	/* In the middle an EUI-64 made of an Ethernet address has no more to say than that. */
	return guid ^ htobe64((uint64_t)(forks & 0xffff) << 24);
}

uint32_t netdev_forks(void)
{
	return forks;
}

int engine_gid(struct engine *e, unsigned int index, uint8_t gid[16])
{
	int ret = -ENOENT;

	lock_fresh();
	if (index < net.n_gids) {
		memcpy(gid, net.gids[index].raw, 16);
		ret = 0;
	}
	pthread_mutex_unlock(&net.lock);
	return ret;
}

bool engine_port_active(struct engine *e)
{
	bool active;

	lock_fresh();
	active = net.active;
	pthread_mutex_unlock(&net.lock);
	return active;
}

unsigned int engine_active_mtu(struct engine *e)
{
	unsigned int mtu;

	lock_fresh();
	mtu = net.mtu;
	pthread_mutex_unlock(&net.lock);
	return mtu;
}

void netdev_fork_prepare(void)
{
	pthread_mutex_lock(&net.lock);
}

void netdev_fork_done(void)
{
	pthread_mutex_unlock(&net.lock);
}

void netdev_fork_child(void)
{
	forks++;
}
