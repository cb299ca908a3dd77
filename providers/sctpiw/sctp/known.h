/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Groups of addresses that belong to one host. Associations have proved this: each address has
 * answered a HEARTBEAT with its nonce. An address that a peer only lists does not count. A group is
 * kept for SCTP_KNOWN_TIME, even after the association has ended. If an INIT to the address that
 * the user names gets no answer, it is sent to the other addresses of the group (RFC 9260 5.1,
 * 6.4). Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_KNOWN_H
#define SCTPIW_SCTP_KNOWN_H

#include <stdint.h>

#include "sctp/cookie.h"
#include "util/addr.h"
#include "util/list.h"

/* maximum of addresses kept for a host; the least recently proved are dropped */
#define SCTP_KNOWN_ADDRS (1 + SCTP_COOKIE_ALTS)
/* maximum of hosts; the least recently proved are dropped */
#define SCTP_KNOWN_HOSTS 256u
#define SCTP_KNOWN_TIME (600 * NSEC_PER_SEC)

/* Part of struct sctp. */
struct sctp_known {
	struct list_node hosts; /* known_host.node, in the order of the last proof, newest first */
	unsigned int count;
};

void sctp_known_init(struct sctp_known *k);
void sctp_known_fini(struct sctp_known *k);
/* Stores that n addresses (at most SCTP_KNOWN_ADDRS) belong to one host, if memory allows. */
void sctp_known_learn(struct sctp_known *k, const struct ip_addr *addr, unsigned int n,
		      uint64_t now);
/* Removes an address that its host does not have any more. */
void sctp_known_forget(struct sctp_known *k, const struct ip_addr *addr);
/*
 * Writes the other addresses of the host with the address `addr`, in the order of the last proof,
 * newest first. Returns their number, which is less than SCTP_KNOWN_ADDRS.
 */
unsigned int sctp_known_others(const struct sctp_known *k, const struct ip_addr *addr, uint64_t now,
			       struct ip_addr *other);

#endif
