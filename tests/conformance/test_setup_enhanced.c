/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* WRAP: malloc calloc aligned_alloc */
/* Enhanced connection establishment: IRD, ORD and the RTR indication (RFC 6581 7 to 10). */
#include "fixture/session_script.h"

#define TERMINATE "41 47 00000000  00000002 00000001 00000000"
#define RTR_SEND "0001 41 43 00000000  00000000 00000001 00000000"
#define RTR_WRITE "0001 C1 40 00000000 0000000000000000"

/* Makes one of the next allocations fail (linked with --wrap). */
static bool out_of_memory;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_aligned_alloc(size_t align, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
	return out_of_memory ? NULL : __real_calloc(n, size);
}

void *__wrap_malloc(size_t size)
{
	return out_of_memory ? NULL : __real_malloc(size);
}

void *__wrap_aligned_alloc(size_t align, size_t size)
{
	return out_of_memory ? NULL : __real_aligned_alloc(align, size);
}

static void peer_reads(struct fx *x, uint32_t msn, uint32_t len)
{
	struct rdmap_read_request r = { 0x5151, 0x1000, len, x->stag, x->base };
	uint8_t body[RDMAP_READ_REQ_LEN], m[100];

	rdmap_put_read_request(body, &r);
	fx_feed(x, 16, x->ssn++, m, fx_make_untagged(m, 0x41, 0x41, 0, 1, msn, 0, body, 28));
}

/* Checks that the peer may have exactly ird outstanding reads, and that one more is an error. */
static void expect_ird(struct fx *x, uint32_t ird)
{
	for (uint32_t msn = 1; msn <= ird; msn++)
		peer_reads(x, msn, 1);
	fx_no_event(x);
	peer_reads(x, ird + 1, 1);
	fx_event(x, IW_EVENT_QP_REQUEST);
	fx_event(x, IW_EVENT_CLOSED);
	hears(x, SEGMENT, "0001 " TERMINATE "1202 C000 002E 41 41 ..");
}

/* Checks that exactly ord local reads are outstanding, and that an answer permits the next. */
static void expect_ord(struct fx *x, uint32_t ord)
{
	uint8_t m[32];

	for (uint32_t i = 0; i < ord + 2; i++)
		fx_post(x, i, IW_WR_RDMA_READ, x->base, 1, 1, 1, 0);
	if (!ord) { /* a read makes the session fail */
		while (fx_pull(x))
			assert_int_not_equal(x->out[3], 0x41);
		assert_int_equal(fx_cqe(x).status, IW_WC_LOC_QP_OP_ERR);
		return;
	}
	for (uint32_t i = 0; i < ord; i++) {
		assert_true(fx_pull(x));
		assert_int_equal(x->out[3], 0x41);
		assert_int_equal(get_be32(x->out + 12), i + 1);
	}
	assert_false(fx_pull(x));
	fx_feed(x, 16, x->ssn++, m, fx_make_tagged(m, 0xc1, 0x42, x->stag, x->base, "r", 1));
	assert_true(fx_pull(x));
	assert_int_equal(get_be32(x->out + 12), ord + 1);
	assert_false(fx_pull(x));
}

/* ---- the initiator ---- */

static void what_the_initiator_says(void **state)
{
	ROWS("6581-5-01 6581-7-01 6581-7-02 6581-7-05 6581-7-07 6581-9-01 6581-9-02 6581-9-03 "
	     "6581-9.1-01 6581-9.1-02 6581-9.2-01 6581-9.2-05 6581-9.2-06 6581-9.2-18 "
	     "6581-9.2-20 6581-11-01");
	static const struct {
		uint32_t ird, ord;
		uint8_t rtr;
		const char *initiate;
	} cases[] = {
		{ 5, 7, 0, "0000 0005 0005 0007 'ulp'" },
		{ 0, 0, 0, "0000 0005 0000 0000 'ulp'" },
		{ 128, 1, 0, "0000 0005 0080 0001 'ulp'" },
		{ 4, 8, IW_RTR_ANY, "0000 0005 C004 C008 'ulp'" },
		{ 4, 8, IW_RTR_SEND, "0000 0005 C004 0008 'ulp'" },
		{ 4, 8, IW_RTR_WRITE, "0000 0005 8004 8008 'ulp'" },
		{ 4, 8, IW_RTR_READ, "0000 0005 8004 4008 'ulp'" },
		/* no overflow into the flags */
		{ 0x3fff, 0x10001, 0, "0000 0005 0080 0080 'ulp'" },
		{ 0xffffffff, 0x8000, IW_RTR_ANY, "0000 0005 C080 C080 'ulp'" },
	};
	struct fx x;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct iw_session_param p = session_param(cases[i].ird, cases[i].ord, "ulp");

		p.rtr = cases[i].rtr;
		fx_start(&x, true);
		call(&x, &p);
		hears(&x, CONTROL, cases[i].initiate);
		fx_stop(&x);
	}
}

