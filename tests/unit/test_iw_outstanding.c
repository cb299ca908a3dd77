/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* A work request is outstanding until its completion is polled. The slot is free only then. */
#include "fixture/iw_srq.h"
#include "iwarp/cq.h"
#include "iwarp/iw_xrc.h"
#include "iwarp/recv.h"

#define DEPTH 64u /* of both queues of fx.qp */

/*
 * Posts Writes without data until the queue is full. Only the nth is signaled. Returns their
 * number.
 */
static uint32_t fill_sends(struct fx *x, uint32_t nth)
{
	struct iw_send_wqe *w;
	uint32_t n = 0;

	for (; (w = iw_sq_slot(x->qp)); n++) {
		*w = (struct iw_send_wqe){ .wr_id = n,
					   .opcode = IW_WR_RDMA_WRITE,
					   .flags = n == nth ? IW_SEND_SIGNALED : 0 };
		iw_sq_publish(x->qp);
	}
	iw_qp_doorbell(x->qp);
	while (fx_pull(x))
		;
	return n;
}

static void sends(void **state)
{
	struct fx x;

	fx_passive(&x, 0, 1, 7);
	assert_int_equal(fill_sends(&x, 9), DEPTH);
	/* All Writes are complete, and none was polled. */
	assert_true(iw_sq_is_empty(x.qp));
	assert_int_equal(fill_sends(&x, 0), 0);
	fx_expect_cqe(&x, 9, IW_WC_SUCCESS);
	fx_no_cqe(&x);
	/* The poll freed the slots of the signaled Write and of earlier Writes. */
	assert_int_equal(fill_sends(&x, 9), 10);
	fx_expect_cqe(&x, 9, IW_WC_SUCCESS);
	assert_int_equal(fill_sends(&x, DEPTH - 1), DEPTH);
	/* Flushed Writes must be polled as well. */
	iw_qp_modify(x.qp, IW_QPS_ERR);
	fx_expect_cqe(&x, DEPTH - 1, IW_WC_SUCCESS);
	assert_int_equal(fill_sends(&x, DEPTH), DEPTH);
	assert_null(iw_sq_slot(x.qp));
	fx_expect_cqe(&x, 0, IW_WC_WR_FLUSH_ERR);
	assert_int_equal(fill_sends(&x, DEPTH), 1);
	fx_stop(&x);
}

static void receives(void **state)
{
	struct iw_cqe cqe[4];
	struct fx x;

	fx_passive(&x, 0, 1, 7);
	for (uint32_t i = 0; i < DEPTH; i++)
		fx_post_recv(&x, i, x.base, 10, x.stag);
	for (uint32_t msn = 1; msn <= 4; msn++)
		fx_send(&x, msn, "message", 7);
	assert_null(iw_rq_slot(x.qp));
	for (uint32_t n = 1; n <= 3; n += 2) { /* by one poll, or by several */
		assert_int_equal(iw_cq_poll(x.cq, n, cqe), n);
		for (uint32_t i = 0; i < n; i++)
			fx_post_recv(&x, i, x.base, 10, x.stag);
		assert_null(iw_rq_slot(x.qp));
	}
	fx_stop(&x);
}

/* One poll of completions from several queues frees the slots of each. */
static void mixed(void **state)
{
	struct iw_cqe cqe[6];
	struct fx x;

	fx_passive(&x, 0, 1, 7);
	for (uint32_t i = 0; i < DEPTH; i++)
		fx_post_recv(&x, i, x.base, 10, x.stag);
	for (uint32_t i = 0; i < 3; i++) {
		fx_post(&x, i, IW_WR_RDMA_WRITE, x.base, 10, 1, 1, 0);
		assert_true(fx_pull(&x));
		fx_send(&x, i + 1, "message", 7);
	}
	assert_int_equal(iw_cq_poll(x.cq, 6, cqe), 6);
	assert_int_equal(fill_sends(&x, DEPTH), DEPTH);
	for (uint32_t i = 0; i < 3; i++)
		fx_post_recv(&x, i, x.base, 10, x.stag);
	assert_null(iw_rq_slot(x.qp));
	fx_stop(&x);
}

/*
 * A poll makes room in the CQ before it frees slots: a CQ with the size of the queue never
 * overruns.
 */
static void room_first(void **state)
{
	struct iw_cqe cqe;
	struct iw_cq *cq;
	struct iw_qp *qp;
	struct fx x;

	fx_start(&x, false);
	cq = iw_cq_new(x.iw, 4, NULL);
	qp = fx_qp_sized(&x, x.pd, cq, 4);
	iw_qp_modify(qp, IW_QPS_ERR);
	for (unsigned int i = 0; i < 50; i++) {
		while (iw_sq_slot(qp)) {
			*fx_sq_slot(qp) = (struct iw_send_wqe){ .opcode = IW_WR_SEND };
			iw_sq_publish(qp);
		}
		iw_qp_doorbell(qp);
		assert_int_equal(iw_cq_count(cq), 4);
		assert_int_equal(iw_cq_poll(cq, 1, &cqe), 1);
	}
	fx_no_event(&x);
	iw_qp_free(qp);
	assert_int_equal(iw_cq_free(cq), 0);
	fx_stop(&x);
}

