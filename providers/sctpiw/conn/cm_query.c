/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Addresses and attributes of rdma_cm ids. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "config/config.h"
#include "conn/cm.h"
#include "conn/conn.h"
#include "log/log.h"
#include "util/sockaddr.h"

#define QP_STATE_INIT 1
#define QP_STATE_RTR 2
#define QP_STATE_RTS 3

/* Same numbers as in enum ibv_qp_attr_mask. */
#define QP_MASK_STATE (1u << 0)
#define QP_MASK_ACCESS_FLAGS (1u << 3)
#define QP_MASK_PKEY_INDEX (1u << 4)
#define QP_MASK_PORT (1u << 5)
#define QP_MASK_QKEY (1u << 6)
#define QP_MASK_AV (1u << 7)
#define QP_MASK_PATH_MTU (1u << 8)
#define QP_MASK_TIMEOUT (1u << 9)
#define QP_MASK_RETRY_CNT (1u << 10)
#define QP_MASK_RNR_RETRY (1u << 11)
#define QP_MASK_RQ_PSN (1u << 12)
#define QP_MASK_MAX_QP_RD_ATOMIC (1u << 13)
#define QP_MASK_MIN_RNR_TIMER (1u << 15)
#define QP_MASK_SQ_PSN (1u << 16)
#define QP_MASK_MAX_DEST_RD_ATOMIC (1u << 17)
#define QP_MASK_DEST_QPN (1u << 20)
#define QP_TIMEOUT 20 /* 4.3 s, as rdma_cm sets it for RoCE */

static bool lacks_scope(const struct sockaddr *addr)
{
	struct ip_addr ip = sockaddr_ip(addr);

	return addr->sa_family == AF_INET6 && ip_addr_is_link_local(&ip) && !ip.scope_id;
}

static bool is_multicast(const struct sockaddr *addr)
{
	struct ip_addr ip = sockaddr_ip(addr);

	return ip_addr_is_multicast(&ip);
}

static int check_addr(const struct cm_id *id, const struct sockaddr *addr)
{
	int ret = sockaddr_check(addr);

	if (ret)
		return ret;
	/* iWARP has no UD QPs, so no device serves this id. */
	if (!id->connected_type && !sidr_is_served(id->conn))
		return -ENODEV;
	return lacks_scope(addr) ? -EINVAL : 0;
}

static void attach(struct cm_id *id, struct endpoint *ep)
{
	id->ep = ep;
	id->conn = ep->conn;
	id->src = ep->bound.local;
	if (!ep->shared)
		list_add_tail(&ep->ids, &id->bound_node);
	id->state = CM_BOUND;
}

static bool overlap(const struct sockaddr *a, const struct sockaddr *b)
{
	struct ip_addr x = sockaddr_ip(a), y = sockaddr_ip(b);

	return a->sa_family == b->sa_family && sockaddr_port(a) == sockaddr_port(b) &&
	       (ip_addr_is_zero(&x) || ip_addr_is_zero(&y) || ip_addr_equal(&x, &y));
}

/*
 * True if another datagram id has this address and port, and one of the two ids lacks the reuse
 * option.
 */
static bool is_taken(const struct cm_id *id, const struct sockaddr *addr)
{
	const struct cm_id *other;
	uint32_t pos = 0;

	while ((other = cm_id_next(id->conn, &pos))) {
		if (!other->connected_type && !(other->opt.reuse && id->opt.reuse) &&
		    overlap((const struct sockaddr *)&other->src, addr))
			return true;
	}
	return false;
}

/*
 * Binds a datagram id to a port that a socket of the host has. In the kernel, ports of RDMA_PS_UDP
 * are separate from those of sockets. A program may use both with the same number, as rsockets do
 * for datagrams. The id then shows this port to its program, but it sends from another port, and it
 * cannot listen.
 */
static int bind_beside_socket(struct cm_id *id, const struct sockaddr *addr)
{
	struct endpoint *ep;
	int ret;

	if (is_taken(id, addr))
		return -EADDRINUSE;
	ret = endpoint_open_client(id->conn, addr->sa_family, id->opt.tos, &ep);
	if (ret)
		return ret;
	attach(id, ep);
	sockaddr_copy(&id->src, addr);
	id->beside_socket = true;
	return 0;
}

int cm_bind(struct cm_id *id, const struct sockaddr *addr)
{
	struct sockaddr_storage ss;
	struct endpoint *ep;
	bool v6only;
	int ret;

	if (id->state != CM_IDLE)
		return -EINVAL;
	ret = check_addr(id, addr);
	if (ret)
		return ret;
	if (is_multicast(addr))
		return -EADDRNOTAVAIL;
	sockaddr_copy(&ss, addr);
	v6only = id->opt.afonly && ss.ss_family == AF_INET6;
	ret = endpoint_open(id->conn, (struct sockaddr *)&ss, v6only, id->opt.reuse, &ep);
	if (ret == -EADDRINUSE && !id->connected_type)
		return bind_beside_socket(id, (struct sockaddr *)&ss);
	if (ret)
		return ret;
	attach(id, ep);
	cm_grant_grace(ep);
	return 0;
}

