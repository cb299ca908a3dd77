/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/*
 * RDMA Reads into several buffers: one Read Request, whose sink is an STag of this read only. With
 * this STag, a peer can only answer the read, once, within its bounds.
 */
#include "fixture/iw_script.h"

#include "iwarp/mr.h"
#include "iwarp/rnic.h"
#include "wire/terminate.h"

/* The SGEs of the sink: 5 bytes at 1000, 9 at 500 (of another MR), none, 4 at 3000. */
static const struct {
	uint32_t at, len;
} pieces[] = { { 1000, 5 }, { 500, 9 }, { 0, 0 }, { 3000, 4 } };
enum { TOTAL = 18 };

static struct fx x;
static struct iw_mr *other;
static uint32_t sink;

/* Posts a read of TOTAL bytes into these pieces. */
static void ask(void)
{
	struct iw_send_wqe *w = fx_sq_slot(x.qp);

	*w = (struct iw_send_wqe){ .wr_id = 1,
				   .opcode = IW_WR_RDMA_READ,
				   .num_sge = 4,
				   .flags = IW_SEND_SIGNALED,
				   .length = TOTAL,
				   .rkey = 0x11223344,
				   .remote_to = 0x99 };
	for (unsigned int i = 0; i < 4; i++)
		w->sge[i] = (struct iw_sge){ x.base + pieces[i].at, pieces[i].len,
					     i == 1 ? iw_mr_stag(other) : x.stag };
	iw_sq_publish(x.qp);
	iw_qp_doorbell(x.qp);
	assert_true(fx_pull(&x));
	script_out_ssn++;
	assert_int_equal(x.out_len, 2 + 18 + 28);
	sink = get_be32(x.out + 20);
	assert_int_equal(get_be64(x.out + 24), 0);
	assert_int_equal(get_be32(x.out + 32), TOTAL);
	assert_int_equal(get_be32(x.out + 36), 0x11223344);
	assert_true(sink != 0 && sink != x.stag && sink != iw_mr_stag(other));
	silent(&x);
}

static void begin(void)
{
	open_session(&x, 4, 4);
	assert_int_equal(iw_mr_new(x.pd, x.base, 1000, x.base, IW_ACCESS_LOCAL_WRITE, NULL, &other),
			 0);
	ask();
}

static void end(void)
{
	if (other)
		iw_mr_free(other);
	fx_stop(&x);
}

/* Checks the bytes in each piece of the sink, and that nothing else has been written. */
static void sink_holds(const char *want)
{
	uint8_t expected[FX_MEM] = { 0 };

	for (unsigned int i = 0, done = 0; i < 4; done += pieces[i++].len)
		memcpy(expected + pieces[i].at, want + done, pieces[i].len);
	assert_memory_equal(x.mem, expected, FX_MEM);
}

/*
 * The response is cut anywhere, and its segments arrive in any order. The read completes once all
 * have arrived.
 */
static void placed(void **state)
{
	ROWS("5040-5.2.1-09 5040-5.2.2-03 5040-5.2.2-07 5041-5.3-01");
	begin();
	in(&x, "C1 42 %w %q 'abcdefghijklmnopqr'", sink, UINT64_C(0));
	completions(&x, { 1, IW_WC_SUCCESS });
	sink_holds("abcdefghijklmnopqr");
	end();

	begin();
	x.ssn += 2;
	in(&x, "C1 42 %w %q 'pqr'", sink, UINT64_C(15));
	in_at(&x, (uint16_t)(x.ssn - 2), "81 42 %w %q 'defghijklmno'", sink, UINT64_C(3));
	assert_true(iw_cq_is_empty(x.cq));
	in_at(&x, (uint16_t)(x.ssn - 3), "81 42 %w %q 'abc'", sink, UINT64_C(0));
	completions(&x, { 1, IW_WC_SUCCESS });
	sink_holds("abcdefghijklmnopqr");
	end();
}

/* Checks that a segment of the peer causes this Terminate and does not change memory. */
static void refused(uint32_t word, const char *format, uint32_t stag, uint64_t to)
{
	uint8_t before[FX_MEM];

	memcpy(before, x.mem, FX_MEM);
	in(&x, format, stag, to);
	out(&x, TERM_SEGMENT "%w ..", word);
	out_end(&x);
	assert_memory_equal(x.mem, before, FX_MEM);
}

