/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * Verification tags, packets out of the blue, restarts, and the end of an association (RFC 9260
 * 5.2, 8, 9; RFC 6951).
 */
#include "conformance/rows.h"
#include "fixture/sctp_peer.h"

static void test_tags(void **state)
{
	unsigned int i;

	ROWS("9260-8.5-01 9260-8.5.1-01 9260-8.5.1-02 9260-3.3.7-02");
	establish();
	begin_tag(f.their_tag + 1);
	add_data(f.tsn);
	sendp();
	assert_int_equal(f.rx.count, 0);
	nothing();
	begin_tag(0);
	add_data(f.tsn);
	sendp();
	nothing();
	/* An ABORT with the local tag and T, or with the peer's tag without T, is ignored. */
	for (i = 0; i < 2; i++) {
		begin_tag(i ? f.tag : f.their_tag);
		add(WIRE_SCTP_ABORT, i ? 0 : 1, 0);
		sendp();
		nothing();
		assert_non_null(f.a);
	}
	/* A malformed ABORT is ignored. */
	begin();
	put_be16(add(WIRE_SCTP_ABORT, 0, 0) - 2, 3);
	sendp();
	assert_non_null(f.a);
	/*
	 * A SHUTDOWN COMPLETE in the wrong state is ignored, even with other chunks after a
	 * reflected tag.
	 */
	begin_tag(f.tag);
	add(WIRE_SCTP_SHUTDOWN_COMPLETE, 1, 0);
	add_data(f.tsn);
	sendp();
	assert_int_equal(f.rx.count, 0);
	assert_non_null(f.a);
	begin_tag(f.tag);
	add(WIRE_SCTP_ABORT, 1, 0);
	sendp();
	assert_int_equal(f.error, -ECONNRESET);
	nothing();
}

/* Packets out of the blue get the answers of section 8.4. */
static void test_blue(void **state)
{
	struct wire_sctp_chunk c;
	struct packet *p;

	ROWS("9260-8.4-01 9260-8.4-02 9260-8.4-03");
	begin_tag(99);
	add(WIRE_SCTP_ABORT, 0, 0);
	sendp();
	begin_tag(99);
	add(WIRE_SCTP_COOKIE_ACK, 0, 0);
	sendp();
	begin_tag(99);
	add(WIRE_SCTP_SHUTDOWN_COMPLETE, 0, 0);
	sendp();
	begin_tag(99);
	put_be32(add(WIRE_SCTP_ERROR, 0, 8), WIRE_SCTP_CAUSE_STALE_COOKIE << 16 | 8);
	sendp();
	nothing();
	begin_tag(99);
	add(WIRE_SCTP_SHUTDOWN_ACK, 0, 0);
	sendp();
	p = take();
	c = chunk_of(p, 0, WIRE_SCTP_SHUTDOWN_COMPLETE);
	assert_int_equal(c.flags, 1);
	assert_int_equal(vtag_of(p), 99);
	begin_tag(99);
	add_data(1);
	sendp();
	p = take();
	c = chunk_of(p, 0, WIRE_SCTP_ABORT);
	assert_int_equal(c.flags, 1);
	assert_int_equal(vtag_of(p), 99);
	assert_int_equal(p->to.udp_port, PEER_PORT);
	/* Packets from a multicast address get no answer. */
	f.path.remote.b[12] = 224;
	begin_tag(99);
	add_data(1);
	sendp();
	nothing();
}

static void test_udp_port(void **state)
{
	struct wire_sctp_init init = our_init();
	struct path_addr moved = f.path;

	ROWS("6951-5.4-01 6951-5.4-02");
	establish();
	moved.udp_port = 20001;
	/* Neither a wrong tag nor an INIT changes the UDP port. */
	begin_tag(f.their_tag ^ 4);
	add_data(f.tsn);
	send_from(&moved);
	assert_int_equal(sctp_assoc_addr(f.a)->udp_port, PEER_PORT);
	init.tag = f.tag = 0x99887766;
	begin_tag(0);
	add_init(WIRE_SCTP_INIT, &init);
	send_from(&moved);
	assert_int_equal(sctp_assoc_addr(f.a)->udp_port, PEER_PORT);
	assert_int_equal(take()->to.udp_port, 20001);
	begin();
	add_data(f.tsn);
	send_from(&moved);
	assert_int_equal(sctp_assoc_addr(f.a)->udp_port, 20001);
	wait_ns(20 * MSEC);
	assert_int_equal(take()->to.udp_port, 20001);
}

