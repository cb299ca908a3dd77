/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Randomness as an argument. The product fills the pool from getrandom(), a test from a
 * generator with a seed, so that a run that failed can be repeated. Guarded by the owner's lock.
 */
#ifndef SCTPIW_UTIL_RANDOM_H
#define SCTPIW_UTIL_RANDOM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/bytes.h"

struct random_source {
	void (*fill)(struct random_source *self, void *buf, size_t len);
	uint8_t pool[256];
	size_t used; /* bytes of pool given out; sizeof(pool) at first */
};

/* Writes len random bytes, at most sizeof(pool). */
static inline void random_bytes(struct random_source *r, void *buf, size_t len)
{
	if (sizeof(r->pool) - r->used < len) {
		r->fill(r, r->pool, sizeof(r->pool));
		r->used = 0;
	}
	memcpy(buf, r->pool + r->used, len);
	memset(r->pool + r->used, 0, len);
	r->used += len;
}

/* The bytes are read in one order everywhere, so that a seed means the same on each processor. */
static inline uint32_t random_u32(struct random_source *r)
{
	uint8_t bytes[4];

	random_bytes(r, bytes, sizeof(bytes));
	return get_le32(bytes);
}

#endif
