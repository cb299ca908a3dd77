/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * Two hosts with three different links. Each link may die, in one or both directions, alone or with
 * others, at any time. No byte is lost or delivered twice. DATA continues within the time in
 * docs/guide.md, over one path at a time or over all paths.
 */
#include "fixture/sctp_sim.h"

#define LINKS 3
#define STANDSTILL (300 * MSEC) /* maximum for one dead link, without notification */

static bool spread; /* DATA uses all paths at once */

struct scene {
	struct world *w;
	struct host *a, *b;
	struct simnet_link further[LINKS - 1][2];
	struct flow *f, *g;
};

/* Returns both directions of a link. */
static struct simnet_link *link_of(struct scene *s, unsigned int i)
{
	return i ? s->further[i - 1] : s->w->link;
}

/* Round trips are below 10 ms, including queues. */
static void vary(struct world *w, struct simnet_link link[2], double most_loss)
{
	static const uint32_t rates[] = { 400000, 800000, 1600000 };
	static const uint32_t mtus[] = { 1500, 1492, 1400, 2000 };
	uint64_t delay = 20000 + sim_random_below(&w->random, 1500000);
	uint32_t rate = rates[sim_random_below(&w->random, 3)];
	uint32_t mtu = mtus[sim_random_below(&w->random, 4)];

	for (int i = 0; i < 2; i++) {
		link[i].delay = delay;
		link[i].rate = rate;
		link[i].queue = rate / 1000 * 6;
		link[i].mtu = mtu;
		link[i].black_hole = true;
		simnet_faults(w->net, &link[i], "packets: drop, probability %.4f",
			      most_loss * sim_random_below(&w->random, 100) / 100);
	}
}

static void start(struct scene *s, uint64_t seed, double most_loss)
{
	memset(s, 0, sizeof(*s));
	s->w = world_new(seed, &s->a, &s->b);
	s->a->config.spread = s->b->config.spread = spread;
	hosts_join_again(s->a, s->b, 77, s->further[0]);
	hosts_join_thirdly(s->a, s->b, 87, s->further[1]);
	for (unsigned int i = 0; i < LINKS; i++)
		vary(s->w, link_of(s, i), most_loss);
	s->b->reply = 1u << 22;
	s->f = connect_to(s->a, s->b, 1u << 22);
	while (!both_up(s->w)) {
		flush(s->w);
		assert_true(step(s->w, s->w->now + 20 * SEC));
	}
	s->g = &s->b->flows[0];
	assert_int_equal(s->f->a->paths.others, LINKS - 1);
	assert_int_equal(s->g->a->paths.others, LINKS - 1);
}

/* Returns the link that carries a flow's DATA. */
static unsigned int used_by(const struct scene *s, const struct flow *f)
{
	const struct host *peer = f == s->f ? s->b : s->a;
	const struct ip_addr *to = &f->a->path->addr.remote;

	if (ip_addr_equal(to, &peer->addr))
		return 0;
	return ip_addr_equal(to, &peer->second_addr) ? 1 : 2;
}

/* True if a flow's DATA takes its intended path, or all paths. */
static bool is_settled(const struct scene *s, const struct flow *f)
{
	return spread ? f->a->paths.joined == LINKS - 1 : !used_by(s, f);
}

/*
 * Waits until all paths are confirmed, and the primary one is in use: a full queue may have looked
 * like a dead link. With spread DATA, waits until the other paths have joined the primary one.
 */
static void settle(struct scene *s)
{
	uint64_t limit = s->w->now + 30 * SEC;

	do {
		if (s->w->now >= limit)
			fail_msg("seed %llu: not settled", (unsigned long long)s->w->seed);
		run(s->w, 4 * SEC, NULL);
	} while (!is_settled(s, s->f) || !is_settled(s, s->g));
}

static void finish(struct scene *s)
{
	for (unsigned int i = 0; i < LINKS; i++)
		simnet_cut(s->w->net, link_of(s, i), false);
	s->f->to_send = s->f->sent;
	s->g->to_send = s->g->sent;
	if (!run(s->w, 120 * SEC, all_sent))
		fail_msg("seed %llu: not done", (unsigned long long)s->w->seed);
	assert_int_equal(s->g->received, s->f->to_send);
	assert_int_equal(s->f->received, s->g->to_send);
	assert_int_equal(s->b->flow_count, 1);
	world_free(s->w);
}