/* The local offer is IRD 4 and ORD 4. */
static void the_initiator_adapts_to_the_accept(void **state)
{
	ROWS("6581-9.1-06 6581-9.1-12 6581-9.1-13 6581-9.1-18 6581-9.1-20 6581-9.1-22 "
	     "6581-9.2-21 6581-12-01");
	static const struct {
		const char *accept;
		uint32_t shown_ird, shown_ord, ird, ord;
	} cases[] = {
		{ "0000 0006 0004 0004", 4, 4, 4, 4 },
		{ "0000 0006 0001 0006", 1, 6, 6, 1 },
		{ "0000 0006 0000 0000", 0, 0, 4, 0 },
		{ "0000 0006 0009 0001", 9, 1, 4, 4 },
		{ "0000 0006 3FFE 0080", 0x3ffe, 128, 128, 4 },
		{ "0000 0006 3FFF 3FFF", 4, 4, 4, 4 }, /* left to the applications: unchanged */
		{ "0000 0006 3FFF 0007", 4, 7, 7, 4 },
		{ "0000 0006 0002 3FFF", 2, 4, 4, 2 },
		{ "0000 0006 4002 C005", 2, 5, 5, 2 }, /* B, C, D without A */
	};
	struct iw_session_param p = session_param(4, 4, "");
	struct iw_event ev;
	struct fx x;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (int side = 0; side < 2; side++) {
			fx_start(&x, true);
			call(&x, &p);
			hears(&x, CONTROL, "0000 0005 0004 0004");
			says(&x, CONTROL, cases[i].accept);
			ev = fx_event(&x, IW_EVENT_ACCEPT);
			assert_int_equal(ev.param.ird, cases[i].shown_ird);
			assert_int_equal(ev.param.ord, cases[i].shown_ord);
			assert_false(fx_pull(&x)); /* no RTR */
			if (side)
				expect_ird(&x, cases[i].ird);
			else
				expect_ord(&x, cases[i].ord);
			fx_stop(&x);
		}
	}
}

static void accepts_that_cannot_be(void **state)
{
	ROWS("6581-8-01 6581-8-03 6581-8-04 6581-8-05 6581-9.1-14 6581-9.1-15 6581-9.2-15 "
	     "6581-9.2-16 6581-11-01");
	static const struct {
		const char *accept, *terminate;
	} cases[] = {
		{ "0000 0006 0001 0081", "0001 " TERMINATE "2006 0000" },
		{ "0000 0006 0001 3FFE", "0001 " TERMINATE "2006 0000" },
		{ "0000 0006 8001 0001", "0001 " TERMINATE "2007 0000" },
		/* both errors: the depths are checked first */
		{ "0000 0006 8001 0081", "0001 " TERMINATE "2006 0000" },
	};
	struct fx x;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]) * 2; i++) {
		struct iw_session_param p = session_param(1, 1, "");

		p.rtr = i & 1 ? IW_RTR_ANY : 0;
		fx_start(&x, true);
		call(&x, &p);
		fx_post_recv(&x, 7, x.base, 8, x.stag);
		hears(&x, CONTROL, p.rtr ? "0000 0005 C001 C001" : "0000 0005 0001 0001");
		says(&x, CONTROL, cases[i / 2].accept);
		hears(&x, SEGMENT, cases[i / 2].terminate);
		hears(&x, CONTROL, "0002 0004");
		assert_false(fx_pull(&x));
		assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, -EPROTO);
		fx_no_event(&x);
		completions(&x, { 7, IW_WC_WR_FLUSH_ERR });
		fx_stop(&x);
	}
}

