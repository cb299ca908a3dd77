/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * Path MTUs that differ from the interface's, and change during a transfer, with ICMP and without.
 */
#include "fixture/sctp_sim.h"

static void set_links(struct world *w, uint32_t mtu, bool black_hole)
{
	unsigned int i;

	for (i = 0; i < 2; i++) {
		w->link[i].mtu = mtu;
		w->link[i].black_hole = black_hole;
	}
}

/* Returns the time of a first transfer of this size, from the connect on. */
static uint64_t first_transfer(bool probe, uint32_t mtu, uint32_t messages, uint32_t len,
			       uint64_t *packets)
{
	struct host *a, *b;
	struct world *w = world_new(3, &a, &b);
	uint64_t start = w->now, took;
	struct flow *f;

	a->mtu = b->mtu = mtu;
	a->config.mtu_probe = b->config.mtu_probe = probe;
	host_restart(a);
	host_restart(b);
	f = connect_to(a, b, 0);
	f->min_len = f->max_len = 64;
	f->to_send = 1;
	b->reply = 1;
	/* The user's own handshake, as in RFC 5043. */
	assert_true(run(w, SEC, all_sent));
	f->min_len = 8;
	f->max_len = len;
	f->to_send += messages;
	sctp_assoc_doorbell(f->a);
	assert_true(run(w, 10 * SEC, all_sent));
	assert_int_equal(b->flows[0].received, messages + 1);
	took = w->now - start;
	*packets = a->packets_out + b->packets_out;
	world_free(w);
	return took;
}

/* Probes cause no delay: two packets in each direction, after the first packets of the user. */
static void test_first_transfer(void **state)
{
	static const uint32_t mtus[] = { 1500, 9000, 65535 };
	uint64_t plain_packets, packets;
	unsigned int i;
	uint32_t n;

	for (i = 0; i < 3; i++) {
		for (n = 1; n <= 1000; n *= 10) {
			uint64_t plain = first_transfer(false, mtus[i], n, 60000, &plain_packets);

			assert_int_equal(first_transfer(true, mtus[i], n, 60000, &packets), plain);
			assert_true(packets <= plain_packets + 4);
		}
	}
}

/* Returns the longest time without new data at b while a had data to send. */
static uint64_t longest_gap(struct world *w, struct host *b)
{
	uint64_t last = w->now, gap = 0;
	uint32_t received = 0;

	flush(w);
	while (!all_sent(w)) {
		struct flow *g = &b->flows[0];

		assert_true(step(w, w->now + 60 * SEC));
		if (!b->flow_count || g->received == received)
			continue;
		received = g->received;
		if (w->now - last > gap)
			gap = w->now - last;
		last = w->now;
	}
	return gap;
}

/* The interface's MTU exceeds the path MTU from the start. */
static void narrow(uint32_t told, uint32_t real, bool black_hole)
{
	struct host *a, *b;
	struct world *w = world_new(told ^ real, &a, &b);
	uint64_t start = w->now;
	struct flow *f;
	uint64_t good;

	set_links(w, real, black_hole);
	a->mtu = b->mtu = told;
	f = connect_to(a, b, 3000);
	f->max_len = told > 20000 ? 20000 : told;
	/* Only the probe waits for the answer to a lost probe. */
	assert_true(longest_gap(w, b) < 60 * MSEC);
	assert_true(w->now - start < 500 * MSEC);
	assert_int_equal(b->flows[0].received, 3000);
	assert_int_equal(f->a->path->recovery.now.timeouts, 0);
	run(w, 10 * SEC, NULL);
	good = f->a->path->mtu.search.good;
	assert_int_equal(f->a->path->mtu.search.probe, 0);
	assert_in_range(good, black_hole ? real - 16 - real / 64 : real, real);
	/* No DATA was ever too long for the path. */
	assert_int_equal(w->link[0].fragmented, 0);
	assert_true(w->link[0].too_long <= 20 * SCTP_PMTU_PROBES);
	world_free(w);
}

static void test_narrow(void **state)
{
	static const uint32_t told[] = { 1500, 9000, 65535 },
			      real[] = { 1280, 1400, 1492, 4000, 8999 };
	unsigned int i, k;

	for (i = 0; i < 3; i++)
		for (k = 0; k < 5; k++)
			if (real[k] < told[i]) {
				narrow(told[i], real[k], true);
				narrow(told[i], real[k], false);
			}
}

