/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Events by fault rules, of queue pairs and of rdma_cm (docs/faults.md). Every test runs in a
 * separate process, as in faults_verbs.c.
 */
#include "child.h"
#include "cm.h"
#include "faults_steps.h"
#include "srq.h"

/* ---- asynchronous events ---- */

/*
 * Informational events leave the QP in RTS. The event of a fatal error moves it to the error state.
 */
static void test_qp(void)
{
	const enum ibv_event_type types[] = { IBV_EVENT_COMM_EST, IBV_EVENT_SQ_DRAINED,
					      IBV_EVENT_PATH_MIG_ERR, IBV_EVENT_QP_FATAL };
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	rules("1st write: raise comm_est; 2nd write: raise sq_drained; 3rd write: raise path_mig_err;"
	      "4th write: raise qp_fatal");
	pair_open(&p, NULL);
	sge = sge_of(p.a.mr, p.a.buf, 64);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		expect_qp_state(p.a.qp, IBV_QPS_RTS);
		CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_WRITE, i, &sge, 1, address(p.b.buf),
				   p.b.mr->rkey, IBV_SEND_SIGNALED),
			 0);
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
		EXPECT_ASYNC(p.a.qp->context, { types[i], p.a.qp });
	}
	expect_qp_state(p.a.qp, IBV_QPS_ERR);
	pair_close(&p);
}

/* A pair whose b has an SRQ with one receive. The caller owns the SRQ's PD and the CQ. */
static struct ibv_srq *open_with_srq(struct pair *p, struct pair_options *o)
{
	struct ibv_context *device = cm_device();
	struct ibv_pd *pd = ibv_alloc_pd(device);

	CHECK(pd);
	o->srq = srq_new(pd, 4);
	o->recv_cq = ibv_create_cq(device, 16, NULL, NULL, 0);
	CHECK(o->recv_cq);
	pair_open(p, o);
	return o->srq;
}

static void close_with_srq(struct pair *p, struct pair_options *o)
{
	struct ibv_pd *pd = o->srq->pd;

	pair_close(p);
	CHECK_EQ(ibv_destroy_srq(o->srq), 0);
	CHECK_EQ(ibv_destroy_cq(o->recv_cq), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
}

/* Only the QP of the rule gets the event, though both QPs are in this process. */
static void test_last_wqe(void)
{
	struct pair_options o = { 0 };
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	rules("1st receive: raise qp_last_wqe_reached");
	open_with_srq(&p, &o);
	sge = sge_of(p.b.mr, p.b.buf, 64);
	CHECK_EQ(srq_post(o.srq, 1, &sge, 1), 0);
	sge = sge_of(p.a.mr, p.a.buf, 64);
	CHECK_EQ(post_send(&p.a, 2, &sge, 1, 0), 0);
	expect_wc(o.recv_cq, IBV_WC_SUCCESS, &wc);
	EXPECT_ASYNC(p.b.qp->context, { IBV_EVENT_QP_LAST_WQE_REACHED, p.b.qp });
	expect_qp_state(p.b.qp, IBV_QPS_ERR);
	expect_no_async(p.b.qp->context, 100);
	close_with_srq(&p, &o);
}

/* The queue pairs of an SRQ fail with it. */
static void test_srq(void)
{
	struct pair_options o = { 0 };
	struct ibv_wc wc;
	struct ibv_sge sge;
	struct pair p;

	rules("1st write: raise srq_err");
	open_with_srq(&p, &o);
	sge = sge_of(p.a.mr, p.a.buf, 64);
	CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_WRITE, 1, &sge, 1, address(p.b.buf), p.b.mr->rkey,
			   IBV_SEND_SIGNALED),
		 0);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	EXPECT_ASYNC(p.b.qp->context, { IBV_EVENT_SRQ_ERR, o.srq },
		     { IBV_EVENT_QP_LAST_WQE_REACHED, p.b.qp });
	expect_qp_state(p.b.qp, IBV_QPS_ERR);
	close_with_srq(&p, &o);
}

/* ---- rdma_cm ---- */

/* A lost event: neither side gets DISCONNECTED. */
static void test_drop(void)
{
	struct cm_link l;

	rules("disconnected: drop");
	cm_link_open(&l);
	CHECK_EQ(rdma_disconnect(l.a), 0);
	expect_qp_state(l.b->qp, IBV_QPS_ERR);
	cm_expect_none(l.active, 200);
	cm_expect_none(l.passive, 0);
	cm_link_close(&l);
}

/* Every id with an address gets the event, and no other id. */
static void test_addr_change(void)
{
	struct rdma_event_channel *bound, *idle;
	struct rdma_cm_id *listener, *without;

	rules("every 200 ms: report addr_change");
	bound = cm_channel();
	idle = cm_channel();
	listener = cm_listener(bound, AF_INET, 1);
	without = cm_id(idle);
	for (int i = 0; i < 2; i++)
		cm_expect(bound, RDMA_CM_EVENT_ADDR_CHANGE, 0);
	cm_expect_none(idle, 0);
	CHECK_EQ(rdma_destroy_id(without), 0);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(bound);
	rdma_destroy_event_channel(idle);
}

