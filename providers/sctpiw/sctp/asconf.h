/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Changes of addresses while an association is up (RFC 5061). The peer receives requests about
 * local addresses that come or go. An address that the peer adds becomes a path, which carries only
 * HEARTBEATs until one was answered. Requests go only to a peer that has offered the extension.
 * Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_ASCONF_H
#define SCTPIW_SCTP_ASCONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sctp/locals.h"
#include "wire/sctp_asconf.h"

struct sctp_assoc;
struct sctp_in;

/*
 * The contents of a local ASCONF. It is kept unchanged until it is answered (5.1 B4). Correlation
 * IDs count from 1 in this order: add, del, set primary.
 */
struct sctp_asconf_request {
	uint32_t serial;
	struct ip_addr known; /* Address Parameter: a local address that the peer has */
	unsigned int adds;
	struct ip_addr add[SCTP_LOCALS_MAX];
	unsigned int dels;
	struct ip_addr del[SCTP_LOCALS_MAX];
	struct ip_addr heir;   /* replaces sctp_handshake.local, if that is deleted; or zero */
	bool set_primary;      /* the ASCONF has a Set Primary for heir */
	struct ip_addr left;   /* local address of the path in use when the ASCONF was made */
	bool sent;	       /* the last attempt to send it had a path */
	struct ip_addr source; /* source address of that attempt */
	uint64_t sent_at;      /* time of that attempt */
	bool hastened;	       /* sent again, or about to be, before T4 expires: once only */
	unsigned int path;     /* path of that attempt, an index modulo the number of paths */
};

/* Answers kept: a packet may have several requests, and may be retransmitted (5.2 E1-ext, E2). */
#define SCTP_ASCONF_ACKS 4u

struct sctp_asconf {
	struct sctp_asconf_request *out; /* the unanswered ASCONF, or NULL */
	uint32_t next;			 /* Sequence Number of the next ASCONF */
	uint32_t peer;			 /* Sequence Number of the peer's last ASCONF */
	/*
	 * The answers to the peer's last ASCONFs, by Sequence Number modulo their number, or NULL.
	 */
	struct {
		uint8_t *p;
		size_t len;
	} ack[SCTP_ASCONF_ACKS];
	bool settled; /* the address of the association's setup was local when it came up */
	struct ip_addr origin; /* that address, even after it was replaced */
	bool refused; /* the peer has refused something: no request until local addresses change */
	bool unknown; /* the peer does not support these requests: no more are sent */
	bool no_primary;     /* the same for Set Primary */
	uint64_t gone_since; /* when a known address ceased to be local, ns; 0: all are */
	uint64_t claim_at;   /* no address that the peer adds gets a HEARTBEAT earlier, ns */
};

/*
 * Resets everything once the peer's Initial TSN is known: both sides count from their TSNs on (5.1
 * A2), and nothing is outstanding.
 */
void sctp_asconf_reset(struct sctp_assoc *a);
/* Called when the association comes up. */
void sctp_asconf_start(struct sctp_assoc *a, uint64_t now);
/* Sends changes of local addresses or routes to the peer, if necessary. */
void sctp_asconf_readdress(struct sctp_assoc *a, uint64_t now);
/*
 * Called when a packet of the peer comes to that local address while a request is outstanding. If
 * the request adds the address, the peer has received the request, and its answer was lost. The
 * request is then sent once more, as nothing may leave from the address before the answer. T4
 * continues to run, and handles the rest: other destinations, at growing intervals.
 */
void sctp_asconf_heard(struct sctp_assoc *a, const struct ip_addr *local, uint64_t now);
/* SCTP_TIMER_ASCONF has expired. */
void sctp_asconf_timeout(struct sctp_assoc *a, uint64_t now);
/*
 * Writes the ASCONF for SCTP_PEND_ASCONF, after its AUTH, at p. Returns the length of both in bytes
 * and sets *to. Returns 0 if there is none, or no path for it.
 */
size_t sctp_asconf_put(struct sctp_assoc *a, uint8_t *p, uint64_t now, struct path_addr *to);
/*
 * True if the peer may treat packets from this local address as out of the blue, and answer with an
 * ABORT. The peer does not know the address, or was requested to delete it (5.3 F4).
 */
bool sctp_asconf_is_foreign(const struct sctp_assoc *a, const struct ip_addr *local);
/* Handles an ASCONF-ACK. May end the association (5.3 F0). */
void sctp_asconf_ack(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* Handles the peer's report of an unknown chunk, whose header is quoted (5.1 A9). */
void sctp_asconf_reported(struct sctp_assoc *a, const uint8_t *quoted, size_t len);
void sctp_asconf_fini(struct sctp_assoc *a);

#endif
