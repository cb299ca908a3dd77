/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: net */
/* Sessions of DTLS (net/dtls.h): how they start, change their keys, and end. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "fixture/dtls_pair.h"

static struct dtls_host *const a = &dtls_hosts[0], *const b = &dtls_hosts[1];

/* Exported, so that libraries call this function. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *ts)
{
	return dtls_pair_clock(ts);
}

static void test_session(void **state)
{
	struct path_addr to = dtls_pair_address(2000);
	struct dtls_cipher *tx;

	dtls_pair_send_text(a, b, "hello");
	dtls_pair_send_text(a, b, "again");
	dtls_pair_settle();
	dtls_pair_received(b, 2, "again");
	dtls_pair_send_text(b, a, "welcome");
	dtls_pair_settle();
	dtls_pair_received(a, 1, "welcome");
	assert_int_equal(a->stats.handshakes, 1);
	assert_int_equal(b->stats.handshakes, 1);
	assert_int_equal(a->stats.refused + b->stats.refused + b->stats.bad_records, 0);
	/* The server keeps its last flight for a while. After that, no timer runs. */
	assert_true(dtls_next_timeout(a->dtls) == TIME_NEVER);
	dtls_pair_pass(100 * NSEC_PER_SEC);
	assert_true(dtls_next_timeout(b->dtls) == TIME_NEVER);
	assert_true(net.longest <= DTLS_HANDSHAKE_MTU);
	/* The cipher is AES-GCM, the fastest: ChaCha20-Poly1305 adds 29 bytes. */
	assert_int_equal(dtls_pair_ask(a, &to, &tx), DTLS_SEALED);
	assert_int_equal(dtls_cipher_overhead(tx), 37);
}

/*
 * The client offers only the elliptic curves x25519 and secp256r1: other groups are slow
 * (dtls_credentials.c).
 */
static void test_groups(void **state)
{
	static const uint8_t extension[] = { 0, 10, 0, 6, 0, 4, 0, 29, 0, 23 };
	const struct dtls_datagram *hello = &net.flight[net.first];

	dtls_pair_send_text(a, b, "hello");
	assert_non_null(memmem(hello->data, hello->len, extension, sizeof(extension)));
}

/* Each datagram of a handshake is lost in turn. */
static void test_one_lost(void **state)
{
	for (unsigned int i = 0; i < 12; i++) {
		dtls_pair_teardown(state);
		dtls_pair_setup(state);
		net.lost = UINT64_C(1) << i;
		dtls_pair_send_text(a, b, "hello");
		dtls_pair_pass(2 * NSEC_PER_SEC);
		/* The last datagram is the packet itself, which DTLS does not retransmit. */
		dtls_pair_send_text(a, b, "more");
		dtls_pair_pass(NSEC_PER_SEC);
		assert_string_equal(b->last, "more");
		assert_int_equal(b->stats.handshakes, 1);
		assert_int_equal(a->stats.handshakes, 1);
	}
}

static void test_many_lost(void **state)
{
	for (unsigned int s = 0; s < 40; s++) {
		dtls_pair_teardown(state);
		dtls_pair_setup(state);
		net.loss = 25;
		net.seed = s * 7919 + 1;
		for (unsigned int i = 0; i < 60 && !b->received; i++) {
			dtls_pair_send_text(a, b, "hello");
			dtls_pair_pass(NSEC_PER_SEC);
		}
		assert_string_equal(b->last, "hello");
	}
}

/* Both hosts start at once: the result is one session, and no packet is lost. */
static void test_crossing(void **state)
{
	for (unsigned int i = 0; i < 8; i++) {
		dtls_pair_teardown(state);
		dtls_pair_setup(state);
		dtls_pair_send_text(a, b, "from a");
		dtls_pair_send_text(b, a, "from b");
		dtls_pair_pass(NSEC_PER_SEC);
		dtls_pair_received(a, 1, "from b");
		dtls_pair_received(b, 1, "from a");
		assert_int_equal(a->stats.handshakes, 1);
		assert_int_equal(b->stats.handshakes, 1);
		assert_int_equal(net.sent < 40, true);
	}
}

