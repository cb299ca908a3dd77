/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/path_socket.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "conn/conn.h"
#include "log/log.h"
#include "net/carrier_port.h"
#include "net/carrier_socket.h"
#include "sys/sys.h"
#include "util/alloc.h"
#include "util/sockaddr.h"

/* ns. The socket that received last is read first until it has been idle for this time. */
#define HOT 1000000u
/* One pass in PASSES reads all sockets instead, and none of them first. */
#define PASSES 4u
/* Number of receive rounds that surely empty a full receive buffer of small datagrams. */
#define BEHIND 16384u

struct path_sockets *path_sockets_new(void)
{
	struct path_sockets *s = alloc_lines(sizeof(*s));

	for (unsigned int i = 0; s && i < PATH_SOCKETS; i++)
		s->socket[i].all = s;
	return s;
}

void path_sockets_free(struct path_sockets *s)
{
	free(s);
}

static struct path_sockets *sockets_of(const struct carrier_port *p)
{
	return p->ep->conn->net->paths;
}

static bool is_same(const struct path_addr *a, const struct path_addr *b)
{
	return a->udp_port == b->udp_port && ip_addr_equal(&a->remote, &b->remote) &&
	       ip_addr_equal(&a->local, &b->local);
}

/* ---- paths that earn a socket ---- */

static void count(struct path_sockets *s, struct carrier_port *p, const struct path_addr *addr,
		  uint64_t now)
{
	struct path_candidate *place = NULL;

	if (now - s->counted_from >= PATH_PERIOD) {
		for (unsigned int i = 0; i < PATH_CANDIDATES; i++)
			s->candidate[i].sends = 0;
		s->counted_from = now;
		s->due = false;
	}
	for (unsigned int i = 0; i < PATH_CANDIDATES; i++) {
		struct path_candidate *c = &s->candidate[i];

		if (!c->sends) {
			place = c;
		} else if (c->port == p && is_same(&c->addr, addr)) {
			s->due |= ++c->sends == PATH_SENDS;
			return;
		}
	}
	if (place)
		*place = (struct path_candidate){ .port = p, .addr = *addr, .sends = 1 };
	else
		for (unsigned int i = 0; i < PATH_CANDIDATES; i++)
			s->candidate[i].sends--;
}

struct path_socket *path_socket_of(struct carrier_port *p, const struct path_addr *addr)
{
	struct path_sockets *s = sockets_of(p);
	uint64_t now = p->ep->conn->now;

	for (unsigned int i = 0, n = s->n; n; i++) {
		struct path_socket *ps = &s->socket[i];

		if (ps->port == p && is_same(&ps->addr, addr)) {
			ps->used = now;
			return ps;
		}
		n -= ps->port != NULL;
	}
	if (!ip_addr_is_zero(&addr->local) && !ip_addr_is_multicast(&addr->remote))
		count(s, p, addr, now);
	return NULL;
}

/* ---- opening ---- */

/*
 * Turns SO_REUSEPORT on or off for all sockets of the port, and for fd. The option is on only while
 * fd is bound: otherwise another program of the user could bind the port and get packets from new
 * peers. A port of several shards always has the option; there the carrier steers packets from new
 * peers.
 */
static void share_port(struct carrier_port *p, int fd, bool share)
{
	struct path_sockets *s = sockets_of(p);

	if (p->ep->group) {
		if (share)
			sys_setsockopt_int(fd, SOL_SOCKET, SO_REUSEPORT, 1);
		return;
	}
	sys_setsockopt_int(p->fd, SOL_SOCKET, SO_REUSEPORT, share);
	for (unsigned int i = 0; i < PATH_SOCKETS; i++)
		if (s->socket[i].port == p)
			sys_setsockopt_int(s->socket[i].fd, SOL_SOCKET, SO_REUSEPORT, share);
	sys_setsockopt_int(fd, SOL_SOCKET, SO_REUSEPORT, share);
}

/*
 * Between bind() and connect() the socket accepts packets from any host. So receivers must check
 * the source of packets.
 */
