/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* usrsctp: the SCTP of FreeBSD as a library, over usrsctp_lower.h. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "report.h"
#include "socket_api.h"
#include "usrsctp_lower.h"

const char stack_name[] = "usrsctp";

static struct socket *listener, *sock;
static int woken = -1; /* an eventfd that signals an event of a socket */

static void wake(struct socket *so, void *arg, int flags)
{
	uint64_t one = 1;

	(void)so, (void)arg, (void)flags;
	if (write(woken, &one, sizeof(one)) < 0)
		fail("eventfd: %s", strerror(errno));
}

/* Waits up to ms milliseconds. Returns false after a timeout. */
static bool sleep_until_woken(int ms)
{
	struct pollfd p = { .fd = woken, .events = POLLIN };
	uint64_t count;

	return poll(&p, 1, ms) > 0 && read(woken, &count, sizeof(count)) > 0;
}

static struct socket *current(void)
{
	return sock ? sock : listener;
}

bool socket_is_open(void)
{
	return current();
}

int socket_set(int option, const void *value, socklen_t len)
{
	return usrsctp_setsockopt(current(), IPPROTO_SCTP, option, value, len);
}

int socket_get(int option, void *value, socklen_t *len)
{
	return usrsctp_getsockopt(current(), IPPROTO_SCTP, option, value, len);
}

static void prepare(struct socket *so)
{
	usrsctp_set_non_blocking(so, 1);
	usrsctp_set_upcall(so, wake, NULL);
}

static const struct sockaddr *open_socket(const struct stack_options *o, struct socket **so,
					  socklen_t *len)
{
	const struct sockaddr *address;

	lower_start(o, so == &listener);
	address = lower_address(len);
	usrsctp_sysctl_set_sctp_no_csum_on_loopback(0);
	usrsctp_sysctl_set_sctp_sendspace(1 << 20);
	usrsctp_sysctl_set_sctp_recvspace(1 << 20);
	/*
	 * Like sctpiw (RFC 7829). usrsctp then sends a HEARTBEAT at the first timeout, even of a
	 * COOKIE ECHO (see stack_connect()). So use this option only while no packets are lost.
	 */
	if (o->leaves_paths)
		usrsctp_sysctl_set_sctp_path_pf_threshold(0);
	woken = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	*so = usrsctp_socket(address->sa_family, SOCK_STREAM, IPPROTO_SCTP, NULL, NULL, 0, NULL);
	if (!*so)
		fail("usrsctp_socket: %s", strerror(errno));
	api_configure(o);
	lower_configure();
	prepare(*so);
	return address;
}

static void set_heartbeats(uint32_t flag)
{
	struct sctp_paddrparams params = { .spp_address.ss_family = AF_INET, .spp_flags = flag };

	api_set(SCTP_PEER_ADDR_PARAMS, &params, sizeof(params), "SCTP_PEER_ADDR_PARAMS");
}

/*
 * With a small RTO, usrsctp may send a HEARTBEAT while its COOKIE ECHO is lost. For the peer this
 * HEARTBEAT is out of the blue. The peer sends an ABORT (RFC 9260 8.4), which usrsctp accepts.
 */
void stack_connect(const struct stack_options *o)
{
	socklen_t len;
	const struct sockaddr *address = open_socket(o, &sock, &len);

	set_heartbeats(SPP_HB_DISABLE);
	if (usrsctp_connect(sock, (struct sockaddr *)(uintptr_t)address, len) &&
	    errno != EINPROGRESS)
		say("usrsctp_connect: %s", strerror(errno)); /* an event follows */
}

void stack_listen(const struct stack_options *o)
{
	socklen_t len;
	const struct sockaddr *address = open_socket(o, &listener, &len);

	if (usrsctp_bind(listener, (struct sockaddr *)(uintptr_t)address, len))
		fail("usrsctp_bind: %s", strerror(errno));
	if (usrsctp_listen(listener, 1))
		fail("usrsctp_listen: %s", strerror(errno));
}

void socket_is_up(void)
{
	set_heartbeats(SPP_HB_ENABLE);
}

static bool take_connection(void)
{
	sock = usrsctp_accept(listener, NULL, NULL);
	if (sock)
		prepare(sock);
	else if (errno != EAGAIN)
		fail("usrsctp_accept: %s", strerror(errno));
	return sock;
}

ssize_t socket_read(void *buf, size_t size, struct sctp_rcvinfo *info, unsigned int *type,
		    int *flags, int ms)
{
	socklen_t info_len = sizeof(*info), from_len = 0;
	ssize_t n = -1;

	errno = EAGAIN;
	if (sock || take_connection())
		n = usrsctp_recvv(sock, buf, size, NULL, &from_len, info, &info_len, type, flags);
	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		sleep_until_woken(ms);
		errno = EAGAIN;
	}
	return n;
}

bool stack_send(uint16_t stream, uint32_t ppid, bool ordered, const void *data, size_t len)
{
	struct sctp_sndinfo info = api_sndinfo(stream, ppid, ordered);
	double end = now() + PATIENCE;

	while (usrsctp_sendv(sock, data, len, NULL, 0, &info, sizeof(info), SCTP_SENDV_SNDINFO, 0) <
	       0) {
		if (errno != EAGAIN)
			return false;
		if (now() > end)
			fail("nothing of what is sent was acknowledged for %d s", PATIENCE);
		usleep(1000); /* unread data would end a wait for the eventfd immediately */
	}
	return true;
}

void stack_shutdown(void)
{
	if (usrsctp_shutdown(sock, SHUT_WR))
		fail("usrsctp_shutdown: %s", strerror(errno));
}

void stack_abort(void)
{
	struct linger at_once = { .l_onoff = 1 };

	usrsctp_setsockopt(sock, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	usrsctp_close(sock);
	sock = NULL;
	if (listener)
		usrsctp_close(listener);
	listener = NULL;
}

void stack_end(void)
{
	lower_end();
}
