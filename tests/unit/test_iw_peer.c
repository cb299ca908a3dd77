/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* VALGRIND: yes */
/* A scripted peer: messages in, messages and completions out (RFC 5040, 5041). */
#include "conformance/rows.h"
#include "fixture/iw_fixture.h"

#include "iwarp/mr.h"
#include "iwarp/session.h"
#include "wire/ddp.h"
#include "wire/rdmap.h"
#include "wire/session.h"
#include "wire/terminate.h"
#include "fixture/iw_peer.h"

struct tagged_case {
	const char *name;
	uint8_t control, op;
	uint32_t stag;
	uint64_t to;
	size_t len;
	uint16_t error;
	enum iw_event_type event;
};

static void tagged_errors(void **state)
{
	ROWS("5040-3.1-06 5040-4.8-19 5040-4.8-39 5040-7.2-01 5041-7.1-13 5041-7.1-15 "
	     "5041-7.1-16 5041-7.1-17 5041-7.1-21 5041-7.2-01 5041-7.2-06 5041-7.2-07 "
	     "5041-8.2-01");
	enum { STAG, FOREIGN, READ_ONLY, HIGH, HIGH_LOCAL, CASES = 16 };
	const uint8_t data[1024] = { 1 };

	for (unsigned int i = 0; i < CASES; i++) {
		struct iw_mr *foreign, *ro, *high;
		struct iw_pd *other;
		uint8_t m[2048];
		struct fx x;
		size_t n;

		fx_passive(&x, 4, 4, 7);
		other = iw_pd_new(x.rnic, NULL);
		iw_mr_new(other, x.base, 100, x.base,
			  IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_WRITE, NULL, &foreign);
		iw_mr_new(x.pd, x.base, 100, x.base, IW_ACCESS_REMOTE_READ, NULL, &ro);
		iw_mr_new(x.pd, x.base, 0xf00, 0xfffffffffffff000ull,
			  IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_WRITE, NULL, &high);
		const struct tagged_case cases[CASES] = {
			{ "unknown", 0xc1, 0x40, x.stag ^ 0x4200, x.base, 4, 0x1100,
			  IW_EVENT_QP_ACCESS },
			{ "key", 0xc1, 0x40, x.stag ^ 1, x.base, 4, 0x1100, IW_EVENT_QP_ACCESS },
			{ "below", 0xc1, 0x40, x.stag, x.base - 1, 4, 0x1101, IW_EVENT_QP_ACCESS },
			{ "above", 0xc1, 0x40, x.stag, x.base + FX_MEM, 1, 0x1101,
			  IW_EVENT_QP_ACCESS },
			{ "across", 0xc1, 0x40, x.stag, x.base + FX_MEM - 1, 2, 0x1101,
			  IW_EVENT_QP_ACCESS },
			{ "PD", 0xc1, 0x40, iw_mr_stag(foreign), x.base, 4, 0x1102,
			  IW_EVENT_QP_ACCESS },
			{ "rights", 0xc1, 0x40, iw_mr_stag(ro), x.base, 4, 0x1100,
			  IW_EVENT_QP_ACCESS },
			{ "wrap", 0xc1, 0x40, iw_mr_stag(high), 0xfffffffffffffe00ull, 1024, 0x1103,
			  IW_EVENT_QP_ACCESS },
			{ "DV 0", 0xc0, 0x40, x.stag, x.base, 4, 0x1104, IW_EVENT_QP_REQUEST },
			{ "DV 2", 0xc2, 0x40, x.stag, x.base, 4, 0x1104, IW_EVENT_QP_REQUEST },
			{ "RV 3", 0xc1, 0xc0, x.stag, x.base, 4, 0x0205, IW_EVENT_QP_REQUEST },
			{ "Send", 0xc1, 0x43, x.stag, x.base, 4, 0x0206, IW_EVENT_QP_REQUEST },
			{ "opcode 12", 0xc1, 0x4c, x.stag, x.base, 4, 0x0206, IW_EVENT_QP_REQUEST },
			{ "no read", 0xc1, 0x42, x.stag, x.base, 4, 0x0206, IW_EVENT_QP_REQUEST },
			{ "no read, empty", 0xc1, 0x42, 0, 0, 0, 0x0206, IW_EVENT_QP_REQUEST },
			{ "not last", 0x81, 0x40, x.stag, x.base - 1, 4, 0x1101,
			  IW_EVENT_QP_ACCESS },
		};
		const struct tagged_case *c = &cases[i];

		n = fx_make_tagged(m, c->control, c->op, c->stag, c->to, data, c->len);
		expect_refusal(&x, c->error, m, n, NULL, c->event);
		iw_mr_free(foreign);
		iw_mr_free(ro);
		iw_mr_free(high);
		iw_pd_free(other);
		fx_stop(&x);
	}
}

