/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "verbs/mcast.h"

#include <errno.h>
#include <string.h>

#include "iwarp/iw_mcast.h"
#include "net/port.h"
#include "runtime/rnic.h"
#include "verbs/context.h"
#include "verbs/qp.h"

/* Finds the interfaces that have a GID of the group's address family. Returns their number. */
static unsigned int interfaces(const struct ip_addr *group, unsigned int *ifindexes)
{
	unsigned int n = 0, seen;

	for (unsigned int i = 0; i < GID_TABLE_LEN && n < MULTICAST_INTERFACES; i++) {
		struct ip_addr ip = { 0 };
		struct port_gid gid;

		if (port_gid(i, &gid))
			continue;
		memcpy(ip.b, gid.raw, sizeof(ip.b));
		for (seen = 0; seen < n && ifindexes[seen] != gid.ifindex; seen++)
			;
		if (seen == n && ip_addr_is_v4(&ip) == ip_addr_is_v4(group))
			ifindexes[n++] = gid.ifindex;
	}
	return n;
}

static int attach(struct sctpiw_qp *qp, const struct ip_addr *group)
{
	struct conn *c = &object_shard(&qp->obj)->conn;
	/* an id of RDMA CM in this conn may have joined the group */
	struct conn *ids = &object_shard(&qp->obj)->rnic->shard.conn;
	unsigned int ifindexes[MULTICAST_INTERFACES];
	unsigned int n = c == ids ? 0 : multicast_interfaces(ids, group, ifindexes);
	bool first, last;
	int ret;

	if (!multicast_may_join(c))
		return -EOPNOTSUPP;
	if (!n)
		n = interfaces(group, ifindexes);
	ret = iw_mcast_attach(qp->iw, group, &first);
	if (!ret && first) {
		ret = multicast_attach(c, group, ifindexes, n);
		if (ret)
			iw_mcast_detach(qp->iw, group, &last);
	}
	return ret;
}

int sctpiw_attach_mcast(struct ibv_qp *ibqp, const union ibv_gid *gid, uint16_t lid)
{
	struct sctpiw_qp *qp = to_qp(ibqp);
	struct ip_addr group = { 0 };
	int ret;

	if (qp->generation != sctpiw_generation)
		return sctpiw_inherited();
	memcpy(group.b, gid->raw, sizeof(group.b));
	ip_addr_widen_group(&group);
	if (!ip_addr_is_multicast(&group) || ibqp->qp_type != IBV_QPT_UD)
		return EINVAL;
	object_lock_all(&qp->obj);
	ret = attach(qp, &group);
	object_unlock_all(&qp->obj);
	return -ret;
}

int sctpiw_detach_mcast(struct ibv_qp *ibqp, const union ibv_gid *gid, uint16_t lid)
{
	struct sctpiw_qp *qp = to_qp(ibqp);
	struct ip_addr group = { 0 };
	bool last;
	int ret;

	if (qp->generation != sctpiw_generation)
		return sctpiw_inherited();
	memcpy(group.b, gid->raw, sizeof(group.b));
	ip_addr_widen_group(&group);
	object_lock(&qp->obj);
	ret = iw_mcast_detach(qp->iw, &group, &last);
	if (last)
		multicast_detach(&object_shard(&qp->obj)->conn, &group);
	object_unlock(&qp->obj);
	return -ret;
}
