/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "config/config_paths.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define V4_MAPPED_BITS 96u /* bits before the IPv4 address in a mapped address */

/* Parses an address. Sets *bits to 128, the prefix length for a single address. */
static bool address(const char *text, struct ip_addr *ip, unsigned int *bits)
{
	uint8_t v4[4];

	memset(ip, 0, sizeof(*ip));
	*bits = 128;
	if (inet_pton(AF_INET, text, v4) != 1)
		return inet_pton(AF_INET6, text, ip->b) == 1;
	*ip = ip_addr_from_v4(v4);
	return true;
}

/* Parses the prefix length after a slash. Sets *bits to the prefix length plus `before`. */
static bool prefix(const char *text, unsigned int before, unsigned int *bits)
{
	size_t len = strlen(text);
	unsigned long n;

	if (!len || len > 3 || strspn(text, "0123456789") != len)
		return false;
	n = strtoul(text, NULL, 10) + before;
	*bits = (unsigned int)n;
	return n <= 128;
}

/* Accepts interface names, except for names that are more likely mistyped addresses. */
static bool is_name(const char *text)
{
	return *text && strlen(text) < CONFIG_IFNAME_LEN && !strpbrk(text, "/: \t") &&
	       strspn(text, "0123456789.") != strlen(text);
}

static bool item(struct config_paths_item *i, char *text)
{
	char *slash = strchr(text, '/');

	memset(i, 0, sizeof(*i));
	if (slash)
		*slash = 0;
	if (address(text, &i->ip, &i->bits))
		return !slash ||
		       prefix(slash + 1, ip_addr_is_v4(&i->ip) ? V4_MAPPED_BITS : 0, &i->bits);
	if (slash || !is_name(text) || !strcmp(text, "auto") || !strcmp(text, "off"))
		return false;
	strcpy(i->interface, text);
	return true;
}

bool config_paths_parse(struct config_paths *paths, const char *text)
{
	struct config_paths p = { .off = !strcmp(text, "off") };
	char copy[CONFIG_PATHS_MAX * (INET6_ADDRSTRLEN + 5)];
	char *rest = copy, *one;

	if (strlen(text) >= sizeof(copy))
		return false;
	strcpy(copy, text);
	while (!p.off && strcmp(text, "auto") && (one = strsep(&rest, ","))) {
		if (p.n == CONFIG_PATHS_MAX || !item(&p.item[p.n++], one))
			return false;
	}
	*paths = p;
	return true;
}

static bool has_prefix(const struct ip_addr *ip, const struct config_paths_item *i)
{
	unsigned int bytes = i->bits / 8, rest = i->bits % 8;

	return ip_addr_is_v4(ip) == ip_addr_is_v4(&i->ip) && !memcmp(ip->b, i->ip.b, bytes) &&
	       (!rest || !((ip->b[bytes] ^ i->ip.b[bytes]) >> (8 - rest)));
}

bool config_paths_allow(const struct config_paths *paths, const struct ip_addr *ip,
			const char *interface)
{
	unsigned int i;

	for (i = 0; i < paths->n; i++) {
		const struct config_paths_item *it = &paths->item[i];

		if (*it->interface ? !strcmp(it->interface, interface) : has_prefix(ip, it))
			return true;
	}
	return !paths->off && !paths->n;
}
