/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A source of random bytes, which functions get as an argument. sctpiw fills the pool from
 * getrandom(). A test fills the pool from a seeded generator, so that a failed run can be repeated.
 * Guarded by the owner's lock.
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
	size_t used; /* number of used bytes of the pool; initially sizeof(pool) */
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

/*
 * Returns a random number. The byte order is fixed, so that a seed gives the same numbers on every
 * processor.
 */
static inline uint32_t random_u32(struct random_source *r)
{
	uint8_t bytes[4];

	random_bytes(r, bytes, sizeof(bytes));
	return get_le32(bytes);
}

#endif
