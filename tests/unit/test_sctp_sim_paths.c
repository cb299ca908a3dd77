/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * A peer with two addresses, one of which is cut and comes back: no byte is lost or delivered
 * twice.
 */
#include "fixture/sctp_sim.h"

struct scene {
	struct world *w;
	struct host *a, *b; /* b has two addresses */
	struct simnet_link second[2];
	struct flow *f, *g;
};

static void begin(struct scene *s, uint64_t seed, uint32_t there, uint32_t back)
{
	memset(s, 0, sizeof(*s));
	s->w = world_new(seed, &s->a, &s->b);
	s->second[0].delay = s->second[1].delay = MSEC;
	host_multihome(s->b, 77, s->a, s->second);
	s->b->reply = back;
	s->f = connect_to(s->a, s->b, there);
	while (!both_up(s->w)) {
		flush(s->w);
		assert_true(step(s->w, s->w->now + 20 * SEC));
	}
	s->g = &s->b->flows[0];
	assert_int_equal(s->f->a->paths.others, 1);
}

static void finish(struct scene *s)
{
	if (!run(s->w, 120 * SEC, all_sent))
		fail_msg("seed %llu: not done", (unsigned long long)s->w->seed);
	assert_int_equal(s->g->received, s->f->to_send);
	assert_int_equal(s->f->received, s->g->to_send);
	assert_int_equal(s->b->flow_count, 1);
}

/* Both directions are busy. The primary path dies for this time, and comes back. */
static void dies(uint64_t seed, uint64_t how_long)
{
	struct path_addr b = { .udp_port = 0 };
	struct scene s;
	uint32_t before[2];

	begin(&s, seed, 1u << 22, 1u << 22);
	s.w->link[0].rate = s.w->link[1].rate = s.second[0].rate = s.second[1].rate = 2000000;
	s.w->link[0].queue = s.w->link[1].queue = s.second[0].queue = s.second[1].queue = 100000;
	run(s.w, 4 * SEC, NULL);
	assert_true(s.f->a->paths.other[0]->confirmed);
	assert_true(s.f->a->path->primary);
	simnet_cut(s.w->net, s.w->link, true);
	/* Each side has a timeout, and has retransmitted the first chunk. */
	run(s.w, 3 * SEC, NULL);
	before[0] = s.g->received;
	before[1] = s.f->received;
	assert_false(s.f->a->path->primary);
	run(s.w, how_long, NULL);
	assert_true(s.g->received > before[0] + 500 && s.f->received > before[1] + 500);
	b.remote = s.b->addr;
	assert_ptr_equal(sctp_assoc_find(s.a->ep, &b, s.b->port, 0), s.f->a);
	assert_true(ip_addr_equal(&sctp_assoc_addr(s.f->a)->remote, &s.b->addr));
	simnet_cut(s.w->net, s.w->link, false);
	/*
	 * The path is used again after its own round trip, however long it was dead: RTO.Max is 60
	 * s, HB.interval 1 s.
	 */
	run(s.w, how_long + 4 * SEC, NULL);
	assert_true(s.f->a->path->primary);
	/* Now the second path dies. */
	simnet_cut(s.w->net, s.second, true);
	before[0] = s.g->received;
	run(s.w, 2 * SEC, NULL);
	assert_true(s.g->received > before[0] + 500);
	assert_true(s.f->a->path->primary);
	simnet_cut(s.w->net, s.second, false);
	s.f->to_send = s.f->sent;
	s.g->to_send = s.g->sent;
	finish(&s);
	world_free(s.w);
}

static void test_dies(void **state)
{
	dies(1, 5 * SEC);
	dies(2, 10 * SEC);
	dies(3, 20 * SEC);
}

/*
 * The primary path dies after the INIT ACK. The COOKIE ECHO finds the other path, and DATA follows.
 */
