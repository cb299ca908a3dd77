/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Records of DTLS 1.2 (RFC 6347) with an AEAD: how they are laid out, sealed and opened. GnuTLS does the handshake
 * (dtls_handshake.h), and its keys are used here, since packets come and go in batches. No lock.
 *
 * A record has a header of 13 bytes, with AES-GCM 8 bytes of nonce (RFC 5288), the ciphertext, and a tag of 16 bytes.
 */
#ifndef SCTPIW_NET_DTLS_RECORD_H
#define SCTPIW_NET_DTLS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/dtls_aead.h"

#define DTLS_HEADER 13u
#define DTLS_NONCE 8u
/* Bytes that a record adds at most. */
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

/* The header of a record. */
struct dtls_header {
	uint8_t type;
	uint16_t epoch;
	uint64_t seq; /* the sequence number within the epoch, 48 bits */
	size_t len;   /* bytes behind the header */
};

/*
 * Our sequence numbers begin here. GnuTLS has used the first ones of the same epoch with the same key for its Finished,
 * and uses the next ones if it sends that again, or an alert: it never comes so far. A nonce that is used twice would
 * give away the key of the authentication.
 */
#define DTLS_FIRST_SEQ (UINT64_C(1) << 20)

/* Records that came may be late by so many. */
#define DTLS_WINDOW 448u

/* One direction of a connection. */
struct dtls_cipher;

/*
 * Takes the key and the implicit part of the nonce as the handshake has agreed on them, for records of this epoch. NULL:
 * no memory, or the lengths are not those of the suite.
 */
struct dtls_cipher *dtls_cipher_new(enum dtls_suite suite, uint16_t epoch, const uint8_t *key,
				    size_t key_len, const uint8_t *iv, size_t iv_len);
/* Forgets the keys. NULL: nothing happens. */
void dtls_cipher_free(struct dtls_cipher *c);

/* Bytes in front of the ciphertext, and of all that a record adds. */
size_t dtls_cipher_front(const struct dtls_cipher *c);
size_t dtls_cipher_overhead(const struct dtls_cipher *c);
/* Records that were sealed, or the highest number of those that were opened, with this key. */
uint64_t dtls_cipher_used(const struct dtls_cipher *c);

/*
 * Whether p begins with a record of data that was sealed with this key not long ago, as ICMP quotes it: only who has seen that
 * record knows its ciphertext. *nth: how many were sealed before it.
 */
bool dtls_cipher_sealed(const struct dtls_cipher *c, const uint8_t *p, size_t len, uint64_t *nth);

/* Reads the header of the record that p begins with. false: there is no whole record of DTLS 1.2 or 1.0. */
bool dtls_header_get(const uint8_t *p, size_t len, struct dtls_header *h);

/*
 * Seals len <= DTLS_PLAIN_MAX bytes of plaintext that stand at p + dtls_cipher_front(). p has room for
 * dtls_cipher_overhead() more. Returns the record's length; 0: it could not be sealed, and must not be sent.
 */
size_t dtls_seal(struct dtls_cipher *c, enum dtls_type type, uint8_t *p, size_t len);

enum dtls_opened {
	DTLS_OPENED,
	DTLS_BAD,    /* it is not authentic, or of another key; what stood there is spoilt */
	DTLS_REPLAY, /* a record of that number has come before, or it is too late */
};

/*
 * Opens in place the record p, which h was read from. *plain and *len: the plaintext, if the result is DTLS_OPENED. A
 * record is not accepted a second time.
 */
enum dtls_opened dtls_open(struct dtls_cipher *c, const struct dtls_header *h, uint8_t *p,
			   uint8_t **plain, size_t *len);

#endif
