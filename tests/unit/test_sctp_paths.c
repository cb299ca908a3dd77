/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * A peer with several addresses, chunk by chunk (RFC 9260 5.1.2, 5.2, 5.4, 6.4, 8.2, 8.3; RFC 6951
 * 5).
 */
#include "conformance/rows.h"
#include "fixture/sctp_peer.h"
#include "fixture/sctp_paths.h"

/* IPv6 addresses of another link, and of groups, are not used. */
static void test_v6_list(void **state)
{
	static const struct {
		struct ip_addr addr;
		bool usable;
	} list[] = {
		{ { .b = { 0x20, 0x01, 0x0d, 0xb8, [15] = 3 } }, true },
		{ { .b = { 0xfe, 0xc0, [15] = 3 } }, true },
		{ { .b = { 0xfe, 0xbf, [15] = 3 } }, false },
		{ { .b = { 0xff, 0x02, [15] = 1 } }, false },
	};
	struct wire_sctp_init init = our_init(), ack;
	unsigned int i;

	ROWS("9260-5.1.2-01");
	f.path.local = (struct ip_addr){ .b = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 } };
	f.path.remote = (struct ip_addr){ .b = { 0x20, 0x01, 0x0d, 0xb8, [15] = 2 } };
	begin_tag(0);
	add_init(WIRE_SCTP_INIT, &init);
	for (i = 0; i < 4; i++)
		add_param(WIRE_SCTP_PARAM_IPV6, list[i].addr.b, 16);
	sendp();
	read_init_ack(take(), &ack);
	f.their_tag = ack.tag;
	begin();
	add_cookie_echo(&ack);
	sendp();
	assert_true(f.rx.up);
	assert_int_equal(f.a->paths.others, 4);
	for (i = 0; i < 4; i++) {
		assert_true(ip_addr_equal(&f.a->paths.other[i]->addr.remote, &list[i].addr));
		assert_int_equal(f.a->paths.other[i]->usable, list[i].usable);
	}
}

/*
 * 9260-5.1.2-01, 5.4-01, 5.4-02, 3.3.5-01: a HEARTBEAT with a nonce probes the address. Nothing
 * else is sent there before the answer.
 */
static void test_unconfirmed(void **state)
{
	const struct path_addr second = second_path();
	struct packet *p;
	uint8_t first[24];
	unsigned int i;

	ROWS("9260-5.1.2-01 9260-5.4-01 9260-5.4-02 9260-3.3.5-01");
	establish_two();
	assert_int_equal(f.a->paths.others, 4);
	p = to_second(2 * SEC);
	/*
	 * The peer knows no other local address: a packet from another one would be out of the
	 * blue.
	 */
	assert_true(ip_addr_equal(&p->to.local, &f.path.local));
	assert_int_equal(chunks(p), 1);
	/* 6951-5.7-01: the packet goes to the known UDP port. */
	assert_int_equal(p->to.udp_port, PEER_PORT);
	memcpy(first, chunk_of(p, 0, WIRE_SCTP_HEARTBEAT).raw, 24);
	answer_heartbeat(p, &second, 1);
	assert_false(f.a->paths.other[0]->confirmed);
	/* DATA times out repeatedly, but stays with the first address. */
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	collect();
	for (i = 0; i < 12; i++) {
		uint64_t since = f.now;

		p = to_second(300 * SEC);
		if (!p)
			break;
		chunk_of(p, 0, WIRE_SCTP_HEARTBEAT);
		assert_int_equal(chunks(p), 1);
		assert_memory_not_equal(chunk_of(p, 0, WIRE_SCTP_HEARTBEAT).raw, first, 24);
		/* Only packets from there update the port (6951-5.1-02, 5.4-01). */
		assert_int_equal(p->to.udp_port, second.udp_port);
		/* Intervals double: the host at a listed address is not flooded. */
		assert_in_range(f.now - since, (SEC << i) - 10 * MSEC, (SEC << i) + 10 * MSEC);
	}
	assert_int_equal(i, 5); /* until the peer failed */
	assert_null(f.a);
}

/*
 * Packets of the peer from there cause further HEARTBEATs, but at most one in an RTO, which
 * doubles.
 */
