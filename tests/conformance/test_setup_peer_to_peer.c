/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/*
 * The peer-to-peer model (RFC 6581 9.2, 9.3): which side requests which RTR indication, and which
 * side waits for it.
 */
#include "fixture/session_script.h"
#include "iwarp/rnic.h"

#define TERMINATE "41 47 00000000  00000002 00000001 00000000"
#define RTR_SEND "41 43 00000000  00000000 00000001 00000000"
#define RTR_WRITE "C1 40 00000000 0000000000000000"
#define RTR_READ                                                                                   \
	"41 41 00000000  00000001 00000001 00000000"                                               \
	"00000000 0000000000000000 00000000 00000000 0000000000000000"
#define READ_RESPONSE "C1 42 00000000 0000000000000000"

/* Returns the establishment data with these flags, and IRD and ORD 1. */
static uint32_t word(bool peer_to_peer, unsigned int kinds)
{
	return 0x00010001 | (peer_to_peer ? 1u << 31 : 0) | (kinds & IW_RTR_SEND ? 1u << 30 : 0) |
	       (kinds & IW_RTR_WRITE ? 1u << 15 : 0) | (kinds & IW_RTR_READ ? 1u << 14 : 0);
}

/* ---- the initiator ---- */

/* Each request for an RTR indication (0: none), with each Accept. */
static void what_comes_of_an_accept(void **state)
{
	ROWS("6581-5-01 6581-5-02 6581-8-04 6581-8-05 6581-9.2-01 6581-9.2-05 6581-9.2-06 "
	     "6581-9.2-12 6581-9.2-14 6581-9.2-15 6581-9.2-16 6581-9.2-18 6581-9.2-20 6581-9.3-01");
	struct iw_session_param p = session_param(1, 1, "");
	struct fx x;

	for (unsigned int i = 0; i < 8 * 16; i++) {
		unsigned int asked = i / 16, answered = i & 7;
		unsigned int common = (asked ? asked : IW_RTR_ANY) & answered;
		bool a = i & 8;

		p.rtr = (uint8_t)asked;
		fx_start(&x, true);
		call(&x, &p);
		fx_post(&x, 1, IW_WR_SEND, x.base, 1, 0, 0, 0); /* before the answer */
		hears(&x, CONTROL, "0000 0005 %w", word(asked, asked));
		assert_false(fx_pull(&x));
		says(&x, CONTROL, "0000 0006 %w", word(a, answered));
		if (asked ? !a || !common : a && !common) {
			hears(&x, SEGMENT, "0001 " TERMINATE "2007 0000");
			hears(&x, CONTROL, "0002 0004");
			assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, -EPROTO);
			completions(&x, { 1, IW_WC_WR_FLUSH_ERR });
		} else {
			unsigned int send_msn = 1;

			fx_event(&x, IW_EVENT_ACCEPT);
			if (a)
				hears(&x, SEGMENT,
				      common & IW_RTR_WRITE ? "0001 " RTR_WRITE :
				      common & IW_RTR_READ  ? "0001 " RTR_READ :
							      "0001 " RTR_SEND);
			send_msn += a && common == IW_RTR_SEND;
			fx_post(&x, 2, IW_WR_SEND, x.base, 1, 0, 0, 0); /* directly after it */
			hears(&x, SEGMENT,
			      a ? "0002 41 43 00000000  00000000 %w 00000000 .." :
				  "0001 41 43 00000000  00000000 %w 00000000 ..",
			      send_msn);
			hears(&x, SEGMENT,
			      a ? "0003 41 43 00000000  00000000 %w 00000000 .." :
				  "0002 41 43 00000000  00000000 %w 00000000 ..",
			      send_msn + 1);
			completions(&x, { 1, IW_WC_SUCCESS }, { 2, IW_WC_SUCCESS });
		}
		assert_false(fx_pull(&x));
		fx_no_event(&x);
		fx_stop(&x);
	}
}

/* A peer without enhanced messages gets a plain Initiate: over SCTP either side may begin. */
static void a_peer_without_it(void **state)
{
	ROWS("6581-10-06");
	struct iw_session_param p = session_param(1, 1, "ulp");
	struct fx x;

	p.rtr = IW_RTR_WRITE;
	fx_start(&x, true);
	call(&x, &p);
	hears(&x, CONTROL, "0000 0005 %w 'ulp'", word(true, IW_RTR_WRITE));
	says(&x, CONTROL, "0000 0004");
	x.sid = 2;
	hears(&x, CONTROL, "0000 0001 'ulp'");
	says(&x, CONTROL, "0000 0002");
	fx_event(&x, IW_EVENT_ACCEPT);
	assert_false(fx_pull(&x));
	fx_post(&x, 1, IW_WR_SEND, x.base, 1, 0, 0, 0);
	hears(&x, SEGMENT, "0001 41 43 00000000  00000000 00000001 ..");
	fx_stop(&x);
}

