/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* Begin and end of DDP streams (RFC 5041 6): graceful, abortive, and with the LLP. */
#include "fixture/iw_script.h"

/* Receives the peer's session Terminate, the end of an LLP stream (RFC 5043 3.2). */
static void peer_ends(struct fx *x)
{
	fx_control(x, SESSION_TERMINATE, NULL, 0);
}

static void ended(struct fx *x, int error)
{
	struct iw_event ev = fx_event(x, IW_EVENT_CLOSED);

	assert_int_equal(ev.error, error);
	assert_ptr_equal(ev.qp, x->qp);
	assert_int_equal(atomic_load(&x->qp->state), IW_QPS_ERR);
}

/* After the Accept, both directions work immediately. */
static void both_directions_at_once(void **state)
{
	struct fx x;

	ROWS("5041-6.1-02");
	fx_start(&x, false);
	x.sid = FX_SID;
	fx_control(&x, SESSION_INITIATE, NULL, 0);
	x.session = fx_event(&x, IW_EVENT_INITIATE).session;
	assert_int_equal(iw_session_accept(x.session, x.qp, &(struct iw_session_param){ .ird = 1 }),
			 0);
	assert_true(fx_pull(&x)); /* not acknowledged yet */
	script_out_ssn = 1;
	fx_post(&x, 1, IW_WR_SEND, x.base, 0, 0, 0, 0);
	out(&x, "41 43 00000000  00000000 00000001 00000000");
	in(&x, "c1 40 %w %q 'at once'", x.stag, x.base);
	assert_memory_equal(x.mem, "at once", 7);
	fx_stop(&x);

	/* active side: segments that follow the Accept, before its event is fetched */
	fx_start(&x, true);
	assert_int_equal(iw_session_initiate(x.assoc, x.qp, &(struct iw_session_param){ .ird = 1 },
					     NULL, &x.session),
			 0);
	assert_true(fx_pull(&x));
	x.sid = x.msg.sid;
	fx_control(&x, SESSION_ENHANCED_ACCEPT, "\0\1\0\1", 4);
	in(&x, "c1 40 %w %q 'at once'", x.stag, x.base);
	assert_memory_equal(x.mem, "at once", 7);
	script_out_ssn = 1;
	fx_post(&x, 1, IW_WR_SEND, x.base, 0, 0, 0, 0);
	out(&x, "41 43 00000000  00000000 00000001 00000000");
	fx_event(&x, IW_EVENT_ACCEPT);
	fx_stop(&x);
}

/* A stream has no DDP before the session: segments are not parsed. */
static void no_segment_before_the_session(void **state)
{
	struct fx x;

	ROWS("5041-6.1-01");
	fx_start(&x, false);
	x.sid = FX_SID;
	in(&x, "c1 40 %w %q 'early'", x.stag, x.base);
	assert_int_equal(x.mem[0], 0);
	fx_no_event(&x);
	fx_post(&x, 1, IW_WR_SEND, x.base, 0, 0, 0, 0);
	assert_true(fx_pull(&x)); /* refuses the stream; nothing of the QP is sent */
	assert_int_equal(x.msg.ppid, 17);
	assert_memory_equal(x.out, "\0\0\0\4", 4);
	silent(&x);
	fx_stop(&x);

	/* no segment (PPID 16) opens a session, whatever its contents */
	fx_start(&x, false);
	x.sid = FX_SID;
	in(&x, "0001");
	fx_no_event(&x);
	fx_stop(&x);

	/* a segment instead of the answer to an Initiate */
	fx_start(&x, true);
	assert_int_equal(iw_session_initiate(x.assoc, x.qp, &(struct iw_session_param){ .ird = 1 },
					     NULL, &x.session),
			 0);
	assert_true(fx_pull(&x));
	x.sid = x.msg.sid;
	in(&x, "c1 40 %w %q 'early'", x.stag, x.base);
	assert_int_equal(x.mem[0], 0);
	fx_event(&x, IW_EVENT_QP_FATAL);
	assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, -EPROTO);
	fx_stop(&x);
}

