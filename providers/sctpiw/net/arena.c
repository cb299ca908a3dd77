/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/arena.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "net/regions.h"
#include "util/list.h"

#define UNIT_SHIFT 6 /* the smallest block is a cache line */
#define UNIT ((size_t)1 << UNIT_SHIFT)
#define PAGE 4096u /* minimum page size */
/* Bytes. Minimum size and alignment of a chunk. */
#define CHUNK_MIN ((size_t)16 << 20)
#define CHUNKS 64
#define ORDERS 40 /* more orders than the address space needs */
/* Bytes. Minimum size of free blocks whose pages are returned to the system. */
#define LARGE ((size_t)8 << 10)
/* Bytes. Minimum size of zeroed blocks that get fresh pages instead of being cleared. */
#define FRESH ((size_t)64 << 10)
/* Bytes. After this amount has been freed, pages of large free blocks are returned. */
#define GIVE_BACK ((size_t)256 << 10)
/*
 * If all blocks began at multiples of a power of two, their first cache lines would share few cache
 * sets. So blocks with spare room begin at different multiples of COLOUR.
 */
#define COLOUR (PAGE + UNIT)
#define TRIES 16

/* State of a unit of a chunk. The low bits hold the order of the block. */
#define STATE_NONE 0	/* no block starts here */
#define STATE_FREE 0x80 /* flag: a free block starts here */
#define STATE_USED 0x40 /* flag: a block in use starts here */
#define STATE_ORDER 0x3f

struct chunk {
	uint8_t *base;
	size_t size;	/* a power of two */
	uint8_t *state; /* one byte for each unit, stored at the start of the chunk */
};

/* The first bytes of a free block. */
struct free_block {
	struct list_node node;
	struct chunk *chunk;
	bool dirty; /* pages after the first one may take memory */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* Chunks are only added, never removed, so that arena_has() needs no lock. */
static struct chunk chunks[CHUNKS];
static _Atomic unsigned int n_chunks;
static struct list_node free_blocks[ORDERS]; /* by order; dirty blocks first */
static size_t freed;			     /* bytes freed since pages were last returned */
static size_t colour;

/* LeakSanitizer searches this memory for pointers. It would report false leaks otherwise. */
void __lsan_register_root_region(const void *p, size_t len) __attribute__((weak));

static size_t bytes_of(unsigned int order)
{
	return UNIT << order;
}

/* Returns the order of the smallest block with room for n bytes. */
static unsigned int order_of(size_t n)
{
	return n <= UNIT ? 0 : 64 - (unsigned int)__builtin_clzl((n - 1) >> UNIT_SHIFT);
}

static struct chunk *chunk_of(const void *p)
{
	unsigned int n = atomic_load_explicit(&n_chunks, memory_order_acquire);

