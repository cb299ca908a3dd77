/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "conn/pace.h"

#include "conn/carrier.h"
#include "conn/conn.h"

/*
 * A receiver is full when more than this part of its buffer is in use, and else a sender may send as much again:
 * several senders find the same room, and have to fit in beside each other.
 */
#define PART 8u
/* bytes that the kernel counts for a batch beside those of its packets, at most */
#define OVERHEAD 2048u

static struct pace_receiver *place_of(struct pace *p, const struct path_addr *to)
{
	unsigned int at = (to->udp_port ^ to->remote.b[15] ^ to->remote.b[14] << 4);

	return &p->receivers[at % PACE_RECEIVERS];
}

static bool is_for(const struct pace_receiver *r, const struct path_addr *to)
{
	return r->port == to->udp_port && ip_addr_equal(&r->to, &to->remote);
}

/*
 * Since when a receiver is full must not be forgotten, or its senders would wait for ever. So it keeps its place while
 * they ask for it. NULL: another one keeps the place.
 */
static struct pace_receiver *find(struct pace *p, const struct path_addr *to, uint64_t now)
{
	struct pace_receiver *r = place_of(p, to);

	if (is_for(r, to))
		return r;
	if (r->full_since && now < r->ask_at + PACE_UNKNOWN)
		return NULL;
	*r = (struct pace_receiver){ .to = to->remote, .port = to->udp_port };
	return r;
}

/* How much waits at the receiver. false: it is not on this host, or not known. */
static bool ask(struct conn *c, const struct endpoint *ep, const struct path_addr *to,
		struct carrier_room *room)
{
	return c->carrier->room &&
	       (ip_addr_is_loopback(&to->remote) || c->ops->is_own_address(c, &to->remote)) &&
	       c->carrier->room(ep, to, room);
}

bool pace_allows(struct conn *c, struct pace *p, const struct endpoint *ep,
		 const struct path_addr *to)
{
	struct pace_receiver *r = find(p, to, c->now);
	struct carrier_room room;

	if (!r || r->credit)
		return true;
	if (c->now < r->ask_at)
		return !r->full;
	r->full = false;
	if (!ask(c, ep, to, &room)) {
		r->ask_at = c->now + PACE_UNKNOWN;
		r->full_since = 0;
	} else if (room.used <= room.size / PART) {
		r->credit = room.size / PART;
		r->full_since = 0;
	} else {
		if (!r->full_since)
			r->full_since = c->now;
		r->full = c->now - r->full_since < PACE_PATIENCE;
		r->ask_at = c->now + (r->full ? PACE_ASK_AGAIN : PACE_UNKNOWN);
	}
	return !r->full;
}

void pace_sent(struct pace *p, const struct path_addr *to, size_t len)
{
	struct pace_receiver *r = place_of(p, to);
	size_t cost = len + OVERHEAD;

	if (is_for(r, to))
		r->credit = r->credit > cost ? r->credit - (uint32_t)cost : 0;
}
