/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A connected UDP socket for each path that is used much, beside the socket of its port. The kernel then looks for
 * no route and no source address for what is sent, and for no destination address of what came. A port keeps its own
 * socket for everything else, and for everything where there is no socket for a path. Shard lock.
 *
 * There are PATH_SOCKETS for all ports of a shard, and each takes the place of one that was unused for a while. Who
 * sends only counts. Sockets come and go in front of a receive pass, since what waits in one that may go is taken in.
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
/* Batches that a path sends within PATH_PERIOD to get a socket. */
#define PATH_SENDS 64u
/* ns. Also: a socket that was not used for so long makes room for another one. */
#define PATH_PERIOD NSEC_PER_SEC
/* They take this part of the descriptors that the process may have, at most. */
#define PATH_SOCKETS_PART 64u

struct path_socket {
	struct net_watch watch; /* first; what its epoll entry points to */
	struct path_sockets *all;
	struct carrier_port *port; /* NULL: the place is free */
	struct path_addr addr;
	int fd;
	bool df; /* as the socket has it now */
	unsigned int
		behind; /* what is in the port's own socket is read before, at most so many times */
	uint64_t used;	/* ns: when it last sent, or received */
};

/* A path that perhaps will have one. */
struct path_candidate {
	struct carrier_port *port;
	struct path_addr addr;
	unsigned int sends; /* 0: the place is free */
};

/*
 * Candidates are the paths that send most, as long as they are few: a send on a path that is none of them takes one
 * count from each.
 */
#define PATH_CANDIDATES 4u

struct path_sockets {
	struct path_socket socket[PATH_SOCKETS];
	unsigned int n;		 /* in use */
	struct path_socket *hot; /* the one that received last; or NULL */
	unsigned int turn;	 /* of the passes */

	struct path_candidate candidate[PATH_CANDIDATES];
	uint64_t counted_from; /* ns */
	bool due;	       /* a candidate has sent PATH_SENDS */
};

/* NULL: out of memory. */
struct path_sockets *path_sockets_new(void);
/* None may be in use. */
void path_sockets_free(struct path_sockets *s);

/*
 * The socket of p for packets to addr, or NULL; then the send is counted. p has no path socket for addresses of groups,
 * nor while it is not known which local address packets leave from.
 */
struct path_socket *path_socket_of(struct carrier_port *p, const struct path_addr *addr);
/* Opens a socket for each path that has earned one, as far as that is possible. */
void path_sockets_open(struct conn *c);
/*
 * The socket to be asked first in this pass, or NULL: the one that received last, while that is not long ago. A poller
 * that finds nothing there may leave it at that, for some of its passes have no such socket.
 */
struct path_socket *path_sockets_first(struct path_sockets *s, uint64_t now);
/* As carrier_port_ops.receive(). */
unsigned int path_socket_receive(struct path_socket *ps, struct carrier_datagram *dgrams,
				 unsigned int max);
/* The next entry of an error queue of p's path sockets, as carrier_port_ops.next_error(). */
bool path_socket_next_error(struct carrier_port *p, struct carrier_error *err,
			    struct sock_extended_err *ee);

/*
 * How full the receive buffer of p's path socket for that remote address is; of several, for several ports of its, the
 * fullest. false: there is none, or it is not known.
 */
bool path_sockets_room(const struct carrier_port *p, const struct ip_addr *from,
		       struct carrier_room *room);

void path_socket_set_df(struct path_socket *ps, bool df);
void path_sockets_set_tos(struct carrier_port *p, uint8_t tos);
/* Closes those of p. What waits in them is lost. */
void path_sockets_close(struct carrier_port *p);
/* In the child of a fork: closes the descriptors of those of p. */
void path_sockets_forget(struct carrier_port *p);

#endif
