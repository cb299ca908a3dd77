/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How sessions come about: handshakes of both roles, what they end with, and what is said of it. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conn/conn.h"
#include "log/log.h"
#include "net/dtls_peer.h"
#include "util/bytes.h"
#include "util/sockaddr.h"

/* Where a ClientHello has its random part: behind the headers of record and message, and its version. */
#define AT_RANDOM (DTLS_HEADER + 12 + 2)
/* ns. What was sent before a new session may be late by so much. */
#define OLD_LIFE (5 * NSEC_PER_SEC)
/* ns. A client that has not got the last flight asks for it within that time. */
#define LAST_LIFE (60 * NSEC_PER_SEC)
/* ns. A peer that has not answered for so long has no key, with key-optional. */
#define CLEAR_AFTER NSEC_PER_SEC
/* ns. Handshakes that others ask for: so many at once, and one more after each such time. */
#define TOKENS 256u
#define TOKEN_TIME (5 * NSEC_PER_MSEC)
/* ns. Between two lines about handshakes that have failed: anybody can make them fail. */
#define SAY_TIME NSEC_PER_SEC

static void transmit(void *ctx, const uint8_t *data, size_t len)
{
	const struct dtls_peer *peer = ctx;

	peer->port->dtls->param.ops->transmit(peer->port->ctx, &peer->addr, data, len);
}

/* ---- what came of it ---- */

static void send_waiting(struct dtls_peer *peer)
{
	struct dtls *d = peer->port->dtls;
	struct dtls_waiting *w;
	size_t len;

	while ((w = dtls_peer_next_waiting(peer))) {
		memcpy(d->scratch + dtls_cipher_front(peer->now.tx), w->data, w->len);
		len = dtls_seal(peer->now.tx, DTLS_DATA, d->scratch, w->len);
		if (len)
			transmit(peer, d->scratch, len);
		free(w);
	}
}

/* The new session takes the place of the one that there was. false: there is no memory for its keys. */
static bool finish(struct dtls_peer *peer, uint64_t now)
{
	struct dtls_handshake *h = peer->next;
	struct dtls_keys keys;
	char text[SOCKADDR_TEXT];

	peer->next = NULL;
	if (!dtls_handshake_keys(h, &keys.tx, &keys.rx)) {
		dtls_handshake_free(h);
		return false;
	}
	peer->port->dtls->param.stats->handshakes++;
	log_info("port %u: %s has the key \"%s\" %s, and packets are sealed with %s",
		 peer->port->number,
		 sockaddr_text_ip(&peer->addr.remote, peer->addr.udp_port, text),
		 dtls_handshake_identity(h),
		 peer->next_server ? "of our file" : "that we asked with",
		 dtls_handshake_cipher(h));
	if (peer->now.rx) {
		dtls_keys_free(&peer->old);
		peer->old = peer->now;
		peer->old_until = now + OLD_LIFE;
	}
	peer->now = keys;
	peer->asked = 0;
	peer->used = now;
	dtls_handshake_free(peer->last);
	peer->last = NULL;
	if (peer->next_server) {
		peer->last = h;
		peer->last_until = now + LAST_LIFE;
	} else {
		dtls_handshake_free(h);
	}
	send_waiting(peer);
	return true;
}

static void say(struct dtls_peer *peer, uint64_t now)
{
	const struct dtls_handshake *h = peer->next;
	struct dtls *d = peer->port->dtls;
	const char *name = dtls_handshake_identity(h);
	unsigned int port = peer->port->number;
	char text[SOCKADDR_TEXT];

	if (now < d->say_at)
		return;
	d->say_at = now + SAY_TIME;
	sockaddr_text_ip(&peer->addr.remote, peer->addr.udp_port, text);
	switch (dtls_handshake_why(h)) {
	case DTLS_WHY_NO_IDENTITY:
		log_error(
			"port %u: %s asks with the key \"%s\", which the key file of this process "
			"does not have: both need that line",
			port, text, name);
		break;
	case DTLS_WHY_OTHER_KEY:
		log_error("port %u: %s asks with another key of the name \"%s\" than that of this "
			  "process: both need the same line",
			  port, text, name);
		break;
	case DTLS_WHY_REFUSED_NAME:
		log_error(
			"%s refuses: its key file does not have the key \"%s\" of this process: both "
			"need that line",
			text, name);
		break;
	case DTLS_WHY_REFUSED_KEY:
		log_error(
			"%s refuses: it has another key of the name \"%s\" than this process: both "
			"need the same line",
			text, name);
		break;
	case DTLS_WHY_ERROR:
		log_info("port %u: no session with %s: %s", port, text, dtls_handshake_text(h));
		break;
	default:
		log_debug("port %u: no session with %s", port, text);
		break;
	}
}

