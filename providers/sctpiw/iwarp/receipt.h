/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Receipts (wire/rdmap_receipt.h) report to the peer the state of the peer's messages. While a
 * session owes the peer a receipt, the LLP sends no acknowledgement that could overtake the receipt
 * (iw_assoc_owes_receipt()). Needs the shard's lock.
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
 * Queues a receipt, unless the last receipt had the same contents. Call when the session is
 * established, and when a Send gets its receive or has to wait for one.
 */
void iw_receipt_update(struct iw_session *s);
/*
 * Queues the final receipt of an established session that ends. The final receipt reports the last
 * delivered message. Call while the QP is bound.
 */
void iw_receipt_finish(struct iw_session *s);
/*
 * Completes the WRs of the delivered messages, as a final receipt would. For a session that is its
 * own peer and is about to fail.
 */
void iw_receipt_finish_to_self(struct iw_session *s);
/* Updates the association's count of sessions that owe a receipt or Terminate. */
void iw_receipt_count(struct iw_session *s);
/*
 * True if a receipt is due and may be sent. No receipt may be sent before the session is
 * established. The RTR indication is sent earlier, because it has to be the first segment (RFC 6581
 * 9.2).
 */
static inline bool iw_receipt_may_leave(const struct iw_session *s)
{
	return s->tx.receipt_due && s->state >= IW_S_ESTABLISHED && !s->tx.rtr_due;
}
/*
 * Writes the receipt, leaving room for the DDP-SSN before it. Returns the length, or 0 if the
 * receipt does not fit limit.
 */
size_t iw_receipt_pull(struct iw_session *s, uint8_t *buf, size_t limit);

/* Place and deliver the peer's receipts. */
int iw_receipt_place(struct iw_session *s, const struct iw_segment *seg, struct iw_failure *f);
int iw_receipt_deliver(struct iw_session *s, const struct iw_rx_rec *rec, struct iw_failure *f);

#endif
