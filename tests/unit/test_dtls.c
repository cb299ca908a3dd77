/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: net */
/* VALGRIND: yes */
/*
 * Sessions of DTLS (net/dtls.h) between ports of this process, over a network that loses what the test wants, on a clock of
 * the test: GnuTLS asks for the time by clock_gettime(), which is replaced here.
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

#include "config/config.h"
#include "config/config_keys.h"
#include "conn/conn.h"
#include "net/dtls_gnutls.h"
#include "net/dtls_peer.h"

#define FLIGHT 512u
#define DATAGRAM 2048u

static uint64_t now;

/* Visible, so that libraries find it. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *ts)
{
	ts->tv_sec = (time_t)(1700000000u + now / NSEC_PER_SEC);
	ts->tv_nsec = (long)(now % NSEC_PER_SEC);
	return 0;
}

/* ---- the network ---- */

struct host {
	struct conn_dtls_traffic stats;
	struct dtls *dtls;
	struct dtls_port *port;
	uint16_t number;
	bool mute; /* what it sends is lost */
	unsigned int received, failed;
	int error;
	char last[64];
};

static struct host a, b;

struct datagram {
	struct host *to;
	uint16_t from;
	size_t len;
	uint8_t data[DATAGRAM];
};

static struct datagram flight[FLIGHT];
static unsigned int first, count; /* of those under way */
static uint64_t sent;		  /* datagrams, since the test began */
static uint64_t lost;		  /* a bit for each of the first 64: it gets lost */
static unsigned int loss;	  /* percent of the rest that gets lost */
static unsigned int seed;
static size_t longest; /* bytes of the longest datagram */

static struct path_addr address(uint16_t port)
{
	const uint8_t v4[] = { 10, 0, 0, 1 };

	return (struct path_addr){ .local = ip_addr_from_v4(v4),
				   .remote = ip_addr_from_v4(v4),
				   .udp_port = port };
}

static bool gets_lost(void)
{
	uint64_t n = sent++;

	if (n < 64 && lost >> n & 1)
		return true;
	seed = seed * 1103515245u + 12345u;
	return seed / 65536 % 100 < loss;
}

static void transmit(void *ctx, const struct path_addr *to, const uint8_t *data, size_t len)
{
	const struct host *from = ctx;
	struct datagram *d = &flight[(first + count) % FLIGHT];

	assert_true(len <= DATAGRAM && count < FLIGHT);
	longest = len > longest ? len : longest;
	if (from->mute || gets_lost())
		return;
	*d = (struct datagram){ .to = to->udp_port == a.number ? &a : &b,
				.from = from->number,
				.len = len };
	memcpy(d->data, data, len);
	if (to->udp_port == a.number || to->udp_port == b.number)
		count++;
}

static void deliver(void *ctx, const struct path_addr *from, uint8_t *packet, size_t len)
{
	struct host *h = ctx;

	h->received++;
	snprintf(h->last, sizeof(h->last), "%.*s", (int)len, packet);
}

static void failed(void *ctx, const struct path_addr *to, int error, const uint8_t *packet,
		   size_t len)
{
	struct host *h = ctx;

	h->failed++;
	h->error = error;
	snprintf(h->last, sizeof(h->last), "%.*s", (int)len, packet);
}

static bool is_self(void *ctx, const struct path_addr *to)
{
	const struct host *h = ctx;

	return to->udp_port == h->number;
}

static const struct dtls_ops ops = {
	.transmit = transmit,
	.deliver = deliver,
	.failed = failed,
	.is_self = is_self,
};

/* ---- the hosts ---- */

static void start_with(struct host *h, uint16_t number, const char *text, bool optional,
		       uint64_t rekey)
{
	struct config_keys keys;
	struct config_error why;
	struct dtls_param param = {
		.ops = &ops,
		.keys = &keys,
		.optional = optional,
		.rekey = rekey,
		.stats = &h->stats,
	};

	assert_true(dtls_gnutls_load(&why));
	assert_true(config_keys_parse("keys", text, strlen(text), &keys, &why));
	*h = (struct host){ .number = number };
	h->dtls = dtls_new(&param);
	assert_non_null(h->dtls);
	h->port = dtls_port_new(h->dtls, number, h);
	assert_non_null(h->port);
}

