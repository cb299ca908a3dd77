/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: several.cm_ports --engines 3 -- */
/*
 * Addresses and ports of rdma_cm ids: which an id can have, when, and when other ids can have them.
 */
#define _GNU_SOURCE
#include "child.h"
#include "cm.h"

#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#define ADDR(ss) ((struct sockaddr *)&(ss))

static uint16_t bound_port(struct rdma_cm_id *id, const struct sockaddr_storage *addr)
{
	CHECK_EQ(rdma_bind_addr(id, ADDR(*addr)), 0);
	return rdma_get_src_port(id);
}

static struct sockaddr_storage ipv4(uint32_t host, uint16_t port)
{
	struct sockaddr_storage ss = cm_loopback(AF_INET, port);

	((struct sockaddr_in *)&ss)->sin_addr.s_addr = htonl(host);
	return ss;
}

/* Possible addresses and ports */

/*
 * Port 0 selects a port of the ephemeral range. The port is known at once, and differs each time.
 */
static void test_ephemeral(void)
{
	static const int families[] = { AF_INET, AF_INET6 };
	struct rdma_event_channel *channel = cm_channel();

	for (int i = 0; i < 4; i++) {
		struct sockaddr_storage addr = i & 1 ? cm_any(families[i / 2], 0) :
						       cm_loopback(families[i / 2], 0);
		struct rdma_cm_id *x = cm_id(channel), *y = cm_id(channel);
		uint16_t port = bound_port(x, &addr);

		CHECK(ntohs(port) >= 1024);
		CHECK(bound_port(y, &addr) != port);
		CHECK_EQ(rdma_get_local_addr(x)->sa_family, families[i / 2]);
		/* Neither of the two addresses selects a device. */
		CHECK(!x->verbs);
		CHECK_EQ(rdma_destroy_id(x), 0);
		CHECK_EQ(rdma_destroy_id(y), 0);
	}
	rdma_destroy_event_channel(channel);
}

/* Listening without a bind takes a port, and so does connecting. */
static void test_unbound(void)
{
	struct rdma_event_channel *channel = cm_channel();
	struct rdma_cm_id *listener = cm_id(channel), *a, *b;
	struct sockaddr_storage to;

	CHECK_EQ(rdma_listen(listener, 1), 0);
	CHECK(rdma_get_src_port(listener));
	to = cm_loopback(AF_INET, rdma_get_src_port(listener));
	a = cm_resolved(channel, &to);
	CHECK(rdma_get_src_port(a) && rdma_get_src_port(a) != rdma_get_src_port(listener));
	CHECK_EQ(cm_connect(a), 0);
	b = cm_request(channel);
	CHECK_EQ(rdma_get_dst_port(b), rdma_get_src_port(a));
	cm_destroy(a);
	cm_destroy(b);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(channel);
}

/*
 * The wildcard takes all addresses of its port; ids at specific addresses can have one port side by
 * side.
 */
static void test_wildcard_and_specific(void)
{
	struct rdma_event_channel *channel = cm_channel();
	struct sockaddr_storage one = ipv4(INADDR_LOOPBACK, 0), two, any = cm_any(AF_INET, 0);
	struct rdma_cm_id *x = cm_id(channel), *y = cm_id(channel), *z = cm_id(channel);
	uint16_t port = bound_port(x, &one);

	two = ipv4(INADDR_LOOPBACK + 1, port);
	CHECK_EQ(bound_port(y, &two), port);
	((struct sockaddr_in *)&any)->sin_port = port;
	CHECK_ERRNO(rdma_bind_addr(z, ADDR(any)), EADDRINUSE);
	CHECK_EQ(rdma_destroy_id(x), 0);
	CHECK_EQ(rdma_destroy_id(y), 0);
	/* The failed bind leaves z unbound. */
	CHECK_EQ(bound_port(z, &any), port);
	x = cm_id(channel);
	CHECK_ERRNO(rdma_bind_addr(x, ADDR(two)), EADDRINUSE);
	CHECK_EQ(rdma_destroy_id(x), 0);
	CHECK_EQ(rdma_destroy_id(z), 0);
	rdma_destroy_event_channel(channel);
}

