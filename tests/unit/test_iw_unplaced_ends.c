/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/*
 * Incomplete WQEs after receipts, Terminates and the loss of an association (iwarp/unplaced.c): the
 * successful ones, the one at fault, and its status.
 */
#include "fixture/iw_receipts.h"

/* ---- Sends without a receive ---- */

/*
 * The peer's receipt comes before the SACK counts as a placement (sctp/receipts.h). The Send, and
 * all later WQEs, wait for a receipt that reports the receive.
 */
static void waits_for_a_receive(void **state)
{
	struct fx x;

	receipts_start(&x, RECEIPTS_WINDOW);
	receipts_write(&x, 1, 10);
	receipts_send(&x, 2, 10);
	receipts_write(&x, 3, 10);
	fx_post(&x, 4, IW_WR_SEND_WITH_IMM, x.base, 10, 0, 0, 0);
	receipts_write(&x, 5, 10);
	receipts_pull(&x, 5);
	receipts_waiting(&x, 1);
	fx_no_cqe(&x);
	receipts_place(&x, 2);
	fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
	receipts_place(&x, 3);
	fx_no_cqe(&x);
	receipts_waiting(&x, 2); /* the first has a receive, the second has none */
	fx_expect_cqes(&x, 2, 2, IW_WC_SUCCESS);
	fx_no_cqe(&x);
	receipts_place(&x, 0);
	fx_no_cqe(&x);
	receipts_lifted(&x);
	fx_expect_cqes(&x, 4, 2, IW_WC_SUCCESS);
	fx_no_cqe(&x);
	receipts_check_all_placed(&x);
	fx_stop(&x);
}

/* A Send that got its receive may still be unplaced. A WQE posted meanwhile waits as well. */
static void lifted_early(void **state)
{
	struct fx x;

	receipts_start(&x, RECEIPTS_WINDOW);
	receipts_send(&x, 1, 10);
	receipts_send(&x, 2, 10);
	receipts_pull(&x, 2);
	receipts_waiting(&x, 1);
	receipts_place(&x, 1);
	receipts_send(&x, 3, 10);
	receipts_pull(&x, 1);
	receipts_place(&x, 1);
	fx_no_cqe(&x);
	receipts_lifted(&x);
	fx_expect_cqes(&x, 1, 2, IW_WC_SUCCESS);
	fx_no_cqe(&x);
	receipts_place(&x, 1);
	fx_expect_cqe(&x, 3, IW_WC_SUCCESS);
	/*
	 * A Send waits again, and so does a Write with Immediate Data, of which only the Write is
	 * placed.
	 */
	fx_post(&x, 4, IW_WR_RDMA_WRITE_WITH_IMM, x.base, 10, 1, 1, 0);
	receipts_pull(&x, 2);
	receipts_waiting(&x, 4);
	receipts_place(&x, 2);
	fx_no_cqe(&x);
	receipts_lifted(&x);
	fx_expect_cqe(&x, 4, IW_WC_SUCCESS);
	fx_stop(&x);
}

/* MSNs wrap. */
static void wrapped_msn(void **state)
{
	struct fx x;

	receipts_start(&x, RECEIPTS_WINDOW);
	iw_rc_of(x.qp)->tx.msn = 0xfffffffe;
	for (uint64_t id = 1; id <= 4; id++)
		receipts_send(&x, id, 10);
	receipts_pull(&x, 4);
	receipts_waiting(&x, 0xfffffffe);
	receipts_place(&x, 4);
	fx_no_cqe(&x);
	receipts_waiting(&x, 0);
	fx_expect_cqes(&x, 1, 2, IW_WC_SUCCESS);
	fx_no_cqe(&x);
	receipts_lifted(&x);
	fx_expect_cqes(&x, 3, 2, IW_WC_SUCCESS);
	fx_stop(&x);
}

/* A Send may wait for any time, whatever others send meanwhile. */
static void waits_long(void **state)
{
	struct fx x;

	receipts_start(&x, RECEIPTS_WINDOW);
	receipts_send(&x, 1, 10);
	receipts_write(&x, 2, 10);
	receipts_pull(&x, 2);
	receipts_waiting(&x, 1);
	receipts_place(&x, 2);
	for (unsigned int i = 0; i < 5; i++) {
		x.assoc->pulled += 1u << 30;
		receipts_place(&x, 1u << 30);
	}
	receipts_send(&x, 3, 10);
	receipts_pull(&x, 1);
	receipts_place(&x, 1);
	fx_no_cqe(&x);
	receipts_lifted(&x);
	fx_expect_cqes(&x, 1, 3, IW_WC_SUCCESS);
	fx_stop(&x);
}

