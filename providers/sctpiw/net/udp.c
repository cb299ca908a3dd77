/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* SCTP in UDP (RFC 6951): the lower layer `udp`. Our UDP port is our SCTP port. */
#define _GNU_SOURCE
#include <errno.h>
#include <time.h>

#include <linux/errqueue.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>

#include "net/capture.h"
#include "net/carrier.h"
#include "net/carrier_socket.h"
#include "log/log.h"
#include "runtime/private.h"
#include "util/sockaddr.h"
#include "sys/sys.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

static void set_df(struct endpoint *ep, bool df)
{
	/* The options of both families: a socket for IPv6 sends IPv4 as well. */
	carrier_set_df(ep->fd, ep->family == AF_INET || !ep->v6only, ep->family == AF_INET6, df);
	ep->df = df;
}

static int udp_open(struct endpoint *ep, const struct sockaddr *addr, bool v6only)
{
	int fd, ret;

	fd = sys_keep(sys_socket(addr->sa_family, SOCK_DGRAM, IPPROTO_UDP));
	if (fd < 0)
		return fd;
	ep->fd = ep->out_fd = fd;
	ep->family = addr->sa_family;
	ep->v6only = v6only;
	ep->wildcard = sockaddr_is_any(addr);
	if (addr->sa_family == AF_INET6)
		sys_setsockopt_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, v6only);
	carrier_report(fd, addr->sa_family == AF_INET || !v6only, addr->sa_family == AF_INET6,
		   ep->wildcard);
	ret = sys_bind(fd, addr, sockaddr_len(addr));
	if (!ret)
		ret = sys_getsockname(fd, &ep->local);
	if (ret) {
		endpoint_close_fds(ep);
		return ret;
	}
	ep->port = sockaddr_port((struct sockaddr *)&ep->local);
	ep->rcvbuf = carrier_raise_buffers(fd);
	sys_setsockopt_int(fd, SOL_UDP, UDP_GRO, 1);
	set_df(ep, true);
	return 0;
}

/* ---- receiving ---- */

static unsigned int udp_receive(struct endpoint *ep, struct carrier_datagram *dgrams, unsigned int max)
{
	return carrier_receive(ep, ep->fd, dgrams, max, NULL);
}

static bool udp_next_error(struct endpoint *ep, struct carrier_error *err)
{
	struct sock_extended_err ee;

	if (!carrier_read_error(ep->fd, err, &ee))
		return false;
	err->unreachable = ee.ee_errno == ECONNREFUSED;
	if (ee.ee_errno == EMSGSIZE)
		err->mtu = ee.ee_info;
	return true;
}

/* ---- sending ---- */

#define GATHERED (2 * SCTP_BATCH_REFS + 1)

/* The next len bytes of the batch. Returns the number of pieces, GATHERED at most. */
static size_t gather(const struct sctp_batch *batch, size_t len, struct iovec *iov)
{
	const uint8_t *p = batch->data, *end = p + len;
	size_t n = 0;

	for (unsigned int i = 0; i < batch->n_refs; i++) {
		const struct sctp_ref *ref = &batch->refs[i];

		if (ref->at < p || ref->at >= end)
			continue;
		iov[n++] = (struct iovec){(void *)(uintptr_t)p, (size_t)(ref->at - p)};
		iov[n++] = (struct iovec){(void *)(uintptr_t)ref->from, ref->len};
		p = ref->at + ref->len;
	}
	if (p != end)
		iov[n++] = (struct iovec){(void *)(uintptr_t)p, (size_t)(end - p)};
	return n;
}

/*
 * The next len bytes of the batch. Errors of earlier packets are reported by the next call: then this one has not
 * been tried yet.
 */
static int send_once(struct endpoint *ep, struct carrier_outgoing *out, const struct sctp_batch *batch,
		     size_t len)
{
	struct iovec iov[GATHERED];
	ssize_t ret;

	out->msg.msg_iov = iov;
	out->msg.msg_iovlen = gather(batch, len, iov);
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
	struct carrier_outgoing out;
	size_t without_segment;
	int gso_error = 0, ret;

	if (batch->df != ep->df)
		set_df(ep, batch->df);
	carrier_prepare(&out, ep->family, &batch->to, batch->to.udp_port, ep->wildcard);
	without_segment = out.msg.msg_controllen;
	/* What may be fragmented is longer than the path takes: not for UDP_SEGMENT. */
	if (batch->len > batch->segment && !ep->no_gso && batch->df) {
		uint16_t segment = (uint16_t)batch->segment;

		carrier_add_control(&out, SOL_UDP, UDP_SEGMENT, &segment, sizeof(segment));
		gso_error = send_once(ep, &out, batch, batch->len);
		if (!gso_error)
			capture_sent(ep, &batch->to, batch->data, batch->len, segment);
		/* By kernel, EINVAL or EMSGSIZE for segments too long for the route. */
		if (gso_error != -EINVAL && gso_error != -EIO && gso_error != -EMSGSIZE)
			return gso_error == -EAGAIN ? -EAGAIN : 0;
		out.msg.msg_controllen = without_segment;
		if (!without_segment)
			out.msg.msg_control = NULL;
	}
	while (batch->len) {
		size_t len = batch->len < batch->segment ? batch->len : batch->segment;

		ret = send_once(ep, &out, batch, len);
		if (ret == -EAGAIN)
			return ret;
		if (!ret)
			capture_sent(ep, &batch->to, batch->data, len, len);
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

const struct carrier carrier_udp = {
	.name = "udp",
	.gathers = true,
	.rx_batch = 1,
	.open = udp_open,
	.receive = udp_receive,
	.send = udp_send,
	.next_error = udp_next_error,
};