static bool is_refusal(enum dtls_why why)
{
	return why != DTLS_WHY_NOT && why != DTLS_WHY_SILENCE && why != DTLS_WHY_ERROR;
}

/*
 * Gives the handshake up. A peer that has no session is forgotten; what waited is lost, and the first packet of it hears
 * why: error is -errno, or 0 if nobody said anything.
 */
static void give_up(struct dtls_peer *peer, int error)
{
	struct dtls_port *p = peer->port;
	struct path_addr addr = peer->addr;
	struct dtls_waiting *w = dtls_peer_next_waiting(peer);

	dtls_handshake_free(peer->next);
	peer->next = NULL;
	peer->unreachable = 0;
	if (peer->now.rx)
		dtls_peer_arm(peer);
	else
		dtls_peer_free(peer);
	if (w && error)
		p->dtls->param.ops->failed(p->ctx, &addr, error, w->data, w->len);
	free(w);
}

static void wait_for_answer(struct dtls_peer *peer, uint64_t now)
{
	uint64_t end = peer->next_since + DTLS_HANDSHAKE_LIMIT * NSEC_PER_MSEC;

	peer->next_at = now + (dtls_handshake_wait(peer->next) + 1) * NSEC_PER_MSEC;
	if (peer->next_at > end)
		peer->next_at = end;
}

/* What came of a step of the handshake. The peer may be gone afterwards. */
static void follow(struct dtls_peer *peer, enum dtls_progress progress, uint64_t now)
{
	enum dtls_why why;

	if (progress == DTLS_FAILED) {
		why = dtls_handshake_why(peer->next);
		say(peer, now);
		peer->port->dtls->param.stats->refused += is_refusal(why);
		/* What is wrong otherwise anybody may have sent: SCTP tries again. */
		give_up(peer, is_refusal(why) ? -EACCES : 0);
		return;
	}
	if (progress == DTLS_DONE && !finish(peer, now)) {
		give_up(peer, 0);
		return;
	}
	if (progress == DTLS_GOES_ON)
		wait_for_answer(peer, now);
	dtls_peer_arm(peer);
}

/* ---- as client ---- */

void dtls_setup_connect(struct dtls_peer *peer, uint64_t now)
{
	const struct dtls_out out = { transmit, peer };

	if (peer->next)
		return;
	peer->next = dtls_handshake_connect(peer->port->dtls->credentials, &out);
	if (!peer->next)
		return;
	dtls_handshake_random(peer->next, peer->random);
	peer->next_server = false;
	peer->next_since = now;
	peer->unreachable = 0;
	follow(peer, DTLS_GOES_ON, now);
}

/* ---- as server ---- */

/* Whom the answer to a ClientHello goes to, before there is a peer. */
struct asker {
	struct dtls_port *port;
	const struct path_addr *from;
};

static void answer(void *ctx, const uint8_t *data, size_t len)
{
	const struct asker *a = ctx;

	a->port->dtls->param.ops->transmit(a->port->ctx, a->from, data, len);
}

static bool has_cookie(struct dtls_port *p, const struct path_addr *from, const uint8_t *record,
		       size_t len, uint64_t now, struct dtls_hello *hello)
{
	struct asker asker = { p, from };
	const struct dtls_out out = { answer, &asker };
	uint8_t who[22];

	memcpy(who, from->remote.b, 16);
	put_be32(who + 16, from->remote.scope_id);
	put_be16(who + 20, from->udp_port);
	return dtls_cookies_check(p->dtls->cookies, who, sizeof(who), record, len, now, &out,
				  hello);
}