/* ---- the responder ---- */

/* The peer requests an indication of these kinds, and the local application accepts. */
static void called(struct fx *x, unsigned int kinds)
{
	struct iw_session_param p = session_param(1, 1, "");
	unsigned int sure = kinds == IW_RTR_SEND ? kinds : kinds & ~IW_RTR_SEND;

	fx_start(x, false);
	says(x, CONTROL, "0000 0005 %w", word(true, kinds));
	accept_call(x, &p);
	hears(x, CONTROL, "0000 0006 %w", word(true, sure ? sure : IW_RTR_WRITE | IW_RTR_READ));
	fx_ack(x, 1);
	assert_true(iw_session_awaits_rtr(x->session));
}

/* The QP keeps the posted requests until the RTR indication arrives. */
static void the_responder_waits(void **state)
{
	ROWS("6581-7-18 6581-9.1-09 6581-9.2-02 6581-9.2-03 6581-9.2-04 6581-9.2-07 6581-9.2-08 "
	     "6581-9.2-09 6581-9.2-10 6581-9.2-11 6581-9.2-13");
	static const struct {
		unsigned int kinds;
		const char *rtr;
	} cases[] = {
		{ IW_RTR_SEND, "0001 " RTR_SEND }, { IW_RTR_WRITE, "0001 " RTR_WRITE },
		{ IW_RTR_READ, "0001 " RTR_READ }, { IW_RTR_ANY, "0001 " RTR_WRITE },
		{ IW_RTR_ANY, "0001 " RTR_READ },  { IW_RTR_SEND | IW_RTR_READ, "0001 " RTR_READ },
		{ 0, "0001 " RTR_WRITE },
	};
	struct fx x;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool is_read = !strcmp(cases[i].rtr, "0001 " RTR_READ);
		uint32_t msn = cases[i].kinds == IW_RTR_SEND ? 2 : 1;

		called(&x, cases[i].kinds);
		assert_int_equal(iw_qp_modify(x.qp, IW_QPS_RTR), 0); /* as librdmacm does */
		assert_int_equal(x.qp->state, IW_QPS_RTS);
		fx_post_recv(&x, 7, x.base, 8, x.stag);
		fx_post(&x, 1, IW_WR_SEND, x.base + 8, 1, 0, 0, 0);
		fx_post(&x, 2, IW_WR_RDMA_WRITE, x.base + 8, 1, 1, 1, 0);
		assert_false(fx_pull(&x));
		fx_ack(&x, 0); /* time has no effect */
		assert_false(fx_pull(&x));
		fx_no_event(&x);
		no_completion(&x);

		says(&x, SEGMENT, cases[i].rtr);
		assert_ptr_equal(fx_event(&x, IW_EVENT_RTR).session, x.session);
		assert_false(iw_session_awaits_rtr(x.session));
		if (is_read)
			hears(&x, SEGMENT, "0001 " READ_RESPONSE);
		hears(&x, SEGMENT,
		      is_read ? "0002 41 43 00000000  00000000 00000001 .." :
				"0001 41 43 00000000  00000000 00000001 ..");
		hears(&x, SEGMENT, is_read ? "0003 C1 40 00000001 .." : "0002 C1 40 00000001 ..");
		assert_false(fx_pull(&x));
		completions(&x, { 1, IW_WC_SUCCESS }, { 2, IW_WC_SUCCESS });
		/* The indication has used no receive. */
		says(&x, SEGMENT, "0002 41 43 00000000  00000000 %w 00000000 'first'", msn);
		completions(&x, { 7, IW_WC_SUCCESS });
		assert_memory_equal(x.mem, "first", 5);
		fx_no_event(&x);
		fx_stop(&x);
	}
}

