/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#define _GNU_SOURCE
#include "conn/multicast.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "conn/carrier.h"
#include "conn/conn.h"
#include "log/log.h"
#include "util/sockaddr.h"

/* An interface on which ids or attached QPs have joined a group. */
struct membership {
	unsigned int ifindex;
	unsigned int ids;
	bool attached;
};

struct multicast_group {
	struct list_node node; /* multicast.groups */
	struct ip_addr ip;     /* if the group is scoped, scope_id is the interface */
	struct endpoint *ep;
	struct membership member[MULTICAST_INTERFACES];
	unsigned int n;
};

void multicast_init(struct multicast *m)
{
	list_init(&m->groups);
}

bool multicast_is_served(const struct conn *c)
{
	return c->transport->watch && c->carrier && c->carrier->join;
}

bool multicast_may_join(struct conn *c)
{
	bool served = multicast_is_served(c);

	if (!served && config_is_sealed(c->config) && !c->multicast.told)
		log_error(
			"no multicast group is joined: groups have no encryption, and this process "
			"has the setting %s",
			*c->config->key ? "key" : "cert");
	c->multicast.told |= !served;
	return served;
}

static void group_free(struct multicast_group *g)
{
	list_del(&g->node);
	endpoint_put(g->ep);
	free(g);
}

void multicast_fini(struct conn *c)
{
	list_for_each_safe(node, &c->multicast.groups)
		group_free(list_entry(node, struct multicast_group, node));
}

static struct ip_addr key(const struct ip_addr *group, unsigned int ifindex)
{
	struct ip_addr ip = *group;

	ip_addr_widen_group(&ip);
	ip.scope_id = ip_addr_is_scoped_group(group) ? ifindex : 0;
	return ip;
}

static struct multicast_group *find(struct conn *c, const struct ip_addr *ip)
{
	list_for_each(node, &c->multicast.groups) {
		struct multicast_group *g = list_entry(node, struct multicast_group, node);

		if (ip_addr_equal(&g->ip, ip))
			return g;
	}
	return NULL;
}

static int group_new(struct conn *c, const struct ip_addr *ip, struct multicast_group **out)
{
	struct multicast_group *g = calloc(1, sizeof(*g));
	struct sockaddr_storage addr;
	int ret;

	if (!g)
		return -ENOMEM;
	sockaddr_make_natural(&addr, ip, MULTICAST_PORT);
	ret = endpoint_open_group(c, (struct sockaddr *)&addr, &g->ep);
	if (ret) {
		free(g);
		if (ret == -EADDRINUSE)
			log_error(
				"UDP port %u is taken, and multicast needs it: end the process that has it (see 'ss -uanp sport = :%u')",
				MULTICAST_PORT, MULTICAST_PORT);
		return ret;
	}
	g->ip = *ip;
	list_add_tail(&c->multicast.groups, &g->node);
	*out = g;
	return 0;
}

/* Finds the entry of this interface, or joins the group there. Returns 0 or -errno. */
static int member_get(struct conn *c, struct multicast_group *g, unsigned int ifindex,
		      struct membership **out)
{
	struct membership *m;
	int ret;

	for (m = g->member; m < g->member + g->n; m++) {
		if (m->ifindex == ifindex) {
			*out = m;
			return 0;
		}
	}
	if (g->n == MULTICAST_INTERFACES)
		return -ENOMEM;
	ret = c->carrier->join(g->ep, &g->ip, ifindex, true);
	if (ret)
		return ret == -ENOBUFS ? -ENOMEM : ret;
	*m = (struct membership){ .ifindex = ifindex };
	g->n++;
	*out = m;
	return 0;
}

/* Leaves the group on unused interfaces. Frees the group if no interface remains. */
static void group_tidy(struct conn *c, struct multicast_group *g)
{
	for (unsigned int i = 0; i < g->n;) {
		const struct membership *m = &g->member[i];

		if (m->ids || m->attached) {
			i++;
			continue;
		}
		c->carrier->join(g->ep, &g->ip, m->ifindex, false);
		g->member[i] = g->member[--g->n];
	}
	if (!g->n)
		group_free(g);
}

/* Finds or makes the group's entry for this interface. Returns 0 or -errno. */
static int reserve(struct conn *c, const struct ip_addr *group, unsigned int ifindex,
		   struct multicast_group **g, struct membership **m)
{
	struct ip_addr ip = key(group, ifindex);
	int ret = 0;

	if (!multicast_is_served(c))
		return -EOPNOTSUPP;
	*g = find(c, &ip);
	if (!*g)
		ret = group_new(c, &ip, g);
	if (ret)
		return ret;
	ret = member_get(c, *g, ifindex, m);
	if (ret)
		group_tidy(c, *g);
	return ret;
}

int multicast_join(struct conn *c, const struct ip_addr *group, unsigned int ifindex)
{
	struct multicast_group *g;
	struct membership *m;
	int ret = reserve(c, group, ifindex, &g, &m);

	if (!ret)
		m->ids++;
	return ret;
}

void multicast_leave(struct conn *c, const struct ip_addr *group, unsigned int ifindex)
{
	struct ip_addr ip = key(group, ifindex);
	struct multicast_group *g = find(c, &ip);

	for (unsigned int i = 0; g && i < g->n; i++) {
		if (g->member[i].ifindex == ifindex && g->member[i].ids) {
			g->member[i].ids--;
			group_tidy(c, g);
			return;
		}
	}
}

/*
 * Compares without the scope, since a scoped group has one struct multicast_group for each
 * interface.
 */
static bool is_group(const struct multicast_group *g, const struct ip_addr *group)
{
	return !memcmp(g->ip.b, group->b, sizeof(group->b));
}

unsigned int multicast_interfaces(const struct conn *c, const struct ip_addr *group,
				  unsigned int ifindexes[MULTICAST_INTERFACES])
{
	unsigned int n = 0;

	list_for_each(node, &c->multicast.groups) {
		const struct multicast_group *g = list_entry(node, struct multicast_group, node);

		for (unsigned int i = 0; is_group(g, group) && i < g->n && n < MULTICAST_INTERFACES;
		     i++)
			ifindexes[n++] = g->member[i].ifindex;
	}
	return n;
}

int multicast_attach(struct conn *c, const struct ip_addr *group, const unsigned int *ifindexes,
		     unsigned int n)
{
	struct multicast_group *g;
	struct membership *m;
	int ret = multicast_is_served(c) ? -ENODEV : -EOPNOTSUPP;
	bool any = false;

	list_for_each(node, &c->multicast.groups) {
		g = list_entry(node, struct multicast_group, node);
		if (!is_group(g, group))
			continue;
		/* Keep the interfaces for the QPs, even after the ids leave. */
		for (unsigned int i = 0; i < g->n; i++)
			g->member[i].attached = true;
		any = true;
	}
	if (any)
		return 0;
	for (unsigned int i = 0; i < n; i++) {
		ret = reserve(c, group, ifindexes[i], &g, &m);
		if (ret)
			continue;
		m->attached = true;
		any = true;
	}
	return any ? 0 : ret;
}

void multicast_detach(struct conn *c, const struct ip_addr *group)
{
	list_for_each_safe(node, &c->multicast.groups) {
		struct multicast_group *g = list_entry(node, struct multicast_group, node);

		if (!is_group(g, group))
			continue;
		for (unsigned int i = 0; i < g->n; i++)
			g->member[i].attached = false;
		group_tidy(c, g);
	}
}
