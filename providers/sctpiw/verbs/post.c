/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "verbs/post.h"

#include <errno.h>
#include <string.h>

#include "iwarp/iw_qp.h"
#include "iwarp/iw_wr.h"
#include "util/trace.h"
#include "iwarp/iw_ud.h"
#include "verbs/ah.h"
#include "verbs/context.h"
#include "verbs/mw.h"
#include "verbs/qp.h"
#include "verbs/srq.h"

_Static_assert((int)IW_WR_RDMA_WRITE == IBV_WR_RDMA_WRITE, "");
_Static_assert((int)IW_WR_RDMA_WRITE_WITH_IMM == IBV_WR_RDMA_WRITE_WITH_IMM, "");
_Static_assert((int)IW_WR_SEND == IBV_WR_SEND, "");
_Static_assert((int)IW_WR_SEND_WITH_IMM == IBV_WR_SEND_WITH_IMM, "");
_Static_assert((int)IW_WR_RDMA_READ == IBV_WR_RDMA_READ, "");
_Static_assert((int)IW_WR_ATOMIC_CMP_AND_SWP == IBV_WR_ATOMIC_CMP_AND_SWP, "");
_Static_assert((int)IW_WR_ATOMIC_FETCH_AND_ADD == IBV_WR_ATOMIC_FETCH_AND_ADD, "");
_Static_assert((int)IW_WR_LOCAL_INV == IBV_WR_LOCAL_INV, "");
_Static_assert((int)IW_WR_BIND_MW == IBV_WR_BIND_MW, "");
_Static_assert((int)IW_WR_SEND_WITH_INV == IBV_WR_SEND_WITH_INV, "");
_Static_assert((int)IW_SEND_FENCE == IBV_SEND_FENCE, "");
_Static_assert((int)IW_SEND_SIGNALED == IBV_SEND_SIGNALED, "");
_Static_assert((int)IW_SEND_SOLICITED == IBV_SEND_SOLICITED, "");
_Static_assert((int)IW_SEND_INLINE == IBV_SEND_INLINE, "");
_Static_assert(IW_MAX_SGE_RD == IW_MAX_SGE, "a read may have as many elements as the QP");

#define ATOMIC_LEN sizeof(uint64_t)
#define SEND_FLAGS (IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE)

static void copy_inline(uint8_t *to, const struct ibv_sge *sge, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!sge[i].length)
			continue;
		memcpy(to, (const void *)(uintptr_t)sge[i].addr, sge[i].length);
		to += sge[i].length;
	}
}

/* Checks a work request, except for its number of elements. Returns 0, EINVAL or EOPNOTSUPP. */
static int check_send(const struct iw_qp *qp, const struct ibv_send_wr *wr, uint64_t total)
{
	const struct iw_wr_info *info = iw_wr_info(wr->opcode);
	bool is_inline = wr->send_flags & IBV_SEND_INLINE;

	if (wr->opcode >= IW_WR_OPCODES || !(qp->wr_opcodes >> wr->opcode & 1))
		return wr->opcode == IBV_WR_TSO ? EOPNOTSUPP : EINVAL;
	switch ((enum iw_wr_sges)info->sges) {
	case IW_WR_SGES_SOURCE:
		/*
		 * imm_alone is true if the peer runs another implementation, which has no message
		 * with both data and immediate data.
		 */
		if (wr->opcode == IBV_WR_SEND_WITH_IMM && total &&
		    atomic_load_explicit(&qp->imm_alone, memory_order_relaxed))
			return EOPNOTSUPP;
		return total <= (is_inline ? qp->max_inline : qp->max_msg) ? 0 : EINVAL;
	case IW_WR_SGES_SINK:
		return !is_inline && total >= info->min_length && total <= IW_MAX_MSG ? 0 : EINVAL;
	case IW_WR_SGES_NONE:
		return wr->num_sge || is_inline ? EINVAL : 0;
	case IW_WR_SGES_UNUSED:
		return 0;
	}
	return EINVAL;
}

/* Fills the destination of a work request of a UD QP. */
static int put_destination(const struct iw_qp *iw, struct iw_send_wqe *wqe,
			   const struct ibv_send_wr *wr, struct iw_send_wqe **slot)
{
	struct iw_ud_dest *dest = iw_ud_dest(iw, wqe);

	if (!wr->wr.ud.ah)
		return EINVAL;
	*dest = to_ah(wr->wr.ud.ah)->dest;
	dest->qp_num = wr->wr.ud.remote_qpn & 0xffffff;
	dest->qkey = wr->wr.ud.remote_qkey;
	*slot = wqe;
	return 0;
}

