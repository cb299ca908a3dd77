/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/dtls.h"

#include <stdlib.h>
#include <string.h>

#include "conn/conn.h"
#include "log/log.h"
#include "net/dtls_gnutls.h"
#include "net/dtls_peer.h"
#include "util/alloc.h"
#include "util/bytes.h"
#include "util/sockaddr.h"

#define CLIENT_HELLO 1
/*
 * ns. If the peer has not answered for this time, it may have lost its session. The time then
 * doubles, up to DOUBT_MAX.
 */
#define DOUBT_TIME (2 * NSEC_PER_SEC)
#define DOUBT_MAX (600 * NSEC_PER_SEC)
/* ns. Rate limit of hints to one address: HINTS at once, and one more after each HINT_TIME. */
#define HINTS 8u
#define HINT_TIME (100 * NSEC_PER_MSEC)
/* ns. After a hint of a peer, further hints of that peer are ignored for this time. */
#define HINT_WAIT NSEC_PER_SEC
/* Maximum records read from a datagram; a flight has fewer. Each may cost an answer or look-up. */
#define RECORDS_MAX 16u
/* ns. With key-optional, an unsealed packet of a peer allows unsealed answers for this time. */
#define CLEAR_LIFE (60 * NSEC_PER_SEC)
/* ns. Unsealed packets of a peer are refused for this time after a sealed record of that peer. */
#define SEALED_LIFE (10 * NSEC_PER_SEC)

/*
 * The hint for a peer that no key opens its record: an alert of epoch 0 and level warning, whose
 * description is in the range for private use. Other implementations of DTLS ignore the hint.
 */
#define ALERT_WARNING 1
#define ALERT_CLOSE_NOTIFY 0
#define ALERT_NO_SESSION 240

/* ---- the process ---- */

struct dtls *dtls_new(const struct dtls_param *param)
{
	struct dtls *d = alloc_lines(sizeof(*d));

	if (!d)
		return NULL;
	d->param = *param;
	d->param.keys = NULL;
	d->param.certs = NULL;
	d->param.why = NULL;
	d->credentials = dtls_credentials_new(param->keys, param->certs, param->why);
	d->cookies = dtls_cookies_new();
	d->scratch = malloc(DTLS_PLAIN_MAX + DTLS_OVERHEAD);
	if (d->credentials && d->cookies && d->scratch &&
	    !gnutls.rnd(GNUTLS_RND_NONCE, &d->salt, sizeof(d->salt)))
		return d;
	dtls_free(d);
	return NULL;
}

void dtls_free(struct dtls *d)
{
	if (!d)
		return;
	dtls_credentials_free(d->credentials);
	dtls_cookies_free(d->cookies);
	timerq_fini(&d->timers);
	free(d->scratch);
	free(d);
}

uint64_t dtls_next_timeout(const struct dtls *d)
{
	const struct timerq_node *first = timerq_first(&d->timers);

	return first ? first->when : TIME_NEVER;
}

void dtls_timers(struct dtls *d, uint64_t now)
{
	struct timerq_node *first;

	while ((first = timerq_first(&d->timers)) && first->when <= now) {
		timerq_remove(&d->timers, first);
		dtls_setup_timeout(list_entry(first, struct dtls_peer, timer), now);
	}
}

/* ---- ports ---- */

struct dtls_port *dtls_port_new(struct dtls *d, uint16_t number, void *ctx)
{
	struct dtls_port *p = alloc_lines(sizeof(*p));

	if (!p)
		return NULL;
	p->dtls = d;
	p->number = number;
	p->ctx = ctx;
	for (unsigned int i = 0; i < DTLS_BUCKETS; i++)
		list_init(&p->bucket[i]);
	return p;
}

static void send_close(struct dtls_peer *peer)
{
	struct dtls_port *p = peer->port;
	uint8_t record[2 + DTLS_OVERHEAD];
	size_t front, len;

	if (!peer->now.tx || peer->self)
		return;
	front = dtls_cipher_front(peer->now.tx);
	record[front] = ALERT_WARNING;
	record[front + 1] = ALERT_CLOSE_NOTIFY;
	len = dtls_seal(peer->now.tx, DTLS_ALERT, record, 2);
	if (len)
		p->dtls->param.ops->transmit(p->ctx, &peer->addr, record, len);
}

void dtls_port_free(struct dtls_port *p)
{
	for (unsigned int i = 0; i < DTLS_BUCKETS; i++) {
		while (!list_empty(&p->bucket[i])) {
			struct dtls_peer *peer =
				list_entry(p->bucket[i].next, struct dtls_peer, node);

			send_close(peer);
			dtls_peer_free(peer);
		}
	}
	dtls_cipher_free(p->self_tx);
	dtls_cipher_free(p->self_rx);
	free(p);
}

