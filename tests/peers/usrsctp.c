/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* usrsctp: the SCTP of FreeBSD as a library, here in UDP. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <usrsctp.h>

#include "report.h"
#include "stack.h"

const char stack_name[] = "usrsctp";

#define BUFFER (1 << 20)

static struct socket *listener, *sock;
static uint8_t buffer[BUFFER];
static size_t held; /* of a message that comes in parts */
static uint32_t adaptation;
static int woken = -1; /* an eventfd: something happened to a socket */

static void wake(struct socket *so, void *arg, int flags)
{
	uint64_t one = 1;

	(void)so, (void)arg, (void)flags;
	if (write(woken, &one, sizeof(one)) < 0)
		fail("eventfd: %s", strerror(errno));
}

/* false: ms milliseconds are over */
static bool sleep_until_woken(int ms)
{
	struct pollfd p = {.fd = woken, .events = POLLIN};
	uint64_t count;

	return poll(&p, 1, ms) > 0 && read(woken, &count, sizeof(count)) > 0;
}

static void set(struct socket *so, int option, const void *value, socklen_t len, const char *what)
{
	if (usrsctp_setsockopt(so, IPPROTO_SCTP, option, value, len))
		fail("usrsctp_setsockopt %s: %s", what, strerror(errno));
}

static void want_event(struct socket *so, uint16_t type, bool on)
{
	struct sctp_event event = {.se_assoc_id = SCTP_FUTURE_ASSOC, .se_type = type, .se_on = on};

	set(so, SCTP_EVENT, &event, sizeof(event), "SCTP_EVENT");
}

static void prepare(struct socket *so)
{
	usrsctp_set_non_blocking(so, 1);
	usrsctp_set_upcall(so, wake, NULL);
}

static struct socket *open_socket(const struct stack_options *o)
{
	struct sctp_initmsg init = {.sinit_num_ostreams = o->outbound,
	                            .sinit_max_instreams = o->inbound};
	struct sctp_udpencaps encaps = {.sue_port = htons(o->peer_udp_port)};
	struct socket *so;
	struct sctp_rtoinfo rto = {.srto_initial = 300, .srto_min = STACK_RTO_MIN};
	int one = 1;

	usrsctp_init(o->udp_port, NULL, NULL);
	usrsctp_sysctl_set_sctp_no_csum_on_loopback(0);
	usrsctp_sysctl_set_sctp_sendspace(1 << 20);
	usrsctp_sysctl_set_sctp_recvspace(1 << 20);
	woken = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	so = usrsctp_socket(o->address.ss_family, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
	if (!so)
		fail("usrsctp_socket: %s", strerror(errno));
	set(so, SCTP_INITMSG, &init, sizeof(init), "SCTP_INITMSG");
	set(so, SCTP_RTOINFO, &rto, sizeof(rto), "SCTP_RTOINFO");
	set(so, SCTP_NODELAY, &one, sizeof(one), "SCTP_NODELAY");
	set(so, SCTP_RECVRCVINFO, &one, sizeof(one), "SCTP_RECVRCVINFO");
	if (o->peer_udp_port) {
		encaps.sue_address.ss_family = o->address.ss_family;
		set(so, SCTP_REMOTE_UDP_ENCAPS_PORT, &encaps, sizeof(encaps),
		    "SCTP_REMOTE_UDP_ENCAPS_PORT");
	}
	if (o->has_adaptation) {
		struct sctp_setadaptation code = {.ssb_adaptation_ind = o->adaptation};

		set(so, SCTP_ADAPTATION_LAYER, &code, sizeof(code), "SCTP_ADAPTATION_LAYER");
	}
	want_event(so, SCTP_ASSOC_CHANGE, true);
	want_event(so, SCTP_ADAPTATION_INDICATION, true);
	prepare(so);
	return so;
}

void stack_connect(const struct stack_options *o)
{
	sock = open_socket(o);
	if (usrsctp_connect(sock, (struct sockaddr *)&o->address, o->address_len) &&
	    errno != EINPROGRESS)
		say("usrsctp_connect: %s", strerror(errno)); /* the event comes as well */
}

void stack_listen(const struct stack_options *o)
{
	listener = open_socket(o);
	if (usrsctp_bind(listener, (struct sockaddr *)&o->address, o->address_len))
		fail("usrsctp_bind: %s", strerror(errno));
	if (usrsctp_listen(listener, 1))
		fail("usrsctp_listen: %s", strerror(errno));
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

static bool take_connection(void)
{
	sock = usrsctp_accept(listener, NULL, NULL);
	if (sock)
		prepare(sock);
	else if (errno != EWOULDBLOCK)
		fail("usrsctp_accept: %s", strerror(errno));
	return sock;
}

enum stack_event stack_receive(struct stack_message *m, int ms)
{
	struct sctp_rcvinfo info = {0};
	socklen_t info_len = sizeof(info), from_len = 0;
	unsigned int type = 0;
	int flags = 0;
	ssize_t n;

	if (!sock && !listener)
		return STACK_ABORTED;
	if (!sock && !take_connection()) {
		sleep_until_woken(ms);
		return STACK_NOTHING;
	}
	n = usrsctp_recvv(sock, buffer + held, sizeof(buffer) - held, NULL, &from_len, &info,
	                  &info_len, &type, &flags);
	if (n < 0 && (errno == EWOULDBLOCK || errno == EINTR)) {
		sleep_until_woken(ms);
		return STACK_NOTHING;
	}
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
	double end = now() + PATIENCE;

	while (usrsctp_sendv(sock, data, len, NULL, 0, &info, sizeof(info), SCTP_SENDV_SNDINFO, 0) <
	       0) {
		if (errno != EWOULDBLOCK)
			return false;
		if (now() > end)
			fail("nothing of what is sent was acknowledged for %d s", PATIENCE);
		usleep(1000); /* the eventfd is for what arrives as well, which stays unread here */
	}
	return true;
}

void stack_ask_dry(void)
{
	want_event(sock, SCTP_SENDER_DRY_EVENT, false);
	want_event(sock, SCTP_SENDER_DRY_EVENT, true);
}

void stack_shutdown(void)
{
	if (usrsctp_shutdown(sock, SHUT_WR))
		fail("usrsctp_shutdown: %s", strerror(errno));
}

void stack_abort(void)
{
	struct linger at_once = {.l_onoff = 1};

	usrsctp_setsockopt(sock, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	usrsctp_close(sock);
	sock = NULL;
	if (listener)
		usrsctp_close(listener);
	listener = NULL;
}

uint32_t stack_peer_adaptation(void)
{
	return adaptation;
}

static struct sctp_status status(void)
{
	struct sctp_status st = {0};
	socklen_t len = sizeof(st);

	if (usrsctp_getsockopt(sock, IPPROTO_SCTP, SCTP_STATUS, &st, &len))
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
