/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The carrier of SCTP in UDP (RFC 6951). The local UDP port is the local SCTP port. */
#define _GNU_SOURCE
#include <errno.h>
#include <time.h>

#include <linux/errqueue.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>

#include "conn/conn.h"
#include "conn/user_sctp.h"
#include "log/log.h"
#include "net/capture.h"
#include "net/carrier_port.h"
#include "net/carrier_socket.h"
#include "net/carriers.h"
#include "net/path_socket.h"
#include "net/udp.h"
#include "sctp/sctp.h"
#include "util/bytes.h"
#include "util/sockaddr.h"
#include "sys/sys.h"

#ifndef IPV6_MULTICAST_ALL
#define IPV6_MULTICAST_ALL 29
#endif
#ifndef SO_ATTACH_REUSEPORT_CBPF
#define SO_ATTACH_REUSEPORT_CBPF 51
#endif
#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif

/* An IPv6 socket that also sends IPv4 packets needs the options of both families. */
static void set_df(struct endpoint *ep, bool df)
{
	struct carrier_port *p = carrier_port_of(ep);
	bool v6 = ep->bound.family == AF_INET6;

	carrier_socket_set_df(p->fd, !v6 || !ep->bound.v6only, v6, df);
	p->df = df;
}

/*
 * Lets several processes of the host receive packets to a group. Each process gets packets only
 * from interfaces on which it has joined the group itself.
 */
static void share_group(int fd, bool v6)
{
	sys_setsockopt_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
	if (v6)
		sys_setsockopt_int(fd, IPPROTO_IPV6, IPV6_MULTICAST_ALL, 0);
	else
		sys_setsockopt_int(fd, IPPROTO_IP, IP_MULTICAST_ALL, 0);
}

/*
 * Lets the second socket be bound to the address of the first one. The first socket has no
 * association yet, so its port needs no path sockets. The first socket did not share its port. So
 * its bind() would have failed if another program had the port.
 */
static void share_port(struct carrier_port *first, int second)
{
	path_sockets_close(first);
	sys_setsockopt_int(first->fd, SOL_SOCKET, SO_REUSEPORT, 1);
	sys_setsockopt_int(second, SOL_SOCKET, SO_REUSEPORT, 1);
}

/*
 * Attaches a BPF program that selects the socket, and so the shard, for a packet. The kernel runs
 * the program on the UDP payload. The result is the index of a socket, in the order of bind()
 * calls.
 */
static int udp_steer(struct endpoint *ep, unsigned int n)
{
	struct sock_filter insns[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, 0), /* the peer's SCTP port */
		BPF_STMT(BPF_ALU | BPF_MOD | BPF_K, n),
		BPF_STMT(BPF_RET | BPF_A, 0),
	};
	struct sock_fprog prog = { .len = sizeof(insns) / sizeof(insns[0]), .filter = insns };
	int fd = carrier_port_of(ep)->fd;

	if (n == 1)
		return sys_setsockopt_int(fd, SOL_SOCKET, SO_REUSEPORT, 0);
	return sys_setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &prog, sizeof(prog));
}

static int udp_join(struct endpoint *ep, const struct ip_addr *group, unsigned int ifindex,
		    bool join)
{
	int fd = carrier_port_of(ep)->fd;

	if (ep->bound.family == AF_INET6) {
		struct ipv6_mreq v6 = { .ipv6mr_interface = ifindex };

		memcpy(&v6.ipv6mr_multiaddr, group->b, sizeof(v6.ipv6mr_multiaddr));
		return sys_setsockopt(fd, IPPROTO_IPV6, join ? IPV6_JOIN_GROUP : IPV6_LEAVE_GROUP,
				      &v6, sizeof(v6));
	} else {
		struct ip_mreqn v4 = { .imr_ifindex = (int)ifindex };

		memcpy(&v4.imr_multiaddr, group->b + 12, sizeof(v4.imr_multiaddr));
		return sys_setsockopt(fd, IPPROTO_IP, join ? IP_ADD_MEMBERSHIP : IP_DROP_MEMBERSHIP,
				      &v4, sizeof(v4));
	}
}

