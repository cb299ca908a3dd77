/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Events of sessions, QPs, CQs and SRQs. All functions need the shard's lock. */
#ifndef SCTPIW_IWARP_IW_EVENT_H
#define SCTPIW_IWARP_IW_EVENT_H

#include <stdbool.h>

#include "iwarp/iw_session.h"

struct iw_assoc;
struct iw_cq;
struct iw_qp;
struct iw_shard;
struct iw_srq;

/*
 * The order of the values matters: iw_next_event() returns the pending events of an object in the
 * order of these values.
 */
enum iw_event_type {
	/*
	 * In INITIATE, ACCEPT and REJECT, param has the peer's private data, IRD and ORD. IRD and
	 * ORD are IW_MAX_IRD and IW_MAX_ORD if the peer sent none (a plain Initiate) or left them
	 * to the ULP (RFC 6581 9.1). In ACCEPT, they are then the depths that this side uses.
	 */
	IW_EVENT_INITIATE, /* passive side: session, which the user accepts, rejects or refuses */
	IW_EVENT_ACCEPT,   /* active side: session, qp; the session is established */
	IW_EVENT_RTR,	   /* passive side: session, qp; established by the RTR indication */
	IW_EVENT_REJECT,   /* active side: session, which is over; the QP has its former state */
	/*
	 * The session is over. qp is in the error state, except where noted below; NULL if the QP
	 * was freed meanwhile. error:
	 *   0              the peer ended the session in order
	 *   -EPROTO        this side found an error, perhaps in its own WR
	 *   -ECONNRESET    the peer sent an RDMAP Terminate for an error; or two Initiates crossed
	 *                  on one stream, and the QP keeps its state
	 *   -ECONNREFUSED  a Terminate answered the Initiate
	 *   -ECONNABORTED  the application freed the QP, reset it or moved it to ERR
	 *   else           the error passed to iw_assoc_lost()
	 */
	IW_EVENT_CLOSED,
	/* IBV_EVENT_COMM_EST: in RTR, a QP connected out of band got its first message. */
	IW_EVENT_QP_COMM_EST,
	IW_EVENT_QP_PATH_MIG, /* IBV_EVENT_PATH_MIG: iw_qp_tell_migrated() was called */
	/* IBV_EVENT_QP_FATAL: an RDMAP Terminate or an illegal message ended the session */
	IW_EVENT_QP_FATAL,
	IW_EVENT_QP_ACCESS,  /* IBV_EVENT_QP_ACCESS_ERR: this side refused the peer's access */
	IW_EVENT_QP_REQUEST, /* IBV_EVENT_QP_REQ_ERR: this side refused a malformed request */
	IW_EVENT_CQ_ERROR,   /* cq, which has overflown */
	IW_EVENT_SQ_DRAINED, /* IBV_EVENT_SQ_DRAINED, after iw_qp_notify_drained() */
	IW_EVENT_SRQ_LIMIT,  /* srq: IBV_EVENT_SRQ_LIMIT_REACHED */
	/*
	 * srq: receives are available again, and QPs of other shards wait for receives. Ring the
	 * doorbells of these shards, as after iw_srq_publish().
	 */
	IW_EVENT_SRQ_OTHERS,
	IW_EVENT_QP_LAST_WQE, /* qp is in the error state and takes no more receives from its SRQ */
};

/* True if events of this type concern a session. They go to the session's user. */
static inline bool iw_event_is_of_session(enum iw_event_type type)
{
	return type < IW_EVENT_QP_COMM_EST;
}

/* Fields that do not apply to the type are NULL or 0. */
struct iw_event {
	enum iw_event_type type;
	struct iw_assoc *assoc; /* association of the session; NULL once the association is lost */
	struct iw_session *session;
	struct iw_session_user user; /* set by iw_session_initiate() or iw_session_set_user() */
	struct iw_qp *qp;
	struct iw_cq *cq;
	struct iw_srq *srq;
	int error; /* -errno */
	struct iw_session_param param;
};

/* True if iw_next_event() or iw_next_idle() has an event to return or work to do. */
bool iw_has_events(const struct iw_shard *shard);
/*
 * Fetches the next event; returns false if none is pending. After CLOSED or REJECT the session
 * pointer is invalid. Freeing a QP, CQ or SRQ drops its events.
 */
bool iw_next_event(struct iw_shard *shard, struct iw_event *ev);

#endif
