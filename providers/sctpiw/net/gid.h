/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The port's GID table: a slot for each address of the host. IPv4 addresses have the form
 * ::ffff:a.b.c.d. A lock of the caller protects the table.
 *
 * Programs use the first GID or the last GID of the table. So the address that reaches furthest is
 * in slot 0, and again in the last slot. Loopback addresses are added only if the host has no other
 * address.
 *
 * Programs store indexes, so no entry ever moves. An address that is removed from the host leaves
 * an empty slot. If the address returns, it gets this slot back, unless another address has taken
 * the slot meanwhile. A new address takes an empty slot other than the first and last. It takes the
 * first or last slot only if that slot is empty, and its previous address did not reach further.
 */
#ifndef SCTPIW_NET_GID_H
#define SCTPIW_NET_GID_H

#include <stdbool.h>
#include <stdint.h>

#include "util/addr.h"

#define GID_TABLE_LEN 128 /* slots, a fixed number */

struct gid_entry {
	struct ip_addr ip; /* its 16 bytes are the GID */
	unsigned int ifindex;
	unsigned int rank; /* only for new entries: smaller ranks come first */
	/* only for new entries: reaches beyond the link, and is not deprecated */
	bool far;
	bool running; /* only for new entries: the interface is running */
	/* The slot is in use. If it is not, ip and ifindex are those of its last address. */
	bool valid;
};

struct gid_table {
	struct gid_entry slot[GID_TABLE_LEN];
};

/*
 * Replaces the table's addresses by the n entries of `now`, which this function sorts. *left_out
 * counts entries for which the table has no room. Returns true if the table has changed.
 */
bool gid_table_update(struct gid_table *t, struct gid_entry *now, unsigned int n,
		      unsigned int *left_out);

/* Returns the first valid entry, or NULL. */
const struct gid_entry *gid_table_first(const struct gid_table *t);

/* Returns the lowest index of this GID, or -ENOENT. ifindex, unless 0, must match too. */
int gid_table_find(const struct gid_table *t, const uint8_t gid[16], unsigned int ifindex);

#endif
