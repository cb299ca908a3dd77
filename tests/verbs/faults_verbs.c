/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Faults of verbs, of the device's limits, of completions and of their notifications
 * (docs/faults.md). Every test runs in a separate process, which sets its rules before it uses
 * RDMA.
 */
#include "child.h"
#include "cm.h"
#include "faults_steps.h"

#include <poll.h>
#include <stdlib.h>

static uint8_t memory[1 << 16];

/* Posts n Writes of 64 bytes from a to b, with wr_id from 1 on. */
static void write_n(struct pair *p, uint64_t n)
{
	struct ibv_sge sge = sge_of(p->a.mr, p->a.buf, 64);

	for (uint64_t id = 1; id <= n; id++)
		CHECK_EQ(post_rdma(&p->a, IBV_WR_RDMA_WRITE, id, &sge, 1, address(p->b.buf),
				   p->b.mr->rkey, IBV_SEND_SIGNALED),
			 0);
}

/* ---- calls ---- */

/* Calls of each kind fail with the errno of their rules. Repeated calls work. */
static void test_calls(void)
{
	struct ibv_cq_init_attr_ex cq_attr = { .cqe = 1 };
	struct ibv_srq_init_attr srq_attr = { .attr = { .max_wr = 1, .max_sge = 1 } };
	struct ibv_qp_init_attr qp_attr = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	struct ibv_context *ctx;
	struct ibv_qp_attr attr;
	struct ibv_srq *srq;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;

	rules("1st alloc_pd: fail with ENOMEM; 1st create_cq: fail with EMFILE; 3rd create_cq: fail with ENOSPC;"
	      "1st create_srq: fail with EPERM; 1st create_qp: fail with EAGAIN; 1st query_device: fail with EIO;"
	      "1st query_port: fail with ENODEV; 1st query_qp: fail with EIO; 1st destroy_qp: fail with EBUSY;"
	      "1st dealloc_pd: fail with EINTR; 1st destroy_cq: fail with EINTR; 1st destroy_srq: fail with EINTR;"
	      "1st req_notify_cq: fail with ENXIO");
	ctx = open_device();
	CHECK_FAILS(ibv_alloc_pd(ctx), ENOMEM);
	pd = ibv_alloc_pd(ctx);
	CHECK(pd);
	CHECK_FAILS(ibv_create_cq(ctx, 1, NULL, NULL, 0), EMFILE);
	cq = ibv_create_cq(ctx, 1, NULL, NULL, 0);
	CHECK(cq);
	CHECK_FAILS(ibv_create_cq_ex(ctx, &cq_attr), ENOSPC);
	CHECK_FAILS(ibv_create_srq(pd, &srq_attr), EPERM);
	srq = ibv_create_srq(pd, &srq_attr);
	CHECK(srq);
	qp_attr.send_cq = qp_attr.recv_cq = cq;
	CHECK_FAILS(ibv_create_qp(pd, &qp_attr), EAGAIN);
	qp = ibv_create_qp(pd, &qp_attr);
	CHECK(qp);
	CHECK_EQ(ibv_query_device(ctx, &device), EIO);
	CHECK_EQ(ibv_query_device(ctx, &device), 0);
	CHECK_EQ(ibv_query_port(ctx, 1, &port), ENODEV);
	CHECK_EQ(ibv_query_port(ctx, 1, &port), 0);
	CHECK_EQ(ibv_query_qp(qp, &attr, IBV_QP_STATE, &qp_attr), EIO);
	CHECK_EQ(ibv_query_qp(qp, &attr, IBV_QP_STATE, &qp_attr), 0);
	CHECK_EQ(ibv_req_notify_cq(cq, 0), ENXIO);
	CHECK_EQ(ibv_req_notify_cq(cq, 0), 0);
	CHECK_EQ(ibv_destroy_qp(qp), EBUSY);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_destroy_srq(srq), EINTR);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	CHECK_EQ(ibv_destroy_cq(cq), EINTR);
	CHECK_EQ(ibv_destroy_cq(cq), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), EINTR);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/* modify_qp fails at the transition in the rule. The state stays. */
