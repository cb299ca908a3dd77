/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * State Cookies (RFC 9260 5.1.3). A cookie has the state of the passive side after an INIT. It is
 * authenticated with HMAC-SHA256, under a random key that changes hourly. Integers of the structs
 * are in host order. Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_COOKIE_H
#define SCTPIW_SCTP_COOKIE_H

#include <nettle/hmac.h>

#include "sctp/auth.h"
#include "util/addr.h"
#include "util/random.h"
#include "wire/sctp_receipts.h"

#define SCTP_COOKIE_ALTS 8u /* maximum of other addresses of the peer */
/* bytes of a cookie with all optional fields, and with a scope in each address */
#define SCTP_COOKIE_MAX 340u

struct sctp_cookie {
	uint64_t created; /* ns */
	uint16_t local_port;
	uint16_t remote_port;
	uint32_t local_tag;
	uint32_t peer_tag;
	uint32_t local_tsn;
	uint32_t peer_tsn;
	uint32_t peer_rwnd;
	uint16_t peer_os;
	uint16_t peer_mis;
	struct wire_sctp_receipts receipts;
	uint32_t local_tie; /* Tie-Tags; 0: no association existed for the INIT */
	uint32_t peer_tie;
	struct sctp_auth auth; /* the negotiated authentication for ASCONF */
	uint32_t told;	       /* sctp_locals_digest() of the addresses in the INIT ACK */
	struct path_addr addr; /* both addresses of the INIT */
	/* number of other addresses that the INIT lists; they have no scopes */
	unsigned int alts;
	struct ip_addr alt[SCTP_COOKIE_ALTS];
};

struct sctp_cookie_key {
	struct hmac_sha256_ctx current;
	struct hmac_sha256_ctx previous;
	bool has_current;
	bool has_previous;
	uint64_t since; /* creation time of current */
};

/*
 * Writes a cookie of at most SCTP_COOKIE_MAX bytes at `out`. Returns its length. First creates a
 * new key if there is none, or if the present key is too old at `now`.
 */
size_t sctp_cookie_put(struct sctp_cookie_key *key, struct random_source *random, uint64_t now,
		       const struct sctp_cookie *c, uint8_t *out);
/* Decodes a cookie. Returns false if it was not made here. The caller checks its age. */
bool sctp_cookie_get(struct sctp_cookie_key *key, const uint8_t *in, size_t len,
		     struct sctp_cookie *c);

#endif
