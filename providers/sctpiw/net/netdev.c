/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The machine's network interfaces, as the attributes of one RDMA device. */
#define _GNU_SOURCE
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "net/gid.h"
#include "log/log.h"
#include "runtime/object.h"
#include "runtime/private.h"
#include "net/rtnl.h"
#include "util/sockaddr.h"
#include "sys/sys.h"
#include "util/bytes.h"
#include "util/crc32c.h"

#define READ_TRIES 3
#define NO_WATCH (-1)

/* What the port's width and speed mean, as the kernel's drivers for Ethernet report them. */
static const struct rate {
	unsigned int mbps;
	uint8_t width, speed;
} rates[] = {
	{1000, 1, 1}, /* 1X SDR */
	{10000, 1, 8}, /* 1X FDR10 */
	{20000, 2, 2}, /* 4X DDR */
	{25000, 1, 32}, /* 1X EDR */
	{40000, 2, 8}, /* 4X FDR10 */
	{50000, 16, 32}, /* 2X EDR */
	{100000, 2, 32}, /* 4X EDR */
	{200000, 2, 64}, /* 4X HDR */
	{400000, 2, 128}, /* 4X NDR */
};

/* Of a host whose interfaces do not say, as lo, which is about that fast. */
#define MBPS_UNKNOWN 40000

static struct {
	pthread_mutex_t lock; /* taken under the engine lock, and before those of channels */
	bool known;	      /* was read before */
	bool stale;	      /* the last try failed */
	_Atomic int watch_fd;
	struct gid_table gids;
	unsigned int left_out; /* addresses that the table has no slot for */
	struct engine_port port;
	struct list_node watchers;
	uint64_t guid; /* network byte order; read once: it must not change under programs */
} net = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.watch_fd = NO_WATCH,
	.watchers = {&net.watchers, &net.watchers},
};

struct known_link {
	struct rtnl_link link;
	bool counted; /* count_link() */
};

/* What is read, before it takes the place of what is known. Arrays grow as needed. */
struct reading {
	struct known_link *links;
	struct gid_entry *gids;
	unsigned int n_links, n_gids;
	unsigned int mtu, mbps;
	int ioctl_fd;
	bool active;
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

	if (!grow((void **)&r->links, r->n_links, sizeof(*r->links)))
		r->failed = true;
	else
		r->links[r->n_links++] = (struct known_link){.link = *link};
}

static struct known_link *link_of(const struct reading *r, unsigned int ifindex)
{
	for (unsigned int i = 0; i < r->n_links; i++)
		if (r->links[i].link.ifindex == ifindex)
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

/* Of the kernel's SPEED_UNKNOWN and of interfaces without an answer: 0. */
static unsigned int link_mbps(int fd, const char *name)
{
	struct ethtool_cmd cmd = {.cmd = ETHTOOL_GSET};
	struct ifreq req = {.ifr_data = (void *)&cmd};
	uint32_t mbps;

	memcpy(req.ifr_name, name, sizeof(req.ifr_name));
	if (fd < 0 || sys_ioctl(fd, SIOCETHTOOL, &req))
		return 0;
	mbps = (uint32_t)cmd.speed_hi << 16 | cmd.speed; /* ethtool_cmd_speed() shifts an int, into its sign */
	return mbps == (uint32_t)SPEED_UNKNOWN ? 0 : mbps;
}

/* Of an address that can be used; a link is asked once, however many it has. */
static void count_link(struct reading *r, struct known_link *known)
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
 * Left out is what cannot be used: addresses of interfaces that are down, and those of which it is not
 * known yet that nobody else has them.
 */
static void add_addr(const struct rtnl_addr *addr, void *arg)
{
	struct reading *r = arg;
	struct known_link *known = link_of(r, addr->ifindex);
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
	};
	if (running)
		count_link(r, known);
}

/* A modified EUI-64 of the first interface that has an Ethernet address. */
static uint64_t guid_of_mac(const struct reading *r)
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

static void note_left_out(unsigned int left_out)
{
	if (left_out && left_out != net.left_out)
		log_info("the GID table has no room for %u of this host's addresses", left_out);
	net.left_out = left_out;
}

