/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table of rnic_api.h, which the preload library finds by dlsym(). Each function finds its
 * object, takes the locks of all shards, and calls conn/, net/ or another module of runtime/.
 * rnic_api.h describes arguments and results.
 */
#define _GNU_SOURCE
#include "rnic_api.h"

#include <errno.h>
#include <string.h>

#include "net/id_port.h"
#include "net/memory.h"
#include "net/port.h"
#include "runtime/api.h"
#include "runtime/channel.h"
#include "runtime/counters.h"
#include "runtime/object.h"
#include "runtime/rnic.h"
#include "runtime/unmap.h"
#include "log/log.h"
#include "util/sockaddr.h"
#include "sys/sys.h"

static struct shard *shard_of(const struct cm_id *id)
{
	return list_entry(id->conn, struct shard, conn);
}

static int api_comp_channel_create(struct rnic_channel **chan, int *fd)
{
	return channel_create(CHANNEL_COMP, chan, fd);
}

static int api_cm_channel_create(struct rnic_channel **chan, int *fd)
{
	return channel_create(CHANNEL_CM, chan, fd);
}

/*
 * Returns the channel of this descriptor, without a reference of its own. The application's
 * descriptor has a reference, which keeps the channel alive.
 */
static struct rnic_channel *api_channel_by_fd(int fd)
{
	struct rnic_channel *chan = channel_get_by_fd(fd);

	channel_put(chan);
	return chan;
}

static uint64_t api_node_guid(void)
{
	return rnic_get() ? port_node_guid() : 0;
}

static int api_node_type(void)
{
	const struct rnic *r = rnic_get();

	return r && config_is_ca(&r->config) ? RNIC_NODE_CA : RNIC_NODE_RNIC;
}

_Static_assert(sizeof(struct rnic_cm_event) <= CHANNEL_EVENT_MAX, "an event fits the queue");
_Static_assert(RNIC_GIDS == GID_TABLE_LEN, "one length of the GID table");

static int api_query_gid(unsigned int index, uint8_t raw[16], unsigned int *ifindex)
{
	struct port_gid gid;
	int ret;

	if (!rnic_get())
		return -errno;
	ret = port_gid(index, &gid);
	memcpy(raw, gid.raw, sizeof(gid.raw));
	*ifindex = gid.ifindex;
	return ret;
}

static int api_query_port(struct rnic_port *out)
{
	const struct rnic *r = rnic_get();
	struct port_attr port;

	if (!r)
		return -errno;
	port_query(&port);
	*out = (struct rnic_port){
		.active = port.active,
		.width = port.width,
		.speed = port.speed,
		.ib = r->config.personality == CONFIG_IB,
		.lid = r->config.personality == CONFIG_IB ? port.lid : 0,
	};
	return 0;
}

static int api_query_counter(const char *name, uint64_t *value)
{
	struct rnic *r = rnic_get();

	return r ? counters_get(&r->shard, name, value) : -errno;
}

static void api_cm_channel_release(struct rnic_channel *chan)
{
	struct rnic *r = rnic_get();
	struct cm_id *id;
	uint32_t pos = 0;

	if (r) {
		rnic_lock(r);
		/* Destroying a listener frees its unread connection requests, too. */
		while ((id = cm_id_next(&r->shard.conn, &pos))) {
			if (id->source.chan == chan)
				cm_id_free(id);
		}
		rnic_unlock(r);
	}
	channel_release(chan);
}

/*
 * Sets the GID index, the destination GID and the LID, which programs copy to the attributes of a
 * QP to connect it.
 */
static void name_ends(struct rnic_ah *ah, bool ib)
{
	struct ip_addr dgid = { 0 };
	struct port_gid own;

	memcpy(dgid.b, ah->dgid, sizeof(dgid.b));
	/*
	 * rdma_cm accepts a loopback address as the destination, but the loopback address may not
	 * be in the GID table.
	 */
	if (!port_gid_slot(ah->sgid, &ah->sgid_index, &own) && ip_addr_is_loopback(&dgid))
		memcpy(ah->dgid, own.raw, sizeof(ah->dgid));
	if (ib)
		ah->dlid = (uint16_t)(ah->dgid[14] << 8 | ah->dgid[15]);
}

