/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A simulated network with a virtual clock. Nodes with an address and a UDP port exchange opaque
 * packets. Links delay and queue packets, and have faults by rules (docs/faults.md). All random
 * numbers come from one seed, so that a failed run can be repeated. It is not thread-safe. Times
 * are in ns.
 *
 * The caller's loop:
 *     now = the earliest of simnet_next() and of the nodes' timers
 *     simnet_deliver(net, now), which calls the nodes back
 *     run the timers and the output of the nodes at `now`
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
#define SIMNET_HEADERS 28 /* bytes of the IPv4 and UDP headers, included in the MTU */

/*
 * Returns how many of n seeds this build tries: with a sanitizer, which is ten times slower, a
 * tenth, but at least one.
 */
static inline unsigned int sim_seeds(unsigned int n)
{
#ifdef SCTPIW_SANITIZED
	return n > 10 ? n / 10 : 1;
#else
	return n;
#endif
}

/* A random_source with the same numbers for the same seed. */
struct sim_random {
	struct random_source source; /* first: the callback gets a pointer to it */
	uint64_t state;
};

/* Initializes the source. Any seed is valid. */
void sim_random_init(struct sim_random *r, uint64_t seed);
/* Returns 64 random bits. */
uint64_t sim_random_u64(struct sim_random *r);
/* Returns 0 to n - 1, or 0 if n is 0. */
uint32_t sim_random_below(struct sim_random *r, uint32_t n);
/* Returns true with probability p. */
bool sim_random_chance(struct sim_random *r, double p);

/* Properties of a link. A link of zeros delivers everything immediately. */
struct simnet_link {
	uint64_t delay;	 /* ns, one way */
	uint64_t jitter; /* maximum ns, random, added to delay, without reordering */
	uint64_t rate;	 /* bytes a second; 0: no limit */
	size_t queue;	 /* bytes that may wait because of the rate; packets beyond are lost */
	size_t overhead; /* bytes that each packet takes of rate and queue besides its own */
	uint32_t mtu;	 /* bytes of a whole IP packet, with SIMNET_HEADERS; 0: no limit */
	bool black_hole; /* longer packets are lost without too_big() */

	/* The rest belongs to simnet: state and counts. */
	struct fault_set *faults; /* the network's; NULL: the link has never had any */
	uint64_t busy_until;	  /* when all packets that wait because of the rate have left */
	uint64_t last_arrival;	  /* of a packet that no rule has delayed */
	uint64_t packets;	  /* that entered the link, whether or not lost */
	uint64_t bytes;		  /* of these packets, without headers */
	uint64_t dropped;    /* packets that a rule has lost, or that had no room in the queue */
	uint64_t too_long;   /* packets lost because of their length */
	uint64_t fragmented; /* fragmented packets without DF */
};

struct simnet;

/* Callbacks of a node. ctx: as given to simnet_add(). */
struct simnet_ops {
	/*
	 * A packet arrives. path is the receiver's view: remote and udp_port are the sender's, and
	 * local is the group, if it was sent to one. The bytes are valid only during the call.
	 */
	void (*deliver)(void *ctx, const struct path_addr *path, const uint8_t *packet, size_t len,
			uint64_t now);
	/*
	 * ICMP reports that a packet did not arrive, quotes it, and gives a reason: -ECONNREFUSED
	 * (the port is closed) or -EHOSTUNREACH. May be NULL.
	 */
	void (*unreachable)(void *ctx, const struct path_addr *to, int error, const uint8_t *quoted,
			    size_t len, uint64_t now);
	/*
	 * ICMP reports that a packet with DF was too long for a link, and quotes its start. May be
	 * NULL.
	 */
	void (*too_big)(void *ctx, const struct path_addr *to, uint32_t mtu, const uint8_t *quoted,
			size_t len, uint64_t now);
};

/* Makes a network without nodes; frees it, with the packets in transit. */
struct simnet *simnet_new(uint64_t seed);
void simnet_free(struct simnet *net);
/* Adds a node, which receives packets to this address and UDP port. Returns its number. */
int simnet_add(struct simnet *net, const struct ip_addr *addr, uint16_t udp_port,
	       const struct simnet_ops *ops, void *ctx);