int sctpiw_begin_send(struct iw_qp *iw, uint32_t ahead, const struct ibv_send_wr *wr,
		      uint64_t total, struct iw_send_wqe **slot)
{
	struct iw_send_wqe *wqe;
	int err;

	if (wr->send_flags & ~(unsigned int)SEND_FLAGS)
		return EINVAL;
	err = check_send(iw, wr, total);
	if (err)
		return err;
	wqe = iw_ring_slot(&iw->sq, ahead);
	if (!wqe)
		return ENOMEM;

	wqe->wr_id = wr->wr_id;
	wqe->opcode = wr->opcode;
	wqe->flags = wr->send_flags;
	wqe->num_sge = wr->num_sge;
	wqe->length = total;
	wqe->remote_to = 0;
	wqe->rkey = 0;
	wqe->inv_stag = 0;

	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE_WITH_IMM:
		wqe->imm_data = wr->imm_data;
		/* fall through */
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_READ:
		wqe->remote_to = wr->wr.rdma.remote_addr;
		wqe->rkey = wr->wr.rdma.rkey;
		break;
	case IBV_WR_SEND_WITH_IMM:
		wqe->imm_data = wr->imm_data;
		/* fall through */
	case IBV_WR_SEND:
		if (iw->type == IW_QPT_UD)
			return put_destination(iw, wqe, wr, slot);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		wqe->remote_to = wr->wr.atomic.remote_addr;
		wqe->rkey = wr->wr.atomic.rkey;
		wqe->compare_add = wr->wr.atomic.compare_add;
		wqe->swap = wr->wr.atomic.swap;
		wqe->length = ATOMIC_LEN;
		break;
	case IBV_WR_SEND_WITH_INV:
		wqe->inv_stag = wr->invalidate_rkey;
		break;
	case IBV_WR_LOCAL_INV:
		wqe->inv_stag = wr->invalidate_rkey;
		wqe->flags &= ~IW_SEND_INLINE;
		wqe->num_sge = 0;
		wqe->length = 0;
		break;
	case IBV_WR_BIND_MW:
		err = sctpiw_put_bind(wqe, wr->bind_mw.mw, wr->bind_mw.rkey,
				      &wr->bind_mw.bind_info);
		if (err)
			return err;
		break;
	default:
		break;
	}
	if (iw->to_srqs && iw_wr_info(wr->opcode)->on_queue_0)
		wqe->srq_num = sctpiw_srq_num(wr->qp_type.xrc.remote_srqn);
	*slot = wqe;
	return 0;
}

/* Posts one work request, and adds the bytes of its data to *bytes. Returns 0 or an errno. */
static int post_one_send(struct iw_qp *iw, const struct ibv_send_wr *wr, uint64_t *bytes)
{
	/* as an unsigned number, a negative num_sge exceeds every limit */
	uint32_t n = wr->num_sge;
	struct iw_send_wqe *wqe;
	uint64_t total;
	int err;

	if (n > iw->max_send_sge)
		return EINVAL;
	total = sctpiw_sge_total(wr->sg_list, n);
	err = sctpiw_begin_send(iw, 0, wr, total, &wqe);
	if (err)
		return err;
	if (wqe->flags & IW_SEND_INLINE)
		copy_inline((uint8_t *)wqe->sge, wr->sg_list, n);
	else
		sctpiw_copy_sges(wqe->sge, wr->sg_list, wqe->num_sge);
	TRACE(wqe_posted, TRACE_NOW, .qp = iw->num, .wr_id = wqe->wr_id, .opcode = wqe->opcode,
	      .bytes = wqe->length);
	iw_sq_publish(iw);
	*bytes += total;
	return 0;
}

int sctpiw_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct sctpiw_qp *qp = to_qp(ibqp);
	uint64_t bytes = 0;
	bool posted = false, ends_batch = false;
	int err = 0;

	if (qp->generation != sctpiw_generation) {
		*bad_wr = wr;
		return sctpiw_inherited();
	}
	sctpiw_sq_lock(qp);
	if (wr && !iw_sq_may_post(qp->iw))
		err = EINVAL;
	while (wr && !err) {
		err = post_one_send(qp->iw, wr, &bytes);
		if (err)
			break;
		posted = true;
		ends_batch = sctpiw_ends_batch(qp, wr->send_flags);
		wr = wr->next;
	}
	sctpiw_sq_unlock(qp);
	if (err)
		*bad_wr = wr;
	if (posted)
		burst_post(object_shard(&qp->obj), &qp->iw->doorbell, bytes, ends_batch);
	return err;
}

