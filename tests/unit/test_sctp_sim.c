// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* LINK: sctp */
/*
 * SCTP instances over a simulated network on a virtual clock: every message once
 * and intact whatever the network does, bounded in virtual time; and the ways in
 * which associations begin and end.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sctp/internal.h"
#include "sim/simnet.h"
#include "util/bytes.h"
#include "util/serial.h"

#define SEC 1000000000ull
#define MSEC SIMNET_MSEC
#define HOSTS 4
#define FLOWS 64
#define MSG_MAX 65536

struct host;

struct flow {
	struct host *host;
	struct sctp_assoc *a; /* NULL: gone */
	uint32_t to_send;
	uint32_t sent;
	uint32_t min_len; /* of messages; a message carries at least 8 bytes */
	uint32_t max_len;
	uint8_t *got; /* one a message of the peer */
	uint32_t got_size;
	uint32_t received;
	uint64_t bytes;
	bool up;
	bool closed;
	bool shut;
	unsigned int restarts;
	int error;
	uint64_t ended;
};

struct world;

struct host {
	struct world *w;
	struct sctp *s;
	struct sctp_endpoint *ep;
	struct sctp_config config;
	size_t rcvbuf;
	int node;
	struct ip_addr addr;
	uint16_t port;
	struct sim_random random;
	struct sctp_rx rx;
	struct flow flows[FLOWS];
	unsigned int flow_count;
	uint32_t reply; /* messages that a flow made by the peer sends */
	uint32_t mtu;
	bool dead;
	uint64_t packets_out;
};

struct world {
	struct simnet *net;
	struct sim_random random;
	struct host *hosts[HOSTS];
	unsigned int count;
	struct simnet_link link[2]; /* default: there and back */
	uint64_t now;
	uint64_t seed;
};

static uint8_t pattern(uint32_t index, uint32_t i)
{
	return (uint8_t)((index * 2654435761u + i * 40503u) >> 13);
}

static size_t pull(void *user, uint8_t *buf, size_t room, struct sctp_msg *msg)
{
	struct flow *f = user;
	uint32_t len, i;

	assert_non_null(f);
	if (f->sent >= f->to_send || room < 8)
		return 0;
	len = f->min_len + sim_random_below(&f->host->random, f->max_len - f->min_len + 1);
	if (len > room) {
		if (room < f->min_len)
			return 0;
		len = (uint32_t)room;
	}
	put_be32(buf, f->sent);
	put_be32(buf + 4, len);
	for (i = 8; i < len; i++)
		buf[i] = pattern(f->sent, i);
	msg->sid = (uint16_t)(f->sent % sctp_assoc_streams(f->a));
	msg->ppid = f->sent ^ 0x10;
	f->sent++;
	msg->more = f->sent < f->to_send;
	return len;
}

static struct flow *flow_new(struct host *h, uint32_t to_send)
{
	struct flow *f = &h->flows[h->flow_count++];

	assert_true(h->flow_count <= FLOWS);
	*f = (struct flow){ .host = h, .to_send = to_send, .min_len = 8, .max_len = 3000 };
	return f;
}

static void flow_data(struct flow *f, const struct sctp_data *d)
{
	uint32_t index, i;

	assert_true(d->len >= 8);
	index = get_be32(d->data);
	assert_int_equal(get_be32(d->data + 4), d->len);
	assert_int_equal(d->ppid, index ^ 0x10);
	for (i = 8; i < d->len; i++)
		if (d->data[i] != pattern(index, i))
			fail_msg("message %u byte %u of %u is wrong", index, i, d->len);
	assert_true(index < 1u << 24);
	if (index >= f->got_size) {
		uint32_t size = f->got_size ? f->got_size : 1024;

		while (size <= index)
			size *= 2;
		f->got = realloc(f->got, size);
		memset(f->got + f->got_size, 0, size - f->got_size);
		f->got_size = size;
	}
	assert_int_equal(f->got[index], 0); /* once */
	f->got[index] = 1;
	f->received++;
	f->bytes += d->len;
}

static void events(struct host *h)
{
	struct sctp_event ev;

	while (sctp_next_event(h->s, &ev)) {
		struct flow *f = ev.user;

		if (!f)
			continue;
		assert_ptr_equal(f->a, ev.assoc);
		switch (ev.type) {
		case SCTP_EVENT_UP:
			assert_false(f->up);
			f->up = true;
			sctp_assoc_kick(f->a);
			break;
		case SCTP_EVENT_SHUTDOWN:
			f->shut = true;
			break;
		case SCTP_EVENT_LOST:
			f->error = ev.error;
			assert_true(ev.error < 0);
			f->a = NULL;
			f->ended = h->w->now;
			break;
		case SCTP_EVENT_CLOSED:
			f->closed = true;
			f->a = NULL;
			f->ended = h->w->now;
			break;
		}
	}
}

static void deliver(void *ctx, const struct path_addr *path, const uint8_t *packet, size_t len,
		    uint64_t now)
{
	struct host *h = ctx;
	struct flow *f;
	unsigned int i;

	if (h->dead)
		return;
	sctp_input(h->ep, path, packet, len, now, &h->rx);
	if (h->rx.up) {
		f = flow_new(h, h->reply);
		f->a = h->rx.assoc;
		f->up = true;
		if (h->mtu)
			sctp_assoc_set_mtu(f->a, h->mtu);
		sctp_assoc_set_user(f->a, f);
		sctp_assoc_kick(f->a);
	}
	f = h->rx.assoc ? sctp_assoc_user(h->rx.assoc) : NULL;
	if (h->rx.restart) {
		f->restarts++;
		f->received = 0;
		memset(f->got, 0, f->got_size);
		f->sent = 0;
		sctp_assoc_kick(f->a);
	}
	for (i = 0; i < h->rx.count; i++)
		flow_data(f, &h->rx.data[i]);
	events(h);
}

