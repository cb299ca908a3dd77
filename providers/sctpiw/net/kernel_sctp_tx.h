/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Output to the kernel's SCTP, and what of it is acknowledged. Shard lock. */
#ifndef SCTPIW_NET_KERNEL_SCTP_TX_H
#define SCTPIW_NET_KERNEL_SCTP_TX_H

#include <stdbool.h>
#include <stdint.h>

struct conn;
struct conn_assoc;
struct kernel_sctp_assoc;

/* The association may have something to send. */
void kernel_sctp_ready(struct kernel_sctp_assoc *ka);
/* Takes note if everything is acknowledged, and goes on if that was waited for. */
void kernel_sctp_settle(struct kernel_sctp_assoc *ka);

/* As in struct transport. */
bool kernel_sctp_output(struct conn *c);
void kernel_sctp_doorbell(struct conn_assoc *a);
uint32_t kernel_sctp_acked(struct conn_assoc *a);
bool kernel_sctp_is_drained(const struct conn_assoc *a);

#endif
