/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/uc.h"

#include "iwarp/assoc.h"
#include "iwarp/rc_srq.h"
#include "util/alloc.h"

/* Messages that a UC peer may send. */
#define TAKEN                                                                                      \
	(IW_OPCODE(WRITE) | IW_OPCODE(SEND) | IW_OPCODE(SEND_SE) | IW_OPCODE(SEND_IMM) |           \
	 IW_OPCODE(SEND_SE_IMM) | IW_OPCODE(IMMEDIATE) | IW_OPCODE(IMMEDIATE_SE) |                 \
	 IW_OPCODE(TERMINATE) | IW_OPCODE(RECEIPT))

static struct iw_uc *uc_of(const struct iw_qp *qp)
{
	return (struct iw_uc *)(uintptr_t)qp;
}

static struct iw_qp *uc_alloc(void)
{
	struct iw_uc *uc = alloc_lines(sizeof(*uc));

	if (!uc)
		return NULL;
	list_init(&uc->rc.rx.waiting);
	list_init(&uc->rc.wants_all);
	return &uc->rc.base.qp;
}

const struct iw_qp_ops iw_uc_ops = {
	IW_RC_LIFE,
	.wr_opcodes = 1u << IW_WR_RDMA_WRITE | 1u << IW_WR_RDMA_WRITE_WITH_IMM | 1u << IW_WR_SEND |
		      1u << IW_WR_SEND_WITH_IMM | 1u << IW_WR_LOCAL_INV | 1u << IW_WR_BIND_MW,
	.alloc = uc_alloc,
};

/* ---- the responder ---- */

void iw_uc_start(struct iw_qp *qp)
{
	struct iw_uc *uc = uc_of(qp);

	uc->write = IW_UC_WRITE_NONE;
	uc->write_dropped = uc->send_dropping = false;
}

static bool is_established(const struct iw_session *s)
{
	return iw_is_uc(s->qp) && s->state == IW_S_ESTABLISHED;
}

static void count(struct iw_session *s, uint16_t error)
{
	struct iw_uc_drops *all = &s->shard->stats.uc;

	iw_qp_base(s->qp)->dropped++;
	switch (error) {
	case TERM_DDP_NO_BUFFER:
		all->no_receive++;
		break;
	case TERM_DDP_TOO_LONG:
	case TERM_DDP_MO:
		all->too_long++;
		break;
	case TERM_RDMAP_OPCODE:
		all->bad_opcode++;
		break;
	default:
		all->access++;
		break;
	}
}

/* Drops a message on QN 0, which must be the next one: UC messages arrive in order. */
static bool drop_send(struct iw_uc *uc, const struct ddp_header *h)
{
	struct iw_rc_rx *rx = &uc->rc.rx;

	if (h->msn != rx->deliver_msn)
		return false;
	rx->deliver_msn++;
	rx->delta--; /* the next message gets this message's receive */
	uc->send_dropping = !ddp_is_last(h->control);
	uc->send_msn = h->msn;
	uc->rc.peer_write.just_before = false;
	return true;
}

/* Processes a Write segment. Returns true if the rest of the Write is being dropped. */
static bool sift_write(struct iw_uc *uc, bool last)
{
	bool drops = uc->write == IW_UC_WRITE_DROPPING;

	if (uc->write == IW_UC_WRITE_NONE)
		uc->write_dropped = false;
	if (last)
		uc->write = IW_UC_WRITE_NONE;
	else if (!drops)
		uc->write = IW_UC_WRITE_RUNNING;
	return drops;
}

static bool sift_send(struct iw_uc *uc, const struct ddp_header *h)
{
	if (uc->send_dropping && h->msn == uc->send_msn) {
		uc->send_dropping = !ddp_is_last(h->control);
		return true;
	}
	if (!uc->write_dropped)
		return false;
	uc->write_dropped = false;
	return rdmap_is_immediate(rdmap_opcode(h->rdmap)) && drop_send(uc, h);
}

