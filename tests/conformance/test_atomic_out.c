/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* Atomics of the application (RFC 7306 5): requests and their responses. */
#include "fixture/iw_script.h"

#include "iwarp/sq.h"
#include "wire/terminate.h"

#define REQUEST "41 4A 00000000  00000001 %w 00000000  "
#define ANSWER "41 4B 00000000  00000003 %w 00000000  "
#define RKEY 0x11223344u
#define TO 0x0102030405060708ull

static void add(struct fx *x, uint64_t wr_id, unsigned int at)
{
	fx_post_atomic(x, wr_id, IW_WR_ATOMIC_FETCH_AND_ADD, x->base + at, RKEY, TO, wr_id, 0);
}

static uint64_t value_at(const struct fx *x, unsigned int at)
{
	uint64_t v;

	memcpy(&v, x->mem + at, sizeof(v));
	return v;
}

static void requests(void **state)
{
	ROWS("7306-5.2.1-01 7306-5.2.1-02 7306-5.2.1-03 7306-5.2.1-06 7306-5.2.1-07 7306-4.1-06"
	     " 7306-4-02 7306-4.1-01 7306-4.1-02 7306-4.2-01 7306-4-01 7306-10-01 7306-5-01");
	struct fx x;

	open_session(&x, 0, 4);
	fx_post_atomic(&x, 1, IW_WR_ATOMIC_FETCH_AND_ADD, x.base, RKEY, TO, 0x1122334455667788, 99);
	out(&x,
	    REQUEST "00000000 00000001 11223344 0102030405060708"
		    " 1122334455667788 0000000000000000 0000000000000000 FFFFFFFFFFFFFFFF",
	    1u);
	assert_int_equal(x.out_len, 2 + 70);
	fx_post_atomic(&x, 2, IW_WR_ATOMIC_CMP_AND_SWP, x.base, RKEY, TO, 0x1122334455667788, 99);
	out(&x,
	    REQUEST "00000002 00000002 11223344 0102030405060708"
		    " 0000000000000063 FFFFFFFFFFFFFFFF 1122334455667788 FFFFFFFFFFFFFFFF",
	    2u);
	/* A request is not sent in parts. */
	add(&x, 3, 0);
	assert_false(fx_pull_room(&x, 71));
	assert_true(fx_pull_room(&x, 72));
	fx_stop(&x);
}

static void answers(void **state)
{
	ROWS("7306-5.1.1-07 7306-5.2.2-05 7306-5.4-01 7306-5.4-04 7306-5-06 7306-5.2.1-12"
	     " 7306-5.2.1-04");
	struct iw_cqe cqe;
	struct fx x;

	open_session(&x, 0, 4);
	fx_post(&x, 1, IW_WR_RDMA_READ, x.base + 100, 4, 0x99, 1, 0);
	add(&x, 2, 0);
	fx_post(&x, 3, IW_WR_RDMA_READ, x.base + 200, 4, 0x99, 1, 0);
	fx_post_atomic(&x, 4, IW_WR_ATOMIC_CMP_AND_SWP, x.base + 8, RKEY, TO, 0, 0);
	fx_post(&x, 5, IW_WR_RDMA_WRITE, x.base, 4, 0x99, 1, 0);
	for (uint32_t msn = 1; msn <= 4; msn++)
		out(&x, msn % 2 ? "41 41 00000000  00000001 %w .." : REQUEST "..", msn);
	out(&x, "C1 40 ..");
	silent(&x);
	no_completion(&x); /* The Write has left, but completes after the atomics. */
	in(&x, "C1 42 %w %q 'one!'", x.stag, x.base + 100);
	completions(&x, { 1, IW_WC_SUCCESS });
	in(&x, ANSWER "00000002 A1A2A3A4A5A6A7A8", 1u);
	cqe = fx_cqe(&x);
	assert_int_equal(cqe.wr_id, 2);
	assert_int_equal(cqe.opcode, IW_WC_FETCH_ADD);
	assert_int_equal(cqe.byte_len, 8);
	assert_true(value_at(&x, 0) == 0xa1a2a3a4a5a6a7a8);
	in(&x, "C1 42 %w %q 'two!'", x.stag, x.base + 200);
	completions(&x, { 3, IW_WC_SUCCESS });
	in(&x, ANSWER "00000004 0000000000000007", 2u);
	cqe = fx_cqe(&x);
	assert_int_equal(cqe.opcode, IW_WC_COMP_SWAP);
	assert_true(value_at(&x, 8) == 7);
	completions(&x, { 5, IW_WC_SUCCESS });
	fx_no_event(&x);
	fx_stop(&x);
}

