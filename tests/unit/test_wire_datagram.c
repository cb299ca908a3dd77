/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: wire */
/* VALGRIND: yes */
/* The chunk of a datagram (docs/wire.md), byte by byte, and packets that are no datagrams. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wire/room.h"

#define HEAD WIRE_SCTP_COMMON_LEN
#define PAYLOAD 5

static const struct wire_ud sample = {
	.flags = WIRE_UD_WITH_IMM | WIRE_UD_SOLICITED,
	.dst_qp = 0x123456,
	.src_qp = 0xabcdef,
	.qkey = 0x1ee7a330,
	.imm = 0xdeadbeef,
	.class_flow = 0x6812345,
	.hop_limit = 64,
	.len = PAYLOAD,
};

/* Writes a whole packet. Returns its length. */
static size_t packet(uint8_t *p)
{
	memset(p, 0, HEAD);
	wire_ud_put(p + HEAD, &sample);
	memcpy(p + HEAD + WIRE_UD_LEN, "hello", PAYLOAD);
	return HEAD + WIRE_UD_LEN + PAYLOAD;
}

static void test_bytes(void **state)
{
	static const uint8_t expected[WIRE_UD_LEN] = {
		0xbd, 0,    0,	  37,	1,    1,    0,	  3,	0,    0x12, 0x34,
		0x56, 0,    0xab, 0xcd, 0xef, 0x1e, 0xe7, 0xa3, 0x30, 0xde, 0xad,
		0xbe, 0xef, 6,	  0x81, 0x23, 0x45, 64,	  0,	0,    0,
	};
	uint8_t p[64];
	struct wire_ud u;

	packet(p);
	assert_memory_equal(p + HEAD, expected, sizeof(expected));
	assert_int_equal(wire_datagram_kind(p + HEAD, WIRE_UD_LEN + PAYLOAD), WIRE_DATAGRAM_UD);
	assert_true(wire_ud_get(&u, p + HEAD));
	assert_int_equal(u.flags, sample.flags);
	assert_int_equal(u.dst_qp, sample.dst_qp);
	assert_int_equal(u.src_qp, sample.src_qp);
	assert_int_equal(u.qkey, sample.qkey);
	assert_int_equal(u.imm, sample.imm);
	assert_int_equal(u.class_flow, sample.class_flow);
	assert_int_equal(u.hop_limit, sample.hop_limit);
	assert_int_equal(u.len, PAYLOAD);
	assert_memory_equal(u.payload, "hello", PAYLOAD);
}

static void test_what_is_a_datagram(void **state)
{
	uint8_t p[64];
	size_t len = packet(p);

	assert_true(wire_is_datagram(p, len));
	assert_false(wire_is_datagram(p, HEAD + WIRE_DATAGRAM_LEN - 1));
	for (unsigned int i = 4; i < 8; i++) {
		p[i] = 1; /* a verification tag: the packet is SCTP's */
		assert_false(wire_is_datagram(p, len));
		p[i] = 0;
	}
	p[HEAD]++;
	assert_false(wire_is_datagram(p, len));
}

static void test_refused(void **state)
{
	const size_t len = WIRE_UD_LEN + PAYLOAD;
	uint8_t p[64], *c = p + HEAD;
	struct wire_ud u;

	packet(p);
	/* Longer than the packet, shorter than a header, or with another version. */
	assert_int_equal(wire_datagram_kind(c, len - 1), 0);
	put_be16(c + 2, WIRE_DATAGRAM_LEN - 1);
	assert_int_equal(wire_datagram_kind(c, len), 0);
	put_be16(c + 2, (uint16_t)len);
	c[4] = 2;
	assert_int_equal(wire_datagram_kind(c, len), 0);
	/* Shorter than the kind's own header, or with QP numbers of more than 24 bits. */
	packet(p);
	put_be16(c + 2, WIRE_UD_LEN - 1);
	assert_false(wire_ud_get(&u, c));
	put_be16(c + 2, WIRE_UD_LEN);
	assert_true(wire_ud_get(&u, c));
	assert_int_equal(u.len, 0);
	c[8] = 1;
	assert_false(wire_ud_get(&u, c));
	c[8] = 0;
	c[12] = 1;
	assert_false(wire_ud_get(&u, c));
}

static void test_room(void **state)
{
	static const uint8_t request[WIRE_ROOM_REQUEST_LEN] = {
		0xbd, 0, 0, 24, 1, 4, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8,
	};
	static const uint8_t reply[WIRE_ROOM_REPLY_LEN] = {
		0xbd, 0, 0, 20, 1, 5, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0xa, 0xb, 0xc, 0xd,
	};
	struct wire_room room = { .nonce = 0x0102030405060708 };
	uint8_t p[WIRE_ROOM_REQUEST_LEN];

	assert_int_equal(wire_room_put(p, WIRE_DATAGRAM_ROOM_REQUEST, &room), sizeof(request));
	assert_memory_equal(p, request, sizeof(request));
	put_be32(p + 16, 7); /* reserved, and ignored */
	assert_true(wire_room_get(&room, WIRE_DATAGRAM_ROOM_REQUEST, p));
	assert_true(room.nonce == 0x0102030405060708);
	assert_int_equal(room.room, 0);
	put_be16(p + 2, WIRE_ROOM_REQUEST_LEN - 1);
	assert_false(wire_room_get(&room, WIRE_DATAGRAM_ROOM_REQUEST, p));
	room.room = 0x0a0b0c0d;
	assert_int_equal(wire_room_put(p, WIRE_DATAGRAM_ROOM_REPLY, &room), sizeof(reply));
	assert_memory_equal(p, reply, sizeof(reply));
	memset(&room, 0, sizeof(room));
	assert_true(wire_room_get(&room, WIRE_DATAGRAM_ROOM_REPLY, p));
	assert_true(room.nonce == 0x0102030405060708);
	assert_int_equal(room.room, 0x0a0b0c0d);
	put_be16(p + 2, WIRE_ROOM_REPLY_LEN - 1);
	assert_false(wire_room_get(&room, WIRE_DATAGRAM_ROOM_REPLY, p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_what_is_a_datagram),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
