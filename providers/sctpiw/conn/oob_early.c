/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "conn/oob_early.h"

#include <stdlib.h>

#include "conn/conn.h"
#include "conn/oob_message.h"
#include "log/log.h"

struct early {
	struct list_node node; /* oob_table.early */
	struct conn *conn;
	struct iw_session *session;
	struct oob_message msg;
};

static void drop(struct early *e)
{
	list_del(&e->node);
	e->conn->oob.n_early--;
	free(e);
}

static void session_event(const struct iw_event *ev)
{
	if (ev->type == IW_EVENT_CLOSED)
		drop(ev->user.ctx);
}

static const struct iw_session_ops session_ops = { .event = session_event };

void oob_early_keep(struct conn *c, struct iw_session *s, const struct oob_message *m)
{
	struct early *e = NULL;
	unsigned int n = 0;

	list_for_each(node, &c->oob.early)
		n += list_entry(node, struct early, node)->msg.dst == m->dst;
	if (n < OOB_EARLY_PER_QP && c->oob.n_early < OOB_EARLY_MAX)
		e = malloc(sizeof(*e));
	if (!e) {
		oob_reject(s, m, OOB_NO_QP);
		return;
	}
	e->conn = c;
	e->session = s;
	e->msg = *m;
	list_add_tail(&c->oob.early, &e->node);
	c->oob.n_early++;
	iw_session_set_user(s, &(struct iw_session_user){ .ops = &session_ops, .ctx = e });
	log_debug("QP 0x%06x: Initiate of QP 0x%06x kept", m->dst, m->src);
}

void oob_early_consider(struct conn *c, uint32_t num)
{
	struct list_node mine;
	struct list_node *node;

	list_init(&mine);
	list_for_each_safe(it, &c->oob.early) {
		if (list_entry(it, struct early, node)->msg.dst == num) {
			list_del(it);
			list_add_tail(&mine, it);
		}
	}
	while ((node = list_pop(&mine))) {
		struct early *e = list_entry(node, struct early, node);
		struct iw_session *s = e->session;
		struct oob_message m = e->msg;

		drop(e);
		oob_consider(c, s, &m);
	}
}