static void test_crossing_lost(void **state)
{
	for (unsigned int s = 0; s < 40; s++) {
		dtls_pair_teardown(state);
		dtls_pair_setup(state);
		net.loss = 20;
		net.seed = s * 104729 + 3;
		for (unsigned int i = 0; i < 60 && (!b->received || !a->received); i++) {
			dtls_pair_send_text(a, b, "from a");
			dtls_pair_send_text(b, a, "from b");
			dtls_pair_pass(NSEC_PER_SEC);
		}
		assert_string_equal(a->last, "from b");
		assert_string_equal(b->last, "from a");
	}
}

static void test_other_key(void **state)
{
	dtls_pair_stop(b);
	dtls_pair_start(b, 2000, DTLS_OTHER);
	dtls_pair_send_text(a, b, "hello");
	dtls_pair_pass(5 * NSEC_PER_SEC);
	assert_int_equal(b->received, 0);
	assert_int_equal(a->failed, 1);
	assert_int_equal(a->error, -EACCES);
	assert_string_equal(a->last, "hello");
	assert_int_equal(a->stats.refused, 1);
	assert_int_equal(b->stats.refused, 1);
	assert_int_equal(a->stats.handshakes + b->stats.handshakes, 0);
	assert_int_equal(a->port->n + b->port->n, 0);
}

static void test_unknown_name(void **state)
{
	dtls_pair_stop(b);
	dtls_pair_start(b, 2000, DTLS_FRESH);
	dtls_pair_send_text(a, b, "hello");
	dtls_pair_pass(NSEC_PER_SEC);
	assert_int_equal(a->failed, 1);
	assert_int_equal(a->stats.refused, 1);
	assert_int_equal(b->stats.refused, 1);
	assert_int_equal(a->port->n + b->port->n, 0);
}

/* Hosts change their keys in turn: b has the new key already, and still accepts the old one. */
static void test_two_keys(void **state)
{
	dtls_pair_stop(b);
	dtls_pair_start(b, 2000, DTLS_FRESH DTLS_LAB);
	dtls_pair_send_text(a, b, "hello");
	dtls_pair_settle();
	dtls_pair_received(b, 1, "hello");
	dtls_pair_send_text(b, a, "welcome");
	dtls_pair_settle();
	dtls_pair_received(a, 1, "welcome");
}

/* Sets up a session, then kills b, which sends no close_notify, and starts b again. */
static void kill_and_restart(void)
{
	dtls_pair_exchange();
	b->mute = true;
	dtls_pair_stop(b);
	dtls_pair_start(b, 2000, DTLS_LAB);
}

/*
 * b is killed and starts again. b reports that it does not know the session, and a sets up a new
 * session.
 */
static void test_restart(void **state)
{
	kill_and_restart();
	dtls_pair_send_text(a, b, "lost");
	dtls_pair_settle();
	assert_int_equal(b->received, 0);
	assert_int_equal(b->stats.bad_records, 1);
	assert_int_equal(b->stats.handshakes, 1);
	dtls_pair_send_text(a, b, "found");
	dtls_pair_settle();
	dtls_pair_received(b, 1, "found");
	assert_int_equal(a->stats.handshakes, 2);
	/* The previous session remains a little longer, for late packets. */
	assert_int_equal(a->port->n, 1);
	dtls_pair_pass(10 * NSEC_PER_SEC);
	dtls_pair_send_text(b, a, "back");
	dtls_pair_settle();
	dtls_pair_received(a, 2, "back");
}

/* As above, but b starts: its ClientHello arrives at a session that is up. */
static void test_restart_asks(void **state)
{
	kill_and_restart();
	dtls_pair_send_text(b, a, "anew");
	dtls_pair_settle();
	dtls_pair_received(a, 2, "anew");
	dtls_pair_send_text(a, b, "fine");
	dtls_pair_settle();
	dtls_pair_received(b, 1, "fine");
}

/* A silent peer has perhaps lost the session. */
static void test_doubt(void **state)
{
	kill_and_restart();
	/* Nothing from b arrives, not even its hints. */
	b->mute = true;
	dtls_pair_send_text(a, b, "are you there?");
	dtls_pair_pass(NSEC_PER_SEC);
	assert_int_equal(b->stats.bad_records, 1);
	b->mute = false;
	dtls_pair_pass(NSEC_PER_SEC);
	assert_null(dtls_pair_peer(a)->next);
	/* This packet is lost, so b sends no hint. */
	net.lost = UINT64_C(1) << net.sent;
	assert_true(net.sent < 63);
	dtls_pair_send_text(a, b, "still?");
	dtls_pair_settle();
	dtls_pair_pass(NSEC_PER_SEC);
	assert_int_equal(a->stats.handshakes, 2);
	dtls_pair_send_text(a, b, "there");
	dtls_pair_settle();
	dtls_pair_received(b, 1, "there");
}

