/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Messages that a reliable connection receives on QN 0: Sends and Immediate Data. The MSN selects
 * the receive of a message, whenever its segments arrive. Needs the shard's lock.
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
 * ns: minimum wait of a Send for its receive, even without retries. Both ends may share a
 * processor, which delays a receive that is posted right after ESTABLISHED.
 */
#define IW_RNR_GRACE (100 * IW_MSEC)

/*
 * Each message has an index, its MSN + delta, which continues across sessions. With the QP's own
 * receive queue, it is the ring index of the receive; iw_unexpected_table.first is the first index
 * without a receive, the last seen tail of the ring. With an SRQ, first is the first incomplete
 * message. That message and later ones have taken `taken` receives, and are all in the table.
 */
struct iw_rc_rx {
	uint32_t delta;
	uint32_t deliver_msn; /* MSN of the next message to deliver */
	struct iw_unexpected_table unexpected;
	struct list_node waiting;      /* iw_srq_part.waiting */
	struct iw_srq_part *waits_for; /* list that `waiting` is in; valid while it is in one */
	uint32_t taken;
	/*
	 * A stored message, perhaps delivered, did not go into its receive, or its completion was
	 * lost: the peer must not treat it as received.
	 */
	bool refused;
	uint32_t refused_index; /* valid if refused */
};

/* Places a segment of QN 0. May find new receives, and move earlier messages in. */
int iw_rc_rx_place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f);
int iw_rc_rx_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f);
/* Moves unexpected Sends into new receives. Returns false if the session has failed. */
bool iw_rc_rx_refresh(struct iw_session *s);
/* Fails the session if an unexpected Send got no receive in time (rnr_retry_count). */
void iw_rc_rx_timeout(struct iw_session *s);

/* Shared with rc_srq.c: */

/*
 * Returns the first message without a receive, once one of its segments was delivered; else NULL.
 * Its timer runs while it exists.
 */
const struct iw_unexpected *iw_rc_rx_late(const struct iw_rc *rc);
/* Starts the timer of a message without a receive, unless the message may wait forever. */
void iw_rc_rx_start_timer(struct iw_session *s);
/*
 * Stops the timer if no message is late after receives were posted. anew: a late message has
 * completed, so restart the timer for the next.
 */
void iw_rc_rx_update_timer(struct iw_session *s, bool anew);

/* Keeps a segment of an unexpected Send within the QP's budget. Returns 0, or -EPROTO. */
int iw_rc_rx_keep(struct iw_session *s, uint32_t index, const struct iw_rx_rec *rec, uint16_t ssn,
		  const uint8_t *payload, struct iw_failure *f);
/* Refuses a stored message with this index: iw_rc_rx.refused. */
void iw_rc_rx_refuse(struct iw_rc *rc, uint32_t index);
/*
 * Moves m's stored segments into the receive r, and frees them. *ssn: DDP-SSN of the last segment.
 * Returns 0, or -EPROTO and fills f, which names the receive with this index.
 */
int iw_rc_rx_move(struct iw_rc *rc, struct iw_unexpected *m, struct iw_recv r, uint32_t index,
		  uint16_t *ssn, struct iw_failure *f);
/* Places a segment's payload into the receive r; index as above. */
int iw_rc_rx_fill(struct iw_rc *rc, struct iw_recv r, uint32_t index, const struct iw_rx_rec *rec,
		  const uint8_t *payload, struct iw_failure *f);
/*
 * Judges a complete message whose turn has come: checks that it fits the receive, and invalidates
 * its STag if allowed. rec: from its last segment, after iw_imm_resolve().
 */
int iw_rc_rx_judge(struct iw_rc *rc, struct iw_recv r, uint32_t index, const struct iw_rx_rec *rec,
		   struct iw_failure *f);
/* Completes the receive of a judged message. Returns 0, or -EPROTO if the completion is lost. */
int iw_rc_rx_complete(struct iw_rc *rc, struct iw_recv r, const struct iw_rx_rec *rec,
		      struct iw_failure *f);

#endif
