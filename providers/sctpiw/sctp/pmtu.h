/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which packets a path takes, found out with probes alone (RFC 8899): the search, without packets
 * and timers (those are in mtu.c). Sizes are of whole IP packets in bytes.
 */
#ifndef SCTPIW_SCTP_PMTU_H
#define SCTPIW_SCTP_PMTU_H

#include <stdbool.h>
#include <stdint.h>

#define SCTP_PMTU_BASE 1280u	/* BASE_PLPMTU: used without asking */
#define SCTP_PMTU_FLOOR_V4 576u /* MIN_PLPMTU; what every host must take (RFC 1122 3.3.2) */
#define SCTP_PMTU_FLOOR_V6 1280u
#define SCTP_PMTU_PROBES 3u	/* MAX_PROBES */

struct sctp_pmtu {
	uint32_t floor; /* nothing makes it use less */
	uint32_t base;	/* used until more is confirmed */
	uint32_t told;	/* by who knows the interface: never more */
	uint32_t good;	/* PLPMTU: in use */
	uint32_t bad;	/* the smallest size that does not get through, or told + 1 */
	uint32_t probe; /* PROBED_SIZE, 0: none. `good` itself: whether it still gets through */
	uint32_t failed; /* PROBE_COUNT: probes of that size that were lost */
};

/* The base may be as much as was told: then no probe is ever wanted. */
void sctp_pmtu_init(struct sctp_pmtu *p, uint32_t floor, uint32_t base, uint32_t told);
/* Another limit: less holds at once, more is to be confirmed. */
void sctp_pmtu_tell(struct sctp_pmtu *p, uint32_t told);
/* A probe of the present size was answered; probe is the next, or 0: the search is over. */
void sctp_pmtu_answered(struct sctp_pmtu *p);
/* It was lost while small packets got through. Returns whether `good` fell: a black hole. */
bool sctp_pmtu_lost(struct sctp_pmtu *p);
/* Large packets seem to get lost: probes `good`. false: does so already, or cannot go lower. */
bool sctp_pmtu_doubt(struct sctp_pmtu *p);
/* A router says that the path takes so much and no more. Returns whether that is news. */
bool sctp_pmtu_too_big(struct sctp_pmtu *p, uint32_t mtu);
/* Long after the search: paths change, so what failed is tried again. */
void sctp_pmtu_raise(struct sctp_pmtu *p);

#endif
