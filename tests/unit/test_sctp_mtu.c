/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * Path MTU discovery (RFC 8899, RFC 4820, RFC 6951 5.6), against a scripted peer: the search, and
 * its packets.
 */
#include "conformance/rows.h"
#include "fixture/sctp_peer.h"

/* Searches on a path with an MTU of `real` bytes. Returns the number of probes. */
static unsigned int search(struct sctp_pmtu *p, uint32_t real)
{
	unsigned int probes = 0;

	while (p->probe) {
		assert_true(p->probe <= p->told && p->probe < p->bad);
		assert_true(++probes < 100);
		if (p->probe <= real)
			sctp_pmtu_answered(p);
		else
			sctp_pmtu_lost(p);
		assert_true(p->good <= p->told);
	}
	return probes;
}

static void test_search(void **state)
{
	static const uint32_t told[] = { 1500, 9000, 65535 };
	struct sctp_pmtu p;
	uint32_t real;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		for (real = 1280; real <= told[i]; real += 1 + real / 128) {
			sctp_pmtu_init(&p, 576, 1280, told[i]);
			assert_int_equal(p.good, 1280);
			assert_true(search(&p, real) < 70);
			assert_true(p.good <= real);
			assert_true(real - p.good <= 16 + real / 64);
		}
		/* One probe is enough if the path MTU equals the interface's MTU. */
		sctp_pmtu_init(&p, 576, 1280, told[i]);
		assert_int_equal(search(&p, told[i]), 1);
		assert_int_equal(p.good, told[i]);
	}
	sctp_pmtu_init(&p, 576, 1280, 1200);
	assert_int_equal(p.good, 1200);
	assert_int_equal(p.probe, 0);
	sctp_pmtu_init(&p, 1280, 1280, 600);
	assert_int_equal(p.good, 1280);
}

static void test_search_turns(void **state)
{
	struct sctp_pmtu p;

	/* One or two lost probes prove nothing. */
	sctp_pmtu_init(&p, 576, 1280, 9000);
	assert_false(sctp_pmtu_lost(&p));
	assert_false(sctp_pmtu_lost(&p));
	assert_int_equal(p.probe, 9000);
	sctp_pmtu_answered(&p);
	assert_int_equal(p.good, 9000);
	/* A false doubt changes nothing. */
	assert_true(sctp_pmtu_doubt(&p));
	assert_false(sctp_pmtu_doubt(&p));
	sctp_pmtu_lost(&p);
	sctp_pmtu_answered(&p);
	assert_int_equal(p.good, 9000);
	assert_int_equal(p.probe, 0);
	/* A justified doubt returns to the base size, and then up again. */
	assert_true(sctp_pmtu_doubt(&p));
	assert_false(sctp_pmtu_lost(&p));
	assert_false(sctp_pmtu_lost(&p));
	assert_true(sctp_pmtu_lost(&p));
	assert_int_equal(p.good, 1280);
	search(&p, 1500);
	assert_int_equal(p.good, 1500);
	/* Below the base size, down to the floor and no further. */
	while (p.good > 576) {
		assert_true(sctp_pmtu_doubt(&p));
		while (!sctp_pmtu_lost(&p))
			;
	}
	search(&p, 1000);
	assert_in_range(p.good, 970, 1000);
	sctp_pmtu_tell(&p, 400);
	assert_int_equal(p.good, 576);
	assert_false(sctp_pmtu_doubt(&p));
	/* A failed size may work later. */
	sctp_pmtu_init(&p, 576, 1280, 1500);
	search(&p, 1400);
	assert_in_range(p.good, 1400, 1400);
	sctp_pmtu_raise(&p);
	search(&p, 1500);
	assert_int_equal(p.good, 1500);
	/*
	 * A router reports less than the size in use, less than the probe, a known size, and
	 * invalid sizes.
	 */
	assert_true(sctp_pmtu_too_big(&p, 1450));
	assert_int_equal(p.good, 1450);
	assert_int_equal(p.probe, 0);
	assert_false(sctp_pmtu_too_big(&p, 1450));
	assert_false(sctp_pmtu_too_big(&p, 1480));
	sctp_pmtu_tell(&p, 9000);
	assert_true(sctp_pmtu_too_big(&p, 8000));
	assert_int_equal(p.probe, 8000);
	assert_int_equal(p.good, 1450);
	assert_true(sctp_pmtu_too_big(&p, 0));
	assert_int_equal(p.good, 576);
}

