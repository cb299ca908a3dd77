/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/carrier_port.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "conn/conn.h"
#include "conn/user_sctp.h"
#include "net/carrier_socket.h"
#include "net/path_socket.h"
#include "sys/sys.h"
#include "util/alloc.h"

/* Up to these numbers, a poller reads every socket. Above them, the poller calls epoll first. */
#define DIRECT_ENDPOINTS 2
#define DIRECT_PATHS 2
#define EPOLL_BATCH 16
/* Bytes. A shorter datagram is not part of a bulk transfer. */
#define SMALL_DATAGRAM 8192
#define ERRORS_AT_ONCE 256
#define RX_MEMORY ((size_t)CARRIER_RX_DATAGRAMS * CARRIER_RX_SIZE)

struct carrier_port *carrier_port_of(const struct endpoint *ep)
{
	return user_sctp_port(ep);
}

int carrier_port_start(struct conn *c, struct config_error *why)
{
	/* The kernel provides pages at their first write. */
	c->net->rx_memory = alloc_lines_unset(RX_MEMORY);
	return c->net->rx_memory ? 0 : -ENOMEM;
}

void carrier_port_stop(struct conn *c)
{
	free(c->net->rx_memory);
	c->net->rx_memory = NULL;
}

/* ---- sockets come and go ---- */

static enum conn_received port_ready(struct net_watch *watch, uint32_t events);

struct carrier_port *carrier_port_new(struct endpoint *ep, const struct carrier_port_ops *ops)
{
	struct carrier_port *p = alloc_lines(sizeof(*p));

	if (!p)
		return NULL;
	p->watch.ready = port_ready;
	p->ep = ep;
	p->ops = ops;
	p->fd = p->fd4 = p->claim = -1;
	p->out = p->awaited = (struct carrier_watched){ -1, &p->watch };
	user_sctp_set_port(ep, p);
	return p;
}

static void close_all(struct carrier_port *p)
{
	sys_close(p->fd);
	sys_close(p->fd4);
	sys_close(p->claim);
	p->fd = p->fd4 = p->claim = p->out.fd = p->awaited.fd = -1;
}

/* Removes the sockets from epoll. close() does not while a child of fork() has copies of them. */
static void unwatch(struct carrier_port *p)
{
	int epoll_fd = p->ep->conn->net->epoll_fd;

	sys_epoll_ctl(epoll_fd, EPOLL_CTL_DEL, p->fd, NULL);
	if (p->fd4 >= 0)
		sys_epoll_ctl(epoll_fd, EPOLL_CTL_DEL, p->fd4, NULL);
	if (p->claim >= 0)
		sys_epoll_ctl(epoll_fd, EPOLL_CTL_DEL, p->claim, NULL);
}

int carrier_port_watch(struct endpoint *ep)
{
	struct carrier_port *p = carrier_port_of(ep);
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = &p->watch };
	int epoll_fd = ep->conn->net->epoll_fd;
	int ret = sys_epoll_ctl(epoll_fd, EPOLL_CTL_ADD, p->fd, &ev);

	if (!ret && p->fd4 >= 0)
		ret = sys_epoll_ctl(epoll_fd, EPOLL_CTL_ADD, p->fd4, &ev);
	if (!ret && p->claim >= 0)
		ret = sys_epoll_ctl(epoll_fd, EPOLL_CTL_ADD, p->claim, &ev);
	if (ret)
		unwatch(p);
	return ret;
}

void carrier_port_free(struct endpoint *ep)
{
	struct carrier_port *p = carrier_port_of(ep);

	path_sockets_close(p);
	if (p->fd >= 0)
		unwatch(p);
	close_all(p);
	link_table_free(&p->links);
	free(p);
	user_sctp_set_port(ep, NULL);
}

void carrier_port_forget(struct endpoint *ep)
{
	path_sockets_forget(carrier_port_of(ep));
	close_all(carrier_port_of(ep));
}

void carrier_port_set_tos(struct endpoint *ep)
{
	struct carrier_port *p = carrier_port_of(ep);

	path_sockets_set_tos(p, ep->tos);
	carrier_socket_set_tos(p->fd, ep->bound.family, ep->tos);
	carrier_socket_set_tos(p->fd4, ep->bound.family, ep->tos);
}

/*
 * Starts or stops the watch for space in a send buffer. Several associations may wait for space in
 * several sockets. Only the socket of the first such association is watched.
 */
void carrier_port_await_room(struct endpoint *ep, bool await)
{
	struct carrier_port *p = carrier_port_of(ep);
	struct epoll_event ev = { .events = EPOLLIN | (await ? EPOLLOUT : 0u) };

	if (await)
		p->awaited = p->out;
	ev.data.ptr = p->awaited.watch;
	sys_epoll_ctl(ep->conn->net->epoll_fd, EPOLL_CTL_MOD, p->awaited.fd, &ev);
}

/* ---- receiving ---- */

/*
 * Drains the error queues. The loop ends: only transmissions add errors, and the size of the
 * sockets' buffers limits the queues.
 */
