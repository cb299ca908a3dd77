/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The transport over the kernel's SCTP, on one-to-one sockets (RFC 6458). One socket of an endpoint
 * reserves its port, and listens if peers may connect. Each association has another socket, either
 * from accept(), or bound to the same port and connected.
 *
 * A program that accepts at one address has a listener bound to that address (accept_at). A
 * listener bound to all addresses lists all of them to the peer. The kernel allows only one
 * association between two ports for all listed addresses. Another connect() to one of these
 * addresses fails with EADDRNOTAVAIL, and another INIT counts as a restart. So if the setting
 * `paths` is not auto, an endpoint bound to all addresses has several listeners. One listener has
 * the addresses that `paths` allows to list to peers. Each of the other addresses has its own
 * listener.
 *
 * Differences between the kernel's SCTP and sctp/:
 * - The kernel does not report the number of acknowledged messages. It reports only how much memory
 * it holds for unacknowledged messages. So this transport only knows when all messages are
 * acknowledged (kernel_sctp_tx.c).
 * - The kernel decides how long it retransmits. This transport gives up a peer if no packet of the
 * peer has arrived for config.silent_limit. The kernel of a stopped process still answers.
 * - An ICMP error becomes an error of the socket if the ICMP message quotes the right verification
 * tag. Before the association is up, the error ends the attempt to connect: at once if no process
 * has the port, otherwise once a retransmitted INIT also gets an error. When the association is up,
 * a HEARTBEAT is sent after an error. The association ends if the peer does not answer within a
 * second.
 */
#ifndef SCTPIW_NET_KERNEL_SCTP_H
#define SCTPIW_NET_KERNEL_SCTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "conn/conn.h"
#include "net/kernel_sctp_rx.h"
#include "net/net.h"

extern const struct transport transport_kernel_sctp;

/* Maximum number of messages for one system call, and bytes of the buffer for them. */
#define KERNEL_SCTP_TX_MSGS 32
#define KERNEL_SCTP_TX_SIZE (128u << 10)

/*
 * The same limits for reading. Longer messages than a buffer arrive in pieces (kernel_sctp_rx.h).
 */
#define KERNEL_SCTP_RX_MSGS 8
#define KERNEL_SCTP_RX_SIZE 65536
#define KERNEL_SCTP_RX_MEMORY ((size_t)KERNEL_SCTP_RX_MSGS * KERNEL_SCTP_RX_SIZE)

/* Maximum addresses of one listener, and so of the list for a peer. sctp/ has the same limit. */
#define KERNEL_SCTP_AT_MAX 8u

/* The object to which an entry in the epoll set points. */
struct kernel_sctp_socket {
	int fd;
	struct kernel_sctp_assoc *assoc; /* NULL: the socket listens, or is a signpost */
	/* endpoint whose signpost (net/signpost.h) the socket is, or NULL */
	struct endpoint *signpost;
};

struct kernel_sctp_listener {
	struct kernel_sctp_socket sock;
	struct list_node node; /* linked in kernel_sctp_endpoint.listeners while listening */
	struct endpoint *ep;
	struct ip_addr at[KERNEL_SCTP_AT_MAX]; /* bound addresses; none: those of the endpoint */
	unsigned int n_at;
	bool told;   /* peers get a list of all these addresses */
	bool paused; /* accepts nothing until kernel_sctp.next_accept */
};

/* endpoint.state */
struct kernel_sctp_endpoint {
	struct kernel_sctp_listener own; /* reserves the port, even when not listening */
	struct list_node listeners;	 /* kernel_sctp_listener.node */
	bool apart;			 /* separate listeners for the setting `paths`; see above */
	/* signpost; fd -1 if nothing listens, or if the UDP port is taken */
	struct kernel_sctp_socket post;
};

struct kernel_sctp_msg {
	uint32_t offset, len; /* position in kernel_sctp_tx.buf */
	uint32_t ppid;
	uint16_t sid;
};

struct kernel_sctp_tx {
	struct list_node ready; /* linked in kernel_sctp.ready while there may be output */
	uint32_t pulled, acked; /* number of messages, modulo 2^32 */
	uint8_t *buf;		/* KERNEL_SCTP_TX_SIZE bytes; NULL until the association is up */
	/* msg[first] to msg[n - 1] are pulled, but not passed to the kernel yet */
	unsigned int first, n;
	struct kernel_sctp_msg msg[KERNEL_SCTP_TX_MSGS];
	bool blocked; /* the send buffer is full; waits for EPOLLOUT */
	bool hold;    /* pulls nothing until SENDER_DRY reports that all is acknowledged */
	bool ended;   /* the kernel refuses messages; the event with the reason will follow */
};

/* Detects a peer that no longer sends. */
struct kernel_sctp_silence {
	int64_t packets; /* number of the peer's packets at the last check */
	/* time of the last new packet, or of connect() or accept() before the association is up */
	uint64_t heard;
	uint64_t probed; /* time of an ICMP error that is not confirmed yet; 0: none */
};

/* conn_assoc.state. Freed at the end of a pass, since an epoll result may still refer to it. */
struct kernel_sctp_assoc {
	struct kernel_sctp_socket sock;
	struct list_node node;	  /* kernel_sctp.assocs, or kernel_sctp.dead */
	struct conn_assoc *assoc; /* NULL: dead */
	struct path_addr path;
	uint16_t port; /* port of the peer */
	bool active;   /* the local side called connect() */
	bool eof;      /* all data is read; only new events count */
	struct kernel_sctp_rx rx;
	struct kernel_sctp_tx tx;
	struct kernel_sctp_silence silence;
};

/* conn.transport_state */
struct kernel_sctp {
	struct list_node assocs, dead, ready;
	unsigned int n_assocs, n_blocked;
	unsigned int passes; /* number of passes of a poller, some of which call epoll */
	bool came;	     /* something was received in this pass */
	uint64_t next_check, next_accept;
	uint8_t *rx_memory;
};

static inline struct kernel_sctp *kernel_sctp_of(const struct conn *c)
{
	return c->transport_state;
}

static inline struct kernel_sctp_endpoint *kernel_sctp_endpoint(const struct endpoint *ep)
{
	return ep->state;
}

static inline struct conn *conn_of(const struct kernel_sctp_assoc *ka)
{
	return ka->assoc->ep->conn;
}

static inline bool kernel_sctp_is_up(const struct kernel_sctp_assoc *ka)
{
	return ka->rx.state == KERNEL_SCTP_RX_UP;
}

/* Calls epoll_ctl() with op and events (EPOLLIN and the like). Returns 0, or -errno. */
int kernel_sctp_watch(struct conn *c, struct kernel_sctp_socket *sock, int op, uint32_t events);
/*
 * Creates an association on fd, and adds fd to the epoll set. The association then owns fd. Returns
 * NULL when out of memory, or if epoll refuses fd.
 */
struct kernel_sctp_assoc *kernel_sctp_assoc_new(struct conn_assoc *a, int fd);
/* Closes the association's socket and calls conn_assoc_over(). */
void kernel_sctp_over(struct kernel_sctp_assoc *ka, int error, bool orderly);
/* Frees the associations that have ended in this pass. */
void kernel_sctp_bury(struct kernel_sctp *k);
/* Converts an error of the kernel to the error for conn_assoc_over(). */
int kernel_sctp_meaning(const struct kernel_sctp_assoc *ka, int error);

#endif
