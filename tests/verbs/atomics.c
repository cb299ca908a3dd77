/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: iwarp.atomics --personality iwarp -- */
/* Atomics and immediate data over stock libibverbs. */
#include "fixture.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

static uint64_t *words(const struct side *s)
{
	return (uint64_t *)(void *)s->buf;
}

static int post_atomic(struct side *s, enum ibv_wr_opcode opcode, uint64_t wr_id, void *result,
		       uint64_t remote, uint32_t rkey, uint64_t compare_add, uint64_t swap)
{
	struct ibv_sge sge = sge_of(s->mr, result, 8);
	struct ibv_send_wr wr = { .wr_id = wr_id,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = opcode,
				  .send_flags = IBV_SEND_SIGNALED,
				  .wr.atomic = { remote, compare_add, swap, rkey } };
	struct ibv_send_wr *bad = NULL;
	int err = ibv_post_send(s->qp, &wr, &bad);

	CHECK(bad == (err ? &wr : NULL));
	return err;
}

/* Posts an atomic on the first word of the peer's memory, and returns the word's old value. */
static uint64_t atomic(struct pair *p, enum ibv_wr_opcode opcode, uint64_t compare_add,
		       uint64_t swap)
{
	uint64_t *result = words(&p->a) + 5;
	struct ibv_wc wc;

	*result = 0x5a5a5a5a5a5a5a5a;
	CHECK_EQ(post_atomic(&p->a, opcode, 77, result, address(p->b.buf), p->b.mr->rkey,
			     compare_add, swap),
		 0);
	expect_wc(p->a.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, 77);
	CHECK_EQ(wc.byte_len, 8);
	CHECK_EQ(wc.opcode,
		 opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? IBV_WC_FETCH_ADD : IBV_WC_COMP_SWAP);
	return *result;
}

static void test_caps(void)
{
	ROWS("7306-1.1-01 7306-5-03");
	struct ibv_context *ctx = open_device();
	struct ibv_device_attr_ex ex;

	CHECK_EQ(ibv_query_device_ex(ctx, NULL, &ex), 0);
	CHECK_EQ(ex.orig_attr.atomic_cap, is_iwarp(ctx) ? IBV_ATOMIC_GLOB : IBV_ATOMIC_HCA);
	CHECK_EQ(ex.pci_atomic_caps.fetch_add, IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP);
	CHECK_EQ(ex.pci_atomic_caps.compare_swap, IBV_PCI_ATOMIC_OPERATION_8_BYTE_SIZE_SUP);
	CHECK_EQ(ex.pci_atomic_caps.swap, 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

static void test_operations(void)
{
	ROWS("7306-5-01 7306-5.1.1-07 7306-5.2.2-05 7306-5.1.2-03");
	struct pair p;

	pair_open(&p, NULL);
	words(&p.b)[0] = 40;
	words(&p.b)[1] = 4711;
	CHECK_EQ(atomic(&p, IBV_WR_ATOMIC_FETCH_AND_ADD, 2, 0), 40);
	CHECK_EQ(words(&p.b)[0], 42);
	CHECK_EQ(atomic(&p, IBV_WR_ATOMIC_FETCH_AND_ADD, (uint64_t)-43, 0), 42);
	CHECK_EQ(words(&p.b)[0], -1);
	CHECK_EQ(atomic(&p, IBV_WR_ATOMIC_CMP_AND_SWP, 1, 2), -1);
	CHECK_EQ(words(&p.b)[0], -1);
	CHECK_EQ(atomic(&p, IBV_WR_ATOMIC_CMP_AND_SWP, UINT64_MAX, 0x1122334455667788), -1);
	CHECK_EQ(words(&p.b)[0], 0x1122334455667788);
	CHECK_EQ(atomic(&p, IBV_WR_ATOMIC_FETCH_AND_ADD, 0, 0), 0x1122334455667788);
	CHECK_EQ(words(&p.b)[1], 4711);
	expect_no_wc(p.b.recv_cq, 10);
	pair_close(&p);
}

/*
 * More atomics than ORD are posted at once, between other requests. They execute in the order of
 * posting.
 */
static void test_many(void)
{
	ROWS("7306-5.2.1-12 7306-5.2.1-14 7306-5.2-01");
	enum { ROUNDS = 20, EACH = 60 };
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		for (unsigned int i = 0; i < EACH; i++) {
			if (i % 4 == 3) {
				sge = sge_of(p.a.mr, p.a.buf + 8 * i, 8);
				CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_READ, i, &sge, 1,
						   address(p.b.buf), p.b.mr->rkey,
						   IBV_SEND_SIGNALED),
					 0);
				continue;
			}
			CHECK_EQ(post_atomic(&p.a, IBV_WR_ATOMIC_FETCH_AND_ADD, i, words(&p.a) + i,
					     address(p.b.buf), p.b.mr->rkey, 1, 0),
				 0);
		}
		for (unsigned int i = 0; i < EACH; i++) {
			expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
			CHECK_EQ(wc.wr_id, i);
			/* the read sees the results of all earlier atomics */
			CHECK_EQ(words(&p.a)[i], round * (EACH / 4 * 3) + i - i / 4);
		}
	}
	CHECK_EQ(words(&p.b)[0], ROUNDS * (EACH / 4 * 3));
	pair_close(&p);
}

