/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/*
 * STags of one stream (RFC 5041 8.2, RFC 5042 6.1.1): an RNIC has two streams in one Protection
 * Domain, and a memory window bound on the first. A peer on either stream tries permitted and
 * forbidden accesses.
 */
#include "fixture/iw_script.h"
#include "iwarp/mr.h"
#include "iwarp/rc.h"
#include "wire/session.h"

#define READ IW_ACCESS_REMOTE_READ
#define WRITE IW_ACCESS_REMOTE_WRITE
#define FIRST FX_SID
#define SECOND 2

enum { BY_WRITE, BY_READ, BY_INVALIDATE, WAYS };

static struct two {
	struct fx x;
	struct iw_qp *first, *second;
	uint16_t ssn[2], out_ssn[2];
	struct iw_mr *region; /* 100 octets at 1000 */
	struct iw_mw *mw;
	uint32_t stag;
} t;

/* Selects the session whose peer sends, and whose messages are pulled. */
static void on(unsigned int sid)
{
	unsigned int old = t.x.sid == SECOND, now = sid == SECOND;

	t.ssn[old] = t.x.ssn;
	t.out_ssn[old] = script_out_ssn;
	t.x.sid = (uint16_t)sid;
	t.x.ssn = t.ssn[now];
	script_out_ssn = t.out_ssn[now];
	t.x.qp = now ? t.second : t.first;
}

static void post_bind(uint64_t wr_id, uint32_t stag, uint64_t addr, uint64_t len, uint32_t access,
		      uint8_t flags)
{
	struct iw_send_wqe *w = fx_begin(&t.x, wr_id, IW_WR_BIND_MW, 0, 0, stag, addr, flags);

	w->inv_stag = iw_mw_stag(t.mw);
	w->bind.length = len;
	w->bind.lkey = iw_mr_stag(t.region);
	w->bind.access = access;
	fx_publish(&t.x);
}

static void bound(uint32_t access)
{
	struct iw_cqe cqe;

	t.stag = iw_mw_stag(t.mw) ^ 0x5a;
	post_bind(77, t.stag, t.x.base + 1000, 100, access, 0);
	silent(&t.x); /* nothing is sent to the peer */
	cqe = fx_cqe(&t.x);
	assert_int_equal(cqe.wr_id, 77);
	assert_int_equal(cqe.status, IW_WC_SUCCESS);
	assert_int_equal(cqe.opcode, IW_WC_BIND_MW);
}

static void start(enum iw_mw_type type)
{
	struct iw_session_param p = { .ird = 4, .ord = 4 };

	memset(&t, 0, sizeof(t));
	open_session(&t.x, 4, 4);
	t.first = t.x.qp;
	t.second = fx_qp_sized(&t.x, t.x.pd, t.x.cq, 8);
	on(SECOND);
	script_out_ssn = 1;
	fx_control(&t.x, SESSION_INITIATE, NULL, 0);
	assert_int_equal(iw_session_accept(fx_event(&t.x, IW_EVENT_INITIATE).session, t.second, &p),
			 0);
	assert_true(fx_pull(&t.x));
	t.x.acked++;
	on(FIRST);
	assert_int_equal(iw_mr_new(t.x.pd, t.x.base + 1000, 100, t.x.base + 1000,
				   IW_ACCESS_LOCAL_WRITE | IW_ACCESS_MW_BIND, NULL, &t.region),
			 0);
	assert_int_equal(iw_mw_new(t.x.pd, type, &t.mw), 0);
}

static void finish(void)
{
	t.x.qp = t.first;
	iw_qp_free(t.second);
	iw_mw_free(t.mw);
	assert_int_equal(iw_mr_free(t.region), 0);
	fx_stop(&t.x);
}

static void attempt(unsigned int way, uint64_t to, uint32_t len)
{
	static const uint8_t data[200] = { 0x66, 0x66 };

	switch (way) {
	case BY_WRITE:
		in(&t.x, "c1 40 %w %q %b", t.stag, to, data, (size_t)len);
		break;
	case BY_READ:
		in(&t.x, "41 41 00000000  00000001 %w 00000000  00000009 0000000000000000 %w %w %q",
		   iw_rc_of(t.x.qp)->irq.tail, len, t.stag, to);
		break;
	case BY_INVALIDATE:
		fx_post_recv(&t.x, 1, t.x.base, 16, t.x.stag);
		in(&t.x, "41 44 %w  00000000 00000001 00000000", t.stag);
		break;
	}
}

