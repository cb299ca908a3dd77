/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "verbs/poll.h"

#include <errno.h>
#include <string.h>

#include "iwarp/iw_cq.h"
#include "runtime/rnic.h"
#include "verbs/context.h"
#include "verbs/cq.h"

_Static_assert((int)IW_WC_SUCCESS == IBV_WC_SUCCESS, "");
_Static_assert((int)IW_WC_LOC_LEN_ERR == IBV_WC_LOC_LEN_ERR, "");
_Static_assert((int)IW_WC_LOC_QP_OP_ERR == IBV_WC_LOC_QP_OP_ERR, "");
_Static_assert((int)IW_WC_LOC_PROT_ERR == IBV_WC_LOC_PROT_ERR, "");
_Static_assert((int)IW_WC_WR_FLUSH_ERR == IBV_WC_WR_FLUSH_ERR, "");
_Static_assert((int)IW_WC_MW_BIND_ERR == IBV_WC_MW_BIND_ERR, "");
_Static_assert((int)IW_WC_LOC_ACCESS_ERR == IBV_WC_LOC_ACCESS_ERR, "");
_Static_assert((int)IW_WC_REM_INV_REQ_ERR == IBV_WC_REM_INV_REQ_ERR, "");
_Static_assert((int)IW_WC_REM_ACCESS_ERR == IBV_WC_REM_ACCESS_ERR, "");
_Static_assert((int)IW_WC_REM_OP_ERR == IBV_WC_REM_OP_ERR, "");
_Static_assert((int)IW_WC_RNR_RETRY_EXC_ERR == IBV_WC_RNR_RETRY_EXC_ERR, "");
_Static_assert((int)IW_WC_FATAL_ERR == IBV_WC_FATAL_ERR, "");
_Static_assert((int)IW_WC_GENERAL_ERR == IBV_WC_GENERAL_ERR, "");
_Static_assert((int)IW_WC_SEND == IBV_WC_SEND, "");
_Static_assert((int)IW_WC_RDMA_WRITE == IBV_WC_RDMA_WRITE, "");
_Static_assert((int)IW_WC_RDMA_READ == IBV_WC_RDMA_READ, "");
_Static_assert((int)IW_WC_COMP_SWAP == IBV_WC_COMP_SWAP, "");
_Static_assert((int)IW_WC_FETCH_ADD == IBV_WC_FETCH_ADD, "");
_Static_assert((int)IW_WC_BIND_MW == IBV_WC_BIND_MW, "");
_Static_assert((int)IW_WC_LOCAL_INV == IBV_WC_LOCAL_INV, "");
_Static_assert((int)IW_WC_RECV == IBV_WC_RECV, "");
_Static_assert((int)IW_WC_RECV_RDMA_WITH_IMM == IBV_WC_RECV_RDMA_WITH_IMM, "");
_Static_assert((int)IW_WC_GRH == IBV_WC_GRH, "");
_Static_assert((int)IW_WC_WITH_IMM == IBV_WC_WITH_IMM, "");
_Static_assert((int)IW_WC_WITH_INV == IBV_WC_WITH_INV, "");

static unsigned int wc_flags(const struct iw_cqe *cqe)
{
	return cqe->flags & ~(unsigned int)(IW_WC_GRH_V4 | IW_WC_SEEN);
}

/*
 * Returns the service level of a completion. Programs for adapters of Mellanox read the layout of
 * the GRH from its lowest bits: 1 means IPv6, and 2 means IPv4.
 */
static uint8_t service_level(const struct iw_cqe *cqe)
{
	if (!(cqe->flags & IW_WC_GRH))
		return 0;
	return cqe->flags & IW_WC_GRH_V4 ? 2 : 1;
}

/* Both structs use the same numbers (see above). Only the places of their fields differ. */
static void convert(const struct iw_cqe *cqe, struct ibv_wc *wc)
{
	wc->wr_id = cqe->wr_id;
	wc->status = cqe->status;
	wc->opcode = cqe->opcode;
	wc->vendor_err = cqe->vendor_err;
	wc->byte_len = cqe->byte_len;
	/* copies imm_data as well: both structs have a union of the two */
	wc->invalidated_rkey = cqe->inv_stag;
	wc->qp_num = cqe->qp_num;
	wc->src_qp = cqe->src_qp;
	wc->wc_flags = wc_flags(cqe);
	wc->pkey_index = 0;
	wc->slid = 0;
	wc->sl = service_level(cqe);
	wc->dlid_path_bits = 0;
}

