/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Each function first checks the rules, and makes the call only if no rule makes it fail. So a
 * failing call has no effect. Functions that make objects also check the limits.
 */
#include "verbs/faults_calls.h"

#include <errno.h>

#include "iwarp/iw_qp.h"
#include "runtime/rnic.h"
#include "verbs/context.h"
#include "verbs/cq.h"
#include "verbs/faults_cq.h"
#include "verbs/faults_limits.h"
#include "verbs/faults_verbs.h"
#include "verbs/mw.h"
#include "verbs/qp.h"
#include "verbs/srq.h"

/* ---- attributes of a call ---- */

static struct fault_attrs nothing(const void *object)
{
	return (struct fault_attrs){ 0 };
}

static struct fault_attrs of_qp(struct ibv_qp *qp)
{
	const struct sctpiw_qp *q = real_qp(qp);

	return q->generation == sctpiw_generation ? faults_qp_attrs(q) : nothing(qp);
}

static struct fault_attrs of_cq(struct ibv_cq *cq)
{
	const struct sctpiw_cq *q = to_cq(cq);

	return q->generation == sctpiw_generation ? faults_cq_attrs(q) : nothing(cq);
}

static struct fault_attrs of_srq(struct ibv_srq *srq)
{
	const struct sctpiw_srq *q = to_srq(srq);

	if (q->generation != sctpiw_generation)
		return nothing(srq);
	return (struct fault_attrs){
		.known = 1u << FAULT_SELECT_srq,
		.srq = { .number = srq->handle, .nth = q->iw->nth },
	};
}

static struct fault_attrs of_key(uint32_t key)
{
	return (struct fault_attrs){ .known = 1u << FAULT_SELECT_mr, .mr = key };
}

static struct fault_attrs of_mr(const struct verbs_mr *mr)
{
	return of_key(mr->ibv_mr.lkey);
}

static struct fault_attrs of_mw(const struct ibv_mw *mw)
{
	return of_key(mw->rkey);
}

/*
 * Returns the state that the program attributes to the QP. This may differ from the true state: the
 * connection manager of the device moves a QP to RTS before librdmacm requests RTR and RTS. For a
 * QP that has failed, returns its true state, ERR or SQE.
 */
static enum ibv_qp_state known_state(struct ibv_qp *qp)
{
	uint32_t state = atomic_load_explicit(&real_qp(qp)->iw->state, memory_order_relaxed);

	return state == IBV_QPS_ERR || state == IBV_QPS_SQE ? (enum ibv_qp_state)state : qp->state;
}

static struct fault_attrs of_change(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	struct fault_attrs a = of_qp(qp);

	if (!a.known)
		return a;
	a.known |= 1u << FAULT_SELECT_from;
	a.from = known_state(qp);
	if (mask & IBV_QP_STATE) {
		a.known |= 1u << FAULT_SELECT_to;
		a.to = attr->qp_state;
	}
	return a;
}

static int ask(struct ibv_context *context, enum fault_site site, struct fault_attrs attrs)
{
	return faults_ask_verb(to_ctx(context), site, &attrs);
}

/*
 * Sets errno and returns the errno as the verb does, if the call must fail. Otherwise returns 0.
 * too_much: the call exceeds a limit.
 */
static int refuse(bool too_much, int err)
{
	if (too_much)
		errno = err;
	return too_much ? err : 0;
}

/* ---- calls that only fail ---- */

