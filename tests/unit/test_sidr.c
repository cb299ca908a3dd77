/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: conn */
/*
 * rdma_cm for datagrams (conn/sidr.h): a client and a server. The test carries, drops and repeats
 * their packets, and sets their clock.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "config/config.h"
#include "conn/carrier.h"
#include "conn/conn.h"
#include "fixture/clock.h"
#include "fixture/fake_ports.h"
#include "sctp/sctp.h"
#include "util/sockaddr.h"
#include "wire/sidr.h"

#define CLIENT_PORT 5000
#define SERVER_PORT 7174
#define PACKETS_MAX 64
#define EVENTS_MAX 16
#define QP_NUM 0x123456

struct packet {
	struct endpoint *from;
	struct path_addr to;
	uint8_t data[WIRE_SIDR_PACKET];
	size_t len;
};

struct host {
	struct conn conn;
	uint16_t port;
	uint8_t address; /* the last byte of 192.0.2.x */
	struct packet packet[PACKETS_MAX];
	unsigned int packets; /* sent, and still to be delivered */
	struct rnic_cm_event event[EVENTS_MAX];
	unsigned int events; /* still to be checked by the test */
	struct cm_id *id;    /* the client's id, or the server's listener */
};

static struct host client, server;
static struct config config = { .personality = CONFIG_ROCE, .request_limit = 8, .share = true };

static struct host *host_of(const struct conn *c)
{
	return c == &client.conn ? &client : &server;
}

static struct ip_addr address(uint8_t last)
{
	const uint8_t v4[4] = { 192, 0, 2, last };

	return ip_addr_from_v4(v4);
}

/* ---- the hosts ---- */

static int fake_start(struct conn *c, struct config_error *why)
{
	return 0;
}

static void fake_stop(struct conn *c)
{
}

static int fake_open(struct endpoint *ep, const struct sockaddr *addr, bool v6only)
{
	ep->bound.port = host_of(ep->conn)->port;
	ep->bound.family = addr->sa_family;
	ep->bound.wildcard = true;
	sockaddr_copy(&ep->bound.local, addr);
	sockaddr_set_port((struct sockaddr *)&ep->bound.local, ep->bound.port);
	return 0;
}

static void fake_close(struct endpoint *ep)
{
}

static void fake_set_tos(struct endpoint *ep)
{
}

static bool fake_events(struct conn *c)
{
	return false;
}

static int fake_send(struct endpoint *ep, struct sctp_batch *batch)
{
	struct host *h = host_of(ep->conn);
	struct packet *p = &h->packet[h->packets++];

	assert_in_range(h->packets, 1, PACKETS_MAX);
	assert_in_range(batch->len, 1, sizeof(p->data));
	*p = (struct packet){ .from = ep, .to = batch->to, .len = batch->len };
	memcpy(p->data, batch->data, batch->len);
	return 0;
}

static int start_progress(struct conn *c)
{
	return 0;
}

static int route(struct conn *c, const struct sockaddr *src, const struct sockaddr *dst,
		 struct sockaddr_storage *source)
{
	struct ip_addr own = address(host_of(c)->address);

	sockaddr_make(source, AF_INET, &own, 0);
	return 0;
}

static int post_event(struct event_source *src, const void *event, size_t len)
{
	struct host *h = (struct host *)src->chan;

	assert_in_range(h->events, 0, EVENTS_MAX - 1);
	memcpy(&h->event[h->events++], event, len);
	return 0;
}

static uint32_t purge(struct event_source *src)
{
	return 0;
}

static void ref(struct rnic_channel *chan)
{
}

static const struct transport transport = {
	.start = fake_start,
	.stop = fake_stop,
	.open = fake_open,
	.close = fake_close,
	.set_tos = fake_set_tos,
	.events = fake_events,
};

static const struct carrier carrier = { .send = fake_send };

static const struct conn_ops conn_ops = {
	.start_progress = start_progress,
	.route = route,
	FAKE_PORTS,
	.events = { .post = post_event, .purge = purge, .ref = ref, .put = ref },
};