#define LAB "lab 00112233445566778899aabbccddeeff\n"
#define OTHER "lab ff112233445566778899aabbccddeeff\n"
#define FRESH "fresh 55112233445566778899aabbccddeeff\n"

static void start(struct host *h, uint16_t number, const char *keys)
{
	start_with(h, number, keys, false, DTLS_REKEY);
}

static void stop(struct host *h)
{
	if (!h->dtls)
		return;
	dtls_port_free(h->port);
	dtls_free(h->dtls);
	h->dtls = NULL;
}

static int setup(void **state)
{
	now = 5 * NSEC_PER_SEC;
	first = count = loss = 0;
	seed = 1;
	sent = lost = 0;
	longest = 0;
	start(&a, 1000, LAB);
	start(&b, 2000, LAB);
	return 0;
}

static int teardown(void **state)
{
	stop(&a);
	stop(&b);
	return 0;
}

static void send_len(struct host *from, uint16_t to, const void *data, size_t len)
{
	uint8_t record[DATAGRAM];
	struct path_addr addr = address(to);
	struct dtls_cipher *tx;

	switch (dtls_port_ask(from->port, &addr, now, &tx)) {
	case DTLS_SEALED:
		memcpy(record + dtls_cipher_front(tx), data, len);
		dtls_port_note(from->port, &addr, data, len);
		len = dtls_seal(tx, DTLS_DATA, record, len);
		assert_int_not_equal(len, 0);
		transmit(from, &addr, record, len);
		break;
	case DTLS_WAIT:
		dtls_port_wait(from->port, &addr, data, len, now);
		break;
	default:
		fail();
	}
}

static void send_text(struct host *from, struct host *to, const char *text)
{
	send_len(from, to->number, text, strlen(text));
}

/* Takes what is under way. */
static void settle(void)
{
	while (count) {
		struct datagram *d = &flight[first];
		struct path_addr from = address(d->from);
		struct host *to = d->to;
		uint8_t data[DATAGRAM];
		size_t len = d->len;

		memcpy(data, d->data, len);
		first = (first + 1) % FLIGHT;
		count--;
		if (to->dtls)
			dtls_port_input(to->port, &from, data, len, now);
	}
}

/* Goes on until so much time has passed. */
static void pass(uint64_t time)
{
	uint64_t end = now + time;

	for (;;) {
		uint64_t next = end, t;

		settle();
		t = a.dtls ? dtls_next_timeout(a.dtls) : TIME_NEVER;
		next = t < next ? t : next;
		t = b.dtls ? dtls_next_timeout(b.dtls) : TIME_NEVER;
		next = t < next ? t : next;
		if (next >= end)
			break;
		now = next > now ? next : now;
		if (a.dtls)
			dtls_timers(a.dtls, now);
		if (b.dtls)
			dtls_timers(b.dtls, now);
	}
	now = end;
}

static void assert_received(const struct host *h, unsigned int n, const char *last)
{
	assert_int_equal(h->received, n);
	assert_string_equal(h->last, last);
}

/* ---- tests ---- */

static void test_session(void **state)
{
	send_text(&a, &b, "hello");
	send_text(&a, &b, "again");
	settle();
	assert_received(&b, 2, "again");
	send_text(&b, &a, "welcome");
	settle();
	assert_received(&a, 1, "welcome");
	assert_int_equal(a.stats.handshakes, 1);
	assert_int_equal(b.stats.handshakes, 1);
	assert_int_equal(a.stats.refused + b.stats.refused + b.stats.bad_records, 0);
	/* The server keeps its last flight for a while, and then nothing is waited for. */
	assert_true(dtls_next_timeout(a.dtls) == TIME_NEVER);
	pass(100 * NSEC_PER_SEC);
	assert_true(dtls_next_timeout(b.dtls) == TIME_NEVER);
	assert_true(longest <= DTLS_HANDSHAKE_MTU);
}

