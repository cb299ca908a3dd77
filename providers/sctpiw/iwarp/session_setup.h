/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How sessions begin (RFC 5043 6, RFC 6581). Needs the shard's lock. */
#ifndef SCTPIW_IWARP_SESSION_SETUP_H
#define SCTPIW_IWARP_SESSION_SETUP_H

#include "iwarp/session.h"

/*
 * The control message in answer to an Initiate. verdict: what session_decode() said of it. May end
 * the session.
 */
void iw_setup_answer(struct iw_session *s, const struct session_control *c, int verdict);
/*
 * The peer's Initiate has come on the stream that this session's was to go out on. The stream is
 * the peer's, and has no session any more; this one goes to a stream of the other parity, or ends
 * if none is idle.
 */
void iw_setup_give_way(struct iw_session *s);
/*
 * The session has no use for its QP any more, which is free for another try: its state stays as it
 * was, and its receives are posted again.
 */
void iw_setup_release_qp(struct iw_session *s);
/* The first message of a stream without a session. */
void iw_setup_first(struct iw_assoc *assoc, uint16_t sid, uint32_t ppid, const uint8_t *data,
		    size_t len);
/*
 * Writes the control message that is due (tx.control) to buf; its length, 0: it does not fit limit.
 */
size_t iw_setup_encode(struct iw_session *s, uint8_t *buf, size_t limit);

/*
 * Is the RTR indication a Send? It takes no receive of the application's, so MSN 1 must be it. That
 * can be known beforehand only if no other kind may come: the Accept asks for a Send, and for it
 * alone, if the initiator can make no other.
 */
static inline bool iw_rtr_is_send(const struct iw_session *s)
{
	const struct session_enhanced *offer = &s->setup.offer;

	return offer->rtr_send && !offer->rtr_write && !offer->rtr_read;
}

enum iw_rtr_verdict {
	IW_RTR_INDICATION, /* the record is filled */
	IW_RTR_TERMINATE,  /* an RDMAP Terminate */
	IW_RTR_WRONG,	   /* something that must not come first; the failure is filled */
};

/*
 * Judges the peer's first segment in AWAITING, where iw_rtr_is_send(). data: from the DDP header
 * on.
 */
enum iw_rtr_verdict iw_rtr_place(const uint8_t *data, size_t len, struct iw_rx_rec *rec,
				 struct iw_failure *f);
/*
 * Delivers the peer's first message in AWAITING: unless it is a Terminate, the session is
 * established. true: the message is the RTR indication, and nothing else.
 */
bool iw_rtr_deliver(struct iw_session *s, const struct iw_rx_rec *rec);

#endif
