/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The ends of sessions, of associations, of processes, and of the number spaces. */
#include "sim/scene.h"

static bool all_assocs_over(struct stack_world *w)
{
	for (unsigned int i = 0; i < w->n_nodes; i++)
		if (stack_assocs(w->nodes[i], NULL))
			return false;
	return true;
}

/* At the same moment, or while the other side's Terminate or SHUTDOWN is in transit. */
static void close_both(struct stack_world *w)
{
	scene_usual(w);
	scene_some_loss(w);
	scene_slow(w, 500000 + below(w, 5000000));
	scene_connected(w);
	w->seen += !scene_done_within(w, some_ms(w, 0, 500));
	for (unsigned int i = 0; i < w->n_works; i++) {
		stack_side_close(&w->works[i]->side[i & 1]);
		if (chance(w, 0.5))
			stack_run_for(w, some_ms(w, 0, 20));
		stack_side_close(&w->works[i]->side[!(i & 1)]);
	}
	stack_run(w, 30 * SEC, stack_works_over);
	scene_check_works(w);
	for (int i = 0; i < 2; i++) {
		struct conn_assoc *a = stack_assoc_of(w->nodes[i], w->nodes[!i]);

		if (a && !a->closing)
			stack_shutdown(a);
		if (chance(w, 0.5))
			stack_run_for(w, some_ms(w, 0, 20));
	}
	stack_run(w, 120 * SEC, all_assocs_over);
}

/*
 * The peer's process is killed and restarts at the same place. The old association may or may not
 * survive.
 */
static void restart(struct stack_world *w)
{
	struct stack_node *a, *b;
	unsigned int old;

	scene_usual(w);
	scene_some_loss(w);
	a = w->nodes[0];
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
	for (unsigned int n = 1 + below(w, 3); n; n--)
		stack_plan(stack_work_new(b, a), w->limit_ops);
	/* Old works are flushed, and new works complete. */
	stack_run(w, 120 * SEC, stack_works_over);
	scene_finish(w, 120 * SEC);
	for (unsigned int i = 0; i < old; i++)
		check(stack_work_over(w->works[i]));
}

/* Both ends open the one association, and its sessions, at once. */
static void collision(struct stack_world *w)
{
	struct conn_assoc *a[2];

	scene_two_nodes(w);
	w->one_assoc = true;
	scene_start(w);
	w->limit_ops = 15;
	scene_works(w, 2 + below(w, 6));
	if (chance(w, 0.5))
		scene_some_loss(w);
	w->link[1].delay = w->link[0].delay;
	for (unsigned int i = 0; i < w->n_works; i++) {
		w->works[i]->side[0].link.at =
			w->now + below(w, (uint32_t)(2 * w->link[0].delay) + 2);
		w->seen += w->works[i]->side[0].node != w->works[0]->side[0].node;
	}
	scene_finish(w, 120 * SEC);
	for (int i = 0; i < 2; i++) {
		check(stack_assocs(w->nodes[i], NULL) == 1);
		a[i] = stack_assoc_of(w->nodes[i], w->nodes[!i]);
	}
	check(stack_iw_is_initiator(a[0]) != stack_iw_is_initiator(a[1]));
}

/* Opens another session, from the first node or to the first node. */
static void open_next(struct stack_world *w, bool first)
{
	stack_plan(stack_work_new(w->nodes[!first], w->nodes[first]), 12);
	stack_run(w, 1000 * SEC, scene_is_up);
}

/*
 * Each side may open two streams. The next session reuses an old session's stream, while copies of
 * the old packets still arrive.
 */
