/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A scripted peer, chunk by chunk, against one SCTP instance: packets are built
 * with begin(), add_*() and sendp(), and what the instance answers is taken with
 * take(). Everything is static: one program, one fixture.
 */
#ifndef TESTS_SCTP_PEER_H
#define TESTS_SCTP_PEER_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sctp/internal.h"
#include "sim/simnet.h"

#define SEC 1000000000ull
#define MSEC SCTP_NSEC_PER_MSEC
#define LOCAL_PORT 6000
#define PEER_PORT 7000
#define PACKETS 512

struct packet {
	size_t len;
	bool df;
	struct path_addr to;
	uint8_t data[20480];
};

static struct fixture {
	struct sctp *s;
	struct sctp_endpoint *ep;
	struct sim_random random;
	struct sctp_rx rx;
	uint64_t now;
	struct path_addr path; /* as the instance sees the peer */
	struct sctp_assoc *a;
	uint32_t tag;	   /* ours, which the instance must use */
	uint32_t their_tag;
	uint32_t tsn;	   /* our next */
	uint32_t their_tsn; /* of their first DATA */
	struct packet out[PACKETS];
	unsigned int head, tail;
	unsigned int messages; /* that the user wants to send */
	unsigned int pulls; /* how often it was asked for one */
	uint32_t message_len;
	unsigned int gaps; /* filled in what the instance sent, with what was referenced for them */
	unsigned int events; /* 1 << type */
	int error;
	uint8_t buf[24576]; /* packet being scripted */
	size_t len;
} f;

static inline size_t pull(void *user, uint8_t *buf, size_t room, struct sctp_msg *msg)
{
	f.pulls++;
	if (!f.messages || room < f.message_len)
		return 0;
	memset(buf, (int)f.messages, f.message_len);
	f.messages--;
	msg->sid = 3;
	msg->ppid = 16;
	msg->more = f.messages > 0;
	return f.message_len;
}

/* Copies len bytes of a batch from data on as they leave: the gaps hold what was referenced for them. */
static inline void assemble(const struct sctp_batch *b, uint8_t *packet, const uint8_t *data, size_t len)
{
	memcpy(packet, data, len);
	for (unsigned int i = 0; i < b->n_refs; i++) {
		const struct sctp_ref *ref = &b->ref[i];

		assert_true(ref->at >= b->data && ref->at + ref->len <= b->data + b->len);
		assert_true(!i || ref->at >= ref[-1].at + ref[-1].len);
		if (ref->at < data || ref->at >= data + len)
			continue;
		assert_true(ref->at + ref->len <= data + len);
		memcpy(packet + (ref->at - data), ref->from, ref->len);
		f.gaps++;
	}
}

static inline void collect(void)
{
	struct sctp_event ev;
	struct sctp_batch b;
	struct sctp_assoc *a;
	size_t at;

	while (sctp_next_event(f.s, &ev)) {
		f.events |= 1u << ev.type;
		if (ev.type == SCTP_EVENT_LOST || ev.type == SCTP_EVENT_CLOSED) {
			f.error = ev.error;
			if (ev.assoc == f.a)
				f.a = NULL;
		}
	}
	for (;;) {
		if (sctp_output_ootb(f.s, &b) <= 0) {
			a = sctp_next_ready(f.s);
			if (!a)
				break;
			if (sctp_output(a, f.now, &b) <= 0)
				continue;
			sctp_assoc_ready(a);
		}
		for (at = 0; at < b.len; at += b.segment) {
			struct packet *p = &f.out[f.tail++ % PACKETS];

			assert_true(f.tail - f.head <= PACKETS);
			p->len = b.len - at < b.segment ? b.len - at : b.segment;
			assert_true(p->len <= sizeof(p->data));
			p->df = b.df;
			p->to = b.to;
			assemble(&b, p->data, b.data + at, p->len);
			assert_true(wire_sctp_checksum_ok(p->data, p->len));
			assert_int_equal(get_be16(p->data), LOCAL_PORT);
			assert_int_equal(get_be16(p->data + 2), PEER_PORT);
		}
		sctp_batch_done(f.s, &b);
	}
}

