/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Decides which of two QPs connected out of band sends the Initiate. Each side decides without
 * messages, from the addresses and QP numbers of both QPs. The functions have no state.
 */
#ifndef SCTPIW_CONN_OOB_ELECTION_H
#define SCTPIW_CONN_OOB_ELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "util/addr.h"

/* Addresses and numbers of both QPs, from the view of the local side. */
struct oob_ends {
	uint32_t qp_num, dest;	      /* of the local QP, and of the peer's QP */
	struct ip_addr local, remote; /* addresses */
	bool loop;		      /* the peer is in this process */
};

/*
 * True if the local side sends the Initiate. The side with the larger port (upper 16 bits of the QP
 * number) does; if the ports are equal, the side with the larger address. Within a process, it is
 * the larger QP number. The two sides may see different addresses. Then both sides send an
 * Initiate, or neither does. oob_election_yields() resolves the first case, and a timer the second.
 */
bool oob_election_begins(const struct oob_ends *e);
/*
 * For Initiates that cross: true if the local side accepts the peer's Initiate and withdraws its
 * own. The Initiate of the larger QP number wins. If the numbers are equal, the Initiate of the
 * association's initiator wins. initiator: iw_assoc_is_initiator() of the local side. It is true on
 * one side only, even if both sides opened the SCTP association.
 */
bool oob_election_yields(uint32_t qp_num, uint32_t peer, bool initiator);

#endif
