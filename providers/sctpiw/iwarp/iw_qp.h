/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Queue pairs: rings, state, and functions for the verbs.
 *
 * The application's threads call functions marked "(producer)" without the shard's lock, as in
 * iw_ring.h; all others need it.
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
	/* Of the same PD, or NULL. An SRQ overrides max_recv_*. */
	struct iw_srq *srq;
	struct iw_xrcd *xrcd; /* XRC_RECV: the domain; overrides pd, srq and the CQs */
	uint32_t max_send_wr, max_recv_wr, max_send_sge, max_recv_sge;
	uint32_t max_inline; /* bytes */
	bool sq_sig_all;     /* every send WR generates a completion entry */
	uint32_t num;	     /* requested number; 0: any */
	void *ctx;	     /* belongs to the verbs layer */
};

struct oob_qp;

struct iw_qp {
	uint32_t num; /* 24 bits */
	enum iw_qp_type type;
	_Atomic uint32_t
		state; /* enum iw_qp_state; written under the shard's lock, read by any thread */
	uint32_t max_inline, max_send_sge, max_recv_sge;
	uint32_t max_msg;    /* maximum bytes of a WR's message */
	uint32_t wr_opcodes; /* bits (1 << enum iw_wr_opcode) of the WRs that the type supports */
	bool sq_sig_all;
	bool to_srqs; /* XRC_SEND: use iw_send_wqe.srq_num */
	struct iw_ring sq, rq;
	_Atomic bool rq_awaited; /* Sends wait for receives */
	_Atomic bool imm_alone;	 /* the peer accepts no Send with both payload and immediate data */
	struct iw_doorbell doorbell;
	struct iw_shard *shard;
	struct iw_pd *pd;
	struct iw_cq *send_cq, *recv_cq;
	struct iw_srq *srq; /* or NULL */
	void *ctx;	    /* belongs to the verbs layer */
	uint32_t nth;	    /* QP's number in the program, from 1; 0: not the program's */
	uint32_t groups;    /* number of attached multicast groups */
	bool blocks_own;    /* receives no copy of its own sends to an attached group */
	/* The connection manager changes the state, so IB's attribute masks do not apply. */
	bool by_cm;
	bool stands_in; /* not the application's QP: conn/stand_in.h */
	/*
	 * Not NULL: connected out of band, with the data of conn/oob.h. The session does not change
	 * the state: it may be established in RTR. If the peer ends the session or is lost, the QP
	 * stays in RTR or RTS and keeps its WRs until iw_qp_give_up(). Such a QP may also send in
	 * RTR: iWARP has no state for a connection that only receives, and perftest's receivers
	 * rely on this with iWARP devices.
	 */
	struct oob_qp *_Atomic oob;
	uint32_t access; /* IW_ACCESS_REMOTE_*: peers' rights; all unless modify_qp limits them */
};

/*
 * Creates a QP in RESET. max_inline in *qp may exceed the request. Returns 0 or: -EINVAL if a limit
 * is exceeded, the SRQ belongs to another PD, or the number is in use; -ENOMEM.
 */
int iw_qp_new(struct iw_shard *shard, const struct iw_qp_attr *attr, struct iw_qp **qp);
/*
 * Frees the QP and ends its session (the peer gets a session Terminate, RFC 5043 5.4). Call after
 * iw_cq_purge() on its CQs, or once they are no longer polled. Returns 0.
 */
int iw_qp_free(struct iw_qp *qp);
/* Returns the shard's QP with this number, or NULL. */
struct iw_qp *iw_qp_by_num(const struct iw_shard *shard, uint32_t num);
/*
 * Moves an unconnected QP to another shard, where it then completes on its CQs. Returns 0 or:
 * -EBUSY if the QP is connected, has pending events, or is tied to its shard, as UD QPs are;
 * -ENOMEM. Needs the locks of all shards.
 */
int iw_qp_move(struct iw_qp *qp, struct iw_shard *to);

/*
 * Changes the state: RESET->INIT, INIT->RTR, any->ERR (flushes, and ends the session), any->RESET
 * (ends the session and empties the queues; slots are free after iw_cq_purge() of both CQs),
 * RTS<->SQD, SQE->RTS, same->same. Establishment of the session moves the QP to RTS, so RTR in RTS
 * has no effect. A QP connected out of band goes RTR->RTS by this call. Returns -EINVAL, without
 * effect, if not allowed.
 */
