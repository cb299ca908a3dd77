/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The passive half of the handshake (RFC 9260 5.1), and INITs and cookies that meet an association
 * (5.2). Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_ACCEPT_H
#define SCTPIW_SCTP_ACCEPT_H

#include <stdbool.h>

#include "wire/sctp_packet.h"

struct sctp_in;

/*
 * Answers a packet that is one INIT and nothing else, with an INIT ACK or an ABORT, or not at all.
 */
void sctp_accept_init(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* Answers such an INIT with an ABORT: nobody has the port that it asks for. */
void sctp_accept_refuse(struct sctp_in *in, const struct wire_sctp_chunk *c);
/*
 * A COOKIE ECHO that begins a packet. Returns true when in->a is the association that the rest of
 * the packet belongs to, which may be new (rx->up) or restarted (rx->restart); false when the
 * packet is to be dropped.
 */
bool sctp_accept_cookie(struct sctp_in *in, const struct wire_sctp_chunk *c);

#endif
