/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: several.engines --engines 3 -- */
/*
 * Threads with their own QPs, with one engine and with several. With several engines, different
 * threads' QPs are on different engines. So threads, pairs and CQs are on different engines here,
 * and share one CQ, one PD and one MR.
 */
#include "cm.h"
#include "out_of_band.h"

#include <poll.h>

#define THREADS 4
#define ROUNDS 300
#define SHORT 64u /* bytes */

/* ---- a pair for each thread ---- */

static _Atomic bool stop;

static void *rounds(void *arg)
{
	struct side a, b;

	oob_connect_pair(&a, &b);
	for (unsigned int i = 0; i < ROUNDS; i++)
		exchange(&a, &b, i);
	close_pair(&a, &b);
	return NULL;
}

/* Changes objects that all engines may look up, at the same time. */
static void *make_and_destroy(void *arg)
{
	uint8_t *buf = calloc(1, LEN);

	while (!stop) {
		struct ibv_pd *pd = ibv_alloc_pd(ctx);
		struct ibv_mr *mr[20];
		struct side a;

		for (int i = 0; i < 20; i++) {
			mr[i] = ibv_reg_mr(pd, buf, LEN, ALL_RIGHTS);
			CHECK(mr[i]);
		}
		open_side(&a);
		CHECK_EQ(to_init(&a), 0);
		close_side(&a);
		for (int i = 0; i < 20; i++)
			CHECK_EQ(ibv_dereg_mr(mr[i]), 0);
		CHECK_EQ(ibv_dealloc_pd(pd), 0);
	}
	free(buf);
	return NULL;
}

