/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Receives that several QPs of a node share: in its one SRQ, or in its XRC SRQs, which own the
 * slots in turn.
 */
#include "iwarp/iw_xrc.h"
#include "sim/stack.h"

static struct iw_srq *srq_of(const struct stack_node *n, unsigned int slot)
{
	return n->srq ? n->srq : n->xrc_srq[slot % STACK_XRC_SRQS];
}

static void make_queues(struct stack_node *n)
{
	if (!n->w->xrc) {
		assert_int_equal(iw_srq_new(n->pd, n->srq_slots, 1, n, &n->srq), 0);
		return;
	}
	n->xrcd = iw_xrcd_new(n->iw);
	n->xrc_cq = iw_cq_new(n->iw, 2 * STACK_SRQ, NULL);
	assert_true(n->xrcd && n->xrc_cq);
	for (unsigned int i = 0; i < STACK_XRC_SRQS; i++)
		assert_int_equal(iw_xrc_srq_new(n->xrcd, n->pd, n->xrc_cq, n->srq_slots, 1, n,
						&n->xrc_srq[i]),
				 0);
}

void stack_srq_init(struct stack_node *n)
{
	if (!n->srq_slots || n->srq_recv)
		return;
	make_queues(n);
	n->srq_recv = calloc(n->srq_slots, STACK_RECV);
	assert_non_null(n->srq_recv);
	assert_int_equal(iw_mr_new(n->pd, (uintptr_t)n->srq_recv, n->srq_slots * STACK_RECV,
				   (uintptr_t)n->srq_recv, IW_ACCESS_LOCAL_WRITE, NULL, &n->srq_mr),
			 0);
	while (n->n_srq_free < n->srq_slots) {
		n->srq_free[n->n_srq_free] = n->n_srq_free;
		n->n_srq_free++;
	}
}

void stack_srq_free(struct stack_node *n)
{
	if (!n->srq_recv)
		return;
	if (n->srq)
		assert_int_equal(iw_srq_free(n->srq), 0);
	for (unsigned int i = 0; n->xrcd && i < STACK_XRC_SRQS; i++)
		assert_int_equal(iw_srq_free(n->xrc_srq[i]), 0);
	if (n->xrcd) {
		assert_int_equal(iw_cq_free(n->xrc_cq), 0);
		assert_int_equal(iw_xrcd_free(n->xrcd), 0);
	}
	iw_mr_free(n->srq_mr);
	free(n->srq_recv);
	n->srq = NULL;
	n->xrcd = NULL;
	n->srq_recv = NULL;
	n->n_srq_free = 0;
}

static void ring(struct stack_node *n, struct iw_srq *srq)
{
	if (!iw_srq_awaited(srq))
		return;
	n->w->seen++;
	conn_doorbell(&n->conn, iw_srq_doorbell(srq, 0));
}

void stack_srq_post(struct stack_node *n)
{
	while (n->n_srq_free) {
		unsigned int pick = sim_random_below(&n->w->random, n->n_srq_free);
		struct iw_srq *srq = srq_of(n, n->srq_free[pick]);
		struct iw_recv_wqe *wr = iw_srq_slot(srq);

		assert_non_null(wr);
		wr->wr_id = n->srq_free[pick];
		wr->num_sge = 1;
		wr->length = STACK_RECV;
		wr->sge[0] = (struct iw_sge){ (uintptr_t)n->srq_recv + wr->wr_id * STACK_RECV,
					      STACK_RECV, iw_mr_stag(n->srq_mr) };
		n->srq_free[pick] = n->srq_free[--n->n_srq_free];
		iw_srq_publish(srq);
	}
	if (n->srq) {
		ring(n, n->srq);
		return;
	}
	for (unsigned int i = 0; i < STACK_XRC_SRQS; i++)
		ring(n, n->xrc_srq[i]);
}

struct stack_side *stack_xrc_side(const struct stack_node *n, uint32_t qp_num)
{
	for (unsigned int i = 0; i < n->w->n_works; i++) {
		struct stack_work *work = n->w->works[i];
		struct stack_side *s = &work->side[1];

		if (work->xrc && s->node == n && s->qp->num == qp_num)
			return work->retry_at || s->link.phase == STACK_LEAVING ? NULL : s;
	}
	return NULL;
}
