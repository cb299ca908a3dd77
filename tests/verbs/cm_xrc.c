/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: several.cm_xrc --engines 3 -- */
/* ALSO: iwarp.cm_xrc --personality iwarp -- */
/* ALSO: ib.cm_xrc --personality ib -- */
/*
 * XRC over rdma_cm by librdmacm's synchronous ids: librdmacm makes the domain, the SRQ and its CQ.
 * The number of the SRQ goes to the peer as private data.
 */
#include "child.h"
#include "cm.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <rdma/rdma_verbs.h>

#define LEN 64
#define CLIENTS 2

/* The server's private data, in host byte order. */
struct told {
	uint64_t addr;
	uint32_t rkey;
	uint32_t srq_num;
};

/* A connection of a server; its private data has one SRQ. */
struct end {
	struct rdma_cm_id *id;
	uint8_t buf[3 * LEN]; /* a receive, a Write's data, a Read's data */
	struct ibv_mr *mr;
};

static struct rdma_cm_id *create(const char *port, int flags, enum ibv_qp_type type)
{
	struct rdma_addrinfo *res,
		hints = { .ai_flags = flags, .ai_port_space = RDMA_PS_IB, .ai_qp_type = type };
	/* The same as in rdma_xserver and rdma_xclient. */
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = type == IBV_QPT_XRC_SEND ? 4 : 0,
			 .max_send_sge = type == IBV_QPT_XRC_SEND,
			 .max_recv_wr = type == IBV_QPT_XRC_RECV,
			 .max_recv_sge = type == IBV_QPT_XRC_RECV },
		.sq_sig_all = 1,
	};
	struct rdma_cm_id *id;

	CHECK_EQ(rdma_getaddrinfo("127.0.0.1", port, &hints, &res), 0);
	CHECK_EQ(res->ai_qp_type, type);
	CHECK_EQ(rdma_create_ep(&id, res, NULL, &attr), 0);
	CHECK_EQ(id->qp_type, type);
	rdma_freeaddrinfo(res);
	return id;
}

static struct rdma_cm_id *listener_at(char port[8])
{
	struct rdma_cm_id *id = create("0", RAI_PASSIVE, IBV_QPT_XRC_RECV);

	CHECK_EQ(rdma_listen(id, CLIENTS), 0);
	snprintf(port, 8, "%u", ntohs(rdma_get_src_port(id)));
	return id;
}

/* Gets a request, gives its id an SRQ with a receive, and accepts the request. */
static void accept_one(struct rdma_cm_id *listener, struct end *e)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 2, .max_sge = 1 } };
	struct told told;
	struct rdma_conn_param param = { .private_data = &told,
					 .private_data_len = sizeof(told),
					 .responder_resources = 4 };

	CHECK_EQ(rdma_get_request(listener, &e->id), 0);
	CHECK_EQ(e->id->qp->qp_type, IBV_QPT_XRC_RECV);
	/* librdmacm sets its PD from the QP, and makes the id's SRQ in this PD. */
	CHECK(e->id->pd && e->id->qp->pd == e->id->pd);
	CHECK_EQ(rdma_create_srq(e->id, NULL, &attr), 0);
	CHECK(e->id->srq->pd == e->id->pd);
	CHECK_EQ(ibv_get_srq_num(e->id->srq, &told.srq_num), 0);
	e->mr = ibv_reg_mr(e->id->pd, e->buf, sizeof(e->buf),
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ);
	CHECK(e->mr);
	fill(e->buf + 2 * LEN, LEN, 3);
	told.addr = (uintptr_t)e->buf;
	told.rkey = e->mr->rkey;
	CHECK_EQ(rdma_post_recv(e->id, NULL, e->buf, LEN, e->mr), 0);
	CHECK_EQ(rdma_accept(e->id, &param), 0);
}

static void close_end(struct end *e)
{
	CHECK_EQ(rdma_disconnect(e->id), 0);
	CHECK_EQ(rdma_dereg_mr(e->mr), 0);
	rdma_destroy_ep(e->id);
}

static void *serve(void *arg)
{
	struct end ends[CLIENTS] = { 0 };
	struct ibv_wc wc;

	for (int i = 0; i < CLIENTS; i++)
		accept_one(arg, &ends[i]);
	for (int i = 0; i < CLIENTS; i++) {
		CHECK_EQ(rdma_get_recv_comp(ends[i].id, &wc), 1);
		CHECK_EQ(wc.status, IBV_WC_SUCCESS);
		CHECK_EQ(wc.byte_len, LEN);
		/* The Write came before the Send. */
		CHECK(filled(ends[i].buf, LEN, 1) && filled(ends[i].buf + LEN, LEN, 2));
	}
	for (int i = 0; i < CLIENTS; i++)
		close_end(&ends[i]);
	return NULL;
}

static void post(struct end *e, enum ibv_wr_opcode opcode, uint8_t *at, const struct told *told)
{
	struct ibv_sge sge = { (uintptr_t)at, LEN, e->mr->lkey };
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { told->addr + (uint64_t)(at - e->buf), told->rkey },
		.qp_type.xrc.remote_srqn = told->srq_num,
	};
	struct ibv_wc wc;

	CHECK_EQ(ibv_post_send(e->id->qp, &wr, &bad), 0);
	CHECK_EQ(rdma_get_send_comp(e->id, &wc), 1);
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
}

static struct told connect_one(const char *port, struct end *e)
{
	struct rdma_conn_param param = { .initiator_depth = 4 };
	struct told told;

