/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The carrier of SCTP directly on IP, protocol 132. A raw socket receives SCTP packets to all ports
 * of the host. A BPF filter passes only packets to the endpoint's port, so that several processes
 * can use SCTP. IPv6 and IPv4 need separate sockets: an endpoint on :: that also accepts IPv4 has
 * carrier_port.fd and carrier_port.fd4.
 *
 * Raw sockets have no ports. So carrier_port.claim, a UDP socket with the endpoint's address,
 * reserves the port number. Its bind() chooses an ephemeral port, or fails if the port is in use.
 * The socket also refuses peers that use llp = udp by mistake (net/signpost.h).
 *
 * A process does not know whether another process has a given port. So no process answers packets
 * to an unused port, and the sender notices only the silence. A host without any SCTP socket does
 * answer (ICMP protocol unreachable).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/errqueue.h>
#include <linux/filter.h>
#include <netinet/icmp6.h>
#include <netinet/ip_icmp.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "conn/conn.h"
#include "conn/user_sctp.h"
#include "net/capture.h"
#include "net/carrier_port.h"
#include "net/carrier_socket.h"
#include "net/carriers.h"
#include "net/signpost.h"
#include "sctp/sctp.h"
#include "util/sockaddr.h"
#include "sys/sys.h"
#include "util/bytes.h"

/* Maximum messages of one sendmmsg() call. A batch has up to 64 packets. */
#define TX_MESSAGES 64

/*
 * Offset of the destination port in the SCTP common header (RFC 9260 3.1), and the number of bytes
 * that an ICMP error quotes: the ports and the verification tag.
 */
#define DPORT_OFFSET 2
#define COMMON_MIN 8

#define FILTER(...)                                                                                \
	{                                                                                          \
		.len = sizeof((struct sock_filter[]){ __VA_ARGS__ }) / sizeof(struct sock_filter), \
		.filter = (struct sock_filter[]){ __VA_ARGS__ },                                   \
	}

/* ---- check ---- */

static bool ip_check(struct config_error *why)
{
	int fd = sys_open("/proc/net/sctp", O_PATH);
	const char *text = NULL;

	sys_close(fd);
	if (fd >= 0) {
		text = "llp = ip: the SCTP of this kernel is active, and would answer our packets with "
		       "ABORTs: take llp = kernel or udp, or unload it (rmmod sctp)";
	} else {
		fd = sys_socket(AF_INET, SOCK_RAW, IPPROTO_SCTP);
		sys_close(fd);
		if (fd == -EPERM || fd == -EACCES)
			text = "llp = ip needs CAP_NET_RAW: run this as root, or under "
			       "setpriv --inh-caps=+net_raw --ambient-caps=+net_raw; or take llp = udp";
		else if (fd < 0)
			text = strerror(-fd);
	}
	if (text)
		snprintf(why->text, sizeof(why->text), "%s", text);
	return !text;
}

/* ---- opening ---- */

static int attach(int fd, const struct sock_fprog *filter)
{
	return sys_setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, filter, sizeof(*filter));
}

static int claim_port(struct endpoint *ep, struct carrier_port *p, const struct sockaddr *addr)
{
	int ret = signpost_open(addr, ep->bound.v6only);

	if (ret < 0)
		return ret;
	p->claim = ret;
	ret = sys_getsockname(p->claim, &ep->bound.local);
	ep->bound.port = sockaddr_port((struct sockaddr *)&ep->bound.local);
	return ret;
}

/* Passes only packets to this port. A raw IPv4 socket receives the IP header, unlike IPv6. */
static int filter_port(int fd, bool v4, uint16_t port)
{
	const struct sock_fprog after_header =
		FILTER(BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
		       BPF_STMT(BPF_LD | BPF_H | BPF_IND, DPORT_OFFSET),
		       BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, port, 0, 1),
		       BPF_STMT(BPF_RET | BPF_K, UINT32_MAX), BPF_STMT(BPF_RET | BPF_K, 0));
	const struct sock_fprog at_once = FILTER(BPF_STMT(BPF_LD | BPF_H | BPF_ABS, DPORT_OFFSET),
						 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, port, 0, 1),
						 BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
						 BPF_STMT(BPF_RET | BPF_K, 0));

	return attach(fd, v4 ? &after_header : &at_once);
}

