/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Input from the sockets of the kernel's SCTP. Shard lock. */
#ifndef SCTPIW_NET_KERNEL_SCTP_IN_H
#define SCTPIW_NET_KERNEL_SCTP_IN_H

#include <stdbool.h>

#include "conn/transport.h"

struct conn;
struct kernel_sctp_assoc;

/* A member of struct transport. */
enum conn_received kernel_sctp_receive(struct conn *c, enum conn_depth depth);
/* Sets whether the association waits for room in its socket. */
void kernel_sctp_set_blocked(struct kernel_sctp_assoc *ka, bool blocked);

#endif
