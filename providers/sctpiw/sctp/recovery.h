/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Loss detection and the timers of sending (RFC 9260 6.3, 7.2.4, RFC 8985). All times are ns.
 * Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_RECOVERY_H
#define SCTPIW_SCTP_RECOVERY_H

#include <stdbool.h>
#include <stdint.h>

#include "util/time.h"

/* How long a peer is thought to delay its SACKs: at first, and at most. */
#define SCTP_SACK_DELAY (25 * NSEC_PER_MSEC)
#define SCTP_SACK_DELAY_MAX (400 * NSEC_PER_MSEC)

struct sctp_assoc;

/* What has happened on the path in use; it means nothing on another one and is reset with it. */
struct sctp_episode {
	bool recovering;     /* in Fast Recovery (7.2.4) */
	uint32_t exit;	     /* TSN whose acknowledgement ends Fast Recovery */
	uint8_t cwnd_exempt; /* packets of retransmissions that may leave despite cwnd */
	bool reordered;	     /* this path reorders: miss indications prove nothing */
	bool cwnd_limited;   /* cwnd has stopped us since the cumulative TSN moved last */
	bool measuring;	     /* the RTT of measured_tsn is being measured */
	uint32_t measured_tsn;
	uint8_t probes;	  /* tail-loss probes in a row */
	uint8_t timeouts; /* expirations of T3 since anything was acknowledged */
};

/* RACK: the chunk sent last among those that have arrived. */
struct sctp_rack {
	bool valid;
	uint32_t xmit_seq; /* number of the packet that it was sent in */
	uint64_t rtt;	   /* its round trip */
};

/* The tail-loss probe. */
struct sctp_tlp {
	uint32_t tsn; /* of the chunk probed last */
	bool doubt;   /* if that TSN is reported as a duplicate, the probe was too early */
};

struct sctp_recovery {
	struct sctp_episode now;
	struct sctp_rack rack;
	struct sctp_tlp tlp;
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
/* T3-rtx has expired (6.3.3). Ends the association after silent_limit. */
void sctp_recovery_timeout(struct sctp_assoc *a, uint64_t now);
/* SCTP_TIMER_TLP has expired: has the last chunk in flight sent again. */
void sctp_recovery_probe(struct sctp_assoc *a, uint64_t now);
/* Whether neither what is in flight nor a tail-loss probe that followed was answered in its time. */
bool sctp_recovery_is_suspicious(const struct sctp_assoc *a);
/* SCTP_TIMER_REORDER has expired: some missing chunk is a lost one by now. */
void sctp_recovery_reorder(struct sctp_assoc *a, uint64_t now);
/*
 * Looks for losses after a SACK. newest: the highest TSN that it acknowledged for the first time;
 * only chunks below that get a miss indication (HTNA, 7.2.4). count: whether it acknowledged any.
 */
void sctp_recovery_detect(struct sctp_assoc *a, uint64_t now, uint32_t newest, bool count);
/* Starts the tail-loss probe's timer anew, or stops it when no probe would help. */
void sctp_recovery_arm_probe(struct sctp_assoc *a, uint64_t now);

#endif
