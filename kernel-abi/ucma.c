/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "ucma.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>
#include <stdlib.h>
#include <string.h>

#include "devnum.h"
#include "idmap.h"
#include "libc.h"
#include "rnic.h"

#ifndef AF_IB
#define AF_IB 27
#endif

#define BACKLOG_MAX 1024     /* net.rdma_ucm.max_backlog */
#define OPTION_MAX 4096	     /* the longest option is a set of path records */
#define QP_STATE_ERR 6	     /* IBV_QPS_ERR, the last state */
#define REJ_CONSUMER 28	     /* InfiniBand 12.6.7.2: the reasons that user space may give */
#define REJ_VENDOR_OPTION 35
#define PKEY_DEFAULT 0xffff

/* The kernel's AF_IB address: a GID in the shape of a sockaddr. */
struct ucma_sockaddr_ib {
	uint16_t family;
	uint16_t pkey;
	uint32_t flowinfo;
	uint8_t gid[16];
	uint64_t sid;
	uint64_t sid_mask;
	uint64_t scope_id;
};

/* One request while it is served. */
struct ucma_request {
	const struct sctpiw_rnic_api *api;
	struct kfile *kf;
	int fd;
	size_t out_len; /* room at the response address, as the header says */
};

/* RNIC_PRIVATE_DATA_MAX is what the length field can say; the array is one longer. */
_Static_assert(RNIC_PRIVATE_DATA_MAX < RDMA_MAX_PRIVATE_DATA, "private data");

/* 0 for a family that no address of RDMA CM has. */
static size_t addr_size(const void *addr)
{
	switch (((const struct sockaddr *)addr)->sa_family) {
	case AF_INET:
		return sizeof(struct sockaddr_in);
	case AF_INET6:
		return sizeof(struct sockaddr_in6);
	case AF_IB:
		return sizeof(struct ucma_sockaddr_ib);
	default:
		return 0;
	}
}

static size_t copy_addr(void *dst, const struct sockaddr_storage *src)
{
	size_t len = addr_size(src);

	memcpy(dst, src, len);
	return len;
}

/* AF_IB names InfiniBand ports, which we do not have: librdmacm asks once, and uses IP from then on. */
static bool is_ip(const void *addr)
{
	sa_family_t family = ((const struct sockaddr *)addr)->sa_family;

	return family == AF_INET || family == AF_INET6;
}

/* The id is on this channel and bound to the device; as the kernel: -EINVAL if not bound. */
static int check_bound(const struct ucma_request *rq, uint32_t id)
{
	struct rnic_addr_info info;
	int ret = idmap_check(id, rq->kf);

	if (ret)
		return ret;
	ret = rq->api->cm_query(id, &info);
	if (ret)
		return ret;
	return info.node_guid ? 0 : -EINVAL;
}

static int ucma_create_id(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_create_id *cmd = in;
	struct rdma_ucm_create_id_resp resp = {0};
	uint8_t qp_type;
	struct idmap_node *node;
	uint32_t reported;
	int ret;

	if (rq->out_len < sizeof(resp))
		return -ENOSPC;
	switch (cmd->ps) {
	case RDMA_PS_TCP:
		qp_type = 2; /* IBV_QPT_RC */
		break;
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		qp_type = 4; /* IBV_QPT_UD */
		break;
	case RDMA_PS_IB:
		qp_type = cmd->qp_type;
		break;
	default:
		return -EINVAL;
	}
	node = idmap_reserve();
	if (!node)
		return -ENOMEM;
	ret = rq->api->cm_create_id(rq->kf->chan, cmd->uid, cmd->ps, qp_type, &resp.id);
	if (ret)
		goto unreserve;
	ret = user_write(cmd->response, &resp, sizeof(resp));
	if (ret)
		goto destroy;
	idmap_set(node, resp.id, rq->kf);
	return 0;
destroy:
	rq->api->cm_destroy_id(resp.id, &reported);
unreserve:
	idmap_unreserve(node);
	return ret;
}

