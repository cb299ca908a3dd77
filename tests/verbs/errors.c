/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: iwarp.errors --personality iwarp -- */
/* Errors on a connected pair: the sides that report each error, and no further effects. */
#include "fixture.h"

#include <sys/mman.h>

#define LOCAL IBV_ACCESS_LOCAL_WRITE

/* One access of a that b must refuse. a gets a status of the work request, b an error of its QP. */
static void refused(enum ibv_wr_opcode opcode, int access, int64_t offset, uint32_t length,
		    uint32_t key_change, bool foreign_pd)
{
	struct ibv_pd *other;
	struct ibv_mr *mr;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	other = ibv_alloc_pd(p.b.qp->context);
	CHECK(other);
	memset(p.b.buf, 0x5a, SIDE_BUF);
	memset(p.a.buf, 0xa5, SIDE_BUF);
	mr = ibv_reg_mr(foreign_pd ? other : p.b.pd, p.b.buf + 4096, 4096, access);
	CHECK(mr);
	sge = sge_of(p.b.mr, p.b.buf, 16);
	CHECK_EQ(post_recv(&p.b, 77, &sge, 1), 0);
	sge = sge_of(p.a.mr, p.a.buf, length);
	CHECK_EQ(post_rdma(&p.a, opcode, 1, &sge, 1, address(p.b.buf + 4096) + offset,
			   mr->rkey + key_change, IBV_SEND_SIGNALED),
		 0);
	expect_wc(p.a.send_cq, IBV_WC_REM_ACCESS_ERR, &wc);
	CHECK_EQ(wc.wr_id, 1);
	CHECK(wc.vendor_err);
	expect_wc(p.b.recv_cq, IBV_WC_WR_FLUSH_ERR, &wc);
	CHECK_EQ(wc.wr_id, 77);
	EXPECT_ASYNC(p.a.qp->context, { IBV_EVENT_QP_ACCESS_ERR, p.b.qp });
	expect_broken(&p);
	expect_no_async(p.a.qp->context, 5);
	for (size_t i = 0; i < SIDE_BUF; i++)
		CHECK(p.b.buf[i] == 0x5a && p.a.buf[i] == 0xa5);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	CHECK_EQ(ibv_dealloc_pd(other), 0);
	pair_close(&p);
}

static void test_remote_access(void)
{
	ROWS("5040-3.2-03 5040-5.1-03 5040-5.2.1-05 5040-5.4-04 5040-6.2-01 5040-6.2.1-04 "
	     "5041-8.3-06 5042-6.1.1-01");
	const int rw = LOCAL | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

	refused(IBV_WR_RDMA_WRITE, LOCAL | IBV_ACCESS_REMOTE_READ, 0, 100, 0, false);
	refused(IBV_WR_RDMA_READ, LOCAL | IBV_ACCESS_REMOTE_WRITE, 0, 100, 0, false);
	refused(IBV_WR_RDMA_WRITE, LOCAL, 0, 100, 0, false);
	refused(IBV_WR_RDMA_WRITE, rw, 0, 100, 1, false); /* wrong key, then wrong index */
	refused(IBV_WR_RDMA_READ, rw, 0, 100, 1, false);
	refused(IBV_WR_RDMA_READ, rw, 0, 100, 256, false);
	refused(IBV_WR_RDMA_WRITE, rw, -1, 100, 0, false); /* out of bounds */
	refused(IBV_WR_RDMA_WRITE, rw, 4000, 100, 0, false);
	refused(IBV_WR_RDMA_READ, rw, 4095, 2, 0, false);
	refused(IBV_WR_RDMA_READ, rw, 1 << 30, 1, 0, false);
	refused(IBV_WR_RDMA_WRITE, rw, 0, 100, 0, true); /* of another PD */
	refused(IBV_WR_RDMA_READ, rw, 0, 100, 0, true);
}

/*
 * The local keys are wrong: the work request completes with an error, nothing is sent, and the peer
 * gets the end of the connection.
 */
