/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* SCTP in UDP (RFC 6951): the lower layer `udp`. The UDP port is the SCTP port. */
#define _GNU_SOURCE
#include <errno.h>
#include <time.h>

#include <linux/errqueue.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>

#include "engine/log.h"
#include "engine/private.h"
#include "engine/sockaddr.h"
#include "engine/sys.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

#define SOCKET_BUFFER (4 << 20)

/* A message of a batch, its destination, source and segment size, as sendmsg() wants them. */
struct outgoing {
	struct msghdr msg;
	struct iovec iov;
	struct sockaddr_storage to;
	union {
		struct cmsghdr align;
		uint8_t bytes[CMSG_SPACE(sizeof(struct in6_pktinfo)) +
			      CMSG_SPACE(sizeof(uint16_t))];
	} control;
};

/* What the kernel really holds; it doubles the value, since it counts its own memory as well. */
static size_t raise_buffer(int fd, int name, int force_name)
{
	int got;

	sys_setsockopt_int(fd, SOL_SOCKET, name, SOCKET_BUFFER);
	got = sys_getsockopt_int(fd, SOL_SOCKET, name);
	if (got < 2 * SOCKET_BUFFER) {
		sys_setsockopt_int(fd, SOL_SOCKET, force_name, SOCKET_BUFFER);
		got = sys_getsockopt_int(fd, SOL_SOCKET, name);
	}
	return got > 0 ? (size_t)got : 0;
}

/* No IPv6 path takes less; what is cut so small passes all of them. */
#define IPV6_SMALLEST_MTU 1280

static void set_df(struct endpoint *ep, bool df)
{
	/* The options of both families: a socket for IPv6 sends IPv4 as well. */
	if (ep->family == AF_INET6) {
		sys_setsockopt_int(ep->fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER,
				   df ? IPV6_PMTUDISC_DO : IPV6_PMTUDISC_DONT);
		/* Only the sender fragments, and it may not know of a smaller link. 0: none. */
		sys_setsockopt_int(ep->fd, IPPROTO_IPV6, IPV6_MTU, df ? 0 : IPV6_SMALLEST_MTU);
	}
	if (ep->family == AF_INET || !ep->v6only)
		sys_setsockopt_int(ep->fd, IPPROTO_IP, IP_MTU_DISCOVER,
				   df ? IP_PMTUDISC_DO : IP_PMTUDISC_DONT);
	ep->df = df;
}

static int udp_open(struct endpoint *ep, const struct sockaddr *addr, bool v6only)
{
	int fd, ret;

	fd = sys_keep(sys_socket(addr->sa_family, SOCK_DGRAM, IPPROTO_UDP));
	if (fd < 0)
		return fd;
	ep->fd = fd;
	ep->family = addr->sa_family;
	ep->v6only = v6only;
	ep->wildcard = sockaddr_is_any(addr);
	if (addr->sa_family == AF_INET6) {
		sys_setsockopt_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, v6only);
		sys_setsockopt_int(fd, IPPROTO_IPV6, IPV6_RECVERR, 1);
		sys_setsockopt_int(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, ep->wildcard);
	} else {
		sys_setsockopt_int(fd, IPPROTO_IP, IP_PKTINFO, ep->wildcard);
	}
	if (addr->sa_family == AF_INET || !v6only)
		sys_setsockopt_int(fd, IPPROTO_IP, IP_RECVERR, 1);
	ret = sys_bind(fd, addr, sockaddr_len(addr));
	if (!ret)
		ret = sys_getsockname(fd, &ep->local);
	if (ret) {
		sys_close(fd);
		ep->fd = -1;
		return ret;
	}
	ep->port = sockaddr_port((struct sockaddr *)&ep->local);
	ep->rcvbuf = raise_buffer(fd, SO_RCVBUF, SO_RCVBUFFORCE);
	raise_buffer(fd, SO_SNDBUF, SO_SNDBUFFORCE);
	sys_setsockopt_int(fd, SOL_UDP, UDP_GRO, 1);
	set_df(ep, true);
	return 0;
}

/* ---- receiving ---- */

