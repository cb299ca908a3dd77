/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/dtls_record.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/bytes.h"

#define VERSION_1_2 0xfefdu
#define VERSION_1_0 0xfeffu /* version of a ClientHello before a version is negotiated */
#define SEQ_BITS 48
#define MARKS 128u /* number of sealed records whose first ciphertext bytes are kept */
#define MARK_LEN 8u
#define WORDS 8u /* words of the replay window, one more than DTLS_WINDOW needs */

_Static_assert(DTLS_WINDOW == (WORDS - 1) * 64, "a word is cleared before it is used again");

struct dtls_cipher {
	struct dtls_aead *aead;
	enum dtls_suite suite;
	uint64_t epoch; /* epoch, shifted to the bits above the sequence number */
	/* sealing: number of records so far; opening: highest number opened plus 1 */
	uint64_t seq;
	uint64_t window[WORDS]; /* bit by sequence number: 1 if opened (RFC 6479) */
	uint8_t iv[DTLS_AEAD_NONCE];
	uint8_t mark[MARKS][MARK_LEN]; /* by sequence number: first bytes of the ciphertext */
};

static const struct {
	size_t iv_len;
	size_t explicit_len; /* bytes of the nonce that each record contains */
} suites[] = {
	[DTLS_AES_128_GCM] = { 4, DTLS_NONCE },
	[DTLS_AES_256_GCM] = { 4, DTLS_NONCE },
	[DTLS_CHACHA20_POLY1305] = { 12, 0 },
};

struct dtls_cipher *dtls_cipher_new(enum dtls_suite suite, uint16_t epoch, const uint8_t *key,
				    size_t key_len, const uint8_t *iv, size_t iv_len)
{
	struct dtls_cipher *c;

	if (key_len != dtls_aead_key_len(suite) || iv_len != suites[suite].iv_len)
		return NULL;
	c = alloc_lines(sizeof(*c));
	if (!c)
		return NULL;
	c->suite = suite;
	c->epoch = (uint64_t)epoch << SEQ_BITS;
	memcpy(c->iv, iv, iv_len);
	c->aead = dtls_aead_new(suite, key);
	if (c->aead)
		return c;
	explicit_bzero(c, sizeof(*c));
	free(c);
	return NULL;
}

void dtls_cipher_free(struct dtls_cipher *c)
{
	if (!c)
		return;
	dtls_aead_free(c->aead);
	explicit_bzero(c, sizeof(*c));
	free(c);
}

size_t dtls_cipher_front(const struct dtls_cipher *c)
{
	return DTLS_HEADER + suites[c->suite].explicit_len;
}

size_t dtls_cipher_overhead(const struct dtls_cipher *c)
{
	return dtls_cipher_front(c) + DTLS_TAG;
}

uint64_t dtls_cipher_used(const struct dtls_cipher *c)
{
	return c->seq;
}

bool dtls_header_get(const uint8_t *p, size_t len, struct dtls_header *h)
{
	unsigned int version;

	if (len < DTLS_HEADER)
		return false;
	version = get_be16(p + 1);
	h->type = p[0];
	h->epoch = get_be16(p + 3);
	h->seq = (uint64_t)get_be16(p + 5) << 32 | get_be32(p + 7);
	h->len = get_be16(p + 11);
	return h->type >= DTLS_CHANGE_CIPHER_SPEC && h->type <= DTLS_DATA &&
	       (version == VERSION_1_2 || version == VERSION_1_0) && h->len <= len - DTLS_HEADER;
}

/* Builds the nonce of a record (RFC 5288 3, RFC 7905 2). */
static void make_nonce(const struct dtls_cipher *c, const uint8_t number[8],
		       uint8_t nonce[DTLS_AEAD_NONCE])
{
	memcpy(nonce, c->iv, DTLS_AEAD_NONCE);
	if (suites[c->suite].explicit_len) {
		memcpy(nonce + 4, number, 8);
		return;
	}
	for (unsigned int i = 0; i < 8; i++)
		nonce[4 + i] ^= number[i];
}

/* Builds the additional authenticated data (RFC 5246 6.2.3.3). len: bytes of plaintext. */
static void make_aad(const uint8_t number[8], uint8_t type, size_t len, uint8_t aad[13])
{
	memcpy(aad, number, 8);
	aad[8] = type;
	put_be16(aad + 9, VERSION_1_2);
	put_be16(aad + 11, (uint16_t)len);
}

