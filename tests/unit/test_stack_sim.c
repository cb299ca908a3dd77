/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: engine */
/*
 * Whole stacks on bad networks, in virtual time. A scenario is a function of a seed: what it does to
 * the network, to the packets and to the applications, and by when everything must have completed. What
 * completed is checked against a perfect model (sim/stack.h), in every scenario.
 *
 *	test_stack_sim					every scenario with the seeds of the suite
 *	test_stack_sim --scenario NAME SEED [COUNT]	replays or extends
 *	test_stack_sim --all SEED COUNT			every scenario with each of these seeds
 *	test_stack_sim --list
 */
#include <signal.h>
#include <unistd.h>

#include "conformance/rows.h"
#include "sim/stack.h"

#define MIB (1u << 20)

/* ---- what scenarios are made of ---- */

static uint32_t below(struct stack_world *w, uint32_t n)
{
	return sim_random_below(&w->random, n);
}

static bool chance(struct stack_world *w, double p)
{
	return sim_random_chance(&w->random, p);
}

static uint64_t some_ms(struct stack_world *w, uint32_t from, uint32_t to)
{
	return from * MSEC + sim_random_u64(&w->random) % ((to - from) * MSEC + 1);
}

static void route(struct stack_world *w)
{
	simnet_route(w->net, w->nodes[0]->id, w->nodes[1]->id, &w->link[0]);
	simnet_route(w->net, w->nodes[1]->id, w->nodes[0]->id, &w->link[1]);
}

/* Two nodes that are not started. */
static void two_nodes(struct stack_world *w)
{
	static const uint32_t mtus[] = { 1280, 1500, 9000, 65535 };
	uint32_t mtu = mtus[below(w, 4)];

	for (int i = 0; i < 2; i++) {
		struct stack_node *n = stack_node_new(w);

		n->mtu = mtu;
		n->iw_config.in_order = w->seed & 1;
		/* A handshake may have to be tried for long, as badly as the networks are. */
		n->config.connect_limit = 300 * SEC;
		w->link[i].delay = some_ms(w, 0, 10);
	}
	route(w);
}

static void start(struct stack_world *w)
{
	for (unsigned int i = 0; i < w->n_nodes; i++)
		stack_node_start(w->nodes[i]);
}

static void works(struct stack_world *w, unsigned int n)
{
	while (n--) {
		bool first = chance(w, 0.5);

		stack_plan(stack_work_new(w->nodes[!first], w->nodes[first]), w->limit_ops);
	}
}

/* Two nodes, up to four pairs of QPs with a programme each, and the association under way. */
static void usual(struct stack_world *w)
{
	two_nodes(w);
	start(w);
	works(w, 1 + below(w, 4));
	stack_connect(w->nodes[0], w->nodes[1]);
}

/* So slow that what happens meanwhile happens in mid-stream. */
static void slow(struct stack_world *w, uint32_t bytes_per_second)
{
	for (int i = 0; i < 2; i++) {
		w->link[i].rate = bytes_per_second;
		w->link[i].queue = 200000;
	}
}

/* All done, at most so much later: true. */
static bool done_within(struct stack_world *w, uint64_t ns)
{
	uint64_t until = w->now + ns;

	while (!stack_all_done(w) && w->now < until)
		stack_run_for(w, until - w->now < 5 * MSEC ? until - w->now : 5 * MSEC);
	return stack_all_done(w);
}

static void check_works(struct stack_world *w)
{
	for (unsigned int i = 0; i < w->n_works; i++)
		stack_work_check(w->works[i]);
	for (unsigned int i = 0; i < w->n_nodes; i++)
		if (!w->link[0].corrupt && !w->link[1].corrupt)
			check(!w->nodes[i]->bad_crc);
}

static void finish(struct stack_world *w, uint64_t limit)
{
	stack_run(w, limit, stack_all_done);
	check_works(w);
}

