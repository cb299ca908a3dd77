/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: net */
/* Faults of packets: corruption, delays, and slow or cut links. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conn/assoc.h"
#include "conn/conn.h"
#include "net/faults_held.h"
#include "net/faults_stages.h"
#include "util/bytes.h"
#include "util/time.h"
#include "wire/sctp_packet.h"

#define LEN 100u
#define DATA_AT (WIRE_SCTP_COMMON_LEN + WIRE_SCTP_DATA_LEN)

/* Makes a packet with one DATA chunk, whose user data ends the packet. */
static void make(uint8_t *packet)
{
	const struct wire_sctp_common h = { .sport = 1, .dport = 2, .vtag = 3 };

	for (unsigned int i = 0; i < LEN; i++)
		packet[i] = (uint8_t)i;
	wire_sctp_common_put(packet, &h);
	wire_sctp_chunk_put(packet + WIRE_SCTP_COMMON_LEN, WIRE_SCTP_DATA, 3,
			    LEN - WIRE_SCTP_COMMON_LEN);
	wire_sctp_checksum_put(packet, LEN);
}

static unsigned int differences(const uint8_t *a, const uint8_t *b, size_t from, size_t to)
{
	unsigned int n = 0;

	for (size_t i = from; i < to; i++)
		n += a[i] != b[i];
	return n;
}

static void damaged_behind_the_checksum(void **state)
{
	uint8_t whole[LEN], packet[LEN];

	make(whole);
	for (uint64_t random = 0; random < 1000; random++) {
		memcpy(packet, whole, LEN);
		faults_packet_corrupt(packet, LEN, 1 + random % 4, random);
		assert_int_equal(differences(packet, whole, 0, LEN), 1 + random % 4);
		assert_false(wire_sctp_checksum_ok(packet, LEN));
	}
}

static void damaged_before_the_checksum(void **state)
{
	uint8_t whole[LEN], packet[LEN];

	make(whole);
	for (uint64_t random = 0; random < 1000; random++) {
		memcpy(packet, whole, LEN);
		faults_packet_corrupt_sealed(packet, LEN, 1 + random % 4, random);
		assert_int_equal(differences(packet, whole, DATA_AT, LEN), 1 + random % 4);
		assert_int_equal(differences(packet, whole, 0, 8), 0);
		assert_int_equal(differences(packet, whole, 12, DATA_AT), 0);
		assert_true(wire_sctp_checksum_ok(packet, LEN));
	}
	/*
	 * A packet without DATA is corrupted after its header. A packet that is already corrupt
	 * stays as it is.
	 */
	whole[WIRE_SCTP_COMMON_LEN] = WIRE_SCTP_SACK;
	memset(whole + 8, 0, 4);
	wire_sctp_checksum_put(whole, LEN);
	memcpy(packet, whole, LEN);
	faults_packet_corrupt_sealed(packet, LEN, 2, 7);
	assert_int_equal(differences(packet, whole, 12, LEN), 2);
	assert_true(wire_sctp_checksum_ok(packet, LEN));
	memcpy(packet, whole, LEN);
	packet[50] ^= 1;
	faults_packet_corrupt_sealed(packet, LEN, 2, 7);
	assert_int_equal(differences(packet, whole, 0, LEN), 1);
}

/* Takes the packets that are due, and returns the first byte of each. */
static const char *taken(struct faults_held *h, uint64_t now)
{
	struct faults_held_packet *held;
	static char text[64];
	size_t n = 0;

	while ((held = faults_held_take(h, now))) {
		text[n++] = (char)held->p.data[0];
		faults_held_free(h, held);
	}
	text[n] = '\0';
	return text;
}

static bool add(struct faults_held *h, const char *name, uint32_t rule, uint64_t due,
		uint64_t behind)
{
	const struct faults_packet p = {
		.out = true,
		.data = (const uint8_t *)name,
		.len = 1,
	};

	return faults_held_add(h, &p, rule, due, behind);
}

static void held_in_order(void **state)
{
	struct faults_held h;

	faults_held_init(&h);
	assert_int_equal(faults_held_next(&h), TIME_NEVER);
	assert_true(add(&h, "c", 1, 30, 0));
	assert_true(add(&h, "a", 1, 10, 0));
	assert_true(add(&h, "b", 2, 10, 0));
	assert_true(add(&h, "d", 2, 40, 0));
	assert_int_equal(faults_held_next(&h), 10);
	assert_string_equal(taken(&h, 9), "");
	assert_string_equal(taken(&h, 30), "abc");
	/* Removing a rule releases only the packets that this rule holds. */
	assert_true(add(&h, "e", 1, 50, 0));
	assert_true(add(&h, "f", 1, 60, 3));
	faults_held_release(&h, 1, 31);
	assert_string_equal(taken(&h, 31), "ef");
	faults_held_release(&h, 0, 31);
	assert_string_equal(taken(&h, 31), "d");
	assert_int_equal(h.bytes, 0);
}

