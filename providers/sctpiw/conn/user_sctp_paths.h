/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Functions of struct transport about the addresses of associations, for user_sctp.c. Callers hold
 * the shard's lock.
 */
#ifndef SCTPIW_CONN_USER_SCTP_PATHS_H
#define SCTPIW_CONN_USER_SCTP_PATHS_H

#include "conn/transport.h"
#include "sctp/inspect.h"

const struct path_addr *user_sctp_addr(const struct conn_assoc *a);
bool user_sctp_is_between(const struct conn_assoc *a, const struct path_addr *to);
bool user_sctp_has_address(const struct conn_assoc *a, const struct ip_addr *remote);
enum sctp_path_use user_sctp_path_use(const struct conn_assoc *a, const struct path_addr *to);
void user_sctp_prefer(const struct conn_assoc *a, const struct path_addr *to);
unsigned int user_sctp_inspect_paths(const struct conn_assoc *a, struct sctp_path_info *info);

#endif
