/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What carries the packets of our own SCTP (own.c): sends and receives them on an endpoint's
 * descriptor: `udp` (RFC 6951, socket.c), or raw IP protocol 132 (`ip`, ip.c). Engine lock.
 */
#ifndef SCTPIW_ENGINE_LLP_H
#define SCTPIW_ENGINE_LLP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "sctp/sctp.h"
#include "util/addr.h"

struct config_error;
struct endpoint;

/*
 * A receive call takes so many datagrams of so much: with both segment offloads on the way that
 * is up to 8 x 44 packets of Ethernet size. The first are the first to be used again.
 */
#define CARRIER_RX_DATAGRAMS 8
#define CARRIER_RX_SIZE 65536

struct carrier_datagram {
	uint8_t *data;
	size_t len;
	size_t segment; /* packets of so many bytes, the last may be shorter */
	struct path_addr from;
};

/* What ICMP said about a packet that we sent. */
struct carrier_error {
	struct path_addr to;
	uint8_t quoted[64]; /* how the packet began, as far as ICMP quotes it */
	size_t quoted_len;
	bool unreachable; /* nobody listens there */
	uint32_t mtu;	  /* too long for the path, which takes so much; or 0 */
	bool local;	  /* this host says so, no router: there is no quote */
};

struct carrier {
	const char *name;
	bool gathers; /* send() takes a batch with gaps */
	unsigned int rx_batch; /* datagrams that receive() is asked for at once: 1, or all */
	/* Can this process use it here? false: why not, and the remedy. NULL: it always can. */
	bool (*check)(struct config_error *why);
	/*
	 * Opens ep->fd, bound to addr; fills ep->rcvbuf, port, wildcard. -errno of bind(), and
	 * nothing is open then.
	 */
	int (*open)(struct endpoint *ep, const struct sockaddr *addr, bool v6only);
	/* Up to max datagrams; 0: none now; an error of the socket has gone to the error queue. */
	unsigned int (*receive)(struct endpoint *ep, struct carrier_datagram *dgrams, unsigned int max);
	/*
	 * 0: sent, or lost; -EAGAIN: what is left of the batch again when ep->out_fd is
	 * writable.
	 */
	int (*send)(struct endpoint *ep, struct sctp_batch *batch);
	/* The next entry of the error queue; false: none. Both fields may be unset. */
	bool (*next_error)(struct endpoint *ep, struct carrier_error *err);
};

extern const struct carrier carrier_udp, carrier_ip;

/* own.c: nothing comes or goes any more; the rest of it stays. */
void endpoint_close_fds(struct endpoint *ep);
/* own.c: takes the ICMP errors that wait on the endpoint's socket. */
void endpoint_errors(struct endpoint *ep);

#endif
