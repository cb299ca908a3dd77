/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Requests on existing associations that arrived while their port had no listener. */
#include <stdlib.h>

#include "conn/cm.h"
#include "conn/conn.h"
#include "log/log.h"

struct early {
	struct list_node node; /* cm.early, by deadline */
	struct conn *conn;
	struct iw_session *session;
	struct iw_session_param param; /* contents of the request */
	uint64_t deadline;
};

static void drop(struct early *e)
{
	list_del(&e->node);
	e->conn->cm.n_early--;
	free(e);
}

static void session_event(const struct iw_event *ev)
{
	if (ev->type == IW_EVENT_CLOSED)
		drop(ev->user.ctx);
}

bool cm_early_keep(struct conn *c, const struct iw_event *ev)
{
	static const struct iw_session_ops ops = { .event = session_event };
	struct early *e = malloc(sizeof(*e));

	if (!e)
		return false;
	e->conn = c;
	e->session = ev->session;
	e->param = ev->param;
	e->deadline = c->now + CM_LISTEN_GRACE;
	list_add_tail(&c->cm.early, &e->node);
	c->cm.n_early++;
	iw_session_set_user(ev->session, &(struct iw_session_user){ .ops = &ops, .ctx = e });
	return true;
}

/*
 * True if the request is to this endpoint. False if its association was lost: session_event() will
 * then drop the request.
 */
static bool is_to(const struct early *e, const struct endpoint *ep)
{
	struct iw_assoc *assoc = iw_session_assoc(e->session);
	const struct conn_assoc *a = assoc ? iw_assoc_llp(assoc) : NULL;

	return a && a->ep == ep;
}

/* Passes the request to the listener. If there is none, refuses the request. */
static void judge(struct early *e)
{
	struct conn *c = e->conn;
	struct iw_session *s = e->session;
	struct iw_session_param param = e->param;

	drop(e);
	cm_judge(c, s, &param);
}

void cm_early_take(struct endpoint *ep)
{
	list_for_each_safe(node, &ep->conn->cm.early) {
		struct early *e = list_entry(node, struct early, node);

		if (is_to(e, ep))
			judge(e);
	}
}

uint64_t cm_early_next_timeout(const struct conn *c)
{
	if (list_empty(&c->cm.early))
		return TIME_NEVER;
	return list_entry(c->cm.early.next, struct early, node)->deadline;
}

void cm_early_timers(struct conn *c)
{
	while (cm_early_next_timeout(c) <= c->now) {
		struct early *e = list_entry(c->cm.early.next, struct early, node);

		if (iw_session_assoc(e->session)) {
			judge(e);
		} else {
			iw_session_refuse(e->session);
			drop(e);
		}
	}
}
