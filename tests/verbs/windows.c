/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory windows of both types: their permissions, their peers and their lifetime. windows_bind.c
 * has binds that fail, and the order of binds.
 */
#include "window.h"

static void test_attributes(void)
{
	struct ibv_context *ctx = open_device();
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_device_attr_ex attr;
	struct ibv_mw *mw[3];

	CHECK_EQ(ibv_query_device_ex(ctx, NULL, &attr), 0);
	CHECK(attr.orig_attr.max_mw > 0);
	CHECK(attr.orig_attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW);
	CHECK(attr.orig_attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2B);
	CHECK(!(attr.orig_attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW_TYPE_2A));
	CHECK_EQ(attr.device_cap_flags_ex, attr.orig_attr.device_cap_flags);
	CHECK(pd);
	CHECK_FAILS(ibv_alloc_mw(pd, 0), EINVAL);
	CHECK_FAILS(ibv_alloc_mw(pd, 3), EINVAL);
	for (int i = 0; i < 3; i++) {
		mw[i] = ibv_alloc_mw(pd, i ? IBV_MW_TYPE_2 : IBV_MW_TYPE_1);
		CHECK(mw[i] && mw[i]->rkey >> 8);
		for (int k = 0; k < i; k++)
			CHECK(mw[i]->rkey >> 8 != mw[k]->rkey >> 8 &&
			      mw[i]->handle != mw[k]->handle);
	}
	CHECK_EQ(ibv_dealloc_pd(pd), EBUSY);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(ibv_dealloc_mw(mw[i]), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), EBUSY);
	CHECK_EQ(ibv_close_device(ctx), 0); /* frees the rest */
}

/* Both types permit reading and writing of each of their bytes. The MR itself permits nothing. */
static void test_access(void)
{
	ROWS("5041-8.2-06 5041-8.3-02 5041-8.3-04 5041-8.3.1-05");
	for (enum ibv_mw_type type = IBV_MW_TYPE_1; type <= IBV_MW_TYPE_2; type++) {
		struct ibv_sge sge;
		struct ibv_wc wc;
		struct shop s;
		uint64_t at;

		shop_open(&s, type);
		at = (uintptr_t)s.p.b.buf + 5001;
		fill(s.p.b.buf, SIDE_BUF, 7);
		bind_window(&s, 5001, 70001, READ | WRITE);
		read_works(&s.p, s.p.b.buf + 5001, at, s.mw->rkey, 70001);
		read_works(&s.p, s.p.b.buf + 5001 + 70000, at + 70000, s.mw->rkey, 1);
		memset(s.p.a.buf, 0x31, 70001);
		CHECK_EQ(access_remote(&s.p, IBV_WR_RDMA_WRITE, at, s.mw->rkey, 70001),
			 IBV_WC_SUCCESS);
		sge = sge_of(s.p.b.mr, s.p.b.buf + 500000, 1);
		CHECK_EQ(post_recv(&s.p.b, 2, &sge, 1), 0);
		CHECK_EQ(post_send(&s.p.a, 3, NULL, 0, IBV_SEND_SIGNALED), 0);
		expect_wc(s.p.b.recv_cq, IBV_WC_SUCCESS, &wc);
		expect_wc(s.p.a.send_cq, IBV_WC_SUCCESS, &wc);
		for (int i = 0; i < 70001; i++)
			CHECK(s.p.b.buf[5001 + i] == 0x31);
		s.p.b.buf[5000] ^= 1;
		s.p.b.buf[75002] ^= 1;
		fill(s.p.a.buf, SIDE_BUF, 7);
		s.p.a.buf[5000] ^= 1;
		s.p.a.buf[75002] ^= 1;
		CHECK(!memcmp(s.p.a.buf, s.p.b.buf, 5001));
		CHECK(!memcmp(s.p.a.buf + 75002, s.p.b.buf + 75002, 400000));
		access_fails(&s.p, IBV_WR_RDMA_READ, at, s.mr->rkey, 1);
		shop_close(&s);
	}
}