/*
 * An id that listens at the wildcard is reached at all addresses, also by simultaneous connections
 * that share a hidden port.
 */
static void test_listener_by_addresses(void)
{
	struct rdma_event_channel *channel = cm_channel(), *active = cm_channel();
	struct rdma_cm_id *l = cm_id(channel), *a[3], *b[3];
	struct sockaddr_storage any = cm_any(AF_INET, 0);

	CHECK_EQ(rdma_bind_addr(l, ADDR(any)), 0);
	CHECK_EQ(rdma_listen(l, 4), 0);
	for (int i = 0; i < 3; i++) {
		struct sockaddr_storage to = ipv4(INADDR_LOOPBACK + i, rdma_get_src_port(l));

		a[i] = cm_resolved(active, &to);
		CHECK_EQ(cm_connect(a[i]), 0);
		b[i] = cm_request(channel);
		cm_add_qp(b[i]);
		CHECK_EQ(cm_accept(b[i]), 0);
		cm_expect(active, RDMA_CM_EVENT_ESTABLISHED, 0);
		cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, 0);
		CHECK_EQ(rdma_get_src_port(a[i]), rdma_get_dst_port(b[i]));
		CHECK(!i || rdma_get_src_port(a[i]) != rdma_get_src_port(a[0]));
	}
	for (int i = 0; i < 3; i++) {
		cm_transfer(a[i], b[i]);
		cm_transfer(b[i], a[i]);
	}
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(rdma_disconnect(a[i]), 0);
		cm_expect(active, RDMA_CM_EVENT_DISCONNECTED, 0);
		cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, 0);
		for (int k = i + 1; k < 3; k++)
			cm_transfer(b[k], a[k]);
	}
	for (int i = 0; i < 3; i++) {
		cm_destroy(a[i]);
		cm_destroy(b[i]);
	}
	CHECK_EQ(rdma_destroy_id(l), 0);
	rdma_destroy_event_channel(channel);
	rdma_destroy_event_channel(active);
}

/* Two listeners have the same port at two addresses: each gets the requests for its own address. */
static void test_listeners_by_address(void)
{
	struct rdma_event_channel *channel = cm_channel(), *active = cm_channel();
	struct sockaddr_storage addr = ipv4(INADDR_LOOPBACK, 0);
	struct rdma_cm_id *l[2], *a[2], *b;

	for (int i = 0; i < 2; i++) {
		l[i] = cm_id(channel);
		addr = ipv4(INADDR_LOOPBACK + i, ((struct sockaddr_in *)&addr)->sin_port);
		((struct sockaddr_in *)&addr)->sin_port = bound_port(l[i], &addr);
		CHECK_EQ(rdma_listen(l[i], 1), 0);
	}
	for (int i = 0; i < 2; i++) {
		struct rdma_cm_event *event;

		addr = ipv4(INADDR_LOOPBACK + i, ((struct sockaddr_in *)&addr)->sin_port);
		a[i] = cm_resolved(active, &addr);
		CHECK_EQ(cm_connect(a[i]), 0);
		event = cm_event(channel, RDMA_CM_EVENT_CONNECT_REQUEST, 0);
		CHECK(event->listen_id == l[i]);
		b = event->id;
		CHECK_EQ(((struct sockaddr_in *)rdma_get_local_addr(b))->sin_addr.s_addr,
			 htonl(INADDR_LOOPBACK + i));
		rdma_ack_cm_event(event);
		CHECK_EQ(rdma_destroy_id(b), 0);
		rdma_ack_cm_event(cm_event(active, RDMA_CM_EVENT_REJECTED, cm_status(BY_PROGRAM)));
	}
	for (int i = 0; i < 2; i++) {
		cm_destroy(a[i]);
		CHECK_EQ(rdma_destroy_id(l[i]), 0);
	}
	rdma_destroy_event_channel(channel);
	rdma_destroy_event_channel(active);
}

