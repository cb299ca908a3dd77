/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/kernel_sctp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "config/config.h"
#include "net/kernel_sctp_in.h"
#include "net/kernel_sctp_port.h"
#include "net/kernel_sctp_socket.h"
#include "net/kernel_sctp_tx.h"
#include "net/carrier_socket.h"
#include "sys/sys.h"
#include "util/alloc.h"

#define CONNECT_LIMIT (30 * NSEC_PER_SEC)
#define CHECK_INTERVAL (NSEC_PER_SEC / 2)
#define PROBE_LIMIT NSEC_PER_SEC

static int kernel_sctp_start(struct conn *c, struct config_error *why)
{
	struct kernel_sctp *k;
	int ret = kernel_sctp_socket_probe();

	if (ret) {
		snprintf(why->text, sizeof(why->text), "llp = kernel, but %s, or take udp or ip",
			 ret == -EPROTONOSUPPORT || ret == -ESOCKTNOSUPPORT ?
				 "this kernel has no SCTP: load it (modprobe sctp)" :
				 "this kernel does not permit the use of its SCTP");
		return ret;
	}
	k = calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	/* The kernel allocates each page when it is first written. */
	k->rx_memory = alloc_lines_unset(KERNEL_SCTP_RX_MEMORY);
	if (!k->rx_memory) {
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

	free(k->rx_memory);
	free(k);
	c->transport_state = NULL;
}

/* ---- associations ---- */

int kernel_sctp_watch(struct conn *c, struct kernel_sctp_socket *sock, int op, uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = sock };

	return sys_epoll_ctl(c->net->epoll_fd, op, sock->fd, &ev);
}

struct kernel_sctp_assoc *kernel_sctp_assoc_new(struct conn_assoc *a, int fd)
{
	struct conn *c = a->ep->conn;
	struct kernel_sctp *k = kernel_sctp_of(c);
	struct kernel_sctp_assoc *ka = calloc(1, sizeof(*ka));

	if (!ka)
		return NULL;
	ka->sock.fd = fd;
	ka->sock.assoc = ka;
	ka->assoc = a;
	ka->silence.heard = c->now;
	list_init(&ka->tx.ready);
	if (kernel_sctp_watch(c, &ka->sock, EPOLL_CTL_ADD, EPOLLIN)) {
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

/* Closes the socket. The kernel sends an ABORT if the association has not ended yet. */
static void destroy(struct kernel_sctp_assoc *ka)
{
	struct conn *c = conn_of(ka);
	struct kernel_sctp *k = kernel_sctp_of(c);

	sys_epoll_ctl(c->net->epoll_fd, EPOLL_CTL_DEL, ka->sock.fd, NULL);
	sys_close(ka->sock.fd);
	ka->sock.fd = -1;
	if (ka->tx.blocked)
		k->n_blocked--;
	k->n_assocs--;
	ka->assoc->state = NULL;
	ka->assoc = NULL;
	list_del(&ka->tx.ready);
	list_del(&ka->node);
	list_add_tail(&k->dead, &ka->node);
	kernel_sctp_rx_clear(&ka->rx);
	free(ka->tx.buf);
	ka->tx.buf = NULL;
}

void kernel_sctp_bury(struct kernel_sctp *k)
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

/* ---- the end ---- */

static void kernel_sctp_shutdown(struct conn_assoc *a)
{
	struct kernel_sctp_assoc *ka = a->state;

	/* Messages that still wait for the send buffer belong to sessions that have ended. */
	ka->tx.first = ka->tx.n = 0;
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
		if (c->now - ka->silence.heard >= (limit < CONNECT_LIMIT ? limit : CONNECT_LIMIT))
			kernel_sctp_over(ka, -ETIMEDOUT, false);
		return;
	}
	packets = kernel_sctp_socket_packets(ka->sock.fd);
	if (packets != ka->silence.packets) {
		ka->silence.packets = packets;
		ka->silence.heard = c->now;
		ka->silence.probed = 0;
	} else if (ka->silence.probed && c->now - ka->silence.probed >= PROBE_LIMIT) {
		kernel_sctp_over(ka, -ECONNRESET, false);
	} else if (c->now - ka->silence.heard >= limit) {
		kernel_sctp_over(ka, -ETIMEDOUT, false);
	}
}

static void kernel_sctp_timers(struct conn *c)
{
	struct kernel_sctp *k = kernel_sctp_of(c);

	if (c->now >= k->next_accept)
		kernel_sctp_resume(c);
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

static void kernel_sctp_inspect(const struct conn_assoc *a, struct sctp_assoc_info *info)
{
	const struct kernel_sctp_assoc *ka = a->state;

	kernel_sctp_socket_inspect(ka->sock.fd, info);
}

static unsigned int kernel_sctp_inspect_paths(const struct conn_assoc *a,
					      struct sctp_path_info *info)
{
	const struct kernel_sctp_assoc *ka = a->state;

	return kernel_sctp_socket_inspect_paths(ka->sock.fd, info);
}

/* Sets the TOS only for the endpoint's socket: each association's socket has its TOS already. */
static void kernel_sctp_set_tos(struct endpoint *ep)
{
	carrier_socket_set_tos(kernel_sctp_endpoint(ep)->own.sock.fd, ep->bound.family, ep->tos);
}

static bool kernel_sctp_events(struct conn *c)
{
	/* receive() also reads events, which arrive together with messages. */
	return false;
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
	.readdress = kernel_sctp_readdress,
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
	.inspect = kernel_sctp_inspect,
	.inspect_paths = kernel_sctp_inspect_paths,
};
