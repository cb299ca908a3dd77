/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "net/link.h"

#include <stdlib.h>

static struct carrier_link *find(struct link_table *t, const struct ip_addr *remote, uint64_t now)
{
	for (unsigned int i = 0; i < t->n; i++) {
		struct carrier_link *l = &t->links[i];

		if (l->forget_at > now && ip_addr_equal(&l->remote, remote))
			return l;
	}
	return NULL;
}

const struct carrier_link *link_find(struct link_table *t, const struct ip_addr *remote,
				     uint64_t now)
{
	struct carrier_link *l = t->links ? find(t, remote, now) : NULL;

	if (l)
		l->used = now;
	return l;
}

/* Returns a free entry, or else the least recently used one. */
static struct carrier_link *make_room(struct link_table *t, uint64_t now)
{
	struct carrier_link *oldest = &t->links[0];

	for (unsigned int i = 0; i < t->n; i++) {
		struct carrier_link *l = &t->links[i];

		if (l->forget_at <= now)
			return l;
		if (l->used < oldest->used)
			oldest = l;
	}
	return t->n < LINK_MAX ? &t->links[t->n++] : oldest;
}

void link_set_no_gso(struct link_table *t, const struct ip_addr *remote, uint64_t now)
{
	struct carrier_link *l;

	if (!t->links)
		t->links = calloc(LINK_MAX, sizeof(*t->links));
	if (!t->links)
		return;
	l = find(t, remote, now);
	if (!l)
		l = make_room(t, now);
	*l = (struct carrier_link){
		.remote = *remote,
		.forget_at = now + LINK_LIFE,
		.used = now,
		.no_gso = true,
	};
}

void link_table_free(struct link_table *t)
{
	free(t->links);
	*t = (struct link_table){ .links = NULL };
}