/*
 * If both ids have REUSEADDR, they can share a port, but only one can listen. REUSEADDR must be set
 * before the bind.
 */
static void test_reuse(void)
{
	struct rdma_event_channel *channel = cm_channel();
	struct sockaddr_storage addr = cm_loopback(AF_INET, 0);
	struct rdma_cm_id *x = cm_id(channel), *y = cm_id(channel), *z = cm_id(channel);
	int on = 1, off = 0;

	CHECK_EQ(rdma_set_option(x, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)), 0);
	((struct sockaddr_in *)&addr)->sin_port = bound_port(x, &addr);
	CHECK_ERRNO(rdma_bind_addr(z, ADDR(addr)), EADDRINUSE);
	CHECK_EQ(rdma_set_option(y, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)), 0);
	CHECK_EQ(rdma_bind_addr(y, ADDR(addr)), 0);
	CHECK_EQ(rdma_listen(y, 1), 0);
	CHECK_ERRNO(rdma_listen(x, 1), EADDRINUSE);
	CHECK_ERRNO(rdma_set_option(y, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &on, sizeof(on)),
		    EINVAL);
	CHECK_ERRNO(rdma_set_option(x, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &off, sizeof(off)),
		    EINVAL);
	CHECK_EQ(rdma_destroy_id(y), 0);
	CHECK_EQ(rdma_listen(x, 1), 0);
	CHECK_EQ(rdma_destroy_id(x), 0);
	CHECK_EQ(rdma_destroy_id(z), 0);
	rdma_destroy_event_channel(channel);
}

/*
 * With AFONLY, an IPv6 id leaves the IPv4 port of this number to others, and accepts no IPv4 peers.
 */
static void test_afonly(void)
{
	struct rdma_event_channel *channel = cm_channel(), *active = cm_channel();
	struct sockaddr_storage any6 = cm_any(AF_INET6, 0), any4;
	struct rdma_cm_id *six = cm_id(channel), *four = cm_id(channel), *a;
	int on = 1;

	/* Without AFONLY, :: covers both families. */
	any4 = cm_any(AF_INET, bound_port(six, &any6));
	CHECK_ERRNO(rdma_bind_addr(four, ADDR(any4)), EADDRINUSE);
	CHECK_EQ(rdma_set_option(six, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &on, sizeof(on)), 0);
	CHECK_EQ(rdma_get_src_port(six), ((struct sockaddr_in *)&any4)->sin_port);
	CHECK_EQ(rdma_listen(six, 1), 0);
	CHECK_ERRNO(rdma_set_option(six, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &on, sizeof(on)),
		    EINVAL);
	any4 = cm_loopback(AF_INET, ((struct sockaddr_in *)&any4)->sin_port);
	a = cm_resolved(active, &any4);
	CHECK_EQ(cm_connect(a), 0);
	cm_expect(active, RDMA_CM_EVENT_REJECTED, cm_status(NOBODY_LISTENS));
	cm_destroy(a);
	any4 = cm_any(AF_INET, ((struct sockaddr_in *)&any4)->sin_port);
	CHECK_EQ(rdma_bind_addr(four, ADDR(any4)), 0);
	CHECK_EQ(rdma_listen(four, 1), 0);
	any4 = cm_loopback(AF_INET, ((struct sockaddr_in *)&any4)->sin_port);
	a = cm_resolved(active, &any4);
	CHECK_EQ(cm_connect(a), 0);
	CHECK_EQ(rdma_destroy_id(cm_request(channel)), 0);
	cm_expect(active, RDMA_CM_EVENT_REJECTED, cm_status(BY_PROGRAM));
	cm_destroy(a);
	CHECK_EQ(rdma_destroy_id(six), 0);
	CHECK_EQ(rdma_destroy_id(four), 0);
	rdma_destroy_event_channel(channel);
	rdma_destroy_event_channel(active);
}