static void unreachable(void *ctx, const struct path_addr *to, uint64_t now)
{
	struct host *h = ctx;

	if (h->dead)
		return;
	sctp_unreachable(h->ep, to, now);
	events(h);
}

static const struct simnet_ops net_ops = { deliver, unreachable };
static const struct sctp_user_ops user_ops = { pull };

static void host_start(struct host *h)
{
	h->s = sctp_new(&h->config, &user_ops, &h->random.source);
	assert_non_null(h->s);
	h->ep = sctp_endpoint_new(h->s, h->port, h->rcvbuf, h);
	assert_non_null(h->ep);
	sctp_endpoint_set_accept(h->ep, true);
}

static struct host *host_new(struct world *w, uint16_t port)
{
	struct host *h = calloc(1, sizeof(*h));

	h->w = w;
	h->addr = simnet_v4((uint8_t)(w->count + 1));
	h->port = port;
	h->rcvbuf = 425984;
	h->mtu = 1500;
	sctp_config_default(&h->config);
	sim_random_init(&h->random, w->seed * 1000 + w->count);
	h->node = simnet_add(w->net, &h->addr, port, &net_ops, h);
	w->hosts[w->count++] = h;
	host_start(h);
	return h;
}

static struct world *world_new(uint64_t seed, struct host **a, struct host **b)
{
	struct world *w = calloc(1, sizeof(*w));

	w->seed = seed;
	w->now = 1000 * SEC;
	sim_random_init(&w->random, seed ^ 0x5ca1ab1e);
	w->net = simnet_new(seed);
	*a = host_new(w, 5001);
	*b = host_new(w, 5002);
	w->link[0].delay = w->link[1].delay = 50000;
	simnet_route(w->net, (*a)->node, (*b)->node, &w->link[0]);
	simnet_route(w->net, (*b)->node, (*a)->node, &w->link[1]);
	return w;
}

/* Drops the host's state as a killed process does. */
static void host_kill(struct host *h)
{
	unsigned int i;

	sctp_free(h->s);
	h->s = NULL;
	for (i = 0; i < h->flow_count; i++) {
		h->flows[i].a = NULL;
		free(h->flows[i].got);
		h->flows[i].got = NULL;
	}
	h->dead = true;
}

static void world_free(struct world *w)
{
	unsigned int i;

	for (i = 0; i < w->count; i++) {
		host_kill(w->hosts[i]);
		free(w->hosts[i]);
	}
	simnet_free(w->net);
	free(w);
}

/* The accounts of an association are what its ring says. */
static void check_accounts(const struct sctp_assoc *a)
{
	uint32_t flight = 0, charged = 0, lost = 0, acked = 0, tsn;

	for (tsn = a->out.cum + 1; tsn != a->out.next; tsn++) {
		const struct sctp_out *o = sctp_outq_at(&a->out, tsn);

		if (o->flags & SCTP_OUT_LOST) {
			assert_false(o->flags & SCTP_OUT_ACKED);
			assert_false(serial32_lt(tsn, a->lost_from));
			lost++;
		} else if (o->flags & SCTP_OUT_ACKED) {
			acked++;
		} else {
			flight += o->len;
			charged += o->len + (o->flags & SCTP_OUT_FIRST ? SCTP_PACKET_OVERHEAD : 0);
		}
	}
	assert_int_equal(flight, a->path.flight);
	assert_int_equal(charged, a->charged);
	assert_int_equal(lost, a->lost);
	assert_int_equal(acked, a->gap_acked);
	assert_true(sctp_outq_count(&a->out) <= a->s->config.max_tsn_distance);
	/* Over the window by one packet at most, besides what was in flight when it shrank. */
	if (!sctp_outq_count(&a->out))
		assert_null(a->block);
}

static void output(struct host *h)
{
	struct sctp_assoc *a;
	struct sctp_batch batch;
	size_t at;

	while ((a = sctp_next_ready(h->s))) {
		uint32_t before, next;

		for (;;) {
			before = a->path.flight;
			next = a->out.next;
			if (sctp_output(a, h->w->now, &batch) <= 0)
				break;
			assert_true(batch.segment && batch.len);
			assert_true(batch.len <= 65000 || batch.len == batch.segment);
			assert_true(!batch.df || batch.segment <= a->path.max_packet);
			assert_true(batch.len % 4 == 0 && batch.segment % 4 == 0);
			if (a->out.next != next) {
				assert_true(before < a->path.cc.cwnd);
				assert_true(a->path.flight < a->path.cc.cwnd + a->path.max_packet);
			}
			for (at = 0; at < batch.len; at += batch.segment) {
				size_t len = batch.len - at;

				if (len > batch.segment)
					len = batch.segment;
				simnet_send(h->w->net, h->node, &batch.to, batch.data + at, len,
					    h->w->now);
				h->packets_out++;
			}
			sctp_batch_done(h->s, &batch);
		}
		if (sim_random_below(&h->w->random, 8) == 0)
			check_accounts(a);
	}
	while (sctp_output_stray(h->s, &batch) > 0) {
		simnet_send(h->w->net, h->node, &batch.to, batch.data, batch.len, h->w->now);
		sctp_batch_done(h->s, &batch);
		h->packets_out++;
	}
}

