/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * DATA over two or three links at once: the throughput, the share of a common bottleneck, and the
 * survival of dead links. Each message arrives once.
 */
#include "fixture/sctp_sim.h"

struct scene {
	struct world *w;
	struct host *a, *b;
	struct simnet_link second[2], third[2];
	struct flow *f, *g;
};

/*
 * Sets up both directions of a link, in bytes per second, with the delay of one direction. The
 * link's queue holds 20 ms, and at least 20 packets.
 */
static void set_link(struct simnet_link link[2], uint64_t rate, uint64_t delay)
{
	for (int i = 0; i < 2; i++) {
		link[i].rate = rate;
		link[i].delay = delay;
		link[i].queue = rate / 50 > 30000 ? rate / 50 : 30000;
		link[i].overhead = SIMNET_HEADERS;
	}
}

static void join(struct scene *s, uint64_t seed, unsigned int links, bool spread)
{
	memset(s, 0, sizeof(*s));
	s->w = world_new(seed, &s->a, &s->b);
	s->a->config.spread = s->b->config.spread = spread;
	/* With each link dead in one direction, no answer may return for a long time. */
	s->a->config.silent_limit = s->b->config.silent_limit = 300 * SEC;
	s->a->rcvbuf = s->b->rcvbuf = 8u << 20;
	if (links == 1) {
		host_become_ours(s->a);
		host_become_ours(s->b);
		return;
	}
	hosts_join_again(s->a, s->b, 77, s->second);
	if (links > 2)
		hosts_join_thirdly(s->a, s->b, 87, s->third);
}

static void open_flow(struct scene *s, uint32_t there, uint32_t back)
{
	s->b->reply = back;
	s->f = connect_to(s->a, s->b, there);
	while (!both_up(s->w)) {
		flush(s->w);
		assert_true(step(s->w, s->w->now + 20 * SEC));
	}
	s->g = &s->b->flows[0];
}

/* Returns the bytes per second that arrive at b during this time. */
static uint64_t goodput(struct scene *s, uint64_t time)
{
	uint64_t before = s->g->bytes;

	run(s->w, time, NULL);
	return (s->g->bytes - before) * 1000 / (time / MSEC);
}

struct way {
	uint64_t rate, delay;
};

/* Returns the goodput of an endless flow over these links. */
static uint64_t measure(uint64_t seed, const struct way *way, unsigned int links)
{
	struct simnet_link *link[3];
	uint64_t result;
	struct scene s;

	join(&s, seed, links, true);
	link[0] = s.w->link;
	link[1] = s.second;
	link[2] = s.third;
	for (unsigned int i = 0; i < links; i++)
		set_link(link[i], way[i].rate, way[i].delay);
	open_flow(&s, 1u << 22, 0);
	s.f->min_len = 1000;
	s.f->max_len = 1200;
	run(s.w, 5 * SEC, NULL); /* all paths confirmed, and out of slow start */
	if (links > 1)
		assert_int_equal(s.f->a->paths.joined, links - 1);
	result = goodput(&s, 10 * SEC);
	check_accounts(s.f->a);
	world_free(s.w);
	return result;
}

/* Two equal links carry 1.8 times the data of one link, and three of them 2.6 times. */
static void test_equal(void **state)
{
	static const struct way way[] = {
		{ 2000000, 1 * MSEC },	{ 2000000, 1 * MSEC },	{ 2000000, 1 * MSEC },
		{ 4000000, 10 * MSEC }, { 4000000, 10 * MSEC }, { 4000000, 10 * MSEC },
	};

	for (unsigned int i = 0; i < 6; i += 3) {
		uint64_t one = measure(1, &way[i], 1), two = measure(1, &way[i], 2),
			 three = measure(1, &way[i], 3);

		assert_true(10 * two >= 18 * one);
		assert_true(10 * three >= 26 * one);
	}
}

