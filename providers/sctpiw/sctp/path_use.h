/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#ifndef SCTPIW_SCTP_PATH_USE_H
#define SCTPIW_SCTP_PATH_USE_H

/* What a pair of addresses is for an association. */
enum sctp_path_use {
	SCTP_PATH_NONE, /* no path of its, or one that does not work */
	SCTP_PATH_STANDBY, /* it works, and is not in use, but perhaps beside the one that is (multipath) */
	SCTP_PATH_IN_USE,
};

#endif
