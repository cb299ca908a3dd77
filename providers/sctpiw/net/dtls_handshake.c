/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "net/dtls_handshake.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_keys.h"
#include "net/dtls_gnutls.h"
#include "util/bytes.h"
#include "util/time.h"

/*
 * Fresh secrets for each session, and authenticated encryption: nothing else. GnuTLS has no suite of ECDHE-PSK with
 * AES-GCM (RFC 8442), so that Diffie-Hellman in a finite field comes first: processors have instructions for AES.
 */
#define PRIORITIES                                                                                 \
	"NONE:+VERS-DTLS1.2:+DHE-PSK:+ECDHE-PSK:+AES-128-GCM:+AES-256-GCM:+CHACHA20-POLY1305:"     \
	"+AEAD:+GROUP-FFDHE2048:+GROUP-X25519:+GROUP-SECP256R1:+COMP-NULL:+CTYPE-ALL:+SIGN-ALL"
/* Bytes of a message: those of these suites are shorter. GnuTLS keeps room for what is announced. */
#define MESSAGE_MAX 4096u
/* Steps that one record may cause: GnuTLS takes it with the first one or two. */
#define STEPS 8u
#define EPOCH 1u /* of the first keys that a handshake agrees on */
/* Those that do not fit the keys before a handshake is given up. */
#define BAD_FINISHED 2u
/* ns. Cookies are valid for as long as that, at least, and twice that, at most. */
#define COOKIE_LIFE (120 * NSEC_PER_SEC)

struct dtls_credentials {
	gnutls_psk_client_credentials_t client;
	gnutls_psk_server_credentials_t server;
	gnutls_priority_t priorities;
	struct config_keys keys;
};

struct dtls_handshake {
	gnutls_session_t session;
	struct dtls_credentials *credentials;
	struct dtls_out out;
	bool server;
	const uint8_t *record; /* what GnuTLS has not taken yet; or NULL */
	size_t len;
	enum dtls_why why;
	int error;
	unsigned int bad; /* records that did not fit the keys */
	char identity[CONFIG_IDENTITY_MAX + 1];
};

/* ---- keys ---- */

/* The server's: finds the key of an identity. */
static int find_key(gnutls_session_t session, const char *name, gnutls_datum_t *key)
{
	struct dtls_handshake *h = gnutls.session_get_ptr(session);
	const struct config_keys *keys = &h->credentials->keys;
	size_t n;

	for (n = 0; n < CONFIG_IDENTITY_MAX && name[n]; n++)
		h->identity[n] = name[n] > ' ' && name[n] < 127 ? name[n] : '?';
	h->identity[n] = 0;
	for (unsigned int i = 0; i < keys->n; i++) {
		if (strcmp(keys->key[i].identity, name) != 0)
			continue;
		/* GnuTLS frees it, with free() unless somebody has told it otherwise. */
		key->data = malloc(keys->key[i].len);
		if (!key->data)
			return -1;
		key->size = (unsigned int)keys->key[i].len;
		memcpy(key->data, keys->key[i].bytes, key->size);
		return 0;
	}
	h->why = DTLS_WHY_NO_IDENTITY;
	return -1;
}

static bool fill_credentials(struct dtls_credentials *c)
{
	const gnutls_datum_t key = { c->keys.key[0].bytes, (unsigned int)c->keys.key[0].len };

	if (gnutls.psk_allocate_client_credentials(&c->client) ||
	    gnutls.psk_set_client_credentials(c->client, c->keys.key[0].identity, &key,
					      GNUTLS_PSK_KEY_RAW) ||
	    gnutls.psk_allocate_server_credentials(&c->server) ||
	    gnutls.psk_set_server_known_dh_params(c->server, GNUTLS_SEC_PARAM_MEDIUM) ||
	    gnutls.priority_init(&c->priorities, PRIORITIES, NULL))
		return false;
	gnutls.psk_set_server_credentials_function(c->server, find_key);
	return true;
}

struct dtls_credentials *dtls_credentials_new(const struct config_keys *keys)
{
	struct dtls_credentials *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->keys = *keys;
	if (fill_credentials(c))
		return c;
	dtls_credentials_free(c);
	return NULL;
}

void dtls_credentials_free(struct dtls_credentials *c)
{
	if (!c)
		return;
	if (c->client)
		gnutls.psk_free_client_credentials(c->client);
	if (c->server)
		gnutls.psk_free_server_credentials(c->server);
	if (c->priorities)
		gnutls.priority_deinit(c->priorities);
	config_keys_forget(&c->keys);
	free(c);
}

/* ---- cookies ---- */

