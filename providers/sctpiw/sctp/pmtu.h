/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The search for the largest packet of a path by probes, without ICMP (RFC 8899). mtu.c sends the
 * probes and has the timers. Sizes are bytes of whole IP packets. Guarded by the owner's lock.
 */
#ifndef SCTPIW_SCTP_PMTU_H
#define SCTPIW_SCTP_PMTU_H

#include <stdbool.h>
#include <stdint.h>

#define SCTP_PMTU_BASE 1280u	/* BASE_PLPMTU: used without a probe */
#define SCTP_PMTU_FLOOR_V4 576u /* MIN_PLPMTU: every host must accept it (RFC 1122 3.3.2) */
#define SCTP_PMTU_FLOOR_V6 1280u
#define SCTP_PMTU_PROBES 3u /* MAX_PROBES */

struct sctp_pmtu {
	uint32_t floor; /* smallest size used, whatever routers report */
	uint32_t base;	/* size used until a larger size is confirmed */
	uint32_t told;	/* MTU of the interface: largest size used */
	uint32_t good;	/* PLPMTU: the size in use */
	uint32_t bad;	/* smallest size known to be too large, or `told` + 1 */
	/* PROBED_SIZE; 0: none. Equal to `good` if that size may be too large now */
	uint32_t probe;
	uint32_t failed; /* PROBE_COUNT: number of lost probes of this size */
};

/* Begins the search. No probes are necessary if base is at least `told`. */
void sctp_pmtu_init(struct sctp_pmtu *p, uint32_t floor, uint32_t base, uint32_t told);
/* Sets a new MTU of the interface. A lower MTU is used at once; probes confirm a higher MTU. */
void sctp_pmtu_tell(struct sctp_pmtu *p, uint32_t told);
/*
 * Handles the answer to a probe of the present size. Sets probe to the next size, or to 0 if the
 * search is complete.
 */
void sctp_pmtu_answered(struct sctp_pmtu *p);
/*
 * Handles the loss of a probe while small packets arrived. Returns true if `good` was lowered,
 * because the path drops packets of that size silently.
 */
bool sctp_pmtu_lost(struct sctp_pmtu *p);
/*
 * Called when large packets seem to get lost: starts probes of the size `good`. Returns false if
 * such probes are under way already, or if `good` cannot be lowered.
 */
bool sctp_pmtu_doubt(struct sctp_pmtu *p);
/* Handles a router's report of the path MTU. Returns true if the report lowers the known limit. */
bool sctp_pmtu_too_big(struct sctp_pmtu *p, uint32_t mtu);
/* Starts the search again long after its end, since the path may have changed. */
void sctp_pmtu_raise(struct sctp_pmtu *p);

#endif
