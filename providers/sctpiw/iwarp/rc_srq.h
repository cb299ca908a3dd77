/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Messages on QN 0 of reliable connections whose receives are in an SRQ. Needs the shard's lock. */
#ifndef SCTPIW_IWARP_RC_SRQ_H
#define SCTPIW_IWARP_RC_SRQ_H

#include "iwarp/rc_rx.h"

/* Places a segment, of which rec is made, of the message with this index, which is for this SRQ. */
int iw_rc_srq_place(struct iw_session *s, struct iw_srq *srq, uint32_t index,
		    const struct iw_rx_rec *rec, const struct iw_segment *seg,
		    struct iw_failure *f);
/* The message with this index is delivered; rec: of its last segment. */
int iw_rc_srq_deliver(struct iw_session *s, uint32_t index, const struct iw_rx_rec *rec,
		      struct iw_failure *f);
/*
 * The message that was delivered last is wrong, and is dropped (iwarp/uc.h): the receive that it has taken is the
 * next message's.
 */
void iw_rc_srq_undeliver(struct iw_rc *rc);
/* The shard's QPs that wait get receives that were posted, in turn. May end their sessions. */
void iw_rc_srq_serve(struct iw_srq_part *part);
/* The QP waits no more; the receives that it has taken stay with it, to be flushed or returned. */
void iw_rc_srq_unbind(struct iw_rc *rc);
/* Receives of messages that have begun leave the QP with a completion; the others are returned. */
void iw_rc_srq_flush(struct iw_rc *rc, const struct iw_failure *f);
/* The receives that the QP has taken go back to the front of the SRQ. */
void iw_rc_srq_return(struct iw_rc *rc);

#endif
