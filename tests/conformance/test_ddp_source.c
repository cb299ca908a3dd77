/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* DDP at the Data Source (RFC 5041 4, 5.2, 5.3): work requests, and the octets sent for them. */
#include "fixture/iw_script.h"
#include "iwarp/rc.h"
#include "wire/session.h"

#define TO 0x0123456789abcdefull
#define RKEY 0xa1b2c3d4

/* The messages of each work request, with three octets of payload or none. */
static void bytes_of_each_message(void **state)
{
	static const struct {
		uint8_t opcode, flags;
		uint32_t len;
		const char *want;
	} posts[] = {
		/* control, RDMAP, STag, TO, payload */
		{ IW_WR_RDMA_WRITE, 0, 3, "c1 40 a1b2c3d4 0123456789abcdef 'abc'" },
		{ IW_WR_RDMA_WRITE, 0, 0, "c1 40 a1b2c3d4 0123456789abcdef" },
		/* control, RDMAP, Invalidate STag, QN, MSN, MO, payload */
		{ IW_WR_SEND, 0, 3, "41 43 00000000  00000000 00000001 00000000 'abc'" },
		{ IW_WR_SEND, 0, 0, "41 43 00000000  00000000 00000002 00000000" },
		{ IW_WR_SEND_WITH_INV, 0, 3, "41 44 a1b2c3d4  00000000 00000003 00000000 'abc'" },
		{ IW_WR_SEND, IW_SEND_SOLICITED, 3,
		  "41 45 00000000  00000000 00000004 00000000 'abc'" },
		{ IW_WR_SEND_WITH_INV, IW_SEND_SOLICITED, 3,
		  "41 46 a1b2c3d4  00000000 00000005 00000000 'abc'" },
	};
	struct fx x;

	ROWS("5041-4.1-01 5041-4.1-02 5041-4.1-05 5041-4.1-11 5041-4.1-13 5041-4.2-01 5041-4.2-02 "
	     "5041-4.2-03 5041-4.2-04 5041-4.2-05 5041-4.2-10 5041-4.3-01 5041-4.3-02 5041-4.3-03 "
	     "5041-4.3-04 5041-4.3-05 5041-4.3-09 5041-4.3-11 5041-4.3-12 5041-4.3-16 5041-4.4-01 "
	     "5041-4.4-02 5041-5.2-09 5041-5.2-13 5041-5.2-14 5041-5.3-02 5041-8.2-02");
	open_session(&x, 4, 4);
	memcpy(x.mem, "abc", 3);
	for (size_t i = 0; i < sizeof(posts) / sizeof(posts[0]); i++)
		fx_post(&x, i, posts[i].opcode, x.base, posts[i].len, RKEY, TO, posts[i].flags);
	for (size_t i = 0; i < sizeof(posts) / sizeof(posts[0]); i++)
		out(&x, posts[i].want);
	silent(&x);
	fx_stop(&x);
}

/* The messages that RDMAP itself makes: Read Request, Read Response, Terminate. */
static void bytes_of_reads_and_terminate(void **state)
{
	struct fx x;

	ROWS("5041-4.1-01 5041-4.2-01 5041-4.2-03 5041-4.2-04 5041-4.3-01 5041-4.3-03 5041-4.3-09 "
	     "5041-4.3-12 5041-8.2-02");
	open_session(&x, 4, 4);
	memcpy(x.mem + 100, "xyz", 3);
	fx_post(&x, 1, IW_WR_RDMA_READ, x.base, 5, RKEY, TO, 0);
	out(&x,
	    "41 41 00000000  00000001 00000001 00000000  %w %q 00000005 a1b2c3d4 0123456789abcdef",
	    x.stag, x.base);
	in(&x,
	   "41 41 00000000  00000001 00000001 00000000  00000009 0000000a0000000b 00000003 %w %q",
	   x.stag, x.base + 100);
	out(&x, "c1 42 00000009 0000000a0000000b 'xyz'");
	/* queue 9 does not exist */
	in(&x, "41 43 00000000  00000009 00000001 00000000");
	out(&x, "41 47 00000000  00000002 00000001 00000000  12 01 c000 0012"
		"41 43 00000000  00000009 00000001 00000000");
	fx_stop(&x);
}

