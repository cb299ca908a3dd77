/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/* Special cases of sending, the handshake and the shutdown, and peers with several addresses. */
#include "conformance/rows.h"
#include "fixture/sctp_peer.h"
#include "sctp/mtu.h"

#define HALF 0x80000000u

static void connect_out(void)
{
	f.a = sctp_connect(f.ep, &f.path, PEER_PORT, 1500, NULL, f.now);
	assert_non_null(f.a);
	collect();
}

static void read_init(const struct packet *p)
{
	struct wire_sctp_chunk c = chunk_of(p, 0, WIRE_SCTP_INIT);
	struct wire_sctp_init init;

	assert_true(wire_sctp_init_get(&c, &init));
	f.their_tag = init.tag;
	f.their_tsn = init.tsn;
}

static void add_param(uint16_t type, const void *value, size_t len)
{
	f.len += wire_sctp_param_put(f.buf + f.len, type, value, len);
	put_be16(f.buf + 14, (uint16_t)(f.len - 12));
}

static void send_init_ack(const struct path_addr *from, const struct ip_addr *listed)
{
	struct wire_sctp_init ack = our_init();

	begin();
	add_init(WIRE_SCTP_INIT_ACK, &ack);
	if (listed)
		add_param(WIRE_SCTP_PARAM_IPV4, listed->b + 12, 4);
	add_param(WIRE_SCTP_PARAM_COOKIE, "cookie12", 8);
	send_from(from);
}

static unsigned int count_data(const struct packet *p)
{
	const uint8_t *q = p->data + WIRE_SCTP_COMMON_LEN;
	struct wire_sctp_chunk c;
	unsigned int n = 0;

	while (wire_sctp_chunk_next(&q, p->data + p->len, &c))
		n += c.type == WIRE_SCTP_DATA;
	return n;
}

/* A TSN half the number space away is neither higher nor lower: it acknowledges nothing. */
static void test_half_space(void **state)
{
	unsigned int i;

	ROWS("9260-1.6-01");
	establish();
	for (i = 0; i < 2; i++) {
		begin();
		add_sack(f.their_tsn - 1 + HALF, 1000000, NULL, 0);
		sendp();
		assert_int_equal(f.a->out.cum, f.their_tsn - 1);
		assert_int_equal(f.a->state, SCTP_ESTABLISHED);
		f.messages = 3;
		sctp_assoc_doorbell(f.a);
		collect();
		drop_all();
		f.messages = 0;
	}
	begin();
	add_sack(f.their_tsn + 5, 1000000, NULL, 0);
	sendp();
	drop_all();
	assert_int_equal(sctp_outq_count(&f.a->out), 0);
	begin();
	put_be32(add(WIRE_SCTP_SHUTDOWN, 0, 4), f.a->out.cum + HALF);
	sendp();
	chunk_of(take(), 0, WIRE_SCTP_SHUTDOWN_ACK);
}

/* After a shutdown request, no message is taken from the user, even with a delayed SACK (9.2). */
static void test_shutdown_takes_nothing(void **state)
{
	ROWS("9260-9.2-01");
	establish();
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	collect();
	begin();
	add_data(f.tsn);
	sendp();
	drop_all();
	begin();
	add_data(f.tsn + 1);
	sendp();
	nothing();
	sctp_assoc_shutdown(f.a, f.now);
	assert_int_equal(f.a->state, SCTP_SHUTDOWN_PENDING);
	f.messages = 5;
	sctp_assoc_doorbell(f.a);
	collect();
	assert_int_equal(f.messages, 5);
}

/* A user without more messages is not called again before its doorbell. */
static void test_asked_once(void **state)
{
	establish();
	f.message_len = 16;
	for (unsigned int n = 1; n < 20; n += 6) { /* in one packet */
		f.messages = n;
		f.pulls = 0;
		sctp_assoc_doorbell(f.a);
		collect();
		assert_int_equal(f.messages, 0);
		assert_int_equal(f.pulls, n);
		begin();
		add_sack(f.a->out.next - 1, 1000000, NULL, 0);
		sendp();
		wait_ns(100 * MSEC);
		assert_int_equal(f.pulls, n);
		drop_all();
	}
	/* A user without any message is called once, too. */
	f.pulls = 0;
	sctp_assoc_doorbell(f.a);
	collect();
	wait_ns(100 * MSEC);
	assert_int_equal(f.pulls, 1);
	nothing();
}