static void fill_random(struct random_source *r, void *buf, size_t len)
{
	static uint8_t next;

	for (uint8_t *p = buf; len--; p++)
		*p = next++ * 37;
}

static void host_start(struct host *h, uint16_t port, uint8_t last)
{
	static const struct iw_rnic_ops ops = { 0 };
	static const struct iw_config iw_config = { 0 };
	static struct random_source random_source = { .fill = fill_random,
						      .used = sizeof(random_source.pool) };
	struct conn_param param = {
		.ops = &conn_ops,
		.config = &config,
		.transport = &transport,
		.carrier = &carrier,
		.random = &random_source,
		.iw = iw_shard_new(iw_rnic_new(&iw_config, &ops, &random_source), &random_source),
		.ids = cm_id_table_new(),
	};

	*h = (struct host){ .port = port, .address = last };
	assert_int_equal(conn_start(&h->conn, &param, NULL), 0);
	h->conn.now = SEC;
	h->id = cm_id_new(&h->conn, (struct rnic_channel *)h, port);
	assert_non_null(h->id);
}

static void host_stop(struct host *h)
{
	struct cm_id_table *ids = h->conn.cm.ids;
	struct iw_shard *iw = h->conn.iw;
	struct iw_rnic *rnic = iw_shard_rnic(iw);
	struct cm_id *id;
	uint32_t pos = 0;

	while ((id = cm_id_next(&h->conn, &pos)))
		cm_id_free(id);
	conn_stop(&h->conn);
	cm_id_table_free(ids, &conn_ops.events);
	iw_shard_free(iw);
	iw_rnic_free(rnic);
}

static void sockaddr_of(struct sockaddr_storage *ss, uint8_t last, uint16_t port)
{
	struct ip_addr ip = address(last);

	sockaddr_make(ss, AF_INET, &ip, port);
}

/* Starts a server that listens, and a client with a resolved route. */
static int setup(void **state)
{
	struct sockaddr_storage to;

	host_start(&client, CLIENT_PORT, 1);
	host_start(&server, SERVER_PORT, 2);
	sockaddr_of(&to, 2, SERVER_PORT);
	assert_int_equal(cm_bind(server.id, (struct sockaddr *)&to), 0);
	assert_int_equal(cm_listen(server.id, 2), 0);
	assert_int_equal(cm_resolve_addr(client.id, NULL, (struct sockaddr *)&to), 0);
	assert_int_equal(cm_resolve_route(client.id), 0);
	client.events = 0;
	return 0;
}

static int teardown(void **state)
{
	host_stop(&client);
	host_stop(&server);
	return 0;
}

/* ---- actions ---- */

static void deliver(const struct packet *p, struct host *to)
{
	const struct host *h = host_of(p->from->conn);
	struct path_addr from = {
		.local = address(to->address),
		.remote = address(h->address),
		.udp_port = h->port,
	};
	struct endpoint *ep = list_entry(to->conn.endpoints.open.next, struct endpoint, node);

	assert_true(wire_is_datagram(p->data, p->len));
	datagram_input(ep, &from, p->data, p->len);
}

/* Delivers all packets until none is left. Returns their number. */
static unsigned int carry(void)
{
	unsigned int n = 0;

	while (client.packets || server.packets) {
		struct host *h = client.packets ? &client : &server;
		struct packet p = h->packet[0];

		memmove(h->packet, h->packet + 1, --h->packets * sizeof(p));
		deliver(&p, h == &client ? &server : &client);
		n++;
	}
	return n;
}

static struct rnic_cm_event expect_event(struct host *h, enum cm_event_type type, int status)
{
	struct rnic_cm_event ev = h->event[0];

	assert_int_equal(h->events, 1);
	assert_int_equal(ev.event, type);
	assert_int_equal(ev.status, status);
	assert_true(ev.datagram);
	h->events = 0;
	return ev;
}