/*
 * Checks a receive for a queue with the limit max_sge. Sets *total to the number of bytes of the
 * receive. Returns 0 or an errno.
 */
static int check_recv(const struct ibv_recv_wr *wr, uint32_t max_sge, uint64_t *total)
{
	uint32_t n = wr->num_sge;

	if (n > max_sge)
		return EINVAL;
	*total = sctpiw_sge_total(wr->sg_list, n);
	return *total > UINT32_MAX ? EINVAL : 0;
}

static void fill_recv(struct iw_recv_wqe *wqe, const struct ibv_recv_wr *wr, uint64_t total)
{
	wqe->wr_id = wr->wr_id;
	wqe->num_sge = wr->num_sge;
	wqe->length = total;
	sctpiw_copy_sges(wqe->sge, wr->sg_list, wr->num_sge);
}

static int post_one_recv(struct iw_qp *iw, const struct ibv_recv_wr *wr)
{
	struct iw_recv_wqe *wqe;
	uint64_t total;
	int err;

	err = check_recv(wr, iw->max_recv_sge, &total);
	if (err)
		return err;
	wqe = iw_rq_slot(iw);
	/* a QP with an SRQ has no receive queue of its own */
	if (!wqe)
		return iw->srq ? EINVAL : ENOMEM;
	fill_recv(wqe, wr, total);
	iw_rq_publish(iw);
	return 0;
}

int sctpiw_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct sctpiw_qp *qp = to_qp(ibqp);
	bool posted = false;
	int err = 0;

	if (qp->generation != sctpiw_generation) {
		*bad_wr = wr;
		return sctpiw_inherited();
	}
	sctpiw_rq_lock(qp);
	if (wr && atomic_load_explicit(&qp->iw->state, memory_order_relaxed) == IW_QPS_RESET)
		err = EINVAL;
	while (wr && !err) {
		err = post_one_recv(qp->iw, wr);
		if (err)
			break;
		posted = true;
		wr = wr->next;
	}
	sctpiw_rq_unlock(qp);
	if (err)
		*bad_wr = wr;
	if (posted && iw_rq_is_awaited(qp->iw))
		burst_post(object_shard(&qp->obj), &qp->iw->doorbell, BURST_AT_ONCE, false);
	return err;
}

static int post_one_srq_recv(struct iw_srq *iw, const struct ibv_recv_wr *wr)
{
	struct iw_recv_wqe *wqe;
	uint64_t total;
	int err;

	err = check_recv(wr, iw->max_sge, &total);
	if (err)
		return err;
	wqe = iw_srq_slot(iw);
	if (!wqe)
		return ENOMEM;
	fill_recv(wqe, wr, total);
	iw_srq_publish(iw);
	return 0;
}

/*
 * Wakes the QPs of all shards that wait for receives of the SRQ. The QPs of the shard that is woken
 * first get the first receives, so the shards take turns.
 */
static void ring_srq(struct sctpiw_srq *srq)
{
	struct rnic *rnic = object_shard(&srq->obj)->rnic;
	uint32_t awaited = iw_srq_awaited(srq->iw);
	unsigned int first = awaited ? srq->rings++ % rnic->n_shards : 0;

	for (unsigned int i = 0; awaited && i < rnic->n_shards; i++) {
		struct shard *s = rnic_shard(rnic, (first + i) % rnic->n_shards);

		if (awaited & 1u << s->index)
			burst_post(s, iw_srq_doorbell(srq->iw, s->index), BURST_AT_ONCE, false);
	}
}

int sctpiw_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct sctpiw_srq *srq = to_srq(ibsrq);
	bool posted = false;
	int err = 0;

	if (srq->generation != sctpiw_generation) {
		*bad_wr = wr;
		return sctpiw_inherited();
	}
	sctpiw_srq_lock(srq);
	while (wr) {
		err = post_one_srq_recv(srq->iw, wr);
		if (err)
			break;
		posted = true;
		wr = wr->next;
	}
	sctpiw_srq_unlock(srq);
	if (err)
		*bad_wr = wr;
	if (posted)
		ring_srq(srq);
	return err;
}
