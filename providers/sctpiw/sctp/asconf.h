/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Changes of addresses while an association is up (RFC 5061). The local side sends the peer
 * requests to add new local addresses and to delete lost ones. An address that the peer adds
 * becomes a path. The path carries only HEARTBEATs until one of them was answered. Requests go only
 * to a peer that has offered the extension. Guarded by the caller's lock.
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
 * The contents of a local ASCONF. The contents stay unchanged until the peer answers (5.1 B4).
 * Correlation IDs count from 1: first the additions, then the deletions, then Set Primary.
 */
struct sctp_asconf_request {
	uint32_t serial;
	struct ip_addr known; /* Address Parameter: a local address that the peer has */
	unsigned int adds;
	struct ip_addr add[SCTP_LOCALS_MAX];
	unsigned int dels;
	struct ip_addr del[SCTP_LOCALS_MAX];
	/* new sctp_handshake.local, once the peer has accepted it; zero: no change */
	struct ip_addr heir;
	bool set_primary;      /* the ASCONF has a Set Primary for heir */
	struct ip_addr left;   /* local address of the path in use when the ASCONF was made */
	bool sent;	       /* true if the last attempt to send the ASCONF found a path */
	struct ip_addr source; /* source address of that attempt */
	uint64_t sent_at;      /* time of that attempt */
	/* the ASCONF was sent again, or will be, before T4 expires: only once per T4 */
	bool hastened;
	/* index of the path of that attempt, modulo the number of paths */
	unsigned int path;
};

/*
 * Number of kept answers. A packet may have several requests, and may be retransmitted. Each
 * request then gets the same answer as before (5.2 E1-ext, E2).
 */
#define SCTP_ASCONF_ACKS 4u

struct sctp_asconf {
	struct sctp_asconf_request *out; /* the unanswered ASCONF, or NULL */
	uint32_t next;			 /* Sequence Number of the next ASCONF */
	uint32_t peer;			 /* Sequence Number of the peer's last ASCONF */
	/* Answers to the peer's last ASCONFs, or NULL; index: Sequence Number % SCTP_ASCONF_ACKS */
	struct {
		uint8_t *p;
		size_t len;
	} ack[SCTP_ASCONF_ACKS];
	/* the local address of the setup belonged to this host when the association came up */
	bool settled;
	/* local address of the setup, even after another address has replaced it */
	struct ip_addr origin;
	/* the peer has refused a request: send no other until local addresses change */
	bool refused;
	bool unknown;	 /* the peer does not support these requests: send no more of them */
	bool no_primary; /* the peer does not support Set Primary */
	/* time when an address known to the peer ceased to be local, ns; 0: all are local */
	uint64_t gone_since;
	/* earliest time of a HEARTBEAT to the next address that the peer adds, ns */
	uint64_t claim_at;
};

/*
 * Resets the state when the peer's Initial TSN becomes known. The Sequence Numbers of each side
 * start at its Initial TSN (5.1 A2). No request is outstanding afterwards.
 */
void sctp_asconf_reset(struct sctp_assoc *a);
/* Called when the association comes up: sends the first request, if one is necessary. */
void sctp_asconf_start(struct sctp_assoc *a, uint64_t now);
/* Called after local addresses or routes have changed: sends a request, if necessary. */
void sctp_asconf_readdress(struct sctp_assoc *a, uint64_t now);
/*
 * Called when a packet of the peer arrives at `local` while a request is outstanding. If the
 * request adds `local`, the peer has performed the request, and its answer was lost. The request is
 * then sent again at once, because DATA must not leave from `local` before the answer. T4 continues
 * to run: its expirations try other destinations, at growing intervals.
 */
void sctp_asconf_heard(struct sctp_assoc *a, const struct ip_addr *local, uint64_t now);
/* Called when SCTP_TIMER_ASCONF has expired. */
void sctp_asconf_timeout(struct sctp_assoc *a, uint64_t now);
/*
 * Writes an AUTH chunk and the ASCONF for SCTP_PEND_ASCONF at p. Returns the length of both in
 * bytes, and sets *to. Returns 0 if no request is outstanding, or if no path can carry it.
 */
size_t sctp_asconf_put(struct sctp_assoc *a, uint8_t *p, uint64_t now, struct path_addr *to);
/*
 * True if the peer may treat packets from this local address as out of the blue, and answer them
 * with an ABORT. This holds for an address that the peer does not know, and for one that an
 * outstanding request deletes (5.3 F4).
 */
bool sctp_asconf_is_foreign(const struct sctp_assoc *a, const struct ip_addr *local);
/*
 * Handles an ASCONF-ACK. May end the association: an answer to a request that was never sent is a
 * protocol violation (5.3 F0).
 */
void sctp_asconf_ack(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* Handles the peer's report of an unknown chunk. `quoted` has its first len bytes (5.1 A9). */
void sctp_asconf_reported(struct sctp_assoc *a, const uint8_t *quoted, size_t len);
void sctp_asconf_fini(struct sctp_assoc *a);

#endif
