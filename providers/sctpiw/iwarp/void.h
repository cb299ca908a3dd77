/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Void messages ensure that a flushed WR never changes the peer's memory later.
 *
 * When a session ends, SCTP may hold messages that the peer has not acknowledged. SCTP must still
 * retransmit lost messages with their TSNs and DDP-SSNs. In place of the original contents, SCTP
 * then sends the void message: an RDMAP Terminate with "local catastrophic error" (RFC 5040 4.8).
 * Any RDMAP peer ends the stream there and delivers no later message. So neither an incomplete
 * message nor a Send after a lost Write completes at the peer. A peer that supports receipts
 * recognises a void message by its error code, which RFC 5040 leaves to the sender. Such a peer
 * drops the void message and all later messages except receipts and Terminates. The session then
 * ends in order, as if no message had been lost.
 *
 * Needs the shard's lock.
 */
#ifndef SCTPIW_IWARP_VOID_H
#define SCTPIW_IWARP_VOID_H

#include <stdbool.h>
#include <stdint.h>

#include "iwarp/iw_assoc.h"
#include "wire/session.h"

struct iw_session;

/* Replaces the messages of a session that ends by void messages, which reference no memory. */
void iw_void_session(const struct iw_session *s);

#define IW_VOID_SEGMENT (IW_VOID_LEN - SESSION_SSN_LEN) /* bytes of the DDP segment */

/* True if the peer's DDP segment of IW_VOID_SEGMENT bytes is a void message. */
bool iw_void_is(const struct iw_session *s, const uint8_t *segment);
/* Records that the peer's message with this DDP-SSN is void. */
void iw_void_take(struct iw_session *s, uint16_t ssn);
/*
 * True if the message with this DDP-SSN is to be dropped, because it follows a void message. rdmap:
 * RDMAP control octet of the message.
 */
bool iw_void_drops(const struct iw_session *s, uint16_t ssn, uint8_t rdmap);

#endif
