/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The attributes that ibv_modify_qp() accepts for RC and XRC queue pairs at each transition. The
 * tables have those of InfiniBand (IBTA 11.2.5.2), and every other attribute alone is refused.
 * Attributes that only the other end of XRC has are ignored, as by the kernel.
 */
#include "out_of_band.h"
#include "xrc_steps.h"

#include <fcntl.h>

#define INIT (IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)
#define PEER (IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN)
#define SECOND_PATH (IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE)
#define RUNS (IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | SECOND_PATH)
#define DRAINED (INIT | IBV_QP_AV | IBV_QP_TIMEOUT | SECOND_PATH)

struct transition {
	enum ibv_qp_state from, to;
	int required, optional;
};

/* Common attributes of all three types; then those of responders, and of requesters. */
static const struct transition common[] = {
	{ IBV_QPS_RESET, IBV_QPS_INIT, INIT, 0 },
	{ IBV_QPS_INIT, IBV_QPS_INIT, 0, INIT },
	{ IBV_QPS_INIT, IBV_QPS_RTR, PEER,
	  IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_ALT_PATH },
	{ IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_TIMEOUT | IBV_QP_SQ_PSN, RUNS },
	{ IBV_QPS_RTS, IBV_QPS_RTS, 0, RUNS },
	{ IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY },
	{ IBV_QPS_SQD, IBV_QPS_RTS, 0, RUNS },
	{ IBV_QPS_SQD, IBV_QPS_SQD, 0, DRAINED },
};
#define TRANSITIONS (sizeof(common) / sizeof(common[0]))

static const struct transition responds[TRANSITIONS] = {
	[2] = { .required = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER },
	[3] = { .optional = IBV_QP_MIN_RNR_TIMER },
	[4] = { .optional = IBV_QP_MIN_RNR_TIMER },
	[6] = { .optional = IBV_QP_MIN_RNR_TIMER },
	[7] = { .optional = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER },
};

static const struct transition requests[TRANSITIONS] = {
	[3] = { .required = IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC },
	[7] = { .optional = IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC },
};

/* A side whose QP is replaced repeatedly, and the addresses of its peer. */
struct subject {
	struct side s;
	struct ibv_xrcd *xrcd;
	enum ibv_qp_type type;
	int ignored; /* attributes that are permitted, but ignored */
	struct where peer;
};

static struct ibv_qp *make_qp(struct subject *x)
{
	if (x->type == IBV_QPT_XRC_RECV)
		return new_recv_qp(x->xrcd);
	return x->type == IBV_QPT_XRC_SEND ? new_send_qp(&x->s) : new_qp(&x->s);
}

/* Replaces the QP by a new QP in this state. */
static void renew(struct subject *x, enum ibv_qp_state state)
{
	CHECK_EQ(ibv_destroy_qp(x->s.qp), 0);
	x->s.qp = make_qp(x);
	CHECK(x->s.qp);
	if (state >= IBV_QPS_INIT)
		CHECK_EQ(to_init(&x->s), 0);
	if (state >= IBV_QPS_RTR)
		CHECK_EQ(to_rtr(&x->s, &x->peer), 0);
	if (state >= IBV_QPS_RTS)
		CHECK_EQ(to_rts(&x->s), 0);
	if (state >= IBV_QPS_SQD)
		CHECK_EQ(to_state(&x->s, IBV_QPS_SQD), 0);
}

static int modify(struct subject *x, const struct transition *t, int mask)
{
	struct ibv_qp_attr attr = rtr_attr(&x->peer);

	attr.qp_state = t->to;
	attr.cur_qp_state = t->from;
	attr.port_num = 1;
	attr.qp_access_flags = ALL_RIGHTS;
	attr.path_mig_state = IBV_MIG_MIGRATED;
	attr.alt_ah_attr = attr.ah_attr;
	attr.alt_port_num = 1;
	if (x->ignored & RESPONDER_ONLY)
		attr.max_dest_rd_atomic = attr.min_rnr_timer = 255;
	if (x->ignored & REQUESTER_ONLY)
		attr.retry_cnt = attr.rnr_retry = attr.max_rd_atomic = 255;
	return ibv_modify_qp(x->s.qp, &attr, mask | IBV_QP_STATE);
}