static void reuse(struct stack_world *w)
{
	scene_two_nodes(w);
	w->nodes[0]->sctp_config.streams = w->nodes[1]->sctp_config.streams = 4;
	w->one_assoc = true;
	scene_start(w);
	scene_some_loss(w);
	for (int i = 0; i < 2; i++) {
		uint64_t late = some_ms(w, 1, 3000);

		scene_late_copies(w, &w->link[i], 4, late);
		simnet_faults_add(w->net, &w->link[i], "packets: delay %u us, probability 0.2",
				  1000 + below(w, 19000));
	}
	for (int n = 0; n < 14; n++) {
		struct stack_work *work;
		struct stack_side *s;

		open_next(w, chance(w, 0.5));
		work = w->works[w->n_works - 1];
		s = &work->side[below(w, 2)];
		scene_done_within(w, some_ms(w, 0, 100));
		work->ends = true;
		if (chance(w, 0.3) && stack_qp_state(s) == IW_QPS_RTS)
			check(!iw_qp_modify(s->qp, IW_QPS_ERR));
		else
			stack_side_close(s);
		w->seen += n > 4;
	}
	/* One more session after all these must work. */
	open_next(w, true);
	scene_finish(w, 60 * SEC);
	stack_run(w, 60 * SEC, stack_works_over);
	scene_check_works(w);
}

/* A copy of the memory that a side exposes to its peer. */
struct shot {
	const struct stack_side *side;
	bool peer; /* of the side whose WRs were flushed */
	uint8_t *sink;
	uint64_t words[STACK_WORDS];
};

static struct shot shoot(const struct stack_side *s, bool peer)
{
	struct shot shot = { .side = s, .peer = peer, .sink = malloc(STACK_SINK) };

	assert_non_null(shot.sink);
	memcpy(shot.sink, s->sink, STACK_SINK);
	memcpy(shot.words, s->words, sizeof(s->words));
	return shot;
}

static void check_shot(const struct shot *shot)
{
	check(!memcmp(shot->sink, shot->side->sink, STACK_SINK));
	/* A peer executes an accepted atomic when it can send the answer. */
	check(shot->peer || !memcmp(shot->words, shot->side->words, sizeof(shot->words)));
	free(shot->sink);
}

/*
 * The QP of one side enters the error state while some of its messages are lost. From then on, its
 * memory does not change, nor the peer's memory once the network is empty. The other works of the
 * association continue.
 */
static void flush(struct stack_world *w)
{
	struct shot shots[2 * 3];
	unsigned int n, n_shots = 0;

	scene_two_nodes(w);
	w->one_assoc = chance(w, 0.7);
	/* Segments that arrive early are not kept for later placement. */
	w->nodes[0]->iw_config.in_order = w->nodes[1]->iw_config.in_order = false;
	w->link[1].delay = w->link[0].delay = some_ms(w, 0, 20);
	scene_start(w);
	n = 2 + below(w, 4);
	scene_works(w, n);
	for (unsigned int i = 0; i < 3 && i + 1 < n; i++) {
		struct stack_side *s = &w->works[i]->side[below(w, 2)];

		for (int k = 0; k < 40; k++)
			stack_op_add(s, chance(w, 0.5) ? IW_WR_RDMA_WRITE : IW_WR_SEND,
				     below(w, 9000));
		stack_op_add(s, IW_WR_ATOMIC_FETCH_AND_ADD, 8);
	}
	scene_connected(w);
	simnet_faults_both(w->net, w->link, "packets: drop, probability %.2f",
			   0.05 + scene_percent(w, 25));
	for (unsigned int i = 0; i < 3 && i + 1 < n; i++) {
		struct stack_side *s = &w->works[i]->side[below(w, 2)];

		stack_run_for(w, some_ms(w, 0, 60));
		w->works[i]->ends = true;
		if (chance(w, 0.5))
			check(!iw_qp_modify(s->qp, IW_QPS_ERR));
		else
			stack_side_close(s);
		shots[n_shots++] = shoot(s, false);
		stack_run_for(w, w->link[0].delay + MSEC);
		shots[n_shots++] = shoot(stack_peer(s), true);
	}
	stack_run(w, 120 * SEC, stack_works_over);
	scene_finish(w, 120 * SEC);
	stack_run_for(w, 10 * SEC);
	for (unsigned int i = 0; i < n_shots; i++)
		check_shot(&shots[i]);
	w->seen += w->voids != 0;
}

