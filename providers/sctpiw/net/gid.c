/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "net/gid.h"

#include <errno.h>
#include <stdlib.h>

#define LAST (GID_TABLE_LEN - 1)

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

/* Returns the first slot that has the address of e, or is empty and had it last; or NULL. */
static struct gid_entry *slot_of(struct gid_table *t, const struct gid_entry *e)
{
	for (unsigned int i = 0; i < GID_TABLE_LEN; i++)
		if (t->slot[i].ifindex && is_same(&t->slot[i], e))
			return &t->slot[i];
	return NULL;
}

/*
 * True if the address may take `end`, the first or last slot. The slot must be empty, and its last
 * address, if any, must not reach further.
 */
static bool suits_end(const struct gid_entry *end, const struct gid_entry *e)
{
	return !end->valid && (!end->ifindex || e->rank <= end->rank);
}

/* Returns an empty slot in [from, LAST), or NULL. */
static struct gid_entry *empty_slot(struct gid_table *t, unsigned int from)
{
	for (unsigned int i = from; i < LAST; i++)
		if (!t->slot[i].valid)
			return &t->slot[i];
	return NULL;
}

/* Returns the slot for a new address, or NULL if the table is full. */
static struct gid_entry *slot_for(struct gid_table *t, const struct gid_entry *e)
{
	struct gid_entry *slot = NULL;
	unsigned int first = 0;

	if (suits_end(&t->slot[0], e))
		return &t->slot[0];
	while (first < LAST && !t->slot[first].valid)
		first++;
	slot = empty_slot(t, first + 1);
	if (!slot)
		slot = empty_slot(t, 1);
	return slot || t->slot[0].valid ? slot : &t->slot[0];
}

/* Copies the address that reaches furthest to the last slot. Returns true if the slot changed. */
static bool fill_last(struct gid_table *t)
{
	struct gid_entry *best = NULL;

	for (unsigned int i = 0; i < LAST; i++) {
		struct gid_entry *e = &t->slot[i];

		if (e->valid && (!best || e->rank < best->rank))
			best = e;
	}
	if (!best || !suits_end(&t->slot[LAST], best))
		return false;
	t->slot[LAST] = *best;
	return true;
}

/*
 * Removes loopback addresses from the n entries of `now` if the host also has other addresses.
 * Loopback addresses that are in the table stay, since programs may have seen them. Returns the
 * number of entries that remain.
 */
static unsigned int leave_out_loopback(struct gid_table *t, struct gid_entry *now, unsigned int n)
{
	unsigned int others = 0, left = 0;

	for (unsigned int i = 0; i < n; i++)
		others += !ip_addr_is_loopback(&now[i].ip);
	if (!others)
		return n;
	for (unsigned int i = 0; i < n; i++) {
		const struct gid_entry *slot = slot_of(t, &now[i]);

		if (!ip_addr_is_loopback(&now[i].ip) || (slot && slot->valid))
			now[left++] = now[i];
	}
	return left;
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

/* Returns addresses to the empty slots that they had before. Returns true if a slot was filled. */
static bool put_back(struct gid_table *t, const struct gid_entry *now, unsigned int n)
{
	bool changed = false;

	for (unsigned int i = 0; i < n; i++)
		for (unsigned int k = 0; k < GID_TABLE_LEN; k++) {
			struct gid_entry *slot = &t->slot[k];

			if (!slot->valid && slot->ifindex && is_same(slot, &now[i])) {
				slot->valid = true;
				changed = true;
			}
		}
	return changed;
}

/* Addresses that had a slot before get it back first, so that no new address takes their slot. */
bool gid_table_update(struct gid_table *t, struct gid_entry *now, unsigned int n,
		      unsigned int *left_out)
{
	bool changed = drop_gone(t, now, n);

	*left_out = 0;
	n = leave_out_loopback(t, now, n);
	if (n)
		qsort(now, n, sizeof(*now), compare);
	changed |= put_back(t, now, n);
	for (unsigned int i = 0; i < n; i++) {
		const struct gid_entry *has = slot_of(t, &now[i]);
		struct gid_entry *slot;

		if (has && has->valid)
			continue;
		slot = slot_for(t, &now[i]);
		if (!slot) {
			++*left_out;
			continue;
		}
		*slot = now[i];
		slot->valid = true;
		changed = true;
	}
	return fill_last(t) || changed;
}

const struct gid_entry *gid_table_first(const struct gid_table *t)
{
	for (unsigned int i = 0; i < GID_TABLE_LEN; i++)
		if (t->slot[i].valid)
			return &t->slot[i];
	return NULL;
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
