/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Memory that the program has registered, except regions with on-demand paging. The hooks on
 * unmapping read this list without a shard lock. The list has its own lock, and no other lock is
 * taken under that one.
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

/* Adds an entry that is zeroed, or was removed. */
void regions_add(struct regions_entry *e, uint64_t addr, uint64_t len);
/* Removes an entry, which need not have been added. */
void regions_remove(struct regions_entry *e);
/*
 * True if a byte of [start, end) is in a region. Also returns false in a signal handler that has
 * interrupted a function of this file.
 */
bool regions_touch(uint64_t start, uint64_t end);

/* Call these before a fork(), and after it in the parent and in the child. */
void regions_fork_prepare(void);
void regions_fork_done(void);

#endif
