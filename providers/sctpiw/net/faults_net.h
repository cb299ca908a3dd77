/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Faults of packets (docs/faults.md): a carrier in front of the one that there is. It asks of each packet once: of one
 * that leaves before the carrier has it, and of one that arrives when the carrier has received it and, with keys, opened
 * it. So a capture shows what is really under way. Without it the carrier is called as ever. Shard lock.
 */
#ifndef SCTPIW_NET_FAULTS_NET_H
#define SCTPIW_NET_FAULTS_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "faults/fault_ask.h"
#include "util/addr.h"

struct conn;

/* A bit, 1 << FAULT_DO_x, for each action that is done to a packet here. */
#define FAULTS_NET_ACTIONS                                                                         \
	(1ull << FAULT_DO_drop | 1ull << FAULT_DO_delay | 1ull << FAULT_DO_reorder |               \
	 1ull << FAULT_DO_duplicate | 1ull << FAULT_DO_corrupt | 1ull << FAULT_DO_corrupt_sealed | \
	 1ull << FAULT_DO_limit_rate | 1ull << FAULT_DO_limit_size)

/*
 * From now on the asker is asked of each packet that leaves or arrives at c; it says true with one of
 * FAULTS_NET_ACTIONS alone. It must outlive c. Called for a conn
 * whose transport has a carrier; with the kernel's SCTP the packets are the kernel's, and it does nothing. The second
 * call does nothing. -ENOMEM.
 */
int faults_net_install(struct conn *c, struct fault_asker *asker);
/* The rule is gone: what it holds back is let go, and what it has cut is whole again. Rule 0: of all. */
void faults_net_release(struct conn *c, uint32_t rule);

enum faults_net_cut_kind {
	FAULTS_NET_LOSE,       /* both ways all packets are lost */
	FAULTS_NET_HOLD,       /* they are held back until the end */
	FAULTS_NET_LOSE_ABORT, /* ABORTs that leave are lost */
};

/* What is cut for a time. */
struct faults_net_cut {
	enum faults_net_cut_kind kind;
	uint32_t rule;
	uint64_t until;		  /* ns, as conn.now */
	struct ip_addr peer;	  /* all zero: any */
	uint16_t port, peer_port; /* 0: any */
};

/* Cuts it, behind faults_net_install(). False: packets are the kernel's, or too much is cut already. */
bool faults_net_cut(struct conn *c, const struct faults_net_cut *cut);

#endif