struct untagged_case {
	uint8_t control, op;
	uint32_t qn, msn, mo;
	size_t len;
	uint16_t error;
};

/* Untagged segments, each with one wrong field; two receives of 16 bytes are posted. */
static const struct untagged_case untagged_cases[] = {
	{ 0x40, 0x43, 0, 1, 0, 4, 0x1206 }, /* DV */
	{ 0x43, 0x43, 0, 1, 0, 4, 0x1206 },
	{ 0x41, 0x83, 0, 1, 0, 4, 0x0205 }, /* RV */
	{ 0x41, 0x03, 0, 1, 0, 4, 0x0205 },
	{ 0x41, 0x43, 4, 1, 0, 4, 0x1201 }, /* QN */
	{ 0x41, 0x43, 5, 1, 0, 4, 0x1201 },
	{ 0x41, 0x43, 0x01000000, 1, 0, 4, 0x1201 },
	{ 0x41, 0x43, 1, 1, 0, 4, 0x0206 }, /* opcode and queue */
	{ 0x41, 0x43, 3, 1, 0, 4, 0x0206 },
	{ 0x41, 0x4a, 3, 1, 0, 52, 0x0206 },
	{ 0x41, 0x4b, 1, 1, 0, 12, 0x0206 },
	{ 0x41, 0x48, 1, 1, 0, 8, 0x0206 },
	{ 0x41, 0x41, 0, 1, 0, 28, 0x0206 },
	{ 0x41, 0x47, 0, 1, 0, 4, 0x0206 },
	{ 0x41, 0x40, 0, 1, 0, 4, 0x0206 }, /* an untagged Write */
	{ 0x41, 0x4d, 0, 1, 0, 4, 0x0206 },
	{ 0x41, 0x43, 0, 0, 0, 4, 0x1203 }, /* MSN */
	{ 0x41, 0x43, 0, 100, 0, 4, 0x1203 },
	{ 0x41, 0x43, 0, 0x80000001, 0, 4, 0x1203 },
	{ 0x41, 0x43, 0, 1, 16, 1, 0x1204 }, /* MO */
	{ 0x41, 0x43, 0, 1, 0xfffffffc, 8, 0x1204 },
	{ 0x41, 0x43, 0, 1, 0, 17, 0x1205 }, /* too long */
	{ 0x41, 0x43, 0, 1, 10, 7, 0x1205 },
	{ 0x41, 0x43, 0, 1, 17, 0, 0x1205 },
	{ 0x41, 0x41, 1, 1, 1, 28, 0x1204 }, /* Read Requests */
	{ 0x41, 0x41, 1, 0, 0, 28, 0x1203 },
	{ 0x41, 0x41, 1, 2, 0, 28, 0x1203 },
	{ 0x41, 0x41, 1, 5, 0, 28, 0x1202 }, /* IRD is 4 */
	{ 0x41, 0x41, 1, 1, 0, 29, 0x1205 },
	{ 0x41, 0x41, 1, 1, 0, 27, 0x02ff },
	{ 0x41, 0x4a, 1, 1, 4, 52, 0x1204 }, /* Atomic Requests */
	{ 0x41, 0x4a, 1, 0, 0, 52, 0x1203 },
	{ 0x41, 0x4a, 1, 5, 0, 52, 0x1202 },
	{ 0x41, 0x4a, 1, 1, 0, 53, 0x1205 },
	{ 0x41, 0x4a, 1, 1, 0, 51, 0x02ff },
	{ 0x41, 0x4a, 1, 1, 0, 28, 0x02ff },
	{ 0x41, 0x41, 1, 1, 0, 52, 0x1205 },
	{ 0x41, 0x4b, 3, 0, 0, 12, 0x1203 }, /* Atomic Responses without a request */
	{ 0x41, 0x4b, 3, 1, 0, 12, 0x1202 },
	{ 0x41, 0x47, 2, 2, 0, 4, 0x1203 }, /* Terminates */
	{ 0x41, 0x47, 2, 1, 0, 65, 0x1205 },
};

