/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory allocators. Free the memory with free(). */
#ifndef SCTPIW_UTIL_ALLOC_H
#define SCTPIW_UTIL_ALLOC_H

#include <stddef.h>
#include <stdint.h>

#define ALLOC_LINE 64 /* bytes of a cache line */

/* Rounds n bytes up to a multiple of the cache line. */
static inline size_t alloc_line_up(size_t n)
{
	return (n + ALLOC_LINE - 1) & ~(size_t)(ALLOC_LINE - 1);
}

/*
 * Allocates n zeroed bytes in whole cache lines. Returns NULL when out of memory. Use this for
 * memory that a shard's data path writes, or that the data paths of all shards read. In a cache
 * line shared with other data, each write to that data by another processor would cost a cache
 * miss.
 */
void *alloc_lines(size_t n);
/* As alloc_lines(), but not zeroed: pages that are never accessed take no memory. */
void *alloc_lines_unset(size_t n);

/*
 * Replaces the table `old` by a larger table. Table entries have consecutive numbers: the entry
 * with number i is at index i & (size - 1), and size is a power of two. The new table has room for
 * n numbers, from first on (at most 2^31). It is not smaller than the old table, and its length is
 * a multiple of the cache line. The *size entries from first on keep their numbers. New entries are
 * zero. Frees `old`, which may be NULL if *size is 0. Returns NULL when out of memory, and changes
 * nothing then.
 */
void *alloc_grown(void *old, uint32_t *size, size_t entry_len, uint32_t first, uint32_t n);

#endif
