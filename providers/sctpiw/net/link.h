/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a carrier has learnt about the way to a peer. It is true of a route, and so it is kept for each
 * destination and not for the port: one interface that cannot segment must not slow down the others. The
 * table is bounded; the link that was used longest ago makes room. Shard lock.
 */
#ifndef SCTPIW_NET_LINK_H
#define SCTPIW_NET_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "util/addr.h"
#include "util/time.h"

#define LINK_MAX 64u

/* A route may change: what was learnt is forgotten after so long, ns. */
#define LINK_LIFE (600 * NSEC_PER_SEC)

struct carrier_link {
	struct ip_addr remote;
	uint64_t forget_at; /* 0: the entry is free */
	uint64_t used;	    /* when it was looked up last */
	bool no_gso;	    /* UDP_SEGMENT fails on this route */
};

/* All zero is an empty table. */
struct link_table {
	struct carrier_link *links; /* room for LINK_MAX, or NULL while nothing was learnt */
	unsigned int n;		    /* entries that were used so far */
};

/* What is known of the way to that address; NULL: nothing. */
const struct carrier_link *link_find(struct link_table *t, const struct ip_addr *remote,
				     uint64_t now);
/* Segmentation offload fails on the way to that address. Without memory it is learnt anew each time. */
void link_set_no_gso(struct link_table *t, const struct ip_addr *remote, uint64_t now);
void link_table_free(struct link_table *t);

#endif
