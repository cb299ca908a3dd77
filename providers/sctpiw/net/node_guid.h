/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* How the device gets its node GUID. Network byte order. No lock. */
#ifndef SCTPIW_NET_NODE_GUID_H
#define SCTPIW_NET_NODE_GUID_H

#include <stdint.h>

struct netdev_reading;

/* A modified EUI-64 (RFC 4291 appendix A) of the first interface that has an Ethernet address; 0: none has. */
uint64_t node_guid_of_mac(const struct netdev_reading *r);
/* For a host without such an interface: a GUID of this boot, locally administered. */
uint64_t node_guid_of_boot(void);
/* The GUID of a child, forks generations of fork() behind the process that guid was made for. */
uint64_t node_guid_of_child(uint64_t guid, uint32_t forks);

#endif
