/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: several.cm_own_ports --engines 3 -- */
/* Each id shows its own port to its program and to the peer, though ids share an association. */
#define _GNU_SOURCE
#include "child.h"
#include "cm.h"

#include <signal.h>
#include <sys/socket.h>

#define ADDR(ss) ((struct sockaddr *)&(ss))
#define SHARING 5

static void connect_all(struct rdma_event_channel *channel, uint16_t port, struct rdma_cm_id **ids)
{
	struct sockaddr_storage to = cm_loopback(AF_INET, port);

	for (int i = 0; i < SHARING; i++) {
		ids[i] = cm_resolved(channel, &to);
		CHECK_EQ(cm_connect(ids[i]), 0);
		cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, 0);
	}
}

static void accept_all(struct rdma_event_channel *channel, struct rdma_cm_id **ids)
{
	for (int i = 0; i < SHARING; i++) {
		ids[i] = cm_request(channel);
		cm_add_qp(ids[i]);
		CHECK_EQ(cm_accept(ids[i]), 0);
		cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, 0);
	}
}

static void destroy_all(struct rdma_cm_id **ids)
{
	for (int i = 0; i < SHARING; i++)
		cm_destroy(ids[i]);
}

static int bind_to(struct rdma_cm_id *id, uint16_t port)
{
	struct sockaddr_storage addr = cm_loopback(AF_INET, port);

	return rdma_bind_addr(id, ADDR(addr)) ? errno : 0;
}

static void connects_all(int in, int out)
{
	struct rdma_event_channel *channel = cm_channel();
	struct rdma_cm_id *ids[SHARING];

	connect_all(channel, child_hear(in), ids);
	for (int i = 0; i < SHARING; i++)
		child_say(out, rdma_get_src_port(ids[i]));
	child_hear(in);
	destroy_all(ids);
	rdma_destroy_event_channel(channel);
}

/*
 * No two ids of a host show the same port, and an id's peer sees the port that the id shows. No
 * other id can bind to the port while its id lives.
 */
static void test_own_ports(void)
{
	struct child c = child_start(connects_all), d = child_start(connects_all);
	struct rdma_event_channel *channel = cm_channel(), *own = cm_channel();
	struct rdma_cm_id *listener = cm_listener(channel, AF_INET, SHARING), *b[2 * SHARING], *id;
	uint16_t port[2 * SHARING];

	child_say(c.to, rdma_get_src_port(listener));
	accept_all(channel, b);
	child_say(d.to, rdma_get_src_port(listener));
	accept_all(channel, b + SHARING);
	for (int i = 0; i < 2 * SHARING; i++) {
		port[i] = child_hear(i < SHARING ? c.from : d.from);
		CHECK_EQ(rdma_get_dst_port(b[i]), port[i]);
		CHECK(ntohs(port[i]) >= 1024 && port[i] != rdma_get_src_port(listener));
		for (int k = 0; k < i; k++)
			CHECK(port[k] != port[i]);
		id = cm_id(own);
		CHECK_EQ(bind_to(id, port[i]), EADDRINUSE);
		CHECK_EQ(rdma_destroy_id(id), 0);
	}
	child_say(c.to, 0);
	CHECK_EQ(child_end(&c), 0);
	kill(d.pid, SIGKILL);
	CHECK_EQ(child_end(&d), 128 + SIGKILL);
	for (int i = 0; i < 2 * SHARING; i++) {
		id = cm_id(own);
		CHECK_EQ(bind_to(id, port[i]), 0);
		CHECK_EQ(rdma_destroy_id(id), 0);
	}
	destroy_all(b);
	destroy_all(b + SHARING);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(channel);
	rdma_destroy_event_channel(own);
}

/*
 * A port becomes free with its id, but is not used again soon: the peer may not have noticed the
 * id's end yet.
 */
static void test_port_given_back(void)
{
	struct rdma_event_channel *channel = cm_channel(), *active = cm_channel();
	struct rdma_cm_id *listener = cm_listener(channel, AF_INET, SHARING), *a[SHARING], *again;
	struct sockaddr_storage to = cm_address_of(listener, AF_INET);
	uint16_t port[SHARING];

	for (int i = 0; i < SHARING; i++) {
		a[i] = cm_resolved(active, &to);
		port[i] = rdma_get_src_port(a[i]);
		again = cm_id(active);
		CHECK_EQ(bind_to(again, port[i]), EADDRINUSE);
		if (i)
			cm_destroy(a[i]);
		CHECK_EQ(bind_to(again, port[i]), i ? 0 : EADDRINUSE);
		CHECK_EQ(rdma_destroy_id(again), 0);
		for (int k = 0; k < i; k++)
			CHECK(port[k] != port[i]);
	}
	cm_destroy(a[0]);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(channel);
	rdma_destroy_event_channel(active);
}

/* An id that the program has bound shows the bound port, as if no other id shared the endpoint. */
static void test_named_port(void)
{
	struct rdma_event_channel *channel = cm_channel(), *active = cm_channel();
	struct rdma_cm_id *listener = cm_listener(channel, AF_INET, 1), *a[2], *b[2];
	struct sockaddr_storage to = cm_address_of(listener, AF_INET),
				any = cm_loopback(AF_INET, 0);
	uint16_t port;

	for (int i = 0; i < 2; i++) {
		a[i] = cm_id(active);
		CHECK_EQ(rdma_bind_addr(a[i], ADDR(any)), 0);
		port = rdma_get_src_port(a[i]);
		CHECK(port);
		cm_resolve(a[i], &to);
		CHECK_EQ(cm_connect(a[i]), 0);
		b[i] = cm_request(channel);
		CHECK_EQ(rdma_get_src_port(a[i]), port);
		CHECK_EQ(rdma_get_dst_port(b[i]), port);
	}
	CHECK(rdma_get_dst_port(b[0]) != rdma_get_dst_port(b[1]));
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(rdma_destroy_id(b[i]), 0);
		cm_destroy(a[i]);
	}
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(channel);
	rdma_destroy_event_channel(active);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "own_ports", test_own_ports },
		{ "port_given_back", test_port_given_back },
		{ "named_port", test_named_port },
	};

	return run_tests_apart(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