/* The next packet that the instance sent, or NULL. */
static inline struct packet *take(void)
{
	return f.head == f.tail ? NULL : &f.out[f.head++ % PACKETS];
}

/* The i-th chunk of a packet, of this type. */
static inline struct wire_sctp_chunk chunk_of(const struct packet *p, unsigned int i, uint8_t type)
{
	struct wire_sctp_chunk c = { 0 };
	const uint8_t *q;

	assert_non_null(p);
	q = p->data + WIRE_SCTP_COMMON_LEN;
	do
		assert_true(wire_sctp_chunk_next(&q, p->data + p->len, &c));
	while (i--);
	assert_int_equal(c.type, type);
	return c;
}

static inline unsigned int chunks(const struct packet *p)
{
	const uint8_t *q = p->data + WIRE_SCTP_COMMON_LEN;
	struct wire_sctp_chunk c;
	unsigned int n = 0;

	while (wire_sctp_chunk_next(&q, p->data + p->len, &c))
		n++;
	return n;
}

static inline uint32_t vtag_of(const struct packet *p)
{
	return get_be32(p->data + 4);
}

static inline void nothing(void)
{
	collect();
	assert_int_equal(f.head, f.tail);
}

/* Scripting a packet: begin, add chunks, send. */
static inline void begin_tag(uint32_t tag)
{
	const struct wire_sctp_common h = { PEER_PORT, LOCAL_PORT, tag };

	wire_sctp_common_put(f.buf, &h);
	f.len = WIRE_SCTP_COMMON_LEN;
}

static inline void begin(void)
{
	begin_tag(f.their_tag);
}

static inline uint8_t *add(uint8_t type, uint8_t flags, size_t value)
{
	uint8_t *p = f.buf + f.len;

	memset(p, 0, round_up4(4 + value));
	wire_sctp_chunk_put(p, type, flags, 4 + value);
	f.len += round_up4(4 + value);
	return p + 4;
}

static inline void add_data_flags(uint32_t tsn, uint8_t flags, size_t len, uint8_t fill)
{
	uint8_t *p = add(WIRE_SCTP_DATA, flags, 12 + len);

	put_be32(p, tsn);
	put_be16(p + 4, 1);
	put_be16(p + 6, 99); /* SSN of an unordered chunk: to be ignored */
	put_be32(p + 8, 16);
	memset(p + 12, fill, len);
}

static inline void add_data(uint32_t tsn)
{
	add_data_flags(tsn, WIRE_SCTP_DATA_U | WIRE_SCTP_DATA_B | WIRE_SCTP_DATA_E, 10, 7);
}

static inline void add_sack(uint32_t cum, uint32_t rwnd, const struct wire_sctp_gap *gaps, unsigned int n)
{
	f.len += wire_sctp_sack_put(f.buf + f.len, cum, rwnd, gaps, n, NULL, 0);
}

static inline void send_from(const struct path_addr *path)
{
	wire_sctp_checksum_put(f.buf, f.len);
	sctp_input(f.ep, path, f.buf, f.len, f.now, &f.rx);
	if (f.rx.up)
		f.a = f.rx.assoc;
	collect();
}

static inline void sendp(void)
{
	send_from(&f.path);
}

static inline void wait_ns(uint64_t ns)
{
	uint64_t end = f.now + ns;

	while (sctp_next_timeout(f.s) <= end) {
		f.now = sctp_next_timeout(f.s);
		sctp_timers(f.s, f.now);
		collect();
	}
	f.now = end;
}

static inline void drop_all(void)
{
	while (take())
		;
}

static inline void setup_config(const struct sctp_config *config)
{
	static const struct sctp_user_ops ops = { pull };

	memset(&f, 0, sizeof(f));
	sim_random_init(&f.random, 42);
	f.now = 5 * SEC;
	f.s = sctp_new(config, &ops, &f.random.source);
	f.ep = sctp_endpoint_new(f.s, LOCAL_PORT, 425984, NULL);
	sctp_endpoint_set_accept(f.ep, true);
	f.path.local = simnet_v4(1);
	f.path.remote = simnet_v4(2);
	f.path.udp_port = PEER_PORT;
	f.tag = 0x11223344;
	f.tsn = 0xfffffffe; /* wraps soon */
	f.message_len = 100;
}

