/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * A peer with several addresses, chunk by chunk (RFC 9260 5.1.2, 5.2, 5.4, 6.4, 8.2, 8.3; RFC 6951
 * 5).
 */
#include "conformance/rows.h"
#include "fixture/sctp_peer.h"
#include "fixture/sctp_paths.h"

static void confirm(void)
{
	const struct path_addr second = second_path();

	answer_heartbeat(to_second(2 * SEC), &second, 0);
	assert_true(f.a->paths.other[0]->confirmed);
	drop_all();
	assert_false(f.a->pending & SCTP_PEND_PATHS); /* no other address is probed now */
}

/* 6951-5.1-02: each address has its own UDP port; 9260-5.4-02: the nonce confirms. */
static void test_confirmed(void **state)
{
	const struct path_addr second = second_path();

	ROWS("6951-5.1-02");
	establish_two();
	confirm();
	assert_int_equal(f.a->paths.other[0]->addr.udp_port, second.udp_port);
	assert_int_equal(f.a->path->addr.udp_port, PEER_PORT);
	assert_false(f.a->paths.other[1]->usable || f.a->paths.other[2]->usable ||
		     f.a->paths.other[3]->usable);
	/* DATA still prefers the first address (6.4-01). */
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	collect();
	assert_true(is_to(take(), &f.path));
}

/* 9260-6.4-01: answers go to the source of the request. */
static void test_answers(void **state)
{
	const struct path_addr second = second_path();
	struct path_addr local = f.path;
	struct packet *p;

	ROWS("9260-6.4-01");
	establish_two();
	/* No answer goes to an unconfirmed address. */
	begin();
	add_data(f.tsn++);
	send_from(&second);
	p = take();
	assert_int_equal(sack_in(p, 0).cum, f.tsn - 1);
	assert_true(is_to(p, &f.path));
	confirm();
	begin();
	add_data(f.tsn++);
	add_data(f.tsn++);
	send_from(&second);
	wait_ns(20 * MSEC);
	p = take();
	assert_int_equal(sack_in(p, 0).cum, f.tsn - 1);
	assert_int_equal(chunks(p), 1);
	assert_true(is_to(p, &second));
	assert_int_equal(p->to.udp_port, second.udp_port);
	begin();
	add_data(f.tsn++);
	add_data(f.tsn++);
	sendp();
	wait_ns(20 * MSEC);
	p = take();
	assert_int_equal(sack_in(p, 0).cum, f.tsn - 1);
	assert_true(is_to(p, &f.path));
	/* An answer leaves from the local address that got the request. */
	local.local = simnet_v4(44);
	begin();
	memset(add(WIRE_SCTP_HEARTBEAT, 0, 20), 3, 20);
	send_from(&local);
	p = take();
	chunk_of(p, 0, WIRE_SCTP_HEARTBEAT_ACK);
	assert_true(ip_addr_equal(&p->to.local, &local.local));
	assert_true(ip_addr_equal(&f.a->path->addr.local, &f.path.local));
}

/* 9260-12.4-01: one packet of answers to one packet. */
static void test_one_answer(void **state)
{
	const struct path_addr second = second_path();
	unsigned int i;

	establish_two();
	begin();
	for (i = 0; i < 20; i++) {
		add(0xfe, 0, 8);
		memset(add(WIRE_SCTP_HEARTBEAT, 0, 20), 3, 20);
	}
	send_from(&second);
	chunk_of(take(), 0, WIRE_SCTP_HEARTBEAT_ACK);
	nothing();
	/* Answers that waited before are not lost. */
	begin();
	add(0xfe, 0, 8);
	wire_sctp_checksum_put(f.buf, f.len);
	sctp_input(f.ep, &f.path, f.buf, f.len, f.now, &f.rx);
	begin();
	add(0xfe, 0, 12);
	memset(add(WIRE_SCTP_HEARTBEAT, 0, 20), 3, 20);
	send_from(&second);
	chunk_of(take(), 0, WIRE_SCTP_HEARTBEAT_ACK);
	assert_int_equal(chunks(&f.out[f.head % PACKETS]), 1);
	chunk_of(take(), 0, WIRE_SCTP_ERROR);
	nothing();
}

