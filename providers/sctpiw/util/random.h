/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Randomness as an argument: the engine fills from getrandom(), a test from a
 * seeded generator, so that a failing run can be replayed.
 */
#ifndef SCTPIW_UTIL_RANDOM_H
#define SCTPIW_UTIL_RANDOM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct random_source {
	void (*fill)(struct random_source *self, void *buf, size_t len);
	uint8_t pool[256];
	size_t used; /* bytes of pool given out; start with sizeof(pool) */
};

/* len at most sizeof(pool) */
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

static inline uint32_t random_u32(struct random_source *r)
{
	uint32_t v;

	random_bytes(r, &v, sizeof(v));
	return v;
}

#endif
