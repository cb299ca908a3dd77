/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "conn/conn.h"

#include <string.h>

#include "conn/to_self.h"
#include "sctp/sctp.h"

/*
 * Number of ABORTs after which to call conn_output(). SCTP queues at most 64 packets that belong to
 * no association, and ABORTs are such packets.
 */
#define ABORTS_AT_ONCE 32

int conn_start(struct conn *c, const struct conn_param *param, struct config_error *why)
{
	c->ops = param->ops;
	c->config = param->config;
	c->transport = param->transport;
	c->carrier = param->carrier;
	c->net = param->net;
	c->iw = param->iw;
	c->random = param->random;
	c->all = param->all;
	c->n_all = param->n_all;
	c->index = param->index;
	endpoint_table_init(&c->endpoints);
	misplaced_init(&c->misplaced);
	list_init(&c->assocs);
	conn_idle_init(&c->idle);
	conn_strangers_init(&c->strangers);
	unanswered_init(&c->unanswered);
	cm_init(&c->cm, param->ids);
	sidr_init(&c->sidr);
	qp_num_table_init(&c->qp_nums);
	oob_table_init(&c->oob);
	multicast_init(&c->multicast);
	return c->transport->start(c, why);
}

/* ---- one pass ---- */

enum conn_received conn_receive(struct conn *c, enum conn_depth depth)
{
	bool room = c->datagrams.out && datagram_retry(c);
	enum conn_received got;

	c->datagrams.low = iw_ud_awaits_receives(c->iw, c->n_assocs);
	if (c->datagrams.low)
		return room ? CONN_STIRRED : CONN_NOTHING;
	iw_ud_begin_round(c->iw);
	got = c->transport->receive(c, depth);
	c->datagrams.low = iw_ud_is_low(c->iw);
	return got == CONN_NOTHING && room ? CONN_STIRRED : got;
}

/*
 * Passes an event of a session to the session's user. A new Initiate has no user: it is for a QP
 * connected out of band, or for a listener.
 */
static void session_event(struct conn *c, const struct iw_event *ev)
{
	if (ev->type == IW_EVENT_INITIATE) {
		if (!oob_request(c, ev))
			cm_request(c, ev);
	} else if (ev->user.ops) {
		ev->user.ops->event(ev);
	}
}

static bool iwarp_events(struct conn *c, void (*raise)(void *ctx, const struct iw_event *ev),
			 void *ctx)
{
	struct iw_event ev;
	void *llp;
	bool any = false;

	while ((llp = iw_next_idle(c->iw))) {
		if (!to_self_is_llp(c, llp))
			conn_assoc_check_idle(llp);
	}
	while (iw_next_event(c->iw, &ev)) {
		any = true;
		if (iw_event_is_of_session(ev.type))
			session_event(c, &ev);
		else
			raise(ctx, &ev);
	}
	return any;
}

bool conn_events(struct conn *c, void (*raise)(void *ctx, const struct iw_event *ev), void *ctx)
{
	bool any = c->transport->events(c);

	if (iw_has_events(c->iw))
		any |= iwarp_events(c, raise, ctx);
	return any;
}

bool conn_doorbell(struct conn *c, struct iw_doorbell *doorbell)
{
	struct iw_qp *qp = doorbell->is_srq ? NULL : list_entry(doorbell, struct iw_qp, doorbell);

	if (qp && qp->shard != c->iw)
		return false;
	iw_doorbell_serve(doorbell);
	if (qp && qp->oob)
		oob_doorbell(qp);
	return true;
}

uint32_t conn_in_flight(const struct conn *c)
{
	return c->transport->in_flight ? c->transport->in_flight(c) : UINT32_MAX;
}

bool conn_output(struct conn *c)
{
	bool any = c->transport->output(c);

	if (c->datagrams.out) {
		datagram_output(c);
		any = true;
	}
	if (c->to_self) {
		to_self_output(c);
		any = true;
	}
	return any;
}

/* ---- time ---- */

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t conn_next_timeout(const struct conn *c)
{
	uint64_t next = c->transport->next_timeout(c);

	next = earlier(next, iw_next_timeout(c->iw));
	next = earlier(next, conn_assoc_next_timeout(c));
	next = earlier(next, unanswered_next_timeout(c));
	next = earlier(next, cm_next_timeout(c));
	next = earlier(next, sidr_next_timeout(c));
	next = earlier(next, misplaced_next_timeout(c));
	next = earlier(next, oob_next_timeout(c));
	next = earlier(next, datagram_next_timeout(c));
	return earlier(next, to_self_next_timeout(c));
}

void conn_timers(struct conn *c)
{
	c->transport->timers(c);
	iw_timers(c->iw, c->now);
	conn_assoc_timers(c);
	unanswered_timers(c);
	cm_timers(c);
	sidr_timers(c);
	misplaced_timers(c);
	oob_timers(c);
}

/* ---- the end ---- */

void conn_readdress(struct conn *c)
{
	if (!c->transport->readdress)
		return;
	list_for_each(node, &c->endpoints.open)
		c->transport->readdress(list_entry(node, struct endpoint, node));
}

void conn_with_all(struct conn *c)
{
	c->wants_all = false;
	misplaced_give(c);
	endpoint_group_end_unused(c);
}

void conn_reap(struct conn *c)
{
	endpoint_reap(c);
}

bool conn_is_drained(const struct conn *c)
{
	list_for_each(node, &c->endpoints.open) {
		const struct endpoint *ep = list_entry(node, struct endpoint, node);

		list_for_each(anode, &ep->assocs) {
			const struct conn_assoc *a = list_entry(anode, struct conn_assoc, node);

			if (!a->gone && !c->transport->is_drained(a))
				return false;
		}
	}
	return true;
}

void conn_abort_all(struct conn *c)
{
	unsigned int n = 0;

	list_for_each(node, &c->endpoints.open) {
		struct endpoint *ep = list_entry(node, struct endpoint, node);

		list_for_each(anode, &ep->assocs) {
			conn_assoc_tell_abort(list_entry(anode, struct conn_assoc, node));
			/* The queue of ABORTs must not overflow. */
			if (++n % ABORTS_AT_ONCE == 0)
				conn_output(c);
		}
	}
}

static void drop_event(void *ctx, const struct iw_event *ev)
{
}

void conn_stop(struct conn *c)
{
	list_for_each(node, &c->endpoints.open)
		conn_assoc_drop_all(list_entry(node, struct endpoint, node));
	/* Report the end of the sessions to their users, which then drop the sessions. */
	while (conn_events(c, drop_event, NULL))
		;
	to_self_free(c);
	datagram_fini(c);
	multicast_fini(c);
	sidr_fini(&c->sidr);
	oob_table_fini(&c->oob);
	qp_num_table_free(c);
	endpoint_group_end_all(c);
	conn_reap(c);
	c->transport->stop(c);
}

static void forget_all(struct conn *c, const struct list_node *endpoints)
{
	list_for_each(node, endpoints)
		c->transport->forget(list_entry(node, struct endpoint, node));
}

void conn_forget(struct conn *c)
{
	c->closed = true;
	forget_all(c, &c->endpoints.open);
	forget_all(c, &c->endpoints.dormant);
	/* Empty the lists of ids, since the ids are freed. */
	cm_init(&c->cm, c->cm.ids);
	sidr_init(&c->sidr);
}

void conn_sctp_stats(const struct conn *c, struct sctp_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	if (c->transport->stats)
		c->transport->stats(c, stats);
}
