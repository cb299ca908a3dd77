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

/* Performs the requests of an ASCONF, and answers. */
void sctp_asconf_in(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* Seals the packet of answers, if there is one, at the end of the peer's packet (5.2 E6). */
void sctp_asconf_in_finish(struct sctp_in *in);
/*
 * Finds the association of a packet from an unknown address, or from one of another peer, by the
 * addresses in its first ASCONFs (5.2 D2, D2-ext). Returns in->a if none of them leads to an
 * association with the packet's tag.
 */
struct sctp_assoc *sctp_asconf_in_find(const struct sctp_in *in);

#endif
