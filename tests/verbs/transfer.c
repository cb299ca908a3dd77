/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A connected pair: every operation and its effect. */
#include "fixture.h"

#include <pthread.h>
#include <unistd.h>

static void test_send_recv(void)
{
	static const uint32_t lengths[] = { 0, 1, 7, 64, 1400, 1500, 4096, 65536, 300001 };
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	for (unsigned int i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		fill(p.a.buf, lengths[i], i);
		memset(p.b.buf, 0xee, SIDE_BUF);
		sge = sge_of(p.b.mr, p.b.buf, SIDE_BUF);
		CHECK_EQ(post_recv(&p.b, 100 + i, &sge, 1), 0);
		sge = sge_of(p.a.mr, p.a.buf, lengths[i]);
		CHECK_EQ(post_send(&p.a, 200 + i, &sge, 1, IBV_SEND_SIGNALED), 0);
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, 200 + i);
		CHECK_EQ(wc.opcode, IBV_WC_SEND);
		CHECK_EQ(wc.qp_num, p.a.qp->qp_num);
		CHECK_EQ(wc.wc_flags, 0);
		expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, 100 + i);
		CHECK_EQ(wc.opcode, IBV_WC_RECV);
		CHECK_EQ(wc.byte_len, lengths[i]);
		CHECK_EQ(wc.qp_num, p.b.qp->qp_num);
		CHECK(filled(p.b.buf, lengths[i], i));
		CHECK(p.b.buf[lengths[i]] == 0xee);
	}
	pair_close(&p);
}

/* Many messages are outstanding in both directions at once. They arrive in order. */
static void test_stream_of_sends(void)
{
	enum { N = 2000, LEN = 512, DEPTH = 32 };
	struct side *s[2];
	int sent[2] = { 0 }, done[2] = { 0 }, received[2] = { 0 };
	double end = now_seconds() + WAIT_SECONDS;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	s[0] = &p.a;
	s[1] = &p.b;
	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < DEPTH; i++) {
			struct ibv_sge sge = sge_of(s[k]->mr, s[k]->buf + i * LEN, LEN);

			CHECK_EQ(post_recv(s[k], i, &sge, 1), 0);
		}
	}
	while (received[0] < N || received[1] < N || done[0] < N || done[1] < N) {
		CHECK(now_seconds() < end);
		for (int k = 0; k < 2; k++) {
			/*
			 * A side sends at most DEPTH messages more than the peer has posted
			 * receives.
			 */
			while (sent[k] < N && sent[k] - received[!k] < DEPTH &&
			       sent[k] - done[k] < DEPTH) {
				uint8_t *from = s[k]->buf + (DEPTH + sent[k] % DEPTH) * LEN;
				struct ibv_sge sge = sge_of(s[k]->mr, from, LEN);

				fill(from, LEN, sent[k]);
				CHECK_EQ(post_send(s[k], sent[k], &sge, 1, IBV_SEND_SIGNALED), 0);
				sent[k]++;
			}
			while (ibv_poll_cq(s[k]->send_cq, 1, &wc) == 1) {
				CHECK_EQ(wc.status, IBV_WC_SUCCESS);
				CHECK_EQ(wc.wr_id, done[k]++);
			}
			while (ibv_poll_cq(s[k]->recv_cq, 1, &wc) == 1) {
				uint8_t *to = s[k]->buf + wc.wr_id * LEN;
				struct ibv_sge sge = sge_of(s[k]->mr, to, LEN);

				CHECK_EQ(wc.status, IBV_WC_SUCCESS);
				CHECK_EQ(wc.wr_id, received[k] % DEPTH);
				CHECK(filled(to, LEN, received[k]++));
				CHECK_EQ(post_recv(s[k], wc.wr_id, &sge, 1), 0);
			}
		}
	}
	pair_close(&p);
}

