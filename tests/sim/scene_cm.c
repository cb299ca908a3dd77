/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connections by RDMA CM ids on bad networks. stack_connect.c checks the events of each
 * application: their order, statuses, private data byte for byte, and that no event names a
 * destroyed id.
 */
#include "sim/scene.h"

static void few_ops(struct stack_world *w)
{
	scene_two_nodes(w);
	w->limit_ops = 5;
	scene_bad_links(w);
}

/* Makes n works, which begin at random times of the next `spread` ms. */
static void begin(struct stack_world *w, unsigned int n, uint32_t spread)
{
	unsigned int before = w->n_works;

	scene_works(w, n);
	for (unsigned int i = before; i < w->n_works; i++)
		w->works[i]->side[0].link.at = w->now + some_ms(w, 0, spread);
}

static void all_ends(struct stack_world *w)
{
	scene_all_may_end(w);
	for (unsigned int i = 0; i < w->n_works; i++) {
		struct stack_side *s = &w->works[i]->side[below(w, 2)];

		if (s->node)
			stack_side_close(s);
	}
}

static bool no_assocs(struct stack_world *w)
{
	return !stack_assocs(w->nodes[0], NULL) && !stack_assocs(w->nodes[1], NULL);
}

/* Closes everything. Both sides must see the end, and no association may remain. */
static void close_all(struct stack_world *w)
{
	all_ends(w);
	stack_run(w, 60 * SEC, stack_works_over);
	scene_check_works(w);
	stack_run(w, 120 * SEC, no_assocs);
}

/* Many ids connect at once, in both directions. */
static void connect_many(struct stack_world *w)
{
	few_ops(w);
	scene_start(w);
	begin(w, 5 + below(w, 30), 1 + below(w, 300));
	scene_connected(w);
	scene_finish(w, 120 * SEC);
	close_all(w);
}

/*
 * Some works are rejected, with private data, which must reach the other side. Other works are not
 * affected.
 */
static void reject_some(struct stack_world *w)
{
	unsigned int rejected = 0;

	few_ops(w);
	scene_start(w);
	begin(w, 3 + below(w, 12), 200);
	for (unsigned int i = 0; i < w->n_works; i++) {
		if (!chance(w, 0.5))
			continue;
		w->works[i]->reject = w->works[i]->ends = true;
		rejected++;
	}
	stack_run(w, 1000 * SEC, stack_works_over);
	scene_finish(w, 1000 * SEC);
	for (unsigned int i = 0; i < w->n_works; i++) {
		const struct stack_side *s = w->works[i]->side;

		if (!w->works[i]->reject)
			continue;
		check(s[0].closed && s[0].link.failure && !s[0].up && !s[1].up);
		w->seen += s[0].link.failure == CM_EVENT_REJECTED;
	}
	w->seen += rejected;
	close_all(w);
}

/* Returns the number of sides 0 whose connection failed, and that wait to try again. */
static unsigned int refused(const struct stack_world *w)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < w->n_works; i++)
		n += w->works[i]->side[0].link.phase == STACK_FAILED;
	return n;
}

/* The application does not read its events: at most `backlog` requests wait. */
static void backlog(struct stack_world *w)
{
	struct stack_node *b;
	unsigned int n;

	few_ops(w);
	b = w->nodes[1];
	b->refuses = true;
	b->backlog = 1 + below(w, 6);
	scene_start(w);
	b->deaf = true;
	n = b->backlog + 1 + below(w, 10);
	for (unsigned int i = 0; i < n; i++)
		stack_plan(stack_work_new(w->nodes[0], b), w->limit_ops);
	for (int i = 0; i < 200 && !refused(w); i++) {
		stack_run_for(w, 100 * MSEC);
		check(b->chan.n <= b->backlog);
	}
	w->seen += refused(w) > 0 && b->chan.n == b->backlog;
	stack_run_for(w, some_ms(w, 0, 3000));
	check(b->chan.n <= b->backlog);
	if (chance(w, 0.3)) {
		/* With a request at the peer, the answer may take 30 s. */
		stack_run_for(w, 60 * SEC);
		for (unsigned int i = 0; i < w->n_works; i++)
			check(w->works[i]->attempt || w->works[i]->retry_at);
	}
	b->deaf = false;
	scene_finish(w, 1000 * SEC);
	close_all(w);
}

