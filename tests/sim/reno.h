/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A bulk flow of a TCP-like sender (NewReno, RFC 6582, without SACK) on a simulated network. */
#ifndef TESTS_SIM_RENO_H
#define TESTS_SIM_RENO_H

#include "sim/simnet.h"

#define RENO_PACKET 1400u  /* bytes */
#define RENO_WINDOW 65536u /* packets that the receiver remembers out of order */

struct reno {
	struct simnet *net;
	int from, to;
	struct path_addr there, back;
	/* The sender. Packets have numbers, from 0. */
	uint32_t una;	       /* the first one that is not acknowledged */
	uint32_t next;	       /* to be sent next */
	uint32_t recover;      /* recovery ends when this one is acknowledged */
	uint32_t sent;	       /* all below this were sent once at least */
	double cwnd, ssthresh; /* packets */
	unsigned int dupacks;  /* duplicate acknowledgements in a row */
	bool recovering;       /* fast recovery */
	uint64_t timeout;      /* SIMNET_NEVER: nothing is outstanding */
	uint64_t rto, srtt;    /* ns */
	uint32_t timed;	       /* the packet whose round trip is measured */
	uint64_t timed_at;
	bool timing;
	/* The receiver. */
	uint32_t expected;	  /* the first packet that has not come */
	uint8_t got[RENO_WINDOW]; /* whether one of those behind it has, by its number modulo */
};

/*
 * Adds two hosts, 10.0.0.first and the next, to the network; the caller routes between their nodes, and
 * frees the flow by free().
 */
struct reno *reno_new(struct simnet *net, uint8_t first);
/* Sends what the window allows, and once more what is overdue. */
void reno_run(struct reno *r, uint64_t now);
/* Returns when reno_run() is due again; SIMNET_NEVER: when a packet arrives. */
static inline uint64_t reno_next(const struct reno *r)
{
	return r->timeout;
}

#endif
