/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Output to the kernel's SCTP, and its acknowledgement. Shard lock. */
#ifndef SCTPIW_NET_KERNEL_SCTP_TX_H
#define SCTPIW_NET_KERNEL_SCTP_TX_H

#include <stdbool.h>
#include <stdint.h>

struct conn;
struct conn_assoc;
struct kernel_sctp_assoc;

/* Notes that the association may have output. */
void kernel_sctp_ready(struct kernel_sctp_assoc *ka);
/* Checks if everything is acknowledged, and resumes output that waits for this. */
void kernel_sctp_settle(struct kernel_sctp_assoc *ka);

/* Members of struct transport. */
bool kernel_sctp_output(struct conn *c);
void kernel_sctp_doorbell(struct conn_assoc *a);
uint32_t kernel_sctp_acked(struct conn_assoc *a);
bool kernel_sctp_is_drained(const struct conn_assoc *a);

#endif