static void no_memory_for_the_ird(void **state)
{
	ROWS("6581-8-02 6581-8-05 6581-9.3-02 6581-11-01");
	struct iw_session_param p = session_param(1, 1, "");
	struct fx x;

	fx_start(&x, true);
	call(&x, &p);
	hears(&x, CONTROL, "0000 0005 0001 0001");
	out_of_memory = true;
	assert_int_equal(iw_assoc_receive(x.assoc, 0, 17, (const uint8_t *)"\0\0\0\6\0\1\0\x80", 8),
			 0);
	out_of_memory = false;
	hears(&x, SEGMENT, "0001 " TERMINATE "2005 0000");
	hears(&x, CONTROL, "0002 0004");
	assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, -EPROTO);
	fx_stop(&x);
}

/*
 * Requests take memory as they arise. Without memory, all local requests but one wait. A request of
 * the peer ends the session.
 */
static void no_memory_for_requests(void **state)
{
	const struct rdmap_read_request r = { 0x5151, 0x1000, 1, 1, 1 };
	uint8_t m[32], body[RDMAP_READ_REQ_LEN], request[64];
	struct fx x;
	size_t len;

	fx_passive(&x, 4, 4, 7);
	for (uint32_t i = 0; i < 3; i++)
		fx_post(&x, i, IW_WR_RDMA_READ, x.base, 1, 1, 1, 0);
	out_of_memory = true;
	assert_true(fx_pull(&x));
	assert_false(fx_pull(&x));
	out_of_memory = false;
	fx_feed(&x, 16, x.ssn++, m, fx_make_tagged(m, 0xc1, 0x42, x.stag, x.base, "r", 1));
	assert_int_equal(fx_cqe(&x).status, IW_WC_SUCCESS);
	assert_true(fx_pull(&x));
	assert_true(fx_pull(&x));
	assert_int_equal(get_be32(x.out + 12), 3);

	rdmap_put_read_request(body, &r);
	put_be16(request, x.ssn);
	len = 2 + fx_make_untagged(request + 2, 0x41, 0x41, 0, 1, 1, 0, body, sizeof(body));
	out_of_memory = true;
	assert_int_equal(iw_assoc_receive(x.assoc, x.sid, 16, request, len), 0);
	out_of_memory = false;
	assert_int_equal(fx_event(&x, IW_EVENT_QP_FATAL).qp->num, x.qp->num);
	assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, -EPROTO);
	assert_true(fx_pull(&x));
	assert_memory_equal(x.out + 2, "\x41\x47", 2);
	fx_stop(&x);
}

static void what_a_reject_says_is_shown(void **state)
{
	ROWS("6581-7-10 6581-7-13 6581-9.1-16 6581-9.1-17 6581-12-01");
	static const struct {
		const char *reject;
		uint32_t ird, ord, len;
	} cases[] = {
		{ "0000 0007 0003 0004 'sorry'", 3, 4, 5 },
		{ "0000 0007 C003 C004", 3, 4, 0 },
		{ "0000 0007", 0, 0, 0 }, /* as in the figure */
		{ "0000 0007 3FFF 3FFF", 128, 128, 0 },
	};
	struct iw_session_param p = session_param(1, 1, ""), again = session_param(3, 4, "again");
	struct iw_event ev;
	struct fx x;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fx_start(&x, true);
		call(&x, &p);
		hears(&x, CONTROL, "0000 0005 0001 0001");
		says(&x, CONTROL, cases[i].reject);
		ev = fx_event(&x, IW_EVENT_REJECT);
		assert_int_equal(ev.param.ird, cases[i].ird);
		assert_int_equal(ev.param.ord, cases[i].ord);
		assert_int_equal(ev.param.private_data_len, cases[i].len);
		assert_false(fx_pull(&x));
		call(&x, &again);
		x.sid = 2;
		hears(&x, CONTROL, "0000 0005 0003 0004 'again'");
		says(&x, CONTROL, "0000 0006 0004 0003");
		fx_event(&x, IW_EVENT_ACCEPT);
		fx_stop(&x);
	}
}

