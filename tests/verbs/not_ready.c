/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Sends without a receive. The peer keeps a window of them for each QP. Sends are shorter than the
 * window, or longer, so that the peer cannot keep all data. Both wait as long as rnr_retry_count
 * permits.
 */
#include "fixture.h"

#include <stdlib.h>

#define LONG (3u << 20) /* bytes: more than the window, whatever its bookkeeping takes */
#define AT_ONCE 0	/* rnr_retry_count: only the grace time, 100 ms */
#define FOR_EVER 7

/* Memory for a message of up to LONG bytes on one side. */
struct message {
	uint8_t *buf;
	struct ibv_mr *mr;
};

static void message_open(struct message *m, struct ibv_pd *pd)
{
	m->buf = calloc(1, LONG);
	CHECK(m->buf);
	m->mr = ibv_reg_mr(pd, m->buf, LONG, IBV_ACCESS_LOCAL_WRITE);
	CHECK(m->mr);
}

static void message_close(struct message *m)
{
	CHECK_EQ(ibv_dereg_mr(m->mr), 0);
	free(m->buf);
}

static void send_message(struct side *s, struct message *m, uint64_t wr_id, uint32_t len)
{
	struct ibv_sge sge = sge_of(m->mr, m->buf, len);

	fill(m->buf, len, (unsigned int)wr_id);
	CHECK_EQ(post_send(s, wr_id, &sge, 1, IBV_SEND_SIGNALED), 0);
}

static void recv_message(struct side *s, struct message *m, uint64_t wr_id)
{
	struct ibv_sge sge = sge_of(m->mr, m->buf, LONG);

	CHECK_EQ(post_recv(s, wr_id, &sge, 1), 0);
}

static void expect_message(struct side *from, struct side *to, struct message *m, uint64_t wr_id,
			   uint32_t len)
{
	struct ibv_wc wc;

	expect_wc(from->send_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.wr_id, wr_id);
	expect_wc(to->recv_cq, IBV_WC_SUCCESS, &wc);
	CHECK_EQ(wc.byte_len, len);
	CHECK(filled(m->buf, len, (unsigned int)wr_id));
}

struct messages {
	struct pair p;
	struct message a, b;
};

static void open_with(struct messages *t, uint8_t rnr_retry)
{
	struct pair_options o = { .rnr_set = true, .rnr_retry = rnr_retry };

	pair_open(&t->p, &o);
	message_open(&t->a, t->p.a.pd);
	message_open(&t->b, t->p.b.pd);
}

static void close_all(struct messages *t)
{
	message_close(&t->a);
	message_close(&t->b);
	pair_close(&t->p);
}

static const uint32_t lengths[] = { 0, 100, 1u << 20, LONG };
#define LENGTHS (sizeof(lengths) / sizeof(lengths[0]))

/* The Send has the status, the Send before it succeeds, and the Send after it is flushed. */
static void test_fails(void)
{
	struct messages t;
	struct ibv_wc wc;

	for (size_t i = 0; i < LENGTHS; i++) {
		open_with(&t, AT_ONCE);
		recv_message(&t.p.b, &t.b, 1);
		send_message(&t.p.a, &t.a, 1, LONG);
		expect_message(&t.p.a, &t.p.b, &t.b, 1, LONG);
		send_message(&t.p.a, &t.a, 2, lengths[i]);
		send_message(&t.p.a, &t.a, 3, 100);
		expect_wc(t.p.a.send_cq, IBV_WC_RNR_RETRY_EXC_ERR, &wc);
		CHECK_EQ(wc.wr_id, 2);
		expect_wc(t.p.a.send_cq, IBV_WC_WR_FLUSH_ERR, &wc);
		CHECK_EQ(wc.wr_id, 3);
		EXPECT_ASYNC(t.p.b.qp->context, { IBV_EVENT_QP_REQ_ERR, t.p.b.qp });
		expect_broken(&t.p);
		close_all(&t);
	}
}

/* A receive within the time, or at any time without a limit, takes the whole message. */
static void waits(uint8_t rnr_retry)
{
	struct messages t;

	open_with(&t, rnr_retry);
	for (size_t i = 0; i < LENGTHS; i++) {
		send_message(&t.p.a, &t.a, i, lengths[i]);
		expect_no_wc(t.p.a.send_cq, 300);
		recv_message(&t.p.b, &t.b, i);
		expect_message(&t.p.a, &t.p.b, &t.b, i, lengths[i]);
	}
	expect_no_async(t.p.a.qp->context, 1);
	close_all(&t);
}

static void test_in_time(void)
{
	waits(6);
}

static void test_for_ever(void)
{
	waits(FOR_EVER);
}

/* A QP that fails does not affect others on the same association. */
static void test_beside_others(void)
{
	struct messages late, others[2];
	struct ibv_wc wc;

	open_with(&late, AT_ONCE);
	for (unsigned int i = 0; i < 2; i++)
		open_with(&others[i], FOR_EVER);
	send_message(&late.p.a, &late.a, 1, LONG);
	for (unsigned int i = 0; i < 2; i++)
		send_message(&others[i].p.a, &others[i].a, 10 + i, LONG);
	expect_wc(late.p.a.send_cq, IBV_WC_RNR_RETRY_EXC_ERR, &wc);
	EXPECT_ASYNC(late.p.b.qp->context, { IBV_EVENT_QP_REQ_ERR, late.p.b.qp });
	expect_broken(&late.p);
	for (unsigned int i = 0; i < 2; i++) {
		recv_message(&others[i].p.b, &others[i].b, 1);
		expect_message(&others[i].p.a, &others[i].p.b, &others[i].b, 10 + i, LONG);
		close_all(&others[i]);
	}
	close_all(&late);
}

static const struct test tests[] = {
	{ "fails", test_fails },
	{ "in_time", test_in_time },
	{ "for_ever", test_for_ever },
	{ "beside_others", test_beside_others },
};

int main(int argc, char **argv)
{
	return RUN_TESTS(argc, argv, tests);
}