static int api_cm_get_event(struct rnic_channel *chan, struct rnic_cm_event *ev)
{
	struct rnic *r = rnic_get();
	struct port_gid own;
	struct cm_id *child;
	ssize_t n;

	if (!r)
		return -errno;
	/* Lock first: the application may use the id of a request once it is read. */
	rnic_lock(r);
	n = channel_read(chan, ev, sizeof(*ev));
	if (n > 0 && ev->event == CM_EVENT_CONNECT_REQUEST) {
		child = cm_id_get(&r->shard.conn, ev->id);
		if (child)
			cm_leave_backlog(child);
	}
	rnic_unlock(r);
	if (n > 0 && ev->datagram)
		port_gid_slot(ev->ah.sgid, &ev->ah.sgid_index, &own);
	return n < 0 ? (int)n : 0;
}

static int api_cm_create_id(struct rnic_channel *chan, uint64_t uid, uint16_t ps, uint8_t qp_type,
			    uint32_t *handle)
{
	bool connected, xrc = false;
	struct rnic *r;
	struct cm_id *id;

	switch (ps) {
	case CM_PS_TCP:
		connected = true;
		break;
	case CM_PS_UDP:
	case CM_PS_IPOIB:
		connected = false;
		break;
	case CM_PS_IB:
		xrc = qp_type == CM_QPT_XRC_SEND || qp_type == CM_QPT_XRC_RECV;
		connected = qp_type == CM_QPT_RC || xrc;
		break;
	default:
		return -EINVAL;
	}
	if (channel_is_foreign(chan))
		return -EIO;
	r = rnic_get();
	if (!r)
		return -errno;
	rnic_lock(r);
	id = cm_id_new(&r->shard.conn, chan, uid);
	if (id) {
		id->connected_type = connected;
		id->type = xrc ? CM_MESSAGE_XRC : CM_MESSAGE_RC;
		*handle = id->handle;
	}
	rnic_unlock(r);
	return id ? 0 : -ENOMEM;
}

/* Locks all shards and returns the id of this handle, or returns NULL without a lock. */
static struct cm_id *lock_id(uint32_t handle)
{
	struct rnic *r = rnic_get();
	struct cm_id *id;

	if (!r)
		return NULL;
	rnic_lock(r);
	id = cm_id_get(&r->shard.conn, handle);
	if (!id)
		rnic_unlock(r);
	return id;
}

static void unlock_id(const struct cm_id *id)
{
	rnic_unlock(shard_of(id)->rnic);
}

static int api_cm_destroy_id(uint32_t handle, uint32_t *events_reported)
{
	struct cm_id *id = lock_id(handle);
	struct rnic *r;

	if (!id)
		return -ENOENT;
	r = shard_of(id)->rnic;
	*events_reported = cm_id_free(id);
	rnic_unlock(r);
	return 0;
}

static int api_cm_migrate_id(uint32_t handle, struct rnic_channel *to, uint32_t *events_reported)
{
	struct cm_id *id;

	if (channel_is_foreign(to))
		return -EIO;
	id = lock_id(handle);
	if (!id)
		return -ENOENT;
	*events_reported = channel_migrate(&id->source, to);
	*events_reported += cm_migrate_groups(id, to, channel_migrate);
	list_for_each(node, &id->listening.requests) {
		struct cm_id *child = list_entry(node, struct cm_id, request.node);

		channel_migrate(&child->source, to);
	}
	unlock_id(id);
	return 0;
}

/*
 * Logs, at level error, how the user can repair the cause of a failed call. Logs this only once for
 * repeated failures on one port.
 */
static void tell_remedy(const struct cm_id *id, const struct sockaddr *addr, int ret)
{
	static _Atomic uint16_t told;
	uint16_t port = addr && !sockaddr_check(addr) ? sockaddr_port(addr) :
			id->ep ? sockaddr_port((const struct sockaddr *)&id->src) :
				 0;
	bool sctp = id->conn->config->carrier == CONFIG_CARRIER_KERNEL;

	if (ret == -EMFILE || ret == -ENFILE)
		log_error("no socket for RDMA CM: %s", log_reason(-ret));
	if (ret != -EADDRINUSE || !port || atomic_exchange(&told, port) == port)
		return;
	if (id_port_is_taken(port))
		log_error("port %u belongs to a connection of this host: use another port", port);
	else
		log_error(
			"%s port %u is taken: use another port, or end the process that has it (see 'ss -%sanp sport = :%u')",
			sctp ? "SCTP" : "UDP", port, sctp ? "S" : "u", port);
}

/* Logs a failed call with the state of the id. Returns ret. addr: an address to log, or NULL. */
static int log_refusal(const struct cm_id *id, const char *what, const struct sockaddr *addr,
		       int ret)
{
	char text[SOCKADDR_TEXT] = "";

	if (ret)
		tell_remedy(id, addr, ret);
	if (!ret || !trace_enabled())
		return ret;
	if (addr && !sockaddr_check(addr))
		sockaddr_text(addr, text);
	log_debug("id %u (%s) cannot %s%s%s: %s", id->handle, cm_state_name(id->state), what,
		  *text ? " " : "", text, strerror(-ret));
	return ret;
}

