/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: iwarp */
/* WRAP: realloc */
/* The lost parts of a region, against a model with each byte. */
#include "fixture/iw_fixture.h"

#include "iwarp/lost.h"

#define BYTES 64u

void *__real_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n);
static bool no_memory;

void *__wrap_realloc(void *p, size_t n)
{
	return no_memory ? NULL : __real_realloc(p, n);
}

static void check_parts(const struct iw_lost *lost, const bool *gone)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < BYTES; i++)
		n += gone[i] && (!i || !gone[i - 1]);
	assert_int_equal(lost->n, n);
	assert_int_equal(iw_lost_any(lost), n > 0);
}

static void against_model(void **state)
{
	uint64_t seed = 5;

	for (int round = 0; round < 2000; round++) {
		struct iw_lost lost = { 0 };
		bool gone[BYTES] = { false };

		for (int step = 0; step < 12; step++) {
			uint32_t start = fx_next(&seed) % BYTES;
			uint32_t end = start + 1 + fx_next(&seed) % 8;
			bool touches = false;

			if (end > BYTES)
				end = BYTES;
			for (uint32_t i = start; i < end; i++)
				touches |= gone[i];
			assert_int_equal(iw_lost_touches(&lost, start, end), touches);
			memset(gone + start, true, end - start);
			iw_lost_add(&lost, start, end);
			check_parts(&lost, gone);
		}
		iw_lost_clear(&lost);
		assert_false(iw_lost_any(&lost));
	}
}

/* If the list cannot grow, the whole region is lost. */
static void without_memory(void **state)
{
	struct iw_lost lost = { 0 };

	iw_lost_add(&lost, 10, 20);
	no_memory = true;
	iw_lost_add(&lost, 30, 40);
	no_memory = false;
	assert_true(iw_lost_any(&lost) && iw_lost_touches(&lost, 0, 1));
	iw_lost_clear(&lost);
	assert_false(iw_lost_touches(&lost, 10, 20));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(against_model),
		cmocka_unit_test(without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