/* The listener is destroyed while requests wait for it, and comes back. */
static void unlisten(struct stack_world *w)
{
	struct stack_node *b;
	uint32_t pos = 0;

	few_ops(w);
	b = w->nodes[1];
	b->refuses = true;
	scene_start(w);
	b->deaf = true;
	for (unsigned int n = 2 + below(w, 8); n; n--)
		stack_plan(stack_work_new(w->nodes[0], b), w->limit_ops);
	stack_run_for(w, some_ms(w, 0, 400));
	w->seen += b->chan.n > 0;
	stack_unlisten(b);
	/* This destroys the ids of the requests, and their events. */
	check(!b->chan.n && !cm_id_next(&b->conn, &pos));
	b->deaf = false;
	stack_run_for(w, some_ms(w, 0, 2000));
	for (unsigned int i = 0; i < w->n_works; i++)
		check(!w->works[i]->side[1].up);
	if (chance(w, 0.5)) {
		/* The peers get the answer long before their own limit, 30 s. */
		simnet_cut(w->net, w->link, false);
		scene_disorder(w);
		stack_run_for(w, 25 * SEC);
		for (unsigned int k = 0; k < w->n_works; k++)
			check(w->works[k]->attempt || w->works[k]->retry_at);
	}
	stack_listen(b);
	scene_finish(w, 1000 * SEC);
	close_all(w);
}

/*
 * The listener is destroyed while a connection keeps its port, and another listener follows within
 * a second. Earlier connects are not refused: requests wait, and INITs are repeated.
 */
static void listen_again(struct stack_world *w)
{
	struct stack_node *b;

	few_ops(w);
	scene_start(w);
	b = w->nodes[1];
	stack_plan(stack_work_new(w->nodes[0], b), w->limit_ops);
	scene_connected(w);
	stack_unlisten(b);
	for (unsigned int n = 1 + below(w, 8); n; n--) {
		struct stack_work *work = stack_work_new(w->nodes[0], b);

		stack_plan(work, w->limit_ops);
		work->side[0].link.at = w->now + some_ms(w, 0, 900);
	}
	stack_run_for(w, some_ms(w, 0, 990));
	w->seen += b->conn.cm.n_early > 0;
	stack_listen(b);
	scene_connected(w);
	for (unsigned int i = 0; i < w->n_works; i++)
		check(!w->works[i]->attempt);
	scene_finish(w, 1000 * SEC);
	close_all(w);
}

/* Ids are destroyed while they connect, and others take their place. */
static void destroy(struct stack_world *w)
{
	few_ops(w);
	scene_start(w);
	begin(w, 2 + below(w, 8), 50);
	for (int n = 0; n < 20; n++) {
		struct stack_work *work = w->works[below(w, w->n_works)];
		struct stack_side *s = &work->side[chance(w, 0.3)];

		stack_run_for(w, some_ms(w, 0, 60));
		if (work->retry_at || (work->side[0].up && work->side[1].up))
			continue;
		w->seen += s->link.id != 0;
		stack_side_destroy_id(s);
		stack_work_again(work, some_ms(w, 0, 100));
	}
	scene_connected(w);
	scene_finish(w, 120 * SEC);
	close_all(w);
}

/*
 * Both sides connect to each other from their listening ports, so that INITs and Initiates cross.
 */
static void crossing(struct stack_world *w)
{
	few_ops(w);
	w->one_assoc = true;
	w->link[1].delay = w->link[0].delay = some_ms(w, 1, 50);
	scene_start(w);
	for (int round = 0; round < 3; round++) {
		begin(w, 2 + below(w, 6), 1 + below(w, 100));
		scene_connected(w);
		w->seen += stack_assocs(w->nodes[0], NULL) == 1;
		if (chance(w, 0.5)) {
			stack_run(w, 120 * SEC, stack_all_done);
			all_ends(w);
		}
	}
	scene_finish(w, 120 * SEC);
	close_all(w);
}

/* Both sides disconnect at about the same time. Each gets exactly one event. */
static void disconnect_both(struct stack_world *w)
{
	unsigned int i;

	few_ops(w);
	scene_start(w);
	begin(w, 1 + below(w, 10), 50);
	scene_connected(w);
	scene_done_within(w, some_ms(w, 0, 500));
	scene_all_may_end(w);
	for (i = 0; i < w->n_works; i++) {
		unsigned int which = below(w, 2);

		stack_side_close(&w->works[i]->side[which]);
		stack_run_for(w, some_ms(w, 0, 1 + (uint32_t)(2 * w->link[0].delay / MSEC)));
		w->seen += !w->works[i]->side[!which].closed;
		stack_side_close(&w->works[i]->side[!which]);
	}
	stack_run(w, 60 * SEC, stack_works_over);
	stack_run_for(w, SEC);
	for (i = 0; i < 2 * w->n_works; i++) {
		const struct stack_link *l = &w->works[i / 2]->side[i % 2].link;

		check(l->phase == STACK_DISCONNECTED);
		check(l->n_heard == (i % 2 ? 2 : 4));
	}
	scene_check_works(w);
	stack_run(w, 120 * SEC, no_assocs);
}

