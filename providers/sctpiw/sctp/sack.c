/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* SACKs that arrive (RFC 9260 6.2.1, 6.3, 7.2). */
#include <errno.h>

#include "sctp/internal.h"
#include "util/serial.h"

/*
 * A SACK may make us look at everything outstanding, and thousands of them fit a packet. Nobody
 * bundles more than one; what is above this is as good as lost, which SACKs may be.
 */
#define SACKS_MAX 4u

/* What one SACK brought. */
struct acked {
	uint32_t bytes;	 /* acknowledged for the first time */
	uint32_t newest; /* highest TSN of those */
	uint32_t rack_order; /* before this SACK */
	bool rack_valid;
	bool spurious; /* a retransmission was not needed */
	uint64_t now;
};

/* RACK: the latest sent packet that arrived, and how long it took. */
static void rack(struct sctp_assoc *a, const struct sctp_out *o, struct acked *acked)
{
	uint64_t rtt = acked->now - o->sent;

	if (o->flags & SCTP_OUT_RESENT) {
		if (rtt < a->path.rtt.min) { /* too fast: it was the original that arrived */
			if (rtt < a->path.rtt.min / 2)
				acked->spurious = true;
			return;
		}
	} else if (acked->rack_valid && serial32_lt(o->order, acked->rack_order)) {
		a->reordered = true;
	}
	if (!a->rack_valid || serial32_ge(o->order, a->rack_order)) {
		a->rack_valid = true;
		a->rack_order = o->order;
		a->rack_rtt = rtt;
	}
}

/* A chunk that was not acknowledged before. */
static void ack_chunk(struct sctp_assoc *a, uint32_t tsn, struct sctp_out *o, struct acked *acked)
{
	if (o->flags & SCTP_OUT_LOST) {
		a->lost--;
	} else {
		a->path.flight -= o->len;
		a->charged -= o->len + (o->flags & SCTP_OUT_FIRST ? SCTP_PACKET_OVERHEAD : 0);
	}
	acked->bytes += o->len;
	acked->newest = tsn;
	rack(a, o, acked);
	if (a->rtt_running && tsn == a->rtt_tsn) {
		a->rtt_running = false;
		sctp_rtt_sample(&a->path.rtt, acked->now - o->sent);
		sctp_cc_set_rtt(&a->path.cc, a->path.rtt.min);
	}
}

static void advance(struct sctp_assoc *a, uint32_t cum, struct acked *acked)
{
	uint32_t tsn;

	for (tsn = a->out.cum + 1; serial32_le(tsn, cum); tsn++) {
		struct sctp_out *o = sctp_outq_at(&a->out, tsn);

		if (o->flags & SCTP_OUT_ACKED)
			a->gap_acked--;
		else
			ack_chunk(a, tsn, o, acked);
		if (o->flags & SCTP_OUT_REFERENCED)
			a->ref--;
		sctp_block_unref(&a->s->blocks, o->block);
	}
	a->out.cum = cum;
	if (serial32_lt(a->gap_end, cum))
		a->gap_end = cum;
	if (serial32_le(a->lost_from, cum))
		a->lost_from = cum + 1;
}

/* The peer takes back what it acknowledged in a gap block (6.2.1): it is in flight again. */
static void renege(struct sctp_assoc *a, uint32_t from, uint32_t to)
{
	uint32_t tsn;

	for (tsn = from; a->gap_acked && serial32_lt(tsn, to); tsn++) {
		struct sctp_out *o = sctp_outq_at(&a->out, tsn);

		if (!(o->flags & SCTP_OUT_ACKED))
			continue;
		o->flags &= (uint8_t)~SCTP_OUT_ACKED;
		a->gap_acked--;
		a->path.flight += o->len;
		a->charged += o->len + (o->flags & SCTP_OUT_FIRST ? SCTP_PACKET_OVERHEAD : 0);
	}
}

/*
 * The gap blocks, ascending and within what was sent (checked before). What lies
 * between them is missing; what lies above the last one is unknown, since a SACK
 * need not list them all.
 */
static void gaps(struct sctp_assoc *a, const struct wire_sctp_sack *s, struct acked *acked)
{
	uint32_t next = s->cum + 1;
	uint32_t tsn, end;
	unsigned int i;

	for (i = 0; i < s->gaps; i++) {
		struct wire_sctp_gap gap = wire_sctp_sack_gap(s, i);

		if (gap.end < gap.start || serial32_lt(s->cum + gap.start, next))
			continue; /* nonsense, and what overlaps costs time only */
		end = s->cum + gap.end;
		renege(a, next, s->cum + gap.start);
		for (tsn = s->cum + gap.start; serial32_le(tsn, end); tsn++) {
			struct sctp_out *o = sctp_outq_at(&a->out, tsn);

			if (o->flags & SCTP_OUT_ACKED)
				continue;
			ack_chunk(a, tsn, o, acked);
			o->flags &= (uint8_t)~SCTP_OUT_LOST;
			o->flags |= SCTP_OUT_ACKED;
			a->gap_acked++;
		}
		next = end + 1;
	}
	a->gap_end = next - 1;
}

