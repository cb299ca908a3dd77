/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* VALGRIND: yes */
#include "conformance/rows.h"
#include "fixture/iw_fixture.h"

#include "iwarp/rc.h"
#include "iwarp/rnic.h"

static void states(void **state)
{
	struct iw_qp_attr attr;
	struct iw_qp *qp;
	struct fx x;

	fx_start(&x, false);
	attr = (struct iw_qp_attr){ .pd = x.pd,
				    .send_cq = x.cq,
				    .recv_cq = x.cq,
				    .max_send_wr = 3,
				    .max_recv_wr = 5,
				    .max_send_sge = 2,
				    .max_recv_sge = 2,
				    .max_inline = 100,
				    .sq_sig_all = true };
	assert_int_equal(iw_qp_new(x.iw, &attr, &qp), 0);
	assert_int_equal(atomic_load(&qp->state), IW_QPS_RESET);
	assert_in_range(qp->num, 2, 0xffffff);
	assert_int_not_equal(qp->num, x.qp->num);
	assert_ptr_equal(iw_qp_by_num(x.iw, qp->num), qp);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_RTR), -EINVAL);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_RTS), -EINVAL);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_SQD), -EINVAL);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_INIT), 0);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_INIT), 0);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_RTR), 0);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_RTS), -EINVAL); /* only the session does */
	assert_int_equal(iw_qp_modify(qp, IW_QPS_SQE), -EINVAL);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_INIT), -EINVAL);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_ERR), 0);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_INIT), -EINVAL);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_RESET), 0);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_INIT), 0);
	assert_int_equal(iw_cq_free(x.cq), -EBUSY);
	iw_qp_free(qp);
	attr.max_send_wr = IW_MAX_QP_WR + 1;
	assert_int_equal(iw_qp_new(x.iw, &attr, &qp), -EINVAL);
	attr.max_send_wr = 1;
	attr.max_recv_sge = IW_MAX_SGE + 1;
	assert_int_equal(iw_qp_new(x.iw, &attr, &qp), -EINVAL);
	attr.max_recv_sge = 1;
	attr.max_inline = IW_MAX_INLINE + 1;
	assert_int_equal(iw_qp_new(x.iw, &attr, &qp), -EINVAL);
	fx_stop(&x);
}

/* A slot has the size that this QP requested, not the largest of any QP. */
static void slots_as_asked_for(void **state)
{
	struct iw_qp_attr attr;
	struct iw_qp *qp;
	struct fx x;

	fx_start(&x, false);
	attr = (struct iw_qp_attr){
		.pd = x.pd, .send_cq = x.cq, .recv_cq = x.cq, .max_send_wr = 1, .max_send_sge = 1
	};
	assert_int_equal(iw_qp_new(x.iw, &attr, &qp), 0);
	assert_true(qp->sq.stride <= 128);
	iw_qp_free(qp);
	attr.max_inline = IW_MAX_INLINE;
	assert_int_equal(iw_qp_new(x.iw, &attr, &qp), 0);
	assert_in_range(qp->sq.stride, IW_MAX_INLINE + sizeof(struct iw_send_wqe),
			IW_MAX_INLINE + 128);
	iw_qp_free(qp);
	fx_stop(&x);
}

static void rings(void **state)
{
	struct iw_send_wqe *first, *second;
	struct iw_qp *qp;
	struct fx x;

	fx_start(&x, false);
	qp = fx_qp_sized(&x, x.pd, x.cq, 3);
	first = iw_sq_slot(qp);
	assert_non_null(first);
	assert_ptr_equal(iw_sq_slot(qp), first);
	iw_sq_publish(qp);
	second = iw_sq_slot(qp);
	/* Room for 64 bytes inline and for 4 SGEs. */
	assert_true((uint8_t *)second - (uint8_t *)first >= (ptrdiff_t)sizeof(*first) + 64);
	iw_sq_publish(qp);
	assert_non_null(iw_sq_slot(qp));
	iw_sq_publish(qp);
	assert_null(iw_sq_slot(qp)); /* 3 slots, although the ring is larger */
	iw_qp_modify(qp, IW_QPS_RESET);
	iw_cq_purge(x.cq, qp);
	assert_non_null(iw_sq_slot(qp));
	assert_true(iw_cq_is_empty(x.cq));
	iw_qp_free(qp);

	qp = fx_qp_sized(&x, x.pd, x.cq, 0);
	assert_null(iw_sq_slot(qp));
	assert_null(iw_rq_slot(qp));
	iw_qp_free(qp);
	fx_stop(&x);
}

