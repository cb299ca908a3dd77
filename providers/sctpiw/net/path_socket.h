/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A connected UDP socket for each path with many packets, in addition to the socket of its port.
 * With a connected socket, the kernel looks up no route and no source address for packets to send,
 * and reports no destination address for received packets. A port uses its own socket for paths
 * without a socket, and for all other packets. Shard lock.
 *
 * All ports of a shard share PATH_SOCKETS sockets. A new socket may replace one that was unused for
 * PATH_PERIOD. A send only counts; sockets are opened and closed before a receive pass. So packets
 * that wait in a socket can be received before the socket is closed.
 */
#ifndef SCTPIW_NET_PATH_SOCKET_H
#define SCTPIW_NET_PATH_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "conn/carrier.h"
#include "net/net.h"
#include "util/time.h"

struct carrier_port;
struct conn;
struct sock_extended_err;

#define PATH_SOCKETS 16u
/* Number of send calls that a path needs within PATH_PERIOD to get a socket. */
#define PATH_SENDS 64u
/* ns. A socket that was unused for this time may also be replaced. */
#define PATH_PERIOD NSEC_PER_SEC
/* The number of path sockets is at most the process's limit of descriptors divided by this. */
#define PATH_SOCKETS_PART 64u

struct path_socket {
	struct net_watch watch; /* first member; the epoll entry points to it */
	struct path_sockets *all;
	struct carrier_port *port; /* NULL: this entry is free */
	struct path_addr addr;
	int fd;
	bool df;	     /* DF of the socket now */
	unsigned int behind; /* remaining rounds in which the port's own socket is read first */
	uint64_t used;	     /* ns: last transmission or reception */
};

/* A path that may get a socket. */
struct path_candidate {
	struct carrier_port *port;
	struct path_addr addr;
	unsigned int sends; /* 0: this entry is free */
};

/*
 * The candidates are the paths that send most. A send on another path, while no entry is free,
 * decreases the count of each candidate by 1.
 */
#define PATH_CANDIDATES 4u

struct path_sockets {
	struct path_socket socket[PATH_SOCKETS];
	unsigned int n;		 /* sockets in use */
	struct path_socket *hot; /* the socket that received last, or NULL */
	unsigned int turn;	 /* number of receive passes so far */

	struct path_candidate candidate[PATH_CANDIDATES];
	uint64_t counted_from; /* ns: start of the counting period */
	bool due;	       /* a candidate has reached PATH_SENDS */
};

/* Returns NULL when out of memory. */
struct path_sockets *path_sockets_new(void);
/* Call this once all path sockets are closed. */
void path_sockets_free(struct path_sockets *s);

/*
 * Returns the path socket of p for addr. If there is none, counts the send and returns NULL.
 * Multicast paths, and paths whose local address is unknown, never get a socket.
 */
struct path_socket *path_socket_of(struct carrier_port *p, const struct path_addr *addr);
/* Opens a socket for each candidate that has reached PATH_SENDS, if possible. */
void path_sockets_open(struct conn *c);
/*
 * Returns the socket that received last, which this pass should read first: a poller may then skip
 * the other sockets if this one is empty. Returns NULL if that reception was too long ago, and in
 * every fourth pass, so that all sockets are read.
 */
struct path_socket *path_sockets_first(struct path_sockets *s, uint64_t now);
/* Implements carrier_port_ops.receive() for a path socket. */
unsigned int path_socket_receive(struct path_socket *ps, struct carrier_datagram *dgrams,
				 unsigned int max);
/* Implements carrier_port_ops.next_error() for the path sockets of p. */
bool path_socket_next_error(struct carrier_port *p, struct carrier_error *err,
			    struct sock_extended_err *ee);

/*
 * Gets the fill level of the receive buffer of p's path socket from that remote address. If p has
 * several such sockets, for several UDP ports, gets the highest level. Returns false if there is no
 * socket or the level is unknown.
 */
bool path_sockets_room(const struct carrier_port *p, const struct ip_addr *from,
		       struct carrier_room *room);

void path_socket_set_df(struct path_socket *ps, bool df);
void path_sockets_set_tos(struct carrier_port *p, uint8_t tos);
/* Closes the path sockets of p. Packets that wait in them are lost. */
void path_sockets_close(struct carrier_port *p);
/* Closes the descriptors of p's path sockets in the child of a fork(). */
void path_sockets_forget(struct carrier_port *p);

#endif
