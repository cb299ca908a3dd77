/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * SCTP on IP, protocol 132: the lower layer `ip`. A raw socket gets the packets of all ports; a
 * filter in the kernel leaves those of the endpoint's, so that processes live side by side. IPv6
 * and IPv4 need a socket each: an endpoint on :: that takes both has ep->fd and ep->fd4.
 *
 * The kernel has no ports for raw sockets. ep->claim has the port instead: a UDP socket with the
 * endpoint's address, which gives bind()'s answers and ephemeral ports, and takes no packet.
 *
 * Whose port it is that a packet goes to nobody knows, so nobody answers for ports without an owner:
 * the kernel does (protocol unreachable) on hosts where no socket for SCTP is left. On others a dead
 * peer is noticed by its silence.
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

#include "net/capture.h"
#include "config/config.h"
#include "net/carrier_socket.h"
#include "runtime/private.h"
#include "util/sockaddr.h"
#include "sys/sys.h"
#include "util/bytes.h"

/* Messages of one system call. SCTP's batches have up to 64 packets. */
#define TX_MESSAGES 64

/* In the SCTP common header (RFC 9260 3.1); ports and tag, which is what an ICMP error quotes. */
#define DPORT_OFFSET 2
#define COMMON_MIN 8

#define FILTER(...)                                                                                \
	{                                                                                          \
		.len = sizeof((struct sock_filter[]){__VA_ARGS__}) / sizeof(struct sock_filter),   \
		.filter = (struct sock_filter[]){__VA_ARGS__},                                     \
	}

/* ---- may it be used at all? ---- */

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

static int claim_port(struct endpoint *ep, const struct sockaddr *addr)
{
	const struct sock_fprog nothing = FILTER(BPF_STMT(BPF_RET | BPF_K, 0));
	int fd = sys_keep(sys_socket(addr->sa_family, SOCK_DGRAM, IPPROTO_UDP)), ret;

	if (fd < 0)
		return fd;
	ep->claim = fd;
	if (addr->sa_family == AF_INET6)
		sys_setsockopt_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, ep->v6only);
	ret = attach(fd, &nothing);
	if (!ret)
		ret = sys_bind(fd, addr, sockaddr_len(addr));
	if (!ret)
		ret = sys_getsockname(fd, &ep->local);
	ep->port = sockaddr_port((struct sockaddr *)&ep->local);
	return ret;
}

/* A socket for IPv4 sees the header of IP, one for IPv6 does not. */
static int filter_port(int fd, bool v4, uint16_t port)
{
	const struct sock_fprog after_header =
		FILTER(BPF_STMT(BPF_LDX | BPF_B | BPF_MSH, 0),
		       BPF_STMT(BPF_LD | BPF_H | BPF_IND, DPORT_OFFSET),
		       BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, port, 0, 1),
		       BPF_STMT(BPF_RET | BPF_K, UINT32_MAX), BPF_STMT(BPF_RET | BPF_K, 0));
	const struct sock_fprog at_once =
		FILTER(BPF_STMT(BPF_LD | BPF_H | BPF_ABS, DPORT_OFFSET),
		       BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, port, 0, 1),
		       BPF_STMT(BPF_RET | BPF_K, UINT32_MAX), BPF_STMT(BPF_RET | BPF_K, 0));

	return attach(fd, v4 ? &after_header : &at_once);
}

/* A raw socket of one family, on the endpoint's address and port. */
static int open_raw(struct endpoint *ep, int family, int *out)
{
	struct ip_addr ip = sockaddr_ip((struct sockaddr *)&ep->local);
	bool v4 = family == AF_INET;
	struct sockaddr_storage addr;
	int fd, ret;

	fd = sys_keep(sys_socket(family, SOCK_RAW, IPPROTO_SCTP));
	if (fd < 0)
		return fd;
	*out = fd;
	ret = filter_port(fd, v4, ep->port);
	carrier_report(fd, v4, !v4, ep->wildcard);
	if (!ret && !ep->wildcard) {
		sockaddr_make(&addr, family, &ip, 0);
		ret = sys_bind(fd, (struct sockaddr *)&addr, sockaddr_len((struct sockaddr *)&addr));
	}
	ep->rcvbuf = carrier_raise_buffers(fd);
	carrier_set_df(fd, v4, !v4, true);
	return ret;
}

static int ip_open(struct endpoint *ep, const struct sockaddr *addr, bool v6only)
{
	struct ip_addr ip = sockaddr_ip(addr);
	int ret;

	ep->family = addr->sa_family;
	ep->v6only = v6only;
	ep->wildcard = sockaddr_is_any(addr);
	ep->df = true;
	ret = claim_port(ep, addr);
	/* ::ffff:10.0.0.1 is an IPv4 address to all but its owner. */
	if (!ret)
		ret = open_raw(ep, ip_addr_is_v4(&ip) ? AF_INET : AF_INET6, &ep->fd);
	if (!ret && ep->family == AF_INET6 && ep->wildcard && !v6only && !ip_addr_is_v4(&ip))
		ret = open_raw(ep, AF_INET, &ep->fd4);
	if (ret)
		endpoint_close_fds(ep);
	return ret;
}

