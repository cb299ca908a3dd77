/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connections of rdma_cm ids, from rdma_connect() or rdma_accept() until they are established or
 * fail.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "config/config.h"
#include "conn/cm.h"
#include "conn/conn.h"
#include "log/log.h"
#include "util/sockaddr.h"

/* Maximum time for the peer's application to accept or reject, and for an RTR indication. */
#define ACCEPT_LIMIT (30 * NSEC_PER_SEC)

/* Maximum number of moves to other ports, in search of an association with a free stream. */
#define MOVES_MAX 8

_Static_assert((int)CONFIG_RTR_SEND == IW_RTR_SEND && (int)CONFIG_RTR_WRITE == IW_RTR_WRITE &&
		       (int)CONFIG_RTR_READ == IW_RTR_READ && (int)CONFIG_RTR_ANY == IW_RTR_ANY,
	       "the setting goes to iwarp as it is");

bool cm_private_fits(const struct conn *c, size_t len, enum cm_private_max max)
{
	return len <= max || !config_is_ca(c->config);
}

static uint8_t count_of(uint8_t given)
{
	return given < 7 ? given : 7;
}

static void take_param(struct cm_id *id, const struct rnic_conn_param *p)
{
	struct iw_session_param *to = &id->param;

	_Static_assert(RNIC_PRIVATE_DATA_MAX <= IW_MAX_PRIVATE_DATA - 4 &&
			       RNIC_PRIVATE_DATA_MAX == UINT8_MAX,
		       "every length of private data fits");
	to->ird = p->responder_resources < IW_MAX_IRD ? p->responder_resources : IW_MAX_IRD;
	to->ord = p->initiator_depth < IW_MAX_ORD ? p->initiator_depth : IW_MAX_ORD;
	id->counts = (struct cm_counts){
		.retry = count_of(p->retry_count),
		.rnr_retry = count_of(p->rnr_retry_count),
		.flow_control = p->flow_control & 1,
		.srq = p->srq,
	};
	to->rnr_retry_count = id->counts.rnr_retry;
	to->private_data_len = p->private_data_len;
	memcpy(to->private_data, p->private_data, p->private_data_len);
}

/*
 * Returns the QP with this number if it can be connected, or NULL. iwarp makes further checks when
 * the session begins. other: the XRC type that only the peer's QP may have.
 */
static struct iw_qp *usable_qp(struct conn *c, uint32_t num, enum iw_qp_type other)
{
	struct iw_qp *qp = num ? conn_qp(c, num) : NULL;
	uint32_t state;

	if (qp && qp->type == IW_QPT_UC) {
		log_error("QP 0x%06x: rdma_cm does not connect QPs of type UC", qp->num);
		return NULL;
	}
	if (!qp || qp->type == IW_QPT_UD || qp->type == other || qp->oob)
		return NULL;
	state = atomic_load_explicit(&qp->state, memory_order_relaxed);
	return state <= IW_QPS_RTR ? qp : NULL;
}

/*
 * Chooses the QP that the id connects, and sets id->qp_num. Uses a stand-in if stand_in_is_meant().
 * Returns 0, -EINVAL or -ENOMEM.
 */
static int choose_qp(struct cm_id *id, uint32_t num, enum iw_qp_type other)
{
	id->named_qp_num = num;
	if (!stand_in_is_meant(id->conn, num)) {
		id->qp_num = num;
		return usable_qp(id->conn, num, other) ? 0 : -EINVAL;
	}
	if (!id->stand_in)
		id->stand_in = stand_in_new(id->conn);
	if (!id->stand_in)
		return -ENOMEM;
	id->qp_num = id->stand_in->num;
	return 0;
}

static void await_peer(struct cm_id *id)
{
	struct conn *c = id->conn;

	id->setup.deadline = c->now + ACCEPT_LIMIT;
	list_add_tail(&c->cm.accepting, &id->setup.node);
}

/*
 * Returns the parameters to send to the peer. They begin with a cm_message if the peer supports it.
 */
static struct iw_session_param told_param(const struct cm_id *id, uint16_t port)
{
	const struct cm_message m = {
		.type = id->type,
		.port = port,
		.counts = id->counts,
		.qp_num = id->named_qp_num,
	};
	struct iw_session_param param = id->param;

	if (id->setup.messages)
		cm_message_add(&m, &param);
	return param;
}

/* ---- active side ---- */

