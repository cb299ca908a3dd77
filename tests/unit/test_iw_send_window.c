/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/*
 * The limit for outstanding Sends that perhaps have no receive (iwarp/send_window.c): the window
 * alone, and then with a QP.
 */
#include "fixture/iw_receipts.h"
#include "iwarp/unexpected.h"

#define COST IW_UNEXPECTED_COST

/* ---- the window ---- */

/* Reports this number of placed messages. True if a segment with this payload fits. */
static bool fits(struct iw_send_window *w, uint32_t payload, uint32_t placed)
{
	iw_send_window_placed(w, placed);
	return iw_send_window_fits(w, payload);
}

static void without_a_window(void **state)
{
	struct iw_send_window w;
	uint32_t seq;

	iw_send_window_start(&w, false, 100);
	for (uint32_t i = 0; i < 1000; i++) {
		assert_true(fits(&w, UINT32_MAX, 0));
		iw_send_window_take(&w, 60000, i);
	}
	assert_false(iw_send_window_awaits(&w, &seq));
}

/* The limit is exact. Each segment counts with its overhead at the peer. */
static void limit(void **state)
{
	struct iw_send_window w;
	uint32_t seq;

	iw_send_window_start(&w, true, 3 * (COST + 1000));
	assert_false(iw_send_window_awaits(&w, &seq));
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(fits(&w, 1000, 0));
		iw_send_window_take(&w, 1000, 10 + i);
	}
	assert_true(fits(&w, 1000, 10));
	assert_false(fits(&w, 1001, 10));
	iw_send_window_take(&w, 1000, 12);
	assert_false(fits(&w, 0, 10)); /* message 10 is not placed */
	assert_true(iw_send_window_awaits(&w, &seq));
	assert_int_equal(seq, 10);
	assert_true(fits(&w, 1000, 11));
	assert_false(fits(&w, 1001, 11));
	assert_true(fits(&w, 3 * (COST + 1000) - COST, 13));
	assert_false(iw_send_window_awaits(&w, &seq));
}

/* The last bytes before a long segment are too few for a mark, and are placed before it. */
static void placed_without_a_mark(void **state)
{
	struct iw_send_window w;
	uint32_t seq;

	iw_send_window_start(&w, true, 64 * COST);
	iw_send_window_take(&w, 0, 7);
	assert_true(w.first_mark == w.next_mark);
	assert_false(fits(&w, 63 * COST, 7));
	assert_true(fits(&w, 63 * COST, 8));
	assert_false(iw_send_window_awaits(&w, &seq));
}

/* One segment may always be sent if no other is outstanding. */
static void smaller_than_a_segment(void **state)
{
	static const uint32_t limits[] = { 0, 1, COST, COST + 999 };

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct iw_send_window w;
		uint32_t seq;

		iw_send_window_start(&w, true, limits[i]);
		for (uint32_t k = 0; k < 20; k++) {
			assert_true(fits(&w, 1000, k));
			iw_send_window_take(&w, 1000, k);
			assert_false(fits(&w, 1000, k));
			assert_true(iw_send_window_awaits(&w, &seq));
			assert_int_equal(seq, k);
		}
	}
}

/* Small segments use common marks. The awaited message was always sent, and always gets placed. */
static void many_small(void **state)
{
	struct iw_send_window w;
	uint32_t seq, sent = 0, placed = 0;
	unsigned int blocked = 0;

	iw_send_window_start(&w, true, 100 * (COST + 8));
	while (sent < 100000) {
		if (fits(&w, 8, placed)) {
			iw_send_window_take(&w, 8, sent++);
			assert_true(sent - placed <= 100);
			continue;
		}
		blocked++;
		assert_true(iw_send_window_awaits(&w, &seq));
		assert_true(seq >= placed && seq < sent);
		placed = seq + 1;
		assert_true(fits(&w, 8, placed));
	}
	/* Each wait frees enough for several segments, so that the pipeline never drains. */
	assert_true(blocked >= 1000 && blocked <= 100000 / 10);
}

/* A long segment waits for a few bytes without their own mark. */
static void long_behind_short(void **state)
{
	struct iw_send_window w;
	uint32_t seq;

	iw_send_window_start(&w, true, COST + 1432);
	iw_send_window_take(&w, 10, 7);
	assert_false(fits(&w, 1432, 7));
	assert_true(iw_send_window_awaits(&w, &seq));
	assert_int_equal(seq, 7);
	assert_false(fits(&w, 1432, 7));
	assert_true(iw_send_window_awaits(&w, &seq)); /* called again */
	assert_int_equal(seq, 7);
	assert_true(fits(&w, 1432, 8));
}

