/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The peer of an association, for rules of faults (docs/faults.md). No state. */
#ifndef SCTPIW_NET_FAULTS_PEER_H
#define SCTPIW_NET_FAULTS_PEER_H

struct conn_assoc;
struct fault_attrs;

/*
 * Sets the association of an event, so that rules for any address of its peer match. No effect if a
 * is NULL or the association is gone. The caller holds the shard lock until the rules are applied.
 */
void faults_peer_set(struct fault_attrs *attrs, const struct conn_assoc *a);

#endif