/* Taken out of the map first: the RNIC may give the number to another thread at once. */
static int ucma_destroy_id(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_destroy_id *cmd = in;
	struct rdma_ucm_destroy_id_resp resp = {0};
	struct idmap_node *node;
	int ret;

	if (rq->out_len < sizeof(resp))
		return -ENOSPC;
	ret = idmap_take(cmd->id, rq->kf, &node);
	if (ret)
		return ret;
	ret = rq->api->cm_destroy_id(cmd->id, &resp.events_reported);
	idmap_unreserve(node);
	return ret ? ret : user_write(cmd->response, &resp, sizeof(resp));
}

static int bind_id(const struct ucma_request *rq, uint32_t id, const void *addr)
{
	int ret = idmap_check(id, rq->kf);

	if (ret)
		return ret;
	return is_ip(addr) ? rq->api->cm_bind(id, addr) : -EAFNOSUPPORT;
}

static int ucma_bind_ip(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_bind_ip *cmd = in;

	return is_ip(&cmd->addr) ? bind_id(rq, cmd->id, &cmd->addr) : -EINVAL;
}

static int ucma_bind(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_bind *cmd = in;

	if (cmd->reserved || !cmd->addr_size || cmd->addr_size != addr_size(&cmd->addr))
		return -EINVAL;
	return bind_id(rq, cmd->id, &cmd->addr);
}

/* src may have no family: any address. */
static int resolve_addr(const struct ucma_request *rq, uint32_t id, const void *src,
			const void *dst, uint32_t timeout_ms)
{
	bool has_src = ((const struct sockaddr *)src)->sa_family != AF_UNSPEC;
	int ret = idmap_check(id, rq->kf);

	if (ret)
		return ret;
	if (!is_ip(dst) || (has_src && !is_ip(src)))
		return -EAFNOSUPPORT;
	return rq->api->cm_resolve_addr(id, has_src ? src : NULL, dst, timeout_ms);
}

static int ucma_resolve_ip(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_resolve_ip *cmd = in;

	if (!is_ip(&cmd->dst_addr) ||
	    (cmd->src_addr.sin6_family != AF_UNSPEC && !is_ip(&cmd->src_addr)))
		return -EINVAL;
	return resolve_addr(rq, cmd->id, &cmd->src_addr, &cmd->dst_addr, cmd->timeout_ms);
}

static int ucma_resolve_addr(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_resolve_addr *cmd = in;
	static const struct sockaddr none = {.sa_family = AF_UNSPEC};

	if (cmd->reserved || (cmd->src_size && cmd->src_size != addr_size(&cmd->src_addr)) ||
	    !cmd->dst_size || cmd->dst_size != addr_size(&cmd->dst_addr))
		return -EINVAL;
	return resolve_addr(rq, cmd->id, cmd->src_size ? (const void *)&cmd->src_addr : &none,
			    &cmd->dst_addr, cmd->timeout_ms);
}

static int ucma_resolve_route(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_resolve_route *cmd = in;
	int ret = check_bound(rq, cmd->id);

	return ret ? ret : rq->api->cm_resolve_route(cmd->id, cmd->timeout_ms);
}

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

static int query_info(const struct ucma_request *rq, uint32_t id, struct rnic_addr_info *info)
{
	int ret = idmap_check(id, rq->kf);

	memset(info, 0, sizeof(*info));
	return ret ? ret : rq->api->cm_query(id, info);
}

/*
 * ibdev_index is the index that netlink shows for a device; libibverbs found ours in sysfs and knows
 * none, and all ones matches that. An iWARP route has no path records, only the GIDs.
 */
static int ucma_query_route(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_query *cmd = in;
	struct rdma_ucm_query_route_resp resp = {0};
	struct rnic_addr_info info;
	int ret;

	if (rq->out_len < offsetof(struct rdma_ucm_query_route_resp, ibdev_index))
		return -ENOSPC;
	ret = query_info(rq, cmd->id, &info);
	if (ret)
		return ret;
	if (is_ip(&info.src))
		copy_addr(&resp.src_addr, &info.src);
	if (is_ip(&info.dst))
		copy_addr(&resp.dst_addr, &info.dst);
	if (info.node_guid) {
		resp.node_guid = info.node_guid;
		resp.ibdev_index = UINT32_MAX;
		resp.port_num = info.port_num;
		memcpy(resp.ib_route[0].sgid, info.sgid, sizeof(info.sgid));
		memcpy(resp.ib_route[0].dgid, info.dgid, sizeof(info.dgid));
	}
	return user_write(cmd->response, &resp, min_size(rq->out_len, sizeof(resp)));
}

