/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * Two hosts with two links, each with separate addresses. An association survives the loss of a
 * link. No byte is lost or delivered twice, and the pause is shorter than docs/guide.md permits.
 */
#include "fixture/sctp_sim.h"

#define SILENT_CUT (300 * MSEC) /* maximum pause without notification */
#define KNOWN_CUT (50 * MSEC)	/* maximum pause if the host knows */

struct scene {
	struct world *w;
	struct host *a, *b;
	struct simnet_link second[2];
	struct flow *f, *g;
};

static void join(struct scene *s, uint64_t seed)
{
	memset(s, 0, sizeof(*s));
	s->w = world_new(seed, &s->a, &s->b);
	s->second[0].delay = s->second[1].delay = 50000;
	hosts_join_again(s->a, s->b, 77, s->second);
}

static void wait_up(struct scene *s)
{
	while (!both_up(s->w)) {
		flush(s->w);
		assert_true(step(s->w, s->w->now + 20 * SEC));
	}
	s->g = &s->b->flows[0];
}

static void begin(struct scene *s, uint64_t seed, uint32_t there, uint32_t back)
{
	join(s, seed);
	s->b->reply = back;
	s->f = connect_to(s->a, s->b, there);
	wait_up(s);
	assert_int_equal(s->f->a->paths.others, 1);
	assert_int_equal(s->g->a->paths.others, 1);
}

static void finish(struct scene *s)
{
	if (!run(s->w, 120 * SEC, all_sent))
		fail_msg("seed %llu: not done", (unsigned long long)s->w->seed);
	assert_int_equal(s->g->received, s->f->to_send);
	assert_int_equal(s->f->received, s->g->to_send);
	assert_int_equal(s->b->flow_count, 1);
	world_free(s->w);
}

static void slow(struct simnet_link link[2])
{
	for (int i = 0; i < 2; i++) {
		link[i].rate = 2000000;
		link[i].queue = 18000; /* 9 ms */
	}
}

static void begin_busy(struct scene *s, uint64_t seed)
{
	begin(s, seed, 1u << 22, 1u << 22);
	slow(s->w->link);
	slow(s->second);
	run(s->w, 4 * SEC, NULL);
	assert_true(s->f->a->paths.other[0]->confirmed);
	assert_true(s->g->a->paths.other[0]->confirmed);
	assert_true(ip_addr_equal(&s->f->a->paths.other[0]->addr.local, &s->a->second_addr));
}

static void end_busy(struct scene *s)
{
	s->f->to_send = s->f->sent;
	s->g->to_send = s->g->sent;
	finish(s);
}

/* Returns the time until both flows have received something sent after now. */
static uint64_t standstill(struct scene *s)
{
	uint64_t since = s->w->now, last = since + 10 * SEC;
	uint32_t f, g;

	/* Packets in the queue of the cut link arrive. */
	run(s->w, 10 * MSEC, NULL);
	f = s->f->received;
	g = s->g->received;
	while ((s->f->received == f || s->g->received == g) && step(s->w, last))
		;
	assert_true(s->f->received > f && s->g->received > g);
	return s->w->now - since;
}

/* No host is notified of the dead link: SCTP detects it, and returns once the link works again. */
static void test_silent(void **state)
{
	struct scene s;
	uint64_t seed;

	for (seed = sim_first(); seed <= sim_last(30); seed++) {
		begin_busy(&s, seed);
		run(s.w, sim_random_below(&s.w->random, 100) * MSEC, NULL);
		simnet_cut(s.w->net, s.w->link, true);
		assert_true(standstill(&s) < SILENT_CUT);
		assert_false(s.f->a->path->primary || s.g->a->path->primary);
		run(s.w, 5 * SEC, NULL);
		simnet_cut(s.w->net, s.w->link, false);
		run(s.w, 10 * SEC, NULL);
		assert_true(s.f->a->path->primary && s.g->a->path->primary);
		end_busy(&s);
	}
}