static bool is_up(struct stack_world *w)
{
	for (unsigned int i = 0; i < w->n_works; i++)
		if (!w->works[i]->side[0].up || !w->works[i]->side[1].up)
			return false;
	return true;
}

/* ---- the network ---- */

static void some_link(struct stack_world *w, struct simnet_link *l)
{
	l->delay = below(w, 30) * MSEC / 3;
	l->jitter = below(w, 3) * MSEC;
	if (chance(w, 0.7))
		l->loss = below(w, 20) / 100.0;
	if (chance(w, 0.5))
		l->duplicate = below(w, 10) / 100.0;
	if (chance(w, 0.5))
		l->corrupt = below(w, 5) / 100.0;
	if (chance(w, 0.5)) {
		l->reorder = below(w, 30) / 100.0;
		l->reorder_delay = below(w, 20) * MSEC;
	}
	if (chance(w, 0.3)) {
		l->rate = 1000000 + below(w, 100000000);
		l->queue = 300000;
	}
}

/* What the path takes from now on, with ICMP or without. */
static void narrow(struct stack_world *w, struct simnet_link *l)
{
	static const uint32_t sizes[] = { 600, 1006, 1280, 1400, 1492, 4352, 8000 };

	l->mtu = sizes[below(w, 7)];
	l->black_hole = chance(w, 0.5);
}

static void everything(struct stack_world *w)
{
	usual(w);
	some_link(w, &w->link[0]);
	some_link(w, &w->link[1]);
	if (chance(w, 0.5) && !done_within(w, some_ms(w, 0, 300))) {
		narrow(w, &w->link[0]);
		narrow(w, &w->link[1]);
		w->seen++;
	}
	finish(w, 240 * SEC);
}

static void loss(struct stack_world *w)
{
	usual(w);
	w->link[0].loss = (5 + below(w, 26)) / 100.0;
	w->link[1].loss = (5 + below(w, 26)) / 100.0;
	finish(w, 240 * SEC);
	w->seen += w->link[0].dropped > 20;
}

static void bursts(struct stack_world *w)
{
	unsigned int n = 0;

	usual(w);
	slow(w, 500000 + below(w, 5000000));
	do {
		w->link[0].loss = w->link[1].loss = 0;
		if (done_within(w, some_ms(w, 10, 300)))
			break;
		w->link[0].loss = chance(w, 0.8);
		w->link[1].loss = chance(w, 0.4);
		w->seen++;
	} while (++n < 200 && !done_within(w, some_ms(w, 1, 60)));
	w->link[0].loss = w->link[1].loss = 0;
	finish(w, 60 * SEC);
}

static void reordering(struct stack_world *w)
{
	two_nodes(w);
	w->nodes[0]->mtu = w->nodes[1]->mtu = 1280;
	start(w);
	w->limit_ops = 120;
	works(w, 4);
	for (int i = 0; i < 2; i++) {
		w->link[i].reorder = (1 + below(w, 90)) / 100.0;
		w->link[i].reorder_delay = some_ms(w, 1, 50); /* at 100 packets a millisecond */
		w->link[i].rate = 125000000;
		w->link[i].queue = MIB;
	}
	stack_connect(w->nodes[0], w->nodes[1]);
	finish(w, 120 * SEC);
}

static void duplicates(struct stack_world *w)
{
	usual(w);
	for (int i = 0; i < 2; i++) {
		w->link[i].duplicate = (10 + below(w, 60)) / 100.0;
		w->link[i].duplicate_delay = some_ms(w, 1, 2000);
		w->link[i].loss = below(w, 5) / 100.0;
	}
	finish(w, 120 * SEC);
}

/* UDP's checksum is right: a router has made it anew. */
static void bit_errors(struct stack_world *w)
{
	usual(w);
	w->link[0].corrupt = (1 + below(w, 25)) / 100.0;
	w->link[1].corrupt = (1 + below(w, 25)) / 100.0;
	finish(w, 240 * SEC);
	w->seen += w->nodes[0]->bad_crc && w->nodes[1]->bad_crc;
}

