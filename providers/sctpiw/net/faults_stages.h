/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Slow links and cuts between the local side and its peers, as rules require. Shard lock. */
#ifndef SCTPIW_NET_FAULTS_STAGES_H
#define SCTPIW_NET_FAULTS_STAGES_H

#include "net/faults_net.h"
#include "net/faults_packet.h"
#include "util/list.h"

#define FAULTS_CUTS 64	      /* maximum number of cuts at once */
#define FAULTS_DUPLICATES 100 /* maximum number of duplicates of one packet */

struct faults_stages {
	struct list_node links; /* slow links of rules with limit_rate */
	struct faults_net_cut cuts[FAULTS_CUTS];
	unsigned int n_cuts;
};

void faults_stages_init(struct faults_stages *s);
/* Removes the links and cuts of a rule, or of all rules if rule is 0. */
void faults_stages_release(struct faults_stages *s, uint32_t rule);

/*
 * Adds a packet to the slow link of a rule, in the packet's direction. Returns the ns time at which
 * the link has sent the packet. Returns TIME_NEVER if the link's queue is full, or when out of
 * memory.
 */
uint64_t faults_stages_limit(struct faults_stages *s, const struct faults_packet *p,
			     const struct fault_action *a, uint64_t now);

/* Returns false if there are FAULTS_CUTS cuts already. */
bool faults_stages_add_cut(struct faults_stages *s, const struct faults_net_cut *cut, uint64_t now);
/* Returns the cut that affects the packet now, or NULL. */
const struct faults_net_cut *faults_stages_cut(struct faults_stages *s,
					       const struct fault_attrs *packet, uint64_t now);

#endif
