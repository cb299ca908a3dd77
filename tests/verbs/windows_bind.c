/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Binds of memory windows: failures, the order among other work requests, and the end. */
#include "window.h"

/* Binds that fail with their completion: the connection ends, and nothing is bound. */
enum bad_bind {
	SAME_KEY,
	OTHER_INDEX,
	KEY_OF_MR,
	NO_LENGTH,
	NO_MR,
	BEFORE,
	TOO_LONG,
	BEHIND,
	TOO_LONG_BY_ONE,
	WRAPS,
	NOT_FROM_ZERO,
	NOT_ALLOWED,
	NOT_WRITABLE,
	MR_OF_OTHER_DOMAIN,
	WINDOW_OF_OTHER_DOMAIN,
	ZERO_BASED_MR,
	MR_INVALIDATED,
	BOUND_ALREADY,
	BAD_BINDS,
};

/*
 * Makes the bind invalid: changes *info, *mw, or both. Returns an MR to deregister, or NULL. pd:
 * another PD than the window's.
 */
static struct ibv_mr *break_bind(enum bad_bind way, struct shop *s, struct ibv_pd *pd,
				 struct ibv_mw_bind_info *info, struct ibv_mw **mw)
{
	struct ibv_mr *mr = NULL;
	struct ibv_wc wc;

	switch (way) {
	case BEFORE:
		info->addr--;
		break;
	case TOO_LONG:
		info->length = SIDE_BUF + 1;
		break;
	case BEHIND:
		info->addr += SIDE_BUF;
		break;
	case TOO_LONG_BY_ONE:
		info->addr++;
		info->length = SIDE_BUF;
		break;
	case WRAPS:
		info->addr++;
		info->length = UINT64_MAX;
		break;
	case NOT_FROM_ZERO:
		info->addr = 0;
		info->mw_access_flags |= IBV_ACCESS_ZERO_BASED;
		break;
	case NO_LENGTH:
		info->length = 0;
		break;
	case NO_MR:
		*info = (struct ibv_mw_bind_info){ .mw_access_flags = READ };
		break;
	case NOT_ALLOWED:
		mr = ibv_reg_mr(s->p.b.pd, s->p.b.buf, 4096, LOCAL | READ);
		break;
	case NOT_WRITABLE:
		mr = ibv_reg_mr(s->p.b.pd, s->p.b.buf, 4096, READ | IBV_ACCESS_MW_BIND);
		info->mw_access_flags = WRITE;
		break;
	case MR_OF_OTHER_DOMAIN:
		mr = ibv_reg_mr(pd, s->p.b.buf, 4096, LOCAL | IBV_ACCESS_MW_BIND);
		break;
	case ZERO_BASED_MR:
		mr = ibv_reg_mr(s->p.b.pd, s->p.b.buf, 4096,
				LOCAL | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED);
		info->addr = 0;
		break;
	case MR_INVALIDATED:
		CHECK_EQ(post_inv(&s->p.b, IBV_WR_LOCAL_INV, 6, NULL, 0, s->mr->rkey), 0);
		expect_wc(s->p.b.send_cq, IBV_WC_SUCCESS, &wc);
		break;
	case WINDOW_OF_OTHER_DOMAIN:
		*mw = ibv_alloc_mw(pd, IBV_MW_TYPE_2);
		CHECK(*mw);
		break;
	default:
		break;
	}
	return mr;
}