/* ---- the port itself ---- */

/* Creates the port's key for packets to itself. No handshake is needed for this. */
static bool make_self(struct dtls_port *p)
{
	uint8_t key[16], iv[4];

	if (p->self_tx)
		return true;
	if (gnutls.rnd(GNUTLS_RND_KEY, key, sizeof(key)) ||
	    gnutls.rnd(GNUTLS_RND_NONCE, iv, sizeof(iv)))
		return false;
	p->self_tx = dtls_cipher_new(DTLS_AES_128_GCM, 1, key, sizeof(key), iv, sizeof(iv));
	p->self_rx = dtls_cipher_new(DTLS_AES_128_GCM, 1, key, sizeof(key), iv, sizeof(iv));
	explicit_bzero(key, sizeof(key));
	if (p->self_tx && p->self_rx)
		return true;
	dtls_cipher_free(p->self_tx);
	dtls_cipher_free(p->self_rx);
	p->self_tx = p->self_rx = NULL;
	return false;
}

/* Returns the peer with this address, or NULL. Creates the peer if it is the port itself. */
static struct dtls_peer *find(struct dtls_port *p, const struct path_addr *addr, uint64_t now)
{
	struct dtls_peer *peer = dtls_peer_find(p, addr);

	if (peer || !p->dtls->param.ops->is_self(p->ctx, addr) || !make_self(p))
		return peer;
	peer = dtls_peer_get(p, addr, now);
	if (!peer)
		return NULL;
	peer->self = true;
	peer->now = (struct dtls_keys){ p->self_tx, p->self_rx };
	return peer;
}

/* ---- peers in the clear ---- */

static struct dtls_clear_peer *clear_place(struct dtls_port *p, const struct path_addr *addr)
{
	const uint8_t *b = addr->remote.b;

	return &p->clear[(b[15] ^ b[14] * 3u ^ addr->udp_port) % DTLS_CLEAR_PEERS];
}

static bool is_clear(struct dtls_port *p, const struct path_addr *addr, uint64_t now)
{
	const struct dtls_clear_peer *c = clear_place(p, addr);

	return c->until > now && c->udp_port == addr->udp_port &&
	       ip_addr_equal(&c->remote, &addr->remote);
}

void dtls_port_note_clear(struct dtls_port *p, const struct path_addr *addr, uint64_t now)
{
	*clear_place(p, addr) = (struct dtls_clear_peer){
		.remote = addr->remote,
		.udp_port = addr->udp_port,
		.until = now + CLEAR_LIFE,
	};
}

/* True if an unsealed packet of this peer is accepted. */
static bool may_be_clear(struct dtls_port *p, const struct path_addr *from, uint64_t now)
{
	struct dtls *d = p->dtls;
	struct dtls_peer *peer;
	char text[SOCKADDR_TEXT];

	sockaddr_text_ip(&from->remote, from->udp_port, text);
	if (d->param.optional) {
		peer = dtls_peer_find(p, from);
		if (!peer || !peer->now.rx || now - peer->heard >= SEALED_LIFE) {
			if (!is_clear(p, from, now))
				log_error(
					"warning: port %u: %s has no key: it is served in the clear, because "
					"of key-optional",
					p->number, text);
			/*
			 * The peer has restarted without a key, and could not open sealed packets.
			 */
			if (peer && peer->now.rx && !peer->next)
				dtls_peer_free(peer);
			dtls_port_note_clear(p, from, now);
			return true;
		}
	}
	d->param.stats->refused++;
	if (!d->param.optional)
		log_error(
			"port %u: %s sends in the clear, and gets no answer: this process has %s, and "
			"that one needs it, too",
			p->number, text, dtls_credentials_kind(d->credentials));
	return false;
}

/* ---- sending ---- */

/*
 * True if no record of the peer has been opened for too long. The wait then doubles: the peer may
 * only receive, and a new session would not make it answer. The next opened record resets the wait.
 */
static bool is_in_doubt(struct dtls_peer *peer, uint64_t now)
{
	if (!peer->patience)
		peer->patience = DOUBT_TIME;
	if (!peer->asked) {
		peer->asked = now ? now : 1;
		peer->doubt = now + peer->patience;
		return false;
	}
	if (now < peer->doubt)
		return false;
	peer->patience = peer->patience < DOUBT_MAX / 2 ? 2 * peer->patience : DOUBT_MAX;
	peer->doubt = now + peer->patience;
	return true;
}