/* Addresses that this host does not have, or that no host can have. */
static void test_not_ours(void)
{
	struct rdma_event_channel *channel = cm_channel();
	struct rdma_cm_id *id = cm_id(channel);
	struct sockaddr_storage addr = ipv4(0xc6336401, 0), to = cm_loopback(AF_INET, htons(9));
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)&addr;

	CHECK_ERRNO(rdma_bind_addr(id, ADDR(addr)), EADDRNOTAVAIL); /* 198.51.100.1 */
	CHECK_ERRNO(rdma_resolve_addr(id, ADDR(addr), ADDR(to), 100), EADDRNOTAVAIL);
	addr = ipv4(0xe0000101, 0); /* 224.0.1.1 */
	CHECK_ERRNO(rdma_bind_addr(id, ADDR(addr)), EADDRNOTAVAIL);
	addr = cm_loopback(AF_INET6, 0);
	inet_pton(AF_INET6, "2001:db8::1", &six->sin6_addr);
	CHECK_ERRNO(rdma_bind_addr(id, ADDR(addr)), EADDRNOTAVAIL);
	/* A link-local address is invalid without its link. */
	inet_pton(AF_INET6, "fe80::1", &six->sin6_addr);
	CHECK_ERRNO(rdma_bind_addr(id, ADDR(addr)), EINVAL);
	CHECK_ERRNO(rdma_resolve_addr(id, NULL, ADDR(addr), 100), EINVAL);
	/* The two addresses have different families. */
	addr = cm_loopback(AF_INET6, 0);
	CHECK_ERRNO(rdma_resolve_addr(id, ADDR(addr), ADDR(to), 100), EINVAL);
	/* After all these errors, the id is unchanged. */
	CHECK_EQ(rdma_resolve_addr(id, NULL, ADDR(to), 100), 0);
	cm_expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	CHECK_EQ(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(channel);
}

/* Processes */

static void listen_until_told(int in, int out, uint16_t port)
{
	struct rdma_event_channel *channel = cm_channel();
	struct sockaddr_storage addr = cm_loopback(AF_INET, port);
	struct rdma_cm_id *id = cm_id(channel), *b;
	char word;

	if (rdma_bind_addr(id, ADDR(addr)) || rdma_listen(id, 4)) {
		child_say(out, errno);
		exit(0);
	}
	child_say(out, 0);
	child_say(out, rdma_get_src_port(id));
	b = cm_request(channel);
	cm_add_qp(b);
	CHECK_EQ(cm_accept(b), 0);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, 0);
	read(in, &word, 1);
}

static void listens_on_any_port(int in, int out)
{
	listen_until_told(in, out, 0);
}

static void listens_on_this_port(int in, int out)
{
	listen_until_told(in, out, child_hear(in));
}

/* The child listens on this port, 0 for any. Returns its port, or the errno of its failure. */
static int child_takes(struct child *c, uint16_t port)
{
	child_say(c->to, port);
	return child_hear(c->from);
}

static struct rdma_cm_id *connected(struct rdma_event_channel *channel, uint16_t port)
{
	struct sockaddr_storage to = cm_loopback(AF_INET, port);
	struct rdma_cm_id *id = cm_resolved(channel, &to);

	CHECK_EQ(cm_connect(id), 0);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, 0);
	return id;
}

static void test_two_processes(void)
{
	struct child first = child_start(listens_on_any_port), second;
	uint16_t port;

	CHECK_EQ(child_hear(first.from), 0);
	port = child_hear(first.from);
	second = child_start(listens_on_this_port);
	CHECK_EQ(child_takes(&second, port), EADDRINUSE);
	CHECK_EQ(child_end(&second), 0);
	kill(first.pid, SIGKILL);
	CHECK_EQ(child_end(&first), 128 + SIGKILL);
	/* A process that has died leaves the port free. */
	second = child_start(listens_on_this_port);
	CHECK_EQ(child_takes(&second, port), 0);
	kill(second.pid, SIGKILL);
	child_end(&second);
}

