/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* VALGRIND: yes */
/*
 * Several QPs with one SRQ, against scripted peers: the assignment of receives, and their return.
 */
#include "conformance/rows.h"
#include "fixture/iw_fixture.h"

#include "iwarp/rc.h"
#include "iwarp/srq.h"
#include "wire/session.h"
#include "fixture/iw_srq.h"

/* Nobody posts receives: the waiting time expires. Each receive restarts the time. */
static void receiver_not_ready(void **state)
{
	struct sx t;

	start_rnr(&t, 8, 2, 1);
	send_one(&t, 0, 1);
	send_one(&t, 0, 2);
	t.x.now += 600 * MSEC;
	iw_timers(t.x.iw, t.x.now);
	fx_no_event(&t.x);
	iw_srq_post(&t, 1);
	iw_srq_expect(&t, 0, 0, 1);
	t.x.now += 600 * MSEC;
	iw_timers(t.x.iw, t.x.now);
	fx_no_event(&t.x);
	t.x.now += 60 * MSEC + IW_RNR_GRACE;
	iw_timers(t.x.iw, t.x.now);
	fx_event(&t.x, IW_EVENT_QP_REQUEST);
	fx_event(&t.x, IW_EVENT_QP_LAST_WQE);
	fx_event(&t.x, IW_EVENT_CLOSED);
	/* The other QP is not affected. */
	iw_srq_post(&t, 1);
	send_one(&t, 1, 1);
	iw_srq_expect(&t, 1, 1, 1);
	iw_srq_stop(&t);
}

/* A QP that stores more than its budget gets a Terminate. The other QPs continue. */
static void too_much_unexpected(void **state)
{
	struct sx t;

	iw_srq_start(&t, 8, 2);
	for (uint32_t msn = 1; msn <= 65536 / (IW_UNEXPECTED_COST + 20); msn++)
		send_one(&t, 0, msn);
	fx_no_event(&t.x);
	send_one(&t, 0, 65536 / (IW_UNEXPECTED_COST + 20) + 1);
	fx_event(&t.x, IW_EVENT_QP_REQUEST);
	fx_event(&t.x, IW_EVENT_QP_LAST_WQE);
	fx_event(&t.x, IW_EVENT_CLOSED);
	send_one(&t, 1, 1);
	iw_srq_post(&t, 1);
	iw_srq_expect(&t, 1, 0, 1);
	no_cqe(&t);
	iw_srq_stop(&t);
}

/* A stored message is too long for its receive. */
static void held_too_long(void **state)
{
	struct sx t;

	iw_srq_start(&t, 8, 2);
	iw_srq_segment(&t, 0, 1, 0, true, 1, SLOT + 1, 0);
	send_one(&t, 0, 2);
	send_one(&t, 1, 1);
	iw_srq_post(&t, 2);
	expect_flushed(&t, 0, 0, IW_WC_LOC_LEN_ERR);
	iw_srq_expect(&t, 1, 1, 1);
	no_cqe(&t);
	iw_srq_stop(&t);
}

/* Creates one QP on an SRQ with three receives. */
static void start_active_on(struct sx *t)
{
	assert_int_equal(iw_srq_new(t->x.pd, 4, 2, NULL, &t->srq), 0);
	t->end[0].qp = iw_srq_new_qp(t);
	iw_srq_post(t, 3);
}

/* Creates the same with an RNIC, whose side opens the association. */
static void start_active(struct sx *t)
{
	memset(t, 0, sizeof(*t));
	fx_start(&t->x, true);
	start_active_on(t);
}

/* Sends the QP's Initiate. The second message of the session comes before the peer's answer. */
static void initiate(struct sx *t)
{
	struct iw_session_param p = { .rnr_retry_count = 7 };
	struct end *e = &t->end[0];

	assert_int_equal(iw_session_initiate(t->x.assoc, e->qp, &p,
					     &(struct iw_session_user){ .ctx = t }, &e->session),
			 0);
	assert_true(fx_pull(&t->x));
	e->sid = t->x.msg.sid;
	e->ssn = 0;
	iw_srq_segment(t, 0, 2, 0, true, 2, 20, 2);
	assert_int_equal(iw_rc_of(e->qp)->rx.taken, 2);
	select_end(t, 0);
}

/* The receives that the QP had taken are back, and the QP may try again. */
static void expect_released(struct sx *t)
{
	assert_int_equal(iw_srq_left(t->srq), 3);
	assert_int_equal(iw_rc_of(t->end[0].qp)->rx.taken, 0);
	assert_int_equal(atomic_load(&t->end[0].qp->state), IW_QPS_INIT);
	no_cqe(t);
}