/* The window shrinks after any time of silence (7.2.1). */
static void test_idle_window(void **state)
{
	ROWS("9260-7.2.1-04");
	establish();
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	collect();
	begin();
	add_sack(f.their_tsn, 1000000, NULL, 0);
	sendp();
	drop_all();
	f.a->path->cc.cwnd = 100000;
	f.a->path->cc.pristine = false;
	assert_int_equal(sctp_rtt_rto(&f.a->path->rtt), SEC);
	wait_ns(64 * SEC);
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	collect();
	assert_int_equal(f.a->path->cc.cwnd, 4 * f.a->path->cc.pmdcs);
}

/* A zero window probe is one chunk, even if several fit the packet (6.1 A). */
static void test_window_probe(void **state)
{
	struct packet *p;

	ROWS("9260-6.1-02");
	establish();
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	collect();
	drop_all();
	begin();
	add_sack(f.their_tsn, 0, NULL, 0);
	sendp();
	f.messages = 100;
	sctp_assoc_doorbell(f.a);
	collect();
	nothing();
	wait_ns(SEC);
	p = take();
	assert_non_null(p);
	assert_int_equal(count_data(p), 1);
	nothing();
	/* Once the window opens, the rest is sent. */
	begin();
	add_sack(f.their_tsn + 1, 1000000, NULL, 0);
	sendp();
	assert_true(count_data(take()) > 1);
}

/* After T3, one packet is in flight until a chunk is acknowledged (7.2.1, 6.3.3). */
static void test_one_packet_after_timeout(void **state)
{
	unsigned int i;

	ROWS("9260-7.2.1-03 9260-6.3.3-01");
	establish();
	f.message_len = 1000;
	f.messages = 4;
	sctp_assoc_doorbell(f.a);
	collect();
	for (i = 0; i < 3; i++) {
		while (f.a->path->recovery.now.timeouts == i) {
			drop_all();
			f.now = sctp_next_timeout(f.s);
			sctp_timers(f.s, f.now);
			if (f.a->path->recovery.now.timeouts == i)
				collect();
		}
		drop_all();
		collect();
		assert_int_equal(count_data(take()), 1);
		assert_null(take());
	}
	begin();
	add_sack(f.their_tsn, 1000000, NULL, 0);
	sendp();
	assert_int_equal(f.a->path->recovery.now.timeouts, 0);
	assert_int_equal(count_data(take()), 1);
	assert_non_null(take());
}

/* If answers no longer fit after the path MTU has shrunk, later answers are still sent. */
static void test_answers_and_mtu(void **state)
{
	establish();
	sctp_assoc_set_mtu(f.a, 4000);
	begin();
	memset(add(WIRE_SCTP_HEARTBEAT, 0, 2000), 1, 2000);
	wire_sctp_checksum_put(f.buf, f.len);
	sctp_input(f.ep, &f.path, f.buf, f.len, f.now, &f.rx);
	sctp_assoc_set_mtu(f.a, 1280);
	nothing();
	begin();
	memset(add(WIRE_SCTP_HEARTBEAT, 0, 20), 2, 20);
	sendp();
	assert_int_equal(chunk_of(take(), 0, WIRE_SCTP_HEARTBEAT_ACK).len, 24);
}

static void send_stale(void)
{
	uint8_t *p;

	begin();
	p = add(WIRE_SCTP_ERROR, 0, 8);
	put_be16(p, WIRE_SCTP_CAUSE_STALE_COOKIE);
	put_be16(p + 2, 8);
	sendp();
}

/*
 * A peer that finds every cookie stale gets as many INITs as a silent peer: 1 and 8 more
 * (Max.Init.Retransmits). Its answers do not prolong the attempt. late: time until its answer.
 */