static void succeeds(unsigned int way, uint64_t to, uint32_t len)
{
	struct iw_cqe cqe;

	attempt(way, to, len);
	switch (way) {
	case BY_WRITE:
		assert_int_equal(t.x.mem[to - t.x.base], 0x66);
		silent(&t.x);
		break;
	case BY_READ:
		out(&t.x, "c1 42 00000009 0000000000000000 %b", t.x.mem + (to - t.x.base),
		    (size_t)len);
		break;
	case BY_INVALIDATE:
		cqe = fx_cqe(&t.x);
		assert_int_equal(cqe.status, IW_WC_SUCCESS);
		assert_int_equal(cqe.flags, IW_WC_WITH_INV);
		assert_int_equal(cqe.inv_stag, t.stag);
		break;
	}
}

/*
 * Checks that an access fails: the stream ends with this error, the event names the stream's QP,
 * and memory is unchanged.
 */
static void fails(unsigned int way, uint64_t to, uint32_t len, uint16_t error)
{
	uint8_t before[FX_MEM], number[2] = { (uint8_t)(error >> 8), (uint8_t)error };
	struct iw_event ev;

	memcpy(before, t.x.mem, FX_MEM);
	attempt(way, to, len);
	out(&t.x, "41 47 00000000  00000002 00000001 00000000  %b ..", number, (size_t)2);
	ev = fx_event(&t.x, IW_EVENT_QP_ACCESS);
	assert_ptr_equal(ev.qp, t.x.qp);
	fx_event(&t.x, IW_EVENT_CLOSED);
	assert_int_equal(atomic_load(&t.x.qp->state), IW_QPS_ERR);
	assert_memory_equal(t.x.mem, before, FX_MEM);
	fx_ack(&t.x, 1);
	out_end(&t.x);
}

/* Each access with the STag is permitted on its own stream only. */
static void one_stream(void **state)
{
	static const uint16_t errors[] = { 0x1102, 0x0103, 0x0109 };

	ROWS("5041-7.2-05 5041-8.2-03 5041-8.2-06 5041-8.3-04 5041-8.3-06 5041-8.3.1-03 5042-2.2.5-01 "
	     "5042-6.1.1-04 5042-3-03");
	for (unsigned int way = 0; way < WAYS; way++) {
		start(IW_MW_TYPE_2);
		bound(READ | WRITE);
		on(SECOND);
		fails(way, t.x.base + 1000, 4, errors[way]);
		if (way == BY_INVALIDATE)
			completions(&t.x, { 1, IW_WC_WR_FLUSH_ERR });
		on(FIRST); /* the first stream and its window continue */
		assert_int_equal(atomic_load(&t.first->state), IW_QPS_RTS);
		succeeds(BY_READ, t.x.base + 1000, 100);
		succeeds(BY_WRITE, t.x.base + 1099, 1);
		succeeds(BY_INVALIDATE, 0, 0);
		fails(BY_READ, t.x.base + 1000, 1, 0x0100);
		finish();
	}
}

/* A type 1 window serves all streams of the domain, so no peer can invalidate it. */
static void whole_domain(void **state)
{
	ROWS("5041-8.3-02 5042-2.2.5-01 5042-6.4.5-01");
	for (unsigned int sid = FIRST; sid <= SECOND; sid += SECOND - FIRST) {
		start(IW_MW_TYPE_1);
		bound(READ | WRITE);
		on(SECOND);
		succeeds(BY_WRITE, t.x.base + 1000, 4);
		succeeds(BY_READ, t.x.base + 1000, 100);
		on(FIRST);
		succeeds(BY_READ, t.x.base + 1000, 100);
		on(sid);
		fails(BY_INVALIDATE, 0, 0, 0x0109);
		completions(&t.x, { 1, IW_WC_WR_FLUSH_ERR });
		on(sid == FIRST ? SECOND : FIRST);
		succeeds(BY_READ, t.x.base + 1000, 100);
		finish();
	}
}