static void read_init(const struct packet *p)
{
	struct wire_sctp_chunk c = chunk_of(p, 0, WIRE_SCTP_INIT);
	struct wire_sctp_init init;

	assert_true(wire_sctp_init_get(&c, &init));
	f.their_tag = init.tag;
	f.their_tsn = init.tsn;
}

/* Sends one message of len bytes, which the peer acknowledges. Returns the packet. */
static struct packet *one_message(uint32_t len)
{
	struct packet *p;

	f.message_len = len;
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	collect();
	p = take();
	assert_non_null(p);
	chunk_of(p, 0, WIRE_SCTP_DATA);
	begin();
	add_sack(get_be32(p->data + WIRE_SCTP_COMMON_LEN + WIRE_SCTP_CHUNK_LEN), 1000000, NULL, 0);
	sendp();
	return p;
}

/* One message has confirmed the path, and the first probe waits. */
static void setup_probing(uint64_t heartbeat)
{
	struct sctp_config config;

	teardown(NULL);
	sctp_config_default(&config);
	config.heartbeat_interval = heartbeat;
	setup_config(&config);
	establish_only();
	sctp_assoc_set_mtu(f.a, 1500);
	nothing();
	one_message(8);
}

static size_t max_packet(void)
{
	return sctp_assoc_max_msg(f.a) + WIRE_SCTP_COMMON_LEN + WIRE_SCTP_DATA_LEN;
}

/* Checks that p is a probe of this size (4820-3-02: HEARTBEAT and PAD, DF). */
static void check_probe(const struct packet *p, size_t size)
{
	struct wire_sctp_chunk c = chunk_of(p, 0, WIRE_SCTP_HEARTBEAT);

	assert_int_equal(c.len, 24);
	c = chunk_of(p, 1, WIRE_SCTP_PAD);
	assert_int_equal(chunks(p), 2);
	assert_int_equal(c.flags, 0);
	assert_int_equal(p->len, (size - 28) & ~3u);
	assert_true(p->df);
	assert_int_equal(vtag_of(p), f.tag);
}

static void answer(const struct packet *p)
{
	struct wire_sctp_chunk c = chunk_of(p, 0, WIRE_SCTP_HEARTBEAT);
	uint8_t info[20];

	memcpy(info, c.raw + 4, sizeof(info));
	f.now += MSEC;
	begin();
	memcpy(add(WIRE_SCTP_HEARTBEAT_ACK, 0, sizeof(info)), info, sizeof(info));
	sendp();
}

/* Until the probe is answered, no other packet larger than 1280 bytes is sent. */
static void test_confirmed_first(void **state)
{
	struct packet *p, *probe;

	ROWS("4820-3-02");
	setup_probing(3600 * SEC);
	probe = take();
	check_probe(probe, 1500);
	assert_int_equal(max_packet(), 1280 - 28);
	f.message_len = (uint32_t)sctp_assoc_max_msg(f.a);
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	collect();
	p = take();
	chunk_of(p, 0, WIRE_SCTP_DATA);
	assert_int_equal(p->len, 1280 - 28);
	assert_null(take());
	/* An answer with a wrong nonce does not count, nor does any other answer. */
	begin();
	memset(add(WIRE_SCTP_HEARTBEAT_ACK, 0, 20), 0, 20);
	sendp();
	assert_int_equal(max_packet(), 1280 - 28);
	/* A message that did not fit is requested from the user again. */
	f.message_len = 1400;
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	nothing();
	answer(probe);
	assert_int_equal(max_packet(), 1500 - 28);
	p = take();
	chunk_of(p, 0, WIRE_SCTP_DATA);
	assert_int_equal(p->len, 12 + 16 + 1400);
}

/* The probe follows the first DATA of an active association, without delaying it. */
static void test_probe_is_last(void **state)
{
	struct wire_sctp_init init = our_init();
	struct sctp_config config;
	struct packet *p;
	uint8_t cookie[8] = "cookie";

	teardown(NULL);
	sctp_config_default(&config);
	setup_config(&config);
	f.a = sctp_connect(f.ep, &f.path, PEER_PORT, 4000, NULL, f.now);
	collect();
	read_init(take());
	begin();
	add_init(WIRE_SCTP_INIT_ACK, &init);
	f.len += wire_sctp_param_put(f.buf + f.len, WIRE_SCTP_PARAM_COOKIE, cookie, 8);
	wire_sctp_chunk_put(f.buf + 12, WIRE_SCTP_INIT_ACK, 0, f.len - 12);
	sendp();
	p = take();
	chunk_of(p, 0, WIRE_SCTP_COOKIE_ECHO);
	assert_int_equal(chunks(p), 1);
	assert_null(take());
	f.messages = 1;
	begin();
	add(WIRE_SCTP_COOKIE_ACK, 0, 0);
	wire_sctp_checksum_put(f.buf, f.len);
	sctp_input(f.ep, &f.path, f.buf, f.len, f.now, &f.rx);
	sctp_assoc_doorbell(f.a);
	collect();
	chunk_of(take(), 0, WIRE_SCTP_DATA);
	p = take();
	chunk_of(p, 1, WIRE_SCTP_PAD);
	assert_int_equal(p->len, 4000 - 28);
	assert_null(take());
}

