/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sctp/cookie.h"

#include <nettle/memops.h>

#include "util/bytes.h"

#define KEY_LIFE 3600000000000ull /* an hour (RFC 9260 5.1.3) */

/*
 * The INIT ACK must be short, since the source address of the INIT may be forged (RFC 9260 12.4).
 * So zero fields are omitted, addresses are stored in their shortest form, and the digest is
 * truncated to 128 bits (RFC 2104 5).
 */
#define MAC_LEN 16u

/* Flags in the first byte: the cookie has these optional fields. */
#define HAS_AUTH 1u
#define HAS_RECEIPTS 2u
#define HAS_TIES 4u

/* An address has one byte for its kind, and then 0, 4, 16 or 20 bytes. */
enum addr_kind { ADDR_NONE, ADDR_V4, ADDR_V6, ADDR_SCOPED };

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

static void bytes_put(uint8_t **p, const void *from, size_t len)
{
	memcpy(*p, from, len);
	*p += len;
}

static void bytes_get(const uint8_t **p, void *to, size_t len)
{
	memcpy(to, *p, len);
	*p += len;
}

static void u16_put(uint8_t **p, uint16_t v)
{
	put_be16(*p, v);
	*p += 2;
}

static uint16_t u16_get(const uint8_t **p)
{
	*p += 2;
	return get_be16(*p - 2);
}

static void u32_put(uint8_t **p, uint32_t v)
{
	put_be32(*p, v);
	*p += 4;
}

static uint32_t u32_get(const uint8_t **p)
{
	*p += 4;
	return get_be32(*p - 4);
}

static void addr_put(uint8_t **p, const struct ip_addr *addr)
{
	enum addr_kind kind = ADDR_V6;

	if (ip_addr_is_v4(addr))
		kind = ADDR_V4;
	else if (ip_addr_is_zero(addr))
		kind = ADDR_NONE;
	else if (addr->scope_id)
		kind = ADDR_SCOPED;
	*(*p)++ = (uint8_t)kind;
	if (kind == ADDR_V4)
		bytes_put(p, addr->b + 12, 4);
	else if (kind != ADDR_NONE)
		bytes_put(p, addr->b, 16);
	if (kind == ADDR_SCOPED)
		u32_put(p, addr->scope_id);
}

static struct ip_addr addr_get(const uint8_t **p)
{
	struct ip_addr addr = { 0 };
	enum addr_kind kind = *(*p)++;
	uint8_t v4[4];

	if (kind == ADDR_V4) {
		bytes_get(p, v4, sizeof(v4));
		addr = ip_addr_from_v4(v4);
	} else if (kind != ADDR_NONE) {
		bytes_get(p, addr.b, sizeof(addr.b));
	}
	if (kind == ADDR_SCOPED)
		addr.scope_id = u32_get(p);
	return addr;
}

/*
 * The association shared key may be in the cookie: it depends only on parameters that were sent
 * unencrypted. RFC 4895 6.3 forbids sending endpoint pair shared keys, but there are none.
 */
static void auth_put(uint8_t **p, const struct sctp_auth *auth)
{
	u16_put(p, auth->hmac);
	bytes_put(p, auth->sha1, sizeof(auth->sha1));
	bytes_put(p, auth->sha256, sizeof(auth->sha256));
}

static struct sctp_auth auth_get(const uint8_t **p)
{
	struct sctp_auth auth = { .hmac = u16_get(p) };

	bytes_get(p, auth.sha1, sizeof(auth.sha1));
	bytes_get(p, auth.sha256, sizeof(auth.sha256));
	return auth;
}

static void receipts_put(uint8_t **p, const struct sctp_cookie *c)
{
	wire_sctp_receipts_put(*p, &c->receipts);
	*p += WIRE_SCTP_RECEIPTS_LEN;
}

static void receipts_get(const uint8_t **p, struct sctp_cookie *c)
{
	c->receipts = wire_sctp_receipts_get(*p, WIRE_SCTP_RECEIPTS_LEN);
	*p += WIRE_SCTP_RECEIPTS_LEN;
}

