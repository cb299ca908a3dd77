/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* The messages of a session, and their DDP-SSNs (RFC 5043 5.2, 6, 10). */
#include "fixture/session_script.h"

#include <malloc.h>

/* ---- the DDP-SSNs give the order ---- */

/* Makes the n-th permutation of 0 to count - 1. */
static void permute(unsigned int n, unsigned int count, unsigned int *order)
{
	for (unsigned int i = 0; i < count; i++)
		order[i] = i;
	for (unsigned int i = count; i > 1; i--) {
		unsigned int k = n % i, t = order[k];

		order[k] = order[i - 1];
		order[i - 1] = t;
		n /= i;
	}
}

static bool all_before(const bool *seen, unsigned int n)
{
	while (n--)
		if (!seen[n])
			return false;
	return true;
}

/* An Accept, a Send in two segments, a Write, a Send, a Terminate, in each of the 720 orders. */
static void any_order_of_arrival(void **state)
{
	ROWS("5043-5.2.1-06 5043-6.1-02 5043-6.6-05 5043-10-02 5043-10-03 5043-10-04");
	struct iw_session_param p = session_param(1, 1, "");
	unsigned int order[6];

	for (unsigned int n = 0; n < 720; n++) {
		bool seen[6] = { false };
		struct fx x;

		permute(n, 6, order);
		fx_start(&x, true);
		fx_post_recv(&x, 1, x.base, 8, x.stag);
		fx_post_recv(&x, 2, x.base + 8, 8, x.stag);
		fx_post_recv(&x, 3, x.base + 16, 8, x.stag);
		call(&x, &p);
		hears(&x, CONTROL, "0000 0005 0001 0001");
		fx_ack(&x, 1);
		for (unsigned int i = 0; i < 6; i++) {
			unsigned int done;

			switch (order[i]) {
			case 0:
				says(&x, CONTROL, "0000 0006 0001 0001");
				break;
			case 1:
				says(&x, SEGMENT,
				     "0001 01 43 00000000  00000000 00000001 00000000 'one'");
				break;
			case 2:
				says(&x, SEGMENT,
				     "0002 41 43 00000000  00000000 00000001 00000003 'two'");
				break;
			case 3:
				says(&x, SEGMENT, "0003 C1 40 %w %q 'write'", x.stag, x.base + 32);
				break;
			case 4:
				says(&x, SEGMENT,
				     "0004 41 43 00000000  00000000 00000002 00000000 'three'");
				break;
			case 5:
				says(&x, CONTROL, "0005 0004");
				break;
			}
			seen[order[i]] = true;
			if (all_before(seen, 1) && order[i] == 0)
				fx_event(&x, IW_EVENT_ACCEPT);
			else if (!seen[0])
				fx_no_event(&x);
			done = all_before(seen, 3) + all_before(seen, 5) + all_before(seen, 6);
			assert_int_equal(atomic_load(&x.cq->tail), done);
			assert_int_equal(iw_assoc_sessions(x.assoc), 1);
		}
		completions(&x, { 1, IW_WC_SUCCESS }, { 2, IW_WC_SUCCESS },
			    { 3, IW_WC_WR_FLUSH_ERR });
		assert_memory_equal(x.mem, "onetwo\0\0three\0\0\0", 16);
		assert_memory_equal(x.mem + 32, "write", 5);
		assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, 0);
		hears(&x, CONTROL, "0001 0004");
		fx_stop(&x);
	}
}

/* More than 65536 messages in one session, in both directions. */
static void ssns_wrap(void **state)
{
	ROWS("5043-5.2.1-03 5043-5.2.1-02 5043-10-05");
	struct fx x;

	open_session(&x, 1, 1);
	for (uint32_t i = 1; i <= 65540; i++) {
		uint8_t v = (uint8_t)(i % 251 + 1);

		fx_post(&x, i, IW_WR_RDMA_WRITE, x.base, 1, 0x1234, 0, 0);
		hears(&x, SEGMENT, "%b C1 40 00001234 0000000000000000 ..",
		      (uint8_t[]){ (uint8_t)(i >> 8), (uint8_t)i }, (size_t)2);
		assert_int_equal(fx_cqe(&x).wr_id, i);
		/* in pairs, the second message first */
		x.ssn = (uint16_t)(i % 2 ? i + 1 : i - 1);
		fx_write(&x, x.stag, x.base + 8 + i % 2, &v, 1);
		assert_int_equal(x.mem[8 + i % 2], v);
	}
	fx_no_event(&x);
	fx_post_recv(&x, 1, x.base + 100, 8, x.stag);
	says(&x, SEGMENT, "0005 41 43 00000000  00000000 00000001 00000000 'end'");
	completions(&x, { 1, IW_WC_SUCCESS });
	fx_stop(&x);
}