/* A read after a waiting Send is answered, but does not complete before the Send. */
static void read_behind(void **state)
{
	uint8_t m[64];
	struct fx x;

	receipts_start(&x, RECEIPTS_WINDOW);
	receipts_send(&x, 1, 10);
	fx_post(&x, 2, IW_WR_RDMA_READ, x.base, 4, 9, 9, 0);
	receipts_write(&x, 3, 10);
	receipts_pull(&x, 3);
	receipts_waiting(&x, 1);
	receipts_place(&x, 3);
	fx_feed(&x, SESSION_PPID_DDP, x.ssn++, m,
		fx_make_tagged(m, 0xc1, 0x42, x.stag, x.base, "1234", 4));
	fx_no_cqe(&x);
	receipts_lifted(&x);
	fx_expect_cqes(&x, 1, 3, IW_WC_SUCCESS);
	fx_stop(&x);
}

/* Another QP of the association is not affected. */
static void others_go_on(void **state)
{
	struct fx x, y;

	receipts_start(&x, RECEIPTS_WINDOW);
	receipts_more(&y, &x, RECEIPTS_SECOND_SID);
	receipts_send(&x, 1, 10);
	receipts_pull(&x, 1);
	receipts_send(&y, 2, 10);
	receipts_pull(&y, 1);
	receipts_waiting(&x, 1);
	receipts_place(&x, 2);
	fx_expect_cqe(&x, 2, IW_WC_SUCCESS);
	fx_no_cqe(&x);
	receipts_lifted(&x);
	fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
	iw_qp_free(y.qp);
	fx_stop(&x);
}

/* Malformed receipts end the session. */
static void malformed_receipts(void **state)
{
	static const struct {
		uint8_t control;
		uint32_t qn, msn, mo;
		size_t len;
		uint16_t error;
	} cases[] = {
		{ 0x41, 4, 2, 0, 8, TERM_DDP_MSN },
		{ 0x41, 4, 0, 0, 8, TERM_DDP_MSN },
		{ 0x41, 4, 1, 1, 8, TERM_DDP_MO },
		{ 0x41, 4, 1, 0, 9, TERM_DDP_TOO_LONG },
		{ 0x41, 4, 1, 0, 7, TERM_RDMAP_UNSPECIFIED },
		{ 0x01, 4, 1, 0, 8, TERM_RDMAP_UNSPECIFIED },
		{ 0x41, 0, 1, 0, 8, TERM_RDMAP_OPCODE },
		{ 0x41, 5, 1, 0, 8, TERM_DDP_QN },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		static const uint8_t body[16] = { 0 };
		uint8_t m[64];
		struct fx x;
		size_t len;

		receipts_start(&x, RECEIPTS_WINDOW);
		receipts_send(&x, 1, 10);
		receipts_pull(&x, 1);
		len = fx_make_untagged(m, cases[i].control, 0x4f, 0, cases[i].qn, cases[i].msn,
				       cases[i].mo, body, cases[i].len);
		fx_feed(&x, SESSION_PPID_DDP, x.ssn++, m, len);
		fx_expect_cqe(&x, 1, IW_WC_WR_FLUSH_ERR);
		receipts_out(&x);
		assert_true(fx_pull(&x));
		assert_int_equal(x.out[3], 0x47);
		assert_int_equal(get_be16(x.out + 20), cases[i].error);
		fx_stop(&x);
	}
}

/* A peer without the extension sends no receipts, and no other message of the extension. */
static void without_agreement(void **state)
{
	static const struct {
		uint8_t opcode;
		uint32_t qn;
		uint16_t error;
	} cases[] = {
		{ RDMAP_RECEIPT, 4, TERM_DDP_QN },
		{ RDMAP_SEND_IMM, 0, TERM_RDMAP_OPCODE },
		{ RDMAP_SEND_SE_IMM, 0, TERM_RDMAP_OPCODE },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		static const uint8_t body[8] = { 0 };
		uint8_t m[64];
		struct fx x;
		size_t len;

		receipts_start_without(&x);
		fx_post_recv(&x, 1, x.base, 64, x.stag);
		len = fx_make_untagged(m, 0x41, 0x40 | cases[i].opcode, 0, cases[i].qn, 1, 0, body,
				       8);
		fx_feed(&x, SESSION_PPID_DDP, x.ssn++, m, len);
		fx_expect_terminate(&x, cases[i].error, m, len, NULL);
		fx_stop(&x);
	}
}

