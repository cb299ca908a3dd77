/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Departures from RFC 9260 7.2.4 and 6.3.3, similar to RFC 8985 (RACK-TLP):
 * - A chunk is lost if a chunk that was sent later is acknowledged, and its own acknowledgement is
 *   late by a reordering time of max(SRTT/4, 1 ms). A chunk is also lost after three miss
 *   indications (7.2.4), unless packets on this path are known to be reordered. Miss indications
 *   alone are too slow, because the peer sends one SACK for a batch of packets. A chunk may be lost
 *   and sent again more than once in this way; each retransmission counts with its own time.
 * - If nothing was acknowledged for max(2 SRTT, SRTT + 4 RTTVAR) + 25 ms, the last chunk is sent
 *   again with the I bit, even if cwnd is full. This is a tail-loss probe. If the I bit has
 *   requested a SACK at once, 3 to 10 ms replace the 25 ms. Without the probe, the loss of the last
 *   chunks would cost RTO.Min, 1 s. The probe is repeated up to three times, at doubled intervals.
 *   If the peer reports the probed chunk as a duplicate, its SACKs are delayed for longer than
 *   assumed. The 25 ms then double, up to 400 ms. They shrink again while acknowledgements come
 *   without a probe.
 * - TSNs above the last gap block of the newest SACK are never judged, since a SACK may list only a
 *   few blocks (Linux: 16).
 * The chunks of each path are judged separately, since reordering between paths does not indicate a
 * loss. This is the split fast retransmit of Iyengar, Amer and Stewart, "Concurrent Multipath
 * Transfer Using SCTP Multihoming Over Independent End-to-End Paths", 2006.
 */
#include "sctp/recovery.h"

#include <errno.h>

#include "sctp/assoc.h"
#include "sctp/mtu.h"
#include "sctp/spread.h"
#include "sctp/trace.h"
#include "util/serial.h"

#define PROBES_MAX 3u /* maximum of tail-loss probes without an acknowledgement */
#define REORDER_MIN NSEC_PER_MSEC
#define MISS_LIMIT 3u

void sctp_recovery_init(struct sctp_assoc *a)
{
	a->learnt = (struct sctp_learnt){ .sack_delay = SCTP_SACK_DELAY, .reorder_factor = 1 };
}

void sctp_recovery_clear(struct sctp_path_recovery *r)
{
	*r = (struct sctp_path_recovery){ .due = { TIME_NEVER, TIME_NEVER, TIME_NEVER } };
}

void sctp_recovery_rearm(struct sctp_assoc *a, enum sctp_timer t)
{
	uint64_t when = a->path->recovery.due[SCTP_PATH_TIMER(t)];

	for (unsigned int i = 0; i < a->paths.others; i++) {
		uint64_t due = a->paths.other[i]->recovery.due[SCTP_PATH_TIMER(t)];

		if (due < when)
			when = due;
	}
	if (when == TIME_NEVER)
		sctp_timer_stop(a, t);
	else
		sctp_timer_set(a, t, when);
}

void sctp_recovery_timer_set(struct sctp_assoc *a, struct sctp_path *path, enum sctp_timer t,
			     uint64_t when)
{
	uint64_t *due = &path->recovery.due[SCTP_PATH_TIMER(t)];

	if (when == TIME_NEVER && *due == TIME_NEVER)
		return;
	*due = when;
	if (when != TIME_NEVER && (when <= a->timers.at[t] || !a->paths.others))
		sctp_timer_set(a, t, when);
	else
		sctp_recovery_rearm(a, t);
}

bool sctp_recovery_timer_runs(const struct sctp_path *path, enum sctp_timer t)
{
	return path->recovery.due[SCTP_PATH_TIMER(t)] != TIME_NEVER;
}

/* Calls expired() for each path whose timer has expired. expired() may end the association. */
static void each_expired(struct sctp_assoc *a, enum sctp_timer t, uint64_t now,
			 void (*expired)(struct sctp_assoc *a, struct sctp_path *path,
					 uint64_t now))
{
	unsigned int i = 0;

	while (a->state != SCTP_CLOSED && i <= a->paths.others) {
		struct sctp_path *path = sctp_path_at(a, i++);
		uint64_t *due = &path->recovery.due[SCTP_PATH_TIMER(t)];

		if (*due > now)
			continue;
		*due = TIME_NEVER;
		expired(a, path, now);
		i = 0; /* start again: another path may be in use now */
	}
	if (a->state != SCTP_CLOSED)
		sctp_recovery_rearm(a, t);
}

static uint64_t reorder_time(const struct sctp_assoc *a, const struct sctp_path *path)
{
	uint64_t t = path->rtt.srtt / 4 * a->learnt.reorder_factor;

	return t > REORDER_MIN ? t : REORDER_MIN;
}

void sctp_recovery_slow_down(struct sctp_assoc *a, struct sctp_path *path)
{
	struct sctp_episode *e = &path->recovery.now;

	if (e->recovering)
		return;
	e->recovering = true;
	e->exit = a->out.next - 1;
	e->exit_seq = a->inflight.xmit_seq;
	sctp_cc_loss(&path->cc);
}

