/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: in_order --in-order -- */
/*
 * ibv_create_qp_ex() and ibv_wr_*: every operation with every way to set its data, batches, errors.
 */
#include "fixture.h"

#include <pthread.h>
#include <sched.h>

#define OPS                                                                                        \
	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_SEND |              \
	 IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_LOCAL_INV)

static struct ibv_qp_ex *ex_of(struct side *s)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(s->qp);

	CHECK(ex);
	return ex;
}

static void open_extended(struct pair *p, struct ibv_qp_cap cap)
{
	struct pair_options o = { .cap = cap, .send_ops = OPS };

	pair_open(p, &o);
}

static const struct ibv_qp_cap usual = { 16, 16, 4, 4, 4096 };

static void next_wr(struct ibv_qp_ex *ex, uint64_t wr_id, unsigned int flags)
{
	ex->wr_id = wr_id;
	ex->wr_flags = flags;
}

static void expect_done(struct side *s, uint64_t wr_id, enum ibv_wc_opcode opcode)
{
	struct ibv_wc wc;

	expect_wc(s->send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, wr_id);
	CHECK_EQ(wc.opcode, opcode);
}

/* One batch has each operation. Completions and data come in order. */
static void test_operations(void)
{
	struct ibv_sge list[3], sge;
	struct ibv_data_buf bufs[3];
	struct ibv_qp_ex *ex;
	struct ibv_wc wc;
	struct pair p;
	uint8_t stack[300];

	open_extended(&p, usual);
	ex = ex_of(&p.a);
	fill(p.a.buf, 3000, 1);
	fill(stack, sizeof(stack), 2);
	for (int i = 0; i < 3; i++) {
		sge = sge_of(p.b.mr, p.b.buf + 100000 + i * 1000, 1000);
		CHECK_EQ(post_recv(&p.b, 50 + i, &sge, 1), 0);
	}
	list[0] = sge_of(p.a.mr, p.a.buf, 1);
	list[1] = sge_of(p.a.mr, p.a.buf + 1, 998);
	list[2] = sge_of(p.a.mr, p.a.buf + 999, 2001);
	bufs[0] = (struct ibv_data_buf){ stack, 7 };
	bufs[1] = (struct ibv_data_buf){ NULL, 0 };
	bufs[2] = (struct ibv_data_buf){ stack + 7, 293 };

	ibv_wr_start(ex);
	next_wr(ex, 1, IBV_SEND_SIGNALED);
	ibv_wr_rdma_write(ex, p.b.mr->rkey, address(p.b.buf));
	ibv_wr_set_sge(ex, p.a.mr->lkey, address(p.a.buf), 3000);
	next_wr(ex, 2, IBV_SEND_SIGNALED);
	ibv_wr_rdma_write(ex, p.b.mr->rkey, address(p.b.buf + 5000));
	ibv_wr_set_sge_list(ex, 3, list);
	next_wr(ex, 3, 0);
	ibv_wr_rdma_write(ex, p.b.mr->rkey, address(p.b.buf + 10000));
	ibv_wr_set_inline_data(ex, stack, sizeof(stack));
	next_wr(ex, 4, IBV_SEND_SIGNALED);
	ibv_wr_send(ex);
	ibv_wr_set_inline_data_list(ex, 3, bufs);
	next_wr(ex, 5, IBV_SEND_SIGNALED);
	ibv_wr_send(ex); /* without data */
	next_wr(ex, 6, IBV_SEND_SIGNALED);
	ibv_wr_send_inv(ex, p.b.mr->rkey);
	ibv_wr_set_sge(ex, p.a.mr->lkey, address(p.a.buf), 10);
	memset(bufs, 0, sizeof(bufs));
	CHECK_EQ(ibv_wr_complete(ex), 0);
	memset(stack, 0, sizeof(stack));

	expect_done(&p.a, 1, IBV_WC_RDMA_WRITE);
	expect_done(&p.a, 2, IBV_WC_RDMA_WRITE);
	expect_done(&p.a, 4, IBV_WC_SEND);
	expect_done(&p.a, 5, IBV_WC_SEND);
	expect_done(&p.a, 6, IBV_WC_SEND);
	expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.byte_len, 300);
	expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.byte_len, 0);
	expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.byte_len, 10);
	CHECK(wc.wc_flags & IBV_WC_WITH_INV);
	CHECK_EQ(wc.invalidated_rkey, p.b.mr->rkey);
	CHECK(filled(p.b.buf, 3000, 1) && filled(p.b.buf + 5000, 3000, 1));
	CHECK(filled(p.b.buf + 10000, 300, 2) && filled(p.b.buf + 100000, 300, 2));
	CHECK(filled(p.b.buf + 102000, 10, 1));
	pair_close(&p);
}

