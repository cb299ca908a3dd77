/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Queue pairs: rings, state, and the functions that implement the verbs.
 *
 * The application's threads call functions marked "(producer)" without the shard's lock, as
 * described in iw_ring.h. All other functions need the shard's lock.
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
	/* SRQ of the same PD, or NULL. With an SRQ, max_recv_wr and max_recv_sge are ignored. */
	struct iw_srq *srq;
	struct iw_xrcd *xrcd; /* XRC_RECV: the XRC domain, which replaces pd, srq and the CQs */
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
	bool to_srqs; /* XRC_SEND: messages name an SRQ of the peer, iw_send_wqe.srq_num */
	struct iw_ring sq, rq;
	_Atomic bool rq_awaited; /* Sends of the peer wait for receives */
	_Atomic bool imm_alone;	 /* the peer accepts no Send with both payload and immediate data */
	struct iw_doorbell doorbell;
	struct iw_shard *shard;
	struct iw_pd *pd;
	struct iw_cq *send_cq, *recv_cq;
	struct iw_srq *srq; /* or NULL */
	void *ctx;	    /* belongs to the verbs layer */
	uint32_t nth;	    /* the QP's number in the program, from 1; 0: not a QP of the program */
	uint32_t groups;    /* number of attached multicast groups */
	bool blocks_own;    /* own datagrams to an attached group are not received */
	/*
	 * The connection manager (librdmacm) changes the state, so the attribute masks of
	 * InfiniBand do not apply to modify_qp.
	 */
	bool by_cm;
	bool stands_in; /* a QP that the application did not create: conn/stand_in.h */
	/*
	 * Not NULL if the QP is connected out of band: the application itself has exchanged
	 * addresses and QP numbers with its peer, without librdmacm. Points to the data of
	 * conn/oob.h. The session of such a QP does not change the QP's state, and may be
	 * established in RTR. If the peer ends the session or is lost, the QP stays in RTR or RTS
	 * and keeps its WRs until iw_qp_give_up(). Such a QP may also send in RTR. iWARP has no
	 * state for a connection that only receives, so perftest's receivers send in RTR with
	 * iWARP.
	 */
	struct oob_qp *_Atomic oob;
	/* IW_ACCESS_REMOTE_*: rights of peers; all rights, unless modify_qp limits them */
	uint32_t access;
};

/*
 * Creates a QP in RESET. (*qp)->max_inline may exceed attr->max_inline. Returns 0 or: -EINVAL if a
 * limit is exceeded, if the SRQ belongs to another PD, or if the number is in use; -ENOMEM.
 */
int iw_qp_new(struct iw_shard *shard, const struct iw_qp_attr *attr, struct iw_qp **qp);
/*
 * Frees the QP and ends its session (the peer gets a session Terminate, RFC 5043 5.4). First call
 * iw_cq_purge() on the QP's CQs, unless these CQs are never polled again. Returns 0.
 */
int iw_qp_free(struct iw_qp *qp);
/* Returns the shard's QP with this number, or NULL. */
struct iw_qp *iw_qp_by_num(const struct iw_shard *shard, uint32_t num);
/*
 * Moves an unconnected QP to another shard. The QP keeps its CQs. Returns 0 or: -EBUSY if the QP is
 * connected, has pending events, or is tied to its shard, as UD QPs are; -ENOMEM. Needs the locks
 * of all shards.
 */
int iw_qp_move(struct iw_qp *qp, struct iw_shard *to);

/*
 * Changes the state. Allowed changes: RESET->INIT, INIT->RTR, RTS<->SQD, SQE->RTS, any state to
 * itself, any->ERR, any->RESET. ERR flushes all WRs and ends the session. RESET ends the session
 * and empties the queues; their slots are free after iw_cq_purge() of both CQs. The establishment
 * of the session moves the QP to RTS; a later change to RTR has no effect. Only a QP connected out
 * of band moves RTR->RTS by this call. Returns 0; or -EINVAL, without effect, if not allowed.
 */
int iw_qp_modify(struct iw_qp *qp, enum iw_qp_state next);
/*
 * Fails the QP by decision of the device. The QP enters ERR, and a connected peer gets a Terminate.
 * error: enum term_error (wire/terminate.h). Raises the async event for that error, which is
 * IW_EVENT_QP_FATAL for a local error. In RESET and ERR, the call has no effect.
 */
void iw_qp_terminate(struct iw_qp *qp, uint16_t error);
/*
 * Handles the failure of a send that has completed with this status: the QP enters ERR, or SQE if
 * the QP type is unreliable. Flushes the send queue.
 */