static void enter_recovery(struct sctp_assoc *a, struct sctp_path *path)
{
	sctp_assoc_ready(a);
	if (path->recovery.now.recovering)
		return;
	sctp_recovery_slow_down(a, path);
	path->recovery.now.cwnd_exempt = 1; /* one packet may leave although cwnd is full (7.2.4) */
}

/* The result for the chunks of one path. */
struct look {
	uint64_t next;	/* earliest time when another chunk becomes lost */
	uint64_t again; /* last transmission of a chunk that is lost for the second time */
	bool lost;	/* a chunk is lost */
};

/*
 * Decides if a chunk in flight on this path is lost. `newly` has the newly acknowledged chunks of
 * the path, or is NULL.
 */
static inline void judge(struct sctp_assoc *a, uint64_t now, uint32_t tsn, struct sctp_out *o,
			 const struct sctp_path *path, const struct sctp_newly *newly,
			 struct look *look)
{
	const struct sctp_rack *rack = &path->recovery.rack;
	uint64_t deadline;

	if (!rack->valid || !serial32_lt(o->xmit_seq, rack->xmit_seq))
		return;
	if (newly && newly->bytes && serial32_lt(tsn, newly->newest) && o->miss < MISS_LIMIT)
		o->miss++;
	deadline = o->sent + rack->rtt + reorder_time(a, path);
	if (deadline <= now || (o->miss >= MISS_LIMIT && !path->recovery.now.reordered)) {
		if (o->flags & SCTP_OUT_RESENT && look->again < o->sent)
			look->again = o->sent;
		TRACE(packet_lost, now, .assoc = a->local_tag, .tsn = tsn, .bytes = o->len,
		      .why = deadline <= now ? "time_threshold" : "reordering_threshold");
		sctp_inflight_lost(a, tsn, o);
		look->lost = true;
	} else if (deadline < look->next) {
		look->next = deadline;
	}
}

void sctp_recovery_detect(struct sctp_assoc *a, uint64_t now, const struct sctp_newly *newly)
{
	struct look look[SCTP_PATHS_MAX];
	unsigned int i;
	uint32_t tsn;

	for (i = 0; i <= a->paths.others; i++)
		look[sctp_path_at(a, i)->id] = (struct look){ .next = TIME_NEVER };
	for (tsn = a->out.cum + 1; serial32_lt(tsn, a->inflight.gap_end); tsn++) {
		struct sctp_out *o = sctp_outq_at(&a->out, tsn);

		if (!(o->flags & (SCTP_OUT_ACKED | SCTP_OUT_LOST)))
			judge(a, now, tsn, o, sctp_path_of(a, o), newly ? &newly[o->path] : NULL,
			      &look[o->path]);
	}
	for (i = 0; i <= a->paths.others; i++) {
		struct sctp_path *path = sctp_path_at(a, i);
		const struct look *l = &look[path->id];

		if (l->again)
			sctp_mtu_doubt(a, path, l->again);
		sctp_recovery_timer_set(a, path, SCTP_TIMER_REORDER, l->next);
		if (l->lost)
			enter_recovery(a, path);
	}
}

void sctp_recovery_reorder(struct sctp_assoc *a, uint64_t now)
{
	sctp_recovery_detect(a, now, NULL);
}

void sctp_recovery_arm_probe(struct sctp_assoc *a, struct sctp_path *path, uint64_t now)
{
	const struct sctp_path_recovery *r = &path->recovery;
	const struct sctp_rtt *rtt = &path->rtt;
	uint64_t margin = r->sack_requested ? sctp_rtt_prompt_margin(path->flight) :
					      a->learnt.sack_delay;
	uint64_t wait = sctp_rtt_answer_time(rtt, margin, sctp_rtt_rto(rtt) / 2) << r->now.probes;

	if (!path->flight || r->now.probes >= PROBES_MAX || !sctp_in_states(a, SCTP_STATES_SEND) ||
	    now + wait >= r->due[SCTP_PATH_TIMER(SCTP_TIMER_T3)])
		sctp_recovery_timer_set(a, path, SCTP_TIMER_TLP, TIME_NEVER);
	else
		sctp_recovery_timer_set(a, path, SCTP_TIMER_TLP, now + wait);
}

bool sctp_recovery_is_suspicious(const struct sctp_assoc *a)
{
	/*
	 * If the peer's window is full, missing acknowledgements do not mean that the path has
	 * failed (8.2).
	 */
	return a->path->flight && a->path->recovery.now.probes > 1 &&
	       a->recovery.t3_since != TIME_NEVER;
}

void sctp_recovery_no_probe(struct sctp_assoc *a, struct sctp_path *path)
{
	if (!path->recovery.tlp.wanted)
		return;
	path->recovery.tlp.wanted = false;
	for (unsigned int i = 0; i <= a->paths.others; i++)
		if (sctp_path_at(a, i)->recovery.tlp.wanted)
			return;
	a->pending &= ~SCTP_PEND_PROBE;
}