static void test_read_and_local_inv(void)
{
	struct ibv_qp_ex *ex;
	struct ibv_sge list[2];
	struct ibv_mr *mr;
	struct ibv_wc wc;
	struct pair p;

	open_extended(&p, usual);
	ex = ex_of(&p.a);
	mr = ibv_reg_mr(p.a.pd, p.a.buf + 8192, 4096, IBV_ACCESS_LOCAL_WRITE);
	CHECK(mr);
	fill(p.b.buf, 4096, 7);
	list[0] = sge_of(mr, p.a.buf + 8192, 1000);
	list[1] = sge_of(p.a.mr, p.a.buf, 3096);
	ibv_wr_start(ex);
	next_wr(ex, 1, IBV_SEND_SIGNALED);
	ibv_wr_rdma_read(ex, p.b.mr->rkey, address(p.b.buf));
	ibv_wr_set_sge_list(ex, 2, list);
	next_wr(ex, 2, IBV_SEND_SIGNALED);
	ibv_wr_rdma_read(ex, p.b.mr->rkey, address(p.b.buf));
	ibv_wr_set_sge(ex, p.a.mr->lkey, address(p.a.buf + 20000), 4096);
	next_wr(ex, 3, IBV_SEND_SIGNALED);
	ibv_wr_local_inv(ex, mr->rkey);
	next_wr(ex, 4, IBV_SEND_SIGNALED);
	ibv_wr_rdma_read(ex, p.b.mr->rkey, address(p.b.buf));
	ibv_wr_set_sge_list(ex, 2, list);
	CHECK_EQ(ibv_wr_complete(ex), 0);
	expect_done(&p.a, 1, IBV_WC_RDMA_READ);
	expect_done(&p.a, 2, IBV_WC_RDMA_READ);
	expect_done(&p.a, 3, IBV_WC_LOCAL_INV);
	expect_wc(p.a.send_cq, IBV_WC_LOC_PROT_ERR, &wc); /* that memory is invalid by now */
	CHECK_EQ(wc.wr_id, 4);
	CHECK(filled(p.a.buf + 20000, 4096, 7));
	CHECK(filled(p.a.buf + 8192, 1000, 7));
	CHECK(!memcmp(p.a.buf, p.b.buf + 1000, 3096));
	CHECK_EQ(ibv_dereg_mr(mr), 0);
	pair_close(&p);
}

/* The error of the work request in the middle. The others of its batch are right. */
enum wrong {
	NOTHING,
	LONG_INLINE,
	LONG_INLINE_LIST,
	INLINE_READ,
	LONG_LIST,
	SET_TWICE,
	BAD_FLAG,
	TOO_LONG,
	UD_ADDRESS,
	XRC_SRQ,
	ABORTED,
	WRONGS
};

/* Returns the QP's limit, which may be higher than requested. */
static uint32_t most_inline(const struct side *s)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	CHECK_EQ(ibv_query_qp(s->qp, &attr, IBV_QP_CAP, &init), 0);
	CHECK(attr.cap.max_inline_data >= 128);
	return attr.cap.max_inline_data;
}