/* Placed bytes without a receive stay outstanding. */
static void held(void **state)
{
	struct iw_send_window w;
	uint32_t seq, second;

	iw_send_window_start(&w, true, 4 * (COST + 1000));
	iw_send_window_take(&w, 1000, 0);
	second = w.sent;
	iw_send_window_take(&w, 1000, 1);
	iw_send_window_take(&w, 1000, 2);
	w.held = true;
	w.held_from = second;
	assert_true(fits(&w, 1000, 3));
	assert_true(fits(&w, 1000 + COST + 1000, 3)); /* the first segment has its receive */
	assert_false(fits(&w, 1000 + COST + 1001, 3));
	iw_send_window_take(&w, 1000, 3);
	iw_send_window_take(&w, 1000, 4);
	assert_false(fits(&w, 0, 5));
	assert_false(iw_send_window_awaits(&w, &seq)); /* only a peer's receipt frees more */
	w.held_from += COST + 1000;
	assert_true(fits(&w, 1000, 5));
	assert_false(fits(&w, 1001, 5));
	w.held = false;
	assert_true(fits(&w, 4 * (COST + 1000) - COST, 5));
	/* held_from is after bytes that are not placed: these still count. */
	for (uint32_t i = 0; i < 4; i++)
		iw_send_window_take(&w, 1000, 5 + i);
	w.held = true;
	w.held_from = w.sent;
	assert_false(fits(&w, 0, 5));
}

/* Byte counts and message numbers are modulo 2^32. */
static void wraps(void **state)
{
	struct iw_send_window w;
	uint32_t number = 0xfffffff0;

	iw_send_window_start(&w, true, 10 * (COST + 60000));
	w.sent = w.placed = 0xffff0000;
	for (uint32_t i = 0; i < 100; i++) {
		for (uint32_t k = 0; k < 10; k++) {
			assert_true(fits(&w, 60000, number));
			iw_send_window_take(&w, 60000, number + k);
		}
		assert_false(fits(&w, 60000, number));
		number += 10;
	}
}

/* The window is at most 1 GiB. A segment of any length causes no overflow. */
static void huge(void **state)
{
	struct iw_send_window w;
	uint32_t sent = 0;

	iw_send_window_start(&w, true, UINT32_MAX);
	assert_int_equal(w.limit, IW_SEND_WINDOW_MAX);
	while (fits(&w, 65000, 0)) {
		iw_send_window_take(&w, 65000, sent++);
		assert_true(sent < 20000);
	}
	assert_int_equal(sent, IW_SEND_WINDOW_MAX / (COST + 65000));
	assert_false(fits(&w, 65000, sent / IW_SEND_MARKS - 1));
	assert_true(fits(&w, 65000, sent / IW_SEND_MARKS + 2));
	w.held = true;
	w.held_from = w.sent - 1000;
	assert_true(fits(&w, 65000, sent));
}

/* ---- with a QP ---- */

/* Three Sends of 1,000 bytes fit. */
#define THREE (3 * (COST + 1000))

static void stops_and_goes_on(void **state)
{
	struct fx x;

	receipts_start(&x, THREE);
	for (uint64_t id = 1; id <= 5; id++)
		receipts_send(&x, id, 1000);
	receipts_pull(&x, 3);
	assert_false(fx_pull(&x));
	x.doorbells = 0;
	receipts_place(&x, 1); /* and nothing else restarts the QP */
	fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
	assert_true(x.doorbells);
	receipts_pull(&x, 1);
	assert_false(fx_pull(&x));
	receipts_place(&x, 3);
	fx_expect_cqes(&x, 2, 3, IW_WC_SUCCESS);
	receipts_pull(&x, 1);
	assert_false(fx_pull(&x));
	receipts_place(&x, 1);
	fx_expect_cqe(&x, 5, IW_WC_SUCCESS);
	fx_stop(&x);
	/* A long message after a short one. */
	receipts_start(&x, COST + 1432);
	receipts_send(&x, 1, 10);
	receipts_send(&x, 2, 1432);
	receipts_pull(&x, 1);
	assert_false(fx_pull(&x));
	receipts_place(&x, 1);
	fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
	receipts_pull(&x, 1);
	fx_stop(&x);
}