static void flush(void **state)
{
	struct iw_cqe cqe;
	struct fx x;

	fx_start(&x, false);
	fx_post_recv(&x, 1, x.base, 10, x.stag);
	fx_post_recv(&x, 2, x.base, 10, x.stag);
	iw_qp_modify(x.qp, IW_QPS_ERR);
	for (unsigned int i = 1; i < 3; i++) {
		cqe = fx_cqe(&x);
		assert_int_equal(cqe.wr_id, i);
		assert_int_equal(cqe.status, IW_WC_WR_FLUSH_ERR);
		assert_int_equal(cqe.opcode, IW_WC_RECV);
		assert_int_equal(cqe.qp_num, x.qp->num);
	}
	/* WRs posted later are flushed as well, even unsignaled ones. */
	fx_post(&x, 3, IW_WR_RDMA_WRITE, x.base, 10, 1, 1, 0);
	fx_sq_slot(x.qp)->flags = 0;
	iw_sq_publish(x.qp);
	iw_qp_doorbell(x.qp);
	cqe = fx_cqe(&x);
	assert_int_equal(cqe.wr_id, 3);
	assert_int_equal(cqe.opcode, IW_WC_RDMA_WRITE);
	assert_int_equal(fx_cqe(&x).status, IW_WC_WR_FLUSH_ERR);
	assert_true(iw_cq_is_empty(x.cq));
	fx_no_event(&x);
	fx_stop(&x);
}

static void unsignaled_and_order(void **state)
{
	ROWS("5040-5.5-14");
	uint8_t m[100];
	struct fx x;

	fx_passive(&x, 0, 1, 7);
	fx_post(&x, 1, IW_WR_RDMA_READ, x.base, 4, 9, 9, 0);
	for (unsigned int i = 2; i < 6; i++) {
		struct iw_send_wqe *w = fx_sq_slot(x.qp);

		*w = (struct iw_send_wqe){ .wr_id = i,
					   .opcode = IW_WR_SEND,
					   .flags = i == 4 ? IW_SEND_SIGNALED : 0 };
		iw_sq_publish(x.qp);
	}
	iw_qp_doorbell(x.qp);
	for (unsigned int i = 0; i < 5; i++)
		assert_true(fx_pull(&x));
	assert_true(iw_cq_is_empty(x.cq)); /* after the read */
	assert_int_equal(x.qp->sq.head, 0);
	fx_feed(&x, 16, x.ssn++, m, fx_make_tagged(m, 0xc1, 0x42, x.stag, x.base, "1234", 4));
	assert_int_equal(fx_cqe(&x).wr_id, 1);
	assert_int_equal(fx_cqe(&x).wr_id, 4);
	assert_true(iw_cq_is_empty(x.cq));
	assert_int_equal(x.qp->sq.head, 5);
	fx_stop(&x);
}