/*
 * Runs call on the id of this handle, under the locks, and returns its result. `what` and addr:
 * arguments of log_refusal().
 */
#define WITH_ID(handle, id, what, addr, call)                                                      \
	do {                                                                                       \
		struct cm_id *id = lock_id(handle);                                                \
		int ret_;                                                                          \
                                                                                                   \
		if (!id)                                                                           \
			return -ENOENT;                                                            \
		ret_ = log_refusal(id, what, addr, call);                                          \
		unlock_id(id);                                                                     \
		return ret_;                                                                       \
	} while (0)

static int api_cm_bind(uint32_t handle, const struct sockaddr *addr)
{
	WITH_ID(handle, id, "bind to", addr, cm_bind(id, addr));
}

/*
 * Chooses the shard of an id by the id's channel. Threads that each have a channel of their own
 * then have their ids and QPs in separate shards.
 */
static int resolve_addr(struct cm_id *id, const struct sockaddr *src, const struct sockaddr *dst)
{
	struct rnic *r = shard_of(id)->rnic;

	if (id->connected_type)
		id->any_port = r->conns[channel_turn(id->source.chan) % r->n_shards];
	return cm_resolve_addr(id, src, dst);
}

static int api_cm_resolve_addr(uint32_t handle, const struct sockaddr *src,
			       const struct sockaddr *dst, uint32_t timeout_ms)
{
	/* Ignores the timeout of address resolution on a link: routing returns at once. */
	WITH_ID(handle, id, "resolve", dst, resolve_addr(id, src, dst));
}

static int api_cm_resolve_route(uint32_t handle, uint32_t timeout_ms)
{
	WITH_ID(handle, id, "resolve a route", NULL, cm_resolve_route(id));
}

static int query(struct cm_id *id, struct rnic_addr_info *info)
{
	int ret = cm_query(id, info);

	if (!ret && info->port_num)
		info->node_guid = port_node_guid();
	return ret;
}

static int api_cm_query(uint32_t handle, struct rnic_addr_info *info)
{
	WITH_ID(handle, id, "be asked", NULL, query(id, info));
}

/*
 * Moves the QP to the shard of the id, before the two are connected. Returns 0, -EINVAL if the QP
 * is connected already, or -ENOMEM.
 */
static int fetch_qp(struct cm_id *id, uint32_t qp_num)
{
	struct shard *s = shard_of(id);
	struct iw_qp *qp = id->connected_type ? rnic_qp(s->rnic, qp_num) : NULL;

	/*
	 * A QP without an object belongs to conn/. A UD QP stays in its shard: an id only announces
	 * its number, and does not connect it.
	 */
	if (!qp || !qp->ctx || qp->type == IW_QPT_UD || object_shard(qp->ctx) == s)
		return 0;
	return rnic_move_qp(qp, s);
}

static int connect_id(struct cm_id *id, const struct rnic_conn_param *param)
{
	int ret;

	cm_choose_conn(id);
	ret = fetch_qp(id, param->qp_num);
	return ret ? ret : cm_connect(id, param);
}

static int api_cm_connect(uint32_t handle, const struct rnic_conn_param *param)
{
	WITH_ID(handle, id, "connect", NULL, connect_id(id, param));
}

static int api_cm_listen(uint32_t handle, int backlog)
{
	WITH_ID(handle, id, "listen", NULL, cm_listen(id, backlog));
}

static int accept_id(struct cm_id *id, const struct rnic_conn_param *param, bool has_uid,
		     uint64_t uid)
{
	int ret = param ? fetch_qp(id, param->qp_num) : 0;

	if (!ret)
		return cm_accept(id, param, has_uid, uid);
	/* Rejects a request that cannot be accepted, so that the peer does not wait. */
	if (id->state == CM_REQUESTED)
		cm_reject(id, 0, NULL, 0);
	return ret;
}

static int api_cm_accept(uint32_t handle, const struct rnic_conn_param *param, bool has_uid,
			 uint64_t uid)
{
	WITH_ID(handle, id, "accept", NULL, accept_id(id, param, has_uid, uid));
}

static int api_cm_reject(uint32_t handle, uint8_t reason, const void *private_data, uint8_t len)
{
	WITH_ID(handle, id, "reject", NULL, cm_reject(id, reason, private_data, len));
}

static int api_cm_write_event(uint32_t handle, uint32_t event, int32_t status, uint64_t arg)
{
	WITH_ID(handle, id, "write an event", NULL, cm_write_event(id, event, status, arg));
}

