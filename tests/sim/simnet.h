/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A simulated network on a virtual clock, for tests: nodes with an address and a
 * UDP port exchange opaque packets over links that delay, lose, duplicate,
 * corrupt, reorder and queue them. Everything random comes from one seed, so a
 * failing run can be run again. Not thread-safe.
 *
 * The caller's loop:
 *	now = the earliest of simnet_next() and its own timers
 *	simnet_deliver(net, now)	-> calls the nodes back
 *	run the timers and the output of the nodes at `now`
 */
#ifndef TESTS_SIM_SIMNET_H
#define TESTS_SIM_SIMNET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/addr.h"
#include "util/random.h"

#define SIMNET_MSEC 1000000ull
#define SIMNET_NEVER UINT64_MAX
#define SIMNET_HEADERS 28 /* IPv4 and UDP */

/* A seeded random_source; source is its first member. */
struct sim_random {
	struct random_source source;
	uint64_t state;
};

void sim_random_init(struct sim_random *r, uint64_t seed);
uint64_t sim_random_u64(struct sim_random *r);
/* 0 to n - 1 */
uint32_t sim_random_below(struct sim_random *r, uint32_t n);
/* True with probability p. */
bool sim_random_chance(struct sim_random *r, double p);

/* What a link does to each packet; all zero: delivers everything at once. */
struct simnet_link {
	double loss;
	double duplicate;
	uint64_t duplicate_delay; /* ns, at most, that the copy comes later; 0: right behind */
	double corrupt; /* one to three bits of the packet are flipped */
	double reorder; /* the packet takes reorder_delay longer, so that others overtake it */
	uint64_t reorder_delay;
	uint64_t delay;	 /* ns, one way */
	uint64_t jitter; /* ns, random, added to delay; by itself it does not reorder */
	uint64_t rate;	 /* bytes a second; 0: without limit */
	size_t queue;	 /* bytes that may wait for the rate; what comes on top is lost */
	size_t overhead; /* bytes that a packet takes of rate and queue besides its own */
	uint32_t mtu;	 /* whole IP packets (SIMNET_HEADERS and the packet); 0: without limit */
	bool black_hole; /* what is longer is lost without a word, not with too_big() */

	/* kept by simnet */
	uint64_t busy_until;
	uint64_t last_arrival;
	uint64_t packets;
	uint64_t bytes;
	uint64_t dropped;
	uint64_t too_long; /* lost for their length */
	uint64_t fragmented;
};

struct simnet;

struct simnet_ops {
	/*
	 * A packet came. path: the receiver's view, remote and udp_port being the
	 * sender's. The bytes are valid during the call only.
	 */
	void (*deliver)(void *ctx, const struct path_addr *path, const uint8_t *packet, size_t len,
			uint64_t now);
	/* Nobody is at the place that a packet was sent to; with what ICMP quotes of it. May be NULL. */
	void (*unreachable)(void *ctx, const struct path_addr *to, const uint8_t *quoted, size_t len,
			    uint64_t now);
	/* A packet with DF was too long for a link; with what ICMP quotes of it. May be NULL. */
	void (*too_big)(void *ctx, const struct path_addr *to, uint32_t mtu, const uint8_t *quoted,
			size_t len, uint64_t now);
};

struct simnet *simnet_new(uint64_t seed);
void simnet_free(struct simnet *net);
/* A node that receives what is sent to this address and UDP port. Returns its number. */
int simnet_add(struct simnet *net, const struct ip_addr *addr, uint16_t udp_port,
	       const struct simnet_ops *ops, void *ctx);
/*
 * Packets from one node to another pass this link, which the caller owns and may
 * change at any time. Pairs that share a link share its rate and queue. Without a
 * link, packets arrive at once.
 */
void simnet_route(struct simnet *net, int from, int to, struct simnet_link *link);
enum simnet_state {
	SIMNET_UP,
	SIMNET_SILENT, /* neither sends nor receives: cut off or stopped */
	SIMNET_GONE,   /* its host answers with unreachable() */
};
void simnet_set_state(struct simnet *net, int node, enum simnet_state state);
/* A NAT gives the node another UDP port; who sends to the old one finds nobody. */
void simnet_set_port(struct simnet *net, int node, uint16_t udp_port);
/* Sends a packet from a node at `now`, with DF; the bytes are copied. */
void simnet_send(struct simnet *net, int from, const struct path_addr *to, const void *packet,
		 size_t len, uint64_t now);
/* Without DF: a link cuts it up when it is too long, and it arrives whole all the same. */
void simnet_send_fragments(struct simnet *net, int from, const struct path_addr *to,
			   const void *packet, size_t len, uint64_t now);
/* From deliver(): nobody at the node wants this packet, and its host tells the sender (unreachable()). */
void simnet_refuse(struct simnet *net, int node, const struct path_addr *path, const uint8_t *packet,
		   size_t len, uint64_t now);
/* When the next packet arrives; SIMNET_NEVER: none is under way. */
uint64_t simnet_next(const struct simnet *net);
/* Delivers all that arrives until now. Returns how many. */
unsigned int simnet_deliver(struct simnet *net, uint64_t now);
/* 10.0.0.n as an ip_addr */
struct ip_addr simnet_v4(uint8_t n);

#endif
