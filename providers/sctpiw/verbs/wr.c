/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A program builds a work request by several calls. The first call sets the operation. Further
 * calls set its data and its address, in any order. The data is written directly to the next slot
 * of the send queue. qp->batch.wr stores the other parameters. The call for the next operation, or
 * ibv_wr_complete(), ends the work request: sctpiw_begin_send() then checks it, and writes the rest
 * of the slot. ibv_wr_complete() publishes all slots together.
 */
#include "verbs/wr.h"

#include <errno.h>
#include <string.h>

#include "iwarp/iw_qp.h"
#include "iwarp/iw_wr.h"
#include "log/log.h"
#include "util/trace.h"
#include "verbs/context.h"
#include "verbs/post.h"
#include "verbs/qp.h"

static inline struct sctpiw_qp *qp_of(struct ibv_qp_ex *ex)
{
	return to_qp(&ex->qp_base);
}

/*
 * Stores an error, unless the batch has one already. After an error, later work requests of the
 * batch are ignored.
 */
static inline void fail(struct sctpiw_batch *b, int err)
{
	if (!b->err)
		b->err = err;
	b->open = false;
}

/*
 * Returns the slot for `total` bytes of data of the open work request, or NULL if the batch has
 * failed. The caller then sets wr.num_sge or wr.send_flags.
 */
static inline struct iw_send_wqe *take(struct sctpiw_qp *qp, uint64_t total)
{
	struct sctpiw_batch *b = &qp->batch;
	struct iw_send_wqe *wqe;

	if (!b->open || b->has_data) {
		fail(b, EINVAL);
		return NULL;
	}
	wqe = iw_ring_slot(&qp->iw->sq, b->count);
	if (!wqe) {
		fail(b, ENOMEM);
		return NULL;
	}
	b->has_data = true;
	b->length = total;
	return wqe;
}

/* Ends the open work request, if there is one. */
static inline void close_open(struct sctpiw_qp *qp)
{
	struct sctpiw_batch *b = &qp->batch;
	struct iw_send_wqe *wqe;
	int err;

	if (!b->open)
		return;
	err = sctpiw_begin_send(qp->iw, b->count, &b->wr, b->length, &wqe);
	if (err) {
		fail(b, err);
		return;
	}
	b->open = false;
	b->ends_batch = sctpiw_ends_batch(qp, b->wr.send_flags);
	b->count++;
	b->bytes += b->length;
}

/*
 * Begins the next work request, and returns it. All its fields are 0; the caller sets the
 * parameters of the operation.
 */
static inline struct ibv_send_wr *begin(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode)
{
	struct sctpiw_qp *qp = qp_of(ex);
	struct sctpiw_batch *b = &qp->batch;

	close_open(qp);
	b->open = !b->err;
	b->has_data = false;
	b->length = 0;
	b->wr.wr_id = ex->wr_id;
	/* The call that sets the data also sets IBV_SEND_INLINE, if the data is inline. */
	b->wr.send_flags = ex->wr_flags & ~(unsigned int)IBV_SEND_INLINE;
	b->wr.num_sge = 0;
	b->wr.wr.ud.ah = NULL;
	b->wr.qp_type.xrc.remote_srqn = 0;
	b->wr.opcode = opcode;
	return &b->wr;
}

static inline void begin_rdma(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode, uint32_t rkey,
			      uint64_t remote_addr)
{
	struct ibv_send_wr *wr = begin(ex, opcode);

	wr->wr.rdma.rkey = rkey;
	wr->wr.rdma.remote_addr = remote_addr;
}

static void wr_rdma_write(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr)
{
	begin_rdma(ex, IBV_WR_RDMA_WRITE, rkey, remote_addr);
}

static void wr_rdma_read(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr)
{
	begin_rdma(ex, IBV_WR_RDMA_READ, rkey, remote_addr);
}

static void wr_send(struct ibv_qp_ex *ex)
{
	begin(ex, IBV_WR_SEND);
}

static void wr_send_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	begin(ex, IBV_WR_SEND_WITH_INV)->invalidate_rkey = rkey;
}

static void wr_local_inv(struct ibv_qp_ex *ex, uint32_t rkey)
{
	begin(ex, IBV_WR_LOCAL_INV)->invalidate_rkey = rkey;
}

static void wr_rdma_write_imm(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr,
			      __be32 imm_data)
{
	begin_rdma(ex, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, remote_addr);
	qp_of(ex)->batch.wr.imm_data = imm_data;
}