static void ask(const char *data)
{
	struct rnic_conn_param param = { .qp_num = 0x111111 };

	param.private_data_len = (uint8_t)strlen(data);
	memcpy(param.private_data, data, strlen(data));
	assert_int_equal(cm_connect(client.id, &param), 0);
	assert_int_equal(client.packets, 1);
}

/*
 * Checks that the event has this private data, and zeros up to the length in InfiniBand's message.
 */
static void check_private(const struct rnic_cm_event *ev, const void *data, size_t len, size_t room)
{
	assert_int_equal(ev->param.private_data_len, room);
	assert_memory_equal(ev->param.private_data, data, len);
	for (size_t i = len; i < room; i++)
		assert_int_equal(ev->param.private_data[i], 0);
}

/*
 * The server's application reads its request. Checks the private data, and returns the request's
 * id.
 */
static struct cm_id *requested(const char *data)
{
	struct rnic_cm_event ev = expect_event(&server, CM_EVENT_CONNECT_REQUEST, 0);
	struct cm_id *child = cm_id_get(&server.conn, ev.id);

	assert_non_null(child);
	assert_int_equal(ev.uid, SERVER_PORT);
	check_private(&ev, data, strlen(data), CM_PRIVATE_SIDR_REQ);
	cm_leave_backlog(child);
	return child;
}

static void accept_it(struct cm_id *child, uint32_t qkey)
{
	struct rnic_conn_param param = {
		.qp_num = QP_NUM,
		.qkey = qkey,
		.private_data_len = CM_PRIVATE_SIDR_REP,
	};

	memset(param.private_data, 0xaa, CM_PRIVATE_SIDR_REP);
	assert_int_equal(cm_accept(child, &param, true, 77), 0);
	assert_int_equal(child->uid, 77);
}

/* Advances the time of both hosts to this host's next timer, and runs the timer. */
static void next_timer(struct host *h)
{
	uint64_t next = sidr_next_timeout(&h->conn);

	assert_int_not_equal(next, TIME_NEVER);
	client.conn.now = server.conn.now = next;
	sidr_timers(&h->conn);
}

/* ---- tests ---- */

static void test_accept(void **state)
{
	struct ip_addr own = address(1), peer = address(2);
	struct rnic_cm_event ev;
	struct cm_id *child;

	ask("hello");
	assert_int_equal(carry(), 3); /* request, challenge, request */
	assert_int_equal(client.events, 0);
	child = requested("hello");
	assert_int_equal(sockaddr_port((struct sockaddr *)&child->dst), CLIENT_PORT);
	assert_int_equal(child->sidr.peer_port, CLIENT_PORT);
	accept_it(child, 0);
	assert_int_equal(carry(), 1);
	ev = expect_event(&client, CM_EVENT_ESTABLISHED, 0);
	assert_int_equal(ev.param.qp_num, QP_NUM);
	assert_int_equal(ev.param.qkey, 0x01234567);
	assert_int_equal(ev.param.private_data_len, CM_PRIVATE_SIDR_REP);
	assert_int_equal(ev.param.private_data[CM_PRIVATE_SIDR_REP - 1], 0xaa);
	assert_memory_equal(ev.ah.sgid, own.b, 16);
	assert_memory_equal(ev.ah.dgid, peer.b, 16);
	assert_int_equal(sidr_next_timeout(&client.conn), TIME_NEVER);
	/* A second decision fails, and a disconnect sends nothing to the peer. */
	assert_int_equal(cm_reject(child, 0, NULL, 0), -EINVAL);
	assert_int_equal(cm_disconnect(client.id), 0);
	assert_int_equal(carry(), 0);
}

/*
 * A second client of the process uses the same endpoint, and has its own port. The answer arrives
 * at the endpoint.
 */
