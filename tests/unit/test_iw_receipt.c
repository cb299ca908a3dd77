/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/*
 * Receipts of this side (iwarp/receipt.c): when one is owed, and its contents. While a receipt is
 * owed, no local SACK counts as a placement. So a receipt must be owed exactly as long as needed.
 */
#include "fixture/iw_receipts.h"

/* The next message is a receipt: Sends from msn on have no receive. 0: all Sends have a receive. */
static void expect_waiting(struct fx *x, uint32_t msn)
{
	struct rdmap_receipt r;

	assert_true(receipts_owed(x));
	r = receipts_out(x);
	receipts_check(&r, false, 0, msn);
	assert_false(receipts_owed(x));
	assert_false(fx_pull(x));
}

/* As above, but final: messages from ssn on were not delivered. The session Terminate follows. */
static void expect_final(struct fx *x, uint16_t ssn, uint32_t msn)
{
	struct rdmap_receipt r;

	assert_true(receipts_owed(x));
	r = receipts_out(x);
	receipts_check(&r, true, ssn, msn);
	assert_true(receipts_owed(x));
}

static void expect_terminate(struct fx *x, uint16_t error)
{
	assert_true(receipts_owed(x));
	receipts_pull(x, 1);
	assert_true(x->msg.receipt);
	assert_int_equal(rdmap_opcode(x->out[3]), RDMAP_TERMINATE);
	assert_int_equal(get_be16(x->out + 20), error);
	assert_true(receipts_owed(x));
}

static void expect_end(struct fx *x)
{
	receipts_pull(x, 1);
	assert_true(x->msg.receipt);
	assert_int_equal(x->msg.ppid, SESSION_PPID_CONTROL);
	assert_int_equal(get_be16(x->out + 2), SESSION_TERMINATE);
	assert_false(receipts_owed(x));
	assert_false(fx_pull(x));
}

static void expect_recv(struct fx *x, uint64_t wr_id)
{
	struct iw_cqe cqe = fx_cqe(x);

	assert_int_equal(cqe.wr_id, wr_id);
	assert_int_equal(cqe.status, IW_WC_SUCCESS);
}

/* Delivers a segment of the peer's Send with this DDP-SSN. */
static void segment_at(struct fx *x, uint16_t ssn, uint32_t msn, uint32_t mo, bool last, size_t len)
{
	static const uint8_t data[1400];
	uint8_t m[1500];

	fx_feed(x, SESSION_PPID_DDP, ssn, m,
		fx_make_untagged(m, last ? 0x41 : 0x01, 0x43, 0, 0, msn, mo, data, len));
}

static void segment(struct fx *x, uint32_t msn, uint32_t mo, bool last, size_t len)
{
	segment_at(x, x->ssn++, msn, mo, last, len);
}

/* ---- with a receive queue of the QP ---- */

/* A SACK alone acknowledges a Send that finds its receive. */
static void nothing_owed(void **state)
{
	struct fx x;

	receipts_start(&x, RECEIPTS_WINDOW);
	assert_false(receipts_owed(&x));
	receipts_post_recv(&x, 1, 100);
	receipts_post_recv(&x, 2, 100);
	fx_send(&x, 1, "abc", 3);
	segment(&x, 2, 0, false, 50);
	fx_write(&x, x.stag, x.base, "abc", 3);
	segment(&x, 2, 50, true, 50);
	expect_recv(&x, 1);
	expect_recv(&x, 2);
	assert_false(receipts_owed(&x));
	assert_false(fx_pull(&x));
	fx_stop(&x);
}