/* Runs the function in several threads, and make_and_destroy() at the same time. */
static void run_beside(void *(*run)(void *arg))
{
	pthread_t thread[THREADS], other;

	stop = false;
	CHECK_EQ(pthread_create(&other, NULL, make_and_destroy, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, run, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	stop = true;
	pthread_join(other, NULL);
}

static void test_threads(void)
{
	run_beside(rounds);
}

/* ---- pairs with ends in two threads ---- */

/* Answers each message by a message with the same bytes. */
static void *answer(void *arg)
{
	struct side *s = arg;
	struct ibv_sge there = sge_of(s->mr, s->buf + LEN, LEN);
	struct ibv_wc wc;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		expect_wc(s->recv_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(post_send(s, i, &there, 1, IBV_SEND_SIGNALED), 0);
		expect_wc(s->send_cq, IBV_WC_SUCCESS, &wc);
		/* Only now, as the next message would overwrite the answer. */
		CHECK_EQ(post_recv(s, i, &there, 1), 0);
	}
	return NULL;
}

static void *ask(void *arg)
{
	struct side *s = arg;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		recv_at(s, i);
		CHECK_EQ(send_from(s, i), 0);
		expect_sent(s, i);
		expect_received(s, i, i);
	}
	return NULL;
}

static void test_ping_pong(void)
{
	pthread_t thread[2 * THREADS];
	struct side a[THREADS], b[THREADS];

	for (int i = 0; i < THREADS; i++) {
		oob_connect_pair(&a[i], &b[i]);
		recv_at(&b[i], 0);
		CHECK_EQ(pthread_create(&thread[2 * i], NULL, ask, &a[i]), 0);
		CHECK_EQ(pthread_create(&thread[2 * i + 1], NULL, answer, &b[i]), 0);
	}
	for (int i = 0; i < 2 * THREADS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < THREADS; i++)
		close_pair(&a[i], &b[i]);
}

/* ---- one CQ for the QPs of several engines ---- */

/*
 * Replaces the side's QP. The new QP's receives complete on this CQ, and come from this SRQ, unless
 * NULL.
 */
static void replace_qp(struct side *s, struct ibv_cq *cq, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = s->send_cq,
		.recv_cq = cq,
		.srq = srq,
		.cap = { .max_send_wr = 64,
			 .max_recv_wr = 64,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	CHECK_EQ(ibv_destroy_qp(s->qp), 0);
	s->qp = ibv_create_qp(srq ? srq->pd : s->pd, &attr);
	CHECK(s->qp);
}

/* Returns the side whose QP number the completion has. */
static int side_of(const struct side *sides, const struct ibv_wc *wc)
{
	int i = 0;

	while (wc->qp_num != sides[i].qp->qp_num)
		CHECK(++i < THREADS);
	return i;
}

static void *send_all(void *arg)
{
	struct side *s = arg;
	struct ibv_sge sge = sge_of(s->mr, s->buf, SHORT);
	struct ibv_wc wc;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		CHECK_EQ(post_send(s, i, &sge, 1, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED), 0);
		expect_wc(s->send_cq, IBV_WC_SUCCESS, &wc);
	}
	return NULL;
}

/* Sleeps on the channel of the CQ until the next event. */
static void wait_for_event(struct ibv_comp_channel *channel, struct ibv_cq *cq)
{
	struct pollfd pfd = { .fd = channel->fd, .events = POLLIN };
	struct ibv_cq *which;
	void *context;

	CHECK_EQ(poll(&pfd, 1, WAIT_SECONDS * 1000), 1);
	CHECK_EQ(ibv_get_cq_event(channel, &which, &context), 0);
	CHECK(which == cq);
	ibv_ack_cq_events(cq, 1);
}

static void test_one_cq(void)
{
	struct side a[THREADS], b[THREADS];
	unsigned int next[THREADS] = { 0 };
	pthread_t thread[THREADS];
	struct ibv_comp_channel *channel = ibv_create_comp_channel(ctx);
	struct ibv_cq *cq = ibv_create_cq(ctx, THREADS * 64, NULL, channel, 0);

	CHECK(cq);
	for (int i = 0; i < THREADS; i++) {
		open_pair(&a[i], &b[i]);
		replace_qp(&b[i], cq, NULL);
		oob_connect_both(&a[i], &b[i]);
		for (unsigned int n = 0; n < 64; n++) {
			struct ibv_sge sge = sge_of(b[i].mr, b[i].buf, SHORT);

			CHECK_EQ(post_recv(&b[i], n, &sge, 1), 0);
		}
	}
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, send_all, &a[i]), 0);
	for (unsigned int left = THREADS * ROUNDS; left;) {
		struct ibv_wc wc[8];
		int n;

		CHECK_EQ(ibv_req_notify_cq(cq, 0), 0);
		n = ibv_poll_cq(cq, 8, wc);
		CHECK(n >= 0);
		if (!n)
			wait_for_event(channel, cq);
		for (int k = 0; k < n; k++) {
			int i = side_of(b, &wc[k]);
			struct ibv_sge sge = sge_of(b[i].mr, b[i].buf, SHORT);
			CHECK_EQ(wc[k].status, IBV_WC_SUCCESS);
			CHECK_EQ(wc[k].wr_id, next[i]++ % 64);
			CHECK_EQ(post_recv(&b[i], wc[k].wr_id, &sge, 1), 0);
			left--;
		}
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < THREADS; i++)
		close_pair(&a[i], &b[i]);
	CHECK_EQ(ibv_destroy_cq(cq), 0);
	CHECK_EQ(ibv_destroy_comp_channel(channel), 0);
}

/* ---- one SRQ for the QPs of several engines ---- */

/* Waits for a completion of one side. The other sides have none. */
static void expect_one_of(struct side *sides, unsigned int n, struct ibv_wc *wc)
{
	double end = now_seconds() + WAIT_SECONDS;
	int got = 0;

	for (unsigned int i = 0; !got; i = (i + 1) % n) {
		got = ibv_poll_cq(sides[i].recv_cq, 1, wc);
		CHECK(got >= 0 && now_seconds() < end);
	}
	CHECK_EQ(wc->status, IBV_WC_SUCCESS);
}

/* Posts n receives at once, into the first bytes of the side's memory, with ids from `first` on. */
static void post_to_srq(struct ibv_srq *srq, const struct side *s, uint64_t first, unsigned int n)
{
	struct ibv_sge sge = sge_of(s->mr, s->buf, SHORT);
	struct ibv_recv_wr wr[THREADS], *bad;

	for (unsigned int i = 0; i < n; i++)
		wr[i] = (struct ibv_recv_wr){ .wr_id = first + i,
					      .next = i + 1 < n ? &wr[i + 1] : NULL,
					      .sg_list = &sge,
					      .num_sge = 1 };
	CHECK_EQ(ibv_post_srq_recv(srq, wr, &bad), 0);
}