/*
 * 9260-6.4-02, 6.4.1-01, 8.2-01: lost and later DATA goes to the other address, with that path's
 * own state, until the first address answers.
 */
static void test_fail_over(void **state)
{
	const struct path_addr second = second_path();
	uint32_t cwnd, tsn, cum;
	struct packet *p, *heartbeat;
	uint64_t start;

	ROWS("9260-6.4-02 9260-6.4.1-01 9260-8.2-01 5043-7.2-05");
	establish_two();
	confirm();
	cum = f.their_tsn - 1;
	cwnd = f.a->paths.other[0]->cc.cwnd;
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	collect();
	p = take();
	tsn = get_be32(chunk_of(p, 0, WIRE_SCTP_DATA).raw + 4);
	start = f.now;
	while (!f.a->paths.other[0]->primary) {
		p = take();
		if (!p)
			wait_ns(MSEC);
		else if (is_to(p, &second))
			answer_heartbeat(p, &second, 0);
		else
			assert_true(is_to(p, &f.path));
		assert_true(f.now - start < 300 * MSEC);
	}
	/* The failed address is probed at once. */
	heartbeat = take();
	assert_true(is_to(heartbeat, &f.path));
	chunk_of(heartbeat, 0, WIRE_SCTP_HEARTBEAT);
	p = take();
	assert_true(is_to(p, &second));
	assert_int_equal(get_be32(chunk_of(p, 0, WIRE_SCTP_DATA).raw + 4), tsn);
	assert_int_equal(f.a->path->cc.cwnd, cwnd);
	assert_int_equal(f.a->paths.other[0]->health.errors, 1);
	/* The association is the same for the user and the peer. */
	assert_true(ip_addr_equal(&sctp_assoc_addr(f.a)->remote, &f.path.remote));
	assert_ptr_equal(sctp_assoc_find(f.ep, &f.path, PEER_PORT, 0), f.a);
	assert_ptr_equal(sctp_assoc_find(f.ep, &second, PEER_PORT, 0), f.a);
	assert_null(sctp_connect(f.ep, &f.path, PEER_PORT, 1500, NULL, f.now));
	/* An answer from there brings DATA back a second later, but not while DATA is in flight. */
	f.now += SEC;
	answer_heartbeat(heartbeat, &f.path, 0);
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	nothing();
	begin();
	add_sack(++cum, 1000000, NULL, 0);
	send_from(&second);
	p = take();
	assert_true(is_to(p, &f.path));
	assert_int_equal(get_be32(chunk_of(p, 0, WIRE_SCTP_DATA).raw + 4), tsn + 1);
	assert_true(f.a->path->primary);
	begin();
	add_sack(++cum, 1000000, NULL, 0);
	sendp();
	assert_true(sctp_assoc_is_drained(f.a));
}

/* A busy peer is silent on all paths: the association waits for it, since no path has failed. */
static void test_busy_peer(void **state)
{
	const struct path_addr second = second_path();
	struct packet *p, asked = { 0 };
	uint64_t until;

	establish_two();
	confirm();
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	collect();
	for (until = f.now + 900 * MSEC; f.now < until; wait_ns(MSEC))
		while ((p = take()))
			if (is_to(p, &second) && !asked.len)
				asked = *p;
	assert_true(f.a->path->primary && !f.a->path->health.errors);
	assert_true(f.a->path->recovery.now.probes > 1);
	/* The peer answers in the order of the packets. */
	begin();
	add_sack(f.their_tsn, 1000000, NULL, 0);
	sendp();
	answer_heartbeat(&asked, &second, 0);
	assert_true(f.a->path->primary && !f.a->path->health.errors);
	assert_true(sctp_assoc_is_drained(f.a));
}

