/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: iwarp.xrc --personality iwarp -- */
/* ALSO: ib.xrc --personality ib -- */
/* ALSO: several.xrc --engines 3 -- */
/*
 * XRC: SRQs and both types of QP, the effect of each message, and messages for a missing SRQ.
 * xrc_handles.c has domains and further handles of a QP.
 */
#include "out_of_band.h"
#include "xrc_steps.h"

#include <fcntl.h>

#define ROOM 8192 /* bytes of a receive */

/* A receiver: a domain with an XRC_RECV and two SRQs, each with its own CQ. */
struct receiver {
	struct ibv_xrcd *xrcd;
	struct side s; /* the XRC_RECV; its send_cq and recv_cq are those of the SRQs */
	struct ibv_srq *srq[2];
	uint32_t num[2];
};

static void replace_qp(struct side *s, struct ibv_qp *qp)
{
	CHECK(qp);
	CHECK_EQ(ibv_destroy_qp(s->qp), 0);
	s->qp = qp;
}

static void receiver_open(struct receiver *r)
{
	r->xrcd = open_domain(ctx, -1, O_CREAT);
	CHECK(r->xrcd);
	open_side(&r->s);
	replace_qp(&r->s, new_recv_qp(r->xrcd));
	r->srq[0] = new_srq(r->xrcd, r->s.pd, r->s.send_cq, &r->num[0]);
	r->srq[1] = new_srq(r->xrcd, r->s.pd, r->s.recv_cq, &r->num[1]);
	CHECK(r->num[0] != r->num[1]);
}

static void receiver_close(struct receiver *r)
{
	for (int i = 0; i < 2; i++)
		if (r->srq[i])
			CHECK_EQ(ibv_destroy_srq(r->srq[i]), 0);
	close_side(&r->s);
	CHECK_EQ(ibv_close_xrcd(r->xrcd), 0);
}

static void connect_xrc(struct side *send, struct receiver *r)
{
	struct where at_recv = where_is(&r->s), at_send = where_is(send);

	oob_connect(&r->s, &at_send);
	oob_connect(send, &at_recv);
}

static void sender_open(struct side *s)
{
	open_side(s);
	replace_qp(s, new_send_qp(s));
}

static void open_both(struct side *send, struct receiver *r)
{
	sender_open(send);
	receiver_open(r);
	connect_xrc(send, r);
}

static void close_both(struct side *send, struct receiver *r)
{
	close_side(send);
	receiver_close(r);
}

/* Posts the receive `id` of an SRQ, in its own part of the memory. */
static void post_to(struct receiver *r, int i, uint64_t id)
{
	struct ibv_sge sge = sge_of(r->s.mr, r->s.buf + id * ROOM, ROOM);
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 }, *bad;

	CHECK_EQ(ibv_post_srq_recv(r->srq[i], &wr, &bad), 0);
}

static int send_to(struct side *s, uint32_t srq_num, enum ibv_wr_opcode opcode, uint64_t id,
		   const struct receiver *r)
{
	struct ibv_sge sge = sge_of(s->mr, s->buf + id * ROOM, LEN);
	struct ibv_send_wr wr = {
		.wr_id = id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htobe32((uint32_t)id),
		.qp_type.xrc.remote_srqn = srq_num,
	}, *bad;

	fill(s->buf + id * ROOM, LEN, (unsigned int)id);
	if (opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
		wr.wr.rdma.remote_addr = (uintptr_t)r->s.buf + 64 * ROOM;
		wr.wr.rdma.rkey = r->s.mr->rkey;
	}
	return ibv_post_send(s->qp, &wr, &bad);
}

static void expect_at(struct receiver *r, int i, uint64_t receive, uint64_t message)
{
	struct ibv_wc wc;

	expect_wc(i ? r->s.recv_cq : r->s.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, receive);
	CHECK_EQ(wc.opcode, IBV_WC_RECV);
	CHECK_EQ(wc.byte_len, LEN);
	CHECK_EQ(wc.qp_num, r->s.qp->qp_num);
	CHECK(filled(r->s.buf + receive * ROOM, LEN, (unsigned int)message));
}

/* ---- invalid attributes ---- */