static int initiate(struct cm_id *id, struct conn_assoc *a)
{
	struct conn *c = id->conn;
	struct iw_qp *qp = usable_qp(c, id->qp_num, IW_QPT_XRC_RECV);
	struct iw_session_param param;
	struct iw_session_user user;
	int ret;

	if (!qp)
		return -EINVAL;
	cm_session_user(id, &user);
	id->setup.messages = a->cm_messages;
	param = told_param(id, sockaddr_port((struct sockaddr *)&id->src));
	ret = iw_session_initiate(a->iw, qp, &param, &user, &id->session);
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

static void move(struct cm_id *id, struct endpoint *next)
{
	endpoint_put(id->ep);
	id->ep = next;
	id->conn = next->conn;
}

/* Moves the id to another local port. The program still sees the old port. */
static void change_port(struct cm_id *id, struct endpoint *next)
{
	if (!id->own_port)
		id->own_port = id->conn->ops->take_port(id->conn,
							sockaddr_port((struct sockaddr *)&id->src));
	move(id, next);
}

void cm_choose_conn(struct cm_id *id)
{
	struct endpoint *ep;

	if (id->state != CM_ROUTE_RESOLVED || !id->ep->group)
		return;
	ep = endpoint_group_for(id->ep, sockaddr_port((struct sockaddr *)&id->dst));
	if (ep == id->ep)
		return;
	if (id->stand_in) /* left by a failed attempt */
		stand_in_free(id->conn, id->stand_in);
	id->stand_in = NULL;
	ep->refs++;
	move(id, ep);
}

/*
 * Moves the id away from an association without a free stream. Some peers have few streams; Linux
 * has 10. This connection and later connections then use another local port, and therefore another
 * association. Returns 0, -EAGAIN if the id must keep its port, or another -errno.
 */
static int leave_full(struct cm_id *id, const struct conn_assoc *a)
{
	struct endpoint *next;
	int ret;

	if (!id->ep->shared)
		return -EAGAIN;
	/*
	 * If no local session uses the streams, limit the moves: such a peer may never have a free
	 * stream.
	 */
	if (!iw_assoc_sessions(a->iw) && ++id->setup.moves > MOVES_MAX)
		return -ECONNREFUSED;
	ret = endpoint_open_next(id->ep, &next);
	if (!ret)
		change_port(id, next);
	return ret;
}

/* Applies the id's TOS. If other ids share the port, moves the id to another port. */
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
		change_port(id, next);
	return ret;
}

/* Sends the Initiate on an existing association, or waits until a new association is up. */
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

	for (;;) {
		ret = conn_assoc_connect(id->ep, &to, port, &a);
		if (ret)
			return ret;
		if (!conn_assoc_is_up(a)) {
			list_add_tail(&a->waiting, &id->setup.wait_node);
			return 0;
		}
		ret = initiate(id, a);
		conn_assoc_check_idle(a);
		if (ret != -EAGAIN)
			return ret;
		ret = leave_full(id, a);
		if (ret)
			return ret;
	}
}

int cm_connect(struct cm_id *id, const struct rnic_conn_param *param)
{
	int ret;

	if (!id->connected_type)
		return sidr_connect(id, param);
	if (id->state != CM_ROUTE_RESOLVED || !sockaddr_port((struct sockaddr *)&id->dst) ||
	    !cm_private_fits(id->conn, param->private_data_len, CM_PRIVATE_REQ))
		return -EINVAL;
	ret = choose_qp(id, param->qp_num, IW_QPT_XRC_RECV);
	if (!ret)
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
	ret = start(id);
	if (ret)
		cm_connect_failed(id, ret);
}

void cm_assoc_up(struct conn_assoc *a)
{
	struct list_node *node;

	while ((node = list_pop(&a->waiting))) {
		struct cm_id *id = list_entry(node, struct cm_id, setup.wait_node);
		int ret = initiate(id, a);

		if (ret == -EAGAIN) {
			ret = leave_full(id, a);
			if (!ret)
				ret = start(id);
		}
		if (ret)
			cm_connect_failed(id, ret);
	}
}

/*
 * Connects once more after the association was lost. The peer may have closed the idle association,
 * or its process may have ended and another process may have the port now. Returns false if there
 * is no new attempt.
 */
static bool try_again(struct cm_id *id, int error)
{
	if (error != -ECONNRESET || id->setup.retried)
		return false;
	id->setup.retried = true;
	return !start(id);
}