/*
 * The example of RFC 5041 5.2: MULPDU 1500, 2048 octets, TO 16384. Payload is cut at multiples of
 * 4.
 */
static void segment_sizes(void **state)
{
	struct fx x;

	ROWS("5041-5.2-02 5041-5.2-08 5041-5.2-11");
	open_session(&x, 4, 4);
	iw_assoc_set_max_msg(x.assoc, 2 + 1500);
	fx_post(&x, 1, IW_WR_SEND, x.base, 2048, 0, 0, 0);
	fx_post(&x, 2, IW_WR_RDMA_WRITE, x.base, 2048, RKEY, 16384, 0);
	/* a whole message may fill the MULPDU exactly */
	fx_post(&x, 3, IW_WR_SEND, x.base, 1482, 0, 0, 0);
	fx_post(&x, 4, IW_WR_SEND, x.base, 1483, 0, 0, 0);
	fx_post(&x, 5, IW_WR_RDMA_WRITE, x.base, 1486, RKEY, 16384, 0);
	fx_post(&x, 6, IW_WR_RDMA_WRITE, x.base, 1487, RKEY, 16384, 0);
	static const struct {
		uint8_t control;
		uint32_t len, offset; /* MO, or TO - 16384 */
	} want[] = {
		{ 0x01, 1480, 0 }, { 0x41, 568, 1480 }, { 0x81, 1484, 0 }, { 0xc1, 564, 1484 },
		{ 0x41, 1482, 0 }, { 0x01, 1480, 0 },	{ 0x41, 3, 1480 }, { 0xc1, 1486, 0 },
		{ 0x81, 1484, 0 }, { 0xc1, 3, 1484 },
	};
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		bool tagged = want[i].control & 0x80;

		assert_true(fx_pull_room(&x, 65000));
		assert_int_equal(x.out[2], want[i].control);
		assert_int_equal(x.out_len, 2 + (tagged ? 14 : 18) + want[i].len);
		if (tagged)
			assert_int_equal(get_be64(x.out + 8), 16384 + want[i].offset);
		else
			assert_int_equal(get_be32(x.out + 16), want[i].offset);
	}
	fx_stop(&x);
}

/*
 * Takes the segments of one message of len octets. Each has a whole header and fits the MULPDU.
 * Their offsets have no gaps, only the last has L, and all other fields are equal.
 */
static void take_message(struct fx *x, size_t mulpdu, const uint8_t *data, uint32_t len, uint8_t op,
			 uint64_t to)
{
	bool tagged = op == 0x40 || op == 0x42;
	size_t header = tagged ? 14 : 18, fixed = tagged ? 6 : 14;
	uint8_t first[18] = { 0 };
	uint32_t at = 0;
	unsigned int n = 0;
	bool last;

	do {
		const uint8_t *seg = x->out + 2;
		uint16_t ssn = get_be16(x->out);
		uint32_t part;

		assert_true(fx_pull_room(x, 65000));
		assert_int_equal(x->msg.ppid, 16);
		if (n++)
			assert_int_equal(get_be16(x->out), (uint16_t)(ssn + 1));
		else
			memcpy(first, seg, header);
		assert_true(x->out_len >= 2 + header && x->out_len <= 2 + mulpdu);
		part = (uint32_t)(x->out_len - 2 - header);
		assert_true(part || !len);
		last = at + part == len;
		assert_int_equal(seg[0], (tagged ? 0x80 : 0) | (last ? 0x40 : 0) | 1);
		assert_int_equal(seg[1], op);
		/* RsvdULP and STag, or RsvdULP, QN and MSN */
		assert_memory_equal(seg + 1, first + 1, fixed - 1);
		if (tagged)
			assert_true(get_be64(seg + 6) == to + at);
		else
			assert_int_equal(get_be32(seg + 14), at);
		assert_true(part <= len - at);
		if (part)
			assert_memory_equal(seg + header, data + at, part);
		at += part;
	} while (!last);
	assert_true(len <= mulpdu - header ? n == 1 : n > 1);
}