static void stale_for_ever(uint64_t late)
{
	/* Tenths of a second; from the fourth on, a seventh of connect_limit. */
	static const unsigned int gaps[] = { 0, 20, 40, 42, 42, 42, 42, 42 };
	uint64_t start = f.now, last = f.now;
	unsigned int inits;

	connect_out();
	for (inits = 0; f.a; inits++) {
		assert_true(inits <= 8);
		read_init(take());
		if (inits)
			assert_in_range((f.now - last) / (100 * MSEC), gaps[inits - 1],
					gaps[inits - 1] + late / (100 * MSEC));
		last = f.now;
		send_init_ack(&f.path, NULL);
		chunk_of(take(), 0, WIRE_SCTP_COOKIE_ECHO);
		f.now += late;
		send_stale();
		while (f.a && f.head == f.tail)
			wait_ns(10 * MSEC);
	}
	assert_int_equal(inits, 9);
	assert_int_equal(f.error, -ETIMEDOUT);
	assert_in_range(f.now - start, 30 * SEC, 30 * SEC + late);
}

static void test_stale_for_ever(void **state)
{
	ROWS("9260-5.2.6-01");
	stale_for_ever(0);
	teardown(NULL);
	setup(NULL);
	stale_for_ever(100 * MSEC);
}

/* An answer to the last INIT, after the end of the attempt's time, ends the attempt. */
static void test_stale_too_late(void **state)
{
	connect_out();
	read_init(take());
	send_init_ack(&f.path, NULL);
	chunk_of(take(), 0, WIRE_SCTP_COOKIE_ECHO);
	f.now += 30 * SEC;
	send_stale();
	assert_null(f.a);
	assert_int_equal(f.error, -ETIMEDOUT);
	nothing();
}

/* A stranger's INIT during a connect is no collision. */
static void test_false_collision(void **state)
{
	struct wire_sctp_init init = our_init();

	f.tag = 0xffffffff; /* the peer would initiate in a collision */
	connect_out();
	read_init(take());
	init.tag = 0xfffffff0;
	begin_tag(0);
	add_init(WIRE_SCTP_INIT, &init);
	sendp();
	chunk_of(take(), 0, WIRE_SCTP_INIT_ACK);
	send_init_ack(&f.path, NULL);
	acknowledge_cookie();
	assert_true(sctp_assoc_is_initiator(f.a));
}

/*
 * Both sides sent an INIT, and the answer to the local one has the peer's own parameters. The
 * peer's INIT may be lost: the tags still decide.
 */
static void test_silent_collision(void **state)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct wire_sctp_init ack;

		teardown(NULL);
		setup(NULL);
		f.tag = i ? 0xffffffff : 1;
		ack = our_init();
		ack.address_type = WIRE_SCTP_PARAM_IPV4;
		connect_out();
		read_init(take());
		begin();
		add_init(WIRE_SCTP_INIT_ACK, &ack);
		add_param(WIRE_SCTP_PARAM_COOKIE, "cookie12", 8);
		sendp();
		acknowledge_cookie();
		assert_int_equal(sctp_assoc_is_initiator(f.a), !i);
	}
}

/* The reverse: the peer's COOKIE ECHO arrives, and no local packet was answered. */
static void test_collision_by_cookie(void **state)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct wire_sctp_init init, ack;

		teardown(NULL);
		setup(NULL);
		f.tag = i ? 0xffffffff : 1;
		init = our_init();
		connect_out();
		read_init(take());
		read_init_ack(init_exchange(&init), &ack);
		assert_int_equal(ack.address_type, WIRE_SCTP_PARAM_IPV4);
		init.tag ^= 0x5555; /* a stranger's INIT has no effect */
		init_exchange(&init);
		begin();
		add_cookie_echo(&ack);
		sendp();
		assert_int_equal(f.events, 1 << SCTP_EVENT_UP);
		assert_int_equal(sctp_assoc_is_initiator(f.a), !i);
	}
}

/* The Chunk Length excludes the padding of the last parameter (3.2.1). */
static void test_last_padding(void **state)
{
	struct wire_sctp_init init = our_init();
	struct wire_sctp_chunk c;
	struct packet *p;

	ROWS("9260-3.2.1-01");
	begin_tag(0);
	add_init(WIRE_SCTP_INIT, &init);
	add_param(0xfffe, "12345", 5);
	sendp();
	p = take();
	c = chunk_of(p, 0, WIRE_SCTP_INIT_ACK);
	assert_int_equal(c.len % 4, 1);
	assert_int_equal(p->len, WIRE_SCTP_COMMON_LEN + round_up4(c.len));
	assert_true(wire_sctp_init_get(&c, &init));
	assert_non_null(init.cookie);
}

