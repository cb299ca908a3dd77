/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: iwarp.cm_ep --personality iwarp -- */
/*
 * rdma_getaddrinfo(), rdma_create_ep() and rdma_get_request() in all their forms, and synchronous
 * ids.
 */
#include "child.h"
#include "cm.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <rdma/rdma_verbs.h>

/* Addresses */

static int look_up(const char *node, const char *service, int flags, int ps,
		   struct rdma_addrinfo **res)
{
	struct rdma_addrinfo hints = { .ai_flags = flags, .ai_port_space = ps };

	*res = NULL;
	return rdma_getaddrinfo(node, service, &hints, res);
}

static uint16_t port_of(const struct sockaddr *addr)
{
	return ntohs(((const struct sockaddr_in *)addr)->sin_port);
}

static void test_getaddrinfo(void)
{
	struct rdma_addrinfo *res;

	CHECK_EQ(look_up("127.0.0.1", "7471", RAI_NUMERICHOST, RDMA_PS_TCP, &res), 0);
	CHECK_EQ(res->ai_family, AF_INET);
	CHECK_EQ(res->ai_qp_type, IBV_QPT_RC);
	CHECK(res->ai_dst_addr && !res->ai_src_len);
	CHECK_EQ(port_of(res->ai_dst_addr), 7471);
	rdma_freeaddrinfo(res);
	CHECK_EQ(look_up("localhost", "http", 0, RDMA_PS_TCP, &res), 0);
	CHECK_EQ(port_of(res->ai_dst_addr), 80);
	rdma_freeaddrinfo(res);
	CHECK_EQ(look_up("127.0.0.1", "7471", RAI_PASSIVE, RDMA_PS_TCP, &res), 0);
	CHECK(res->ai_src_addr && !res->ai_dst_len);
	CHECK_EQ(port_of(res->ai_src_addr), 7471);
	rdma_freeaddrinfo(res);
	CHECK_EQ(look_up(NULL, "7471", RAI_PASSIVE, RDMA_PS_TCP, &res), 0);
	CHECK_EQ(port_of(res->ai_src_addr), 7471);
	rdma_freeaddrinfo(res);
	CHECK_EQ(look_up("localhost", "7471", RAI_NUMERICHOST, RDMA_PS_TCP, &res), EAI_NONAME);
	CHECK_EQ(look_up("127.0.0.1", "no-such-service", 0, RDMA_PS_TCP, &res), EAI_SERVICE);
	/* A datagram service has an address, but an iWARP device has no datagrams. */
	CHECK_EQ(look_up("127.0.0.1", "7471", 0, RDMA_PS_UDP, &res), 0);
	CHECK_EQ(res->ai_qp_type, IBV_QPT_UD);
	{
		struct ibv_qp_init_attr attr = { .cap = { 1, 1, 1, 1, 0 } };
		struct rdma_cm_id *id = NULL;

		if (is_iwarp(cm_device()))
			CHECK_ERRNO(rdma_create_ep(&id, res, NULL, &attr), ENODEV);
		CHECK(!id);
	}
	rdma_freeaddrinfo(res);
}

/* Endpoints */

static struct ibv_qp_init_attr qp_attr(void)
{
	return (struct ibv_qp_init_attr){ .cap = { 4, 4, 1, 1, 0 },
					  .sq_sig_all = 1,
					  .qp_type = IBV_QPT_RC };
}

/* Ways to make an endpoint: librdmacm or the program makes PD and QP, or the QP comes later. */
enum form { WITH_QP, WITH_PD, WITHOUT_QP, FORMS };

static struct ibv_pd *own_pd(enum form form, struct ibv_context *ctx)
{
	struct ibv_pd *pd = form == WITH_PD ? ibv_alloc_pd(ctx) : NULL;

	CHECK(form != WITH_PD || pd);
	return pd;
}

static struct rdma_cm_id *create(const char *port, int flags, enum form form, struct ibv_pd *pd)
{
	struct ibv_qp_init_attr attr = qp_attr();
	struct rdma_addrinfo *res;
	struct rdma_cm_id *id;

	CHECK_EQ(look_up("127.0.0.1", port, flags, RDMA_PS_TCP, &res), 0);
	CHECK_EQ(rdma_create_ep(&id, res, pd, form == WITHOUT_QP ? NULL : &attr), 0);
	rdma_freeaddrinfo(res);
	return id;
}

static void add_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = qp_attr();

	CHECK(!id->qp);
	CHECK_EQ(rdma_create_qp(id, NULL, &attr), 0);
	CHECK(id->qp);
}

struct passive {
	struct rdma_cm_id *listener;
	enum form form;
	struct ibv_pd *pd;
};

static void expect_recv(struct rdma_cm_id *id, const void *buf, unsigned int seed)
{
	struct ibv_wc wc;

	CHECK_EQ(rdma_get_recv_comp(id, &wc), 1);
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	CHECK(filled(buf, 64, seed));
}

static void send_from(struct rdma_cm_id *id, uint8_t *buf, struct ibv_mr *mr, unsigned int seed)
{
	struct ibv_wc wc;

	fill(buf, 64, seed);
	CHECK_EQ(rdma_post_send(id, NULL, buf, 64, mr, 0), 0);
	CHECK_EQ(rdma_get_send_comp(id, &wc), 1);
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
}