/* Another dead path counts as failed, however often tail-loss probes use it. */
static void test_dead_while_probed(void **state)
{
	uint64_t begun;

	establish_two();
	confirm();
	begun = f.now;
	while (!f.a->paths.other[0]->health.errors) {
		f.messages = 1;
		sctp_assoc_doorbell(f.a);
		do {
			wait_ns(MSEC);
			while (take())
				;
		} while (!f.a->path->recovery.now.probes);
		begin();
		add_sack(f.a->out.next - 1, 1000000, NULL, 0);
		sendp();
		assert_true(f.a->path->primary);
		assert_true(f.now - begun < 3 * f.a->s->config.heartbeat_interval);
	}
}

/* The answer on the other path comes after all tail-loss probes, but before T3. */
static void test_late_answer(void **state)
{
	const struct path_addr second = second_path();
	struct packet *p, asked = { 0 };
	uint64_t until;

	establish_two();
	confirm();
	f.a->paths.other[0]->rtt.srtt = 400 * MSEC;
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	collect();
	for (until = f.now + 500 * MSEC; f.now < until; wait_ns(MSEC))
		while ((p = take()))
			if (is_to(p, &second)) {
				assert_int_equal(asked.len, 0); /* only once */
				asked = *p;
			}
	assert_true(f.a->path->primary);
	answer_heartbeat(&asked, &second, 0);
	assert_true(f.a->paths.other[0]->primary);
}

/*
 * 9260-6.3.3-01, 8.2-01: a peer that reports a full buffer is alive; nothing is sent to other
 * addresses.
 */
static void test_no_room(void **state)
{
	uint64_t until;

	establish_two();
	confirm();
	first_answers = true;
	begin();
	add_sack(f.their_tsn - 1, 0, NULL, 0);
	sendp();
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	for (until = f.now + 5 * SEC; f.now < until; wait_ns(MSEC)) {
		struct packet *p = take();

		assert_true(f.a->path->primary);
		assert_int_equal(f.a->path->health.errors, 0);
		if (!p || !is_to(p, &f.path) || p->data[WIRE_SCTP_COMMON_LEN] != WIRE_SCTP_DATA)
			continue;
		begin();
		add_sack(f.their_tsn - 1, 0, NULL, 0);
		sendp();
	}
	assert_true(f.a->s->stats.probes >= 2 && f.a->counts.timeouts);
}

/*
 * 9260-8.5.1-02: an address that the peer lost may be that of another host, without the
 * association.
 */
static void test_abort_from_lost_address(void **state)
{
	const struct path_addr second = second_path();

	establish_two();
	confirm();
	f.a->paths.other[0]->health.errors = 1;
	begin_tag(f.tag);
	add(WIRE_SCTP_ABORT, WIRE_SCTP_T_BIT, 0);
	send_from(&second);
	assert_true(sctp_assoc_is_up(f.a));
	f.a->paths.other[0]->health.errors = 0;
	begin_tag(f.tag);
	add(WIRE_SCTP_ABORT, WIRE_SCTP_T_BIT, 0);
	send_from(&second);
	assert_int_equal(f.events, 1 << SCTP_EVENT_LOST);
}

