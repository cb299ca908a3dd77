/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Records of DTLS 1.2 (RFC 6347) with an AEAD: layout, sealing and opening. GnuTLS does the
 * handshake (dtls_handshake.h). Its keys are used here, since packets come and go in batches. No
 * lock.
 *
 * A record has a header of 13 bytes, 8 bytes of nonce with AES-GCM (RFC 5288), the ciphertext, and
 * a tag of 16 bytes.
 */
#ifndef SCTPIW_NET_DTLS_RECORD_H
#define SCTPIW_NET_DTLS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/dtls_aead.h"

#define DTLS_HEADER 13u
#define DTLS_NONCE 8u
/* Maximum bytes that a record adds. */
#define DTLS_OVERHEAD (DTLS_HEADER + DTLS_NONCE + DTLS_TAG)
#define DTLS_PLAIN_MAX 16384u /* bytes of plaintext in a record (RFC 6347 4.1) */
#define DTLS_KEY_MAX 32u
#define DTLS_IV_MAX 12u

enum dtls_type {
	DTLS_CHANGE_CIPHER_SPEC = 20,
	DTLS_ALERT = 21,
	DTLS_HANDSHAKE = 22,
	DTLS_DATA = 23,
};

struct dtls_header {
	uint8_t type;
	uint16_t epoch;
	uint64_t seq; /* sequence number within the epoch, 48 bits */
	size_t len;   /* bytes after the header */
};

/*
 * The local sequence numbers begin here. GnuTLS has used the first numbers of the same epoch and
 * key for its Finished. It uses the next ones to repeat the Finished, or for an alert, but never
 * reaches this number. A nonce that is used twice would reveal the authentication key.
 */
#define DTLS_FIRST_SEQ (UINT64_C(1) << 20)

/* Maximum lateness of a received record, in records. */
#define DTLS_WINDOW 448u

/* One direction of a session. */
struct dtls_cipher;

/*
 * Takes the key and the implicit part of the nonce from the handshake, for records of this epoch.
 * Returns NULL when out of memory, or if the lengths do not fit the suite.
 */
struct dtls_cipher *dtls_cipher_new(enum dtls_suite suite, uint16_t epoch, const uint8_t *key,
				    size_t key_len, const uint8_t *iv, size_t iv_len);
/* Erases the keys and frees c. NULL: no effect. */
void dtls_cipher_free(struct dtls_cipher *c);

/* Return the bytes before the ciphertext, and all bytes that a record adds. */
size_t dtls_cipher_front(const struct dtls_cipher *c);
size_t dtls_cipher_overhead(const struct dtls_cipher *c);
/* Returns the number of records sealed with this key, or the highest number opened, plus 1. */
uint64_t dtls_cipher_used(const struct dtls_cipher *c);

/*
 * True if p, quoted by ICMP, begins with a data record that was recently sealed with this key. Only
 * a host that has seen the record knows its ciphertext. *nth: records sealed before it.
 */
bool dtls_cipher_sealed(const struct dtls_cipher *c, const uint8_t *p, size_t len, uint64_t *nth);

/* Reads the record header at p. Returns false if p has no whole record of DTLS 1.2 or 1.0. */
bool dtls_header_get(const uint8_t *p, size_t len, struct dtls_header *h);

/*
 * Seals len <= DTLS_PLAIN_MAX bytes of plaintext at p + dtls_cipher_front(). p has room for
 * dtls_cipher_overhead() more bytes. Returns the record's length, or 0 if the record must not be
 * sent.
 */
size_t dtls_seal(struct dtls_cipher *c, enum dtls_type type, uint8_t *p, size_t len);

enum dtls_opened {
	DTLS_OPENED,
	DTLS_BAD,    /* not authentic, or of another key; the bytes are spoilt */
	DTLS_REPLAY, /* this number came before, or is too old */
};

/*
 * Opens the record p in place. h is its header. *plain and *len are the plaintext if the result is
 * DTLS_OPENED. A record is accepted only once.
 */
enum dtls_opened dtls_open(struct dtls_cipher *c, const struct dtls_header *h, uint8_t *p,
			   uint8_t **plain, size_t *len);

#endif
