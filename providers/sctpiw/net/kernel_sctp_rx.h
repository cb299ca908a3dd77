/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Parses input from a socket of the kernel's SCTP: notifications (RFC 6458 section 6) and pieces of
 * messages, which are joined. No system calls. Shard lock.
 */
#ifndef SCTPIW_NET_KERNEL_SCTP_RX_H
#define SCTPIW_NET_KERNEL_SCTP_RX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Maximum bytes of a message. A DDP segment has 64 KiB at most. */
#define KERNEL_SCTP_RX_MESSAGE (128u << 10)

struct kernel_sctp_rx {
	enum {
		KERNEL_SCTP_RX_CONNECTING,
		KERNEL_SCTP_RX_COMM_UP, /* the peer's adaptation indication must come next */
		KERNEL_SCTP_RX_UP,
	} state;
	uint8_t *part; /* KERNEL_SCTP_RX_MESSAGE bytes; NULL before the first message in pieces */
	size_t part_len;
};

enum kernel_sctp_rx_verdict {
	KERNEL_SCTP_RX_NOTHING,
	KERNEL_SCTP_RX_ESTABLISHED, /* the peer's adaptation indication is 1 (RFC 5043 4.1) */
	KERNEL_SCTP_RX_GOT_MESSAGE,
	KERNEL_SCTP_RX_DRY,    /* all output was acknowledged when the kernel wrote this */
	KERNEL_SCTP_RX_CLOSES, /* the peer shuts down */
	KERNEL_SCTP_RX_CLOSED, /* the shutdown is complete */
	KERNEL_SCTP_RX_LOST,   /* the socket's error is the reason */
	KERNEL_SCTP_RX_RESTART,
	KERNEL_SCTP_RX_BROKEN, /* wrong or no adaptation indication, or a message too long */
	KERNEL_SCTP_RX_NO_MEMORY,
};

struct kernel_sctp_rx_message {
	uint16_t sid;
	uint32_t ppid;	     /* host order */
	const uint8_t *data; /* valid until the next call */
	size_t len;
};

/*
 * Takes the len bytes at data from one recvmsg(). msg has its flags and control data, with struct
 * sctp_rcvinfo. Fills in out for KERNEL_SCTP_RX_GOT_MESSAGE.
 */
enum kernel_sctp_rx_verdict kernel_sctp_rx_take(struct kernel_sctp_rx *rx, struct msghdr *msg,
						const uint8_t *data, size_t len,
						struct kernel_sctp_rx_message *out);
/*
 * Call this when nothing more can be read. Returns KERNEL_SCTP_RX_BROKEN if the association is up,
 * but the peer's adaptation indication, which comes at the same time, is missing. Otherwise returns
 * KERNEL_SCTP_RX_NOTHING.
 */
enum kernel_sctp_rx_verdict kernel_sctp_rx_idle(const struct kernel_sctp_rx *rx);
void kernel_sctp_rx_clear(struct kernel_sctp_rx *rx);

#endif
