/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory windows of both types: what they open, to whom, how long; and who must not. */
#include "fixture.h"

#define LOCAL IBV_ACCESS_LOCAL_WRITE
#define READ IBV_ACCESS_REMOTE_READ
#define WRITE IBV_ACCESS_REMOTE_WRITE

/* A connected pair; b has an MR over its buffer that windows may be bound to, and peers not use. */
struct shop {
	struct pair p;
	struct ibv_mr *mr;
	struct ibv_mw *mw;
};

static void shop_open_shared(struct shop *s, enum ibv_mw_type type, const struct pair *share)
{
	struct pair_options o = { .share = share };

	pair_open(&s->p, &o);
	s->mr = ibv_reg_mr(s->p.b.pd, s->p.b.buf, SIDE_BUF, LOCAL | IBV_ACCESS_MW_BIND);
	CHECK(s->mr);
	s->mw = ibv_alloc_mw(s->p.b.pd, type);
	CHECK(s->mw && s->mw->rkey && s->mw->type == type);
	CHECK(s->mw->pd == s->p.b.pd && s->mw->context == s->p.b.pd->context);
}

static void shop_open(struct shop *s, enum ibv_mw_type type)
{
	shop_open_shared(s, type, NULL);
}

static void shop_close(struct shop *s)
{
	if (s->mw)
		CHECK_EQ(ibv_dealloc_mw(s->mw), 0);
	CHECK_EQ(ibv_dereg_mr(s->mr), 0);
	pair_close(&s->p);
}

/* From offset on, in the address space of the MR, or of the window (IBV_ACCESS_ZERO_BASED). */
static void bind_window(struct shop *s, size_t offset, uint64_t length, unsigned int access)
{
	uint32_t rkey = ibv_inc_rkey(s->mw->rkey);
	struct ibv_wc wc;

	if (s->mw->type == IBV_MW_TYPE_1) {
		struct ibv_mw_bind bind = {
			.wr_id = 0xb1d,
			.send_flags = IBV_SEND_SIGNALED,
			.bind_info = { length ? s->mr : NULL,
				       length ? (uintptr_t)s->p.b.buf + offset : 0, length, access },
		};

		CHECK_EQ(ibv_bind_mw(s->p.b.qp, s->mw, &bind), 0);
		CHECK((s->mw->rkey ^ rkey) < 256 && s->mw->rkey != rkey - 1);
	} else {
		CHECK_EQ(post_bind(&s->p.b, 0xb1d, s->mw, rkey, s->mr, s->p.b.buf + offset, length,
				   access), 0);
		s->mw->rkey = rkey;
	}
	expect_wc(s->p.b.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, 0xb1d);
	CHECK_EQ(wc.opcode, IBV_WC_BIND_MW);
}

/* Refused at b, which changes nothing there, and costs the connection. */
static void access_fails(struct pair *p, enum ibv_wr_opcode opcode, uint64_t to, uint32_t rkey,
			 uint32_t len)
{
	static uint8_t before[SIDE_BUF];
	enum ibv_wc_status status;

	memcpy(before, p->b.buf, SIDE_BUF);
	memset(p->a.buf, 0xa5, len);
	status = access_remote(p, opcode, to, rkey, len);
	if (status != IBV_WC_SUCCESS || opcode == IBV_WR_RDMA_READ)
		CHECK_EQ(status, IBV_WC_REM_ACCESS_ERR);
	EXPECT_ASYNC(p->a.qp->context, { IBV_EVENT_QP_FATAL, p->a.qp },
		     { IBV_EVENT_QP_ACCESS_ERR, p->b.qp });
	expect_broken(p);
	CHECK(!memcmp(before, p->b.buf, SIDE_BUF));
	for (uint32_t i = 0; i < len; i++)
		CHECK(p->a.buf[i] == 0xa5);
}

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
			CHECK(mw[i]->rkey >> 8 != mw[k]->rkey >> 8 && mw[i]->handle != mw[k]->handle);
	}
	CHECK_EQ(ibv_dealloc_pd(pd), EBUSY);
	for (int i = 0; i < 2; i++)
		CHECK_EQ(ibv_dealloc_mw(mw[i]), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), EBUSY);
	CHECK_EQ(ibv_close_device(ctx), 0); /* takes the rest along */
}

