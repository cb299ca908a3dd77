/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A carrier carries the packets of the SCTP in user_sctp.c: in UDP (RFC 6951), on raw IP, or over a
 * simulated network. This is the interface; carriers of real networks are in net/. Shard lock.
 *
 * A carrier's data for an endpoint is a struct carrier_port, and its data for a peer is a struct
 * carrier_link. Each carrier defines these structs for itself. The carrier calls user_sctp_input()
 * for each datagram, and user_sctp_icmp() for each ICMP error (user_sctp.h).
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
	size_t segment; /* bytes of each packet; the last may be shorter */
	struct path_addr from;
};

/* Contents of an ICMP error about a local packet. */
struct carrier_error {
	struct path_addr to;
	uint8_t quoted[64]; /* beginning of the packet, as quoted by ICMP */
	size_t quoted_len;
	/*
	 * The reason why the packet did not arrive, as the kernel reports it for TCP: -ECONNREFUSED
	 * (nobody has the port), -EHOSTUNREACH, -ENETUNREACH, -EACCES and the like. Otherwise 0.
	 */
	int unreachable;
	uint32_t mtu; /* if the packet was too long for the path: the path's MTU; else 0 */
	bool local;   /* from this host, not from a router: without a quote */
};

/* The receive buffer of a port, in bytes as the kernel counts them. */
struct carrier_room {
	uint32_t used; /* by packets that are not read yet */
	uint32_t size; /* packets beyond it are lost */
};

struct carrier {
	bool references; /* send() accepts batches that refer to the application's memory */
	/* A batch with DF to a local address enters the receive buffer there as one piece. */
	bool whole_batches;
	/* Maximum bytes that the carrier adds to each packet, besides IP and UDP. */
	uint32_t overhead;
	uint32_t packet_max; /* maximum packet length, a multiple of 4; 0: as long as a datagram */

	/*
	 * Returns true if this process can use the carrier on this host. Otherwise, why is set to
	 * the reason and the remedy. NULL: always usable.
	 */
	bool (*check)(struct config_error *why);
	/*
	 * Creates and frees the carrier's data for all endpoints, conn.net. start() returns 0 or
	 * -errno, and sets why if the user can solve the problem.
	 */
	int (*start)(struct conn *c, struct config_error *why);
	void (*stop)(struct conn *c);

	/*
	 * Opens a port bound to addr, and fills ep->bound. *rcvbuf: the real size of its receive
	 * buffer in bytes. Returns 0 or the -errno of bind(); after an error, nothing is open.
	 */
	int (*open)(struct endpoint *ep, const struct sockaddr *addr, bool v6only, size_t *rcvbuf);
	void (*close)(struct endpoint *ep);
	/*
	 * Steers packets to the n endpoints bound to this port: ep and those opened beside ep
	 * (endpoint.beside), in the order of their shards. Each endpoint then gets the packets
	 * described in endpoint_group.h. n = 1: ep alone gets all packets again. Returns 0 or
	 * -errno. NULL: the carrier cannot steer.
	 */
	int (*steer)(struct endpoint *ep, unsigned int n);
	/* Adds the port to those that receive() reads. Returns 0 or -errno. */
	int (*watch)(struct endpoint *ep);
	/*
	 * Joins or leaves a multicast group on an interface. The port is bound to the group's
	 * address. Returns 0 or -errno. NULL: the carrier has no multicast.
	 */
	int (*join)(struct endpoint *ep, const struct ip_addr *group, unsigned int ifindex,
		    bool join);
	/* In the child of a fork(): only closes the port's descriptors. */
	void (*forget)(struct endpoint *ep);
	/* Later packets carry ep->tos. */
	void (*set_tos)(struct endpoint *ep);

	/* Receives from all watched ports. */
	enum conn_received (*receive)(struct conn *c, enum conn_depth depth);
	/*
	 * Sends a batch. 0: it was sent, or lost. -EAGAIN: the port is full. The next
	 * transport.receive() sends the rest of the batch, before any other packet of this port.
	 */
	int (*send)(struct endpoint *ep, struct sctp_batch *batch);
	/*
	 * Sets whether room in a full port starts another pass. Call it after send() returned
	 * -EAGAIN.
	 */
	void (*await_room)(struct endpoint *ep, bool await);

	/*
	 * Reports the fill level of the receive buffer that gets ep's packets from this address.
	 * False if the level is unknown. NULL: it is always unknown.
	 */
	bool (*room)(const struct endpoint *ep, const struct ip_addr *from,
		     struct carrier_room *room);

	/*
	 * Returns the identity of the key that seals packets to that address; "" if the key has no
	 * name. Returns NULL if packets are in the clear, or no key is agreed on yet. NULL instead
	 * of the function: the carrier seals nothing.
	 */
	const char *(*key)(const struct endpoint *ep, const struct path_addr *to);

	/* The carrier's own timers, for links during setup or kept alive. NULL: there are none. */
	uint64_t (*next_timeout)(const struct conn *c);
	void (*timers)(struct conn *c);
};

#endif
