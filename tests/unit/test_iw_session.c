/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* VALGRIND: yes */
/* Start and end of sessions (RFC 5043 5 and 6, RFC 6581), against a scripted peer. */
#include "conformance/rows.h"
#include "fixture/iw_fixture.h"

#include "iwarp/rnic.h"
#include "wire/rdmap.h"
#include "wire/session.h"
#include "wire/terminate.h"
#include "fixture/iw_session.h"

/* The peer answers an Initiate that was not sent yet. */
static void answered_before_asked(void **state)
{
	static const uint8_t depths[4] = { 0, 4, 0, 4 };

	for (int function = SESSION_ACCEPT; function <= SESSION_ENHANCED_REJECT; function++) {
		struct iw_session_param p = param(4, 4, "data");
		struct iw_event ev;
		struct fx x;

		if (session_is_initiate(function)) /* not an answer: test_iw_crossing.c */
			continue;
		fx_start(&x, true);
		assert_int_equal(iw_session_initiate(x.assoc, x.qp, &p,
						     &(struct iw_session_user){ .ctx = &x },
						     &x.session),
				 0);
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
	/* The Accept goes first. */
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
		uint32_t ird, ord; /* of the application */
		uint8_t answer[4];
		uint32_t shown_ird, shown_ord;
	} cases[] = {
		{ { 0, 4, 0, 3 }, 8, 8, { 0, 8, 0, 4 }, 4, 3 },
		{ { 0, 2, 0, 9 }, 1, 1, { 0, 9, 0, 1 }, 2, 9 },
		{ { 0, 0, 0, 0 }, 0, 5, { 0, 0, 0, 0 }, 0, 0 },
		{ { 0, 1, 0x10, 0 }, 1, 1, { 0, 128, 0, 1 }, 1, 4096 },
		{ { 0x3f, 0xff, 0x3f, 0xff }, 4, 5, { 0x3f, 0xff, 0x3f, 0xff }, 128, 128 },
		{ { 0x3f, 0xff, 0, 1 }, 4, 5, { 0, 4, 0x3f, 0xff }, 128, 1 },
		/* A and RTR flags: Write, Read, only Send, none. */
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
	 * Another session on the same stream, now with an Enhanced Initiate. Its Reject carries
	 * data (RFC 6581 9).
	 */
	x.ssn = 0;
	fx_control(&x, SESSION_ENHANCED_INITIATE, "\0\1\0\2", 4);
	ev = fx_event(&x, IW_EVENT_INITIATE);
	assert_int_equal(iw_session_reject(ev.session, "no", 2), 0);
	assert_true(fx_pull(&x));
	assert_memory_equal(x.out, "\0\0\0\7\0\2\0\1no", 10);
	/* A third session, before the acknowledgement was noticed. Its Initiate is refused. */
	x.ssn = 0;
	fx_control(&x, SESSION_INITIATE, NULL, 0);
	ev = fx_event(&x, IW_EVENT_INITIATE);
	iw_session_refuse(ev.session);
	expect_terminate(&x, 0);
	/* The peer's withdrawal crossed the refusal, and comes late. */
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
		{ 17, "\0\2", 2 },	 { 17, "\0\3", 2 },
		{ 17, "\0\4", 2 },	 { 17, "\0\6\0\1\0\1", 6 },
		{ 17, "\0\0", 2 },	 { 17, "\0\x08", 2 },
		{ 17, "\1\0", 2 },	 { 17, "\xff\xff", 2 },
		{ 17, "", 0 },		 { 17, "\0", 1 },
		{ 17, "\0\5\0\0\0", 5 }, { 0, "\0\1", 2 },
		{ 16, "\0\1", 2 },	 { 16, "\xc1\x40\0\0\0\0\0\0\0\0\0\0\0\0x", 15 },
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
	assert_int_equal(x.msg.sid, 3); /* the accepting side: odd; 1 is taken */
	fx_stop(&x);
}

static void accepted_by_the_peer(void **state)
{
	ROWS("5043-6.1-02 5043-6.6-05 6581-9.1-06 6581-9.1-12 6581-9.1-13");
	uint8_t m[100];
	struct iw_event ev;
	struct fx x;

	open_active(&x, 4, 5);
	/*
	 * Segments overtake the Accept. The segments are placed, but not delivered (RFC 5043 6.6).
	 */
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
	/*
	 * The local ORD of 5 was lowered to the peer's IRD of 3. The local IRD of 4 was raised to
	 * the peer's ORD of 6.
	 */
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
 * RFC 6581 9.1, 9.2: an RDMAP Terminate is sent as DDP-SSN 1, and a session Terminate as 2. There
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
		assert_int_equal(iw_session_initiate(x.assoc, x.qp, &p,
						     &(struct iw_session_user){ .ctx = &x },
						     &x.session),
				 0);
		assert_true(fx_pull(&x));
		assert_memory_equal(x.out, "\0\0\0\5\xc0\1\xc0\1", 8);
		fx_control(&x, SESSION_ENHANCED_ACCEPT, answer, 4);
		fx_event(&x, IW_EVENT_ACCEPT);
		fx_post(&x, 1, IW_WR_SEND, x.base, 1, 0, 0, IW_SEND_FENCE);
		assert_true(fx_pull(&x));
		assert_int_equal(get_be16(x.out), 1);
		assert_memory_equal(x.out + 2, cases[i].segment, cases[i].len);
		assert_false(x.msg.voidable); /* not a WR, and the peer waits for it */
		if (i == 2) {
			assert_false(fx_pull(&x));
			fx_feed(&x, 16, x.ssn++, m, fx_make_tagged(m, 0xc1, 0x42, 0, 0, NULL, 0));
		}
		assert_true(fx_pull(&x));
		assert_int_equal(x.out[3], 0x43);
		assert_int_equal(get_be32(x.out + 12), i == 1 ? 2 : 1);
		assert_true(x.msg.voidable);
		assert_int_equal(fx_cqe(&x).wr_id, 1);
		fx_stop(&x);
	}
}