/* Both types: reading and writing, a byte at either end, and that the MR itself stays closed. */
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

/* What a window does not give: beyond its ends, other rights, another key of its index. */
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

/* Before a bind, after an unbind, a rebind, an invalidation, and when the window is gone. */
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
		if (way != BOUND_ELSEWHERE) { /* nothing is bound any more */
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

/* The peer gives back a window of its stream by Send with Invalidate, and it can be bound anew. */
static void test_remote_invalidate(void)
{
	struct ibv_wc wc;
	struct shop s;
	uint32_t rkey;

	shop_open(&s, IBV_MW_TYPE_2);
	for (int round = 0; round < 300; round++) { /* once around all keys */
		bind_window(&s, 64 * round, 64, READ);
		rkey = s.mw->rkey;
		memset(s.p.b.buf + 64 * round, round + 1, 64);
		read_works(&s.p, s.p.b.buf + 64 * round, (uintptr_t)s.p.b.buf + 64 * round, rkey, 64);
		CHECK_EQ(post_recv(&s.p.b, 1, NULL, 0), 0);
		CHECK_EQ(post_inv(&s.p.a, IBV_WR_SEND_WITH_INV, 2, NULL, 0, rkey), 0);
		expect_wc(s.p.b.recv_cq, IBV_WC_SUCCESS, &wc);
		CHECK(wc.wc_flags & IBV_WC_WITH_INV);
		CHECK_EQ(wc.invalidated_rkey, rkey);
		expect_wc(s.p.a.send_cq, IBV_WC_SUCCESS, &wc);
		/* The owner need not know: its own invalidation comes to the same. */
		CHECK_EQ(post_inv(&s.p.b, IBV_WR_LOCAL_INV, 6, NULL, 0, rkey), 0);
		expect_wc(s.p.b.send_cq, IBV_WC_SUCCESS, &wc);
	}
	access_fails(&s.p, IBV_WR_RDMA_READ, (uintptr_t)s.p.b.buf, rkey, 1);
	shop_close(&s);
}

/* What a peer must not give back: type 1, a window of another stream, one that is not bound. */
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
		wait_wc(p->a.send_cq, &wc);
		CHECK(wc.status == IBV_WC_SUCCESS || wc.status == IBV_WC_REM_INV_REQ_ERR);
		expect_wc(p->b.recv_cq, IBV_WC_WR_FLUSH_ERR, &wc);
		expect_broken(p);
		if (way != NOT_BOUND) /* the owner's peer has lost nothing */
			read_works(&s.p, s.p.b.buf, (uintptr_t)s.p.b.buf, s.mw->rkey, 4096);
		shop_close(&other);
		shop_close(&s);
	}
}

/* Two connections in one PD: type 1 serves the peers of both, type 2 the one it was bound on. */
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
				access_fails(&other.p, write ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ, at,
					     s.mw->rkey, 4096);
			CHECK(filled(s.p.b.buf, 4096, 3));
			read_works(&s.p, s.p.b.buf, at, s.mw->rkey, 4096);
			shop_close(&other);
			shop_close(&s);
		}
	}
}

/* A type 2 window ends with the session that it was for; another QP may have it then. */
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
		CHECK_EQ(post_bind(&other.p.b, 4, s.mw, rkey, other.mr, other.p.b.buf, 4096, READ), 0);
		read_works(&other.p, other.p.b.buf, (uintptr_t)other.p.b.buf, rkey, 4096);
		expect_wc(other.p.b.send_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(ibv_dealloc_mw(s.mw), 0);
		s.mw = NULL;
		shop_close(&other);
		shop_close(&s);
	}
}

/* Binds that fail in their completion: the connection is over, and nothing is bound. */
enum bad_bind {
	SAME_KEY, OTHER_INDEX, KEY_OF_MR, NO_LENGTH, NO_MR, BEFORE, TOO_LONG, BEHIND, TOO_LONG_BY_ONE,
	WRAPS, NOT_FROM_ZERO, NOT_ALLOWED, NOT_WRITABLE, MR_OF_OTHER_DOMAIN, WINDOW_OF_OTHER_DOMAIN,
	ZERO_BASED_MR, MR_INVALIDATED, BOUND_ALREADY, BAD_BINDS,
};