static int bind_and_connect(struct carrier_port *p, int fd, const struct path_addr *addr)
{
	struct sockaddr_storage local, remote;
	int ret;

	sockaddr_make_natural(&local, &addr->local, p->ep->bound.port);
	sockaddr_make_natural(&remote, &addr->remote, addr->udp_port);
	share_port(p, fd, true);
	ret = sys_bind(fd, (struct sockaddr *)&local, sockaddr_len((struct sockaddr *)&local));
	if (!ret)
		ret = sys_connect(fd, (struct sockaddr *)&remote,
				  sockaddr_len((struct sockaddr *)&remote));
	share_port(p, fd, false);
	return ret;
}

/* Sets the options that the port's own socket has, but no reports of destination addresses. */
static void set_options(int fd, bool v4, uint8_t tos)
{
	carrier_socket_report(fd, v4, !v4, false);
	carrier_socket_raise_buffers(fd);
	carrier_socket_set_df(fd, v4, !v4, true);
	if (tos)
		carrier_socket_set_tos(fd, v4 ? AF_INET : AF_INET6, tos);
	sys_setsockopt_int(fd, SOL_UDP, UDP_GRO, 1);
}

/* Opens a socket for addr and adds it to the epoll set. Returns the socket, or -errno. */
static int open_socket(struct carrier_port *p, struct path_socket *ps, const struct path_addr *addr)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.ptr = &ps->watch };
	bool v4 = ip_addr_is_v4(&addr->remote);
	int ret, fd;

	fd = sys_keep(sys_socket(v4 ? AF_INET : AF_INET6, SOCK_DGRAM, IPPROTO_UDP));
	if (fd < 0)
		return fd;
	set_options(fd, v4, p->ep->tos);
	ret = bind_and_connect(p, fd, addr);
	if (!ret)
		ret = sys_epoll_ctl(p->ep->conn->net->epoll_fd, EPOLL_CTL_ADD, fd, &ev);
	if (!ret)
		return fd;
	sys_close(fd);
	return ret;
}

static void close_one(struct path_socket *ps)
{
	struct path_sockets *s = ps->all;
	struct carrier_port *p = ps->port;

	/* close() alone would not remove the socket: a child of fork() may still hold a copy. */
	sys_epoll_ctl(p->ep->conn->net->epoll_fd, EPOLL_CTL_DEL, ps->fd, NULL);
	sys_close(ps->fd);
	if (p->out.watch == &ps->watch)
		p->out = (struct carrier_watched){ p->fd, &p->watch };
	if (s->hot == ps)
		s->hot = NULL;
	ps->port = NULL;
	s->n--;
}

static bool is_awaited(const struct path_socket *ps)
{
	return ps->port->ep->await_room && ps->port->awaited.watch == &ps->watch;
}

/*
 * Returns a free entry. If there is none, closes the least recently used socket and returns its
 * entry. Returns NULL if all sockets are in use. A socket with waiting packets is in use, even if
 * this process has not run, and so has not read the socket, for a while.
 */
static struct path_socket *find_place(struct path_sockets *s, uint64_t now)
{
	uint64_t max = sys_max_fds() / PATH_SOCKETS_PART;
	struct path_socket *oldest = NULL;

	for (unsigned int i = 0; i < PATH_SOCKETS; i++) {
		struct path_socket *ps = &s->socket[i];

		if (!ps->port) {
			if (s->n < max)
				return ps;
		} else if (now - ps->used >= PATH_PERIOD && !is_awaited(ps) &&
			   (!oldest || ps->used < oldest->used)) {
			oldest = ps;
		}
	}
	if (!oldest || carrier_port_take(oldest->port->ep, oldest) != CONN_NOTHING)
		return NULL;
	close_one(oldest);
	return oldest;
}

static enum conn_received path_ready(struct net_watch *watch, uint32_t events)
{
	struct path_socket *ps = list_entry(watch, struct path_socket, watch);
	struct endpoint *ep = ps->port->ep;

	if (events & EPOLLERR)
		carrier_port_errors(ep);
	return events & (EPOLLIN | EPOLLERR) ? carrier_port_take(ep, ps) : CONN_NOTHING;
}

