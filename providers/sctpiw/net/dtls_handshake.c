/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "net/dtls_handshake.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "net/dtls_gnutls.h"
#include "util/bytes.h"
#include "util/time.h"

/* Maximum gnutls_handshake() calls for one record. The first or second call reads the record. */
#define STEPS 8u
#define MESSAGE_HEADER 12u
#define MESSAGE_TYPES 32u /* handshake message types are less than this (RFC 5246 7.4) */
#define EPOCH 1u	  /* epoch of the keys that a handshake negotiates */
/* This number of Finished messages sealed with a wrong key ends a handshake. */
#define BAD_FINISHED 2u
/* ns. A cookie is valid for at least this time, and for at most twice this time. */
#define COOKIE_LIFE (120 * NSEC_PER_SEC)

struct dtls_handshake {
	gnutls_session_t session;
	struct dtls_out out;
	bool server;
	const uint8_t *record; /* record that GnuTLS has not read yet, or NULL */
	size_t len;
	int error;
	unsigned int bad; /* number of Finished messages that the keys do not fit */
	/* length + 1 of the peer's unsealed messages, by type; 0: none yet */
	uint32_t lengths[MESSAGE_TYPES];
	struct dtls_verdict verdict;
};

/* ---- cookies ---- */

struct dtls_cookies {
	uint8_t secret[2][GNUTLS_COOKIE_KEY_SIZE]; /* [0] is in use, [1] is the previous secret */
	uint64_t since; /* ns: first use of the present secret; 0: not used yet */
};

struct dtls_cookies *dtls_cookies_new(void)
{
	struct dtls_cookies *c = calloc(1, sizeof(*c));

	if (c && !gnutls.rnd(GNUTLS_RND_KEY, c->secret, sizeof(c->secret)))
		return c;
	free(c);
	return NULL;
}

void dtls_cookies_free(struct dtls_cookies *c)
{
	free(c);
}

static void renew(struct dtls_cookies *c, uint64_t now)
{
	uint8_t fresh[GNUTLS_COOKIE_KEY_SIZE];

	if (c->since && now - c->since < COOKIE_LIFE)
		return;
	if (c->since && !gnutls.rnd(GNUTLS_RND_KEY, fresh, sizeof(fresh))) {
		memcpy(c->secret[1], c->secret[0], sizeof(fresh));
		memcpy(c->secret[0], fresh, sizeof(fresh));
	}
	c->since = now ? now : 1;
}

static ssize_t push_cookie(gnutls_transport_ptr_t ptr, const void *data, size_t len)
{
	const struct dtls_out *out = ptr;

	out->transmit(out->ctx, data, len);
	return (ssize_t)len;
}

bool dtls_cookies_check(struct dtls_cookies *c, const void *client, size_t client_len,
			const uint8_t *record, size_t len, uint64_t now, const struct dtls_out *out,
			struct dtls_hello *hello)
{
	gnutls_dtls_prestate_st state = { 0 };
	void *who = (void *)(uintptr_t)client, *msg = (void *)(uintptr_t)record;

	renew(c, now);
	for (unsigned int i = 0; i < 2; i++) {
		gnutls_datum_t secret = { c->secret[i], sizeof(c->secret[i]) };

		if (gnutls.dtls_cookie_verify(&secret, who, client_len, msg, len, &state) < 0)
			continue;
		*hello = (struct dtls_hello){ state.record_seq, state.hsk_read_seq,
					      state.hsk_write_seq };
		return true;
	}
	memset(&state, 0, sizeof(state));
	gnutls.dtls_cookie_send(&(gnutls_datum_t){ c->secret[0], sizeof(c->secret[0]) }, who,
				client_len, &state, (gnutls_transport_ptr_t)(uintptr_t)out,
				push_cookie);
	return false;
}

/* ---- GnuTLS ---- */

static ssize_t push(gnutls_transport_ptr_t ptr, const void *data, size_t len)
{
	const struct dtls_handshake *h = ptr;

	h->out.transmit(h->out.ctx, data, len);
	return (ssize_t)len;
}

static ssize_t pull(gnutls_transport_ptr_t ptr, void *data, size_t size)
{
	struct dtls_handshake *h = ptr;
	size_t n = h->len < size ? h->len : size;

	if (!h->record) {
		gnutls.transport_set_errno(h->session, EAGAIN);
		return -1;
	}
	memcpy(data, h->record, n);
	h->record = NULL;
	return (ssize_t)n;
}

