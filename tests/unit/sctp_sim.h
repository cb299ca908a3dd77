/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * SCTP instances ("hosts") over a simulated network on a virtual clock. A flow is
 * one side of an association and its user: it sends numbered messages of a known
 * pattern, and checks that what comes is intact and comes once. Everything is
 * static: each program has its own.
 */
#ifndef TESTS_SCTP_SIM_H
#define TESTS_SCTP_SIM_H

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
	int second; /* node of its other address, which its INIT or INIT ACK lists; or -1 */
	struct ip_addr second_addr;
	uint16_t port;
	struct sim_random random;
	struct sctp_rx rx;
	struct flow flows[FLOWS];
	unsigned int flow_count;
	uint32_t reply; /* messages that a flow made by the peer sends */
	uint32_t mtu;
	bool dead;
	uint64_t packets_out;
	/* sees every packet before it is processed; may be NULL */
	void (*tap)(struct host *h, const uint8_t *packet, size_t len);
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

static inline uint8_t pattern(uint32_t index, uint32_t i)
{
	return (uint8_t)((index * 2654435761u + i * 40503u) >> 13);
}

static inline size_t pull(void *user, uint8_t *buf, size_t room, struct sctp_msg *msg)
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

static inline struct flow *flow_new(struct host *h, uint32_t to_send)
{
	struct flow *f = &h->flows[h->flow_count++];

	assert_true(h->flow_count <= FLOWS);
	*f = (struct flow){ .host = h, .to_send = to_send, .min_len = 8, .max_len = 3000 };
	return f;
}

static inline void flow_data(struct flow *f, const struct sctp_data *d)
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

static inline void events(struct host *h)
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
			sctp_assoc_doorbell(f->a);
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

static inline void deliver(void *ctx, const struct path_addr *path, const uint8_t *packet, size_t len,
		    uint64_t now)
{
	uint8_t type = packet[WIRE_SCTP_COMMON_LEN];
	struct path_addr from = *path;
	struct host *h = ctx;
	struct flow *f;
	unsigned int i;

	if (h->dead)
		return;
	if (h->tap)
		h->tap(h, packet, len);
	/* Each address of ours has associations of its own; those of a host that tells of several are of all. */
	if (h->second >= 0 && h->ep->assoc_count &&
	    (type == WIRE_SCTP_INIT || type == WIRE_SCTP_COOKIE_ECHO))
		memset(&from.local, 0, sizeof(from.local));
	sctp_input(h->ep, &from, packet, len, now, &h->rx);
	if (h->rx.up) {
		f = flow_new(h, h->reply);
		f->a = h->rx.assoc;
		f->up = true;
		if (h->mtu)
			sctp_assoc_set_mtu(f->a, h->mtu);
		sctp_assoc_set_user(f->a, f);
		sctp_assoc_doorbell(f->a);
	}
	f = h->rx.assoc ? sctp_assoc_user(h->rx.assoc) : NULL;
	if (h->rx.restart) {
		f->restarts++;
		f->received = 0;
		memset(f->got, 0, f->got_size);
		f->sent = 0;
		sctp_assoc_doorbell(f->a);
	}
	for (i = 0; i < h->rx.count; i++)
		flow_data(f, &h->rx.data[i]);
	events(h);
}

static inline void unreachable(void *ctx, const struct path_addr *to, uint64_t now)
{
	struct host *h = ctx;

	if (h->dead)
		return;
	sctp_unreachable(h->ep, to, NULL, 0, now);
	events(h);
}

static inline void too_big(void *ctx, const struct path_addr *to, uint32_t mtu, const uint8_t *quoted,
			   size_t len, uint64_t now)
{
	struct host *h = ctx;

	if (!h->dead)
		sctp_packet_too_big(h->ep, to, mtu, quoted, len, now);
}

static const struct simnet_ops net_ops = { deliver, unreachable, too_big };
static const struct sctp_user_ops user_ops = { pull };

static inline void host_start(struct host *h)
{
	h->s = sctp_new(&h->config, &user_ops, &h->random.source);
	assert_non_null(h->s);
	h->ep = sctp_endpoint_new(h->s, h->port, h->rcvbuf, h);
	assert_non_null(h->ep);
	sctp_endpoint_set_accept(h->ep, true);
}

/* A host without associations, for another config. */
static inline void host_restart(struct host *h)
{
	sctp_free(h->s);
	host_start(h);
}

static inline struct host *host_new(struct world *w, uint16_t port)
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
	h->second = -1;
	w->hosts[w->count++] = h;
	host_start(h);
	return h;
}

static inline struct world *world_new(uint64_t seed, struct host **a, struct host **b)
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
static inline void host_kill(struct host *h)
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

static inline void world_free(struct world *w)
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
static inline void check_accounts(const struct sctp_assoc *a)
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

