/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "net/dtls_peer.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/bytes.h"

static struct list_node *bucket_of(struct dtls_port *p, const struct path_addr *addr)
{
	const uint8_t *b = addr->remote.b;

	return &p->bucket[(b[15] ^ b[14] * 3u ^ b[13] * 7u ^ b[8] ^ addr->udp_port * 5u ^
			   addr->udp_port >> 8) %
			  DTLS_BUCKETS];
}

/* Finds a peer. If its local address is not known yet, any local address matches. */
struct dtls_peer *dtls_peer_find(struct dtls_port *p, const struct path_addr *addr)
{
	struct dtls_peer *perhaps = NULL;
	struct list_node *bucket = bucket_of(p, addr);

	list_for_each(node, bucket) {
		struct dtls_peer *peer = list_entry(node, struct dtls_peer, node);
		int locality;

		if (peer->addr.udp_port != addr->udp_port ||
		    !ip_addr_equal(&peer->addr.remote, &addr->remote))
			continue;
		locality = path_addr_locality(&peer->addr, addr);
		if (locality == 2)
			return peer;
		if (locality == 1 && !perhaps)
			perhaps = peer;
	}
	return perhaps;
}

void dtls_keys_free(struct dtls_keys *keys)
{
	dtls_cipher_free(keys->tx);
	dtls_cipher_free(keys->rx);
	*keys = (struct dtls_keys){ NULL, NULL };
}

/* ---- limits ---- */

struct dtls_remote *dtls_remote_of(struct dtls *d, const struct ip_addr *remote)
{
	return &d->remote[ration_place(d->salt, remote)];
}

/* ---- waiting packets ---- */

void dtls_peer_keep(struct dtls_peer *peer, const uint8_t *packet, size_t len)
{
	struct dtls_waiting *w;

	if (peer->n_waiting == DTLS_WAITING_PACKETS ||
	    peer->waiting_bytes + len > DTLS_WAITING_BYTES)
		return;
	w = malloc(sizeof(*w) + len);
	if (!w)
		return;
	w->len = len;
	memcpy(w->data, packet, len);
	list_add_tail(&peer->waiting, &w->node);
	peer->n_waiting++;
	peer->waiting_bytes += len;
}

struct dtls_waiting *dtls_peer_next_waiting(struct dtls_peer *peer)
{
	struct list_node *node = list_pop(&peer->waiting);
	struct dtls_waiting *w;

	if (!node)
		return NULL;
	w = list_entry(node, struct dtls_waiting, node);
	peer->n_waiting--;
	peer->waiting_bytes -= w->len;
	return w;
}

/* ---- packets that ICMP may quote ---- */

void dtls_peer_note(struct dtls_peer *peer, const uint8_t *packet, size_t len)
{
	struct dtls_head *head = &peer->head[peer->n_heads++ % DTLS_HEADS];

	head->nth = dtls_cipher_used(peer->now.tx);
	head->len = len < DTLS_HEAD ? len : DTLS_HEAD;
	memcpy(head->bytes, packet, head->len);
}

const struct dtls_head *dtls_peer_head(const struct dtls_peer *peer, uint64_t nth)
{
	for (unsigned int i = 1; i <= DTLS_HEADS && i <= peer->n_heads; i++) {
		const struct dtls_head *head = &peer->head[(peer->n_heads - i) % DTLS_HEADS];

		if (head->nth <= nth)
			return head;
	}
	return NULL;
}

/* ---- peers ---- */

void dtls_peer_free(struct dtls_peer *peer)
{
	struct dtls_port *p = peer->port;
	struct dtls_waiting *w;

	while ((w = dtls_peer_next_waiting(peer)))
		free(w);
	timerq_remove(&p->dtls->timers, &peer->timer);
	list_del(&peer->node);
	if (!peer->self)
		dtls_keys_free(&peer->now);
	dtls_keys_free(&peer->old);
	dtls_handshake_free(peer->next);
	dtls_handshake_free(peer->last);
	p->dtls->n_peers--;
	p->n--;
	free(peer);
}

/*
 * True if peer a is to be replaced before peer b. Peers without a session are replaced first, then
 * the peer that was unused longest.
 */
static bool is_worse(const struct dtls_peer *a, const struct dtls_peer *b)
{
	if (!a->now.rx != !b->now.rx)
		return !a->now.rx;
	return a->used < b->used;
}

/*
 * Frees a peer to make room for another. Only a peer with a session, or one that has sent a
 * ClientHello, is freed. So ClientHellos of other hosts never remove a peer to which the local side
 * is connecting.
 */
static bool make_room(struct dtls_port *p)
{
	struct dtls_peer *worst = NULL;
	unsigned int unproven = 0;

	for (unsigned int i = 0; i < DTLS_BUCKETS; i++) {
		list_for_each(node, &p->bucket[i]) {
			struct dtls_peer *peer = list_entry(node, struct dtls_peer, node);

			if (!peer->now.rx && !peer->next_server)
				continue;
			unproven += !peer->now.rx;
			if (!worst || is_worse(peer, worst))
				worst = peer;
		}
	}
	if (p->n < DTLS_PEERS && unproven < DTLS_UNPROVEN)
		return true;
	if (!worst)
		return false;
	dtls_peer_free(worst);
	return true;
}

struct dtls_peer *dtls_peer_get(struct dtls_port *p, const struct path_addr *addr, uint64_t now)
{
	struct dtls_peer *peer = dtls_peer_find(p, addr);

	if (peer)
		return peer;
	/* With fewer peers than DTLS_UNPROVEN, no limit can be exceeded. */
	if (p->n >= DTLS_UNPROVEN && !make_room(p))
		return NULL;
	if (timerq_reserve(&p->dtls->timers, p->dtls->n_peers + 1))
		return NULL;
	peer = alloc_lines(sizeof(*peer));
	if (!peer)
		return NULL;
	peer->port = p;
	peer->addr = *addr;
	peer->used = now;
	list_init(&peer->waiting);
	list_add(bucket_of(p, addr), &peer->node);
	p->n++;
	p->dtls->n_peers++;
	return peer;
}

void dtls_peer_arm(struct dtls_peer *peer)
{
	uint64_t when = TIME_NEVER;

	if (peer->next)
		when = peer->next_at;
	if (peer->old.rx && peer->old_until < when)
		when = peer->old_until;
	if (peer->last && peer->last_until < when)
		when = peer->last_until;
	if (when == TIME_NEVER)
		timerq_remove(&peer->port->dtls->timers, &peer->timer);
	else
		timerq_set(&peer->port->dtls->timers, &peer->timer, when);
}
