/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "netlink.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "libc.h"

/* Numbers of rdma/rdma_netlink.h. Older versions of this header lack some of them. */
#define NLDEV 5u		   /* RDMA_NL_NLDEV */
#define SYS_GET (NLDEV << 10 | 6u) /* RDMA_NLDEV_CMD_SYS_GET */
#define COPY_ON_FORK 93		   /* RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK */

union answer {
	struct nlmsghdr head;
	struct {
		struct nlmsghdr head;
		struct nlattr attr;
		uint8_t value[NLA_ALIGN(1)];
	} sys;
	struct {
		struct nlmsghdr head;
		struct nlmsgerr err;
	} refusal;
};

static void make_answer(const struct nlmsghdr *question, uint32_t port, union answer *a)
{
	memset(a, 0, sizeof(*a));
	if (question->nlmsg_type == SYS_GET) {
		a->head.nlmsg_len = sizeof(a->sys);
		a->head.nlmsg_type = SYS_GET;
		a->sys.attr.nla_len = NLA_HDRLEN + 1;
		a->sys.attr.nla_type = COPY_ON_FORK;
		a->sys.value[0] = 1;
	} else {
		a->head.nlmsg_len = sizeof(a->refusal);
		a->head.nlmsg_type = NLMSG_ERROR;
		a->refusal.err.error = -EOPNOTSUPP;
		a->refusal.err.msg = *question;
	}
	a->head.nlmsg_seq = question->nlmsg_seq;
	a->head.nlmsg_pid = port;
}

static ssize_t netlink_send(struct kfile *kf, int fd, const void *buf, size_t len)
{
	struct sockaddr_nl to = { 0 };
	socklen_t to_len = sizeof(to);
	struct nlmsghdr question;
	union answer answer;
	ssize_t n;
	int from;

	if (len < sizeof(question))
		return -EINVAL;
	memcpy(&question, buf, sizeof(question));
	if (getsockname(fd, (struct sockaddr *)&to, &to_len))
		return -errno;
	make_answer(&question, to.nl_pid, &answer);
	from = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_USERSOCK);
	if (from < 0)
		return -errno;
	n = sendto(from, &answer, answer.head.nlmsg_len, MSG_DONTWAIT, (struct sockaddr *)&to,
		   sizeof(to));
	n = n < 0 ? -errno : (ssize_t)len;
	libc_close(from);
	return n;
}

const struct kfile_ops netlink_ops = { .send = netlink_send };

bool netlink_is_wanted(void)
{
	return dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);
}
