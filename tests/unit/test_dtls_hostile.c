/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: net */
/* VALGRIND: yes */
/* Sessions of DTLS (net/dtls.h): new keys, replays, strangers, errors, and peers in the clear. */
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

static void exchange(void)
{
	dtls_net_send(&net.a, &net.b, "hello");
	dtls_net_settle();
	dtls_net_send(&net.b, &net.a, "welcome");
	dtls_net_settle();
	dtls_net_received(&net.a, 1, "welcome");
}

static void test_rekey(void **state)
{
	char text[16];

	dtls_net_stop(&net.a);
	dtls_net_stop(&net.b);
	dtls_net_start_with(&net.a, 1000, DTLS_NET_LAB, false, 100);
	dtls_net_start_with(&net.b, 2000, DTLS_NET_LAB, false, 100);
	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "%u", i);
		dtls_net_send(i % 3 ? &net.a : &net.b, i % 3 ? &net.b : &net.a, text);
		dtls_net_settle();
		net.now += NSEC_PER_MSEC;
		assert_int_equal(net.a.received + net.b.received, i + 1);
	}
	assert_true(net.a.stats.handshakes >= 5);
	assert_int_equal(net.a.stats.handshakes, net.b.stats.handshakes);
	assert_int_equal(net.a.stats.bad_records + net.b.stats.bad_records, 0);
	/* While no new key can be agreed on, sending ends before the old one is worn out. */
	net.b.mute = true;
	for (unsigned int i = 0; i < 300; i++) {
		struct path_addr addr = dtls_net_address(2000);
		struct dtls_cipher *tx;
		uint8_t record[64];
		enum dtls_way way = dtls_port_ask(net.a.port, &addr, net.now, &tx);

		assert_true(way == DTLS_SEALED || (way == DTLS_NOT && i > 90));
		if (way == DTLS_SEALED)
			dtls_seal(tx, DTLS_DATA, record, 4);
		else
			return;
	}
	fail();
}

/* What was under way when the key changed is taken, and each record once. */
static void test_replay(void **state)
{
	struct path_addr from = dtls_net_address(1000);
	struct dtls_net_datagram copy;
	uint8_t data[DTLS_NET_DATAGRAM];

	exchange();
	dtls_net_send(&net.a, &net.b, "once");
	copy = net.flight[net.first];
	dtls_net_settle();
	dtls_net_received(&net.b, 2, "once");
	for (unsigned int i = 0; i < 3; i++) {
		memcpy(data, copy.data, copy.len);
		dtls_port_input(net.b.port, &from, data, copy.len, net.now);
	}
	dtls_net_received(&net.b, 2, "once");
	assert_int_equal(net.b.stats.replays, 3);
	for (size_t i = DTLS_HEADER; i < copy.len; i++) {
		memcpy(data, copy.data, copy.len);
		data[10]++; /* the next number */
		data[i] ^= 1;
		dtls_port_input(net.b.port, &from, data, copy.len, net.now);
	}
	dtls_net_received(&net.b, 2, "once");
	assert_int_equal(net.b.stats.bad_records, copy.len - DTLS_HEADER);
	/* Nothing of it has done any harm. */
	dtls_net_settle();
	dtls_net_send(&net.a, &net.b, "twice");
	dtls_net_settle();
	dtls_net_received(&net.b, 3, "twice");
}

/* ClientHellos without a cookie get a short answer, and leave nothing. */
static void test_flood(void **state)
{
	struct path_addr from = dtls_net_address(1000);
	struct dtls_net_datagram hello;
	uint8_t data[DTLS_NET_DATAGRAM];

	dtls_net_send(&net.a, &net.b, "hello");
	hello = net.flight[net.first];
	net.count = 0;
	net.longest = 0;
	for (unsigned int i = 0; i < 5000; i++) {
		memcpy(data, hello.data, hello.len);
		from.remote.b[13] = (uint8_t)(i >> 8);
		from.remote.b[14] = (uint8_t)i;
		dtls_port_input(net.b.port, &from, data, hello.len, net.now);
		net.count = 0;
	}
	assert_int_equal(net.b.port->n, 0);
	assert_true(net.longest && net.longest < hello.len);
	assert_true(dtls_next_timeout(net.b.dtls) == TIME_NEVER);
}

