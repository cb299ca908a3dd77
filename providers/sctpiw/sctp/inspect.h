/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The state of an association for tools. Not in sctp.h, whose names clash with those of the
 * kernel's headers, which net/ includes.
 */
#ifndef SCTPIW_SCTP_INSPECT_H
#define SCTPIW_SCTP_INSPECT_H

#include <stdbool.h>
#include <stdint.h>

#include "util/addr.h"

struct sctp_assoc;

/* Times are ns, sizes are bytes. */
struct sctp_assoc_info {
	const char *state;  /* as in RFC 9260 4: "ESTABLISHED" */
	unsigned int paths; /* number of the peer's addresses */
	/* The path in use: */
	uint64_t srtt, rttvar; /* 0: not measured yet */
	uint64_t rto;
	uint32_t cwnd;
	uint32_t flight;    /* DATA chunks sent, neither acknowledged nor lost */
	uint32_t mtu;	    /* of whole IP packets, as far as known */
	uint32_t peer_rwnd; /* window that the peer advertised last */
	uint32_t rwnd;	    /* window that this side would advertise now */
	/* DATA chunks since the association came up: */
	uint64_t lost;	   /* considered lost */
	uint64_t resent;   /* sent again, after a loss or as a probe */
	uint64_t timeouts; /* expirations of T3-rtx */
};

#define SCTP_PATHS_INFO_MAX 9u /* maximum of an association */

struct sctp_path_info {
	struct path_addr addr; /* local zero: unknown */
	/* "in use" (several if DATA is spread), "standby", "failed", "unconfirmed" or "unusable" */
	const char *state;
	bool primary;	    /* carries DATA whenever it works */
	uint64_t srtt;	    /* ns; 0: not measured yet */
	uint32_t cwnd, mtu; /* as above */
	bool counted;	    /* the next fields are known */
	uint32_t flight;
	uint64_t sent;	     /* bytes of DATA chunks, with retransmissions */
	uint64_t packets;    /* packets sent with DATA */
	uint64_t lost;	     /* DATA chunks considered lost */
	uint64_t received;   /* packets received with DATA */
	unsigned int errors; /* timeouts since the last answer */
};

/* Fills in *info. Guarded by the caller's lock. */
void sctp_assoc_inspect(const struct sctp_assoc *a, struct sctp_assoc_info *info);
/* The same for each path. Returns the number of paths. */
unsigned int sctp_assoc_inspect_paths(const struct sctp_assoc *a,
				      struct sctp_path_info info[SCTP_PATHS_INFO_MAX]);

#endif