size_t dtls_seal(struct dtls_cipher *c, enum dtls_type type, uint8_t *p, size_t len)
{
	size_t front = dtls_cipher_front(c), sealed = len + DTLS_TAG;
	struct dtls_aead_input in;
	uint8_t number[8];

	assert(len <= DTLS_PLAIN_MAX);
	if ((DTLS_FIRST_SEQ + c->seq) >> SEQ_BITS)
		return 0;
	put_be64(number, c->epoch | (DTLS_FIRST_SEQ + c->seq));
	c->seq++;
	p[0] = (uint8_t)type;
	put_be16(p + 1, VERSION_1_2);
	memcpy(p + 3, number, 8);
	put_be16(p + 11, (uint16_t)(front - DTLS_HEADER + sealed));
	if (front > DTLS_HEADER)
		memcpy(p + DTLS_HEADER, number, 8);
	make_nonce(c, number, in.nonce);
	make_aad(number, (uint8_t)type, len, in.aad);
	if (!dtls_aead_seal(c->aead, &in, p + front, len))
		return 0;
	memcpy(c->mark[(c->seq - 1) % MARKS], p + front, MARK_LEN);
	return front + sealed;
}

bool dtls_cipher_sealed(const struct dtls_cipher *c, const uint8_t *p, size_t len, uint64_t *nth)
{
	size_t front = dtls_cipher_front(c);
	struct dtls_header h = { 0 };

	if (len < front + MARK_LEN || p[0] != DTLS_DATA)
		return false;
	/* Ignore the result: the quote may be shorter than the record. */
	dtls_header_get(p, len, &h);
	if (h.epoch != c->epoch >> SEQ_BITS || h.seq < DTLS_FIRST_SEQ)
		return false;
	*nth = h.seq - DTLS_FIRST_SEQ;
	return *nth < c->seq && c->seq - *nth <= MARKS &&
	       !memcmp(c->mark[*nth % MARKS], p + front, MARK_LEN);
}

/* ---- opening ---- */

static bool was_opened(const struct dtls_cipher *c, uint64_t seq)
{
	if (seq >= c->seq)
		return false;
	return seq + DTLS_WINDOW + 1 < c->seq || c->window[seq / 64 % WORDS] >> seq % 64 & 1;
}

static void note_opened(struct dtls_cipher *c, uint64_t seq)
{
	if (seq >= c->seq) {
		uint64_t word = c->seq ? (c->seq - 1) / 64 : 0;

		for (unsigned int n = 0; word < seq / 64 && n < WORDS; n++)
			c->window[++word % WORDS] = 0;
		c->seq = seq + 1;
	}
	c->window[seq / 64 % WORDS] |= UINT64_C(1) << seq % 64;
}

enum dtls_opened dtls_open(struct dtls_cipher *c, const struct dtls_header *h, uint8_t *p,
			   uint8_t **plain, size_t *len)
{
	size_t front = dtls_cipher_front(c), opened;
	struct dtls_aead_input in;

	if (h->epoch != c->epoch >> SEQ_BITS || get_be16(p + 1) != VERSION_1_2 ||
	    DTLS_HEADER + h->len < front + DTLS_TAG ||
	    DTLS_HEADER + h->len > front + DTLS_TAG + DTLS_PLAIN_MAX)
		return DTLS_BAD;
	if (was_opened(c, h->seq))
		return DTLS_REPLAY;
	opened = DTLS_HEADER + h->len - front - DTLS_TAG;
	/*
	 * Other implementations may use any value as the explicit part of the nonce. So the nonce
	 * has the explicit part of the record, while the authenticated data has the sequence
	 * number.
	 */
	make_nonce(c, front > DTLS_HEADER ? p + DTLS_HEADER : p + 3, in.nonce);
	make_aad(p + 3, h->type, opened, in.aad);
	if (!dtls_aead_open(c->aead, &in, p + front, opened))
		return DTLS_BAD;
	note_opened(c, h->seq);
	*plain = p + front;
	*len = opened;
	return DTLS_OPENED;
}
