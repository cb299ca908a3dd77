/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/*
 * Errors that DDP detects (RFC 5041 7, 8.2): one bad segment per case, and its Terminate. No memory
 * changes. The application gets an event, and its work requests are flushed. One RDMAP Terminate
 * with the required contents goes out, and then a session Terminate. Good segments after the bad
 * one are dropped silently.
 */
#include "fixture/iw_script.h"
#include "iwarp/rc_rx.h"
#include "iwarp/mr.h"
#include "wire/ddp.h"

/* The STags of the cases, all for the same memory. */
enum tag {
	NONE,
	ALL_RIGHTS,
	UNKNOWN,
	WRONG_KEY,
	GONE,
	INVALIDATED,
	READ_ONLY,
	OTHER_PD,
	HIGH,
	TAGS
};

struct bench {
	struct fx x;
	struct iw_pd *other;
	struct iw_mr *mr[TAGS];
	uint32_t stag[TAGS];
};

#define RW (IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_WRITE | IW_ACCESS_REMOTE_READ)
#define AT 1024 /* offset of the cases' memory in x.mem */
#define SIZE 0xf00u
#define HIGH_TO 0xfffffffffffff000ull

static void add_mr(struct bench *b, enum tag tag, struct iw_pd *pd, uint64_t iova, uint32_t access)
{
	assert_int_equal(iw_mr_new(pd, b->x.base + AT, SIZE, iova, access, NULL, &b->mr[tag]), 0);
	b->stag[tag] = iw_mr_stag(b->mr[tag]);
}

/*
 * Posts two receives of 16 octets each, before the memory of the cases. Everything else is a guard.
 */
static void bench_open(struct bench *b)
{
	struct fx *x = &b->x;

	memset(b, 0, sizeof(*b));
	open_session(x, 4, 4);
	memset(x->mem, 0x5a, FX_MEM);
	fx_post_recv(x, 1, x->base + 16, 16, x->stag);
	fx_post_recv(x, 2, x->base + 48, 16, x->stag);
	b->other = iw_pd_new(x->rnic, NULL);
	add_mr(b, ALL_RIGHTS, x->pd, x->base + AT, RW);
	add_mr(b, READ_ONLY, x->pd, x->base + AT, IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_READ);
	add_mr(b, OTHER_PD, b->other, x->base + AT, RW);
	add_mr(b, HIGH, x->pd, HIGH_TO, RW);
	add_mr(b, INVALIDATED, x->pd, x->base + AT, RW);
	assert_int_equal(iw_mr_invalidate_local(x->qp, b->stag[INVALIDATED]), 0);
	add_mr(b, GONE, x->pd, x->base + AT, RW);
	iw_mr_free(b->mr[GONE]);
	b->mr[GONE] = NULL;
	b->stag[UNKNOWN] = b->stag[ALL_RIGHTS] ^ 0x00a50000;
	b->stag[WRONG_KEY] = b->stag[ALL_RIGHTS] ^ 1;
}

static void bench_close(struct bench *b)
{
	for (enum tag t = NONE; t < TAGS; t++)
		if (b->mr[t])
			iw_mr_free(b->mr[t]);
	assert_int_equal(iw_pd_free(b->other), 0);
	fx_stop(&b->x);
}

static void unchanged(struct fx *x)
{
	for (unsigned int i = 0; i < FX_MEM; i++)
		assert_int_equal(x->mem[i], 0x5a);
}

/*
 * Checks the RDMAP Terminate: layer, type and code; M and D; the segment's length without the
 * DDP-SSN; its header. Then the session ends, and nothing else follows.
 */
static void refused(struct bench *b, uint16_t error, const uint8_t *m, size_t len,
		    enum iw_event_type event)
{
	struct fx *x = &b->x;
	uint8_t number[2] = { (uint8_t)(error >> 8), (uint8_t)error };
	uint8_t length[2] = { (uint8_t)(len >> 8), (uint8_t)len };
	struct iw_event ev;

