/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the peer's window and cwnd let go (RFC 9260 6.1, 7.2). Guarded by the caller's lock.
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
	uint32_t peer_rwnd; /* a_rwnd of the newest SACK, bytes */
	/* bytes that the chunks in flight take of it, with the packets' overhead */
	uint32_t rwnd_outstanding;
	bool probe;	    /* one packet may leave although the window is closed (6.1 A) */
	unsigned int tries; /* such probes since the window was open */
};

/*
 * How many bytes of chunks the peer's window leaves for another packet: a multiple of 4 that is
 * worth a packet, or 0.
 */
size_t sctp_window_room(const struct sctp_assoc *a);
/*
 * Whether the path's cwnd lets no other packet go. After a T3 timeout one packet alone is in flight until
 * something is acknowledged (7.2.1), also when it does not fill cwnd.
 */
bool sctp_window_cwnd_full(const struct sctp_path *path);
/*
 * Whether new DATA on the path waits a little longer, once cwnd was full: what is free of it is not worth a
 * batch yet, and more will be, since something is in flight. Otherwise each SACK would be answered
 * by as few packets as it made room for, and these by a SACK.
 */
bool sctp_window_defers(const struct sctp_path *path);
/* Whether the windows let another new chunk go on the path. */
bool sctp_window_open(const struct sctp_assoc *a, const struct sctp_path *path);
/*
 * The peer's window lets nothing go: has it probed later, if nothing is in flight that would open
 * it.
 */
void sctp_window_wait(struct sctp_assoc *a, uint64_t now);
/* SCTP_TIMER_WINDOW has expired: lets the probe leave. */
void sctp_window_timeout(struct sctp_assoc *a, uint64_t now);
/* A SACK came: no probe is needed any more if the window is open. */
void sctp_window_sacked(struct sctp_assoc *a);

#endif
