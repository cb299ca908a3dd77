/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/port.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "log/log.h"
#include "net/netdev.h"
#include "net/node_guid.h"
#include "net/rtnl.h"
#include "sys/sys.h"
#include "util/sockaddr.h"

#define NO_WATCH (-1)

/* Rates and the width and speed that the kernel's Ethernet drivers report for them. */
static const struct rate {
	unsigned int mbps;
	uint8_t width, speed;
} rates[] = {
	{ 1000, 1, 1 },	    /* 1X SDR */
	{ 10000, 1, 8 },    /* 1X FDR10 */
	{ 20000, 2, 2 },    /* 4X DDR */
	{ 25000, 1, 32 },   /* 1X EDR */
	{ 40000, 2, 8 },    /* 4X FDR10 */
	{ 50000, 16, 32 },  /* 2X EDR */
	{ 100000, 2, 32 },  /* 4X EDR */
	{ 200000, 2, 64 },  /* 4X HDR */
	{ 400000, 2, 128 }, /* 4X NDR */
};

/* Mbit/s. Rate if no interface of the host reports one. lo reports none and is about this fast. */
#define MBPS_UNKNOWN 40000

static struct {
	pthread_mutex_t lock;
	bool known;	  /* the host's interfaces have been read at least once */
	bool stale;	  /* the last attempt to read the host failed */
	bool forced_down; /* port_force_down() */
	/* an interface is active; the port is then active too, unless it is forced down */
	bool running;
	_Atomic int watch_fd; /* rtnetlink socket, or NO_WATCH */
	struct gid_table gids;
	unsigned int left_out; /* addresses without a slot in the table */
	struct port_attr attr;
	struct list_node watchers; /* port_watcher.node */
	/* read once, since a program must always see the same GUID; 0: not read yet */
	_Atomic uint64_t guid;
	uint32_t forks;
	_Atomic uint32_t ways_changes;
	struct port_way ways[PORT_WAYS_MAX];
	unsigned int n_ways;
} port = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.watch_fd = NO_WATCH,
	.watchers = { &port.watchers, &port.watchers },
};

static void note_left_out(unsigned int left_out)
{
	if (left_out && left_out != port.left_out)
		log_info("the GID table has no room for %u of this host's addresses", left_out);
	port.left_out = left_out;
}

static void set_rate(struct port_attr *attr, unsigned int mbps)
{
	const struct rate *last = &rates[sizeof(rates) / sizeof(rates[0]) - 1], *rate = rates;

	while (rate < last && rate->mbps < mbps)
		rate++;
	attr->width = rate->width;
	attr->speed = rate->speed;
}

static void tell(enum port_change change)
{
	list_for_each(node, &port.watchers) {
		struct port_watcher *w = list_entry(node, struct port_watcher, node);

		w->changed(w, change);
	}
}

/*
 * Replaces port.ways by the addresses that the host has now. The GID table, however, keeps old GIDs
 * too, since programs may have seen them.
 */
static void take_ways(const struct netdev_reading *r)
{
	struct port_way ways[PORT_WAYS_MAX];
	unsigned int n = 0;

	for (unsigned int i = 0; i < r->n_gids && n < PORT_WAYS_MAX; i++) {
		const struct gid_entry *gid = &r->gids[i];

		if (!gid->far)
			continue;
		memset(&ways[n], 0, sizeof(ways[n]));
		ways[n].ip = gid->ip;
		ways[n].running = gid->running;
		ways[n].ifindex = gid->ifindex;
		netdev_name(r, gid->ifindex, ways[n++].interface);
	}
	if (n == port.n_ways && !memcmp(ways, port.ways, n * sizeof(ways[0])))
		return;
	port.n_ways = n;
	memcpy(port.ways, ways, n * sizeof(ways[0]));
	atomic_fetch_add_explicit(&port.ways_changes, 1, memory_order_relaxed);
}

/* Updates the state of the port. Notifies watchers if the state or the GIDs have changed. */
static void activate(bool gids_changed)
{
	bool was = port.attr.active;

	port.attr.active = port.running && !port.forced_down;
	if (port.known && was && !port.attr.active) {
		port.attr.downs++;
		tell(PORT_CHANGE_DOWN);
	}
	if (port.known && gids_changed)
		tell(PORT_CHANGE_GIDS);
	if (port.known && !was && port.attr.active)
		tell(PORT_CHANGE_UP);
}

static void take(struct netdev_reading *r)
{
	bool changed;
	unsigned int left_out;

	take_ways(r);
	changed = gid_table_update(&port.gids, r->gids, r->n_gids, &left_out);
	note_left_out(left_out);
	port.running = r->active;
	port.attr.mtu = r->mtu;
	set_rate(&port.attr, r->mbps ? r->mbps : MBPS_UNKNOWN);
	if (!port.guid)
		port.guid = node_guid_of_mac(r);
	activate(changed);
	port.known = true;
}

/* Reads the host's interfaces. If that fails, the port keeps its earlier data. */
static void read_interfaces(void)
{
	struct netdev_reading r;
	int ret = netdev_read(&r);

	if (ret)
		log_debug("cannot read the network interfaces: %s", strerror(-ret));
	else
		take(&r);
	if (!port.guid)
		port.guid = node_guid_of_boot();
	netdev_free(&r);
	port.stale = ret != 0;
}

/*
 * Reads the interfaces if they have changed. If the kernel does not report changes, reads them each
 * time. The caller holds the lock.
 */