/*
 * Atomics are atomic with the processors, too: no addition is lost, and no old value occurs twice.
 */
enum { LOCAL_THREADS = 2, REMOTES = 2, REMOTE_ADDS = 2000 };

struct contest {
	_Atomic uint64_t *word;
	_Atomic bool over;
	_Atomic uint64_t added[LOCAL_THREADS];
	_Atomic uint32_t next_thread;
};

static void *local_adds(void *arg)
{
	struct contest *c = arg;
	uint32_t me = c->next_thread++;

	while (!c->over) {
		for (int i = 0; i < 1000; i++)
			atomic_fetch_add_explicit(c->word, (uint64_t)1 << 32, memory_order_relaxed);
		c->added[me] += 1000;
	}
	return NULL;
}

static void test_with_the_processor(void)
{
	ROWS("7306-5-03 7306-5-02");
	static bool seen[REMOTES * REMOTE_ADDS];
	pthread_t threads[LOCAL_THREADS];
	struct contest c = { .over = false };
	struct pair p[REMOTES];
	struct ibv_mr *mr;
	struct ibv_wc wc;
	int posted[REMOTES] = { 0 }, done[REMOTES] = { 0 };

	for (int i = 0; i < REMOTES; i++)
		pair_open(&p[i], NULL);
	/* both add to one word */
	mr = ibv_reg_mr(p[1].b.pd, p[0].b.buf, 8,
			IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
	CHECK(mr);
	c.word = (_Atomic uint64_t *)(void *)p[0].b.buf;
	for (int i = 0; i < LOCAL_THREADS; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, local_adds, &c), 0);
	while (!c.added[0] || !c.added[1])
		sleep_ms(1);
	while (done[0] < REMOTE_ADDS || done[1] < REMOTE_ADDS) {
		for (int i = 0; i < REMOTES; i++) {
			while (posted[i] < REMOTE_ADDS && posted[i] - done[i] < 32) {
				CHECK_EQ(post_atomic(&p[i].a, IBV_WR_ATOMIC_FETCH_AND_ADD,
						     posted[i], words(&p[i].a) + posted[i] % 32,
						     address(p[0].b.buf),
						     i ? mr->rkey : p[0].b.mr->rkey, 1, 0),
					 0);
				posted[i]++;
			}
			while (done[i] < REMOTE_ADDS && ibv_poll_cq(p[i].a.send_cq, 1, &wc)) {
				uint32_t old = (uint32_t)words(&p[i].a)[done[i] % 32];

				CHECK_EQ(wc.status, IBV_WC_SUCCESS);
				CHECK_EQ(wc.wr_id, done[i]);
				CHECK(old < REMOTES * REMOTE_ADDS && !seen[old]);
				seen[old] = true;
				done[i]++;
			}
		}
	}
	c.over = true;
	for (int i = 0; i < LOCAL_THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK_EQ(*c.word & UINT32_MAX, REMOTES * REMOTE_ADDS);
	CHECK_EQ(*c.word >> 32, (c.added[0] + c.added[1]) & UINT32_MAX);
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	for (int i = 0; i < REMOTES; i++)
		pair_close(&p[i]);
}

/* Compare-and-swap takes a lock word: two connections in turn, and the processor. */
static void test_compare_and_swap_lock(void)
{
	struct pair p;

	pair_open(&p, NULL);
	for (uint64_t i = 1; i <= 200; i++) {
		CHECK_EQ(atomic(&p, IBV_WR_ATOMIC_CMP_AND_SWP, 0, i), 0);
		CHECK_EQ(atomic(&p, IBV_WR_ATOMIC_CMP_AND_SWP, 0, i + 1), i);
		CHECK_EQ(__atomic_exchange_n(words(&p.b), 0, __ATOMIC_SEQ_CST), i);
	}
	pair_close(&p);
}

static void test_post_refusals(void)
{
	struct ibv_sge sge[2];
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
#define REFUSED(err, n, ...)                                                                       \
	do {                                                                                       \
		struct ibv_send_wr wr = { .wr_id = 1, .sg_list = sge, .num_sge = n, __VA_ARGS__ }, \
				   *bad;                                                           \
		wr.wr.atomic.remote_addr = address(p.b.buf);                                       \
		wr.wr.atomic.rkey = p.b.mr->rkey;                                                  \
		bad = NULL;                                                                        \
		CHECK_EQ(ibv_post_send(p.a.qp, &wr, &bad), err);                                   \
		CHECK(bad == &wr);                                                                 \
	} while (0)
	sge[0] = sge_of(p.a.mr, p.a.buf, 7);
	REFUSED(EINVAL, 1, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD);
	REFUSED(EINVAL, 0, .opcode = IBV_WR_ATOMIC_CMP_AND_SWP);
	sge[0].length = 8;
	REFUSED(EINVAL, 1, .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD, .send_flags = IBV_SEND_INLINE);
#undef REFUSED
	expect_no_wc(p.a.send_cq, 10);
	/* The result is scattered over two elements. */
	words(&p.b)[0] = 0x0807060504030201;
	sge[0] = sge_of(p.a.mr, p.a.buf + 100, 3);
	sge[1] = sge_of(p.a.mr, p.a.buf + 200, 5);
	{
		struct ibv_send_wr wr = { .sg_list = sge,
					  .num_sge = 2,
					  .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
					  .send_flags = IBV_SEND_SIGNALED,
					  .wr.atomic = { address(p.b.buf), 1, 0, p.b.mr->rkey } };
		struct ibv_send_wr *bad;

		CHECK_EQ(ibv_post_send(p.a.qp, &wr, &bad), 0);
	}
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK(!memcmp(p.a.buf + 100, "\1\2\3\0", 4));
	CHECK(!memcmp(p.a.buf + 200, "\4\5\6\7\x8\0", 6));
	pair_close(&p);
}

/*
 * An atomic that the peer does not permit changes nothing. It is an error of the local work
 * request, and of the peer's QP.
 */
static void test_remote_refusals(void)
{
	ROWS("7306-5.1.1-01 7306-5.1.1-02 7306-5.1.1-03 7306-9-01");
	enum { RKEY, ACROSS, ODD, NO_RIGHT, READ_ONLY, UNMAPPED, QP_RIGHT, CASES };

	for (int c = 0; c < CASES; c++) {
		bool code = c == ODD;
		const enum ibv_wc_status status = code ? IBV_WC_REM_INV_REQ_ERR :
							 IBV_WC_REM_ACCESS_ERR;
		struct ibv_qp_attr attr = { .qp_access_flags = IBV_ACCESS_REMOTE_WRITE };
		uint64_t to, before = 0x7777777777777777;
		struct ibv_mr *mr;
		struct ibv_wc wc;
		struct pair p;
		uint8_t *page;
		uint32_t rkey;

		pair_open(&p, NULL);
		page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		CHECK(page != MAP_FAILED);
		memset(page, 0x77, 4096);
		mr = ibv_reg_mr(p.b.pd, page, 4096,
				c == NO_RIGHT ? IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
							IBV_ACCESS_REMOTE_READ :
						IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
		CHECK(mr);
		to = address(page) + 8;
		rkey = mr->rkey;
		if (c == RKEY)
			rkey ^= 0x100;
		else if (c == ACROSS)
			to = address(page) + 4096;
		else if (c == ODD)
			to += 4;
		else if (c == READ_ONLY)
			CHECK_EQ(mprotect(page, 4096, PROT_READ), 0);
		else if (c == UNMAPPED)
			take_away(page, 4096);
		else if (c == QP_RIGHT)
			CHECK_EQ(ibv_modify_qp(p.b.qp, &attr, IBV_QP_ACCESS_FLAGS), 0);
		/* a comparison that fails also needs write permission */
		CHECK_EQ(post_atomic(&p.a,
				     c == READ_ONLY ? IBV_WR_ATOMIC_CMP_AND_SWP :
						      IBV_WR_ATOMIC_FETCH_AND_ADD,
				     1, p.a.buf, to, rkey, 1, 0),
			 0);
		expect_wc(p.a.send_cq, status, &wc);
		CHECK_EQ(wc.wr_id, 1);
		expect_qp_state(p.a.qp, IBV_QPS_ERR);
		expect_qp_state(p.b.qp, IBV_QPS_ERR);
		EXPECT_ASYNC(p.b.qp->context,
			     { code ? IBV_EVENT_QP_REQ_ERR : IBV_EVENT_QP_ACCESS_ERR, p.b.qp });
		expect_no_async(p.a.qp->context, 10);
		CHECK_EQ(words(&p.a)[0], 0);
		CHECK_EQ(ibv_dereg_mr(mr), 0);
		if (c != UNMAPPED) {
			for (int i = 0; i < 4096; i += 8)
				CHECK(!memcmp(page + i, &before, 8));
			munmap(page, 4096);
		}
		pair_close(&p);
	}
}

/* The memory for the result was deregistered before the result came, or was never registered. */
static void test_local_protection(void)
{
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	{
		struct ibv_sge sge = { address(p.a.buf), 8, p.a.mr->lkey ^ 0x100 };
		struct ibv_send_wr wr = { .sg_list = &sge,
					  .num_sge = 1,
					  .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
					  .wr.atomic = { address(p.b.buf), 1, 0, p.b.mr->rkey } };
		struct ibv_send_wr *bad;

		CHECK_EQ(ibv_post_send(p.a.qp, &wr, &bad), 0);
	}
	expect_wc(p.a.send_cq, IBV_WC_LOC_PROT_ERR, &wc);
	expect_qp_state(p.b.qp, IBV_QPS_ERR);
	CHECK_EQ(words(&p.b)[0], 0); /* the request was not sent to the peer */
	pair_close(&p);
}

static void test_flush(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	CHECK_EQ(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE), 0);
	CHECK_EQ(post_atomic(&p.a, IBV_WR_ATOMIC_FETCH_AND_ADD, 1, p.a.buf, address(p.b.buf),
			     p.b.mr->rkey, 1, 0),
		 0);
	expect_wc(p.a.send_cq, IBV_WC_WR_FLUSH_ERR, &wc);
	CHECK_EQ(wc.wr_id, 1);
	CHECK_EQ(words(&p.b)[0], 0);
	pair_close(&p);
}

/* Immediate data */

static int post_imm(struct side *s, const struct side *to, enum ibv_wr_opcode opcode,
		    uint64_t wr_id, uint32_t offset, uint32_t len, uint32_t imm, unsigned int flags)
{
	struct ibv_sge sge = sge_of(s->mr, s->buf + offset, len);
	struct ibv_send_wr wr = { .wr_id = wr_id,
				  .sg_list = &sge,
				  .num_sge = len ? 1 : 0,
				  .opcode = opcode,
				  .send_flags = IBV_SEND_SIGNALED | flags,
				  .imm_data = htonl(imm),
				  .wr.rdma = { address(to->buf) + offset, to->mr->rkey } };
	struct ibv_send_wr *bad = NULL;
	int err = ibv_post_send(s->qp, &wr, &bad);

	CHECK(bad == (err ? &wr : NULL));
	return err;
}

static void received(struct side *s, uint64_t wr_id, enum ibv_wc_opcode opcode, uint32_t len,
		     uint32_t imm)
{
	struct ibv_wc wc;

	expect_wc(s->recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, wr_id);
	CHECK_EQ(wc.opcode, opcode);
	CHECK_EQ(wc.byte_len, len);
	CHECK_EQ(wc.wc_flags, IBV_WC_WITH_IMM);
	CHECK_EQ(ntohl(wc.imm_data), imm);
	CHECK_EQ(wc.qp_num, s->qp->qp_num);
}

static void test_write_with_imm(void)
{
	ROWS("7306-6-01 7306-6.1-01 7306-6.3-02 7306-7-01");
	static const uint32_t lengths[] = { 0, 1, 64, 1000, 9000, 300000 };
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	for (uint32_t i = 0; i < 6; i++) {
		unsigned int flags = lengths[i] && lengths[i] <= 64 ? IBV_SEND_INLINE : 0;

		CHECK_EQ(post_recv(&p.b, 10 + i, NULL, 0), 0);
		fill(p.a.buf + 1024 * i, lengths[i], i);
		CHECK_EQ(post_imm(&p.a, &p.b, IBV_WR_RDMA_WRITE_WITH_IMM, i, 1024 * i, lengths[i],
				  0xfffffff0 + i, flags),
			 0);
		received(&p.b, 10 + i, IBV_WC_RECV_RDMA_WITH_IMM, lengths[i], 0xfffffff0 + i);
		CHECK(filled(p.b.buf + 1024 * i, lengths[i], i));
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, i);
		CHECK_EQ(wc.opcode, IBV_WC_RDMA_WRITE);
	}
	pair_close(&p);
}