static void test_unconfirmed_speaks(void **state)
{
	const struct path_addr second = second_path();
	uint64_t asked, before;
	struct packet *p;

	establish_two();
	for (p = to_second(2 * SEC); p; p = to_second(300 * SEC)) /* rare by now */
		;
	asked = 0;
	for (int i = 0; i < 3; i++) {
		before = asked;
		for (int k = 0; k < 5; k++) {
			begin();
			add_data(f.a->rx.map.cum + 1);
			send_from(&second);
		}
		p = to_second(70 * SEC);
		assert_non_null(p);
		chunk_of(p, 0, WIRE_SCTP_HEARTBEAT);
		asked = f.now;
		assert_true(!before || asked - before >= 8 * SEC);
		assert_null(to_second(70 * SEC)); /* and one for all packets */
	}
	begin();
	add_data(f.a->rx.map.cum + 1);
	send_from(&second);
	p = to_second(120 * SEC);
	assert_non_null(p);
	answer_heartbeat(p, &second, 0);
	assert_true(sctp_paths_find(f.a, &second.remote)->confirmed);
}

/*
 * A listed address may be another host's, with the same port. If that host connects, it is a
 * separate peer.
 */
static void test_claimed_address(void **state)
{
	const struct path_addr second = second_path();
	struct wire_sctp_init init = our_init(), ack;
	struct wire_sctp_chunk c;
	struct sctp_assoc *old;
	struct packet *p;

	establish_two();
	old = f.a;
	drop_all();
	init.tag = f.tag ^ 0x5555;
	begin_tag(0);
	add_init(WIRE_SCTP_INIT, &init);
	send_from(&second);
	p = take();
	assert_non_null(p);
	assert_true(ip_addr_equal(&p->to.remote, &second.remote));
	c = chunk_of(p, 0, WIRE_SCTP_INIT_ACK);
	assert_true(wire_sctp_init_get(&c, &ack));
	begin_tag(ack.tag);
	add_cookie_echo(&ack);
	send_from(&second);
	assert_true(f.rx.up);
	assert_false(f.rx.restart);
	assert_ptr_not_equal(f.rx.assoc, old);
	assert_int_equal(f.s->table.assoc_count, 2);
	assert_true(sctp_assoc_is_up(old));
}

/* A peer that lists an address before its owner connects does no harm to the owner. */
static void test_claimed_first(void **state)
{
	const struct path_addr second = second_path();
	struct path_addr owner = f.path, claimant = f.path;
	struct sctp_assoc *claim;
	struct packet *p;

	claimant.remote = simnet_v4(9);
	f.path = claimant;
	establish_two();
	claim = f.a;
	drop_all();
	f.path = owner;
	f.tag ^= 0x5555;
	establish_two();
	assert_ptr_not_equal(f.a, claim);
	do
		p = to_second(2 * SEC);
	while (vtag_of(p) != f.tag);
	answer_heartbeat(p, &second, 0);
	assert_true(f.a->paths.other[0]->confirmed);
	assert_false(claim->paths.other[0]->confirmed);
	assert_ptr_equal(sctp_assoc_find_listed(f.ep, &f.path.local, &second.remote, 1, PEER_PORT),
			 f.a);
}

static void connect_out(void)
{
	struct packet *p;
	struct wire_sctp_chunk c;
	struct wire_sctp_init init;

	f.a = sctp_connect(f.ep, &f.path, PEER_PORT, 1500, NULL, f.now);
	assert_non_null(f.a);
	collect();
	p = take();
	c = chunk_of(p, 0, WIRE_SCTP_INIT);
	assert_true(wire_sctp_init_get(&c, &init));
	f.their_tag = init.tag;
	f.their_tsn = init.tsn;
}

/* Keeps the cookie, since the packet is soon overwritten. */
static struct wire_sctp_init keep_ack(const struct packet *p, uint8_t cookie[SCTP_COOKIE_MAX])
{
	struct wire_sctp_chunk c = chunk_of(p, 0, WIRE_SCTP_INIT_ACK);
	struct wire_sctp_init ack;

	assert_true(wire_sctp_init_get(&c, &ack));
	memcpy(cookie, ack.cookie, ack.cookie_len);
	ack.cookie = cookie;
	return ack;
}