static void overtaken(void **state)
{
	const struct faults_packet out = { .out = true }, in = { 0 };
	struct faults_held h;

	faults_held_init(&h);
	assert_true(add(&h, "a", 1, 100, 2));
	faults_held_overtake(&h, &in, 1);
	faults_held_overtake(&h, &out, 1);
	assert_string_equal(taken(&h, 1), "");
	faults_held_overtake(&h, &out, 2);
	assert_string_equal(taken(&h, 2), "a");
	/* The next packet is not released early. */
	assert_true(add(&h, "b", 1, 100, 2));
	assert_int_equal(faults_held_next(&h), 100);
	assert_string_equal(taken(&h, 100), "b");
}

/* The sending side takes only outgoing packets: packets that arrive wait. */
static void taken_to_leave(void **state)
{
	struct faults_packet p = { .data = (const uint8_t *)"i", .len = 1 };
	struct faults_held_packet *held;
	struct faults_held h;

	faults_held_init(&h);
	assert_true(faults_held_add(&h, &p, 1, 10, 0));
	assert_true(faults_held_add(&h, &p, 1, 10, 1));
	p.out = true;
	assert_true(faults_held_add(&h, &p, 1, 20, 0));
	assert_true(faults_held_add(&h, &p, 1, 30, 1));
	assert_null(faults_held_take_out(&h, 19));
	for (uint64_t now = 20; now <= 30; now += 10) {
		held = faults_held_take_out(&h, now);
		assert_non_null(held);
		assert_true(held->p.out);
		assert_int_equal(held->due, now);
		faults_held_free(&h, held);
		assert_null(faults_held_take_out(&h, now));
	}
	assert_int_equal(faults_held_next(&h), 10);
	faults_held_drop(&h, NULL);
	assert_int_equal(h.bytes, 0);
}

static void bounded(void **state)
{
	static uint8_t data[65000];
	const struct faults_packet p = { .data = data, .len = sizeof(data) };
	struct faults_held h;
	size_t n = 0;

	faults_held_init(&h);
	while (faults_held_add(&h, &p, 1, 1, 0))
		n += sizeof(data);
	assert_in_range(n, FAULTS_HELD_MAX - 2 * sizeof(data), FAULTS_HELD_MAX);
	faults_held_drop(&h, NULL);
	assert_int_equal(h.bytes, 0);
	assert_true(faults_held_add(&h, &p, 1, 1, 0));
	faults_held_drop(&h, NULL);
}

static void slow_link(void **state)
{
	/* 1000 bytes with the headers of IPv4 and UDP, which take 1 ms. */
	const struct faults_packet p = {
		.out = true,
		.len = 972,
		.path = { .remote = ip_addr_from_v4("\x7f\0\0\1"), .udp_port = 1 },
	};
	struct fault_action a = {
		.rule = 1,
		.arg = { [fault_limit_rate_rate] = 8000000, [fault_limit_rate_queue] = 2000 },
		.given = 1u << fault_limit_rate_queue,
	};
	struct faults_packet in = p;
	struct faults_stages s;

	in.out = false;
	faults_stages_init(&s);
	assert_int_equal(faults_stages_limit(&s, &p, &a, 0), 1 * NSEC_PER_MSEC);
	assert_int_equal(faults_stages_limit(&s, &p, &a, 0), 2 * NSEC_PER_MSEC);
	assert_int_equal(faults_stages_limit(&s, &p, &a, 0), 3 * NSEC_PER_MSEC);
	assert_int_equal(faults_stages_limit(&s, &p, &a, 0), TIME_NEVER);
	/* Each direction and each rule has its own queue. */
	assert_int_equal(faults_stages_limit(&s, &in, &a, 0), 1 * NSEC_PER_MSEC);
	a.rule = 2;
	assert_int_equal(faults_stages_limit(&s, &p, &a, 0), 1 * NSEC_PER_MSEC);
	a.rule = 1;
	assert_int_equal(faults_stages_limit(&s, &p, &a, NSEC_PER_MSEC), 4 * NSEC_PER_MSEC);
	assert_int_equal(faults_stages_limit(&s, &p, &a, 9 * NSEC_PER_MSEC), 10 * NSEC_PER_MSEC);
	faults_stages_release(&s, 0);
	assert_true(list_empty(&s.links));
}

