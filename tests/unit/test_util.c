/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: util */
/* WRAP: getauxval crc32c_fold_works */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include <cmocka.h>
#include <isa-l/crc.h>

#include "sim/simnet.h"
#include "util/alloc.h"
#include "util/bytes.h"
#include "util/crc32c.h"
#include "util/list.h"
#include "util/serial.h"
#include "util/timerq.h"

static void test_bytes(void **state)
{
	uint8_t b[9] = { 0 };

	put_be64(b + 1, 0x0102030405060708ull);
	assert_int_equal(b[1], 1);
	assert_int_equal(b[8], 8);
	assert_int_equal(get_be64(b + 1), 0x0102030405060708ull);
	assert_int_equal(get_be32(b + 3), 0x03040506);
	assert_int_equal(get_be16(b + 7), 0x0708);
	put_be32(b, 0xa1b2c3d4);
	assert_int_equal(b[0], 0xa1);
	put_be16(b, 0x1234);
	assert_int_equal(b[1], 0x34);
	put_le32(b + 1, 0xa1b2c3d4);
	assert_int_equal(b[1], 0xd4);
	assert_int_equal(get_le32(b + 1), 0xa1b2c3d4);
	assert_int_equal(round_up4(0), 0);
	assert_int_equal(round_up4(5), 8);
	assert_int_equal(round_up4(8), 8);
}

static void test_serial(void **state)
{
	assert_true(serial32_lt(0xffffffff, 0));
	assert_false(serial32_lt(0, 0xffffffff));
	assert_false(serial32_lt(5, 5));
	assert_true(serial32_le(5, 5));
	assert_true(serial32_gt(3, 0xfffffff0));
	assert_true(serial32_ge(3, 3));
	assert_true(serial32_lt(0, 0x7fffffff));
	assert_false(serial32_lt(0, 0x80000000));
	assert_false(serial32_lt(0x80000000, 0));
	assert_true(serial16_lt(0xfffe, 1));
	assert_false(serial16_lt(1, 0xfffe));
	assert_true(serial16_le(7, 7));
	assert_false(serial16_lt(7, 7));
}

/* Bit by bit, as in RFC 9260 appendix A. */
static uint32_t slow_crc32c(const uint8_t *p, size_t len)
{
	uint32_t crc = UINT32_MAX;

	while (len--) {
		crc ^= *p++;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78u : 0);
	}
	return ~crc;
}

/*
 * An ARM processor without optional features, or an x86 processor that leaves long pieces to ISA-L.
 */
static bool poor;

unsigned long __real_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type);
unsigned long __wrap_getauxval(unsigned long type)
{
	return poor ? 0 : __real_getauxval(type);
}

bool __real_crc32c_fold_works(void);
bool __wrap_crc32c_fold_works(void);
bool __wrap_crc32c_fold_works(void)
{
	return !poor && __real_crc32c_fold_works();
}

static void fill(uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		data[i] = (uint8_t)(i * 167 >> 3 ^ i);
}

/* Short pieces use another algorithm than long ones. */
static void check_lengths(void)
{
	uint8_t data[1000];

	fill(data, sizeof(data));
	for (size_t len = 0; len < sizeof(data) - 3; len++) {
		const uint8_t *p = data + len % 4;

		assert_int_equal(crc32c(p, len), slow_crc32c(p, len));
		for (size_t cut = len % 7; cut <= len; cut += 61)
			assert_int_equal(crc32c_add(crc32c(p, cut), p + cut, len - cut),
					 slow_crc32c(p, len));
	}
}

static void test_crc32c_lengths(void **state)
{
	check_lengths();
	poor = true;
	check_lengths();
	poor = false;
}

/* ISA-L's tables, for processors without a suitable instruction. */
static void test_crc32c_tables(void **state)
{
	uint8_t data[300];

	fill(data, sizeof(data));
	for (size_t len = 0; len < sizeof(data); len++)
		assert_int_equal(~crc32_iscsi_base(data, (int)len, UINT32_MAX),
				 slow_crc32c(data, len));
}

/* The RFC's check value, and the value of 32 zero bytes. */
static void test_crc32c(void **state)
{
	static const uint8_t zero[32];

	assert_int_equal(crc32c("123456789", 9), 0xe3069283);
	assert_int_equal(crc32c(zero, sizeof(zero)), 0x8a9136aa);
	assert_int_equal(crc32c_add(crc32c("1234", 4), "56789", 5), 0xe3069283);
}

struct item {
	int value;
	struct list_node node;
};

