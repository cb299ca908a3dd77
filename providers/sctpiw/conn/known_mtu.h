/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the routes to peers take, as the host has said. To ask it takes several system calls, and programs that
 * connect ask for the same route again and again. The table is bounded: two routes that share a place are asked for
 * in turn. Shard lock.
 */
#ifndef SCTPIW_CONN_KNOWN_MTU_H
#define SCTPIW_CONN_KNOWN_MTU_H

#include <stdint.h>

#include "util/addr.h"
#include "util/time.h"

/* ns. For so long the host is not asked again. */
#define KNOWN_MTU_AGE NSEC_PER_SEC
#define KNOWN_MTUS 64u

struct conn;

/* All zero is an empty table. */
struct known_mtus {
	struct known_mtu {
		struct ip_addr local, remote;
		uint32_t mtu;	/* bytes */
		uint64_t until; /* ns; 0: nothing is known */
	} at[KNOWN_MTUS];
};

/* The MTU of the route to that address, bytes of whole IP packets; 1280 if the host does not know one. */
uint32_t known_mtu(struct conn *c, const struct path_addr *to);

#endif
