/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* The messages of a session, and their DDP-SSNs (RFC 5043 5.2, 6, 10). */
#include "fixture/session_script.h"

#include <malloc.h>

#define READ_REQUEST "41 41 00000000  00000001 00000001 00000000"

/* ---- local messages ---- */

static void one_series_of_control_and_segments(void **state)
{
	ROWS("5043-4-02 5043-5.2-01 5043-5.2-02 5043-5.2-03 5043-5.2.1-01 5043-5.2.1-02 "
	     "5043-5.2.2-01 5043-5.2.3-03 5043-5.2.3-05 5043-5.2.3-07 5043-5.2.3-12 5043-6-02 "
	     "5043-6.1-01 5043-6.1-03 5043-6.2-02 5043-6.2-03 5043-6.2-06 5043-6.2-07 "
	     "5043-8-01");
	struct iw_session_param p = session_param(1, 1, "20 bytes of private!");
	struct fx x;

	fx_start(&x, false);
	x.sid = 3;
	memcpy(x.mem, "0123456789", 10);
	says(&x, CONTROL, "0000 0001");
	accept_call(&x, &p);
	fx_post(&x, 1, IW_WR_SEND, x.base, 3, 0, 0, 0);
	fx_post(&x, 2, IW_WR_RDMA_WRITE, x.base, 10, 0x1234, 0x10, 0);
	fx_post(&x, 3, IW_WR_RDMA_READ, x.base + 100, 4, 0x1234, 0x20, 0);
	hears(&x, CONTROL, "0000 0002 '20 bytes of private!'");
	hears(&x, SEGMENT, "0001 41 43 00000000  00000000 00000001 00000000 '012'");
	hears(&x, SEGMENT, "0002 C1 40 00001234 0000000000000010 '0123456789'");
	hears(&x, SEGMENT, "0003 " READ_REQUEST "%w %q 00000004 00001234 0000000000000020", x.stag,
	      x.base + 100);
	says(&x, SEGMENT, "0001 C1 42 %w %q 'read'", x.stag, x.base + 100);
	fx_ack(&x, 4);
	iw_session_close(x.session);
	fx_post(&x, 4, IW_WR_SEND, x.base, 3, 0, 0, 0);
	hears(&x, CONTROL, "0004 0004");
	assert_false(fx_pull(&x));
	completions(&x, { 1, IW_WC_SUCCESS }, { 2, IW_WC_SUCCESS }, { 3, IW_WC_SUCCESS },
		    { 4, IW_WC_WR_FLUSH_ERR });
	fx_stop(&x);
}

/* An aborted message leaves no gap in the DDP-SSNs. */
static void no_gap_where_work_is_aborted(void **state)
{
	ROWS("5043-6-02 5043-5.2.1-02 5043-6.2-06 5043-6.2-07");
	struct fx x;

	open_session(&x, 1, 1);
	iw_assoc_set_max_msg(x.assoc, 518);
	fx_post(&x, 1, IW_WR_RDMA_WRITE, x.base, 5000, 0x1234, 0, 0);
	hears(&x, SEGMENT, "0001 81 40 00001234 0000000000000000 ..");
	hears(&x, SEGMENT, "0002 81 40 00001234 00000000000001F4 ..");
	fx_ack(&x, 2);
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_ERR), 0);
	hears(&x, CONTROL, "0003 0004");
	assert_false(fx_pull(&x));
	assert_int_equal(fx_cqe(&x).status, IW_WC_WR_FLUSH_ERR);
	fx_stop(&x);
}

/* A QP sends nothing before its session is accepted. */
static void no_segment_before_the_accept(void **state)
{
	ROWS("5043-2-01 5043-6.2-01 5043-6.2-03 5043-6.6-02 5043-11.1-05");
	struct iw_session_param p = session_param(1, 1, "");
	struct fx x;

	fx_start(&x, true);
	fx_post(&x, 1, IW_WR_SEND, x.base, 1, 0, 0, 0);
	assert_false(fx_pull(&x));
	call(&x, &p);
	hears(&x, CONTROL, "0000 0005 0001 0001");
	assert_false(fx_pull(&x));
	fx_ack(&x, 1); /* the Initiate's acknowledgement is not enough */
	assert_false(fx_pull(&x));
	says(&x, CONTROL, "0000 0006 0001 0001");
	fx_event(&x, IW_EVENT_ACCEPT);
	hears(&x, SEGMENT, "0001 41 43 ..");
	fx_stop(&x);
}