/* ---- receiving ---- */

/* What stands before the SCTP packet. */
static size_t header_len(const struct sockaddr *from, const uint8_t *data, size_t len)
{
	return from->sa_family == AF_INET && len ? (data[0] & 0xfu) * 4 : 0;
}

static bool strip(const struct endpoint *ep, const struct sockaddr *from, struct carrier_datagram *d)
{
	size_t header = header_len(from, d->data, d->len);

	if (d->len < header + COMMON_MIN)
		return false;
	/* Or it came before the filter was there. */
	if (get_be16(d->data + header + DPORT_OFFSET) != ep->port)
		return false;
	d->data += header;
	d->len = d->segment = d->len - header;
	d->from.udp_port = 0;
	return true;
}

static unsigned int ip_receive(struct endpoint *ep, struct carrier_datagram *dgrams, unsigned int max)
{
	/* Half of it each: who floods one family does not shut out the other. */
	unsigned int n = carrier_receive(ep, ep->fd, dgrams, ep->fd4 >= 0 ? max / 2 : max, strip);

	if (ep->fd4 >= 0)
		n += carrier_receive(ep, ep->fd4, dgrams + n, max - n, strip);
	return n;
}

/* The kernel tells all raw sockets of the host's errors: of which port, only the quotation says. */
static bool is_ours(const struct endpoint *ep, const struct carrier_error *err)
{
	return err->local ||
	       (err->quoted_len >= COMMON_MIN && get_be16(err->quoted) == ep->port);
}

static bool ip_next_error(struct endpoint *ep, struct carrier_error *err)
{
	struct sock_extended_err ee;

	if (!carrier_read_error(ep->fd, err, &ee) &&
	    (ep->fd4 < 0 || !carrier_read_error(ep->fd4, err, &ee)))
		return false;
	err->to.udp_port = 0;
	if (!is_ours(ep, err))
		return true;
	/* RFC 9260 10, ICMP8; port unreachable is nothing that SCTP knows (ICMP3). */
	err->unreachable = (ee.ee_origin == SO_EE_ORIGIN_ICMP && ee.ee_type == ICMP_DEST_UNREACH &&
			    ee.ee_code == ICMP_PROT_UNREACH) ||
			   (ee.ee_origin == SO_EE_ORIGIN_ICMP6 &&
			    ee.ee_type == ICMP6_PARAM_PROB && ee.ee_code == ICMP6_PARAMPROB_NEXTHEADER);
	if (ee.ee_errno == EMSGSIZE)
		err->mtu = ee.ee_info;
	return true;
}

/* ---- sending ---- */

static void set_df(struct endpoint *ep, bool df)
{
	struct ip_addr ip = sockaddr_ip((struct sockaddr *)&ep->local);
	bool v4 = ip_addr_is_v4(&ip);

	carrier_set_df(ep->fd, v4, !v4, df);
	if (ep->fd4 >= 0)
		carrier_set_df(ep->fd4, true, false, df);
	ep->df = df;
}

/* As many as there is room for; returns their number. */
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

/* Takes the first n packets out of the batch. */
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
	struct carrier_outgoing out;

	if (batch->df != ep->df)
		set_df(ep, batch->df);
	ep->out_fd = v4 && ep->fd4 >= 0 ? ep->fd4 : ep->fd;
	carrier_prepare(&out, v4 ? AF_INET : AF_INET6, &batch->to, 0, ep->wildcard);
	while (batch->len) {
		unsigned int n = fill(msgs, iov, &out.msg, batch);
		int ret = sys_sendmmsg(ep->out_fd, msgs, n, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (ret > 0) {
			advance(ep, batch, (unsigned int)ret, true);
			again = false;
		} else if (ret == -EAGAIN) {
			return ret;
		} else {
			/*
			 * Errors of earlier packets are reported by the next call: then this one
			 * has not been tried yet. What fails twice is lost.
			 */
			endpoint_errors(ep);
			if (again || ret == -EMSGSIZE)
				advance(ep, batch, 1, false);
			again = !again;
		}
	}
	return 0;
}

const struct carrier carrier_ip = {
	.name = "ip",
	.rx_batch = CARRIER_RX_DATAGRAMS,
	.check = ip_check,
	.open = ip_open,
	.receive = ip_receive,
	.send = ip_send,
	.next_error = ip_next_error,
};