/* An INIT ACK from an address that another peer lists belongs to the owner of the address. */
static void test_answer_claimed(void **state)
{
	const struct path_addr second = second_path();
	const struct path_addr owner = f.path;
	struct wire_sctp_init ack = our_init();

	f.path.remote = simnet_v4(9);
	establish_two();
	drop_all();
	f.path = owner;
	connect_out();
	begin();
	add_init(WIRE_SCTP_INIT_ACK, &ack);
	add_param(WIRE_SCTP_PARAM_IPV4, f.path.remote.b + 12, 4);
	add_param(WIRE_SCTP_PARAM_COOKIE, "cookie12", 8);
	send_from(&second);
	assert_int_equal(f.a->state, SCTP_COOKIE_ECHOED);
	chunk_of(take(), 0, WIRE_SCTP_COOKIE_ECHO);
}

/* The peer answers the local INIT, and lists its second address. */
static void answer_init(void)
{
	struct wire_sctp_init ack = our_init();

	begin();
	add_init(WIRE_SCTP_INIT_ACK, &ack);
	add_list();
	add_param(WIRE_SCTP_PARAM_COOKIE, "cookie12", 8);
	sendp();
	chunk_of(take(), 0, WIRE_SCTP_COOKIE_ECHO);
}

static void finish_handshake(void)
{
	begin();
	add(WIRE_SCTP_COOKIE_ACK, 0, 0);
	sendp();
	assert_int_equal(f.events, 1 << SCTP_EVENT_UP);
	assert_int_equal(f.s->table.assoc_count, 1);
}

/*
 * Both sides connect. The peer's INIT comes from another address than the one that this side
 * connects to. The result is one association.
 */
static void test_collision_elsewhere(void **state)
{
	const struct path_addr second = second_path();
	uint8_t cookie[SCTP_COOKIE_MAX];
	struct wire_sctp_init ack;
	struct packet *p;
	unsigned int i;

	ROWS("9260-5.2.1-01 9260-5.1.2-02");
	for (i = 0; i < 4; i++) {
		const struct path_addr *there = i & 2 ? &f.path : &second;

		teardown(NULL);
		setup(NULL);
		connect_out();
		if (i & 1)
			answer_init();
		init_from(&second, f.tag, true);
		p = take();
		/* the address in use, not the source of the INIT */
		assert_true(is_to(p, &f.path));
		assert_int_equal(p->to.udp_port, f.path.udp_port);
		ack = keep_ack(p, cookie);
		assert_int_equal(ack.tag, f.their_tag);
		echo_from(there, &ack);
		assert_int_equal(f.events, 1 << SCTP_EVENT_UP);
		assert_int_equal(f.s->table.assoc_count, 1);
		assert_false(f.rx.up);
		p = take();
		chunk_of(p, 0, WIRE_SCTP_COOKIE_ACK);
		assert_true(is_to(p, &f.path));
		assert_ptr_equal(sctp_assoc_find(f.ep, &second, PEER_PORT, 0), f.a);
		assert_false(f.a->paths.other[0]->confirmed);
		begin();
		add_data(f.tsn++);
		send_from(&second);
		assert_int_equal(f.rx.count, 1);
	}
}

/*
 * As above, with a cookie from before the connect: the cookie is dropped, and the local handshake
 * continues.
 */
static void test_cookie_from_elsewhere(void **state)
{
	const struct path_addr second = second_path();
	uint8_t cookie[SCTP_COOKIE_MAX];
	struct wire_sctp_init ack;
	bool lists;

	ROWS("9260-5.2.4-04");
	for (lists = false;; lists = true) {
		teardown(NULL);
		setup(NULL);
		init_from(&second, f.tag, lists);
		ack = keep_ack(take(), cookie);
		connect_out();
		if (lists) { /* recognised by the address */
			echo_from(&second, &ack);
			nothing();
			assert_int_equal(f.a->state, SCTP_COOKIE_WAIT);
		}
		answer_init();
		echo_from(&second, &ack); /* recognised by the tag */
		nothing();
		assert_int_equal(f.a->state, SCTP_COOKIE_ECHOED);
		finish_handshake();
		echo_from(&second, &ack);
		nothing();
		if (lists)
			break;
	}
}