/*
 * Messages with immediate data between Writes and Sends without: each completes with its own
 * opcode.
 */
static void test_mixed_imm(void)
{
	ROWS("7306-6.3-01 7306-6.3-03 7306-6.3-05");
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	for (unsigned int round = 0; round < 50; round++) {
		sge = sge_of(p.b.mr, p.b.buf + 50000, 100);
		for (unsigned int i = 0; i < 5; i++)
			CHECK_EQ(post_recv(&p.b, i, i == 3 ? &sge : NULL, i == 3), 0);
		CHECK_EQ(post_imm(&p.a, &p.b, IBV_WR_RDMA_WRITE_WITH_IMM, 0, 0, 5000, round, 0), 0);
		CHECK_EQ(post_imm(&p.a, &p.b, IBV_WR_SEND_WITH_IMM, 1, 0, 0, round + 1, 0), 0);
		CHECK_EQ(post_imm(&p.a, &p.b, IBV_WR_RDMA_WRITE, 2, 0, 30, 0, 0), 0);
		CHECK_EQ(post_imm(&p.a, &p.b, IBV_WR_SEND_WITH_IMM, 3, 0, 0, round + 2, 0), 0);
		sge = sge_of(p.a.mr, p.a.buf, 100);
		CHECK_EQ(post_send(&p.a, 4, &sge, 1, IBV_SEND_SIGNALED), 0);
		CHECK_EQ(post_imm(&p.a, &p.b, IBV_WR_RDMA_WRITE_WITH_IMM, 5, 0, 0, round + 3, 0),
			 0);
		received(&p.b, 0, IBV_WC_RECV_RDMA_WITH_IMM, 5000, round);
		received(&p.b, 1, IBV_WC_RECV, 0, round + 1);
		received(&p.b, 2, IBV_WC_RECV, 0, round + 2);
		expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, 3);
		CHECK_EQ(wc.wc_flags, 0);
		CHECK_EQ(wc.byte_len, 100);
		received(&p.b, 4, IBV_WC_RECV_RDMA_WITH_IMM, 0, round + 3);
		for (unsigned int i = 0; i < 6; i++) {
			expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
			CHECK_EQ(wc.wr_id, i);
		}
	}
	expect_no_wc(p.b.recv_cq, 10);
	pair_close(&p);
}

