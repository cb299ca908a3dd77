/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Handshakes of DTLS 1.2 by GnuTLS, with keys that both sides know (PSK) or certificates. GnuTLS
 * gets records one by one, sends its own through a function of the caller, and never waits. After a
 * handshake, dtls_record.h uses the keys. The owner's lock.
 */
#ifndef SCTPIW_NET_DTLS_HANDSHAKE_H
#define SCTPIW_NET_DTLS_HANDSHAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/dtls_credentials.h"
#include "net/dtls_record.h"

#define DTLS_RANDOM 32u /* bytes of the random part of a ClientHello */
/* Maximum bytes of a handshake datagram, for any path. A longer message has several fragments. */
#define DTLS_HANDSHAKE_MTU 1200u
/* ms. An unanswered flight is sent again after this time, then after twice as long, and so on. */
#define DTLS_RETRANSMIT 300u
/* ms. A handshake that takes longer fails. */
#define DTLS_HANDSHAKE_LIMIT 15000u

/* Output of a handshake. */
struct dtls_out {
	void (*transmit)(void *ctx, const uint8_t *data, size_t len);
	void *ctx;
	struct ip_addr peer; /* the peer's address, which its certificate must have */
};

/* ---- cookies (RFC 6347 4.2.1) ---- */

/* Secrets for making cookies. */
struct dtls_cookies;
/* Returns NULL when out of memory. */
struct dtls_cookies *dtls_cookies_new(void);
void dtls_cookies_free(struct dtls_cookies *c);

/* Sequence numbers of a ClientHello with a valid cookie. */
struct dtls_hello {
	unsigned int record_seq, message_seq, reply_seq;
};
/*
 * True if the ClientHello has the cookie of this client. If not, answers with a HelloVerifyRequest,
 * and keeps no state. now: ns.
 */
bool dtls_cookies_check(struct dtls_cookies *c, const void *client, size_t client_len,
			const uint8_t *record, size_t len, uint64_t now, const struct dtls_out *out,
			struct dtls_hello *hello);

/* ---- one handshake ---- */

struct dtls_handshake;

/* Begins as client, and sends the ClientHello. Returns NULL when out of memory. */
struct dtls_handshake *dtls_handshake_connect(struct dtls_credentials *c,
					      const struct dtls_out *out);
/*
 * Begins as server, after dtls_cookies_check() has accepted a ClientHello. Feed that ClientHello
 * next. Returns NULL when out of memory.
 */
struct dtls_handshake *dtls_handshake_accept(struct dtls_credentials *c, const struct dtls_out *out,
					     const struct dtls_hello *hello);
/* Frees h, and sends nothing. NULL: no effect. */
void dtls_handshake_free(struct dtls_handshake *h);

enum dtls_progress { DTLS_GOES_ON, DTLS_DONE, DTLS_FAILED };

/* Takes one record of the peer, with its header. */
enum dtls_progress dtls_handshake_feed(struct dtls_handshake *h, const uint8_t *record, size_t len);
/* Sends the flight again, after dtls_handshake_wait() without an answer. */
enum dtls_progress dtls_handshake_timeout(struct dtls_handshake *h);
/* Returns the wait for an answer before dtls_handshake_timeout(), in ms. */
unsigned int dtls_handshake_wait(const struct dtls_handshake *h);
/*
 * Passes a later record of the peer to a finished server. A record of the peer's last flight means
 * that the server's last flight was lost, so this is sent again.
 */
void dtls_handshake_again(struct dtls_handshake *h, const uint8_t *record, size_t len);

enum dtls_why dtls_handshake_why(const struct dtls_handshake *h);
/* Returns details of the reason, or "". */
const char *dtls_handshake_text(const struct dtls_handshake *h);
/* True if the handshake is by a key that both sides know. */
bool dtls_handshake_by_key(const struct dtls_handshake *h);
/*
 * Returns the printable identity of the client, or subject of the peer's certificate; "" until it
 * is known.
 */
const char *dtls_handshake_identity(const struct dtls_handshake *h);
/* Returns the negotiated cipher, as "AES-128-GCM", after the handshake. */
const char *dtls_handshake_cipher(const struct dtls_handshake *h);
/* Gets the DTLS_RANDOM bytes of the local ClientHello. */
void dtls_handshake_random(const struct dtls_handshake *h, uint8_t random[DTLS_RANDOM]);

/* Takes the keys of a finished handshake. Returns false when out of memory; then free nothing. */
bool dtls_handshake_keys(struct dtls_handshake *h, struct dtls_cipher **tx,
			 struct dtls_cipher **rx);

#endif
