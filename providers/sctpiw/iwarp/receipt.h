/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Receipts (wire/rdmap_receipt.h): what this side tells the peer of its messages. The LLP is told
 * while one is owed, so that no acknowledgement overtakes it (iw_assoc_owes_receipt()). Needs the
 * shard's lock.
 */
#ifndef SCTPIW_IWARP_RECEIPT_H
#define SCTPIW_IWARP_RECEIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iwarp/session.h"
#include "wire/rdmap_receipt.h"

struct iw_failure;
struct iw_rx_rec;
struct iw_segment;

/*
 * Sends have lost or found receives, or the session is established: owes the peer a receipt, unless
 * the last one said the same.
 */
void iw_receipt_update(struct iw_session *s);
/*
 * The session, which was established, ends: owes the peer a last receipt, which says how far the session
 * came. The QP is still bound.
 */
void iw_receipt_finish(struct iw_session *s);
/*
 * The session, whose peer is itself, is about to fail: what was taken completes as by a last receipt.
 */
void iw_receipt_finish_to_self(struct iw_session *s);
/*
 * Something that the peer must get before it may trust our acknowledgements was put on the
 * session's list of things to send, or was taken off it.
 */
void iw_receipt_count(struct iw_session *s);
/*
 * Whether a receipt is due, and may be sent: not before the session is established, and then not before
 * the RTR indication, which has to be the first segment (RFC 6581 9.2).
 */
static inline bool iw_receipt_may_leave(const struct iw_session *s)
{
	return s->tx.receipt_due && s->state >= IW_S_ESTABLISHED && !s->tx.rtr_due;
}
/* Writes the receipt behind room for the DDP-SSN: its length; 0: it does not fit limit. */
size_t iw_receipt_pull(struct iw_session *s, uint8_t *buf, size_t limit);

/* The peer's. */
int iw_receipt_place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f);
int iw_receipt_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f);

#endif
