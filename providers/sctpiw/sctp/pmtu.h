/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The search for the largest packet of a path, with probes alone (RFC 8899). Packets and timers are
 * in mtu.c. Sizes are bytes of whole IP packets. Guarded by the owner's lock.
 */
#ifndef SCTPIW_SCTP_PMTU_H
#define SCTPIW_SCTP_PMTU_H

#include <stdbool.h>
#include <stdint.h>

#define SCTP_PMTU_BASE 1280u	/* BASE_PLPMTU: used without a probe */
#define SCTP_PMTU_FLOOR_V4 576u /* MIN_PLPMTU: every host must take it (RFC 1122 3.3.2) */
#define SCTP_PMTU_FLOOR_V6 1280u
#define SCTP_PMTU_PROBES 3u /* MAX_PROBES */

struct sctp_pmtu {
	uint32_t floor;	 /* the smallest size used, whatever is reported */
	uint32_t base;	 /* used until more is confirmed */
	uint32_t told;	 /* MTU of the interface: the largest size used */
	uint32_t good;	 /* PLPMTU: in use */
	uint32_t bad;	 /* smallest size that does not get through, or told + 1 */
	uint32_t probe;	 /* PROBED_SIZE, or 0; `good` itself if it may not get through any more */
	uint32_t failed; /* PROBE_COUNT: lost probes of that size */
};

/* Begins the search. If base is at least told, no probe is ever wanted. */
void sctp_pmtu_init(struct sctp_pmtu *p, uint32_t floor, uint32_t base, uint32_t told);
/* The interface has another MTU. A lower one holds at once, a higher one must be confirmed. */
void sctp_pmtu_tell(struct sctp_pmtu *p, uint32_t told);
/* A probe of the present size was answered. Sets probe to the next size, or to 0 at the end. */
void sctp_pmtu_answered(struct sctp_pmtu *p);
/*
 * A probe was lost while small packets got through. Returns true if `good` fell because of that:
 * large packets are dropped silently.
 */
bool sctp_pmtu_lost(struct sctp_pmtu *p);
/*
 * Large packets seem to get lost: probes `good` itself. Returns false if that is under way already,
 * or if `good` cannot fall any lower.
 */
bool sctp_pmtu_doubt(struct sctp_pmtu *p);
/* A router reports the path MTU. Returns true if the report lowers the known limit. */
bool sctp_pmtu_too_big(struct sctp_pmtu *p, uint32_t mtu);
/* Tries failed sizes again, long after the search, since paths change. */
void sctp_pmtu_raise(struct sctp_pmtu *p);

#endif
