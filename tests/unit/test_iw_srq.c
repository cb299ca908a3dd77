/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* VALGRIND: yes */
/*
 * Several QPs with one SRQ, against scripted peers: which QP gets which receive, and where receives
 * go in the end.
 */
#include "conformance/rows.h"
#include "fixture/iw_fixture.h"

#include "iwarp/rc.h"
#include "iwarp/srq.h"
#include "wire/session.h"

#define QPS 3
#define SLOT 64u /* bytes of each receive */

/* The sessions are on one association; each has its peer's next DDP-SSN and MSN. */
struct end {
	struct iw_qp *qp;
	struct iw_session *session;
	uint16_t sid, ssn;
};

struct sx {
	struct fx x;
	struct iw_srq *srq;
	struct end end[QPS];
	uint64_t posted; /* WR ids run from 0 */
};

static struct iw_qp *new_qp(struct sx *t)
{
	struct iw_qp_attr attr = { .pd = t->x.pd, .send_cq = t->x.cq, .recv_cq = t->x.cq,
				   .srq = t->srq, .max_send_wr = 4, .max_send_sge = 1,
				   .max_recv_wr = UINT32_MAX, .max_recv_sge = UINT32_MAX };
	struct iw_qp *qp;

	assert_int_equal(iw_qp_new(t->x.rnic, &attr, &qp), 0);
	assert_int_equal(iw_qp_modify(qp, IW_QPS_INIT), 0);
	return qp;
}

/* From now on the fx_*() functions work on the session of end i. */
static void select_end(struct sx *t, unsigned int i)
{
	t->x.sid = t->end[i].sid;
	t->x.ssn = t->end[i].ssn;
}

static void deselect(struct sx *t, unsigned int i)
{
	t->end[i].ssn = t->x.ssn;
}

static void open_end(struct sx *t, unsigned int i, uint16_t sid, uint8_t rnr)
{
	struct iw_session_param p = { .rnr_retry_count = rnr };

	t->end[i] = (struct end){ .qp = new_qp(t), .sid = sid };
	select_end(t, i);
	fx_control(&t->x, SESSION_INITIATE, NULL, 0);
	t->end[i].session = fx_event(&t->x, IW_EVENT_INITIATE).session;
	assert_int_equal(iw_session_accept(t->end[i].session, t->end[i].qp, &p), 0);
	assert_true(fx_pull(&t->x));
	t->x.acked++;
	deselect(t, i);
}

static void start_rnr(struct sx *t, uint32_t max_wr, unsigned int qps, uint8_t rnr)
{
	memset(t, 0, sizeof(*t));
	fx_start(&t->x, false);
	assert_int_equal(iw_srq_new(t->x.pd, max_wr, 2, NULL, &t->srq), 0);
	for (unsigned int i = 0; i < qps; i++)
		open_end(t, i, (uint16_t)(2 * i), rnr);
}

static void start(struct sx *t, uint32_t max_wr, unsigned int qps)
{
	start_rnr(t, max_wr, qps, 7);
}

static void stop(struct sx *t)
{
	struct iw_event ev;

	for (unsigned int i = 0; i < QPS; i++)
		if (t->end[i].qp)
			iw_qp_free(t->end[i].qp);
	while (iw_next_event(t->x.rnic, &ev))
		;
	assert_int_equal(iw_srq_free(t->srq), 0);
	fx_stop(&t->x);
}

/*
 * Posts receives of SLOT bytes, each in two elements, at SLOT times the WR id. false: the queue is
 * full.
 */
static bool post_one(struct sx *t)
{
	struct iw_recv_wqe *w = iw_srq_slot(t->srq);
	uint64_t at = t->x.base + t->posted % (FX_MEM / SLOT) * SLOT;

	if (!w)
		return false;
	w->wr_id = t->posted++;
	w->num_sge = 2;
	w->length = SLOT;
	w->sge[0] = (struct iw_sge){ at, 10, t->x.stag };
	w->sge[1] = (struct iw_sge){ at + 10, SLOT - 10, t->x.stag };
	iw_srq_publish(t->srq);
	if (iw_srq_is_awaited(t->srq))
		iw_doorbell_serve(&t->srq->doorbell);
	return true;
}

static void post(struct sx *t, unsigned int n)
{
	while (n--)
		assert_true(post_one(t));
}

