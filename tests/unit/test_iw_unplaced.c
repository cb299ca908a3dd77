/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/*
 * A WQE completes with success once the peer has its data (iwarp/unplaced.c), as SCTP counts
 * placements. The order of QPs in an association, and of WQEs in a QP, is arbitrary.
 */
#include "fixture/iw_receipts.h"

/* ---- one QP ---- */

/* A WQE completes exactly when it is placed. All counts are modulo 2^32. */
static void in_order(void **state)
{
	static const uint32_t before[] = { 1,	       0x7ffffffd, 0x7fffffff, 0x80000000,
					   0xfffffffa, 0xfffffffd, 0xfffffffe, 0xffffffff };

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		struct fx x;

		receipts_start(&x, RECEIPTS_WINDOW);
		x.assoc->pulled = x.assoc->placed = x.placed = before[i];
		for (uint64_t id = 0; id < 6; id++) {
			if (id % 2)
				receipts_send(&x, id, 10);
			else
				receipts_write(&x, id, 10);
		}
		receipts_pull(&x, 3);
		receipts_place(&x, 0);
		fx_no_cqe(&x);
		for (uint64_t id = 0; id < 2; id++) {
			receipts_place(&x, 1);
			fx_expect_cqe(&x, id, IW_WC_SUCCESS);
			fx_no_cqe(&x);
		}
		receipts_pull(&x, 3);
		fx_no_cqe(&x);
		receipts_place(&x, 3);
		fx_expect_cqes(&x, 2, 3, IW_WC_SUCCESS);
		fx_no_cqe(&x);
		assert_false(iw_sq_is_empty(x.qp));
		receipts_place(&x, 1);
		fx_expect_cqe(&x, 5, IW_WC_SUCCESS);
		assert_true(iw_sq_is_empty(x.qp));
		receipts_check_all_placed(&x);
		fx_stop(&x);
	}
}

/* Every message of a WQE counts, and no other message. */
static void whole_message(void **state)
{
	static const uint8_t opcodes[] = { IW_WR_RDMA_WRITE, IW_WR_SEND, IW_WR_SEND_WITH_INV,
					   IW_WR_SEND_WITH_IMM, IW_WR_RDMA_WRITE_WITH_IMM };

	for (size_t i = 0; i < sizeof(opcodes); i++) {
		unsigned int messages = opcodes[i] == IW_WR_RDMA_WRITE_WITH_IMM ? 5 : 4;
		struct fx x;

		receipts_start(&x, RECEIPTS_WINDOW);
		fx_post(&x, 1, opcodes[i], x.base, 5000, 1, 1, 0);
		for (unsigned int k = 0; k < messages; k++) {
			receipts_pull(&x, 1);
			fx_no_cqe(&x);
			if (k + 1 < messages) /* placed before the last one leaves */
				receipts_place(&x, k != 2);
			fx_no_cqe(&x);
		}
		assert_false(fx_pull(&x));
		receipts_place(&x, 1);
		fx_no_cqe(&x);
		receipts_place(&x, 1);
		fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
		fx_no_cqe(&x);
		fx_stop(&x);
	}
}

static void answer_read(struct fx *x)
{
	uint8_t m[64];

	fx_feed(x, SESSION_PPID_DDP, x->ssn++, m,
		fx_make_tagged(m, 0xc1, 0x42, x->stag, x->base, "1234", 4));
}