/* 9260-8.2-01, 8.3-01, 8.3-03: HEARTBEATs to an idle address, their count, and their round trip. */
static void test_heartbeats(void **state)
{
	const struct path_addr second = second_path();
	struct sctp_config config;
	uint64_t begun, last, gap;
	struct packet *p;
	unsigned int i;

	ROWS("9260-8.2-01");
	teardown(NULL);
	sctp_config_default(&config);
	config.mtu_probe = false;
	config.silent_limit = 3600 * SEC;
	setup_config(&config);
	establish_two();
	p = to_second(2 * SEC);
	f.now += 300 * MSEC;
	answer_heartbeat(p, &second, 0);
	assert_int_equal(f.a->paths.other[0]->rtt.srtt / MSEC, 300);
	assert_true(f.a->path->rtt.srtt < MSEC);
	first_answers = true;
	begun = f.now;
	for (i = 1; i <= 30; i++) {
		last = f.now;
		p = to_second(200 * SEC);
		gap = f.now - last;
		/*
		 * Idle: an RTO more than the interval. Failed: each RTO, doubled (8.3), up to four
		 * intervals.
		 */
		if (i == 1)
			assert_in_range(gap / MSEC, 1850, 2000);
		else if (i <= 4)
			assert_in_range(gap / MSEC, 990ull << (i - 2), 1010ull << (i - 1));
		else
			assert_in_range(gap / MSEC, 3990, 4010);
		if (i <= 4)
			assert_int_equal(f.a->paths.other[0]->health.errors, i - 1);
		/* Each doubled RTO counts once: the address is inactive after about 64 s. */
		if (f.now - begun < 50 * SEC)
			assert_true(f.a->paths.other[0]->health.errors <= SCTP_PATH_RETRANS);
	}
	assert_true(f.a->paths.other[0]->health.errors > SCTP_PATH_RETRANS);
	answer_heartbeat(p, &second, 0);
	assert_int_equal(f.a->paths.other[0]->health.errors, 0);
	first_answers = false;
	/* The first address is silent as well: the association continues on the second. */
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	collect();
	while ((p = to_second(60 * SEC)) && p->data[12] != WIRE_SCTP_DATA)
		;
	assert_non_null(p);
}

static void expect_refused(const struct path_addr *from, const uint8_t *address)
{
	struct packet *p = take();
	struct wire_sctp_chunk c = chunk_of(p, 0, WIRE_SCTP_ABORT);

	assert_true(is_to(p, from));
	assert_int_equal(get_be16(c.raw + 4), WIRE_SCTP_CAUSE_RESTART_ADDRESS);
	assert_memory_equal(c.raw + 12, address, 4);
	assert_int_equal(vtag_of(p), f.tag);
}

/* 9260-5.1.2-02, 5.2.2, 5.2.4: an INIT belongs to the association by any address of both hosts. */
static void test_restart(void **state)
{
	struct path_addr second = second_path(), stranger = f.path;
	struct wire_sctp_init init = our_init(), ack;
	uint32_t old = f.tag;

	ROWS("9260-5.1.2-02");
	second.udp_port = PEER_PORT;
	establish_two();
	confirm();
	stranger.remote = simnet_v4(99);
	init.tag = f.tag = 0x99999999;
	init.tsn = 500;
	/* From an unknown address, with a known one in its list. */
	begin_tag(0);
	add_init(WIRE_SCTP_INIT, &init);
	add_param(WIRE_SCTP_PARAM_IPV4, f.path.remote.b + 12, 4);
	send_from(&stranger);
	expect_refused(&stranger, stranger.remote.b + 12);
	begin_tag(0);
	add_init(WIRE_SCTP_INIT, &init);
	add_param(WIRE_SCTP_PARAM_IPV4, second.remote.b + 12, 4);
	send_from(&stranger);
	expect_refused(&stranger, stranger.remote.b + 12);
	assert_int_equal(f.a->peer_tag, old);
	assert_int_equal(f.s->table.assoc_count, 1);
	/* An INIT from the second address restarts the association there. */
	begin_tag(0);
	add_init(WIRE_SCTP_INIT, &init);
	add_param(WIRE_SCTP_PARAM_IPV4, f.path.remote.b + 12, 4);
	send_from(&second);
	assert_true(is_to(&f.out[f.head % PACKETS], &second));
	read_init_ack(take(), &ack);
	f.their_tag = ack.tag;
	echo_from(&f.path, &ack); /* not the address that got the cookie */
	assert_false(f.rx.restart);
	nothing();
	echo_from(&second, &ack);
	if (!f.rx.restart) { /* another UDP port: the old one is probed first */
		drop_all();
		f.now += SCTP_PROBE_INTERVAL;
		begin();
		add_cookie_echo(&ack);
		send_from(&second);
	}
	assert_true(f.rx.restart);
	assert_int_equal(f.s->table.assoc_count, 1);
	assert_true(is_to(&f.out[f.head % PACKETS], &second));
	chunk_of(take(), 0, WIRE_SCTP_COOKIE_ACK);
	assert_ptr_equal(sctp_assoc_find(f.ep, &second, PEER_PORT, 0), f.a);
	assert_true(ip_addr_equal(&f.a->path->addr.remote, &second.remote));
	assert_ptr_equal(sctp_assoc_find(f.ep, &f.path, PEER_PORT, 0), f.a);
	begin();
	add_data(init.tsn);
	send_from(&f.path);
	assert_int_equal(f.rx.count, 1);
}