/* One step of virtual time; false: nothing will ever happen again. */
static bool step(struct world *w, uint64_t limit)
{
	uint64_t next = simnet_next(w->net);
	unsigned int i;

	for (i = 0; i < w->count; i++)
		if (!w->hosts[i]->dead) {
			uint64_t t = sctp_next_timeout(w->hosts[i]->s);

			if (t < next)
				next = t;
		}
	if (next == SIMNET_NEVER || next > limit)
		return false;
	if (next > w->now)
		w->now = next;
	simnet_deliver(w->net, w->now);
	for (i = 0; i < w->count; i++) {
		struct host *h = w->hosts[i];

		if (h->dead)
			continue;
		sctp_timers(h->s, w->now);
		events(h);
		output(h);
		events(h);
	}
	return true;
}

static void flush(struct world *w)
{
	unsigned int i;

	for (i = 0; i < w->count; i++)
		if (!w->hosts[i]->dead)
			output(w->hosts[i]);
}

/* Until done() or for so long; returns done(). */
static bool run(struct world *w, uint64_t limit, bool (*done)(struct world *))
{
	limit += w->now;
	flush(w);
	while (!done || !done(w))
		if (!step(w, limit)) {
			w->now = limit > w->now && !done ? limit : w->now;
			return !done;
		}
	return true;
}

static struct path_addr path_to(const struct host *from, const struct host *to)
{
	struct path_addr p = { from->addr, to->addr, to->port };

	return p;
}

static struct flow *connect_to(struct host *from, struct host *to, uint32_t to_send)
{
	struct path_addr p = path_to(from, to);
	struct flow *f = flow_new(from, to_send);

	f->a = sctp_connect(from->ep, &p, to->port, from->mtu, f, from->w->now);
	assert_non_null(f->a);
	return f;
}

/* All hosts: every flow up, sent all, and nothing outstanding; received is the test's. */
static bool all_sent(struct world *w)
{
	unsigned int i, j;

	for (i = 0; i < w->count; i++)
		for (j = 0; j < w->hosts[i]->flow_count; j++) {
			struct flow *f = &w->hosts[i]->flows[j];

			if (!f->a && f->error)
				fail_msg("seed %llu: lost with %d", (unsigned long long)w->seed,
					 f->error);
			if (!f->a || !f->up || f->sent < f->to_send || !sctp_assoc_is_drained(f->a))
				return false;
		}
	return w->hosts[1]->flow_count > 0;
}

static bool all_ended(struct world *w)
{
	unsigned int i, j;

	for (i = 0; i < w->count; i++)
		for (j = 0; j < w->hosts[i]->flow_count; j++)
			if (w->hosts[i]->flows[j].a)
				return false;
	return true;
}

static bool both_up(struct world *w)
{
	return w->hosts[0]->flow_count && w->hosts[1]->flow_count && w->hosts[0]->flows[0].up &&
	       w->hosts[1]->flows[0].up;
}

/* How bad a network gets with this seed. */
static void bad_network(struct world *w)
{
	struct sim_random *r = &w->random;
	static const uint32_t mtus[] = { 1280, 1500, 9000, 65535 };
	unsigned int i;

	for (i = 0; i < 2; i++) {
		struct simnet_link *l = &w->link[i];

		l->loss = sim_random_below(r, 21) / 100.0;
		l->duplicate = sim_random_below(r, 4) ? 0 : sim_random_below(r, 10) / 100.0;
		l->corrupt = sim_random_below(r, 4) ? 0 : sim_random_below(r, 5) / 100.0;
		l->reorder = sim_random_below(r, 2) ? 0 : sim_random_below(r, 20) / 100.0;
		l->reorder_delay = 1 + sim_random_below(r, 3000000);
		l->delay = 1000 + sim_random_below(r, sim_random_below(r, 2) ? 50000 : 20000000);
		l->jitter = sim_random_below(r, 100000);
		w->hosts[i]->mtu = mtus[sim_random_below(r, 4)];
		w->hosts[i]->rcvbuf = sim_random_below(r, 2) ? 425984 : 4 << 20;
	}
}

static void transfer(uint64_t seed)
{
	struct host *a, *b;
	struct world *w = world_new(seed, &a, &b);
	struct flow *f, *g;
	uint64_t start = w->now;
	uint32_t n = 20 + sim_random_below(&w->random, 300);

	bad_network(w);
	b->reply = sim_random_below(&w->random, 300);
	f = connect_to(a, b, n);
	f->max_len = 64 + sim_random_below(&w->random, 5000);
	if (!run(w, 120 * SEC, all_sent))
		fail_msg("seed %llu: not done after 120 s", (unsigned long long)seed);
	g = &b->flows[0];
	assert_int_equal(b->flow_count, 1);
	assert_int_equal(g->received, n);
	assert_int_equal(f->received, b->reply);
	(void)start;
	sctp_assoc_shutdown(f->a, w->now);
	if (!run(w, 120 * SEC, all_ended))
		fail_msg("seed %llu: shutdown hangs", (unsigned long long)seed);
	assert_true(f->closed || f->error == -ETIMEDOUT);
	world_free(w);
}

