/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The state of an association for tools. This header is separate from sctp.h because the names in
 * sctp.h clash with names in the kernel's headers, which net/ includes.
 */
#ifndef SCTPIW_SCTP_INSPECT_H
#define SCTPIW_SCTP_INSPECT_H

#include <stdbool.h>
#include <stdint.h>

#include "util/addr.h"

struct sctp_assoc;

/* Times are ns, sizes are bytes. */
struct sctp_assoc_info {
	const char *state;  /* name as in RFC 9260 4, for example "ESTABLISHED" */
	unsigned int paths; /* number of the peer's addresses */
	/* The next fields are for the path in use. */
	uint64_t srtt, rttvar; /* 0: not measured yet */
	uint64_t rto;
	uint32_t cwnd;
	uint32_t flight;    /* bytes of DATA chunks sent, neither acknowledged nor lost */
	uint32_t mtu;	    /* path MTU, of whole IP packets, as far as known */
	uint32_t peer_rwnd; /* receive window that the peer advertised last */
	uint32_t rwnd;	    /* receive window that the local side would advertise now */
	/* The next fields count DATA chunks since the association came up. */
	uint64_t lost;	   /* considered lost */
	uint64_t resent;   /* retransmitted, after a loss or as a probe */
	uint64_t timeouts; /* expirations of T3-rtx */
};

#define SCTP_PATHS_INFO_MAX 9u /* maximum number of paths of an association */

struct sctp_path_info {
	struct path_addr addr; /* addr.local is zero if it is not known */
	/*
	 * "in use" (true of several paths if DATA is spread), "standby", "failed", "unconfirmed" or
	 * "unusable"
	 */
	const char *state;
	bool primary;	    /* DATA uses this path whenever it works */
	uint64_t srtt;	    /* ns; 0: not measured yet */
	uint32_t cwnd, mtu; /* bytes, as in struct sctp_assoc_info */
	bool counted;	    /* the next fields are valid */
	uint32_t flight;
	uint64_t sent;	     /* bytes of DATA chunks sent, including retransmissions */
	uint64_t packets;    /* packets sent with DATA */
	uint64_t lost;	     /* DATA chunks considered lost */
	uint64_t received;   /* packets received with DATA */
	unsigned int errors; /* timeouts since the peer last answered on this path */
};

/* Fills in *info. Guarded by the caller's lock. */
void sctp_assoc_inspect(const struct sctp_assoc *a, struct sctp_assoc_info *info);
/* Fills in info[] for all paths. Returns the number of paths. Guarded by the caller's lock. */
unsigned int sctp_assoc_inspect_paths(const struct sctp_assoc *a,
				      struct sctp_path_info info[SCTP_PATHS_INFO_MAX]);

#endif
