/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: wire */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/rows.h"
#include "wire/rdmap.h"
#include "wire/terminate.h"

static void control_octet(void **state)
{
	ROWS("5040-4.1-02 5040-4.1-05");
	assert_int_equal(rdmap_octet(RDMAP_SEND), 0x43);
	assert_int_equal(rdmap_octet(RDMAP_WRITE), 0x40);
	assert_int_equal(rdmap_octet(RDMAP_TERMINATE), 0x47);
	assert_int_equal(rdmap_version(0x73), 1);
	assert_int_equal(rdmap_opcode(0x73), RDMAP_SEND);
	assert_int_equal(rdmap_version(0xc3), 3);
}

static const uint8_t request[RDMAP_READ_REQ_LEN] = {
	0xde, 0xad, 0xbe, 0xef, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0,    0,
	1,    2,    0xca, 0xfe, 0xba, 0xbe, 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10,
};

static void read_request(void **state)
{
	ROWS("5040-4.4-01");
	struct rdmap_read_request r;
	uint8_t buf[RDMAP_READ_REQ_LEN];

	rdmap_get_read_request(&r, request);
	assert_int_equal(r.sink_stag, 0xdeadbeef);
	assert_true(r.sink_to == 0x0123456789abcdefull);
	assert_int_equal(r.size, 0x102);
	assert_int_equal(r.src_stag, 0xcafebabe);
	assert_true(r.src_to == 0xfedcba9876543210ull);
	rdmap_put_read_request(buf, &r);
	assert_memory_equal(buf, request, sizeof(request));
}

/* RFC 7306 figure 4. */
static void atomic_request(void **state)
{
	ROWS("7306-5.2.1-01 7306-5.2.1-02 7306-10-01");
	static const uint8_t wire[RDMAP_ATOMIC_REQ_LEN] = {
		0,    0,    0,	  2,	0xca, 0xfe, 0xba, 0xbe, 1,    2,    3,	  4,	0x11,
		0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26,
		0x27, 0x28, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x41, 0x42, 0x43,
		0x44, 0x45, 0x46, 0x47, 0x48, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58,
	};
	uint8_t buf[RDMAP_ATOMIC_REQ_LEN];
	struct rdmap_atomic_request r;

	rdmap_get_atomic_request(&r, wire);
	assert_int_equal(r.opcode, RDMAP_CMP_SWAP);
	assert_int_equal(r.id, 0xcafebabe);
	assert_int_equal(r.stag, 0x01020304);
	assert_true(r.to == 0x1112131415161718 && r.data == 0x2122232425262728);
	assert_true(r.mask == 0x3132333435363738 && r.compare == 0x4142434445464748);
	assert_true(r.compare_mask == 0x5152535455565758);
	rdmap_put_atomic_request(buf, &r);
	assert_memory_equal(buf, wire, sizeof(wire));
	memset(buf, 0xff, 4);
	rdmap_get_atomic_request(&r, buf);
	assert_int_equal(r.opcode, 15);
}

/* A bad Read Request: M, D and R, 52 bytes (RFC 5040 4.8). */
static void terminate_with_everything(void **state)
{
	ROWS("5040-4.8-01 5040-4.8-02 5040-4.8-30");
	struct term_message t = { .error = TERM_RDMAP_STAG,
				  .has_header = true,
				  .has_read_request = true,
				  .segment_len = 46,
				  .header = { 0x41, 0x41, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1 } };
	uint8_t buf[TERM_MAX_LEN + 1];
	struct term_message d;

	memcpy(t.read_request, request, sizeof(request));
	assert_int_equal(term_encode(&t, buf), 52);
	assert_memory_equal(buf, "\x01\x00\xe0\x00\x00\x2e\x41\x41", 8);
	assert_memory_equal(buf + 24, request, sizeof(request));
	assert_int_equal(term_decode(&d, buf, 52), 0);
	assert_memory_equal(&d, &t, sizeof(t));
	for (size_t n = 0; n < 52; n++)
		assert_int_equal(term_decode(&d, buf, n), -EINVAL);
}

static void terminate_tagged(void **state)
{
	ROWS("5040-4.8-27 5040-4.8-28");
	struct term_message t = { .error = TERM_DDP_BOUNDS,
				  .has_header = true,
				  .segment_len = 0x102,
				  .header = { 0xc1, 0x40, 1, 2, 3, 4 } };
	uint8_t buf[TERM_MAX_LEN];
	struct term_message d;

	assert_int_equal(term_encode(&t, buf), 20);
	assert_memory_equal(buf, "\x11\x01\xc0\x00\x01\x02\xc1\x40\x01\x02\x03\x04", 12);
	assert_int_equal(term_decode(&d, buf, 20), 0);
	assert_int_equal(d.error, 0x1101);
	assert_false(d.has_read_request);
	for (size_t n = 0; n < 20; n++) {
		uint8_t *exact = malloc(n + 1); /* for sanitizers: exact size */

		memcpy(exact + 1, buf, n);
		assert_int_equal(term_decode(&d, exact + 1, n), -EINVAL);
		free(exact);
	}
}

static void terminate_bare(void **state)
{
	ROWS("5040-4.8-05 5040-4.8-29");
	static const uint8_t reserved[] = { 0x01, 0x00, 0x1f, 0xff };
	struct term_message t = { .error = TERM_LLP_IRD };
	uint8_t buf[TERM_MAX_LEN];
	struct term_message d;

	assert_int_equal(term_encode(&t, buf), 4);
	assert_memory_equal(buf, "\x20\x06\x00\x00", 4);
	assert_int_equal(term_decode(&d, reserved, 4), 0);
	assert_int_equal(d.error, TERM_RDMAP_STAG);
	assert_false(d.has_header || d.has_read_request);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_octet),    cmocka_unit_test(read_request),
		cmocka_unit_test(atomic_request),   cmocka_unit_test(terminate_with_everything),
		cmocka_unit_test(terminate_tagged), cmocka_unit_test(terminate_bare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
