/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The one port of the RDMA device: its GIDs, state and rate, made of the host's network interfaces. There is one
 * for the process. It has a lock of its own, which may be taken under a shard's lock and before those of
 * channels; nothing here needs another lock. What was true before a question is never missed by its answer.
 */
#ifndef SCTPIW_NET_PORT_H
#define SCTPIW_NET_PORT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "net/gid.h"
#include "util/list.h"

struct port_attr {
	bool active;	  /* an interface that is up has an address */
	unsigned int mtu; /* the largest of such interfaces, bytes; 0: there are none */
	uint8_t width; /* numbers of ibv_port_attr.active_width and active_speed, of the fastest interface */
	uint8_t speed;
	uint16_t lid;	/* the low 16 bits of the first GID; 0: there is none */
	uint64_t downs; /* how often the port stopped being active */
};

void port_query(struct port_attr *attr);
/* Network byte order; it never changes under a process, but for a child of fork(). */
uint64_t port_node_guid(void);

struct port_gid {
	uint8_t raw[16];	      /* the GID: an IP address, an IPv4 one as ::ffff:a.b.c.d */
	struct sockaddr_storage addr; /* sockaddr_in or sockaddr_in6, port 0; with its scope id */
	unsigned int ifindex;
};

/* *gid is all zero on error: -EINVAL past the end of the table, -ENODATA for an empty slot. */
int port_gid(unsigned int index, struct port_gid *gid);
/*
 * The first GID of the table, which is the port's on a network of InfiniBand. -ENODATA, and zeros, if the table is
 * empty.
 */
int port_first_gid(struct port_gid *gid);
/* The lowest index of that GID, on that interface unless ifindex is 0; or -ENOENT. */
int port_gid_find(const uint8_t gid[16], unsigned int ifindex);
/*
 * The slot of an address that this host had when a connection or a datagram came to have it, and what stands there. An
 * address that is in no slot, as one of lo may be, is left to slot 0, whose GID programs take first. The host is asked
 * only about an address that the table does not have, and not about those of lo, so that no system call is made for
 * each connection. 0; -ENODATA, slot 0 and zeros if that is empty.
 */
int port_gid_slot(const uint8_t raw[16], uint8_t *slot, struct port_gid *gid);

/*
 * While it is set, the port is not active, whatever the interfaces are: for faults. Watchers are told as of any other
 * change. A child of fork() begins without it.
 */
void port_force_down(bool down);

#define PORT_WAYS_MAX 32u

/* An address of this host that leads beyond the link, and whose interface is up. */
struct port_way {
	struct ip_addr ip;
	bool running; /* the interface has a carrier, so that packets can leave */
	unsigned int ifindex;
	char interface[16]; /* IFNAMSIZ */
};

/* Writes all of them, or PORT_WAYS_MAX, and returns how many. */
unsigned int port_ways(struct port_way way[PORT_WAYS_MAX]);
/* How often they were others than before. Any thread, without the port's lock. */
uint32_t port_ways_changes(void);

enum port_change { PORT_CHANGE_DOWN, PORT_CHANGE_GIDS, PORT_CHANGE_UP };

/* Somebody who wants to know of changes. changed is called with the port's lock held. */
struct port_watcher {
	struct list_node node;
	void (*changed)(struct port_watcher *w, enum port_change change);
};

/* w must stay where it is until port_unwatch(). */
void port_watch(struct port_watcher *w);
void port_unwatch(struct port_watcher *w);

/* Readable when interfaces or addresses may have changed: then port_refresh() is due. -1: not known yet. */
int port_watch_fd(void);
void port_refresh(void);

/* Around fork(), so that the child finds the lock free. The child's node GUID is another one. */
void port_fork_prepare(void);
void port_fork_parent(void);
void port_fork_child(void);
/* How many times fork() lies between this process and the one that had the device first. */
uint32_t port_forks(void);

#endif