/* The peer of end i sends a segment of a Send; early: how many messages it overtakes. */
static void segment(struct sx *t, unsigned int i, uint32_t msn, uint32_t mo, bool last, uint8_t fill,
		    size_t len, uint16_t early)
{
	uint8_t data[SLOT + 1], m[200];

	memset(data, fill, sizeof(data));
	select_end(t, i);
	fx_feed(&t->x, 16, (uint16_t)(t->x.ssn + early), m,
		fx_make_untagged(m, last ? 0x41 : 0x01, 0x43, 0, 0, msn, mo, data, len));
	if (!early)
		t->x.ssn++;
	deselect(t, i);
}

static void send_one(struct sx *t, unsigned int i, uint32_t msn)
{
	segment(t, i, msn, 0, true, (uint8_t)(16 * i + msn), 20, 0);
}

static void expect(struct sx *t, unsigned int i, uint64_t wr_id, uint32_t msn)
{
	struct iw_cqe cqe = fx_cqe(&t->x);

	assert_int_equal(cqe.status, IW_WC_SUCCESS);
	assert_int_equal(cqe.opcode, IW_WC_RECV);
	assert_int_equal(cqe.qp_num, t->end[i].qp->num);
	assert_int_equal(cqe.wr_id, wr_id);
	assert_int_equal(cqe.byte_len, 20);
	for (unsigned int k = 0; k < 20; k++)
		assert_int_equal(t->x.mem[wr_id * SLOT + k], 16 * i + msn);
}

static void expect_flushed(struct sx *t, unsigned int i, uint64_t wr_id, uint32_t status)
{
	struct iw_cqe cqe = fx_cqe(&t->x);

	assert_int_equal(cqe.status, status);
	assert_int_equal(cqe.qp_num, t->end[i].qp->num);
	assert_int_equal(cqe.wr_id, wr_id);
}

static void no_cqe(struct sx *t)
{
	assert_true(iw_cq_is_empty(t->x.cq));
}

static void limits(void **state)
{
	struct iw_qp_attr attr = { .max_send_wr = 1 };
	struct iw_pd *other;
	struct iw_srq *srq;
	struct iw_qp *qp;
	struct sx t;

	start(&t, 5, 1);
	assert_int_equal(iw_srq_new(t.x.pd, 0, 1, NULL, &srq), -EINVAL);
	assert_int_equal(iw_srq_new(t.x.pd, IW_MAX_SRQ_WR + 1, 1, NULL, &srq), -EINVAL);
	assert_int_equal(iw_srq_new(t.x.pd, 1, IW_MAX_SGE + 1, NULL, &srq), -EINVAL);
	assert_int_equal(iw_srq_free(t.srq), -EBUSY);
	assert_int_equal(t.end[0].qp->max_recv_sge, 2);
	assert_null(iw_rq_slot(t.end[0].qp));
	other = iw_pd_new(t.x.rnic, NULL);
	attr.pd = other;
	attr.send_cq = attr.recv_cq = t.x.cq;
	attr.srq = t.srq;
	assert_int_equal(iw_qp_new(t.x.rnic, &attr, &qp), -EINVAL);
	assert_int_equal(iw_srq_new(other, 1, 0, NULL, &srq), 0);
	assert_int_equal(iw_pd_free(other), -EBUSY);
	assert_int_equal(iw_srq_free(srq), 0);
	assert_int_equal(iw_pd_free(other), 0);
	/* As many receives as were asked for can be posted, again and again. */
	for (unsigned int round = 0; round < 7; round++) {
		post(&t, 5);
		assert_false(post_one(&t));
		for (uint32_t i = 0; i < 5; i++) {
			send_one(&t, 0, round * 5 + i + 1);
			expect(&t, 0, round * 5 + i, round * 5 + i + 1);
		}
	}
	stop(&t);
}

/*
 * Receives are taken in the order in which they were posted, by whichever QP a message comes for.
 */
static void shared(void **state)
{
	struct sx t;

	start(&t, 16, 3);
	post(&t, 9);
	for (uint32_t msn = 1; msn <= 3; msn++)
		for (unsigned int i = 0; i < 3; i++)
			send_one(&t, i, msn);
	for (uint64_t id = 0; id < 9; id++)
		expect(&t, id % 3, id, (uint32_t)(id / 3 + 1));
	/* A message of two segments, with one of another QP in between. */
	post(&t, 2);
	segment(&t, 0, 4, 0, false, 4, 12, 0);
	send_one(&t, 1, 4);
	expect(&t, 1, 10, 4);
	no_cqe(&t);
	segment(&t, 0, 4, 12, true, 4, 8, 0);
	expect(&t, 0, 9, 4);
	no_cqe(&t);
	stop(&t);
}