/*
 * Chooses the port that the id's program sees. Each id has its own port, as in the kernel, although
 * ids share an endpoint. The first id gets the endpoint's port, and each further id gets another
 * port. take_port() does not reuse a port soon, so that a peer does not confuse a new id with an
 * old id. With the kernel's SCTP, no message can carry the port, so all ids have the endpoint's
 * port.
 */
static int choose_port(struct cm_id *id, struct endpoint *ep)
{
	if (ep->shared && ep->shown && ep->conn->carrier && !id->own_port) {
		id->own_port = id->conn->ops->take_port(id->conn, 0);
		if (!id->own_port)
			return -EADDRNOTAVAIL;
	}
	ep->shown = true;
	return 0;
}

/*
 * Binds an unbound id for rdma_resolve_addr(). src may contain an address, a port, both or neither.
 */
static int bind_for_client(struct cm_id *id, const struct sockaddr *src, int family)
{
	struct sockaddr_storage probe;
	struct endpoint *ep;
	int ret;

	if (src && src->sa_family && sockaddr_port(src))
		return cm_bind(id, src);
	if (src && src->sa_family) {
		ret = check_addr(id, src);
		if (ret)
			return ret;
		/* A local address has a route to itself. */
		if (!sockaddr_is_any(src)) {
			ret = id->conn->ops->route(id->conn, src, src, &probe);
			if (ret)
				return ret == -EADDRNOTAVAIL ? ret : -ENODEV;
		}
	}
	ret = endpoint_open_client(id->any_port ? id->any_port : id->conn, family, id->opt.tos,
				   &ep);
	if (ret)
		return ret;
	ret = choose_port(id, ep);
	if (ret) {
		endpoint_put(ep);
		return ret;
	}
	attach(id, ep);
	if (src && src->sa_family && !sockaddr_is_any(src))
		sockaddr_copy(&id->src, src);
	sockaddr_set_port((struct sockaddr *)&id->src,
			  id->own_port ? id->own_port : ep->bound.port);
	return 0;
}

/*
 * Finds the source address. For a multicast group, this is the address to which the id is bound,
 * since a link-local group has no route.
 */
static int source_to(struct cm_id *id, const struct sockaddr_storage *to,
		     struct sockaddr_storage *source)
{
	if (is_multicast((const struct sockaddr *)to)) {
		if (id->connected_type)
			return -EADDRNOTAVAIL;
		if (!sockaddr_is_any((const struct sockaddr *)&id->src)) {
			*source = id->src;
			return 0;
		}
	}
	return id->conn->ops->route(id->conn, (const struct sockaddr *)&id->src,
				    (const struct sockaddr *)to, source);
}

int cm_resolve_addr(struct cm_id *id, const struct sockaddr *src, const struct sockaddr *dst)
{
	struct sockaddr_storage to, source;
	int ret;

	if (id->state != CM_IDLE && id->state != CM_BOUND)
		return -EINVAL;
	ret = check_addr(id, dst);
	if (ret)
		return ret;
	if (id->state == CM_IDLE) {
		if (src && src->sa_family && src->sa_family != dst->sa_family)
			return -EINVAL;
		ret = bind_for_client(id, src, dst->sa_family);
		if (ret)
			return ret;
	}
	if (id->src.ss_family != dst->sa_family)
		return -EINVAL;
	sockaddr_copy(&to, dst);
	if (sockaddr_is_any(dst))
		sockaddr_loopback(&to, dst->sa_family, sockaddr_port(dst));
	ret = source_to(id, &to, &source);
	/*
	 * Return the error without an event, as the kernel does, which also looks up the route in
	 * the call.
	 */
	if (ret)
		return ret;
	sockaddr_set_port((struct sockaddr *)&source, sockaddr_port((struct sockaddr *)&id->src));
	id->src = source;
	id->dst = to;
	id->state = CM_ADDR_RESOLVED;
	cm_post(id, CM_EVENT_ADDR_RESOLVED, 0);
	return 0;
}

int cm_resolve_route(struct cm_id *id)
{
	if (id->state != CM_ADDR_RESOLVED)
		return -EINVAL;
	id->state = CM_ROUTE_RESOLVED;
	cm_post(id, CM_EVENT_ROUTE_RESOLVED, 0);
	return 0;
}

