/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: verbs */
/* The attributes that modify_qp accepts in each state. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "conn/cm.h"
#include "iwarp/iw_types.h"
#include "verbs/qp_attr.h"

#define CM (IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PORT)
#define IB_INIT (CM | IBV_QP_PKEY_INDEX)
#define IB_RTR                                                                                     \
	(IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |            \
	 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)

#define IB_RTS                                                                                     \
	(IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |     \
	 IBV_QP_MAX_QP_RD_ATOMIC)

static int check(enum ibv_qp_state cur, enum ibv_qp_state next, int mask)
{
	struct ibv_qp_attr attr = { .qp_state = next, .cur_qp_state = cur, .port_num = 1 };

	return sctpiw_check_qp_attr(IBV_QPT_RC, cur, true, CONFIG_IWARP, &attr, mask);
}

/* Checks a mask, with valid values. */
static int check_hand(enum ibv_qp_state cur, enum ibv_qp_state next, int mask)
{
	struct ibv_qp_attr attr = {
		.qp_state = next,
		.cur_qp_state = cur,
		.port_num = 1,
		.path_mtu = IBV_MTU_1024,
		.path_mig_state = IBV_MIG_MIGRATED,
		.ah_attr = { .is_global = 1, .port_num = 1 },
		.alt_ah_attr = { .is_global = 1, .port_num = 1 },
		.alt_port_num = 1,
	};

	return sctpiw_check_qp_attr(IBV_QPT_RC, cur, false, CONFIG_IWARP, &attr, mask);
}

