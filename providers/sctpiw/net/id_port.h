/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Port numbers that rdma_cm ids show to programs but that have no socket, since several ids share
 * an endpoint. No other process of the network namespace uses such a port at the same time, and no
 * socket of the device is bound to it. To reserve a port, a process locks a byte of the namespace's
 * file in /proc. One descriptor of that file serves all ports; it is closed when the process has no
 * port. The ports are from the kernel's range of ephemeral ports, as with the kernel's rdma_cm.
 *
 * Ports are unique only in the process if that file is not available, or if other processes have
 * locked too many bytes. The caller may hold any lock.
 */
#ifndef SCTPIW_NET_ID_PORT_H
#define SCTPIW_NET_ID_PORT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Reserves this port, or a free one if port is 0. A free port is not the one given back last.
 * Returns the port, or 0 if no port is free.
 */
uint16_t id_port_take(uint16_t port);
/* Gives back a port that id_port_take() has returned. */
void id_port_give(uint16_t port);
/* True if a process of this network namespace has reserved the port. */
bool id_port_is_taken(uint16_t port);
/* Call this in the child of a fork(), since the ports belong to the parent. */
void id_port_forget(void);

#endif
