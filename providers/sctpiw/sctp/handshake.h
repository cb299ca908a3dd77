/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The active half of the handshake (RFC 9260 5.1), and what both halves remember of it. The passive
 * half is accept.c. Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_HANDSHAKE_H
#define SCTPIW_SCTP_HANDSHAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sctp/auth.h"
#include "util/addr.h"
#include "wire/sctp_packet.h"

struct sctp_assoc;
struct sctp_in;

/* Who has sent an INIT, as far as we know. */
enum sctp_role {
	SCTP_ROLE_PASSIVE, /* the peer alone */
	SCTP_ROLE_ACTIVE,  /* we */
	SCTP_ROLE_CROSSED, /* we, and the peer as well */
};

/*
 * Somebody said that the peer cannot be reached. Anybody may say so who has seen a packet of ours, so another
 * one is sent, and only an error that comes behind that one is believed.
 */
struct sctp_doubt {
	int error;	 /* -errno, what was said; 0: nothing */
	uint64_t ask_at; /* when the other packet leaves, ns; 0: it has left, or there is no doubt */
};

#define SCTP_REASON_LEN                                                                            \
	48 /* bytes of a peer's reason for its ABORT that are kept, with a final zero */

struct sctp_handshake {
	enum sctp_role role;
	bool resent; /* the INIT or COOKIE ECHO left twice, so its answer gives no RTT (Karn) */
	/* Initiate Tag of an INIT that came while we were connecting, or 0 */
	uint32_t collision_tag;
	uint32_t local_tie; /* Tie-Tags, random (RFC 9260 5.2.2) */
	uint32_t peer_tie;
	uint32_t init_rwnd; /* a_rwnd of our INIT, so that it is sent again unchanged */
	uint32_t init_tsn;  /* our Initial TSN */
	uint32_t peer_init_tsn;
	struct sctp_doubt doubt;
	char reason[SCTP_REASON_LEN]; /* of the ABORT that ended the attempt, if it is text */
	unsigned int stale; /* cookies that the peer found stale, since we began to connect */
	uint64_t since;	    /* when the first INIT was sent, ns */
	uint64_t sent;	    /* when the present INIT or COOKIE ECHO was sent first, ns */
	uint64_t t1;	    /* when T1 expires, ns */
	uint8_t *cookie;    /* to be echoed; NULL but in COOKIE-ECHOED */
	size_t cookie_len;
	/* of ours, that it was set up with, or that has taken its place since; zero: not known yet */
	struct ip_addr local;
	struct ip_addr named; /* of the peer, by our user; zero: the peer has opened it */
	struct sctp_auth_random
		random; /* what our INIT says; valid if plain is false and the INIT says of ASCONF */
	bool plain;	/* our INIT says nothing of ASCONF */
	uint64_t restart_probe; /* when the old path was asked whether its peer lives, ns, or 0 */
};

/* Sends an INIT under a new tag and enters COOKIE-WAIT. */
void sctp_handshake_start(struct sctp_assoc *a, uint64_t now);
/*
 * T1 has expired, or an error is to be confirmed: sends again what was not answered. Ends the association after
 * connect_limit.
 */
void sctp_handshake_timeout(struct sctp_assoc *a, uint64_t now);
/* Writes the INIT that is to be sent, and returns its length in bytes. */
size_t sctp_handshake_init_put(struct sctp_assoc *a, uint8_t *p);
/* Has INIT or COOKIE ECHO, whichever waits for its answer, sent again at once. */
void sctp_handshake_resend(struct sctp_assoc *a);
/*
 * An ICMP error says that INIT or COOKIE ECHO did not reach the peer, and why (-errno). The chunk leaves once
 * more after a short time, which nobody can know in advance, to the next of the peer's addresses (RFC 9260 5.1, 6.4).
 * Ends the association if it has left since an earlier error.
 */
void sctp_handshake_unreachable(struct sctp_assoc *a, int error, uint64_t now);
/*
 * Begins anew after a Stale Cookie error in COOKIE-ECHOED (RFC 9260 5.2.6): with an INIT at once, or,
 * if that is not the first such error, when T1 expires. Ends the association when connect_limit is
 * over.
 */
void sctp_handshake_stale(struct sctp_assoc *a, uint64_t now);
/* INIT ACK in COOKIE-WAIT. Ends the association when the chunk is not acceptable. */
void sctp_handshake_init_ack(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* COOKIE ACK in COOKIE-ECHOED: the association is up. */
void sctp_handshake_cookie_ack(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* Enters ESTABLISHED from CLOSED or from a handshake, and starts the timers of that state. */
void sctp_handshake_up(struct sctp_assoc *a, uint64_t now);
/*
 * Takes over what the peer's INIT or INIT ACK said, in host order: its tag, Initial TSN, window,
 * number of outbound streams and maximum number of inbound streams.
 */
void sctp_handshake_peer(struct sctp_assoc *a, uint32_t tag, uint32_t tsn, uint32_t rwnd,
			 uint16_t os, uint16_t mis);
/* Frees the cookie that was to be echoed, if there is one. */
void sctp_handshake_drop_cookie(struct sctp_assoc *a);

#endif
