/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* LINK: runtime */
/* SOURCES: sim/stack.c sim/reno.c */
/*
 * Whole stacks on bad networks, in virtual time. A scenario is a function of a seed: what it does to
 * the network, to the packets and to the applications, and by when everything must have completed. What
 * completed is checked against a perfect model (sim/stack.h), in every scenario.
 *
 *	test_stack_sim					every scenario with the seeds of the suite
 *	test_stack_sim --scenario NAME SEED [COUNT]	replays or extends
 *	test_stack_sim --all SEED COUNT			every scenario with each of these seeds (a few, which
 *							take long, with each tenth or fiftieth)
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
		n->config.connect_limit = 3600 * SEC;
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

static bool is_up(struct stack_world *w)
{
	for (unsigned int i = 0; i < w->n_works; i++)
		if (!w->works[i]->side[0].up || !w->works[i]->side[1].up)
			return false;
	return true;
}

/* INITs are sent again after 1, 2, 4 s and so on up to a minute: with bad luck that takes long. */
static void connected(struct stack_world *w)
{
	stack_run(w, 1000 * SEC, is_up);
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
	/* Memory that changes while it is referenced makes a packet that must not be taken. */
	bool corrupt = w->link[0].corrupt || w->link[1].corrupt;

	for (unsigned int i = 0; i < w->n_works; i++) {
		stack_work_check(w->works[i]);
		corrupt |= w->works[i]->mutating;
	}
	for (unsigned int i = 0; i < w->n_nodes && !corrupt; i++)
		check(!w->nodes[i]->bad_crc);
}

static void finish(struct stack_world *w, uint64_t limit)
{
	stack_run(w, limit, stack_all_done);
	check_works(w);
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
	connected(w);
	finish(w, 120 * SEC);
}

static void loss(struct stack_world *w)
{
	usual(w);
	w->link[0].loss = (5 + below(w, 26)) / 100.0;
	w->link[1].loss = (5 + below(w, 26)) / 100.0;
	connected(w);
	finish(w, 120 * SEC);
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
	connected(w);
	finish(w, 120 * SEC);
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
	connected(w);
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
	connected(w);
	if (done_within(w, some_ms(w, 0, 500)))
		return;
	all_may_end(w);
	simnet_set_state(w->net, w->nodes[below(w, 2)]->id, SIMNET_SILENT);
	/* What is queued on the link still arrives, in up to 2 s; a heartbeat takes up to 1.5 s. */
	stack_run(w, 34 * SEC, stack_works_over);
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
	connected(w);
	if (!done_within(w, some_ms(w, 5, 800))) {
		simnet_set_state(w->net, b->id, SIMNET_SILENT);
		if (!done_within(w, some_ms(w, 1000, 60000)))
			simnet_set_state(w->net, b->id, SIMNET_UP);
		w->seen += other[0].bytes > 10000;
	}
	finish(w, 60 * SEC);
}

/* ---- the ends of sessions and associations ---- */

static bool all_assocs_over(struct stack_world *w)
{
	for (unsigned int i = 0; i < w->n_nodes; i++)
		for (unsigned int j = 0; j < w->nodes[i]->n_assocs; j++)
			if (!w->nodes[i]->assocs[j]->over)
				return false;
	return true;
}

static void some_loss(struct stack_world *w)
{
	w->link[0].loss = below(w, 15) / 100.0;
	w->link[1].loss = below(w, 15) / 100.0;
}

/* At the same moment, or while the other's Terminate, then SHUTDOWN, is on its way. */
static void close_both(struct stack_world *w)
{
	usual(w);
	some_loss(w);
	slow(w, 500000 + below(w, 5000000));
	connected(w);
	w->seen += !done_within(w, some_ms(w, 0, 500));
	for (unsigned int i = 0; i < w->n_works; i++) {
		stack_side_close(&w->works[i]->side[i & 1]);
		if (chance(w, 0.5))
			stack_run_for(w, some_ms(w, 0, 20));
		stack_side_close(&w->works[i]->side[!(i & 1)]);
	}
	stack_run(w, 30 * SEC, stack_works_over);
	check_works(w);
	for (int i = 0; i < 2; i++) {
		struct stack_assoc *a = stack_assoc_of(w->nodes[i], w->nodes[!i]);

		if (a)
			sctp_assoc_shutdown(a->sctp, w->now);
		if (chance(w, 0.5))
			stack_run_for(w, some_ms(w, 0, 20));
	}
	stack_run(w, 120 * SEC, all_assocs_over);
}

