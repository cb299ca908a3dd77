/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* VALGRIND: yes */
/* Start and end of sessions (RFC 5043 5 and 6, RFC 6581), against a scripted peer. */
#include "conformance/rows.h"
#include "fixture/iw_fixture.h"

#include "iwarp/shard.h"
#include "wire/rdmap.h"
#include "wire/session.h"
#include "wire/terminate.h"
#include "fixture/iw_session.h"

static void wrong_answers(void **state)
{
	ROWS("5043-6.1-04 5043-6.1-05 5043-6.1-09 6581-7-21");
	static const struct {
		uint32_t ppid;
		const char *body;
		size_t len;
	} cases[] = {
		{ 17, "\0\2", 2 },	  { 17, "\0\6", 2 },
		{ 17, "\0\x63", 2 },	  { 16, "\xc1\x40\0\0\0\0\0\0\0\0\0\0\0\0x", 15 },
		{ 5, "\0\6\0\1\0\1", 6 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct iw_event ev;
		struct fx x;

		open_active(&x, 4, 5);
		fx_feed(&x, cases[i].ppid, 0, cases[i].body, cases[i].len);
		fx_ack(&x, 1);
		expect_terminate(&x, 1);
		do
			assert_true(iw_next_event(x.iw, &ev));
		while (ev.type == IW_EVENT_QP_FATAL);
		assert_int_equal(ev.type, IW_EVENT_CLOSED);
		assert_int_equal(ev.error, -EPROTO);
		assert_int_equal(atomic_load(&x.qp->state), IW_QPS_ERR);
		fx_stop(&x);
	}
}

/* A peer without the Enhanced Initiate answers with a Terminate. A plain Initiate follows. */
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
 * in_order.c has stored messages that the peer sent after that Terminate. The session on the next
 * stream does not get these messages.
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
	assert_int_equal(iw_stats(x.iw)->in[RDMAP_WRITE], 0);
	fx_feed(&x, 16, 1, "\xc1\x40\0\0\0\0\0\0\0\0\0\0\0\0", 14);
	assert_int_equal(iw_stats(x.iw)->in[RDMAP_WRITE], 1);
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
	assert_true(iw_next_timeout(x.iw) < x.now + 10 * MSEC);
	fx_ack(&x, 1);
	expect_terminate(&x, 1);
	fx_no_event(&x);
	fx_stop(&x);

	/* A segment of the peer also shows that the Initiate has arrived. */
	fx_passive(&x, 2, 2, 7);
	x.acked--;
	fx_write(&x, 0, 0, NULL, 0);
	iw_session_close(x.session);
	expect_terminate(&x, 1);
	fx_stop(&x);

	/* The Initiate is withdrawn. A Reject that crosses the withdrawal ends the session. */
	open_active(&x, 1, 1);
	iw_session_close(x.session);
	assert_false(fx_pull(&x));
	fx_control(&x, SESSION_ENHANCED_REJECT, "\0\0\0\0", 4);
	assert_false(fx_pull(&x));
	assert_int_equal(iw_assoc_sessions(x.assoc), 0);
	fx_no_event(&x);
	fx_stop(&x);

	/* An Accept that crosses the withdrawal must be answered by a Terminate. */
	open_active(&x, 1, 1);
	iw_session_close(x.session);
	fx_control(&x, SESSION_ENHANCED_ACCEPT, "\0\0\0\0", 4);
	expect_terminate(&x, 1);
	assert_int_equal(iw_assoc_sessions(x.assoc), 1);
	fx_control(&x, SESSION_TERMINATE, NULL, 0);
	assert_int_equal(iw_assoc_sessions(x.assoc), 0);
	fx_no_event(&x);
	fx_stop(&x);

	/* An Initiate that was never sent need not be withdrawn. */
	fx_start(&x, true);
	assert_int_equal(iw_session_initiate(x.assoc, x.qp, &(struct iw_session_param){ 0 }, NULL,
					     &x.session),
			 0);
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

	/* The session ends before the application fetched the event, so the event is dropped. */
	fx_start(&x, false);
	fx_control(&x, SESSION_INITIATE, NULL, 0);
	fx_control(&x, SESSION_TERMINATE, NULL, 0);
	fx_no_event(&x);
	expect_terminate(&x, 0);
	fx_stop(&x);

	fx_start(&x, false);
	fx_control(&x, SESSION_INITIATE, NULL, 0);
	ev = fx_event(&x, IW_EVENT_INITIATE);
	iw_session_set_user(ev.session, &(struct iw_session_user){ .ctx = &x });
	fx_control(&x, SESSION_TERMINATE, NULL, 0);
	assert_int_equal(iw_session_accept(ev.session, x.qp, &p), -ECONNRESET);
	expect_terminate(&x, 0);
	ev = fx_event(&x, IW_EVENT_CLOSED);
	assert_int_equal(ev.error, 0);
	assert_ptr_equal(ev.user.ctx, &x);
	fx_stop(&x);

	/* Or the application closes the session after it fetched the event. */
	fx_start(&x, false);
	fx_control(&x, SESSION_INITIATE, NULL, 0);
	ev = fx_event(&x, IW_EVENT_INITIATE);
	fx_control(&x, SESSION_TERMINATE, NULL, 0);
	iw_session_close(ev.session);
	fx_no_event(&x);
	fx_stop(&x);

	/* A segment before the Accept. */
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
	iw_session_set_user(x.session, &(struct iw_session_user){ .ctx = &x });
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	fx_post_recv(&x, 2, x.base, 16, x.stag);
	/* The Terminate overtakes the Send before it. */
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
	/* Messages after the peer's Terminate are ignored. */
	x.ssn = 3;
	fx_write(&x, x.stag, x.base + 100, "x", 1);
	assert_int_equal(x.mem[100], 0);
	/* A new session starts at 0. */
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
		{ 17, "\0\1", 2 },
		{ 17, "\0\2", 2 },
		{ 17, "\0\x99", 2 },
		{ 17, "\0\4abcd", 6 },
		{ 17, "\0", 1 },
		{ 17, "", 0 },
		{ 16, "", 0 },
		{ 16, "\x41", 1 },
		{ 16, "\xc1\x40\0\0\0\0\0\0\0\0\0\0\0", 13 },
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
		assert_int_equal(iw_assoc_receive(x.assoc, x.sid, 17, (const uint8_t *)"x", len),
				 0);
		expect_terminate(&x, 1);
		fx_stop(&x);
	}
}