/* Bytes by chance, and a handshake whose datagrams were changed. */
static void test_hostile(void **state)
{
	struct path_addr from = dtls_net_address(1000);
	uint8_t data[DTLS_NET_DATAGRAM];

	for (unsigned int i = 0; i < 3000; i++) {
		size_t len = 1 + (unsigned int)rand() % 200;

		for (size_t j = 0; j < len; j++)
			data[j] = (uint8_t)rand();
		data[0] = (uint8_t)(18 + rand() % 7);
		data[1] = 0xfe;
		data[2] = rand() % 2 ? 0xfd : 0xff;
		data[3] = data[4] = 0;
		if (len > 13) {
			data[11] = 0;
			data[12] = (uint8_t)(len - 13);
		}
		dtls_port_input(net.b.port, &from, data, len, net.now);
		net.count = 0;
	}
	for (unsigned int i = 0; i < 300; i++) {
		dtls_net_teardown(state);
		dtls_net_setup(state);
		srand(i);
		dtls_net_send(&net.a, &net.b, "hello");
		for (unsigned int n = 0; n < 40 && net.count; n++) {
			struct dtls_net_datagram *d = &net.flight[net.first];

			if (rand() % 8 == 0)
				d->data[(unsigned int)rand() % d->len] ^=
					(uint8_t)(1 << rand() % 8);
			memcpy(data, d->data, d->len);
			from = dtls_net_address(d->from);
			net.first = (net.first + 1) % DTLS_NET_FLIGHT;
			net.count--;
			dtls_port_input(d->to->port, &from, data, d->len, net.now);
		}
		dtls_net_pass(20 * NSEC_PER_SEC);
		dtls_net_send(&net.a, &net.b, "well");
		dtls_net_pass(20 * NSEC_PER_SEC);
		assert_string_equal(net.b.last, "well");
	}
}

static void test_unreachable(void **state)
{
	struct path_addr to = dtls_net_address(2000);
	uint8_t quoted[64];
	size_t len = sizeof(quoted);

	dtls_net_send(&net.a, &net.b, "hello");
	memcpy(quoted, net.flight[net.first].data, len);
	net.count = 0;
	/* One that does not know the ClientHello is not believed. */
	quoted[30] ^= 1;
	assert_false(dtls_port_error(net.a.port, &to, quoted, &len, sizeof(quoted), -ECONNREFUSED,
				     net.now));
	dtls_timers(net.a.dtls, net.now);
	assert_int_equal(net.a.failed, 0);
	quoted[30] ^= 1;
	assert_false(dtls_port_error(net.a.port, &to, quoted, &len, sizeof(quoted), -ECONNREFUSED,
				     net.now));
	dtls_timers(net.a.dtls, net.now);
	assert_int_equal(net.a.failed, 1);
	assert_int_equal(net.a.error, -ECONNREFUSED);
	assert_string_equal(net.a.last, "hello");
	assert_int_equal(net.a.port->n, 0);
	/* Of a session it is what was sealed last. */
	exchange();
	dtls_net_send(&net.a, &net.b, "a packet");
	memcpy(quoted, net.flight[net.first].data, len);
	len = 24;
	assert_true(dtls_port_error(net.a.port, &to, quoted, &len, sizeof(quoted), -ECONNREFUSED,
				    net.now));
	assert_int_equal(len, 8);
	assert_memory_equal(quoted, "a packet", 8);
	len = 24;
	memcpy(quoted, net.flight[net.first].data, len);
	quoted[8] ^= 0x80; /* another number */
	assert_false(dtls_port_error(net.a.port, &to, quoted, &len, sizeof(quoted), -ECONNREFUSED,
				     net.now));
}

