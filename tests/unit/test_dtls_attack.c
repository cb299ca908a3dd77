/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: net */
/*
 * Attacks on sessions of DTLS (net/dtls.h) without a key: forged packets, floods, and ICMP errors.
 */
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

/* Handshakes without the right key leave an existing session alone. */
static void test_stays(void **state)
{
	dtls_pair_exchange();
	b->mute = true;
	dtls_pair_stop(b);
	dtls_pair_start(b, 2000, DTLS_OTHER);
	for (unsigned int i = 0; i < 5; i++) {
		dtls_pair_send_text(b, a, "let me in");
		dtls_pair_pass(3 * NSEC_PER_SEC);
	}
	assert_int_equal(a->received, 1);
	assert_int_equal(a->stats.handshakes, 1);
	assert_true(a->stats.refused > 0);
	assert_int_equal(a->port->n, 1);
}

/* Records in flight while the key changes are accepted, each once. */
static void test_replay(void **state)
{
	struct path_addr from = dtls_pair_address(1000);
	struct dtls_datagram copy;
	uint8_t data[DTLS_DATAGRAM];

	dtls_pair_exchange();
	dtls_pair_send_text(a, b, "once");
	copy = net.flight[net.first];
	dtls_pair_settle();
	dtls_pair_received(b, 2, "once");
	for (unsigned int i = 0; i < 3; i++) {
		memcpy(data, copy.data, copy.len);
		dtls_port_input(b->port, &from, data, copy.len, net.now);
	}
	dtls_pair_received(b, 2, "once");
	assert_int_equal(b->stats.replays, 3);
	for (size_t i = DTLS_HEADER; i < copy.len; i++) {
		memcpy(data, copy.data, copy.len);
		data[10]++; /* the next record number */
		data[i] ^= 1;
		dtls_port_input(b->port, &from, data, copy.len, net.now);
	}
	dtls_pair_received(b, 2, "once");
	assert_int_equal(b->stats.bad_records, copy.len - DTLS_HEADER);
	/* The forged records did no harm. */
	dtls_pair_settle();
	dtls_pair_send_text(a, b, "twice");
	dtls_pair_settle();
	dtls_pair_received(b, 3, "twice");
}

/* ClientHellos without a cookie get a short answer, and allocate nothing. */
static void test_flood(void **state)
{
	struct path_addr from = dtls_pair_address(1000);
	struct dtls_datagram hello;
	uint8_t data[DTLS_DATAGRAM];

	dtls_pair_send_text(a, b, "hello");
	hello = net.flight[net.first];
	net.count = 0;
	net.longest = 0;
	for (unsigned int i = 0; i < 5000; i++) {
		memcpy(data, hello.data, hello.len);
		from.remote.b[13] = (uint8_t)(i >> 8);
		from.remote.b[14] = (uint8_t)i;
		dtls_port_input(b->port, &from, data, hello.len, net.now);
		net.count = 0;
	}
	assert_int_equal(b->port->n, 0);
	assert_true(net.longest && net.longest < hello.len);
	assert_true(dtls_next_timeout(b->dtls) == TIME_NEVER);
}

/* Random bytes, and a handshake with changed datagrams. */
static void test_hostile(void **state)
{
	struct path_addr from = dtls_pair_address(1000);
	uint8_t data[DTLS_DATAGRAM];

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
		dtls_port_input(b->port, &from, data, len, net.now);
		net.count = 0;
	}
	for (unsigned int i = 0; i < 300; i++) {
		dtls_pair_teardown(state);
		dtls_pair_setup(state);
		srand(i);
		dtls_pair_send_text(a, b, "hello");
		for (unsigned int n = 0; n < 40 && net.count; n++) {
			struct dtls_datagram *d = &net.flight[net.first];

			if (rand() % 8 == 0)
				d->data[(unsigned int)rand() % d->len] ^=
					(uint8_t)(1 << rand() % 8);
			memcpy(data, d->data, d->len);
			from = dtls_pair_address(d->from);
			net.first = (net.first + 1) % DTLS_FLIGHT;
			net.count--;
			dtls_port_input(d->to->port, &from, data, d->len, net.now);
		}
		dtls_pair_pass(20 * NSEC_PER_SEC);
		dtls_pair_send_text(a, b, "well");
		dtls_pair_pass(20 * NSEC_PER_SEC);
		assert_string_equal(b->last, "well");
	}
}

