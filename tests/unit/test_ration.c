/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: util */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "util/ration.h"

/* A ration gives its units at once, and then one unit for each interval. */
static void test_take(void **state)
{
	uint64_t at = 0;

	for (unsigned int i = 0; i < 8; i++)
		assert_true(ration_take(&at, 1000, 8, 10));
	assert_false(ration_take(&at, 1000, 8, 10));
	assert_false(ration_take(&at, 1009, 8, 10));
	assert_true(ration_take(&at, 1010, 8, 10));
	assert_false(ration_take(&at, 1010, 8, 10));
	assert_true(ration_take(&at, 2000, 8, 10));
}

/* True if a and b have the same slot for every salt. */
static bool share(const struct ip_addr *a, const struct ip_addr *b)
{
	bool all = true;

	for (uint64_t salt = 0; salt < 100; salt++) {
		assert_true(ration_place(salt, a) < RATION_PLACES);
		all = all && ration_place(salt, a) == ration_place(salt, b);
	}
	return all;
}

/* The salt determines which addresses have the same slot. Addresses of one IPv6 /64 always do. */
static void test_places(void **state)
{
	struct ip_addr one = { .b = { 10, 11, 12, 13, 14, 15, 16, 17, 18, [15] = 1 } }, other = one;
	struct ip_addr v4 = ip_addr_from_v4("\x0a\0\0\1"), near = ip_addr_from_v4("\x0a\0\0\2");
	struct ip_addr link = { .b = { 0xfe, 0x80, [15] = 1 } }, neighbour = link;

	other.b[15] = 2;
	other.b[8] = 3;
	assert_true(share(&one, &other));
	other.b[7]++;
	assert_false(share(&one, &other));
	assert_false(share(&v4, &near));
	neighbour.b[15]++;
	assert_false(share(&link, &neighbour));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_take),
		cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