static void untagged_errors(void **state)
{
	ROWS("5040-4.8-20 5040-7.2-06 5040-7.2-07 5041-7.1-02 5041-7.1-08 5041-7.1-09 "
	     "5041-7.1-10 5041-7.2-01 5041-7.2-08 5041-7.2-10 5041-7.2-11 5041-7.2-12 "
	     "5041-7.2-13");
	for (size_t i = 0; i < sizeof(untagged_cases) / sizeof(untagged_cases[0]); i++) {
		const struct untagged_case *c = &untagged_cases[i];
		const uint8_t data[100] = { 1 };
		struct iw_cqe cqe;
		struct iw_event ev;
		uint8_t m[200];
		struct fx x;
		size_t n;

		fx_passive(&x, 4, 4, 7);
		fx_post_recv(&x, 77, x.base, 16, x.stag);
		fx_post_recv(&x, 78, x.base + 16, 16, x.stag);
		n = fx_make_untagged(m, c->control, c->op, 0, c->qn, c->msn, c->mo, data, c->len);
		/* A skipped MSN is detected at delivery, possibly after placement. */
		assert_int_equal(fx_feed(&x, 16, x.ssn++, m, n), 0);
		assert_int_equal(x.mem[32], 0);
		fx_expect_terminate(&x, c->error, m, n, NULL);
		fx_event(&x, IW_EVENT_QP_REQUEST);
		ev = fx_event(&x, IW_EVENT_CLOSED);
		assert_int_equal(ev.error, -EPROTO);
		cqe = fx_cqe(&x);
		assert_int_equal(cqe.wr_id, 77);
		if (c->qn == 0 && (c->error == 0x1204 || c->error == 0x1205)) {
			assert_int_equal(cqe.status, IW_WC_LOC_LEN_ERR);
			assert_int_equal(cqe.vendor_err, c->error);
		} else {
			assert_int_equal(cqe.status, IW_WC_WR_FLUSH_ERR);
		}
		cqe = fx_cqe(&x);
		assert_int_equal(cqe.wr_id, 78);
		assert_int_equal(cqe.status, IW_WC_WR_FLUSH_ERR);
		fx_stop(&x);
	}
}

static void read_request_errors(void **state)
{
	ROWS("5040-4.8-08 5040-4.8-09 5040-4.8-10 5040-4.8-11 5040-4.8-12 5042-6.3.1-01 "
	     "5042-6.3.5-01 5042-6.1.1-03");
	for (unsigned int i = 0; i < 6; i++) {
		struct iw_mr *foreign, *wo;
		struct iw_pd *other;
		uint8_t m[100];
		struct fx x;
		size_t n;

		fx_passive(&x, 4, 4, 7);
		other = iw_pd_new(x.rnic, NULL);
		iw_mr_new(other, x.base, 100, x.base, IW_ACCESS_REMOTE_READ, NULL, &foreign);
		iw_mr_new(x.pd, x.base, 100, x.base, IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_WRITE,
			  NULL, &wo);
		const struct {
			uint32_t stag;
			uint64_t to;
			uint32_t size;
			uint16_t error;
		} cases[] = {
			{ x.stag ^ 0x700, x.base, 1, 0x0100 },
			{ x.stag, x.base - 1, 1, 0x0101 },
			{ x.stag, x.base, FX_MEM + 1, 0x0101 },
			{ iw_mr_stag(wo), x.base, 1, 0x0102 },
			{ iw_mr_stag(foreign), x.base, 1, 0x0103 },
			{ x.stag, 0xfffffffffffffff0ull, 0x20, 0x0104 },
		};

		n = make_request(m, 1, cases[i].size, cases[i].stag, cases[i].to);
		expect_refusal(&x, cases[i].error, m, n, m + 18, IW_EVENT_QP_ACCESS);
		iw_mr_free(foreign);
		iw_mr_free(wo);
		iw_pd_free(other);
		fx_stop(&x);
	}
}

static void reserved_bits_are_ignored(void **state)
{
	ROWS("5040-4.1-08 5040-4.1-10 5041-4.1-12");
	uint8_t m[100];
	struct fx x;

	fx_passive(&x, 4, 4, 7);
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	/* Reserved bits of both control octets are set; the Invalidate STag is ignored. */
	fx_feed(&x, 16, x.ssn++, m, fx_make_untagged(m, 0x7d, 0x73, x.stag, 0, 1, 0, "abcd", 4));
	assert_int_equal(fx_cqe(&x).flags, 0);
	fx_feed(&x, 16, x.ssn++, m, fx_make_tagged(m, 0xfd, 0x70, x.stag, x.base + 100, "wxyz", 4));
	assert_memory_equal(x.mem, "abcd", 4);
	assert_memory_equal(x.mem + 100, "wxyz", 4);
	fx_no_event(&x);
	fx_stop(&x);
}