/*
 * A stream is not reused until all of its messages are acknowledged, and the peer has ended its
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
	/* Sessions on all other streams. */
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
		iw_qp_free(qp); /* Initiate unacknowledged: it drains */
		fx_event(&x, IW_EVENT_CLOSED);
	}
	assert_int_equal(iw_session_initiate(x.assoc, second, &p, NULL, &s), -EAGAIN);
	/* Stream 0: the local Terminate is unacknowledged. */
	iw_session_close(x.session);
	assert_true(fx_pull(&x));
	assert_int_equal(x.msg.sid, 0);
	assert_int_equal(iw_session_initiate(x.assoc, second, &p, NULL, &s), -EAGAIN);
	fx_control(&x, SESSION_TERMINATE, NULL, 0);
	assert_int_equal(iw_session_initiate(x.assoc, second, &p, NULL, &s), -EAGAIN);
	x.acked = 1 + 31 + 1;
	assert_int_equal(iw_session_initiate(x.assoc, second, &p, NULL, &s), 0);
	/* The other streams follow with their Terminates. */
	fx_ack(&x, 0);
	for (unsigned int n = 0; n < 32; n++)
		assert_true(fx_pull(&x));
	assert_int_equal(iw_assoc_sessions(x.assoc), 32);
	/*
	 * A stream whose peer does not answer within a second is retired: neither counted nor used.
	 */
	fx_ack(&x, 32);
	assert_int_equal(iw_assoc_sessions(x.assoc), 32);
	x.now += 1000 * MSEC;
	iw_timers(x.iw, x.now);
	assert_int_equal(iw_assoc_sessions(x.assoc), 1);
	assert_true(iw_next_timeout(x.iw) == UINT64_MAX);
	{
		struct iw_qp *qp = fx_qp_sized(&x, x.pd, x.cq, 1);

		assert_int_equal(iw_session_initiate(x.assoc, qp, &p, NULL, &s), -EAGAIN);
		/* The peer answers on one stream after all. */
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
	iw_session_set_user(x.session, &(struct iw_session_user){ .ctx = &x });
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	x.sid = 3;
	x.ssn = 0;
	fx_control(&x, SESSION_INITIATE, NULL, 0);
	x.sid = 5;
	x.ssn = 0;
	fx_control(&x, SESSION_INITIATE, NULL, 0); /* no event is fetched */
	fx_event(&x, IW_EVENT_INITIATE);
	iw_assoc_lost(x.assoc, -ETIMEDOUT);
	assert_int_equal(fx_cqe(&x).status, IW_WC_WR_FLUSH_ERR);
	ev = fx_event(&x, IW_EVENT_CLOSED);
	while (ev.user.ctx != &x)
		ev = fx_event(&x, IW_EVENT_CLOSED);
	assert_int_equal(ev.error, -ETIMEDOUT);
	assert_null(ev.assoc);
	while (iw_next_event(x.iw, &ev))
		assert_int_equal(ev.type, IW_EVENT_CLOSED);
	x.assoc = iw_assoc_new(x.iw, &(struct iw_llp_ops){ .doorbell = fx_doorbell }, &x, false, 4,
			       1500);
	fx_stop(&x);
}