/*
 * A second INIT leaves the association as it is, but its cookie restarts the association (5.2.2,
 * 5.2.4 A).
 */
static void test_restart(void **state)
{
	struct wire_sctp_init init = our_init(), ack;
	struct packet p;
	uint32_t old = f.tag;

	ROWS("9260-5.2.2-01 9260-5.2.4-01");
	establish();
	f.messages = 3;
	sctp_assoc_doorbell(f.a);
	collect();
	drop_all();
	init.tag = f.tag = 0x55555555;
	init.tsn = 1000;
	begin_tag(0);
	add_init(WIRE_SCTP_INIT, &init);
	sendp();
	p = *take();
	read_init_ack(&p, &ack);
	assert_true(ack.tag != f.their_tag);
	assert_int_equal(f.a->peer_tag, old);
	begin();
	add_data(f.tsn);
	sendp();
	assert_int_equal(f.rx.count, 1);
	drop_all();
	f.their_tag = ack.tag;
	begin();
	add_cookie_echo(&ack);
	add_data(1000);
	sendp();
	assert_true(f.rx.restart);
	assert_false(f.rx.up);
	assert_ptr_equal(f.rx.assoc, f.a);
	assert_int_equal(f.rx.count, 1);
	assert_true(sctp_assoc_is_drained(f.a));
	p = *take();
	chunk_of(&p, 0, WIRE_SCTP_COOKIE_ACK);
	assert_int_equal(vtag_of(&p), 0x55555555);
	assert_int_equal(f.a->out.next, ack.tsn);
}

/*
 * Another host behind the same NAT may send a cookie from another UDP port. So a HEARTBEAT
 * probes the old path first.
 */
static void test_restart_behind_nat(void **state)
{
	struct path_addr other = f.path;
	struct wire_sctp_init init = our_init(), ack;
	struct wire_sctp_chunk c;
	struct packet p, hb;
	unsigned int alive;
	uint32_t old_tag = f.tag, old_their;

	other.udp_port = 33333;
	for (alive = 2; alive-- > 0;) {
		if (!f.a)
			establish();
		old_their = f.their_tag;
		init.tag = f.tag = 0x66666666;
		begin_tag(0);
		add_init(WIRE_SCTP_INIT, &init);
		send_from(&other);
		p = *take();
		read_init_ack(&p, &ack);
		begin_tag(ack.tag);
		add_cookie_echo(&ack);
		send_from(&other);
		assert_false(f.rx.restart);
		hb = *take();
		c = chunk_of(&hb, 0, WIRE_SCTP_HEARTBEAT);
		assert_int_equal(hb.to.udp_port, PEER_PORT);
		nothing();
		if (alive) {
			begin_tag(old_their);
			memcpy(add(WIRE_SCTP_HEARTBEAT_ACK, 0, c.len - 4u), c.raw + 4, c.len - 4u);
			f.now += MSEC;
			sendp();
		}
		f.now += SEC;
		begin_tag(ack.tag);
		add_cookie_echo(&ack);
		send_from(&other);
		assert_int_equal(f.rx.restart, !alive);
		drop_all();
		f.tag = old_tag;
		f.now += 60 * SEC;
	}
}