static void test_write_and_read(void)
{
	static const uint32_t lengths[] = { 1, 13, 4096, 100003, 500000 };
	const uint32_t at = 4321;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	for (unsigned int i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		uint32_t len = lengths[i];

		fill(p.a.buf, len, i);
		memset(p.b.buf, 0xee, SIDE_BUF);
		sge = sge_of(p.a.mr, p.a.buf, len);
		CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_WRITE, 1, &sge, 1, address(p.b.buf + at),
				   p.b.mr->rkey, IBV_SEND_SIGNALED),
			 0);
		/* A Read of the same bytes follows the Write, and so returns the written data. */
		sge = sge_of(p.a.mr, p.a.buf + SIDE_BUF / 2, len);
		CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_READ, 2, &sge, 1, address(p.b.buf + at),
				   p.b.mr->rkey, IBV_SEND_SIGNALED),
			 0);
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, 1);
		CHECK_EQ(wc.opcode, IBV_WC_RDMA_WRITE);
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, 2);
		CHECK_EQ(wc.opcode, IBV_WC_RDMA_READ);
		CHECK_EQ(wc.byte_len, len);
		CHECK(filled(p.b.buf + at, len, i));
		CHECK(p.b.buf[at - 1] == 0xee && p.b.buf[at + len] == 0xee);
		CHECK(filled(p.a.buf + SIDE_BUF / 2, len, i));
	}
	/* If the length is 0, the remote side checks neither key nor address (RFC 5041 5.2). */
	CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_WRITE, 3, NULL, 0, 0, 0, IBV_SEND_SIGNALED), 0);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_READ, 4, NULL, 0, 0, 0, IBV_SEND_SIGNALED), 0);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.byte_len, 0);
	expect_qp_state(p.b.qp, IBV_QPS_RTS);
	pair_close(&p);
}

/* More Reads than the peer answers at a time (16): they wait, and none is lost. */
static void test_many_reads(void)
{
	enum { N = 64, LEN = 3000 };
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	fill(p.b.buf, N * LEN, 5);
	for (int i = 0; i < N; i++) {
		struct ibv_sge sge = sge_of(p.a.mr, p.a.buf + i * LEN, LEN);

		CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_READ, i, &sge, 1, address(p.b.buf + i * LEN),
				   p.b.mr->rkey, IBV_SEND_SIGNALED),
			 0);
	}
	for (int i = 0; i < N; i++) {
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, i);
	}
	CHECK(filled(p.a.buf, N * LEN, 5));
	pair_close(&p);
}

static void test_inline(void)
{
	uint8_t stack[256];
	struct ibv_sge sge[2];
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	/*
	 * Inline data comes in two pieces from unregistered memory, which changes right after the
	 * call.
	 */
	fill(stack, sizeof(stack), 9);
	sge[0] = (struct ibv_sge){ address(stack), 100, 0 };
	sge[1] = (struct ibv_sge){ address(stack + 100), 156, 0xdead };
	for (int i = 0; i < 20; i++) {
		struct ibv_sge r = sge_of(p.b.mr, p.b.buf + i * 256, 256);

		CHECK_EQ(post_recv(&p.b, i, &r, 1), 0);
	}
	for (int i = 0; i < 20; i++) {
		fill(stack, sizeof(stack), i);
		CHECK_EQ(post_send(&p.a, i, sge, 2, IBV_SEND_SIGNALED | IBV_SEND_INLINE), 0);
		memset(stack, 0, sizeof(stack));
	}
	for (int i = 0; i < 20; i++) {
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
		expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
		CHECK(filled(p.b.buf + i * 256, 256, i));
	}
	fill(stack, sizeof(stack), 99);
	CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_WRITE, 1, sge, 2, address(p.b.buf), p.b.mr->rkey,
			   IBV_SEND_SIGNALED | IBV_SEND_INLINE),
		 0);
	memset(stack, 0, sizeof(stack));
	sge[0] = sge_of(p.a.mr, p.a.buf, 1);
	CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_READ, 2, sge, 1, address(p.b.buf), p.b.mr->rkey,
			   IBV_SEND_SIGNALED),
		 0);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK(filled(p.b.buf, 256, 99));
	pair_close(&p);
}

