/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The setting `paths`: the additional addresses of this host that peers learn. The functions need
 * no lock.
 */
#ifndef SCTPIW_CONFIG_CONFIG_PATHS_H
#define SCTPIW_CONFIG_CONFIG_PATHS_H

#include <stdbool.h>

#include "util/addr.h"

#define CONFIG_PATHS_MAX 16u /* maximum number of items in the list */
#define CONFIG_IFNAME_LEN 16u

/* An interface name, or a prefix: the first `bits` bits of ip. */
struct config_paths_item {
	char interface[CONFIG_IFNAME_LEN]; /* "": the item is a prefix */
	struct ip_addr ip;
	unsigned int bits; /* prefix length; for IPv4, of the mapped address */
};

struct config_paths {
	bool off;	/* peers learn no additional addresses */
	unsigned int n; /* 0: all addresses except loopback, unless off */
	struct config_paths_item item[CONFIG_PATHS_MAX];
};

/*
 * Parses "auto", "off", or a list of addresses, prefixes (ADDRESS/BITS) and interface names,
 * separated by commas. Returns false if the text is malformed.
 */
bool config_paths_parse(struct config_paths *paths, const char *text);
/* True if peers may learn this address, which the interface has. */
bool config_paths_allow(const struct config_paths *paths, const struct ip_addr *ip,
			const char *interface);

#endif