/* Whether the SACK speaks of TSNs that were never sent (12.4). */
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
	unsigned int i;

	/* The probe was not needed: the peer delays its SACKs for longer than we waited. */
	for (i = 0; i < s->dups && a->tlp_doubt; i++) {
		if (wire_sctp_sack_dup(s, i) != a->tlp_tsn)
			continue;
		a->tlp_doubt = false;
		if (a->tlp_margin < SCTP_TLP_MARGIN_MAX)
			a->tlp_margin *= 2;
	}
}

/*
 * A peer that has no room drops what probes its window, for as long as it likes (6.1 A). Once it
 * has, the probe need not wait for a T3 that was doubled again and again.
 */
static void probed_window(struct sctp_assoc *a, uint64_t now)
{
	uint32_t tsn = a->out.cum + 1;

	if (a->peer_rwnd < sctp_outq_at(&a->out, tsn)->len) {
		a->stalled = TIME_NEVER;
	} else if (a->timeouts && a->stalled == TIME_NEVER) {
		a->stalled = now;
		for (; tsn != a->out.next; tsn++)
			sctp_recovery_mark(a, tsn, sctp_outq_at(&a->out, tsn));
	}
}

/* What follows from a SACK for timers, windows and what may be sent. */
static void conclude(struct sctp_assoc *a, const struct acked *acked, uint32_t old_cum,
		     uint32_t flight)
{
	struct sctp_path *path = &a->path;
	bool moved = a->out.cum != old_cum;
	bool drained = sctp_outq_count(&a->out) == 0;
	bool limited = a->cwnd_limited || flight >= path->cc.cwnd;

	/* Growth first, then what a loss in the same SACK takes away (7.2.4). */
	if (moved && acked->bytes)
		sctp_cc_acked(&path->cc, acked->bytes, limited, a->recovering, drained);
	if (moved)
		a->cwnd_limited = false;
	if (a->recovering && serial32_ge(a->out.cum, a->recovery_exit))
		a->recovering = false;
	if (acked->spurious && a->reorder_factor < 4)
		a->reorder_factor++;
	if (acked->bytes) {
		sctp_path_works(path, acked->now);
		a->timeouts = 0;
		a->stalled = 0;
		/*
		 * A duplicate may as well mean that a SACK was lost: without the way back, a
		 * lossy path would have ever later probes.
		 */
		if (!a->tlp_count)
			a->tlp_margin -= (a->tlp_margin - SCTP_TLP_MARGIN) / 8;
		a->tlp_count = 0;
		a->pending &= ~SCTP_PEND_PROBE;
	}
	if (!drained)
		probed_window(a, acked->now);
	if (drained)
		sctp_timer_stop(a, SCTP_TIMER_T3);
	else if (moved || !sctp_timer_runs(a, SCTP_TIMER_T3))
		sctp_timer_set(a, SCTP_TIMER_T3, acked->now + sctp_rtt_rto(&path->rtt));
	sctp_recovery_detect(a, acked->now, acked->newest, acked->bytes);
	if (acked->bytes || drained)
		sctp_recovery_arm_probe(a, acked->now);
	if (sctp_tx_rwnd_room(a)) {
		sctp_timer_stop(a, SCTP_TIMER_WINDOW);
		a->window_tries = 0;
	}
	sctp_tx_idle(a);
	if (a->moving)
		sctp_paths_settle(a, acked->now);
	if (a->lost || a->want_pull)
		sctp_assoc_ready(a);
	sctp_close_drained(a, acked->now);
}

static struct acked nothing_acked(const struct sctp_in *in)
{
	return (struct acked){
		.newest = in->a->out.cum,
		.rack_order = in->a->rack_order,
		.rack_valid = in->a->rack_valid,
		.now = in->now,
	};
}

void sctp_sack_input(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	struct sctp_assoc *a = in->a;
	uint32_t old_cum = a->out.cum;
	uint32_t flight = a->path.flight;
	struct acked acked = nothing_acked(in);
	struct wire_sctp_sack s;

	if (in->sacks++ >= SACKS_MAX)
		return;
	/* Old, also when half the TSN space away: from here on cum <= s.cum holds. */
	if (!wire_sctp_sack_get(c, &s) || !serial32_ge(s.cum, old_cum))
		return;
	if (beyond(a, &s)) {
		sctp_close_fail(a, WIRE_SCTP_CAUSE_PROTOCOL, NULL, 0, -EPROTO);
		return;
	}
	advance(a, s.cum, &acked);
	a->peer_rwnd = s.a_rwnd;
	if (s.gaps) {
		gaps(a, &s, &acked);
	} else if (s.cum != old_cum) { /* else it may be an old SACK that came late */
		renege(a, s.cum + 1, a->out.next);
		a->gap_end = s.cum;
	}
	duplicates(a, &s);
	conclude(a, &acked, old_cum, flight);
}

void sctp_sack_cum_only(struct sctp_in *in, uint32_t cum)
{
	struct sctp_assoc *a = in->a;
	uint32_t old_cum = a->out.cum;
	uint32_t flight = a->path.flight;
	struct acked acked = nothing_acked(in);

	if (in->sacks++ >= SACKS_MAX || !serial32_ge(cum, old_cum))
		return;
	if (serial32_gt(cum, a->out.next - 1)) {
		sctp_close_fail(a, WIRE_SCTP_CAUSE_PROTOCOL, NULL, 0, -EPROTO);
		return;
	}
	advance(a, cum, &acked);
	conclude(a, &acked, old_cum, flight);
}
