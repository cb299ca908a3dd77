/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "net/faults_net.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conn/conn.h"
#include "conn/user_sctp.h"
#include "log/log.h"
#include "net/carrier_port.h"
#include "net/faults_held.h"
#include "net/faults_stages.h"
#include "sctp/sctp.h"
#include "util/time.h"

/* ns. Time until the next attempt to send if a send buffer was full. */
#define FULL_WAIT NSEC_PER_MSEC

/* The carrier that wraps the real carrier. */
struct faults_net {
	struct carrier carrier; /* first member; conn.carrier points to it */
	const struct carrier *plain;
	struct carrier_port_ops ops; /* for all ports: the real functions, but faulty_deliver() */
	const struct carrier_port_ops *plain_ops;
	struct conn *conn;
	struct fault_asker *asker;
	struct faults_held held;
	struct faults_stages stages;
	uint8_t scratch[CARRIER_RX_SIZE];
};

static int faulty_send(struct endpoint *ep, struct sctp_batch *batch);

/* Returns the wrapper, or NULL if no faults are installed. */
static struct faults_net *faults_net_of(const struct conn *c)
{
	if (!c->carrier || c->carrier->send != faulty_send)
		return NULL;
	return (struct faults_net *)(uintptr_t)c->carrier;
}

/* ---- forwarding of one packet ---- */

/* Sends one packet. Returns false if the send buffer is full. */
static bool send_on(struct faults_net *fn, const struct faults_packet *p)
{
	struct sctp_batch batch = {
		.data = p->data,
		.len = p->len,
		.segment = p->len,
		.to = p->path,
		.df = p->df,
		.hops = p->hops,
		.refs = p->refs,
		.n_refs = p->n_refs,
	};

	return fn->plain->send(p->ep, &batch) != -EAGAIN;
}

static void take_in(const struct faults_net *fn, const struct faults_packet *p)
{
	struct carrier_datagram d = {
		.data = (uint8_t *)(uintptr_t)p->data,
		.len = p->len,
		.segment = p->len,
		.from = p->path,
	};

	fn->plain_ops->deliver(p->ep, &d);
}

/* Forwards a packet that was held back. If the send buffer is full, holds the packet again. */
static void release(struct faults_net *fn, struct faults_held_packet *held)
{
	if (!held->p.out) {
		take_in(fn, &held->p);
	} else if (!send_on(fn, &held->p)) {
		faults_held_again(&fn->held, held, fn->conn->now + FULL_WAIT);
		return;
	}
	faults_held_free(&fn->held, held);
}

/* Forwards all held packets that are due. */
static void let_go(struct faults_net *fn)
{
	struct faults_held_packet *held;

	while ((held = faults_held_take(&fn->held, fn->conn->now)))
		release(fn, held);
}

static void hold(struct faults_net *fn, const struct faults_packet *p, uint32_t rule, uint64_t due,
		 uint64_t behind)
{
	if (!faults_held_add(&fn->held, p, rule, due, behind))
		log_debug("faults: a packet that was to be held back is lost, as %zu bytes are",
			  fn->held.bytes);
}

static void forward(struct faults_net *fn, const struct faults_packet *p)
{
	if (!p->out)
		take_in(fn, p);
	else if (!send_on(fn, p))
		hold(fn, p, 0, fn->conn->now + FULL_WAIT, 0);
}

/* Call this after packet p was forwarded. Forwards held packets that p was the last to overtake. */
static void follow(struct faults_net *fn, const struct faults_packet *p)
{
	struct faults_held_packet *held;

	faults_held_overtake(&fn->held, p, fn->conn->now);
	if (!p->out)
		let_go(fn);
	/*
	 * After an outgoing packet, forward only outgoing packets: an incoming one could end the
	 * association that is now sending.
	 */
	while (p->out && (held = faults_held_take_out(&fn->held, fn->conn->now)))
		release(fn, held);
}

/* ---- actions of rules ---- */

static void corrupt(struct faults_net *fn, const struct faults_packet *p,
		    const struct fault_action *a)
{
	struct faults_packet damaged = *p;
	bool sealed = a->id == FAULT_DO_corrupt_sealed;
	unsigned int arg = sealed ? fault_corrupt_sealed_bytes : fault_corrupt_bytes;
	uint64_t n = fault_given(a, arg) ? a->arg[arg] : 1;

	if (p->len > sizeof(fn->scratch) || !faults_packet_copy(p, fn->scratch))
		return;
	damaged.data = fn->scratch;
	damaged.refs = NULL;
	damaged.n_refs = 0;
	if (sealed)
		faults_packet_corrupt_sealed(fn->scratch, p->len, n, a->random);
	else
		faults_packet_corrupt(fn->scratch, p->len, n, a->random);
	forward(fn, &damaged);
	follow(fn, p);
}

