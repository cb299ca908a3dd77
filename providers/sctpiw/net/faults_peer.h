/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The peer of an association as rules about faults know it (docs/faults.md). No state. */
#ifndef SCTPIW_NET_FAULTS_PEER_H
#define SCTPIW_NET_FAULTS_PEER_H

struct conn_assoc;
struct fault_attrs;

/*
 * An event belongs to this association, which is not gone: a rule that names any address of its peer is about it.
 * NULL changes nothing. The shard lock is held until the question is answered.
 */
void faults_peer_set(struct fault_attrs *attrs, const struct conn_assoc *a);

#endif
