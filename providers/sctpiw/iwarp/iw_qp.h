/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Queue pairs as other rooms see them: the rings, the state, and what the verbs do with them.
 *
 * Functions marked "(producer)" are called by the application's threads without the shard's lock,
 * as in iw_ring.h; all others need it.
 */
#ifndef SCTPIW_IWARP_IW_QP_H
#define SCTPIW_IWARP_IW_QP_H

#include "iwarp/iw_cq.h"
#include "iwarp/iw_mr.h"
#include "iwarp/iw_ring.h"
#include "iwarp/iw_srq.h"

struct iw_shard;

struct iw_qp_attr {
	enum iw_qp_type type;
	struct iw_pd *pd;
	struct iw_cq *send_cq, *recv_cq;
	/* Of the same PD, or NULL. With an SRQ max_recv_* are not looked at. */
	struct iw_srq *srq;
	struct iw_xrcd *xrcd; /* XRC_RECV: its domain; pd, srq and the CQs are not looked at then */
	uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge;
	uint32_t max_inline; /* bytes */
	bool sq_sig_all;     /* every WR of the send queue completes with an entry */
	uint32_t num;	     /* the number it shall have; 0: any */
	void *ctx;	     /* the verbs layer's */
};

struct oob_qp;

struct iw_qp {
	uint32_t num; /* 24 bits */
	enum iw_qp_type type;
	_Atomic uint32_t state; /* enum iw_qp_state; written under the shard's lock, read anywhere */
	uint32_t max_inline, max_send_sge, max_recv_sge;
	uint32_t max_msg;    /* bytes that one WR may send */
	uint32_t wr_opcodes; /* bit (1 << enum iw_wr_opcode) of each WR that its type takes */
	bool sq_sig_all;
	bool to_srqs; /* XRC_SEND: iw_send_wqe.srq_num counts */
	struct iw_ring sq, rq;
	_Atomic bool rq_awaited; /* Sends wait for receives */
	_Atomic bool imm_alone;	 /* its peer takes no Send with both payload and immediate data */
	struct iw_doorbell doorbell;
	struct iw_shard *shard;
	struct iw_pd *pd;
	struct iw_cq *send_cq, *recv_cq;
	struct iw_srq *srq; /* or NULL */
	void *ctx;	    /* the verbs layer's */
	uint32_t nth; /* how many the program had made, with this one; 0: it is none of the program's */
	uint32_t groups; /* multicast groups that it is attached to */
	bool blocks_own; /* it gets no copy of what it sends to a group that it is attached to */
	/* The connection manager moves it through its states, so no IB state masks hold. */
	bool by_cm;
	bool stands_in; /* for none of the application's: conn/stand_in.h */
	/*
	 * Not NULL: connected out of band, and this is what conn/oob.h keeps about it. Its session
	 * leaves the state alone: it may be established in RTR, and if the peer ends it, or goes
	 * away, the QP stays in RTR or RTS, and its WRs stay where they are, until iw_qp_give_up().
	 * Such a QP may send in RTR as well: iWARP knows no state in which a connection receives
	 * and does not send, and perftest's receivers rely on that if the device is an iWARP one.
	 */
	struct oob_qp *_Atomic oob;
	uint32_t access; /* IW_ACCESS_REMOTE_*: what peers may do; all unless modify_qp says less */
};

/*
 * Creates a QP in RESET. max_inline in *qp may be more than was asked for.
 * -EINVAL: a limit exceeded, an SRQ of another PD, or a number that is taken; -ENOMEM.
 */
int iw_qp_new(struct iw_shard *shard, const struct iw_qp_attr *attr, struct iw_qp **qp);
/*
 * Ends its session (the peer gets a session Terminate, RFC 5043 5.4). Either iw_cq_purge() has
 * removed its completions from the CQs, or these CQs are not polled again. Returns 0.
 */
int iw_qp_free(struct iw_qp *qp);
/* The shard's QP of that number. NULL: there is none. */
struct iw_qp *iw_qp_by_num(const struct iw_shard *shard, uint32_t num);
/*
 * Moves a QP that is not connected to another shard, and lets it complete on its CQs from there. -EBUSY: it is
 * connected, or was so a moment ago, or belongs where it is, as UD QPs and those of an SRQ do; -ENOMEM. Locks of all
 * shards.
 */
int iw_qp_move(struct iw_qp *qp, struct iw_shard *to);

/*
 * The state changes of the verbs: RESET->INIT, INIT->RTR, any->ERR (flushes, and ends the session),
 * any->RESET (ends the session and empties the queues; their slots are free after iw_cq_purge() of both CQs),
 * RTS<->SQD, SQE->RTS, same->same. The session enters
 * RTS when it is established, so asking for RTR in RTS does nothing then; a QP connected out of
 * band goes RTR->RTS by this call. -EINVAL: not allowed; nothing has changed.
 */
