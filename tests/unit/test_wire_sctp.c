/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: wire */
/* VALGRIND: yes */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "conformance/rows.h"
#include "sim/simnet.h"
#include "wire/sctp_init.h"
#include "wire/sctp_packet.h"

static void test_common(void **state)
{
	const struct wire_sctp_common h = { 0x1234, 0x5678, 0x9abcdef0 };
	struct wire_sctp_common g;
	uint8_t p[16] = { 0 };
	unsigned int i;

	ROWS("9260-3-02 9260-6.8-02");
	wire_sctp_common_put(p, &h);
	assert_int_equal(p[0], 0x12);
	assert_int_equal(p[2], 0x56);
	assert_int_equal(p[4], 0x9a);
	wire_sctp_checksum_put(p, sizeof(p));
	assert_true(wire_sctp_checksum_ok(p, sizeof(p)));
	for (i = 0; i < 8 * sizeof(p); i++) {
		p[i / 8] ^= 1u << (i % 8);
		assert_false(wire_sctp_checksum_ok(p, sizeof(p)));
		p[i / 8] ^= 1u << (i % 8);
	}
	wire_sctp_common_get(p, &g);
	assert_int_equal(g.sport, h.sport);
	assert_int_equal(g.dport, h.dport);
	assert_int_equal(g.vtag, h.vtag);
}

