/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Ports of the kernel's SCTP. Opens and closes endpoints, listeners, associations. Shard lock. */
#ifndef SCTPIW_NET_KERNEL_SCTP_PORT_H
#define SCTPIW_NET_KERNEL_SCTP_PORT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "util/addr.h"

struct conn;
struct conn_assoc;
struct endpoint;
struct kernel_sctp_listener;

/* These functions implement members of struct transport. */
int kernel_sctp_open(struct endpoint *ep, const struct sockaddr *addr, bool v6only);
void kernel_sctp_close(struct endpoint *ep);
void kernel_sctp_forget(struct endpoint *ep);
int kernel_sctp_set_accept(struct endpoint *ep, bool accept);
int kernel_sctp_accept_at(struct endpoint *ep, const struct ip_addr *local);
void kernel_sctp_readdress(struct endpoint *ep);
int kernel_sctp_connect(struct conn_assoc *a, const struct path_addr *to, uint16_t port);

/* Accepts some of the waiting associations. Returns true if others may still wait. */
bool kernel_sctp_accept_some(struct kernel_sctp_listener *l);
/* Resumes listeners that had paused, since descriptors or memory were lacking. */
void kernel_sctp_resume(struct conn *c);

#endif
