/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* DDP at the Data Sink (RFC 5041 4, 5): incoming segments, memory and completions. */
#include "fixture/iw_script.h"
#include "iwarp/ddp_rx.h"
#include "iwarp/mr.h"
#include "iwarp/terminate.h"
#include "wire/session.h"

#define RECEIVE(x, id, at, len) fx_post_recv(x, id, (x)->base + (at), len, (x)->stag)

static void received(struct fx *x, uint64_t wr_id, uint32_t byte_len)
{
	struct iw_cqe cqe = fx_cqe(x);

	assert_int_equal(cqe.wr_id, wr_id);
	assert_int_equal(cqe.status, IW_WC_SUCCESS);
	assert_int_equal(cqe.opcode, IW_WC_RECV);
	assert_int_equal(cqe.byte_len, byte_len);
}

/* Checks the memory at `at`, and that a guard on either side is unchanged. */
static void holds(struct fx *x, size_t at, const char *text)
{
	size_t n = strlen(text);

	assert_memory_equal(x->mem + at, text, n);
	assert_int_equal(x->mem[at + n], 0);
	if (at)
		assert_int_equal(x->mem[at - 1], 0);
}

static void tagged_and_untagged(void **state)
{
	struct fx x;

	ROWS("5041-4.1-03 5041-4.1-04 5041-1.2-02 5041-1.2-03 5041-5.2-12");
	open_session(&x, 4, 4);
	RECEIVE(&x, 1, 100, 4096);
	in(&x, "c1 40 %w %q 'tagged'", x.stag, x.base + 20);
	holds(&x, 20, "tagged");
	no_completion(&x); /* no receive was used, and nothing was reported */
	in(&x, "41 43 00000000  00000000 00000001 00000000 'untagged'");
	holds(&x, 100, "untagged");
	received(&x, 1, 8);
	silent(&x);
	fx_stop(&x);
}

/* A TO names an octet below and above 2^32, whatever the buffer's address. */
static void tagged_offsets(void **state)
{
	static const uint64_t iovas[] = { 0, 0x10, 0xffffff80, 0x123456789abcdef0ull,
					  UINT64_MAX - 255 };

	ROWS("5041-4.2-13 5041-4.2-14 5041-1.2-06 5041-5.2-05");
	for (size_t i = 0; i < sizeof(iovas) / sizeof(iovas[0]); i++) {
		uint8_t want[256] = { 0 };
		struct iw_mr *mr;
		struct fx x;

		open_session(&x, 4, 4);
		assert_int_equal(iw_mr_new(x.pd, x.base + 1000, 256, iovas[i],
					   IW_ACCESS_LOCAL_WRITE | IW_ACCESS_REMOTE_WRITE, NULL,
					   &mr),
				 0);
		for (uint32_t k = 0; k < 256; k++) {
			uint8_t octet = (uint8_t)~k;

			in(&x, "c1 40 %w %q %b", iw_mr_stag(mr), iovas[i] + k, &octet, (size_t)1);
			want[k] = octet;
			assert_memory_equal(x.mem + 1000, want, 256);
		}
		assert_int_equal(x.mem[999] | x.mem[1256], 0);
		fx_no_event(&x);
		iw_mr_free(mr);
		fx_stop(&x);
	}
}

/*
 * Two Sends, of two segments and of one, with Writes before and between, in each of the 720 orders
 * of arrival. A Send is delivered as soon as its segments and all earlier segments have arrived.
 * Its data is in the receive that the MSN names.
 */
