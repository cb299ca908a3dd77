/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/kernel_sctp_tx.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/sctp.h>
#include <string.h>

#include "net/kernel_sctp.h"
#include "net/kernel_sctp_in.h"
#include "net/kernel_sctp_socket.h"
#include "sys/sys.h"

/* Maximum calls that send messages of one association before the next association's turn. */
#define OUTPUT_TURN 8

/*
 * RFC 5043 5.2 limits the unacknowledged DDP-SSNs of a stream to 32,767. Here the limit is applied
 * to all messages of the association together.
 */
#define UNACKED_MAX 32000u

/* ---- acknowledgements ---- */

void kernel_sctp_ready(struct kernel_sctp_assoc *ka)
{
	if (!list_linked(&ka->tx.ready))
		list_add_tail(&kernel_sctp_of(conn_of(ka))->ready, &ka->tx.ready);
}

static bool has_pending(const struct kernel_sctp_assoc *ka)
{
	return ka->tx.first < ka->tx.n;
}

static bool all_acked(const struct kernel_sctp_assoc *ka)
{
	return ka->tx.acked == ka->tx.pulled ||
	       (!has_pending(ka) && kernel_sctp_socket_unacked(ka->sock.fd) == 0);
}

void kernel_sctp_settle(struct kernel_sctp_assoc *ka)
{
	if (!all_acked(ka))
		return;
	ka->tx.acked = ka->tx.pulled;
	if (ka->tx.hold) {
		ka->tx.hold = false;
		kernel_sctp_socket_want_dry(ka->sock.fd, false);
		kernel_sctp_ready(ka);
	}
}

/*
 * Makes a pause in the output: pulls no message until all messages are acknowledged. Without a
 * pause, the state "all messages are acknowledged" might never occur.
 */
static void hold_until_acked(struct kernel_sctp_assoc *ka)
{
	kernel_sctp_settle(ka);
	if (ka->tx.acked == ka->tx.pulled || ka->tx.hold)
		return;
	ka->tx.hold = true;
	kernel_sctp_socket_want_dry(ka->sock.fd, true);
}

uint32_t kernel_sctp_acked(struct conn_assoc *a)
{
	struct kernel_sctp_assoc *ka = a->state;

	hold_until_acked(ka);
	return ka->tx.acked;
}

bool kernel_sctp_is_drained(const struct conn_assoc *a)
{
	const struct kernel_sctp_assoc *ka = a->state;

	return !kernel_sctp_is_up(ka) || all_acked(ka);
}

/* ---- output ---- */

/* iovec and control data of one message for sendmsg(). */
struct outgoing {
	struct iovec iov;
	union {
		struct cmsghdr align;
		uint8_t bytes[CMSG_SPACE(sizeof(struct sctp_sndinfo))];
	} control;
};

static void prepare(const struct kernel_sctp_assoc *ka, const struct kernel_sctp_msg *m,
		    struct outgoing *out, struct msghdr *msg)
{
	struct sctp_sndinfo info = {
		.snd_sid = m->sid,
		.snd_flags = SCTP_UNORDERED,
		.snd_ppid = htonl(m->ppid),
	};
	struct cmsghdr *c = &out->control.align;

	out->iov = (struct iovec){ ka->tx.buf + m->offset, m->len };
	*msg = (struct msghdr){
		.msg_iov = &out->iov,
		.msg_iovlen = 1,
		.msg_control = c,
		.msg_controllen = sizeof(out->control),
	};
	memset(&out->control, 0, sizeof(out->control));
	c->cmsg_level = IPPROTO_SCTP;
	c->cmsg_type = SCTP_SNDINFO;
	c->cmsg_len = CMSG_LEN(sizeof(info));
	memcpy(CMSG_DATA(c), &info, sizeof(info));
}