/* Waits until both flows have received something sent after now, at most for this time. */
static void must_go_on(struct scene *s, uint64_t limit)
{
	uint64_t since = s->w->now;
	uint32_t f, g;

	/* Packets in flight arrive. */
	run(s->w, 12 * MSEC, NULL);
	f = s->f->received;
	g = s->g->received;
	while ((s->f->received == f || s->g->received == g) && step(s->w, since + 10 * SEC))
		;
	if (s->f->received == f || s->g->received == g || s->w->now - since > limit)
		fail_msg("seed %llu: %llu ms", (unsigned long long)s->w->seed,
			 (unsigned long long)((s->w->now - since) / MSEC));
}

static void pass(struct scene *s, uint32_t msec)
{
	run(s->w, sim_random_below(&s->w->random, msec) * MSEC, NULL);
}

/*
 * Links die one after the other, except the last link. Then all links come back, and the primary
 * path is used again.
 */
static void test_one_by_one(void **state)
{
	struct scene s;
	uint64_t seed;

	for (seed = sim_first(); seed <= sim_last(20); seed++) {
		start(&s, seed, 0);
		settle(&s);
		for (int i = 1; i < LINKS; i++) {
			pass(&s, 2000);
			simnet_cut(s.w->net, link_of(&s, used_by(&s, s.f)), true);
			must_go_on(&s, STANDSTILL);
		}
		pass(&s, 2000);
		for (unsigned int i = 0; i < LINKS; i++)
			simnet_cut(s.w->net, link_of(&s, i), false);
		settle(&s);
		finish(&s);
	}
}

/* The working link with the shortest round trip takes over. */
static void test_best(void **state)
{
	struct scene s;
	uint64_t seed;

	for (seed = sim_first(); seed <= sim_last(6); seed++) {
		unsigned int slow = 1 + seed % 2;

		start(&s, seed, 0);
		for (unsigned int i = 0; i < LINKS; i++)
			link_of(&s, i)[0].delay = link_of(&s, i)[1].delay = i == slow ? 3 * MSEC :
											500000;
		settle(&s);
		simnet_cut(s.w->net, s.w->link, true);
		must_go_on(&s, STANDSTILL);
		assert_int_equal(used_by(&s, s.f), 3 - slow);
		assert_int_equal(used_by(&s, s.g), 3 - slow);
		finish(&s);
	}
}

/* The two preferred links die at once. */
static void test_two_at_once(void **state)
{
	struct scene s;
	uint64_t seed;

	for (seed = sim_first(); seed <= sim_last(12); seed++) {
		unsigned int stays = 1 + seed % 2;

		start(&s, seed, 0);
		settle(&s);
		pass(&s, 1000);
		simnet_cut(s.w->net, s.w->link, true);
		simnet_cut(s.w->net, link_of(&s, 3 - stays), true);
		must_go_on(&s, 2 * STANDSTILL);
		assert_int_equal(used_by(&s, s.f), stays);
		finish(&s);
	}
}

/* A link is dead in one direction, and its other direction still works. */
static void test_one_direction(void **state)
{
	struct scene s;
	uint64_t seed;

	for (seed = sim_first(); seed <= sim_last(16); seed++) {
		start(&s, seed, 0);
		settle(&s);
		pass(&s, 1000);
		simnet_faults(s.w->net, &s.w->link[seed % 2], "packets: drop");
		must_go_on(&s, STANDSTILL);
		/* The link does not count as working, although packets still arrive from there. */
		run(s.w, 5 * SEC, NULL);
		if (!spread)
			assert_false(s.f->a->path->primary || s.g->a->path->primary);
		must_go_on(&s, STANDSTILL);
		finish(&s);
	}
}

