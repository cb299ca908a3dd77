/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "net/regions.h"

#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/*
 * A treap, sorted by start, with random priorities: programs have many regions, and free much
 * memory.
 */
static struct regions_entry *root;
/* Bounds of all regions, read without the lock. */
static _Atomic uint64_t lowest = UINT64_MAX, highest;
/* Initial-exec, because a signal handler must not allocate thread-local storage. */
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

/* Hashed addresses of entries are random enough. */
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

/* Splits tree into the entries before e and the entries after e. */
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
	 * If an entry on the left ends after start, but none there is in the range, all entries on
	 * the right begin too late.
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
