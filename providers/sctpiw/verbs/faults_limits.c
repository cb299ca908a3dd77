/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "verbs/faults_limits.h"

#include <limits.h>
#include <stdatomic.h>

#include "runtime/faults.h"
#include "runtime/rnic.h"
#include "verbs/context.h"
#include "verbs/faults_verbs.h"

uint64_t faults_device_limit(struct sctpiw_context *ctx, enum fault_limit which)
{
	return faults_limit(&ctx->shard->rnic->faults, which);
}

bool faults_exceeds(struct sctpiw_context *ctx, enum fault_limit which, uint64_t value)
{
	return faults_exceed(&ctx->shard->rnic->faults, which, value);
}

/* ---- numbers of objects ---- */

static _Atomic int ahs;

void faults_count_ah(int more)
{
	atomic_fetch_add_explicit(&ahs, more, memory_order_relaxed);
}

static const struct list_node *objects(const struct sctpiw_context *ctx, enum fault_limit which)
{
	switch (which) {
	case LIMIT_MAX_QP:
		return &ctx->qps;
	case LIMIT_MAX_CQ:
		return &ctx->cqs;
	case LIMIT_MAX_MR:
		return &ctx->mrs;
	case LIMIT_MAX_PD:
		return &ctx->pds;
	case LIMIT_MAX_MW:
		return &ctx->mws;
	case LIMIT_MAX_SRQ:
		return &ctx->srqs;
	default:
		return NULL;
	}
}

/* Counts the objects of all contexts of the process, which are one device with one limit. */
static uint64_t count(struct sctpiw_context *ctx, enum fault_limit which)
{
	uint64_t n = 0;

	if (which == LIMIT_MAX_AH) {
		int there = atomic_load_explicit(&ahs, memory_order_relaxed);

		return there < 0 ?
			       0 :
			       /* negative if handles from before the first rule were destroyed */
			       (uint64_t)there;
	}
	sctpiw_lock(ctx);
	for (struct sctpiw_context *each = faults_next_context(NULL); each;
	     each = faults_next_context(each)) {
		const struct list_node *list = objects(each, which);

		if (!list || each->generation != ctx->generation)
			continue;
		list_for_each(node, list)
			n++;
	}
	sctpiw_unlock(ctx);
	return n;
}

bool faults_exceeds_count(struct sctpiw_context *ctx, enum fault_limit which)
{
	return faults_device_limit(ctx, which) != UINT64_MAX &&
	       faults_exceeds(ctx, which, count(ctx, which) + 1);
}

/* ---- the device's limits ---- */

static void lower(struct sctpiw_context *ctx, enum fault_limit which, int *value)
{
	uint64_t limit = faults_device_limit(ctx, which);

	if (limit < (uint64_t)*value)
		*value = (int)limit;
}

void faults_lower(struct sctpiw_context *ctx, struct ibv_device_attr *attr)
{
	const struct {
		enum fault_limit which;
		int *value;
	} all[] = {
		{ LIMIT_MAX_QP, &attr->max_qp },
		{ LIMIT_MAX_QP_WR, &attr->max_qp_wr },
		{ LIMIT_MAX_SGE, &attr->max_sge },
		{ LIMIT_MAX_SGE_RD, &attr->max_sge_rd },
		{ LIMIT_MAX_CQ, &attr->max_cq },
		{ LIMIT_MAX_CQE, &attr->max_cqe },
		{ LIMIT_MAX_MR, &attr->max_mr },
		{ LIMIT_MAX_PD, &attr->max_pd },
		{ LIMIT_MAX_QP_RD_ATOM, &attr->max_qp_rd_atom },
		{ LIMIT_MAX_QP_INIT_RD_ATOM, &attr->max_qp_init_rd_atom },
		{ LIMIT_MAX_MW, &attr->max_mw },
		{ LIMIT_MAX_SRQ, &attr->max_srq },
		{ LIMIT_MAX_SRQ_WR, &attr->max_srq_wr },
		{ LIMIT_MAX_SRQ_SGE, &attr->max_srq_sge },
		{ LIMIT_MAX_AH, &attr->max_ah },
	};
	uint64_t size = faults_device_limit(ctx, LIMIT_MAX_MR_SIZE);

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		lower(ctx, all[i].which, all[i].value);
	if (size < attr->max_mr_size)
		attr->max_mr_size = size;
}

bool faults_exceeds_cap(struct sctpiw_context *ctx, const struct ibv_qp_cap *cap, bool has_srq)
{
	return faults_exceeds(ctx, LIMIT_MAX_QP_WR, cap->max_send_wr) ||
	       faults_exceeds(ctx, LIMIT_MAX_SGE, cap->max_send_sge) ||
	       faults_exceeds(ctx, LIMIT_MAX_INLINE_DATA, cap->max_inline_data) ||
	       (!has_srq && (faults_exceeds(ctx, LIMIT_MAX_QP_WR, cap->max_recv_wr) ||
			     faults_exceeds(ctx, LIMIT_MAX_SGE, cap->max_recv_sge)));
}
