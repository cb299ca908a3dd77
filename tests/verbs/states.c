/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: iwarp.states --personality iwarp -- */
/*
 * The result of ibv_query_qp() in each state. The state SQD, in which started work requests
 * complete, and the others wait.
 */
#include "fixture.h"

static int move(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
}

static int drain(struct ibv_qp *qp, bool notify)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .en_sqd_async_notify = notify };

	return ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY);
}

static void expect_state(struct ibv_qp *qp, enum ibv_qp_state state, bool draining)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	CHECK_EQ(ibv_query_qp(qp, &attr, IBV_QP_STATE | IBV_QP_CAP, &init), 0);
	CHECK_EQ(attr.qp_state, state);
	CHECK_EQ(attr.cur_qp_state, state);
	CHECK_EQ(attr.sq_draining, draining);
	CHECK_EQ(attr.port_num, 1);
	CHECK_EQ(attr.cap.max_send_wr, init.cap.max_send_wr);
	CHECK(init.send_cq == qp->send_cq && init.recv_cq == qp->recv_cq);
	CHECK_EQ(init.qp_type, IBV_QPT_RC);
	CHECK_EQ(qp->state, state);
}

/* A new QP of an RNIC is in INIT, and accepts receives. struct ibv_qp has RESET until a query. */
static void test_new(void)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC, .cap = { 1, 1, 1, 1, 0 } };
	struct ibv_recv_wr *bad, wr = { .wr_id = 1 };
	struct pair p;
	struct ibv_qp *qp;

	pair_open(&p, NULL);
	init.send_cq = init.recv_cq = p.a.send_cq;
	qp = ibv_create_qp(p.a.pd, &init);
	CHECK(qp);
	CHECK_EQ(qp->state, IBV_QPS_RESET);
	expect_state(qp, is_iwarp(qp->context) ? IBV_QPS_INIT : IBV_QPS_RESET, false);
	CHECK_EQ(ibv_post_recv(qp, &wr, &bad), is_iwarp(qp->context) ? 0 : EINVAL);
	CHECK_EQ(move(qp, IBV_QPS_RESET), 0);
	expect_state(qp, IBV_QPS_RESET, false);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	pair_close(&p);
}

static void test_query_in_each_state(void)
{
	struct pair p;

	pair_open(&p, NULL);
	expect_state(p.a.qp, IBV_QPS_RTS, false);
	CHECK_EQ(move(p.a.qp, IBV_QPS_SQD), 0);
	expect_state(p.a.qp, IBV_QPS_SQD, false);
	CHECK_EQ(move(p.a.qp, IBV_QPS_RTS), 0);
	expect_state(p.a.qp, IBV_QPS_RTS, false);
	CHECK_EQ(move(p.a.qp, IBV_QPS_ERR), 0);
	expect_state(p.a.qp, IBV_QPS_ERR, false);
	CHECK_EQ(move(p.a.qp, IBV_QPS_RESET), 0);
	expect_state(p.a.qp, IBV_QPS_RESET, false);
	pair_close(&p);
}