static void every_order_of_arrival(void **state)
{
	static const char *const script[] = {
		"81 40 %w %q 'wri'",
		"c1 40 %w %q 'te'",
		"01 43 00000000  00000000 00000001 00000000 'fir'",
		"41 43 00000000  00000000 00000001 00000003 'st'",
		"c1 40 %w %q '2'",
		"41 43 00000000  00000000 00000002 00000000 'second'",
	};
	static const uint32_t at[] = { 100, 103, 200, 203, 120, 300 };
	enum { N = 6 };
	unsigned int order[N] = { 0, 1, 2, 3, 4, 5 };

	ROWS("5041-1.2-05 5041-3-05 5041-3-06 5041-4.1-09 5041-4.1-10 5041-4.3-15 5041-5-01 "
	     "5041-5.1.2-02 5041-5.2-05 5041-5.3-01 5041-5.3-05 5041-5.3-07 5041-5.3-08 "
	     "5041-5.4-03 5041-5.4-04 5041-5.4-05");
	for (;;) {
		unsigned int there = 0, prefix = 0, i, j;
		struct fx x;

		open_session(&x, 4, 4);
		RECEIVE(&x, 1, 200, 16);
		RECEIVE(&x, 2, 300, 16);
		for (i = 0; i < N; i++) {
			unsigned int s = order[i], before = prefix;

			/* each segment twice; the duplicate has no effect */
			in_at(&x, (uint16_t)(s + 1), script[s], x.stag, x.base + at[s]);
			in_at(&x, (uint16_t)(s + 1), script[s], x.stag, x.base + at[s]);
			there |= 1u << s;
			while (there & 1u << prefix)
				prefix++;
			/* placed immediately, despite missing segments */
			assert_int_not_equal(x.mem[at[s]], 0);
			if (before < 4 && prefix >= 4)
				received(&x, 1, 5);
			if (before < 6 && prefix >= 6)
				received(&x, 2, 6);
			no_completion(&x);
		}
		holds(&x, 100, "write");
		holds(&x, 120, "2");
		holds(&x, 200, "first");
		holds(&x, 300, "second");
		fx_no_event(&x);
		silent(&x);
		fx_stop(&x);

		/* the next permutation */
		for (i = N - 1; i && order[i - 1] > order[i]; i--)
			;
		if (!i)
			break;
		for (j = N - 1; order[j] < order[i - 1]; j--)
			;
		unsigned int t = order[j];
		order[j] = order[i - 1];
		order[i - 1] = t;
		for (j = N - 1; i < j; i++, j--) {
			t = order[i];
			order[i] = order[j];
			order[j] = t;
		}
	}
}

/* Each of six segments is missing in turn: of a Send, of a Write, or of an earlier Send. */
static void one_is_missing(void **state)
{
	static const char *const script[] = {
		"c1 40 %w %q 'A'",
		"41 43 00000000  00000000 00000001 00000000 '1'",
		"01 43 00000000  00000000 00000002 00000000 'a'",
		"01 43 00000000  00000000 00000002 00000001 'b'",
		"41 43 00000000  00000000 00000002 00000002 'c'",
		"41 43 00000000  00000000 00000003 00000000 '3'",
	};
	/* for each hole, the number of Sends that complete before the hole is filled */
	static const unsigned int early[] = { 0, 0, 1, 1, 1, 2 };

	ROWS("5041-4.1-09 5041-4.1-10 5041-5.4-03 5041-5.3-08");
	for (unsigned int hole = 0; hole < 6; hole++) {
		struct fx x;

		open_session(&x, 4, 4);
		for (unsigned int i = 1; i <= 3; i++)
			RECEIVE(&x, i, 100 * i, 16);
		for (unsigned int i = 0; i < 6; i++)
			if (i != hole)
				in_at(&x, (uint16_t)(i + 1), script[i], x.stag, x.base);
		for (unsigned int i = 1; i <= early[hole]; i++)
			received(&x, i, i == 2 ? 3 : 1);
		no_completion(&x);
		in_at(&x, (uint16_t)(hole + 1), script[hole], x.stag, x.base);
		for (unsigned int i = early[hole] + 1; i <= 3; i++)
			received(&x, i, i == 2 ? 3 : 1);
		no_completion(&x);
		fx_stop(&x);
	}
}

