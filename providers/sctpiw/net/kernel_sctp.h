/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The transport that is the kernel's SCTP, on one-to-one sockets (RFC 6458). An endpoint holds its
 * port by a socket of its own, which listens when peers may connect; each association has one more,
 * from accept(), or bound to the same port and connected.
 *
 * What accepts at one address has a listener bound to that (accept_at). One that is bound to all of
 * them lists all of them to the peer, and between two ports the kernel has a single association for
 * what was listed: connect() to another of these addresses says EADDRNOTAVAIL, and an INIT to another
 * one is a restart. If the setting `paths` is not auto, an endpoint that is bound to all addresses has one
 * listener for those that peers may be told of, and one for each of the others.
 *
 * What the kernel does not do the way sctp/ does:
 * - It does not tell how many messages are acknowledged, but holds their memory until they are: "all"
 *   can be told from "not all" (kernel_sctp_tx.c).
 * - It retransmits for as long as it likes; here, a peer is lost when no packet of it has come for
 *   config.silent_limit. The peer's kernel may answer for a process that is stopped.
 * - An ICMP error is told as the socket's error, once the kernel has found the tag in it. Before the
 *   association is up it ends the attempt: at once if nobody has the port, else when the INIT that T1
 *   sends has an error, too. Later it is a hint, and a HEARTBEAT that is not answered within a second
 *   confirms it.
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

/* Messages that are pulled for one system call, and the room for them, bytes. */
#define KERNEL_SCTP_TX_MSGS 32
#define KERNEL_SCTP_TX_SIZE (128u << 10)

/* The same for reading. A message longer than a buffer comes in pieces (kernel_sctp_rx.h). */
#define KERNEL_SCTP_RX_MSGS 8
#define KERNEL_SCTP_RX_SIZE 65536
#define KERNEL_SCTP_RX_MEMORY ((size_t)KERNEL_SCTP_RX_MSGS * KERNEL_SCTP_RX_SIZE)

/* Addresses of a listener, and those that a peer is told of, at most: as many as our own SCTP tells of. */
#define KERNEL_SCTP_AT_MAX 8u

/* What entries of the epoll set point to. */
struct kernel_sctp_socket {
	int fd;
	struct kernel_sctp_assoc *assoc; /* whose socket it is; NULL: a listener's, or a signpost */
	struct endpoint *signpost;	 /* whose signpost it is (signpost.h), or NULL */
};

struct kernel_sctp_listener {
	struct kernel_sctp_socket sock;
	struct list_node node; /* kernel_sctp_endpoint.listeners, while it listens */
	struct endpoint *ep;
	struct ip_addr at[KERNEL_SCTP_AT_MAX]; /* what it is bound to; none: as the endpoint is */
	unsigned int n_at;
	bool told;   /* peers of one of these addresses are told of all of them */
	bool paused; /* nothing is accepted before kernel_sctp.next_accept */
};

/* endpoint.state */
struct kernel_sctp_endpoint {
	struct kernel_sctp_listener own; /* holds the port, whether it listens or not */
	struct list_node listeners;	 /* kernel_sctp_listener.node */
	bool apart; /* it accepts at all addresses by listeners for some of them each */
	struct kernel_sctp_socket
		post; /* fd -1: nobody listens, or something else has the UDP port */
};

struct kernel_sctp_msg {
	uint32_t offset, len; /* in kernel_sctp_tx.buf */
	uint32_t ppid;
	uint16_t sid;
};

/* Output of an association. */
struct kernel_sctp_tx {
	struct list_node ready; /* kernel_sctp.ready: it may have something to send */
	uint32_t pulled, acked; /* messages, modulo 2^32 */
	uint8_t *buf;		/* KERNEL_SCTP_TX_SIZE bytes, once the association is up */
	unsigned int first, n;	/* of msg[]: pulled, and not taken by the kernel yet */
	struct kernel_sctp_msg msg[KERNEL_SCTP_TX_MSGS];
	bool blocked; /* the socket's buffer is full: EPOLLOUT is awaited */
	bool hold;  /* nothing is pulled until all is acknowledged: a SENDER_DRY event is awaited */
	bool ended; /* the kernel takes no more: an event that says why is awaited */
};

/* Whether the peer still is there. */
struct kernel_sctp_silence {
	int64_t packets; /* of the peer, when they were counted last */
	uint64_t heard; /* when there were new ones; before the association is up: when it was opened */
	uint64_t probed; /* since when an ICMP error is unconfirmed; 0: there is none */
};

/* conn_assoc.state. It is freed at the end of a pass, since epoll may have named it already. */
struct kernel_sctp_assoc {
	struct kernel_sctp_socket sock;
	struct list_node node;	  /* kernel_sctp.assocs, or kernel_sctp.dead */
	struct conn_assoc *assoc; /* NULL: dead */
	struct path_addr path;
	uint16_t port; /* the peer's */
	bool active;   /* this side opened it */
	bool eof;      /* nothing but events is left to read, and epoll tells of new ones only */
	struct kernel_sctp_rx rx;
	struct kernel_sctp_tx tx;
	struct kernel_sctp_silence silence;
};

/* conn.transport_state */
struct kernel_sctp {
	struct list_node assocs, dead, ready;
	unsigned int n_assocs, n_blocked;
	unsigned int passes; /* of a poller, to ask epoll in some of them */
	bool came;	     /* something came in this pass */
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

/* epoll_ctl() for a socket; events: EPOLLIN and the like. -errno. */
int kernel_sctp_watch(struct conn *c, struct kernel_sctp_socket *sock, int op, uint32_t events);
/* A new association on fd, which is closed with it; watched. NULL: out of memory or watches. */
struct kernel_sctp_assoc *kernel_sctp_assoc_new(struct conn_assoc *a, int fd);
/* Closes its socket and reports its end, as conn_assoc_over(). */
void kernel_sctp_over(struct kernel_sctp_assoc *ka, int error, bool orderly);
/* Frees the associations that ended in this pass. */
void kernel_sctp_bury(struct kernel_sctp *k);
/* What the kernel's error means in the words of conn_assoc_over(). */
int kernel_sctp_meaning(const struct kernel_sctp_assoc *ka, int error);

#endif