/* A live peer that keeps sending cannot prevent the end of a shutdown (9.2, T5-shutdown-guard). */
static void test_shutdown_guard(void **state)
{
	struct sctp_config config;
	unsigned int i;

	teardown(NULL);
	sctp_config_default(&config);
	config.rto_max = 2 * SEC;
	config.mtu_probe = false;
	setup_config(&config);
	establish();
	f.a->path->health.proof = f.now; /* the peer is no stranger */
	sctp_assoc_shutdown(f.a, f.now);
	collect();
	for (i = 0; f.a && i < 60; i++) {
		drop_all();
		begin();
		add_data(f.tsn + i);
		sendp();
		wait_ns(SEC / 2);
	}
	assert_null(f.a);
	assert_int_equal(f.error, -ETIMEDOUT);
	assert_in_range(i, 20, 24);
}

/* Packets of a multi-homed peer count from any address; local packets go to the primary path. */
static void multihomed(const struct path_addr *second)
{
	struct path_addr third = *second;
	struct wire_sctp_chunk c;
	struct packet *p;
	uint8_t info[1000];

	begin();
	add_data(f.tsn);
	send_from(second);
	assert_int_equal(f.rx.count, 1);
	p = take();
	assert_int_equal(sack_in(p, 0).cum, f.tsn);
	assert_true(ip_addr_equal(&p->to.remote, &f.path.remote));
	assert_int_equal(p->to.udp_port, PEER_PORT);
	/* Only packets from the path's own address update its address and port. */
	assert_int_equal(sctp_assoc_addr(f.a)->udp_port, PEER_PORT);
	/* A HEARTBEAT is answered at its source address. */
	memset(info, 0x5a, sizeof(info));
	begin();
	memcpy(add(WIRE_SCTP_HEARTBEAT, 0, sizeof(info)), info, sizeof(info));
	memcpy(add(WIRE_SCTP_HEARTBEAT, 0, 20), info, 20);
	send_from(second);
	p = take();
	c = chunk_of(p, 0, WIRE_SCTP_HEARTBEAT_ACK);
	assert_int_equal(c.len, 4 + sizeof(info));
	assert_memory_equal(c.raw + 4, info, sizeof(info));
	assert_int_equal(vtag_of(p), f.tag);
	assert_int_equal(p->to.udp_port, second->udp_port);
	assert_true(ip_addr_equal(&p->to.remote, &second->remote));
	nothing();
	/* A wrong tag gets no answer (8.5). A packet from an unlisted address is a stranger's. */
	begin_tag(f.their_tag + 1);
	add_data(f.tsn + 1);
	send_from(second);
	assert_int_equal(f.rx.count, 0);
	nothing();
	third.remote = simnet_v4(9);
	begin_tag(f.their_tag + 1);
	add_data(f.tsn + 1);
	send_from(&third);
	assert_int_equal(f.rx.count, 0);
	chunk_of(take(), 0, WIRE_SCTP_ABORT);
	begin();
	add(WIRE_SCTP_ABORT, 0, 0);
	send_from(second);
	assert_int_equal(f.error, -ECONNRESET);
	assert_true(list_empty(&f.ep->multihomed[PEER_PORT % SCTP_MULTIHOMED]));
}

static struct path_addr second_path(void)
{
	struct path_addr second = f.path;

	second.remote = simnet_v4(3);
	second.udp_port = 20002;
	return second;
}