static void zero_length(void **state)
{
	ROWS("5040-5.2.1-14 5040-5.2.1-15 5040-5.3-11 5041-5.2-13 5041-5.2-14 5041-5.2-16 "
	     "5042-6.3.5-02");
	uint8_t m[100];
	struct fx x;

	fx_passive(&x, 4, 4, 7);
	fx_write(&x, 0xffffffff, UINT64_MAX, NULL, 0);
	fx_post_recv(&x, 1, 0, 0, 0);
	fx_send(&x, 1, NULL, 0);
	assert_int_equal(fx_cqe(&x).byte_len, 0);
	/* A read of 0 bytes from nowhere is answered (RFC 5040 5.2.1). */
	fx_feed(&x, 16, x.ssn++, m, make_request(m, 1, 0, 0xffffffff, UINT64_MAX));
	assert_true(fx_pull(&x));
	assert_int_equal(x.out_len, 16);
	assert_memory_equal(x.out, "\0\1\xc1\x42\xde\xad\xbe\xef\x01\x23\x45\x67\x89\xab\xcd\xef",
			    16);
	/* A read of 0 bytes by this side. */
	fx_post(&x, 5, IW_WR_SEND, 0, 0, 0, 0, 0);
	fx_post(&x, 6, IW_WR_RDMA_WRITE, 0, 0, 0, 0, 0);
	fx_post(&x, 7, IW_WR_RDMA_READ, 0, 0, 0x1234, 0, 0);
	assert_true(fx_pull(&x));
	assert_memory_equal(x.out, "\0\2\x41\x43\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0", 20);
	assert_int_equal(x.out_len, 20);
	assert_true(fx_pull(&x));
	assert_int_equal(x.out_len, 16);
	assert_memory_equal(x.out, "\0\3\xc1\x40", 4);
	assert_true(fx_pull(&x));
	assert_int_equal(x.out_len, 48);
	assert_int_equal(get_be32(x.out + 20 + 12), 0);
	fx_feed(&x, 16, x.ssn++, m, fx_make_tagged(m, 0xc1, 0x42, 9, 9, NULL, 0));
	assert_int_equal(fx_cqe(&x).wr_id, 5);
	assert_int_equal(fx_cqe(&x).wr_id, 6);
	assert_int_equal(fx_cqe(&x).wr_id, 7);
	fx_no_event(&x);
	fx_stop(&x);
}

/*
 * RFC 5041 5.2: of 2048 bytes, a MULPDU of 1500 carries 1482 after an untagged header, 1486 after a
 * tagged one.
 */
static void segments(void **state)
{
	ROWS("5040-3.1-03 5040-5.5-13 5041-5.2-07 5041-5.2-10");
	struct fx x;

	fx_passive(&x, 4, 4, 7);
	iw_assoc_set_max_msg(x.assoc, 1502);
	for (unsigned int i = 0; i < FX_MEM; i++)
		x.mem[i] = (uint8_t)(i * 7);
	fx_post(&x, 1, IW_WR_SEND, x.base, 2048, 0, 0, IW_SEND_SOLICITED);
	fx_post(&x, 2, IW_WR_RDMA_WRITE, x.base, 2048, 0x11223344, 16384, 0);
	assert_true(fx_pull_room(&x, 65000));
	/* The payload is cut to a multiple of 4: 1480, not 1482. */
	assert_int_equal(x.out_len, 1500);
	assert_memory_equal(x.out, "\0\1\x01\x45\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\0", 20);
	assert_memory_equal(x.out + 20, x.mem, 1480);
	assert_int_equal(iw_cq_poll(x.cq, 1, &(struct iw_cqe){ 0 }), 0);
	assert_true(fx_pull_room(&x, 65000));
	assert_int_equal(x.out_len, 20 + 568);
	assert_memory_equal(x.out, "\0\2\x41\x45\0\0\0\0\0\0\0\0\0\0\0\1\0\0\x05\xc8", 20);
	assert_memory_equal(x.out + 20, x.mem + 1480, 568);
	assert_int_equal(fx_cqe(&x).wr_id, 1);
	assert_true(x.msg.more);
	/* First there is too little room to split a message, then enough. */
	assert_false(fx_pull_room(&x, 120));
	assert_true(fx_pull_room(&x, 300));
	assert_int_equal(x.out_len, 16 + 284);
	assert_memory_equal(x.out, "\0\3\x81\x40\x11\x22\x33\x44\0\0\0\0\0\0\x40\0", 16);
	assert_true(fx_pull_room(&x, 65000));
	assert_int_equal(x.out_len, 16 + 1484);
	assert_true(fx_pull_room(&x, 65000));
	assert_int_equal(x.out_len, 16 + 280);
	assert_int_equal(x.out[2], 0xc1);
	assert_memory_equal(x.out + 16, x.mem + 284 + 1484, 280);
	assert_false(x.msg.more);
	assert_int_equal(fx_cqe(&x).wr_id, 2);
	fx_stop(&x);
}

