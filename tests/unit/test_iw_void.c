/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/*
 * Void messages (iwarp/void.c): local messages that may become void, their replacement, and the
 * effect of the peer's void messages.
 */
#include "fixture/iw_receipts.h"
#include "iwarp/rc.h"

#define PLENTY 1000000 /* bytes of the peer's window */

/* ---- local messages ---- */

/* Pulls the next message, and checks its flag. WRs and responses are voidable. */
static void expect_voidable(struct fx *x, bool voidable)
{
	x->msg.voidable = !voidable;
	assert_true(fx_pull(x));
	assert_int_equal(x->msg.voidable, voidable);
}

static void ask(struct fx *x, uint32_t msn, uint32_t len)
{
	struct rdmap_read_request r = { .size = len, .src_stag = x->stag, .src_to = x->base };
	uint8_t body[RDMAP_READ_REQ_LEN], m[64];

	rdmap_put_read_request(body, &r);
	fx_feed(x, SESSION_PPID_DDP, x->ssn++, m,
		fx_make_untagged(m, 0x41, 0x41, 0, 1, msn, 0, body, sizeof(body)));
}

/*
 * Each segment of WRs and responses is voidable. Receipts and messages that end the session are
 * not.
 */
static void which(void **state)
{
	struct fx x;

	receipts_start(&x, PLENTY);
	receipts_write(&x, 1, 2000);
	receipts_send(&x, 2, 0);
	fx_post(&x, 3, IW_WR_RDMA_READ, x.base, 4, 9, 9, 0);
	fx_post_atomic(&x, 4, IW_WR_ATOMIC_FETCH_AND_ADD, x.base, 9, 8, 1, 0);
	fx_post(&x, 5, IW_WR_RDMA_WRITE_WITH_IMM, x.base, 4, 9, 9, 0);
	for (unsigned int i = 0; i < 7; i++)
		expect_voidable(&x, true);
	assert_false(fx_pull(&x));
	ask(&x, 1, 2000);
	expect_voidable(&x, true);
	expect_voidable(&x, true);
	fx_send(&x, 1, "abc", 3);
	expect_voidable(&x, false); /* a receipt: no receive */
	fx_write(&x, 0xbad, 0, "x", 1);
	expect_voidable(&x, false); /* the final receipt */
	assert_int_equal(x.out[3], 0x4f);
	expect_voidable(&x, false); /* the Terminate */
	assert_int_equal(x.out[3], 0x47);
	expect_voidable(&x, false);
	assert_int_equal(x.msg.ppid, SESSION_PPID_CONTROL);
	assert_false(fx_pull(&x));
	fx_stop(&x);
}

/*
 * A WR that cannot be sent ends the session when its message is pulled: the receipt is pulled
 * instead.
 */
static void in_its_place(void **state)
{
	struct fx x;

	receipts_start(&x, PLENTY);
	fx_begin(&x, 1, IW_WR_SEND, x.base, 100, 0, 0, 0)->sge[0].lkey = 0xbad;
	fx_publish(&x);
	expect_voidable(&x, false);
	assert_int_equal(x.out[3], 0x4f);
	fx_expect_cqe(&x, 1, IW_WC_LOC_PROT_ERR);
	fx_stop(&x);
}

static struct {
	const void *llp;
	uint16_t sid;
	unsigned int calls;
	uint32_t completions;
} voided;

static void void_messages(void *llp, uint16_t sid)
{
	const struct fx *x = llp;

	voided.llp = llp;
	voided.sid = sid;
	voided.calls++;
	voided.completions = iw_cq_count(x->cq);
}

/*
 * Messages that the final receipt acknowledges need no SACK: SCTP may retransmit them after the
 * success.
 */
static void final_receipt(void **state)
{
	struct fx x;

	receipts_start(&x, PLENTY);
	x.assoc->ops.void_messages = void_messages;
	voided.calls = 0;
	receipts_write(&x, 1, 100);
	receipts_write(&x, 2, 100);
	receipts_pull(&x, 2);
	receipts_final(&x, 2, 0);
	assert_int_equal(voided.calls, 1);
	assert_int_equal(voided.sid, x.sid);
	assert_int_equal(voided.completions, 0);
	fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
	fx_no_cqe(&x);
	fx_stop(&x);
}

/* The message keeps its DDP-SSN. The rest is a Terminate with the type for other LLP errors. */
static void bytes(void **state)
{
	static const uint8_t rest[] = { 0x41, 0x47, 0, 0, 0, 0, 0, 0, 0,    2, 0,
					0,    0,    1, 0, 0, 0, 0, 0, 0x56, 0, 0 };
	uint8_t message[100], out[IW_VOID_LEN + 1];

	memset(message, 0xaa, sizeof(message));
	memset(out, 0xee, sizeof(out));
	iw_put_void(out, message);
	assert_memory_equal(out, "\xaa\xaa", 2);
	assert_int_equal(2 + sizeof(rest), IW_VOID_LEN);
	assert_memory_equal(out + 2, rest, sizeof(rest));
	assert_int_equal(out[IW_VOID_LEN], 0xee);
}

