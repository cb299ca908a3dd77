/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The end of connections of rdma_cm ids, by either side. */
#define _GNU_SOURCE
#include <errno.h>

#include "config/config.h"
#include "conn/cm.h"
#include "conn/conn.h"

/* How long the application may take to poll what came before the end, and how often that is looked at. */
#define END_LIMIT (NSEC_PER_SEC / 10)
#define END_STEP NSEC_PER_MSEC
/* How long InfiniBand keeps a QP from a new connection; here it says only when programs hear of that. */
#define TIMEWAIT NSEC_PER_SEC

static void close_session(struct cm_id *id)
{
	if (!id->session)
		return;
	iw_session_close(id->session);
	id->session = NULL;
}

/*
 * Posts the end to the application. The status is 0 for every cause, as with siw, irdma and a DREQ
 * of InfiniBand: librdmacm takes any other status for a failure of the call under way, and rsockets
 * then ignore the event. With a channel adapter TIMEWAIT_EXIT follows, as from InfiniBand's CM.
 */
static void post_end(struct cm_id *id)
{
	struct conn *c = id->conn;

	cm_post(id, CM_EVENT_DISCONNECTED, 0);
	if (!config_is_ca(c->config))
		return;
	id->ending.timewait_until = c->now + TIMEWAIT;
	list_add_tail(&c->cm.timewait, &id->ending.timewait_node);
}

/* Takes the id out of cm.ending, and tells the application. */
static void tell_end(struct cm_id *id)
{
	list_del(&id->ending.node);
	post_end(id);
}

int cm_disconnect(struct cm_id *id)
{
	/* Datagrams have no end that a peer could be told. */
	if (!id->connected_type)
		return id->state >= CM_CONNECTING && id->state != CM_LISTEN ? 0 : -EINVAL;
	switch (id->state) {
	case CM_ACCEPTED:
	case CM_ESTABLISHED:
		list_del(&id->setup.node);
		close_session(id);
		id->state = CM_OVER;
		post_end(id);
		return 0;
	case CM_OVER:
		/* An application that hangs up itself waits for no completion. */
		if (list_linked(&id->ending.node))
			tell_end(id);
		return 0;
	case CM_CONNECTING:
	case CM_REQUESTED:
		return 0;
	default:
		return -EINVAL;
	}
}

/* For an iWARP device the kernel's CM has nothing to do about COMM_EST and the like, either. */
int cm_notify(const struct cm_id *id)
{
	return id->state >= CM_CONNECTING ? 0 : -EINVAL;
}

static void hang_up_session(struct cm_id *id)
{
	if (id->state == CM_REQUESTED && id->session) {
		/* An application that lets go of a request that it has read rejects it. */
		if (id->request.listener)
			iw_session_refuse(id->session);
		else
			cm_reject(id, 0, NULL, 0);
		id->session = NULL;
	} else {
		close_session(id);
	}
}

void cm_hang_up(struct cm_id *id)
{
	list_del(&id->setup.wait_node);
	list_del(&id->setup.node);
	list_del(&id->ending.node);
	list_del(&id->ending.timewait_node);
	if (!id->connected_type) {
		sidr_hang_up(id);
		return;
	}
	hang_up_session(id);
	if (id->stand_in)
		stand_in_free(id->conn, id->stand_in);
	id->stand_in = NULL;
}

/* ---- the peer's end ---- */

/* Finds a completion of the QP that succeeded and was not polled. */
static bool find_unpolled(const struct iw_qp *qp, struct cm_ending *e)
{
	e->in_send_cq = false;
	if (iw_cq_find_success(qp->recv_cq, qp->num, &e->pos))
		return true;
	e->in_send_cq = true;
	return qp->send_cq != qp->recv_cq && iw_cq_find_success(qp->send_cq, qp->num, &e->pos);
}

/*
 * The application hears of the end once it has polled all that succeeded before. A peer hangs up right behind
 * its last Send, or once it has the last one of ours: the end may come in one packet with what completes that.
 * With devices whose connections end by another way, and so later, programs get away with destroying the QP on
 * the event before they look into the CQ once more.
 */
void cm_end(struct cm_id *id)
{
	struct conn *c = id->conn;
	struct iw_qp *qp = conn_qp(c, id->qp_num);

	if (!qp || !find_unpolled(qp, &id->ending)) {
		post_end(id);
		return;
	}
	id->ending.deadline = c->now + END_LIMIT;
	if (list_empty(&c->cm.ending))
		c->cm.end_check = c->now + END_STEP;
	list_add_tail(&c->cm.ending, &id->ending.node);
}

/*
 * Whether something still waits in the CQs. A look at where it was will not do: entries move up when those of
 * another QP are taken out (iw_cq_purge()).
 */
static bool is_unpolled(struct cm_id *id)
{
	struct iw_qp *qp = conn_qp(id->conn, id->qp_num);
	struct cm_ending *e = &id->ending;

	return qp && (!iw_cq_is_past(e->in_send_cq ? qp->send_cq : qp->recv_cq, e->pos) ||
		      find_unpolled(qp, e));
}

static void check_ends(struct conn *c)
{
	c->cm.end_check = c->now + END_STEP;
	list_for_each_safe(node, &c->cm.ending) {
		struct cm_id *id = list_entry(node, struct cm_id, ending.node);

		if (c->now >= id->ending.deadline || !is_unpolled(id))
			tell_end(id);
	}
}

static uint64_t next_timewait(const struct conn *c)
{
	if (list_empty(&c->cm.timewait))
		return TIME_NEVER;
	return list_entry(c->cm.timewait.next, struct cm_id, ending.timewait_node)
		->ending.timewait_until;
}

uint64_t cm_end_next_timeout(const struct conn *c)
{
	uint64_t next = next_timewait(c);

	return list_empty(&c->cm.ending) || next < c->cm.end_check ? next : c->cm.end_check;
}

void cm_end_timers(struct conn *c)
{
	if (!list_empty(&c->cm.ending) && c->cm.end_check <= c->now)
		check_ends(c);
	while (next_timewait(c) <= c->now) {
		struct cm_id *id =
			list_entry(c->cm.timewait.next, struct cm_id, ending.timewait_node);

		list_del(&id->ending.timewait_node);
		cm_post(id, CM_EVENT_TIMEWAIT_EXIT, 0);
	}
}
