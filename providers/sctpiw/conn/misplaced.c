/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "conn/misplaced.h"

#include <stdlib.h>
#include <string.h>

#include "conn/carrier.h"
#include "conn/conn.h"
#include "conn/user_sctp.h"
#include "util/bytes.h"
#include "wire/sctp_packet.h"

#define MISPLACED_MAX 64
#define PERIOD NSEC_PER_MSEC

/* A queued packet or ICMP error. */
struct item {
	struct list_node node; /* misplaced.list */
	struct endpoint *ep;   /* endpoint that received the packet or error */
	struct endpoint *to;
	struct carrier_error err;
	struct path_addr from;
	size_t len; /* length of the packet; 0: this is an error */
	uint8_t packet[];
};

void misplaced_init(struct misplaced *m)
{
	list_init(&m->list);
	m->due = 0;
}

/*
 * Queues a new item from ep for `to`, with room for len bytes. Returns NULL if too many items wait.
 */
static struct item *keep(struct endpoint *ep, struct endpoint *to, size_t len)
{
	struct misplaced *m = &ep->conn->misplaced;
	struct item *i = m->n < MISPLACED_MAX ? malloc(sizeof(*i) + len) : NULL;

	if (!i)
		return NULL;
	i->ep = ep;
	i->to = to;
	i->len = len;
	list_add_tail(&m->list, &i->node);
	m->n++;
	return i;
}

bool misplaced_packet(struct endpoint *ep, const struct path_addr *from, const uint8_t *packet,
		      size_t len)
{
	struct endpoint *to;
	struct item *i;

	if (!ep->group || len < WIRE_SCTP_COMMON_LEN)
		return false;
	to = endpoint_group_for(ep, get_be16(packet));
	if (to == ep)
		return false;
	i = keep(ep, to, len);
	if (!i)
		return true;
	i->from = *from;
	memcpy(i->packet, packet, len);
	return true;
}

bool misplaced_error(struct endpoint *ep, const struct carrier_error *err)
{
	struct endpoint *to;
	struct item *i;

	/* Errors that this host's kernel makes always reach the socket that sent the packet. */
	if (!ep->group || err->local || err->quoted_len < WIRE_SCTP_COMMON_LEN)
		return false;
	to = endpoint_group_for(ep, get_be16(err->quoted + 2));
	if (to == ep)
		return false;
	i = keep(ep, to, 0);
	if (i)
		i->err = *err;
	return true;
}

uint64_t misplaced_next_timeout(const struct conn *c)
{
	return c->misplaced.n ? c->misplaced.due : TIME_NEVER;
}

void misplaced_timers(struct conn *c)
{
	if (c->misplaced.n && c->misplaced.due <= c->now)
		c->wants_all = true;
}

static void drop(struct item *i)
{
	list_del(&i->node);
	i->ep->conn->misplaced.n--;
	free(i);
}

void misplaced_give(struct conn *c)
{
	if (!c->misplaced.n)
		return;
	c->misplaced.due = c->now + PERIOD;
	list_for_each_safe(node, &c->misplaced.list) {
		struct item *i = list_entry(node, struct item, node);
		const struct carrier_datagram d = {
			.data = i->packet, .len = i->len, .segment = i->len, .from = i->from
		};

		if (i->len)
			user_sctp_input(i->to, &d);
		else
			user_sctp_icmp(i->to, &i->err);
		drop(i);
	}
}

void misplaced_drop(struct endpoint *ep)
{
	list_for_each_safe(node, &ep->conn->misplaced.list) {
		struct item *i = list_entry(node, struct item, node);

		if (i->ep == ep)
			drop(i);
	}
}