/* RTR indications of each kind. Given a choice, the initiator uses the cheapest for the peer. */
static void the_rtr_comes_first(void **state)
{
	ROWS("6581-5-02 6581-9.2-02 6581-9.2-03 6581-9.2-04 6581-9.2-12 6581-9.2-14 "
	     "6581-9.3-01 6581-7-18");
	static const struct {
		const char *accept, *rtr;
		bool is_read;
		uint32_t first_msn; /* of the Sends that follow */
	} cases[] = {
		{ "0000 0006 C001 0001", "0001 41 43 00000000  00000000 00000001 00000000", false,
		  2 },
		{ "0000 0006 8001 8001", "0001 C1 40 00000000 0000000000000000", false, 1 },
		{ "0000 0006 8001 4001",
		  "0001 41 41 00000000  00000001 00000001 00000000"
		  "00000000 0000000000000000 00000000 00000000 0000000000000000",
		  true, 1 },
		{ "0000 0006 C001 8001", "0001 C1 40 00000000 0000000000000000", false, 1 },
		{ "0000 0006 C001 C001", "0001 C1 40 00000000 0000000000000000", false, 1 },
	};
	struct fx x;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct iw_session_param p = session_param(1, 4, "");

		p.rtr = IW_RTR_ANY;
		fx_start(&x, true);
		call(&x, &p);
		hears(&x, CONTROL, "0000 0005 C001 C004");
		fx_post(&x, 1, IW_WR_SEND, x.base, 1, 0, 0, 0); /* before the answer */
		for (unsigned int k = 0; k < 3; k++)
			fx_post(&x, 2, IW_WR_RDMA_READ, x.base + 8, 1, 1, 1, 0);
		assert_false(fx_pull(&x));
		says(&x, CONTROL, cases[i].accept);
		fx_event(&x, IW_EVENT_ACCEPT);
		hears(&x, SEGMENT, cases[i].rtr);
		assert_int_equal(x.out_len, cases[i].is_read	    ? 48 :
					    cases[i].first_msn == 2 ? 20 :
								      16);
		hears(&x, SEGMENT, "0002 41 43 00000000  00000000 %w 00000000 ..",
		      cases[i].first_msn);
		/* IRD 1: one read at a time, the RTR included */
		if (!cases[i].is_read) {
			hears(&x, SEGMENT, "0003 41 41 00000000  00000001 00000001 ..");
		} else {
			assert_false(fx_pull(&x));
			says(&x, SEGMENT, "0001 C1 42 00000000 0000000000000000");
			hears(&x, SEGMENT, "0003 41 41 00000000  00000001 00000002 ..");
		}
		assert_false(fx_pull(&x));
		fx_no_event(&x);
		completions(&x, { 1, IW_WC_SUCCESS });
		fx_stop(&x);
	}
}

/* ---- the responder ---- */