/* The window limits neither Writes, which need no receive, nor Sends to a peer without a window. */
static void what_it_is_for(void **state)
{
	struct fx x;

	receipts_start(&x, 100);
	for (uint64_t id = 1; id <= 10; id++)
		receipts_write(&x, id, 1000);
	receipts_pull(&x, 10);
	receipts_send(&x, 11, 1000);
	receipts_send(&x, 12, 1000);
	receipts_write(&x, 13, 1000);
	receipts_pull(&x, 1);
	assert_false(fx_pull(&x));
	fx_stop(&x);

	receipts_start_without(&x);
	for (uint64_t id = 1; id <= 10; id++)
		receipts_send(&x, id, 1000);
	receipts_pull(&x, 10);
	fx_stop(&x);
}

/* Immediate Data takes a receive as well, and follows its Write only when the window has room. */
static void immediate_data(void **state)
{
	struct fx x;

	receipts_start(&x, COST + 1000);
	receipts_send(&x, 1, 1000);
	fx_post(&x, 2, IW_WR_RDMA_WRITE_WITH_IMM, x.base, 10, 1, 1, 0);
	receipts_write(&x, 3, 10);
	receipts_pull(&x, 2);
	assert_false(fx_pull(&x));
	receipts_place(&x, 1);
	fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
	receipts_pull(&x, 1);
	assert_int_equal(x.out[3], 0x40 | RDMAP_IMMEDIATE);
	receipts_pull(&x, 1);
	receipts_place(&x, 2);
	fx_expect_cqe(&x, 2, IW_WC_SUCCESS);
	receipts_place(&x, 1);
	fx_expect_cqe(&x, 3, IW_WC_SUCCESS);
	fx_stop(&x);
}

/* The peer stores Sends without receives: only its receipts release the QP. */
static void receipts_let_it_go_on(void **state)
{
	struct fx x;

	receipts_start(&x, THREE);
	for (uint64_t id = 1; id <= 8; id++)
		receipts_send(&x, id, 1000);
	receipts_pull(&x, 3);
	assert_false(fx_pull(&x));
	receipts_waiting(&x, 1);
	receipts_place(&x, 3);
	fx_no_cqe(&x);
	assert_false(fx_pull(&x));
	receipts_waiting(&x, 3);
	fx_expect_cqes(&x, 1, 2, IW_WC_SUCCESS);
	receipts_pull(&x, 2);
	assert_false(fx_pull(&x));
	receipts_place(&x, 2);
	fx_no_cqe(&x);
	assert_false(fx_pull(&x));
	receipts_lifted(&x);
	fx_expect_cqes(&x, 3, 3, IW_WC_SUCCESS);
	receipts_pull(&x, 3);
	assert_false(fx_pull(&x));
	receipts_place(&x, 3);
	fx_expect_cqes(&x, 6, 3, IW_WC_SUCCESS);
	fx_stop(&x);
}

/*
 * Receipts report waiting Sends before the SACK covers them. Outstanding Sends never count twice.
 */
static void receipt_before_placement(void **state)
{
	struct fx x;

	receipts_start(&x, THREE);
	for (uint64_t id = 1; id <= 6; id++)
		receipts_send(&x, id, 1000);
	receipts_pull(&x, 3);
	receipts_waiting(&x, 2);
	assert_false(fx_pull(&x));
	receipts_place(&x, 1);
	fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
	receipts_pull(&x, 1);
	assert_false(fx_pull(&x));
	receipts_lifted(&x); /* for the second Send, before its SACK */
	assert_false(fx_pull(&x));
	receipts_place(&x, 1);
	fx_expect_cqe(&x, 2, IW_WC_SUCCESS);
	receipts_pull(&x, 1);
	assert_false(fx_pull(&x));
	fx_stop(&x);
}

static void unsignaled(struct fx *x, uint8_t opcode, uint32_t len)
{
	fx_begin(x, 1, opcode, x->base, len, 1, 1, 0)->flags = 0;
	fx_publish(x);
}

/* Nobody waits for these completions, but the next Send may have to wait for the window. */
static void last_one_is_awaited(void **state)
{
	static const uint8_t opcodes[] = { IW_WR_SEND, IW_WR_SEND_WITH_INV, IW_WR_SEND_WITH_IMM };
	struct fx x;

	for (size_t i = 0; i < sizeof(opcodes); i++) {
		/* Two of the longest Sends fit after the first one. */
		receipts_start(&x, COST + 10 + 2 * (COST + 1432));
		for (unsigned int k = 0; k < 3; k++)
			unsignaled(&x, opcodes[i], 10);
		for (unsigned int k = 0; k < 2; k++) {
			receipts_pull(&x, 1);
			assert_false(x.msg.awaited);
		}
		unsignaled(&x, opcodes[i], 1432);
		receipts_pull(&x, 1);
		assert_false(x.msg.awaited);
		receipts_pull(&x, 1);
		assert_true(x.msg.awaited);
		receipts_place(&x, 4); /* now there is room again */
		unsignaled(&x, opcodes[i], 10);
		receipts_pull(&x, 1);
		assert_false(x.msg.awaited);
		fx_stop(&x);
	}
	/* The rest of a long message may have to wait as well. */
	receipts_start(&x, 2 * (COST + 1432));
	unsignaled(&x, IW_WR_SEND, 8000);
	for (unsigned int k = 0; k < 5; k++) {
		receipts_pull(&x, 1);
		assert_int_equal(x.msg.awaited, k % 2);
		if (k % 2)
			receipts_place(&x, 2);
	}
	fx_stop(&x);
}