struct dtls_cookies {
	uint8_t secret[2][GNUTLS_COOKIE_KEY_SIZE]; /* the present one, and the one before it */
	uint64_t since; /* ns: when the present one was made; 0: nobody has asked yet */
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
	h->credentials = c;
	h->out = *out;
	h->server = server;
	if (gnutls.init(&h->session, flags | (server ? GNUTLS_SERVER : GNUTLS_CLIENT))) {
		free(h);
		return NULL;
	}
	gnutls.session_set_ptr(h->session, h);
	gnutls.transport_set_ptr(h->session, h);
	gnutls.transport_set_push_function(h->session, push);
	gnutls.transport_set_pull_function(h->session, pull);
	gnutls.transport_set_pull_timeout_function(h->session, pull_timeout);
	gnutls.handshake_set_max_packet_length(h->session, MESSAGE_MAX);
	gnutls.dtls_set_mtu(h->session, DTLS_HANDSHAKE_MTU);
	gnutls.dtls_set_timeouts(h->session, DTLS_RETRANSMIT, DTLS_HANDSHAKE_LIMIT);
	if (!gnutls.priority_set(h->session, c->priorities) &&
	    !gnutls.credentials_set(h->session, GNUTLS_CRD_PSK,
				    server ? (void *)c->server : (void *)c->client))
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

static enum dtls_why why_of_alert(const struct dtls_handshake *h)
{
	switch (gnutls.alert_get(h->session)) {
	case GNUTLS_A_UNKNOWN_PSK_IDENTITY:
		return DTLS_WHY_REFUSED_NAME;
	case GNUTLS_A_DECRYPT_ERROR:
	case GNUTLS_A_BAD_RECORD_MAC:
		return DTLS_WHY_REFUSED_KEY;
	default:
		return DTLS_WHY_ERROR;
	}
}

static enum dtls_progress fail(struct dtls_handshake *h, int error)
{
	h->error = error;
	if (h->why == DTLS_WHY_NO_IDENTITY)
		gnutls.alert_send(h->session, GNUTLS_AL_FATAL, GNUTLS_A_UNKNOWN_PSK_IDENTITY);
	else if (h->why == DTLS_WHY_OTHER_KEY)
		gnutls.alert_send(h->session, GNUTLS_AL_FATAL, GNUTLS_A_DECRYPT_ERROR);
	else if (error == GNUTLS_E_TIMEDOUT)
		h->why = DTLS_WHY_SILENCE;
	else if (error == GNUTLS_E_FATAL_ALERT_RECEIVED)
		h->why = why_of_alert(h);
	else
		h->why = DTLS_WHY_ERROR;
	/* The client would send its last flight again for long. */
	if (h->server && h->why == DTLS_WHY_ERROR)
		gnutls.alert_send(h->session, GNUTLS_AL_FATAL, GNUTLS_A_HANDSHAKE_FAILURE);
	return DTLS_FAILED;
}

/* Whether what is fed now is a Finished for keys that the peer has announced (ChangeCipherSpec). */
static bool is_finished(const struct dtls_handshake *h)
{
	gnutls_datum_t mac, iv, key = { NULL, 0 };
	unsigned char seq[8];

	return h->record && h->len > DTLS_HEADER && h->record[0] == DTLS_HANDSHAKE &&
	       get_be16(h->record + 3) == EPOCH &&
	       !gnutls.record_get_state(h->session, true, &mac, &iv, &key, seq) && key.size;
}

/*
 * Goes on as far as that is possible. GnuTLS drops a Finished that does not fit the keys without a word, as anybody may
 * forge one: only a second one is believed, since the peer sends its own again.
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
		h->why = DTLS_WHY_OTHER_KEY;
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
	memcpy(h->identity, c->keys.key[0].identity, sizeof(h->identity));
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

enum dtls_progress dtls_handshake_feed(struct dtls_handshake *h, const uint8_t *record, size_t len)
{
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

	h->record = record;
	h->len = len;
	gnutls.record_recv(h->session, unused, sizeof(unused));
	h->record = NULL;
}

/* ---- what came of it ---- */

enum dtls_why dtls_handshake_why(const struct dtls_handshake *h)
{
	return h->why;
}

const char *dtls_handshake_text(const struct dtls_handshake *h)
{
	if (h->error == GNUTLS_E_FATAL_ALERT_RECEIVED)
		return gnutls.alert_get_name(gnutls.alert_get(h->session));
	return gnutls.strerror(h->error);
}

const char *dtls_handshake_identity(const struct dtls_handshake *h)
{
	return h->identity;
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