/* A receipt is owed only when the peer's knowledge would become wrong. */
static void waiting_and_lifted(void **state)
{
	struct fx x;

	receipts_start(&x, RECEIPTS_WINDOW);
	receipts_post_recv(&x, 1, 100);
	fx_send(&x, 1, "abc", 3);
	fx_send(&x, 2, "abc", 3);
	expect_waiting(&x, 2);
	fx_send(&x, 3, "abc", 3);
	fx_send(&x, 4, "abc", 3);
	fx_write(&x, x.stag, x.base, "abc", 3);
	assert_false(receipts_owed(&x)); /* the peer knows that all of these wait */
	assert_false(fx_pull(&x));
	receipts_post_recv(&x, 2, 100);
	expect_waiting(&x, 3);
	receipts_post_recv(&x, 3, 100);
	receipts_post_recv(&x, 4, 100);
	expect_waiting(&x, 0);
	receipts_post_recv(&x, 5, 100);
	fx_send(&x, 5, "abc", 3);
	assert_false(receipts_owed(&x));
	fx_send(&x, 6, "abc", 3);
	expect_waiting(&x, 6);
	for (uint64_t id = 1; id <= 5; id++)
		expect_recv(&x, id);
	fx_stop(&x);
}

/* A receipt includes all changes before it is sent. */
static void latest_news(void **state)
{
	struct fx x;

	receipts_start(&x, RECEIPTS_WINDOW);
	for (uint32_t msn = 1; msn <= 4; msn++)
		fx_send(&x, msn, "abc", 3);
	receipts_post_recv(&x, 1, 100);
	receipts_post_recv(&x, 2, 100);
	expect_waiting(&x, 3);
	receipts_post_recv(&x, 3, 100);
	fx_send(&x, 5, "abc", 3);
	expect_waiting(&x, 4);
	fx_stop(&x);
	/* A receipt is sent even if the peer knows its contents already: this does no harm. */
	receipts_start(&x, RECEIPTS_WINDOW);
	fx_send(&x, 1, "abc", 3);
	assert_true(receipts_owed(&x));
	receipts_post_recv(&x, 1, 100);
	expect_waiting(&x, 0);
	fx_stop(&x);
}

/*
 * The first segment of a message finds no receive, so the whole message has none. The second
 * message may come early.
 */
static void part_of_a_message(void **state)
{
	struct fx x;

	receipts_start(&x, RECEIPTS_WINDOW);
	segment(&x, 1, 0, false, 50);
	expect_waiting(&x, 1);
	segment(&x, 1, 50, false, 50);
	receipts_post_recv(&x, 1, 200);
	expect_waiting(&x, 0);
	segment(&x, 1, 100, true, 50);
	assert_false(receipts_owed(&x));
	expect_recv(&x, 1);
	/* Message 3 overtakes message 2, which has a receive. */
	receipts_post_recv(&x, 2, 200);
	segment_at(&x, (uint16_t)(x.ssn + 1), 3, 0, true, 50);
	expect_waiting(&x, 3);
	segment(&x, 2, 0, true, 50);
	x.ssn++;
	expect_recv(&x, 2);
	assert_false(receipts_owed(&x));
	/* Message 5 overtakes 4. Neither has a receive, nor does 3. */
	segment_at(&x, (uint16_t)(x.ssn + 1), 5, 0, true, 50);
	assert_false(receipts_owed(&x));
	receipts_post_recv(&x, 3, 200);
	expect_waiting(&x, 4);
	fx_stop(&x);
}

/* A long session numbers its receipts, and its DDP-SSNs count them. */
static void numbered(void **state)
{
	struct fx x;

	receipts_start(&x, RECEIPTS_WINDOW);
	for (uint32_t i = 1; i <= 20; i++) {
		fx_send(&x, i, "abc", 3);
		assert_true(receipts_owed(&x));
		receipts_out(&x);
		assert_int_equal(get_be16(x.out), 2 * i - 1);
		assert_int_equal(get_be32(x.out + 12), 2 * i - 1);
		receipts_post_recv(&x, i, 100);
		receipts_out(&x);
		assert_int_equal(get_be16(x.out), 2 * i);
		assert_int_equal(get_be32(x.out + 12), 2 * i);
		expect_recv(&x, i);
	}
	fx_stop(&x);
}

