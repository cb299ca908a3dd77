/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* ALSO: iwarp.oob_self --personality iwarp -- */
/*
 * QPs connected out of band to themselves, which programs use to flush earlier work; and
 * IBV_EVENT_COMM_EST.
 */
#include "out_of_band.h"

static void self_open(struct side *s)
{
	struct where me;

	open_side(s);
	me = where_is(s);
	oob_connect(s, &me);
}

static void rdma(struct side *s, enum ibv_wr_opcode opcode, uint64_t id, size_t at, size_t remote,
		 uint32_t len, uint32_t rkey)
{
	struct ibv_sge sge = sge_of(s->mr, s->buf + at, len);

	CHECK_EQ(post_rdma(s, opcode, id, &sge, 1, (uintptr_t)s->buf + remote, rkey,
			   IBV_SEND_SIGNALED),
		 0);
}

/* longer than a message, so that reads and their responses take turns */
#define HALF (SIDE_BUF / 2)
#define LONG (HALF - 4099)

static void test_write_and_read(void)
{
	struct side s;

	self_open(&s);
	fill(s.buf, LONG, 1);
	rdma(&s, IBV_WR_RDMA_WRITE, 1, 0, HALF, LONG, s.mr->rkey);
	/* The completion of a Read shows that the Write before it is complete, too. */
	rdma(&s, IBV_WR_RDMA_READ, 2, 0, SIDE_BUF - 1, 1, s.mr->rkey);
	expect_sent(&s, 1);
	expect_sent(&s, 2);
	CHECK(filled(s.buf + HALF, LONG, 1));
	fill(s.buf + HALF, LONG, 2);
	rdma(&s, IBV_WR_RDMA_READ, 3, 0, HALF, LONG, s.mr->rkey);
	expect_sent(&s, 3);
	CHECK(filled(s.buf, LONG, 2));
	expect_qp_state(s.qp, IBV_QPS_RTS);
	close_side(&s);
}

static void say_to_self(struct side *s, uint64_t id)
{
	recv_at(s, id);
	CHECK_EQ(send_from(s, id + 1), 0);
	expect_sent(s, id + 1);
	expect_received(s, id, (unsigned int)id + 1);
}

static void test_sends(void)
{
	struct side s;

	self_open(&s);
	for (unsigned int i = 0; i < 100; i++) {
		/* The Send is posted before the receive, or after it. */
		if (i % 2)
			recv_at(&s, i);
		CHECK_EQ(send_from(&s, 1000 + i), 0);
		if (i % 2 == 0)
			recv_at(&s, i);
		expect_sent(&s, 1000 + i);
		expect_received(&s, i, 1000 + i);
	}
	expect_no_wc(s.recv_cq, 0);
	close_side(&s);
}

static void test_atomics(void)
{
	struct side s;
	uint64_t *word, *old;
	struct ibv_sge sge;
	struct ibv_send_wr wr, *bad;

	self_open(&s);
	old = (uint64_t *)s.buf;
	word = old + 8;
	*word = 40;
	sge = sge_of(s.mr, old, sizeof(*old));
	wr = (struct ibv_send_wr){ .wr_id = 1,
				   .sg_list = &sge,
				   .num_sge = 1,
				   .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
				   .send_flags = IBV_SEND_SIGNALED,
				   .wr.atomic = { (uintptr_t)word, 2, 0, s.mr->rkey } };
	CHECK_EQ(ibv_post_send(s.qp, &wr, &bad), 0);
	expect_sent(&s, 1);
	CHECK_EQ(*old, 40);
	CHECK_EQ(*word, 42);
	wr.wr_id = 2;
	wr.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
	wr.wr.atomic.compare_add = 42;
	wr.wr.atomic.swap = 7;
	CHECK_EQ(ibv_post_send(s.qp, &wr, &bad), 0);
	expect_sent(&s, 2);
	CHECK_EQ(*old, 42);
	CHECK_EQ(*word, 7);
	close_side(&s);
}

/*
 * As in a program that writes by another QP and flushes by this QP: thousands of times, with a full
 * queue.
 */