static void the_answer_proves_that_the_initiate_arrived(void **state)
{
	ROWS("5043-6.6-03 5043-6.6-01");
	struct iw_session_param p = session_param(1, 1, "");
	struct fx x;

	fx_start(&x, true);
	call(&x, &p);
	hears(&x, CONTROL, "0000 0005 0001 0001");
	says(&x, CONTROL, "0000 0006 0001 0001"); /* not acknowledged by SCTP */
	fx_event(&x, IW_EVENT_ACCEPT);
	fx_post(&x, 1, IW_WR_SEND, x.base, 1, 0, 0, 0);
	hears(&x, SEGMENT, "0001 41 43 ..");
	iw_session_close(x.session);
	hears(&x, CONTROL, "0002 0004");
	fx_stop(&x);
}

static void a_terminate_overtakes_neither_initiate_nor_accept(void **state)
{
	ROWS("5043-6.6-01 5043-6.2-06");
	struct iw_session_param p = session_param(1, 1, "");
	struct fx x;

	fx_start(&x, true);
	call(&x, &p);
	hears(&x, CONTROL, "0000 0005 0001 0001");
	iw_session_close(x.session);
	fx_ack(&x, 0);
	assert_false(fx_pull(&x));
	fx_ack(&x, 1);
	hears(&x, CONTROL, "0001 0004");
	fx_stop(&x);

	fx_start(&x, false);
	says(&x, CONTROL, "0000 0001");
	accept_call(&x, &p);
	hears(&x, CONTROL, "0000 0002");
	fx_post(&x, 1, IW_WR_SEND, x.base, 1, 0, 0, 0);
	hears(&x, SEGMENT, "0001 41 43 ..");
	iw_session_close(x.session);
	fx_ack(&x, 0);
	assert_false(fx_pull(&x));
	fx_ack(&x, 1); /* the Accept only */
	hears(&x, CONTROL, "0002 0004");
	fx_stop(&x);
}

/*
 * The RDMAP Terminate is sent first, and then the session Terminate. The other session continues.
 */
static void rdmap_terminate_then_session_terminate(void **state)
{
	ROWS("5043-6.2-08 5043-6.2-06 5043-11.3-04 5043-11.3-05 5043-2-05 5043-6-06");
	struct iw_session_param p = session_param(1, 1, "");
	struct iw_qp *second;
	struct iw_pd *pd;
	struct iw_mr *mr;
	struct fx x;
	uint8_t mem[16] = { 0 };

	for (int other_pd = 0; other_pd < 2; other_pd++) {
		uint32_t stag = 0xdead00;

		open_session(&x, 1, 1);
		second = fx_qp_sized(&x, x.pd, x.cq, 8);
		x.sid = 7;
		says(&x, CONTROL, "0000 0001");
		assert_int_equal(
			iw_session_accept(fx_event(&x, IW_EVENT_INITIATE).session, second, &p), 0);
		hears(&x, CONTROL, "0000 0002");
		x.sid = FX_SID;
		pd = iw_pd_new(x.rnic, NULL);
		assert_int_equal(iw_mr_new(pd, (uintptr_t)mem, 16, 0,
					   IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_WRITE, NULL,
					   &mr),
				 0);
		if (other_pd)
			stag = iw_mr_stag(mr);
		says(&x, SEGMENT, "0001 C1 40 %w 0000000000000000 'x'", stag);
		hears(&x, SEGMENT,
		      "0001 41 47 00000000  00000002 00000001 00000000"
		      "11 %b C000 000F C1 40 %w 0000000000000000",
		      other_pd ? "\2" : "\0", (size_t)1, stag);
		hears(&x, CONTROL, "0002 0004");
		assert_false(fx_pull(&x));
		assert_int_equal(mem[0], 0);
		fx_event(&x, IW_EVENT_QP_ACCESS);
		fx_event(&x, IW_EVENT_CLOSED);
		x.sid = 7;
		says(&x, SEGMENT, "0001 C1 40 %w %q 'alive'", x.stag, x.base);
		assert_memory_equal(x.mem, "alive", 5);
		assert_int_equal(atomic_load(&second->state), IW_QPS_RTS);
		iw_mr_free(mr);
		assert_int_equal(iw_pd_free(pd), 0);
		iw_qp_free(second);
		fx_stop(&x);
	}
}

