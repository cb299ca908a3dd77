/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Makes posts fail. All work requests before the failing one are posted, as a device does that
 * rejects a work request.
 */
#include <errno.h>

#include "iwarp/iw_qp.h"
#include "verbs/context.h"
#include "verbs/faults_calls.h"
#include "verbs/faults_limits.h"
#include "verbs/faults_verbs.h"
#include "verbs/post.h"
#include "verbs/qp.h"
#include "verbs/srq.h"
#include "verbs/wr.h"

static struct fault_attrs of_wr(const struct sctpiw_qp *qp, uint32_t opcode, uint64_t bytes)
{
	struct fault_attrs a = faults_qp_attrs(qp);

	a.known |= 1u << FAULT_SELECT_opcode;
	a.opcode = opcode;
	a.bytes = bytes;
	return a;
}

/* Returns the errno with which this work request must fail, or 0. */
static int ask_send(struct sctpiw_qp *qp, const struct ibv_send_wr *wr)
{
	struct sctpiw_context *ctx = to_ctx(qp->vqp.qp.context);
	uint32_t n = (uint32_t)wr->num_sge <= qp->iw->max_send_sge ? (uint32_t)wr->num_sge : 0;
	struct fault_attrs attrs = of_wr(qp, wr->opcode, sctpiw_sge_total(wr->sg_list, n));

	if (wr->opcode == IBV_WR_RDMA_READ && faults_exceeds(ctx, LIMIT_MAX_SGE_RD, n))
		return EINVAL;
	return faults_ask_verb(ctx, FAULT_SITE_post_send, &attrs);
}

static int post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct sctpiw_qp *qp = to_qp(ibqp);
	struct ibv_send_wr *last = NULL, *bad = wr;
	int err = 0, first;

	if (qp->generation != sctpiw_generation)
		return faults_plain->post_send(ibqp, wr, bad_wr);
	while (bad && !(err = ask_send(qp, bad))) {
		last = bad;
		bad = bad->next;
	}
	if (!err)
		return faults_plain->post_send(ibqp, wr, bad_wr);
	*bad_wr = bad;
	if (!last)
		return err;
	last->next = NULL;
	first = faults_plain->post_send(ibqp, wr, bad_wr);
	last->next = bad;
	return first ? first : err;
}

/*
 * Finds the first receive of a list that must fail, sets *last to the receive before it, and sets
 * *err to its errno. If no receive must fail, returns NULL and sets *err to 0.
 */
static struct ibv_recv_wr *find_bad(struct sctpiw_context *ctx, enum fault_site site,
				    const struct fault_attrs *attrs, struct ibv_recv_wr *wr,
				    struct ibv_recv_wr **last, int *err)
{
	*last = NULL;
	*err = 0;
	while (wr && !(*err = faults_ask_verb(ctx, site, attrs))) {
		*last = wr;
		wr = wr->next;
	}
	return wr;
}

static int post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct sctpiw_qp *qp = to_qp(ibqp);
	struct ibv_recv_wr *last, *bad;
	struct fault_attrs attrs;
	int err, first;

	if (qp->generation != sctpiw_generation)
		return faults_plain->post_recv(ibqp, wr, bad_wr);
	attrs = faults_qp_attrs(qp);
	bad = find_bad(to_ctx(ibqp->context), FAULT_SITE_post_recv, &attrs, wr, &last, &err);
	if (!err)
		return faults_plain->post_recv(ibqp, wr, bad_wr);
	*bad_wr = bad;
	if (!last)
		return err;
	last->next = NULL;
	first = faults_plain->post_recv(ibqp, wr, bad_wr);
	last->next = bad;
	return first ? first : err;
}

static int post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct sctpiw_srq *srq = to_srq(ibsrq);
	struct ibv_recv_wr *last, *bad;
	struct fault_attrs attrs;
	int err, first;

	if (srq->generation != sctpiw_generation)
		return faults_plain->post_srq_recv(ibsrq, wr, bad_wr);
	attrs = (struct fault_attrs){
		.known = 1u << FAULT_SELECT_srq,
		.srq = { .number = ibsrq->handle, .nth = srq->iw->nth },
	};
	bad = find_bad(to_ctx(ibsrq->context), FAULT_SITE_post_srq_recv, &attrs, wr, &last, &err);
	if (!err)
		return faults_plain->post_srq_recv(ibsrq, wr, bad_wr);
	*bad_wr = bad;
	if (!last)
		return err;
	last->next = NULL;
	first = faults_plain->post_srq_recv(ibsrq, wr, bad_wr);
	last->next = bad;
	return first ? first : err;
}

void faults_posts_replace(struct verbs_context_ops *ops)
{
	ops->post_send = post_send;
	ops->post_recv = post_recv;
	ops->post_srq_recv = post_srq_recv;
}

/* ---- ibv_wr_* ---- */

/* Returns the errno with which the batch of ibv_wr_* must fail, or 0. Needs sq_lock. */
static int ask_batch(struct sctpiw_qp *qp)
{
	struct sctpiw_batch *b = &qp->batch;
	struct fault_attrs attrs;
	int err = 0;

	for (uint32_t i = 0; i < b->count && !err; i++) {
		const struct iw_send_wqe *wqe = iw_ring_slot(&qp->iw->sq, i);

		attrs = of_wr(qp, wqe->opcode, wqe->length);
		err = faults_ask_verb(to_ctx(qp->vqp.qp.context), FAULT_SITE_post_send, &attrs);
	}
	if (err || !b->open)
		return err;
	attrs = of_wr(qp, b->wr.opcode, b->length);
	return faults_ask_verb(to_ctx(qp->vqp.qp.context), FAULT_SITE_post_send, &attrs);
}

static int wr_complete(struct ibv_qp_ex *ex)
{
	struct sctpiw_qp *qp = to_qp(&ex->qp_base);
	int err;

	if (qp->generation == sctpiw_generation && !qp->batch.err) {
		err = ask_batch(qp);
		if (err) {
			ex->wr_abort(ex);
			return err;
		}
	}
	return sctpiw_wr_complete(ex);
}

void faults_qp_set_ops(struct sctpiw_qp *qp)
{
	/* In a QP without ibv_wr_*, all bytes after struct ibv_qp are 0, so wr_complete is NULL. */
	if (qp->vqp.qp_ex.wr_complete)
		qp->vqp.qp_ex.wr_complete = wr_complete;
}
