/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/*
 * A QP of type UC, from the RNIC's side. These cases depend on placement by the peer, which
 * verbs.uc cannot see.
 */
#include "fixture/iw_receipts.h"
#include "iwarp/srq.h"

#define WRS 4 /* in the send queue, with as many slots */

static struct iw_srq *srq; /* NULL: the QP has its own receives */

static void start_with(struct fx *x, bool shared)
{
	struct iw_qp_attr attr = { .type = IW_QPT_UC,
				   .max_send_wr = WRS,
				   .max_send_sge = 4,
				   .max_recv_wr = 1,
				   .max_recv_sge = 1 };

	receipts_start_assoc(x, false, RECEIPTS_WINDOW);
	x->sid = FX_SID;
	iw_qp_free(x->qp);
	srq = NULL;
	if (shared)
		assert_int_equal(iw_srq_new(x->pd, 4, 1, NULL, &srq), 0);
	attr.srq = srq;
	attr.pd = x->pd;
	attr.send_cq = attr.recv_cq = x->cq;
	assert_int_equal(iw_qp_new(x->iw, &attr, &x->qp), 0);
	x->qp->oob = (void *)x;
	assert_int_equal(iw_qp_modify(x->qp, IW_QPS_INIT), 0);
	assert_int_equal(iw_qp_modify(x->qp, IW_QPS_RTR), 0);
	assert_int_equal(iw_qp_modify(x->qp, IW_QPS_RTS), 0);
	fx_accept(x, 0, 0, 7);
	receipts_place(x, 1);
}

static void start(struct fx *x)
{
	start_with(x, false);
}

static void stop_shared(struct fx *x)
{
	assert_int_equal(iw_qp_modify(x->qp, IW_QPS_RESET), 0);
	iw_qp_free(x->qp);
	x->qp = NULL;
	assert_int_equal(iw_srq_free(srq), 0);
	fx_stop(x);
}

static void expect_state(const struct fx *x, enum iw_qp_state state)
{
	assert_int_equal(atomic_load(&x->qp->state), state);
}

/*
 * A faulty local work request moves the QP to SQE. The session ends, and the peer opens another
 * session.
 */
static void fail_and_begin_anew(struct fx *x)
{
	fx_begin(x, 1, IW_WR_SEND, x->base, 8, 0, 0, 0)->sge[0].lkey++;
	fx_publish(x);
	while (fx_pull(x))
		receipts_place(x, 1);
	fx_expect_cqe(x, 1, IW_WC_LOC_PROT_ERR);
	expect_state(x, IW_QPS_SQE);
	receipts_drop_events(x);
	x->sid += 2;
	x->ssn = 0;
	fx_accept(x, 0, 0, 7);
	receipts_place(x, 1);
	expect_state(x, IW_QPS_SQE);
}

/*
 * Work requests flushed in SQE during a session free slots, which later work requests use. Each
 * later one completes only once the peer has its message.
 */
static void flushed_with_a_session(void **state)
{
	struct fx x;

	for (uint64_t flushed = 1; flushed <= 3 * WRS; flushed++) {
		start(&x);
		fail_and_begin_anew(&x);
		for (uint64_t id = 0; id < flushed; id++) {
			receipts_send(&x, id, 8);
			fx_expect_cqe(&x, id, IW_WC_WR_FLUSH_ERR);
		}
		assert_false(fx_pull(&x));
		assert_int_equal(iw_qp_modify(x.qp, IW_QPS_RTS), 0);
		for (uint64_t id = 100; id < 100 + WRS; id++)
			receipts_send(&x, id, 8);
		receipts_pull(&x, WRS);
		for (uint64_t id = 100; id < 100 + WRS; id++) {
			fx_no_cqe(&x);
			receipts_place(&x, 1);
			fx_expect_cqe(&x, id, IW_WC_SUCCESS);
		}
		fx_stop(&x);
	}
}

static void feed_write(struct fx *x, bool last, uint64_t to, const void *data, size_t len)
{
	uint8_t m[128];

	fx_feed(x, SESSION_PPID_DDP, x->ssn++, m,
		fx_make_tagged(m, last ? 0xc1 : 0x81, 0x40, x->stag, to, data, len));
}

