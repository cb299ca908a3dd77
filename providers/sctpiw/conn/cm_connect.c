/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Connections of rdma_cm ids: from rdma_connect() and rdma_accept() to their end. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "conn/cm.h"
#include "conn/conn.h"
#include "config/config.h"
#include "log/log.h"
#include "util/sockaddr.h"

/* The peer's application has so long to accept or reject, and its RNIC for an RTR indication. */
#define ACCEPT_LIMIT (30 * NSEC_PER_SEC)

/* The application has so long to poll what came before the end, and is looked at so often. */
#define END_LIMIT (NSEC_PER_SEC / 10)
#define END_STEP (NSEC_PER_SEC / 1000)

/* To so many associations without a stream. */
#define MOVES_MAX 8

_Static_assert((int)CONFIG_RTR_SEND == IW_RTR_SEND && (int)CONFIG_RTR_WRITE == IW_RTR_WRITE &&
		       (int)CONFIG_RTR_READ == IW_RTR_READ && (int)CONFIG_RTR_ANY == IW_RTR_ANY,
	       "the setting goes to iwarp as it is");

static void take_param(struct cm_id *id, const struct rnic_conn_param *p)
{
	struct iw_session_param *to = &id->param;

	_Static_assert(RNIC_PRIVATE_DATA_MAX <= IW_MAX_PRIVATE_DATA - 4 &&
			       RNIC_PRIVATE_DATA_MAX == UINT8_MAX,
		       "every length of private data fits");
	id->qp_num = p->qp_num;
	to->ird = p->responder_resources < IW_MAX_IRD ? p->responder_resources : IW_MAX_IRD;
	to->ord = p->initiator_depth < IW_MAX_ORD ? p->initiator_depth : IW_MAX_ORD;
	to->rnr_retry_count = p->rnr_retry_count & 7;
	to->private_data_len = p->private_data_len;
	memcpy(to->private_data, p->private_data, p->private_data_len);
}

/* A QP that can be connected; the session checks the rest when it is made. */
static struct iw_qp *usable_qp(struct conn *c, uint32_t num)
{
	struct iw_qp *qp = num ? iw_qp_by_num(c->rnic, num) : NULL;
	uint32_t state;

	if (!qp || qp->oob)
		return NULL;
	state = atomic_load_explicit(&qp->state, memory_order_relaxed);
	return state <= IW_QPS_RTR ? qp : NULL;
}

static void await_peer(struct cm_id *id)
{
	struct conn *c = id->conn;

	id->setup.deadline = c->now + ACCEPT_LIMIT;
	list_add_tail(&c->cm.accepting, &id->setup.node);
}

/* ---- active side ---- */

static int initiate(struct cm_id *id, struct conn_assoc *a)
{
	struct conn *c = id->conn;
	struct iw_qp *qp = usable_qp(c, id->qp_num);
	struct iw_session_user user;
	int ret;

	if (!qp)
		return -EINVAL;
	cm_session_user(id, &user);
	ret = iw_session_initiate(a->iw, qp, &id->param, &user, &id->session);
	if (ret)
		return ret;
	qp->by_cm = true;
	conn_assoc_in_use(a);
	await_peer(id);
	return 0;
}

uint16_t cm_encap_port(const struct conn *c, uint16_t port)
{
	int configured = c->config->encap_port;

	return configured == CONFIG_ENCAP_SAME ? port : (uint16_t)configured;
}

static int start(struct cm_id *id);

/* To another port of ours. */
static void move(struct cm_id *id, struct endpoint *next)
{
	endpoint_put(id->ep);
	id->ep = next;
	sockaddr_set_port((struct sockaddr *)&id->src, next->bound.port);
}

/*
 * As initiate(). A peer may have few streams (Linux: 10); when all are taken, this connection and
 * those after it go from another port, so on another association.
 */