static void test_many_reads(void)
{
	unsigned int posted = 0, done = 0;
	struct side s;

	self_open(&s);
	while (done < 20000) {
		struct ibv_wc wc[16];
		int n;

		while (posted < 20000 && posted - done < 64) {
			rdma(&s, IBV_WR_RDMA_READ, posted, 8 * (posted % 64), 4096, 8, s.mr->rkey);
			posted++;
		}
		n = ibv_poll_cq(s.send_cq, 16, wc);
		CHECK(n >= 0);
		for (int i = 0; i < n; i++) {
			CHECK_EQ(wc[i].status, IBV_WC_SUCCESS);
			CHECK_EQ(wc[i].wr_id, done++);
		}
	}
	close_side(&s);
}

/* More Reads than the responder, which is the same QP, has room for: they wait for each other. */
static void test_fewer_at_once(void)
{
	struct ibv_send_wr wr[32], *bad;
	struct ibv_sge sge[32];
	struct ibv_qp_attr attr;
	struct where me;
	struct side s;

	open_side(&s);
	me = where_is(&s);
	CHECK_EQ(to_init(&s), 0);
	attr = rtr_attr(&me);
	attr.max_dest_rd_atomic = 1;
	CHECK_EQ(ibv_modify_qp(s.qp, &attr, RTR_MASK), 0);
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS, .timeout = 10, .rnr_retry = 7, .max_rd_atomic = 16
	};
	CHECK_EQ(ibv_modify_qp(s.qp, &attr, RTS_MASK), 0);
	fill(s.buf + HALF, HALF, 3);
	for (unsigned int i = 0; i < 32; i++) { /* all are posted together */
		sge[i] = sge_of(s.mr, s.buf + 8192 * i, 8192);
		wr[i] = (struct ibv_send_wr){ .wr_id = i,
					      .next = i < 31 ? &wr[i + 1] : NULL,
					      .sg_list = &sge[i],
					      .num_sge = 1,
					      .opcode = IBV_WR_RDMA_READ,
					      .send_flags = IBV_SEND_SIGNALED };
		wr[i].wr.rdma.remote_addr = (uintptr_t)s.buf + HALF + 8192 * i;
		wr[i].wr.rdma.rkey = s.mr->rkey;
	}
	CHECK_EQ(ibv_post_send(s.qp, wr, &bad), 0);
	for (unsigned int i = 0; i < 32; i++)
		expect_sent(&s, i);
	CHECK(!memcmp(s.buf, s.buf + HALF, 32 * 8192));
	close_side(&s);
}

/*
 * The QP is requester and responder. The WR has its own error, and the event has that of the
 * memory.
 */
static void refused(enum ibv_wr_opcode opcode)
{
	struct ibv_wc wc;
	struct side s;

	self_open(&s);
	recv_at(&s, 9);
	rdma(&s, opcode, 1, 0, HALF, 64, s.mr->rkey ^ 0x500);
	rdma(&s, IBV_WR_RDMA_READ, 2, 0, HALF, 64, s.mr->rkey);
	expect_wc(s.send_cq, IBV_WC_REM_ACCESS_ERR, &wc);
	CHECK_EQ(wc.wr_id, 1);
	expect_wc(s.send_cq, IBV_WC_WR_FLUSH_ERR, &wc);
	CHECK_EQ(wc.wr_id, 2);
	expect_wc(s.recv_cq, IBV_WC_WR_FLUSH_ERR, &wc);
	CHECK_EQ(wc.wr_id, 9);
	EXPECT_ASYNC(ctx, { IBV_EVENT_QP_ACCESS_ERR, s.qp });
	expect_qp_state(s.qp, IBV_QPS_ERR);
	expect_no_async(ctx, 20);
	close_side(&s);
}

static void test_refused(void)
{
	refused(IBV_WR_RDMA_READ);
	refused(IBV_WR_RDMA_WRITE);
}

enum receive { SHORT, WRONG_KEY };

/*
 * Posts receives by one call, so that waiting Sends find them at once: 1, 2, which refuses its
 * Send, and 3.
 */