static void test_gather_and_scatter(void)
{
	struct ibv_sge from[16], to[16];
	uint8_t whole[16 * 1001];
	size_t off = 0;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	/* 16 pieces of different lengths, one of them empty. The receiver's pieces differ. */
	for (uint32_t i = 0; i < 16; i++) {
		uint32_t len = i == 3 ? 0 : 700 + i * 13;

		from[i] = sge_of(p.a.mr, p.a.buf + i * 2000, len);
		fill(p.a.buf + i * 2000, len, i);
		memcpy(whole + off, p.a.buf + i * 2000, len);
		off += len;
		to[i] = sge_of(p.b.mr, p.b.buf + i * 3000, 900 - i);
	}
	CHECK_EQ(post_recv(&p.b, 1, to, 16), 0);
	CHECK_EQ(post_send(&p.a, 2, from, 16, IBV_SEND_SIGNALED), 0);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.byte_len, off);
	for (uint32_t i = 0, done = 0; i < 16 && done < off; i++) {
		uint32_t n = to[i].length < off - done ? to[i].length : off - done;

		CHECK(!memcmp(p.b.buf + i * 3000, whole + done, n));
		done += n;
	}
	CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_WRITE, 3, from, 16, address(p.b.buf + 100000),
			   p.b.mr->rkey, IBV_SEND_SIGNALED),
		 0);
	CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_READ, 4, from, 1, address(p.b.buf), p.b.mr->rkey,
			   IBV_SEND_SIGNALED),
		 0);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK(!memcmp(p.b.buf + 100000, whole, off));
	pair_close(&p);
}

/* lkey and rkey count from iova, or from 0 with IBV_ACCESS_ZERO_BASED. */
static void test_iova(void)
{
	ROWS("5040-5.1-04 5041-4.2-13");
	const int rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			   IBV_ACCESS_REMOTE_READ;
	struct ibv_mr *zero, *shifted;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;
	uint64_t iova;

	pair_open(&p, NULL);
	iova = 0x7700000000 + address(p.a.buf) % (uint64_t)sysconf(_SC_PAGESIZE);
	zero = ibv_reg_mr(p.b.pd, p.b.buf + 100, 1000, rights | IBV_ACCESS_ZERO_BASED);
	shifted = ibv_reg_mr_iova(p.a.pd, p.a.buf, 1000, iova, rights);
	CHECK(zero && shifted);
	fill(p.a.buf, 500, 3);
	sge = (struct ibv_sge){ iova, 500, shifted->lkey };
	CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_WRITE, 1, &sge, 1, 7, zero->rkey, IBV_SEND_SIGNALED),
		 0);
	sge.addr += 500;
	CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_READ, 2, &sge, 1, 7, zero->rkey, IBV_SEND_SIGNALED),
		 0);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK(filled(p.b.buf + 107, 500, 3));
	CHECK(filled(p.a.buf + 500, 500, 3));
	CHECK_EQ(ibv_dereg_mr(zero), 0);
	CHECK_EQ(ibv_dereg_mr(shifted), 0);
	pair_close(&p);
}

static void test_invalidate(void)
{
	ROWS("5040-3.2-02 5040-5.3-14");
	struct ibv_mr *mr;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	mr = ibv_reg_mr(p.b.pd, p.b.buf, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	CHECK(mr);
	sge = sge_of(p.b.mr, p.b.buf + 8192, 64);
	CHECK_EQ(post_recv(&p.b, 1, &sge, 1), 0);
	sge = sge_of(p.a.mr, p.a.buf, 64);
	CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_WRITE, 2, &sge, 1, address(p.b.buf), mr->rkey, 0), 0);
	CHECK_EQ(post_inv(&p.a, IBV_WR_SEND_WITH_INV, 3, &sge, 1, mr->rkey), 0);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, 3);
	CHECK_EQ(wc.opcode, IBV_WC_SEND);
	expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK(wc.wc_flags & IBV_WC_WITH_INV);
	CHECK_EQ(wc.invalidated_rkey, mr->rkey);
	CHECK_EQ(ibv_dereg_mr(mr), 0);

	mr = ibv_reg_mr(p.a.pd, p.a.buf, 4096, IBV_ACCESS_LOCAL_WRITE);
	CHECK(mr);
	CHECK_EQ(post_inv(&p.a, IBV_WR_LOCAL_INV, 4, NULL, 0, mr->rkey), 0);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.opcode, IBV_WC_LOCAL_INV);
	sge = sge_of(mr, p.a.buf, 64);
	CHECK_EQ(post_send(&p.a, 5, &sge, 1, IBV_SEND_SIGNALED), 0);
	expect_wc(p.a.send_cq, IBV_WC_LOC_PROT_ERR, &wc);
	CHECK_EQ(wc.wr_id, 5);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	pair_close(&p);
}

