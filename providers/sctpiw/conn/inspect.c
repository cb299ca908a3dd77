/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "conn/inspect.h"

#include <stdio.h>

#include "conn/carrier.h"
#include "conn/conn.h"
#include "conn/transport.h"

unsigned int conn_count_assocs(const struct conn *c)
{
	return c->n_assocs;
}

/* Returns the next association that has not ended, or NULL. */
static const struct conn_assoc *step(struct conn *c, struct list_node *mark)
{
	const struct conn_assoc *a;
	struct list_node *node;

	do {
		node = list_step(&c->assocs, mark);
		if (!node)
			return NULL;
		a = list_entry(node, struct conn_assoc, all);
	} while (a->gone || !a->state);
	return a;
}

static void inspect_key(const struct conn *c, const struct conn_assoc *a,
			struct conn_assoc_info *info)
{
	struct path_addr to = *c->transport->addr(a);
	const char *key;

	if (!c->carrier || !c->carrier->key)
		return;
	key = c->carrier->key(a->ep, &to);
	info->sealed = key;
	if (key)
		snprintf(info->key, sizeof(info->key), "%s", key);
}

bool conn_next_assoc(struct conn *c, struct list_node *mark, struct conn_assoc_info *info)
{
	const struct transport *t = c->transport;
	const struct conn_assoc *a = step(c, mark);

	if (!a)
		return false;
	*info = (struct conn_assoc_info){
		.local_port = a->ep->bound.port,
		.initiator = a->initiator,
		.up = a->iw,
		.streams = a->iw ? iw_assoc_streams(a->iw) : 0,
		.sessions = a->iw ? iw_assoc_sessions(a->iw) : 0,
		.has_sctp = t->inspect,
	};
	sockaddr_text_ip(&t->addr(a)->remote, t->remote_port(a), info->peer);
	inspect_key(c, a, info);
	if (t->inspect)
		t->inspect(a, &info->sctp);
	return true;
}

bool conn_next_paths(struct conn *c, struct list_node *mark, struct conn_paths_info *info)
{
	const struct transport *t = c->transport;
	const struct conn_assoc *a = step(c, mark);

	if (!a)
		return false;
	info->local_port = a->ep->bound.port;
	sockaddr_text_ip(&t->addr(a)->remote, t->remote_port(a), info->peer);
	info->n = t->inspect_paths ? t->inspect_paths(a, info->path) : 0;
	return true;
}
