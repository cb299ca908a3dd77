/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A simulated network with a virtual clock: nodes with an address and a UDP port exchange opaque
 * packets over links that delay and queue them, and have the faults that rules say
 * (docs/faults.md). All that is random comes from one seed, so that a run which fails can be
 * repeated. It is not thread-safe. Times are in ns.
 *
 * The caller's loop:
 *	now = the earliest of simnet_next() and of the nodes' timers
 *	simnet_deliver(net, now), which calls the nodes back
 *	run the timers and the output of the nodes at `now`
 */
#ifndef TESTS_SIM_SIMNET_H
#define TESTS_SIM_SIMNET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "faults/fault_set.h"
#include "util/addr.h"
#include "util/random.h"

#define SIMNET_MSEC 1000000ull
#define SIMNET_NEVER UINT64_MAX
#define SIMNET_HEADERS 28 /* bytes of the IPv4 and UDP headers, which count for the MTU */

/* Of n seeds as many as this build tries: a tenth where a sanitizer makes all take ten times as long, but one at least. */
static inline unsigned int sim_seeds(unsigned int n)
{
#ifdef SCTPIW_SANITIZED
	return n > 10 ? n / 10 : 1;
#else
	return n;
#endif
}

/* A random_source that is the same for the same seed. */
struct sim_random {
	struct random_source source; /* first: the callback gets a pointer to it */
	uint64_t state;
};

/* Sets it up; any seed will do. */
void sim_random_init(struct sim_random *r, uint64_t seed);
/* Returns 64 random bits. */
uint64_t sim_random_u64(struct sim_random *r);
/* Returns 0 to n - 1; 0 if n is 0. */
uint32_t sim_random_below(struct sim_random *r, uint32_t n);
/* Returns true with probability p. */
bool sim_random_chance(struct sim_random *r, double p);

/* What a link does to each packet. One that is all zero delivers everything at once. */
struct simnet_link {
	uint64_t delay;	 /* ns, one way */
	uint64_t jitter; /* ns at most, random, added to delay; it reorders nothing */
	uint64_t rate;	 /* bytes a second; 0: no limit */
	size_t queue;	 /* bytes that may wait because of the rate; what exceeds them is lost */
	size_t overhead; /* bytes that each packet takes of rate and queue besides its own */
	uint32_t mtu;	 /* bytes of a whole IP packet, with SIMNET_HEADERS; 0: no limit */
	bool black_hole; /* longer packets are lost without too_big() */

	/* The rest belongs to simnet: state and counts. */
	struct fault_set *faults; /* the network's; NULL: the link has never had any */
	uint64_t busy_until;	  /* when all that waits because of the rate has left */
	uint64_t last_arrival;	  /* of a packet that no rule has delayed */
	uint64_t packets;	  /* that were to pass, whatever became of them */
	uint64_t bytes;		  /* of those, without headers */
	uint64_t dropped;    /* packets that a rule has lost, or that had no room in the queue */
	uint64_t too_long;   /* packets lost because of their length */
	uint64_t fragmented; /* packets without DF that were cut up */
};

struct simnet;

/* What a node is told. ctx: as given to simnet_add(). */
struct simnet_ops {
	/*
	 * A packet arrives. path is the receiver's view: remote and udp_port are the sender's, and local is
	 * the group, if it was sent to one. The bytes are valid during the call alone.
	 */
	void (*deliver)(void *ctx, const struct path_addr *path, const uint8_t *packet, size_t len,
			uint64_t now);
	/*
	 * ICMP says that a packet did not arrive where it was sent, quotes it, and gives a reason: -ECONNREFUSED
	 * (nobody is there) or -EHOSTUNREACH. May be NULL.
	 */
	void (*unreachable)(void *ctx, const struct path_addr *to, int error, const uint8_t *quoted,
			    size_t len, uint64_t now);
	/*
	 * ICMP says that a packet with DF was too long for a link, and quotes its begin. May be
	 * NULL.
	 */
	void (*too_big)(void *ctx, const struct path_addr *to, uint32_t mtu, const uint8_t *quoted,
			size_t len, uint64_t now);
};

