/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Handshakes of DTLS 1.2 by GnuTLS, with a pre-shared key (PSK) or with certificates. GnuTLS gets
 * the peer's records one by one. It sends its own records through a function of the caller, and
 * never blocks. After a handshake, dtls_record.h uses the keys. A lock of the caller protects a
 * handshake.
 */
#ifndef SCTPIW_NET_DTLS_HANDSHAKE_H
#define SCTPIW_NET_DTLS_HANDSHAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/dtls_credentials.h"
#include "net/dtls_record.h"

#define DTLS_RANDOM 32u /* bytes of the random in a ClientHello */
/* Maximum bytes of a handshake datagram, for any path. Longer messages are sent in fragments. */
#define DTLS_HANDSHAKE_MTU 1200u
/* ms. Time until an unanswered flight is sent again. The time then doubles. */
#define DTLS_RETRANSMIT 300u
/* ms. Maximum duration of a handshake. */
#define DTLS_HANDSHAKE_LIMIT 15000u

/* Destination of a handshake's records. */
struct dtls_out {
	void (*transmit)(void *ctx, const uint8_t *data, size_t len);
	void *ctx;
	struct ip_addr peer; /* must match the peer's certificate */
};

/* ---- cookies (RFC 6347 4.2.1) ---- */

/* Secrets from which cookies are made. */
struct dtls_cookies;
/* Returns NULL when out of memory. */
struct dtls_cookies *dtls_cookies_new(void);
void dtls_cookies_free(struct dtls_cookies *c);

/* Sequence numbers of an accepted ClientHello, needed for the handshake that follows. */
struct dtls_hello {
	unsigned int record_seq, message_seq, reply_seq;
};
/*
 * True if the ClientHello in record has a valid cookie of this client. Otherwise sends a
 * HelloVerifyRequest through out, without keeping any state. client is the client's address and UDP
 * port in bytes. now is in ns.
 */
bool dtls_cookies_check(struct dtls_cookies *c, const void *client, size_t client_len,
			const uint8_t *record, size_t len, uint64_t now, const struct dtls_out *out,
			struct dtls_hello *hello);

/* ---- one handshake ---- */

struct dtls_handshake;

/* Starts a handshake as client and sends the ClientHello. Returns NULL when out of memory. */
struct dtls_handshake *dtls_handshake_connect(struct dtls_credentials *c,
					      const struct dtls_out *out);
/*
 * Starts a handshake as server for a ClientHello that dtls_cookies_check() has accepted. Pass this
 * ClientHello to dtls_handshake_feed() next. Returns NULL when out of memory.
 */
struct dtls_handshake *dtls_handshake_accept(struct dtls_credentials *c, const struct dtls_out *out,
					     const struct dtls_hello *hello);
/* Frees h without sending an alert. NULL: no effect. */
void dtls_handshake_free(struct dtls_handshake *h);

enum dtls_progress { DTLS_GOES_ON, DTLS_DONE, DTLS_FAILED };

/* Handles one record of the peer, including its header. */
enum dtls_progress dtls_handshake_feed(struct dtls_handshake *h, const uint8_t *record, size_t len);
/* Sends the flight again. Call this after dtls_handshake_wait() ms without an answer. */
enum dtls_progress dtls_handshake_timeout(struct dtls_handshake *h);
/* Returns the time in ms to wait for an answer before dtls_handshake_timeout(). */
unsigned int dtls_handshake_wait(const struct dtls_handshake *h);
/*
 * Passes a later record to a finished handshake of a server. If the record belongs to the peer's
 * last flight, the server's last flight was lost, and is sent again.
 */
void dtls_handshake_again(struct dtls_handshake *h, const uint8_t *record, size_t len);

enum dtls_why dtls_handshake_why(const struct dtls_handshake *h);
/* Returns details of the reason as text, or "". */
const char *dtls_handshake_text(const struct dtls_handshake *h);
/* True if the handshake uses a pre-shared key. */
bool dtls_handshake_by_key(const struct dtls_handshake *h);
/*
 * Returns the printable identity of the client's key, or the subject of the peer's certificate.
 * Returns "" until the handshake has found it.
 */
const char *dtls_handshake_identity(const struct dtls_handshake *h);
/* Returns the negotiated cipher, such as "AES-128-GCM". Call this after the handshake. */
const char *dtls_handshake_cipher(const struct dtls_handshake *h);
/* Copies the random of the local ClientHello, DTLS_RANDOM bytes. */
void dtls_handshake_random(const struct dtls_handshake *h, uint8_t random[DTLS_RANDOM]);

/*
 * Creates ciphers from the keys of a finished handshake. Returns false when out of memory; *tx and
 * *rx are then not set.
 */
bool dtls_handshake_keys(struct dtls_handshake *h, struct dtls_cipher **tx,
			 struct dtls_cipher **rx);

#endif
