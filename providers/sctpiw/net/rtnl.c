/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/rtnl.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string.h>
#include <sys/socket.h>

#include "sys/sys.h"

#define WATCH_READS 64

/* The kernel fills buffers up to this size. */
static _Alignas(NLMSG_ALIGNTO) uint8_t answer[32768];

struct dump {
	void (*link)(const struct rtnl_link *link, void *arg);
	void (*addr)(const struct rtnl_addr *addr, void *arg);
	void *arg;
};

static uint32_t attr_u32(const struct rtattr *rta)
{
	uint32_t v = 0;

	if (RTA_PAYLOAD(rta) >= sizeof(v))
		memcpy(&v, RTA_DATA(rta), sizeof(v));
	return v;
}

static void parse_link(const struct nlmsghdr *nlh, const struct dump *d)
{
	static const uint8_t zero[6];
	const struct ifinfomsg *ifi = NLMSG_DATA(nlh);
	struct rtnl_link link = {
		.ifindex = (unsigned int)ifi->ifi_index,
		.flags = ifi->ifi_flags,
	};
	int len = (int)IFLA_PAYLOAD(nlh);

	for (const struct rtattr *a = IFLA_RTA(ifi); RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		if (a->rta_type == IFLA_MTU)
			link.mtu = attr_u32(a);
		if (a->rta_type == IFLA_IFNAME && RTA_PAYLOAD(a) <= sizeof(link.name))
			memcpy(link.name, RTA_DATA(a), RTA_PAYLOAD(a));
		if (a->rta_type == IFLA_ADDRESS && ifi->ifi_type == ARPHRD_ETHER &&
		    RTA_PAYLOAD(a) == 6 && memcmp(RTA_DATA(a), zero, 6)) {
			memcpy(link.mac, RTA_DATA(a), 6);
			link.has_mac = true;
		}
	}
	d->link(&link, d->arg);
}

static bool take_address(struct ip_addr *ip, uint8_t family, const struct rtattr *a)
{
	if (family == AF_INET && RTA_PAYLOAD(a) == 4) {
		*ip = ip_addr_from_v4(RTA_DATA(a));
		return true;
	}
	if (family == AF_INET6 && RTA_PAYLOAD(a) == 16) {
		*ip = (struct ip_addr){ .scope_id = 0 };
		memcpy(ip->b, RTA_DATA(a), 16);
		return true;
	}
	return false;
}

/* On a point-to-point link IFA_LOCAL is the local address, and IFA_ADDRESS is the peer's. */
static void parse_addr(const struct nlmsghdr *nlh, const struct dump *d)
{
	const struct ifaddrmsg *ifa = NLMSG_DATA(nlh);
	struct rtnl_addr addr = {
		.ifindex = ifa->ifa_index,
		.scope = ifa->ifa_scope,
		.flags = ifa->ifa_flags,
	};
	int len = (int)IFA_PAYLOAD(nlh);
	bool local = false, found = false;

	for (const struct rtattr *a = IFA_RTA(ifa); RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		if (a->rta_type == IFA_LOCAL)
			found = local = take_address(&addr.ip, ifa->ifa_family, a);
		else if (a->rta_type == IFA_ADDRESS && !local)
			found = take_address(&addr.ip, ifa->ifa_family, a) || found;
		else if (a->rta_type == IFA_FLAGS)
			addr.flags = attr_u32(a);
	}
	if (!found)
		return;
	if (ifa->ifa_family == AF_INET6 && addr.scope == RT_SCOPE_LINK)
		addr.ip.scope_id = addr.ifindex;
	d->addr(&addr, d->arg);
}

