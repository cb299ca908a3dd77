/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Where the memory is that the program has registered, for those who must know without the lock of a shard: what watches
 * the program unmap memory. Regions with on-demand paging are not among them. It has a lock of its own, which no other
 * lock is waited for under.
 */
#ifndef SCTPIW_NET_REGIONS_H
#define SCTPIW_NET_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

struct regions_entry {
	struct regions_entry *left, *right;
	uint64_t start, end;
	uint64_t furthest; /* the last end of it and all below it; 0: it is not among the regions */
};

/* The entry is zeroed, or was removed. */
void regions_add(struct regions_entry *e, uint64_t addr, uint64_t len);
/* An entry that was never added may be removed, too. */
void regions_remove(struct regions_entry *e);
/*
 * Whether a byte of [start, end) is in a region. false as well in a signal handler that has interrupted a function of
 * this file.
 */
bool regions_touch(uint64_t start, uint64_t end);

/* In front of a fork(), and behind it in parent and child. */
void regions_fork_prepare(void);
void regions_fork_done(void);

#endif