/* Sets the hop limit of later packets to groups. */
static void set_hops(struct endpoint *ep, uint8_t hops)
{
	struct carrier_port *p = carrier_port_of(ep);

	if (ep->bound.family == AF_INET6)
		sys_setsockopt_int(p->fd, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, hops);
	sys_setsockopt_int(p->fd, IPPROTO_IP, IP_MULTICAST_TTL, hops);
	p->hops = hops;
}

/* ---- receiving ---- */

unsigned int udp_receive(struct endpoint *ep, struct path_socket *path,
			 struct carrier_datagram *dgrams, unsigned int max)
{
	struct ip_addr local;

	if (path)
		return path_socket_receive(path, dgrams, max);
	local = sockaddr_ip((const struct sockaddr *)&ep->bound.local);
	return carrier_socket_receive(ep, carrier_port_of(ep)->fd, &local, dgrams, max, NULL);
}

bool udp_next_error(struct endpoint *ep, struct carrier_error *err)
{
	struct carrier_port *p = carrier_port_of(ep);
	struct sock_extended_err ee;

	if (!carrier_socket_read_error(p->fd, err, &ee) && !path_socket_next_error(p, err, &ee))
		return false;
	err->unreachable = carrier_socket_unreachable(&ee);
	if (ee.ee_errno == EMSGSIZE)
		err->mtu = ee.ee_info;
	return true;
}

static const struct carrier_port_ops port_ops = {
	.rx_batch = 1,
	.receive = udp_receive,
	.next_error = udp_next_error,
	.deliver = user_sctp_input,
};

/* ---- opening ---- */

int udp_start(struct conn *c, struct config_error *why)
{
	int ret;

	c->net->paths = path_sockets_new();
	ret = c->net->paths ? carrier_port_start(c, why) : -ENOMEM;
	if (ret) {
		path_sockets_free(c->net->paths);
		c->net->paths = NULL;
	}
	return ret;
}

void udp_stop(struct conn *c)
{
	carrier_port_stop(c);
	path_sockets_free(c->net->paths);
	c->net->paths = NULL;
}

static int open_socket(struct endpoint *ep, struct carrier_port *p, const struct sockaddr *addr)
{
	struct endpoint_bound *bound = &ep->bound;
	bool v6 = bound->family == AF_INET6;
	int ret;

	p->fd = p->out.fd = sys_keep(sys_socket(bound->family, SOCK_DGRAM, IPPROTO_UDP));
	if (p->fd < 0)
		return p->fd;
	if (v6)
		sys_setsockopt_int(p->fd, IPPROTO_IPV6, IPV6_V6ONLY, bound->v6only);
	if (bound->multicast)
		share_group(p->fd, v6);
	if (ep->beside)
		share_port(carrier_port_of(ep->beside), p->fd);
	carrier_socket_report(p->fd, !v6 || !bound->v6only, v6, bound->wildcard);
	ret = sys_bind(p->fd, addr, sockaddr_len(addr));
	return ret ? ret : sys_getsockname(p->fd, &bound->local);
}

int udp_open_port(struct endpoint *ep, const struct sockaddr *addr, bool v6only, size_t *rcvbuf,
		  const struct carrier_port_ops *ops)
{
	struct carrier_port *p = carrier_port_new(ep, ops);
	struct ip_addr ip = sockaddr_ip(addr);
	int ret;

	if (!p)
		return -ENOMEM;
	ep->bound.family = addr->sa_family;
	ep->bound.v6only = v6only;
	ep->bound.wildcard = sockaddr_is_any(addr);
	ep->bound.multicast = ip_addr_is_multicast(&ip);
	ret = open_socket(ep, p, addr);
	if (ret) {
		carrier_port_free(ep);
		return ret;
	}
	ep->bound.port = sockaddr_port((struct sockaddr *)&ep->bound.local);
	*rcvbuf = carrier_socket_raise_buffers(p->fd);
	sys_setsockopt_int(p->fd, SOL_UDP, UDP_GRO, 1);
	set_df(ep, true);
	return 0;
}

static int udp_open(struct endpoint *ep, const struct sockaddr *addr, bool v6only, size_t *rcvbuf)
{
	return udp_open_port(ep, addr, v6only, rcvbuf, &port_ops);
}

