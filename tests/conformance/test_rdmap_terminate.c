/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* Local and remote Terminates (RFC 5040 4.8, 5.4, 6.2, 7). */
#include "fixture/iw_script.h"

#include "iwarp/assoc.h"
#include "iwarp/mr.h"
#include "iwarp/rc.h"
#include "iwarp/rnic.h"
#include "wire/ddp.h"
#include "wire/session.h"
#include "wire/terminate.h"

/*
 * Posts a read that waits for its response, a Write whose segments are in transmission, and a Send
 * after both.
 */
static void busy(struct fx *x)
{
	open_session(x, 2, 2);
	iw_assoc_set_max_msg(x->assoc, 518);
	fx_post(x, 1, IW_WR_RDMA_READ, x->base + 4000, 10, 0x99, 0x1000, 0);
	fx_post(x, 2, IW_WR_RDMA_WRITE, x->base, 1200, 0x98, 0x2000, 0);
	fx_post(x, 3, IW_WR_SEND, x->base, 10, 0, 0, 0);
	fx_post_recv(x, 4, x->base, 16, x->stag);
	out(x, "41 41 ..");
	out(x, "81 40 ..");
}

static void all_flushed(struct fx *x)
{
	completions(x, { 1, IW_WC_WR_FLUSH_ERR }, { 2, IW_WC_WR_FLUSH_ERR },
		    { 3, IW_WC_WR_FLUSH_ERR }, { 4, IW_WC_WR_FLUSH_ERR });
}

/*
 * Checks the end by a peer's Terminate. Set blamed if a work request has already reported the
 * error.
 */
static void the_peer_gave_up(struct fx *x, bool blamed)
{
	if (!blamed)
		assert_ptr_equal(fx_event(x, IW_EVENT_QP_FATAL).qp, x->qp);
	assert_int_equal(fx_event(x, IW_EVENT_CLOSED).error, -ECONNRESET);
	fx_no_event(x);
	assert_int_equal(atomic_load(&x->qp->state), IW_QPS_ERR);
	assert_int_equal(iw_qp_modify(x->qp, IW_QPS_RTS), -EINVAL);
	/* only the end of the session is sent, no RDMAP message */
	out_end(x);
	/* new work requests are flushed, too */
	fx_post(x, 5, IW_WR_SEND, x->base, 1, 0, 0, 0);
	completions(x, { 5, IW_WC_WR_FLUSH_ERR });
	silent(x);
}

/* Every Terminate ends the stream. An error without a message flushes all WRs. */
static void every_terminate_ends_the_stream(void **state)
{
	ROWS("5040-4.8-07 5040-4.8-14 5040-4.8-18 5040-4.8-21 5040-4.8-29 5040-4.8-38"
	     " 5040-5.4-04 5040-5.4-06 5040-5.4-08 5040-6.2-01 5040-6.2.1-02 5040-6.2.1-03"
	     " 5040-7-01");
	static const uint32_t words[] = {
		0x00000000, 0x00ab0000, 0x01000000, 0x01001fff, 0x01010000, 0x01090000, 0x01ff0000,
		0x02050000, 0x02060000, 0x02070000, 0x02080000, 0x02ff0000, 0x10000000, 0x11000000,
		0x12060000, 0x20050000, 0x20060000, 0x20070000, 0xffff0000, 0x00008000,
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct fx x;

		busy(&x);
		in(&x, TERM_SEGMENT "%w", words[i]);
		all_flushed(&x);
		the_peer_gave_up(&x, false);
		fx_stop(&x);
	}
	/* zeros instead of absent headers */
	{
		struct fx x;

		busy(&x);
		in(&x, TERM_SEGMENT
		   "00000000 0000 0000000000000000"
		   "00000000000000000000 00000000000000000000000000000000000000000000000000000000");
		all_flushed(&x);
		the_peer_gave_up(&x, false);
		fx_stop(&x);
	}
}

