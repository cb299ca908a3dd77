/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Allocators that several files use. Free their memory with free(). */
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
 * Returns n zeroed bytes in whole cache lines, or NULL. Use it for memory that a shard's data path
 * writes, or that the data paths of all shards read. Otherwise another processor's write to a
 * neighbour would invalidate the cache line.
 */
void *alloc_lines(size_t n);
/* As alloc_lines(), but not zeroed. Pages that are never touched take no memory. */
void *alloc_lines_unset(size_t n);

/*
 * Replaces the table old by a larger one. Entries have consecutive numbers: number i is at
 * i & (size - 1), and size is a power of two. The new table has room for n numbers from first on
 * (at most 2^31), and is not smaller than the old one; its length is whole cache lines. The *size
 * entries from first on keep their numbers; new entries are zero. Frees old, which may be NULL if
 * *size is 0. Returns NULL when out of memory; nothing has changed then.
 */
void *alloc_grown(void *old, uint32_t *size, size_t entry_len, uint32_t first, uint32_t n);

#endif
