/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "net/regions.h"

#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/*
 * A treap (a tree with random priorities), sorted by start. A list would be slow: programs have
 * many regions, and often free memory.
 */
static struct regions_entry *root;
/* Lowest start and highest end of all regions. Read without the lock. */
static _Atomic uint64_t lowest = UINT64_MAX, highest;
/* Initial-exec TLS, since a signal handler must not allocate thread-local storage. */
static __thread __attribute__((tls_model("initial-exec"))) volatile bool inside;

static void enter(void)
{
	inside = true;
	pthread_mutex_lock(&lock);
}

static void leave(void)
{
	pthread_mutex_unlock(&lock);
	inside = false;
}

static uint64_t load(_Atomic uint64_t *bound)
{
	return atomic_load_explicit(bound, memory_order_relaxed);
}

static void store(_Atomic uint64_t *bound, uint64_t to)
{
	atomic_store_explicit(bound, to, memory_order_relaxed);
}

/* The hashed address of an entry serves as its random priority. */
static uint32_t priority(const struct regions_entry *e)
{
	return (uint32_t)((uintptr_t)e * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static bool is_before(const struct regions_entry *a, const struct regions_entry *b)
{
	return a->start < b->start || (a->start == b->start && a < b);
}

static struct regions_entry *updated(struct regions_entry *e)
{
	e->furthest = e->end;
	if (e->left && e->left->furthest > e->furthest)
		e->furthest = e->left->furthest;
	if (e->right && e->right->furthest > e->furthest)
		e->furthest = e->right->furthest;
	return e;
}

/* Splits a tree into entries before e (*left) and entries after e (*right). */
static void split(struct regions_entry *tree, const struct regions_entry *e,
		  struct regions_entry **left, struct regions_entry **right)
{
	if (!tree) {
		*left = *right = NULL;
	} else if (is_before(tree, e)) {
		split(tree->right, e, &tree->right, right);
		*left = updated(tree);
	} else {
		split(tree->left, e, left, &tree->left);
		*right = updated(tree);
	}
}

static struct regions_entry *joined(struct regions_entry *left, struct regions_entry *right)
{
	if (!left || !right)
		return left ? left : right;
	if (priority(left) > priority(right)) {
		left->right = joined(left->right, right);
		return updated(left);
	}
	right->left = joined(left, right->left);
	return updated(right);
}

static struct regions_entry *without(struct regions_entry *tree, const struct regions_entry *e)
{
	if (tree == e)
		return joined(e->left, e->right);
	if (is_before(e, tree))
		tree->left = without(tree->left, e);
	else
		tree->right = without(tree->right, e);
	return updated(tree);
}

static void set_bounds(void)
{
	const struct regions_entry *first = root;

	while (first && first->left)
		first = first->left;
	store(&lowest, first ? first->start : UINT64_MAX);
	store(&highest, root ? root->furthest : 0);
}

void regions_add(struct regions_entry *e, uint64_t addr, uint64_t len)
{
	struct regions_entry *left, *right;

	*e = (struct regions_entry){ .start = addr, .end = addr + len };
	updated(e);
	enter();
	split(root, e, &left, &right);
	root = joined(joined(left, e), right);
	set_bounds();
	leave();
}

void regions_remove(struct regions_entry *e)
{
	enter();
	if (e->furthest) {
		root = without(root, e);
		set_bounds();
		e->furthest = 0;
	}
	leave();
}

bool regions_touch(uint64_t start, uint64_t end)
{
	const struct regions_entry *e;

	if (start >= load(&highest) || end <= load(&lowest) || inside)
		return false;
	enter();
	/*
	 * Search the left subtree if an entry there ends after start. If none of its entries
	 * overlaps, all entries of the right subtree start after end.
	 */
	for (e = root; e && (start >= e->end || end <= e->start);)
		e = e->left && e->left->furthest > start ? e->left : e->right;
	leave();
	return e;
}

void regions_fork_prepare(void)
{
	enter();
}

void regions_fork_done(void)
{
	leave();
}
