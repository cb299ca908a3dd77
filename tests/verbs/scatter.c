/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* RDMA Reads into several SGEs. */
#include "fixture.h"

static const struct pair_options many_sges = { .cap = { 64, 64, 32, 32, 64 } };

/* Pieces of all lengths, including 0. The gaps between them must not change. */
static void test_pieces(void)
{
	static const uint32_t lengths[] = { 1, 0, 7, 4096, 63, 100001, 3, 0, 60000, 1500 };
	enum { N = sizeof(lengths) / sizeof(lengths[0]), GAP = 16 };
	struct ibv_sge list[N];
	uint32_t total = 0, at = 0;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, &many_sges);
	memset(p.a.buf, 0xee, SIDE_BUF);
	for (int i = N; i-- > 0; at += lengths[i] + GAP) /* the last piece comes first in memory */
		list[i] = sge_of(p.a.mr, p.a.buf + GAP + at, lengths[i]);
	for (int i = 0; i < N; i++)
		total += lengths[i];
	fill(p.b.buf + 99, total, 4);
	CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_READ, 1, list, N, address(p.b.buf + 99), p.b.mr->rkey,
			   IBV_SEND_SIGNALED),
		 0);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.opcode, IBV_WC_RDMA_READ);
	CHECK_EQ(wc.byte_len, total);
	total = 0;
	for (int i = 0; i < N; i++) {
		uint8_t *piece = (uint8_t *)(uintptr_t)list[i].addr;

		CHECK(!memcmp(piece, p.b.buf + 99 + total, lengths[i]));
		for (int k = 0; k < GAP; k++)
			CHECK(piece[lengths[i] + k] == 0xee);
		total += lengths[i];
	}
	pair_close(&p);
}

/* The maximum of outstanding Reads, each with the maximum of pieces. */
static void test_many(void)
{
	enum { READS = 60, PIECES = 32, LEN = 150 };
	struct ibv_sge list[PIECES];
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, &many_sges);
	fill(p.b.buf, READS * PIECES * LEN, 8);
	for (int i = 0; i < READS; i++) {
		for (int k = 0; k < PIECES; k++)
			list[k] = sge_of(p.a.mr, p.a.buf + (k * READS + i) * LEN, LEN);
		CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_READ, i, list, PIECES,
				   address(p.b.buf + i * PIECES * LEN), p.b.mr->rkey,
				   IBV_SEND_SIGNALED),
			 0);
	}
	for (int i = 0; i < READS; i++) {
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, i);
		CHECK_EQ(wc.byte_len, PIECES * LEN);
	}
	for (int i = 0; i < READS; i++)
		for (int k = 0; k < PIECES; k++)
			CHECK(!memcmp(p.a.buf + (k * READS + i) * LEN,
				      p.b.buf + (i * PIECES + k) * LEN, LEN));
	pair_close(&p);
}

/* One piece is not writable: the Read fails, and is not sent to the peer. */
static void test_wrong_piece(void)
{
	enum { BAD_KEY, NO_RIGHT, OUTSIDE, OTHER_PD, KINDS };

	for (int kind = BAD_KEY; kind < KINDS; kind++) {
		struct ibv_sge list[3];
		struct ibv_pd *pd;
		struct ibv_mr *mr;
		struct ibv_wc wc;
		struct pair p;

		pair_open(&p, &many_sges);
		pd = kind == OTHER_PD ? p.b.pd : p.a.pd;
		mr = ibv_reg_mr(pd, p.a.buf + 4096, 4096,
				kind == NO_RIGHT ? 0 : IBV_ACCESS_LOCAL_WRITE);
		CHECK(mr);
		fill(p.b.buf, 3000, 1);
		list[0] = sge_of(p.a.mr, p.a.buf, 1000);
		list[1] = sge_of(mr, p.a.buf + 4096, 1000);
		list[2] = sge_of(p.a.mr, p.a.buf + 9000, 1000);
		if (kind == BAD_KEY)
			list[1].lkey ^= 1;
		if (kind == OUTSIDE)
			list[1].addr += 4000;
		CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_READ, 5, list, 3, address(p.b.buf),
				   p.b.mr->rkey, IBV_SEND_SIGNALED),
			 0);
		expect_wc(p.a.send_cq, IBV_WC_LOC_PROT_ERR, &wc);
		CHECK_EQ(wc.wr_id, 5);
		expect_qp_state(p.a.qp, IBV_QPS_ERR);
		CHECK(p.a.buf[0] == 0);
		CHECK_EQ(ibv_dereg_mr(mr), 0);
		pair_close(&p);
	}
}

static void test_too_many_pieces(void)
{
	struct ibv_sge list[5];
	struct pair p;

	pair_open(&p, &(struct pair_options){ .cap = { 8, 8, 4, 4, 0 } });
	for (int i = 0; i < 5; i++)
		list[i] = sge_of(p.a.mr, p.a.buf + i * 100, 100);
	CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_READ, 1, list, 5, address(p.b.buf), p.b.mr->rkey, 0),
		 EINVAL);
	expect_qp_state(p.a.qp, IBV_QPS_RTS);
	pair_close(&p);
}

/* Other WRs before and after such Reads, with fences: everything comes in order. */
static void test_fenced(void)
{
	struct ibv_sge list[2], sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, &many_sges);
	fill(p.b.buf, 20000, 6);
	list[0] = sge_of(p.a.mr, p.a.buf + 10000, 10000);
	list[1] = sge_of(p.a.mr, p.a.buf, 10000);
	for (int i = 0; i < 20; i++) {
		memset(p.a.buf, 0, 20000);
		CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_READ, 1, list, 2, address(p.b.buf),
				   p.b.mr->rkey, 0),
			 0);
		sge = sge_of(p.a.mr, p.a.buf, 20000);
		CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_WRITE, 2, &sge, 1, address(p.b.buf + 50000),
				   p.b.mr->rkey, IBV_SEND_FENCE | IBV_SEND_SIGNALED),
			 0);
		CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_READ, 3, NULL, 0, 0, 0, IBV_SEND_SIGNALED), 0);
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, 2);
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
		CHECK(filled(p.a.buf + 10000, 10000, 6));
		CHECK(!memcmp(p.a.buf, p.b.buf + 10000, 10000));
		CHECK(!memcmp(p.a.buf, p.b.buf + 50000, 20000));
	}
	pair_close(&p);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "pieces", test_pieces },	     { "many", test_many },
		{ "wrong_piece", test_wrong_piece }, { "too_many_pieces", test_too_many_pieces },
		{ "fenced", test_fenced },
	};

	return RUN_TESTS(argc, argv, tests);
}
