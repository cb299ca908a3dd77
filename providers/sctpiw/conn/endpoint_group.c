/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "conn/endpoint_group.h"

#include <errno.h>
#include <stdlib.h>

#include "conn/carrier.h"
#include "conn/conn.h"
#include "log/log.h"

struct endpoint_group {
	unsigned int n;
	bool lingers; /* accepts associations without a listener; see endpoint_group_linger() */
	struct endpoint *member[]; /* by shard index; the group has a reference to each */
};

/* ---- lookup ---- */

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

bool endpoint_group_has_ids(const struct endpoint *ep)
{
	return !list_empty(ep->group ? &ep->group->member[0]->ids : &ep->ids);
}

/* ---- creation and end ---- */

static void end_lingering(struct endpoint_group *g)
{
	for (unsigned int i = 0; g->lingers && i < g->n; i++)
		g->member[i]->conn->transport->set_accept(g->member[i], false);
	g->lingers = false;
}

static void end(struct endpoint_group *g)
{
	end_lingering(g);
	g->member[0]->conn->carrier->steer(g->member[0], 1);
	for (unsigned int i = 0; i < g->n; i++) {
		misplaced_drop(g->member[i]);
		g->member[i]->group = NULL;
		endpoint_put(g->member[i]);
	}
	free(g);
}

/*
 * Opens the missing endpoints of ep's group. Returns 0 or -errno. After an error, the opened
 * endpoints remain in the group.
 */
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

	if (ep->group)
		ep->group->lingers = false;
	if (c->n_all < 2 || c->index || ep->group || !c->carrier || !c->carrier->steer)
		return;
	if (!list_empty(&ep->assocs)) {
		log_info("port %u: its peers are on one engine, as it has some already",
			 ep->bound.port);
		return;
	}
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

void endpoint_group_linger(struct endpoint *ep)
{
	ep->group->lingers = true;
}

static bool is_unused(const struct endpoint_group *g)
{
	for (unsigned int i = 0; i < g->n; i++)
		if (g->member[i]->refs > 1)
			return false;
	return true;
}

static bool has_assocs(const struct endpoint_group *g)
{
	for (unsigned int i = 0; i < g->n; i++)
		if (!list_empty(&g->member[i]->assocs))
			return true;
	return false;
}

/* A port with ids needs no check, since it stays open without peers. */
void endpoint_group_check(struct endpoint *ep)
{
	if (ep->group && (ep->group->lingers || (ep->refs == 1 && !endpoint_group_has_ids(ep))))
		ep->conn->wants_all = true;
}

void endpoint_group_end_unused(struct conn *c)
{
	list_for_each(node, &c->endpoints.open) {
		struct endpoint_group *g = list_entry(node, struct endpoint, node)->group;

		if (g && is_unused(g))
			end(g);
		else if (g && g->lingers && !has_assocs(g))
			end_lingering(g);
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
