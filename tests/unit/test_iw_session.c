/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* VALGRIND: yes */
/* How sessions begin and end (RFC 5043 5 and 6, RFC 6581), against a scripted peer. */
#include "conformance/rows.h"
#include "fixture/iw_fixture.h"

#include "iwarp/rnic.h"
#include "wire/rdmap.h"
#include "wire/session.h"
#include "wire/terminate.h"

static struct iw_session_param param(uint32_t ird, uint32_t ord, const char *data)
{
	struct iw_session_param p = { .ird = ird, .ord = ord, .rnr_retry_count = 7 };

	p.private_data_len = (uint16_t)strlen(data);
	memcpy(p.private_data, data, p.private_data_len);
	return p;
}

/* This side opens the session: its Enhanced Initiate is out and not acknowledged. */
static void open_active(struct fx *x, uint32_t ird, uint32_t ord)
{
	struct iw_session_param p = param(ird, ord, "data");
	uint8_t want[] = { 0, 0, 0, 5, 0, (uint8_t)ird, 0, (uint8_t)ord, 'd', 'a', 't', 'a' };

	fx_start(x, true);
	assert_int_equal(iw_session_initiate(x->assoc, x->qp, &p, &(struct iw_session_user){.ctx = x}, &x->session), 0);
	assert_int_equal(x->doorbells, 1);
	assert_true(fx_pull(x));
	assert_int_equal(x->msg.sid, 0);
	assert_int_equal(x->msg.ppid, 17);
	assert_int_equal(x->out_len, sizeof(want));
	assert_memory_equal(x->out, want, sizeof(want));
	assert_false(fx_pull(x));
}

static void expect_terminate(struct fx *x, uint16_t ssn)
{
	assert_true(fx_pull(x));
	assert_int_equal(x->msg.ppid, 17);
	assert_int_equal(x->out_len, 4);
	assert_int_equal(get_be16(x->out), ssn);
	assert_int_equal(get_be16(x->out + 2), SESSION_TERMINATE);
	assert_false(fx_pull(x));
}

/* A peer that answers an Initiate that has not been sent yet. */
static void answered_before_asked(void **state)
{
	static const uint8_t depths[4] = { 0, 4, 0, 4 };

	for (int function = SESSION_ACCEPT; function <= SESSION_ENHANCED_REJECT; function++) {
		struct iw_session_param p = param(4, 4, "data");
		struct iw_event ev;
		struct fx x;

		if (session_is_initiate(function)) /* no answer: test_iw_crossing.c */
			continue;
		fx_start(&x, true);
		assert_int_equal(iw_session_initiate(x.assoc, x.qp, &p, &(struct iw_session_user){.ctx = &x}, &x.session), 0);
		fx_control(&x, function, depths, function == SESSION_TERMINATE ? 0 : 4);
		ev = fx_event(&x, IW_EVENT_CLOSED);
		assert_int_equal(ev.error, -EPROTO);
		assert_false(fx_pull(&x));
		fx_stop(&x);
	}
}

static void plain_passive(void **state)
{
	ROWS("5043-5.2.3-03 5043-5.2.3-07 5043-6.2-02 5043-6.2-03 5043-6.3-01 5043-6.4-01 "
	     "5043-6.4-02 6581-9-05 6581-10-02 6581-10-04");
	struct iw_session_param p = param(3, 4, "welcome");
	struct iw_event ev;
	struct fx x;

	fx_start(&x, false);
	fx_control(&x, SESSION_INITIATE, "eight by", 8);
	ev = fx_event(&x, IW_EVENT_INITIATE);
	assert_int_equal(ev.param.private_data_len, 8);
	assert_memory_equal(ev.param.private_data, "eight by", 8);
	assert_ptr_equal(ev.assoc, x.assoc);
	assert_false(fx_pull(&x)); /* the application decides */
	assert_int_equal(atomic_load(&x.qp->state), IW_QPS_INIT);
	assert_int_equal(iw_session_accept(ev.session, x.qp, &p), 0);
	assert_int_equal(atomic_load(&x.qp->state), IW_QPS_RTS);
	/* the Accept goes first */
	fx_post(&x, 1, IW_WR_SEND, x.base, 1, 0, 0, 0);
	assert_true(fx_pull(&x));
	assert_int_equal(x.out_len, 11);
	assert_memory_equal(x.out, "\0\0\0\2welcome", 11);
	assert_true(fx_pull(&x));
	assert_int_equal(x.msg.ppid, 16);
	assert_int_equal(get_be16(x.out), 1);
	fx_no_event(&x);
	fx_stop(&x);
}