static void test_transfer(void **state)
{
	uint64_t seed;

	for (seed = 1; seed <= 300; seed++)
		transfer(seed);
}

/* Without loss: fast, no retransmission, no timer needed but the handshake's. */
static void test_clean(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(7, &a, &b);
	uint64_t start = w->now;
	struct flow *f;

	a->mtu = b->mtu = 65535;
	b->reply = 2000;
	f = connect_to(a, b, 2000);
	f->min_len = f->max_len = 60000;
	assert_true(run(w, SEC, all_sent));
	assert_int_equal(b->flows[0].received, 2000);
	assert_int_equal(f->received, 2000);
	/* 120 MB with 5 packets of 65 KB in a round trip of 100 us */
	assert_true(w->now - start < 120 * MSEC);
	/* Full packets and one SACK for two or more: no storm of small packets. */
	assert_true(a->packets_out < 2000 * 2);
	assert_true(a->flows[0].a->rxmap.bits == NULL);
	world_free(w);
}

/* Small messages share packets; a ping-pong needs no packet but the messages themselves. */
static void test_packing(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(8, &a, &b);
	struct flow *f, *g;
	uint64_t packets;
	uint32_t i;

	f = connect_to(a, b, 0);
	assert_true(run(w, SEC, all_sent));
	g = &b->flows[0];
	run(w, 100 * MSEC, NULL);
	packets = a->packets_out + b->packets_out;
	for (i = 0; i < 100; i++) {
		struct flow *from = i % 2 ? g : f, *to = i % 2 ? f : g;
		uint32_t target = to->received + 1;

		from->min_len = from->max_len = 64;
		from->to_send++;
		sctp_assoc_kick(from->a);
		while (to->received < target) {
			flush(w);
			assert_true(step(w, w->now + SEC));
		}
	}
	/* the first DATA of each side is acknowledged at once; the rest rides along */
	assert_true(a->packets_out + b->packets_out - packets <= 104);
	packets = a->packets_out;
	f->to_send += 3000;
	sctp_assoc_kick(f->a);
	assert_true(run(w, SEC, all_sent));
	/* 80 bytes a chunk: 18 in a packet of 1472 */
	assert_true(a->packets_out - packets <= 3000 / 18 + 5);
	world_free(w);
}

static void lossy_bulk(uint64_t seed, double loss, uint64_t limit)
{
	struct host *a, *b;
	struct world *w = world_new(seed, &a, &b);
	uint64_t start = w->now;
	struct flow *f;

	w->link[0].loss = w->link[1].loss = loss;
	f = connect_to(a, b, 2000);
	f->min_len = f->max_len = 1400;
	assert_true(run(w, 60 * SEC, all_sent));
	assert_int_equal(b->flows[0].received, 2000);
	if (w->now - start > limit)
		fail_msg("seed %llu: %llu ms", (unsigned long long)seed,
			 (unsigned long long)((w->now - start) / MSEC));
	world_free(w);
}

/* Losses are repaired without waiting for RTO.Min, also at the tail. */
static void test_recovery_is_fast(void **state)
{
	uint64_t seed;

	/* a lost INIT or COOKIE costs 1 s each, which RFC 9260 demands: most seeds lose none */
	for (seed = 100; seed < 130; seed++)
		lossy_bulk(seed, 0.01, 1500 * MSEC);
}

/* A lone small message whose packet is lost comes through by the probe. */
static void test_tail_loss(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(9, &a, &b);
	uint64_t start;
	struct flow *f;

	f = connect_to(a, b, 1);
	assert_true(run(w, SEC, all_sent));
	run(w, 50 * MSEC, NULL);
	w->link[0].loss = 1;
	f->to_send++;
	sctp_assoc_kick(f->a);
	flush(w);
	w->link[0].loss = 0;
	start = w->now;
	assert_true(run(w, SEC, all_sent));
	assert_true(w->now - start < 40 * MSEC);
	world_free(w);
}

static void test_handshake_loss(void **state)
{
	uint64_t seed;

	for (seed = 1; seed <= 100; seed++) {
		struct host *a, *b;
		struct world *w = world_new(seed, &a, &b);

		a->config.connect_limit = 80 * SEC;
		host_kill(a);
		a->dead = false;
		host_start(a);
		w->link[0].loss = w->link[1].loss = 0.3;
		w->link[0].duplicate = w->link[1].duplicate = 0.2;
		connect_to(a, b, 3);
		assert_true(run(w, 200 * SEC, both_up));
		w->link[0].loss = w->link[1].loss = 0;
		assert_true(run(w, 20 * SEC, all_sent));
		assert_int_equal(b->flows[0].received, 3);
		assert_int_equal(b->flow_count, 1);
		world_free(w);
	}
}