/* HEARTBEAT and PAD alone: of no packet but this may more be said than the path is known to take. */
static inline bool is_probe(const struct sctp_batch *b, size_t most)
{
	const uint8_t *p = b->data + WIRE_SCTP_COMMON_LEN;
	struct wire_sctp_chunk hb, pad;

	return b->len == b->segment && b->len <= most && b->df &&
	       wire_sctp_chunk_next(&p, b->data + b->len, &hb) && hb.type == WIRE_SCTP_HEARTBEAT &&
	       wire_sctp_chunk_next(&p, b->data + b->len, &pad) && pad.type == WIRE_SCTP_PAD &&
	       p == b->data + b->len;
}

/* A second address for a host, with links of its own there and back from another host. */
static inline void host_multihome(struct host *h, uint8_t n, struct host *peer, struct simnet_link link[2])
{
	h->second_addr = simnet_v4(n);
	h->second = simnet_add(h->w->net, &h->second_addr, h->port, &net_ops, h);
	simnet_route(h->w->net, peer->node, h->second, &link[0]);
	simnet_route(h->w->net, h->second, peer->node, &link[1]);
}

/*
 * Out of the address that the packet is to come from. INIT and INIT ACK list the host's other address, which
 * SCTP itself does not know of.
 */
static inline void host_send(struct host *h, const struct sctp_batch *b, const uint8_t *packet, size_t len)
{
	int from = h->second >= 0 && ip_addr_equal(&b->to.local, &h->second_addr) ? h->second : h->node;
	uint8_t type = packet[WIRE_SCTP_COMMON_LEN];
	uint8_t copy[2048];

	h->packets_out++;
	if (!b->df) {
		simnet_send_fragments(h->w->net, from, &b->to, packet, len, h->w->now);
		return;
	}
	if (h->second >= 0 && (type == WIRE_SCTP_INIT || type == WIRE_SCTP_INIT_ACK)) {
		memcpy(copy, packet, len);
		len += wire_sctp_param_put(copy + len, WIRE_SCTP_PARAM_IPV4,
					   (from == h->second ? &h->addr : &h->second_addr)->b + 12, 4);
		wire_sctp_chunk_put(copy + WIRE_SCTP_COMMON_LEN, type, 0, len - WIRE_SCTP_COMMON_LEN);
		put_be32(copy + 8, 0);
		wire_sctp_checksum_put(copy, len);
		packet = copy;
	}
	simnet_send(h->w->net, from, &b->to, packet, len, h->w->now);
}

static inline void output(struct host *h)
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
			assert_true(!batch.df || batch.segment <= a->path.max_packet ||
				    is_probe(&batch, a->path.told_packet));
			assert_true(batch.len % 4 == 0 && batch.segment % 4 == 0);
			if (a->out.next != next) {
				assert_true(before < a->path.cc.cwnd);
				assert_true(a->path.flight < a->path.cc.cwnd + a->path.max_packet);
			}
			for (at = 0; at < batch.len; at += batch.segment) {
				size_t len = batch.len - at;

				if (len > batch.segment)
					len = batch.segment;
				host_send(h, &batch, batch.data + at, len);
			}
			sctp_batch_done(h->s, &batch);
		}
		if (sim_random_below(&h->w->random, 8) == 0)
			check_accounts(a);
	}
	while (sctp_output_ootb(h->s, &batch) > 0) {
		host_send(h, &batch, batch.data, batch.len);
		sctp_batch_done(h->s, &batch);
	}
}

/* One step of virtual time; false: nothing will ever happen again. */
static inline bool step(struct world *w, uint64_t limit)
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

static inline void flush(struct world *w)
{
	unsigned int i;

	for (i = 0; i < w->count; i++)
		if (!w->hosts[i]->dead)
			output(w->hosts[i]);
}

/* Until done() or for so long; returns done(). */
static inline bool run(struct world *w, uint64_t limit, bool (*done)(struct world *))
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

static inline struct path_addr path_to(const struct host *from, const struct host *to)
{
	struct path_addr p = { from->addr, to->addr, to->port };

	return p;
}

static inline struct flow *connect_to(struct host *from, struct host *to, uint32_t to_send)
{
	struct path_addr p = path_to(from, to);
	struct flow *f = flow_new(from, to_send);

	f->a = sctp_connect(from->ep, &p, to->port, from->mtu, f, from->w->now);
	assert_non_null(f->a);
	return f;
}

/* All hosts: every flow up, sent all, and nothing outstanding; received is the test's. */
static inline bool all_sent(struct world *w)
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

static inline bool all_ended(struct world *w)
{
	unsigned int i, j;

	for (i = 0; i < w->count; i++)
		for (j = 0; j < w->hosts[i]->flow_count; j++)
			if (w->hosts[i]->flows[j].a)
				return false;
	return true;
}

static inline bool both_up(struct world *w)
{
	return w->hosts[0]->flow_count && w->hosts[1]->flow_count && w->hosts[0]->flows[0].up &&
	       w->hosts[1]->flows[0].up;
}

#endif
