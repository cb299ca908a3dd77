/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The local addresses that were announced to a peer (RFC 9260 5.1.2), and the choice of source
 * addresses for packets to the peer. Packets leave only from announced addresses. The peer would
 * treat packets from any other address as out of the blue, and answer with an ABORT. Guarded by the
 * caller's lock.
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
 * The announced addresses. If n is 0, the peer knows only the local address of the setup, and all
 * packets leave from that address.
 */
struct sctp_locals {
	unsigned int n;
	struct ip_addr addr[SCTP_LOCALS_MAX];
};

/* Gets from the user (ops.addresses) the local addresses that a peer at to->remote may know. */
void sctp_locals_ask(const struct sctp_endpoint *ep, const struct path_addr *to,
		     struct sctp_locals *l);
/* Returns a digest, which most likely differs for other addresses. Returns 0 without addresses. */
uint32_t sctp_locals_digest(const struct sctp_locals *l);
/* Adds the addresses to a local INIT or INIT ACK. */
void sctp_locals_tell(const struct sctp_locals *l, struct wire_sctp_init *init);
/* True if that address was announced, or if it is the local address of the setup. */
bool sctp_locals_has(const struct sctp_assoc *a, const struct ip_addr *local);
/* True if the address is zero, or if it belongs to this host as far as the user knows. */
bool sctp_locals_is_ours(const struct sctp_assoc *a, const struct ip_addr *local);
/* True if the user has a route to the remote address of the path, or does not report routes. */
bool sctp_locals_has_way(const struct sctp_assoc *a, const struct sctp_path *path);
/* Initialises the local address of the setup from the path in use. */
void sctp_locals_begin(struct sctp_assoc *a);
/*
 * Gets the source address for this path from the user. If that address is new and was announced to
 * the peer, packets use it from now on. Returns false if packets cannot leave. Without a route,
 * nothing changes.
 */
bool sctp_locals_choose(struct sctp_assoc *a, struct sctp_path *path);
/* Reports SCTP_EVENT_PATH if the path, which has another local address now, is in use. */
void sctp_locals_changed(struct sctp_assoc *a, const struct sctp_path *path);

/*
 * Returns the local address for the lookup of the association. Several associations may have a peer
 * with the path's remote address; this local address distinguishes them. The primary path
 * uses the local address of the setup, even if packets now leave from another address.
 */
const struct ip_addr *sctp_locals_of(const struct sctp_assoc *a, const struct sctp_path *path);
/* True if the association was set up between these two addresses, as far as they are known. */
bool sctp_locals_is_pair(const struct sctp_assoc *a, const struct path_addr *addr);
/*
 * True if an INIT between the addresses *from requests a new association instead of `a`. RFC 9260
 * allows one association between two endpoints. Users of sctpiw have one association for each pair
 * of addresses that they name (docs/wire.md). Either side may request a second association before
 * it can know that the first leads to the same host. So only an INIT between the addresses of its
 * setup belongs to `a`. A peer without receipts runs another stack, and gets one association.
 * `receipts` is the parameter of the INIT.
 */
bool sctp_locals_is_another(const struct sctp_assoc *a, const struct path_addr *from,
			    const struct wire_sctp_receipts *receipts);

#endif
