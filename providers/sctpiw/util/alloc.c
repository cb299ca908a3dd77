/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/alloc.h"

#include <stdlib.h>
#include <string.h>

void *alloc_lines_unset(size_t n)
{
	return n <= SIZE_MAX - ALLOC_LINE ? aligned_alloc(ALLOC_LINE, alloc_line_up(n)) : NULL;
}

void *alloc_lines(size_t n)
{
	void *p = alloc_lines_unset(n);

	return p ? memset(p, 0, n) : NULL;
}

void *alloc_grown(void *old, uint32_t *size, size_t entry_len, uint32_t first, uint32_t n)
{
	uint32_t grown = *size ? *size : 1;
	const uint8_t *from = old;
	uint8_t *to;
	size_t len;

	while (grown < n)
		grown *= 2;
	to = __builtin_mul_overflow(grown, entry_len, &len) ? NULL : alloc_lines(len);
	if (!to)
		return NULL;
	for (uint32_t i = first; i - first < *size; i++)
		memcpy(to + (i & (grown - 1)) * entry_len, from + (i & (*size - 1)) * entry_len,
		       entry_len);
	free(old);
	*size = grown;
	return to;
}
