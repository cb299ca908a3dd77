/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "conn/pace.h"

#include "conn/carrier.h"
#include "conn/conn.h"
#include "util/random.h"

/*
 * A receiver permits each sender to fill a quarter of its buffer's free space, since several
 * senders may request room at the same time. If less than half of the buffer is free, it permits 0
 * bytes.
 */
#define PART 4u
/* Maximum room that is taken from a reply. No real buffer is larger. */
#define ROOM_MAX (1u << 28)
/*
 * Maximum of the count of sent bytes, so that the count does not overflow while a receiver is
 * silent.
 */
#define OUT_MAX (1u << 30)

/* ---- the sender ---- */

static struct pace_receiver *set_of(struct pace *p, const struct path_addr *to, uint16_t port)
{
	unsigned int at = (port ^ to->remote.b[15] ^ to->remote.b[14] << 4);

	return p->receivers[at % PACE_SETS];
}

/* Returns the table's entry for the receiver, or NULL. */
static struct pace_receiver *find(struct pace *p, const struct path_addr *to, uint16_t port)
{
	struct pace_receiver *set = set_of(p, to, port);

	for (struct pace_receiver *r = set; r < set + PACE_WAYS; r++) {
		if (r->port == port && ip_addr_equal(&r->to, &to->remote))
			return r;
	}
	return NULL;
}

static struct pace_receiver *get(struct pace *p, const struct path_addr *to, uint16_t port)
{
	struct pace_receiver *set = set_of(p, to, port), *r = find(p, to, port);

	if (r)
		return r;
	r = set;
	for (unsigned int i = 1; i < PACE_WAYS; i++) {
		if (set[i].used_at < r->used_at)
			r = &set[i];
	}
	*r = (struct pace_receiver){
		.to = to->remote, .port = port, .room = PACE_FIRST, .pause = PACE_ASK_FIRST
	};
	return r;
}

static void send_request(struct pace_receiver *r, struct endpoint *ep, const struct path_addr *to,
			 const struct pace_request *request)
{
	struct wire_room room = { .nonce = request->nonce };
	uint8_t chunk[WIRE_ROOM_REQUEST_LEN];
	uint64_t now = ep->conn->now;

	r->ask_at = now + (r->state == PACE_SILENT ? PACE_ASK_LAST : r->pause);
	r->pause = 2 * r->pause < PACE_ASK_LAST ? 2 * r->pause : PACE_ASK_LAST;
	datagram_send_chunk(ep, to, r->port, chunk,
			    wire_room_put(chunk, WIRE_DATAGRAM_ROOM_REQUEST, &room));
}

static void begin_request(struct pace_receiver *r, struct endpoint *ep, const struct path_addr *to,
			  struct pace_request *request)
{
	while (!request->nonce)
		random_bytes(ep->conn->random, &request->nonce, sizeof(request->nonce));
	request->behind = 0;
	send_request(r, ep, to, request);
}

/*
 * Sends or repeats a request. A repeated request keeps its nonce, so that any reply proves that the
 * receiver has read all packets before the first transmission of the request. If there are two
 * requests, repeats the second, whose reply covers more packets.
 */
static void ask(struct pace_receiver *r, struct endpoint *ep, const struct path_addr *to)
{
	if (ep->conn->now < r->ask_at)
		return;
	if (r->request[0].nonce)
		send_request(r, ep, to, &r->request[r->request[1].nonce != 0]);
	else
		begin_request(r, ep, to, &r->request[0]);
}

/* Sends a request after all permitted bytes were sent. */
static void ask_at_end(struct pace_receiver *r, struct endpoint *ep, const struct path_addr *to)
{
	if (r->state != PACE_SILENT && r->request[0].nonce && r->request[0].behind &&
	    !r->request[1].nonce)
		begin_request(r, ep, to, &r->request[1]);
	else
		ask(r, ep, to);
}

uint32_t pace_room(struct conn *c, struct pace *p, struct endpoint *ep, const struct path_addr *to,
		   uint16_t port)
{
	struct pace_receiver *r;

	/* A multicast group has no limit, since no member can answer for all members. */
	if (ip_addr_is_multicast(&to->remote))
		return PACE_ANY;
	r = get(p, to, port);
	r->used_at = c->now;
	if (r->out < r->room)
		return r->room - r->out;
	ask_at_end(r, ep, to);
	if (r->state == PACE_SILENT)
		return PACE_ANY;
	if (!r->since)
		r->since = c->now;
	if (c->now - r->since < (c->now < p->patient_at ? PACE_PATIENCE_SHORT : PACE_PATIENCE))
		return 0;
	if (c->now >= p->patient_at)
		p->patient_at = c->now + PACE_IMPATIENT;
	r->state = PACE_SILENT;
	return PACE_ANY;
}

static uint32_t sum(uint32_t bytes, uint32_t more)
{
	return bytes + more < OUT_MAX ? bytes + more : OUT_MAX;
}

void pace_sent(struct pace *p, struct endpoint *ep, const struct path_addr *to, uint16_t port,
	       uint32_t cost)
{
	struct pace_receiver *r = find(p, to, port);

	if (!r)
		return;
	r->out = sum(r->out, cost);
	for (unsigned int i = 0; i < PACE_REQUESTS; i++)
		r->request[i].behind = sum(r->request[i].behind, cost);
	/* Send a request early, so that the answer arrives before all permitted bytes are sent. */
	if (r->out >= r->room / 2)
		ask(r, ep, to);
}

void pace_told(struct pace *p, const struct conn *c, const struct path_addr *from, uint16_t port,
	       const struct wire_room *reply)
{
	struct pace_receiver *r = find(p, from, port);
	unsigned int i = 0;

	while (r && i < PACE_REQUESTS && r->request[i].nonce != reply->nonce)
		i++;
	if (!r || i == PACE_REQUESTS || !reply->nonce)
		return;
	r->out = r->request[i].behind;
	/* Drop the older requests, which need no answer now. */
	r->request[0] = i ? (struct pace_request){ 0 } : r->request[1];
	r->request[1] = (struct pace_request){ 0 };
	r->room = reply->room < ROOM_MAX ? reply->room : ROOM_MAX;
	r->pause = PACE_ASK_FIRST;
	if (!r->request[0].nonce)
		r->ask_at = reply->room ? 0 : c->now + PACE_ASK_FIRST;
	if (!reply->room)
		return;
	r->since = 0;
	r->state = PACE_TELLS;
}

/* ---- the receiver ---- */

static bool is_one_too_many(struct pace_answers *a, uint64_t now)
{
	if (now >= a->until)
		*a = (struct pace_answers){ .until = now + PACE_ANSWERS_TIME };
	return a->n++ >= PACE_ANSWERS;
}

void pace_answer(struct endpoint *ep, const struct path_addr *from, uint16_t port,
		 const struct wire_room *request)
{
	struct wire_room reply = { .nonce = request->nonce };
	uint8_t chunk[WIRE_ROOM_REPLY_LEN];
	struct conn *c = ep->conn;
	struct carrier_room room;

	if (!c->datagrams.out || is_one_too_many(&c->datagrams.answers, c->now) ||
	    !c->carrier->room || !c->carrier->room(ep, &from->remote, &room))
		return;
	if (room.used <= room.size / 2)
		reply.room = (room.size - room.used) / PART;
	datagram_send_chunk(ep, from, port, chunk,
			    wire_room_put(chunk, WIRE_DATAGRAM_ROOM_REPLY, &reply));
}
