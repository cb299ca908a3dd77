/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Commands of RDMA CM for multicast groups. */
#define _GNU_SOURCE
#include "ucma_cmd.h"

#include <errno.h>

#include "idmap.h"

/* The request of a command that joins a group. Two commands have this request. */
struct join {
	uint64_t response;
	uint64_t uid;
	uint32_t id;
	const void *addr;
	bool send_only;
};

/* If the handle cannot be written to the program's memory, the id leaves the group again. */
static int join(const struct ucma_request *rq, const struct join *j)
{
	struct rdma_ucm_create_id_resp resp = { 0 };
	struct sockaddr_storage ip;
	uint32_t reported;
	int ret;

	if (rq->out_len < sizeof(resp))
		return -ENOSPC;
	ret = ucma_check_bound(rq, j->id);
	if (ret)
		return ret;
	ucma_ip_of(j->addr, &ip);
	ret = rq->api->cm_join_mcast(j->id, (struct sockaddr *)&ip, j->uid, j->send_only, &resp.id);
	if (ret)
		return ret;
	ret = user_write(j->response, &resp, sizeof(resp));
	if (ret)
		rq->api->cm_leave_mcast(rq->kf->chan, resp.id, &reported);
	return ret;
}

int ucma_join_ip_mcast(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_join_ip_mcast *cmd = in;
	struct join j = {
		.response = cmd->response,
		.uid = cmd->uid,
		.id = cmd->id,
		.addr = &cmd->addr,
	};

	return ucma_addr_size(&cmd->addr) ? join(rq, &j) : -EINVAL;
}

int ucma_join_mcast(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_join_mcast *cmd = in;
	struct join j = {
		.response = cmd->response,
		.uid = cmd->uid,
		.id = cmd->id,
		.addr = &cmd->addr,
		.send_only = cmd->join_flags == RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER,
	};

	if (!cmd->addr_size || cmd->addr_size != ucma_addr_size(&cmd->addr) ||
	    cmd->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED)
		return -EINVAL;
	return join(rq, &j);
}

int ucma_leave_mcast(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_destroy_id *cmd = in;
	struct rdma_ucm_destroy_id_resp resp = { 0 };
	int ret;

	if (rq->out_len < sizeof(resp))
		return -ENOSPC;
	ret = rq->api->cm_leave_mcast(rq->kf->chan, cmd->id, &resp.events_reported);
	return ret ? ret : user_write(cmd->response, &resp, sizeof(resp));
}
