/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Life cycle of a reliable connection: the QP outlives its sessions. */
#include "iwarp/rc.h"

#include <errno.h>
#include <stdlib.h>

#include "iwarp/assoc.h"
#include "iwarp/explain.h"
#include "iwarp/mw.h"
#include "iwarp/opcode.h"
#include "iwarp/rc_srq.h"
#include "iwarp/uc.h"
#include "iwarp/xrc.h"
#include "iwarp/zcopy.h"
#include "util/alloc.h"

/* 2^32 divided by the golden ratio: its multiples modulo 2^32 are far from each other. */
#define READ_STAGS_STEP 0x9e3779b9u

static struct iw_qp *rc_alloc(void)
{
	struct iw_rc *rc = alloc_lines(sizeof(*rc));

	if (!rc)
		return NULL;
	list_init(&rc->rx.waiting);
	list_init(&rc->wants_all);
	return &rc->base.qp;
}

void iw_rc_free(struct iw_qp *qp)
{
	struct iw_rc *rc = iw_rc_of(qp);

	if (rc->closed)
		rc->closed->ending.closed_qp = NULL;
	free(rc);
}

enum iw_qp_move iw_rc_move(const struct iw_qp *qp, enum iw_qp_state next)
{
	enum iw_qp_state now = iw_qp_state(qp);
	bool may;

	switch (next) {
	case IW_QPS_INIT:
		may = now == IW_QPS_RESET;
		break;
	case IW_QPS_RTR:
		if (now == IW_QPS_RTS && iw_rc_of(qp)->session)
			/* the session was established before the application moved the QP to RTR */
			return IW_QP_STAYS;
		may = now == IW_QPS_INIT;
		break;
	case IW_QPS_RTS:
		may = now == IW_QPS_SQD || now == IW_QPS_SQE || (now == IW_QPS_RTR && qp->oob);
		break;
	case IW_QPS_SQD:
		may = now == IW_QPS_RTS;
		break;
	default:
		may = false;
	}
	return may ? IW_QP_MOVES : IW_QP_REFUSED;
}

void iw_rc_disconnect(struct iw_qp *qp)
{
	struct iw_rc *rc = iw_rc_of(qp);

	if (rc->session)
		iw_session_end(rc->session, IW_END_MOVED, NULL);
}

void iw_rc_flush_receives(struct iw_qp *qp, const struct iw_failure *f)
{
	iw_rc_srq_flush(iw_rc_of(qp), f);
}

void iw_rc_drop_receives(struct iw_qp *qp)
{
	if (qp->srq)
		iw_rc_srq_return(iw_rc_of(qp));
	iw_rc_of(qp)->peer_gone = false;
}

void iw_rc_doorbell(struct iw_qp *qp)
{
	struct iw_session *s = iw_rc_of(qp)->session;

	if (!s)
		return;
	/* rq_awaited is set if an unexpected Send waits, or has waited, for a receive. */
	if (atomic_load_explicit(&qp->rq_awaited, memory_order_relaxed) && !iw_rc_rx_refresh(s))
		return;
	iw_session_wake(s);
}

void iw_rc_end_remote_read(struct iw_qp *qp)
{
	if (iw_rc_of(qp)->session)
		iw_zcopy_copy_out(qp->shard);
}

bool iw_rc_may_leave(const struct iw_qp *qp)
{
	const struct iw_rc *rc = iw_rc_of(qp);

	return !rc->session && !rc->closed;
}

void iw_rc_set_ord(struct iw_qp *qp, uint32_t ord)
{
	struct iw_rc *rc = iw_rc_of(qp);

	if (!rc->session)
		return;
	iw_explain_depths(rc->session, ord, rc->reads.ord_max, false);
	rc->reads.ord = ord < rc->reads.ord_max ? ord : rc->reads.ord_max;
}

#define MESSAGES                                                                                   \
	(1u << IW_WR_RDMA_WRITE | 1u << IW_WR_RDMA_WRITE_WITH_IMM | 1u << IW_WR_SEND |             \
	 1u << IW_WR_SEND_WITH_IMM | 1u << IW_WR_SEND_WITH_INV | 1u << IW_WR_RDMA_READ |           \
	 1u << IW_WR_ATOMIC_CMP_AND_SWP | 1u << IW_WR_ATOMIC_FETCH_AND_ADD)

const struct iw_qp_ops iw_rc_ops = {
	IW_RC_LIFE,
	.alloc = rc_alloc,
	.wr_opcodes = MESSAGES | 1u << IW_WR_LOCAL_INV | 1u << IW_WR_BIND_MW,
};