/* Each datagram of a handshake gets lost in turn. */
static void test_one_lost(void **state)
{
	for (unsigned int i = 0; i < 12; i++) {
		teardown(state);
		setup(state);
		lost = UINT64_C(1) << i;
		send_text(&a, &b, "hello");
		pass(2 * NSEC_PER_SEC);
		/* The last one is the packet itself, which DTLS does not send again. */
		send_text(&a, &b, "more");
		pass(NSEC_PER_SEC);
		assert_string_equal(b.last, "more");
		assert_int_equal(b.stats.handshakes, 1);
		assert_int_equal(a.stats.handshakes, 1);
	}
}

static void test_many_lost(void **state)
{
	for (unsigned int s = 0; s < 40; s++) {
		teardown(state);
		setup(state);
		loss = 25;
		seed = s * 7919 + 1;
		for (unsigned int i = 0; i < 60 && !b.received; i++) {
			send_text(&a, &b, "hello");
			pass(NSEC_PER_SEC);
		}
		assert_string_equal(b.last, "hello");
	}
}

/* Both begin at once: there is one session, and nothing gets lost. */
static void test_crossing(void **state)
{
	for (unsigned int i = 0; i < 8; i++) {
		teardown(state);
		setup(state);
		send_text(&a, &b, "from a");
		send_text(&b, &a, "from b");
		pass(NSEC_PER_SEC);
		assert_received(&a, 1, "from b");
		assert_received(&b, 1, "from a");
		assert_int_equal(a.stats.handshakes, 1);
		assert_int_equal(b.stats.handshakes, 1);
		assert_int_equal(sent < 40, true);
	}
}

static void test_crossing_lost(void **state)
{
	for (unsigned int s = 0; s < 40; s++) {
		teardown(state);
		setup(state);
		loss = 20;
		seed = s * 104729 + 3;
		for (unsigned int i = 0; i < 60 && (!b.received || !a.received); i++) {
			send_text(&a, &b, "from a");
			send_text(&b, &a, "from b");
			pass(NSEC_PER_SEC);
		}
		assert_string_equal(a.last, "from b");
		assert_string_equal(b.last, "from a");
	}
}

static void test_other_key(void **state)
{
	stop(&b);
	start(&b, 2000, OTHER);
	send_text(&a, &b, "hello");
	pass(5 * NSEC_PER_SEC);
	assert_int_equal(b.received, 0);
	assert_int_equal(a.failed, 1);
	assert_int_equal(a.error, -EACCES);
	assert_string_equal(a.last, "hello");
	assert_int_equal(a.stats.refused, 1);
	assert_int_equal(b.stats.refused, 1);
	assert_int_equal(a.stats.handshakes + b.stats.handshakes, 0);
	assert_int_equal(a.port->n + b.port->n, 0);
}

static void test_unknown_name(void **state)
{
	stop(&b);
	start(&b, 2000, FRESH);
	send_text(&a, &b, "hello");
	settle();
	assert_int_equal(a.failed, 1);
	assert_int_equal(a.stats.refused, 1);
	assert_int_equal(b.stats.refused, 1);
	assert_int_equal(a.port->n + b.port->n, 0);
}

/* Keys are changed one host at a time: b has the new one already, and still accepts the old one. */
static void test_two_keys(void **state)
{
	stop(&b);
	start(&b, 2000, FRESH LAB);
	send_text(&a, &b, "hello");
	settle();
	assert_received(&b, 1, "hello");
	send_text(&b, &a, "welcome");
	settle();
	assert_received(&a, 1, "welcome");
}

static void exchange(void)
{
	send_text(&a, &b, "hello");
	settle();
	send_text(&b, &a, "welcome");
	settle();
	assert_received(&a, 1, "welcome");
}