	out(x, "41 47 00000000  00000002 00000001 00000000  %b c000 %b %b", number, (size_t)2,
	    length, (size_t)2, m, ddp_header_len(m[0]));
	ev = fx_event(x, event);
	assert_ptr_equal(ev.qp, x->qp);
	ev = fx_event(x, IW_EVENT_CLOSED);
	assert_int_equal(ev.error, -EPROTO);
	assert_ptr_equal(ev.qp, x->qp);
	fx_no_event(x);
	assert_int_equal(atomic_load(&x->qp->state), IW_QPS_ERR);
	/* neither good nor bad segments have an effect now */
	in(x, "c1 40 %w %q 'good'", b->stag[ALL_RIGHTS], x->base + AT);
	in(x, "41 43 00000000  00000000 00000001 00000000 'good'");
	in(x, "%b", m, len);
	fx_no_event(x);
	fx_ack(x, 1);
	out_end(x);
}

static void flushed(struct fx *x, enum iw_wc_status first)
{
	completions(x, { 1, first }, { 2, IW_WC_WR_FLUSH_ERR });
}

static const uint8_t kilobyte[1024] = "payload";

static void tagged_segments(void **state)
{
	static const struct {
		uint8_t control;
		enum tag tag;
		uint64_t to; /* relative to the region, but absolute with HIGH */
		uint32_t len;
		uint16_t error;
	} cases[] = {
		/* 7.1, tagged 1: an STag that is valid for the stream */
		{ 0xc1, UNKNOWN, 0, 4, 0x1100 },
		{ 0xc1, WRONG_KEY, 0, 4, 0x1100 },
		{ 0xc1, NONE, 0, 4, 0x1100 },
		{ 0xc1, GONE, 0, 4, 0x1100 },
		{ 0xc1, INVALIDATED, 0, 4, 0x1100 },
		{ 0xc1, OTHER_PD, 0, 4, 0x1102 },
		/* 2: a buffer that permits placement; no code exists for rights */
		{ 0xc1, READ_ONLY, 0, 4, 0x1100 },
		/* 3: TO in range */
		{ 0xc1, ALL_RIGHTS, -1ull, 1, 0x1101 },
		{ 0xc1, ALL_RIGHTS, SIZE, 1, 0x1101 },
		{ 0xc1, ALL_RIGHTS, -1ull, 1024, 0x1101 },
		{ 0x81, ALL_RIGHTS, SIZE, 1, 0x1101 },
		/* 4: TO plus length in range */
		{ 0xc1, ALL_RIGHTS, SIZE - 1, 2, 0x1101 },
		{ 0xc1, ALL_RIGHTS, SIZE - 1023, 1024, 0x1101 },
		{ 0xc1, HIGH, HIGH_TO + SIZE - 1, 2, 0x1101 },
		/* 5: no wrap, with a code that differs from 4 */
		{ 0xc1, HIGH, 0xfffffffffffffe00ull, 1024, 0x1103 },
		{ 0xc1, HIGH, UINT64_MAX, 2, 0x1103 },
		/* the version */
		{ 0xc0, ALL_RIGHTS, 0, 4, 0x1104 },
		{ 0xc2, ALL_RIGHTS, 0, 4, 0x1104 },
		{ 0xc3, ALL_RIGHTS, 0, 4, 0x1104 },
		{ 0x80, ALL_RIGHTS, 0, 4, 0x1104 },
	};

	ROWS("5041-4.1-14 5041-4.2-09 5041-6.2.2-03 5041-6.2.2-05 5041-6.2.2-06 5041-6.2.2-07 "
	     "5041-7.1-13 5041-7.1-14 5041-7.1-15 5041-7.1-16 5041-7.1-17 5041-7.1-18 5041-7.1-19 "
	     "5041-7.1-20 5041-7.1-21 5041-7.1-22 5041-7.2-01 5041-7.2-03 5041-7.2-04 5041-7.2-05 "
	     "5041-7.2-06 5041-7.2-07 5041-8.1-01 5041-8.2-01 5041-8.3-03 5041-8.3-06 "
	     "5041-8.3.1-02 5041-8.3.1-04 5041-8.3.1-06 5041-7.2-14 5042-6.1.1-01 5042-6.2.1-01");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		enum tag tag = cases[i].tag;
		uint64_t to = cases[i].to;
		struct bench b;
		uint8_t m[2000];
		size_t n;

		bench_open(&b);
		if (tag != HIGH)
			to += b.x.base + AT;
		n = script_bytes(m, "%b 40 %w %q %b", &cases[i].control, (size_t)1, b.stag[tag], to,
				 kilobyte, (size_t)cases[i].len);
		in(&b.x, "%b", m, n);
		unchanged(&b.x);
		refused(&b, cases[i].error, m, n,
			(cases[i].error & 0xff) == 4 ? IW_EVENT_QP_REQUEST : IW_EVENT_QP_ACCESS);
		unchanged(&b.x);
		flushed(&b.x, IW_WC_WR_FLUSH_ERR);
		bench_close(&b);
	}
}