static void put_wrong(struct side *s, struct ibv_qp_ex *ex, enum wrong wrong)
{
	struct ibv_data_buf huge[2] = { { s->buf, 2 }, { s->buf, SIZE_MAX } };
	struct ibv_sge list[5] = { { .length = 0 } };

	next_wr(ex, 2, IBV_SEND_SIGNALED | (wrong == BAD_FLAG ? 1u << 20 : 0));
	if (wrong == INLINE_READ)
		ibv_wr_rdma_read(ex, 1, 1);
	else
		ibv_wr_send(ex);
	switch (wrong) {
	case LONG_INLINE:
		ibv_wr_set_inline_data(ex, s->buf, most_inline(s) + 1);
		break;
	case INLINE_READ:
		ibv_wr_set_inline_data(ex, s->buf, 1);
		break;
	case LONG_INLINE_LIST:
		ibv_wr_set_inline_data_list(ex, 2, huge);
		break;
	case LONG_LIST:
		ibv_wr_set_sge_list(ex, 5, list);
		break;
	case TOO_LONG:
		list[0].length = list[1].length = 0x40000000;
		list[2].length = 1;
		ibv_wr_set_sge_list(ex, 3, list);
		break;
	default:
		ibv_wr_set_sge(ex, s->mr->lkey, address(s->buf), 2);
		if (wrong == SET_TWICE)
			ibv_wr_set_sge(ex, s->mr->lkey, address(s->buf), 2);
		if (wrong == UD_ADDRESS)
			ibv_wr_set_ud_addr(ex, NULL, 1, 2);
		if (wrong == XRC_SRQ)
			ibv_wr_set_xrc_srqn(ex, 1);
		break;
	}
}

/* ibv_wr_complete() returns the first error. No work request of the batch is posted. */
static void test_all_or_nothing(void)
{
	struct ibv_qp_ex *ex;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	open_extended(&p, (struct ibv_qp_cap){ 16, 16, 4, 4, 128 });
	ex = ex_of(&p.a);
	for (enum wrong wrong = WRONGS; wrong-- > NOTHING;) {
		ibv_wr_start(ex);
		next_wr(ex, 1, IBV_SEND_SIGNALED);
		ibv_wr_send(ex);
		ibv_wr_set_sge(ex, p.a.mr->lkey, address(p.a.buf), 1);
		put_wrong(&p.a, ex, wrong);
		next_wr(ex, 3, IBV_SEND_SIGNALED);
		ibv_wr_send(ex);
		ibv_wr_set_inline_data(ex, p.a.buf, 3);
		if (wrong == ABORTED)
			ibv_wr_abort(ex);
		else
			CHECK_EQ(ibv_wr_complete(ex), wrong ? EINVAL : 0);
	}
	/* Of all these batches only the right one was posted. */
	for (int i = 1; i <= 3; i++) {
		sge = sge_of(p.b.mr, p.b.buf, 100);
		CHECK_EQ(post_recv(&p.b, i, &sge, 1), 0);
	}
	for (int i = 1; i <= 3; i++) {
		expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.byte_len, i);
		expect_done(&p.a, i, IBV_WC_SEND);
	}
	/* An empty batch does nothing; data without a work request is an error. */
	ibv_wr_start(ex);
	CHECK_EQ(ibv_wr_complete(ex), 0);
	ibv_wr_start(ex);
	ibv_wr_set_inline_data(ex, p.a.buf, 3);
	CHECK_EQ(ibv_wr_complete(ex), EINVAL);
	expect_no_wc(p.a.send_cq, 50);
	pair_close(&p);
}

