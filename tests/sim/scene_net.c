/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Faults of networks: loss, reordering, duplicates, bit errors, MTUs, NATs, outages, other
 * addresses.
 */
#include "sim/scene.h"

/* Changes the MTU of a path, with ICMP or without. */
static void narrow(struct stack_world *w, struct simnet_link *l)
{
	static const uint32_t sizes[] = { 600, 1006, 1280, 1400, 1492, 4352, 8000 };

	l->mtu = sizes[below(w, 7)];
	l->black_hole = chance(w, 0.5);
}

static void everything(struct stack_world *w)
{
	scene_mixed(w);
	scene_some_link(w, &w->link[0]);
	scene_some_link(w, &w->link[1]);
	if (chance(w, 0.5) && !scene_done_within(w, some_ms(w, 0, 300))) {
		narrow(w, &w->link[0]);
		narrow(w, &w->link[1]);
		w->seen++;
	}
	scene_connected(w);
	scene_finish(w, 120 * SEC);
}

static void loss(struct stack_world *w)
{
	scene_mixed(w);
	for (int i = 0; i < 2; i++)
		simnet_faults(w->net, &w->link[i], "packets: drop, probability %.2f",
			      0.05 + scene_percent(w, 26));
	scene_connected(w);
	scene_finish(w, 120 * SEC);
	w->seen += w->link[0].dropped > 20;
}

static void bursts(struct stack_world *w)
{
	unsigned int n = 0;

	scene_mixed(w);
	scene_slow(w, 500000 + below(w, 5000000));
	do {
		simnet_cut(w->net, w->link, false);
		if (scene_done_within(w, some_ms(w, 10, 300)))
			break;
		if (chance(w, 0.8))
			simnet_faults(w->net, &w->link[0], "packets: drop");
		if (chance(w, 0.4))
			simnet_faults(w->net, &w->link[1], "packets: drop");
		w->seen++;
	} while (++n < 200 && !scene_done_within(w, some_ms(w, 1, 60)));
	simnet_cut(w->net, w->link, false);
	scene_finish(w, 60 * SEC);
}

static void reordering(struct stack_world *w)
{
	scene_two_nodes(w);
	w->nodes[0]->mtu = w->nodes[1]->mtu = 1280;
	scene_start(w);
	w->limit_ops = 120;
	scene_works(w, 4);
	for (int i = 0; i < 2; i++) {
		uint64_t late = some_ms(w, 1, 50); /* at 100 packets a millisecond */

		simnet_faults(w->net, &w->link[i], "packets: delay %llu ns, probability %.2f",
			      (unsigned long long)late, 0.01 + scene_percent(w, 90));
		w->link[i].rate = 125000000;
		w->link[i].queue = MIB;
	}
	scene_finish(w, 120 * SEC);
}

static void duplicates(struct stack_world *w)
{
	scene_mixed(w);
	for (int i = 0; i < 2; i++) {
		uint64_t late = some_ms(w, 1, 2000);

		simnet_faults(w->net, &w->link[i], "packets: drop, probability %.2f",
			      scene_percent(w, 5));
		scene_late_copies(w, &w->link[i], 2 + below(w, 9), late);
	}
	scene_finish(w, 120 * SEC);
}

/* UDP's checksum is right: a router has recalculated it. */
static void bit_errors(struct stack_world *w)
{
	scene_mixed(w);
	scene_corrupt(w, &w->link[0], 25);
	scene_corrupt(w, &w->link[1], 25);
	scene_connected(w);
	scene_finish(w, 120 * SEC);
	w->seen += w->nodes[0]->bad_crc && w->nodes[1]->bad_crc;
}

static void delays(struct stack_world *w)
{
	scene_mixed(w);
	for (int i = 0; i < 2; i++) {
		w->link[i].delay = some_ms(w, 0, 300);
		w->link[i].jitter = some_ms(w, 1, 100);
		simnet_faults(w->net, &w->link[i], "packets: drop, probability %.2f",
			      scene_percent(w, 6));
	}
	scene_finish(w, 240 * SEC);
}

static void asymmetric(struct stack_world *w)
{
	scene_mixed(w);
	for (int i = 0; i < 2; i++) {
		static const uint32_t rates[] = { 20000, 100000, 1000000, 10000000, 0 };

		w->link[i].delay = some_ms(w, 0, 150);
		w->link[i].rate = rates[below(w, 5)];
		w->link[i].queue = 30000 + below(w, 100000);
		if (chance(w, 0.5))
			simnet_faults(w->net, &w->link[i], "packets: drop, probability %.2f",
				      scene_percent(w, 15));
	}
	scene_finish(w, 600 * SEC);
}