static void post_receives(struct side *s, enum receive how)
{
	struct ibv_sge sge[3];
	struct ibv_recv_wr wr[3], *bad;

	for (int i = 0; i < 3; i++) {
		sge[i] = sge_of(s->mr, s->buf + LEN, LEN);
		wr[i] = (struct ibv_recv_wr){ .wr_id = i + 1,
					      .next = i < 2 ? &wr[i + 1] : NULL,
					      .sg_list = &sge[i],
					      .num_sge = 1 };
	}
	if (how == SHORT)
		sge[1].length--;
	else
		sge[1].lkey += 0x100;
	CHECK_EQ(ibv_post_recv(s->qp, wr, &bad), 0);
}

static void post_requests(struct side *s)
{
	CHECK_EQ(send_from(s, 10), 0);
	rdma(s, IBV_WR_RDMA_WRITE, 11, 0, HALF, 64, s->mr->rkey);
	CHECK_EQ(send_from(s, 12), 0);
	CHECK_EQ(send_from(s, 13), 0);
}

/*
 * The QP is both ends. Its receive has the receiver's status, the Send the sender's status. Earlier
 * messages have arrived, at once or after a wait for their receives. Later work requests are
 * flushed.
 */
static void refused_send(enum receive how, bool waits)
{
	struct ibv_wc wc;
	struct side s;

	self_open(&s);
	if (!waits)
		post_receives(&s, how);
	post_requests(&s);
	if (waits) {
		expect_no_wc(s.send_cq, 30);
		post_receives(&s, how);
	}
	expect_sent(&s, 10);
	expect_sent(&s, 11);
	expect_wc(s.send_cq, how == SHORT ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_OP_ERR, &wc);
	CHECK_EQ(wc.wr_id, 12);
	CHECK(wc.vendor_err);
	expect_wc(s.send_cq, IBV_WC_WR_FLUSH_ERR, &wc);
	CHECK_EQ(wc.wr_id, 13);
	expect_wc(s.recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, 1);
	expect_wc(s.recv_cq, how == SHORT ? IBV_WC_LOC_LEN_ERR : IBV_WC_LOC_PROT_ERR, &wc);
	CHECK_EQ(wc.wr_id, 2);
	expect_wc(s.recv_cq, IBV_WC_WR_FLUSH_ERR, &wc);
	CHECK_EQ(wc.wr_id, 3);
	if (how == SHORT)
		EXPECT_ASYNC(ctx, { IBV_EVENT_QP_REQ_ERR, s.qp });
	expect_qp_state(s.qp, IBV_QPS_ERR);
	expect_no_async(ctx, 20);
	close_side(&s);
}

static void test_refused_send(void)
{
	refused_send(SHORT, false);
	refused_send(SHORT, true);
	refused_send(WRONG_KEY, false);
	refused_send(WRONG_KEY, true);
}

/*
 * Many such QPs beside QPs with a peer. Each can be reset, connected to another QP, and to itself
 * again.
 */
static void test_beside_others(void)
{
	struct where at_a, at_b;
	struct side a, b, s[8];

	oob_connect_pair(&a, &b);
	at_a = where_is(&a);
	at_b = where_is(&b);
	for (int i = 0; i < 8; i++)
		self_open(&s[i]);
	for (unsigned int round = 0; round < 20; round++) {
		exchange(&a, &b, 100 * round);
		for (unsigned int i = 0; i < 8; i++) {
			fill(s[i].buf, 64, i + round);
			rdma(&s[i], IBV_WR_RDMA_WRITE, 1, 0, HALF, 64, s[i].mr->rkey);
			rdma(&s[i], IBV_WR_RDMA_READ, 2, 4096, HALF, 64, s[i].mr->rkey);
		}
		for (unsigned int i = 0; i < 8; i++) {
			expect_sent(&s[i], 1);
			expect_sent(&s[i], 2);
			CHECK(filled(s[i].buf + 4096, 64, i + round));
		}
		CHECK_EQ(to_state(&a, IBV_QPS_RESET), 0);
		CHECK_EQ(to_state(&b, IBV_QPS_RESET), 0);
		oob_connect(&a, round % 2 ? &at_b : &at_a);
		oob_connect(&b, round % 2 ? &at_a : &at_b);
		if (round % 2 == 0) {
			say_to_self(&a, 100 * round + 50);
			say_to_self(&b, 100 * round + 60);
			CHECK_EQ(to_state(&a, IBV_QPS_RESET), 0);
			CHECK_EQ(to_state(&b, IBV_QPS_RESET), 0);
			oob_connect(&a, &at_b);
			oob_connect(&b, &at_a);
		}
	}
	for (int i = 0; i < 8; i++)
		close_side(&s[i]);
	close_pair(&a, &b);
}

