/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/* VALGRIND: yes */
/* Independent parts of SCTP: received map, rings, blocks, congestion control, RTO, cookie. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "conformance/rows.h"
#include "sctp/block.h"
#include "sctp/cc.h"
#include "sctp/cookie.h"
#include "sctp/outq.h"
#include "sctp/reasm.h"
#include "sctp/rtt.h"
#include "sctp/rxmap.h"
#include "sim/simnet.h"

/* Like sctp_rx_data(). */
static void note_arrival(struct sctp_rxmap *m, uint32_t tsn, enum sctp_rxmap_verdict expected)
{
	if (sctp_rxmap_is_next(m, tsn)) {
		assert_int_equal(expected, SCTP_RXMAP_NEW);
		sctp_rxmap_add_next(m, tsn);
	} else {
		assert_int_equal(sctp_rxmap_add(m, tsn), expected);
	}
}

/* Random arrivals against an array of flags. */
static void test_rxmap(void **state)
{
	uint64_t seed;

	ROWS("9260-1.6-01 9260-6.2-06");
	for (seed = 1; seed <= 30; seed++) {
		const uint32_t start = seed & 1 ? 0xffffff00 : 12345;
		static struct wire_sctp_gap gaps[SCTP_RXMAP_RANGE / 2];
		const uint32_t n = 5000;
		uint8_t *seen = calloc(1, n);
		struct sctp_rxmap m = { 0 };
		uint32_t cum = 0, spread, i, j; /* cum: number received in order */
		struct sim_random r;
		unsigned int count;

		sim_random_init(&r, seed);
		spread = 1 + sim_random_below(&r, 3000);
		sctp_rxmap_init(&m, start);
		for (i = 0; i < 20000 && cum < n; i++) {
			uint32_t d = cum + sim_random_below(&r, spread);
			enum sctp_rxmap_verdict verdict;

			if (sim_random_below(&r, 8) == 0 && d > 50)
				d -= 50;
			if (d >= n)
				d = n - 1;
			verdict = sctp_rxmap_check(&m, start + d);
			assert_int_equal(verdict, seen[d] ? SCTP_RXMAP_DUPLICATE : SCTP_RXMAP_NEW);
			note_arrival(&m, start + d, verdict);
			seen[d] = 1;
			while (cum < n && seen[cum])
				cum++;
			assert_int_equal(m.cum, start + cum - 1);
			if (i % 64)
				continue;
			count = sctp_rxmap_gaps(&m, gaps, SCTP_RXMAP_RANGE / 2);
			for (j = 0, d = cum; j < count; j++) {
				for (; d < cum + gaps[j].start - 1; d++)
					assert_int_equal(seen[d], 0);
				for (; d < cum + gaps[j].end; d++)
					assert_int_equal(seen[d], 1);
			}
			for (; d < n; d++)
				assert_int_equal(seen[d], 0);
			assert_int_equal(sctp_rxmap_has_gap(&m), count > 0);
			if (count > 1) /* only the lowest ones fit */
				assert_int_equal(sctp_rxmap_gaps(&m, gaps, 1), 1);
		}
		assert_int_equal(sctp_rxmap_check(&m, m.cum + SCTP_RXMAP_RANGE), SCTP_RXMAP_BEYOND);
		assert_int_equal(sctp_rxmap_check(&m, m.cum + 0x7fffffff), SCTP_RXMAP_BEYOND);
		assert_int_equal(sctp_rxmap_check(&m, m.cum - 5), SCTP_RXMAP_DUPLICATE);
		sctp_rxmap_fini(&m);
		free(seen);
	}
}