/* UD has InfiniBand's masks: a Q_Key from the start, and no peer. */
static void test_datagrams(void **state)
{
	const int init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };

	assert_int_equal(sctpiw_check_ud_attr(IBV_QPS_RESET, &attr, init), 0);
	for (int bit = 1; bit <= IBV_QP_RATE_LIMIT; bit *= 2) {
		if (bit != IBV_QP_STATE)
			assert_int_equal(sctpiw_check_ud_attr(IBV_QPS_RESET, &attr, init ^ bit),
					 EINVAL);
	}
	attr.qp_state = IBV_QPS_RTR;
	assert_int_equal(sctpiw_check_ud_attr(IBV_QPS_INIT, &attr, IBV_QP_STATE), 0);
	assert_int_equal(sctpiw_check_ud_attr(IBV_QPS_INIT, &attr, IBV_QP_STATE | IBV_QP_QKEY), 0);
	assert_int_equal(sctpiw_check_ud_attr(IBV_QPS_INIT, &attr, IBV_QP_STATE | IBV_QP_AV),
			 EINVAL);
	attr.qp_state = IBV_QPS_RTS;
	assert_int_equal(sctpiw_check_ud_attr(IBV_QPS_RTR, &attr, IBV_QP_STATE), EINVAL);
	assert_int_equal(sctpiw_check_ud_attr(IBV_QPS_RTR, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
	assert_int_equal(sctpiw_check_ud_attr(IBV_QPS_RTS, &attr, IBV_QP_QKEY), 0);
	/* Only a fault leads to SQE, and only a change of state leaves it. */
	attr.cur_qp_state = IBV_QPS_SQE;
	assert_int_equal(sctpiw_check_ud_attr(IBV_QPS_SQE, &attr,
					      IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_QKEY),
			 0);
	assert_int_equal(sctpiw_check_ud_attr(IBV_QPS_SQE, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN),
			 EINVAL);
	assert_int_equal(sctpiw_check_ud_attr(IBV_QPS_SQE, &attr, IBV_QP_QKEY), EINVAL);
	for (int s = IBV_QPS_RESET; s <= IBV_QPS_ERR; s++) {
		attr.qp_state = IBV_QPS_SQE;
		assert_int_equal(sctpiw_check_ud_attr((enum ibv_qp_state)s, &attr, IBV_QP_STATE),
				 EINVAL);
	}
	for (int s = IBV_QPS_RESET; s <= IBV_QPS_ERR; s++) {
		attr.qp_state = IBV_QPS_RESET;
		assert_int_equal(sctpiw_check_ud_attr((enum ibv_qp_state)s, &attr, IBV_QP_STATE),
				 0);
		attr.qp_state = IBV_QPS_ERR;
		assert_int_equal(sctpiw_check_ud_attr((enum ibv_qp_state)s, &attr, IBV_QP_STATE),
				 0);
	}
}

/* The calls of librdmacm, with the masks of the kernel's iWARP connection manager. */
static void test_connection_manager(void **state)
{
	const struct ibv_qp_attr none = { 0 };

	assert_int_equal(check(IBV_QPS_RESET, IBV_QPS_INIT, CM), 0);
	assert_int_equal(check(IBV_QPS_INIT, IBV_QPS_INIT, CM), 0);
	assert_int_equal(check(IBV_QPS_INIT, IBV_QPS_RTR, CM), 0);
	assert_int_equal(check(IBV_QPS_RTR, IBV_QPS_RTR, IBV_QP_PORT), 0);
	assert_int_equal(check(IBV_QPS_RTS, IBV_QPS_RTS, IBV_QP_PORT), 0);
	assert_int_equal(check(IBV_QPS_RTS, IBV_QPS_SQD, IBV_QP_STATE), 0);
	assert_int_equal(check(IBV_QPS_SQD, IBV_QPS_SQD, IBV_QP_STATE), 0);
	for (int s = IBV_QPS_RESET; s <= IBV_QPS_ERR; s++)
		assert_int_equal(check(s, IBV_QPS_ERR, IBV_QP_STATE), 0);
	assert_true(sctpiw_is_by_cm(IBV_QPT_RC, CONFIG_ROCE, &none, CM));
	assert_false(sctpiw_is_by_cm(IBV_QPT_RC, CONFIG_ROCE, &none, IB_INIT));
	/* Before the QP is known to the connection manager, the mask decides. */
	assert_int_equal(check_hand(IBV_QPS_RESET, IBV_QPS_INIT, CM), 0);
	assert_int_equal(check_hand(IBV_QPS_INIT, IBV_QPS_RTR, CM), 0);
	assert_int_equal(check_hand(IBV_QPS_RTR, IBV_QPS_RTR, IBV_QP_PORT), EINVAL);
}

static int check_roce(enum ibv_qp_state cur, enum ibv_qp_state next, int mask, bool by_cm,
		      uint32_t dest)
{
	struct ibv_qp_attr attr = {
		.qp_state = next,
		.cur_qp_state = cur,
		.port_num = 1,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = dest,
		.ah_attr = { .is_global = 1, .port_num = 1 },
	};

	return sctpiw_check_qp_attr(IBV_QPT_RC, cur, by_cm, CONFIG_ROCE, &attr, mask);
}

/*
 * With InfiniBand's masks, the peer's QP number shows that the connection manager connects the QP.
 */
static void test_peer_of_the_connection_manager(void **state)
{
	const uint32_t cm = CM_DEST_QP_NUM, other = 0x1234;
	struct ibv_qp_attr attr = { .dest_qp_num = cm };

	assert_true(sctpiw_is_by_cm(IBV_QPT_RC, CONFIG_ROCE, &attr, IB_RTR));
	assert_true(sctpiw_is_by_cm(IBV_QPT_XRC_SEND, CONFIG_ROCE, &attr, IB_RTR));
	assert_false(sctpiw_is_by_cm(IBV_QPT_UC, CONFIG_ROCE, &attr, IB_RTR));
	assert_false(sctpiw_is_by_cm(IBV_QPT_RC, CONFIG_ROCE, &attr, IB_RTR & ~IBV_QP_DEST_QPN));
	assert_false(sctpiw_is_by_cm(IBV_QPT_RC, CONFIG_IWARP, &attr, IB_RTR));
	attr.dest_qp_num = other;
	assert_false(sctpiw_is_by_cm(IBV_QPT_RC, CONFIG_ROCE, &attr, IB_RTR));

	assert_int_equal(check_roce(IBV_QPS_INIT, IBV_QPS_RTR, IB_RTR, false, cm), 0);
	assert_int_equal(check_roce(IBV_QPS_INIT, IBV_QPS_RTR, IB_RTR & ~IBV_QP_RQ_PSN, false, cm),
			 EINVAL);
	assert_int_equal(check_roce(IBV_QPS_RTR, IBV_QPS_RTS, IB_RTS, true, 0), 0);
	/* The connection was faster, or is over. */
	assert_int_equal(check_roce(IBV_QPS_RTS, IBV_QPS_RTR, IB_RTR, true, cm), 0);
	assert_int_equal(check_roce(IBV_QPS_RTS, IBV_QPS_RTS, IB_RTS, true, 0), 0);
	assert_int_equal(check_roce(IBV_QPS_ERR, IBV_QPS_RTR, IB_RTR, true, cm), 0);
	assert_int_equal(check_roce(IBV_QPS_ERR, IBV_QPS_RTS, IB_RTS, true, 0), 0);
	/* A peer that the connection manager never names. */
	assert_int_equal(check_roce(IBV_QPS_RTS, IBV_QPS_RTR, IB_RTR, true, other), EOPNOTSUPP);

	assert_true(sctpiw_stays(IBV_QPS_RTR, true, CONFIG_ROCE, IBV_QPS_RTS));
	assert_true(sctpiw_stays(IBV_QPS_ERR, true, CONFIG_ROCE, IBV_QPS_RTS));
	assert_false(sctpiw_stays(IBV_QPS_RTR, false, CONFIG_ROCE, IBV_QPS_RTS));
	assert_false(sctpiw_stays(IBV_QPS_RTR, true, CONFIG_IWARP, IBV_QPS_RTS));
	assert_false(sctpiw_stays(IBV_QPS_SQD, true, CONFIG_ROCE, IBV_QPS_RTS));
}

static void test_disconnect_after_the_peer(void **state)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD };

	assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_ERR, true, CONFIG_IWARP, &attr,
					      IBV_QP_STATE),
			 0);
	assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_ERR, false, CONFIG_IWARP, &attr,
					      IBV_QP_STATE),
			 EINVAL);
}

