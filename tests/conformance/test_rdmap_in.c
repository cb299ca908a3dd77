/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* Legal messages of a peer, and their effects (RFC 5040 5.1 to 5.3, 6.1). */
#include "fixture/iw_script.h"

#include "iwarp/mr.h"
#include "iwarp/sq.h"
#include "wire/terminate.h"

/* Checks that no event, completion or message follows, and that no receive was used. */
static void nobody_is_told(struct fx *x)
{
	fx_no_event(x);
	no_completion(x);
	silent(x);
	assert_int_equal(x->qp->rq.head, 0);
}

static void the_ulp_does_not_hear_of_writes_and_reads(void **state)
{
	ROWS("5040-3.2-04 5040-5.1-02 5040-5.1-09 5040-5.2.1-03 5040-5.2.1-04 5040-5.2.1-11"
	     " 5040-4.4-02 5040-4.4-03");
	struct fx x;

	open_session(&x, 4, 0);
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	in(&x, "81 40 %w %q 'first '", x.stag, x.base + 100);
	in(&x, "C1 40 %w %q 'second'", x.stag, x.base + 106);
	assert_memory_equal(x.mem + 99, "\0first second\0", 14);
	nobody_is_told(&x);
	in(&x, "C1 40 00000000 0000000000000000");
	nobody_is_told(&x);
	in(&x, READ_SEGMENT("00000001", "0000000C %w %q"), x.stag, x.base + 100);
	out(&x, "C1 42 DEADBEEF 0123456789ABCDEF 'first second'");
	nobody_is_told(&x);
	in(&x, READ_SEGMENT("00000002", "00000000 FFFFFFFF FFFFFFFFFFFFFFFF"));
	out(&x, "C1 42 DEADBEEF 0123456789ABCDEF");
	nobody_is_told(&x);
	in(&x, "41 43 00000000  00000000 00000001 00000000 'Send'");
	completions(&x, { 1, IW_WC_SUCCESS });
	fx_stop(&x);
}

/* Each Send uses one receive, completes with its length, and changes nothing else. */
static void sends(void **state)
{
	ROWS("5040-3.1-04 5040-3.2-02 5040-5.3-02 5040-5.3-03 5040-5.3-05 5040-5.3-06 5040-5.3-11"
	     " 5040-5.3-14");
	static const struct {
		uint8_t op;
		uint32_t len, cut;
		bool event, invalidates;
	} cases[] = {
		{ 0x43, 5, 0, false, false },  { 0x43, 0, 0, false, false },
		{ 0x43, 16, 7, false, false }, { 0x45, 3, 0, true, false },
		{ 0x45, 0, 0, true, false },   { 0x45, 16, 1, true, false },
		{ 0x44, 4, 0, false, true },   { 0x46, 9, 4, true, true },
		{ 0x46, 0, 0, true, true },
	};
	enum { N = sizeof(cases) / sizeof(cases[0]) };
	static const char text[] = "0123456789abcdef";

	for (size_t i = 0; i < N; i++) {
		const uint8_t *op = &cases[i].op;
		uint8_t before[FX_MEM];
		uint32_t len = cases[i].len, cut = cases[i].cut, inv;
		struct iw_cqe cqe;
		struct iw_mr *mr;
		struct fx x;

		open_session(&x, 0, 0);
		assert_int_equal(
			iw_mr_new(x.pd, x.base, 100, x.base, IW_ACCESS_REMOTE_READ, NULL, &mr), 0);
		inv = iw_mr_stag(mr);
		memset(x.mem, 0x5a, FX_MEM);
		for (unsigned int k = 0; k < 3; k++)
			fx_post_recv(&x, k, x.base + 100 + k * 16, 16, x.stag);
		memcpy(before, x.mem, FX_MEM);
		in(&x, "41 43 00000000  00000000 00000001 00000000");
		completions(&x, { 0, IW_WC_SUCCESS });
		iw_cq_arm(x.cq, true);
		if (cut)
			in(&x, "01 %b %w  00000000 00000002 00000000 %b", op, (size_t)1, inv, text,
			   (size_t)cut);
		no_completion(&x);
		in(&x, "41 %b %w  00000000 00000002 %w %b", op, (size_t)1, inv, cut, text + cut,
		   (size_t)(len - cut));
		cqe = fx_cqe(&x);
		assert_int_equal(cqe.wr_id, 1);
		assert_int_equal(cqe.status, IW_WC_SUCCESS);
		assert_int_equal(cqe.opcode, IW_WC_RECV);
		assert_int_equal(cqe.byte_len, len);
		assert_int_equal(cqe.flags, cases[i].invalidates ? IW_WC_WITH_INV : 0);
		if (cases[i].invalidates)
			assert_int_equal(cqe.inv_stag, inv);
		no_completion(&x);
		assert_int_equal(x.qp->rq.head, 2);
		assert_ptr_equal(iw_next_notify(x.iw), cases[i].event ? x.cq : NULL);
		memcpy(before + 116, text, len);
		assert_memory_equal(x.mem, before, FX_MEM);
		/* checks whether the STag is still valid */
		in(&x, READ_SEGMENT("00000001", "00000001 %w %q"), inv, x.base);
		if (cases[i].invalidates)
			out(&x, TERM_SEGMENT "..");
		iw_mr_free(mr);
		fx_stop(&x);
	}
}