/* A link dies soon after the association is up. */
static void test_early(void **state)
{
	struct scene s;
	uint64_t seed;

	for (seed = sim_first(); seed <= sim_last(10); seed++) {
		start(&s, seed, 0);
		run(s.w, 100 * MSEC, NULL);
		simnet_cut(s.w->net, s.w->link, true);
		must_go_on(&s, STANDSTILL);
		finish(&s);
	}
}

/*
 * All links die. One link comes back before the peer fails, whichever it is: DATA continues soon.
 */
static void test_one_returns(void **state)
{
	struct scene s;
	uint64_t seed;

	for (seed = sim_first(); seed <= sim_last(16); seed++) {
		start(&s, seed, 0);
		settle(&s);
		for (unsigned int i = 0; i < LINKS; i++)
			simnet_cut(s.w->net, link_of(&s, i), true);
		run(s.w, 5 * SEC + sim_random_below(&s.w->random, 18000) * MSEC, NULL);
		simnet_cut(s.w->net, link_of(&s, seed % LINKS), false);
		must_go_on(&s, 6 * SEC);
		if (!spread)
			assert_int_equal(used_by(&s, s.f), seed % LINKS);
		finish(&s);
	}
}

/*
 * The primary path is used again soon after its return, whatever its time of failure, with and
 * without DATA.
 */
static void test_long_dead(void **state)
{
	uint64_t seed, limit;
	bool pause, used[2];
	struct scene s;

	for (seed = sim_first(); seed <= sim_last(8); seed++) {
		start(&s, seed, 0);
		s.f->max_len = 100;
		settle(&s);
		simnet_cut(s.w->net, s.w->link, true);
		run(s.w, 3 * SEC, NULL);
		pause = sim_random_below(&s.w->random, 8); /* most seeds: the others take long */
		if (pause)
			s.f->to_send = s.g->to_send = 0;
		run(s.w, (100 + seed % 40 * 3) * SEC, NULL);
		assert_true(!s.f->a->path->primary && !s.g->a->path->primary);
		s.f->to_send = s.g->to_send = 1u << 22;
		sctp_assoc_doorbell(s.f->a);
		sctp_assoc_doorbell(s.g->a);
		simnet_cut(s.w->net, s.w->link, false);
		limit = s.w->now + 6 * SEC;
		for (used[0] = used[1] = false; !used[0] || !used[1];) {
			assert_true(step(s.w, limit));
			used[0] |= s.f->a->path->primary;
			used[1] |= s.g->a->path->primary;
		}
		finish(&s);
	}
}

/*
 * Links die and return at random, with loss. At least one link works at any time, if only briefly.
 */
static void test_changing(void **state)
{
	unsigned int rounds;
	struct scene s;
	uint64_t seed;

	for (seed = sim_first(); seed <= sim_last(60); seed++) {
		start(&s, seed, 0.03);
		run(s.w, 4 * SEC, NULL);
		rounds = 1 + sim_random_below(&s.w->random, 8);
		for (unsigned int n = 0; n < rounds; n++) {
			unsigned int stays = sim_random_below(&s.w->random, LINKS);

			for (unsigned int i = 0; i < LINKS; i++) {
				bool off = i != stays && sim_random_below(&s.w->random, 2);

				simnet_cut(s.w->net, link_of(&s, i), off);
				if (off && !sim_random_below(&s.w->random, 4))
					simnet_heal(s.w->net, &link_of(&s, i)[1]);
			}
			pass(&s, 4000);
			must_go_on(&s, 8 * SEC);
		}
		finish(&s);
	}
}

/* A NAT repeatedly changes the UDP port of one path of b, while another path dies. */
static void test_nat(void **state)
{
	struct scene s;
	uint64_t seed;
	uint16_t port = 20000;

	for (seed = sim_first(); seed <= sim_last(10); seed++) {
		start(&s, seed, 0.02);
		run(s.w, 4 * SEC, NULL);
		for (int n = 0; n < 4; n++) {
			simnet_set_port(s.w->net, seed % 2 ? s.b->second : s.b->node, port++);
			run(s.w, 3 * SEC, NULL);
			simnet_cut(s.w->net, seed % 2 ? s.w->link : s.further[0], true);
			must_go_on(&s, 3 * SEC);
			run(s.w, 3 * SEC, NULL);
			simnet_cut(s.w->net, seed % 2 ? s.w->link : s.further[0], false);
			must_go_on(&s, 3 * SEC);
		}
		finish(&s);
	}
}

