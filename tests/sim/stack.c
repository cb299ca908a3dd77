/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sim/stack.h"

#include "util/bytes.h"

#define STEPS_MAX 20000000ull

struct stack_world *stack_current;

/* ---- random numbers of nodes ---- */

static void near_wrap(struct random_source *self, void *buf, size_t len)
{
	struct sim_random *r = (struct sim_random *)(void *)self;

	/* In the byte order of random_u32(). */
	for (size_t at = 0; at + sizeof(uint32_t) <= len; at += sizeof(uint32_t))
		put_le32((uint8_t *)buf + at, UINT32_MAX - sim_random_below(r, 64));
}

void stack_near_wrap(struct stack_node *n, bool on)
{
	struct sim_random fresh;

	sim_random_init(&fresh, sim_random_u64(&n->w->random));
	if (on)
		fresh.source.fill = near_wrap;
	n->random = fresh;
}

/* ---- nodes ---- */

static struct stack_node *node_new(struct stack_world *w, const struct ip_addr *addr,
				   unsigned int process)
{
	struct stack_node *n = calloc(1, sizeof(*n));

	assert_non_null(n);
	n->w = w;
	n->number = w->n_nodes;
	n->process = process;
	n->addr = *addr;
	n->id = simnet_add(w->net, &n->addr, (uint16_t)(STACK_UDP_PORT + process), &stack_net_ops,
			   n);
	n->second = -1;
	n->mtu = 1500;
	n->backlog = 64;
	n->net.full = 0.02;
	sim_random_init(&n->net.random, w->seed * STACK_NODES + n->number);
	n->net.join = sim_random_below(&n->net.random, 3) * 0.45;
	sctp_config_default(&n->sctp_config);
	n->config = (struct config){
		.encap_port = STACK_UDP_PORT,
		.share = true,
		.silent_limit = n->sctp_config.silent_limit,
		.request_limit = 1024,
	};
	n->iw_config = (struct iw_config){
		.unexpected_bytes_per_qp = 1 << 20,
		.zcopy_min = SCTP_ZCOPY_MIN + sim_random_below(&w->random, 2000),
	};
	n->zcopy = sim_random_chance(&w->random, 0.8);
	n->receipts = sim_random_chance(&w->random, 0.9);
	w->nodes[w->n_nodes++] = n;
	return n;
}

struct stack_node *stack_node_new(struct stack_world *w)
{
	struct ip_addr addr = simnet_v4((uint8_t)(w->n_nodes + 1));

	return node_new(w, &addr, 0);
}

struct stack_node *stack_node_beside(struct stack_node *n)
{
	return node_new(n->w, &n->addr, n->process + 1);
}

void stack_node_second(struct stack_node *n, uint8_t number)
{
	n->second_addr = simnet_v4(number);
	n->second = simnet_add(n->w->net, &n->second_addr, STACK_UDP_PORT, &stack_net_ops, n);
}

void stack_second_link(struct stack_node *a, struct stack_node *b, uint8_t number,
		       struct simnet_link *link)
{
	struct stack_world *w = a->w;

	simnet_faults(w->net, &w->nowhere, "packets: drop");
	stack_node_second(a, number);
	stack_node_second(b, (uint8_t)(number + 1));
	simnet_route(w->net, a->id, b->second, &w->nowhere);
	simnet_route(w->net, b->second, a->id, &w->nowhere);
	simnet_route(w->net, b->id, a->second, &w->nowhere);
	simnet_route(w->net, a->second, b->id, &w->nowhere);
	simnet_route(w->net, a->second, b->second, &link[0]);
	simnet_route(w->net, b->second, a->second, &link[1]);
	a->twin = b;
	b->twin = a;
}

void stack_node_start(struct stack_node *n)
{
	struct config_error why;
	struct conn_param param = {
		.ops = &stack_conn_ops,
		.config = &n->config,
		.transport = &transport_user_sctp,
		.carrier = &n->carrier,
		.net = &n->net,
		.random = &n->random.source,
	};

	sim_random_init(&n->random, sim_random_u64(&n->w->random));
	list_init(&n->chan.events);
	n->rnic = iw_rnic_new(&n->iw_config, &stack_rnic_ops, &n->random.source);
	n->ids = param.ids = cm_id_table_new();
	n->iw = param.iw = iw_shard_new(n->rnic, &n->random.source);
	assert_true(n->iw && n->ids);
	n->carrier = stack_carrier;
	if (n->w->layer) {
		n->carrier.overhead = n->sctp_config.overhead = n->w->layer->overhead;
		n->carrier.packet_max = n->sctp_config.packet_max = n->w->layer->packet_max;
		n->w->layer->start(n);
	}
	memset(&n->conn, 0, sizeof(n->conn));
	n->conn.now = n->w->now;
	check(!conn_start(&n->conn, &param, &why));
	n->pd = iw_pd_new(n->rnic, NULL);
	assert_non_null(n->pd);
	n->alive = true;
	stack_listen(n);
}

static void free_ids(struct stack_node *n)
{
	struct cm_id *id;
	uint32_t pos = 0;

	while ((id = cm_id_next(&n->conn, &pos)))
		cm_id_free(id);
	n->listener = 0;
	check(!n->chan.n && !n->chan.refs);
}