/*
 * An address that a peer only lists may be another host's, such as a private address here. That
 * host gains nothing if it lists the peer's address in turn.
 */
static void test_restart_claimed(void **state)
{
	struct path_addr second = second_path();
	uint32_t old = f.tag;

	ROWS("9260-5.4-01");
	second.udp_port = PEER_PORT;
	establish_two();
	f.tag = 0x99999999;
	init_from(&second, f.tag, true);
	expect_refused(&second, second.remote.b + 12);
	assert_int_equal(f.a->peer_tag, old);
	assert_int_equal(f.s->table.assoc_count, 1);
}

/* 9260-7.2.5-01: another local address is another path: congestion control restarts. */
static void test_local_address(void **state)
{
	struct path_addr moved;

	ROWS("9260-7.2.5-01");
	establish();
	f.a->path->cc.cwnd = 50000;
	f.a->path->cc.ssthresh = 50000;
	f.a->path->cc.pristine = false;
	moved = f.path;
	moved.local = simnet_v4(44);
	/* A single packet does not change it while the other address is in use. */
	begin();
	add_data(f.tsn++);
	sendp();
	begin();
	memset(add(WIRE_SCTP_HEARTBEAT, 0, 20), 3, 20);
	send_from(&moved);
	assert_int_equal(f.a->path->cc.cwnd, 50000);
	wait_ns(2 * SEC);
	begin();
	add_data(f.tsn++);
	send_from(&moved);
	assert_true(ip_addr_equal(&f.a->path->addr.local, &moved.local));
	assert_int_equal(f.a->path->cc.cwnd, 4404);
	assert_int_equal(f.a->path->cc.ssthresh, UINT32_MAX);
}

/* 9260-7.3-01: each address has its own MTU; DATA fits the smallest one. */
static void test_mtu(void **state)
{
	const struct path_addr second = second_path();
	size_t max_msg;

	ROWS("9260-7.3-01");
	establish_two();
	confirm();
	max_msg = sctp_assoc_max_msg(f.a);
	sctp_packet_too_big(f.ep, &second, 1300, NULL, 0, f.now);
	assert_int_equal(sctp_assoc_max_msg(f.a), max_msg - 200);
	assert_int_equal(f.a->path->mtu.search.good, 1500);
	assert_int_equal(f.a->paths.other[0]->mtu.search.good, 1300);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PEER_TEST(test_confirmed),     PEER_TEST(test_answers),
		PEER_TEST(test_one_answer),    PEER_TEST(test_fail_over),
		PEER_TEST(test_heartbeats),    PEER_TEST(test_busy_peer),
		PEER_TEST(test_late_answer),   PEER_TEST(test_dead_while_probed),
		PEER_TEST(test_no_room),       PEER_TEST(test_abort_from_lost_address),
		PEER_TEST(test_restart),       PEER_TEST(test_restart_claimed),
		PEER_TEST(test_local_address), PEER_TEST(test_mtu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