static void segments_of_a_message(void **state)
{
	static const size_t mulpdus[] = { 516, 517, 1280, 1500, 4000, 9000, 65535 };
	static const uint32_t lens[] = { 0,   1,    2,	  497,	498,  499, 502,
					 503, 1000, 1482, 1486, 3001, 8192 };
	uint32_t reads = 0;
	struct fx x;

	ROWS("5041-4.1-05 5041-4.1-06 5041-4.1-07 5041-4.1-08 5041-4.2-01 5041-4.2-08 5041-4.2-12 "
	     "5041-4.3-01 5041-4.3-07 5041-4.3-09 5041-4.3-14 5041-4.3-16 5041-4.4-01 5041-5-01 "
	     "5041-5.2-01 5041-5.2-02 5041-5.2-04 5041-5.2-07 5041-5.2-10 5041-5.2-14 5041-5.3-03 "
	     "5041-5.3-04 5041-3-01");
	open_session(&x, 4, 4);
	for (unsigned int i = 0; i < FX_MEM; i++)
		x.mem[i] = (uint8_t)(i * 7 + i / 256);
	for (size_t m = 0; m < sizeof(mulpdus) / sizeof(mulpdus[0]); m++) {
		iw_assoc_set_max_msg(x.assoc, 2 + mulpdus[m]); /* in mid-stream */
		for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
			uint32_t len = lens[i];

			fx_post(&x, 1, IW_WR_SEND, x.base, len, 0, 0, 0);
			take_message(&x, mulpdus[m], x.mem, len, 0x43, 0);
			fx_post(&x, 1, IW_WR_SEND_WITH_INV, x.base, len, RKEY, 0,
				IW_SEND_SOLICITED);
			take_message(&x, mulpdus[m], x.mem, len, 0x46, 0);
			assert_int_equal(get_be32(x.out + 4), RKEY);
			fx_post(&x, 1, IW_WR_RDMA_WRITE, x.base, len, RKEY, TO, 0);
			take_message(&x, mulpdus[m], x.mem, len, 0x40, TO);
			assert_int_equal(get_be32(x.out + 4), RKEY);
			/* a Read Response */
			in(&x, "41 41 00000000  00000001 %w 00000000  55667788 %q %w %w %q",
			   ++reads, TO, len, x.stag, x.base);
			take_message(&x, mulpdus[m], x.mem, len, 0x42, TO);
			assert_int_equal(get_be32(x.out + 4), 0x55667788);
			while (iw_cq_poll(x.cq, 1, &(struct iw_cqe){ 0 }))
				;
		}
	}
	silent(&x);
	fx_stop(&x);
}

/*
 * The MULPDU shrinks in mid-message. Segments already cut keep their headers; later segments obey
 * the new MULPDU.
 */
static void mulpdu_changes_in_mid_message(void **state)
{
	struct fx x;

	ROWS("5041-3-01");
	open_session(&x, 4, 4);
	fx_post(&x, 1, IW_WR_RDMA_WRITE, x.base, 8000, RKEY, 0, 0);
	iw_assoc_set_max_msg(x.assoc, 2 + 4014);
	assert_true(fx_pull_room(&x, 65000));
	assert_int_equal(x.out_len, 16 + 4000);
	iw_assoc_set_max_msg(x.assoc, 2 + 1014);
	for (uint32_t at = 4000; at < 8000; at += 1000) {
		assert_true(fx_pull_room(&x, 65000));
		assert_int_equal(x.out_len, 16 + 1000);
		assert_int_equal(get_be64(x.out + 8), at);
	}
	silent(&x);
	fx_stop(&x);
}

/*
 * Messages are sent in the order of posting. No message, not even a Read Response, is sent between
 * the segments of another.
 */