static int initiate_somewhere(struct cm_id *id, struct conn_assoc *a)
{
	struct endpoint *next;
	int ret = initiate(id, a);

	if (ret != -EAGAIN || !id->ep->shared)
		return ret;
	/* Streams that others use are a reason to go on; a peer that never has one is not. */
	if (!iw_assoc_sessions(a->iw) && ++id->setup.moves > MOVES_MAX)
		return -ECONNREFUSED;
	ret = endpoint_open_next(id->ep, &next);
	if (ret)
		return ret;
	move(id, next);
	return start(id);
}

/* What the id's packets are to carry. From a port that others use as well it moves to another. */
static int take_tos(struct cm_id *id)
{
	struct endpoint *next;
	int ret;

	if (!id->opt.tos_set || id->opt.tos == id->ep->tos)
		return 0;
	if (!id->ep->shared) {
		endpoint_set_tos(id->ep, id->opt.tos);
		return 0;
	}
	ret = endpoint_open_client(id->conn, id->ep->bound.family, id->opt.tos, &next);
	if (!ret)
		move(id, next);
	return ret;
}

/* On the association that is there, or on a new one. */
static int start(struct cm_id *id)
{
	uint16_t port = sockaddr_port((struct sockaddr *)&id->dst);
	struct path_addr to = {
		.local = sockaddr_ip((struct sockaddr *)&id->src),
		.remote = sockaddr_ip((struct sockaddr *)&id->dst),
		.udp_port = cm_encap_port(id->conn, port),
	};
	struct conn_assoc *a;
	int ret;

	ret = conn_assoc_connect(id->ep, &to, port, &a);
	if (ret)
		return ret;
	if (conn_assoc_is_up(a)) {
		ret = initiate_somewhere(id, a);
		conn_assoc_check_idle(a);
		return ret;
	}
	id->setup.assoc = a;
	list_add_tail(&a->waiting, &id->setup.wait_node);
	return 0;
}

int cm_connect(struct cm_id *id, const struct rnic_conn_param *param)
{
	int ret;

	if (id->state != CM_ROUTE_RESOLVED || !sockaddr_port((struct sockaddr *)&id->dst) ||
	    !usable_qp(id->conn, param->qp_num))
		return -EINVAL;
	ret = take_tos(id);
	if (ret)
		return ret;
	take_param(id, param);
	id->param.rtr = id->conn->config->rtr;
	id->setup.moves = 0;
	id->setup.retried = false;
	ret = start(id);
	if (!ret)
		id->state = CM_CONNECTING;
	return ret;
}

void cm_reconnect(struct cm_id *id)
{
	int ret;

	list_del(&id->setup.wait_node);
	id->setup.assoc = NULL;
	ret = start(id);
	if (ret)
		cm_connect_failed(id, ret, NULL);
}

void cm_assoc_up(struct conn_assoc *a)
{
	struct list_node *node;

	while ((node = list_pop(&a->waiting))) {
		struct cm_id *id = list_entry(node, struct cm_id, setup.wait_node);
		int ret;

		id->setup.assoc = NULL;
		ret = initiate_somewhere(id, a);
		if (ret)
			cm_connect_failed(id, ret, NULL);
	}
}

void cm_assoc_failed(struct conn_assoc *a, int error)
{
	struct list_node *node;

	while ((node = list_pop(&a->waiting))) {
		struct cm_id *id = list_entry(node, struct cm_id, setup.wait_node);

		id->setup.assoc = NULL;
		cm_connect_failed(id, error, NULL);
	}
}

/* ---- passive side ---- */

static void establish(struct cm_id *id)
{
	id->state = CM_ESTABLISHED;
	/* Of ours, without our own private data. */
	id->param.private_data_len = 0;
	cm_post_param(id, CM_EVENT_ESTABLISHED, 0, &id->param);
}

