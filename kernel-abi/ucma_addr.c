/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Commands of RDMA CM that bind, resolve and query the addresses of an id. */
#define _GNU_SOURCE
#include "ucma_cmd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#include "idmap.h"

#ifndef AF_IB
#define AF_IB 27
#endif

#define PKEY_DEFAULT 0xffff
/* Values of path records, as in the kernel for RoCE. A rate of 0 means the rate of the port. */
#define PATH_HOP_LIMIT 64
#define PATH_LIFE_TIME 16 /* exponent of 2; the unit is 4.096 us */
#define PATH_EXACTLY 2	  /* a selector, which means exactly the given value */

/*
 * An address of the kernel's family AF_IB, which is a GID in the form of a sockaddr. All fields are
 * in network byte order.
 */
struct ucma_sockaddr_ib {
	uint16_t family; /* in host byte order, as in every sockaddr */
	uint16_t pkey;
	uint32_t flowinfo;
	uint8_t gid[16];
	uint64_t sid;
	uint64_t sid_mask;
	uint64_t scope_id;
};

size_t ucma_addr_size(const void *addr)
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

void ucma_ip_of(const void *addr, struct sockaddr_storage *ip)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)ip;
	struct sockaddr_in *v4 = (struct sockaddr_in *)ip;
	const struct ucma_sockaddr_ib *ib = addr;

	memset(ip, 0, sizeof(*ip));
	if (((const struct sockaddr *)addr)->sa_family != AF_IB) {
		memcpy(ip, addr, ucma_addr_size(addr));
		return;
	}
	memcpy(&v6->sin6_addr, ib->gid, sizeof(v6->sin6_addr));
	v6->sin6_family = AF_INET6;
	if (memcmp(ib->gid, mapped, sizeof(mapped)))
		return;
	memset(ip, 0, sizeof(*ip));
	memcpy(&v4->sin_addr, ib->gid + 12, sizeof(v4->sin_addr));
	v4->sin_family = AF_INET;
}

/* Copies an address of any family. Returns its length in bytes. */
static size_t copy_addr(void *dst, const struct sockaddr_storage *src)
{
	size_t len = ucma_addr_size(src);

	memcpy(dst, src, len);
	return len;
}

/*
 * True for an IP address. An address of family AF_IB belongs to an InfiniBand port, which this
 * device does not have. librdmacm tries AF_IB once, and then uses IP addresses.
 */
static bool is_ip(const void *addr)
{
	sa_family_t family = ((const struct sockaddr *)addr)->sa_family;

	return family == AF_INET || family == AF_INET6;
}

static int bind_id(const struct ucma_request *rq, uint32_t id, const void *addr)
{
	int ret = idmap_check(id, rq->kf);

	if (ret)
		return ret;
	return is_ip(addr) ? rq->api->cm_bind(id, addr) : -EAFNOSUPPORT;
}

int ucma_bind_ip(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_bind_ip *cmd = in;

	return is_ip(&cmd->addr) ? bind_id(rq, cmd->id, &cmd->addr) : -EINVAL;
}

int ucma_bind(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_bind *cmd = in;

	if (cmd->reserved || !cmd->addr_size || cmd->addr_size != ucma_addr_size(&cmd->addr))
		return -EINVAL;
	return bind_id(rq, cmd->id, &cmd->addr);
}

/* src may have the family AF_UNSPEC, which means any local address. */
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

int ucma_resolve_ip(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_resolve_ip *cmd = in;

	if (!is_ip(&cmd->dst_addr) ||
	    (cmd->src_addr.sin6_family != AF_UNSPEC && !is_ip(&cmd->src_addr)))
		return -EINVAL;
	return resolve_addr(rq, cmd->id, &cmd->src_addr, &cmd->dst_addr, cmd->timeout_ms);
}

int ucma_resolve_addr(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_resolve_addr *cmd = in;
	static const struct sockaddr none = { .sa_family = AF_UNSPEC };

	if (cmd->reserved || (cmd->src_size && cmd->src_size != ucma_addr_size(&cmd->src_addr)) ||
	    !cmd->dst_size || cmd->dst_size != ucma_addr_size(&cmd->dst_addr))
		return -EINVAL;
	return resolve_addr(rq, cmd->id, cmd->src_size ? (const void *)&cmd->src_addr : &none,
			    &cmd->dst_addr, cmd->timeout_ms);
}

