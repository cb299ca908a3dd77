/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "net/gid.h"

#include <errno.h>
#include <stdlib.h>

static bool is_same(const struct gid_entry *a, const struct gid_entry *b)
{
	return a->ifindex == b->ifindex && ip_addr_equal(&a->ip, &b->ip);
}

static int compare(const void *x, const void *y)
{
	const struct gid_entry *a = x, *b = y;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->ifindex != b->ifindex)
		return a->ifindex < b->ifindex ? -1 : 1;
	return memcmp(a->ip.b, b->ip.b, sizeof(a->ip.b));
}

/* The slot that has this address, or had it last; or NULL. */
static struct gid_entry *slot_of(struct gid_table *t, const struct gid_entry *e)
{
	for (unsigned int i = 0; i < GID_TABLE_LEN; i++)
		if (t->slot[i].ifindex && is_same(&t->slot[i], e))
			return &t->slot[i];
	return NULL;
}

static struct gid_entry *empty_slot(struct gid_table *t)
{
	for (unsigned int i = 0; i < GID_TABLE_LEN; i++)
		if (!t->slot[i].valid)
			return &t->slot[i];
	return NULL;
}

static bool drop_gone(struct gid_table *t, const struct gid_entry *now, unsigned int n)
{
	bool changed = false;

	for (unsigned int i = 0; i < GID_TABLE_LEN; i++) {
		unsigned int k = 0;

		if (!t->slot[i].valid)
			continue;
		while (k < n && !is_same(&t->slot[i], &now[k]))
			k++;
		if (k == n) {
			t->slot[i].valid = false;
			changed = true;
		}
	}
	return changed;
}

/* Addresses that have a slot are served first, so that no new address takes it. */
bool gid_table_update(struct gid_table *t, struct gid_entry *now, unsigned int n,
		      unsigned int *left_out)
{
	bool changed = drop_gone(t, now, n);

	*left_out = 0;
	if (n)
		qsort(now, n, sizeof(*now), compare);
	for (unsigned int i = 0; i < n; i++) {
		struct gid_entry *slot = slot_of(t, &now[i]);

		now[i].valid = slot != NULL;
		if (slot && !slot->valid) {
			slot->valid = true;
			changed = true;
		}
	}
	for (unsigned int i = 0; i < n; i++) {
		struct gid_entry *slot;

		if (now[i].valid || slot_of(t, &now[i]))
			continue;
		slot = empty_slot(t);
		if (!slot) {
			++*left_out;
			continue;
		}
		*slot = now[i];
		slot->valid = true;
		changed = true;
	}
	return changed;
}

int gid_table_find(const struct gid_table *t, const uint8_t gid[16], unsigned int ifindex)
{
	for (unsigned int i = 0; i < GID_TABLE_LEN; i++) {
		const struct gid_entry *e = &t->slot[i];

		if (e->valid && !memcmp(e->ip.b, gid, 16) && (!ifindex || e->ifindex == ifindex))
			return (int)i;
	}
	return -ENOENT;
}