/* Sets up a new session if the peer may have lost the present one, or its key is used up. */
static void look_after(struct dtls_peer *peer, uint64_t now)
{
	bool in_doubt = is_in_doubt(peer, now);

	peer->used = now;
	if (now >= peer->retry_at &&
	    (in_doubt || dtls_cipher_used(peer->now.tx) >= peer->port->dtls->param.rekey))
		dtls_setup_connect(peer, now);
}

enum dtls_way dtls_port_ask(struct dtls_port *p, const struct path_addr *to, const uint8_t *packet,
			    size_t len, uint64_t now, struct dtls_cipher **tx)
{
	struct dtls_peer *peer;

	if (ip_addr_is_multicast(&to->remote))
		return DTLS_NOT;
	peer = find(p, to, now);
	if (!peer)
		return p->dtls->param.optional && is_clear(p, to, now) ? DTLS_CLEAR : DTLS_WAIT;
	if (!peer->now.tx)
		return DTLS_WAIT;
	if (!peer->self)
		look_after(peer, now);
	/* The key should have been replaced long ago, so it must not be used any more. */
	if (dtls_cipher_used(peer->now.tx) >= 2 * p->dtls->param.rekey && !peer->self)
		return DTLS_NOT;
	dtls_peer_note(peer, packet, len);
	*tx = peer->now.tx;
	return DTLS_SEALED;
}

void dtls_port_wait(struct dtls_port *p, const struct path_addr *to, const uint8_t *packet,
		    size_t len, uint64_t now)
{
	struct dtls_peer *peer = dtls_peer_get(p, to, now);

	if (!peer)
		return;
	dtls_peer_keep(peer, packet, len);
	dtls_setup_connect(peer, now);
	if (!peer->next && !peer->now.rx)
		dtls_peer_free(peer);
}

const char *dtls_port_identity(struct dtls_port *p, const struct path_addr *to)
{
	const struct dtls_peer *peer = dtls_peer_find(p, to);

	return peer && peer->now.tx ? peer->identity : NULL;
}

/* ---- receiving ---- */

static void send_hint(struct dtls_port *p, const struct path_addr *to, uint64_t now)
{
	static const uint8_t hint[] = {
		DTLS_ALERT,	 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, ALERT_WARNING,
		ALERT_NO_SESSION
	};

	if (!ration_take(&dtls_remote_of(p->dtls, &to->remote)->hints, now, HINTS, HINT_TIME))
		return;
	p->dtls->param.ops->transmit(p->ctx, to, hint, sizeof(hint));
}

static bool is_hint(const struct dtls_header *h, const uint8_t *record)
{
	return !h->epoch && h->len == 2 && record[DTLS_HEADER + 1] == ALERT_NO_SESSION;
}

/*
 * Opens a record with the present key or, if that fails, with the previous key. A failed attempt
 * overwrites the record, so the record is copied first if there are two keys.
 */
static enum dtls_opened open_record(struct dtls_peer *peer, const struct dtls_header *h,
				    uint8_t *record, uint8_t **plain, size_t *len)
{
	size_t whole = DTLS_HEADER + h->len;
	struct dtls *d = peer->port->dtls;
	enum dtls_opened opened, before;

	if (!peer->old.rx)
		return dtls_open(peer->now.rx, h, record, plain, len);
	if (whole > DTLS_PLAIN_MAX + DTLS_OVERHEAD)
		return DTLS_BAD;
	memcpy(d->scratch, record, whole);
	opened = dtls_open(peer->now.rx, h, record, plain, len);
	if (opened == DTLS_OPENED)
		return opened;
	memcpy(record, d->scratch, whole);
	before = dtls_open(peer->old.rx, h, record, plain, len);
	/*
	 * A replay of a record of the previous key is a replay, though the present key cannot open
	 * it.
	 */
	return before == DTLS_BAD ? opened : before;
}

static void input_data(struct dtls_port *p, struct dtls_peer *peer, const struct path_addr *from,
		       const struct dtls_header *h, uint8_t *record, uint64_t now)
{
	struct conn_dtls_traffic *stats = p->dtls->param.stats;
	uint8_t *plain;
	size_t len;

	if (!peer || !peer->now.rx) {
		/* The handshake may be about to provide the keys. */
		if (peer && peer->next)
			return;
		stats->bad_records++;
		send_hint(p, from, now);
		return;
	}
	switch (open_record(peer, h, record, &plain, &len)) {
	case DTLS_REPLAY:
		stats->replays++;
		return;
	case DTLS_BAD:
		stats->bad_records++;
		/* The record may be sealed with keys of the handshake that is in progress. */
		if (!peer->next)
			send_hint(p, from, now);
		return;
	case DTLS_OPENED:
		break;
	}
	peer->asked = peer->patience = 0;
	peer->heard = peer->used = now;
	if (ip_addr_is_zero(&peer->addr.local))
		peer->addr.local = from->local;
	/* deliver() may free the peer, so do not use the peer after this call. */
	p->dtls->param.ops->deliver(p->ctx, from, plain, len);
}

