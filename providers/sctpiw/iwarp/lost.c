/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/lost.h"

#include <stdlib.h>
#include <string.h>

/* Returns the index of the first part whose end is at or above the address. */
static uint32_t first_at(const struct iw_lost *lost, uint64_t addr)
{
	uint32_t low = 0, high = lost->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (lost->parts[middle].end < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void iw_lost_add(struct iw_lost *lost, uint64_t start, uint64_t end)
{
	uint32_t i = first_at(lost, start), behind = i;
	struct iw_lost_part *parts;

	/* Merge the new part with all parts that it touches. */
	for (; behind < lost->n && lost->parts[behind].start <= end; behind++) {
		if (lost->parts[behind].start < start)
			start = lost->parts[behind].start;
		if (lost->parts[behind].end > end)
			end = lost->parts[behind].end;
	}
	parts = realloc(lost->parts, (lost->n + 1ul) * sizeof(*parts));
	if (!parts) {
		lost->all = true;
		return;
	}
	memmove(&parts[i + 1], &parts[behind], (lost->n - behind) * sizeof(*parts));
	parts[i] = (struct iw_lost_part){ start, end };
	lost->parts = parts;
	lost->n += i + 1 - behind;
}

bool iw_lost_touches(const struct iw_lost *lost, uint64_t start, uint64_t end)
{
	uint32_t i = first_at(lost, start + 1);

	return lost->all || (i < lost->n && lost->parts[i].start < end);
}

void iw_lost_clear(struct iw_lost *lost)
{
	free(lost->parts);
	*lost = (struct iw_lost){ 0 };
}