/* Segments come before a Reject that answers the Initiate: no receive is lost. */
static void rejected(void **state)
{
	struct sx t;

	start_active(&t);
	initiate(&t);
	fx_control(&t.x, SESSION_ENHANCED_REJECT, "\0\0\0\0", 4);
	fx_event(&t.x, IW_EVENT_REJECT);
	expect_released(&t);
	iw_srq_stop(&t);
}

/*
 * As above, but the association is lost before the answer. The next session gets the receives in
 * the order of posting.
 */
static void lost_before_the_answer(void **state)
{
	static const struct iw_llp_ops llp = { .doorbell = fx_doorbell, .acked = fx_acked };
	struct iw_event ev;
	struct sx t;

	start_active(&t);
	initiate(&t);
	iw_assoc_lost(t.x.assoc, -ETIMEDOUT);
	ev = fx_event(&t.x, IW_EVENT_CLOSED);
	assert_ptr_equal(ev.user.ctx, &t);
	assert_int_equal(ev.error, -ETIMEDOUT);
	fx_no_event(&t.x);
	expect_released(&t);
	t.x.assoc = iw_assoc_new(t.x.iw, &llp, &t.x, true, 64, 1452);
	initiate(&t);
	fx_control(&t.x, SESSION_ENHANCED_ACCEPT, "\0\0\0\0", 4);
	deselect(&t, 0);
	fx_event(&t.x, IW_EVENT_ACCEPT);
	send_one(&t, 0, 1);
	iw_srq_expect(&t, 0, 0, 1);
	iw_srq_expect(&t, 0, 1, 2);
	t.end[0].ssn++;
	send_one(&t, 0, 3);
	iw_srq_expect(&t, 0, 2, 3);
	no_cqe(&t);
	iw_srq_stop(&t);
}

/*
 * QPs of another shard wait. The other shard's doorbell rings when this shard's QP returns
 * receives, or when fewer QPs remain on the SRQ.
 */
static void others_wait(void **state)
{
	struct iw_shard *other;
	struct iw_event ev;
	struct sx t;

	memset(&t, 0, sizeof(t));
	fx_start(&t.x, true);
	other = iw_shard_new(t.x.rnic, &t.x.random.source);
	start_active_on(&t);
	initiate(&t);
	fx_control(&t.x, SESSION_ENHANCED_REJECT, "\0\0\0\0", 4);
	fx_event(&t.x, IW_EVENT_REJECT);
	fx_no_event(&t.x); /* no QP waits yet */
	iw_srq_await(iw_srq_part(t.srq, other), true);
	assert_int_equal(iw_srq_awaited(t.srq), 1 << 1);
	assert_ptr_not_equal(iw_srq_doorbell(t.srq, 0), iw_srq_doorbell(t.srq, 1));
	initiate(&t);
	fx_control(&t.x, SESSION_ENHANCED_REJECT, "\0\0\0\0", 4);
	ev = fx_event(&t.x, IW_EVENT_SRQ_OTHERS);
	assert_ptr_equal(ev.srq, t.srq);
	fx_event(&t.x, IW_EVENT_REJECT);
	fx_no_event(&t.x);
	iw_qp_free(t.end[0].qp);
	t.end[0].qp = NULL;
	ev = fx_event(&t.x, IW_EVENT_SRQ_OTHERS);
	assert_ptr_equal(ev.srq, t.srq);
	iw_srq_await(iw_srq_part(t.srq, other), false);
	assert_int_equal(iw_srq_awaited(t.srq), 0);
	assert_int_equal(iw_srq_free(t.srq), 0);
	iw_shard_free(other);
	fx_stop(&t.x);
}

/* The CQ overflows: the QP enters the error state, but the SRQ does not. */
static void cq_overrun(void **state)
{
	struct sx t;

	iw_srq_start(&t, 8, 1);
	iw_srq_post(&t, 4);
	assert_int_equal(iw_cq_resize(t.x.cq, 1), 0);
	send_one(&t, 0, 1);
	send_one(&t, 0, 2);
	assert_int_equal(atomic_load(&t.end[0].qp->state), IW_QPS_ERR);
	iw_srq_expect(&t, 0, 0, 1);
	assert_int_equal(iw_srq_left(t.srq), 2);
	iw_srq_stop(&t);
}