/*
 * A lost probe is sent again, together with a small packet. This distinguishes a small MTU from a
 * dead path.
 */
static void test_probe_lost(void **state)
{
	struct packet *p;
	unsigned int i;
	uint32_t cwnd;

	setup_probing(3600 * SEC);
	cwnd = f.a->path->cc.cwnd;
	check_probe(take(), 1500);
	/* No packet arrives: a small HEARTBEAT probes the path, and the probe keeps its size. */
	for (i = 0; i < 6; i++) {
		while (f.head == f.tail)
			wait_ns(MSEC);
		p = take();
		chunk_of(p, 0, WIRE_SCTP_HEARTBEAT);
		assert_true(p->len < 100);
		nothing();
		answer(p);
		p = take();
		chunk_of(p, 0, WIRE_SCTP_HEARTBEAT);
		check_probe(take(), 1500);
	}
	/* Small packets are answered: after three lost probes, the size changes. */
	for (i = 0; i < 3; i++) {
		answer(p);
		while (f.head == f.tail)
			wait_ns(MSEC);
		p = take();
		if (i < 2)
			check_probe(take(), 1500);
	}
	check_probe(p, 1400);
	/* Lost probes are no sign of congestion. */
	assert_int_equal(f.a->path->cc.cwnd, cwnd);
	assert_int_equal(f.a->path->cc.ssthresh, UINT32_MAX);
	answer(p);
	assert_int_equal(max_packet(), 1400 - 28);
}

/* Returns the next large packet. alive: small HEARTBEATs get answers. */
static struct packet *large(bool alive)
{
	struct packet *p;

	for (;;) {
		while (f.head == f.tail)
			wait_ns(MSEC);
		p = take();
		if (p->len > 100)
			return p;
		if (alive && p->data[WIRE_SCTP_COMMON_LEN] == WIRE_SCTP_HEARTBEAT)
			answer(p);
	}
}

/*
 * 6951-5.6-02: small packets arrive, large ones do not, and without ICMP. The loss is detected long
 * before T3. Packets that are too large are sent again singly, without DF.
 */
static void test_black_hole(void **state)
{
	unsigned int i, resent = 0;
	struct packet *p;
	uint64_t start;
	uint32_t cwnd;

	ROWS("6951-5.6-02 9260-6.9-04");
	setup_probing(3600 * SEC);
	answer(take());
	cwnd = f.a->path->cc.cwnd;
	assert_int_equal(max_packet(), 1472);
	f.message_len = 1400;
	f.messages = 3;
	wait_ns(SEC);
	start = f.now;
	sctp_assoc_doorbell(f.a);
	collect();
	for (i = 0; i < 3; i++)
		chunk_of(take(), 0, WIRE_SCTP_DATA);
	for (;;) {
		p = large(true);
		if (!p->df)
			break;
	}
	assert_true(f.now - start < 500 * MSEC);
	assert_int_equal(f.a->path->recovery.now.timeouts, 0);
	assert_true(f.a->path->cc.cwnd >= cwnd);
	assert_int_equal(max_packet(), 1280 - 28);
	for (;; p = take()) {
		assert_non_null(p);
		if (p->data[WIRE_SCTP_COMMON_LEN] != WIRE_SCTP_DATA)
			break;
		assert_int_equal(chunks(p), 1);
		assert_false(p->df);
		resent++;
	}
	assert_int_equal(resent, 3);
	check_probe(p, 1400);
	answer(p);
	check_probe(large(true), 1420);
}

/* If packets of all sizes are lost, the size is not the cause. */
static void test_dead_is_not_narrow(void **state)
{
	setup_probing(SEC);
	answer(take());
	f.message_len = 1400;
	f.messages = 3;
	sctp_assoc_doorbell(f.a);
	collect();
	while (f.a && f.a->path->recovery.now.timeouts < 3) {
		wait_ns(10 * MSEC);
		drop_all();
	}
	assert_non_null(f.a);
	assert_int_equal(max_packet(), 1472);
}