/* Defines the replacement of a verb that returns an errno. */
#define MAY_FAIL(name, params, args, context, attrs)                                               \
	static int name params                                                                     \
	{                                                                                          \
		int err = ask(context, FAULT_SITE_##name, attrs);                                  \
                                                                                                   \
		return err ? err : faults_plain->name args;                                        \
	}

MAY_FAIL(advise_mr,
	 (struct ibv_pd * pd, enum ibv_advise_mr_advice advice, uint32_t flags,
	  struct ibv_sge *list, uint32_t n),
	 (pd, advice, flags, list, n), pd->context, nothing(pd))
MAY_FAIL(attach_mcast, (struct ibv_qp * qp, const union ibv_gid *gid, uint16_t lid), (qp, gid, lid),
	 qp->context, of_qp(qp))
MAY_FAIL(detach_mcast, (struct ibv_qp * qp, const union ibv_gid *gid, uint16_t lid), (qp, gid, lid),
	 qp->context, of_qp(qp))
MAY_FAIL(bind_mw, (struct ibv_qp * qp, struct ibv_mw *mw, struct ibv_mw_bind *bind), (qp, mw, bind),
	 qp->context, of_mw(mw))
MAY_FAIL(close_xrcd, (struct ibv_xrcd * xrcd), (xrcd), xrcd->context, nothing(xrcd))
MAY_FAIL(dealloc_mw, (struct ibv_mw * mw), (mw), mw->context, of_mw(mw))
MAY_FAIL(dealloc_pd, (struct ibv_pd * pd), (pd), pd->context, nothing(pd))
MAY_FAIL(dealloc_td, (struct ibv_td * td), (td), td->context, nothing(td))
MAY_FAIL(dereg_mr, (struct verbs_mr * mr), (mr), mr->ibv_mr.context, of_mr(mr))
MAY_FAIL(destroy_srq, (struct ibv_srq * srq), (srq), srq->context, of_srq(srq))
MAY_FAIL(free_dm, (struct ibv_dm * dm), (dm), dm->context, nothing(dm))
MAY_FAIL(modify_cq, (struct ibv_cq * cq, struct ibv_modify_cq_attr *attr), (cq, attr), cq->context,
	 of_cq(cq))
MAY_FAIL(modify_srq, (struct ibv_srq * srq, struct ibv_srq_attr *attr, int mask), (srq, attr, mask),
	 srq->context, of_srq(srq))
MAY_FAIL(query_port, (struct ibv_context * context, uint8_t port, struct ibv_port_attr *attr),
	 (context, port, attr), context, nothing(context))
MAY_FAIL(query_qp,
	 (struct ibv_qp * qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init),
	 (qp, attr, mask, init), qp->context, of_qp(qp))
MAY_FAIL(query_srq, (struct ibv_srq * srq, struct ibv_srq_attr *attr), (srq, attr), srq->context,
	 of_srq(srq))
MAY_FAIL(req_notify_cq, (struct ibv_cq * cq, int solicited_only), (cq, solicited_only), cq->context,
	 of_cq(cq))
MAY_FAIL(destroy_cq, (struct ibv_cq * cq), (cq), cq->context, of_cq(cq))
MAY_FAIL(destroy_qp, (struct ibv_qp * qp), (qp), qp->context, of_qp(qp))

/* Defines the replacement of a verb that returns an object, or NULL with errno set. */
#define MAY_FAIL_TO_MAKE(type, name, params, args, context)                                        \
	static struct type *name params                                                            \
	{                                                                                          \
		return ask(context, FAULT_SITE_##name, nothing(context)) ?                         \
			       NULL :                                                              \
			       faults_plain->name args;                                            \
	}

MAY_FAIL_TO_MAKE(ibv_dm, alloc_dm, (struct ibv_context * context, struct ibv_alloc_dm_attr *attr),
		 (context, attr), context)
MAY_FAIL_TO_MAKE(ibv_mr, alloc_null_mr, (struct ibv_pd * pd), (pd), pd->context)
MAY_FAIL_TO_MAKE(ibv_pd, alloc_parent_domain,
		 (struct ibv_context * context, struct ibv_parent_domain_init_attr *attr),
		 (context, attr), context)
MAY_FAIL_TO_MAKE(ibv_td, alloc_td, (struct ibv_context * context, struct ibv_td_init_attr *attr),
		 (context, attr), context)
MAY_FAIL_TO_MAKE(ibv_xrcd, open_xrcd,
		 (struct ibv_context * context, struct ibv_xrcd_init_attr *attr), (context, attr),
		 context)
MAY_FAIL_TO_MAKE(ibv_mr, reg_dm_mr,
		 (struct ibv_pd * pd, struct ibv_dm *dm, uint64_t offset, size_t length,
		  unsigned int access),
		 (pd, dm, offset, length, access), pd->context)

/* ---- calls with limits ---- */

static struct ibv_pd *alloc_pd(struct ibv_context *context)
{
	if (ask(context, FAULT_SITE_alloc_pd, nothing(context)) ||
	    refuse(faults_exceeds_count(to_ctx(context), LIMIT_MAX_PD), ENOMEM))
		return NULL;
	return faults_plain->alloc_pd(context);
}

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *addr, size_t length, uint64_t hca_va,
			     int access)
{
	struct sctpiw_context *ctx = to_ctx(pd->context);
	struct fault_attrs attrs = { .bytes = length };

	if (ask(pd->context, FAULT_SITE_reg_mr, attrs) ||
	    refuse(faults_exceeds(ctx, LIMIT_MAX_MR_SIZE, length), EINVAL) ||
	    refuse(faults_exceeds_count(ctx, LIMIT_MAX_MR), ENOMEM))
		return NULL;
	return faults_plain->reg_mr(pd, addr, length, hca_va, access);
}

static int rereg_mr(struct verbs_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
		    int access)
{
	struct ibv_context *context = mr->ibv_mr.context;
	int err = ask(context, FAULT_SITE_rereg_mr, of_mr(mr));

	if (!err && flags & IBV_REREG_MR_CHANGE_TRANSLATION)
		err = refuse(faults_exceeds(to_ctx(context), LIMIT_MAX_MR_SIZE, length), EINVAL);
	return err ? err : faults_plain->rereg_mr(mr, flags, pd, addr, length, access);
}

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
	if (ask(pd->context, FAULT_SITE_alloc_mw, nothing(pd)) ||
	    refuse(faults_exceeds_count(to_ctx(pd->context), LIMIT_MAX_MW), ENOMEM))
		return NULL;
	return faults_plain->alloc_mw(pd, type);
}