/* Thousands of messages overtake one message: none is lost, and their table is freed. */
static void far_ahead(void **state)
{
	enum { N = 3000 };
	struct sx t;

	iw_srq_start(&t, N, 1);
	iw_srq_post(&t, N);
	assert_int_equal(iw_cq_resize(t.x.cq, N), 0);
	for (uint32_t msn = 2; msn <= N; msn++)
		iw_srq_segment(&t, 0, msn, 0, true, 1, 20, (uint16_t)(msn - 1));
	send_one(&t, 0, 1);
	for (uint64_t id = 0; id < N; id++) {
		struct iw_cqe cqe = fx_cqe(&t.x);

		assert_int_equal(cqe.status, IW_WC_SUCCESS);
		assert_int_equal(cqe.wr_id, id);
	}
	assert_int_equal(iw_rc_of(t.end[0].qp)->rx.unexpected.size, 0);
	t.end[0].ssn = (uint16_t)(t.end[0].ssn + N - 1);
	iw_srq_post(&t, 1);
	send_one(&t, 0, N + 1);
	assert_int_equal(fx_cqe(&t.x).wr_id, N);
	iw_srq_stop(&t);
}

/*
 * The peer of a QP connected out of band is lost. The QP keeps its state, and the receives that it
 * took go to other QPs.
 */
static void oob_peer_goes(void **state)
{
	struct sx t;

	iw_srq_start(&t, 8, 2);
	atomic_store(&t.end[0].qp->oob, (void *)&t);
	iw_srq_post(&t, 4);
	iw_srq_segment(&t, 0, 1, 0, false, 1, 10, 0);
	iw_srq_segment(&t, 0, 2, 0, false, 1, 10, 0);
	assert_int_equal(iw_rc_of(t.end[0].qp)->rx.taken, 2);
	select_end(&t, 0);
	fx_control(&t.x, SESSION_TERMINATE, NULL, 0);
	fx_event(&t.x, IW_EVENT_CLOSED);
	fx_no_event(&t.x);
	no_cqe(&t);
	assert_int_equal(atomic_load(&t.end[0].qp->state), IW_QPS_RTS);
	for (uint32_t msn = 1; msn <= 4; msn++) {
		send_one(&t, 1, msn);
		iw_srq_expect(&t, 1, msn - 1, msn);
	}
	assert_int_equal(iw_qp_modify(t.end[0].qp, IW_QPS_ERR), 0);
	fx_event(&t.x, IW_EVENT_QP_LAST_WQE);
	no_cqe(&t);
	iw_srq_stop(&t);
}

/* ---- Immediate Data (RFC 7306 6) ---- */

#define REMOTE (FX_MEM - 512u) /* the peer writes here, after the receives */

static void write_one(struct sx *t, unsigned int i, size_t len)
{
	uint8_t data[100];

	memset(data, 0x77, sizeof(data));
	select_end(t, i);
	fx_write(&t->x, t->x.stag, t->x.base + REMOTE, data, len);
	deselect(t, i);
}

static void immediate(struct sx *t, unsigned int i, uint32_t msn, uint32_t imm, uint16_t early)
{
	uint8_t data[8] = { 0 }, m[64];

	memcpy(data, &imm, sizeof(imm));
	select_end(t, i);
	fx_feed(&t->x, 16, (uint16_t)(t->x.ssn + early), m,
		fx_make_untagged(m, 0x41, 0x48, 0, 0, msn, 0, data, sizeof(data)));
	if (!early)
		t->x.ssn++;
	deselect(t, i);
}

/* written: bytes of the Write before the Immediate Data; -1: none. */
static void expect_immediate(struct sx *t, unsigned int i, uint64_t wr_id, uint32_t imm,
			     int written)
{
	struct iw_cqe cqe = fx_cqe(&t->x);

	assert_int_equal(cqe.status, IW_WC_SUCCESS);
	assert_int_equal(cqe.opcode, written < 0 ? IW_WC_RECV : IW_WC_RECV_RDMA_WITH_IMM);
	assert_int_equal(cqe.qp_num, t->end[i].qp->num);
	assert_int_equal(cqe.wr_id, wr_id);
	assert_int_equal(cqe.flags, IW_WC_WITH_IMM);
	assert_int_equal(cqe.byte_len, written < 0 ? 0 : written);
	assert_int_equal(cqe.imm_data, imm);
	for (unsigned int k = 0; k < SLOT; k++)
		assert_int_equal(t->x.mem[wr_id * SLOT + k], 0); /* the data is in the completion */
}

/* Receives of length 0 are enough for Immediate Data. */
static void post_empty(struct sx *t)
{
	struct iw_recv_wqe *w = iw_srq_slot(t->srq);

	assert_non_null(w);
	w->wr_id = t->posted++;
	w->num_sge = 0;
	w->length = 0;
	iw_srq_publish(t->srq);
}

/*
 * Immediate Data takes a receive like Sends, in turn with other QPs. It belongs to the Write before
 * it on its own QP.
 */