/* A partly placed Write is dropped. The next Write has the length of its own bytes. */
static void dropped_in_part(void **state)
{
	static const uint8_t data[48], imm[8] = { 1, 2, 3, 4 };
	uint8_t m[64];
	struct iw_cqe cqe;
	struct fx x;

	start(&x);
	iw_qp_set_access(x.qp, IW_ACCESS_REMOTE_WRITE);
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	feed_write(&x, false, x.base, data, 48);
	feed_write(&x, false, x.base + (1ull << 40), data, 48);
	feed_write(&x, true, x.base + 96, data, 48);
	feed_write(&x, true, x.base, data, 16);
	fx_feed(&x, SESSION_PPID_DDP, x.ssn++, m,
		fx_make_untagged(m, 0x41, 0x48, 0, 0, 1, 0, imm, sizeof(imm)));
	assert_int_equal(iw_cq_poll(x.cq, 1, &cqe), 1);
	assert_int_equal(cqe.wr_id, 1);
	assert_int_equal(cqe.opcode, IW_WC_RECV_RDMA_WITH_IMM);
	assert_int_equal(cqe.byte_len, 16);
	fx_stop(&x);
}

static void post_shared(struct fx *x, uint64_t id)
{
	struct iw_recv_wqe *w = iw_srq_slot(srq);

	w->wr_id = id;
	w->num_sge = 1;
	w->length = 16;
	w->sge[0] = (struct iw_sge){ x->base, 16, x->stag };
	iw_srq_publish(srq);
	assert_int_equal(iw_srq_awaited(srq), 0);
}

static void feed_send(struct fx *x, bool last, uint32_t msn, uint32_t mo, size_t len)
{
	static const uint8_t data[16] = "sixteen of them";
	uint8_t m[64];

	fx_feed(x, SESSION_PPID_DDP, x->ssn++, m,
		fx_make_untagged(m, last ? 0x41 : 0x01, 0x43, 0, 0, msn, mo, data, len));
}

static void expect_16(struct fx *x, uint64_t id)
{
	struct iw_cqe cqe = fx_cqe(x);

	assert_int_equal(cqe.wr_id, id);
	assert_int_equal(cqe.status, IW_WC_SUCCESS);
	assert_int_equal(cqe.byte_len, 16);
	assert_memory_equal(x->mem, "sixteen of them", 16);
	fx_no_cqe(x);
}

/* With an SRQ, the next message uses the receive of a dropped message, whatever the error. */
static void dropped_shared(void **state)
{
	struct fx x;

	start_with(&x, true);
	feed_send(&x, true, 1, 0, 16); /* no receive, and the message does not wait */
	post_shared(&x, 1);
	fx_no_cqe(&x);
	feed_send(&x, false, 2, 0, 16);
	feed_send(&x, true, 2, 16, 1); /* too long at placement */
	feed_send(&x, false, 3, 0, 8);
	feed_send(&x, true, 3, 1000, 0); /* too long at delivery */
	fx_no_cqe(&x);
	assert_int_equal(iw_srq_left(srq), 0);
	feed_send(&x, true, 4, 0, 16);
	expect_16(&x, 1);
	post_shared(&x, 2);
	feed_send(&x, true, 5, 0, 16);
	expect_16(&x, 2);
	assert_false(fx_pull(&x)); /* no receipt about a waiting message */
	stop_shared(&x);
}

/*
 * A session ends in the middle of a message: the receive is free for the next message of the SRQ.
 */
static void ended_shared(void **state)
{
	struct fx x;

	start_with(&x, true);
	post_shared(&x, 2);
	feed_send(&x, false, 1, 0, 8);
	assert_int_equal(iw_srq_left(srq), 0);
	fail_and_begin_anew(&x);
	assert_int_equal(iw_srq_left(srq), 1);
	feed_send(&x, true, 1, 0, 16);
	expect_16(&x, 2);
	stop_shared(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flushed_with_a_session),
		cmocka_unit_test(dropped_in_part),
		cmocka_unit_test(dropped_shared),
		cmocka_unit_test(ended_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
