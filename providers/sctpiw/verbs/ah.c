/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "verbs/ah.h"

#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>

#include "log/log.h"
#include "net/port.h"
#include "net/route.h"
#include "runtime/rnic.h"
#include "util/sockaddr.h"
#include "verbs/context.h"
#include "verbs/domain.h"

#define FLOW_LABEL 0xfffffu
/*
 * Hop limits that replace a hop limit of 0, with which no packet would leave the link. By default,
 * datagrams to a multicast group stay on the link, as in IP.
 */
#define HOP_LIMIT 64
#define HOP_LIMIT_GROUP 1

bool sctpiw_ah_is_valid(const struct ibv_ah_attr *attr, enum config_personality personality)
{
	return attr->port_num == 1 && (attr->is_global || (personality == CONFIG_IB && attr->dlid));
}

/*
 * Finds the address of a LID, which is the low 16 bits of that address. Takes the other bits from a
 * local address, since there is no subnet manager that could be queried.
 */
static int resolve_lid(uint16_t lid, struct port_gid *from, struct ip_addr *remote)
{
	if (port_first_gid(from)) {
		log_error("there is no address that LID %u could be resolved with", lid);
		return EINVAL;
	}
	*remote = sockaddr_ip((const struct sockaddr *)&from->addr);
	remote->b[14] = (uint8_t)(lid >> 8);
	remote->b[15] = (uint8_t)lid;
	return 0;
}

void sctpiw_ah_complain(const char *whose, const struct ibv_ah_attr *attr)
{
	if (attr->is_global)
		return;
	log_error(
		"%s is given without a GID: give the program a GID index (often -g or -x; 'sctpiw list' shows them), on both hosts; a program without such an option, such as qperf, needs --personality ib",
		whose);
}

/*
 * True if packets can be sent from one address to the other. A loopback address stands for any
 * address of this host.
 */
static bool is_possible(const struct ibv_ah_attr *attr, const struct port_gid *from,
			const struct ip_addr *remote)
{
	struct ip_addr local = sockaddr_ip((const struct sockaddr *)&from->addr);

	if (ip_addr_is_loopback(remote))
		return true;
	if (ip_addr_is_zero(remote)) {
		log_error(
			"the GID of the peer is ::, which no host has: give its program a GID index, too");
		return false;
	}
	if (ip_addr_is_v4(remote) == ip_addr_is_v4(&local))
		return true;
	log_error(
		"the GID of the peer is of %s, and the GID of index %u here is not: take GID indexes of one family of IP on both hosts; 'sctpiw list' shows them",
		ip_addr_is_v4(remote) ? "IPv4" : "IPv6", attr->grh.sgid_index);
	return false;
}

static void take_dgid(const struct ibv_ah_attr *attr, struct ip_addr *remote)
{
	*remote = (struct ip_addr){ 0 };
	memcpy(remote->b, attr->grh.dgid.raw, sizeof(remote->b));
	ip_addr_widen_group(remote);
}

int sctpiw_ah_remote(const struct ibv_ah_attr *attr, struct ip_addr *remote)
{
	struct port_gid from;

	if (!attr->is_global)
		return resolve_lid(attr->dlid, &from, remote);
	take_dgid(attr, remote);
	return 0;
}

int sctpiw_ah_resolve(const struct ibv_ah_attr *attr, struct port_gid *from, struct ip_addr *remote)
{
	if (!attr->is_global)
		return resolve_lid(attr->dlid, from, remote);
	if (port_gid(attr->grh.sgid_index, from)) {
		log_error(
			"there is no GID with the index %u: 'sctpiw list' shows those of this host",
			attr->grh.sgid_index);
		return EINVAL;
	}
	take_dgid(attr, remote);
	return is_possible(attr, from, remote) ? 0 : EINVAL;
}

/*
 * Checks the route of datagrams to an IPv6 group on the interface lo. By default, lo has no such
 * route, unlike other interfaces, and the kernel would drop the packets silently. Returns 0 or an
 * errno.
 */
static int check_group(const struct ip_addr *group, unsigned int ifindex)
{
	char text[SOCKADDR_TEXT], name[IF_NAMESIZE];
	int ret = route_to_group(group, ifindex);

	if (ret && if_indextoname(ifindex, name))
		log_error("no route to the group %s by %s (%s): take a GID of another interface",
			  sockaddr_text_ip(group, MULTICAST_PORT, text), name, strerror(-ret));
	return -ret;
}

/* Returns 0 or an errno. */
static int fill(struct iw_ud_dest *dest, const struct ibv_ah_attr *attr,
		enum config_personality personality)
{
	const struct ibv_global_route *grh = &attr->grh;
	struct port_gid gid;
	int err;

	if (!sctpiw_ah_is_valid(attr, personality)) {
		sctpiw_ah_complain("the destination of an address handle", attr);
		log_debug("create_ah: port %u, %s", attr->port_num,
			  attr->is_global ? "with a GID" : "without a GID");
		return EINVAL;
	}
	if (sctpiw_ah_resolve(attr, &gid, &dest->remote))
		return EINVAL;
	dest->local = sockaddr_ip((const struct sockaddr *)&gid.addr);
	/*
	 * rdma_cm accepts a loopback address as the destination. But packets must have a GID of the
	 * port as their source, since the receiver looks their source up among the GIDs to answer.
	 */
	if (ip_addr_is_loopback(&dest->remote))
		dest->remote = dest->local;
	if (ip_addr_is_link_local(&dest->remote) || ip_addr_is_scoped_group(&dest->remote))
		dest->remote.scope_id = gid.ifindex;
	/*
	 * Datagrams to an IPv6 group are sent on the named interface, not on the interface that has
	 * their source address.
	 */
	if (ip_addr_is_multicast(&dest->remote) && !ip_addr_is_v4(&dest->remote)) {
		dest->local.scope_id = gid.ifindex;
		err = ip_addr_is_loopback(&dest->local) ? check_group(&dest->remote, gid.ifindex) :
							  0;
		if (err)
			return err;
	}
	dest->hop_limit = ip_addr_is_multicast(&dest->remote) ? HOP_LIMIT_GROUP : HOP_LIMIT;
	if (!attr->is_global)
		return 0;
	dest->class_flow = (uint32_t)grh->traffic_class << 20 | (grh->flow_label & FLOW_LABEL);
	if (grh->hop_limit)
		dest->hop_limit = grh->hop_limit;
	return 0;
}

struct ibv_ah *sctpiw_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
	struct sctpiw_ah *ah = calloc(1, sizeof(*ah));
	int err = ENOMEM;

	if (ah)
		err = fill(&ah->dest, attr, to_ctx(pd->context)->shard->rnic->config.personality);

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
