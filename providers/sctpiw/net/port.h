/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The one port of the RDMA device in this process: its GIDs, state and rate, derived from the
 * host's network interfaces. The port has its own lock. That lock may be taken while a shard's lock
 * is held, but not while a lock of a channel is held. Callers need no other lock. A result includes
 * all changes that the host made before the call.
 */
#ifndef SCTPIW_NET_PORT_H
#define SCTPIW_NET_PORT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "net/gid.h"
#include "util/list.h"

struct port_attr {
	bool active; /* some running interface has an address */
	/* bytes; largest MTU among running interfaces with an address; 0: no such interface */
	unsigned int mtu;
	/* ibv_port_attr.active_width and active_speed, of the fastest of these interfaces */
	uint8_t width;
	uint8_t speed;
	uint16_t lid;	/* low 16 bits of the first GID; 0: the table is empty */
	uint64_t downs; /* how often the port became inactive */
};

void port_query(struct port_attr *attr);
/*
 * Returns the node GUID in network byte order. The GUID is constant in a process. The child of a
 * fork() has another GUID.
 */
uint64_t port_node_guid(void);

struct port_gid {
	/* the GID: an IPv6 address, or an IPv4 address as ::ffff:a.b.c.d */
	uint8_t raw[16];
	struct sockaddr_storage addr; /* sockaddr_in or sockaddr_in6, with scope id and port 0 */
	unsigned int ifindex;
};

/*
 * Gets the GID in slot index of the table. Returns 0, -EINVAL if the table has no such slot, or
 * -ENODATA if the slot is empty. On error *gid is all zero.
 */
int port_gid(unsigned int index, struct port_gid *gid);
/*
 * Gets the first GID of the table, which is the GID that an InfiniBand port has. Returns 0, or
 * -ENODATA if the table is empty; *gid is then all zero.
 */
int port_first_gid(struct port_gid *gid);
/*
 * Returns the lowest index of this GID in the table, or -ENOENT. If ifindex is not 0, the slot must
 * belong to that interface.
 */
int port_gid_find(const uint8_t gid[16], unsigned int ifindex);
/*
 * Gets the slot of the local address of a connection or datagram, and the GID in that slot. An
 * address without a slot, such as one of lo, gets slot 0, whose GID programs use first. To save
 * system calls, the function reads the host's addresses only if the table lacks the address, and
 * not for addresses of lo once the table is filled. Returns 0, or -ENODATA with *slot 0 and *gid
 * all zero if slot 0 is empty.
 */
int port_gid_slot(const uint8_t raw[16], uint8_t *slot, struct port_gid *gid);

/*
 * Makes the port inactive while down is true, even if interfaces are running. Used by fault
 * injection. Watchers are notified of this change as of any other. In the child of a fork() the
 * port is not forced down.
 */
void port_force_down(bool down);

#define PORT_WAYS_MAX 32u

/* A usable route out: an address that reaches beyond the link, on an interface that is up. */
struct port_way {
	struct ip_addr ip;
	bool running; /* the interface has a link, so that packets can leave */
	unsigned int ifindex;
	char interface[16]; /* IFNAMSIZ */
};

/* Gets all such addresses, at most PORT_WAYS_MAX. Returns their number. */
unsigned int port_ways(struct port_way way[PORT_WAYS_MAX]);
/* Returns the number of changes of these addresses so far. Any thread; takes no lock. */
uint32_t port_ways_changes(void);

enum port_change { PORT_CHANGE_DOWN, PORT_CHANGE_GIDS, PORT_CHANGE_UP };

/* A watcher of the port. The port calls changed() after each change, while it holds its lock. */
struct port_watcher {
	struct list_node node;
	void (*changed)(struct port_watcher *w, enum port_change change);
};

/* Adds a watcher. w must stay at its address until port_unwatch(). */
void port_watch(struct port_watcher *w);
void port_unwatch(struct port_watcher *w);

/*
 * Returns a descriptor that becomes readable when interfaces or addresses may have changed, or -1
 * if the descriptor is not open yet. Call port_refresh() when the descriptor is readable.
 */
int port_watch_fd(void);
void port_refresh(void);

/* Call these around fork(). The child gets an unlocked port with another node GUID. */
void port_fork_prepare(void);
void port_fork_parent(void);
void port_fork_child(void);
/* Returns the fork() generations from the first process with the device to this process. */
uint32_t port_forks(void);

#endif
