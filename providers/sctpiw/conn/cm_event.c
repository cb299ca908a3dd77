/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Events of rdma_cm ids for applications. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "config/config.h"
#include "conn/cm.h"
#include "conn/conn.h"
#include "log/log.h"
#include "util/trace.h"
#include "util/sockaddr.h"
#include "wire/sidr.h"

static uint8_t clip(uint32_t v)
{
	return v > UINT8_MAX ? UINT8_MAX : (uint8_t)v;
}

/*
 * Copies the parameters to an event. As in the kernel's CM for iWARP, IRD becomes initiator_depth,
 * and ORD becomes responder_resources.
 */
static void fill_param(struct rnic_conn_param *to, const struct cm_id *id,
		       const struct iw_session_param *from)
{
	size_t len = from->private_data_len;

	to->qp_num = id->peer_qp_num;
	to->initiator_depth = clip(from->ird);
	to->responder_resources = clip(from->ord);
	if (len > sizeof(to->private_data))
		len = sizeof(to->private_data);
	to->private_data_len = (uint8_t)len;
	memcpy(to->private_data, from->private_data, len);
}

/*
 * Sets the peer's retry counts if the device is a channel adapter, since InfiniBand's REQ and REP
 * contain them. For iWARP, the kernel's CM reports zeros.
 */
static void fill_counts(struct rnic_conn_param *to, const struct cm_id *id)
{
	if (!config_is_ca(id->conn->config))
		return;
	to->retry_count = id->peer_counts.retry;
	to->rnr_retry_count = id->peer_counts.rnr_retry;
	to->flow_control = id->peer_counts.flow_control;
	to->srq = id->peer_counts.srq;
}

/*
 * Returns the length of the private data in InfiniBand's message for this event, or 0 if there is
 * no such message.
 */
static uint8_t private_len(const struct rnic_cm_event *ev)
{
	switch (ev->event) {
	case CM_EVENT_CONNECT_REQUEST:
		return ev->datagram ? CM_PRIVATE_SIDR_REQ : CM_PRIVATE_REQ;
	case CM_EVENT_CONNECT_RESPONSE:
		return CM_PRIVATE_REP;
	case CM_EVENT_REJECTED:
		return CM_PRIVATE_REJ;
	case CM_EVENT_ESTABLISHED:
		return ev->datagram ? CM_PRIVATE_SIDR_REP : 0;
	case CM_EVENT_UNREACHABLE: /* ev->status: status of a reply, or -errno */
		return ev->datagram && ev->status > 0 ? CM_PRIVATE_SIDR_REP : 0;
	default:
		return 0;
	}
}

void cm_event_pad(const struct conn *c, struct rnic_cm_event *ev)
{
	uint8_t len = config_is_ca(c->config) ? private_len(ev) : 0;

	if (ev->param.private_data_len < len)
		ev->param.private_data_len = len;
}

/*
 * Posts an event to the id's channel. c: conn of the id, or of the new id if the event is a
 * request.
 */
static int post(struct conn *c, struct cm_id *id, struct rnic_cm_event *ev)
{
	int ret;

	ev->datagram = !id->connected_type;
	cm_event_pad(c, ev);
	c->cm.last_event = c->now;
	TRACE(cm_event, c->now, .id = ev->id, .event = ev->event, .status = ev->status);
	ret = c->ops->events.post(&id->source, ev, sizeof(*ev));
	if (ret)
		log_error("out of memory: a connection event is lost");
	return ret;
}

void cm_post_param(struct cm_id *id, enum cm_event_type type, int status,
		   const struct iw_session_param *param)
{
	struct rnic_cm_event ev = {
		.event = type,
		.status = status,
		.uid = id->uid,
		.id = id->handle,
	};

	if (param)
		fill_param(&ev.param, id, param);
	if (type == CM_EVENT_CONNECT_RESPONSE)
		fill_counts(&ev.param, id);
	post(id->conn, id, &ev);
}

/* Fills the attributes of an address handle for datagrams to the peer. */
static void fill_ah(struct rnic_ah *ah, const struct cm_id *id)
{
	struct ip_addr local = sockaddr_ip((const struct sockaddr *)&id->src);
	struct ip_addr remote = sockaddr_ip((const struct sockaddr *)&id->dst);

	memcpy(ah->sgid, local.b, sizeof(ah->sgid));
	memcpy(ah->dgid, remote.b, sizeof(ah->dgid));
	ah->traffic_class = id->opt.tos;
}

void cm_post_datagram(struct cm_id *id, enum cm_event_type type, int status,
		      const struct wire_sidr *reply)
{
	struct rnic_cm_event ev = {
		.event = type,
		.status = status,
		.uid = id->uid,
		.id = id->handle,
	};

	if (reply) {
		ev.param.qp_num = reply->qp_num;
		ev.param.qkey = reply->qkey;
		ev.param.private_data_len = reply->private_data_len;
		memcpy(ev.param.private_data, reply->private_data, reply->private_data_len);
		fill_ah(&ev.ah, id);
	}
	post(id->conn, id, &ev);
}

void cm_post(struct cm_id *id, enum cm_event_type type, int status)
{
	cm_post_param(id, type, status, NULL);
}

/* Drops the event in CM_REQUESTED, as librdmacm would: it cannot find an id before the accept. */
int cm_write_event(struct cm_id *id, uint32_t event, int status, uint64_t arg)
{
	struct rnic_cm_event ev = {
		.event = event,
		.status = status,
		.uid = id->uid,
		.id = id->handle,
		.arg = arg,
	};

	return id->state == CM_REQUESTED ? 0 : post(id->conn, id, &ev);
}

int cm_post_request(struct cm_id *listener, struct cm_id *child,
		    const struct iw_session_param *param)
{
	struct rnic_cm_event ev = {
		.event = CM_EVENT_CONNECT_REQUEST,
		.uid = listener->uid,
		.id = child->handle,
	};

	fill_param(&ev.param, child, param);
	fill_counts(&ev.param, child);
	return post(child->conn, listener, &ev);
}

void cm_rejected(struct cm_id *id, int error, enum cm_rej_reason reason,
		 const struct iw_session_param *param)
{
	id->state = CM_OVER;
	cm_post_param(id, CM_EVENT_REJECTED, config_is_ca(id->conn->config) ? (int)reason : error,
		      param);
}

void cm_connect_failed(struct cm_id *id, int error)
{
	switch (error) {
	case -ECONNREFUSED:
		cm_rejected(id, error, CM_REJ_INVALID_SERVICE_ID, NULL);
		return;
	case -ECONNRESET:
		cm_rejected(id, error, CM_REJ_CONSUMER_DEFINED, NULL);
		return;
	default:
		id->state = CM_OVER;
		cm_post(id, error == -ETIMEDOUT ? CM_EVENT_UNREACHABLE : CM_EVENT_CONNECT_ERROR,
			error);
	}
}
