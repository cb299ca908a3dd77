/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Faults of packets (docs/faults.md): a carrier that wraps the real one. The rules are applied to
 * each packet once: before the real carrier sends it, or after the carrier has received and opened
 * it. So a capture shows the packets on the wire. Without faults the real carrier is called
 * directly. Shard lock.
 */
#ifndef SCTPIW_NET_FAULTS_NET_H
#define SCTPIW_NET_FAULTS_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "faults/fault_ask.h"
#include "util/addr.h"

struct conn;

/* A bit, 1 << FAULT_DO_x, for each action on a packet. */
#define FAULTS_NET_ACTIONS                                                                         \
	(1ull << FAULT_DO_drop | 1ull << FAULT_DO_delay | 1ull << FAULT_DO_reorder |               \
	 1ull << FAULT_DO_duplicate | 1ull << FAULT_DO_corrupt | 1ull << FAULT_DO_corrupt_sealed | \
	 1ull << FAULT_DO_limit_rate | 1ull << FAULT_DO_limit_size)

/*
 * Applies the asker's rules to each packet that leaves or arrives at c from now on. The asker must
 * return true with one of FAULTS_NET_ACTIONS only, and must outlive c. The transport of c must have
 * a carrier: with the kernel's SCTP, the call does nothing. A second call does nothing. Returns 0,
 * or -ENOMEM.
 */
int faults_net_install(struct conn *c, struct fault_asker *asker);
/* Ends a rule: forwards the packets that it holds back, and removes its cuts. Rule 0: all rules. */
void faults_net_release(struct conn *c, uint32_t rule);

enum faults_net_cut_kind {
	FAULTS_NET_LOSE,       /* all packets are lost, both ways */
	FAULTS_NET_HOLD,       /* all packets are held back until the end */
	FAULTS_NET_LOSE_ABORT, /* outgoing ABORTs are lost */
};

/* A cut for a limited time. */
struct faults_net_cut {
	enum faults_net_cut_kind kind;
	uint32_t rule;
	uint64_t until;		  /* ns, as conn.now */
	struct ip_addr peer;	  /* all zero: any */
	uint16_t port, peer_port; /* 0: any */
};

/*
 * Adds a cut, after faults_net_install(). Returns false with the kernel's SCTP, or if all
 * FAULTS_CUTS exist.
 */
bool faults_net_cut(struct conn *c, const struct faults_net_cut *cut);

#endif