/*
 * Writes sent before an invalidation are placed even if they arrive after it. Later Writes are not
 * placed.
 */
static void invalidation_is_at_delivery(void **state)
{
	ROWS("5040-5.3-14 5040-5.3-16 5040-8.1.1-02");
	struct fx x;

	open_session(&x, 0, 0);
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	in_at(&x, 3, "41 46 %w  00000000 00000001 00000000 ''", x.stag);
	in_at(&x, 2, "C1 40 %w %q 'two'", x.stag, x.base + 200);
	assert_memory_equal(x.mem + 200, "two", 3);
	no_completion(&x);
	in_at(&x, 1, "C1 40 %w %q 'one'", x.stag, x.base + 100);
	assert_memory_equal(x.mem + 100, "one", 3);
	completions(&x, { 1, IW_WC_SUCCESS });
	in_at(&x, 4, "C1 40 %w %q 'four'", x.stag, x.base + 400);
	assert_int_equal(x.mem[400], 0);
	out(&x, TERM_SEGMENT "1100C000 0012 C1 40 %w %q", x.stag, x.base + 400);
	out_end(&x);
	fx_stop(&x);
}

static void bits_that_do_not_count(void **state)
{
	ROWS("5040-4.1-08 5040-4.1-10 5040-4.8-05");
	static const char *const sends[] = { "7D 73", "41 43", "41 45", "7D 75" };
	struct iw_cqe cqe;
	struct fx x;

	open_session(&x, 4, 2);
	for (uint32_t i = 0; i < 4; i++) {
		uint8_t octets[2];

		script_bytes(octets, sends[i]);
		fx_post_recv(&x, i, x.base, 16, x.stag);
		in(&x, "%b %w  00000000 %w 00000000 'data'", octets, (size_t)2, x.stag, i + 1);
		cqe = fx_cqe(&x);
		assert_int_equal(cqe.status, IW_WC_SUCCESS);
		assert_int_equal(cqe.flags, 0);
	}
	in(&x, "FD 70 %w %q 'wxyz'", x.stag, x.base + 100); /* the STag is valid */
	assert_memory_equal(x.mem + 100, "wxyz", 4);
	in(&x, "7D 71 %w  00000001 00000001 00000000  DEADBEEF 0000000000000000 00000004 %w %q",
	   x.stag, x.stag, x.base + 100);
	out(&x, "C1 42 DEADBEEF 0000000000000000 'wxyz'");
	in(&x, READ_SEGMENT("00000002", "00000004 %w %q"), x.stag, x.base + 100);
	out(&x, "C1 42 DEADBEEF 0123456789ABCDEF 'wxyz'");
	fx_post(&x, 9, IW_WR_RDMA_READ, x.base + 200, 4, 0x99, 1, 0);
	out(&x, "41 41 ..");
	in(&x, "FD 72 %w %q 'data'", x.stag, x.base + 200);
	completions(&x, { 9, IW_WC_SUCCESS });
	fx_no_event(&x);
	in(&x, "7D 77 %w  00000002 00000001 00000000  01001FFF", x.stag);
	fx_event(&x, IW_EVENT_QP_FATAL);
	assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, -ECONNRESET);
	assert_int_equal(x.mr->invalid, false);
	out_end(&x);
	fx_stop(&x);
}

/*
 * IRD requests may wait, and an answer makes room. One more request ends the session without a
 * response.
 */
