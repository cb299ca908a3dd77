/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Faults of the connection manager (docs/faults.md): its events fail, and requests are lost or
 * duplicated.
 */
#include "child.h"
#include "cm.h"
#include "faults_steps.h"

/* Both sides of a connection that the active side requests. */
struct asked {
	struct rdma_event_channel *active, *listening;
	struct rdma_cm_id *listener, *id;
};

static void ask(struct asked *k, const char *text)
{
	struct sockaddr_storage to;

	rules(text);
	k->active = cm_channel();
	k->listening = cm_channel();
	k->listener = cm_listener(k->listening, AF_INET, 2);
	to = cm_address_of(k->listener, AF_INET);
	k->id = cm_resolved(k->active, &to);
	CHECK_EQ(cm_connect(k->id), 0);
}

/* request: the id of the request, or NULL. */
static void end(struct asked *k, struct rdma_cm_id *request)
{
	cm_destroy(k->id);
	if (request)
		cm_destroy(request);
	CHECK_EQ(rdma_destroy_id(k->listener), 0);
	rdma_destroy_event_channel(k->active);
	rdma_destroy_event_channel(k->listening);
}

static void expect_rejected(struct asked *k, int status, const char *data)
{
	struct rdma_cm_event *event = cm_event(k->active, RDMA_CM_EVENT_REJECTED, status);

	CHECK(event->param.conn.private_data_len >= strlen(data));
	CHECK(!memcmp(event->param.conn.private_data, data, strlen(data)));
	CHECK_EQ(rdma_ack_cm_event(event), 0);
}

static struct rdma_cm_id *accepted(struct asked *k)
{
	struct rdma_cm_id *request = cm_request(k->listening);

	cm_add_qp(request);
	CHECK_EQ(cm_accept(request), 0);
	return request;
}

static void test_rejected(void)
{
	struct rdma_cm_id *request;
	struct asked k;

	ask(&k,
	    "established: reject reason 7 data \"no\"; connect_response: reject reason 7 data \"no\"");
	request = accepted(&k);
	expect_rejected(&k, 7, "no");
	expect_qp_state(request->qp, IBV_QPS_ERR);
	end(&k, request);
}

/*
 * The device rejects a request, without an event for the listener. The listener gets the next
 * request.
 */
static void test_request_rejected(void)
{
	struct rdma_cm_id *request, *other;
	struct sockaddr_storage to;
	struct asked k;

	ask(&k, "connect_request: reject data \"not here\", once");
	expect_rejected(&k, cm_status(BY_PROGRAM), "not here");
	cm_expect_none(k.listening, 100);
	to = cm_address_of(k.listener, AF_INET);
	other = cm_resolved(k.active, &to);
	CHECK_EQ(cm_connect(other), 0);
	request = accepted(&k);
	cm_expect(k.active, RDMA_CM_EVENT_ESTABLISHED, 0);
	cm_destroy(other);
	end(&k, request);
}

/* A request comes twice: one is accepted, and the peer of the other has gone. */
static void test_request_twice(void)
{
	struct rdma_cm_id *first, *second;
	struct asked k;

	ask(&k, "connect_request: duplicate");
	first = accepted(&k);
	second = cm_request(k.listening);
	cm_expect(k.active, RDMA_CM_EVENT_ESTABLISHED, 0);
	cm_add_qp(second);
	CHECK_EQ(cm_accept(second), ECONNRESET);
	cm_destroy(second);
	end(&k, first);
}

static void test_unreachable(void)
{
	struct rdma_cm_id *request;
	struct asked k;

	ask(&k, "established: report unreachable status ETIMEDOUT;"
		"connect_response: report unreachable status ETIMEDOUT");
	request = accepted(&k);
	cm_expect(k.active, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
	end(&k, request);
}

/* The address of the first id is not resolved, nor the route of the second id. */
static void test_not_resolved(void)
{
	struct sockaddr_storage to = cm_loopback(AF_INET, htons(7471));
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;

	rules("1st addr_resolved: report addr_error status ETIMEDOUT;"
	      "route_resolved: report route_error status ETIMEDOUT");
	channel = cm_channel();
	id = cm_id(channel);
	CHECK_EQ(rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 1000), 0);
	cm_expect(channel, RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
	CHECK_EQ(rdma_destroy_id(id), 0);
	id = cm_id(channel);
	CHECK_EQ(rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 1000), 0);
	cm_expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	CHECK_EQ(rdma_resolve_route(id, 1000), 0);
	cm_expect(channel, RDMA_CM_EVENT_ROUTE_ERROR, -ETIMEDOUT);
	CHECK_EQ(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(channel);
}

static void test_removed(void)
{
	struct rdma_event_channel *channel;
	struct rdma_cm_id *listener;

	rules("after 300 ms: report device_removal");
	channel = cm_channel();
	listener = cm_listener(channel, AF_INET, 1);
	cm_expect(channel, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(channel);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "rejected", test_rejected },
		{ "request_rejected", test_request_rejected },
		{ "request_twice", test_request_twice },
		{ "unreachable", test_unreachable },
		{ "not_resolved", test_not_resolved },
		{ "removed", test_removed },
	};

	return run_tests_apart(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