static void test_bad_srqs(void)
{
	struct ibv_srq_init_attr_ex attr, bad;
	struct ibv_srq_init_attr basic = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct receiver r;
	struct ibv_srq *srq;
	struct ibv_qp_init_attr qp = { .qp_type = IBV_QPT_RC, .cap = { 1, 1, 1, 1, 0 } };
	uint32_t num;

	receiver_open(&r);
	attr = srq_attr(r.xrcd, r.s.pd, r.s.send_cq);
	for (unsigned int bit = 1; bit < 4; bit++) {
		bad = attr;
		bad.comp_mask &= ~(1u << bit);
		CHECK_FAILS(ibv_create_srq_ex(ctx, &bad), EINVAL);
	}
	bad = attr;
	bad.srq_type = IBV_SRQT_TM;
	CHECK_FAILS(ibv_create_srq_ex(ctx, &bad), EOPNOTSUPP);
	bad = attr;
	bad.attr.max_wr = 0;
	CHECK_FAILS(ibv_create_srq_ex(ctx, &bad), EINVAL);
	srq = ibv_create_srq(r.s.pd, &basic);
	CHECK(srq);
	CHECK_EQ(ibv_get_srq_num(srq, &num), EINVAL);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	qp.send_cq = qp.recv_cq = r.s.send_cq;
	qp.srq = r.srq[0];
	CHECK_FAILS(ibv_create_qp(r.s.pd, &qp), EINVAL);
	CHECK_EQ(ibv_close_xrcd(r.xrcd), EBUSY);
	CHECK_EQ(ibv_destroy_cq(r.s.send_cq), EBUSY);
	receiver_close(&r);
}

static void test_bad_qps(void)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_XRC_RECV };
	struct ibv_recv_wr recv = { 0 }, *bad_recv;
	struct receiver r;
	struct side s;

	open_both(&s, &r);
	CHECK_FAILS(ibv_create_qp_ex(ctx, &attr), EINVAL);
	attr = (struct ibv_qp_init_attr_ex){
		.qp_type = IBV_QPT_XRC_SEND,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = s.pd,
		.cap = { .max_send_wr = 1 },
	};
	CHECK_FAILS(ibv_create_qp_ex(ctx, &attr), EINVAL);
	attr.send_cq = s.send_cq;
	attr.srq = r.srq[0];
	CHECK_FAILS(ibv_create_qp_ex(ctx, &attr), EINVAL);
	attr.srq = NULL;
	attr.cap.max_send_wr = 0;
	CHECK_FAILS(ibv_create_qp_ex(ctx, &attr), EINVAL);
	CHECK(!r.s.qp->pd && !r.s.qp->send_cq && !r.s.qp->recv_cq && !r.s.qp->srq);
	CHECK_EQ(ibv_post_recv(r.s.qp, &recv, &bad_recv), EINVAL);
	CHECK(ibv_post_recv(s.qp, &recv, &bad_recv));
	CHECK_EQ(send_to(&r.s, r.num[0], IBV_WR_SEND, 0, &r), EINVAL);
	close_both(&s, &r);
}

/* ---- messages ---- */

/* Messages take receives of both SRQs alternately, in the order of the messages. */
static void test_sends(void)
{
	struct receiver r;
	struct ibv_wc wc;
	struct side s;

	open_both(&s, &r);
	for (uint64_t id = 0; id < 8; id++)
		post_to(&r, id & 1, id);
	for (uint64_t id = 0; id < 8; id++)
		CHECK_EQ(send_to(&s, r.num[id & 1], IBV_WR_SEND, id, &r), 0);
	for (uint64_t id = 0; id < 8; id++)
		expect_at(&r, id & 1, id, id);
	for (uint64_t id = 0; id < 8; id++)
		expect_wc(s.send_cq, IBV_WC_SUCCESS, &wc);
	close_both(&s, &r);
}