static void inbound_depth(void **state)
{
	ROWS("5040-4.8-17 5040-5.2.2-02 5040-6.1-03 5040-6.1-06");
	for (uint32_t ird = 1; ird <= 9; ird++) {
		uint32_t msn = 1;
		struct fx x;

		open_session(&x, ird, 0);
		memcpy(x.mem, "0123456789", 10);
		for (unsigned int round = 0; round < 3; round++) {
			for (uint32_t i = 0; i < ird; i++)
				in(&x,
				   "41 41 00000000  00000001 %w 00000000 "
				   " %w 0000000000000000 00000001 %w %q",
				   msn + i, msn + i, x.stag, x.base + i);
			for (uint32_t i = 0; i < ird; i++)
				out(&x, "C1 42 %w 0000000000000000 %b", msn + i, x.mem + i,
				    (size_t)1);
			silent(&x);
			msn += ird;
		}
		for (uint32_t i = 0; i < ird; i++)
			in(&x,
			   "41 41 00000000  00000001 %w 00000000 "
			   " %w 0000000000000000 00000001 %w %q",
			   msn + i, msn + i, x.stag, x.base + i);
		in(&x, READ_SEGMENT("%w", "00000001 %w %q"), msn + ird, x.stag, x.base);
		out(&x, TERM_SEGMENT "  1202C000 002E 41 41 00000000  00000001 %w 00000000",
		    msn + ird);
		out_end(&x);
		fx_event(&x, IW_EVENT_QP_REQUEST);
		fx_stop(&x);
	}
}

/* Rights, range and PD of an MR, with all combinations of requests. */
static void rights_and_range(void **state)
{
	ROWS("5040-3.2-05 5040-5.1-04 5040-8.1.1-02");
	static const int at[] = { -1, 0, 50, 96, 97, 100 }; /* 4 bytes each, of 100 */

	for (unsigned int c = 0; c < 2 * 2 * 2 * 2 * 6; c++) {
		bool write = c & 1, may_write = c & 2, may_read = c & 4, ours = c & 8;
		bool inside = at[c / 16] >= 0 && at[c / 16] <= 96;
		bool ok = ours && inside && (write ? may_write : may_read);
		uint32_t access = IW_ACCESS_LOCAL_WRITE | (may_write ? IW_ACCESS_REMOTE_WRITE : 0) |
				  (may_read ? IW_ACCESS_REMOTE_READ : 0);
		uint64_t to = 7000 + (uint64_t)(int64_t)at[c / 16];
		uint8_t before[FX_MEM];
		struct iw_pd *other;
		struct iw_mr *mr;
		struct fx x;

		open_session(&x, 1, 0);
		other = iw_pd_new(x.rnic, NULL);
		assert_int_equal(iw_mr_new(ours ? x.pd : other, x.base + 1000, 100, 7000, access,
					   NULL, &mr),
				 0);
		memset(x.mem, 0x5a, FX_MEM);
		memset(x.mem + 1000, 0xa5, 100);
		memcpy(before, x.mem, FX_MEM);
		if (write)
			in(&x, "C1 40 %w %q 'data'", iw_mr_stag(mr), to);
		else
			in(&x, READ_SEGMENT("00000001", "00000004 %w %q"), iw_mr_stag(mr), to);
		if (!ok)
			out(&x, TERM_SEGMENT "..");
		else if (write)
			memcpy(before + 1000 + at[c / 16], "data", 4);
		else
			out(&x, "C1 42 DEADBEEF 0123456789ABCDEF A5A5A5A5");
		assert_memory_equal(x.mem, before, FX_MEM);
		if (ok)
			silent(&x);
		iw_mr_free(mr);
		iw_pd_free(other);
		fx_stop(&x);
	}
}

/* The peer may use a buffer from its registration until its rights end, in each possible way. */
static void rights_taken_back(void **state)
{
	ROWS("5040-8.1.1-01 5040-8.1.1-02");
	for (unsigned int way = 0; way < 3; way++) {
		struct iw_mr *mr;
		uint32_t stag;
		struct fx x;

		open_session(&x, 1, 0);
		assert_int_equal(iw_mr_new(x.pd, x.base, 100, 0,
					   IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_WRITE, NULL,
					   &mr),
				 0);
		stag = iw_mr_stag(mr);
		in(&x, "C1 40 %w 0000000000000005 'one'", stag);
		assert_memory_equal(x.mem + 5, "one", 3);
		switch (way) {
		case 0:
			iw_mr_free(mr);
			break;
		case 1:
			fx_post(&x, 1, IW_WR_LOCAL_INV, 0, 0, stag, 0, 0);
			silent(&x);
			completions(&x, { 1, IW_WC_SUCCESS });
			break;
		default:
			x.qp->access = IW_ACCESS_REMOTE_READ;
		}
		in(&x, "C1 40 %w 0000000000000005 'two'", stag);
		assert_memory_equal(x.mem + 5, "one", 3);
		out(&x, TERM_SEGMENT "1100C000 0011 C1 40 %w 0000000000000005", stag);
		out_end(&x);
		if (way)
			iw_mr_free(mr);
		fx_stop(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_ulp_does_not_hear_of_writes_and_reads),
		cmocka_unit_test(sends),
		cmocka_unit_test(invalidation_is_at_delivery),
		cmocka_unit_test(bits_that_do_not_count),
		cmocka_unit_test(inbound_depth),
		cmocka_unit_test(rights_and_range),
		cmocka_unit_test(rights_taken_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
