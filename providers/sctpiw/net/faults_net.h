/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Faults of packets (docs/faults.md): a carrier in front of the one that there is. Shard lock. */
#ifndef SCTPIW_NET_FAULTS_NET_H
#define SCTPIW_NET_FAULTS_NET_H

#include <stdbool.h>

#include "faults/fault_ask.h"

struct conn;

/*
 * From now on the asker is asked of each packet that leaves c. It must outlive c. Another call does nothing more. With
 * the kernel's SCTP the packets are the kernel's, and nothing is installed.
 */
void faults_net_install(struct conn *c, struct fault_asker *asker);
/* While it is set, every packet is lost, and nobody is asked: the port is down. */
void faults_net_cut(bool cut);

#endif