int iw_qp_modify(struct iw_qp *qp, enum iw_qp_state next);
/*
 * The QP has failed at the device's own judgement: it enters ERR, and the peer gets a Terminate, if there is a
 * connection. error: as enum term_error (wire/terminate.h). The async event is that of such an error: of a local one
 * IW_EVENT_QP_FATAL. Nothing happens in RESET and in ERR.
 */
void iw_qp_terminate(struct iw_qp *qp, uint16_t error);
/*
 * A send that has completed already has failed after all, with this status: the QP enters ERR, one of unreliable
 * service SQE. What waits in the send queue is flushed.
 */
void iw_qp_fail_sends(struct iw_qp *qp, uint32_t status);
/* The llp of iw_assoc_new() of the association that its session is on; NULL: it has none, or is its own peer. */
void *iw_qp_llp(const struct iw_qp *qp);
/* The QP that follows this one, of all of the shard; qp NULL: the first. NULL: there is none. */
struct iw_qp *iw_qp_next(const struct iw_shard *shard, const struct iw_qp *qp);
/* In SQD: are there WRs that were begun before and are not complete? */
bool iw_qp_is_draining(const struct iw_qp *qp);
/*
 * In SQD: raises IW_EVENT_SQ_DRAINED once when the QP has drained, perhaps now; not if SQD is left
 * before.
 */
void iw_qp_notify_drained(struct iw_qp *qp);
/* IW_ACCESS_REMOTE_*: what peers may do from now on. */
void iw_qp_set_access(struct iw_qp *qp, uint32_t access);
/* If the QP has a session: ORD from now on, or less if the peer takes less. */
void iw_qp_set_ord(struct iw_qp *qp, uint32_t ord);
/* Raises IW_EVENT_QP_PATH_MIG. */
void iw_qp_tell_migrated(struct iw_qp *qp);
/* Its peer cannot be reached: the QP enters ERR, the oldest WR completes with RETRY_EXC_ERR. */
void iw_qp_give_up(struct iw_qp *qp);
/* The same for a UC QP: its WRs are lost messages, and complete with success; the state stays. */
void iw_uc_lose(struct iw_qp *qp);

/* Is no WR of the send queue waiting to be taken up or completed? */
static inline bool iw_sq_is_empty(const struct iw_qp *qp)
{
	return qp->sq.head == atomic_load_explicit(&qp->sq.tail, memory_order_acquire);
}

/* (producer) As iw_ring_slot(). */
static inline struct iw_send_wqe *iw_sq_slot(struct iw_qp *qp)
{
	return iw_ring_slot(&qp->sq, 0);
}

/* (producer) Hands the filled slot to the RNIC. */
static inline void iw_sq_publish(struct iw_qp *qp)
{
	iw_ring_publish(&qp->sq, 1);
}

/*
 * (producer) In SQD and in the error states work requests are taken: they wait, or are flushed.
 * Acquire: pairs with the store of iw_qp_set_state(), so that a thread that learns here that the QP
 * is connected knows the peer's imm_alone as well.
 */
static inline bool iw_sq_may_post(const struct iw_qp *qp)
{
	uint32_t state = atomic_load_explicit(&qp->state, memory_order_acquire);

	return state >= IW_QPS_RTS ||
	       (state == IW_QPS_RTR && atomic_load_explicit(&qp->oob, memory_order_relaxed));
}

/* (producer) As iw_ring_slot(). A QP with an SRQ has no slots of its own: NULL. */
static inline struct iw_recv_wqe *iw_rq_slot(struct iw_qp *qp)
{
	return iw_ring_slot(&qp->rq, 0);
}

/* (producer) Hands the filled slot to the RNIC. */
static inline void iw_rq_publish(struct iw_qp *qp)
{
	iw_ring_publish(&qp->rq, 1);
}

/*
 * (producer, after publishing) Must the doorbell be rung? If not, the RNIC looks at the receives by
 * itself when a Send comes. The RNIC raises rq_awaited, or enters the error state, and then
 * looks for receives; the producer publishes a receive and then looks at these. With a full fence
 * between the two steps of each side, at least one of them sees what the other did.
 */
static inline bool iw_rq_is_awaited(const struct iw_qp *qp)
{
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(&qp->rq_awaited, memory_order_relaxed) ||
	       atomic_load_explicit(&qp->state, memory_order_relaxed) == IW_QPS_ERR;
}

/*
 * The RNIC looks at new WRs that were published: the session becomes ready to be pulled, unexpected
 * Sends move into new receives, a QP in the error state flushes.
 */
void iw_qp_doorbell(struct iw_qp *qp);
/* The same for a QP or an SRQ; unexpected Sends take the new receives of the SRQ. */
void iw_doorbell_serve(struct iw_doorbell *doorbell);

#endif