static void window_of_32767(void **state)
{
	ROWS("5043-10-05 5043-10-10");
	static const uint16_t bases[] = { 1, 0x7fff, 0x8000, 0xfffe, 0xffff, 0 };
	struct fx x;

	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		open_session(&x, 1, 1);
		while (x.ssn != bases[i]) /* the next in order */
			fx_write(&x, x.stag, x.base, "", 1);
		x.ssn = (uint16_t)(bases[i] + 32767);
		fx_write(&x, x.stag, x.base + 1, "later", 5);
		assert_memory_equal(x.mem + 1, "later", 5);
		x.ssn = (uint16_t)(bases[i] + 32768);
		fx_write(&x, x.stag, x.base + 1, "early", 5);
		assert_memory_equal(x.mem + 1, "later", 5);
		x.ssn = (uint16_t)(bases[i] - 1);
		fx_write(&x, x.stag, x.base + 1, "again", 5);
		assert_memory_equal(x.mem + 1, "later", 5);
		assert_false(fx_pull(&x));
		fx_no_event(&x);
		fx_stop(&x);
	}
}

/* A repeated DDP-SSN has no effect, whether the first message is delivered or waits. */
static void nothing_is_taken_twice(void **state)
{
	ROWS("5043-10-10 5043-6.1-02");
	struct fx x;

	open_session(&x, 1, 1);
	fx_post_recv(&x, 1, x.base, 8, x.stag);
	fx_post_recv(&x, 2, x.base + 8, 8, x.stag);
	says(&x, SEGMENT, "0002 C1 40 %w %q 'first'", x.stag, x.base + 32);
	says(&x, SEGMENT, "0002 C1 40 %w %q 'again'", x.stag, x.base + 32);
	says(&x, CONTROL, "0002 0004");
	says(&x, SEGMENT, "0001 41 43 00000000  00000000 00000001 00000000 'once'");
	says(&x, SEGMENT, "0001 41 43 00000000  00000000 00000002 00000000 'more'");
	says(&x, CONTROL, "0000 0001");
	completions(&x, { 1, IW_WC_SUCCESS });
	assert_memory_equal(x.mem + 32, "first", 5);
	assert_false(fx_pull(&x));
	fx_no_event(&x);
	fx_stop(&x);
}

/* Isolated DDP-SSNs take only one table, with a record per message. */
static void far_ssns_cost_little(void **state)
{
	ROWS("5043-10-09");
	struct mallinfo2 before, after;
	struct fx x;

	open_session(&x, 1, 1);
	before = mallinfo2();
	for (uint32_t i = 0; i < 32767; i += 31) {
		x.ssn = (uint16_t)(3 + i * 7919 % 32766);
		fx_write(&x, x.stag, x.base, "x", 1);
	}
	after = mallinfo2();
	assert_true(after.uordblks + after.hblkhd <= before.uordblks + before.hblkhd + 520 * 1024);
	/* no memory on a stream without a session */
	x.sid = 3;
	before = mallinfo2();
	for (x.ssn = 1; x.ssn < 32767; x.ssn += 31)
		fx_write(&x, x.stag, x.base, "x", 1);
	after = mallinfo2();
	assert_true(after.uordblks + after.hblkhd <= before.uordblks + before.hblkhd);
	fx_no_event(&x);
	fx_stop(&x);
}

/* ---- streams ---- */

static void streams_have_their_own_series(void **state)
{
	ROWS("5043-2-03 5043-5.2.1-04 5043-8-01 5043-8-03");
	struct iw_session_param p = session_param(1, 1, "");
	struct iw_qp *first, *second;
	struct fx x;

	fx_start(&x, true);
	first = x.qp;
	second = fx_qp_sized(&x, x.pd, x.cq, 8);
	call(&x, &p);
	hears(&x, CONTROL, "0000 0005 0001 0001");
	x.qp = second;
	call(&x, &p);
	x.sid = 2;
	hears(&x, CONTROL, "0000 0005 0001 0001");
	says(&x, CONTROL, "0000 0006 0001 0001");
	fx_event(&x, IW_EVENT_ACCEPT);
	x.sid = 0;
	says(&x, CONTROL, "0000 0006 0001 0001");
	fx_event(&x, IW_EVENT_ACCEPT);
	/* the first stream waits for its DDP-SSN 1, the second does not */
	x.qp = first;
	fx_post_recv(&x, 1, x.base, 8, x.stag);
	x.qp = second;
	fx_post_recv(&x, 2, x.base + 8, 8, x.stag);
	says(&x, SEGMENT, "0002 41 43 00000000  00000000 00000001 00000000 'unexpected'");
	x.sid = 2;
	says(&x, SEGMENT, "0001 41 43 00000000  00000000 00000001 00000000 'goes'");
	completions(&x, { 2, IW_WC_SUCCESS });
	fx_post(&x, 3, IW_WR_SEND, x.base, 1, 0, 0, 0);
	hears(&x, SEGMENT, "0001 41 43 ..");
	x.qp = first;
	fx_post(&x, 3, IW_WR_SEND, x.base, 1, 0, 0, 0);
	x.sid = 0;
	hears(&x, SEGMENT, "0001 41 43 ..");
	iw_qp_free(second);
	fx_stop(&x);
}

