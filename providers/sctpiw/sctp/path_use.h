/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef SCTPIW_SCTP_PATH_USE_H
#define SCTPIW_SCTP_PATH_USE_H

/* How an association uses a pair of addresses. */
enum sctp_path_use {
	SCTP_PATH_NONE,	   /* not at all, or the path does not work */
	SCTP_PATH_STANDBY, /* works, but is not in use; may carry DATA if DATA is spread */
	SCTP_PATH_IN_USE,
};

#endif
