/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Memory in shapes that several files want; zeroed, and freed with free(). */
#ifndef SCTPIW_UTIL_ALLOC_H
#define SCTPIW_UTIL_ALLOC_H

#include <stddef.h>
#include <stdint.h>

#define ALLOC_LINE 64 /* of a cache, bytes */

static inline size_t alloc_line_up(size_t n)
{
	return (n + ALLOC_LINE - 1) & ~(size_t)(ALLOC_LINE - 1);
}

/* Whole cache lines, at least n bytes. NULL: out of memory. */
void *alloc_lines(size_t n);

/*
 * Of tables whose entries are numbered by a sequence: number i is at i & (size - 1), size is a power of two.
 * Makes one with room for n numbers from first on (at least as many as fit now) in place of old, which is
 * freed; NULL with *size 0: none yet. The *size entries from first on keep their numbers, what is new is
 * zero. n: at most 2^31. NULL: out of memory, and nothing has changed.
 */
void *alloc_grown(void *old, uint32_t *size, size_t entry_len, uint32_t first, uint32_t n);

#endif