static void test_own_port(void **state)
{
	struct cm_id *second = cm_id_new(&client.conn, (struct rnic_channel *)&client, CLIENT_PORT);
	struct sockaddr_storage to;
	struct cm_id *child;

	sockaddr_of(&to, 2, SERVER_PORT);
	assert_int_equal(cm_resolve_addr(second, NULL, (struct sockaddr *)&to), 0);
	assert_int_equal(cm_resolve_route(second), 0);
	assert_ptr_equal(second->ep, client.id->ep);
	assert_in_range(second->own_port, FAKE_PORTS_FIRST, UINT16_MAX);
	assert_int_equal(sockaddr_port((struct sockaddr *)&second->src), second->own_port);
	client.id = second;
	client.events = 0;
	ask("");
	carry();
	child = requested("");
	assert_int_equal(sockaddr_port((struct sockaddr *)&child->dst), second->own_port);
	assert_int_equal(child->sidr.peer_port, CLIENT_PORT);
	accept_it(child, 0);
	carry();
	expect_event(&client, CM_EVENT_ESTABLISHED, 0);
}

static void test_qkey_of_application(void **state)
{
	ask("");
	carry();
	accept_it(requested(""), 0x42);
	carry();
	assert_int_equal(expect_event(&client, CM_EVENT_ESTABLISHED, 0).param.qkey, 0x42);
}

static void test_reject(void **state)
{
	static const uint8_t data[CM_PRIVATE_SIDR_REP + 1] = "no";
	struct rnic_cm_event ev;
	struct cm_id *child;

	ask("");
	carry();
	child = requested("");
	assert_int_equal(cm_reject(child, 0, data, sizeof(data)), -EINVAL);
	assert_int_equal(cm_reject(child, 0, data, 2), 0);
	carry();
	ev = expect_event(&client, CM_EVENT_UNREACHABLE, WIRE_SIDR_REJECTED);
	check_private(&ev, data, 2, CM_PRIVATE_SIDR_REP);
}

/* Private data too long for the message is an error. The id can still send less. */
static void test_too_much(void **state)
{
	struct rnic_conn_param param = { .private_data_len = CM_PRIVATE_SIDR_REQ + 1 };

	assert_int_equal(cm_connect(client.id, &param), -EINVAL);
	ask("");
	carry();
	param.private_data_len = CM_PRIVATE_SIDR_REP + 1;
	assert_int_equal(cm_accept(requested(""), &param, true, 77), -EINVAL);
	carry();
	expect_event(&client, CM_EVENT_UNREACHABLE, WIRE_SIDR_REJECTED);
}

/* The port is open, but no id listens: the client is refused after the time for a late listener. */
static void test_nobody_listens(void **state)
{
	struct sockaddr_storage to;
	struct rnic_cm_event ev;

	cm_id_free(server.id);
	server.id = cm_id_new(&server.conn, (struct rnic_channel *)&server, SERVER_PORT);
	sockaddr_of(&to, 2, SERVER_PORT);
	assert_int_equal(cm_bind(server.id, (struct sockaddr *)&to), 0);
	ask("");
	assert_int_equal(carry(), 1);
	while (!client.events) {
		next_timer(&client);
		carry();
	}
	assert_in_range(client.conn.now, SEC + CM_LISTEN_GRACE, 2 * SEC + CM_LISTEN_GRACE);
	ev = expect_event(&client, CM_EVENT_UNREACHABLE, WIRE_SIDR_UNSUPPORTED);
	check_private(&ev, "", 0, CM_PRIVATE_SIDR_REP);
}

/* A failed accept rejects, and the id keeps its old name. */
static void test_accept_fails(void **state)
{
	struct rnic_conn_param param = { .qp_num = 1u << 24 };
	struct cm_id *child;

	ask("");
	carry();
	child = requested("");
	assert_int_equal(cm_accept(child, &param, true, 77), -EINVAL);
	assert_int_equal(child->uid, SERVER_PORT);
	carry();
	expect_event(&client, CM_EVENT_UNREACHABLE, WIRE_SIDR_REJECTED);
	param.qp_num = QP_NUM;
	assert_int_equal(cm_accept(child, &param, true, 77), -EINVAL);
	assert_int_equal(carry(), 0);
}