/* b is killed and begins anew: it says that it does not know the session, and a sets up a new one. */
static void test_restart(void **state)
{
	exchange();
	b.mute = true;
	stop(&b);
	start(&b, 2000, LAB);
	send_text(&a, &b, "lost");
	settle();
	assert_int_equal(b.received, 0);
	assert_int_equal(b.stats.bad_records, 1);
	assert_int_equal(b.stats.handshakes, 1);
	send_text(&a, &b, "found");
	settle();
	assert_received(&b, 1, "found");
	assert_int_equal(a.stats.handshakes, 2);
	/* The session before it is there a little longer, for what is late. */
	assert_int_equal(a.port->n, 1);
	pass(10 * NSEC_PER_SEC);
	send_text(&b, &a, "back");
	settle();
	assert_received(&a, 2, "back");
}

/* The same, but b begins: its ClientHello comes to a session that is up. */
static void test_restart_asks(void **state)
{
	exchange();
	b.mute = true;
	stop(&b);
	start(&b, 2000, LAB);
	send_text(&b, &a, "anew");
	settle();
	assert_received(&a, 2, "anew");
	send_text(&a, &b, "fine");
	settle();
	assert_received(&b, 1, "fine");
}

/* Whoever does not have the key can begin as often as he likes beside a session: it stays. */
static void test_stays(void **state)
{
	exchange();
	b.mute = true;
	stop(&b);
	start(&b, 2000, OTHER);
	for (unsigned int i = 0; i < 5; i++) {
		send_text(&b, &a, "let me in");
		pass(3 * NSEC_PER_SEC);
	}
	assert_int_equal(a.received, 1);
	assert_int_equal(a.stats.handshakes, 1);
	assert_true(a.stats.refused > 0);
	assert_int_equal(a.port->n, 1);
}

/* A peer that says nothing any more has perhaps forgotten the session. */
static void test_doubt(void **state)
{
	exchange();
	b.mute = true;
	for (unsigned int i = 0; i < 10; i++) {
		send_text(&a, &b, "are you there?");
		pass(NSEC_PER_SEC);
	}
	b.mute = false;
	pass(15 * NSEC_PER_SEC);
	send_text(&a, &b, "there");
	settle();
	assert_string_equal(b.last, "there");
}

static void test_close(void **state)
{
	struct path_addr addr = address(2000);
	struct dtls_cipher *tx;

	exchange();
	dtls_port_free(b.port);
	b.port = dtls_port_new(b.dtls, 2000, &b);
	settle();
	assert_int_equal(dtls_port_ask(a.port, &addr, now, &tx), DTLS_WAIT);
	assert_int_equal(a.port->n, 0);
	send_text(&a, &b, "anew");
	settle();
	assert_string_equal(b.last, "anew");
}

static void test_rekey(void **state)
{
	char text[16];

	stop(&a);
	stop(&b);
	start_with(&a, 1000, LAB, false, 100);
	start_with(&b, 2000, LAB, false, 100);
	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "%u", i);
		send_text(i % 3 ? &a : &b, i % 3 ? &b : &a, text);
		settle();
		now += NSEC_PER_MSEC;
		assert_int_equal(a.received + b.received, i + 1);
	}
	assert_true(a.stats.handshakes >= 5);
	assert_int_equal(a.stats.handshakes, b.stats.handshakes);
	assert_int_equal(a.stats.bad_records + b.stats.bad_records, 0);
	/* While no new key can be agreed on, sending ends before the old one is worn out. */
	b.mute = true;
	for (unsigned int i = 0; i < 300; i++) {
		struct path_addr addr = address(2000);
		struct dtls_cipher *tx;
		uint8_t record[64];
		enum dtls_way way = dtls_port_ask(a.port, &addr, now, &tx);

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
	struct path_addr from = address(1000);
	struct datagram copy;
	uint8_t data[DATAGRAM];

	exchange();
	send_text(&a, &b, "once");
	copy = flight[first];
	settle();
	assert_received(&b, 2, "once");
	for (unsigned int i = 0; i < 3; i++) {
		memcpy(data, copy.data, copy.len);
		dtls_port_input(b.port, &from, data, copy.len, now);
	}
	assert_received(&b, 2, "once");
	assert_int_equal(b.stats.replays, 3);
	for (size_t i = DTLS_HEADER; i < copy.len; i++) {
		memcpy(data, copy.data, copy.len);
		data[10]++; /* the next number */
		data[i] ^= 1;
		dtls_port_input(b.port, &from, data, copy.len, now);
	}
	assert_received(&b, 2, "once");
	assert_int_equal(b.stats.bad_records, copy.len - DTLS_HEADER);
	/* Nothing of it has done any harm. */
	settle();
	send_text(&a, &b, "twice");
	settle();
	assert_received(&b, 3, "twice");
}