/* Lengths come from the segments, not from padding or buffers. */
static void lengths(void **state)
{
	struct fx x;

	ROWS("5041-1.2-02 5041-1.2-03 5041-3-08 5041-4.4-02 5041-5.2-05 5041-5.2-13 5041-5.4-04 "
	     "5041-5.4-05");
	open_session(&x, 4, 4);
	for (uint32_t len = 0; len < 8; len++) {
		RECEIVE(&x, len, 100 * len, 50);
		in(&x, "41 43 00000000  00000000 %w 00000000 %b", len + 1, "1234567", (size_t)len);
		received(&x, len, len);
		assert_memory_equal(x.mem + 100 * len, "1234567", len);
		assert_int_equal(x.mem[100 * len + len], 0);
	}
	/* odd boundaries, and an empty last segment */
	RECEIVE(&x, 8, 1000, 200);
	in(&x, "01 43 00000000  00000000 00000009 00000000 'O'");
	in(&x, "01 43 00000000  00000000 00000009 00000001 'neTwoT'");
	in(&x, "41 43 00000000  00000000 00000009 00000007 'hree'");
	received(&x, 8, 11);
	holds(&x, 1000, "OneTwoThree");
	RECEIVE(&x, 9, 2000, 200);
	in(&x, "01 43 00000000  00000000 0000000a 00000000 'whole'");
	in(&x, "41 43 00000000  00000000 0000000a 00000005");
	received(&x, 9, 5);
	holds(&x, 2000, "whole");
	fx_stop(&x);
}

/* Some octets of a message may never arrive. Its length comes from the segment with the L bit. */
static void hole_in_a_message(void **state)
{
	struct fx x;

	ROWS("5041-5.2-17 5041-5.4-05");
	open_session(&x, 4, 4);
	RECEIVE(&x, 1, 100, 200);
	in(&x, "01 43 00000000  00000000 00000001 00000000 'a'");
	in(&x, "41 43 00000000  00000000 00000001 00000064 'twenty octets, these'");
	received(&x, 1, 120);
	holds(&x, 100, "a");
	holds(&x, 200, "twenty octets, these");
	fx_stop(&x);
}

/* The control octet and the Invalidate STag reach RDMAP and the application (RsvdULP). */
static void reserved_for_the_ulp(void **state)
{
	static const struct {
		uint8_t op;
		bool inv, solicited;
	} kinds[] = {
		{ 0x43, false, false },
		{ 0x45, false, true },
		{ 0x44, true, false },
		{ 0x46, true, true },
	};

	ROWS("5041-4.3-06 5041-4.3-04 5041-5.4-06");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct iw_cqe cqe;
		struct fx x;

		open_session(&x, 4, 4);
		RECEIVE(&x, 1, 0, 16);
		iw_next_notify(x.iw);
		iw_cq_arm(x.cq, true);
		in(&x, "41 %b %w  00000000 00000001 00000000", &kinds[i].op, (size_t)1, x.stag);
		assert_ptr_equal(iw_next_notify(x.iw), kinds[i].solicited ? x.cq : NULL);
		cqe = fx_cqe(&x);
		assert_int_equal(cqe.status, IW_WC_SUCCESS);
		assert_int_equal(cqe.flags, kinds[i].inv ? IW_WC_WITH_INV : 0);
		assert_int_equal(cqe.inv_stag, kinds[i].inv ? x.stag : 0);
		fx_stop(&x);
	}
}

/* Segments of one message differ in a field. Either value may count, but only once. */
static void reserved_for_the_ulp_differs(void **state)
{
	struct fx x;

	ROWS("5041-4.3-08");
	open_session(&x, 4, 4);
	RECEIVE(&x, 1, 100, 16);
	in(&x, "01 44 12345678  00000000 00000001 00000000 'a'");
	in(&x, "41 43 00000000  00000000 00000001 00000001 'b'");
	received(&x, 1, 2);
	no_completion(&x);
	fx_no_event(&x);
	fx_stop(&x);
}

/*
 * Octet, STag, QN and MSN pass unchanged from the work request of one RNIC to RDMAP of the other.
 */
