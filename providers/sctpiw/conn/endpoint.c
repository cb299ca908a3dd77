/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "conn/endpoint.h"

#include <errno.h>
#include <stdlib.h>

#include "config/config.h"
#include "conn/carrier.h"
#include "conn/conn.h"
#include "log/log.h"
#include "util/alloc.h"
#include "util/sockaddr.h"

void endpoint_table_init(struct endpoint_table *t)
{
	list_init(&t->open);
	list_init(&t->dormant);
	list_init(&t->clients);
}

/* Arguments of endpoint_new(). */
struct binding {
	const struct sockaddr *addr;
	bool v6only;
	bool dormant;
	const struct endpoint *beside; /* endpoint.beside */
};

/* Maximum number of ports to try, in search of a port that no id shows to its program. */
#define FREE_TRIES 16

/*
 * Opens the port. Returns -EADDRINUSE if an id of another endpoint, in any process, shows this port
 * to its program.
 */
static int open_port(struct endpoint *ep, const struct binding *b)
{
	const struct transport *t = ep->conn->transport;
	uint16_t port = sockaddr_port(b->addr);

	for (unsigned int tries = FREE_TRIES;; tries--) {
		int ret = t->open(ep, b->addr, b->v6only);

		if (ret || b->dormant || b->beside || ep->bound.multicast || !tries ||
		    !ep->conn->ops->port_is_taken(ep->conn, ep->bound.port))
			return ret;
		t->close(ep);
		if (port)
			return -EADDRINUSE;
	}
}

static int endpoint_new(struct conn *c, const struct binding *b, struct endpoint **out)
{
	struct endpoint_table *t = &c->endpoints;
	char text[SOCKADDR_TEXT];
	struct endpoint *ep;
	int ret;

	if (c->closed)
		return -EIO;
	ret = b->dormant ? 0 : c->ops->start_progress(c);
	if (ret)
		return ret;
	ep = alloc_lines(sizeof(*ep));
	if (!ep)
		return -ENOMEM;
	ep->conn = c;
	ep->dormant = b->dormant;
	ep->beside = b->beside;
	list_init(&ep->node);
	list_init(&ep->client_node);
	list_init(&ep->assocs);
	list_init(&ep->ids);
	ret = open_port(ep, b);
	if (ret) {
		free(ep);
		return ret;
	}
	ep->beside = NULL;
	list_add_tail(b->dormant ? &t->dormant : &t->open, &ep->node);
	t->n_open += !b->dormant;
	ep->refs = 1;
	log_debug("%s: open", sockaddr_text((struct sockaddr *)&ep->bound.local, text));
	*out = ep;
	return 0;
}

static void endpoint_free(struct endpoint *ep)
{
	struct endpoint_table *t = &ep->conn->endpoints;

	log_debug("port %u: closed", ep->bound.port);
	ep->conn->transport->close(ep);
	list_del(&ep->client_node);
	list_del(&ep->node);
	t->n_open -= !ep->dormant;
	free(ep->locals.addr);
	free(ep);
}

static bool same_address(const struct sockaddr_storage *a, const struct sockaddr *b)
{
	struct ip_addr x, y;

	if (a->ss_family != b->sa_family)
		return false;
	x = sockaddr_ip((const struct sockaddr *)a);
	y = sockaddr_ip(b);
	return ip_addr_equal(&x, &y);
}

/*
 * True if another id may bind to the endpoint's address. Either the endpoint has no ids, or all ids
 * have the reuse option.
 */
static bool may_share(const struct endpoint *ep, bool reuse)
{
	if (list_empty(&ep->ids))
		return true;
	list_for_each(node, &ep->ids) {
		if (!list_entry(node, struct cm_id, bound_node)->opt.reuse)
			return false;
	}
	return reuse;
}

int endpoint_open(struct conn *c, const struct sockaddr *addr, bool v6only, bool reuse,
		  struct endpoint **out)
{
	uint16_t port = sockaddr_port(addr);

	if (port) {
		list_for_each(node, &c->endpoints.open) {
			struct endpoint *ep = list_entry(node, struct endpoint, node);

			if (ep->bound.port != port || !same_address(&ep->bound.local, addr) ||
			    (ep->bound.wildcard && ep->bound.v6only != v6only))
				continue;
			if (ep->shared || ep->block || !may_share(ep, reuse))
				return -EADDRINUSE;
			ep->refs++;
			*out = ep;
			return 0;
		}
	}
	return endpoint_new(c, &(struct binding){ .addr = addr, .v6only = v6only }, out);
}

int endpoint_open_beside(struct conn *c, const struct endpoint *first, struct endpoint **out)
{
	const struct binding b = {
		.addr = (const struct sockaddr *)&first->bound.local,
		.v6only = first->bound.v6only,
		.beside = first,
	};
	int ret = endpoint_new(c, &b, out);

	if (!ret)
		endpoint_set_tos(*out, first->tos);
	return ret;
}

/* Maximum number of ports to try for the right remainder. Almost always, a port is found. */
#define TRIES (16 * CONFIG_ENGINES_MAX)

static bool is_ours(const struct endpoint *ep)
{
	const struct conn *c = ep->conn;

	return c->n_all < 2 || ep->bound.port % c->n_all == c->index;
}

