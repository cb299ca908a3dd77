/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "verbs/faults_verbs.h"

#include <errno.h>

#include "iwarp/iw_qp.h"
#include "runtime/faults.h"
#include "verbs/context.h"
#include "verbs/cq.h"
#include "verbs/qp.h"

/* The operations without and with faults. Once installed they never change; the shard lock guards the rest. */
static struct {
	const struct verbs_context_ops *plain;
	struct verbs_context_ops faulty;
	struct list_node contexts; /* sctpiw_context.faults_node, those that are open */
} verbs = { .contexts = { &verbs.contexts, &verbs.contexts } };

static struct faults *faults_of(const struct sctpiw_context *ctx)
{
	return &ctx->shard->rnic->faults;
}

/* ---- calls that fail ---- */

/* Whether the call fails: the errno, or 0. */
static int refusal(struct sctpiw_context *ctx, enum fault_site site,
		   const struct fault_attrs *attrs)
{
	struct fault_action a;

	if (!faults_ask(faults_of(ctx), site, attrs, &a) || a.id != FAULT_DO_fail)
		return 0;
	return (int)a.arg[fault_fail_error];
}

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va,
			     int access)
{
	const struct fault_attrs attrs = { .bytes = length };
	int err = refusal(to_ctx(pd->context), FAULT_SITE_reg_mr, &attrs);

	if (!err)
		return verbs.plain->reg_mr(pd, addr, length, hca_va, access);
	errno = err;
	return NULL;
}

/* ---- completions ---- */

static enum fault_site site_of(enum ibv_wc_opcode opcode)
{
	switch (opcode) {
	case IBV_WC_SEND:
		return FAULT_SITE_send;
	case IBV_WC_RDMA_WRITE:
		return FAULT_SITE_write;
	case IBV_WC_RDMA_READ:
		return FAULT_SITE_read;
	case IBV_WC_COMP_SWAP:
	case IBV_WC_FETCH_ADD:
		return FAULT_SITE_atomic;
	case IBV_WC_BIND_MW:
	case IBV_WC_LOCAL_INV:
		return FAULT_SITE_bind;
	default:
		return FAULT_SITE_receive;
	}
}

/* The context's QP of that number, or NULL. Shard lock. */
static struct sctpiw_qp *find_qp(struct sctpiw_context *ctx, uint32_t num)
{
	list_for_each(node, &ctx->qps) {
		struct sctpiw_qp *qp = list_entry(node, struct sctpiw_qp, node);

		if (qp->iw && qp->iw->num == num)
			return qp;
	}
	return NULL;
}

/*
 * Gives the completion its status. The QP goes to ERROR, as with an error of its own; what has completed behind it,
 * and was not polled yet, becomes flushed.
 */
static void complete(struct sctpiw_qp *qp, const struct fault_action *a, struct ibv_wc *wc)
{
	wc->status = (enum ibv_wc_status)a->arg[fault_complete_status];
	wc->vendor_err = (uint32_t)a->arg[fault_complete_vendor];
	if (wc->status == IBV_WC_SUCCESS || !qp)
		return;
	qp->failed_by_fault = true;
	iw_qp_modify(qp->iw, IW_QPS_ERR);
}

static void look_at(struct sctpiw_context *ctx, struct sctpiw_cq *cq, struct ibv_wc *wc)
{
	struct fault_attrs attrs = {
		.known = 1u << FAULT_SELECT_qp | 1u << FAULT_SELECT_cq,
		.qp.number = wc->qp_num,
		.cq.number = cq->vcq.cq.handle,
		.bytes = wc->byte_len,
	};
	struct sctpiw_qp *qp = find_qp(ctx, wc->qp_num);
	struct fault_action a;

	if (qp && qp->failed_by_fault) {
		if (wc->status == IBV_WC_SUCCESS)
			wc->status = IBV_WC_WR_FLUSH_ERR;
		return;
	}
	if (faults_ask(faults_of(ctx), site_of(wc->opcode), &attrs, &a) &&
	    a.id == FAULT_DO_complete)
		complete(qp, &a, wc);
}

static int poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc)
{
	struct sctpiw_context *ctx = to_ctx(ibcq->context);
	int n = verbs.plain->poll_cq(ibcq, num_entries, wc);

	if (n <= 0)
		return n;
	shard_lock(ctx->shard);
	for (int i = 0; i < n; i++)
		look_at(ctx, to_cq(ibcq), &wc[i]);
	shard_unlock(ctx->shard);
	return n;
}

/* ---- the table ---- */

static void install(struct fault_injector *self, struct shard *s)
{
	verbs.faulty = *verbs.plain;
	verbs.faulty.reg_mr = reg_mr;
	verbs.faulty.poll_cq = poll_cq;
	list_for_each(node, &verbs.contexts) {
		struct sctpiw_context *ctx = list_entry(node, struct sctpiw_context, faults_node);

		pabi_set_ops(&ctx->vctx, &verbs.faulty);
	}
}

static struct fault_injector injector = {
	.classes = FAULT_CLASS_VERB | FAULT_CLASS_COMPLETION,
	.install = install,
};

bool faults_verbs_open(struct sctpiw_context *ctx, const struct verbs_context_ops *plain)
{
	bool ok;

	verbs.plain = plain;
	faults_register(ctx->shard, &injector);
	shard_lock(ctx->shard);
	ok = pabi_set_ops(&ctx->vctx, injector.installed ? &verbs.faulty : plain);
	if (ok)
		list_add_tail(&verbs.contexts, &ctx->faults_node);
	shard_unlock(ctx->shard);
	return ok;
}

void faults_verbs_close(struct sctpiw_context *ctx)
{
	list_del(&ctx->faults_node);
}

void faults_verbs_forget(void)
{
	while (list_pop(&verbs.contexts))
		;
}
