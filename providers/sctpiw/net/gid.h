/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The port's GID table: a slot for each address of the host. An IPv4 address is ::ffff:a.b.c.d. The
 * caller's lock guards the table.
 *
 * Programs use the first GID or the last one. So both are the address that reaches furthest, which
 * is in slot 0 and once more in the last slot. Loopback addresses enter the table only if there are
 * no others.
 *
 * Programs keep indexes, so no entry ever moves. An address that goes away leaves an empty slot. It
 * gets the slot back when it returns, unless another address has taken the slot. A new address
 * takes an empty slot between the ends. It takes an end only if the end is empty, and the last
 * address there did not reach further.
 */
#ifndef SCTPIW_NET_GID_H
#define SCTPIW_NET_GID_H

#include <stdbool.h>
#include <stdint.h>

#include "util/addr.h"

#define GID_TABLE_LEN 128 /* slots, a fixed number */

struct gid_entry {
	struct ip_addr ip; /* its bytes are the GID */
	unsigned int ifindex;
	unsigned int rank; /* of new entries: smaller ranks come first */
	bool far;	   /* of new entries: leads beyond the link, and is not about to go away */
	bool running;	   /* of new entries: its interface is running */
	bool valid;	   /* if not, the slot is empty, with its last ip and ifindex */
};

struct gid_table {
	struct gid_entry slot[GID_TABLE_LEN];
};

/*
 * Updates the table to the n entries of `now`, which it sorts. Entries that do not fit are left
 * out, and counted in *left_out. Returns true if the table has changed.
 */
bool gid_table_update(struct gid_table *t, struct gid_entry *now, unsigned int n,
		      unsigned int *left_out);

/* Returns the first valid entry, or NULL. */
const struct gid_entry *gid_table_first(const struct gid_table *t);

/* Returns the index of the GID, on that interface unless ifindex is 0, or -ENOENT. */
int gid_table_find(const struct gid_table *t, const uint8_t gid[16], unsigned int ifindex);

#endif
