/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * Addresses of two hosts change while an association is up. The association follows (RFC 5061); no
 * byte is lost or delivered twice.
 */
#include "conformance/rows.h"
#include "fixture/sctp_sim.h"

struct scene {
	struct world *w;
	struct host *a, *b;
	struct flow *f, *g;
};

static void begin(struct scene *s, uint64_t seed, uint32_t there, uint32_t back)
{
	memset(s, 0, sizeof(*s));
	s->w = world_new(seed, &s->a, &s->b);
	s->a->config.spread = s->b->config.spread = seed % 2;
	host_wander(s->a);
	host_wander(s->b);
	s->b->reply = back;
	s->f = connect_to(s->a, s->b, there);
	while (!both_up(s->w)) {
		flush(s->w);
		assert_true(step(s->w, s->w->now + 20 * SEC));
	}
	s->g = &s->b->flows[0];
}

static void slow(struct scene *s, uint64_t rate)
{
	for (int i = 0; i < 2; i++) {
		s->w->link[i].rate = rate;
		s->w->link[i].queue = 18000;
	}
}

static void begin_busy(struct scene *s, uint64_t seed)
{
	begin(s, seed, 1u << 22, 1u << 22);
	slow(s, 2000000);
	run(s->w, 4 * SEC, NULL);
}

static void finish(struct scene *s)
{
	if (!run(s->w, 120 * SEC, all_sent))
		fail_msg("seed %llu: not done", (unsigned long long)s->w->seed);
	assert_int_equal(s->g->received, s->f->to_send);
	assert_int_equal(s->f->received, s->g->to_send);
	assert_int_equal(s->a->flow_count, 1);
	assert_int_equal(s->b->flow_count, 1);
	assert_int_equal(s->f->restarts + s->g->restarts, 0);
	world_free(s->w);
}

static void end_busy(struct scene *s)
{
	s->f->to_send = s->f->sent;
	s->g->to_send = s->g->sent;
	finish(s);
}

/* Both flows make progress within this time. */
static void must_go_on(struct scene *s, uint64_t limit)
{
	uint32_t f, g;

	run(s->w, 10 * MSEC, NULL); /* packets in flight arrive */
	f = s->f->received;
	g = s->g->received;
	run(s->w, limit, NULL);
	assert_true(s->f->received > f && s->g->received > g);
}

/* True if the flow's association has a path to this address, confirmed or not. */
static bool has_path(const struct flow *of, const struct ip_addr *addr, bool confirmed)
{
	const struct sctp_path *path = sctp_paths_find(of->a, addr);

	return path && path->confirmed == confirmed;
}

static void test_added(void **state)
{
	struct scene s;

	begin_busy(&s, 1);
	host_gain(s.a, 70);
	run(s.w, 30 * MSEC, NULL);
	assert_non_null(sctp_paths_find(s.g->a, &s.a->places[1].addr));
	run(s.w, 3 * SEC, NULL);
	assert_true(has_path(s.g, &s.a->places[1].addr, true));
	host_gain(s.b, 71);
	run(s.w, 3 * SEC, NULL);
	assert_true(has_path(s.f, &s.b->places[1].addr, true));
	assert_true(sctp_paths_primary(s.g->a)->addr.remote.b[15] == 1);
	end_busy(&s);
}

/* A lost address is deleted after some time, but not if it returns soon. */
static void test_removed(void **state)
{
	struct scene s;

	begin_busy(&s, 2);
	host_gain(s.a, 70);
	run(s.w, 3 * SEC, NULL);
	host_lose(s.a, 1);
	must_go_on(&s, 100 * MSEC);
	run(s.w, 5 * SEC, NULL);
	assert_int_equal(s.g->a->paths.others, 1);
	run(s.w, 6 * SEC, NULL);
	assert_int_equal(s.g->a->paths.others, 0);
	assert_int_equal(s.f->a->locals.n, 1);
	end_busy(&s);
}

/*
 * As above, with the address at which the association was set up: the association then belongs to
 * the other address.
 */
