/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The unreliable connection (IBV_QPT_UC): messages go over a session as those of a reliable connection
 * do, whose parts it has (struct iw_rc), and differ in what becomes of those that cannot be taken.
 *
 * The responder drops such a message, and counts why: nothing ends, and the sender is not told. The
 * receive that the message would have taken, or has taken in part, waits for the next message. So
 * only messages that are not dropped take receives, and messages are placed in order. A receive
 * taken from an SRQ stays with the QP for that next message, and goes back when the session ends.
 *
 * A session that is lost takes the messages with it that are under way: their work requests complete
 * with success. A fault of a work request of this side leads to SQE, and one of a receive to ERR.
 *
 * Needs the shard's lock.
 */
#ifndef SCTPIW_IWARP_UC_H
#define SCTPIW_IWARP_UC_H

#include "iwarp/rc.h"
#include "iwarp/session.h"

/* Where the peer's RDMA Writes stand. */
enum iw_uc_write {
	IW_UC_WRITE_NONE, /* the next tagged segment begins one */
	IW_UC_WRITE_RUNNING,
	IW_UC_WRITE_DROPPING, /* the rest of this one is dropped */
};

struct iw_uc {
	struct iw_rc rc;
	uint8_t write;	    /* enum iw_uc_write */
	bool write_dropped; /* the last Write was, and so is the Immediate Data behind it */
	bool send_dropping; /* so is the rest of the message on QN 0 with the MSN send_msn */
	uint32_t send_msn;
};

static inline bool iw_is_uc(const struct iw_qp *qp)
{
	return qp && qp->type == IW_QPT_UC;
}

/* A session begins: nothing is being dropped. */
void iw_uc_start(struct iw_qp *qp);
/*
 * Whether the segment, of len bytes with its DDP header, is dropped before it is looked at, because of
 * the message that it belongs to. s is of a QP of any type.
 */
bool iw_uc_sifts(struct iw_session *s, const uint8_t *segment, size_t len);
/*
 * The segment could not be placed, for the reason f: drops its message. false: that is no matter of the
 * message, or the QP is not of this type, so the session fails.
 */
bool iw_uc_drop(struct iw_session *s, const uint8_t *segment, size_t len,
		const struct iw_failure *f);
/* The same for a message that could not be delivered. */
bool iw_uc_drop_whole(struct iw_session *s, const struct iw_failure *f);
/* The session ends: does the QP stay as it is, and may have another one? f may be NULL. */
bool iw_uc_survives(const struct iw_qp *qp, enum iw_end_reason why, const struct iw_failure *f);
/*
 * The session ends, and the QP survives it: what was begun is lost. If the fault is that of a work request of
 * its own, the QP enters SQE (IBTA 10.3.1.6).
 */
void iw_uc_outlive(struct iw_qp *qp, enum iw_end_reason why, const struct iw_failure *f);

#endif
