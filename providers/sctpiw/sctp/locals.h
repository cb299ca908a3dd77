/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The local addresses announced to a peer (RFC 9260 5.1.2), and the source addresses of packets to
 * each of the peer's addresses. A peer answers packets from other addresses with an ABORT, as out
 * of the blue. So packets leave only from announced addresses. Guarded by the caller's lock.
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
 * The announced addresses. If n is 0, the peer knows only the source address of the setup, and all
 * packets leave from there.
 */
struct sctp_locals {
	unsigned int n;
	struct ip_addr addr[SCTP_LOCALS_MAX];
};

/* Gets from the user (ops.addresses) the addresses that a peer there may know. */
void sctp_locals_ask(const struct sctp_endpoint *ep, const struct path_addr *to,
		     struct sctp_locals *l);
/* Returns a digest that most likely differs for other addresses, or 0 if there are none. */
uint32_t sctp_locals_digest(const struct sctp_locals *l);
/* Adds the addresses to a local INIT or INIT ACK. */
void sctp_locals_tell(const struct sctp_locals *l, struct wire_sctp_init *init);
/* True if that address was announced, or the association was set up with it. */
bool sctp_locals_has(const struct sctp_assoc *a, const struct ip_addr *local);
/* True if packets can leave from that address, as far as the user knows, or if it is zero. */
bool sctp_locals_is_ours(const struct sctp_assoc *a, const struct ip_addr *local);
/* True if the user has a route to that path now, as far as known. */
bool sctp_locals_has_way(const struct sctp_assoc *a, const struct sctp_path *path);
/* Initialises the local address of the setup from the path in use. */
void sctp_locals_begin(struct sctp_assoc *a);
/*
 * Requests the source address for this path from the user. If the address has changed and was
 * announced to the peer, packets leave from there from now on. Returns false if packets cannot
 * leave; without a route, nothing changes.
 */
bool sctp_locals_choose(struct sctp_assoc *a, struct sctp_path *path);
/* The path has another local address: reports SCTP_EVENT_PATH if the path is in use. */
void sctp_locals_changed(struct sctp_assoc *a, const struct sctp_path *path);

/*
 * Returns the local address that distinguishes the association from others whose peer has the
 * path's address. For the primary path this is the address of the setup, even if packets leave from
 * another one by now.
 */
const struct ip_addr *sctp_locals_of(const struct sctp_assoc *a, const struct sctp_path *path);
/* True if the association was set up with these two addresses, as far as they are known. */
bool sctp_locals_is_pair(const struct sctp_assoc *a, const struct path_addr *addr);
/*
 * True if an INIT from there requests another association than a. RFC 9260 allows one association
 * between two endpoints. Users of sctpiw have one for each pair of addresses that they name
 * (docs/wire.md): either side may request a second one before it can know that the first leads to
 * the same host. So only the pair of its setup belongs to a. Peers that run another stack, without
 * receipts, get one association. receipts is the parameter of the INIT.
 */
bool sctp_locals_is_another(const struct sctp_assoc *a, const struct path_addr *from,
			    const struct wire_sctp_receipts *receipts);

#endif