static void unmodified_on_the_way(void **state)
{
	static const struct {
		uint8_t opcode, flags, octet;
	} kinds[] = {
		{ IW_WR_RDMA_WRITE, 0, 0x40 },
		{ IW_WR_SEND, 0, 0x43 },
		{ IW_WR_SEND_WITH_INV, 0, 0x44 },
		{ IW_WR_SEND, IW_SEND_SOLICITED, 0x45 },
		{ IW_WR_SEND_WITH_INV, IW_SEND_SOLICITED, 0x46 },
	};
	struct iw_rx_rec rec;
	struct iw_failure f;
	struct fx source, sink;

	ROWS("5041-4.2-06 5041-4.2-07 5041-4.2-11 5041-4.3-06 5041-5.2-06");
	open_session(&source, 4, 4);
	open_session(&sink, 4, 4);
	for (uint32_t i = 0; i < 4; i++)
		RECEIVE(&sink, i, 100, 16);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		fx_post(&source, i, kinds[i].opcode, source.base, 4, sink.stag, sink.base + 7,
			kinds[i].flags);
		assert_true(fx_pull(&source));
		memset(&rec, 0, sizeof(rec));
		assert_int_equal(iw_ddp_place(sink.session, 1, source.out + 2, source.out_len - 2,
					      &rec, &f),
				 0);
		assert_int_equal(rec.rdmap, kinds[i].octet);
		if (kinds[i].opcode == IW_WR_SEND)
			assert_int_equal(rec.stag, 0);
		else
			assert_int_equal(rec.stag, sink.stag);
		if (i) {
			assert_int_equal(rec.msn, i); /* MSN */
			assert_int_equal(rec.mo, 0);  /* MO */
		} else {
			assert_true(iw_rec_to(&rec) == sink.base + 7);
		}
	}
	fx_stop(&sink);
	fx_stop(&source);
}

/* A Read Response matches its read by the STag, and ends with the L bit. */
static void response_by_stag(void **state)
{
	struct iw_mr *other;
	struct fx x;

	ROWS("5041-4.2-11 5041-4.1-10");
	open_session(&x, 4, 4);
	assert_int_equal(iw_mr_new(x.pd, x.base + 500, 100, x.base + 500, IW_ACCESS_LOCAL_WRITE,
				   NULL, &other),
			 0);
	fx_post(&x, 1, IW_WR_RDMA_READ, x.base + 100, 4, 9, 0, 0);
	uint32_t stag = x.stag;
	x.stag = iw_mr_stag(other);
	fx_post(&x, 2, IW_WR_RDMA_READ, x.base + 500, 4, 9, 0, 0);
	assert_true(fx_pull(&x));
	assert_true(fx_pull(&x));
	in(&x, "81 42 %w %q 'ab'", stag, x.base + 100);
	in(&x, "c1 42 %w %q 'cd'", stag, x.base + 102);
	completions(&x, { 1, IW_WC_SUCCESS });
	in(&x, "81 42 %w %q 'efgh'", iw_mr_stag(other), x.base + 500);
	no_completion(&x);
	in(&x, "c1 42 %w %q", iw_mr_stag(other), x.base + 504);
	completions(&x, { 2, IW_WC_SUCCESS });
	holds(&x, 100, "abcd");
	holds(&x, 500, "efgh");
	iw_mr_free(other);
	fx_stop(&x);
}

static void reserved_bits_do_not_matter(void **state)
{
	struct fx x;

	ROWS("5041-4.1-12");
	open_session(&x, 4, 4);
	RECEIVE(&x, 1, 100, 16);
	for (unsigned int bits = 0; bits < 16; bits++) {
		uint8_t control = (uint8_t)(bits << 2), c;

		c = control | 0xc1;
		in(&x, "%b 40 %w %q %b", &c, (size_t)1, x.stag, x.base + 20 + bits, &c, (size_t)1);
		assert_int_equal(x.mem[20 + bits], c);
		c = control | 0x01; /* L=0: not the last segment */
		in(&x, "%b 43 00000000  00000000 00000001 %w 'x'", &c, (size_t)1, bits);
		no_completion(&x);
	}
	in(&x, "7d 43 00000000  00000000 00000001 00000010");
	received(&x, 1, 16);
	fx_no_event(&x);
	fx_stop(&x);
}