static void wr_send_imm(struct ibv_qp_ex *ex, __be32 imm_data)
{
	begin(ex, IBV_WR_SEND_WITH_IMM)->imm_data = imm_data;
}

static void begin_atomic(struct ibv_qp_ex *ex, enum ibv_wr_opcode opcode, uint32_t rkey,
			 uint64_t remote_addr, uint64_t compare_add, uint64_t swap)
{
	struct ibv_send_wr *wr = begin(ex, opcode);

	wr->wr.atomic.remote_addr = remote_addr;
	wr->wr.atomic.compare_add = compare_add;
	wr->wr.atomic.swap = swap;
	wr->wr.atomic.rkey = rkey;
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr,
			      uint64_t compare, uint64_t swap)
{
	begin_atomic(ex, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, remote_addr, compare, swap);
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *ex, uint32_t rkey, uint64_t remote_addr,
				uint64_t add)
{
	begin_atomic(ex, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, remote_addr, add, 0);
}

static void wr_bind_mw(struct ibv_qp_ex *ex, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *info)
{
	struct ibv_send_wr *wr = begin(ex, IBV_WR_BIND_MW);

	wr->bind_mw.mw = mw;
	wr->bind_mw.rkey = rkey;
	wr->bind_mw.bind_info = *info;
}

/*
 * Returns the open work request, so that the caller can set an address for this type of QP. If no
 * work request is open, fails the batch and returns NULL.
 */
static inline struct ibv_send_wr *addressed(struct ibv_qp_ex *ex, enum iw_qp_type type)
{
	struct sctpiw_qp *qp = qp_of(ex);

	if (!qp->batch.open || qp->iw->type != type) {
		fail(&qp->batch, EINVAL);
		return NULL;
	}
	return &qp->batch.wr;
}

static void wr_set_ud_addr(struct ibv_qp_ex *ex, struct ibv_ah *ah, uint32_t remote_qpn,
			   uint32_t remote_qkey)
{
	struct ibv_send_wr *wr = addressed(ex, IW_QPT_UD);

	if (!wr)
		return;
	wr->wr.ud.ah = ah;
	wr->wr.ud.remote_qpn = remote_qpn;
	wr->wr.ud.remote_qkey = remote_qkey;
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *ex, uint32_t remote_srqn)
{
	struct ibv_send_wr *wr = addressed(ex, IW_QPT_XRC_SEND);

	if (wr)
		wr->qp_type.xrc.remote_srqn = remote_srqn;
}

static void wr_set_sge_list(struct ibv_qp_ex *ex, size_t num_sge, const struct ibv_sge *list)
{
	struct sctpiw_qp *qp = qp_of(ex);
	struct iw_send_wqe *wqe;

	if (num_sge > qp->iw->max_send_sge) {
		fail(&qp->batch, EINVAL);
		return;
	}
	wqe = take(qp, sctpiw_sge_total(list, (uint32_t)num_sge));
	if (!wqe)
		return;
	qp->batch.wr.num_sge = (int)num_sge;
	sctpiw_copy_sges(wqe->sge, list, (uint32_t)num_sge);
}

static void wr_set_sge(struct ibv_qp_ex *ex, uint32_t lkey, uint64_t addr, uint32_t length)
{
	const struct ibv_sge one = { .addr = addr, .length = length, .lkey = lkey };

	wr_set_sge_list(ex, 1, &one);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *ex, size_t num_buf,
				    const struct ibv_data_buf *list)
{
	struct sctpiw_qp *qp = qp_of(ex);
	struct iw_send_wqe *wqe;
	uint64_t total = 0;
	uint8_t *to;

	/* The loop ends once the sum exceeds the limit of inline data: no overflow. */
	for (size_t i = 0; i < num_buf && total <= IW_MAX_INLINE; i++)
		total = list[i].length > IW_MAX_INLINE ? UINT64_MAX : total + list[i].length;
	if (total > qp->iw->max_inline) {
		fail(&qp->batch, EINVAL);
		return;
	}
	wqe = take(qp, total);
	if (!wqe)
		return;
	qp->batch.wr.send_flags |= IBV_SEND_INLINE;
	to = (uint8_t *)wqe->sge;
	for (size_t i = 0; i < num_buf; i++) {
		if (!list[i].length)
			continue;
		memcpy(to, list[i].addr, list[i].length);
		to += list[i].length;
	}
}

static void wr_set_inline_data(struct ibv_qp_ex *ex, void *addr, size_t length)
{
	const struct ibv_data_buf one = { .addr = addr, .length = length };

	wr_set_inline_data_list(ex, 1, &one);
}