/* Whether one more handshake may be accepted now: each takes time. */
static bool take_token(struct dtls *d, uint64_t now)
{
	uint64_t earned = (now - d->tokens_at) / TOKEN_TIME;

	if (earned) {
		d->tokens = earned < TOKENS - d->tokens ? d->tokens + (unsigned int)earned : TOKENS;
		d->tokens_at = now;
	}
	if (!d->tokens)
		return false;
	d->tokens--;
	return true;
}

/*
 * Whether a ClientHello is not to be followed: it is one that was followed already and comes again, or ours has crossed
 * it, and goes on since its random is larger.
 */
static bool is_void(const struct dtls_peer *peer, const uint8_t *random)
{
	int order = memcmp(peer->random, random, DTLS_RANDOM);

	if (peer->self)
		return true;
	if (peer->next && !peer->next_server)
		return order >= 0;
	return !order;
}

void dtls_setup_hello(struct dtls_port *p, const struct path_addr *from, const uint8_t *record,
		      size_t len, uint64_t now)
{
	const uint8_t *random = record + AT_RANDOM;
	struct dtls_hello hello;
	struct dtls_handshake *h;
	struct dtls_peer *peer;

	if (len < AT_RANDOM + DTLS_RANDOM || !has_cookie(p, from, record, len, now, &hello))
		return;
	peer = dtls_peer_find(p, from);
	if ((peer && is_void(peer, random)) || !take_token(p->dtls, now))
		return;
	peer = dtls_peer_get(p, from, now);
	if (!peer)
		return;
	h = dtls_handshake_accept(p->dtls->credentials, &(struct dtls_out){ transmit, peer },
				  &hello);
	if (!h) {
		if (!peer->next && !peer->now.rx)
			dtls_peer_free(peer);
		return;
	}
	dtls_handshake_free(peer->next);
	peer->next = h;
	peer->next_server = true;
	peer->next_since = now;
	peer->unreachable = 0;
	memcpy(peer->random, random, DTLS_RANDOM);
	follow(peer, dtls_handshake_feed(h, record, len), now);
}

/* ---- both ---- */

void dtls_setup_record(struct dtls_peer *peer, const uint8_t *record, size_t len, uint64_t now)
{
	if (peer->next)
		follow(peer, dtls_handshake_feed(peer->next, record, len), now);
	else if (peer->last && get_be16(record + 3))
		dtls_handshake_again(peer->last, record, len);
}

/* The peer does not know of keys, and may do without. */
static void go_clear(struct dtls_peer *peer, uint64_t now)
{
	struct dtls_port *p = peer->port;
	struct dtls_waiting *w;
	char text[SOCKADDR_TEXT];

	log_error(
		"warning: port %u: %s has no key: packets to it are in the clear, as key-optional says",
		p->number, sockaddr_text_ip(&peer->addr.remote, peer->addr.udp_port, text));
	dtls_port_note_clear(p, &peer->addr, now);
	while ((w = dtls_peer_next_waiting(peer))) {
		transmit(peer, w->data, w->len);
		free(w);
	}
	dtls_peer_free(peer);
}

void dtls_setup_timeout(struct dtls_peer *peer, uint64_t now)
{
	if (peer->old.rx && peer->old_until <= now)
		dtls_keys_free(&peer->old);
	if (peer->last && peer->last_until <= now) {
		dtls_handshake_free(peer->last);
		peer->last = NULL;
	}
	if (!peer->next || peer->next_at > now) {
		dtls_peer_arm(peer);
		return;
	}
	if (peer->unreachable)
		give_up(peer, peer->unreachable);
	else if (now - peer->next_since >= DTLS_HANDSHAKE_LIMIT * NSEC_PER_MSEC)
		give_up(peer, 0);
	else if (peer->port->dtls->param.optional && !peer->next_server && !peer->now.rx &&
		 now - peer->next_since >= CLEAR_AFTER)
		go_clear(peer, now);
	else
		follow(peer, dtls_handshake_timeout(peer->next), now);
}
