/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which of two QPs connected out of band sends the Initiate. Both sides decide alone, from what both know:
 * their addresses and QP numbers. Pure functions.
 */
#ifndef SCTPIW_CONN_OOB_ELECTION_H
#define SCTPIW_CONN_OOB_ELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "util/addr.h"

/* The two ends, as this side sees them. */
struct oob_ends {
	uint32_t qp_num, dest;	      /* ours, and the peer's */
	struct ip_addr local, remote; /* addresses */
	bool loop;		      /* the peer is in this process */
};

/*
 * Whether this side begins: the side with the larger port does; of equal ports the larger address; within a
 * process the larger QP number. The two sides may see their addresses differently, so that both or none
 * begins: then a timer, or oob_election_yields(), settles it.
 */
bool oob_election_begins(const struct oob_ends *e);
/*
 * The Initiates of both sides have crossed: whether that of the peer counts, and ours is taken back. That of
 * the larger QP number counts, and of equal ones that of the association's initiator. initiator: this side,
 * as iwarp sees it, which has made it one side even where SCTP takes both for the initiator.
 */
bool oob_election_yields(uint32_t qp_num, uint32_t peer, bool initiator);

#endif