bool iw_uc_sifts(struct iw_session *s, const uint8_t *segment, size_t len)
{
	struct ddp_header h;

	if (!is_established(s) || !ddp_get(&h, segment, len))
		return false;
	if (ddp_is_tagged(h.control) && rdmap_opcode(h.rdmap) == RDMAP_WRITE)
		return sift_write(uc_of(s->qp), ddp_is_last(h.control));
	if (TAKEN >> rdmap_opcode(h.rdmap) & 1)
		return !ddp_is_tagged(h.control) && h.qn == RDMAP_QN_SEND &&
		       sift_send(uc_of(s->qp), &h);
	if (!ddp_is_tagged(h.control) && h.qn == RDMAP_QN_SEND && !sift_send(uc_of(s->qp), &h) &&
	    !drop_send(uc_of(s->qp), &h))
		return false;
	if (ddp_is_last(h.control))
		count(s, TERM_RDMAP_OPCODE);
	return true;
}

bool iw_uc_drop(struct iw_session *s, const uint8_t *segment, size_t len,
		const struct iw_failure *f)
{
	struct iw_uc *uc = uc_of(s->qp);
	struct ddp_header h;

	if (!is_established(s) || f->illegal || f->term.error == TERM_DDP_LOCAL ||
	    f->term.error == TERM_RDMAP_LOCAL || !ddp_get(&h, segment, len))
		return false;
	if (!ddp_is_tagged(h.control)) {
		if (h.qn != RDMAP_QN_SEND || !drop_send(uc, &h))
			return false;
	} else {
		uc->write = ddp_is_last(h.control) ? IW_UC_WRITE_NONE : IW_UC_WRITE_DROPPING;
		uc->write_dropped = true;
		/* Bytes placed for this Write must not be counted for the next Write. */
		uc->rc.peer_write = (struct iw_peer_write){ 0 };
	}
	count(s, f->term.error);
	return true;
}

bool iw_uc_drop_whole(struct iw_session *s, const struct iw_failure *f)
{
	if (!is_established(s) || f->term.error != TERM_DDP_TOO_LONG)
		return false;
	uc_of(s->qp)->rc.rx.delta--; /* the MSN was already counted */
	if (s->qp->srq)
		iw_rc_srq_undeliver(iw_rc_of(s->qp));
	count(s, f->term.error);
	return true;
}

/* ---- the requester ---- */

bool iw_uc_survives(const struct iw_qp *qp, enum iw_end_reason why, const struct iw_failure *f)
{
	switch (why) {
	case IW_END_PEER:
	case IW_END_REFUSED:
	case IW_END_LOST:
	case IW_END_CLOSED:
	case IW_END_TERMINATE:
		return !iw_cq_is_overflown(qp->send_cq);
	case IW_END_FAILED:
		return f && (f->fault == IW_FAULT_SQ || (f->term.error != TERM_DDP_LOCAL &&
							 f->term.error != TERM_RDMAP_LOCAL));
	default:
		return false;
	}
}

/* Marks the started WQEs as done: their messages are lost, and are never sent again. */
static void lose_begun(struct iw_qp *qp)
{
	struct iw_sq *sq = &iw_qp_base(qp)->send;

	sq->next += sq->begun;
	sq->begun = false;
	for (uint32_t i = qp->sq.head; i != sq->next; i++)
		iw_sq_at(qp, i)->progress = IW_WQE_DONE;
}

void iw_uc_outlive(struct iw_qp *qp, enum iw_end_reason why, const struct iw_failure *f)
{
	bool own_fault = why == IW_END_FAILED && f->fault == IW_FAULT_SQ;

	if (!own_fault)
		lose_begun(qp);
	iw_rc_unbind(iw_rc_of(qp));
	if (qp->srq) /* return the receive of an incomplete or dropped message to the SRQ */
		iw_rc_srq_return(iw_rc_of(qp));
	if (own_fault)
		iw_qp_enter_sq_error(qp, f);
	else if (!iw_sq_complete(qp))
		iw_qp_enter_error(qp, NULL);
}

void iw_uc_lose(struct iw_qp *qp)
{
	struct iw_sq *sq = &iw_qp_base(qp)->send;

	if (iw_qp_state(qp) >= IW_QPS_SQE) {
		iw_qp_doorbell(qp); /* flushes posted WRs */
		return;
	}
	while (iw_sq_peek(qp, sq)) /* iw_sq_peek() finds new WQEs */
		sq->next = sq->tail;
	lose_begun(qp);
	uc_of(qp)->rc.unplaced.arrived = uc_of(qp)->rc.unplaced.next = sq->next;
	if (!iw_sq_complete(qp))
		iw_qp_enter_error(qp, NULL);
}
