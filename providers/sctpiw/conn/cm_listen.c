/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Listening ids, and requests to them. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>

#include "config/config.h"
#include "conn/cm.h"
#include "conn/conn.h"
#include "log/log.h"
#include "util/sockaddr.h"

/* Maximum and default backlog, as in the kernel's ucma. */
#define BACKLOG_MAX 1024

void cm_grant_grace(struct endpoint *ep)
{
	const struct transport *t = ep->conn->transport;
	struct endpoint *m;

	for (unsigned int i = 0; (m = endpoint_group_member(ep, i)); i++) {
		m->grace_until = m->conn->now + CM_LISTEN_GRACE;
		if (t->set_quiet)
			t->set_quiet(m, m->grace_until);
	}
}

/* Accepts associations at each endpoint of the listener's port. Returns 0 or -errno. */
static int open_port(struct cm_id *id)
{
	struct endpoint *ep;
	int ret = 0;

	if (id->connected_type)
		endpoint_group_make(id->ep);
	for (unsigned int i = 0; !ret && (ep = endpoint_group_member(id->ep, i)); i++)
		ret = id->connected_type ? ep->conn->transport->set_accept(ep, true) : 0;
	return ret;
}

/* Starts the listener, and passes to it the requests that arrived before. */
static void begin(struct cm_id *id)
{
	struct endpoint *ep;

	for (unsigned int i = 0; (ep = endpoint_group_member(id->ep, i)); i++) {
		if (id->opt.tos_set)
			endpoint_set_tos(ep, id->opt.tos);
		ep->listener = id;
		cm_early_take(ep);
	}
}

/*
 * Ends a listener. A program that has connections at the port may listen again, so new requests
 * wait for some time (cm_request()). With several shards, a peer that has an association with one
 * shard may need another association for a connection to another shard. Therefore the port then
 * accepts associations until its last association ends.
 */
static void close_port(struct cm_id *id)
{
	struct endpoint *ep;
	bool used = false;

	for (unsigned int i = 0; (ep = endpoint_group_member(id->ep, i)); i++) {
		ep->listener = NULL;
		used |= !list_empty(&ep->assocs);
	}
	if (id->connected_type && used && id->ep->group)
		endpoint_group_linger(id->ep);
	else if (id->connected_type)
		for (unsigned int i = 0; (ep = endpoint_group_member(id->ep, i)); i++)
			ep->conn->transport->set_accept(ep, false);
	if (used)
		cm_grant_grace(id->ep);
}

int cm_listen(struct cm_id *id, int backlog)
{
	struct sockaddr_storage any;
	int ret;

	if (id->state == CM_IDLE) {
		sockaddr_any(&any, AF_INET, 0);
		ret = cm_bind(id, (struct sockaddr *)&any);
		if (ret)
			return ret;
	}
	if (id->state == CM_BOUND && id->beside_socket)
		return -EADDRINUSE;
	if (id->state != CM_BOUND || id->ep->shared)
		return -EINVAL;
	if (id->ep->listener)
		return -EADDRINUSE;
	ret = open_port(id);
	if (ret)
		return ret;
	id->listening.backlog = backlog > 0 && backlog < BACKLOG_MAX ? (unsigned int)backlog :
								       BACKLOG_MAX;
	id->state = CM_LISTEN;
	begin(id);
	return 0;
}

void cm_unlisten(struct cm_id *id)
{
	if (id->state != CM_LISTEN)
		return;
	close_port(id);
	while (!list_empty(&id->listening.requests))
		cm_id_free(list_entry(id->listening.requests.next, struct cm_id, request.node));
	id->state = CM_OVER;
}

static void set_addresses(struct cm_id *child, const struct endpoint *ep,
			  const struct path_addr *path, uint16_t port)
{
	/* Use IPv4-mapped addresses for IPv4 peers of a listener at ::, as the kernel does. */
	sockaddr_make(&child->dst, ep->bound.family, &path->remote, port);
	if (ip_addr_is_zero(&path->local))
		child->src = ep->bound.local;
	else
		sockaddr_make(&child->src, ep->bound.family, &path->local, ep->bound.port);
}