static void local_fault(enum ibv_wr_opcode opcode, const struct ibv_sge *sge, struct pair *p,
			enum ibv_wc_status status)
{
	struct ibv_wc wc;

	CHECK_EQ(post_rdma(&p->a, opcode, 5, sge, 1, address(p->b.buf), p->b.mr->rkey,
			   IBV_SEND_SIGNALED),
		 0);
	expect_wc(p->a.send_cq, status, &wc);
	CHECK_EQ(wc.wr_id, 5);
	expect_broken(p);
	for (size_t i = 0; i < SIDE_BUF; i++)
		CHECK(!p->b.buf[i]);
}

static void test_local_protection(void)
{
	ROWS("5040-3.2-03 5040-7.1-01");
	static const enum ibv_wr_opcode ops[] = { IBV_WR_SEND, IBV_WR_RDMA_WRITE,
						  IBV_WR_RDMA_READ };
	struct ibv_sge sge;
	struct ibv_mr *mr;
	struct pair p;

	for (unsigned int i = 0; i < 3; i++) {
		pair_open(&p, NULL);
		sge = sge_of(p.a.mr, p.a.buf, 100);
		sge.lkey++;
		local_fault(ops[i], &sge, &p, IBV_WC_LOC_PROT_ERR);
		pair_close(&p);

		pair_open(&p, NULL);
		sge = sge_of(p.a.mr, p.a.buf + SIDE_BUF - 99, 100);
		local_fault(ops[i], &sge, &p, IBV_WC_LOC_PROT_ERR);
		pair_close(&p);

		pair_open(&p, NULL);
		sge = sge_of(p.b.mr, p.b.buf, 100); /* of another PD */
		local_fault(ops[i], &sge, &p, IBV_WC_LOC_PROT_ERR);
		pair_close(&p);
	}
	/* The sink of a read does not permit local writes. */
	pair_open(&p, NULL);
	mr = ibv_reg_mr(p.a.pd, p.a.buf, 4096, IBV_ACCESS_REMOTE_READ);
	CHECK(mr);
	sge = sge_of(mr, p.a.buf, 100);
	local_fault(IBV_WR_RDMA_READ, &sge, &p, IBV_WC_LOC_PROT_ERR);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	pair_close(&p);
}

/* The receive has the error, not the sender. */
static void test_receive_protection(void)
{
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	sge = sge_of(p.b.mr, p.b.buf, 100);
	sge.lkey++;
	CHECK_EQ(post_recv(&p.b, 1, &sge, 1), 0);
	sge = sge_of(p.a.mr, p.a.buf, 50);
	CHECK_EQ(post_send(&p.a, 2, &sge, 1, IBV_SEND_SIGNALED), 0);
	expect_wc(p.a.send_cq, IBV_WC_REM_OP_ERR, &wc);
	CHECK_EQ(wc.wr_id, 2);
	expect_wc(p.b.recv_cq, IBV_WC_LOC_PROT_ERR, &wc);
	CHECK_EQ(wc.wr_id, 1);
	expect_broken(&p);
	pair_close(&p);
}

static void send_too_long(uint32_t room, uint32_t length)
{
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	memset(p.b.buf, 0x5a, SIDE_BUF);
	sge = sge_of(p.b.mr, p.b.buf, room);
	CHECK_EQ(post_recv(&p.b, 1, &sge, 1), 0);
	CHECK_EQ(post_recv(&p.b, 2, &sge, 1), 0);
	sge = sge_of(p.a.mr, p.a.buf, length);
	CHECK_EQ(post_send(&p.a, 3, &sge, 1, IBV_SEND_SIGNALED), 0);
	expect_wc(p.a.send_cq, IBV_WC_REM_INV_REQ_ERR, &wc);
	CHECK_EQ(wc.wr_id, 3);
	expect_wc(p.b.recv_cq, IBV_WC_LOC_LEN_ERR, &wc);
	CHECK_EQ(wc.wr_id, 1);
	expect_wc(p.b.recv_cq, IBV_WC_WR_FLUSH_ERR, &wc);
	CHECK_EQ(wc.wr_id, 2);
	expect_broken(&p);
	for (uint32_t i = room; i < SIDE_BUF; i++)
		CHECK(p.b.buf[i] == 0x5a);
	pair_close(&p);
}

