/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What tools are told of an association. Beside sctp.h, whose names are also those of the kernel's
 * headers, which net/ includes.
 */
#ifndef SCTPIW_SCTP_INSPECT_H
#define SCTPIW_SCTP_INSPECT_H

#include <stdbool.h>
#include <stdint.h>

#include "util/addr.h"

struct sctp_assoc;

/* Times are ns, sizes are bytes. */
struct sctp_assoc_info {
	const char *state;  /* in the words of RFC 9260 4, as "ESTABLISHED" */
	unsigned int paths; /* addresses of the peer */
	/* Of the path in use: */
	uint64_t srtt, rttvar; /* 0: not measured yet */
	uint64_t rto;
	uint32_t cwnd;
	uint32_t flight;    /* DATA chunks that are sent and not acknowledged, nor lost */
	uint32_t mtu;	    /* of whole IP packets, as far as it is known */
	uint32_t peer_rwnd; /* the window that the peer has told last */
	uint32_t rwnd;	    /* the one that this side would tell now */
	/* DATA chunks since it is up: */
	uint64_t lost;	   /* taken for lost */
	uint64_t resent;   /* sent again, be it because of that or to find out (probes) */
	uint64_t timeouts; /* expirations of T3-rtx */
};

#define SCTP_PATHS_INFO_MAX 9u /* paths of an association */

struct sctp_path_info {
	struct path_addr addr; /* local zero: not known */
	/* "in use", as several are if DATA is spread; "standby", "failed", "unconfirmed" or "unusable" */
	const char *state;
	bool primary;	    /* it carries DATA whenever it works */
	uint64_t srtt;	    /* ns; 0: not measured yet */
	uint32_t cwnd, mtu; /* as above */
	bool counted;	    /* what follows is known */
	uint32_t flight;
	uint64_t sent;	     /* bytes of DATA chunks, also more than once */
	uint64_t packets;    /* with DATA sent */
	uint64_t lost;	     /* DATA chunks taken for lost */
	uint64_t received;   /* packets with DATA that came */
	unsigned int errors; /* timeouts since something came back */
};

/* Guarded by the caller's lock. */
void sctp_assoc_inspect(const struct sctp_assoc *a, struct sctp_assoc_info *info);
/* The same for each path. Returns how many there are. */
unsigned int sctp_assoc_inspect_paths(const struct sctp_assoc *a,
				      struct sctp_path_info info[SCTP_PATHS_INFO_MAX]);

#endif
