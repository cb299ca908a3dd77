/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/*
 * A thousand QPs of one association wait for placement (iwarp/unplaced.c). The cost of a completion
 * grows at most with the logarithm of their number. The cost is the number of QPs that change
 * places in the queue.
 */
#include "fixture/iw_receipts.h"

#define QPS 1024u
#define DEPTH 10u /* of a heap with this size */
#define EACH 4u	  /* Writes per QP */
#define ALL (QPS * EACH)

/* The QPs of x. x->qp is the selected one. */
struct many {
	struct fx x;
	struct iw_qp *qp[QPS];
	struct timerq_node *before[QPS]; /* the last iw_assoc.unplaced.heap */
	size_t n_before;
};

static void many_start(struct many *t)
{
	receipts_start_assoc(&t->x, false, RECEIPTS_WINDOW);
	iw_qp_free(t->x.qp);
	t->x.assoc->streams = 2 * QPS;
	for (unsigned int i = 0; i < QPS; i++) {
		t->qp[i] = fx_qp_sized(&t->x, t->x.pd, t->x.cq, EACH);
		t->x.qp = t->qp[i];
		t->x.sid = (uint16_t)(2 * i);
		t->x.ssn = 0;
		fx_accept(&t->x, 4, 4, 7);
		receipts_place(&t->x, 1);
	}
}

static void many_stop(struct many *t)
{
	receipts_check_all_placed(&t->x);
	for (unsigned int i = 1; i < QPS; i++)
		iw_qp_free(t->qp[i]);
	t->x.qp = t->qp[0];
	fx_stop(&t->x);
}

/* Posts and pulls a Write of QP i, with i as wr_id. */
static void write_one(struct many *t, unsigned int i)
{
	t->x.qp = t->qp[i];
	receipts_write(&t->x, i, 8);
	receipts_pull(&t->x, 1);
}

static void remember(struct many *t)
{
	const struct timerq *q = &t->x.assoc->unplaced;

	t->n_before = q->count;
	memcpy(t->before, q->heap, q->count * sizeof(*q->heap));
}

/* Returns the number of places in the queue with another QP than before. */
static unsigned int changed(struct many *t)
{
	const struct timerq *q = &t->x.assoc->unplaced;
	unsigned int n = 0;

	for (size_t i = 0; i < q->count; i++)
		n += i >= t->n_before || q->heap[i] != t->before[i];
	return n;
}

/* Places the messages one by one, in the order of whose[]. Each completes at once. */
static void place_all(struct many *t, const uint16_t *whose)
{
	for (unsigned int k = 0; k < ALL; k++) {
		remember(t);
		receipts_place(&t->x, 1);
		assert_true(changed(t) <= DEPTH + 1);
		fx_expect_cqe(&t->x, whose[k], IW_WC_SUCCESS);
		fx_no_cqe(&t->x);
	}
}

/* Sends in this order, and places all. A QP that starts to wait changes few places as well. */
static void in_order(const uint16_t *whose)
{
	static struct many t;

	many_start(&t);
	for (unsigned int k = 0; k < ALL; k++) {
		remember(&t);
		write_one(&t, whose[k]);
		assert_true(changed(&t) <= 1); /* no QP waits for a newer message */
	}
	place_all(&t, whose);
	many_stop(&t);
}

/* All QPs take turns: each queues again after all others. */
static void in_turn(void **state)
{
	static uint16_t whose[ALL];

	for (unsigned int k = 0; k < ALL; k++)
		whose[k] = (uint16_t)(k % QPS);
	in_order(whose);
}

/* Each QP sends all of its Writes at once: each queues again before all others. */
static void in_rows(void **state)
{
	static uint16_t whose[ALL];

	for (unsigned int k = 0; k < ALL; k++)
		whose[k] = (uint16_t)(k / EACH);
	in_order(whose);
}

/* QPs send in random order: each queues somewhere between the others. */
static void by_chance(void **state)
{
	static uint16_t whose[ALL];
	uint64_t seed = 0x9e3779b97f4a7c15ull;

	for (unsigned int k = 0; k < ALL; k++)
		whose[k] = (uint16_t)(k / EACH);
	for (unsigned int k = ALL - 1; k; k--) {
		unsigned int other = (unsigned int)(fx_next(&seed) >> 33) % (k + 1);
		uint16_t was = whose[k];

		whose[k] = whose[other];
		whose[other] = was;
	}
	in_order(whose);
}

/* Sessions end while their QPs wait, anywhere in the queue. The others continue. */
static void some_end(void **state)
{
	static struct many t;

	many_start(&t);
	for (unsigned int i = 0; i < QPS; i++)
		write_one(&t, i);
	for (unsigned int i = 0; i < QPS; i += 3) {
		remember(&t);
		assert_int_equal(iw_qp_modify(t.qp[i], IW_QPS_ERR), 0);
		assert_true(changed(&t) <= DEPTH + 1);
		fx_expect_cqe(&t.x, i, IW_WC_WR_FLUSH_ERR);
	}
	for (unsigned int i = 0; i < QPS; i++) {
		receipts_place(&t.x, 1);
		if (i % 3)
			fx_expect_cqe(&t.x, i, IW_WC_SUCCESS);
		fx_no_cqe(&t.x);
	}
	receipts_drop_events(&t.x);
	many_stop(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_turn),
		cmocka_unit_test(in_rows),
		cmocka_unit_test(by_chance),
		cmocka_unit_test(some_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
