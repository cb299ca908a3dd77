/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sctp/sack.h"

#include <errno.h>

#include "sctp/input.h"
#include "sctp/spread.h"
#include "sctp/trace.h"
#include "util/serial.h"

/*
 * Maximum number of SACKs that are processed in a packet. A SACK may require a look at all
 * outstanding chunks, and a packet has room for thousands of SACKs. Usual senders put only one SACK
 * into a packet. Further SACKs are ignored as if they were lost, which a sender must expect anyway.
 */
#define SACKS_MAX 4u
#define REORDER_FACTOR_MAX 4u

/* The state of a path before the SACK. */
struct before {
	uint32_t flight;   /* bytes of DATA in flight */
	uint32_t rack_seq; /* number of the RACK chunk's packet */
	bool rack_valid;
};

/* The result of one SACK. */
struct acked {
	uint64_t now;
	uint32_t old_cum; /* cumulative TSN before the SACK */
	uint32_t bytes;	  /* bytes acknowledged for the first time */
	bool spurious;	  /* a retransmission was unnecessary */
	bool spread;	  /* the state of each path depends only on its own DATA */
	/* The next two arrays have one entry for each path, by sctp_path.id. */
	struct before before[SCTP_PATHS_MAX];
	struct sctp_newly newly[SCTP_PATHS_MAX]; /* the part of `bytes` that belongs to the path */
};

/*
 * RACK: of all chunks that have arrived, records the one that was sent last, and its round trip. If
 * the chunk was sent on two paths, the transmission on the other path may have arrived. The
 * acknowledgement then proves nothing about this path (as in Karn's rule for RTTs).
 */
static inline void rack(struct sctp_path *path, const struct sctp_out *o, struct acked *acked)
{
	const struct before *before = &acked->before[path->id];
	struct sctp_rack *r = &path->recovery.rack;
	uint64_t rtt = acked->now - o->sent;

	if (o->flags & SCTP_OUT_MOVED)
		return;
	if (o->flags & SCTP_OUT_RESENT) {
		if (rtt < path->rtt.min) { /* too fast: the original transmission has arrived */
			if (rtt < path->rtt.min / 2)
				acked->spurious = true;
			return;
		}
	} else if (before->rack_valid && serial32_lt(o->xmit_seq, before->rack_seq)) {
		path->recovery.now.reordered = true;
	}
	if (!r->valid || serial32_ge(o->xmit_seq, r->xmit_seq)) {
		r->valid = true;
		r->xmit_seq = o->xmit_seq;
		r->rtt = rtt;
	}
}

/* Handles the first acknowledgement of a chunk. */
static void note_acked(struct sctp_assoc *a, uint32_t tsn, const struct sctp_out *o,
		       struct acked *acked)
{
	/* If DATA is not spread, it counts for the path in use, even if another path carried it. */
	struct sctp_path *path = acked->spread ? sctp_path_of(a, o) : a->path;
	struct sctp_episode *e = &path->recovery.now;

