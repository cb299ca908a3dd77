/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "idmap.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

struct idmap_node {
	struct idmap_node *next;
	const struct kfile *kf;
	uint32_t id;
};

#define BUCKETS_MIN 64u

/* Guards all data below. A thread that holds it takes no other lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static struct idmap_node *buckets_min[BUCKETS_MIN];
static struct idmap_node **buckets = buckets_min;
static uint32_t bucket_count = BUCKETS_MIN; /* a power of two */
static uint32_t node_count;

static void lock_map(void)
{
	pthread_mutex_lock(&lock);
}

static void unlock_map(void)
{
	pthread_mutex_unlock(&lock);
}

/* Makes the lock free in a child of fork(), which may open channels of its own. */
static void watch_forks(void)
{
	pthread_atfork(lock_map, unlock_map, unlock_map);
}

/*
 * Returns the bucket of an id. Fibonacci hashing uses all bits of the id, since the RNIC may number
 * its ids in any way.
 */
static struct idmap_node **bucket_of(uint32_t id)
{
	return &buckets[(id * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (bucket_count - 1)];
}

/*
 * Returns the pointer to the entry of id. If there is no entry, returns the pointer at the end of
 * the chain, where the entry belongs.
 */
static struct idmap_node **find(uint32_t id)
{
	struct idmap_node **p = bucket_of(id);

	while (*p && (*p)->id != id)
		p = &(*p)->next;
	return p;
}

/* Doubles the number of buckets. If out of memory, leaves the buckets unchanged. */
static void grow(void)
{
	struct idmap_node **old = buckets;
	uint32_t old_count = bucket_count;
	struct idmap_node **fresh = calloc(old_count * 2ul, sizeof(*fresh));

	if (!fresh)
		return;
	buckets = fresh;
	bucket_count = old_count * 2;
	for (uint32_t i = 0; i < old_count; i++) {
		struct idmap_node *node = old[i], *next;

		for (; node; node = next) {
			next = node->next;
			node->next = *bucket_of(node->id);
			*bucket_of(node->id) = node;
		}
	}
	if (old != buckets_min)
		free(old);
}

struct idmap_node *idmap_reserve(void)
{
	pthread_once(&fork_once, watch_forks);
	return malloc(sizeof(struct idmap_node));
}

void idmap_unreserve(struct idmap_node *node)
{
	free(node);
}

void idmap_set(struct idmap_node *node, uint32_t id, const struct kfile *kf)
{
	struct idmap_node **p, *old;

	lock_map();
	if (node_count >= bucket_count && bucket_count < 1u << 20)
		grow();
	p = find(id);
	old = *p;
	node->id = id;
	node->kf = kf;
	node->next = old ? old->next : NULL;
	*p = node;
	if (!old)
		node_count++;
	unlock_map();
	free(old);
}

static int check_locked(const struct idmap_node *node, const struct kfile *kf)
{
	if (!node)
		return -ENOENT;
	return node->kf == kf ? 0 : -EINVAL;
}

int idmap_check(uint32_t id, const struct kfile *kf)
{
	int ret;

	lock_map();
	ret = check_locked(*find(id), kf);
	unlock_map();
	return ret;
}

int idmap_take(uint32_t id, const struct kfile *kf, struct idmap_node **node)
{
	struct idmap_node **p;
	int ret;

	lock_map();
	p = find(id);
	ret = check_locked(*p, kf);
	if (!ret) {
		*node = *p;
		*p = (*node)->next;
		node_count--;
	}
	unlock_map();
	return ret;
}

int idmap_move(uint32_t id, const struct kfile *from, const struct kfile *to)
{
	struct idmap_node *node;
	int ret;

	lock_map();
	node = *find(id);
	ret = check_locked(node, from);
	if (!ret)
		node->kf = to;
	unlock_map();
	return ret;
}

void idmap_drop_channel(const struct kfile *kf)
{
	struct idmap_node *dropped = NULL, *node;

	lock_map();
	for (uint32_t i = 0; i < bucket_count; i++) {
		struct idmap_node **p = &buckets[i];

		while ((node = *p)) {
			if (node->kf != kf) {
				p = &node->next;
				continue;
			}
			*p = node->next;
			node->next = dropped;
			dropped = node;
			node_count--;
		}
	}
	unlock_map();
	for (; dropped; dropped = node) {
		node = dropped->next;
		free(dropped);
	}
}