/* Messages that overtake the indication are placed and wait. */
static void the_rtr_comes_late(void **state)
{
	ROWS("6581-9.2-02 6581-9.2-03");
	struct fx x;

	for (unsigned int i = 0; i < 4; i++) {
		bool is_send = i & 1;
		uint32_t msn = is_send ? 2 : 1;

		called(&x, is_send ? IW_RTR_SEND : IW_RTR_WRITE);
		x.rnic->config.in_order = i & 2;
		fx_post_recv(&x, 7, x.base, 8, x.stag);
		says(&x, SEGMENT, "0003 41 43 00000000  00000000 %w 00000000 'two'",
		     msn + 1); /* waits for a receive */
		says(&x, SEGMENT, "0002 41 43 00000000  00000000 %w 00000000 'one'", msn);
		fx_no_event(&x);
		no_completion(&x);
		assert_true(iw_session_awaits_rtr(x.session));
		says(&x, SEGMENT, "0005 C1 40 %w %q 'second'", x.stag, x.base + 8);
		says(&x, SEGMENT, "0004 C1 40 %w %q 'first!'", x.stag, x.base + 8);
		says(&x, SEGMENT, is_send ? "0001 " RTR_SEND : "0001 " RTR_WRITE);
		fx_event(&x, IW_EVENT_RTR);
		completions(&x, { 7, IW_WC_SUCCESS });
		assert_memory_equal(x.mem, "one", 3);
		if (x.rnic->config.in_order)
			assert_memory_equal(x.mem + 8, "second", 6);
		fx_post_recv(&x, 8, x.base, 8, x.stag);
		completions(&x, { 8, IW_WC_SUCCESS });
		assert_memory_equal(x.mem, "two", 3);
		fx_no_event(&x);
		fx_stop(&x);
	}
}

/*
 * The indication shows that the Accept has arrived, even if unacknowledged by SCTP. So a Terminate
 * may follow.
 */
static void the_rtr_is_an_answer(void **state)
{
	ROWS("6581-7-16");
	static const struct {
		unsigned int kind;
		const char *rtr;
	} cases[] = { { IW_RTR_SEND, "0001 " RTR_SEND }, { IW_RTR_WRITE, "0001 " RTR_WRITE } };
	struct iw_session_param p = session_param(1, 1, "");
	struct fx x;

	for (size_t i = 0; i < 2; i++) {
		fx_start(&x, false);
		says(&x, CONTROL, "0000 0005 %w", word(true, cases[i].kind));
		accept_call(&x, &p);
		hears(&x, CONTROL, "0000 0006 %w", word(true, cases[i].kind));
		says(&x, SEGMENT, cases[i].rtr);
		fx_event(&x, IW_EVENT_RTR);
		iw_session_close(x.session);
		hears(&x, CONTROL, "0001 0004");
		fx_stop(&x);
	}
}

/* If the indication is not a Send, any first message also serves as the indication. */
static void another_message_first(void **state)
{
	ROWS("6581-9.2-09 6581-12-01");
	struct fx x;

	called(&x, IW_RTR_WRITE | IW_RTR_READ);
	fx_post_recv(&x, 7, x.base, 8, x.stag);
	says(&x, SEGMENT, "0001 41 43 00000000  00000000 00000001 00000000 'data'");
	fx_event(&x, IW_EVENT_RTR);
	completions(&x, { 7, IW_WC_SUCCESS });
	fx_stop(&x);
	called(&x, IW_RTR_READ);
	says(&x, SEGMENT, "0001 C1 40 %w %q 'write'", x.stag, x.base);
	fx_event(&x, IW_EVENT_RTR);
	assert_memory_equal(x.mem, "write", 5);
	fx_stop(&x);
}

/* MSN 1 must be an empty Send. No receive is set aside for another message. */
static void no_rtr_where_it_is_a_send(void **state)
{
	ROWS("6581-8-01 6581-8-04 6581-8-05 6581-9.2-02 6581-12-01");
	static const char *const wrong[] = {
		"0001 41 43 00000000  00000000 00000001 00000000 'data'",
		"0001 41 43 00000000  00000000 00000002 00000000",
		"0001 41 43 00000000  00000000 00000001 00000001",
		"0001 41 43 00000000  00000003 00000001 00000000",
		"0001 01 43 00000000  00000000 00000001 00000000",
		"0001 41 44 00000000  00000000 00000001 00000000",
		"0001 40 43 00000000  00000000 00000001 00000000",
		"0001 41 03 00000000  00000000 00000001 00000000",
		"0001 41 43 00000000  00000000 00000001",
		"0001 " RTR_WRITE,
		"0001 " RTR_READ,
		"0001",
	};
	struct fx x;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]) * 2; i++) {
		called(&x, IW_RTR_SEND);
		fx_post_recv(&x, 7, x.base, 8, x.stag);
		fx_post(&x, 1, IW_WR_SEND, x.base + 8, 1, 0, 0, 0);
		if (i & 1) /* a later message overtakes it */
			says(&x, SEGMENT, "0002 41 43 00000000  00000000 00000002 00000000 'next'");
		fx_no_event(&x);
		says(&x, SEGMENT, wrong[i / 2]);
		hears(&x, SEGMENT, "0001 " TERMINATE "2007 0000");
		hears(&x, CONTROL, "0002 0004");
		assert_false(fx_pull(&x));
		assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, -EPROTO);
		fx_no_event(&x);
		completions(&x, { 1, IW_WC_WR_FLUSH_ERR }, { 7, IW_WC_WR_FLUSH_ERR });
		fx_stop(&x);
	}
}