/* An end during requests does no harm. */
static void test_ends_under_way(void)
{
	struct side s;

	for (int i = 0; i < 50; i++) {
		self_open(&s);
		for (int n = 0; n < 8; n++)
			rdma(&s, n % 2 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, 1, 0, HALF, LONG,
			     s.mr->rkey);
		if (i % 3 == 0)
			CHECK_EQ(to_state(&s, IBV_QPS_ERR), 0);
		if (i % 3 == 1)
			CHECK_EQ(to_state(&s, IBV_QPS_RESET), 0);
		close_side(&s);
	}
}

/* IBV_EVENT_COMM_EST */

/*
 * The event comes once, with the first message in RTR. It does not come if the first message comes
 * in RTS.
 */
static void test_established(void)
{
	struct where at_a, at_b;
	struct side a, b;

	open_pair(&a, &b);
	at_a = where_is(&a);
	at_b = where_is(&b);
	for (int i = 0; i < 2; i++) {
		oob_connect(&a, &at_b);
		CHECK_EQ(to_init(&b), 0);
		recv_at(&b, 1);
		recv_at(&b, 2);
		CHECK_EQ(to_rtr(&b, &at_a), 0);
		expect_no_async(ctx, 30); /* a session alone is no message */
		CHECK_EQ(send_from(&a, 3), 0);
		expect_received(&b, 1, 3);
		EXPECT_ASYNC(ctx, { IBV_EVENT_COMM_EST, b.qp });
		CHECK_EQ(send_from(&a, 4), 0);
		expect_received(&b, 2, 4);
		expect_no_async(ctx, 30);
		CHECK_EQ(to_rts(&b), 0);
		expect_sent(&a, 3);
		expect_sent(&a, 4);
		exchange(&a, &b, 10);
		expect_no_async(ctx, 30);
		CHECK_EQ(to_state(&a, IBV_QPS_RESET), 0);
		CHECK_EQ(to_state(&b, IBV_QPS_RESET), 0);
	}
	/* An RDMA Write counts as a message. */
	oob_connect(&a, &at_b);
	CHECK_EQ(to_init(&b), 0);
	CHECK_EQ(to_rtr(&b, &at_a), 0);
	{
		struct ibv_sge sge = sge_of(a.mr, a.buf, 8);

		CHECK_EQ(post_rdma(&a, IBV_WR_RDMA_WRITE, 5, &sge, 1, at_b.addr, at_b.rkey,
				   IBV_SEND_SIGNALED),
			 0);
	}
	expect_sent(&a, 5);
	EXPECT_ASYNC(ctx, { IBV_EVENT_COMM_EST, b.qp });
	close_pair(&a, &b);
}

/* A QP of rdma_cm has no such event, as the connection manager reports the connection. */
static void test_established_by_cm(void)
{
	struct pair p;
	struct ibv_sge sge;
	struct ibv_wc wc;

	pair_open(&p, NULL);
	sge = sge_of(p.b.mr, p.b.buf, 64);
	CHECK_EQ(post_recv(&p.b, 1, &sge, 1), 0);
	sge = sge_of(p.a.mr, p.a.buf, 64);
	CHECK_EQ(post_send(&p.a, 2, &sge, 1, IBV_SEND_SIGNALED), 0);
	expect_wc(p.b.recv_cq, IBV_WC_SUCCESS, &wc);
	expect_no_async(p.a.id->verbs, 50);
	pair_close(&p);
}

static const struct test tests[] = {
	{ "write_and_read", test_write_and_read },
	{ "sends", test_sends },
	{ "atomics", test_atomics },
	{ "many_reads", test_many_reads },
	{ "fewer_at_once", test_fewer_at_once },
	{ "refused", test_refused },
	{ "refused_send", test_refused_send },
	{ "beside_others", test_beside_others },
	{ "ends_under_way", test_ends_under_way },
	{ "established", test_established },
	{ "established_by_cm", test_established_by_cm },
};

int main(int argc, char **argv)
{
	oob_open();
	return RUN_TESTS(argc, argv, tests);
}