/* A message waits on each engine. Then there are receives for all messages. */
static void all_wait(struct side *a, struct side *b, struct ibv_srq *srq)
{
	struct ibv_wc wc;

	for (unsigned int round = 0; round < 20; round++) {
		for (int i = 0; i < THREADS; i++) {
			struct ibv_sge sge = sge_of(a[i].mr, a[i].buf, SHORT);
			CHECK_EQ(post_send(&a[i], round, &sge, 1, IBV_SEND_SIGNALED), 0);
		}
		for (int i = 0; i < THREADS; i++)
			expect_no_wc(b[i].recv_cq, 1);
		post_to_srq(srq, &b[0], 0, THREADS);
		for (int i = 0; i < THREADS; i++) {
			expect_wc(b[i].recv_cq, IBV_WC_SUCCESS, &wc);
			expect_wc(a[i].send_cq, IBV_WC_SUCCESS, &wc);
		}
	}
}

/*
 * Peers send to QPs on different engines, which all wait for receives of one SRQ. Each posted
 * receive goes to one engine, and no engine waits for ever.
 */
static void test_one_srq(void)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 8, .max_sge = 1 } };
	struct side a[THREADS], b[THREADS];
	unsigned int received[THREADS] = { 0 };
	pthread_t thread[THREADS];
	struct ibv_srq *srq = NULL;

	for (int i = 0; i < THREADS; i++) {
		open_pair(&a[i], &b[i]);
		if (!srq)
			srq = ibv_create_srq(b[0].pd, &attr);
		CHECK(srq);
		replace_qp(&b[i], b[i].recv_cq, srq);
		oob_connect_both(&a[i], &b[i]);
	}
	all_wait(a, b, srq);
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, send_all, &a[i]), 0);
	for (unsigned int n = 0; n < THREADS * ROUNDS; n++) {
		struct ibv_wc wc;

		post_to_srq(srq, &b[0], n, 1);
		expect_one_of(b, THREADS, &wc);
		CHECK_EQ(wc.wr_id, n);
		received[side_of(b, &wc)]++;
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		CHECK_EQ(received[i], ROUNDS);
		CHECK_EQ(ibv_destroy_qp(b[i].qp), 0);
		b[i].qp = NULL;
	}
	CHECK_EQ(ibv_destroy_srq(srq), 0);
	for (int i = 0; i < THREADS; i++)
		close_pair(&a[i], &b[i]);
}

/* ---- memory ---- */

static _Atomic bool writes;

static void *write_on(void *arg)
{
	struct side *s = ((struct side **)arg)[0], *to = ((struct side **)arg)[1];
	struct ibv_sge sge = sge_of(s->mr, s->buf, LEN);
	struct ibv_wc wc = { .status = IBV_WC_SUCCESS };
	uint32_t rkey = to->mr->rkey; /* the region is deregistered during the Writes */

	while (wc.status == IBV_WC_SUCCESS) {
		CHECK_EQ(post_rdma(s, IBV_WR_RDMA_WRITE, 1, &sge, 1, address(to->buf), rkey,
				   IBV_SEND_SIGNALED),
			 0);
		wait_wc(s->send_cq, &wc);
		writes = true;
	}
	return NULL;
}

/*
 * Connects two sides. Starts a thread that writes from the first side's memory to the other's,
 * until a Write fails.
 */
static pthread_t start_writes(struct side *both[2])
{
	pthread_t thread;

	oob_connect_pair(both[0], both[1]);
	fill(both[0]->buf, LEN, 1);
	writes = false;
	CHECK_EQ(pthread_create(&thread, NULL, write_on, both), 0);
	while (!writes)
		sched_yield();
	return thread;
}

/* After ibv_dereg_mr() has returned, no engine writes to the memory. */
static void test_deregister(void)
{
	for (int round = 0; round < 2 * THREADS; round++) {
		struct side a, b, *both[2] = { &a, &b };
		uint8_t there[LEN];
		pthread_t thread;

		thread = start_writes(both);
		CHECK_EQ(ibv_dereg_mr(b.mr), 0);
		fill(b.buf, LEN, 2);
		memcpy(there, b.buf, LEN);
		pthread_join(thread, NULL);
		CHECK(!memcmp(there, b.buf, LEN));
		b.mr = ibv_reg_mr(b.pd, b.buf, SIDE_BUF, ALL_RIGHTS);
		close_pair(&a, &b);
	}
}

