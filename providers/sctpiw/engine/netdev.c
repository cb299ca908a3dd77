/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The machine's network interfaces, as the attributes of one RDMA device. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "engine/gid.h"
#include "engine/log.h"
#include "engine/private.h"
#include "engine/rtnl.h"
#include "engine/sockaddr.h"
#include "engine/sys.h"
#include "util/bytes.h"
#include "util/crc32c.h"

#define CACHE_TIME (SYS_NSEC_PER_SEC / 10)
#define READ_TRIES 3

static struct {
	pthread_mutex_t lock;
	uint64_t read_at; /* 0: never */
	struct gid_table gids;
	unsigned int left_out; /* addresses that the table has no slot for */
	bool active;
	unsigned int mtu;
	uint64_t guid; /* network byte order; read once: it must not change under programs */
} net = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* What is read, before it takes the place of what is known. Arrays grow as needed. */
struct reading {
	struct rtnl_link *links;
	struct gid_entry *gids;
	unsigned int n_links, n_gids;
	bool active;
	unsigned int mtu;
	bool failed;
};

/* Room for one more in an array of n elements; false: no memory. */
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
	struct reading *r = arg;

	if (!grow((void **)&r->links, r->n_links, sizeof(*link)))
		r->failed = true;
	else
		r->links[r->n_links++] = *link;
}

static const struct rtnl_link *link_of(const struct reading *r, unsigned int ifindex)
{
	for (unsigned int i = 0; i < r->n_links; i++)
		if (r->links[i].ifindex == ifindex)
			return &r->links[i];
	return NULL;
}

/* Addresses that reach furthest come first, IPv4 before IPv6; programs take the first that they like. */
static unsigned int rank(const struct rtnl_addr *addr, bool running)
{
	unsigned int reach = 0;

	if (addr->scope >= RT_SCOPE_HOST)
		reach = 2;
	else if (addr->scope >= RT_SCOPE_LINK || !running || addr->flags & IFA_F_DEPRECATED)
		reach = 1;
	return 2 * reach + !ip_addr_is_v4(&addr->ip);
}

/*
 * Left out is what cannot be used: addresses of interfaces that are down, and those of which it is not
 * known yet that nobody else has them.
 */
static void add_addr(const struct rtnl_addr *addr, void *arg)
{
	struct reading *r = arg;
	const struct rtnl_link *link = link_of(r, addr->ifindex);
	bool running;

	if (!link || !(link->flags & IFF_UP) || addr->flags & IFA_F_DADFAILED ||
	    (addr->flags & IFA_F_TENTATIVE && !(addr->flags & IFA_F_OPTIMISTIC)))
		return;
	if (!grow((void **)&r->gids, r->n_gids, sizeof(*r->gids))) {
		r->failed = true;
		return;
	}
	running = link->flags & IFF_RUNNING;
	r->gids[r->n_gids++] = (struct gid_entry){
		.ip = addr->ip,
		.ifindex = addr->ifindex,
		.rank = rank(addr, running),
	};
	if (!running)
		return;
	r->active = true;
	if (link->mtu > r->mtu)
		r->mtu = link->mtu;
}

/* A modified EUI-64 of the first interface that has an Ethernet address. */
static uint64_t guid_of_mac(const struct reading *r)
{
	const struct rtnl_link *best = NULL;
	uint8_t b[8];
	uint64_t guid;

	for (unsigned int i = 0; i < r->n_links; i++) {
		const struct rtnl_link *link = &r->links[i];

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

/* The kernel may say that things have changed while it told them: then once more. */
static int read_host(struct reading *r)
{
	int ret = -EAGAIN;

	for (int i = 0; i < READ_TRIES && ret == -EAGAIN; i++) {
		r->n_links = r->n_gids = r->mtu = 0;
		r->active = r->failed = false;
		ret = rtnl_links(add_link, r);
		if (!ret)
			ret = rtnl_addrs(add_addr, r);
	}
	return !ret && r->failed ? -ENOMEM : ret;
}

static void note_left_out(unsigned int left_out)
{
	if (left_out && left_out != net.left_out)
		log_info("the GID table has no room for %u of this host's addresses", left_out);
	net.left_out = left_out;
}

/* What cannot be read stays as it was. */
static void read_interfaces(void)
{
	struct reading r = {.links = NULL};
	unsigned int left_out;
	int ret = read_host(&r);

	if (ret) {
		log_debug("cannot read the network interfaces: %s", strerror(-ret));
	} else {
		gid_table_update(&net.gids, r.gids, r.n_gids, &left_out);
		note_left_out(left_out);
		net.active = r.active;
		net.mtu = r.mtu;
		if (!net.guid)
			net.guid = guid_of_mac(&r);
	}
	if (!net.guid)
		net.guid = guid_of_boot();
	free(r.links);
	free(r.gids);
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

uint64_t engine_node_guid(struct engine *e)
{
	uint64_t guid;

	lock_fresh();
	guid = net.guid;
	pthread_mutex_unlock(&net.lock);
	return guid;
}

int engine_gid(struct engine *e, unsigned int index, struct engine_gid *gid)
{
	const struct gid_entry *entry;
	int ret = -ENODATA;

	memset(gid, 0, sizeof(*gid));
	if (index >= GID_TABLE_LEN)
		return -EINVAL;
	lock_fresh();
	entry = &net.gids.slot[index];
	if (entry->valid) {
		memcpy(gid->raw, entry->ip.b, sizeof(gid->raw));
		sockaddr_make_natural(&gid->addr, &entry->ip, 0);
		gid->ifindex = entry->ifindex;
		ret = 0;
	}
	pthread_mutex_unlock(&net.lock);
	return ret;
}

int engine_gid_find(struct engine *e, const uint8_t gid[16], unsigned int ifindex)
{
	int index;

	lock_fresh();
	index = gid_table_find(&net.gids, gid, ifindex);
	pthread_mutex_unlock(&net.lock);
	return index;
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
