/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/* The GID table: entries keep their places, whatever is added or removed. */
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
	/* 1 and 2 are removed: 3 keeps its place. */
	assert_true(update(1, (struct gid_entry[]){ addr(3, 1, 0) }));
	assert_int_equal(find(3, 0), 2);
	assert_int_equal(find(1, 0), -ENOENT);
	assert_false(table.slot[0].valid);
	/* 2 returns to its slot, not to the first empty one, which 4 gets. */
	assert_true(update(2, (struct gid_entry[]){ addr(3, 1, 0), addr(2, 1, 0) }));
	assert_int_equal(find(2, 0), 1);
	assert_true(update(3, (struct gid_entry[]){ addr(3, 1, 3), addr(2, 1, 2), addr(4, 1, 0) }));
	assert_int_equal(find(2, 0), 1);
	assert_int_equal(find(4, 0), 0);
	assert_int_equal(find(3, 0), 2);
	/* 1 finds its former slot in use. */
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
	/* The same entry twice, as the kernel may list it during a change. */
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
	/* The last slot repeats the first one. */
	assert_int_equal(left_out, 4);
	assert_int_equal(find(2, 0), -ENOENT);
	assert_int_equal(find(130, 0), -ENOENT);
	assert_int_equal(find(3, 0), 0);
	/* One entry is removed: the best omitted entry takes its slot. */
	now[10] = now[GID_TABLE_LEN + 2];
	assert_true(update(GID_TABLE_LEN + 2, now));
	assert_int_equal(left_out, 3);
	assert_int_equal(find(130, 0), 7);
	assert_int_equal(find(10, 0), -ENOENT);
}

static bool ends_are(uint8_t last)
{
	struct gid_entry e = addr(last, 0, 0);
	int first = 0;

	while (first < GID_TABLE_LEN - 1 && !table.slot[first].valid)
		first++;
	return table.slot[GID_TABLE_LEN - 1].valid && ip_addr_equal(&table.slot[first].ip, &e.ip) &&
	       ip_addr_equal(&table.slot[GID_TABLE_LEN - 1].ip, &e.ip);
}

/*
 * Programs use the first or the last GID. Both are the address with the widest scope, and never
 * move.
 */
static void test_ends(void **state)
{
	update(2, (struct gid_entry[]){ addr(1, 1, 2), addr(2, 1, 0) });
	assert_true(ends_are(2));
	update(4,
	       (struct gid_entry[]){ addr(1, 1, 2), addr(2, 1, 0), addr(3, 1, 0), addr(4, 1, 3) });
	assert_true(ends_are(2));
	assert_int_equal(find(3, 0), 2);
	/*
	 * The address at the ends is removed. The last GID is now another address of this scope. A
	 * returning address gets its slot back.
	 */
	update(3, (struct gid_entry[]){ addr(1, 1, 2), addr(3, 1, 0), addr(4, 1, 3) });
	assert_false(table.slot[0].valid);
	assert_int_equal(find(3, 0), 2);
	assert_memory_equal(table.slot[GID_TABLE_LEN - 1].ip.b, addr(3, 0, 0).ip.b, 16);
	update(4,
	       (struct gid_entry[]){ addr(1, 1, 2), addr(2, 1, 0), addr(3, 1, 0), addr(4, 1, 3) });
	assert_int_equal(find(2, 0), 0);
	assert_memory_equal(table.slot[GID_TABLE_LEN - 1].ip.b, addr(3, 0, 0).ip.b, 16);
}

/* The ends wait for an address with the scope of the removed one. */
static void test_ends_wait(void **state)
{
	update(2, (struct gid_entry[]){ addr(1, 1, 2), addr(2, 1, 0) });
	update(1, (struct gid_entry[]){ addr(1, 1, 2) });
	assert_false(table.slot[GID_TABLE_LEN - 1].valid);
	update(2, (struct gid_entry[]){ addr(1, 1, 2), addr(3, 1, 3) });
	assert_int_equal(find(1, 0), 1);
	assert_int_equal(find(3, 0), 2);
	update(3, (struct gid_entry[]){ addr(1, 1, 2), addr(3, 1, 3), addr(4, 1, 0) });
	assert_true(ends_are(4));
	assert_int_equal(find(4, 0), 0);
}

static struct gid_entry loopback(unsigned int rank)
{
	struct gid_entry e = addr(1, 1, rank);

	e.ip.b[12] = 127;
	return e;
}

static void test_loopback(void **state)
{
	struct gid_entry lo = loopback(4);

	update(2, (struct gid_entry[]){ lo, addr(2, 2, 3) });
	assert_int_equal(gid_table_find(&table, lo.ip.b, 0), -ENOENT);
	assert_true(ends_are(2));
	/* A sole loopback address is listed, and stays for programs that use it. */
	update(1, (struct gid_entry[]){ lo });
	assert_int_equal(gid_table_find(&table, lo.ip.b, 0), 1);
	update(2, (struct gid_entry[]){ lo, addr(2, 2, 3) });
	assert_int_equal(gid_table_find(&table, lo.ip.b, 0), 1);
	assert_true(ends_are(2));
	reset(state);
	update(1, (struct gid_entry[]){ lo });
	assert_int_equal(gid_table_find(&table, lo.ip.b, 0), 0);
	assert_memory_equal(table.slot[GID_TABLE_LEN - 1].ip.b, lo.ip.b, 16);
	update(2, (struct gid_entry[]){ lo, addr(2, 2, 3) });
	assert_int_equal(gid_table_find(&table, lo.ip.b, 0), 0);
	assert_int_equal(find(2, 0), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_order, reset),
		cmocka_unit_test_setup(test_holes, reset),
		cmocka_unit_test_setup(test_same_gid_on_two_interfaces, reset),
		cmocka_unit_test_setup(test_full, reset),
		cmocka_unit_test_setup(test_ends, reset),
		cmocka_unit_test_setup(test_ends_wait, reset),
		cmocka_unit_test_setup(test_loopback, reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
