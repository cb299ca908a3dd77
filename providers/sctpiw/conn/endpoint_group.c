/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "conn/endpoint_group.h"

#include <errno.h>
#include <stdlib.h>

#include "conn/carrier.h"
#include "conn/conn.h"
#include "conn/user_sctp.h"
#include "log/log.h"
#include "util/bytes.h"
#include "wire/sctp_packet.h"

#define MISPLACED_MAX 64

struct endpoint_group {
	unsigned int n;
	struct endpoint
		*member[]; /* by the index of the shard; the group has one reference of each */
};

/* ---- whose is what ---- */

struct endpoint *endpoint_group_member(struct endpoint *ep, unsigned int index)
{
	if (ep->group)
		return index < ep->group->n ? ep->group->member[index] : NULL;
	return index ? NULL : ep;
}

struct endpoint *endpoint_group_for(struct endpoint *ep, uint16_t port)
{
	return ep->group ? ep->group->member[port % ep->group->n] : ep;
}

bool endpoint_group_is_for(const struct endpoint *ep, uint16_t port)
{
	return !ep->group || ep->group->member[port % ep->group->n] == ep;
}

bool endpoint_group_has_ids(const struct endpoint *ep)
{
	return !list_empty(ep->group ? &ep->group->member[0]->ids : &ep->ids);
}

/* ---- ICMP errors ---- */

struct misplaced_error {
	struct list_node node; /* misplaced_errors.list */
	struct endpoint *ep;   /* that got it */
	struct carrier_error err;
};

void misplaced_errors_init(struct misplaced_errors *m)
{
	list_init(&m->list);
}

/* Whose packet it is about. */
static struct endpoint *sender_of(struct endpoint *ep, const struct carrier_error *err)
{
	/* What this host itself says comes to the socket that has sent. */
	if (!ep->group || err->local || err->quoted_len < WIRE_SCTP_COMMON_LEN)
		return ep;
	return endpoint_group_for(ep, get_be16(err->quoted + 2));
}

bool endpoint_group_keeps_error(struct endpoint *ep, const struct carrier_error *err)
{
	struct misplaced_errors *m = &ep->conn->misplaced;
	struct misplaced_error *e;

	if (sender_of(ep, err) == ep)
		return false;
	e = m->n < MISPLACED_MAX ? malloc(sizeof(*e)) : NULL;
	if (!e)
		return true;
	e->ep = ep;
	e->err = *err;
	list_add_tail(&m->list, &e->node);
	m->n++;
	ep->conn->wants_all = true;
	return true;
}

static void drop(struct misplaced_error *e)
{
	list_del(&e->node);
	e->ep->conn->misplaced.n--;
	free(e);
}

void endpoint_group_give_errors(struct conn *c)
{
	list_for_each_safe(node, &c->misplaced.list) {
		struct misplaced_error *e = list_entry(node, struct misplaced_error, node);

		user_sctp_icmp(sender_of(e->ep, &e->err), &e->err);
		drop(e);
	}
}

static void drop_errors(struct endpoint *ep)
{
	list_for_each_safe(node, &ep->conn->misplaced.list) {
		struct misplaced_error *e = list_entry(node, struct misplaced_error, node);

		if (e->ep == ep)
			drop(e);
	}
}

/* ---- its life ---- */

static void end(struct endpoint_group *g)
{
	for (unsigned int i = 0; i < g->n; i++) {
		drop_errors(g->member[i]);
		if (!g->member[i]->listener)
			g->member[i]->conn->transport->set_accept(g->member[i], false);
		g->member[i]->group = NULL;
		endpoint_put(g->member[i]);
	}
	free(g);
}

/* Opens what lacks of the group of ep. -errno; the group is as far as it got. */
static int open_members(struct endpoint *ep, struct endpoint_group *g)
{
	const struct conn *c = ep->conn;

	for (; g->n < c->n_all; g->n++) {
		int ret = endpoint_open_beside(c->all[g->n], ep, &g->member[g->n]);

		if (ret)
			return ret;
		g->member[g->n]->group = g;
	}
	return c->carrier->steer(ep, g->n);
}

void endpoint_group_make(struct endpoint *ep)
{
	const struct conn *c = ep->conn;
	struct endpoint_group *g;
	int ret;

	if (c->n_all < 2 || ep->group || !c->carrier || !c->carrier->steer ||
	    !list_empty(&ep->assocs))
		return;
	g = calloc(1, sizeof(*g) + c->n_all * sizeof(g->member[0]));
	if (!g)
		return;
	g->member[g->n++] = ep;
	ep->group = g;
	ep->refs++;
	ret = open_members(ep, g);
	if (ret) {
		log_info("port %u: its peers are on one engine: %s", ep->bound.port,
			 log_reason(-ret));
		end(g);
	}
}

static bool is_unused(const struct endpoint_group *g)
{
	for (unsigned int i = 0; i < g->n; i++)
		if (g->member[i]->refs > 1)
			return false;
	return true;
}

void endpoint_group_check(struct endpoint *ep)
{
	if (ep->group && ep->refs == 1)
		ep->conn->wants_all = true;
}

void endpoint_group_end_unused(struct conn *c)
{
	list_for_each(node, &c->endpoints.open) {
		struct endpoint_group *g = list_entry(node, struct endpoint, node)->group;

		if (g && is_unused(g))
			end(g);
	}
}

void endpoint_group_end_all(struct conn *c)
{
	list_for_each(node, &c->endpoints.open) {
		struct endpoint_group *g = list_entry(node, struct endpoint, node)->group;

		if (g)
			end(g);
	}
}