/* Immediate Data counts as a Send, its Write does not. Without a window, no message is awaited. */
static void others_are_not_awaited(void **state)
{
	struct fx x;

	receipts_start(&x, COST + 1432);
	unsignaled(&x, IW_WR_RDMA_WRITE_WITH_IMM, 10);
	unsignaled(&x, IW_WR_RDMA_WRITE, 10);
	for (unsigned int k = 0; k < 3; k++) {
		receipts_pull(&x, 1);
		assert_int_equal(x.msg.awaited, k == 1);
	}
	fx_stop(&x);
	receipts_start_without(&x);
	unsignaled(&x, IW_WR_SEND, 1432);
	receipts_pull(&x, 1);
	assert_false(x.msg.awaited);
	fx_stop(&x);
}

/* A message longer than the window is sent segment by segment. */
static void long_message(void **state)
{
	static const uint32_t windows[] = { 0, 1000, COST + 1432, 2 * (COST + 1432), 4000 };

	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		unsigned int at_once = windows[i] / (COST + 1432), messages = 0;
		struct fx x;

		if (!at_once)
			at_once = 1;
		receipts_start(&x, windows[i]);
		receipts_send(&x, 1, 8000); /* six messages */
		receipts_send(&x, 2, 10);
		receipts_pull(&x, at_once);
		messages = at_once;
		assert_false(fx_pull(&x));
		/* Without a receive the message stops, whatever is placed. */
		receipts_waiting(&x, 1);
		receipts_place(&x, at_once);
		assert_false(fx_pull(&x));
		receipts_lifted(&x);
		while (fx_pull(&x)) {
			assert_int_equal(get_be32(x.out + 16), messages < 6 ? messages * 1432 : 0);
			receipts_place(&x, 1);
			messages++;
		}
		assert_int_equal(messages, 7);
		fx_expect_cqes(&x, 1, 2, IW_WC_SUCCESS);
		fx_stop(&x);
	}
}

static void ask(struct fx *x, uint32_t msn)
{
	struct rdmap_read_request r = {
		.sink_stag = 0x77, .size = 3000, .src_stag = x->stag, .src_to = x->base
	};
	uint8_t body[28], m[64];

	rdmap_put_read_request(body, &r);
	fx_feed(x, SESSION_PPID_DDP, x->ssn++, m,
		fx_make_untagged(m, 0x41, 0x41, 0, 1, msn, 0, body, 28));
}

static unsigned int opcode_out(const struct fx *x)
{
	return rdmap_opcode(x->out[3]);
}

/*
 * The peer may post its receive only after its own requests are answered. So responses do not wait
 * for a blocked Send, not even inside a message.
 */
static void responses_go_first(void **state)
{
	for (unsigned int begun = 0; begun < 2; begun++) {
		struct fx x;

		receipts_start(&x, COST + 1432);
		receipts_send(&x, 1, begun ? 3000 : 1432);
		receipts_send(&x, 2, 1432);
		receipts_pull(&x, 1);
		assert_false(fx_pull(&x));
		ask(&x, 1);
		for (unsigned int i = 0; i < 3; i++) { /* the whole response */
			assert_true(fx_pull(&x));
			assert_int_equal(opcode_out(&x), RDMAP_READ_RESPONSE);
		}
		assert_false(fx_pull(&x));
		ask(&x, 2);
		for (unsigned int i = 0; i < 3; i++) {
			assert_true(fx_pull(&x));
			assert_int_equal(opcode_out(&x), RDMAP_READ_RESPONSE);
			receipts_place(&x, i == 0); /* the window opens inside the response */
		}
		assert_true(fx_pull(&x));
		assert_int_equal(opcode_out(&x), RDMAP_SEND);
		assert_int_equal(get_be32(x.out + 16), begun ? 1432 : 0);
		fx_stop(&x);
	}
}