/* Successive sessions on the same stream; the peer calls. */
static void every_session_begins_at_zero(void **state)
{
	ROWS("5043-6.1-01 5043-2-04 5043-6-01 5043-6-03");
	struct iw_session_param p = session_param(1, 1, "");
	struct fx x;

	fx_start(&x, false);
	for (unsigned int i = 0; i < 3; i++) {
		says(&x, CONTROL, "0000 0001");
		accept_call(&x, &p);
		hears(&x, CONTROL, "0000 0002");
		fx_post(&x, 1, IW_WR_SEND, x.base, 1, 0, 0, 0);
		hears(&x, SEGMENT, "0001 41 43 00000000  00000000 00000001 ..");
		fx_cqe(&x);
		fx_ack(&x, 2);
		iw_session_close(x.session);
		hears(&x, CONTROL, "0002 0004");
		says(&x, CONTROL, "0001 0004");
		/* late segments of the same session; the stream is idle */
		says(&x, SEGMENT, "0002 C1 40 %w %q 'x'", x.stag, x.base);
		fx_ack(&x, 1);
		says(&x, SEGMENT, "0003 C1 40 %w %q 'x'", x.stag, x.base);
		assert_int_equal(x.mem[0], 0);
		assert_int_equal(iw_assoc_sessions(x.assoc), 0);
		reuse_qp(&x);
	}
	fx_stop(&x);
}

/*
 * The association has only one stream. It is not used again before both sides have finished with
 * it.
 */
static void a_stream_rests_before_it_is_used_again(void **state)
{
	ROWS("5043-6.6-04 5043-6.1-01");
	struct iw_session_param p = session_param(1, 1, "");
	struct iw_session *s;
	struct fx x;

	fx_start(&x, true);
	iw_assoc_lost(x.assoc, 0);
	x.assoc = iw_assoc_new(x.iw,
			       &(struct iw_llp_ops){ .doorbell = fx_doorbell, .acked = fx_acked },
			       &x, true, 2, 1452);
	for (unsigned int i = 0; i < 3; i++) {
		call(&x, &p);
		hears(&x, CONTROL, "0000 0005 0001 0001");
		says(&x, CONTROL, "0000 0006 0001 0001");
		fx_event(&x, IW_EVENT_ACCEPT);
		iw_session_close(x.session);
		reuse_qp(&x);
		assert_int_equal(iw_session_initiate(x.assoc, x.qp, &p, NULL, &s), -EAGAIN);
		hears(&x, CONTROL, "0001 0004");
		assert_int_equal(iw_session_initiate(x.assoc, x.qp, &p, NULL, &s), -EAGAIN);
		/* acknowledgement and the peer's Terminate, in each order */
		if (i % 2)
			fx_ack(&x, 2);
		else
			says(&x, CONTROL, "0001 0004");
		assert_int_equal(iw_session_initiate(x.assoc, x.qp, &p, NULL, &s), -EAGAIN);
		if (i % 2)
			says(&x, CONTROL, "0001 0004");
		else
			fx_ack(&x, 1); /* only the Initiate, so more is outstanding */
		if (i % 2 == 0) {
			assert_int_equal(iw_session_initiate(x.assoc, x.qp, &p, NULL, &s), -EAGAIN);
			fx_ack(&x, 1);
		}
	}
	/* After a Reject, too, the stream is free once the Initiate is acknowledged. */
	call(&x, &p);
	hears(&x, CONTROL, "0000 0005 0001 0001");
	says(&x, CONTROL, "0000 0007 0000 0000");
	fx_event(&x, IW_EVENT_REJECT);
	assert_int_equal(iw_session_initiate(x.assoc, x.qp, &p, NULL, &s), -EAGAIN);
	fx_ack(&x, 1);
	call(&x, &p);
	hears(&x, CONTROL, "0000 0005 0001 0001");
	fx_stop(&x);
}

