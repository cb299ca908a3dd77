/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Access flags. Flags that the drivers of other devices accept are accepted everywhere, for MRs,
 * windows and QPs, and change no access right. Unknown flags are refused.
 */
#include "out_of_band.h"
#include "window.h"

/* Only newer headers than Debian 12's have these names. */
#define FLUSH_GLOBAL (1 << 8)
#define FLUSH_PERSISTENT (1 << 9)
#define ATOMIC IBV_ACCESS_REMOTE_ATOMIC
#define ZERO_BASED IBV_ACCESS_ZERO_BASED

/* Flags that are no access rights, for all three objects. */
static const int wishes[] = {
	ODP,
	IBV_ACCESS_HUGETLB,
	IBV_ACCESS_RELAXED_ORDERING,
	IBV_ACCESS_OPTIONAL_FIRST << 9, /* the last of the optional range */
	FLUSH_GLOBAL,
	FLUSH_PERSISTENT,
	FLUSH_GLOBAL | FLUSH_PERSISTENT,
	ODP | IBV_ACCESS_HUGETLB | FLUSH_GLOBAL | FLUSH_PERSISTENT | IBV_ACCESS_RELAXED_ORDERING,
};
#define WISHES (sizeof(wishes) / sizeof(wishes[0]))

/* Bits without a meaning. */
static const unsigned int unknown[] = { 1u << 10, 1u << 15, 1u << 19, 1u << 30, 1u << 31 };
#define UNKNOWN (sizeof(unknown) / sizeof(unknown[0]))

/*
 * A flag that is no right has no effect, also if it is set later. It makes no refused access valid.
 */
static void test_regions(void)
{
	struct ibv_mr *mr;
	struct pair p;

	pair_open(&p, NULL);
	for (size_t i = 0; i < WISHES; i++) {
		mr = ibv_reg_mr(p.b.pd, p.b.buf, 4096, LOCAL | READ | WRITE | wishes[i]);
		CHECK(mr);
		write_works(&p, p.b.buf, address(p.b.buf), mr->rkey, 4096);
		read_works(&p, p.b.buf, address(p.b.buf), mr->rkey, 4096);
		CHECK_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0, wishes[i]), 0);
		CHECK_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
				      READ | wishes[i]),
			 0);
		read_works(&p, p.b.buf, address(p.b.buf), mr->rkey, 4096);
		CHECK_EQ(ibv_dereg_mr(mr), 0);
		CHECK_FAILS(ibv_reg_mr(p.b.pd, p.b.buf, 4096, WRITE | wishes[i]), EINVAL);
		CHECK_FAILS(ibv_reg_mr(p.b.pd, p.b.buf, 4096, ATOMIC | wishes[i]), EINVAL);
	}
	for (size_t i = 0; i < UNKNOWN; i++)
		CHECK_FAILS(ibv_reg_mr(p.b.pd, p.b.buf, 4096, (int)(LOCAL | unknown[i])), EINVAL);
	pair_close(&p);
}

/* The right to flush does not permit a peer to read or write. */
static void test_no_right(void)
{
	for (int write = 0; write < 2; write++) {
		struct ibv_mr *mr;
		struct pair p;

		pair_open(&p, NULL);
		mr = ibv_reg_mr(p.b.pd, p.b.buf, 4096,
				LOCAL | FLUSH_GLOBAL | FLUSH_PERSISTENT |
					IBV_ACCESS_RELAXED_ORDERING);
		CHECK(mr);
		if (write)
			write_fails(&p, address(p.b.buf), mr->rkey, 1);
		else
			read_fails(&p, address(p.b.buf), mr->rkey, 1);
		CHECK_EQ(ibv_dereg_mr(mr), 0);
		pair_close(&p);
	}
}

static int set_rights(struct ibv_qp *qp, unsigned int rights)
{
	struct ibv_qp_attr attr = { .qp_access_flags = rights };

	return ibv_modify_qp(qp, &attr, IBV_QP_ACCESS_FLAGS);
}

static void expect_rights(struct ibv_qp *qp, unsigned int rights)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	CHECK_EQ(ibv_query_qp(qp, &attr, IBV_QP_ACCESS_FLAGS, &init), 0);
	CHECK_EQ(attr.qp_access_flags, rights);
}

/*
 * A QP accepts these flags in each state, and returns them in queries. Its access rights are
 * unchanged.
 */