/* See RFC 5043 6.4. */
const char *cm_why_not(const struct conn *c, const struct cm_id *listener, size_t private_data_len)
{
	if (!listener)
		return "nobody listens";
	if (private_data_len > RNIC_PRIVATE_DATA_MAX)
		return "rdma_cm cannot show all of its private data";
	if (cm_backlog_is_full(listener))
		return "the backlog is full";
	if (cm_undecided(c) + c->cm.n_early >= c->config->request_limit)
		return "too many wait for a decision (request-limit)";
	return NULL;
}

struct cm_id *cm_request_new(const struct endpoint *ep, const struct path_addr *path, uint16_t port)
{
	struct cm_id *listener = ep->listener;
	struct cm_id *child = cm_id_new(ep->conn, listener->source.chan, listener->uid);

	if (!child)
		return NULL;
	child->connected_type = listener->connected_type;
	child->type = listener->type;
	child->state = CM_REQUESTED;
	set_addresses(child, ep, path, port);
	cm_enter_backlog(child, listener);
	return child;
}

/* Rejects with a reason, since the peer's program might repeat a refused request for ever. */
static void refuse_type(struct iw_session *s, uint8_t type)
{
	const struct cm_message m = { .type = type, .reason = CM_MESSAGE_OF_TYPE };
	struct iw_session_param param = { 0 };

	cm_message_add(&m, &param);
	if (iw_session_reject(s, param.private_data, param.private_data_len))
		iw_session_refuse(s);
}

/*
 * If there is a reason, refuses or rejects the request without the application. Returns true if it
 * did; the session has then ended.
 */
static bool turn_away(const struct conn_assoc *a, struct iw_session *s, const struct cm_message *m,
		      size_t private_data_len)
{
	const struct cm_id *listener = a->ep->listener;
	const char *why;

	if (listener && !listener->connected_type)
		listener = NULL;
	why = cm_why_not(a->ep->conn, listener, private_data_len);
	if (why) {
		log_debug("port %u: request refused: %s", a->ep->bound.port, why);
		iw_session_refuse(s);
		return true;
	}
	if (!a->cm_messages || m->type == listener->type)
		return false;
	log_debug("port %u: request rejected: it is for QPs of type %s, and not %s",
		  a->ep->bound.port, cm_message_type_name(m->type),
		  cm_message_type_name(listener->type));
	refuse_type(s, listener->type);
	return true;
}

void cm_judge(struct conn *c, struct iw_session *s, struct iw_session_param *param)
{
	struct conn_assoc *a = iw_assoc_llp(iw_session_assoc(s));
	struct cm_id *listener = a->ep->listener, *child;
	const struct transport *t = c->transport;
	struct iw_session_user user;
	struct cm_message m = { .counts = CM_COUNTS_MOST };

	if (a->cm_messages && !cm_message_take(&m, param)) {
		log_debug("port %u: request refused: it is too short", a->ep->bound.port);
		iw_session_refuse(s);
		return;
	}
	if (turn_away(a, s, &m, param->private_data_len))
		return;
	child = cm_request_new(a->ep, t->addr(a), m.port ? m.port : t->remote_port(a));
	if (!child) {
		iw_session_refuse(s);
		return;
	}
	child->session = s;
	child->setup.messages = a->cm_messages;
	child->peer_qp_num = m.qp_num;
	child->peer_counts = m.counts;
	cm_session_user(child, &user);
	iw_session_set_user(s, &user);
	if (cm_post_request(listener, child, param))
		cm_id_free(child);
}

/*
 * Keeps the request if the port has no listener now. Some servers, such as perftest, listen anew
 * for each connection. A peer that is connected already may send its next request before the server
 * listens again.
 */
void cm_request(struct conn *c, const struct iw_event *ev)
{
	struct conn_assoc *a = iw_assoc_llp(iw_session_assoc(ev->session));
	struct iw_session_param param = ev->param;

	conn_assoc_in_use(a);
	if (!a->ep->listener && !a->ep->shared &&
	    cm_undecided(c) + c->cm.n_early < c->config->request_limit && cm_early_keep(c, ev))
		log_debug("port %u: request waits for a listener", a->ep->bound.port);
	else
		cm_judge(c, ev->session, &param);
	conn_assoc_check_idle(a); /* the session may have ended already */
}
