/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sctp/sack.h"

#include <errno.h>

#include "sctp/input.h"
#include "sctp/trace.h"
#include "util/serial.h"

/*
 * A SACK may make us look at everything outstanding, and thousands of them fit a packet. Nobody
 * bundles more than one, so those above this number are treated as lost, which SACKs may be.
 */
#define SACKS_MAX 4u
#define REORDER_FACTOR_MAX 4u

/* What one SACK brought. */
struct acked {
	uint64_t now;
	uint32_t old_cum;      /* cumulative TSN before it */
	uint32_t old_flight;   /* bytes in flight before it */
	uint32_t old_rack_seq; /* the RACK chunk's xmit_seq before it */
	bool old_rack_valid;
	uint32_t bytes;	 /* acknowledged for the first time */
	uint32_t newest; /* highest TSN of those */
	bool spurious;	 /* a retransmission was not needed */
};

/* RACK: notes the chunk sent last among those that arrived, and how long it took. */
static inline void rack(struct sctp_assoc *a, const struct sctp_out *o, struct acked *acked)
{
	struct sctp_rack *r = &a->recovery.rack;
	uint64_t rtt = acked->now - o->sent;

	if (o->flags & SCTP_OUT_RESENT) {
		if (rtt < a->path->rtt.min) { /* too fast: it was the original that arrived */
			if (rtt < a->path->rtt.min / 2)
				acked->spurious = true;
			return;
		}
	} else if (acked->old_rack_valid && serial32_lt(o->xmit_seq, acked->old_rack_seq)) {
		a->recovery.now.reordered = true;
	}
	if (!r->valid || serial32_ge(o->xmit_seq, r->xmit_seq)) {
		r->valid = true;
		r->xmit_seq = o->xmit_seq;
		r->rtt = rtt;
	}
}

/* Notes that a chunk is acknowledged for the first time. */
static void note_acked(struct sctp_assoc *a, uint32_t tsn, const struct sctp_out *o,
		       struct acked *acked)
{
	acked->bytes += o->len;
	acked->newest = tsn;
	rack(a, o, acked);
	if (a->recovery.now.measuring && tsn == a->recovery.now.measured_tsn) {
		a->recovery.now.measuring = false;
		sctp_rtt_sample(&a->path->rtt, acked->now - o->sent);
		sctp_cc_set_rtt(&a->path->cc, a->path->rtt.min);
	}
}

static void advance(struct sctp_assoc *a, uint32_t cum, struct acked *acked)
{
	uint32_t tsn;

	for (tsn = a->out.cum + 1; serial32_le(tsn, cum); tsn++) {
		struct sctp_out *o = sctp_outq_at(&a->out, tsn);

		if (!(o->flags & SCTP_OUT_ACKED))
			note_acked(a, tsn, o, acked);
		sctp_inflight_passed(a, o);
	}
	sctp_inflight_advance(a, cum);
}

/*
 * Goes through the gap blocks, which end within what was sent (checked before). What lies between
 * them is missing; what lies above the last one is unknown, since a SACK need not list them all.
 */
static void gaps(struct sctp_assoc *a, const struct wire_sctp_sack *s, struct acked *acked)
{
	uint32_t next = s->cum + 1;
	uint32_t tsn, end;
	unsigned int i;

	for (i = 0; i < s->gaps; i++) {
		struct wire_sctp_gap gap = wire_sctp_sack_gap(s, i);

		/* Skip nonsense, and blocks that overlap, which would cost time only. */
		if (gap.end < gap.start || serial32_lt(s->cum + gap.start, next))
			continue;
		end = s->cum + gap.end;
		sctp_inflight_renege(a, next, s->cum + gap.start);
		for (tsn = s->cum + gap.start; serial32_le(tsn, end); tsn++) {
			struct sctp_out *o = sctp_outq_at(&a->out, tsn);

			if (o->flags & SCTP_OUT_ACKED)
				continue;
			note_acked(a, tsn, o, acked);
			sctp_inflight_acked(a, o);
		}
		next = end + 1;
	}
	a->inflight.gap_end = next - 1;
}

/* Whether the SACK acknowledges TSNs that were never sent (12.4). */
static bool beyond(const struct sctp_assoc *a, const struct wire_sctp_sack *s)
{
	uint32_t sent = a->out.next - 1;
	unsigned int i;

	if (serial32_gt(s->cum, sent))
		return true;
	for (i = 0; i < s->gaps; i++)
		if (wire_sctp_sack_gap(s, i).end > sent - s->cum)
			return true;
	return false;
}

static void duplicates(struct sctp_assoc *a, const struct wire_sctp_sack *s)
{
	struct sctp_tlp *tlp = &a->recovery.tlp;
	unsigned int i;

	/*
	 * If the probe came twice, it was not needed: the peer delays its SACKs longer than we
	 * waited.
	 */
	for (i = 0; i < s->dups && tlp->doubt; i++) {
		if (wire_sctp_sack_dup(s, i) != tlp->tsn)
			continue;
		tlp->doubt = false;
		if (a->learnt.sack_delay < SCTP_SACK_DELAY_MAX)
			a->learnt.sack_delay *= 2;
	}
}

/*
 * A peer that has no room drops what probes its window, for as long as it likes (6.1 A). Once it
 * has room, the probe need not wait for a T3 that was doubled again and again.
 */