static void mtu(struct stack_world *w, bool black_hole)
{
	static const uint32_t sizes[] = { 552, 600, 900, 1006, 1280, 1400, 1492, 4352, 8000, 0 };

	scene_mixed(w);
	scene_slow(w, 300000 + below(w, 3000000));
	simnet_faults(w->net, &w->link[0], "packets: drop, probability %.2f", scene_percent(w, 4));
	for (int n = 0; n < 6 && !scene_done_within(w, some_ms(w, 20, 1000)); n++) {
		struct simnet_link *l = &w->link[below(w, 2)];

		l->mtu = sizes[below(w, 10)];
		l->black_hole = black_hole;
	}
	scene_finish(w, 120 * SEC);
	w->seen += w->link[0].too_long + w->link[1].too_long > 0;
}

static void mtu_icmp(struct stack_world *w)
{
	mtu(w, false);
}

static void mtu_black_hole(struct stack_world *w)
{
	mtu(w, true);
}

static void nat(struct stack_world *w)
{
	uint16_t port = 20000;
	unsigned int behind = below(w, 2);

	scene_mixed(w);
	scene_slow(w, 200000 + below(w, 1000000));
	simnet_faults(w->net, &w->link[0], "packets: drop, probability %.2f", scene_percent(w, 5));
	/* Through a changing NAT, no association would come up. */
	scene_connected(w);
	for (int n = 0; n < 5 && !scene_done_within(w, some_ms(w, 5, 300)); n++) {
		simnet_set_port(w->net, w->nodes[behind]->id, port++);
		w->seen++;
	}
	scene_finish(w, 120 * SEC);
}

/* The path is dead for a while, within the limit. */
static void outage(struct stack_world *w)
{
	scene_mixed(w);
	scene_slow(w, 200000 + below(w, 1000000));
	if (!scene_done_within(w, some_ms(w, 50, 800))) {
		simnet_set_state(w->net, w->nodes[1]->id, SIMNET_SILENT);
		stack_run_for(w, some_ms(w, 5000, 20000));
		simnet_set_state(w->net, w->nodes[1]->id, SIMNET_UP);
		w->seen++;
	}
	scene_finish(w, 90 * SEC);
}

static void long_outage(struct stack_world *w)
{
	scene_two_nodes(w);
	w->nodes[0]->config.silent_limit = w->nodes[1]->config.silent_limit = 120 * SEC;
	scene_start(w);
	scene_works(w, 2);
	scene_slow(w, 200000);
	if (!scene_done_within(w, some_ms(w, 50, 800))) {
		simnet_set_state(w->net, w->nodes[1]->id, SIMNET_SILENT);
		stack_run_for(w, some_ms(w, 55000, 65000));
		simnet_set_state(w->net, w->nodes[1]->id, SIMNET_UP);
		w->seen++;
	}
	scene_finish(w, 120 * SEC);
}

/* The path is dead for ever. Once the silent limit is over, every request has been flushed. */
static void dead_path(struct stack_world *w)
{
	scene_usual(w);
	scene_slow(w, 100000 + below(w, 200000));
	scene_connected(w);
	if (scene_done_within(w, some_ms(w, 0, 500)))
		return;
	scene_all_may_end(w);
	simnet_set_state(w->net, w->nodes[below(w, 2)]->id, SIMNET_SILENT);
	/* Packets in the link's queue still arrive within 2 s. A heartbeat takes up to 1.5 s. */
	stack_run(w, 34 * SEC, stack_works_over);
	scene_check_works(w);
	w->seen++;
}

static void multihomed(struct stack_world *w)
{
	struct simnet_link other[2] = { { .delay = 3 * MSEC }, { .delay = 4 * MSEC } };
	struct stack_node *b;

	scene_two_nodes(w);
	b = w->nodes[1];
	stack_node_second(b, 100);
	simnet_route(w->net, w->nodes[0]->id, b->second, &other[0]);
	simnet_route(w->net, b->second, w->nodes[0]->id, &other[1]);
	scene_start(w);
	scene_works(w, 1 + below(w, 4));
	scene_slow(w, 300000);
	scene_connected(w);
	if (!scene_done_within(w, some_ms(w, 5, 800))) {
		simnet_set_state(w->net, b->id, SIMNET_SILENT);
		if (!scene_done_within(w, some_ms(w, 1000, 60000)))
			simnet_set_state(w->net, b->id, SIMNET_UP);
		w->seen += other[0].bytes > 10000;
	}
	scene_finish(w, 60 * SEC);
}