/* The request that the Terminate names completes with the error. */
static void the_request_at_fault_is_told(void **state)
{
	ROWS("5040-4.8-05 5040-5.4-04 5040-6.2.1-02");
	struct fx x;

	busy(&x);
	in(&x,
	   TERM_SEGMENT "0101E000 002E"
			"  41 41 00000000  00000001 00000001 00000000"
			"  %w %q 0000000A 00000099 0000000000001000",
	   x.stag, x.base + 4000);
	completions(&x, { 1, IW_WC_REM_ACCESS_ERR }, { 2, IW_WC_WR_FLUSH_ERR },
		    { 3, IW_WC_WR_FLUSH_ERR }, { 4, IW_WC_WR_FLUSH_ERR });
	the_peer_gave_up(&x, true);
	fx_stop(&x);

	busy(&x);
	in(&x, TERM_SEGMENT "1100C000 0202 81 40 00000098 0000000000002000");
	completions(&x, { 1, IW_WC_WR_FLUSH_ERR }, { 2, IW_WC_REM_ACCESS_ERR },
		    { 3, IW_WC_WR_FLUSH_ERR }, { 4, IW_WC_WR_FLUSH_ERR });
	the_peer_gave_up(&x, true);
	fx_stop(&x);

	/* in two segments, of which the first has no effect yet */
	busy(&x);
	in(&x, "01 47 00000000  00000002 00000001 00000000  1100C000 0202 81 40");
	fx_no_event(&x);
	no_completion(&x);
	in(&x, "41 47 00000000  00000002 00000001 00000008  00000098 0000000000002000");
	completions(&x, { 1, IW_WC_WR_FLUSH_ERR }, { 2, IW_WC_REM_ACCESS_ERR },
		    { 3, IW_WC_WR_FLUSH_ERR }, { 4, IW_WC_WR_FLUSH_ERR });
	the_peer_gave_up(&x, true);
	fx_stop(&x);

	/* reserved bits have no effect */
	busy(&x);
	in(&x, TERM_SEGMENT "1101DFFF 0202 81 40 00000098 00000000000021F4");
	completions(&x, { 1, IW_WC_WR_FLUSH_ERR }, { 2, IW_WC_REM_ACCESS_ERR },
		    { 3, IW_WC_WR_FLUSH_ERR }, { 4, IW_WC_WR_FLUSH_ERR });
	the_peer_gave_up(&x, true);
	fx_stop(&x);

	/* a peer without an extension rejects a message of it */
	busy(&x);
	in(&x, TERM_SEGMENT "0206C000 002E"
			    "  41 41 00000000  00000001 00000001 00000000");
	completions(&x, { 1, IW_WC_REM_INV_REQ_ERR }, { 2, IW_WC_WR_FLUSH_ERR },
		    { 3, IW_WC_WR_FLUSH_ERR }, { 4, IW_WC_WR_FLUSH_ERR });
	the_peer_gave_up(&x, true);
	fx_stop(&x);
}

/*
 * A Terminate too short for its control word, or for the parts that its bits name, is an error, but
 * causes no Terminate.
 */
static void terminates_cut_short(void **state)
{
	ROWS("5040-5.4-05");
	uint8_t whole[100];
	size_t n = script_bytes(whole,
				"0101E000 002E  41 41 00000000  00000001 00000001 00000000"
				"  00000000 0000000000000000 0000000A 00000099 0000000000001000");

	for (size_t len = 0; len < n; len++) {
		struct fx x;

		busy(&x);
		in(&x, TERM_SEGMENT "%b", whole, len);
		assert_int_equal(fx_cqe(&x).status, IW_WC_WR_FLUSH_ERR);
		completions(&x, { 2, IW_WC_WR_FLUSH_ERR }, { 3, IW_WC_WR_FLUSH_ERR },
			    { 4, IW_WC_WR_FLUSH_ERR });
		the_peer_gave_up(&x, false);
		fx_stop(&x);
	}
}

/* Opens a session whose QP has no receive, and whose CQ of one entry is full. */
static struct iw_cq *full_cq(struct fx *x)
{
	const struct iw_session_param param = { .ord = 1 };
	struct iw_qp_attr attr;
	struct iw_cq *cq;

	fx_start(x, false);
	iw_qp_free(x->qp);
	cq = iw_cq_new(x->iw, 1, NULL);
	attr = (struct iw_qp_attr){
		.pd = x->pd, .send_cq = cq, .recv_cq = cq, .max_send_wr = 8, .max_send_sge = 1
	};
	assert_int_equal(iw_qp_new(x->iw, &attr, &x->qp), 0);
	assert_int_equal(iw_qp_modify(x->qp, IW_QPS_INIT), 0);
	fx_control(x, SESSION_INITIATE, NULL, 0);
	x->session = fx_event(x, IW_EVENT_INITIATE).session;
	assert_int_equal(iw_session_accept(x->session, x->qp, &param), 0);
	assert_true(fx_pull(x));
	x->acked++;
	script_out_ssn = 1;
	fx_post(x, 1, IW_WR_SEND, x->base, 1, 0, 0, 0);
	out(x, "41 43 ..");
	return cq;
}

