/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Reports to the peer that a local address is out of reach, for example because its interface has
 * lost the carrier. Without the report, the peer would send to the address until its timers expire:
 * the peer's host may notice the loss a second later, or never. So the report leaves at once, on
 * another path (docs/wire.md). The address stays in the association, because it may become
 * reachable again soon. Reports are exchanged only if both sides run sctpiw.
 */
#ifndef SCTPIW_SCTP_AWAY_H
#define SCTPIW_SCTP_AWAY_H

#include <stdint.h>

struct sctp_assoc;
struct sctp_in;
struct wire_sctp_chunk;

/*
 * Reports the addresses that a change of local addresses or routes has made unreachable. Call this
 * before the paths choose their source addresses again.
 */
void sctp_away_readdress(struct sctp_assoc *a);
/* Handles the peer's report: the path has failed, until a HEARTBEAT on it is answered. */
void sctp_away_input(struct sctp_in *in, const struct wire_sctp_chunk *c);

#endif