/* Two links: one repeatedly fails for a while, the other loses some packets. */
static void two_links(struct stack_world *w)
{
	struct simnet_link other[2] = { { .delay = 300000 }, { .delay = 400000 } };

	scene_two_nodes(w);
	stack_second_link(w->nodes[0], w->nodes[1], 100, other);
	w->oob = below(w, 2) * 0.5;
	scene_start(w);
	scene_works(w, 1 + below(w, 4));
	scene_slow(w, 60000);
	other[0].rate = other[1].rate = 60000;
	other[0].queue = other[1].queue = w->link[0].queue;
	scene_connected(w);
	for (int n = 0; n < 5 && !scene_done_within(w, some_ms(w, 500, 3000)); n++) {
		struct simnet_link *dead = chance(w, 0.6) ? w->link : other;
		struct simnet_link *lossy = dead == other ? w->link : other;

		simnet_cut(w->net, dead, true);
		simnet_faults(w->net, &lossy[0], "packets: drop, probability %.2f",
			      scene_percent(w, 5));
		if (!scene_done_within(w, some_ms(w, 500, 10000)))
			w->seen += other[0].bytes > 10000;
		simnet_cut(w->net, dead, false);
	}
	scene_finish(w, 60 * SEC);
}

/*
 * Data uses both of two links that differ in rate, delay, loss and MTU. They fail and return, one
 * by one or both at once.
 */
static void spread(struct stack_world *w)
{
	struct simnet_link other[2] = { { .delay = some_ms(w, 0, 40) },
					{ .delay = some_ms(w, 0, 40) } };
	uint32_t rate = 20000 + below(w, 80000);

	scene_two_nodes(w);
	stack_second_link(w->nodes[0], w->nodes[1], 100, other);
	w->nodes[0]->config.spread = true;
	w->nodes[1]->config.spread = chance(w, 0.7);
	w->nodes[0]->config.silent_limit = w->nodes[1]->config.silent_limit = 120 * SEC;
	w->oob = below(w, 2) * 0.5;
	scene_start(w);
	scene_works(w, 1 + below(w, 4));
	scene_slow(w, 20000 + below(w, 80000));
	for (int i = 0; i < 2; i++) {
		other[i].rate = rate;
		other[i].queue = w->link[0].queue;
		simnet_faults(w->net, &other[i], "packets: drop, probability %.2f",
			      scene_percent(w, 4));
	}
	scene_connected(w);
	if (!scene_done_within(w, 4 * SEC)) {
		w->seen += other[0].bytes > 10000 || other[1].bytes > 10000;
		if (chance(w, 0.3))
			narrow(w, &other[0]);
	}
	for (int n = 0; n < 6 && !scene_done_within(w, some_ms(w, 500, 3000)); n++) {
		simnet_cut(w->net, w->link, chance(w, 0.4));
		simnet_cut(w->net, other, chance(w, 0.4));
		scene_done_within(w, some_ms(w, 500, 6000));
		simnet_cut(w->net, w->link, false);
		simnet_cut(w->net, other, false);
		simnet_faults(w->net, &w->link[0], "packets: drop, probability %.2f",
			      scene_percent(w, 5));
	}
	scene_finish(w, 120 * SEC);
}

const struct scene scenes_net[] = {
	{ "everything", everything, 200 },
	{ "loss", loss, 40 },
	{ "bursts", bursts, 20 },
	{ "reordering", reordering, 10, true },
	{ "duplicates", duplicates, 20, true },
	{ "bit-errors", bit_errors, 20 },
	{ "delays", delays, 20, true },
	{ "asymmetric", asymmetric, 20, true },
	{ "mtu-icmp", mtu_icmp, 20 },
	{ "mtu-black-hole", mtu_black_hole, 20 },
	{ "nat", nat, 20 },
	{ "outage", outage, 20 },
	{ "long-outage", long_outage, 10 },
	{ "dead-path", dead_path, 20 },
	{ "multihomed", multihomed, 20 },
	{ "two-links", two_links, 60 },
	{ "spread", spread, 60 },
	{ 0 },
};