/* Opens a raw socket of one family for the endpoint's address and port. */
static int open_raw(struct endpoint *ep, int family, int *out, size_t *rcvbuf)
{
	struct ip_addr ip = sockaddr_ip((struct sockaddr *)&ep->bound.local);
	bool v4 = family == AF_INET;
	struct sockaddr_storage addr;
	int fd, ret;

	fd = sys_keep(sys_socket(family, SOCK_RAW, IPPROTO_SCTP));
	if (fd < 0)
		return fd;
	*out = fd;
	ret = filter_port(fd, v4, ep->bound.port);
	carrier_socket_report(fd, v4, !v4, ep->bound.wildcard);
	if (!ret && !ep->bound.wildcard) {
		sockaddr_make(&addr, family, &ip, 0);
		ret = sys_bind(fd, (struct sockaddr *)&addr,
			       sockaddr_len((struct sockaddr *)&addr));
	}
	*rcvbuf = carrier_socket_raise_buffers(fd);
	carrier_socket_set_df(fd, v4, !v4, true);
	return ret;
}

/* ---- receiving ---- */

/* Returns the length of the header before the SCTP packet. */
static size_t header_len(const struct sockaddr *from, const uint8_t *data, size_t len)
{
	return from->sa_family == AF_INET && len ? (data[0] & 0xfu) * 4 : 0;
}

static bool strip(const struct endpoint *ep, const struct sockaddr *from,
		  struct carrier_datagram *d)
{
	size_t header = header_len(from, d->data, d->len);

	if (d->len < header + COMMON_MIN)
		return false;
	/* The packet may have arrived before the filter was attached. */
	if (get_be16(d->data + header + DPORT_OFFSET) != ep->bound.port)
		return false;
	d->data += header;
	d->len = d->segment = d->len - header;
	d->from.udp_port = 0;
	return true;
}

static unsigned int ip_receive(struct endpoint *ep, struct path_socket *path,
			       struct carrier_datagram *dgrams, unsigned int max)
{
	struct ip_addr local = sockaddr_ip((const struct sockaddr *)&ep->bound.local);
	const struct carrier_port *p = carrier_port_of(ep);
	/* Each family gets half of the datagrams: a flood in one must not block the other. */
	unsigned int n = carrier_socket_receive(ep, p->fd, &local, dgrams,
						p->fd4 >= 0 ? max / 2 : max, strip);

	if (p->fd4 >= 0)
		n += carrier_socket_receive(ep, p->fd4, &local, dgrams + n, max - n, strip);
	return n;
}

/* True if the quote is of this port. Every raw socket of the host gets every ICMP error. */
static bool is_ours(const struct endpoint *ep, const struct carrier_error *err)
{
	return err->local ||
	       (err->quoted_len >= COMMON_MIN && get_be16(err->quoted) == ep->bound.port);
}

/* ICMP "port unreachable" and "protocol unreachable" mean something else than for UDP. */
static int unreachable(const struct sock_extended_err *ee)
{
	int error = carrier_socket_unreachable(ee);

	/* A protocol error has the effect of an ABORT from the peer (RFC 9260 10, ICMP8). */
	if ((ee->ee_origin == SO_EE_ORIGIN_ICMP && error == -ENOPROTOOPT) ||
	    (ee->ee_origin == SO_EE_ORIGIN_ICMP6 && ee->ee_type == ICMP6_PARAM_PROB &&
	     ee->ee_code == ICMP6_PARAMPROB_NEXTHEADER))
		return -ECONNREFUSED;
	/* SCTP ignores "port unreachable" (ICMP3). */
	return error == -ECONNREFUSED ? 0 : error;
}

static bool ip_next_error(struct endpoint *ep, struct carrier_error *err)
{
	const struct carrier_port *p = carrier_port_of(ep);
	struct sock_extended_err ee;

	if (!carrier_socket_read_error(p->fd, err, &ee) &&
	    (p->fd4 < 0 || !carrier_socket_read_error(p->fd4, err, &ee)))
		return false;
	err->to.udp_port = 0;
	if (!is_ours(ep, err))
		return true;
	err->unreachable = unreachable(&ee);
	if (ee.ee_errno == EMSGSIZE)
		err->mtu = ee.ee_info;
	return true;
}

static void answer_udp(struct endpoint *ep)
{
	signpost_answer(ep, carrier_port_of(ep)->claim);
}

static const struct carrier_port_ops port_ops = {
	.answer_strangers = answer_udp,
	.rx_batch = CARRIER_RX_DATAGRAMS,
	.receive = ip_receive,
	.next_error = ip_next_error,
	.deliver = user_sctp_input,
};

