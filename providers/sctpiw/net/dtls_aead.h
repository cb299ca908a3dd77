/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The ciphers of records: AES-GCM (RFC 5288) and ChaCha20-Poly1305 (RFC 7905). libipsec-mb computes
 * AES-GCM if it is available (dtls_ipsec_mb.h). GnuTLS computes the rest, and must be loaded first.
 * No lock.
 */
#ifndef SCTPIW_NET_DTLS_AEAD_H
#define SCTPIW_NET_DTLS_AEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DTLS_TAG 16u
#define DTLS_AEAD_NONCE 12u

enum dtls_suite { DTLS_AES_128_GCM, DTLS_AES_256_GCM, DTLS_CHACHA20_POLY1305 };

/* Input for sealing or opening a record, in addition to the key. */
struct dtls_aead_input {
	uint8_t nonce[DTLS_AEAD_NONCE];
	uint8_t aad[13]; /* additional authenticated data */
};

/* A cipher with its key. */
struct dtls_aead;

size_t dtls_aead_key_len(enum dtls_suite suite);
/*
 * key has dtls_aead_key_len() bytes. Returns NULL when out of memory or if the cipher is missing.
 */
struct dtls_aead *dtls_aead_new(enum dtls_suite suite, const uint8_t *key);
/* Erases the key and frees a. NULL: no effect. */
void dtls_aead_free(struct dtls_aead *a);

/* Seals len bytes at p in place, and appends a tag of DTLS_TAG bytes. Returns false on failure. */
bool dtls_aead_seal(struct dtls_aead *a, const struct dtls_aead_input *in, uint8_t *p, size_t len);
/*
 * Opens len bytes at p in place. The tag follows these bytes. Returns false if the bytes are
 * forged; they are then overwritten.
 */
bool dtls_aead_open(struct dtls_aead *a, const struct dtls_aead_input *in, uint8_t *p, size_t len);

#endif