/* After reset and purge all slots are free, with or without completions in the CQ. */
static void reset(void **state)
{
	struct fx x;

	fx_passive(&x, 0, 1, 7);
	for (uint32_t i = 0; i < DEPTH; i++)
		fx_post_recv(&x, i, x.base, 10, x.stag);
	fx_send(&x, 1, "message", 7);
	assert_int_equal(fill_sends(&x, 9), DEPTH);
	iw_qp_modify(x.qp, IW_QPS_RESET);
	iw_cq_purge(x.cq, x.qp);
	fx_no_cqe(&x);
	for (uint32_t i = 0; i < DEPTH; i++)
		fx_post_recv(&x, i, x.base, 10, x.stag);
	assert_int_equal(fill_sends(&x, 9), DEPTH);
	fx_stop(&x);
}

/* Lost completions are never polled: their slots become free. */
static void lost(void **state)
{
	struct iw_cq *cq;
	struct iw_qp *qp;
	struct fx x;

	for (int ignore = 0; ignore < 2; ignore++) {
		fx_start(&x, false);
		cq = iw_cq_new(x.iw, 1, NULL);
		cq->ignore_overrun = ignore;
		qp = fx_qp_sized(&x, x.pd, cq, 4);
		iw_qp_modify(qp, IW_QPS_ERR);
		for (unsigned int i = 0; i < 20; i++) {
			*fx_sq_slot(qp) = (struct iw_send_wqe){ .opcode = IW_WR_SEND };
			iw_sq_publish(qp);
			iw_qp_doorbell(qp);
		}
		if (!ignore)
			fx_event(&x, IW_EVENT_CQ_ERROR);
		iw_qp_free(qp);
		assert_int_equal(iw_cq_free(cq), 0);
		fx_stop(&x);
	}
}

/* Each completion of an SRQ frees one slot, in whatever CQ, and even if it was lost. */
static void srq(void **state)
{
	struct sx t;

	iw_srq_start(&t, 8, 2);
	iw_srq_post(&t, 8);
	send_one(&t, 1, 1);
	for (uint32_t msn = 1; msn <= 3; msn++)
		send_one(&t, 0, msn);
	assert_false(post_one(&t));
	assert_int_equal(iw_srq_outstanding(t.srq), 8);
	assert_int_equal(iw_srq_resize(t.srq, 7), -EINVAL);
	iw_srq_expect(&t, 1, 0, 1);
	assert_int_equal(iw_srq_outstanding(t.srq), 7);
	iw_srq_post(&t, 1);
	assert_false(post_one(&t));
	/* Three completions of a destroyed QP wait. */
	assert_int_equal(iw_qp_modify(t.end[0].qp, IW_QPS_RESET), 0);
	iw_cq_purge(t.x.cq, t.end[0].qp);
	no_cqe(&t);
	iw_srq_post(&t, 3);
	assert_false(post_one(&t));
	/* A larger SRQ has room for more receives. */
	assert_int_equal(iw_srq_resize(t.srq, 10), 0);
	iw_srq_post(&t, 2);
	assert_false(post_one(&t));
	/* Flushed receives are outstanding as well. The other receives were never taken. */
	iw_srq_segment(&t, 1, 2, 0, false, 1, 10, 0);
	iw_qp_modify(t.end[1].qp, IW_QPS_ERR);
	assert_false(post_one(&t));
	expect_flushed(&t, 1, 4, IW_WC_WR_FLUSH_ERR);
	iw_srq_post(&t, 1);
	assert_false(post_one(&t));
	iw_srq_stop(&t);
}

static void srq_lost(void **state)
{
	struct sx t;

	iw_srq_start(&t, 4, 1);
	t.x.cq->ignore_overrun = true;
	assert_int_equal(iw_cq_resize(t.x.cq, 1), 0);
	for (uint32_t msn = 1; msn <= 20; msn++) {
		iw_srq_post(&t, 1);
		send_one(&t, 0, msn);
	}
	assert_int_equal(iw_srq_outstanding(t.srq), 1);
	iw_srq_stop(&t);
}

/* An SRQ of XRC is destroyed before its completions are polled. */
static void xrc_srq_goes(void **state)
{
	struct iw_xrcd *xrcd;
	struct iw_srq *srqs[2];
	struct iw_cqe cqe[3];
	struct fx x;

	fx_start(&x, false);
	xrcd = iw_xrcd_new(x.iw);
	assert_non_null(xrcd);
	for (int i = 0; i < 2; i++)
		assert_int_equal(iw_xrc_srq_new(xrcd, x.pd, x.cq, 4, 1, NULL, &srqs[i]), 0);
	for (int i = 0; i < 3; i++) {
		struct iw_srq *from = srqs[i % 2];

		assert_non_null(iw_srq_slot(from));
		iw_srq_publish(from);
		assert_true(iw_recv_complete(x.qp,
					     (struct iw_recv){ from, iw_srq_take(from, x.iw, 0) },
					     &(struct iw_cqe){ 0 }, false));
	}
	assert_int_equal(iw_srq_free(srqs[0]), 0);
	assert_int_equal(iw_srq_outstanding(srqs[1]), 1);
	assert_int_equal(iw_cq_poll(x.cq, 3, cqe), 3);
	assert_int_equal(iw_srq_outstanding(srqs[1]), 0);
	assert_int_equal(iw_srq_free(srqs[1]), 0);
	assert_int_equal(iw_xrcd_free(xrcd), 0);
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sends),	cmocka_unit_test(receives),
		cmocka_unit_test(mixed),	cmocka_unit_test(room_first),
		cmocka_unit_test(reset),	cmocka_unit_test(lost),
		cmocka_unit_test(srq),		cmocka_unit_test(srq_lost),
		cmocka_unit_test(xrc_srq_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