static void test_first_removed(void **state)
{
	struct scene s;
	struct path_addr to;

	begin_busy(&s, 3);
	host_gain(s.a, 70);
	run(s.w, 3 * SEC, NULL);
	host_lose(s.a, 0);
	must_go_on(&s, 300 * MSEC);
	run(s.w, 12 * SEC, NULL);
	assert_int_equal(s.g->a->paths.others, 0);
	assert_true(ip_addr_equal(&s.g->a->path->addr.remote, &s.a->places[1].addr));
	assert_true(s.g->a->path->primary);
	/* On both sides, the new pair names this association. */
	to = (struct path_addr){ s.a->places[1].addr, s.b->addr, s.b->port };
	assert_true(sctp_assoc_is_between(s.f->a, &to));
	assert_null(sctp_connect(s.a->ep, &to, s.b->port, 1500, NULL, s.w->now));
	to = (struct path_addr){ s.b->addr, s.a->places[1].addr, s.a->port };
	assert_true(sctp_assoc_is_between(s.g->a, &to));
	end_busy(&s);
}

/* A host's only address is replaced. The new one comes before the loss of the old one, or after. */
static void replace(bool before, bool secret, uint64_t limit)
{
	struct scene s;

	begin_busy(&s, 4);
	s.a->secret = secret;
	for (unsigned int i = 0; i < 10; i++) {
		if (!before) {
			host_lose(s.a, i);
			run(s.w, 30 * MSEC, NULL);
		}
		host_gain(s.a, (uint8_t)(70 + i));
		if (before) {
			run(s.w, sim_random_below(&s.w->random, 3) * 100 * MSEC, NULL);
			host_lose(s.a, i);
		}
		must_go_on(&s, limit);
		assert_true(ip_addr_equal(&s.f->a->setup.local, &s.a->places[i + 1].addr));
		run(s.w, 500 * MSEC, NULL);
		assert_true(has_path(s.g, &s.a->places[i + 1].addr, true));
		assert_int_equal(s.g->a->paths.others, 0);
		assert_true(s.g->a->path->primary);
	}
	end_busy(&s);
}

static void test_replaced(void **state)
{
	replace(true, false, 300 * MSEC);
	replace(false, false, 300 * MSEC);
}

/* Hosts that announce no other addresses announce the replacement. */
static void test_replaced_in_secret(void **state)
{
	replace(false, true, 300 * MSEC);
	replace(true, true, 300 * MSEC);
}

/* Crossing INITs give both sides the same key, whichever packets are lost. */
static void test_crossed(void **state)
{
	ROWS("4895-6.1-04");
	for (uint64_t seed = sim_first(); seed <= sim_last(100); seed++) {
		struct scene s = { 0 };

		s.w = world_new(seed, &s.a, &s.b);
		host_wander(s.a);
		host_wander(s.b);
		simnet_faults_both(s.w->net, s.w->link, "packets: drop, probability 0.%02u",
				   5 * (unsigned int)(seed % 4));
		s.f = connect_to(s.a, s.b, 20);
		run(s.w, sim_random_below(&s.w->random, 3) * 25000, NULL);
		s.g = connect_to(s.b, s.a, 20);
		if (!run(s.w, 60 * SEC, both_up))
			fail_msg("seed %llu: not up", (unsigned long long)seed);
		simnet_cut(s.w->net, s.w->link, false);
		host_gain(s.a, 70);
		host_gain(s.b, 71);
		run(s.w, 5 * SEC, NULL);
		assert_true(has_path(s.g, &s.a->places[1].addr, true));
		assert_true(has_path(s.f, &s.b->places[1].addr, true));
		finish(&s);
	}
}

static unsigned int foreign; /* chunks of types not negotiated */

static void look(struct host *h, const uint8_t *packet, size_t len)
{
	const uint8_t *p = packet + WIRE_SCTP_COMMON_LEN;
	struct wire_sctp_chunk c;

	while (wire_sctp_chunk_next(&p, packet + len, &c))
		foreign += c.type == WIRE_SCTP_AUTH || c.type == WIRE_SCTP_ASCONF ||
			   c.type == WIRE_SCTP_ASCONF_ACK;
}