/* Handles one message. Returns 1 if it ends the answer, 0 for any other message, or -errno. */
static int parse(const struct nlmsghdr *nlh, const struct dump *d)
{
	if (nlh->nlmsg_flags & NLM_F_DUMP_INTR)
		return -EAGAIN;
	switch (nlh->nlmsg_type) {
	case NLMSG_DONE:
		return 1;
	case NLMSG_ERROR:
		return -EIO;
	case RTM_NEWLINK:
		if (d->link && nlh->nlmsg_len >= NLMSG_LENGTH(sizeof(struct ifinfomsg)))
			parse_link(nlh, d);
		return 0;
	case RTM_NEWADDR:
		if (d->addr && nlh->nlmsg_len >= NLMSG_LENGTH(sizeof(struct ifaddrmsg)))
			parse_addr(nlh, d);
		return 0;
	default:
		return 0;
	}
}

static int read_answer(int fd, const struct dump *d)
{
	for (;;) {
		struct iovec iov = { .iov_base = answer, .iov_len = sizeof(answer) };
		struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
		ssize_t n = sys_recvmsg(fd, &msg, 0);
		int ret;

		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n ? (int)n : -EIO;
		if (msg.msg_flags & MSG_TRUNC)
			return -EAGAIN;
		for (const struct nlmsghdr *nlh = (const void *)answer; NLMSG_OK(nlh, n);
		     nlh = NLMSG_NEXT(nlh, n)) {
			ret = parse(nlh, d);
			if (ret)
				return ret < 0 ? ret : 0;
		}
	}
}

/* Sends a request. Returns the socket on which the answer will arrive, or -errno. */
static int ask(struct nlmsghdr *nlh)
{
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	struct iovec iov = { .iov_base = nlh, .iov_len = nlh->nlmsg_len };
	struct msghdr msg = {
		.msg_name = &kernel,
		.msg_namelen = sizeof(kernel),
		.msg_iov = &iov,
		.msg_iovlen = 1,
	};
	int fd = sys_socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = sys_sendmsg(fd, &msg, 0);
	if (n >= 0)
		return fd;
	sys_close(fd);
	return (int)n;
}

static int dump(uint16_t type, const struct dump *d)
{
	struct {
		struct nlmsghdr nlh;
		struct rtgenmsg gen;
	} req = {
		.nlh = {
			.nlmsg_len = NLMSG_LENGTH(sizeof(struct rtgenmsg)),
			.nlmsg_type = type,
			.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP,
		},
		.gen = {.rtgen_family = AF_UNSPEC},
	};
	int fd = ask(&req.nlh), ret;

	if (fd < 0)
		return fd;
	ret = read_answer(fd, d);
	sys_close(fd);
	return ret;
}

int rtnl_links(void (*each)(const struct rtnl_link *link, void *arg), void *arg)
{
	struct dump d = { .link = each, .arg = arg };

	return dump(RTM_GETLINK, &d);
}

int rtnl_addrs(void (*each)(const struct rtnl_addr *addr, void *arg), void *arg)
{
	struct dump d = { .addr = each, .arg = arg };

	return dump(RTM_GETADDR, &d);
}

/* ---- one route ---- */

struct route_request {
	struct nlmsghdr nlh;
	struct rtmsg rtm;
	uint8_t attrs[3 * RTA_SPACE(16)];
};

static void add_attr(struct route_request *req, uint16_t type, const void *data, size_t len)
{
	struct rtattr *a = (void *)((uint8_t *)req + NLMSG_ALIGN(req->nlh.nlmsg_len));

	a->rta_type = type;
	a->rta_len = (uint16_t)RTA_LENGTH(len);
	memcpy(RTA_DATA(a), data, len);
	req->nlh.nlmsg_len = NLMSG_ALIGN(req->nlh.nlmsg_len) + (uint32_t)RTA_SPACE(len);
}

static void add_address(struct route_request *req, uint16_t type, const struct ip_addr *ip)
{
	if (req->rtm.rtm_family == AF_INET)
		add_attr(req, type, ip->b + 12, 4);
	else
		add_attr(req, type, ip->b, 16);
}

static uint32_t mtu_metric(const struct rtattr *metrics)
{
	int len = (int)RTA_PAYLOAD(metrics);

	for (const struct rtattr *a = RTA_DATA(metrics); RTA_OK(a, len); a = RTA_NEXT(a, len))
		if (a->rta_type == RTAX_MTU)
			return attr_u32(a);
	return 0;
}