static void copy_device(struct rdma_ucm_query_addr_resp *resp, const struct rnic_addr_info *info)
{
	if (!info->node_guid)
		return;
	resp->node_guid = info->node_guid;
	resp->ibdev_index = UINT32_MAX;
	resp->port_num = info->port_num;
	resp->pkey = htons(PKEY_DEFAULT);
}

static void copy_gids(struct rdma_ucm_query_addr_resp *resp, const struct rnic_addr_info *info)
{
	struct ucma_sockaddr_ib sib = {.family = AF_IB, .pkey = htons(PKEY_DEFAULT)};

	memcpy(sib.gid, info->sgid, sizeof(sib.gid));
	memcpy(&resp->src_addr, &sib, sizeof(sib));
	memcpy(sib.gid, info->dgid, sizeof(sib.gid));
	memcpy(&resp->dst_addr, &sib, sizeof(sib));
	resp->src_size = resp->dst_size = sizeof(sib);
}

static int ucma_query(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_query *cmd = in;
	struct rdma_ucm_query_addr_resp resp = {0};
	struct rdma_ucm_query_path_resp path = {0};
	struct rnic_addr_info info;
	int ret;

	if (cmd->option > RDMA_USER_CM_QUERY_GID)
		return -ENOSYS;
	if (rq->out_len < (cmd->option == RDMA_USER_CM_QUERY_PATH ?
				   sizeof(path) :
				   offsetof(struct rdma_ucm_query_addr_resp, ibdev_index)))
		return -ENOSPC;
	ret = query_info(rq, cmd->id, &info);
	if (ret)
		return ret;
	if (cmd->option == RDMA_USER_CM_QUERY_PATH)
		return user_write(cmd->response, &path, sizeof(path)); /* iWARP: none */
	copy_device(&resp, &info);
	if (cmd->option == RDMA_USER_CM_QUERY_GID) {
		copy_gids(&resp, &info);
	} else {
		resp.src_size = (uint16_t)copy_addr(&resp.src_addr, &info.src);
		resp.dst_size = (uint16_t)copy_addr(&resp.dst_addr, &info.dst);
	}
	return user_write(cmd->response, &resp, min_size(rq->out_len, sizeof(resp)));
}

static void copy_param(struct rnic_conn_param *dst, const struct rdma_ucm_conn_param *src)
{
	*dst = (struct rnic_conn_param){
		.qp_num = src->qp_num,
		.responder_resources = src->responder_resources,
		.initiator_depth = src->initiator_depth,
		.flow_control = src->flow_control,
		.retry_count = src->retry_count,
		.rnr_retry_count = src->rnr_retry_count,
		.srq = src->srq,
		.private_data_len = src->private_data_len,
	};
	memcpy(dst->private_data, src->private_data, src->private_data_len);
}

static int ucma_connect(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_connect *cmd = in;
	struct rnic_conn_param param;
	int ret;

	if (!cmd->conn_param.valid)
		return -EINVAL;
	ret = check_bound(rq, cmd->id);
	if (ret)
		return ret;
	copy_param(&param, &cmd->conn_param);
	return rq->api->cm_connect(cmd->id, &param);
}

static int ucma_listen(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_listen *cmd = in;
	int ret = idmap_check(cmd->id, rq->kf);
	uint32_t backlog = cmd->backlog;

	if (ret)
		return ret;
	if (!backlog || backlog > BACKLOG_MAX)
		backlog = BACKLOG_MAX;
	return rq->api->cm_listen(cmd->id, (int)backlog);
}

static int ucma_accept(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_accept *cmd = in;
	struct rnic_conn_param param;
	int ret = check_bound(rq, cmd->id);

	if (ret)
		return ret;
	if (!cmd->conn_param.valid)
		return rq->api->cm_accept(cmd->id, NULL, false, 0);
	copy_param(&param, &cmd->conn_param);
	return rq->api->cm_accept(cmd->id, &param, true, cmd->uid);
}

