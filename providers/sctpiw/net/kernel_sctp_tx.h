/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Sends messages through the kernel's SCTP and tracks their acknowledgement. Shard lock. */
#ifndef SCTPIW_NET_KERNEL_SCTP_TX_H
#define SCTPIW_NET_KERNEL_SCTP_TX_H

#include <stdbool.h>
#include <stdint.h>

struct conn;
struct conn_assoc;
struct kernel_sctp_assoc;

/* Call this when the association may have output. */
void kernel_sctp_ready(struct kernel_sctp_assoc *ka);
/* Checks whether all messages are acknowledged. If so, resumes output that has waited for this. */
void kernel_sctp_settle(struct kernel_sctp_assoc *ka);

/* These functions implement members of struct transport. */
bool kernel_sctp_output(struct conn *c);
void kernel_sctp_doorbell(struct conn_assoc *a);
uint32_t kernel_sctp_acked(struct conn_assoc *a);
bool kernel_sctp_is_drained(const struct conn_assoc *a);

#endif
