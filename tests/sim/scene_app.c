/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Applications: memory that changes or goes away, and few receives. */
#include "sim/scene.h"

static void changing_memory(struct stack_world *w)
{
	scene_two_nodes(w);
	scene_start(w);
	scene_works(w, 1 + below(w, 4));
	for (unsigned int i = 0; i < w->n_works; i++)
		w->works[i]->mutating = true;
	scene_some_loss(w);
	scene_finish(w, 120 * SEC);
	w->seen += w->works[0]->side[0].version > 1;
}

static bool first_is_up(struct stack_world *w)
{
	return w->works[0]->side[0].up;
}

static bool first_posted(struct stack_world *w)
{
	const struct stack_side *s = &w->works[0]->side[0];

	return s->completed == s->n_ops;
}

/*
 * A Send or Write completes when the peer has it. Its memory may then go, whatever SCTP sends
 * again.
 */
static void dereg_source(struct stack_world *w)
{
	struct stack_work *work;
	struct stack_side *s;

	scene_two_nodes(w);
	scene_start(w);
	work = stack_work_new(w->nodes[0], w->nodes[1]);
	s = &work->side[0];
	for (unsigned int n = 2 + below(w, 30); n; n--)
		stack_op_add(s, chance(w, 0.5) ? IW_WR_SEND : IW_WR_RDMA_WRITE, below(w, 4000));
	stack_op_add(s, IW_WR_SEND, 10);
	simnet_faults(w->net, &w->link[0], "packets: drop, probability %.2f",
		      0.1 + scene_percent(w, 20));
	simnet_faults(w->net, &w->link[1], "packets: drop, probability %.2f", scene_percent(w, 20));
	scene_works(w, 1);
	stack_run(w, 1000 * SEC,
		  first_is_up); /* a handshake may take long: see scene_connected() */
	stack_run(w, 120 * SEC, first_posted);
	w->seen++;
	check(!iw_mr_free(s->source_mr));
	s->source_mr = NULL;
	free(s->source);
	s->source = NULL;
	scene_finish(w, 120 * SEC);
}

/* The same with requests that are not sent yet, or with memory that the peer writes or reads. */
static void dereg_in_use(struct stack_world *w)
{
	uint8_t *before = malloc(STACK_SINK);
	struct stack_side *s;

	assert_non_null(before);
	scene_usual(w);
	scene_some_loss(w);
	scene_slow(w, 200000 + below(w, 1000000));
	scene_connected(w);
	stack_run_for(w, some_ms(w, 0, 500));
	w->works[0]->ends = true;
	s = &w->works[0]->side[below(w, 2)];
	if (chance(w, 0.5)) {
		check(!iw_mr_free(s->source_mr));
		s->source_mr = NULL;
		memset(s->source, 0xdd, STACK_SOURCE);
	}
	check(!iw_mr_free(s->sink_mr));
	s->sink_mr = NULL;
	memcpy(before, s->sink, STACK_SINK);
	scene_done_within(w, 30 * SEC);
	check(!memcmp(before, s->sink, STACK_SINK));
	free(before);
	w->seen += s->closed;
	if (!s->closed)
		stack_side_close(s);
	stack_run(w, 60 * SEC, stack_works_over);
	scene_finish(w, 60 * SEC);
}

/* Sends without a receive wait, or end their own session. Other sessions continue. */
static void no_receives(struct stack_world *w)
{
	struct stack_work *lame;
	bool tight = chance(w, 0.5), over = tight;

	scene_two_nodes(w);
	if (tight)
		w->nodes[1]->iw_config.unexpected_bytes_per_qp = 50000;
	scene_start(w);
	/* Between two nodes with receipts, a window stops the Sends in time. */
	if (w->nodes[0]->receipts && w->nodes[1]->receipts)
		over = false;
	lame = stack_work_new(w->nodes[0], w->nodes[1]);
	lame->side[1].hold_recvs = true;
	lame->ends = true; /* not checked until it has receives */
	for (unsigned int n = 0; n < 60; n++)
		stack_op_add(&lame->side[0], IW_WR_SEND, tight ? 4000 : below(w, 9000));
	scene_works(w, 1 + below(w, 4));
	scene_some_loss(w);
	stack_run(w, 120 * SEC, stack_all_done);
	check(!lame->side[1].recvs_done || over);
	stack_run_for(w, 5 * SEC);
	check(lame->side[0].closed == over && lame->side[1].closed == over);
	w->seen += tight;
	if (over) {
		stack_run(w, 30 * SEC, stack_works_over);
	} else {
		lame->ends = false;
		lame->side[1].hold_recvs = false;
	}
	scene_finish(w, 60 * SEC);
}

/*
 * Several QPs share few receives, on bad networks. Sometimes one ends in the middle. The others get
 * all of their messages, and no receive is lost.
 */
static void shared_receives(struct stack_world *w)
{
	unsigned int ending = below(w, 3);

	scene_two_nodes(w);
	for (int i = 0; i < 2; i++)
		w->nodes[i]->srq_slots = 1 + below(w, chance(w, 0.5) ? 4 : STACK_SRQ);
	scene_start(w);
	scene_works(w, ending + 2 + below(w, 4));
	scene_some_loss(w);
	if (chance(w, 0.5))
		simnet_faults_add(w->net, &w->link[below(w, 2)],
				  "packets: delay 5 ms, probability 0.2");
	scene_connected(w);
	for (unsigned int i = 0; i < ending; i++) {
		stack_run_for(w, some_ms(w, 0, 300));
		stack_side_close(&w->works[i]->side[below(w, 2)]);
	}
	stack_run(w, 600 * SEC, stack_works_over);
	scene_finish(w, 600 * SEC);
	stack_run_for(w, MSEC); /* flushed receives are polled and posted again */
	for (int i = 0; i < 2; i++)
		if (w->nodes[i]->srq)
			stack_srq_check(w->nodes[i]);
}

/* Writes to the same bytes leave the bytes of the last Write, with placement in order or not. */
static void overlapping(struct stack_world *w)
{
	scene_two_nodes(w);
	for (int i = 0; i < 2; i++)
		w->nodes[i]->iw_config.in_order = chance(w, 0.3);
	scene_start(w);
	for (unsigned int n = 1 + below(w, 3); n; n--) {
		struct stack_work *work = stack_work_new(w->nodes[0], w->nodes[1]);

		work->overlap = true;
		stack_plan(work, 100);
	}
	scene_some_loss(w);
	for (int i = 0; i < 2; i++)
		simnet_faults_add(w->net, &w->link[i], "packets: delay %u us, probability 0.3",
				  1 + below(w, 10000));
	scene_finish(w, 120 * SEC);
}

const struct scene scenes_app[] = {
	{ "changing-memory", changing_memory, 20 },
	{ "dereg-source", dereg_source, 20 },
	{ "dereg-in-use", dereg_in_use, 20 },
	{ "no-receives", no_receives, 20 },
	{ "shared-receives", shared_receives, 40 },
	{ "overlapping", overlapping, 40, true },
	{ 0 },
};
