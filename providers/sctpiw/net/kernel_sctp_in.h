/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Input from the sockets of the kernel's SCTP. Shard lock. */
#ifndef SCTPIW_NET_KERNEL_SCTP_IN_H
#define SCTPIW_NET_KERNEL_SCTP_IN_H

#include <stdbool.h>

#include "conn/transport.h"

struct conn;
struct kernel_sctp_assoc;

/* Implements transport.receive(). */
enum conn_received kernel_sctp_receive(struct conn *c, enum conn_depth depth);
/* Starts or stops waiting for space in the association's send buffer. */
void kernel_sctp_set_blocked(struct kernel_sctp_assoc *ka, bool blocked);

#endif
