/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The transport that is the kernel's SCTP, on one-to-one sockets (RFC 6458). An endpoint holds its
 * port by a socket of its own, which listens when peers may connect; each association has one more,
 * from accept(), or bound to the same port and connected.
 *
 * What accepts at one address has a listener bound to that (accept_at). One that is bound to all of
 * them lists all of them to the peer, and between two ports the kernel has a single association for
 * what was listed: connect() to another of these addresses says EADDRNOTAVAIL, and an INIT to another
 * one is a restart.
 *
 * What the kernel does not do the way sctp/ does:
 * - It does not tell how many messages are acknowledged, but holds their memory until they are: "all"
 *   can be told from "not all" (kernel_sctp_tx.c).
 * - It retransmits for as long as it likes; here, a peer is lost when no packet of it has come for
 *   config.silent_limit. The peer's kernel may answer for a process that is stopped.
 * - An ICMP error is told as the socket's error. Before the association is up it ends the attempt;
 *   later it is a hint, and a HEARTBEAT that is not answered within a second confirms it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>

#include "config/config.h"
#include "net/kernel_sctp.h"
#include "net/carrier_socket.h"
#include "net/kernel_sctp_socket.h"
#include "log/log.h"
#include "util/sockaddr.h"
#include "sys/sys.h"

#define EPOLL_BATCH 16
#define BACKLOG 1024
#define ACCEPTS 16 /* in one pass */
#define ACCEPT_PAUSE (NSEC_PER_SEC / 10)
/* With so many associations a poller asks their sockets; it asks epoll in one of so many passes. */
#define DIRECT_ASSOCS 2
#define DIRECT_PASSES 16

/* A message longer than a buffer comes in pieces (kernel_sctp_rx.h). */
#define RX_MSGS 8
#define RX_SIZE 65536
#define RX_MEMORY ((size_t)RX_MSGS * RX_SIZE)

#define CONNECT_LIMIT (30 * NSEC_PER_SEC)
#define CHECK_INTERVAL (NSEC_PER_SEC / 2)
#define PROBE_LIMIT NSEC_PER_SEC

/* ---- the engine's part ---- */