/* false: not for this host alone (broadcast, multicast), which SCTP does not take. */
static bool read_control(struct endpoint *ep, struct msghdr *msg, struct llp_datagram *d)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
		if (c->cmsg_level == SOL_UDP && c->cmsg_type == UDP_GRO) {
			int size;

			memcpy(&size, CMSG_DATA(c), sizeof(size));
			if (size > 0)
				d->segment = (size_t)size;
		} else if (c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_PKTINFO) {
			struct in_pktinfo info;
			struct sockaddr_in sin = {.sin_family = AF_INET};

			memcpy(&info, CMSG_DATA(c), sizeof(info));
			if (info.ipi_addr.s_addr != info.ipi_spec_dst.s_addr)
				return false;
			sin.sin_addr = info.ipi_addr;
			d->from.local = sockaddr_ip((struct sockaddr *)&sin);
		} else if (c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_PKTINFO) {
			struct in6_pktinfo info;
			struct sockaddr_in6 sin6 = {.sin6_family = AF_INET6};

			memcpy(&info, CMSG_DATA(c), sizeof(info));
			if (IN6_IS_ADDR_MULTICAST(&info.ipi6_addr))
				return false;
			sin6.sin6_addr = info.ipi6_addr;
			sin6.sin6_scope_id = info.ipi6_ifindex;
			d->from.local = sockaddr_ip((struct sockaddr *)&sin6);
		}
	}
	return true;
}

static unsigned int udp_receive(struct endpoint *ep, struct llp_datagram *dgrams, unsigned int max)
{
	struct mmsghdr msgs[LLP_RX_DATAGRAMS];
	struct iovec iov[LLP_RX_DATAGRAMS];
	struct sockaddr_storage names[LLP_RX_DATAGRAMS];
	_Alignas(struct cmsghdr) uint8_t control[LLP_RX_DATAGRAMS][128];
	unsigned int out = 0;
	int n;

	for (unsigned int i = 0; i < max; i++) {
		iov[i] = (struct iovec){dgrams[i].data, LLP_RX_SIZE};
		msgs[i].msg_hdr = (struct msghdr){
			.msg_name = &names[i],
			.msg_namelen = sizeof(names[i]),
			.msg_iov = &iov[i],
			.msg_iovlen = 1,
			.msg_control = control[i],
			.msg_controllen = sizeof(control[i]),
		};
	}
	n = sys_recvmmsg(ep->fd, msgs, max, MSG_DONTWAIT);
	/* An ICMP error of earlier; it is told once, and the packets stand behind it. */
	if (n < 0 && n != -EAGAIN && n != -EINTR) {
		endpoint_errors(ep);
		n = sys_recvmmsg(ep->fd, msgs, max, MSG_DONTWAIT);
	}
	for (int i = 0; i < n; i++) {
		struct sockaddr *name = (struct sockaddr *)&names[i];
		uint8_t *data = dgrams[i].data;
		struct llp_datagram *d = &dgrams[out];

		/* The buffers stay a permutation of themselves. */
		dgrams[i].data = d->data;
		d->data = data;
		d->len = d->segment = msgs[i].msg_len;
		d->from.remote = sockaddr_ip(name);
		d->from.udp_port = sockaddr_port(name);
		d->from.local = sockaddr_ip((struct sockaddr *)&ep->local);
		if (read_control(ep, &msgs[i].msg_hdr, d) && d->len)
			out++;
	}
	return out;
}

static bool udp_next_error(struct endpoint *ep, struct llp_error *err)
{
	_Alignas(struct cmsghdr) uint8_t control[512];
	struct sockaddr_storage name;
	struct iovec iov = {err->quoted, sizeof(err->quoted)};
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
	len = sys_recvmsg(ep->fd, &msg, MSG_ERRQUEUE | MSG_DONTWAIT);
	if (len < 0)
		return false;
	err->quoted_len = (size_t)len;
	if (msg.msg_namelen && !sockaddr_check((struct sockaddr *)&name)) {
		err->to.remote = sockaddr_ip((struct sockaddr *)&name);
		err->to.udp_port = sockaddr_port((struct sockaddr *)&name);
	}
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		struct sock_extended_err ee;

		if (!(c->cmsg_level == IPPROTO_IP && c->cmsg_type == IP_RECVERR) &&
		    !(c->cmsg_level == IPPROTO_IPV6 && c->cmsg_type == IPV6_RECVERR))
			continue;
		memcpy(&ee, CMSG_DATA(c), sizeof(ee));
		err->unreachable = ee.ee_errno == ECONNREFUSED;
		if (ee.ee_errno == EMSGSIZE)
			err->mtu = ee.ee_info;
		err->local = ee.ee_origin == SO_EE_ORIGIN_LOCAL;
	}
	return true;
}