int sctpiw_cq_take(struct sctpiw_cq *cq, uint32_t max, struct ibv_wc *wc)
{
	struct iw_cq *iw = cq->iw;
	uint32_t n = iw_cq_count(iw);

	if (n > max)
		n = max;
	for (uint32_t i = 0; i < n; i++)
		convert(&iw->ring[iw_cq_slot(iw, i)], &wc[i]);
	if (n)
		iw_cq_consume(iw, n);
	return (int)n;
}

/* Moves up to num_entries completions from the ring to wc. Returns their number. */
static int poll_ring(struct sctpiw_cq *cq, int num_entries, struct ibv_wc *wc)
{
	int n;

	/*
	 * Most polls find the CQ empty, and return here. A completion that is added at this moment
	 * is found by the next poll. No event is lost for an application that armed the CQ before
	 * this poll, since iw_cq_arm() has a fence before this check.
	 */
	if (iw_cq_is_empty(cq->iw))
		return 0;
	sctpiw_cq_lock(cq);
	n = sctpiw_cq_take(cq, (uint32_t)num_entries, wc);
	sctpiw_cq_unlock(cq);
	return n;
}

/* Calls a function of poller.h for each other shard whose QPs write completions to the CQ. */
static void each_other(struct sctpiw_cq *cq, void (*call)(struct shard *s))
{
	uint32_t others = atomic_load_explicit(&cq->obj.others, memory_order_relaxed);

	for (; others; others &= others - 1)
		call(rnic_shard(object_shard(&cq->obj)->rnic, (unsigned int)__builtin_ctz(others)));
}

void sctpiw_cq_progress(struct sctpiw_cq *cq)
{
	poller_progress(object_shard(&cq->obj));
	each_other(cq, poller_progress);
}

static void armed(struct sctpiw_cq *cq)
{
	poller_armed(object_shard(&cq->obj));
	each_other(cq, poller_armed);
}

int sctpiw_poll_cq(struct ibv_cq *ibcq, int num_entries, struct ibv_wc *wc)
{
	struct sctpiw_cq *cq = to_cq(ibcq);
	int n;

	if (cq->generation != sctpiw_generation || num_entries < 0) {
		if (cq->generation != sctpiw_generation)
			sctpiw_inherited();
		return -1;
	}
	n = poll_ring(cq, num_entries, wc);
	if (n || !num_entries)
		return n;
	sctpiw_cq_progress(cq);
	return poll_ring(cq, num_entries, wc);
}

int sctpiw_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct sctpiw_cq *cq = to_cq(ibcq);

	if (cq->generation != sctpiw_generation)
		return sctpiw_inherited();
	sctpiw_cq_lock(cq);
	iw_cq_arm(cq->iw, solicited_only != 0);
	sctpiw_cq_unlock(cq);
	armed(cq);
	return 0;
}

/* Functions of the extended CQ. */

static struct sctpiw_cq *ex_to_cq(struct ibv_cq_ex *cq)
{
	return to_cq(ibv_cq_ex_to_cq(cq));
}

int sctpiw_cq_take_current(struct sctpiw_cq *cq)
{
	struct iw_cq *iw = cq->iw;
	uint32_t slot;

	if (iw_cq_is_empty(iw))
		return ENOENT;
	slot = iw_cq_slot(iw, 0);
	cq->current = iw->ring[slot];
	if (iw->stamps)
		cq->stamp = iw->stamps[slot];
	iw_cq_consume(iw, 1);
	cq->vcq.cq_ex.wr_id = cq->current.wr_id;
	cq->vcq.cq_ex.status = cq->current.status;
	return 0;
}

static int ex_start_poll(struct ibv_cq_ex *cq_ex, struct ibv_poll_cq_attr *attr)
{
	struct sctpiw_cq *cq = ex_to_cq(cq_ex);
	int err;

	if (attr->comp_mask)
		return EINVAL;
	if (cq->generation != sctpiw_generation)
		return sctpiw_inherited();
	sctpiw_cq_lock(cq);
	err = sctpiw_cq_take_current(cq);
	if (err) {
		sctpiw_cq_unlock(cq);
		sctpiw_cq_progress(cq);
		sctpiw_cq_lock(cq);
		err = sctpiw_cq_take_current(cq);
	}
	if (err)
		sctpiw_cq_unlock(cq);
	else if (cq_ex->read_completion_wallclock_ns)
		cq->wallclock_offset = rnic_wallclock_offset();
	return err;
}

