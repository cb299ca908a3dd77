/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Authenticated chunks (RFC 4895), of which we have two: ASCONF and ASCONF-ACK (asconf.h). There is no endpoint pair
 * shared key, so whoever saw INIT and INIT ACK can compute the key, and nobody else. Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_AUTH_H
#define SCTPIW_SCTP_AUTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/random.h"
#include "wire/sctp_auth.h"

struct sctp_assoc;
struct sctp_in;
struct wire_sctp_init;

#define SCTP_AUTH_SHA1 20u /* bytes of a digest of SHA-1, and of SHA-256 */
#define SCTP_AUTH_SHA256 32u
#define SCTP_AUTH_MAX                                                                              \
	(WIRE_SCTP_AUTH_LEN + SCTP_AUTH_SHA256) /* bytes of an AUTH chunk of ours, at most */

/*
 * The association shared key. It is longer than a block of either hash, since both sides have sent 32 random bytes; so
 * HMAC uses its digest (RFC 2104 2), and that is what is kept.
 */
struct sctp_auth {
	uint16_t hmac; /* HMAC Identifier of what we send; 0: the two sides have not agreed upon ASCONF */
	uint8_t sha1[SCTP_AUTH_SHA1];
	uint8_t sha256[SCTP_AUTH_SHA256];
};

/* The RANDOM parameter of one of our INITs or INIT ACKs, with its header. */
struct sctp_auth_random {
	uint8_t raw[4 + WIRE_SCTP_RANDOM_LEN];
};

void sctp_auth_random(struct random_source *source, struct sctp_auth_random *random);
/* Says in an INIT or INIT ACK that we know ASCONF, and how we authenticate. random must outlive the struct. */
void sctp_auth_tell(const struct sctp_auth_random *random, struct wire_sctp_init *init);

enum sctp_auth_offer {
	SCTP_AUTH_NONE,	  /* the peer does not know ASCONF */
	SCTP_AUTH_GOOD,	  /* it knows it, and there is an HMAC that both sides know */
	SCTP_AUTH_MORE,	  /* it takes other chunks than ours only if they are authenticated */
	SCTP_AUTH_BROKEN, /* it must be answered with an ABORT (RFC 4895 6.1, RFC 5061 6) */
};

/* What a peer's INIT or INIT ACK offers. */
enum sctp_auth_offer sctp_auth_offer(const struct wire_sctp_init *init);
/* Computes the key from what we have told and the peer has offered, which must be good (6.1). */
void sctp_auth_agree(struct sctp_auth *auth, const struct sctp_auth_random *ours,
		     const struct wire_sctp_init *theirs);

/* Begins an AUTH chunk at p, and returns its length in bytes. auth->hmac must not be 0. */
size_t sctp_auth_put(const struct sctp_auth *auth, uint8_t *p);
/* Fills in its HMAC: it and the chunks behind it have len bytes, with their padding (6.2). */
void sctp_auth_sign(const struct sctp_auth *auth, uint8_t *p, size_t len);
/*
 * An AUTH chunk came. If it holds, in->authentic is set, and the chunks behind it are taken; else they are skipped (6.3).
 */
void sctp_auth_input(struct sctp_in *in, const struct wire_sctp_chunk *c);

#endif
