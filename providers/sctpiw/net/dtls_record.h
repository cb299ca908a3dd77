/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Records of DTLS 1.2 (RFC 6347) with an AEAD cipher: format, sealing and opening. GnuTLS performs
 * only the handshake (dtls_handshake.h). Data records are handled here with GnuTLS's keys, since
 * packets are sent and received in batches. No lock.
 *
 * A record has a header of 13 bytes, with AES-GCM an explicit nonce of 8 bytes (RFC 5288), the
 * ciphertext, and a tag of 16 bytes.
 */
#ifndef SCTPIW_NET_DTLS_RECORD_H
#define SCTPIW_NET_DTLS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/dtls_aead.h"

#define DTLS_HEADER 13u
#define DTLS_NONCE 8u
/* Maximum bytes that sealing adds to a packet. */
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
	size_t len;   /* number of bytes after the header */
};

/*
 * First sequence number of local records. GnuTLS has already used the lowest numbers of this epoch
 * and key, for its Finished. GnuTLS uses the following numbers to send the Finished again, or for
 * an alert, but never reaches this number. A nonce that is used twice would reveal the
 * authentication key.
 */
#define DTLS_FIRST_SEQ (UINT64_C(1) << 20)

/* Maximum number of records by which a received record may be late. */
#define DTLS_WINDOW 448u

/* One direction of a session. */
struct dtls_cipher;

/*
 * Creates a cipher from the key and the implicit part of the nonce that a handshake has negotiated.
 * epoch is the epoch of its records. Returns NULL when out of memory, or if the lengths do not fit
 * the suite.
 */
struct dtls_cipher *dtls_cipher_new(enum dtls_suite suite, uint16_t epoch, const uint8_t *key,
				    size_t key_len, const uint8_t *iv, size_t iv_len);
/* Erases the keys and frees c. NULL: no effect. */
void dtls_cipher_free(struct dtls_cipher *c);

/* Return the number of bytes before the ciphertext, and of all bytes that sealing adds. */
size_t dtls_cipher_front(const struct dtls_cipher *c);
size_t dtls_cipher_overhead(const struct dtls_cipher *c);
/* Returns the number of records sealed with this key, or the highest number opened plus 1. */
uint64_t dtls_cipher_used(const struct dtls_cipher *c);

/*
 * True if p, quoted by an ICMP error, starts with a data record that was recently sealed with this
 * key. Hosts that have not seen the record do not know its ciphertext. *nth: number of records
 * sealed before it.
 */
bool dtls_cipher_sealed(const struct dtls_cipher *c, const uint8_t *p, size_t len, uint64_t *nth);

/* Reads the record header at p. Returns false if p has no complete record of DTLS 1.2 or 1.0. */
bool dtls_header_get(const uint8_t *p, size_t len, struct dtls_header *h);

/*
 * Seals len <= DTLS_PLAIN_MAX bytes of plaintext, which start at p + dtls_cipher_front(). The
 * buffer at p must have room for len + dtls_cipher_overhead() bytes. Returns the record's length,
 * or 0 if sealing has failed and nothing may be sent.
 */
size_t dtls_seal(struct dtls_cipher *c, enum dtls_type type, uint8_t *p, size_t len);

enum dtls_opened {
	DTLS_OPENED,
	DTLS_BAD,    /* forged, or sealed with another key; the bytes are overwritten */
	DTLS_REPLAY, /* the sequence number was opened before, or is too old */
};

/*
 * Opens the record at p in place; h is its header. After DTLS_OPENED, *plain and *len are the
 * plaintext. Each record is opened only once.
 */
enum dtls_opened dtls_open(struct dtls_cipher *c, const struct dtls_header *h, uint8_t *p,
			   uint8_t **plain, size_t *len);

#endif