static void test_shutdown_passive(void **state)
{
	uint8_t *v;

	ROWS("9260-9.2-03");
	establish();
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	collect();
	take_data();
	begin();
	v = add(WIRE_SCTP_SHUTDOWN, 0, 4);
	put_be32(v, f.their_tsn - 1);
	sendp();
	assert_int_equal(f.events, 1 << SCTP_EVENT_SHUTDOWN);
	nothing(); /* DATA is outstanding */
	f.messages = 5;
	sctp_assoc_doorbell(f.a);
	nothing(); /* the user is not called again */
	begin();
	add_sack(f.their_tsn, 100000, NULL, 0);
	sendp();
	chunk_of(take(), 0, WIRE_SCTP_SHUTDOWN_ACK);
	wait_ns(SEC);
	chunk_of(take(), 0, WIRE_SCTP_SHUTDOWN_ACK);
	begin_tag(f.tag); /* from a peer that lost the association */
	add(WIRE_SCTP_SHUTDOWN_COMPLETE, 1, 0);
	sendp();
	assert_true(f.events & 1 << SCTP_EVENT_CLOSED);
	assert_null(f.a);
}

static void test_shutdown_active(void **state)
{
	struct wire_sctp_chunk c;
	struct packet *p;

	ROWS("9260-9.2-01 9260-9.2-04 9260-8.5.1-03");
	establish();
	f.messages = 1;
	sctp_assoc_doorbell(f.a);
	collect();
	take_data();
	sctp_assoc_shutdown(f.a, f.now);
	nothing();
	begin();
	add_sack(f.their_tsn, 100000, NULL, 0);
	sendp();
	c = chunk_of(take(), 0, WIRE_SCTP_SHUTDOWN);
	assert_int_equal(get_be32(c.raw + 4), f.tsn - 1);
	/* DATA is still accepted, and answered with SHUTDOWN; with gaps, also with a SACK. */
	begin();
	add_data(f.tsn);
	sendp();
	assert_int_equal(f.rx.count, 1);
	p = take();
	c = chunk_of(p, 0, WIRE_SCTP_SHUTDOWN);
	assert_int_equal(get_be32(c.raw + 4), f.tsn);
	begin();
	add_data(f.tsn + 2);
	sendp();
	p = take();
	chunk_of(p, 0, WIRE_SCTP_SHUTDOWN);
	chunk_of(p, 1, WIRE_SCTP_SACK);
	wait_ns(SEC);
	chunk_of(take(), 0, WIRE_SCTP_SHUTDOWN);
	begin();
	add(WIRE_SCTP_SHUTDOWN_ACK, 0, 0);
	sendp();
	p = take();
	c = chunk_of(p, 0, WIRE_SCTP_SHUTDOWN_COMPLETE);
	assert_int_equal(c.flags, 0);
	assert_int_equal(vtag_of(p), f.tag);
	assert_int_equal(f.events, 1 << SCTP_EVENT_CLOSED);
}

/* In SHUTDOWN-ACK-SENT, an INIT or the cookie of a restart causes another SHUTDOWN ACK. */
static void test_shutdown_restart(void **state)
{
	struct wire_sctp_init init = our_init(), ack;
	struct packet early, *p;

	ROWS("9260-5.2.4-02 9260-9.2-06");
	establish();
	init.tag = f.tag ^ 1;
	begin_tag(0);
	add_init(WIRE_SCTP_INIT, &init);
	sendp();
	early = *take();
	begin();
	put_be32(add(WIRE_SCTP_SHUTDOWN, 0, 4), f.their_tsn - 1);
	sendp();
	chunk_of(take(), 0, WIRE_SCTP_SHUTDOWN_ACK);
	begin_tag(0);
	add_init(WIRE_SCTP_INIT, &init);
	sendp();
	chunk_of(take(), 0, WIRE_SCTP_SHUTDOWN_ACK);
	f.tag ^= 1;
	read_init_ack(&early, &ack);
	begin_tag(ack.tag);
	add_cookie_echo(&ack);
	sendp();
	assert_false(f.rx.restart || f.rx.up);
	p = take();
	chunk_of(p, 0, WIRE_SCTP_ERROR);
	chunk_of(p, 1, WIRE_SCTP_SHUTDOWN_ACK);
}

