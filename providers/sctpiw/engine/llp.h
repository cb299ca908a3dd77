/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What carries SCTP packets: a lower layer that sends and receives them on an endpoint's
 * descriptor. `udp` (RFC 6951) is socket.c; raw IP protocol 132 would be another. Engine lock.
 */
#ifndef SCTPIW_ENGINE_LLP_H
#define SCTPIW_ENGINE_LLP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "util/addr.h"

struct endpoint;
struct sctp_batch;

/*
 * A receive call takes so many datagrams of so much: with both segment offloads on the way that
 * is up to 8 x 44 packets of Ethernet size. Together they fit a core's L2 cache, and the first
 * are the first to be used again.
 */
#define LLP_RX_DATAGRAMS 8
#define LLP_RX_SIZE 65536

struct llp_datagram {
	uint8_t *data;
	size_t len;
	size_t segment; /* packets of so many bytes, the last may be shorter */
	struct path_addr from;
};

/* What ICMP said about a packet that we sent. */
struct llp_error {
	struct path_addr to;
	uint8_t quoted[64]; /* how the packet began, as far as ICMP quotes it */
	size_t quoted_len;
	bool unreachable; /* nobody listens there */
	uint32_t mtu;	  /* too long for the path, which takes so much; or 0 */
	bool local;	  /* this host says so, no router: there is no quote */
};

struct llp {
	const char *name;
	/* Opens ep->fd, bound to addr; fills ep->rcvbuf, port, wildcard. -errno of bind(). */
	int (*open)(struct endpoint *ep, const struct sockaddr *addr, bool v6only);
	/* Up to max datagrams; 0: none now; an error of the socket has gone to the error queue. */
	unsigned int (*receive)(struct endpoint *ep, struct llp_datagram *dgrams, unsigned int max);
	/*
	 * 0: sent, or lost; -EAGAIN: what is left of the batch again when the descriptor is
	 * writable.
	 */
	int (*send)(struct endpoint *ep, struct sctp_batch *batch);
	/* The next entry of the error queue; false: none. Both fields may be unset. */
	bool (*next_error)(struct endpoint *ep, struct llp_error *err);
};

extern const struct llp llp_udp;

#endif
