/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The transport that is the kernel's SCTP, from inside: what kernel.c (endpoints, associations,
 * input) and kernel_sctp_tx.c (output, acknowledgements) share. Engine lock.
 */
#ifndef SCTPIW_NET_KERNEL_SCTP_H
#define SCTPIW_NET_KERNEL_SCTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/kernel_sctp_rx.h"
#include "conn/conn.h"
#include "net/net.h"

/* Messages that are pulled for one system call. */
#define TX_MSGS 32
#define TX_SIZE (128u << 10)

/* What epoll's entries point to. */
struct kernel_sctp_socket {
	int fd;
	struct kernel_sctp_assoc *assoc; /* whose it is; NULL: a listener's */
};

struct kernel_sctp_msg {
	uint32_t offset, len; /* in tx_buf */
	uint32_t ppid;
	uint16_t sid;
};

struct kernel_sctp_listener {
	struct kernel_sctp_socket sock;
	struct list_node node; /* kernel_sctp_endpoint.listeners, while it listens */
	struct endpoint *ep;
	struct ip_addr at; /* zero: where the endpoint is bound */
	bool paused;	   /* nobody is accepted before kernel.next_accept */
};

/* endpoint.state */
struct kernel_sctp_endpoint {
	struct kernel_sctp_listener own; /* has the port, whether it listens or not */
	struct list_node listeners;
};

/* assoc.state. Freed at the end of a pass, since epoll may have named it already. */
struct kernel_sctp_assoc {
	struct kernel_sctp_socket sock;
	struct list_node node;	/* kernel.assocs, or kernel.dead */
	struct list_node ready; /* kernel.ready */
	struct conn_assoc *assoc;	/* NULL: dead */
	struct path_addr path;
	uint16_t port;
	bool active;
	bool blocked; /* the socket's buffer is full: EPOLLOUT is awaited */
	bool hold;    /* nothing is pulled until all is acknowledged: a SENDER_DRY event is awaited */
	bool ended;   /* the kernel takes no more: an event that says why is awaited */
	bool eof;     /* there is no more to read but events: epoll tells of new ones alone */
	struct kernel_sctp_rx rx;

	uint32_t pulled, acked; /* messages */
	uint8_t *tx_buf;	/* TX_SIZE bytes, once it is up */
	unsigned int tx_first, tx_n; /* pulled and not taken by the kernel yet */
	struct kernel_sctp_msg tx[TX_MSGS];

	int64_t packets; /* of the peer, when last looked at */
	uint64_t heard;	 /* when there were new ones; before it is up: when it was opened */
	uint64_t probed; /* since when a hint is unconfirmed; 0: there is none */
};

/* conn.transport_state */
struct kernel_sctp {
	struct list_node assocs, dead, ready;
	unsigned int n_assocs, n_blocked;
	unsigned int passes;
	bool came; /* something, in this pass */
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

extern const struct transport transport_kernel_sctp;

/* ---- kernel_sctp.c ---- */

/* Closes its socket and reports its end. */
void kernel_sctp_over(struct kernel_sctp_assoc *ka, int error, bool orderly);
/* What the kernel's error means in the words of conn_assoc_over(). */
int kernel_sctp_meaning(const struct kernel_sctp_assoc *ka, int error);
/* Whether it waits until its socket takes more. */
void kernel_sctp_set_blocked(struct kernel_sctp_assoc *ka, bool blocked);

/* ---- kernel_sctp_tx.c ---- */

/* It may have something to send. */
void kernel_sctp_ready(struct kernel_sctp_assoc *ka);
/* Takes note of it when all is acknowledged, and goes on if that was waited for. */
void kernel_sctp_settle(struct kernel_sctp_assoc *ka);
/* Of struct transport. */
void kernel_sctp_output(struct conn *c);
void kernel_sctp_doorbell(struct conn_assoc *a);
uint32_t kernel_sctp_acked(struct conn_assoc *a);
bool kernel_sctp_is_drained(const struct conn_assoc *a);

#endif