static void messages_are_not_interleaved(void **state)
{
	static const struct {
		uint8_t opcode, op;
	} kinds[] = {
		{ IW_WR_SEND, 0x43 },	    { IW_WR_RDMA_WRITE, 0x40 },
		{ IW_WR_RDMA_READ, 0x41 },  { IW_WR_SEND_WITH_INV, 0x44 },
		{ IW_WR_RDMA_WRITE, 0x40 }, { IW_WR_SEND, 0x43 },
	};
	enum { N = sizeof(kinds) / sizeof(kinds[0]) };
	unsigned int posted = 0, responses = 0;
	struct fx x;

	ROWS("5041-5.3-01 5041-5.3-02 5041-5.4-01");
	open_session(&x, 4, 4);
	for (unsigned int i = 0; i < N; i++)
		fx_post(&x, i, kinds[i].opcode, x.base, 2000, x.stag, x.base + i, 0);
	for (uint32_t msn = 1; msn <= 2; msn++)
		in(&x, "41 41 00000000  00000001 %w 00000000  00000007 %q 00000bb8 %w %q", msn, TO,
		   x.stag, x.base);
	while (fx_pull(&x)) {
		uint8_t op = x.out[3];

		if (op == 0x42) {
			responses++;
		} else {
			assert_int_equal(op, kinds[posted].op);
			posted++;
		}
		while (!(x.out[2] & 0x40)) {
			assert_true(fx_pull(&x));
			assert_int_equal(x.out[3], op);
		}
		/* a Send or Write completes once the LLP has it, without an acknowledgement */
		if (op != 0x42 && posted == 2) {
			assert_int_equal(fx_cqe(&x).wr_id, 0);
			assert_int_equal(fx_cqe(&x).wr_id, 1);
		}
	}
	assert_int_equal(posted, N);
	assert_int_equal(responses, 2);
	fx_stop(&x);
}

/* Each queue counts its MSNs from 1, again for each session. */
static void message_sequence_numbers(void **state)
{
	struct fx x;

	ROWS("5041-4.3-11 5041-4.3-12 5041-5.2-06");
	open_session(&x, 4, 4);
	for (uint32_t session = 0; session < 2; session++) {
		for (uint32_t msn = 1; msn <= 4; msn++) {
			fx_post(&x, 1, IW_WR_SEND, x.base, 4, 0, 0, 0);
			fx_post(&x, 2, IW_WR_RDMA_WRITE, x.base, 4, RKEY, TO, 0); /* has no MSN */
			fx_post(&x, 3, IW_WR_RDMA_READ, x.base, 4, RKEY, TO, 0);
			assert_true(fx_pull(&x));
			assert_int_equal(get_be32(x.out + 8), 0);
			assert_int_equal(get_be32(x.out + 12), msn);
			assert_true(fx_pull(&x));
			assert_true(fx_pull(&x));
			assert_int_equal(get_be32(x.out + 8), 1);
			assert_int_equal(get_be32(x.out + 12), msn);
		}
		if (session)
			break;
		/* the peer ends the session, and opens the next on the same stream */
		fx_control(&x, SESSION_TERMINATE, NULL, 0);
		fx_event(&x, IW_EVENT_CLOSED);
		assert_true(fx_pull(&x));
		assert_int_equal(get_be16(x.out + 2), SESSION_TERMINATE);
		fx_ack(&x, 13);
		iw_qp_modify(x.qp, IW_QPS_RESET);
		iw_qp_modify(x.qp, IW_QPS_INIT);
		x.ssn = 0;
		fx_control(&x, SESSION_INITIATE, NULL, 0);
		x.session = fx_event(&x, IW_EVENT_INITIATE).session;
		assert_int_equal(
			iw_session_accept(x.session, x.qp,
					  &(struct iw_session_param){ .ird = 4, .ord = 4 }),
			0);
		assert_true(fx_pull(&x));
		assert_memory_equal(x.out, "\0\0\0\2", 4);
	}
	/* the peer's first Send has MSN 1 again, and uses the first receive */
	fx_post_recv(&x, 77, x.base, 16, x.stag);
	while (iw_cq_poll(x.cq, 1, &(struct iw_cqe){ 0 }))
		;
	fx_send(&x, 1, "first", 5);
	assert_int_equal(fx_cqe(&x).wr_id, 77);
	fx_stop(&x);
}

