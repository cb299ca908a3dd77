/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "engine/cm.h"
#include "engine/log.h"
#include "engine/private.h"
#include "engine/sockaddr.h"
#include "engine/sys.h"

void endpoint_close_fds(struct endpoint *ep)
{
	sys_close(ep->fd);
	sys_close(ep->fd4);
	sys_close(ep->claim);
	ep->fd = ep->fd4 = ep->claim = ep->out_fd = -1;
}

/* A child of fork() may hold it open: closing it would not take it out of the set. */
static void unwatch(struct endpoint *ep)
{
	sys_epoll_ctl(ep->engine->epoll_fd, EPOLL_CTL_DEL, ep->fd, NULL);
	if (ep->fd4 >= 0)
		sys_epoll_ctl(ep->engine->epoll_fd, EPOLL_CTL_DEL, ep->fd4, NULL);
}

static int watch(struct endpoint *ep)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = ep};
	int ret = sys_epoll_ctl(ep->engine->epoll_fd, EPOLL_CTL_ADD, ep->fd, &ev);

	if (!ret && ep->fd4 >= 0)
		ret = sys_epoll_ctl(ep->engine->epoll_fd, EPOLL_CTL_ADD, ep->fd4, &ev);
	if (ret)
		unwatch(ep);
	return ret;
}

static int endpoint_new(struct engine *e, const struct sockaddr *addr, bool v6only,
			struct endpoint **out)
{
	char text[SOCKADDR_TEXT];
	struct endpoint *ep;
	int ret;

	if (atomic_load_explicit(&e->dead, memory_order_relaxed))
		return -EIO;
	ret = progress_start(e);
	if (ret)
		return ret;
	ep = calloc(1, sizeof(*ep));
	if (!ep)
		return -ENOMEM;
	ep->engine = e;
	ep->llp = e->llp;
	ep->fd = ep->fd4 = ep->claim = ep->out_fd = -1;
	list_init(&ep->node);
	list_init(&ep->assocs);
	list_init(&ep->ids);
	ret = ep->llp->open(ep, addr, v6only);
	if (ret)
		goto err_free;
	ep->sctp = sctp_endpoint_new(e->sctp, ep->port, ep->rcvbuf, ep);
	if (!ep->sctp) {
		ret = -ENOMEM;
		goto err_close;
	}
	ret = watch(ep);
	if (ret)
		goto err_sctp;
	list_add_tail(&e->endpoints, &ep->node);
	e->n_endpoints++;
	ep->refs = 1;
	log_debug("%s: open, receive buffer %zu",
		  sockaddr_text((struct sockaddr *)&ep->local, text), ep->rcvbuf);
	*out = ep;
	return 0;

err_sctp:
	sctp_endpoint_free(ep->sctp);
err_close:
	endpoint_close_fds(ep);
err_free:
	free(ep);
	return ret;
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
			if (ep->shared || !may_share(ep, reuse))
				return -EADDRINUSE;
			ep->refs++;
			*out = ep;
			return 0;
		}
	}
	return endpoint_new(e, addr, v6only, out);
}

int endpoint_open_client(struct engine *e, int family, struct endpoint **out)
{
	struct endpoint **shared = &e->shared[family == AF_INET6];
	struct sockaddr_storage any;
	int ret;

	if (e->config.share && *shared) {
		(*shared)->refs++;
		*out = *shared;
		return 0;
	}
	sockaddr_any(&any, family, 0);
	/* IPv4-mapped destinations are served by the IPv6 socket, too. */
	ret = endpoint_new(e, (struct sockaddr *)&any, false, out);
	if (!ret && e->config.share) {
		(*out)->shared = true;
		*shared = *out;
	}
	return ret;
}

int endpoint_open_next(struct endpoint *full, struct endpoint **out)
{
	struct endpoint **shared = &full->engine->shared[full->family == AF_INET6];

	if (*shared == full)
		*shared = NULL;
	return endpoint_open_client(full->engine, full->family, out);
}

void endpoint_put(struct endpoint *ep)
{
	if (--ep->refs == 0)
		ep->engine->reap = true;
}

static void endpoint_free(struct endpoint *ep)
{
	struct engine *e = ep->engine;

	log_debug("port %u: closed", ep->port);
	if (ep->blocked)
		sctp_batch_done(e->sctp, &ep->pending);
	if (e->shared[ep->family == AF_INET6] == ep)
		e->shared[ep->family == AF_INET6] = NULL;
	sctp_endpoint_free(ep->sctp);
	if (ep->fd >= 0) {
		unwatch(ep);
		endpoint_close_fds(ep);
	}
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

static void shrink_mtu(struct endpoint *ep, const struct llp_error *err)
{
	list_for_each(node, &ep->assocs) {
		struct assoc *a = list_entry(node, struct assoc, node);

		if (!a->gone && ip_addr_equal(&sctp_assoc_addr(a->sctp)->remote, &err->to.remote)) {
			log_debug("port %u: path MTU %u", ep->port, err->mtu);
			sctp_assoc_set_mtu(a->sctp, err->mtu);
			if (a->iw)
				iw_assoc_set_max_msg(a->iw, sctp_assoc_max_msg(a->sctp));
		}
	}
}

void endpoint_errors(struct endpoint *ep)
{
	struct llp_error err;

	/* Bounded by the socket's buffer; more come only with what is sent. */
	for (int i = 0; i < 256 && ep->llp->next_error(ep, &err); i++) {
		if (err.unreachable)
			sctp_unreachable(ep->sctp, &err.to, err.quoted, err.quoted_len,
					 ep->engine->now);
		else if (err.mtu)
			shrink_mtu(ep, &err);
	}
}