int cm_accept(struct cm_id *id, const struct rnic_conn_param *param, bool has_uid, uint64_t uid)
{
	struct iw_qp *qp;
	int ret = -EINVAL;

	/* rdma_establish() of the active side: an iWARP connection is complete without it. */
	if (id->state == CM_ESTABLISHED && !param)
		return 0;
	if (id->state != CM_REQUESTED || !param)
		return -EINVAL;
	/* The peer has gone meanwhile. */
	if (!id->session) {
		id->state = CM_OVER;
		return -ECONNRESET;
	}
	take_param(id, param);
	qp = usable_qp(id->conn, id->qp_num);
	if (qp)
		ret = iw_session_accept(id->session, qp, &id->param);
	if (ret) {
		/* Not a Reject: that is the application's alone to say (RFC 5043 6.3). */
		iw_session_refuse(id->session);
		id->session = NULL;
		id->state = CM_OVER;
		return ret;
	}
	qp->by_cm = true;
	if (has_uid)
		id->uid = uid;
	if (iw_session_awaits_rtr(id->session)) {
		id->state = CM_ACCEPTED;
		await_peer(id);
	} else {
		establish(id);
	}
	return 0;
}

int cm_reject(struct cm_id *id, const void *private_data, uint8_t len)
{
	int ret = 0;

	if (id->state != CM_REQUESTED)
		return -EINVAL;
	if (id->session)
		ret = iw_session_reject(id->session, private_data, len);
	id->session = NULL;
	id->state = CM_OVER;
	return ret;
}

/* ---- the end ---- */

static void close_session(struct cm_id *id)
{
	if (!id->session)
		return;
	iw_session_close(id->session);
	id->session = NULL;
}

/* In engine.ending. */
static void tell_end(struct cm_id *id)
{
	list_del(&id->ending.node);
	cm_post(id, CM_EVENT_DISCONNECTED, id->ending.status);
}

