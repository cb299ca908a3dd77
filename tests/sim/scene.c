/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sim/scene.h"

static void route(struct stack_world *w)
{
	simnet_route(w->net, w->nodes[0]->id, w->nodes[1]->id, &w->link[0]);
	simnet_route(w->net, w->nodes[1]->id, w->nodes[0]->id, &w->link[1]);
}

void scene_two_nodes(struct stack_world *w)
{
	static const uint32_t mtus[] = { 1280, 1500, 9000, 65535 };
	uint32_t mtu = mtus[below(w, 4)];

	for (int i = 0; i < 2; i++) {
		struct stack_node *n = stack_node_new(w);

		n->mtu = mtu;
		n->iw_config.in_order = w->seed & 1;
		/* In bad networks, a handshake may need many attempts. */
		n->sctp_config.connect_limit = 3600 * SEC;
		w->link[i].delay = some_ms(w, 0, 10);
		if (chance(w, 0.3))
			n->config.rtr = CONFIG_RTR_ANY;
	}
	w->one_assoc = chance(w, 0.5);
	route(w);
}

void scene_give_up_early(struct stack_world *w)
{
	for (unsigned int i = 0; i < w->n_nodes; i++)
		w->nodes[i]->sctp_config.connect_limit = 30 * SEC;
}

void scene_start(struct stack_world *w)
{
	for (unsigned int i = 0; i < w->n_nodes; i++)
		stack_node_start(w->nodes[i]);
}

void scene_works(struct stack_world *w, unsigned int n)
{
	while (n--) {
		bool first = chance(w, 0.5);

		stack_plan(stack_work_new(w->nodes[!first], w->nodes[first]), w->limit_ops);
	}
}

void scene_usual(struct stack_world *w)
{
	scene_two_nodes(w);
	scene_start(w);
	scene_works(w, 1 + below(w, 4));
}

void scene_mixed(struct stack_world *w)
{
	w->oob = below(w, 2) * 0.5;
	scene_usual(w);
}

void scene_slow(struct stack_world *w, uint32_t bytes_per_second)
{
	for (int i = 0; i < 2; i++) {
		w->link[i].rate = bytes_per_second;
		w->link[i].queue = 200000;
	}
}

bool scene_is_up(struct stack_world *w)
{
	for (unsigned int i = 0; i < w->n_works; i++)
		if (!w->works[i]->side[0].up || !w->works[i]->side[1].up)
			return false;
	return true;
}

void scene_connected(struct stack_world *w)
{
	stack_run(w, 1000 * SEC, scene_is_up);
}

bool scene_done_within(struct stack_world *w, uint64_t ns)
{
	uint64_t until = w->now + ns;

	while (!stack_all_done(w) && w->now < until)
		stack_run_for(w, until - w->now < 5 * MSEC ? until - w->now : 5 * MSEC);
	return stack_all_done(w);
}

void scene_check_works(struct stack_world *w)
{
	/* If memory changes while it is referenced, the packet has a wrong checksum. */
	bool corrupt = simnet_may(&w->link[0], FAULT_DO_corrupt) ||
		       simnet_may(&w->link[1], FAULT_DO_corrupt);

	for (unsigned int i = 0; i < w->n_works; i++) {
		stack_work_check(w->works[i]);
		corrupt |= w->works[i]->mutating;
	}
	for (unsigned int i = 0; i < w->n_nodes && !corrupt; i++)
		check(!w->nodes[i]->bad_crc);
}

void scene_finish(struct stack_world *w, uint64_t limit)
{
	stack_run(w, limit, stack_all_done);
	scene_check_works(w);
}

double scene_percent(struct stack_world *w, uint32_t n)
{
	return below(w, n) / 100.0;
}

void scene_reorder(struct stack_world *w, struct simnet_link *l, uint32_t n, uint64_t ns)
{
	simnet_faults_add(w->net, l, "packets: delay %llu ns, probability %.2f",
			  (unsigned long long)ns, scene_percent(w, n));
}

void scene_late_copies(struct stack_world *w, struct simnet_link *l, uint32_t n, uint64_t ns)
{
	simnet_faults_add(w->net, l,
			  "packets, every %u: duplicate; "
			  "packets, after 1, every %u: delay 1 ns jitter %llu ns",
			  n, n, (unsigned long long)ns);
}

void scene_corrupt(struct stack_world *w, struct simnet_link *l, uint32_t n)
{
	uint32_t bytes = 1 + below(w, 3);

	simnet_faults_add(w->net, l, "packets: corrupt bytes %u, probability %.2f", bytes,
			  (1 + below(w, n)) / 100.0);
}

void scene_some_link(struct stack_world *w, struct simnet_link *l)
{
	l->delay = below(w, 30) * MSEC / 3;
	l->jitter = below(w, 3) * MSEC;
	if (chance(w, 0.7))
		simnet_faults_add(w->net, l, "packets: drop, probability %.2f",
				  scene_percent(w, 20));
	if (chance(w, 0.5))
		simnet_faults_add(w->net, l, "packets: duplicate, probability %.2f",
				  (1 + below(w, 9)) / 100.0);
	if (chance(w, 0.5))
		scene_corrupt(w, l, 4);
	if (chance(w, 0.5))
		scene_reorder(w, l, 30, (1 + below(w, 19)) * MSEC);
	if (chance(w, 0.3)) {
		l->rate = 1000000 + below(w, 100000000);
		l->queue = 300000;
	}
}

void scene_some_loss(struct stack_world *w)
{
	for (int i = 0; i < 2; i++)
		simnet_faults(w->net, &w->link[i], "packets: drop, probability %.2f",
			      scene_percent(w, 15));
}

void scene_disorder(struct stack_world *w)
{
	for (int i = 0; i < 2; i++) {
		uint64_t late = some_ms(w, 1, 500);

		scene_late_copies(w, &w->link[i], 6 + below(w, 30), late);
		late = some_ms(w, 1, 20);
		scene_reorder(w, &w->link[i], 30, late);
	}
}

void scene_bad_links(struct stack_world *w)
{
	scene_some_loss(w);
	scene_disorder(w);
}

void scene_all_may_end(struct stack_world *w)
{
	for (unsigned int i = 0; i < w->n_works; i++)
		w->works[i]->ends = true;
}
