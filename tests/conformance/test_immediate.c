/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* Immediate Data (RFC 7306 6), in both directions. */
#include "fixture/iw_script.h"

#include "iwarp/rc_rx.h"
#include "wire/terminate.h"

#define IMMEDIATE(op) "41 " op " 00000000  00000000 %w 00000000  "

static void post_imm(struct fx *x, uint64_t wr_id, uint8_t opcode, uint32_t len, const char imm[4],
		     uint8_t flags)
{
	struct iw_send_wqe *w =
		fx_begin(x, wr_id, opcode, x->base, len, 0x11223344, 0x0102030405060708, flags);

	memcpy(&w->imm_data, imm, 4);
	fx_publish(x);
}

/* Checks that the next completion is a receive with this immediate data. */
static void received(struct fx *x, uint64_t wr_id, enum iw_wc_opcode opcode, uint32_t byte_len,
		     const char imm[4])
{
	struct iw_cqe cqe = fx_cqe(x);

	assert_int_equal(cqe.wr_id, wr_id);
	assert_int_equal(cqe.status, IW_WC_SUCCESS);
	assert_int_equal(cqe.opcode, opcode);
	assert_int_equal(cqe.flags, IW_WC_WITH_IMM);
	assert_int_equal(cqe.byte_len, byte_len);
	assert_memory_equal(&cqe.imm_data, imm, 4);
}

static void as_they_go_out(void **state)
{
	ROWS("7306-4-01 7306-4.1-01 7306-4.1-02 7306-4.1-04 7306-4.1-05 7306-4.2-01 7306-6-01 7306-6.1-01"
	     " 7306-6.2-01 7306-6.3-01 7306-6.3-04 7306-10-01");
	struct fx x;

	open_session(&x, 0, 4);
	memcpy(x.mem, "payload", 7);
	fx_post(&x, 1, IW_WR_SEND, x.base, 7, 0, 0, 0);
	post_imm(&x, 2, IW_WR_RDMA_WRITE_WITH_IMM, 7, "\x11\x22\x33\x44", 0);
	post_imm(&x, 3, IW_WR_RDMA_WRITE_WITH_IMM, 0, "\xff\xff\xff\xff", IW_SEND_SOLICITED);
	post_imm(&x, 4, IW_WR_SEND_WITH_IMM, 0, "\1\2\3\4", IW_SEND_SOLICITED);
	post_imm(&x, 5, IW_WR_SEND_WITH_IMM, 0, "\0\0\0\0", 0);
	fx_post(&x, 6, IW_WR_SEND, x.base, 7, 0, 0, 0);
	out(&x, "41 43 00000000  00000000 00000001 00000000 'payload'");
	completions(&x, { 1, IW_WC_SUCCESS });
	out(&x, "C1 40 11223344 0102030405060708 'payload'");
	no_completion(&x); /* a Write completes only with its Immediate Data */
	out(&x, IMMEDIATE("48") "11223344 00000000", 2u);
	completions(&x, { 2, IW_WC_SUCCESS });
	out(&x, "C1 40 11223344 0102030405060708");
	out(&x, IMMEDIATE("49") "FFFFFFFF 00000000", 3u);
	out(&x, IMMEDIATE("49") "01020304 'SEND'", 4u);
	out(&x, IMMEDIATE("48") "00000000 'SEND'", 5u);
	out(&x, "41 43 00000000  00000000 00000006 00000000 'payload'");
	completions(&x, { 3, IW_WC_SUCCESS }, { 4, IW_WC_SUCCESS }, { 5, IW_WC_SUCCESS },
		    { 6, IW_WC_SUCCESS });
	silent(&x);
	fx_stop(&x);
}

/*
 * No message is sent between a Write and its Immediate Data, even if a response is due and room is
 * short.
 */
static void nothing_in_between(void **state)
{
	ROWS("7306-6.3-05 7306-6-01");
	struct fx x;

	for (unsigned int i = 0; i < 3; i++) {
		uint32_t msn = 0;

		open_session(&x, 4, 4);
		for (uint32_t n = 1; n <= 4; n++)
			in(&x, READ_SEGMENT("%w", "00000004 %w %q"), n, x.stag, x.base);
		for (uint32_t n = 1; n <= 4; n++)
			post_imm(&x, n, IW_WR_RDMA_WRITE_WITH_IMM, 2000 * i, (char[4]){ (char)n },
				 0);
		while (fx_pull(&x)) {
			if (x.out[3] != 0x40 || !(x.out[2] & 0x40))
				continue;
			assert_false(fx_pull_room(&x, 27));
			assert_true(fx_pull_room(&x, 28));
			assert_memory_equal(x.out + 2, "\x41\x48", 2);
			msn++;
			assert_int_equal(get_be32(x.out + 12), msn);
			assert_int_equal(x.out[20], msn);
		}
		assert_int_equal(msn, 4);
		fx_stop(&x);
	}
}

