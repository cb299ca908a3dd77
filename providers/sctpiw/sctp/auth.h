/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Authenticated chunks (RFC 4895). sctpiw authenticates two types of chunks, ASCONF and ASCONF-ACK
 * (asconf.h). There is no endpoint pair shared key. So only hosts that saw the INIT and the INIT
 * ACK can compute the key. Guarded by the caller's lock.
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

#define SCTP_AUTH_SHA1 20u /* bytes of a SHA-1 digest */
#define SCTP_AUTH_SHA256 32u
#define SCTP_AUTH_MAX                                                                              \
	(WIRE_SCTP_AUTH_LEN + SCTP_AUTH_SHA256) /* bytes of the longest local AUTH chunk */

/*
 * Digests of the association shared key. Each side sends 32 random bytes, so the key is longer than
 * a block of either hash. HMAC then uses the digest of the key instead of the key (RFC 2104 2).
 */
struct sctp_auth {
	uint16_t hmac; /* HMAC Identifier to send; 0: the sides have not agreed to use ASCONF */
	uint8_t sha1[SCTP_AUTH_SHA1];
	uint8_t sha256[SCTP_AUTH_SHA256];
};

/* The RANDOM parameter of a local INIT or INIT ACK, with its header. */
struct sctp_auth_random {
	uint8_t raw[4 + WIRE_SCTP_RANDOM_LEN];
};

void sctp_auth_random(struct random_source *source, struct sctp_auth_random *random);
/* Adds the parameters for ASCONF to an INIT or INIT ACK. `random` must outlive *init. */
void sctp_auth_tell(const struct sctp_auth_random *random, struct wire_sctp_init *init);

enum sctp_auth_offer {
	SCTP_AUTH_NONE, /* the peer does not support ASCONF */
	SCTP_AUTH_GOOD, /* the peer supports ASCONF, and there is a common HMAC */
	SCTP_AUTH_MORE, /* the peer requires authentication of other chunks, too */
	/* the offer is invalid: answer with an ABORT (RFC 4895 6.1, RFC 5061 6) */
	SCTP_AUTH_BROKEN,
};

/* Classifies the offer in a peer's INIT or INIT ACK. */
enum sctp_auth_offer sctp_auth_offer(const struct wire_sctp_init *init);
/* Computes the key from the local parameters and the peer's good offer (6.1). */
void sctp_auth_agree(struct sctp_auth *auth, const struct sctp_auth_random *ours,
		     const struct wire_sctp_init *theirs);

/*
 * Begins an AUTH chunk at p. Returns its length in bytes. auth->hmac must not be 0. Call
 * sctp_auth_sign() when the chunks after it are written.
 */
size_t sctp_auth_put(const struct sctp_auth *auth, uint8_t *p);
/*
 * Fills in the HMAC of the AUTH chunk at p. len is the length of that chunk and of all chunks after
 * it, with padding (6.2).
 */
void sctp_auth_sign(const struct sctp_auth *auth, uint8_t *p, size_t len);
/*
 * Handles an AUTH chunk. If its HMAC is valid, sets in->authentic, and the chunks after it are
 * processed. Otherwise the rest of the packet is skipped (6.3).
 */
void sctp_auth_input(struct sctp_in *in, const struct wire_sctp_chunk *c);

#endif