static void segments_in_any_order(void **state)
{
	ROWS("5040-3.1-04 5040-5.5-15 5041-3-06 5041-3-14 5041-5.4-03");
	uint8_t m[100];
	struct iw_cqe cqe;
	struct fx x;

	fx_passive(&x, 4, 4, 7);
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	fx_post_recv(&x, 2, x.base + 16, 16, x.stag);
	/* ssn 1: Write; 2, 3: Send 1; 4: Send 2 */
	fx_feed(&x, 16, 4, m, fx_make_untagged(m, 0x41, 0x45, 0, 0, 2, 0, "second", 6));
	fx_feed(&x, 16, 3, m, fx_make_untagged(m, 0x41, 0x43, 0, 0, 1, 3, "st", 2));
	fx_feed(&x, 16, 3, m, fx_make_untagged(m, 0x41, 0x43, 0, 0, 1, 3, "XX", 2));
	fx_feed(&x, 16, 2, m, fx_make_untagged(m, 0x01, 0x43, 0, 0, 1, 0, "fir", 3));
	assert_true(iw_cq_is_empty(x.cq));
	assert_memory_equal(x.mem, "first", 5); /* placed, not delivered */
	fx_feed(&x, 16, 1, m, fx_make_tagged(m, 0xc1, 0x40, x.stag, x.base + 40, "w", 1));
	cqe = fx_cqe(&x);
	assert_int_equal(cqe.wr_id, 1);
	assert_int_equal(cqe.byte_len, 5);
	cqe = fx_cqe(&x);
	assert_int_equal(cqe.wr_id, 2);
	assert_int_equal(cqe.byte_len, 6);
	assert_memory_equal(x.mem + 16, "second", 6);
	/* messages with old DDP-SSNs are ignored */
	x.ssn = 3;
	fx_write(&x, x.stag, x.base, "old", 3);
	assert_memory_equal(x.mem, "first", 5);
	fx_no_event(&x);
	fx_stop(&x);
}

/*
 * Segments before the bad one in the order of DDP-SSNs are still delivered. The Terminate reports
 * the first error.
 */
static void early_error_waits_for_its_turn(void **state)
{
	ROWS("5040-7.1-06 5041-5.3-08 5041-6.2.2-07 5041-7.1-21");
	uint8_t m[100], bad[100];
	size_t n;
	struct fx x;

	fx_passive(&x, 4, 4, 7);
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	fx_feed(&x, 16, 5, m, fx_make_tagged(m, 0xc1, 0x40, x.stag ^ 0x100, 5, "worse", 5));
	n = fx_make_tagged(bad, 0xc1, 0x40, x.stag, x.base - 5, "bad", 3);
	fx_feed(&x, 16, 3, bad, n);
	fx_feed(&x, 16, 4, m, fx_make_tagged(m, 0xc1, 0x40, x.stag, x.base + 50, "late", 4));
	assert_int_equal(x.mem[50], 0);
	assert_false(fx_pull(&x));
	fx_feed(&x, 16, 2, m, fx_make_tagged(m, 0xc1, 0x40, x.stag, x.base + 60, "good", 4));
	fx_feed(&x, 17, 6, "\0\4", 2);
	fx_no_event(&x);
	fx_feed(&x, 16, 1, m, fx_make_untagged(m, 0x41, 0x43, 0, 0, 1, 0, "one", 3));
	assert_int_equal(fx_cqe(&x).status, 0);
	assert_memory_equal(x.mem + 60, "good", 4);
	fx_expect_terminate(&x, 0x1101, bad, n, NULL);
	fx_event(&x, IW_EVENT_QP_ACCESS);
	fx_event(&x, IW_EVENT_CLOSED);
	/* The peer's session Terminate came in order as well, so the stream is idle again. */
	fx_ack(&x, 1);
	assert_int_equal(iw_assoc_sessions(x.assoc), 0);
	fx_stop(&x);
}