/*
 * Without receives Sends are kept; receives that are posted go to the QPs in turn, and no Send is
 * lost.
 */
static void held_in_turn(void **state)
{
	struct sx t;

	start(&t, 16, 3);
	for (uint32_t msn = 1; msn <= 4; msn++)
		send_one(&t, 0, msn);
	send_one(&t, 1, 1);
	segment(&t, 2, 1, 0, false, 33, 12, 0); /* not whole yet */
	no_cqe(&t);
	post(&t, 3);
	expect(&t, 0, 0, 1);
	expect(&t, 1, 1, 1);
	no_cqe(&t);
	segment(&t, 2, 1, 12, true, 33, 8, 0);
	expect(&t, 2, 2, 1);
	assert_true(iw_srq_is_awaited(t.srq));
	post(&t, 3);
	for (uint32_t msn = 2; msn <= 4; msn++)
		expect(&t, 0, msn + 1, msn);
	no_cqe(&t);
	assert_false(iw_srq_is_awaited(t.srq));
	assert_int_equal(iw_rc_of(t.end[0].qp)->rx.unexpected.bytes, 0);
	post(&t, 1);
	send_one(&t, 1, 2);
	expect(&t, 1, 6, 2);
	stop(&t);
}

/* The last segment of a message overtakes others: they get their receives before it. */
static void overtaking(void **state)
{
	struct sx t;

	start(&t, 8, 1);
	post(&t, 2);
	segment(&t, 0, 3, 0, true, 3, 20, 2);
	no_cqe(&t);
	assert_int_equal(iw_rc_of(t.end[0].qp)->rx.taken, 2); /* and the third message is held */
	send_one(&t, 0, 1);
	expect(&t, 0, 0, 1);
	send_one(&t, 0, 2);
	expect(&t, 0, 1, 2);
	t.end[0].ssn++;
	no_cqe(&t);
	post(&t, 1);
	expect(&t, 0, 2, 3);
	stop(&t);
}

/*
 * With messages that are not finished a QP gets at most half of the receives; the other QPs get
 * theirs.
 */
static void unfinished_messages_are_bounded(void **state)
{
	ROWS("5041-8.3.2-07 5042-6.4.3.1-01 5042-6.4.3.1-02");
	struct iw_event ev;
	struct sx t;

	start(&t, 16, 2);
	post(&t, 16);
	assert_int_equal(iw_srq_arm(t.srq, 10), 0);
	for (uint32_t msn = 1; msn <= 30; msn++)
		segment(&t, 0, msn, 0, false, 1, 10, 0);
	assert_int_equal(iw_rc_of(t.end[0].qp)->rx.taken, 8);
	assert_int_equal(iw_rc_of(t.end[0].qp)->rx.unexpected.count, 22);
	/* The application learns of it before the receives are exhausted. */
	ev = fx_event(&t.x, IW_EVENT_SRQ_LIMIT);
	assert_ptr_equal(ev.srq, t.srq);
	fx_no_event(&t.x);
	for (uint32_t msn = 1; msn <= 8; msn++) {
		send_one(&t, 1, msn);
		expect(&t, 1, 7 + msn, msn);
	}
	send_one(&t, 1, 9);
	no_cqe(&t);
	/*
	 * Receives that are posted now go to the QPs that finish messages, not to the one that
	 * holds so many.
	 */
	post(&t, 1);
	expect(&t, 1, 16, 9);
	/*
	 * When that QP has gone, all its receives come back but those of messages that had begun.
	 */
	assert_int_equal(iw_qp_modify(t.end[0].qp, IW_QPS_ERR), 0);
	for (uint64_t id = 0; id < 8; id++)
		expect_flushed(&t, 0, id, IW_WC_WR_FLUSH_ERR);
	no_cqe(&t);
	stop(&t);
}

