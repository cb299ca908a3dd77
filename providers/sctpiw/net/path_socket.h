/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A connected UDP socket for each path with many packets, beside the socket of its port. The kernel
 * then looks up no route and no source address for packets that leave, and no destination address
 * for packets that arrive. A port uses its own socket for all else, and for paths without a socket.
 * Shard lock.
 *
 * All ports of a shard share PATH_SOCKETS sockets. A new one takes the place of one that was unused
 * for a while. The send functions only count. Sockets are opened and closed before a receive pass,
 * since packets that wait in a socket to be closed are received first.
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
/* Batches that a path must send within PATH_PERIOD to get a socket. */
#define PATH_SENDS 64u
/* ns. Also the time without use after which a socket makes room for another one. */
#define PATH_PERIOD NSEC_PER_SEC
/* Path sockets take at most 1 of PATH_SOCKETS_PART descriptors that the process may have. */
#define PATH_SOCKETS_PART 64u

struct path_socket {
	struct net_watch watch; /* first; its epoll entry points to it */
	struct path_sockets *all;
	struct carrier_port *port; /* NULL: the place is free */
	struct path_addr addr;
	int fd;
	bool df;	     /* present setting of the socket */
	unsigned int behind; /* maximum rounds that read the port's own socket first */
	uint64_t used;	     /* ns: last transmission or reception */
};

/* A path that may get a socket. */
struct path_candidate {
	struct carrier_port *port;
	struct path_addr addr;
	unsigned int sends; /* 0: the place is free */
};

/*
 * Candidates are the paths that send most, if they are few. A send on another path takes one count
 * from each.
 */
#define PATH_CANDIDATES 4u

struct path_sockets {
	struct path_socket socket[PATH_SOCKETS];
	unsigned int n;		 /* sockets in use */
	struct path_socket *hot; /* the socket that received last, or NULL */
	unsigned int turn;	 /* number of passes */

	struct path_candidate candidate[PATH_CANDIDATES];
	uint64_t counted_from; /* ns: start of the period */
	bool due;	       /* a candidate has sent PATH_SENDS */
};

/* Returns NULL when out of memory. */
struct path_sockets *path_sockets_new(void);
/* No socket may be in use. */
void path_sockets_free(struct path_sockets *s);

/*
 * Returns the socket of p for packets to addr. If there is none, counts the send and returns NULL.
 * p has no path socket for addresses of groups, or while the local address of packets is unknown.
 */
struct path_socket *path_socket_of(struct carrier_port *p, const struct path_addr *addr);
/* Opens a socket for each path that has earned one, if possible. */
void path_sockets_open(struct conn *c);
/*
 * Returns the socket to read first in this pass: the one that received last, unless that was long
 * ago. Returns NULL if there is none, and in some passes always. So a poller may end a pass that
 * finds nothing in this socket.
 */
struct path_socket *path_sockets_first(struct path_sockets *s, uint64_t now);
/* As carrier_port_ops.receive(). */
unsigned int path_socket_receive(struct path_socket *ps, struct carrier_datagram *dgrams,
				 unsigned int max);
/* As carrier_port_ops.next_error(), for the error queues of p's path sockets. */
bool path_socket_next_error(struct carrier_port *p, struct carrier_error *err,
			    struct sock_extended_err *ee);

/*
 * Gets the fill level of the receive buffer of p's path socket for that remote address. If several
 * ports of the address have a socket, gets the fullest. Returns false if there is none, or the
 * level is unknown.
 */
bool path_sockets_room(const struct carrier_port *p, const struct ip_addr *from,
		       struct carrier_room *room);

void path_socket_set_df(struct path_socket *ps, bool df);
void path_sockets_set_tos(struct carrier_port *p, uint8_t tos);
/* Closes the path sockets of p. Packets that wait in them are lost. */
void path_sockets_close(struct carrier_port *p);
/* Closes the descriptors of p's path sockets, in the child of a fork(). */
void path_sockets_forget(struct carrier_port *p);

#endif