/* The peer's process is killed and comes back at the same place, which the old association survives or not. */
static void restart(struct stack_world *w)
{
	struct stack_node *a, *b;
	unsigned int old;

	usual(w);
	some_loss(w);
	a = w->nodes[0];
	b = w->nodes[1];
	connected(w);
	if (chance(w, 0.7))
		slow(w, 500000);
	w->seen += !done_within(w, some_ms(w, 0, 300));
	all_may_end(w);
	old = w->n_works;
	stack_node_kill(b);
	stack_run_for(w, chance(w, 0.5) ? 0 : some_ms(w, 0, 3000));
	stack_node_start(b);
	for (unsigned int n = 1 + below(w, 3); n; n--)
		stack_plan(stack_work_new(b, a), w->limit_ops);
	stack_connect(b, a);
	/* The old ones are flushed, and the new ones do all that was asked. */
	stack_run(w, 120 * SEC, stack_works_over);
	finish(w, 120 * SEC);
	for (unsigned int i = 0; i < old; i++)
		check(stack_work_over(w->works[i]));
}

/* Both ends open the association, and sessions on it, at once: whatever is lost, no Initiates cross. */
static void collision(struct stack_world *w)
{
	two_nodes(w);
	start(w);
	w->limit_ops = 15;
	works(w, 2 + below(w, 6));
	if (chance(w, 0.5))
		some_loss(w);
	w->link[1].delay = w->link[0].delay;
	stack_connect(w->nodes[0], w->nodes[1]);
	if (chance(w, 0.6))
		stack_run_for(w, below(w, (uint32_t)(2 * w->link[0].delay) + 2));
	if (!stack_assoc_of(w->nodes[1], w->nodes[0])) {
		stack_connect(w->nodes[1], w->nodes[0]);
		w->seen++;
	}
	finish(w, 120 * SEC);
	check(w->nodes[0]->n_assocs == 1 && w->nodes[1]->n_assocs == 1);
	check(w->nodes[0]->assocs[0]->iw->initiator != w->nodes[1]->assocs[0]->iw->initiator);
}

/* Another session. */
static void open_next(struct stack_world *w, bool first)
{
	stack_plan(stack_work_new(w->nodes[!first], w->nodes[first]), 12);
	stack_run(w, 1000 * SEC, is_up);
}

/*
 * Two streams for each opener: the next session takes an old one's, as soon as that is over, while
 * copies of its packets still come.
 */
static void reuse(struct stack_world *w)
{
	two_nodes(w);
	w->nodes[0]->config.streams = w->nodes[1]->config.streams = 4;
	start(w);
	some_loss(w);
	for (int i = 0; i < 2; i++) {
		w->link[i].duplicate = 0.3;
		w->link[i].duplicate_delay = some_ms(w, 1, 3000);
		w->link[i].reorder = 0.2;
		w->link[i].reorder_delay = some_ms(w, 1, 20);
	}
	stack_connect(w->nodes[0], w->nodes[1]);
	while (!stack_assoc_of(w->nodes[0], w->nodes[1])->iw)
		stack_run_for(w, 10 * MSEC);
	for (int n = 0; n < 14; n++) {
		struct stack_work *work;
		struct stack_side *s;

		open_next(w, chance(w, 0.5));
		work = w->works[w->n_works - 1];
		s = &work->side[below(w, 2)];
		done_within(w, some_ms(w, 0, 100));
		work->ends = true;
		if (chance(w, 0.3) && iw_qp_state(s->qp) == IW_QPS_RTS)
			check(!iw_qp_modify(s->qp, IW_QPS_ERR));
		else
			stack_side_close(s);
		w->seen += n > 4;
	}
	/* One more after them all has to work. */
	open_next(w, true);
	finish(w, 60 * SEC);
	stack_run(w, 60 * SEC, stack_works_over);
	check_works(w);
}

/* A request that the peer refuses ends its session by an RDMAP Terminate, and no other. */
static void remote_error(struct stack_world *w)
{
	struct stack_work *work;
	struct stack_side *s;
	uint32_t len;

	usual(w);
	some_loss(w);
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
	finish(w, 120 * SEC);
	check(s->closed && stack_peer(s)->closed);
}

/* ---- the numbers ---- */

static void set_ssn(struct stack_world *w, uint16_t ssn)
{
	for (unsigned int i = 0; i < 2 * w->n_works; i++) {
		struct iw_session *s = w->works[i / 2]->side[i % 2].session;

		check(s && !s->rx.order.used && s->tx.ssn == 1 && s->rx.ssn == 1);
		s->tx.ssn = s->rx.ssn = ssn;
	}
}