/* If a QP is the only one of its SRQ, all receives are there for its messages. */
static void alone(void **state)
{
	struct sx t;

	start(&t, 16, 1);
	post(&t, 16);
	for (uint32_t msn = 2; msn <= 16; msn++)
		segment(&t, 0, msn, 0, true, (uint8_t)msn, 20, (uint16_t)(msn - 1));
	assert_int_equal(iw_rc_of(t.end[0].qp)->rx.taken, 16);
	send_one(&t, 0, 1);
	for (uint32_t msn = 1; msn <= 16; msn++)
		expect(&t, 0, msn - 1, msn);
	stop(&t);
}

/* The last other QP leaves: now the receives that were kept for it can be taken. */
static void partner_leaves(void **state)
{
	struct sx t;

	start(&t, 8, 2);
	post(&t, 4);
	for (uint32_t msn = 2; msn <= 4; msn++)
		segment(&t, 0, msn, 0, true, (uint8_t)msn, 20, (uint16_t)(msn - 1));
	assert_int_equal(iw_rc_of(t.end[0].qp)->rx.taken, 2);
	iw_qp_free(t.end[1].qp);
	t.end[1].qp = NULL;
	fx_event(&t.x, IW_EVENT_CLOSED);
	assert_int_equal(iw_rc_of(t.end[0].qp)->rx.taken, 4);
	stop(&t);
}

/*
 * A QP in the error state: receives of messages that have begun are flushed, its other receives go
 * to the other QPs, in order.
 */
static void error(void **state)
{
	struct iw_event ev;
	struct sx t;

	start(&t, 16, 2);
	post(&t, 9);
	segment(&t, 0, 1, 0, false, 1, 10, 0);
	segment(&t, 0, 4, 0, true, 1, 10, 2); /* 2 and 3 are on their way */
	send_one(&t, 1, 1);
	expect(&t, 1, 4, 1);
	segment(&t, 0, 1, 10, true, 1, SLOT, 0); /* too long */
	expect_flushed(&t, 0, 0, IW_WC_LOC_LEN_ERR);
	expect_flushed(&t, 0, 3, IW_WC_WR_FLUSH_ERR);
	no_cqe(&t);
	select_end(&t, 0);
	ev = fx_event(&t.x, IW_EVENT_QP_REQUEST);
	assert_ptr_equal(ev.qp, t.end[0].qp);
	ev = fx_event(&t.x, IW_EVENT_QP_LAST_WQE);
	assert_ptr_equal(ev.qp, t.end[0].qp);
	fx_event(&t.x, IW_EVENT_CLOSED);
	fx_no_event(&t.x);
	send_one(&t, 0, 5); /* to nobody */
	no_cqe(&t);
	for (uint32_t msn = 2; msn <= 7; msn++) {
		static const uint64_t ids[] = { 1, 2, 5, 6, 7, 8 };

		send_one(&t, 1, msn);
		expect(&t, 1, ids[msn - 2], msn);
	}
	/* A QP that was reset and moved to the error state again raises the event again. */
	assert_int_equal(iw_qp_modify(t.end[0].qp, IW_QPS_RESET), 0);
	fx_no_event(&t.x);
	assert_int_equal(iw_qp_modify(t.end[0].qp, IW_QPS_ERR), 0);
	fx_event(&t.x, IW_EVENT_QP_LAST_WQE);
	fx_no_event(&t.x);
	stop(&t);
}

/*
 * Receives that a QP in the error state gives back serve QPs that wait, though nothing is posted.
 */
static void error_serves_others(void **state)
{
	struct sx t;

	start(&t, 4, 2);
	post(&t, 2);
	segment(&t, 0, 2, 0, true, 1, 10, 1); /* takes one, for the first message */
	send_one(&t, 1, 1);
	expect(&t, 1, 1, 1);
	send_one(&t, 1, 2);
	no_cqe(&t);
	assert_int_equal(iw_qp_modify(t.end[0].qp, IW_QPS_ERR), 0);
	fx_event(&t.x, IW_EVENT_QP_LAST_WQE);
	expect(&t, 1, 0, 2);
	no_cqe(&t);
	stop(&t);
}

/*
 * QPs that are reset or freed leave no completions: all receives that they have taken go to the
 * front of the queue.
 */