static void bad_bind(enum bad_bind way)
{
	struct ibv_mw_bind_info info = { .length = 10, .mw_access_flags = READ };
	struct ibv_mr *mr = NULL;
	struct ibv_mw *mw;
	struct ibv_pd *pd;
	struct ibv_wc wc;
	struct shop s;
	uint32_t key;

	shop_open(&s, IBV_MW_TYPE_2);
	pd = ibv_alloc_pd(s.p.b.pd->context);
	CHECK(pd);
	mw = s.mw;
	info.mr = s.mr;
	info.addr = (uintptr_t)s.p.b.buf;
	if (way == BOUND_ALREADY)
		bind_window(&s, 0, 10, READ);
	switch (way) {
	case BEFORE:
		info.addr--;
		break;
	case TOO_LONG:
		info.length = SIDE_BUF + 1;
		break;
	case BEHIND:
		info.addr += SIDE_BUF;
		break;
	case TOO_LONG_BY_ONE:
		info.addr++;
		info.length = SIDE_BUF;
		break;
	case WRAPS:
		info.addr++;
		info.length = UINT64_MAX;
		break;
	case NOT_FROM_ZERO:
		info.addr = 0;
		info.mw_access_flags |= IBV_ACCESS_ZERO_BASED;
		break;
	case NO_LENGTH:
		info.length = 0;
		break;
	case NO_MR:
		info = (struct ibv_mw_bind_info){ .mw_access_flags = READ };
		break;
	case NOT_ALLOWED:
		mr = ibv_reg_mr(s.p.b.pd, s.p.b.buf, 4096, LOCAL | READ);
		break;
	case NOT_WRITABLE:
		mr = ibv_reg_mr(s.p.b.pd, s.p.b.buf, 4096, READ | IBV_ACCESS_MW_BIND);
		info.mw_access_flags = WRITE;
		break;
	case MR_OF_OTHER_DOMAIN:
		mr = ibv_reg_mr(pd, s.p.b.buf, 4096, LOCAL | IBV_ACCESS_MW_BIND);
		break;
	case ZERO_BASED_MR:
		mr = ibv_reg_mr(s.p.b.pd, s.p.b.buf, 4096,
				LOCAL | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED);
		info.addr = 0;
		break;
	case MR_INVALIDATED:
		CHECK_EQ(post_inv(&s.p.b, IBV_WR_LOCAL_INV, 6, NULL, 0, s.mr->rkey), 0);
		expect_wc(s.p.b.send_cq, IBV_WC_SUCCESS, &wc);
		break;
	case WINDOW_OF_OTHER_DOMAIN:
		mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
		CHECK(mw);
		break;
	default:
		break;
	}
	if (mr)
		info.mr = mr;
	key = way == SAME_KEY ? mw->rkey : ibv_inc_rkey(mw->rkey);
	if (way == OTHER_INDEX)
		key ^= 0x100;
	else if (way == KEY_OF_MR)
		key = ibv_inc_rkey(s.mr->rkey);
	CHECK_EQ(post_bind(&s.p.b, 9, mw, key, info.mr, (void *)(uintptr_t)info.addr, info.length,
			   info.mw_access_flags), 0);
	expect_wc(s.p.b.send_cq, IBV_WC_MW_BIND_ERR, &wc);
	CHECK_EQ(wc.wr_id, 9);
	expect_broken(&s.p);
	if (mr)
		CHECK_EQ(ibv_dereg_mr(mr), 0);
	if (mw != s.mw)
		CHECK_EQ(ibv_dealloc_mw(mw), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK_EQ(ibv_dereg_mr(s.mr), 0); /* no window is left on it */
	s.mr = ibv_reg_mr(s.p.b.pd, s.p.b.buf, 100, LOCAL);
	CHECK(s.mr);
	shop_close(&s);
}

static void test_bad_binds(void)
{
	ROWS("5041-8.3-06 5042-6.1.1-01");
	for (enum bad_bind way = 0; way < BAD_BINDS; way++) {
		printf("  %d\n", way);
		bad_bind(way);
	}
}

/* What is not even posted. */
static void test_bad_posts(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr = { .opcode = IBV_WR_BIND_MW, .sg_list = &sge }, *bad;
	struct ibv_mw_bind bind = { .send_flags = IBV_SEND_SIGNALED };
	struct ibv_mr *null_mr, *dm_mr, *foreign;
	struct ibv_alloc_dm_attr dm_attr = { .length = 4096 };
	struct ibv_pd *pd;
	struct ibv_dm *dm;
	struct ibv_wc wc;
	struct shop s;
	uint32_t rkey;

	shop_open(&s, IBV_MW_TYPE_2);
	pd = ibv_alloc_pd(s.p.b.pd->context);
	null_mr = ibv_alloc_null_mr(s.p.b.pd);
	dm = ibv_alloc_dm(s.p.b.pd->context, &dm_attr);
	CHECK(pd && null_mr && dm);
	dm_mr = ibv_reg_dm_mr(s.p.b.pd, dm, 0, 4096, LOCAL | IBV_ACCESS_ZERO_BASED);
	foreign = ibv_reg_mr(pd, s.p.b.buf, 10, LOCAL | IBV_ACCESS_MW_BIND);
	CHECK(dm_mr && foreign);
	sge = sge_of(s.p.b.mr, s.p.b.buf, 4);
	wr.bind_mw.mw = s.mw;
	wr.bind_mw.rkey = ibv_inc_rkey(s.mw->rkey);
	wr.bind_mw.bind_info = (struct ibv_mw_bind_info){ s.mr, (uintptr_t)s.p.b.buf, 10, READ };
#define REFUSED(field, value, error)                                                               \
	do {                                                                                       \
		struct ibv_send_wr good = wr;                                                      \
		wr.field = value;                                                                  \
		CHECK_EQ(ibv_post_send(s.p.b.qp, &wr, &bad), error);                               \
		CHECK(bad == &wr);                                                                 \
		wr = good;                                                                         \
	} while (0)
	REFUSED(bind_mw.mw, NULL, EINVAL);
	REFUSED(num_sge, 1, EINVAL);
	REFUSED(send_flags, IBV_SEND_INLINE, EINVAL);
	REFUSED(bind_mw.bind_info.mr, NULL, EINVAL);
	REFUSED(bind_mw.bind_info.mw_access_flags, LOCAL, EINVAL);
	REFUSED(bind_mw.bind_info.mw_access_flags, IBV_ACCESS_MW_BIND, EINVAL);
	REFUSED(bind_mw.bind_info.mr, null_mr, EOPNOTSUPP);
	REFUSED(bind_mw.bind_info.mr, dm_mr, EOPNOTSUPP);
#undef REFUSED
	CHECK_EQ(ibv_bind_mw(s.p.b.qp, s.mw, &bind), EINVAL); /* type 2 */
	CHECK_EQ(ibv_dealloc_mw(s.mw), 0);
	s.mw = ibv_alloc_mw(s.p.b.pd, IBV_MW_TYPE_1);
	CHECK(s.mw);
	rkey = s.mw->rkey;
	bind.bind_info = (struct ibv_mw_bind_info){ foreign, (uintptr_t)s.p.b.buf, 10, READ };
	CHECK_EQ(ibv_bind_mw(s.p.b.qp, s.mw, &bind), EPERM);
	bind.bind_info.mr = s.mr;
	bind.send_flags = 1 << 20;
	CHECK_EQ(ibv_bind_mw(s.p.b.qp, s.mw, &bind), EINVAL);
	CHECK_EQ(s.mw->rkey, rkey);
	expect_no_wc(s.p.b.send_cq, 20);

	/* Type 1 is not for invalidation. */
	bind_window(&s, 0, 100, READ);
	CHECK_EQ(post_inv(&s.p.b, IBV_WR_LOCAL_INV, 6, NULL, 0, s.mw->rkey), 0);
	expect_wc(s.p.b.send_cq, IBV_WC_LOC_QP_OP_ERR, &wc);
	expect_broken(&s.p);
	CHECK_EQ(ibv_dereg_mr(foreign), 0);
	CHECK_EQ(ibv_dereg_mr(null_mr), 0);
	CHECK_EQ(ibv_dereg_mr(dm_mr), 0);
	CHECK_EQ(ibv_free_dm(dm), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	shop_close(&s);
}

/* Local misuse of a window: as an lkey, by LOCAL_INV on another QP, of its MR below it. */
static void test_local_misuse(void)
{
	enum { AS_SOURCE, AS_SINK, INV_ELSEWHERE, INV_OF_MR, WAYS };

	for (int way = 0; way < WAYS; way++) {
		struct shop s, other;
		struct side *side = &s.p.b;
		struct ibv_sge sge;
		struct ibv_wc wc;

		shop_open(&s, IBV_MW_TYPE_2);
		shop_open_shared(&other, IBV_MW_TYPE_2, &s.p);
		bind_window(&s, 0, 4096, READ | WRITE);
		sge = (struct ibv_sge){ (uintptr_t)s.p.b.buf, 10, s.mw->rkey };
		switch (way) {
		case AS_SOURCE:
			CHECK_EQ(post_send(side, 1, &sge, 1, IBV_SEND_SIGNALED), 0);
			break;
		case AS_SINK:
			CHECK_EQ(post_rdma(side, IBV_WR_RDMA_READ, 1, &sge, 1, (uintptr_t)s.p.a.buf,
					   s.p.a.mr->rkey, IBV_SEND_SIGNALED), 0);
			break;
		case INV_ELSEWHERE:
			side = &other.p.b;
			CHECK_EQ(post_inv(side, IBV_WR_LOCAL_INV, 1, NULL, 0, s.mw->rkey), 0);
			break;
		case INV_OF_MR:
			CHECK_EQ(post_inv(side, IBV_WR_LOCAL_INV, 1, NULL, 0, s.mr->rkey), 0);
			break;
		}
		expect_wc(side->send_cq, way <= AS_SINK ? IBV_WC_LOC_PROT_ERR : IBV_WC_LOC_QP_OP_ERR,
			  &wc);
		expect_broken(way == INV_ELSEWHERE ? &other.p : &s.p);
		if (way == INV_ELSEWHERE)
			read_works(&s.p, s.p.b.buf, (uintptr_t)s.p.b.buf, s.mw->rkey, 4096);
		shop_close(&other);
		shop_close(&s);
	}
}

/*
 * One chain: bind, tell the peer by a Send, read, invalidate behind the read, bind elsewhere, tell
 * again. Each takes effect in its turn, and completions are in that order.
 */
static void test_order(void)
{
	struct ibv_send_wr wr[5], *bad;
	struct ibv_sge sge[2];
	struct ibv_wc wc;
	struct shop s;
	uint32_t key;

	shop_open(&s, IBV_MW_TYPE_2);
	fill(s.p.a.buf + 100000, 50000, 4);
	for (int round = 0; round < 30; round++) {
		static const enum ibv_wc_opcode opcodes[] = { IBV_WC_BIND_MW, IBV_WC_RDMA_READ,
							      IBV_WC_LOCAL_INV, IBV_WC_BIND_MW,
							      IBV_WC_SEND };

		memset(wr, 0, sizeof(wr));
		for (int i = 0; i < 5; i++) {
			wr[i].wr_id = i;
			wr[i].next = i < 4 ? &wr[i + 1] : NULL;
			wr[i].send_flags = IBV_SEND_SIGNALED;
		}
		key = ibv_inc_rkey(s.mw->rkey);
		wr[0].opcode = IBV_WR_BIND_MW;
		wr[0].bind_mw.mw = s.mw;
		wr[0].bind_mw.rkey = key;
		wr[0].bind_mw.bind_info = (struct ibv_mw_bind_info){ s.mr, (uintptr_t)s.p.b.buf, 64,
								     READ };
		sge[0] = sge_of(s.p.b.mr, s.p.b.buf + 200000, 50000);
		wr[1].opcode = IBV_WR_RDMA_READ;
		wr[1].sg_list = &sge[0];
		wr[1].num_sge = 1;
		wr[1].wr.rdma.remote_addr = (uintptr_t)s.p.a.buf + 100000;
		wr[1].wr.rdma.rkey = s.p.a.mr->rkey;
		wr[2].opcode = IBV_WR_LOCAL_INV;
		wr[2].invalidate_rkey = key;
		wr[3] = wr[0];
		wr[3].wr_id = 3;
		wr[3].next = &wr[4];
		wr[3].bind_mw.rkey = s.mw->rkey = ibv_inc_rkey(key);
		wr[3].bind_mw.bind_info.addr += 64;
		wr[4].opcode = IBV_WR_SEND;
		sge[1] = sge_of(s.p.b.mr, s.p.b.buf + 300000, 4);
		memcpy(s.p.b.buf + 300000, &s.mw->rkey, 4);
		wr[4].sg_list = &sge[1];
		wr[4].num_sge = 1;
		sge[1].length = 4;
		s.p.b.buf[64] = (uint8_t)round;
		CHECK_EQ(post_recv(&s.p.a, 1, &(struct ibv_sge){ (uintptr_t)s.p.a.buf + 4096, 4,
								 s.p.a.mr->lkey }, 1), 0);
		CHECK_EQ(ibv_post_send(s.p.b.qp, wr, &bad), 0);
		expect_wc(s.p.a.recv_cq, IBV_WC_SUCCESS, &wc);
		memcpy(&key, s.p.a.buf + 4096, 4);
		read_works(&s.p, s.p.b.buf + 64, (uintptr_t)s.p.b.buf + 64, key, 64);
		for (int i = 0; i < 5; i++) {
			expect_wc(s.p.b.send_cq, IBV_WC_SUCCESS, &wc);
			CHECK_EQ(wc.wr_id, i);
			CHECK_EQ(wc.opcode, opcodes[i]);
		}
		CHECK(filled(s.p.b.buf + 200000, 50000, 4));
		memset(s.p.b.buf + 200000, 0, 50000);
		CHECK_EQ(post_inv(&s.p.b, IBV_WR_LOCAL_INV, 6, NULL, 0, key), 0);
		expect_wc(s.p.b.send_cq, IBV_WC_SUCCESS, &wc);
	}
	shop_close(&s);
}

/*
 * The window is closed in the midst of traffic: once that is complete, nothing is written any more.
 */
static void test_revoked_under_traffic(void)
{
	ROWS("5041-8.3.1-07 5042-6.2.2-01");
	enum { FREED, INVALIDATED, UNBOUND, REBOUND, WAYS };
	const uint32_t len = 30000;

	for (int way = FREED; way < WAYS; way++) {
		struct stream stream;
		struct ibv_wc wc;
		struct shop s;

		shop_open(&s, way == INVALIDATED ? IBV_MW_TYPE_2 : IBV_MW_TYPE_1);
		memset(s.p.a.buf, 0x11, len);
		bind_window(&s, 0, len, WRITE);
		stream_start(&stream, &s.p, (uintptr_t)s.p.b.buf, s.mw->rkey, len, 20 + 20 * way);
		switch (way) {
		case FREED:
			CHECK_EQ(ibv_dealloc_mw(s.mw), 0);
			s.mw = NULL;
			break;
		case INVALIDATED:
			CHECK_EQ(post_inv(&s.p.b, IBV_WR_LOCAL_INV, 6, NULL, 0, s.mw->rkey), 0);
			expect_wc(s.p.b.send_cq, IBV_WC_SUCCESS, &wc);
			break;
		case UNBOUND:
			bind_window(&s, 0, 0, 0);
			break;
		case REBOUND:
			bind_window(&s, 0, len, WRITE);
			break;
		}
		memset(s.p.b.buf, 0xcc, len);
		stream_join(&stream);
		expect_broken(&s.p);
		for (uint32_t i = 0; i < len; i++)
			CHECK(s.p.b.buf[i] == 0xcc);
		shop_close(&s);
	}
}

/* In the error state a bind is flushed, and does not happen. */
static void test_flushed(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_mr *mr;
	struct ibv_wc wc;
	struct shop s;

	shop_open(&s, IBV_MW_TYPE_2);
	CHECK_EQ(ibv_modify_qp(s.p.b.qp, &attr, IBV_QP_STATE), 0);
	CHECK_EQ(post_bind(&s.p.b, 5, s.mw, ibv_inc_rkey(s.mw->rkey), s.mr, s.p.b.buf, 10, READ), 0);
	expect_wc(s.p.b.send_cq, IBV_WC_WR_FLUSH_ERR, &wc);
	CHECK_EQ(wc.wr_id, 5);
	mr = s.mr;
	s.mr = ibv_reg_mr(s.p.b.pd, s.p.b.buf, 10, 0);
	CHECK(s.mr);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	shop_close(&s);
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
		{ "bad_binds", test_bad_binds },
		{ "bad_posts", test_bad_posts },
		{ "local_misuse", test_local_misuse },
		{ "order", test_order },
		{ "revoked_under_traffic", test_revoked_under_traffic },
		{ "flushed", test_flushed },
	};

	return RUN_TESTS(argc, argv, tests);
}
