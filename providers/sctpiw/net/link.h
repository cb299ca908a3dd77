/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Facts that a carrier has learnt about the route to a destination. The facts are kept for each
 * destination: if one interface cannot segment, packets on other interfaces must not become slower.
 * In a full table the least recently used entry is replaced. Shard lock.
 */
#ifndef SCTPIW_NET_LINK_H
#define SCTPIW_NET_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "util/addr.h"
#include "util/time.h"

#define LINK_MAX 64u

/* ns. After this time a fact is no longer used, since the route may have changed. */
#define LINK_LIFE (600 * NSEC_PER_SEC)

struct carrier_link {
	struct ip_addr remote;
	uint64_t forget_at; /* 0: the entry is free */
	uint64_t used;	    /* time of the last look-up */
	bool no_gso;	    /* UDP_SEGMENT fails on this route */
};

/* A table that is all zero is empty. */
struct link_table {
	struct carrier_link *links; /* LINK_MAX entries, or NULL if no fact is known */
	unsigned int n;		    /* entries in use so far */
};

/* Returns the facts about the route to that address, or NULL. */
const struct carrier_link *link_find(struct link_table *t, const struct ip_addr *remote,
				     uint64_t now);
/* Records that UDP_SEGMENT fails on the route to that address, unless out of memory. */
void link_set_no_gso(struct link_table *t, const struct ip_addr *remote, uint64_t now);
void link_table_free(struct link_table *t);

#endif