static void hold(struct stack_world *w, bool on)
{
	for (unsigned int i = 0; i < 2 * w->n_works; i++)
		w->works[i / 2]->side[i % 2].hold = on;
}

/* TSNs, tags and DDP-SSNs that begin just before their end. */
static void wrap(struct stack_world *w)
{
	two_nodes(w);
	start(w);
	w->limit_ops = 80;
	works(w, 1 + below(w, 4));
	hold(w, true);
	for (int i = 0; i < 2; i++) {
		stack_near_wrap(w->nodes[i], true);
		w->link[i].loss = below(w, 10) / 100.0;
		w->link[i].reorder = below(w, 30) / 100.0;
		w->link[i].reorder_delay = some_ms(w, 0, 5);
	}
	stack_connect(w->nodes[0], w->nodes[1]);
	connected(w);
	stack_run_for(w, SEC);
	for (int i = 0; i < 2; i++) {
		stack_near_wrap(w->nodes[i], false);
		check(w->nodes[i]->assocs[0]->sctp->setup.init_tsn >= UINT32_MAX - 64);
	}
	set_ssn(w, (uint16_t)(0xffff - below(w, 40)));
	hold(w, false);
	finish(w, 120 * SEC);
	w->seen += w->nodes[0]->assocs[0]->sctp->out.cum < 1 << 20;
}

/* A session that lives through all DDP-SSNs, without help. */
static void long_session(struct stack_world *w)
{
	struct stack_work *work;

	two_nodes(w);
	start(w);
	work = stack_work_new(w->nodes[0], w->nodes[1]);
	for (unsigned int i = 0; i < 70000; i++)
		stack_op_add(&work->side[0], IW_WR_RDMA_WRITE, i % 50 ? 1 : 2);
	stack_plan(work, 20);
	w->link[0].loss = w->link[1].loss = 0.01;
	w->link[0].delay = w->link[1].delay = MSEC / 10;
	stack_connect(w->nodes[0], w->nodes[1]);
	finish(w, 600 * SEC);
	w->seen++;
}

/* ---- peers that acknowledge in other ways ---- */

struct acks {
	struct {
		uint32_t tsn;
		uint64_t until; /* claimed to be there until then; 0: free */
	} unexpected[64];
	bool got[65536];
	double hold, forget;
	unsigned int most; /* gap blocks in a SACK */
};

/* The packet is one that the receiver keeps for a while and drops then. */
static bool renege(struct stack_world *w, struct acks *k, const uint8_t *packet, size_t len)
{
	const uint8_t *p = packet + WIRE_SCTP_COMMON_LEN;
	struct wire_sctp_chunk c;
	unsigned int n = 0;
	uint32_t tsn[64];

	if (!chance(w, k->hold))
		return false;
	while (wire_sctp_chunk_next(&p, packet + len, &c)) {
		if (c.type != WIRE_SCTP_DATA || n == 64)
			return false;
		tsn[n++] = get_be32(c.raw + 4);
	}
	for (unsigned int i = 0; i < 64 && n; i++) {
		if (k->unexpected[i].until > w->now)
			continue;
		k->unexpected[i].tsn = tsn[--n];
		k->unexpected[i].until = w->now + some_ms(w, 5, 200);
		w->seen++;
	}
	return n == 0; /* else what is claimed to be there really comes */
}

static size_t change_sack(struct stack_world *w, struct acks *k, const struct wire_sctp_chunk *c, uint8_t *out)
{
	struct wire_sctp_gap gaps[2048];
	struct wire_sctp_sack s;
	unsigned int n = 0, most = k->hold > 0 && chance(w, 0.3) ? below(w, 3) : k->most;

	check(wire_sctp_sack_get(c, &s));
	memset(k->got, 0, sizeof(k->got));
	for (unsigned int i = 0; i < s.gaps; i++) {
		struct wire_sctp_gap g = wire_sctp_sack_gap(&s, i);

		if (!chance(w, k->forget))
			memset(k->got + g.start, 1, g.end - g.start + 1u);
	}
	for (unsigned int i = 0; i < 64; i++)
		if (k->unexpected[i].until > w->now && k->unexpected[i].tsn - s.cum - 2 < 65000)
			k->got[k->unexpected[i].tsn - s.cum] = true;
	for (unsigned int i = 2; i < 65535 && n < most; i++) {
		if (!k->got[i])
			continue;
		gaps[n].start = (uint16_t)i;
		while (k->got[i + 1])
			i++;
		gaps[n++].end = (uint16_t)i;
	}
	return wire_sctp_sack_put(out, s.cum, s.a_rwnd, gaps, n, NULL, 0);
}

