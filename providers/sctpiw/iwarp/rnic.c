/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "iwarp/private.h"

struct iw_rnic *iw_rnic_new(const struct iw_config *config, const struct iw_rnic_ops *ops,
			    struct random_source *random)
{
	struct iw_rnic *rnic = calloc(1, sizeof(*rnic));

	if (!rnic)
		return NULL;
	rnic->config = *config;
	rnic->ops = *ops;
	rnic->random = random;
	rnic->next_qp_num = random_u32(random);
	rnic->stag_counter = random_u32(random);
	random_bytes(random, rnic->stag_keys, sizeof(rnic->stag_keys));
	rnic->notify_last = &rnic->notify_first;
	list_init(&rnic->events);
	list_init(&rnic->sessions);
	list_init(&rnic->graveyard);
	list_init(&rnic->assocs);
	list_init(&rnic->idle);
	list_init(&rnic->srqs_due);
	return rnic;
}

void iw_rnic_free(struct iw_rnic *rnic)
{
	struct list_node *node;

	while ((node = list_pop(&rnic->assocs)))
		iw_assoc_lost(list_entry(node, struct iw_assoc, all), -ECONNABORTED);
	while (!list_empty(&rnic->sessions)) {
		struct iw_session *s = list_entry(rnic->sessions.next, struct iw_session, all);

		iw_session_bury(s);
	}
	iw_rnic_reap(rnic);
	iw_table_fini(&rnic->qps);
	iw_table_fini(&rnic->mrs);
	free(rnic->null_memory);
	timerq_fini(&rnic->timers);
	timerq_fini(&rnic->cq_timers);
	free(rnic);
}

const struct iw_stats *iw_stats(const struct iw_rnic *rnic)
{
	return &rnic->stats;
}

void iw_rnic_reap(struct iw_rnic *rnic)
{
	struct list_node *node;

	while ((node = list_pop(&rnic->graveyard))) {
		struct iw_session *s = list_entry(node, struct iw_session, all);

		free(s->slots);
		free(s->local);
		free(s->remote);
		free(s);
		rnic->session_count--;
	}
}

void iw_set_now(struct iw_rnic *rnic, uint64_t now)
{
	rnic->now = now;
}

uint64_t iw_next_timeout(const struct iw_rnic *rnic)
{
	const struct timerq_node *first = timerq_first(&rnic->timers);
	const struct timerq_node *cq = timerq_first(&rnic->cq_timers);
	uint64_t next = first ? first->when : UINT64_MAX;

	return cq && cq->when < next ? cq->when : next;
}

void iw_timers(struct iw_rnic *rnic, uint64_t now)
{
	struct timerq_node *first;

	rnic->now = now;
	while ((first = timerq_first(&rnic->timers)) && first->when <= now) {
		timerq_remove(&rnic->timers, first);
		iw_session_timer(list_entry(first, struct iw_session, timer));
	}
	while ((first = timerq_first(&rnic->cq_timers)) && first->when <= now) {
		timerq_remove(&rnic->cq_timers, first);
		iw_cq_timer(list_entry(first, struct iw_cq_full, timer));
	}
	iw_rnic_reap(rnic);
}

struct iw_pd *iw_pd_new(struct iw_rnic *rnic, void *ctx)
{
	struct iw_pd *pd;

	if (rnic->pds >= IW_MAX_PD)
		return NULL;
	pd = calloc(1, sizeof(*pd));
	if (!pd)
		return NULL;
	pd->rnic = rnic;
	pd->ctx = ctx;
	rnic->pds++;
	return pd;
}

int iw_pd_free(struct iw_pd *pd)
{
	if (pd->refs)
		return -EBUSY;
	pd->rnic->pds--;
	free(pd);
	return 0;
}

void iw_event_init(struct iw_event_node *e, enum iw_event_owner owner)
{
	list_init(&e->node);
	e->owner = (uint8_t)owner;
	e->bits = 0;
}

void iw_event_raise(struct iw_rnic *rnic, struct iw_event_node *e, enum iw_event_type type)
{
	e->bits |= (uint16_t)(1 << type);
	if (!list_linked(&e->node))
		list_add_tail(&rnic->events, &e->node);
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
	if (s->remote) {
		ev->param = *s->remote;
		free(s->remote);
		s->remote = NULL;
	}
	switch (ev->type) {
	case IW_EVENT_INITIATE:
		s->announced = true;
		break;
	case IW_EVENT_CLOSED:
		ev->error = s->error;
		ev->qp = s->closed_qp;
		break;
	default:
		break;
	}
	if (ev->type == IW_EVENT_CLOSED || ev->type == IW_EVENT_REJECT) {
		s->user_gone = true;
		if (s->closed_qp) {
			struct iw_qp_private *p = s->closed_qp->priv;

			p->closed = NULL;
			s->closed_qp = NULL;
		}
		if (s->state == IW_S_OVER)
			iw_session_bury(s);
	}
}

bool iw_next_event(struct iw_rnic *rnic, struct iw_event *ev)
{
	struct iw_event_node *e;
	struct list_node *due;

	while ((due = list_pop(&rnic->srqs_due)))
		iw_srq_serve(&list_entry(due, struct iw_srq_full, due)->srq);
	iw_rnic_reap(rnic);
	if (list_empty(&rnic->events))
		return false;
	e = list_entry(rnic->events.next, struct iw_event_node, node);
	memset(ev, 0, sizeof(*ev));
	/* Of several of one object the first in the order of the enum is the oldest. */
	ev->type = (enum iw_event_type)__builtin_ctz(e->bits);
	e->bits &= (uint16_t)(e->bits - 1);
	if (!e->bits)
		list_del(&e->node);
	switch ((enum iw_event_owner)e->owner) {
	case IW_OWNER_SESSION:
		session_event(list_entry(e, struct iw_session, event), ev);
		break;
	case IW_OWNER_QP: {
		struct iw_qp_private *p = list_entry(e, struct iw_qp_private, event);

		ev->qp = &list_entry(p, struct iw_qp_full, priv)->qp;
		break;
	}
	case IW_OWNER_CQ:
		ev->cq = &list_entry(e, struct iw_cq_full, event)->cq;
		break;
	case IW_OWNER_SRQ:
		ev->srq = &list_entry(e, struct iw_srq_full, event)->srq;
		break;
	}
	return true;
}
