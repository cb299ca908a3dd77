/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sctp/reasm.h"

#include <errno.h>
#include <stdlib.h>

#include "util/serial.h"

struct fragment {
	struct list_node node;
	uint32_t tsn;
	uint16_t sid;
	uint16_t ssn;
	uint32_t ppid;
	uint8_t flags;
	uint32_t len;
	uint8_t data[];
};

static struct fragment *fragment(struct list_node *n)
{
	return list_entry(n, struct fragment, node);
}

static void drop(struct sctp_reasm *r, struct fragment *f)
{
	list_del(&f->node);
	r->bytes -= f->len;
	r->count--;
	free(f);
}

void sctp_reasm_init(struct sctp_reasm *r)
{
	list_init(&r->fragments);
	r->bytes = 0;
	r->count = 0;
}

void sctp_reasm_clear(struct sctp_reasm *r)
{
	list_for_each_safe(n, &r->fragments)
		drop(r, fragment(n));
}

/* True if `b` continues the message of `a`. `b` must have the next TSN after `a`. */
static bool follows(const struct fragment *a, const struct fragment *b)
{
	return !(a->flags & WIRE_SCTP_DATA_E) && !(b->flags & WIRE_SCTP_DATA_B) &&
	       a->sid == b->sid && ((a->flags ^ b->flags) & WIRE_SCTP_DATA_U) == 0 &&
	       (a->flags & WIRE_SCTP_DATA_U || a->ssn == b->ssn);
}

/* True if `a` ends a message and `b` begins another one. `b` must have the next TSN after `a`. */
static bool separate(const struct fragment *a, const struct fragment *b)
{
	return a->flags & WIRE_SCTP_DATA_E && b->flags & WIRE_SCTP_DATA_B;
}

/* Inserts a copy of the fragment into the list. Returns NULL when out of memory. */
static struct fragment *insert(struct sctp_reasm *r, const struct wire_sctp_data *d)
{
	struct fragment *f = malloc(sizeof(*f) + d->len);
	struct list_node *at = r->fragments.prev;

	if (!f)
		return NULL;
	f->tsn = d->tsn;
	f->sid = d->sid;
	f->ssn = d->ssn;
	f->ppid = d->ppid;
	f->flags = d->flags;
	f->len = d->len;
	memcpy(f->data, d->data, d->len);
	while (at != &r->fragments && serial32_gt(fragment(at)->tsn, d->tsn))
		at = at->prev;
	list_add(at, &f->node); /* inserts f after at */
	r->bytes += d->len;
	r->count++;
	return f;
}

/*
 * Joins the fragments from first to last, including these two, to a complete message. Removes them
 * from the list. Returns NULL when out of memory; the list is unchanged then.
 */
static struct sctp_reasm_message *join(struct sctp_reasm *r, struct fragment *first,
				       struct fragment *last, size_t len)
{
	struct sctp_reasm_message *m = malloc(sizeof(*m) + len);
	struct list_node *n = &first->node;
	struct list_node *end = last->node.next;

	if (!m)
		return NULL;
	m->next = NULL;
	m->sid = first->sid;
	m->ppid = first->ppid;
	m->len = 0;
	while (n != end) {
		struct fragment *f = fragment(n);

		n = n->next;
		memcpy(m->data + m->len, f->data, f->len);
		m->len += f->len;
		drop(r, f);
	}
	return m;
}

int sctp_reasm_add(struct sctp_reasm *r, const struct wire_sctp_data *d, bool next,
		   struct sctp_reasm_message **done)
{
	size_t limit = SCTP_REASM_BYTES + (next ? SCTP_REASM_MESSAGE : 0);
	unsigned int most = SCTP_REASM_FRAGMENTS * (next ? 2 : 1);
	struct fragment *f, *first, *last;
	size_t len = d->len;

	if (r->bytes + d->len > limit || r->count >= most)
		return next ? -EMSGSIZE : -ENOBUFS;
	f = insert(r, d);
	if (!f)
		return -ENOBUFS;
	for (first = f; first->node.prev != &r->fragments; len += first->len) {
		struct fragment *prev = fragment(first->node.prev);

		if (prev->tsn + 1 != first->tsn || separate(prev, first))
			break;
		if (!follows(prev, first))
			return -EPROTO;
		first = prev;
	}
	for (last = f; last->node.next != &r->fragments; len += last->len) {
		struct fragment *behind = fragment(last->node.next);

		if (last->tsn + 1 != behind->tsn || separate(last, behind))
			break;
		if (!follows(last, behind))
			return -EPROTO;
		last = behind;
	}
	if (len > SCTP_REASM_MESSAGE)
		return -EMSGSIZE;
	if (!(first->flags & WIRE_SCTP_DATA_B) || !(last->flags & WIRE_SCTP_DATA_E))
		return 0;
	*done = join(r, first, last, len);
	if (!*done) {
		drop(r, f);
		return -ENOBUFS;
	}
	return 1;
}
