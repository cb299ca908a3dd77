/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: net */
/* WRAP: user_sctp_port user_sctp_set_port user_sctp_input user_sctp_icmp iw_ud_is_low sys_socket sys_connect */
/* VALGRIND: yes */
/*
 * The sockets of busy paths (net/path_socket.h), below a carrier with this test as its user,
 * between sockets of this host.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "conn/conn.h"
#include "conn/user_sctp.h"
#include "fixture/udp_peer.h"
#include "net/carrier_port.h"
#include "net/carriers.h"
#include "net/path_socket.h"
#include "sctp/sctp.h"
#include "sys/sys.h"
#include "util/sockaddr.h"

#define PEERS 20

static struct net net;
static struct conn conn;
static struct endpoint ep, other; /* endpoint.state is the carrier's port */

static struct udp_peer peers[PEERS];

/* The carrier's reports, the last one of each kind. */
static struct {
	unsigned int datagrams, errors;
	struct path_addr from;
	uint8_t first; /* first octet of the datagram */
	char order[16];
	struct carrier_error error;
} got;

static bool no_descriptors;
static struct udp_peer *stranger; /* sends after a socket is bound, before it is connected */

struct carrier_port *__wrap_user_sctp_port(const struct endpoint *e);
struct carrier_port *__wrap_user_sctp_port(const struct endpoint *e)
{
	return e->state;
}

void __wrap_user_sctp_set_port(struct endpoint *e, struct carrier_port *p);
void __wrap_user_sctp_set_port(struct endpoint *e, struct carrier_port *p)
{
	e->state = p;
}

void __wrap_user_sctp_input(struct endpoint *e, const struct carrier_datagram *d);
void __wrap_user_sctp_input(struct endpoint *e, const struct carrier_datagram *d)
{
	assert_ptr_equal(e, &ep);
	got.from = d->from;
	got.first = d->data[0];
	if (got.datagrams < sizeof(got.order))
		got.order[got.datagrams] = (char)d->data[0];
	got.datagrams++;
}

void __wrap_user_sctp_icmp(struct endpoint *e, const struct carrier_error *err);
void __wrap_user_sctp_icmp(struct endpoint *e, const struct carrier_error *err)
{
	assert_ptr_equal(e, &ep);
	got.errors++;
	got.error = *err;
}

bool __wrap_iw_ud_is_low(const struct iw_shard *shard);
bool __wrap_iw_ud_is_low(const struct iw_shard *shard)
{
	return false;
}

int __real_sys_socket(int family, int type, int protocol);
int __wrap_sys_socket(int family, int type, int protocol);
int __wrap_sys_socket(int family, int type, int protocol)
{
	return no_descriptors ? -EMFILE : __real_sys_socket(family, type, protocol);
}

static void reply(const struct udp_peer *p, const char *text)
{
	udp_peer_send(p, ep.bound.port, text);
}

int __real_sys_connect(int fd, const struct sockaddr *addr, socklen_t len);
int __wrap_sys_connect(int fd, const struct sockaddr *addr, socklen_t len);
int __wrap_sys_connect(int fd, const struct sockaddr *addr, socklen_t len)
{
	if (stranger)
		reply(stranger, "s");
	return __real_sys_connect(fd, addr, len);
}

/* ---- the scene ---- */

static int main_fd(void)
{
	return carrier_port_of(&ep)->fd;
}

static void open_port(struct endpoint *e, int family, bool loopback)
{
	struct sockaddr_storage addr;
	size_t rcvbuf;

	if (loopback)
		sockaddr_loopback(&addr, family, 0);
	else
		sockaddr_any(&addr, family, 0);
	assert_int_equal(carrier_udp.open(e, (struct sockaddr *)&addr, false, &rcvbuf), 0);
	assert_int_equal(carrier_udp.watch(e), 0);
}