static int ucma_reject(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_reject *cmd = in;
	int ret;

	if (cmd->reason && cmd->reason != REJ_CONSUMER && cmd->reason != REJ_VENDOR_OPTION)
		return -EINVAL;
	ret = check_bound(rq, cmd->id);
	return ret ? ret :
		     rq->api->cm_reject(cmd->id, cmd->private_data, cmd->private_data_len);
}

static int ucma_disconnect(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_disconnect *cmd = in;
	int ret = check_bound(rq, cmd->id);

	return ret ? ret : rq->api->cm_disconnect(cmd->id);
}

static int ucma_init_qp_attr(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_init_qp_attr *cmd = in;
	struct ib_uverbs_qp_attr resp = {0};
	struct rnic_qp_attr attr = {0};
	int ret;

	if (rq->out_len < sizeof(resp))
		return -ENOSPC;
	if (cmd->qp_state > QP_STATE_ERR)
		return -EINVAL;
	ret = check_bound(rq, cmd->id);
	if (ret)
		return ret;
	attr.qp_state = cmd->qp_state;
	ret = rq->api->cm_init_qp_attr(cmd->id, cmd->qp_state, &attr);
	if (ret)
		return ret;
	resp.qp_attr_mask = attr.mask;
	resp.qp_state = attr.qp_state;
	resp.qp_access_flags = attr.qp_access_flags;
	resp.max_rd_atomic = attr.max_rd_atomic;
	resp.max_dest_rd_atomic = attr.max_dest_rd_atomic;
	resp.port_num = attr.port_num;
	resp.pkey_index = attr.pkey_index;
	return user_write(cmd->response, &resp, sizeof(resp));
}

static void copy_event(struct rdma_ucm_event_resp *resp, const struct rnic_cm_event *ev)
{
	struct rdma_ucm_conn_param *conn = &resp->param.conn;

	memset(resp, 0, sizeof(*resp));
	resp->uid = ev->uid;
	resp->id = ev->id;
	resp->event = ev->event;
	resp->status = (uint32_t)ev->status;
	conn->qp_num = ev->param.qp_num;
	conn->responder_resources = ev->param.responder_resources;
	conn->initiator_depth = ev->param.initiator_depth;
	conn->flow_control = ev->param.flow_control;
	conn->retry_count = ev->param.retry_count;
	conn->rnr_retry_count = ev->param.rnr_retry_count;
	conn->srq = ev->param.srq;
	conn->private_data_len = ev->param.private_data_len;
	memcpy(conn->private_data, ev->param.private_data, ev->param.private_data_len);
}

/*
 * An event that has been taken cannot be put back, so the address of the answer is tried first, and
 * the map has its memory for the id that comes with a connection request.
 */
static int ucma_get_event(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_get_event *cmd = in;
	struct rdma_ucm_event_resp resp = {0};
	size_t len = min_size(rq->out_len, sizeof(resp));
	struct idmap_node *node = NULL;
	struct rnic_cm_event ev;
	int ret;

	if (rq->out_len < offsetof(struct rdma_ucm_event_resp, reserved))
		return -ENOSPC;
	for (;;) {
		ret = user_write(cmd->response, &resp, len);
		if (ret)
			return ret;
		node = idmap_reserve();
		if (!node)
			return -ENOMEM;
		ret = rq->api->cm_get_event(rq->kf->chan, &ev);
		if (!ret)
			break;
		idmap_unreserve(node);
		if (ret == -EAGAIN)
			ret = rnic_wait_readable(rq->kf, rq->fd);
		if (ret)
			return ret;
	}
	if (ev.event == 4 /* RDMA_CM_EVENT_CONNECT_REQUEST */)
		idmap_set(node, ev.id, rq->kf);
	else
		idmap_unreserve(node);
	copy_event(&resp, &ev);
	return user_write(cmd->response, &resp, len);
}

static int ucma_set_option(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_set_option *cmd = in;
	int ret = idmap_check(cmd->id, rq->kf);
	void *val;

	if (ret)
		return ret;
	if (cmd->optlen > OPTION_MAX)
		return -EINVAL;
	val = calloc(1, cmd->optlen + 1ul);
	if (!val)
		return -ENOMEM;
	ret = cmd->optlen ? user_read(cmd->optval, val, cmd->optlen) : 0;
	if (!ret)
		ret = rq->api->cm_set_option(cmd->id, (int)cmd->level, (int)cmd->optname, val,
					     cmd->optlen);
	free(val);
	return ret;
}