static void rejected_by_the_peer(void **state)
{
	ROWS("5043-6.3-04 6581-7-13 6581-7-22 6581-9.1-16 6581-9.1-17");
	struct iw_session_param p = param(1, 1, "again");
	struct iw_event ev;
	struct fx x;

	for (int plain = 0; plain < 2; plain++) {
		open_active(&x, 4, 5);
		if (plain)
			fx_control(&x, SESSION_REJECT, "sorry", 5);
		else
			fx_control(&x, SESSION_ENHANCED_REJECT, "\0\3\0\4sorry", 9);
		ev = fx_event(&x, IW_EVENT_REJECT);
		assert_int_equal(ev.param.ird, plain ? 0 : 3);
		assert_int_equal(ev.param.ord, plain ? 0 : 4);
		assert_int_equal(ev.param.private_data_len, 5);
		assert_memory_equal(ev.param.private_data, "sorry", 5);
		assert_ptr_equal(ev.user.ctx, &x);
		assert_int_equal(atomic_load(&x.qp->state), IW_QPS_INIT);
		assert_false(fx_pull(&x)); /* no message is owed */
		assert_int_equal(iw_assoc_sessions(x.assoc), 0);
		fx_ack(&x, 1);
		/* The QP can try again. */
		assert_int_equal(iw_session_initiate(x.assoc, x.qp, &p,
						     &(struct iw_session_user){ .ctx = &x },
						     &x.session),
				 0);
		assert_true(fx_pull(&x));
		fx_stop(&x);
	}
}

/* An Enhanced Reject is no answer to a plain Initiate. */
static void rejected_by_a_stranger(void **state)
{
	ROWS("6581-7-21");
	struct iw_event ev;
	struct fx x;

	open_active(&x, 4, 5);
	fx_control(&x, SESSION_TERMINATE, NULL, 0);
	assert_true(fx_pull(&x)); /* the plain Initiate */
	x.sid = 2;
	x.ssn = 0;
	fx_control(&x, SESSION_ENHANCED_REJECT, "\0\3\0\4sorry", 9);
	ev = fx_event(&x, IW_EVENT_CLOSED);
	assert_int_equal(ev.error, -EPROTO);
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answered_before_asked),  cmocka_unit_test(plain_passive),
		cmocka_unit_test(enhanced_passive),	  cmocka_unit_test(rejected_by_us),
		cmocka_unit_test(illegal_openings),	  cmocka_unit_test(too_much_private_data),
		cmocka_unit_test(accepted_by_the_peer),	  cmocka_unit_test(depths_left_to_the_ulp),
		cmocka_unit_test(answers_that_cannot_be), cmocka_unit_test(rtr_indication),
		cmocka_unit_test(rejected_by_the_peer),	  cmocka_unit_test(rejected_by_a_stranger),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