/* A read completes with its response. Completions follow the order of posting. */
static void reads_between(void **state)
{
	for (unsigned int answered_first = 0; answered_first < 2; answered_first++) {
		struct fx x;

		receipts_start(&x, RECEIPTS_WINDOW);
		receipts_write(&x, 1, 10);
		fx_post(&x, 2, IW_WR_RDMA_READ, x.base, 4, 9, 9, 0);
		receipts_send(&x, 3, 10);
		fx_post(&x, 4, IW_WR_RDMA_READ, x.base, 4, 9, 9, 0);
		receipts_write(&x, 5, 10);
		receipts_pull(&x, 5);
		if (answered_first) {
			answer_read(&x);
			answer_read(&x);
			fx_no_cqe(&x);
			receipts_place(&x, 1);
			fx_expect_cqes(&x, 1, 2, IW_WC_SUCCESS);
			receipts_place(&x, 1); /* the request: nobody waits for it */
			fx_no_cqe(&x);
			receipts_place(&x, 1);
			fx_expect_cqes(&x, 3, 2, IW_WC_SUCCESS);
			fx_no_cqe(&x);
			receipts_place(&x, 2);
			fx_expect_cqe(&x, 5, IW_WC_SUCCESS);
		} else {
			receipts_place(&x, 5);
			fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
			fx_no_cqe(&x);
			answer_read(&x);
			fx_expect_cqes(&x, 2, 2, IW_WC_SUCCESS);
			fx_no_cqe(&x);
			answer_read(&x);
			fx_expect_cqes(&x, 4, 2, IW_WC_SUCCESS);
		}
		fx_no_cqe(&x);
		fx_stop(&x);
	}
}

/* WQEs without a message also keep their order. */
static void local_work_between(void **state)
{
	struct iw_mr *mr;
	struct fx x;

	receipts_start(&x, RECEIPTS_WINDOW);
	assert_int_equal(iw_mr_new(x.pd, x.base, 100, x.base, 0, NULL, &mr), 0);
	receipts_write(&x, 1, 10);
	fx_post(&x, 2, IW_WR_LOCAL_INV, 0, 0, iw_mr_stag(mr), 0, 0);
	receipts_write(&x, 3, 10);
	receipts_pull(&x, 2);
	fx_no_cqe(&x);
	receipts_place(&x, 1);
	fx_expect_cqes(&x, 1, 2, IW_WC_SUCCESS);
	fx_no_cqe(&x);
	receipts_place(&x, 1);
	fx_expect_cqe(&x, 3, IW_WC_SUCCESS);
	iw_mr_free(mr);
	fx_stop(&x);
	/* WQEs without a message wait for nothing if no other WQE was unplaced. */
	receipts_start(&x, RECEIPTS_WINDOW);
	assert_int_equal(iw_mr_new(x.pd, x.base, 100, x.base, 0, NULL, &mr), 0);
	fx_post(&x, 1, IW_WR_LOCAL_INV, 0, 0, iw_mr_stag(mr), 0, 0);
	assert_false(fx_pull(&x));
	fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
	iw_mr_free(mr);
	fx_stop(&x);
}

static void post_unsignaled(struct fx *x, uint64_t wr_id, uint32_t len)
{
	fx_begin(x, wr_id, IW_WR_RDMA_WRITE, x->base, len, 1, 1, 0)->flags = 0;
	fx_publish(x);
}

/* An unsignaled WR keeps its slot until it is placed, and requests no fast acknowledgement. */
static void unsignaled(void **state)
{
	struct fx x;

	receipts_start(&x, RECEIPTS_WINDOW);
	post_unsignaled(&x, 1, 2000);
	receipts_write(&x, 2, 2000);
	post_unsignaled(&x, 3, 10);
	for (unsigned int i = 0; i < 5; i++) {
		receipts_pull(&x, 1);
		assert_int_equal(x.msg.awaited, i == 3); /* the last message of the signaled WR */
		assert_false(x.msg.receipt);
	}
	for (unsigned int i = 0; i < 5; i++) {
		static const uint32_t heads[] = { 0, 1, 1, 2, 3 };

		receipts_place(&x, 1);
		assert_int_equal(x.qp->sq.head, heads[i]);
		if (i == 3)
			fx_expect_cqe(&x, 2, IW_WC_SUCCESS);
		fx_no_cqe(&x);
	}
	x.qp->sq_sig_all = true;
	post_unsignaled(&x, 4, 10);
	receipts_pull(&x, 1);
	assert_true(x.msg.awaited);
	receipts_place(&x, 1);
	fx_expect_cqe(&x, 4, IW_WC_SUCCESS);
	fx_stop(&x);
}

