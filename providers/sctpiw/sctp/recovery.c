/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Departures from RFC 9260 7.2.4 and 6.3.3, in the manner of RFC 8985 (RACK-TLP):
 * - A chunk is lost when one sent later was acknowledged and a reordering time of
 *   max(SRTT/4, 1 ms) has passed since its own acknowledgement was to be expected, or
 *   after three miss indications as in 7.2.4 unless this path was seen to reorder.
 *   With one SACK for a batch of packets, indications come too slowly to rely on. A
 *   chunk may be lost and sent again more than once in this way; what is sent again
 *   counts as sent at that time.
 * - When nothing was acknowledged for max(2 SRTT, SRTT + 4 RTTVAR) + 25 ms, or + 3 to
 *   10 ms if the I bit asked for a SACK at once, the last chunk is sent again with the
 *   I bit, whatever cwnd says: a tail-loss probe. RTO.Min is 1 s, and a lost tail must
 *   not cost that. The probe repeats up to three times, at doubled distance. If the
 *   peer reports the probed chunk as a duplicate, its SACKs are delayed for longer than
 *   we thought, and the 25 ms double, up to 400. They shrink again as acknowledgements
 *   come without a probe.
 * - Only TSNs below the last gap block of the newest SACK are ever judged, since a SACK
 *   may list few blocks (Linux: 16).
 */
#include "sctp/recovery.h"

#include <errno.h>

#include "sctp/assoc.h"
#include "sctp/mtu.h"
#include "sctp/trace.h"
#include "util/serial.h"

#define PROBES_MAX 3u /* tail-loss probes in a row */
#define REORDER_MIN NSEC_PER_MSEC
#define MISS_LIMIT 3u

void sctp_recovery_init(struct sctp_assoc *a)
{
	a->learnt = (struct sctp_learnt){ .sack_delay = SCTP_SACK_DELAY, .reorder_factor = 1 };
}

static uint64_t reorder_time(const struct sctp_assoc *a)
{
	uint64_t t = a->path->rtt.srtt / 4 * a->learnt.reorder_factor;

	return t > REORDER_MIN ? t : REORDER_MIN;
}

static void enter_recovery(struct sctp_assoc *a)
{
	sctp_assoc_ready(a);
	if (a->recovery.now.recovering)
		return;
	a->recovery.now.recovering = true;
	a->recovery.now.exit = a->out.next - 1;
	a->recovery.now.cwnd_exempt = 1; /* the first packet leaves despite cwnd (7.2.4) */
	sctp_cc_loss(&a->path->cc);
}