/* A receipt goes before all other messages. A receipt that does not fit waits. */
static void first_of_all(void **state)
{
	struct fx x;

	receipts_start(&x, RECEIPTS_WINDOW);
	receipts_write(&x, 1, 5000);
	receipts_pull(&x, 1);
	fx_send(&x, 1, "abc", 3);
	assert_false(fx_pull_room(&x, 27));
	assert_true(receipts_owed(&x));
	assert_true(fx_pull_room(&x, 28));
	assert_int_equal(rdmap_opcode(x.out[3]), RDMAP_RECEIPT);
	assert_false(receipts_owed(&x));
	receipts_pull(&x, 1);
	assert_int_equal(rdmap_opcode(x.out[3]), RDMAP_WRITE);
	assert_false(x.msg.receipt);
	fx_stop(&x);
}

/* A peer without receipts is owed none. */
static void without(void **state)
{
	struct fx x;

	receipts_start_without(&x);
	fx_send(&x, 1, "abc", 3);
	assert_false(receipts_owed(&x));
	assert_false(fx_pull(&x));
	fx_write(&x, 0xbad, 0, "x", 1);
	assert_false(receipts_owed(&x));
	receipts_pull(&x, 1);
	assert_int_equal(rdmap_opcode(x.out[3]), RDMAP_TERMINATE);
	assert_false(x.msg.receipt);
	fx_stop(&x);
}

/* ---- the end of a session ---- */

/* The peer's fourth message, a Write, is wrong. Earlier messages were delivered. */
static void failed(void **state)
{
	for (unsigned int waiting = 0; waiting < 2; waiting++) {
		struct fx x;

		receipts_start(&x, RECEIPTS_WINDOW);
		if (!waiting)
			receipts_post_recv(&x, 1, 100);
		fx_send(&x, 1, "abc", 3);
		if (waiting)
			expect_waiting(&x, 1);
		fx_write(&x, x.stag, x.base, "abc", 3);
		assert_int_equal(x.ssn, 3);
		fx_write(&x, 0xbad, 0, "x", 1);
		fx_write(&x, x.stag, x.base + 100, "never", 5); /* is not delivered any more */
		assert_memory_equal(x.mem + 100, "\0\0\0\0\0", 5);
		expect_final(&x, 3, waiting);
		expect_terminate(&x, TERM_DDP_STAG);
		receipts_place(&x, 4);
		x.acked = x.placed;
		expect_end(&x);
		fx_stop(&x);
	}
}

/* The wrong message comes early: all messages before it are delivered first. */
static void failed_out_of_order(void **state)
{
	uint8_t m[64];
	struct fx x;

	receipts_start(&x, RECEIPTS_WINDOW);
	fx_feed(&x, SESSION_PPID_DDP, 3, m, fx_make_tagged(m, 0xc1, 0x40, 0xbad, 0, "x", 1));
	assert_false(receipts_owed(&x));
	fx_write(&x, x.stag, x.base, "abc", 3);
	assert_false(receipts_owed(&x));
	fx_feed(&x, SESSION_PPID_DDP, 4, m,
		fx_make_tagged(m, 0xc1, 0x40, x.stag, x.base + 100, "early", 5));
	fx_write(&x, x.stag, x.base, "abc", 3);
	expect_final(&x, 3, 0);
	fx_stop(&x);
}

/*
 * The session ends in any way. The final receipt has the session's progress, and replaces an owed
 * receipt.
 */