/* The bind sets rights and bounds, whatever the rights of the region. */
static void rights_and_bounds(void **state)
{
	static const struct {
		uint32_t access;
		unsigned int way;
		int64_t at;
		uint32_t len;
		uint16_t error;
	} cases[] = {
		{ READ, BY_WRITE, 0, 1, 0x1100 },
		{ WRITE, BY_READ, 0, 1, 0x0102 },
		{ 0, BY_READ, 0, 1, 0x0102 },
		{ 0, BY_WRITE, 0, 1, 0x1100 },
		{ READ | WRITE, BY_WRITE, -1, 1, 0x1101 },
		{ READ | WRITE, BY_READ, -1, 2, 0x0101 },
		{ READ | WRITE, BY_WRITE, 99, 2, 0x1101 },
		{ READ | WRITE, BY_READ, 0, 101, 0x0101 },
		{ READ | WRITE, BY_WRITE, 100, 1, 0x1101 },
	};

	ROWS("5041-8.3-02 5041-8.3.1-04 5041-8.3.1-06 5042-6.2.1-01 5042-6.3.1-01 5042-6.3.5-01");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		start(IW_MW_TYPE_2);
		bound(cases[i].access);
		if (cases[i].access & READ)
			succeeds(BY_READ, t.x.base + 1000, 100);
		fails(cases[i].way, t.x.base + 1000 + (uint64_t)cases[i].at, cases[i].len,
		      cases[i].error);
		finish();
	}
}

/*
 * LOCAL_INV, the end of the stream, or a new bind revokes a window. After the completion, access
 * fails.
 */
static void revoked(void **state)
{
	enum { LOCAL_INV, REBOUND, UNBOUND, HOW };
	uint64_t to;

	ROWS("5041-8.3-02 5041-8.3-03 5041-8.3.1-05 5041-8.3.1-07 5042-6.2.2-01 5042-6.3.3-01");
	for (unsigned int how = 0; how < HOW; how++) {
		for (unsigned int way = BY_WRITE; way <= BY_READ; way++) {
			start(how == LOCAL_INV ? IW_MW_TYPE_2 : IW_MW_TYPE_1);
			bound(READ | WRITE);
			to = t.x.base + 1000;
			succeeds(way, to, 10);
			switch (how) {
			case LOCAL_INV:
				fx_post(&t.x, 5, IW_WR_LOCAL_INV, 0, 0, t.stag, 0, 0);
				break;
			case REBOUND:
				post_bind(5, t.stag ^ 1, to, 100, READ | WRITE, 0);
				break;
			default:
				post_bind(5, t.stag ^ 1, 0, 0, 0, 0);
			}
			silent(&t.x);
			completions(&t.x, { 5, IW_WC_SUCCESS });
			fails(way, to, 10, way == BY_READ ? 0x0100 : 0x1100);
			finish();
		}
	}
	/*
	 * After the end of the stream the window is free, and the other stream can bind it with
	 * another key.
	 */
	start(IW_MW_TYPE_2);
	bound(READ | WRITE);
	to = t.x.base + 1000;
	fx_control(&t.x, SESSION_TERMINATE, NULL, 0);
	fx_event(&t.x, IW_EVENT_CLOSED);
	assert_true(fx_pull(&t.x));
	assert_int_equal(t.region->windows, 0);
	on(SECOND);
	bound(READ | WRITE);
	succeeds(BY_READ, to, 100);
	finish();
}

/* A revocation stops a response in transmission, and a Write in several segments. */
static void revoked_in_mid_message(void **state)
{
	uint8_t before[FX_MEM];

	ROWS("5042-6.2.2-01 5042-6.3.3-01 5041-8.3.1-07");
	start(IW_MW_TYPE_2);
	bound(READ | WRITE);
	in(&t.x, "81 40 %w %q 'a'", t.stag, t.x.base + 1000);
	assert_int_equal(t.x.mem[1000], 'a');
	fx_post(&t.x, 5, IW_WR_LOCAL_INV, 0, 0, t.stag, 0, 0);
	silent(&t.x);
	completions(&t.x, { 5, IW_WC_SUCCESS });
	t.x.mem[1000] = 0;
	memcpy(before, t.x.mem, FX_MEM);
	in(&t.x, "c1 40 %w %q 'b'", t.stag, t.x.base + 1001);
	assert_memory_equal(t.x.mem, before, FX_MEM);
	out(&t.x, "41 47 00000000  00000002 00000001 00000000  1100 ..");
	finish();

	start(IW_MW_TYPE_2);
	iw_mr_free(t.region);
	assert_int_equal(iw_mr_new(t.x.pd, t.x.base, FX_MEM, t.x.base, IW_ACCESS_MW_BIND, NULL,
				   &t.region),
			 0);
	t.stag = iw_mw_stag(t.mw) ^ 1;
	post_bind(1, t.stag, t.x.base, 8000, READ, 0);
	silent(&t.x);
	completions(&t.x, { 1, IW_WC_SUCCESS });
	attempt(BY_READ, t.x.base, 8000);
	out(&t.x, "81 42 00000009 0000000000000000 ..");
	iw_mw_free(t.mw);
	assert_int_equal(iw_mw_new(t.x.pd, IW_MW_TYPE_2, &t.mw), 0);
	out(&t.x, "41 47 00000000  00000002 00000001 00000000  0100 ..");
	finish();
}