/* The two ends of XRC (iw_xrc.h): the requester, which receives nothing, and the responder. */
const struct iw_qp_ops iw_xrc_send_ops = {
	IW_RC_LIFE,
	.alloc = rc_alloc,
	.wr_opcodes = MESSAGES | 1u << IW_WR_LOCAL_INV | 1u << IW_WR_BIND_MW,
};

const struct iw_qp_ops iw_xrc_recv_ops = { IW_RC_LIFE, .alloc = rc_alloc };

/*
 * True if the QP may be bound to a session. A QP connected out of band must have the peer's address
 * (RTR), and has only one session until it is reset.
 */
static bool may_bind(const struct iw_rc *rc)
{
	const struct iw_qp *qp = &rc->base.qp;
	enum iw_qp_state state = iw_qp_state(qp);

	if (qp->type == IW_QPT_UD || rc->session)
		return false;
	if (qp->oob)
		return !rc->peer_gone && state >= IW_QPS_RTR && state <= IW_QPS_SQE;
	return state == IW_QPS_INIT || state == IW_QPS_RTR;
}

int iw_rc_bind(struct iw_qp *qp, struct iw_session *s, uint32_t ird, uint32_t ord)
{
	struct iw_rc *rc = iw_rc_of(qp);
	uint32_t sq_head = qp->sq.head;
	uint32_t rq_head = qp->rq.head;
	struct iw_reads reads = {
		.ord = ord,
		.ord_max = IW_MAX_ORD,
		.msn = 1,
		/*
		 * These STags are valid only on their session. Nevertheless, the sessions' start
		 * values are far apart.
		 */
		.stag = qp->shard->read_stags,
		.atomic_msn = 1,
	};

	if (!may_bind(rc))
		return -EINVAL;
	if ((qp->to_srqs || iw_xrc_is_recv(qp)) && !s->assoc->srq_numbers) {
		iw_explain_no_srq_numbers(s, qp);
		return -EOPNOTSUPP;
	}
	if (iw_unplaced_reserve(s->assoc) || iw_reads_reserve(&reads, 1))
		return -ENOMEM;
	qp->shard->read_stags += READ_STAGS_STEP;
	rc->base.send = (struct iw_sq){ .next = sq_head, .tail = sq_head };
	rc->tx = (struct iw_rc_tx){ .msn = 1, .to_srqs = qp->to_srqs };
	rc->rx = (struct iw_rc_rx){
		.delta = rq_head - 1, /* the receive at the head gets MSN 1 */
		.deliver_msn = 1,
		.unexpected.first = rq_head,
	};
	list_init(&rc->rx.waiting);
	rc->reads = reads;
	rc->irq = (struct iw_irq){ .head = 1, .tail = 1, .ird = ird, .response_msn = 1 };
	rc->peer_write = (struct iw_peer_write){ 0 };
	if (rc->closed) {
		rc->closed->ending.closed_qp = NULL;
		rc->closed = NULL;
	}
	iw_unplaced_start(rc, s, sq_head);
	atomic_store_explicit(&qp->imm_alone, !s->assoc->receipts, memory_order_relaxed);
	rc->session = s;
	s->qp = qp;
	s->takes = qp->to_srqs ? iw_rdmap_answers : iw_rdmap_table;
	if (iw_is_uc(qp)) {
		s->in_order = s->sifts = true;
		iw_uc_start(qp);
	}
	return 0;
}

void iw_rc_unbind(struct iw_rc *rc)
{
	list_del(&rc->wants_all);
	if (rc->base.qp.srq)
		iw_rc_srq_unbind(rc);
	else
		iw_unexpected_clear(&rc->rx.unexpected);
	iw_mw_unbind_all(&rc->base.qp);
	iw_unplaced_stop(rc);
	free(rc->reads.at);
	free(rc->irq.at);
	rc->reads = (struct iw_reads){ 0 };
	rc->irq = (struct iw_irq){ 0 };
	rc->base.send.begun = false;
	rc->session->qp = NULL;
	rc->session = NULL;
}

bool iw_rc_complete_sends(struct iw_rc *rc)
{
	struct iw_failure f;

	if (iw_sq_complete(&rc->base.qp))
		return iw_rc_tx_go_on(rc);
	iw_fail_local(&f, IW_FAULT_NONE, 0, 0);
	iw_session_fail(rc->session, &f);
	return false;
}