static void inline_and_gather(void **state)
{
	ROWS("5040-4.1-09 5040-4.1-15");
	struct iw_send_wqe *w;
	struct fx x;

	fx_passive(&x, 0, 1, 7);
	memcpy(x.mem, "abcdefghij", 10);
	w = fx_sq_slot(x.qp);
	*w = (struct iw_send_wqe){ .opcode = IW_WR_SEND_WITH_INV,
				   .flags = IW_SEND_INLINE,
				   .length = 5,
				   .inv_stag = 0x11223344 };
	memcpy(w->sge, "hello", 5);
	iw_sq_publish(x.qp);
	w = fx_sq_slot(x.qp);
	*w = (struct iw_send_wqe){ .opcode = IW_WR_SEND, .num_sge = 4, .length = 6, .inv_stag = 7 };
	w->sge[0] = (struct iw_sge){ x.base + 8, 2, x.stag };
	w->sge[1] = (struct iw_sge){ 0, 0, 0 }; /* length 0: the lkey does not matter */
	w->sge[2] = (struct iw_sge){ x.base, 3, x.stag };
	w->sge[3] = (struct iw_sge){ x.base + 5, 1, x.stag };
	iw_sq_publish(x.qp);
	iw_qp_doorbell(x.qp);
	assert_true(fx_pull(&x));
	assert_memory_equal(x.out + 2, "\x41\x44\x11\x22\x33\x44\0\0\0\0\0\0\0\1\0\0\0\0hello", 23);
	assert_true(fx_pull(&x));
	assert_memory_equal(x.out + 2, "\x41\x43\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0\0ijabcf", 24);
	fx_stop(&x);
}

static void drained(void **state)
{
	struct fx x;

	fx_passive(&x, 0, 1, 7);
	/* Programs that modify their QP themselves do so after the session. */
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_RTR), 0);
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_RTS), 0);
	assert_int_equal(atomic_load(&x.qp->state), IW_QPS_RTS);
	fx_post(&x, 1, IW_WR_SEND, x.base, 3000, 0, 0, 0);
	fx_post(&x, 2, IW_WR_SEND, x.base, 10, 0, 0, 0);
	assert_true(fx_pull(&x));
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_SQD), 0);
	assert_true(fx_pull(&x));
	assert_true(fx_pull(&x)); /* started messages are completed */
	assert_false(fx_pull(&x));
	assert_int_equal(fx_cqe(&x).wr_id, 1);
	x.doorbells = 0;
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_RTS), 0);
	assert_int_equal(x.doorbells, 1);
	assert_true(fx_pull(&x));
	assert_int_equal(fx_cqe(&x).wr_id, 2);
	fx_stop(&x);
}

/*
 * A QP connected out of band, without a session yet. After a reset, no earlier request is
 * outstanding.
 */
static void drained_after_reset(void **state)
{
	struct fx x;

	fx_start(&x, false);
	x.qp->oob = (void *)&x;
	for (int round = 0; round < 2; round++) {
		if (round) {
			assert_int_equal(iw_qp_modify(x.qp, IW_QPS_RESET), 0);
			assert_int_equal(iw_qp_modify(x.qp, IW_QPS_INIT), 0);
		}
		assert_int_equal(iw_qp_modify(x.qp, IW_QPS_RTR), 0);
		assert_int_equal(iw_qp_modify(x.qp, IW_QPS_RTS), 0);
		if (!round)
			fx_post(&x, 1, IW_WR_SEND, x.base, 10, 0, 0, 0);
	}
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_SQD), 0);
	assert_false(iw_qp_is_draining(x.qp));
	iw_qp_notify_drained(x.qp);
	fx_event(&x, IW_EVENT_SQ_DRAINED);
	fx_stop(&x);
}

#define READS 12

static unsigned int requests_out(struct fx *x)
{
	unsigned int n = 0;

	while (fx_pull(x)) {
		assert_int_equal(x->out[3], 0x41);
		n++;
	}
	return n;
}

/* Answers the first n requested reads, each in one segment of zeros. */
static void answer_reads(struct fx *x, const struct iw_mr *sink, uint64_t at, uint32_t len,
			 unsigned int n)
{
	uint8_t *m = calloc(1, len + 64);

	while (n--) {
		fx_feed(x, 16, x->ssn++, m,
			fx_make_tagged(m, 0xc1, 0x42, iw_mr_stag(sink), at, NULL, 0) + len);
		assert_int_equal(fx_cqe(x).status, IW_WC_SUCCESS);
	}
	free(m);
}

