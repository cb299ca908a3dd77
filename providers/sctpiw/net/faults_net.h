/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Faults of packets (docs/faults.md): a carrier in front of the one that there is. Shard lock. */
#ifndef SCTPIW_NET_FAULTS_NET_H
#define SCTPIW_NET_FAULTS_NET_H

#include "faults/fault_ask.h"

struct conn;

/*
 * From now on the asker is asked of each packet that leaves or arrives at c. It must outlive c. Called once for a conn
 * whose transport has a carrier; with the kernel's SCTP the packets are the kernel's, and it does nothing.
 */
void faults_net_install(struct conn *c, struct fault_asker *asker);

#endif