/* A peer that no longer answers gets no series of large packets. */
static void test_silence_ends_probes(void **state)
{
	unsigned int probes = 0, small = 0;
	struct packet *p, *last = NULL;
	uint64_t start;

	setup_probing(20 * SEC);
	for (start = f.now; f.now < start + 59 * SEC; wait_ns(10 * MSEC))
		while ((p = take())) {
			probes += p->len > 100;
			small += p->len < 100;
			last = p;
		}
	assert_int_equal(probes, 1);
	assert_in_range(small, 1, 4);
	/* A sign of life ends the pause. */
	answer(last);
	chunk_of(take(), 0, WIRE_SCTP_HEARTBEAT);
	check_probe(take(), 1500);
}

/* A late answer to a probe is an ordinary sign of life. */
static void test_late_answer(void **state)
{
	struct packet *probe, *p;

	setup_probing(3600 * SEC);
	probe = take();
	check_probe(probe, 1500);
	while (!(p = take()))
		wait_ns(MSEC);
	chunk_of(p, 0, WIRE_SCTP_HEARTBEAT); /* no packet has arrived for too long */
	answer(probe);
	assert_int_equal(max_packet(), 1472);
	sctp_assoc_set_mtu(f.a, 9000);
	collect();
	check_probe(take(), 9000);
}

/* A path with a small MTU is probed again after a while. */
static void test_raise(void **state)
{
	struct packet *p;
	unsigned int i;

	setup_probing(3600 * SEC);
	p = take();
	for (i = 0; i < 40 && f.a->path->mtu.search.probe; i++) {
		if (p->len + 28 <= 1420)
			answer(p);
		p = large(true);
		if (p->len + 28 > 1420 && f.a->path->mtu.search.failed == 2 &&
		    f.a->path->mtu.search.good == 1420)
			break;
	}
	while (f.a->path->mtu.search.probe) {
		drop_all();
		f.a->path->health.proof = f.now + 1;
		wait_ns(10 * MSEC);
	}
	drop_all();
	assert_int_equal(max_packet(), 1420 - 28);
	wait_ns(599 * SEC);
	nothing();
	wait_ns(2 * SEC);
	check_probe(take(), 1450);
}

/* 9260-10-01, 10-02: an ICMP error counts only if it quotes a packet of the association. */
static void test_quoted(void **state)
{
	struct path_addr port = f.path, other = f.path;
	struct packet *p;
	uint8_t forged[24];

	ROWS("9260-10-01 9260-10-02");
	setup_probing(3600 * SEC);
	p = take();
	answer(p);
	p = &f.out[0];
	for (unsigned int i = 0; f.out[i].len; i++)
		if (vtag_of(&f.out[i]) == f.tag)
			p = &f.out[i];
	memcpy(forged, p->data, sizeof(forged));
	forged[5] ^= 1; /* tag */
	sctp_packet_too_big(f.ep, &f.path, 1300, forged, sizeof(forged), f.now);
	forged[5] ^= 1;
	forged[3] ^= 1; /* port of the peer */
	sctp_packet_too_big(f.ep, &f.path, 1300, forged, sizeof(forged), f.now);
	sctp_packet_too_big(f.ep, &f.path, 1300, p->data, 7, f.now);
	sctp_packet_too_big(f.ep, &f.path, 1300, p->data, 0, f.now);
	put_be32(forged + 4, 0); /* as if quoting an INIT, whose tag comes later */
	sctp_packet_too_big(f.ep, &f.path, 1300, forged, 8, f.now);
	sctp_packet_too_big(f.ep, &f.path, 1300, forged, sizeof(forged), f.now);
	port.udp_port++;
	sctp_packet_too_big(f.ep, &port, 1300, p->data, 28, f.now);
	other.remote = simnet_v4(9);
	sctp_packet_too_big(f.ep, &other, 1300, p->data, 28, f.now);
	sctp_packet_too_big(f.ep, &other, 1300, NULL, 0, f.now);
	assert_int_equal(max_packet(), 1472);
	sctp_packet_too_big(f.ep, &f.path, 1400, p->data, 8, f.now);
	assert_int_equal(max_packet(), 1372);
	/* A larger MTU is not new. The local host needs no quotation. */
	sctp_packet_too_big(f.ep, &f.path, 1450, p->data, 28, f.now);
	assert_int_equal(max_packet(), 1372);
	port.udp_port = 0;
	sctp_packet_too_big(f.ep, &port, 1300, NULL, 0, f.now);
	assert_int_equal(max_packet(), 1272);
	sctp_packet_too_big(f.ep, &f.path, 0, p->data, 28, f.now);
	assert_int_equal(max_packet(), 576 - 28);
	drop_all();
	nothing();
}