static void test_unreachable(void **state)
{
	struct path_addr to = dtls_pair_address(2000);
	uint8_t quoted[64];
	size_t len = sizeof(quoted);

	dtls_pair_send_text(a, b, "hello");
	memcpy(quoted, net.flight[net.first].data, len);
	net.count = 0;
	/* An error that does not quote the ClientHello is ignored. */
	quoted[30] ^= 1;
	assert_false(dtls_port_error(a->port, &to, quoted, &len, sizeof(quoted), -ECONNREFUSED,
				     net.now));
	dtls_timers(a->dtls, net.now);
	assert_int_equal(a->failed, 0);
	quoted[30] ^= 1;
	assert_false(dtls_port_error(a->port, &to, quoted, &len, sizeof(quoted), -ECONNREFUSED,
				     net.now));
	dtls_timers(a->dtls, net.now);
	assert_int_equal(a->failed, 1);
	assert_int_equal(a->error, -ECONNREFUSED);
	assert_string_equal(a->last, "hello");
	assert_int_equal(a->port->n, 0);
}

/*
 * The peer was unreachable, but then answers. The ICMP error is no reason to fail when later
 * answers are lost.
 */
static void test_reachable_again(void **state)
{
	struct path_addr to = dtls_pair_address(2000);
	uint8_t quoted[64];
	size_t len = sizeof(quoted);

	dtls_pair_send_text(a, b, "hello");
	memcpy(quoted, net.flight[net.first].data, len);
	assert_false(dtls_port_error(a->port, &to, quoted, &len, sizeof(quoted), -ECONNREFUSED,
				     net.now));
	dtls_pair_step();
	dtls_pair_step();
	net.count = 0;
	dtls_pair_pass(5 * NSEC_PER_SEC);
	assert_int_equal(a->failed, 0);
	dtls_pair_received(b, 1, "hello");
}

/*
 * Passes to host a an ICMP error that quotes this record. True if the error is accepted; quoted and
 * *len are then the user's data.
 */
static bool believes(const void *record, size_t n, uint8_t *quoted, size_t *len)
{
	struct path_addr to = dtls_pair_address(2000);

	memcpy(quoted, record, n);
	*len = n;
	return dtls_port_error(a->port, &to, quoted, len, 64, -ECONNREFUSED, net.now);
}

/*
 * During a session, an ICMP error is about the user's data. The error must quote ciphertext, which
 * only those know who saw the record.
 */
static void test_quoted(void **state)
{
	static const uint8_t forged[64] = { DTLS_DATA, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0x10, 0,
					    0,	       0,    51,   0, 1, 0, 0, 0, 0x10 };
	struct dtls_datagram first, second;
	uint8_t quoted[64];
	size_t len;

	dtls_pair_exchange();
	dtls_pair_send_text(a, b, "a packet");
	first = net.flight[net.first];
	net.count = 0;
	dtls_pair_send_text(a, b, "another packet");
	second = net.flight[net.first];
	assert_true(believes(first.data, 29, quoted, &len));
	assert_int_equal(len, 8);
	assert_memory_equal(quoted, "a packet", 8);
	assert_true(believes(second.data, 29, quoted, &len));
	assert_int_equal(len, 14);
	assert_memory_equal(quoted, "another packet", 14);
	/* Fewer bytes of ciphertext prove nothing, since the first numbers are always the same. */
	assert_false(believes(first.data, 28, quoted, &len));
	assert_false(believes(forged, sizeof(forged), quoted, &len));
	first.data[28] ^= 1;
	assert_false(believes(first.data, 29, quoted, &len));
	second.data[8] ^= 0x80; /* another record number */
	assert_false(believes(second.data, 29, quoted, &len));
	/* The record is too old to be remembered. */
	second.data[8] ^= 0x80;
	for (unsigned int i = 0; i < 200; i++) {
		dtls_pair_send_text(a, b, "more");
		dtls_pair_settle();
	}
	assert_false(believes(second.data, 29, quoted, &len));
}

/*
 * Both hosts get a forged record after each datagram of a handshake, in turn. The session comes up
 * all the same.
 */
static void forge(const uint8_t *record, size_t len)
{
	for (unsigned int step = 0; step < 7; step++) {
		dtls_pair_teardown(NULL);
		dtls_pair_setup(NULL);
		dtls_pair_send_text(a, b, "hello");
		for (unsigned int i = 0; i < step && net.count; i++)
			dtls_pair_step();
		dtls_pair_inject(a, 2000, record, len);
		dtls_pair_inject(b, 1000, record, len);
		dtls_pair_pass(12 * NSEC_PER_SEC);
		assert_int_equal(a->failed, 0);
		assert_string_equal(b->last, "hello");
	}
}

static void test_forged_alert(void **state)
{
	/* handshake_failure, unknown_psk_identity, close_notify */
	static const uint8_t alerts[] = { 40, 115, 0 };

	for (unsigned int i = 0; i < sizeof(alerts); i++) {
		uint8_t alert[] = { DTLS_ALERT, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 1, 0, 0, 2, 2, 0 };

		alert[14] = alerts[i];
		forge(alert, sizeof(alert));
	}
}

