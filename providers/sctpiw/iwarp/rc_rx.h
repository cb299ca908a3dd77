/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Messages that a reliable connection receives on QN 0: Sends and Immediate Data. The MSN of a
 * message determines which receive the message uses, in whatever order the segments arrive. Needs
 * the shard's lock.
 */
#ifndef SCTPIW_IWARP_RC_RX_H
#define SCTPIW_IWARP_RC_RX_H

#include "iwarp/terminate.h"
#include "iwarp/unexpected.h"

struct iw_rc;
struct iw_session;

#define IW_RNR_UNIT (655 * IW_MSEC) /* ns: unit of rnr_retry_count */
#define IW_RNR_FOREVER 7
/*
 * ns: minimum time that a Send waits for a receive, even if rnr_retry_count is 0. If both ends run
 * on one processor, a receive that a program posts right after ESTABLISHED may be late.
 */
#define IW_RNR_GRACE (100 * IW_MSEC)

/*
 * Each message has an index, its MSN + delta. Indexes continue across sessions. If the QP has a
 * receive queue of its own, the index of a message is also the ring index of its receive.
 * unexpected.first is then the first index without a receive: the last seen tail of the ring. With
 * an SRQ, unexpected.first is the index of the first incomplete message. All messages from that
 * index on are in the table, and the first `taken` of them have a receive.
 */
struct iw_rc_rx {
	uint32_t delta;
	uint32_t deliver_msn; /* MSN of the next message to deliver */
	struct iw_unexpected_table unexpected;
	struct list_node waiting; /* iw_srq_part.waiting, while a Send waits for a receive */
	/* the part whose list contains `waiting`; valid while `waiting` is linked */
	struct iw_srq_part *waits_for;
	uint32_t taken;
	/*
	 * A stored message could not be moved into its receive, or its completion was lost. The
	 * peer must not treat this message as received, even if it was delivered.
	 */
	bool refused;
	uint32_t refused_index; /* index of that message; valid if refused */
};

/* Places a segment on QN 0, after moving earlier messages into receives posted meanwhile. */
int iw_rc_rx_place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f);
int iw_rc_rx_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f);
/* Moves unexpected Sends into new receives. Returns false if the session has failed. */
bool iw_rc_rx_refresh(struct iw_session *s);
/* Fails the session if an unexpected Send got no receive in time (rnr_retry_count). */
void iw_rc_rx_timeout(struct iw_session *s);

/* Shared with rc_srq.c: */

/*
 * Returns the first message without a receive, if a segment of the message was delivered; else
 * NULL. While such a message exists, the timer for missing receives runs.
 */
const struct iw_unexpected *iw_rc_rx_late(const struct iw_rc *rc);
/* Starts the timer for missing receives, unless messages may wait forever. */
void iw_rc_rx_start_timer(struct iw_session *s);
/*
 * Call after receives were posted. Stops the timer if iw_rc_rx_late() returns NULL. anew: a message
 * for which the timer ran has completed; restarts the timer for the next message.
 */
void iw_rc_rx_update_timer(struct iw_session *s, bool anew);

/* Stores a segment of an unexpected Send. Returns 0, or returns -EPROTO and fills f. */
int iw_rc_rx_keep(struct iw_session *s, uint32_t index, const struct iw_rx_rec *rec, uint16_t ssn,
		  const uint8_t *payload, struct iw_failure *f);
/* Marks the stored message with this index as refused: see iw_rc_rx.refused. */
void iw_rc_rx_refuse(struct iw_rc *rc, uint32_t index);
/*
 * Moves m's stored segments into the receive r, and frees the stored copies. Sets *ssn to the
 * DDP-SSN of the last segment. Returns 0, or returns -EPROTO and fills f, which names the receive
 * with this index.
 */
int iw_rc_rx_move(struct iw_rc *rc, struct iw_unexpected *m, struct iw_recv r, uint32_t index,
		  uint16_t *ssn, struct iw_failure *f);
/* Places a segment's payload into the receive r. Returns as iw_rc_rx_move(). */
int iw_rc_rx_fill(struct iw_rc *rc, struct iw_recv r, uint32_t index, const struct iw_rx_rec *rec,
		  const uint8_t *payload, struct iw_failure *f);
/*
 * Checks a complete message whose turn has come: the message must fit the receive. Executes the
 * invalidation of a Send with Invalidate. rec: record of the last segment, after iw_imm_resolve().
 * Returns 0, or returns -EPROTO and fills f.
 */
int iw_rc_rx_judge(struct iw_rc *rc, struct iw_recv r, uint32_t index, const struct iw_rx_rec *rec,
		   struct iw_failure *f);
/*
 * Completes the receive of a message that iw_rc_rx_judge() has accepted. Returns 0, or -EPROTO if
 * the completion is lost.
 */
int iw_rc_rx_complete(struct iw_rc *rc, struct iw_recv r, const struct iw_rx_rec *rec,
		      struct iw_failure *f);

#endif