/* A batch that does not fit causes ENOMEM, as a chain does. The next batch fits. */
static void test_full_queue(void)
{
	struct ibv_qp_ex *ex;
	struct ibv_wc wc;
	struct pair p;

	open_extended(&p, (struct ibv_qp_cap){ 4, 4, 1, 1, 64 });
	ex = ex_of(&p.a);
	for (int n = 5; n >= 4; n--) {
		ibv_wr_start(ex);
		for (int i = 0; i < n; i++) {
			next_wr(ex, i, IBV_SEND_SIGNALED);
			ibv_wr_rdma_write(ex, p.b.mr->rkey, address(p.b.buf + i * 8));
			fill(p.a.buf, 8, i);
			ibv_wr_set_inline_data(ex, p.a.buf, 8);
		}
		CHECK_EQ(ibv_wr_complete(ex), n == 5 ? ENOMEM : 0);
	}
	for (int i = 0; i < 4; i++)
		expect_done(&p.a, i, IBV_WC_RDMA_WRITE);
	expect_no_wc(p.a.send_cq, 20);
	CHECK_EQ(post_rdma(&p.a, IBV_WR_RDMA_READ, 9, NULL, 0, address(p.b.buf), p.b.mr->rkey,
			   IBV_SEND_SIGNALED),
		 0);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	for (int i = 0; i < 4; i++)
		CHECK(filled(p.b.buf + i * 8, 8, i));
	pair_close(&p);
}

/* Before RTS, nothing can be posted. In the error state, work requests are flushed. */
static void test_states(void)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC,
					    .cap = usual,
					    .comp_mask = IBV_QP_INIT_ATTR_PD |
							 IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
					    .send_ops_flags = OPS };
	struct ibv_context *ctx = open_device();
	struct ibv_qp_attr qp_attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_qp_init_attr init;
	struct ibv_qp_ex *ex;
	struct ibv_qp *qp;
	struct ibv_wc wc;

	attr.pd = ibv_alloc_pd(ctx);
	attr.send_cq = attr.recv_cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);
	qp = ibv_create_qp_ex(ctx, &attr);
	CHECK(qp);
	ex = ibv_qp_to_qp_ex(qp);
	CHECK(ex && &ex->qp_base == qp);
	ibv_wr_start(ex);
	next_wr(ex, 1, IBV_SEND_SIGNALED);
	ibv_wr_send(ex);
	CHECK_EQ(ibv_wr_complete(ex), EINVAL);
	CHECK_EQ(ibv_modify_qp(qp, &qp_attr, IBV_QP_STATE), 0);
	ibv_wr_start(ex);
	next_wr(ex, 2, IBV_SEND_SIGNALED);
	ibv_wr_send(ex);
	CHECK_EQ(ibv_wr_complete(ex), 0);
	expect_wc(attr.send_cq, IBV_WC_WR_FLUSH_ERR, &wc);
	CHECK_EQ(wc.wr_id, 2);
	CHECK_EQ(ibv_query_qp(qp, &qp_attr, IBV_QP_STATE | IBV_QP_CAP, &init), 0);
	CHECK_EQ(qp_attr.qp_state, IBV_QPS_ERR);
	CHECK_EQ(init.cap.max_inline_data, 4096);
	CHECK_EQ(ibv_destroy_qp(qp), 0);
	CHECK_EQ(ibv_destroy_cq(attr.send_cq), 0);
	CHECK_EQ(ibv_dealloc_pd(attr.pd), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/* Unsupported attributes are refused. */
static void test_create_refused(void)
{
	static const struct {
		uint32_t comp_mask;
		uint32_t create_flags;
		uint64_t send_ops;
		enum ibv_qp_type type;
		int error;
	} cases[] = {
		{ IBV_QP_INIT_ATTR_XRCD, 0, 0, IBV_QPT_RC, EOPNOTSUPP },
		{ IBV_QP_INIT_ATTR_MAX_TSO_HEADER, 0, 0, IBV_QPT_RC, EOPNOTSUPP },
		{ IBV_QP_INIT_ATTR_IND_TABLE, 0, 0, IBV_QPT_RC, EOPNOTSUPP },
		{ IBV_QP_INIT_ATTR_RX_HASH, 0, 0, IBV_QPT_RC, EOPNOTSUPP },
		{ 1u << 31, 0, 0, IBV_QPT_RC, EOPNOTSUPP },
		{ IBV_QP_INIT_ATTR_CREATE_FLAGS, 0, 0, IBV_QPT_RC, 0 },
		{ IBV_QP_INIT_ATTR_CREATE_FLAGS, IBV_QP_CREATE_SCATTER_FCS, 0, IBV_QPT_RC,
		  EOPNOTSUPP },
		{ IBV_QP_INIT_ATTR_CREATE_FLAGS, IBV_QP_CREATE_SOURCE_QPN, 0, IBV_QPT_RC,
		  EOPNOTSUPP },
		{ IBV_QP_INIT_ATTR_CREATE_FLAGS, 1u << 31, 0, IBV_QPT_RC, EOPNOTSUPP },
		{ IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, 0, OPS, IBV_QPT_RC, 0 },
		{ IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, 0, IBV_QP_EX_WITH_TSO, IBV_QPT_RC, EOPNOTSUPP },
		{ IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, 0, OPS | UINT64_C(1) << 40, IBV_QPT_RC,
		  EOPNOTSUPP },
		{ IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, 0, IBV_QP_EX_WITH_RDMA_READ, IBV_QPT_UC,
		  EOPNOTSUPP },
		{ IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, 0, IBV_QP_EX_WITH_RDMA_WRITE, IBV_QPT_UD,
		  EOPNOTSUPP },
		{ IBV_QP_INIT_ATTR_XRCD, 0, 0, IBV_QPT_XRC_SEND, EOPNOTSUPP },
		{ 0, 0, 0, IBV_QPT_RAW_PACKET, EOPNOTSUPP },
		{ 0, 0, 0, IBV_QPT_DRIVER, EOPNOTSUPP },
		{ 0, 0, 0, 1000, EINVAL },
	};
	struct ibv_context *ctx = open_device();
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, 16, NULL, NULL, 0);

	CHECK(pd && cq);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ibv_qp_init_attr_ex attr = {
			.qp_type = cases[i].type,
			.cap = usual,
			.send_cq = cq,
			.recv_cq = cq,
			.pd = pd,
			.comp_mask = cases[i].comp_mask | IBV_QP_INIT_ATTR_PD,
			.create_flags = cases[i].create_flags,
			.send_ops_flags = cases[i].send_ops,
		};
		struct ibv_qp *qp;

		errno = 0;
		qp = ibv_create_qp_ex(ctx, &attr);
		if (cases[i].error ? !!qp : !qp)
			fprintf(stderr, "case %u\n", i);
		CHECK(cases[i].error ? !qp : !!qp);
		CHECK(!qp || !ibv_qp_to_qp_ex(qp) == !cases[i].send_ops);
		if (qp)
			CHECK_EQ(ibv_destroy_qp(qp), 0);
		else
			CHECK_EQ(errno, cases[i].error);
	}
	CHECK_EQ(ibv_destroy_cq(cq), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
	CHECK_EQ(ibv_close_device(ctx), 0);
}

