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
 * Kinds of an RTR indication (RFC 6581 9.2), all without payload. WRITE is preferred, then READ,
 * then SEND.
 */
#define IW_RTR_SEND 1u
#define IW_RTR_WRITE 2u
#define IW_RTR_READ 4u
#define IW_RTR_ANY (IW_RTR_SEND | IW_RTR_WRITE | IW_RTR_READ)

struct iw_session_param {
	uint32_t ird, ord; /* this side's values; events carry the negotiated ones (RFC 6581 9.1) */
	uint8_t rnr_retry_count; /* 7: wait forever; else wait count * 655 ms, then Terminate */
	/*
	 * For iw_session_initiate(): 0, or the allowed kinds of RTR indication. One indication
	 * follows the Accept, before any other message. In IW_EVENT_INITIATE: the kinds that the
	 * peer can send if it requests a peer-to-peer connection; all kinds if the peer names none.
	 */
	uint8_t rtr;
	uint16_t private_data_len; /* bytes, at most IW_MAX_PRIVATE_DATA - 4 */
	uint8_t private_data[IW_MAX_PRIVATE_DATA];
};

struct iw_event;

/* Callbacks of a session's user. */
struct iw_session_ops {
	/* ev->user is the recipient of the event. */
	void (*event)(const struct iw_event *ev);
};

/*
 * Recipient of a session's events: the caller of iw_next_event() calls ops->event(). iwarp only
 * passes the fields on, except that ctx is NULL while a session has no user.
 */
struct iw_session_user {
	const struct iw_session_ops *ops;
	void *ctx;
	uint32_t handle; /* names an object that may be gone before the event is fetched */
};

/*
 * Active side: picks an idle stream of the local parity and sends an (Enhanced) Initiate. Binds the
 * QP to the session. When the Accept arrives, the QP enters RTS before the next segment is
 * processed. user: recipient of the events, copied; or NULL. Returns 0 or: -EAGAIN if no stream is
 * idle; -EINVAL if the QP is in a wrong state, or bound, or private data is too long; -ENOMEM.
 */
int iw_session_initiate(struct iw_assoc *assoc, struct iw_qp *qp, const struct iw_session_param *p,
			const struct iw_session_user *user, struct iw_session **session);
/*
 * Establishes at once a session of a QP that is connected out of band to itself. The caller passes
 * each message pulled from the session, in order, to iw_assoc_receive() of the same association. If
 * the session refuses a message, the WR of that message fails as well, unless it is complete.
 * Errors as above.
 */
int iw_session_to_self(struct iw_assoc *assoc, struct iw_qp *qp, const struct iw_session_param *p,
		       const struct iw_session_user *user, struct iw_session **session);
/*
 * Passive side, after IW_EVENT_INITIATE: sends the Accept; the QP enters RTS at once. Raises IRD to
 * the initiator's ORD and lowers ORD to the initiator's IRD (RFC 6581 9.1). If the initiator
 * requested a peer-to-peer connection, the QP sends nothing before the RTR indication arrives: see
 * iw_session_awaits_rtr() and IW_EVENT_RTR. Returns 0 or: -EINVAL as iw_session_initiate();
 * -ECONNRESET if the session is over and IW_EVENT_CLOSED is pending; -ENOMEM.
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
 * Refuses the session without consulting the application, by a session Terminate (backlog overflow,
 * RFC 5043 6.4). Do not use the session pointer again.
 */
void iw_session_refuse(struct iw_session *session);
/* Sets the recipient of the session's later events; copies user. */
void iw_session_set_user(struct iw_session *session, const struct iw_session_user *user);
/* Sets rnr_retry_count when it becomes known after the session's start. */
void iw_session_set_rnr_retry(struct iw_session *session, uint8_t count);
struct iw_assoc *iw_session_assoc(const struct iw_session *session);
/*
 * Ends the session in order from this side (rdma_disconnect), at any time before IW_EVENT_CLOSED or
 * IW_EVENT_REJECT is fetched. The QP enters the error state, which flushes WRs that SCTP has not
 * taken yet. A session Terminate follows the messages that SCTP has taken. Also withdraws an
 * Initiate. No event follows; do not use the session pointer again.
 */
void iw_session_close(struct iw_session *session);
/*
 * Closes a session as iw_session_close() after a timeout. Also reports the timeout to the peer
 * where that is legal (RFC 6581 9.3).
 */
void iw_session_abandon(struct iw_session *session);

#endif