static void duplicate(struct faults_net *fn, const struct faults_packet *p,
		      const struct fault_action *a)
{
	uint64_t times = fault_given(a, fault_duplicate_times) ? a->arg[fault_duplicate_times] : 1;

	for (uint64_t i = 0; i <= times && i <= FAULTS_DUPLICATES; i++)
		forward(fn, p);
	follow(fn, p);
}

static void delay(struct faults_net *fn, const struct faults_packet *p,
		  const struct fault_action *a)
{
	uint64_t jitter = a->arg[fault_delay_jitter];
	uint64_t due = fn->conn->now + a->arg[fault_delay_time];

	hold(fn, p, a->rule, jitter ? due + a->random % (jitter + 1) : due, 0);
}

static void limit_rate(struct faults_net *fn, const struct faults_packet *p,
		       const struct fault_action *a)
{
	uint64_t due = faults_stages_limit(&fn->stages, p, a, fn->conn->now);

	if (due != TIME_NEVER)
		hold(fn, p, a->rule, due, 0);
}

static void act(struct faults_net *fn, const struct faults_packet *p, const struct fault_action *a)
{
	switch (a->id) {
	case FAULT_DO_drop:
		break;
	/* the packet is too long: without DF, routers would fragment it */
	case FAULT_DO_limit_size:
		if (p->out && !p->df) {
			forward(fn, p);
			follow(fn, p);
		}
		break;
	case FAULT_DO_delay:
		delay(fn, p, a);
		break;
	case FAULT_DO_reorder:
		hold(fn, p, a->rule, fn->conn->now + FAULTS_HELD_OVERTAKE,
		     a->arg[fault_reorder_count]);
		break;
	case FAULT_DO_duplicate:
		duplicate(fn, p, a);
		break;
	case FAULT_DO_corrupt:
	case FAULT_DO_corrupt_sealed:
		corrupt(fn, p, a);
		break;
	case FAULT_DO_limit_rate:
		limit_rate(fn, p, a);
		break;
	default: /* the action does not affect packets */
		forward(fn, p);
		follow(fn, p);
		break;
	}
}

struct verdict {
	const struct faults_net_cut *cut; /* the cut that stops the packet, or NULL */
	struct fault_action action;	  /* without a cut: the action of a rule */
};

/* True if no rule or cut affects the packet. Otherwise sets *v. */
static bool passes(struct faults_net *fn, const struct faults_packet *p, struct verdict *v)
{
	struct fault_attrs attrs;

	faults_packet_attrs(p, &attrs);
	v->cut = faults_stages_cut(&fn->stages, &attrs, fn->conn->now);
	return !v->cut && !fault_ask(fn->asker, FAULT_SITE_packet, &attrs, &v->action);
}

static void execute(struct faults_net *fn, const struct faults_packet *p, const struct verdict *v)
{
	if (!v->cut)
		act(fn, p, &v->action);
	else if (v->cut->kind == FAULTS_NET_HOLD)
		hold(fn, p, v->cut->rule, v->cut->until, 0);
}

/* ---- outgoing packets ---- */

/* Sends the unaffected packets that start at `from` and end at `to` in the batch. */
static void send_run(struct faults_net *fn, struct endpoint *ep, const struct sctp_batch *batch,
		     const uint8_t *from, const uint8_t *to)
{
	struct sctp_batch run = *batch;

	run.data = from;
	run.len = (size_t)(to - from);
	if (!run.len || fn->plain->send(ep, &run) != -EAGAIN)
		return;
	for (size_t off = 0; off < run.len; off += run.segment) {
		struct faults_packet p = {
			.ep = ep,
			.out = true,
			.df = run.df,
			.hops = run.hops,
			.path = run.to,
			.data = run.data + off,
			.len = run.len - off < run.segment ? run.len - off : run.segment,
			.refs = run.refs,
			.n_refs = run.n_refs,
		};

		hold(fn, &p, 0, fn->conn->now + FULL_WAIT, 0);
	}
}

static int faulty_send(struct endpoint *ep, struct sctp_batch *batch)
{
	struct faults_net *fn = faults_net_of(ep->conn);
	const uint8_t *begin = batch->data, *end = begin + batch->len, *at;
	const uint8_t *sent = begin; /* packets before this address are done */
	struct faults_packet p = {
		.ep = ep,
		.out = true,
		.df = batch->df,
		.hops = batch->hops,
		.path = batch->to,
		.refs = batch->refs,
		.n_refs = batch->n_refs,
	};
	struct verdict verdict;

	if (batch->seen)
		return fn->plain->send(ep, batch);
	for (at = begin; at != end; at += p.len) {
		p.data = at;
		p.len = (size_t)(end - at) < batch->segment ? (size_t)(end - at) : batch->segment;
		if (passes(fn, &p, &verdict)) {
			/* Held packets may be due directly after this packet. */
			if (list_empty(&fn->held.overtaking))
				continue;
			send_run(fn, ep, batch, sent, at + p.len);
			follow(fn, &p);
		} else {
			send_run(fn, ep, batch, sent, at);
			execute(fn, &p, &verdict);
		}
		sent = at + p.len;
	}
	if (sent == begin) {
		batch->seen = true;
		return fn->plain->send(ep, batch);
	}
	send_run(fn, ep, batch, sent, end);
	batch->data = end;
	batch->len = 0;
	return 0;
}