static void reset_and_free(void **state)
{
	for (int freed = 0; freed < 2; freed++) {
		struct sx t;

		start(&t, 8, 2);
		post(&t, 5);
		segment(&t, 0, 1, 0, false, 1, 10, 0);
		segment(&t, 0, 2, 0, false, 1, 10, 0);
		assert_int_equal(iw_rc_of(t.end[0].qp)->rx.taken, 2);
		if (freed) {
			iw_qp_free(t.end[0].qp);
			t.end[0].qp = NULL;
		} else {
			assert_int_equal(iw_qp_modify(t.end[0].qp, IW_QPS_RESET), 0);
		}
		no_cqe(&t);
		for (uint32_t msn = 1; msn <= 5; msn++) {
			send_one(&t, 1, msn);
			expect(&t, 1, msn - 1, msn);
		}
		no_cqe(&t);
		post(&t, 8);
		assert_false(post_one(&t));
		stop(&t);
	}
}

/* A QP that waits for receives is freed: those that are posted then go to the others. */
static void waiting_qp_goes(void **state)
{
	for (int how = 0; how < 3; how++) {
		struct sx t;

		start(&t, 8, 2);
		send_one(&t, 0, 1);
		send_one(&t, 1, 1);
		if (how == 0) {
			iw_qp_free(t.end[0].qp);
			t.end[0].qp = NULL;
		} else {
			iw_qp_modify(t.end[0].qp, how == 1 ? IW_QPS_RESET : IW_QPS_ERR);
		}
		post(&t, 1);
		expect(&t, 1, 0, 1);
		no_cqe(&t);
		stop(&t);
	}
}

/*
 * The limit: one event each time it is armed, when fewer receives are left, or a Send finds none.
 */
static void limit(void **state)
{
	struct sx t;

	start(&t, 8, 1);
	assert_int_equal(iw_srq_arm(t.srq, 9), -EINVAL);
	assert_int_equal(iw_srq_arm(t.srq, 3), 0); /* none is posted yet: that is no event */
	post(&t, 5);
	fx_no_event(&t.x);
	send_one(&t, 0, 1);
	send_one(&t, 0, 2);
	fx_no_event(&t.x); /* three are left */
	assert_int_equal(t.srq->limit, 3);
	send_one(&t, 0, 3);
	assert_ptr_equal(fx_event(&t.x, IW_EVENT_SRQ_LIMIT).srq, t.srq);
	assert_int_equal(t.srq->limit, 0);
	send_one(&t, 0, 4);
	send_one(&t, 0, 5);
	fx_no_event(&t.x); /* once */
	assert_int_equal(iw_srq_arm(t.srq, 1), 0);
	fx_no_event(&t.x);
	send_one(&t, 0, 6); /* finds none */
	fx_event(&t.x, IW_EVENT_SRQ_LIMIT);
	assert_int_equal(iw_srq_arm(t.srq, 1), 0); /* one waits already */
	fx_event(&t.x, IW_EVENT_SRQ_LIMIT);
	fx_no_event(&t.x);
	assert_int_equal(iw_srq_arm(t.srq, 4), 0);
	assert_int_equal(iw_srq_arm(t.srq, 0), 0); /* taken back */
	fx_event(&t.x, IW_EVENT_SRQ_LIMIT);
	post(&t, 1);
	fx_no_event(&t.x);
	stop(&t);
}

static void resize(void **state)
{
	struct sx t;

	start(&t, 4, 1);
	post(&t, 4);
	segment(&t, 0, 1, 0, false, 1, 12, 0); /* in process meanwhile */
	assert_int_equal(iw_srq_resize(t.srq, 0), -EINVAL);
	assert_int_equal(iw_srq_resize(t.srq, IW_MAX_SRQ_WR + 1), -EINVAL);
	assert_int_equal(iw_srq_resize(t.srq, 3), -EINVAL); /* four are outstanding */
	assert_int_equal(iw_srq_resize(t.srq, 11), 0);
	post(&t, 7);
	assert_false(post_one(&t));
	segment(&t, 0, 1, 12, true, 1, 8, 0);
	expect(&t, 0, 0, 1);
	for (uint32_t msn = 2; msn <= 9; msn++) {
		send_one(&t, 0, msn);
		expect(&t, 0, msn - 1, msn);
	}
	assert_int_equal(iw_srq_arm(t.srq, 3), 0);
	assert_int_equal(iw_srq_resize(t.srq, 2), -EINVAL); /* the limit is above it */
	assert_int_equal(iw_srq_arm(t.srq, 0), 0);
	assert_int_equal(iw_srq_resize(t.srq, 2), 0);
	assert_false(post_one(&t));
	send_one(&t, 0, 10);
	expect(&t, 0, 9, 10);
	post(&t, 1);
	assert_false(post_one(&t));
	assert_int_equal(iw_srq_resize(t.srq, 6), 0);
	post(&t, 4);
	assert_false(post_one(&t));
	for (uint32_t msn = 11; msn <= 16; msn++) {
		send_one(&t, 0, msn);
		expect(&t, 0, msn - 1, msn);
	}
	stop(&t);
}

