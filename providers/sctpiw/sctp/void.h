/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Void messages: messages that the user has cancelled (sctp_assoc_void() in sctp.h).
 *
 * A TSN that was assigned must arrive, since the peer's cumulative TSN would stop otherwise. So a
 * lost void chunk is sent again with its TSN, stream and PPID, but with the user data of
 * ops.put_void. RFC 9260 requires that a retransmission has the assigned TSN (1.5.4), but does not
 * require the same user data. The image of the chunk in the block stays unchanged, because its
 * first packet may still wait for the socket. Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_VOID_H
#define SCTPIW_SCTP_VOID_H

#include <stddef.h>
#include <stdint.h>

#include "sctp/outq.h"
#include "sctp/sctp.h"
#include "wire/sctp_packet.h"

#define SCTP_VOID_CHUNK_LEN (WIRE_SCTP_DATA_LEN + SCTP_VOID_LEN)

_Static_assert(SCTP_VOID_CHUNK_LEN % 4 == 0, "it needs no padding");

/* Returns the length of the chunk in its next transmission. */
static inline size_t sctp_void_len(const struct sctp_out *o)
{
	return o->flags & SCTP_OUT_VOID ? SCTP_VOID_CHUNK_LEN : o->len;
}

/* Writes a void chunk of sctp_void_len() bytes at p, for retransmission. */
void sctp_void_put(const struct sctp_assoc *a, const struct sctp_out *o, uint8_t *p);

#endif