void cm_assoc_failed(struct conn_assoc *a, int error)
{
	struct list_node *node;

	while ((node = list_pop(&a->waiting))) {
		struct cm_id *id = list_entry(node, struct cm_id, setup.wait_node);

		if (!try_again(id, error))
			cm_connect_failed(id, error);
	}
}

/* ---- passive side ---- */

static void establish(struct cm_id *id)
{
	id->state = CM_ESTABLISHED;
	/* The event reports the local parameters without the local private data. */
	id->param.private_data_len = 0;
	cm_post_param(id, CM_EVENT_ESTABLISHED, 0, &id->param);
}

static int accept_connection(struct cm_id *id, const struct rnic_conn_param *param)
{
	struct iw_session_param told;
	struct iw_qp *qp;
	int ret;

	if (!id->session) /* the peer has ended the connection */
		return -ECONNRESET;
	if (!cm_private_fits(id->conn, param->private_data_len, CM_PRIVATE_REP))
		return -EINVAL;
	take_param(id, param);
	id->counts.retry = 0;
	ret = choose_qp(id, param->qp_num, IW_QPT_XRC_SEND);
	if (ret)
		return ret;
	qp = conn_qp(id->conn, id->qp_num);
	told = told_param(id, 0);
	ret = iw_session_accept(id->session, qp, &told);
	if (ret)
		return ret;
	qp->by_cm = true;
	if (iw_session_awaits_rtr(id->session)) {
		id->state = CM_ACCEPTED;
		await_peer(id);
	} else {
		establish(id);
	}
	return 0;
}

/*
 * If the accept fails, rejects the request, as the kernel's CM does, so that the peer does not
 * wait.
 */
int cm_accept(struct cm_id *id, const struct rnic_conn_param *param, bool has_uid, uint64_t uid)
{
	uint64_t old_uid = id->uid;
	int ret;

	/*
	 * rdma_establish() on the active side: the connection is already established, or has ended.
	 */
	if (!param && id->connected_type &&
	    (id->state == CM_ESTABLISHED || list_linked(&id->ending.node) ||
	     list_linked(&id->ending.timewait_node)))
		return 0;
	if (id->state != CM_REQUESTED)
		return -EINVAL;
	cm_decided(id);
	if (has_uid) /* later events carry this uid */
		id->uid = uid;
	if (!param)
		ret = -EINVAL;
	else
		ret = id->connected_type ? accept_connection(id, param) : sidr_accept(id, param);
	if (ret) {
		id->uid = old_uid;
		cm_reject(id, 0, NULL, 0);
	}
	return ret;
}

static int reject_connection(struct cm_id *id, uint8_t reason, const void *private_data,
			     uint8_t len)
{
	const struct cm_message m = { .type = id->type, .reason = reason };
	struct iw_session_param param = { .private_data_len = len };

	if (len)
		memcpy(param.private_data, private_data, len);
	if (id->setup.messages)
		cm_message_add(&m, &param);
	return iw_session_reject(id->session, param.private_data, param.private_data_len);
}

int cm_reject(struct cm_id *id, uint8_t reason, const void *private_data, uint8_t len)
{
	int ret = 0;

	if (!id->connected_type)
		return sidr_reject(id, private_data, len);
	if (id->state != CM_REQUESTED || !cm_private_fits(id->conn, len, CM_PRIVATE_REJ))
		return -EINVAL;
	cm_decided(id);
	if (id->session)
		ret = reject_connection(id,
					reason == CM_REJ_VENDOR_OPTION_NOT_SUPPORTED ?
						CM_MESSAGE_OF_ECE :
						CM_MESSAGE_BY_PROGRAM,
					private_data, len);
	if (ret) /* without memory for the answer, end the session without an answer */
		iw_session_refuse(id->session);
	id->session = NULL;
	id->state = CM_OVER;
	return ret;
}

/* ---- events of the sessions ---- */

static void on_accept(struct cm_id *id, const struct iw_event *ev)
{
	struct iw_session_param param = ev->param;
	struct cm_message m = { .counts = CM_COUNTS_MOST };

	list_del(&id->setup.node);
	if (id->state != CM_CONNECTING)
		return;
	if (id->setup.messages && !cm_message_take(&m, &param)) {
		iw_session_close(id->session);
		id->session = NULL;
		cm_connect_failed(id, -EPROTO);
		return;
	}
	id->peer_qp_num = m.qp_num;
	id->peer_counts = m.counts;
	id->state = CM_ESTABLISHED;
	/*
	 * Programs for InfiniBand move the QP themselves after CONNECT_RESPONSE, and call
	 * rdma_establish(). For a QP that librdmacm created, librdmacm does both.
	 */
	cm_post_param(id,
		      config_is_ca(id->conn->config) ? CM_EVENT_CONNECT_RESPONSE :
						       CM_EVENT_ESTABLISHED,
		      0, &param);
}