static void untagged_segments(void **state)
{
	/* Two receives of 16 octets are posted. */
	static const struct {
		const char *header; /* control, RDMAP, Invalidate STag, QN, MSN, MO */
		uint32_t len;
		uint16_t error;
		enum iw_wc_status first;
	} cases[] = {
#define FLUSH IW_WC_WR_FLUSH_ERR
#define LENGTH IW_WC_LOC_LEN_ERR
		/* 7.1, untagged 1: the QN */
		{ "41 43 00000000  00000005 00000001 00000000", 1, 0x1201, FLUSH },
		{ "41 43 00000000  00000004 00000001 00000000", 1, 0x1201, FLUSH },
		{ "41 43 00000000  01000000 00000001 00000000", 1, 0x1201, FLUSH },
		{ "41 43 00000000  ffffffff 00000001 00000000", 1, 0x1201, FLUSH },
		{ "41 43 00000000  00000005 00000001 00000000", 0, 0x1201, FLUSH },
		/* 3: the MO */
		{ "41 43 00000000  00000000 00000001 00000010", 1, 0x1204, LENGTH },
		{ "01 43 00000000  00000000 00000001 80000000", 1, 0x1204, LENGTH },
		{ "41 43 00000000  00000000 00000001 fffffffc", 8, 0x1204,
		  LENGTH }, /* wraps to 4 */
		/* 4: MO and length */
		{ "41 43 00000000  00000000 00000001 00000000", 17, 0x1205, LENGTH },
		{ "41 43 00000000  00000000 00000001 0000000a", 10, 0x1205, LENGTH },
		{ "01 43 00000000  00000000 00000001 00000000", 1024, 0x1205, LENGTH },
		/* 5: the MSN */
		{ "41 43 00000000  00000000 00000000 00000000", 4, 0x1203, FLUSH },
		{ "41 43 00000000  00000000 ffffffff 00000000", 4, 0x1203, FLUSH },
		{ "41 43 00000000  00000000 00000005 00000000", 4, 0x1203, FLUSH },
		{ "41 43 00000000  00000000 00100000 00000000", 4, 0x1203, FLUSH },
		/* the version, also without payload */
		{ "40 43 00000000  00000000 00000001 00000000", 4, 0x1206, FLUSH },
		{ "42 43 00000000  00000000 00000001 00000000", 4, 0x1206, FLUSH },
		{ "43 43 00000000  00000000 00000001 00000000", 4, 0x1206, FLUSH },
		{ "02 43 00000000  00000000 00000001 00000000", 0, 0x1206, FLUSH },
		/* Read Requests: IRD is 4, a request has 28 octets */
		{ "41 41 00000000  00000001 00000000 00000000", 28, 0x1203, FLUSH },
		{ "41 41 00000000  00000001 00000005 00000000", 28, 0x1202, FLUSH },
		{ "41 41 00000000  00000001 00000001 00000000", 29, 0x1205, FLUSH },
		{ "41 41 00000000  00000001 00000001 0000001c", 1, 0x1204, FLUSH },
		{ "41 41 00000000  00000001 00000001 fffffffe", 4, 0x1204, FLUSH },
#undef FLUSH
#undef LENGTH
	};

	ROWS("5041-1.2-04 5041-4.1-14 5041-4.3-10 5041-6.2.2-03 5041-6.2.2-05 5041-6.2.2-06 "
	     "5041-6.2.2-07 5041-7.1-02 5041-7.1-08 5041-7.1-09 5041-7.1-10 5041-7.1-18 "
	     "5041-7.1-19 5041-7.1-20 5041-7.1-21 5041-7.1-22 5041-7.2-01 5041-7.2-08 5041-7.2-09 "
	     "5041-7.2-10 5041-7.2-11 5041-7.2-12 5041-7.2-13 5041-7.2-14");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct bench b;
		uint8_t m[2000];
		size_t n;

		bench_open(&b);
		n = script_bytes(m, cases[i].header);
		memcpy(m + n, kilobyte, cases[i].len);
		n += cases[i].len;
		in(&b.x, "%b", m, n);
		refused(&b, cases[i].error, m, n, IW_EVENT_QP_REQUEST);
		unchanged(&b.x);
		flushed(&b.x, cases[i].first);
		bench_close(&b);
	}
}