static void bad_bind(enum bad_bind way)
{
	struct ibv_mw_bind_info info = { .length = 10, .mw_access_flags = READ };
	struct ibv_mr *mr;
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
	mr = break_bind(way, &s, pd, &info, &mw);
	if (mr)
		info.mr = mr;
	key = way == SAME_KEY ? mw->rkey : ibv_inc_rkey(mw->rkey);
	if (way == OTHER_INDEX)
		key ^= 0x100;
	else if (way == KEY_OF_MR)
		key = ibv_inc_rkey(s.mr->rkey);
	CHECK_EQ(post_bind(&s.p.b, 9, mw, key, info.mr, (void *)(uintptr_t)info.addr, info.length,
			   info.mw_access_flags),
		 0);
	expect_wc(s.p.b.send_cq, IBV_WC_MW_BIND_ERR, &wc);
	CHECK_EQ(wc.wr_id, 9);
	expect_broken(&s.p);
	if (mr)
		CHECK_EQ(ibv_dereg_mr(mr), 0);
	if (mw != s.mw)
		CHECK_EQ(ibv_dealloc_mw(mw), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK_EQ(ibv_dereg_mr(s.mr), 0); /* no window is bound to the MR */
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

/* Binds that cannot even be posted. */
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
	REFUSED(bind_mw.bind_info.mw_access_flags, 1 << 10, EINVAL);
	REFUSED(bind_mw.bind_info.mr, null_mr, EOPNOTSUPP);
	REFUSED(bind_mw.bind_info.mr, dm_mr, EOPNOTSUPP);
#undef REFUSED
	CHECK_EQ(ibv_bind_mw(s.p.b.qp, s.mw, &bind), EINVAL); /* of type 2 */
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

	/* A window of type 1 cannot be invalidated. */
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

/* Misuse by the owner: a window as an lkey, LOCAL_INV on another QP, changes of its MR. */
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
					   s.p.a.mr->rkey, IBV_SEND_SIGNALED),
				 0);
			break;
		case INV_ELSEWHERE:
			side = &other.p.b;
			CHECK_EQ(post_inv(side, IBV_WR_LOCAL_INV, 1, NULL, 0, s.mw->rkey), 0);
			break;
		case INV_OF_MR:
			CHECK_EQ(post_inv(side, IBV_WR_LOCAL_INV, 1, NULL, 0, s.mr->rkey), 0);
			break;
		}
		expect_wc(side->send_cq,
			  way <= AS_SINK ? IBV_WC_LOC_PROT_ERR : IBV_WC_LOC_QP_OP_ERR, &wc);
		expect_broken(way == INV_ELSEWHERE ? &other.p : &s.p);
		if (way == INV_ELSEWHERE)
			read_works(&s.p, s.p.b.buf, (uintptr_t)s.p.b.buf, s.mw->rkey, 4096);
		shop_close(&other);
		shop_close(&s);
	}
}

/*
 * One chain of work requests: bind, notify the peer by a Send, Read, invalidate after the Read,
 * bind elsewhere, notify again. Each takes effect in its turn, and the completions come in that
 * order.
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
		wr[0].bind_mw.bind_info =
			(struct ibv_mw_bind_info){ s.mr, (uintptr_t)s.p.b.buf, 64, READ };
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
		CHECK_EQ(post_recv(&s.p.a, 1,
				   &(struct ibv_sge){ (uintptr_t)s.p.a.buf + 4096, 4,
						      s.p.a.mr->lkey },
				   1),
			 0);
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

/* The window is closed during traffic: after the completion, nothing is written. */
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

/* In the error state a bind is flushed, and has no effect. */
static void test_flushed(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_mr *mr;
	struct ibv_wc wc;
	struct shop s;

	shop_open(&s, IBV_MW_TYPE_2);
	CHECK_EQ(ibv_modify_qp(s.p.b.qp, &attr, IBV_QP_STATE), 0);
	CHECK_EQ(post_bind(&s.p.b, 5, s.mw, ibv_inc_rkey(s.mw->rkey), s.mr, s.p.b.buf, 10, READ),
		 0);
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
		{ "bad_binds", test_bad_binds },
		{ "bad_posts", test_bad_posts },
		{ "local_misuse", test_local_misuse },
		{ "order", test_order },
		{ "revoked_under_traffic", test_revoked_under_traffic },
		{ "flushed", test_flushed },
	};

	return RUN_TESTS(argc, argv, tests);
}