/*
 * Four threads post batches of different lengths to one QP: each batch stays together, and none is
 * lost.
 */
enum { THREADS = 4, BATCHES = 300, MAX_BATCH = 4 };

struct sender {
	struct pair *p;
	unsigned int index;
};

static void *send_batches(void *arg)
{
	struct sender *sender = arg;
	struct ibv_qp_ex *ex = ex_of(&sender->p->a);
	struct ibv_wc wc;

	for (uint32_t i = 0; i < BATCHES;) {
		uint32_t n = i % MAX_BATCH + 1;
		int err;

		ibv_wr_start(ex);
		for (uint32_t k = 0; k < n; k++) {
			uint32_t message[4] = { sender->index, i, k, n };

			next_wr(ex, sender->index, k == n - 1 ? IBV_SEND_SIGNALED : 0);
			ibv_wr_send(ex);
			ibv_wr_set_inline_data(ex, message, sizeof(message));
			if (i % 64 == 3) /* gives other threads a chance to interfere */
				sched_yield();
		}
		err = ibv_wr_complete(ex);
		CHECK(!err || err == ENOMEM);
		i += !err;
		if (err && ibv_poll_cq(sender->p->a.send_cq, 1, &wc) == 1)
			CHECK_EQ(wc.status, IBV_WC_SUCCESS);
	}
	return NULL;
}

