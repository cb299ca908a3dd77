/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Flows that share a bottleneck with each other, or with TCP. */
#include "sim/scene.h"

static struct stack_work *bulk(struct stack_node *from, struct stack_node *to)
{
	struct stack_work *work = stack_work_new(from, to);

	work->bulk = true;
	return work;
}

static uint64_t bytes(const struct stack_side *s)
{
	return (uint64_t)s->completed * STACK_BULK;
}

static void bottleneck(struct stack_world *w, struct simnet_link *down)
{
	*down = (struct simnet_link){ .delay = some_ms(w, 5, 15), .rate = 1250000 };
	down->queue = 30000 + below(w, 30000);
	down->overhead = SIMNET_HEADERS;
	simnet_route(w->net, w->nodes[0]->id, w->nodes[1]->id, down);
	w->link[1].delay = down->delay;
	/*
	 * Without jitter, unlike in real networks, always the same flow would find the queue full.
	 */
	down->jitter = w->link[1].jitter = 2 * MSEC;
}

#define SHARE_TIME 200

static void share(struct stack_world *w)
{
	struct simnet_link down;
	const struct stack_side *x, *y;
	uint64_t bx, by;
	double ratio;

	scene_two_nodes(w);
	w->nodes[0]->mtu = w->nodes[1]->mtu = 1500;
	stack_node_new(w);
	scene_start(w);
	bottleneck(w, &down);
	simnet_route(w->net, w->nodes[2]->id, w->nodes[1]->id, &down);
	simnet_route(w->net, w->nodes[1]->id, w->nodes[2]->id, &w->link[1]);
	x = &bulk(w->nodes[0], w->nodes[1])->side[0];
	y = &bulk(w->nodes[2], w->nodes[1])->side[0];
	scene_connected(w);
	stack_run_for(w, 10 * SEC);
	bx = bytes(x);
	by = bytes(y);
	stack_run_for(w, SHARE_TIME * SEC);
	bx = bytes(x) - bx;
	by = bytes(y) - by;
	ratio = (double)bx / (double)by;
	check(ratio > 0.8 && ratio < 1.25);
	check((double)(bx + by) > 0.85 * 1250000 * SHARE_TIME);
	scene_check_works(w);
}

static void share_tcp(struct stack_world *w)
{
	struct simnet_link down;
	const struct stack_side *x;
	uint64_t bx, by;
	double ratio;

	scene_two_nodes(w);
	w->nodes[0]->mtu = w->nodes[1]->mtu = 1500;
	scene_start(w);
	bottleneck(w, &down);
	x = &bulk(w->nodes[0], w->nodes[1])->side[0];
	w->reno = reno_new(w->net, 200);
	simnet_route(w->net, w->reno->from, w->reno->to, &down);
	simnet_route(w->net, w->reno->to, w->reno->from, &w->link[1]);
	scene_connected(w);
	stack_run_for(w, 10 * SEC);
	bx = bytes(x);
	by = w->reno->expected;
	stack_run_for(w, SHARE_TIME * SEC);
	bx = bytes(x) - bx;
	by = (w->reno->expected - by) * RENO_PACKET;
	ratio = (double)bx / (double)by;
	check(ratio > 0.5 && ratio < 2);
	scene_check_works(w);
}

const struct scene scenes_share[] = {
	{ "share", share, 3, true, 50 },
	{ "share-tcp", share_tcp, 3, true, 50 },
	{ 0 },
};