static int api_cm_disconnect(uint32_t handle)
{
	WITH_ID(handle, id, "disconnect", NULL, cm_disconnect(id));
}

static int init_qp_attr(struct cm_id *id, uint32_t qp_state, struct rnic_qp_attr *attr)
{
	int ret = cm_init_qp_attr(id, qp_state, attr);

	if (!ret && attr->dest_qp_num)
		name_ends(&attr->ah, id->conn->config->personality == CONFIG_IB);
	return ret;
}

static int api_cm_init_qp_attr(uint32_t handle, uint32_t qp_state, struct rnic_qp_attr *attr)
{
	WITH_ID(handle, id, "give attributes of a QP", NULL, init_qp_attr(id, qp_state, attr));
}

static int api_cm_set_option(uint32_t handle, int level, int name, const void *val, size_t len)
{
	WITH_ID(handle, id, "set an option", NULL, cm_set_option(id, level, name, val, len));
}

static int api_cm_notify(uint32_t handle, uint32_t event)
{
	WITH_ID(handle, id, "be notified", NULL, cm_notify(id));
}

/* Returns the interface of the id's local address, or 0 if it has none. */
static unsigned int interface_of(const struct cm_id *id)
{
	struct ip_addr ip = sockaddr_ip((const struct sockaddr *)&id->src);
	struct port_gid gid;
	int index = port_gid_find(ip.b, ip.scope_id);

	return index < 0 || port_gid((unsigned int)index, &gid) ? 0 : gid.ifindex;
}

static int join_mcast(struct cm_id *id, const struct sockaddr *group, uint64_t uid, bool send_only,
		      uint32_t *handle)
{
	struct cm_join join = { .uid = uid, .send_only = send_only };

	if (!id->src.ss_family)
		return -EINVAL;
	join.ifindex = interface_of(id);
	return join.ifindex ? cm_join_mcast(id, group, &join, handle) : -EINVAL;
}

static int api_cm_join_mcast(uint32_t id_handle, const struct sockaddr *group, uint64_t uid,
			     bool send_only, uint32_t *handle)
{
	WITH_ID(id_handle, id, "join", group, join_mcast(id, group, uid, send_only, handle));
}

static int api_cm_leave_mcast(struct rnic_channel *chan, uint32_t handle, uint32_t *events_reported)
{
	struct rnic *r = rnic_get();
	int ret;

	if (!r)
		return -errno;
	rnic_lock(r);
	ret = cm_leave_mcast(&r->shard.conn, chan, handle, events_reported);
	rnic_unlock(r);
	return ret;
}

__attribute__((visibility("default"))) struct sctpiw_rnic_api sctpiw_rnic_api = {
	.version = SCTPIW_RNIC_API_VERSION,
	.size = sizeof(struct sctpiw_rnic_api),
	.comp_channel_create = api_comp_channel_create,
	.channel_read = channel_read,
	.channel_release = channel_release,
	.channel_by_fd = api_channel_by_fd,
	.set_fd_hooks = channel_set_fd_hook,
	.own_fd = sys_kept,
	.guard = memory_guard,
	.copy = memory_copy,
	.unmap_begin = unmap_begin,
	.unmap_lose = unmap_lose,
	.unmap_lose_unmapped = unmap_lose_unmapped,
	.unmap_end = unmap_end,
	.node_guid = api_node_guid,
	.forks = port_forks,
	.node_type = api_node_type,
	.query_gid = api_query_gid,
	.query_port = api_query_port,
	.query_counter = api_query_counter,
	.cm_channel_create = api_cm_channel_create,
	.cm_channel_release = api_cm_channel_release,
	.cm_get_event = api_cm_get_event,
	.cm_create_id = api_cm_create_id,
	.cm_destroy_id = api_cm_destroy_id,
	.cm_migrate_id = api_cm_migrate_id,
	.cm_bind = api_cm_bind,
	.cm_resolve_addr = api_cm_resolve_addr,
	.cm_resolve_route = api_cm_resolve_route,
	.cm_query = api_cm_query,
	.cm_connect = api_cm_connect,
	.cm_listen = api_cm_listen,
	.cm_accept = api_cm_accept,
	.cm_reject = api_cm_reject,
	.cm_disconnect = api_cm_disconnect,
	.cm_init_qp_attr = api_cm_init_qp_attr,
	.cm_set_option = api_cm_set_option,
	.cm_notify = api_cm_notify,
	.cm_join_mcast = api_cm_join_mcast,
	.cm_leave_mcast = api_cm_leave_mcast,
	.cm_write_event = api_cm_write_event,
};