/* A segment without payload places nothing, so STag, TO and rights do not matter. */
static void empty_tagged_messages(void **state)
{
	struct iw_mr *ro;
	struct fx x;

	ROWS("5041-5.2-15 5041-5.2-16 5041-7.1-01 5041-4.4-02 5041-5.2-13");
	open_session(&x, 4, 4);
	assert_int_equal(iw_mr_new(x.pd, x.base, 100, x.base, IW_ACCESS_REMOTE_READ, NULL, &ro), 0);
	in(&x, "c1 40 00000000 0000000000000000");
	in(&x, "c1 40 ffffffff ffffffffffffffff");
	in(&x, "81 40 %w %q", x.stag ^ 1, x.base - 1);
	in(&x, "c1 40 %w ffffffffffffffff", x.stag);
	in(&x, "c1 40 %w %q", iw_mr_stag(ro), x.base);
	RECEIVE(&x, 1, 100, 16);
	in(&x, "41 43 00000000  00000000 00000001 00000000 'on'");
	received(&x, 1, 2);
	fx_no_event(&x);
	silent(&x);
	iw_mr_free(ro);
	fx_stop(&x);
}

/*
 * The same octets may be written repeatedly. The last Write stands when the next Send is delivered.
 */
static void written_again_and_again(void **state)
{
	struct fx x;

	ROWS("5041-1.2-06 5041-5.1.1-01");
	open_session(&x, 4, 4);
	RECEIVE(&x, 1, 500, 16);
	in(&x, "c1 40 %w %q 'first'", x.stag, x.base + 100);
	in(&x, "c1 40 %w %q 'again'", x.stag, x.base + 100);
	in(&x, "c1 40 %w %q 'final'", x.stag, x.base + 100);
	in(&x, "41 43 00000000  00000000 00000001 00000000");
	received(&x, 1, 0);
	holds(&x, 100, "final");
	fx_stop(&x);
}

/* QN 0 without a buffer does not affect QN 1 with the same MSN. Each queue has its own MSNs. */
static void queues_are_independent(void **state)
{
	struct fx x;

	ROWS("5041-5.1.2-01 5041-5.2-06");
	open_session(&x, 4, 4);
	memcpy(x.mem + 300, "source", 6);
	in(&x,
	   "41 41 00000000  00000001 00000001 00000000  00000009 0000000000000007 00000006 %w %q",
	   x.stag, x.base + 300);
	out(&x, "c1 42 00000009 0000000000000007 'source'");
	RECEIVE(&x, 1, 100, 16);
	/* segments of Send 1 and Read Request 2 alternate */
	in(&x, "01 43 00000000  00000000 00000001 00000000 'se'");
	in(&x, "01 41 00000000  00000001 00000002 00000000  00000009 0000000000000007");
	in(&x, "41 43 00000000  00000000 00000001 00000002 'nd'");
	received(&x, 1, 4);
	in(&x, "41 41 00000000  00000001 00000002 0000000c  00000003 %w %q", x.stag, x.base + 303);
	out(&x, "c1 42 00000009 0000000000000007 'rce'");
	holds(&x, 100, "send");
	fx_stop(&x);
}

/* Receives are used in the order of posting. The range of valid MSNs moves with them. */
static void the_sink_orders_its_buffers(void **state)
{
	struct fx x;

	ROWS("5041-1.2-05 5041-5.1.2-02 5041-7.1-11 5041-7.1-12");
	open_session(&x, 4, 4);
	for (uint32_t round = 0; round < 50; round++) {
		uint16_t ssn = x.ssn;

		for (uint32_t i = 0; i < 4; i++)
			RECEIVE(&x, round * 4 + i, 100 * i, 16);
		/* in reverse order */
		for (uint32_t i = 4; i-- > 0;) {
			uint8_t data[2] = { (uint8_t)(round + 1), (uint8_t)(i + 1) };

			no_completion(&x);
			in_at(&x, (uint16_t)(ssn + i), "41 43 00000000  00000000 %w 00000000 %b",
			      round * 4 + i + 1, data, (size_t)2);
			assert_memory_equal(x.mem + 100 * i, data, 2);
		}
		x.ssn = (uint16_t)(ssn + 4);
		for (uint32_t i = 0; i < 4; i++)
			received(&x, round * 4 + i, 2);
	}
	fx_no_event(&x);
	fx_stop(&x);
}

