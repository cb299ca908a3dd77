/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/*
 * Ordering and completion (RFC 5040 5.5): programmes of the peer, with their segments in every
 * order of arrival. A model gives the permitted effects after each segment.
 */
#include "fixture/iw_script.h"

#include "iwarp/mr.h"
#include "iwarp/rnic.h"
#include "wire/session.h"
#include "wire/terminate.h"

enum { MESSAGES = 3, SEGMENTS_MAX = 2 * MESSAGES, AREA = 1000, PIECE = 4 };
enum kind { WRITE, WRITE_IN_TWO, SEND, SEND_IN_TWO, READ, READ_NOTHING, KINDS };

struct segment {
	unsigned int message, part, parts;
};

struct programme {
	enum kind kind[MESSAGES];
	struct segment segment[SEGMENTS_MAX];
	unsigned int n;
	unsigned int sends, reads; /* completed Sends, answered reads */
};

static void make(struct programme *p, unsigned int number)
{
	memset(p, 0, sizeof(*p));
	for (unsigned int i = 0; i < MESSAGES; i++, number /= KINDS) {
		unsigned int parts;

		p->kind[i] = (enum kind)(number % KINDS);
		parts = p->kind[i] == WRITE_IN_TWO || p->kind[i] == SEND_IN_TWO ? 2 : 1;
		for (unsigned int k = 0; k < parts; k++)
			p->segment[p->n++] = (struct segment){ i, k, parts };
	}
}

/* Makes the next permutation of n numbers. Returns false after the last. */
static bool permute(uint8_t *order, unsigned int n)
{
	unsigned int i = n - 1, k = n - 1;
	uint8_t t;

	while (i && order[i - 1] >= order[i])
		i--;
	if (!i)
		return false;
	while (order[k] <= order[i - 1])
		k--;
	t = order[k];
	order[k] = order[i - 1];
	order[i - 1] = t;
	for (k = n - 1; i < k; i++, k--) {
		t = order[i];
		order[i] = order[k];
		order[k] = t;
	}
	return true;
}

/* True if both kinds have the same destination: memory, QN 0 or QN 1. */
static bool alike(enum kind a, enum kind b)
{
	return a / 2 == b / 2;
}

/* Returns the MSN of message i: 1 plus the earlier Sends or reads. */
static uint32_t msn_of(const struct programme *p, unsigned int i)
{
	uint32_t msn = 1;

	for (unsigned int k = 0; k < i; k++)
		msn += alike(p->kind[k], p->kind[i]);
	return msn;
}

/*
 * Delivers a segment of message i: four times the letter 'A' + i. A Write fills its piece of the
 * area, and a read returns the whole area.
 */
static void arrive(const struct programme *p, struct fx *x, unsigned int at)
{
	const struct segment *s = &p->segment[at];
	uint8_t control = s->part == s->parts - 1 ? 0x40 : 0, text[PIECE];
	size_t len = PIECE / s->parts;
	uint16_t ssn = (uint16_t)(at + 1);

	memset(text, 'A' + (int)s->message, PIECE);
	switch (p->kind[s->message]) {
	case WRITE:
	case WRITE_IN_TWO:
		control |= 0x81;
		in_at(x, ssn, "%b 40 %w %q %b", &control, (size_t)1, x->stag,
		      x->base + AREA + s->message * PIECE + s->part * len, text, len);
		break;
	case SEND:
	case SEND_IN_TWO:
		control |= 0x01;
		in_at(x, ssn, "%b 43 00000000  00000000 %w %w %b", &control, (size_t)1,
		      msn_of(p, s->message), (uint32_t)(s->part * len), text, len);
		break;
	default:
		in_at(x, ssn, "41 41 00000000  00000001 %w 00000000  DEADBEEF %q %w %w %q",
		      msn_of(p, s->message), (uint64_t)s->message,
		      p->kind[s->message] == READ ? 12 : 0, x->stag, x->base + AREA);
	}
}

/* Checks that all Writes before message i are in the area. */
static void writes_are_there(const struct programme *p, const uint8_t *area, unsigned int i)
{
	for (unsigned int k = 0; k < i; k++)
		for (unsigned int b = 0; b < PIECE && alike(p->kind[k], WRITE); b++)
			assert_int_equal(area[k * PIECE + b], 'A' + (int)k);
}

/*
 * Checks the completions: each Send is complete and each read is answered if this message and all
 * before it are whole. No other message is.
 */