/* ---- incoming packets ---- */

/*
 * Implements carrier_port_ops.deliver(). Each packet of a datagram is judged alone. Sealed packets
 * are open already.
 */
static void faulty_deliver(struct endpoint *ep, const struct carrier_datagram *d)
{
	struct faults_net *fn = faults_net_of(ep->conn);
	struct faults_packet p = { .ep = ep, .path = d->from };
	struct verdict verdict;

	for (size_t off = 0; off < d->len; off += d->segment) {
		p.data = d->data + off;
		p.len = d->len - off < d->segment ? d->len - off : d->segment;
		if (passes(fn, &p, &verdict)) {
			take_in(fn, &p);
			follow(fn, &p);
		} else {
			execute(fn, &p, &verdict);
		}
	}
}

static enum conn_received faulty_receive(struct conn *c, enum conn_depth depth)
{
	struct faults_net *fn = faults_net_of(c);
	bool due = faults_held_next(&fn->held) <= c->now;
	enum conn_received got;

	if (due)
		let_go(fn);
	got = fn->plain->receive(c, depth);
	return due && got < CONN_SOME ? CONN_SOME : got;
}

/* ---- other operations of the carrier ---- */

static void put_in_front(struct faults_net *fn, struct endpoint *ep)
{
	struct carrier_port *port = carrier_port_of(ep);

	if (port->ops == &fn->ops)
		return;
	fn->plain_ops = port->ops;
	fn->ops = *port->ops;
	fn->ops.deliver = faulty_deliver;
	port->ops = &fn->ops;
}

static int faulty_open(struct endpoint *ep, const struct sockaddr *addr, bool v6only,
		       size_t *rcvbuf)
{
	struct faults_net *fn = faults_net_of(ep->conn);
	int ret = fn->plain->open(ep, addr, v6only, rcvbuf);

	if (!ret)
		put_in_front(fn, ep);
	return ret;
}

static void faulty_close(struct endpoint *ep)
{
	struct faults_net *fn = faults_net_of(ep->conn);

	faults_held_drop(&fn->held, ep);
	fn->plain->close(ep);
}

static void faulty_stop(struct conn *c)
{
	struct faults_net *fn = faults_net_of(c);

	c->carrier = fn->plain;
	faults_held_drop(&fn->held, NULL);
	faults_stages_release(&fn->stages, 0);
	free(fn);
	c->carrier->stop(c);
}

static uint64_t faulty_next_timeout(const struct conn *c)
{
	const struct faults_net *fn = faults_net_of(c);
	uint64_t next = faults_held_next(&fn->held), t;

	t = fn->plain->next_timeout ? fn->plain->next_timeout(c) : TIME_NEVER;
	return t < next ? t : next;
}

static void faulty_timers(struct conn *c)
{
	struct faults_net *fn = faults_net_of(c);

	if (fn->plain->timers)
		fn->plain->timers(c);
	let_go(fn);
}

int faults_net_install(struct conn *c, struct fault_asker *asker)
{
	struct faults_net *fn;

	if (!c->carrier || faults_net_of(c))
		return 0;
	fn = calloc(1, sizeof(*fn));
	if (!fn)
		return -ENOMEM;
	fn->carrier = *c->carrier;
	fn->carrier.open = faulty_open;
	fn->carrier.close = faulty_close;
	fn->carrier.stop = faulty_stop;
	fn->carrier.send = faulty_send;
	fn->carrier.receive = faulty_receive;
	fn->carrier.next_timeout = faulty_next_timeout;
	fn->carrier.timers = faulty_timers;
	fn->plain = c->carrier;
	fn->conn = c;
	fn->asker = asker;
	faults_held_init(&fn->held);
	faults_stages_init(&fn->stages);
	c->carrier = &fn->carrier;
	list_for_each(node, &c->endpoints.open)
		put_in_front(fn, list_entry(node, struct endpoint, node));
	list_for_each(node, &c->endpoints.dormant)
		put_in_front(fn, list_entry(node, struct endpoint, node));
	return 0;
}

void faults_net_release(struct conn *c, uint32_t rule)
{
	struct faults_net *fn = faults_net_of(c);

	if (!fn)
		return;
	faults_stages_release(&fn->stages, rule);
	faults_held_release(&fn->held, rule, c->now);
	let_go(fn);
}

bool faults_net_cut(struct conn *c, const struct faults_net_cut *cut)
{
	struct faults_net *fn = faults_net_of(c);

	return fn && faults_stages_add_cut(&fn->stages, cut, c->now);
}
