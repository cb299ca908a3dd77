/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: several.cm_gone --engines 3 -- */
/* ALSO: iwarp.cm_gone --personality iwarp -- */
/*
 * The end of a peer's process, in events, synchronous calls and rsockets. Each case runs in a
 * separate process, which makes new RDMA objects.
 */
#include "child.h"
#include "cm.h"

#include "conformance/rows.h"

#include <poll.h>
#include <rdma/rsocket.h>
#include <signal.h>
#include <unistd.h>

/* Connects to the given port, and waits to be killed. */
static void client(int in, int out)
{
	struct rdma_event_channel *channel = cm_channel();
	struct sockaddr_storage to = cm_loopback(AF_INET, child_hear(in));
	struct rdma_cm_id *id = cm_resolved(channel, &to);

	CHECK_EQ(cm_connect(id), 0);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, 0);
	child_say(out, 1);
	switch (child_hear(in)) {
	case 'e':
		exit(0);
	case '_':
		_exit(0);
	default:
		pause();
	}
}

static double notice(uint16_t how)
{
	struct child c = child_start(client);
	struct rdma_event_channel *channel = cm_channel();
	struct rdma_cm_id *listener = cm_listener(channel, AF_INET, 0), *id;
	struct rdma_cm_event *event;
	double begun;

	child_say(c.to, rdma_get_src_port(listener));
	id = cm_request(channel);
	cm_add_qp(id);
	CHECK_EQ(cm_accept(id), 0);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, 0);
	child_hear(c.from);
	sleep_ms(500); /* the connection is idle for a while */
	child_say(c.to, how);
	if (how == 'k')
		kill(c.pid, SIGKILL);
	begun = now_seconds();
	CHECK_EQ(child_end(&c), how == 'k' ? 128 + SIGKILL : 0);
	event = cm_event(channel, RDMA_CM_EVENT_DISCONNECTED, 0);
	CHECK(event->id == id);
	rdma_ack_cm_event(event);
	begun = now_seconds() - begun;
	fprintf(stderr, "noticed after %.2f s\n", begun);
	expect_qp_state(id->qp, IBV_QPS_ERR);
	cm_destroy(id);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(channel);
	return begun;
}

static void test_exit(void)
{
	CHECK(notice('e') < 1);
}

static void test_killed(void)
{
	ROWS("5040-6.2-01");
	CHECK(notice('k') < 3.2);
}

static void test_killed_by_itself(void)
{
	CHECK(notice('_') < 3.2);
}

/*
 * An id without a channel reports an event whose status is not 0 as an error of rdma_disconnect().
 */
static void test_killed_synchronous(void)
{
	struct child c = child_start(client);
	struct sockaddr_storage addr = cm_loopback(AF_INET, 0);
	struct rdma_cm_id *listener, *id;
	struct rdma_conn_param param = { 0 };
	struct ibv_recv_wr wr = { 0 }, *bad;
	struct ibv_wc wc;

	CHECK_EQ(rdma_create_id(NULL, &listener, NULL, RDMA_PS_TCP), 0);
	CHECK_EQ(rdma_bind_addr(listener, (struct sockaddr *)&addr), 0);
	CHECK_EQ(rdma_listen(listener, 1), 0);
	child_say(c.to, rdma_get_src_port(listener));
	CHECK_EQ(rdma_get_request(listener, &id), 0);
	cm_add_qp(id);
	CHECK_EQ(ibv_post_recv(id->qp, &wr, &bad), 0);
	CHECK_EQ(rdma_accept(id, &param), 0);
	child_hear(c.from);
	kill(c.pid, SIGKILL);
	CHECK_EQ(child_end(&c), 128 + SIGKILL);
	expect_wc(id->qp->recv_cq, IBV_WC_WR_FLUSH_ERR, &wc);
	CHECK_EQ(rdma_disconnect(id), 0);
	cm_destroy(id);
	CHECK_EQ(rdma_destroy_id(listener), 0);
}

static void stream_client(int in, int out)
{
	struct sockaddr_storage to = cm_loopback(AF_INET, child_hear(in));
	int s = rsocket(AF_INET, SOCK_STREAM, 0);

	CHECK(s >= 0);
	CHECK_EQ(rconnect(s, (struct sockaddr *)&to, sizeof(struct sockaddr_in)), 0);
	child_say(out, 1);
	pause();
}

/* The stream ends for a server that waits for its next bytes. */
static void test_killed_rsocket(void)
{
	struct child c = child_start(stream_client);
	struct sockaddr_storage addr = cm_loopback(AF_INET, 0);
	int l = rsocket(AF_INET, SOCK_STREAM, 0), s;
	socklen_t len = sizeof(addr);
	struct pollfd pfd = { .events = POLLIN };
	char byte;

	CHECK(l >= 0);
	CHECK_EQ(rbind(l, (struct sockaddr *)&addr, sizeof(struct sockaddr_in)), 0);
	CHECK_EQ(rlisten(l, 1), 0);
	CHECK_EQ(rgetsockname(l, (struct sockaddr *)&addr, &len), 0);
	child_say(c.to, ((struct sockaddr_in *)&addr)->sin_port);
	s = raccept(l, NULL, NULL);
	CHECK(s >= 0);
	child_hear(c.from);
	kill(c.pid, SIGKILL);
	CHECK_EQ(child_end(&c), 128 + SIGKILL);
	pfd.fd = s;
	CHECK_EQ(rpoll(&pfd, 1, WAIT_SECONDS * 1000), 1);
	CHECK_EQ(rrecv(s, &byte, 1, 0), 0);
	CHECK_EQ(rclose(s), 0);
	CHECK_EQ(rclose(l), 0);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "exit", test_exit },
		{ "killed", test_killed },
		{ "killed_by_itself", test_killed_by_itself },
		{ "killed_synchronous", test_killed_synchronous },
		{ "killed_rsocket", test_killed_rsocket },
	};

	return run_tests_apart(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
