/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Loss detection and the timers of sending (RFC 9260 6.3, 7.2.4, RFC 8985). All times are ns.
 * Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_RECOVERY_H
#define SCTPIW_SCTP_RECOVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "sctp/timers.h"

/* How long a peer is thought to delay its SACKs: at first, and at most. */
#define SCTP_SACK_DELAY (25 * NSEC_PER_MSEC)
#define SCTP_SACK_DELAY_MAX (400 * NSEC_PER_MSEC)

struct sctp_assoc;
struct sctp_path;

/* The timers that each path has for itself; sctp_timer_set.at has the earliest of all paths. */
#define SCTP_PATH_TIMERS 3u
#define SCTP_PATH_TIMER(t) ((t)-SCTP_TIMER_T3)
_Static_assert(SCTP_PATH_TIMER(SCTP_TIMER_TLP) == 1 && SCTP_PATH_TIMER(SCTP_TIMER_REORDER) == 2,
	       "T3, TLP and REORDER follow each other");

/* What has happened on the path; it means nothing on another one and is reset with it. */
struct sctp_episode {
	bool recovering;     /* in Fast Recovery (7.2.4) */
	uint32_t exit;	     /* TSN whose acknowledgement ends Fast Recovery */
	uint32_t exit_seq;   /* where DATA is spread: the last packet that was sent before it */
	uint8_t cwnd_exempt; /* packets of retransmissions that may leave despite cwnd */
	bool reordered;	     /* this path reorders: miss indications prove nothing */
	bool cwnd_limited;   /* cwnd has stopped us since the window could grow last */
	bool measuring;	     /* the RTT of measured_tsn is being measured */
	uint32_t measured_tsn;
	uint8_t probes;	  /* tail-loss probes in a row */
	uint8_t timeouts; /* expirations of T3 since anything was acknowledged */
};

/* RACK: of the path, the chunk sent last among those that have arrived. */
struct sctp_rack {
	bool valid;
	uint32_t xmit_seq; /* number of the packet that it was sent in */
	uint64_t rtt;	   /* its round trip */
};

/* The tail-loss probe. */
struct sctp_tlp {
	bool wanted;  /* it is to be sent: SCTP_PEND_PROBE is set */
	uint32_t tsn; /* of the chunk probed last */
	bool doubt;   /* if that TSN is reported as a duplicate, the probe was too early */
};

/* Of one path. If another one takes over all that it carried, it takes over this as well. */
struct sctp_path_recovery {
	struct sctp_episode now;
	struct sctp_rack rack;
	struct sctp_tlp tlp;
	uint64_t due[SCTP_PATH_TIMERS]; /* its timers; TIME_NEVER: stopped */
	bool cwnd_blocked;		/* nothing new has left since cwnd stopped us */
	uint32_t unasked; /* bytes of packets with DATA since the last one that asked for a SACK */
	bool sack_requested; /* the last DATA sent asked for a SACK that nobody will delay */
};

/* What a SACK acknowledged for the first time of the chunks of a path. */
struct sctp_newly {
	uint32_t bytes;
	uint32_t newest; /* the highest TSN of them */
};

struct sctp_recovery {
	/*
	 * When T3 expired first since anything was acknowledged, or 0. TIME_NEVER: the peer has no
	 * room for what probes its window, and the next expiration counts as the first.
	 */
	uint64_t t3_since;
};

/* What losses that were none have taught of the network and the peer. It outlives a restart. */
struct sctp_learnt {
	uint64_t sack_delay;	/* how long the peer may delay its SACK */
	uint8_t reorder_factor; /* quarters of an SRTT that reordering may take */
};

/* Begins with nothing learnt. */
void sctp_recovery_init(struct sctp_assoc *a);
/* Begins with nothing sent on a path. */
void sctp_recovery_clear(struct sctp_path_recovery *r);
/* Starts a timer of a path, or moves it; when: absolute, and TIME_NEVER stops it. */
void sctp_recovery_timer_set(struct sctp_assoc *a, struct sctp_path *path, enum sctp_timer t,
			     uint64_t when);
bool sctp_recovery_timer_runs(const struct sctp_path *path, enum sctp_timer t);
/* Sets a timer of the association to the earliest of its paths. */
void sctp_recovery_rearm(struct sctp_assoc *a, enum sctp_timer t);
/* T3-rtx has expired (6.3.3). Ends the association after silent_limit. */
void sctp_recovery_timeout(struct sctp_assoc *a, uint64_t now);
/* SCTP_TIMER_TLP has expired: has the last chunk in flight sent again. */
void sctp_recovery_probe(struct sctp_assoc *a, uint64_t now);
/* Whether neither what is in flight nor a tail-loss probe that followed was answered in its time. */
bool sctp_recovery_is_suspicious(const struct sctp_assoc *a);
/* SCTP_TIMER_REORDER has expired: some missing chunk is a lost one by now. */
void sctp_recovery_reorder(struct sctp_assoc *a, uint64_t now);
/*
 * Looks for losses after a SACK. newly: what it acknowledged, by sctp_path.id; only chunks of the same path
 * below the newest get a miss indication (HTNA, 7.2.4). NULL: there was no SACK.
 */
void sctp_recovery_detect(struct sctp_assoc *a, uint64_t now, const struct sctp_newly *newly);
/* Starts the tail-loss probe's timer of a path anew, or stops it when no probe would help. */
void sctp_recovery_arm_probe(struct sctp_assoc *a, struct sctp_path *path, uint64_t now);
/* The path wants no probe any more. */
void sctp_recovery_no_probe(struct sctp_assoc *a, struct sctp_path *path);
/* Shrinks the path's window as a loss does, unless one has since that window was sent. */
void sctp_recovery_slow_down(struct sctp_assoc *a, struct sctp_path *path);

#endif