static void check(struct programme *p, struct fx *x, unsigned int whole)
{
	unsigned int sends = 0, reads = 0;

	for (unsigned int i = 0; i < whole; i++) {
		if (alike(p->kind[i], READ) && reads++ == p->reads) {
			out(x, "C1 42 DEADBEEF %q %b", (uint64_t)i, x->mem + AREA,
			    (size_t)(p->kind[i] == READ ? 12 : 0));
			writes_are_there(p, p->kind[i] == READ ? x->out + 16 : x->mem + AREA, i);
			p->reads++;
		} else if (alike(p->kind[i], SEND) && sends++ == p->sends) {
			struct iw_cqe cqe = fx_cqe(x);

			assert_int_equal(cqe.wr_id, p->sends);
			assert_int_equal(cqe.status, IW_WC_SUCCESS);
			assert_int_equal(cqe.byte_len, PIECE);
			for (unsigned int b = 0; b < PIECE; b++)
				assert_int_equal(x->mem[p->sends * PIECE + b], 'A' + (int)i);
			writes_are_there(p, x->mem + AREA, i);
			p->sends++;
		}
	}
	silent(x);
	no_completion(x);
}

static void run(unsigned int number, const uint8_t *order, bool in_order)
{
	bool arrived[SEGMENTS_MAX + 1] = { false };
	unsigned int prefix = 0;
	struct programme p;
	struct fx x;

	make(&p, number);
	open_session(&x, MESSAGES, 0);
	x.rnic->config.in_order = in_order;
	for (unsigned int i = 0; i < MESSAGES; i++)
		fx_post_recv(&x, i, x.base + i * PIECE, PIECE, x.stag);
	for (unsigned int i = 0; i < p.n; i++) {
		arrive(&p, &x, order[i]);
		arrived[order[i]] = true;
		while (arrived[prefix])
			prefix++;
		check(&p, &x, prefix == p.n ? MESSAGES : p.segment[prefix].message);
	}
	fx_no_event(&x);
	fx_stop(&x);
}

static void arrivals_in_every_order(void **state)
{
	ROWS("5040-3.1-08 5040-5.1-07 5040-5.2.1-08 5040-5.2.1-11 5040-5.2.2-05 5040-5.3-05"
	     " 5040-5.5-03 5040-5.5-07 5040-5.5-08 5040-5.5-10 5040-5.5-15 5040-5.5-16 5040-5.5-17"
	     " 5040-5.5-19 5040-B-01 5040-B-02 5040-B-03 5040-B-05");
	for (unsigned int number = 0; number < KINDS * KINDS * KINDS; number++) {
		for (unsigned int in_order = 0; in_order < 2; in_order++) {
			uint8_t order[SEGMENTS_MAX] = { 0, 1, 2, 3, 4, 5 };
			struct programme p;

			make(&p, number);
			do
				run(number, order, in_order);
			while (permute(order, p.n));
		}
	}
}

/* A read after a Send without a receive, and before a Write, waits until the Send completes. */
static void reads_wait_for_sends_before_them(void **state)
{
	ROWS("5040-B-02 5040-5.5-17 7306-7-02");
	struct fx x;

	open_session(&x, 4, 0);
	in(&x, "41 43 00000000  00000000 00000001 00000000 'Send'");
	in(&x, READ_SEGMENT("00000001", "00000004 %w %q"), x.stag, x.base);
	in(&x, "41 43 00000000  00000000 00000002 00000000 'next'");
	silent(&x);
	fx_post_recv(&x, 1, x.base, 4, x.stag);
	completions(&x, { 1, IW_WC_SUCCESS });
	out(&x, "C1 42 DEADBEEF 0123456789ABCDEF 'Send'");
	silent(&x);
	/* a Send need not wait for an earlier read's response */
	in(&x, READ_SEGMENT("00000002", "00000004 %w %q"), x.stag, x.base);
	fx_post_recv(&x, 2, x.base + 100, 4, x.stag);
	completions(&x, { 2, IW_WC_SUCCESS });
	fx_stop(&x);
}

/* A shorter, later response does not interrupt a long response. */
static void responses_follow_one_another(void **state)
{
	ROWS("5040-5.2.2-05 5040-5.5-19 5040-B-03");
	static const uint32_t sizes[] = { 1200, 1, 0, 503 };
	struct fx x;

	open_session(&x, 4, 0);
	iw_assoc_set_max_msg(x.assoc, 518);
	for (uint32_t i = 0; i < 4; i++)
		in(&x, "41 41 00000000  00000001 %w 00000000  %w 0000000000000000 %w %w %q", i + 1,
		   i + 1, sizes[i], x.stag, x.base);
	out(&x, "81 42 00000001 0000000000000000 ..");
	out(&x, "81 42 00000001 00000000000001F4 ..");
	out(&x, "C1 42 00000001 00000000000003E8 %b", x.mem + 1000, (size_t)200);
	out(&x, "C1 42 00000002 0000000000000000 00");
	out(&x, "C1 42 00000003 0000000000000000");
	out(&x, "81 42 00000004 0000000000000000 ..");
	out(&x, "C1 42 00000004 00000000000001F4 000000");
	silent(&x);
	fx_stop(&x);
}