	e->id = create(port, 0, IBV_QPT_XRC_SEND);
	CHECK_EQ(e->id->qp->qp_type, IBV_QPT_XRC_SEND);
	e->mr = rdma_reg_msgs(e->id, e->buf, sizeof(e->buf));
	CHECK(e->mr);
	CHECK_EQ(rdma_connect(e->id, &param), 0);
	CHECK_EQ(e->id->event->event, RDMA_CM_EVENT_ESTABLISHED);
	CHECK(e->id->event->param.conn.private_data_len >= sizeof(told));
	memcpy(&told, e->id->event->param.conn.private_data, sizeof(told));
	return told;
}

static void test_endpoints(void)
{
	struct end ends[CLIENTS] = { 0 };
	struct told told[CLIENTS];
	pthread_t thread;
	char port[8];
	struct rdma_cm_id *listener = listener_at(port);

	CHECK_EQ(pthread_create(&thread, NULL, serve, listener), 0);
	for (int i = 0; i < CLIENTS; i++)
		told[i] = connect_one(port, &ends[i]);
	/*
	 * The SRQs belong to one domain, so a connection reaches both: each client sends to the
	 * other client's SRQ.
	 */
	for (int i = 0; i < CLIENTS; i++) {
		struct end *e = &ends[i];
		const struct told *to = &told[CLIENTS - 1 - i];

		post(e, IBV_WR_RDMA_READ, e->buf + 2 * LEN, to);
		CHECK(filled(e->buf + 2 * LEN, LEN, 3));
		fill(e->buf, LEN, 1);
		fill(e->buf + LEN, LEN, 2);
		post(e, IBV_WR_RDMA_WRITE, e->buf + LEN, to);
		post(e, IBV_WR_SEND, e->buf, to);
	}
	pthread_join(thread, NULL);
	for (int i = 0; i < CLIENTS; i++)
		close_end(&ends[i]);
	rdma_destroy_ep(listener);
}

static void refuse(struct rdma_cm_id *listener)
{
	struct rdma_conn_param param = { 0 };
	struct ibv_qp_init_attr_ex attr_ex = {
		.qp_type = IBV_QPT_XRC_SEND,
		.cap = { 1, 0, 1, 0, 0 },
		.comp_mask = IBV_QP_INIT_ATTR_PD,
	};
	struct rdma_cm_id *id;
	struct ibv_qp *qp;

	CHECK_EQ(rdma_get_request(listener, &id), 0);
	attr_ex.pd = id->pd;
	attr_ex.send_cq = ibv_create_cq(id->verbs, 1, NULL, NULL, 0);
	CHECK(attr_ex.send_cq);
	qp = ibv_create_qp_ex(id->verbs, &attr_ex);
	CHECK(qp);
	/* librdmacm uses the id's QP before the number. */
	rdma_destroy_qp(id);
	param.qp_num = qp->qp_num;
	CHECK_ERRNO(rdma_accept(id, &param), EINVAL);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_destroy_cq(attr_ex.send_cq), 0);
	rdma_destroy_ep(id);
}

/* Both sides must have the same type: otherwise the client gets an error at once. */
static void test_other_type(void)
{
	struct rdma_event_channel *channel = cm_channel();
	struct rdma_cm_id *xrc, *rc = cm_listener(channel, AF_INET, 1), *id;
	struct sockaddr_storage to;
	char port[8];

	xrc = listener_at(port);
	to = cm_address_of(xrc, AF_INET);
	id = cm_resolved(channel, &to);
	CHECK_EQ(cm_connect(id), 0);
	cm_expect(channel, RDMA_CM_EVENT_REJECTED, is_iwarp(id->verbs) ? -EPROTOTYPE : BY_PROGRAM);
	cm_destroy(id);
	snprintf(port, sizeof(port), "%u", ntohs(rdma_get_src_port(rc)));
	id = create(port, 0, IBV_QPT_XRC_SEND);
	CHECK_EQ(rdma_migrate_id(id, channel), 0); /* so that connecting does not wait */
	CHECK_EQ(rdma_connect(id, NULL), 0);
	cm_expect(channel, RDMA_CM_EVENT_REJECTED, is_iwarp(id->verbs) ? -EPROTOTYPE : BY_PROGRAM);
	cm_expect_none(channel, 0);
	rdma_destroy_ep(id);
	rdma_destroy_ep(xrc);
	CHECK_EQ(rdma_destroy_id(rc), 0);
	rdma_destroy_event_channel(channel);
}

/* The connecting side sends, and the accepting side receives. */
static void test_wrong_ends(void)
{
	struct rdma_event_channel *channel = cm_channel();
	char port[8];
	struct rdma_cm_id *listener = listener_at(port), *id;

	id = create(port, 0, IBV_QPT_XRC_RECV);
	CHECK_ERRNO(rdma_connect(id, NULL), EINVAL);
	rdma_destroy_ep(id);
	id = create(port, 0, IBV_QPT_XRC_SEND);
	CHECK_EQ(rdma_migrate_id(id, channel), 0); /* so that connecting does not wait */
	CHECK_EQ(rdma_connect(id, NULL), 0);
	refuse(listener);
	cm_expect(channel, RDMA_CM_EVENT_REJECTED, cm_status(BY_PROGRAM));
	rdma_destroy_ep(id);
	rdma_destroy_ep(listener);
	rdma_destroy_event_channel(channel);
}

static const struct test tests[] = {
	{ "endpoints", test_endpoints },
	{ "wrong_ends", test_wrong_ends },
	{ "other_type", test_other_type },
};

int main(int argc, char **argv)
{
	return run_tests_apart(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
