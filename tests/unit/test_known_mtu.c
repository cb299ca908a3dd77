/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: conn */
/* How often the kernel is queried for the MTU of a route. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "conn/conn.h"
#include "conn/known_mtu.h"

static unsigned int asked;
static uint32_t answer;

static uint32_t route_mtu(struct conn *c, const struct path_addr *to)
{
	asked++;
	return answer;
}

static const struct conn_ops ops = { .route_mtu = route_mtu };

static struct path_addr path(uint8_t local, uint8_t remote)
{
	const uint8_t l[4] = { 192, 0, 2, local }, r[4] = { 198, 51, 100, remote };

	return (struct path_addr){ .local = ip_addr_from_v4(l), .remote = ip_addr_from_v4(r) };
}

static int setup(void **state)
{
	static struct conn c;

	memset(&c, 0, sizeof(c));
	c.ops = &ops;
	c.now = 5 * NSEC_PER_SEC;
	asked = 0;
	answer = 1500;
	*state = &c;
	return 0;
}

static void test_asked_once_a_second(void **state)
{
	struct path_addr to = path(1, 2);
	struct conn *c = *state;

	assert_int_equal(known_mtu(c, &to), 1500);
	answer = 9000;
	c->now += KNOWN_MTU_AGE - 1;
	assert_int_equal(known_mtu(c, &to), 1500);
	assert_int_equal(asked, 1);
	c->now++;
	assert_int_equal(known_mtu(c, &to), 9000);
	assert_int_equal(asked, 2);
}

static void test_each_route_has_its_own(void **state)
{
	struct path_addr to = path(1, 2), from_another = path(3, 2), to_another = path(1, 2);
	struct conn *c = *state;

	/* The two last bytes are swapped, so that this address has the slot of the first one. */
	to_another.remote.b[14] = to.remote.b[15];
	to_another.remote.b[15] = to.remote.b[14];
	assert_int_equal(known_mtu(c, &to), 1500);
	answer = 1400;
	assert_int_equal(known_mtu(c, &from_another), 1400);
	answer = 1300;
	assert_int_equal(known_mtu(c, &to_another), 1300);
	answer = 1200;
	assert_int_equal(known_mtu(c, &to), 1200);
	assert_int_equal(asked, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_asked_once_a_second, setup),
		cmocka_unit_test_setup(test_each_route_has_its_own, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
