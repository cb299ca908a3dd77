/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * DATA over all paths at once (concurrent multipath transfer), if sctp_config.spread is set. One path is in use, as
 * ever: control chunks go there. Others that are disjoint from it and from each other have joined it, and carry DATA
 * as well. Two paths are disjoint if they leave from different addresses of ours and lead to different addresses of
 * the peer; the rest is the network's, and if they share a bottleneck after all, congestion control takes no more of it
 * than one flow (sctp_cc_couple()). Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_SPREAD_H
#define SCTPIW_SCTP_SPREAD_H

#include "sctp/assoc.h"

/* Whether paths are judged each by what it has carried itself. */
static inline bool sctp_spread_is_on(const struct sctp_assoc *a)
{
	return a->paths.others && a->s->config.spread;
}

/* Whether nothing is in flight on any path. */
bool sctp_spread_is_quiet(const struct sctp_assoc *a);
/*
 * A path works or has failed, or another one is in use: lets those join that may. A path that is not disjoint any more
 * takes no new DATA. Nothing happens if DATA is not to be spread.
 */
void sctp_spread_update(struct sctp_assoc *a, uint64_t now);
/* Couples the windows of the paths that carry DATA, before they grow. */
void sctp_spread_couple(struct sctp_assoc *a);
/*
 * Which path the next batch goes to, if several carry DATA: the one in use for control chunks; else, of those with room
 * in their cwnd, the one that would deliver earliest. NULL: new DATA has to wait for a path that is full now.
 */
struct sctp_path *sctp_spread_choose(struct sctp_assoc *a);
/*
 * Nothing could be sent on this path of several, though it was chosen. If that is for a slower path, which holds up the
 * TSNs or the peer's window, that path is slowed down, and what it holds up is to be sent on this one. Returns whether
 * there is something of that kind.
 */
bool sctp_spread_unblock(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);

#endif