/* ---- sending ---- */

#define GATHERED (2 * SCTP_BATCH_REFS + 1)

/* Fills iov with the next len bytes of the batch. Returns the entries used, at most GATHERED. */
static size_t gather(const struct sctp_batch *batch, size_t len, struct iovec *iov)
{
	const uint8_t *p = batch->data, *end = p + len;
	size_t n = 0;

	for (unsigned int i = 0; i < batch->n_refs; i++) {
		const struct sctp_ref *ref = &batch->refs[i];

		if (ref->at < p || ref->at >= end)
			continue;
		iov[n++] = (struct iovec){ (void *)(uintptr_t)p, (size_t)(ref->at - p) };
		iov[n++] = (struct iovec){ (void *)(uintptr_t)ref->from, ref->len };
		p = ref->at + ref->len;
	}
	if (p != end)
		iov[n++] = (struct iovec){ (void *)(uintptr_t)p, (size_t)(end - p) };
	return n;
}

/*
 * Sends the next len bytes of the batch. sendmsg() may fail with an ICMP error of an earlier
 * packet, perhaps a forged one, without sending this packet. So the packet is sent a second time.
 * EMSGSIZE means that this packet is too long only if the second call returns it.
 */
static int send_once(struct endpoint *ep, struct carrier_outgoing *out,
		     const struct sctp_batch *batch, size_t len)
{
	int fd = carrier_port_of(ep)->out.fd;
	struct iovec iov[GATHERED];
	ssize_t ret;

	out->msg.msg_iov = iov;
	out->msg.msg_iovlen = gather(batch, len, iov);
	ret = sys_sendmsg(fd, &out->msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (ret >= 0)
		return 0;
	if (ret == -EAGAIN || ret == -EINVAL || ret == -EIO)
		return (int)ret;
	carrier_port_errors(ep);
	ret = sys_sendmsg(fd, &out->msg, MSG_DONTWAIT | MSG_NOSIGNAL);
	return ret < 0 ? (int)ret : 0;
}

/*
 * Sends each packet of a batch in its own call. gso_error is the error with which UDP_SEGMENT was
 * refused, or 0. If a full-size packet then passes, the route cannot segment. A shorter packet does
 * not show this, since the full-size packets may be too long for the route.
 */
static int send_singly(struct endpoint *ep, struct carrier_outgoing *out, struct sctp_batch *batch,
		       int gso_error)
{
	while (batch->len) {
		size_t len = batch->len < batch->segment ? batch->len : batch->segment;
		int ret = send_once(ep, out, batch, len);

		if (ret == -EAGAIN)
			return ret;
		if (!ret)
			capture_sent(ep, &batch->to, batch->data, len, len);
		if (!ret && gso_error && len == batch->segment) {
			link_set_no_gso(&carrier_port_of(ep)->links, &batch->to.remote,
					ep->conn->now);
			log_debug("port %u: no UDP_SEGMENT on this route (error %d)",
				  ep->bound.port, -gso_error);
			gso_error = 0;
		}
		batch->data += len;
		batch->len -= len;
	}
	return 0;
}

/* True for several packets with DF, unless UDP_SEGMENT is known to fail on the route. */
static bool may_segment(struct endpoint *ep, const struct sctp_batch *batch)
{
	const struct carrier_link *link;

	/*
	 * UDP_SEGMENT refuses packets longer than the path MTU. Packets without DF may be longer.
	 */
	if (batch->len <= batch->segment || !batch->df)
		return false;
	link = link_find(&carrier_port_of(ep)->links, &batch->to.remote, ep->conn->now);
	return !link || !link->no_gso;
}

/*
 * True if the batch may use a path socket. With several shards, a peer may use one UDP port for
 * several SCTP ports, whose associations are on different shards. A connected socket would then
 * take packets of other shards, so the peer's two ports must be equal.
 */
static bool has_own_path(const struct endpoint *ep, const struct sctp_batch *batch)
{
	return !ep->group || get_be16(batch->data + 2) == batch->to.udp_port;
}

/* Sets port.out to the socket for the batch. Prepares the message for that socket. */
static void choose_socket(struct endpoint *ep, const struct sctp_batch *batch,
			  struct carrier_outgoing *out)
{
	struct carrier_port *p = carrier_port_of(ep);
	struct path_socket *ps = has_own_path(ep, batch) ? path_socket_of(p, &batch->to) : NULL;

	if (ps) {
		if (batch->df != ps->df)
			path_socket_set_df(ps, batch->df);
		p->out = (struct carrier_watched){ ps->fd, &ps->watch };
		ep->conn->traffic.path_sends++;
		carrier_socket_prepare_connected(out);
		return;
	}
	if (batch->df != p->df)
		set_df(ep, batch->df);
	if (batch->hops && batch->hops != p->hops)
		set_hops(ep, batch->hops);
	p->out = (struct carrier_watched){ p->fd, &p->watch };
	carrier_socket_prepare(out, ep->bound.family, &batch->to, batch->to.udp_port,
			       ep->bound.wildcard);
}

int udp_send(struct endpoint *ep, struct sctp_batch *batch)
{
	const struct carrier_port *p = carrier_port_of(ep);
	uint16_t segment = (uint16_t)batch->segment;
	struct carrier_outgoing out;
	size_t without_segment;
	int error;

	if (p->fd < 0)
		return 0;
	choose_socket(ep, batch, &out);
	if (!may_segment(ep, batch))
		return send_singly(ep, &out, batch, 0);
	without_segment = out.msg.msg_controllen;
	carrier_socket_add_control(&out, SOL_UDP, UDP_SEGMENT, &segment, sizeof(segment));
	error = send_once(ep, &out, batch, batch->len);
	if (!error)
		capture_sent(ep, &batch->to, batch->data, batch->len, segment);
	/*
	 * EIO: the route cannot segment. EINVAL or EMSGSIZE, depending on the kernel: the segments
	 * are too long for the route, and so are single packets. If single packets pass, EMSGSIZE
	 * was an ICMP error of an earlier packet.
	 */
	if (error != -EINVAL && error != -EIO && error != -EMSGSIZE)
		return error == -EAGAIN ? -EAGAIN : 0;
	out.msg.msg_controllen = without_segment;
	if (!without_segment)
		out.msg.msg_control = NULL;
	return send_singly(ep, &out, batch, error == -EMSGSIZE ? 0 : error);
}

/* Tries twice, since the first call may fail with an ICMP error of an earlier packet. */
void udp_send_one(struct endpoint *ep, const struct path_addr *to, const uint8_t *data, size_t len)
{
	const struct sctp_batch batch = { .data = data, .len = len, .segment = len, .to = *to };
	struct iovec iov = { (void *)(uintptr_t)data, len };
	struct carrier_outgoing out;
	ssize_t ret = -EINTR;

	if (carrier_port_of(ep)->fd < 0)
		return;
	choose_socket(ep, &batch, &out);
	out.msg.msg_iov = &iov;
	out.msg.msg_iovlen = 1;
	for (int i = 0; i < 2 && ret < 0 && ret != -EAGAIN; i++)
		ret = sys_sendmsg(carrier_port_of(ep)->out.fd, &out.msg,
				  MSG_DONTWAIT | MSG_NOSIGNAL);
	if (ret >= 0)
		capture_sent(ep, to, data, len, len);
}

bool udp_room(const struct endpoint *ep, const struct ip_addr *from, struct carrier_room *room)
{
	const struct carrier_port *p = carrier_port_of(ep);

	return path_sockets_room(p, from, room) || carrier_socket_room(p->fd, room);
}

const struct carrier carrier_udp = {
	.references = true,
	.whole_batches = true,
	.start = udp_start,
	.stop = udp_stop,
	.open = udp_open,
	.close = carrier_port_free,
	.steer = udp_steer,
	.watch = carrier_port_watch,
	.join = udp_join,
	.forget = carrier_port_forget,
	.set_tos = carrier_port_set_tos,
	.receive = carrier_port_receive,
	.send = udp_send,
	.await_room = carrier_port_await_room,
	.room = udp_room,
};