/* A peer without the extension gets none of its chunks. */
static void test_peer_without(void **state)
{
	struct scene s = { 0 };

	s.w = world_new(5, &s.a, &s.b);
	host_wander(s.a);
	host_become_ours(s.b);
	s.b->reply = 100;
	s.f = connect_to(s.a, s.b, 100);
	assert_true(run(s.w, 20 * SEC, both_up));
	s.g = &s.b->flows[0];
	s.b->tap = look;
	foreign = 0;
	host_gain(s.a, 70);
	run(s.w, 3 * SEC, NULL);
	host_lose(s.a, 1);
	run(s.w, 20 * SEC, NULL);
	assert_int_equal(foreign, 0);
	assert_int_equal(s.g->a->paths.others, 0);
	finish(&s);
}

/* Adds or removes an address of h, which is never without addresses for long. */
static void change(struct scene *s, struct host *h, uint8_t *next)
{
	unsigned int i, live = 0, which;

	for (i = 0; i < h->place_count; i++)
		live += !h->places[i].gone;
	if (live < 3 && h->place_count < PLACES && (!live || sim_random_below(&s->w->random, 2))) {
		host_gain(h, (*next)++);
		return;
	}
	which = sim_random_below(&s->w->random, live);
	for (i = 0; live; i++)
		if (!h->places[i].gone && !which--) {
			host_lose(h, i);
			break;
		}
}

static bool has_none(const struct host *h)
{
	for (unsigned int i = 0; i < h->place_count; i++)
		if (!h->places[i].gone)
			return false;
	return true;
}

/*
 * True if h may change now. Two hosts lose each other if both lose all addresses known to the peer,
 * before the announcements. The same holds for a host that loses two addresses before it has
 * announced the first loss.
 */
static bool may_change(const struct scene *s, const struct host *h)
{
	const struct sctp_assoc *own = h == s->a ? s->f->a : s->g->a;
	const struct sctp_assoc *other = h == s->a ? s->g->a : s->f->a;

	return has_none(h) ||
	       (own && other && !own->asconf.out && !other->asconf.out && !sctp_path_in_doubt(own));
}

/*
 * Addresses of both hosts come and go, one host at a time, on a network with loss and reordering.
 */
static void wander(uint64_t seed)
{
	struct scene s;
	uint8_t next = 50;
	uint64_t limit;

	begin(&s, seed, 600, 600);
	slow(&s, 100000);
	for (int i = 0; i < 2; i++) {
		simnet_faults(s.w->net, &s.w->link[i], "packets: drop, probability 0.0%u",
			      sim_random_below(&s.w->random, 8));
		simnet_faults_add(s.w->net, &s.w->link[i], "packets: duplicate, probability 0.0%u",
				  sim_random_below(&s.w->random, 5));
		simnet_faults_add(s.w->net, &s.w->link[i],
				  "packets: delay 5 ms, probability 0.%02u",
				  sim_random_below(&s.w->random, 20));
	}
	limit = s.w->now + 900 * SEC;
	while (!all_sent(s.w)) {
		struct host *h = sim_random_below(&s.w->random, 2) ? s.a : s.b;
		bool none = has_none(s.a) || has_none(s.b);
		uint64_t then =
			s.w->now + (none ? 100 : 200 + sim_random_below(&s.w->random, 8000)) * MSEC;

		while (!all_sent(s.w) && step(s.w, then))
			;
		if (!all_sent(s.w))
			s.w->now = then;
		if (s.w->now > limit)
			fail_msg("seed %llu: not done", (unsigned long long)seed);
		if (has_none(s.a))
			h = s.a;
		else if (has_none(s.b))
			h = s.b;
		if (next < 200 && may_change(&s, h))
			change(&s, h, &next);
		flush(s.w);
	}
	finish(&s);
}

static void test_wandering(void **state)
{
	for (uint64_t seed = sim_first(); seed <= sim_last(300); seed++)
		wander(seed);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_added),
		cmocka_unit_test(test_removed),
		cmocka_unit_test(test_first_removed),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_replaced_in_secret),
		cmocka_unit_test(test_peer_without),
		cmocka_unit_test(test_wandering),
		cmocka_unit_test(test_crossed),
	};

	sim_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