/* A segment is never longer than SCTP's maximum, however much room is available. */
static void no_segment_above_the_maximum(void **state)
{
	ROWS("5043-9-08 5043-9-02 5043-2-06 5043-9-03");
	static const struct {
		size_t max, longest;
	} cases[] = { { 1444, 1444 }, { 8944, 8020 }, { 700, 700 }, { 518, 516 }, { 100, 516 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t longest = 0;
		struct fx x;

		open_session(&x, 1, 1);
		iw_assoc_set_max_msg(x.assoc, cases[i].max);
		fx_post(&x, 1, IW_WR_RDMA_WRITE, x.base, 8000, 0x1234, 0, 0);
		fx_post(&x, 2, IW_WR_SEND, x.base, 8000, 0, 0, 0);
		while (fx_pull_room(&x, sizeof(x.out)))
			longest = x.out_len > longest ? x.out_len : longest;
		completions(&x, { 1, IW_WC_SUCCESS }, { 2, IW_WC_SUCCESS });
		assert_int_equal(longest, cases[i].longest);
		fx_stop(&x);
	}
}

/* ---- the peer's messages ---- */

static void lengths_come_from_the_user_message(void **state)
{
	ROWS("5043-5.2.2-02 5043-5.2.2-01");
	struct fx x;

	open_session(&x, 1, 1);
	fx_post_recv(&x, 1, x.base, 100, x.stag);
	says(&x, SEGMENT, "0001 41 43 00000000  00000000 00000001 00000000 '5byte'");
	assert_int_equal(fx_cqe(&x).byte_len, 5);
	says(&x, SEGMENT, "0002 C1 40 %w %q '7 bytes'", x.stag, x.base + 8);
	assert_memory_equal(x.mem,
			    "5byte\0\0\0"
			    "7 bytes\0",
			    16);
	fx_stop(&x);
}

static void private_data_of_every_length(void **state)
{
	ROWS("5043-5.2.3-01 5043-5.2.3-09 5043-5.2.3-10 5043-5.2.3-11 5043-5.2.3-14 6581-7-11 "
	     "6581-7-14 6581-9-04 6581-9-05 6581-7-09");
	static const uint16_t lengths[] = { 0, 1, 3, 4, 7, 8, 255, 256, 507, 508, 509, 511, 512 };
	struct iw_event ev;
	uint8_t data[600];
	struct fx x;

	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 5 + i / 256);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		size_t n = lengths[i];

		fx_start(&x, false);
		says(&x, CONTROL, "0000 0001 %b", data, n);
		ev = fx_event(&x, IW_EVENT_INITIATE);
		assert_int_equal(ev.param.private_data_len, n);
		assert_memory_equal(ev.param.private_data, data, n);
		x.sid = 3;
		says(&x, CONTROL, "0000 0005 0001 0001 %b", data, n);
		if (n <= 508) {
			ev = fx_event(&x, IW_EVENT_INITIATE);
			assert_int_equal(ev.param.private_data_len, n);
			assert_memory_equal(ev.param.private_data, data, n);
		} else {
			hears(&x, CONTROL, "0000 0004");
		}
		fx_no_event(&x);
		assert_false(fx_pull(&x));
		fx_stop(&x);
	}
	for (size_t n = 513; n < 520; n++) {
		fx_start(&x, false);
		says(&x, CONTROL, "0000 0001 %b", data, n);
		hears(&x, CONTROL, "0000 0004");
		fx_no_event(&x);
		fx_stop(&x);
	}
}