void sctp_recovery_detect(struct sctp_assoc *a, uint64_t now, uint32_t newest, bool count)
{
	const struct sctp_rack *rack = &a->recovery.rack;
	uint64_t next = TIME_NEVER;
	uint32_t lost = a->inflight.lost;
	uint64_t reorder = reorder_time(a);
	uint64_t again = 0; /* when a chunk left last that is lost for the second time */
	uint32_t tsn;

	for (tsn = a->out.cum + 1; serial32_lt(tsn, a->inflight.gap_end); tsn++) {
		struct sctp_out *o = sctp_outq_at(&a->out, tsn);
		uint64_t deadline;

		if (o->flags & (SCTP_OUT_ACKED | SCTP_OUT_LOST) || !rack->valid ||
		    !serial32_lt(o->xmit_seq, rack->xmit_seq))
			continue;
		if (count && serial32_lt(tsn, newest) && o->miss < MISS_LIMIT)
			o->miss++;
		deadline = o->sent + rack->rtt + reorder;
		if (deadline <= now || (o->miss >= MISS_LIMIT && !a->recovery.now.reordered)) {
			if (o->flags & SCTP_OUT_RESENT && again < o->sent)
				again = o->sent;
			TRACE(packet_lost, now, .assoc = a->local_tag, .tsn = tsn, .bytes = o->len,
			      .why = deadline <= now ? "time_threshold" : "reordering_threshold");
			sctp_inflight_lost(a, tsn, o);
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
	if (a->inflight.lost != lost)
		enter_recovery(a);
}

void sctp_recovery_reorder(struct sctp_assoc *a, uint64_t now)
{
	sctp_recovery_detect(a, now, a->out.cum, false);
}

void sctp_recovery_arm_probe(struct sctp_assoc *a, uint64_t now)
{
	const struct sctp_rtt *rtt = &a->path->rtt;
	uint64_t margin = a->tx.sack_requested ? sctp_rtt_prompt_margin(a->path->flight) :
						 a->learnt.sack_delay;
	uint64_t wait = sctp_rtt_answer_time(rtt, margin, sctp_rtt_rto(rtt) / 2)
			<< a->recovery.now.probes;

	if (!a->path->flight || a->recovery.now.probes >= PROBES_MAX ||
	    !sctp_in_states(a, SCTP_STATES_SEND) || now + wait >= a->timers.at[SCTP_TIMER_T3])
		sctp_timer_stop(a, SCTP_TIMER_TLP);
	else
		sctp_timer_set(a, SCTP_TIMER_TLP, now + wait);
}

bool sctp_recovery_is_suspicious(const struct sctp_assoc *a)
{
	/* A peer that answers that it has no room is there (8.2). */
	return a->path->flight && a->recovery.now.probes > 1 && a->recovery.t3_since != TIME_NEVER;
}

void sctp_recovery_probe(struct sctp_assoc *a, uint64_t now)
{
	uint32_t tsn = a->out.next - 1;

	if (!a->path->flight)
		return;
	while (sctp_outq_at(&a->out, tsn)->flags & (SCTP_OUT_ACKED | SCTP_OUT_LOST))
		tsn--; /* this ends, since something is in flight */
	if (a->recovery.t3_since != TIME_NEVER) {
		if (a->recovery.now.probes && sctp_paths_suspect(a, now))
			return;
		sctp_paths_ask(a, now);
	}
	a->recovery.tlp.tsn = tsn;
	if (a->recovery.now.probes++)
		sctp_mtu_doubt(a, sctp_outq_at(&a->out, tsn)->sent);
	a->pending |= SCTP_PEND_PROBE;
	sctp_assoc_ready(a);
}

void sctp_recovery_timeout(struct sctp_assoc *a, uint64_t now)
{
	struct sctp_episode *e = &a->recovery.now;
	/* The peer answers that it has no room: it is not the path that fails. */
	bool no_room = a->recovery.t3_since == TIME_NEVER;
	const struct sctp_out *first;

	if (!sctp_outq_count(&a->out))
		return;
	if (!a->recovery.t3_since || a->recovery.t3_since == TIME_NEVER)
		a->recovery.t3_since = now;
	/* A peer that answers HEARTBEATs and nothing else is of no use either. */
	if (now - a->recovery.t3_since >= a->s->config.silent_limit) {
		sctp_close_fail(a, 0, NULL, 0, -ETIMEDOUT);
		return;
	}
	a->s->stats.timeouts++;
	a->counts.timeouts++;
	if (e->timeouts < UINT8_MAX)
		e->timeouts++;
	first = sctp_outq_at(&a->out, a->out.cum + 1);
	sctp_mtu_doubt(a, first->sent);
	/*
	 * The first outstanding chunk can stand in no gap block, or the cumulative
	 * TSN would have passed it: the peer has dropped what it reported.
	 */
	if (first->flags & SCTP_OUT_ACKED) {
		sctp_inflight_renege(a, a->out.cum + 1, a->out.next);
		a->inflight.gap_end = a->out.cum;
	}
	sctp_trace_all_lost(a, "pto_expired", now);
	sctp_inflight_all_lost(a);
	sctp_cc_timeout(&a->path->cc);
	sctp_rtt_backoff(&a->path->rtt);
	e->recovering = false;
	e->measuring = false;
	e->cwnd_exempt = 0;
	e->probes = PROBES_MAX; /* no probes until something is acknowledged */
	a->pending &= ~SCTP_PEND_PROBE;
	sctp_timer_stop(a, SCTP_TIMER_TLP);
	sctp_timer_stop(a, SCTP_TIMER_REORDER);
	if (!no_room) {
		a->path->health.errors++;
		TRACE(path_failed, now, .assoc = a->local_tag, .remote = &a->path->addr.remote,
		      .errors = a->path->health.errors);
		sctp_paths_fail_over(a, now);
	}
	sctp_timer_set(a, SCTP_TIMER_T3, now + sctp_rtt_rto(&a->path->rtt));
	sctp_trace_metrics(a, now);
	sctp_assoc_ready(a);
}
