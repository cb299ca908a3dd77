/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "conn/user_sctp_paths.h"

#include "conn/conn.h"
#include "sctp/sctp.h"

const struct path_addr *user_sctp_addr(const struct conn_assoc *a)
{
	return sctp_assoc_addr(a->state);
}

bool user_sctp_is_between(const struct conn_assoc *a, const struct path_addr *to)
{
	return sctp_assoc_is_between(a->state, to);
}

bool user_sctp_has_address(const struct conn_assoc *a, const struct ip_addr *remote)
{
	return sctp_assoc_has_address(a->state, remote);
}

enum sctp_path_use user_sctp_path_use(const struct conn_assoc *a, const struct path_addr *to)
{
	return sctp_assoc_path_use(a->state, to);
}

void user_sctp_prefer(const struct conn_assoc *a, const struct path_addr *to)
{
	sctp_assoc_prefer(a->state, to, a->ep->conn->now);
}

unsigned int user_sctp_inspect_paths(const struct conn_assoc *a, struct sctp_path_info *info)
{
	return sctp_assoc_inspect_paths(a->state, info);
}
