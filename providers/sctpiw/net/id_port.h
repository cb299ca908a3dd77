/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Ports that rdma_cm ids show to programs, beside those of sockets: ids that share an endpoint have one each. No other
 * process of the host, that is of the network namespace, shows them meanwhile, and none of the device's sockets is bound
 * to them. There is one descriptor for all of them, and none while there are none: the namespace itself, as a file of
 * /proc, on which a process has a lock for each of its ports. The kernel's ephemeral ports are where they come from, as
 * with its own rdma_cm.
 *
 * Where there is no such file, or others have locked all of it, the ports are unique in the process alone. Any lock.
 */
#ifndef SCTPIW_NET_ID_PORT_H
#define SCTPIW_NET_ID_PORT_H

#include <stdbool.h>
#include <stdint.h>

/* Takes this port, or with 0 one that is free, and not the one that was given back last. 0: all are taken. */
uint16_t id_port_take(uint16_t port);
/* Gives back what id_port_take() has returned. */
void id_port_give(uint16_t port);
/* Whether a process of this host has taken the port. */
bool id_port_is_taken(uint16_t port);
/* In the child of a fork(): the ports are its parent's. */
void id_port_forget(void);

#endif