/* Opens an endpoint at any port whose remainder (port % c->n_all) is the shard's index. */
static int open_any(struct conn *c, int family, struct endpoint **out)
{
	struct endpoint *found = NULL;
	struct sockaddr_storage any;
	int ret = 0;

	sockaddr_any(&any, family, 0);
	/* An IPv6 socket also sends to IPv4-mapped addresses. */
	for (unsigned int i = 0; i < TRIES && !ret && !(found && is_ours(found)); i++) {
		struct endpoint *other = found;

		ret = endpoint_new(c, &(struct binding){ .addr = (struct sockaddr *)&any }, &found);
		if (!ret && other)
			endpoint_free(other);
	}
	*out = found;
	return found ? 0 : ret; /* a port with another remainder is better than an error */
}

int endpoint_open_client(struct conn *c, int family, uint8_t tos, struct endpoint **out)
{
	int ret;

	list_for_each(node, &c->endpoints.clients) {
		struct endpoint *ep = list_entry(node, struct endpoint, client_node);

		if (ep->bound.family == family && ep->tos == tos) {
			ep->refs++;
			*out = ep;
			return 0;
		}
	}
	ret = open_any(c, family, out);
	if (ret)
		return ret;
	endpoint_set_tos(*out, tos);
	if (c->config->share) {
		(*out)->shared = true;
		list_add_tail(&c->endpoints.clients, &(*out)->client_node);
	}
	return 0;
}

int endpoint_open_dormant(struct conn *c, const struct sockaddr *addr, struct endpoint **out)
{
	return endpoint_new(c, &(struct binding){ .addr = addr, .dormant = true }, out);
}

int endpoint_open_group(struct conn *c, const struct sockaddr *addr, struct endpoint **out)
{
	return endpoint_new(c, &(struct binding){ .addr = addr, .v6only = true }, out);
}

/* ---- local addresses of a port of QP numbers ---- */

static int add_local(struct endpoint_locals *l, const struct ip_addr *ip)
{
	struct ip_addr *grown = realloc(l->addr, (l->n + 1) * sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	l->addr = grown;
	l->addr[l->n++] = *ip;
	return 0;
}

static void awake(struct endpoint *ep)
{
	struct endpoint_table *t = &ep->conn->endpoints;

	if (!ep->dormant)
		return;
	ep->dormant = false;
	list_del(&ep->node);
	list_add_tail(&t->open, &ep->node);
	t->n_open++;
}

int endpoint_watch(struct endpoint *ep)
{
	const struct transport *t = ep->conn->transport;
	int ret;

	if (!ep->dormant)
		return 0;
	ret = ep->conn->ops->start_progress(ep->conn);
	if (!ret)
		ret = t->watch(ep);
	if (ret)
		return ret;
	/*
	 * Drop INITs until a QP is connected out of band, as if the port were still dormant. Peers
	 * retransmit the INITs.
	 */
	t->set_quiet(ep, UINT64_MAX);
	awake(ep);
	return 0;
}

int endpoint_wake(struct endpoint *ep, const struct ip_addr *local)
{
	int ret;

	if (ip_addr_is_in(local, ep->locals.addr, ep->locals.n))
		return 0;
	ret = ep->conn->ops->start_progress(ep->conn);
	if (!ret)
		ret = add_local(&ep->locals, local);
	if (ret)
		return ret;
	ret = ep->conn->transport->accept_at(ep, local);
	if (ret)
		ep->locals.n--;
	else
		awake(ep);
	return ret;
}

/* ---- sharing and release ---- */

int endpoint_open_next(struct endpoint *full, struct endpoint **out)
{
	list_del(&full->client_node);
	return endpoint_open_client(full->conn, full->bound.family, full->tos, out);
}

void endpoint_set_tos(struct endpoint *ep, uint8_t tos)
{
	if (ep->tos == tos)
		return;
	ep->tos = tos;
	ep->conn->transport->set_tos(ep);
	log_debug("port %u: TOS 0x%02x", ep->bound.port, tos);
}

void endpoint_await_room(struct endpoint *ep, bool await)
{
	unsigned int before = ep->await_room;

	ep->await_room = await ? before + 1 : before - 1;
	if (!before || !ep->await_room)
		ep->conn->carrier->await_room(ep, await);
}

void endpoint_put(struct endpoint *ep)
{
	if (--ep->refs == 0)
		ep->conn->endpoints.reap = true;
	else
		endpoint_group_check(ep);
}

bool endpoint_is_abandoned(const struct endpoint *ep)
{
	return !ep->shared && !ep->block && !endpoint_group_has_ids(ep);
}

/*
 * Restarts the idle time of the endpoint's associations, after the last id left. The idle time is
 * shorter for a port without ids.
 */
static void hasten_idle(struct endpoint *ep)
{
	list_for_each(node, &ep->assocs) {
		struct conn_assoc *a = list_entry(node, struct conn_assoc, node);

		conn_assoc_in_use(a);
		conn_assoc_check_idle(a);
	}
}

void endpoint_leave(struct cm_id *id)
{
	struct endpoint *ep = id->ep, *m;

	id->ep = NULL;
	list_del(&id->bound_node);
	if (!ep)
		return;
	if (endpoint_is_abandoned(ep))
		for (unsigned int i = 0; (m = endpoint_group_member(ep, i)); i++)
			hasten_idle(m);
	endpoint_put(ep);
}

static void reap(struct list_node *endpoints)
{
	list_for_each_safe(node, endpoints) {
		struct endpoint *ep = list_entry(node, struct endpoint, node);

		if (!ep->refs)
			endpoint_free(ep);
	}
}

void endpoint_reap(struct conn *c)
{
	if (!c->endpoints.reap)
		return;
	c->endpoints.reap = false;
	reap(&c->endpoints.open);
	reap(&c->endpoints.dormant);
}
