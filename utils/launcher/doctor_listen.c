/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The listener's side of a measurement: doctor --listen. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "launcher/doctor.h"
#include "launcher/doctor_guests.h"
#include "launcher/doctor_owner.h"
#include "launcher/doctor_report.h"
#include "sys/sys.h"
#include "util/sockaddr.h"

#define BATCH 64   /* number of datagrams that are answered before the TCP socket is checked */
#define BACKLOG 16 /* backlog of the TCP socket */

struct doctor_listener {
	int udp, tcp; /* tcp is -1 if TCP could not be opened */
	int family;
	struct doctor_guests guests;
};

static volatile sig_atomic_t told_to_end;

static void end(int signal)
{
	told_to_end = 1;
}

/* ---- opening ---- */

/*
 * Opens a socket of this type, and binds it to the port at all local addresses. Returns a
 * descriptor or -errno.
 */
static int open_at(int family, int type, uint16_t port)
{
	int fd = sys_socket(family, type, 0), ret;
	struct sockaddr_storage any;

	if (fd < 0)
		return fd;
	if (family == AF_INET6)
		sys_setsockopt_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0);
	if (type == SOCK_STREAM)
		sys_setsockopt_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	sockaddr_any(&any, family, port);
	ret = sys_bind(fd, (struct sockaddr *)&any, sockaddr_len((struct sockaddr *)&any));
	if (!ret && type == SOCK_STREAM)
		ret = sys_listen(fd, BACKLOG);
	if (!ret)
		return fd;
	sys_close(fd);
	return ret;
}

void doctor_listen(struct doctor *d)
{
	static struct doctor_listener l;
	char owner[DOCTOR_OWNER_LEN];

	l.family = AF_INET6;
	l.udp = open_at(l.family, SOCK_DGRAM, d->port);
	if (l.udp == -EAFNOSUPPORT) {
		l.family = AF_INET;
		l.udp = open_at(l.family, SOCK_DGRAM, d->port);
	}
	if (l.udp == -EADDRINUSE) {
		doctor_failure("end that, or take another port", "%s has UDP port %u",
			       doctor_owner(d->port, owner), d->port);
		return;
	}
	if (l.udp < 0) {
		doctor_failure(l.udp == -EACCES ? "take a port above 1023" : NULL,
			       "UDP port %u: %s", d->port, strerror(-l.udp));
		return;
	}
	l.tcp = open_at(l.family, SOCK_STREAM, d->port);
	if (sys_random(l.guests.secret, sizeof(l.guests.secret))) {
		doctor_failure(NULL, "no random octets for cookies");
		return;
	}
	sys_raise_buffer(l.udp, SO_RCVBUF);
	if (l.family == AF_INET6)
		sys_setsockopt_int(l.udp, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
	else
		sys_setsockopt_int(l.udp, IPPROTO_IP, IP_PKTINFO, 1);
	/* An echo that is too long for the return path must be dropped, not fragmented. */
	sys_setsockopt_int(l.udp, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
	sys_setsockopt_int(l.udp, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
	d->own = &l;
	doctor_ok("UDP port %u is free, and listens: sctpiw doctor ADDRESS:%u on the other host",
		  d->port, d->port);
}

/* ---- answering ---- */

static void tell(enum doctor_event event, const struct ip_addr *ip, uint16_t port)
{
	/* number of warnings, which is limited since the addresses may be forged */
	static unsigned int deaf;
	char text[SOCKADDR_TEXT];

	if (event == DOCTOR_WELCOME)
		doctor_ok("probes of %s arrive, and it sees the answers",
			  sockaddr_text_ip(ip, port, text));
	else if (event == DOCTOR_DEAF && deaf++ < DOCTOR_GUESTS)
		doctor_warning("let UDP from here out, and into that host",
			       "probes of %s arrive, but it does not see the answers",
			       sockaddr_text_ip(ip, port, text));
}

/*
 * Makes the source address of the answer the destination address of the probe. The interface of the
 * answer may be any.
 */
static void answer_from_there(struct msghdr *msg)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
			struct in6_pktinfo info;

			memcpy(&info, CMSG_DATA(c), sizeof(info));
			if (!IN6_IS_ADDR_LINKLOCAL(&info.ipi6_addr))
				info.ipi6_ifindex = 0;
			memcpy(CMSG_DATA(c), &info, sizeof(info));
		} else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo info;

			memcpy(&info, CMSG_DATA(c), sizeof(info));
			info.ipi_ifindex = 0;
			memcpy(CMSG_DATA(c), &info, sizeof(info));
		}
	}
}

/* Answers one datagram. Returns false if no datagram is waiting. */
static bool answer(struct doctor_listener *l)
{
	static uint8_t buf[65536];
	_Alignas(struct cmsghdr) uint8_t control[CMSG_SPACE(sizeof(struct in6_pktinfo))];
	struct sockaddr_storage from;
	struct iovec iov = { buf, sizeof(buf) };
	struct msghdr msg = { &from, sizeof(from), &iov, 1, control, sizeof(control), 0 };
	enum doctor_event event;
	struct ip_addr ip;
	uint16_t port;
	ssize_t n = sys_recvmsg(l->udp, &msg, 0);

	if (n < 0)
		return false;
	ip = sockaddr_ip((struct sockaddr *)&from);
	port = sockaddr_port((struct sockaddr *)&from);
	iov.iov_len =
		doctor_guests_answer(&l->guests, &ip, port, sys_now(), buf, (size_t)n, &event);
	answer_from_there(&msg);
	if (iov.iov_len)
		sys_sendmsg(l->udp, &msg, MSG_NOSIGNAL);
	tell(event, &ip, port);
	return true;
}

/*
 * Sends a TCP client one line, with the number of datagrams that have come from its address. Reads
 * nothing. From this number, a client that receives no answer by UDP learns which direction is
 * blocked.
 */
static void answer_tcp(struct doctor_listener *l)
{
	struct sockaddr_storage from;
	int fd = sys_accept(l->tcp, &from);
	struct ip_addr ip;
	char line[32];

	if (fd < 0)
		return;
	ip = sockaddr_ip((struct sockaddr *)&from);
	sys_write(fd, line,
		  (size_t)snprintf(line, sizeof(line), "spwD %u\n",
				   doctor_guests_heard(&l->guests, &ip)));
	sys_close(fd);
}

void doctor_serve(struct doctor *d)
{
	struct doctor_listener *l = d->own;
	struct sigaction action = { .sa_handler = end };
	struct pollfd fds[2];

	doctor_conclude();
	if (!l)
		return;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	fds[0] = (struct pollfd){ .fd = l->udp, .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = l->tcp, .events = POLLIN };
	while (!told_to_end) {
		/* A signal just before this call takes effect after at most a second. */
		sys_ppoll(fds, l->tcp < 0 ? 1 : 2, NSEC_PER_SEC);
		for (unsigned int i = 0; i < BATCH && answer(l); i++)
			;
		if (l->tcp >= 0)
			answer_tcp(l);
	}
	sys_close(l->udp);
	sys_close(l->tcp);
}