static void input_alert(struct dtls_port *p, struct dtls_peer *peer, const struct dtls_header *h,
			uint8_t *record, uint64_t now)
{
	uint8_t *plain;
	size_t len;

	if (!peer || peer->self)
		return;
	if (is_hint(h, record)) {
		if (peer->now.rx && now >= peer->hint_at) {
			peer->hint_at = now + HINT_WAIT;
			dtls_setup_connect(peer, now);
		}
		return;
	}
	if (!h->epoch) {
		dtls_setup_alert(peer, record, DTLS_HEADER + h->len);
		return;
	}
	if (peer->next && !peer->now.rx) {
		dtls_setup_record(peer, record, DTLS_HEADER + h->len, now);
		return;
	}
	/* An alert of the previous session is ignored, since that session has ended. */
	if (!peer->now.rx || dtls_open(peer->now.rx, h, record, &plain, &len) != DTLS_OPENED)
		return;
	if (len == 2 && plain[1] == ALERT_CLOSE_NOTIFY && !peer->next) {
		log_debug("port %u: a peer has closed its session", p->number);
		dtls_peer_free(peer);
	}
}

static bool is_hello(const struct dtls_header *h, const uint8_t *record)
{
	return h->type == DTLS_HANDSHAKE && !h->epoch && h->len &&
	       record[DTLS_HEADER] == CLIENT_HELLO;
}

static void input_record(struct dtls_port *p, const struct path_addr *from,
			 const struct dtls_header *h, uint8_t *record, uint64_t now)
{
	struct dtls_peer *peer = find(p, from, now);
	size_t len = DTLS_HEADER + h->len;

	switch (h->type) {
	case DTLS_DATA:
		input_data(p, peer, from, h, record, now);
		break;
	case DTLS_ALERT:
		input_alert(p, peer, h, record, now);
		break;
	default:
		if (is_hello(h, record))
			dtls_setup_hello(p, from, record, len, now);
		else if (peer)
			dtls_setup_record(peer, record, len, now);
		break;
	}
}

bool dtls_port_input(struct dtls_port *p, const struct path_addr *from, uint8_t *data, size_t len,
		     uint64_t now)
{
	struct dtls_header h;
	unsigned int records = 0, hellos = 0;

	if (!dtls_header_get(data, len, &h))
		return !may_be_clear(p, from, now);
	do {
		size_t whole = DTLS_HEADER + h.len;

		if (is_hello(&h, data) && hellos++)
			break;
		input_record(p, from, &h, data, now);
		data += whole;
		len -= whole;
	} while (++records < RECORDS_MAX && dtls_header_get(data, len, &h));
	return true;
}

/* ---- errors ---- */

/* True if an ICMP error quotes the ClientHello of the handshake in progress. */
static bool quotes_hello(const struct dtls_peer *peer, const uint8_t *quoted, size_t len)
{
	const size_t at = DTLS_HEADER + 12 + 2;

	return peer->next && !peer->next_server && len >= at + DTLS_RANDOM - 4 &&
	       quoted[0] == DTLS_HANDSHAKE && quoted[DTLS_HEADER] == CLIENT_HELLO &&
	       !memcmp(quoted + at, peer->random, len - at < DTLS_RANDOM ? len - at : DTLS_RANDOM);
}

/* Returns the first bytes of the quoted record's batch. NULL: the quote is forged or too old. */
static const struct dtls_head *quoted_head(const struct dtls_peer *peer, const uint8_t *quoted,
					   size_t len)
{
	uint64_t nth;

	if (!peer->now.tx || !dtls_cipher_sealed(peer->now.tx, quoted, len, &nth))
		return NULL;
	return dtls_peer_head(peer, nth);
}

bool dtls_port_error(struct dtls_port *p, const struct path_addr *to, uint8_t *quoted, size_t *len,
		     size_t size, int unreachable, uint64_t now)
{
	struct dtls_peer *peer = dtls_peer_find(p, to);
	const struct dtls_head *head;

	if (!peer)
		return false;
	if (quotes_hello(peer, quoted, *len) && unreachable) {
		/*
		 * The handshake itself may have called this function. So the timer handles the
		 * error.
		 */
		peer->unreachable = unreachable;
		peer->next_at = now;
		dtls_peer_arm(peer);
		return false;
	}
	head = quoted_head(peer, quoted, *len);
	if (!head)
		return false;
	*len = head->len < size ? head->len : size;
	memcpy(quoted, head->bytes, *len);
	return true;
}
