/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Assigns the program's QPs to shards. */
#include <errno.h>

#include "runtime/object.h"
#include "runtime/rnic.h"

void rnic_completes_on(struct shard *s, struct iw_cq *cq)
{
	struct object *obj = cq->ctx;

	if (!obj)
		return;
	if (!cq->shared)
		object_set_shard(obj, s);
	else if (object_shard(obj) != s)
		atomic_fetch_or_explicit(&obj->others, 1u << s->index, memory_order_relaxed);
}

void rnic_qp_placed(struct iw_qp *qp)
{
	struct object *obj = qp->ctx;

	rnic_completes_on(object_shard(obj), qp->send_cq);
	rnic_completes_on(object_shard(obj), qp->recv_cq);
}

int rnic_move_qp(struct iw_qp *qp, struct shard *to)
{
	int ret = iw_qp_move(qp, to->conn.iw);

	if (ret)
		return ret == -EBUSY ? -EINVAL : ret;
	object_set_shard(qp->ctx, to);
	rnic_qp_placed(qp);
	return 0;
}

struct shard *rnic_place(struct rnic *r, const struct iw_cq *send_cq, const struct iw_cq *recv_cq)
{
	if (send_cq && send_cq->used)
		return object_shard(send_cq->ctx);
	if (recv_cq && recv_cq->used)
		return object_shard(recv_cq->ctx);
	return rnic_shard(r, r->turn++ % r->n_shards);
}

struct iw_qp *rnic_qp(struct rnic *r, uint32_t num)
{
	struct iw_qp *qp = NULL;

	for (unsigned int i = 0; i < r->n_shards && !qp; i++)
		qp = conn_qp(&rnic_shard(r, i)->conn, num);
	return qp;
}
