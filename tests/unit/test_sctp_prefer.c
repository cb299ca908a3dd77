/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: sctp */
/*
 * The path in use of an association, usable paths, and the selection of another path by the user.
 */
#include "fixture/sctp_sim.h"

struct scene {
	struct world *w;
	struct host *a, *b;
	struct simnet_link second[2];
	struct flow *f;
	struct path_addr first_path, second_path;
};

static void begin(struct scene *s)
{
	memset(s, 0, sizeof(*s));
	s->w = world_new(1, &s->a, &s->b);
	s->second[0].delay = s->second[1].delay = 50000;
	hosts_join_again(s->a, s->b, 77, s->second);
	s->f = connect_to(s->a, s->b, 20);
	assert_true(run(s->w, 10 * SEC, all_sent));
	run(s->w, 10 * SEC, NULL); /* the second path is probed */
	s->first_path = (struct path_addr){ .local = s->a->addr, .remote = s->b->addr };
	s->second_path =
		(struct path_addr){ .local = s->a->second_addr, .remote = s->b->second_addr };
}

static void send_more(struct scene *s)
{
	s->f->to_send += 20;
	sctp_assoc_doorbell(s->f->a);
	assert_true(run(s->w, 60 * SEC, all_sent));
}

static void expect(struct scene *s, enum sctp_path_use first, enum sctp_path_use second)
{
	assert_int_equal(sctp_assoc_path_use(s->f->a, &s->first_path), first);
	assert_int_equal(sctp_assoc_path_use(s->f->a, &s->second_path), second);
}

static void test_use(void **state)
{
	struct path_addr crossed;
	struct scene s;

	begin(&s);
	expect(&s, SCTP_PATH_IN_USE, SCTP_PATH_STANDBY);
	crossed = (struct path_addr){ .local = s.a->addr, .remote = s.b->second_addr };
	assert_int_equal(sctp_assoc_path_use(s.f->a, &crossed), SCTP_PATH_NONE);
	simnet_cut(s.w->net, s.second, true);
	run(s.w, 60 * SEC, NULL); /* HEARTBEATs are lost */
	expect(&s, SCTP_PATH_IN_USE, SCTP_PATH_NONE);
	assert_int_equal(s.f->moved, 0);
	world_free(s.w);
}

/* A path that failed is used again once it answers, unless the user has preferred another path. */
static void test_stays(void **state)
{
	for (int prefer = 0; prefer < 2; prefer++) {
		struct scene s;

		begin(&s);
		simnet_cut(s.w->net, s.w->link, true);
		send_more(&s);
		expect(&s, SCTP_PATH_NONE, SCTP_PATH_IN_USE);
		assert_int_equal(s.f->moved, 1);
		if (prefer)
			sctp_assoc_prefer(s.f->a, &s.second_path, s.w->now);
		simnet_cut(s.w->net, s.w->link, false);
		run(s.w, 120 * SEC, NULL);
		send_more(&s);
		assert_int_equal(s.f->moved, prefer ? 1 : 2);
		if (prefer)
			expect(&s, SCTP_PATH_STANDBY, SCTP_PATH_IN_USE);
		else
			expect(&s, SCTP_PATH_IN_USE, SCTP_PATH_STANDBY);
		world_free(s.w);
	}
}

static void test_chosen(void **state)
{
	struct path_addr nowhere = { 0 };
	struct scene s;

	begin(&s);
	sctp_assoc_prefer(s.f->a, &nowhere, s.w->now);
	expect(&s, SCTP_PATH_IN_USE, SCTP_PATH_STANDBY);
	sctp_assoc_prefer(s.f->a, &s.second_path, s.w->now);
	expect(&s, SCTP_PATH_STANDBY, SCTP_PATH_IN_USE);
	events(s.a);
	assert_int_equal(s.f->moved, 1);
	send_more(&s);
	expect(&s, SCTP_PATH_STANDBY, SCTP_PATH_IN_USE);
	world_free(s.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_use),
		cmocka_unit_test(test_stays),
		cmocka_unit_test(test_chosen),
	};

	return cmocka_run_group_tests_name("sctp_prefer", tests, NULL, NULL);
}
