/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "verbs/faults_async.h"

#include "iwarp/iw_cq.h"
#include "iwarp/iw_qp.h"
#include "iwarp/iw_srq.h"
#include "runtime/faults_qp.h"
#include "runtime/object.h"
#include "verbs/context.h"
#include "verbs/cq.h"
#include "verbs/faults_cq.h"
#include "verbs/faults_verbs.h"
#include "verbs/qp.h"
#include "verbs/srq.h"

static void post(struct object *obj, enum ibv_event_type type)
{
	for (; obj; obj = obj->next) {
		struct object_async_event ev = { .element = obj->user_handle, .event_type = type };

		channel_post(&obj->async, &ev, sizeof(ev));
	}
}

/*
 * True if the attributes select this CQ or SRQ. Attributes that select no object of this kind apply
 * to all objects of the kind.
 */
static bool is_meant(const struct fault_attrs *attrs, enum fault_selector which, uint32_t number,
		     uint32_t nth)
{
	const struct fault_object *o = which == FAULT_SELECT_cq ? &attrs->cq : &attrs->srq;

	if (!(attrs->known >> which & 1))
		return true;
	return o->nth ? o->nth == nth : o->number == number;
}

/* Posts an event about a QP. If the event reports an error, first moves the QP to ERROR. */
static void raise_qp(struct sctpiw_qp *qp, enum ibv_event_type type)
{
	switch (type) {
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
		iw_qp_modify(qp->iw, IW_QPS_ERR);
		post(&qp->obj, type);
		break;
	/* the RNIC posts this event itself when a QP with an SRQ enters ERROR */
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		iw_qp_modify(qp->iw, IW_QPS_ERR);
		break;
	default:
		post(&qp->obj, type);
		break;
	}
}

static void raise_on_qps(struct sctpiw_context *ctx, const struct fault_attrs *attrs,
			 enum ibv_event_type type)
{
	list_for_each_safe(node, &ctx->qps) {
		struct sctpiw_qp *qp = list_entry(node, struct sctpiw_qp, node);

		/* Skip handles of ibv_open_qp(): each receives the events of its QP. */
		if (!qp->real && faults_qp_is_meant(ctx->shard, qp->iw, attrs))
			raise_qp(qp, type);
	}
}

static void raise_on_cqs(struct sctpiw_context *ctx, const struct fault_attrs *attrs)
{
	list_for_each_safe(node, &ctx->cqs) {
		struct sctpiw_cq *cq = list_entry(node, struct sctpiw_cq, node);

		if (is_meant(attrs, FAULT_SELECT_cq, cq->vcq.cq.handle, cq->iw->nth))
			faults_cq_overrun(cq);
	}
}

/* The failure of an SRQ also ends all QPs that use the SRQ. */
static void fail_qps_of(struct sctpiw_context *ctx, const struct iw_srq *srq)
{
	list_for_each_safe(node, &ctx->qps) {
		struct sctpiw_qp *qp = list_entry(node, struct sctpiw_qp, node);

		if (!qp->real && qp->iw->srq == srq)
			iw_qp_modify(qp->iw, IW_QPS_ERR);
	}
}

static void raise_on_srqs(struct sctpiw_context *ctx, const struct fault_attrs *attrs,
			  enum ibv_event_type type)
{
	list_for_each_safe(node, &ctx->srqs) {
		struct sctpiw_srq *srq = list_entry(node, struct sctpiw_srq, node);

		if (!is_meant(attrs, FAULT_SELECT_srq, srq->ibv.handle, srq->iw->nth))
			continue;
		if (type == IBV_EVENT_SRQ_ERR)
			fail_qps_of(ctx, srq->iw);
		post(&srq->obj, type);
	}
}

static void raise_on_context(struct sctpiw_context *ctx, const struct fault_attrs *attrs,
			     enum ibv_event_type type)
{
	/* element: the port's number for events of the port, 0 for events of the device. */
	struct object_async_event ev = {
		.element = type == IBV_EVENT_DEVICE_FATAL ? 0 : 1,
		.event_type = type,
	};

	switch (type) {
	case IBV_EVENT_CQ_ERR:
		raise_on_cqs(ctx, attrs);
		break;
	case IBV_EVENT_SRQ_ERR:
	case IBV_EVENT_SRQ_LIMIT_REACHED:
		raise_on_srqs(ctx, attrs, type);
		break;
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_COMM_EST:
	case IBV_EVENT_SQ_DRAINED:
	case IBV_EVENT_PATH_MIG:
	case IBV_EVENT_PATH_MIG_ERR:
	case IBV_EVENT_QP_LAST_WQE_REACHED:
		raise_on_qps(ctx, attrs, type);
		break;
	default:
		channel_post(&ctx->port.source, &ev, sizeof(ev));
		break;
	}
}

void faults_raise(struct shard *s, const struct fault_action *a, const struct fault_attrs *attrs)
{
	enum ibv_event_type type = a->id == FAULT_DO_overrun ?
					   IBV_EVENT_CQ_ERR :
					   (enum ibv_event_type)a->arg[fault_raise_event];

	for (struct sctpiw_context *ctx = faults_next_context(NULL); ctx;
	     ctx = faults_next_context(ctx))
		if (ctx->shard == s && sctpiw_alive(ctx))
			raise_on_context(ctx, attrs, type);
}