static void private_data_of_every_answer(void **state)
{
	ROWS("5043-5.2.3-06 5043-5.2.3-07 5043-5.2.3-08 5043-5.2.3-10 5043-5.2.3-14 6581-7-04 "
	     "6581-7-08 6581-7-09 6581-7-11 6581-7-14 6581-9-04 6581-10-01 6581-10-02");
	static const uint16_t lengths[] = { 0, 1, 10, 255, 256, 508 };
	/* Accept, Reject, and their enhanced forms: function code and establishment data */
	static const char *const answer[] = { "0002", "0003", "0006 0001 0001", "0007 0001 0001" };
	struct iw_session_param p = session_param(1, 1, "");
	struct iw_event ev;
	struct fx x;

	memset(p.private_data, 'd', sizeof(p.private_data));
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]) * 4; i++) {
		bool enhanced = i & 2, reject = i & 1;
		uint8_t data[520], head[16];
		size_t n = lengths[i / 4], head_len = script_bytes(head, answer[i % 4]);

		p.private_data_len = lengths[i / 4];
		memset(data, 'd', sizeof(data));
		/* the peer calls */
		fx_start(&x, false);
		says(&x, CONTROL, enhanced ? "0000 0005 0001 0001" : "0000 0001");
		ev = fx_event(&x, IW_EVENT_INITIATE);
		if (reject)
			assert_int_equal(iw_session_reject(ev.session, data, n), 0);
		else
			assert_int_equal(iw_session_accept(ev.session, x.qp, &p), 0);
		hears(&x, CONTROL, "0000 %b %b", head, head_len, data, n);
		fx_stop(&x);
		/* the local side calls, with a plain Initiate if refused */
		fx_start(&x, true);
		call(&x, &p);
		hears(&x, CONTROL, "0000 0005 0001 0001 %b", data, n);
		if (!enhanced) {
			says(&x, CONTROL, "0000 0004");
			x.sid = 2;
			hears(&x, CONTROL, "0000 0001 %b", data, n);
		}
		says(&x, CONTROL, "0000 %b %b", head, head_len, data, n);
		ev = fx_event(&x, reject ? IW_EVENT_REJECT : IW_EVENT_ACCEPT);
		assert_int_equal(ev.param.private_data_len, n);
		assert_memory_equal(ev.param.private_data, data, n);
		fx_stop(&x);
	}
	/* one byte too many */
	p.private_data_len = 509;
	fx_start(&x, true);
	assert_int_equal(iw_session_initiate(x.assoc, x.qp, &p, NULL, &x.session), -EINVAL);
	assert_false(fx_pull(&x));
	fx_stop(&x);
	for (int reject = 0; reject < 2; reject++) {
		fx_start(&x, false);
		says(&x, CONTROL, "0000 0005 0001 0001");
		ev = fx_event(&x, IW_EVENT_INITIATE);
		if (reject)
			assert_int_equal(iw_session_reject(ev.session, p.private_data, 509),
					 -EINVAL);
		else
			assert_int_equal(iw_session_accept(ev.session, x.qp, &p), -EINVAL);
		assert_false(fx_pull(&x));
		fx_stop(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_series_of_control_and_segments),
		cmocka_unit_test(no_gap_where_work_is_aborted),
		cmocka_unit_test(no_segment_before_the_accept),
		cmocka_unit_test(the_answer_proves_that_the_initiate_arrived),
		cmocka_unit_test(a_terminate_overtakes_neither_initiate_nor_accept),
		cmocka_unit_test(rdmap_terminate_then_session_terminate),
		cmocka_unit_test(no_segment_above_the_maximum),
		cmocka_unit_test(lengths_come_from_the_user_message),
		cmocka_unit_test(private_data_of_every_length),
		cmocka_unit_test(private_data_of_every_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