static void test_send_too_long(void)
{
	ROWS("5040-5.3-04");
	send_too_long(0, 1);
	send_too_long(99, 100);
	send_too_long(5000, 200000);
}

static void test_invalidate_what_is_not_there(void)
{
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	CHECK_EQ(post_inv(&p.a, IBV_WR_LOCAL_INV, 1, NULL, 0, p.a.mr->rkey + 1), 0);
	expect_wc(p.a.send_cq, IBV_WC_LOC_QP_OP_ERR, &wc);
	expect_broken(&p);
	pair_close(&p);

	pair_open(&p, NULL);
	sge = sge_of(p.b.mr, p.b.buf, 100);
	CHECK_EQ(post_recv(&p.b, 1, &sge, 1), 0);
	CHECK_EQ(post_inv(&p.a, IBV_WR_SEND_WITH_INV, 2, NULL, 0, p.b.mr->rkey + 1), 0);
	expect_wc(p.a.send_cq, IBV_WC_REM_INV_REQ_ERR, &wc);
	expect_wc(p.b.recv_cq, IBV_WC_WR_FLUSH_ERR, &wc);
	expect_broken(&p);
	pair_close(&p);
}

static void *map_pages(size_t len)
{
	void *map = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(map != MAP_FAILED);
	memset(map, 1, len);
	return map;
}

/* Access to registered memory that the application has unmapped is an error, and never a crash. */
static void test_unmapped_local(void)
{
	static const enum ibv_wr_opcode ops[] = { IBV_WR_SEND, IBV_WR_RDMA_WRITE,
						  IBV_WR_RDMA_READ };
	size_t len = 64 << 10;
	struct ibv_sge sge;
	struct ibv_mr *mr;
	struct ibv_wc wc;
	struct pair p;
	void *map;

	for (unsigned int i = 0; i < 3; i++) {
		pair_open(&p, NULL);
		map = map_pages(len);
		mr = ibv_reg_mr(p.a.pd, map, len, LOCAL);
		CHECK(mr);
		take_away(map, len);
		sge = sge_of(mr, map, 5000);
		CHECK_EQ(post_rdma(&p.a, ops[i], 5, &sge, 1, address(p.b.buf), p.b.mr->rkey,
				   IBV_SEND_SIGNALED),
			 0);
		expect_wc(p.a.send_cq, IBV_WC_LOC_PROT_ERR, &wc);
		expect_broken(&p);
		CHECK_EQ(ibv_dereg_mr(mr), 0);
		pair_close(&p);
	}
	/* The memory of a receive is unmapped. */
	pair_open(&p, NULL);
	map = map_pages(len);
	mr = ibv_reg_mr(p.b.pd, map, len, LOCAL);
	CHECK(mr);
	sge = sge_of(mr, map, len);
	CHECK_EQ(post_recv(&p.b, 1, &sge, 1), 0);
	take_away(map, len);
	sge = sge_of(p.a.mr, p.a.buf, 5000);
	CHECK_EQ(post_send(&p.a, 2, &sge, 1, IBV_SEND_SIGNALED), 0);
	expect_wc(p.a.send_cq, IBV_WC_REM_OP_ERR, &wc);
	expect_wc(p.b.recv_cq, IBV_WC_LOC_PROT_ERR, &wc);
	expect_broken(&p);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	pair_close(&p);
}

