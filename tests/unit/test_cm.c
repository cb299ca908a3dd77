/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/*
 * The connection manager through the table of rnic_api.h, over real sockets: both ends in this
 * process, or one in a child.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "conformance/rows.h"
#include "runtime/channel.h"
#include "net/memory.h"
#include "runtime/rnic.h"
#include "runtime/object.h"
#include "sys/sys.h"
#include "util/sockaddr.h"
#include "iwarp/iwarp.h"
#include "iwarp/cq.h"
#include "iwarp/mr.h"
#include "rnic_api.h"
#include "fixture/cm_pair.h"

static void connect_over(int family)
{
	struct rnic_addr_info ci, si;
	struct pair p;

	pair_open(&p, family);
	assert_int_equal(p.c.qp->state, IW_QPS_RTS);
	assert_int_equal(p.s.qp->state, IW_QPS_RTS);
	assert_int_equal(pair_api->cm_query(p.cid, &ci), 0);
	assert_int_equal(pair_api->cm_query(p.sid, &si), 0);
	assert_memory_equal(&ci.src, &si.dst, sizeof(struct sockaddr_in6));
	assert_memory_equal(&ci.dst, &si.src, sizeof(struct sockaddr_in6));
	assert_int_not_equal(ci.node_guid, 0);
	assert_int_equal(ci.port_num, 1);
	transfer(&p.c, &p.s, "ping", false);
	transfer(&p.s, &p.c, "pong", true);
	assert_int_equal(pair_api->cm_disconnect(p.cid), 0);
	pair_expect(&p.cc, DISCONNECTED, 0);
	pair_expect(&p.sc, DISCONNECTED, 0);
	assert_int_equal(pair_api->cm_disconnect(p.cid), 0);
	assert_int_equal(pair_api->cm_disconnect(p.sid), 0);
	expect_silence(&p.sc, 20);
	expect_silence(&p.cc, 0);
	pair_destroy_id(p.cid, 4);
	pair_destroy_id(p.sid, 2);
	pair_destroy_id(p.listener, 1);
	pair_close(&p);
}

static void test_connect_v4(void **state)
{
	ROWS("5043-5.2.3-13 5043-6.4-02 6581-9.1-05");
	connect_over(AF_INET);
}

static void test_connect_v6(void **state)
{
	connect_over(AF_INET6);
}

static void test_dual_stack(void **state)
{
	struct rnic_conn_param param;
	struct rnic_addr_info info;
	struct rnic_cm_event ev;
	struct chan c;
	struct end end;
	uint32_t listener, id;
	int on = 1;
	uint16_t port;

	chan_open(&c);
	pair_qp_open(&end);
	listener = listen_on(&c, pair_any(AF_INET6, 0), 0);
	port = port_of(listener);
	id = resolve(&c, 1, loopback(AF_INET, port));
	param = param_of(&end, NULL);
	assert_int_equal(pair_api->cm_connect(id, &param), 0);
	ev = pair_expect(&c, CONNECT_REQUEST, 0);
	assert_int_equal(pair_api->cm_query(ev.id, &info), 0);
	assert_int_equal(info.dst.ss_family, AF_INET6);
	assert_true(IN6_IS_ADDR_V4MAPPED(&((struct sockaddr_in6 *)&info.dst)->sin6_addr));
	assert_int_equal(pair_api->cm_reject(ev.id, 0, NULL, 0), 0);
	pair_expect(&c, REJECTED, -ECONNREFUSED);
	pair_destroy_id(ev.id, 0);
	pair_destroy_id(id, 3);
	pair_destroy_id(listener, 1);
	/*
	 * IPv6 only, with the option set before or after the bind. The same port of IPv4 stays free
	 * for other programs. The first id uses a free port.
	 */
	for (int late = 0; late < 2; late++) {
		uint32_t v4 = new_id(&c, 2);

		listener = new_id(&c, 3);
		if (late) {
			assert_int_equal(bind_to(listener, pair_any(AF_INET6, 0)), 0);
			assert_int_equal(bind_to(v4, pair_any(AF_INET, port_of(listener))),
					 -EADDRINUSE);
		}
		assert_int_equal(pair_api->cm_set_option(listener, 0, 2, &on, sizeof(on)), 0);
		if (late) {
			assert_int_equal(bind_to(v4, pair_any(AF_INET, port_of(listener))), 0);
		} else {
			assert_int_equal(bind_to(v4, pair_any(AF_INET, 0)), 0);
			assert_int_equal(bind_to(listener, pair_any(AF_INET6, port_of(v4))), 0);
		}
		pair_destroy_id(v4, 0);
		pair_destroy_id(listener, 0);
	}
	pair_qp_close(&end);
	chan_close(&c);
}