static int pull_timeout(gnutls_transport_ptr_t ptr, unsigned int ms)
{
	const struct dtls_handshake *h = ptr;

	return h->record != NULL;
}

static struct dtls_handshake *handshake_new(struct dtls_credentials *c, const struct dtls_out *out,
					    bool server)
{
	struct dtls_handshake *h = calloc(1, sizeof(*h));
	unsigned int flags = GNUTLS_DATAGRAM | GNUTLS_NONBLOCK | GNUTLS_NO_TICKETS;

	if (!h)
		return NULL;
	h->out = *out;
	h->verdict.peer = out->peer;
	h->server = server;
	if (gnutls.init(&h->session, flags | (server ? GNUTLS_SERVER : GNUTLS_CLIENT))) {
		free(h);
		return NULL;
	}
	gnutls.transport_set_ptr(h->session, h);
	gnutls.transport_set_push_function(h->session, push);
	gnutls.transport_set_pull_function(h->session, pull);
	gnutls.transport_set_pull_timeout_function(h->session, pull_timeout);
	gnutls.dtls_set_mtu(h->session, DTLS_HANDSHAKE_MTU);
	gnutls.dtls_set_timeouts(h->session, DTLS_RETRANSMIT, DTLS_HANDSHAKE_LIMIT);
	if (dtls_credentials_use(c, h->session, server, &h->verdict))
		return h;
	dtls_handshake_free(h);
	return NULL;
}

void dtls_handshake_free(struct dtls_handshake *h)
{
	if (!h)
		return;
	gnutls.deinit(h->session);
	free(h);
}

/* ---- steps ---- */

/* Reasons for a refusal, the alert for each, and the reason that the peer then logs. */
static const struct {
	enum dtls_why ours;
	gnutls_alert_description_t alert;
	enum dtls_why theirs;
} refusals[] = {
	{ DTLS_WHY_NO_IDENTITY, GNUTLS_A_UNKNOWN_PSK_IDENTITY, DTLS_WHY_REFUSED_NAME },
	{ DTLS_WHY_OTHER_KEY, GNUTLS_A_DECRYPT_ERROR, DTLS_WHY_REFUSED_KEY },
	{ DTLS_WHY_NO_SUITE, GNUTLS_A_INSUFFICIENT_SECURITY, DTLS_WHY_REFUSED_SUITE },
	{ DTLS_WHY_CERT_NONE, GNUTLS_A_CERTIFICATE_REQUIRED, DTLS_WHY_REFUSED_CERT_OTHER },
	{ DTLS_WHY_CERT_CA, GNUTLS_A_UNKNOWN_CA, DTLS_WHY_REFUSED_CERT_CA },
	{ DTLS_WHY_CERT_EXPIRED, GNUTLS_A_CERTIFICATE_EXPIRED, DTLS_WHY_REFUSED_CERT_TIME },
	{ DTLS_WHY_CERT_EARLY, GNUTLS_A_CERTIFICATE_EXPIRED, DTLS_WHY_REFUSED_CERT_TIME },
	{ DTLS_WHY_CERT_PURPOSE, GNUTLS_A_UNSUPPORTED_CERTIFICATE, DTLS_WHY_REFUSED_CERT_PURPOSE },
	{ DTLS_WHY_CERT_NAME, GNUTLS_A_ACCESS_DENIED, DTLS_WHY_REFUSED_CERT_NAME },
	{ DTLS_WHY_CERT_OTHER, GNUTLS_A_BAD_CERTIFICATE, DTLS_WHY_REFUSED_CERT_OTHER },
};

#define REFUSALS (sizeof(refusals) / sizeof(refusals[0]))

static enum dtls_why why_of_alert(const struct dtls_handshake *h)
{
	gnutls_alert_description_t alert = gnutls.alert_get(h->session);

	if (alert == GNUTLS_A_BAD_RECORD_MAC)
		alert = GNUTLS_A_DECRYPT_ERROR;
	/*
	 * Without a pre-shared key, this alert may also mean that the peer found a bad signature.
	 */
	if (alert == GNUTLS_A_DECRYPT_ERROR && !dtls_handshake_by_key(h))
		return DTLS_WHY_ERROR;
	for (unsigned int i = 0; i < REFUSALS; i++) {
		if (refusals[i].alert == alert)
			return refusals[i].theirs;
	}
	return DTLS_WHY_ERROR;
}