static int kernel_sctp_start(struct conn *c, struct config_error *why)
{
	struct kernel_sctp *k;
	int ret = kernel_sctp_socket_probe();

	if (ret) {
		snprintf(why->text, sizeof(why->text), "llp = kernel, but %s, or take udp or ip",
			 ret == -EPROTONOSUPPORT || ret == -ESOCKTNOSUPPORT ?
				 "this kernel has no SCTP: load it (modprobe sctp)" :
				 "this kernel does not let its SCTP be used: ask who runs it");
		return ret;
	}
	k = calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	/* Pages come when they are first written to. */
	k->rx_memory = mmap(NULL, RX_MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	if (k->rx_memory == MAP_FAILED) {
		free(k);
		return -ENOMEM;
	}
	list_init(&k->assocs);
	list_init(&k->dead);
	list_init(&k->ready);
	k->next_accept = TIME_NEVER;
	c->transport_state = k;
	return 0;
}

static void kernel_sctp_stop(struct conn *c)
{
	struct kernel_sctp *k = kernel_sctp_of(c);

	munmap(k->rx_memory, RX_MEMORY);
	free(k);
	c->transport_state = NULL;
}

/* ---- endpoints ---- */

static int kernel_sctp_open(struct endpoint *ep, const struct sockaddr *addr, bool v6only)
{
	struct kernel_sctp_endpoint *ke = calloc(1, sizeof(*ke));
	int ret;

	if (!ke)
		return -ENOMEM;
	ret = ke->own.sock.fd = kernel_sctp_socket_open(addr->sa_family, v6only);
	if (ret < 0)
		goto err_free;
	ke->own.ep = ep;
	list_init(&ke->own.node);
	list_init(&ke->listeners);
	ret = sys_bind(ke->own.sock.fd, addr, sockaddr_len(addr));
	if (!ret)
		ret = sys_getsockname(ke->own.sock.fd, &ep->bound.local);
	if (ret)
		goto err_close;
	/* From now on associations may have the port as well; a stranger's bind() still may not. */
	sys_setsockopt_int(ke->own.sock.fd, SOL_SOCKET, SO_REUSEADDR, 1);
	ep->state = ke;
	ep->bound.family = addr->sa_family;
	ep->bound.v6only = v6only;
	ep->bound.wildcard = sockaddr_is_any(addr);
	ep->bound.port = sockaddr_port((struct sockaddr *)&ep->bound.local);
	return 0;

err_close:
	sys_close(ke->own.sock.fd);
err_free:
	free(ke);
	return ret;
}

static struct kernel_sctp_listener *listener_of(struct list_node *node)
{
	return list_entry(node, struct kernel_sctp_listener, node);
}

static void kernel_sctp_close(struct endpoint *ep)
{
	struct kernel_sctp_endpoint *ke = kernel_sctp_endpoint(ep);
	struct list_node *node;

	while ((node = list_pop(&ke->listeners))) {
		struct kernel_sctp_listener *l = listener_of(node);

		sys_epoll_ctl(ep->conn->net->epoll_fd, EPOLL_CTL_DEL, l->sock.fd, NULL);
		if (l == &ke->own)
			continue;
		sys_close(l->sock.fd);
		free(l);
	}
	sys_close(ke->own.sock.fd);
	free(ke);
}

static void kernel_sctp_forget(struct endpoint *ep)
{
	struct kernel_sctp_endpoint *ke = kernel_sctp_endpoint(ep);

	list_for_each(node, &ke->listeners) {
		if (listener_of(node) == &ke->own)
			continue;
		sys_close(listener_of(node)->sock.fd);
		listener_of(node)->sock.fd = -1;
	}
	sys_close(ke->own.sock.fd);
	ke->own.sock.fd = -1;
	list_for_each(node, &ep->assocs) {
		struct kernel_sctp_assoc *ka = list_entry(node, struct conn_assoc, node)->state;

		if (!ka) /* aborted: the process was about to end */
			continue;
		sys_close(ka->sock.fd);
		ka->sock.fd = -1;
	}
}

/* ---- associations come and go ---- */

static int watch(struct conn *c, struct kernel_sctp_socket *sock, int op, uint32_t events)
{
	struct epoll_event ev = {.events = events, .data.ptr = sock};

	return sys_epoll_ctl(c->net->epoll_fd, op, sock->fd, &ev);
}

static struct kernel_sctp_assoc *kernel_sctp_assoc_new(struct conn_assoc *a, int fd)
{
	struct conn *c = a->ep->conn;
	struct kernel_sctp *k = kernel_sctp_of(c);
	struct kernel_sctp_assoc *ka = calloc(1, sizeof(*ka));

	if (!ka)
		return NULL;
	ka->sock.fd = fd;
	ka->sock.assoc = ka;
	ka->assoc = a;
	ka->heard = c->now;
	list_init(&ka->ready);
	if (watch(c, &ka->sock, EPOLL_CTL_ADD, EPOLLIN)) {
		free(ka);
		return NULL;
	}
	if (list_empty(&k->assocs))
		k->next_check = c->now + CHECK_INTERVAL;
	list_add_tail(&k->assocs, &ka->node);
	k->n_assocs++;
	a->state = ka;
	return ka;
}

/* Closes the socket, with an ABORT where the association is not over yet. */
static void destroy(struct kernel_sctp_assoc *ka)
{
	struct conn *c = conn_of(ka);
	struct kernel_sctp *k = kernel_sctp_of(c);

	sys_epoll_ctl(c->net->epoll_fd, EPOLL_CTL_DEL, ka->sock.fd, NULL);
	sys_close(ka->sock.fd);
	ka->sock.fd = -1;
	if (ka->blocked)
		k->n_blocked--;
	k->n_assocs--;
	ka->assoc->state = NULL;
	ka->assoc = NULL;
	list_del(&ka->ready);
	list_del(&ka->node);
	list_add_tail(&k->dead, &ka->node);
	kernel_sctp_rx_clear(&ka->rx);
	free(ka->tx_buf);
	ka->tx_buf = NULL;
}

static void bury(struct kernel_sctp *k)
{
	struct list_node *node;

	while ((node = list_pop(&k->dead)))
		free(list_entry(node, struct kernel_sctp_assoc, node));
}

void kernel_sctp_over(struct kernel_sctp_assoc *ka, int error, bool orderly)
{
	struct conn_assoc *a = ka->assoc;

	destroy(ka);
	conn_assoc_over(a, error, orderly);
}

int kernel_sctp_meaning(const struct kernel_sctp_assoc *ka, int error)
{
	if (error == -ETIMEDOUT)
		return error;
	return kernel_sctp_is_up(ka) ? -ECONNRESET : -ECONNREFUSED;
}

/* The one that has the address, by itself or with all others. */
static struct kernel_sctp_listener *find_listener(const struct endpoint *ep, const struct ip_addr *at)
{
	struct kernel_sctp_endpoint *ke = kernel_sctp_endpoint(ep);

	list_for_each(node, &ke->listeners) {
		struct kernel_sctp_listener *l = listener_of(node);

		if (l == &ke->own || ip_addr_equal(&l->at, at))
			return l;
	}
	return NULL;
}

static int bind_active(struct endpoint *ep, int fd, const struct path_addr *to)
{
	const struct kernel_sctp_listener *l = find_listener(ep, &to->local);
	struct sockaddr_storage local = ep->bound.local;

	if (ep->bound.wildcard && !ip_addr_is_zero(&to->local))
		sockaddr_make(&local, ep->bound.family, &to->local, ep->bound.port);
	return kernel_sctp_socket_bind_beside(fd, (struct sockaddr *)&local, l ? l->sock.fd : -1);
}

static int kernel_sctp_connect(struct conn_assoc *a, const struct path_addr *to, uint16_t port)
{
	struct endpoint *ep = a->ep;
	struct sockaddr_storage remote;
	struct kernel_sctp_assoc *ka;
	socklen_t len;
	int fd, ret;

	fd = kernel_sctp_socket_open(ep->bound.family, ep->bound.v6only);
	if (fd < 0)
		return fd;
	if (ep->tos)
		carrier_socket_set_tos(fd, ep->bound.family, ep->tos);
	ret = bind_active(ep, fd, to);
	if (!ret && to->udp_port)
		ret = kernel_sctp_socket_encap(fd, to->udp_port);
	if (ret)
		goto err;
	len = sockaddr_make(&remote, ep->bound.family, &to->remote, port);
	ret = sys_connect(fd, (struct sockaddr *)&remote, len);
	if (ret && ret != -EINPROGRESS)
		goto err;
	ret = -ENOMEM;
	ka = kernel_sctp_assoc_new(a, fd);
	if (!ka)
		goto err;
	ka->active = true;
	ka->path = *to;
	ka->port = port;
	return 0;

err:
	log_debug("port %u: cannot connect: %s", ep->bound.port, strerror(-ret));
	sys_close(fd);
	return ret;
}

/* The kernel knows which of our addresses the peer used. */
static void set_passive_path(struct kernel_sctp_assoc *ka, const struct sockaddr_storage *from)
{
	const struct endpoint *ep = ka->assoc->ep;
	struct sockaddr_storage local;

	ka->path.remote = sockaddr_ip((const struct sockaddr *)from);
	ka->port = sockaddr_port((const struct sockaddr *)from);
	if (sys_getsockname(ka->sock.fd, &local))
		local = ep->bound.local;
	ka->path.local = sockaddr_ip((struct sockaddr *)&local);
}

/* Who is out of descriptors or memory would be told of the same connection for ever. */
static void pause_accepting(struct kernel_sctp_listener *l)
{
	struct conn *c = l->ep->conn;
	struct kernel_sctp *k = kernel_sctp_of(c);

	watch(c, &l->sock, EPOLL_CTL_MOD, 0);
	l->paused = true;
	if (k->next_accept == TIME_NEVER)
		k->next_accept = c->now + ACCEPT_PAUSE;
}

static void resume_accepting(struct conn *c)
{
	kernel_sctp_of(c)->next_accept = TIME_NEVER;
	list_for_each(ep_node, &c->endpoints.open) {
		const struct endpoint *ep = list_entry(ep_node, struct endpoint, node);

		list_for_each(node, &kernel_sctp_endpoint(ep)->listeners) {
			struct kernel_sctp_listener *l = listener_of(node);

			if (l->paused)
				watch(c, &l->sock, EPOLL_CTL_MOD, EPOLLIN);
			l->paused = false;
		}
	}
}

static bool accept_some(struct kernel_sctp_listener *l)
{
	struct endpoint *ep = l->ep;

	for (int i = 0; i < ACCEPTS; i++) {
		struct sockaddr_storage from;
		struct kernel_sctp_assoc *ka;
		struct conn_assoc *a;
		int fd = kernel_sctp_socket_accept(l->sock.fd, ep->bound.family, ep->bound.v6only, &from);

		if (fd < 0) {
			if (fd != -EAGAIN)
				pause_accepting(l);
			return false;
		}
		if (ep->tos)
			carrier_socket_set_tos(fd, ep->bound.family, ep->tos);
		a = conn_assoc_new(ep);
		if (!a) {
			sys_close(fd);
			return false;
		}
		ka = kernel_sctp_assoc_new(a, fd);
		if (!ka) {
			sys_close(fd);
			conn_assoc_over(a, -ENOMEM, false);
			return false;
		}
		set_passive_path(ka, &from);
	}
	return true;
}

static int start_listening(struct kernel_sctp_listener *l)
{
	int ret = sys_listen(l->sock.fd, BACKLOG);

	if (ret)
		return ret;
	ret = watch(l->ep->conn, &l->sock, EPOLL_CTL_ADD, EPOLLIN);
	if (ret)
		sys_listen(l->sock.fd, 0);
	else
		list_add_tail(&kernel_sctp_endpoint(l->ep)->listeners, &l->node);
	return ret;
}

static int kernel_sctp_set_accept(struct endpoint *ep, bool accept)
{
	struct kernel_sctp_listener *own = &kernel_sctp_endpoint(ep)->own;

	if (accept == list_linked(&own->node))
		return 0;
	if (accept)
		return start_listening(own);
	/* Those who are connected by now are told that nobody listens. */
	while (accept_some(own))
		;
	watch(ep->conn, &own->sock, EPOLL_CTL_DEL, 0);
	list_del(&own->node);
	own->paused = false;
	return sys_listen(own->sock.fd, 0);
}

static int kernel_sctp_accept_at(struct endpoint *ep, const struct ip_addr *local)
{
	struct sockaddr_storage addr;
	struct kernel_sctp_listener *l;
	int ret;

	if (find_listener(ep, local)) /* it listens at all addresses */
		return 0;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->ep = ep;
	l->at = *local;
	list_init(&l->node);
	sockaddr_make(&addr, ep->bound.family, local, ep->bound.port);
	ret = l->sock.fd = kernel_sctp_socket_open(ep->bound.family, ep->bound.v6only);
	if (ret >= 0)
		ret = kernel_sctp_socket_bind_beside(l->sock.fd, (struct sockaddr *)&addr, -1);
	if (!ret)
		ret = start_listening(l);
	if (!ret)
		return 0;
	log_debug("port %u: cannot accept at an address: %s", ep->bound.port, strerror(-ret));
	sys_close(l->sock.fd);
	free(l);
	return ret;
}

/* ---- input ---- */

static void set_interest(struct kernel_sctp_assoc *ka)
{
	/* The end of what there is to read could be read for ever: only what is new counts then. */
	watch(conn_of(ka), &ka->sock, EPOLL_CTL_MOD,
	      EPOLLIN | (ka->eof ? EPOLLET : 0u) | (ka->blocked ? EPOLLOUT : 0u));
}

void kernel_sctp_set_blocked(struct kernel_sctp_assoc *ka, bool blocked)
{
	struct kernel_sctp *k = kernel_sctp_of(conn_of(ka));

	if (ka->blocked == blocked)
		return;
	ka->blocked = blocked;
	k->n_blocked += blocked ? 1u : -1u;
	set_interest(ka);
}

static void established(struct kernel_sctp_assoc *ka)
{
	struct conn_assoc *a = ka->assoc;
	struct kernel_sctp_status status;
	int ret = kernel_sctp_socket_status(ka->sock.fd, &status);

	if (ret) {
		kernel_sctp_over(ka, kernel_sctp_meaning(ka, ret), false);
		return;
	}
	ka->tx_buf = malloc(TX_SIZE);
	if (!ka->tx_buf) {
		conn_assoc_abort(a, -ENOMEM);
		return;
	}
	ka->heard = conn_of(ka)->now;
	ka->probed = 0;
	if (status.max_msg > RX_SIZE - 1)
		status.max_msg = RX_SIZE - 1;
	conn_assoc_up(a, ka->active, status.streams, status.max_msg);
}

static void on_message(struct kernel_sctp_assoc *ka, const struct kernel_sctp_rx_message *m)
{
	struct conn_assoc *a = ka->assoc;

	a->ep->conn->traffic.packets_in++;
	a->ep->conn->traffic.bytes_in += m->len;
	/* While it closes there are no sessions to deliver to. */
	if (a->iw && !a->closing && iw_assoc_receive(a->iw, m->sid, m->ppid, m->data, m->len))
		conn_assoc_abort(a, -EPROTO);
}

static void act(struct kernel_sctp_assoc *ka, enum kernel_sctp_rx_verdict verdict,
		const struct kernel_sctp_rx_message *m)
{
	switch (verdict) {
	case KERNEL_SCTP_RX_NOTHING:
		break;
	case KERNEL_SCTP_RX_ESTABLISHED:
		established(ka);
		break;
	case KERNEL_SCTP_RX_GOT_MESSAGE:
		on_message(ka, m);
		break;
	case KERNEL_SCTP_RX_DRY:
		kernel_sctp_settle(ka);
		break;
	case KERNEL_SCTP_RX_CLOSES:
		conn_assoc_peer_closes(ka->assoc);
		break;
	case KERNEL_SCTP_RX_CLOSED:
		kernel_sctp_over(ka, -ECONNRESET, true);
		break;
	case KERNEL_SCTP_RX_LOST:
		kernel_sctp_over(ka, kernel_sctp_meaning(ka, -sys_getsockopt_int(ka->sock.fd, SOL_SOCKET, SO_ERROR)), false);
		break;
	case KERNEL_SCTP_RX_RESTART:
		/* It does not tell what the peer indicates now: the peer may open another one. */
		conn_assoc_abort(ka->assoc, -ECONNRESET);
		break;
	case KERNEL_SCTP_RX_BROKEN:
		conn_assoc_abort(ka->assoc, -EPROTO);
		break;
	case KERNEL_SCTP_RX_NO_MEMORY:
		conn_assoc_abort(ka->assoc, -ENOMEM);
		break;
	}
}

static void on_error(struct kernel_sctp_assoc *ka, int error)
{
	if (!kernel_sctp_is_up(ka)) {
		/* Other unreachabilities may pass. */
		if (error == -ECONNREFUSED || error == -ETIMEDOUT)
			kernel_sctp_over(ka, error, false);
		return;
	}
	if (ka->probed)
		return;
	ka->probed = conn_of(ka)->now;
	ka->packets = kernel_sctp_socket_packets(ka->sock.fd);
	kernel_sctp_socket_probe_peer(ka->sock.fd);
}

/*
 * The peer has shut down, and nothing is left to read. The last event, that the association is over,
 * the kernel does not write if this side has called shutdown() behind the peer's SHUTDOWN.
 */
static void on_eof(struct kernel_sctp_assoc *ka)
{
	struct kernel_sctp_status status;

	if (kernel_sctp_socket_status(ka->sock.fd, &status)) {
		kernel_sctp_over(ka, -ECONNRESET, true);
	} else if (!ka->eof) {
		ka->eof = true;
		set_interest(ka);
	}
}

/* true: there may be more. */
static bool receive(struct conn *c, struct kernel_sctp_assoc *ka)
{
	struct mmsghdr msgs[RX_MSGS];
	struct iovec iov[RX_MSGS];
	_Alignas(struct cmsghdr) uint8_t control[RX_MSGS][64];
	uint8_t *memory = kernel_sctp_of(c)->rx_memory;
	int n;

	for (unsigned int i = 0; i < RX_MSGS; i++) {
		iov[i] = (struct iovec){memory + (size_t)i * RX_SIZE, RX_SIZE};
		msgs[i].msg_hdr = (struct msghdr){
			.msg_iov = &iov[i],
			.msg_iovlen = 1,
			.msg_control = control[i],
			.msg_controllen = sizeof(control[i]),
		};
	}
	n = sys_recvmmsg(ka->sock.fd, msgs, RX_MSGS, MSG_DONTWAIT);
	kernel_sctp_of(c)->came |= n > 0;
	if (n < 0 && n != -EAGAIN && n != -EINTR)
		on_error(ka, n);
	for (int i = 0; i < n && ka->assoc; i++) {
		struct kernel_sctp_rx_message m;

		if (!msgs[i].msg_len) {
			on_eof(ka);
			return false;
		}
		act(ka,
		    kernel_sctp_rx_take(&ka->rx, &msgs[i].msg_hdr, iov[i].iov_base, msgs[i].msg_len, &m),
		    &m);
	}
	if (n < RX_MSGS && ka->assoc)
		act(ka, kernel_sctp_rx_idle(&ka->rx), NULL);
	return n == RX_MSGS;
}

static bool receive_direct(struct conn *c, struct kernel_sctp *k)
{
	bool more = false;

	list_for_each_safe(node, &k->assocs)
		more |= receive(c, list_entry(node, struct kernel_sctp_assoc, node));
	return more;
}

static bool receive_socket(struct conn *c, struct kernel_sctp_socket *sock, uint32_t events)
{
	struct kernel_sctp_assoc *ka = sock->assoc;

	if (!ka)
		return accept_some(list_entry(sock, struct kernel_sctp_listener, sock));
	/* It went with an earlier one of this batch. */
	if (!ka->assoc)
		return false;
	if (events & EPOLLOUT) {
		kernel_sctp_set_blocked(ka, false);
		kernel_sctp_ready(ka);
	}
	return (events & ~(uint32_t)EPOLLOUT) && receive(c, ka);
}

static bool receive_ready(struct conn *c)
{
	struct epoll_event ev[EPOLL_BATCH];
	int n = sys_epoll_poll(c->net->epoll_fd, ev, EPOLL_BATCH);
	bool more = n == EPOLL_BATCH;

	kernel_sctp_of(c)->came |= n > 0;
	for (int i = 0; i < n; i++)
		more |= receive_socket(c, ev[i].data.ptr, ev[i].events);
	return more;
}

static enum conn_received kernel_sctp_receive(struct conn *c, enum conn_depth depth)
{
	struct kernel_sctp *k = kernel_sctp_of(c);
	bool more;

	k->came = false;
	if (depth == CONN_QUICK && k->n_assocs && k->n_assocs <= DIRECT_ASSOCS && !k->n_blocked &&
	    ++k->passes % DIRECT_PASSES)
		more = receive_direct(c, k);
	else
		more = receive_ready(c);
	bury(k);
	if (more)
		return CONN_MORE;
	return k->came ? CONN_SOME : CONN_STIRRED;
}

static bool kernel_sctp_events(struct conn *c)
{
	/* They come with the messages. */
	return false;
}

/* ---- the end ---- */

static void kernel_sctp_shutdown(struct conn_assoc *a)
{
	struct kernel_sctp_assoc *ka = a->state;

	/* What was pulled and waits for room is of sessions that are over. */
	ka->tx_first = ka->tx_n = 0;
	sys_shutdown(ka->sock.fd, SHUT_WR);
}

static void kernel_sctp_abort(struct conn_assoc *a)
{
	destroy(a->state);
}

/* ---- silence ---- */

static uint64_t kernel_sctp_next_timeout(const struct conn *c)
{
	const struct kernel_sctp *k = kernel_sctp_of(c);

	if (list_empty(&k->assocs) || k->next_accept < k->next_check)
		return k->next_accept;
	return k->next_check;
}

static void check(struct conn *c, struct kernel_sctp_assoc *ka)
{
	uint64_t limit = c->config->silent_limit;
	int64_t packets;

	if (!kernel_sctp_is_up(ka)) {
		if (c->now - ka->heard >= (limit < CONNECT_LIMIT ? limit : CONNECT_LIMIT))
			kernel_sctp_over(ka, -ETIMEDOUT, false);
		return;
	}
	packets = kernel_sctp_socket_packets(ka->sock.fd);
	if (packets != ka->packets) {
		ka->packets = packets;
		ka->heard = c->now;
		ka->probed = 0;
	} else if (ka->probed && c->now - ka->probed >= PROBE_LIMIT) {
		kernel_sctp_over(ka, -ECONNRESET, false);
	} else if (c->now - ka->heard >= limit) {
		kernel_sctp_over(ka, -ETIMEDOUT, false);
	}
}

static void kernel_sctp_timers(struct conn *c)
{
	struct kernel_sctp *k = kernel_sctp_of(c);

	if (c->now >= k->next_accept)
		resume_accepting(c);
	if (c->now < k->next_check)
		return;
	k->next_check = c->now + CHECK_INTERVAL;
	list_for_each_safe(node, &k->assocs)
		check(c, list_entry(node, struct kernel_sctp_assoc, node));
}

static const struct path_addr *kernel_sctp_addr(const struct conn_assoc *a)
{
	return &((const struct kernel_sctp_assoc *)a->state)->path;
}

static uint16_t kernel_sctp_remote_port(const struct conn_assoc *a)
{
	return ((const struct kernel_sctp_assoc *)a->state)->port;
}

/* Its associations' sockets have it from when they were made. */
static void kernel_sctp_set_tos(struct endpoint *ep)
{
	carrier_socket_set_tos(kernel_sctp_endpoint(ep)->own.sock.fd, ep->bound.family, ep->tos);
}

const struct transport transport_kernel_sctp = {
	.edges = true,
	.start = kernel_sctp_start,
	.stop = kernel_sctp_stop,
	.open = kernel_sctp_open,
	.close = kernel_sctp_close,
	.forget = kernel_sctp_forget,
	.set_accept = kernel_sctp_set_accept,
	.accept_at = kernel_sctp_accept_at,
	.set_tos = kernel_sctp_set_tos,
	.receive = kernel_sctp_receive,
	.events = kernel_sctp_events,
	.output = kernel_sctp_output,
	.next_timeout = kernel_sctp_next_timeout,
	.timers = kernel_sctp_timers,
	.connect = kernel_sctp_connect,
	.doorbell = kernel_sctp_doorbell,
	.acked = kernel_sctp_acked,
	.is_drained = kernel_sctp_is_drained,
	.shutdown = kernel_sctp_shutdown,
	.abort = kernel_sctp_abort,
	.addr = kernel_sctp_addr,
	.remote_port = kernel_sctp_remote_port,
};
