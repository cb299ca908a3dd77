/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Ports that rdma_cm ids show to programs, besides those of sockets: ids that share an endpoint
 * have separate ports. No other process of the network namespace shows such a port meanwhile, and
 * no socket of the device is bound to it. A process has a lock for each of its ports on the
 * namespace's file in /proc. One descriptor serves all ports; without ports there is no descriptor.
 * The ports are ephemeral ports of the kernel, as with the kernel's rdma_cm.
 *
 * Without that file, or if other processes have locked all of it, ports are unique only in the
 * process. The caller may hold any lock.
 */
#ifndef SCTPIW_NET_ID_PORT_H
#define SCTPIW_NET_ID_PORT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Takes this port, or if it is 0, a free port other than the last one given back. Returns the port,
 * or 0 if all are taken.
 */
uint16_t id_port_take(uint16_t port);
/* Gives back a port that id_port_take() has returned. */
void id_port_give(uint16_t port);
/* True if a process of this host has taken the port. */
bool id_port_is_taken(uint16_t port);
/* Call this in the child of a fork(): the ports belong to the parent. */
void id_port_forget(void);

#endif
