/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reports to the peer that a local address is out of reach, for example because its interface has
 * lost the carrier. The peer's host may notice a second later or never, and the peer would send
 * there until its timers expire. So the report leaves at once, on another path (docs/wire.md). The
 * address stays in the association, as it may be back soon. Only between two peers that run sctpiw.
 */
#ifndef SCTPIW_SCTP_AWAY_H
#define SCTPIW_SCTP_AWAY_H

#include <stdint.h>

struct sctp_assoc;
struct sctp_in;
struct wire_sctp_chunk;

/*
 * Reports addresses that a change of local addresses or routes has cut off. Call this before the
 * paths choose their source addresses again.
 */
void sctp_away_readdress(struct sctp_assoc *a);
/* Handles the peer's report: the path to that address has failed, until a HEARTBEAT is answered. */
void sctp_away_input(struct sctp_in *in, const struct wire_sctp_chunk *c);

#endif
