/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * MTUs of routes, as reported by the host. Each query takes several system calls, and programs that
 * connect need the same route repeatedly. The table is bounded: routes in the same slot replace
 * each other. Shard lock.
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

/* All zero is an empty table. */
struct known_mtus {
	struct known_mtu {
		struct ip_addr local, remote;
		uint32_t mtu;	/* bytes */
		uint64_t until; /* ns; 0: entry is empty */
	} at[KNOWN_MTUS];
};

/* Returns the MTU of the route, in bytes of whole IP packets; 1280 if the host has none. */
uint32_t known_mtu(struct conn *c, const struct path_addr *to);

#endif
