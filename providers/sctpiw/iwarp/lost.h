/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The parts of a region's memory that the program has unmapped since the registration. If the
 * program maps other memory at these addresses, that memory does not belong to the region. Reading
 * needs the lock of one shard, and changing needs the locks of all shards.
 */
#ifndef SCTPIW_IWARP_LOST_H
#define SCTPIW_IWARP_LOST_H

#include <stdbool.h>
#include <stdint.h>

struct iw_lost_part {
	uint64_t start, end; /* addresses; end is excluded */
};

/* A zeroed list is empty. */
struct iw_lost {
	struct iw_lost_part *parts; /* sorted; parts neither overlap nor touch */
	uint32_t n;
	bool all; /* treat the whole region as lost: no memory was available for the list */
};

void iw_lost_add(struct iw_lost *lost, uint64_t start, uint64_t end);
/* True if a byte of [start, end) is lost. */
bool iw_lost_touches(const struct iw_lost *lost, uint64_t start, uint64_t end);
void iw_lost_clear(struct iw_lost *lost);

static inline bool iw_lost_any(const struct iw_lost *lost)
{
	return lost->n || lost->all;
}

#endif