/* A host that lists the address being connected to, or the peer's address, gains nothing. */
static void test_thief(void **state)
{
	struct path_addr thief = f.path;
	uint8_t cookie[SCTP_COOKIE_MAX];
	struct wire_sctp_init ack;
	struct packet *p;

	ROWS("9260-5.2.1-01 9260-5.2.4-04");
	thief.remote = simnet_v4(9);
	init_from(&thief, 0x99999999, true);
	ack = keep_ack(take(), cookie);
	connect_out();
	echo_from(&thief, &ack); /* the cookie belongs to no peer */
	nothing();
	echo_from(&f.path, &ack); /* from any address */
	nothing();
	init_from(&thief, 0x99999999, true);
	p = take();
	assert_true(is_to(p, &f.path)); /* the real peer, which drops it */
	nothing();
	assert_int_equal(f.a->state, SCTP_COOKIE_WAIT);
	assert_int_equal(f.a->peer_tag, 0);
	answer_init();
	init_from(&thief, 0x99999999, true);
	p = take();
	chunk_of(p, 0, WIRE_SCTP_ABORT);
	assert_int_equal(vtag_of(p), 0x99999999);
	echo_from(&thief, &ack);
	nothing();
	finish_handshake();
	echo_from(&thief, &ack);
	nothing();
	assert_int_equal(f.a->peer_tag, f.tag);
	assert_true(ip_addr_equal(&f.a->path->addr.remote, &f.path.remote));
}

static void expect_echo(const struct path_addr *to)
{
	struct packet *p = take();
	bool first = is_to(p, &f.path);

	chunk_of(p, 0, WIRE_SCTP_COOKIE_ECHO);
	assert_true(is_to(p, to));
	assert_int_equal(p->to.udp_port, PEER_PORT);
	/* 5.4: to an unconfirmed address with a nonce, and without DATA. */
	assert_int_equal(chunks(p), 2);
	chunk_of(p, 1, first ? WIRE_SCTP_DATA : WIRE_SCTP_HEARTBEAT);
	nothing();
}

/* An unanswered COOKIE ECHO is sent to each address of the peer in turn. */
static void test_cookie_echo_in_turn(void **state)
{
	const struct path_addr second = second_path();
	struct wire_sctp_chunk c;
	struct packet *p;
	uint8_t info[20];

	ROWS("9260-5.4-02 9260-5.1-03");
	connect_out();
	answer_init();
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	wait_ns(SEC);
	expect_echo(&second);
	wait_ns(2 * SEC);
	expect_echo(&f.path);
	wait_ns(4 * SEC);
	/* The answer confirms the address of that COOKIE ECHO, and DATA goes there. */
	p = take();
	assert_true(is_to(p, &second));
	c = chunk_of(p, 1, WIRE_SCTP_HEARTBEAT);
	memcpy(info, c.raw + 4, sizeof(info));
	begin();
	add(WIRE_SCTP_COOKIE_ACK, 0, 0);
	memcpy(add(WIRE_SCTP_HEARTBEAT_ACK, 0, sizeof(info)), info, sizeof(info));
	send_from(&second);
	assert_int_equal(f.events, 1 << SCTP_EVENT_UP | 1 << SCTP_EVENT_PATH);
	p = take();
	assert_true(is_to(p, &second));
	chunk_of(p, 0, WIRE_SCTP_DATA);
	wait_ns(0);
	p = take();
	assert_true(is_to(p, &f.path));
	chunk_of(p, 0, WIRE_SCTP_HEARTBEAT);
	assert_true(f.a->paths.other[0]->primary);
	assert_true(ip_addr_equal(&sctp_assoc_addr(f.a)->remote, &f.path.remote));
}