/*
 * A listener is killed, and another one takes its port at once. A client of the first listener
 * reconnects at once, and may assume that its association still exists.
 */
static void restarted(bool idle)
{
	struct child c = child_start(listens_on_any_port), next = child_start(listens_on_this_port);
	struct rdma_event_channel *channel;
	struct rdma_cm_id *old, *id;
	uint16_t port;

	CHECK_EQ(child_hear(c.from), 0);
	port = child_hear(c.from);
	channel = cm_channel();
	old = connected(channel, port);
	if (!idle) {
		CHECK_EQ(rdma_disconnect(old), 0);
		cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, 0);
	}
	kill(c.pid, SIGKILL);
	CHECK_EQ(child_end(&c), 128 + SIGKILL);
	CHECK_EQ(child_takes(&next, port), 0);
	CHECK_EQ(child_hear(next.from), port);
	if (idle) { /* the new listener's answer shows that the old association is unknown */
		struct sockaddr_storage to = cm_loopback(AF_INET, port);
		struct rdma_event_channel *other = cm_channel();

		id = cm_resolved(other, &to);
		CHECK_EQ(cm_connect(id), 0);
		cm_expect(other, RDMA_CM_EVENT_ESTABLISHED, 0);
		cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, 0);
		cm_destroy(id);
		rdma_destroy_event_channel(other);
	} else {
		cm_destroy(connected(channel, port));
	}
	cm_destroy(old);
	kill(next.pid, SIGKILL);
	child_end(&next);
	rdma_destroy_event_channel(channel);
}

static void test_restarted(void)
{
	restarted(false);
}

static void test_restarted_under_a_connection(void)
{
	restarted(true);
}

/* Waits until another process can have the port. */
static void expect_free(uint16_t port)
{
	double end = now_seconds() + 1.5; /* less than the lifetime of an idle association */
	struct sockaddr_storage addr = cm_loopback(AF_INET, port);
	int ret;

	do {
		int fd = socket(AF_INET, SOCK_DGRAM, 0);

		CHECK(fd >= 0);
		ret = bind(fd, ADDR(addr), sizeof(struct sockaddr_in));
		close(fd);
		if (ret)
			sleep_ms(1);
	} while (ret && now_seconds() < end);
	CHECK_EQ(ret, 0);
}

static void connects(int in, int out)
{
	struct rdma_event_channel *channel = cm_channel();
	struct rdma_cm_id *id = connected(channel, child_hear(in));

	child_say(out, 1);
	if (child_hear(in) == 'd')
		CHECK_EQ(rdma_disconnect(id), 0);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, 0);
	child_say(out, 1);
	pause();
}

/*
 * Without a listener and connections, a port is free, although the process and its peer continue.
 */
static void port_is_free_again(bool peer_disconnects, bool listener_first)
{
	struct child c = child_start(connects);
	struct rdma_event_channel *channel = cm_channel();
	struct rdma_cm_id *listener = cm_listener(channel, AF_INET, 1), *b;
	uint16_t port = rdma_get_src_port(listener);

	child_say(c.to, port);
	b = cm_request(channel);
	cm_add_qp(b);
	CHECK_EQ(cm_accept(b), 0);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, 0);
	CHECK_EQ(child_hear(c.from), 1);
	if (listener_first)
		CHECK_EQ(rdma_destroy_id(listener), 0);
	child_say(c.to, peer_disconnects ? 'd' : 0);
	if (!peer_disconnects)
		CHECK_EQ(rdma_disconnect(b), 0);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, 0);
	CHECK_EQ(child_hear(c.from), 1);
	cm_destroy(b);
	if (!listener_first)
		CHECK_EQ(rdma_destroy_id(listener), 0);
	expect_free(port);
	kill(c.pid, SIGKILL);
	child_end(&c);
	rdma_destroy_event_channel(channel);
}