static unsigned int heartbeats, cookies, others;

/* Counts the packets to an uninvolved host. A COOKIE ECHO comes with a HEARTBEAT (RFC 9260 5.4). */
static void count(struct host *h, const uint8_t *packet, size_t len)
{
	uint8_t type = packet[WIRE_SCTP_COMMON_LEN];

	if (type == WIRE_SCTP_HEARTBEAT && len <= WIRE_SCTP_COMMON_LEN + SCTP_HEARTBEAT_LEN)
		heartbeats++;
	else if (type == WIRE_SCTP_COOKIE_ECHO)
		cookies++;
	else
		others++;
}

/* b lists the address of a host that never answers, and all other paths die (RFC 9260 11). */
static void test_third_party(void **state)
{
	unsigned int rounds;
	struct scene s;
	uint64_t seed;

	for (seed = sim_first(); seed <= sim_last(12); seed++) {
		struct simnet_link to[4] = { { 0 } };
		struct host *c;

		memset(&s, 0, sizeof(s));
		s.w = world_new(seed, &s.a, &s.b);
		s.a->config.spread = s.b->config.spread = spread;
		hosts_join_again(s.a, s.b, 77, s.further[0]);
		hosts_join_thirdly(s.a, s.b, 87, s.further[1]);
		c = host_new(s.w, s.b->port);
		c->tap = count;
		s.b->third_addr = c->addr;
		for (int i = 0; i < 4; i++)
			if (i == 1 || i == 3 || seed % 2)
				simnet_faults(s.w->net, &to[i], "packets: drop");
		simnet_route(s.w->net, s.a->third, c->node, &to[0]);
		simnet_route(s.w->net, c->node, s.a->third, &to[1]);
		heartbeats = cookies = others = 0;
		s.b->reply = 1u << 22;
		s.f = connect_to(s.a, s.b, 1u << 22);
		for (unsigned int i = 0; i < LINKS; i++)
			vary(s.w, link_of(&s, i), 0.02);
		while (!both_up(s.w)) {
			flush(s.w);
			assert_true(step(s.w, s.w->now + 20 * SEC));
		}
		s.g = &s.b->flows[0];
		run(s.w, 3 * SEC, NULL);
		rounds = 1 + sim_random_below(&s.w->random, 5);
		for (unsigned int n = 0; n < rounds; n++) {
			simnet_cut(s.w->net, s.w->link, true);
			pass(&s, 3000);
			simnet_cut(s.w->net, s.further[0], true);
			sctp_endpoint_readdress(s.a->ep, s.w->now);
			run(s.w, 8 * SEC, NULL);
			simnet_cut(s.w->net, s.w->link, false);
			simnet_cut(s.w->net, s.further[0], false);
			must_go_on(&s, 6 * SEC);
			run(s.w, 10 * SEC, NULL);
		}
		assert_int_equal(others, 0);
		assert_true(heartbeats <= 8 && cookies <= 3); /* in two minutes */
		finish(&s);
	}
}

static int one_at_a_time(void **state)
{
	spread = false;
	return 0;
}

static int all_at_once(void **state)
{
	spread = true;
	return 0;
}

#define ONE(test) cmocka_unit_test_setup(test, one_at_a_time)
#define ALL(test)                                                                                  \
	{                                                                                          \
#test ", spread", test, all_at_once, NULL, NULL                                    \
	}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		ONE(test_one_by_one),	 ONE(test_best),	  ONE(test_two_at_once),
		ONE(test_one_direction), ONE(test_early),	  ONE(test_one_returns),
		ONE(test_long_dead),	 ONE(test_changing),	  ONE(test_nat),
		ONE(test_third_party),	 ALL(test_one_direction), ALL(test_one_returns),
		ALL(test_changing),	 ALL(test_nat),		  ALL(test_third_party),
	};

	sim_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
