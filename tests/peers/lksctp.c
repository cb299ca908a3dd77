/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The SCTP of the Linux kernel. UDP ports are those of net.sctp.udp_port and net.sctp.encap_port,
 * which whoever starts this program sets.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/sctp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "stack.h"

const char stack_name[] = "lksctp";

#define BUFFER (1 << 20)

static int listener = -1, sock = -1;
static uint8_t buffer[BUFFER];
static size_t held; /* of a message that comes in parts */
static uint32_t adaptation;

static void set(int fd, int option, const void *value, socklen_t len, const char *what)
{
	if (setsockopt(fd, IPPROTO_SCTP, option, value, len))
		fail("setsockopt %s: %s", what, strerror(errno));
}

static void want_event(int fd, uint16_t type, bool on)
{
	struct sctp_event event = {.se_assoc_id = SCTP_FUTURE_ASSOC, .se_type = type, .se_on = on};

	set(fd, SCTP_EVENT, &event, sizeof(event), "SCTP_EVENT");
}

static int open_socket(const struct stack_options *o)
{
	struct sctp_initmsg init = {.sinit_num_ostreams = o->outbound,
	                            .sinit_max_instreams = o->inbound};
	int fd = socket(o->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_SCTP);
	struct sctp_rtoinfo rto = {.srto_initial = 300, .srto_min = STACK_RTO_MIN};
	int one = 1;

	signal(SIGPIPE, SIG_IGN); /* sctp_sendv() has no MSG_NOSIGNAL */
	if (fd < 0)
		fail("socket(IPPROTO_SCTP): %s", strerror(errno));
	set(fd, SCTP_INITMSG, &init, sizeof(init), "SCTP_INITMSG");
	set(fd, SCTP_RTOINFO, &rto, sizeof(rto), "SCTP_RTOINFO");
	set(fd, SCTP_NODELAY, &one, sizeof(one), "SCTP_NODELAY");
	set(fd, SCTP_RECVRCVINFO, &one, sizeof(one), "SCTP_RECVRCVINFO");
	if (o->has_adaptation) {
		struct sctp_setadaptation code = {.ssb_adaptation_ind = o->adaptation};

		set(fd, SCTP_ADAPTATION_LAYER, &code, sizeof(code), "SCTP_ADAPTATION_LAYER");
	}
	want_event(fd, SCTP_ASSOC_CHANGE, true);
	want_event(fd, SCTP_ADAPTATION_INDICATION, true);
	want_event(fd, SCTP_SHUTDOWN_EVENT, true);
	return fd;
}

void stack_connect(const struct stack_options *o)
{
	sock = open_socket(o);
	if (connect(sock, (const struct sockaddr *)&o->address, o->address_len))
		say("connect: %s", strerror(errno)); /* the event comes as well */
}

void stack_listen(const struct stack_options *o)
{
	listener = open_socket(o);
	if (bind(listener, (const struct sockaddr *)&o->address, o->address_len))
		fail("bind: %s", strerror(errno));
	if (listen(listener, 1))
		fail("listen: %s", strerror(errno));
}

/* It may lie at any address, behind the first part of a message. */
static enum stack_event notification(const uint8_t *p, size_t len)
{
	union sctp_notification n = {0};

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
	struct pollfd p = {.fd = sock < 0 ? listener : sock, .events = POLLIN};
	struct sctp_rcvinfo info = {0};
	socklen_t info_len = sizeof(info);
	unsigned int type = 0;
	struct iovec iov;
	int flags = 0;
	ssize_t n;

	if (p.fd < 0)
		return STACK_ABORTED;
	if (poll(&p, 1, ms) <= 0)
		return STACK_NOTHING;
	if (sock < 0) {
		sock = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (sock < 0)
			fail("accept: %s", strerror(errno));
		return STACK_NOTHING;
	}
	iov = (struct iovec){.iov_base = buffer + held, .iov_len = sizeof(buffer) - held};
	flags = MSG_DONTWAIT;
	n = sctp_recvv(sock, &iov, 1, NULL, &(socklen_t){0}, &info, &info_len, &type, &flags);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return STACK_NOTHING;
	if (n <= 0) {
		if (n < 0)
			say("receive: %s", strerror(errno));
		return n ? STACK_ABORTED : STACK_SHUT;
	}
	if (flags & MSG_NOTIFICATION)
		return notification(buffer + held, (size_t)n);
	held += (size_t)n;
	if (!(flags & MSG_EOR)) {
		if (held == sizeof(buffer))
			fail("a message of more than %zu bytes", held);
		return STACK_NOTHING;
	}
	if (type != SCTP_RECVV_RCVINFO)
		fail("no rcvinfo");
	*m = (struct stack_message){
		.stream = info.rcv_sid,
		.ppid = ntohl(info.rcv_ppid),
		.unordered = info.rcv_flags & SCTP_UNORDERED,
		.data = buffer,
		.len = held,
	};
	held = 0;
	return STACK_MESSAGE;
}

bool stack_send(uint16_t stream, uint32_t ppid, bool ordered, const void *data, size_t len)
{
	struct sctp_sndinfo info = {
		.snd_sid = stream,
		.snd_ppid = htonl(ppid),
		.snd_flags = ordered ? 0 : SCTP_UNORDERED,
	};
	struct iovec iov = {.iov_base = (void *)data, .iov_len = len};

	return sctp_sendv(sock, &iov, 1, NULL, 0, &info, sizeof(info), SCTP_SENDV_SNDINFO, 0) ==
	       (ssize_t)len;
}

void stack_ask_dry(void)
{
	want_event(sock, SCTP_SENDER_DRY_EVENT, false);
	want_event(sock, SCTP_SENDER_DRY_EVENT, true);
}

void stack_shutdown(void)
{
	if (shutdown(sock, SHUT_WR))
		fail("shutdown: %s", strerror(errno));
}

void stack_abort(void)
{
	struct linger at_once = {.l_onoff = 1};

	setsockopt(sock, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(sock);
	sock = -1;
	if (listener >= 0)
		close(listener);
	listener = -1;
}

uint32_t stack_peer_adaptation(void)
{
	return adaptation;
}

static struct sctp_status status(void)
{
	struct sctp_status st = {0};
	socklen_t len = sizeof(st);

	if (getsockopt(sock, IPPROTO_SCTP, SCTP_STATUS, &st, &len))
		fail("SCTP_STATUS: %s", strerror(errno));
	return st;
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
