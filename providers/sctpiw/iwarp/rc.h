/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The reliable connection (IBV_QPT_RC): a QP whose messages use a session. An unreliable connection
 * extends it (uc.h). Needs the shard's lock.
 */
#ifndef SCTPIW_IWARP_RC_H
#define SCTPIW_IWARP_RC_H

#include "iwarp/immediate.h"
#include "iwarp/qp.h"
#include "iwarp/rc_rx.h"
#include "iwarp/rc_tx.h"
#include "iwarp/read.h"
#include "iwarp/unplaced.h"

struct iw_rc {
	struct iw_qp_base base;
	struct iw_session *session; /* NULL: none, or the session has ended */
	struct iw_session *closed;  /* session whose pending IW_EVENT_CLOSED names this QP */
	bool peer_gone;		    /* connected out of band; the QP's only session is over */
	struct list_node
		/* iw_shard.wants_all; linked while the next WR waits for the locks of all shards */
		wants_all;
	bool response_turn; /* the last choice preferred a response to a WQE */

	/* These parts restart when a session is bound. */
	struct iw_rc_tx tx;
	struct iw_rc_rx rx;
	struct iw_reads reads;
	struct iw_irq irq;
	struct iw_peer_write peer_write;
	struct iw_unplaced unplaced;
};

/* Converts qp, which must be RC, UC or XRC, or NULL. */
static inline struct iw_rc *iw_rc_of(const struct iw_qp *qp)
{
	return (struct iw_rc *)(uintptr_t)qp;
}

/* True if a request of the peer is unanswered, and the oldest such request may be answered now. */
static inline bool iw_response_ready(const struct iw_rc *rc)
{
	return rc->irq.head != rc->irq.tail && iw_response_in_turn(rc);
}

/*
 * Binds the QP to a new session, and restarts the MSNs. Returns 0 or: -EINVAL if the QP is in a
 * wrong state or already bound; -EOPNOTSUPP if the QP is XRC and the peer does not support SRQ
 * numbers; -ENOMEM.
 */
int iw_rc_bind(struct iw_qp *qp, struct iw_session *s, uint32_t ird, uint32_t ord);
void iw_rc_unbind(struct iw_rc *rc);
/*
 * Completes the finished WQEs of the send queue. Returns false if the session has failed, because a
 * completion was lost or the next WQE is at fault.
 */
bool iw_rc_complete_sends(struct iw_rc *rc);

/* Operations for types whose struct begins with struct iw_rc. */
void iw_rc_free(struct iw_qp *qp);
enum iw_qp_move iw_rc_move(const struct iw_qp *qp, enum iw_qp_state next);
void iw_rc_disconnect(struct iw_qp *qp);
void iw_rc_end_remote_read(struct iw_qp *qp);
void iw_rc_set_ord(struct iw_qp *qp, uint32_t ord);
void iw_rc_doorbell(struct iw_qp *qp);
void iw_rc_flush_receives(struct iw_qp *qp, const struct iw_failure *f);
void iw_rc_drop_receives(struct iw_qp *qp);
bool iw_rc_may_leave(const struct iw_qp *qp);

/* Common operations of types whose messages use a session. */
#define IW_RC_LIFE                                                                                 \
	.max_msg = IW_MAX_MSG, .free = iw_rc_free, .move = iw_rc_move,                             \
	.disconnect = iw_rc_disconnect, .end_remote_read = iw_rc_end_remote_read,                  \
	.set_ord = iw_rc_set_ord, .doorbell = iw_rc_doorbell,                                      \
	.flush_receives = iw_rc_flush_receives, .drop_receives = iw_rc_drop_receives,              \
	.may_leave = iw_rc_may_leave

#endif
