/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/carrier_socket.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include <linux/errqueue.h>
#include <linux/sock_diag.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>

#include "net/capture.h"
#include "conn/conn.h"
#include "net/carrier_port.h"
#include "util/sockaddr.h"
#include "sys/sys.h"

#define CONTROL 128 /* maximum bytes of control data with a received message */
/* Minimum MTU of IPv6. Every path carries fragments of this size. */
#define IPV6_SMALLEST_MTU 1280

size_t carrier_socket_raise_buffers(int fd)
{
	sys_raise_buffer(fd, SO_SNDBUF);
	return sys_raise_buffer(fd, SO_RCVBUF);
}

void carrier_socket_set_tos(int fd, int family, uint8_t tos)
{
	if (fd < 0)
		return;
	/* A raw IPv4 socket of an IPv6 endpoint has only this option. */
	sys_setsockopt_int(fd, IPPROTO_IP, IP_TOS, tos);
	if (family == AF_INET6)
		sys_setsockopt_int(fd, IPPROTO_IPV6, IPV6_TCLASS, tos);
}

void carrier_socket_report(int fd, bool v4, bool v6, bool wildcard)
{
	if (v6) {
		sys_setsockopt_int(fd, IPPROTO_IPV6, IPV6_RECVERR, 1);
		sys_setsockopt_int(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, wildcard);
	} else {
		sys_setsockopt_int(fd, IPPROTO_IP, IP_PKTINFO, wildcard);
	}
	if (v4)
		sys_setsockopt_int(fd, IPPROTO_IP, IP_RECVERR, 1);
}

void carrier_socket_set_df(int fd, bool v4, bool v6, bool df)
{
	if (v6) {
		sys_setsockopt_int(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER,
				   df ? IPV6_PMTUDISC_PROBE : IPV6_PMTUDISC_DONT);
		/*
		 * In IPv6 only the sender fragments, and the sender may not know of a smaller link.
		 * So without DF, fragments have the minimum MTU. The value 0 sets no limit.
		 */
		sys_setsockopt_int(fd, IPPROTO_IPV6, IPV6_MTU, df ? 0 : IPV6_SMALLEST_MTU);
	}
	if (v4)
		sys_setsockopt_int(fd, IPPROTO_IP, IP_MTU_DISCOVER,
				   df ? IP_PMTUDISC_PROBE : IP_PMTUDISC_DONT);
}

/* ---- receiving ---- */

static bool read_pktinfo(const struct cmsghdr *c, struct carrier_datagram *d)
{
	if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
		struct in_pktinfo info;
		struct sockaddr_in sin = { .sin_family = AF_INET };

		memcpy(&info, CMSG_DATA(c), sizeof(info));
		if (info.ipi_addr.s_addr != info.ipi_spec_dst.s_addr)
			return false;
		sin.sin_addr = info.ipi_addr;
		d->from.local = sockaddr_ip((struct sockaddr *)&sin);
	} else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
		struct in6_pktinfo info;
		struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6 };

		memcpy(&info, CMSG_DATA(c), sizeof(info));
		if (IN6_IS_ADDR_MULTICAST(&info.ipi6_addr))
			return false;
		sin6.sin6_addr = info.ipi6_addr;
		sin6.sin6_scope_id = info.ipi6_ifindex;
		d->from.local = sockaddr_ip((struct sockaddr *)&sin6);
	}
	return true;
}

static bool read_control(struct msghdr *msg, struct carrier_datagram *d)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level == SOL_UDP && c->cmsg_type == UDP_GRO) {
			int size;

			memcpy(&size, CMSG_DATA(c), sizeof(size));
			if (size > 0)
				d->segment = (size_t)size;
		} else if (!read_pktinfo(c, d)) {
			return false;
		}
	}
	return true;
}

/* Fills in d from a received message. Returns false for a broadcast or multicast. */
static bool take_datagram(const struct ip_addr *local, struct msghdr *msg, size_t len,
			  struct carrier_datagram *d)
{
	const struct sockaddr *from = msg->msg_name;

	d->len = d->segment = len;
	d->from.remote = sockaddr_ip(from);
	d->from.udp_port = sockaddr_port(from);
	d->from.local = *local;
	return read_control(msg, d);
}

/* Returns the number of messages received, or -errno. For one message recvmsg() is cheaper. */
static int receive_some(int fd, struct mmsghdr *msgs, unsigned int max)
{
	ssize_t len;

	if (max > 1)
		return sys_recvmmsg(fd, msgs, max, MSG_DONTWAIT);
	len = sys_recvmsg(fd, &msgs[0].msg_hdr, MSG_DONTWAIT);
	if (len < 0)
		return (int)len;
	msgs[0].msg_len = (unsigned int)len;
	return 1;
}

unsigned int carrier_socket_receive(struct endpoint *ep, int fd, const struct ip_addr *local,
				    struct carrier_datagram *dgrams, unsigned int max,
				    bool (*strip)(const struct endpoint *ep,
						  const struct sockaddr *from,
						  struct carrier_datagram *d))
{
	struct mmsghdr msgs[CARRIER_RX_DATAGRAMS];
	struct iovec iov[CARRIER_RX_DATAGRAMS];
	struct sockaddr_storage names[CARRIER_RX_DATAGRAMS];
	_Alignas(struct cmsghdr) uint8_t control[CARRIER_RX_DATAGRAMS][CONTROL];
	unsigned int out = 0;
	int n;

