/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A peer's requests about its addresses while the association is up (RFC 5061 5.2, 5.3). Guarded by
 * the caller's lock.
 */
#ifndef SCTPIW_SCTP_ASCONF_IN_H
#define SCTPIW_SCTP_ASCONF_IN_H

#include "wire/sctp_asconf.h"

struct sctp_assoc;
struct sctp_in;

/* Performs the requests of an ASCONF, and writes the ASCONF-ACK. */
void sctp_asconf_in(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* Called at the end of the peer's packet: completes the packet of ASCONF-ACKs, if any (5.2 E6). */
void sctp_asconf_in_finish(struct sctp_in *in);
/*
 * Finds the association of a packet whose source address leads to no association, or to one with
 * another tag. The first ASCONFs of the packet contain an address of the peer, which is looked up
 * instead (5.2 D2, D2-ext). Returns in->a if no such address leads to an association with the
 * packet's tag.
 */
struct sctp_assoc *sctp_asconf_in_find(const struct sctp_in *in);

#endif