static void test_multihomed_passive(void **state)
{
	struct wire_sctp_init init = our_init(), ack;
	struct path_addr second = second_path();
	struct packet *p;

	ROWS("9260-3.3.6-01");
	begin_tag(0);
	add_init(WIRE_SCTP_INIT, &init);
	add_param(WIRE_SCTP_PARAM_IPV4, f.path.remote.b + 12, 4);
	add_param(WIRE_SCTP_PARAM_IPV6, "0123456789abcdef", 16);
	add_param(WIRE_SCTP_PARAM_IPV4, "xyz", 3); /* malformed */
	add_param(WIRE_SCTP_PARAM_IPV4, second.remote.b + 12, 4);
	sendp();
	p = take();
	read_init_ack(p, &ack);
	f.their_tag = ack.tag;
	f.their_tsn = ack.tsn;
	begin();
	add_cookie_echo(&ack);
	sendp();
	assert_true(f.rx.up);
	chunk_of(take(), 0, WIRE_SCTP_COOKIE_ACK);
	assert_int_equal(f.a->paths.others, 2);
	multihomed(&second);
}

/* The INIT ACK may come from another address than that of the INIT (5.1.2). */
static void test_multihomed_active(void **state)
{
	struct path_addr second = second_path();

	ROWS("9260-3.3.6-01");
	connect_out();
	read_init(take());
	send_init_ack(&second, NULL);
	chunk_of(take(), 0, WIRE_SCTP_ABORT);
	send_init_ack(&second, &f.path.remote);
	assert_int_equal(f.a->state, SCTP_COOKIE_ECHOED);
	assert_int_equal(take()->to.udp_port, PEER_PORT);
	/* Another association: the INIT ACK comes from the path, and lists the second address. */
	sctp_assoc_abort(f.a);
	collect();
	drop_all();
	connect_out();
	read_init(take());
	send_init_ack(&f.path, &second.remote);
	chunk_of(take(), 0, WIRE_SCTP_COOKIE_ECHO);
	begin();
	add(WIRE_SCTP_COOKIE_ACK, 0, 0);
	send_from(&second);
	assert_int_equal(f.events, 1 << SCTP_EVENT_UP);
	multihomed(&second);
}

/* An INIT that adds an address to those of an existing association is refused (5.2.2). */
static void test_restart_with_address(void **state)
{
	struct path_addr second = second_path();
	struct wire_sctp_init init = our_init(), ack;
	struct wire_sctp_chunk c;
	unsigned int i;
	struct packet *p;

	ROWS("9260-5.2.2-02");
	establish();
	for (i = 0; i < 2; i++) {
		init.tag = f.tag = 0x99999999;
		begin_tag(0);
		add_init(WIRE_SCTP_INIT, &init);
		add_param(WIRE_SCTP_PARAM_IPV4, f.path.remote.b + 12, 4);
		if (!i)
			add_param(WIRE_SCTP_PARAM_IPV4, second.remote.b + 12, 4);
		sendp();
		p = take();
		if (i) {
			read_init_ack(p, &ack);
			continue;
		}
		c = chunk_of(p, 0, WIRE_SCTP_ABORT);
		assert_int_equal(vtag_of(p), f.tag);
		assert_int_equal(c.flags, 0);
		assert_int_equal(get_be16(c.raw + 4), WIRE_SCTP_CAUSE_RESTART_ADDRESS);
		assert_int_equal(get_be16(c.raw + 8), WIRE_SCTP_PARAM_IPV4);
		assert_memory_equal(c.raw + 12, second.remote.b + 12, 4);
		begin();
		add_data(f.tsn);
		sendp();
		assert_int_equal(f.rx.count, 1);
		drop_all();
	}
}