/* A message without a receive delays later messages, whatever their SRQs are. */
static void test_late_receives(void)
{
	struct receiver r;
	struct ibv_wc wc;
	struct side s;

	open_both(&s, &r);
	post_to(&r, 1, 9);
	CHECK_EQ(send_to(&s, r.num[0], IBV_WR_SEND, 1, &r), 0);
	CHECK_EQ(send_to(&s, r.num[1], IBV_WR_SEND, 2, &r), 0);
	CHECK_EQ(send_to(&s, r.num[0], IBV_WR_SEND, 3, &r), 0);
	CHECK_EQ(send_to(&s, r.num[1], IBV_WR_SEND, 4, &r), 0);
	expect_no_wc(r.s.recv_cq, 50);
	post_to(&r, 0, 10);
	expect_at(&r, 0, 10, 1);
	expect_at(&r, 1, 9, 2);
	post_to(&r, 1, 11);
	expect_no_wc(r.s.recv_cq, 50);
	post_to(&r, 0, 12);
	expect_at(&r, 0, 12, 3);
	expect_at(&r, 1, 11, 4);
	for (int i = 0; i < 4; i++)
		expect_wc(s.send_cq, IBV_WC_SUCCESS, &wc);
	close_both(&s, &r);
}

static void test_immediate(void)
{
	struct receiver r;
	struct ibv_wc wc;
	struct side s;

	open_both(&s, &r);
	post_to(&r, 0, 1);
	post_to(&r, 1, 2);
	CHECK_EQ(send_to(&s, r.num[0], IBV_WR_SEND_WITH_IMM, 3, &r), 0);
	CHECK_EQ(send_to(&s, r.num[1], IBV_WR_RDMA_WRITE_WITH_IMM, 4, &r), 0);
	expect_wc(r.s.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, 1);
	CHECK_EQ(wc.wc_flags, IBV_WC_WITH_IMM);
	CHECK_EQ(be32toh(wc.imm_data), 3);
	CHECK(filled(r.s.buf + 1 * ROOM, LEN, 3));
	expect_wc(r.s.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, 2);
	CHECK_EQ(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
	CHECK_EQ(be32toh(wc.imm_data), 4);
	CHECK_EQ(wc.byte_len, LEN);
	CHECK(filled(r.s.buf + 64 * ROOM, LEN, 4));
	close_both(&s, &r);
}

static void test_reads_and_atomics(void)
{
	struct ibv_send_wr add = { .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
				   .num_sge = 1,
				   .send_flags = IBV_SEND_SIGNALED },
			   *bad;
	struct receiver r;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct side s;
	uint64_t value = 40, got;

	open_both(&s, &r);
	fill(r.s.buf, LEN, 5);
	sge = sge_of(s.mr, s.buf + LEN, LEN);
	CHECK_EQ(post_rdma(&s, IBV_WR_RDMA_READ, 1, &sge, 1, (uintptr_t)r.s.buf, r.s.mr->rkey,
			   IBV_SEND_SIGNALED),
		 0);
	expect_wc(s.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK(filled(s.buf + LEN, LEN, 5));
	memcpy(r.s.buf, &value, sizeof(value));
	sge = sge_of(s.mr, s.buf, sizeof(got));
	add.sg_list = &sge;
	add.wr.atomic.remote_addr = (uintptr_t)r.s.buf;
	add.wr.atomic.rkey = r.s.mr->rkey;
	add.wr.atomic.compare_add = 2;
	CHECK_EQ(ibv_post_send(s.qp, &add, &bad), 0);
	expect_wc(s.send_cq, IBV_WC_SUCCESS, &wc);
	memcpy(&got, s.buf, sizeof(got));
	memcpy(&value, r.s.buf, sizeof(value));
	CHECK_EQ(got, 40);
	CHECK_EQ(value, 42);
	close_both(&s, &r);
}

/* The peer reaches the PDs that have an SRQ in the domain, and no other. */
static void test_other_pd(void)
{
	struct receiver r;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct side s, stranger;

	open_both(&s, &r);
	open_side(&stranger);
	sge = sge_of(s.mr, s.buf, LEN);
	CHECK_EQ(post_rdma(&s, IBV_WR_RDMA_WRITE, 1, &sge, 1, (uintptr_t)stranger.buf,
			   stranger.mr->rkey, IBV_SEND_SIGNALED),
		 0);
	expect_wc(s.send_cq, IBV_WC_REM_ACCESS_ERR, &wc);
	close_side(&stranger);
	close_both(&s, &r);
}

/* A receive can use memory of its SRQ's PD, but not of another PD with an SRQ in the domain. */
static void test_receive_of_other_pd(void)
{
	struct ibv_recv_wr *bad, wr = { .wr_id = 1, .num_sge = 1 };
	struct side s, other;
	struct receiver r;
	struct ibv_srq *srq;
	struct ibv_sge sge;
	struct ibv_wc wc;
	uint32_t num;

	open_both(&s, &r);
	open_side(&other);
	srq = new_srq(r.xrcd, other.pd, other.recv_cq, &num);
	memset(other.buf, 0, LEN);
	sge = sge_of(other.mr, other.buf, LEN);
	wr.sg_list = &sge;
	CHECK_EQ(ibv_post_srq_recv(r.srq[0], &wr, &bad), 0);
	CHECK_EQ(send_to(&s, r.num[0], IBV_WR_SEND, 1, &r), 0);
	expect_wc(r.s.send_cq, IBV_WC_LOC_PROT_ERR, &wc);
	CHECK_EQ(wc.wr_id, 1);
	wait_wc(s.send_cq, &wc);
	CHECK(wc.status != IBV_WC_SUCCESS);
	for (unsigned int i = 0; i < LEN; i++)
		CHECK_EQ(other.buf[i], 0);
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	close_side(&other);
	close_both(&s, &r);
}

/* By ibv_wr_*, with the SRQ's number set before or after the data. */
static void test_wr(void)
{
	struct ibv_qp_ex *ex;
	struct receiver r;
	struct ibv_wc wc;
	struct side s;

	open_both(&s, &r);
	ex = ibv_qp_to_qp_ex(s.qp);
	CHECK(ex);
	fill(s.buf, LEN, 7);
	post_to(&r, 0, 1);
	post_to(&r, 1, 2);
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_set_xrc_srqn(ex, r.num[1]);
	ibv_wr_set_xrc_srqn(ex, r.num[0]); /* the last number counts */
	ibv_wr_set_sge(ex, s.mr->lkey, address(s.buf), LEN);
	ibv_wr_send(ex);
	ibv_wr_set_sge(ex, s.mr->lkey, address(s.buf), LEN);
	ibv_wr_set_xrc_srqn(ex, r.num[1]);
	CHECK_EQ(ibv_wr_complete(ex), 0);
	expect_at(&r, 0, 1, 7);
	expect_at(&r, 1, 2, 7);
	/* A work request without its own number goes to no SRQ. */
	post_to(&r, 0, 3);
	ibv_wr_start(ex);
	ex->wr_id = 6;
	ibv_wr_send(ex);
	ibv_wr_set_xrc_srqn(ex, r.num[0]);
	ibv_wr_set_sge(ex, s.mr->lkey, address(s.buf), LEN);
	ex->wr_id = 7;
	ibv_wr_send(ex);
	ibv_wr_set_sge(ex, s.mr->lkey, address(s.buf), LEN);
	CHECK_EQ(ibv_wr_complete(ex), 0);
	expect_at(&r, 0, 3, 7);
	expect_wc(s.send_cq, IBV_WC_REM_INV_REQ_ERR, &wc);
	CHECK_EQ(wc.wr_id, 7);
	close_both(&s, &r);
}

/* ---- errors ---- */

static void refused(uint32_t (*num)(const struct receiver *r))
{
	struct receiver r;
	struct ibv_wc wc;
	struct side s;

	open_both(&s, &r);
	post_to(&r, 0, 1);
	CHECK_EQ(send_to(&s, num(&r), IBV_WR_SEND, 1, &r), 0);
	expect_wc(s.send_cq, IBV_WC_REM_INV_REQ_ERR, &wc);
	expect_no_wc(r.s.send_cq, 20);
	close_both(&s, &r);
}

static uint32_t no_number(const struct receiver *r)
{
	return 0;
}

static uint32_t unknown_number(const struct receiver *r)
{
	return (r->num[1] + 1000) & 0xffff;
}

static uint32_t long_number(const struct receiver *r)
{
	return r->num[0] | 0x10000;
}

static void test_unknown_srq(void)
{
	refused(no_number);
	refused(unknown_number);
	refused(long_number);
}

static void test_other_domain(void)
{
	struct receiver r, other;
	struct ibv_wc wc;
	struct side s;

	receiver_open(&other);
	open_both(&s, &r);
	post_to(&other, 0, 1);
	CHECK_EQ(send_to(&s, other.num[0], IBV_WR_SEND, 1, &r), 0);
	expect_wc(s.send_cq, IBV_WC_REM_INV_REQ_ERR, &wc);
	expect_no_wc(other.s.send_cq, 20);
	close_both(&s, &r);
	receiver_close(&other);
}

/* An SRQ is destroyed while a message waits for its receive: the sender gets an error. */
static void test_srq_goes(void)
{
	struct receiver r;
	struct ibv_wc wc;
	struct side s;

	open_both(&s, &r);
	post_to(&r, 1, 2);
	CHECK_EQ(send_to(&s, r.num[0], IBV_WR_SEND, 1, &r), 0);
	CHECK_EQ(send_to(&s, r.num[1], IBV_WR_SEND, 2, &r), 0);
	expect_no_wc(r.s.recv_cq, 50);
	CHECK_EQ(ibv_destroy_srq(r.srq[0]), 0);
	r.srq[0] = NULL;
	expect_wc(s.send_cq, IBV_WC_REM_INV_REQ_ERR, &wc);
	CHECK_EQ(wc.wr_id, 1);
	expect_wc(s.send_cq, IBV_WC_WR_FLUSH_ERR, &wc);
	expect_qp_state(s.qp, IBV_QPS_ERR);
	expect_no_wc(r.s.recv_cq, 20);
	close_both(&s, &r);
}

/* The sender's error is on the right message, even if another message waits before it. */
static void test_later_srq_goes(void)
{
	struct receiver r;
	struct ibv_wc wc;
	struct side s;

	open_both(&s, &r);
	for (uint64_t id = 0; id < 2; id++)
		CHECK_EQ(send_to(&s, r.num[id], IBV_WR_SEND, id, &r), 0);
	expect_no_wc(s.send_cq, 50);
	CHECK_EQ(ibv_destroy_srq(r.srq[1]), 0);
	r.srq[1] = NULL;
	expect_wc(s.send_cq, IBV_WC_WR_FLUSH_ERR, &wc);
	CHECK_EQ(wc.wr_id, 0);
	expect_wc(s.send_cq, IBV_WC_REM_INV_REQ_ERR, &wc);
	CHECK_EQ(wc.wr_id, 1);
	close_both(&s, &r);
}

/*
 * Only an XRC_RECV has queues for SRQs. A QP of type RC has none, and an XRC_RECV has no other
 * queue.
 */
static void test_other_type(void)
{
	struct where at_recv, at_send;
	struct receiver r;
	struct ibv_wc wc;
	struct side s;

	open_side(&s);
	receiver_open(&r);
	at_recv = where_is(&r.s);
	at_send = where_is(&s);
	oob_connect(&r.s, &at_send);
	oob_connect(&s, &at_recv);
	post_to(&r, 0, 1);
	CHECK_EQ(send_from(&s, 1), 0);
	expect_wc(s.send_cq, IBV_WC_REM_INV_REQ_ERR, &wc);
	close_both(&s, &r);
}

static const struct test tests[] = {
	{ "bad_srqs", test_bad_srqs },
	{ "bad_qps", test_bad_qps },
	{ "sends", test_sends },
	{ "late_receives", test_late_receives },
	{ "immediate", test_immediate },
	{ "reads_and_atomics", test_reads_and_atomics },
	{ "other_pd", test_other_pd },
	{ "receive_of_other_pd", test_receive_of_other_pd },
	{ "wr", test_wr },
	{ "unknown_srq", test_unknown_srq },
	{ "other_domain", test_other_domain },
	{ "srq_goes", test_srq_goes },
	{ "later_srq_goes", test_later_srq_goes },
	{ "other_type", test_other_type },
};

int main(int argc, char **argv)
{
	oob_open();
	return RUN_TESTS(argc, argv, tests);
}