static void enhanced_passive(void **state)
{
	ROWS("6581-7-03 6581-7-09 6581-7-14 6581-9.1-05 6581-9.1-07 6581-9.1-09 6581-9.2-08 "
	     "6581-9.2-09 6581-9.2-13 6581-9.2-19 6581-9.2-20 6581-9.2-21 6581-10-01");
	static const struct {
		uint8_t offer[4];
		uint32_t ird, ord; /* the application's */
		uint8_t answer[4];
		uint32_t shown_ird, shown_ord;
	} cases[] = {
		{ { 0, 4, 0, 3 }, 8, 8, { 0, 8, 0, 4 }, 4, 3 },
		{ { 0, 2, 0, 9 }, 1, 1, { 0, 9, 0, 1 }, 2, 9 },
		{ { 0, 0, 0, 0 }, 0, 5, { 0, 0, 0, 0 }, 0, 0 },
		{ { 0, 1, 0x10, 0 }, 1, 1, { 0, 128, 0, 1 }, 1, 4096 },
		{ { 0x3f, 0xff, 0x3f, 0xff }, 4, 5, { 0x3f, 0xff, 0x3f, 0xff }, 128, 128 },
		{ { 0x3f, 0xff, 0, 1 }, 4, 5, { 0, 4, 0x3f, 0xff }, 128, 1 },
		/* A and RTR flags: Write, Read, only Send, none */
		{ { 0xc0, 1, 0xc0, 1 }, 1, 1, { 0x80, 1, 0xc0, 1 }, 1, 1 },
		{ { 0x80, 1, 0x80, 0 }, 0, 1, { 0x80, 1, 0x80, 1 }, 1, 0 },
		{ { 0x80, 1, 0x40, 1 }, 1, 1, { 0x80, 1, 0x40, 1 }, 1, 1 },
		{ { 0xc0, 1, 0, 1 }, 1, 1, { 0xc0, 1, 0, 1 }, 1, 1 },
		{ { 0x80, 1, 0, 1 }, 1, 1, { 0x80, 1, 0xc0, 1 }, 1, 1 },
		{ { 0x40, 1, 0xc0, 1 }, 1, 1, { 0, 1, 0, 1 }, 1, 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct iw_session_param p = param(cases[i].ird, cases[i].ord, "yes");
		uint8_t want[11] = { 0, 0, 0, 6, [8] = 'y', 'e', 's' };
		uint8_t m[7] = { [4] = 'a', 'b', 'c' };
		struct iw_event ev;
		struct fx x;

		memcpy(m, cases[i].offer, 4);
		memcpy(want + 4, cases[i].answer, 4);
		fx_start(&x, false);
		fx_control(&x, SESSION_ENHANCED_INITIATE, m, sizeof(m));
		ev = fx_event(&x, IW_EVENT_INITIATE);
		assert_int_equal(ev.param.ird, cases[i].shown_ird);
		assert_int_equal(ev.param.ord, cases[i].shown_ord);
		assert_int_equal(ev.param.private_data_len, 3);
		assert_memory_equal(ev.param.private_data, "abc", 3);
		assert_int_equal(iw_session_accept(ev.session, x.qp, &p), 0);
		assert_true(fx_pull(&x));
		assert_int_equal(x.out_len, sizeof(want));
		assert_memory_equal(x.out, want, sizeof(want));
		fx_stop(&x);
	}
}

static void rejected_by_us(void **state)
{
	ROWS("5043-5.2.3-04 5043-5.2.3-08 5043-6.3-03 5043-6.3-04 5043-6.1-01 6581-7-04 "
	     "6581-7-10 6581-10-01 6581-10-02");
	struct iw_event ev;
	struct fx x;

	fx_start(&x, false);
	fx_control(&x, SESSION_INITIATE, NULL, 0);
	ev = fx_event(&x, IW_EVENT_INITIATE);
	assert_int_equal(iw_session_reject(ev.session, "no", 2), 0);
	assert_true(fx_pull(&x));
	assert_int_equal(x.out_len, 6);
	assert_memory_equal(x.out, "\0\0\0\3no", 6);
	assert_false(fx_pull(&x)); /* no Terminate */
	assert_int_equal(iw_assoc_sessions(x.assoc), 0);
	fx_ack(&x, 1);
	/*
	 * a session on the same stream again, now with an Enhanced Initiate; its Reject carries
	 * data (RFC 6581 9)
	 */
	x.ssn = 0;
	fx_control(&x, SESSION_ENHANCED_INITIATE, "\0\1\0\2", 4);
	ev = fx_event(&x, IW_EVENT_INITIATE);
	assert_int_equal(iw_session_reject(ev.session, "no", 2), 0);
	assert_true(fx_pull(&x));
	assert_memory_equal(x.out, "\0\0\0\7\0\2\0\1no", 10);
	/* once more, before the acknowledgement was noticed; this Initiate is refused */
	x.ssn = 0;
	fx_control(&x, SESSION_INITIATE, NULL, 0);
	ev = fx_event(&x, IW_EVENT_INITIATE);
	iw_session_refuse(ev.session);
	expect_terminate(&x, 0);
	/* the peer's withdrawal, which crossed the refusal, comes late */
	fx_control(&x, SESSION_TERMINATE, NULL, 0);
	assert_false(fx_pull(&x));
	fx_no_event(&x);
	fx_stop(&x);
}

static void illegal_openings(void **state)
{
	ROWS("5043-6.1-04 5043-6.1-05 5043-6.1-07 5043-6.1-09 5043-6.1-10 5043-12-01");
	static const struct {
		uint32_t ppid;
		const char *body;
		size_t len;
	} cases[] = {
		{ 17, "\0\2", 2 }, { 17, "\0\3", 2 },  { 17, "\0\4", 2 },   { 17, "\0\6\0\1\0\1", 6 },
		{ 17, "\0\0", 2 }, { 17, "\0\x08", 2 }, { 17, "\1\0", 2 },  { 17, "\xff\xff", 2 },
		{ 17, "", 0 },	   { 17, "\0", 1 },	{ 17, "\0\5\0\0\0", 5 }, { 0, "\0\1", 2 },
		{ 16, "\0\1", 2 }, { 16, "\xc1\x40\0\0\0\0\0\0\0\0\0\0\0\0x", 15 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fx x;

		fx_start(&x, false);
		assert_int_equal(fx_feed(&x, cases[i].ppid, 0, cases[i].body, cases[i].len), 0);
		expect_terminate(&x, 0);
		fx_no_event(&x);
		assert_int_equal(iw_assoc_sessions(x.assoc), 0);
		fx_stop(&x);
	}
}

static void too_much_private_data(void **state)
{
	ROWS("5043-5.2.3-10 5043-5.2.3-11 6581-7-11 6581-9-04");
	struct iw_session_param p = param(1, 1, "");
	struct iw_session *s;
	uint8_t data[600] = { 0 };
	struct iw_event ev;
	struct fx x;

	fx_start(&x, false);
	fx_control(&x, SESSION_INITIATE, data, 513);
	expect_terminate(&x, 0);
	fx_no_event(&x);
	x.ssn = 0;
	x.sid = 1;
	fx_control(&x, SESSION_INITIATE, data, 512);
	ev = fx_event(&x, IW_EVENT_INITIATE);
	assert_int_equal(ev.param.private_data_len, 512);
	p.private_data_len = 509;
	assert_int_equal(iw_session_accept(ev.session, x.qp, &p), -EINVAL);
	assert_int_equal(iw_session_reject(ev.session, data, 509), -EINVAL);
	assert_int_equal(iw_session_initiate(x.assoc, x.qp, &p, NULL, &s), -EINVAL);
	p.private_data_len = 508;
	assert_int_equal(iw_session_initiate(x.assoc, x.qp, &p, NULL, &s), 0);
	assert_true(fx_pull_room(&x, 518));
	assert_int_equal(x.out_len, 516);
	assert_int_equal(x.msg.sid, 3); /* we did not open the association: odd; 1 is taken */
	fx_stop(&x);
}

static void accepted_by_the_peer(void **state)
{
	ROWS("5043-6.1-02 5043-6.6-05 6581-9.1-06 6581-9.1-12 6581-9.1-13");
	uint8_t m[100];
	struct iw_event ev;
	struct fx x;

	open_active(&x, 4, 5);
	/* segments overtake the Accept: they are placed, and not delivered (RFC 5043 6.6) */
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	fx_feed(&x, 16, 1, m, fx_make_untagged(m, 0x41, 0x43, 0, 0, 1, 0, "early", 5));
	fx_feed(&x, 16, 2, m, fx_make_tagged(m, 0xc1, 0x40, x.stag, x.base + 20, "w", 1));
	fx_no_event(&x);
	assert_true(iw_cq_is_empty(x.cq));
	assert_int_equal(atomic_load(&x.qp->state), IW_QPS_INIT);
	fx_control(&x, SESSION_ENHANCED_ACCEPT, "\0\3\0\6hello", 9);
	ev = fx_event(&x, IW_EVENT_ACCEPT);
	assert_ptr_equal(ev.session, x.session);
	assert_ptr_equal(ev.user.ctx, &x);
	assert_ptr_equal(ev.qp, x.qp);
	assert_int_equal(ev.param.ird, 3);
	assert_int_equal(ev.param.ord, 6);
	assert_int_equal(ev.param.private_data_len, 5);
	assert_int_equal(atomic_load(&x.qp->state), IW_QPS_RTS);
	assert_int_equal(fx_cqe(&x).status, 0);
	/* our ORD of 5 was lowered to the peer's IRD of 3, our IRD of 4 raised to its ORD of 6 */
	for (unsigned int i = 0; i < 5; i++)
		fx_post(&x, i, IW_WR_RDMA_READ, x.base, 1, 1, 1, 0);
	for (unsigned int i = 0; i < 3; i++)
		assert_true(fx_pull(&x));
	assert_false(fx_pull(&x));
	x.ssn = 3;
	for (uint32_t i = 1; i <= 6; i++) {
		struct rdmap_read_request r = { 1, 2, 1, x.stag, x.base };
		uint8_t body[28];

		rdmap_put_read_request(body, &r);
		fx_feed(&x, 16, x.ssn++, m, fx_make_untagged(m, 0x41, 0x41, 0, 1, i, 0, body, 28));
	}
	for (unsigned int i = 0; i < 6; i++)
		assert_true(fx_pull(&x));
	fx_no_event(&x);
	fx_stop(&x);
}

static void depths_left_to_the_ulp(void **state)
{
	ROWS("6581-9.1-18 6581-9.1-20");
	struct iw_event ev;
	struct fx x;

	open_active(&x, 4, 2);
	fx_control(&x, SESSION_ENHANCED_ACCEPT, "\x3f\xff\x3f\xff", 4);
	ev = fx_event(&x, IW_EVENT_ACCEPT);
	assert_int_equal(ev.param.ird, 2);
	assert_int_equal(ev.param.ord, 4);
	for (unsigned int i = 0; i < 3; i++)
		fx_post(&x, i, IW_WR_RDMA_READ, x.base, 1, 1, 1, 0);
	assert_true(fx_pull(&x) && fx_pull(&x));
	assert_false(fx_pull(&x));
	fx_stop(&x);
}

/*
 * RFC 6581 9.1, 9.2: an RDMAP Terminate goes out as DDP-SSN 1, a session Terminate as 2, and there
 * is no IW_EVENT_ACCEPT.
 */
static void answers_that_cannot_be(void **state)
{
	ROWS("6581-8-01 6581-8-03 6581-8-04 6581-8-05 6581-9.1-14 6581-9.1-15 6581-9.2-15 "
	     "6581-9.2-16");
	static const struct {
		const char *data;
		uint16_t error;
	} cases[] = { { "\0\1\0\x81", TERM_LLP_IRD }, { "\x80\1\0\1", TERM_LLP_RTR } };

	for (size_t i = 0; i < 2; i++) {
		struct fx x;

		open_active(&x, 4, 5);
		fx_control(&x, SESSION_ENHANCED_ACCEPT, cases[i].data, 4);
		fx_expect_terminate(&x, cases[i].error, NULL, 0, NULL);
		assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, -EPROTO);
		fx_no_event(&x);
		fx_stop(&x);
	}
}

static void rtr_indication(void **state)
{
	ROWS("6581-5-01 6581-9.2-01 6581-9.2-02 6581-9.2-03 6581-9.2-04 6581-9.2-05 "
	     "6581-9.2-06 6581-9.2-14");
	static const struct {
		uint8_t a, b;
		const char *segment;
		size_t len;
	} cases[] = {
		{ 0x80, 0x80, "\xc1\x40\0\0\0\0\0\0\0\0\0\0\0\0", 14 },
		{ 0xc0, 0x00, "\x41\x43\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0", 18 },
		{ 0x80, 0x40, "\x41\x41\0\0\0\0\0\0\0\1\0\0\0\1\0\0\0\0", 18 },
	};

	for (size_t i = 0; i < 3; i++) {
		struct iw_session_param p = param(1, 1, "");
		uint8_t m[100], answer[4] = { cases[i].a, 1, cases[i].b, 1 };
		struct fx x;

		fx_start(&x, true);
		p.rtr = IW_RTR_ANY;
		assert_int_equal(iw_session_initiate(x.assoc, x.qp, &p, &(struct iw_session_user){.ctx = &x}, &x.session), 0);
		assert_true(fx_pull(&x));
		assert_memory_equal(x.out, "\0\0\0\5\xc0\1\xc0\1", 8);
		fx_control(&x, SESSION_ENHANCED_ACCEPT, answer, 4);
		fx_event(&x, IW_EVENT_ACCEPT);
		fx_post(&x, 1, IW_WR_SEND, x.base, 1, 0, 0, IW_SEND_FENCE);
		assert_true(fx_pull(&x));
		assert_int_equal(get_be16(x.out), 1);
		assert_memory_equal(x.out + 2, cases[i].segment, cases[i].len);
		if (i == 2) {
			assert_false(fx_pull(&x));
			fx_feed(&x, 16, x.ssn++, m, fx_make_tagged(m, 0xc1, 0x42, 0, 0, NULL, 0));
		}
		assert_true(fx_pull(&x));
		assert_int_equal(x.out[3], 0x43);
		assert_int_equal(get_be32(x.out + 12), i == 1 ? 2 : 1);
		assert_int_equal(fx_cqe(&x).wr_id, 1);
		fx_stop(&x);
	}
}

static void rejected_by_the_peer(void **state)
{
	ROWS("5043-6.3-04 6581-7-13 6581-9.1-16 6581-9.1-17");
	struct iw_session_param p = param(1, 1, "again");
	struct iw_event ev;
	struct fx x;

	open_active(&x, 4, 5);
	fx_control(&x, SESSION_ENHANCED_REJECT, "\0\3\0\4sorry", 9);
	ev = fx_event(&x, IW_EVENT_REJECT);
	assert_int_equal(ev.param.ird, 3);
	assert_int_equal(ev.param.ord, 4);
	assert_int_equal(ev.param.private_data_len, 5);
	assert_ptr_equal(ev.user.ctx, &x);
	assert_false(fx_pull(&x)); /* nothing is owed */
	assert_int_equal(iw_assoc_sessions(x.assoc), 0);
	fx_ack(&x, 1);
	/* the QP can try again */
	assert_int_equal(iw_session_initiate(x.assoc, x.qp, &p, &(struct iw_session_user){.ctx = &x}, &x.session), 0);
	assert_true(fx_pull(&x));
	fx_stop(&x);
}

static void wrong_answers(void **state)
{
	ROWS("5043-6.1-04 5043-6.1-05 5043-6.1-09 6581-7-21");
	static const struct {
		uint32_t ppid;
		const char *body;
		size_t len;
	} cases[] = {
		{ 17, "\0\2", 2 }, { 17, "\0\3", 2 }, { 17, "\0\6", 2 }, { 17, "\0\x63", 2 },
		{ 16, "\xc1\x40\0\0\0\0\0\0\0\0\0\0\0\0x", 15 }, { 5, "\0\6\0\1\0\1", 6 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct iw_event ev;
		struct fx x;

		open_active(&x, 4, 5);
		fx_feed(&x, cases[i].ppid, 0, cases[i].body, cases[i].len);
		fx_ack(&x, 1);
		expect_terminate(&x, 1);
		do
			assert_true(iw_next_event(x.rnic, &ev));
		while (ev.type == IW_EVENT_QP_FATAL);
		assert_int_equal(ev.type, IW_EVENT_CLOSED);
		assert_int_equal(ev.error, -EPROTO);
		assert_int_equal(atomic_load(&x.qp->state), IW_QPS_ERR);
		fx_stop(&x);
	}
}

/* A peer that does not know the enhanced Initiate answers with a Terminate: a plain one follows. */
static void fallback(void **state)
{
	ROWS("5043-5.2.3-02 5043-5.2.3-06 6581-10-06");
	struct iw_event ev;
	struct fx x;

	open_active(&x, 4, 5);
	fx_control(&x, SESSION_TERMINATE, NULL, 0);
	assert_true(fx_pull(&x));
	assert_int_equal(x.msg.sid, 2);
	assert_int_equal(x.out_len, 8);
	assert_memory_equal(x.out, "\0\0\0\1data", 8);
	x.sid = 2;
	x.ssn = 0;
	fx_control(&x, SESSION_ACCEPT, "plain", 5);
	ev = fx_event(&x, IW_EVENT_ACCEPT);
	assert_int_equal(ev.param.private_data_len, 5);
	assert_int_equal(ev.param.ird, 5);
	assert_int_equal(ev.param.ord, 4);
	assert_int_equal(iw_assoc_sessions(x.assoc), 1);
	fx_stop(&x);

	open_active(&x, 4, 5);
	fx_control(&x, SESSION_TERMINATE, NULL, 0);
	assert_true(fx_pull(&x));
	x.sid = 2;
	x.ssn = 0;
	fx_control(&x, SESSION_TERMINATE, NULL, 0);
	ev = fx_event(&x, IW_EVENT_CLOSED);
	assert_int_equal(ev.error, -ECONNREFUSED);
	assert_false(fx_pull(&x));
	assert_int_equal(iw_assoc_sessions(x.assoc), 0);
	fx_stop(&x);

	open_active(&x, 4, 5);
	fx_control(&x, SESSION_TERMINATE, NULL, 0);
	assert_true(fx_pull(&x));
	x.sid = 2;
	x.ssn = 0;
	fx_control(&x, SESSION_REJECT, "no", 2);
	ev = fx_event(&x, IW_EVENT_REJECT);
	assert_memory_equal(ev.param.private_data, "no", 2);
	fx_stop(&x);
}

/*
 * What the peer sent behind that Terminate, and in_order.c has kept, does not belong to the session
 * on the next stream.
 */
static void fallback_in_order(void **state)
{
	struct fx x;

	open_active(&x, 4, 5);
	x.rnic->config.in_order = true;
	fx_feed(&x, 16, 1, "\xc1\x40\0\0\0\0\0\0\0\0\0\0\0\0", 14);
	fx_control(&x, SESSION_TERMINATE, NULL, 0);
	assert_true(fx_pull(&x));
	x.sid = 2;
	x.ssn = 0;
	fx_control(&x, SESSION_ACCEPT, NULL, 0);
	fx_event(&x, IW_EVENT_ACCEPT);
	assert_int_equal(iw_stats(x.rnic)->in[RDMAP_WRITE], 0);
	fx_feed(&x, 16, 1, "\xc1\x40\0\0\0\0\0\0\0\0\0\0\0\0", 14);
	assert_int_equal(iw_stats(x.rnic)->in[RDMAP_WRITE], 1);
	fx_stop(&x);
}

/* The Terminate must not overtake the Initiate or Accept (RFC 5043 6.6). */
static void terminate_waits_for_the_first_message(void **state)
{
	ROWS("5043-6.6-01");
	struct fx x;

	fx_passive(&x, 2, 2, 7);
	x.acked--;
	iw_session_close(x.session);
	assert_false(fx_pull(&x));
	assert_true(iw_next_timeout(x.rnic) < x.now + 10 * MSEC);
	fx_ack(&x, 1);
	expect_terminate(&x, 1);
	fx_no_event(&x);
	fx_stop(&x);

	/* a segment of the peer's shows as well that the Initiate has arrived */
	fx_passive(&x, 2, 2, 7);
	x.acked--;
	fx_write(&x, 0, 0, NULL, 0);
	iw_session_close(x.session);
	expect_terminate(&x, 1);
	fx_stop(&x);

	/* the Initiate is withdrawn, and the Reject that crosses the withdrawal ends the matter */
	open_active(&x, 1, 1);
	iw_session_close(x.session);
	assert_false(fx_pull(&x));
	fx_control(&x, SESSION_ENHANCED_REJECT, "\0\0\0\0", 4);
	assert_false(fx_pull(&x));
	assert_int_equal(iw_assoc_sessions(x.assoc), 0);
	fx_no_event(&x);
	fx_stop(&x);

	/* an Accept that crosses the withdrawal must be answered by a Terminate */
	open_active(&x, 1, 1);
	iw_session_close(x.session);
	fx_control(&x, SESSION_ENHANCED_ACCEPT, "\0\0\0\0", 4);
	expect_terminate(&x, 1);
	assert_int_equal(iw_assoc_sessions(x.assoc), 1);
	fx_control(&x, SESSION_TERMINATE, NULL, 0);
	assert_int_equal(iw_assoc_sessions(x.assoc), 0);
	fx_no_event(&x);
	fx_stop(&x);

	/* an Initiate that was never sent need not be withdrawn */
	fx_start(&x, true);
	assert_int_equal(iw_session_initiate(x.assoc, x.qp, &(struct iw_session_param){ 0 }, NULL,
					     &x.session), 0);
	iw_session_close(x.session);
	assert_false(fx_pull(&x));
	assert_int_equal(iw_assoc_sessions(x.assoc), 0);
	fx_stop(&x);
}

static void withdrawn_by_the_peer(void **state)
{
	ROWS("5043-6.1-04 5043-6.4-01");
	struct iw_session_param p = param(1, 1, "");
	struct iw_event ev;
	struct fx x;

	/* the session ends before the application has heard of it, so it never hears of it */
	fx_start(&x, false);
	fx_control(&x, SESSION_INITIATE, NULL, 0);
	fx_control(&x, SESSION_TERMINATE, NULL, 0);
	fx_no_event(&x);
	expect_terminate(&x, 0);
	fx_stop(&x);

	fx_start(&x, false);
	fx_control(&x, SESSION_INITIATE, NULL, 0);
	ev = fx_event(&x, IW_EVENT_INITIATE);
	iw_session_set_user(ev.session, &(struct iw_session_user){.ctx = &x});
	fx_control(&x, SESSION_TERMINATE, NULL, 0);
	assert_int_equal(iw_session_accept(ev.session, x.qp, &p), -ECONNRESET);
	expect_terminate(&x, 0);
	ev = fx_event(&x, IW_EVENT_CLOSED);
	assert_int_equal(ev.error, 0);
	assert_ptr_equal(ev.user.ctx, &x);
	fx_stop(&x);

	/* or the application closes the session instead of fetching the event */
	fx_start(&x, false);
	fx_control(&x, SESSION_INITIATE, NULL, 0);
	ev = fx_event(&x, IW_EVENT_INITIATE);
	fx_control(&x, SESSION_TERMINATE, NULL, 0);
	iw_session_close(ev.session);
	fx_no_event(&x);
	fx_stop(&x);

	/* a segment before the Accept */
	fx_start(&x, false);
	fx_control(&x, SESSION_INITIATE, NULL, 0);
	ev = fx_event(&x, IW_EVENT_INITIATE);
	fx_write(&x, x.stag, x.base, "x", 1);
	assert_int_equal(x.mem[0], 0);
	assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, -EPROTO);
	expect_terminate(&x, 0);
	fx_stop(&x);
}

static void orderly_end_by_the_peer(void **state)
{
	ROWS("5043-6.1-02 5043-6.1-08 5043-6.2-05 5043-6.1-01");
	uint8_t m[100];
	struct iw_event ev;
	struct fx x;

	fx_passive(&x, 2, 2, 7);
	iw_session_set_user(x.session, &(struct iw_session_user){.ctx = &x});
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	fx_post_recv(&x, 2, x.base, 16, x.stag);
	/* the Terminate overtakes the Send before it */
	fx_feed(&x, 17, 2, "\0\4", 2);
	fx_no_event(&x);
	fx_feed(&x, 16, 1, m, fx_make_untagged(m, 0x41, 0x43, 0, 0, 1, 0, "last", 4));
	assert_int_equal(fx_cqe(&x).status, 0);
	assert_int_equal(fx_cqe(&x).status, IW_WC_WR_FLUSH_ERR);
	ev = fx_event(&x, IW_EVENT_CLOSED);
	assert_int_equal(ev.error, 0);
	assert_ptr_equal(ev.user.ctx, &x);
	assert_ptr_equal(ev.qp, x.qp);
	assert_ptr_equal(ev.session, x.session);
	fx_no_event(&x);
	assert_int_equal(iw_assoc_sessions(x.assoc), 1);
	expect_terminate(&x, 1);
	assert_int_equal(iw_assoc_sessions(x.assoc), 0);
	/* messages behind the peer's Terminate are ignored */
	x.ssn = 3;
	fx_write(&x, x.stag, x.base + 100, "x", 1);
	assert_int_equal(x.mem[100], 0);
	/* and a new session begins at 0 */
	x.ssn = 0;
	fx_control(&x, SESSION_INITIATE, NULL, 0);
	fx_event(&x, IW_EVENT_INITIATE);
	fx_stop(&x);
}

static void illegal_in_session(void **state)
{
	ROWS("5043-6.1-04 5043-6.1-06 5043-6.1-09 5043-6.1-10 5043-6.1-11");
	static const struct {
		uint32_t ppid;
		const char *body;
		size_t len;
	} cases[] = {
		{ 17, "\0\1", 2 },	{ 17, "\0\2", 2 }, { 17, "\0\x99", 2 },
		{ 17, "\0\4abcd", 6 }, { 17, "\0", 1 },	    { 17, "", 0 },
		{ 16, "", 0 },		{ 16, "\x41", 1 }, { 16, "\xc1\x40\0\0\0\0\0\0\0\0\0\0\0", 13 },
		{ 0, "zero", 4 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fx x;

		fx_passive(&x, 2, 2, 7);
		fx_feed(&x, cases[i].ppid, x.ssn++, cases[i].body, cases[i].len);
		expect_terminate(&x, 1); /* no RDMAP Terminate */
		fx_event(&x, IW_EVENT_QP_FATAL);
		assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, -EPROTO);
		fx_no_event(&x);
		fx_stop(&x);
	}
	for (size_t len = 0; len < 2; len++) { /* not even a DDP-SSN */
		struct fx x;

		fx_passive(&x, 2, 2, 7);
		assert_int_equal(iw_assoc_receive(x.assoc, x.sid, 17, (const uint8_t *)"x", len), 0);
		expect_terminate(&x, 1);
		fx_stop(&x);
	}
}

/*
 * A stream is not used again before everything on it is acknowledged and the peer has ended its
 * side as well.
 */
static void streams_are_reused_with_care(void **state)
{
	ROWS("5043-6.6-04");
	struct iw_session_param p = param(1, 1, "");
	struct iw_qp *second;
	struct iw_session *s;
	struct fx x;

	open_active(&x, 1, 1); /* stream 0 */
	fx_control(&x, SESSION_ENHANCED_ACCEPT, "\0\1\0\1", 4);
	fx_event(&x, IW_EVENT_ACCEPT);
	second = fx_qp_sized(&x, x.pd, x.cq, 4);
	/* sessions on all other streams */
	for (unsigned int i = 0; i < 31; i++) {
		struct iw_qp *qp = fx_qp_sized(&x, x.pd, x.cq, 1);

		assert_int_equal(iw_session_initiate(x.assoc, qp, &p, NULL, &s), 0);
		assert_int_equal(iw_qp_modify(qp, IW_QPS_ERR), 0);
		fx_event(&x, IW_EVENT_CLOSED);
		assert_int_equal(iw_session_initiate(x.assoc, second, &p, NULL, &s), 0);
		iw_session_close(s);
		assert_int_equal(iw_qp_modify(second, IW_QPS_RESET), 0);
		assert_int_equal(iw_qp_modify(second, IW_QPS_INIT), 0);
		iw_qp_free(qp);
	}
	assert_int_equal(iw_assoc_sessions(x.assoc), 1);
	for (unsigned int i = 0; i < 31; i++) {
		struct iw_qp *qp = fx_qp_sized(&x, x.pd, x.cq, 1);

		assert_int_equal(iw_session_initiate(x.assoc, qp, &p, NULL, &s), 0);
		assert_true(fx_pull(&x));
		iw_qp_free(qp); /* its Initiate is not acknowledged: it drains */
		fx_event(&x, IW_EVENT_CLOSED);
	}
	assert_int_equal(iw_session_initiate(x.assoc, second, &p, NULL, &s), -EAGAIN);
	/* stream 0: our Terminate, unacknowledged */
	iw_session_close(x.session);
	assert_true(fx_pull(&x));
	assert_int_equal(x.msg.sid, 0);
	assert_int_equal(iw_session_initiate(x.assoc, second, &p, NULL, &s), -EAGAIN);
	fx_control(&x, SESSION_TERMINATE, NULL, 0);
	assert_int_equal(iw_session_initiate(x.assoc, second, &p, NULL, &s), -EAGAIN);
	x.acked = 1 + 31 + 1;
	assert_int_equal(iw_session_initiate(x.assoc, second, &p, NULL, &s), 0);
	/* the other streams follow with their Terminates */
	fx_ack(&x, 0);
	for (unsigned int n = 0; n < 32; n++)
		assert_true(fx_pull(&x));
	assert_int_equal(iw_assoc_sessions(x.assoc), 32);
	/*
	 * a stream whose peer does not answer within a second is retired: it is neither counted nor
	 * used
	 */
	fx_ack(&x, 32);
	assert_int_equal(iw_assoc_sessions(x.assoc), 32);
	x.now += 1000 * MSEC;
	iw_timers(x.rnic, x.now);
	assert_int_equal(iw_assoc_sessions(x.assoc), 1);
	assert_true(iw_next_timeout(x.rnic) == UINT64_MAX);
	{
		struct iw_qp *qp = fx_qp_sized(&x, x.pd, x.cq, 1);

		assert_int_equal(iw_session_initiate(x.assoc, qp, &p, NULL, &s), -EAGAIN);
		/* one peer answers after all */
		x.sid = 4;
		fx_feed(&x, 17, 0, "\0\4", 2);
		assert_int_equal(iw_session_initiate(x.assoc, qp, &p, NULL, &s), 0);
		assert_true(fx_pull(&x));
		assert_int_equal(x.msg.sid, 4);
		iw_qp_free(qp);
	}
	iw_qp_free(second);
	fx_stop(&x);
}

static void association_lost(void **state)
{
	ROWS("5043-11.3-03");
	struct iw_event ev;
	struct fx x;

	fx_passive(&x, 2, 2, 7);
	iw_session_set_user(x.session, &(struct iw_session_user){.ctx = &x});
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	x.sid = 3;
	x.ssn = 0;
	fx_control(&x, SESSION_INITIATE, NULL, 0);
	x.sid = 5;
	x.ssn = 0;
	fx_control(&x, SESSION_INITIATE, NULL, 0); /* nobody hears of it */
	fx_event(&x, IW_EVENT_INITIATE);
	iw_assoc_lost(x.assoc, -ETIMEDOUT);
	assert_int_equal(fx_cqe(&x).status, IW_WC_WR_FLUSH_ERR);
	ev = fx_event(&x, IW_EVENT_CLOSED);
	while (ev.user.ctx != &x)
		ev = fx_event(&x, IW_EVENT_CLOSED);
	assert_int_equal(ev.error, -ETIMEDOUT);
	assert_null(ev.assoc);
	while (iw_next_event(x.rnic, &ev))
		assert_int_equal(ev.type, IW_EVENT_CLOSED);
	x.assoc = iw_assoc_new(x.rnic, &(struct iw_llp_ops){ .doorbell = fx_doorbell }, &x, false, 4, 1500);
	fx_stop(&x);
}

static void qp_goes_while_connected(void **state)
{
	ROWS("5043-6.2-06 5043-6.2-07 5043-6.1-08");
	struct iw_event ev;
	struct fx x;

	fx_passive(&x, 2, 2, 7);
	iw_session_set_user(x.session, &(struct iw_session_user){.ctx = &x});
	fx_post(&x, 1, IW_WR_SEND, x.base, 5000, 0, 0, 0);
	assert_true(fx_pull(&x));
	iw_qp_free(x.qp);
	x.qp = NULL;
	ev = fx_event(&x, IW_EVENT_CLOSED);
	assert_ptr_equal(ev.user.ctx, &x);
	assert_null(ev.qp);
	assert_int_equal(ev.error, -ECONNABORTED);
	expect_terminate(&x, 2);
	fx_write(&x, x.stag, x.base, "x", 1);
	assert_int_equal(x.mem[0], 0);
	fx_control(&x, SESSION_TERMINATE, NULL, 0);
	fx_ack(&x, 9);
	assert_int_equal(iw_assoc_sessions(x.assoc), 0);
	fx_stop(&x);

	/* moved to error by the application */
	fx_passive(&x, 2, 2, 7);
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_ERR), 0);
	assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, -ECONNABORTED);
	expect_terminate(&x, 1);
	fx_stop(&x);
}