static int setup_with(int family, bool loopback)
{
	memset(&got, 0, sizeof(got));
	memset(&conn, 0, sizeof(conn));
	memset(&ep, 0, sizeof(ep));
	memset(&net, 0, sizeof(net));
	no_descriptors = false;
	stranger = NULL;
	conn.net = &net;
	conn.now = 5 * NSEC_PER_SEC;
	net.epoll_fd = sys_epoll_create();
	ep.conn = other.conn = &conn;
	list_init(&conn.endpoints.open);
	list_add_tail(&conn.endpoints.open, &ep.node);
	conn.endpoints.n_open = 1;
	assert_int_equal(carrier_udp.start(&conn, NULL), 0);
	open_port(&ep, family, loopback);
	for (unsigned int i = 0; i < PEERS; i++)
		udp_peer_open(&peers[i], AF_INET);
	return 0;
}

static int setup(void **state)
{
	return setup_with(AF_INET6, false);
}

static int setup_bound(void **state)
{
	return setup_with(AF_INET, true);
}

static int teardown(void **state)
{
	carrier_udp.close(&ep);
	carrier_udp.stop(&conn);
	sys_close(net.epoll_fd);
	for (unsigned int i = 0; i < PEERS; i++)
		close(peers[i].fd);
	return 0;
}

static void send_from(struct endpoint *e, const struct path_addr *to, unsigned int times)
{
	static uint8_t packet[] = "packet";

	for (unsigned int i = 0; i < times; i++) {
		struct sctp_batch batch = { .data = packet,
					    .len = sizeof(packet),
					    .segment = sizeof(packet),
					    .df = true,
					    .to = *to };

		assert_int_equal(carrier_udp.send(e, &batch), 0);
	}
}

static void send_to(const struct path_addr *to, unsigned int times)
{
	send_from(&ep, to, times);
}

static void passes(unsigned int n)
{
	while (n--)
		carrier_udp.receive(&conn, CONN_QUICK);
}

static void make_busy(const struct udp_peer *p)
{
	send_to(&p->addr, PATH_SENDS);
	passes(1);
}

static void expect_from(const struct udp_peer *p, const char *text)
{
	assert_int_equal(got.first, text[0]);
	assert_int_equal(got.from.udp_port, p->addr.udp_port);
	assert_true(ip_addr_equal(&got.from.remote, &p->addr.remote));
	assert_true(ip_addr_equal(&got.from.local, &p->addr.local));
}

static struct path_socket *socket_for(const struct udp_peer *p)
{
	for (unsigned int i = 0; i < PATH_SOCKETS; i++) {
		struct path_socket *ps = &net.paths->socket[i];

		if (ps->port && ps->addr.udp_port == p->addr.udp_port)
			return ps;
	}
	return NULL;
}

/* ---- tests ---- */

/*
 * A path gets a socket after frequent sends. From then on, packets of both directions pass through
 * this socket.
 */
static void test_busy(void **state)
{
	send_to(&peers[0].addr, PATH_SENDS - 1);
	passes(1);
	assert_int_equal(conn.traffic.path_sockets, 0);
	send_to(&peers[0].addr, 1);
	passes(1);
	assert_int_equal(conn.traffic.path_sockets, 1);
	assert_int_equal(conn.traffic.path_sends, 0);
	assert_int_equal(udp_peer_take(&peers[0], ep.bound.port), PATH_SENDS);
	send_to(&peers[0].addr, 3);
	assert_int_equal(conn.traffic.path_sends, 3);
	assert_int_equal(udp_peer_take(&peers[0], ep.bound.port), 3);

	/* The port's own socket does not have this packet. */
	reply(&peers[0], "a");
	assert_int_equal(poll(&(struct pollfd){ .fd = main_fd(), .events = POLLIN }, 1, 0), 0);
	passes(4);
	assert_int_equal(got.datagrams, 1);
	expect_from(&peers[0], "a");
	assert_ptr_equal(net.paths->hot, socket_for(&peers[0]));
}

/* A path with rare sends never gets a socket. */
static void test_slow(void **state)
{
	for (unsigned int i = 0; i < 2 * PATH_SENDS; i++) {
		send_to(&peers[0].addr, 1);
		passes(1);
		conn.now += PATH_PERIOD / (PATH_SENDS - 2);
	}
	assert_int_equal(conn.traffic.path_sockets, 0);
}

