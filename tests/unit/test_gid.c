/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/* The GID table: entries stay where they are, whatever comes and goes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "net/gid.h"

static struct gid_table table;
static unsigned int left_out;

static struct gid_entry addr(uint8_t last, unsigned int ifindex, unsigned int rank)
{
	struct gid_entry e = { .ifindex = ifindex, .rank = rank };

	e.ip.b[10] = e.ip.b[11] = 0xff;
	e.ip.b[12] = 10;
	e.ip.b[15] = last;
	return e;
}

static bool update(unsigned int n, const struct gid_entry *now)
{
	struct gid_entry copy[GID_TABLE_LEN + 3];

	memcpy(copy, now, n * sizeof(*now));
	return gid_table_update(&table, copy, n, &left_out);
}

static int find(uint8_t last, unsigned int ifindex)
{
	struct gid_entry e = addr(last, 0, 0);

	return gid_table_find(&table, e.ip.b, ifindex);
}

static int reset(void **state)
{
	memset(&table, 0, sizeof(table));
	return 0;
}

static void test_order(void **state)
{
	assert_true(update(4, (struct gid_entry[]){ addr(1, 1, 3), addr(2, 9, 0), addr(3, 4, 0),
						    addr(4, 2, 1) }));
	assert_int_equal(find(3, 0), 0);
	assert_int_equal(find(2, 0), 1);
	assert_int_equal(find(4, 0), 2);
	assert_int_equal(find(1, 0), 3);
	assert_int_equal(find(5, 0), -ENOENT);
	assert_int_equal(find(3, 9), -ENOENT);
	assert_false(update(4, (struct gid_entry[]){ addr(4, 2, 1), addr(1, 1, 3), addr(2, 9, 0),
						     addr(3, 4, 0) }));
}

static void test_holes(void **state)
{
	update(3, (struct gid_entry[]){ addr(1, 1, 0), addr(2, 1, 0), addr(3, 1, 0) });
	/* 1 and 2 go: 3 stays where it is. */
	assert_true(update(1, (struct gid_entry[]){ addr(3, 1, 0) }));
	assert_int_equal(find(3, 0), 2);
	assert_int_equal(find(1, 0), -ENOENT);
	assert_false(table.slot[0].valid);
	/* 2 comes back to its slot, not to the first one that is empty; that is for 4. */
	assert_true(update(2, (struct gid_entry[]){ addr(3, 1, 0), addr(2, 1, 0) }));
	assert_int_equal(find(2, 0), 1);
	assert_true(update(3, (struct gid_entry[]){ addr(3, 1, 3), addr(2, 1, 2), addr(4, 1, 0) }));
	assert_int_equal(find(2, 0), 1);
	assert_int_equal(find(4, 0), 0);
	assert_int_equal(find(3, 0), 2);
	/* 1 finds its own slot taken. */
	assert_true(update(4, (struct gid_entry[]){ addr(3, 1, 0), addr(2, 1, 0), addr(4, 1, 0),
						    addr(1, 1, 0) }));
	assert_int_equal(find(1, 0), 3);
	assert_true(update(0, NULL));
	assert_false(update(0, NULL));
	assert_int_equal(find(1, 0), -ENOENT);
}

/* fe80::1 may be on every interface. */
static void test_same_gid_on_two_interfaces(void **state)
{
	update(2, (struct gid_entry[]){ addr(1, 5, 0), addr(1, 3, 0) });
	assert_int_equal(find(1, 0), 0);
	assert_int_equal(find(1, 3), 0);
	assert_int_equal(find(1, 5), 1);
	assert_true(update(1, (struct gid_entry[]){ addr(1, 5, 0) }));
	assert_int_equal(find(1, 0), 1);
	assert_int_equal(find(1, 3), -ENOENT);
	/* Listed twice, as the kernel may while things change. */
	update(3, (struct gid_entry[]){ addr(1, 5, 0), addr(7, 5, 0), addr(7, 5, 0) });
	assert_int_equal(find(7, 0), 0);
	assert_false(table.slot[2].valid);
}

static void test_full(void **state)
{
	struct gid_entry now[GID_TABLE_LEN + 3];

	for (unsigned int i = 0; i < GID_TABLE_LEN + 3; i++)
		now[i] = addr((uint8_t)i, 1, i < 3 ? 1 : 0);
	assert_true(update(GID_TABLE_LEN + 3, now));
	assert_int_equal(left_out, 3);
	assert_int_equal(find(2, 0), -ENOENT);
	assert_int_equal(find(3, 0), 0);
	/* One goes: one of those that were left out takes its place. */
	now[10] = now[0];
	assert_true(update(GID_TABLE_LEN + 3, now));
	assert_int_equal(left_out, 2);
	assert_int_equal(find(0, 0), 7);
	assert_int_equal(find(10, 0), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_order, reset),
		cmocka_unit_test_setup(test_holes, reset),
		cmocka_unit_test_setup(test_same_gid_on_two_interfaces, reset),
		cmocka_unit_test_setup(test_full, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
