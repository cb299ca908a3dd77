/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Path MTU discovery: probes and timers around the search of pmtu.h. sctp.h declares
 * sctp_assoc_set_mtu() and sctp_packet_too_big(). Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_MTU_H
#define SCTPIW_SCTP_MTU_H

#include "sctp/path.h"

#define SCTP_PACKET_MAX 65504u /* bytes of a packet in a UDP datagram over IPv4, multiple of 4 */
#define SCTP_MTU_MAX 65535u    /* bytes of an IP packet */

/*
 * Initialises a new path with path->addr set. mtu is the interface's, in bytes of whole IP packets.
 */
void sctp_mtu_init(struct sctp_path *path, const struct sctp_config *config, uint32_t mtu);
/* Corrects max_packet after a path's MTU or encapsulation, or the path in use, has changed. */
void sctp_mtu_fit(struct sctp_assoc *a);
/*
 * True if packets there leave without DF: the path MTU is the smallest that this code uses, and may
 * be smaller still. Only for IPv4: routers do not fragment IPv6, and every IPv6 link takes the
 * floor.
 */
bool sctp_mtu_at_floor(const struct sctp_path *path);
/*
 * The association is up, or the path confirmed: sends the due probe, or waits for sctp_mtu_alive().
 */
void sctp_mtu_start(struct sctp_assoc *a, struct sctp_path *path);
/* SCTP_TIMER_MTU has expired. */
void sctp_mtu_timeout(struct sctp_assoc *a, uint64_t now);
/* DATA sent at that time on the path is lost, and may have been too large. */
void sctp_mtu_doubt(struct sctp_assoc *a, struct sctp_path *path, uint64_t sent);
/* Returns the path to probe and the probe's length in bytes, or NULL if no probe is wanted. */
struct sctp_path *sctp_mtu_probe_path(struct sctp_assoc *a, size_t *len);
/* Writes that probe with its checksum, and starts the timer for the answer. */
void sctp_mtu_probe_put(struct sctp_assoc *a, struct sctp_path *path, uint8_t *p, size_t len,
			uint64_t now);
/* A packet sent on the path has arrived: sends the probe that waited for this. */
void sctp_mtu_alive(struct sctp_assoc *a, struct sctp_path *path);
/* Handles a HEARTBEAT ACK. Returns false if the nonce does not belong to a probe on the path. */
bool sctp_mtu_answered(struct sctp_assoc *a, struct sctp_path *path, const uint8_t *nonce,
		       uint64_t now);

#endif
