/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Both ends write in turn: one writes, takes the completion, and looks at memory until the answer
 * is there. When that has gone on for a while, completions wait for answers, 50 us at most
 * (iwarp/answer.c). Here one thread is both ends, so no answer can come in that time. The
 * completions must come all the same, but not before the time is over, and a program that goes on
 * to look at memory must find what was written.
 */
#include "fixture.h"

static void take_extended(struct ibv_cq *cq, struct ibv_wc *wc)
{
	struct ibv_cq_ex *ex = (struct ibv_cq_ex *)(void *)cq;

	wait_start_poll(ex);
	CHECK_EQ(ex->status, IBV_WC_SUCCESS);
	wc->wr_id = ex->wr_id;
	ibv_end_poll(ex);
}

static void writes(const struct pair_options *o)
{
	enum { ROUNDS = 200 };
	int late = 0; /* not all of them, as the 50 us begin when the shard last read the clock */
	struct pair p;

	pair_open(&p, o);
	memset(p.a.buf, 0, 16);
	memset(p.b.buf, 0, 16);
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		struct side *from = i % 2 ? &p.a : &p.b, *to = i % 2 ? &p.b : &p.a;
		volatile uint64_t *seen = (volatile uint64_t *)to->buf + 1;
		struct ibv_sge sge = sge_of(from->mr, from->buf, 8);
		uint64_t own = (i + 1) / 2; /* of this end; completions wait after 8, 16, 32 */
		double begin = now_seconds();
		struct ibv_wc wc;

		memcpy(from->buf, &i, 8);
		CHECK_EQ(post_rdma(from, IBV_WR_RDMA_WRITE, i, &sge, 1, address(to->buf + 8),
				   to->mr->rkey, IBV_SEND_SIGNALED),
			 0);
		if (o->extended_cqs)
			take_extended(from->send_cq, &wc);
		else
			expect_wc(from->send_cq, IBV_WC_SUCCESS, &wc);
		CHECK_EQ(wc.wr_id, i);
		if (own == 9 || own == 9 + 17 || own == 9 + 17 + 33)
			late += now_seconds() - begin > 49e-6;
		while (*seen != i)
			CHECK(now_seconds() < begin + WAIT_SECONDS);
		expect_qp_state(to->qp, IBV_QPS_RTS); /* waits for its delivery, too */
	}
	CHECK(late);
	pair_close(&p);
}

static void test_plain(void)
{
	static const struct pair_options plain = { 0 };

	writes(&plain);
}

static void test_extended(void)
{
	static const struct pair_options extended = { .extended_cqs = true };

	writes(&extended);
}

int main(int argc, char **argv)
{
	static const struct test tests[] = {
		{ "plain", test_plain },
		{ "extended", test_extended },
	};

	return RUN_TESTS(argc, argv, tests);
}
