/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: conn */
/* The private data of sessions between QPs connected out of band. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "conn/oob_message.h"

static void test_message(void **state)
{
	struct oob_message m = { .reason = OOB_STRANGER,
				 .rnr_retry = 3,
				 .type = OOB_UC,
				 .src = 0x123456,
				 .dst = 0xfedcba,
				 .token = 0x0102030405060708 };
	struct oob_message got;
	uint8_t buf[OOB_MESSAGE_LEN + 1] = { 0 };

	assert_int_equal(oob_message_encode(&m, buf), OOB_MESSAGE_LEN);
	assert_true(oob_message_decode(&got, buf, OOB_MESSAGE_LEN));
	assert_int_equal(got.reason, m.reason);
	assert_int_equal(got.rnr_retry, m.rnr_retry);
	assert_int_equal(got.type, m.type);
	assert_int_equal(got.src, m.src);
	assert_int_equal(got.dst, m.dst);
	assert_int_equal(got.token, m.token);
	assert_false(oob_message_decode(&got, buf, OOB_MESSAGE_LEN - 1));
	assert_false(oob_message_decode(&got, buf, OOB_MESSAGE_LEN + 1));
	assert_false(oob_message_decode(&got, buf, 0));
	for (int i = 0; i < 9; i++) {
		buf[i] ^= 1;
		assert_false(oob_message_decode(&got, buf, OOB_MESSAGE_LEN));
		buf[i] ^= 1;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_message) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
