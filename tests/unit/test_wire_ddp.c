/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: wire */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "conformance/rows.h"
#include "wire/ddp.h"

static void tagged(void **state)
{
	ROWS("5041-4.1-01 5041-4.2-02 5041-4.4-01");
	static const uint8_t want[] = { 0xc1, 0x40, 0x11, 0x22, 0x33, 0x44, 0x01,
					0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef };
	uint8_t buf[sizeof(want)];
	struct ddp_header h;

	ddp_put_tagged(buf, true, 0x40, 0x11223344, 0x0123456789abcdefull);
	assert_memory_equal(buf, want, sizeof(want));
	assert_int_equal(ddp_get(&h, want, sizeof(want)), 14);
	assert_int_equal(h.control, 0xc1);
	assert_true(ddp_is_tagged(h.control) && ddp_is_last(h.control));
	assert_int_equal(ddp_version(h.control), 1);
	assert_int_equal(h.rdmap, 0x40);
	assert_int_equal(h.stag, 0x11223344);
	assert_true(h.to == 0x0123456789abcdefull);
	assert_int_equal(ddp_get(&h, want, 13), 0);
	ddp_put_tagged(buf, false, 0x42, 0, 0);
	assert_int_equal(buf[0], 0x81);
}

static void untagged(void **state)
{
	ROWS("5041-4.1-01 5041-4.3-02 5041-4.4-01");
	static const uint8_t want[] = { 0x41, 0x44, 0xa0, 0xa1, 0xa2, 0xa3, 0,	  0, 0,
					2,    0,    0,	  1,	0,    0,    0x10, 0, 3 };
	uint8_t buf[sizeof(want)];
	struct ddp_header h;

	ddp_put_untagged(buf, true, 0x44, 0xa0a1a2a3, 2, 256, 0x100003);
	assert_memory_equal(buf, want, sizeof(want));
	assert_int_equal(ddp_get(&h, want, sizeof(want)), 18);
	assert_int_equal(h.stag, 0xa0a1a2a3);
	assert_int_equal(h.qn, 2);
	assert_int_equal(h.msn, 256);
	assert_int_equal(h.mo, 0x100003);
	assert_int_equal(ddp_get(&h, want, 17), 0);
	ddp_put_untagged(buf, false, 0x43, 0, 0, 1, 0);
	assert_int_equal(buf[0], 0x01);
}

/* The reserved bits are ignored (RFC 5041 4.1). */
static void reserved_bits(void **state)
{
	ROWS("5041-4.1-12");
	uint8_t buf[18] = { 0x7d };
	struct ddp_header h;

	assert_int_equal(ddp_get(&h, buf, sizeof(buf)), 18);
	assert_true(ddp_is_last(h.control));
	assert_int_equal(ddp_version(h.control), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tagged),
		cmocka_unit_test(untagged),
		cmocka_unit_test(reserved_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
