/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Authenticated chunks (RFC 4895): the AUTH chunk, and the numbers of its parameters in INIT and
 * INIT ACK. wire/sctp_init.h finds the headers of these parameters. Integers are in host order. No
 * state.
 *
 *  |  Type = 0x0F  |   Flags = 0   |            Length             |
 *  |     Shared Key Identifier     |        HMAC Identifier        |
 *  |                             HMAC                              |
 */
#ifndef SCTPIW_WIRE_SCTP_AUTH_H
#define SCTPIW_WIRE_SCTP_AUTH_H

#include "wire/sctp_packet.h"

#define WIRE_SCTP_AUTH 0x0f
#define WIRE_SCTP_AUTH_LEN 8u /* bytes of an AUTH chunk without its HMAC */
#define WIRE_SCTP_CAUSE_HMAC 0x0105

enum wire_sctp_auth_param {
	WIRE_SCTP_PARAM_RANDOM = 0x8002,
	WIRE_SCTP_PARAM_CHUNKS = 0x8003,
	WIRE_SCTP_PARAM_HMACS = 0x8004,
};

enum wire_sctp_hmac {
	WIRE_SCTP_HMAC_SHA1 = 1,
	WIRE_SCTP_HMAC_SHA256 = 3,
};

#define WIRE_SCTP_RANDOM_LEN 32u /* bytes of a Random Number (6.1) */

struct wire_sctp_auth {
	uint16_t key;  /* Shared Key Identifier */
	uint16_t hmac; /* HMAC Identifier */
	const uint8_t *digest;
	size_t digest_len;
};

/* Decodes an AUTH chunk. Returns false if the chunk is shorter than WIRE_SCTP_AUTH_LEN. */
static inline bool wire_sctp_auth_get(const struct wire_sctp_chunk *c, struct wire_sctp_auth *auth)
{
	if (c->len < WIRE_SCTP_AUTH_LEN)
		return false;
	auth->key = get_be16(c->raw + 4);
	auth->hmac = get_be16(c->raw + 6);
	auth->digest = c->raw + WIRE_SCTP_AUTH_LEN;
	auth->digest_len = c->len - WIRE_SCTP_AUTH_LEN;
	return true;
}

/*
 * Writes an AUTH chunk for key 0. Its HMAC has digest_len zero bytes, a multiple of 4. Returns the
 * length of the chunk, WIRE_SCTP_AUTH_LEN + digest_len.
 */
static inline size_t wire_sctp_auth_put(uint8_t *p, uint16_t hmac, size_t digest_len)
{
	wire_sctp_chunk_put(p, WIRE_SCTP_AUTH, 0, WIRE_SCTP_AUTH_LEN + digest_len);
	put_be16(p + 4, 0);
	put_be16(p + 6, hmac);
	memset(p + WIRE_SCTP_AUTH_LEN, 0, digest_len);
	return WIRE_SCTP_AUTH_LEN + digest_len;
}

#endif