/*
 * Reads and atomics share the slots of ORD. Each outstanding atomic has a buffer for its response,
 * which may arrive out of order.
 */
static void depth(void **state)
{
	ROWS("7306-5.2-01 7306-5.2.2-04 7306-5.2.1-12");
	for (uint32_t ord = 1; ord <= 5; ord++) {
		uint32_t msn = 1;
		struct fx x;

		open_session(&x, 0, ord);
		for (uint64_t i = 1; i <= 16; i++)
			add(&x, i, (unsigned int)i * 8);
		while (msn <= 16) {
			uint32_t n = 16 - msn + 1 < ord ? 16 - msn + 1 : ord;
			uint16_t ssn = x.ssn;

			for (uint32_t i = 0; i < n; i++)
				out(&x, REQUEST "00000000 %w ..", msn + i, msn + i);
			silent(&x);
			for (uint32_t i = n; i-- > 0;) {
				in_at(&x, (uint16_t)(ssn + i), ANSWER "%w %q", msn + i, msn + i,
				      (uint64_t)(1000 + msn + i));
				if (i)
					no_completion(&x);
			}
			x.ssn = (uint16_t)(ssn + n);
			for (uint32_t i = 0; i < n; i++) {
				struct script_cqe want = { msn + i, IW_WC_SUCCESS };

				assert_int_equal(fx_cqe(&x).wr_id, want.wr_id);
				assert_true(value_at(&x, (msn + i) * 8) == 1000 + msn + i);
			}
			msn += n;
		}
		fx_no_event(&x);
		fx_stop(&x);
	}
}

static void fences(void **state)
{
	ROWS("7306-5.4-04");
	struct fx x;

	open_session(&x, 0, 4);
	add(&x, 1, 0);
	fx_post(&x, 2, IW_WR_SEND, x.base, 4, 0, 0, IW_SEND_FENCE);
	out(&x, REQUEST "..", 1u);
	silent(&x);
	in(&x, ANSWER "00000001 0000000000000007", 1u);
	out(&x, "41 43 ..");
	completions(&x, { 1, IW_WC_SUCCESS }, { 2, IW_WC_SUCCESS });
	fx_stop(&x);
}

/*
 * A wrong response causes a Terminate with its DDP header. The oldest request completes with the
 * error.
 */