/*
 * Routes packets from one node to another over this link, which the caller owns and may change at
 * any time. Pairs of nodes that share a link share its rate and queue. Without a link, packets
 * arrive immediately.
 */
void simnet_route(struct simnet *net, int from, int to, struct simnet_link *link);
/*
 * Replaces the rules of a link by these, in the language of faults. Times in them begin at the
 * network's latest time. Each packet that enters the link is an event of the site `packets`. Each
 * copy that a rule makes is also an event, directly afterwards, but is not duplicated again. Only
 * `drop`, `delay`, `duplicate` and `corrupt` are valid, without selectors, since a link is one way
 * and its packets are opaque. Other rules end the program.
 */
void simnet_faults(struct simnet *net, struct simnet_link *link, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same for the link and the next one in memory, which leads back. */
void simnet_faults_both(struct simnet *net, struct simnet_link *link, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Adds rules after the earlier rules, which take precedence. */
void simnet_faults_add(struct simnet *net, struct simnet_link *link, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Removes all rules of a link. */
void simnet_heal(struct simnet *net, struct simnet_link *link);
/*
 * Makes a link and the next one in memory lose all packets, in place of the earlier rules, or
 * removes all rules.
 */
void simnet_cut(struct simnet *net, struct simnet_link *link, bool off);
/* True if the link has a rule with this action. */
bool simnet_may(const struct simnet_link *link, enum fault_action_id what);
/* The state of a node. */
enum simnet_state {
	SIMNET_UP,     /* initial state */
	SIMNET_SILENT, /* neither sends nor receives, as if cut off or stopped */
	SIMNET_GONE,   /* no process: senders to it get unreachable() */
	SIMNET_CUT,    /* no route: senders to it get unreachable() */
};

/* A node is up at first. For packets in transit, the state at their arrival counts. */
void simnet_set_state(struct simnet *net, int node, enum simnet_state state);
/*
 * Makes the node join or leave a multicast group. Each member gets a copy of each packet, the
 * sender too, by the links from the sender. Membership counts at the arrival of the copy. Other
 * copies vanish without an error. Maximum: sixteen groups.
 */
void simnet_join(struct simnet *net, int node, const struct ip_addr *group, bool join);
bool simnet_has_joined(struct simnet *net, int node, const struct ip_addr *group);
/* Gives the node another UDP port, as a NAT does. The old port has no receiver any more. */
void simnet_set_port(struct simnet *net, int node, uint16_t udp_port);
/* Sends a packet with DF from a node at `now`. The bytes are copied. */
void simnet_send(struct simnet *net, int from, const struct path_addr *to, const void *packet,
		 size_t len, uint64_t now);
/* Sends a packet without DF. A link may fragment it, but it arrives whole. */
void simnet_send_fragments(struct simnet *net, int from, const struct path_addr *to,
			   const void *packet, size_t len, uint64_t now);
/*
 * From deliver(): no process at the node accepts this packet, so its host reports that to the
 * sender by unreachable().
 */
void simnet_refuse(struct simnet *net, int node, const struct path_addr *path,
		   const uint8_t *packet, size_t len, uint64_t now);
/*
 * Reports to a node by unreachable(), at `when`, that a packet of its own did not arrive, whether
 * or not this is true. len: bytes quoted, at most 28.
 */
void simnet_forge(struct simnet *net, int node, const struct path_addr *to, int error,
		  const uint8_t *quoted, size_t len, uint64_t when);
/* Returns the arrival of the next packet; SIMNET_NEVER: none is in transit. */
uint64_t simnet_next(const struct simnet *net);
/* Delivers all packets that have arrived by `now`. Returns their number. */
unsigned int simnet_deliver(struct simnet *net, uint64_t now);
/* Returns the address 10.0.0.n. */
struct ip_addr simnet_v4(uint8_t n);

#endif
