/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "launcher/doctor_guest.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "sys/sys.h"
#include "util/sockaddr.h"

#define TRIES 5
#define TCP_PATIENCE NSEC_PER_SEC	 /* maximum time of a handshake, ns */
#define LINE_PATIENCE (3 * NSEC_PER_SEC) /* maximum time to wait for the listener's line, ns */

static uint8_t buf[65536]; /* buffer for sent and received messages */

/* Waits until the descriptor is ready for one of the events. Returns false after a timeout. */
static bool wait_for(int fd, short events, uint64_t until)
{
	struct pollfd fds = { .fd = fd, .events = events };
	uint64_t now = sys_now();

	return now < until && sys_ppoll(&fds, 1, until - now) > 0;
}

static int send_message(struct doctor_probe *p, enum doctor_type type, size_t len, uint16_t segment)
{
	struct iovec iov = { buf, len };
	union {
		struct cmsghdr align;
		uint8_t bytes[CMSG_SPACE(sizeof(uint16_t))];
	} control = { .bytes = { 0 } };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t ret;

	p->mine.type = (uint8_t)type;
	memset(buf, 0, len);
	for (size_t at = 0; at < len; at += segment ? segment : len)
		doctor_message_write(&p->mine, buf + at);
	if (segment) {
		struct cmsghdr *c = &control.align;

		msg.msg_control = control.bytes;
		msg.msg_controllen = sizeof(control.bytes);
		c->cmsg_level = SOL_UDP;
		c->cmsg_type = UDP_SEGMENT;
		c->cmsg_len = CMSG_LEN(sizeof(segment));
		memcpy(CMSG_DATA(c), &segment, sizeof(segment));
	}
	ret = sys_sendmsg(p->fd, &msg, MSG_NOSIGNAL);
	/*
	 * The first call may have reported an ICMP error of an earlier datagram, instead of sending
	 * this one. So try again once.
	 */
	if (ret < 0 && ret != -EAGAIN)
		ret = sys_sendmsg(p->fd, &msg, MSG_NOSIGNAL);
	return ret < 0 && ret != -EAGAIN ? (int)ret : 0;
}

int doctor_guest_probe(struct doctor_probe *p, size_t len)
{
	p->mine.sequence++;
	return send_message(p, DOCTOR_PROBE, len, 0);
}

int doctor_guest_wait(struct doctor_probe *p, enum doctor_type type, uint64_t until,
		      struct doctor_message *m)
{
	do {
		struct iovec iov = { buf, sizeof(buf) };
		struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
		ssize_t n = sys_recvmsg(p->fd, &msg, 0);

		if (n < 0 && n != -EAGAIN && n != -EINTR)
			return (int)n;
		if (n > 0 && doctor_message_read(m, buf, (size_t)n) && m->type == type &&
		    m->nonce == p->mine.nonce)
			return (int)n;
	} while (wait_for(p->fd, POLLIN, until));
	return 0;
}

/*
 * Sends a message repeatedly until the answer arrives. Returns the length of the answer, 0 if there
 * is no answer, or -errno.
 */
static int ask(struct doctor_probe *p, enum doctor_type type, enum doctor_type answer,
	       struct doctor_message *m)
{
	int ret = 0;

	for (unsigned int i = 0; i < TRIES && !ret; i++) {
		ret = send_message(p, type, DOCTOR_MESSAGE_LEN, 0);
		if (!ret)
			ret = doctor_guest_wait(p, answer, sys_now() + DOCTOR_PATIENCE, m);
	}
	return ret;
}

int doctor_guest_greet(struct doctor_probe *p, const struct sockaddr *peer)
{
	struct doctor_message m;
	int ret;

	memset(p, 0, sizeof(*p));
	p->fd = sys_socket(peer->sa_family, SOCK_DGRAM, 0);
	if (p->fd < 0)
		return p->fd;
	sys_raise_buffer(p->fd, SO_RCVBUF);
	sys_setsockopt_int(p->fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE);
	sys_setsockopt_int(p->fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_PROBE);
	ret = sys_random(&p->mine.nonce, sizeof(p->mine.nonce));
	if (!ret)
		ret = sys_connect(p->fd, peer, sockaddr_len(peer));
	if (!ret)
		ret = ask(p, DOCTOR_HELLO, DOCTOR_COOKIE, &m);
	if (ret <= 0)
		return ret ? ret : -ETIMEDOUT;
	memcpy(p->mine.cookie, m.cookie, sizeof(m.cookie));
	return 0;
}

bool doctor_guest_count(struct doctor_probe *p, struct doctor_message *m)
{
	return ask(p, DOCTOR_COUNT, DOCTOR_COUNTED, m) > 0;
}

int doctor_guest_segments(struct doctor_probe *p)
{
	return send_message(p, DOCTOR_COUNT, 2 * DOCTOR_MESSAGE_LEN, DOCTOR_MESSAGE_LEN);
}

int doctor_guest_ask_tcp(const struct sockaddr *peer)
{
	int fd = sys_socket(peer->sa_family, SOCK_STREAM, 0), ret;
	char text[32] = "";
	unsigned int heard;

	if (fd < 0)
		return fd;
	ret = sys_connect(fd, peer, sockaddr_len(peer));
	if (ret == -EINPROGRESS) {
		ret = -ETIMEDOUT;
		if (wait_for(fd, POLLOUT, sys_now() + TCP_PATIENCE))
			ret = -sys_getsockopt_int(fd, SOL_SOCKET, SO_ERROR);
	}
	if (!ret) {
		ret = -EPROTO;
		if (wait_for(fd, POLLIN, sys_now() + LINE_PATIENCE) &&
		    sys_read(fd, text, sizeof(text) - 1) > 0 &&
		    sscanf(text, "spwD %u", &heard) == 1)
			ret = heard > INT32_MAX ? INT32_MAX : (int)heard;
	}
	sys_close(fd);
	return ret;
}
