/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sctp/rtt.h"

#include "util/time.h"

#define BACKOFF_MAX 16u
#define SCHEDULING (3 * NSEC_PER_MSEC)
#define NSEC_PER_BYTE 100u

void sctp_rtt_init(struct sctp_rtt *r, uint64_t initial, uint64_t min, uint64_t max)
{
	*r = (struct sctp_rtt){ .base = initial, .rto_min = min, .rto_max = max };
}

void sctp_rtt_sample(struct sctp_rtt *r, uint64_t rtt)
{
	uint64_t delta;

	if (!rtt)
		rtt = 1;
	if (!r->srtt) {
		r->srtt = rtt;
		r->rttvar = rtt / 2;
		r->min = rtt;
	} else {
		delta = r->srtt > rtt ? r->srtt - rtt : rtt - r->srtt;
		r->rttvar = r->rttvar - r->rttvar / 4 + delta / 4;
		r->srtt = r->srtt - r->srtt / 8 + rtt / 8;
		if (!r->srtt)
			r->srtt = 1;
		if (rtt < r->min)
			r->min = rtt;
	}
	r->base = r->srtt + 4 * r->rttvar;
	if (r->base < r->rto_min)
		r->base = r->rto_min;
	if (r->base > r->rto_max)
		r->base = r->rto_max;
	r->backoff = 0;
}

void sctp_rtt_backoff(struct sctp_rtt *r)
{
	sctp_rtt_set_backoff(r, r->backoff + 1);
}

void sctp_rtt_set_backoff(struct sctp_rtt *r, unsigned int doublings)
{
	r->backoff = doublings < BACKOFF_MAX ? doublings : BACKOFF_MAX;
}

uint64_t sctp_rtt_rto(const struct sctp_rtt *r)
{
	uint64_t rto = r->base << r->backoff;

	return rto < r->rto_max ? rto : r->rto_max;
}

uint64_t sctp_rtt_answer_time(const struct sctp_rtt *r, uint64_t margin, uint64_t unmeasured)
{
	uint64_t trip = 2 * r->srtt;

	if (trip < r->srtt + 4 * r->rttvar)
		trip = r->srtt + 4 * r->rttvar;
	return trip ? trip + margin : unmeasured;
}

uint64_t sctp_rtt_prompt_margin(uint64_t bytes)
{
	return SCHEDULING + (bytes < UINT16_MAX ? bytes : UINT16_MAX) * NSEC_PER_BYTE;
}
