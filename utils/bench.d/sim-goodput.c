/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Measures the throughput of an endless stream of RDMA Writes over a simulated path, in virtual
 * time. No processor limits the throughput, and the result is the same on every machine.
 *
 *   sim-goodput LOSS RTT SECONDS SEED
 *
 * LOSS is the share of lost packets in each direction, from 0 to less than 1. RTT is in us. The
 * path carries 1 Gbit/s in packets of 1,500 bytes. The queue of the path holds the data of one
 * round trip, but at least 100 packets. The program prints two other figures for comparison. The
 * first is the throughput of a NewReno sender alone on the same path (tests/sim/reno.h). The second
 * is the bound of Mathis, Semke, Mahdavi and Ott. A window that grows by one packet per round trip,
 * and is halved by each loss, has sqrt(3 / (2 LOSS)) packets on average.
 */
#include <math.h>

#include "sim/stack.h"

#define RATE 125000000ull /* bytes per second */
#define MTU 1500
#define QUEUE_MIN (100 * MTU)
#define START_SHARE 10 /* before the measurement, the flow runs for 1/10 of the measured time */

struct path {
	double loss;
	uint64_t rtt; /* round-trip time, ns */
	uint64_t time;
	unsigned long long seed;
};

static void path_links(const struct path *p, struct stack_world *w)
{
	size_t product = RATE * p->rtt / SEC;

	w->link[0] = (struct simnet_link){
		.delay = p->rtt / 2,
		.rate = RATE,
		.queue = product > QUEUE_MIN ? product : QUEUE_MIN,
		.overhead = SIMNET_HEADERS,
		.mtu = MTU,
	};
	w->link[1] = w->link[0];
	simnet_faults_both(w->net, w->link, "packets: drop, probability %.9f", p->loss);
}

static bool connected(struct stack_world *w)
{
	return w->works[0]->side[0].up;
}

static uint64_t written(const struct stack_world *w)
{
	return (uint64_t)w->works[0]->side[0].completed * STACK_BULK;
}

static uint64_t taken(const struct stack_world *w)
{
	return (uint64_t)w->reno->expected * RENO_PACKET;
}

/* Runs the flow. Returns the growth of count() after its start, in bytes per second. */
static double goodput(struct stack_world *w, const struct path *p,
		      uint64_t (*count)(const struct stack_world *))
{
	uint64_t before;

	stack_run_for(w, p->time / START_SHARE);
	before = count(w);
	stack_run_for(w, p->time);
	return (double)(count(w) - before) / ((double)p->time / SEC);
}

static double of_writes(const struct path *p)
{
	struct stack_world *w = stack_world_new("goodput", p->seed);
	struct stack_node *a = stack_node_new(w), *b = stack_node_new(w);
	double result;

	/* Makes the path the bottleneck: the sockets never become full. */
	a->net.full = b->net.full = 0;
	stack_node_start(a);
	stack_node_start(b);
	path_links(p, w);
	simnet_route(w->net, a->id, b->id, &w->link[0]);
	simnet_route(w->net, b->id, a->id, &w->link[1]);
	stack_work_new(a, b)->bulk = true;
	stack_run(w, 100 * SEC, connected);
	result = goodput(w, p, written);
	stack_world_free(w);
	return result;
}

static double of_reno(const struct path *p)
{
	struct stack_world *w = stack_world_new("goodput", p->seed);
	double result;

	path_links(p, w);
	w->reno = reno_new(w->net, 200);
	simnet_route(w->net, w->reno->from, w->reno->to, &w->link[0]);
	simnet_route(w->net, w->reno->to, w->reno->from, &w->link[1]);
	result = goodput(w, p, taken);
	stack_world_free(w);
	return result;
}

static double bound(const struct path *p)
{
	double path = (double)RATE * RENO_PACKET / (RENO_PACKET + SIMNET_HEADERS);
	double window = p->loss > 0 ? sqrt(1.5 / p->loss) * RENO_PACKET / ((double)p->rtt / SEC) :
				      path;

	return window < path ? window : path;
}

int main(int argc, char **argv)
{
	struct path p;

	if (argc != 5) {
		fprintf(stderr, "usage: sim-goodput LOSS RTT-US SECONDS SEED\n");
		return 2;
	}
	p.loss = strtod(argv[1], NULL);
	p.rtt = (uint64_t)(strtod(argv[2], NULL) * 1e3);
	p.time = (uint64_t)(strtod(argv[3], NULL) * SEC);
	p.seed = strtoull(argv[4], NULL, 10);
	if (!(p.loss >= 0 && p.loss < 1) || !p.rtt || !p.time) {
		fprintf(stderr,
			"sim-goodput: the loss is 0 to less than 1, the RTT and the time are more than 0\n");
		return 2;
	}
	printf("writes %.3f MB/s, reno %.3f MB/s, bound %.3f MB/s\n", of_writes(&p) / 1e6,
	       of_reno(&p) / 1e6, bound(&p) / 1e6);
	return 0;
}