static void test_steps_behind_the_connection(void **state)
{
	static const enum ibv_qp_state steps[] = { IBV_QPS_INIT, IBV_QPS_RTR };
	/* In a RoCE device, librdmacm also sets the P_Key index. */
	const int roce = CM | IBV_QP_PKEY_INDEX;
	struct ibv_qp_attr attr = { .port_num = 1 };

	for (int i = 0; i < 2; i++) {
		attr.qp_state = steps[i];
		assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_RTS, true, CONFIG_IWARP,
						      &attr, CM),
				 0);
		assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_RTS, false, CONFIG_IWARP,
						      &attr, CM),
				 EINVAL);
		assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_RTS, false, CONFIG_IWARP,
						      &attr, IBV_QP_STATE),
				 EINVAL);
		assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_SQD, true, CONFIG_IWARP,
						      &attr, CM),
				 EINVAL);
		assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_ERR, true, CONFIG_ROCE,
						      &attr, roce),
				 0);
		assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_RTS, true, CONFIG_ROCE,
						      &attr, roce),
				 0);
	}
}

/* The check fails if a required attribute is missing, and for each unknown attribute. */
static void check_masks(enum ibv_qp_state cur, enum ibv_qp_state next, int required, int optional)
{
	for (int bit = 1; bit <= IBV_QP_RATE_LIMIT; bit *= 2) {
		int mask = required | IBV_QP_STATE;

		if (bit == IBV_QP_STATE || (mask & ~bit) == CM)
			continue;
		if (bit & required)
			assert_int_equal(check_hand(cur, next, mask & ~bit), EINVAL);
		else if (bit & optional)
			assert_int_equal(check_hand(cur, next, mask | bit), 0);
		else
			assert_int_equal(check_hand(cur, next, mask | bit), EINVAL);
	}
	assert_int_equal(check_hand(cur, next, required | IBV_QP_STATE), 0);
}

static void test_by_hand(void **state)
{
	const int rts_optional = IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER |
				 IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE;

	check_masks(IBV_QPS_RESET, IBV_QPS_INIT, IB_INIT & ~IBV_QP_STATE, 0);
	check_masks(IBV_QPS_INIT, IBV_QPS_INIT, 0,
		    IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS);
	check_masks(IBV_QPS_INIT, IBV_QPS_RTR, IB_RTR & ~IBV_QP_STATE,
		    IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX);
	check_masks(IBV_QPS_RTR, IBV_QPS_RTS, IB_RTS & ~IBV_QP_STATE, rts_optional);
	check_masks(IBV_QPS_RTS, IBV_QPS_RTS, 0, rts_optional);
	check_masks(IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY);
	check_masks(IBV_QPS_SQD, IBV_QPS_RTS, 0, rts_optional);
	for (int s = IBV_QPS_RESET; s <= IBV_QPS_ERR; s++) {
		assert_int_equal(check_hand(s, IBV_QPS_RESET, IBV_QP_STATE), 0);
		assert_int_equal(check_hand(s, IBV_QPS_ERR, IBV_QP_STATE), 0);
	}
	assert_int_equal(check_hand(IBV_QPS_RTR, IBV_QPS_RTR, IBV_QP_STATE), EINVAL);
	assert_int_equal(check_hand(IBV_QPS_RTR, IBV_QPS_SQD, IBV_QP_STATE), EINVAL);
	assert_int_equal(check_hand(IBV_QPS_INIT, IBV_QPS_RTS, IB_RTS), EINVAL);
	/* Another path needs another session. */
	assert_int_equal(check_hand(IBV_QPS_SQD, IBV_QPS_SQD, IBV_QP_AV), EOPNOTSUPP);
}