static void test_rxmap_range(void **state)
{
	struct wire_sctp_gap gaps[4];
	struct sctp_rxmap m = { 0 };
	uint32_t i;

	sctp_rxmap_init(&m, 1);
	assert_null(m.bits);
	for (i = 1; i < 1000; i++)
		note_arrival(&m, i, SCTP_RXMAP_NEW);
	assert_null(m.bits); /* no memory while in order */
	assert_int_equal(sctp_rxmap_add(&m, 999 + SCTP_RXMAP_RANGE - 1), SCTP_RXMAP_NEW);
	assert_int_equal(m.size, SCTP_RXMAP_RANGE);
	assert_int_equal(sctp_rxmap_gaps(&m, gaps, 4), 1);
	assert_int_equal(gaps[0].start, SCTP_RXMAP_RANGE - 1);
	assert_int_equal(gaps[0].end, SCTP_RXMAP_RANGE - 1);
	for (i = 1000; i < 999 + SCTP_RXMAP_RANGE - 1; i++)
		note_arrival(&m, i, SCTP_RXMAP_NEW);
	assert_int_equal(m.cum, 999 + SCTP_RXMAP_RANGE - 1);
	assert_false(sctp_rxmap_has_gap(&m));
	for (i = 0; i < m.size / 64; i++)
		assert_int_equal(m.bits[i], 0);
	sctp_rxmap_fini(&m);
}

static int add_fragment(struct sctp_reasm *r, uint32_t tsn, uint8_t flags, uint16_t sid,
			struct sctp_reasm_message **m)
{
	static uint8_t bytes[100];
	struct wire_sctp_data d = {
		.flags = flags,
		.tsn = tsn,
		.sid = sid,
		.ppid = 16,
		.data = bytes,
		.len = 100,
	};

	memset(bytes, (int)tsn, sizeof(bytes));
	return sctp_reasm_add(r, &d, false, m);
}

static void test_reasm(void **state)
{
	const uint8_t u = WIRE_SCTP_DATA_U, b = WIRE_SCTP_DATA_B, e = WIRE_SCTP_DATA_E;
	struct sctp_reasm_message *m = NULL;
	struct sctp_reasm r;
	unsigned int i;

	ROWS("9260-6.9-01");
	sctp_reasm_init(&r);
	assert_int_equal(add_fragment(&r, 0, u | e, 1, &m), 0); /* 0xfffffffe, 0xffffffff, 0 */
	assert_int_equal(add_fragment(&r, 0xfffffffe, u | b, 1, &m), 0);
	assert_int_equal(add_fragment(&r, 1, u | b, 2, &m), 0);
	assert_int_equal(add_fragment(&r, 0xffffffff, u, 1, &m), 1);
	assert_int_equal(m->len, 300);
	assert_int_equal(m->sid, 1);
	assert_int_equal(m->data[0], 0xfe);
	assert_int_equal(m->data[150], 0xff);
	assert_int_equal(m->data[299], 0);
	assert_int_equal(r.bytes, 100);
	free(m);
	/* The middle of a message cannot begin one, nor be on another stream. */
	assert_int_equal(add_fragment(&r, 2, u | b, 2, &m), -EPROTO);
	sctp_reasm_clear(&r);
	assert_int_equal(add_fragment(&r, 1, u | b, 2, &m), 0);
	assert_int_equal(add_fragment(&r, 2, u, 3, &m), -EPROTO);
	sctp_reasm_clear(&r);
	assert_int_equal(add_fragment(&r, 2, u | e, 2, &m), 0);
	assert_int_equal(add_fragment(&r, 1, u | e, 2, &m), -EPROTO);
	sctp_reasm_clear(&r);
	assert_int_equal(r.bytes + r.count, 0);
	for (i = 0; add_fragment(&r, 10 + 2 * i, u | b, 1, &m) == 0; i++)
		assert_true(i < SCTP_REASM_FRAGMENTS);
	assert_int_equal(i, SCTP_REASM_FRAGMENTS);
	sctp_reasm_clear(&r);
}

