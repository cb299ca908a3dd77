/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * XRC: messages of several XRC_SENDs name SRQs, which the XRC_RECVs of the other node share. RC
 * connections run at the same time.
 */
#include "sim/scene.h"

static void begin(struct stack_world *w, double oob)
{
	w->xrc = 0.7;
	w->oob = oob;
	scene_two_nodes(w);
	for (int i = 0; i < 2; i++) {
		/* Each SRQ has at least one receive, but often few for its users. */
		w->nodes[i]->srq_slots = STACK_XRC_SRQS + below(w, chance(w, 0.5) ? 4 : 30);
		w->nodes[i]->receipts = true; /* SRQ numbers need receipts */
	}
	scene_start(w);
}

static void check_receives(struct stack_world *w)
{
	stack_run_for(w, MSEC); /* flushed receives are polled and posted again */
	for (int i = 0; i < 2; i++)
		if (w->nodes[i]->xrcd)
			stack_srq_check(w->nodes[i]);
}

/*
 * A bad network. Sometimes a connection ends in the middle. The others get all of their messages.
 */
static void xrc(struct stack_world *w)
{
	unsigned int ending = below(w, 3);

	begin(w, ending ? 0 : below(w, 2) * 0.5);
	for (int i = 0; i < 2; i++)
		scene_some_link(w, &w->link[i]);
	scene_works(w, ending + 2 + below(w, 5));
	scene_connected(w);
	for (unsigned int i = 0; i < ending; i++) {
		stack_run_for(w, some_ms(w, 0, 300));
		stack_side_close(&w->works[i]->side[below(w, 2)]);
	}
	stack_run(w, 600 * SEC, stack_works_over);
	scene_finish(w, 600 * SEC);
	check_receives(w);
}

/* A process is killed, and restarts with another domain and other SRQs of the same numbers. */
static void restart(struct stack_world *w)
{
	struct stack_node *b;
	unsigned int old;

	begin(w, 0);
	scene_works(w, 2 + below(w, 4));
	scene_some_loss(w);
	b = w->nodes[1];
	scene_connected(w);
	if (chance(w, 0.7))
		scene_slow(w, 500000);
	w->seen += !scene_done_within(w, some_ms(w, 0, 300));
	scene_all_may_end(w);
	old = w->n_works;
	stack_node_kill(b);
	stack_run_for(w, chance(w, 0.5) ? 0 : some_ms(w, 0, 3000));
	stack_node_start(b);
	scene_works(w, 1 + below(w, 4));
	stack_run(w, 1000 * SEC, stack_works_over); /* INITs may wait a minute */
	scene_finish(w, 1000 * SEC);
	for (unsigned int i = 0; i < old; i++)
		check(stack_work_over(w->works[i]));
	check_receives(w);
}

const struct scene scenes_xrc[] = {
	{ "xrc", xrc, 40, .small = true },
	{ "xrc-restart", restart, 30, .small = true },
	{ 0 },
};