static void ended_by_us(void **state)
{
	enum { BY_CLOSE, BY_ABANDON, BY_ERROR, BY_RESET, BY_FREE, WAYS };

	for (unsigned int owed = 0; owed < 3; owed++) {
		for (unsigned int way = 0; way < WAYS; way++) {
			struct fx x;

			receipts_start(&x, RECEIPTS_WINDOW);
			receipts_post_recv(&x, 1, 100);
			fx_send(&x, 1, "abc", 3);
			if (owed)
				fx_send(&x, 2, "abc", 3);
			if (owed == 2)
				expect_waiting(&x, 2);
			switch (way) {
			case BY_CLOSE:
				iw_session_close(x.session);
				break;
			case BY_ABANDON:
				iw_session_abandon(x.session);
				break;
			case BY_ERROR:
				assert_int_equal(iw_qp_modify(x.qp, IW_QPS_ERR), 0);
				break;
			case BY_RESET:
				assert_int_equal(iw_qp_modify(x.qp, IW_QPS_RESET), 0);
				break;
			default:
				iw_qp_free(x.qp);
				x.qp = NULL;
			}
			expect_final(&x, owed ? 3 : 2, owed ? 2 : 0);
			if (way == BY_ABANDON)
				expect_terminate(&x, TERM_LLP_LOCAL);
			x.acked = x.assoc->pulled;
			expect_end(&x);
			fx_stop(&x);
		}
	}
}

/* The peer ended its session, so it needs no receipt any more. */
static void ended_by_the_peer(void **state)
{
	struct fx x;

	receipts_start(&x, RECEIPTS_WINDOW);
	fx_send(&x, 1, "abc", 3);
	assert_true(receipts_owed(&x));
	fx_control(&x, SESSION_TERMINATE, NULL, 0);
	assert_true(receipts_owed(&x));
	expect_end(&x);
	fx_stop(&x);
}

/* No receive comes in time. */
static void ended_by_rnr(void **state)
{
	struct fx x;

	receipts_start_rnr(&x, RECEIPTS_WINDOW, 1);
	receipts_post_recv(&x, 1, 100);
	fx_send(&x, 1, "abc", 3);
	fx_send(&x, 2, "abc", 3);
	expect_waiting(&x, 2);
	x.now = iw_next_timeout(x.iw);
	iw_timers(x.iw, x.now);
	expect_final(&x, 3, 2);
	expect_terminate(&x, TERM_DDP_NO_BUFFER);
	fx_stop(&x);
}

/* Delivers the peer's Send with Invalidate, of an STag that does not exist. */
static void send_inv(struct fx *x, uint32_t msn)
{
	uint8_t m[64];

	fx_feed(x, SESSION_PPID_DDP, x->ssn++, m,
		fx_make_untagged(m, 0x41, 0x44, 0xbad, 0, msn, 0, "12345", 5));
}

/*
 * A Send was stored without a receive. Its receive is too short, has an invalid lkey, or has
 * unmapped memory; or the STag to invalidate does not exist. The final receipt must report the Send
 * as not received.
 */
static void receive_does_not_fit(void **state)
{
	static const uint16_t errors[] = { TERM_DDP_TOO_LONG, TERM_DDP_LOCAL, TERM_DDP_LOCAL,
					   TERM_RDMAP_INVALIDATE };

	for (unsigned int why = 0; why < 4; why++) {
		for (unsigned int behind = 0; behind < 2; behind++) {
			struct fx x;

			receipts_start(&x, RECEIPTS_WINDOW);
			fx_send(&x, 1, "abc", 3);
			if (why == 3)
				send_inv(&x, 2);
			else
				fx_send(&x, 2, "12345", 5);
			fx_write(&x, x.stag, x.base + 100, "abc", 3);
			expect_waiting(&x, 1);
			receipts_post_recv(&x, 1, 100);
			expect_waiting(&x, 2);
			if (behind)
				fx_send(&x, 3, "abc", 3);
			switch (why) {
			case 0:
				receipts_post_recv(&x, 2, 4);
				break;
			case 1:
				fx_post_recv(&x, 2, x.base, 100, 0xbad00);
				break;
			case 2:
				fx_hole = x.mem;
				fx_hole_len = 100;
				receipts_post_recv(&x, 2, 100);
				break;
			default:
				receipts_post_recv(&x, 2, 100);
			}
			fx_hole = NULL;
			expect_final(&x, 4 + behind, 2);
			expect_terminate(&x, errors[why]);
			fx_stop(&x);
		}
	}
}

