/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The one port of the RDMA device in this process: its GIDs, state and rate, derived from the
 * host's network interfaces. It has its own lock, which may be taken under a shard's lock and
 * before those of channels. The functions need no other lock. A result includes all changes before
 * the call.
 */
#ifndef SCTPIW_NET_PORT_H
#define SCTPIW_NET_PORT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "net/gid.h"
#include "util/list.h"

struct port_attr {
	bool active;	  /* a running interface has an address */
	unsigned int mtu; /* the largest of such interfaces, bytes; 0: none */
	uint8_t width; /* ibv_port_attr.active_width and active_speed, of the fastest interface */
	uint8_t speed;
	uint16_t lid;	/* the low 16 bits of the first GID; 0: none */
	uint64_t downs; /* how often the port became inactive */
};

void port_query(struct port_attr *attr);
/*
 * Returns the node GUID, constant in a process, in network byte order. A fork()'s child has another
 * one.
 */
uint64_t port_node_guid(void);

struct port_gid {
	uint8_t raw[16];	      /* the GID: an IP address, for IPv4 as ::ffff:a.b.c.d */
	struct sockaddr_storage addr; /* sockaddr_in or sockaddr_in6, with scope id and port 0 */
	unsigned int ifindex;
};

/*
 * Gets a GID. Returns 0, -EINVAL past the end of the table, or -ENODATA for an empty slot. On error
 * *gid is all zero.
 */
int port_gid(unsigned int index, struct port_gid *gid);
/*
 * Gets the first GID of the table, which is the port's GID on an InfiniBand network. Returns 0, or
 * -ENODATA with zeros if the table is empty.
 */
int port_first_gid(struct port_gid *gid);
/* Returns the lowest index of that GID, on that interface unless ifindex is 0, or -ENOENT. */
int port_gid_find(const uint8_t gid[16], unsigned int ifindex);
/*
 * Gets the slot of the local address of a connection or a datagram, and the GID in that slot. The
 * host had the address when the connection or datagram got it. An address without a slot, such as
 * one of lo, gets slot 0, whose GID programs use first. The host is read only if the table lacks
 * the address, and not for addresses of lo. So connections cause no system calls. Returns 0, or
 * -ENODATA with slot 0 and zeros if slot 0 is empty.
 */
int port_gid_slot(const uint8_t raw[16], uint8_t *slot, struct port_gid *gid);

/*
 * Makes the port inactive while down is set, whatever the interfaces are; for faults. Watchers get
 * this change like any other. A child of fork() begins without it.
 */
void port_force_down(bool down);

#define PORT_WAYS_MAX 32u

/* An address of this host that leads beyond the link, on an interface that is up. */
struct port_way {
	struct ip_addr ip;
	bool running; /* the interface has a carrier, so that packets can leave */
	unsigned int ifindex;
	char interface[16]; /* IFNAMSIZ */
};

/* Gets these addresses, PORT_WAYS_MAX at most. Returns their number. */
unsigned int port_ways(struct port_way way[PORT_WAYS_MAX]);
/* Returns how often these addresses have changed. Any thread, without the port's lock. */
uint32_t port_ways_changes(void);

enum port_change { PORT_CHANGE_DOWN, PORT_CHANGE_GIDS, PORT_CHANGE_UP };

/* A user that is notified of changes. changed is called with the port's lock held. */
struct port_watcher {
	struct list_node node;
	void (*changed)(struct port_watcher *w, enum port_change change);
};

/* w must not move before port_unwatch(). */
void port_watch(struct port_watcher *w);
void port_unwatch(struct port_watcher *w);

/*
 * Returns a descriptor that is readable when interfaces or addresses may have changed, or -1 if
 * there is none yet. Then call port_refresh().
 */
int port_watch_fd(void);
void port_refresh(void);

/* Call these around fork(): the child finds the lock free, and has another node GUID. */
void port_fork_prepare(void);
void port_fork_parent(void);
void port_fork_child(void);
/* Returns the number of fork() calls between the first process with the device and this one. */
uint32_t port_forks(void);

#endif