static void bad_qps(void **state)
{
	struct iw_session_param p = param(1, 1, "");
	struct iw_session *s, *t;
	struct iw_event ev;
	struct fx x;

	fx_start(&x, true);
	assert_int_equal(iw_session_initiate(x.assoc, x.qp, &p, NULL, &s), 0);
	assert_int_equal(iw_session_initiate(x.assoc, x.qp, &p, NULL, &t), -EINVAL);
	iw_session_close(s);
	assert_int_equal(iw_session_initiate(x.assoc, x.qp, &p, NULL, &t), -EINVAL); /* ERR */
	x.sid = 1;
	fx_control(&x, SESSION_INITIATE, NULL, 0);
	ev = fx_event(&x, IW_EVENT_INITIATE);
	assert_int_equal(iw_session_accept(ev.session, x.qp, &p), -EINVAL);
	iw_qp_modify(x.qp, IW_QPS_RESET);
	iw_qp_modify(x.qp, IW_QPS_INIT);
	iw_qp_modify(x.qp, IW_QPS_RTR);
	assert_int_equal(iw_session_accept(ev.session, x.qp, &p), 0);
	assert_int_equal(iw_assoc_receive(x.assoc, 64, 16, (const uint8_t *)"\0\0", 2), -EPROTO);
	fx_stop(&x);
}