/* A second link never slows the better one, however slow or long it is. */
static void test_unequal(void **state)
{
	static const struct way way[][2] = {
		{ { 10000000, 1 * MSEC }, { 1000000, 1 * MSEC } },
		{ { 1000000, 1 * MSEC }, { 10000000, 1 * MSEC } },
		{ { 10000000, 1 * MSEC }, { 1000000, 50 * MSEC } },
		{ { 10000000, 2 * MSEC }, { 1000000, 300 * MSEC } },
		{ { 10000000, 2 * MSEC }, { 10000000, 200 * MSEC } },
		{ { 5000000, 50 * MSEC }, { 500000, 1 * MSEC } },
		{ { 50000000, 500000 }, { 100000, 100 * MSEC } },
	};

	for (unsigned int i = 0; i < sizeof(way) / sizeof(way[0]); i++) {
		const struct way *better = &way[i][way[i][1].rate > way[i][0].rate];
		uint64_t one = measure(1, better, 1), two = measure(1, way[i], 2);

		assert_true(100 * two >= 99 * one);
	}
}

/*
 * Measures two flows through a bottleneck common to all links, in bytes per second: a's flow, and a
 * flow of two other hosts.
 */
static void share(uint64_t seed, unsigned int links, uint64_t got[2])
{
	struct simnet_link neck, back = { .delay = 5 * MSEC };
	struct host *c, *d;
	struct scene s;
	struct flow *f;
	uint64_t before;

	join(&s, seed, links, true);
	neck = (struct simnet_link){
		.rate = 4000000, .delay = 5 * MSEC, .queue = 60000, .overhead = SIMNET_HEADERS
	};
	c = host_new(s.w, 5003);
	d = host_new(s.w, 5004);
	c->rcvbuf = d->rcvbuf = 8u << 20;
	host_become_ours(c);
	host_become_ours(d);
	simnet_route(s.w->net, s.a->node, s.b->node, &neck);
	simnet_route(s.w->net, s.b->node, s.a->node, &back);
	simnet_route(s.w->net, c->node, d->node, &neck);
	simnet_route(s.w->net, d->node, c->node, &back);
	for (unsigned int i = 1; i < links; i++) {
		simnet_route(s.w->net, i == 1 ? s.a->second : s.a->third,
			     i == 1 ? s.b->second : s.b->third, &neck);
		simnet_route(s.w->net, i == 1 ? s.b->second : s.b->third,
			     i == 1 ? s.a->second : s.a->third, &back);
	}
	open_flow(&s, 1u << 23, 0);
	f = connect_to(c, d, 1u << 23);
	s.f->min_len = f->min_len = 1000;
	s.f->max_len = f->max_len = 1200;
	run(s.w, 10 * SEC, NULL);
	assert_int_equal(s.f->a->paths.joined, links - 1);
	before = d->flows[0].bytes;
	got[0] = goodput(&s, 40 * SEC);
	got[1] = (d->flows[0].bytes - before) / 40;
	world_free(s.w);
}

/*
 * Through one bottleneck, an association with two or three paths gets about the rate of one path
 * (RFC 6356 2), on average over some seeds. Independent paths would get a third more, or half as
 * much again.
 */
static void test_fair(void **state)
{
	uint64_t alone = 0;

	for (unsigned int links = 1; links <= 3; links++) {
		uint64_t sum[2] = { 0 }, got[2];

		for (uint64_t seed = 1; seed <= 4; seed++) {
			share(seed, links, got);
			sum[0] += got[0];
			sum[1] += got[1];
		}
		if (links == 1)
			alone = sum[0];
		assert_true(4 * sum[0] <= 5 * alone);
	}
}

/* Two links are busy. One of them dies silently, while chunks on it block the cumulative TSN. */
static void test_stalls(void **state)
{
	for (uint64_t seed = sim_first(); seed <= sim_last(10); seed++) {
		uint64_t got, limit;
		struct scene s;

		join(&s, seed, 2, true);
		set_link(s.w->link, 9000000, MSEC);
		set_link(s.second, 1000000, 100 * MSEC);
		open_flow(&s, 1u << 22, 0);
		s.f->min_len = 1000;
		s.f->max_len = 1200;
		run(s.w, 3 * SEC, NULL);
		simnet_cut(s.w->net, s.second, true);
		for (unsigned int i = 0; i < 30; i++) {
			got = goodput(&s, 100 * MSEC);
			if (got < 5000000)
				fail_msg("seed %llu: %llu bytes/s %u ms after the death",
					 (unsigned long long)seed, (unsigned long long)got,
					 100 * i);
		}
		assert_int_equal(s.f->a->paths.joined, 0);
		simnet_cut(s.w->net, s.second, false);
		limit = s.w->now + 10 * SEC;
		while (!s.f->a->paths.joined)
			assert_true(step(s.w, limit));
		world_free(s.w);
	}
}

