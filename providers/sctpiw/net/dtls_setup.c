/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Set-up of sessions: handshakes in both roles, their results, and messages about them. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conn/conn.h"
#include "log/log.h"
#include "net/dtls_peer.h"
#include "util/bytes.h"
#include "util/sockaddr.h"

/*
 * Offset of the random part of a ClientHello, after the version and the headers of record and
 * message.
 */
#define AT_RANDOM (DTLS_HEADER + 12 + 2)
#define ALERT_FATAL 2
/* ns. Maximum lateness of records that were sent before a new session. */
#define OLD_LIFE (5 * NSEC_PER_SEC)
/* ns. A client that lacks the last flight repeats its own within this time. */
#define LAST_LIFE (60 * NSEC_PER_SEC)
/* ns. With key-optional, a peer that has not answered for this time has no key. */
#define CLEAR_AFTER NSEC_PER_SEC
/* ns. Handshakes that peers begin: TOKENS at once, and one more after each TOKEN_TIME. */
#define TOKENS 256u
#define TOKEN_TIME (5 * NSEC_PER_MSEC)
/*
 * The same for one address, and for answers to ClientHellos without a cookie. Anybody can have such
 * answers sent to the address.
 */
#define REMOTE_TOKENS 64u
#define REMOTE_TOKEN_TIME (20 * NSEC_PER_MSEC)
#define REMOTE_COOKIES 64u
#define REMOTE_COOKIE_TIME (5 * NSEC_PER_MSEC)
/*
 * ns. A client begins anew after this time. A forged message may block the peer's messages, since
 * GnuTLS takes none twice.
 */
#define ATTEMPT (5 * NSEC_PER_SEC)
/* ns. Wait after a handshake beside a session has failed. It then doubles. */
#define RETRY_TIME NSEC_PER_SEC
#define RETRY_MAX (60 * NSEC_PER_SEC)

static void transmit(void *ctx, const uint8_t *data, size_t len)
{
	const struct dtls_peer *peer = ctx;

	peer->port->dtls->param.ops->transmit(peer->port->ctx, &peer->addr, data, len);
}

/* ---- results ---- */

static void send_waiting(struct dtls_peer *peer)
{
	struct dtls *d = peer->port->dtls;
	struct dtls_waiting *w;
	size_t len;

	while ((w = dtls_peer_next_waiting(peer))) {
		memcpy(d->scratch + dtls_cipher_front(peer->now.tx), w->data, w->len);
		dtls_peer_note(peer, w->data, w->len);
		len = dtls_seal(peer->now.tx, DTLS_DATA, d->scratch, w->len);
		if (len)
			transmit(peer, d->scratch, len);
		free(w);
	}
}

