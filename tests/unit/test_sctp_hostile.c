/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/* VALGRIND: yes */
/*
 * Hostile input: random bytes, truncated and changed packets with the right checksum, replays, and
 * a peer that knows the tag. Sanitizers find memory errors; the flows check that no wrong byte is
 * delivered.
 */
#include "conformance/rows.h"
#include "fixture/sctp_sim.h"

#define SAMPLES 64u
#define SAMPLE_LEN 2048u

static struct {
	uint8_t data[SAMPLES][SAMPLE_LEN];
	size_t len[SAMPLES];
	unsigned int count;
} samples;

static void sample(struct host *h, const uint8_t *packet, size_t len)
{
	unsigned int i = samples.count < SAMPLES ? samples.count++ :
						   sim_random_below(&h->w->random, SAMPLES);

	if (len > SAMPLE_LEN)
		len = SAMPLE_LEN;
	memcpy(samples.data[i], packet, len);
	samples.len[i] = len;
}

/* Delivers a packet with the right checksum, so that more than the checksum is tested. */
static void throw(struct host * victim, const struct path_addr *from, uint8_t *p, size_t len)
{
	if (len >= WIRE_SCTP_COMMON_LEN) {
		put_be32(p + 8, 0);
		wire_sctp_checksum_put(p, len);
	}
	deliver(victim, from, p, len, victim->w->now);
}

static void throw_random(struct sim_random *r, struct host *victim, const struct path_addr *from)
{
	size_t len = sim_random_below(r, 200), i;
	uint8_t p[200];

	for (i = 0; i < len; i++)
		p[i] = (uint8_t)sim_random_u64(r);
	if (len > WIRE_SCTP_COMMON_LEN) {
		put_be16(p, from->udp_port);
		put_be16(p + 2, victim->port);
		p[12] &= 15; /* an existing chunk type */
		if (sim_random_below(r, 2))
			put_be32(p + 4, 0);
	}
	throw(victim, from, p, len);
}

/* Delivers an earlier packet, truncated or changed. keep_tag: only after the common header. */
static void throw_changed(struct sim_random *r, struct host *victim, const struct path_addr *from,
			  bool keep_tag)
{
	unsigned int i = sim_random_below(r, samples.count);
	uint32_t first = keep_tag ? 12 : 4;
	size_t len = samples.len[i];
	uint8_t p[SAMPLE_LEN];

	memcpy(p, samples.data[i], len);
	if (sim_random_below(r, 2))
		len = sim_random_below(r, (uint32_t)len + 1);
	for (i = sim_random_below(r, 5); i && len > first; i--)
		p[first + sim_random_below(r, (uint32_t)len - first)] = (uint8_t)sim_random_u64(r);
	if (!keep_tag) /* a stranger does not know the tag */
		put_be32(p + 4, (uint32_t)sim_random_u64(r));
	throw(victim, from, p, len);
}

/* Chunks of every type with the right tag, random contents, and sometimes a wrong length. */
static void throw_chunks(struct sim_random *r, struct host *victim, const struct path_addr *from,
			 const struct sctp_assoc *a)
{
	const struct wire_sctp_common h = { a->remote_port, victim->port, a->local_tag };
	uint8_t p[512];
	size_t len = 12, k;

	wire_sctp_common_put(p, &h);
	do {
		size_t chunk = 4 + sim_random_below(r, 60);
		uint8_t type = (uint8_t)sim_random_below(r, 16);

		/* DATA would be delivered; an ABORT would end the association too early */
		if (type == WIRE_SCTP_DATA || type == WIRE_SCTP_ABORT)
			type |= (uint8_t)(sim_random_below(r, 4) << 6);
		if (type == WIRE_SCTP_DATA)
			type = WIRE_SCTP_SACK;
		for (k = 4; k < round_up4(chunk); k++)
			p[len + k] = (uint8_t)sim_random_u64(r);
		if (type == WIRE_SCTP_SACK && chunk >= 16) {
			put_be32(p + len + 4, a->out.cum + sim_random_below(r, 3));
			put_be16(p + len + 12, (uint16_t)sim_random_below(r, 8));
			put_be16(p + len + 14, (uint16_t)sim_random_below(r, 4));
			for (k = 16; k + 4 <= chunk; k += 4) {
				put_be16(p + len + k, (uint16_t)sim_random_below(r, 12));
				put_be16(p + len + k + 2, (uint16_t)sim_random_below(r, 12));
			}
		}
		wire_sctp_chunk_put(p + len, type, (uint8_t)sim_random_u64(r),
				    sim_random_below(r, 10) ? chunk : sim_random_below(r, 999));
		len += round_up4(chunk);
	} while (len < 400 && sim_random_below(r, 3));
	throw(victim, from, p, len);
}

/* A peer that knows the tag can only break the association. */
static void test_insider(void **state)
{
	uint64_t seed;

	for (seed = 1; seed <= 100; seed++) {
		struct host *a, *b;
		struct world *w = world_new(seed, &a, &b);
		struct path_addr from = { b->addr, a->addr, a->port };
		struct sim_random r;
		unsigned int i;

		samples.count = 0;
		b->tap = sample;
		sim_random_init(&r, seed);
		b->reply = 2000;
		w->link[0].delay = w->link[1].delay = 5 * MSEC;
		connect_to(a, b, 300);
		run(w, 40 * MSEC, NULL);
		assert_true(samples.count > 0);
		b->tap = NULL;
		for (i = 0; i < 400 && b->flows[0].a; i++) {
			throw_chunks(&r, b, &from, b->flows[0].a);
			if (b->flows[0].a)
				check_accounts(b->flows[0].a);
			flush(w);
			if (i % 8 == 0)
				step(w, w->now + SEC);
		}
		run(w, SEC, NULL);
		world_free(w);
	}
}

