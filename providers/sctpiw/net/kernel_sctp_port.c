/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/kernel_sctp_port.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "config/config.h"
#include "log/log.h"
#include "net/carrier_socket.h"
#include "net/kernel_sctp.h"
#include "net/kernel_sctp_socket.h"
#include "net/port.h"
#include "net/signpost.h"
#include "sys/sys.h"
#include "util/sockaddr.h"

#define BACKLOG 1024
#define ACCEPTS 16 /* maximum associations that one call accepts */
#define ACCEPT_PAUSE (NSEC_PER_SEC / 10)
#define OWN_MAX (GID_TABLE_LEN + 2) /* addresses of the host: GID table, and two of loopback */

int kernel_sctp_open(struct endpoint *ep, const struct sockaddr *addr, bool v6only)
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
	ke->post = (struct kernel_sctp_socket){ .fd = -1, .signpost = ep };
	ret = sys_bind(ke->own.sock.fd, addr, sockaddr_len(addr));
	if (!ret)
		ret = sys_getsockname(ke->own.sock.fd, &ep->bound.local);
	if (ret)
		goto err_close;
	/* Sockets of associations need the same port. A bind() of another program still fails. */
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

/* Opens the endpoint's signpost (net/signpost.h), unless the UDP port is taken. */
static void open_signpost(struct endpoint *ep)
{
	struct kernel_sctp_endpoint *ke = kernel_sctp_endpoint(ep);
	int fd;

	if (ke->post.fd >= 0)
		return;
	fd = signpost_open((struct sockaddr *)&ep->bound.local, ep->bound.v6only);
	if (fd < 0)
		return;
	ke->post.fd = fd;
	if (kernel_sctp_watch(ep->conn, &ke->post, EPOLL_CTL_ADD, EPOLLIN)) {
		sys_close(fd);
		ke->post.fd = -1;
	}
}

static void close_signpost(struct endpoint *ep)
{
	struct kernel_sctp_endpoint *ke = kernel_sctp_endpoint(ep);

	if (ke->post.fd < 0)
		return;
	kernel_sctp_watch(ep->conn, &ke->post, EPOLL_CTL_DEL, 0);
	sys_close(ke->post.fd);
	ke->post.fd = -1;
}

void kernel_sctp_close(struct endpoint *ep)
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
	close_signpost(ep);
	sys_close(ke->own.sock.fd);
	free(ke);
}

void kernel_sctp_forget(struct endpoint *ep)
{
	struct kernel_sctp_endpoint *ke = kernel_sctp_endpoint(ep);

	list_for_each(node, &ke->listeners) {
		if (listener_of(node) == &ke->own)
			continue;
		sys_close(listener_of(node)->sock.fd);
		listener_of(node)->sock.fd = -1;
	}
	sys_close(ke->own.sock.fd);
	sys_close(ke->post.fd);
	ke->own.sock.fd = ke->post.fd = -1;
	list_for_each(node, &ep->assocs) {
		struct kernel_sctp_assoc *ka = list_entry(node, struct conn_assoc, node)->state;

		if (!ka) /* the association was aborted, since the process is about to exit */
			continue;
		sys_close(ka->sock.fd);
		ka->sock.fd = -1;
	}
}

/* ---- active opening ---- */

