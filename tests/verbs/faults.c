/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Fault injection (docs/faults.md), as a program sees each fault. Every test runs in a separate
 * process, which sets its rules before it uses RDMA.
 */
#include "child.h"
#include "cm.h"
#include "faults_steps.h"

#include <poll.h>
#include <stdlib.h>

/* The N-th call fails with the errno and has no effect. The other calls work. */
static void test_call_fails(void)
{
	struct ibv_context *ctx;
	struct ibv_mr *mr;
	struct ibv_pd *pd;
	static uint8_t buf[64];

	rules("2nd reg_mr: fail with ENOMEM");
	ctx = open_device();
	pd = ibv_alloc_pd(ctx);
	CHECK(pd);
	mr = ibv_reg_mr(pd, buf, sizeof(buf), 0);
	CHECK(mr);
	CHECK_FAILS(ibv_reg_mr(pd, buf, sizeof(buf), 0), ENOMEM);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	mr = ibv_reg_mr(pd, buf, sizeof(buf), 0);
	CHECK(mr);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	/* The failed call has left no object. */
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/*
 * A completion has the status of the rule. Its QP is in ERROR, and later work requests are flushed.
 */
static void test_completion_with_error(void)
{
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	rules("3rd write: complete with rem_access_err vendor 7");
	pair_open(&p, NULL);
	sge = sge_of(p.a.mr, p.a.buf, 64);
	for (uint64_t id = 1; id <= 5; id++)
		CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_WRITE, id, &sge, 1, address(p.b.buf),
				   p.b.mr->rkey, IBV_SEND_SIGNALED),
			 0);
	for (uint64_t id = 1; id <= 5; id++) {
		expect_wc(p.a.send_cq,
			  id < 3  ? IBV_WC_SUCCESS :
			  id == 3 ? IBV_WC_REM_ACCESS_ERR :
				    IBV_WC_WR_FLUSH_ERR,
			  &wc);
		CHECK_EQ(wc.wr_id, id);
		CHECK(id != 3 || wc.vendor_err == 7);
	}
	expect_qp_state(p.a.qp, IBV_QPS_ERR);
	pair_close(&p);
}

/* A rule with a QP number applies to no other QP. */
static void test_selected(void)
{
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	rules("writes on qp 0xffffffff: complete with general_err; sends: complete with general_err, probability 0");
	pair_open(&p, NULL);
	sge = sge_of(p.a.mr, p.a.buf, 64);
	CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_WRITE, 1, &sge, 1, address(p.b.buf), p.b.mr->rkey,
			   IBV_SEND_SIGNALED),
		 0);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	pair_close(&p);
}

/* Waits for the next asynchronous event, which must be an event of the port. */
static void expect_port_event(struct ibv_context *ctx, enum ibv_event_type type)
{
	struct pollfd pfd = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	CHECK_EQ(poll(&pfd, 1, WAIT_SECONDS * 1000), 1);
	CHECK_EQ(ibv_get_async_event(ctx, &event), 0);
	CHECK_EQ(event.event_type, type);
	CHECK_EQ(event.element.port_num, 1);
	ibv_ack_async_event(&event);
}

static void test_port_down(void)
{
	struct ibv_port_attr attr;
	struct ibv_context *ctx;

	rules("after 50 ms: port down for 300 ms");
	ctx = open_device();
	expect_port_event(ctx, IBV_EVENT_PORT_ERR);
	expect_port_event(ctx, IBV_EVENT_PORT_ACTIVE);
	CHECK_EQ(ibv_query_port(ctx, 1, &attr), 0);
	CHECK_EQ(attr.state, IBV_PORT_ACTIVE);
	expect_no_async(ctx, 100);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "call_fails", test_call_fails },
		{ "completion_with_error", test_completion_with_error },
		{ "selected", test_selected },
		{ "port_down", test_port_down },
	};

	return run_tests_apart(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
