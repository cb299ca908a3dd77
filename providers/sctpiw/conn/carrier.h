/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A carrier sends and receives the packets of user_sctp.c. The packets travel in UDP (RFC 6951), on
 * raw IP, or over a simulated network. This file is the interface; net/ has the carriers for real
 * networks. Callers hold the shard's lock.
 *
 * A carrier's data for an endpoint is a struct carrier_port, and its data for a peer is a struct
 * carrier_link. Each carrier defines its own struct carrier_port and struct carrier_link. The
 * carrier calls user_sctp_input() for each datagram, and user_sctp_icmp() for each ICMP error
 * (user_sctp.h).
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

/* One or more packets from one peer, in one buffer. */
struct carrier_datagram {
	uint8_t *data;
	size_t len;
	size_t segment; /* bytes of each packet; the last packet may be shorter */
	struct path_addr from;
};

/* An ICMP error about a packet that this process sent. */
struct carrier_error {
	struct path_addr to;
	uint8_t quoted[64]; /* first bytes of the packet, from the ICMP message */
	size_t quoted_len;
	/*
	 * The reason why the packet did not arrive, with the error codes that the kernel uses for
	 * TCP: -ECONNREFUSED (no process has the port), -EHOSTUNREACH, -ENETUNREACH, -EACCES and
	 * others. 0: the ICMP error gives no such reason.
	 */
	int unreachable;
	uint32_t mtu; /* the path's MTU if the packet was too long for it; else 0 */
	bool local;   /* this host's kernel made the error, without a quote */
};

/* The receive buffer of a port, in bytes as the kernel counts them for SO_RCVBUF. */
struct carrier_room {
	uint32_t used; /* bytes of packets that are not read yet */
	uint32_t size; /* total bytes; packets without room are lost */
};

struct carrier {
	bool references; /* send() accepts batches that point to the application's memory */
	/*
	 * A batch with the DF bit to an address of this host enters the receive buffer as one
	 * piece.
	 */
	bool whole_batches;
	/* Maximum bytes that the carrier adds to each packet, without the IP and UDP headers. */
	uint32_t overhead;
	uint32_t packet_max; /* maximum packet length, a multiple of 4; 0: limited only by UDP */

	/*
	 * True if this process can use the carrier on this host. If not, sets why to the reason and
	 * the remedy. NULL: the carrier is always usable.
	 */
	bool (*check)(struct config_error *why);
	/*
	 * start() creates conn.net, the carrier's data for all endpoints, and stop() frees it.
	 * start() returns 0 or -errno. It sets why if the user can solve the problem.
	 */
	int (*start)(struct conn *c, struct config_error *why);
	void (*stop)(struct conn *c);

	/*
	 * Opens a port bound to addr, and fills ep->bound. Sets *rcvbuf to the real size of the
	 * port's receive buffer, in bytes. Returns 0, or the -errno of bind(). After an error, the
	 * port is not open.
	 */
	int (*open)(struct endpoint *ep, const struct sockaddr *addr, bool v6only, size_t *rcvbuf);
	void (*close)(struct endpoint *ep);
	/*
	 * Distributes the packets to this port among n endpoints: ep, and the endpoints that were
	 * opened with endpoint.beside = ep, in the order of their shards. endpoint_group.h has the
	 * rule. n = 1: ep gets all packets again. Returns 0 or -errno. NULL: the carrier cannot
	 * distribute packets.
	 */
	int (*steer)(struct endpoint *ep, unsigned int n);
	/* Adds the port to the ports that receive() reads. Returns 0 or -errno. */
	int (*watch)(struct endpoint *ep);
	/*
	 * Joins or leaves a multicast group on an interface. The port is bound to the group's
	 * address. Returns 0 or -errno. NULL: the carrier has no multicast.
	 */
	int (*join)(struct endpoint *ep, const struct ip_addr *group, unsigned int ifindex,
		    bool join);
	/* For the child of a fork(): only closes the port's descriptors. */
	void (*forget)(struct endpoint *ep);
	/* Applies ep->tos to later packets. */
	void (*set_tos)(struct endpoint *ep);

	/* Receives from all watched ports. */
	enum conn_received (*receive)(struct conn *c, enum conn_depth depth);
	/*
	 * Sends a batch. Returns 0 if the batch was sent or lost, and -EAGAIN if the port's send
	 * buffer is full. In the latter case, the next transport.receive() sends the rest of the
	 * batch before any other packet of this port.
	 */
	int (*send)(struct endpoint *ep, struct sctp_batch *batch);
	/*
	 * Sets whether the progress thread runs again once a full port has room. Call this after
	 * send() returned -EAGAIN.
	 */
	void (*await_room)(struct endpoint *ep, bool await);

	/*
	 * Reports the fill level of the receive buffer for packets to ep from this address. Returns
	 * false if the level is unknown. NULL: the level is always unknown.
	 */
	bool (*room)(const struct endpoint *ep, const struct ip_addr *from,
		     struct carrier_room *room);

	/*
	 * Returns the identity of the key that encrypts packets to that address, or "" if the key
	 * has no identity. Returns NULL if packets are not encrypted, or if the handshake is not
	 * complete. NULL instead of the function: the carrier never encrypts.
	 */
	const char *(*key)(const struct endpoint *ep, const struct path_addr *to);

	/*
	 * The carrier's own timers, for links that are being set up or kept alive. NULL: the
	 * carrier has no timers.
	 */
	uint64_t (*next_timeout)(const struct conn *c);
	void (*timers)(struct conn *c);
};

#endif