static void as_they_come_in(void **state)
{
	ROWS("7306-6-01 7306-6.1-01 7306-6.3-02 7306-6.3-03 7306-4.1-03");
	uint8_t before[FX_MEM];
	struct fx x;

	open_session(&x, 4, 4);
	for (uint64_t i = 1; i <= 8; i++) /* receives of any length, even 0 */
		fx_post_recv(&x, i, x.base + 1000, i % 3 ? 16 : 0, x.stag);
	in(&x, "81 40 %w %q 'some'", x.stag, x.base);
	in(&x, "81 40 %w %q ' of '", x.stag, x.base + 4);
	in(&x, "C1 40 %w %q 'it'", x.stag, x.base + 8);
	memcpy(before, x.mem, FX_MEM);
	assert_memory_equal(x.mem, "some of it", 10);
	no_completion(&x);
	in(&x, IMMEDIATE("48") "11223344 00000000", 1u);
	received(&x, 1, IW_WC_RECV_RDMA_WITH_IMM, 10, "\x11\x22\x33\x44");
	/* an empty Write */
	in(&x, "C1 40 00000000 0000000000000000");
	in(&x, IMMEDIATE("48") "00000000 00000000", 2u);
	received(&x, 2, IW_WC_RECV_RDMA_WITH_IMM, 0, "\0\0\0\0");
	/* alone, even after completed immediate data */
	in(&x, IMMEDIATE("48") "AABBCCDD 00000000", 3u);
	received(&x, 3, IW_WC_RECV, 0, "\xaa\xbb\xcc\xdd");
	/* a Send with immediate data that follows a Write does not belong to the Write */
	in(&x, "C1 40 %w %q 'some'", x.stag, x.base);
	in(&x, IMMEDIATE("48") "AABBCCDD 'SEND'", 4u);
	received(&x, 4, IW_WC_RECV, 0, "\xaa\xbb\xcc\xdd");
	/* of two Writes, the last has the immediate data */
	in(&x, "C1 40 %w %q 'some'", x.stag, x.base);
	in(&x, "C1 40 %w %q 'some of'", x.stag, x.base);
	in(&x, IMMEDIATE("48") "00000005 00000000", 5u);
	received(&x, 5, IW_WC_RECV_RDMA_WITH_IMM, 7, "\0\0\0\5");
	/* a Send or Read Request in between separates it from the Write */
	in(&x, "C1 40 %w %q 'some'", x.stag, x.base);
	in(&x, "41 43 00000000  00000000 00000006 00000000");
	assert_int_equal(fx_cqe(&x).opcode, IW_WC_RECV);
	in(&x, IMMEDIATE("48") "00000007 00000000", 7u);
	received(&x, 7, IW_WC_RECV, 0, "\0\0\0\7");
	in(&x, "C1 40 %w %q 'some'", x.stag, x.base);
	in(&x, READ_SEGMENT("00000001", "00000004 %w %q"), x.stag, x.base);
	in(&x, IMMEDIATE("48") "00000008 DEADBEEF", 8u);
	received(&x, 8, IW_WC_RECV, 0, "\0\0\0\x8");
	memcpy(x.mem, before, 16);
	assert_memory_equal(x.mem, before, FX_MEM);
	fx_no_event(&x);
	fx_stop(&x);
}

/* Responses to local reads do not separate a Write from its Immediate Data. */
static void responses_do_not_count(void **state)
{
	ROWS("7306-6-01");
	struct fx x;

	open_session(&x, 4, 4);
	fx_post_recv(&x, 1, 0, 0, 0);
	fx_post(&x, 2, IW_WR_RDMA_READ, x.base + 100, 4, 0x99, 1, 0);
	out(&x, "41 41 ..");
	in(&x, "C1 40 %w %q 'Write'", x.stag, x.base);
	in(&x, "C1 42 %w %q 'read'", x.stag, x.base + 100);
	completions(&x, { 2, IW_WC_SUCCESS });
	in(&x, IMMEDIATE("48") "00000001 00000000", 1u);
	received(&x, 1, IW_WC_RECV_RDMA_WITH_IMM, 5, "\0\0\0\1");
	fx_stop(&x);
}

