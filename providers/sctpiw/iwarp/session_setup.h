/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Session setup (RFC 5043 6, RFC 6581). Needs the shard's lock. */
#ifndef SCTPIW_IWARP_SESSION_SETUP_H
#define SCTPIW_IWARP_SESSION_SETUP_H

#include "iwarp/session.h"

/*
 * Processes the control message that answers an Initiate. verdict: the result of session_decode()
 * for the message. May end the session.
 */
void iw_setup_answer(struct iw_session *s, const struct session_control *c, int verdict);
/*
 * Yields the stream to the peer: the peer's Initiate arrived before this session's Initiate was
 * sent. The stream then has no session. This session moves to a stream of the other parity, or ends
 * if no such stream is idle.
 */
void iw_setup_give_way(struct iw_session *s);
/*
 * Unbinds the session's QP so that the user can retry with the QP. The QP keeps its state. Its
 * receives remain posted, or return to the SRQ.
 */
void iw_setup_release_qp(struct iw_session *s);
/* Processes the first message on a stream without a session. */
void iw_setup_first(struct iw_assoc *assoc, uint16_t sid, uint32_t ppid, const uint8_t *data,
		    size_t len);
/*
 * Writes the pending control message (tx.control) to buf. Returns the length, or 0 if the message
 * does not fit limit.
 */
size_t iw_setup_encode(struct iw_session *s, uint8_t *buf, size_t limit);

/*
 * True if the RTR indication is a Send. Such a Send uses no receive of the application, so the
 * responder must know in advance that MSN 1 is the RTR indication. Therefore the Accept requests a
 * Send only if the initiator can send no other kind, and then requests no other kind.
 */
static inline bool iw_rtr_is_send(const struct iw_session *s)
{
	const struct session_enhanced *offer = &s->setup.offer;

	return offer->rtr_send && !offer->rtr_write && !offer->rtr_read;
}

enum iw_rtr_verdict {
	IW_RTR_INDICATION, /* the RTR indication; the record is filled */
	IW_RTR_TERMINATE,  /* an RDMAP Terminate */
	IW_RTR_WRONG,	   /* wrong as a first segment; the failure is filled */
};

/* Checks the peer's first segment in AWAITING, if iw_rtr_is_send(). data: from the DDP header. */
enum iw_rtr_verdict iw_rtr_place(const uint8_t *data, size_t len, struct iw_rx_rec *rec,
				 struct iw_failure *f);
/*
 * Delivers the peer's first message in AWAITING: establishes the session unless the message is a
 * Terminate. Returns true if the message is only the RTR indication.
 */
bool iw_rtr_deliver(struct iw_session *s, const struct iw_rx_rec *rec);

#endif