static void test_blocks(void **state)
{
	struct sctp_block_pool pool = { 0 };
	struct sctp_block *b[SCTP_BLOCKS_KEPT + 10];
	struct sctp_block *last;
	unsigned int i;

	for (i = 0; i < SCTP_BLOCKS_KEPT + 10; i++) {
		b[i] = sctp_block_get(&pool);
		assert_non_null(b[i]);
		b[i]->used = 5;
	}
	b[3]->refs++;
	sctp_block_unref(&pool, b[3]);
	assert_int_equal(pool.count, 0);
	for (i = 0; i < SCTP_BLOCKS_KEPT + 10; i++)
		sctp_block_unref(&pool, b[i]);
	assert_int_equal(pool.count, SCTP_BLOCKS_KEPT);
	last = sctp_block_get(&pool);
	assert_ptr_equal(last, b[SCTP_BLOCKS_KEPT - 1]); /* last in, first out */
	assert_int_equal(last->used, 0);
	sctp_block_unref(&pool, last);
	sctp_block_pool_fini(&pool);
}

static void test_outq(void **state)
{
	struct sctp_block_pool pool = { 0 };
	struct sctp_block *b = sctp_block_get(&pool);
	struct sctp_outq q = { 0 };
	uint32_t i;

	sctp_outq_init(&q, 0xfffffff0);
	assert_int_equal(sctp_outq_count(&q), 0);
	assert_false(sctp_outq_has(&q, 0xfffffff0));
	for (i = 0; i < 1000; i++) {
		assert_true(sctp_outq_reserve(&q));
		*sctp_outq_at(&q, q.next) = (struct sctp_out){ .block = b, .xmit_seq = i };
		b->refs++;
		q.next++;
		if (i % 3 == 0) {
			sctp_block_unref(&pool, b);
			q.cum++;
		}
	}
	assert_int_equal(q.size, 1024);
	for (i = q.cum + 1; i != q.next; i++) {
		assert_true(sctp_outq_has(&q, i));
		assert_int_equal(sctp_outq_at(&q, i)->xmit_seq, i - 0xfffffff0);
	}
	assert_false(sctp_outq_has(&q, q.cum));
	assert_false(sctp_outq_has(&q, q.next));
	sctp_outq_clear(&q, &pool);
	assert_int_equal(b->refs, 1);
	assert_int_equal(sctp_outq_count(&q), 0);
	sctp_block_unref(&pool, b);
	sctp_block_pool_fini(&pool);
}