void iw_qp_fail_sends(struct iw_qp *qp, uint32_t status);
/* Returns the llp of the session's association; NULL: no session, or a session to itself. */
void *iw_qp_llp(const struct iw_qp *qp);
/* Returns the shard's next QP after qp, or the first if qp is NULL; NULL after the last. */
struct iw_qp *iw_qp_next(const struct iw_shard *shard, const struct iw_qp *qp);
/* In SQD: true if WRs that were started earlier are incomplete. */
bool iw_qp_is_draining(const struct iw_qp *qp);
/*
 * In SQD: requests one IW_EVENT_SQ_DRAINED, which is raised as soon as the QP has drained. If the
 * QP leaves SQD first, the event is not raised.
 */
void iw_qp_notify_drained(struct iw_qp *qp);
/* Sets the peers' rights: IW_ACCESS_REMOTE_*. */
void iw_qp_set_access(struct iw_qp *qp, uint32_t access);
/* Sets the session's ORD, capped at the peer's limit. No effect without a session. */
void iw_qp_set_ord(struct iw_qp *qp, uint32_t ord);
void iw_qp_tell_migrated(struct iw_qp *qp);
/* Gives up an unreachable peer. The QP enters ERR; its oldest WR completes with RETRY_EXC_ERR. */
void iw_qp_give_up(struct iw_qp *qp);
/*
 * Gives up the unreachable peer of a UC QP: the QP's messages are lost, so its WRs complete with
 * success. The QP keeps its state.
 */
void iw_uc_lose(struct iw_qp *qp);

/* True if no WR of the send queue waits for transmission or completion. */
static inline bool iw_sq_is_empty(const struct iw_qp *qp)
{
	return qp->sq.head == atomic_load_explicit(&qp->sq.tail, memory_order_acquire);
}

/* (producer) Returns the next free slot of the send queue; NULL if the queue is full. */
static inline struct iw_send_wqe *iw_sq_slot(struct iw_qp *qp)
{
	return iw_ring_slot(&qp->sq, 0);
}

/* (producer) Passes the filled slot of the send queue to the RNIC. */
static inline void iw_sq_publish(struct iw_qp *qp)
{
	iw_ring_publish(&qp->sq, 1);
}

/*
 * (producer) True if work requests may be posted to the send queue. In SQD, posted work requests
 * wait; in SQE and ERR, they are flushed. The acquire load pairs with the store in
 * iw_qp_set_state(), so that a thread that sees the QP connected also sees the peer's imm_alone.
 */
static inline bool iw_sq_may_post(const struct iw_qp *qp)
{
	uint32_t state = atomic_load_explicit(&qp->state, memory_order_acquire);

	return state >= IW_QPS_RTS ||
	       (state == IW_QPS_RTR && atomic_load_explicit(&qp->oob, memory_order_relaxed));
}

/* (producer) Returns the next free slot of the receive queue; NULL: full, or the QP has an SRQ. */
static inline struct iw_recv_wqe *iw_rq_slot(struct iw_qp *qp)
{
	return iw_ring_slot(&qp->rq, 0);
}

/* (producer) Passes the filled slot of the receive queue to the RNIC. */
static inline void iw_rq_publish(struct iw_qp *qp)
{
	iw_ring_publish(&qp->rq, 1);
}

/*
 * (producer) Call after iw_rq_publish(). True if the doorbell must be rung. Without a doorbell, the
 * RNIC checks for receives when a Send arrives.
 *
 * The RNIC first sets rq_awaited, or the error state, and then checks for receives. The producer
 * first publishes a receive, and then checks rq_awaited and the state. Each side has a full fence
 * between its two steps, so at least one side sees the first step of the other side.
 */
static inline bool iw_rq_is_awaited(const struct iw_qp *qp)
{
	atomic_thread_fence(memory_order_seq_cst);
	return atomic_load_explicit(&qp->rq_awaited, memory_order_relaxed) ||
	       atomic_load_explicit(&qp->state, memory_order_relaxed) == IW_QPS_ERR;
}

/*
 * Makes the RNIC process the QP's published WRs. The session becomes ready to be pulled, and
 * unexpected Sends move into new receives. A QP in the error state flushes the WRs.
 */
void iw_qp_doorbell(struct iw_qp *qp);
/*
 * Makes the RNIC process the published WRs of the QP or SRQ that contains the doorbell. For an SRQ,
 * unexpected Sends move into the new receives.
 */
void iw_doorbell_serve(struct iw_doorbell *doorbell);

#endif
