/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Void messages: nothing of a WR that was flushed changes the peer's memory later.
 *
 * When a session ends, its messages that SCTP has and that the peer has not acknowledged may be
 * lost, and then SCTP sends them again: they have their TSNs and DDP-SSNs. What is sent is no longer the
 * message, but an RDMAP Terminate that says "local catastrophic error" (RFC 5040 4.8). To any stack that
 * means that the stream ends here: nothing behind it is delivered, so that neither a message with a hole
 * nor a Send whose Write was lost completes. A peer that knows receipts knows a void message by its
 * error code, which RFC 5040 leaves to the sender. It drops it and what comes behind it, but for receipts
 * and Terminates, and goes on to the end of the session as if no message had been lost.
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

/* The session ends: its messages are void, and reference nothing any more. */
void iw_void_session(const struct iw_session *s);

#define IW_VOID_SEGMENT (IW_VOID_LEN - SESSION_SSN_LEN) /* bytes of the DDP segment */

/* The peer's. Whether a DDP segment of IW_VOID_SEGMENT bytes is one of a void message. */
bool iw_void_is(const struct iw_session *s, const uint8_t *segment);
/* The peer's message with this DDP-SSN is void. */
void iw_void_take(struct iw_session *s, uint16_t ssn);
/*
 * Whether the message with this DDP-SSN is behind one that is void, and of no effect by that. rdmap: its
 * RDMAP control octet.
 */
bool iw_void_drops(const struct iw_session *s, uint16_t ssn, uint8_t rdmap);

#endif