static void test_cc(void **state)
{
	struct sctp_cc cc;

	ROWS("9260-7.2.1-01 9260-7.2.1-02 9260-7.2.1-04 9260-7.2.2-01 9260-7.2.3-01");
	sctp_cc_init(&cc, 1460, true);
	assert_int_equal(cc.cwnd, 4404);
	sctp_cc_init(&cc, 1440, false);
	assert_int_equal(cc.cwnd, 4344);
	sctp_cc_set_pmdcs(&cc, 500);
	assert_int_equal(cc.cwnd, 2000);
	sctp_cc_set_pmdcs(&cc, 65000);
	assert_int_equal(cc.cwnd, 130000);
	sctp_cc_init(&cc, 1000, true);
	/* Slow start: only while the window is used, and not in recovery. */
	sctp_cc_acked(&cc, 1000, false, false, false);
	sctp_cc_acked(&cc, 1000, true, true, false);
	assert_int_equal(cc.cwnd, 4000);
	sctp_cc_acked(&cc, 1000, true, false, false);
	assert_int_equal(cc.cwnd, 5000);
	sctp_cc_set_pmdcs(&cc, 1200); /* no longer initial */
	assert_int_equal(cc.cwnd, 5000);
	/* A path with a larger PMDCS later gets no disadvantage from its small start. */
	sctp_cc_set_pmdcs(&cc, 9000);
	assert_int_equal(cc.cwnd, 18000);
	sctp_cc_set_pmdcs(&cc, 1000);
	assert_int_equal(cc.cwnd, 18000);
	cc.cwnd = 20000;
	sctp_cc_loss(&cc);
	sctp_cc_set_pmdcs(&cc, 65000); /* unless there was a loss */
	sctp_cc_set_pmdcs(&cc, 1000);
	assert_int_equal(cc.cwnd, 10000);
	assert_int_equal(cc.ssthresh, 10000);
	/* At the threshold, slow start still applies; above it, one PMDCS per window. */
	sctp_cc_acked(&cc, 1000, true, false, false);
	assert_int_equal(cc.cwnd, 11000);
	sctp_cc_acked(&cc, 10000, true, false, false);
	assert_int_equal(cc.cwnd, 11000);
	sctp_cc_acked(&cc, 1000, true, false, false);
	assert_int_equal(cc.cwnd, 12000);
	sctp_cc_acked(&cc, 50000, false, false, false);
	assert_int_equal(cc.cwnd, 12000);
	assert_int_equal(cc.partial, 12000);
	sctp_cc_acked(&cc, 10, false, false, true);
	assert_int_equal(cc.partial, 0);
	sctp_cc_timeout(&cc);
	assert_int_equal(cc.cwnd, 1000);
	assert_int_equal(cc.ssthresh, 6000);
	cc.cwnd = 40000;
	sctp_cc_idle(&cc, 0);
	assert_int_equal(cc.cwnd, 40000);
	sctp_cc_idle(&cc, 2);
	assert_int_equal(cc.cwnd, 10000);
	assert_int_equal(cc.ssthresh, 40000);
	sctp_cc_idle(&cc, 60);
	assert_int_equal(cc.cwnd, 4000);
	sctp_cc_loss(&cc);
	assert_int_equal(cc.cwnd, 4000); /* not below 4 */
}

/* The window limit of a short path is smaller. A larger existing window stays. */
static void test_cc_rtt(void **state)
{
	const uint64_t us = 1000, ms = 1000000;
	const uint32_t most = (512u << 10) + 200000; /* 10 GB/s for 20 us */
	struct sctp_cc cc;

	sctp_cc_init(&cc, 1460, true);
	cc.cwnd = most;
	sctp_cc_acked(&cc, 1000, true, false, false);
	assert_int_equal(cc.cwnd, most + 1000); /* no RTT measured yet */
	sctp_cc_set_rtt(&cc, 20 * us);
	sctp_cc_acked(&cc, 1000, true, false, false);
	assert_int_equal(cc.cwnd, most + 1000);
	cc.cwnd = most - 400;
	sctp_cc_acked(&cc, 1000, true, false, false);
	assert_int_equal(cc.cwnd, most);
	/* The limit also applies in congestion avoidance. */
	cc.ssthresh = 10000;
	cc.cwnd = most - 400;
	sctp_cc_acked(&cc, most, true, false, false);
	assert_int_equal(cc.cwnd, most);
	sctp_cc_set_rtt(&cc, 0);
	cc.cwnd = (512u << 10) - 1;
	sctp_cc_acked(&cc, most, true, false, false);
	assert_int_equal(cc.cwnd, 512u << 10);
	/* Long paths: the product fits 32 bits. Above some RTT there is no limit. */
	cc.ssthresh = UINT32_MAX;
	cc.cwnd = most;
	sctp_cc_set_rtt(&cc, 50 * ms);
	sctp_cc_acked(&cc, 1000, true, false, false);
	assert_int_equal(cc.cwnd, most + 1000);
	cc.cwnd = (512u << 10) + 500000000 - 1;
	sctp_cc_acked(&cc, 1000, true, false, false);
	assert_int_equal(cc.cwnd, (512u << 10) + 500000000);
	sctp_cc_set_rtt(&cc, 500 * ms); /* ten times this RTT exceeds 32 bits */
	sctp_cc_acked(&cc, 1000, true, false, false);
	assert_int_equal(cc.cwnd, (512u << 10) + 500001000);
	cc.cwnd = (1u << 30) - 1;
	sctp_cc_acked(&cc, 1000, true, false, false);
	assert_int_equal(cc.cwnd, 1u << 30);
}

