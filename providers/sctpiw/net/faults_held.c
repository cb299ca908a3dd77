/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "net/faults_held.h"

#include <stdlib.h>

#include "util/time.h"

static struct faults_held_packet *entry(const struct list_node *node)
{
	return (struct faults_held_packet *)(uintptr_t)node;
}

void faults_held_init(struct faults_held *h)
{
	list_init(&h->due);
	list_init(&h->overtaking);
	h->bytes = 0;
}

static size_t cost(const struct faults_held_packet *held)
{
	return sizeof(*held) + held->p.len;
}

void faults_held_free(struct faults_held *h, struct faults_held_packet *held)
{
	list_del(&held->node);
	h->bytes -= cost(held);
	free(held);
}

static void drop(struct faults_held *h, struct list_node *list, const struct endpoint *ep)
{
	list_for_each_safe(node, list) {
		if (!ep || entry(node)->p.ep == ep)
			faults_held_free(h, entry(node));
	}
}

void faults_held_drop(struct faults_held *h, const struct endpoint *ep)
{
	drop(h, &h->due, ep);
	drop(h, &h->overtaking, ep);
}

/* Inserts a packet by time. Packets that are due at the same time keep their order. */
static void insert(struct list_node *list, struct faults_held_packet *held)
{
	struct list_node *before = list->prev;

	while (before != list && entry(before)->due > held->due)
		before = before->prev;
	list_insert_between(&held->node, before, before->next);
}

bool faults_held_add(struct faults_held *h, const struct faults_packet *p, uint32_t rule,
		     uint64_t due, uint64_t behind)
{
	struct faults_held_packet *held;

	if (h->bytes + sizeof(*held) + p->len > FAULTS_HELD_MAX)
		return false;
	held = malloc(sizeof(*held) + p->len);
	if (!held)
		return false;
	if (!faults_packet_copy(p, held->bytes)) {
		free(held);
		return false;
	}
	held->due = due;
	held->behind = behind;
	held->rule = rule;
	held->p = *p;
	held->p.data = held->bytes;
	held->p.refs = NULL;
	held->p.n_refs = 0;
	h->bytes += cost(held);
	insert(behind ? &h->overtaking : &h->due, held);
	return true;
}

void faults_held_again(struct faults_held *h, struct faults_held_packet *held, uint64_t due)
{
	held->due = due;
	insert(&h->due, held);
}

static void make_due(struct faults_held *h, struct faults_held_packet *held, uint64_t now)
{
	list_del(&held->node);
	held->behind = 0;
	faults_held_again(h, held, now);
}

void faults_held_overtake(struct faults_held *h, const struct faults_packet *p, uint64_t now)
{
	list_for_each_safe(node, &h->overtaking) {
		struct faults_held_packet *held = entry(node);

		if (held->p.ep == p->ep && held->p.out == p->out && !--held->behind)
			make_due(h, held, now);
	}
}

void faults_held_release(struct faults_held *h, uint32_t rule, uint64_t now)
{
	struct list_node mine;

	list_init(&mine);
	list_for_each_safe(node, &h->due) {
		if (rule && entry(node)->rule != rule)
			continue;
		list_del(node);
		list_add_tail(&mine, node);
	}
	for (struct list_node *node; (node = list_pop(&mine));)
		faults_held_again(h, entry(node), now);
	list_for_each_safe(node, &h->overtaking) {
		if (!rule || entry(node)->rule == rule)
			make_due(h, entry(node), now);
	}
}

static uint64_t first(const struct list_node *list)
{
	return list_empty(list) ? TIME_NEVER : entry(list->next)->due;
}

uint64_t faults_held_next(const struct faults_held *h)
{
	uint64_t a = first(&h->due), b = first(&h->overtaking);

	return a < b ? a : b;
}

struct faults_held_packet *faults_held_take(struct faults_held *h, uint64_t now)
{
	struct list_node *list = first(&h->due) <= now ? &h->due : &h->overtaking;

	if (first(list) > now)
		return NULL;
	return entry(list_pop(list));
}

static struct faults_held_packet *take_out(struct list_node *list, uint64_t now)
{
	list_for_each(node, list) {
		if (entry(node)->due > now)
			break;
		if (!entry(node)->p.out)
			continue;
		list_del(node);
		return entry(node);
	}
	return NULL;
}

struct faults_held_packet *faults_held_take_out(struct faults_held *h, uint64_t now)
{
	struct faults_held_packet *held = take_out(&h->due, now);

	return held ? held : take_out(&h->overtaking, now);
}