/* Nobody posts receives: the time to wait ends, but begins anew with each receive that comes. */
static void receiver_not_ready(void **state)
{
	struct sx t;

	start_rnr(&t, 8, 2, 1);
	send_one(&t, 0, 1);
	send_one(&t, 0, 2);
	t.x.now += 600 * MSEC;
	iw_timers(t.x.rnic, t.x.now);
	fx_no_event(&t.x);
	post(&t, 1);
	expect(&t, 0, 0, 1);
	t.x.now += 600 * MSEC;
	iw_timers(t.x.rnic, t.x.now);
	fx_no_event(&t.x);
	t.x.now += 60 * MSEC;
	iw_timers(t.x.rnic, t.x.now);
	fx_event(&t.x, IW_EVENT_QP_REQUEST);
	fx_event(&t.x, IW_EVENT_QP_LAST_WQE);
	fx_event(&t.x, IW_EVENT_CLOSED);
	/* The other QP is not affected. */
	post(&t, 1);
	send_one(&t, 1, 1);
	expect(&t, 1, 1, 1);
	stop(&t);
}

/* No QP may keep more than its budget: it gets a Terminate, and the others go on. */
static void too_much_unexpected(void **state)
{
	struct sx t;

	start(&t, 8, 2);
	for (uint32_t msn = 1; msn <= 65536 / (IW_UNEXPECTED_COST + 20); msn++)
		send_one(&t, 0, msn);
	fx_no_event(&t.x);
	send_one(&t, 0, 65536 / (IW_UNEXPECTED_COST + 20) + 1);
	fx_event(&t.x, IW_EVENT_QP_REQUEST);
	fx_event(&t.x, IW_EVENT_QP_LAST_WQE);
	fx_event(&t.x, IW_EVENT_CLOSED);
	send_one(&t, 1, 1);
	post(&t, 1);
	expect(&t, 1, 0, 1);
	no_cqe(&t);
	stop(&t);
}

/* An unexpected message turns out to be too long for the receive that comes. */
static void held_too_long(void **state)
{
	struct sx t;

	start(&t, 8, 2);
	segment(&t, 0, 1, 0, true, 1, SLOT + 1, 0);
	send_one(&t, 0, 2);
	send_one(&t, 1, 1);
	post(&t, 2);
	expect_flushed(&t, 0, 0, IW_WC_LOC_LEN_ERR);
	expect(&t, 1, 1, 1);
	no_cqe(&t);
	stop(&t);
}

/* Segments come before the answer to our Initiate, which is a Reject: no receive is lost. */
static void rejected(void **state)
{
	struct iw_session_param p = { .rnr_retry_count = 7 };
	struct sx t;

	memset(&t, 0, sizeof(t));
	fx_start(&t.x, true);
	assert_int_equal(iw_srq_new(t.x.pd, 4, 2, NULL, &t.srq), 0);
	t.end[0].qp = new_qp(&t);
	post(&t, 3);
	assert_int_equal(iw_session_initiate(t.x.assoc, t.end[0].qp, &p, NULL, &t.end[0].session),
			 0);
	assert_true(fx_pull(&t.x));
	t.end[0].sid = t.x.msg.sid;
	segment(&t, 0, 2, 0, true, 1, 20, 2);
	assert_int_equal(iw_rc_of(t.end[0].qp)->rx.taken, 2);
	select_end(&t, 0);
	fx_control(&t.x, SESSION_ENHANCED_REJECT, "\0\0\0\0", 4);
	fx_event(&t.x, IW_EVENT_REJECT);
	assert_int_equal(iw_srq_left(t.srq), 3);
	assert_int_equal(iw_rc_of(t.end[0].qp)->rx.taken, 0);
	no_cqe(&t);
	stop(&t);
}