/* Both connect to each other at once: one association, and one of them takes the even streams. */
static void test_collision(void **state)
{
	unsigned int agreed = 0;
	uint64_t seed;

	for (seed = 1; seed <= 200; seed++) {
		struct host *a, *b;
		struct world *w = world_new(seed, &a, &b);
		struct flow *f, *g;
		bool lossy = seed > 100;

		if (lossy)
			w->link[0].loss = w->link[1].loss = 0.2;
		w->link[0].delay = 1 + sim_random_below(&w->random, 100000);
		w->link[1].delay = 1 + sim_random_below(&w->random, 100000);
		f = connect_to(a, b, 10);
		if (seed % 3) {
			uint64_t until = w->now + sim_random_below(&w->random, 150000);

			flush(w);
			while (w->hosts[1]->flow_count == 0 && step(w, until))
				;
		}
		if (b->flow_count) {
			world_free(w);
			continue;
		}
		g = connect_to(b, a, 10);
		assert_true(run(w, 60 * SEC, all_sent));
		assert_int_equal(a->flow_count, 1);
		assert_int_equal(b->flow_count, 1);
		assert_int_equal(f->received, 10);
		assert_int_equal(g->received, 10);
		assert_int_equal(f->a->local_tag, g->a->peer_tag);
		assert_int_equal(f->a->peer_tag, g->a->local_tag);
		if (sctp_assoc_is_initiator(f->a) != sctp_assoc_is_initiator(g->a))
			agreed++;
		else
			assert_true(lossy); /* only where an INIT got lost */
		world_free(w);
	}
	assert_true(agreed > 150);
}

static void test_restart(void **state)
{
	uint64_t seed;

	for (seed = 1; seed <= 60; seed++) {
		struct host *a, *b;
		struct world *w = world_new(seed, &a, &b);
		struct flow *f;

		b->reply = 50;
		connect_to(a, b, 50);
		assert_true(run(w, 60 * SEC, all_sent));
		if (seed % 2) {
			b->flows[0].to_send += 500; /* with data under way */
			sctp_assoc_kick(b->flows[0].a);
			flush(w);
		}
		host_kill(a);
		a->dead = false;
		a->flow_count = 0;
		host_start(a);
		if (seed > 30)
			w->link[0].loss = w->link[1].loss = 0.1;
		b->flows[0].to_send = 70;
		f = connect_to(a, b, 60);
		assert_true(run(w, 60 * SEC, all_sent));
		assert_int_equal(b->flow_count, 1);
		assert_int_equal(b->flows[0].restarts, 1);
		assert_int_equal(b->flows[0].received, 60);
		assert_int_equal(f->received, 70);
		world_free(w);
	}
}

static void test_shutdown(void **state)
{
	uint64_t seed;

	for (seed = 1; seed <= 100; seed++) {
		struct host *a, *b;
		struct world *w = world_new(seed, &a, &b);
		struct flow *f;

		b->reply = 30;
		f = connect_to(a, b, 30);
		assert_true(run(w, 60 * SEC, both_up));
		run(w, sim_random_below(&w->random, 300000), NULL);
		w->link[0].loss = w->link[1].loss = seed > 50 ? 0.2 : 0;
		sctp_assoc_shutdown(f->a, w->now);
		if (seed % 2 && b->flows[0].a)
			sctp_assoc_shutdown(b->flows[0].a, w->now);
		assert_true(run(w, 200 * SEC, all_ended));
		if (seed <= 50) {
			assert_true(f->closed && b->flows[0].closed);
			/* what was taken from the user arrived */
			assert_int_equal(b->flows[0].received, f->sent);
			assert_int_equal(f->received, b->flows[0].sent);
			assert_int_equal(a->s->assoc_count, 0);
			assert_true(list_empty(&a->s->events));
		}
		world_free(w);
	}
}

static void test_abort(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(3, &a, &b);
	struct flow *f;

	f = connect_to(a, b, 100);
	assert_true(run(w, SEC, both_up));
	sctp_assoc_abort(f->a);
	f->a = NULL;
	run(w, SEC, NULL);
	assert_int_equal(f->error, 0);
	assert_int_equal(b->flows[0].error, -ECONNRESET);
	assert_int_equal(a->s->assoc_count, 0);
	/* and while it connects, in every state */
	f = connect_to(a, b, 1);
	sctp_assoc_abort(f->a);
	f->a = NULL;
	f = connect_to(a, b, 1);
	flush(w);
	step(w, w->now + SEC);
	step(w, w->now + SEC);
	sctp_assoc_abort(f->a);
	f->a = NULL;
	run(w, 10 * SEC, NULL);
	assert_int_equal(a->s->assoc_count, 0);
	assert_int_equal(b->s->assoc_count, 0);
	world_free(w);
}

/* Connecting: refused, nobody there, silence. */
static void test_refused(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(4, &a, &b);
	uint64_t start = w->now;
	struct flow *f;

	sctp_endpoint_set_accept(b->ep, false);
	f = connect_to(a, b, 1);
	run(w, 100 * MSEC, NULL);
	assert_int_equal(f->error, -ECONNREFUSED);

	simnet_set_state(w->net, b->node, SIMNET_GONE);
	f = connect_to(a, b, 1);
	run(w, SEC, all_ended);
	assert_int_equal(f->error, -ECONNREFUSED);
	assert_true(w->now - start < SEC);

	simnet_set_state(w->net, b->node, SIMNET_SILENT);
	f = connect_to(a, b, 1);
	start = w->now;
	run(w, 100 * SEC, all_ended);
	assert_int_equal(f->error, -ETIMEDOUT);
	assert_int_equal(w->now - start, a->config.connect_limit);
	world_free(w);
}