/*
 * With an ORD of 8, eight short reads are always outstanding. Of long reads, six to eight are, and
 * no request is sent alone.
 */
static void reads_in_turn(void **state)
{
	static const struct {
		uint32_t len;
		unsigned int after[4];
	} cases[] = {
		{ IW_LONG_READ - 1, { 1, 1, 1, 1 } },
		{ IW_LONG_READ, { 0, 2, 0, 2 } },
	};

	for (unsigned int i = 0; i < 2; i++) {
		uint32_t len = cases[i].len;
		uint8_t *sink = calloc(1, len);
		uint64_t at = (uintptr_t)sink;
		struct iw_mr *mr;
		struct fx x;

		fx_passive(&x, 0, 8, 7);
		assert_int_equal(iw_mr_new(x.pd, at, len, at, IW_ACCESS_LOCAL_WRITE, NULL, &mr), 0);
		for (unsigned int k = 0; k < READS; k++) {
			fx_begin(&x, k, IW_WR_RDMA_READ, at, len, 0x1234, 0, 0)->sge[0].lkey =
				iw_mr_stag(mr);
			fx_publish(&x);
		}
		assert_int_equal(requests_out(&x), 8);
		for (unsigned int k = 0; k < 4; k++) {
			answer_reads(&x, mr, at, len, 1);
			assert_int_equal(requests_out(&x), cases[i].after[k]);
		}
		answer_reads(&x, mr, at, len, 8);
		assert_true(iw_cq_is_empty(x.cq));
		assert_int_equal(iw_mr_free(mr), 0);
		fx_stop(&x);
		free(sink);
	}
}

static int copy_nothing(void *dst, const void *src, size_t len)
{
	return 0;
}

/* A message of 2^31 bytes: no length or offset becomes negative. */
static void huge(void **state)
{
	ROWS("5040-1.1-01");
	static const struct iw_rnic_ops ops = { .copy = copy_nothing, .place = copy_nothing };
	uint64_t sum = 0, to = 0x7ffffff0;
	struct iw_send_wqe *w;
	struct iw_mr *mr;
	struct fx x;

	fx_passive(&x, 0, 1, 7);
	x.rnic->ops = ops;
	iw_assoc_set_max_msg(x.assoc, 65000);
	assert_int_equal(iw_mr_new(x.pd, 4096, IW_MAX_MSG, 0, 0, NULL, &mr), 0);
	w = fx_sq_slot(x.qp);
	*w = (struct iw_send_wqe){ .wr_id = 1,
				   .opcode = IW_WR_RDMA_WRITE,
				   .num_sge = 1,
				   .flags = IW_SEND_SIGNALED,
				   .length = IW_MAX_MSG,
				   .remote_to = to };
	w->sge[0] = (struct iw_sge){ 0, IW_MAX_MSG, iw_mr_stag(mr) };
	iw_sq_publish(x.qp);
	iw_qp_doorbell(x.qp);
	while ((x.out_len = iw_assoc_pull(x.assoc, x.out, 65000, &x.msg))) {
		assert_true(get_be64(x.out + 8) == to + sum);
		sum += x.out_len - 16;
		assert_int_equal(x.out[2], sum == IW_MAX_MSG ? 0xc1 : 0x81);
	}
	assert_int_equal(sum, IW_MAX_MSG);
	assert_int_equal(fx_cqe(&x).byte_len, IW_MAX_MSG);
	iw_mr_free(mr);
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states),
		cmocka_unit_test(slots_as_asked_for),
		cmocka_unit_test(rings),
		cmocka_unit_test(flush),
		cmocka_unit_test(unsignaled_and_order),
		cmocka_unit_test(inline_and_gather),
		cmocka_unit_test(drained),
		cmocka_unit_test(drained_after_reset),
		cmocka_unit_test(reads_in_turn),
		cmocka_unit_test(huge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
