/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A circular doubly linked list; the nodes are members of the elements. A node on no list points to
 * itself, so list_del() is idempotent and list_linked() is false. Guarded by the owner's lock.
 */
#ifndef SCTPIW_UTIL_LIST_H
#define SCTPIW_UTIL_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list_node {
	struct list_node *next;
	struct list_node *prev;
};

/* Returns the element that contains this node. */
#define list_entry(node, type, member) ((type *)(void *)((char *)(node)-offsetof(type, member)))

/* The body may neither delete nor move the current node; list_for_each_safe allows both. */
#define list_for_each(node, head)                                                                  \
	for (struct list_node *node = (head)->next; node != (head); node = node->next)

/* The body may delete the current node, but not the next one. */
#define list_for_each_safe(node, head)                                                             \
	for (struct list_node *node = (head)->next, *node##_next = node->next; node != (head);     \
	     node = node##_next, node##_next = node->next)

/* Initialises an empty list, or a node on no list. */
static inline void list_init(struct list_node *n)
{
	n->next = n;
	n->prev = n;
}

static inline bool list_empty(const struct list_node *head)
{
	return head->next == head;
}

static inline bool list_linked(const struct list_node *n)
{
	return n->next != n;
}

static inline void list_insert_between(struct list_node *n, struct list_node *prev,
				       struct list_node *next)
{
	n->prev = prev;
	n->next = next;
	prev->next = n;
	next->prev = n;
}

/* Adds n, which is on no list, to the front. */
static inline void list_add(struct list_node *head, struct list_node *n)
{
	list_insert_between(n, head, head->next);
}

/* Adds n, which is on no list, to the end. */
static inline void list_add_tail(struct list_node *head, struct list_node *n)
{
	list_insert_between(n, head->prev, head);
}

/* Takes n off its list, if it is on a list. */
static inline void list_del(struct list_node *n)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
	list_init(n);
}

/* Takes the first node off the list. Returns the node, or NULL if the list is empty. */
static inline struct list_node *list_pop(struct list_node *head)
{
	struct list_node *n = head->next;

	if (n == head)
		return NULL;
	list_del(n);
	return n;
}

/*
 * Walks a list whose elements may come and go between two steps. mark is a node of no element. Each
 * call moves mark past the next element, and returns that element's node. If mark is on no list,
 * the walk starts at the first element. At the end, takes mark off the list and returns NULL. No
 * other walk of the list may run meanwhile.
 */
static inline struct list_node *list_step(struct list_node *head, struct list_node *mark)
{
	struct list_node *n = list_linked(mark) ? mark->next : head->next;

	list_del(mark);
	if (n == head)
		return NULL;
	list_insert_between(mark, n, n->next);
	return n;
}

#endif
