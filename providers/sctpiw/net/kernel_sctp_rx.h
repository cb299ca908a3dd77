/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Parses data from a socket of the kernel's SCTP: notifications (RFC 6458 section 6) and messages.
 * Joins messages that arrive in pieces. Makes no system calls. Shard lock.
 */
#ifndef SCTPIW_NET_KERNEL_SCTP_RX_H
#define SCTPIW_NET_KERNEL_SCTP_RX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Maximum bytes of a message. A DDP segment has at most 64 KiB. */
#define KERNEL_SCTP_RX_MESSAGE (128u << 10)

struct kernel_sctp_rx {
	enum {
		KERNEL_SCTP_RX_CONNECTING,
		/* the next event must be the peer's adaptation indication */
		KERNEL_SCTP_RX_COMM_UP,
		KERNEL_SCTP_RX_UP,
	} state;
	uint8_t *part; /* KERNEL_SCTP_RX_MESSAGE bytes; NULL until a message arrives in pieces */
	size_t part_len;
};

enum kernel_sctp_rx_verdict {
	KERNEL_SCTP_RX_NOTHING,
	KERNEL_SCTP_RX_ESTABLISHED, /* the peer's adaptation indication is 1 (RFC 5043 4.1) */
	KERNEL_SCTP_RX_GOT_MESSAGE,
	KERNEL_SCTP_RX_DRY,    /* when this event was created, all messages were acknowledged */
	KERNEL_SCTP_RX_CLOSES, /* the peer has started a shutdown */
	KERNEL_SCTP_RX_CLOSED, /* the shutdown is complete */
	KERNEL_SCTP_RX_LOST,   /* the association failed; the socket's error is the reason */
	KERNEL_SCTP_RX_RESTART,
	KERNEL_SCTP_RX_BROKEN, /* wrong or missing adaptation indication, or too long a message */
	KERNEL_SCTP_RX_NO_MEMORY,
};

struct kernel_sctp_rx_message {
	uint16_t sid;
	uint32_t ppid;	     /* host order */
	const uint8_t *data; /* valid until the next call of kernel_sctp_rx_take() */
	size_t len;
};

/*
 * Handles the len bytes at data that one recvmsg() returned. msg has the flags and control data of
 * that call, including struct sctp_rcvinfo. Returns KERNEL_SCTP_RX_GOT_MESSAGE with the message in
 * *out, or another verdict.
 */
enum kernel_sctp_rx_verdict kernel_sctp_rx_take(struct kernel_sctp_rx *rx, struct msghdr *msg,
						const uint8_t *data, size_t len,
						struct kernel_sctp_rx_message *out);
/*
 * Call this when the socket is empty. Returns KERNEL_SCTP_RX_BROKEN if the association is up but
 * the peer's adaptation indication, which should arrive at the same time, is missing. Otherwise
 * returns KERNEL_SCTP_RX_NOTHING.
 */
enum kernel_sctp_rx_verdict kernel_sctp_rx_idle(const struct kernel_sctp_rx *rx);
void kernel_sctp_rx_clear(struct kernel_sctp_rx *rx);

#endif
