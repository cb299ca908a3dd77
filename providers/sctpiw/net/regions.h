/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The memory regions that the program has registered, except regions with on-demand paging. The
 * hooks of munmap() and the like search this list without a shard lock. The list has its own lock;
 * no other lock is taken while that lock is held.
 */
#ifndef SCTPIW_NET_REGIONS_H
#define SCTPIW_NET_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

struct regions_entry {
	struct regions_entry *left, *right;
	uint64_t start, end;
	uint64_t furthest; /* largest end in this subtree; 0: not in the tree */
};

/* Adds an entry, which must be all zero or have been removed. */
void regions_add(struct regions_entry *e, uint64_t addr, uint64_t len);
/* Removes an entry. No effect if the entry was not added. */
void regions_remove(struct regions_entry *e);
/*
 * True if a region overlaps [start, end). Returns false without a search in a signal handler that
 * has interrupted a function of this file, since that function may hold the lock.
 */
bool regions_touch(uint64_t start, uint64_t end);

/* Call these before a fork(), and after it in the parent and in the child. */
void regions_fork_prepare(void);
void regions_fork_done(void);

#endif