static void solicited(void **state)
{
	ROWS("7306-4.1-05");
	struct fx x;

	open_session(&x, 4, 4);
	fx_post_recv(&x, 1, 0, 0, 0);
	fx_post_recv(&x, 2, 0, 0, 0);
	iw_cq_arm(x.cq, true);
	in(&x, IMMEDIATE("48") "00000001 00000000", 1u);
	assert_null(iw_next_notify(x.iw));
	in(&x, IMMEDIATE("49") "00000002 00000000", 2u);
	assert_ptr_equal(iw_next_notify(x.iw), x.cq);
	received(&x, 1, IW_WC_RECV, 0, "\0\0\0\1");
	received(&x, 2, IW_WC_RECV, 0, "\0\0\0\2");
	fx_stop(&x);
}

/*
 * Immediate Data is delivered in order and after its Write, whatever order packets arrive in, and
 * even if receives are posted later.
 */
static void reordered(void **state)
{
	ROWS("7306-6.3-03 7306-6.4-01 7306-7-01");
	for (unsigned int receives = 0; receives <= 50; receives += 50) {
		struct fx x;

		open_session(&x, 4, 4);
		for (uint64_t i = 1; i <= receives; i++)
			fx_post_recv(&x, i, 0, 0, 0);
		for (uint32_t i = 50; i >= 1; i--) {
			in_at(&x, (uint16_t)(2 * i), IMMEDIATE("48") "%w 00000000", i, i);
			if (i > 1)
				in_at(&x, (uint16_t)(2 * i - 1), "C1 40 %w %q %b", x.stag,
				      x.base + i, x.mem + 4000, (size_t)i);
			no_completion(&x);
		}
		in_at(&x, 1, "C1 40 %w %q 'w'", x.stag, x.base);
		for (uint64_t i = receives ? 51 : 1; i <= 50; i++)
			fx_post_recv(&x, i, 0, 0, 0);
		for (uint32_t i = 1; i <= 50; i++)
			received(&x, i, IW_WC_RECV_RDMA_WITH_IMM, i, (char[4]){ 0, 0, 0, (char)i });
		no_completion(&x);
		fx_no_event(&x);
		fx_stop(&x);
	}
}

/* Immediate Data waits for a receive like a Send. If rnr_retry_count is 0, it is refused. */
static void without_a_receive(void **state)
{
	ROWS("7306-6.1-02");
	struct fx x;

	open_session(&x, 4, 4);
	in(&x, "C1 40 %w %q 'Write'", x.stag, x.base);
	in(&x, IMMEDIATE("48") "00000001 00000000", 1u);
	in(&x, "C1 40 %w %q 'another'", x.stag, x.base);
	no_completion(&x);
	fx_post_recv(&x, 1, 0, 0, 0);
	received(&x, 1, IW_WC_RECV_RDMA_WITH_IMM, 5, "\0\0\0\1");
	fx_stop(&x);

	fx_passive(&x, 4, 4, 0);
	script_out_ssn = 1;
	in(&x, "7D 48 12345678  00000000 00000001 00000000  00000001 00000002");
	x.now += IW_RNR_GRACE;
	iw_timers(x.iw, x.now);
	out(&x, TERM_SEGMENT "1202C000 001A 41 48 00000000  00000000 00000001 00000000");
	out_end(&x);
	fx_event(&x, IW_EVENT_QP_REQUEST);
	fx_stop(&x);
}

