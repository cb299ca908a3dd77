/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A cache of the MTUs of routes. A query to the host takes several system calls, and programs that
 * connect often use the same route. The cache has a fixed size: routes that hash to the same slot
 * replace each other. Callers hold the shard's lock.
 */
#ifndef SCTPIW_CONN_KNOWN_MTU_H
#define SCTPIW_CONN_KNOWN_MTU_H

#include <stdint.h>

#include "util/addr.h"
#include "util/time.h"

/* Lifetime of an entry, ns. */
#define KNOWN_MTU_AGE NSEC_PER_SEC
#define KNOWN_MTUS 64u

struct conn;

/* A zeroed struct is an empty cache. */
struct known_mtus {
	struct known_mtu {
		struct ip_addr local, remote;
		uint32_t mtu;	/* bytes */
		uint64_t until; /* ns; 0: entry is empty */
	} at[KNOWN_MTUS];
};

/*
 * Returns the MTU of the route: the maximum length of its IP packets in bytes. Returns 1280 if the
 * host has no route.
 */
uint32_t known_mtu(struct conn *c, const struct path_addr *to);

#endif