static void test_zero_based(void)
{
	struct ibv_mw_bind bind = { .bind_info.mw_access_flags = READ | IBV_ACCESS_ZERO_BASED,
				    .bind_info.length = 10 };
	struct shop s;

	shop_open(&s, IBV_MW_TYPE_2);
	fill(s.p.b.buf, SIDE_BUF, 8);
	bind_window(&s, 300, 100, READ | IBV_ACCESS_ZERO_BASED);
	read_works(&s.p, s.p.b.buf + 300, 0, s.mw->rkey, 100);
	read_works(&s.p, s.p.b.buf + 399, 99, s.mw->rkey, 1);
	access_fails(&s.p, IBV_WR_RDMA_READ, 99, s.mw->rkey, 2);
	shop_close(&s);

	shop_open(&s, IBV_MW_TYPE_1);
	bind.bind_info.mr = s.mr;
	bind.bind_info.addr = (uintptr_t)s.p.b.buf;
	CHECK_EQ(ibv_bind_mw(s.p.b.qp, s.mw, &bind), EINVAL);
	expect_no_wc(s.p.b.send_cq, 20);
	shop_close(&s);
}

/*
 * Accesses that a window does not permit: bytes beyond its ends, other operations, another key of
 * its index.
 */
static void test_misuse(void)
{
	ROWS("5040-8.1.1-02 5041-8.3-02 5042-6.2.1-01 5042-6.3.5-01");
	static const struct {
		enum ibv_wr_opcode opcode;
		unsigned int access;
		int offset;
		uint32_t len;
		int key;
	} cases[] = {
		{ IBV_WR_RDMA_READ, READ | WRITE, -1, 1, 0 },
		{ IBV_WR_RDMA_READ, READ | WRITE, 100, 1, 0 },
		{ IBV_WR_RDMA_READ, READ | WRITE, 0, 101, 0 },
		{ IBV_WR_RDMA_WRITE, READ | WRITE, -1, 2, 0 },
		{ IBV_WR_RDMA_WRITE, READ | WRITE, 99, 2, 0 },
		{ IBV_WR_RDMA_WRITE, READ, 0, 1, 0 },
		{ IBV_WR_RDMA_READ, WRITE, 0, 1, 0 },
		{ IBV_WR_RDMA_READ, 0, 0, 1, 0 },
		{ IBV_WR_RDMA_READ, READ | WRITE, 0, 1, 1 },
		{ IBV_WR_RDMA_WRITE, READ | WRITE, 0, 1, -1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (enum ibv_mw_type type = IBV_MW_TYPE_1; type <= IBV_MW_TYPE_2; type++) {
			struct shop s;

			shop_open(&s, type);
			bind_window(&s, 4096, 100, cases[i].access);
			access_fails(&s.p, cases[i].opcode,
				     (uintptr_t)s.p.b.buf + 4096 + cases[i].offset,
				     s.mw->rkey + cases[i].key, cases[i].len);
			shop_close(&s);
		}
	}
}

/*
 * A window is closed before a bind, after an unbind, a rebind and an invalidation, and after it is
 * freed.
 */
static void test_revoked(void)
{
	ROWS("5041-8.3-02 5041-8.3.1-05 5041-8.3.1-07 5042-6.2.2-01");
	enum { UNBOUND, BOUND_TO_NOTHING, BOUND_ELSEWHERE, FREED, INVALIDATED, WAYS };

	for (int way = 0; way < WAYS; way++) {
		struct ibv_wc wc;
		struct shop s;
		uint32_t rkey;

		shop_open(&s, way == INVALIDATED ? IBV_MW_TYPE_2 : IBV_MW_TYPE_1);
		rkey = s.mw->rkey;
		if (way != UNBOUND) {
			bind_window(&s, 0, 4096, READ);
			rkey = s.mw->rkey;
			read_works(&s.p, s.p.b.buf, (uintptr_t)s.p.b.buf, rkey, 4096);
			CHECK_EQ(ibv_dereg_mr(s.mr), EBUSY);
		}
		switch (way) {
		case BOUND_TO_NOTHING:
			bind_window(&s, 0, 0, 0);
			break;
		case BOUND_ELSEWHERE:
			bind_window(&s, 0, 8192, READ);
			read_works(&s.p, s.p.b.buf, (uintptr_t)s.p.b.buf, s.mw->rkey, 8192);
			break;
		case FREED:
			CHECK_EQ(ibv_dealloc_mw(s.mw), 0);
			s.mw = NULL;
			break;
		case INVALIDATED:
			CHECK_EQ(post_inv(&s.p.b, IBV_WR_LOCAL_INV, 6, NULL, 0, rkey), 0);
			expect_wc(s.p.b.send_cq, IBV_WC_SUCCESS, &wc);
			CHECK_EQ(wc.opcode, IBV_WC_LOCAL_INV);
			break;
		}
		access_fails(&s.p, IBV_WR_RDMA_READ, (uintptr_t)s.p.b.buf, rkey, 1);
		if (way != BOUND_ELSEWHERE) { /* no window is bound to the MR */
			CHECK_EQ(ibv_dereg_mr(s.mr), 0);
			s.mr = ibv_reg_mr(s.p.b.pd, s.p.b.buf, 100, LOCAL);
			CHECK(s.mr);
		} else {
			CHECK_EQ(ibv_dealloc_mw(s.mw), 0);
			s.mw = NULL;
		}
		shop_close(&s);
	}
}

/*
 * The peer invalidates a window of its stream by Send with Invalidate. The window can be bound
 * again.
 */
static void test_remote_invalidate(void)
{
	struct ibv_wc wc;
	struct shop s;
	uint32_t rkey;

	shop_open(&s, IBV_MW_TYPE_2);
	for (int round = 0; round < 300; round++) { /* every key occurs, and then again */
		bind_window(&s, 64 * round, 64, READ);
		rkey = s.mw->rkey;
		memset(s.p.b.buf + 64 * round, round + 1, 64);
		read_works(&s.p, s.p.b.buf + 64 * round, (uintptr_t)s.p.b.buf + 64 * round, rkey,
			   64);
		CHECK_EQ(post_recv(&s.p.b, 1, NULL, 0), 0);
		CHECK_EQ(post_inv(&s.p.a, IBV_WR_SEND_WITH_INV, 2, NULL, 0, rkey), 0);
		expect_wc(s.p.b.recv_cq, IBV_WC_SUCCESS, &wc);
		CHECK(wc.wc_flags & IBV_WC_WITH_INV);
		CHECK_EQ(wc.invalidated_rkey, rkey);
		expect_wc(s.p.a.send_cq, IBV_WC_SUCCESS, &wc);
		/* The owner need not notice this: its own invalidation has the same effect. */
		CHECK_EQ(post_inv(&s.p.b, IBV_WR_LOCAL_INV, 6, NULL, 0, rkey), 0);
		expect_wc(s.p.b.send_cq, IBV_WC_SUCCESS, &wc);
	}
	access_fails(&s.p, IBV_WR_RDMA_READ, (uintptr_t)s.p.b.buf, rkey, 1);
	shop_close(&s);
}

/*
 * Windows that a peer cannot invalidate: a window of type 1, of another stream, or an unbound
 * window.
 */
static void test_remote_invalidate_refused(void)
{
	ROWS("5042-6.1.1-04 5042-6.4.5-01");
	enum { TYPE_1, OF_ANOTHER, NOT_BOUND, WAYS };

	for (int way = 0; way < WAYS; way++) {
		struct shop s, other;
		struct pair *p = &other.p;
		struct ibv_wc wc;

		shop_open(&s, way == TYPE_1 ? IBV_MW_TYPE_1 : IBV_MW_TYPE_2);
		shop_open_shared(&other, IBV_MW_TYPE_1, &s.p);
		memset(s.p.b.buf, 0x5a, 4096);
		if (way != NOT_BOUND)
			bind_window(&s, 0, 4096, READ);
		CHECK_EQ(post_recv(&p->b, 1, NULL, 0), 0);
		CHECK_EQ(post_inv(&p->a, IBV_WR_SEND_WITH_INV, 2, NULL, 0, s.mw->rkey), 0);
		expect_wc(p->a.send_cq, IBV_WC_REM_INV_REQ_ERR, &wc);
		expect_wc(p->b.recv_cq, IBV_WC_WR_FLUSH_ERR, &wc);
		expect_broken(p);
		if (way != NOT_BOUND) /* the owner's peer still has access */
			read_works(&s.p, s.p.b.buf, (uintptr_t)s.p.b.buf, s.mw->rkey, 4096);
		shop_close(&other);
		shop_close(&s);
	}
}

/*
 * Two connections in one PD. A window of type 1 is for the peers of both. A window of type 2 is for
 * the peer of the QP on which it was bound.
 */
static void test_streams_of_one_domain(void)
{
	ROWS("5041-7.2-05 5041-8.2-03 5041-8.2-06 5041-8.3-04 5041-8.3.1-03 5042-2.2.5-01 5042-6.1.1-04");
	for (int write = 0; write < 2; write++) {
		for (enum ibv_mw_type type = IBV_MW_TYPE_1; type <= IBV_MW_TYPE_2; type++) {
			struct shop s, other;
			uint64_t at;

			shop_open(&s, type);
			shop_open_shared(&other, type, &s.p);
			at = (uintptr_t)s.p.b.buf;
			fill(s.p.b.buf, 4096, 3);
			bind_window(&s, 0, 4096, READ | WRITE);
			read_works(&s.p, s.p.b.buf, at, s.mw->rkey, 4096);
			if (type == IBV_MW_TYPE_1)
				read_works(&other.p, s.p.b.buf, at, s.mw->rkey, 4096);
			else
				access_fails(&other.p, write ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ,
					     at, s.mw->rkey, 4096);
			CHECK(filled(s.p.b.buf, 4096, 3));
			read_works(&s.p, s.p.b.buf, at, s.mw->rkey, 4096);
			shop_close(&other);
			shop_close(&s);
		}
	}
}

/* A window of type 2 ends with the session of its QP. Then another QP can bind it. */
static void test_end_of_the_stream(void)
{
	struct shop s, other;
	struct ibv_wc wc;
	uint32_t rkey;

	for (int destroy = 0; destroy < 2; destroy++) {
		shop_open(&s, IBV_MW_TYPE_2);
		shop_open_shared(&other, IBV_MW_TYPE_2, &s.p);
		bind_window(&s, 0, 4096, READ);
		rkey = s.mw->rkey;
		CHECK_EQ(ibv_dereg_mr(s.mr), EBUSY);
		if (destroy) {
			rdma_destroy_qp(s.p.b.id);
			s.p.b.qp = NULL;
		} else {
			CHECK_EQ(rdma_disconnect(s.p.a.id), 0);
			expect_qp_state(s.p.b.qp, IBV_QPS_ERR);
		}
		CHECK_EQ(ibv_dereg_mr(s.mr), 0);
		s.mr = ibv_reg_mr(s.p.b.pd, s.p.b.buf, 100, LOCAL);
		CHECK(s.mr);
		rkey = ibv_inc_rkey(rkey);
		CHECK_EQ(post_bind(&other.p.b, 4, s.mw, rkey, other.mr, other.p.b.buf, 4096, READ),
			 0);
		read_works(&other.p, other.p.b.buf, (uintptr_t)other.p.b.buf, rkey, 4096);
		expect_wc(other.p.b.send_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(ibv_dealloc_mw(s.mw), 0);
		s.mw = NULL;
		shop_close(&other);
		shop_close(&s);
	}
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "attributes", test_attributes },
		{ "access", test_access },
		{ "zero_based", test_zero_based },
		{ "misuse", test_misuse },
		{ "revoked", test_revoked },
		{ "remote_invalidate", test_remote_invalidate },
		{ "remote_invalidate_refused", test_remote_invalidate_refused },
		{ "streams_of_one_domain", test_streams_of_one_domain },
		{ "end_of_the_stream", test_end_of_the_stream },
	};

	return RUN_TESTS(argc, argv, tests);
}