/* DDP itself ends no stream, neither after silence nor after legal segments. */
static void nothing_ends_by_itself(void **state)
{
	struct fx x;

	ROWS("5041-6.2-01");
	open_session(&x, 4, 4);
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	in(&x, "c1 40 00000000 0000000000000000");
	in(&x, "fd 70 %w %q 'x'", x.stag, x.base);
	in(&x, "41 43 00000000  00000000 00000001 00000000");
	in(&x, "41 41 00000000  00000001 00000001 00000000  00000000 0000000000000000 00000000 "
	       "00000000 "
	       "0000000000000000");
	out(&x, "c1 42 00000000 0000000000000000");
	for (unsigned int hour = 0; hour < 100; hour++) {
		x.now += 3600 * 1000 * MSEC;
		iw_timers(x.iw, x.now);
		silent(&x);
		fx_no_event(&x);
	}
	assert_int_equal(atomic_load(&x.qp->state), IW_QPS_RTS);
	fx_stop(&x);
}

/*
 * A graceful local end: messages that SCTP has are sent, and other WRs are flushed. Then the
 * Terminate is sent.
 */
static void graceful_end_by_us(void **state)
{
	struct fx x;

	ROWS("5041-6.2-02 5041-6.2.1-02 5041-6.2.1-03 5041-3-10");
	open_session(&x, 4, 4);
	for (unsigned int i = 1; i <= 3; i++)
		fx_post(&x, i, IW_WR_RDMA_WRITE, x.base, 4, 9, i, 0);
	fx_post(&x, 4, IW_WR_SEND, x.base, 4, 0, 0, 0);
	fx_post_recv(&x, 5, x.base, 16, x.stag);
	for (uint64_t i = 1; i <= 3; i++)
		out(&x, "c1 40 00000009 %q 00000000", i);
	iw_session_close(x.session);
	completions(&x, { 1, IW_WC_SUCCESS }, { 2, IW_WC_SUCCESS }, { 3, IW_WC_SUCCESS },
		    { 4, IW_WC_WR_FLUSH_ERR }, { 5, IW_WC_WR_FLUSH_ERR });
	/* further requests fail, and send nothing */
	fx_post(&x, 6, IW_WR_SEND, x.base, 4, 0, 0, 0);
	fx_post_recv(&x, 7, x.base, 16, x.stag);
	completions(&x, { 6, IW_WC_WR_FLUSH_ERR }, { 7, IW_WC_WR_FLUSH_ERR });
	out_end(&x);
	fx_post(&x, 8, IW_WR_RDMA_WRITE, x.base, 4, 9, 1, 0);
	completions(&x, { 8, IW_WC_WR_FLUSH_ERR });
	silent(&x);
	/* later segments of the peer are dropped */
	in(&x, "c1 40 %w %q 'late'", x.stag, x.base);
	assert_int_equal(x.mem[0], 0);
	peer_ends(&x);
	silent(&x);
	fx_no_event(&x);
	fx_ack(&x, 9);
	assert_int_equal(iw_assoc_sessions(x.assoc), 0);
	fx_stop(&x);
}

/*
 * The peer ends gracefully: the application gets an event. The local half closes after the last
 * local segment, without an abort.
 */
static void graceful_end_by_the_peer(void **state)
{
	struct fx x;

	ROWS("5041-3-11 5041-6.2-02 5041-6.2.1-01 5041-6.2.1-03 5041-6.2.1-07 5041-6.2.1-08 "
	     "5041-6.2.2-05 5041-3-10");
	open_session(&x, 4, 4);
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	fx_post(&x, 2, IW_WR_RDMA_WRITE, x.base, 4, 9, 1, 0);
	out(&x, "c1 40 00000009 0000000000000001 00000000");
	fx_post(&x, 3, IW_WR_RDMA_WRITE, x.base, 4, 9, 1, 0);
	peer_ends(&x);
	ended(&x, 0);
	completions(&x, { 2, IW_WC_SUCCESS }, { 3, IW_WC_WR_FLUSH_ERR }, { 1, IW_WC_WR_FLUSH_ERR });
	fx_post(&x, 4, IW_WR_SEND, x.base, 4, 0, 0, 0);
	completions(&x, { 4, IW_WC_WR_FLUSH_ERR });
	out_end(&x); /* DDP-SSN 2, next to the Write's */
	fx_no_event(&x);
	fx_stop(&x);
}

