/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: net */
/* VALGRIND: yes */
/* How full the sockets of this host are (net/room.h), asked of the kernel that runs the test. */
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "conn/carrier.h"
#include "net/room.h"
#include "util/sockaddr.h"

#define FROM 7 /* the port that packets come from; nobody has to have it */

static struct room_diag diag;

/* A socket of this family at the loopback address, or at all; *to: how it is reached by the loopback address. */
static int receiver(int family, bool any, int reached, struct path_addr *to)
{
	struct sockaddr_storage addr, loopback = { .ss_family = (sa_family_t)reached };
	socklen_t len = sizeof(addr);
	int fd = socket(family, SOCK_DGRAM, 0);

	assert_in_range(fd, 0, 1023);
	if (reached == AF_INET)
		((struct sockaddr_in *)&loopback)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		((struct sockaddr_in6 *)&loopback)->sin6_addr = in6addr_loopback;
	sockaddr_any(&addr, family, 0);
	if (!any)
		addr = loopback;
	if (bind(fd, (struct sockaddr *)&addr, sockaddr_len((struct sockaddr *)&addr))) {
		close(fd);
		return -1;
	}
	assert_int_equal(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
	*to = (struct path_addr){ .remote = sockaddr_ip((struct sockaddr *)&loopback),
				  .udp_port = sockaddr_port((struct sockaddr *)&addr) };
	return fd;
}

static void send_one(const struct path_addr *to, size_t len)
{
	int family = ip_addr_is_v4(&to->remote) ? AF_INET : AF_INET6;
	int fd = socket(family, SOCK_DGRAM, 0);
	static char buf[8192];
	struct sockaddr_storage dst;
	socklen_t dst_len = sockaddr_make(&dst, family, &to->remote, to->udp_port);

	assert_int_equal(sendto(fd, buf, len, 0, (struct sockaddr *)&dst, dst_len), len);
	close(fd);
}

/* Whether this kernel tells of UDP sockets at all: asked for all of them, it begins a list. */
static bool has_sock_diag(void)
{
	struct {
		struct nlmsghdr nlh;
		struct inet_diag_req_v2 req;
	} all = {
		.nlh = { .nlmsg_len = sizeof(all),
			 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
			 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP },
		.req = { .sdiag_family = AF_INET, .sdiag_protocol = IPPROTO_UDP },
	};
	union {
		struct nlmsghdr nlh;
		char bytes[32768];
	} answer;
	int fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG);
	bool has = fd >= 0 && send(fd, &all, sizeof(all), 0) == sizeof(all) &&
		   recv(fd, &answer, sizeof(answer), MSG_DONTWAIT) > 0 &&
		   answer.nlh.nlmsg_type != NLMSG_ERROR;

	close(fd);
	return has;
}

static void check(int family, bool any, int reached)
{
	struct carrier_room room;
	struct path_addr to;
	char buf[8192];
	int size, fd = receiver(family, any, reached, &to);
	socklen_t len = sizeof(size);
	uint32_t one;

	if (fd < 0 || !has_sock_diag())
		skip();
	assert_true(room_ask(&diag, FROM, &to, &room));
	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, &len), 0);
	assert_int_equal(room.size, size);
	assert_int_equal(room.used, 0);
	send_one(&to, 4096);
	assert_true(room_ask(&diag, FROM, &to, &room));
	one = room.used;
	assert_in_range(one, 4096, 16384);
	send_one(&to, 4096);
	assert_true(room_ask(&diag, FROM, &to, &room));
	assert_int_equal(room.used, 2 * one);
	for (int i = 0; i < 2; i++)
		assert_int_equal(recv(fd, buf, sizeof(buf), 0), 4096);
	assert_true(room_ask(&diag, FROM, &to, &room));
	assert_in_range(room.used, 0, one);
	close(fd);
	assert_false(room_ask(&diag, FROM, &to, &room));
}

static void v4(void **state)
{
	check(AF_INET, false, AF_INET);
}

static void v6(void **state)
{
	check(AF_INET6, false, AF_INET6);
}

/* The ports of QP numbers are sockets for IPv6 that take IPv4, too. */
static void v4_by_v6(void **state)
{
	check(AF_INET6, true, AF_INET);
}

/* Without its descriptor nothing is known any more, and none is opened. */
static void closed(void **state)
{
	struct carrier_room room;
	struct path_addr to;
	int fd = receiver(AF_INET, false, AF_INET, &to);

	room_close(&diag);
	assert_false(room_ask(&diag, FROM, &to, &room));
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(v4),
		cmocka_unit_test(v6),
		cmocka_unit_test(v4_by_v6),
		cmocka_unit_test(closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