static void test_unmapped_remote(void)
{
	size_t len = 64 << 10;
	struct ibv_sge sge;
	struct ibv_mr *mr;
	struct ibv_wc wc;
	struct pair p;
	void *map;

	for (int read = 0; read < 2; read++) {
		pair_open(&p, NULL);
		map = map_pages(len);
		mr = ibv_reg_mr(p.b.pd, map, len,
				LOCAL | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
		CHECK(mr);
		take_away(map, len);
		sge = sge_of(p.a.mr, p.a.buf, 5000);
		CHECK_EQ(post_rdma(&p.a, read ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, 5, &sge, 1,
				   address(map), mr->rkey, IBV_SEND_SIGNALED),
			 0);
		expect_wc(p.a.send_cq, IBV_WC_REM_ACCESS_ERR, &wc);
		expect_broken(&p);
		CHECK_EQ(ibv_dereg_mr(mr), 0);
		pair_close(&p);
	}
}

/* Once ibv_dereg_mr() has returned, nothing is written any more, although traffic continues. */
static void test_dereg_under_traffic(void)
{
	ROWS("5040-8.1.1-01 5041-8.3.1-07 5042-6.2.2-01");
	enum { STREAM_LEN = 30000 };
	struct stream stream;
	struct ibv_mr *mr;
	uint8_t *target;
	struct pair p;

	for (int round = 0; round < 10; round++) {
		pair_open(&p, NULL);
		memset(p.a.buf, 0x11, STREAM_LEN);
		target = map_pages(STREAM_LEN);
		mr = ibv_reg_mr(p.b.pd, target, STREAM_LEN, LOCAL | IBV_ACCESS_REMOTE_WRITE);
		CHECK(mr);
		stream_start(&stream, &p, address(target), mr->rkey, STREAM_LEN, 20 + 10 * round);
		CHECK_EQ(ibv_dereg_mr(mr), 0);
		memset(target, 0xcc, STREAM_LEN);
		stream_join(&stream);
		expect_broken(&p);
		for (int i = 0; i < STREAM_LEN; i++)
			CHECK(target[i] == 0xcc);
		munmap(target, STREAM_LEN);
		pair_close(&p);
	}
}

/* With a finite rnr_retry_count, the connection ends after that time without a receive. */
static void test_receiver_not_ready(void)
{
	struct pair_options o = { .rnr_set = true, .rnr_retry = 1 };
	struct ibv_sge sge;
	struct ibv_wc wc;
	double start;
	struct pair p;

	pair_open(&p, &o);
	start = now_seconds();
	sge = sge_of(p.a.mr, p.a.buf, 100);
	CHECK_EQ(post_send(&p.a, 1, &sge, 1, IBV_SEND_SIGNALED), 0);
	expect_wc(p.a.send_cq, IBV_WC_RNR_RETRY_EXC_ERR, &wc);
	expect_broken(&p);
	CHECK(now_seconds() - start > 0.3);
	pair_close(&p);
}

/* Work requests that are posted in the error state are flushed in order, on both queues. */
static void test_flush(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	sge = sge_of(p.a.mr, p.a.buf, 100);
	for (int i = 0; i < 10; i++)
		CHECK_EQ(post_recv(&p.a, i, &sge, 1), 0);
	CHECK_EQ(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE), 0);
	CHECK_EQ(p.a.qp->state, IBV_QPS_ERR);
	for (int i = 0; i < 10; i++) {
		CHECK_EQ(post_send(&p.a, i, &sge, 1, 0), 0);
		CHECK_EQ(post_recv(&p.a, 10 + i, &sge, 1), 0);
	}
	for (int i = 0; i < 20; i++) {
		expect_wc(p.a.recv_cq, IBV_WC_WR_FLUSH_ERR, &wc);
		CHECK_EQ(wc.wr_id, i);
	}
	for (int i = 0; i < 10; i++) { /* a flushed WR completes, signaled or not */
		expect_wc(p.a.send_cq, IBV_WC_WR_FLUSH_ERR, &wc);
		CHECK_EQ(wc.wr_id, i);
	}
	/* On InfiniBand, a QP in ERR sends nothing to the connection manager. */
	if (is_iwarp(p.a.qp->context))
		expect_broken(&p);
	else
		expect_qp_state(p.b.qp, IBV_QPS_ERR);
	pair_close(&p);
}