/* Logs that the peer's listener accepts only QPs of another type. */
static void tell_type(const struct cm_id *id, uint8_t type)
{
	char text[SOCKADDR_TEXT];

	log_error(
		"%s rejects the connection: it listens for queue pairs of type %s, and QP 0x%06x is for %s",
		sockaddr_text((const struct sockaddr *)&id->dst, text), cm_message_type_name(type),
		id->named_qp_num, cm_message_type_name(id->type));
}

static void on_reject(struct cm_id *id, const struct iw_event *ev)
{
	struct iw_session_param param = ev->param;
	enum cm_rej_reason reason = CM_REJ_CONSUMER_DEFINED;
	struct cm_message m = { 0 };
	int error = -ECONNREFUSED;

	list_del(&id->setup.node);
	id->session = NULL;
	if (id->state != CM_CONNECTING)
		return;
	if (id->setup.messages)
		cm_message_take(&m, &param);
	if (m.reason == CM_MESSAGE_OF_TYPE) {
		tell_type(id, m.type);
		error = -EPROTOTYPE;
	} else if (m.reason == CM_MESSAGE_OF_ECE) {
		reason = CM_REJ_VENDOR_OPTION_NOT_SUPPORTED;
	}
	cm_rejected(id, error, reason, &param);
}

static void on_rtr(struct cm_id *id)
{
	list_del(&id->setup.node);
	if (id->state == CM_ACCEPTED)
		establish(id);
}

static void on_closed(struct cm_id *id, int error)
{
	enum cm_state state = id->state;
	char text[SOCKADDR_TEXT];

	list_del(&id->setup.node);
	id->session = NULL;
	/*
	 * The application has moved the QP to the error state. On InfiniBand, the connection
	 * continues until rdma_disconnect(), in which librdmacm first moves the QP.
	 */
	if ((state == CM_ACCEPTED || state == CM_ESTABLISHED) && error == -ECONNABORTED &&
	    config_is_ca(id->conn->config))
		return;
	switch (state) {
	case CM_CONNECTING:
		if (try_again(id, error))
			return;
		if (error == -ETIMEDOUT)
			log_error("%s has been silent for too long: the request to connect is lost",
				  sockaddr_text((const struct sockaddr *)&id->dst, text));
		/*
		 * The peer's RNIC ended the session, and its program sent no answer (RFC 5043 6.4).
		 */
		cm_connect_failed(id, error ? error : -ECONNREFUSED);
		break;
	case CM_ACCEPTED:
		if (error && error != -ECONNRESET)
			cm_connect_failed(id, error);
		else
			cm_rejected(id, error ? error : -ECONNREFUSED, CM_REJ_CONSUMER_DEFINED,
				    NULL);
		break;
	case CM_ESTABLISHED:
		id->state = CM_OVER;
		cm_end(id);
		break;
	default:
		/* In CM_REQUESTED, cm_accept() will return an error, since session is NULL. */
		break;
	}
}

/*
 * Handles an event of a session. The session refers to its id by a handle, since the id may have
 * been freed before the event.
 */
static void session_event(const struct iw_event *ev)
{
	struct cm_id *id = cm_id_here(ev->user.ctx, ev->user.handle);

	/* By now, the id may have another session, or no session. */
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
		on_reject(id, ev);
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
	static const struct iw_session_ops ops = { .event = session_event };

	*user = (struct iw_session_user){ .ops = &ops, .ctx = id->conn, .handle = id->handle };
}

/* ---- timers ---- */

static uint64_t next_accept(const struct conn *c)
{
	if (list_empty(&c->cm.accepting))
		return TIME_NEVER;
	return list_entry(c->cm.accepting.next, struct cm_id, setup.node)->setup.deadline;
}

uint64_t cm_next_timeout(const struct conn *c)
{
	uint64_t next = next_accept(c), end = cm_end_next_timeout(c);
	uint64_t early = cm_early_next_timeout(c);

	if (end < next)
		next = end;
	return early < next ? early : next;
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
		cm_connect_failed(id, -ETIMEDOUT);
	}
	cm_end_timers(c);
	cm_early_timers(c);
}
