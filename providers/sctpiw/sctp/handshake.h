/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The active half of the handshake (RFC 9260 5.1), and the state that both halves keep. The passive
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

/* The side that has sent an INIT, as far as known. */
enum sctp_role {
	SCTP_ROLE_PASSIVE, /* only the peer */
	SCTP_ROLE_ACTIVE,  /* the local side */
	SCTP_ROLE_CROSSED, /* the local side, and the peer as well */
};

/*
 * A report that the peer cannot be reached. Any host that saw a local packet can send such a
 * report. So another packet is sent, and only an error after this packet counts.
 */
struct sctp_doubt {
	int error;	 /* -errno of the report; 0: none */
	uint64_t ask_at; /* time of the other packet, ns; 0: it has left, or no report */
};

#define SCTP_REASON_LEN 48 /* bytes kept of the peer's reason for an ABORT, with a final zero */

struct sctp_handshake {
	enum sctp_role role;
	bool resent; /* INIT or COOKIE ECHO left twice, so its answer gives no RTT (Karn) */
	/* Initiate Tag of an INIT that came during the active open, or 0. */
	uint32_t collision_tag;
	uint32_t local_tie; /* Tie-Tags, random (RFC 9260 5.2.2) */
	uint32_t peer_tie;
	uint32_t init_rwnd; /* a_rwnd of the local INIT, for unchanged retransmissions */
	uint32_t init_tsn;  /* local Initial TSN */
	uint32_t peer_init_tsn;
	struct sctp_doubt doubt;
	char reason[SCTP_REASON_LEN]; /* text of the ABORT that ended the attempt, if printable */
	unsigned int stale;	      /* cookies that the peer found stale since the first INIT */
	uint64_t since;		      /* time of the first INIT, ns */
	uint64_t sent;	 /* first transmission of the present INIT or COOKIE ECHO, ns */
	uint64_t t1;	 /* expiration of T1, ns */
	uint8_t *cookie; /* cookie to echo; NULL except in COOKIE-ECHOED */
	size_t cookie_len;
	/* Local address of the setup, or its replacement; zero: not known yet. */
	struct ip_addr local;
	struct ip_addr named; /* peer's address, as named by the user; zero: the peer opened it */
	struct sctp_auth_random
		random; /* of the local INIT; valid if plain is false and the INIT offers ASCONF */
	bool plain;	/* the local INIT does not offer ASCONF */
	uint64_t restart_probe; /* time of the last probe of the old path for a restart, ns, or 0 */
};

/* Sends an INIT with a new tag and enters COOKIE-WAIT. */
void sctp_handshake_start(struct sctp_assoc *a, uint64_t now);
/* Retransmits the unanswered chunk, after T1 or an error. Ends the association in time. */
void sctp_handshake_timeout(struct sctp_assoc *a, uint64_t now);
/* Writes the INIT to send. Returns its length in bytes. */
size_t sctp_handshake_init_put(struct sctp_assoc *a, uint8_t *p);
/* Retransmits the unanswered INIT or COOKIE ECHO at once. */
void sctp_handshake_resend(struct sctp_assoc *a);
/*
 * Handles an ICMP error (-errno): INIT or COOKIE ECHO did not reach the peer. The chunk is sent
 * again after a short, unpredictable time, to the next address of the peer (RFC 9260 5.1, 6.4).
 * Ends the association if the chunk was already sent again after an earlier error.
 */
void sctp_handshake_unreachable(struct sctp_assoc *a, int error, uint64_t now);
/*
 * Starts again after a Stale Cookie error in COOKIE-ECHOED (RFC 9260 5.2.6). After the first such
 * error, an INIT leaves at once; after later ones, when T1 expires. Ends the association after
 * connect_limit.
 */
void sctp_handshake_stale(struct sctp_assoc *a, uint64_t now);
/* Handles INIT ACK in COOKIE-WAIT. Ends the association if the chunk is not acceptable. */
void sctp_handshake_init_ack(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* Handles COOKIE ACK in COOKIE-ECHOED: the association is up. */
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
