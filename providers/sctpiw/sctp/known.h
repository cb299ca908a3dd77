/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Addresses of the same host, as proved by associations: each address has answered a HEARTBEAT with
 * its nonce. A mere list from a peer does not count. The addresses are kept for SCTP_KNOWN_TIME,
 * even after the association has ended. So an INIT that gets no answer at the address that the user
 * names goes to the others (RFC 9260 5.1, 6.4). Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_KNOWN_H
#define SCTPIW_SCTP_KNOWN_H

#include <stdint.h>

#include "sctp/cookie.h"
#include "util/addr.h"
#include "util/list.h"

#define SCTP_KNOWN_ADDRS (1 + SCTP_COOKIE_ALTS) /* addresses kept of a host, the last proved */
#define SCTP_KNOWN_HOSTS 256u			/* hosts kept, the last proved */
#define SCTP_KNOWN_TIME (600 * NSEC_PER_SEC)

/* Part of struct sctp. */
struct sctp_known {
	struct list_node hosts; /* known_host.node, the last proved first */
	unsigned int count;
};

void sctp_known_init(struct sctp_known *k);
void sctp_known_fini(struct sctp_known *k);
/* Stores that n addresses (at most SCTP_KNOWN_ADDRS) belong to one host, if memory allows. */
void sctp_known_learn(struct sctp_known *k, const struct ip_addr *addr, unsigned int n,
		      uint64_t now);
/* Removes an address that its host has lost. */
void sctp_known_forget(struct sctp_known *k, const struct ip_addr *addr);
/*
 * Writes the other addresses of the host that has this one, the last proved first. Returns their
 * number, less than SCTP_KNOWN_ADDRS.
 */
unsigned int sctp_known_others(const struct sctp_known *k, const struct ip_addr *addr, uint64_t now,
			       struct ip_addr *other);

#endif
