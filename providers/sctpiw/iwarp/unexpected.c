/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/unexpected.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

#define TABLE_MIN 16

struct iw_unexpected *iw_unexpected_entry(struct iw_unexpected_table *t, uint32_t index)
{
	uint32_t n = index - t->first + 1;
	struct iw_unexpected *at;

	if (n > t->size) {
		at = alloc_grown(t->at, &t->size, sizeof(*at), t->first,
				 n < TABLE_MIN ? TABLE_MIN : n);
		if (!at)
			return NULL;
		t->at = at;
	}
	return iw_unexpected_at(t, index);
}

enum iw_unexpected_kept iw_unexpected_keep(struct iw_unexpected_table *t, uint32_t index,
					   const struct iw_rx_rec *rec, uint16_t ssn,
					   const uint8_t *payload, size_t budget)
{
	size_t cost = IW_UNEXPECTED_COST + rec->len;
	struct iw_unexpected_segment *seg;
	struct iw_unexpected *m;

	if (t->bytes + cost > budget)
		return IW_UNEXPECTED_NO_BUDGET;
	m = iw_unexpected_entry(t, index);
	seg = m ? malloc(sizeof(*seg) + rec->len) : NULL;
	if (!seg)
		return IW_UNEXPECTED_NO_MEMORY;
	seg->next = NULL;
	seg->rec = *rec;
	seg->ssn = ssn;
	memcpy(seg->data, payload, rec->len);
	if (!iw_unexpected_exists(m))
		t->count++;
	if (m->last)
		m->last->next = seg;
	else
		m->first = seg;
	m->last = seg;
	t->bytes += cost;
	return IW_UNEXPECTED_KEPT;
}

void iw_unexpected_free(struct iw_unexpected *m)
{
	struct iw_unexpected_segment *seg, *next;

	for (seg = m->first; seg; seg = next) {
		next = seg->next;
		free(seg);
	}
	m->first = m->last = NULL;
}

void iw_unexpected_clear(struct iw_unexpected_table *t)
{
	for (uint32_t i = 0; i < t->size; i++)
		iw_unexpected_free(&t->at[i]);
	free(t->at);
	*t = (struct iw_unexpected_table){ .first = t->first };
}