static void what_the_responder_says(void **state)
{
	ROWS("6581-7-01 6581-7-03 6581-7-05 6581-7-07 6581-9-01 6581-9-03 6581-9.1-03 "
	     "6581-9.1-04 6581-9.1-05 6581-9.1-07 6581-9.1-08 6581-9.1-09 6581-9.1-18 "
	     "6581-9.1-19 6581-9.1-21 6581-9.2-01 6581-9.2-07 6581-9.2-08 6581-9.2-09 "
	     "6581-9.2-10 6581-9.2-11 6581-9.2-13 6581-9.2-19 6581-9.2-20 6581-9.2-21 "
	     "6581-10-01 6581-12-01 6581-11-01");
	static const struct {
		const char *initiate;
		uint32_t shown_ird, shown_ord;
		uint32_t ird, ord; /* the application's values */
		const char *accept;
		uint32_t served, open; /* the resulting values */
	} cases[] = {
		{ "0000 0005 0004 0003", 4, 3, 8, 8, "0000 0006 0008 0004", 8, 4 },
		{ "0000 0005 0000 0000", 0, 0, 8, 8, "0000 0006 0008 0000", 8, 0 },
		{ "0000 0005 0001 0003", 1, 3, 8, 8, "0000 0006 0008 0001", 8, 1 },
		{ "0000 0005 0009 0009", 9, 9, 2, 2, "0000 0006 0009 0002", 9, 2 },
		{ "0000 0005 3FFE 3FFE", 0x3ffe, 0x3ffe, 1, 1, "0000 0006 0080 0001", 128, 1 },
		/* left to the applications: the local values do not change */
		{ "0000 0005 0009 3FFF", 9, 128, 4, 4, "0000 0006 3FFF 0004", 4, 4 },
		{ "0000 0005 3FFF 0001", 128, 1, 4, 4, "0000 0006 0004 3FFF", 4, 4 },
		{ "0000 0005 3FFF 3FFF", 128, 128, 4, 4, "0000 0006 3FFF 3FFF", 4, 4 },
		/* A, with each of B, C and D, and with several */
		{ "0000 0005 C002 0002", 2, 2, 2, 2, "0000 0006 C002 0002", 2, 2 },
		{ "0000 0005 8002 8002", 2, 2, 2, 2, "0000 0006 8002 8002", 2, 2 },
		{ "0000 0005 8002 4002", 2, 2, 2, 2, "0000 0006 8002 4002", 2, 2 },
		{ "0000 0005 C002 8002", 2, 2, 2, 2, "0000 0006 8002 8002", 2, 2 },
		{ "0000 0005 8002 C002", 2, 2, 2, 2, "0000 0006 8002 C002", 2, 2 },
		{ "0000 0005 C002 C002", 2, 2, 2, 2, "0000 0006 8002 C002", 2, 2 },
		{ "0000 0005 8002 0002", 2, 2, 2, 2, "0000 0006 8002 C002", 2, 2 },
		/* a read as RTR needs an IRD */
		{ "0000 0005 8002 4000", 2, 0, 0, 2, "0000 0006 8001 4002", 1, 2 },
		/* B, C and D have no effect without A */
		{ "0000 0005 4002 C002", 2, 2, 2, 2, "0000 0006 0002 0002", 2, 2 },
	};
	struct iw_event ev;
	struct fx x;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct iw_session_param p = session_param(cases[i].ird, cases[i].ord, "");

		for (int side = 0; side < 2; side++) {
			fx_start(&x, false);
			says(&x, CONTROL, cases[i].initiate);
			ev = fx_event(&x, IW_EVENT_INITIATE);
			assert_int_equal(ev.param.ird, cases[i].shown_ird);
			assert_int_equal(ev.param.ord, cases[i].shown_ord);
			assert_int_equal(iw_session_accept(ev.session, x.qp, &p), 0);
			hears(&x, CONTROL, cases[i].accept);
			x.session = ev.session;
			if (iw_session_awaits_rtr(ev.session)) {
				says(&x, SEGMENT,
				     cases[i].accept[10] == 'C' ? RTR_SEND : RTR_WRITE);
				fx_event(&x, IW_EVENT_RTR);
			}
			if (side)
				expect_ird(&x, cases[i].served);
			else
				expect_ord(&x, cases[i].open);
			fx_stop(&x);
		}
	}
}

/* The peer's RTR is handled like any message. */
static void an_rtr_of_the_peer(void **state)
{
	ROWS("6581-9.1-09 6581-9.2-03 6581-9.2-04");
	struct iw_session_param p = session_param(0, 0, "");
	struct fx x;

	fx_start(&x, false);
	says(&x, CONTROL, "0000 0005 8001 C000");
	accept_call(&x, &p);
	hears(&x, CONTROL, "0000 0006 8001 C000");
	says(&x, SEGMENT,
	     "0001 41 41 00000000  00000001 00000001 00000000"
	     "00000000 0000000000000000 00000000 00000000 0000000000000000");
	fx_event(&x, IW_EVENT_RTR);
	hears(&x, SEGMENT, "0001 C1 42 00000000 0000000000000000");
	says(&x, SEGMENT, "0002 C1 40 00000000 0000000000000000");
	assert_false(fx_pull(&x));
	fx_no_event(&x);
	no_completion(&x);
	fx_stop(&x);
}

/*
 * But the RTR indication is not a Write of the peer's application. Immediate Data that follows it
 * does not belong to it. After an empty RDMA Write, Immediate Data belongs to that Write.
 */