/* A COOKIE ACK packet computed by hand. The checksum's lowest byte comes first. */
static void test_checksum_order(void **state)
{
	uint8_t p[16] = { 0, 1, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 11, 0, 0, 4 };
	uint32_t crc = 0xffffffff;
	unsigned int i, bit;

	ROWS("9260-6.8-01");
	for (i = 0; i < sizeof(p); i++) {
		crc ^= p[i];
		for (bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78 : crc >> 1;
	}
	crc = ~crc;
	wire_sctp_checksum_put(p, sizeof(p));
	for (i = 0; i < 4; i++)
		assert_int_equal(p[8 + i], crc >> (8 * i) & 0xff);
}

static void test_chunks(void **state)
{
	ROWS("9260-6.10-02");
	/* Two chunks, the second one without its padding; then invalid lengths. */
	const uint8_t p[] = { 1, 2, 0, 5, 9, 0, 0, 0, 7, 8, 0, 6, 1, 2 };
	uint8_t bad[] = { 1, 0, 0, 3, 1, 0, 0, 9, 1 };
	const uint8_t *q = p;
	struct wire_sctp_chunk c;

	assert_true(wire_sctp_chunk_next(&q, p + sizeof(p), &c));
	assert_int_equal(c.type, 1);
	assert_int_equal(c.flags, 2);
	assert_int_equal(wire_sctp_value_len(&c), 1);
	assert_int_equal(wire_sctp_value(&c)[0], 9);
	assert_true(wire_sctp_chunk_next(&q, p + sizeof(p), &c));
	assert_int_equal(c.type, 7);
	assert_int_equal(c.len, 6);
	assert_ptr_equal(q, p + sizeof(p));
	assert_false(wire_sctp_chunk_next(&q, p + sizeof(p), &c));
	q = bad;
	assert_false(wire_sctp_chunk_next(&q, bad + 4, &c));
	q = bad + 4;
	assert_false(wire_sctp_chunk_next(&q, bad + 9, &c));
	q = bad + 6;
	assert_false(wire_sctp_chunk_next(&q, bad + 9, &c));
}

static void test_data(void **state)
{
	struct wire_sctp_data d = {
		.flags = 7,
		.tsn = 0x01020304,
		.sid = 0x0506,
		.ppid = 16,
		.len = 45,
	};
	static const uint8_t header[16] = { 0, 7, 0, 61, 1, 2, 3, 4, 5, 6, 0, 0, 0, 0, 0, 16 };
	const uint8_t *q;
	struct wire_sctp_chunk c;
	struct wire_sctp_data e;
	uint8_t p[64];

	ROWS("9260-3.3.1-01 9260-3.2-06");
	memset(p, 0xff, sizeof(p));
	wire_sctp_data_put(p, &d);
	assert_int_equal(wire_sctp_pad(p, 61), 64);
	assert_memory_equal(p, header, 16);
	assert_int_equal(p[60], 0xff);
	assert_int_equal(p[61] | p[62] | p[63], 0);
	q = p;
	assert_true(wire_sctp_chunk_next(&q, p + 64, &c));
	assert_true(wire_sctp_data_get(&c, &e));
	assert_int_equal(e.tsn, d.tsn);
	assert_int_equal(e.sid, d.sid);
	assert_int_equal(e.ppid, 16);
	assert_int_equal(e.len, 45);
	assert_ptr_equal(e.data, p + 16);
	c.len = 15;
	assert_false(wire_sctp_data_get(&c, &e));
}

static void test_sack(void **state)
{
	const struct wire_sctp_gap gaps[] = { { 2, 3 }, { 5, 0x1234 } };
	const uint32_t dups[] = { 0xdeadbeef };
	struct wire_sctp_chunk c;
	struct wire_sctp_sack s;
	const uint8_t *q;
	uint8_t p[64];
	size_t len = wire_sctp_sack_put(p, 77, 99, gaps, 2, dups, 1);

	ROWS("9260-3.3.4-01");
	assert_int_equal(len, 16 + 12);
	q = p;
	assert_true(wire_sctp_chunk_next(&q, p + len, &c));
	assert_true(wire_sctp_sack_get(&c, &s));
	assert_int_equal(s.cum, 77);
	assert_int_equal(s.a_rwnd, 99);
	assert_int_equal(s.gaps, 2);
	assert_int_equal(wire_sctp_sack_gap(&s, 1).start, 5);
	assert_int_equal(wire_sctp_sack_gap(&s, 1).end, 0x1234);
	assert_int_equal(wire_sctp_sack_dup(&s, 0), 0xdeadbeef);
	put_be16(p + 14, 2);
	assert_false(wire_sctp_sack_get(&c, &s));
	put_be16(p + 14, 0xffff);
	put_be16(p + 12, 0xffff);
	assert_false(wire_sctp_sack_get(&c, &s));
}

static void test_init(void **state)
{
	struct wire_sctp_init init = {
		.tag = 1,
		.a_rwnd = 2,
		.os = 3,
		.mis = 4,
		.tsn = 5,
		.adaptation = 6,
	};
	static const uint8_t fixed[] = { 1, 0, 0, 28, 0, 0, 0,	  1, 0, 0, 0, 2, 0, 3,
					 0, 4, 0, 0,  0, 5, 0xc0, 6, 0, 8, 0, 0, 0, 6 };
	struct wire_sctp_init got;
	struct wire_sctp_chunk c;
	const uint8_t *q;
	uint8_t p[256];
	size_t len = wire_sctp_init_put(p, WIRE_SCTP_INIT, &init);
	unsigned int i;

	ROWS("9260-3.3.2-01 5061-4.2.6-01");
	assert_int_equal(len, sizeof(fixed));
	assert_memory_equal(p, fixed, sizeof(fixed));
	for (i = 0; i < 20; i++) /* more reports than are kept */
		len += wire_sctp_param_put(p + len, 0xc000, NULL, 0);
	len += wire_sctp_param_put(p + len, WIRE_SCTP_PARAM_PAD, "xxxxxx", 6);
	len += wire_sctp_param_put(p + len, WIRE_SCTP_PARAM_COOKIE, "abcde", 5);
	wire_sctp_chunk_put(p, WIRE_SCTP_INIT_ACK, 0, len);
	q = p;
	assert_true(wire_sctp_chunk_next(&q, p + len, &c));
	assert_true(wire_sctp_init_get(&c, &got));
	assert_int_equal(got.tag, 1);
	assert_int_equal(got.mis, 4);
	assert_int_equal(got.tsn, 5);
	assert_true(got.has_adaptation);
	assert_int_equal(got.adaptation, 6);
	assert_int_equal(got.cookie_len, 5);
	assert_memory_equal(got.cookie, "abcde", 5);
	assert_int_equal(got.reports, WIRE_SCTP_REPORT_MAX);
	/* The bits 00 stop the rest. */
	put_be16(p + 28, 0x1000);
	assert_true(wire_sctp_init_get(&c, &got));
	assert_int_equal(got.reports, 0);
	assert_null(got.cookie);
	/* An adaptation indication with a wrong length is ignored. */
	put_be16(p + 22, 7);
	assert_true(wire_sctp_init_get(&c, &got));
	assert_false(got.has_adaptation);
	c.len = 19;
	assert_false(wire_sctp_init_get(&c, &got));
	/* With an address type. */
	init.address_type = WIRE_SCTP_PARAM_IPV6;
	assert_int_equal(wire_sctp_init_put(p, WIRE_SCTP_INIT, &init), sizeof(fixed) + 8);
	assert_memory_equal(p + 20, "\0\x0c\0\6\0\6\0\0\xc0\6\0\x08", 12);
	q = p;
	assert_true(wire_sctp_chunk_next(&q, p + sizeof(fixed) + 8, &c));
	assert_true(wire_sctp_init_get(&c, &got));
	assert_int_equal(got.address_type, WIRE_SCTP_PARAM_IPV6);
	assert_true(got.has_adaptation);
	put_be16(p + 22, 5); /* empty */
	assert_true(wire_sctp_init_get(&c, &got));
	assert_int_equal(got.address_type, 0);
}

static void test_causes(void **state)
{
	struct wire_sctp_cause_tlv cause;
	uint8_t p[32];
	size_t len = wire_sctp_cause_put(p, WIRE_SCTP_CAUSE_STREAM, "abcdef", 6);
	const uint8_t *q = p;

	assert_int_equal(len, 12);
	len += wire_sctp_cause_put(p + len, WIRE_SCTP_CAUSE_USER_ABORT, NULL, 0);
	assert_true(wire_sctp_cause_next(&q, p + len, &cause));
	assert_int_equal(cause.code, WIRE_SCTP_CAUSE_STREAM);
	assert_int_equal(cause.len, 6);
	assert_true(wire_sctp_cause_next(&q, p + len, &cause));
	assert_int_equal(cause.len, 0);
	assert_false(wire_sctp_cause_next(&q, p + len, &cause));
	put_be16(p + 2, 3);
	q = p;
	assert_false(wire_sctp_cause_next(&q, p + len, &cause));
	put_be16(p + 2, 40);
	assert_false(wire_sctp_cause_next(&q, p + len, &cause));
}

/* Decoders stay inside any bytes (heap memory of the exact size, for sanitizers). */
static void test_random(void **state)
{
	struct wire_sctp_cause_tlv cause;
	struct wire_sctp_init init;
	struct wire_sctp_chunk c;
	struct wire_sctp_data d;
	struct wire_sctp_sack s;
	struct sim_random r;
	unsigned int i, sum = 0;

	sim_random_init(&r, 5);
	for (i = 0; i < 30000; i++) {
		size_t len = sim_random_below(&r, 80), k;
		uint8_t *p = malloc(len ? len : 1);
		const uint8_t *q = p, *v;

		for (k = 0; k < len; k++)
			p[k] = (uint8_t)(sim_random_below(&r, 3) ? sim_random_below(&r, 16) :
								   sim_random_u64(&r));
		if (len >= 4 && sim_random_below(&r, 2))
			put_be16(p + 2, (uint16_t)len);
		while (wire_sctp_chunk_next(&q, p + len, &c)) {
			if (wire_sctp_data_get(&c, &d) && d.len)
				sum += d.data[d.len - 1];
			if (wire_sctp_sack_get(&c, &s)) {
				for (k = 0; k < s.gaps; k++)
					sum += wire_sctp_sack_gap(&s, (unsigned int)k).end;
				for (k = 0; k < s.dups; k++)
					sum += wire_sctp_sack_dup(&s, (unsigned int)k);
			}
			if (wire_sctp_init_get(&c, &init)) {
				for (k = 0; k < init.reports; k++)
					sum += init.report[k].raw[init.report[k].len - 1];
				for (k = 0; k < init.cookie_len; k++)
					sum += init.cookie[k];
			}
			v = wire_sctp_value(&c);
			while (wire_sctp_cause_next(&v, c.raw + c.len, &cause))
				for (k = 0; k < cause.len; k++)
					sum += cause.info[k];
		}
		free(p);
	}
	assert_true(sum > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_common), cmocka_unit_test(test_checksum_order),
		cmocka_unit_test(test_chunks), cmocka_unit_test(test_data),
		cmocka_unit_test(test_sack),   cmocka_unit_test(test_init),
		cmocka_unit_test(test_causes), cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