/* Called if the verdict has no reason yet: callbacks store the faults that they find there. */
static enum dtls_why why_of_error(const struct dtls_handshake *h)
{
	switch (h->error) {
	case GNUTLS_E_TIMEDOUT:
		return DTLS_WHY_SILENCE;
	case GNUTLS_E_FATAL_ALERT_RECEIVED:
		return why_of_alert(h);
	case GNUTLS_E_NO_CIPHER_SUITES:
		return h->server ? DTLS_WHY_NO_SUITE : DTLS_WHY_ERROR;
	case GNUTLS_E_NO_CERTIFICATE_FOUND:
		return h->server ? DTLS_WHY_CERT_NONE : DTLS_WHY_ERROR;
	case GNUTLS_E_KEY_USAGE_VIOLATION:
		return DTLS_WHY_CERT_PURPOSE;
	default:
		return DTLS_WHY_ERROR;
	}
}

static enum dtls_progress fail(struct dtls_handshake *h, int error)
{
	enum dtls_why why;

	h->error = error;
	if (h->verdict.why == DTLS_WHY_NOT)
		h->verdict.why = why_of_error(h);
	why = h->verdict.why;
	for (unsigned int i = 0; i < REFUSALS; i++) {
		if (refusals[i].ours == why)
			gnutls.alert_send(h->session, GNUTLS_AL_FATAL, refusals[i].alert);
	}
	/* Without an alert, the client would send its last flight again and again. */
	if (h->server && why == DTLS_WHY_ERROR)
		gnutls.alert_send(h->session, GNUTLS_AL_FATAL, GNUTLS_A_HANDSHAKE_FAILURE);
	return DTLS_FAILED;
}

/* True if the record is a Finished, and the peer's ChangeCipherSpec has already arrived. */
static bool is_finished(const struct dtls_handshake *h)
{
	gnutls_datum_t mac, iv, key = { NULL, 0 };
	unsigned char seq[8];

	return h->record && h->len > DTLS_HEADER && h->record[0] == DTLS_HANDSHAKE &&
	       get_be16(h->record + 3) == EPOCH &&
	       !gnutls.record_get_state(h->session, true, &mac, &iv, &key, seq) && key.size;
}

/*
 * Continues the handshake as far as possible. GnuTLS silently drops a Finished that does not fit
 * the keys, since any host may have forged it. The peer sends a real Finished again. So the
 * handshake fails only when a second Finished does not fit.
 */
static enum dtls_progress step(struct dtls_handshake *h)
{
	unsigned int bad = gnutls.record_get_discarded(h->session);
	bool finished = h->server && is_finished(h);
	unsigned int steps = 0;
	int ret;

	do {
		ret = gnutls.handshake(h->session);
	} while (ret < 0 && !gnutls.error_is_fatal(ret) && h->record && ++steps < STEPS);
	h->record = NULL;
	if (!ret)
		return DTLS_DONE;
	if (gnutls.error_is_fatal(ret))
		return fail(h, ret);
	if (finished && gnutls.record_get_discarded(h->session) != bad &&
	    ++h->bad >= BAD_FINISHED) {
		h->verdict.why = dtls_handshake_by_key(h) ? DTLS_WHY_OTHER_KEY : DTLS_WHY_ERROR;
		return fail(h, GNUTLS_E_DECRYPTION_FAILED);
	}
	return DTLS_GOES_ON;
}

struct dtls_handshake *dtls_handshake_connect(struct dtls_credentials *c,
					      const struct dtls_out *out)
{
	struct dtls_handshake *h = handshake_new(c, out, false);

	if (!h)
		return NULL;
	if (step(h) == DTLS_GOES_ON)
		return h;
	dtls_handshake_free(h);
	return NULL;
}

struct dtls_handshake *dtls_handshake_accept(struct dtls_credentials *c, const struct dtls_out *out,
					     const struct dtls_hello *hello)
{
	struct dtls_handshake *h = handshake_new(c, out, true);
	gnutls_dtls_prestate_st state = { hello->record_seq, hello->message_seq, hello->reply_seq };

	if (h)
		gnutls.dtls_prestate_set(h->session, &state);
	return h;
}

static uint32_t get_be24(const uint8_t *p)
{
	return (uint32_t)p[0] << 16 | get_be16(p + 1);
}

/*
 * True if GnuTLS 3.7 handles the fragments in an unsealed handshake record safely. Any host can
 * forge such records. GnuTLS joins fragments by message type, and uses the message length in each
 * fragment unchecked. It accesses memory beyond its buffer if two fragments have different message
 * lengths. The same happens if a fragment of a message has no bytes of it, or only the first byte.
 * No real peer sends such fragments, and no message type occurs twice with different lengths.
 */
