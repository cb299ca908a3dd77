/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "verbs/ah.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/log.h"
#include "net/port.h"
#include "util/sockaddr.h"
#include "verbs/context.h"
#include "verbs/domain.h"

#define FLOW_LABEL 0xfffffu
/* For those who leave it at 0, with which no packet would come far; a group is the link's then, as in IP. */
#define HOP_LIMIT 64
#define HOP_LIMIT_GROUP 1

/* 0 or an errno. */
static int fill(struct iw_ud_dest *dest, const struct ibv_ah_attr *attr)
{
	const struct ibv_global_route *grh = &attr->grh;
	struct port_gid gid;

	if (attr->port_num != 1 || !attr->is_global || port_gid(grh->sgid_index, &gid)) {
		log_debug("create_ah: port %u, GID index %u, %s", attr->port_num, grh->sgid_index,
			  attr->is_global ? "with a GID" : "without a GID");
		return EINVAL;
	}
	dest->local = sockaddr_ip((const struct sockaddr *)&gid.addr);
	memcpy(dest->remote.b, grh->dgid.raw, sizeof(dest->remote.b));
	if (ip_addr_is_zero(&dest->remote) ||
	    ip_addr_is_v4(&dest->remote) != ip_addr_is_v4(&dest->local))
		return EINVAL;
	if (ip_addr_is_link_local(&dest->remote) || ip_addr_is_scoped_group(&dest->remote))
		dest->remote.scope_id = gid.ifindex;
	/* What goes to a group of IPv6 leaves by the interface that is named with it, not by that of its source. */
	if (ip_addr_is_multicast(&dest->remote) && !ip_addr_is_v4(&dest->remote))
		dest->local.scope_id = gid.ifindex;
	dest->class_flow = (uint32_t)grh->traffic_class << 20 | (grh->flow_label & FLOW_LABEL);
	dest->hop_limit = grh->hop_limit		      ? grh->hop_limit :
			  ip_addr_is_multicast(&dest->remote) ? HOP_LIMIT_GROUP :
								HOP_LIMIT;
	return 0;
}

struct ibv_ah *sctpiw_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct sctpiw_ah *ah = calloc(1, sizeof(*ah));
	int err = ah ? fill(&ah->dest, attr) : ENOMEM;

	if (err) {
		free(ah);
		errno = err;
		return NULL;
	}
	ah->ibv.context = pd->context;
	ah->ibv.pd = pd;
	ah->ibv.handle = sctpiw_new_handle();
	return &ah->ibv;
}

int sctpiw_destroy_ah(struct ibv_ah *ah)
{
	free(to_ah(ah));
	return 0;
}
