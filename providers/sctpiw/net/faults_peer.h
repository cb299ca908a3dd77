/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The peer of an association, for rules about faults (docs/faults.md). No state. */
#ifndef SCTPIW_NET_FAULTS_PEER_H
#define SCTPIW_NET_FAULTS_PEER_H

struct conn_assoc;
struct fault_attrs;

/*
 * Sets the association of an event, so that a rule with any address of its peer applies. An
 * association that is gone, or NULL, changes nothing. The shard lock must be held until the rules
 * have been applied.
 */
void faults_peer_set(struct fault_attrs *attrs, const struct conn_assoc *a);

#endif