static void immediate_data_behind_an_rtr(void **state)
{
	ROWS("6581-9.2-03 7306-6-01");
	for (unsigned int with_rtr = 0; with_rtr < 2; with_rtr++) {
		struct iw_session_param p = session_param(1, 1, "");
		struct fx x;

		fx_start(&x, false);
		says(&x, CONTROL, with_rtr ? "0000 0005 8001 8001" : "0000 0005 0001 0001");
		accept_call(&x, &p);
		hears(&x, CONTROL, with_rtr ? "0000 0006 8001 8001" : "0000 0006 0001 0001");
		for (uint32_t msn = 1; msn <= 2; msn++) {
			bool alone = with_rtr && msn == 1;
			struct iw_cqe cqe;
			uint8_t m[26];
			size_t n;

			fx_post_recv(&x, msn, 0, 0, 0);
			fx_feed(&x, 16, x.ssn++, "\xc1\x40\0\0\0\0\0\0\0\0\0\0\0\0", 14);
			n = script_bytes(
				m, "41 48 00000000  00000000 %w 00000000  11223344 00000000", msn);
			fx_feed(&x, 16, x.ssn++, m, n);
			cqe = fx_cqe(&x);
			assert_int_equal(cqe.wr_id, msn);
			assert_int_equal(cqe.flags, IW_WC_WITH_IMM);
			assert_int_equal(cqe.opcode, alone ? IW_WC_RECV : IW_WC_RECV_RDMA_WITH_IMM);
		}
		fx_stop(&x);
	}
}

/* Without the A flag either side may begin. Here the responder sends before a segment arrives. */
static void the_responder_may_send_first(void **state)
{
	ROWS("6581-7-17 6581-7-12 6581-7-16 6581-7-18 6581-7-03");
	struct iw_session_param p = session_param(1, 1, "");
	struct fx x;

	fx_start(&x, false);
	says(&x, CONTROL, "0000 0005 0001 0001");
	accept_call(&x, &p);
	fx_post(&x, 1, IW_WR_SEND, x.base, 1, 0, 0, 0);
	hears(&x, CONTROL, "0000 0006 0001 0001");
	hears(&x, SEGMENT, "0001 41 43 00000000  00000000 00000001 ..");
	fx_ack(&x, 2);
	iw_session_close(x.session);
	hears(&x, CONTROL, "0002 0004");
	says(&x, CONTROL, "0001 0004");
	fx_ack(&x, 1);
	assert_int_equal(iw_assoc_sessions(x.assoc), 0);
	fx_stop(&x);
}

static void a_reject_says_that_it_is_enhanced(void **state)
{
	ROWS("6581-7-04 6581-7-06 6581-7-10 6581-9.2-20 6581-10-01 6581-10-02 6581-7-20");
	static const struct {
		const char *initiate, *reject;
	} cases[] = {
		{ "0000 0001 'ulp'", "0000 0003 'no'" },
		{ "0000 0005 0000 0003 'ulp'", "0000 0007 0003 0000 'no'" },
		{ "0000 0005 4000 C003", "0000 0007 0003 0000 'no'" },
	};
	struct iw_event ev;
	struct fx x;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fx_start(&x, false);
		says(&x, CONTROL, cases[i].initiate);
		ev = fx_event(&x, IW_EVENT_INITIATE);
		assert_int_equal(iw_session_reject(ev.session, "no", 2), 0);
		hears(&x, CONTROL, cases[i].reject);
		fx_stop(&x);
		/* refused without the application: the same for both */
		fx_start(&x, false);
		says(&x, CONTROL, cases[i].initiate);
		iw_session_refuse(fx_event(&x, IW_EVENT_INITIATE).session);
		hears(&x, CONTROL, "0000 0004");
		fx_stop(&x);
	}
}

/* ---- old and new ---- */

/* A session of each kind: only the Initiate and Accept differ. */
static void only_control_messages_differ(void **state)
{
	ROWS("6581-1.2-01 6581-7-16 6581-10-02 6581-10-04 6581-9-05");
	struct iw_session_param p = session_param(1, 1, "yes");
	struct iw_event ev;
	struct fx x;

	for (int enhanced = 0; enhanced < 2; enhanced++) {
		fx_start(&x, false);
		fx_post_recv(&x, 1, x.base, 8, x.stag);
		says(&x, CONTROL,
		     enhanced ? "0000 0005 0001 0001 'eight by'" : "0000 0001 'eight by'");
		ev = fx_event(&x, IW_EVENT_INITIATE);
		assert_int_equal(ev.param.private_data_len, 8);
		assert_memory_equal(ev.param.private_data, "eight by", 8);
		x.session = ev.session;
		assert_int_equal(iw_session_accept(ev.session, x.qp, &p), 0);
		hears(&x, CONTROL, enhanced ? "0000 0006 0001 0001 'yes'" : "0000 0002 'yes'");
		says(&x, SEGMENT, "0001 41 43 00000000  00000000 00000001 00000000 'send'");
		says(&x, SEGMENT, "0002 C1 40 %w %q 'write'", x.stag, x.base + 8);
		fx_post(&x, 2, IW_WR_SEND, x.base, 4, 0, 0, 0);
		fx_post(&x, 3, IW_WR_RDMA_WRITE, x.base + 8, 5, 0x77, 0x88, 0);
		hears(&x, SEGMENT, "0001 41 43 00000000  00000000 00000001 00000000 'send'");
		hears(&x, SEGMENT, "0002 C1 40 00000077 0000000000000088 'write'");
		iw_session_close(x.session);
		hears(&x, CONTROL, "0003 0004");
		fx_stop(&x);
	}
}

