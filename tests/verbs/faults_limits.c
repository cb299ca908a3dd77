/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Lowered limits (docs/faults.md) without a test in faults_verbs.c, in a separate process as there.
 */
#include "child.h"
#include "faults_steps.h"
#include "out_of_band.h"

/* Limits of windows, handles, SRQs, and of Reads at once. */
static void test_others(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 5, .max_sge = 2 } };
	struct ibv_qp_attr rtr, rts = { .qp_state = IBV_QPS_RTS, .max_rd_atomic = 3 };
	struct ibv_device_attr device;
	struct ibv_ah_attr ah_attr;
	struct ibv_srq *srq;
	struct ibv_mw *mw;
	struct ibv_ah *ah;
	struct where to;
	struct side s;

	rules("device: limit max_mw to 1; device: limit max_ah to 1; device: limit max_srq to 1;"
	      "device: limit max_srq_wr to 4; device: limit max_srq_sge to 1; device: limit max_qp_rd_atom to 2;"
	      "device: limit max_qp_init_rd_atom to 2");
	oob_open();
	CHECK_EQ(ibv_query_device(ctx, &device), 0);
	CHECK_EQ(device.max_mw, 1);
	CHECK_EQ(device.max_ah, 1);
	CHECK_EQ(device.max_srq_wr, 4);
	CHECK_EQ(device.max_srq_sge, 1);
	CHECK_EQ(device.max_qp_rd_atom, 2);
	CHECK_EQ(device.max_qp_init_rd_atom, 2);
	open_side(&s);
	to = where_is(&s);
	mw = ibv_alloc_mw(s.pd, IBV_MW_TYPE_1);
	CHECK(mw);
	CHECK_FAILS(ibv_alloc_mw(s.pd, IBV_MW_TYPE_1), ENOMEM);
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
	CHECK_FAILS(ibv_create_srq(s.pd, &attr), EINVAL);
	attr.attr.max_wr = 4;
	CHECK_FAILS(ibv_create_srq(s.pd, &attr), EINVAL);
	attr.attr.max_sge = 1;
	srq = ibv_create_srq(s.pd, &attr);
	CHECK(srq);
	CHECK_FAILS(ibv_create_srq(s.pd, &attr), ENOMEM);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	CHECK_EQ(to_init(&s), 0);
	rtr = rtr_attr(&to);
	ah_attr = rtr.ah_attr;
	for (int i = 0; i < 2; i++) {
		ah = ibv_create_ah(s.pd, &ah_attr);
		CHECK(ah);
		CHECK_FAILS(ibv_create_ah(s.pd, &ah_attr), ENOMEM);
		CHECK_EQ(ibv_destroy_ah(ah), 0);
	}
	rtr.max_dest_rd_atomic = 3;
	CHECK_EQ(ibv_modify_qp(s.qp, &rtr, RTR_MASK), EINVAL);
	rtr.max_dest_rd_atomic = 2;
	CHECK_EQ(ibv_modify_qp(s.qp, &rtr, RTR_MASK), 0);
	CHECK_EQ(ibv_modify_qp(s.qp, &rts, RTS_MASK), EINVAL);
	rts.max_rd_atomic = 2;
	CHECK_EQ(ibv_modify_qp(s.qp, &rts, RTS_MASK), 0);
	close_side(&s);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "others", test_others },
	};

	return run_tests_apart(argc, argv, tests, sizeof(tests) / sizeof(tests[0]));
}