/* After the peer's graceful end, segments are neither placed nor delivered. */
static void data_behind_the_end(void **state)
{
	struct fx x;

	ROWS("5041-6.2.1-04");
	open_session(&x, 4, 4);
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	peer_ends(&x);
	in(&x, "41 43 00000000  00000000 00000001 00000000 'late'");
	in(&x, "c1 40 %w %q 'late'", x.stag, x.base + 100);
	ended(&x, 0);
	completions(&x, { 1, IW_WC_WR_FLUSH_ERR });
	assert_int_equal(x.mem[0] | x.mem[100], 0);
	out_end(&x);
	fx_stop(&x);

	/* a segment may overtake the end; only segments with lower DDP-SSNs are delivered */
	open_session(&x, 4, 4);
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	fx_post_recv(&x, 2, x.base + 16, 16, x.stag);
	in_at(&x, 3, "41 43 00000000  00000000 00000002 00000000 'late'");
	fx_feed(&x, 17, 2, "\0\4", 2);
	in_at(&x, 1, "41 43 00000000  00000000 00000001 00000000 'good'");
	ended(&x, 0);
	completions(&x, { 1, IW_WC_SUCCESS }, { 2, IW_WC_WR_FLUSH_ERR });
	out_end(&x);
	fx_stop(&x);
}

/* The loss or failure of the LLP is fatal for every stream. The application gets the cause. */
static void the_llp_fails(void **state)
{
	static const int errors[] = { -ECONNRESET, -ETIMEDOUT, -EPROTO };
	uint8_t m[] = "\0\1";

	ROWS("5041-6.2.2-01 5041-6.2.2-02 5041-6.2.2-05 5041-7-01 5041-3-03");
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		struct fx x;

		open_session(&x, 4, 4);
		iw_session_set_user(x.session, &(struct iw_session_user){ .ctx = &x });
		fx_post_recv(&x, 1, x.base, 16, x.stag);
		fx_post(&x, 2, IW_WR_RDMA_READ, x.base, 4, 9, 1, 0);
		fx_post(&x, 3, IW_WR_SEND, x.base, 4000, 0, 0, 0);
		fx_post(&x, 4, IW_WR_SEND, x.base, 4, 0, 0, 0);
		assert_true(fx_pull(&x)); /* the read and half of the Send have left */
		assert_true(fx_pull(&x));
		iw_assoc_lost(x.assoc, errors[i]);
		completions(&x, { 2, IW_WC_RETRY_EXC_ERR }, { 3, IW_WC_WR_FLUSH_ERR },
			    { 4, IW_WC_WR_FLUSH_ERR }, { 1, IW_WC_WR_FLUSH_ERR });
		ended(&x, errors[i]);
		fx_post(&x, 5, IW_WR_SEND, x.base, 4, 0, 0, 0);
		completions(&x, { 5, IW_WC_WR_FLUSH_ERR });
		x.assoc = iw_assoc_new(x.iw, &(struct iw_llp_ops){ .doorbell = fx_doorbell }, &x,
				       false, 4, 1500);
		fx_stop(&x);
	}

	/* a breach of the adaptation's rules: a second Initiate in mid-session */
	struct fx x;

	open_session(&x, 4, 4);
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	fx_feed(&x, 17, x.ssn++, m, 2);
	fx_event(&x, IW_EVENT_QP_FATAL);
	ended(&x, -EPROTO);
	completions(&x, { 1, IW_WC_WR_FLUSH_ERR });
	out_end(&x);
	fx_stop(&x);
}

/*
 * After an error, the stream stays until RDMAP's Terminate, with the numbers of 7.2, has been sent.
 * SCTP may take its time.
 */
static void the_error_is_told_before_the_end(void **state)
{
	struct fx x;

	ROWS("5041-6.2.2-04 5041-6.2.2-06 5041-6.2.2-07 5041-7.1-22 5041-3-10 5041-4.3-12");
	open_session(&x, 4, 4);
	fx_post(&x, 1, IW_WR_RDMA_WRITE, x.base, 8000, 9, 0, 0);
	out(&x, "81 40 00000009 0000000000000000 ..");
	in(&x, "41 43 00000000  00000007 00000001 00000000");
	assert_false(
		fx_pull_room(&x, 60)); /* no room now; nothing else is sent before the Terminate */
	out(&x, "41 47 00000000  00000002 00000001 00000000  12 01 c000 0012 "
		"41 43 00000000  00000007 00000001 00000000");
	out_end(&x);
	fx_ack(&x, 9);
	silent(&x);
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_directions_at_once),
		cmocka_unit_test(no_segment_before_the_session),
		cmocka_unit_test(nothing_ends_by_itself),
		cmocka_unit_test(graceful_end_by_us),
		cmocka_unit_test(graceful_end_by_the_peer),
		cmocka_unit_test(data_behind_the_end),
		cmocka_unit_test(the_llp_fails),
		cmocka_unit_test(the_error_is_told_before_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