static void test_values_by_hand(void **state)
{
	const struct ibv_qp_attr good = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_4096,
		.dest_qp_num = 0xffffff,
		.max_dest_rd_atomic = IW_MAX_IRD,
		.min_rnr_timer = 31,
		.ah_attr = { .is_global = 1, .port_num = 1 },
	};
	struct ibv_qp_attr attr = good;

	assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_INIT, false, CONFIG_IWARP, &attr,
					      IB_RTR),
			 0);
	attr.path_mtu = 0;
	assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_INIT, false, CONFIG_IWARP, &attr,
					      IB_RTR),
			 EINVAL);
	attr.path_mtu = IBV_MTU_4096 + 1;
	assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_INIT, false, CONFIG_IWARP, &attr,
					      IB_RTR),
			 EINVAL);
	attr = good;
	attr.dest_qp_num = 1 << 24;
	assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_INIT, false, CONFIG_IWARP, &attr,
					      IB_RTR),
			 EINVAL);
	attr = good;
	attr.ah_attr.is_global = 0;
	assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_INIT, false, CONFIG_IWARP, &attr,
					      IB_RTR),
			 EINVAL);
	attr = good;
	attr.ah_attr.port_num = 2;
	assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_INIT, false, CONFIG_IWARP, &attr,
					      IB_RTR),
			 EINVAL);
	attr = good;
	attr.max_dest_rd_atomic = IW_MAX_IRD + 1;
	assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_INIT, false, CONFIG_IWARP, &attr,
					      IB_RTR),
			 EINVAL);
}

static void test_transitions_that_do_not_exist(void **state)
{
	static const struct {
		enum ibv_qp_state cur, next;
	} bad[] = {
		{ IBV_QPS_RESET, IBV_QPS_RTR }, { IBV_QPS_RESET, IBV_QPS_RTS },
		{ IBV_QPS_RESET, IBV_QPS_SQD }, { IBV_QPS_INIT, IBV_QPS_RTS },
		{ IBV_QPS_INIT, IBV_QPS_SQD },	{ IBV_QPS_RTR, IBV_QPS_INIT },
		{ IBV_QPS_RTR, IBV_QPS_SQD },	{ IBV_QPS_SQD, IBV_QPS_RTR },
		{ IBV_QPS_ERR, IBV_QPS_RTS },	{ IBV_QPS_RESET, 7 },
		{ IBV_QPS_RESET, -1 },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(check(bad[i].cur, bad[i].next, CM), EINVAL);
		assert_int_equal(check(bad[i].cur, bad[i].next, IBV_QP_STATE), EINVAL);
	}
}

static void test_values(void **state)
{
	struct ibv_qp_attr attr = { .port_num = 2 };

	assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_INIT, true, CONFIG_IWARP, &attr,
					      IBV_QP_PORT),
			 EINVAL);
	attr = (struct ibv_qp_attr){ .cur_qp_state = IBV_QPS_INIT };
	assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_RTS, true, CONFIG_IWARP, &attr,
					      IBV_QP_CUR_STATE),
			 EINVAL);
	attr = (struct ibv_qp_attr){ .qp_access_flags = 1 << 10 };
	assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_RTS, true, CONFIG_IWARP, &attr,
					      IBV_QP_ACCESS_FLAGS),
			 EINVAL);
	attr = (struct ibv_qp_attr){ .retry_cnt = 8, .rnr_retry = 7, .timeout = 31 };
	assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_RTS, true, CONFIG_IWARP, &attr,
					      IBV_QP_RETRY_CNT),
			 EINVAL);
	assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_RTS, true, CONFIG_IWARP, &attr,
					      IBV_QP_RNR_RETRY | IBV_QP_TIMEOUT),
			 0);
	attr = (struct ibv_qp_attr){ .max_rd_atomic = IW_MAX_ORD + 1 };
	assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_RTS, true, CONFIG_IWARP, &attr,
					      IBV_QP_MAX_QP_RD_ATOMIC),
			 EINVAL);
}