/* MSNs FFFFFFFE, FFFFFFFF, 0, 1, sent and received, on queues 0 and 1. */
static void sequence_numbers_wrap(void **state)
{
	const uint32_t first = 0xfffffffe;
	struct iw_rc *rc;
	struct fx x;

	ROWS("5041-4.3-13");
	open_session(&x, 8, 4);
	rc = iw_rc_of(x.qp);
	rc->tx.msn = rc->reads.msn = rc->rx.deliver_msn = first;
	rc->irq.head = rc->irq.tail = first;
	rc->rx.delta = rc->rx.unexpected.first - first; /* as iw_rc_bind() does for 1 */
	for (uint32_t i = 0; i < 4; i++) {
		fx_post(&x, 1, IW_WR_SEND, x.base, 4, 0, 0, 0);
		fx_post(&x, 2, IW_WR_RDMA_READ, x.base, 4, RKEY, TO, 0);
		out(&x, "41 43 00000000  00000000 %w 00000000 ..", first + i);
		out(&x, "41 41 00000000  00000001 %w 00000000 ..", first + i);
		in(&x, "c1 42 %w %q 'read'", x.stag, x.base);
		completions(&x, { 1, IW_WC_SUCCESS }, { 2, IW_WC_SUCCESS });
	}
	/* received in reverse order */
	for (uint32_t i = 0; i < 4; i++)
		fx_post_recv(&x, 100 + i, x.base + 1000 + 16 * i, 16, x.stag);
	for (uint32_t i = 4; i-- > 0;) {
		in_at(&x, (uint16_t)(x.ssn + i), "41 43 00000000  00000000 %w 00000000 'in'",
		      first + i);
		in_at(&x, (uint16_t)(x.ssn + 4 + i),
		      "41 41 00000000  00000001 %w 00000000  00000007 %q 00000003 %w %q", first + i,
		      TO + i, x.stag, x.base);
	}
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(fx_cqe(&x).wr_id, 100 + i);
		assert_memory_equal(x.mem + 1000 + 16 * i, "in", 2);
		out(&x, "c1 42 00000007 %q ..", TO + i);
	}
	fx_no_event(&x);
	fx_stop(&x);
}

/* STag and TO on the wire equal the work request's, even unaligned and above 32 bits. */
static void any_offset(void **state)
{
	static const uint64_t offsets[] = {
		0, 1, 3, 0xffffffff, 0x100000000ull, 0x7fffffff00000001ull, 0xfffffffffffffff0ull
	};
	struct fx x;

	ROWS("5041-4.2-10 5041-4.2-14 5041-5.2-09");
	open_session(&x, 4, 4);
	for (unsigned int i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		fx_post(&x, 1, IW_WR_RDMA_WRITE, x.base + i, 5, RKEY + i, offsets[i], 0);
		assert_true(fx_pull(&x));
		assert_int_equal(get_be32(x.out + 4), RKEY + i);
		assert_true(get_be64(x.out + 8) == offsets[i]);
	}
	fx_stop(&x);
}

/* Buffers are not advertised: posting a receive sends nothing. */
static void receives_make_no_message(void **state)
{
	struct fx x;

	ROWS("5041-5.1.2-03");
	open_session(&x, 4, 4);
	for (unsigned int i = 0; i < 10; i++)
		fx_post_recv(&x, i, x.base, 16, x.stag);
	silent(&x);
	fx_send(&x, 1, "in", 2); /* nor does using a receive */
	silent(&x);
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_of_each_message),
		cmocka_unit_test(bytes_of_reads_and_terminate),
		cmocka_unit_test(segment_sizes),
		cmocka_unit_test(segments_of_a_message),
		cmocka_unit_test(mulpdu_changes_in_mid_message),
		cmocka_unit_test(messages_are_not_interleaved),
		cmocka_unit_test(message_sequence_numbers),
		cmocka_unit_test(sequence_numbers_wrap),
		cmocka_unit_test(any_offset),
		cmocka_unit_test(receives_make_no_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
