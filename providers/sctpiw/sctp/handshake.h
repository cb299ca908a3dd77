/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The active half of the handshake (RFC 9260 5.1), and the state that both halves use. accept.c has
 * the passive half. Guarded by the caller's lock.
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

/* The side that has sent an INIT, as far as the local side knows. */
enum sctp_role {
	SCTP_ROLE_PASSIVE, /* only the peer */
	SCTP_ROLE_ACTIVE,  /* the local side */
	SCTP_ROLE_CROSSED, /* the local side, and the peer as well */
};

/*
 * An ICMP error: the peer cannot be reached. Any host that saw a local packet can forge such an
 * error. So the chunk is sent again, and the attempt fails only if another error follows.
 */
struct sctp_doubt {
	int error; /* -errno of the last error; 0: no error yet */
	/* time to send the chunk again, ns; 0: it was sent again, or there is no error */
	uint64_t ask_at;
};

#define SCTP_REASON_LEN 48 /* bytes kept of the text in the peer's ABORT, with a final zero */

struct sctp_handshake {
	enum sctp_role role;
	bool resent; /* INIT or COOKIE ECHO was retransmitted, so its answer gives no RTT (Karn) */
	/* Initiate Tag of an INIT that came during the active open, or 0. */
	uint32_t collision_tag;
	uint32_t local_tie; /* Tie-Tags, random (RFC 9260 5.2.2) */
	uint32_t peer_tie;
	uint32_t init_rwnd; /* a_rwnd of the local INIT, which retransmissions must repeat */
	uint32_t init_tsn;  /* local Initial TSN */
	uint32_t peer_init_tsn;
	struct sctp_doubt doubt;
	/* printable text of the ABORT that ended the attempt, or "" */
	char reason[SCTP_REASON_LEN];
	unsigned int stale; /* number of Stale Cookie errors since the first INIT */
	uint64_t since;	    /* time of the first INIT, ns */
	uint64_t sent;	    /* time when the present INIT or COOKIE ECHO was first sent, ns */
	uint64_t t1;	    /* expiration of T1, ns */
	uint8_t *cookie;    /* cookie to send in COOKIE-ECHOED; NULL in other states */
	size_t cookie_len;
	/* Local address of the setup, or the address that has replaced it; zero: not known yet. */
	struct ip_addr local;
	/* the peer's address that the user has named; zero: the peer opened the association */
	struct ip_addr named;
	/* RANDOM parameter of the local INIT; valid unless plain is set */
	struct sctp_auth_random random;
	bool plain; /* the local INIT does not offer ASCONF */
	/* time of the last probe of the old path before a restart, ns; 0: none */
	uint64_t restart_probe;
};

/* Sends an INIT with a new tag and enters COOKIE-WAIT. */
void sctp_handshake_start(struct sctp_assoc *a, uint64_t now);
/*
 * Called when T1 or the delay of sctp_doubt.ask_at has expired. Retransmits the unanswered INIT or
 * COOKIE ECHO. Ends the association after connect_limit.
 */
void sctp_handshake_timeout(struct sctp_assoc *a, uint64_t now);
/* Writes the local INIT at p. Returns its length in bytes. */
size_t sctp_handshake_init_put(struct sctp_assoc *a, uint8_t *p);
/* Retransmits the unanswered INIT or COOKIE ECHO at once. */
void sctp_handshake_resend(struct sctp_assoc *a);
/*
 * Handles an ICMP error (-errno) for an INIT or COOKIE ECHO. The chunk is sent again after a short,
 * random delay, to the next address of the peer (RFC 9260 5.1, 6.4). Ends the association if the
 * chunk was already sent again after an earlier error.
 */
void sctp_handshake_unreachable(struct sctp_assoc *a, int error, uint64_t now);
/*
 * Handles a Stale Cookie error in COOKIE-ECHOED: starts the handshake again (RFC 9260 5.2.6). After
 * the first such error, the new INIT leaves at once. After later errors, the INIT leaves when T1
 * expires. Ends the association after connect_limit.
 */
void sctp_handshake_stale(struct sctp_assoc *a, uint64_t now);
/* Handles an INIT ACK in COOKIE-WAIT. Ends the association if the INIT ACK is not acceptable. */
void sctp_handshake_init_ack(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* Handles a COOKIE ACK in COOKIE-ECHOED: the association is then up. */
void sctp_handshake_cookie_ack(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* Enters ESTABLISHED from CLOSED or from a handshake, and starts the timers of that state. */
void sctp_handshake_up(struct sctp_assoc *a, uint64_t now);
/*
 * Stores the contents of the peer's INIT or INIT ACK, in host order: its tag, Initial TSN, window,
 * number of outbound streams and maximum number of inbound streams.
 */
void sctp_handshake_peer(struct sctp_assoc *a, uint32_t tag, uint32_t tsn, uint32_t rwnd,
			 uint16_t os, uint16_t mis);
/* Frees the cookie to echo, if there is one. */
void sctp_handshake_drop_cookie(struct sctp_assoc *a);

#endif