/* Many equally busy paths get no sockets. A few busy paths among many do. */
static void test_many(void **state)
{
	for (unsigned int i = 0; i < 4 * PATH_SENDS; i++)
		for (unsigned int p = 0; p < PEERS; p++)
			send_to(&peers[p].addr, 1);
	passes(1);
	assert_int_equal(conn.traffic.path_sockets, 0);
	for (unsigned int i = 0; i < 4 * PATH_SENDS; i++) {
		send_to(&peers[i % PEERS].addr, 1);
		send_to(&peers[0].addr, 2);
		send_to(&peers[1].addr, 2);
	}
	passes(1);
	assert_int_equal(conn.traffic.path_sockets, 2);
	assert_non_null(socket_for(&peers[0]));
	assert_non_null(socket_for(&peers[1]));
}

/* Nobody else can bind to the port, with or without path sockets. */
static void test_not_shared(void **state)
{
	make_busy(&peers[0]);
	make_busy(&peers[1]);
	assert_int_equal(conn.traffic.path_sockets, 2);
	for (int name = 0; name < 4; name++) {
		int family = name & 1 ? AF_INET : AF_INET6, fd = socket(family, SOCK_DGRAM, 0);
		struct sockaddr_storage addr;

		sys_setsockopt_int(fd, SOL_SOCKET, SO_REUSEADDR, 1);
		sys_setsockopt_int(fd, SOL_SOCKET, SO_REUSEPORT, 1);
		if (name & 2)
			sockaddr_loopback(&addr, AF_INET, ep.bound.port);
		else
			sockaddr_any(&addr, family, ep.bound.port);
		if ((name & 2) && family == AF_INET6)
			sockaddr_make(&addr, AF_INET6, &peers[0].addr.local, ep.bound.port);
		assert_int_equal(sys_bind(fd, (struct sockaddr *)&addr,
					  sockaddr_len((struct sockaddr *)&addr)),
				 -EADDRINUSE);
		close(fd);
	}
}

/*
 * Packets from other addresses come to the port's own socket. The carrier also gets the packets
 * that came to the new socket before it was connected.
 */
static void test_strangers(void **state)
{
	stranger = &peers[1];
	send_to(&peers[0].addr, PATH_SENDS);
	passes(8);
	assert_int_equal(conn.traffic.path_sockets, 1);
	assert_int_equal(got.datagrams, 1);
	expect_from(&peers[1], "s");
	reply(&peers[2], "t");
	passes(4);
	assert_int_equal(got.datagrams, 2);
	expect_from(&peers[2], "t");
}

/* Packets in the port's own socket are read before packets in the new socket. */
static void test_order(void **state)
{
	send_to(&peers[0].addr, PATH_SENDS);
	for (char text[] = "a"; *text <= 'h'; ++*text)
		reply(&peers[0], text);
	passes(1);
	assert_int_equal(conn.traffic.path_sockets, 1);
	for (char text[] = "i"; *text <= 'o'; ++*text)
		reply(&peers[0], text);
	reply(&peers[1], "z");
	passes(32);
	assert_int_equal(got.datagrams, 16);
	for (unsigned int i = 0, next = 'a'; i < 16; i++)
		if (got.order[i] != 'z') /* may come at any time */
			assert_int_equal(got.order[i], next++);
}

/* A stranger that fills the port's own socket does not block a path forever. */
static void test_stranger_fills(void **state)
{
	bool came = false;

	make_busy(&peers[0]);
	reply(&peers[0], "a");
	for (unsigned int i = 0; i < 1 << 16 && !came; i++) {
		reply(&peers[1], "s");
		passes(1);
		came = got.first == 'a';
	}
	assert_true(came);
}

