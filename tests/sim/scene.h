/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Scenarios of whole stacks, and what they are made of. A scenario is a function of a seed: what it does to
 * the network, to the packets and to the applications, and by when everything must have completed. What
 * completed is checked against the model (stack.h) in every scenario.
 */
#ifndef TESTS_SIM_SCENE_H
#define TESTS_SIM_SCENE_H

#include "sim/stack.h"

#define MIB (1u << 20)

struct scene {
	const char *name; /* for test_stack_sim --scenario */
	void (*run)(struct stack_world *w);
	unsigned int count; /* seeds in the suite */
	bool blind;	    /* what it is about need not show in w->seen */
	unsigned int every; /* --all: only seeds that this divides, since it takes long; 0: all */
	bool small;	    /* so little is sent that no memory need be referenced */
};

/* The scenarios of each theme; the last one has no name. */
extern const struct scene scenes_net[];	  /* what the network does */
extern const struct scene scenes_end[];	  /* the ends of sessions, associations and numbers */
extern const struct scene scenes_peer[];  /* peers that acknowledge in other ways */
extern const struct scene scenes_app[];	  /* what applications do with their memory and receives */
extern const struct scene scenes_share[]; /* a bottleneck with others */
extern const struct scene scenes_cm[];	  /* RDMA CM ids */
extern const struct scene scenes_oob[];	  /* QPs connected out of band */
extern const struct scene scenes_unreachable[]; /* what ICMP says of peers */
extern const struct scene scenes_xrc[];		/* SRQs that messages name */
extern const struct scene scenes_multicast[];	/* UD queue pairs in groups */
extern const struct scene scenes_datagram[];	/* UD queue pairs, and RDMA CM ids for them */

/* Returns 0 to n - 1, at random. */
static inline uint32_t below(struct stack_world *w, uint32_t n)
{
	return sim_random_below(&w->random, n);
}

/* Returns true with probability p. */
static inline bool chance(struct stack_world *w, double p)
{
	return sim_random_chance(&w->random, p);
}

/* Returns a time between these two, which are in ms; in ns, at random. */
static inline uint64_t some_ms(struct stack_world *w, uint32_t from, uint32_t to)
{
	return from * MSEC + sim_random_u64(&w->random) % ((to - from) * MSEC + 1);
}

/* Makes two nodes, which are not started, with a link each way that delays and does nothing else. */
void scene_two_nodes(struct stack_world *w);
/*
 * The nodes give up a handshake after 30 s, as processes do. A peer's process that has died in the midst of
 * one leaves a cookie that nobody knows.
 */
void scene_give_up_early(struct stack_world *w);
/* Starts all nodes. */
void scene_start(struct stack_world *w);
/* Makes n works, each from either of the first two nodes to the other, with a programme each. */
void scene_works(struct stack_world *w, unsigned int n);
/* Makes two nodes, starts them, and makes up to four works that connect by RDMA CM. */
void scene_usual(struct stack_world *w);
/* The same; in half of the seeds about half of the works are connected out of band. */
void scene_mixed(struct stack_world *w);
/* Makes the link so slow that what happens meanwhile happens in mid-stream. */
void scene_slow(struct stack_world *w, uint32_t bytes_per_second);
/* Returns a probability of 0 to n - 1 percent, at random. */
double scene_percent(struct stack_world *w, uint32_t n);
/* Gives both links a rule that loses up to 14 % of the packets, in place of the rules before. */
void scene_some_loss(struct stack_world *w);
/*
 * Adds a rule to a link: with a probability of 0 to n - 1 percent a packet takes longer by that time, which is 1 ns at
 * least, so that others overtake it.
 */
void scene_reorder(struct stack_world *w, struct simnet_link *l, uint32_t n, uint64_t ns);
/*
 * Adds two rules to a link: each n-th packet comes twice, and the copy, which is the next packet that the rules see,
 * comes later by up to that time.
 */
void scene_late_copies(struct stack_world *w, struct simnet_link *l, uint32_t n, uint64_t ns);
/* Adds a rule to a link: with a probability of 1 to n percent some bytes of a packet are changed. */
void scene_corrupt(struct stack_world *w, struct simnet_link *l, uint32_t n);
/* Adds rules to both links: some packets come twice, and some are overtaken by others. */
void scene_disorder(struct stack_world *w);
/* Does both: the links lose, duplicate and reorder packets. */
void scene_bad_links(struct stack_world *w);
/* Makes the link, which has no rules yet, a bad one in any way. */
void scene_some_link(struct stack_world *w, struct simnet_link *l);
/* Returns whether all works are connected. */
bool scene_is_up(struct stack_world *w);
/*
 * Runs until all works are connected. INITs are sent again after 1, 2, 4 s and so on up to a minute: with
 * bad luck that takes long.
 */
void scene_connected(struct stack_world *w);
/* Runs until all is done, but no longer than ns. Returns whether all is done. */
bool scene_done_within(struct stack_world *w, uint64_t ns);
/* The sessions of all works that exist may end from now on. */
void scene_all_may_end(struct stack_world *w);
/* Compares the memory of all works with the model. */
void scene_check_works(struct stack_world *w);
/* Runs until all is done, within `limit` ns at most, and checks the works. */
void scene_finish(struct stack_world *w, uint64_t limit);

#endif
