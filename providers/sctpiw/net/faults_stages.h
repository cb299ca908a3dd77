/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What lies between this side and its peers while faults say so: slow links, and links that are cut. Shard lock. */
#ifndef SCTPIW_NET_FAULTS_STAGES_H
#define SCTPIW_NET_FAULTS_STAGES_H

#include "net/faults_net.h"
#include "net/faults_packet.h"
#include "util/list.h"

#define FAULTS_CUTS 64	      /* at once */
#define FAULTS_DUPLICATES 100 /* of one packet */

struct faults_stages {
	struct list_node links; /* of rules that limit the rate */
	struct faults_net_cut cuts[FAULTS_CUTS];
	unsigned int n_cuts;
};

void faults_stages_init(struct faults_stages *s);
/* Forgets what is a rule's; rule 0: of all rules. */
void faults_stages_release(struct faults_stages *s, uint32_t rule);

/*
 * A packet comes to the slow link of its direction that the rule describes: when it is through, ns. TIME_NEVER: it
 * does not fit into the queue, or there is no memory.
 */
uint64_t faults_stages_limit(struct faults_stages *s, const struct faults_packet *p,
			     const struct fault_action *a, uint64_t now);

/* False: there are FAULTS_CUTS already. */
bool faults_stages_add_cut(struct faults_stages *s, const struct faults_net_cut *cut, uint64_t now);
/* What cuts the packet off now; NULL: nothing. */
const struct faults_net_cut *faults_stages_cut(struct faults_stages *s,
					       const struct fault_attrs *packet, uint64_t now);

#endif