static void invalidation_by_the_peer(void **state)
{
	ROWS("5040-3.2-02 5040-5.3-14 5040-5.3-16 5041-4.3-06 5041-8.3-03 5042-6.2.2-02 "
	     "5042-6.4.5-01");
	struct iw_qp *second;
	uint8_t m[100];
	struct iw_cqe cqe;
	struct fx x;
	size_t n;

	fx_passive(&x, 4, 4, 7);
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	fx_post_recv(&x, 2, x.base, 16, x.stag);
	/*
	 * A Write sent before this Send arrives later, and is still placed: the STag is invalidated
	 * at delivery.
	 */
	n = fx_make_untagged(m, 0x41, 0x46, x.stag, 0, 1, 0, "i", 1);
	fx_feed(&x, 16, 2, m, n);
	fx_feed(&x, 16, 1, m, fx_make_tagged(m, 0xc1, 0x40, x.stag, x.base + 50, "w", 1));
	assert_int_equal(x.mem[50], 'w');
	cqe = fx_cqe(&x);
	assert_int_equal(cqe.flags, IW_WC_WITH_INV);
	assert_int_equal(cqe.inv_stag, x.stag);
	x.ssn = 3;
	n = fx_make_tagged(m, 0xc1, 0x40, x.stag, x.base, "x", 1);
	expect_refusal(&x, 0x1100, m, n, NULL, IW_EVENT_QP_ACCESS);
	fx_stop(&x);

	/* An unknown STag. */
	fx_passive(&x, 4, 4, 7);
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	n = fx_make_untagged(m, 0x41, 0x44, x.stag ^ 0xff00, 0, 1, 0, NULL, 0);
	expect_refusal(&x, 0x0109, m, n, NULL, IW_EVENT_QP_ACCESS);
	fx_stop(&x);

	/* An STag that another QP of the PD may be using. */
	fx_passive(&x, 4, 4, 7);
	second = fx_qp_sized(&x, x.pd, x.cq, 4);
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	n = fx_make_untagged(m, 0x41, 0x44, x.stag, 0, 1, 0, NULL, 0);
	expect_refusal(&x, 0x0109, m, n, NULL, IW_EVENT_QP_ACCESS);
	iw_qp_free(second);
	fx_stop(&x);
}

static void reads_of_the_peer(void **state)
{
	ROWS("5040-4.4-04 5040-5.5-10 5040-5.5-16 5040-6.1-06");
	uint8_t m[100], first[100];
	struct fx x;

	fx_passive(&x, 2, 0, 7);
	for (unsigned int i = 0; i < FX_MEM; i++)
		x.mem[i] = (uint8_t)(i * 3);
	/*
	 * The second of two requests arrives first. Then comes a Write whose bytes both responses
	 * must contain.
	 */
	fx_feed(&x, 16, 3, m, make_request(m, 2, 1, x.stag, x.base));
	fx_feed(&x, 16, 2, first, make_request(first, 1, 2000, x.stag, x.base + 3));
	assert_false(fx_pull(&x));
	fx_feed(&x, 16, 1, m, fx_make_tagged(m, 0xc1, 0x40, x.stag, x.base + 3, "NEW", 3));
	assert_true(fx_pull(&x));
	assert_int_equal(x.out_len, 1452);
	assert_memory_equal(x.out + 2, "\x81\x42\xde\xad\xbe\xef\x01\x23\x45\x67\x89\xab\xcd\xef",
			    14);
	assert_memory_equal(x.out + 16, "NEW", 3);
	assert_memory_equal(x.out + 19, x.mem + 6, 1433);
	assert_true(fx_pull(&x));
	assert_int_equal(x.out_len, 16 + 2000 - 1436);
	assert_int_equal(x.out[2], 0xc1);
	assert_true(get_be64(x.out + 8) == 0x0123456789abcdefull + 1436);
	assert_true(fx_pull(&x));
	assert_int_equal(x.out_len, 17);
	assert_false(fx_pull(&x));
	assert_true(iw_cq_is_empty(x.cq));
	/* IRD is 2: a third request before the first response is one too many. */
	x.ssn = 4;
	fx_feed(&x, 16, x.ssn++, m, make_request(m, 3, 1, x.stag, x.base));
	fx_feed(&x, 16, x.ssn++, m, make_request(m, 4, 1, x.stag, x.base));
	expect_refusal(&x, 0x1202, m, make_request(m, 5, 1, x.stag, x.base), NULL,
		       IW_EVENT_QP_REQUEST);
	fx_stop(&x);
}