static void expect_refused(struct subject *x, const struct transition *t, int mask, int error)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	CHECK_EQ(modify(x, t, mask), error);
	CHECK_EQ(ibv_query_qp(x->s.qp, &attr, IBV_QP_STATE, &init), 0);
	CHECK_EQ(attr.qp_state, t->from);
}

static void expect_ignored(struct subject *x)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	CHECK_EQ(ibv_query_qp(x->s.qp, &attr, ~0, &init), 0);
	if (x->ignored & RESPONDER_ONLY)
		CHECK(!attr.max_dest_rd_atomic && !attr.min_rnr_timer);
	if (x->ignored & REQUESTER_ONLY)
		CHECK(!attr.retry_cnt && !attr.rnr_retry && !attr.max_rd_atomic);
}

/* A queue pair keeps its path. On an iWARP device, it has no second path. */
static bool is_of_another_path(const struct transition *t, int bit)
{
	return (bit == IBV_QP_ALT_PATH && ctx->device->node_type == IBV_NODE_RNIC) ||
	       (bit == IBV_QP_AV && t->from == IBV_QPS_SQD);
}

static void check_transition(struct subject *x, const struct transition *t)
{
	for (int bit = 1; bit <= IBV_QP_RATE_LIMIT; bit *= 2) {
		if (bit == IBV_QP_STATE)
			continue;
		renew(x, t->from);
		if (bit & t->required)
			expect_refused(x, t, (t->required & ~bit) | x->ignored, EINVAL);
		else if (bit & x->ignored)
			CHECK_EQ(modify(x, t, t->required | bit), 0);
		else if (!(bit & t->optional))
			expect_refused(x, t, t->required | bit, EINVAL);
		else if (is_of_another_path(t, bit))
			expect_refused(x, t, t->required | bit, EOPNOTSUPP);
		else
			CHECK_EQ(modify(x, t, t->required | bit), 0);
	}
	renew(x, t->from);
	CHECK_EQ(modify(x, t, t->required), 0);
	renew(x, t->from);
	CHECK_EQ(modify(x, t, t->required | x->ignored), 0);
	expect_ignored(x);
}

static void check_type(enum ibv_qp_type type, bool is_requester, bool is_responder)
{
	struct subject x = { .type = type,
			     .ignored = (is_requester ? 0 : REQUESTER_ONLY) |
					(is_responder ? 0 : RESPONDER_ONLY) };
	struct side peer;

	open_side(&peer);
	open_side(&x.s);
	x.peer = where_is(&peer);
	x.xrcd = open_domain(ctx, -1, O_CREAT);
	CHECK(x.xrcd);
	for (size_t i = 0; i < TRANSITIONS; i++) {
		struct transition t = common[i];

		t.required |= (is_requester ? requests[i].required : 0) |
			      (is_responder ? responds[i].required : 0);
		t.optional |= (is_requester ? requests[i].optional : 0) |
			      (is_responder ? responds[i].optional : 0);
		check_transition(&x, &t);
	}
	close_side(&x.s);
	close_side(&peer);
	CHECK_EQ(ibv_close_xrcd(x.xrcd), 0);
}

static void test_rc(void)
{
	check_type(IBV_QPT_RC, true, true);
}

static void test_xrc_send(void)
{
	check_type(IBV_QPT_XRC_SEND, true, false);
}

static void test_xrc_recv(void)
{
	check_type(IBV_QPT_XRC_RECV, false, true);
}

static const struct test tests[] = {
	{ "rc", test_rc },
	{ "xrc_send", test_xrc_send },
	{ "xrc_recv", test_xrc_recv },
};

int main(int argc, char **argv)
{
	oob_open();
	return RUN_TESTS(argc, argv, tests);
}
