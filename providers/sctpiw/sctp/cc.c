/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sctp/cc.h"

#include "sctp/tx.h"

#define CWND_MAX (1u << 30)
/* bytes in flight due to the delays of the two hosts, on any path */
#define HOSTS_HOLD (512u << 10)
#define SSTHRESH_MAX UINT32_MAX /* value before the first loss */

static uint32_t max_u32(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t initial_window(const struct sctp_cc *cc)
{
	return min_u32(4 * cc->pmdcs, max_u32(2 * cc->pmdcs, cc->v4 ? 4404 : 4344));
}

void sctp_cc_init(struct sctp_cc *cc, uint32_t pmdcs, bool v4)
{
	cc->pmdcs = pmdcs;
	cc->v4 = v4;
	cc->cwnd = initial_window(cc);
	cc->most = CWND_MAX;
	cc->ssthresh = SSTHRESH_MAX;
	cc->partial = 0;
	cc->stride = 0;
	cc->pristine = true;
}

void sctp_cc_set_rtt(struct sctp_cc *cc, uint64_t min)
{
	cc->most = min < CWND_MAX / 20 ? HOSTS_HOLD + (uint32_t)min * 10 : CWND_MAX;
}

/* Returns the value of cwnd after growth by this many bytes, within the maximum. */
static uint32_t grown(const struct sctp_cc *cc, uint32_t bytes)
{
	return max_u32(cc->cwnd, min_u32(cc->cwnd + bytes, cc->most));
}

void sctp_cc_set_pmdcs(struct sctp_cc *cc, uint32_t pmdcs)
{
	cc->pmdcs = pmdcs;
	/* Without a loss, use the window that this MTU would have given from the start. */
	if (cc->pristine || (cc->ssthresh == SSTHRESH_MAX && cc->cwnd < initial_window(cc)))
		cc->cwnd = initial_window(cc);
}

#define RATIO_ONE 256u /* fixed-point value of the ratio 1 */
/* the square of this value, times CWND_MAX, fits into 64 bits */
#define RATIO_MAX (RATIO_ONE * 256u)

/* Returns the rate of the path in bytes per second. */
static uint64_t rate_of(const struct sctp_cc *cc, uint64_t rtt)
{
	return rtt ? (uint64_t)cc->cwnd * 1000000000 / (rtt < 1000 ? 1000 : rtt) : 0;
}

void sctp_cc_couple(struct sctp_cc *const cc[], const uint64_t rtt[], unsigned int n)
{
	uint64_t rate = 0, least = CWND_MAX;
	unsigned int i;

	for (i = 0; i < n; i++)
		rate += rate_of(cc[i], rtt[i]);
	for (i = 0; n > 1 && i < n; i++) {
		uint64_t own = rate_of(cc[i], rtt[i]);
		uint64_t ratio = own && rate / own < RATIO_MAX / RATIO_ONE ?
					 rate * RATIO_ONE / own :
					 RATIO_MAX;
		uint64_t stride = cc[i]->cwnd * (ratio * ratio) / (RATIO_ONE * RATIO_ONE);

		if (stride < least)
			least = stride;
	}
	for (i = 0; i < n; i++)
		cc[i]->stride = n > 1 ? (uint32_t)least : 0;
}

void sctp_cc_acked(struct sctp_cc *cc, uint32_t bytes, bool limited, bool recovering, bool drained)
{
	uint32_t stride = max_u32(cc->cwnd, cc->stride);

	if (cc->cwnd <= cc->ssthresh) {
		if (!limited || recovering)
			return;
		/*
		 * Slow start. RFC 9260 7.2.1 limits the growth for one SACK to L * PMDCS. It
		 * recommends L = 1, which assumes one SACK for every second packet. A receiver with
		 * receive offload sends one SACK for a batch of up to 64 packets; sctpiw sends one
		 * for two batches (SCTP_UNASKED_PACKETS). So L is the number of packets in two
		 * batches. The acknowledged bytes still limit the growth, so a peer gains nothing
		 * by dividing a SACK.
		 */
		cc->cwnd = grown(cc, min_u32(bytes, 2 * SCTP_BATCH_PACKETS * cc->pmdcs));
		cc->pristine = false;
		return;
	}
	/* Congestion avoidance (7.2.2). */
	cc->partial = min_u32(cc->partial + bytes, CWND_MAX);
	if (cc->partial >= stride) {
		if (limited) {
			cc->partial -= stride;
			cc->cwnd = grown(cc, cc->pmdcs);
		} else {
			cc->partial = stride;
		}
	}
	if (drained)
		cc->partial = 0;
}

void sctp_cc_loss(struct sctp_cc *cc)
{
	cc->ssthresh = max_u32(cc->cwnd / 2, 4 * cc->pmdcs);
	cc->cwnd = cc->ssthresh;
	cc->partial = 0;
	cc->pristine = false;
}

void sctp_cc_timeout(struct sctp_cc *cc)
{
	cc->ssthresh = max_u32(cc->cwnd / 2, 4 * cc->pmdcs);
	cc->cwnd = cc->pmdcs;
	cc->partial = 0;
	cc->pristine = false;
}

void sctp_cc_idle(struct sctp_cc *cc, unsigned int rtos)
{
	uint32_t floor = 4 * cc->pmdcs;

	if (!rtos || cc->cwnd <= floor)
		return;
	if (cc->ssthresh == SSTHRESH_MAX || cc->ssthresh < cc->cwnd)
		cc->ssthresh = cc->cwnd;
	while (rtos-- && cc->cwnd > floor)
		cc->cwnd = max_u32(cc->cwnd / 2, floor);
	cc->partial = 0;
}
