/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Loss detection and the timers of sending.
 *
 * Departures from RFC 9260 7.2.4 and 6.3.3, in the manner of RFC 8985 (RACK-TLP):
 * - A chunk is lost when one sent later was acknowledged and a reordering time of
 *   max(SRTT/4, 1 ms) has passed since its own acknowledgement was to be expected,
 *   or after three miss indications as in 7.2.4 unless this path was
 *   seen to reorder. With one SACK for a batch of packets, indications come too
 *   slowly to rely on. A chunk may be lost and sent again more than once in this
 *   way; what is sent again counts as sent at that time.
 * - A tail-loss probe: when nothing was acknowledged for max(2 SRTT, SRTT + 4 RTTVAR)
 *   + 25 ms, or + 3 to 10 ms where the I bit asked for a SACK at once, the last
 *   chunk is sent again with the I bit, whatever cwnd says. RTO.Min is 1 s, and a
 *   lost tail must not cost that. It repeats up to three times, at doubled
 *   distance. Where the peer reports the probed chunk as a duplicate, its SACKs are
 *   delayed for longer, and the 25 ms double, up to 400; they come back as
 *   acknowledgements come without a probe.
 * - Only TSNs below the last gap block of the newest SACK are ever judged: a SACK
 *   may list few blocks (Linux: 16).
 */
#include <errno.h>

#include "sctp/internal.h"
#include "util/serial.h"

void sctp_recovery_mark(struct sctp_assoc *a, uint32_t tsn, struct sctp_out *o)
{
	if (o->flags & (SCTP_OUT_LOST | SCTP_OUT_ACKED))
		return;
	if (o->flags & SCTP_OUT_REFERENCED)
		sctp_zcopy_lost(a);
	o->flags |= SCTP_OUT_LOST;
	a->path.flight -= o->len;
	a->charged -= o->len + (o->flags & SCTP_OUT_FIRST ? SCTP_PACKET_OVERHEAD : 0);
	if (!a->lost++ || serial32_lt(tsn, a->lost_from))
		a->lost_from = tsn;
}

static uint64_t reorder_time(const struct sctp_assoc *a)
{
	uint64_t t = a->path.rtt.srtt / 4 * a->reorder_factor;

	return t > SCTP_REORDER_MIN ? t : SCTP_REORDER_MIN;
}

static void enter_recovery(struct sctp_assoc *a)
{
	sctp_assoc_ready(a);
	if (a->recovering)
		return;
	a->recovering = true;
	a->recovery_exit = a->out.next - 1;
	a->rescue = 1; /* the first packet goes out despite cwnd (7.2.4) */
	sctp_cc_loss(&a->path.cc);
}

void sctp_recovery_detect(struct sctp_assoc *a, uint64_t now, uint32_t newest, bool count)
{
	uint64_t next = TIME_NEVER;
	uint32_t lost = a->lost;
	uint64_t reorder = reorder_time(a);
	uint64_t again = 0;
	uint32_t tsn;

	for (tsn = a->out.cum + 1; serial32_lt(tsn, a->gap_end); tsn++) {
		struct sctp_out *o = sctp_outq_at(&a->out, tsn);
		uint64_t deadline;

		if (o->flags & (SCTP_OUT_ACKED | SCTP_OUT_LOST) || !a->rack_valid ||
		    !serial32_lt(o->order, a->rack_order))
			continue;
		if (count && serial32_lt(tsn, newest) && o->miss < SCTP_MISS_LIMIT)
			o->miss++;
		deadline = o->sent + a->rack_rtt + reorder;
		if (deadline <= now || (o->miss >= SCTP_MISS_LIMIT && !a->reordered)) {
			if (o->flags & SCTP_OUT_RESENT && again < o->sent)
				again = o->sent;
			sctp_recovery_mark(a, tsn, o);
		} else if (deadline < next) {
			next = deadline;
		}
	}
	if (again)
		sctp_mtu_doubt(a, again);
	if (next != TIME_NEVER)
		sctp_timer_set(a, SCTP_TIMER_REORDER, next);
	else
		sctp_timer_stop(a, SCTP_TIMER_REORDER);
	if (a->lost != lost)
		enter_recovery(a);
}

void sctp_recovery_reorder(struct sctp_assoc *a, uint64_t now)
{
	sctp_recovery_detect(a, now, a->out.cum, false);
}

/* A large packet behind small ones takes longer than they did: as if on a link of 10 MB/s. */
static uint64_t asked_margin(const struct sctp_assoc *a)
{
	uint64_t bytes = a->path.flight < UINT16_MAX ? a->path.flight : UINT16_MAX;

	return SCTP_TLP_MARGIN_ASKED + bytes * 100;
}

