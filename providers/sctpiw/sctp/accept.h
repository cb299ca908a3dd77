/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The passive half of the handshake (RFC 9260 5.1), and INITs and cookies for existing associations
 * (5.2). Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_ACCEPT_H
#define SCTPIW_SCTP_ACCEPT_H

#include <stdbool.h>

#include "wire/sctp_packet.h"

struct sctp_in;

/* Answers an INIT that is alone in its packet: with INIT ACK, ABORT, or not at all. */
void sctp_accept_init(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* Answers an INIT that is alone in its packet with an ABORT: no endpoint has its port. */
void sctp_accept_refuse(struct sctp_in *in, const struct wire_sctp_chunk *c);
/*
 * Handles a COOKIE ECHO that begins a packet. Returns true if the rest of the packet belongs to
 * in->a. That association may be new (rx->up is set) or restarted (rx->restart is set). Returns
 * false if the packet must be dropped.
 */
bool sctp_accept_cookie(struct sctp_in *in, const struct wire_sctp_chunk *c);

#endif
