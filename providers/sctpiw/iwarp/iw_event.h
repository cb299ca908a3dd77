/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Events: what has happened to sessions, QPs, CQs and SRQs. Everything here needs the shard's lock.
 */
#ifndef SCTPIW_IWARP_IW_EVENT_H
#define SCTPIW_IWARP_IW_EVENT_H

#include <stdbool.h>

#include "iwarp/iw_session.h"

struct iw_assoc;
struct iw_cq;
struct iw_qp;
struct iw_shard;
struct iw_srq;

/* The order matters: of several events of one object the first in this list is the oldest. */
enum iw_event_type {
	/*
	 * In INITIATE, ACCEPT and REJECT, param has the peer's private data, and its IRD and ORD as
	 * it said them. If it said none (a plain Initiate) or left them to the ULP (RFC 6581 9.1),
	 * they are IW_MAX_IRD and IW_MAX_ORD; in ACCEPT, what this side works with.
	 */
	IW_EVENT_INITIATE, /* passive side: session; it waits to be accepted, rejected or refused */
	IW_EVENT_ACCEPT,   /* active side: session, qp; established */
	IW_EVENT_RTR,	   /* passive side: session, qp; established by the RTR indication */
	IW_EVENT_REJECT,   /* active side: the session is over, the QP is as it was before it */
	/*
	 * The session is over. qp is in the error state; or as before, where that is said; NULL: it
	 * was freed meanwhile. error: 0              the peer ended it in order -EPROTO        this
	 * side found an error, perhaps one of its own: a WR failed -ECONNRESET    the peer found an
	 * error (RDMAP Terminate); or the Initiate crossed one of the peer's on the same stream,
	 * and the QP is as before -ECONNREFUSED  the Initiate was answered by a Terminate
	 *   -ECONNABORTED  the application freed the QP, reset it or moved it to ERR
	 *   else           what iw_assoc_lost() was given
	 */
	IW_EVENT_CLOSED,
	/*
	 * IBV_EVENT_COMM_EST: a QP connected out of band is in RTR, and the first message has come.
	 */
	IW_EVENT_QP_COMM_EST,
	IW_EVENT_QP_PATH_MIG, /* IBV_EVENT_PATH_MIG: iw_qp_tell_migrated() was called */
	IW_EVENT_QP_FATAL,    /* IBV_EVENT_QP_FATAL: RDMAP Terminate, or an illegal message */
	IW_EVENT_QP_ACCESS,   /* IBV_EVENT_QP_ACCESS_ERR: this side refused the peer's access */
	IW_EVENT_QP_REQUEST,  /* IBV_EVENT_QP_REQ_ERR: this side refused a malformed request */
	IW_EVENT_CQ_ERROR,    /* cq: overflow */
	IW_EVENT_SQ_DRAINED,  /* IBV_EVENT_SQ_DRAINED, if iw_qp_notify_drained() asked for it */
	IW_EVENT_SRQ_LIMIT,   /* srq: IBV_EVENT_SRQ_LIMIT_REACHED */
	/*
	 * srq: receives are there again for QPs of other shards that wait. Their doorbells are to be rung, as behind
	 * iw_srq_publish().
	 */
	IW_EVENT_SRQ_OTHERS,
	IW_EVENT_QP_LAST_WQE, /* qp is in error, and takes nothing from its SRQ any more */
};

/* Are events of this type about a session, and so for its user? */
static inline bool iw_event_is_of_session(enum iw_event_type type)
{
	return type < IW_EVENT_QP_COMM_EST;
}

/* Fields that the type does not name are NULL or 0. */
struct iw_event {
	enum iw_event_type type;
	struct iw_assoc *assoc; /* of the session; NULL once it is lost */
	struct iw_session *session;
	struct iw_session_user user; /* as given to iw_session_initiate() or iw_session_set_user() */
	struct iw_qp *qp;
	struct iw_cq *cq;
	struct iw_srq *srq;
	int error; /* -errno */
	struct iw_session_param param;
};

/* Whether iw_next_event() or iw_next_idle() has anything to tell, or to do before it tells. */
bool iw_has_events(const struct iw_shard *shard);
/*
 * Fetches the next event; false: there is none. Once CLOSED or REJECT was fetched the session
 * pointer is dead. Events of a QP, CQ or SRQ that is freed vanish.
 */
bool iw_next_event(struct iw_shard *shard, struct iw_event *ev);

#endif
