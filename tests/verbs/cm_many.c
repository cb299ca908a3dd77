/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Many connections, many threads, event loops, and unread events. */
#define _GNU_SOURCE
#include "child.h"
#include "cm.h"

#include <fcntl.h>
#include <pthread.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

/* A thousand connections at once */

#define CONNECTIONS 1000

static struct rdma_cm_id *active_ids[CONNECTIONS], *passive_ids[CONNECTIONS];

/* All connections share a PD and a CQ, as in a program with as many connections. */
static void add_shared_qp(struct rdma_cm_id *id, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, .cap = { 2, 2, 1, 1, 0 }, .send_cq = cq, .recv_cq = cq
	};

	CHECK_EQ(rdma_create_qp(id, NULL, &attr), 0);
}

static void connect_thousand(struct rdma_event_channel *active, struct rdma_event_channel *passive,
			     struct rdma_cm_id *listener, struct ibv_cq **cq)
{
	struct sockaddr_storage to = cm_address_of(listener, AF_INET);

	for (int i = 0; i < CONNECTIONS; i++) {
		struct rdma_cm_id *id = cm_id(active);

		active_ids[i] = id;
		CHECK_EQ(rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 2000), 0);
		cm_expect(active, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
		CHECK_EQ(rdma_resolve_route(id, 2000), 0);
		cm_expect(active, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
		if (!*cq)
			*cq = ibv_create_cq(id->verbs, 16, NULL, NULL, 0);
		CHECK(*cq);
		add_shared_qp(id, *cq);
		CHECK_EQ(cm_connect(id), 0);
	}
	for (int i = 0; i < CONNECTIONS; i++) {
		passive_ids[i] = cm_request(passive);
		add_shared_qp(passive_ids[i], *cq);
	}
	/* All clients wait before the first request is accepted. */
	cm_expect_none(active, 0);
	for (int i = 0; i < CONNECTIONS; i++) {
		CHECK_EQ(cm_accept(passive_ids[i]), 0);
		cm_expect(passive, RDMA_CM_EVENT_ESTABLISHED, 0);
		cm_expect(active, RDMA_CM_EVENT_ESTABLISHED, 0);
	}
}

/* Each connection sends a unique number, which identifies the peer's end. */
static void use_thousand(struct ibv_cq *cq)
{
	static uint32_t numbers[2][CONNECTIONS];
	struct ibv_pd *pd = active_ids[0]->pd;
	struct ibv_mr *mr = ibv_reg_mr(pd, numbers, sizeof(numbers), IBV_ACCESS_LOCAL_WRITE);
	struct ibv_wc wc;

	CHECK(mr);
	for (int i = 0; i < CONNECTIONS; i++) {
		struct ibv_sge in = { (uintptr_t)&numbers[1][i], 4, mr->lkey };
		struct ibv_sge out = { (uintptr_t)&numbers[0][i], 4, mr->lkey };
		struct ibv_recv_wr recv = { .sg_list = &in, .num_sge = 1, .wr_id = i }, *bad_recv;
		struct ibv_send_wr send = { .sg_list = &out,
					    .num_sge = 1,
					    .wr_id = i,
					    .opcode = IBV_WR_SEND,
					    .send_flags = IBV_SEND_SIGNALED },
				   *bad_send;

		/* Requests of one association arrive in the order of posting. */
		numbers[0][i] = 7 * i + 1;
		CHECK_EQ(ibv_post_recv(passive_ids[i]->qp, &recv, &bad_recv), 0);
		CHECK_EQ(ibv_post_send(active_ids[i]->qp, &send, &bad_send), 0);
		for (int n = 0; n < 2; n++) {
			expect_wc(cq, IBV_WC_SUCCESS, &wc);
			CHECK_EQ(wc.wr_id, i);
		}
		CHECK_EQ(numbers[1][i], 7 * i + 1);
	}
	CHECK_EQ(ibv_dereg_mr(mr), 0);
}

static void test_thousand(void)
{
	struct rdma_event_channel *active = cm_channel(), *passive = cm_channel();
	struct rdma_cm_id *listener = cm_listener(passive, AF_INET, CONNECTIONS);
	struct ibv_cq *cq = NULL;

	connect_thousand(active, passive, listener, &cq);
	use_thousand(cq);
	for (int i = 0; i < CONNECTIONS; i++) {
		CHECK_EQ(rdma_disconnect(i & 1 ? active_ids[i] : passive_ids[i]), 0);
		cm_expect(active, RDMA_CM_EVENT_DISCONNECTED, 0);
		cm_expect(passive, RDMA_CM_EVENT_DISCONNECTED, 0);
		/*
		 * At once: otherwise the id gets the event of the end of its time-wait between
		 * other events.
		 */
		rdma_destroy_qp(active_ids[i]);
		rdma_destroy_qp(passive_ids[i]);
		CHECK_EQ(rdma_destroy_id(active_ids[i]), 0);
		CHECK_EQ(rdma_destroy_id(passive_ids[i]), 0);
	}
	CHECK_EQ(ibv_destroy_cq(cq), 0);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	cm_expect_none(active, 0);
	cm_expect_none(passive, 0);
	rdma_destroy_event_channel(active);
	rdma_destroy_event_channel(passive);
}

/* An event loop */

#define CLIENTS 16

struct loop {
	struct rdma_event_channel *channel;
	int established, rejected, disconnected;
};

static void handle(struct loop *loop, struct rdma_cm_event *event)
{
	struct rdma_cm_event copy = *event;

	CHECK_EQ(rdma_ack_cm_event(event), 0);
	switch (copy.event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		CHECK_EQ(rdma_resolve_route(copy.id, 2000), 0);
		break;
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		cm_add_qp(copy.id);
		CHECK_EQ(cm_connect(copy.id), 0);
		break;
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		cm_add_qp(copy.id);
		CHECK_EQ(cm_accept(copy.id), 0);
		break;
	case RDMA_CM_EVENT_ESTABLISHED:
		loop->established++;
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		loop->disconnected++;
		cm_destroy(copy.id);
		break;
	default:
		CHECK_EQ(copy.event, RDMA_CM_EVENT_REJECTED);
		loop->rejected++;
	}
}

/* Clients and their listener are in one loop, which reads until EAGAIN (epoll(7)). */
static void test_epoll_edges(void)
{
	struct rdma_event_channel *channel = cm_channel();
	struct rdma_cm_id *listener = cm_listener(channel, AF_INET, CLIENTS), *id[CLIENTS];
	struct sockaddr_storage to = cm_address_of(listener, AF_INET);
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	struct loop loop = { channel, 0, 0, 0 };
	struct rdma_cm_event *event;
	bool closing = false;
	int ep = epoll_create1(0);

	CHECK(ep >= 0);
	CHECK_EQ(fcntl(channel->fd, F_SETFL, O_NONBLOCK), 0);
	CHECK_EQ(epoll_ctl(ep, EPOLL_CTL_ADD, channel->fd, &ev), 0);
	for (int i = 0; i < CLIENTS; i++) {
		id[i] = cm_id(channel);
		CHECK_EQ(rdma_resolve_addr(id[i], NULL, (struct sockaddr *)&to, 2000), 0);
	}
	while (loop.disconnected < 2 * CLIENTS) {
		CHECK_EQ(epoll_wait(ep, &ev, 1, WAIT_SECONDS * 1000), 1);
		while (!rdma_get_cm_event(channel, &event))
			handle(&loop, event);
		CHECK_EQ(errno, EAGAIN);
		if (loop.established < 2 * CLIENTS || closing)
			continue;
		closing = true;
		for (int i = 0; i < CLIENTS; i++)
			CHECK_EQ(rdma_disconnect(id[i]), 0);
	}
	CHECK_EQ(loop.rejected, 0);
	CHECK_EQ(epoll_wait(ep, &ev, 1, 0), 0);
	CHECK_ERRNO(rdma_get_cm_event(channel, &event), EAGAIN);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	close(ep);
	rdma_destroy_event_channel(channel);
}

/*
 * An event that comes while others are unread makes the descriptor ready again for an
 * edge-triggered epoll.
 */
static void test_epoll_edge_for_each(void)
{
	struct rdma_event_channel *channel = cm_channel();
	struct sockaddr_storage to = cm_loopback(AF_INET, htons(9));
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	struct rdma_cm_id *id[3];
	int ep = epoll_create1(0);

	CHECK_EQ(epoll_ctl(ep, EPOLL_CTL_ADD, channel->fd, &ev), 0);
	for (int i = 0; i < 3; i++) {
		id[i] = cm_id(channel);
		CHECK_EQ(rdma_resolve_addr(id[i], NULL, (struct sockaddr *)&to, 100), 0);
		CHECK_EQ(epoll_wait(ep, &ev, 1, WAIT_SECONDS * 1000), 1);
		CHECK_EQ(epoll_wait(ep, &ev, 1, 0), 0);
	}
	for (int i = 0; i < 3; i++) {
		struct pollfd pfd = { channel->fd, POLLIN, 0 };

		CHECK_EQ(poll(&pfd, 1, 0), 1);
		cm_expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
		CHECK_EQ(rdma_destroy_id(id[i]), 0);
	}
	cm_expect_none(channel, 0);
	/* The same again, from the beginning. */
	id[0] = cm_id(channel);
	CHECK_EQ(rdma_resolve_addr(id[0], NULL, (struct sockaddr *)&to, 100), 0);
	CHECK_EQ(epoll_wait(ep, &ev, 1, WAIT_SECONDS * 1000), 1);
	cm_expect(channel, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	cm_expect_none(channel, 0);
	CHECK_EQ(rdma_destroy_id(id[0]), 0);
	close(ep);
	rdma_destroy_event_channel(channel);
}

/* Migration of ids during other events */

static void test_migrate_while_connecting(void)
{
	struct rdma_event_channel *x = cm_channel(), *y = cm_channel();
	struct sockaddr_storage to;
	struct rdma_cm_id *a, *b;
	struct cm_link l;

	cm_link_open(&l);
	to = cm_address_of(l.listener, AF_INET);
	for (int i = 0; i < 20; i++) {
		a = cm_resolved(x, &to);
		CHECK_EQ(cm_connect(a), 0);
		CHECK_EQ(rdma_migrate_id(a, y), 0);
		b = cm_request(l.listening);
		CHECK_EQ(rdma_migrate_id(a, x), 0);
		cm_add_qp(b);
		CHECK_EQ(cm_accept(b), 0);
		CHECK_EQ(rdma_migrate_id(a, y), 0); /* the event has come already, or comes later */
		CHECK_EQ(rdma_migrate_id(b, x), 0);
		cm_expect(x, RDMA_CM_EVENT_ESTABLISHED, 0);
		cm_expect(y, RDMA_CM_EVENT_ESTABLISHED, 0);
		CHECK_EQ(rdma_disconnect(a), 0);
		CHECK_EQ(rdma_migrate_id(a, x), 0); /* an event of the id is unread */
		cm_expect(x, RDMA_CM_EVENT_DISCONNECTED, 0);
		cm_expect(x, RDMA_CM_EVENT_DISCONNECTED, 0);
		cm_expect_none(y, 0);
		cm_destroy(a);
		cm_destroy(b);
	}
	rdma_destroy_event_channel(x);
	rdma_destroy_event_channel(y);
	cm_link_close(&l);
}

/* Threads */

#define THREADS 8
#define ROUNDS 25

static struct sockaddr_storage target;

/* All ids are on one channel, so a thread may read the event of another thread's id. */
struct crowd {
	struct rdma_event_channel *channel;
	_Atomic int established, disconnected, ended;
};

static void *crowd_events(void *arg)
{
	struct crowd *c = arg;

	for (;;) {
		struct pollfd pfd = { c->channel->fd, POLLIN, 0 };
		struct rdma_cm_event *event;

		if (!poll(&pfd, 1, 50)) {
			if (c->ended == THREADS)
				return NULL;
			continue;
		}
		if (rdma_get_cm_event(c->channel, &event)) {
			CHECK_EQ(errno, EAGAIN); /* another thread has read the event */
			continue;
		}
		CHECK_EQ(event->status, 0);
		if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
			cm_add_qp(event->id);
			CHECK_EQ(cm_accept(event->id), 0);
		}
		c->established += event->event == RDMA_CM_EVENT_ESTABLISHED;
		if (event->event == RDMA_CM_EVENT_DISCONNECTED) {
			struct rdma_cm_id *id = event->id;

			c->disconnected++;
			rdma_ack_cm_event(event);
			cm_destroy(id);
			continue;
		}
		rdma_ack_cm_event(event);
	}
}

static void *crowd_member(void *arg)
{
	struct crowd *c = arg;

	for (int i = 0; i < ROUNDS; i++) {
		struct rdma_event_channel *channel = cm_channel();
		struct rdma_cm_id *id = cm_resolved(channel, &target);

		CHECK_EQ(cm_connect(id), 0);
		cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, 0);
		cm_destroy(id);
		rdma_destroy_event_channel(channel);
	}
	c->ended++;
	return NULL;
}