/* ---- messages of the peer ---- */

/* Delivers a void message with this DDP-SSN. */
static void feed_void(struct fx *x, uint16_t ssn)
{
	uint8_t out[IW_VOID_LEN], message[2] = { 0 };

	iw_put_void(out, message);
	fx_feed(x, SESSION_PPID_DDP, ssn, out + 2, IW_VOID_LEN - 2);
}

static void segment_at(struct fx *x, uint16_t ssn, uint32_t msn, uint32_t mo, bool last,
		       const char *data)
{
	uint8_t m[100];

	fx_feed(x, SESSION_PPID_DDP, ssn, m,
		fx_make_untagged(m, last ? 0x41 : 0x01, 0x43, 0, 0, msn, mo, data, strlen(data)));
}

static void write_at(struct fx *x, uint16_t ssn, uint32_t stag, uint64_t to, const char *data)
{
	uint8_t m[100];

	fx_feed(x, SESSION_PPID_DDP, ssn, m,
		fx_make_tagged(m, 0xc1, 0x40, stag, to, data, strlen(data)));
}

static void start(struct fx *x)
{
	receipts_start(x, PLENTY);
	for (unsigned int i = 0; i < 4; i++)
		fx_post_recv(x, i, x->base + 100 * i, 100, x->stag);
}

/*
 * Checks that the session continues, but nothing completes. Then the peer ends the session without
 * an error.
 */
static void expect_quiet_end(struct fx *x)
{
	assert_int_equal(iw_qp_state(x->qp), IW_QPS_RTS);
	fx_no_event(x);
	fx_no_cqe(x);
	assert_false(fx_pull(x));
	fx_control(x, SESSION_TERMINATE, NULL, 0);
	assert_int_equal(iw_qp_state(x->qp), IW_QPS_ERR);
	assert_int_equal(fx_event(x, IW_EVENT_CLOSED).error, 0);
	fx_no_event(x);
	for (unsigned int i = 0; i < 4; i++)
		fx_expect_cqe(x, i, IW_WC_WR_FLUSH_ERR);
}

/* A Send is void, and a later one came first. No receive completes, and the MSN is no error. */
static void send_behind(void **state)
{
	for (unsigned int early = 0; early < 2; early++) {
		struct fx x;

		start(&x);
		if (early)
			segment_at(&x, x.ssn + 1, 2, 0, true, "behind");
		feed_void(&x, x.ssn);
		if (!early)
			segment_at(&x, x.ssn + 1, 2, 0, true, "behind");
		assert_int_equal(!memcmp(x.mem + 100, "behind", 6), early);
		x.ssn += 2;
		expect_quiet_end(&x);
		fx_stop(&x);
	}
}

/* A segment inside a Send is void: the Send must not complete with a gap. */
static void hole(void **state)
{
	struct fx x;

	start(&x);
	segment_at(&x, x.ssn, 1, 0, false, "one");
	segment_at(&x, x.ssn + 2, 1, 6, true, "three");
	feed_void(&x, x.ssn + 1);
	x.ssn += 3;
	expect_quiet_end(&x);
	fx_stop(&x);
}

/* A Write is void. The later Send, which came first, would report the Write as complete. */
static void write_before(void **state)
{
	struct fx x;

	start(&x);
	segment_at(&x, x.ssn + 1, 1, 0, true, "written");
	feed_void(&x, x.ssn);
	x.ssn += 2;
	expect_quiet_end(&x);
	fx_stop(&x);
}

/* After a void message nothing is placed, and nothing is an error, in any order of arrival. */
static void errors_behind(void **state)
{
	for (unsigned int order = 0; order < 3; order++) {
		struct fx x;

		start(&x);
		if (order == 0)
			write_at(&x, x.ssn + 2, 0xbad, 0, "x");
		feed_void(&x, x.ssn + 1);
		if (order == 1)
			write_at(&x, x.ssn + 2, 0xbad, 0, "x");
		feed_void(&x, x.ssn);
		if (order == 2)
			write_at(&x, x.ssn + 2, 0xbad, 0, "x");
		write_at(&x, x.ssn + 3, x.stag, x.base, "placed");
		assert_memory_not_equal(x.mem, "placed", 6);
		x.ssn += 4;
		expect_quiet_end(&x);
		fx_stop(&x);
	}
}

/* Of several void messages the earliest counts, in any order of arrival. */
static void several(void **state)
{
	for (unsigned int order = 0; order < 2; order++) {
		struct fx x;

		start(&x);
		segment_at(&x, x.ssn + 1, 2, 0, true, "behind");
		feed_void(&x, x.ssn + (order ? 0 : 2));
		feed_void(&x, x.ssn + (order ? 2 : 0));
		x.ssn += 3;
		expect_quiet_end(&x);
		fx_stop(&x);
	}
}

