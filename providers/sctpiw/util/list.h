/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A circular doubly linked list. The nodes are members of the elements. The pointers of a node that
 * is in no list point to the node itself. So list_del() may be called repeatedly, and list_linked()
 * is false. Guarded by the owner's lock.
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

/* The body must neither delete nor move the current node; list_for_each_safe allows both. */
#define list_for_each(node, head)                                                                  \
	for (struct list_node *node = (head)->next; node != (head); node = node->next)

/* The body may delete or move the current node, but must not change the next node. */
#define list_for_each_safe(node, head)                                                             \
	for (struct list_node *node = (head)->next, *node##_next = node->next; node != (head);     \
	     node = node##_next, node##_next = node->next)

/* Initialises an empty list, or a node that is in no list. */
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

/* Adds n, which must be in no list, at the front. */
static inline void list_add(struct list_node *head, struct list_node *n)
{
	list_insert_between(n, head, head->next);
}

/* Adds n, which must be in no list, at the end. */
static inline void list_add_tail(struct list_node *head, struct list_node *n)
{
	list_insert_between(n, head->prev, head);
}

/* Removes n from its list. Does nothing if n is in no list. */
static inline void list_del(struct list_node *n)
{
	n->prev->next = n->next;
	n->next->prev = n->prev;
	list_init(n);
}

/* Removes the first node from the list. Returns the node, or NULL if the list is empty. */
static inline struct list_node *list_pop(struct list_node *head)
{
	struct list_node *n = head->next;

	if (n == head)
		return NULL;
	list_del(n);
	return n;
}

/*
 * Iterates over a list whose elements may be added or removed between two steps. `mark` is a node
 * that belongs to no element. Each call moves mark past the next element, and returns the node of
 * that element. If mark is in no list, the iteration starts with the first element. At the end,
 * removes mark from the list and returns NULL. Do not run another iteration over the same list
 * meanwhile.
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