void stack_node_kill(struct stack_node *n)
{
	struct stack_world *w = n->w;

	if (!n->alive)
		return;
	n->alive = false;
	stack_carrier_clear(n);
	free_ids(n);
	for (unsigned int i = 0; i < 2 * w->n_works; i++) {
		struct stack_side *s = &w->works[i / 2]->side[i % 2];

		if (s->node == n) {
			s->link = (struct stack_link){ 0 };
			stack_side_free(s);
		}
	}
	stack_srq_free(n);
	conn_stop(&n->conn);
	cm_id_table_free(n->ids, &stack_conn_ops.events);
	assert_int_equal(iw_pd_free(n->pd), 0);
	iw_shard_free(n->iw);
	iw_rnic_free(n->rnic);
	if (w->layer)
		w->layer->stop(n, false);
}

void stack_node_exit(struct stack_node *n)
{
	conn_abort_all(&n->conn);
	conn_output(&n->conn);
	if (n->w->layer)
		n->w->layer->stop(n, true);
	stack_node_kill(n);
}

/* ---- associations ---- */

static bool is_at(const struct stack_node *n, const struct ip_addr *addr)
{
	return ip_addr_equal(&n->addr, addr) ||
	       (n->second >= 0 && ip_addr_equal(&n->second_addr, addr));
}

/* Returns the number of associations, and one of them in *last. */
static unsigned int assocs(const struct stack_node *n, const struct stack_node *peer,
			   struct conn_assoc **last)
{
	unsigned int count = 0;

	list_for_each(node, &n->conn.endpoints.open) {
		const struct endpoint *ep = list_entry(node, struct endpoint, node);

		list_for_each(anode, &ep->assocs) {
			struct conn_assoc *a = list_entry(anode, struct conn_assoc, node);

			if (peer && !is_at(peer, &n->conn.transport->addr(a)->remote))
				continue;
			*last = a;
			count++;
		}
	}
	return count;
}

unsigned int stack_assocs(const struct stack_node *n, const struct stack_node *peer)
{
	struct conn_assoc *a;

	return assocs(n, peer, &a);
}

struct conn_assoc *stack_assoc_of(const struct stack_node *n, const struct stack_node *peer)
{
	struct conn_assoc *a = NULL;

	assocs(n, peer, &a);
	return a;
}

/* ---- worlds ---- */

struct stack_world *stack_world_new(const char *scenario, unsigned long long seed)
{
	struct stack_world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	stack_current = w;
	w->scenario = scenario;
	w->seed = seed;
	w->now = 1000 * SEC;
	w->net = simnet_new(seed);
	w->limit_ops = 40;
	sim_random_init(&w->random, seed ^ 0x9e3779b97f4a7c15ull);
	return w;
}

void stack_world_free(struct stack_world *w)
{
	for (unsigned int i = 0; i < w->n_nodes; i++) {
		stack_node_kill(w->nodes[i]);
		free(w->nodes[i]);
	}
	for (unsigned int i = 0; i < w->n_works; i++)
		free(w->works[i]);
	simnet_free(w->net);
	free(w->reno);
	free(w->streams);
	free(w);
	stack_current = NULL;
}

/* ---- the loop ---- */

/* Each event may cause others. */
static void events(struct stack_node *n)
{
	while (conn_events(&n->conn, stack_raised, n))
		;
}

static void applications(struct stack_node *n)
{
	struct stack_world *w = n->w;

	stack_read_events(n);
	for (unsigned int i = 0; i < 2 * w->n_works; i++) {
		struct stack_side *s = &w->works[i / 2]->side[i % 2];

		if (s->node != n || n->deaf)
			continue;
		stack_side_connect(s);
		stack_application(s);
	}
}

static void run_node(struct stack_node *n)
{
	struct stack_world *w = n->w;
	struct conn *c = &n->conn;

	c->now = w->now;
	iw_set_now(n->iw, w->now);
	conn_receive(c, CONN_THOROUGH);
	events(n);
	if (conn_next_timeout(c) <= w->now)
		conn_timers(c);
	events(n);
	do {
		applications(n);
		conn_output(c);
		events(n);
	} while (n->chan.n && !n->deaf);
	conn_reap(c);
	if (!sim_random_below(&w->random, 32))
		stack_check_bounds(n);
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Returns the time when an application acts next without an event. */
static uint64_t next_application(const struct stack_world *w)
{
	uint64_t next = TIME_NEVER;

	for (unsigned int i = 0; i < 2 * w->n_works; i++) {
		const struct stack_work *work = w->works[i / 2];
		const struct stack_side *s = &work->side[i % 2];

		if (work->retry_at > w->now)
			next = earliest(next, work->retry_at);
		if (s->link.at > w->now)
			next = earliest(next, s->link.at);
	}
	return next;
}

static void step(struct stack_world *w, uint64_t limit)
{
	uint64_t next = limit;

	for (unsigned int i = 0; i < w->n_nodes; i++)
		if (w->nodes[i]->alive)
			run_node(w->nodes[i]);
	if (w->reno)
		reno_run(w->reno, w->now);
	next = earliest(next, simnet_next(w->net));
	next = earliest(next, next_application(w));
	for (unsigned int i = 0; i < w->n_nodes; i++)
		if (w->nodes[i]->alive)
			next = earliest(next, conn_next_timeout(&w->nodes[i]->conn));
	if (w->reno)
		next = earliest(next, reno_next(w->reno));
	if (next > w->now)
		w->now = next;
	simnet_deliver(w->net, w->now);
	check(++w->steps < STEPS_MAX);
}

void stack_run(struct stack_world *w, uint64_t limit, bool (*done)(struct stack_world *))
{
	limit += w->now;
	while (!done(w)) {
		check(w->now < limit);
		step(w, limit);
	}
}

void stack_run_for(struct stack_world *w, uint64_t ns)
{
	uint64_t until = w->now + ns;

	while (w->now < until)
		step(w, until);
}
