/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/kernel_sctp_in.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>

#include "net/kernel_sctp.h"
#include "net/kernel_sctp_port.h"
#include "net/kernel_sctp_socket.h"
#include "net/kernel_sctp_tx.h"
#include "net/signpost.h"
#include "sys/sys.h"

#define EPOLL_BATCH 16
/*
 * With few associations, a poller reads their sockets, and calls epoll in 1 of DIRECT_PASSES
 * passes.
 */
#define DIRECT_ASSOCS 2
#define DIRECT_PASSES 16
/* ns. Errors at least this far apart are about different INITs. */
#define ANOTHER_INIT (500 * NSEC_PER_MSEC)

static void set_interest(struct kernel_sctp_assoc *ka)
{
	/* After the end of the data the socket stays readable. Then wake only for new events. */
	kernel_sctp_watch(conn_of(ka), &ka->sock, EPOLL_CTL_MOD,
			  EPOLLIN | (ka->eof ? EPOLLET : 0u) | (ka->tx.blocked ? EPOLLOUT : 0u));
}

void kernel_sctp_set_blocked(struct kernel_sctp_assoc *ka, bool blocked)
{
	struct kernel_sctp *k = kernel_sctp_of(conn_of(ka));

	if (ka->tx.blocked == blocked)
		return;
	ka->tx.blocked = blocked;
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
	ka->tx.buf = malloc(KERNEL_SCTP_TX_SIZE);
	if (!ka->tx.buf) {
		conn_assoc_abort(a, -ENOMEM);
		return;
	}
	ka->silence.heard = conn_of(ka)->now;
	ka->silence.probed = 0;
	if (status.max_msg > KERNEL_SCTP_RX_SIZE - 1)
		status.max_msg = KERNEL_SCTP_RX_SIZE - 1;
	conn_assoc_up(a, ka->active, status.streams, status.max_msg);
}

static void on_message(struct kernel_sctp_assoc *ka, const struct kernel_sctp_rx_message *m)
{
	struct conn_assoc *a = ka->assoc;

	a->ep->conn->traffic.packets_in++;
	a->ep->conn->traffic.bytes_in += m->len;
	/* An association that is closing has no session that could receive the message. */
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
		kernel_sctp_over(ka,
				 kernel_sctp_meaning(ka, -sys_getsockopt_int(ka->sock.fd,
									     SOL_SOCKET, SO_ERROR)),
				 false);
		break;
	case KERNEL_SCTP_RX_RESTART:
		/*
		 * The kernel does not report the new adaptation indication, so the association
		 * cannot be used. The peer may connect again.
		 */
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

/*
 * True if this error is about a later INIT than the first error. T1 is so long that the time
 * between two errors distinguishes them.
 */
static bool is_confirmed(struct kernel_sctp_assoc *ka)
{
	uint64_t now = conn_of(ka)->now;

	if (!ka->silence.probed)
		ka->silence.probed = now;
	return now - ka->silence.probed >= ANOTHER_INIT;
}

static void on_error(struct kernel_sctp_assoc *ka, int error)
{
	if (!kernel_sctp_is_up(ka)) {
		/*
		 * Other errors may come from a router or firewall. A second one must confirm them.
		 */
		if (error == -ECONNREFUSED || error == -ETIMEDOUT || is_confirmed(ka))
			kernel_sctp_over(ka, error, false);
		return;
	}
	if (ka->silence.probed)
		return;
	ka->silence.probed = conn_of(ka)->now;
	ka->silence.packets = kernel_sctp_socket_packets(ka->sock.fd);
	kernel_sctp_socket_probe_peer(ka->sock.fd);
}

/*
 * Handles the end of the data after the peer's shutdown. If this side calls shutdown() after the
 * peer's SHUTDOWN has arrived, the kernel does not report the end of the association.
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

/* Returns true if more may be waiting in the socket. */
static bool receive(struct conn *c, struct kernel_sctp_assoc *ka)
{
	struct mmsghdr msgs[KERNEL_SCTP_RX_MSGS];
	struct iovec iov[KERNEL_SCTP_RX_MSGS];
	_Alignas(struct cmsghdr) uint8_t control[KERNEL_SCTP_RX_MSGS][64];
	uint8_t *memory = kernel_sctp_of(c)->rx_memory;
	int n;

	for (unsigned int i = 0; i < KERNEL_SCTP_RX_MSGS; i++) {
		iov[i] = (struct iovec){ memory + (size_t)i * KERNEL_SCTP_RX_SIZE,
					 KERNEL_SCTP_RX_SIZE };
		msgs[i].msg_hdr = (struct msghdr){
			.msg_iov = &iov[i],
			.msg_iovlen = 1,
			.msg_control = control[i],
			.msg_controllen = sizeof(control[i]),
		};
	}
	n = sys_recvmmsg(ka->sock.fd, msgs, KERNEL_SCTP_RX_MSGS, MSG_DONTWAIT);
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
		    kernel_sctp_rx_take(&ka->rx, &msgs[i].msg_hdr, iov[i].iov_base, msgs[i].msg_len,
					&m),
		    &m);
	}
	if (n < KERNEL_SCTP_RX_MSGS && ka->assoc)
		act(ka, kernel_sctp_rx_idle(&ka->rx), NULL);
	return n == KERNEL_SCTP_RX_MSGS;
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

	if (sock->signpost) {
		signpost_answer(sock->signpost, sock->fd);
		return false;
	}
	if (!ka)
		return kernel_sctp_accept_some(list_entry(sock, struct kernel_sctp_listener, sock));
	/* An earlier entry of this batch of epoll events has ended the association. */
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

enum conn_received kernel_sctp_receive(struct conn *c, enum conn_depth depth)
{
	struct kernel_sctp *k = kernel_sctp_of(c);
	bool more;

	k->came = false;
	if (depth == CONN_QUICK && k->n_assocs && k->n_assocs <= DIRECT_ASSOCS && !k->n_blocked &&
	    ++k->passes % DIRECT_PASSES)
		more = receive_direct(c, k);
	else
		more = receive_ready(c);
	kernel_sctp_bury(k);
	if (more)
		return CONN_MORE;
	return k->came ? CONN_SOME : CONN_STIRRED;
}