static void drained(void **state)
{
	struct fx x;

	receipts_start(&x, RECEIPTS_WINDOW);
	receipts_write(&x, 1, 2000);
	receipts_write(&x, 2, 2000);
	receipts_pull(&x, 1);
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_SQD), 0);
	iw_qp_notify_drained(x.qp);
	receipts_pull(&x, 1);
	assert_false(fx_pull(&x));
	receipts_place(&x, 1);
	assert_true(iw_qp_is_draining(x.qp));
	fx_no_event(&x);
	receipts_place(&x, 1);
	fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
	fx_event(&x, IW_EVENT_SQ_DRAINED);
	assert_false(iw_qp_is_draining(x.qp));
	fx_stop(&x);
}

/* Over an LLP without placement counts, WQEs complete once their messages are pulled. */
static void nobody_tells(void **state)
{
	struct fx x;

	fx_passive(&x, 4, 4, 7);
	receipts_write(&x, 1, 2000);
	receipts_pull(&x, 1);
	fx_no_cqe(&x);
	receipts_pull(&x, 1);
	assert_false(x.msg.awaited);
	fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
	iw_assoc_placed(x.assoc);
	fx_no_cqe(&x);
	fx_stop(&x);
}

/* The QP is reset: sent WQEs are dropped, and the next session has its own count. */
static void reset(void **state)
{
	struct fx x, again;

	receipts_start(&x, RECEIPTS_WINDOW);
	receipts_write(&x, 1, 10);
	receipts_send(&x, 2, 10);
	receipts_pull(&x, 2);
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_RESET), 0);
	receipts_check_all_placed(&x);
	while (fx_pull(&x))
		receipts_place(&x, 1);
	receipts_place(&x, 2);
	fx_no_cqe(&x);
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_INIT), 0);
	again = x;
	again.sid = RECEIPTS_SECOND_SID;
	again.ssn = again.receipt_msn = 0;
	receipts_drop_events(&x);
	fx_accept(&again, 4, 4, 7);
	receipts_place(&x, 1);
	receipts_write(&again, 3, 10);
	receipts_pull(&again, 1);
	fx_no_cqe(&x);
	receipts_place(&x, 1);
	fx_expect_cqe(&x, 3, IW_WC_SUCCESS);
	fx_no_cqe(&x);
	fx_stop(&x);
}

/* ---- several QPs ---- */

#define QPS 5u
#define ROUNDS 4000u

/* The model of an incomplete WQE. */
struct posted {
	uint64_t wr_id;
	unsigned int left; /* messages still to pull */
	uint32_t seq;	   /* of the last message; valid if left is 0 */
};

struct qp_model {
	struct fx fx;
	struct posted queue[64];
	uint32_t head, tail;
};

static void check_completions(struct qp_model *q, uint32_t placed)
{
	struct iw_cqe cqe;

	while (iw_cq_poll(q[0].fx.cq, 1, &cqe) == 1) {
		struct qp_model *of = NULL;
		const struct posted *p;

		for (unsigned int i = 0; i < QPS; i++)
			if (q[i].fx.qp->num == cqe.qp_num)
				of = &q[i];
		assert_non_null(of);
		assert_true(of->head != of->tail);
		p = &of->queue[of->head++ % 64];
		assert_int_equal(cqe.status, IW_WC_SUCCESS);
		assert_int_equal(cqe.wr_id, p->wr_id);
		assert_false(p->left);
		assert_true(p->seq < placed);
	}
	for (unsigned int i = 0; i < QPS; i++) { /* and no possible completion is missing */
		const struct posted *p = &q[i].queue[q[i].head % 64];

		assert_false(q[i].head != q[i].tail && !p->left && p->seq < placed);
	}
}

static void model_pull(struct qp_model *q, uint32_t seq)
{
	struct fx *x = &q[0].fx;

	if (!fx_pull(x))
		return;
	for (unsigned int i = 0; i < QPS; i++) {
		uint32_t k = q[i].head;

		if (q[i].fx.sid != x->msg.sid)
			continue;
		while (!q[i].queue[k % 64].left)
			k++;
		assert_true(k < q[i].tail);
		if (!--q[i].queue[k % 64].left)
			q[i].queue[k % 64].seq = seq;
	}
}