/* The host knows that its first address is lost. SCTP informs the peer. */
static void test_known(void **state)
{
	struct scene s;
	uint32_t f, g;

	begin_busy(&s, 1);
	simnet_cut(s.w->net, s.w->link, true);
	s.a->first_gone = true;
	sctp_endpoint_readdress(s.a->ep, s.w->now);
	assert_false(s.f->a->path->primary);
	run(s.w, MSEC, NULL);
	assert_false(s.g->a->path->primary);
	f = s.f->received;
	g = s.g->received;
	run(s.w, KNOWN_CUT, NULL);
	assert_true(s.f->received > f && s.g->received > g);
	/* The address is back, and the host knows: its path is probed at once. */
	run(s.w, 2 * SEC, NULL);
	simnet_cut(s.w->net, s.w->link, false);
	s.a->first_gone = false;
	sctp_endpoint_readdress(s.a->ep, s.w->now);
	run(s.w, 500 * MSEC, NULL);
	assert_true(s.f->a->path->primary);
	end_busy(&s);
}

/*
 * Whichever path answers first, a process soon knows that both addresses are the same host's. The
 * process can connect again by the other address.
 */
static void test_learnt(void **state)
{
	for (unsigned int slower = 0; slower < 2; slower++) {
		struct ip_addr other[SCTP_KNOWN_ADDRS];
		struct scene s;

		join(&s, 1);
		for (int i = 0; i < 2; i++)
			(slower ? s.second : s.w->link)[i].delay = 5 * MSEC;
		s.f = connect_to(s.a, s.b, 1000);
		wait_up(&s);
		run(s.w, 500 * MSEC, NULL);
		assert_int_equal(sctp_known_others(&s.f->a->s->known, &s.b->addr, s.w->now, other),
				 1);
		assert_true(ip_addr_equal(other, &s.b->second_addr));
		finish(&s);
	}
}

/* The host has another first address now, unknown to the peer: the first path is unusable. */
static void test_renumbered(void **state)
{
	struct ip_addr first;
	struct scene s;

	begin_busy(&s, 1);
	first = s.a->addr;
	simnet_cut(s.w->net, s.w->link, true);
	s.a->addr = simnet_v4(200);
	sctp_endpoint_readdress(s.a->ep, s.w->now);
	assert_false(s.f->a->path->primary);
	s.a->addr = first;
	simnet_cut(s.w->net, s.w->link, false);
	sctp_endpoint_readdress(s.a->ep, s.w->now);
	run(s.w, 4 * SEC, NULL);
	assert_true(s.f->a->path->primary);
	end_busy(&s);
}

/* All links go, and come back before the peer fails: nothing is lost. */
static void test_all_gone(void **state)
{
	struct scene s;

	begin_busy(&s, 1);
	for (unsigned int i = 0; i < 5; i++) {
		simnet_cut(s.w->net, s.w->link, true);
		simnet_cut(s.w->net, s.second, true);
		s.a->first_gone = s.a->second_gone = true;
		sctp_endpoint_readdress(s.a->ep, s.w->now);
		run(s.w, 12 * SEC, NULL);
		simnet_cut(s.w->net, s.second, false);
		s.a->second_gone = false;
		sctp_endpoint_readdress(s.a->ep, s.w->now);
		run(s.w, 5 * SEC, NULL);
		assert_false(s.f->a->path->primary);
		simnet_cut(s.w->net, s.w->link, false);
		s.a->first_gone = false;
		sctp_endpoint_readdress(s.a->ep, s.w->now);
		run(s.w, 70 * SEC, NULL);
		assert_true(s.f->a->path->primary);
	}
	end_busy(&s);
}

/* A link that fails repeatedly is left unused for ever longer times. */
static void test_hold(void **state)
{
	struct scene s;
	unsigned int changes = 0, i;
	bool primary = true;

	begin_busy(&s, 1);
	/*
	 * For two minutes, the link works for 1.2 s of each 2.4 s. HEARTBEATs have intervals of
	 * whole seconds: with a period of 2 s, all of them might be lost.
	 */
	for (i = 0; i < 1200; i++) {
		simnet_cut(s.w->net, s.w->link, i / 12 % 2);
		run(s.w, 100 * MSEC, NULL);
		changes += s.f->a->path->primary != primary;
		primary = s.f->a->path->primary;
	}
	assert_in_range(changes, 8, 24);
	simnet_cut(s.w->net, s.w->link, false);
	end_busy(&s);
}

