/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sctp/auth.h"

#include <nettle/hmac.h>
#include <nettle/memops.h>

#include "sctp/control.h"
#include "sctp/input.h"
#include "wire/sctp_asconf.h"
#include "wire/sctp_init.h"

/* Parameters of all local INITs and INIT ACKs. RANDOM is not here: it always differs. */
static const uint8_t our_chunks[] = { 0x80, 0x03, 0, 6, WIRE_SCTP_ASCONF, WIRE_SCTP_ASCONF_ACK };
static const uint8_t our_hmacs[] = {
	0x80, 0x04, 0, 8, 0, WIRE_SCTP_HMAC_SHA256, 0, WIRE_SCTP_HMAC_SHA1
};
static const uint8_t our_extensions[] = {
	0x80, 0x08, 0, 7, WIRE_SCTP_ASCONF, WIRE_SCTP_ASCONF_ACK, WIRE_SCTP_AUTH
};

#define OUR_VECTOR (4 + WIRE_SCTP_RANDOM_LEN + sizeof(our_chunks) + sizeof(our_hmacs))

void sctp_auth_random(struct random_source *source, struct sctp_auth_random *random)
{
	put_be16(random->raw, WIRE_SCTP_PARAM_RANDOM);
	put_be16(random->raw + 2, sizeof(random->raw));
	random_bytes(source, random->raw + 4, WIRE_SCTP_RANDOM_LEN);
}

void sctp_auth_tell(const struct sctp_auth_random *random, struct wire_sctp_init *init)
{
	init->random = random->raw;
	init->chunks = our_chunks;
	init->hmacs = our_hmacs;
	init->extensions = our_extensions;
}

/* Returns the length of a parameter, without its padding. Returns 0 if raw is NULL. */
static size_t raw_len(const uint8_t *raw)
{
	return raw ? get_be16(raw + 2) : 0;
}

/* True if the list of chunk types contains this type. */
static bool lists(const uint8_t *raw, uint8_t type)
{
	size_t i, len = raw_len(raw);

	for (i = 4; i < len; i++)
		if (raw[i] == type)
			return true;
	return false;
}

/*
 * True if the peer requires authentication of chunks other than ASCONF and ASCONF-ACK. Types that
 * must not be authenticated are ignored (3.2).
 */
static bool demands_more(const uint8_t *raw)
{
	size_t i, len = raw_len(raw);

	for (i = 4; i < len; i++)
		switch (raw[i]) {
		case WIRE_SCTP_INIT:
		case WIRE_SCTP_INIT_ACK:
		case WIRE_SCTP_SHUTDOWN_COMPLETE:
		case WIRE_SCTP_AUTH:
		case WIRE_SCTP_ASCONF:
		case WIRE_SCTP_ASCONF_ACK:
			break;
		default:
			return true;
		}
	return false;
}

/* Returns the first supported HMAC Identifier in the peer's list (6.1), or 0. */
static uint16_t choose(const uint8_t *raw)
{
	size_t i, len = raw_len(raw);

	for (i = 4; i + 2 <= len; i += 2) {
		uint16_t id = get_be16(raw + i);

		if (id == WIRE_SCTP_HMAC_SHA1 || id == WIRE_SCTP_HMAC_SHA256)
			return id;
	}
	return 0;
}

enum sctp_auth_offer sctp_auth_offer(const struct wire_sctp_init *init)
{
	bool asconf = lists(init->extensions, WIRE_SCTP_ASCONF);

	if (init->random && raw_len(init->random) != 4 + WIRE_SCTP_RANDOM_LEN)
		return SCTP_AUTH_BROKEN;
	if (!init->random || !choose(init->hmacs))
		return asconf ? SCTP_AUTH_BROKEN : SCTP_AUTH_NONE;
	if (demands_more(init->chunks))
		return SCTP_AUTH_MORE;
	return asconf ? SCTP_AUTH_GOOD : SCTP_AUTH_NONE;
}

/* ---- the key ---- */

/* The three parameters of a key vector, in the order of the vector. */
struct vector {
	const uint8_t *raw[3];
};

static size_t vector_len(const struct vector *v)
{
	return raw_len(v->raw[0]) + raw_len(v->raw[1]) + raw_len(v->raw[2]);
}

static void vector_copy(const struct vector *v, uint8_t out[OUR_VECTOR])
{
	for (unsigned int i = 0; i < 3; i++) {
		memcpy(out, v->raw[i], raw_len(v->raw[i]));
		out += raw_len(v->raw[i]);
	}
}

/*
 * True if the local vector is the smaller number. Neither vector begins with a zero, so a longer
 * vector is larger.
 */
