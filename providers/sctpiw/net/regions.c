/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "net/regions.h"

#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct list_node all = { &all, &all };
/* Each region lies within; read without the lock. They grow, and are reset when there is no region. */
static _Atomic uint64_t lowest = UINT64_MAX, highest;
/* The model is initial-exec because a signal handler must not allocate thread-local storage. */
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

void regions_add(struct regions_entry *e, uint64_t addr, uint64_t len)
{
	e->start = addr;
	e->end = addr + len;
	enter();
	list_add_tail(&all, &e->node);
	if (e->start < load(&lowest))
		store(&lowest, e->start);
	if (e->end > load(&highest))
		store(&highest, e->end);
	leave();
}

void regions_remove(struct regions_entry *e)
{
	if (!e->node.next)
		return;
	enter();
	list_del(&e->node);
	if (list_empty(&all)) {
		store(&lowest, UINT64_MAX);
		store(&highest, 0);
	}
	leave();
}

bool regions_touch(uint64_t start, uint64_t end)
{
	bool found = false;

	if (start >= load(&highest) || end <= load(&lowest) || inside)
		return false;
	enter();
	list_for_each(node, &all) {
		const struct regions_entry *e = list_entry(node, struct regions_entry, node);

		found = start < e->end && end > e->start;
		if (found)
			break;
	}
	leave();
	return found;
}

void regions_fork_prepare(void)
{
	enter();
}

void regions_fork_done(void)
{
	leave();
}
