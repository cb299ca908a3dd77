/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/iw_inspect.h"

#include "iwarp/assoc.h"
#include "iwarp/cq.h"
#include "iwarp/mr.h"
#include "iwarp/rc.h"

void iw_count(const struct iw_rnic *rnic, struct iw_counts *counts)
{
	*counts = (struct iw_counts){
		.cqs = rnic->cqs,
		.srqs = rnic->srqs,
		.pds = rnic->pds,
		.mrs = rnic->mrs.count - rnic->mws,
		.mws = rnic->mws,
	};
	list_for_each(node, &rnic->shards) {
		const struct iw_shard *shard = list_entry(node, struct iw_shard, node);

		counts->qps += shard->qps.count;
		counts->sessions += shard->session_count;
	}
}

uint64_t iw_messages(const uint64_t by_opcode[IW_OPCODES])
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < IW_OPCODES; i++) {
		if (IW_TRAFFIC_MESSAGES >> i & 1)
			sum += by_opcode[i];
	}
	return sum;
}

static uint32_t posted(const struct iw_ring *r)
{
	return iw_ring_tail(r) - r->head;
}

static void inspect_session(const struct iw_rc *rc, struct iw_qp_info *info)
{
	const struct iw_session *s = rc->session;

	if (!s || !s->assoc)
		return;
	info->has_session = true;
	info->stream = s->sid;
	if (s->assoc->ops.describe)
		s->assoc->ops.describe(s->assoc->llp, info->peer, sizeof(info->peer));
}

bool iw_next_qp(struct iw_shard *shard, struct list_node *mark, struct iw_qp_info *info)
{
	struct list_node *node = list_step(&shard->all_qps, mark);
	const struct iw_qp_base *base;
	const struct iw_rc *rc;

	if (!node)
		return false;
	base = list_entry(node, struct iw_qp_base, all);
	*info = (struct iw_qp_info){
		.num = base->qp.num,
		.type = base->qp.type,
		.state = iw_qp_state(&base->qp),
		.oob = base->qp.oob,
		.stands_in = base->qp.stands_in,
		.has_srq = base->qp.srq,
		.send_wrs = posted(&base->qp.sq),
		.recv_wrs = base->qp.srq ? 0 : posted(&base->qp.rq),
		.in = base->in,
		.out = base->out,
		.dropped = base->dropped,
		.error = base->error,
	};
	if (base->qp.type == IW_QPT_UD)
		return true;
	rc = iw_rc_of(&base->qp);
	info->unexpected = rc->rx.unexpected.count;
	info->send_blocked = rc->unplaced.blocked || rc->unplaced.waiting;
	inspect_session(rc, info);
	return true;
}

bool iw_next_cq(struct iw_rnic *rnic, struct list_node *mark, struct iw_cq_info *info)
{
	struct list_node *node = list_step(&rnic->all_cqs, mark);
	const struct iw_cq *cq;

	if (!node)
		return false;
	cq = &list_entry(node, struct iw_cq_full, all)->cq;
	*info = (struct iw_cq_info){
		.entries = cq->limit,
		.waiting = iw_cq_count(cq),
		.queues = cq->refs,
		.armed = atomic_load_explicit(&cq->armed, memory_order_relaxed) != IW_CQ_UNARMED,
		.overflown = iw_cq_is_overflown(cq),
	};
	return true;
}

bool iw_next_mr(struct iw_rnic *rnic, struct list_node *mark, struct iw_mr_info *info)
{
	static const enum iw_mr_type types[] = {
		[IW_MR_REGION] = IW_MR_TYPE_REGION,
		[IW_MR_NULL] = IW_MR_TYPE_NULL,
		[IW_MR_WINDOW_1] = IW_MR_TYPE_MW1,
		[IW_MR_WINDOW_2] = IW_MR_TYPE_MW2,
	};
	struct list_node *node = list_step(&rnic->all_mrs, mark);
	const struct iw_mr *mr;

	if (!node)
		return false;
	mr = list_entry(node, struct iw_mr, all);
	*info = (struct iw_mr_info){
		.stag = mr->stag,
		.type = types[mr->kind],
		.iova = mr->iova,
		.length = mr->length,
		.access = mr->access & ~IW_MR_LOCAL,
		.invalid = iw_mr_is_invalid(mr),
	};
	return true;
}
