/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * DATA over several paths at once (concurrent multipath transfer), if sctp_config.spread is set.
 * Control chunks still go to the path in use. Paths that are disjoint from it and from each other
 * have joined it, and carry DATA as well. Two paths are disjoint if they have different local
 * addresses and different addresses of the peer. If such paths share a bottleneck in the network,
 * congestion control takes no more of it than one flow (sctp_cc_couple()). Guarded by the caller's
 * lock.
 */
#ifndef SCTPIW_SCTP_SPREAD_H
#define SCTPIW_SCTP_SPREAD_H

#include "sctp/assoc.h"

/* True if each path is judged only by its own DATA. */
static inline bool sctp_spread_is_on(const struct sctp_assoc *a)
{
	return a->paths.others && a->s->config.spread;
}

/* True if nothing is in flight on any path. */
bool sctp_spread_is_quiet(const struct sctp_assoc *a);
/*
 * Called when a path works or has failed, or another one is in use: lets suitable paths join. A
 * path that is not disjoint any more takes no new DATA. Does nothing if DATA is not spread.
 */
void sctp_spread_update(struct sctp_assoc *a, uint64_t now);
/* Couples the windows of the paths that carry DATA, before they grow. */
void sctp_spread_couple(struct sctp_assoc *a);
/*
 * Chooses the path of the next batch, if several carry DATA. Control chunks go to the path in use.
 * DATA goes to the path that would deliver earliest, among those with room in their cwnd. Returns
 * NULL if new DATA must wait for a path that is full now.
 */
struct sctp_path *sctp_spread_choose(struct sctp_assoc *a);
/*
 * Called if the chosen path, one of several, could send nothing. If a slower path holds up the TSNs
 * or the peer's window, slows that path down. Its chunks that hold up the TSNs move to this path.
 * Returns true if chunks have moved.
 */
bool sctp_spread_unblock(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);

#endif