static void test_threads(void)
{
	enum { SLOTS = 64 };
	uint32_t next[THREADS] = { 0 }, open = 0, from = 0;
	struct sender senders[THREADS];
	pthread_t threads[THREADS];
	unsigned int total = 0, seen = 0;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	for (int i = 0; i < BATCHES; i++)
		total += THREADS * (i % MAX_BATCH + 1);
	open_extended(&p, (struct ibv_qp_cap){ 64, 64, 1, 1, 64 });
	for (int i = 0; i < SLOTS; i++) {
		sge = sge_of(p.b.mr, p.b.buf + i * 16, 16);
		CHECK_EQ(post_recv(&p.b, i, &sge, 1), 0);
	}
	for (unsigned int i = 0; i < THREADS; i++) {
		senders[i] = (struct sender){ &p, i };
		CHECK_EQ(pthread_create(&threads[i], NULL, send_batches, &senders[i]), 0);
	}
	while (seen < total) {
		if (ibv_poll_cq(p.b.recv_cq, 1, &wc) == 1) {
			uint32_t message[4];

			CHECK_EQ(wc.status, IBV_WC_SUCCESS);
			memcpy(message, p.b.buf + wc.wr_id * 16, 16);
			CHECK(message[0] < THREADS);
			CHECK(!open || message[0] == from); /* a batch stays together */
			CHECK_EQ(message[1], next[message[0]]);
			from = message[0];
			open = message[3] - message[2] - 1;
			if (!open)
				next[from]++;
			seen++;
			sge = sge_of(p.b.mr, p.b.buf + wc.wr_id * 16, 16);
			CHECK_EQ(post_recv(&p.b, wc.wr_id, &sge, 1), 0);
		}
	}
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pair_close(&p);
}

/* Chains of ibv_post_send() and batches of ibv_wr_* on one QP keep the order of posting. */
static void test_mixed(void)
{
	struct ibv_qp_ex *ex;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	open_extended(&p, usual);
	ex = ex_of(&p.a);
	for (int i = 0; i < 8; i++) {
		sge = sge_of(p.b.mr, p.b.buf, 100);
		CHECK_EQ(post_recv(&p.b, i, &sge, 1), 0);
	}
	for (int i = 0; i < 8; i++) {
		sge = sge_of(p.a.mr, p.a.buf, i);
		if (i % 2) {
			CHECK_EQ(post_send(&p.a, i, &sge, 1, IBV_SEND_SIGNALED), 0);
			continue;
		}
		ibv_wr_start(ex);
		next_wr(ex, i, IBV_SEND_SIGNALED | IBV_SEND_INLINE); /* without data */
		ibv_wr_send(ex);
		ibv_wr_set_sge_list(ex, 1, &sge);
		CHECK_EQ(ibv_wr_complete(ex), 0);
	}
	for (int i = 0; i < 8; i++) {
		expect_done(&p.a, i, IBV_WC_SEND);
		expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.byte_len, i);
	}
	pair_close(&p);
}

/* 4 KiB of inline data from unregistered memory. */
static void test_largest_inline(void)
{
	static uint8_t data[4097];
	struct ibv_qp_ex *ex;
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	open_extended(&p, usual);
	ex = ex_of(&p.a);
	sge = sge_of(p.b.mr, p.b.buf, 5000);
	CHECK_EQ(post_recv(&p.b, 1, &sge, 1), 0);
	fill(data, 4096, 3);
	ibv_wr_start(ex);
	next_wr(ex, 1, IBV_SEND_SIGNALED);
	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, data, 4096);
	CHECK_EQ(ibv_wr_complete(ex), 0);
	memset(data, 0, sizeof(data));
	ibv_wr_start(ex);
	ibv_wr_send(ex);
	ibv_wr_set_inline_data(ex, data, 4097);
	CHECK_EQ(ibv_wr_complete(ex), EINVAL);
	expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.byte_len, 4096);
	CHECK(filled(p.b.buf, 4096, 3));
	pair_close(&p);
}