/* ---- sending ---- */

static void add_control(struct outgoing *out, int level, int type, const void *data, size_t len)
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

static void prepare(struct endpoint *ep, const struct path_addr *to, struct outgoing *out)
{
	memset(&out->msg, 0, sizeof(out->msg));
	memset(&out->control, 0, sizeof(out->control));
	out->msg.msg_name = &out->to;
	out->msg.msg_namelen = sockaddr_make(&out->to, ep->family, &to->remote, to->udp_port);
	out->msg.msg_iov = &out->iov;
	out->msg.msg_iovlen = 1;
	if (!ep->wildcard || ip_addr_is_zero(&to->local))
		return;
	if (ep->family == AF_INET) {
		struct in_pktinfo info = {0};

		memcpy(&info.ipi_spec_dst, to->local.b + 12, 4);
		add_control(out, IPPROTO_IP, IP_PKTINFO, &info, sizeof(info));
	} else {
		struct in6_pktinfo info = {.ipi6_ifindex = to->local.scope_id};

		memcpy(&info.ipi6_addr, to->local.b, 16);
		add_control(out, IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof(info));
	}
}

/* Errors of earlier packets are reported by the next call: then this one has not been tried yet. */
static int send_once(struct endpoint *ep, struct outgoing *out, const uint8_t *data, size_t len)
{
	ssize_t ret;

	out->iov = (struct iovec){(void *)(uintptr_t)data, len};
	ret = sys_sendmsg(ep->fd, &out->msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (ret >= 0)
		return 0;
	switch (ret) {
	case -EAGAIN:
	case -EINVAL:
	case -EIO:
		return (int)ret;
	case -EMSGSIZE:
		endpoint_errors(ep);
		return (int)ret;
	default:
		endpoint_errors(ep);
		ret = sys_sendmsg(ep->fd, &out->msg, MSG_DONTWAIT | MSG_NOSIGNAL);
		return ret < 0 ? (int)ret : 0;
	}
}

static int udp_send(struct endpoint *ep, struct sctp_batch *batch)
{
	struct outgoing out;
	size_t without_segment;
	int gso_error = 0, ret;

	if (batch->df != ep->df)
		set_df(ep, batch->df);
	prepare(ep, &batch->to, &out);
	without_segment = out.msg.msg_controllen;
	/* What may be fragmented is longer than the path takes: not for UDP_SEGMENT. */
	if (batch->len > batch->segment && !ep->no_gso && batch->df) {
		uint16_t segment = (uint16_t)batch->segment;

		add_control(&out, SOL_UDP, UDP_SEGMENT, &segment, sizeof(segment));
		gso_error = send_once(ep, &out, batch->data, batch->len);
		/* By kernel, EINVAL or EMSGSIZE for segments too long for the route. */
		if (gso_error != -EINVAL && gso_error != -EIO && gso_error != -EMSGSIZE)
			return gso_error == -EAGAIN ? -EAGAIN : 0;
		out.msg.msg_controllen = without_segment;
		if (!without_segment)
			out.msg.msg_control = NULL;
	}
	while (batch->len) {
		size_t len = batch->len < batch->segment ? batch->len : batch->segment;

		ret = send_once(ep, &out, batch->data, len);
		if (ret == -EAGAIN)
			return ret;
		/* A shorter one proves nothing: the others may be too long for the route. */
		if (!ret && gso_error && len == batch->segment && !ep->no_gso) {
			ep->no_gso = true;
			log_debug("port %u: no UDP_SEGMENT here (error %d)", ep->port, -gso_error);
		}
		batch->data += len;
		batch->len -= len;
	}
	return 0;
}

const struct llp llp_udp = {
	.name = "udp",
	.open = udp_open,
	.receive = udp_receive,
	.send = udp_send,
	.next_error = udp_next_error,
};
