/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Node GUIDs of the device, in network byte order. No lock. */
#ifndef SCTPIW_NET_NODE_GUID_H
#define SCTPIW_NET_NODE_GUID_H

#include <stdint.h>

struct netdev_reading;

/*
 * Returns a modified EUI-64 (RFC 4291 appendix A), made from the MAC address of the first Ethernet
 * interface. Returns 0 if there is no such interface.
 */
uint64_t node_guid_of_mac(const struct netdev_reading *r);
/* Returns a locally administered GUID, made from the boot ID, for a host without Ethernet. */
uint64_t node_guid_of_boot(void);
/* Returns the GUID of a process that is `forks` generations of fork() below the owner of guid. */
uint64_t node_guid_of_child(uint64_t guid, uint32_t forks);

#endif
