/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Messages that are void: the user does not want them to arrive any more (sctp_assoc_void() in sctp.h).
 *
 * A TSN that was assigned has to arrive, or the peer's cumulative TSN stays where it is. So a void
 * chunk is sent again if it was lost, with its TSN, its stream and its PPID, but the user data are those of
 * ops.put_void. RFC 9260 says of a retransmission that it has the TSN that was assigned (1.5.4), and nothing of
 * its user data. The image stays as it was, because the packet in which it was built may still wait for the
 * socket. Guarded by the caller's lock.
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

/* The bytes that the chunk has when it is sent again. */
static inline size_t sctp_void_len(const struct sctp_out *o)
{
	return o->flags & SCTP_OUT_VOID ? SCTP_VOID_CHUNK_LEN : o->len;
}

/* Writes a void chunk as it is sent again: sctp_void_len() bytes. */
void sctp_void_put(const struct sctp_assoc *a, const struct sctp_out *o, uint8_t *p);

#endif