static void model_post(struct qp_model *q, uint64_t wr_id, uint64_t *seed)
{
	uint32_t len = (uint32_t)(fx_next(seed) >> 40) % 4000;
	bool send = fx_next(seed) >> 50 & 1;
	uint32_t cut = send ? 1432 : 1436;

	if (q->tail - q->head >= 40)
		return;
	q->queue[q->tail++ % 64] = (struct posted){ wr_id, len ? (len + cut - 1) / cut : 1, 0 };
	if (send)
		receipts_send(&q->fx, wr_id, len);
	else
		receipts_write(&q->fx, wr_id, len);
}

/* Each QP completes in its own order, whatever the QPs send, and however placements are grouped. */
static void several_qps(void **state)
{
	static struct qp_model q[QPS];

	for (uint64_t round = 1; round <= 5; round++) {
		uint64_t seed = round * 0x9e3779b97f4a7c15ull;
		struct fx *x = &q[0].fx;

		memset(q, 0, sizeof(q));
		receipts_start(x, 1 << 30);
		for (unsigned int i = 1; i < QPS; i++)
			receipts_more(&q[i].fx, x, (uint16_t)(2 * i));
		for (uint64_t id = 0; id < ROUNDS; id++) {
			uint32_t pulled = x->assoc->pulled;

			switch (fx_next(&seed) >> 60) {
			case 0 ... 3:
				model_post(&q[(fx_next(&seed) >> 30) % QPS], id, &seed);
				break;
			case 4 ... 12:
				model_pull(q, pulled);
				break;
			default:
				receipts_place(x, (uint32_t)(fx_next(&seed) >> 33) %
							  (pulled - x->placed + 1));
			}
			check_completions(q, x->placed);
		}
		while (x->assoc->pulled != x->placed || x->msg.more) {
			model_pull(q, x->assoc->pulled);
			receipts_place(x, x->assoc->pulled - x->placed);
			check_completions(q, x->placed);
		}
		for (unsigned int i = 0; i < QPS; i++)
			assert_int_equal(q[i].head, q[i].tail);
		receipts_check_all_placed(x);
		for (unsigned int i = 1; i < QPS; i++)
			iw_qp_free(q[i].fx.qp);
		fx_stop(x);
	}
}

/* The CQ of one QP is full when its WQEs are placed. This QP ends, and the others continue. */
static void cq_full(void **state)
{
	struct fx x, y, z;
	struct iw_cq *small;

	receipts_start(&x, RECEIPTS_WINDOW);
	receipts_more(&y, &x, 2);
	receipts_more(&z, &x, 4);
	small = iw_cq_new(x.iw, 2, NULL);
	small->limit = 1;
	x.cq->refs--;
	y.qp->send_cq = small;
	small->refs++;
	for (uint64_t id = 1; id <= 3; id++) {
		receipts_write(&x, id, 10);
		receipts_write(&y, 10 + id, 10);
		receipts_write(&z, 20 + id, 10);
	}
	receipts_pull(&x, 9);
	receipts_place(&x, 9);
	fx_event(&x, IW_EVENT_CQ_ERROR);
	assert_int_equal(iw_qp_state(y.qp), IW_QPS_ERR);
	assert_int_equal(iw_cq_count(small), 1);
	assert_int_equal(iw_cq_count(x.cq), 6);
	for (unsigned int i = 0; i < 6; i++)
		assert_int_equal(fx_cqe(&x).status, IW_WC_SUCCESS);
	receipts_check_all_placed(&x);
	receipts_drop_events(&x);
	iw_qp_free(y.qp);
	iw_qp_free(z.qp);
	assert_int_equal(iw_cq_free(small), 0);
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_order),	 cmocka_unit_test(whole_message),
		cmocka_unit_test(reads_between), cmocka_unit_test(local_work_between),
		cmocka_unit_test(unsignaled),	 cmocka_unit_test(drained),
		cmocka_unit_test(nobody_tells),	 cmocka_unit_test(reset),
		cmocka_unit_test(several_qps),	 cmocka_unit_test(cq_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