static inline int setup(void **state)
{
	struct sctp_config config;

	sctp_config_default(&config);
	/* Heartbeats have their own test. */
	config.heartbeat_interval = 3600 * SEC;
	/* So have path MTU probes. */
	config.mtu_probe = false;
	setup_config(&config);
	return 0;
}

static inline int teardown(void **state)
{
	sctp_free(f.s);
	return 0;
}

static inline struct wire_sctp_init our_init(void)
{
	struct wire_sctp_init init = {
		.tag = f.tag, .a_rwnd = 1000000, .os = 20, .mis = 30, .tsn = f.tsn, .adaptation = 1,
	};

	return init;
}

static inline void add_init(uint8_t type, const struct wire_sctp_init *init)
{
	f.len += wire_sctp_init_put(f.buf + f.len, type, init);
}

/* INIT -> INIT ACK; leaves the cookie in *cookie. */
static inline struct packet *init_exchange(const struct wire_sctp_init *init)
{
	struct packet *p;

	begin_tag(0);
	add_init(WIRE_SCTP_INIT, init);
	sendp();
	p = take();
	assert_non_null(p);
	return p;
}

static inline void add_cookie_echo(const struct wire_sctp_init *ack)
{
	memcpy(add(WIRE_SCTP_COOKIE_ECHO, 0, ack->cookie_len), ack->cookie, ack->cookie_len);
}

static inline void read_init_ack(const struct packet *p, struct wire_sctp_init *ack)
{
	struct wire_sctp_chunk c = chunk_of(p, 0, WIRE_SCTP_INIT_ACK);

	assert_true(wire_sctp_init_get(&c, ack));
	assert_int_equal(vtag_of(p), f.tag);
	assert_true(ack->has_adaptation && ack->adaptation == 1);
	assert_non_null(ack->cookie);
}

/* The peer connects, and our side knows of no larger packets than 1280 bytes yet. */
static inline void establish_only(void)
{
	struct wire_sctp_init init = our_init(), ack;
	struct packet *p = init_exchange(&init);

	read_init_ack(p, &ack);
	assert_int_equal(chunks(p), 1);
	assert_true(ack.os <= init.mis);
	assert_false(ack.address_type); /* we sent no INIT */
	f.their_tag = ack.tag;
	f.their_tsn = ack.tsn;
	assert_int_equal(f.s->assoc_count, 0);
	begin();
	add_cookie_echo(&ack);
	sendp();
	assert_true(f.rx.up);
	p = take();
	assert_int_equal(vtag_of(p), f.tag);
	chunk_of(p, 0, WIRE_SCTP_COOKIE_ACK);
	assert_int_equal(sctp_assoc_streams(f.a), 20);
	assert_false(sctp_assoc_is_initiator(f.a));
	nothing();
}

static inline void establish(void)
{
	establish_only();
	sctp_assoc_set_mtu(f.a, 1500);
	nothing();
}

static inline struct wire_sctp_sack sack_in(const struct packet *p, unsigned int i)
{
	struct wire_sctp_chunk c = chunk_of(p, i, WIRE_SCTP_SACK);
	struct wire_sctp_sack s;

	assert_true(wire_sctp_sack_get(&c, &s));
	return s;
}

/* Packets of DATA that the instance sends; SACKs by hand. */
static inline uint32_t take_data(void)
{
	struct packet *p;
	struct wire_sctp_chunk c;
	const uint8_t *q;
	uint32_t last = 0;

	while ((p = take())) {
		q = p->data + WIRE_SCTP_COMMON_LEN;
		while (wire_sctp_chunk_next(&q, p->data + p->len, &c))
			if (c.type == WIRE_SCTP_DATA) {
				assert_int_equal(c.flags & ~WIRE_SCTP_DATA_I, 7);
				last = get_be32(c.raw + 4);
			}
	}
	return last;
}

#define PEER_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