/*
 * A server may publish its port before it listens: a quick peer waits. If the server never listens,
 * it refuses its peers in the end.
 */
static void test_early_peer(void **state)
{
	struct rnic_conn_param param;
	struct rnic_cm_event ev;
	uint32_t server, id;
	struct chan c;
	struct end end;

	chan_open(&c);
	pair_qp_open(&end);
	param = param_of(&end, NULL);
	server = new_id(&c, 1);
	assert_int_equal(bind_to(server, pair_any(AF_INET, 0)), 0);
	id = resolve(&c, 2, loopback(AF_INET, port_of(server)));
	assert_int_equal(pair_api->cm_connect(id, &param), 0);
	expect_silence(&c, 50);
	assert_int_equal(pair_api->cm_listen(server, 0), 0);
	ev = pair_expect(&c, CONNECT_REQUEST, 0);
	assert_int_equal(pair_api->cm_reject(ev.id, 0, NULL, 0), 0);
	pair_expect(&c, REJECTED, -ECONNREFUSED);
	pair_destroy_id(ev.id, 0);
	pair_destroy_id(id, 3);
	pair_destroy_id(server, 1);

	server = new_id(&c, 3);
	assert_int_equal(bind_to(server, pair_any(AF_INET, 0)), 0);
	id = resolve(&c, 4, loopback(AF_INET, port_of(server)));
	assert_int_equal(pair_api->cm_connect(id, &param), 0);
	pair_expect(&c, REJECTED, -ECONNREFUSED);
	pair_destroy_id(id, 3);
	pair_destroy_id(server, 0);
	pair_qp_close(&end);
	chan_close(&c);
}

/*
 * As above, for a server that listens again, while a connection of its former listener has the
 * port.
 */
static void test_early_peer_between_listeners(void **state)
{
	struct rnic_conn_param param;
	struct sockaddr_storage to;
	struct rnic_cm_event ev;
	struct end end;
	struct pair p;
	uint32_t id;

	pair_open(&p, AF_INET);
	pair_qp_open(&end);
	to = loopback(AF_INET, port_of(p.listener));
	pair_destroy_id(p.listener, 1);
	/* A local port of its own makes the id open another association. */
	id = new_id(&p.cc, 2);
	assert_int_equal(bind_to(id, pair_any(AF_INET, 0)), 0);
	assert_int_equal(pair_api->cm_resolve_addr(id, NULL, (struct sockaddr *)&to, 1000), 0);
	pair_expect(&p.cc, ADDR_RESOLVED, 0);
	assert_int_equal(pair_api->cm_resolve_route(id, 1000), 0);
	pair_expect(&p.cc, ROUTE_RESOLVED, 0);
	param = param_of(&end, NULL);
	assert_int_equal(pair_api->cm_connect(id, &param), 0);
	expect_silence(&p.cc, 50);
	p.listener = listen_on(&p.sc, pair_any(AF_INET, sockaddr_port((struct sockaddr *)&to)), 0);
	ev = pair_expect(&p.sc, CONNECT_REQUEST, 0);
	assert_int_equal(pair_api->cm_reject(ev.id, 0, NULL, 0), 0);
	pair_expect(&p.cc, REJECTED, -ECONNREFUSED);
	pair_qp_close(&end);
	pair_close(&p);
}

