/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * Two hosts with two links, one of which is dead at the setup of an association. Knowledge of
 * earlier associations helps, and the dead link is found once it works.
 */
#include "fixture/sctp_sim.h"

struct scene {
	struct world *w;
	struct host *a, *b;
	struct simnet_link second[2];
};

static void begin(struct scene *s, uint64_t seed)
{
	memset(s, 0, sizeof(*s));
	s->w = world_new(seed, &s->a, &s->b);
	s->second[0].delay = s->second[1].delay = 50000;
	hosts_join_again(s->a, s->b, 77, s->second);
}

/* Runs an association that confirms both links on both hosts, and ends. */
static void get_acquainted(struct scene *s)
{
	struct flow *f = connect_to(s->a, s->b, 5);

	s->b->reply = 5;
	assert_true(run(s->w, 10 * SEC, all_sent));
	run(s->w, 3 * SEC, NULL);
	assert_int_equal(s->b->flow_count, 1);
	sctp_assoc_shutdown(f->a, s->w->now);
	assert_true(run(s->w, 10 * SEC, all_ended));
}

static bool second_up(struct world *w)
{
	const struct host *a = w->hosts[0], *b = w->hosts[1];

	return a->flows[a->flow_count - 1].up && b->flows[b->flow_count - 1].up;
}

static void finish(struct scene *s)
{
	assert_true(run(s->w, 60 * SEC, all_sent));
	for (unsigned int h = 0; h < 2; h++)
		for (unsigned int i = 0; i < s->w->hosts[h]->flow_count; i++)
			assert_int_equal(s->w->hosts[h]->flows[i].restarts, 0);
	world_free(s->w);
}

static bool all_sent_but_closed(struct world *w)
{
	for (unsigned int h = 0; h < 2; h++)
		for (unsigned int i = 0; i < w->hosts[h]->flow_count; i++) {
			const struct flow *f = &w->hosts[h]->flows[i];

			assert_int_equal(f->error, 0);
			if (!f->closed &&
			    (!f->up || f->sent < f->to_send || !sctp_assoc_is_drained(f->a)))
				return false;
		}
	return true;
}

/*
 * The first link has died since, and the user names the first address. Within T1, the INIT is sent
 * by the second link.
 */
static void test_dead_link(void **state)
{
	struct scene s;
	struct flow *f;
	uint64_t since;

	for (int told = 0; told < 2; told++) {
		begin(&s, 1 + told);
		get_acquainted(&s);
		simnet_cut(s.w->net, s.w->link, true);
		s.a->first_gone = told;
		f = connect_to(s.a, s.b, 20);
		since = s.w->now;
		assert_true(run(s.w, 3 * SEC, second_up));
		assert_true(s.w->now - since < (told ? 10 * MSEC : SEC + 10 * MSEC));
		assert_true(run(s.w, 5 * SEC, all_sent_but_closed));
		assert_true(ip_addr_equal(&sctp_assoc_addr(f->a)->remote, &s.b->second_addr));
		assert_true(sctp_assoc_has_address(f->a, &s.b->addr));
		/* The other side has set up the same pair. */
		assert_true(sctp_assoc_is_between(
			s.b->flows[1].a, &(struct path_addr){ .local = s.b->second_addr,
							      .remote = s.a->second_addr }));
		/* However long the first link is dead, its address names this association. */
		run(s.w, 120 * SEC, NULL);
		assert_true(sctp_assoc_has_address(f->a, &s.b->addr));
		/* The first link comes back, and is used when the second one dies. */
		s.a->first_gone = false;
		simnet_cut(s.w->net, s.w->link, false);
		run(s.w, 5 * SEC, NULL);
		simnet_cut(s.w->net, s.second, true);
		f->to_send += 20;
		sctp_assoc_doorbell(f->a);
		assert_true(run(s.w, 5 * SEC, all_sent_but_closed));
		world_free(s.w);
	}
}

/*
 * Both sides connect after the first link has died, at any times: the result is one association,
 * and nothing is lost.
 */
static void test_both(void **state)
{
	uint64_t seed;

	for (seed = sim_first(); seed <= sim_last(300); seed++) {
		struct flow *f, *g;
		struct scene s;

		begin(&s, seed);
		get_acquainted(&s);
		simnet_cut(s.w->net, s.w->link, true);
		simnet_faults_both(s.w->net, s.second, "packets: drop, probability %.2f",
				   sim_random_below(&s.w->random, 3) / 20.0);
		s.a->reply = s.b->reply = 20;
		f = connect_to(s.a, s.b, 20);
		run(s.w,
		    sim_random_below(&s.w->random, 4) * sim_random_below(&s.w->random, 500) * MSEC,
		    NULL);
		g = s.b->flow_count == 1 ? connect_to(s.b, s.a, 20) : &s.b->flows[1];
		if (!run(s.w, 60 * SEC, all_sent_but_closed))
			fail_msg("seed %llu: not done", (unsigned long long)seed);
		assert_int_equal(s.a->flow_count, 2);
		assert_int_equal(s.b->flow_count, 2);
		assert_int_equal(f->received, 20);
		assert_int_equal(g->received, 20);
		assert_int_equal(f->restarts + g->restarts, 0);
		world_free(s.w);
	}
}

/* A link that is dead at the setup of the first association is found soon after its return. */
static void test_late_link(void **state)
{
	for (unsigned int dead = 1; dead < 100; dead *= 3) {
		struct scene s;
		struct flow *f;

		begin(&s, dead);
		simnet_cut(s.w->net, s.second, true);
		f = connect_to(s.a, s.b, 5);
		run(s.w, dead * SEC, NULL);
		assert_false(sctp_assoc_has_address(f->a, &s.b->second_addr));
		simnet_cut(s.w->net, s.second, false);
		run(s.w, (dead + 2) * SEC, NULL);
		assert_true(sctp_assoc_has_address(f->a, &s.b->second_addr));
		simnet_cut(s.w->net, s.w->link, true);
		f->to_send += 20;
		sctp_assoc_doorbell(f->a);
		finish(&s);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dead_link),
		cmocka_unit_test(test_both),
		cmocka_unit_test(test_late_link),
	};

	sim_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