/* Destroying a request, or its listener before the request is read, rejects the request. */
static void test_let_go(void **state)
{
	ask("");
	carry();
	cm_id_free(server.id);
	carry();
	expect_event(&client, CM_EVENT_UNREACHABLE, WIRE_SIDR_REJECTED);
}

static void seal(struct packet *p)
{
	memset(p->data + 8, 0, 4);
	wire_sctp_checksum_put(p->data, p->len);
}

/*
 * A packet of a stranger allocates nothing, and causes an answer that is no longer than the packet.
 */
static void test_strangers(void **state)
{
	struct packet forged;

	ask("x");
	forged = client.packet[0];
	client.packets = 0;
	for (int i = 0; i < 100; i++) {
		/* Another number each time, in place of the request ID. */
		forged.data[WIRE_SCTP_COMMON_LEN + WIRE_DATAGRAM_LEN + 7] = (uint8_t)i;
		seal(&forged);
		deliver(&forged, &server);
		assert_int_equal(server.packets, 1);
		assert_true(server.packet[0].len <= forged.len);
		/* The cookie of another number proves nothing. */
		memcpy(forged.data + WIRE_SCTP_COMMON_LEN + WIRE_DATAGRAM_LEN + 8,
		       server.packet[0].data + WIRE_SCTP_COMMON_LEN + WIRE_DATAGRAM_LEN + 8, 8);
		server.packets = 0;
	}
	assert_int_equal(server.events, 0);
	assert_int_equal(cm_undecided(&server.conn), 0);
	/* A packet that is too short gets no answer. */
	forged.data[WIRE_SCTP_COMMON_LEN + 2] = 0;
	forged.data[WIRE_SCTP_COMMON_LEN + 3] = WIRE_SIDR_LEN;
	forged.len = WIRE_SCTP_COMMON_LEN + WIRE_SIDR_LEN;
	seal(&forged);
	deliver(&forged, &server);
	assert_int_equal(server.packets, 0);
}

/* The longest answer is no longer than its request. */
static void test_no_amplification(void **state)
{
	size_t asked;

	ask("");
	asked = client.packet[0].len;
	carry();
	accept_it(requested(""), 0);
	assert_int_equal(server.packets, 1);
	assert_true(server.packet[0].len <= asked);
}

static void test_duplicates(void **state)
{
	struct packet request;

	ask("");
	carry();
	/* The proven request again, while it waits for the application: no answer. */
	next_timer(&client);
	assert_int_equal(client.packets, 1);
	request = client.packet[0];
	assert_int_equal(carry(), 1);
	accept_it(requested(""), 0);
	/* The answer is lost, and the request comes again: the same answer, and no second event. */
	server.packets = 0;
	deliver(&request, &server);
	assert_int_equal(server.packets, 1);
	assert_int_equal(server.events, 0);
	carry();
	expect_event(&client, CM_EVENT_ESTABLISHED, 0);
	/* A repeated answer causes no second event. */
	deliver(&request, &server);
	carry();
	assert_int_equal(client.events, 0);
}

static void test_unanswered(void **state)
{
	uint64_t began = client.conn.now, last = began, wait = 0;
	unsigned int sent = 0;

	ask("");
	while (!client.events) {
		sent += client.packets;
		client.packets = 0;
		next_timer(&client);
		if (client.packets && wait)
			assert_true(client.conn.now - last >= wait || client.conn.now - last > SEC);
		wait = client.conn.now - last;
		last = client.conn.now;
	}
	expect_event(&client, CM_EVENT_UNREACHABLE, -ETIMEDOUT);
	assert_in_range(sent, 4, 20);
	assert_in_range(client.conn.now - began, 5 * SEC, 60 * SEC);
	assert_int_equal(sidr_next_timeout(&client.conn), TIME_NEVER);
}

