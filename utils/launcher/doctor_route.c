/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Checks the interfaces, and the route to HOST. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "launcher/doctor.h"
#include "launcher/doctor_report.h"
#include "launcher/reach.h"
#include "net/route.h"
#include "net/rtnl.h"
#include "util/sockaddr.h"

#define MTU_LEAST 1280 /* minimum MTU of an IPv6 link */

static void look_at_link(const struct rtnl_link *link, void *arg)
{
	bool up = link->flags & IFF_UP, *outside = arg;

	if (link->flags & IFF_LOOPBACK && !up)
		doctor_warning(
			"ip link set lo up",
			"%s is down: programs of this host do not reach each other at 127.0.0.1",
			link->name);
	if (!up)
		return;
	if (!(link->flags & IFF_LOOPBACK))
		*outside = true;
	doctor_number("mtu", link->mtu);
	if (!(link->flags & IFF_RUNNING))
		doctor_warning("plug in the cable, or set the other end up", "%s has no carrier",
			       link->name);
	else if (link->mtu < MTU_LEAST)
		doctor_warning(
			"set the interface's MTU to 1500 by ip link, or to its link's maximum",
			"%s has an MTU of %u: many small packets, and no IPv6", link->name,
			link->mtu);
	else
		doctor_ok("%s is up, with an MTU of %u", link->name, link->mtu);
}

void doctor_interfaces(struct doctor *d)
{
	const struct config_paths *paths = &d->settings.config.paths;
	bool outside = false;
	int ret = rtnl_links(look_at_link, &outside);

	if (ret)
		doctor_failure(NULL, "the kernel does not list them: %s", strerror(-ret));
	else if (!outside)
		doctor_ok(
			"none is up but lo: programs reach those of this host or container alone");
	for (unsigned int i = 0; d->has_settings && i < paths->n; i++)
		if (*paths->item[i].interface && !if_nametoindex(paths->item[i].interface))
			doctor_warning("ip link lists them",
				       "the setting paths names %s, which is not there",
				       paths->item[i].interface);
}

/* ---- HOST ---- */

void doctor_name(struct doctor *d)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM }, *info;
	char text[SOCKADDR_TEXT];
	struct reach program;
	int error = getaddrinfo(d->host, NULL, &hints, &info);

	if (error) {
		doctor_failure(reach_look(d->host, &program) ?
				       "for a program write --: sctpiw doctor -- CMD" :
				       "name an address, or enter the name in /etc/hosts",
			       "%s: %s", d->host, gai_strerror(error));
		return;
	}
	sockaddr_copy(&d->peer, info->ai_addr);
	sockaddr_set_port((struct sockaddr *)&d->peer, d->port);
	d->has_peer = true;
	freeaddrinfo(info);
	doctor_ok("%s is %s", d->host, sockaddr_text((struct sockaddr *)&d->peer, text));
}

/*
 * Returns the GID of a local address, or NULL if the address has none. For a loopback address
 * without a GID, returns the GID of any address of the same family, since the peer is on this host.
 */
static const struct doctor_gid *gid_of(const struct doctor *d, const struct ip_addr *ip)
{
	const struct doctor_gid *other = NULL;

	for (unsigned int i = 0; i < d->n_gids; i++) {
		if (!memcmp(d->gids[i].ip.b, ip->b, sizeof(ip->b)))
			return &d->gids[i];
		if (!other && ip_addr_is_v4(&d->gids[i].ip) == ip_addr_is_v4(ip))
			other = &d->gids[i];
	}
	return ip_addr_is_loopback(ip) ? other : NULL;
}

void doctor_route(struct doctor *d)
{
	struct sockaddr_storage source;
	const struct doctor_gid *gid;
	char text[INET6_ADDRSTRLEN], name[IF_NAMESIZE] = "an interface";
	struct rtnl_route route = { 0 };
	struct path_addr path = { 0 };
	int ret = route_lookup(NULL, (struct sockaddr *)&d->peer, &source, NULL);

	if (ret) {
		d->has_peer = false;
		doctor_failure("ip route lists the networks that are reached", "no way to %s: %s",
			       d->host, strerror(-ret));
		return;
	}
	path.local = sockaddr_ip((struct sockaddr *)&source);
	path.remote = sockaddr_ip((struct sockaddr *)&d->peer);
	/* Ignores path MTUs that the kernel has learned by ICMP, as the device does. */
	d->mtu = route_mtu(&path);
	if (!rtnl_route(&path, &route) && route.ifindex)
		if_indextoname(route.ifindex, name);
	getnameinfo((struct sockaddr *)&source, sockaddr_len((struct sockaddr *)&source), text,
		    sizeof(text), NULL, 0, NI_NUMERICHOST);
	gid = gid_of(d, &path.local);
	doctor_number("mtu", d->mtu);
	if (gid)
		doctor_number("gid_index", gid->index);
	if (gid)
		doctor_ok("by %s, which takes %u bytes, from %s: GID index %u", name, d->mtu, text,
			  gid->index);
	else
		doctor_warning(
			"sctpiw list shows the GIDs that there are",
			"by %s, which takes %u bytes, from %s, which has no GID: queue pairs "
			"connected out of band do not get there",
			name, d->mtu, text);
}
