/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "conn/assoc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "conn/conn.h"
#include "conn/oob_second.h"
#include "util/alloc.h"
#include "util/sockaddr.h"
#include "util/trace.h"
#include "wire/sctp_receipts.h"

/* Time for which an association without sessions is kept. */
static const uint64_t idle_limit[IDLE_LISTS] = {
	[IDLE_ACTIVE] = 2 * NSEC_PER_SEC,
	[IDLE_PASSIVE] = 3 * NSEC_PER_SEC,
	/* Time for the peer to acknowledge the last messages to it. */
	[IDLE_ABANDONED] = NSEC_PER_SEC / 2,
};

void conn_idle_init(struct conn_idle *idle)
{
	for (int i = 0; i < IDLE_LISTS; i++)
		list_init(&idle->list[i]);
}

void conn_strangers_init(struct conn_strangers *strangers)
{
	list_init(&strangers->list);
	strangers->count = 0;
}

/* ---- callbacks for iwarp (struct iw_llp_ops) ---- */

static void doorbell(void *llp)
{
	struct conn_assoc *a = llp;

	if (!a->gone)
		a->ep->conn->transport->doorbell(a);
}

static uint32_t acked(void *llp)
{
	struct conn_assoc *a = llp;

	return a->gone ? 0 : a->ep->conn->transport->acked(a);
}

static uint32_t placed(void *llp)
{
	struct conn_assoc *a = llp;

	return a->gone ? 0 : a->ep->conn->transport->placed(a);
}

static void copy_out(void *llp)
{
	struct conn_assoc *a = llp;

	if (!a->gone)
		a->ep->conn->transport->copy_out(a);
}

static void void_messages(void *llp, uint16_t sid)
{
	struct conn_assoc *a = llp;

	if (!a->gone)
		a->ep->conn->transport->void_messages(a, sid);
}

static void describe(void *llp, char *buf, size_t len)
{
	const struct conn_assoc *a = llp;
	const struct transport *t = a->ep->conn->transport;
	char text[SOCKADDR_TEXT];

	*buf = 0;
	if (!a->gone)
		snprintf(buf, len, "%s",
			 sockaddr_text_ip(&t->addr(a)->remote, t->remote_port(a), text));
}

static struct iw_llp_ops llp_ops(const struct transport *t)
{
	return (struct iw_llp_ops){
		.doorbell = doorbell,
		.acked = acked,
		.placed = t->placed ? placed : NULL,
		.copy_out = copy_out,
		.void_messages = t->void_messages ? void_messages : NULL,
		.describe = describe,
	};
}

/* ---- creation ---- */

struct conn_assoc *conn_assoc_new(struct endpoint *ep)
{
	struct conn_assoc *a = alloc_lines(sizeof(*a));

	if (!a)
		return NULL;
	a->ep = ep;
	list_init(&a->waiting);
	list_init(&a->oob);
	list_init(&a->second);
	list_init(&a->idle_node);
	list_init(&a->stranger_node);
	list_init(&a->attempt.node);
	list_add_tail(&ep->assocs, &a->node);
	list_add_tail(&ep->conn->assocs, &a->all);
	ep->conn->n_assocs++;
	ep->refs++;
	return a;
}

/* ---- strangers ---- */

static bool is_stranger(const struct conn_assoc *a)
{
	return !a->initiator && list_empty(&a->waiting) && list_empty(&a->oob) &&
	       !(a->iw && iw_assoc_wanted(a->iw));
}

static void leave_strangers(struct conn_assoc *a)
{
	if (!list_linked(&a->stranger_node))
		return;
	list_del(&a->stranger_node);
	a->ep->conn->strangers.count--;
}

/*
 * Adds the association to the list of strangers, or removes it. A refused request does not change
 * the association's position in the list.
 */
static void check_stranger(struct conn_assoc *a)
{
	struct conn_strangers *strangers = &a->ep->conn->strangers;

	if (a->gone || !is_stranger(a)) {
		leave_strangers(a);
	} else if (!list_linked(&a->stranger_node)) {
		list_add_tail(&strangers->list, &a->stranger_node);
		strangers->count++;
	}
}

static bool is_flooded(const struct conn *c)
{
	return c->strangers.count > CONN_STRANGERS_MAX || iw_turned_too_many_away(c->iw);
}

static void end_flood(struct conn *c)
{
	struct conn_assoc *a;

	while (c->strangers.count > CONN_STRANGERS_MAX) {
		a = list_entry(c->strangers.list.next, struct conn_assoc, stranger_node);
		conn_assoc_abort(a, -ECONNABORTED);
	}
	while ((a = iw_worst_asker(c->iw)))
		conn_assoc_abort(a, -ECONNABORTED);
}

