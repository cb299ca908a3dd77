/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The end of connections of rdma_cm ids, by either side. */
#define _GNU_SOURCE
#include <errno.h>

#include "config/config.h"
#include "conn/cm.h"
#include "conn/conn.h"

/*
 * Maximum time to wait until the application polls earlier completions, and interval of the checks.
 */
#define END_LIMIT (NSEC_PER_SEC / 10)
#define END_STEP NSEC_PER_MSEC
/*
 * Time between DISCONNECTED and TIMEWAIT_EXIT. InfiniBand does not reuse a QP during this time;
 * here the time only delays the event.
 */
#define TIMEWAIT NSEC_PER_SEC

static void close_session(struct cm_id *id)
{
	if (!id->session)
		return;
	iw_session_close(id->session);
	id->session = NULL;
}

/*
 * Posts DISCONNECTED. Its status is 0 for every cause, as with siw, irdma and InfiniBand's DREQ.
 * With another status, librdmacm would report an error to the program, and rsockets would ignore
 * the event. If the device is a channel adapter, TIMEWAIT_EXIT follows later, as on InfiniBand.
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

/* Removes the id from cm.ending, and posts DISCONNECTED. */
static void tell_end(struct cm_id *id)
{
	list_del(&id->ending.node);
	post_end(id);
}

int cm_disconnect(struct cm_id *id)
{
	/* A datagram id has no connection to end. */
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
		/* An application that calls rdma_disconnect() needs no time to poll completions. */
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

/* Ignores COMM_EST and other events, as the kernel's CM does for an iWARP device. */
int cm_notify(const struct cm_id *id)
{
	return id->state >= CM_CONNECTING ? 0 : -EINVAL;
}

static void hang_up_session(struct cm_id *id)
{
	if (id->state == CM_REQUESTED && id->session) {
		/*
		 * Destroying the id of a request that the application has read rejects the request.
		 */
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

/* ---- the end by the peer ---- */

/* Finds a successful completion of the QP that the application has not polled. */
static bool find_unpolled(const struct iw_qp *qp, struct cm_ending *e)
{
	e->in_send_cq = false;
	if (iw_cq_find_success(qp->recv_cq, qp->num, &e->pos))
		return true;
	e->in_send_cq = true;
	return qp->send_cq != qp->recv_cq && iw_cq_find_success(qp->send_cq, qp->num, &e->pos);
}

/*
 * Posts DISCONNECTED once the application has polled all earlier successful completions. The peer
 * may close the connection right after its last Send, or after it receives the last local Send. The
 * close may then arrive in the same packet as the message that completes this Send. Other devices
 * receive the close later, in a separate message of the CM. Some programs rely on this delay: when
 * they get the event, they destroy the QP before they poll the CQ again.
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
 * True if an unpolled successful completion is still in a CQ. If the completion at the old position
 * was polled, searches again: entries move when iw_cq_purge() removes the completions of another
 * QP.
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