/*
 * MTUs below 576 bytes are not accepted from anybody, but permit fragmentation: such a link must
 * not stop the association.
 */
static void test_below_the_floor(void **state)
{
	struct packet *p;

	ROWS("6951-5.6-02");
	setup_probing(3600 * SEC);
	p = take();
	answer(p);
	assert_true(one_message(100)->df);
	sctp_packet_too_big(f.ep, &f.path, 577, p->data, 8, f.now);
	assert_true(one_message(100)->df);
	sctp_packet_too_big(f.ep, &f.path, 552, p->data, 8, f.now);
	assert_int_equal(max_packet(), 576 - 28);
	p = one_message((uint32_t)sctp_assoc_max_msg(f.a));
	assert_int_equal(p->len, 576 - 28);
	assert_false(p->df);
	/* Later the path MTU is searched again, with DF. */
	nothing();
	wait_ns(601 * SEC);
	p = take();
	check_probe(p, 1006);
	answer(p);
	drop_all(); /* the next probe */
	assert_true(one_message(100)->df);
}

/* As above, for a local interface with a smaller MTU. */
static void test_interface_below_the_floor(void **state)
{
	struct packet *p;

	establish_only();
	sctp_assoc_set_mtu(f.a, 552);
	p = one_message((uint32_t)sctp_assoc_max_msg(f.a));
	assert_int_equal(p->len, 576 - 28);
	assert_false(p->df);
}

/* A chunk above the path MTU that does not fit the rest of the block gets another block. */
static void test_oversize_needs_a_block(void **state)
{
	struct sctp_batch b;
	bool again = false;

	ROWS("9260-6.9-04");
	establish_only();
	sctp_assoc_set_mtu(f.a, 65535);
	f.message_len = 40000;
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	assert_int_equal(sctp_output(f.a, f.now, &b), 1);
	assert_true(b.len > 40000 && b.df);
	sctp_batch_done(f.s, &b);
	sctp_assoc_set_mtu(f.a, 1500);
	f.now += SEC;
	sctp_timers(f.s, f.now);
	while (sctp_output(f.a, f.now, &b) > 0) {
		again |= b.len > 40000 && !b.df;
		sctp_batch_done(f.s, &b);
	}
	assert_true(again);
}

/*
 * Small packets on a path with a large MTU use a common block, until the peer has acknowledged
 * them.
 */
static void test_small_packets_share_a_block(void **state)
{
	struct sctp_block *last = NULL;
	struct sctp_batch b;
	unsigned int blocks = 0;

	establish_only();
	sctp_assoc_set_mtu(f.a, 65535);
	f.message_len = 100;
	for (int i = 0; i < 400; i++) {
		f.messages = 1;
		sctp_assoc_doorbell(f.a);
		assert_int_equal(sctp_output(f.a, f.now, &b), 1);
		blocks += b.block != last;
		last = b.block;
		sctp_batch_done(f.s, &b);
	}
	/* 400 times 128 bytes fit one block, but the last quarter of a block is not used. */
	assert_in_range(blocks, 1, 2);
	/* A message too large for the rest still gets a packet of full length. */
	f.message_len = 60000;
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	assert_int_equal(sctp_output(f.a, f.now, &b), 1);
	assert_int_equal(b.len, 12 + 16 + 60000);
	sctp_batch_done(f.s, &b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_search),
		cmocka_unit_test(test_search_turns),
		PEER_TEST(test_oversize_needs_a_block),
		PEER_TEST(test_small_packets_share_a_block),
		PEER_TEST(test_confirmed_first),
		PEER_TEST(test_probe_is_last),
		PEER_TEST(test_probe_lost),
		PEER_TEST(test_black_hole),
		PEER_TEST(test_dead_is_not_narrow),
		PEER_TEST(test_silence_ends_probes),
		PEER_TEST(test_late_answer),
		PEER_TEST(test_raise),
		PEER_TEST(test_quoted),
		PEER_TEST(test_below_the_floor),
		PEER_TEST(test_interface_below_the_floor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