/* No stream of an association waits for another. Each has its own errors and MSNs. */
static void streams_are_independent(void **state)
{
	struct iw_qp *first, *second;
	struct fx x;

	ROWS("5041-1.1-01 5041-1.2-08");
	open_session(&x, 4, 4);
	first = x.qp;
	RECEIVE(&x, 1, 100, 16);
	second = fx_qp_sized(&x, x.pd, x.cq, 8);
	x.sid = 7;
	x.ssn = 0;
	fx_control(&x, SESSION_INITIATE, NULL, 0);
	assert_int_equal(iw_session_accept(fx_event(&x, IW_EVENT_INITIATE).session, second,
					   &(struct iw_session_param){ .ird = 4, .ord = 4 }),
			 0);
	assert_true(fx_pull(&x));
	x.qp = second;
	RECEIVE(&x, 2, 200, 16);
	RECEIVE(&x, 3, 300, 16);
	/* DDP-SSN 1 of the first stream is missing */
	x.sid = FX_SID;
	in_at(&x, 2, "41 43 00000000  00000000 00000001 00000000 'late'");
	x.sid = 7;
	in_at(&x, 1, "41 43 00000000  00000000 00000001 00000000 'go'");
	received(&x, 2, 2);
	/* its segment is invalid; the other stream continues with MSN 2 in both directions */
	x.sid = FX_SID;
	in_at(&x, 1, "c1 40 %w %q 'x'", x.stag ^ 1, x.base);
	completions(&x, { 1, IW_WC_WR_FLUSH_ERR });
	while (fx_pull(&x))
		assert_int_equal(x.msg.sid, FX_SID);
	x.sid = 7;
	in_at(&x, 2, "41 43 00000000  00000000 00000002 00000000 'on'");
	received(&x, 3, 2);
	fx_post(&x, 4, IW_WR_SEND, x.base, 2, 0, 0, 0);
	script_out_ssn = 1;
	out(&x, "41 43 00000000  00000000 00000001 00000000 ..");
	assert_int_equal(atomic_load(&second->state), IW_QPS_RTS);
	assert_int_equal(atomic_load(&first->state), IW_QPS_ERR);
	iw_qp_free(second);
	x.qp = first;
	fx_stop(&x);
}

/* A segment is never delivered twice, whatever the application has since written to the buffer. */
static void old_segments_are_nothing(void **state)
{
	struct fx x;

	ROWS("5041-3-14 5041-5.3-07");
	open_session(&x, 4, 4);
	RECEIVE(&x, 1, 100, 16);
	RECEIVE(&x, 2, 100, 16);
	in_at(&x, 1, "41 43 00000000  00000000 00000001 00000000 'once'");
	in_at(&x, 2, "c1 40 %w %q 'once'", x.stag, x.base + 200);
	in_at(&x, 4, "c1 40 %w %q 'once'", x.stag, x.base + 300); /* early */
	received(&x, 1, 4);
	memset(x.mem, 0, FX_MEM);
	in_at(&x, 1, "41 43 00000000  00000000 00000001 00000000 'once'");
	in_at(&x, 2, "c1 40 %w %q 'once'", x.stag, x.base + 200);
	in_at(&x, 4, "c1 40 %w %q 'once'", x.stag, x.base + 300);
	for (unsigned int i = 0; i < FX_MEM; i++)
		assert_int_equal(x.mem[i], 0);
	no_completion(&x);
	fx_no_event(&x);
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tagged_and_untagged),
		cmocka_unit_test(tagged_offsets),
		cmocka_unit_test(every_order_of_arrival),
		cmocka_unit_test(one_is_missing),
		cmocka_unit_test(lengths),
		cmocka_unit_test(hole_in_a_message),
		cmocka_unit_test(reserved_for_the_ulp),
		cmocka_unit_test(reserved_for_the_ulp_differs),
		cmocka_unit_test(unmodified_on_the_way),
		cmocka_unit_test(response_by_stag),
		cmocka_unit_test(reserved_bits_do_not_matter),
		cmocka_unit_test(empty_tagged_messages),
		cmocka_unit_test(written_again_and_again),
		cmocka_unit_test(queues_are_independent),
		cmocka_unit_test(the_sink_orders_its_buffers),
		cmocka_unit_test(streams_are_independent),
		cmocka_unit_test(old_segments_are_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