static struct ibv_ah *create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct ibv_ah *ah;

	if (ask(pd->context, FAULT_SITE_create_ah, nothing(pd)) ||
	    refuse(faults_exceeds_count(to_ctx(pd->context), LIMIT_MAX_AH), ENOMEM))
		return NULL;
	ah = faults_plain->create_ah(pd, attr);
	faults_count_ah(ah ? 1 : 0);
	return ah;
}

static int destroy_ah(struct ibv_ah *ah)
{
	int err = ask(ah->context, FAULT_SITE_destroy_ah, nothing(ah));

	if (!err)
		err = faults_plain->destroy_ah(ah);
	if (!err)
		faults_count_ah(-1);
	return err;
}

static int query_device_ex(struct ibv_context *context,
			   const struct ibv_query_device_ex_input *input,
			   struct ibv_device_attr_ex *attr, size_t attr_size)
{
	int err = ask(context, FAULT_SITE_query_device, nothing(context));

	if (!err)
		err = faults_plain->query_device_ex(context, input, attr, attr_size);
	if (!err)
		faults_lower(to_ctx(context), &attr->orig_attr);
	return err;
}

/* ---- CQs ---- */

static bool refuse_cq(struct ibv_context *context, uint64_t cqe)
{
	struct sctpiw_context *ctx = to_ctx(context);

	return ask(context, FAULT_SITE_create_cq, nothing(context)) ||
	       refuse(faults_exceeds(ctx, LIMIT_MAX_CQE, cqe), EINVAL) ||
	       refuse(faults_exceeds_count(ctx, LIMIT_MAX_CQ), ENOMEM);
}

static struct ibv_cq *create_cq(struct ibv_context *context, int cqe,
				struct ibv_comp_channel *channel, int vector)
{
	if (refuse_cq(context, cqe < 0 ? 0 : (uint64_t)cqe))
		return NULL;
	return faults_plain->create_cq(context, cqe, channel, vector);
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
	struct ibv_cq_ex *cq = NULL;

	if (!refuse_cq(context, attr->cqe))
		cq = faults_plain->create_cq_ex(context, attr);
	if (cq)
		faults_cq_set_ops(to_cq(ibv_cq_ex_to_cq(cq)));
	return cq;
}

static int resize_cq(struct ibv_cq *cq, int cqe)
{
	struct sctpiw_context *ctx = to_ctx(cq->context);
	int err = ask(cq->context, FAULT_SITE_resize_cq, of_cq(cq));

	if (!err && cqe > 0)
		err = refuse(faults_exceeds(ctx, LIMIT_MAX_CQE, (uint64_t)cqe), EINVAL);
	return err ? err : faults_plain->resize_cq(cq, cqe);
}

/* ---- SRQs ---- */

static bool refuse_srq(struct ibv_context *context, const struct ibv_srq_attr *attr)
{
	struct sctpiw_context *ctx = to_ctx(context);

	return ask(context, FAULT_SITE_create_srq, nothing(context)) ||
	       refuse(faults_exceeds(ctx, LIMIT_MAX_SRQ_WR, attr->max_wr), EINVAL) ||
	       refuse(faults_exceeds(ctx, LIMIT_MAX_SRQ_SGE, attr->max_sge), EINVAL) ||
	       refuse(faults_exceeds_count(ctx, LIMIT_MAX_SRQ), ENOMEM);
}