/* Replaces the present session by the new one. Returns false when out of memory for the keys. */
static bool finish(struct dtls_peer *peer, uint64_t now)
{
	struct dtls_handshake *h = peer->next;
	struct dtls_keys keys;

	peer->next = NULL;
	if (!dtls_handshake_keys(h, &keys.tx, &keys.rx)) {
		dtls_handshake_free(h);
		return false;
	}
	peer->port->dtls->param.stats->handshakes++;
	dtls_say_up(peer, h);
	if (peer->now.rx) {
		dtls_keys_free(&peer->old);
		peer->old = peer->now;
		peer->old_until = now + OLD_LIFE;
	}
	peer->now = keys;
	snprintf(peer->identity, sizeof(peer->identity), "%s", dtls_handshake_identity(h));
	peer->n_heads = 0;
	peer->retry_at = peer->retry_wait = 0;
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

/* Delays the next handshake, since each packet of an old session would request one. */
static void wait_to_retry(struct dtls_peer *peer, uint64_t now)
{
	uint64_t twice = 2 * peer->retry_wait;

	if (!twice)
		twice = RETRY_TIME;
	peer->retry_wait = twice < RETRY_MAX ? twice : RETRY_MAX;
	peer->retry_at = now + peer->retry_wait;
}

/*
 * Gives up the handshake. A peer without a session is freed, and its waiting packets are lost.
 * failed() reports the first of them if error, an -errno, is not 0.
 */
static void give_up(struct dtls_peer *peer, int error, uint64_t now)
{
	struct dtls_port *p = peer->port;
	struct path_addr addr = peer->addr;
	struct dtls_waiting *w = dtls_peer_next_waiting(peer);

	dtls_handshake_free(peer->next);
	peer->next = NULL;
	/* The client may repeat this ClientHello, which must then have an effect. */
	memset(peer->random, 0, sizeof(peer->random));
	if (peer->now.rx) {
		wait_to_retry(peer, now);
		dtls_peer_arm(peer);
	} else {
		dtls_peer_free(peer);
	}
	if (w && error)
		p->dtls->param.ops->failed(p->ctx, &addr, error, w->data, w->len);
	free(w);
}

static void wait_until(struct dtls_peer *peer, uint64_t when)
{
	uint64_t end = peer->next_since + DTLS_HANDSHAKE_LIMIT * NSEC_PER_MSEC;

	if (!peer->next_server && peer->next_begun + ATTEMPT < end)
		end = peer->next_begun + ATTEMPT;
	peer->next_at = when < end ? when : end;
}

static void wait_for_answer(struct dtls_peer *peer, uint64_t now)
{
	wait_until(peer, now + (dtls_handshake_wait(peer->next) + 1) * NSEC_PER_MSEC);
}

/* Clears the signs of the previous handshake. */
static void forget_signs(struct dtls_peer *peer)
{
	peer->unreachable = 0;
	peer->broken = false;
	peer->alerted = false;
}

/*
 * Handles a failed handshake. A client gets only records in the clear before the end, so anybody
 * may have sent the wrong one. The client begins anew after the records under way have arrived:
 * these would be wrong for the next handshake.
 */
static void fail(struct dtls_peer *peer, uint64_t now)
{
	enum dtls_why why = dtls_handshake_why(peer->next);

	dtls_say_failed(peer);
	peer->port->dtls->param.stats->refused += dtls_why_is_refusal(why);
	if (why == DTLS_WHY_ERROR && !peer->next_server) {
		peer->broken = true;
		wait_until(peer, now + DTLS_RETRANSMIT * NSEC_PER_MSEC);
		dtls_peer_arm(peer);
		return;
	}
	give_up(peer, dtls_why_is_refusal(why) ? -EACCES : 0, now);
}

/* Handles the result of a step of the handshake. May free the peer. */
static void follow(struct dtls_peer *peer, enum dtls_progress progress, uint64_t now)
{
	if (progress == DTLS_FAILED) {
		fail(peer, now);
		return;
	}
	if (progress == DTLS_DONE && !finish(peer, now)) {
		give_up(peer, 0, now);
		return;
	}
	if (progress == DTLS_GOES_ON)
		wait_for_answer(peer, now);
	dtls_peer_arm(peer);
}

/* ---- as client ---- */

/* Sends a ClientHello. next_since is set, and with it the end of the handshake. */
static void begin(struct dtls_peer *peer, uint64_t now)
{
	const struct dtls_out out = { transmit, peer, peer->addr.remote };

	peer->next = dtls_handshake_connect(peer->port->dtls->credentials, &out);
	if (!peer->next)
		return;
	dtls_handshake_random(peer->next, peer->random);
	peer->next_server = false;
	peer->next_begun = now;
	forget_signs(peer);
	follow(peer, DTLS_GOES_ON, now);
}

void dtls_setup_connect(struct dtls_peer *peer, uint64_t now)
{
	if (peer->next)
		return;
	peer->next_since = now;
	begin(peer, now);
}

/* May free the peer. */
static void begin_anew(struct dtls_peer *peer, uint64_t now)
{
	dtls_handshake_free(peer->next);
	peer->next = NULL;
	begin(peer, now);
	if (!peer->next)
		give_up(peer, 0, now);
}

/* ---- as server ---- */

/* Receiver of the answer to a ClientHello, before there is a peer. */
struct asker {
	struct dtls_port *port;
	const struct path_addr *from;
	uint64_t now; /* ns */
};

static void answer(void *ctx, const uint8_t *data, size_t len)
{
	const struct asker *a = ctx;

	if (!ration_take(&dtls_remote_of(a->port->dtls, &a->from->remote)->cookies, a->now,
			 REMOTE_COOKIES, REMOTE_COOKIE_TIME))
		return;
	a->port->dtls->param.ops->transmit(a->port->ctx, a->from, data, len);
}

static bool has_cookie(struct dtls_port *p, const struct path_addr *from, const uint8_t *record,
		       size_t len, uint64_t now, struct dtls_hello *hello)
{
	struct asker asker = { p, from, now };
	const struct dtls_out out = { answer, &asker, from->remote };
	uint8_t who[22];

	memcpy(who, from->remote.b, 16);
	put_be32(who + 16, from->remote.scope_id);
	put_be16(who + 20, from->udp_port);
	return dtls_cookies_check(p->dtls->cookies, who, sizeof(who), record, len, now, &out,
				  hello);
}

/*
 * True if the rations allow a handshake. One address cannot use up the ration of the others. A peer
 * that has proved its key does not use the ration of strangers, so they cannot prevent its next
 * key.
 */
static bool may_accept(struct dtls *d, const struct dtls_peer *peer, const struct path_addr *from,
		       uint64_t now)
{
	if (!ration_take(&dtls_remote_of(d, &from->remote)->handshakes, now, REMOTE_TOKENS,
			 REMOTE_TOKEN_TIME))
		return false;
	return (peer && peer->now.rx) || ration_take(&d->accepts, now, TOKENS, TOKEN_TIME);
}

/*
 * True if a ClientHello must be ignored. It may be a repeated one, or one of the port to itself. It
 * may also have crossed a local ClientHello, which goes on since its random is larger.
 */
static bool is_void(const struct dtls_peer *peer, const uint8_t *random)
{
	int order = memcmp(peer->random, random, DTLS_RANDOM);

	if (peer->self)
		return true;
	if (peer->next && !peer->next_server && !peer->broken)
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
	if ((peer && is_void(peer, random)) || !may_accept(p->dtls, peer, from, now))
		return;
	peer = dtls_peer_get(p, from, now);
	if (!peer)
		return;
	h = dtls_handshake_accept(p->dtls->credentials,
				  &(struct dtls_out){ transmit, peer, from->remote }, &hello);
	if (!h) {
		if (!peer->next && !peer->now.rx)
			dtls_peer_free(peer);
		return;
	}
	dtls_handshake_free(peer->next);
	peer->next = h;
	peer->next_server = true;
	peer->next_since = now;
	forget_signs(peer);
	memcpy(peer->random, random, DTLS_RANDOM);
	follow(peer, dtls_handshake_feed(h, record, len), now);
}

/* ---- both ---- */

void dtls_setup_record(struct dtls_peer *peer, const uint8_t *record, size_t len, uint64_t now)
{
	/* A client that lacks the last flight of this side cannot answer another handshake. */
	if (peer->last && get_be16(record + 3) && !(peer->next && peer->next_server))
		dtls_handshake_again(peer->last, record, len);
	if (!peer->next || peer->broken)
		return;
	/* A record has come, so earlier signs no longer count. */
	forget_signs(peer);
	follow(peer, dtls_handshake_feed(peer->next, record, len), now);
}

/*
 * Handles an alert in the clear, which anybody may have sent. It takes effect if nothing else comes
 * until the flight would be sent again. A server gets the refusal of a client in this way.
 */
void dtls_setup_alert(struct dtls_peer *peer, const uint8_t *record, size_t len)
{
	if (!peer->next || len != DTLS_ALERT_LEN || record[DTLS_HEADER] != ALERT_FATAL)
		return;
	memcpy(peer->alert, record, len);
	peer->alerted = true;
}

/* The peer refuses: nothing but the alert has come. */
static void hear_alert(struct dtls_peer *peer, uint64_t now)
{
	forget_signs(peer);
	follow(peer, dtls_handshake_feed(peer->next, peer->alert, sizeof(peer->alert)), now);
}

/* Sends in the clear to a peer that does not answer handshakes. It may do without a key. */
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
		give_up(peer, peer->unreachable, now);
	else if (now - peer->next_since >= DTLS_HANDSHAKE_LIMIT * NSEC_PER_MSEC)
		give_up(peer, 0, now);
	else if (peer->port->dtls->param.optional && !peer->next_server && !peer->now.rx &&
		 now - peer->next_since >= CLEAR_AFTER)
		go_clear(peer, now);
	else if (peer->broken || (!peer->next_server && now - peer->next_begun >= ATTEMPT))
		begin_anew(peer, now);
	else if (peer->alerted)
		hear_alert(peer, now);
	else
		follow(peer, dtls_handshake_timeout(peer->next), now);
}