static int ucma_notify(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_notify *cmd = in;
	int ret = check_bound(rq, cmd->id);

	return ret ? ret : rq->api->cm_notify(cmd->id, cmd->event);
}

/* iWARP has no multicast: the kernel's answer for such a device. */
static int ucma_join_ip_mcast(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_join_ip_mcast *cmd = in;
	int ret;

	if (rq->out_len < sizeof(struct rdma_ucm_create_id_resp))
		return -ENOSPC;
	ret = idmap_check(cmd->id, rq->kf);
	return ret ? ret : -ENOSYS;
}

static int ucma_join_mcast(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_join_mcast *cmd = in;
	int ret;

	if (rq->out_len < sizeof(struct rdma_ucm_create_id_resp))
		return -ENOSPC;
	ret = idmap_check(cmd->id, rq->kf);
	return ret ? ret : -ENOSYS;
}

static int ucma_leave_mcast(const struct ucma_request *rq, const void *in)
{
	if (rq->out_len < sizeof(struct rdma_ucm_destroy_id_resp))
		return -ENOSPC;
	return -ENOENT; /* nothing was ever joined */
}

static const struct kfile_ops ucma_ops;

/* Written to the new channel; fd in the request is a descriptor of the old one. */
static int ucma_migrate_id(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_migrate_id *cmd = in;
	struct rdma_ucm_migrate_resp resp = {0};
	struct kfile *from;
	int ret;

	if (rq->out_len < sizeof(resp))
		return -ENOSPC;
	from = fdtable_get((int)cmd->fd);
	if (!from)
		return libc_fcntl((int)cmd->fd, F_GETFD, 0) < 0 ? -ENOENT : -EINVAL;
	ret = from->ops == &ucma_ops && kfile_alive(from) ? idmap_check(cmd->id, from) : -EINVAL;
	if (!ret)
		ret = rq->api->cm_migrate_id(cmd->id, rq->kf->chan, &resp.events_reported);
	if (!ret) {
		idmap_move(cmd->id, from, rq->kf);
		ret = user_write(cmd->response, &resp, sizeof(resp));
	}
	kfile_put(from);
	return ret;
}

struct ucma_command {
	int (*run)(const struct ucma_request *rq, const void *in);
	size_t in_len;	   /* the least that the header must announce */
	size_t struct_len; /* what run() looks at; the rest is zeros */
};

/* in_len stops before padding, and before members that were added to the ABI later. */
#define END_OF(type, member) (offsetof(struct type, member) + sizeof(((struct type *)0)->member))
#define COMMAND(name, type, last)                                                                  \
	{                                                                                          \
		.run = name, .in_len = END_OF(type, last), .struct_len = sizeof(struct type)       \
	}