/* RFC 5040 4.8: the returned request is updated to the progress of the read. */
static void source_goes_away_in_mid_read(void **state)
{
	ROWS("5040-4.8-33");
	uint8_t m[100], want[28];
	struct rdmap_read_request r;
	struct fx x;
	size_t n;

	fx_passive(&x, 2, 0, 7);
	n = make_request(m, 1, 5000, x.stag, x.base);
	fx_feed(&x, 16, x.ssn++, m, n);
	assert_true(fx_pull(&x));
	iw_mr_free(x.mr);
	x.mr = NULL;
	rdmap_get_read_request(&r, m + 18);
	r.sink_to += 1436;
	r.src_to += 1436;
	r.size -= 1436;
	rdmap_put_read_request(want, &r);
	fx_expect_terminate(&x, 0x0100, m, n, want);
	fx_event(&x, IW_EVENT_QP_ACCESS);
	fx_stop(&x);
}

static void unmapped_memory(void **state)
{
	ROWS("5040-7.1-01 5041-7.2-02 5041-8.3.1-07");
	uint8_t m[100];
	struct fx x;
	size_t n;

	fx_passive(&x, 2, 2, 7);
	fx_hole = x.mem + 4096;
	fx_hole_len = 4096;
	n = fx_make_tagged(m, 0xc1, 0x40, x.stag, x.base + 5000, "boom", 4);
	expect_refusal(&x, 0x1101, m, n, NULL, IW_EVENT_QP_ACCESS);
	fx_stop(&x);

	fx_passive(&x, 2, 2, 7);
	fx_hole = x.mem + 4096;
	n = make_request(m, 1, 10, x.stag, x.base + 5000);
	expect_refusal(&x, 0x0101, m, n, m + 18, IW_EVENT_QP_ACCESS);
	fx_stop(&x);

	/* A read by this side: its WR fails, and the Terminate reports a local error. */
	fx_passive(&x, 2, 2, 7);
	fx_hole = x.mem + 4096;
	fx_post(&x, 1, IW_WR_SEND, x.base, 10, 0, 0, 0);
	fx_post(&x, 2, IW_WR_SEND, x.base + 5000, 10, 0, 0, 0);
	fx_post(&x, 3, IW_WR_SEND, x.base, 10, 0, 0, 0);
	assert_true(fx_pull(&x));
	fx_expect_terminate(&x, 0x0000, NULL, 0, NULL);
	assert_int_equal(fx_cqe(&x).status, 0);
	assert_int_equal(fx_cqe(&x).status, IW_WC_LOC_PROT_ERR);
	assert_int_equal(fx_cqe(&x).status, IW_WC_WR_FLUSH_ERR);
	assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, -EPROTO);
	fx_stop(&x);

	/* A receive fails. */
	fx_passive(&x, 2, 2, 7);
	fx_hole = x.mem + 4096;
	fx_post_recv(&x, 1, x.base + 5000, 10, x.stag);
	fx_send(&x, 1, "boom", 4);
	assert_int_equal(fx_cqe(&x).status, IW_WC_LOC_PROT_ERR);
	fx_expect_terminate(&x, 0x1000, NULL, 0, NULL);
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tagged_errors),
		cmocka_unit_test(untagged_errors),
		cmocka_unit_test(read_request_errors),
		cmocka_unit_test(reserved_bits_are_ignored),
		cmocka_unit_test(zero_length),
		cmocka_unit_test(segments),
		cmocka_unit_test(segments_in_any_order),
		cmocka_unit_test(early_error_waits_for_its_turn),
		cmocka_unit_test(invalidation_by_the_peer),
		cmocka_unit_test(reads_of_the_peer),
		cmocka_unit_test(source_goes_away_in_mid_read),
		cmocka_unit_test(unmapped_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