/* More Writes with immediate data than receives: they wait, and each keeps its length. */
static void test_imm_before_receives(void)
{
	ROWS("7306-6.3-02");
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	for (uint32_t i = 1; i <= 20; i++)
		CHECK_EQ(post_imm(&p.a, &p.b, IBV_WR_RDMA_WRITE_WITH_IMM, i, 0, 100 * i, i, 0), 0);
	expect_no_wc(p.a.send_cq, 50);
	expect_no_wc(p.b.recv_cq, 1);
	for (uint32_t i = 1; i <= 20; i++) {
		CHECK_EQ(post_recv(&p.b, i, NULL, 0), 0);
		received(&p.b, i, IBV_WC_RECV_RDMA_WITH_IMM, 100 * i, i);
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, i);
	}
	pair_close(&p);
}

/* Immediate data raises the event of a CQ that is armed for solicited completions. */
static void test_solicited_imm(void)
{
	ROWS("7306-4.1-05");
	struct ibv_cq *cq;
	struct pair p;
	void *ctx;

	pair_open(&p, NULL);
	for (uint64_t i = 1; i <= 3; i++)
		CHECK_EQ(post_recv(&p.b, i, NULL, 0), 0);
	CHECK_EQ(ibv_req_notify_cq(p.b.recv_cq, 1), 0);
	CHECK_EQ(post_imm(&p.a, &p.b, IBV_WR_RDMA_WRITE_WITH_IMM, 1, 0, 10, 1, 0), 0);
	received(&p.b, 1, IBV_WC_RECV_RDMA_WITH_IMM, 10, 1);
	CHECK_EQ(post_imm(&p.a, &p.b, IBV_WR_RDMA_WRITE_WITH_IMM, 2, 0, 10, 2, IBV_SEND_SOLICITED),
		 0);
	CHECK_EQ(ibv_get_cq_event(p.b.channel, &cq, &ctx), 0);
	CHECK(cq == p.b.recv_cq);
	ibv_ack_cq_events(cq, 1);
	received(&p.b, 2, IBV_WC_RECV_RDMA_WITH_IMM, 10, 2);
	CHECK_EQ(ibv_req_notify_cq(p.b.recv_cq, 1), 0);
	CHECK_EQ(post_imm(&p.a, &p.b, IBV_WR_SEND_WITH_IMM, 3, 0, 0, 3, IBV_SEND_SOLICITED), 0);
	CHECK_EQ(ibv_get_cq_event(p.b.channel, &cq, &ctx), 0);
	ibv_ack_cq_events(cq, 1);
	received(&p.b, 3, IBV_WC_RECV, 0, 3);
	pair_close(&p);
}