/*
 * A stranger on the path replays and changes packets, except those parts that the tag protects: the
 * transfer is not disturbed.
 */
static void test_stranger(void **state)
{
	uint64_t seed;

	ROWS("9260-8.5-01 6951-5.4-02");
	for (seed = 1; seed <= 30; seed++) {
		struct host *a, *b;
		struct world *w = world_new(seed, &a, &b);
		struct path_addr from = { b->addr, a->addr, 4444 }; /* also from another UDP port */
		struct flow *f;
		struct sim_random r;
		unsigned int i;

		samples.count = 0;
		b->tap = sample;
		sim_random_init(&r, seed);
		b->reply = 1000;
		f = connect_to(a, b, 1000);
		assert_true(run(w, SEC, both_up));
		b->tap = NULL;
		for (i = 0; i < 500; i++) {
			throw_random(&r, b, &from);
			throw_changed(&r, b, &from, false);
			if (i % 16 == 0)
				step(w, w->now + SEC);
			flush(w);
		}
		assert_true(run(w, 10 * SEC, all_sent));
		assert_int_equal(b->flows[0].received, 1000);
		assert_int_equal(f->received, 1000);
		assert_int_equal(sctp_assoc_addr(b->flows[0].a)->udp_port, a->port);
		assert_int_equal(b->flow_count, 1);
		world_free(w);
	}
}

/*
 * Handshake packets with changes of all kinds: no crash, and no association from a changed cookie.
 */
static void test_handshake_changed(void **state)
{
	uint64_t seed;

	for (seed = 1; seed <= 30; seed++) {
		struct host *a, *b;
		struct world *w = world_new(seed, &a, &b);
		struct path_addr from = { b->addr, a->addr, a->port };
		struct path_addr back = { a->addr, b->addr, b->port };
		struct sim_random r;
		unsigned int i;

		samples.count = 0;
		a->tap = b->tap = sample;
		sim_random_init(&r, seed);
		connect_to(a, b, 3);
		for (i = 0; i < 300; i++) {
			if (i % 50 == 0)
				step(w, w->now + SEC);
			if (samples.count) {
				struct sctp_rx *rx = &b->rx;
				unsigned int before = b->flow_count;

				throw_random(&r, b, &from);
				sctp_input(b->ep, &from, samples.data[0], samples.len[0] / 2,
					   w->now, rx);
				throw_random(&r, a, &back);
				assert_int_equal(b->flow_count, before);
			}
			flush(w);
		}
		world_free(w);
	}
}

/* A burst of INITs leaves no state. */
static void test_init_flood(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(78, &a, &b);
	struct path_addr from = { b->addr, a->addr, a->port };
	struct wire_sctp_init init = { .a_rwnd = 100000, .os = 10, .mis = 10, .adaptation = 1 };
	struct sctp_batch batch;
	uint8_t p[64];
	uint32_t i;

	ROWS("9260-5.1-02");
	for (i = 1; i < 5000; i++) {
		struct wire_sctp_common h = { (uint16_t)(i + 1), b->port, 0 };
		size_t len;

		init.tag = i;
		wire_sctp_common_put(p, &h);
		len = 12 + wire_sctp_init_put(p + 12, WIRE_SCTP_INIT, &init);
		wire_sctp_checksum_put(p, len);
		sctp_input(b->ep, &from, p, len, w->now, &b->rx);
	}
	assert_int_equal(b->s->table.assoc_count, 0);
	for (i = 0; sctp_output_ootb(b->s, &batch) > 0; i++)
		sctp_batch_done(b->s, &batch);
	assert_int_equal(i, SCTP_OOTB_MAX);
	assert_true(sctp_next_timeout(b->s) == TIME_NEVER);
	world_free(w);
}

/*
 * A packet with tag 0 and an unknown chunk, such as a datagram of docs/wire.md for a device without
 * datagrams. The packet gets no answer, whatever its chunk type demands, even from a known sender.
 */
static void expect_silence(const struct host *a, struct host *b, uint16_t sport, uint16_t dport,
			   uint8_t type)
{
	struct wire_sctp_common h = { .sport = sport, .dport = dport };
	struct path_addr from = { b->addr, a->addr, a->port };
	struct sctp_batch batch;
	uint8_t p[12 + 292] = { 0 };

	wire_sctp_common_put(p, &h);
	wire_sctp_chunk_put(p + 12, type, 0, sizeof(p) - 12);
	p[16] = p[17] = 1;
	wire_sctp_checksum_put(p, sizeof(p));
	sctp_input(b->ep, &from, p, sizeof(p), b->w->now, &b->rx);
	assert_null(b->rx.assoc);
	assert_int_equal(sctp_output_ootb(b->s, &batch), 0);
}

static void test_unknown_datagram(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(79, &a, &b);

	connect_to(a, b, 0);
	assert_true(run(w, SEC, both_up));
	for (unsigned int type = 0x80; type <= 0xff; type++) {
		expect_silence(a, b, a->port, b->port, (uint8_t)type);
		expect_silence(a, b, 4711, b->port, (uint8_t)type);
		expect_silence(a, b, 4711, (uint16_t)(b->port + 1), (uint8_t)type);
	}
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_insider),		  cmocka_unit_test(test_stranger),
		cmocka_unit_test(test_handshake_changed), cmocka_unit_test(test_init_flood),
		cmocka_unit_test(test_unknown_datagram),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