/*
 * A local Send, Write and read, and two reads of the peer, which arrive after a varying number of
 * messages. Each of the two sequences keeps its order, and no message interrupts another.
 */
struct sequence {
	const uint8_t *opcodes;
	unsigned int n; /* begun */
	bool open;	/* its last segment is still to come */
};

static void expect_in_sequence(struct sequence *s, struct sequence *other, const uint8_t *m)
{
	if (!s->open)
		s->n++;
	assert_false(other->open);
	assert_int_equal(m[3], s->opcodes[s->n - 1]);
	s->open = !(m[2] & 0x40);
}

static void in_and_out(unsigned int post_at, const unsigned int *read_at)
{
	static const uint8_t posted[] = { 0x43, 0x40, 0x41 }, asked[] = { 0x42, 0x42 };
	struct sequence ours = { .opcodes = posted }, theirs = { .opcodes = asked };
	unsigned int reads = 0, idle = 0;
	struct fx x;

	open_session(&x, 2, 1);
	iw_assoc_set_max_msg(x.assoc, 518);
	for (unsigned int step = 0; idle < 12; step++) {
		if (step == post_at) {
			fx_post(&x, 1, IW_WR_SEND, x.base, 600, 0, 0, 0);
			fx_post(&x, 2, IW_WR_RDMA_WRITE, x.base, 600, 0x99, 0, 0);
			fx_post(&x, 3, IW_WR_RDMA_READ, x.base, 600, 0x99, 0, 0);
		}
		for (; reads < 2 && read_at[reads] == step; reads++)
			in(&x,
			   "41 41 00000000  00000001 %w 00000000  %w 0000000000000000 00000258 %w %q",
			   reads + 1, reads + 1, x.stag, x.base);
		if (!fx_pull(&x)) {
			assert_false(ours.open || theirs.open);
			idle++;
			continue;
		}
		if (x.out[3] == 0x42) {
			expect_in_sequence(&theirs, &ours, x.out);
			assert_true(theirs.n <= reads); /* not before its request */
			assert_int_equal(get_be32(x.out + 4), theirs.n);
		} else {
			expect_in_sequence(&ours, &theirs, x.out);
		}
	}
	assert_int_equal(ours.n, 3);
	assert_int_equal(theirs.n, 2);
	completions(&x, { 1, IW_WC_SUCCESS }, { 2, IW_WC_SUCCESS });
	fx_stop(&x);
}

static void both_directions(void **state)
{
	ROWS("5040-3.1-03 5040-5.2.2-05 5040-5.5-10 5040-5.5-12 5040-5.5-19 5040-B-03");
	unsigned int read_at[2];

	for (unsigned int post_at = 0; post_at < 10; post_at++)
		for (read_at[0] = 0; read_at[0] < 10; read_at[0]++)
			for (read_at[1] = read_at[0]; read_at[1] < 10; read_at[1]++)
				in_and_out(post_at, read_at);
}

/*
 * Local reads of 6, 0 and 4 bytes with a Write between them. The segments of the responses and of a
 * peer's Send arrive in all orders. A read completes once it and all earlier requests are complete,
 * in the order of posting.
 */