/* A peer that is killed, idle or in the middle of a transfer, on a host that lives. */
static void test_killed(void **state)
{
	unsigned int busy;

	for (busy = 0; busy < 2; busy++) {
		struct host *a, *b;
		struct world *w = world_new(5 + busy, &a, &b);
		struct flow *f = connect_to(a, b, busy ? 100000 : 1);
		uint64_t start;

		run(w, 20 * MSEC, NULL);
		assert_true(f->up);
		host_kill(b);
		simnet_set_state(w->net, b->node, SIMNET_GONE);
		b->flow_count = 0;
		start = w->now;
		assert_true(run(w, 60 * SEC, all_ended));
		assert_int_equal(f->error, -ECONNRESET);
		assert_true(w->now - start < 2500 * MSEC);
		world_free(w);
	}
}

/* A forged hint does no harm, nor does a pause shorter than the limit. */
static void test_hint(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(6, &a, &b);
	struct flow *f = connect_to(a, b, 1);
	struct path_addr to = path_to(a, b);
	unsigned int i;

	assert_true(run(w, SEC, all_sent));
	for (i = 0; i < 10; i++) {
		sctp_unreachable(a->ep, &to, w->now);
		run(w, 300 * MSEC, NULL);
		assert_int_equal(f->error, 0);
	}
	simnet_set_state(w->net, b->node, SIMNET_SILENT);
	f->to_send += 10;
	sctp_assoc_kick(f->a);
	run(w, 25 * SEC, NULL);
	simnet_set_state(w->net, b->node, SIMNET_UP);
	run(w, 3 * SEC, NULL);
	assert_int_equal(f->error, 0);
	assert_int_equal(b->flows[0].received, 11); /* and soon */
	world_free(w);
}

static void test_silent(void **state)
{
	unsigned int busy;

	for (busy = 0; busy < 2; busy++) {
		struct host *a, *b;
		struct world *w = world_new(5, &a, &b);
		struct flow *f = connect_to(a, b, busy ? 1000000 : 1);
		uint64_t start;

		run(w, 50 * MSEC, NULL);
		simnet_set_state(w->net, b->node, SIMNET_SILENT);
		start = w->now;
		run(w, 60 * SEC, all_ended);
		assert_int_equal(f->error, -ETIMEDOUT);
		assert_true(w->now - start >= 29 * SEC && w->now - start <= 33 * SEC);
		world_free(w);
	}
}

/* Our own process was stopped for a minute: what the peer sent is read after the timers ran. */
static void test_stopped(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(5, &a, &b);
	struct flow *f = connect_to(a, b, 1);

	b->config.silent_limit = 300 * SEC;
	host_kill(b);
	b->dead = false;
	host_start(b);
	assert_true(run(w, SEC, all_sent));
	w->now += 60 * SEC;
	sctp_timers(a->s, w->now);
	events(a);
	run(w, 5 * SEC, NULL);
	assert_int_equal(f->error, 0);
	assert_true(f->a && sctp_assoc_is_up(f->a));
	world_free(w);
}

static void test_adaptation(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(11, &a, &b);
	struct flow *f;

	b->config.adaptation = 2;
	host_kill(b);
	b->dead = false;
	host_start(b);
	f = connect_to(a, b, 1);
	run(w, SEC, all_ended);
	assert_int_equal(f->error, -ECONNREFUSED);
	assert_int_equal(b->flow_count, 0);
	world_free(w);
}

/* Streams: what both directions have. */
static void test_streams(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(12, &a, &b);
	struct flow *f;

	b->config.streams = 10;
	host_kill(b);
	b->dead = false;
	host_start(b);
	f = connect_to(a, b, 100);
	assert_true(run(w, SEC, all_sent));
	assert_int_equal(sctp_assoc_streams(f->a), 10);
	assert_int_equal(sctp_assoc_streams(b->flows[0].a), 10);
	world_free(w);
}

/* Random bytes, cut and changed packets of a running transfer: it survives, nothing is wrong. */
struct hostile {
	struct world *w;
	struct host *victim;
	uint8_t sample[64][2048];
	size_t sample_len[64];
	unsigned int samples;
};

static struct hostile hostile;

static void resum(uint8_t *p, size_t len)
{
	if (len >= WIRE_SCTP_COMMON_LEN) {
		put_be32(p + 8, 0);
		wire_sctp_checksum_put(p, len);
	}
}

static void throw_at(struct sim_random *r, struct host *victim, const struct path_addr *path)
{
	uint8_t p[2048];
	size_t len;
	unsigned int i;

	if (sim_random_below(r, 4) == 0 || !hostile.samples) {
		len = sim_random_below(r, 200);
		for (i = 0; i < len; i++)
			p[i] = (uint8_t)sim_random_u64(r);
		if (len >= WIRE_SCTP_COMMON_LEN) {
			put_be16(p, 5001);
			put_be16(p + 2, victim->port);
			if (len > 12)
				p[12] &= 15;
			if (sim_random_below(r, 2))
				put_be32(p + 4, 0);
		}
	} else {
		i = sim_random_below(r, hostile.samples);
		len = hostile.sample_len[i];
		memcpy(p, hostile.sample[i], len);
		if (sim_random_below(r, 2))
			len = sim_random_below(r, (uint32_t)len + 1);
		for (i = sim_random_below(r, 5); i && len > 12; i--)
			p[12 + sim_random_below(r, (uint32_t)len - 12)] = (uint8_t)sim_random_u64(r);
	}
	resum(p, len);
	deliver(victim, path, p, len, hostile.w->now);
}