/* The first address was only slow, as its COOKIE ACK or COOKIE ECHO shows: DATA stays there. */
static void test_cookie_echo_late(void **state)
{
	const struct path_addr second = second_path();
	uint8_t cookie[SCTP_COOKIE_MAX];
	struct wire_sctp_init ack;
	bool collides;

	for (collides = false;; collides = true) {
		teardown(NULL);
		setup(NULL);
		connect_out();
		answer_init();
		wait_ns(SEC);
		chunk_of(take(), 0, WIRE_SCTP_COOKIE_ECHO);
		if (collides) {
			init_from(&f.path, f.tag, false);
			ack = keep_ack(take(), cookie);
			echo_from(&f.path, &ack);
		} else {
			begin();
			add(WIRE_SCTP_COOKIE_ACK, 0, 0);
			sendp();
		}
		assert_int_equal(f.events, 1 << SCTP_EVENT_UP);
		answer_heartbeat(to_second(2 * SEC), &second, 0);
		assert_true(f.a->paths.other[0]->confirmed);
		assert_true(f.a->path->primary);
		if (collides)
			break;
	}
}

/*
 * An ICMP error causes a quick attempt elsewhere. A COOKIE ECHO that fills a packet goes only to
 * the first address.
 */
static void test_cookie_echo_elsewhere(void **state)
{
	const struct path_addr second = second_path();
	uint8_t cookie[1436] = { 0 };
	struct wire_sctp_init ack;
	unsigned int i, len;
	uint8_t quoted[8];

	ROWS("9260-5.4-02");
	connect_out();
	answer_init();
	put_be16(quoted, LOCAL_PORT);
	put_be16(quoted + 2, PEER_PORT);
	put_be32(quoted + 4, f.tag);
	sctp_unreachable(f.ep, &f.path, -ECONNREFUSED, quoted, sizeof(quoted), f.now);
	wait_ns(30 * MSEC);
	assert_true(is_to(take(), &second));
	for (len = 1432; len <= 1436; len += 4) { /* 1472 less both headers and the HEARTBEAT */
		teardown(NULL);
		setup(NULL);
		connect_out();
		ack = our_init();
		begin();
		add_init(WIRE_SCTP_INIT_ACK, &ack);
		add_list();
		add_param(WIRE_SCTP_PARAM_COOKIE, cookie, len);
		sendp();
		for (i = 0; i < 4; i++) {
			struct packet *p = take();

			chunk_of(p, 0, WIRE_SCTP_COOKIE_ECHO);
			assert_true(is_to(p, i % 2 && len == 1432 ? &second : &f.path));
			assert_true(p->len <= 1472);
			while (f.head == f.tail)
				wait_ns(100 * MSEC);
		}
	}
}

/*
 * However often a peer sends requests, the COOKIE ECHO goes to the peer itself, not to the listed
 * addresses.
 */
static void test_cookie_echo_asked_for(void **state)
{
	const struct path_addr second = second_path();
	struct packet *p;
	unsigned int i;

	connect_out();
	answer_init();
	wait_ns(SEC);
	assert_true(is_to(take(), &second));
	for (i = 0; i < 10; i++) {
		begin();
		add(WIRE_SCTP_HEARTBEAT, 0, 20);
		sendp();
		p = take();
		chunk_of(p, 0, WIRE_SCTP_COOKIE_ECHO);
		assert_true(is_to(p, &f.path));
		nothing();
	}
}

/* DATA that times out before the first HEARTBEAT also waits for the first address. */
static void test_unconfirmed_at_once(void **state)
{
	unsigned int i;

	establish_two();
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	collect();
	for (i = 0; i < 3; i++)
		chunk_of(to_second(20 * SEC), 0, WIRE_SCTP_HEARTBEAT);
	assert_true(f.a->path->recovery.now.timeouts > 0);
	assert_true(f.a->path->primary);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PEER_TEST(test_v6_list),
		PEER_TEST(test_unconfirmed),
		PEER_TEST(test_unconfirmed_speaks),
		PEER_TEST(test_claimed_address),
		PEER_TEST(test_claimed_first),
		PEER_TEST(test_answer_claimed),
		PEER_TEST(test_collision_elsewhere),
		PEER_TEST(test_cookie_from_elsewhere),
		PEER_TEST(test_thief),
		PEER_TEST(test_cookie_echo_in_turn),
		PEER_TEST(test_cookie_echo_late),
		PEER_TEST(test_cookie_echo_elsewhere),
		PEER_TEST(test_cookie_echo_asked_for),
		PEER_TEST(test_unconfirmed_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