/* For a peer with another stack, the acknowledgements of its SCTP count. */
static void other_stack(void **state)
{
	struct fx x;

	receipts_start_without(&x);
	receipts_send(&x, 1, 10);
	receipts_write(&x, 2, 10);
	receipts_pull(&x, 2);
	fx_no_cqe(&x);
	receipts_place(&x, 1);
	fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
	assert_true(atomic_load(&x.qp->imm_alone));
	receipts_terminate(&x, TERM_RDMAP_LOCAL, NULL);
	fx_expect_cqe(&x, 2, IW_WC_WR_FLUSH_ERR); /* the fault is unknown */
	fx_event(&x, IW_EVENT_QP_FATAL);
	fx_stop(&x);
}

/* ---- the final receipt ---- */

/* Posts six WRs: their messages are numbered 1, 2, 3 to 6, 7, 8 and (the read) 9. */
static void post_six(struct fx *x)
{
	receipts_write(x, 1, 10);
	receipts_send(x, 2, 10);
	receipts_write(x, 3, 5000);
	receipts_send(x, 4, 10);
	receipts_write(x, 5, 10);
	fx_post(x, 6, IW_WR_RDMA_READ, x->base, 4, 9, 9, 0);
	receipts_pull(x, 9);
	assert_int_equal(get_be16(x->out), 9);
}

/* The final receipt completes earlier messages only, even if SCTP acknowledged more. */
static void final_receipt(void **state)
{
	/* The number of the first undelivered message, and the number of complete WRs. */
	static const struct {
		uint16_t ssn;
		unsigned int complete;
	} cases[] = { { 0, 0 }, { 1, 0 }, { 2, 1 }, { 3, 2 }, { 4, 2 },
		      { 6, 2 }, { 7, 3 }, { 8, 4 }, { 9, 5 }, { 10, 5 } };

	for (uint32_t placed = 0; placed < 2; placed++) {
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			unsigned int n = cases[i].complete;
			struct fx x;

			receipts_start(&x, RECEIPTS_WINDOW);
			post_six(&x);
			receipts_place(&x, placed);
			if (n < placed)
				n = placed;
			receipts_final(&x, cases[i].ssn, 0);
			fx_expect_cqes(&x, 1, n, IW_WC_SUCCESS);
			fx_no_cqe(&x);
			fx_control(&x, SESSION_TERMINATE, NULL, 0);
			fx_expect_cqes(&x, 1 + n, 6 - n, IW_WC_WR_FLUSH_ERR);
			fx_no_cqe(&x);
			receipts_drop_events(&x);
			fx_stop(&x);
		}
	}
}

/* DDP-SSNs have 16 bits. */
static void final_receipt_wraps(void **state)
{
	struct fx x;

	receipts_start(&x, RECEIPTS_WINDOW);
	x.session->tx.ssn = 0xfffe;
	for (uint64_t id = 1; id <= 4; id++)
		receipts_write(&x, id, 10);
	receipts_pull(&x, 4);
	receipts_final(&x, 1, 0);
	fx_expect_cqes(&x, 1, 3, IW_WC_SUCCESS);
	fx_no_cqe(&x);
	fx_stop(&x);
}

/* A delivered Send that waits for a receive never gets one. */
static void final_and_waiting(void **state)
{
	struct fx x;

	receipts_start(&x, RECEIPTS_WINDOW);
	post_six(&x);
	receipts_final(&x, 9, 2);
	fx_expect_cqes(&x, 1, 3, IW_WC_SUCCESS);
	fx_no_cqe(&x);
	receipts_terminate(&x, TERM_DDP_NO_BUFFER, NULL);
	fx_expect_cqe(&x, 4, IW_WC_RNR_RETRY_EXC_ERR);
	fx_expect_cqes(&x, 5, 2, IW_WC_WR_FLUSH_ERR);
	fx_no_cqe(&x);
	fx_event(&x, IW_EVENT_CLOSED); /* no event of the QP: the WR has the error */
	fx_no_event(&x);
	fx_stop(&x);
}