static void test_forged_message(void **state)
{
	/* ServerHello, ClientKeyExchange */
	static const uint8_t types[] = { 2, 16 };

	for (unsigned int i = 0; i < 6; i++) {
		uint8_t message[60];

		memset(message, 0xff, sizeof(message));
		memcpy(message,
		       (uint8_t[]){ DTLS_HANDSHAKE, 0xfe, 0xfd, 0, 0, 0, 0, 0, 0, 1, 0, 0, 47 },
		       DTLS_HEADER);
		memcpy(message + DTLS_HEADER, (uint8_t[]){ 0, 0, 0, 35, 0, 0, 0, 0, 0, 0, 0, 35 },
		       12);
		message[DTLS_HEADER] = types[i % 2];
		message[DTLS_HEADER + 5] = (uint8_t)(i / 2); /* message_seq */
		forge(message, sizeof(message));
	}
}

/* Writes a ServerHello of b to record. Returns its length. */
static size_t take_server_hello(uint8_t *record)
{
	const struct dtls_datagram *d;
	struct dtls_header h;

	dtls_pair_send_text(a, b, "hello");
	for (;;) {
		assert_true(net.count);
		d = &net.flight[net.first];
		if (d->to == a && d->data[0] == DTLS_HANDSHAKE && d->data[DTLS_HEADER] == 2)
			break;
		dtls_pair_step();
	}
	assert_true(dtls_header_get(d->data, d->len, &h));
	memcpy(record, d->data, DTLS_HEADER + h.len);
	return DTLS_HEADER + h.len;
}

/*
 * A forged ServerHello that could be from b arrives. The next messages look like another key, which
 * is reported to SCTP. SCTP tries once more before it fails (decision 39), and gets its session.
 */
static void test_forged_server_hello(void **state)
{
	uint8_t record[DTLS_DATAGRAM];
	size_t len = take_server_hello(record);

	dtls_pair_teardown(NULL);
	dtls_pair_setup(NULL);
	dtls_pair_send_text(a, b, "hello");
	dtls_pair_step();
	dtls_pair_step();
	dtls_pair_inject(a, 2000, record, len);
	dtls_pair_pass(2 * NSEC_PER_SEC);
	assert_int_equal(a->failed, 1);
	assert_int_equal(a->error, -EACCES);
	dtls_pair_send_text(a, b, "once more");
	dtls_pair_settle();
	dtls_pair_received(b, 1, "once more");
}

/* The peer has another key, and sends an alert. The alert ends the attempt, but not at once. */
static void test_refused(void **state)
{
	dtls_pair_stop(b);
	dtls_pair_start(b, 2000, DTLS_FRESH);
	dtls_pair_send_text(a, b, "hello");
	dtls_pair_settle();
	assert_int_equal(a->failed, 0);
	dtls_pair_pass(NSEC_PER_SEC);
	assert_int_equal(a->failed, 1);
	assert_int_equal(a->error, -EACCES);
}

static void rekey(struct dtls_host *h)
{
	dtls_setup_connect(dtls_pair_peer(h), net.now);
	dtls_pair_settle();
}

/*
 * Records are repeated after the key has changed: one sealed with the old key, one with the new
 * key. Both are recognized as replays.
 */
static void test_replay_rekey(void **state)
{
	struct dtls_datagram before, after;

	dtls_pair_exchange();
	dtls_pair_send_text(a, b, "before");
	before = net.flight[net.first];
	dtls_pair_settle();
	rekey(a);
	/* These records have numbers that the old key has used. */
	dtls_pair_send_text(a, b, "between");
	dtls_pair_send_text(a, b, "between");
	dtls_pair_settle();
	dtls_pair_send_text(a, b, "after");
	after = net.flight[net.first];
	dtls_pair_settle();
	dtls_pair_received(b, 5, "after");
	assert_non_null(dtls_pair_peer(b)->old.rx);
	dtls_pair_inject(b, 1000, after.data, after.len);
	dtls_pair_inject(b, 1000, before.data, before.len);
	assert_int_equal(b->stats.replays, 2);
	assert_int_equal(b->stats.bad_records, 0);
	assert_int_equal(net.count, 0);
	dtls_pair_received(b, 5, "after");
}

/* An attacker repeats a close_notify of the previous key: the session continues. */
static void test_old_close(void **state)
{
	uint8_t record[2 + DTLS_OVERHEAD];
	struct dtls_cipher *tx;
	size_t len;

	dtls_pair_exchange();
	tx = dtls_pair_peer(b)->now.tx;
	record[dtls_cipher_front(tx)] = 1;
	record[dtls_cipher_front(tx) + 1] = 0; /* close_notify */
	len = dtls_seal(tx, DTLS_ALERT, record, 2);
	rekey(a);
	dtls_pair_send_text(b, a, "new");
	dtls_pair_settle();
	dtls_pair_inject(a, 2000, record, len);
	assert_non_null(dtls_pair_peer(a));
}