static void qp_goes_while_connected(void **state)
{
	ROWS("5043-6.2-06 5043-6.2-07 5043-6.1-08");
	struct iw_event ev;
	struct fx x;

	fx_passive(&x, 2, 2, 7);
	iw_session_set_user(x.session, &(struct iw_session_user){ .ctx = &x });
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

	/* The application moves the QP to error. */
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

/* The side that accepted the association uses odd streams. With a single stream it has none. */
static void no_stream_for_us(void **state)
{
	static const struct iw_llp_ops llp = { .doorbell = fx_doorbell, .acked = fx_acked };
	struct iw_session_param p = param(1, 1, "");
	struct iw_session *s;
	struct iw_assoc *assoc;
	struct fx x;

	fx_start(&x, false);
	assoc = iw_assoc_new(x.iw, &llp, &x, false, 1, 1452);
	assert_int_equal(iw_session_initiate(assoc, x.qp, &p, NULL, &s), -EAGAIN);
	iw_assoc_lost(assoc, -ECONNRESET);
	fx_stop(&x);
}

/*
 * The peer requests a session on this stream. If sid is a multiple of 3, the request is no
 * Initiate.
 */
static int ask(struct fx *x, uint16_t sid)
{
	struct iw_event ev;
	int ret = iw_assoc_receive(x->assoc, sid, sid % 3 ? 17 : 5, (const uint8_t *)"\0\0\0\1", 4);

	if (ret || sid % 3 == 0)
		return ret;
	ev = fx_event(x, IW_EVENT_INITIATE);
	if (sid % 2)
		iw_session_refuse(ev.session);
	else
		assert_int_equal(iw_session_reject(ev.session, NULL, 0), 0);
	return 0;
}

/* The peer requests 8,192 sessions, acknowledges `acked` answers, and requests one more. */
static void asks_and_acknowledges(uint32_t acked, int ret)
{
	static const struct iw_llp_ops llp = { .doorbell = fx_doorbell, .acked = fx_acked };
	struct iw_assoc *usual;
	uint16_t sid = 0;
	struct fx x;

	fx_start(&x, false);
	usual = x.assoc;
	x.assoc = iw_assoc_new(x.iw, &llp, &x, false, 65535, 1452);
	while (sid < 8192)
		assert_int_equal(ask(&x, sid++), 0);
	while (acked && fx_pull(&x))
		;
	x.acked = acked;
	assert_int_equal(ask(&x, sid++), ret);
	/* Streams with a session do not count. */
	assert_int_equal(iw_assoc_receive(x.assoc, 8191, 17, (const uint8_t *)"\0\1\0\4", 4), 0);
	if (!ret) {
		while (sid < 8192 + acked)
			assert_int_equal(ask(&x, sid++), 0);
		assert_int_equal(ask(&x, sid), -EPROTO);
		/* Acknowledged refusals do not count any more. */
		while (fx_pull(&x))
			;
		fx_ack(&x, 8192);
		assert_int_equal(x.iw->session_count, 0);
	}
	iw_assoc_lost(x.assoc, -ECONNRESET);
	x.assoc = usual;
	fx_stop(&x);
}

/*
 * A peer that requests thousands of sessions, and does not acknowledge their refusal, loses its
 * association. A peer that acknowledges may continue, even if no timer has seen its
 * acknowledgements.
 */
static void turned_away(void **state)
{
	ROWS("5043-6.4-03");
	asks_and_acknowledges(0, -EPROTO);
	asks_and_acknowledges(4095, -EPROTO);
	asks_and_acknowledges(4096, 0);
	asks_and_acknowledges(8192, 0);
}

/* The peer requests this number of sessions on a new association, and gets none. */
static struct iw_assoc *asker(struct fx *x, unsigned int sessions)
{
	static const struct iw_llp_ops llp = { .doorbell = fx_doorbell, .acked = fx_acked };

	/* All of them have the same LLP, so they have common acknowledgements. */
	x->assoc = iw_assoc_new(x->iw, &llp, x, false, 65535, 1452);
	for (unsigned int sid = 0; sid < sessions; sid++)
		assert_int_equal(ask(x, (uint16_t)sid), 0);
	return x->assoc;
}

/* Of several associations, the one with the most unacknowledged refusals must end. */
static void turned_away_together(void **state)
{
	struct iw_assoc *assoc[3], *usual;
	struct fx x;

	ROWS("5042-6.4.1-02");
	fx_start(&x, false);
	usual = x.assoc;
	assoc[0] = asker(&x, 5000);
	assoc[1] = asker(&x, 6000);
	assoc[2] = asker(&x, IW_TURNED_AWAY_ALL - 11000);
	assert_null(iw_worst_asker(x.iw));
	assert_int_equal(ask(&x, IW_TURNED_AWAY_ALL - 11000), 0);
	assert_true(iw_turned_too_many_away(x.iw));
	assert_ptr_equal(iw_worst_asker(x.iw), &x);
	/* The peer of the second one acknowledges everything, so none must end. */
	x.assoc = assoc[1];
	while (fx_pull(&x))
		;
	x.acked = 6000;
	assert_null(iw_worst_asker(x.iw));
	assert_int_equal(x.iw->turned_away, IW_TURNED_AWAY_ALL + 1 - 6000);
	for (int i = 0; i < 3; i++)
		iw_assoc_lost(assoc[i], -ECONNRESET);
	assert_int_equal(x.iw->turned_away, 0);
	x.assoc = usual;
	fx_stop(&x);
}

/* Runs the timers of sessions for this time, in ns. Returns the number of timeouts. */
static unsigned int looks_within(struct fx *x, uint64_t time)
{
	unsigned int looks = 0;

	while (iw_next_timeout(x->iw) < x->now + time) {
		iw_timers(x->iw, iw_next_timeout(x->iw));
		looks++;
	}
	return looks;
}

/* Sessions of a peer that acknowledges nothing are checked ever more rarely. */
static void looks_become_rare(void **state)
{
	struct fx x;

	ROWS("5042-6.4.1-02");
	fx_start(&x, false);
	assert_int_equal(ask(&x, 0), 0);
	assert_true(fx_pull(&x));
	assert_in_range(looks_within(&x, 30000 * IW_MSEC), 10, 50);
	x.acked = 1;
	iw_timers(x.iw, iw_next_timeout(x.iw));
	assert_int_equal(x.iw->turned_away, 0);
	fx_stop(&x);
}

/* Sessions that end one after the other check for acknowledgements at common times. */
static void looks_fall_together(void **state)
{
	struct iw_assoc *assoc, *usual;
	struct fx x;

	fx_start(&x, false);
	usual = x.assoc;
	assoc = asker(&x, 0);
	for (uint16_t sid = 0; sid < 100; sid++) {
		iw_set_now(x.iw, x.now + sid * IW_MSEC / 100);
		assert_int_equal(ask(&x, sid), 0);
		assert_true(fx_pull(&x));
	}
	assert_in_range(looks_within(&x, 4 * IW_MSEC), 1, 4);
	x.acked = 100;
	iw_timers(x.iw, x.now + 100 * IW_MSEC);
	assert_int_equal(iw_next_timeout(x.iw), UINT64_MAX);
	iw_assoc_lost(assoc, -ECONNRESET);
	x.assoc = usual;
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_answers),
		cmocka_unit_test(fallback),
		cmocka_unit_test(fallback_in_order),
		cmocka_unit_test(terminate_waits_for_the_first_message),
		cmocka_unit_test(withdrawn_by_the_peer),
		cmocka_unit_test(orderly_end_by_the_peer),
		cmocka_unit_test(illegal_in_session),
		cmocka_unit_test(streams_are_reused_with_care),
		cmocka_unit_test(no_stream_for_us),
		cmocka_unit_test(turned_away),
		cmocka_unit_test(turned_away_together),
		cmocka_unit_test(looks_become_rare),
		cmocka_unit_test(looks_fall_together),
		cmocka_unit_test(association_lost),
		cmocka_unit_test(qp_goes_while_connected),
		cmocka_unit_test(bad_qps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