static void close_full_cq(struct fx *x, struct iw_cq *cq)
{
	iw_qp_free(x->qp);
	x->qp = NULL;
	iw_cq_free(cq);
	fx_stop(x);
}

/*
 * One Terminate always finds a buffer, even in two segments, whatever the application posted and
 * polled.
 */
static void there_is_always_room_for_one(void **state)
{
	ROWS("5040-5.4-03");
	struct iw_cq *full;
	struct fx x;

	full = full_cq(&x);
	/* Sends that wait for a receive do not block the Terminate */
	in_at(&x, 1, "41 43 00000000  00000000 00000001 00000000 'unexpected'");
	in_at(&x, 3, "41 47 00000000  00000002 00000001 00000002  0000");
	in_at(&x, 2, "01 47 00000000  00000002 00000001 00000000  0207");
	assert_ptr_equal(fx_event(&x, IW_EVENT_QP_FATAL).qp, x.qp);
	assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, -ECONNRESET);
	fx_no_event(&x);
	assert_int_equal(atomic_load(&x.qp->state), IW_QPS_ERR);
	out_end(&x);
	close_full_cq(&x, full);
}

/* A completion without room in the CQ is a local error without a message: no headers. */
static void a_full_cq_ends_the_stream(void **state)
{
	ROWS("5040-4.8-29 5040-4.8-34 5040-7.1-01 5040-7.1-02");
	struct iw_cq *full;
	struct fx x;

	full = full_cq(&x);
	fx_post(&x, 2, IW_WR_SEND, x.base, 1, 0, 0, 0);
	fx_post(&x, 3, IW_WR_SEND, x.base, 1, 0, 0, 0);
	out(&x, "41 43 ..");
	out(&x, TERM_SEGMENT "00000000");
	out_end(&x);
	assert_ptr_equal(fx_event(&x, IW_EVENT_CQ_ERROR).cq, full);
	assert_ptr_equal(fx_event(&x, IW_EVENT_QP_FATAL).qp, x.qp);
	assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, -EPROTO);
	fx_no_event(&x);
	close_full_cq(&x, full);
}

/*
 * A local Terminate is the next message, and the last of RDMAP. The session stays until the peer
 * has the Terminate.
 */
static void ours_is_next_and_last(void **state)
{
	ROWS("5040-5.4-07 5040-6.2.1-01 5040-6.2.1-02 5040-6.2.1-04 5040-7.1-05 5040-7-01");
	struct fx x;

	busy(&x);
	in(&x, READ_SEGMENT("00000001", "00000004 %w %q"), x.stag, x.base);
	in(&x, "C1 40 00000001 0000000000000000 'bad'");
	all_flushed(&x);
	out(&x, TERM_SEGMENT "1100C000 0011 C1 40 00000001 0000000000000000");
	out_end(&x);
	in(&x, "C1 40 00000002 0000000000000000 'bad'");
	in(&x, READ_SEGMENT("00000002", "00000004 %w %q"), x.stag, x.base);
	fx_post(&x, 5, IW_WR_RDMA_WRITE, x.base, 1200, 0x98, 0x2000, 0);
	completions(&x, { 5, IW_WC_WR_FLUSH_ERR });
	silent(&x);
	/* the session stays until all messages are acknowledged, even after the peer's Terminate */
	fx_control(&x, SESSION_TERMINATE, NULL, 0);
	iw_timers(x.iw, x.now += 100 * MSEC);
	assert_non_null(iw_assoc_session(x.assoc, x.sid));
	fx_ack(&x, 4);
	assert_null(iw_assoc_session(x.assoc, x.sid));
	assert_int_equal(iw_assoc_sessions(x.assoc), 0);
	fx_stop(&x);
}

/*
 * A stream with an error does not keep the association open, even if the peer never ends the
 * stream.
 */
