/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/* Addresses of the same host, as proved by earlier associations, and INITs to these addresses. */
#include "conformance/rows.h"
#include "fixture/sctp_paths.h"

/* ---- the table ---- */

static unsigned int others(const struct sctp_known *k, uint8_t n, uint64_t now,
			   struct ip_addr *other)
{
	struct ip_addr addr = simnet_v4(n);

	return sctp_known_others(k, &addr, now, other);
}

static void learn(struct sctp_known *k, uint8_t one, uint8_t two, uint64_t now)
{
	struct ip_addr addr[] = { simnet_v4(one), simnet_v4(two) };

	sctp_known_learn(k, addr, 2, now);
}

static void test_age(void **state)
{
	struct ip_addr other[SCTP_KNOWN_ADDRS], two = simnet_v4(2), three = simnet_v4(3);
	struct sctp_known k;

	sctp_known_init(&k);
	assert_int_equal(others(&k, 1, SEC, other), 0);
	learn(&k, 1, 2, SEC);
	assert_int_equal(others(&k, 1, SEC, other), 1);
	assert_true(ip_addr_equal(&other[0], &two));
	learn(&k, 3, 1, 101 * SEC);
	assert_int_equal(others(&k, 1, 101 * SEC, other), 2); /* the last proved one first */
	assert_true(ip_addr_equal(&other[0], &three) && ip_addr_equal(&other[1], &two));
	assert_int_equal(others(&k, 1, SEC + SCTP_KNOWN_TIME, other), 1);
	assert_true(ip_addr_equal(&other[0], &three));
	assert_int_equal(others(&k, 2, SEC + SCTP_KNOWN_TIME, other),
			 0); /* perhaps another host's by now */
	assert_int_equal(others(&k, 1, 101 * SEC + SCTP_KNOWN_TIME, other), 0);
	sctp_known_fini(&k);
}

static void test_moves(void **state)
{
	struct ip_addr other[SCTP_KNOWN_ADDRS], two = simnet_v4(2), three = simnet_v4(3);
	struct sctp_known k;

	sctp_known_init(&k);
	learn(&k, 1, 2, SEC);
	learn(&k, 3, 4, SEC);
	learn(&k, 5, 3, SEC); /* 3 and 5 are on the host of 4 */
	assert_int_equal(others(&k, 4, SEC, other), 2);
	learn(&k, 1, 3, SEC); /* now 3 is another host's */
	assert_int_equal(others(&k, 4, SEC, other), 1);
	assert_int_equal(others(&k, 2, SEC, other), 2);
	sctp_known_forget(&k, &three);
	assert_int_equal(others(&k, 3, SEC, other), 0);
	assert_int_equal(others(&k, 1, SEC, other), 1);
	sctp_known_forget(&k, &two);
	assert_int_equal(others(&k, 1, SEC, other), 0);
	assert_int_equal(k.count, 1); /* a single address is not kept */
	sctp_known_fini(&k);
}

static void test_bounds(void **state)
{
	struct ip_addr other[SCTP_KNOWN_ADDRS];
	struct sctp_known k;
	unsigned int i;

	sctp_known_init(&k);
	for (i = 0; i < 2 * SCTP_KNOWN_ADDRS; i++)
		learn(&k, 1, (uint8_t)(2 + i), SEC);
	assert_int_equal(others(&k, 1, SEC, other), SCTP_KNOWN_ADDRS - 1);
	assert_int_equal(others(&k, 2, SEC, other), 0);
	for (i = 0; i < 2 * SCTP_KNOWN_HOSTS; i++) {
		struct ip_addr addr[] = { simnet_v4(1), simnet_v4(1) };

		addr[0].b[13] = addr[1].b[13] = (uint8_t)(1 + i / 128);
		addr[0].b[14] = addr[1].b[14] = (uint8_t)(i % 128);
		addr[1].b[15] = 2;
		sctp_known_learn(&k, addr, 2, SEC);
		assert_int_equal(sctp_known_others(&k, &addr[0], SEC, other), 1);
	}
	assert_int_equal(k.count, SCTP_KNOWN_HOSTS);
	assert_int_equal(others(&k, 1, SEC, other), 0);
	sctp_known_fini(&k);
}

/* ---- use by associations ---- */

/* The association proves both addresses of the peer, and ends. */
static void acquaint(void)
{
	const struct path_addr second = second_path();

	answer_heartbeat(to_second(2 * SEC), &second, 0);
	drop_all();
	f.a->pending |= SCTP_PEND_HEARTBEAT;
	sctp_assoc_ready(f.a);
	collect();
	for (struct packet *p = take(); p; p = take())
		if (is_to(p, &f.path) && p->data[WIRE_SCTP_COMMON_LEN] == WIRE_SCTP_HEARTBEAT)
			answer_heartbeat(p, &f.path, 0);
	begin();
	add(WIRE_SCTP_ABORT, 0, 0);
	sendp();
	assert_null(f.a);
	f.events = 0;
	drop_all();
}

static void know(void)
{
	establish_two();
	acquaint();
}

static struct packet *expect_init(const struct path_addr *to)
{
	struct wire_sctp_init init;
	struct packet *p = take();
	struct wire_sctp_chunk c;

	assert_non_null(p);
	assert_int_equal(vtag_of(p), 0);
	c = chunk_of(p, 0, WIRE_SCTP_INIT);
	assert_int_equal(chunks(p), 1);
	assert_true(is_to(p, to));
	assert_int_equal(p->to.udp_port, f.path.udp_port);
	assert_true(wire_sctp_init_get(&c, &init));
	f.their_tag = init.tag;
	nothing();
	return p;
}

