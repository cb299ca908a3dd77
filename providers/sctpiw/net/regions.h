/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The memory that the program has registered, readable without the lock of a shard, for the hooks
 * on unmapping. Regions with on-demand paging are left out. This list has a lock of its own; no
 * other lock is taken under that lock.
 */
#ifndef SCTPIW_NET_REGIONS_H
#define SCTPIW_NET_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

struct regions_entry {
	struct regions_entry *left, *right;
	uint64_t start, end;
	uint64_t furthest; /* the last end in this subtree; 0: the entry is in no tree */
};

/* The entry is zeroed, or was removed. */
void regions_add(struct regions_entry *e, uint64_t addr, uint64_t len);
/* Removing an entry that was never added is allowed. */
void regions_remove(struct regions_entry *e);
/*
 * Whether a byte of [start, end) is in a region. Also returns false in a signal handler that has
 * interrupted a function of this file.
 */
bool regions_touch(uint64_t start, uint64_t end);

/* Before a fork(), and after it in parent and child. */
void regions_fork_prepare(void);
void regions_fork_done(void);

#endif
