/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Scenarios of whole stacks, and their parts. A scenario is a function of a seed. It manipulates
 * the network, the packets and the applications, and limits the time until completion. Every
 * scenario checks the completed requests against the model (stack.h).
 */
#ifndef TESTS_SIM_SCENE_H
#define TESTS_SIM_SCENE_H

#include "sim/stack.h"

#define MIB (1u << 20)

struct scene {
	const char *name; /* for test_stack_sim --scenario */
	void (*run)(struct stack_world *w);
	unsigned int count; /* seeds in the suite */
	bool blind;	    /* its effect need not show in w->seen */
	unsigned int every; /* --all: only seeds that this divides, as it takes long; 0: all */
	bool small;	    /* sends so little that no memory may be referenced */
};

/* The scenarios of each theme; the last one has no name. */
extern const struct scene scenes_net[];		/* faults of the network */
extern const struct scene scenes_end[];		/* the ends of sessions, associations and numbers */
extern const struct scene scenes_peer[];	/* peers that acknowledge differently */
extern const struct scene scenes_app[];		/* memory and receives of applications */
extern const struct scene scenes_share[];	/* a shared bottleneck */
extern const struct scene scenes_cm[];		/* RDMA CM ids */
extern const struct scene scenes_oob[];		/* QPs connected out of band */
extern const struct scene scenes_unreachable[]; /* ICMP errors for peers */
extern const struct scene scenes_xrc[];		/* SRQs that messages name */
extern const struct scene scenes_multicast[];	/* UD queue pairs in groups */
extern const struct scene scenes_datagram[];	/* UD queue pairs, and RDMA CM ids for them */

/* Returns a random number from 0 to n - 1. */
static inline uint32_t below(struct stack_world *w, uint32_t n)
{
	return sim_random_below(&w->random, n);
}

/* Returns true with probability p. */
static inline bool chance(struct stack_world *w, double p)
{
	return sim_random_chance(&w->random, p);
}

/* Returns a random time in ns between two times in ms. */
static inline uint64_t some_ms(struct stack_world *w, uint32_t from, uint32_t to)
{
	return from * MSEC + sim_random_u64(&w->random) % ((to - from) * MSEC + 1);
}

/* Makes two nodes, which are not started, with a link in each direction that only delays. */
void scene_two_nodes(struct stack_world *w);
/*
 * Makes the nodes give up a handshake after 30 s, like processes. If a peer's process dies during a
 * handshake, its cookie stays unknown.
 */
void scene_give_up_early(struct stack_world *w);
/* Starts all nodes. */
void scene_start(struct stack_world *w);
/* Makes n works between the first two nodes, in random directions, each with a programme. */
void scene_works(struct stack_world *w, unsigned int n);
/* Makes two nodes, starts them, and makes up to four works that connect by RDMA CM. */
void scene_usual(struct stack_world *w);
/* The same, but in half of the seeds about half of the works are connected out of band. */
void scene_mixed(struct stack_world *w);
/* Slows the link down, so that later events happen in mid-stream. */
void scene_slow(struct stack_world *w, uint32_t bytes_per_second);
/* Returns a random probability of 0 to n - 1 percent. */
double scene_percent(struct stack_world *w, uint32_t n);
/* Replaces the rules of both links by one that loses up to 14 % of the packets. */
void scene_some_loss(struct stack_world *w);
/*
 * Adds a rule to a link: with a probability of 0 to n - 1 percent a packet is delayed by this time,
 * at least 1 ns, so that others overtake it.
 */
void scene_reorder(struct stack_world *w, struct simnet_link *l, uint32_t n, uint64_t ns);
/*
 * Adds two rules to a link. Each n-th packet is duplicated. The copy, which is the next packet for
 * the rules, is delayed by up to this time.
 */
void scene_late_copies(struct stack_world *w, struct simnet_link *l, uint32_t n, uint64_t ns);
/* Adds a rule to a link: with a probability of 1 to n percent some bytes of a packet change. */
void scene_corrupt(struct stack_world *w, struct simnet_link *l, uint32_t n);
/* Adds rules to both links that duplicate some packets, and make others overtake some. */
void scene_disorder(struct stack_world *w);
/* Adds the rules of scene_some_loss() and scene_disorder(). */
void scene_bad_links(struct stack_world *w);
/* Gives a link without rules random faults. */
void scene_some_link(struct stack_world *w, struct simnet_link *l);
/* True if all works are connected. */
bool scene_is_up(struct stack_world *w);
/*
 * Runs until all works are connected. INITs are repeated after 1, 2, 4 s and so on up to a minute,
 * which may take long.
 */
void scene_connected(struct stack_world *w);
/* Runs until all is done, at most for ns. Returns true if all is done. */
bool scene_done_within(struct stack_world *w, uint64_t ns);
/* Permits the sessions of all present works to end. */
void scene_all_may_end(struct stack_world *w);
/* Compares the memory of all works with the model. */
void scene_check_works(struct stack_world *w);
/* Runs until all is done, at most for `limit` ns, and checks the works. */
void scene_finish(struct stack_world *w, uint64_t limit);

#endif
