/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sctp/window.h"

#include "sctp/assoc.h"

#define WORTH 512u   /* bytes; a smaller window is too small for a message */
#define TRIES_MAX 6u /* maximum of doublings of the time between two window probes */

size_t sctp_window_room(const struct sctp_assoc *a)
{
	const struct sctp_window *w = &a->window;
	size_t full = a->path->mtu.max_packet - WIRE_SCTP_COMMON_LEN;
	size_t want = full + SCTP_PACKET_OVERHEAD;
	size_t avail = w->peer_rwnd > w->rwnd_outstanding ? w->peer_rwnd - w->rwnd_outstanding : 0;

	if (avail >= want)
		return full;
	if (!w->rwnd_outstanding) {
		if (w->probe)
			return full;
		/* The whole window is smaller than a packet: use all of it. */
		return avail < WORTH ? 0 : (avail < full ? avail : full) & ~(size_t)3;
	}
	/* To avoid silly windows, send a short packet only if half of the window is free. */
	if (avail < w->peer_rwnd / 2 || avail < SCTP_PACKET_OVERHEAD + WORTH)
		return 0;
	return (avail - SCTP_PACKET_OVERHEAD) & ~(size_t)3;
}

bool sctp_window_cwnd_full(const struct sctp_path *path)
{
	return path->flight >= path->cc.cwnd || (path->recovery.now.timeouts && path->flight);
}

bool sctp_window_defers(const struct sctp_path *path)
{
	const struct sctp_cc *cc = &path->cc;
	uint32_t worth = cc->cwnd / 8 < SCTP_BATCH_BYTES ? cc->cwnd / 8 : SCTP_BATCH_BYTES;

	return path->recovery.cwnd_blocked && worth >= cc->pmdcs && path->flight + worth > cc->cwnd;
}

bool sctp_window_open(const struct sctp_assoc *a, const struct sctp_path *path)
{
	return !sctp_window_cwnd_full(path) && !a->inflight.lost &&
	       sctp_outq_count(&a->out) < a->s->config.max_tsn_distance && sctp_window_room(a);
}

void sctp_window_wait(struct sctp_assoc *a, uint64_t now)
{
	unsigned int doublings = a->window.tries < TRIES_MAX ? a->window.tries : TRIES_MAX;
	uint64_t wait = sctp_rtt_rto(&a->path->rtt) << doublings;

	if (a->window.rwnd_outstanding || sctp_timer_runs(a, SCTP_TIMER_WINDOW))
		return;
	if (wait > a->s->config.rto_max)
		wait = a->s->config.rto_max;
	sctp_timer_set(a, SCTP_TIMER_WINDOW, now + wait);
}

void sctp_window_timeout(struct sctp_assoc *a, uint64_t now)
{
	if (a->window.rwnd_outstanding || !a->want_pull)
		return;
	a->window.probe = true;
	a->window.tries++;
	sctp_assoc_ready(a);
}

void sctp_window_sacked(struct sctp_assoc *a)
{
	if (!sctp_window_room(a))
		return;
	sctp_timer_stop(a, SCTP_TIMER_WINDOW);
	a->window.tries = 0;
}
