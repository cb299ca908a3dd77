/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The transport over the kernel's SCTP, on one-to-one sockets (RFC 6458). An endpoint holds its
 * port with one socket, which listens when peers may connect. Each association has another socket,
 * from accept(), or bound to the same port and connected.
 *
 * A program that accepts at one address has a listener bound to that address (accept_at). A
 * listener bound to all addresses lists all of them to the peer. Between two ports the kernel has
 * only one association for the listed addresses. connect() to another of these addresses fails with
 * EADDRNOTAVAIL, and an INIT to another one is a restart. So if the setting `paths` is not auto, an
 * endpoint bound to all addresses has several listeners. One is for the addresses that may be
 * listed to peers, and one for each of the others.
 *
 * Differences between the kernel's SCTP and sctp/:
 * - The kernel does not report the number of acknowledged messages. It holds the memory of
 *   unacknowledged ones, which shows only whether all are acknowledged (kernel_sctp_tx.c).
 * - The kernel decides how long it retransmits. Here, a peer is lost when no packet of it has come
 *   for config.silent_limit. The peer's kernel may answer for a stopped process.
 * - An ICMP error becomes the socket's error, once the kernel has found the tag in it. Before the
 *   association is up, the error ends the attempt. It does so at once if no process has the port,
 *   or else when T1's next INIT has an error, too. Later the error is a hint, and a HEARTBEAT that
 *   is not answered within a second confirms it.
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

/* Maximum messages pulled for one system call, and bytes of room for them. */
#define KERNEL_SCTP_TX_MSGS 32
#define KERNEL_SCTP_TX_SIZE (128u << 10)

/* The same for reading. A message longer than a buffer comes in pieces (kernel_sctp_rx.h). */
#define KERNEL_SCTP_RX_MSGS 8
#define KERNEL_SCTP_RX_SIZE 65536
#define KERNEL_SCTP_RX_MEMORY ((size_t)KERNEL_SCTP_RX_MSGS * KERNEL_SCTP_RX_SIZE)

/* Maximum addresses of a listener, and addresses listed to a peer, as in sctp/. */
#define KERNEL_SCTP_AT_MAX 8u

/* Target of entries in the epoll set. */
struct kernel_sctp_socket {
	int fd;
	struct kernel_sctp_assoc *assoc; /* its association; NULL: a listener, or a signpost */
	struct endpoint *signpost;	 /* endpoint of a signpost (signpost.h), or NULL */
};

struct kernel_sctp_listener {
	struct kernel_sctp_socket sock;
	struct list_node node; /* kernel_sctp_endpoint.listeners, while it listens */
	struct endpoint *ep;
	struct ip_addr at[KERNEL_SCTP_AT_MAX]; /* bound addresses; none: the endpoint's */
	unsigned int n_at;
	bool told;   /* all these addresses are listed to peers of any of them */
	bool paused; /* accepts nothing before kernel_sctp.next_accept */
};

/* endpoint.state */
struct kernel_sctp_endpoint {
	struct kernel_sctp_listener own; /* holds the port, listening or not */
	struct list_node listeners;	 /* kernel_sctp_listener.node */
	bool apart;			 /* accepts at all addresses with several listeners */
	struct kernel_sctp_socket post;	 /* fd -1: no listener, or the UDP port is taken */
};

struct kernel_sctp_msg {
	uint32_t offset, len; /* in kernel_sctp_tx.buf */
	uint32_t ppid;
	uint16_t sid;
};

struct kernel_sctp_tx {
	struct list_node ready; /* kernel_sctp.ready, while it may have output */
	uint32_t pulled, acked; /* messages, modulo 2^32 */
	uint8_t *buf;		/* KERNEL_SCTP_TX_SIZE bytes, once the association is up */
	unsigned int first, n;	/* of msg[]: pulled, but not taken by the kernel yet */
	struct kernel_sctp_msg msg[KERNEL_SCTP_TX_MSGS];
	bool blocked; /* the socket's buffer is full: waits for EPOLLOUT */
	bool hold;    /* pulls nothing until all is acknowledged: waits for SENDER_DRY */
	bool ended;   /* the kernel takes no more: waits for the event with the reason */
};

/* Signs of life of the peer. */
struct kernel_sctp_silence {
	int64_t packets; /* packets of the peer at the last count */
	uint64_t heard;	 /* last new packet; before the association is up: when it was opened */
	uint64_t probed; /* since when an ICMP error is unconfirmed; 0: none */
};

/* conn_assoc.state. It is freed at the end of a pass, since epoll may have returned it already. */
struct kernel_sctp_assoc {
	struct kernel_sctp_socket sock;
	struct list_node node;	  /* kernel_sctp.assocs, or kernel_sctp.dead */
	struct conn_assoc *assoc; /* NULL: dead */
	struct path_addr path;
	uint16_t port; /* the peer's */
	bool active;   /* this side opened it */
	bool eof;      /* only events are left to read, and epoll reports only new ones */
	struct kernel_sctp_rx rx;
	struct kernel_sctp_tx tx;
	struct kernel_sctp_silence silence;
};

/* conn.transport_state */
struct kernel_sctp {
	struct list_node assocs, dead, ready;
	unsigned int n_assocs, n_blocked;
	unsigned int passes; /* passes of a poller: some of them call epoll */
	bool came;	     /* this pass has received something */
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

/* Calls epoll_ctl() for a socket. events: EPOLLIN and the like. Returns 0, or -errno. */
int kernel_sctp_watch(struct conn *c, struct kernel_sctp_socket *sock, int op, uint32_t events);
/*
 * Creates an association on fd, which is watched, and closed with it. Returns NULL when out of
 * memory or watches.
 */
struct kernel_sctp_assoc *kernel_sctp_assoc_new(struct conn_assoc *a, int fd);
/* Closes the association's socket, and reports its end as conn_assoc_over(). */
void kernel_sctp_over(struct kernel_sctp_assoc *ka, int error, bool orderly);
/* Frees the associations that ended in this pass. */
void kernel_sctp_bury(struct kernel_sctp *k);
/* Converts an error of the kernel to one of conn_assoc_over(). */
int kernel_sctp_meaning(const struct kernel_sctp_assoc *ka, int error);

#endif