static size_t change_acks(struct stack_world *w, struct stack_node *from, uint8_t *packet, size_t len)
{
	static uint8_t out[2 * 65536];
	struct acks *k = w->filter_ctx;
	const uint8_t *p = packet + WIRE_SCTP_COMMON_LEN, *end = packet + len;
	struct wire_sctp_chunk c;
	size_t at = WIRE_SCTP_COMMON_LEN;
	bool any = false;

	if (from->number == 0)
		return renege(w, k, packet, len) ? 0 : len;
	memcpy(out, packet, at);
	while (wire_sctp_chunk_next(&p, end, &c)) {
		if (c.type == WIRE_SCTP_SACK) {
			at += change_sack(w, k, &c, out + at);
			any = true;
		} else {
			memcpy(out + at, c.raw, c.len);
			at += wire_sctp_pad(out + at, c.len);
		}
	}
	if (!any || at > 65000)
		return len;
	put_be32(out + 8, 0);
	wire_sctp_checksum_put(out, at);
	memcpy(packet, out, at);
	return at;
}

static void acknowledged(struct stack_world *w, struct acks *k, uint64_t limit)
{
	usual(w);
	w->link[0].loss = below(w, 15) / 100.0;
	w->link[1].loss = below(w, 5) / 100.0;
	connected(w);
	w->filter = change_acks;
	w->filter_ctx = k;
	finish(w, limit);
	free(k);
}

/* Node 1 says that it has what it drops later. */
static void reneging(struct stack_world *w)
{
	struct acks *k = calloc(1, sizeof(*k));

	assert_non_null(k);
	k->hold = (5 + below(w, 20)) / 100.0;
	k->forget = below(w, 30) / 100.0;
	/* What a list leaves out for want of room is not taken back. */
	k->most = chance(w, 0.5) ? 1000 : below(w, 17);
	acknowledged(w, k, 240 * SEC);
}

/* As Linux, which reports 16 gaps; and fewer. */
static void few_gaps(struct stack_world *w)
{
	struct acks *k = calloc(1, sizeof(*k));

	assert_non_null(k);
	k->most = below(w, 17);
	acknowledged(w, k, 120 * SEC);
	w->seen++;
}

/* ---- applications ---- */