static bool fragments_agree(struct dtls_handshake *h, const uint8_t *record, size_t len)
{
	const uint8_t *p = record + DTLS_HEADER, *end;
	struct dtls_header header;

	if (!dtls_header_get(record, len, &header) || header.type != DTLS_HANDSHAKE || header.epoch)
		return true;
	end = p + header.len;
	while (p != end) {
		uint32_t length, offset, here;

		if ((size_t)(end - p) < MESSAGE_HEADER || p[0] >= MESSAGE_TYPES)
			return false;
		length = get_be24(p + 1);
		offset = get_be24(p + 6);
		here = get_be24(p + 9);
		if (offset + here > length || here > (size_t)(end - p) - MESSAGE_HEADER ||
		    (length && !here) || (here < length && offset + here < 2) ||
		    (h->lengths[p[0]] && h->lengths[p[0]] != length + 1))
			return false;
		h->lengths[p[0]] = length + 1;
		p += MESSAGE_HEADER + here;
	}
	return true;
}

enum dtls_progress dtls_handshake_feed(struct dtls_handshake *h, const uint8_t *record, size_t len)
{
	if (!fragments_agree(h, record, len))
		return DTLS_GOES_ON;
	h->record = record;
	h->len = len;
	return step(h);
}

enum dtls_progress dtls_handshake_timeout(struct dtls_handshake *h)
{
	return step(h);
}

unsigned int dtls_handshake_wait(const struct dtls_handshake *h)
{
	return gnutls.dtls_get_timeout(h->session);
}

void dtls_handshake_again(struct dtls_handshake *h, const uint8_t *record, size_t len)
{
	uint8_t unused[64];

	if (!fragments_agree(h, record, len))
		return;
	h->record = record;
	h->len = len;
	gnutls.record_recv(h->session, unused, sizeof(unused));
	h->record = NULL;
}

/* ---- results ---- */

enum dtls_why dtls_handshake_why(const struct dtls_handshake *h)
{
	return h->verdict.why;
}

const char *dtls_handshake_text(const struct dtls_handshake *h)
{
	if (dtls_why_is_refusal(h->verdict.why))
		return h->verdict.detail;
	if (h->error == GNUTLS_E_FATAL_ALERT_RECEIVED)
		return gnutls.alert_get_name(gnutls.alert_get(h->session));
	return gnutls.strerror(h->error);
}

const char *dtls_handshake_identity(const struct dtls_handshake *h)
{
	return h->verdict.identity;
}

bool dtls_handshake_by_key(const struct dtls_handshake *h)
{
	gnutls_kx_algorithm_t kx = gnutls.kx_get(h->session);

	return kx == GNUTLS_KX_DHE_PSK || kx == GNUTLS_KX_ECDHE_PSK;
}

const char *dtls_handshake_cipher(const struct dtls_handshake *h)
{
	return gnutls.cipher_get_name(gnutls.cipher_get(h->session));
}

void dtls_handshake_random(const struct dtls_handshake *h, uint8_t random[DTLS_RANDOM])
{
	gnutls_datum_t client, server;

	gnutls.session_get_random(h->session, &client, &server);
	memcpy(random, client.data, DTLS_RANDOM);
}

static bool suite_of(const struct dtls_handshake *h, enum dtls_suite *suite)
{
	switch (gnutls.cipher_get(h->session)) {
	case GNUTLS_CIPHER_AES_128_GCM:
		*suite = DTLS_AES_128_GCM;
		return true;
	case GNUTLS_CIPHER_AES_256_GCM:
		*suite = DTLS_AES_256_GCM;
		return true;
	case GNUTLS_CIPHER_CHACHA20_POLY1305:
		*suite = DTLS_CHACHA20_POLY1305;
		return true;
	default:
		return false;
	}
}

static struct dtls_cipher *take(const struct dtls_handshake *h, enum dtls_suite suite, bool read)
{
	gnutls_datum_t mac, iv, key;
	unsigned char seq[8];

	if (gnutls.record_get_state(h->session, read, &mac, &iv, &key, seq))
		return NULL;
	return dtls_cipher_new(suite, EPOCH, key.data, key.size, iv.data, iv.size);
}

bool dtls_handshake_keys(struct dtls_handshake *h, struct dtls_cipher **tx, struct dtls_cipher **rx)
{
	enum dtls_suite suite;

	if (!suite_of(h, &suite))
		return false;
	*tx = take(h, suite, false);
	*rx = take(h, suite, true);
	if (*tx && *rx)
		return true;
	dtls_cipher_free(*tx);
	dtls_cipher_free(*rx);
	return false;
}
