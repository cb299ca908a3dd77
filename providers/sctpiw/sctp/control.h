/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Control chunks that answer received chunks: HEARTBEAT ACK and ERROR. The answers collect in
 * sctp_assoc.control, and leave with the next packet. Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_CONTROL_H
#define SCTPIW_SCTP_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/sctp_packet.h"

struct sctp_assoc;
struct sctp_in;

/*
 * Reserves room for an answer of len bytes, a multiple of 4. The caller writes the chunk at once.
 * Returns NULL when out of memory, or if one packet cannot take all waiting answers and this one.
 */
uint8_t *sctp_control_room(struct sctp_assoc *a, size_t len);
/* Queues an ERROR chunk with one cause and len bytes of information, if there is room. */
void sctp_control_error(struct sctp_assoc *a, uint16_t cause, const void *info, size_t len);
/* True if the waiting answers still fit into one packet. At least one answer must wait. */
bool sctp_control_fits(const struct sctp_assoc *a);
/* Returns the length of the waiting answers in bytes. */
uint32_t sctp_control_used(const struct sctp_assoc *a);
/* Drops the answers queued since sctp_control_used() has returned `used`. */
void sctp_control_rewind(struct sctp_assoc *a, uint32_t used);
/* Drops all waiting answers. */
void sctp_control_clear(struct sctp_assoc *a);
/* Handles an ERROR chunk. May end the association (see sctp_handshake_stale()). */
void sctp_control_error_in(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* Handles a chunk of an unknown type as its two highest bits require (3.2). */
void sctp_control_unknown(struct sctp_in *in, const struct wire_sctp_chunk *c);

#endif
