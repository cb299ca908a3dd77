/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Handshakes of DTLS 1.2 by GnuTLS, with keys that both sides know (PSK) or certificates. GnuTLS is given records one by
 * one, and its own go out by a function of the caller; it never waits. When a handshake is done, its keys are taken over
 * (dtls_record.h). The owner's lock.
 */
#ifndef SCTPIW_NET_DTLS_HANDSHAKE_H
#define SCTPIW_NET_DTLS_HANDSHAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/dtls_credentials.h"
#include "net/dtls_record.h"

#define DTLS_RANDOM 32u /* bytes of the random part of a ClientHello */
/* Bytes of a datagram of a handshake, at most: any path takes them. A longer message is several fragments. */
#define DTLS_HANDSHAKE_MTU 1200u
/* ms. A flight that is not answered is sent again after so long, then after twice as long, and so on. */
#define DTLS_RETRANSMIT 300u
/* ms. A handshake that takes longer has failed. */
#define DTLS_HANDSHAKE_LIMIT 15000u

/* Where records go. */
struct dtls_out {
	void (*transmit)(void *ctx, const uint8_t *data, size_t len);
	void *ctx;
	struct ip_addr peer; /* whose address that is, which its certificate is to be for */
};

/* ---- cookies (RFC 6347 4.2.1) ---- */

/* Secrets that cookies are made with. */
struct dtls_cookies;
/* NULL: no memory. */
struct dtls_cookies *dtls_cookies_new(void);
void dtls_cookies_free(struct dtls_cookies *c);

/* What a handshake has to know of the ClientHello whose cookie was right. */
struct dtls_hello {
	unsigned int record_seq, message_seq, reply_seq;
};
/*
 * Whether the ClientHello has the cookie that was made for this client. If not, it is answered with a HelloVerifyRequest,
 * and nothing is kept. now: ns.
 */
bool dtls_cookies_check(struct dtls_cookies *c, const void *client, size_t client_len,
			const uint8_t *record, size_t len, uint64_t now, const struct dtls_out *out,
			struct dtls_hello *hello);

/* ---- one handshake ---- */

struct dtls_handshake;

/* Begins as client: the ClientHello leaves. NULL: no memory. */
struct dtls_handshake *dtls_handshake_connect(struct dtls_credentials *c,
					      const struct dtls_out *out);
/* Begins as server, with the ClientHello that dtls_cookies_check() has approved; it is to be fed next. NULL: no memory. */
struct dtls_handshake *dtls_handshake_accept(struct dtls_credentials *c, const struct dtls_out *out,
					     const struct dtls_hello *hello);
/* Sends nothing. NULL: nothing happens. */
void dtls_handshake_free(struct dtls_handshake *h);

enum dtls_progress { DTLS_GOES_ON, DTLS_DONE, DTLS_FAILED };

/* Takes one record of the peer, whole with its header. */
enum dtls_progress dtls_handshake_feed(struct dtls_handshake *h, const uint8_t *record, size_t len);
/* To be called when dtls_handshake_wait() is over: sends the flight again. */
enum dtls_progress dtls_handshake_timeout(struct dtls_handshake *h);
/* How long it waits for an answer before that, ms. */
unsigned int dtls_handshake_wait(const struct dtls_handshake *h);
/*
 * A server that is done gets a record of the peer's handshake: if it is the peer's last flight, ours was lost, and is
 * sent again.
 */
void dtls_handshake_again(struct dtls_handshake *h, const uint8_t *record, size_t len);

/* Why it has failed. */
enum dtls_why dtls_handshake_why(const struct dtls_handshake *h);
/* More of that; or "". */
const char *dtls_handshake_text(const struct dtls_handshake *h);
/* Whether it is by a key that both sides know. */
bool dtls_handshake_by_key(const struct dtls_handshake *h);
/*
 * Fit to be printed: the identity of the client, or the subject of the peer's certificate; "" while it is not known.
 */
const char *dtls_handshake_identity(const struct dtls_handshake *h);
/* What was agreed on, as "AES-128-GCM"; only when it is done. */
const char *dtls_handshake_cipher(const struct dtls_handshake *h);
/* DTLS_RANDOM bytes of our ClientHello. */
void dtls_handshake_random(const struct dtls_handshake *h, uint8_t random[DTLS_RANDOM]);

/* Takes the keys of a handshake that is done. false: no memory, and nothing is to be freed. */
bool dtls_handshake_keys(struct dtls_handshake *h, struct dtls_cipher **tx,
			 struct dtls_cipher **rx);

#endif
