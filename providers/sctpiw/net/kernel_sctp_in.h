/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the sockets of the kernel's SCTP give to read, and what becomes of it. Shard lock. */
#ifndef SCTPIW_NET_KERNEL_SCTP_IN_H
#define SCTPIW_NET_KERNEL_SCTP_IN_H

#include <stdbool.h>

#include "conn/transport.h"

struct conn;
struct kernel_sctp_assoc;

/* As in struct transport. */
enum conn_received kernel_sctp_receive(struct conn *c, enum conn_depth depth);
/* Whether the association waits until its socket takes more. */
void kernel_sctp_set_blocked(struct kernel_sctp_assoc *ka, bool blocked);

#endif
