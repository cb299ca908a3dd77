/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* The limits of the peer's window and of cwnd (RFC 9260 6.1, 7.2). Guarded by the caller's lock. */
#ifndef SCTPIW_SCTP_WINDOW_H
#define SCTPIW_SCTP_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sctp_assoc;
struct sctp_path;

/* The peer's receive window. */
struct sctp_window {
	uint32_t peer_rwnd; /* a_rwnd of the newest SACK, bytes */
	/* Bytes of it that the chunks in flight take, with the packets' overhead. */
	uint32_t rwnd_outstanding;
	bool probe;	    /* one packet may leave into the closed window (6.1 A) */
	unsigned int tries; /* such probes since the window was last open */
};

/* Returns the bytes that the peer's window has for another packet: 0, or a useful multiple of 4. */
size_t sctp_window_room(const struct sctp_assoc *a);
/*
 * True if the path's cwnd is full. After a T3 timeout, also true while anything is in flight, until
 * an acknowledgement (7.2.1).
 */
bool sctp_window_cwnd_full(const struct sctp_path *path);
/*
 * True if new DATA on the path should wait after cwnd was full. The free part of cwnd is not worth
 * a batch yet, and will grow, since something is in flight. Otherwise each SACK would release only
 * a few packets, and these would bring the next SACK.
 */
bool sctp_window_defers(const struct sctp_path *path);
/* True if the windows let another new chunk leave on the path. */
bool sctp_window_open(const struct sctp_assoc *a, const struct sctp_path *path);
/* The peer's window is closed: schedules a probe, if nothing in flight would open it. */
void sctp_window_wait(struct sctp_assoc *a, uint64_t now);
/* SCTP_TIMER_WINDOW has expired: lets the probe leave. */
void sctp_window_timeout(struct sctp_assoc *a, uint64_t now);
/* Called after a SACK: cancels the probe if the window is open. */
void sctp_window_sacked(struct sctp_assoc *a);

#endif
