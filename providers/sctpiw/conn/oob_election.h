/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Decides which of two QPs connected out of band sends the Initiate. Both sides decide alone, by
 * data that both have: their addresses and QP numbers. Pure functions.
 */
#ifndef SCTPIW_CONN_OOB_ELECTION_H
#define SCTPIW_CONN_OOB_ELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "util/addr.h"

/* The two ends, as seen by the local side. */
struct oob_ends {
	uint32_t qp_num, dest;	      /* local, and the peer's */
	struct ip_addr local, remote; /* addresses */
	bool loop;		      /* the peer is in this process */
};

/*
 * True if the local side begins. The larger port begins; of equal ports the larger address; within
 * a process the larger QP number. The two sides may see different addresses, so that both begin, or
 * neither. A timer or oob_election_yields() resolves that.
 */
bool oob_election_begins(const struct oob_ends *e);
/*
 * For crossed Initiates: true if the peer's Initiate counts, and the local one is withdrawn. The
 * Initiate of the larger QP number counts; of equal numbers, that of the association's initiator.
 * initiator: the local side is the initiator for iwarp, which has exactly one, even if SCTP has
 * two.
 */
bool oob_election_yields(uint32_t qp_num, uint32_t peer, bool initiator);

#endif