/* Messages before the void one are handled as usual, and so are their errors. */
static void before(void **state)
{
	struct fx x;

	start(&x);
	feed_void(&x, x.ssn + 2);
	write_at(&x, x.ssn, x.stag, x.base + 300, "placed");
	assert_memory_equal(x.mem + 300, "placed", 6);
	segment_at(&x, x.ssn + 1, 1, 0, true, "taken");
	fx_expect_cqe(&x, 0, IW_WC_SUCCESS);
	fx_stop(&x);

	start(&x);
	feed_void(&x, x.ssn + 1);
	write_at(&x, x.ssn, 0xbad, 0, "x");
	fx_event(&x, IW_EVENT_QP_ACCESS);
	assert_int_equal(iw_qp_state(x.qp), IW_QPS_ERR);
	fx_stop(&x);
}

/*
 * Receipts after the void message count, and so does the Terminate with the error of the peer's QP.
 */
static void what_outlives(void **state)
{
	uint8_t header[DDP_TAGGED_LEN];
	struct fx x;

	start(&x);
	receipts_write(&x, 11, 4);
	receipts_write(&x, 12, 4);
	receipts_pull(&x, 2);
	feed_void(&x, x.ssn++);
	receipts_final(&x, 2, 0);
	fx_expect_cqe(&x, 11, IW_WC_SUCCESS);
	fx_make_tagged(header, 0xc1, 0x40, 0x1234, 0x10000 * 13, NULL, 0);
	receipts_terminate(&x, TERM_DDP_BOUNDS, header);
	fx_expect_cqe(&x, 12, IW_WC_REM_ACCESS_ERR);
	fx_stop(&x);
}

/* The local final receipt ignores dropped messages. */
static void last_receipt(void **state)
{
	struct rdmap_receipt r;
	uint16_t first;
	struct fx x;

	start(&x);
	fx_write(&x, x.stag, x.base, "taken", 5);
	first = x.ssn;
	feed_void(&x, x.ssn);
	segment_at(&x, x.ssn + 1, 2, 0, true, "dropped");
	x.ssn += 2;
	receipts_lifted(&x);
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_ERR), 0);
	r = receipts_out(&x);
	receipts_check(&r, true, first, 0);
	fx_stop(&x);
}

/* A side without receipts takes a void message for a Terminate, which ends the session. */
static void without_receipts(void **state)
{
	struct fx x;

	receipts_start_without(&x);
	fx_post_recv(&x, 1, x.base, 100, x.stag);
	segment_at(&x, x.ssn + 1, 1, 0, true, "behind");
	fx_no_cqe(&x);
	feed_void(&x, x.ssn);
	assert_int_equal(iw_qp_state(x.qp), IW_QPS_ERR);
	fx_expect_cqe(&x, 1, IW_WC_WR_FLUSH_ERR);
	fx_no_cqe(&x);
	fx_stop(&x);
}

/* ---- the QP in error state ---- */

/* Messages of an ended session are not placed, delivered or executed. */
static void nothing_is_placed(void **state)
{
	struct rdmap_atomic_request atomic = { .opcode = RDMAP_FETCH_ADD, .id = 1, .data = 1 };
	uint8_t body[RDMAP_ATOMIC_REQ_LEN], m[100], old[400];
	struct fx x;

	start(&x);
	fx_post(&x, 9, IW_WR_RDMA_READ, x.base + 300, 4, 9, 9, 0);
	receipts_pull(&x, 1);
	segment_at(&x, x.ssn + 1, 1, 0, true, "early");
	memcpy(old, x.mem, sizeof(old));
	assert_int_equal(iw_qp_modify(x.qp, IW_QPS_ERR), 0);
	fx_expect_cqe(&x, 9, IW_WC_WR_FLUSH_ERR);
	for (unsigned int i = 0; i < 4; i++)
		fx_expect_cqe(&x, i, IW_WC_WR_FLUSH_ERR);
	segment_at(&x, x.ssn + 2, 2, 0, true, "late");
	write_at(&x, x.ssn, x.stag, x.base, "late");
	fx_feed(&x, SESSION_PPID_DDP, x.ssn + 3, m,
		fx_make_tagged(m, 0xc1, 0x42, x.stag, x.base + 300, "late", 4));
	atomic.stag = x.stag;
	atomic.to = x.base;
	rdmap_put_atomic_request(body, &atomic);
	fx_feed(&x, SESSION_PPID_DDP, x.ssn + 4, m,
		fx_make_untagged(m, 0x41, 0x4a, 0, 1, 1, 0, body, sizeof(body)));
	assert_memory_equal(x.mem, old, sizeof(old));
	fx_no_cqe(&x);
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which),
		cmocka_unit_test(in_its_place),
		cmocka_unit_test(final_receipt),
		cmocka_unit_test(several),
		cmocka_unit_test(bytes),
		cmocka_unit_test(send_behind),
		cmocka_unit_test(hole),
		cmocka_unit_test(write_before),
		cmocka_unit_test(errors_behind),
		cmocka_unit_test(before),
		cmocka_unit_test(what_outlives),
		cmocka_unit_test(last_receipt),
		cmocka_unit_test(without_receipts),
		cmocka_unit_test(nothing_is_placed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
