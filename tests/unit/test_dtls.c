/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: net */
/* VALGRIND: yes */
/* How sessions of DTLS (net/dtls.h) come about, with losses, and are renewed. */
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

#include "fixture/dtls_net.h"
#include "net/dtls_peer.h"

/* Visible, so that libraries find it. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *ts)
{
	ts->tv_sec = (time_t)(1700000000u + net.now / NSEC_PER_SEC);
	ts->tv_nsec = (long)(net.now % NSEC_PER_SEC);
	return 0;
}

static void test_session(void **state)
{
	dtls_net_send(&net.a, &net.b, "hello");
	dtls_net_send(&net.a, &net.b, "again");
	dtls_net_settle();
	dtls_net_received(&net.b, 2, "again");
	dtls_net_send(&net.b, &net.a, "welcome");
	dtls_net_settle();
	dtls_net_received(&net.a, 1, "welcome");
	assert_int_equal(net.a.stats.handshakes, 1);
	assert_int_equal(net.b.stats.handshakes, 1);
	assert_int_equal(net.a.stats.refused + net.b.stats.refused + net.b.stats.bad_records, 0);
	/* The server keeps its last flight for a while, and then nothing is waited for. */
	assert_true(dtls_next_timeout(net.a.dtls) == TIME_NEVER);
	dtls_net_pass(100 * NSEC_PER_SEC);
	assert_true(dtls_next_timeout(net.b.dtls) == TIME_NEVER);
	assert_true(net.longest <= DTLS_HANDSHAKE_MTU);
}

/* Each datagram of a handshake gets lost in turn. */
static void test_one_lost(void **state)
{
	for (unsigned int i = 0; i < 12; i++) {
		dtls_net_teardown(state);
		dtls_net_setup(state);
		net.lost = UINT64_C(1) << i;
		dtls_net_send(&net.a, &net.b, "hello");
		dtls_net_pass(2 * NSEC_PER_SEC);
		/* The last one is the packet itself, which DTLS does not send again. */
		dtls_net_send(&net.a, &net.b, "more");
		dtls_net_pass(NSEC_PER_SEC);
		assert_string_equal(net.b.last, "more");
		assert_int_equal(net.b.stats.handshakes, 1);
		assert_int_equal(net.a.stats.handshakes, 1);
	}
}

static void test_many_lost(void **state)
{
	for (unsigned int s = 0; s < 40; s++) {
		dtls_net_teardown(state);
		dtls_net_setup(state);
		net.loss = 25;
		net.seed = s * 7919 + 1;
		for (unsigned int i = 0; i < 60 && !net.b.received; i++) {
			dtls_net_send(&net.a, &net.b, "hello");
			dtls_net_pass(NSEC_PER_SEC);
		}
		assert_string_equal(net.b.last, "hello");
	}
}

/* Both begin at once: there is one session, and nothing gets lost. */
static void test_crossing(void **state)
{
	for (unsigned int i = 0; i < 8; i++) {
		dtls_net_teardown(state);
		dtls_net_setup(state);
		dtls_net_send(&net.a, &net.b, "from a");
		dtls_net_send(&net.b, &net.a, "from b");
		dtls_net_pass(NSEC_PER_SEC);
		dtls_net_received(&net.a, 1, "from b");
		dtls_net_received(&net.b, 1, "from a");
		assert_int_equal(net.a.stats.handshakes, 1);
		assert_int_equal(net.b.stats.handshakes, 1);
		assert_int_equal(net.sent < 40, true);
	}
}

static void test_crossing_lost(void **state)
{
	for (unsigned int s = 0; s < 40; s++) {
		dtls_net_teardown(state);
		dtls_net_setup(state);
		net.loss = 20;
		net.seed = s * 104729 + 3;
		for (unsigned int i = 0; i < 60 && (!net.b.received || !net.a.received); i++) {
			dtls_net_send(&net.a, &net.b, "from a");
			dtls_net_send(&net.b, &net.a, "from b");
			dtls_net_pass(NSEC_PER_SEC);
		}
		assert_string_equal(net.a.last, "from b");
		assert_string_equal(net.b.last, "from a");
	}
}

static void test_other_key(void **state)
{
	dtls_net_stop(&net.b);
	dtls_net_start(&net.b, 2000, DTLS_NET_OTHER);
	dtls_net_send(&net.a, &net.b, "hello");
	dtls_net_pass(5 * NSEC_PER_SEC);
	assert_int_equal(net.b.received, 0);
	assert_int_equal(net.a.failed, 1);
	assert_int_equal(net.a.error, -EACCES);
	assert_string_equal(net.a.last, "hello");
	assert_int_equal(net.a.stats.refused, 1);
	assert_int_equal(net.b.stats.refused, 1);
	assert_int_equal(net.a.stats.handshakes + net.b.stats.handshakes, 0);
	assert_int_equal(net.a.port->n + net.b.port->n, 0);
}