static void probe(struct sctp_assoc *a, struct sctp_path *path, uint64_t now)
{
	struct sctp_path_recovery *r = &path->recovery;
	uint32_t tsn = a->out.next - 1;

	if (!path->flight)
		return;
	while (sctp_outq_at(&a->out, tsn)->flags & (SCTP_OUT_ACKED | SCTP_OUT_LOST) ||
	       sctp_path_of(a, sctp_outq_at(&a->out, tsn)) != path)
		tsn--; /* the loop ends, since the path has a chunk in flight */
	/*
	 * If the peer's window is full, missing acknowledgements do not mean that the path has
	 * failed (8.2).
	 */
	if (a->recovery.t3_since != TIME_NEVER) {
		if (r->now.probes && sctp_paths_suspect(a, path, now))
			return;
		sctp_paths_ask(a, path, now);
	}
	r->tlp.tsn = tsn;
	if (r->now.probes++)
		sctp_mtu_doubt(a, path, sctp_outq_at(&a->out, tsn)->sent);
	r->tlp.wanted = true;
	a->pending |= SCTP_PEND_PROBE;
	sctp_assoc_ready(a);
}

void sctp_recovery_probe(struct sctp_assoc *a, uint64_t now)
{
	each_expired(a, SCTP_TIMER_TLP, now, probe);
}

/* Returns the chunk for which T3 of the path was started, or NULL. */
static const struct sctp_out *timed(const struct sctp_assoc *a, const struct sctp_path *path)
{
	uint32_t tsn = a->out.cum + 1;

	/* The first chunk may be in a gap block, with nothing in flight: see timeout(). */
	if (!sctp_spread_is_on(a) || (path == a->path && sctp_spread_is_quiet(a)))
		return sctp_outq_at(&a->out, tsn);
	for (; path->flight && tsn != a->out.next; tsn++) {
		const struct sctp_out *o = sctp_outq_at(&a->out, tsn);

		if (!(o->flags & (SCTP_OUT_ACKED | SCTP_OUT_LOST)) && sctp_path_of(a, o) == path)
			return o;
	}
	return NULL;
}

static void timeout(struct sctp_assoc *a, struct sctp_path *path, uint64_t now)
{
	struct sctp_path_recovery *r = &path->recovery;
	/* The peer's window is full, so the path has not failed. */
	bool no_room = a->recovery.t3_since == TIME_NEVER;
	bool in_use = path == a->path;
	const struct sctp_out *first;

	if (!sctp_outq_count(&a->out))
		return;
	first = timed(a, path);
	if (!first) /* all chunks of the path are acknowledged; other paths have their own timers */
		return;
	if (!a->recovery.t3_since || a->recovery.t3_since == TIME_NEVER)
		a->recovery.t3_since = now;
	/* This ends the association even if the peer still answers HEARTBEATs. */
	if (now - a->recovery.t3_since >= a->s->config.silent_limit) {
		sctp_close_fail(a, 0, NULL, 0, -ETIMEDOUT);
		return;
	}
	a->s->stats.timeouts++;
	a->counts.timeouts++;
	if (r->now.timeouts < UINT8_MAX)
		r->now.timeouts++;
	sctp_mtu_doubt(a, path, first->sent);
	/*
	 * The first outstanding chunk is reported in a gap block, but the cumulative TSN has not
	 * passed it. So the peer has dropped received DATA.
	 */
	if (first->flags & SCTP_OUT_ACKED) {
		sctp_inflight_renege(a, a->out.cum + 1, a->out.next);
		a->inflight.gap_end = a->out.cum;
	}
	sctp_trace_path_lost(a, path, "pto_expired", now);
	sctp_inflight_path_lost(a, path);
	sctp_cc_timeout(&path->cc);
	sctp_rtt_backoff(&path->rtt);
	r->now.recovering = false;
	r->now.measuring = false;
	r->now.cwnd_exempt = 0;
	r->now.probes = PROBES_MAX; /* no probes until an acknowledgement comes */
	sctp_recovery_no_probe(a, path);
	sctp_recovery_timer_set(a, path, SCTP_TIMER_TLP, TIME_NEVER);
	sctp_recovery_timer_set(a, path, SCTP_TIMER_REORDER, TIME_NEVER);
	if (!no_room) {
		path->health.errors++;
		TRACE(path_failed, now, .assoc = a->local_tag, .remote = &path->addr.remote,
		      .errors = path->health.errors);
		sctp_paths_failed(a, path, now);
	}
	if ((in_use || sctp_spread_is_quiet(a)) &&
	    !sctp_recovery_timer_runs(a->path, SCTP_TIMER_T3))
		sctp_recovery_timer_set(a, a->path, SCTP_TIMER_T3,
					now + sctp_rtt_rto(&a->path->rtt));
	sctp_trace_metrics(a, now);
	sctp_assoc_ready(a);
}

void sctp_recovery_timeout(struct sctp_assoc *a, uint64_t now)
{
	each_expired(a, SCTP_TIMER_T3, now, timeout);
}