	for (unsigned int i = 0; i < max; i++) {
		iov[i] = (struct iovec){ dgrams[i].data, CARRIER_RX_SIZE };
		msgs[i].msg_hdr = (struct msghdr){
			.msg_name = &names[i],
			.msg_namelen = sizeof(names[i]),
			.msg_iov = &iov[i],
			.msg_iovlen = 1,
			.msg_control = control[i],
			.msg_controllen = sizeof(control[i]),
		};
	}
	n = receive_some(fd, msgs, max);
	/* The kernel has returned a pending ICMP error, once. Packets may wait after the error. */
	if (n < 0 && n != -EAGAIN && n != -EINTR) {
		carrier_port_errors(ep);
		n = receive_some(fd, msgs, max);
	}
	for (int i = 0; i < n; i++) {
		struct sockaddr *name = (struct sockaddr *)&names[i];
		uint8_t *data = dgrams[i].data;
		struct carrier_datagram *d = &dgrams[out];

		/* Swap the buffers, so that no two entries share one. */
		dgrams[i].data = d->data;
		d->data = data;
		if (!take_datagram(local, &msgs[i].msg_hdr, msgs[i].msg_len, d) || !d->len ||
		    (strip && !strip(ep, name, d)))
			continue;
		capture_received(ep, d);
		out++;
	}
	return out;
}

bool carrier_socket_receive_one(const struct endpoint *ep, int fd, struct carrier_datagram *d,
				size_t size)
{
	_Alignas(struct cmsghdr) uint8_t control[CONTROL];
	struct sockaddr_storage name;
	struct iovec iov = { d->data, size };
	struct msghdr msg = {
		.msg_name = &name,
		.msg_namelen = sizeof(name),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct ip_addr local = sockaddr_ip((const struct sockaddr *)&ep->bound.local);
	ssize_t len = sys_recvmsg(fd, &msg, MSG_DONTWAIT);

	if (len < 0)
		return false;
	if (!take_datagram(&local, &msg, (size_t)len, d))
		d->len = 0;
	return true;
}

bool carrier_socket_room(int fd, struct carrier_room *room)
{
	uint32_t meminfo[SK_MEMINFO_RCVBUF + 1];
	socklen_t len = sizeof(meminfo);

	if (sys_getsockopt(fd, SOL_SOCKET, SO_MEMINFO, meminfo, &len) || len < sizeof(meminfo))
		return false;
	room->used = meminfo[SK_MEMINFO_RMEM_ALLOC];
	room->size = meminfo[SK_MEMINFO_RCVBUF];
	return true;
}

bool carrier_socket_read_error(int fd, struct carrier_error *err, struct sock_extended_err *ee)
{
	_Alignas(struct cmsghdr) uint8_t control[512];
	struct sockaddr_storage name;
	struct iovec iov = { err->quoted, sizeof(err->quoted) };
	struct msghdr msg = {
		.msg_name = &name,
		.msg_namelen = sizeof(name),
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	ssize_t len;

	memset(&name, 0, sizeof(name));
	memset(err, 0, sizeof(*err));
	memset(ee, 0, sizeof(*ee));
	len = sys_recvmsg(fd, &msg, MSG_ERRQUEUE | MSG_DONTWAIT);
	if (len < 0)
		return false;
	err->quoted_len = (size_t)len;
	if (msg.msg_namelen && !sockaddr_check((struct sockaddr *)&name)) {
		err->to.remote = sockaddr_ip((struct sockaddr *)&name);
		err->to.udp_port = sockaddr_port((struct sockaddr *)&name);
	}
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		if ((c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVERR) ||
		    (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_RECVERR))
			memcpy(ee, CMSG_DATA(c), sizeof(*ee));
	}
	err->local = ee->ee_origin == SO_EE_ORIGIN_LOCAL;
	return true;
}

int carrier_socket_unreachable(const struct sock_extended_err *ee)
{
	bool is;

	if (ee->ee_origin == SO_EE_ORIGIN_ICMP)
		is = (ee->ee_type == ICMP_DEST_UNREACH && ee->ee_code != ICMP_FRAG_NEEDED) ||
		     ee->ee_type == ICMP_TIME_EXCEEDED;
	else
		is = ee->ee_origin == SO_EE_ORIGIN_ICMP6 &&
		     (ee->ee_type == ICMP6_DST_UNREACH || ee->ee_type == ICMP6_TIME_EXCEEDED);
	return is ? -(int)ee->ee_errno : 0;
}

/* ---- sending ---- */

void carrier_socket_add_control(struct carrier_outgoing *out, int level, int type, const void *data,
				size_t len)
{
	struct cmsghdr *c;

	if (!out->msg.msg_control)
		out->msg.msg_control = out->control.bytes;
	c = (struct cmsghdr *)(void *)(out->control.bytes + out->msg.msg_controllen);
	c->cmsg_level = level;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(c), data, len);
	out->msg.msg_controllen += CMSG_SPACE(len);
}

void carrier_socket_prepare_connected(struct carrier_outgoing *out)
{
	memset(&out->msg, 0, sizeof(out->msg));
	memset(&out->control, 0, sizeof(out->control));
}

void carrier_socket_prepare(struct carrier_outgoing *out, int family, const struct path_addr *to,
			    uint16_t port, bool from_local)
{
	carrier_socket_prepare_connected(out);
	out->msg.msg_name = &out->to;
	out->msg.msg_namelen = sockaddr_make(&out->to, family, &to->remote, port);
	if (!from_local || ip_addr_is_zero(&to->local))
		return;
	if (family == AF_INET) {
		struct in_pktinfo info = { 0 };

		memcpy(&info.ipi_spec_dst, to->local.b + 12, 4);
		carrier_socket_add_control(out, IPPROTO_IP, IP_PKTINFO, &info, sizeof(info));
	} else {
		struct in6_pktinfo info = { .ipi6_ifindex = to->local.scope_id };

		memcpy(&info.ipi6_addr, to->local.b, 16);
		carrier_socket_add_control(out, IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof(info));
	}
}
