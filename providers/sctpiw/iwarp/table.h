/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Hash table of objects by 32-bit key: open addressing with linear probing. The hash is the key's
 * low bits, because keys are random or consecutive. The table is at most half full, so each lookup
 * ends. Needs the shard's lock.
 */
#ifndef SCTPIW_IWARP_TABLE_H
#define SCTPIW_IWARP_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct iw_table_slot {
	uint32_t key;
	void *value; /* NULL: empty */
};

/* A zeroed table is empty. */
struct iw_table {
	struct iw_table_slot *slots;
	uint32_t mask; /* valid with slots */
	uint32_t count;
};

static inline void *iw_table_find(const struct iw_table *t, uint32_t key)
{
	if (!t->slots)
		return NULL;
	for (uint32_t i = key & t->mask; t->slots[i].value; i = (i + 1) & t->mask)
		if (t->slots[i].key == key)
			return t->slots[i].value;
	return NULL;
}

/* Inserts a new key; value is not NULL. Returns 0 or -ENOMEM. */
int iw_table_insert(struct iw_table *t, uint32_t key, void *value);
void iw_table_remove(struct iw_table *t, uint32_t key);
void iw_table_fini(struct iw_table *t);

#endif
