/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* VALGRIND: yes */
/* A UD QP with few receives left: when, and for how long, its program gets time to post more. */
#include "fixture/iw_fixture.h"

#include "iwarp/iw_ud.h"
#include "wire/datagram.h"

#define QKEY 0x77
#define RECVS 256

static const struct ip_addr here = { .b = { [10] = 0xff, 0xff, 10, 0, 0, 1 } };
static const struct ip_addr sender = { .b = { [10] = 0xff, 0xff, 10, 0, 0, 9 } };

static struct fx x;
static struct iw_qp *qp;
static struct iw_srq *srq;
static uint32_t size = RECVS; /* of the receive queue */

/* Posts n minimal receives to the QP, or to its SRQ. */
static void post(unsigned int n)
{
	while (n--) {
		struct iw_recv_wqe *wqe = srq ? iw_srq_slot(srq) : iw_rq_slot(qp);

		assert_non_null(wqe);
		wqe->wr_id = 0;
		wqe->num_sge = 1;
		wqe->length = IW_UD_GRH;
		wqe->sge[0] = (struct iw_sge){ x.base, IW_UD_GRH, x.stag };
		if (srq)
			iw_srq_publish(srq);
		else
			iw_rq_publish(qp);
	}
}

static void come(unsigned int n)
{
	const struct wire_ud u = { .dst_qp = qp->num, .src_qp = 5, .qkey = QKEY };

	while (n--) {
		iw_ud_receive(x.iw, &u, &here, &sender);
		assert_int_equal(fx_cqe(&x).status, IW_WC_SUCCESS);
	}
}

static void pass(uint64_t ns)
{
	x.now += ns;
	iw_set_now(x.iw, x.now);
}

static void start(bool shared)
{
	struct iw_qp_attr attr = { .type = IW_QPT_UD,
				   .max_send_wr = 1,
				   .max_recv_wr = size,
				   .max_send_sge = 1,
				   .max_recv_sge = 1 };

	fx_start(&x, false);
	srq = NULL;
	if (shared)
		assert_int_equal(iw_srq_new(x.pd, size, 1, NULL, &srq), 0);
	attr.pd = x.pd;
	attr.send_cq = attr.recv_cq = x.cq;
	attr.srq = srq;
	assert_int_equal(iw_qp_new(x.iw, &attr, &qp), 0);
	iw_ud_set_qkey(qp, QKEY);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_INIT), 0);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_RTR), 0);
	pass(SEC);
}

static void stop(void)
{
	iw_qp_free(qp);
	if (srq)
		assert_int_equal(iw_srq_free(srq), 0);
	fx_stop(&x);
}

/* Runs a round that consumes `taken` receives, and changes the number of receives by `left`. */
static void round_of(unsigned int taken, int left)
{
	post(taken + (unsigned int)left);
	iw_ud_begin_round(x.iw);
	come(taken);
}

/* After several datagrams, with fewer than 64 receives left, datagrams wait until there are 64. */
static void low(bool shared)
{
	start(shared);
	round_of(100, 64);
	assert_false(iw_ud_is_low(x.iw));
	assert_false(iw_ud_awaits_receives(x.iw, false));
	pass(IW_UD_BURSTS);
	iw_ud_begin_round(x.iw);
	come(7);
	assert_false(iw_ud_is_low(x.iw)); /* too few for a burst */
	come(1);
	assert_true(iw_ud_is_low(x.iw)); /* 56 are left */
	assert_true(iw_ud_awaits_receives(x.iw, false));
	post(7);
	assert_true(iw_ud_awaits_receives(x.iw, false));
	post(1);
	assert_false(iw_ud_awaits_receives(x.iw, false));
	assert_false(iw_ud_is_low(x.iw));
	/* After a burst, a single datagram counts as well, for a while. */
	pass(IW_UD_BURSTS - 1);
	iw_ud_begin_round(x.iw);
	come(1);
	assert_true(iw_ud_is_low(x.iw));
	post(1);
	pass(1);
	iw_ud_begin_round(x.iw);
	come(1);
	assert_false(iw_ud_is_low(x.iw));
	stop();
}

static void own_queue(void **state)
{
	low(false);
}

static void shared_queue(void **state)
{
	low(true);
}

/* For a short queue, half of it is enough. */
static void short_queue(bool shared)
{
	size = 32;
	start(shared);
	round_of(16, 16);
	assert_false(iw_ud_is_low(x.iw));
	come(1);
	assert_true(iw_ud_awaits_receives(x.iw, false));
	post(1);
	assert_false(iw_ud_awaits_receives(x.iw, false));
	stop();
	size = RECVS;
}

static void short_queues(void **state)
{
	short_queue(false);
	short_queue(true);
}