/* ---- changes of STags during lookups of STags ---- */

/*
 * Binds windows of the side's memory, lets its peer write into them, and invalidates them, and a
 * region.
 */
static void *bind_and_invalidate(void *arg)
{
	struct side a, b;
	struct ibv_mr *region;
	struct ibv_mw *mw;
	struct ibv_wc wc;
	struct ibv_sge sge;

	oob_connect_pair(&a, &b);
	mw = ibv_alloc_mw(b.pd, IBV_MW_TYPE_2);
	region = ibv_reg_mr(b.pd, b.buf, LEN, ALL_RIGHTS | IBV_ACCESS_MW_BIND);
	CHECK(mw && region);
	for (unsigned int i = 1; i <= ROUNDS; i++) {
		uint32_t rkey = ibv_inc_rkey(mw->rkey);

		CHECK_EQ(post_bind(&b, i, mw, rkey, region, b.buf, LEN, IBV_ACCESS_REMOTE_WRITE),
			 0);
		expect_wc(b.send_cq, IBV_WC_SUCCESS, &wc);
		mw->rkey = rkey;
		fill(a.buf, LEN, i);
		sge = sge_of(a.mr, a.buf, LEN);
		CHECK_EQ(post_rdma(&a, IBV_WR_RDMA_WRITE, i, &sge, 1, address(b.buf), rkey,
				   IBV_SEND_SIGNALED),
			 0);
		expect_wc(a.send_cq, IBV_WC_SUCCESS, &wc);
		CHECK(filled(b.buf, LEN, i));
		if (i % 2) { /* by the peer */
			recv_at(&b, i);
			sge = sge_of(a.mr, a.buf, LEN);
			CHECK_EQ(post_inv(&a, IBV_WR_SEND_WITH_INV, i, &sge, 1, rkey), 0);
			expect_wc(a.send_cq, IBV_WC_SUCCESS, &wc);
			expect_wc(b.recv_cq, IBV_WC_SUCCESS, &wc);
			CHECK(wc.wc_flags & IBV_WC_WITH_INV);
		} else {
			CHECK_EQ(post_inv(&b, IBV_WR_LOCAL_INV, i, NULL, 0, rkey), 0);
			expect_wc(b.send_cq, IBV_WC_SUCCESS, &wc);
		}
	}
	/* The last window is no longer bound. */
	sge = sge_of(a.mr, a.buf, LEN);
	CHECK_EQ(post_rdma(&a, IBV_WR_RDMA_WRITE, 1, &sge, 1, address(b.buf), mw->rkey,
			   IBV_SEND_SIGNALED),
		 0);
	expect_wc(a.send_cq, IBV_WC_REM_ACCESS_ERR, &wc);
	CHECK_EQ(ibv_dealloc_mw(mw), 0);
	CHECK_EQ(ibv_dereg_mr(region), 0);
	close_pair(&a, &b);
	return NULL;
}

static void test_windows(void)
{
	run_beside(bind_and_invalidate);
}

/*
 * After a thread has invalidated a region, no peer can access it, whatever engine the peers' QPs
 * are on.
 */
static void test_invalidate(void)
{
	for (int round = 0; round < 2 * THREADS; round++) {
		struct side a, b, *both[2] = { &a, &b };
		pthread_t thread;
		struct ibv_wc wc;

		thread = start_writes(both);
		CHECK_EQ(post_inv(&b, IBV_WR_LOCAL_INV, 1, NULL, 0, b.mr->rkey), 0);
		wait_wc(b.send_cq, &wc);
		/* The refusal of the peer's Write may have come first. */
		if (wc.status == IBV_WC_SUCCESS) {
			fill(b.buf, LEN, 2);
			sleep_ms(2);
			CHECK(filled(b.buf, LEN, 2));
		}
		pthread_join(thread, NULL);
		close_pair(&a, &b);
	}
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "threads", test_threads },	   { "ping_pong", test_ping_pong },
		{ "one_cq", test_one_cq },	   { "one_srq", test_one_srq },
		{ "deregister", test_deregister }, { "windows", test_windows },
		{ "invalidate", test_invalidate },
	};

	oob_open();
	return RUN_TESTS(argc, argv, tests);
}
