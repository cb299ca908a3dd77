/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Facts that a carrier has learnt about the way to a peer. They concern a route, so they are kept
 * for each destination, not for the port. One interface that cannot segment must not slow down the
 * others. The table is bounded; the least recently used link makes room. Shard lock.
 */
#ifndef SCTPIW_NET_LINK_H
#define SCTPIW_NET_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "util/addr.h"
#include "util/time.h"

#define LINK_MAX 64u

/* ns. Facts expire after this time, since a route may change. */
#define LINK_LIFE (600 * NSEC_PER_SEC)

struct carrier_link {
	struct ip_addr remote;
	uint64_t forget_at; /* 0: the entry is free */
	uint64_t used;	    /* last look-up */
	bool no_gso;	    /* UDP_SEGMENT fails on this route */
};

/* All zero is an empty table. */
struct link_table {
	struct carrier_link *links; /* room for LINK_MAX, or NULL while nothing is known */
	unsigned int n;		    /* entries in use so far */
};

/* Returns the facts about the way to that address, or NULL. */
const struct carrier_link *link_find(struct link_table *t, const struct ip_addr *remote,
				     uint64_t now);
/* Notes that segmentation offload fails on the way to that address, if memory allows. */
void link_set_no_gso(struct link_table *t, const struct ip_addr *remote, uint64_t now);
void link_table_free(struct link_table *t);

#endif