static void immediate_data(void **state)
{
	ROWS("7306-6-01 7306-6.3-02 7306-6.3-03");
	struct sx t;

	iw_srq_start(&t, 16, 2);
	post_empty(&t);
	iw_srq_post(&t, 4);
	write_one(&t, 0, 30);
	no_cqe(&t);
	immediate(&t, 1, 1, 0x11223344, 0);
	expect_immediate(&t, 1, 0, 0x11223344, -1);
	immediate(&t, 0, 1, 0x55667788, 0);
	expect_immediate(&t, 0, 1, 0x55667788, 30);
	send_one(&t, 1, 2);
	iw_srq_expect(&t, 1, 2, 2);
	write_one(&t, 0, 30);
	send_one(&t, 0, 2);
	iw_srq_expect(&t, 0, 3, 2);
	immediate(&t, 0, 3, 7, 0); /* a Send is in between */
	expect_immediate(&t, 0, 4, 7, -1);
	assert_int_equal(iw_srq_left(t.srq), 0);
	assert_int_equal(t.x.mem[REMOTE], 0x77);
	iw_srq_stop(&t);
}

/*
 * Immediate Data waits for receives like Sends, each with the length of its own Write. QPs are
 * served in turn.
 */
static void immediate_data_held(void **state)
{
	ROWS("7306-6-01 7306-6.3-02");
	struct sx t;

	iw_srq_start(&t, 16, 2);
	write_one(&t, 0, 30);
	immediate(&t, 0, 1, 1, 0);
	write_one(&t, 0, 50);
	immediate(&t, 0, 2, 2, 0);
	send_one(&t, 0, 3);
	immediate(&t, 1, 1, 3, 0);
	no_cqe(&t);
	iw_srq_post(&t, 4);
	expect_immediate(&t, 0, 0, 1, 30);
	expect_immediate(&t, 1, 1, 3, -1);
	expect_immediate(&t, 0, 2, 2, 50);
	iw_srq_expect(&t, 0, 3, 3);
	no_cqe(&t);
	assert_int_equal(iw_rc_of(t.end[0].qp)->rx.unexpected.bytes, 0);
	iw_srq_stop(&t);
}

/* Immediate Data that overtakes a Send and a Write takes its receive after the Send's. */
static void immediate_data_overtakes(void **state)
{
	struct sx t;

	iw_srq_start(&t, 8, 1);
	iw_srq_post(&t, 2);
	immediate(&t, 0, 2, 9, 2);
	no_cqe(&t);
	assert_int_equal(iw_rc_of(t.end[0].qp)->rx.taken, 2);
	send_one(&t, 0, 1);
	iw_srq_expect(&t, 0, 0, 1);
	write_one(&t, 0, 40);
	expect_immediate(&t, 0, 1, 9, 40);
	t.end[0].ssn++;
	no_cqe(&t);
	/* In error state, started messages are flushed like a Send. */
	iw_srq_post(&t, 2);
	immediate(&t, 0, 4, 9, 1);
	assert_int_equal(iw_qp_modify(t.end[0].qp, IW_QPS_ERR), 0);
	expect_flushed(&t, 0, 3, IW_WC_WR_FLUSH_ERR);
	no_cqe(&t);
	assert_int_equal(iw_srq_left(t.srq), 1);
	iw_srq_stop(&t);
}

/* Malformed Immediate Data ends the session, and takes no receive. */
static void immediate_data_malformed(void **state)
{
	uint8_t m[64];
	struct sx t;

	iw_srq_start(&t, 8, 2);
	iw_srq_post(&t, 2);
	select_end(&t, 0);
	fx_feed(&t.x, 16, t.x.ssn++, m, fx_make_untagged(m, 0x41, 0x48, 0, 0, 1, 0, "\1\2\3\4", 4));
	fx_event(&t.x, IW_EVENT_QP_REQUEST);
	fx_event(&t.x, IW_EVENT_QP_LAST_WQE);
	fx_event(&t.x, IW_EVENT_CLOSED);
	no_cqe(&t);
	assert_int_equal(iw_srq_left(t.srq), 2);
	immediate(&t, 1, 1, 5, 0);
	expect_immediate(&t, 1, 0, 5, -1);
	iw_srq_stop(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(receiver_not_ready),
		cmocka_unit_test(too_much_unexpected),
		cmocka_unit_test(held_too_long),
		cmocka_unit_test(rejected),
		cmocka_unit_test(lost_before_the_answer),
		cmocka_unit_test(others_wait),
		cmocka_unit_test(cq_overrun),
		cmocka_unit_test(far_ahead),
		cmocka_unit_test(oob_peer_goes),
		cmocka_unit_test(immediate_data),
		cmocka_unit_test(immediate_data_held),
		cmocka_unit_test(immediate_data_overtakes),
		cmocka_unit_test(immediate_data_malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
