/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The unreliable connection (IBV_QPT_UC). An unreliable connection consists of the same parts as a
 * reliable connection (struct iw_rc), and its messages use a session. Only unacceptable messages
 * are treated differently.
 *
 * The responder drops such a message and counts the reason. The session continues, and the sender
 * gets no report. The next message gets the receive of the dropped message, even if the dropped
 * message has partly filled that receive. So only accepted messages use receives. For this reason,
 * messages are placed in order. A receive taken from an SRQ stays with the QP for the next message,
 * and returns when the session ends.
 *
 * The loss of a session loses its outstanding messages: their work requests complete with success.
 * If a local send work request is at fault, the QP enters SQE. If a receive is at fault, the QP
 * enters ERR.
 *
 * Needs the shard's lock.
 */
#ifndef SCTPIW_IWARP_UC_H
#define SCTPIW_IWARP_UC_H

#include "iwarp/rc.h"
#include "iwarp/session.h"

/* Progress of the peer's RDMA Writes. */
enum iw_uc_write {
	IW_UC_WRITE_NONE, /* the next tagged segment starts a Write */
	IW_UC_WRITE_RUNNING,
	IW_UC_WRITE_DROPPING, /* drop the rest of the Write */
};

struct iw_uc {
	struct iw_rc rc;
	uint8_t write;	    /* enum iw_uc_write */
	bool write_dropped; /* the last Write was dropped, so drop its Immediate Data */
	bool send_dropping; /* drop the rest of the message on QN 0 with MSN send_msn */
	uint32_t send_msn;
};

static inline bool iw_is_uc(const struct iw_qp *qp)
{
	return qp && qp->type == IW_QPT_UC;
}

/* Resets the dropping state for a new session. */
void iw_uc_start(struct iw_qp *qp);
/*
 * True if the segment belongs to a message that is being dropped. Call before any check of the
 * segment. len includes the DDP header. The session may belong to a QP of any type.
 */
bool iw_uc_sifts(struct iw_session *s, const uint8_t *segment, size_t len);
/*
 * Drops the message of a segment that could not be placed because of f. Returns false if the
 * session must fail instead: the message did not cause f, or the QP is not UC.
 */
bool iw_uc_drop(struct iw_session *s, const uint8_t *segment, size_t len,
		const struct iw_failure *f);
/* Drops a message that could not be delivered because of f. Returns as iw_uc_drop(). */
bool iw_uc_drop_whole(struct iw_session *s, const struct iw_failure *f);
/* True if the QP survives the session's end and may have another session. f may be NULL. */
bool iw_uc_survives(const struct iw_qp *qp, enum iw_end_reason why, const struct iw_failure *f);
/*
 * Ends the session of a QP that survives. Started messages are lost. If a work request of the QP
 * was at fault, the QP enters SQE (IBTA 10.3.1.6).
 */
void iw_uc_outlive(struct iw_qp *qp, enum iw_end_reason why, const struct iw_failure *f);

#endif