static void nothing_else(void **state)
{
	ROWS("5040-5.2.2-04 5040-5.2.2-06 5040-5.5-18");
	static const struct {
		uint32_t word;
		const char *segment;
		uint64_t to;
	} cases[] = {
		{ 0x1101c000, "C1 42 %w %q 'abcdefghijklmnopqrs'", 0 }, /* longer than the read */
		{ 0x1101c000, "81 42 %w %q 'ab'", TOTAL - 1 },
		{ 0x1101c000, "81 42 %w %q 'a'", TOTAL },
		{ 0x1103c000, "81 42 %w %q 'ab'", UINT64_MAX },
		{ 0x1100c000, "C1 40 %w %q 'ab'", 0 }, /* an RDMA Write */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin();
		refused(cases[i].word, cases[i].segment, sink, cases[i].to);
		end();
	}
	/* A Read Request cannot use this STag as its source. */
	begin();
	in(&x, READ_SEGMENT("00000001", "00000004 %w %q"), sink, UINT64_C(0));
	out(&x, TERM_SEGMENT "0100e000 ..");
	out_end(&x);
	end();
	/* A Send cannot invalidate the STag. */
	begin();
	fx_post_recv(&x, 77, x.base + 2000, 16, x.stag);
	in(&x, "41 44 %w  00000000 00000001 00000000", sink);
	out(&x, TERM_SEGMENT "0109c000 ..");
	out_end(&x);
	end();
	/* A response cannot reach the buffers by their own STag. */
	begin();
	refused(0x1100c000, "81 42 %w %q 'a'", x.stag, x.base + 1000);
	end();
}

/* After the read's completion, its STag does not exist any more. */
static void over(void **state)
{
	ROWS("5040-5.2.2-06");
	begin();
	in(&x, "C1 42 %w %q 'abcdefghijklmnopqr'", sink, UINT64_C(0));
	completions(&x, { 1, IW_WC_SUCCESS });
	memset(x.mem, 0, FX_MEM);
	refused(0x0206c000, "81 42 %w %q 'abc'", sink, UINT64_C(0));
	end();

	/* The same with another read outstanding. */
	begin();
	fx_post(&x, 2, IW_WR_RDMA_READ, x.base + 100, 7, 1, 1, 0);
	out(&x, "41 41 ..");
	in(&x, "C1 42 %w %q 'abcdefghijklmnopqr'", sink, UINT64_C(0));
	completions(&x, { 1, IW_WC_SUCCESS });
	memset(x.mem, 0, FX_MEM);
	refused(0x1100c000, "81 42 %w %q 'abc'", sink, UINT64_C(0));
	end();
}

/* One of the buffers was taken away. Its part is not placed, and the read fails. */
static void buffer_taken_away(void **state)
{
	ROWS("5040-5.2.2-04");
	begin();
	in(&x, "81 42 %w %q 'abc'", sink, UINT64_C(0));
	iw_mr_free(other);
	other = NULL;
	in(&x, "C1 42 %w %q 'defghijklmnopqr'", sink, UINT64_C(3));
	out(&x, TERM_SEGMENT "1100c000 ..");
	out_end(&x);
	completions(&x, { 1, IW_WC_LOC_PROT_ERR });
	sink_holds("abcde\0\0\0\0\0\0\0\0\0\0\0\0\0");
	end();
}

/* The work request is checked before the Read Request leaves. */
static void wrong_request(void **state)
{
	ROWS("5040-5.2.1-09");
	for (int kind = 0; kind < 4; kind++) {
		struct iw_send_wqe *w;

		open_session(&x, 4, 4);
		other = NULL;
		w = fx_sq_slot(x.qp);
		*w = (struct iw_send_wqe){ .wr_id = 1,
					   .opcode = IW_WR_RDMA_READ,
					   .num_sge = 2,
					   .length = kind == 3 ? 9 : 8 };
		w->sge[0] = (struct iw_sge){ x.base, 4, x.stag };
		w->sge[1] = (struct iw_sge){ x.base + 100, 4, x.stag };
		if (kind == 0)
			w->sge[1].lkey ^= 1;
		if (kind == 1)
			w->sge[1].addr = x.base + FX_MEM - 3;
		if (kind == 2)
			w->sge[0].addr = x.base - 1;
		iw_sq_publish(x.qp);
		iw_qp_doorbell(x.qp);
		out(&x, TERM_SEGMENT "00000000");
		out_end(&x);
		completions(&x, { 1, kind == 3 ? IW_WC_LOC_QP_OP_ERR : IW_WC_LOC_PROT_ERR });
		end();
	}
}

/* The STag of a read in progress is not used again, however many STags are made. */
static void its_alone(void **state)
{
	struct iw_mr *mr;
	uint32_t first;

	ROWS("5042-6.1.1-05");
	begin();
	x.rnic->stag_counter--; /* as after a wrap of the counter */
	assert_int_equal(iw_mr_new(x.pd, x.base, 1000, x.base, IW_ACCESS_REMOTE_READ, NULL, &mr),
			 0);
	assert_int_not_equal(iw_mr_stag(mr), sink);
	x.rnic->stag_counter--;
	first = sink;
	ask();
	assert_int_not_equal(sink, first);
	iw_mr_free(mr);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(placed),	 cmocka_unit_test(nothing_else),
		cmocka_unit_test(over),		 cmocka_unit_test(buffer_taken_away),
		cmocka_unit_test(wrong_request), cmocka_unit_test(its_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
