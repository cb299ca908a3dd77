/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "sctp/spread.h"

#include "util/serial.h"

#define CONTROL                                                                                    \
	(SCTP_PEND_COOKIE_ACK | SCTP_PEND_HEARTBEAT | SCTP_PEND_SHUTDOWN |                         \
	 SCTP_PEND_SHUTDOWN_ACK | SCTP_PEND_SACK | SCTP_PEND_ASK)

bool sctp_spread_is_quiet(const struct sctp_assoc *a)
{
	unsigned int i;

	for (i = 0; i <= a->paths.others; i++)
		if (sctp_path_at(a, i)->flight)
			return false;
	return true;
}

/* True if the path carries DATA. */
static bool carries(const struct sctp_assoc *a, const struct sctp_path *path)
{
	return path == a->path || path->joined;
}

static bool is_disjoint(const struct path_addr *p, const struct path_addr *q)
{
	return !ip_addr_is_zero(&p->local) && !ip_addr_is_zero(&q->local) &&
	       !ip_addr_equal(&p->local, &q->local) && !ip_addr_equal(&p->remote, &q->remote);
}

static bool is_apart(const struct sctp_assoc *a, const struct sctp_path *path)
{
	unsigned int i;

	for (i = 0; i <= a->paths.others; i++) {
		const struct sctp_path *other = sctp_path_at(a, i);

		if (other != path && carries(a, other) && !is_disjoint(&path->addr, &other->addr))
			return false;
	}
	return true;
}

/*
 * True if the path may join. It must not have failed recently. Its MTU must be known, or at least
 * as large as that of the path in use, since otherwise all paths would have to send small packets.
 */
static bool may_join(const struct sctp_assoc *a, const struct sctp_path *path, uint64_t now)
{
	const struct sctp_pmtu *mtu = &path->mtu.search;

	return path->usable && path->confirmed && !path->health.errors && now >= path->rest.until &&
	       (!mtu->probe || mtu->good >= a->path->mtu.search.good);
}

void sctp_spread_update(struct sctp_assoc *a, uint64_t now)
{
	unsigned int i;

	if (!sctp_spread_is_on(a) || !sctp_in_states(a, SCTP_STATES_UP))
		return;
	for (i = 0; i < a->paths.others; i++) {
		struct sctp_path *path = a->paths.other[i];

		if (path->joined && !is_apart(a, path))
			sctp_paths_part(a, path);
		if (!carries(a, path) && may_join(a, path, now) && sctp_paths_works(a, path) &&
		    is_apart(a, path))
			sctp_paths_join(a, path, now);
	}
}

void sctp_spread_couple(struct sctp_assoc *a)
{
	struct sctp_cc *cc[SCTP_PATHS_MAX];
	uint64_t rtt[SCTP_PATHS_MAX];
	unsigned int i, n = 0;

	for (i = 0; i <= a->paths.others; i++) {
		struct sctp_path *path = sctp_path_at(a, i);

		if (!carries(a, path))
			continue;
		cc[n] = &path->cc;
		rtt[n++] = path->rtt.srtt;
	}
	sctp_cc_couple(cc, rtt, n);
}

/*
 * Returns the expected time until delivery, ns. SRTT includes the queue on the path. An idle path
 * has no queue. Its SRTT is not measured any more, and an old large SRTT would exclude the path for
 * ever.
 */
static uint64_t delivery(const struct sctp_path *path)
{
	if (!path->rtt.srtt)
		return sctp_rtt_rto(&path->rtt);
	return path->flight ? path->rtt.srtt : path->rtt.min;
}

/* True if the path's cwnd allows a packet. If not, records that cwnd has stopped the sender. */
static bool has_room(const struct sctp_assoc *a, struct sctp_path *path)
{
	struct sctp_path_recovery *r = &path->recovery;
	bool full = sctp_window_cwnd_full(path);

	if (a->inflight.lost && (!full || r->now.cwnd_exempt))
		return true;
	if (!full && !sctp_window_defers(path))
		return true;
	if (a->want_pull)
		r->now.cwnd_limited = r->cwnd_blocked = true;
	return false;
}

/*
 * True if new DATA on the path would stop a faster path. The faster path sends one cwnd in each
 * round trip. Until the new DATA arrives, its TSN limits the TSNs that may be outstanding. (Ferlin,
 * Alay, Mehani and Boreli, "BLEST: Blocking estimation-based MPTCP scheduler for heterogeneous
 * networks", 2016.)
 */