/* Sends a message in fragments. The path's MTU has decreased since the message was pulled. */
static int send_too_long(struct kernel_sctp_assoc *ka, const struct msghdr *msg)
{
	struct kernel_sctp_status status;
	ssize_t ret;

	kernel_sctp_socket_allow_fragments(ka->sock.fd, true);
	ret = sys_sendmsg(ka->sock.fd, msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	kernel_sctp_socket_allow_fragments(ka->sock.fd, false);
	if (!kernel_sctp_socket_status(ka->sock.fd, &status))
		conn_assoc_set_max_msg(ka->assoc, status.max_msg);
	return ret < 0 ? (int)ret : 1;
}

/*
 * Returns the number of messages for the next call. Short messages are held in the kernel with
 * MSG_MORE, to be bundled in packets. The last message is sent in a separate call without MSG_MORE,
 * which sends the held messages.
 */
static unsigned int next_call(const struct kernel_sctp_assoc *ka, int *flags)
{
	unsigned int n = ka->tx.n - ka->tx.first;

	*flags = MSG_DONTWAIT | MSG_NOSIGNAL;
	if (n == 1 || ka->tx.msg[ka->tx.first].len > ka->assoc->max_msg / 2)
		return n;
	*flags |= MSG_MORE;
	return n - 1;
}

/* Passes messages to the kernel. Returns 0, -EAGAIN if the send buffer is full, or -errno. */
static int hand_over(struct kernel_sctp_assoc *ka)
{
	struct mmsghdr msgs[KERNEL_SCTP_TX_MSGS];
	struct outgoing out[KERNEL_SCTP_TX_MSGS];

	for (unsigned int i = ka->tx.first; i < ka->tx.n; i++)
		prepare(ka, &ka->tx.msg[i], &out[i], &msgs[i].msg_hdr);
	while (has_pending(ka)) {
		int flags, n;

		n = (int)next_call(ka, &flags);
		n = sys_sendmmsg(ka->sock.fd, msgs + ka->tx.first, (unsigned int)n, flags);
		if (n == -EMSGSIZE)
			n = send_too_long(ka, &msgs[ka->tx.first].msg_hdr);
		if (n == -ENOBUFS || n == -ENOMEM)
			n = -EAGAIN;
		if (n < 0)
			return n;
		ka->tx.first += (unsigned int)n;
	}
	ka->tx.first = ka->tx.n = 0;
	return 0;
}

static bool may_pull(struct kernel_sctp_assoc *ka)
{
	if (ka->tx.hold || ka->tx.ended || !ka->assoc->iw || ka->assoc->closing)
		return false;
	if (ka->tx.pulled - ka->tx.acked >= UNACKED_MAX)
		hold_until_acked(ka);
	return !ka->tx.hold;
}

static bool pull_some(struct kernel_sctp_assoc *ka)
{
	const struct conn_assoc *a = ka->assoc;
	uint32_t offset = 0;

	while (ka->tx.n < KERNEL_SCTP_TX_MSGS && KERNEL_SCTP_TX_SIZE - offset >= a->max_msg &&
	       may_pull(ka)) {
		struct kernel_sctp_msg *m = &ka->tx.msg[ka->tx.n];
		struct iw_msg info = { .may_reference = false };
		size_t len = iw_assoc_pull(a->iw, ka->tx.buf + offset, KERNEL_SCTP_TX_SIZE - offset,
					   &info);

		if (!len)
			break;
		*m = (struct kernel_sctp_msg){
			.offset = offset,
			.len = (uint32_t)len,
			.sid = info.sid,
			.ppid = info.ppid,
		};
		a->ep->conn->traffic.packets_out++;
		a->ep->conn->traffic.bytes_out += len;
		offset += (uint32_t)len;
		ka->tx.n++;
		ka->tx.pulled++;
	}
	return has_pending(ka);
}

/*
 * Handles a failed send. The kernel refuses messages once a SHUTDOWN or an ABORT of the peer has
 * arrived. The event about this is read later, after the peer's earlier messages. The pulled
 * messages are dropped, since their sessions have ended.
 */
static void send_failed(struct kernel_sctp_assoc *ka, int error)
{
	struct kernel_sctp_status status;

	if (!kernel_sctp_socket_status(ka->sock.fd, &status) && status.established) {
		kernel_sctp_over(ka, kernel_sctp_meaning(ka, error), false);
		return;
	}
	ka->tx.first = ka->tx.n = 0;
	ka->tx.ended = true;
}

static void output_assoc(struct kernel_sctp_assoc *ka)
{
	int ret;

	if (!kernel_sctp_is_up(ka) || ka->tx.blocked)
		return;
	for (int i = 0; i < OUTPUT_TURN; i++) {
		if (!has_pending(ka) && !pull_some(ka))
			return;
		ret = hand_over(ka);
		if (ret == -EAGAIN) {
			ka->assoc->ep->conn->traffic.waits++;
			kernel_sctp_set_blocked(ka, true);
			return;
		}
		if (ret) {
			send_failed(ka, ret);
			return;
		}
	}
	kernel_sctp_ready(ka);
}

bool kernel_sctp_output(struct conn *c)
{
	struct kernel_sctp *k = kernel_sctp_of(c);
	struct list_node *node;
	bool any = false;

	while ((node = list_pop(&k->ready))) {
		output_assoc(list_entry(node, struct kernel_sctp_assoc, tx.ready));
		any = true;
	}
	return any;
}

void kernel_sctp_doorbell(struct conn_assoc *a)
{
	kernel_sctp_ready(a->state);
}
