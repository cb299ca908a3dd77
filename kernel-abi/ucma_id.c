/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Commands of RDMA CM that make, destroy and move ids, and set their options. */
#define _GNU_SOURCE
#include "ucma_cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "idmap.h"
#include "libc.h"

#define QPT_RC 2	/* IBV_QPT_RC */
#define QPT_UD 4	/* IBV_QPT_UD */
#define OPTION_MAX 4096 /* bytes; the longest option consists of path records */

int ucma_check_bound(const struct ucma_request *rq, uint32_t id)
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

int ucma_create_id(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_create_id *cmd = in;
	struct rdma_ucm_create_id_resp resp = { 0 };
	uint8_t qp_type;
	struct idmap_node *node;
	uint32_t reported;
	int ret;

	if (rq->out_len < sizeof(resp))
		return -ENOSPC;
	switch (cmd->ps) {
	case RDMA_PS_TCP:
		qp_type = QPT_RC;
		break;
	case RDMA_PS_UDP:
	case RDMA_PS_IPOIB:
		qp_type = QPT_UD;
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

/*
 * The id is removed from the map first: once the RNIC has destroyed it, another thread may get an
 * id with the same number.
 */
int ucma_destroy_id(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_destroy_id *cmd = in;
	struct rdma_ucm_destroy_id_resp resp = { 0 };
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

int ucma_migrate_id(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_migrate_id *cmd = in;
	struct rdma_ucm_migrate_resp resp = { 0 };
	struct kfile *from;
	int ret;

	if (rq->out_len < sizeof(resp))
		return -ENOSPC;
	from = fdtable_get((int)cmd->fd);
	if (!from)
		return libc_fcntl((int)cmd->fd, F_GETFD, 0) < 0 ? -ENOENT : -EINVAL;
	ret = ucma_is_channel(from) && kfile_alive(from) ? idmap_check(cmd->id, from) : -EINVAL;
	if (!ret)
		ret = rq->api->cm_migrate_id(cmd->id, rq->kf->chan, &resp.events_reported);
	if (!ret) {
		idmap_move(cmd->id, from, rq->kf);
		ret = user_write(cmd->response, &resp, sizeof(resp));
	}
	kfile_put(from);
	return ret;
}

int ucma_set_option(const struct ucma_request *rq, const void *in)
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

int ucma_notify(const struct ucma_request *rq, const void *in)
{
	const struct rdma_ucm_notify *cmd = in;
	int ret = ucma_check_bound(rq, cmd->id);

	return ret ? ret : rq->api->cm_notify(cmd->id, cmd->event);
}