int cm_disconnect(struct cm_id *id)
{
	switch (id->state) {
	case CM_ACCEPTED:
	case CM_ESTABLISHED:
		list_del(&id->setup.node);
		close_session(id);
		id->state = CM_OVER;
		cm_post(id, CM_EVENT_DISCONNECTED, 0);
		return 0;
	case CM_OVER:
		/* Who hangs up waits for no receive. */
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

/* COMM_EST and the like: the kernel's CM has nothing to do for an iWARP device either. */
int cm_notify(const struct cm_id *id)
{
	return id->state >= CM_CONNECTING ? 0 : -EINVAL;
}

void cm_hang_up(struct cm_id *id)
{
	list_del(&id->setup.wait_node);
	list_del(&id->setup.node);
	list_del(&id->ending.node);
	id->setup.assoc = NULL;
	if (id->state == CM_REQUESTED && id->session) {
		/* An application that lets go of a request rejects it, but not of one that it never read. */
		if (id->request.listener)
			iw_session_refuse(id->session);
		else
			iw_session_reject(id->session, NULL, 0);
		id->session = NULL;
	} else {
		close_session(id);
	}
}

/* ---- events of the sessions ---- */

static void on_accept(struct cm_id *id, const struct iw_event *ev)
{
	list_del(&id->setup.node);
	if (id->state != CM_CONNECTING)
		return;
	id->state = CM_ESTABLISHED;
	cm_post_param(id, CM_EVENT_ESTABLISHED, 0, &ev->param);
}

static void on_rtr(struct cm_id *id)
{
	list_del(&id->setup.node);
	if (id->state == CM_ACCEPTED)
		establish(id);
}

/*
 * The application hears of the end once it has polled the last Send that came before. Peers hang up right
 * behind their last Send, and both may come at once: with devices whose connections end by other ways, and
 * so later, programs get away with destroying the QP on the event before they look into the CQ once more.
 */
static void post_end(struct cm_id *id, int status)
{
	struct conn *c = id->conn;
	struct iw_qp *qp = iw_qp_by_num(c->rnic, id->qp_num);

	if (!qp || !iw_cq_find_recv(qp->recv_cq, qp->num, &id->ending.recv)) {
		cm_post(id, CM_EVENT_DISCONNECTED, status);
		return;
	}
	id->ending.status = status;
	id->ending.deadline = c->now + END_LIMIT;
	if (list_empty(&c->cm.ending))
		c->cm.end_check = c->now + END_STEP;
	list_add_tail(&c->cm.ending, &id->ending.node);
}

/* A look at where it was will not do: entries move up when those of another QP are taken out (iw_cq_purge()). */
static bool is_unpolled(struct cm_id *id)
{
	struct iw_qp *qp = iw_qp_by_num(id->conn->rnic, id->qp_num);

	return qp && (!iw_cq_is_past(qp->recv_cq, id->ending.recv) ||
		      iw_cq_find_recv(qp->recv_cq, qp->num, &id->ending.recv));
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

static void on_closed(struct cm_id *id, int error)
{
	enum cm_state state = id->state;

	list_del(&id->setup.node);
	id->session = NULL;
	switch (state) {
	case CM_CONNECTING:
		/*
		 * The association was of a peer that is no more, or that found it idle just then:
		 * who has the port now is asked, once.
		 */
		if (error == -ECONNRESET && !id->setup.retried) {
			id->setup.retried = true;
			error = start(id);
			if (!error)
				return;
		}
		/* fall through */
	case CM_ACCEPTED:
		/* Ended instead of being answered: it did not want us (RFC 5043 6.4), or our answer. */
		cm_connect_failed(id, error ? error : -ECONNREFUSED, NULL);
		break;
	case CM_ESTABLISHED:
		id->state = CM_OVER;
		post_end(id, error);
		break;
	default:
		/* Requested: accept will find that it is gone. */
		break;
	}
}

/* An event may come out after its id is gone, so the session knows the id by its handle. */
static void session_event(const struct iw_event *ev)
{
	struct cm_id *id = cm_id_get(ev->user.ctx, ev->user.handle);

	/* The id may have another session by now, or none that is of interest. */
	if (!id || id->session != ev->session)
		return;
	switch (ev->type) {
	case IW_EVENT_ACCEPT:
		on_accept(id, ev);
		break;
	case IW_EVENT_RTR:
		on_rtr(id);
		break;
	case IW_EVENT_REJECT:
		list_del(&id->setup.node);
		id->session = NULL;
		if (id->state == CM_CONNECTING)
			cm_connect_failed(id, -ECONNREFUSED, &ev->param);
		break;
	case IW_EVENT_CLOSED:
		on_closed(id, ev->error);
		break;
	default:
		break;
	}
}

void cm_session_user(const struct cm_id *id, struct iw_session_user *user)
{
	static const struct iw_session_ops ops = {.event = session_event};

	*user = (struct iw_session_user){.ops = &ops, .ctx = id->conn, .handle = id->handle};
}

static uint64_t next_accept(const struct conn *c)
{
	if (list_empty(&c->cm.accepting))
		return TIME_NEVER;
	return list_entry(c->cm.accepting.next, struct cm_id, setup.node)->setup.deadline;
}

uint64_t cm_next_timeout(const struct conn *c)
{
	uint64_t accept = next_accept(c), end = list_empty(&c->cm.ending) ? TIME_NEVER : c->cm.end_check;

	return accept < end ? accept : end;
}

void cm_timers(struct conn *c)
{
	while (next_accept(c) <= c->now) {
		struct cm_id *id = list_entry(c->cm.accepting.next, struct cm_id, setup.node);

		list_del(&id->setup.node);
		log_debug("id %u, %s: the peer is given up", id->handle, cm_state_name(id->state));
		if (id->session)
			iw_session_abandon(id->session);
		id->session = NULL;
		cm_connect_failed(id, -ETIMEDOUT, NULL);
	}
	if (!list_empty(&c->cm.ending) && c->cm.end_check <= c->now)
		check_ends(c);
}