/* After a Terminate, the initiator sends a plain Initiate on another stream, once. */
static void a_peer_that_is_not_enhanced(void **state)
{
	ROWS("6581-10-06 5043-5.2.3-02 5043-6.2-01 6581-7-20");
	struct iw_session_param p = session_param(3, 4, "ulp");
	struct iw_event ev;
	struct fx x;

	for (int accepted = 0; accepted < 2; accepted++) {
		fx_start(&x, true);
		call(&x, &p);
		hears(&x, CONTROL, "0000 0005 0003 0004 'ulp'");
		says(&x, CONTROL, "0000 0004");
		x.sid = 2;
		hears(&x, CONTROL, "0000 0001 'ulp'");
		if (accepted) {
			says(&x, CONTROL, "0000 0002 'data'");
			ev = fx_event(&x, IW_EVENT_ACCEPT);
			assert_int_equal(ev.param.private_data_len, 4);
		} else {
			says(&x, CONTROL, "0000 0004");
			assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, -ECONNREFUSED);
			fx_ack(&x, 2);
			assert_int_equal(iw_assoc_sessions(x.assoc), 0);
		}
		assert_false(fx_pull(&x));
		fx_stop(&x);
	}
}

/* A peer that has sent an enhanced message refuses deliberately: no plain Initiate follows. */
static void a_peer_that_is_enhanced(void **state)
{
	ROWS("6581-10-06 5043-5.2.3-02");
	struct iw_session_param p = session_param(3, 4, "ulp");
	struct fx x;

	for (int asks = 0; asks < 2; asks++) {
		fx_start(&x, true);
		if (asks) {
			x.sid = 1;
			says(&x, CONTROL, "0000 0005 0001 0001");
			assert_int_equal(iw_session_reject(fx_event(&x, IW_EVENT_INITIATE).session,
							   NULL, 0),
					 0);
			hears(&x, CONTROL, "0000 0007 0001 0001");
		} else {
			call(&x, &p);
			hears(&x, CONTROL, "0000 0005 0003 0004 'ulp'");
			says(&x, CONTROL, "0000 0007 0003 0004");
			fx_event(&x, IW_EVENT_REJECT);
		}
		x.sid = asks ? 0 : 2;
		call(&x, &p);
		hears(&x, CONTROL, "0000 0005 0003 0004 'ulp'");
		says(&x, CONTROL, "0000 0004");
		assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, -ECONNREFUSED);
		assert_false(fx_pull(&x));
		fx_stop(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_initiator_says),
		cmocka_unit_test(the_initiator_adapts_to_the_accept),
		cmocka_unit_test(accepts_that_cannot_be),
		cmocka_unit_test(no_memory_for_the_ird),
		cmocka_unit_test(no_memory_for_requests),
		cmocka_unit_test(what_a_reject_says_is_shown),
		cmocka_unit_test(the_rtr_comes_first),
		cmocka_unit_test(what_the_responder_says),
		cmocka_unit_test(an_rtr_of_the_peer),
		cmocka_unit_test(immediate_data_behind_an_rtr),
		cmocka_unit_test(the_responder_may_send_first),
		cmocka_unit_test(a_reject_says_that_it_is_enhanced),
		cmocka_unit_test(only_control_messages_differ),
		cmocka_unit_test(a_peer_that_is_not_enhanced),
		cmocka_unit_test(a_peer_that_is_enhanced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