static void test_qps(void)
{
	const unsigned int others = LOCAL | IBV_ACCESS_MW_BIND | ZERO_BASED;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	struct side s;
	struct pair p;

	oob_open();
	open_side(&s);
	for (size_t i = 0; i < WISHES; i++) {
		attr.qp_access_flags = others | (unsigned int)wishes[i];
		CHECK_EQ(ibv_modify_qp(s.qp, &attr, INIT_MASK), 0);
		expect_rights(s.qp, attr.qp_access_flags);
		CHECK_EQ(to_state(&s, IBV_QPS_RESET), 0);
	}
	attr.qp_access_flags = unknown[0];
	CHECK_EQ(ibv_modify_qp(s.qp, &attr, INIT_MASK), EINVAL);
	close_side(&s);
	CHECK_EQ(ibv_close_device(ctx), 0);

	pair_open(&p, NULL);
	for (size_t i = 0; i < WISHES; i++) {
		unsigned int rights = READ | WRITE | others | (unsigned int)wishes[i];

		CHECK_EQ(set_rights(p.b.qp, rights), 0);
		expect_rights(p.b.qp, rights);
		write_works(&p, p.b.buf, address(p.b.buf), p.b.mr->rkey, 100);
		read_works(&p, p.b.buf, address(p.b.buf), p.b.mr->rkey, 100);
	}
	for (size_t i = 0; i < UNKNOWN; i++)
		CHECK_EQ(set_rights(p.b.qp, READ | unknown[i]), EINVAL);
	CHECK_EQ(set_rights(p.b.qp, READ | (unsigned int)wishes[WISHES - 1]), 0);
	read_works(&p, p.b.buf, address(p.b.buf), p.b.mr->rkey, 100);
	write_fails(&p, address(p.b.buf), p.b.mr->rkey, 1);
	pair_close(&p);
}

/*
 * A window can have any right of its region. LOCAL_WRITE does not concern peers: it is no right of
 * a window, and the region does not need it.
 */
static void test_windows(void)
{
	for (enum ibv_mw_type type = IBV_MW_TYPE_1; type <= IBV_MW_TYPE_2; type++) {
		struct ibv_mr *mr;
		struct ibv_mw *mw;
		struct ibv_wc wc;
		struct shop s;

		shop_open(&s, type);
		for (size_t i = 0; i < WISHES; i++) {
			unsigned int access = LOCAL | IBV_ACCESS_MW_BIND | READ | WRITE |
					      (unsigned int)wishes[i];

			bind_window(&s, 0, 4096, access);
			write_works(&s.p, s.p.b.buf, address(s.p.b.buf), s.mw->rkey, 4096);
			read_works(&s.p, s.p.b.buf, address(s.p.b.buf), s.mw->rkey, 4096);
			if (type == IBV_MW_TYPE_1)
				continue;
			CHECK_EQ(post_inv(&s.p.b, IBV_WR_LOCAL_INV, 6, NULL, 0, s.mw->rkey), 0);
			expect_wc(s.p.b.send_cq, IBV_WC_SUCCESS, &wc);
		}
		mr = s.mr;
		mw = s.mw;
		s.mr = ibv_reg_mr(s.p.b.pd, s.p.b.buf, 4096, READ | IBV_ACCESS_MW_BIND);
		s.mw = ibv_alloc_mw(s.p.b.pd, type);
		CHECK(s.mr && s.mw);
		bind_window(&s, 0, 4096, LOCAL | READ);
		read_works(&s.p, s.p.b.buf, address(s.p.b.buf), s.mw->rkey, 4096);
		write_fails(&s.p, address(s.p.b.buf), s.mw->rkey, 1);
		CHECK_EQ(ibv_dealloc_mw(mw), 0);
		CHECK_EQ(ibv_dereg_mr(mr), 0);
		shop_close(&s);
	}
}

static void test_bad_windows(void)
{
	struct ibv_mw_bind bind = { .bind_info.length = 10 };
	struct shop s;

	shop_open(&s, IBV_MW_TYPE_2);
	for (size_t i = 0; i < UNKNOWN; i++)
		CHECK_EQ(post_bind(&s.p.b, 1, s.mw, ibv_inc_rkey(s.mw->rkey), s.mr, s.p.b.buf, 10,
				   READ | unknown[i]),
			 EINVAL);
	shop_close(&s);
	shop_open(&s, IBV_MW_TYPE_1);
	bind.bind_info.mr = s.mr;
	bind.bind_info.addr = address(s.p.b.buf);
	bind.bind_info.mw_access_flags = READ | ZERO_BASED;
	CHECK_EQ(ibv_bind_mw(s.p.b.qp, s.mw, &bind), EINVAL);
	bind.bind_info.mw_access_flags = READ | unknown[0];
	CHECK_EQ(ibv_bind_mw(s.p.b.qp, s.mw, &bind), EINVAL);
	shop_close(&s);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "regions", test_regions },
		{ "no_right", test_no_right },
		{ "qps", test_qps },
		{ "windows", test_windows },
		{ "bad_windows", test_bad_windows },
	};

	return RUN_TESTS(argc, argv, tests);
}
