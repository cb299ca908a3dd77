/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "conn/cm.h"
#include "log/log.h"
#include "runtime/private.h"
#include "util/sockaddr.h"
#include "sys/sys.h"

static int endpoint_new(struct engine *e, const struct sockaddr *addr, bool v6only, bool dormant,
			struct endpoint **out)
{
	char text[SOCKADDR_TEXT];
	struct endpoint *ep;
	int ret;

	if (atomic_load_explicit(&e->dead, memory_order_relaxed))
		return -EIO;
	ret = dormant ? 0 : progress_start(e);
	if (ret)
		return ret;
	ep = calloc(1, sizeof(*ep));
	if (!ep)
		return -ENOMEM;
	ep->engine = e;
	ep->dormant = dormant;
	ep->fd = ep->fd4 = ep->claim = ep->out_fd = -1;
	list_init(&ep->node);
	list_init(&ep->client_node);
	list_init(&ep->assocs);
	list_init(&ep->ids);
	ret = e->transport->open(ep, addr, v6only);
	if (ret) {
		free(ep);
		return ret;
	}
	list_add_tail(dormant ? &e->dormant : &e->endpoints, &ep->node);
	e->n_endpoints += !dormant;
	ep->refs = 1;
	log_debug("%s: open", sockaddr_text((struct sockaddr *)&ep->local, text));
	*out = ep;
	return 0;
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

/* The ids that hold an endpoint's address allow another one to have it too. */
static bool may_share(const struct endpoint *ep, bool reuse)
{
	if (list_empty(&ep->ids))
		return true;
	list_for_each(node, &ep->ids) {
		if (!list_entry(node, struct cm_id, bound_node)->reuse)
			return false;
	}
	return reuse;
}

int endpoint_open(struct engine *e, const struct sockaddr *addr, bool v6only, bool reuse,
		  struct endpoint **out)
{
	uint16_t port = sockaddr_port(addr);

	if (port) {
		list_for_each(node, &e->endpoints) {
			struct endpoint *ep = list_entry(node, struct endpoint, node);

			if (ep->port != port || !same_address(&ep->local, addr) ||
			    (ep->wildcard && ep->v6only != v6only))
				continue;
			if (ep->shared || ep->block || !may_share(ep, reuse))
				return -EADDRINUSE;
			ep->refs++;
			*out = ep;
			return 0;
		}
	}
	return endpoint_new(e, addr, v6only, false, out);
}

int endpoint_open_client(struct engine *e, int family, uint8_t tos, struct endpoint **out)
{
	struct sockaddr_storage any;
	int ret;

	list_for_each(node, &e->clients) {
		struct endpoint *ep = list_entry(node, struct endpoint, client_node);

		if (ep->family == family && ep->tos == tos) {
			ep->refs++;
			*out = ep;
			return 0;
		}
	}
	sockaddr_any(&any, family, 0);
	/* IPv4-mapped destinations are served by the IPv6 socket, too. */
	ret = endpoint_new(e, (struct sockaddr *)&any, false, false, out);
	if (ret)
		return ret;
	endpoint_set_tos(*out, tos);
	if (e->config.share) {
		(*out)->shared = true;
		list_add_tail(&e->clients, &(*out)->client_node);
	}
	return 0;
}

int endpoint_open_dormant(struct engine *e, const struct sockaddr *addr, struct endpoint **out)
{
	return endpoint_new(e, addr, false, true, out);
}

int endpoint_wake(struct endpoint *ep, const struct ip_addr *local)
{
	struct engine *e = ep->engine;
	int ret;

	ret = progress_start(e);
	if (!ret)
		ret = e->transport->accept_at(ep, local);
	if (ret || !ep->dormant)
		return ret;
	ep->dormant = false;
	list_del(&ep->node);
	list_add_tail(&e->endpoints, &ep->node);
	e->n_endpoints++;
	return 0;
}

int endpoint_open_next(struct endpoint *full, struct endpoint **out)
{
	list_del(&full->client_node);
	return endpoint_open_client(full->engine, full->family, full->tos, out);
}

void endpoint_mark(const struct endpoint *ep, int fd)
{
	if (fd < 0)
		return;
	/* A raw socket for IPv4 beside one for IPv6 has the one option alone. */
	sys_setsockopt_int(fd, IPPROTO_IP, IP_TOS, ep->tos);
	if (ep->family == AF_INET6)
		sys_setsockopt_int(fd, IPPROTO_IPV6, IPV6_TCLASS, ep->tos);
}

void endpoint_set_tos(struct endpoint *ep, uint8_t tos)
{
	if (ep->tos == tos)
		return;
	ep->tos = tos;
	ep->engine->transport->set_tos(ep);
	log_debug("port %u: TOS 0x%02x", ep->port, tos);
}

void endpoint_put(struct endpoint *ep)
{
	if (--ep->refs == 0)
		ep->engine->reap = true;
}

bool endpoint_is_abandoned(const struct endpoint *ep)
{
	return !ep->shared && !ep->block && list_empty(&ep->ids);
}

void endpoint_leave(struct cm_id *id)
{
	struct endpoint *ep = id->ep;

	id->ep = NULL;
	list_del(&id->bound_node);
	if (!ep)
		return;
	if (endpoint_is_abandoned(ep)) {
		list_for_each(node, &ep->assocs) {
			struct conn_assoc *a = list_entry(node, struct conn_assoc, node);

			list_del(&a->idle_node);
			conn_assoc_check_idle(a);
		}
	}
	endpoint_put(ep);
}

static void endpoint_free(struct endpoint *ep)
{
	struct engine *e = ep->engine;

	log_debug("port %u: closed", ep->port);
	e->transport->close(ep);
	list_del(&ep->client_node);
	list_del(&ep->node);
	e->n_endpoints--;
	free(ep);
}

void endpoint_reap(struct engine *e)
{
	if (!e->reap)
		return;
	e->reap = false;
	list_for_each_safe(node, &e->endpoints) {
		struct endpoint *ep = list_entry(node, struct endpoint, node);

		if (!ep->refs)
			endpoint_free(ep);
	}
}
