/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/kernel_sctp_rx.h"

#include <arpa/inet.h>
#include <netinet/sctp.h>
#include <stdlib.h>
#include <string.h>

#define ADAPTATION_DDP 1 /* RFC 5043 4.1 */

static enum kernel_sctp_rx_verdict assoc_change(struct kernel_sctp_rx *rx, const uint8_t *data,
						size_t len)
{
	struct sctp_assoc_change change;

	if (len < sizeof(change))
		return KERNEL_SCTP_RX_NOTHING;
	memcpy(&change, data, sizeof(change));
	switch (change.sac_state) {
	case SCTP_COMM_UP:
		if (rx->state == KERNEL_SCTP_RX_CONNECTING)
			rx->state = KERNEL_SCTP_RX_COMM_UP;
		return KERNEL_SCTP_RX_NOTHING;
	case SCTP_RESTART:
		return KERNEL_SCTP_RX_RESTART;
	case SCTP_SHUTDOWN_COMP:
		return KERNEL_SCTP_RX_CLOSED;
	case SCTP_COMM_LOST:
	case SCTP_CANT_STR_ASSOC:
		return KERNEL_SCTP_RX_LOST;
	default:
		return KERNEL_SCTP_RX_NOTHING;
	}
}

static enum kernel_sctp_rx_verdict adaptation(struct kernel_sctp_rx *rx, const uint8_t *data,
					      size_t len)
{
	struct sctp_adaptation_event ev;

	if (len < sizeof(ev))
		return KERNEL_SCTP_RX_NOTHING;
	memcpy(&ev, data, sizeof(ev));
	if (ev.sai_adaptation_ind != ADAPTATION_DDP)
		return KERNEL_SCTP_RX_BROKEN;
	if (rx->state != KERNEL_SCTP_RX_COMM_UP)
		return KERNEL_SCTP_RX_NOTHING;
	rx->state = KERNEL_SCTP_RX_UP;
	return KERNEL_SCTP_RX_ESTABLISHED;
}

static enum kernel_sctp_rx_verdict notification(struct kernel_sctp_rx *rx, const uint8_t *data,
						size_t len)
{
	uint16_t type;

	if (len < sizeof(type))
		return KERNEL_SCTP_RX_NOTHING;
	memcpy(&type, data, sizeof(type));
	switch (type) {
	case SCTP_ASSOC_CHANGE:
		return assoc_change(rx, data, len);
	case SCTP_ADAPTATION_INDICATION:
		return adaptation(rx, data, len);
	case SCTP_SENDER_DRY_EVENT:
		return KERNEL_SCTP_RX_DRY;
	case SCTP_SHUTDOWN_EVENT:
		return KERNEL_SCTP_RX_CLOSES;
	case SCTP_PARTIAL_DELIVERY_EVENT:
		/* The kernel has aborted the message; its remaining pieces will not arrive. */
		rx->part_len = 0;
		return KERNEL_SCTP_RX_NOTHING;
	default:
		return KERNEL_SCTP_RX_NOTHING;
	}
}

static bool read_info(struct msghdr *msg, struct kernel_sctp_rx_message *out)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		struct sctp_rcvinfo info;

		if (c->cmsg_level != IPPROTO_SCTP || c->cmsg_type != SCTP_RCVINFO)
			continue;
		memcpy(&info, CMSG_DATA(c), sizeof(info));
		out->sid = info.rcv_sid;
		out->ppid = ntohl(info.rcv_ppid);
		return true;
	}
	return false;
}

static enum kernel_sctp_rx_verdict append(struct kernel_sctp_rx *rx, const uint8_t *data,
					  size_t len)
{
	if (len > KERNEL_SCTP_RX_MESSAGE - rx->part_len)
		return KERNEL_SCTP_RX_BROKEN;
	if (!rx->part)
		rx->part = malloc(KERNEL_SCTP_RX_MESSAGE);
	if (!rx->part)
		return KERNEL_SCTP_RX_NO_MEMORY;
	memcpy(rx->part + rx->part_len, data, len);
	rx->part_len += len;
	return KERNEL_SCTP_RX_NOTHING;
}

enum kernel_sctp_rx_verdict kernel_sctp_rx_take(struct kernel_sctp_rx *rx, struct msghdr *msg,
						const uint8_t *data, size_t len,
						struct kernel_sctp_rx_message *out)
{
	enum kernel_sctp_rx_verdict verdict;

	if (msg->msg_flags & MSG_NOTIFICATION) {
		verdict = notification(rx, data, len);
		if (rx->state == KERNEL_SCTP_RX_COMM_UP && verdict == KERNEL_SCTP_RX_CLOSES)
			return KERNEL_SCTP_RX_BROKEN;
		return verdict;
	}
	if (rx->state != KERNEL_SCTP_RX_UP || !read_info(msg, out))
		return KERNEL_SCTP_RX_BROKEN;
	/* A message in one piece is not copied. Pieces of a message arrive one after the other. */
	if (!rx->part_len && (msg->msg_flags & MSG_EOR)) {
		out->data = data;
		out->len = len;
		return KERNEL_SCTP_RX_GOT_MESSAGE;
	}
	verdict = append(rx, data, len);
	if (verdict != KERNEL_SCTP_RX_NOTHING || !(msg->msg_flags & MSG_EOR))
		return verdict;
	out->data = rx->part;
	out->len = rx->part_len;
	rx->part_len = 0;
	return KERNEL_SCTP_RX_GOT_MESSAGE;
}

enum kernel_sctp_rx_verdict kernel_sctp_rx_idle(const struct kernel_sctp_rx *rx)
{
	return rx->state == KERNEL_SCTP_RX_COMM_UP ? KERNEL_SCTP_RX_BROKEN : KERNEL_SCTP_RX_NOTHING;
}

void kernel_sctp_rx_clear(struct kernel_sctp_rx *rx)
{
	free(rx->part);
	rx->part = NULL;
	rx->part_len = 0;
}