/* ClientHellos without a cookie get a short answer, and leave nothing. */
static void test_flood(void **state)
{
	struct path_addr from = address(1000);
	struct datagram hello;
	uint8_t data[DATAGRAM];

	send_text(&a, &b, "hello");
	hello = flight[first];
	count = 0;
	longest = 0;
	for (unsigned int i = 0; i < 5000; i++) {
		memcpy(data, hello.data, hello.len);
		from.remote.b[13] = (uint8_t)(i >> 8);
		from.remote.b[14] = (uint8_t)i;
		dtls_port_input(b.port, &from, data, hello.len, now);
		count = 0;
	}
	assert_int_equal(b.port->n, 0);
	assert_true(longest && longest < hello.len);
	assert_true(dtls_next_timeout(b.dtls) == TIME_NEVER);
}

/* Bytes by chance, and a handshake whose datagrams were changed. */
static void test_hostile(void **state)
{
	struct path_addr from = address(1000);
	uint8_t data[DATAGRAM];

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
		dtls_port_input(b.port, &from, data, len, now);
		count = 0;
	}
	for (unsigned int i = 0; i < 300; i++) {
		teardown(state);
		setup(state);
		srand(i);
		send_text(&a, &b, "hello");
		for (unsigned int n = 0; n < 40 && count; n++) {
			struct datagram *d = &flight[first];

			if (rand() % 8 == 0)
				d->data[(unsigned int)rand() % d->len] ^=
					(uint8_t)(1 << rand() % 8);
			memcpy(data, d->data, d->len);
			from = address(d->from);
			first = (first + 1) % FLIGHT;
			count--;
			dtls_port_input(d->to->port, &from, data, d->len, now);
		}
		pass(20 * NSEC_PER_SEC);
		send_text(&a, &b, "well");
		pass(20 * NSEC_PER_SEC);
		assert_string_equal(b.last, "well");
	}
}

static void test_unreachable(void **state)
{
	struct path_addr to = address(2000);
	uint8_t quoted[64];
	size_t len = sizeof(quoted);

	send_text(&a, &b, "hello");
	memcpy(quoted, flight[first].data, len);
	count = 0;
	/* One that does not know the ClientHello is not believed. */
	quoted[30] ^= 1;
	assert_false(
		dtls_port_error(a.port, &to, quoted, &len, sizeof(quoted), -ECONNREFUSED, now));
	dtls_timers(a.dtls, now);
	assert_int_equal(a.failed, 0);
	quoted[30] ^= 1;
	assert_false(
		dtls_port_error(a.port, &to, quoted, &len, sizeof(quoted), -ECONNREFUSED, now));
	dtls_timers(a.dtls, now);
	assert_int_equal(a.failed, 1);
	assert_int_equal(a.error, -ECONNREFUSED);
	assert_string_equal(a.last, "hello");
	assert_int_equal(a.port->n, 0);
	/* Of a session it is what was sealed last. */
	exchange();
	send_text(&a, &b, "a packet");
	memcpy(quoted, flight[first].data, len);
	len = 24;
	assert_true(dtls_port_error(a.port, &to, quoted, &len, sizeof(quoted), -ECONNREFUSED, now));
	assert_int_equal(len, 8);
	assert_memory_equal(quoted, "a packet", 8);
	len = 24;
	memcpy(quoted, flight[first].data, len);
	quoted[8] ^= 0x80; /* another number */
	assert_false(
		dtls_port_error(a.port, &to, quoted, &len, sizeof(quoted), -ECONNREFUSED, now));
}