static void test_imm_in_an_extended_cq(void)
{
	struct pair_options o = { .extended_cqs = true };
	struct ibv_cq_ex *cq;
	struct pair p;

	pair_open(&p, &o);
	cq = (struct ibv_cq_ex *)(void *)p.b.recv_cq;
	CHECK_EQ(post_recv(&p.b, 1, NULL, 0), 0);
	CHECK_EQ(post_imm(&p.a, &p.b, IBV_WR_RDMA_WRITE_WITH_IMM, 1, 0, 10, 0x11223344, 0), 0);
	wait_start_poll(cq);
	CHECK_EQ(cq->wr_id, 1);
	CHECK_EQ(cq->status, IBV_WC_SUCCESS);
	CHECK_EQ(ibv_wc_read_opcode(cq), IBV_WC_RECV_RDMA_WITH_IMM);
	CHECK_EQ(ibv_wc_read_wc_flags(cq), IBV_WC_WITH_IMM);
	CHECK_EQ(ibv_wc_read_byte_len(cq), 10);
	CHECK_EQ(ntohl(ibv_wc_read_imm_data(cq)), 0x11223344);
	ibv_end_poll(cq);
	pair_close(&p);
}

/* No immediate data arrives after a Write that was refused. */
static void test_refused_write_with_imm(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .num_sge = 1 }, *bad;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	pair_open(&p, NULL);
	CHECK_EQ(post_recv(&p.b, 1, NULL, 0), 0);
	sge = sge_of(p.a.mr, p.a.buf, 8);
	wr.sg_list = &sge;
	wr.wr.rdma.remote_addr = address(p.b.buf);
	wr.wr.rdma.rkey = p.b.mr->rkey ^ 0x100;
	CHECK_EQ(ibv_post_send(p.a.qp, &wr, &bad), 0);
	expect_wc(p.b.recv_cq, IBV_WC_WR_FLUSH_ERR, &wc);
	CHECK_EQ(wc.wr_id, 1);
	expect_qp_state(p.a.qp, IBV_QPS_ERR);
	pair_close(&p);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "caps", test_caps },
		{ "operations", test_operations },
		{ "many", test_many },
		{ "with_the_processor", test_with_the_processor },
		{ "compare_and_swap_lock", test_compare_and_swap_lock },
		{ "post_refusals", test_post_refusals },
		{ "remote_refusals", test_remote_refusals },
		{ "local_protection", test_local_protection },
		{ "flush", test_flush },
		{ "write_with_imm", test_write_with_imm },
		{ "mixed_imm", test_mixed_imm },
		{ "imm_before_receives", test_imm_before_receives },
		{ "solicited_imm", test_solicited_imm },
		{ "imm_in_an_extended_cq", test_imm_in_an_extended_cq },
		{ "refused_write_with_imm", test_refused_write_with_imm },
	};

	return RUN_TESTS(argc, argv, tests);
}
