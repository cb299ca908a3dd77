/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "iwarp/iw_mcast.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "iwarp/iw_ud.h"
#include "iwarp/shard.h"
#include "wire/datagram.h"

struct iw_mcast_group {
	struct list_node node; /* iw_mcast_table.bucket */
	struct ip_addr ip;     /* the scope is ignored */
	struct list_node members;
	unsigned int n;
};

struct member {
	struct list_node node; /* iw_mcast_group.members */
	struct iw_qp *qp;
};

void iw_mcast_init(struct iw_mcast_table *t)
{
	t->groups = 0;
	for (unsigned int i = 0; i < IW_MCAST_BUCKETS; i++)
		list_init(&t->bucket[i]);
}

/* Hashes the last octets of the address, because the groups of programs differ there. */
static struct list_node *bucket_of(struct iw_shard *shard, const struct ip_addr *ip)
{
	unsigned int hash = ip->b[12] ^ ip->b[13] ^ ip->b[14] ^ ip->b[15];

	return &shard->mcast.bucket[hash % IW_MCAST_BUCKETS];
}

static struct iw_mcast_group *find(struct iw_shard *shard, const struct ip_addr *ip)
{
	list_for_each(node, bucket_of(shard, ip)) {
		struct iw_mcast_group *g = list_entry(node, struct iw_mcast_group, node);

		if (!memcmp(g->ip.b, ip->b, sizeof(ip->b)))
			return g;
	}
	return NULL;
}

static struct member *find_member(const struct iw_mcast_group *g, const struct iw_qp *qp)
{
	list_for_each(node, &g->members) {
		struct member *m = list_entry(node, struct member, node);

		if (m->qp == qp)
			return m;
	}
	return NULL;
}

static struct iw_mcast_group *group_new(struct iw_shard *shard, const struct ip_addr *ip)
{
	struct iw_mcast_group *g;

	if (shard->mcast.groups >= IW_MAX_MCAST_GRP)
		return NULL;
	g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	g->ip = *ip;
	list_init(&g->members);
	list_add_tail(bucket_of(shard, ip), &g->node);
	shard->mcast.groups++;
	return g;
}

static void group_free_if_empty(struct iw_shard *shard, struct iw_mcast_group *g)
{
	if (g->n)
		return;
	list_del(&g->node);
	shard->mcast.groups--;
	free(g);
}

int iw_mcast_attach(struct iw_qp *qp, const struct ip_addr *group, bool *first)
{
	struct iw_mcast_group *g = find(qp->shard, group);
	struct member *m;

	*first = false;
	if (qp->type != IW_QPT_UD)
		return -EINVAL;
	if (g && find_member(g, qp))
		return 0;
	if (g && g->n >= IW_MAX_MCAST_QP_ATTACH)
		return -ENOMEM;
	m = malloc(sizeof(*m));
	if (!m)
		return -ENOMEM;
	if (!g)
		g = group_new(qp->shard, group);
	if (!g) {
		free(m);
		return -ENOMEM;
	}
	m->qp = qp;
	list_add_tail(&g->members, &m->node);
	*first = !g->n++;
	qp->groups++;
	return 0;
}

int iw_mcast_detach(struct iw_qp *qp, const struct ip_addr *group, bool *last)
{
	struct iw_mcast_group *g = find(qp->shard, group);
	struct member *m = g ? find_member(g, qp) : NULL;

	*last = false;
	if (!m)
		return -EINVAL;
	list_del(&m->node);
	free(m);
	*last = !--g->n;
	qp->groups--;
	group_free_if_empty(qp->shard, g);
	return 0;
}

bool iw_mcast_detach_any(struct iw_qp *qp, struct ip_addr *group, bool *last)
{
	for (unsigned int i = 0; qp->groups && i < IW_MCAST_BUCKETS; i++) {
		list_for_each(node, &qp->shard->mcast.bucket[i]) {
			const struct iw_mcast_group *g =
				list_entry(node, struct iw_mcast_group, node);

			if (!find_member(g, qp))
				continue;
			*group = g->ip;
			return !iw_mcast_detach(qp, group, last);
		}
	}
	return false;
}

void iw_mcast_receive(struct iw_shard *shard, const struct wire_ud *u, const struct ip_addr *group,
		      const struct ip_addr *remote, bool own)
{
	const struct iw_mcast_group *g = find(shard, group);

	if (!g) {
		iw_ud_stats(shard)->no_qp++;
		return;
	}
	list_for_each(node, &g->members) {
		struct iw_qp *qp = list_entry(node, struct member, node)->qp;

		if (!(own && qp->blocks_own && qp->num == u->src_qp))
			iw_ud_offer(qp, u, group, remote);
	}
}