/* The receipt comes while WRs wait in the queue, unsent. */
static void final_and_half_sent(void **state)
{
	struct fx x;

	receipts_start(&x, RECEIPTS_WINDOW);
	receipts_write(&x, 1, 5000);
	receipts_write(&x, 2, 10);
	receipts_pull(&x, 2);
	receipts_final(&x, 3, 0);
	fx_no_cqe(&x);
	receipts_terminate(&x, TERM_RDMAP_LOCAL, NULL);
	fx_expect_cqe(&x, 1, IW_WC_REM_OP_ERR);
	fx_expect_cqe(&x, 2, IW_WC_WR_FLUSH_ERR);
	fx_stop(&x);
}

/* ---- Terminates ---- */

static const struct {
	uint16_t error;
	uint32_t status;
} statuses[] = {
	{ TERM_RDMAP_STAG, IW_WC_REM_ACCESS_ERR },
	{ TERM_RDMAP_BOUNDS, IW_WC_REM_ACCESS_ERR },
	{ TERM_RDMAP_ACCESS, IW_WC_REM_ACCESS_ERR },
	{ TERM_RDMAP_STREAM, IW_WC_REM_ACCESS_ERR },
	{ TERM_RDMAP_WRAP, IW_WC_REM_ACCESS_ERR },
	{ TERM_DDP_STAG, IW_WC_REM_ACCESS_ERR },
	{ TERM_DDP_BOUNDS, IW_WC_REM_ACCESS_ERR },
	{ TERM_DDP_STREAM, IW_WC_REM_ACCESS_ERR },
	{ TERM_DDP_WRAP, IW_WC_REM_ACCESS_ERR },
	{ TERM_RDMAP_INVALIDATE, IW_WC_REM_INV_REQ_ERR },
	{ TERM_RDMAP_INVALIDATE_OP, IW_WC_REM_INV_REQ_ERR },
	{ TERM_RDMAP_OPCODE, IW_WC_REM_INV_REQ_ERR },
	{ TERM_DDP_QN, IW_WC_REM_INV_REQ_ERR },
	{ TERM_DDP_TOO_LONG, IW_WC_REM_INV_REQ_ERR },
	{ TERM_DDP_MO, IW_WC_REM_INV_REQ_ERR },
	{ TERM_DDP_NO_BUFFER, IW_WC_RNR_RETRY_EXC_ERR },
	{ TERM_DDP_LOCAL, IW_WC_REM_OP_ERR },
	{ TERM_RDMAP_LOCAL, IW_WC_REM_OP_ERR },
	{ TERM_RDMAP_UNSPECIFIED, IW_WC_REM_OP_ERR },
	{ TERM_LLP_LOCAL, IW_WC_REM_OP_ERR },
};

/* The Terminate quotes the header of the Send, of the Write, or none. */
static void what_the_status_is(void **state)
{
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		for (unsigned int about = 0; about < 3; about++) {
			uint8_t header[64];
			struct fx x;

			receipts_start(&x, RECEIPTS_WINDOW);
			receipts_write(&x, 0, 10);
			receipts_send(&x, 1, 10);
			receipts_write(&x, 2, 10);
			receipts_send(&x, 3, 10);
			receipts_pull(&x, 4);
			if (about == 2)
				fx_make_tagged(header, 0xc1, 0x40, 0x1234, 0x30000, NULL, 0);
			else
				fx_make_untagged(header, 0x41, 0x43, 0, 0, 1, 0, NULL, 0);
			receipts_final(&x, about == 2 ? 3 : 2, 0);
			receipts_terminate(&x, statuses[i].error, about ? header : NULL);
			fx_expect_cqes(&x, 0, about == 2 ? 2 : 1, IW_WC_SUCCESS);
			fx_expect_cqe(&x, about == 2 ? 2 : 1, statuses[i].status);
			fx_expect_cqes(&x, about == 2 ? 3 : 2, about == 2 ? 1 : 2,
				       IW_WC_WR_FLUSH_ERR);
			fx_no_cqe(&x);
			assert_int_equal(iw_qp_state(x.qp), IW_QPS_ERR);
			receipts_drop_events(&x);
			fx_stop(&x);
		}
	}
}

/*
 * Writes to the same place, or side by side. The Terminate is about the unplaced Write with this
 * TO.
 */