static void capture(void *ctx, const struct path_addr *path, const uint8_t *packet, size_t len,
		    uint64_t now)
{
	if (len <= sizeof(hostile.sample[0])) {
		unsigned int i = hostile.samples < 64 ? hostile.samples++ :
							sim_random_below(&hostile.w->random, 64);

		memcpy(hostile.sample[i], packet, len);
		hostile.sample_len[i] = len;
	}
	deliver(ctx, path, packet, len, now);
}

static const struct simnet_ops capture_ops = { capture, unreachable };

/* A stranger who knows the packets but whose changes are not checked by a tag that he knows. */
static void test_hostile(void **state)
{
	uint64_t seed;

	for (seed = 1; seed <= 60; seed++) {
		struct host *a, *b;
		struct world *w = world_new(seed, &a, &b);
		struct path_addr from = { b->addr, a->addr, a->port };
		struct sim_random r;
		unsigned int i;

		memset(&hostile, 0, sizeof(hostile));
		hostile.w = w;
		sim_random_init(&r, seed);
		b->reply = 300;
		connect_to(a, b, 300);
		run(w, 100 * MSEC, NULL);
		(void)capture_ops;
		/*
		 * With the right tag a forger may break the association, but nothing
		 * else: the user's checks would fail the test, the sanitizers too.
		 */
		for (i = 0; i < 400 && b->flows[0].a; i++) {
			uint8_t p[512];
			size_t len = 12;
			struct wire_sctp_common h = { a->port, b->port, b->flows[0].a->local_tag };

			wire_sctp_common_put(p, &h);
			while (len < 300) {
				size_t chunk = 4 + sim_random_below(&r, 60), k;
				uint8_t type = (uint8_t)(sim_random_below(&r, 16));

				if (type == WIRE_SCTP_DATA || type == WIRE_SCTP_ABORT)
					type = 0x80 | type;
				for (k = 4; k < round_up4(chunk); k++)
					p[len + k] = (uint8_t)sim_random_u64(&r);
				if (type == WIRE_SCTP_SACK && chunk >= 16) {
					put_be32(p + len + 4, b->flows[0].a->out.cum +
								      sim_random_below(&r, 3));
					put_be16(p + len + 12, (uint16_t)sim_random_below(&r, 8));
					put_be16(p + len + 14, (uint16_t)sim_random_below(&r, 4));
				}
				wire_sctp_chunk_put(p + len, type, (uint8_t)sim_random_u64(&r),
						    sim_random_below(&r, 10) ? chunk :
									       sim_random_below(&r, 999));
				len += round_up4(chunk);
				if (sim_random_below(&r, 3) == 0)
					break;
			}
			resum(p, len);
			deliver(b, &from, p, len, w->now);
			if (b->flows[0].a)
				check_accounts(b->flows[0].a);
			throw_at(&r, b, &from);
			flush(w);
		}
		run(w, SEC, NULL);
		world_free(w);
	}
}

/* Packets changed in transit with the checksum made right again, and replayed: no tag, no harm. */
static void test_replay(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(77, &a, &b);
	struct path_addr from = { b->addr, a->addr, 4444 }; /* another UDP port */
	struct sim_random r;
	struct flow *f;
	unsigned int i;

	memset(&hostile, 0, sizeof(hostile));
	hostile.w = w;
	sim_random_init(&r, 1);
	b->reply = 1000;
	f = connect_to(a, b, 1000);
	assert_true(run(w, SEC, both_up));
	for (i = 0; i < 2000; i++) {
		/* no samples: random bytes only, some with tag 0 */
		throw_at(&r, b, &from);
		if (i % 16 == 0)
			step(w, w->now + SEC);
		flush(w);
	}
	assert_true(run(w, 10 * SEC, all_sent));
	assert_int_equal(b->flows[0].received, 1000);
	assert_int_equal(f->received, 1000);
	assert_int_equal(sctp_assoc_addr(b->flows[0].a)->udp_port, a->port);
	assert_int_equal(b->flow_count, 1);
	world_free(w);
}

/* A burst of INITs leaves nothing behind. */
static void test_init_flood(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(78, &a, &b);
	struct path_addr from = { b->addr, a->addr, a->port };
	struct wire_sctp_init init = {
		.a_rwnd = 100000, .os = 10, .mis = 10, .adaptation = 1
	};
	struct sctp_batch batch;
	uint8_t p[64];
	uint32_t i;

	for (i = 1; i < 5000; i++) {
		struct wire_sctp_common h = { (uint16_t)(i + 1), b->port, 0 };
		size_t len;

		init.tag = i;
		wire_sctp_common_put(p, &h);
		len = 12 + wire_sctp_init_put(p + 12, WIRE_SCTP_INIT, &init);
		resum(p, len);
		sctp_input(b->ep, &from, p, len, w->now, &b->rx);
	}
	assert_int_equal(b->s->assoc_count, 0);
	for (i = 0; sctp_output_stray(b->s, &batch) > 0; i++)
		sctp_batch_done(b->s, &batch);
	assert_int_equal(i, SCTP_STRAY_MAX);
	assert_true(sctp_next_timeout(b->s) == SCTP_TIME_NEVER);
	world_free(w);
}