/* A fenced Send sends the data from the Read before it. */
static void test_fence(void)
{
	ROWS("5040-5.5-11");
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	for (unsigned int i = 0; i < 50; i++) {
		fill(p.b.buf, 20000, i);
		sge = sge_of(p.b.mr, p.b.buf + 100000, 20000);
		CHECK_EQ(post_recv(&p.b, i, &sge, 1), 0);
		sge = sge_of(p.a.mr, p.a.buf, 20000);
		CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_READ, 1, &sge, 1, address(p.b.buf),
				   p.b.mr->rkey, 0),
			 0);
		CHECK_EQ(post_send(&p.a, 2, &sge, 1, IBV_SEND_SIGNALED | IBV_SEND_FENCE), 0);
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, 2);
		expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
		CHECK(filled(p.b.buf + 100000, 20000, i));
	}
	pair_close(&p);
}

static void test_unsignaled(void)
{
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	/*
	 * Ten times as many requests as the queue has room for: unsignaled requests also free their
	 * slots.
	 */
	for (int i = 0; i < 640; i++) {
		unsigned int flags = i % 64 == 63 ? IBV_SEND_SIGNALED : 0;

		sge = sge_of(p.a.mr, p.a.buf, 32);
		CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_WRITE, i, &sge, 1, address(p.b.buf),
				   p.b.mr->rkey, flags),
			 0);
		if (flags) {
			expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
			CHECK_EQ(wc.wr_id, i);
			CHECK_EQ(ibv_poll_cq(p.a.send_cq, 1, &wc), 0);
		}
	}
	pair_close(&p);
}

static void test_sq_sig_all(void)
{
	struct pair_options o = { .sq_sig_all = true };
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, &o);
	CHECK_EQ(ibv_query_qp(p.a.qp, &attr, 0, &init), 0);
	CHECK_EQ(init.sq_sig_all, 1);
	sge = sge_of(p.a.mr, p.a.buf, 32);
	CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_WRITE, 7, &sge, 1, address(p.b.buf), p.b.mr->rkey, 0),
		 0);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, 7);
	pair_close(&p);
}

/* All refusals of ibv_post_send(). In a chain, work requests before the bad one are sent. */
static void test_post_send_refusals(void)
{
	ROWS("7306-1.1-01 5041-1.2-01 5041-5.2-03");
	struct ibv_send_wr wr[3], *bad = NULL;
	struct ibv_sge sge[40];
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	CHECK_EQ(ibv_query_qp(p.a.qp, &attr, 0, &init), 0);
	for (int i = 0; i < 40; i++)
		sge[i] = sge_of(p.a.mr, p.a.buf, 8);
#define REFUSED(err, n, ...)                                                                       \
	do {                                                                                       \
		wr[0] = (struct ibv_send_wr){ .wr_id = 1,                                          \
					      .next = &wr[1],                                      \
					      .sg_list = sge,                                      \
					      .num_sge = 1,                                        \
					      .opcode = IBV_WR_RDMA_WRITE,                         \
					      .send_flags = IBV_SEND_SIGNALED,                     \
					      .wr.rdma = { address(p.b.buf), p.b.mr->rkey } };     \
		wr[1] = (struct ibv_send_wr){                                                      \
			.wr_id = 2, .next = &wr[2], .sg_list = sge, .num_sge = n, __VA_ARGS__      \
		};                                                                                 \
		wr[2] = wr[0];                                                                     \
		wr[2].next = NULL;                                                                 \
		CHECK_EQ(ibv_post_send(p.a.qp, wr, &bad), err);                                    \
		CHECK(bad == &wr[1]);                                                              \
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);                                       \
		CHECK_EQ(wc.wr_id, 1);                                                             \
	} while (0)
	REFUSED(EINVAL, attr.cap.max_send_sge + 1, .opcode = IBV_WR_SEND);
	REFUSED(EINVAL, -1, .opcode = IBV_WR_SEND);
	REFUSED(EINVAL, attr.cap.max_send_sge + 1, .opcode = IBV_WR_RDMA_READ);
	REFUSED(EINVAL, 1, .opcode = IBV_WR_RDMA_READ, .send_flags = IBV_SEND_INLINE);
	REFUSED(EINVAL, 1, .opcode = 4711);
	REFUSED(EINVAL, 1, .opcode = -1);
	REFUSED(EINVAL, 1, .opcode = IBV_WR_SEND, .send_flags = 1 << 20);
	REFUSED(EINVAL, 0, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD);
	REFUSED(EINVAL, 0, .opcode = IBV_WR_BIND_MW); /* without a window */
	sge[0].length = attr.cap.max_inline_data + 1;
	REFUSED(EINVAL, 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE);
	/*
	 * Two elements of more than 2^31 bytes together. The first request of the chain must stay
	 * small.
	 */
	sge[0].length = 8;
	sge[1].length = UINT32_MAX;
	REFUSED(EINVAL, 2, .opcode = IBV_WR_SEND);