/* Neither the peer's Reject nor the local one is answered. */
static void rejected_and_no_more(void **state)
{
	ROWS("5043-6.3-04 5043-6.1-03 5043-5.2.3-04 5043-6.3-03 5043-5.2.3-13 6581-7-19 "
	     "6581-7-04 6581-7-13");
	struct iw_session_param p = session_param(1, 1, "");
	struct iw_event ev;
	struct fx x;

	for (int enhanced = 0; enhanced < 2; enhanced++) {
		fx_start(&x, false);
		says(&x, CONTROL, enhanced ? "0000 0005 0001 0002" : "0000 0001");
		ev = fx_event(&x, IW_EVENT_INITIATE);
		assert_int_equal(iw_session_reject(ev.session, "no", 2), 0);
		hears(&x, CONTROL, enhanced ? "0000 0007 0002 0001 'no'" : "0000 0003 'no'");
		fx_ack(&x, 1);
		assert_false(fx_pull(&x));
		fx_no_event(&x);
		assert_int_equal(iw_assoc_sessions(x.assoc), 0);
		fx_stop(&x);
	}
	fx_start(&x, true);
	call(&x, &p);
	hears(&x, CONTROL, "0000 0005 0001 0001");
	says(&x, CONTROL, "0000 0007 0003 0004 'no'");
	ev = fx_event(&x, IW_EVENT_REJECT);
	assert_memory_equal(ev.param.private_data, "no", 2);
	fx_ack(&x, 1);
	assert_false(fx_pull(&x));
	fx_no_event(&x);
	assert_int_equal(iw_assoc_sessions(x.assoc), 0);
	fx_stop(&x);
}

/* The peer's RDMAP Terminate ends the work, but not the session on the wire. */
static void an_rdmap_terminate_is_a_segment(void **state)
{
	ROWS("5043-6.2-09 5043-6.2-06");
	struct fx x;

	open_session(&x, 1, 1);
	fx_post_recv(&x, 1, x.base, 8, x.stag);
	says(&x, SEGMENT, "0001 41 47 00000000  00000002 00000001 00000000 02060000");
	completions(&x, { 1, IW_WC_WR_FLUSH_ERR });
	fx_event(&x, IW_EVENT_QP_FATAL);
	assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, -ECONNRESET);
	hears(&x, CONTROL, "0001 0004");
	fx_ack(&x, 1);
	assert_int_equal(iw_assoc_sessions(x.assoc), 1);
	says(&x, CONTROL, "0002 0004");
	assert_int_equal(iw_assoc_sessions(x.assoc), 0);
	fx_stop(&x);
}

/* The association ends: nothing is sent on its streams, and every application gets an event. */
static void all_sessions_end_with_the_association(void **state)
{
	ROWS("5043-11.3-02 5043-11.3-03");
	struct iw_session_param p = session_param(1, 1, "");
	struct iw_qp *qp[5];
	struct fx x;

	fx_start(&x, false);
	for (uint16_t i = 0; i < 5; i++) {
		qp[i] = fx_qp_sized(&x, x.pd, x.cq, 8);
		x.sid = i;
		says(&x, CONTROL, "0000 0001");
		x.session = fx_event(&x, IW_EVENT_INITIATE).session;
		assert_int_equal(iw_session_accept(x.session, qp[i], &p), 0);
		iw_session_set_user(x.session, &(struct iw_session_user){ .ctx = qp[i] });
		hears(&x, CONTROL, "0000 0002");
	}
	x.doorbells = 0;
	iw_assoc_lost(x.assoc, -ECONNRESET);
	assert_int_equal(x.doorbells, 0); /* nothing can be sent any more */
	for (unsigned int i = 0; i < 5; i++) {
		struct iw_event ev = fx_event(&x, IW_EVENT_CLOSED);

		assert_int_equal(ev.error, -ECONNRESET);
		assert_ptr_equal(ev.user.ctx, ev.qp);
		assert_int_equal(atomic_load(&ev.qp->state), IW_QPS_ERR);
	}
	fx_no_event(&x);
	for (unsigned int i = 0; i < 5; i++)
		iw_qp_free(qp[i]);
	x.assoc = iw_assoc_new(x.iw, &(struct iw_llp_ops){ .doorbell = fx_doorbell }, &x, false, 4,
			       1500);
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_order_of_arrival),
		cmocka_unit_test(ssns_wrap),
		cmocka_unit_test(window_of_32767),
		cmocka_unit_test(nothing_is_taken_twice),
		cmocka_unit_test(far_ssns_cost_little),
		cmocka_unit_test(streams_have_their_own_series),
		cmocka_unit_test(every_session_begins_at_zero),
		cmocka_unit_test(a_stream_rests_before_it_is_used_again),
		cmocka_unit_test(rejected_and_no_more),
		cmocka_unit_test(an_rdmap_terminate_is_a_segment),
		cmocka_unit_test(all_sessions_end_with_the_association),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
