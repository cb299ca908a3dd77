/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "verbs/faults_verbs.h"

#include <errno.h>

#include "iwarp/iw_qp.h"
#include "runtime/faults.h"
#include "runtime/rnic.h"
#include "util/list.h"
#include "verbs/context.h"
#include "verbs/cq.h"
#include "verbs/faults_async.h"
#include "verbs/faults_calls.h"
#include "verbs/faults_cq.h"
#include "verbs/qp.h"

const struct verbs_context_ops *faults_plain;

/* The operations that contexts get when the injector is installed. */
static struct verbs_context_ops faulty;

/* All contexts that this process has opened. Guarded by the shard lock. */
static struct list_node contexts = { &contexts, &contexts };

struct sctpiw_context *faults_next_context(struct sctpiw_context *ctx)
{
	struct list_node *next = ctx ? ctx->all.next : contexts.next;

	return next == &contexts ? NULL : list_entry(next, struct sctpiw_context, all);
}

int faults_ask_verb(struct sctpiw_context *ctx, enum fault_site site,
		    const struct fault_attrs *attrs)
{
	struct fault_action a;

	if (!faults_ask(&ctx->shard->rnic->faults, site, attrs, &a) || a.id != FAULT_DO_fail)
		return 0;
	errno = (int)a.arg[fault_fail_error];
	return errno;
}

struct fault_attrs faults_qp_attrs(const struct sctpiw_qp *qp)
{
	return (struct fault_attrs){
		.known = 1u << FAULT_SELECT_qp,
		.qp = { .number = qp->iw->num, .nth = qp->iw->nth },
	};
}

struct fault_attrs faults_cq_attrs(const struct sctpiw_cq *cq)
{
	return (struct fault_attrs){
		.known = 1u << FAULT_SELECT_cq,
		.cq = { .number = cq->vcq.cq.handle, .nth = cq->iw->nth },
	};
}

/* ---- the injector ---- */

/* Replaces the operations of the context and of its existing objects. Needs the shard lock. */
static void give(struct sctpiw_context *ctx)
{
	pabi_set_ops(&ctx->vctx, &faulty);
	list_for_each(node, &ctx->cqs)
		faults_cq_set_ops(list_entry(node, struct sctpiw_cq, node));
	list_for_each(node, &ctx->qps)
		faults_qp_set_ops(list_entry(node, struct sctpiw_qp, node));
}

static void install(struct fault_injector *self, struct shard *s)
{
	s->post_notification = faults_post_notification;
	for (struct sctpiw_context *ctx = faults_next_context(NULL); ctx;
	     ctx = faults_next_context(ctx))
		if (ctx->shard == s && sctpiw_alive(ctx))
			give(ctx);
}

static void perform(struct fault_injector *self, struct shard *s, const struct fault_action *a,
		    uint64_t now)
{
	faults_raise(s, a, &a->select);
}

/* Releases the completions and notifications that the rule held back. */
static void removed(struct fault_injector *self, struct shard *s, uint32_t rule)
{
	for (struct sctpiw_context *ctx = faults_next_context(NULL); ctx;
	     ctx = faults_next_context(ctx)) {
		if (ctx->shard != s || !sctpiw_alive(ctx))
			continue;
		list_for_each(node, &ctx->cqs)
			faults_cq_release(list_entry(node, struct sctpiw_cq, node), rule);
	}
}

struct fault_injector faults_verbs = {
	.does = { [FAULT_CLASS_NUMBER_VERB] = 1ull << FAULT_DO_fail,
		  [FAULT_CLASS_NUMBER_COMPLETION] = FAULTS_CQ_ACTIONS,
		  [FAULT_CLASS_NUMBER_NOTIFICATION] = 1ull << FAULT_DO_delay |
						      1ull << FAULT_DO_duplicate,
		  [FAULT_CLASS_NUMBER_DEVICE] = 1ull << FAULT_DO_limit,
		  [FAULT_CLASS_NUMBER_TIMER] = 1ull << FAULT_DO_raise | 1ull << FAULT_DO_overrun },
	.install = install,
	.perform = perform,
	.removed = removed,
};

/* ---- opening and closing of contexts ---- */

int faults_verbs_open(struct sctpiw_context *ctx, const struct verbs_context_ops *plain)
{
	const struct fault_attrs none = { 0 };
	int err = faults_ask_verb(ctx, FAULT_SITE_open_device, &none);
	bool set;

	if (err)
		return err;
	shard_lock(ctx->shard);
	if (!faults_plain) {
		faulty = *plain;
		faults_calls_replace(&faulty);
		faults_posts_replace(&faulty);
		faulty.poll_cq = faults_poll_cq;
		faults_plain = plain;
	}
	set = pabi_set_ops(&ctx->vctx, plain);
	if (set) {
		list_add_tail(&contexts, &ctx->all);
		if (faults_verbs.installed)
			give(ctx);
	}
	shard_unlock(ctx->shard);
	if (!set)
		return EPROTONOSUPPORT;
	faults_register(ctx->shard, &faults_verbs);
	return 0;
}

void faults_verbs_close(struct sctpiw_context *ctx)
{
	sctpiw_lock(ctx); /* waits for a `raise` that is using the context */
	list_del(&ctx->all);
	sctpiw_unlock(ctx);
}

void faults_verbs_forget(void)
{
	while (list_pop(&contexts))
		;
}