int iw_qp_modify(struct iw_qp *qp, enum iw_qp_state next);
/*
 * Fails the QP by decision of the device: it enters ERR, and a connected peer gets a Terminate.
 * error: enum term_error (wire/terminate.h). Raises the async event for that error; for a local
 * error IW_EVENT_QP_FATAL. No effect in RESET and ERR.
 */
void iw_qp_terminate(struct iw_qp *qp, uint16_t error);
/*
 * Treats a completed send as failed, with this status: the QP enters ERR, or SQE if its service is
 * unreliable. Flushes the send queue.
 */
void iw_qp_fail_sends(struct iw_qp *qp, uint32_t status);
/* Returns the llp of the session's association; NULL: no session, or the QP is its own peer. */
void *iw_qp_llp(const struct iw_qp *qp);
/* Returns the shard's next QP after qp, or the first if qp is NULL; NULL after the last. */
struct iw_qp *iw_qp_next(const struct iw_shard *shard, const struct iw_qp *qp);
/* In SQD: true if WRs that were started earlier are incomplete. */
bool iw_qp_is_draining(const struct iw_qp *qp);
/*
 * In SQD: raises IW_EVENT_SQ_DRAINED once when the QP has drained, perhaps now; never if the QP
 * leaves SQD first.
 */
void iw_qp_notify_drained(struct iw_qp *qp);
/* Sets the peers' rights: IW_ACCESS_REMOTE_*. */
void iw_qp_set_access(struct iw_qp *qp, uint32_t access);
/* Sets the session's ORD, capped at the peer's limit. No effect without a session. */
void iw_qp_set_ord(struct iw_qp *qp, uint32_t ord);
/* Raises IW_EVENT_QP_PATH_MIG. */
void iw_qp_tell_migrated(struct iw_qp *qp);
/* Gives up an unreachable peer: the QP enters ERR, the oldest WR completes with RETRY_EXC_ERR. */
void iw_qp_give_up(struct iw_qp *qp);
/* Does the same for a UC QP: its WRs complete with success, as lost messages; the state stays. */
void iw_uc_lose(struct iw_qp *qp);

/* True if no WR of the send queue waits for transmission or completion. */
static inline bool iw_sq_is_empty(const struct iw_qp *qp)
{
	return qp->sq.head == atomic_load_explicit(&qp->sq.tail, memory_order_acquire);
}

/* (producer) As iw_ring_slot(). */
static inline struct iw_send_wqe *iw_sq_slot(struct iw_qp *qp)
{
	return iw_ring_slot(&qp->sq, 0);
}

/* (producer) Passes the filled slot to the RNIC. */
static inline void iw_sq_publish(struct iw_qp *qp)
{
	iw_ring_publish(&qp->sq, 1);
}

/*
 * (producer) True if work requests may be posted. In SQD they wait; in the error states they are
 * flushed. Acquire: pairs with the store in iw_qp_set_state(), so that a thread that sees the QP
 * connected also sees the peer's imm_alone.
 */
static inline bool iw_sq_may_post(const struct iw_qp *qp)
{
	uint32_t state = atomic_load_explicit(&qp->state, memory_order_acquire);

	return state >= IW_QPS_RTS ||
	       (state == IW_QPS_RTR && atomic_load_explicit(&qp->oob, memory_order_relaxed));
}

/* (producer) As iw_ring_slot(). Returns NULL for a QP with an SRQ. */
static inline struct iw_recv_wqe *iw_rq_slot(struct iw_qp *qp)
{
	return iw_ring_slot(&qp->rq, 0);
}

/* (producer) Passes the filled slot to the RNIC. */
static inline void iw_rq_publish(struct iw_qp *qp)
{
	iw_ring_publish(&qp->rq, 1);
}

/*
 * (producer, after publishing) True if the doorbell must be rung. Otherwise the RNIC checks for
 * receives when a Send arrives. The RNIC sets rq_awaited, or enters the error state, and then
 * checks for receives; the producer publishes a receive and then checks these two. A full fence
 * between the two steps of each side ensures that at least one side sees the other's step.
 */
static inline bool iw_rq_is_awaited(const struct iw_qp *qp)
{
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(&qp->rq_awaited, memory_order_relaxed) ||
	       atomic_load_explicit(&qp->state, memory_order_relaxed) == IW_QPS_ERR;
}

/*
 * Makes the RNIC process published WRs: the session becomes ready to be pulled, unexpected Sends
 * move into new receives, a QP in the error state flushes.
 */
void iw_qp_doorbell(struct iw_qp *qp);
/* Does the same for a QP or an SRQ; unexpected Sends use the SRQ's new receives. */
void iw_doorbell_serve(struct iw_doorbell *doorbell);

#endif
