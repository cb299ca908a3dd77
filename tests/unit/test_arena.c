/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: net */
/*
 * The device's own heap: blocks do not overlap, have the requested size and alignment, and lie
 * outside all regions.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/arena.h"
#include "net/regions.h"

#define BLOCKS 512

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *seed >> 33;
}

struct block {
	uint8_t *p;
	size_t len;
	uint8_t mark;
};

static size_t some_len(uint64_t *seed)
{
	return 1 + next(seed) % (size_t[]){ 64, 300, 5000, 140000, 600000 }[next(seed) % 5];
}

/* Marks both ends of a block, to detect blocks that overlap. */
static void mark(struct block *b)
{
	memset(b->p, b->mark, b->len < 256 ? b->len : 128);
	memset(b->p + (b->len < 256 ? 0 : b->len - 128), b->mark, b->len < 256 ? b->len : 128);
}

static void check_and_free(struct block *b)
{
	for (size_t i = 0; i < b->len; i += i == 127 && b->len > 256 ? b->len - 255 : 1)
		assert_int_equal(b->p[i], b->mark);
	assert_true(arena_has(b->p, b->len));
	arena_free(b->p);
	b->p = NULL;
}

static void *random_blocks(void *arg)
{
	struct block blocks[BLOCKS] = { 0 };
	uint64_t seed = (uintptr_t)arg;

	for (int step = 0; step < 10000; step++) {
		struct block *b = &blocks[next(&seed) % BLOCKS];
		size_t align = (size_t)1 << next(&seed) % 14;

		if (b->p) {
			check_and_free(b);
			continue;
		}
		b->len = some_len(&seed);
		b->mark = (uint8_t)next(&seed);
		if (next(&seed) % 4) {
			b->p = arena_alloc(b->len, align);
			assert_non_null(b->p);
			assert_int_equal((uintptr_t)b->p % align, 0);
		} else {
			b->p = arena_zalloc(b->len);
			assert_non_null(b->p);
			for (size_t i = 0; i < b->len; i++)
				assert_int_equal(b->p[i], 0);
		}
		assert_true(arena_room(b->p) >= b->len);
		mark(b);
	}
	for (int i = 0; i < BLOCKS; i++)
		if (blocks[i].p)
			check_and_free(&blocks[i]);
	return NULL;
}

static void test_random(void **state)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, random_blocks, (void *)7), 0);
	random_blocks((void *)8);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* Blocks longer than a chunk, the largest alignment, and sizes beyond all memory. */
static void test_extremes(void **state)
{
	uint8_t *large = arena_alloc((size_t)100 << 20, 64), *aligned = arena_alloc(1, 16 << 20);

	assert_non_null(large);
	assert_non_null(aligned);
	assert_int_equal((uintptr_t)aligned % (16 << 20), 0);
	large[0] = large[(100 << 20) - 1] = 1;
	arena_free(large);
	arena_free(aligned);
	assert_null(arena_alloc(SIZE_MAX - 100, 1));
	assert_null(arena_alloc((size_t)1 << 55, 1));
	assert_null(arena_alloc(1, 32 << 20));
}

static long resident_pages(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*d %ld", &pages), 1);
	fclose(f);
	return pages;
}

/* The arena returns freed pages to the system. */
static void test_given_back(void **state)
{
	void *blocks[200];
	long before, used;

	before = resident_pages();
	for (int i = 0; i < 200; i++) {
		blocks[i] = arena_alloc(300000, 64);
		memset(blocks[i], 1, 300000);
	}
	used = resident_pages() - before;
	for (int i = 0; i < 200; i++)
		arena_free(blocks[i]);
	assert_true(used > 200 * 70);
	assert_true(resident_pages() - before < used / 2);
}

/* A region is unmapped without notice. The system soon maps other memory at its address. */
static void test_regions(void **state)
{
	size_t len = (size_t)64 << 30;
	uint8_t *map =
		mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct regions_entry e = { .start = 0 };
	uint8_t *blocks[12];

	assert_ptr_not_equal(map, MAP_FAILED);
	regions_add(&e, (uintptr_t)map, len);
	munmap(map, len);
	for (int i = 0; i < 12; i++) {
		blocks[i] = arena_alloc((size_t)33 << 20, 64);
		assert_non_null(blocks[i]);
		assert_false(
			regions_touch((uintptr_t)blocks[i], (uintptr_t)blocks[i] + (33 << 20)));
	}
	for (int i = 0; i < 12; i++)
		arena_free(blocks[i]);
	assert_false(arena_has(map, len));
	regions_remove(&e);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_extremes),
		cmocka_unit_test(test_given_back),
		cmocka_unit_test(test_regions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