/* The completion of a Send is lost: the Send counts as not received. */
static void completion_is_lost(void **state)
{
	for (unsigned int late = 0; late < 2; late++) {
		struct fx x;

		receipts_start(&x, RECEIPTS_WINDOW);
		x.cq->limit = 1;
		receipts_post_recv(&x, 1, 100);
		fx_send(&x, 1, "abc", 3);
		if (!late)
			receipts_post_recv(&x, 2, 100);
		fx_send(&x, 2, "abc", 3);
		if (late) {
			expect_waiting(&x, 2);
			receipts_post_recv(&x, 2, 100);
		}
		expect_final(&x, late ? 3 : 2, late ? 2 : 0);
		fx_stop(&x);
	}
}

/* ---- before the session is established ---- */

/* A message outside a session gets a Terminate. The peer must not count it as delivered. */
static void refused_at_once(void **state)
{
	struct fx x;

	receipts_start_assoc(&x, false, RECEIPTS_WINDOW);
	x.sid = FX_SID;
	fx_send(&x, 1, "abc", 3);
	assert_true(receipts_owed(&x));
	expect_end(&x);
	fx_stop(&x);
}

/* An Initiate is rejected: no receipt follows the Reject. */
static void rejected_by_us(void **state)
{
	struct fx x;

	receipts_start_assoc(&x, false, RECEIPTS_WINDOW);
	x.sid = FX_SID;
	fx_control(&x, SESSION_INITIATE, NULL, 0);
	x.session = fx_event(&x, IW_EVENT_INITIATE).session;
	assert_int_equal(iw_session_reject(x.session, NULL, 0), 0);
	assert_false(receipts_owed(&x));
	receipts_pull(&x, 1);
	assert_false(x.msg.receipt);
	assert_false(receipts_owed(&x));
	fx_stop(&x);
}

/* The peer's reaction to the Initiate. */
enum answer { ACCEPTS, REJECTS, REFUSES, CROSSES, WITHDRAWN, LOST, ANSWERS };

static void initiate(struct fx *x)
{
	struct iw_session_param p = { .ird = 4, .ord = 4, .rnr_retry_count = 7 };

	receipts_start_assoc(x, true, RECEIPTS_WINDOW);
	assert_int_equal(iw_session_initiate(x->assoc, x->qp, &p, NULL, &x->session), 0);
	receipts_pull(x, 1);
	x->sid = x->msg.sid;
}

static void answer(struct fx *x, enum answer how)
{
	uint8_t enhanced[4] = { 0, 4, 0, 4 };

	switch (how) {
	case ACCEPTS:
		fx_control(x, SESSION_ENHANCED_ACCEPT, enhanced, sizeof(enhanced));
		break;
	case REJECTS:
		fx_control(x, SESSION_ENHANCED_REJECT, enhanced, sizeof(enhanced));
		break;
	case REFUSES:
		fx_control(x, SESSION_TERMINATE, NULL, 0);
		break;
	case CROSSES:
		fx_control(x, SESSION_ENHANCED_INITIATE, enhanced, sizeof(enhanced));
		break;
	case WITHDRAWN:
		iw_session_close(x->session);
		assert_true(receipts_owed(x));
		fx_control(x, SESSION_ENHANCED_REJECT, enhanced, sizeof(enhanced));
		break;
	default:
		iw_assoc_lost(x->assoc, -ETIMEDOUT);
		x->assoc = NULL;
	}
}

/*
 * A Send of the peer overtakes its answer. The Send is delivered if the answer is an Accept, and is
 * dropped otherwise. In both cases, no receipt remains owed.
 */
