/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Injects faults into packets (docs/faults.md), with a carrier that wraps the real carrier. Rules
 * apply once to each packet: before the real carrier sends the packet, or after the real carrier
 * has received and opened the packet. So a capture shows the packets on the wire. Without faults,
 * the real carrier is called directly. Shard lock.
 */
#ifndef SCTPIW_NET_FAULTS_NET_H
#define SCTPIW_NET_FAULTS_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "faults/fault_ask.h"
#include "util/addr.h"

struct conn;

/* A bit, 1 << FAULT_DO_x, for each action that concerns packets. */
#define FAULTS_NET_ACTIONS                                                                         \
	(1ull << FAULT_DO_drop | 1ull << FAULT_DO_delay | 1ull << FAULT_DO_reorder |               \
	 1ull << FAULT_DO_duplicate | 1ull << FAULT_DO_corrupt | 1ull << FAULT_DO_corrupt_sealed | \
	 1ull << FAULT_DO_limit_rate | 1ull << FAULT_DO_limit_size)

/*
 * From now on, applies the rules of the asker to each packet that c sends or receives. The asker
 * may return true only with an action of FAULTS_NET_ACTIONS, and must outlive c. No effect with the
 * kernel's SCTP, which has no carrier, or if already installed. Returns 0, or -ENOMEM.
 */
int faults_net_install(struct conn *c, struct fault_asker *asker);
/*
 * Ends a rule, or if rule is 0, all rules. Removes their cuts and forwards the packets they hold.
 */
void faults_net_release(struct conn *c, uint32_t rule);

enum faults_net_cut_kind {
	FAULTS_NET_LOSE,       /* all packets in both directions are lost */
	FAULTS_NET_HOLD,       /* all packets in both directions are held back until the cut ends */
	FAULTS_NET_LOSE_ABORT, /* outgoing ABORTs are lost */
};

/* A cut: for a limited time, packets between the local side and a peer are lost or held back. */
struct faults_net_cut {
	enum faults_net_cut_kind kind;
	uint32_t rule;
	uint64_t until;		  /* ns, in the time of conn.now */
	struct ip_addr peer;	  /* all zero: any peer */
	uint16_t port, peer_port; /* 0: any */
};

/*
 * Adds a cut. Call this after faults_net_install(). Returns false with the kernel's SCTP, or if
 * there are FAULTS_CUTS cuts already.
 */
bool faults_net_cut(struct conn *c, const struct faults_net_cut *cut);

#endif
