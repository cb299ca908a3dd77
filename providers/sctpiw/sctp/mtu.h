/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Path MTU discovery: the packets and timers of the probes. pmtu.h has the search that chooses
 * their sizes. sctp.h declares sctp_assoc_set_mtu() and sctp_packet_too_big(). Guarded by the
 * caller's lock.
 */
#ifndef SCTPIW_SCTP_MTU_H
#define SCTPIW_SCTP_MTU_H

#include "sctp/path.h"

#define SCTP_PACKET_MAX 65504u /* bytes of the longest packet in UDP over IPv4, multiple of 4 */
#define SCTP_MTU_MAX 65535u    /* bytes of the longest IP packet */

/*
 * Initialises the MTU of a new path; path->addr must be set. mtu is the interface's MTU, in bytes
 * of whole IP packets.
 */
void sctp_mtu_init(struct sctp_path *path, const struct sctp_config *config, uint32_t mtu);
/*
 * Corrects max_packet of the paths. Call this when the MTU or the encapsulation of a path has
 * changed, or when another path is in use.
 */
void sctp_mtu_fit(struct sctp_assoc *a);
/*
 * True if packets on the path leave without DF. This holds if the path MTU in use is the smallest
 * that this code uses, since the real path MTU may be smaller still. Only for IPv4: routers do not
 * fragment IPv6 packets, and every IPv6 link carries the smallest size.
 */
bool sctp_mtu_at_floor(const struct sctp_path *path);
/*
 * Called when the association comes up, or when the path is confirmed. Sends the first probe at
 * once, or after sctp_mtu_alive().
 */
void sctp_mtu_start(struct sctp_assoc *a, struct sctp_path *path);
/* Called when SCTP_TIMER_MTU has expired. */
void sctp_mtu_timeout(struct sctp_assoc *a, uint64_t now);
/*
 * Called when a chunk is lost that was sent on the path at the time `sent`. The packet may have
 * been too large for the path: starts a probe of the size in use.
 */
void sctp_mtu_doubt(struct sctp_assoc *a, struct sctp_path *path, uint64_t sent);
/* Returns the path to probe, and the probe's length in *len, in bytes; or NULL if none is due. */
struct sctp_path *sctp_mtu_probe_path(struct sctp_assoc *a, size_t *len);
/* Writes the probe for that path and length, with its checksum. Starts the timer for the answer. */
void sctp_mtu_probe_put(struct sctp_assoc *a, struct sctp_path *path, uint8_t *p, size_t len,
			uint64_t now);
/*
 * Called when the peer has acknowledged a packet that was sent on the path. Sends the probe that
 * has waited for this.
 */
void sctp_mtu_alive(struct sctp_assoc *a, struct sctp_path *path);
/* Handles a HEARTBEAT ACK. Returns false if the nonce is not the nonce of a probe on the path. */
bool sctp_mtu_answered(struct sctp_assoc *a, struct sctp_path *path, const uint8_t *nonce,
		       uint64_t now);

#endif