static void early_send(void **state)
{
	for (enum answer how = 0; how < ANSWERS; how++) {
		struct fx x;

		initiate(&x);
		segment_at(&x, 1, 1, 0, true, 10);
		assert_false(receipts_owed(&x));
		assert_false(fx_pull(&x)); /* no segment may precede the Accept (RFC 5043 6.2) */
		answer(&x, how);
		if (how == ACCEPTS) {
			expect_waiting(&x, 1);
		} else if (x.assoc) {
			while (fx_pull(&x)) {
				x.acked = x.assoc->pulled;
				assert_int_equal(x.msg.ppid, SESSION_PPID_CONTROL);
			}
			assert_false(receipts_owed(&x));
		} else {
			x.assoc = iw_assoc_new(x.iw,
					       &(struct iw_llp_ops){ .doorbell = fx_doorbell }, &x,
					       false, 64, 1452);
		}
		receipts_drop_events(&x);
		fx_stop(&x);
	}
}

/* The peer's Initiate comes on the same stream before the local Initiate was sent. */
static void gives_way(void **state)
{
	struct iw_session_param p = { .ird = 4, .ord = 4, .rnr_retry_count = 7 };
	struct fx x;

	receipts_start_assoc(&x, true, RECEIPTS_WINDOW);
	assert_int_equal(iw_session_initiate(x.assoc, x.qp, &p, NULL, &x.session), 0);
	x.sid = 0;
	segment_at(&x, 1, 1, 0, true, 10);
	fx_control(&x, SESSION_INITIATE, NULL, 0);
	assert_false(receipts_owed(&x));
	receipts_drop_events(&x);
	fx_stop(&x);
}

/*
 * A session is closed before the answer to its Initiate. LLP and peer then know that no receipt is
 * owed, even if nothing is sent.
 */
static void withdrawn(void **state)
{
	struct fx x;

	initiate(&x);
	iw_session_close(x.session);
	assert_true(receipts_owed(&x));
	assert_false(fx_pull(&x)); /* a Terminate must not overtake the Initiate */
	x.doorbells = 0;
	answer(&x, REJECTS);
	assert_false(receipts_owed(&x));
	assert_true(x.doorbells); /* SCTP must acknowledge */
	assert_false(fx_pull(&x));
	fx_stop(&x);
}

/* ---- several sessions ---- */

static void several_sessions(void **state)
{
	struct fx x, y;

	receipts_start(&x, RECEIPTS_WINDOW);
	receipts_more(&y, &x, RECEIPTS_SECOND_SID);
	fx_send(&x, 1, "abc", 3);
	fx_send(&y, 1, "abc", 3);
	assert_true(receipts_owed(&x));
	receipts_out(&x);
	assert_true(receipts_owed(&x));
	receipts_out(&x);
	assert_false(receipts_owed(&x));
	fx_write(&x, 0xbad, 0, "x", 1);
	receipts_post_recv(&y, 1, 100);
	assert_int_equal(x.assoc->owing, 2);
	iw_assoc_lost(x.assoc, -ETIMEDOUT); /* frees the association; sanitizers find late counts */
	x.assoc = iw_assoc_new(x.iw, &(struct iw_llp_ops){ .doorbell = fx_doorbell }, &x, false, 64,
			       1452);
	receipts_drop_events(&x);
	iw_qp_free(y.qp);
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_owed),
		cmocka_unit_test(waiting_and_lifted),
		cmocka_unit_test(latest_news),
		cmocka_unit_test(part_of_a_message),
		cmocka_unit_test(numbered),
		cmocka_unit_test(first_of_all),
		cmocka_unit_test(without),
		cmocka_unit_test(failed),
		cmocka_unit_test(failed_out_of_order),
		cmocka_unit_test(ended_by_us),
		cmocka_unit_test(ended_by_the_peer),
		cmocka_unit_test(ended_by_rnr),
		cmocka_unit_test(receive_does_not_fit),
		cmocka_unit_test(completion_is_lost),
		cmocka_unit_test(refused_at_once),
		cmocka_unit_test(rejected_by_us),
		cmocka_unit_test(early_send),
		cmocka_unit_test(gives_way),
		cmocka_unit_test(withdrawn),
		cmocka_unit_test(several_sessions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