/* Returns the listener that accepts at this address, or NULL. */
static struct kernel_sctp_listener *find_listener(const struct endpoint *ep,
						  const struct ip_addr *at)
{
	struct kernel_sctp_endpoint *ke = kernel_sctp_endpoint(ep);

	list_for_each(node, &ke->listeners) {
		struct kernel_sctp_listener *l = listener_of(node);

		if (l == &ke->own || ip_addr_is_in(at, l->at, l->n_at))
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

/*
 * Lists further local addresses to the peer, as the setting `paths` requires. Ports for QP numbers
 * have an association for each pair of addresses, so there no address but its own is listed.
 */
static void bind_further(struct endpoint *ep, int fd, const struct path_addr *to)
{
	struct ip_addr further[KERNEL_SCTP_AT_MAX - 1];
	unsigned int n;

	if (!ep->bound.wildcard || ep->block || ip_addr_is_zero(&to->local))
		return;
	n = ep->conn->ops->addresses(ep->conn, to, further, KERNEL_SCTP_AT_MAX - 1);
	for (unsigned int i = 0; i < n; i++) {
		const struct kernel_sctp_listener *l = find_listener(ep, &further[i]);
		struct sockaddr_storage addr;

		sockaddr_make(&addr, ep->bound.family, &further[i], ep->bound.port);
		kernel_sctp_socket_bind_further(fd, (struct sockaddr *)&addr, l ? l->sock.fd : -1);
	}
}

int kernel_sctp_connect(struct conn_assoc *a, const struct path_addr *to, uint16_t port)
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
	bind_further(ep, fd, to);
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

/* ---- passive opening ---- */

/*
 * Sets the local address of an accepted association. For a listener at all addresses, the kernel
 * reports the local address of the route to the peer. For a listener at several addresses, the
 * kernel reports only the first address. So this function looks up the route.
 */
static void set_passive_path(struct kernel_sctp_assoc *ka, const struct kernel_sctp_listener *l,
			     const struct sockaddr_storage *from)
{
	const struct endpoint *ep = ka->assoc->ep;
	struct sockaddr_storage local;
	struct ip_addr routed;

	ka->path.remote = sockaddr_ip((const struct sockaddr *)from);
	ka->port = sockaddr_port((const struct sockaddr *)from);
	if (sys_getsockname(ka->sock.fd, &local))
		local = ep->bound.local;
	ka->path.local = routed = sockaddr_ip((struct sockaddr *)&local);
	if (l->n_at > 1 && ep->conn->ops->source(ep->conn, &ka->path.remote, &routed) &&
	    ip_addr_is_in(&routed, l->at, l->n_at))
		ka->path.local = routed;
}

/* Without a pause, epoll would report the listener for ever while descriptors or memory lack. */
static void pause_accepting(struct kernel_sctp_listener *l)
{
	struct conn *c = l->ep->conn;
	struct kernel_sctp *k = kernel_sctp_of(c);

	kernel_sctp_watch(c, &l->sock, EPOLL_CTL_MOD, 0);
	l->paused = true;
	if (k->next_accept == TIME_NEVER)
		k->next_accept = c->now + ACCEPT_PAUSE;
}

void kernel_sctp_resume(struct conn *c)
{
	kernel_sctp_of(c)->next_accept = TIME_NEVER;
	list_for_each(ep_node, &c->endpoints.open) {
		const struct endpoint *ep = list_entry(ep_node, struct endpoint, node);

		list_for_each(node, &kernel_sctp_endpoint(ep)->listeners) {
			struct kernel_sctp_listener *l = listener_of(node);

			if (l->paused)
				kernel_sctp_watch(c, &l->sock, EPOLL_CTL_MOD, EPOLLIN);
			l->paused = false;
		}
	}
}

bool kernel_sctp_accept_some(struct kernel_sctp_listener *l)
{
	struct endpoint *ep = l->ep;

	for (int i = 0; i < ACCEPTS; i++) {
		struct sockaddr_storage from;
		struct kernel_sctp_assoc *ka;
		struct conn_assoc *a;
		int fd = kernel_sctp_socket_accept(l->sock.fd, ep->bound.family, ep->bound.v6only,
						   &from);

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
		set_passive_path(ka, l, &from);
	}
	return true;
}

static int start_listening(struct kernel_sctp_listener *l)
{
	int ret = sys_listen(l->sock.fd, BACKLOG);

	if (ret)
		return ret;
	ret = kernel_sctp_watch(l->ep->conn, &l->sock, EPOLL_CTL_ADD, EPOLLIN);
	if (ret) {
		sys_listen(l->sock.fd, 0);
		return ret;
	}
	list_add_tail(&kernel_sctp_endpoint(l->ep)->listeners, &l->node);
	open_signpost(l->ep);
	return 0;
}

/* Before it stops, accepts associations that are up already, so that their peers get a refusal. */
static void stop_listening(struct kernel_sctp_listener *l)
{
	while (kernel_sctp_accept_some(l))
		;
	kernel_sctp_watch(l->ep->conn, &l->sock, EPOLL_CTL_DEL, 0);
	list_del(&l->node);
	l->paused = false;
}

int kernel_sctp_accept_at(struct endpoint *ep, const struct ip_addr *local)
{
	struct sockaddr_storage addr;
	struct kernel_sctp_listener *l;
	int ret;

	if (find_listener(ep, local)) /* a listener for this address, or for all, exists */
		return 0;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->ep = ep;
	l->at[l->n_at++] = *local;
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

/* ---- the setting `paths`, for endpoints that accept at all addresses ---- */

/* Gets the addresses at which such an endpoint accepts, perhaps some twice. Returns the number. */
static unsigned int own_addresses(const struct endpoint *ep, struct ip_addr addr[OWN_MAX])
{
	bool v4 = ep->bound.family == AF_INET || !ep->bound.v6only;
	bool v6 = ep->bound.family == AF_INET6;
	struct sockaddr_storage lo;
	struct port_gid gid;
	unsigned int n = 0;
	int ret;

	for (unsigned int i = 0; n < OWN_MAX - 2 && (ret = port_gid(i, &gid)) != -EINVAL; i++) {
		struct ip_addr ip = sockaddr_ip((struct sockaddr *)&gid.addr);

		if (!ret && (ip_addr_is_v4(&ip) ? v4 : v6))
			addr[n++] = ip;
	}
	for (int family = AF_INET;; family = AF_INET6) {
		sockaddr_loopback(&lo, family, 0);
		if (family == AF_INET ? v4 : v6)
			addr[n++] = sockaddr_ip((struct sockaddr *)&lo);
		if (family == AF_INET6)
			return n;
	}
}

/* Returns a listener with addresses that are listed to peers and room for another, or NULL. */
static struct kernel_sctp_listener *told_with_room(const struct endpoint *ep)
{
	list_for_each(node, &kernel_sctp_endpoint(ep)->listeners) {
		struct kernel_sctp_listener *l = listener_of(node);

		if (l->told && l->n_at < KERNEL_SCTP_AT_MAX)
			return l;
	}
	return NULL;
}

static int accept_further(struct endpoint *ep, const struct ip_addr *ip)
{
	bool told = ep->conn->ops->may_tell(ep->conn, ip);
	struct kernel_sctp_listener *l = told ? told_with_room(ep) : NULL;
	struct sockaddr_storage addr;
	int ret;

	if (l) {
		sockaddr_make(&addr, ep->bound.family, ip, ep->bound.port);
		ret = kernel_sctp_socket_bind_further(l->sock.fd, (struct sockaddr *)&addr, -1);
		if (!ret)
			l->at[l->n_at++] = *ip;
		return ret;
	}
	ret = kernel_sctp_accept_at(ep, ip);
	if (!ret)
		find_listener(ep, ip)->told = told;
	return ret;
}

static void drop_listener(struct kernel_sctp_listener *l)
{
	stop_listening(l);
	sys_close(l->sock.fd);
	free(l);
}

/* Removes from the listener all addresses that are not among the n given addresses. */
static void drop_others(struct kernel_sctp_listener *l, const struct ip_addr *addr, unsigned int n)
{
	const struct endpoint *ep = l->ep;
	unsigned int kept = 0;

	for (unsigned int i = 0; i < l->n_at; i++)
		kept += ip_addr_is_in(&l->at[i], addr, n);
	if (!kept) {
		drop_listener(l);
		return;
	}
	kept = 0;
	for (unsigned int i = 0; i < l->n_at; i++) {
		struct sockaddr_storage gone;

		if (ip_addr_is_in(&l->at[i], addr, n)) {
			l->at[kept++] = l->at[i];
			continue;
		}
		sockaddr_make(&gone, ep->bound.family, &l->at[i], ep->bound.port);
		kernel_sctp_socket_unbind(l->sock.fd, (struct sockaddr *)&gone);
	}
	l->n_at = kept;
}

/* Accepts at each present address of the host. Returns -errno if all fail, otherwise 0. */
static int accept_apart(struct endpoint *ep)
{
	struct kernel_sctp_endpoint *ke = kernel_sctp_endpoint(ep);
	struct ip_addr addr[OWN_MAX];
	unsigned int n = own_addresses(ep, addr);
	int ret = 0;

	list_for_each_safe(node, &ke->listeners)
		drop_others(listener_of(node), addr, n);
	for (unsigned int i = 0; i < n; i++) {
		int error = find_listener(ep, &addr[i]) ? 0 : accept_further(ep, &addr[i]);

		if (error)
			ret = error;
	}
	return list_empty(&ke->listeners) ? ret : 0;
}

void kernel_sctp_readdress(struct endpoint *ep)
{
	if (kernel_sctp_endpoint(ep)->apart)
		accept_apart(ep);
}

int kernel_sctp_set_accept(struct endpoint *ep, bool accept)
{
	const struct config_paths *paths = &ep->conn->config->paths;
	struct kernel_sctp_endpoint *ke = kernel_sctp_endpoint(ep);
	int ret;

	if (accept == (ke->apart || list_linked(&ke->own.node)))
		return 0;
	if (accept && !(ep->bound.wildcard && (paths->off || paths->n)))
		return start_listening(&ke->own);
	if (accept) {
		ret = accept_apart(ep);
		ke->apart = !ret;
		return ret;
	}
	close_signpost(ep);
	if (!ke->apart) {
		stop_listening(&ke->own);
		return sys_listen(ke->own.sock.fd, 0);
	}
	ke->apart = false;
	list_for_each_safe(node, &ke->listeners)
		drop_listener(listener_of(node));
	return 0;
}
