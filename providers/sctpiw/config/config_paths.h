/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The setting paths: which further addresses of this host peers are told of. No lock. */
#ifndef SCTPIW_CONFIG_CONFIG_PATHS_H
#define SCTPIW_CONFIG_CONFIG_PATHS_H

#include <stdbool.h>

#include "util/addr.h"

#define CONFIG_PATHS_MAX 16u /* items of a list */
#define CONFIG_IFNAME_LEN 16u

/* An interface by its name, or the addresses that begin with the first `bits` bits of ip. */
struct config_paths_item {
	char interface[CONFIG_IFNAME_LEN]; /* "": it is a prefix */
	struct ip_addr ip;
	unsigned int bits; /* of the mapped address, if it is one of IPv4 */
};

struct config_paths {
	bool off;	/* none */
	unsigned int n; /* 0: all that lead further than the host, unless off */
	struct config_paths_item item[CONFIG_PATHS_MAX];
};

/*
 * Reads "auto", "off", or addresses, prefixes (ADDRESS/BITS) and names of interfaces with commas between them.
 * false: it is none of that.
 */
bool config_paths_parse(struct config_paths *paths, const char *text);
/* Whether peers may be told of that address of that interface. */
bool config_paths_allow(const struct config_paths *paths, const struct ip_addr *ip,
			const char *interface);

#endif
