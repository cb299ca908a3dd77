/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What a peer says of its addresses while the association is up (RFC 5061 5.2, 5.3). Guarded by the caller's lock. */
#ifndef SCTPIW_SCTP_ASCONF_IN_H
#define SCTPIW_SCTP_ASCONF_IN_H

#include "wire/sctp_asconf.h"

struct sctp_assoc;
struct sctp_in;

/* An ASCONF came: does what it asks for, and answers. */
void sctp_asconf_in(struct sctp_in *in, const struct wire_sctp_chunk *c);
/* The packet is over: seals the packet of its answers, if there are any (5.2 E6). */
void sctp_asconf_in_finish(struct sctp_in *in);
/*
 * The association of a packet that comes from an address of no peer, or of another one, but has an ASCONF, among the
 * first of it, that names one (5.2 D2, D2-ext). NULL: there is none.
 */
struct sctp_assoc *sctp_asconf_in_find(const struct sctp_in *in);

#endif