/* The path MTU shrinks while large packets fill the network, and grows again later. */
static void shrinks(uint32_t told, uint32_t real, bool black_hole, uint64_t delay)
{
	struct host *a, *b;
	struct world *w = world_new(told ^ real, &a, &b);
	struct flow *f, *g;
	uint64_t gap;

	w->link[0].delay = w->link[1].delay = delay;
	a->mtu = b->mtu = told;
	a->config.mtu_raise_time = b->config.mtu_raise_time = 5 * SEC;
	host_restart(a);
	host_restart(b);
	b->reply = 100000;
	f = connect_to(a, b, 100000);
	f->min_len = 8;
	f->max_len = told > 9000 ? 9000 : told;
	run(w, 40 * delay, NULL);
	g = &b->flows[0];
	g->to_send = g->sent + 2000;
	f->to_send = f->sent + 2000;
	assert_int_equal(f->a->path->mtu.search.good, told);
	set_links(w, real, black_hole);
	gap = longest_gap(w, b);
	/* One or two round trips with ICMP. Without, tail-loss probes and three path MTU probes. */
	if (gap > (black_hole ? 500 * MSEC + 20 * delay : 200 * MSEC + 8 * delay))
		fail_msg("%u to %u, hole %d: nothing for %.1f ms", told, real, black_hole,
			 (double)gap / MSEC);
	assert_int_equal(g->received, f->to_send);
	assert_int_equal(f->received, g->to_send);
	assert_true(f->a->path->mtu.search.good <= real);
	/* Messages split before the change are sent in IP fragments. */
	if (!(w->link[0].fragmented + w->link[1].fragmented))
		fail_msg("%u to %u, hole %d, %llu: nothing in fragments", told, real, black_hole,
			 (unsigned long long)delay);
	set_links(w, 0, false);
	run(w, 12 * SEC, NULL);
	assert_int_equal(f->a->path->mtu.search.good, told);
	world_free(w);
}

static void test_shrinks(void **state)
{
	static const uint64_t delays[] = { 20000, MSEC, 30 * MSEC };
	unsigned int i;

	for (i = 0; i < 3; i++) {
		shrinks(1500, 1400, true, delays[i]);
		shrinks(1500, 1400, false, delays[i]);
		shrinks(9000, 1500, true, delays[i]);
		shrinks(9000, 1500, false, delays[i]);
		shrinks(65535, 1500, true, delays[i]);
		shrinks(1500, 1006, true, delays[i]);
		shrinks(1500, 600, false, delays[i]);
	}
}

/*
 * A link with an MTU below the minimum, from the start or from the middle on: everything arrives,
 * in IP fragments.
 */
static void below_the_floor(uint32_t real, bool black_hole, bool from_the_start)
{
	struct host *a, *b;
	struct world *w = world_new(real, &a, &b);
	struct flow *f;

	if (from_the_start)
		set_links(w, real, black_hole);
	b->reply = 500;
	f = connect_to(a, b, 500);
	f->max_len = 1400;
	assert_true(run(w, 60 * SEC, all_sent));
	set_links(w, real, black_hole);
	f->to_send += 500;
	b->flows[0].to_send += 500;
	sctp_assoc_doorbell(f->a);
	sctp_assoc_doorbell(b->flows[0].a);
	assert_true(run(w, 60 * SEC, all_sent));
	assert_int_equal(b->flows[0].received, 1000);
	assert_int_equal(f->received, 1000);
	assert_int_equal(f->a->path->mtu.search.good, 576);
	assert_true(w->link[0].fragmented && w->link[1].fragmented);
	world_free(w);
}

static void test_below_the_floor(void **state)
{
	static const uint32_t real[] = { 575, 552, 400 };
	unsigned int i;

	for (i = 0; i < 3 * 4; i++)
		below_the_floor(real[i / 4], i & 1, i & 2);
}

/* The path MTU changes at any time, with loss: everything arrives, once. */
static void changing(uint64_t seed)
{
	static const uint32_t sizes[] = { 0, 552, 576, 600, 1006, 1280, 1400, 1500, 4352, 9000 };
	static const uint32_t told[] = { 1280, 1500, 9000, 65535 };
	struct host *a, *b;
	struct world *w = world_new(seed, &a, &b);
	struct sim_random *r = &w->random;
	struct flow *f;
	uint64_t limit = w->now + 240 * SEC;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		if (!sim_random_below(r, 2))
			simnet_faults(w->net, &w->link[i], "packets: drop, probability 0.0%u",
				      sim_random_below(r, 10));
		w->link[i].delay = 20000 + sim_random_below(r, 10000000);
		w->link[i].rate = 2000000;
		w->link[i].queue = 200000;
		w->hosts[i]->mtu = told[sim_random_below(r, 4)];
		w->hosts[i]->config.mtu_raise_time = SEC;
		host_restart(w->hosts[i]);
	}
	b->reply = sim_random_below(r, 600);
	f = connect_to(a, b, 100 + sim_random_below(r, 600));
	f->max_len = 64 + sim_random_below(r, 9000);
	flush(w);
	while (!all_sent(w)) {
		uint64_t next = w->now + sim_random_below(r, 400) * MSEC;

		while (!all_sent(w) && step(w, next))
			;
		if (w->now > limit)
			fail_msg("seed %llu: not done after 240 s", (unsigned long long)seed);
		if (w->now < next && !all_sent(w))
			w->now = next;
		i = sim_random_below(r, 2);
		w->link[i].mtu = sizes[sim_random_below(r, 10)];
		w->link[i].black_hole = sim_random_below(r, 2);
	}
	assert_int_equal(b->flows[0].received, f->to_send);
	assert_int_equal(f->received, b->reply);
	world_free(w);
}

static void test_changing(void **state)
{
	uint64_t seed;

	for (seed = 1; seed <= 200; seed++)
		changing(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_first_transfer), cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_shrinks),	       cmocka_unit_test(test_below_the_floor),
		cmocka_unit_test(test_changing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