/* A stranger opened the association, and was silent since: only an ABORT is sent. */
static void test_stranger(void **state)
{
	establish();
	sctp_assoc_shutdown(f.a, f.now);
	collect();
	chunk_of(take(), 0, WIRE_SCTP_ABORT);
	nothing();
	assert_int_equal(f.events, 1 << SCTP_EVENT_CLOSED);
	/* After a packet from the peer, the shutdown waits for the peer. */
	establish();
	begin();
	add_data(f.tsn);
	sendp();
	drop_all();
	sctp_assoc_shutdown(f.a, f.now);
	collect();
	chunk_of(take(), 0, WIRE_SCTP_SHUTDOWN);
}

static void test_silent_shutdown(void **state)
{
	ROWS("9260-9.2-02");
	establish();
	f.a->path->health.proof = f.now; /* the peer is no stranger */
	sctp_assoc_shutdown(f.a, f.now);
	collect();
	wait_ns(100 * SEC);
	assert_int_equal(f.events, 1 << SCTP_EVENT_LOST);
	assert_int_equal(f.error, -ETIMEDOUT);
}

static void test_user_abort(void **state)
{
	struct wire_sctp_chunk c;

	ROWS("9260-9.1-01 9260-3.3.7-03");
	establish();
	f.messages = 5;
	sctp_assoc_doorbell(f.a);
	sctp_assoc_abort(f.a);
	f.a = NULL;
	collect();
	c = chunk_of(take(), 0, WIRE_SCTP_ABORT);
	assert_int_equal(c.flags, 0);
	assert_int_equal(get_be16(c.raw + 4), WIRE_SCTP_CAUSE_USER_ABORT);
	nothing();
	assert_false(f.events);
	/* Freeing an endpoint sends nothing, and drops its waiting packets. */
	drop_all();
	establish();
	sctp_assoc_abort(f.a);
	sctp_endpoint_free(f.ep);
	nothing();
}

static void test_heartbeats(void **state)
{
	struct sctp_config config;
	struct wire_sctp_chunk c;
	uint8_t first[24];
	struct packet *p;
	uint8_t *v;

	ROWS("9260-3.3.5-01 9260-8.3-03");
	teardown(NULL);
	sctp_config_default(&config);
	config.mtu_probe = false;
	setup_config(&config);
	establish();
	wait_ns(1000 * MSEC);
	p = take();
	c = chunk_of(p, 0, WIRE_SCTP_HEARTBEAT);
	memcpy(first, c.raw, 24);
	begin();
	v = add(WIRE_SCTP_HEARTBEAT_ACK, 0, 20);
	memcpy(v, first + 4, 20);
	f.now += 2 * MSEC;
	v[19] ^= 1; /* wrong nonce: no measurement */
	{
		uint64_t srtt = f.a->path->rtt.srtt, sent = f.a->path->hb.sent;

		sendp();
		assert_int_equal(f.a->path->rtt.srtt, srtt);
		assert_int_equal(f.a->path->hb.sent, sent);
		v[19] ^= 1;
		memset(f.buf + 8, 0, 4);
		sendp();
		assert_true(f.a->path->rtt.srtt != srtt);
		assert_int_equal(f.a->path->hb.sent, 0);
	}
	wait_ns(1000 * MSEC);
	p = take();
	c = chunk_of(p, 0, WIRE_SCTP_HEARTBEAT);
	assert_memory_not_equal(first, c.raw, 24);
	/* Continuous DATA also shows that the peer is alive. */
	wait_ns(400 * MSEC);
	begin();
	add_data(f.tsn);
	sendp();
	drop_all();
	wait_ns(700 * MSEC);
	nothing();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PEER_TEST(test_tags),
		PEER_TEST(test_blue),
		PEER_TEST(test_udp_port),
		PEER_TEST(test_restart),
		PEER_TEST(test_restart_behind_nat),
		PEER_TEST(test_shutdown_passive),
		PEER_TEST(test_shutdown_active),
		PEER_TEST(test_shutdown_restart),
		PEER_TEST(test_stranger),
		PEER_TEST(test_silent_shutdown),
		PEER_TEST(test_user_abort),
		PEER_TEST(test_heartbeats),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
