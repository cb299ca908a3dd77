/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Stream sessions (RFC 5043, RFC 6581): setup and end. All functions need the shard's lock. */
#ifndef SCTPIW_IWARP_IW_SESSION_H
#define SCTPIW_IWARP_IW_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iwarp/iw_types.h"

struct iw_assoc;
struct iw_qp;
struct iw_session;

/*
 * Kinds of the RTR indication (RFC 6581 9.2), a message without payload. The initiator sends a
 * WRITE if allowed, else a READ if allowed, else a SEND.
 */
#define IW_RTR_SEND 1u
#define IW_RTR_WRITE 2u
#define IW_RTR_READ 4u
#define IW_RTR_ANY (IW_RTR_SEND | IW_RTR_WRITE | IW_RTR_READ)

struct iw_session_param {
	uint32_t ird, ord; /* this side's values; in events: the negotiated values (RFC 6581 9.1) */
	/* maximum wait of Sends for a receive: count * 655 ms, then Terminate; 7: no limit */
	uint8_t rnr_retry_count;
	/*
	 * For iw_session_initiate(): the allowed kinds of RTR indication, or 0 for a connection
	 * without one. The initiator sends one RTR indication after the Accept, before any other
	 * message. In IW_EVENT_INITIATE, if the peer requests a peer-to-peer connection: the kinds
	 * that the peer can send, or all kinds if the peer names none.
	 */
	uint8_t rtr;
	uint16_t private_data_len; /* bytes, at most IW_MAX_PRIVATE_DATA - 4 */
	uint8_t private_data[IW_MAX_PRIVATE_DATA];
};

struct iw_event;

/* Callbacks of a session's user. */
struct iw_session_ops {
	/* Handles an event of the session; ev->user is the user. */
	void (*event)(const struct iw_event *ev);
};

/*
 * The user of a session receives the session's events: the caller of iw_next_event() calls
 * ops->event(). The code in iwarp/ only stores these fields for the user. ctx is NULL while a
 * session has no user.
 */
struct iw_session_user {
	const struct iw_session_ops *ops;
	void *ctx;
	uint32_t handle; /* names a user's object that may be freed before the event */
};

/*
 * Active side: starts a session on an idle stream of the local parity, and sends an Initiate or
 * Enhanced Initiate. Binds the QP to the session. When the Accept arrives, the QP enters RTS before
 * the next segment is processed. user: the session's user, copied; or NULL. Returns 0 or: -EAGAIN
 * if no stream is idle; -EINVAL if the QP is in a wrong state or has a session, or if private data
 * is too long; -ENOMEM.
 */
int iw_session_initiate(struct iw_assoc *assoc, struct iw_qp *qp, const struct iw_session_param *p,
			const struct iw_session_user *user, struct iw_session **session);
/*
 * For a QP that is connected out of band to itself: starts a session that is its own peer and is
 * established at once. The caller passes each message pulled from the session, in order, to
 * iw_assoc_receive() of the same association. If the session refuses a message, the WR of that
 * message fails as well, unless the WR is complete. Returns as iw_session_initiate().
 */
int iw_session_to_self(struct iw_assoc *assoc, struct iw_qp *qp, const struct iw_session_param *p,
		       const struct iw_session_user *user, struct iw_session **session);
/*
 * Passive side, after IW_EVENT_INITIATE: sends the Accept. The QP enters RTS at once. If the
 * initiator's ORD is larger than the local IRD, raises the local IRD to that value. If the
 * initiator's IRD is smaller than the local ORD, lowers the local ORD to that value (RFC 6581 9.1).
 * If the initiator requested a peer-to-peer connection, the QP sends nothing before the RTR
 * indication arrives: see iw_session_awaits_rtr() and IW_EVENT_RTR. Returns 0 or: -EINVAL for the
 * reasons of iw_session_initiate(); -ECONNRESET if the session is over and IW_EVENT_CLOSED is
 * pending; -ENOMEM.
 */
int iw_session_accept(struct iw_session *session, struct iw_qp *qp,
		      const struct iw_session_param *p);
bool iw_session_awaits_rtr(const struct iw_session *session);

/*
 * Passive side, after IW_EVENT_INITIATE: sends a Reject. Returns 0, -EINVAL if private data is too
 * long, or -ENOMEM. After 0, do not use the session pointer again.
 */
int iw_session_reject(struct iw_session *session, const void *private_data, size_t len);
/*
 * Refuses the session by a session Terminate, without a decision of the application: the backlog is
 * full (RFC 5043 6.4). Do not use the session pointer again.
 */
void iw_session_refuse(struct iw_session *session);
/* Sets the session's user, who receives all later events. Copies user. */
void iw_session_set_user(struct iw_session *session, const struct iw_session_user *user);
/* Sets rnr_retry_count, if the value becomes known only after the session's start. */
void iw_session_set_rnr_retry(struct iw_session *session, uint8_t count);
struct iw_assoc *iw_session_assoc(const struct iw_session *session);
/*
 * Ends the session in order from this side (rdma_disconnect). May be called at any time before
 * IW_EVENT_CLOSED or IW_EVENT_REJECT is fetched. The QP enters the error state, which flushes the
 * WRs whose messages were not pulled yet. A session Terminate is sent after the messages that were
 * pulled. Before the Accept, the call withdraws the Initiate. No event follows. Do not use the
 * session pointer again.
 */
void iw_session_close(struct iw_session *session);
/*
 * Closes a session after a timeout, as iw_session_close() does. In addition, reports the timeout to
 * the peer if RFC 6581 9.3 allows the report.
 */
void iw_session_abandon(struct iw_session *session);

#endif