	acked->bytes += o->len;
	acked->newly[path->id].bytes += o->len;
	if (!(o->flags & SCTP_OUT_MOVED))
		acked->newly[path->id].newest = tsn;
	rack(path, o, acked);
	if (e->measuring && tsn == e->measured_tsn) {
		e->measuring = false;
		sctp_rtt_sample(&path->rtt, acked->now - o->sent);
		sctp_cc_set_rtt(&path->cc, path->rtt.min);
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
 * Processes the gap blocks. The caller has checked that they contain only TSNs that were sent. TSNs
 * between blocks are missing. The state of TSNs above the last block is unknown, since a SACK need
 * not list all blocks.
 */
static void gaps(struct sctp_assoc *a, const struct wire_sctp_sack *s, struct acked *acked)
{
	uint32_t next = s->cum + 1;
	uint32_t tsn, end;
	unsigned int i;

	for (i = 0; i < s->gaps; i++) {
		struct wire_sctp_gap gap = wire_sctp_sack_gap(s, i);

		/* Skip invalid blocks. Skip overlapping blocks, too: they would only cost time. */
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

/* True if the SACK acknowledges TSNs that were never sent (12.4). */
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

enum age { OLD, PRESENT, NEW };

/*
 * Compares the age of a SACK with the newest SACK so far. SACKs on several paths may overtake each
 * other, and an old SACK would revoke acknowledgements of a newer one. A newer SACK contains all
 * acknowledgements of older ones. So a SACK with a new acknowledgement is the newest, and a SACK
 * that lacks a known acknowledgement is old. A SACK with the same acknowledgements can only have a
 * larger window, since the peer's user has taken data (6.2 B and C).
 */
static enum age age_of(const struct sctp_assoc *a, const struct wire_sctp_sack *s)
{
	uint32_t next = s->cum + 1, listed = 0;
	unsigned int i;

	if (s->cum != a->out.cum)
		return NEW;
	for (i = 0; i < s->gaps; i++) {
		struct wire_sctp_gap gap = wire_sctp_sack_gap(s, i);
		uint32_t tsn = s->cum + gap.start;

		if (serial32_lt(tsn, next)) /* skip the block, as gaps() does */
			continue;
		for (; serial32_le(tsn, s->cum + gap.end); next = ++tsn, listed++)
			if (!(sctp_outq_at(&a->out, tsn)->flags & SCTP_OUT_ACKED))
				return NEW;
	}
	return listed == a->inflight.gap_acked ? PRESENT : OLD;
}

/*
 * Handles the duplicates that the peer reports. If a tail-loss probe is one of them, the probe was
 * unnecessary: the peer delays its SACKs for longer than the probe waited.
 */
static void duplicates(struct sctp_assoc *a, const struct wire_sctp_sack *s, struct sctp_tlp *tlp)
{
	unsigned int i;

	for (i = 0; i < s->dups && tlp->doubt; i++) {
		if (wire_sctp_sack_dup(s, i) != tlp->tsn)
			continue;
		tlp->doubt = false;
		if (a->learnt.sack_delay < SCTP_SACK_DELAY_MAX)
			a->learnt.sack_delay *= 2;
	}
}

/*
 * Handles the window after a window probe. A peer with a full window may drop window probes for any
 * length of time (6.1 A). When the window opens, the chunk is sent again at once. It must not wait
 * for a T3 that has doubled several times.
 */
static void probed_window(struct sctp_assoc *a, uint64_t now)
{
	if (a->window.peer_rwnd < sctp_outq_at(&a->out, a->out.cum + 1)->len) {
		a->recovery.t3_since = TIME_NEVER;
	} else if (a->recovery.t3_since == TIME_NEVER) {
		for (unsigned int i = 0; i <= a->paths.others; i++) {
			struct sctp_path *path = sctp_path_at(a, i);

			if (!path->recovery.now.timeouts)
				continue;
			a->recovery.t3_since = now;
			sctp_trace_path_lost(a, path, "window_opened", now);
			sctp_inflight_path_lost(a, path);
		}
	}
}

/*
 * Updates cwnd and recovery of a path after an acknowledgement. If DATA is spread, the cumulative
 * TSN may wait for another path, and so proves nothing about this path. cwnd then grows with the
 * chunks that this path has delivered (the "cwnd update for CMT" of Iyengar, Amer and Stewart).
 * Fast Recovery ends when a packet sent after its start has arrived.
 */
static void path_acknowledged(struct sctp_assoc *a, struct sctp_path *path,
			      const struct acked *acked)
{
	struct sctp_episode *e = &path->recovery.now;
	const struct sctp_rack *r = &path->recovery.rack;
	uint32_t bytes = acked->newly[path->id].bytes;
	bool moved = acked->spread ? bytes : a->out.cum != acked->old_cum;
	bool drained = sctp_outq_count(&a->out) == 0;
	bool limited = e->cwnd_limited || acked->before[path->id].flight >= path->cc.cwnd;

	/* Let cwnd grow before a loss in the same SACK shrinks it (7.2.4). */
	if (moved && bytes)
		sctp_cc_acked(&path->cc, bytes, limited, e->recovering, drained);
	if (moved)
		e->cwnd_limited = false;
	if (e->recovering && (serial32_ge(a->out.cum, e->exit) ||
			      (acked->spread && r->valid && serial32_gt(r->xmit_seq, e->exit_seq))))
		e->recovering = false;
	if (!bytes)
		return;
	sctp_path_works(a, path, acked->now);
	e->timeouts = 0;
	/*
	 * A reported duplicate may also mean that a SACK was lost. So the learnt delay shrinks
	 * again. Otherwise probes would leave later and later on a lossy path.
	 */
	if (!e->probes)
		a->learnt.sack_delay -= (a->learnt.sack_delay - SCTP_SACK_DELAY) / 8;
	e->probes = 0;
	sctp_recovery_no_probe(a, path);
}

/* Updates the paths and the association after a SACK. */
static void acknowledged(struct sctp_assoc *a, const struct acked *acked)
{
	if (acked->spread && acked->bytes)
		sctp_spread_couple(a);
	for (unsigned int i = 0; i <= a->paths.others; i++)
		path_acknowledged(a, sctp_path_at(a, i), acked);
	/* Compare now, not later: TSNs are compared modulo 2^32. */
	if (a->tx.has_awaited && serial32_ge(a->out.cum, a->tx.awaited_tsn))
		a->tx.has_awaited = false;
	if (acked->spurious && a->learnt.reorder_factor < REORDER_FACTOR_MAX)
		a->learnt.reorder_factor++;
	if (acked->bytes)
		a->recovery.t3_since = 0;
}

/*
 * Starts or stops T3 of a path (rules R2 and R3 of 6.3.2). If DATA is spread, T3 of each path is
 * for the path's own chunks. T3 of the path in use is also for outstanding chunks that are in
 * flight on no path; a peer with malformed gap blocks can cause these.
 */
static void rearm_t3(struct sctp_assoc *a, struct sctp_path *path, const struct acked *acked)
{
	bool moved = a->out.cum != acked->old_cum;
	bool needed = path == a->path;

	if (acked->spread) {
		moved = acked->newly[path->id].bytes;
		needed = path->flight || (needed && sctp_spread_is_quiet(a));
	}
	if (!needed || sctp_outq_count(&a->out) == 0)
		sctp_recovery_timer_set(a, path, SCTP_TIMER_T3, TIME_NEVER);
	else if (moved || !sctp_recovery_timer_runs(path, SCTP_TIMER_T3))
		sctp_recovery_timer_set(a, path, SCTP_TIMER_T3,
					acked->now + sctp_rtt_rto(&path->rtt));
}

/* Sets the timers of the sender after a SACK, and looks for losses. */
static void rearm(struct sctp_assoc *a, const struct acked *acked)
{
	bool drained = sctp_outq_count(&a->out) == 0;
	unsigned int i;

	if (!drained)
		probed_window(a, acked->now);
	for (i = 0; i <= a->paths.others; i++)
		rearm_t3(a, sctp_path_at(a, i), acked);
	sctp_recovery_detect(a, acked->now, acked->newly);
	for (i = 0; i <= a->paths.others; i++) {
		struct sctp_path *path = sctp_path_at(a, i);

		if (acked->newly[path->id].bytes || drained)
			sctp_recovery_arm_probe(a, path, acked->now);
	}
	sctp_window_sacked(a);
}

/* Continues the actions that have waited for an acknowledgement. May end the association. */
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

/* Initialises *acked. Called before the SACK is processed. */
static void begin(const struct sctp_in *in, struct acked *acked)
{
	const struct sctp_assoc *a = in->a;

	acked->now = in->now;
	acked->old_cum = a->out.cum;
	acked->bytes = 0;
	acked->spurious = false;
	acked->spread = sctp_spread_is_on(a);
	for (unsigned int i = 0; i <= a->paths.others; i++) {
		const struct sctp_path *path = sctp_path_at(a, i);

		acked->before[path->id] = (struct before){
			.flight = path->flight,
			.rack_seq = path->recovery.rack.xmit_seq,
			.rack_valid = path->recovery.rack.valid,
		};
		acked->newly[path->id] = (struct sctp_newly){ .newest = a->out.cum };
	}
}

void sctp_sack_input(struct sctp_in *in, const struct wire_sctp_chunk *c)
{
	struct sctp_assoc *a = in->a;
	struct acked acked;
	struct wire_sctp_sack s;
	enum age age;
	unsigned int i;

	if (in->sacks++ >= SACKS_MAX)
		return;
	/*
	 * Skip an old SACK, and one half the TSN space away. The rest of the function requires
	 * out.cum <= s.cum.
	 */
	if (!wire_sctp_sack_get(c, &s) || !serial32_ge(s.cum, a->out.cum))
		return;
	if (beyond(a, &s)) {
		sctp_close_fail(a, WIRE_SCTP_CAUSE_PROTOCOL, NULL, 0, -EPROTO);
		return;
	}
	begin(in, &acked);
	in->sacked = true;
	in->sack_cum = s.cum;
	age = acked.spread ? age_of(a, &s) : NEW;
	if (age != NEW)
		s.gaps = 0;
	advance(a, s.cum, &acked);
	if (age == NEW || (age == PRESENT && s.a_rwnd > a->window.peer_rwnd))
		a->window.peer_rwnd = s.a_rwnd;
	if (s.gaps) {
		gaps(a, &s, &acked);
		/* otherwise the SACK may be an old one that has come late */
	} else if (s.cum != acked.old_cum) {
		sctp_inflight_renege(a, s.cum + 1, a->out.next);
		a->inflight.gap_end = s.cum;
	}
	for (i = 0; i <= a->paths.others; i++)
		duplicates(a, &s, &sctp_path_at(a, i)->recovery.tlp);
	conclude(a, &acked);
}

void sctp_sack_cum_only(struct sctp_in *in, uint32_t cum)
{
	struct sctp_assoc *a = in->a;
	struct acked acked;

	if (in->sacks++ >= SACKS_MAX || !serial32_ge(cum, a->out.cum))
		return;
	if (serial32_gt(cum, a->out.next - 1)) {
		sctp_close_fail(a, WIRE_SCTP_CAUSE_PROTOCOL, NULL, 0, -EPROTO);
		return;
	}
	begin(in, &acked);
	advance(a, cum, &acked);
	conclude(a, &acked);
}