/*
 * The side that accepted the association uses the odd streams: if there is a single stream it has
 * none.
 */
static void no_stream_for_us(void **state)
{
	static const struct iw_llp_ops llp = { .doorbell = fx_doorbell, .acked = fx_acked };
	struct iw_session_param p = param(1, 1, "");
	struct iw_session *s;
	struct iw_assoc *assoc;
	struct fx x;

	fx_start(&x, false);
	assoc = iw_assoc_new(x.rnic, &llp, &x, false, 1, 1452);
	assert_int_equal(iw_session_initiate(assoc, x.qp, &p, NULL, &s), -EAGAIN);
	iw_assoc_lost(assoc, -ECONNRESET);
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answered_before_asked),
		cmocka_unit_test(plain_passive),
		cmocka_unit_test(enhanced_passive),
		cmocka_unit_test(rejected_by_us),
		cmocka_unit_test(illegal_openings),
		cmocka_unit_test(too_much_private_data),
		cmocka_unit_test(accepted_by_the_peer),
		cmocka_unit_test(depths_left_to_the_ulp),
		cmocka_unit_test(answers_that_cannot_be),
		cmocka_unit_test(rtr_indication),
		cmocka_unit_test(rejected_by_the_peer),
		cmocka_unit_test(wrong_answers),
		cmocka_unit_test(fallback),
		cmocka_unit_test(fallback_in_order),
		cmocka_unit_test(terminate_waits_for_the_first_message),
		cmocka_unit_test(withdrawn_by_the_peer),
		cmocka_unit_test(orderly_end_by_the_peer),
		cmocka_unit_test(illegal_in_session),
		cmocka_unit_test(streams_are_reused_with_care),
		cmocka_unit_test(no_stream_for_us),
		cmocka_unit_test(association_lost),
		cmocka_unit_test(qp_goes_while_connected),
		cmocka_unit_test(bad_qps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