/* An MSN must not repeat after its delivery, and none may be skipped. */
static void used_and_skipped_numbers(void **state)
{
	struct bench b;
	uint8_t m[100];
	size_t n;

	ROWS("5041-7.1-10 5041-7.2-10 5041-5.3-07");
	bench_open(&b);
	in(&b.x, "41 43 00000000  00000000 00000001 00000000 'one'");
	completions(&b.x, { 1, IW_WC_SUCCESS });
	memset(b.x.mem, 0x5a, FX_MEM);
	n = script_bytes(m, "41 43 00000000  00000000 00000001 00000000 'again'");
	in(&b.x, "%b", m, n);
	refused(&b, 0x1203, m, n, IW_EVENT_QP_REQUEST);
	unchanged(&b.x);
	completions(&b.x, { 2, IW_WC_WR_FLUSH_ERR });
	bench_close(&b);

	bench_open(&b); /* MSN 2 without 1: a receive exists, but the Send is out of turn */
	n = script_bytes(m, "41 43 00000000  00000000 00000002 00000000 'two'");
	in(&b.x, "%b", m, n);
	refused(&b, 0x1203, m, n, IW_EVENT_QP_REQUEST);
	flushed(&b.x, IW_WC_WR_FLUSH_ERR);
	bench_close(&b);
}

/*
 * Without a receive, the Send is kept for a while, and uses a receive that is posted in time. After
 * that it is an error.
 */
static void no_buffer(void **state)
{
	uint8_t m[100];
	struct fx x;
	size_t n;

	ROWS("5041-7.1-03 5041-7.1-04 5041-7.1-05 5041-7.1-06 5041-7.1-07 5041-7.2-09");
	fx_passive(&x, 4, 4, 2);
	script_out_ssn = 1;
	n = script_bytes(m, "41 43 00000000  00000000 00000001 00000000 'kept'");
	in(&x, "%b", m, n);
	x.now += 1000 * MSEC;
	iw_timers(x.iw, x.now);
	no_completion(&x);
	silent(&x);
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	completions(&x, { 1, IW_WC_SUCCESS });
	assert_memory_equal(x.mem, "kept", 4);
	m[13] = 2; /* MSN */
	in(&x, "%b", m, n);
	x.now += 1311 * MSEC + IW_RNR_GRACE;
	iw_timers(x.iw, x.now);
	out(&x, "41 47 00000000  00000002 00000001 00000000  12 02 c000 0016 %b", m, (size_t)18);
	fx_event(&x, IW_EVENT_QP_REQUEST);
	fx_event(&x, IW_EVENT_CLOSED);
	fx_ack(&x, 1);
	out_end(&x);
	/* the error is final: the Send is dropped and its memory freed */
	fx_post_recv(&x, 2, x.base + 100, 16, x.stag);
	completions(&x, { 2, IW_WC_WR_FLUSH_ERR });
	assert_int_equal(x.mem[100], 0);
	fx_stop(&x);

	/* patience 0: the error follows a grace */
	fx_passive(&x, 4, 4, 0);
	script_out_ssn = 1;
	m[13] = 1;
	in(&x, "%b", m, n);
	x.now += IW_RNR_GRACE - 1;
	iw_timers(x.iw, x.now);
	silent(&x);
	x.now++;
	iw_timers(x.iw, x.now);
	out(&x, "41 47 00000000  00000002 00000001 00000000  12 02 c000 0016 %b", m, (size_t)18);
	fx_stop(&x);
}

/*
 * A receive without write access is a local error: local catastrophic, without the peer's header.
 */