static void wrong_answers(void **state)
{
	ROWS("7306-5.2.2-06 7306-8.1-02 7306-8.2-01");
	static const struct {
		const char *header, *body;
		uint32_t word;
		enum iw_wc_status status; /* of the first of the two atomics */
	} cases[] = {
		/* wrong identifier */
		{ "41 4B 00000000  00000003 00000001 00000000", "00000009 0000000000000001",
		  0x02ffc000, IW_WC_REM_OP_ERR },
		{ "41 4B 00000000  00000003 00000001 00000000", "00000002 0000000000000001",
		  0x02ffc000, IW_WC_REM_OP_ERR },
		/* wrong length */
		{ "41 4B 00000000  00000003 00000001 00000000", "00000001 00000000000000",
		  0x02ffc000, IW_WC_REM_OP_ERR },
		{ "41 4B 00000000  00000003 00000001 00000000", "", 0x02ffc000, IW_WC_REM_OP_ERR },
		{ "41 4B 00000000  00000003 00000001 00000000", "00000001 000000000000000100",
		  0x1205c000, IW_WC_WR_FLUSH_ERR },
		{ "41 4B 00000000  00000003 00000001 00000004", "00000001 0000000000000001",
		  0x1204c000, IW_WC_WR_FLUSH_ERR },
		/* wrong MSN: not the oldest, already answered, never requested */
		{ "41 4B 00000000  00000003 00000002 00000000", "00000002 0000000000000001",
		  0x1203c000, IW_WC_REM_OP_ERR },
		{ "41 4B 00000000  00000003 00000000 00000000", "00000001 0000000000000001",
		  0x1203c000, IW_WC_WR_FLUSH_ERR },
		{ "41 4B 00000000  00000003 00000003 00000000", "00000003 0000000000000001",
		  0x1202c000, IW_WC_WR_FLUSH_ERR },
		/* wrong version, wrong queue */
		{ "41 8B 00000000  00000003 00000001 00000000", "00000001 0000000000000001",
		  0x0205c000, IW_WC_WR_FLUSH_ERR },
		{ "41 4B 00000000  00000001 00000001 00000000", "00000001 0000000000000001",
		  0x0206c000, IW_WC_WR_FLUSH_ERR },
		/* An empty Read Response does not answer an atomic. */
		{ "C1 42 00000000 0000000000000000", "", 0x0206c000, IW_WC_REM_OP_ERR },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t header[18], body[20];
		size_t h, n;
		struct fx x;

		open_session(&x, 0, 4);
		memset(x.mem, 0x77, FX_MEM);
		add(&x, 1, 0);
		add(&x, 2, 8);
		out(&x, REQUEST "..", 1u);
		out(&x, REQUEST "..", 2u);
		h = script_bytes(header, cases[i].header);
		n = script_bytes(body, cases[i].body);
		in(&x, "%b %b", header, h, body, n);
		out(&x, TERM_SEGMENT "%w 00 %b %b", cases[i].word,
		    (const void *)(uint8_t[]){ (uint8_t)(h + n) }, (size_t)1, header, h);
		out_end(&x);
		completions(&x, { 1, cases[i].status }, { 2, IW_WC_WR_FLUSH_ERR });
		assert_true(value_at(&x, 0) == 0x7777777777777777);
		assert_true(value_at(&x, 8) == 0x7777777777777777);
		fx_event(&x, IW_EVENT_QP_REQUEST);
		fx_event(&x, IW_EVENT_CLOSED);
		fx_stop(&x);
	}
}

/* An Atomic Response arrives while the oldest request is a read, or without a request. */
static void answers_out_of_turn(void **state)
{
	ROWS("7306-5.2.2-06");
	struct fx x;

	open_session(&x, 0, 4);
	fx_post(&x, 1, IW_WR_RDMA_READ, x.base + 100, 4, 0x99, 1, 0);
	add(&x, 2, 0);
	out(&x, "41 41 ..");
	out(&x, REQUEST "..", 2u);
	in(&x, ANSWER "00000002 0000000000000007", 1u);
	out(&x, TERM_SEGMENT "0206C000 001E 41 4B 00000000  00000003 00000001 00000000");
	out_end(&x);
	completions(&x, { 1, IW_WC_REM_OP_ERR }, { 2, IW_WC_WR_FLUSH_ERR });
	assert_true(value_at(&x, 0) == 0);
	fx_stop(&x);

	/* A second response arrives, and both are placed before the first is delivered. */
	open_session(&x, 0, 4);
	add(&x, 1, 0);
	out(&x, REQUEST "..", 1u);
	in_at(&x, 3, ANSWER "00000001 0000000000000007", 1u);
	in_at(&x, 2, ANSWER "00000001 0000000000000007", 1u);
	in_at(&x, 1, "C1 40 00000000 0000000000000000");
	completions(&x, { 1, IW_WC_SUCCESS });
	out(&x, TERM_SEGMENT "1203C000 001E 41 4B 00000000  00000003 00000001 00000000");
	out_end(&x);
	fx_stop(&x);

	open_session(&x, 0, 4);
	in(&x, ANSWER "00000001 0000000000000007", 1u);
	out(&x, TERM_SEGMENT "1202C000 001E 41 4B 00000000  00000003 00000001 00000000");
	out_end(&x);
	fx_stop(&x);
}

