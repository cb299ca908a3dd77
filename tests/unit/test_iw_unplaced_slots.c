/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/*
 * Reused slots of a send queue, with no check for placement meanwhile (iwarp/unplaced.c). Reads
 * complete with their responses. The check of a later WQE must ignore the former contents of its
 * slot.
 */
#include "fixture/iw_receipts.h"

#define WRS 4 /* in the send queue, with as many slots */

/* Completes n reads, after a Write that was placed. The next WR id is n + 1. */
static void start(struct fx *x, uint64_t n)
{
	uint8_t m[64], data[8] = { 0 };

	receipts_start_assoc(x, false, RECEIPTS_WINDOW);
	x->sid = FX_SID;
	iw_qp_free(x->qp);
	x->qp = fx_qp_sized(x, x->pd, x->cq, WRS);
	fx_accept(x, 4, 4, 7);
	receipts_write(x, 0, 8);
	receipts_pull(x, 1);
	receipts_place(x, 2);
	fx_expect_cqe(x, 0, IW_WC_SUCCESS);
	for (uint64_t id = 1; id <= n; id++) {
		fx_post(x, id, IW_WR_RDMA_READ, x->base, 8, 0x1234, 0, 0);
		receipts_pull(x, 1);
		receipts_place(x, 1);
		fx_feed(x, SESSION_PPID_DDP, x->ssn++, m,
			fx_make_tagged(m, 0xc1, 0x42, get_be32(x->out + 20), get_be64(x->out + 24),
				       data, sizeof(data)));
		fx_expect_cqe(x, id, IW_WC_SUCCESS);
	}
}

static void each_completes_in_its_turn(void **state)
{
	for (uint64_t reads = 0; reads < 3 * WRS; reads++) {
		uint64_t id = reads + 1;
		struct fx x;

		start(&x, reads);
		receipts_write(&x, id, 8);
		receipts_write(&x, id + 1, 8);
		receipts_send(&x, id + 2, 8);
		receipts_write(&x, id + 3, 8);
		receipts_pull(&x, 4);
		receipts_waiting(&x, 1); /* the Send has no receive */
		receipts_place(&x, 3);
		fx_expect_cqes(&x, id, 2, IW_WC_SUCCESS);
		fx_no_cqe(&x);
		receipts_lifted(&x);
		fx_expect_cqe(&x, id + 2, IW_WC_SUCCESS);
		fx_no_cqe(&x);
		receipts_place(&x, 1);
		fx_expect_cqe(&x, id + 3, IW_WC_SUCCESS);
		receipts_check_all_placed(&x);
		fx_stop(&x);
	}
}

/* A Send that finds its receive does not place the WQEs posted meanwhile. */
static void not_before_it_is_placed(void **state)
{
	for (uint64_t reads = 0; reads < 3 * WRS; reads++) {
		uint64_t id = reads + 1;
		struct fx x;

		start(&x, reads);
		receipts_send(&x, id, 8);
		receipts_pull(&x, 1);
		receipts_waiting(&x, 1);
		receipts_place(&x, 1);
		for (uint64_t more = 1; more < WRS; more++)
			receipts_write(&x, id + more, 8);
		receipts_pull(&x, WRS - 1);
		fx_no_cqe(&x);
		receipts_lifted(&x);
		fx_expect_cqe(&x, id, IW_WC_SUCCESS);
		for (uint64_t more = 1; more < WRS; more++) {
			fx_no_cqe(&x);
			receipts_place(&x, 1);
			fx_expect_cqe(&x, id + more, IW_WC_SUCCESS);
		}
		fx_stop(&x);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_completes_in_its_turn),
		cmocka_unit_test(not_before_it_is_placed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