static void test_unknown_name(void **state)
{
	dtls_net_stop(&net.b);
	dtls_net_start(&net.b, 2000, DTLS_NET_FRESH);
	dtls_net_send(&net.a, &net.b, "hello");
	dtls_net_settle();
	assert_int_equal(net.a.failed, 1);
	assert_int_equal(net.a.stats.refused, 1);
	assert_int_equal(net.b.stats.refused, 1);
	assert_int_equal(net.a.port->n + net.b.port->n, 0);
}

/* Keys are changed one host at a time: b has the new one already, and still accepts the old one. */
static void test_two_keys(void **state)
{
	dtls_net_stop(&net.b);
	dtls_net_start(&net.b, 2000, DTLS_NET_FRESH DTLS_NET_LAB);
	dtls_net_send(&net.a, &net.b, "hello");
	dtls_net_settle();
	dtls_net_received(&net.b, 1, "hello");
	dtls_net_send(&net.b, &net.a, "welcome");
	dtls_net_settle();
	dtls_net_received(&net.a, 1, "welcome");
}

static void exchange(void)
{
	dtls_net_send(&net.a, &net.b, "hello");
	dtls_net_settle();
	dtls_net_send(&net.b, &net.a, "welcome");
	dtls_net_settle();
	dtls_net_received(&net.a, 1, "welcome");
}

/* b is killed and begins anew: it says that it does not know the session, and a sets up a new one. */
static void test_restart(void **state)
{
	exchange();
	net.b.mute = true;
	dtls_net_stop(&net.b);
	dtls_net_start(&net.b, 2000, DTLS_NET_LAB);
	dtls_net_send(&net.a, &net.b, "lost");
	dtls_net_settle();
	assert_int_equal(net.b.received, 0);
	assert_int_equal(net.b.stats.bad_records, 1);
	assert_int_equal(net.b.stats.handshakes, 1);
	dtls_net_send(&net.a, &net.b, "found");
	dtls_net_settle();
	dtls_net_received(&net.b, 1, "found");
	assert_int_equal(net.a.stats.handshakes, 2);
	/* The session before it is there a little longer, for what is late. */
	assert_int_equal(net.a.port->n, 1);
	dtls_net_pass(10 * NSEC_PER_SEC);
	dtls_net_send(&net.b, &net.a, "back");
	dtls_net_settle();
	dtls_net_received(&net.a, 2, "back");
}

/* The same, but b begins: its ClientHello comes to a session that is up. */
static void test_restart_asks(void **state)
{
	exchange();
	net.b.mute = true;
	dtls_net_stop(&net.b);
	dtls_net_start(&net.b, 2000, DTLS_NET_LAB);
	dtls_net_send(&net.b, &net.a, "anew");
	dtls_net_settle();
	dtls_net_received(&net.a, 2, "anew");
	dtls_net_send(&net.a, &net.b, "fine");
	dtls_net_settle();
	dtls_net_received(&net.b, 1, "fine");
}

/* Whoever does not have the key can begin as often as he likes beside a session: it stays. */
static void test_stays(void **state)
{
	exchange();
	net.b.mute = true;
	dtls_net_stop(&net.b);
	dtls_net_start(&net.b, 2000, DTLS_NET_OTHER);
	for (unsigned int i = 0; i < 5; i++) {
		dtls_net_send(&net.b, &net.a, "let me in");
		dtls_net_pass(3 * NSEC_PER_SEC);
	}
	assert_int_equal(net.a.received, 1);
	assert_int_equal(net.a.stats.handshakes, 1);
	assert_true(net.a.stats.refused > 0);
	assert_int_equal(net.a.port->n, 1);
}

/* A peer that says nothing any more has perhaps forgotten the session. */
static void test_doubt(void **state)
{
	exchange();
	net.b.mute = true;
	for (unsigned int i = 0; i < 10; i++) {
		dtls_net_send(&net.a, &net.b, "are you there?");
		dtls_net_pass(NSEC_PER_SEC);
	}
	net.b.mute = false;
	dtls_net_pass(15 * NSEC_PER_SEC);
	dtls_net_send(&net.a, &net.b, "there");
	dtls_net_settle();
	assert_string_equal(net.b.last, "there");
}

static void test_close(void **state)
{
	struct path_addr addr = dtls_net_address(2000);
	struct dtls_cipher *tx;

	exchange();
	dtls_port_free(net.b.port);
	net.b.port = dtls_port_new(net.b.dtls, 2000, &net.b);
	dtls_net_settle();
	assert_int_equal(dtls_port_ask(net.a.port, &addr, net.now, &tx), DTLS_WAIT);
	assert_int_equal(net.a.port->n, 0);
	dtls_net_send(&net.a, &net.b, "anew");
	dtls_net_settle();
	assert_string_equal(net.b.last, "anew");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, dtls_net_setup, dtls_net_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_session),	 TEST(test_one_lost),	   TEST(test_many_lost),
		TEST(test_crossing),	 TEST(test_crossing_lost), TEST(test_other_key),
		TEST(test_unknown_name), TEST(test_two_keys),	   TEST(test_restart),
		TEST(test_restart_asks), TEST(test_stays),	   TEST(test_doubt),
		TEST(test_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