static void cut_links(void **state)
{
	struct fault_attrs packet = { .peer = ip_addr_from_v4("\x7f\0\0\1"),
				      .port = 1,
				      .peer_port = 2,
				      .direction = FAULT_OUT };
	struct faults_net_cut cut = { .kind = FAULTS_NET_LOSE, .rule = 1, .until = 100 };
	struct faults_stages s;

	faults_stages_init(&s);
	assert_null(faults_stages_cut(&s, &packet, 0));
	assert_true(faults_stages_add_cut(&s, &cut, 0));
	assert_non_null(faults_stages_cut(&s, &packet, 99));
	assert_null(faults_stages_cut(&s, &packet, 100));
	faults_stages_release(&s, 2);
	assert_non_null(faults_stages_cut(&s, &packet, 99));
	faults_stages_release(&s, 1);
	assert_null(faults_stages_cut(&s, &packet, 99));
	/* A cut for one peer and its ports. */
	cut.peer = packet.peer;
	cut.port = 1;
	cut.peer_port = 2;
	assert_true(faults_stages_add_cut(&s, &cut, 0));
	assert_non_null(faults_stages_cut(&s, &packet, 0));
	packet.peer_port = 3;
	assert_null(faults_stages_cut(&s, &packet, 0));
	packet.peer_port = 2;
	packet.peer.b[15] = 2;
	assert_null(faults_stages_cut(&s, &packet, 0));
	/* A cut for ABORTs that leave. */
	faults_stages_release(&s, 0);
	cut = (struct faults_net_cut){ .kind = FAULTS_NET_LOSE_ABORT, .until = 100 };
	assert_true(faults_stages_add_cut(&s, &cut, 0));
	assert_null(faults_stages_cut(&s, &packet, 0));
	packet.chunk = 1u << WIRE_SCTP_ABORT;
	assert_non_null(faults_stages_cut(&s, &packet, 0));
	packet.direction = FAULT_IN;
	assert_null(faults_stages_cut(&s, &packet, 0));
	/* Expired cuts make room. */
	for (unsigned int i = 1; i < FAULTS_CUTS; i++)
		assert_true(faults_stages_add_cut(&s, &cut, 0));
	assert_false(faults_stages_add_cut(&s, &cut, 0));
	/* A cut without a rule, such as a port that is down, stays. */
	packet.direction = FAULT_OUT;
	faults_stages_release(&s, 0);
	assert_non_null(faults_stages_cut(&s, &packet, 0));
	assert_true(faults_stages_add_cut(&s, &cut, 100));
}

/* ---- associations ---- */

static const struct path_addr primary = {
	.local = { .b = { [10] = 0xff, [11] = 0xff, 10, 0, 0, 1 } },
	.remote = { .b = { [10] = 0xff, [11] = 0xff, 10, 0, 0, 2 } },
};

static const struct path_addr *addr_of(const struct conn_assoc *a)
{
	return &primary;
}

static uint16_t remote_port_of(const struct conn_assoc *a)
{
	return 2;
}

/* The peer has 10.0.0.2 and 10.1.0.2. */
static bool has_address(const struct conn_assoc *a, const struct ip_addr *remote)
{
	return ip_addr_is_v4(remote) && remote->b[12] == 10 && remote->b[13] <= 1 &&
	       remote->b[14] == 0 && remote->b[15] == 2;
}

/*
 * Rules and cuts for any address of a peer, known to its association, match packets on all of the
 * peer's paths.
 */
static void peer_of_several_addresses(void **state)
{
	const struct transport transport = { .addr = addr_of,
					     .remote_port = remote_port_of,
					     .has_address = has_address };
	struct conn conn = { .transport = &transport };
	struct endpoint ep = { .conn = &conn };
	struct conn_assoc assoc = { .ep = &ep };
	const struct ip_addr other = ip_addr_from_v4("\x0a\1\0\2");
	struct faults_net_cut cut = { .kind = FAULTS_NET_LOSE, .rule = 1, .until = 100 };
	uint8_t packet[LEN];
	struct faults_packet p = {
		.ep = &ep, .out = true, .path = primary, .data = packet, .len = LEN
	};
	struct fault_attrs attrs;
	struct faults_stages s;

	make(packet);
	list_init(&ep.assocs);
	list_add(&ep.assocs, &assoc.node);
	faults_stages_init(&s);
	cut.peer = other;
	assert_true(faults_stages_add_cut(&s, &cut, 0));
	for (int i = 0; i < 2; i++) {
		faults_packet_attrs(&p, &attrs);
		assert_true(fault_attrs_has_peer(&attrs, &primary.remote));
		assert_true(fault_attrs_has_peer(&attrs, &other));
		assert_false(fault_attrs_has_peer(&attrs, &primary.local));
		assert_non_null(faults_stages_cut(&s, &attrs, 0));
		p.path.remote = other; /* also for packets on that path */
	}
	/* Only the packet's own address of a stranger is known. */
	list_del(&assoc.node);
	faults_packet_attrs(&p, &attrs);
	assert_true(fault_attrs_has_peer(&attrs, &other));
	assert_false(fault_attrs_has_peer(&attrs, &primary.remote));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(damaged_behind_the_checksum),
		cmocka_unit_test(damaged_before_the_checksum),
		cmocka_unit_test(held_in_order),
		cmocka_unit_test(overtaken),
		cmocka_unit_test(taken_to_leave),
		cmocka_unit_test(bounded),
		cmocka_unit_test(slow_link),
		cmocka_unit_test(cut_links),
		cmocka_unit_test(peer_of_several_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