/* The CQ overflows: the QP enters the error state, the SRQ does not. */
static void cq_overrun(void **state)
{
	struct sx t;

	start(&t, 8, 1);
	post(&t, 4);
	assert_int_equal(iw_cq_resize(t.x.cq, 1), 0);
	send_one(&t, 0, 1);
	send_one(&t, 0, 2);
	assert_int_equal(atomic_load(&t.end[0].qp->state), IW_QPS_ERR);
	expect(&t, 0, 0, 1);
	assert_int_equal(iw_srq_left(t.srq), 2);
	stop(&t);
}

/* Thousands of messages overtake one: none is lost, and the table for them is given back. */
static void far_ahead(void **state)
{
	enum { N = 3000 };
	struct sx t;

	start(&t, N, 1);
	post(&t, N);
	assert_int_equal(iw_cq_resize(t.x.cq, N), 0);
	for (uint32_t msn = 2; msn <= N; msn++)
		segment(&t, 0, msn, 0, true, 1, 20, (uint16_t)(msn - 1));
	send_one(&t, 0, 1);
	for (uint64_t id = 0; id < N; id++) {
		struct iw_cqe cqe = fx_cqe(&t.x);

		assert_int_equal(cqe.status, IW_WC_SUCCESS);
		assert_int_equal(cqe.wr_id, id);
	}
	assert_int_equal(iw_rc_of(t.end[0].qp)->rx.unexpected.size, 0);
	t.end[0].ssn = (uint16_t)(t.end[0].ssn + N - 1);
	post(&t, 1);
	send_one(&t, 0, N + 1);
	assert_int_equal(fx_cqe(&t.x).wr_id, N);
	stop(&t);
}

/*
 * The peer of a QP that is connected out of band goes: the QP stays as it is, and the receives that
 * it has taken go to others.
 */
static void oob_peer_goes(void **state)
{
	struct sx t;

	start(&t, 8, 2);
	atomic_store(&t.end[0].qp->oob, (void *)&t);
	post(&t, 4);
	segment(&t, 0, 1, 0, false, 1, 10, 0);
	segment(&t, 0, 2, 0, false, 1, 10, 0);
	assert_int_equal(iw_rc_of(t.end[0].qp)->rx.taken, 2);
	select_end(&t, 0);
	fx_control(&t.x, SESSION_TERMINATE, NULL, 0);
	fx_event(&t.x, IW_EVENT_CLOSED);
	fx_no_event(&t.x);
	no_cqe(&t);
	assert_int_equal(atomic_load(&t.end[0].qp->state), IW_QPS_RTS);
	for (uint32_t msn = 1; msn <= 4; msn++) {
		send_one(&t, 1, msn);
		expect(&t, 1, msn - 1, msn);
	}
	assert_int_equal(iw_qp_modify(t.end[0].qp, IW_QPS_ERR), 0);
	fx_event(&t.x, IW_EVENT_QP_LAST_WQE);
	no_cqe(&t);
	stop(&t);
}

/* ---- Immediate Data (RFC 7306 6) ---- */

#define REMOTE (FX_MEM - 512u) /* where the peer writes: behind the receives */

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

/* written: bytes of the Write before the Immediate Data; -1: it stands alone. */
static void expect_immediate(struct sx *t, unsigned int i, uint64_t wr_id, uint32_t imm, int written)
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
		assert_int_equal(t->x.mem[wr_id * SLOT + k], 0); /* it has gone into the completion */
}

/* Receives without length are enough for Immediate Data. */
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
 * Immediate Data takes a receive as Sends do, among those of the other QPs; the Write before it is
 * that of its own QP.
 */
static void immediate_data(void **state)
{
	ROWS("7306-6-01 7306-6.3-02 7306-6.3-03");
	struct sx t;

	start(&t, 16, 2);
	post_empty(&t);
	post(&t, 4);
	write_one(&t, 0, 30);
	no_cqe(&t);
	immediate(&t, 1, 1, 0x11223344, 0);
	expect_immediate(&t, 1, 0, 0x11223344, -1);
	immediate(&t, 0, 1, 0x55667788, 0);
	expect_immediate(&t, 0, 1, 0x55667788, 30);
	send_one(&t, 1, 2);
	expect(&t, 1, 2, 2);
	write_one(&t, 0, 30);
	send_one(&t, 0, 2);
	expect(&t, 0, 3, 2);
	immediate(&t, 0, 3, 7, 0); /* the Send is in between */
	expect_immediate(&t, 0, 4, 7, -1);
	assert_int_equal(iw_srq_left(t.srq), 0);
	assert_int_equal(t.x.mem[REMOTE], 0x77);
	stop(&t);
}

