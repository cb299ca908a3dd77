/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Joins and leaves multicast groups for rdma_cm ids, and posts the event of the join. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conn/cm.h"
#include "conn/conn.h"
#include "log/log.h"
#include "util/sockaddr.h"
#include "util/trace.h"

/*
 * A group that an id has joined. The group has an event_source of its own, since the leave
 * operation returns the number of the group's events.
 */
struct cm_mcast {
	struct list_node node; /* cm_id.groups */
	struct conn *conn;     /* conn of the id at the time of the join */
	struct event_source source;
	uint32_t handle;
	struct ip_addr group;
	unsigned int ifindex; /* 0: joined only to send */
};

/*
 * Posts MULTICAST_JOIN at once, since the host's kernel has joined the group when the socket call
 * returns.
 */
static int post_joined(struct cm_id *id, struct cm_mcast *m, uint64_t uid)
{
	struct ip_addr local = sockaddr_ip((const struct sockaddr *)&id->src);
	struct rnic_cm_event ev = {
		.event = CM_EVENT_MULTICAST_JOIN,
		.uid = uid,
		.id = m->handle,
		.datagram = true,
		.param = { .qp_num = IW_MCAST_QPN, .qkey = SIDR_QKEY },
		.ah = { .traffic_class = id->opt.tos },
	};

	memcpy(ev.ah.sgid, local.b, sizeof(ev.ah.sgid));
	memcpy(ev.ah.dgid, m->group.b, sizeof(ev.ah.dgid));
	id->conn->cm.last_event = id->conn->now;
	TRACE(cm_event, id->conn->now, .id = id->handle, .event = ev.event, .status = 0);
	return id->conn->ops->events.post(&m->source, &ev, sizeof(ev));
}

static void leave(struct cm_id *id, struct cm_mcast *m)
{
	const struct conn_events_ops *events = &id->conn->ops->events;

	id->group_events += events->purge(&m->source);
	events->put(m->source.chan);
	if (m->ifindex)
		multicast_leave(m->conn, &m->group, m->ifindex);
	list_del(&m->node);
	free(m);
}

int cm_join_mcast(struct cm_id *id, const struct sockaddr *addr, const struct cm_join *join,
		  uint32_t *handle)
{
	struct conn *c = id->conn;
	struct cm_mcast *m;
	int ret;

	if (sockaddr_check(addr))
		return -EINVAL;
	if (id->connected_type || (id->state != CM_BOUND && id->state != CM_ADDR_RESOLVED) ||
	    id->src.ss_family != addr->sa_family)
		return -EINVAL;
	if (!multicast_may_join(c))
		return -ENOSYS;
	m = calloc(1, sizeof(*m));
	if (!m)
		return -ENOMEM;
	m->conn = c;
	m->group = sockaddr_ip(addr);
	m->ifindex = join->send_only ? 0 : join->ifindex;
	ret = ip_addr_is_multicast(&m->group) ? 0 : -EINVAL;
	if (!ret && m->ifindex)
		ret = multicast_join(c, &m->group, m->ifindex);
	if (ret) {
		free(m);
		return ret;
	}
	m->handle = *handle = ++c->cm.last_mcast;
	m->source.chan = id->source.chan;
	c->ops->events.ref(m->source.chan);
	list_add_tail(&id->groups, &m->node);
	ret = post_joined(id, m, join->uid);
	if (ret)
		leave(id, m);
	return ret;
}

int cm_leave_mcast(struct conn *c, const struct rnic_channel *chan, uint32_t handle,
		   uint32_t *events_reported)
{
	struct cm_id *id;
	uint32_t pos = 0, before;

	while ((id = cm_id_next(c, &pos))) {
		list_for_each(node, &id->groups) {
			struct cm_mcast *m = list_entry(node, struct cm_mcast, node);

			if (m->handle != handle)
				continue;
			if (m->source.chan != chan)
				return -EINVAL;
			before = id->group_events;
			leave(id, m);
			*events_reported = id->group_events - before;
			return 0;
		}
	}
	return -ENOENT;
}

uint32_t cm_leave_all(struct cm_id *id)
{
	list_for_each_safe(node, &id->groups)
		leave(id, list_entry(node, struct cm_mcast, node));
	return id->group_events;
}

uint32_t cm_migrate_groups(struct cm_id *id, struct rnic_channel *to,
			   uint32_t (*migrate)(struct event_source *src, struct rnic_channel *to))
{
	uint32_t reported = id->group_events;

	list_for_each(node, &id->groups)
		reported += migrate(&list_entry(node, struct cm_mcast, node)->source, to);
	return reported;
}

void cm_forget_groups(struct cm_id *id, const struct conn_events_ops *events)
{
	struct list_node *node;

	while ((node = list_pop(&id->groups))) {
		struct cm_mcast *m = list_entry(node, struct cm_mcast, node);

		events->put(m->source.chan);
		free(m);
	}
}