static void test_silence(void **state)
{
	net.b.mute = true;
	for (unsigned int i = 0; i < 100; i++)
		dtls_net_send(&net.a, &net.b, "a packet that waits");
	dtls_net_pass(DTLS_HANDSHAKE_LIMIT * NSEC_PER_MSEC + NSEC_PER_SEC);
	/* SCTP has its own patience: it is told of nothing. */
	assert_int_equal(net.a.failed, 0);
	assert_int_equal(net.a.port->n, 0);
	assert_true(dtls_next_timeout(net.a.dtls) == TIME_NEVER);
	net.b.mute = false;
	for (unsigned int i = 0; i < 100; i++)
		dtls_net_send(&net.a, &net.b, "a packet that waits");
	dtls_net_settle();
	assert_int_equal(net.b.received, DTLS_WAITING_PACKETS);
}

static void test_clear(void **state)
{
	struct path_addr from = dtls_net_address(1000);
	uint8_t packet[] = "\x03\xe8\x07\xd0 a packet of SCTP";
	struct dtls_cipher *tx;

	/* It is taken off the hands of the caller, and is not answered. */
	assert_true(dtls_port_input(net.b.port, &from, packet, sizeof(packet), net.now));
	assert_int_equal(net.b.stats.refused, 1);
	assert_int_equal(net.b.received + net.count, 0);
	dtls_net_stop(&net.b);
	dtls_net_start_with(&net.b, 2000, DTLS_NET_LAB, true, DTLS_REKEY);
	assert_false(dtls_port_input(net.b.port, &from, packet, sizeof(packet), net.now));
	assert_int_equal(dtls_port_ask(net.b.port, &from, net.now, &tx), DTLS_CLEAR);
	/* Others are asked for a session first. */
	from.udp_port = 1001;
	assert_int_equal(dtls_port_ask(net.b.port, &from, net.now, &tx), DTLS_WAIT);
	dtls_port_wait(net.b.port, &from, packet, sizeof(packet), net.now);
	dtls_net_pass(3 * NSEC_PER_SEC);
	assert_int_equal(dtls_port_ask(net.b.port, &from, net.now, &tx), DTLS_CLEAR);
	/* Who has a session with us does not lose it to somebody who sends in the clear. */
	dtls_net_send(&net.a, &net.b, "sealed");
	dtls_net_settle();
	from.udp_port = 1000;
	assert_true(dtls_port_input(net.b.port, &from, packet, sizeof(packet), net.now));
	assert_int_equal(dtls_port_ask(net.b.port, &from, net.now, &tx), DTLS_SEALED);
}

static void test_self(void **state)
{
	struct path_addr to = dtls_net_address(1000);
	struct dtls_cipher *tx;

	dtls_net_send_bytes(&net.a, 1000, "to myself", 9);
	dtls_net_settle();
	dtls_net_received(&net.a, 1, "to myself");
	assert_int_equal(net.a.stats.handshakes, 0);
	to.remote.b[15] = 7; /* another address of the host */
	assert_int_equal(dtls_port_ask(net.a.port, &to, net.now, &tx), DTLS_SEALED);
	to.remote.b[12] = 224;
	assert_int_equal(dtls_port_ask(net.a.port, &to, net.now, &tx), DTLS_NOT);
}

/* The local address shows with the first answer. */
static void test_local_address(void **state)
{
	struct path_addr to = dtls_net_address(2000), any = to;
	struct dtls_cipher *tx;

	memset(&any.local, 0, sizeof(any.local));
	dtls_port_wait(net.a.port, &any, (const uint8_t *)"hello", 5, net.now);
	dtls_net_settle();
	dtls_net_received(&net.b, 1, "hello");
	dtls_net_send(&net.b, &net.a, "welcome");
	dtls_net_settle();
	dtls_net_received(&net.a, 1, "welcome");
	assert_int_equal(dtls_port_ask(net.a.port, &any, net.now, &tx), DTLS_SEALED);
	assert_int_equal(dtls_port_ask(net.a.port, &to, net.now, &tx), DTLS_SEALED);
	to.local.b[15] = 9;
	assert_int_equal(dtls_port_ask(net.a.port, &to, net.now, &tx), DTLS_WAIT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, dtls_net_setup, dtls_net_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_rekey),   TEST(test_replay),	    TEST(test_flood),
		TEST(test_hostile), TEST(test_unreachable), TEST(test_silence),
		TEST(test_clear),   TEST(test_self),	    TEST(test_local_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