static void delays(struct stack_world *w)
{
	usual(w);
	for (int i = 0; i < 2; i++) {
		w->link[i].delay = some_ms(w, 0, 300);
		w->link[i].jitter = some_ms(w, 1, 100);
		w->link[i].loss = below(w, 6) / 100.0;
	}
	finish(w, 240 * SEC);
}

static void asymmetric(struct stack_world *w)
{
	usual(w);
	for (int i = 0; i < 2; i++) {
		static const uint32_t rates[] = { 20000, 100000, 1000000, 10000000, 0 };

		w->link[i].delay = some_ms(w, 0, 150);
		w->link[i].rate = rates[below(w, 5)];
		w->link[i].queue = 30000 + below(w, 100000);
		w->link[i].loss = chance(w, 0.5) ? below(w, 15) / 100.0 : 0;
	}
	finish(w, 600 * SEC);
}

static void mtu(struct stack_world *w, bool black_hole)
{
	static const uint32_t sizes[] = { 600, 900, 1006, 1280, 1400, 1492, 4352, 8000, 0 };

	usual(w);
	slow(w, 300000 + below(w, 3000000));
	w->link[0].loss = below(w, 4) / 100.0;
	for (int n = 0; n < 6 && !done_within(w, some_ms(w, 20, 1000)); n++) {
		struct simnet_link *l = &w->link[below(w, 2)];

		l->mtu = sizes[below(w, 9)];
		l->black_hole = black_hole;
	}
	finish(w, 120 * SEC);
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

	usual(w);
	slow(w, 200000 + below(w, 1000000));
	w->link[0].loss = below(w, 5) / 100.0;
	/* The association would not know where to begin otherwise. */
	stack_run(w, 60 * SEC, is_up);
	for (int n = 0; n < 5 && !done_within(w, some_ms(w, 5, 300)); n++) {
		simnet_set_port(w->net, w->nodes[behind]->id, port++);
		w->seen++;
	}
	finish(w, 120 * SEC);
}

/* The path is dead for a while that the limit allows. */
static void outage(struct stack_world *w)
{
	usual(w);
	slow(w, 200000 + below(w, 1000000));
	if (!done_within(w, some_ms(w, 50, 800))) {
		simnet_set_state(w->net, w->nodes[1]->id, SIMNET_SILENT);
		stack_run_for(w, some_ms(w, 5000, 20000));
		simnet_set_state(w->net, w->nodes[1]->id, SIMNET_UP);
		w->seen++;
	}
	finish(w, 90 * SEC);
}

static void long_outage(struct stack_world *w)
{
	two_nodes(w);
	w->nodes[0]->config.silent_limit = w->nodes[1]->config.silent_limit = 120 * SEC;
	start(w);
	works(w, 2);
	stack_connect(w->nodes[0], w->nodes[1]);
	slow(w, 200000);
	if (!done_within(w, some_ms(w, 50, 800))) {
		simnet_set_state(w->net, w->nodes[1]->id, SIMNET_SILENT);
		stack_run_for(w, some_ms(w, 55000, 65000));
		simnet_set_state(w->net, w->nodes[1]->id, SIMNET_UP);
		w->seen++;
	}
	finish(w, 120 * SEC);
}

static void all_may_end(struct stack_world *w)
{
	for (unsigned int i = 0; i < w->n_works; i++)
		w->works[i]->ends = true;
}

/* For ever: by the limit every request is flushed. */
static void dead_path(struct stack_world *w)
{
	usual(w);
	slow(w, 100000 + below(w, 200000));
	stack_run(w, 60 * SEC, is_up);
	if (done_within(w, some_ms(w, 0, 500)))
		return;
	all_may_end(w);
	simnet_set_state(w->net, w->nodes[below(w, 2)]->id, SIMNET_SILENT);
	stack_run(w, 33 * SEC, stack_works_over);
	check_works(w);
	w->seen++;
}

