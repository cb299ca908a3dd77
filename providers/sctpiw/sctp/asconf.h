/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Addresses that change while an association is up (RFC 5061). The peer hears of an address of ours that has come, or
 * has gone; and what it says of its own becomes a path, to which nothing but HEARTBEATs goes until one
 * was answered. Only a peer that has offered the extension hears of it. Guarded by the caller's lock.
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
 * What an ASCONF of ours says. It is kept, and stays the same, until it is answered (5.1 B4). Correlation IDs count
 * from 1 in this order: add, del, set primary.
 */
struct sctp_asconf_request {
	uint32_t serial;
	struct ip_addr known; /* Address Parameter: one of ours that the peer has */
	unsigned int adds;
	struct ip_addr add[SCTP_LOCALS_MAX];
	unsigned int dels;
	struct ip_addr del[SCTP_LOCALS_MAX];
	struct ip_addr
		heir;	  /* takes the place of sctp_handshake.local, if that is deleted; or zero */
	bool set_primary; /* the peer is asked to use the heir first */
	struct ip_addr left;   /* where packets on the path in use left from when it was made */
	bool sent;	       /* there was a way for it when it was to leave last */
	struct ip_addr source; /* which it left from then */
	uint64_t sent_at;      /* and when */
	bool hastened;	       /* it has left again, or is to, before T4 expires: once */
	unsigned int path;     /* and went to, as an index modulo the number of paths */
};

/* Answers that are kept: the peer may send several requests in a packet, and this one again (5.2 E1-ext, E2). */
#define SCTP_ASCONF_ACKS 4u

struct sctp_asconf {
	struct sctp_asconf_request *out; /* the one that is not answered; NULL: there is none */
	uint32_t next;			 /* Sequence Number of the next one */
	uint32_t peer;			 /* that of the peer's last one */
	/* The chunk that answered each of the last ones, by its number modulo these; NULL: there was none. */
	struct {
		uint8_t *p;
		size_t len;
	} ack[SCTP_ASCONF_ACKS];
	bool settled; /* the address that the association was set up with was ours when it came up */
	struct ip_addr origin; /* that address, whatever has taken its place since */
	bool refused; /* the peer has refused something: nothing is asked until our addresses change */
	bool unknown;	 /* the peer does not know these requests, and gets no more of them */
	bool no_primary; /* the same for Set Primary */
	uint64_t gone_since; /* since when an address that the peer knows is not ours any more, ns; 0: all are */
	uint64_t claim_at; /* before that, no address that the peer adds is asked, ns */
};

/* The peer's Initial TSN is known: both sides count from their TSNs on (5.1 A2), and nothing is outstanding. */
void sctp_asconf_reset(struct sctp_assoc *a);
/* The association is up. */
void sctp_asconf_start(struct sctp_assoc *a, uint64_t now);
/* Our addresses or routes have changed: tells the peer, if it has to know. */
void sctp_asconf_readdress(struct sctp_assoc *a, uint64_t now);
/*
 * A packet of the peer came to that address of ours while our request waits for its answer. If the request adds the
 * address, the peer has had it, and the answer was lost. It is sent once more then, as nothing may leave from the address
 * before the answer has come. T4 runs on, and sees to all else: that it goes to other addresses, later each time.
 */
void sctp_asconf_heard(struct sctp_assoc *a, const struct ip_addr *local, uint64_t now);
/* SCTP_TIMER_ASCONF has expired. */
void sctp_asconf_timeout(struct sctp_assoc *a, uint64_t now);
/*
 * SCTP_PEND_ASCONF: writes the ASCONF that is to be sent, behind its AUTH, at p. Returns the length of both in bytes, and where they
 * go; 0: there is none, or no way for it.
 */
size_t sctp_asconf_put(struct sctp_assoc *a, uint8_t *p, uint64_t now, struct path_addr *to);
/*
 * Whether the peer may take what comes from this address of ours for that of a stranger, and say so by an ABORT: it does
 * not know the address, or was asked to forget it (5.3 F4).
 */
bool sctp_asconf_is_foreign(const struct sctp_assoc *a, const struct ip_addr *local);
/* An ASCONF-ACK came. May end the association (5.3 F0). */
void sctp_asconf_ack(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* The peer has reported a chunk, whose header it quotes, as one that it does not know (5.1 A9). */
void sctp_asconf_reported(struct sctp_assoc *a, const uint8_t *quoted, size_t len);
/* Frees what is kept. */
void sctp_asconf_fini(struct sctp_assoc *a);

#endif