static void wr_start(struct ibv_qp_ex *ex)
{
	struct sctpiw_qp *qp = qp_of(ex);
	struct sctpiw_batch *b = &qp->batch;

	if (qp->generation != sctpiw_generation) {
		/*
		 * In a child of fork(), do not take the lock: a thread of the parent, which does
		 * not exist here, may have held it.
		 */
		fail(b, sctpiw_inherited());
		return;
	}
	sctpiw_sq_lock(qp);
	b->err = iw_sq_may_post(qp->iw) ? 0 : EINVAL;
	b->open = false;
	b->count = 0;
	b->bytes = 0;
}

/* Traces the `count` WQEs that are published next. */
static void trace_posted(struct iw_qp *iw, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct iw_send_wqe *wqe = iw_ring_slot(&iw->sq, i);

		TRACE(wqe_posted, TRACE_NOW, .qp = iw->num, .wr_id = wqe->wr_id,
		      .opcode = wqe->opcode, .bytes = wqe->length);
	}
}

int sctpiw_wr_complete(struct ibv_qp_ex *ex)
{
	struct sctpiw_qp *qp = qp_of(ex);
	struct sctpiw_batch *b = &qp->batch;
	uint64_t bytes;
	uint32_t count;
	bool ends_batch;
	int err;

	if (qp->generation != sctpiw_generation)
		return sctpiw_inherited();
	close_open(qp);
	err = b->err;
	count = err ? 0 : b->count;
	bytes = b->bytes;
	ends_batch = b->ends_batch;
	if (trace_enabled())
		trace_posted(qp->iw, count);
	if (count)
		iw_ring_publish(&qp->iw->sq, count);
	sctpiw_sq_unlock(qp);
	if (count)
		burst_post(object_shard(&qp->obj), &qp->iw->doorbell, bytes, ends_batch);
	return err;
}

static void wr_abort(struct ibv_qp_ex *ex)
{
	struct sctpiw_qp *qp = qp_of(ex);

	if (qp->generation == sctpiw_generation)
		sctpiw_sq_unlock(qp);
}

/* Returns the operations of ibv_wr_* that this type of QP supports, as wr_opcodes lists them. */
static uint64_t send_ops_of(enum ibv_qp_type type)
{
	const uint64_t both = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM |
			      IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
			      IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW;

	if (type == IBV_QPT_UD)
		return IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
	if (type == IBV_QPT_UC)
		return both;
	return both | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
	       IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_SEND_WITH_INV;
}

int sctpiw_set_send_ops(struct sctpiw_qp *qp, enum ibv_qp_type type, uint64_t flags)
{
	const uint64_t offered = send_ops_of(type);
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;

	if (flags & ~offered || !pabi_mark_qp_ex(&qp->vqp)) {
		log_debug("create_qp_ex: of send_ops_flags 0x%llx only 0x%llx are offered",
			  (unsigned long long)flags, (unsigned long long)offered);
		return EOPNOTSUPP;
	}
	if (flags & IBV_QP_EX_WITH_RDMA_WRITE)
		ex->wr_rdma_write = wr_rdma_write;
	if (flags & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
		ex->wr_rdma_write_imm = wr_rdma_write_imm;
	if (flags & IBV_QP_EX_WITH_SEND)
		ex->wr_send = wr_send;
	if (flags & IBV_QP_EX_WITH_SEND_WITH_IMM)
		ex->wr_send_imm = wr_send_imm;
	if (flags & IBV_QP_EX_WITH_RDMA_READ)
		ex->wr_rdma_read = wr_rdma_read;
	if (flags & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
		ex->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	if (flags & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
		ex->wr_atomic_fetch_add = wr_atomic_fetch_add;
	if (flags & IBV_QP_EX_WITH_LOCAL_INV)
		ex->wr_local_inv = wr_local_inv;
	if (flags & IBV_QP_EX_WITH_BIND_MW)
		ex->wr_bind_mw = wr_bind_mw;
	if (flags & IBV_QP_EX_WITH_SEND_WITH_INV)
		ex->wr_send_inv = wr_send_inv;
	ex->wr_set_ud_addr = wr_set_ud_addr;
	ex->wr_set_xrc_srqn = wr_set_xrc_srqn;
	ex->wr_set_sge = wr_set_sge;
	ex->wr_set_sge_list = wr_set_sge_list;
	ex->wr_set_inline_data = wr_set_inline_data;
	ex->wr_set_inline_data_list = wr_set_inline_data_list;
	ex->wr_start = wr_start;
	ex->wr_complete = sctpiw_wr_complete;
	ex->wr_abort = wr_abort;
	return 0;
}
