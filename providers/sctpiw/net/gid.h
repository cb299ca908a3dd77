/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The port's GID table: a slot for each address of the host, an IPv4 one as ::ffff:a.b.c.d. The caller's lock
 * guards the table.
 *
 * Programs take the first GID or the last one, so both are the address that reaches furthest: it stands in
 * slot 0, and once more in the last slot. Loopback addresses are in the table only if there were no others when
 * they came.
 *
 * Programs keep indexes, so no entry ever moves: an address that goes away leaves an empty slot, and gets it
 * back when it returns, unless another one has taken it. A new address takes an empty slot between the ends. It
 * takes an end only if that is empty, and if it reaches as far as the address that was there.
 */
#ifndef SCTPIW_NET_GID_H
#define SCTPIW_NET_GID_H

#include <stdbool.h>
#include <stdint.h>

#include "util/addr.h"

#define GID_TABLE_LEN 128 /* slots; never more or fewer */

struct gid_entry {
	struct ip_addr ip; /* its bytes are the GID */
	unsigned int ifindex;
	unsigned int rank; /* of several new entries the one with the smaller rank comes first */
	bool far;     /* of new entries: it leads beyond the link, and is not about to go away */
	bool running; /* of new entries: so is its interface */
	bool valid;   /* false: the slot is empty, and ip and ifindex are those that it had last */
};

struct gid_table {
	struct gid_entry slot[GID_TABLE_LEN];
};

/*
 * Brings the table up to the n entries of `now`, which it sorts. What does not fit is left out, and counted in
 * *left_out. Returns whether anything has changed.
 */
bool gid_table_update(struct gid_table *t, struct gid_entry *now, unsigned int n,
		      unsigned int *left_out);

/* The first entry that is valid, or NULL. */
const struct gid_entry *gid_table_first(const struct gid_table *t);

/* The index of the GID, on that interface unless ifindex is 0; or -ENOENT. */
int gid_table_find(const struct gid_table *t, const uint8_t gid[16], unsigned int ifindex);

#endif