static void test_modify(void)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	const int mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_qp *qp;

	rules("modify_qp from init to err: fail with EIO, once; modify_qp to rtr: fail with EACCES;"
	      "modify_qp on 2nd qp: fail with EPERM");
	ctx = open_device();
	pd = ibv_alloc_pd(ctx);
	init.send_cq = init.recv_cq = ibv_create_cq(ctx, 1, NULL, NULL, 0);
	qp = ibv_create_qp(pd, &init);
	CHECK(qp);
	CHECK_EQ(ibv_modify_qp(qp, &attr, mask), 0);
	attr.qp_state = IBV_QPS_ERR;
	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), EIO);
	expect_qp_state(qp, IBV_QPS_INIT);
	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	qp = ibv_create_qp(pd, &init);
	CHECK_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), EPERM);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_destroy_cq(init.send_cq), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/*
 * In a chain, the work requests before the failing one are posted, and *bad_wr is the failing one.
 */
static void test_chain(void)
{
	struct ibv_send_wr wr[4] = { 0 }, *bad = NULL;
	struct ibv_recv_wr recv[3] = { 0 }, *bad_recv = NULL;
	struct ibv_wc wc;
	struct pair p;

	rules("3rd post_send opcode write: fail with ENOSPC; post_recv: fail with EAGAIN, at most 1 times");
	pair_open(&p, NULL);
	for (int i = 0; i < 4; i++) {
		wr[i].wr_id = 1 + (uint64_t)i;
		wr[i].opcode = IBV_WR_RDMA_WRITE;
		wr[i].send_flags = IBV_SEND_SIGNALED;
		wr[i].wr.rdma.remote_addr = address(p.b.buf);
		wr[i].wr.rdma.rkey = p.b.mr->rkey;
		wr[i].next = i < 3 ? &wr[i + 1] : NULL;
	}
	CHECK_EQ(ibv_post_send(p.a.qp, wr, &bad), ENOSPC);
	CHECK(bad == &wr[2]);
	CHECK(wr[1].next == &wr[2]);
	for (uint64_t id = 1; id <= 2; id++) {
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, id);
	}
	expect_no_wc(p.a.send_cq, 50);
	CHECK_EQ(ibv_post_send(p.a.qp, bad, &bad), 0);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, 3);
	recv[0].next = &recv[1];
	CHECK_EQ(ibv_post_recv(p.b.qp, recv, &bad_recv), EAGAIN);
	CHECK(bad_recv == recv);
	CHECK_EQ(ibv_post_recv(p.b.qp, recv, &bad_recv), 0);
	pair_close(&p);
}

/* A batch of ibv_wr_* fails as a whole. */
static void test_batch(void)
{
	struct pair_options o = { .send_ops = IBV_QP_EX_WITH_RDMA_WRITE };
	struct ibv_qp_ex *ex;
	struct ibv_wc wc;
	struct pair p;

	rules("2nd post_send: fail with EIO");
	pair_open(&p, &o);
	ex = ibv_qp_to_qp_ex(p.a.qp);
	for (int round = 0; round < 2; round++) {
		ibv_wr_start(ex);
		for (uint64_t id = 1; id <= 2; id++) {
			ex->wr_id = id;
			ex->wr_flags = IBV_SEND_SIGNALED;
			ibv_wr_rdma_write(ex, p.b.mr->rkey, address(p.b.buf));
			ibv_wr_set_sge(ex, p.a.mr->lkey, address(p.a.buf), 64);
		}
		CHECK_EQ(ibv_wr_complete(ex), round ? 0 : EIO);
		if (!round)
			expect_no_wc(p.a.send_cq, 50);
	}
	for (uint64_t id = 1; id <= 2; id++) {
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, id);
	}
	pair_close(&p);
}

/* ---- limits ---- */