int ucma_resolve_route(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_resolve_route *cmd = in;
	int ret = idmap_check(cmd->id, rq->kf);

	return ret ? ret : rq->api->cm_resolve_route(cmd->id, cmd->timeout_ms);
}

/*
 * Gets information about the addresses of an id that is on this channel. On failure, sets all bytes
 * of *info to 0.
 */
static int query_info(const struct ucma_request *rq, uint32_t id, struct rnic_addr_info *info)
{
	int ret = idmap_check(id, rq->kf);

	memset(info, 0, sizeof(*info));
	return ret ? ret : rq->api->cm_query(id, info);
}

/*
 * Fills a path record. The record has the hop limit of routed packets, so that address handles made
 * from the record contain the GID.
 */
static void copy_path(struct ib_user_path_rec *rec, const struct rnic_path *path)
{
	rec->slid = htons(path->slid);
	rec->dlid = htons(path->dlid);
	rec->reversible = 1;
	rec->numb_path = 1;
	rec->pkey = htons(PKEY_DEFAULT);
	rec->hop_limit = PATH_HOP_LIMIT;
	rec->traffic_class = path->traffic_class;
	rec->mtu_selector = rec->rate_selector = rec->packet_life_time_selector = PATH_EXACTLY;
	rec->mtu = path->mtu;
	rec->packet_life_time = PATH_LIFE_TIME;
}

/*
 * Sets ibdev_index, the number of the device in netlink, to all ones. libibverbs has found this
 * device in sysfs, where it has no number, and accepts all ones as any device. A route of iWARP has
 * GIDs, but no path records.
 */
int ucma_query_route(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_query *cmd = in;
	struct rdma_ucm_query_route_resp resp = { 0 };
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
		if (info.path.mtu) {
			resp.num_paths = 1;
			copy_path(&resp.ib_route[0], &info.path);
		}
	}
	return user_write(cmd->response, &resp, ucma_min(rq->out_len, sizeof(resp)));
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
	struct ucma_sockaddr_ib sib = { .family = AF_IB, .pkey = htons(PKEY_DEFAULT) };

	memcpy(sib.gid, info->sgid, sizeof(sib.gid));
	memcpy(&resp->src_addr, &sib, sizeof(sib));
	memcpy(sib.gid, info->dgid, sizeof(sib.gid));
	memcpy(&resp->dst_addr, &sib, sizeof(sib));
	resp->src_size = resp->dst_size = sizeof(sib);
}

int ucma_resolve_ib_service(const struct ucma_request *rq, const void *in)
{
	const struct ucma_resolve_ib_service *cmd = in;
	int ret = ucma_check_bound(rq, cmd->id);

	return ret ? ret : -EOPNOTSUPP;
}

/* Returns no records, since no service is ever resolved. */
static int query_ib_service(const struct ucma_request *rq, uint32_t id)
{
	int ret = idmap_check(id, rq->kf);

	if (ret)
		return ret;
	return rq->out_len < sizeof(struct ucma_query_ib_service_resp) ? -ENOSPC : -ENODATA;
}

int ucma_query(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_query *cmd = in;
	struct rdma_ucm_query_addr_resp resp = { 0 };
	struct rdma_ucm_query_path_resp path = { 0 };
	struct rnic_addr_info info;
	int ret;

	if (cmd->option == UCMA_QUERY_IB_SERVICE)
		return query_ib_service(rq, cmd->id);
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
		return user_write(cmd->response, &path, sizeof(path)); /* no path records */
	copy_device(&resp, &info);
	if (cmd->option == RDMA_USER_CM_QUERY_GID) {
		copy_gids(&resp, &info);
	} else {
		resp.src_size = (uint16_t)copy_addr(&resp.src_addr, &info.src);
		resp.dst_size = (uint16_t)copy_addr(&resp.dst_addr, &info.dst);
	}
	return user_write(cmd->response, &resp, ucma_min(rq->out_len, sizeof(resp)));
}