/* With an SRQ, the messages after the indication get the receives. */
static void the_rtr_takes_none_of_an_srq(void **state)
{
	ROWS("6581-9.2-02");
	struct iw_qp_attr attr = { .max_send_wr = 4, .max_send_sge = 1 };
	struct iw_recv_wqe *w;
	struct iw_srq *srq;
	struct iw_qp *own;
	struct fx x;

	fx_start(&x, false);
	own = x.qp;
	attr.pd = x.pd;
	attr.send_cq = attr.recv_cq = x.cq;
	assert_int_equal(iw_srq_new(x.pd, 4, 1, NULL, &srq), 0);
	attr.srq = srq;
	assert_int_equal(iw_qp_new(x.iw, &attr, &x.qp), 0);
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_INIT), 0);
	w = iw_srq_slot(srq);
	assert_non_null(w);
	w->wr_id = 7;
	w->num_sge = 1;
	w->length = 8;
	w->sge[0] = (struct iw_sge){ x.base, 8, x.stag };
	iw_srq_publish(srq);

	says(&x, CONTROL, "0000 0005 %w", word(true, IW_RTR_SEND));
	accept_call(&x, &(struct iw_session_param){ .ird = 1, .ord = 1, .rnr_retry_count = 7 });
	hears(&x, CONTROL, "0000 0006 %w", word(true, IW_RTR_SEND));
	says(&x, SEGMENT, "0002 41 43 00000000  00000000 00000002 00000000 'one'");
	no_completion(&x);
	says(&x, SEGMENT, "0001 " RTR_SEND);
	fx_event(&x, IW_EVENT_RTR);
	completions(&x, { 7, IW_WC_SUCCESS });
	assert_memory_equal(x.mem, "one", 3);
	assert_int_equal(iw_qp_free(x.qp), 0);
	assert_int_equal(iw_srq_free(srq), 0);
	x.qp = own;
	fx_stop(&x);
}

/* The initiator cannot accept the Accept's request, or ends the session. */
static void the_initiator_gives_up(void **state)
{
	ROWS("6581-8-04 6581-8-05 6581-9.2-15");
	static const unsigned int kinds[] = { IW_RTR_SEND, IW_RTR_WRITE, IW_RTR_READ };
	struct fx x;

	for (size_t i = 0; i < 3 * 2; i++) {
		called(&x, kinds[i / 2]);
		fx_post(&x, 1, IW_WR_SEND, x.base, 1, 0, 0, 0);
		if (i & 1)
			says(&x, SEGMENT, "0001 " TERMINATE "2007 0000");
		else
			says(&x, CONTROL, "0001 0004");
		assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, i & 1 ? -ECONNRESET : 0);
		fx_no_event(&x); /* no event of the QP, which was not connected */
		completions(&x, { 1, IW_WC_WR_FLUSH_ERR });
		hears(&x, CONTROL, "0001 0004");
		assert_false(fx_pull(&x));
		fx_stop(&x);
	}
}

/* The application abandons the session after or before the Accept. */
static void nobody_answers(void **state)
{
	ROWS("6581-8-02 6581-8-05 6581-9.3-02");
	struct iw_session_param p = session_param(1, 1, "");
	struct fx x;

	called(&x, IW_RTR_WRITE);
	fx_post(&x, 1, IW_WR_SEND, x.base, 1, 0, 0, 0);
	iw_session_abandon(x.session);
	hears(&x, SEGMENT, "0001 " TERMINATE "2005 0000");
	hears(&x, CONTROL, "0002 0004");
	assert_false(fx_pull(&x));
	completions(&x, { 1, IW_WC_WR_FLUSH_ERR });
	fx_no_event(&x);
	says(&x, SEGMENT, "0001 " RTR_WRITE); /* too late */
	assert_false(fx_pull(&x));
	fx_no_event(&x);
	fx_stop(&x);

	fx_start(&x, true);
	call(&x, &p);
	hears(&x, CONTROL, "0000 0005 00010001");
	iw_session_abandon(x.session); /* no segment before the Accept */
	fx_ack(&x, 1);
	hears(&x, CONTROL, "0001 0004");
	assert_false(fx_pull(&x));
	fx_no_event(&x);
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_comes_of_an_accept),
		cmocka_unit_test(a_peer_without_it),
		cmocka_unit_test(the_responder_waits),
		cmocka_unit_test(the_rtr_comes_late),
		cmocka_unit_test(the_rtr_is_an_answer),
		cmocka_unit_test(another_message_first),
		cmocka_unit_test(no_rtr_where_it_is_a_send),
		cmocka_unit_test(the_rtr_takes_none_of_an_srq),
		cmocka_unit_test(the_initiator_gives_up),
		cmocka_unit_test(nobody_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