static void parse_route(const struct nlmsghdr *nlh, struct rtnl_route *route)
{
	const struct rtmsg *rtm = NLMSG_DATA(nlh);
	int len = (int)RTM_PAYLOAD(nlh);
	struct rta_cacheinfo cache;

	for (const struct rtattr *a = RTM_RTA(rtm); RTA_OK(a, len); a = RTA_NEXT(a, len)) {
		if (a->rta_type == RTA_OIF)
			route->ifindex = attr_u32(a);
		else if (a->rta_type == RTA_METRICS)
			route->mtu = mtu_metric(a);
		else if (a->rta_type == RTA_CACHEINFO && RTA_PAYLOAD(a) >= sizeof(cache)) {
			memcpy(&cache, RTA_DATA(a), sizeof(cache));
			route->temporary = cache.rta_expires != 0;
		}
	}
}

static int read_route(int fd, struct rtnl_route *route)
{
	_Alignas(NLMSG_ALIGNTO) uint8_t buf[4096];
	const struct nlmsghdr *nlh = (const void *)buf;
	struct iovec iov = { .iov_base = buf, .iov_len = sizeof(buf) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	do
		n = sys_recvmsg(fd, &msg, 0);
	while (n == -EINTR);
	if (n < 0)
		return (int)n;
	if (!NLMSG_OK(nlh, n) || nlh->nlmsg_type != RTM_NEWROUTE ||
	    nlh->nlmsg_len < NLMSG_LENGTH(sizeof(struct rtmsg)))
		return -EIO;
	parse_route(nlh, route);
	return 0;
}

int rtnl_route(const struct path_addr *to, struct rtnl_route *route)
{
	bool v4 = ip_addr_is_v4(&to->remote);
	struct route_request req = {
		.nlh = {
			.nlmsg_len = NLMSG_LENGTH(sizeof(struct rtmsg)),
			.nlmsg_type = RTM_GETROUTE,
			.nlmsg_flags = NLM_F_REQUEST,
		},
		.rtm = {
			.rtm_family = v4 ? AF_INET : AF_INET6,
			.rtm_dst_len = v4 ? 32 : 128,
		},
	};
	int fd, ret;

	*route = (struct rtnl_route){ 0 };
	add_address(&req, RTA_DST, &to->remote);
	if (!ip_addr_is_zero(&to->local)) {
		req.rtm.rtm_src_len = req.rtm.rtm_dst_len;
		add_address(&req, RTA_SRC, &to->local);
	}
	if (to->remote.scope_id)
		add_attr(&req, RTA_OIF, &to->remote.scope_id, sizeof(to->remote.scope_id));
	fd = ask(&req.nlh);
	if (fd < 0)
		return fd;
	ret = read_route(fd, route);
	sys_close(fd);
	return ret;
}

/* ---- changes ---- */

int rtnl_watch(void)
{
	struct sockaddr_nl groups = {
		.nl_family = AF_NETLINK,
		.nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR,
	};
	int fd = sys_socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE), ret;

	if (fd < 0)
		return fd;
	ret = sys_bind(fd, (struct sockaddr *)&groups, sizeof(groups));
	if (ret) {
		sys_close(fd);
		return ret;
	}
	return fd;
}

/*
 * Only discards the messages: the caller then reads all interfaces again. An error counts as a
 * change, since an error means that messages were lost.
 */
bool rtnl_changed(int fd)
{
	bool changed = false;

	for (int i = 0; i < WATCH_READS; i++) {
		uint8_t news[NLMSG_HDRLEN];
		struct iovec iov = { .iov_base = news, .iov_len = sizeof(news) };
		struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

		if (sys_recvmsg(fd, &msg, MSG_DONTWAIT) == -EAGAIN)
			break;
		changed = true;
	}
	return changed;
}
