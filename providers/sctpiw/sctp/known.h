/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which addresses belong to the same host, as associations have shown: each of them has answered a HEARTBEAT with its
 * nonce. What a peer only lists does not count. It is remembered for SCTP_KNOWN_TIME, also when the association is over,
 * so that an INIT which is not answered at the address that the user names goes to the others (RFC 9260 5.1, 6.4).
 * Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_KNOWN_H
#define SCTPIW_SCTP_KNOWN_H

#include <stdint.h>

#include "sctp/cookie.h"
#include "util/addr.h"
#include "util/list.h"

#define SCTP_KNOWN_ADDRS (1 + SCTP_COOKIE_ALTS) /* of a host; of more, those that were shown last */
#define SCTP_KNOWN_HOSTS 256u			/* of more, those that were heard of last */
#define SCTP_KNOWN_TIME (600 * NSEC_PER_SEC)

/* Part of struct sctp. */
struct sctp_known {
	struct list_node hosts; /* known_host.node, the one that was heard of last first */
	unsigned int count;
};

void sctp_known_init(struct sctp_known *k);
void sctp_known_fini(struct sctp_known *k);
/* These n addresses, at most SCTP_KNOWN_ADDRS, are one host's. Out of memory it is as if nobody had said so. */
void sctp_known_learn(struct sctp_known *k, const struct ip_addr *addr, unsigned int n,
		      uint64_t now);
/* The host has lost that address. */
void sctp_known_forget(struct sctp_known *k, const struct ip_addr *addr);
/*
 * Writes the other addresses of the host that has this one, the one that was shown last first, and returns how many,
 * less than SCTP_KNOWN_ADDRS.
 */
unsigned int sctp_known_others(const struct sctp_known *k, const struct ip_addr *addr, uint64_t now,
			       struct ip_addr *other);

#endif