static void wrong(void **state)
{
	ROWS("7306-6.3-06 7306-6.1-02 7306-8.1-02 7306-8.2-01");
	static const struct {
		const char *header, *body;
		uint32_t word;
	} cases[] = {
		{ "41 48 00000000  00000000 00000001 00000000", "00000001 000000", 0x02ffc000 },
		{ "41 48 00000000  00000000 00000001 00000000", "", 0x02ffc000 },
		{ "41 49 00000000  00000000 00000001 00000000", "00000001 000000", 0x02ffc000 },
		{ "41 48 00000000  00000000 00000001 00000000", "00000001 00000000 00",
		  0x1205c000 },
		{ "41 49 00000000  00000000 00000001 00000000", "00000001 00000000 00000000",
		  0x1205c000 },
		{ "01 48 00000000  00000000 00000001 00000000", "00000001 00000000", 0x02ffc000 },
		{ "41 48 00000000  00000000 00000001 00000004", "00000001 00000000", 0x1204c000 },
		{ "41 48 00000000  00000000 00000002 00000000", "00000001 00000000", 0x1203c000 },
		{ "41 48 00000000  00000000 00000000 00000000", "00000001 00000000", 0x1203c000 },
		{ "40 48 00000000  00000000 00000001 00000000", "00000001 00000000", 0x1206c000 },
		{ "41 C8 00000000  00000000 00000001 00000000", "00000001 00000000", 0x0205c000 },
		{ "41 48 00000000  00000001 00000001 00000000", "00000001 00000000", 0x0206c000 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t header[18], body[20];
		size_t n;
		struct fx x;

		open_session(&x, 4, 4);
		fx_post_recv(&x, 1, x.base, 100, x.stag);
		fx_post_recv(&x, 2, x.base, 100, x.stag);
		script_bytes(header, cases[i].header);
		n = script_bytes(body, cases[i].body);
		in(&x, "%b %b", header, (size_t)18, body, n);
		out(&x, TERM_SEGMENT "%w 00 %b %b", cases[i].word,
		    (const void *)(uint8_t[]){ (uint8_t)(18 + n) }, (size_t)1, header, (size_t)18);
		out_end(&x);
		fx_event(&x, IW_EVENT_QP_REQUEST);
		completions(&x, { 1, IW_WC_WR_FLUSH_ERR }, { 2, IW_WC_WR_FLUSH_ERR });
		assert_int_equal(x.mem[0], 0);
		fx_stop(&x);
	}
}

/* A SEND_WITH_IMM with payload sends no message. A failed Write sends no Immediate Data. */
static void faults_of_ours(void **state)
{
	ROWS("7306-8.1-01");
	struct fx x;

	open_session(&x, 0, 4);
	post_imm(&x, 1, IW_WR_SEND_WITH_IMM, 1, "\1\2\3\4", 0);
	out(&x, TERM_SEGMENT "00000000");
	out_end(&x);
	completions(&x, { 1, IW_WC_LOC_QP_OP_ERR });
	fx_stop(&x);

	open_session(&x, 0, 4);
	fx_hole = x.mem;
	fx_hole_len = 1;
	post_imm(&x, 1, IW_WR_RDMA_WRITE_WITH_IMM, 8, "\1\2\3\4", 0);
	post_imm(&x, 2, IW_WR_RDMA_WRITE_WITH_IMM, 0, "\1\2\3\4", 0);
	out(&x, TERM_SEGMENT "00000000");
	out_end(&x);
	completions(&x, { 1, IW_WC_LOC_PROT_ERR }, { 2, IW_WC_WR_FLUSH_ERR });
	fx_stop(&x);
}

/* A Terminate refers to the Write or to its Immediate Data, if still in the queue. */
static void refused_by_the_peer(void **state)
{
	ROWS("7306-6.1-02");
	for (unsigned int c = 0; c < 2; c++) {
		struct fx x;

		open_session(&x, 0, 4);
		fx_post(&x, 1, IW_WR_RDMA_READ, x.base + 100, 4, 0x99, 1, 0);
		post_imm(&x, 2, IW_WR_RDMA_WRITE_WITH_IMM, 8, "\1\2\3\4", 0);
		out(&x, "41 41 ..");
		out(&x, "C1 40 ..");
		out(&x, IMMEDIATE("48") "..", 1u);
		if (c)
			in(&x,
			   TERM_SEGMENT "1202C000 001A 41 48 00000000  00000000 00000001 00000000");
		else
			in(&x, TERM_SEGMENT "1101C000 0016 C1 40 11223344 0102030405060708");
		completions(&x, { 1, IW_WC_WR_FLUSH_ERR },
			    { 2, c ? IW_WC_RNR_RETRY_EXC_ERR : IW_WC_REM_ACCESS_ERR });
		fx_stop(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_they_go_out),    cmocka_unit_test(nothing_in_between),
		cmocka_unit_test(as_they_come_in),   cmocka_unit_test(responses_do_not_count),
		cmocka_unit_test(solicited),	     cmocka_unit_test(reordered),
		cmocka_unit_test(without_a_receive), cmocka_unit_test(wrong),
		cmocka_unit_test(faults_of_ours),    cmocka_unit_test(refused_by_the_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