static void test_dies_in_handshake(void **state)
{
	uint64_t seed;

	for (seed = sim_first(); seed <= sim_last(50); seed++) {
		struct scene s = { 0 };

		s.w = world_new(seed, &s.a, &s.b);
		s.second[0].delay = s.second[1].delay = MSEC;
		if (seed % 2)
			simnet_faults_both(s.w->net, s.second, "packets: drop, probability 0.2");
		host_multihome(s.b, 77, s.a, s.second);
		s.b->reply = 100;
		s.f = connect_to(s.a, s.b, 100);
		flush(s.w);
		while (!s.b->packets_out)
			assert_true(step(s.w, s.w->now + 20 * SEC));
		simnet_cut(s.w->net, s.w->link, true);
		run(s.w, 12 * SEC, both_up);
		/*
		 * Two more COOKIE ECHOs are sent to the second address before the limit. At least
		 * one must arrive.
		 */
		simnet_heal(s.w->net, &s.second[0]);
		simnet_heal(s.w->net, &s.second[1]);
		assert_true(run(s.w, 20 * SEC, both_up));
		s.g = &s.b->flows[0];
		finish(&s);
		assert_false(s.f->a->path->primary);
		simnet_cut(s.w->net, s.w->link, false);
		run(s.w, 10 * SEC, NULL);
		assert_true(s.f->a->path->primary);
		world_free(s.w);
	}
}

/*
 * Both sides connect at once, b from an address unknown to a: the result is one association,
 * whatever is lost.
 */
static void test_collision(void **state)
{
	unsigned int collisions = 0;
	uint64_t seed;

	for (seed = sim_first(); seed <= sim_last(300); seed++) {
		struct scene s = { 0 };
		struct path_addr from_second;
		struct flow *g;
		uint64_t until;

		s.w = world_new(seed, &s.a, &s.b);
		if (seed % 4 > 1) {
			simnet_faults_both(s.w->net, s.w->link, "packets: drop, probability 0.2");
			simnet_faults_both(s.w->net, s.second, "packets: drop, probability 0.2");
		}
		s.w->link[0].delay = 1 + sim_random_below(&s.w->random, 100000);
		s.w->link[1].delay = 1 + sim_random_below(&s.w->random, 100000);
		s.second[0].delay = s.second[1].delay = 1 + sim_random_below(&s.w->random, 100000);
		host_multihome(s.b, 77, s.a, s.second);
		from_second = path_to(s.b, s.a);
		from_second.local = s.b->second_addr;
		if (seed % 2) {
			s.f = connect_to(s.a, s.b, 10);
			flush(s.w);
		}
		g = flow_new(s.b, 10);
		until = s.w->now + sim_random_below(&s.w->random, 150000);
		while (seed % 2 && s.b->flow_count == 1 && step(s.w, until))
			;
		if (s.b->flow_count == 1)
			g->a = sctp_connect(s.b->ep, &from_second, s.a->port, s.b->mtu, g,
					    s.w->now);
		flush(s.w);
		until = s.w->now + sim_random_below(&s.w->random, 150000);
		while (!s.f && s.a->flow_count == 0 && step(s.w, until))
			;
		if (!s.f && s.a->flow_count == 0)
			s.f = connect_to(s.a, s.b, 10);
		if (!s.f || !g->a) {
			world_free(s.w);
			continue;
		}
		if (!run(s.w, 60 * SEC, all_sent))
			fail_msg("seed %llu: not done", (unsigned long long)seed);
		assert_int_equal(s.a->flow_count, 1);
		assert_int_equal(s.b->flow_count, 1);
		assert_int_equal(s.f->received, 10);
		assert_int_equal(g->received, 10);
		assert_true(sctp_assoc_is_initiator(s.f->a) != sctp_assoc_is_initiator(g->a));
		collisions++;
		world_free(s.w);
	}
	/* With other seeds, the second side got the first INIT in time. */
	assert_true(sim_seeds_tried(300) < 30 || 3 * collisions > 2 * sim_seeds_tried(300));
}