static void connect_out(void)
{
	f.a = sctp_connect(f.ep, &f.path, PEER_PORT, 1500, NULL, f.now);
	assert_non_null(f.a);
	collect();
	expect_init(&f.path);
}

/*
 * Delivers the peer's INIT ACK from this address. The link of the peer's first address is down, so
 * the list omits this address.
 */
static void answer_init(const struct path_addr *from)
{
	struct wire_sctp_init ack = our_init();

	begin();
	add_init(WIRE_SCTP_INIT_ACK, &ack);
	add_param(WIRE_SCTP_PARAM_COOKIE, "cookie12", 8);
	send_from(from);
}

/* Nobody answers at the address named by the user. */
static void test_elsewhere(void **state)
{
	struct path_addr second = second_path();
	struct packet *p;

	second.udp_port = f.path.udp_port;
	know();
	connect_out();
	wait_ns(SEC);
	expect_init(&second);
	wait_ns(2 * SEC);
	expect_init(&f.path);
	wait_ns(4 * SEC);
	expect_init(&second);
	answer_init(&second);
	p = take();
	assert_true(is_to(p, &second));
	chunk_of(p, 0, WIRE_SCTP_COOKIE_ECHO);
	assert_int_equal(chunks(p), 1); /* the INIT ACK has confirmed the path */
	begin();
	add(WIRE_SCTP_COOKIE_ACK, 0, 0);
	send_from(&second);
	assert_int_equal(f.events, 1 << SCTP_EVENT_UP);
	assert_true(ip_addr_equal(&sctp_assoc_addr(f.a)->remote, &second.remote));
	/* Both addresses now name this association. */
	assert_true(sctp_assoc_has_address(f.a, &f.path.remote));
	assert_null(sctp_connect(f.ep, &second, PEER_PORT, 1500, NULL, f.now));
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	collect();
	p = take();
	assert_true(is_to(p, &second));
	chunk_of(p, 0, WIRE_SCTP_DATA);
}

/* Older knowledge may be wrong by now. */
static void test_not_known(void **state)
{
	know();
	f.now += SCTP_KNOWN_TIME;
	connect_out();
	wait_ns(SEC);
	expect_init(&f.path);
}

/* An address that the peer only listed is not known: no host answered there. */
static void test_claim(void **state)
{
	struct path_addr second = second_path(), third = f.path;

	second.udp_port = f.path.udp_port;
	third.remote = simnet_v4(4);
	establish_two();
	assert_int_equal(sctp_paths_add(f.a, &third, f.now + SEC), 0);
	acquaint();
	connect_out();
	wait_ns(SEC);
	expect_init(&second);
	wait_ns(2 * SEC);
	expect_init(&f.path);
}

/*
 * An ABORT from an address that the user did not name means nothing for the address that the user
 * named.
 */
static void test_refused(void **state)
{
	struct path_addr second = second_path();

	second.udp_port = f.path.udp_port;
	know();
	connect_out();
	wait_ns(SEC);
	expect_init(&second);
	begin();
	add(WIRE_SCTP_ABORT, 0, 0);
	send_from(&second);
	assert_int_equal(f.events, 0);
	wait_ns(2 * SEC);
	expect_init(&f.path);
	answer_init(&f.path);
	chunk_of(take(), 0, WIRE_SCTP_COOKIE_ECHO);
	assert_true(ip_addr_equal(&f.a->path->addr.remote, &f.path.remote));
}

/* Another association with that address exists: an INIT would restart it. */
static void test_rival(void **state)
{
	struct path_addr second = second_path();
	struct sctp_assoc *other;

	second.udp_port = f.path.udp_port;
	know();
	connect_out();
	other = f.a;
	f.a = sctp_connect(f.ep, &second, PEER_PORT, 1500, NULL, f.now);
	assert_non_null(f.a);
	assert_ptr_not_equal(f.a, other);
	collect();
	expect_init(&second);
	/* Each association retransmits to the address that the user named. */
	wait_ns(SEC);
	assert_true(is_to(take(), &f.path));
	assert_true(is_to(take(), &second));
	nothing();
}

/* The peer's INIT comes from its known address: the answer goes there (RFC 9260 5.2.1). */
static void test_collision(void **state)
{
	struct path_addr second = second_path();
	struct wire_sctp_init ack;
	struct packet *p;

	ROWS("9260-5.2.1-01");
	know();
	connect_out();
	init_from(&second, f.tag, true);
	p = take();
	assert_true(is_to(p, &second));
	read_init_ack(p, &ack);
	assert_int_equal(ack.tag, f.their_tag);
	echo_from(&second, &ack);
	assert_int_equal(f.events, 1 << SCTP_EVENT_UP);
	assert_int_equal(f.s->table.assoc_count, 1);
	p = take();
	chunk_of(p, 0, WIRE_SCTP_COOKIE_ACK);
	assert_true(is_to(p, &second));
	assert_true(ip_addr_equal(&f.a->path->addr.remote, &second.remote));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_age),    cmocka_unit_test(test_moves),
		cmocka_unit_test(test_bounds), PEER_TEST(test_elsewhere),
		PEER_TEST(test_not_known),     PEER_TEST(test_claim),
		PEER_TEST(test_refused),       PEER_TEST(test_rival),
		PEER_TEST(test_collision),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