/* A request that the peer refuses ends only its own session, by an RDMAP Terminate. */
static void remote_error(struct stack_world *w)
{
	struct stack_work *work;
	struct stack_side *s;
	uint32_t len;

	scene_usual(w);
	scene_some_loss(w);
	work = w->works[0];
	s = &work->side[below(w, 2)];
	work->ends = true;
	len = 1 + below(w, 3000);
	while (!stack_op_add(s, chance(w, 0.5) ? IW_WR_RDMA_READ : IW_WR_RDMA_WRITE, len))
		len = (len + 1) / 2;
	s->ops[s->n_ops - 1].bad = true;
	s->ops[s->n_ops - 1].back = false;
	for (int n = 0; n < 20; n++)
		stack_op_add(s, IW_WR_SEND, below(w, 3000));
	stack_run(w, 120 * SEC, stack_works_over);
	scene_finish(w, 120 * SEC);
	/* The event follows once the application has polled the earlier completions. */
	stack_run_for(w, 10 * MSEC);
	check(s->closed && stack_peer(s)->closed);
}

static void hold(struct stack_world *w, bool on)
{
	for (unsigned int i = 0; i < 2 * w->n_works; i++)
		w->works[i / 2]->side[i % 2].hold = on;
}

/* TSNs, tags and DDP-SSNs that begin just before their wrap. */
static void wrap(struct stack_world *w)
{
	scene_two_nodes(w);
	w->one_assoc = true;
	/* An RTR indication would use the first of the numbers. */
	w->nodes[0]->config.rtr = w->nodes[1]->config.rtr = 0;
	scene_start(w);
	w->limit_ops = 80;
	scene_works(w, 1 + below(w, 4));
	hold(w, true);
	for (int i = 0; i < 2; i++) {
		stack_near_wrap(w->nodes[i], true);
		simnet_faults(w->net, &w->link[i], "packets: drop, probability %.2f",
			      scene_percent(w, 10));
		scene_reorder(w, &w->link[i], 30, 1 + below(w, 5 * MSEC));
	}
	scene_connected(w);
	stack_run_for(w, SEC);
	for (int i = 0; i < 2; i++) {
		stack_near_wrap(w->nodes[i], false);
		check(stack_init_tsn(stack_assoc_of(w->nodes[i], NULL)) >= UINT32_MAX - 64);
	}
	stack_set_ssn(w, (uint16_t)(0xffff - below(w, 40)));
	hold(w, false);
	scene_finish(w, 120 * SEC);
	w->seen += stack_acked_tsn(stack_assoc_of(w->nodes[0], NULL)) < 1 << 20;
}

/* A session uses all DDP-SSNs, starting at 0. */
static void long_session(struct stack_world *w)
{
	struct stack_work *work;

	scene_two_nodes(w);
	scene_start(w);
	work = stack_work_new(w->nodes[0], w->nodes[1]);
	for (unsigned int i = 0; i < 70000; i++)
		stack_op_add(&work->side[0], IW_WR_RDMA_WRITE, i % 50 ? 1 : 2);
	stack_plan(work, 20);
	simnet_faults_both(w->net, w->link, "packets: drop, probability 0.01");
	w->link[0].delay = w->link[1].delay = MSEC / 10;
	scene_finish(w, 600 * SEC);
	w->seen++;
}

const struct scene scenes_end[] = {
	{ "close-both", close_both, 20 },
	{ "restart", restart, 20 },
	{ "collision", collision, 30 },
	{ "reuse", reuse, 20 },
	{ "flush", flush, 40 },
	{ "remote-error", remote_error, 20, true },
	{ "wrap", wrap, 20 },
	{ "long-session", long_session, 4, .every = 10 },
	{ 0 },
};
