/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: several.outstanding --engines 2 -- */
/* ALSO: iwarp.outstanding --personality iwarp -- */
/*
 * A work request is outstanding until its completion is polled. Posting to a full queue fails with
 * ENOMEM, and CQs with room for all outstanding work requests never overrun.
 */
#include <sched.h>

#include "out_of_band.h"

#define DEPTH 16u
#define IDS 200u

static const struct ibv_qp_cap depth = { DEPTH, DEPTH, 1, 1, 64 };

/*
 * Sends a message from a to b. Returns 0, or the errno of the post. By then b has used up a
 * receive, and posted another.
 */
static int message(struct pair *p, uint64_t id, unsigned int flags)
{
	struct ibv_sge sge = sge_of(p->a.mr, p->a.buf, 8);
	int err = post_send(&p->a, id, &sge, 1, flags);
	struct ibv_wc wc;

	if (err)
		return err;
	expect_wc(p->b.recv_cq, IBV_WC_SUCCESS, &wc);
	sge = sge_of(p->b.mr, p->b.buf, 8);
	CHECK_EQ(post_recv(&p->b, wc.wr_id, &sge, 1), 0);
	return 0;
}

static void open_full(struct pair *p, struct pair_options o)
{
	struct ibv_sge sge;

	o.cap = depth;
	pair_open(p, &o);
	CHECK_EQ(ibv_resize_cq(p->a.send_cq, DEPTH), 0);
	sge = sge_of(p->b.mr, p->b.buf, 8);
	for (unsigned int i = 0; i < DEPTH; i++)
		CHECK_EQ(post_recv(&p->b, i, &sge, 1), 0);
}

/* Checks that exactly n more work requests are accepted. */
static void expect_taken(struct pair *p, uint64_t *id, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		CHECK_EQ(message(p, (*id)++, IBV_SEND_SIGNALED), 0);
	CHECK_EQ(message(p, *id, IBV_SEND_SIGNALED), ENOMEM);
}

static void test_sends(void)
{
	uint64_t posted = 0;
	struct ibv_wc wc;
	struct pair p;

	open_full(&p, (struct pair_options){ 0 });
	expect_taken(&p, &posted, DEPTH);
	for (uint64_t id = 0; id < IDS; id++) {
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, id);
		expect_taken(&p, &posted, 1);
	}
	pair_close(&p);
}

/* A completion also covers the unsignaled work requests before it. */
static void test_unsignaled(void)
{
	struct ibv_wc wc;
	struct pair p;

	open_full(&p, (struct pair_options){ 0 });
	for (uint64_t id = 0; id < DEPTH; id++)
		CHECK_EQ(message(&p, id, id == 9 ? IBV_SEND_SIGNALED : 0), 0);
	CHECK_EQ(message(&p, 0, 0), ENOMEM);
	expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, 9);
	for (uint64_t id = 0; id < 10; id++)
		CHECK_EQ(message(&p, id, IBV_SEND_SIGNALED), 0);
	CHECK_EQ(message(&p, 0, 0), ENOMEM);
	pair_close(&p);
}

/* Posts n work requests by ibv_wr_*. Returns the result of ibv_wr_complete(). */
static int post_batch(struct side *s, unsigned int n)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(s->qp);

	ibv_wr_start(ex);
	for (unsigned int i = 0; i < n; i++) {
		ex->wr_flags = IBV_SEND_SIGNALED;
		ibv_wr_send(ex);
		ibv_wr_set_inline_data(ex, s->buf, 8);
	}
	return ibv_wr_complete(ex);
}

/* The newer calls, to post and to poll. */
static void test_extended(void)
{
	struct pair_options o = { .send_ops = IBV_QP_EX_WITH_SEND, .extended_cqs = true };
	struct ibv_poll_cq_attr attr = { 0 };
	struct ibv_cq_ex *cq;
	struct ibv_wc wc;
	struct pair p;

	open_full(&p, o);
	cq = (struct ibv_cq_ex *)p.a.send_cq;
	CHECK_EQ(post_batch(&p.a, DEPTH), 0);
	for (unsigned int i = 0; i < DEPTH; i++)
		expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(post_batch(&p.a, 1), ENOMEM);
	wait_start_poll(cq);
	CHECK_EQ(post_batch(&p.a, 1), 0);
	CHECK_EQ(post_batch(&p.a, 1), ENOMEM);
	for (unsigned int taken = 1; taken < 3;) {
		if (!ibv_next_poll(cq)) {
			taken++;
			continue;
		}
		ibv_end_poll(cq);
		while (ibv_start_poll(cq, &attr) == ENOENT)
			;
		taken++;
	}
	ibv_end_poll(cq);
	CHECK_EQ(post_batch(&p.a, 3), ENOMEM);
	CHECK_EQ(post_batch(&p.a, 2), 0);
	CHECK_EQ(post_batch(&p.a, 1), ENOMEM);
	pair_close(&p);
}

/* Messages use up n receives, and the completions wait. */
static void take_receives(struct pair *p, unsigned int n)
{
	struct ibv_sge sge = sge_of(p->a.mr, p->a.buf, 8);
	struct ibv_wc wc;

	for (unsigned int i = 0; i < n; i++) {
		CHECK_EQ(post_send(&p->a, i, &sge, 1, IBV_SEND_SIGNALED), 0);
		expect_wc(p->a.send_cq, IBV_WC_SUCCESS, &wc);
	}
}