#undef REFUSED
	expect_no_wc(p.a.send_cq, 20);
	expect_qp_state(p.b.qp, IBV_QPS_RTS);
	pair_close(&p);
}

/*
 * In SQD, no new request starts. The queue fills up, and then returns ENOMEM. Back in RTS, all
 * requests are sent.
 */
static void test_queue_full(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD };
	struct ibv_send_wr wr = { .num_sge = 1,
				  .opcode = IBV_WR_RDMA_WRITE,
				  .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr *bad = NULL;
	struct ibv_qp_init_attr init;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;
	uint32_t limit;

	pair_open(&p, NULL);
	CHECK_EQ(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE), 0);
	CHECK_EQ(ibv_query_qp(p.a.qp, &attr, 0, &init), 0);
	CHECK_EQ(attr.qp_state, IBV_QPS_SQD);
	limit = attr.cap.max_send_wr;
	sge = sge_of(p.a.mr, p.a.buf, 8);
	wr.sg_list = &sge;
	wr.wr.rdma.remote_addr = address(p.b.buf);
	wr.wr.rdma.rkey = p.b.mr->rkey;
	for (wr.wr_id = 0; wr.wr_id < limit; wr.wr_id++)
		CHECK_EQ(ibv_post_send(p.a.qp, &wr, &bad), 0);
	CHECK_EQ(ibv_post_send(p.a.qp, &wr, &bad), ENOMEM);
	CHECK(bad == &wr);
	expect_no_wc(p.a.send_cq, 50);
	attr.qp_state = IBV_QPS_RTS;
	CHECK_EQ(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE), 0);
	for (uint32_t i = 0; i < limit; i++) {
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, i);
	}
	pair_close(&p);
}

/* With rnr_retry_count 7, Sends wait for receives for ever, and go into the right receives. */
static void test_sends_before_receives(void)
{
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	for (unsigned int i = 0; i < 20; i++) {
		fill(p.a.buf + i * 4000, 4000, i);
		sge = sge_of(p.a.mr, p.a.buf + i * 4000, 4000);
		CHECK_EQ(post_send(&p.a, i, &sge, 1, IBV_SEND_SIGNALED), 0);
	}
	expect_no_wc(p.b.recv_cq, 1500);
	CHECK_EQ(ibv_poll_cq(p.a.send_cq, 1, &wc), 0);
	for (unsigned int i = 0; i < 20; i++) {
		sge = sge_of(p.b.mr, p.b.buf + i * 4000, 4000);
		CHECK_EQ(post_recv(&p.b, i, &sge, 1), 0);
	}
	for (unsigned int i = 0; i < 20; i++) {
		expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, i);
		CHECK(filled(p.b.buf + i * 4000, 4000, i));
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	}
	pair_close(&p);
}

/*
 * ibv_query_qp() returns the attributes from ibv_modify_qp(). Removed access rights have no effect.
 */
