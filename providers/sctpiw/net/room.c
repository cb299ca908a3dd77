/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/room.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

#include "conn/carrier.h"
#include "sys/sys.h"
#include "util/addr.h"

/* Answers that are read until it is the one to the last question. */
#define READS 4

struct question {
	struct nlmsghdr nlh;
	struct inet_diag_req_v2 req;
};

static bool is_open(struct room_diag *d)
{
	if (!d->fd)
		d->fd = sys_keep(sys_socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG));
	return d->fd > 0;
}

void room_close(struct room_diag *d)
{
	if (d->fd > 0)
		sys_close(d->fd);
	d->fd = -EBADF;
}

static void put_address(void *out, const struct ip_addr *ip)
{
	bool v4 = ip_addr_is_v4(ip);

	memcpy(out, ip->b + (v4 ? 12 : 0), v4 ? 4 : 16);
}

/* In the id of a question about one UDP socket, source and destination are those of a packet to it. */
static int put_question(struct room_diag *d, uint16_t from, const struct path_addr *to)
{
	struct question q = {
		.nlh = { .nlmsg_len = sizeof(q),
			 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST,
			 .nlmsg_seq = ++d->seq },
		.req = { .sdiag_family = ip_addr_is_v4(&to->remote) ? AF_INET : AF_INET6,
			 .sdiag_protocol = IPPROTO_UDP,
			 .idiag_ext = 1u << (INET_DIAG_SKMEMINFO - 1),
			 .idiag_states = ~0u,
			 .id = { .idiag_sport = htons(from),
				 .idiag_dport = htons(to->udp_port),
				 .idiag_if = to->remote.scope_id,
				 .idiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE } } },
	};
	struct iovec iov = { &q, sizeof(q) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

	put_address(q.req.id.idiag_src, &to->local);
	put_address(q.req.id.idiag_dst, &to->remote);
	return (int)sys_sendmsg(d->fd, &msg, MSG_DONTWAIT);
}

/* Finds the memory of the socket among the attributes of an answer of so many bytes. */
static bool read_memory(const struct inet_diag_msg *m, size_t len, struct carrier_room *room)
{
	const uint8_t *p = (const uint8_t *)(m + 1), *end = (const uint8_t *)m + len;
	uint32_t meminfo[SK_MEMINFO_RCVBUF + 1];
	struct nlattr a;

	while (end - p >= (ptrdiff_t)sizeof(a)) {
		memcpy(&a, p, sizeof(a));
		if (a.nla_len < sizeof(a) || a.nla_len > end - p)
			return false;
		if (a.nla_type == INET_DIAG_SKMEMINFO && a.nla_len >= sizeof(a) + sizeof(meminfo)) {
			memcpy(meminfo, p + sizeof(a), sizeof(meminfo));
			room->used = meminfo[SK_MEMINFO_RMEM_ALLOC];
			room->size = meminfo[SK_MEMINFO_RCVBUF];
			return true;
		}
		p += NLA_ALIGN(a.nla_len) < end - p ? NLA_ALIGN(a.nla_len) : end - p;
	}
	return false;
}

/* The kernel has answered before the question was sent. */
static bool read_answer(const struct room_diag *d, struct carrier_room *room)
{
	union {
		struct nlmsghdr nlh;
		uint8_t bytes[1024];
	} in;
	struct iovec iov = { &in, sizeof(in) };

	for (int i = 0; i < READS; i++) {
		struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
		ssize_t len = sys_recvmsg(d->fd, &msg, MSG_DONTWAIT);

		if (len < 0)
			return false;
		if ((size_t)len < sizeof(in.nlh) || in.nlh.nlmsg_len > (size_t)len ||
		    in.nlh.nlmsg_seq != d->seq)
			continue;
		return in.nlh.nlmsg_type == SOCK_DIAG_BY_FAMILY &&
		       in.nlh.nlmsg_len >= NLMSG_LENGTH(sizeof(struct inet_diag_msg)) &&
		       read_memory(NLMSG_DATA(&in.nlh), in.nlh.nlmsg_len - NLMSG_HDRLEN, room);
	}
	return false;
}

bool room_ask(struct room_diag *d, uint16_t from, const struct path_addr *to,
	      struct carrier_room *room)
{
	return is_open(d) && put_question(d, from, to) >= 0 && read_answer(d, room);
}