void carrier_port_errors(struct endpoint *ep)
{
	const struct carrier_port *p = carrier_port_of(ep);
	struct carrier_error err;

	for (int i = 0; i < ERRORS_AT_ONCE && p->ops->next_error(ep, &err); i++)
		user_sctp_icmp(ep, &err);
}

/*
 * Receives from a path socket, or from the port's own sockets if path is NULL. While datagrams are
 * large, each receive call returns one, so that the receive buffer stays in the cache. A small
 * datagram ends the loop, since a program may be waiting for it.
 */
static enum conn_received read_socket(struct conn *c, struct endpoint *ep, struct path_socket *path)
{
	struct carrier_datagram dgrams[CARRIER_RX_DATAGRAMS];
	const struct carrier_port_ops *ops = carrier_port_of(ep)->ops;
	unsigned int total = 0;

	while (total < CARRIER_RX_DATAGRAMS) {
		unsigned int n;

		for (unsigned int i = 0; i < ops->rx_batch; i++)
			dgrams[i].data = c->net->rx_memory + (size_t)i * CARRIER_RX_SIZE;
		n = ops->receive(ep, path, dgrams, ops->rx_batch);
		for (unsigned int i = 0; i < n; i++)
			(ops->input ? ops->input : ops->deliver)(ep, &dgrams[i]);
		total += n;
		if (n < ops->rx_batch)
			return total ? CONN_SOME : CONN_NOTHING;
		if ((ops->rx_batch == 1 && dgrams[0].len < SMALL_DATAGRAM) || iw_ud_is_low(c->iw))
			return CONN_SOME;
	}
	return CONN_MORE;
}

/*
 * Receives from a path socket. Older packets of the path may still wait in the port's own socket.
 * As long as that is possible, reads the port's own socket first.
 */
static enum conn_received receive(struct conn *c, struct endpoint *ep, struct path_socket *path)
{
	enum conn_received before;

	if (!path || !path->behind)
		return read_socket(c, ep, path);
	before = read_socket(c, ep, NULL);
	path->behind = before == CONN_NOTHING ? 0 : path->behind - 1;
	return before == CONN_NOTHING ? read_socket(c, ep, path) : before;
}

enum conn_received carrier_port_take(struct endpoint *ep, struct path_socket *path)
{
	return receive(ep->conn, ep, path);
}

static enum conn_received port_ready(struct net_watch *watch, uint32_t events)
{
	struct carrier_port *p = list_entry(watch, struct carrier_port, watch);

	if (events & EPOLLERR)
		carrier_port_errors(p->ep);
	if (p->ops->answer_strangers)
		p->ops->answer_strangers(p->ep);
	return events & (EPOLLIN | EPOLLERR) ? receive(p->ep->conn, p->ep, NULL) : CONN_NOTHING;
}

static enum conn_received receive_direct(struct conn *c)
{
	struct path_sockets *paths = c->net->paths;
	enum conn_received all = CONN_NOTHING, one;

	list_for_each(node, &c->endpoints.open) {
		one = receive(c, list_entry(node, struct endpoint, node), NULL);
		all = one > all ? one : all;
	}
	for (unsigned int i = 0, n = paths ? paths->n : 0; n; i++) {
		if (!paths->socket[i].port)
			continue;
		one = receive(c, paths->socket[i].port->ep, &paths->socket[i]);
		all = one > all ? one : all;
		n--;
	}
	return all;
}

static enum conn_received receive_ready(struct conn *c)
{
	struct epoll_event ev[EPOLL_BATCH];
	enum conn_received all = CONN_NOTHING;
	int n;

	n = sys_epoll_poll(c->net->epoll_fd, ev, EPOLL_BATCH);
	if (n == EPOLL_BATCH)
		all = CONN_MORE;
	for (int i = 0; i < n; i++) {
		struct net_watch *watch = ev[i].data.ptr;
		enum conn_received one = watch->ready ? watch->ready(watch, ev[i].events) :
							CONN_NOTHING;

		all = one > all ? one : all;
	}
	return all;
}

enum conn_received carrier_port_receive(struct conn *c, enum conn_depth depth)
{
	struct path_sockets *paths = c->net->paths;
	enum conn_received got = CONN_NOTHING;
	bool direct = c->endpoints.n_open <= DIRECT_ENDPOINTS;
	struct path_socket *first = paths ? path_sockets_first(paths, c->now) : NULL;

	if (first) {
		got = receive(c, first->port->ep, first);
		if (got != CONN_NOTHING || depth == CONN_QUICK)
			return got;
	}
	if (paths) {
		path_sockets_open(c);
		direct = direct && paths->n <= DIRECT_PATHS;
	}
	if (direct)
		got = receive_direct(c);
	/* epoll reports errors that receive calls do not, and such an error may have woken the thread. */
	if (!direct || (got == CONN_NOTHING && depth == CONN_THOROUGH))
		got = receive_ready(c);
	return got;
}