/*
 * True if the id has a device. As in the kernel, an id bound to the wildcard or to a loopback
 * address has no device; the latter gets one with its destination. libfabric relies on this: it
 * binds to localhost, and then chooses among all addresses of the device.
 */
static bool has_device(const struct cm_id *id)
{
	struct ip_addr ip;

	if (!id->src.ss_family)
		return false;
	ip = sockaddr_ip((const struct sockaddr *)&id->src);
	return !ip_addr_is_zero(&ip) && (id->dst.ss_family || !ip_addr_is_loopback(&ip));
}

/* Returns the largest enum ibv_mtu that a route with an MTU of this many bytes permits. */
static uint8_t mtu_of(uint32_t bytes)
{
	uint8_t mtu = 1;

	while (mtu < 5 && bytes >= 256u << mtu)
		mtu++;
	return mtu;
}

static struct path_addr way(const struct cm_id *id)
{
	return (struct path_addr){
		.local = sockaddr_ip((const struct sockaddr *)&id->src),
		.remote = sockaddr_ip((const struct sockaddr *)&id->dst),
	};
}

/* Fills the path record, from which programs create address handles. iWARP has no path records. */
static void add_path(const struct cm_id *id, struct rnic_path *path)
{
	bool ib = id->conn->config->personality == CONFIG_IB;
	struct path_addr to = way(id);

	if (id->conn->config->personality == CONFIG_IWARP || id->state < CM_ROUTE_RESOLVED)
		return;
	path->mtu = mtu_of(known_mtu(id->conn, &to));
	path->traffic_class = id->opt.tos;
	path->slid = ib ? (uint16_t)(to.local.b[14] << 8 | to.local.b[15]) : 0;
	path->dlid = ib ? (uint16_t)(to.remote.b[14] << 8 | to.remote.b[15]) : 0;
}

int cm_query(struct cm_id *id, struct rnic_addr_info *info)
{
	struct ip_addr ip;

	memset(info, 0, sizeof(*info));
	info->src = id->src;
	info->dst = id->dst;
	if (!has_device(id))
		return 0;
	info->port_num = 1;
	ip = sockaddr_ip((struct sockaddr *)&id->src);
	memcpy(info->sgid, ip.b, 16);
	if (id->dst.ss_family) {
		ip = sockaddr_ip((struct sockaddr *)&id->dst);
		memcpy(info->dgid, ip.b, 16);
		add_path(id, &info->path);
	}
	return 0;
}

/* Returns the agreed IRD or ORD, or the maximum before the sides have agreed. */
static uint8_t depth(const struct cm_id *id, uint32_t agreed, uint32_t max)
{
	bool open = id->state < CM_CONNECTING || id->state == CM_REQUESTED;

	return (uint8_t)(open || agreed > max ? max : agreed);
}

/* Sets InfiniBand's attributes for RTR, with the address and QP number of the peer. */
static void add_peer(const struct cm_id *id, struct rnic_qp_attr *attr)
{
	struct path_addr to = way(id);

	attr->mask = QP_MASK_STATE | QP_MASK_AV | QP_MASK_PATH_MTU | QP_MASK_DEST_QPN |
		     QP_MASK_RQ_PSN | QP_MASK_MAX_DEST_RD_ATOMIC | QP_MASK_MIN_RNR_TIMER;
	memcpy(attr->ah.sgid, to.local.b, sizeof(attr->ah.sgid));
	memcpy(attr->ah.dgid, to.remote.b, sizeof(attr->ah.dgid));
	attr->ah.traffic_class = id->opt.tos;
	attr->path_mtu = mtu_of(known_mtu(id->conn, &to));
	attr->dest_qp_num = id->peer_qp_num ? id->peer_qp_num : CM_DEST_QP_NUM;
	attr->max_dest_rd_atomic = depth(id, id->param.ird, IW_MAX_IRD);
}

/*
 * Sets InfiniBand's attributes for RTS. The connecting side chooses retry_cnt for both sides. Each
 * side chooses rnr_retry for its peer.
 */
static void add_retries(const struct cm_id *id, struct rnic_qp_attr *attr)
{
	attr->mask = QP_MASK_STATE | QP_MASK_SQ_PSN | QP_MASK_TIMEOUT | QP_MASK_RETRY_CNT |
		     QP_MASK_RNR_RETRY | QP_MASK_MAX_QP_RD_ATOMIC;
	attr->timeout = id->opt.ack_timeout_set ? id->opt.ack_timeout : QP_TIMEOUT;
	attr->retry_cnt = id->ep ? id->counts.retry : id->peer_counts.retry;
	attr->rnr_retry = id->peer_counts.rnr_retry;
	attr->max_rd_atomic = depth(id, id->param.ord, IW_MAX_ORD);
}

