/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory in shapes that several files want, which is freed with free(). */
#ifndef SCTPIW_UTIL_ALLOC_H
#define SCTPIW_UTIL_ALLOC_H

#include <stddef.h>
#include <stdint.h>

#define ALLOC_LINE 64 /* bytes of a cache line */

/* Rounds n bytes up to whole cache lines. */
static inline size_t alloc_line_up(size_t n)
{
	return (n + ALLOC_LINE - 1) & ~(size_t)(ALLOC_LINE - 1);
}

/*
 * n zeroed bytes in whole cache lines. NULL: out of memory. For what a shard's data path writes, and for what the data
 * path of all shards reads: a neighbour that another processor writes would take the line away.
 */
void *alloc_lines(size_t n);
/* As alloc_lines(), but not zeroed: pages that are never touched take no memory. */
void *alloc_lines_unset(size_t n);

/*
 * Makes a larger table in place of old, whose entries have consecutive numbers: number i is at i &
 * (size - 1), and size is a power of two. The new table has room for n numbers from first on (at
 * most 2^31), and for no fewer than the old one, in whole cache lines. The *size entries from first
 * on keep their numbers, and new ones are zero; old is freed. old may be NULL if *size is 0. Returns
 * NULL when out of memory; then nothing has changed.
 */
void *alloc_grown(void *old, uint32_t *size, size_t entry_len, uint32_t first, uint32_t n);

#endif
