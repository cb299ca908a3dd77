/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A bulk flow of a TCP-like sender (NewReno, RFC 6582, without SACK) on a simulated network. */
#ifndef TESTS_SIM_RENO_H
#define TESTS_SIM_RENO_H

#include "sim/simnet.h"

#define RENO_PACKET 1400u  /* bytes */
#define RENO_WINDOW 65536u /* range of packets that the receiver records out of order */

struct reno {
	struct simnet *net;
	int from, to;
	struct path_addr there, back;
	/* The sender. Packets have numbers, from 0. */
	uint32_t una;	       /* the first unacknowledged packet */
	uint32_t next;	       /* the next packet to send */
	uint32_t recover;      /* acknowledging this packet ends recovery */
	uint32_t sent;	       /* all packets below were sent at least once */
	double cwnd, ssthresh; /* packets */
	unsigned int dupacks;  /* successive duplicate acknowledgements */
	bool recovering;       /* fast recovery */
	uint64_t timeout;      /* SIMNET_NEVER: nothing is outstanding */
	uint64_t rto, srtt;    /* ns */
	uint32_t timed;	       /* the packet whose round trip is measured */
	uint64_t timed_at;
	bool timing;
	/* The receiver. */
	uint32_t expected;	  /* the first missing packet */
	uint8_t got[RENO_WINDOW]; /* 1 for a later packet that has arrived, by its number modulo */
};

/*
 * Adds two hosts, 10.0.0.first and the next, to the network. The caller routes between their nodes,
 * and frees the flow by free().
 */
struct reno *reno_new(struct simnet *net, uint8_t first);
/* Sends new packets within the window, and repeats overdue ones. */
void reno_run(struct reno *r, uint64_t now);
/* Returns the time of the next reno_run(); SIMNET_NEVER: when a packet arrives. */
static inline uint64_t reno_next(const struct reno *r)
{
	return r->timeout;
}

#endif