static void test_merge_takes_what_the_mask_names(void **state)
{
	struct ibv_qp_attr to = { .timeout = 1, .rnr_retry = 2 };
	struct ibv_qp_attr from = { .timeout = 14, .rnr_retry = 5, .qp_access_flags = 7 };

	sctpiw_merge_qp_attr(&to, &from, IBV_QP_TIMEOUT | IBV_QP_ACCESS_FLAGS);
	assert_int_equal(to.timeout, 14);
	assert_int_equal(to.qp_access_flags, 7);
	assert_int_equal(to.rnr_retry, 2);
}

/* A channel adapter leaves RESET only with InfiniBand's mask, and only InfiniBand has LIDs. */
static void test_personalities(void **state)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .port_num = 1 };
	static const enum config_personality ca[] = { CONFIG_ROCE, CONFIG_IB };

	for (int i = 0; i < 2; i++) {
		attr.qp_state = IBV_QPS_INIT;
		assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_RESET, false, ca[i],
						      &attr, CM),
				 EINVAL);
		assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_RESET, false, ca[i],
						      &attr, IB_INIT),
				 0);
		attr.qp_state = IBV_QPS_RTR;
		assert_int_equal(
			sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_INIT, false, ca[i], &attr, CM), 0);
	}
	attr.path_mtu = IBV_MTU_1024;
	attr.ah_attr = (struct ibv_ah_attr){ .port_num = 1, .dlid = 5 };
	assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_INIT, false, CONFIG_ROCE, &attr,
					      IB_RTR),
			 EINVAL);
	assert_int_equal(
		sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_INIT, false, CONFIG_IB, &attr, IB_RTR), 0);
	attr.ah_attr.dlid = 0;
	assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_RC, IBV_QPS_INIT, false, CONFIG_IB, &attr,
					      IB_RTR),
			 EINVAL);
}

/* UC has the masks of RC, without the attributes of acknowledgements and reads. */
static void test_unreliable_connection(void **state)
{
	const int rtr = IB_RTR & ~(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.ah_attr = { .is_global = 1, .port_num = 1 },
	};

	assert_int_equal(
		sctpiw_check_qp_attr(IBV_QPT_UC, IBV_QPS_INIT, false, CONFIG_ROCE, &attr, rtr), 0);
	assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_UC, IBV_QPS_INIT, false, CONFIG_ROCE, &attr,
					      rtr | IBV_QP_MIN_RNR_TIMER),
			 EINVAL);
	assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_UC, IBV_QPS_INIT, false, CONFIG_ROCE, &attr,
					      rtr & ~IBV_QP_AV),
			 EINVAL);
	attr.qp_state = IBV_QPS_RTS;
	assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_UC, IBV_QPS_RTR, false, CONFIG_ROCE, &attr,
					      IBV_QP_STATE | IBV_QP_SQ_PSN),
			 0);
	assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_UC, IBV_QPS_RTR, false, CONFIG_ROCE, &attr,
					      IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT),
			 EINVAL);
	assert_int_equal(sctpiw_check_qp_attr(IBV_QPT_UC, IBV_QPS_RTR, false, CONFIG_ROCE, &attr,
					      IBV_QP_STATE),
			 EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_datagrams),
		cmocka_unit_test(test_connection_manager),
		cmocka_unit_test(test_peer_of_the_connection_manager),
		cmocka_unit_test(test_disconnect_after_the_peer),
		cmocka_unit_test(test_steps_behind_the_connection),
		cmocka_unit_test(test_by_hand),
		cmocka_unit_test(test_personalities),
		cmocka_unit_test(test_values_by_hand),
		cmocka_unit_test(test_transitions_that_do_not_exist),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_unreliable_connection),
		cmocka_unit_test(test_merge_takes_what_the_mask_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