static void *serve(void *arg)
{
	struct passive *p = arg;
	uint8_t buf[2][64] = { { 0 } };
	struct rdma_cm_id *id;
	struct ibv_mr *mr;

	CHECK_EQ(rdma_get_request(p->listener, &id), 0);
	CHECK(id != p->listener && id->verbs);
	CHECK_EQ(!!id->qp, p->form != WITHOUT_QP);
	if (p->form == WITHOUT_QP)
		add_qp(id);
	if (p->form == WITH_PD)
		CHECK(id->qp->pd == p->pd);
	mr = rdma_reg_msgs(id, buf, sizeof(buf));
	CHECK(mr);
	CHECK_EQ(rdma_post_recv(id, NULL, buf[0], 64, mr), 0);
	CHECK_EQ(rdma_accept(id, NULL), 0); /* librdmacm chooses the parameters */
	expect_recv(id, buf[0], 1);
	send_from(id, buf[1], mr, 2);
	CHECK_EQ(rdma_disconnect(id), 0);
	CHECK_EQ(rdma_dereg_mr(mr), 0);
	rdma_destroy_ep(id);
	return NULL;
}

static void endpoints(enum form active, enum form passive, struct ibv_context *ctx)
{
	struct passive p = { .form = passive, .pd = own_pd(passive, ctx) };
	struct ibv_pd *pd = own_pd(active, ctx);
	uint8_t buf[2][64] = { { 0 } };
	struct rdma_cm_id *id;
	struct ibv_mr *mr;
	pthread_t thread;
	char port[8];

	p.listener = create("0", RAI_PASSIVE, passive, p.pd);
	CHECK_EQ(rdma_listen(p.listener, 0), 0);
	snprintf(port, sizeof(port), "%u", ntohs(rdma_get_src_port(p.listener)));
	CHECK_EQ(pthread_create(&thread, NULL, serve, &p), 0);
	id = create(port, 0, active, pd);
	if (active == WITHOUT_QP)
		add_qp(id);
	if (active == WITH_PD)
		CHECK(id->qp->pd == pd);
	mr = rdma_reg_msgs(id, buf, sizeof(buf));
	CHECK(mr);
	CHECK_EQ(rdma_post_recv(id, NULL, buf[1], 64, mr), 0);
	CHECK_EQ(rdma_connect(id, NULL), 0);
	CHECK_EQ(id->event->event, RDMA_CM_EVENT_ESTABLISHED);
	send_from(id, buf[0], mr, 1);
	expect_recv(id, buf[1], 2);
	pthread_join(thread, NULL);
	CHECK_EQ(rdma_disconnect(id), 0);
	CHECK_EQ(rdma_dereg_mr(mr), 0);
	rdma_destroy_ep(id);
	rdma_destroy_ep(p.listener);
	if (pd)
		CHECK_EQ(ibv_dealloc_pd(pd), 0);
	if (p.pd)
		CHECK_EQ(ibv_dealloc_pd(p.pd), 0);
}

static void test_endpoints(void)
{
	struct rdma_cm_id *id = create("9", 0, WITHOUT_QP, NULL);

	/* librdmacm's own context, since a PD for librdmacm must belong to this context. */
	for (int i = 0; i < FORMS * FORMS; i++)
		endpoints(i / FORMS, i % FORMS, id->verbs);
	rdma_destroy_ep(id);
}

/* rdma_get_request() is for synchronous listeners only, whether a request waits or not. */
static void test_get_request_errors(void)
{
	struct rdma_event_channel *channel = cm_channel();
	struct rdma_cm_id *listener = cm_listener(channel, AF_INET, 1), *id;

	CHECK_ERRNO(rdma_get_request(listener, &id), EINVAL);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(channel);
}

/* A synchronous id becomes an asynchronous one, and the reverse: rdma_migrate_id(3). */
static void test_change_of_mode(void)
{
	struct rdma_event_channel *channel = cm_channel(), *listening = cm_channel();
	struct rdma_cm_id *listener = cm_listener(listening, AF_INET, 1), *a, *b;
	struct sockaddr_storage to = cm_address_of(listener, AF_INET);

	CHECK_EQ(rdma_create_id(NULL, &a, NULL, RDMA_PS_TCP), 0);
	CHECK_EQ(rdma_resolve_addr(a, NULL, (struct sockaddr *)&to, 2000), 0);
	CHECK_EQ(rdma_migrate_id(a, channel), 0);
	CHECK_EQ(rdma_resolve_route(a, 2000), 0);
	cm_expect(channel, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	cm_add_qp(a);
	CHECK_EQ(cm_connect(a), 0);
	b = cm_request(listening);
	cm_add_qp(b);
	CHECK_EQ(rdma_migrate_id(b, NULL), 0);
	CHECK_EQ(cm_accept(b), 0); /* waits for ESTABLISHED, as the id is synchronous */
	CHECK_EQ(b->event->event, RDMA_CM_EVENT_ESTABLISHED);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, 0);
	cm_transfer(a, b);
	CHECK_EQ(rdma_migrate_id(a, NULL), 0);
	CHECK_EQ(rdma_disconnect(a), 0);
	CHECK_EQ(a->event->event, RDMA_CM_EVENT_DISCONNECTED);
	CHECK_EQ(rdma_disconnect(b), 0);
	CHECK_EQ(b->event->event, RDMA_CM_EVENT_DISCONNECTED);
	cm_destroy(a);
	cm_destroy(b);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(channel);
	rdma_destroy_event_channel(listening);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "getaddrinfo", test_getaddrinfo },
		{ "endpoints", test_endpoints },
		{ "get_request_errors", test_get_request_errors },
		{ "change_of_mode", test_change_of_mode },
	};

	return run_tests_apart(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