/* Links come and go, one at a time, with loss on the other. */
static void test_changing(void **state)
{
	uint64_t seed;

	for (seed = sim_first(); seed <= sim_last(60); seed++) {
		struct scene s;
		uint64_t limit;

		begin(&s, seed, 300, 300);
		slow(s.w->link);
		slow(s.second);
		s.w->link[0].rate = s.w->link[1].rate = s.second[0].rate = s.second[1].rate =
			100000;
		limit = s.w->now + 600 * SEC;
		while (!all_sent(s.w)) {
			uint64_t next = s.w->now + sim_random_below(&s.w->random, 5000) * MSEC;
			bool first = sim_random_below(&s.w->random, 2);

			while (!all_sent(s.w) && step(s.w, next))
				;
			if (!all_sent(s.w))
				s.w->now = next;
			if (s.w->now > limit)
				fail_msg("seed %llu: not done", (unsigned long long)seed);
			simnet_cut(s.w->net, s.w->link, first);
			simnet_cut(s.w->net, s.second, !first);
			simnet_faults(s.w->net, first ? s.second : s.w->link,
				      "packets: drop, probability 0.0%u",
				      sim_random_below(&s.w->random, 10));
		}
		simnet_cut(s.w->net, s.w->link, false);
		simnet_cut(s.w->net, s.second, false);
		finish(&s);
	}
}

/*
 * A program names both pairs of addresses, one after the other. Before both are known to lead to
 * one host, it gets two associations. Later the second connect fails. The first association
 * survives in any case.
 */
static void test_second_pair(void **state)
{
	unsigned int two = 0, one = 0;
	uint64_t seed;

	for (seed = sim_first(); seed <= sim_last(100); seed++) {
		struct path_addr to;
		struct flow *second;
		struct scene s;

		begin(&s, seed, 20, 20);
		if (sim_random_below(&s.w->random, 4))
			run(s.w, sim_random_below(&s.w->random, 3000) * MSEC, NULL);
		to = path_to(s.a, s.b);
		to.local = s.a->second_addr;
		to.remote = s.b->second_addr;
		second = flow_new(s.a, 20);
		second->a = sctp_connect(s.a->ep, &to, s.b->port, s.a->mtu, second, s.w->now);
		if (!second->a) {
			assert_true(sctp_assoc_has_address(s.f->a, &to.remote));
			s.a->flow_count--;
			one++;
		} else {
			two++;
		}
		s.f->to_send += 20;
		sctp_assoc_doorbell(s.f->a);
		if (!run(s.w, 60 * SEC, all_sent))
			fail_msg("seed %llu: not done", (unsigned long long)seed);
		assert_int_equal(s.g->received, 40);
		assert_int_equal(s.b->flow_count, s.a->flow_count);
		assert_int_equal(s.f->restarts + s.g->restarts, 0);
		world_free(s.w);
	}
	assert_true(sim_seeds_tried(100) < 10 || (one && two));
}

/*
 * Both hosts have an address that a third host also has. The third host answers that it has no such
 * association.
 */
static void test_address_of_another(void **state)
{
	struct scene s;
	struct host *c;

	join(&s, 1);
	c = host_new(s.w, s.b->port);
	s.b->second_addr = c->addr; /* b announces it */
	s.b->reply = 100;
	s.f = connect_to(s.a, s.b, 100);
	wait_up(&s);
	run(s.w, 30 * SEC, NULL);
	assert_non_null(s.f->a);
	assert_false(sctp_assoc_has_address(s.f->a, &c->addr));
	assert_in_range(c->packets_out, 1, 12); /* at most six HEARTBEATs from each */
	/* Changes of local links cause no more packets to that uninvolved host. */
	for (unsigned int i = 0; i < 50; i++) {
		sctp_endpoint_readdress(s.a->ep, s.w->now);
		run(s.w, 100 * MSEC, NULL);
	}
	assert_in_range(c->packets_out, 1, 12);
	finish(&s);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_known),
		cmocka_unit_test(test_learnt),
		cmocka_unit_test(test_hold),
		cmocka_unit_test(test_changing),
		cmocka_unit_test(test_second_pair),
		cmocka_unit_test(test_address_of_another),
		cmocka_unit_test(test_renumbered),
		cmocka_unit_test(test_all_gone),
	};

	sim_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