static void set_rate(struct engine_port *port, unsigned int mbps)
{
	const struct rate *last = &rates[sizeof(rates) / sizeof(rates[0]) - 1], *rate = rates;

	while (rate < last && rate->mbps < mbps)
		rate++;
	port->width = rate->width;
	port->speed = rate->speed;
}

/* Those who do not read their events are told of each kind once. */
static void tell(enum engine_async_type type)
{
	struct engine_async_event ev = {.element = 1, .event_type = type};

	list_for_each(node, &net.watchers)
		channel_post_latest(
			&list_entry(node, struct engine_port_watcher, node)->source, &ev, sizeof(ev));
}

static void take(struct reading *r)
{
	bool was = net.port.active, changed;
	unsigned int left_out;

	changed = gid_table_update(&net.gids, r->gids, r->n_gids, &left_out);
	note_left_out(left_out);
	net.port.active = r->active;
	net.port.mtu = r->mtu;
	set_rate(&net.port, r->mbps ? r->mbps : MBPS_UNKNOWN);
	if (!net.guid)
		net.guid = guid_of_mac(r);
	if (net.known && was && !r->active) {
		net.port.downs++;
		tell(ENGINE_ASYNC_PORT_ERR);
	}
	if (net.known && changed)
		tell(ENGINE_ASYNC_GID_CHANGE);
	if (net.known && !was && r->active)
		tell(ENGINE_ASYNC_PORT_ACTIVE);
	net.known = true;
}

/* What cannot be read stays as it was. */
static void read_interfaces(void)
{
	struct reading r = {.links = NULL};
	int ret = read_host(&r);

	if (ret)
		log_debug("cannot read the network interfaces: %s", strerror(-ret));
	else
		take(&r);
	if (!net.guid)
		net.guid = guid_of_boot();
	free(r.links);
	free(r.gids);
	net.stale = ret != 0;
}

/* Where the kernel does not tell of changes, everything is read each time. */
static void lock_fresh(void)
{
	int fd;

	pthread_mutex_lock(&net.lock);
	fd = atomic_load_explicit(&net.watch_fd, memory_order_relaxed);
	if (fd < 0) {
		fd = sys_keep(rtnl_watch());
		atomic_store_explicit(&net.watch_fd, fd < 0 ? NO_WATCH : fd, memory_order_relaxed);
		read_interfaces();
	} else if (rtnl_changed(fd) || net.stale) {
		read_interfaces();
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

void engine_port(struct engine *e, struct engine_port *port)
{
	lock_fresh();
	*port = net.port;
	pthread_mutex_unlock(&net.lock);
}

int engine_watch_port(struct engine *e, struct engine_port_watcher *watcher)
{
	int ret;

	engine_lock(e);
	ret = progress_start(e);
	engine_unlock(e);
	if (ret)
		return ret;
	lock_fresh();
	list_add_tail(&net.watchers, &watcher->node);
	pthread_mutex_unlock(&net.lock);
	progress_wake(e); /* it may not know of the descriptor yet */
	return 0;
}

void engine_unwatch_port(struct engine *e, struct engine_port_watcher *watcher)
{
	pthread_mutex_lock(&net.lock);
	list_del(&watcher->node);
	pthread_mutex_unlock(&net.lock);
}

int netdev_watch_fd(void)
{
	return atomic_load_explicit(&net.watch_fd, memory_order_relaxed);
}

void netdev_changed(void)
{
	lock_fresh();
	pthread_mutex_unlock(&net.lock);
}

void netdev_fork_prepare(void)
{
	pthread_mutex_lock(&net.lock);
}

void netdev_fork_done(void)
{
	pthread_mutex_unlock(&net.lock);
}

/* The watchers are the parent's, and so are the news that its descriptor brings. */
void netdev_fork_child(void)
{
	int fd = atomic_load_explicit(&net.watch_fd, memory_order_relaxed);

	forks++;
	list_init(&net.watchers);
	if (fd >= 0)
		sys_close(fd);
	atomic_store_explicit(&net.watch_fd, NO_WATCH, memory_order_relaxed);
	pthread_mutex_unlock(&net.lock);
}