/*
 * Immediate Data waits for receives as Sends do, each with the length of its own Write; QPs are
 * served in turn.
 */
static void immediate_data_held(void **state)
{
	ROWS("7306-6-01 7306-6.3-02");
	struct sx t;

	start(&t, 16, 2);
	write_one(&t, 0, 30);
	immediate(&t, 0, 1, 1, 0);
	write_one(&t, 0, 50);
	immediate(&t, 0, 2, 2, 0);
	send_one(&t, 0, 3);
	immediate(&t, 1, 1, 3, 0);
	no_cqe(&t);
	post(&t, 4);
	expect_immediate(&t, 0, 0, 1, 30);
	expect_immediate(&t, 1, 1, 3, -1);
	expect_immediate(&t, 0, 2, 2, 50);
	expect(&t, 0, 3, 3);
	no_cqe(&t);
	assert_int_equal(iw_rc_of(t.end[0].qp)->rx.unexpected.bytes, 0);
	stop(&t);
}

/* Immediate Data that overtakes a Send and a Write takes its receive behind the Send's. */
static void immediate_data_overtakes(void **state)
{
	struct sx t;

	start(&t, 8, 1);
	post(&t, 2);
	immediate(&t, 0, 2, 9, 2);
	no_cqe(&t);
	assert_int_equal(iw_rc_of(t.end[0].qp)->rx.taken, 2);
	send_one(&t, 0, 1);
	expect(&t, 0, 0, 1);
	write_one(&t, 0, 40);
	expect_immediate(&t, 0, 1, 9, 40);
	t.end[0].ssn++;
	no_cqe(&t);
	/* In error, what has begun is flushed like a Send. */
	post(&t, 2);
	immediate(&t, 0, 4, 9, 1);
	assert_int_equal(iw_qp_modify(t.end[0].qp, IW_QPS_ERR), 0);
	expect_flushed(&t, 0, 3, IW_WC_WR_FLUSH_ERR);
	no_cqe(&t);
	assert_int_equal(iw_srq_left(t.srq), 1);
	stop(&t);
}

/* Immediate Data that is not whole ends the session, and takes no receive. */
static void immediate_data_malformed(void **state)
{
	uint8_t m[64];
	struct sx t;

	start(&t, 8, 2);
	post(&t, 2);
	select_end(&t, 0);
	fx_feed(&t.x, 16, t.x.ssn++, m, fx_make_untagged(m, 0x41, 0x48, 0, 0, 1, 0, "\1\2\3\4", 4));
	fx_event(&t.x, IW_EVENT_QP_REQUEST);
	fx_event(&t.x, IW_EVENT_QP_LAST_WQE);
	fx_event(&t.x, IW_EVENT_CLOSED);
	no_cqe(&t);
	assert_int_equal(iw_srq_left(t.srq), 2);
	immediate(&t, 1, 1, 5, 0);
	expect_immediate(&t, 1, 0, 5, -1);
	stop(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits), cmocka_unit_test(shared), cmocka_unit_test(held_in_turn),
		cmocka_unit_test(overtaking), cmocka_unit_test(unfinished_messages_are_bounded),
		cmocka_unit_test(alone), cmocka_unit_test(partner_leaves), cmocka_unit_test(error),
		cmocka_unit_test(error_serves_others), cmocka_unit_test(reset_and_free),
		cmocka_unit_test(waiting_qp_goes), cmocka_unit_test(limit), cmocka_unit_test(resize),
		cmocka_unit_test(receiver_not_ready), cmocka_unit_test(too_much_unexpected),
		cmocka_unit_test(held_too_long), cmocka_unit_test(rejected),
		cmocka_unit_test(cq_overrun), cmocka_unit_test(far_ahead),
		cmocka_unit_test(oob_peer_goes),
		cmocka_unit_test(immediate_data), cmocka_unit_test(immediate_data_held),
		cmocka_unit_test(immediate_data_overtakes),
		cmocka_unit_test(immediate_data_malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