static void probed_window(struct sctp_assoc *a, uint64_t now)
{
	if (a->window.peer_rwnd < sctp_outq_at(&a->out, a->out.cum + 1)->len) {
		a->recovery.t3_since = TIME_NEVER;
	} else if (a->recovery.now.timeouts && a->recovery.t3_since == TIME_NEVER) {
		a->recovery.t3_since = now;
		sctp_trace_all_lost(a, "window_opened", now);
		sctp_inflight_all_lost(a);
	}
}

/* What an acknowledgement says of cwnd, of recovery and of the path. */
static void acknowledged(struct sctp_assoc *a, const struct acked *acked)
{
	struct sctp_episode *e = &a->recovery.now;
	bool moved = a->out.cum != acked->old_cum;
	bool drained = sctp_outq_count(&a->out) == 0;
	bool limited = e->cwnd_limited || acked->old_flight >= a->path->cc.cwnd;

	/* cwnd grows first; then a loss in the same SACK takes from it (7.2.4). */
	if (moved && acked->bytes)
		sctp_cc_acked(&a->path->cc, acked->bytes, limited, e->recovering, drained);
	if (moved)
		e->cwnd_limited = false;
	/* Now, not when it is asked for: TSNs are compared modulo 2^32. */
	if (a->tx.has_awaited && serial32_ge(a->out.cum, a->tx.awaited_tsn))
		a->tx.has_awaited = false;
	if (e->recovering && serial32_ge(a->out.cum, e->exit))
		e->recovering = false;
	if (acked->spurious && a->learnt.reorder_factor < REORDER_FACTOR_MAX)
		a->learnt.reorder_factor++;
	if (!acked->bytes)
		return;
	sctp_path_works(a->path, acked->now);
	e->timeouts = 0;
	a->recovery.t3_since = 0;
	/*
	 * A reported duplicate may as well mean that a SACK was lost. What was learnt from it
	 * therefore shrinks again; else probes would come ever later on a lossy path.
	 */
	if (!e->probes)
		a->learnt.sack_delay -= (a->learnt.sack_delay - SCTP_SACK_DELAY) / 8;
	e->probes = 0;
	a->pending &= ~SCTP_PEND_PROBE;
}

/* Sets the timers of sending, and looks for losses, after a SACK. */
static void rearm(struct sctp_assoc *a, const struct acked *acked)
{
	bool moved = a->out.cum != acked->old_cum;
	bool drained = sctp_outq_count(&a->out) == 0;

	if (!drained)
		probed_window(a, acked->now);
	if (drained)
		sctp_timer_stop(a, SCTP_TIMER_T3);
	else if (moved || !sctp_timer_runs(a, SCTP_TIMER_T3))
		sctp_timer_set(a, SCTP_TIMER_T3, acked->now + sctp_rtt_rto(&a->path->rtt));
	sctp_recovery_detect(a, acked->now, acked->newest, acked->bytes);
	if (acked->bytes || drained)
		sctp_recovery_arm_probe(a, acked->now);
	sctp_window_sacked(a);
}

/* Wakes up what has waited for an acknowledgement. May end the association. */
static void wake(struct sctp_assoc *a, uint64_t now)
{
	sctp_tx_idle(a);
	if (a->paths.returning_to_primary)
		sctp_paths_settle(a, now);
	if (a->inflight.lost || a->want_pull)
		sctp_assoc_ready(a);
	sctp_close_drained(a, now);
}

static void conclude(struct sctp_assoc *a, const struct acked *acked)
{
	acknowledged(a, acked);
	rearm(a, acked);
	wake(a, acked->now);
}

static struct acked nothing_acked(const struct sctp_in *in)
{
	const struct sctp_assoc *a = in->a;

	return (struct acked){
		.now = in->now,
		.old_cum = a->out.cum,
		.old_flight = a->path->flight,
		.old_rack_seq = a->recovery.rack.xmit_seq,
		.old_rack_valid = a->recovery.rack.valid,
		.newest = a->out.cum,
	};
}

void sctp_sack_input(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	struct sctp_assoc *a = in->a;
	struct acked acked = nothing_acked(in);
	struct wire_sctp_sack s;

	if (in->sacks++ >= SACKS_MAX)
		return;
	/*
	 * An old SACK is skipped, also one half the TSN space away: from here on cum <= s.cum
	 * holds.
	 */
	if (!wire_sctp_sack_get(c, &s) || !serial32_ge(s.cum, a->out.cum))
		return;
	if (beyond(a, &s)) {
		sctp_close_fail(a, WIRE_SCTP_CAUSE_PROTOCOL, NULL, 0, -EPROTO);
		return;
	}
	in->sacked = true;
	in->sack_cum = s.cum;
	advance(a, s.cum, &acked);
	a->window.peer_rwnd = s.a_rwnd;
	if (s.gaps) {
		gaps(a, &s, &acked);
	} else if (s.cum != acked.old_cum) { /* else it may be an old SACK that came late */
		sctp_inflight_renege(a, s.cum + 1, a->out.next);
		a->inflight.gap_end = s.cum;
	}
	duplicates(a, &s);
	conclude(a, &acked);
}

void sctp_sack_cum_only(struct sctp_in *in, uint32_t cum)
{
	struct sctp_assoc *a = in->a;
	struct acked acked = nothing_acked(in);

	if (in->sacks++ >= SACKS_MAX || !serial32_ge(cum, a->out.cum))
		return;
	if (serial32_gt(cum, a->out.next - 1)) {
		sctp_close_fail(a, WIRE_SCTP_CAUSE_PROTOCOL, NULL, 0, -EPROTO);
		return;
	}
	advance(a, cum, &acked);
	conclude(a, &acked);
}
