/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Messages on QN 0 of reliable connections with an SRQ. Needs the shard's lock. */
#ifndef SCTPIW_IWARP_RC_SRQ_H
#define SCTPIW_IWARP_RC_SRQ_H

#include "iwarp/rc_rx.h"

/* Places a segment of the message with this index, for this SRQ. rec: the segment's record. */
int iw_rc_srq_place(struct iw_session *s, struct iw_srq *srq, uint32_t index,
		    const struct iw_rx_rec *rec, const struct iw_segment *seg,
		    struct iw_failure *f);
/* Delivers the message with this index. rec: record of the message's last segment. */
int iw_rc_srq_deliver(struct iw_session *s, uint32_t index, const struct iw_rx_rec *rec,
		      struct iw_failure *f);
/*
 * Drops the last delivered message of a UC QP because the message is wrong (uc.h). The next message
 * gets the receive of the dropped message.
 */
void iw_rc_srq_undeliver(struct iw_rc *rc);
/* Gives posted receives to the shard's waiting QPs, in turn. May end the QPs' sessions. */
void iw_rc_srq_serve(struct iw_srq_part *part);
/*
 * Ends the QP's wait for receives, and frees stored segments. Taken receives stay with the QP until
 * iw_rc_srq_flush() or iw_rc_srq_return().
 */
void iw_rc_srq_unbind(struct iw_rc *rc);
/* Flushes the receives of started messages. Returns the QP's other receives to the SRQ. */
void iw_rc_srq_flush(struct iw_rc *rc, const struct iw_failure *f);
/* Returns the QP's taken receives to the front of the SRQ. */
void iw_rc_srq_return(struct iw_rc *rc);

#endif
