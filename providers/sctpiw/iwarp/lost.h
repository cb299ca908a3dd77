/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The parts of a region's memory that the program has unmapped since the registration. Later
 * mappings there are not the region's. Changes need the locks of all shards, reads the lock of one
 * shard.
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
	struct iw_lost_part *parts; /* sorted; they do not touch each other */
	uint32_t n;
	bool all; /* the whole region: memory was short for the list */
};

void iw_lost_add(struct iw_lost *lost, uint64_t start, uint64_t end);
/* Whether a byte of [start, end) is lost. */
bool iw_lost_touches(const struct iw_lost *lost, uint64_t start, uint64_t end);
/* Empties the list. */
void iw_lost_clear(struct iw_lost *lost);

static inline bool iw_lost_any(const struct iw_lost *lost)
{
	return lost->n || lost->all;
}

#endif