/* A server that always answers with new cookies does not make the client send faster. */
static void test_challenges(void **state)
{
	struct wire_sidr s = { .status = WIRE_SIDR_CHALLENGE, .request_id = 0 };
	struct path_addr from = { .remote = address(2), .local = address(1) };
	uint8_t chunk[WIRE_SIDR_MAX];

	ask("");
	s.request_id = client.id->sidr.id;
	for (uint64_t i = 1; i < 20; i++) {
		s.cookie = i;
		wire_sidr_put(chunk, WIRE_DATAGRAM_SIDR_REPLY, &s);
		sidr_input(client.id->ep, &from, SERVER_PORT, WIRE_DATAGRAM_SIDR_REPLY, chunk);
	}
	assert_int_equal(client.packets, 2);
}

/* Replies from other hosts, or with another number, are ignored. */
static void test_forged_replies(void **state)
{
	struct wire_sidr s = { .qp_num = 1 };
	struct path_addr from = { .remote = address(2), .local = address(1) };
	struct path_addr other = { .remote = address(3), .local = address(1) };
	uint8_t chunk[WIRE_SIDR_MAX];

	ask("");
	s.request_id = client.id->sidr.id;
	wire_sidr_put(chunk, WIRE_DATAGRAM_SIDR_REPLY, &s);
	sidr_input(client.id->ep, &other, SERVER_PORT, WIRE_DATAGRAM_SIDR_REPLY, chunk);
	sidr_input(client.id->ep, &from, SERVER_PORT + 1, WIRE_DATAGRAM_SIDR_REPLY, chunk);
	s.request_id ^= 1;
	wire_sidr_put(chunk, WIRE_DATAGRAM_SIDR_REPLY, &s);
	sidr_input(client.id->ep, &from, SERVER_PORT, WIRE_DATAGRAM_SIDR_REPLY, chunk);
	assert_int_equal(client.events, 0);
	s.request_id ^= 1;
	wire_sidr_put(chunk, WIRE_DATAGRAM_SIDR_REPLY, &s);
	sidr_input(client.id->ep, &from, SERVER_PORT, WIRE_DATAGRAM_SIDR_REPLY, chunk);
	expect_event(&client, CM_EVENT_ESTABLISHED, 0);
}

static void test_refused(void **state)
{
	struct packet sent;

	ask("");
	sent = client.packet[0];
	sidr_refused(client.id->ep, sent.data, WIRE_SCTP_COMMON_LEN + WIRE_DATAGRAM_LEN + 7);
	assert_int_equal(client.events, 0);
	sidr_refused(client.id->ep, sent.data, 64);
	expect_event(&client, CM_EVENT_UNREACHABLE, WIRE_SIDR_UNSUPPORTED);
}

/* Requests beyond the backlog are dropped, and come again once there is room. */
static void test_backlog(void **state)
{
	struct cm_id *child;

	server.id->listening.pending = server.id->listening.backlog;
	ask("");
	carry();
	assert_int_equal(server.events, 0);
	server.id->listening.pending = 0;
	next_timer(&client);
	carry();
	child = requested("");
	accept_it(child, 0);
	carry();
	expect_event(&client, CM_EVENT_ESTABLISHED, 0);
}

static void test_iwarp(void **state)
{
	struct sockaddr_storage to;

	config.personality = CONFIG_IWARP;
	sockaddr_of(&to, 2, SERVER_PORT);
	assert_int_equal(cm_resolve_addr(cm_id_new(&client.conn, (struct rnic_channel *)&client, 1),
					 NULL, (struct sockaddr *)&to),
			 -ENODEV);
	config.personality = CONFIG_ROCE;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_accept),     TEST(test_own_port),	    TEST(test_qkey_of_application),
		TEST(test_reject),     TEST(test_accept_fails),	    TEST(test_let_go),
		TEST(test_strangers),  TEST(test_no_amplification), TEST(test_duplicates),
		TEST(test_unanswered), TEST(test_challenges),	    TEST(test_forged_replies),
		TEST(test_refused),    TEST(test_backlog),	    TEST(test_iwarp),
		TEST(test_too_much),   TEST(test_nobody_listens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