static int ex_next_poll(struct ibv_cq_ex *cq)
{
	return sctpiw_cq_take_current(ex_to_cq(cq));
}

static void ex_end_poll(struct ibv_cq_ex *cq)
{
	sctpiw_cq_unlock(ex_to_cq(cq));
}

static enum ibv_wc_opcode ex_opcode(struct ibv_cq_ex *cq)
{
	return ex_to_cq(cq)->current.opcode;
}

static uint32_t ex_vendor_err(struct ibv_cq_ex *cq)
{
	return ex_to_cq(cq)->current.vendor_err;
}

static unsigned int ex_wc_flags(struct ibv_cq_ex *cq)
{
	return wc_flags(&ex_to_cq(cq)->current);
}

static uint32_t ex_byte_len(struct ibv_cq_ex *cq)
{
	return ex_to_cq(cq)->current.byte_len;
}

/*
 * Also used for ibv_wc_read_invalidated_rkey(). Both values are in one union here, and their byte
 * order is not changed.
 */
static __be32 ex_imm_data(struct ibv_cq_ex *cq)
{
	return (__be32)ex_to_cq(cq)->current.inv_stag;
}

static uint32_t ex_qp_num(struct ibv_cq_ex *cq)
{
	return ex_to_cq(cq)->current.qp_num;
}

static uint64_t ex_completion_ts(struct ibv_cq_ex *cq)
{
	return ex_to_cq(cq)->stamp;
}

static uint64_t ex_completion_wallclock_ns(struct ibv_cq_ex *cq)
{
	return ex_to_cq(cq)->stamp + ex_to_cq(cq)->wallclock_offset;
}

static uint32_t ex_src_qp(struct ibv_cq_ex *cq)
{
	return ex_to_cq(cq)->current.src_qp;
}

static uint8_t ex_sl(struct ibv_cq_ex *cq)
{
	return service_level(&ex_to_cq(cq)->current);
}

/* Used for fields that only other devices have. */
static uint32_t ex_zero_32(struct ibv_cq_ex *cq)
{
	return 0;
}

static uint16_t ex_zero_16(struct ibv_cq_ex *cq)
{
	return 0;
}

static uint8_t ex_zero_8(struct ibv_cq_ex *cq)
{
	return 0;
}

static void ex_no_tm_info(struct ibv_cq_ex *cq, struct ibv_wc_tm_info *tm_info)
{
	*tm_info = (struct ibv_wc_tm_info){ .tag = 0 };
}

void sctpiw_cq_ex_init(struct ibv_cq_ex *cq, uint64_t wc_flags)
{
	cq->start_poll = ex_start_poll;
	cq->next_poll = ex_next_poll;
	cq->end_poll = ex_end_poll;
	cq->read_opcode = ex_opcode;
	cq->read_vendor_err = ex_vendor_err;
	cq->read_wc_flags = ex_wc_flags;
	if (wc_flags & IBV_WC_EX_WITH_BYTE_LEN)
		cq->read_byte_len = ex_byte_len;
	if (wc_flags & IBV_WC_EX_WITH_IMM)
		cq->read_imm_data = ex_imm_data;
	if (wc_flags & IBV_WC_EX_WITH_QP_NUM)
		cq->read_qp_num = ex_qp_num;
	if (wc_flags & IBV_WC_EX_WITH_SRC_QP)
		cq->read_src_qp = ex_src_qp;
	if (wc_flags & IBV_WC_EX_WITH_SLID)
		cq->read_slid = ex_zero_32;
	if (wc_flags & IBV_WC_EX_WITH_SL)
		cq->read_sl = ex_sl;
	if (wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
		cq->read_dlid_path_bits = ex_zero_8;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		cq->read_completion_ts = ex_completion_ts;
	if (wc_flags & IBV_WC_EX_WITH_CVLAN)
		cq->read_cvlan = ex_zero_16;
	if (wc_flags & IBV_WC_EX_WITH_FLOW_TAG)
		cq->read_flow_tag = ex_zero_32;
	if (wc_flags & IBV_WC_EX_WITH_TM_INFO)
		cq->read_tm_info = ex_no_tm_info;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		cq->read_completion_wallclock_ns = ex_completion_wallclock_ns;
}