static bool is_over(struct world *w, uint64_t limit)
{
	if (w->now > limit)
		fail_msg("seed %llu: not done", (unsigned long long)w->seed);
	return all_sent(w);
}

/* Links of any kind die and return at random, sometimes all of them: each message arrives once. */
static void deaths(uint64_t seed)
{
	struct simnet_link *link[3];
	struct sim_random *r;
	unsigned int links;
	uint64_t limit;
	struct scene s;

	links = 2 + seed % 2;
	join(&s, seed, links, true);
	r = &s.w->random;
	link[0] = s.w->link;
	link[1] = s.second;
	link[2] = s.third;
	for (unsigned int i = 0; i < links; i++) {
		static const uint32_t mtus[] = { 1280, 1500, 9000 };

		set_link(link[i], 50000 + sim_random_below(r, 400000),
			 1 + sim_random_below(r, 60) * MSEC);
		link[i][0].mtu = link[i][1].mtu = mtus[sim_random_below(r, 3)];
		link[i][0].black_hole = link[i][1].black_hole = sim_random_below(r, 2);
	}
	s.a->mtu = s.b->mtu = 9000;
	if (sim_random_below(r, 2))
		s.a->rcvbuf = s.b->rcvbuf = 60000;
	open_flow(&s, 1, 1);
	/* Before they join, paths are unconfirmed, with unknown MTU. */
	limit = s.w->now + 60 * SEC;
	while (s.f->a->paths.joined < links - 1 || s.g->a->paths.joined < links - 1) {
		run(s.w, SEC, NULL);
		assert_true(s.w->now < limit);
	}
	s.f->to_send += 3000;
	s.g->to_send += sim_random_below(r, 2) * 3000;
	sctp_assoc_doorbell(s.f->a);
	sctp_assoc_doorbell(s.g->a);
	limit = s.w->now + 600 * SEC;
	while (!is_over(s.w, limit)) {
		uint64_t next = s.w->now + sim_random_below(r, 5000) * MSEC;

		while (!all_sent(s.w) && step(s.w, next))
			;
		if (!all_sent(s.w))
			s.w->now = next;
		for (unsigned int i = 0; i < links; i++)
			for (unsigned int k = 0; k < 2; k++)
				simnet_faults(s.w->net, &link[i][k],
					      "packets: drop, probability %.2f",
					      sim_random_below(r, 3) ?
						      sim_random_below(r, 10) / 100.0 :
						      1);
	}
	assert_int_equal(s.g->received, s.f->to_send);
	assert_int_equal(s.f->received, s.g->to_send);
	assert_int_equal(s.b->flow_count, 1);
	world_free(s.w);
}

static void test_deaths(void **state)
{
	for (uint64_t seed = sim_first(); seed <= sim_last(200); seed++)
		deaths(seed);
}

/* All links die. One link returns, whichever it is, and carries the rest. */
static void test_one_returns(void **state)
{
	for (uint64_t seed = sim_first(); seed <= sim_last(60); seed++) {
		struct simnet_link *link[3];
		uint32_t before;
		struct scene s;

		join(&s, seed, 3, true);
		link[0] = s.w->link;
		link[1] = s.second;
		link[2] = s.third;
		for (unsigned int i = 0; i < 3; i++)
			set_link(link[i], 300000, (1 + i * seed % 7) * MSEC);
		open_flow(&s, 1u << 22, 0);
		run(s.w, 5 * SEC, NULL);
		assert_int_equal(s.f->a->paths.joined, 2);
		for (unsigned int i = 0; i < 3; i++)
			simnet_cut(s.w->net, link[i], true);
		run(s.w, (1 + seed % 12) * SEC, NULL);
		simnet_cut(s.w->net, link[seed % 3], false);
		/* The link's path is probed after the RTO, which doubles without an answer. */
		run(s.w, (2 + seed % 12 * 2) * SEC, NULL);
		before = s.g->received;
		run(s.w, SEC, NULL);
		if (s.g->received < before + 50)
			fail_msg("seed %llu: it stands still", (unsigned long long)seed);
		world_free(s.w);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal),  cmocka_unit_test(test_unequal),
		cmocka_unit_test(test_fair),   cmocka_unit_test(test_stalls),
		cmocka_unit_test(test_deaths), cmocka_unit_test(test_one_returns),
	};

	sim_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
