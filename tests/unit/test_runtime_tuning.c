/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/* The decisions of posters, pollers and the progress thread: tables of cases at each limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/tuning.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static void test_post(void **state)
{
	static const struct {
		struct tuning_post_seen seen;
		enum tuning_post want;
	} cases[] = {
		/*
		 * The clock decides about the first post of a doorbell, and about one in four of
		 * the others.
		 */
		{ { .bytes = 64, .first = true }, TUNING_POST_LOOK },
		{ { .bytes = 64, .first = true, .gathered = 3 }, TUNING_POST_LOOK },
		{ { .bytes = 64, .gathered = 1 }, TUNING_POST_WAIT },
		{ { .bytes = 64, .gathered = 3 }, TUNING_POST_WAIT },
		{ { .bytes = 64, .gathered = 4 }, TUNING_POST_LOOK },
		{ { .bytes = 64, .gathered = 0 }, TUNING_POST_LOOK },
		/* Many bytes do not wait, in one post or together. */
		{ { .bytes = 262144, .gathered = 1 }, TUNING_POST_WAIT },
		{ { .bytes = 262145, .gathered = 1 }, TUNING_POST_SEND },
		{ { .bytes = 1, .gathered_bytes = 262143, .gathered = 1 }, TUNING_POST_WAIT },
		{ { .bytes = 1, .gathered_bytes = 262144, .gathered = 1 }, TUNING_POST_SEND },
		{ { .bytes = UINT64_MAX, .gathered_bytes = 100, .first = true }, TUNING_POST_SEND },
		/* A complete batch is sent, unless the peer has enough work. */
		{ { .bytes = 64, .gathered = 71, .ends_batch = true }, TUNING_POST_SEND },
		{ { .bytes = 64, .gathered = 71, .ends_batch = true, .in_flight = 65535 },
		  TUNING_POST_SEND },
		{ { .bytes = 64, .gathered = 71, .ends_batch = true, .in_flight = 65536 },
		  TUNING_POST_WAIT },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(tuning_post(&cases[i].seen), cases[i].want);
}

static void test_ends_batch(void **state)
{
	static const struct {
		bool asks;
		uint32_t unasked;
		bool want;
		uint32_t then;
	} cases[] = {
		{ true, 47, false, 0 }, { true, 48, true, 0 },	  { true, 49, true, 0 },
		{ true, 0, false, 0 },	{ false, 48, false, 49 }, { false, 0, false, 1 },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		uint32_t unasked = cases[i].unasked;

		assert_int_equal(tuning_ends_batch(cases[i].asks, &unasked), cases[i].want);
		assert_int_equal(unasked, cases[i].then);
	}
}