/* An id that has no address yet is in the wrong state for most calls; they change nothing. */
static void test_wrong_state(void **state)
{
	struct rnic_conn_param param = { 0 };
	struct rnic_qp_attr attr;
	uint32_t id, other;
	struct chan c;

	chan_open(&c);
	id = new_id(&c, 1);
	assert_int_equal(pair_api->cm_create_id(c.rnic, 1, 0x999, RC, &other), -EINVAL);
	assert_int_equal(pair_api->cm_connect(id, &param), -EINVAL);
	assert_int_equal(pair_api->cm_accept(id, &param, false, 0), -EINVAL);
	assert_int_equal(pair_api->cm_accept(id, NULL, false, 0), -EINVAL);
	assert_int_equal(pair_api->cm_reject(id, 0, NULL, 0), -EINVAL);
	assert_int_equal(pair_api->cm_disconnect(id), -EINVAL);
	assert_int_equal(pair_api->cm_resolve_route(id, 1), -EINVAL);
	assert_int_equal(pair_api->cm_init_qp_attr(id, 1, &attr), -EINVAL);
	assert_int_equal(bind_to(id, loopback(AF_INET, 0)), 0);
	assert_int_equal(bind_to(id, loopback(AF_INET, 0)), -EINVAL);
	/* The id has no device yet. */
	assert_int_equal(pair_api->cm_init_qp_attr(id, 1, &attr), -EINVAL);
	pair_destroy_id(id, 0);
	chan_close(&c);
}

static void test_wrong_addresses(void **state)
{
	struct sockaddr_storage to = loopback(AF_INET, 7000), bad = { 0 };
	struct chan c;
	uint32_t id;

	chan_open(&c);
	id = new_id(&c, 1);
	/* librdmacm probes for AF_IB. */
	bad.ss_family = 27;
	assert_int_equal(bind_to(id, bad), -EAFNOSUPPORT);
	assert_int_equal(pair_api->cm_resolve_addr(id, NULL, (struct sockaddr *)&bad, 1),
			 -EAFNOSUPPORT);
	/* An address of another host. */
	((struct sockaddr_in *)&bad)->sin_family = AF_INET;
	((struct sockaddr_in *)&bad)->sin_addr.s_addr = htonl(0xc0000201);
	assert_int_equal(bind_to(id, bad), -EADDRNOTAVAIL);
	assert_int_equal(pair_api->cm_resolve_addr(id, (struct sockaddr *)&bad,
						   (struct sockaddr *)&to, 1),
			 -EADDRNOTAVAIL);
	/* The id can still be bound. */
	assert_int_equal(bind_to(id, loopback(AF_INET, 0)), 0);
	pair_destroy_id(id, 0);
	chan_close(&c);
}

static void test_options(void **state)
{
	struct chan c;
	uint8_t tos = 1;
	uint32_t id;

	chan_open(&c);
	id = new_id(&c, 1);
	assert_int_equal(pair_api->cm_set_option(id, 0, 0, &tos, 1), 0);
	assert_int_equal(pair_api->cm_set_option(id, 0, 99, &tos, 1), -ENOSYS);
	assert_int_equal(pair_api->cm_set_option(id, 1, 1, &tos, 1), -ENOSYS);
	pair_destroy_id(id, 0);
	chan_close(&c);
}

/* The masks of the kernel's iWARP CM: STATE 1, ACCESS_FLAGS 8, PORT 32 */
static void test_qp_attr(void **state)
{
	struct rnic_qp_attr attr;
	struct chan c;
	uint32_t id;

	chan_open(&c);
	id = resolve(&c, 3, loopback(AF_INET, 9));
	assert_int_equal(pair_api->cm_init_qp_attr(id, 1, &attr), 0);
	assert_int_equal(attr.mask, 1 | 8 | 32);
	assert_int_equal(attr.port_num, 1);
	assert_int_equal(pair_api->cm_init_qp_attr(id, 3, &attr), 0);
	assert_int_equal(attr.mask, 32);
	pair_destroy_id(id, 2);
	chan_close(&c);
}

/*
 * Two ids may have the same address if both have RDMA_OPTION_ID_REUSEADDR, but only one id listens.
 */
static void test_one_address(void **state)
{
	struct sockaddr_storage to;
	uint32_t id, other, n;
	struct chan c;
	int on = 1;

	chan_open(&c);
	id = new_id(&c, 1);
	assert_int_equal(bind_to(id, loopback(AF_INET, 0)), 0);
	to = loopback(AF_INET, port_of(id));
	other = new_id(&c, 2);
	assert_int_equal(bind_to(other, to), -EADDRINUSE);
	assert_int_equal(pair_api->cm_set_option(id, 0, 1, &on, sizeof(on)), 0);
	assert_int_equal(bind_to(other, to), -EADDRINUSE);
	assert_int_equal(pair_api->cm_set_option(other, 0, 1, &on, sizeof(on)), 0);
	assert_int_equal(bind_to(other, to), 0);
	assert_int_equal(pair_api->cm_listen(id, 5), 0);
	assert_int_equal(pair_api->cm_listen(other, 5), -EADDRINUSE);
	assert_int_equal(pair_api->cm_listen(id, 5), -EINVAL);
	assert_int_equal(pair_api->cm_disconnect(id), -EINVAL);
	pair_destroy_id(id, 0);
	assert_int_equal(pair_api->cm_destroy_id(id, &n), -ENOENT);
	assert_int_equal(pair_api->cm_listen(other, 5), 0);
	pair_destroy_id(other, 0);
	chan_close(&c);
}