/* A connection without an answer fails, once. */
static void test_connect_error(void)
{
	struct rdma_event_channel *active, *listening;
	struct rdma_cm_id *listener, *id;
	struct sockaddr_storage to;

	rules("every 200 ms: report connect_error status ECONNREFUSED");
	active = cm_channel();
	listening = cm_channel();
	listener = cm_listener(listening, AF_INET, 1);
	to = cm_address_of(listener, AF_INET);
	id = cm_resolved(active, &to);
	CHECK_EQ(cm_connect(id), 0);
	cm_expect(active, RDMA_CM_EVENT_CONNECT_ERROR, -ECONNREFUSED);
	cm_expect_none(active, 500);
	cm_destroy(id);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(active);
	rdma_destroy_event_channel(listening);
}

/* The same event instead of the end of the handshake. */
static void test_connect_error_instead(void)
{
	struct rdma_event_channel *active, *listening;
	struct rdma_cm_id *listener, *id, *request;
	struct sockaddr_storage to;

	rules("established: report connect_error status ECONNRESET;"
	      "connect_response: report connect_error status ECONNRESET");
	active = cm_channel();
	listening = cm_channel();
	listener = cm_listener(listening, AF_INET, 1);
	to = cm_address_of(listener, AF_INET);
	id = cm_resolved(active, &to);
	CHECK_EQ(cm_connect(id), 0);
	request = cm_request(listening);
	cm_add_qp(request);
	CHECK_EQ(cm_accept(request), 0);
	cm_expect(active, RDMA_CM_EVENT_CONNECT_ERROR, -ECONNRESET);
	expect_qp_state(request->qp, IBV_QPS_ERR);
	cm_destroy(id);
	cm_destroy(request);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(active);
	rdma_destroy_event_channel(listening);
}

/*
 * A rule's states are those through which librdmacm moves a QP, though the device's QP has reached
 * RTS before. The passive side makes the first of these calls.
 */
static void test_moved_by_cm(void)
{
	struct rdma_event_channel *active, *listening;
	struct rdma_cm_id *listener, *id, *request;
	struct sockaddr_storage to;

	rules("2nd modify_qp from rtr to rts: fail with EINVAL");
	active = cm_channel();
	listening = cm_channel();
	listener = cm_listener(listening, AF_INET, 1);
	to = cm_address_of(listener, AF_INET);
	id = cm_resolved(active, &to);
	CHECK_EQ(cm_connect(id), 0);
	request = cm_request(listening);
	cm_add_qp(request);
	CHECK_EQ(cm_accept(request), 0);
	if (is_iwarp(id->verbs)) /* the kernel moves the QP to RTS */
		cm_expect(active, RDMA_CM_EVENT_ESTABLISHED, 0);
	else
		cm_expect(active, RDMA_CM_EVENT_CONNECT_ERROR, -1);
	cm_destroy(id);
	cm_destroy(request);
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(active);
	rdma_destroy_event_channel(listening);
}

/* Two requests are late, the first by more than the second, but come in order. */
static void test_order(void)
{
	struct rdma_event_channel *active, *listening;
	struct rdma_cm_id *listener, *id[2], *request[2];
	struct sockaddr_storage to;

	rules("1st connect_request: delay 500 ms; 2nd connect_request: delay 1 ms");
	active = cm_channel();
	listening = cm_channel();
	listener = cm_listener(listening, AF_INET, 2);
	to = cm_address_of(listener, AF_INET);
	for (int i = 0; i < 2; i++)
		id[i] = cm_resolved(active, &to);
	for (uint8_t i = 0; i < 2; i++) {
		struct rdma_conn_param param = { .private_data = &i, .private_data_len = 1 };

		CHECK_EQ(rdma_connect(id[i], &param), 0);
		sleep_ms(100);
	}
	for (int i = 0; i < 2; i++) {
		struct rdma_cm_event *event = cm_event(listening, RDMA_CM_EVENT_CONNECT_REQUEST, 0);

		CHECK(event->param.conn.private_data_len);
		CHECK_EQ(*(const uint8_t *)event->param.conn.private_data, i);
		request[i] = event->id;
		CHECK_EQ(rdma_ack_cm_event(event), 0);
	}
	for (int i = 0; i < 2; i++) {
		cm_destroy(request[i]);
		cm_destroy(id[i]);
	}
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(active);
	rdma_destroy_event_channel(listening);
}

/* A rule is removed: its event comes at once, and so does an event that has waited after it. */
static void test_let_go(void)
{
	struct rdma_event_channel *active, *listening;
	struct rdma_cm_id *listener, *id[2], *request[2];
	struct sockaddr_storage to;

	rules("1st connect_request: delay 10 min");
	active = cm_channel();
	listening = cm_channel();
	listener = cm_listener(listening, AF_INET, 2);
	to = cm_address_of(listener, AF_INET);
	for (int i = 0; i < 2; i++) {
		id[i] = cm_resolved(active, &to);
		CHECK_EQ(cm_connect(id[i]), 0);
	}
	cm_expect_none(listening, 100);
	ask_faults("remove", "1");
	for (int i = 0; i < 2; i++)
		request[i] = cm_request(listening);
	for (int i = 0; i < 2; i++) {
		cm_destroy(request[i]);
		cm_destroy(id[i]);
	}
	CHECK_EQ(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(active);
	rdma_destroy_event_channel(listening);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "qp", test_qp },
		{ "last_wqe", test_last_wqe },
		{ "srq", test_srq },
		{ "drop", test_drop },
		{ "addr_change", test_addr_change },
		{ "connect_error", test_connect_error },
		{ "moved_by_cm", test_moved_by_cm },
		{ "connect_error_instead", test_connect_error_instead },
		{ "order", test_order },
		{ "let_go", test_let_go },
	};

	return run_tests_apart(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