static void test_rtt(void **state)
{
	const uint64_t ms = 1000000;
	struct sctp_rtt r;
	unsigned int i;

	ROWS("9260-6.3.1-01");
	sctp_rtt_init(&r, 1000 * ms, 500 * ms, 60000 * ms);
	assert_int_equal(sctp_rtt_rto(&r), 1000 * ms);
	sctp_rtt_sample(&r, 400 * ms);
	assert_int_equal(r.srtt, 400 * ms);
	assert_int_equal(sctp_rtt_rto(&r), 1200 * ms); /* SRTT + 4 * R / 2 */
	sctp_rtt_sample(&r, 480 * ms);
	assert_int_equal(r.srtt, 410 * ms);
	assert_int_equal(r.rttvar, 170 * ms); /* 3/4 of 200 + 1/4 of 80 */
	sctp_rtt_backoff(&r);
	assert_int_equal(sctp_rtt_rto(&r), 2 * (410 + 680) * ms);
	for (i = 0; i < 100; i++)
		sctp_rtt_backoff(&r);
	assert_int_equal(sctp_rtt_rto(&r), 60000 * ms);
	for (i = 0; i < 100; i++)
		sctp_rtt_sample(&r, ms);
	assert_int_equal(sctp_rtt_rto(&r), 500 * ms);
	assert_int_equal(r.min, ms);
	sctp_rtt_sample(&r, 0);
	assert_true(r.srtt > 0);
}

static void test_cookie(void **state)
{
	static struct sctp_cookie_key key, other;
	struct sctp_cookie c = {
		.created = 123456789012345,
		.local_port = 1,
		.remote_port = 2,
		.local_tag = 3,
		.peer_tag = 4,
		.local_tsn = 5,
		.peer_tsn = 6,
		.peer_rwnd = 7,
		.peer_os = 8,
		.peer_mis = 9,
		.local_tie = 11,
		.peer_tie = 12,
		.addr = { simnet_v4(1), { .b = { 0xfe, 0x80, [15] = 1 }, .scope_id = 14 }, 13 },
	};
	uint8_t raw[SCTP_COOKIE_MAX], old[SCTP_COOKIE_MAX];
	size_t len, shortest;
	struct sctp_cookie d;
	struct sim_random r;
	unsigned int i;

	ROWS("9260-5.1.3-01 9260-5.1.3-02");
	sim_random_init(&r, 1);
	assert_false(sctp_cookie_get(&key, raw, sizeof(raw), &d));
	c.local_tie = c.peer_tie = 0;
	shortest = sctp_cookie_put(&key, &r.source, 0, &c, old);
	c.local_tie = 11;
	c.peer_tie = 12;
	c.receipts = (struct wire_sctp_receipts){ .version = 1, .window = 99 };
	c.auth.hmac = 3;
	memset(c.auth.sha1, 1, sizeof(c.auth.sha1));
	memset(c.auth.sha256, 2, sizeof(c.auth.sha256));
	for (c.alts = 0; c.alts < SCTP_COOKIE_ALTS; c.alts++)
		c.alt[c.alts] = (struct ip_addr){ .b = { 0x20, 1, [15] = (uint8_t)c.alts } };
	len = sctp_cookie_put(&key, &r.source, 0, &c, old);
	assert_true(sctp_cookie_get(&key, old, len, &d));
	assert_int_equal(d.created, c.created);
	assert_int_equal(d.peer_mis, 9);
	assert_int_equal(d.addr.udp_port, 13);
	assert_true(ip_addr_equal(&d.addr.remote, &c.addr.remote));
	assert_true(ip_addr_equal(&d.addr.local, &c.addr.local));
	assert_true(ip_addr_equal(&d.alt[7], &c.alt[7]));
	assert_memory_equal(&d.auth, &c.auth, sizeof(d.auth));
	assert_int_equal(d.receipts.window, 99);
	assert_int_equal(d.peer_tie, 12);
	/* Both are padded to a multiple of four. */
	assert_in_range(len, shortest + 8 + 8 + 54 + 8 * 17 - 3,
			shortest + 8 + 8 + 54 + 8 * 17 + 3);
	assert_int_equal(shortest % 4 + len % 4, 0);
	/* The rest: encoding the decoded cookie gives the same bytes. */
	sctp_cookie_put(&key, &r.source, 0, &d, raw);
	assert_memory_equal(raw, old, len);
	for (i = 0; i < 8 * len; i++) {
		memcpy(raw, old, len);
		raw[i / 8] ^= 1u << (i % 8);
		assert_false(sctp_cookie_get(&key, raw, len, &d));
	}
	assert_false(sctp_cookie_get(&key, old, len - 1, &d));
	sctp_cookie_put(&other, &r.source, 0, &c, raw);
	assert_false(sctp_cookie_get(&key, raw, len, &d));
	/* The key changes every hour. The previous key is still valid, the one before it is not. */
	sctp_cookie_put(&key, &r.source, 3600000000000ull, &c, raw);
	assert_true(memcmp(raw, old, len) != 0);
	assert_true(sctp_cookie_get(&key, raw, len, &d));
	assert_true(sctp_cookie_get(&key, old, len, &d));
	sctp_cookie_put(&key, &r.source, 7300000000000ull, &c, raw);
	assert_false(sctp_cookie_get(&key, old, len, &d));
}

