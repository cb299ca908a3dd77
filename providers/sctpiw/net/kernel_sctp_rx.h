/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Takes apart what a socket of the kernel's SCTP gives to read, which is notifications (RFC 6458 section 6) and
 * pieces of messages, and puts the pieces together. No system calls. Shard lock.
 */
#ifndef SCTPIW_NET_KERNEL_SCTP_RX_H
#define SCTPIW_NET_KERNEL_SCTP_RX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* The longest message that is taken, bytes. A DDP segment has 64 KiB at most. */
#define KERNEL_SCTP_RX_MESSAGE (128u << 10)

struct kernel_sctp_rx {
	enum {
		KERNEL_SCTP_RX_CONNECTING,
		KERNEL_SCTP_RX_COMM_UP, /* the peer's adaptation indication must be the next thing */
		KERNEL_SCTP_RX_UP,
	} state;
	uint8_t *part; /* KERNEL_SCTP_RX_MESSAGE bytes, while a message comes in pieces; else NULL */
	size_t part_len;
};

enum kernel_sctp_rx_verdict {
	KERNEL_SCTP_RX_NOTHING,
	KERNEL_SCTP_RX_ESTABLISHED, /* and the peer's adaptation indication is 1 (RFC 5043 4.1) */
	KERNEL_SCTP_RX_GOT_MESSAGE,
	KERNEL_SCTP_RX_DRY,    /* all that was sent was acknowledged when the kernel wrote this */
	KERNEL_SCTP_RX_CLOSES, /* the peer shuts down */
	KERNEL_SCTP_RX_CLOSED, /* the shutdown is complete */
	KERNEL_SCTP_RX_LOST,   /* the socket's error says why */
	KERNEL_SCTP_RX_RESTART,
	KERNEL_SCTP_RX_BROKEN, /* no or another adaptation indication, a message that is too long */
	KERNEL_SCTP_RX_NO_MEMORY,
};

struct kernel_sctp_rx_message {
	uint16_t sid;
	uint32_t ppid;	     /* host order */
	const uint8_t *data; /* valid until the next call */
	size_t len;
};

/*
 * Takes the len bytes at data that one recvmsg() gave; msg has its flags and control data, with struct
 * sctp_rcvinfo. out is filled for KERNEL_SCTP_RX_GOT_MESSAGE.
 */
enum kernel_sctp_rx_verdict kernel_sctp_rx_take(struct kernel_sctp_rx *rx, struct msghdr *msg,
						const uint8_t *data, size_t len,
						struct kernel_sctp_rx_message *out);
/*
 * Says that there is nothing more to read. Returns KERNEL_SCTP_RX_BROKEN if the peer has sent no adaptation
 * indication, which comes with the news that the association is up; else KERNEL_SCTP_RX_NOTHING.
 */
enum kernel_sctp_rx_verdict kernel_sctp_rx_idle(const struct kernel_sctp_rx *rx);
/* Frees what it holds. */
void kernel_sctp_rx_clear(struct kernel_sctp_rx *rx);

#endif