static int ip_open(struct endpoint *ep, const struct sockaddr *addr, bool v6only, size_t *rcvbuf)
{
	struct carrier_port *p = carrier_port_new(ep, &port_ops);
	struct ip_addr ip = sockaddr_ip(addr);
	int ret;

	if (!p)
		return -ENOMEM;
	ep->bound.family = addr->sa_family;
	ep->bound.v6only = v6only;
	ep->bound.wildcard = sockaddr_is_any(addr);
	p->df = true;
	ret = claim_port(ep, p, addr);
	/* An address ::ffff:10.0.0.1 needs an IPv4 socket. */
	if (!ret)
		ret = open_raw(ep, ip_addr_is_v4(&ip) ? AF_INET : AF_INET6, &p->fd, rcvbuf);
	if (!ret && ep->bound.family == AF_INET6 && ep->bound.wildcard && !v6only &&
	    !ip_addr_is_v4(&ip))
		ret = open_raw(ep, AF_INET, &p->fd4, rcvbuf);
	if (ret)
		carrier_port_free(ep);
	return ret;
}

/* ---- sending ---- */

static void set_df(struct endpoint *ep, bool df)
{
	struct ip_addr ip = sockaddr_ip((struct sockaddr *)&ep->bound.local);
	struct carrier_port *p = carrier_port_of(ep);
	bool v4 = ip_addr_is_v4(&ip);

	carrier_socket_set_df(p->fd, v4, !v4, df);
	if (p->fd4 >= 0)
		carrier_socket_set_df(p->fd4, true, false, df);
	p->df = df;
}

/* Fills msgs with the first packets of the batch, as many as fit. Returns their number. */
static unsigned int fill(struct mmsghdr *msgs, struct iovec *iov, const struct msghdr *msg,
			 const struct sctp_batch *batch)
{
	unsigned int n = 0;

	for (size_t off = 0; off < batch->len && n < TX_MESSAGES; off += batch->segment, n++) {
		size_t left = batch->len - off;

		iov[n].iov_base = (void *)(uintptr_t)(batch->data + off);
		iov[n].iov_len = left < batch->segment ? left : batch->segment;
		msgs[n].msg_hdr = *msg;
		msgs[n].msg_hdr.msg_iov = &iov[n];
		msgs[n].msg_hdr.msg_iovlen = 1;
	}
	return n;
}

/* Removes the first n packets from the batch. */
static void advance(struct endpoint *ep, struct sctp_batch *batch, unsigned int n, bool sent)
{
	size_t len = n * batch->segment;

	if (len > batch->len)
		len = batch->len;
	if (sent)
		capture_sent(ep, &batch->to, batch->data, len, batch->segment);
	batch->data += len;
	batch->len -= len;
}

static int ip_send(struct endpoint *ep, struct sctp_batch *batch)
{
	bool v4 = ip_addr_is_v4(&batch->to.remote), again = false;
	struct mmsghdr msgs[TX_MESSAGES];
	struct iovec iov[TX_MESSAGES];
	struct carrier_port *p = carrier_port_of(ep);
	struct carrier_outgoing out;

	if (p->fd < 0)
		return 0;
	if (batch->df != p->df)
		set_df(ep, batch->df);
	p->out.fd = v4 && p->fd4 >= 0 ? p->fd4 : p->fd;
	carrier_socket_prepare(&out, v4 ? AF_INET : AF_INET6, &batch->to, 0, ep->bound.wildcard);
	while (batch->len) {
		unsigned int n = fill(msgs, iov, &out.msg, batch);
		int ret = sys_sendmmsg(p->out.fd, msgs, n, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (ret > 0) {
			advance(ep, batch, (unsigned int)ret, true);
			again = false;
		} else if (ret == -EAGAIN) {
			return ret;
		} else {
			/*
			 * sendmmsg() may return an ICMP error of an earlier packet without sending
			 * this one. So each packet is tried twice, and dropped if the second
			 * attempt fails.
			 */
			carrier_port_errors(ep);
			if (again)
				advance(ep, batch, 1, false);
			again = !again;
		}
	}
	return 0;
}

static bool ip_room(const struct endpoint *ep, const struct ip_addr *from,
		    struct carrier_room *room)
{
	const struct carrier_port *p = carrier_port_of(ep);

	return carrier_socket_room(ip_addr_is_v4(from) && p->fd4 >= 0 ? p->fd4 : p->fd, room);
}

const struct carrier carrier_ip = {
	.check = ip_check,
	.start = carrier_port_start,
	.stop = carrier_port_stop,
	.open = ip_open,
	.close = carrier_port_free,
	.watch = carrier_port_watch,
	.forget = carrier_port_forget,
	.set_tos = carrier_port_set_tos,
	.receive = carrier_port_receive,
	.send = ip_send,
	.await_room = carrier_port_await_room,
	.room = ip_room,
};