static void test_attributes_of_a_connected_qp(void)
{
	ROWS("5040-8.1.1-02");
	struct ibv_qp_attr attr = { .timeout = 14,
				    .retry_cnt = 6,
				    .rnr_retry = 5,
				    .min_rnr_timer = 12,
				    .qp_access_flags = 0 };
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr got;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	CHECK_EQ(ibv_query_qp(p.b.qp, &got, 0, &init), 0);
	CHECK_EQ(got.qp_access_flags,
		 IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	CHECK_EQ(ibv_modify_qp(p.b.qp, &attr,
			       IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				       IBV_QP_MIN_RNR_TIMER | IBV_QP_ACCESS_FLAGS),
		 0);
	CHECK_EQ(ibv_query_qp(p.b.qp, &got, 0, &init), 0);
	CHECK_EQ(got.timeout, 14);
	CHECK_EQ(got.retry_cnt, 6);
	CHECK_EQ(got.rnr_retry, 5);
	CHECK_EQ(got.min_rnr_timer, 12);
	CHECK_EQ(got.qp_access_flags, 0);
	sge = sge_of(p.a.mr, p.a.buf, 8);
	CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_READ, 1, &sge, 1, address(p.b.buf), p.b.mr->rkey,
			   IBV_SEND_SIGNALED),
		 0);
	expect_wc(p.a.send_cq, IBV_WC_REM_ACCESS_ERR, &wc);
	pair_close(&p);
}

/* Four threads use one QP and its CQs: every request completes exactly once. */
enum { THREADS = 4, EACH = 500 };

struct crowd {
	struct side *a, *b;
	_Atomic int completed;
	_Atomic uint8_t seen[THREADS * EACH];
};

struct member {
	struct crowd *crowd;
	int index;
};

static void *crowd_member(void *arg)
{
	struct member *m = arg;
	struct crowd *c = m->crowd;
	struct ibv_sge sge = sge_of(c->a->mr, c->a->buf, 24);
	double end = now_seconds() + WAIT_SECONDS;
	int posted = 0;
	struct ibv_wc wc[4];

	while (c->completed < THREADS * EACH) {
		CHECK(now_seconds() < end);
		if (posted < EACH) {
			int err = post_rdma(c->a, IBV_WR_RDMA_WRITE, m->index * EACH + posted, &sge,
					    1, address(c->b->buf), c->b->mr->rkey,
					    IBV_SEND_SIGNALED);

			CHECK(!err || err == ENOMEM);
			posted += !err;
		}
		for (int n = ibv_poll_cq(c->a->send_cq, 4, wc); n > 0; n--) {
			CHECK_EQ(wc[n - 1].status, IBV_WC_SUCCESS);
			CHECK(!c->seen[wc[n - 1].wr_id]++);
			c->completed++;
		}
	}
	return NULL;
}

static void test_threads(void)
{
	struct member members[THREADS];
	pthread_t threads[THREADS];
	static struct crowd c;
	struct pair p;

	pair_open(&p, NULL);
	c.a = &p.a;
	c.b = &p.b;
	for (int i = 0; i < THREADS; i++) {
		members[i] = (struct member){ &c, i };
		CHECK_EQ(pthread_create(&threads[i], NULL, crowd_member, &members[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(c.completed, THREADS * EACH);
	expect_no_wc(p.a.send_cq, 10);
	pair_close(&p);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "send_recv", test_send_recv },
		{ "stream_of_sends", test_stream_of_sends },
		{ "write_and_read", test_write_and_read },
		{ "many_reads", test_many_reads },
		{ "inline", test_inline },
		{ "gather_and_scatter", test_gather_and_scatter },
		{ "iova", test_iova },
		{ "invalidate", test_invalidate },
		{ "fence", test_fence },
		{ "unsignaled", test_unsignaled },
		{ "sq_sig_all", test_sq_sig_all },
		{ "post_send_refusals", test_post_send_refusals },
		{ "queue_full", test_queue_full },
		{ "sends_before_receives", test_sends_before_receives },
		{ "attributes_of_a_connected_qp", test_attributes_of_a_connected_qp },
		{ "threads", test_threads },
	};

	return RUN_TESTS(argc, argv, tests);
}
