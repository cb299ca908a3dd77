/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/signpost.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "config/config.h"
#include "conn/conn.h"
#include "log/log.h"
#include "net/carrier_socket.h"
#include "sys/sys.h"
#include "util/bytes.h"
#include "util/sockaddr.h"
#include "wire/sctp_packet.h"

/* Offsets in a datagram, as a socket filter counts: the UDP header comes first. */
#define UDP_HEADER 8
#define AT_DPORT (UDP_HEADER + 2)
#define AT_TAG (UDP_HEADER + 4)
#define AT_CHUNK (UDP_HEADER + WIRE_SCTP_COMMON_LEN)

#define INIT_TAG                                                                                   \
	(WIRE_SCTP_COMMON_LEN + WIRE_SCTP_CHUNK_LEN) /* offset of the Initiate Tag in an INIT */
#define PACKET_MAX 2048
#define AT_ONCE 16 /* maximum INITs that one call answers */
#define UDP_PORT_OF_KERNEL "/proc/sys/net/sctp/udp_port"

static int attach(int fd, const struct sock_fprog *filter)
{
	return sys_setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, filter, sizeof(*filter));
}

/* Blocks all packets, since the filter for the port cannot be set before bind(). */
static int take_nothing(int fd)
{
	struct sock_filter code[] = { BPF_STMT(BPF_RET | BPF_K, 0) };

	return attach(fd, &(struct sock_fprog){ .len = 1, .filter = code });
}

static int take_inits(int fd, uint16_t port)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_H | BPF_ABS, AT_DPORT),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, port, 0, 5),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT_TAG),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 3),
		BPF_STMT(BPF_LD | BPF_B | BPF_ABS, AT_CHUNK),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, WIRE_SCTP_INIT, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
		BPF_STMT(BPF_RET | BPF_K, 0),
	};

	return attach(fd, &(struct sock_fprog){ .len = sizeof(code) / sizeof(code[0]),
						.filter = code });
}

int signpost_open(const struct sockaddr *addr, bool v6only)
{
	int fd = sys_keep(sys_socket(addr->sa_family, SOCK_DGRAM, IPPROTO_UDP)), ret;
	struct sockaddr_storage bound;

	if (fd < 0)
		return fd;
	if (addr->sa_family == AF_INET6) {
		sys_setsockopt_int(fd, IPPROTO_IPV6, IPV6_V6ONLY, v6only);
		sys_setsockopt_int(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1);
	} else {
		sys_setsockopt_int(fd, IPPROTO_IP, IP_PKTINFO, 1);
	}
	ret = take_nothing(fd);
	if (!ret)
		ret = sys_bind(fd, addr, sockaddr_len(addr));
	if (!ret)
		ret = sys_getsockname(fd, &bound);
	if (!ret)
		ret = take_inits(fd, sockaddr_port((struct sockaddr *)&bound));
	if (!ret)
		return fd;
	sys_close(fd);
	return ret;
}

/* Reads the UDP port of the kernel's SCTP as text, or "" if the kernel uses none. */
static void read_encap_port(char *buf, size_t len)
{
	int fd = sys_open(UDP_PORT_OF_KERNEL, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : sys_read(fd, buf, len - 1);

	sys_close(fd);
	buf[n > 0 ? n : 0] = 0;
	buf[strspn(buf, "0123456789")] = 0;
	if (*buf == '0')
		*buf = 0;
}

/* Writes the reason of the refusal, which the user at the peer reads. Returns its length. */
static size_t write_reason(const struct endpoint *ep, char *buf, size_t len)
{
	enum config_carrier carrier = ep->conn->config->carrier;
	char port[16] = "";

	if (carrier == CONFIG_CARRIER_KERNEL)
		read_encap_port(port, sizeof(port));
	return (size_t)snprintf(buf, len, UNANSWERED_LLP "%s%s%s", config_carrier_name(carrier),
				*port ? " behind UDP port " : "", port);
}

/* Writes the ABORT that answers an INIT. Returns its length, or 0 if the INIT is invalid. */
static size_t write_abort(const struct endpoint *ep, const struct carrier_datagram *d,
			  uint8_t *packet)
{
	const struct wire_sctp_common h = {
		.sport = ep->bound.port,
		.dport = get_be16(d->data),
		.vtag = d->len >= INIT_TAG + 4 ? get_be32(d->data + INIT_TAG) : 0,
	};
	char reason[64];
	size_t reason_len = write_reason(ep, reason, sizeof(reason));
	size_t len = WIRE_SCTP_COMMON_LEN + WIRE_SCTP_CHUNK_LEN;

	if (!h.vtag || !h.dport || !wire_sctp_checksum_ok(d->data, d->len))
		return 0;
	wire_sctp_common_put(packet, &h);
	wire_sctp_chunk_put(packet + WIRE_SCTP_COMMON_LEN, WIRE_SCTP_ABORT, 0,
			    WIRE_SCTP_CHUNK_LEN + 4 + reason_len);
	len += wire_sctp_cause_put(packet + len, WIRE_SCTP_CAUSE_USER_ABORT, reason, reason_len);
	wire_sctp_checksum_put(packet, len);
	return len;
}

void signpost_answer(struct endpoint *ep, int fd)
{
	uint8_t data[PACKET_MAX], packet[256];
	struct carrier_datagram d = { .data = data };

	for (int i = 0; i < AT_ONCE && carrier_socket_receive_one(ep, fd, &d, sizeof(data)); i++) {
		struct carrier_outgoing out;
		struct iovec iov = { packet, write_abort(ep, &d, packet) };

		if (!iov.iov_len)
			continue;
		carrier_socket_prepare(&out, ep->bound.family, &d.from, d.from.udp_port, true);
		out.msg.msg_iov = &iov;
		out.msg.msg_iovlen = 1;
		sys_sendmsg(fd, &out.msg, MSG_DONTWAIT | MSG_NOSIGNAL);
		log_debug("port %u: asked in UDP: refused", ep->bound.port);
	}
}
