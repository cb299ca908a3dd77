/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: wire */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "conformance/rows.h"
#include "wire/session.h"

/* RFC 5043 5.2.3: DDP-SSN, function code, private data */
static void plain_initiate(void **state)
{
	ROWS("5043-5.2.1-01 5043-5.2.3-01 5043-5.2.3-02");
	static const uint8_t want[] = { 0x01, 0x02, 0x00, 0x01, 'a', 'b', 'c' };
	struct session_control c = { .ssn = 0x0102,
				     .function = SESSION_INITIATE,
				     .private_len = 3,
				     .private_data = (const uint8_t *)"abc" };
	uint8_t buf[SESSION_CONTROL_MAX];
	struct session_control d;

	assert_int_equal(session_encode(&c, buf, sizeof(buf)), sizeof(want));
	assert_memory_equal(buf, want, sizeof(want));
	assert_int_equal(session_decode(&d, want, sizeof(want)), 0);
	assert_int_equal(d.ssn, 0x0102);
	assert_int_equal(d.function, 1);
	assert_int_equal(d.private_len, 3);
	assert_memory_equal(d.private_data, "abc", 3);
}

/* RFC 6581 9: A=1, B=0, IRD 4, C=1, D=0, ORD 8 */
static void enhanced_fields(void **state)
{
	ROWS("6581-7-01 6581-7-02 6581-7-09 6581-9-01 6581-9-02");
	static const uint8_t want[] = { 0, 0, 0, 5, 0x80, 0x04, 0x80, 0x08, 'x' };
	struct session_control c = {
		.function = SESSION_ENHANCED_INITIATE,
		.enhanced = { .ird = 4, .ord = 8, .peer_to_peer = true, .rtr_write = true },
		.private_len = 1,
		.private_data = (const uint8_t *)"x",
	};
	uint8_t buf[16];
	struct session_control d;

	assert_int_equal(session_encode(&c, buf, sizeof(buf)), sizeof(want));
	assert_memory_equal(buf, want, sizeof(want));
	assert_int_equal(session_decode(&d, want, sizeof(want)), 0);
	assert_true(d.enhanced.peer_to_peer && d.enhanced.rtr_write);
	assert_false(d.enhanced.rtr_send || d.enhanced.rtr_read);
	assert_int_equal(d.enhanced.ird, 4);
	assert_int_equal(d.enhanced.ord, 8);
	assert_int_equal(d.private_len, 1);
}

static void depths_never_spill(void **state)
{
	ROWS("6581-9-03 6581-9.2-20 6581-7-03");
	static const uint8_t want[] = { 0, 0, 0, 6, 0x3f, 0xfe, 0x3f, 0xff };
	struct session_control c = {
		.function = SESSION_ENHANCED_ACCEPT,
		.enhanced = { .ird = 0xffff, .ord = 0x3fff, .rtr_send = true, .rtr_read = true }
	};
	uint8_t buf[16];

	assert_int_equal(session_encode(&c, buf, sizeof(buf)), 8);
	assert_memory_equal(buf, want, 8);
}

static void flags_without_a_are_ignored(void **state)
{
	ROWS("6581-9-02 6581-9-03 6581-9.2-21");
	static const uint8_t msg[] = { 0, 0, 0, 5, 0x41, 0x02, 0xc3, 0x04 };
	struct session_control d;

	assert_int_equal(session_decode(&d, msg, sizeof(msg)), 0);
	assert_false(d.enhanced.peer_to_peer || d.enhanced.rtr_send || d.enhanced.rtr_write ||
		     d.enhanced.rtr_read);
	assert_int_equal(d.enhanced.ird, 0x102);
	assert_int_equal(d.enhanced.ord, 0x304);
}

static void limits(void **state)
{
	ROWS("5043-5.2.3-10 5043-5.2.3-11 5043-5.2.3-12 6581-7-10 6581-7-11 6581-7-12 "
	     "6581-9-04 5043-6.1-11");
	uint8_t data[513] = { 0 }, buf[600], msg[517] = { 0, 0, 0, 1 };
	struct session_control c = { .function = SESSION_INITIATE, .private_data = data };
	struct session_control d;

	c.private_len = 512;
	assert_int_equal(session_encode(&c, buf, sizeof(buf)), 516);
	c.private_len = 513;
	assert_int_equal(session_encode(&c, buf, sizeof(buf)), 0);
	c.function = SESSION_ENHANCED_INITIATE;
	c.private_len = 508;
	assert_int_equal(session_encode(&c, buf, sizeof(buf)), 516);
	assert_int_equal(session_encode(&c, buf, 515), 0);
	c.private_len = 509;
	assert_int_equal(session_encode(&c, buf, sizeof(buf)), 0);
	c.function = SESSION_TERMINATE;
	c.private_len = 1;
	assert_int_equal(session_encode(&c, buf, sizeof(buf)), 0);

	assert_int_equal(session_decode(&d, msg, 516), 0);
	assert_int_equal(session_decode(&d, msg, 517), -EINVAL);
	assert_int_equal(session_decode(&d, msg, 3), -EINVAL);
	msg[3] = SESSION_TERMINATE;
	assert_int_equal(session_decode(&d, msg, 4), 0);
	assert_int_equal(session_decode(&d, msg, 8), -EINVAL);
	assert_int_equal(d.function, SESSION_TERMINATE);
	msg[3] = SESSION_ENHANCED_INITIATE;
	assert_int_equal(session_decode(&d, msg, 7), -EINVAL);
	assert_int_equal(session_decode(&d, msg, 8), 0);
	msg[3] = SESSION_ENHANCED_REJECT;
	assert_int_equal(session_decode(&d, msg, 4), 0);
	assert_int_equal(session_decode(&d, msg, 6), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_initiate),
		cmocka_unit_test(enhanced_fields),
		cmocka_unit_test(depths_never_spill),
		cmocka_unit_test(flags_without_a_are_ignored),
		cmocka_unit_test(limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