static bool is_smaller(const struct vector *ours, const struct vector *theirs)
{
	uint8_t a[OUR_VECTOR], b[OUR_VECTOR] = { 0 };

	if (vector_len(theirs) != OUR_VECTOR)
		return vector_len(theirs) > OUR_VECTOR;
	vector_copy(ours, a);
	vector_copy(theirs, b);
	return memcmp(a, b, OUR_VECTOR) < 0;
}

void sctp_auth_agree(struct sctp_auth *auth, const struct sctp_auth_random *ours,
		     const struct wire_sctp_init *theirs)
{
	const struct vector us = { { ours->raw, our_chunks, our_hmacs } };
	const struct vector them = { { theirs->random, theirs->chunks, theirs->hmacs } };
	const struct vector *order[] = { &us, &them };
	struct sha1_ctx sha1;
	struct sha256_ctx sha256;

	if (!is_smaller(&us, &them)) {
		order[0] = &them;
		order[1] = &us;
	}
	sha1_init(&sha1);
	sha256_init(&sha256);
	for (unsigned int i = 0; i < 6; i++) {
		const uint8_t *raw = order[i / 3]->raw[i % 3];

		if (!raw)
			continue;
		sha1_update(&sha1, raw_len(raw), raw);
		sha256_update(&sha256, raw_len(raw), raw);
	}
	sha1_digest(&sha1, sizeof(auth->sha1), auth->sha1);
	sha256_digest(&sha256, sizeof(auth->sha256), auth->sha256);
	auth->hmac = choose(theirs->hmacs);
}

/* ---- chunks ---- */

static size_t digest_len(uint16_t hmac)
{
	return hmac == WIRE_SCTP_HMAC_SHA1 ? SCTP_AUTH_SHA1 : SCTP_AUTH_SHA256;
}

/* Computes the HMAC of an AUTH chunk, whose HMAC counts as zeros, and of the chunks after it. */
static void compute(const struct sctp_auth *auth, uint16_t hmac, const uint8_t *p, size_t len,
		    uint8_t digest[SCTP_AUTH_SHA256])
{
	static const uint8_t zeros[SCTP_AUTH_SHA256];
	size_t n = digest_len(hmac), head = WIRE_SCTP_AUTH_LEN + n;

	if (hmac == WIRE_SCTP_HMAC_SHA1) {
		struct hmac_sha1_ctx ctx;

		hmac_sha1_set_key(&ctx, sizeof(auth->sha1), auth->sha1);
		hmac_sha1_update(&ctx, WIRE_SCTP_AUTH_LEN, p);
		hmac_sha1_update(&ctx, n, zeros);
		hmac_sha1_update(&ctx, len - head, p + head);
		hmac_sha1_digest(&ctx, n, digest);
	} else {
		struct hmac_sha256_ctx ctx;

		hmac_sha256_set_key(&ctx, sizeof(auth->sha256), auth->sha256);
		hmac_sha256_update(&ctx, WIRE_SCTP_AUTH_LEN, p);
		hmac_sha256_update(&ctx, n, zeros);
		hmac_sha256_update(&ctx, len - head, p + head);
		hmac_sha256_digest(&ctx, n, digest);
	}
}

size_t sctp_auth_put(const struct sctp_auth *auth, uint8_t *p)
{
	return wire_sctp_auth_put(p, auth->hmac, digest_len(auth->hmac));
}

void sctp_auth_sign(const struct sctp_auth *auth, uint8_t *p, size_t len)
{
	uint8_t digest[SCTP_AUTH_SHA256];

	compute(auth, auth->hmac, p, len, digest);
	memcpy(p + WIRE_SCTP_AUTH_LEN, digest, digest_len(auth->hmac));
}

void sctp_auth_input(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	uint8_t digest[SCTP_AUTH_SHA256], unknown[2];
	struct wire_sctp_auth auth;

	in->stop = true;
	/* A packet has only one AUTH chunk (5.1). Key 0 is the only key (6.3). */
	if (in->authentic || !wire_sctp_auth_get(c, &auth) || auth.key)
		return;
	if (auth.hmac != WIRE_SCTP_HMAC_SHA1 && auth.hmac != WIRE_SCTP_HMAC_SHA256) {
		put_be16(unknown, auth.hmac);
		sctp_control_error(in->a, WIRE_SCTP_CAUSE_HMAC, unknown, sizeof(unknown));
		return;
	}
	if (auth.digest_len != digest_len(auth.hmac))
		return;
	compute(&in->a->auth, auth.hmac, c->raw, (size_t)(in->end - c->raw), digest);
	if (!memeql_sec(digest, auth.digest, auth.digest_len))
		return;
	in->authentic = true;
	in->stop = false;
	sctp_path_heard(in);
}