static void test_receives(void)
{
	struct ibv_sge sge;
	struct ibv_wc wc;
	struct pair p;

	open_full(&p, (struct pair_options){ 0 });
	sge = sge_of(p.b.mr, p.b.buf, 8);
	take_receives(&p, 4);
	for (unsigned int i = 0; i < 4; i++) {
		CHECK_EQ(post_recv(&p.b, 1, &sge, 1), ENOMEM);
		expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(post_recv(&p.b, 1, &sge, 1), 0);
	}
	CHECK_EQ(post_recv(&p.b, 1, &sge, 1), ENOMEM);
	pair_close(&p);
}

static int post_srq(struct ibv_srq *srq)
{
	struct ibv_recv_wr wr = { .wr_id = 1 }, *bad;

	return ibv_post_srq_recv(srq, &wr, &bad);
}

static void test_srq(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_srq_attr smaller = { .max_wr = 3 };
	struct pair_options o = { .cap = depth };
	struct ibv_context *device = cm_device();
	struct ibv_pd *pd = ibv_alloc_pd(device);
	struct ibv_wc wc;
	struct pair p;

	CHECK(pd);
	o.recv_cq = ibv_create_cq(device, 4, NULL, NULL, 0);
	o.srq = ibv_create_srq(pd, &attr);
	CHECK(o.srq && o.recv_cq);
	pair_open(&p, &o);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(post_srq(o.srq), 0);
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(post_send(&p.a, i, NULL, 0, IBV_SEND_SIGNALED), 0);
		expect_wc(p.a.send_cq, IBV_WC_SUCCESS, &wc);
	}
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(post_srq(o.srq), ENOMEM);
		CHECK_EQ(ibv_modify_srq(o.srq, &smaller, IBV_SRQ_MAX_WR), EINVAL);
		expect_wc(o.recv_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(post_srq(o.srq), 0);
	}
	/* The remaining completion vanishes with its QP. */
	pair_close(&p);
	CHECK_EQ(ibv_poll_cq(o.recv_cq, 1, &wc), 0);
	CHECK_EQ(post_srq(o.srq), 0);
	CHECK_EQ(post_srq(o.srq), ENOMEM);
	CHECK_EQ(ibv_destroy_srq(o.srq), 0);
	CHECK_EQ(ibv_destroy_cq(o.recv_cq), 0);
	CHECK_EQ(ibv_dealloc_pd(pd), 0);
}

static unsigned int write_until_full(struct side *s, const struct side *to)
{
	unsigned int n = 0;

	while (!post_rdma(s, IBV_WR_RDMA_WRITE, n, NULL, 0, address(to->buf), to->mr->rkey,
			  IBV_SEND_SIGNALED))
		n++;
	return n;
}

/* A QP in RESET has no outstanding work requests. */
static void test_reset(void)
{
	struct side a, b;
	struct ibv_wc wc;

	open_pair(&a, &b);
	for (int i = 0; i < 2; i++) {
		oob_connect_both(&a, &b);
		CHECK_EQ(write_until_full(&a, &b), 64);
		wait_wc(a.send_cq, &wc);
		CHECK_EQ(write_until_full(&a, &b), 1);
		CHECK_EQ(to_state(&a, IBV_QPS_RESET), 0);
		CHECK_EQ(to_state(&b, IBV_QPS_RESET), 0);
	}
	close_pair(&a, &b);
}

/* Threads fill their queues, which share a slowly polled CQ with just enough room for all. */
enum { THREADS = 6, WRITES = 2000, QP_DEPTH = 64 };

struct writer {
	struct side from;
	const struct side *to;
	pthread_t thread;
};

static void *write_all(void *arg)
{
	struct writer *w = arg;

	for (unsigned int i = 0; i < WRITES;) {
		int err = post_rdma(&w->from, IBV_WR_RDMA_WRITE, i, NULL, 0, address(w->to->buf),
				    w->to->mr->rkey, IBV_SEND_SIGNALED);

		CHECK(!err || err == ENOMEM);
		i += !err;
		if (err)
			sched_yield();
	}
	return NULL;
}

static void test_threads(void)
{
	struct writer writers[THREADS];
	struct ibv_qp *to[THREADS];
	struct side a, b;
	struct ibv_wc wc;

	open_pair(&a, &b);
	CHECK_EQ(ibv_resize_cq(a.send_cq, THREADS * QP_DEPTH), 0);
	for (unsigned int i = 0; i < THREADS; i++) {
		writers[i] = (struct writer){ .from = a, .to = &b };
		if (i) {
			writers[i].from.qp = new_qp(&a);
			b.qp = new_qp(&b);
		}
		to[i] = b.qp;
		oob_connect_both(&writers[i].from, &b);
	}
	for (unsigned int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&writers[i].thread, NULL, write_all, &writers[i]), 0);
	for (unsigned int i = 0; i < THREADS * WRITES; i++) {
		expect_wc(a.send_cq, IBV_WC_SUCCESS, &wc);
		sched_yield();
	}
	for (unsigned int i = 0; i < THREADS; i++) {
		pthread_join(writers[i].thread, NULL);
		if (!i)
			continue;
		CHECK_EQ(ibv_destroy_qp(writers[i].from.qp), 0);
		CHECK_EQ(ibv_destroy_qp(to[i]), 0);
	}
	b.qp = to[0];
	expect_no_async(ctx, 1);
	close_pair(&a, &b);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "sends", test_sends },       { "unsignaled", test_unsignaled },
		{ "extended", test_extended }, { "receives", test_receives },
		{ "srq", test_srq },	       { "reset", test_reset },
		{ "threads", test_threads },
	};

	oob_open();
	return RUN_TESTS(argc, argv, tests);
}
