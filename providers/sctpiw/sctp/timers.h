/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The timers of an association. All times are ns of the caller's clock. sctp_timers() in sctp.h
 * runs the expired timers. Guarded by the caller's lock.
 */
#ifndef SCTPIW_SCTP_TIMERS_H
#define SCTPIW_SCTP_TIMERS_H

#include <stdbool.h>

#include "util/time.h"
#include "util/timerq.h"

struct sctp_assoc;

/* The timers, in the order in which they run if several have expired at once. */
enum sctp_timer {
	SCTP_TIMER_SETUP,     /* T1-init, T1-cookie or T2-shutdown, depending on the state */
	SCTP_TIMER_T3,	      /* T3-rtx */
	SCTP_TIMER_TLP,	      /* tail-loss probe */
	SCTP_TIMER_REORDER,   /* a missing chunk becomes lost */
	SCTP_TIMER_SACK,      /* delayed SACK */
	SCTP_TIMER_HEARTBEAT, /* idle HEARTBEATs on the path in use, and probes after a hint */
	SCTP_TIMER_WINDOW,    /* zero window probe */
	SCTP_TIMER_MTU,	      /* earliest sctp_path_mtu.due of all paths */
	SCTP_TIMER_PATHS,     /* earliest sctp_path_hb.due of all paths not in use */
	SCTP_TIMER_RECEIPTS,  /* no SACK has proved placement in time */
	SCTP_TIMER_ASCONF,    /* T4-rto of RFC 5061, or a lost address must be deleted */
	SCTP_TIMERS,
};

struct sctp_timer_set {
	uint64_t at[SCTP_TIMERS]; /* TIME_NEVER: stopped */
	struct timerq_node node;  /* in sctp.timers; its time may be too early, never too late */
};

/* Starts or moves the timer. `when` is an absolute time. */
void sctp_timer_set(struct sctp_assoc *a, enum sctp_timer t, uint64_t when);
void sctp_timer_stop_all(struct sctp_assoc *a);

#endif