static void test_silence(void **state)
{
	b.mute = true;
	for (unsigned int i = 0; i < 100; i++)
		send_text(&a, &b, "a packet that waits");
	pass(DTLS_HANDSHAKE_LIMIT * NSEC_PER_MSEC + NSEC_PER_SEC);
	/* SCTP has its own patience: it is told of nothing. */
	assert_int_equal(a.failed, 0);
	assert_int_equal(a.port->n, 0);
	assert_true(dtls_next_timeout(a.dtls) == TIME_NEVER);
	b.mute = false;
	for (unsigned int i = 0; i < 100; i++)
		send_text(&a, &b, "a packet that waits");
	settle();
	assert_int_equal(b.received, DTLS_WAITING_PACKETS);
}

static void test_clear(void **state)
{
	struct path_addr from = address(1000);
	uint8_t packet[] = "\x03\xe8\x07\xd0 a packet of SCTP";
	struct dtls_cipher *tx;

	/* It is taken off the hands of the caller, and is not answered. */
	assert_true(dtls_port_input(b.port, &from, packet, sizeof(packet), now));
	assert_int_equal(b.stats.refused, 1);
	assert_int_equal(b.received + count, 0);
	stop(&b);
	start_with(&b, 2000, LAB, true, DTLS_REKEY);
	assert_false(dtls_port_input(b.port, &from, packet, sizeof(packet), now));
	assert_int_equal(dtls_port_ask(b.port, &from, now, &tx), DTLS_CLEAR);
	/* Others are asked for a session first. */
	from.udp_port = 1001;
	assert_int_equal(dtls_port_ask(b.port, &from, now, &tx), DTLS_WAIT);
	dtls_port_wait(b.port, &from, packet, sizeof(packet), now);
	pass(3 * NSEC_PER_SEC);
	assert_int_equal(dtls_port_ask(b.port, &from, now, &tx), DTLS_CLEAR);
	/* Who has a session with us does not lose it to somebody who sends in the clear. */
	send_text(&a, &b, "sealed");
	settle();
	from.udp_port = 1000;
	assert_true(dtls_port_input(b.port, &from, packet, sizeof(packet), now));
	assert_int_equal(dtls_port_ask(b.port, &from, now, &tx), DTLS_SEALED);
}

static void test_self(void **state)
{
	struct path_addr to = address(1000);
	struct dtls_cipher *tx;

	send_len(&a, 1000, "to myself", 9);
	settle();
	assert_received(&a, 1, "to myself");
	assert_int_equal(a.stats.handshakes, 0);
	to.remote.b[15] = 7; /* another address of the host */
	assert_int_equal(dtls_port_ask(a.port, &to, now, &tx), DTLS_SEALED);
	to.remote.b[12] = 224;
	assert_int_equal(dtls_port_ask(a.port, &to, now, &tx), DTLS_NOT);
}

/* The local address shows with the first answer. */
static void test_local_address(void **state)
{
	struct path_addr to = address(2000), any = to;
	struct dtls_cipher *tx;

	memset(&any.local, 0, sizeof(any.local));
	dtls_port_wait(a.port, &any, (const uint8_t *)"hello", 5, now);
	settle();
	assert_received(&b, 1, "hello");
	send_text(&b, &a, "welcome");
	settle();
	assert_received(&a, 1, "welcome");
	assert_int_equal(dtls_port_ask(a.port, &any, now, &tx), DTLS_SEALED);
	assert_int_equal(dtls_port_ask(a.port, &to, now, &tx), DTLS_SEALED);
	to.local.b[15] = 9;
	assert_int_equal(dtls_port_ask(a.port, &to, now, &tx), DTLS_WAIT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_session),	  TEST(test_one_lost),	    TEST(test_many_lost),
		TEST(test_crossing),	  TEST(test_crossing_lost), TEST(test_other_key),
		TEST(test_unknown_name),  TEST(test_two_keys),	    TEST(test_restart),
		TEST(test_restart_asks),  TEST(test_stays),	    TEST(test_doubt),
		TEST(test_close),	  TEST(test_rekey),	    TEST(test_replay),
		TEST(test_flood),	  TEST(test_hostile),	    TEST(test_unreachable),
		TEST(test_silence),	  TEST(test_clear),	    TEST(test_self),
		TEST(test_local_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