/* Makes a network without nodes; frees it, with the packets that are under way. */
struct simnet *simnet_new(uint64_t seed);
void simnet_free(struct simnet *net);
/* Adds a node, which receives what is sent to this address and UDP port. Returns its number. */
int simnet_add(struct simnet *net, const struct ip_addr *addr, uint16_t udp_port,
	       const struct simnet_ops *ops, void *ctx);
/*
 * Lets packets from one node to another pass this link, which the caller owns and may change at any
 * time. Pairs of nodes that share a link share its rate and queue. Without a link packets arrive at
 * once.
 */
void simnet_route(struct simnet *net, int from, int to, struct simnet_link *link);
/*
 * Puts rules of the language of faults into force on a link, in place of those before. Times in them begin at the
 * latest time that the network has been told. Each packet that enters the link is an event of the site `packets`, and
 * so is, right behind it, each copy that a rule makes of it; a copy is not duplicated itself. `drop`, `delay`,
 * `duplicate` and `corrupt` are understood, and no selectors, since a link is one way and its packets are opaque.
 * Another rule ends the program.
 */
void simnet_faults(struct simnet *net, struct simnet_link *link, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same for the link and the one behind it in memory, which leads back. */
void simnet_faults_both(struct simnet *net, struct simnet_link *link, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Puts them into force behind those before, which have their way first. */
void simnet_faults_add(struct simnet *net, struct simnet_link *link, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Removes all rules of a link. */
void simnet_heal(struct simnet *net, struct simnet_link *link);
/* Lets both of these lose all packets, in place of the rules before, or removes all rules. */
void simnet_cut(struct simnet *net, struct simnet_link *link, bool off);
/* Returns whether the link has a rule that does this. */
bool simnet_may(const struct simnet_link *link, enum fault_action_id what);
/* What has become of a node. */
enum simnet_state {
	SIMNET_UP,     /* as at first */
	SIMNET_SILENT, /* neither sends nor receives, as if cut off or stopped */
	SIMNET_GONE,   /* who sends to it gets unreachable(): nobody is there */
	SIMNET_CUT,    /* the same: no way leads there */
};

/* A node is up at first. For packets that are under way to it, the state at their arrival counts. */
void simnet_set_state(struct simnet *net, int node, enum simnet_state state);
/*
 * Has the node take what is sent to a multicast group, or not any more. Each node that has joined gets a copy, the
 * sender too, by the links from the sender to it; what counts is whether it has joined when that arrives. Nobody
 * hears of copies that do not. Sixteen groups at most.
 */
void simnet_join(struct simnet *net, int node, const struct ip_addr *group, bool join);
bool simnet_has_joined(struct simnet *net, int node, const struct ip_addr *group);
/* Gives the node another UDP port, as a NAT does. Nobody is at the old one any more. */
void simnet_set_port(struct simnet *net, int node, uint16_t udp_port);
/* Sends a packet with DF from a node at `now`. The bytes are copied. */
void simnet_send(struct simnet *net, int from, const struct path_addr *to, const void *packet,
		 size_t len, uint64_t now);
/* Sends it without DF: a link cuts it up if it is too long, and it arrives whole all the same. */
void simnet_send_fragments(struct simnet *net, int from, const struct path_addr *to,
			   const void *packet, size_t len, uint64_t now);
/*
 * From deliver(): nobody at the node wants this packet, so that its host tells the sender by
 * unreachable().
 */
void simnet_refuse(struct simnet *net, int node, const struct path_addr *path,
		   const uint8_t *packet, size_t len, uint64_t now);
/*
 * Tells a node by unreachable(), at `when`, that a packet of its own did not arrive, whether that is true or
 * not. len: bytes that are quoted, 28 at most.
 */
void simnet_forge(struct simnet *net, int node, const struct path_addr *to, int error,
		  const uint8_t *quoted, size_t len, uint64_t when);
/* Returns when the next packet arrives; SIMNET_NEVER: none is under way. */
uint64_t simnet_next(const struct simnet *net);
/* Delivers all packets that have arrived by `now`. Returns how many. */
unsigned int simnet_deliver(struct simnet *net, uint64_t now);
/* Returns the address 10.0.0.n. */
struct ip_addr simnet_v4(uint8_t n);

#endif