static void open_for(struct conn *c, struct carrier_port *p, const struct path_addr *addr)
{
	struct path_sockets *s = c->net->paths;
	struct path_socket *ps = find_place(s, c->now);
	char text[SOCKADDR_TEXT];
	int fd;

	if (!ps)
		return;
	sockaddr_text_ip(&addr->remote, addr->udp_port, text);
	fd = open_socket(p, ps, addr);
	if (fd < 0) {
		log_debug("port %u: no socket of its own for the path to %s: error %d",
			  p->ep->bound.port, text, -fd);
		return;
	}
	log_debug("port %u: a socket of its own for the path to %s", p->ep->bound.port, text);
	*ps = (struct path_socket){ .watch.ready = path_ready,
				    .all = s,
				    .port = p,
				    .addr = *addr,
				    .fd = fd,
				    .df = true,
				    .behind = BEHIND,
				    .used = c->now };
	s->n++;
	s->hot = NULL;
	c->traffic.path_sockets++;
}

void path_sockets_open(struct conn *c)
{
	struct path_sockets *s = c->net->paths;

	if (!s->due)
		return;
	s->due = false;
	for (unsigned int i = 0; i < PATH_CANDIDATES; i++) {
		struct path_candidate *candidate = &s->candidate[i];

		if (candidate->sends < PATH_SENDS)
			continue;
		candidate->sends = 0;
		open_for(c, candidate->port, &candidate->addr);
	}
}

/* ---- receiving ---- */

struct path_socket *path_sockets_first(struct path_sockets *s, uint64_t now)
{
	if (!s->hot || ++s->turn % PASSES == 0)
		return NULL;
	if (now - s->hot->used > HOT)
		s->hot = NULL;
	return s->hot;
}

unsigned int path_socket_receive(struct path_socket *ps, struct carrier_datagram *dgrams,
				 unsigned int max)
{
	unsigned int n =
		carrier_socket_receive(ps->port->ep, ps->fd, &ps->addr.local, dgrams, max, NULL);

	if (n) {
		ps->used = ps->port->ep->conn->now;
		ps->all->hot = ps;
	}
	return n;
}

bool path_socket_next_error(struct carrier_port *p, struct carrier_error *err,
			    struct sock_extended_err *ee)
{
	struct path_sockets *s = sockets_of(p);

	for (unsigned int i = 0; i < PATH_SOCKETS; i++)
		if (s->socket[i].port == p && carrier_socket_read_error(s->socket[i].fd, err, ee))
			return true;
	return false;
}

bool path_sockets_room(const struct carrier_port *p, const struct ip_addr *from,
		       struct carrier_room *room)
{
	const struct path_sockets *s = sockets_of(p);
	struct carrier_room one;
	bool found = false;

	for (unsigned int i = 0; i < PATH_SOCKETS; i++) {
		const struct path_socket *ps = &s->socket[i];

		if (ps->port != p || !ip_addr_equal(&ps->addr.remote, from) ||
		    !carrier_socket_room(ps->fd, &one))
			continue;
		if (!found || one.used > room->used)
			*room = one;
		found = true;
	}
	return found;
}

/* ---- all sockets of a port ---- */

void path_socket_set_df(struct path_socket *ps, bool df)
{
	bool v4 = ip_addr_is_v4(&ps->addr.remote);

	carrier_socket_set_df(ps->fd, v4, !v4, df);
	ps->df = df;
}

void path_sockets_set_tos(struct carrier_port *p, uint8_t tos)
{
	struct path_sockets *s = sockets_of(p);

	for (unsigned int i = 0; s && i < PATH_SOCKETS; i++) {
		struct path_socket *ps = &s->socket[i];

		if (ps->port == p)
			carrier_socket_set_tos(
				ps->fd, ip_addr_is_v4(&ps->addr.remote) ? AF_INET : AF_INET6, tos);
	}
}

void path_sockets_close(struct carrier_port *p)
{
	struct path_sockets *s = sockets_of(p);

	if (!s)
		return;
	for (unsigned int i = 0; i < PATH_CANDIDATES; i++)
		if (s->candidate[i].port == p)
			s->candidate[i].sends = 0;
	for (unsigned int i = 0; i < PATH_SOCKETS; i++)
		if (s->socket[i].port == p)
			close_one(&s->socket[i]);
}

void path_sockets_forget(struct carrier_port *p)
{
	struct path_sockets *s = sockets_of(p);

	for (unsigned int i = 0; s && i < PATH_SOCKETS; i++) {
		if (s->socket[i].port == p) {
			sys_close(s->socket[i].fd);
			s->socket[i].fd = -1;
		}
	}
}
