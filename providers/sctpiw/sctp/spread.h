/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * DATA over several paths at once (concurrent multipath transfer), if sctp_config.spread is set.
 * Control chunks still use the path in use. Paths that are disjoint from that path and from each
 * other join it: they carry DATA as well. Two paths are disjoint if both their local addresses and
 * their peer addresses differ. If such paths share a bottleneck in the network, congestion control
 * takes no more of the bottleneck than one flow (sctp_cc_couple()). Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_SPREAD_H
#define SCTPIW_SCTP_SPREAD_H

#include "sctp/assoc.h"

/* True if the state of each path depends only on the DATA that the path carried. */
static inline bool sctp_spread_is_on(const struct sctp_assoc *a)
{
	return a->paths.others && a->s->config.spread;
}

/* True if no DATA is in flight on any path. */
bool sctp_spread_is_quiet(const struct sctp_assoc *a);
/*
 * Called when a path works or has failed, or when another path is in use. Lets suitable paths join.
 * A path that is not disjoint any more gets no new DATA. Does nothing if DATA is not spread.
 */
void sctp_spread_update(struct sctp_assoc *a, uint64_t now);
/* Couples the windows of the paths that carry DATA, before they grow. */
void sctp_spread_couple(struct sctp_assoc *a);
/*
 * Chooses the path of the next batch, if several paths carry DATA. Control chunks use the path in
 * use. DATA uses the path that is expected to deliver earliest, of all paths with room in their
 * cwnd. Returns NULL if new DATA must wait for a path whose cwnd is full now.
 */
struct sctp_path *sctp_spread_choose(struct sctp_assoc *a);
/*
 * Called if the chosen path could send nothing. A slower path may have used up the TSNs that may be
 * outstanding, or the peer's window. If so, shrinks the cwnd of the slower path. Chunks that block
 * the TSNs are sent again on `path`. Returns true if any chunk is sent again.
 */
bool sctp_spread_unblock(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);

#endif
