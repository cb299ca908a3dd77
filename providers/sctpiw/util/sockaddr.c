/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "util/sockaddr.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

/*
 * A caller's address may have the type sockaddr_storage or a shorter type. So these functions only
 * cast the pointer.
 */
static const struct sockaddr_in *in4(const struct sockaddr *addr)
{
	return (const struct sockaddr_in *)(const void *)addr;
}

static const struct sockaddr_in6 *in6(const struct sockaddr *addr)
{
	return (const struct sockaddr_in6 *)(const void *)addr;
}

int sockaddr_check(const struct sockaddr *addr)
{
	return addr->sa_family == AF_INET || addr->sa_family == AF_INET6 ? 0 : -EAFNOSUPPORT;
}

socklen_t sockaddr_len(const struct sockaddr *addr)
{
	return addr->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) :
					     sizeof(struct sockaddr_in);
}

uint16_t sockaddr_port(const struct sockaddr *addr)
{
	return ntohs(addr->sa_family == AF_INET6 ? in6(addr)->sin6_port : in4(addr)->sin_port);
}

void sockaddr_set_port(struct sockaddr *addr, uint16_t port)
{
	if (addr->sa_family == AF_INET6)
		((struct sockaddr_in6 *)(void *)addr)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)(void *)addr)->sin_port = htons(port);
}

bool sockaddr_is_any(const struct sockaddr *addr)
{
	struct ip_addr ip = sockaddr_ip(addr);

	return ip_addr_is_zero(&ip);
}

void sockaddr_copy(struct sockaddr_storage *to, const struct sockaddr *from)
{
	memset(to, 0, sizeof(*to));
	memcpy(to, from, sockaddr_len(from));
}

struct ip_addr sockaddr_ip(const struct sockaddr *addr)
{
	struct ip_addr ip = { 0 };

	if (addr->sa_family == AF_INET)
		return ip_addr_from_v4(&in4(addr)->sin_addr);
	memcpy(ip.b, &in6(addr)->sin6_addr, 16);
	if (ip_addr_is_link_local(&ip))
		ip.scope_id = in6(addr)->sin6_scope_id;
	return ip;
}

socklen_t sockaddr_make(struct sockaddr_storage *to, int family, const struct ip_addr *ip,
			uint16_t port)
{
	memset(to, 0, sizeof(*to));
	if (family == AF_INET) {
		struct sockaddr_in *sin = (struct sockaddr_in *)to;

		sin->sin_family = AF_INET;
		sin->sin_port = htons(port);
		memcpy(&sin->sin_addr, ip->b + 12, 4);
		return sizeof(*sin);
	} else {
		struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)to;

		sin6->sin6_family = AF_INET6;
		sin6->sin6_port = htons(port);
		memcpy(&sin6->sin6_addr, ip->b, 16);
		sin6->sin6_scope_id = ip->scope_id;
		return sizeof(*sin6);
	}
}

void sockaddr_make_natural(struct sockaddr_storage *to, const struct ip_addr *ip, uint16_t port)
{
	sockaddr_make(to, ip_addr_is_v4(ip) ? AF_INET : AF_INET6, ip, port);
}

void sockaddr_any(struct sockaddr_storage *to, int family, uint16_t port)
{
	static const struct ip_addr zero;

	sockaddr_make(to, family, &zero, port);
}

void sockaddr_loopback(struct sockaddr_storage *to, int family, uint16_t port)
{
	struct ip_addr ip = { .b = { [15] = 1 } };

	if (family == AF_INET) {
		struct in_addr lo = { htonl(INADDR_LOOPBACK) };

		ip = ip_addr_from_v4(&lo);
	}
	sockaddr_make(to, family, &ip, port);
}

const char *sockaddr_text(const struct sockaddr *addr, char *buf)
{
	char ip[INET6_ADDRSTRLEN] = "?";

	if (addr->sa_family == AF_INET) {
		inet_ntop(AF_INET, &in4(addr)->sin_addr, ip, sizeof(ip));
		snprintf(buf, SOCKADDR_TEXT, "%s:%u", ip, sockaddr_port(addr));
	} else {
		inet_ntop(AF_INET6, &in6(addr)->sin6_addr, ip, sizeof(ip));
		snprintf(buf, SOCKADDR_TEXT, "[%s]:%u", ip, sockaddr_port(addr));
	}
	return buf;
}

const char *sockaddr_text_ip(const struct ip_addr *ip, uint16_t port, char *buf)
{
	struct sockaddr_storage ss;

	sockaddr_make_natural(&ss, ip, port);
	return sockaddr_text((struct sockaddr *)&ss, buf);
}
