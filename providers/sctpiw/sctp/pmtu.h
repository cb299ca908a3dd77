/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which packets a path takes, found out with probes alone (RFC 8899). This is the search; packets
 * and timers are in mtu.c. Sizes are bytes of whole IP packets. Guarded by the owner's lock.
 */
#ifndef SCTPIW_SCTP_PMTU_H
#define SCTPIW_SCTP_PMTU_H

#include <stdbool.h>
#include <stdint.h>

#define SCTP_PMTU_BASE 1280u	/* BASE_PLPMTU: used without asking */
#define SCTP_PMTU_FLOOR_V4 576u /* MIN_PLPMTU: what every host must take (RFC 1122 3.3.2) */
#define SCTP_PMTU_FLOOR_V6 1280u
#define SCTP_PMTU_PROBES 3u /* MAX_PROBES */

struct sctp_pmtu {
	uint32_t floor; /* never less than this is used, whoever says that the path takes less */
	uint32_t base;	/* used until more is confirmed */
	uint32_t told;	/* what the interface takes: never more than this is used */
	uint32_t good;	/* PLPMTU: in use */
	uint32_t bad;	/* the smallest size that does not get through, or told + 1 */
	uint32_t probe; /* PROBED_SIZE, 0: none; `good` itself if it may not get through any more */
	uint32_t failed; /* PROBE_COUNT: probes of that size that were lost */
};

/* Begins the search. If base is as much as told, no probe is ever wanted. */
void sctp_pmtu_init(struct sctp_pmtu *p, uint32_t floor, uint32_t base, uint32_t told);
/* The interface takes another size: less holds at once, more is to be confirmed. */
void sctp_pmtu_tell(struct sctp_pmtu *p, uint32_t told);
/*
 * A probe of the present size was answered: probe is the next size, or 0 when the search is over.
 */
void sctp_pmtu_answered(struct sctp_pmtu *p);
/*
 * A probe was lost while small packets got through. Returns true when `good` fell because of it:
 * large packets are swallowed without a word.
 */
bool sctp_pmtu_lost(struct sctp_pmtu *p);
/*
 * Large packets seem to get lost: probes `good` itself. Returns false when that is under way
 * already, or there is nothing lower to fall to.
 */
bool sctp_pmtu_doubt(struct sctp_pmtu *p);
/* A router says that the path takes mtu bytes and no more. Returns whether that is news. */
bool sctp_pmtu_too_big(struct sctp_pmtu *p, uint32_t mtu);
/* The search is long over. Paths change, so sizes that failed are tried again. */
void sctp_pmtu_raise(struct sctp_pmtu *p);

#endif
