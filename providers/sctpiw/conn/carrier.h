/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A carrier carries the packets of our own SCTP below user_sctp.c: in UDP (RFC 6951), on raw IP, or over a
 * simulated network. This is the interface; carriers of real networks are in net/. Shard lock.
 *
 * What a carrier keeps for an endpoint is a struct carrier_port, and what it keeps for a peer is a struct
 * carrier_link; only the carrier looks into them, and each carrier has its own. Upwards it calls the
 * functions of user_sctp.h: user_sctp_input() for each datagram, user_sctp_icmp() for each ICMP error.
 */
#ifndef SCTPIW_CONN_CARRIER_H
#define SCTPIW_CONN_CARRIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "conn/transport.h"
#include "util/addr.h"

struct config_error;
struct conn;
struct endpoint;
struct sctp_batch;

/* One or more packets of one peer. */
struct carrier_datagram {
	uint8_t *data;
	size_t len;
	size_t segment; /* packets of so many bytes each, the last may be shorter */
	struct path_addr from;
};

/* What ICMP said about a packet that we sent. */
struct carrier_error {
	struct path_addr to;
	uint8_t quoted[64]; /* how the packet began, as far as ICMP quotes it */
	size_t quoted_len;
	/*
	 * Why it did not arrive, as the kernel tells TCP: -ECONNREFUSED (nobody has the port), -EHOSTUNREACH,
	 * -ENETUNREACH, -EACCES and the like; or 0.
	 */
	int unreachable;
	uint32_t mtu; /* the packet was too long for the path, which takes so much; or 0 */
	bool local;   /* this host says so, not a router: there is no quote */
};

/* The receive buffer of a port, in bytes as the kernel counts them. */
struct carrier_room {
	uint32_t used; /* by packets that wait for their reader */
	uint32_t size; /* packets that would exceed it are lost */
};

struct carrier {
	bool references; /* send() takes a batch with references to the application's memory */
	/* A batch with DF to an address of this host gets into the receive buffer there as it left, in one piece. */
	bool whole_batches;
	/* What it adds to each packet, beside IP and UDP: bytes, at most. */
	uint32_t overhead;
	uint32_t packet_max; /* bytes of the longest packet that it takes, a multiple of 4; 0: as long as a datagram */

	/* Can this process use it here? false: why says why not, and the remedy. NULL: it always can. */
	bool (*check)(struct config_error *why);
	/* Makes and frees what the carrier keeps for all endpoints in conn.net. -errno; why is set if the user can help it. */
	int (*start)(struct conn *c, struct config_error *why);
	void (*stop)(struct conn *c);

	/*
	 * Opens a port bound to addr; fills ep->bound. *rcvbuf: bytes that its receive buffer really holds.
	 * -errno of bind(), and nothing is open then.
	 */
	int (*open)(struct endpoint *ep, const struct sockaddr *addr, bool v6only, size_t *rcvbuf);
	void (*close)(struct endpoint *ep);
	/*
	 * n endpoints are bound to this port: ep, and those that were opened beside it (endpoint.beside), in the order of their
	 * shards. From now on each gets what endpoint_group.h says. n 1: ep is alone again. -errno. NULL: the carrier cannot
	 * do that.
	 */
	int (*steer)(struct endpoint *ep, unsigned int n);
	/* From now on receive() looks at this port. -errno. */
	int (*watch)(struct endpoint *ep);
	/*
	 * The port, which is bound to the address of a multicast group, is to hear of the group on this
	 * interface, or not any more. -errno. NULL: the carrier has no multicast.
	 */
	int (*join)(struct endpoint *ep, const struct ip_addr *group, unsigned int ifindex,
		    bool join);
	/* In the child of a fork: closes the port's descriptors and does nothing else. */
	void (*forget)(struct endpoint *ep);
	/* Packets that are sent from now on carry ep->tos. */
	void (*set_tos)(struct endpoint *ep);

	/* Takes what came in on all ports that are watched. */
	enum conn_received (*receive)(struct conn *c, enum conn_depth depth);
	/*
	 * Sends a batch. 0: it was sent, or lost. -EAGAIN: the port is full; what is left of the batch is sent
	 * again by the next transport.receive(), before anything else of this port.
	 */
	int (*send)(struct endpoint *ep, struct sctp_batch *batch);
	/* Whether room in a port that was full is a reason for a pass (behind send(), which said -EAGAIN). */
	void (*await_room)(struct endpoint *ep, bool await);

	/*
	 * How full the receive buffer is that what comes to ep from this address goes to. false: it is not known. NULL:
	 * it never is.
	 */
	bool (*room)(const struct endpoint *ep, const struct ip_addr *from,
		     struct carrier_room *room);

	/*
	 * The identity of the key that packets to that address are sealed with; "" if that has no name. NULL: they are in the
	 * clear, or nothing is agreed on yet. NULL in its place: nothing is sealed.
	 */
	const char *(*key)(const struct endpoint *ep, const struct path_addr *to);

	/* The carrier's own timers, of links that are set up or kept alive. NULL: it has none. */
	uint64_t (*next_timeout)(const struct conn *c);
	void (*timers)(struct conn *c);
};

#endif