/* In RESET, a QP has no more completions, of any status. The peer's completions stay. */
static void test_completions_in_reset(void)
{
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	sge = sge_of(p.b.mr, p.b.buf, 50);
	for (uint64_t i = 1; i <= 2; i++)
		CHECK_EQ(post_recv(&p.b, i, &sge, 1), 0);
	sge = sge_of(p.b.mr, p.b.buf + 100, 50);
	CHECK_EQ(post_send(&p.b, 3, &sge, 1, IBV_SEND_SIGNALED), 0);
	sge = sge_of(p.a.mr, p.a.buf, 50);
	CHECK_EQ(post_recv(&p.a, 4, &sge, 1), 0);
	CHECK_EQ(post_send(&p.a, 5, &sge, 1, IBV_SEND_SIGNALED), 0);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	expect_wc(p.a.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(post_recv(&p.a, 6, &sge, 1), 0);
	CHECK_EQ(move(p.b.qp, IBV_QPS_ERR), 0);
	CHECK_EQ(move(p.b.qp, IBV_QPS_RESET), 0);
	expect_no_wc(p.b.send_cq, 20);
	expect_no_wc(p.b.recv_cq, 0);
	CHECK_EQ(move(p.a.qp, IBV_QPS_ERR), 0);
	expect_wc(p.a.recv_cq, IBV_WC_WR_FLUSH_ERR, &wc);
	CHECK_EQ(wc.wr_id, 6);
	pair_close(&p);
}

/*
 * Posts a Read that cannot be answered yet, because b has no receive for the Send before it. A
 * later Write shows that the Read has started.
 */
static void begin_read(struct pair *p)
{
	double end = now_seconds() + WAIT_SECONDS;
	volatile uint8_t *last = p->b.buf + 500;
	struct ibv_sge sge = sge_of(p->a.mr, p->a.buf, 100);

	*last = 0;
	p->a.buf[99] = 1;
	CHECK_EQ(post_send(&p->a, 1, &sge, 1, 0), 0);
	sge = sge_of(p->a.mr, p->a.buf + 200, 100);
	CHECK_EQ(post_rdma(&p->a, IBV_WR_RDMA_READ, 2, &sge, 1, address(p->b.buf + 600),
			   p->b.mr->rkey, IBV_SEND_SIGNALED),
		 0);
	sge = sge_of(p->a.mr, p->a.buf + 99, 1);
	CHECK_EQ(post_rdma(&p->a, IBV_WR_RDMA_WRITE, 3, &sge, 1, address(p->b.buf + 500),
			   p->b.mr->rkey, 0),
		 0);
	while (!*last) {
		expect_no_wc(p->a.send_cq, 1);
		CHECK(now_seconds() < end);
	}
}

static void let_read_go(struct pair *p)
{
	struct ibv_sge sge = sge_of(p->b.mr, p->b.buf, 100);
	struct ibv_wc wc;

	CHECK_EQ(post_recv(&p->b, 7, &sge, 1), 0);
	expect_wc(p->b.recv_cq, IBV_WC_SUCCESS, &wc);
	expect_wc(p->a.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, 2);
}

static void test_drained(void)
{
	struct ibv_context *ctx;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	ctx = p.a.qp->context;
	begin_read(&p);
	CHECK_EQ(drain(p.a.qp, true), 0);
	sge = sge_of(p.a.mr, p.a.buf, 50); /* waits */
	CHECK_EQ(post_send(&p.a, 4, &sge, 1, IBV_SEND_SIGNALED), 0);
	expect_no_async(ctx, 50);
	expect_state(p.a.qp, IBV_QPS_SQD, true);
	let_read_go(&p);
	EXPECT_ASYNC(ctx, { IBV_EVENT_SQ_DRAINED, p.a.qp });
	expect_state(p.a.qp, IBV_QPS_SQD, false);
	expect_no_wc(p.a.send_cq, 50);
	CHECK_EQ(move(p.a.qp, IBV_QPS_RTS), 0);
	CHECK_EQ(post_recv(&p.b, 9, &(struct ibv_sge){ address(p.b.buf), 50, p.b.mr->lkey }, 1), 0);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, 4);
	expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
	expect_no_async(ctx, 20);
	pair_close(&p);
}

/*
 * With no work requests outstanding, the queue is drained at once. The event comes only on request,
 * once for each request.
 */
static void test_drained_at_once(void)
{
	struct ibv_context *ctx;
	struct pair p;

	pair_open(&p, NULL);
	ctx = p.a.qp->context;
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(drain(p.a.qp, true), 0);
		EXPECT_ASYNC(ctx, { IBV_EVENT_SQ_DRAINED, p.a.qp });
		CHECK_EQ(move(p.a.qp, IBV_QPS_RTS), 0);
		CHECK_EQ(drain(p.a.qp, false), 0);
		CHECK_EQ(move(p.a.qp, IBV_QPS_RTS), 0);
		CHECK_EQ(move(p.a.qp, IBV_QPS_SQD), 0);
		CHECK_EQ(move(p.a.qp, IBV_QPS_RTS), 0);
	}
	expect_no_async(ctx, 20);
	pair_close(&p);
}

/* The QP leaves SQD before all work requests have completed: there is no event, now or later. */
static void test_drain_given_up(void)
{
	struct ibv_context *ctx;
	struct pair p;

	pair_open(&p, NULL);
	ctx = p.a.qp->context;
	begin_read(&p);
	CHECK_EQ(drain(p.a.qp, true), 0);
	CHECK_EQ(move(p.a.qp, IBV_QPS_RTS), 0);
	let_read_go(&p);
	expect_no_async(ctx, 50);
	CHECK_EQ(move(p.a.qp, IBV_QPS_SQD), 0);
	expect_no_async(ctx, 20);
	pair_close(&p);
}

/* Only the transition into SQD has the event. */
static void test_notify_elsewhere(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS, .en_sqd_async_notify = 1 };
	struct pair p;

	pair_open(&p, NULL);
	CHECK_EQ(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY), EINVAL);
	CHECK_EQ(ibv_modify_qp(p.a.qp, &attr, IBV_QP_EN_SQD_ASYNC_NOTIFY), EINVAL);
	expect_state(p.a.qp, IBV_QPS_RTS, false);
	pair_close(&p);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "new", test_new },
		{ "query_in_each_state", test_query_in_each_state },
		{ "completions_in_reset", test_completions_in_reset },
		{ "drained", test_drained },
		{ "drained_at_once", test_drained_at_once },
		{ "drain_given_up", test_drain_given_up },
		{ "notify_elsewhere", test_notify_elsewhere },
	};

	return RUN_TESTS(argc, argv, tests);
}
