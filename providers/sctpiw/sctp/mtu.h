/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Path MTU discovery: probes and timers around the search of pmtu.h. sctp_assoc_set_mtu() and
 * sctp_packet_too_big() are declared in sctp.h. Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_MTU_H
#define SCTPIW_SCTP_MTU_H

#include "sctp/path.h"

#define SCTP_PACKET_MAX 65504u /* bytes of a packet in a UDP datagram over IPv4, multiple of 4 */
#define SCTP_MTU_MAX 65535u    /* bytes of an IP packet */

/* A new path. mtu: what the interface takes, bytes of whole IP packets. path->addr must be set. */
void sctp_mtu_init(struct sctp_path *path, const struct sctp_config *config, uint32_t mtu);
/*
 * Puts max_packet right after a path's MTU or encapsulation has changed, or another one is in use.
 */
void sctp_mtu_fit(struct sctp_assoc *a);
/*
 * Whether packets to there go without DF: the path is as narrow as we believe any to be, and perhaps narrower.
 * Routers fragment IPv4 alone, and no link of IPv6 takes less than our floor.
 */
bool sctp_mtu_at_floor(const struct sctp_path *path);
/*
 * The association is up, or the path confirmed: sends the probe that is due or waits for
 * sctp_mtu_alive().
 */
void sctp_mtu_start(struct sctp_assoc *a, struct sctp_path *path);
/* SCTP_TIMER_MTU has expired. */
void sctp_mtu_timeout(struct sctp_assoc *a, uint64_t now);
/* What was sent at that time on the path is lost, and may have been too large. */
void sctp_mtu_doubt(struct sctp_assoc *a, struct sctp_path *path, uint64_t sent);
/* The path that a probe is to be sent on, and the probe's length in bytes; NULL: none is wanted. */
struct sctp_path *sctp_mtu_probe_path(struct sctp_assoc *a, size_t *len);
/* Writes that probe with its checksum and starts to wait for the answer. */
void sctp_mtu_probe_put(struct sctp_assoc *a, struct sctp_path *path, uint8_t *p, size_t len,
			uint64_t now);
/* A packet sent on the path has arrived: sends the probe that waited for that. */
void sctp_mtu_alive(struct sctp_assoc *a, struct sctp_path *path);
/*
 * A HEARTBEAT ACK with this nonce came. Returns false when it does not answer a probe on the path.
 */
bool sctp_mtu_answered(struct sctp_assoc *a, struct sctp_path *path, const uint8_t *nonce,
		       uint64_t now);

#endif
