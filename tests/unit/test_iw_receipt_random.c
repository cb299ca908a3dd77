/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/*
 * Receipts of this side (iwarp/receipt.c) for several sessions of one association, with Sends,
 * receives and ends in random order.
 */
#include "fixture/iw_receipts.h"

#define SESSIONS 4u

static void random_step(struct fx *x, uint64_t *seed, uint32_t *msn)
{
	switch (fx_next(seed) >> 59) {
	case 0 ... 9:
		fx_send(x, ++*msn, "abc", 3);
		break;
	case 10 ... 17:
		receipts_post_recv(x, 1, 3);
		break;
	case 18 ... 27:
		fx_pull(x);
		break;
	case 28:
		x->acked = x->assoc->pulled;
		break;
	default:
		break;
	}
}

static void random_end(struct fx *x, uint64_t *seed, uint32_t *msn)
{
	switch (fx_next(seed) >> 61) {
	case 0:
		iw_qp_modify(x->qp, IW_QPS_ERR);
		break;
	case 1:
		fx_write(x, 0xbad, 0, "x", 1);
		break;
	case 2:
		fx_control(x, SESSION_TERMINATE, NULL, 0);
		break;
	case 3:
		receipts_post_recv(x, 1, 2);
		fx_send(x, ++*msn, "abc", 3);
		break;
	case 4:
		receipts_terminate(x, TERM_RDMAP_LOCAL, NULL);
		break;
	default:
		iw_session_abandon(x->session);
	}
}

/* Whatever happens to the sessions of an association, no receipt remains owed in the end. */
static void never_owed_for_ever(void **state)
{
	for (uint64_t round = 1; round <= 300; round++) {
		uint64_t seed = round * 0x9e3779b97f4a7c15ull;
		struct fx x[SESSIONS];
		uint32_t msn[SESSIONS] = { 0 };

		receipts_start(&x[0], RECEIPTS_WINDOW);
		for (unsigned int i = 1; i < SESSIONS; i++)
			receipts_more(&x[i], &x[0], (uint16_t)(2 * i));
		for (unsigned int k = 0; k < 60; k++) {
			unsigned int i = (fx_next(&seed) >> 30) % SESSIONS;

			random_step(&x[i], &seed, &msn[i]);
			x[0].acked = x[i].acked > x[0].acked ? x[i].acked : x[0].acked;
			while (iw_cq_poll(x[0].cq, 1, &(struct iw_cqe){ 0 }))
				;
		}
		for (unsigned int i = 0; i < SESSIONS; i++)
			random_end(&x[i], &seed, &msn[i]);
		for (unsigned int k = 0; k < 20; k++) {
			while (fx_pull(&x[0]))
				;
			x[0].acked = x[0].assoc->pulled;
			fx_ack(&x[0], 0);
		}
		assert_int_equal(x[0].assoc->owing, 0);
		receipts_drop_events(&x[0]);
		for (unsigned int i = 1; i < SESSIONS; i++)
			iw_qp_free(x[i].qp);
		fx_stop(&x[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(never_owed_for_ever),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