static void local_catastrophic(void **state)
{
	struct iw_mr *ro;
	struct fx x;

	ROWS("5041-7.2-02");
	open_session(&x, 4, 4);
	assert_int_equal(iw_mr_new(x.pd, x.base, 100, x.base, 0, NULL, &ro), 0);
	fx_post_recv(&x, 1, x.base, 16, iw_mr_stag(ro));
	in(&x, "41 43 00000000  00000000 00000001 00000000 'fault'");
	out(&x, "41 47 00000000  00000002 00000001 00000000  10 00 0000");
	completions(&x, { 1, IW_WC_LOC_PROT_ERR });
	assert_int_equal(x.mem[0], 0);
	fx_ack(&x, 1);
	out_end(&x);
	iw_mr_free(ro);
	fx_stop(&x);
}

/* A truncated header ends the session without an RDMAP Terminate (RFC 5043 6.1). */
static void cut_headers(void **state)
{
	uint8_t tagged[14], untagged[18];

	ROWS("5041-4.4-01 5041-6.2.2-03 5041-6.2.2-02");
	script_bytes(tagged, "c1 40 00000000 0000000000000000");
	script_bytes(untagged, "41 43 00000000  00000000 00000001 00000000");
	for (size_t n = 0; n < 32; n++) {
		struct bench b;

		if (n == 14) /* a whole header */
			continue;
		bench_open(&b);
		in(&b.x, "%b", n < 14 ? tagged : untagged, n < 14 ? n : n - 14);
		fx_event(&b.x, IW_EVENT_QP_FATAL);
		assert_int_equal(fx_event(&b.x, IW_EVENT_CLOSED).error, -EPROTO);
		unchanged(&b.x);
		flushed(&b.x, IW_WC_WR_FLUSH_ERR);
		out_end(&b.x);
		bench_close(&b);
	}
}

/*
 * The same segment arrives twice, first good and then with another version. The DDP version never
 * changes in a stream.
 */
static void version_changes_in_mid_stream(void **state)
{
	struct bench b;
	uint8_t m[100];
	size_t n;

	ROWS("5041-4.1-14 5041-7.2-07 5041-7.2-13");
	for (unsigned int tagged = 0; tagged < 2; tagged++) {
		bench_open(&b);
		in(&b.x, "c1 40 %w %q 'ZZZZ'", b.stag[ALL_RIGHTS], b.x.base + AT);
		in(&b.x, "41 43 00000000  00000000 00000001 00000000 'ZZZZ'");
		completions(&b.x, { 1, IW_WC_SUCCESS });
		memset(b.x.mem, 0x5a, FX_MEM);
		if (tagged)
			n = script_bytes(m, "c2 40 %w %q 'ZZZZ'", b.stag[ALL_RIGHTS],
					 b.x.base + AT);
		else
			n = script_bytes(m, "42 43 00000000  00000000 00000002 00000000 'ZZZZ'");
		in(&b.x, "%b", m, n);
		refused(&b, tagged ? 0x1104 : 0x1206, m, n, IW_EVENT_QP_REQUEST);
		unchanged(&b.x);
		completions(&b.x, { 2, IW_WC_WR_FLUSH_ERR });
		bench_close(&b);
	}
}

/* One octet of a segment is out of bounds: the whole segment is refused. */
static void nothing_of_a_bad_segment(void **state)
{
	struct bench b;
	uint8_t m[2000];
	size_t n;

	ROWS("5041-7.1-18 5041-8.1-01");
	bench_open(&b);
	n = script_bytes(m, "c1 40 %w %q %b", b.stag[ALL_RIGHTS], b.x.base + AT + SIZE - 1000,
			 kilobyte, (size_t)1001);
	in(&b.x, "%b", m, n);
	unchanged(&b.x);
	refused(&b, 0x1101, m, n, IW_EVENT_QP_ACCESS);
	bench_close(&b);

	bench_open(&b); /* with one octet less it is placed */
	n = script_bytes(m, "c1 40 %w %q %b", b.stag[ALL_RIGHTS], b.x.base + AT + SIZE - 1000,
			 kilobyte, (size_t)1000);
	in(&b.x, "%b", m, n);
	assert_memory_equal(b.x.mem + AT + SIZE - 1000, kilobyte, 1000);
	silent(&b.x);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tagged_segments),
		cmocka_unit_test(untagged_segments),
		cmocka_unit_test(used_and_skipped_numbers),
		cmocka_unit_test(no_buffer),
		cmocka_unit_test(local_catastrophic),
		cmocka_unit_test(cut_headers),
		cmocka_unit_test(version_changes_in_mid_stream),
		cmocka_unit_test(nothing_of_a_bad_segment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