/*
 * RFC 6356 3: the windows of several paths grow together like one window, and none grows faster
 * than alone.
 */
static void test_cc_coupled(void **state)
{
	const uint64_t ms = 1000000, equal[] = { 10 * ms, 10 * ms },
		       unequal[] = { 10 * ms, 40 * ms }, unknown[] = { 10 * ms, 0 };
	struct sctp_cc cc[2], *const paths[] = { &cc[0], &cc[1] };

	for (int i = 0; i < 2; i++) {
		sctp_cc_init(&cc[i], 1000, true);
		cc[i].cwnd = cc[i].ssthresh = 20000;
		cc[i].cwnd++; /* in congestion avoidance */
		assert_int_equal(cc[i].stride, 0);
	}
	cc[1].cwnd = cc[0].cwnd = 20001;
	sctp_cc_couple(paths, equal, 2); /* alpha is 1/2, and cwnd_total / alpha four times cwnd */
	assert_int_equal(cc[0].stride, 4 * 20001);
	assert_int_equal(cc[1].stride, 4 * 20001);
	for (int i = 0; i < 4; i++)
		sctp_cc_acked(&cc[0], 20000, true, false, false);
	assert_int_equal(cc[0].cwnd, 20001);
	sctp_cc_acked(&cc[0], 4, true, false, false);
	assert_int_equal(cc[0].cwnd, 21001);
	cc[0].cwnd = 20000;
	cc[1].cwnd = 20000;
	sctp_cc_couple(paths, unequal,
		       2); /* rates are 4 : 1; the better one is (5 / 4)^2 of its cwnd */
	assert_int_equal(cc[0].stride, 31250);
	sctp_cc_couple(paths, unknown, 2);
	assert_int_equal(cc[0].stride, 20000);
	sctp_cc_couple(paths, equal, 1);
	assert_int_equal(cc[0].stride, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rxmap),  cmocka_unit_test(test_rxmap_range),
		cmocka_unit_test(test_reasm),  cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_outq),   cmocka_unit_test(test_cc),
		cmocka_unit_test(test_cc_rtt), cmocka_unit_test(test_cc_coupled),
		cmocka_unit_test(test_rtt),    cmocka_unit_test(test_cookie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
