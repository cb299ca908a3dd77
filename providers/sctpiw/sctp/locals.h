/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Our own addresses, as far as a peer is told of them (RFC 9260 5.1.2), and which of them packets to each
 * of its addresses leave from. A peer answers a packet from an address that it was not told of as that of
 * a stranger, with an ABORT; so nothing leaves from any other. Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_LOCALS_H
#define SCTPIW_SCTP_LOCALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sctp/sctp.h"
#include "wire/sctp_init.h"

struct sctp_path;

#define SCTP_LOCALS_MAX WIRE_SCTP_ADDRS_MAX

/*
 * What the peer was told of. n = 0: nothing but the address that packets of ours come from while the association is set
 * up; then they come from there for good.
 */
struct sctp_locals {
	unsigned int n;
	struct ip_addr addr[SCTP_LOCALS_MAX];
};

/* Asks the user what a peer there may be told of. */
void sctp_locals_ask(const struct sctp_endpoint *ep, const struct path_addr *to,
		     struct sctp_locals *l);
/* A number that is another one for other addresses, most likely; 0: there are none. */
uint32_t sctp_locals_digest(const struct sctp_locals *l);
/* Says them in what INIT or INIT ACK says of us. */
void sctp_locals_tell(const struct sctp_locals *l, struct wire_sctp_init *init);
/* Whether the peer was told of that address, or the association was set up with it. */
bool sctp_locals_has(const struct sctp_assoc *a, const struct ip_addr *local);
/* Whether packets can leave from that address, as far as the user can tell; from zero, which routes fill in, they can. */
bool sctp_locals_is_ours(const struct sctp_assoc *a, const struct ip_addr *local);
/* Whether the user has a way to that path now, as far as he can tell. */
bool sctp_locals_has_way(const struct sctp_assoc *a, const struct sctp_path *path);
/* The path in use is the one that the association is set up with. */
void sctp_locals_begin(struct sctp_assoc *a);
/*
 * Asks the user by which address of ours packets to this path leave now. If that has changed and the peer was told of
 * it, they leave from there from now on. Returns false if there is no way at all; then nothing changes.
 */
bool sctp_locals_choose(struct sctp_assoc *a, struct sctp_path *path);
/* The path has another address of ours than before: if it is in use, the user hears of it (SCTP_EVENT_PATH). */
void sctp_locals_changed(struct sctp_assoc *a, const struct sctp_path *path);

/*
 * Which address of ours an association is told from others by, whose peer has the address of this path: for the primary
 * path it is that which it was set up with, wherever packets leave from by now.
 */
const struct ip_addr *sctp_locals_of(const struct sctp_assoc *a, const struct sctp_path *path);
/* Whether it was set up with these two addresses, as far as they are known. */
bool sctp_locals_is_pair(const struct sctp_assoc *a, const struct path_addr *addr);
/*
 * Whether an INIT from there asks for another association than a. RFC 9260 allows two endpoints one association, but
 * users of ours have one for each pair of addresses that they name (docs/wire.md): either side may ask for a second one
 * before it knows that the first one leads to the same host. So only the pair that it was set up with is a's. That does
 * not hold for peers of another stack, which do not know receipts. receipts: what the INIT says of them.
 */
bool sctp_locals_is_another(const struct sctp_assoc *a, const struct path_addr *from,
			    const struct wire_sctp_receipts *receipts);

#endif