/* As above, between a Write and its Immediate Data, which the peer must still match. */
static void response_before_immediate_data(void **state)
{
	struct fx x;

	receipts_start(&x, COST + 1432);
	receipts_send(&x, 1, 1432);
	fx_post(&x, 2, IW_WR_RDMA_WRITE_WITH_IMM, x.base, 10, 1, 1, 0);
	receipts_pull(&x, 2);
	assert_false(fx_pull(&x));
	ask(&x, 1);
	for (unsigned int i = 0; i < 3; i++) {
		assert_true(fx_pull(&x));
		assert_int_equal(opcode_out(&x), RDMAP_READ_RESPONSE);
	}
	assert_false(fx_pull(&x));
	receipts_place(&x, 1);
	receipts_pull(&x, 1);
	assert_int_equal(opcode_out(&x), RDMAP_IMMEDIATE);
	fx_stop(&x);
}

/* The end of a session flushes blocked Sends. The next session starts with an empty window. */
static void ends_while_blocked(void **state)
{
	struct fx x;

	receipts_start(&x, COST + 1000);
	receipts_send(&x, 1, 1000);
	receipts_send(&x, 2, 1000);
	receipts_pull(&x, 1);
	assert_false(fx_pull(&x));
	fx_control(&x, SESSION_TERMINATE, NULL, 0);
	fx_expect_cqes(&x, 1, 2, IW_WC_WR_FLUSH_ERR);
	receipts_check_all_placed(&x);
	receipts_place(&x, 1);
	receipts_drop_events(&x);
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_RESET), 0);
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_INIT), 0);
	while (fx_pull(&x))
		;
	x.sid = RECEIPTS_SECOND_SID;
	x.ssn = x.receipt_msn = 0;
	fx_accept(&x, 4, 4, 7);
	receipts_send(&x, 3, 1000);
	receipts_pull(&x, 1);
	fx_stop(&x);
}

/* A window may be idle while other QPs send 2^31 messages. */
static void rests_long(void **state)
{
	struct fx x;

	receipts_start(&x, THREE);
	for (unsigned int i = 0; i < 6; i++) {
		receipts_send(&x, i, 1000);
		receipts_pull(&x, 1);
		receipts_place(&x, 1);
		fx_expect_cqe(&x, i, IW_WC_SUCCESS);
		for (unsigned int k = 0; k < 5; k++) {
			x.assoc->pulled += 1u << 29;
			receipts_place(&x, 1u << 29);
		}
	}
	fx_stop(&x);
}

/* Each of two QPs has its own window. */
static void two_qps(void **state)
{
	struct fx x, y;

	receipts_start(&x, COST + 1000);
	receipts_more(&y, &x, RECEIPTS_SECOND_SID);
	for (uint64_t id = 1; id <= 2; id++) {
		receipts_send(&x, id, 1000);
		receipts_send(&y, 10 + id, 1000);
	}
	receipts_pull(&x, 2);
	assert_false(fx_pull(&x));
	receipts_waiting(&x, 1);
	receipts_place(&x, 2);
	fx_expect_cqe(&x, 11, IW_WC_SUCCESS);
	fx_no_cqe(&x);
	receipts_pull(&x, 1);
	assert_int_equal(x.msg.sid, RECEIPTS_SECOND_SID);
	assert_false(fx_pull(&x));
	receipts_lifted(&x);
	fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
	receipts_pull(&x, 1);
	assert_int_equal(x.msg.sid, FX_SID);
	iw_qp_free(y.qp);
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_window),
		cmocka_unit_test(limit),
		cmocka_unit_test(placed_without_a_mark),
		cmocka_unit_test(smaller_than_a_segment),
		cmocka_unit_test(many_small),
		cmocka_unit_test(long_behind_short),
		cmocka_unit_test(held),
		cmocka_unit_test(wraps),
		cmocka_unit_test(huge),
		cmocka_unit_test(stops_and_goes_on),
		cmocka_unit_test(what_it_is_for),
		cmocka_unit_test(immediate_data),
		cmocka_unit_test(receipts_let_it_go_on),
		cmocka_unit_test(receipt_before_placement),
		cmocka_unit_test(last_one_is_awaited),
		cmocka_unit_test(others_are_not_awaited),
		cmocka_unit_test(long_message),
		cmocka_unit_test(responses_go_first),
		cmocka_unit_test(response_before_immediate_data),
		cmocka_unit_test(ends_while_blocked),
		cmocka_unit_test(rests_long),
		cmocka_unit_test(two_qps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
