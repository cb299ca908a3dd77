/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Sets up sessions: handshakes as client and as server, and their results. */
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
 * Offset of the random in a ClientHello: after the headers of record and message, and the version.
 */
#define AT_RANDOM (DTLS_HEADER + 12 + 2)
#define ALERT_FATAL 2
/* ns. Maximum delay of records that the peer sent before a new session. */
#define OLD_LIFE (5 * NSEC_PER_SEC)
/* ns. Time for which a client that has not received the server's last flight repeats its own. */
#define LAST_LIFE (60 * NSEC_PER_SEC)
/* ns. With key-optional, a peer that has not answered a handshake for this time has no key. */
#define CLEAR_AFTER NSEC_PER_SEC
/* ns. Rate limit of handshakes by peers: TOKENS at once, and one more after each TOKEN_TIME. */
#define TOKENS 256u
#define TOKEN_TIME (5 * NSEC_PER_MSEC)
/*
 * Rate limits of one address: for its handshakes, and for answers to ClientHellos without a cookie.
 * The second limit protects the address, since any host can send ClientHellos with a forged source.
 */
#define REMOTE_TOKENS 64u
#define REMOTE_TOKEN_TIME (20 * NSEC_PER_MSEC)
#define REMOTE_COOKIES 64u
#define REMOTE_COOKIE_TIME (5 * NSEC_PER_MSEC)
/*
 * ns. A client starts a new attempt after this time. GnuTLS accepts each message only once, so a
 * forged message may have blocked the peer's message.
 */
#define ATTEMPT (5 * NSEC_PER_SEC)
/* ns. Wait after a failed handshake while a session exists. The wait doubles, up to RETRY_MAX. */
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

/* Replaces the present session by the new one. Returns false when out of memory. */
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

/* Delays the next handshake. Otherwise each packet of the old session would start one. */
static void wait_to_retry(struct dtls_peer *peer, uint64_t now)
{
	uint64_t twice = 2 * peer->retry_wait;

	if (!twice)
		twice = RETRY_TIME;
	peer->retry_wait = twice < RETRY_MAX ? twice : RETRY_MAX;
	peer->retry_at = now + peer->retry_wait;
}

/*
 * Ends a failed handshake. A peer without a session is freed, and its waiting packets are lost. If
 * error, an -errno, is not 0, failed() reports the first of these packets.
 */
static void give_up(struct dtls_peer *peer, int error, uint64_t now)
{
	struct dtls_port *p = peer->port;
	struct path_addr addr = peer->addr;
	struct dtls_waiting *w = dtls_peer_next_waiting(peer);

	dtls_handshake_free(peer->next);
	peer->next = NULL;
	/*
	 * Otherwise, if the client sends this ClientHello again, it would be ignored as a repeated
	 * one.
	 */
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

/* Clears the errors and alerts that came during the previous handshake. */
static void forget_signs(struct dtls_peer *peer)
{
	peer->unreachable = 0;
	peer->broken = false;
	peer->alerted = false;
}

/*
 * Handles a failed handshake. Until the handshake ends, a client gets only unsealed records, so any
 * host may have sent the wrong one. So the client tries again, but first waits for records that are
 * still in transit: they would be wrong in the next attempt.
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

/* Sends a ClientHello. next_since is set already, and limits the time of all attempts. */
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

/* The source of a ClientHello that has no peer yet. A HelloVerifyRequest is sent there. */
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
 * True if the rate limits allow another handshake. Each address has a limit, so that one address
 * cannot use up the common limit. A peer with a session is not subject to the common limit, so that
 * strangers cannot block its next key.
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
 * True if a ClientHello must be ignored: it is repeated, or is from the port itself. It is also
 * ignored if the local side is sending a ClientHello whose random is larger.
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
	/* Without the last flight of the server, a client cannot take part in another handshake. */
	if (peer->last && get_be16(record + 3) && !(peer->next && peer->next_server))
		dtls_handshake_again(peer->last, record, len);
	if (!peer->next || peer->broken)
		return;
	/* The handshake goes on, so earlier errors and alerts may have been forged. */
	forget_signs(peer);
	follow(peer, dtls_handshake_feed(peer->next, record, len), now);
}

/*
 * Handles an unsealed alert, which any host may have sent. The alert takes effect if no other
 * record arrives before the time to send the flight again. A client reports its refusal to a server
 * in this way.
 */
void dtls_setup_alert(struct dtls_peer *peer, const uint8_t *record, size_t len)
{
	if (!peer->next || len != DTLS_ALERT_LEN || record[DTLS_HEADER] != ALERT_FATAL)
		return;
	memcpy(peer->alert, record, len);
	peer->alerted = true;
}

/* The peer refuses the handshake, since no record has followed its alert. */
static void hear_alert(struct dtls_peer *peer, uint64_t now)
{
	forget_signs(peer);
	follow(peer, dtls_handshake_feed(peer->next, peer->alert, sizeof(peer->alert)), now);
}

/* Sends unsealed packets to a peer that does not answer handshakes, since it may have no key. */
static void go_clear(struct dtls_peer *peer, uint64_t now)
{
	struct dtls_port *p = peer->port;
	struct dtls_waiting *w;
	char text[SOCKADDR_TEXT];

	log_error(
		"warning: port %u: %s has no key: packets to it are in the clear, because of key-optional",
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