/*
 * Several ClientHellos without a cookie in one datagram get one answer. An address gets a limited
 * number of answers.
 */
static void test_many_hellos(void **state)
{
	struct dtls_datagram hello;
	uint8_t data[DTLS_DATAGRAM];
	unsigned int n;
	uint64_t sent;

	dtls_pair_send_text(a, b, "hello");
	hello = net.flight[net.first];
	net.count = 0;
	for (n = 0; (n + 1) * hello.len <= sizeof(data); n++)
		memcpy(data + n * hello.len, hello.data, hello.len);
	assert_true(n > 3);
	sent = net.sent;
	dtls_pair_inject(b, 1000, data, n * hello.len);
	assert_int_equal(net.sent - sent, 1);
	for (unsigned int i = 0; i < 1000; i++) {
		dtls_pair_inject(b, 1000, hello.data, hello.len);
		net.count = 0;
	}
	assert_true(net.sent - sent < 100);
}

static void test_places(void **state)
{
	struct ip_addr one = dtls_pair_address(1).remote, other = one;

	/* Only this process knows the slot of an address. */
	assert_ptr_equal(dtls_remote_of(a->dtls, &one), dtls_remote_of(a->dtls, &one));
	other.b[15]++;
	assert_true(dtls_remote_of(a->dtls, &one) != dtls_remote_of(a->dtls, &other) ||
		    dtls_remote_of(b->dtls, &one) != dtls_remote_of(b->dtls, &other));
}

/* A sender of records that nobody can open does not prevent hints to other addresses. */
static void test_hints(void **state)
{
	static const uint8_t data[40] = { DTLS_DATA, 0xfe, 0xfd, 0, 1, 0, 0, 0, 0, 0, 0, 0, 27 };
	struct path_addr from = dtls_pair_address(3000);
	uint8_t copy[sizeof(data)];
	uint64_t sent = net.sent;

	for (unsigned int i = 0; i < 100; i++)
		dtls_pair_inject(b, 3000, data, sizeof(data));
	assert_true(net.sent - sent < 20);
	sent = net.sent;
	from.remote.b[14] = 77;
	memcpy(copy, data, sizeof(data));
	dtls_port_input(b->port, &from, copy, sizeof(copy), net.now);
	assert_int_equal(net.sent - sent, 1);
}

static void test_clear(void **state)
{
	struct path_addr from = dtls_pair_address(1000);
	uint8_t packet[] = "\x03\xe8\x07\xd0 a packet of SCTP";
	struct dtls_cipher *tx;

	/* The packet is consumed, but gets no answer. */
	assert_true(dtls_port_input(b->port, &from, packet, sizeof(packet), net.now));
	assert_int_equal(b->stats.refused, 1);
	assert_int_equal(b->received + net.count, 0);
	dtls_pair_stop(b);
	dtls_pair_start_with(b, 2000, DTLS_LAB, true, DTLS_REKEY);
	assert_false(dtls_port_input(b->port, &from, packet, sizeof(packet), net.now));
	assert_int_equal(dtls_pair_ask(b, &from, &tx), DTLS_CLEAR);
	/* Other addresses get an offer of a session first. */
	from.udp_port = 1001;
	assert_int_equal(dtls_pair_ask(b, &from, &tx), DTLS_WAIT);
	dtls_port_wait(b->port, &from, packet, sizeof(packet), net.now);
	dtls_pair_pass(3 * NSEC_PER_SEC);
	assert_int_equal(dtls_pair_ask(b, &from, &tx), DTLS_CLEAR);
	/* Packets in the clear do not end the session of their address. */
	dtls_pair_send_text(a, b, "sealed");
	dtls_pair_settle();
	from.udp_port = 1000;
	assert_true(dtls_port_input(b->port, &from, packet, sizeof(packet), net.now));
	assert_int_equal(dtls_pair_ask(b, &from, &tx), DTLS_SEALED);
	/* If the session was idle for long, they do: the peer started again, without the key. */
	dtls_pair_pass(20 * NSEC_PER_SEC);
	assert_false(dtls_port_input(b->port, &from, packet, sizeof(packet), net.now));
	assert_int_equal(dtls_pair_ask(b, &from, &tx), DTLS_CLEAR);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, dtls_pair_setup, dtls_pair_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_stays),
		TEST(test_replay),
		TEST(test_flood),
		TEST(test_hostile),
		TEST(test_unreachable),
		TEST(test_clear),
		TEST(test_reachable_again),
		TEST(test_quoted),
		TEST(test_forged_alert),
		TEST(test_forged_message),
		TEST(test_refused),
		TEST(test_replay_rekey),
		TEST(test_old_close),
		TEST(test_many_hellos),
		TEST(test_places),
		TEST(test_hints),
		TEST(test_forged_server_hello),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