/* Invalid atomics of the application. The Terminate to the peer has no headers. */
static void faults_of_ours(void **state)
{
	ROWS("7306-8.1-01");
	struct iw_send_wqe *w;
	struct fx x;

	for (unsigned int c = 0; c < 4; c++) {
		open_session(&x, 0, c == 3 ? 0 : 4);
		add(&x, 1, 0);
		w = iw_sq_at(x.qp, 0);
		switch (c) {
		case 0:
			w->sge[0].lkey ^= 1;
			break;
		case 1:
			w->sge[0].addr = x.base + FX_MEM - 4;
			break;
		case 2: /* sink too small */
			w->sge[0].length = 7;
			break;
		default: /* ORD is 0 */
			break;
		}
		out(&x, TERM_SEGMENT "00000000");
		out_end(&x);
		completions(&x, { 1, c == 3 ? IW_WC_LOC_QP_OP_ERR : IW_WC_LOC_PROT_ERR });
		fx_stop(&x);
	}
	/* The sink goes away before the response. */
	open_session(&x, 0, 4);
	add(&x, 1, 0);
	add(&x, 2, 8);
	out(&x, REQUEST "..", 1u);
	out(&x, REQUEST "..", 2u);
	fx_hole = x.mem;
	fx_hole_len = 1;
	in(&x, ANSWER "00000001 0000000000000007", 1u);
	out(&x, TERM_SEGMENT "00000000");
	out_end(&x);
	completions(&x, { 1, IW_WC_LOC_PROT_ERR }, { 2, IW_WC_WR_FLUSH_ERR });
	fx_stop(&x);
}

/* The value may be scattered, and its place unaligned. */
static void scattered(void **state)
{
	ROWS("7306-5.2.2-05");
	struct iw_send_wqe *w;
	uint64_t value; /* its bytes are 1 to 8 in this host's memory */
	struct fx x;

	memcpy(&value, "\1\2\3\4\5\6\7\x8", sizeof(value));
	open_session(&x, 0, 4);
	fx_post_atomic(&x, 1, IW_WR_ATOMIC_FETCH_AND_ADD, x.base, RKEY, TO, 1, 0);
	w = iw_sq_at(x.qp, 0);
	w->num_sge = 4;
	w->sge[0] = (struct iw_sge){ x.base + 3, 3, x.stag };
	w->sge[1] = (struct iw_sge){ 0, 0, 0 };
	w->sge[2] = (struct iw_sge){ x.base + 20, 4, x.stag };
	w->sge[3] = (struct iw_sge){ x.base + 31, 100, x.stag };
	out(&x, REQUEST "..", 1u);
	in(&x, ANSWER "00000001 %q", 1u, value);
	completions(&x, { 1, IW_WC_SUCCESS });
	assert_memory_equal(x.mem, "\0\0\0\1\2\3\0", 7);
	assert_memory_equal(x.mem + 19, "\0\4\5\6\7\0", 6);
	assert_memory_equal(x.mem + 30, "\0\x8\0", 3);
	fx_stop(&x);
}

/* The error of the peer's Terminate becomes the status of the completion. */
static void refused_by_the_peer(void **state)
{
	ROWS("7306-1.1-03 7306-5.1.1-01");
	static const struct {
		uint32_t word;
		enum iw_wc_status status;
	} cases[] = {
		{ 0x0206c000, IW_WC_REM_INV_REQ_ERR }, /* no support for atomics */
		{ 0x0207c000, IW_WC_REM_INV_REQ_ERR }, /* not aligned */
		{ 0x0100c000, IW_WC_REM_ACCESS_ERR },  /* no such STag */
		{ 0x0102c000, IW_WC_REM_ACCESS_ERR },  { 0x0202c000, IW_WC_REM_OP_ERR },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fx x;

		open_session(&x, 0, 4);
		add(&x, 1, 0);
		add(&x, 2, 8);
		add(&x, 3, 16);
		for (uint32_t msn = 1; msn <= 3; msn++)
			out(&x, REQUEST "..", msn);
		in(&x, TERM_SEGMENT "%w 0046 41 4A 00000000  00000001 00000002 00000000",
		   cases[i].word);
		completions(&x, { 1, IW_WC_WR_FLUSH_ERR }, { 2, cases[i].status },
			    { 3, IW_WC_WR_FLUSH_ERR });
		assert_int_equal(fx_event(&x, IW_EVENT_CLOSED).error, -ECONNRESET);
		fx_stop(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests),
		cmocka_unit_test(answers),
		cmocka_unit_test(depth),
		cmocka_unit_test(fences),
		cmocka_unit_test(wrong_answers),
		cmocka_unit_test(answers_out_of_turn),
		cmocka_unit_test(faults_of_ours),
		cmocka_unit_test(scattered),
		cmocka_unit_test(refused_by_the_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