/* A path with a constant backlog does not block the other paths. */
static void test_fair(void **state)
{
	make_busy(&peers[0]);
	for (int i = 0; i < 16; i++)
		reply(&peers[0], "a");
	passes(2);
	reply(&peers[1], "b");
	got.datagrams = 0;
	passes(4);
	assert_non_null(memchr(got.order, 'b', got.datagrams));
}

/* Without a free descriptor, or if bind() fails, the port's own socket serves the path. */
static void test_falls_back(void **state)
{
	no_descriptors = true;
	make_busy(&peers[0]);
	send_to(&peers[0].addr, 8);
	passes(4);
	assert_int_equal(conn.traffic.path_sockets, 0);
	assert_int_equal(udp_peer_take(&peers[0], ep.bound.port), PATH_SENDS + 8);
	reply(&peers[0], "a");
	passes(4);
	expect_from(&peers[0], "a");
	/* Retried once a second. */
	no_descriptors = false;
	conn.now += PATH_PERIOD;
	make_busy(&peers[0]);
	assert_int_equal(conn.traffic.path_sockets, 1);
}

/* A process with a low limit needs its descriptors itself. */
static void test_limit(void **state)
{
	struct rlimit before, few;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = 3 * PATH_SOCKETS_PART;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (unsigned int i = 0; i < 4; i++)
		make_busy(&peers[i]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(conn.traffic.path_sockets, 3);
}

/* The socket that was idle for longest makes room, after some time. */
static void test_replaced(void **state)
{
	for (unsigned int i = 0; i < PATH_SOCKETS; i++, conn.now += 1000)
		make_busy(&peers[i]);
	assert_int_equal(conn.traffic.path_sockets, PATH_SOCKETS);
	make_busy(&peers[PATH_SOCKETS]); /* too soon */
	conn.now += PATH_PERIOD;
	for (unsigned int i = 0; i < PATH_SOCKETS; i++)
		if (i != 3 && i != 5)
			send_to(&peers[i].addr, 1);
	make_busy(&peers[PATH_SOCKETS]);
	assert_int_equal(conn.traffic.path_sockets, PATH_SOCKETS + 1);
	assert_null(socket_for(&peers[3]));
	assert_non_null(socket_for(&peers[5]));
	reply(&peers[3], "x");
	passes(4);
	expect_from(&peers[3], "x");
}

/*
 * A socket with waiting packets is in use, however long ago the process read it: all packets are
 * received.
 */
static void test_not_replaced(void **state)
{
	for (unsigned int i = 0; i < PATH_SOCKETS; i++)
		make_busy(&peers[i]);
	conn.now += PATH_PERIOD; /* peers[0] was idle for longest */
	for (unsigned int i = 0; i < 30; i++)
		reply(&peers[0], "w");
	send_to(&peers[PATH_SOCKETS].addr, PATH_SENDS);
	passes(60);
	assert_int_equal(got.datagrams, 30);
	assert_int_equal(conn.traffic.path_sockets, PATH_SOCKETS);
}

static uint32_t waiting_from(const struct endpoint *e, const struct ip_addr *from)
{
	struct carrier_room room;

	assert_true(carrier_udp.room(e, from, &room));
	return room.used;
}

/*
 * A peer gets the room of the socket for its packets. Of several sockets, the fullest one counts.
 */
static void test_room(void **state)
{
	const struct ip_addr *from = &peers[0].addr.remote, stranger_ip = { .b = { [15] = 1 } };
	uint32_t one;

	make_busy(&peers[0]);
	make_busy(&peers[1]);
	reply(&peers[2], "a");
	one = waiting_from(&ep, &stranger_ip);
	assert_true(one);
	assert_int_equal(waiting_from(&ep, from), 0);
	reply(&peers[1], "bc");
	reply(&peers[1], "de");
	reply(&peers[0], "fg");
	assert_int_equal(waiting_from(&ep, from), 2 * one);
	reply(&peers[0], "hi");
	reply(&peers[0], "jk");
	assert_int_equal(waiting_from(&ep, from), 3 * one);
	open_port(&other, AF_INET, false);
	assert_int_equal(waiting_from(&other, from), 0);
	carrier_udp.close(&other);
}

/* A socket whose room is awaited is kept. */
static void test_awaited(void **state)
{
	struct epoll_event ev;

	for (unsigned int i = 0; i < PATH_SOCKETS; i++)
		make_busy(&peers[i]);
	send_to(&peers[3].addr, 1);
	ep.await_room = 1;
	carrier_udp.await_room(&ep, true);
	assert_int_equal(sys_epoll_poll(net.epoll_fd, &ev, 1), 1);
	assert_ptr_equal(ev.data.ptr, &socket_for(&peers[3])->watch);
	assert_int_equal(ev.events, EPOLLOUT);
	conn.now += PATH_PERIOD;
	for (unsigned int i = 4; i < PATH_SOCKETS; i++)
		send_to(&peers[i].addr, 1);
	for (unsigned int i = 16; i < 20; i++)
		make_busy(&peers[i]);
	assert_non_null(socket_for(&peers[3]));
	assert_int_equal(conn.traffic.path_sockets, PATH_SOCKETS + 3);
	ep.await_room = 0;
	carrier_udp.await_room(&ep, false);
	assert_int_equal(sys_epoll_poll(net.epoll_fd, &ev, 1), 0);
}

/* An ICMP error names the right packet, and the socket stays in use. */
static void test_unreachable(void **state)
{
	make_busy(&peers[0]);
	close(peers[0].fd);
	send_to(&peers[0].addr, 1);
	carrier_udp.receive(&conn, CONN_THOROUGH);
	carrier_udp.receive(&conn, CONN_THOROUGH);
	assert_int_equal(got.errors, 1);
	assert_int_equal(got.error.unreachable, -ECONNREFUSED);
	assert_int_equal(got.error.to.udp_port, peers[0].addr.udp_port);
	assert_true(ip_addr_equal(&got.error.to.remote, &peers[0].addr.remote));
	send_to(&peers[0].addr, 2);
	assert_int_equal(got.errors, 2);
}

static int option(const struct path_socket *ps, int name)
{
	return sys_getsockopt_int(ps->fd, IPPROTO_IP, name);
}

static void test_options(void **state)
{
	static uint8_t packet[] = "packet";
	struct sctp_batch batch = { .data = packet, .len = 4, .segment = 4, .to = peers[0].addr };
	struct path_socket *ps;

	ep.tos = 8;
	carrier_udp.set_tos(&ep);
	make_busy(&peers[0]);
	ps = socket_for(&peers[0]);
	assert_int_equal(option(ps, IP_TOS), 8);
	ep.tos = 16;
	carrier_udp.set_tos(&ep);
	assert_int_equal(option(ps, IP_TOS), 16);
	assert_int_equal(option(ps, IP_MTU_DISCOVER), IP_PMTUDISC_PROBE);
	assert_int_equal(carrier_udp.send(&ep, &batch), 0);
	assert_int_equal(option(ps, IP_MTU_DISCOVER), IP_PMTUDISC_DONT);
	send_to(&peers[0].addr, 1);
	assert_int_equal(option(ps, IP_MTU_DISCOVER), IP_PMTUDISC_PROBE);
	assert_int_equal(sys_getsockopt_int(ps->fd, SOL_SOCKET, SO_RCVBUF),
			 sys_getsockopt_int(main_fd(), SOL_SOCKET, SO_RCVBUF));
}

/* Several packets of the same length are sent by one call. */
static void test_segments(void **state)
{
	uint8_t packets[] = "abcdefgh";
	struct sctp_batch batch = {
		.data = packets, .len = 8, .segment = 4, .df = true, .to = peers[0].addr
	};

	make_busy(&peers[0]);
	udp_peer_take(&peers[0], ep.bound.port);
	assert_int_equal(carrier_udp.send(&ep, &batch), 0);
	assert_int_equal(udp_peer_take(&peers[0], ep.bound.port), 2);
}

/* Two ports that send to the same peer have separate paths. */
static void test_ports(void **state)
{
	open_port(&other, AF_INET, false);
	for (unsigned int i = 0; i < PATH_SENDS - 1; i++) {
		send_from(&ep, &peers[0].addr, 1);
		send_from(&other, &peers[0].addr, 1);
	}
	passes(1);
	assert_int_equal(conn.traffic.path_sockets, 0);
	send_from(&other, &peers[0].addr, 1);
	passes(1);
	assert_int_equal(conn.traffic.path_sockets, 1);
	assert_ptr_equal(socket_for(&peers[0])->port->ep, &other);
	send_from(&ep, &peers[0].addr, 1);
	assert_int_equal(conn.traffic.path_sends, 0);
	carrier_udp.close(&other);
	assert_int_equal(net.paths->n, 0);
}

/* Multicast groups, and paths with an unknown local address, get no sockets. */
static void test_never(void **state)
{
	struct path_addr unknown = peers[1].addr, group = peers[0].addr;
	const uint8_t address[4] = { 239, 1, 2, 3 };

	memset(&unknown.local, 0, sizeof(unknown.local));
	send_to(&unknown, 2 * PATH_SENDS);
	passes(4);
	assert_int_equal(udp_peer_take(&peers[1], ep.bound.port), 2 * PATH_SENDS);
	group.remote = ip_addr_from_v4(address);
	send_to(&group, 2 * PATH_SENDS);
	passes(4);
	assert_int_equal(conn.traffic.path_sockets, 0);
}

static void test_v6(void **state)
{
	struct udp_peer p;

	udp_peer_open(&p, AF_INET6);
	make_busy(&p);
	assert_int_equal(conn.traffic.path_sockets, 1);
	send_to(&p.addr, 1);
	assert_int_equal(udp_peer_take(&p, ep.bound.port), PATH_SENDS + 1);
	reply(&p, "6");
	passes(4);
	expect_from(&p, "6");
	close(p.fd);
}

/* The child of a fork() has none of the descriptors, and the parent continues. */
static void test_fork(void **state)
{
	int fds[3], status;
	pid_t pid;

	make_busy(&peers[0]);
	make_busy(&peers[1]);
	fds[0] = socket_for(&peers[0])->fd;
	fds[1] = socket_for(&peers[1])->fd;
	fds[2] = main_fd();
	pid = fork();
	if (!pid) {
		carrier_udp.forget(&ep);
		for (int i = 0; i < 3; i++)
			if (fcntl(fds[i], F_GETFD) >= 0)
				_exit(1);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	reply(&peers[0], "p");
	passes(4);
	expect_from(&peers[0], "p");
}

/* Closing a port also closes its path sockets and clears its counts. */
static void test_closed(void **state)
{
	int fd;

	make_busy(&peers[0]);
	reply(&peers[0], "a");
	passes(4);
	assert_non_null(net.paths->hot);
	send_to(&peers[1].addr, PATH_SENDS);
	fd = socket_for(&peers[0])->fd;
	carrier_udp.close(&ep);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
	assert_int_equal(net.paths->n, 0);
	open_port(&ep, AF_INET6, false);
	passes(4);
	assert_int_equal(conn.traffic.path_sockets, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define TEST_BOUND(f) cmocka_unit_test_setup_teardown(f, setup_bound, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_busy),
		TEST(test_slow),
		TEST(test_many),
		TEST(test_not_shared),
		TEST(test_strangers),
		TEST(test_order),
		TEST(test_stranger_fills),
		TEST(test_fair),
		TEST(test_falls_back),
		TEST(test_limit),
		TEST(test_replaced),
		TEST(test_not_replaced),
		TEST(test_room),
		TEST(test_awaited),
		TEST(test_unreachable),
		TEST(test_options),
		TEST(test_segments),
		TEST(test_never),
		TEST(test_v6),
		TEST(test_fork),
		TEST(test_closed),
		TEST(test_ports),
		TEST_BOUND(test_busy),
		TEST_BOUND(test_not_shared),
		TEST_BOUND(test_strangers),
		TEST_BOUND(test_order),
		TEST_BOUND(test_unreachable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