static void refresh(void)
{
	int fd = atomic_load_explicit(&port.watch_fd, memory_order_relaxed);

	if (fd < 0) {
		fd = sys_keep(rtnl_watch());
		atomic_store_explicit(&port.watch_fd, fd < 0 ? NO_WATCH : fd, memory_order_relaxed);
		read_interfaces();
	} else if (rtnl_changed(fd) || port.stale) {
		read_interfaces();
	}
}

static void lock_fresh(void)
{
	pthread_mutex_lock(&port.lock);
	refresh();
}

/* Each command of rdma_cm needs the GUID. So this takes no lock and makes no system call. */
uint64_t port_node_guid(void)
{
	uint64_t guid = atomic_load_explicit(&port.guid, memory_order_relaxed);

	if (!guid) {
		lock_fresh();
		guid = atomic_load_explicit(&port.guid, memory_order_relaxed);
		pthread_mutex_unlock(&port.lock);
	}
	return node_guid_of_child(guid, port.forks);
}

/* Copies a table entry to *gid. Returns 0, or -ENODATA with zeros if the entry is NULL or empty. */
static int describe(const struct gid_entry *entry, struct port_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	if (!entry || !entry->valid)
		return -ENODATA;
	memcpy(gid->raw, entry->ip.b, sizeof(gid->raw));
	sockaddr_make_natural(&gid->addr, &entry->ip, 0);
	gid->ifindex = entry->ifindex;
	return 0;
}

int port_gid(unsigned int index, struct port_gid *gid)
{
	int ret;

	if (index >= GID_TABLE_LEN) {
		memset(gid, 0, sizeof(*gid));
		return -EINVAL;
	}
	lock_fresh();
	ret = describe(&port.gids.slot[index], gid);
	pthread_mutex_unlock(&port.lock);
	return ret;
}

int port_first_gid(struct port_gid *gid)
{
	int ret;

	lock_fresh();
	ret = describe(gid_table_first(&port.gids), gid);
	pthread_mutex_unlock(&port.lock);
	return ret;
}

int port_gid_find(const uint8_t gid[16], unsigned int ifindex)
{
	int index;

	lock_fresh();
	index = gid_table_find(&port.gids, gid, ifindex);
	pthread_mutex_unlock(&port.lock);
	return index;
}

/*
 * True if the host may have got this address after the table was filled. Loopback addresses never
 * count as new: they may have no slot, and each connection over lo would then read the interfaces
 * in vain.
 */
static bool may_have_come(const uint8_t raw[16])
{
	struct ip_addr ip = { 0 };

	memcpy(ip.b, raw, sizeof(ip.b));
	return !port.known || !ip_addr_is_loopback(&ip);
}

int port_gid_slot(const uint8_t raw[16], uint8_t *slot, struct port_gid *gid)
{
	int index, ret;

	pthread_mutex_lock(&port.lock);
	index = gid_table_find(&port.gids, raw, 0);
	if (index < 0 && may_have_come(raw)) {
		refresh();
		index = gid_table_find(&port.gids, raw, 0);
	}
	*slot = index < 0 ? 0 : (uint8_t)index;
	ret = describe(&port.gids.slot[*slot], gid);
	pthread_mutex_unlock(&port.lock);
	return ret;
}

unsigned int port_ways(struct port_way way[PORT_WAYS_MAX])
{
	unsigned int n;

	lock_fresh();
	n = port.n_ways;
	memcpy(way, port.ways, n * sizeof(way[0]));
	pthread_mutex_unlock(&port.lock);
	return n;
}

uint32_t port_ways_changes(void)
{
	return atomic_load_explicit(&port.ways_changes, memory_order_relaxed);
}

void port_query(struct port_attr *attr)
{
	const struct gid_entry *first;

	lock_fresh();
	*attr = port.attr;
	first = gid_table_first(&port.gids);
	attr->lid = first ? (uint16_t)(first->ip.b[14] << 8 | first->ip.b[15]) : 0;
	pthread_mutex_unlock(&port.lock);
}

void port_force_down(bool down)
{
	lock_fresh();
	port.forced_down = down;
	activate(false);
	pthread_mutex_unlock(&port.lock);
}

/* ---- watchers ---- */

void port_watch(struct port_watcher *w)
{
	lock_fresh();
	list_add_tail(&port.watchers, &w->node);
	pthread_mutex_unlock(&port.lock);
}

void port_unwatch(struct port_watcher *w)
{
	pthread_mutex_lock(&port.lock);
	list_del(&w->node);
	pthread_mutex_unlock(&port.lock);
}

int port_watch_fd(void)
{
	return atomic_load_explicit(&port.watch_fd, memory_order_relaxed);
}

void port_refresh(void)
{
	lock_fresh();
	pthread_mutex_unlock(&port.lock);
}

/* ---- fork ---- */

void port_fork_prepare(void)
{
	pthread_mutex_lock(&port.lock);
}

void port_fork_parent(void)
{
	pthread_mutex_unlock(&port.lock);
}

/* The watchers and the messages of the rtnetlink socket belong to the parent. */
void port_fork_child(void)
{
	int fd = atomic_load_explicit(&port.watch_fd, memory_order_relaxed);

	port.forks++;
	port.forced_down = false;
	port.attr.active = port.running;
	list_init(&port.watchers);
	if (fd >= 0)
		sys_close(fd);
	atomic_store_explicit(&port.watch_fd, NO_WATCH, memory_order_relaxed);
	pthread_mutex_unlock(&port.lock);
}

uint32_t port_forks(void)
{
	return port.forks;
}
