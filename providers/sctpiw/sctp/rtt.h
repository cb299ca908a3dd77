/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Round-trip time and retransmission timeout of one path (RFC 9260 6.3.1). All times are ns.
 * Guarded by the owner's lock.
 */
#ifndef SCTPIW_SCTP_RTT_H
#define SCTPIW_SCTP_RTT_H

#include <stdint.h>

struct sctp_rtt {
	uint64_t srtt; /* 0: no measurement yet */
	uint64_t rttvar;
	uint64_t min;	      /* smallest measurement */
	uint64_t base;	      /* RTO without the back-off */
	unsigned int backoff; /* number of doublings of the RTO since the last measurement */
	uint64_t rto_min;
	uint64_t rto_max;
};

/* Starts without a measurement. The arguments are RTO.Initial, RTO.Min and RTO.Max. */
void sctp_rtt_init(struct sctp_rtt *r, uint64_t initial, uint64_t min, uint64_t max);
/* Adds a measurement, and ends the back-off. */
void sctp_rtt_sample(struct sctp_rtt *r, uint64_t rtt);
/* Doubles the RTO after the expiration of a timer (6.3.3). */
void sctp_rtt_backoff(struct sctp_rtt *r);
/* Sets the number of doublings of the RTO. */
void sctp_rtt_set_backoff(struct sctp_rtt *r, unsigned int doublings);
/* Returns the present RTO. */
uint64_t sctp_rtt_rto(const struct sctp_rtt *r);
/*
 * Returns the time to wait for the answer to a probe: max(2 SRTT, SRTT + 4 RTTVAR), plus `margin`
 * for delays in the peer. Returns `unmeasured` if there is no measurement yet.
 */
uint64_t sctp_rtt_answer_time(const struct sctp_rtt *r, uint64_t margin, uint64_t unmeasured);
/*
 * Returns the margin for a peer that answers at once. It is 3 ms for the scheduling of the peer,
 * and 100 ns for each of the first 64 KiB of `bytes`. A large packet after small packets takes
 * longer than they did, as on a link of 10 MB/s.
 */
uint64_t sctp_rtt_prompt_margin(uint64_t bytes);

#endif