/* Each client is a thread, and two threads serve one channel of listeners. */
static void test_threads(void)
{
	struct crowd c = { .channel = cm_channel() };
	struct rdma_cm_id *listener = cm_listener(c.channel, AF_INET, 0);
	pthread_t thread[THREADS + 2];

	target = cm_address_of(listener, AF_INET);
	CHECK_EQ(fcntl(c.channel->fd, F_SETFL, O_NONBLOCK), 0);
	for (int i = 0; i < THREADS + 2; i++) {
		void *(*run)(void *) = i < 2 ? crowd_events : crowd_member;

		CHECK_EQ(pthread_create(&thread[i], NULL, run, &c), 0);
	}
	for (int i = THREADS + 1; i >= 0; i--)
		pthread_join(thread[i], NULL);
	CHECK_EQ(c.established, THREADS * ROUNDS);
	CHECK_EQ(c.disconnected, THREADS * ROUNDS);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(c.channel);
}

/* A channel without a reader */

#define BACKLOG 8
#define ATTEMPTS 2000

/* Requests beyond the backlog are refused. So unread requests cost no more than the backlog. */
static void test_unread_requests(void)
{
	struct rdma_event_channel *unread = cm_channel(), *active = cm_channel();
	struct rdma_cm_id *listener = cm_listener(unread, AF_INET, BACKLOG), *waiting[BACKLOG];
	struct sockaddr_storage to = cm_address_of(listener, AF_INET);
	long before = 0;

	for (int i = 0; i < BACKLOG; i++) {
		waiting[i] = cm_resolved(active, &to);
		CHECK_EQ(cm_connect(waiting[i]), 0);
	}
	for (int i = 0; i < ATTEMPTS; i++) {
		struct rdma_cm_id *id = cm_resolved(active, &to);

		CHECK_EQ(cm_connect(id), 0);
		cm_expect(active, RDMA_CM_EVENT_REJECTED, cm_status(NOBODY_LISTENS));
		cm_destroy(id);
		if (i == ATTEMPTS / 2)
			before = resident_kib();
	}
#ifndef __SANITIZE_ADDRESS__
	CHECK(resident_kib() - before < 1024);
#endif
	CHECK(before > 0);
	/* The listener ends with all these requests unread: the waiting clients get an event. */
	CHECK_EQ(rdma_destroy_id(listener), 0);
	for (int i = 0; i < BACKLOG; i++)
		cm_expect(active, RDMA_CM_EVENT_REJECTED, cm_status(NOBODY_LISTENS));
	cm_expect_none(unread, 0);
	for (int i = 0; i < BACKLOG; i++)
		cm_destroy(waiting[i]);
	rdma_destroy_event_channel(unread);
	rdma_destroy_event_channel(active);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "thousand", test_thousand },
		{ "epoll_edges", test_epoll_edges },
		{ "epoll_edge_for_each", test_epoll_edge_for_each },
		{ "migrate_while_connecting", test_migrate_while_connecting },
		{ "threads", test_threads },
		{ "unread_requests", test_unread_requests },
	};

	return run_tests_apart(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