size_t sctp_cookie_put(struct sctp_cookie_key *key, struct random_source *random, uint64_t now,
		       const struct sctp_cookie *c, uint8_t *out)
{
	bool ties = c->local_tie || c->peer_tie;
	uint8_t *p = out;
	unsigned int i;
	size_t len;

	renew_key(key, random, now);
	*p++ = (uint8_t)((c->auth.hmac ? HAS_AUTH : 0) | (c->receipts.version ? HAS_RECEIPTS : 0) |
			 (ties ? HAS_TIES : 0));
	put_be64(p, c->created);
	p += 8;
	u16_put(&p, c->local_port);
	u16_put(&p, c->remote_port);
	u32_put(&p, c->local_tag);
	u32_put(&p, c->peer_tag);
	u32_put(&p, c->local_tsn);
	u32_put(&p, c->peer_tsn);
	u32_put(&p, c->peer_rwnd);
	u16_put(&p, c->peer_os);
	u16_put(&p, c->peer_mis);
	u32_put(&p, c->told);
	addr_put(&p, &c->addr.remote);
	addr_put(&p, &c->addr.local);
	u16_put(&p, c->addr.udp_port);
	if (c->auth.hmac)
		auth_put(&p, &c->auth);
	if (c->receipts.version)
		receipts_put(&p, c);
	if (ties) {
		u32_put(&p, c->local_tie);
		u32_put(&p, c->peer_tie);
	}
	*p++ = (uint8_t)c->alts;
	for (i = 0; i < c->alts; i++)
		addr_put(&p, &c->alt[i]);
	while ((p - out) % 4) /* the INIT ACK ends with the cookie, and then needs no padding */
		*p++ = 0;
	len = (size_t)(p - out);
	hmac_sha256_update(&key->current, len, out);
	hmac_sha256_digest(&key->current, MAC_LEN, p);
	return len + MAC_LEN;
}

/* True if the digest that follows the len bytes is correct. */
static bool authentic(struct hmac_sha256_ctx *ctx, const uint8_t *in, size_t len)
{
	uint8_t mac[MAC_LEN];

	hmac_sha256_update(ctx, len, in);
	hmac_sha256_digest(ctx, sizeof(mac), mac);
	return memeql_sec(mac, in + len, sizeof(mac));
}

bool sctp_cookie_get(struct sctp_cookie_key *key, const uint8_t *in, size_t len,
		     struct sctp_cookie *c)
{
	const uint8_t *p = in;
	unsigned int i;
	uint8_t has;

	if (len <= MAC_LEN || len > SCTP_COOKIE_MAX)
		return false;
	len -= MAC_LEN;
	if (!(key->has_current && authentic(&key->current, in, len)) &&
	    !(key->has_previous && authentic(&key->previous, in, len)))
		return false;
	/* Only this instance makes cookies with a valid digest, so all fields are present. */
	*c = (struct sctp_cookie){ 0 };
	has = *p++;
	c->created = get_be64(p);
	p += 8;
	c->local_port = u16_get(&p);
	c->remote_port = u16_get(&p);
	c->local_tag = u32_get(&p);
	c->peer_tag = u32_get(&p);
	c->local_tsn = u32_get(&p);
	c->peer_tsn = u32_get(&p);
	c->peer_rwnd = u32_get(&p);
	c->peer_os = u16_get(&p);
	c->peer_mis = u16_get(&p);
	c->told = u32_get(&p);
	c->addr.remote = addr_get(&p);
	c->addr.local = addr_get(&p);
	c->addr.udp_port = u16_get(&p);
	if (has & HAS_AUTH)
		c->auth = auth_get(&p);
	if (has & HAS_RECEIPTS)
		receipts_get(&p, c);
	if (has & HAS_TIES) {
		c->local_tie = u32_get(&p);
		c->peer_tie = u32_get(&p);
	}
	c->alts = *p++;
	for (i = 0; i < c->alts; i++)
		c->alt[i] = addr_get(&p);
	return true;
}
