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

/* Assumed delay of the peer's SACKs: at first, and at most. */
#define SCTP_SACK_DELAY (25 * NSEC_PER_MSEC)
#define SCTP_SACK_DELAY_MAX (400 * NSEC_PER_MSEC)

struct sctp_assoc;
struct sctp_path;

/* The timers that each path has; sctp_timer_set.at has the earliest of all paths. */
#define SCTP_PATH_TIMERS 3u
#define SCTP_PATH_TIMER(t) ((t)-SCTP_TIMER_T3)
_Static_assert(SCTP_PATH_TIMER(SCTP_TIMER_TLP) == 1 && SCTP_PATH_TIMER(SCTP_TIMER_REORDER) == 2,
	       "T3, TLP and REORDER follow each other");

/* Recent history of the path; it means nothing on another path, and is reset with this one. */
struct sctp_episode {
	bool recovering;     /* in Fast Recovery (7.2.4) */
	uint32_t exit;	     /* the acknowledgement of this TSN ends Fast Recovery */
	uint32_t exit_seq;   /* if DATA is spread: the last packet sent before Fast Recovery */
	uint8_t cwnd_exempt; /* packets of retransmissions that may exceed cwnd */
	bool reordered;	     /* this path reorders: miss indications prove nothing */
	bool cwnd_limited;   /* cwnd has stopped the sender since the window could last grow */
	bool measuring;	     /* the RTT of measured_tsn is being measured */
	uint32_t measured_tsn;
	uint8_t probes;	  /* tail-loss probes in a row */
	uint8_t timeouts; /* expirations of T3 since the last acknowledgement */
};

/* RACK: among the chunks of the path that have arrived, the one sent last. */
struct sctp_rack {
	bool valid;
	uint32_t xmit_seq; /* number of its packet */
	uint64_t rtt;	   /* its round trip */
};

/* The tail-loss probe. */
struct sctp_tlp {
	bool wanted;  /* to be sent: SCTP_PEND_PROBE is set */
	uint32_t tsn; /* TSN of the last probed chunk */
	bool doubt;   /* a duplicate report for that TSN means that the probe was too early */
};

/* State of one path. A path that takes over all its DATA takes over this state as well. */
struct sctp_path_recovery {
	struct sctp_episode now;
	struct sctp_rack rack;
	struct sctp_tlp tlp;
	uint64_t due[SCTP_PATH_TIMERS]; /* its timers; TIME_NEVER: stopped */
	bool cwnd_blocked;		/* no new chunk has left since cwnd stopped the sender */
	uint32_t unasked;    /* bytes of packets with DATA since the last request for a SACK */
	bool sack_requested; /* the last DATA requested a SACK without delay */
};

/* The chunks of a path that a SACK acknowledged for the first time. */
struct sctp_newly {
	uint32_t bytes;
	uint32_t newest; /* their highest TSN */
};

struct sctp_recovery {
	/*
	 * Time of the first T3 expiration since the last acknowledgement, or 0. TIME_NEVER: the
	 * peer has no room for window probes, and the next expiration counts as the first.
	 */
	uint64_t t3_since;
};

/* Knowledge about the network and the peer from spurious losses. It survives a restart. */
struct sctp_learnt {
	uint64_t sack_delay;	/* how long the peer may delay its SACK */
	uint8_t reorder_factor; /* time for reordering, in quarters of an SRTT */
};

/* Starts with nothing learnt. */
void sctp_recovery_init(struct sctp_assoc *a);
/* Starts with nothing sent on a path. */
void sctp_recovery_clear(struct sctp_path_recovery *r);
/* Starts or moves a timer of a path. when is absolute; TIME_NEVER stops the timer. */
void sctp_recovery_timer_set(struct sctp_assoc *a, struct sctp_path *path, enum sctp_timer t,
			     uint64_t when);
bool sctp_recovery_timer_runs(const struct sctp_path *path, enum sctp_timer t);
/* Sets a timer of the association to the earliest of its paths. */
void sctp_recovery_rearm(struct sctp_assoc *a, enum sctp_timer t);
/* T3-rtx has expired (6.3.3). Ends the association after silent_limit. */
void sctp_recovery_timeout(struct sctp_assoc *a, uint64_t now);
/* SCTP_TIMER_TLP has expired: sends the last chunk in flight again. */
void sctp_recovery_probe(struct sctp_assoc *a, uint64_t now);
/* True if neither the DATA in flight nor a later tail-loss probe was answered in time. */
bool sctp_recovery_is_suspicious(const struct sctp_assoc *a);
/* SCTP_TIMER_REORDER has expired: a missing chunk now counts as lost. */
void sctp_recovery_reorder(struct sctp_assoc *a, uint64_t now);
/*
 * Looks for losses after a SACK. newly has the newly acknowledged chunks by sctp_path.id. Only
 * chunks of the same path below the newest get a miss indication (HTNA, 7.2.4). NULL: there was no
 * SACK.
 */
void sctp_recovery_detect(struct sctp_assoc *a, uint64_t now, const struct sctp_newly *newly);
/* Restarts the tail-loss probe's timer of a path, or stops it if a probe would not help. */
void sctp_recovery_arm_probe(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);
/* Cancels the tail-loss probe of the path. */
void sctp_recovery_no_probe(struct sctp_assoc *a, struct sctp_path *path);
/* Shrinks the path's cwnd as after a loss, unless a loss has done so since that window was sent. */
void sctp_recovery_slow_down(struct sctp_assoc *a, struct sctp_path *path);

#endif
