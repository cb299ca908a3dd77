/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sctp/cc.h"

#define CWND_MAX (1u << 30)
#define HOSTS_HOLD (512u << 10) /* bytes in the two hosts, whatever the path */
#define SSTHRESH_MAX UINT32_MAX /* no loss was seen yet */

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
	cc->pristine = true;
}

void sctp_cc_set_rtt(struct sctp_cc *cc, uint64_t min)
{
	cc->most = min < CWND_MAX / 20 ? HOSTS_HOLD + (uint32_t)min * 10 : CWND_MAX;
}

/* The window after it has grown by so many bytes. */
static uint32_t grown(const struct sctp_cc *cc, uint32_t bytes)
{
	return max_u32(cc->cwnd, min_u32(cc->cwnd + bytes, cc->most));
}

void sctp_cc_set_pmdcs(struct sctp_cc *cc, uint32_t pmdcs)
{
	cc->pmdcs = pmdcs;
	/*
	 * Nothing was lost yet, so it is as if the path had been known to take this from the start.
	 */
	if (cc->pristine || (cc->ssthresh == SSTHRESH_MAX && cc->cwnd < initial_window(cc)))
		cc->cwnd = initial_window(cc);
}

void sctp_cc_acked(struct sctp_cc *cc, uint32_t bytes, bool limited, bool recovering, bool drained)
{
	if (cc->cwnd <= cc->ssthresh) {
		if (!limited || recovering)
			return;
		/*
		 * Slow start. RFC 9260 7.2.1 bounds the growth by L * PMDCS for a
		 * SACK and recommends L = 1, for receivers that send one SACK for every
		 * second packet. Ours, and all that sit behind receive offload, send
		 * one for a batch of up to 64, so L has to be that number. The bytes
		 * acknowledged remain the bound that guards against divided SACKs.
		 */
		cc->cwnd = grown(cc, min_u32(bytes, 64 * cc->pmdcs));
		cc->pristine = false;
		return;
	}
	/* Congestion avoidance (7.2.2). */
	cc->partial = min_u32(cc->partial + bytes, CWND_MAX);
	if (cc->partial >= cc->cwnd) {
		if (limited) {
			cc->partial -= cc->cwnd;
			cc->cwnd = grown(cc, cc->pmdcs);
		} else {
			cc->partial = cc->cwnd;
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