static void an_erroneous_stream_counts_no_more(void **state)
{
	ROWS("5040-7-02 5040-7-03 5040-7-04");
	struct fx x;

	busy(&x);
	in(&x, "C1 40 00000001 0000000000000000 'bad'");
	out(&x, "41 47 ..");
	out_end(&x);
	fx_ack(&x, 4);
	assert_int_equal(iw_assoc_sessions(x.assoc), 1);
	in(&x, "C1 40 %w %q 'data'", x.stag, x.base);
	iw_timers(x.iw, x.now += 2000 * MSEC);
	assert_int_equal(iw_assoc_sessions(x.assoc), 0); /* conn/ may shut the association down */
	/* the stream carries no new session before the peer ends this one */
	in(&x, "C1 40 %w %q 'data'", x.stag, x.base);
	fx_control(&x, SESSION_INITIATE, NULL, 0);
	fx_event(&x, IW_EVENT_QP_ACCESS);
	fx_event(&x, IW_EVENT_CLOSED);
	fx_no_event(&x);
	assert_int_equal(x.mem[0], 0);
	fx_stop(&x);
}

/* The association is lost during a read: the read fails, and nothing is sent. */
static void the_association_is_lost(void **state)
{
	ROWS("5040-3.1-07 5040-6.2-01 5040-6.2.1-02");
	static const struct iw_llp_ops llp = { .doorbell = fx_doorbell, .acked = fx_acked };
	struct fx x;

	busy(&x);
	in(&x, "81 42 %w %q 'half '", x.stag, x.base + 4000);
	iw_assoc_lost(x.assoc, -ETIMEDOUT);
	fx_event(&x, IW_EVENT_QP_FATAL);
	assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, -ETIMEDOUT);
	fx_no_event(&x);
	completions(&x, { 1, IW_WC_RETRY_EXC_ERR }, { 2, IW_WC_WR_FLUSH_ERR },
		    { 3, IW_WC_WR_FLUSH_ERR }, { 4, IW_WC_WR_FLUSH_ERR });
	x.assoc = iw_assoc_new(x.iw, &llp, &x, false, 64, 1452);
	fx_stop(&x);
}

/*
 * The application or the peer ends the session: waiting requests are flushed, and no RDMAP
 * Terminate is sent.
 */
static void orderly_ends(void **state)
{
	ROWS("5040-6.2-01");
	struct fx x;

	busy(&x);
	iw_session_close(x.session);
	all_flushed(&x);
	out_end(&x);
	fx_stop(&x);

	busy(&x);
	fx_control(&x, SESSION_TERMINATE, NULL, 0);
	assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, 0);
	all_flushed(&x);
	out_end(&x);
	fx_stop(&x);
}

/* The Terminate waits for a packet with room for the longest Terminate. */
static void ours_needs_room(void **state)
{
	ROWS("5040-7.1-05");
	const size_t least = SESSION_SSN_LEN + DDP_UNTAGGED_LEN + TERM_MAX_LEN;
	struct fx x;

	busy(&x);
	in(&x, "C1 40 00000001 0000000000000000 'bad'");
	assert_false(fx_pull_room(&x, least - 1));
	assert_true(fx_pull_room(&x, least));
	assert_memory_equal(x.out + 2, "\x41\x47", 2);
	script_out_ssn++;
	out_end(&x);
	fx_stop(&x);
}

/* A session that has ended, on the wire and for the application, leaves no state. */
static void an_end_is_forgotten(void **state)
{
	ROWS("5040-6.2-01");
	struct fx x;

	busy(&x);
	fx_control(&x, SESSION_TERMINATE, NULL, 0);
	out_end(&x);
	/* nor do segments after the peer's Terminate */
	in_at(&x, (uint16_t)(x.ssn + 5), "C1 40 %w %q 'late'", x.stag, x.base);
	fx_ack(&x, 3);
	assert_null(iw_assoc_session(x.assoc, x.sid));
	assert_ptr_equal(fx_event(&x, IW_EVENT_CLOSED).qp, x.qp);
	assert_null(iw_rc_of(x.qp)->closed);
	assert_true(list_empty(&x.iw->sessions));
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_terminate_ends_the_stream),
		cmocka_unit_test(the_request_at_fault_is_told),
		cmocka_unit_test(terminates_cut_short),
		cmocka_unit_test(there_is_always_room_for_one),
		cmocka_unit_test(a_full_cq_ends_the_stream),
		cmocka_unit_test(ours_is_next_and_last),
		cmocka_unit_test(ours_needs_room),
		cmocka_unit_test(an_end_is_forgotten),
		cmocka_unit_test(an_erroneous_stream_counts_no_more),
		cmocka_unit_test(the_association_is_lost),
		cmocka_unit_test(orderly_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
