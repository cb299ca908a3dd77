/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Stream sessions (RFC 5043, RFC 6581): how they begin and end. Everything here needs the
 * shard's lock.
 */
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
 * Kinds of an RTR indication (RFC 6581 9.2), all without payload. If there is a choice, the first
 * of WRITE, READ, SEND is made.
 */
#define IW_RTR_SEND 1u
#define IW_RTR_WRITE 2u
#define IW_RTR_READ 4u
#define IW_RTR_ANY (IW_RTR_SEND | IW_RTR_WRITE | IW_RTR_READ)

struct iw_session_param {
	uint32_t ird, ord;	 /* this side's; events have the negotiated ones (RFC 6581 9.1) */
	uint8_t rnr_retry_count; /* 7: wait for ever; else times 655 ms, then Terminate */
	/*
	 * For iw_session_initiate(): 0, or the kinds of RTR indication, of which one is sent behind
	 * the Accept, before all else. In IW_EVENT_INITIATE: the kinds that the peer can make, if
	 * it wants a peer-to-peer connection; any, if it names none.
	 */
	uint8_t rtr;
	uint16_t private_data_len; /* bytes, at most IW_MAX_PRIVATE_DATA - 4 */
	uint8_t private_data[IW_MAX_PRIVATE_DATA];
};

struct iw_event;

/* What a user of sessions does about their events. */
struct iw_session_ops {
	/* ev->user is whose event it is. */
	void (*event)(const struct iw_event *ev);
};

/*
 * To whom the events of a session go: whoever fetches them with iw_next_event() calls ops->event().
 * iwarp carries all of it around and looks at none of it, except that ctx is NULL while a session
 * has no user.
 */
struct iw_session_user {
	const struct iw_session_ops *ops;
	void *ctx;
	uint32_t handle; /* names what may be gone before the event is fetched */
};

/*
 * Active side: picks an idle stream of this side's parity and sends an (Enhanced) Initiate. The QP
 * is bound to the session; when the Accept arrives the QP enters RTS before the next segment is
 * processed. user: to whom its events go, copied; or NULL. -EAGAIN: no stream is idle; -EINVAL: the
 * QP is in a wrong state or bound already, or too much private data; -ENOMEM.
 */
int iw_session_initiate(struct iw_assoc *assoc, struct iw_qp *qp, const struct iw_session_param *p,
			const struct iw_session_user *user, struct iw_session **session);
/*
 * A session of a QP that is connected out of band to itself, established at once. The caller hands
 * each message that is pulled of it to iw_assoc_receive() of the same association, in order. What
 * the session refuses is blamed on the WR as well, if that is not complete. Errors as above.
 */
int iw_session_to_self(struct iw_assoc *assoc, struct iw_qp *qp, const struct iw_session_param *p,
		       const struct iw_session_user *user, struct iw_session **session);
/*
 * Passive side, after IW_EVENT_INITIATE: sends the Accept, and the QP enters RTS at once. IRD is
 * raised to the initiator's ORD, ORD lowered to its IRD (RFC 6581 9.1). If the initiator asked for
 * a peer-to-peer connection nothing leaves the QP before its RTR indication has come: see
 * iw_session_awaits_rtr() and IW_EVENT_RTR. -EINVAL as of iw_session_initiate(); -ECONNRESET: the
 * session is over already, IW_EVENT_CLOSED waits to be fetched; -ENOMEM.
 */
int iw_session_accept(struct iw_session *session, struct iw_qp *qp,
		      const struct iw_session_param *p);
bool iw_session_awaits_rtr(const struct iw_session *session);

/*
 * Passive side, after IW_EVENT_INITIATE: sends a Reject. -EINVAL: too much private data; -ENOMEM.
 * If 0 is returned the session pointer is not to be used again.
 */
int iw_session_reject(struct iw_session *session, const void *private_data, size_t len);
/*
 * Refuses without asking the application, by a session Terminate (backlog overflow, RFC 5043 6.4).
 * The session pointer is not to be used again.
 */
void iw_session_refuse(struct iw_session *session);
/* From now on the events of the session name this user, which is copied. */
void iw_session_set_user(struct iw_session *session, const struct iw_session_user *user);
/* As rnr_retry_count of the parameters, when it becomes known only after the beginning. */
void iw_session_set_rnr_retry(struct iw_session *session, uint8_t count);
struct iw_assoc *iw_session_assoc(const struct iw_session *session);
/*
 * Orderly end from this side (rdma_disconnect), at any time before IW_EVENT_CLOSED or
 * IW_EVENT_REJECT was fetched: the QP enters the error state, which flushes what SCTP has not taken
 * yet, and a session Terminate goes out behind what SCTP has taken. Also takes back an Initiate. No
 * event follows; the session pointer is not to be used again.
 */
void iw_session_close(struct iw_session *session);
/*
 * As iw_session_close(), if the session was waited for in vain: the peer is told so, where that is
 * legal (RFC 6581 9.3).
 */
void iw_session_abandon(struct iw_session *session);

#endif