/* Without a QP there is no connection. */
static void test_no_qp(void **state)
{
	struct sockaddr_storage to = loopback(AF_INET, 7000);
	struct rnic_conn_param param = { 0 };
	struct chan c;
	uint32_t id;

	chan_open(&c);
	id = resolve(&c, 1, to);
	assert_int_equal(pair_api->cm_connect(id, &param), -EINVAL);
	param.qp_num = 0xfffff0;
	assert_int_equal(pair_api->cm_connect(id, &param), -EINVAL);
	assert_int_equal(pair_api->cm_resolve_addr(id, NULL, (struct sockaddr *)&to, 1), -EINVAL);
	pair_destroy_id(id, 2);
	chan_close(&c);
}

/* Datagrams are not served. */
static void test_datagrams(void **state)
{
	struct chan c;
	uint32_t id;

	chan_open(&c);
	assert_int_equal(pair_api->cm_create_id(c.rnic, 1, PS_UDP, UD, &id), 0);
	assert_int_equal(bind_to(id, loopback(AF_INET, 0)), -ENODEV);
	pair_destroy_id(id, 0);
	chan_close(&c);
}

/* Events move to another channel with their id, and the id moves with that channel. */
static void test_migrate(void **state)
{
	struct sockaddr_storage to = loopback(AF_INET, 7000);
	struct chan c, other;
	uint32_t id, n;

	chan_open(&c);
	chan_open(&other);
	id = new_id(&c, 1);
	assert_int_equal(pair_api->cm_resolve_addr(id, NULL, (struct sockaddr *)&to, 1), 0);
	assert_int_equal(pair_api->cm_migrate_id(id, other.rnic, &n), 0);
	assert_int_equal(n, 0);
	expect_silence(&c, 0);
	pair_expect(&other, ADDR_RESOLVED, 0);
	chan_close(&other);
	assert_int_equal(pair_api->cm_destroy_id(id, &n), -ENOENT);
	chan_close(&c);
}

static void test_unroutable(void **state)
{
	struct sockaddr_storage to = { 0 };
	struct chan c;
	uint32_t id;

	/* Multicast has no connections. */
	chan_open(&c);
	id = new_id(&c, 1);
	((struct sockaddr_in *)&to)->sin_family = AF_INET;
	((struct sockaddr_in *)&to)->sin_addr.s_addr = htonl(0xe0000001);
	assert_int_equal(pair_api->cm_resolve_addr(id, NULL, (struct sockaddr *)&to, 1),
			 -EADDRNOTAVAIL);
	/* The id can be used for another address. */
	to = loopback(AF_INET, 1);
	assert_int_equal(pair_api->cm_resolve_addr(id, NULL, (struct sockaddr *)&to, 1), 0);
	pair_expect(&c, ADDR_RESOLVED, 0);
	chan_close(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wrong_state),
		cmocka_unit_test(test_wrong_addresses),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_qp_attr),
		cmocka_unit_test(test_one_address),
		cmocka_unit_test(test_no_qp),
		cmocka_unit_test(test_datagrams),
		cmocka_unit_test(test_migrate),
		cmocka_unit_test(test_unroutable),
		cmocka_unit_test(test_connect_v4),
		cmocka_unit_test(test_connect_v6),
		cmocka_unit_test(test_dual_stack),
		cmocka_unit_test(test_early_peer),
		cmocka_unit_test(test_early_peer_between_listeners),
	};

	if (pthread_atfork(while_forking, NULL, NULL))
		return 1;
	setenv("SCTPIW_PERSONALITY", "iwarp", 1); /* the events and masks of an iWARP device */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