void sctp_recovery_arm_probe(struct sctp_assoc *a, uint64_t now)
{
	const struct sctp_rtt *rtt = &a->path.rtt;
	uint64_t margin = a->asked ? asked_margin(a) : a->tlp_margin;
	uint64_t trip = 2 * rtt->srtt;
	uint64_t wait;

	if (trip < rtt->srtt + 4 * rtt->rttvar)
		trip = rtt->srtt + 4 * rtt->rttvar;
	wait = trip ? trip + margin : sctp_rtt_rto(rtt) / 2;
	wait <<= a->tlp_count;
	if (!a->path.flight || a->tlp_count >= SCTP_TLP_MAX || !sctp_in_states(a, SCTP_STATES_SEND) ||
	    now + wait >= a->timers[SCTP_TIMER_T3])
		sctp_timer_stop(a, SCTP_TIMER_TLP);
	else
		sctp_timer_set(a, SCTP_TIMER_TLP, now + wait);
}

void sctp_recovery_probe(struct sctp_assoc *a, uint64_t now)
{
	uint32_t tsn = a->out.next - 1;

	if (!a->path.flight)
		return;
	while (sctp_outq_at(&a->out, tsn)->flags & (SCTP_OUT_ACKED | SCTP_OUT_LOST))
		tsn--; /* ends: something is in flight */
	a->tlp_tsn = tsn;
	if (a->tlp_count++)
		sctp_mtu_doubt(a, sctp_outq_at(&a->out, tsn)->sent);
	a->pending |= SCTP_PEND_PROBE;
	sctp_assoc_ready(a);
}

void sctp_recovery_timeout(struct sctp_assoc *a, uint64_t now)
{
	bool no_room = a->stalled == TIME_NEVER; /* the peer answers: it is not the path */
	uint32_t tsn;

	if (!sctp_outq_count(&a->out))
		return;
	if (!a->stalled || a->stalled == TIME_NEVER)
		a->stalled = now;
	/* A peer that answers heartbeats alone is of no use either. */
	if (now - a->stalled >= a->s->config.silent_limit) {
		sctp_close_fail(a, 0, NULL, 0, -ETIMEDOUT);
		return;
	}
	a->s->stats.timeouts++;
	if (a->timeouts < UINT8_MAX)
		a->timeouts++;
	sctp_mtu_doubt(a, sctp_outq_at(&a->out, a->out.cum + 1)->sent);
	/*
	 * The first outstanding chunk can stand in no gap block, or the cumulative
	 * TSN would have passed it: the peer has dropped what it reported.
	 */
	if (sctp_outq_at(&a->out, a->out.cum + 1)->flags & SCTP_OUT_ACKED) {
		for (tsn = a->out.cum + 1; tsn != a->out.next; tsn++) {
			struct sctp_out *o = sctp_outq_at(&a->out, tsn);

			if (!(o->flags & SCTP_OUT_ACKED))
				continue;
			o->flags &= (uint8_t)~SCTP_OUT_ACKED;
			a->path.flight += o->len;
			a->charged += o->len +
				      (o->flags & SCTP_OUT_FIRST ? SCTP_PACKET_OVERHEAD : 0);
		}
		a->gap_acked = 0;
		a->gap_end = a->out.cum;
	}
	for (tsn = a->out.cum + 1; tsn != a->out.next; tsn++)
		sctp_recovery_mark(a, tsn, sctp_outq_at(&a->out, tsn));
	sctp_cc_timeout(&a->path.cc);
	sctp_rtt_backoff(&a->path.rtt);
	a->recovering = false;
	a->rtt_running = false;
	a->rescue = 0;
	a->tlp_count = SCTP_TLP_MAX; /* no probes until something is acknowledged */
	a->pending &= ~SCTP_PEND_PROBE;
	sctp_timer_stop(a, SCTP_TIMER_TLP);
	sctp_timer_stop(a, SCTP_TIMER_REORDER);
	if (!no_room) {
		a->path.errors++;
		sctp_paths_fail_over(a, now);
	}
	sctp_timer_set(a, SCTP_TIMER_T3, now + sctp_rtt_rto(&a->path.rtt));
	sctp_assoc_ready(a);
}

void sctp_recovery_window(struct sctp_assoc *a, uint64_t now)
{
	if (a->charged || !a->want_pull)
		return;
	a->window_probe = true;
	a->window_tries++;
	sctp_assoc_ready(a);
}