static void test_list(void **state)
{
	struct item items[4];
	struct list_node head;
	int i, sum = 0;

	list_init(&head);
	assert_true(list_empty(&head));
	assert_null(list_pop(&head));
	for (i = 0; i < 4; i++) {
		items[i].value = i;
		list_init(&items[i].node);
		assert_false(list_linked(&items[i].node));
		list_add_tail(&head, &items[i].node);
		assert_true(list_linked(&items[i].node));
	}
	list_del(&items[2].node);
	list_del(&items[2].node);
	list_for_each(n, &head)
		sum = 10 * sum + list_entry(n, struct item, node)->value;
	assert_int_equal(sum, 13);
	list_add(&head, &items[2].node);
	assert_int_equal(list_entry(list_pop(&head), struct item, node)->value, 2);
	list_for_each_safe(n, &head)
		list_del(n);
	assert_true(list_empty(&head));
}

/* Returns the value of the next element of a walk, or -1. */
static int step(struct list_node *head, struct list_node *mark)
{
	struct list_node *n = list_step(head, mark);

	return n ? list_entry(n, struct item, node)->value : -1;
}

/* A walk visits each element that stays once, while other elements come and go. */
static void test_list_step(void **state)
{
	struct item items[5];
	struct list_node head, mark;

	list_init(&head);
	list_init(&mark);
	assert_int_equal(step(&head, &mark), -1);
	assert_false(list_linked(&mark));
	for (int i = 0; i < 5; i++) {
		items[i].value = i;
		list_init(&items[i].node);
		if (i < 4)
			list_add_tail(&head, &items[i].node);
	}
	assert_int_equal(step(&head, &mark), 0);
	list_del(&items[0].node); /* visited already */
	list_del(&items[1].node); /* not visited yet */
	assert_int_equal(step(&head, &mark), 2);
	list_add_tail(&head, &items[4].node);
	assert_int_equal(step(&head, &mark), 3);
	list_del(&items[3].node);
	assert_int_equal(step(&head, &mark), 4);
	list_del(&items[4].node);
	assert_int_equal(step(&head, &mark), -1);
	assert_false(list_linked(&mark));
	/* The next walk starts from the beginning. */
	assert_int_equal(step(&head, &mark), 2);
	list_del(&mark);
	list_del(&items[2].node);
	assert_true(list_empty(&head));
}

/* Random operations, compared with a linear search. */
static void test_timerq(void **state)
{
	struct timerq q = { 0 };
	struct timerq_node n[100] = { 0 };
	struct sim_random r;
	unsigned int i, j;

	sim_random_init(&r, 1);
	assert_null(timerq_first(&q));
	assert_int_equal(timerq_reserve(&q, 100), 0);
	for (i = 0; i < 20000; i++) {
		struct timerq_node *x = &n[sim_random_below(&r, 100)];
		const struct timerq_node *min = NULL;

		if (sim_random_below(&r, 3))
			timerq_set(&q, x, sim_random_below(&r, 1000));
		else
			timerq_remove(&q, x);
		for (j = 0; j < 100; j++)
			if (n[j].index && (!min || n[j].when < min->when))
				min = &n[j];
		if (min)
			assert_int_equal(timerq_first(&q)->when, min->when);
		else
			assert_null(timerq_first(&q));
	}
	timerq_fini(&q);
}

/* Entries keep their numbers, even if the sequence wraps. New entries are zero. */
static void test_grown(void **state)
{
	const uint32_t first = UINT32_MAX - 2;
	uint32_t size = 0;
	uint64_t *table = alloc_grown(NULL, &size, sizeof(*table), first, 5);

	assert_non_null(table);
	assert_int_equal(size, 8);
	for (uint32_t i = 0; i < size; i++)
		table[(first + i) & (size - 1)] = 100 + i;
	table = alloc_grown(table, &size, sizeof(*table), first, 17);
	assert_non_null(table);
	assert_int_equal(size, 32);
	for (uint32_t i = 0; i < size; i++)
		assert_int_equal(table[(first + i) & (size - 1)], i < 8 ? 100 + i : 0);
	free(table);
}

/* Whole cache lines, zeroed on request. A length that wraps when rounded up is out of memory. */
static void test_lines(void **state)
{
	static volatile size_t beyond = SIZE_MAX - 10; /* compilers warn about a constant */
	uint8_t *first = alloc_lines(1), *second = alloc_lines_unset(ALLOC_LINE + 1);

	assert_non_null(first);
	assert_non_null(second);
	assert_int_equal((uintptr_t)first % ALLOC_LINE, 0);
	assert_int_equal((uintptr_t)second % ALLOC_LINE, 0);
	assert_int_equal(first[0], 0);
	assert_int_equal(alloc_line_up(ALLOC_LINE + 1), 2 * ALLOC_LINE);
	assert_null(alloc_lines(beyond));
	free(first);
	free(second);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),	      cmocka_unit_test(test_serial),
		cmocka_unit_test(test_crc32c),	      cmocka_unit_test(test_crc32c_lengths),
		cmocka_unit_test(test_crc32c_tables), cmocka_unit_test(test_list),
		cmocka_unit_test(test_list_step),     cmocka_unit_test(test_timerq),
		cmocka_unit_test(test_grown),	      cmocka_unit_test(test_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
