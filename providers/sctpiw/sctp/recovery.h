/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Loss detection and the timers of the sender (RFC 9260 6.3, 7.2.4, RFC 8985). All times are ns.
 * Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_RECOVERY_H
#define SCTPIW_SCTP_RECOVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "sctp/timers.h"

/* Assumed delay of the peer's SACKs: initial value, and maximum. */
#define SCTP_SACK_DELAY (25 * NSEC_PER_MSEC)
#define SCTP_SACK_DELAY_MAX (400 * NSEC_PER_MSEC)

struct sctp_assoc;
struct sctp_path;

/* The timers that each path has. sctp_timer_set.at has the earliest expiration of all paths. */
#define SCTP_PATH_TIMERS 3u
#define SCTP_PATH_TIMER(t) ((t)-SCTP_TIMER_T3)
_Static_assert(SCTP_PATH_TIMER(SCTP_TIMER_TLP) == 1 && SCTP_PATH_TIMER(SCTP_TIMER_REORDER) == 2,
	       "T3, TLP and REORDER follow each other");

/*
 * Recent history of the path. It means nothing for another path, so it is reset when another path
 * takes over.
 */
struct sctp_episode {
	bool recovering;     /* in Fast Recovery (7.2.4) */
	uint32_t exit;	     /* Fast Recovery ends when this TSN is acknowledged */
	uint32_t exit_seq;   /* if DATA is spread: number of the last packet before Fast Recovery */
	uint8_t cwnd_exempt; /* number of packets with retransmissions that may exceed cwnd */
	/* packets on this path were reordered: miss indications prove nothing */
	bool reordered;
	/* cwnd has stopped the sender since the last possible growth of cwnd */
	bool cwnd_limited;
	bool measuring; /* the RTT of the chunk with measured_tsn is being measured */
	uint32_t measured_tsn;
	uint8_t probes;	  /* number of tail-loss probes since the last acknowledgement */
	uint8_t timeouts; /* expirations of T3 since the last acknowledgement */
};

/* RACK: data of the chunk that was sent last among the path's chunks that have arrived. */
struct sctp_rack {
	bool valid;
	uint32_t xmit_seq; /* number of the chunk's packet */
	uint64_t rtt;	   /* round-trip time of the chunk */
};

/* The tail-loss probe. */
struct sctp_tlp {
	bool wanted;  /* a probe is due: SCTP_PEND_PROBE is set */
	uint32_t tsn; /* TSN of the chunk that was probed last */
	bool doubt;   /* if the peer reports that TSN as a duplicate, the probe was too early */
};

/* Recovery state of one path. A path that takes over all its DATA takes over this state, too. */
struct sctp_path_recovery {
	struct sctp_episode now;
	struct sctp_rack rack;
	struct sctp_tlp tlp;
	uint64_t due[SCTP_PATH_TIMERS]; /* expirations of its timers; TIME_NEVER: stopped */
	/* cwnd has stopped the sender, and no new chunk was sent since */
	bool cwnd_blocked;
	uint32_t unasked;    /* bytes of packets with DATA since the last request for a SACK */
	bool sack_requested; /* the last DATA requested a SACK at once */
};

/* The chunks of a path that a SACK acknowledged for the first time. */
struct sctp_newly {
	uint32_t bytes;
	uint32_t newest; /* their highest TSN */
};

struct sctp_recovery {
	/*
	 * Time of the first T3 expiration since the last acknowledgement, or 0. TIME_NEVER: the
	 * peer's window is too small for window probes. The next expiration then counts as the
	 * first one.
	 */
	uint64_t t3_since;
};

/* Values learnt from spurious losses. They survive a restart of the peer. */
struct sctp_learnt {
	uint64_t sack_delay;	/* maximum time by which the peer delays a SACK */
	uint8_t reorder_factor; /* time allowed for reordering, in quarters of an SRTT */
};

/* Resets the learnt values. */
void sctp_recovery_init(struct sctp_assoc *a);
/* Initialises the state of a path on which nothing was sent. */
void sctp_recovery_clear(struct sctp_path_recovery *r);
/* Starts or moves a timer of a path. `when` is an absolute time; TIME_NEVER stops the timer. */
void sctp_recovery_timer_set(struct sctp_assoc *a, struct sctp_path *path, enum sctp_timer t,
			     uint64_t when);
bool sctp_recovery_timer_runs(const struct sctp_path *path, enum sctp_timer t);
/* Sets a timer of the association to the earliest expiration of all paths. */
void sctp_recovery_rearm(struct sctp_assoc *a, enum sctp_timer t);
/* Called when T3-rtx has expired (6.3.3). Ends the association after silent_limit. */
void sctp_recovery_timeout(struct sctp_assoc *a, uint64_t now);
/* Called when SCTP_TIMER_TLP has expired: sends the last chunk in flight again. */
void sctp_recovery_probe(struct sctp_assoc *a, uint64_t now);
/* True if neither the DATA in flight nor a later tail-loss probe was answered in time. */
bool sctp_recovery_is_suspicious(const struct sctp_assoc *a);
/* Called when SCTP_TIMER_REORDER has expired: chunks that are still missing count as lost. */
void sctp_recovery_reorder(struct sctp_assoc *a, uint64_t now);
/*
 * Looks for losses after a SACK. newly[] has the newly acknowledged chunks of each path, by
 * sctp_path.id; NULL: there was no SACK. A chunk gets a miss indication only if a chunk with a
 * higher TSN on the same path was newly acknowledged (HTNA, 7.2.4).
 */
void sctp_recovery_detect(struct sctp_assoc *a, uint64_t now, const struct sctp_newly *newly);
/* Restarts the timer for a tail-loss probe of a path, or stops it if a probe would not help. */
void sctp_recovery_arm_probe(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);
/* Cancels the tail-loss probe of the path. */
void sctp_recovery_no_probe(struct sctp_assoc *a, struct sctp_path *path);
/*
 * Shrinks the path's cwnd as after a loss. Does nothing if the path is in Fast Recovery, since a
 * loss has then shrunk cwnd already.
 */
void sctp_recovery_slow_down(struct sctp_assoc *a, struct sctp_path *path);

#endif