/*
 * Order of the send queue: a bind takes effect before a later Send leaves. A bind waits for reads
 * only if fenced. LOCAL_INV always waits.
 */
static void order(void **state)
{
	uint32_t stag;

	start(IW_MW_TYPE_2);
	fx_post(&t.x, 1, IW_WR_RDMA_READ, t.x.base + 2000, 4, 9, 0, 0);
	t.stag = stag = iw_mw_stag(t.mw) ^ 1;
	post_bind(2, stag, t.x.base + 1000, 10, READ, 0);
	fx_post(&t.x, 3, IW_WR_SEND, t.x.base, 4, 0, 0, 0);
	out(&t.x, "41 41 ..");
	out(&t.x, "41 43 ..");
	no_completion(&t.x); /* completions are in order, after the read's */
	attempt(BY_READ, t.x.base + 1000, 10);
	out(&t.x, "c1 42 00000009 0000000000000000 ..");

	fx_post(&t.x, 4, IW_WR_LOCAL_INV, 0, 0, stag, 0, 0);
	post_bind(5, stag ^ 2, t.x.base + 1010, 10, READ, IW_SEND_FENCE);
	silent(&t.x);
	attempt(BY_READ, t.x.base + 1000, 10); /* the old binding */
	out(&t.x, "c1 42 00000009 0000000000000000 ..");
	in(&t.x, "c1 42 %w %q 'four'", t.x.stag, t.x.base + 2000);
	silent(&t.x);
	completions(&t.x, { 1, IW_WC_SUCCESS }, { 2, IW_WC_SUCCESS }, { 3, IW_WC_SUCCESS },
		    { 4, IW_WC_SUCCESS }, { 5, IW_WC_SUCCESS });
	t.stag = stag ^ 2;
	attempt(BY_READ, t.x.base + 1010, 10);
	out(&t.x, "c1 42 00000009 0000000000000000 ..");

	/* A fenced bind waits, and so do later requests. */
	fx_post(&t.x, 6, IW_WR_LOCAL_INV, 0, 0, t.stag, 0, 0);
	fx_post(&t.x, 7, IW_WR_RDMA_READ, t.x.base + 2000, 4, 9, 0, 0);
	post_bind(8, stag, t.x.base + 1000, 10, READ, IW_SEND_FENCE);
	fx_post(&t.x, 9, IW_WR_SEND, t.x.base, 4, 0, 0, 0);
	out(&t.x, "41 41 ..");
	silent(&t.x);
	assert_int_equal(t.region->windows, 0);
	in(&t.x, "c1 42 %w %q 'four'", t.x.stag, t.x.base + 2000);
	out(&t.x, "41 43 ..");
	completions(&t.x, { 6, IW_WC_SUCCESS }, { 7, IW_WC_SUCCESS }, { 8, IW_WC_SUCCESS },
		    { 9, IW_WC_SUCCESS });
	assert_int_equal(t.region->windows, 1);
	finish();
}

/* A failed bind ends the stream like any local error, and later requests are flushed. */
static void bad_bind(void **state)
{
	start(IW_MW_TYPE_2);
	post_bind(1, iw_mw_stag(t.mw), t.x.base + 1000, 10, READ, 0); /* the old key */
	fx_post(&t.x, 2, IW_WR_SEND, t.x.base, 4, 0, 0, 0);
	out(&t.x, "41 47 00000000  00000002 00000001 00000000  0000 ..");
	completions(&t.x, { 1, IW_WC_MW_BIND_ERR }, { 2, IW_WC_WR_FLUSH_ERR });
	assert_int_equal(t.region->windows, 0);
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_stream),
		cmocka_unit_test(whole_domain),
		cmocka_unit_test(rights_and_bounds),
		cmocka_unit_test(revoked),
		cmocka_unit_test(revoked_in_mid_message),
		cmocka_unit_test(order),
		cmocka_unit_test(bad_bind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
