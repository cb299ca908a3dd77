/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Control chunks that answer what came: HEARTBEAT ACK and ERROR. They gather in sctp_assoc.control
 * and leave with the next packet. Guarded by the caller's lock.
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
 * Room for a chunk of len bytes, which the caller has padded to a multiple of 4 and writes at once.
 * NULL: the one packet of answers is full, or there is no memory.
 */
uint8_t *sctp_control_room(struct sctp_assoc *a, size_t len);
/* Queues an ERROR chunk with one cause and len bytes of information, if there is room. */
void sctp_control_error(struct sctp_assoc *a, uint16_t cause, const void *info, size_t len);
/* Whether the chunks that wait, of which there are some, still fit into a packet. */
bool sctp_control_fits(const struct sctp_assoc *a);
/* Bytes that wait. */
uint32_t sctp_control_used(const struct sctp_assoc *a);
/* Takes back what was queued since sctp_control_used() returned used. */
void sctp_control_rewind(struct sctp_assoc *a, uint32_t used);
/* Drops all that waits. */
void sctp_control_clear(struct sctp_assoc *a);
/* An ERROR chunk came. May end the association (see sctp_handshake_stale()). */
void sctp_control_error_in(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* A chunk of a type that we do not know came: does what its two highest bits ask for (3.2). */
void sctp_control_unknown(struct sctp_in *in, const struct wire_sctp_chunk *c);

#endif