/* A missing one (GET_OPTION) is -ENOSYS; numbers past the end are -EINVAL. */
static const struct ucma_command ucma_commands[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = COMMAND(ucma_create_id, rdma_ucm_create_id, qp_type),
	[RDMA_USER_CM_CMD_DESTROY_ID] = COMMAND(ucma_destroy_id, rdma_ucm_destroy_id, id),
	[RDMA_USER_CM_CMD_BIND_IP] = COMMAND(ucma_bind_ip, rdma_ucm_bind_ip, id),
	[RDMA_USER_CM_CMD_RESOLVE_IP] = COMMAND(ucma_resolve_ip, rdma_ucm_resolve_ip, timeout_ms),
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] =
		COMMAND(ucma_resolve_route, rdma_ucm_resolve_route, timeout_ms),
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = COMMAND(ucma_query_route, rdma_ucm_query, id),
	[RDMA_USER_CM_CMD_CONNECT] = COMMAND(ucma_connect, rdma_ucm_connect, reserved),
	[RDMA_USER_CM_CMD_LISTEN] = COMMAND(ucma_listen, rdma_ucm_listen, backlog),
	[RDMA_USER_CM_CMD_ACCEPT] = COMMAND(ucma_accept, rdma_ucm_accept, reserved),
	[RDMA_USER_CM_CMD_REJECT] = COMMAND(ucma_reject, rdma_ucm_reject, private_data),
	[RDMA_USER_CM_CMD_DISCONNECT] = COMMAND(ucma_disconnect, rdma_ucm_disconnect, id),
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] =
		COMMAND(ucma_init_qp_attr, rdma_ucm_init_qp_attr, qp_state),
	[RDMA_USER_CM_CMD_GET_EVENT] = COMMAND(ucma_get_event, rdma_ucm_get_event, response),
	[RDMA_USER_CM_CMD_SET_OPTION] = COMMAND(ucma_set_option, rdma_ucm_set_option, optlen),
	[RDMA_USER_CM_CMD_NOTIFY] = COMMAND(ucma_notify, rdma_ucm_notify, event),
	[RDMA_USER_CM_CMD_JOIN_IP_MCAST] = COMMAND(ucma_join_ip_mcast, rdma_ucm_join_ip_mcast, id),
	[RDMA_USER_CM_CMD_LEAVE_MCAST] = COMMAND(ucma_leave_mcast, rdma_ucm_destroy_id, id),
	[RDMA_USER_CM_CMD_MIGRATE_ID] = COMMAND(ucma_migrate_id, rdma_ucm_migrate_id, fd),
	[RDMA_USER_CM_CMD_QUERY] = COMMAND(ucma_query, rdma_ucm_query, option),
	[RDMA_USER_CM_CMD_BIND] = COMMAND(ucma_bind, rdma_ucm_bind, addr),
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] =
		COMMAND(ucma_resolve_addr, rdma_ucm_resolve_addr, dst_addr),
	[RDMA_USER_CM_CMD_JOIN_MCAST] = COMMAND(ucma_join_mcast, rdma_ucm_join_mcast, addr),
};

static ssize_t ucma_write(struct kfile *kf, int fd, const void *buf, size_t len)
{
	struct ucma_request rq = {.api = rnic_get(), .kf = kf, .fd = fd};
	union {
		uint64_t align;
		char bytes[sizeof(struct rdma_ucm_accept) + sizeof(struct rdma_ucm_resolve_addr)];
	} in;
	const struct ucma_command *cmd;
	struct rdma_ucm_cmd_hdr hdr;
	size_t copy;
	int ret;

	if (len < sizeof(hdr))
		return -EINVAL;
	memcpy(&hdr, buf, sizeof(hdr));
	if (hdr.cmd >= sizeof(ucma_commands) / sizeof(ucma_commands[0]) ||
	    hdr.in + sizeof(hdr) > len)
		return -EINVAL;
	cmd = &ucma_commands[hdr.cmd];
	if (!cmd->run)
		return -ENOSYS;
	if (hdr.in < cmd->in_len)
		return -EINVAL;
	copy = min_size(hdr.in, cmd->struct_len);
	memset(in.bytes, 0, cmd->struct_len);
	memcpy(in.bytes, (const char *)buf + sizeof(hdr), copy);
	rq.out_len = hdr.out;
	ret = cmd->run(&rq, in.bytes);
	return ret ? ret : (ssize_t)len;
}

static ssize_t ucma_read(struct kfile *kf, int fd, void *buf, size_t len)
{
	return -EINVAL;
}

static void ucma_release(struct kfile *kf)
{
	idmap_drop_channel(kf);
	rnic_get()->cm_channel_release(kf->chan);
}

static const struct kfile_ops ucma_ops = {
	.read = ucma_read,
	.write = ucma_write,
	.release = ucma_release,
	.cdev = true,
	.major = RDMA_CM_MAJOR,
	.minor = RDMA_CM_MINOR,
};

int ucma_open(int flags)
{
	const struct sctpiw_rnic_api *api = rnic_load();
	struct rnic_channel *chan;
	int fd, ret;

	if (!api)
		return -ENODEV;
	fdtable_reap(0, UINT_MAX);
	ret = api->cm_channel_create(&chan, &fd);
	if (ret)
		return ret;
	rnic_apply_open_flags(fd, flags);
	ret = fdtable_install(fd, &ucma_ops, chan, NULL);
	if (ret) {
		libc_close(fd);
		api->cm_channel_release(chan);
		return ret;
	}
	return fd;
}