static void expect_ece(struct ibv_qp *qp, uint32_t vendor_id)
{
	struct ibv_ece ece = { 1, 2, 3 };

	CHECK_EQ(ibv_query_ece(qp, &ece), 0);
	CHECK_EQ(ece.vendor_id, vendor_id);
	CHECK_EQ(ece.options, 0);
	CHECK_EQ(ece.comp_mask, 0);
}

/* Two QPs of a vendor without options negotiate no options, in any state. */
static void test_ece(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_ece ece, wrong;
	struct pair p;

	pair_open(&p, NULL);
	CHECK_EQ(ibv_query_ece(p.a.qp, &ece), 0);
	CHECK(ece.vendor_id);
	CHECK(ece.vendor_id & 0x020000); /* a locally administered OUI */
	CHECK_EQ(ibv_set_ece(p.b.qp, &ece), 0);
	ece.options = UINT32_MAX;
	CHECK_EQ(ibv_set_ece(p.b.qp, &ece), 0);
	CHECK_EQ(ece.options, 0); /* the accepted options */
	CHECK_EQ(ibv_set_ece(p.a.qp, &ece), 0);
	expect_ece(p.a.qp, ece.vendor_id);
	expect_ece(p.b.qp, ece.vendor_id);

	wrong = (struct ibv_ece){ .vendor_id = 0x15b3, .options = 1 };
	CHECK_EQ(ibv_set_ece(p.a.qp, &wrong), EINVAL);
	CHECK_EQ(wrong.options, 1); /* not changed */
	wrong = ece;
	wrong.comp_mask = 1;
	CHECK_EQ(ibv_set_ece(p.a.qp, &wrong), EINVAL);
	CHECK_EQ(wrong.comp_mask, 1);
	wrong = (struct ibv_ece){ .options = 1 }; /* libibverbs itself returns this error */
	CHECK_EQ(ibv_set_ece(p.a.qp, &wrong), EOPNOTSUPP);
	expect_ece(p.a.qp, ece.vendor_id);

	CHECK_EQ(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE), 0);
	expect_ece(p.a.qp, ece.vendor_id);
	attr.qp_state = IBV_QPS_RESET;
	CHECK_EQ(ibv_modify_qp(p.a.qp, &attr, IBV_QP_STATE), 0);
	CHECK_EQ(ibv_set_ece(p.a.qp, &ece), 0);
	pair_close(&p);
}

static void test_data_in_order(void)
{
	const char *in_order = getenv("SCTPIW_IN_ORDER");
	int expected = in_order && strcmp(in_order, "0") && strcmp(in_order, "no");
	struct pair p;

#ifndef __x86_64__
	expected = 0; /* on other processors, libibverbs does not call the device */
#endif

	pair_open(&p, NULL);
	CHECK_EQ(ibv_query_qp_data_in_order(p.a.qp, IBV_WR_RDMA_WRITE, 0), expected);
	CHECK_EQ(ibv_query_qp_data_in_order(p.a.qp, IBV_WR_SEND, 0), expected);
	CHECK_EQ(ibv_query_qp_data_in_order(p.a.qp, IBV_WR_RDMA_READ, 0), expected);
	CHECK_EQ(ibv_query_qp_data_in_order(p.a.qp, IBV_WR_LOCAL_INV, 0), 0);
	pair_close(&p);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "operations", test_operations },
		{ "read_and_local_inv", test_read_and_local_inv },
		{ "all_or_nothing", test_all_or_nothing },
		{ "full_queue", test_full_queue },
		{ "states", test_states },
		{ "create_refused", test_create_refused },
		{ "threads", test_threads },
		{ "mixed", test_mixed },
		{ "largest_inline", test_largest_inline },
		{ "ece", test_ece },
		{ "data_in_order", test_data_in_order },
	};

	return RUN_TESTS(argc, argv, tests);
}