static void test_free_again(void)
{
	port_is_free_again(false, false);
}

static void test_free_again_peer_disconnects(void)
{
	port_is_free_again(true, false);
}

static void test_free_again_listener_first(void)
{
	port_is_free_again(true, true);
}

/* The same for the local port of a connection. */
static void test_free_again_client(void)
{
	struct child c = child_start(listens_on_any_port);
	struct rdma_event_channel *channel = cm_channel();
	struct sockaddr_storage from = cm_loopback(AF_INET, 0), to;
	struct rdma_cm_id *id;
	uint16_t port;

	CHECK_EQ(child_hear(c.from), 0);
	to = cm_loopback(AF_INET, child_hear(c.from));
	id = cm_id(channel);
	port = bound_port(id, &from);
	CHECK_EQ(rdma_resolve_addr(id, NULL, ADDR(to), 100), 0);
	cm_expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	CHECK_EQ(rdma_get_src_port(id), port);
	CHECK_EQ(rdma_resolve_route(id, 100), 0);
	cm_expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	cm_add_qp(id);
	CHECK_EQ(cm_connect(id), 0);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, 0);
	cm_destroy(id);
	expect_free(port);
	kill(c.pid, SIGKILL);
	child_end(&c);
	rdma_destroy_event_channel(channel);
}

/* Connections outlive their listener, and keep the port as long as they exist. */
static void test_connection_outlives_listener(void)
{
	struct sockaddr_storage to;
	struct rdma_cm_id *c;
	struct cm_link l;
	uint16_t port;

	cm_link_open(&l);
	to = cm_address_of(l.listener, AF_INET);
	port = rdma_get_src_port(l.listener);
	CHECK_EQ(rdma_destroy_id(l.listener), 0);
	/* A request that is refused does not end the association. */
	c = cm_resolved(l.active, &to);
	CHECK_EQ(cm_connect(c), 0);
	cm_expect(l.active, RDMA_CM_EVENT_REJECTED, cm_status(NOBODY_LISTENS));
	cm_destroy(c);
	sleep_ms(200);
	cm_transfer(l.a, l.b);
	cm_transfer(l.b, l.a);
	/* The same process can listen there again. */
	l.listener = cm_id(l.listening);
	CHECK_EQ(rdma_bind_addr(l.listener, ADDR(to)), 0);
	CHECK_EQ(rdma_listen(l.listener, 1), 0);
	c = cm_resolved(l.active, &to);
	CHECK_EQ(cm_connect(c), 0);
	CHECK_EQ(rdma_destroy_id(cm_request(l.listening)), 0);
	cm_expect(l.active, RDMA_CM_EVENT_REJECTED, cm_status(BY_PROGRAM));
	cm_destroy(c);
	cm_transfer(l.a, l.b);
	cm_link_close(&l);
	expect_free(port);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "ephemeral", test_ephemeral },
		{ "unbound", test_unbound },
		{ "wildcard_and_specific", test_wildcard_and_specific },
		{ "listeners_by_address", test_listeners_by_address },
		{ "listener_by_addresses", test_listener_by_addresses },
		{ "reuse", test_reuse },
		{ "afonly", test_afonly },
		{ "not_ours", test_not_ours },
		{ "two_processes", test_two_processes },
		{ "restarted", test_restarted },
		{ "restarted_under_a_connection", test_restarted_under_a_connection },
		{ "free_again", test_free_again },
		{ "free_again_peer_disconnects", test_free_again_peer_disconnects },
		{ "free_again_listener_first", test_free_again_listener_first },
		{ "free_again_client", test_free_again_client },
		{ "connection_outlives_listener", test_connection_outlives_listener },
	};

	return run_tests_apart(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
