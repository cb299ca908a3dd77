/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/table.h"

#include <errno.h>
#include <stdlib.h>

#include "util/alloc.h"

#define TABLE_MIN 64

static void put(struct iw_table_slot *slots, uint32_t mask, uint32_t key, void *value)
{
	uint32_t i = key & mask;

	while (slots[i].value)
		i = (i + 1) & mask;
	slots[i].key = key;
	slots[i].value = value;
}

static int grow(struct iw_table *t)
{
	uint32_t size = t->slots ? (t->mask + 1) * 2 : TABLE_MIN;
	struct iw_table_slot *slots = alloc_lines(size * sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; t->slots && i <= t->mask; i++)
		if (t->slots[i].value)
			put(slots, size - 1, t->slots[i].key, t->slots[i].value);
	free(t->slots);
	t->slots = slots;
	t->mask = size - 1;
	return 0;
}

int iw_table_insert(struct iw_table *t, uint32_t key, void *value)
{
	if (!t->slots || t->count >= (t->mask + 1) / 2) {
		int err = grow(t);

		if (err)
			return err;
	}
	put(t->slots, t->mask, key, value);
	t->count++;
	return 0;
}

void iw_table_remove(struct iw_table *t, uint32_t key)
{
	uint32_t hole, i;

	if (!iw_table_find(t, key))
		return;
	for (hole = key & t->mask; t->slots[hole].key != key; hole = (hole + 1) & t->mask)
		;
	/* Move later entries into the hole, unless the hole precedes their hash position. */
	for (i = (hole + 1) & t->mask; t->slots[i].value; i = (i + 1) & t->mask) {
		uint32_t home = t->slots[i].key & t->mask;

		if (((i - home) & t->mask) >= ((i - hole) & t->mask)) {
			t->slots[hole] = t->slots[i];
			hole = i;
		}
	}
	t->slots[hole].value = NULL;
	t->count--;
}

void iw_table_fini(struct iw_table *t)
{
	free(t->slots);
	t->slots = NULL;
	t->count = 0;
}