static void test_post_at(void **state)
{
	static const struct {
		uint64_t since;
		uint32_t shift;
		bool thread;
		enum tuning_post want;
	} cases[] = {
		{ 0, 0, true, TUNING_POST_WAIT },
		{ 2999, 0, true, TUNING_POST_WAIT },
		{ 3000, 0, true, TUNING_POST_SEND },
		{ 3000, 1, true, TUNING_POST_WAIT },
		{ 6000, 1, true, TUNING_POST_SEND },
		{ 23999, 3, true, TUNING_POST_WAIT },
		{ 24000, 3, true, TUNING_POST_SEND },
		/* No thread would send it later. */
		{ 0, 0, false, TUNING_POST_SEND },
		/* Another thread read the clock later: the difference wrapped. */
		{ UINT64_MAX, 3, true, TUNING_POST_SEND },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(tuning_post_at(cases[i].since, cases[i].shift, cases[i].thread),
				 cases[i].want);
}

static void test_gap(void **state)
{
	static const struct {
		uint32_t shift, gathered, want;
	} cases[] = {
		{ 0, 0, 0 }, { 0, 1, 0 }, { 0, 7, 0 }, { 0, 8, 1 }, { 2, 8, 3 }, { 3, 8, 3 },
		{ 3, 7, 3 }, { 3, 2, 3 }, { 3, 1, 2 }, { 1, 0, 0 }, { 1, 2, 1 },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(tuning_gap_shift(cases[i].shift, cases[i].gathered),
				 cases[i].want);
}

static void test_poll(void **state)
{
	assert_false(tuning_poll_yields(1));
	assert_false(tuning_poll_yields(15));
	assert_true(tuning_poll_yields(16));
	assert_false(tuning_poll_yields(17));
	assert_true(tuning_poll_yields(32));
	assert_false(tuning_poll_looks(63));
	assert_true(tuning_poll_looks(64));
	assert_false(tuning_poll_looks(65));
	assert_true(tuning_poll_wakes(false, 64));
	assert_false(tuning_poll_wakes(false, 63));
	assert_false(tuning_poll_wakes(true, 1000));
}

static void test_woken(void **state)
{
	static const struct {
		struct tuning_app app;
		enum tuning_woken want;
	} cases[] = {
		{ { .active = 8, .since_arm = 8, .age = 19999 }, TUNING_WOKEN_PARK },
		{ { .active = 7, .since_arm = 8, .age = 0 }, TUNING_WOKEN_SERVE },
		{ { .active = 8, .since_arm = 7, .age = 0 }, TUNING_WOKEN_SERVE },
		{ { .active = 8, .since_arm = 8, .age = 20000 }, TUNING_WOKEN_SERVE },
		/* Another thread read the clock later. */
		{ { .active = 8, .since_arm = 8, .age = -1 }, TUNING_WOKEN_PARK },
		/* A poll in progress counts like many polls. */
		{ { .active = 0, .since_arm = 8, .age = SIZE_MAX >> 1, .inside = true },
		  TUNING_WOKEN_PARK },
		{ { .active = 0, .since_arm = 7, .age = 0, .inside = true }, TUNING_WOKEN_SERVE },
		/* On one processor, the poll also waits for this thread. */
		{ { .active = 0, .since_arm = 8, .age = 0, .inside = true, .one_cpu = true },
		  TUNING_WOKEN_SERVE },
		{ { .active = 8, .since_arm = 8, .age = 90000, .inside = true, .one_cpu = true },
		  TUNING_WOKEN_PARK },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(tuning_woken(&cases[i].app), cases[i].want);
}

static void test_park(void **state)
{
	static const struct tuning_app busy = { .active = 8, .age = 19999 },
				       few = { .active = 7, .age = 0 };
	static const struct tuning_app old = { .active = 8, .age = 20000 },
				       inside = { .inside = true };
	static const struct tuning_app one_cpu = { .inside = true, .one_cpu = true };
	uint64_t nap = TUNING_PARK_FIRST;

	/* Naps double up to TUNING_PARK_LONG. */
	for (uint64_t want = 100000; want <= 800000; want *= 2)
		assert_int_equal(nap = tuning_park_nap(&busy, nap, false), want);
	assert_int_equal(tuning_park_nap(&busy, nap, false), 800000);
	/* Polling has stopped. */
	assert_int_equal(tuning_park_nap(&few, nap, false), 0);
	assert_int_equal(tuning_park_nap(&old, nap, false), 0);
	assert_int_equal(tuning_park_nap(&few, nap, true), 0);
	assert_int_equal(tuning_park_nap(&one_cpu, nap, false), 0);
	/* One long poll: check again soon. */
	assert_int_equal(tuning_park_nap(&inside, nap, false), 50000);
	/* A burst may be waiting. */
	assert_int_equal(tuning_park_nap(&busy, nap, true), 200000);
	assert_int_equal(tuning_park_nap(&inside, nap, true), 200000);
}

static void test_may_answer(void **state)
{
	static const struct {
		struct tuning_app app;
		bool want;
	} cases[] = {
		{ { .active = 8, .since_arm = 8, .age = 9999999 }, true },
		{ { .active = 8, .since_arm = 8, .age = -1 }, true },
		/* Few polls since the thread ran, or since a CQ was armed, or no recent poll. */
		{ { .active = 7, .since_arm = 8, .age = 0 }, false },
		{ { .active = 8, .since_arm = 7, .age = 0 }, false },
		{ { .active = 8, .since_arm = 8, .age = 10000000 }, false },
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_int_equal(tuning_may_answer(&cases[i].app), cases[i].want);
}

/* Naps are put off by an eighth of the time since parking, within limits. */
static void test_put_off(void **state)
{
	assert_false(tuning_puts_nap_off(0, 1000));
	assert_false(tuning_puts_nap_off(500000, 100000));
	assert_true(tuning_puts_nap_off(500000, 100001));
	assert_true(tuning_puts_nap_off(500000, 600000));
	assert_int_equal(tuning_put_off(0, false), 800000);
	assert_int_equal(tuning_put_off(6400000, false), 800000);
	assert_int_equal(tuning_put_off(6400008, false), 800001);
	assert_int_equal(tuning_put_off(51200000, false), 6400000);
	assert_int_equal(tuning_put_off(UINT64_MAX, false), 6400000);
	assert_int_equal(tuning_put_off(UINT64_MAX, true), 800000);
	assert_false(tuning_shortens_nap(0, 1));
	assert_false(tuning_shortens_nap(800001, 1));
	assert_true(tuning_shortens_nap(800002, 1));
}

static void test_linger(void **state)
{
	static const struct {
		struct tuning_served seen;
		enum tuning_idle want;
	} served[] = {
		{ { .short_sleep = true, .received = true, .now = 7, .no_linger_until = 7 },
		  TUNING_IDLE_LINGER },
		{ { .short_sleep = false, .received = true, .now = 7 }, TUNING_IDLE_SLEEP },
		{ { .short_sleep = true, .received = false, .now = 7 }, TUNING_IDLE_SLEEP },
		{ { .short_sleep = true, .received = true, .now = 7, .no_linger_until = 8 },
		  TUNING_IDLE_SLEEP },
		{ { .short_sleep = true, .received = true, .now = 7, .one_cpu = true },
		  TUNING_IDLE_SLEEP },
	};
	static const struct {
		struct tuning_lost seen;
		uint64_t want;
	} lost[] = {
		{ { .away = 200001, .lingered = 1600008 }, 0 },
		{ { .away = 200001, .lingered = 1600008, .last = 10000000 }, 0 },
		{ { .away = 200001, .lingered = 1600007 }, 10000000 },
		{ { .away = 200001, .last = 10000000 }, 20000000 },
		{ { .away = 200001, .last = 640000000 }, 1280000000 },
		{ { .away = 200001, .last = 1280000000 }, 1280000000 },
	};

	for (size_t i = 0; i < COUNT(served); i++)
		assert_int_equal(tuning_served(&served[i].seen), served[i].want);
	for (size_t i = 0; i < COUNT(lost); i++)
		assert_int_equal(tuning_no_linger(&lost[i].seen), lost[i].want);
	assert_int_equal(tuning_lingered(50000), TUNING_IDLE_LINGER);
	assert_int_equal(tuning_lingered(50001), TUNING_IDLE_SLEEP);
	assert_true(tuning_looks_once_more(7));
	assert_false(tuning_looks_once_more(8));
}

static void test_sleep(void **state)
{
	assert_int_equal(tuning_sleep(9999999), TUNING_SLEEP_PPOLL);
	assert_int_equal(tuning_sleep(-1), TUNING_SLEEP_PPOLL);
	assert_int_equal(tuning_sleep(10000000), TUNING_SLEEP_EPOLL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_post),	   cmocka_unit_test(test_post_at),
		cmocka_unit_test(test_ends_batch), cmocka_unit_test(test_gap),
		cmocka_unit_test(test_poll),	   cmocka_unit_test(test_woken),
		cmocka_unit_test(test_park),	   cmocka_unit_test(test_may_answer),
		cmocka_unit_test(test_put_off),	   cmocka_unit_test(test_linger),
		cmocka_unit_test(test_sleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