static void which_write(void **state)
{
	static const struct {
		uint64_t to[3];
		uint32_t len[3];
		uint64_t at;
		uint16_t ssn; /* of the final receipt; 0: none */
		unsigned int blamed;
	} cases[] = {
		{ { 1000, 1100, 1200 }, { 100, 100, 100 }, 1100, 0, 1 },
		{ { 1000, 1100, 1200 }, { 100, 100, 100 }, 1099, 0, 0 },
		{ { 1000, 1000, 1000 }, { 0, 100, 100 }, 1000, 0, 0 },
		{ { 1000, 1100, 1100 }, { 100, 0, 100 }, 1100, 0, 1 },
		{ { 1000, 1100, 1100 }, { 100, 0, 100 }, 1101, 0, 2 },
		{ { 1000, 1000, 1000 }, { 100, 100, 100 }, 1000, 2, 1 },
		{ { 1000, 1000, 1000 }, { 100, 100, 100 }, 1000, 3, 2 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (unsigned int behind_a_read = 0; behind_a_read < 2; behind_a_read++) {
			unsigned int placed = cases[i].ssn ? cases[i].ssn - 1u : 0;
			uint8_t header[64];
			struct fx x;

			receipts_start(&x, RECEIPTS_WINDOW);
			if (behind_a_read)
				fx_post(&x, 9, IW_WR_RDMA_READ, x.base, 4, 9, 9, 0);
			for (unsigned int k = 0; k < 3; k++)
				fx_post(&x, k, IW_WR_RDMA_WRITE, x.base, cases[i].len[k], 0x1234,
					cases[i].to[k], 0);
			receipts_pull(&x, 3 + behind_a_read);
			fx_make_tagged(header, 0xc1, 0x40, 0x1234, cases[i].at, NULL, 0);
			if (cases[i].ssn)
				receipts_final(&x, (uint16_t)(cases[i].ssn + behind_a_read), 0);
			receipts_terminate(&x, TERM_RDMAP_ACCESS, header);
			if (behind_a_read) { /* the read has no response */
				fx_expect_cqe(&x, 9, IW_WC_WR_FLUSH_ERR);
				fx_expect_cqes(&x, 0, cases[i].blamed, IW_WC_WR_FLUSH_ERR);
			} else {
				fx_expect_cqes(&x, 0, placed, IW_WC_SUCCESS);
				fx_expect_cqes(&x, placed, cases[i].blamed - placed,
					       IW_WC_WR_FLUSH_ERR);
			}
			fx_expect_cqe(&x, cases[i].blamed, IW_WC_REM_ACCESS_ERR);
			fx_expect_cqes(&x, cases[i].blamed + 1, 2 - cases[i].blamed,
				       IW_WC_WR_FLUSH_ERR);
			fx_no_cqe(&x);
			fx_stop(&x);
		}
	}
}

/* A Send waits for its receive. One Write after it is placed, the next one is not. */
static void write_behind_a_waiting_send(void **state)
{
	uint8_t header[64];
	struct fx x;

	receipts_start(&x, RECEIPTS_WINDOW);
	receipts_send(&x, 1, 10);
	for (uint64_t id = 2; id <= 3; id++)
		fx_post(&x, id, IW_WR_RDMA_WRITE, x.base, 100, 0x1234, 1000, 0);
	receipts_pull(&x, 3);
	receipts_final(&x, 3, 1);
	fx_make_tagged(header, 0xc1, 0x40, 0x1234, 1000, NULL, 0);
	receipts_terminate(&x, TERM_RDMAP_ACCESS, header);
	fx_expect_cqes(&x, 1, 2, IW_WC_WR_FLUSH_ERR);
	fx_expect_cqe(&x, 3, IW_WC_REM_ACCESS_ERR);
	fx_stop(&x);
}

/* The peer refuses a read: the read is at fault, not the earlier Write, which is placed. */
static void refused_read(void **state)
{
	uint8_t header[64];
	struct fx x;

	receipts_start(&x, RECEIPTS_WINDOW);
	receipts_write(&x, 1, 10);
	fx_post(&x, 2, IW_WR_RDMA_READ, x.base, 4, 9, 9, 0);
	receipts_send(&x, 3, 10);
	receipts_pull(&x, 3);
	receipts_final(&x, 2, 0);
	fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
	fx_make_untagged(header, 0x41, 0x41, 0, 1, 1, 0, NULL, 0);
	receipts_terminate(&x, TERM_RDMAP_ACCESS, header);
	fx_expect_cqe(&x, 2, IW_WC_REM_ACCESS_ERR);
	fx_expect_cqe(&x, 3, IW_WC_WR_FLUSH_ERR);
	fx_stop(&x);
}

/* ---- the association is lost ---- */

/* The oldest incomplete WQE is at fault; the others are flushed. */
static void lost(void **state)
{
	for (unsigned int receipts = 0; receipts < 2; receipts++) {
		for (unsigned int pulled = 0; pulled <= 5; pulled++) {
			struct fx x;

			if (receipts)
				receipts_start(&x, RECEIPTS_WINDOW);
			else
				receipts_start_without(&x);
			receipts_write(&x, 1, 10);
			receipts_send(&x, 2, 2000);
			receipts_write(&x, 3, 10);
			receipts_write(&x, 4, 10);
			receipts_pull(&x, pulled);
			receipts_place(&x, pulled != 0);
			if (pulled)
				fx_expect_cqe(&x, 1, IW_WC_SUCCESS);
			iw_assoc_lost(x.assoc, -ETIMEDOUT);
			if (pulled < 2)
				fx_expect_cqes(&x, 1 + pulled, 4 - pulled, IW_WC_WR_FLUSH_ERR);
			else {
				fx_expect_cqe(&x, 2, IW_WC_RETRY_EXC_ERR);
				fx_expect_cqes(&x, 3, 2, IW_WC_WR_FLUSH_ERR);
			}
			fx_no_cqe(&x);
			x.assoc = iw_assoc_new(x.iw,
					       &(struct iw_llp_ops){ .doorbell = fx_doorbell }, &x,
					       false, 64, 1452);
			fx_stop(&x);
		}
	}
}

/* The Terminate quotes nothing, and only a read is outstanding. */
static void terminate_with_reads(void **state)
{
	struct fx x;

	receipts_start(&x, RECEIPTS_WINDOW);
	fx_post(&x, 1, IW_WR_RDMA_READ, x.base, 4, 9, 9, 0);
	receipts_write(&x, 2, 10);
	receipts_pull(&x, 2);
	receipts_final(&x, 3, 0);
	receipts_terminate(&x, TERM_LLP_LOCAL, NULL);
	fx_expect_cqe(&x, 1, IW_WC_REM_OP_ERR);
	fx_expect_cqe(&x, 2, IW_WC_WR_FLUSH_ERR);
	fx_event(&x, IW_EVENT_CLOSED);
	fx_no_event(&x);
	fx_stop(&x);
	/* Nothing is outstanding. */
	receipts_start(&x, RECEIPTS_WINDOW);
	receipts_terminate(&x, TERM_LLP_LOCAL, NULL);
	fx_no_cqe(&x);
	fx_event(&x, IW_EVENT_QP_FATAL);
	fx_stop(&x);
}

/* A read without a response is outstanding, like a Write. */
static void lost_with_reads(void **state)
{
	for (unsigned int behind = 0; behind < 2; behind++) {
		struct fx x;

		receipts_start(&x, RECEIPTS_WINDOW);
		fx_post(&x, 1, IW_WR_RDMA_READ, x.base, 4, 9, 9, 0);
		if (behind)
			receipts_write(&x, 2, 10);
		receipts_pull(&x, 1 + behind);
		receipts_place(&x, 1 + behind);
		iw_assoc_lost(x.assoc, -ETIMEDOUT);
		fx_expect_cqe(&x, 1, IW_WC_RETRY_EXC_ERR);
		if (behind)
			fx_expect_cqe(&x, 2, IW_WC_WR_FLUSH_ERR);
		fx_no_cqe(&x);
		x.assoc = iw_assoc_new(x.iw, &(struct iw_llp_ops){ .doorbell = fx_doorbell }, &x,
				       false, 64, 1452);
		fx_stop(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_for_a_receive),
		cmocka_unit_test(lifted_early),
		cmocka_unit_test(wrapped_msn),
		cmocka_unit_test(waits_long),
		cmocka_unit_test(read_behind),
		cmocka_unit_test(others_go_on),
		cmocka_unit_test(malformed_receipts),
		cmocka_unit_test(without_agreement),
		cmocka_unit_test(other_stack),
		cmocka_unit_test(final_receipt),
		cmocka_unit_test(final_receipt_wraps),
		cmocka_unit_test(final_and_waiting),
		cmocka_unit_test(final_and_half_sent),
		cmocka_unit_test(what_the_status_is),
		cmocka_unit_test(which_write),
		cmocka_unit_test(write_behind_a_waiting_send),
		cmocka_unit_test(refused_read),
		cmocka_unit_test(terminate_with_reads),
		cmocka_unit_test(lost),
		cmocka_unit_test(lost_with_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