static void test_disconnect(void)
{
	ROWS("5040-6.2-01");
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	sge = sge_of(p.b.mr, p.b.buf, 100);
	CHECK_EQ(post_recv(&p.b, 1, &sge, 1), 0);
	CHECK_EQ(post_recv(&p.a, 2, &sge, 1), 0);
	CHECK_EQ(rdma_disconnect(p.a.id), 0);
	expect_wc(p.a.recv_cq, IBV_WC_WR_FLUSH_ERR, &wc);
	expect_wc(p.b.recv_cq, IBV_WC_WR_FLUSH_ERR, &wc);
	expect_broken(&p);
	CHECK_EQ(rdma_disconnect(p.b.id), 0); /* the peer may have been quicker */
	expect_no_async(p.a.qp->context, 50);
	pair_close(&p);
}

/* The QP is destroyed while it is connected. */
static void test_destroy_connected_qp(void)
{
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	sge = sge_of(p.b.mr, p.b.buf, 100);
	CHECK_EQ(post_recv(&p.b, 1, &sge, 1), 0);
	sge = sge_of(p.a.mr, p.a.buf, 100);
	CHECK_EQ(post_recv(&p.a, 2, &sge, 1), 0);
	rdma_destroy_qp(p.a.id);
	p.a.qp = NULL;
	expect_wc(p.b.recv_cq, IBV_WC_WR_FLUSH_ERR, &wc);
	expect_cm_event(p.b.cm_channel, RDMA_CM_EVENT_DISCONNECTED);
	expect_qp_state(p.b.qp, IBV_QPS_ERR);
	CHECK_EQ(ibv_poll_cq(p.a.recv_cq, 1, &wc), 0);
	pair_close(&p);
}

/*
 * A CQ overrun raises an event, and moves the CQ's QPs to the error state. The QP's other CQ
 * continues.
 */
static void test_cq_overflow(void)
{
	struct pair_options o = { .recv_cqe = 4 };
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;
	int limit;

	pair_open(&p, &o);
	limit = p.b.recv_cq->cqe;
	CHECK(limit >= 4 && limit < 30);
	sge = sge_of(p.b.mr, p.b.buf, 100);
	for (int i = 0; i < limit + 2; i++)
		CHECK_EQ(post_recv(&p.b, i, &sge, 1), 0);
	sge = sge_of(p.a.mr, p.a.buf, 100);
	for (int i = 0; i < limit + 1; i++)
		CHECK_EQ(post_send(&p.a, i, &sge, 1, IBV_SEND_SIGNALED), 0);
	expect_qp_state(p.b.qp, IBV_QPS_ERR);
	EXPECT_ASYNC(p.b.qp->context, { IBV_EVENT_CQ_ERR, p.b.recv_cq },
		     { IBV_EVENT_QP_FATAL, p.b.qp });
	for (int i = 0; i < limit; i++) { /* earlier completions stay */
		expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, i);
	}
	CHECK_EQ(ibv_poll_cq(p.b.recv_cq, 1, &wc), 0);
	for (int i = 0; i <= limit; i++) { /* the last one is not reported at b */
		expect_wc(p.a.send_cq, i < limit ? IBV_WC_SUCCESS : IBV_WC_REM_OP_ERR, &wc);
		CHECK_EQ(wc.wr_id, i);
	}
	expect_broken(&p);
	pair_close(&p);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "remote_access", test_remote_access },
		{ "local_protection", test_local_protection },
		{ "receive_protection", test_receive_protection },
		{ "send_too_long", test_send_too_long },
		{ "invalidate_what_is_not_there", test_invalidate_what_is_not_there },
		{ "unmapped_local", test_unmapped_local },
		{ "unmapped_remote", test_unmapped_remote },
		{ "dereg_under_traffic", test_dereg_under_traffic },
		{ "receiver_not_ready", test_receiver_not_ready },
		{ "flush", test_flush },
		{ "disconnect", test_disconnect },
		{ "destroy_connected_qp", test_destroy_connected_qp },
		{ "cq_overflow", test_cq_overflow },
	};

	return RUN_TESTS(argc, argv, tests);
}