static struct ibv_srq *create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	return refuse_srq(pd->context, &attr->attr) ? NULL : faults_plain->create_srq(pd, attr);
}

static struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	return refuse_srq(context, &attr->attr) ? NULL : faults_plain->create_srq_ex(context, attr);
}

/* ---- QPs ---- */

static bool refuse_qp(struct ibv_context *context, const struct ibv_qp_cap *cap, bool has_srq)
{
	struct sctpiw_context *ctx = to_ctx(context);

	return ask(context, FAULT_SITE_create_qp, nothing(context)) ||
	       refuse(faults_exceeds_cap(ctx, cap, has_srq), EINVAL) ||
	       refuse(faults_exceeds_count(ctx, LIMIT_MAX_QP), ENOMEM);
}

/* Reduces the granted inline data, which may exceed the request, to the limit of a rule. */
static struct ibv_qp *fit(struct ibv_qp *ibqp, struct ibv_qp_cap *granted)
{
	struct sctpiw_qp *qp = ibqp ? to_qp(ibqp) : NULL;
	uint64_t limit;

	if (!qp)
		return NULL;
	limit = faults_device_limit(to_ctx(ibqp->context), LIMIT_MAX_INLINE_DATA);
	if (qp->cap.max_inline_data > limit) {
		qp->cap.max_inline_data = qp->iw->max_inline = (uint32_t)limit;
		granted->max_inline_data = (uint32_t)limit;
	}
	faults_qp_set_ops(qp);
	return ibqp;
}

static struct ibv_qp *create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	if (refuse_qp(pd->context, &attr->cap, attr->srq))
		return NULL;
	return fit(faults_plain->create_qp(pd, attr), &attr->cap);
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	if (refuse_qp(context, &attr->cap, attr->srq))
		return NULL;
	return fit(faults_plain->create_qp_ex(context, attr), &attr->cap);
}

static int modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	struct sctpiw_context *ctx = to_ctx(qp->context);
	int err = ask(qp->context, FAULT_SITE_modify_qp, of_change(qp, attr, mask));

	if (!err && mask & IBV_QP_MAX_DEST_RD_ATOMIC)
		err = refuse(faults_exceeds(ctx, LIMIT_MAX_QP_RD_ATOM, attr->max_dest_rd_atomic),
			     EINVAL);
	if (!err && mask & IBV_QP_MAX_QP_RD_ATOMIC)
		err = refuse(faults_exceeds(ctx, LIMIT_MAX_QP_INIT_RD_ATOM, attr->max_rd_atomic),
			     EINVAL);
	return err ? err : faults_plain->modify_qp(qp, attr, mask);
}

void faults_calls_replace(struct verbs_context_ops *ops)
{
	ops->advise_mr = advise_mr;
	ops->alloc_dm = alloc_dm;
	ops->alloc_mw = alloc_mw;
	ops->alloc_null_mr = alloc_null_mr;
	ops->alloc_parent_domain = alloc_parent_domain;
	ops->alloc_pd = alloc_pd;
	ops->alloc_td = alloc_td;
	ops->attach_mcast = attach_mcast;
	ops->bind_mw = bind_mw;
	ops->close_xrcd = close_xrcd;
	ops->create_ah = create_ah;
	ops->create_cq = create_cq;
	ops->create_cq_ex = create_cq_ex;
	ops->create_qp = create_qp;
	ops->create_qp_ex = create_qp_ex;
	ops->create_srq = create_srq;
	ops->create_srq_ex = create_srq_ex;
	ops->dealloc_mw = dealloc_mw;
	ops->dealloc_pd = dealloc_pd;
	ops->dealloc_td = dealloc_td;
	ops->dereg_mr = dereg_mr;
	ops->destroy_ah = destroy_ah;
	ops->destroy_cq = destroy_cq;
	ops->destroy_qp = destroy_qp;
	ops->destroy_srq = destroy_srq;
	ops->detach_mcast = detach_mcast;
	ops->free_dm = free_dm;
	ops->modify_cq = modify_cq;
	ops->modify_qp = modify_qp;
	ops->modify_srq = modify_srq;
	ops->open_xrcd = open_xrcd;
	ops->query_device_ex = query_device_ex;
	ops->query_port = query_port;
	ops->query_qp = query_qp;
	ops->query_srq = query_srq;
	ops->reg_dm_mr = reg_dm_mr;
	ops->reg_mr = reg_mr;
	ops->req_notify_cq = req_notify_cq;
	ops->rereg_mr = rereg_mr;
	ops->resize_cq = resize_cq;
}
