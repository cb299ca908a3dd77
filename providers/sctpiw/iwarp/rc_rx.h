/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The messages that a reliable connection receives on QN 0: Sends and Immediate Data. The MSN of a
 * message says which receive it goes into, whenever its segments arrive. Needs the shard's lock.
 */
#ifndef SCTPIW_IWARP_RC_RX_H
#define SCTPIW_IWARP_RC_RX_H

#include "iwarp/terminate.h"
#include "iwarp/unexpected.h"

struct iw_rc;
struct iw_session;

#define IW_RNR_UNIT (655 * IW_MSEC) /* ns: what rnr_retry_count counts */
#define IW_RNR_FOREVER 7
/*
 * ns: how long a Send waits for its receive although it is not to be tried again. Both ends may share
 * a processor, and a receive that is posted right behind ESTABLISHED comes late then.
 */
#define IW_RNR_GRACE (100 * IW_MSEC)

/*
 * Each message has an index, its MSN + delta, which runs on from session to session. With an own
 * receive queue it is the ring index of its receive, and iw_unexpected_table.first is the first
 * index without one: the tail of the ring as last seen. With an SRQ, first is the first message
 * that is not complete, it and the messages behind it have taken `taken` receives, and all of them
 * are in the table.
 */
struct iw_rc_rx {
	uint32_t delta;
	uint32_t deliver_msn; /* MSN of the next message that DDP delivers */
	struct iw_unexpected_table unexpected;
	struct list_node waiting;      /* iw_srq_part.waiting */
	struct iw_srq_part *waits_for; /* valid while it is in that list: whose list it is */
	uint32_t taken;
	/*
	 * A message was kept, perhaps delivered, and could not go into its receive, or the completion
	 * was lost: the peer must not take it for one that was received.
	 */
	bool refused;
	uint32_t refused_index; /* valid if refused */
};

/* Places a segment of QN 0. May find that receives were posted, and move earlier messages in. */
int iw_rc_rx_place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f);
int iw_rc_rx_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f);
/* New receives were posted: unexpected Sends move in. false: the session has failed. */
bool iw_rc_rx_refresh(struct iw_session *s);
/* The receive of an unexpected Send did not come in time (rnr_retry_count). */
void iw_rc_rx_timeout(struct iw_session *s);

/* What is shared with rc_srq.c: */

/*
 * The first message without a receive, if a segment of it was delivered: while there is one, its time
 * runs. NULL: there is none.
 */
const struct iw_unexpected *iw_rc_rx_late(const struct iw_rc *rc);
/* Starts the time that such a message waits for its receive, unless it may wait for ever. */
void iw_rc_rx_start_timer(struct iw_session *s);
/*
 * Receives were posted: the time ends if no message is late any more. anew: a late one is complete by
 * now, and the time of the next one begins.
 */
void iw_rc_rx_update_timer(struct iw_session *s, bool anew);

/* Keeps a segment of an unexpected Send within the budget of the QP; else -EPROTO. */
int iw_rc_rx_keep(struct iw_session *s, uint32_t index, const struct iw_rx_rec *rec, uint16_t ssn,
		  const uint8_t *payload, struct iw_failure *f);
/* The message with this index was kept, and is refused now: iw_rc_rx.refused. */
void iw_rc_rx_refuse(struct iw_rc *rc, uint32_t index);
/*
 * Moves what is kept of m into the receive r, and frees it. *ssn: of the last segment that was
 * looked at. -EPROTO: f is filled, and blames the receive with this index.
 */
int iw_rc_rx_move(struct iw_rc *rc, struct iw_unexpected *m, struct iw_recv r, uint32_t index,
		  uint16_t *ssn, struct iw_failure *f);
/* Places a segment's payload into the receive r; index as above. */
int iw_rc_rx_fill(struct iw_rc *rc, struct iw_recv r, uint32_t index, const struct iw_rx_rec *rec,
		  const uint8_t *payload, struct iw_failure *f);
/*
 * The message is whole, and its turn has come: does it fit the receive, and may it invalidate the
 * STag that it names? Invalidates it. rec: of its last segment, as iw_imm_resolve() left it.
 */
int iw_rc_rx_judge(struct iw_rc *rc, struct iw_recv r, uint32_t index, const struct iw_rx_rec *rec,
		   struct iw_failure *f);
/* Completes the receive of a message that was judged. -EPROTO: the completion is lost. */
int iw_rc_rx_complete(struct iw_rc *rc, struct iw_recv r, const struct iw_rx_rec *rec,
		      struct iw_failure *f);

#endif