/* Idle associations are shut down, by either side, while another connection begins. */
static void idle(struct stack_world *w)
{
	few_ops(w);
	scene_start(w);
	for (int round = 0; round < 6; round++) {
		begin(w, 1 + below(w, 2), 20);
		scene_connected(w);
		stack_run(w, 120 * SEC, stack_all_done);
		all_ends(w);
		stack_run(w, 60 * SEC, stack_works_over);
		/* The initiator waits 2 s, the other side 3 s. */
		stack_run_for(w, (1 + below(w, 3)) * SEC / 2 + (1 + below(w, 2)) * SEC / 2 +
					 some_ms(w, 900, 1150));
		w->seen += stack_assocs(w->nodes[0], NULL) &&
			   stack_assoc_of(w->nodes[0], NULL)->closing;
	}
	close_all(w);
}

/*
 * The peer's process ends, by exit() or SIGKILL, during sessions, connects and Initiates. Another
 * process starts at the same address and ports. Old connections end, and new ones work.
 */
static void restart(struct stack_world *w)
{
	struct stack_node *b;
	unsigned int old;

	few_ops(w);
	scene_give_up_early(w);
	scene_start(w);
	b = w->nodes[1];
	begin(w, 3 + below(w, 8), 1 + below(w, 400));
	if (chance(w, 0.3))
		scene_slow(w, 500000);
	stack_run_for(w, some_ms(w, 0, 500));
	w->seen += !stack_all_done(w);
	scene_all_may_end(w);
	old = w->n_works;
	if (chance(w, 0.3))
		stack_node_exit(b);
	else
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
	close_all(w);
}

/*
 * The peer's process is killed, and its host reports this: sessions end long before the silent
 * limit.
 */
static void killed(struct stack_world *w)
{
	few_ops(w);
	scene_start(w);
	begin(w, 1 + below(w, 8), 100);
	scene_connected(w);
	stack_run_for(w, some_ms(w, 0, 500));
	scene_all_may_end(w);
	stack_node_kill(w->nodes[1]);
	simnet_set_state(w->net, w->nodes[1]->id, SIMNET_GONE);
	stack_run(w, 10 * SEC, stack_works_over);
	scene_check_works(w);
	w->seen++;
}

/* A carrier sets up links to peers, and again if the peer has a new process. */
static void carrier_links(struct stack_world *w)
{
	struct stack_node *b;

	few_ops(w);
	w->oob = 0.3;
	scene_give_up_early(w);
	w->nodes[0]->net.links = w->nodes[1]->net.links = true;
	scene_start(w);
	b = w->nodes[1];
	begin(w, 1 + below(w, 6), 200);
	scene_connected(w);
	scene_finish(w, 120 * SEC);
	if (chance(w, 0.5)) {
		scene_all_may_end(w);
		stack_node_kill(b);
		stack_node_start(b);
		w->oob = 0;
		begin(w, 1 + below(w, 4), 100);
		stack_run(w, 1000 * SEC, stack_works_over);
		scene_finish(w, 1000 * SEC);
		w->seen++;
	}
	close_all(w);
}

const struct scene scenes_cm[] = {
	{ "cm-connect-many", connect_many, 40, true, .small = true },
	{ "cm-reject", reject_some, 40, .small = true },
	{ "cm-backlog", backlog, 40, .small = true },
	{ "cm-unlisten", unlisten, 40, .small = true },
	{ "cm-listen-again", listen_again, 40, .small = true },
	{ "cm-destroy", destroy, 40, .small = true },
	{ "cm-crossing", crossing, 60, .small = true },
	{ "cm-disconnect-both", disconnect_both, 40, .small = true },
	{ "cm-idle", idle, 40, .small = true },
	{ "cm-restart", restart, 80, .small = true },
	{ "cm-killed", killed, 40, .small = true },
	{ "carrier-links", carrier_links, 40, .small = true },
	{ 0 },
};