/* The time is limited after each posted receive, and in total. */
static void time_limits(void **state)
{
	start(false);
	round_of(10, 20);
	pass(IW_UD_LOW_QUIET - 1);
	assert_true(iw_ud_awaits_receives(x.iw, false));
	pass(1);
	assert_false(iw_ud_awaits_receives(x.iw, false));
	assert_false(iw_ud_is_low(x.iw));
	stop();

	/* A receive is posted now and then. */
	start(false);
	round_of(10, 20);
	for (unsigned int i = 1; i < IW_UD_LOW_MAX / (IW_UD_LOW_QUIET / 2); i++) {
		pass(IW_UD_LOW_QUIET / 2);
		post(1);
		assert_true(iw_ud_awaits_receives(x.iw, false));
	}
	pass(IW_UD_LOW_QUIET / 2);
	post(1);
	assert_false(iw_ud_awaits_receives(x.iw, false));
	/* The long wait does not reduce the number of receives required. */
	round_of(8, 1); /* 33 of 64 are left */
	assert_true(iw_ud_is_low(x.iw));
	stop();
}

/*
 * A program that posted nothing in this time gets no more time until it posts. From then on, fewer
 * receives are required.
 */
static void in_vain(void **state)
{
	start(false);
	round_of(10, 60);
	assert_true(iw_ud_awaits_receives(x.iw, false));
	pass(IW_UD_LOW_QUIET);
	assert_false(iw_ud_awaits_receives(x.iw, false));
	iw_ud_begin_round(x.iw);
	come(50);
	assert_false(iw_ud_is_low(x.iw));
	round_of(8, 20); /* 30 are left */
	assert_false(iw_ud_is_low(x.iw));
	come(1);
	assert_true(iw_ud_is_low(x.iw));
	stop();
}

/* With associations, the program gets exactly this time from now on. */
static void waits_for(uint64_t ns)
{
	pass(ns - 1);
	assert_true(iw_ud_awaits_receives(x.iw, true));
	pass(1);
	assert_false(iw_ud_awaits_receives(x.iw, true));
}

/* With associations the time is short, and the associations get it back afterwards. */
static void with_associations(void **state)
{
	const uint64_t half = IW_UD_LOW_SHARED / 2;

	start(false);
	round_of(10, 60);
	assert_true(iw_ud_awaits_receives(x.iw, true));
	pass(IW_UD_LOW_SHARED - 1);
	assert_true(iw_ud_awaits_receives(x.iw, true));
	post(1);
	pass(1);
	assert_false(iw_ud_awaits_receives(x.iw, true));
	round_of(11, -10); /* one posted, 50 left */
	assert_false(iw_ud_is_low(x.iw));
	pass(half - 1);
	round_of(11, -10);
	assert_false(iw_ud_is_low(x.iw));
	pass(1);
	round_of(11, -10);
	assert_true(iw_ud_awaits_receives(x.iw, true));
	waits_for(half);
	stop();

	/* The program posts enough, but slowly. */
	start(false);
	round_of(10, 60);
	assert_true(iw_ud_awaits_receives(x.iw, true));
	pass(half);
	assert_true(iw_ud_awaits_receives(x.iw, true));
	post(10);
	assert_false(iw_ud_awaits_receives(x.iw, true));
	round_of(20, -10);
	assert_true(iw_ud_awaits_receives(x.iw, true));
	waits_for(half);
	stop();

	/* An association comes up during the wait: the short time starts now. */
	start(false);
	round_of(10, 60);
	pass(IW_UD_LOW_QUIET - 1);
	assert_true(iw_ud_awaits_receives(x.iw, false));
	post(1);
	assert_true(iw_ud_awaits_receives(x.iw, true));
	waits_for(IW_UD_LOW_SHARED);
	stop();
}

/* A QP in error state gets no time, since its receives do not return. */
static void failed(void **state)
{
	start(false);
	round_of(10, 20);
	assert_true(iw_ud_awaits_receives(x.iw, false));
	assert_int_equal(iw_qp_modify(qp, IW_QPS_ERR), 0);
	assert_false(iw_ud_awaits_receives(x.iw, false));
	stop();
}

/* A QP of another type may reuse the number, and is not accessed. */
static void number_of_another(void **state)
{
	struct iw_qp_attr attr = { .type = IW_QPT_RC,
				   .max_send_wr = 1,
				   .max_recv_wr = 1,
				   .max_send_sge = 1,
				   .max_recv_sge = 1 };
	uint32_t num;

	start(false);
	round_of(10, 20);
	num = qp->num;
	iw_qp_free(qp);
	attr.num = num;
	attr.pd = x.pd;
	attr.send_cq = attr.recv_cq = x.cq;
	assert_int_equal(iw_qp_new(x.iw, &attr, &qp), 0);
	assert_int_equal(qp->num, num);
	assert_false(iw_ud_awaits_receives(x.iw, false));
	stop();
}

/* A freed QP gets no time. */
static void freed(void **state)
{
	start(false);
	round_of(10, 20);
	assert_true(iw_ud_awaits_receives(x.iw, false));
	iw_qp_free(qp);
	assert_false(iw_ud_awaits_receives(x.iw, false));
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_queue),
		cmocka_unit_test(shared_queue),
		cmocka_unit_test(time_limits),
		cmocka_unit_test(in_vain),
		cmocka_unit_test(freed),
		cmocka_unit_test(short_queues),
		cmocka_unit_test(with_associations),
		cmocka_unit_test(failed),
		cmocka_unit_test(number_of_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