/* ---- the end ---- */

static void conn_assoc_free(struct conn_assoc *a)
{
	list_del(&a->node);
	list_del(&a->all);
	a->ep->conn->n_assocs--;
	list_del(&a->idle_node);
	list_del(&a->attempt.node);
	leave_strangers(a);
	oob_second_detach_all(a);
	endpoint_put(a->ep);
	free(a);
}

bool conn_assoc_is_up(const struct conn_assoc *a)
{
	return a->iw && !a->closing && !a->gone;
}

void conn_assoc_set_max_msg(struct conn_assoc *a, size_t max_msg)
{
	if (max_msg == a->max_msg || !a->iw)
		return;
	a->max_msg = max_msg;
	iw_assoc_set_max_msg(a->iw, max_msg);
}

/* Ends all sessions, after the SCTP association ended or restarted. */
static void drop_sessions(struct conn_assoc *a, int error)
{
	struct iw_assoc *iw = a->iw;

	a->iw = NULL;
	if (iw)
		iw_assoc_lost(iw, error);
}

static void trace_state(const struct conn_assoc *a, const char *what)
{
	const struct transport *t = a->ep->conn->transport;
	char text[SOCKADDR_TEXT];

	TRACE(assoc_state, a->ep->conn->now, .port = a->ep->bound.port,
	      .peer = sockaddr_text_ip(&t->addr(a)->remote, t->remote_port(a), text),
	      .state = what);
}

void conn_assoc_tell_abort(struct conn_assoc *a)
{
	if (a->gone)
		return;
	trace_state(a, "aborted");
	a->gone = true;
	a->ep->conn->transport->abort(a);
}

void conn_assoc_abort(struct conn_assoc *a, int error)
{
	conn_assoc_tell_abort(a);
	drop_sessions(a, error);
	cm_assoc_failed(a, error);
	oob_assoc_failed(a, error);
	conn_assoc_free(a);
}

void conn_assoc_drop_all(struct endpoint *ep)
{
	list_for_each_safe(node, &ep->assocs) {
		struct conn_assoc *a = list_entry(node, struct conn_assoc, node);

		conn_assoc_tell_abort(a);
		drop_sessions(a, -ECONNABORTED);
		conn_assoc_free(a);
	}
}

bool conn_assoc_up(struct conn_assoc *a, bool initiator, unsigned int streams, size_t max_msg)
{
	const struct transport *t = a->ep->conn->transport;
	const struct wire_sctp_receipts *agreed = t->agreed ? t->agreed(a) : NULL;
	const struct iw_llp_ops ops = llp_ops(t);

	a->initiator = initiator;
	a->cm_messages = agreed && agreed->cm_messages;
	a->max_msg = max_msg;
	unanswered_up(a);
	a->iw = iw_assoc_new(a->ep->conn->iw, &ops, a, initiator, streams, max_msg);
	if (!a->iw) {
		conn_assoc_abort(a, -ENOMEM);
		return false;
	}
	if (agreed)
		iw_assoc_set_receipts(a->iw, agreed->window);
	if (agreed && agreed->srq_numbers)
		iw_assoc_set_srq_numbers(a->iw);
	trace_state(a, "association up");
	cm_assoc_up(a);
	oob_assoc_up(a);
	conn_assoc_check_idle(a);
	return true;
}

void conn_assoc_restarted(struct conn_assoc *a)
{
	trace_state(a, "restarted by the peer");
	drop_sessions(a, -ECONNRESET);
	a->closing = false;
}

void conn_assoc_peer_closes(struct conn_assoc *a)
{
	trace_state(a, "the peer shuts down");
	a->closing = true;
	list_del(&a->idle_node);
	drop_sessions(a, -ECONNRESET);
	check_stranger(a);
}

/* Moves the ids that still wait for the association to a new one. */
static void replace(struct conn_assoc *old)
{
	struct list_node *node;

	while ((node = list_pop(&old->waiting)))
		cm_reconnect(list_entry(node, struct cm_id, setup.wait_node));
}

void conn_assoc_over(struct conn_assoc *a, int error, bool orderly)
{
	if (orderly)
		TRACE(assoc_closed, a->ep->conn->now, .port = a->ep->bound.port);
	else
		TRACE(assoc_lost, a->ep->conn->now, .port = a->ep->bound.port,
		      .error = (uint64_t)-error);
	unanswered_over(a, error);
	a->gone = true;
	drop_sessions(a, error);
	if (orderly || a->closing)
		replace(a);
	else
		cm_assoc_failed(a, error);
	oob_assoc_failed(a, error);
	conn_assoc_free(a);
}

