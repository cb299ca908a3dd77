/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sctp/cookie.h"

#include <nettle/memops.h>

#include "util/bytes.h"

#define KEY_LIFE 3600000000000ull /* an hour, RFC 9260 5.1.3 */
#define FIXED_LEN (SCTP_COOKIE_LEN - SHA256_DIGEST_SIZE)
#define AUTH (104u + WIRE_SCTP_RECEIPTS_LEN) /* where the key for ASCONF is */
#define AUTH_LEN (4 + SCTP_AUTH_SHA1 + SCTP_AUTH_SHA256)

_Static_assert(AUTH + AUTH_LEN == FIXED_LEN, "the addresses follow");

static void renew_key(struct sctp_cookie_key *key, struct random_source *random, uint64_t now)
{
	uint8_t secret[32];

	if (key->has_current && now - key->since < KEY_LIFE)
		return;
	key->previous = key->current;
	key->has_previous = key->has_current;
	random_bytes(random, secret, sizeof(secret));
	hmac_sha256_set_key(&key->current, sizeof(secret), secret);
	memset(secret, 0, sizeof(secret));
	key->has_current = true;
	key->since = now;
}

/*
 * The key has nothing that was not sent in the clear: RFC 4895 6.3 forbids to tell endpoint pair shared keys, of which
 * there are none.
 */
static void auth_put(uint8_t *out, const struct sctp_auth *auth)
{
	put_be32(out, auth->hmac);
	memcpy(out + 4, auth->sha1, sizeof(auth->sha1));
	memcpy(out + 4 + sizeof(auth->sha1), auth->sha256, sizeof(auth->sha256));
}

static struct sctp_auth auth_get(const uint8_t *in)
{
	struct sctp_auth auth = { .hmac = (uint16_t)get_be32(in) };

	memcpy(auth.sha1, in + 4, sizeof(auth.sha1));
	memcpy(auth.sha256, in + 4 + sizeof(auth.sha1), sizeof(auth.sha256));
	return auth;
}

size_t sctp_cookie_put(struct sctp_cookie_key *key, struct random_source *random, uint64_t now,
		       const struct sctp_cookie *c, uint8_t *out)
{
	size_t len = FIXED_LEN;
	unsigned int i;

	renew_key(key, random, now);
	put_be64(out, c->created);
	put_be64(out + 8, c->life);
	put_be16(out + 16, c->local_port);
	put_be16(out + 18, c->remote_port);
	put_be32(out + 20, c->local_tag);
	put_be32(out + 24, c->peer_tag);
	put_be32(out + 28, c->local_tsn);
	put_be32(out + 32, c->peer_tsn);
	put_be32(out + 36, c->peer_rwnd);
	put_be16(out + 40, c->peer_os);
	put_be16(out + 42, c->peer_mis);
	put_be32(out + 44, c->adaptation);
	put_be32(out + 48, c->local_tie);
	put_be32(out + 52, c->peer_tie);
	memcpy(out + 56, c->addr.remote.b, 16);
	put_be32(out + 72, c->addr.remote.scope_id);
	memcpy(out + 76, c->addr.local.b, 16);
	put_be32(out + 92, c->addr.local.scope_id);
	put_be16(out + 96, c->addr.udp_port);
	put_be16(out + 98, (uint16_t)c->alts);
	wire_sctp_receipts_put(out + 100, &c->receipts);
	put_be32(out + 100 + WIRE_SCTP_RECEIPTS_LEN, c->told);
	auth_put(out + AUTH, &c->auth);
	for (i = 0; i < c->alts; i++, len += 16)
		memcpy(out + len, c->alt[i].b, 16);
	hmac_sha256_update(&key->current, len, out);
	hmac_sha256_digest(&key->current, SHA256_DIGEST_SIZE, out + len);
	return len + SHA256_DIGEST_SIZE;
}

/* Whether the digest that stands behind len bytes is theirs. */
static bool authentic(struct hmac_sha256_ctx *ctx, const uint8_t *in, size_t len)
{
	uint8_t mac[SHA256_DIGEST_SIZE];

	hmac_sha256_update(ctx, len, in);
	hmac_sha256_digest(ctx, sizeof(mac), mac);
	return memeql_sec(mac, in + len, sizeof(mac));
}

bool sctp_cookie_get(struct sctp_cookie_key *key, const uint8_t *in, size_t len,
		     struct sctp_cookie *c)
{
	unsigned int i;

	if (len < SCTP_COOKIE_LEN || len > SCTP_COOKIE_MAX)
		return false;
	len -= SHA256_DIGEST_SIZE;
	if (!(key->has_current && authentic(&key->current, in, len)) &&
	    !(key->has_previous && authentic(&key->previous, in, len)))
		return false;
	c->created = get_be64(in);
	c->life = get_be64(in + 8);
	c->local_port = get_be16(in + 16);
	c->remote_port = get_be16(in + 18);
	c->local_tag = get_be32(in + 20);
	c->peer_tag = get_be32(in + 24);
	c->local_tsn = get_be32(in + 28);
	c->peer_tsn = get_be32(in + 32);
	c->peer_rwnd = get_be32(in + 36);
	c->peer_os = get_be16(in + 40);
	c->peer_mis = get_be16(in + 42);
	c->adaptation = get_be32(in + 44);
	c->local_tie = get_be32(in + 48);
	c->peer_tie = get_be32(in + 52);
	memcpy(c->addr.remote.b, in + 56, 16);
	c->addr.remote.scope_id = get_be32(in + 72);
	memcpy(c->addr.local.b, in + 76, 16);
	c->addr.local.scope_id = get_be32(in + 92);
	c->addr.udp_port = get_be16(in + 96);
	c->alts = get_be16(in + 98);
	c->receipts = wire_sctp_receipts_get(in + 100, WIRE_SCTP_RECEIPTS_LEN);
	c->told = get_be32(in + 100 + WIRE_SCTP_RECEIPTS_LEN);
	c->auth = auth_get(in + AUTH);
	for (i = 0; i < c->alts; i++) {
		memcpy(c->alt[i].b, in + FIXED_LEN + 16 * (size_t)i, 16);
		c->alt[i].scope_id = 0;
	}
	return true;
}