static bool would_block(const struct sctp_assoc *a, const struct sctp_path *path)
{
	uint32_t chunks = sctp_outq_count(&a->out) - a->inflight.lost - a->inflight.gap_acked;
	/* doubled, in case of one loss */
	uint64_t trip = 2 * delivery(path), bytes = 0, flight = 0;
	unsigned int i;

	for (i = 0; i <= a->paths.others; i++) {
		const struct sctp_path *other = sctp_path_at(a, i);

		flight += other->flight;
		if (other != path && carries(a, other) && other->flight &&
		    delivery(other) < delivery(path))
			bytes += trip / delivery(other) * other->cc.cwnd;
	}
	/* On average, a chunk has flight / chunks bytes. */
	return flight && bytes / (flight / chunks + 1) + sctp_outq_count(&a->out) >
				 a->s->config.max_tsn_distance;
}

/* Returns a path on which a tail-loss probe is due, or NULL. */
static struct sctp_path *probed(struct sctp_assoc *a)
{
	unsigned int i;

	for (i = 0; i <= a->paths.others; i++)
		if (sctp_path_at(a, i)->recovery.tlp.wanted)
			return sctp_path_at(a, i);
	return NULL;
}

struct sctp_path *sctp_spread_choose(struct sctp_assoc *a)
{
	struct sctp_path *best = NULL;
	unsigned int i;

	if (a->control || a->pending & CONTROL)
		return a->path;
	best = a->pending & SCTP_PEND_PROBE ? probed(a) : NULL;
	if (best)
		return best;
	for (i = 0; i <= a->paths.others; i++) {
		struct sctp_path *path = sctp_path_at(a, i);

		if (carries(a, path) && has_room(a, path) &&
		    (!best || delivery(path) < delivery(best)))
			best = path;
	}
	if (!best)
		return a->path;
	return !a->inflight.lost && would_block(a, best) ? NULL : best;
}

/*
 * True if the path would deliver the chunk before the slow path that has sent the chunk. If the
 * chunk was moved before, it may go back only if this holds without a queue on the slow path.
 * Otherwise chunks would move to and fro, since each move changes which queue is longer.
 */
static bool is_late(const struct sctp_out *o, const struct sctp_path *slow,
		    const struct sctp_path *path, uint64_t now)
{
	uint64_t wait = delivery(slow);

	return now >= o->sent + wait ||
	       now + delivery(path) < o->sent + (o->flags & SCTP_OUT_MOVED ? slow->rtt.min : wait);
}

/*
 * Also sends the first outstanding chunks of a slower path on this path, up to its cwnd. Shrinks
 * the cwnd of the slower path. (These are "opportunistic retransmission" and "penalizing" of Raiciu
 * and others, "How Hard Can It Be? Designing and Implementing a Deployable Multipath TCP", 2012.)
 */
static bool take_over(struct sctp_assoc *a, const struct sctp_path *path, uint64_t now)
{
	const struct sctp_out *first = sctp_outq_at(&a->out, a->out.cum + 1);
	struct sctp_path *slow = sctp_path_of(a, first);
	uint32_t room = path->cc.cwnd - path->flight, tsn;

	if (first->flags & (SCTP_OUT_ACKED | SCTP_OUT_LOST) || slow == path ||
	    !is_late(first, slow, path, now))
		return false;
	for (tsn = a->out.cum + 1; tsn != a->out.next; tsn++) {
		struct sctp_out *o = sctp_outq_at(&a->out, tsn);

		if (o->flags & (SCTP_OUT_ACKED | SCTP_OUT_LOST))
			continue;
		if (sctp_path_of(a, o) != slow || o->len > room)
			break;
		room -= o->len;
		sctp_inflight_withdraw(a, tsn, o);
	}
	sctp_recovery_slow_down(a, slow);
	return a->inflight.lost;
}

bool sctp_spread_unblock(struct sctp_assoc *a, struct sctp_path *path, uint64_t now)
{
	struct sctp_path *slow = NULL;
	unsigned int i;

	if (!a->want_pull || a->inflight.lost || a->state != SCTP_ESTABLISHED ||
	    sctp_window_cwnd_full(path))
		return false;
	if (sctp_outq_count(&a->out) >= a->s->config.max_tsn_distance)
		return take_over(a, path, now);
	if (sctp_window_room(a))
		return false;
	/*
	 * The peer's window is full. Slow down the slowest of the other paths: it occupies most of
	 * the window, and delivers least.
	 */
	for (i = 0; i <= a->paths.others; i++) {
		struct sctp_path *other = sctp_path_at(a, i);

		if (other != path && other->flight > 4 * other->cc.pmdcs &&
		    delivery(other) > 2 * delivery(path) &&
		    (!slow || delivery(other) > delivery(slow)))
			slow = other;
	}
	if (slow)
		sctp_recovery_slow_down(a, slow);
	return false;
}