/* The path dies while no side has data to send: the next message waits for no timeout. */
static void test_dies_idle(void **state)
{
	struct scene s;

	begin(&s, 7, 1, 1);
	finish(&s);
	run(s.w, 10 * SEC, NULL);
	simnet_cut(s.w->net, s.w->link, true);
	run(s.w, 6 * SEC, NULL);
	assert_non_null(s.f->a);
	assert_false(s.f->a->path->primary);
	s.f->to_send++;
	sctp_assoc_doorbell(s.f->a);
	assert_true(run(s.w, 50 * MSEC, all_sent));
	simnet_cut(s.w->net, s.w->link, false);
	run(s.w, 10 * SEC, NULL);
	assert_true(s.f->a->path->primary);
	finish(&s);
	/* All paths are dead: the association is lost in the time for one path. */
	simnet_cut(s.w->net, s.w->link, true);
	simnet_cut(s.w->net, s.second, true);
	run(s.w, 29 * SEC, NULL);
	assert_non_null(s.f->a);
	run(s.w, 6 * SEC, NULL);
	assert_null(s.f->a);
	assert_int_equal(s.f->error, -ETIMEDOUT);
	world_free(s.w);
}

/* DATA fits the smaller MTU of both (7.3-01), so that it never needs fragments. */
static void test_narrow_second(void **state)
{
	struct scene s;

	begin(&s, 9, 1u << 22, 0);
	s.a->mtu = 9000;
	sctp_assoc_set_mtu(s.f->a, 9000);
	s.second[0].mtu = 1500;
	s.second[0].black_hole = true;
	s.f->max_len = 8000;
	s.w->link[0].rate = s.second[0].rate = 2000000;
	s.w->link[0].queue = s.second[0].queue = 100000;
	run(s.w, 10 * SEC, NULL);
	assert_int_equal(s.f->a->path->mtu.search.good, 9000);
	assert_true(s.f->a->path->mtu.max_packet <= 1500 - 28);
	assert_true(s.f->a->path->mtu.max_packet >= 1400 - 28);
	simnet_cut(s.w->net, s.w->link, true);
	run(s.w, 10 * SEC, NULL);
	assert_int_equal(s.second[0].fragmented, 0);
	simnet_cut(s.w->net, s.w->link, false);
	s.f->to_send = s.f->sent;
	finish(&s);
	world_free(s.w);
}

/* Paths come and go, with loss: each message arrives once. */
static void changing(uint64_t seed)
{
	struct scene s;
	struct sim_random *r;
	uint64_t limit;

	begin(&s, seed, 300, 300);
	r = &s.w->random;
	s.w->link[0].rate = s.w->link[1].rate = s.second[0].rate = s.second[1].rate = 100000;
	s.w->link[0].queue = s.w->link[1].queue = s.second[0].queue = s.second[1].queue = 100000;
	limit = s.w->now + 600 * SEC;
	while (!all_sent(s.w)) {
		uint64_t next = s.w->now + sim_random_below(r, 8000) * MSEC;
		bool first = sim_random_below(r, 2);

		while (!all_sent(s.w) && step(s.w, next))
			;
		if (!all_sent(s.w))
			s.w->now = next;
		if (s.w->now > limit)
			fail_msg("seed %llu: not done after 600 s", (unsigned long long)seed);
		simnet_cut(s.w->net, s.w->link, first);
		simnet_cut(s.w->net, s.second, !first);
		if (sim_random_below(r, 2)) {
			struct simnet_link *l = first ? s.second : s.w->link;

			simnet_faults_both(s.w->net, l, "packets: drop, probability 0.0%u",
					   sim_random_below(r, 10));
		}
	}
	finish(&s);
	world_free(s.w);
}

static void test_changing(void **state)
{
	uint64_t seed;

	for (seed = sim_first(); seed <= sim_last(100); seed++)
		changing(seed);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dies),	      cmocka_unit_test(test_dies_in_handshake),
		cmocka_unit_test(test_collision),     cmocka_unit_test(test_dies_idle),
		cmocka_unit_test(test_narrow_second), cmocka_unit_test(test_changing),
	};

	sim_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