/* ---- opening ---- */

bool conn_assoc_has_address(const struct conn_assoc *a, const struct ip_addr *remote)
{
	const struct transport *t = a->ep->conn->transport;

	/* Do not compare with addr() first: a multihomed peer may have lost its primary address. */
	return t->has_address ? t->has_address(a, remote) :
				ip_addr_equal(&t->addr(a)->remote, remote);
}

static bool is_between(const struct conn_assoc *a, const struct path_addr *to)
{
	const struct transport *t = a->ep->conn->transport;

	if (t->is_between)
		return t->is_between(a, to);
	return ip_addr_equal(&t->addr(a)->remote, &to->remote) &&
	       path_addr_locality(t->addr(a), to);
}

/*
 * Finds an association from ep to the peer. If to->local is zero, the association may have any
 * local address. An association whose local address is not known yet, since the peer has not
 * answered, matches every to->local. An association whose peer has to->remote as an additional
 * address also matches. In both cases, the transport would refuse to open a second association.
 */
static struct conn_assoc *find(struct endpoint *ep, const struct path_addr *to, uint16_t port)
{
	const struct transport *t = ep->conn->transport;
	struct conn_assoc *other = NULL;

	list_for_each(node, &ep->assocs) {
		struct conn_assoc *a = list_entry(node, struct conn_assoc, node);

		if (a->gone || t->remote_port(a) != port)
			continue;
		if (is_between(a, to))
			return a;
		if (!ip_addr_equal(&t->addr(a)->remote, &to->remote) &&
		    conn_assoc_has_address(a, &to->remote))
			other = a;
	}
	return other;
}

int conn_assoc_connect(struct endpoint *ep, const struct path_addr *to, uint16_t port,
		       struct conn_assoc **out)
{
	struct conn_assoc *a = find(ep, to, port);
	int ret;

	if (a) {
		conn_assoc_in_use(a);
		leave_strangers(a);
		*out = a;
		return 0;
	}
	a = conn_assoc_new(ep);
	if (!a)
		return -ENOMEM;
	ret = ep->conn->transport->connect(a, to, port);
	if (ret) {
		conn_assoc_free(a);
		return ret;
	}
	unanswered_begin(a, to, port);
	*out = a;
	return 0;
}

/* ---- without sessions ---- */

void conn_assoc_in_use(struct conn_assoc *a)
{
	list_del(&a->idle_node);
}

void conn_assoc_check_idle(struct conn_assoc *a)
{
	struct conn *c = a->ep->conn;
	enum conn_idle_list which;

	check_stranger(a);
	if (a->gone || a->closing || !a->iw || !list_empty(&a->waiting) || !list_empty(&a->oob) ||
	    iw_assoc_sessions(a->iw)) {
		list_del(&a->idle_node);
		return;
	}
	if (list_linked(&a->idle_node))
		return;
	if (endpoint_is_abandoned(a->ep))
		which = IDLE_ABANDONED; /* so that other processes can use the port soon */
	else
		which = a->initiator ? IDLE_ACTIVE : IDLE_PASSIVE;
	a->idle_deadline = c->now + idle_limit[which];
	list_add_tail(&c->idle.list[which], &a->idle_node);
}

static void close_idle(struct conn *c, struct list_node *list)
{
	while (!list_empty(list)) {
		struct conn_assoc *a = list_entry(list->next, struct conn_assoc, idle_node);

		if (a->idle_deadline > c->now)
			return;
		list_del(&a->idle_node);
		if (iw_assoc_sessions(a->iw))
			continue;
		trace_state(a, "idle, shutting down");
		a->closing = true;
		c->transport->shutdown(a);
	}
}

void conn_assoc_timers(struct conn *c)
{
	end_flood(c);
	for (int i = 0; i < IDLE_LISTS; i++)
		close_idle(c, &c->idle.list[i]);
}

uint64_t conn_assoc_next_timeout(const struct conn *c)
{
	uint64_t next = is_flooded(c) ? c->now : TIME_NEVER;

	for (int i = 0; i < IDLE_LISTS; i++) {
		const struct list_node *list = &c->idle.list[i];
		const struct conn_assoc *a;

		if (list_empty(list))
			continue;
		a = list_entry(list->next, struct conn_assoc, idle_node);
		if (a->idle_deadline < next)
			next = a->idle_deadline;
	}
	return next;
}