static void responses_in_every_order(void **state)
{
	ROWS("5040-5.2.2-03 5040-5.5-09 5040-5.5-14 5040-5.5-18 5040-5.5-20 5040-5.3-05");
	static const char *const segments[] = {
		"81 42 %w %q 'abc'", "C1 42 %w %q 'def'", "C1 42 00000000 0000000000000000",
		"81 42 %w %q 'wx'",  "C1 42 %w %q 'yz'",
	};
	static const uint32_t at[] = { 0, 3, 0, 100, 102 };
	/* completions on the SQ, by the number of segments without a gap */
	static const unsigned int complete[] = { 0, 0, 2, 3, 3, 4, 4 };
	uint8_t order[] = { 0, 1, 2, 3, 4, 5 };
	unsigned int rounds = 0;

	do {
		bool arrived[7] = { false };
		unsigned int prefix = 0, done = 0;
		struct fx x;

		open_session(&x, 0, 3);
		x.rnic->config.in_order = rounds & 1;
		fx_post_recv(&x, 9, x.base + 200, 4, x.stag);
		fx_post(&x, 0, IW_WR_RDMA_READ, x.base, 6, 0x99, 0, 0);
		fx_post(&x, 1, IW_WR_RDMA_WRITE, x.base + 300, 1, 0x99, 0, 0);
		fx_post(&x, 2, IW_WR_RDMA_READ, 0, 0, 0x99, 0, 0);
		fx_post(&x, 3, IW_WR_RDMA_READ, x.base + 100, 4, 0x99, 0, 0);
		out(&x, "41 41 ..");
		out(&x, "C1 40 ..");
		out(&x, "41 41 ..");
		out(&x, "41 41 ..");
		for (unsigned int i = 0; i < 6; i++) {
			if (order[i] == 5)
				in_at(&x, 6, "41 43 00000000  00000000 00000001 00000000 'Send'");
			else
				in_at(&x, (uint16_t)(order[i] + 1), segments[order[i]], x.stag,
				      x.base + at[order[i]]);
			arrived[order[i]] = true;
			while (arrived[prefix])
				prefix++;
			for (; done < complete[prefix]; done++) {
				struct iw_cqe cqe = fx_cqe(&x);

				assert_int_equal(cqe.wr_id, done);
				assert_int_equal(cqe.status, IW_WC_SUCCESS);
				if (done == 0)
					assert_memory_equal(x.mem, "abcdef", 6);
				if (done == 3)
					assert_memory_equal(x.mem + 100, "wxyz", 4);
			}
			if (prefix == 6)
				completions(&x, { 9, IW_WC_SUCCESS });
			no_completion(&x);
		}
		fx_no_event(&x);
		fx_stop(&x);
	} while ((rounds++ & 1) == 0 || permute(order, 6));
}

/* Neither a missing message nor an error on one stream affects another stream. */
static void streams_do_not_wait_for_each_other(void **state)
{
	ROWS("5040-1.1-02 5040-5.5-01 5040-7-02 5040-7-03");
	struct iw_qp *first, *second;
	struct fx x;

	open_session(&x, 1, 1);
	first = x.qp;
	fx_post_recv(&x, 1, x.base, 16, x.stag);
	second = fx_qp_sized(&x, x.pd, x.cq, 8);
	x.sid = 2;
	x.ssn = 0;
	fx_control(&x, SESSION_INITIATE, NULL, 0);
	assert_int_equal(iw_session_accept(fx_event(&x, IW_EVENT_INITIATE).session, second,
					   &(struct iw_session_param){ .ird = 1 }),
			 0);
	assert_true(fx_pull(&x));
	x.qp = second;
	for (unsigned int i = 2; i < 5; i++)
		fx_post_recv(&x, i, x.base + i * 16, 16, x.stag);
	/* stream 0 lacks its DDP-SSN 1 */
	x.sid = 0;
	in_at(&x, 2, "41 43 00000000  00000000 00000001 00000000 'late'");
	x.sid = 2;
	in_at(&x, 1, "41 43 00000000  00000000 00000001 00000000 'soon'");
	completions(&x, { 2, IW_WC_SUCCESS });
	in_at(&x, 2, READ_SEGMENT("00000001", "00000004 %w %q"), x.stag, x.base + 32);
	out(&x, "C1 42 DEADBEEF 0123456789ABCDEF 'soon'");
	x.sid = 0;
	in_at(&x, 1, "C1 40 %w 0000000000000000 'bad'", x.stag ^ 0x100);
	completions(&x, { 1, IW_WC_WR_FLUSH_ERR });
	fx_event(&x, IW_EVENT_QP_ACCESS);
	script_out_ssn = 1;
	out(&x, TERM_SEGMENT "1100C000 ..");
	fx_ack(&x, 3);
	out_end(&x);
	in_at(&x, 3, "C1 40 %w %q 'dead'", x.stag, x.base + 500);
	assert_int_equal(x.mem[500], 0);
	x.sid = 2;
	in_at(&x, 3, "41 43 00000000  00000000 00000002 00000000 'alive'");
	completions(&x, { 3, IW_WC_SUCCESS });
	assert_int_equal(iw_assoc_sessions(x.assoc), 2);
	iw_qp_free(second);
	x.qp = first;
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrivals_in_every_order),
		cmocka_unit_test(reads_wait_for_sends_before_them),
		cmocka_unit_test(responses_follow_one_another),
		cmocka_unit_test(both_directions),
		cmocka_unit_test(responses_in_every_order),
		cmocka_unit_test(streams_do_not_wait_for_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