	for (unsigned int i = 0; i < n; i++)
		if ((uintptr_t)p - (uintptr_t)chunks[i].base < chunks[i].size)
			return &chunks[i];
	__builtin_trap(); /* p is in no chunk */
}

static size_t offset_of(const struct chunk *c, const void *p)
{
	return (size_t)((const uint8_t *)p - c->base);
}

static void put_free(struct chunk *c, size_t offset, unsigned int order, bool dirty)
{
	struct free_block *b = (struct free_block *)(void *)(c->base + offset);

	c->state[offset >> UNIT_SHIFT] = (uint8_t)(STATE_FREE | order);
	b->chunk = c;
	b->dirty = dirty;
	if (dirty)
		list_add(&free_blocks[order], &b->node);
	else
		list_add_tail(&free_blocks[order], &b->node);
}

/* Maps memory aligned to CHUNK_MIN and outside all regions. Returns its address, or NULL. */
static uint8_t *map_chunk(size_t size)
{
	for (int i = 0; i < TRIES; i++) {
		size_t len = (size + CHUNK_MIN) << i, front;
		uint8_t *map = mmap(NULL, len, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (map == MAP_FAILED)
			return NULL;
		/*
		 * If fresh memory overlaps a region, the program has unmapped that region without
		 * the hooks' notice. This mapping then stays, so that the next mapping gets another
		 * address. The next mapping is twice as large, since the unmapped range may be
		 * large.
		 */
		if (regions_touch((uintptr_t)map, (uintptr_t)map + len)) {
			mprotect(map, len, PROT_NONE);
			continue;
		}
		front = -(uintptr_t)map % CHUNK_MIN;
		if (front)
			syscall(SYS_munmap, map, front);
		syscall(SYS_munmap, map + front + size, len - front - size);
		return map + front;
	}
	return NULL;
}

/* Adds a chunk for a block of this order, twice as large as the last chunk: few chunks suffice. */
static bool grow(unsigned int order)
{
	unsigned int n = atomic_load_explicit(&n_chunks, memory_order_relaxed), i;
	struct chunk *c = &chunks[n];
	size_t least = 2 * bytes_of(order), size = n ? 2 * chunks[n - 1].size : 0;

	if (n == CHUNKS)
		return false;
	if (!n)
		for (i = 0; i < ORDERS; i++)
			list_init(&free_blocks[i]);
	if (least < CHUNK_MIN)
		least = CHUNK_MIN;
	if (size < least)
		size = least;
	while (!(c->base = map_chunk(size)))
		if ((size /= 2) < least)
			return false;
	c->size = size;
	c->state = c->base;
	i = order_of(size >> UNIT_SHIFT);
	c->state[0] = (uint8_t)(STATE_USED | i);
	for (; bytes_of(i) < size; i++)
		put_free(c, bytes_of(i), i, false);
	atomic_store_explicit(&n_chunks, n + 1, memory_order_release);
	if (__lsan_register_root_region)
		__lsan_register_root_region(c->base, size);
	return true;
}

/* Takes a free block of this order. Splits a larger block if there is none. */
static uint8_t *take(unsigned int order, struct chunk **of)
{
	unsigned int i = order;
	struct free_block *block;
	size_t offset;

	while (i < ORDERS && list_empty(&free_blocks[i]))
		i++;
	if (i == ORDERS)
		return NULL;
	block = list_entry(list_pop(&free_blocks[i]), struct free_block, node);
	*of = block->chunk;
	offset = offset_of(*of, block);
	while (i-- > order)
		put_free(*of, offset + bytes_of(i), i, block->dirty);
	(*of)->state[offset >> UNIT_SHIFT] = STATE_NONE;
	return (uint8_t *)block;
}

/* Returns the offset in a block at which the user's n bytes start. */
static size_t colour_for(unsigned int order, size_t n, size_t align)
{
	size_t colours = (bytes_of(order) - n) / COLOUR;

	return colours && align <= UNIT ? colour++ % colours * COLOUR : 0;
}

void *arena_alloc(size_t n, size_t align)
{
	unsigned int order = order_of(n > align ? n : align);
	struct chunk *c;
	uint8_t *p;

	if (order >= ORDERS || align > CHUNK_MIN)
		return NULL;
	pthread_mutex_lock(&lock);
	p = n_chunks ? take(order, &c) : NULL;
	if (!p && grow(order))
		p = take(order, &c);
	if (p) {
		p += colour_for(order, n, align);
		c->state[offset_of(c, p) >> UNIT_SHIFT] = (uint8_t)(STATE_USED | order);
	}
	pthread_mutex_unlock(&lock);
	return p;
}

static void give_back(void)
{
	freed = 0;
	for (unsigned int i = order_of(LARGE); i < ORDERS; i++)
		list_for_each(node, &free_blocks[i]) {
			struct free_block *b = list_entry(node, struct free_block, node);

			if (!b->dirty)
				break;
			madvise((uint8_t *)b + PAGE, bytes_of(i) - PAGE, MADV_DONTNEED);
			b->dirty = false;
		}
}

/* Returns the offset of the block in use that contains p, and sets *order to the block's order. */
static size_t find(const struct chunk *c, const void *p, unsigned int *order)
{
	size_t offset = offset_of(c, p);
	uint8_t state = c->state[offset >> UNIT_SHIFT];

	if (!(state & STATE_USED))
		__builtin_trap(); /* freed twice, or never allocated */
	*order = state & STATE_ORDER;
	return offset & ~(bytes_of(*order) - 1);
}

void arena_free(void *p)
{
	struct chunk *c = chunk_of(p);
	unsigned int order;
	size_t offset;

	pthread_mutex_lock(&lock);
	offset = find(c, p, &order);
	c->state[offset_of(c, p) >> UNIT_SHIFT] = STATE_NONE;
	freed += bytes_of(order);
	for (; bytes_of(order) < c->size; order++) {
		size_t buddy = offset ^ bytes_of(order);

		if (c->state[buddy >> UNIT_SHIFT] != (STATE_FREE | order))
			break;
		list_del((struct list_node *)(void *)(c->base + buddy));
		c->state[buddy >> UNIT_SHIFT] = STATE_NONE;
		offset &= buddy;
	}
	put_free(c, offset, order, true);
	if (freed >= GIVE_BACK)
		give_back();
	pthread_mutex_unlock(&lock);
}

size_t arena_room(const void *p)
{
	const struct chunk *c = chunk_of(p);
	unsigned int order;
	size_t room;

	pthread_mutex_lock(&lock);
	room = find(c, p, &order) + bytes_of(order) - offset_of(c, p);
	pthread_mutex_unlock(&lock);
	return room;
}

/* Large blocks get fresh pages, which are zero, so that untouched pages take no memory. */
void *arena_zalloc(size_t n)
{
	uint8_t *p = arena_alloc(n, n < FRESH ? 1 : PAGE);

	if (p && (n < FRESH || madvise(p, (n + PAGE - 1) & ~(size_t)(PAGE - 1), MADV_DONTNEED)))
		memset(p, 0, n);
	return p;
}

bool arena_has(const void *p, size_t len)
{
	unsigned int n = atomic_load_explicit(&n_chunks, memory_order_acquire);
	uintptr_t start = (uintptr_t)p;

	for (unsigned int i = 0; i < n; i++) {
		uintptr_t base = (uintptr_t)chunks[i].base;

		if (start - base < chunks[i].size || base - start < len)
			return true;
	}
	return false;
}

void arena_fork_prepare(void)
{
	pthread_mutex_lock(&lock);
}

void arena_fork_done(void)
{
	pthread_mutex_unlock(&lock);
}
