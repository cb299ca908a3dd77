/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Round-trip time and retransmission timeout of one path (RFC 9260 6.3.1); nanoseconds. */
#ifndef SCTPIW_SCTP_RTT_H
#define SCTPIW_SCTP_RTT_H

#include <stdint.h>

struct sctp_rtt {
	uint64_t srtt; /* 0: no measurement yet */
	uint64_t rttvar;
	uint64_t min;  /* the smallest measurement */
	uint64_t base; /* RTO without back-off */
	unsigned int backoff; /* doublings of base since the last measurement */
	uint64_t rto_min;
	uint64_t rto_max;
};

void sctp_rtt_init(struct sctp_rtt *r, uint64_t initial, uint64_t min, uint64_t max);
/* A measurement; ends the back-off. */
void sctp_rtt_sample(struct sctp_rtt *r, uint64_t rtt);
/* A timer expired: doubles the RTO. */
void sctp_rtt_backoff(struct sctp_rtt *r);
/* The RTO to use now. */
uint64_t sctp_rtt_rto(const struct sctp_rtt *r);

#endif
