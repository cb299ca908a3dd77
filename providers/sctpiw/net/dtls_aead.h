/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The ciphers of records: AES-GCM (RFC 5288) and ChaCha20-Poly1305 (RFC 7905). AES-GCM is libipsec-mb's where that can be
 * had (dtls_ipsec_mb.h), and all else GnuTLS's, which has to be loaded before. No lock.
 */
#ifndef SCTPIW_NET_DTLS_AEAD_H
#define SCTPIW_NET_DTLS_AEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DTLS_TAG 16u
#define DTLS_AEAD_NONCE 12u

enum dtls_suite { DTLS_AES_128_GCM, DTLS_AES_256_GCM, DTLS_CHACHA20_POLY1305 };

/* What a record is sealed and opened with, beside the key. */
struct dtls_aead_input {
	uint8_t nonce[DTLS_AEAD_NONCE];
	uint8_t aad[13]; /* what is authenticated beside the ciphertext */
};

/* One key. */
struct dtls_aead;

size_t dtls_aead_key_len(enum dtls_suite suite);
/* key: dtls_aead_key_len() bytes. NULL: no memory, or nobody has this cipher. */
struct dtls_aead *dtls_aead_new(enum dtls_suite suite, const uint8_t *key);
/* Forgets the key. NULL: nothing happens. */
void dtls_aead_free(struct dtls_aead *a);

/* Seals len bytes at p in place, and puts the tag, of DTLS_TAG bytes, behind them. False: they are not sealed. */
bool dtls_aead_seal(struct dtls_aead *a, const struct dtls_aead_input *in, uint8_t *p, size_t len);
/* Opens len bytes at p in place; the tag stands behind them. False: they are not authentic, and spoilt. */
bool dtls_aead_open(struct dtls_aead *a, const struct dtls_aead_input *in, uint8_t *p, size_t len);

#endif