/* An ICMP error counts only for the packet that it quotes (10). */
static void test_quoted(void **state)
{
	uint8_t quoted[20] = { 0 };
	unsigned int i;

	ROWS("9260-10-01");
	connect_out();
	read_init(take());
	put_be16(quoted, LOCAL_PORT);
	put_be16(quoted + 2, PEER_PORT);
	quoted[12] = WIRE_SCTP_INIT;
	put_be32(quoted + 16, f.their_tag + 1);
	for (i = 0; i < 5; i++)
		sctp_unreachable(f.ep, &f.path, -ECONNREFUSED, quoted, sizeof(quoted), f.now);
	put_be32(quoted + 16, f.their_tag);
	/* An INIT has no tag, so its first 8 or 19 bytes could be forged. */
	for (i = 0; i < sizeof(quoted); i++)
		sctp_unreachable(f.ep, &f.path, -ECONNREFUSED, quoted, i, f.now);
	assert_int_equal(f.a->setup.doubt.error, 0);
	sctp_unreachable(f.ep, &f.path, -ECONNREFUSED, quoted, sizeof(quoted), f.now);
	assert_int_equal(f.a->setup.doubt.error, -ECONNREFUSED);
	drop_all();
	send_init_ack(&f.path, NULL);
	begin();
	add(WIRE_SCTP_COOKIE_ACK, 0, 0);
	sendp();
	put_be32(quoted + 4, f.tag + 1);
	sctp_unreachable(f.ep, &f.path, -ECONNREFUSED, quoted, sizeof(quoted), f.now);
	assert_int_equal(f.a->path->health.ticks, 0);
	put_be32(quoted + 4, f.tag);
	put_be16(quoted + 2, PEER_PORT + 1);
	sctp_unreachable(f.ep, &f.path, -ECONNREFUSED, quoted, sizeof(quoted), f.now);
	assert_int_equal(f.a->path->health.ticks, 0);
	put_be16(quoted + 2, PEER_PORT);
	sctp_unreachable(f.ep, &f.path, -ECONNREFUSED, quoted, sizeof(quoted), f.now);
	assert_int_equal(f.a->path->health.ticks, SCTP_PROBE_TICKS);
}

/* Of many listed addresses, only those are kept that fit the cookie. */
static void test_many_addresses(void **state)
{
	struct wire_sctp_init init = our_init(), ack;
	struct ip_addr addr;
	unsigned int i;
	struct packet *p;

	begin_tag(0);
	add_init(WIRE_SCTP_INIT, &init);
	for (i = 0; i < 200; i++) {
		addr = simnet_v4((uint8_t)(10 + i));
		add_param(WIRE_SCTP_PARAM_IPV4, addr.b + 12, 4);
	}
	sendp();
	p = take();
	read_init_ack(p, &ack);
	f.their_tag = ack.tag;
	for (i = 0; i < 2; i++) {
		begin();
		add_cookie_echo(&ack);
		if (!i)
			f.buf[12 + 4 + ack.cookie_len - 20] ^= 1; /* a forged address */
		sendp();
		assert_int_equal(f.rx.up, i);
	}
	assert_int_equal(f.a->paths.others, SCTP_COOKIE_ALTS);
}

/* If a send block has no room for the longest packet, the answer goes into another block. */
static void test_control_room(void **state)
{
	const size_t len = 20300;
	unsigned int i;

	establish();
	sctp_assoc_set_mtu(f.a, 65535);
	f.a->path->cc.cwnd = 130000;
	f.a->window.peer_rwnd = 1000000;
	f.message_len = 3000;
	for (i = 0; i < 22; i++) {
		f.messages = 1;
		sctp_assoc_doorbell(f.a);
		collect();
	}
	drop_all();
	assert_non_null(f.a->tx.block);
	assert_true(SCTP_BLOCK_SIZE - f.a->tx.block->used < SCTP_PACKET_MAX);
	begin();
	memset(add(WIRE_SCTP_HEARTBEAT, 0, len), 1, len);
	sendp();
	assert_int_equal(chunk_of(take(), 0, WIRE_SCTP_HEARTBEAT_ACK).len, 4 + len);
	assert_int_equal(f.a->tx.block->used, 12 + 4 + len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PEER_TEST(test_half_space),	      PEER_TEST(test_shutdown_takes_nothing),
		PEER_TEST(test_asked_once),	      PEER_TEST(test_idle_window),
		PEER_TEST(test_window_probe),	      PEER_TEST(test_one_packet_after_timeout),
		PEER_TEST(test_answers_and_mtu),      PEER_TEST(test_stale_for_ever),
		PEER_TEST(test_stale_too_late),	      PEER_TEST(test_false_collision),
		PEER_TEST(test_silent_collision),     PEER_TEST(test_collision_by_cookie),
		PEER_TEST(test_last_padding),	      PEER_TEST(test_shutdown_guard),
		PEER_TEST(test_multihomed_passive),   PEER_TEST(test_multihomed_active),
		PEER_TEST(test_restart_with_address), PEER_TEST(test_quoted),
		PEER_TEST(test_many_addresses),	      PEER_TEST(test_control_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