static void multihomed(struct stack_world *w)
{
	struct simnet_link other[2] = { { .delay = 3 * MSEC }, { .delay = 4 * MSEC } };
	struct stack_node *b;

	two_nodes(w);
	b = w->nodes[1];
	stack_node_second(b, 100);
	simnet_route(w->net, w->nodes[0]->id, b->second, &other[0]);
	simnet_route(w->net, b->second, w->nodes[0]->id, &other[1]);
	start(w);
	works(w, 1 + below(w, 4));
	slow(w, 300000);
	stack_connect(w->nodes[0], b);
	stack_run(w, 10 * SEC, is_up);
	if (!done_within(w, some_ms(w, 5, 800))) {
		simnet_set_state(w->net, b->id, SIMNET_SILENT);
		if (!done_within(w, some_ms(w, 1000, 60000)))
			simnet_set_state(w->net, b->id, SIMNET_UP);
		w->seen += other[0].bytes > 10000;
	}
	finish(w, 60 * SEC);
}

/* ---- the table ---- */

struct scenario {
	const char *name;
	void (*run)(struct stack_world *w);
	unsigned int count; /* seeds in the suite */
	bool blind;	    /* what it is about need not show in w->seen */
};

static const struct scenario scenarios[] = {
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
};

#define N_SCENARIOS (sizeof(scenarios) / sizeof(scenarios[0]))

static unsigned long long first = 1, count;

static void run_scenario(void **state)
{
	const struct scenario *s = *state;
	unsigned long long n = count ? count : s->count, seed;
	unsigned int seen = 0;

	ROWS("5041-3-03 5041-5.2-05 5041-5.3-01");
	for (seed = first; seed < first + n; seed++) {
		struct stack_world *w = stack_world_new(s->name, seed);

		s->run(w);
		seen += w->seen;
		stack_world_free(w);
	}
	if (n >= 10 && !s->blind && !seen)
		fail_msg("%s: what it is about has never happened", s->name);
}

/* An assertion or a crash in the product: says how to replay it, too. */
static void died(int sig)
{
	char text[160];
	int len;

	if (stack_current) {
		len = snprintf(text, sizeof(text), "replay: test_stack_sim --scenario %s %llu\n",
			       stack_current->scenario, stack_current->seed);
		if (write(STDERR_FILENO, text, (size_t)len) < 0)
			_exit(1);
	}
	signal(sig, SIG_DFL);
	raise(sig);
}

static int usage(void)
{
	fprintf(stderr, "usage: test_stack_sim [--list | --scenario NAME SEED [COUNT] | --all SEED COUNT]\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[N_SCENARIOS];
	const char *only = NULL;
	size_t n = 0;

	if (argc == 2 && !strcmp(argv[1], "--list")) {
		for (size_t i = 0; i < N_SCENARIOS; i++)
			puts(scenarios[i].name);
		return 0;
	}
	if ((argc == 4 || argc == 5) && !strcmp(argv[1], "--scenario")) {
		only = argv[2];
		first = strtoull(argv[3], NULL, 0);
		count = argc == 5 ? strtoull(argv[4], NULL, 0) : 1;
	} else if (argc == 4 && !strcmp(argv[1], "--all")) {
		first = strtoull(argv[2], NULL, 0);
		count = strtoull(argv[3], NULL, 0);
	} else if (argc > 1) {
		return usage();
	}
	for (size_t i = 0; i < N_SCENARIOS; i++)
		if (!only || !strcmp(only, scenarios[i].name))
			tests[n++] = (struct CMUnitTest){
				.name = scenarios[i].name, .test_func = run_scenario,
				.initial_state = (void *)&scenarios[i],
			};
	if (!n)
		return usage();
	signal(SIGABRT, died);
	return _cmocka_run_group_tests("stack_sim", tests, n, NULL, NULL);
}