static void test_limits(void)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC,
		.cap = { .max_send_wr = 4,
			 .max_recv_wr = 4,
			 .max_send_sge = 2,
			 .max_recv_sge = 2,
			 .max_inline_data = 16 },
	};
	struct ibv_device_attr device;
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_mr *mr;

	rules("device: limit max_qp to 1; device: limit max_qp_wr to 4; device: limit max_sge to 2;"
	      "device: limit max_cqe to 8; device: limit max_cq to 1; device: limit max_mr to 1;"
	      "device: limit max_mr_size to 4096; device: limit max_pd to 1; device: limit max_inline_data to 16;"
	      "device: limit max_srq to 1; device: limit max_srq to 100000000");
	ctx = open_device();
	CHECK_EQ(ibv_query_device(ctx, &device), 0);
	CHECK_EQ(device.max_qp, 1);
	CHECK_EQ(device.max_qp_wr, 4);
	CHECK_EQ(device.max_sge, 2);
	CHECK_EQ(device.max_cqe, 8);
	CHECK_EQ(device.max_cq, 1);
	CHECK_EQ(device.max_mr, 1);
	CHECK_EQ(device.max_mr_size, 4096);
	CHECK_EQ(device.max_pd, 1);
	CHECK_EQ(device.max_srq, 1);
	pd = ibv_alloc_pd(ctx);
	CHECK(pd);
	CHECK_FAILS(ibv_alloc_pd(ctx), ENOMEM);
	CHECK_FAILS(ibv_create_cq(ctx, 9, NULL, NULL, 0), EINVAL);
	cq = ibv_create_cq(ctx, 8, NULL, NULL, 0);
	CHECK(cq);
	CHECK_FAILS(ibv_create_cq(ctx, 8, NULL, NULL, 0), ENOMEM);
	CHECK_EQ(ibv_resize_cq(cq, 9), EINVAL);
	CHECK_FAILS(ibv_reg_mr(pd, memory, 4097, 0), EINVAL);
	mr = ibv_reg_mr(pd, memory, 4096, 0);
	CHECK(mr);
	CHECK_FAILS(ibv_reg_mr(pd, memory, 4096, 0), ENOMEM);
	init.send_cq = init.recv_cq = cq;
	init.cap.max_send_wr = 5;
	CHECK_FAILS(ibv_create_qp(pd, &init), EINVAL);
	init.cap.max_send_wr = 4;
	init.cap.max_recv_sge = 3;
	CHECK_FAILS(ibv_create_qp(pd, &init), EINVAL);
	init.cap.max_recv_sge = 2;
	init.cap.max_inline_data = 17;
	CHECK_FAILS(ibv_create_qp(pd, &init), EINVAL);
	init.cap.max_inline_data = 16;
	qp = ibv_create_qp(pd, &init);
	CHECK(qp);
	CHECK_EQ(init.cap.max_inline_data, 16);
	CHECK_FAILS(ibv_create_qp(pd, &init), ENOMEM);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK_EQ(ibv_destroy_cq(cq), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/* ---- completions ---- */

/* An extended CQ also has the status, and later work requests are flushed. */
static void test_extended_error(void)
{
	const enum ibv_wc_status expected[] = { IBV_WC_SUCCESS, IBV_WC_RETRY_EXC_ERR,
						IBV_WC_WR_FLUSH_ERR };
	struct pair_options o = { .extended_cqs = true };
	struct ibv_cq_ex *cq;
	struct pair p;

	rules("2nd write: complete with retry_exc_err vendor 3");
	pair_open(&p, &o);
	cq = (struct ibv_cq_ex *)p.a.send_cq;
	write_n(&p, 3);
	for (uint64_t id = 1; id <= 3; id++) {
		wait_start_poll(cq);
		CHECK_EQ(cq->wr_id, id);
		CHECK_EQ(cq->status, expected[id - 1]);
		CHECK(id != 2 || ibv_wc_read_vendor_err(cq) == 3);
		ibv_end_poll(cq);
	}
	expect_qp_state(p.a.qp, IBV_QPS_ERR);
	pair_close(&p);
}

/* A completion comes late, with another event. */
static void test_late(void)
{
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;
	double begin;
	void *ctx;

	rules("1st receive: delay 200 ms");
	pair_open(&p, NULL);
	sge = sge_of(p.b.mr, p.b.buf, 64);
	CHECK_EQ(post_recv(&p.b, 1, &sge, 1), 0);
	CHECK_EQ(ibv_req_notify_cq(p.b.recv_cq, 0), 0);
	begin = now_seconds();
	sge = sge_of(p.a.mr, p.a.buf, 64);
	CHECK_EQ(post_send(&p.a, 2, &sge, 1, IBV_SEND_SIGNALED), 0);
	channel = p.b.channel;
	do {
		CHECK_EQ(ibv_get_cq_event(channel, &cq, &ctx), 0);
		CHECK(cq == p.b.recv_cq);
		ibv_ack_cq_events(cq, 1);
		CHECK_EQ(ibv_req_notify_cq(cq, 0), 0);
	} while (!ibv_poll_cq(cq, 1, &wc));
	CHECK(now_seconds() - begin >= 0.2);
	CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	CHECK_EQ(wc.wr_id, 1);
	pair_close(&p);
}

/* Completions are held until four wait, or until the time is over. Then they come together. */
static void test_gather(void)
{
	struct ibv_wc wc[8];
	struct pair p;
	int n;

	rules("writes: gather 4 within 300 ms");
	pair_open(&p, NULL);
	write_n(&p, 4);
	while (!(n = ibv_poll_cq(p.a.send_cq, 8, wc)))
		;
	CHECK_EQ(n, 4);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(wc[i].wr_id, 1 + (uint64_t)i);
	write_n(&p, 2);
	expect_no_wc(p.a.send_cq, 100);
	while (!(n = ibv_poll_cq(p.a.send_cq, 8, wc)))
		;
	CHECK_EQ(n, 2);
	pair_close(&p);
}

/* Returns the number of events on a side's channel within ms milliseconds. */
static int count_events(struct side *s, int ms)
{
	struct pollfd fd = { .fd = s->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *ctx;
	int n = 0;

	while (poll(&fd, 1, ms) == 1) {
		CHECK_EQ(ibv_get_cq_event(s->channel, &cq, &ctx), 0);
		ibv_ack_cq_events(cq, 1);
		n++;
	}
	return n;
}

/* Each completion comes alone, though the poll requests more. */
static void test_single(void)
{
	struct pair_options o = { .extended_cqs = true };
	struct ibv_wc wc[8];
	struct ibv_cq_ex *cq;
	struct pair p;

	rules("writes: single; receives: single");
	pair_open(&p, NULL);
	write_n(&p, 3);
	sleep_ms(100);
	for (uint64_t id = 1; id <= 3; id++) {
		int n = ibv_poll_cq(p.a.send_cq, 8, wc);

		CHECK_EQ(n, 1);
		CHECK_EQ(wc[0].wr_id, id);
	}
	/* A remaining completion has an event. */
	for (uint64_t id = 1; id <= 2; id++) {
		struct ibv_sge sge = sge_of(p.b.mr, p.b.buf, 64);

		CHECK_EQ(post_recv(&p.b, id, &sge, 1), 0);
		sge = sge_of(p.a.mr, p.a.buf, 64);
		CHECK_EQ(post_send(&p.a, id, &sge, 1, IBV_SEND_SIGNALED), 0);
	}
	sleep_ms(100);
	CHECK_EQ(ibv_req_notify_cq(p.b.recv_cq, 0), 0);
	CHECK_EQ(ibv_poll_cq(p.b.recv_cq, 8, wc), 1);
	CHECK(count_events(&p.b, 500) > 0);
	CHECK_EQ(ibv_poll_cq(p.b.recv_cq, 8, wc), 1);
	pair_close(&p);
	pair_open(&p, &o);
	cq = (struct ibv_cq_ex *)p.a.send_cq;
	write_n(&p, 2);
	sleep_ms(100);
	for (uint64_t id = 1; id <= 2; id++) {
		wait_start_poll(cq);
		CHECK_EQ(cq->wr_id, id);
		CHECK_EQ(ibv_next_poll(cq), ENOENT);
		ibv_end_poll(cq);
	}
	pair_close(&p);
}

/* The CQ is overrun: there is an event, and no further completion. */
static void test_overrun(void)
{
	struct ibv_wc wc;
	struct pair p;

	rules("3rd write: overrun");
	pair_open(&p, NULL);
	write_n(&p, 2);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	write_n(&p, 1);
	expect_no_wc(p.a.send_cq, 100);
	EXPECT_ASYNC(p.a.qp->context, { IBV_EVENT_CQ_ERR, p.a.send_cq });
	pair_close(&p);
}

/* ---- notifications ---- */

static void test_notifications(void)
{
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;
	double begin;

	rules("1st notification: duplicate times 2; 2nd notification: delay 300 ms");
	pair_open(&p, NULL);
	for (uint64_t id = 1; id <= 2; id++) {
		sge = sge_of(p.b.mr, p.b.buf, 64);
		CHECK_EQ(post_recv(&p.b, id, &sge, 1), 0);
		CHECK_EQ(ibv_req_notify_cq(p.b.recv_cq, 0), 0);
		begin = now_seconds();
		sge = sge_of(p.a.mr, p.a.buf, 64);
		CHECK_EQ(post_send(&p.a, id, &sge, 1, IBV_SEND_SIGNALED), 0);
		if (id == 1) {
			CHECK_EQ(count_events(&p.b, 500), 3);
		} else {
			expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
			expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
			CHECK_EQ(wc.wr_id, 2);
			CHECK_EQ(count_events(&p.b, 1000), 1);
			CHECK(now_seconds() - begin >= 0.3);
		}
	}
	pair_close(&p);
}

/* ---- asynchronous events ---- */

/* Waits for the next event of the port or of the device, which must have this type. */
static void expect_event(struct ibv_context *ctx, enum ibv_event_type type)
{
	struct pollfd fd = { .fd = ctx->async_fd, .events = POLLIN };
	struct ibv_async_event event;

	CHECK_EQ(poll(&fd, 1, WAIT_SECONDS * 1000), 1);
	CHECK_EQ(ibv_get_async_event(ctx, &event), 0);
	CHECK_EQ(event.event_type, type);
	CHECK_EQ(event.element.port_num, type == IBV_EVENT_DEVICE_FATAL ? 0 : 1);
	ibv_ack_async_event(&event);
}

static void test_events(void)
{
	struct ibv_context *ctx;
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 1, .max_sge = 1 } };
	struct ibv_srq *srq;
	struct ibv_pd *pd;

	rules("after 100 ms: raise gid_change; after 110 ms: raise lid_change; after 120 ms: raise client_reregister;"
	      "after 130 ms: raise device_fatal; after 140 ms: raise port_err; after 150 ms: raise port_active;"
	      "after 160 ms: raise pkey_change; after 170 ms: raise sm_change; after 180 ms: raise srq_err;"
	      "after 190 ms on 1st srq: raise srq_limit_reached; after 195 ms on 2nd srq: raise srq_err");
	ctx = open_device();
	pd = ibv_alloc_pd(ctx);
	srq = ibv_create_srq(pd, &attr);
	CHECK(srq);
	expect_event(ctx, IBV_EVENT_GID_CHANGE);
	expect_event(ctx, IBV_EVENT_LID_CHANGE);
	expect_event(ctx, IBV_EVENT_CLIENT_REREGISTER);
	expect_event(ctx, IBV_EVENT_DEVICE_FATAL);
	expect_event(ctx, IBV_EVENT_PORT_ERR);
	expect_event(ctx, IBV_EVENT_PORT_ACTIVE);
	expect_event(ctx, IBV_EVENT_PKEY_CHANGE);
	expect_event(ctx, IBV_EVENT_SM_CHANGE);
	EXPECT_ASYNC(ctx, { IBV_EVENT_SRQ_ERR, srq });
	EXPECT_ASYNC(ctx, { IBV_EVENT_SRQ_LIMIT_REACHED, srq });
	expect_no_async(ctx, 100);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/* Events of a QP: an event about a failure comes from a failed QP. */
static void test_qp_events(void)
{
	struct ibv_wc wc;
	struct pair p;

	rules("1st write: raise path_mig; 2nd write: raise qp_access_err");
	pair_open(&p, NULL);
	write_n(&p, 1);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	EXPECT_ASYNC(p.a.qp->context, { IBV_EVENT_PATH_MIG, p.a.qp });
	write_n(&p, 1);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	EXPECT_ASYNC(p.a.qp->context, { IBV_EVENT_QP_ACCESS_ERR, p.a.qp });
	expect_qp_state(p.a.qp, IBV_QPS_ERR);
	pair_close(&p);
}

/* A device that does not open. */
static void test_open(void)
{
	struct ibv_device **list;

	rules("1st open_device: fail with ENODEV");
	list = ibv_get_device_list(NULL);
	CHECK(list && list[0]);
	CHECK_FAILS(ibv_open_device(list[0]), ENODEV);
	ibv_free_device_list(list);
	CHECK_EQ(ibv_close_device(open_device()), 0);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "calls", test_calls },
		{ "modify", test_modify },
		{ "chain", test_chain },
		{ "batch", test_batch },
		{ "limits", test_limits },
		{ "extended_error", test_extended_error },
		{ "late", test_late },
		{ "gather", test_gather },
		{ "single", test_single },
		{ "overrun", test_overrun },
		{ "notifications", test_notifications },
		{ "events", test_events },
		{ "qp_events", test_qp_events },
		{ "open", test_open },
	};

	return run_tests_apart(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
