/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The limits that the peer's receive window and cwnd set for new DATA (RFC 9260 6.1, 7.2). Guarded
 * by the caller's lock.
 */
#ifndef SCTPIW_SCTP_WINDOW_H
#define SCTPIW_SCTP_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sctp_assoc;
struct sctp_path;

/* The peer's receive window. */
struct sctp_window {
	uint32_t peer_rwnd; /* a_rwnd of the newest SACK, in bytes */
	/* Bytes of the window that the chunks in flight occupy, with the packets' overhead. */
	uint32_t rwnd_outstanding;
	bool probe;	    /* one packet may be sent although the window is closed (6.1 A) */
	unsigned int tries; /* number of such packets since the window was last open */
};

/*
 * Returns the number of bytes that the peer's window allows for another packet: a multiple of 4.
 * Returns 0 if the room is too small to be useful.
 */
size_t sctp_window_room(const struct sctp_assoc *a);
/*
 * True if the path's cwnd is full. After an expiration of T3, it counts as full while anything is
 * in flight, until an acknowledgement (7.2.1).
 */
bool sctp_window_cwnd_full(const struct sctp_path *path);
/*
 * True if new DATA on the path should wait after cwnd was full. This holds while the free part of
 * cwnd is too small for a batch, and something is in flight whose acknowledgement enlarges that
 * part. Otherwise each SACK would release only a few packets, and these would cause the next SACK.
 */
bool sctp_window_defers(const struct sctp_path *path);
/* True if the windows allow another new chunk on the path. */
bool sctp_window_open(const struct sctp_assoc *a, const struct sctp_path *path);
/*
 * Called if the peer's window is closed. If no DATA is in flight whose SACK could open the window,
 * schedules a probe.
 */
void sctp_window_wait(struct sctp_assoc *a, uint64_t now);
/* Called when SCTP_TIMER_WINDOW has expired: allows one packet as a probe. */
void sctp_window_timeout(struct sctp_assoc *a, uint64_t now);
/* Called after a SACK: cancels the probe if the window is open. */
void sctp_window_sacked(struct sctp_assoc *a);

#endif
