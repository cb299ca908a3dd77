/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Node GUIDs of the device, in network byte order. No lock. */
#ifndef SCTPIW_NET_NODE_GUID_H
#define SCTPIW_NET_NODE_GUID_H

#include <stdint.h>

struct netdev_reading;

/*
 * Returns a modified EUI-64 (RFC 4291 appendix A) of the first interface with an Ethernet address,
 * or 0 if none has one.
 */
uint64_t node_guid_of_mac(const struct netdev_reading *r);
/* Returns a GUID of this boot, locally administered, for a host without such an interface. */
uint64_t node_guid_of_boot(void);
/* Returns the GUID of a child, `forks` generations of fork() after the process of guid. */
uint64_t node_guid_of_child(uint64_t guid, uint32_t forks);

#endif