/* A peer that only receives does not cause an endless series of new handshakes. */
static void test_one_way(void **state)
{
	dtls_pair_exchange();
	for (unsigned int i = 0; i < 600; i++) {
		dtls_pair_send_text(a, b, "news");
		dtls_pair_pass(100 * NSEC_PER_MSEC);
	}
	assert_int_equal(b->received, 601);
	/* Handshakes after 2, 4, 8, 16 and 32 s. */
	assert_in_range(a->stats.handshakes, 3, 6);
	dtls_pair_send_text(b, a, "thank you");
	dtls_pair_settle();
	assert_int_equal(dtls_pair_peer(a)->patience, 0);
}

/* a starts the next handshake, and the last flight of b is lost. */
static void lose_last_flight(void)
{
	dtls_pair_exchange();
	dtls_setup_connect(dtls_pair_peer(a), net.now);
	while (net.count && b->stats.handshakes < 2)
		dtls_pair_step();
	assert_int_equal(b->stats.handshakes, 2);
	net.count = 0;
}

/* b seals with keys that a does not have yet: a must not start yet another handshake. */
static void test_last_flight(void **state)
{
	lose_last_flight();
	/* The old key has used the first number, too: a record with this number is a replay. */
	dtls_pair_send_text(b, a, "lost");
	dtls_pair_send_text(b, a, "lost");
	dtls_pair_settle();
	assert_true(a->stats.bad_records > 0);
	assert_null(dtls_pair_peer(b)->next);
	dtls_pair_pass(NSEC_PER_SEC);
	assert_int_equal(a->stats.handshakes, 2);
	assert_int_equal(b->stats.handshakes, 2);
	dtls_pair_send_text(b, a, "found");
	dtls_pair_settle();
	dtls_pair_received(a, 2, "found");
}

/* As above, but b has also started a handshake. b still retransmits its last flight. */
static void test_last_flight_crossing(void **state)
{
	lose_last_flight();
	dtls_setup_connect(dtls_pair_peer(b), net.now);
	assert_non_null(dtls_pair_peer(b)->next);
	net.count = 0;
	/* a requests the missing flight, and nothing of b's ClientHello arrives. */
	while (a->stats.handshakes < 2 && net.now < 8 * NSEC_PER_SEC) {
		struct dtls_peer *peer = dtls_pair_peer(b);

		peer->next_at = TIME_NEVER;
		dtls_peer_arm(peer);
		dtls_pair_pass(100 * NSEC_PER_MSEC);
	}
	assert_int_equal(a->stats.handshakes, 2);
	dtls_pair_send_text(b, a, "found");
	dtls_pair_settle();
	dtls_pair_received(a, 2, "found");
}

/* After a failed change of keys, the next packet does not start another change. */
static void test_rekey_pause(void **state)
{
	struct dtls_peer *peer;

	dtls_pair_stop(a);
	dtls_pair_start_with(a, 1000, DTLS_LAB, false, 40);
	dtls_pair_exchange();
	peer = dtls_pair_peer(a);
	b->mute = true;
	for (unsigned int i = 0; i < 40; i++) {
		dtls_pair_send_text(a, b, "more");
		dtls_pair_settle();
	}
	assert_non_null(peer->next);
	dtls_pair_pass(DTLS_HANDSHAKE_LIMIT * NSEC_PER_MSEC + 1);
	assert_null(peer->next);
	dtls_pair_send_text(a, b, "more");
	assert_null(peer->next);
	dtls_pair_pass(NSEC_PER_SEC);
	dtls_pair_send_text(a, b, "more");
	assert_non_null(peer->next);
}

static void test_close(void **state)
{
	struct path_addr addr = dtls_pair_address(2000);
	struct dtls_cipher *tx;

	dtls_pair_exchange();
	dtls_port_free(b->port);
	b->port = dtls_port_new(b->dtls, 2000, b);
	dtls_pair_settle();
	assert_int_equal(dtls_pair_ask(a, &addr, &tx), DTLS_WAIT);
	assert_int_equal(a->port->n, 0);
	dtls_pair_send_text(a, b, "anew");
	dtls_pair_settle();
	assert_string_equal(b->last, "anew");
}

