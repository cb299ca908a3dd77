/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The SCTP of the Linux kernel. Its UDP ports are those of net.sctp.udp_port and
 * net.sctp.encap_port, which the script that starts this program sets.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "socket_api.h"

const char stack_name[] = "lksctp";

static int listener = -1, sock = -1;

static int current(void)
{
	return sock < 0 ? listener : sock;
}

bool socket_is_open(void)
{
	return current() >= 0;
}

void socket_is_up(void)
{
}

int socket_set(int option, const void *value, socklen_t len)
{
	return setsockopt(current(), IPPROTO_SCTP, option, value, len);
}

int socket_get(int option, void *value, socklen_t *len)
{
	return getsockopt(current(), IPPROTO_SCTP, option, value, len);
}

static void open_socket(const struct stack_options *o, int *fd)
{
	struct sctp_event event = { .se_assoc_id = SCTP_FUTURE_ASSOC,
				    .se_type = SCTP_SHUTDOWN_EVENT,
				    .se_on = 1 };

	signal(SIGPIPE, SIG_IGN); /* sctp_sendv() has no MSG_NOSIGNAL */
	*fd = socket(o->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_SCTP);
	if (*fd < 0)
		fail("socket(IPPROTO_SCTP): %s", strerror(errno));
	api_configure(o);
	api_set(SCTP_EVENT, &event, sizeof(event), "SCTP_EVENT");
}

void stack_connect(const struct stack_options *o)
{
	open_socket(o, &sock);
	if (connect(sock, (const struct sockaddr *)&o->address, o->address_len))
		say("connect: %s", strerror(errno)); /* an event follows */
}

void stack_listen(const struct stack_options *o)
{
	open_socket(o, &listener);
	if (bind(listener, (const struct sockaddr *)&o->address, o->address_len))
		fail("bind: %s", strerror(errno));
	if (listen(listener, 1))
		fail("listen: %s", strerror(errno));
}

ssize_t socket_read(void *buf, size_t size, struct sctp_rcvinfo *info, unsigned int *type,
		    int *flags, int ms)
{
	struct pollfd p = { .fd = current(), .events = POLLIN };
	struct iovec iov = { .iov_base = buf, .iov_len = size };
	socklen_t info_len = sizeof(*info);

	errno = EAGAIN;
	if (poll(&p, 1, ms) <= 0)
		return -1;
	if (sock < 0) {
		sock = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (sock < 0)
			fail("accept: %s", strerror(errno));
		errno = EAGAIN;
		return -1;
	}
	*flags = MSG_DONTWAIT;
	return sctp_recvv(sock, &iov, 1, NULL, &(socklen_t){ 0 }, info, &info_len, type, flags);
}

bool stack_send(uint16_t stream, uint32_t ppid, bool ordered, const void *data, size_t len)
{
	struct sctp_sndinfo info = api_sndinfo(stream, ppid, ordered);
	struct iovec iov = { .iov_base = (void *)data, .iov_len = len };

	return sctp_sendv(sock, &iov, 1, NULL, 0, &info, sizeof(info), SCTP_SENDV_SNDINFO, 0) ==
	       (ssize_t)len;
}

void stack_shutdown(void)
{
	if (shutdown(sock, SHUT_WR))
		fail("shutdown: %s", strerror(errno));
}

void stack_abort(void)
{
	struct linger at_once = { .l_onoff = 1 };

	setsockopt(sock, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(sock);
	sock = -1;
	if (listener >= 0)
		close(listener);
	listener = -1;
}

void stack_end(void)
{
}