/* Two flows through one bottleneck get their share, and most of it is used. */
static void test_fairness(void **state)
{
	struct host *a, *b, *c;
	struct world *w = world_new(21, &a, &b);
	struct simnet_link down = { .delay = 5 * MSEC };
	struct flow *f, *g;
	double ratio;
	uint64_t fb, gb, start;

	c = host_new(w, 5003);
	down.rate = 12500000; /* 100 Mbit/s */
	down.queue = 125000;
	w->link[1].delay = 5 * MSEC;
	simnet_route(w->net, a->node, b->node, &down);
	simnet_route(w->net, c->node, b->node, &down);
	simnet_route(w->net, b->node, c->node, &w->link[1]);
	f = connect_to(a, b, 1u << 23);
	g = connect_to(c, b, 1u << 23);
	f->min_len = f->max_len = g->min_len = g->max_len = 1400;
	run(w, 4 * SEC, NULL);
	fb = b->flows[0].bytes;
	gb = b->flows[1].bytes;
	start = w->now;
	run(w, 30 * SEC, NULL);
	fb = b->flows[0].bytes - fb;
	gb = b->flows[1].bytes - gb;
	ratio = (double)fb / (double)gb;
	if (ratio < 0.8 || ratio > 1.25)
		fail_msg("shares %llu and %llu", (unsigned long long)fb, (unsigned long long)gb);
	/* 1400 of 1428 bytes a packet are payload */
	assert_true((double)(fb + gb) > 0.85 * 12500000 * (double)(w->now - start) / 1e9);
	world_free(w);
}

/* A window smaller than a packet, and the peer's buffer never overrun. */
static void test_small_window(void **state)
{
	struct host *a, *b;
	struct world *w = world_new(31, &a, &b);
	struct flow *f;

	b->rcvbuf = 100000;
	host_kill(b);
	b->dead = false;
	host_start(b);
	a->mtu = 65535;
	b->mtu = 1500;
	w->link[0].delay = MSEC;
	/* a queue as large as the receiver's buffer, read slowly: overflow would be loss */
	w->link[0].rate = 10000000;
	w->link[0].queue = 100000;
	w->link[0].overhead = SCTP_PACKET_OVERHEAD;
	f = connect_to(a, b, 3000);
	f->max_len = 60000;
	assert_true(run(w, 60 * SEC, all_sent));
	assert_int_equal(b->flows[0].received, 3000);
	assert_int_equal(w->link[0].dropped, 0);
	world_free(w);
}

/* Many associations on one pair of instances. */
static void test_many(void **state)
{
	struct world *w;
	struct host *a, *b;
	struct sctp_endpoint **eps = calloc(2000, sizeof(*eps));
	struct sctp_assoc *x;
	struct sctp_batch batch;
	struct sctp_event ev;
	unsigned int i, up = 0;

	w = world_new(41, &a, &b);
	for (i = 0; i < 2000; i++) {
		struct path_addr to = { a->addr, b->addr, b->port };

		eps[i] = sctp_endpoint_new(a->s, (uint16_t)(10000 + i), 1 << 20, NULL);
		assert_non_null(sctp_connect(eps[i], &to, b->port, 1500, NULL, w->now));
	}
	/* a short wire of its own: no flows in this test */
	for (;;) {
		struct path_addr from_a = { b->addr, a->addr, 1 }, from_b = { a->addr, b->addr, b->port };
		bool any = false;

		while ((x = sctp_next_ready(a->s)))
			while (sctp_output(x, w->now, &batch) > 0) {
				sctp_input(b->ep, &from_a, batch.data, batch.len, w->now, &b->rx);
				sctp_batch_done(a->s, &batch);
				any = true;
				while (sctp_output_stray(b->s, &batch) > 0) {
					uint16_t port = get_be16(batch.data + 2);

					sctp_input(eps[port - 10000], &from_b, batch.data, batch.len,
						   w->now, &a->rx);
					sctp_batch_done(b->s, &batch);
				}
			}
		while ((x = sctp_next_ready(b->s)))
			while (sctp_output(x, w->now, &batch) > 0) {
				sctp_input(eps[x->remote_port - 10000], &from_b, batch.data, batch.len,
					   w->now, &a->rx);
				sctp_batch_done(b->s, &batch);
				any = true;
			}
		while (sctp_next_event(a->s, &ev))
			up += ev.type == SCTP_EVENT_UP;
		if (!any)
			break;
	}
	assert_int_equal(up, 2000);
	assert_int_equal(b->s->assoc_count, 2000);
	assert_true(b->s->bucket_count >= 2000);
	for (i = 0; i < 2000; i++) {
		struct sctp_assoc *found = sctp_assoc_find(b->ep, &a->addr, (uint16_t)(10000 + i));

		assert_non_null(found);
		if (i % 2)
			sctp_assoc_abort(found);
	}
	assert_int_equal(b->s->assoc_count, 1000);
	for (i = 0; i < 2000; i++)
		sctp_endpoint_free(eps[i]);
	free(eps);
	world_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean),
		cmocka_unit_test(test_packing),
		cmocka_unit_test(test_tail_loss),
		cmocka_unit_test(test_recovery_is_fast),
		cmocka_unit_test(test_handshake_loss),
		cmocka_unit_test(test_collision),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_shutdown),
		cmocka_unit_test(test_abort),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_hint),
		cmocka_unit_test(test_silent),
		cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_adaptation),
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_replay),
		cmocka_unit_test(test_init_flood),
		cmocka_unit_test(test_small_window),
		cmocka_unit_test(test_fairness),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_transfer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