/*
 * For INIT and RTR, the kernel's iWARP CM sets a QP's remote access rights, but without atomics,
 * which the kernel's iWARP devices lack. This function adds atomics, since programs do not set the
 * rights themselves. For RTS, the kernel's iWARP CM sets only the port, since the connection has
 * already moved the QP. If the device is a channel adapter, the attributes are those of InfiniBand:
 * INIT also sets the P_Key index, and RTR and RTS set all attributes that connect a QP. Some
 * programs connect other QPs instead of the id's QP, and take the peer's address from these
 * attributes.
 */
int cm_init_qp_attr(struct cm_id *id, uint32_t qp_state, struct rnic_qp_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	if (qp_state < QP_STATE_INIT || qp_state > QP_STATE_RTS || !has_device(id))
		return -EINVAL;
	attr->qp_state = qp_state;
	attr->port_num = 1;
	attr->mask = QP_MASK_PORT;
	if (!id->connected_type) {
		attr->mask |= QP_MASK_STATE | QP_MASK_PKEY_INDEX | QP_MASK_QKEY;
		attr->qkey = SIDR_QKEY;
		return 0;
	}
	if (id->conn->config->personality != CONFIG_IWARP) {
		if (qp_state == QP_STATE_RTR && id->dst.ss_family) {
			add_peer(id, attr);
			return 0;
		}
		if (qp_state == QP_STATE_RTS) {
			add_retries(id, attr);
			return 0;
		}
		attr->mask |= QP_MASK_PKEY_INDEX;
	}
	if (qp_state < QP_STATE_RTS) {
		attr->mask |= QP_MASK_STATE | QP_MASK_ACCESS_FLAGS;
		attr->qp_access_flags = IW_ACCESS_REMOTE;
	}
	return 0;
}

/*
 * Sets the option. An id that is already bound must be bound again, since the option cannot be
 * changed in another way.
 */
static int set_afonly(struct cm_id *id, bool on)
{
	struct sockaddr_storage addr = id->src;
	struct endpoint *ep = id->ep;

	if (id->state != CM_IDLE && id->state != CM_BOUND)
		return -EINVAL;
	id->opt.afonly = on;
	if (id->state == CM_IDLE || id->src.ss_family != AF_INET6 || !ep->bound.wildcard ||
	    ep->bound.v6only == on)
		return 0;
	id->state = CM_IDLE;
	endpoint_leave(id);
	endpoint_group_end_unused(id->conn);
	for (unsigned int i = 0; i < id->conn->n_all; i++)
		endpoint_reap(id->conn->all[i]);
	endpoint_reap(id->conn);
	return cm_bind(id, (struct sockaddr *)&addr);
}

static int set_reuse(struct cm_id *id, bool on)
{
	if (id->state == CM_LISTEN || (!on && id->state != CM_IDLE))
		return -EINVAL;
	id->opt.reuse = on;
	return 0;
}

/*
 * Stores the TOS, which takes effect when the id connects or listens. As in the kernel, a later
 * change has no effect. Clears the two lowest bits, which belong to ECN (RFC 3168).
 */
static void set_tos(struct cm_id *id, uint8_t tos)
{
	id->opt.tos = tos & 0xfc;
	id->opt.tos_set = true;
}

/*
 * Stores the timeout, which only appears in the QP's attributes. They have five bits for it. SCTP
 * uses its measured round-trip time instead.
 */
static void set_ack_timeout(struct cm_id *id, uint8_t timeout)
{
	id->opt.ack_timeout = timeout & 31;
	id->opt.ack_timeout_set = true;
}

static int flag(const void *val, size_t len, bool *on)
{
	int v;

	if (len != sizeof(v))
		return -EINVAL;
	memcpy(&v, val, sizeof(v));
	*on = v != 0;
	return 0;
}

int cm_set_option(struct cm_id *id, int level, int name, const void *val, size_t len)
{
	bool on;
	int ret;

	if (level != CM_OPTION_ID)
		return -ENOSYS;
	switch (name) {
	case CM_OPTION_ID_TOS:
		if (len != 1)
			return -EINVAL;
		set_tos(id, *(const uint8_t *)val);
		return 0;
	case CM_OPTION_ID_ACK_TIMEOUT:
		if (len != 1 || !id->connected_type)
			return -EINVAL;
		set_ack_timeout(id, *(const uint8_t *)val);
		return 0;
	case CM_OPTION_ID_REUSEADDR:
		ret = flag(val, len, &on);
		return ret ? ret : set_reuse(id, on);
	case CM_OPTION_ID_AFONLY:
		ret = flag(val, len, &on);
		return ret ? ret : set_afonly(id, on);
	default:
		return -ENOSYS;
	}
}
