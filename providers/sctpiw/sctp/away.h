/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * An address of ours is out of reach, and this host knows it: its interface has lost its carrier, say. The peer, whose
 * host may hear of it a second later or never, goes on sending there until its timers expire. So it is told at once, by
 * another path (docs/wire.md). The address stays in the association, as it may be back soon. Between two sctpiw only.
 */
#ifndef SCTPIW_SCTP_AWAY_H
#define SCTPIW_SCTP_AWAY_H

#include <stdint.h>

struct sctp_assoc;
struct sctp_in;
struct wire_sctp_chunk;

/* Our addresses or routes have changed. To be called before the paths choose anew where packets leave from. */
void sctp_away_readdress(struct sctp_assoc *a);
/* The peer says so of an address of its own: the path there has failed, until a HEARTBEAT is answered. */
void sctp_away_input(struct sctp_in *in, const struct wire_sctp_chunk *c);

#endif
