/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* QPs connected out of band, from both sides, on bad networks. */
#include "sim/scene.h"

/*
 * Makes nodes whose works are connected out of band, on links with loss, reordering and duplicates.
 */
static void bad_nodes(struct stack_world *w)
{
	scene_two_nodes(w);
	w->oob = 1;
	w->limit_ops = 6;
	scene_bad_links(w);
}

/* Makes n works, whose sides connect at random times of the next `spread` ms. */
static void begin(struct stack_world *w, unsigned int n, uint32_t spread)
{
	unsigned int i = w->n_works;

	scene_works(w, n);
	for (; i < w->n_works; i++)
		for (int j = 0; j < 2; j++)
			w->works[i]->side[j].link.at = w->now + some_ms(w, 0, spread);
}

/* One side may be in RTR long before the other: its Initiate is kept, or repeated. */
static void both_sides(struct stack_world *w)
{
	bad_nodes(w);
	scene_start(w);
	begin(w, 1 + below(w, 20), chance(w, 0.5) ? 30 : 20000);
	scene_connected(w);
	scene_finish(w, 120 * SEC);
}

/* QPs of one process. Some are connected to themselves, or to a peer. */
static void one_process(struct stack_world *w)
{
	bad_nodes(w);
	scene_start(w);
	for (unsigned int n = 1 + below(w, 6); n; n--) {
		struct stack_work *work = stack_work_new(w->nodes[0], w->nodes[0]);

		stack_plan(work, w->limit_ops);
		for (int j = 0; j < 2; j++)
			work->side[j].link.at = w->now + some_ms(w, 0, 1000);
	}
	for (unsigned int n = 1 + below(w, 3); n; n--)
		stack_plan(stack_self_new(w->nodes[below(w, 2)]), w->limit_ops);
	begin(w, below(w, 4), 1000);
	scene_connected(w);
	scene_finish(w, 120 * SEC);
}

/*
 * Completed pairs are torn down by one side or both, reset, and connected again with the same
 * numbers. The other side may still be in its old session when the new Initiate arrives.
 */
static void again(struct stack_world *w)
{
	bad_nodes(w);
	scene_start(w);
	begin(w, 1 + below(w, 4), 100);
	for (int round = 0; round < 4; round++) {
		scene_connected(w);
		stack_run(w, 240 * SEC, stack_all_done);
		scene_check_works(w);
		for (unsigned int i = 0; i < w->n_works; i++) {
			uint64_t pause[2] = { some_ms(w, 0, 300), some_ms(w, 0, 300) };

			stack_oob_again(w->works[i], pause);
			w->seen++;
		}
	}
	scene_finish(w, 1000 * SEC);
}

/* A QP is torn down before its peer has found it, and connected again. */
static void destroyed_early(struct stack_world *w)
{
	bad_nodes(w);
	scene_start(w);
	begin(w, 2 + below(w, 6), 200);
	for (int n = 0; n < 20; n++) {
		struct stack_work *work = w->works[below(w, w->n_works)];
		uint64_t pause[2] = { some_ms(w, 0, 300), some_ms(w, 0, 300) };

		stack_run_for(w, some_ms(w, 0, 60));
		if (stack_work_done(work))
			continue;
		work->breaks = true;
		stack_oob_again(work, pause);
		w->seen++;
	}
	for (int round = 0; !scene_done_within(w, 10 * SEC); round++) {
		check(round < 100);
		for (unsigned int i = 0; i < w->n_works; i++) {
			struct stack_work *work = w->works[i];
			uint64_t pause[2] = { some_ms(w, 0, 300), some_ms(w, 0, 300) };

			if (work->breaks && !stack_work_done(work))
				stack_oob_again(work, pause);
		}
	}
	scene_check_works(w);
}

/*
 * The peer's process is killed. Another process at the same place uses the same numbers, while old
 * QPs still name them. Requests to the former peer fail in bounded time.
 */
static void peer_restarts(struct stack_world *w)
{
	struct stack_node *b;
	unsigned int old;

	bad_nodes(w);
	scene_give_up_early(w);
	scene_start(w);
	b = w->nodes[1];
	begin(w, 1 + below(w, 8), 1 + below(w, 400));
	stack_run_for(w, some_ms(w, 0, 600));
	w->seen += !stack_all_done(w);
	scene_all_may_end(w);
	old = w->n_works;
	stack_node_kill(b);
	if (chance(w, 0.3))
		simnet_set_state(w->net, b->id, SIMNET_GONE);
	stack_run_for(w, chance(w, 0.5) ? 0 : some_ms(w, 0, 5000));
	simnet_set_state(w->net, b->id, SIMNET_UP);
	stack_node_start(b);
	begin(w, 1 + below(w, 6), 300);
	stack_run(w, 1000 * SEC, stack_works_over);
	scene_finish(w, 1000 * SEC);
	for (unsigned int i = 0; i < old; i++)
		check(stack_work_over(w->works[i]));
}

/*
 * QPs that name a QP of the peer which names another QP. They affect no other QP, and never
 * connect.
 */
static void strangers(struct stack_world *w)
{
	struct stack_work *work;

	bad_nodes(w);
	scene_start(w);
	begin(w, 1 + below(w, 6), 500);
	for (unsigned int n = w->n_works; n; n--) {
		const struct stack_side *victim = &w->works[n - 1]->side[below(w, 2)];

		work = stack_work_new(stack_peer(victim)->node, victim->node);
		stack_plan(work, w->limit_ops);
		work->ends = true;
		work->side[0].names = victim;
		work->side[0].link.at = w->now + some_ms(w, 0, 500);
		work->side[1].link.at = TIME_NEVER;
	}
	stack_run(w, 1000 * SEC, stack_all_done);
	scene_check_works(w);
	stack_run_for(w, 5 * SEC);
	for (unsigned int i = 0; i < w->n_works; i++) {
		work = w->works[i];
		if (!work->ends)
			continue;
		check(!work->side[0].up && !work->side[0].completed);
		stack_side_close(&work->side[0]);
		stack_side_close(&work->side[1]);
		w->seen++;
	}
	stack_run(w, 10 * SEC, stack_works_over);
}

/* Connections out of band and by RDMA CM at once, in both directions: INITs and Initiates cross. */
static void crossing(struct stack_world *w)
{
	bad_nodes(w);
	w->oob = 0.6;
	w->one_assoc = true;
	w->link[1].delay = w->link[0].delay = some_ms(w, 1, 50);
	scene_start(w);
	for (int round = 0; round < 3; round++) {
		begin(w, 2 + below(w, 6), 1 + below(w, 100));
		stack_run_for(w, some_ms(w, 0, 500));
	}
	scene_connected(w);
	scene_finish(w, 240 * SEC);
}

const struct scene scenes_oob[] = {
	{ "oob-both-sides", both_sides, 40, true, .small = true },
	{ "oob-one-process", one_process, 40, true, .small = true },
	{ "oob-again", again, 40, .small = true },
	{ "oob-destroyed-early", destroyed_early, 40, .small = true },
	{ "oob-restart", peer_restarts, 60, .small = true },
	{ "oob-strangers", strangers, 40, .small = true },
	{ "oob-crossing", crossing, 60, true, .small = true },
	{ 0 },
};