static void test_rekey(void **state)
{
	char text[16];

	dtls_pair_stop(a);
	dtls_pair_stop(b);
	dtls_pair_start_with(a, 1000, DTLS_LAB, false, 100);
	dtls_pair_start_with(b, 2000, DTLS_LAB, false, 100);
	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "%u", i);
		dtls_pair_send_text(i % 3 ? a : b, i % 3 ? b : a, text);
		dtls_pair_settle();
		net.now += NSEC_PER_MSEC;
		assert_int_equal(a->received + b->received, i + 1);
	}
	assert_true(a->stats.handshakes >= 5);
	assert_int_equal(a->stats.handshakes, b->stats.handshakes);
	assert_int_equal(a->stats.bad_records + b->stats.bad_records, 0);
	/* If no new key can be negotiated, sending stops before the old key is worn out. */
	b->mute = true;
	for (unsigned int i = 0; i < 300; i++) {
		struct path_addr addr = dtls_pair_address(2000);
		struct dtls_cipher *tx;
		uint8_t record[64];
		enum dtls_way way = dtls_pair_ask(a, &addr, &tx);

		assert_true(way == DTLS_SEALED || (way == DTLS_NOT && i > 90));
		if (way == DTLS_SEALED)
			dtls_seal(tx, DTLS_DATA, record, 4);
		else
			return;
	}
	fail();
}

static void test_silence(void **state)
{
	b->mute = true;
	for (unsigned int i = 0; i < 100; i++)
		dtls_pair_send_text(a, b, "a packet that waits");
	dtls_pair_pass(DTLS_HANDSHAKE_LIMIT * NSEC_PER_MSEC + NSEC_PER_SEC);
	/* DTLS reports no error: SCTP has its own time limit. */
	assert_int_equal(a->failed, 0);
	assert_int_equal(a->port->n, 0);
	assert_true(dtls_next_timeout(a->dtls) == TIME_NEVER);
	b->mute = false;
	for (unsigned int i = 0; i < 100; i++)
		dtls_pair_send_text(a, b, "a packet that waits");
	dtls_pair_settle();
	assert_int_equal(b->received, DTLS_WAITING_PACKETS);
}

static void test_self(void **state)
{
	struct path_addr to = dtls_pair_address(1000);
	struct dtls_cipher *tx;

	dtls_pair_send_len(a, 1000, "to myself", 9);
	dtls_pair_settle();
	dtls_pair_received(a, 1, "to myself");
	assert_int_equal(a->stats.handshakes, 0);
	to.remote.b[15] = 7; /* another address of the host */
	assert_int_equal(dtls_pair_ask(a, &to, &tx), DTLS_SEALED);
	to.remote.b[12] = 224;
	assert_int_equal(dtls_pair_ask(a, &to, &tx), DTLS_NOT);
}

/* The first answer shows the local address. */
static void test_local_address(void **state)
{
	struct path_addr to = dtls_pair_address(2000), any = to;
	struct dtls_cipher *tx;

	memset(&any.local, 0, sizeof(any.local));
	dtls_port_wait(a->port, &any, (const uint8_t *)"hello", 5, net.now);
	dtls_pair_settle();
	dtls_pair_received(b, 1, "hello");
	dtls_pair_send_text(b, a, "welcome");
	dtls_pair_settle();
	dtls_pair_received(a, 1, "welcome");
	assert_int_equal(dtls_pair_ask(a, &any, &tx), DTLS_SEALED);
	assert_int_equal(dtls_pair_ask(a, &to, &tx), DTLS_SEALED);
	to.local.b[15] = 9;
	assert_int_equal(dtls_pair_ask(a, &to, &tx), DTLS_WAIT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, dtls_pair_setup, dtls_pair_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_session),	  TEST(test_groups),
		TEST(test_one_lost),	  TEST(test_many_lost),
		TEST(test_crossing),	  TEST(test_crossing_lost),
		TEST(test_other_key),	  TEST(test_unknown_name),
		TEST(test_two_keys),	  TEST(test_restart),
		TEST(test_restart_asks),  TEST(test_doubt),
		TEST(test_close),	  TEST(test_rekey),
		TEST(test_silence),	  TEST(test_self),
		TEST(test_local_address), TEST(test_one_way),
		TEST(test_last_flight),	  TEST(test_last_flight_crossing),
		TEST(test_rekey_pause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
