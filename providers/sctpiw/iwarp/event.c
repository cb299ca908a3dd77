/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/event.h"

#include <stdlib.h>
#include <string.h>

#include "iwarp/cq.h"
#include "iwarp/qp.h"
#include "iwarp/rc_srq.h"
#include "iwarp/session.h"
#include "iwarp/srq.h"

void iw_event_init(struct iw_event_node *e, enum iw_event_owner owner)
{
	list_init(&e->node);
	e->owner = (uint8_t)owner;
	e->bits = 0;
}

void iw_event_raise(struct iw_shard *shard, struct iw_event_node *e, enum iw_event_type type)
{
	e->bits |= (uint16_t)(1 << type);
	if (!list_linked(&e->node))
		list_add_tail(&shard->events, &e->node);
}

void iw_event_clear(struct iw_event_node *e)
{
	e->bits = 0;
	list_del(&e->node);
}

static void session_event(struct iw_session *s, struct iw_event *ev)
{
	ev->assoc = s->assoc;
	ev->session = s;
	ev->user = s->user;
	ev->qp = s->qp;
	if (s->setup.remote) {
		ev->param = *s->setup.remote;
		free(s->setup.remote);
		s->setup.remote = NULL;
	}
	if (ev->type == IW_EVENT_INITIATE)
		s->setup.announced = true;
	if (ev->type != IW_EVENT_CLOSED && ev->type != IW_EVENT_REJECT)
		return;
	if (ev->type == IW_EVENT_CLOSED) {
		ev->error = s->ending.error;
		ev->qp = s->ending.closed_qp;
	}
	iw_session_release(s);
}

bool iw_has_events(const struct iw_shard *shard)
{
	return !list_empty(&shard->events) || !list_empty(&shard->idle) ||
	       !list_empty(&shard->srqs_due) || !list_empty(&shard->graveyard);
}

bool iw_next_event(struct iw_shard *shard, struct iw_event *ev)
{
	struct iw_event_node *e;
	struct list_node *due;

	while ((due = list_pop(&shard->srqs_due)))
		iw_rc_srq_serve(list_entry(due, struct iw_srq_part, due));
	iw_shard_reap(shard);
	if (list_empty(&shard->events))
		return false;
	e = list_entry(shard->events.next, struct iw_event_node, node);
	memset(ev, 0, sizeof(*ev));
	ev->type = (enum iw_event_type)__builtin_ctz(e->bits);
	e->bits &= (uint16_t)(e->bits - 1);
	if (!e->bits)
		list_del(&e->node);
	switch ((enum iw_event_owner)e->owner) {
	case IW_OWNER_SESSION:
		session_event(list_entry(e, struct iw_session, event), ev);
		break;
	case IW_OWNER_QP:
		ev->qp = &list_entry(e, struct iw_qp_base, event)->qp;
		break;
	case IW_OWNER_CQ:
		ev->cq = &list_entry(e, struct iw_cq_full, event)->cq;
		break;
	case IW_OWNER_SRQ:
		ev->srq = list_entry(e, struct iw_srq_part, event)->srq;
		break;
	}
	return true;
}
