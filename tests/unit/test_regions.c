/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: net */
/* Registered regions: lookup of an accessed region among many that overlap. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/regions.h"

#define N 300
#define SPACE 40000

static uint64_t next(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *seed >> 33;
}

static bool touches(const struct regions_entry *entries, const bool *added, uint64_t start,
		    uint64_t end)
{
	for (int i = 0; i < N; i++)
		if (added[i] && entries[i].start < end && entries[i].end > start)
			return true;
	return false;
}

static void test_random(void **state)
{
	static struct regions_entry entries[N];
	bool added[N] = { 0 };
	uint64_t seed = 1;

	for (int step = 0; step < 20000; step++) {
		uint64_t i = next(&seed) % (step / 5000 % 2 ? N : N / 10), start, end;

		regions_remove(&entries[i]);
		added[i] = next(&seed) % 2;
		if (added[i])
			regions_add(&entries[i], 1 + next(&seed) % SPACE,
				    1 + next(&seed) % (next(&seed) % 50 ? 30 : SPACE / 4));
		start = next(&seed) % SPACE;
		end = start + 1 + next(&seed) % 50;
		assert_int_equal(regions_touch(start, end), touches(entries, added, start, end));
	}
	for (int i = 0; i < N; i++)
		regions_remove(&entries[i]);
	assert_false(regions_touch(0, UINT64_MAX));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