static void changing_memory(struct stack_world *w)
{
	two_nodes(w);
	start(w);
	works(w, 1 + below(w, 4));
	for (unsigned int i = 0; i < w->n_works; i++)
		w->works[i]->mutating = true;
	some_loss(w);
	stack_connect(w->nodes[0], w->nodes[1]);
	finish(w, 120 * SEC);
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

/* A Send or Write is complete once SCTP has a copy, or the peer has it: the memory may go while that is sent again. */
static void dereg_source(struct stack_world *w)
{
	struct stack_work *work;
	struct stack_side *s;

	two_nodes(w);
	start(w);
	work = stack_work_new(w->nodes[0], w->nodes[1]);
	s = &work->side[0];
	for (unsigned int n = 2 + below(w, 30); n; n--)
		stack_op_add(s, chance(w, 0.5) ? IW_WR_SEND : IW_WR_RDMA_WRITE, below(w, 4000));
	stack_op_add(s, IW_WR_SEND, 10);
	w->link[0].loss = (10 + below(w, 20)) / 100.0;
	w->link[1].loss = below(w, 20) / 100.0;
	works(w, 1);
	stack_connect(w->nodes[0], w->nodes[1]);
	stack_run(w, 1000 * SEC, first_is_up); /* a handshake may take long: see connected() */
	stack_run(w, 120 * SEC, first_posted);
	w->seen += !stack_work_done(work);
	check(!iw_mr_free(s->source_mr));
	s->source_mr = NULL;
	free(s->source);
	s->source = NULL;
	finish(w, 120 * SEC);
}

/* The same with requests that have not gone out yet, or with what the peer writes to or reads. */
static void dereg_in_use(struct stack_world *w)
{
	uint8_t *before = malloc(STACK_SINK);
	struct stack_side *s;

	assert_non_null(before);
	usual(w);
	some_loss(w);
	slow(w, 200000 + below(w, 1000000));
	connected(w);
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
	done_within(w, 30 * SEC);
	check(!memcmp(before, s->sink, STACK_SINK));
	free(before);
	w->seen += s->closed;
	if (!s->closed)
		stack_side_close(s);
	stack_run(w, 60 * SEC, stack_works_over);
	finish(w, 60 * SEC);
}

/* Sends that find no receive wait, or end their own session; the other sessions go on. */
static void no_receives(struct stack_world *w)
{
	struct stack_work *lame;
	bool over = chance(w, 0.5);

	two_nodes(w);
	if (over)
		w->nodes[1]->iw_config.unexpected_bytes_per_qp = 50000;
	start(w);
	lame = stack_work_new(w->nodes[0], w->nodes[1]);
	lame->side[1].hold_recvs = true;
	lame->ends = true; /* it does not count until it has receives */
	for (unsigned int n = 0; n < 60; n++)
		stack_op_add(&lame->side[0], IW_WR_SEND, over ? 4000 : below(w, 9000));
	works(w, 1 + below(w, 4));
	some_loss(w);
	stack_connect(w->nodes[0], w->nodes[1]);
	stack_run(w, 120 * SEC, stack_all_done);
	check(!lame->side[1].recvs_done || over);
	stack_run_for(w, 5 * SEC);
	check(lame->side[0].closed == over && lame->side[1].closed == over);
	w->seen += over;
	if (over) {
		stack_run(w, 30 * SEC, stack_works_over);
	} else {
		lame->ends = false;
		lame->side[1].hold_recvs = false;
	}
	finish(w, 60 * SEC);
}

/*
 * Several QPs share few receives, on bad networks; now and then one ends in the midst of it. The others get
 * all of their messages, and no receive is lost.
 */
static void shared_receives(struct stack_world *w)
{
	unsigned int ending = below(w, 3);

	two_nodes(w);
	for (int i = 0; i < 2; i++)
		w->nodes[i]->srq_slots = 1 + below(w, chance(w, 0.5) ? 4 : STACK_SRQ);
	start(w);
	works(w, ending + 2 + below(w, 4));
	some_loss(w);
	if (chance(w, 0.5))
		w->link[below(w, 2)].reorder = 0.2, w->link[1].reorder_delay = 5 * MSEC;
	stack_connect(w->nodes[0], w->nodes[1]);
	connected(w);
	for (unsigned int i = 0; i < ending; i++) {
		stack_run_for(w, some_ms(w, 0, 300));
		stack_side_close(&w->works[i]->side[below(w, 2)]);
	}
	stack_run(w, 600 * SEC, stack_works_over);
	finish(w, 600 * SEC);
	stack_run_for(w, MSEC); /* what was flushed is polled, and posted again */
	for (int i = 0; i < 2; i++)
		if (w->nodes[i]->srq)
			stack_srq_check(w->nodes[i]);
}

/* Where placement is in order, writes to the same bytes leave the last one's. */
static void overlapping(struct stack_world *w)
{
	two_nodes(w);
	for (int i = 0; i < 2; i++)
		w->nodes[i]->iw_config.in_order = true;
	start(w);
	for (unsigned int n = 1 + below(w, 3); n; n--) {
		struct stack_work *work = stack_work_new(w->nodes[0], w->nodes[1]);

		work->overlap = true;
		stack_plan(work, 100);
	}
	some_loss(w);
	for (int i = 0; i < 2; i++) {
		w->link[i].reorder = 0.3;
		w->link[i].reorder_delay = some_ms(w, 0, 10);
	}
	stack_connect(w->nodes[0], w->nodes[1]);
	finish(w, 120 * SEC);
}

/* ---- sharing ---- */

static struct stack_work *bulk(struct stack_node *from, struct stack_node *to)
{
	struct stack_work *work = stack_work_new(from, to);

	work->bulk = true;
	return work;
}

static void bottleneck(struct stack_world *w, struct simnet_link *down)
{
	*down = (struct simnet_link){ .delay = some_ms(w, 5, 15), .rate = 1250000 };
	down->queue = 30000 + below(w, 30000);
	down->overhead = SIMNET_HEADERS;
	simnet_route(w->net, w->nodes[0]->id, w->nodes[1]->id, down);
	w->link[1].delay = down->delay;
	/* As no real network keeps step: else who meets the full queue once meets it always. */
	down->jitter = w->link[1].jitter = 2 * MSEC;
}

#define SHARE_TIME 200

static void share(struct stack_world *w)
{
	struct simnet_link down;
	struct stack_assoc *x, *y;
	uint64_t bx, by;
	double ratio;

	two_nodes(w);
	w->nodes[0]->mtu = w->nodes[1]->mtu = 1500;
	stack_node_new(w);
	start(w);
	bottleneck(w, &down);
	simnet_route(w->net, w->nodes[2]->id, w->nodes[1]->id, &down);
	simnet_route(w->net, w->nodes[1]->id, w->nodes[2]->id, &w->link[1]);
	bulk(w->nodes[0], w->nodes[1]);
	bulk(w->nodes[2], w->nodes[1]);
	stack_connect(w->nodes[0], w->nodes[1]);
	stack_connect(w->nodes[2], w->nodes[1]);
	connected(w);
	stack_run_for(w, 10 * SEC);
	x = stack_assoc_of(w->nodes[1], w->nodes[0]);
	y = stack_assoc_of(w->nodes[1], w->nodes[2]);
	bx = x->bytes_in;
	by = y->bytes_in;
	stack_run_for(w, SHARE_TIME * SEC);
	bx = x->bytes_in - bx;
	by = y->bytes_in - by;
	ratio = (double)bx / (double)by;
	check(ratio > 0.8 && ratio < 1.25);
	check((double)(bx + by) > 0.85 * 1250000 * SHARE_TIME);
	check_works(w);
}

static void share_tcp(struct stack_world *w)
{
	struct simnet_link down;
	struct stack_assoc *x;
	uint64_t bx, by;
	double ratio;

	two_nodes(w);
	w->nodes[0]->mtu = w->nodes[1]->mtu = 1500;
	start(w);
	bottleneck(w, &down);
	bulk(w->nodes[0], w->nodes[1]);
	stack_connect(w->nodes[0], w->nodes[1]);
	w->reno = reno_new(w->net, 200);
	simnet_route(w->net, w->reno->from, w->reno->to, &down);
	simnet_route(w->net, w->reno->to, w->reno->from, &w->link[1]);
	connected(w);
	stack_run_for(w, 10 * SEC);
	x = stack_assoc_of(w->nodes[1], w->nodes[0]);
	bx = x->bytes_in;
	by = w->reno->expected;
	stack_run_for(w, SHARE_TIME * SEC);
	bx = x->bytes_in - bx;
	by = (w->reno->expected - by) * RENO_PACKET;
	ratio = (double)bx / (double)by;
	check(ratio > 0.5 && ratio < 2);
	check_works(w);
}

/* ---- the table ---- */

struct scenario {
	const char *name;
	void (*run)(struct stack_world *w);
	unsigned int count; /* seeds in the suite */
	bool blind;	    /* what it is about need not show in w->seen */
	unsigned int every; /* --all: only seeds that this divides, since it takes long; 0: all */
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
	{ "close-both", close_both, 20 },
	{ "restart", restart, 20 },
	{ "collision", collision, 30 },
	{ "reuse", reuse, 20 },
	{ "remote-error", remote_error, 20, true },
	{ "wrap", wrap, 20 },
	{ "long-session", long_session, 4, .every = 10 },
	{ "reneging", reneging, 60 },
	{ "few-gaps", few_gaps, 20 },
	{ "changing-memory", changing_memory, 20 },
	{ "dereg-source", dereg_source, 20 },
	{ "dereg-in-use", dereg_in_use, 20 },
	{ "no-receives", no_receives, 20 },
	{ "shared-receives", shared_receives, 40 },
	{ "overlapping", overlapping, 20, true },
	{ "share", share, 3, true, 50 },
	{ "share-tcp", share_tcp, 3, true, 50 },
};

#define N_SCENARIOS (sizeof(scenarios) / sizeof(scenarios[0]))

static unsigned long long first = 1, count;
static bool all;

static void run_scenario(void **state)
{
	const struct scenario *s = *state;
	unsigned long long n = count ? count : s->count, ref = 0, seed;
	unsigned int seen = 0;

	ROWS("5041-3-03 5041-5.2-05 5041-5.3-01");
	for (seed = first; seed < first + n; seed++) {
		struct stack_world *w;

		if (all && s->every && seed % s->every)
			continue;
		w = stack_world_new(s->name, seed);
		s->run(w);
		seen += w->seen;
		ref += w->ref;
		stack_world_free(w);
	}
	if (n >= 10 && !s->blind && !s->every && !seen)
		fail_msg("%s: what it is about has never happened", s->name);
	if (n >= 10 && !s->every && !ref)
		fail_msg("%s: no memory was ever ref", s->name);
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
		all = true;
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
