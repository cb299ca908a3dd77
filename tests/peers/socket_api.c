/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "report.h"
#include "socket_api.h"

#define BUFFER (1 << 20)

static uint8_t buffer[BUFFER];
static size_t filled; /* bytes of a message whose last part is missing */
static uint32_t adaptation;

void api_set(int option, const void *value, socklen_t len, const char *what)
{
	if (socket_set(option, value, len))
		fail("setsockopt %s: %s", what, strerror(errno));
}

static void want_event(uint16_t type, bool on)
{
	struct sctp_event event = { .se_assoc_id = SCTP_FUTURE_ASSOC,
				    .se_type = type,
				    .se_on = on };

	api_set(SCTP_EVENT, &event, sizeof(event), "SCTP_EVENT");
}

void api_configure(const struct stack_options *o)
{
	struct sctp_initmsg init = { .sinit_num_ostreams = o->outbound,
				     .sinit_max_instreams = o->inbound };
	struct sctp_rtoinfo rto = { .srto_initial = 300, .srto_min = STACK_RTO_MIN };
	struct sctp_setadaptation code = { .ssb_adaptation_ind = o->adaptation };
	int one = 1;

	api_set(SCTP_INITMSG, &init, sizeof(init), "SCTP_INITMSG");
	api_set(SCTP_RTOINFO, &rto, sizeof(rto), "SCTP_RTOINFO");
	api_set(SCTP_NODELAY, &one, sizeof(one), "SCTP_NODELAY");
	api_set(SCTP_RECVRCVINFO, &one, sizeof(one), "SCTP_RECVRCVINFO");
	if (o->has_adaptation)
		api_set(SCTP_ADAPTATION_LAYER, &code, sizeof(code), "SCTP_ADAPTATION_LAYER");
	want_event(SCTP_ASSOC_CHANGE, true);
	want_event(SCTP_ADAPTATION_INDICATION, true);
}

/* Handles a notification. It may be at any address, after the first part of a message. */
static enum stack_event notification(const uint8_t *p, size_t len)
{
	union sctp_notification n = { 0 };

	memcpy(&n, p, len < sizeof(n) ? len : sizeof(n));
	switch (n.sn_header.sn_type) {
	case SCTP_ADAPTATION_INDICATION:
		adaptation = n.sn_adaptation_event.sai_adaptation_ind;
		return STACK_NOTHING;
	case SCTP_SENDER_DRY_EVENT:
		return STACK_DRY;
	case SCTP_ASSOC_CHANGE:
		switch (n.sn_assoc_change.sac_state) {
		case SCTP_COMM_UP:
			socket_is_up();
			return STACK_UP;
		case SCTP_SHUTDOWN_COMP:
			return STACK_SHUT;
		case SCTP_RESTART:
			fail("the peer restarted the association");
		default:
			return STACK_ABORTED;
		}
	default:
		return STACK_NOTHING;
	}
}

enum stack_event stack_receive(struct stack_message *m, int ms)
{
	struct sctp_rcvinfo info = { 0 };
	unsigned int type = 0;
	int flags = 0;
	ssize_t n;

	if (!socket_is_open())
		return STACK_ABORTED;
	n = socket_read(buffer + filled, sizeof(buffer) - filled, &info, &type, &flags, ms);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return STACK_NOTHING;
	if (n <= 0) {
		if (n < 0)
			say("receive: %s", strerror(errno));
		return n ? STACK_ABORTED : STACK_SHUT;
	}
	if (flags & MSG_NOTIFICATION)
		return notification(buffer + filled, (size_t)n);
	filled += (size_t)n;
	if (!(flags & MSG_EOR)) {
		if (filled == sizeof(buffer))
			fail("a message of more than %zu bytes", filled);
		return STACK_NOTHING;
	}
	if (type != SCTP_RECVV_RCVINFO)
		fail("no rcvinfo");
	*m = (struct stack_message){
		.stream = info.rcv_sid,
		.ppid = ntohl(info.rcv_ppid),
		.unordered = info.rcv_flags & SCTP_UNORDERED,
		.data = buffer,
		.len = filled,
	};
	filled = 0;
	return STACK_MESSAGE;
}

struct sctp_sndinfo api_sndinfo(uint16_t stream, uint32_t ppid, bool ordered)
{
	return (struct sctp_sndinfo){
		.snd_sid = stream,
		.snd_ppid = htonl(ppid),
		.snd_flags = ordered ? 0 : SCTP_UNORDERED,
	};
}

/* The event follows immediately if nothing is outstanding at the request, but only then. */
void stack_ask_dry(void)
{
	want_event(SCTP_SENDER_DRY_EVENT, false);
	want_event(SCTP_SENDER_DRY_EVENT, true);
}

uint32_t stack_peer_adaptation(void)
{
	return adaptation;
}

static struct sctp_status status(void)
{
	struct sctp_status st = { 0 };
	socklen_t len = sizeof(st);

	if (socket_get(SCTP_STATUS, &st, &len))
		fail("SCTP_STATUS: %s", strerror(errno));
	return st;
}

bool stack_awaits_shutdown_complete(void)
{
	struct sctp_status st = { 0 };
	socklen_t len = sizeof(st);

	/* Fails once the association has ended. */
	return !socket_get(SCTP_STATUS, &st, &len) && st.sstat_state == SCTP_SHUTDOWN_ACK_SENT;
}

uint16_t stack_streams(void)
{
	struct sctp_status st = status();

	return st.sstat_instrms < st.sstat_outstrms ? st.sstat_instrms : st.sstat_outstrms;
}

size_t stack_whole(void)
{
	return status().sstat_fragmentation_point;
}
